# SPDX-License-Identifier: MIT
"""Debian's source package has the sources and nothing else; debian/copyright has their licences."""

import fnmatch
import pathlib
import re
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

# Licences of SPDX lines, by their names in debian/copyright.
LICENCES = {"MIT": "MIT", "GPL-2.0-or-later": "GPL-2+", "GPL-2.0 OR MIT": "GPL-2 or MIT",
            "(GPL-2.0 OR MIT)": "GPL-2 or MIT",
            "((GPL-2.0 WITH Linux-syscall-note) OR MIT)": "GPL-2 or MIT"}


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

    def test_the_text_of_the_mit_licence_is_in_it(self):
        licence = (TOP / "LICENSES/MIT.txt").read_text(encoding="utf-8")
        permission = " ".join(licence[licence.index("Permission"):].split())
        self.assertIn(permission, " ".join(self.text.replace("\n .\n", "\n").split()))


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

    @staticmethod
    def ignored():
        """Return results that git ignores, one or two for each line of .gitignore. A source package
        does not have that file. Builds in debian/ are removed by debian/rules clean.
        """
        path = TOP / ".gitignore"
        for line in path.read_text(encoding="ascii").splitlines() if path.exists() else []:
            if not line.startswith(("#", "/debian/")):
                name = line.strip("/").replace("*", "result") + ("/result" if line.endswith("/") else "")
                yield name
                if not line.startswith("/"):
                    yield f"hw/{name}"

    def test_results_are_left_out_and_every_source_is_in_it(self):
        results = [f"{folder}/result" for name in sources.RESULTS for folder in (name, f"hw/{name}")]
        results += [f"{folder}/result" for folder in sources.RENDERED]
        results += self.ignored()
        packed = self.packed(results)
        self.assertEqual(packed & set(results), set())
        self.assertLessEqual(set(sources.tracked(TOP)) - packed, OF_GIT)

    def test_programs_and_pictures_of_the_examples_are_results(self):
        if (TOP / ".gitignore").exists():
            programs = {f"examples/{path.stem}" for path in (TOP / "examples").glob("*.c")
                        if "\nint main(" in path.read_text(encoding="utf-8")}
            self.assertGreaterEqual(len(programs), 5)
            self.assertLessEqual({*programs, "result.ppm"}, set(self.ignored()))


if __name__ == "__main__":
    unittest.main()
