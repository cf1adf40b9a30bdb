# SPDX-License-Identifier: MIT
"""
scripts/check.sh: words that name no part, parts that cannot be built, and parts in the background
that end early.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from xml.etree import ElementTree

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "scripts/check.sh"


class Check(unittest.TestCase):
    def test_a_word_that_names_no_part_ends_the_script_before_the_first(self):
        for words in (["nosuch"], ["lint", "--", "igt", "nosuch"]):
            done = subprocess.run([SCRIPT, *words], text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no part nosuch", done.stderr)
            self.assertNotIn("==", done.stdout)

    def test_every_part_has_a_name_and_every_name_a_part(self):
        script = SCRIPT.read_text(encoding="utf-8")
        body = re.search(r"^run_part\(\) \{\n(.*?)^\}", script, re.M | re.S)[1]
        names = re.search(r'^PARTS="([a-z ]+)"', script, re.M)[1].split()
        self.assertEqual(set(re.findall(r"^\t([a-z]+)\)$", body, re.M)), set(names))

    def run_in_script(self, out, commands):
        """Run commands after the functions of the script; its standard output."""
        commands = f'source <(sed "\\$d" "{SCRIPT}"); parts=() times=() failed=0; {commands}'
        done = subprocess.run(["bash", "-c", commands, str(SCRIPT)], text=True, check=False,
                              capture_output=True, env={**os.environ, "OUT": out})
        return done.stdout + done.stderr

    def test_parts_in_the_background_that_end_early_are_one_failure(self):
        with tempfile.TemporaryDirectory() as out:
            pathlib.Path(out, "none").touch()
            output = self.run_in_script(out, (
                'false & join_background "$OUT/none" $!; echo "failed $failed: ${parts[*]}"; '
                f'python3 "{TOP}/scripts/total.py" "${{parts[@]}}"'))
        self.assertIn("FAILED the parts in the background: nothing could be run", output)
        self.assertIn("failed 1: ", output)
        self.assertTrue(output.endswith("0 passed, 1 failed\n"), output)

    def test_a_part_that_cannot_be_built_is_a_failure_in_junits_file_too(self):
        with tempfile.TemporaryDirectory() as out:
            file = pathlib.Path(out, "results/some.xml")
            file.parent.mkdir()
            # Of the last run.
            file.write_text('<testsuite tests="9" failures="0"/>')
            file.with_suffix(".json").write_text('{"passed": ["one"], "failed": []}')
            output = self.run_in_script(out, 'part some "some part" nosuch.target true')
            self.assertIn("FAILED some part: nothing could be run", output)
            suite = ElementTree.parse(file).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))
        self.assertEqual(suite.find("testcase").get("name"), "some part")
        self.assertIn("nothing could be run", suite.find("testcase/failure").get("message"))


if __name__ == "__main__":
    unittest.main()
