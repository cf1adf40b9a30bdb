# SPDX-License-Identifier: MIT
"""
Versions, Debian's lists of files, the udev rule and the container's packages agree with the tree.

The files are those that `make install` and `make install-qemu` install, the latter with an empty
file in place of QEMU. `make check-deb` builds the packages.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from prefix import TOP, VERSION
from test_layout import as_user

DRIVER = TOP / "drivers/gpu/drm/pumice"
KEY = re.compile(r'([A-Z]+(?:\{[^}]+\})?)(==|!=|=|\+=|-=|:=)"([^"]*)"')
MATCHES = {"ACTION", "ATTR", "ATTRS", "DEVPATH", "DRIVER", "DRIVERS", "ENV", "KERNEL", "KERNELS",
           "NAME", "SUBSYSTEM", "SUBSYSTEMS", "TAG", "TAGS"}
ASSIGNMENTS = {"ATTR", "ENV", "GROUP", "MODE", "OWNER", "SYMLINK", "TAG"}

# Packages of make run and make deb that debian/control need not name, and their users.
ESSENTIAL = "build-essential, which every build of a package has"
GUEST = "the guest and its kernels"
NOT_FOR_PACKAGES = {
    "gcc": ESSENTIAL, "g++": ESSENTIAL, "make": ESSENTIAL, "dpkg-dev": ESSENTIAL,
    "fakeroot": "Rules-Requires-Root: no",
    "kmod": GUEST, "mount": GUEST, "busybox-static": GUEST, "pahole": GUEST,
    "seabios": "machines of QEMU when they run", "qemu-system-data": "the same",
}


def text(name):
    """Return the content of a file of the tree."""
    return (TOP / name).read_text(encoding="utf-8")


def section(name):
    """Return the packages of a section of packages.txt."""
    body = re.search(rf"^\[{name}\]\n(.*?)(?=^\[|\Z)", text("scripts/packages.txt"), re.M | re.S)[1]
    return set(re.findall(r"^([a-z0-9][\w.+-]*)$", body, re.M))


def install_lines():
    """Return [(package, pattern)] of debian/*.install."""
    found = []
    for path in sorted((TOP / "debian").glob("*.install")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                found.append((path.stem, line.split()[0]))
    return found


def is_listed(name, pattern):
    """Return whether dh_install moves a file: the pattern matches it or a folder that it is in."""
    parts = pathlib.PurePath(name).parts
    length = len(pathlib.PurePath(pattern).parts)
    return len(parts) >= length and pathlib.PurePath(*parts[:length]).match(pattern)


class Versions(unittest.TestCase):
    """One version in all files that have one."""

    def test_debian_changelog(self):
        self.assertEqual(re.match(r"pumice \((.*?)\) ", text("debian/changelog"))[1], VERSION)

    def test_changelog(self):
        self.assertEqual(re.search(r"^## (\S+)", text("CHANGELOG.md"), re.M)[1], VERSION)

    def test_no_line_of_a_release_occurs_twice(self):
        # Parts of lines remain after a merge.
        for section in text("CHANGELOG.md").split("\n## "):
            lines = section.splitlines()
            starts = [line.strip()[:60] for line in lines if len(line) >= 60]
            self.assertEqual({line for line in starts if starts.count(line) > 1}, set(), lines[0])

    def test_every_release_of_debians_changelog_is_described(self):
        described = set(re.findall(r"^## (\S+)", text("CHANGELOG.md"), re.M))
        released = set(re.findall(r"^pumice \((.*?)\) ", text("debian/changelog"), re.M))
        self.assertEqual(released - described, set())


class Lists(unittest.TestCase):
    """debian/*.install."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        root = pathlib.Path(holder.name)
        (root / "qemu").write_bytes(b"")
        environment = {**os.environ, "DESTDIR": "tmp", "PREFIX": "/usr",   # a relative folder
                       "PUMICE_QEMU": str(root / "qemu")}
        for part in ([], ["qemu"]):
            subprocess.run([TOP / "scripts/install.sh", *part], check=True, env=environment,
                           capture_output=True, cwd=root)
        cls.root = root / "tmp"
        cls.files = [str(path.relative_to(cls.root)) for path in cls.root.rglob("*")
                     if not path.is_dir() or path.is_symlink()]

    def test_every_installed_file_is_in_one_package(self):
        self.assertGreater(len(self.files), 300)
        for name in self.files:
            found = [line for line in install_lines() if is_listed(name, line[1])]
            self.assertEqual(len(found), 1, f"{name}: {found}")

    def test_prefixes_that_scripts_cannot_have_are_refused(self):
        for prefix, words in (("usr", "is not absolute"), ("/a b", "has characters that"),
                              ("/a|b", "has characters that"), ("/a&b", "has characters that"),
                              ("/$(true)", "has characters that"), ("/a\nb", "has characters that")):
            done = subprocess.run([TOP / "scripts/install.sh", "qemu"], check=False, text=True,
                                  env={**os.environ, "PREFIX": prefix, "DESTDIR": str(self.root)},
                                  capture_output=True)
            self.assertEqual(done.returncode, 1, prefix)
            self.assertIn(f"PREFIX={prefix} {words}", done.stderr)

    def test_every_line_has_a_file(self):
        for package, pattern in install_lines():
            self.assertTrue(any(is_listed(name, pattern) for name in self.files),
                            f"debian/{package}.install: {pattern}")

    def test_every_package_has_a_list_and_every_list_a_package(self):
        packages = set(re.findall(r"^Package: (\S+)", text("debian/control"), re.M))
        self.assertEqual({package for package, _ in install_lines()}, packages)

    def test_packages_whose_programs_look_for_the_firmware_depend_on_it(self):
        control = dict(re.findall(r"^Package: (\S+)\n(.*?)(?:\n\n|\Z)", text("debian/control"),
                                  re.M | re.S))
        found = {package for name in self.files for package, pattern in install_lines()
                 if is_listed(name, pattern) and ("/bin/" in name or ".so." in name)
                 and b"/usr/share/pumice/pumice_fw.bin" in (self.root / name).read_bytes()}
        self.assertEqual(found, {"libpumice0", "pumice-tools"})
        for package in found:
            self.assertRegex(control[package], r"\nDepends:.* pumice-firmware \(= ")

    def test_the_development_package_depends_on_those_of_the_pkg_config_file(self):
        stanza = re.search(r"^Package: libpumice-dev\n(.*?)\n\n", text("debian/control"),
                           re.M | re.S)[1]
        depends = re.findall(r"[\w.+-]+", re.search(r"^Depends: (.*)", stanza, re.M)[1])
        config = next(self.root.glob("usr/lib/**/pumice.pc")).read_text(encoding="utf-8")
        # Of private ones too: pkg-config --cflags fails if the file of one is missing.
        fields = re.findall(r"^Requires(?:\.private)?: (.*)", config, re.M)
        modules = [part.split()[0] for field in fields for part in field.split(",")]
        self.assertLessEqual({"libdrm", "zlib"}, set(modules))
        for module in modules:
            folder = subprocess.run(["pkg-config", "--variable=pcfiledir", module], check=True,
                                    capture_output=True, text=True).stdout.strip()
            # LIST: FILE, where a package of one architecture is NAME:ARCHITECTURE
            owner = subprocess.run(["dpkg-query", "-S", f"{folder}/{module}.pc"], check=True,
                                   capture_output=True, text=True).stdout.split(":")[0]
            self.assertIn(owner, depends, module)

    def test_qemu_and_its_page_are_in_the_package_that_a_profile_leaves_out(self):
        stanza = re.search(r"^Package: pumice-qemu\n(.*?)(?:\n\n|\Z)", text("debian/control"),
                           re.M | re.S)[1]
        self.assertIn("Build-Profiles: <!pkg.pumice.noqemu>", stanza)
        self.assertEqual({name for name in self.files for package, pattern in install_lines()
                          if package == "pumice-qemu" and is_listed(name, pattern)},
                         {"usr/bin/pumice-qemu", "usr/libexec/pumice/qemu-system-x86_64",
                          "usr/share/man/man1/pumice-qemu.1",
                          "usr/share/bash-completion/completions/pumice-qemu"})

    def test_build_dependencies_are_the_packages_of_the_build(self):
        field = re.search(r"^Build-Depends:(.*?)^\S", text("debian/control"), re.M | re.S)[1]
        found = {re.match(r"\s*([\w.+-]+)", part)[1] for part in field.split(",")}
        # The names of the same package in packages.txt.
        found = {{"debhelper-compat": "debhelper"}.get(name, name) for name in found}
        listed = section("run") | section("deb")
        self.assertEqual(found - listed, set())
        self.assertEqual(listed - found, set(NOT_FOR_PACKAGES))


