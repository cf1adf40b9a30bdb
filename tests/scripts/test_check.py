# SPDX-License-Identifier: MIT
"""scripts/check.sh: words that name no part, and parts in the background that end early."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

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

    def test_parts_in_the_background_that_end_early_are_one_failure(self):
        with tempfile.TemporaryDirectory() as out:
            commands = (f'source <(sed "\\$d" "{SCRIPT}"); parts=() times=() failed=0; '
                        f'false & join_background "$OUT/none" $!; echo "failed $failed: '
                        f'${{parts[*]}}"; python3 "{TOP}/scripts/total.py" "${{parts[@]}}"')
            pathlib.Path(out, "none").touch()
            done = subprocess.run(["bash", "-c", commands, str(SCRIPT)], text=True, check=False,
                                  capture_output=True, env={**os.environ, "OUT": out})
        self.assertIn("FAILED the parts in the background: nothing could be run", done.stdout,
                      done.stderr)
        self.assertIn("failed 1: ", done.stdout)
        self.assertTrue(done.stdout.endswith("0 passed, 1 failed\n"), done.stdout)


if __name__ == "__main__":
    unittest.main()
