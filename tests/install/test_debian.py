# SPDX-License-Identifier: MIT
"""Debian's source package has the sources and nothing else; licences and the source of QEMU are stated."""

import fnmatch
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from folder import Folder
from prefix import TOP

sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402

# Sources that dpkg-source leaves out by default.
OF_GIT = {".gitignore"}

# Licences of SPDX lines, by their names in debian/copyright.
LICENCES = {"MIT": "MIT", "GPL-2.0-or-later": "GPL-2+", "GPL-2.0 OR MIT": "GPL-2 or MIT",
            "(GPL-2.0 OR MIT)": "GPL-2 or MIT",
            "((GPL-2.0 WITH Linux-syscall-note) OR MIT)":
            "GPL-2 with Linux-syscall-note exception or MIT"}


class Copyright(unittest.TestCase):
    """debian/copyright."""

    def setUp(self):
        self.text = (TOP / "debian/copyright").read_text(encoding="utf-8")

    def test_the_last_pattern_of_a_file_has_its_licence(self):
        stanzas = [(fields.split(), licence) for fields, licence in re.findall(
            r"^Files: (.*)\n(?:.+\n)*?License: (.*)", self.text, re.M)]
        seen = set()
        for name in sources.files(TOP):
            opening = b"\n".join((TOP / name).read_bytes().split(b"\n", 4)[:4])
            # At the start of a line, after the characters that begin a comment
            found = re.search(rb"^[^\w\n]*SPDX-License-Identifier: (.*?)\s*(?:\*/.*|-->.*)?$", opening,
                              re.M)
            if found:
                licence = [licence for patterns, licence in stanzas
                           if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)][-1]
                self.assertEqual(licence, LICENCES[found[1].decode()], name)
                seen.add(licence)
        self.assertEqual(seen, set(LICENCES.values()))

    def test_each_licence_has_one_text_and_is_used(self):
        texts = re.findall(r"\n\nLicense: (.*)\n .+", self.text)
        self.assertEqual(sorted(texts), sorted(set(LICENCES.values())))
        self.assertIn("NOTE! This copyright does *not* cover user programs", re.search(
            r"\n\nLicense: .* with Linux-syscall-note .*\n((?: .*\n)*)", self.text)[1])

    def test_the_holder_is_that_of_the_licences(self):
        holder = re.search(r"^Copyright \(c\) (.*)", (TOP / "LICENSES/MIT.txt").read_text(
            encoding="utf-8"), re.M)[1]
        found = re.findall(r"^Files: .*\nCopyright: (.*)", self.text, re.M)
        self.assertEqual((set(found), len(found)), ({holder}, len(re.findall("^Files:", self.text, re.M))))

    def test_the_licences_of_qemu_are_named(self):
        comment = " ".join(re.search(r"^Comment: ((?:.+\n)+?)\S", self.text, re.M)[1].split())
        for words in ("pumice-qemu", "Built-Using", "General Public License, version 2",
                      "Lesser General Public License", "MIT and BSD", "copyright.qemu"):
            self.assertIn(words, comment)

    def test_the_text_of_the_mit_licence_is_in_it(self):
        licence = (TOP / "LICENSES/MIT.txt").read_text(encoding="utf-8")
        permission = " ".join(licence[licence.index("Permission"):].split())
        self.assertIn(permission, " ".join(self.text.replace("\n .\n", "\n").split()))


class Qemu(Folder):
    """The source of QEMU in its package, with a build of QEMU that only makes a file."""

    def setUp(self):
        shutil.rmtree(self.root)
        for name in ("build-qemu.sh", "lib.sh"):
            (self.root / "scripts").mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / "scripts" / name, self.root / "scripts" / name)
        self.program("meson", "echo 1.9")
        self.program("ninja", 'touch "$2/qemu-system-x86_64"')
        self.program("dh_gencontrol", f'printf "%s\\n" "$@" >{self.root}/words')

    def program(self, name, line):
        """Make a program that is found before others."""
        (self.root / "bin").mkdir(exist_ok=True)
        (self.root / "bin" / name).write_text(f"#!/bin/sh\n{line}\n", encoding="ascii")
        (self.root / "bin" / name).chmod(0o755)

    def build(self, **variables):
        """Build QEMU; return {name: text} of the files next to the product."""
        self.run_in(self.root, self.root / "scripts/build-qemu.sh",
                    self.root / "build/qemu/qemu-system-x86_64", **variables)
        return {path.name: path.read_text(encoding="ascii")
                for path in (self.root / "build/qemu").iterdir()}

    def run_in(self, folder, *command, **variables):
        """Run a command in a folder, with the folders of this class."""
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, env={
            **{name: value for name, value in os.environ.items() if not name.startswith(
                ("QEMU_", "MAKE", "MFLAGS", "PUMICE_", "DEB_", "WERROR"))},
            "PATH": f"{self.root}/bin:{os.environ['PATH']}", "BUILD": f"{self.root}/build",
            "OUT": f"{self.root}/out", "PUMICE_CACHE": f"{self.root}/cache", **variables})
        self.assertEqual(done.returncode, 0, done.stderr)

    def source(self, folder, name):
        """Make a source of QEMU that is configured, with a file of licences; return it."""
        release = subprocess.run(["bash", "-c", ". scripts/lib.sh; host_release"], cwd=self.root,
                                 check=True, text=True, capture_output=True,
                                 env={**os.environ, "OUT": f"{self.root}/out"}).stdout.strip()
        build = folder.parent / f"build-{release}"
        build.mkdir(parents=True)
        (build / ".configured").touch()
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(f"licences of {name}\n", encoding="ascii")

    def test_its_package_names_the_source_package_and_its_licences(self):
        for version, key, wanted in (("1:9.1+ds-2", "1_9.1+ds-2", {}),
                                     ("1:9.2~rc1", "1_9.2_rc1", {"QEMU_VERSION": "9.2"})):
            self.source(self.root / f"cache/qemu/{key}/src", "debian/copyright")
            file = self.root / f"cache/versions/qemu{'-9.2' if wanted else ''}"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{version}\n", encoding="ascii")
            self.assertEqual(self.build(**wanted), {
                "qemu-system-x86_64": "", "built-using": f"qemu (= {version})\n",
                "copyright": "licences of debian/copyright\n"})

    def test_a_tree_of_the_user_is_not_named_as_a_source_package(self):
        own = self.root / "own"
        own.mkdir()
        (own / "LICENSE").write_text("licences of LICENSE\n", encoding="ascii")
        digest = hashlib.sha256(f"{own}\n".encode()).hexdigest()[:8]
        self.source(self.root / f"cache/qemu/own-{digest}/src", "LICENSE")
        # The second build replaces the files of the first one, also by a user if the tree is read-only.
        (own / "LICENSE").chmod(0o444)
        for _ in range(2):
            self.assertEqual(self.build(QEMU_SRC=str(own)), {
                "qemu-system-x86_64": "", "built-using": "\n", "copyright": "licences of LICENSE\n"})
            self.assertEqual((self.root / "build/qemu/copyright").stat().st_mode & 0o777, 0o644)

    def test_the_rules_pass_it_to_the_control_file(self):
        control = (TOP / "debian/control").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^Package: (.*)\n(?:.+\n)*?Built-Using: (.*)", control, re.M),
                         [("pumice-qemu", "${qemu:Built-Using}")])
        for folder, wanted in (("qemu", {}), ("qemu-9.2", {"QEMU_VERSION": "9.2"})):
            file = self.root / "build" / folder / "built-using"
            file.parent.mkdir(parents=True)
            file.write_text(f"{folder} (= 1:2)\n", encoding="ascii")
            self.run_in(TOP, "make", "-f", "debian/rules", "override_dh_gencontrol", **wanted)
            self.assertEqual((self.root / "words").read_text(encoding="ascii"),
                             f"--\n-Vqemu:Built-Using={folder} (= 1:2)\n")


