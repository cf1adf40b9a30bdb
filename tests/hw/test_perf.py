# SPDX-License-Identifier: MIT
"""
Performance counters: the reference pages have the rows that the compiler has; names and texts fit
in the structures of the kernel interface and the library; the versions since which those of the
memory hierarchy exist are the documented ones.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from contract import HW, ROOT

sys.path.insert(0, os.path.join(ROOT, "Documentation"))
import counter_tables  # noqa: E402  # pylint: disable=wrong-import-position

ROOM = (32, 16, 16, 128)  # name, category, unit, description, with their NUL


def compiled(header, table, format_row):
    """Return the rows of a table as the compiler has them."""
    program = (f'#include <stdio.h>\n#include "{header}"\n#define ROW({format_row[0]}) '
               f'printf({format_row[1]});\nint main(void)\n{{\n{table}(ROW)\nreturn 0;\n}}\n')
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "rows")
        subprocess.run(["cc", "-I", HW, "-x", "c", "-", "-o", binary], input=program, text=True,
                       check=True)
        text = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in text.splitlines()]


COUNTER = ("n, c, d, u, t", '"%s\\t%s\\t%d\\t%s\\t%s\\n", #n, #c, d, u, t')
COLUMN = ("n, t", '"%s\\t%s\\n", #n, t')


class Tables(unittest.TestCase):
    """The tables of counters, as the reference pages read them."""

    def test_pages_have_the_rows_of_the_compiler(self):
        for header, table, row in (("perf.h", "PUMICE_PERF_COUNTERS", COUNTER),
                                   ("hier.h", "PUMICE_HIER_CLIENT_COLUMNS", COLUMN),
                                   ("hier.h", "PUMICE_HIER_LEVEL_COLUMNS", COLUMN)):
            with self.subTest(table=table):
                self.assertEqual(counter_tables.table(pathlib.Path(HW, header), table),
                                 compiled(header, table, row))

    def test_names_and_texts_fit_in_their_structures(self):
        for name, category, _, unit, text in compiled("perf.h", "PUMICE_PERF_COUNTERS", COUNTER):
            with self.subTest(name=name):
                self.assertTrue(name.startswith(f"{category}_"))
                for value, room in zip((name, category, unit, text), ROOM):
                    self.assertLess(len(value.encode()), room)


class Versions(unittest.TestCase):
    """Counters of the memory hierarchy."""

    def test_the_register_map_has_them_since_the_version_that_is_required(self):
        fwif = pathlib.Path(HW, "fwif.h").read_text(encoding="utf-8")
        since = re.search(r"^#define FWIF_PERF_HIER_SINCE_MAP\s+(\d+)u$", fwif, re.M).group(1)
        perf = pathlib.Path(HW, "perf.h").read_text(encoding="utf-8")
        self.assertIn(f"since register map 2.{since}.", perf)
        doc = {(unit.get("name"), reg.get("name")): reg.get("doc")
               for unit in ElementTree.parse(os.path.join(HW, "registers.xml")).iter("unit")
               for reg in unit.iter("reg")}
        self.assertIn(f"Since 2.{since}: 256 performance counters", doc["SYS", "VERSION"])
        self.assertIn(f"devices before version 2.{since} have 96", doc["PERF", "COUNTER"])


if __name__ == "__main__":
    unittest.main()
