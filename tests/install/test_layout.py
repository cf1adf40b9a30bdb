# SPDX-License-Identifier: MIT
"""The files of make install and make install-qemu are complete and work outside of the tree."""

import json
import os
import pathlib
import re
import struct
import subprocess
import unittest

from folder import Folder
from prefix import BUILD, TOP, VERSION
from test_programs import examples, option_forms

FILES = ["lib/firmware/pumice/pumice_fw.bin", "usr/lib/udev/rules.d/60-pumice.rules",
         "usr/share/pumice/pumice_fw.bin", f"usr/src/pumice-{VERSION}/dkms.conf",
         "usr/include/pumice/pumice.h", "usr/share/man/man3/pumice_submit.3"]

HELLO = """#include <pumice/pumice.h>
#include <stdio.h>
int main(void)
{
	struct pumice_device *dev;

	if (pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0))
		return 1;
	puts("opened");
	pumice_device_close(dev);
	return 0;
}
"""
# A library of a Debian package: it has the functions that HELLO uses.
OTHER = "int pumice_device_open(void) { return 0; }\nvoid pumice_device_close(void) { }\n"
# Arguments: folder of results, install.sh, version. The tree, as an archive is unpacked, or its results
# may be where root installs the driver's sources: then that must be refused.
IN_PLACE = r"""
set -euo pipefail
cd "$1"
unset LD_LIBRARY_PATH PKG_CONFIG_PATH PUMICE_FIRMWARE
tree=${2%/scripts/install.sh}
look() {
	own=(-path "$tree" -o -path "$BUILD" -o -path "$OUT" -o -path "$PUMICE_CACHE")
	find /usr/local \( "${own[@]}" \) -prune -o ! -type d -print | sort >"$1-files"
	find /lib/firmware /usr/lib/udev/rules.d /usr/src \( "${own[@]}" \) -prune -o \
		\( -name 'pumice_fw.bin' -o -name '60-pumice*' -o -name dkms.conf \) -print \
		>"$1-kernel" 2>/dev/null || :
	ldd hello | sed -n 's/.*libpumice.so.0 => \(\S*\).*/\1/p' >"$1-library"
}
cc -shared -Wl,-soname,libpumice.so.0 other.c -o /usr/lib/libpumice.so.0
/usr/sbin/ldconfig
user=(env "PATH=$USER_PATH")
"${user[@]}" PREFIX=/readonly/a/b "$2" --make none 2>refused-install || echo $? >>refused-install
"${user[@]}" PREFIX=/readonly/a/b "$2" qemu --make none 2>refused-install-qemu || echo $? >>refused-install-qemu
"${user[@]}" "$2" 2>user-output
cc hello.c $(pkg-config --cflags --libs pumice) -o hello
look user
for folder in "$tree" "$BUILD" "$OUT" "$PUMICE_CACHE"; do
	[[ $(realpath -m -- "$folder")/ != "/usr/src/pumice-$3"/* ]] || touch root-refused
done
if [ -e root-refused ]; then
	"$2" 2>root-output || echo $? >root-refused
else
	"$2" 2>root-output
fi
look root
./hello >root-start 2>&1 || :
"""

# Arguments: file of a completion; then the words of a command line.
COMPLETE = r"""
. "$0"
read -ra rule < <(complete -p)  # complete -o filenames -F FUNCTION COMMAND
echo "${rule[-1]}"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"${rule[-2]}" "$1"
printf '%s\n' "${COMPREPLY[@]}"
"""


