# SPDX-License-Identifier: MIT
"""The files of make install and make install-qemu are complete and work outside of the tree."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from prefix import BUILD, TOP, VERSION

DEMOS = re.findall(r"^  '(\w+)': ",
                   (TOP / "userspace/demos/meson.build").read_text(encoding="utf-8"), re.M)
TOOLS = ("as", "decode", "dis", "dump", "frame", "info", "run", "top", "trace",
         *(f"demo-{demo}" for demo in DEMOS))
FILES = ["lib/firmware/pumice/pumice_fw.bin", "usr/lib/udev/rules.d/60-pumice.rules",
         "usr/share/pumice/pumice_fw.bin", f"usr/src/pumice-{VERSION}/dkms.conf",
         *(f"usr/bin/pumice-{tool}" for tool in TOOLS),
         *(f"usr/share/bash-completion/completions/pumice-{tool}" for tool in TOOLS),
         *(f"usr/share/man/man1/pumice-{tool}.1" for tool in TOOLS),
         "usr/include/pumice/pumice.h", "usr/share/man/man3/pumice_submit.3"]


def run(command, **variables):
    """Run a command in the tree; its output. A failure is an error of the test."""
    done = subprocess.run(command, cwd=TOP, env={**os.environ, **variables}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


class Folder(unittest.TestCase):
    """A temporary folder for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)


class Install(Folder):
    """make install."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run(["scripts/install.sh"], DESTDIR=str(cls.root), PREFIX="/usr")

    def test_every_file_is_installed(self):
        missing = [name for name in FILES if not (self.root / name).exists()]
        self.assertEqual(missing, [])

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
        for name, some in [("run", {"--arg", "--groups"}), ("demo-life", {"--generations"}),
                           ("as", {"--c-array", "-I"})]:
            tool = self.root / f"usr/bin/pumice-{name}"
            command, offered = run(
                ["bash", "-c", f". {folder}/pumice-{name}; complete -p pumice-{name}; "
                 f"COMP_WORDS=({tool} -); COMP_CWORD=1; _pumice {tool}; "
                 'echo "${COMPREPLY[*]}"'], LD_LIBRARY_PATH=library).splitlines()
            self.assertIn("_pumice", command.split())
            words = offered.split()
            self.assertLessEqual({*some, "-h", "--help", "-V", "--version"}, set(words))
            self.assertEqual([word for word in words if word.startswith("-") and not
                              run([str(tool), "--help"], LD_LIBRARY_PATH=library).count(word)], [])


class InstallQemu(Folder):
    """make install-qemu."""

    def test_the_command_starts_qemu_which_has_the_device(self):
        run(["scripts/install.sh", "qemu"], PREFIX=str(self.root), DESTDIR="",
            PUMICE_QEMU=os.environ.get("PUMICE_QEMU",
                                       str(BUILD / "qemu/qemu-system-x86_64")))
        output = run([str(self.root / "bin/pumice-qemu"), "-device", "pumice,help"])
        self.assertIn("cores=", output)


if __name__ == "__main__":
    unittest.main()
