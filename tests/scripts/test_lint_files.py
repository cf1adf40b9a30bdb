# SPDX-License-Identifier: MIT
"""lint-files.py: licences, lengths and text of files."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import by_path  # noqa: E402

lint_files = by_path.load("lint-files.py")
LINE = "// SPDX-License-Identifier: MIT\n"


class Files(unittest.TestCase):
    """Problems of one file."""

    def problems(self, name, content):
        """Return the problems of a file with this content."""
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(lint_files, "TOP", pathlib.Path(folder)):
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            return list(lint_files.check(name))

    def test_each_folder_has_its_licence(self):
        self.assertEqual(self.problems("firmware/a.c", LINE.encode()), [])
        self.assertEqual(self.problems("drivers/a.c", LINE.encode()),
                         ["drivers/a.c:1: licence MIT, should be GPL-2.0 OR MIT"])
        self.assertEqual(self.problems("tests/a.c", b"int a;\n"),
                         ["tests/a.c:1: no SPDX-License-Identifier in the first line"])

    def test_long_files_and_functions_are_reported(self):
        self.assertEqual(self.problems("a.c", (LINE + "\n" * 999).encode()), [])
        self.assertEqual(self.problems("a.c", (LINE + "\n" * 1000).encode()),
                         ["a.c: 1001 lines, at most 1000"])
        for length, expected in (80, []), (81, ["a.c:3: a function of 81 lines, at most 80"]):
            function = "int f(void)\n{\n" + "\n" * length + "}\n"
            self.assertEqual(self.problems("a.c", (LINE + function).encode()), expected)

    def test_long_lines_of_c_are_reported(self):
        def lines(name, *texts):
            found = self.problems(name, (LINE + "".join(text + "\n" for text in texts)).encode())
            return [int(problem.split(":")[1]) for problem in found]

        code = "a = b + c;"
        self.assertEqual(lines("a.c", " " * 90 + code, " " * 91 + code, "\t" * 11 + "  " + code,
                               "\t" * 11 + "   " + code, "// " + "c " * 49), [3, 5, 6])
        self.assertEqual(self.problems("a.h", (LINE + " " * 91 + code).encode()),
                         ["a.h:2: 101 columns, at most 100"])
        self.assertEqual(lines("a.py", " " * 91 + code), [])
        # Texts, addresses, and names that cannot be divided.
        text = '"' + "text " * 19 + '"'
        self.assertEqual(lines("a.c", f"call({text}, a, b);", f"    call({text});",
                               "\tcall(" + "long_name_" * 9 + ");", "\t * https://a.b/" + "c" * 90,
                               f'call("a", {"b, " * 30} c);'), [6])

    def test_a_file_that_is_not_text_is_named_with_its_line(self):
        self.assertEqual(self.problems("a.c", LINE.encode() + b"// \xe9\n"),
                         ["a.c:2: not text in UTF-8"])


if __name__ == "__main__":
    unittest.main()
