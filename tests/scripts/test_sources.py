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
        shutil.copy(TOP / ".gitignore", self.top)

    def check(self):
        """Check that the list has these sources, and nothing else."""
        self.assertEqual(sorted(sources.files(self.top)),
                         [".gitignore", "a.c", "debian/pumice-qemu.install", "examples/torus.c",
                          "sub/b.h", "sub/examples/torus", "sub/reference/c.py"])

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

    def test_a_machine_without_git(self):
        with mock.patch.object(sources.subprocess, "run", side_effect=FileNotFoundError):
            self.check()
            self.assertEqual(sources.tracked(self.top), sources.files(self.top))
            self.assertEqual(sources.commit(self.top), "?")


if __name__ == "__main__":
    unittest.main()
