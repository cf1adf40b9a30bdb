# SPDX-License-Identifier: MIT
"""Debian's source package has the sources and nothing else."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from prefix import TOP

sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402

# Sources that dpkg-source leaves out by default.
OF_GIT = {".gitignore"}


class Source(unittest.TestCase):
    """dpkg-source of a tree that has the names of this one and results."""

    def packed(self, results):
        """Return the files of the source package of a tree with these files of results."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        tree = pathlib.Path(holder.name) / "pumice"
        for name in [*sources.files(TOP), *results]:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            if name.startswith("debian/"):
                shutil.copy(TOP / name, tree / name)
            else:
                (tree / name).touch()
        subprocess.run(["dpkg-source", "-Zgzip", "-z1", "-b", tree], cwd=holder.name, check=True,
                       capture_output=True)
        archive, = pathlib.Path(holder.name).glob("*.tar.gz")
        listed = subprocess.run(["tar", "-tzf", archive], check=True, text=True,
                                capture_output=True).stdout.splitlines()
        return {name.partition("/")[2] for name in listed if not name.endswith("/")}

    def test_results_are_left_out_and_every_source_is_in_it(self):
        results = [f"{folder}/result" for name in sources.RESULTS for folder in (name, f"hw/{name}")]
        results += [f"{folder}/result" for folder in sources.RENDERED]
        packed = self.packed(results)
        self.assertEqual(packed & set(results), set())
        self.assertEqual(set(sources.files(TOP)) - packed, OF_GIT)


if __name__ == "__main__":
    unittest.main()
