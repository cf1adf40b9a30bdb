# SPDX-License-Identifier: MIT
"""The guest image's parts: archives that cpio reads, closures that are whole."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from image import cpio, elf  # noqa: E402


class Archive(unittest.TestCase):
    """cpio.Archive against the cpio program."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def listing(self, path):
        """Return the names that cpio lists."""
        with open(path, "rb") as stream:
            done = subprocess.run(["cpio", "-itv"], stdin=stream, check=True,
                                  capture_output=True, text=True)
        return done.stdout

    def test_content_mode_and_link_survive(self):
        path = self.folder / "a.cpio"
        with cpio.Archive(path) as archive:
            archive.data("bin/tool", b"#!/bin/sh\n", 0o755)
            archive.link("sbin/tool", "/bin/tool")
        out = self.folder / "out"
        out.mkdir()
        with open(path, "rb") as stream:
            subprocess.run(["cpio", "-id", "--quiet"], stdin=stream, cwd=out, check=True)
        self.assertEqual((out / "bin/tool").read_bytes(), b"#!/bin/sh\n")
        self.assertTrue((out / "bin/tool").stat().st_mode & 0o100)
        self.assertEqual(str((out / "sbin/tool").readlink()), "/bin/tool")

    def test_folders_come_before_their_files_and_once(self):
        path = self.folder / "a.cpio"
        with cpio.Archive(path) as archive:
            archive.data("a/b/one", b"1")
            archive.data("a/b/two", b"2")
        names = [line.split()[-1] for line in self.listing(path).splitlines()]
        self.assertEqual(names, ["a", "a/b", "a/b/one", "a/b/two"])

    def test_failure_leaves_no_archive(self):
        path = self.folder / "a.cpio"
        with self.assertRaises(FileNotFoundError):
            with cpio.Archive(path) as archive:
                archive.file("x", self.folder / "missing")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_equal_content_gives_equal_archives(self):
        for name in ("a", "b"):
            with cpio.Archive(self.folder / name) as archive:
                archive.data("etc/x", b"x")
        self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes())


class Closure(unittest.TestCase):
    """elf.closure against the loader's own listing."""

    def test_closure_holds_all_that_the_loader_loads(self):
        program = str(pathlib.Path(sys.executable).resolve())
        listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        wanted = {pathlib.Path(word).name for line in listed.splitlines()
                  for word in line.split() if word.startswith("/")}
        found = {pathlib.Path(path).name for path in elf.closure([program])}
        self.assertLessEqual(wanted, found)

    def test_missing_library_is_named(self):
        with tempfile.TemporaryDirectory() as root:
            (pathlib.Path(root) / "bin").mkdir()
            tool = pathlib.Path(root) / "bin/tool"
            tool.write_bytes(pathlib.Path("/bin/ls").resolve().read_bytes())
            with self.assertRaisesRegex(FileNotFoundError, "ld-linux|libc.so.6|libselinux"):
                elf.closure(["/bin/tool"], root)


if __name__ == "__main__":
    unittest.main()