class Packages(unittest.TestCase):
    """Debian packages that a build installs, with programs of dpkg and apt that only log."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)
        for name, then in (("dpkg-query", "exit 1"), ("apt-get", "exit 0"),
                           ("sudo", '[ "$1" = -v ] || exec "$@"')):
            self.program(name, f'echo {name} >>"{self.dir}/log"; {then}')

    def program(self, name, line):
        """Make a program that is found before others; return its path."""
        path = self.dir / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def make(self, *words, **variables):
        """Run make in the tree, with a build folder of its own."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("MAKE", "MFLAGS", "PUMICE_", "DEB_"))}
        return subprocess.run(
            ["make", *words], cwd=TOP, text=True, capture_output=True, check=False,
            env={**environment, "PATH": f"{self.dir}/bin:{os.environ['PATH']}",
                 "BUILD": str(self.dir / "build"), "OUT": str(self.dir / "out"), **variables})

    def attempts(self, **variables):
        """Return the programs that the rule of missing packages starts."""
        (self.dir / "log").write_bytes(b"")
        done = self.make(f"{self.dir}/build/.packages-run",
                         **{"PUMICE_CACHE": str(self.dir / "cache"), **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return set((self.dir / "log").read_text(encoding="utf-8").split())

    def of_rules(self, **variables):
        """Return (words, environment) of the make that debian/rules starts."""
        fake = self.program("fake", f'echo "$@" >"{self.dir}/words"; env -0 >"{self.dir}/env"')
        done = self.make("-f", "debian/rules", "override_dh_auto_install", f"MAKE={fake}",
                         **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return ((self.dir / "words").read_text(encoding="utf-8").split(),
                dict(line.split("=", 1) for line in
                     (self.dir / "env").read_text(encoding="utf-8").split("\0") if line))

    def test_missing_ones_are_installed_unless_they_are_refused(self):
        self.assertEqual(self.attempts(PUMICE_PACKAGES="no"), set())
        self.assertIn("apt-get", self.attempts())    # there is no stamp of the earlier make

    def test_a_user_installs_missing_ones_by_sudo(self):
        self.assertEqual(self.attempts(PATH=f"{self.dir}/bin:{as_user(self.dir)}"),
                         {"dpkg-query", "sudo", "apt-get"})

    def test_a_build_of_debian_packages_installs_none(self):
        for profile in ("", "pkg.pumice.noqemu"):
            with self.subTest(profile=profile):
                _, environment = self.of_rules(DEB_BUILD_PROFILES=profile)
                self.assertEqual(self.attempts(
                    PUMICE_PACKAGES=environment.get("PUMICE_PACKAGES", "yes")), set())

    def test_a_build_of_debian_packages_needs_no_home(self):
        _, environment = self.of_rules(HOME="/nonexistent")
        self.assertEqual(environment["PUMICE_CACHE"], str(TOP / "build/cache"))
        _, environment = self.of_rules(PUMICE_CACHE="/cache")
        self.assertEqual(environment["PUMICE_CACHE"], "/cache")

    def test_the_profile_leaves_qemu_out(self):
        for profile, targets in (("", ["install", "install-qemu"]),
                                 ("pkg.pumice.noqemu nodoc", ["install"])):
            with self.subTest(profile=profile):
                words, _ = self.of_rules(DEB_BUILD_PROFILES=profile)
                self.assertEqual([word for word in words if "=" not in word], targets)

    def test_other_values_are_refused(self):
        for value in ("maybe", ""):
            done = self.make("help", PUMICE_PACKAGES=value)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"PUMICE_PACKAGES={value}: yes or no.", done.stderr)


class Machine(unittest.TestCase):
    """Both pages that have an example of pumice-qemu."""

    def test_they_name_the_accelerator_and_the_network(self):
        for name in ("Documentation/installation.rst", "packaging/pumice-qemu.1"):
            page = " ".join(text(name).replace("\\-", "-").split())
            for words in ("default is TCG|default of QEMU is TCG", r"add (``|\.B )-accel kvm",
                          "no user network|nor a network of its own", "-nic tap"):
                self.assertRegex(page, words, name)


class Rule(unittest.TestCase):
    """packaging/60-pumice.rules."""

    def keys(self):
        """Return [(key, operator, value)] of the only rule."""
        lines = text("packaging/60-pumice.rules").replace("\\\n", "").splitlines()
        rules = [line for line in lines if line and not line.startswith("#")]
        self.assertEqual(len(rules), 1)
        found = KEY.findall(rules[0])
        rest = KEY.sub("", rules[0])
        self.assertRegex(rest, r"^[,\s]*$")
        self.assertEqual(rest.count(","), len(found) - 1)
        return found

    def test_keys_and_operators_exist(self):
        for key, operator, value in self.keys():
            name = key.partition("{")[0]
            self.assertIn(name, MATCHES if operator in ("==", "!=") else ASSIGNMENTS)
            self.assertTrue(value)
            if operator == "+=":
                self.assertIn(name, {"TAG", "SYMLINK", "ENV"})

    def test_the_driver_is_that_of_the_pci_device(self):
        driver = re.search(r'struct pci_driver \w+ = \{\n\t\.name = "(\w+)"',
                           (DRIVER / "pumice_drv.c").read_text(encoding="utf-8"))[1]
        self.assertIn(("DRIVERS", "==", driver), self.keys())
        self.assertIn(("SUBSYSTEM", "==", "drm"), self.keys())

    def test_the_nodes_are_render_nodes_of_the_driver(self):
        features = re.search(r"\.driver_features = (.*?),",
                             (DRIVER / "pumice_drv.c").read_text(encoding="utf-8"), re.S)[1]
        self.assertIn("DRIVER_RENDER", features)
        self.assertIn(("KERNEL", "==", "renderD*"), self.keys())

    def test_access_and_the_link_are_those_of_the_documents(self):
        keys = {key: value for key, operator, value in self.keys() if operator != "=="}
        self.assertEqual((keys["GROUP"], keys["MODE"]), ("render", "0660"))
        folder = "/dev/" + keys["SYMLINK"].removesuffix("%n")
        self.assertIn(f"``{folder}N``", text("Documentation/installation.rst"))
        self.assertIn(f"{folder}*", text("packaging/completion.bash"))

    def test_udevadm_accepts_the_rule(self):
        self.assertTrue(shutil.which("udevadm"), "no udevadm: scripts/host-packages.sh check")
        version = subprocess.run(["udevadm", "--version"], capture_output=True, text=True,
                                 check=True)
        if int(re.match(r"\d+", version.stdout)[0]) < 254:
            return    # It has no command for it (Debian 12); the tests above read the rule, too.
        verify = ["udevadm", "verify", "--resolve-names=never", "packaging/60-pumice.rules"]
        done = subprocess.run(verify, cwd=TOP, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Container(unittest.TestCase):
    """The image of the Containerfile has the packages of its commands."""

    @staticmethod
    def rules():
        """Return {target: prerequisites} of the Makefile, relative to BUILD."""
        with tempfile.TemporaryDirectory() as build:
            done = subprocess.run(["make", "-npq", f"BUILD={build}", "help"], cwd=TOP, text=True,
                                  capture_output=True, check=False,
                                  env={**os.environ, "MAKEFLAGS": ""})
            found = {}
            for line in done.stdout.replace(build + "/", "").splitlines():
                rule = re.match(r"([^\s#=:][^\s=:]*):(?!=) *(.*)", line)
                if rule:
                    found.setdefault(rule[1], set()).update(rule[2].replace("|", " ").split())
        return found

    @staticmethod
    def targets_of_check():
        """Return the targets that the parts of `make check` build: the third argument of part in
        check.sh.
        """
        recipe = re.search(r"^check:.*\n\t@\$\(S\)/check\.sh (.*)", text("Makefile"), re.M)[1]
        script = text("scripts/check.sh").replace("$BUILD/", "").replace("$1", "fast")
        functions = dict(re.findall(r"^(\w+)\(\) \{\n(.*?)^\}", script, re.M | re.S))
        found = set()
        for part in recipe.replace(" -- ", " ").split():
            body = re.search(rf"^\t{part}\)\n(.*?);;", script, re.M | re.S)[1]
            for name, function in functions.items():
                if re.search(rf"^\t+(side_by_side )?{name}\b", body, re.M):
                    body += function
            targets = re.findall(r'\bpart \S+ "[^"]*"\s*(?:\\\n\s*)?"([^"]*)"', body)
            assert targets, part
            found |= set(" ".join(targets).split())
        return found

    def sections(self):
        """Return the sections of packages.txt that `make run` and `make check` install."""
        rules = self.rules()
        left, seen = {"run"} | self.targets_of_check(), set()
        while left:
            target = left.pop()
            seen.add(target)
            left |= rules.get(target, set()) - seen
        return {target.removeprefix(".packages-") for target in seen
                if target.startswith(".packages-")}

    def test_the_sections_are_found(self):
        found = self.sections()
        self.assertLessEqual({"run", "check", "docs"}, found)
        self.assertEqual(found & {"bench", "fuzz", "distros", "coverage", "deb"}, set())

    def test_every_section_is_installed(self):
        loop = re.search(r"for part in ([\w ]+); do", text("Containerfile"))[1].split()
        self.assertEqual(self.sections() - set(loop), set())
        # Those that are listed exist, and the CI examples use `make lint`.
        listed = set(re.findall(r"^\[(\S+)\]", text("scripts/packages.txt"), re.M))
        self.assertEqual(set(loop) - listed, set())
        self.assertIn("lint", loop)


if __name__ == "__main__":
    unittest.main()