class Source(unittest.TestCase):
    """dpkg-source of a tree that has the names of this one and results."""

    def packed(self, results):
        """Return the files of the source package of a tree with these files of results."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        tree = pathlib.Path(holder.name) / "pumice"
        for name in [*sources.files(TOP), *results]:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            if name.startswith("debian/") and name not in results:
                shutil.copy(TOP / name, tree / name)
            else:
                (tree / name).touch()
        subprocess.run(["dpkg-source", "-Zgzip", "-z1", "-b", tree], cwd=holder.name, check=True,
                       capture_output=True)
        archive, = pathlib.Path(holder.name).glob("*.tar.gz")
        listed = subprocess.run(["tar", "-tzf", archive], check=True, text=True,
                                capture_output=True).stdout.splitlines()
        return {name.partition("/")[2] for name in listed if not name.endswith("/")}

    @staticmethod
    def ignored():
        """Return results that git ignores, one or two for each line of .gitignore. A source package
        does not have that file.
        """
        path = TOP / ".gitignore"
        for line in path.read_text(encoding="ascii").splitlines() if path.exists() else []:
            if not line.startswith("#") and line != "/debian/pumice-*/":
                name = line.strip("/").replace("*", "result") + ("/result" if line.endswith("/") else "")
                yield name
                if not line.startswith("/"):
                    yield f"hw/{name}"

    @staticmethod
    def built():
        """Return results of debhelper: a file of each package, and files that are not of one."""
        control = (TOP / "debian/control").read_text(encoding="utf-8")
        packages = re.findall("^Package: (.*)", control, re.M)
        return [f"debian/{package}/usr/lib/result.c" for package in packages] + [
            f"debian/{package}.{kind}" for package in packages
            for kind in ("substvars", "debhelper.log", "postinst.debhelper")] + [
            "debian/.debhelper/generated/result.sh", "debian/tmp/usr/src/result.c",
            "debian/debhelper-build-stamp", "debian/files", "debian/pumice-dkms.dkms"]

    def test_results_are_left_out_and_every_source_is_in_it(self):
        results = [f"{folder}/result" for name in sources.RESULTS for folder in (name, f"hw/{name}")]
        results += [f"{folder}/result" for folder in sources.RENDERED]
        results += [*self.ignored(), *self.built()]
        packed = self.packed(results)
        self.assertEqual(packed & set(results), set())
        self.assertLessEqual(set(sources.tracked(TOP)) - packed, OF_GIT)

    def test_a_built_package_has_no_other_sources_without_git(self):
        """An unpacked source package in which packages were built: lint reads no results."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        tree = pathlib.Path(holder.name)
        for name in self.built():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).touch()
        names = ["debian/pumice-dkms.install", "debian/rules", "debian/source/options"]
        for name in names:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, tree / name)
        with mock.patch.dict("os.environ", GIT_CEILING_DIRECTORIES=str(tree.parent)):
            self.assertEqual(sorted(sources.files(tree)), names)

    def test_programs_and_pictures_of_the_examples_are_results(self):
        if (TOP / ".gitignore").exists():
            programs = {f"examples/{path.stem}" for path in (TOP / "examples").glob("*.c")
                        if "\nint main(" in path.read_text(encoding="utf-8")}
            self.assertGreaterEqual(len(programs), 5)
            self.assertLessEqual({*programs, "result.ppm"}, set(self.ignored()))


if __name__ == "__main__":
    unittest.main()