def run(command, **variables):
    """Run a command in the tree; its output. A failure is an error of the test."""
    done = subprocess.run(command, cwd=TOP, env={**os.environ, **variables}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def complete(script, *words, **variables):
    """Return (name of the completed command, offered words) of a completion for the last word."""
    command, *offered = run(["bash", "-c", COMPLETE, str(script), *words], **variables).splitlines()
    return command, offered


def as_user(folder):
    """Return the PATH with which a script's user is not root: the command id says so."""
    path = folder / "user/id"
    path.parent.mkdir(exist_ok=True)
    path.write_text('#!/bin/sh\n[ "$1" = -u ] && echo 1000 || echo someone\n', encoding="ascii")
    path.chmod(0o755)
    return f"{path.parent}:{os.environ['PATH']}"


class Install(Folder):
    """make install with DESTDIR, which needs no root."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run(["scripts/install.sh"], DESTDIR=str(cls.root), PREFIX="/usr", PATH=as_user(cls.root))

    def test_every_file_is_installed(self):
        missing = [name for name in FILES if not (self.root / name).exists()]
        self.assertEqual(missing, [])

    def test_every_program_has_a_manual_page_and_completion(self):
        programs = {path.name for path in (self.root / "usr/bin").iterdir()}
        share = self.root / "usr/share"
        self.assertGreater(len(programs), 20)
        self.assertEqual(programs - {path.stem for path in (share / "man/man1").iterdir()}, set())
        self.assertEqual({path.name for path in (share / "bash-completion/completions").iterdir()},
                         programs)

    def test_the_library_looks_for_the_firmware_below_the_prefix(self):
        library = next(self.root.glob("usr/lib/**/libpumice.so.0"))
        self.assertIn(b"/usr/share/pumice/pumice_fw.bin", library.read_bytes())

    def test_the_firmware_is_the_one_of_the_tree(self):
        self.assertEqual((self.root / "lib/firmware/pumice/pumice_fw.bin").read_bytes(),
                         (BUILD / "firmware/pumice_fw.bin").read_bytes())

    def test_the_driver_builds_from_the_installed_sources_alone(self):
        kernel = (BUILD / "kernel/stock").resolve()
        release = (kernel / "release").read_text(encoding="ascii").strip()
        source = self.root / f"usr/src/pumice-{VERSION}"
        if (kernel / "build-root").exists():
            # DKMS cannot build in the root of another release, its make command can.
            run(["scripts/build-root.sh", "run", str(kernel / "build-root"), "make", "-C",
                 str(kernel / "kdir"), f"M={source}", "modules"])
            built = source
        else:
            tree = self.root / "dkms"
            tree.mkdir()
            run(["dkms", "build", f"pumice/{VERSION}", "-k", release,
                 "--kernelsourcedir", str(kernel / "kdir"), "--dkmstree", str(tree),
                 "--sourcetree", str(self.root / "usr/src")])
            built = tree
        modules = [path for path in built.rglob("pumice.ko*") if path.stat().st_size > 100000]
        self.assertTrue(modules)

    def test_completion_offers_the_options_that_help_lists(self):
        folder = self.root / "usr/share/bash-completion/completions"
        library = str(next(self.root.glob("usr/lib/**/libpumice.so")).parent)
        programs = sorted((self.root / "usr/bin").iterdir())
        self.assertGreater(len(programs), 20)
        for tool in programs:
            with self.subTest(program=tool.name):
                forms = option_forms(run([str(tool), "--help"], LD_LIBRARY_PATH=library))
                self.assertLessEqual({"-h", "--help", "-V", "--version"}, forms)
                command, offered = complete(folder / tool.name, str(tool), "-",
                                            LD_LIBRARY_PATH=library)
                self.assertEqual(command, tool.name)
                self.assertEqual(sorted(offered), sorted(forms))

    def test_completion_of_a_part_and_of_the_device(self):
        folder = self.root / "usr/share/bash-completion/completions"
        library = str(next(self.root.glob("usr/lib/**/libpumice.so")).parent)
        tool = str(self.root / "usr/bin/pumice-run")
        for words, offered in ((["--ti"], ["--time", "--timeout"]), (["-d", ""], ["drm", "inproc"]),
                               (["--device", "in"], ["inproc"]), (["--wheel"], [""])):
            self.assertEqual(complete(folder / "pumice-run", tool, *words, LD_LIBRARY_PATH=library),
                             ("pumice-run", offered))


class InPlace(Folder):
    """make install without DESTDIR, by a user and then by root, in a root folder of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "root").mkdir()
        (cls.root / "hello.c").write_text(HELLO, encoding="ascii")
        (cls.root / "other.c").write_text(OTHER, encoding="ascii")
        (cls.root / "script").write_text(IN_PLACE, encoding="utf-8")
        run(["tests/install/own-root.sh", str(cls.root / "root"), "bash", str(cls.root / "script"),
             str(cls.root), str(TOP / "scripts/install.sh"), VERSION], USER_PATH=as_user(cls.root),
            DESTDIR="", PREFIX="/usr/local")

    def result(self, name):
        """Return what a part of the script wrote."""
        return (self.root / name).read_text(encoding="utf-8")

    def skip_if_refused(self):
        """Skip a case of root's installation if that must be refused; check that it was."""
        if (self.root / "root-refused").exists():
            self.assertEqual(self.result("root-refused"), "1\n")
            self.assertIn("which make install replaces, contains the tree, BUILD, OUT or the cache",
                          self.result("root-output"))
            self.skipTest(f"the tree or its results are in /usr/src/pumice-{VERSION}")

    def test_programs_start_after_root_has_installed(self):
        self.skip_if_refused()
        self.assertEqual(self.result("root-start"), "opened\n")
        self.assertRegex(self.result("root-library"), r"\A/usr/local/lib\S*/libpumice\.so\.0\n\Z")
        self.assertNotIn("LD_LIBRARY_PATH", self.result("root-output"))

    def test_root_installs_the_parts_of_the_kernel(self):
        self.skip_if_refused()
        self.assertEqual(self.result("root-kernel").split(),
                         [f"/{name}" for name in FILES[:2]] + [f"/usr/src/pumice-{VERSION}/dkms.conf"])

    def test_a_user_installs_the_rest(self):
        self.assertEqual(self.result("user-kernel"), "")
        self.assertIn("without the parts that need root: the driver's firmware",
                      self.result("user-output"))
        self.assertEqual(self.result("user-files"), self.result("root-files"))
        self.assertIn("/usr/local/bin/pumice-run\n", self.result("user-files"))

    def test_the_folder_that_the_loader_does_not_search_is_named(self):
        # The machine may have the library of the Debian package.
        self.assertRegex(self.result("user-library"), r"\A(/usr)?/lib/(\S+/)?libpumice\.so\.0\n\Z")
        folder = re.search(r"programs do not find the library in (/usr/local/lib\S*): set "
                           "LD_LIBRARY_PATH to it", self.result("user-output"))[1]
        self.assertIn(f"{folder}/libpumice.so\n", self.result("user-files"))

    def test_a_prefix_that_cannot_be_written_is_refused(self):
        for target in ("install", "install-qemu"):
            self.assertEqual(self.result(f"refused-{target}"),
                             "error: the user someone cannot write in /readonly\n"
                             f"       as root: make {target} PREFIX=/readonly/a/b; or name a folder "
                             f"of yours: make {target} PREFIX=$HOME/pumice\n1\n")


