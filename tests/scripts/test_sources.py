# SPDX-License-Identifier: MIT
"""The list of a tree's files is the same with git and without."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402


class Files(unittest.TestCase):
    """A tree with sources and results."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        for name in ("a.c", "sub/b.h", "build/x.o", "out/log", "sub/__pycache__/y.pyc",
                     ".cache/pumice/qemu/c.c", "Documentation/html/a.html",
                     "Documentation/reference/registers.rst", "sub/reference/c.py",
                     "examples/torus", "examples/torus.c", "sub/picture.ppm", "sub/examples/torus",
                     "debian/pumice-qemu/a", "debian/pumice-qemu.install", "debian/x.substvars"):
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            (self.top / name).write_text("x", encoding="ascii")
        for name in (".gitignore", "debian/source/options"):
            (self.top / name).parent.mkdir(exist_ok=True)
            shutil.copy(TOP / name, self.top / name)

    def check(self, left_out=()):
        """Check that the list has these sources without some, and nothing else."""
        names = [".gitignore", "a.c", "debian/pumice-qemu.install", "debian/source/options",
                 "examples/torus.c", "sub/b.h", "sub/examples/torus", "sub/reference/c.py"]
        self.assertEqual(sorted(sources.files(self.top)),
                         [name for name in names if name not in left_out])

    def test_a_repository(self):
        subprocess.run(["git", "init", "-q"], cwd=self.top, check=True)
        self.check()
        subprocess.run(["git", "add", "a.c", "sub/b.h"], cwd=self.top, check=True)
        (self.top / "a.c").unlink()
        self.assertEqual(sources.tracked(self.top), ["sub/b.h"])

    def test_a_copy_without_repository(self):
        with mock.patch.dict("os.environ", GIT_CEILING_DIRECTORIES=str(self.top.parent)):
            self.check()
            self.assertEqual(sources.commit(self.top), "?")

    def test_an_unpacked_debian_source_package(self):
        # Its list is that of dpkg.
        (self.top / ".gitignore").unlink()
        with mock.patch.dict("os.environ", GIT_CEILING_DIRECTORIES=str(self.top.parent)):
            self.check([".gitignore"])
            (self.top / "debian/source/options").unlink()
            self.assertIn("examples/torus", sources.files(self.top))

    def test_a_machine_without_git(self):
        with mock.patch.object(sources.subprocess, "run", side_effect=FileNotFoundError):
            self.check()
            self.assertEqual(sources.tracked(self.top), sources.files(self.top))
            self.assertEqual(sources.commit(self.top), "?")


if __name__ == "__main__":
    unittest.main()
