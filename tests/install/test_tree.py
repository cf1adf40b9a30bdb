# SPDX-License-Identifier: MIT
"""make install leaves the files of the tree as they are."""

import os
import shutil
import subprocess
import unittest

from folder import Folder
from prefix import TOP, VERSION


class Sources(Folder):
    """The folder of the driver's sources, which make install replaces, with a build that fails."""

    def setUp(self):
        shutil.rmtree(self.root)
        self.src = self.root / f"usr/src/pumice-{VERSION}"
        self.tree = self.copy(self.root / "tree")

    @staticmethod
    def copy(tree):
        """Make a tree in which make install fails after its checks; return it."""
        for name in ("scripts/install.sh", "scripts/lib.sh", "meson.build"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, tree / name)
        (tree / "scripts/build-native.sh").symlink_to("/bin/false")
        return tree

    def install(self, tree, **folders):
        """Return what install.sh of a tree reports; the folders are in the tree unless named."""
        names = {"BUILD": tree / "build", "OUT": tree / "out", "PUMICE_CACHE": tree / "cache", **folders}
        done = subprocess.run(
            [tree / "scripts/install.sh"], text=True, check=False, capture_output=True,
            env={**os.environ, "DESTDIR": str(self.root), "PREFIX": "/usr",
                 **{name: str(path) for name, path in names.items()}})
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def assert_refused(self, report, reason):
        """Check that a report is the refusal to replace the folder for a reason."""
        self.assertRegex(report, rf"\Aerror: {self.src}, which make install replaces, {reason}\n.*\n\Z")

    def assert_built(self, report):
        """Check that the checks were passed."""
        self.assertIn("error: installing the library and tools in", report)

    def test_the_tree_is_not_replaced(self):
        tree = self.copy(self.src)
        (tree / "dkms.conf").touch()
        self.assert_refused(self.install(tree), "contains the tree, BUILD, OUT or the cache")
        below = self.copy(self.src / "a/b")
        self.assert_refused(self.install(below), "contains the tree, BUILD, OUT or the cache")

    def test_results_are_not_replaced(self):
        self.src.mkdir(parents=True)
        (self.src / "dkms.conf").touch()
        link = self.root / "link"
        link.symlink_to(self.src)
        for name in ("BUILD", "OUT", "PUMICE_CACHE"):
            for folder in (self.src, self.src / "a/b", link / "a"):
                with self.subTest(name=name, folder=folder):
                    self.assert_refused(self.install(self.tree, **{name: folder}),
                                        "contains the tree, BUILD, OUT or the cache")

    def test_another_tree_is_not_replaced(self):
        self.copy(self.src)
        self.assert_refused(self.install(self.tree), "is not a copy of the driver's sources")

    def test_earlier_sources_and_links_are_replaced(self):
        self.assert_built(self.install(self.tree))
        self.src.mkdir(parents=True)
        (self.src / "dkms.conf").touch()
        self.assert_built(self.install(self.tree))
        shutil.rmtree(self.src)
        self.src.symlink_to(self.tree)
        self.assert_built(self.install(self.tree))


if __name__ == "__main__":
    unittest.main()