def empty_disk():
    """Return a disk image in QEMU's format qcow2, version 2, with one cluster of zeros."""
    cluster = 1 << 16
    # Magic, version, backing file (2), cluster bits, size, encryption, entries and offset of L1
    # table, offset and clusters of the table of reference counts, snapshots (2).
    header = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, cluster, 0, 1, 3 * cluster,
                         cluster, 1, 0, 0)
    counts = struct.pack(">4H", 1, 1, 1, 1)     # the four clusters are used once
    parts = [header, struct.pack(">Q", 2 * cluster), counts, b""]
    return b"".join(part.ljust(cluster, b"\0") for part in parts)


class InstallQemu(Folder):
    """make install-qemu."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run(["scripts/install.sh", "qemu"], PREFIX=str(cls.root), DESTDIR="",
            PUMICE_QEMU=os.environ.get("PUMICE_QEMU",
                                       str(BUILD / "qemu/qemu-system-x86_64")))
        cls.command = str(cls.root / "bin/pumice-qemu")

    def test_the_command_starts_qemu_which_has_the_device(self):
        self.assertIn("cores=", run([self.command, "-device", "pumice,help"]))

    def test_version_is_that_of_the_package_and_of_qemu(self):
        for option in ("-V", "--version"):
            lines = run([self.command, option]).splitlines()
            self.assertEqual(lines[0], f"pumice-qemu {VERSION}")
            self.assertRegex(lines[1], r"^QEMU emulator version \d+\.\d+")

    def test_both_accelerators_of_the_pages_are_built(self):
        lines = run([self.command, "-accel", "help"]).splitlines()
        self.assertLessEqual({"kvm", "tcg"}, set(lines))

    def test_help_has_the_device_and_qemus_options(self):
        for option in ("-h", "--help"):
            output = run([self.command, option])
            self.assertTrue(output.startswith("usage: pumice-qemu "), output[:100])
            self.assertIn("-device pumice,cores=4,threads=2", output)
            self.assertIn("-machine", output)

    def test_completion_offers_qemus_options_and_devices(self):
        script = self.root / "share/bash-completion/completions/pumice-qemu"
        text = run([self.command, "--help"])
        forms = {form for line in text.splitlines()
                 for head in re.findall(r"^-(?:\S| or -)*", line)
                 for form in re.split(r" or |/", head)}
        self.assertLessEqual({"-machine", "-help", "-fdb", "-fw_cfg", "--preconfig"}, forms)
        command, offered = complete(script, self.command, "-")
        self.assertEqual(command, "pumice-qemu")
        self.assertEqual(set(offered), forms | {"-h", "--help", "-V", "--version"})
        self.assertEqual(complete(script, self.command, "-nogr")[1], ["-nographic"])
        self.assertEqual(complete(script, self.command, "-device", "pumi")[1],
                         ["pumice", "pumice-vgpu"])
        (self.root / "log.txt").touch()
        self.assertEqual(complete(script, self.command, "-D", f"{self.root}/lo")[1],
                         [f"{self.root}/log.txt"])

    def test_other_options_are_qemus(self):
        done = subprocess.run([self.command, "-wheel"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-wheel: invalid option", done.stderr)

    def test_the_page_has_the_options_of_the_command(self):
        page = (self.root / "share/man/man1/pumice-qemu.1").read_text(encoding="utf-8")
        script = (self.root / "bin/pumice-qemu").read_text(encoding="utf-8")
        forms = {form for line in re.findall(r"^\.BR (\\-\w.*)$", page, re.M)
                 for form in re.findall(r"--?[\w-]+", line.replace("\\-", "-"))}
        labels = {form for line in re.findall(r"^(-.*)\)$", script, re.M)
                  for form in line.split(" | ")}
        self.assertEqual(forms, labels)
        output = run(["groff", "-man", "-ww", "-z", "-Tutf8", "-k",
                      str(self.root / "share/man/man1/pumice-qemu.1")])
        self.assertEqual(output, "")

    def test_examples_start_a_machine_with_the_device(self):
        disk = self.root / "guest.qcow2"
        disk.write_bytes(empty_disk())
        document = (TOP / "Documentation/installation.rst").read_text(encoding="utf-8")
        commands = {"installation.rst": [line.replace("\\\n", "") for line in re.findall(
            r"^   (pumice-qemu (?:.*\\\n)*.*)", document, re.M)]}
        for page in (self.root / "share/man/man1").iterdir():
            commands[page.name] = examples(page.read_text(encoding="utf-8"))
        self.assertIn("pumice-qemu.1", commands)
        for name in commands:
            self.assertTrue(commands[name], name)
        for command in sum(commands.values(), []):
            replies = self.start(command)
            drives = [drive["inserted"] for drive in replies["query-block"] if "inserted" in drive]
            self.assertEqual([(drive["drv"], drive["file"]) for drive in drives],
                             [("qcow2", disk.name)])
            self.assertIn("3D controller", [device["class_info"].get("desc") for bus in
                                            replies["query-pci"] for device in bus["devices"]])

    def start(self, command):
        """Start a machine whose processors do not run; return {query: reply} of QMP."""
        queries = ["qmp_capabilities", "query-block", "query-pci", "quit"]
        done = subprocess.run(
            f"{command} -S -serial none -monitor none -qmp stdio", shell=True, cwd=self.root,
            text=True, input="".join(f'{{"execute": "{name}", "id": "{name}"}}\n' for name in queries),
            env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"},
            capture_output=True, timeout=600, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return {line["id"]: line["return"] for line in lines if "return" in line}

    def test_without_qemu_the_shells_status_is_reported(self):
        folder = self.root / "empty"
        (folder / "bin").mkdir(parents=True)
        text = pathlib.Path(self.command).read_text(encoding="utf-8")
        copy = folder / "bin/pumice-qemu"
        copy.write_text(text.replace(str(self.root / "libexec"), str(folder / "libexec")),
                        encoding="utf-8")
        done = subprocess.run(["sh", copy], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 127)


if __name__ == "__main__":
    unittest.main()
