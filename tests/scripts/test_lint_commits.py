# SPDX-License-Identifier: MIT
"""scripts/lint_commits.py: what is reported of a message, and which commits of a clone are read."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import lint_commits  # noqa: E402  # pylint: disable=wrong-import-position

BODY = "\n\nThe stream was read twice, so a guest could change it in between.\n"
SUBJECTS = [
    ("cdm: fault on sub-lists nested too deep", None),
    ("tests/unit/usc, hw: use conventional terms in comments", None),
    ("dm: start, stop and end a job in one place", None),
    ("drm/pumice: read the register after the interrupt is masked", None),
    ('Revert "cdm: fault on sub-lists nested too deep"', None),
    ("fault on sub-lists nested too deep", "'part: imperative summary'"),
    ("wip6", "'part: imperative summary'"),
    ("fixup! cdm: fault on sub-lists nested too deep", "'part: imperative summary'"),
    ("cdm:fault on sub-lists", "'part: imperative summary'"),
    ("the cdm: fault on sub-lists", "'part: imperative summary'"),
    ("cdm: " + "fault " * 12, "characters, at most 75"),
    ("cdm: fault on sub-lists nested too deep.", "full stop"),
    ("trace: readers wait for records", "verb in the imperative: 'readers'"),
    ("cdm: nesting is checked", "verb in the imperative: 'nesting'"),
    ("cdm: the depth of sub-lists", "verb in the imperative: 'the'"),
    ("cdm: Fault on sub-lists", "verb in the imperative: 'Fault'"),
    ("t_reset: test is repeated", "not a request: 'test is …'"),
    ("t_reset: order of the events", "not a request: 'order of …'"),
]
BODIES = [
    ("", "no sentence"),
    ("\n\n", "no sentence"),
    ("\n\nTested.\n", "no sentence"),
    ("\n\nas discussed with the others\n", "no sentence"),
    ("\n\nSigned-off-by: The author of it <a@b.example>.\n", "no sentence"),
    ("\n\n# The stream was read twice, and git comments this out.\n", "no sentence"),
    ("\nThe stream was read twice.\n", "second line"),
    (BODY, None),
    (BODY + '\nFixes: 0123456789ab ("cdm: read a stream")\n', None),
    (BODY + '\nFixes: 0123456 ("cdm: read a stream")\n', "write Fixes:"),
    (BODY + "\nFixes: 0123456789ab\n", "write Fixes:"),
    (BODY + "\nFixes: none (the defect is older than the history)\n", None),
    (BODY + "\nFixes: none\n", "write Fixes:"),
    ("\n\nThe buffer leaked at every reset.\n", "'leaked' without Fixes:"),
    ("\n\nThe guest hung at boot.\n", "'hung' without Fixes:"),
    ("\n\nThe test has failed since sub-lists nest.\n", "'failed since' without Fixes:"),
    ('\n\nThe guest crashed at a reset.\n\nFixes: 0123456789ab ("cdm: read a stream")\n', None),
]


class Messages(unittest.TestCase):
    """The rule, by examples."""

    def check(self, message, wanted):
        """Check that the message has one problem, which contains the words, or none."""
        with self.subTest(message=message):
            found = lint_commits.problems(message)
            self.assertEqual(len(found), 0 if wanted is None else 1, found)
            self.assertIn(wanted or "", "".join(found))

    def test_first_lines(self):
        for subject, wanted in SUBJECTS:
            self.check(subject + BODY, wanted)

    def test_bodies(self):
        for body, wanted in BODIES:
            self.check(SUBJECTS[0][0] + body, wanted)

    def test_a_fix_names_the_commit_that_it_fixes(self):
        for verb in ("fix", "correct", "repair"):
            self.check(f"cdm: {verb} the depth of sub-lists" + BODY, f"'{verb}' without Fixes:")
            self.check(f"cdm: {verb} the depth" + BODY + "\nFixes: none (a new test)\n", None)
        self.check("cdm: report what a fix is" + BODY, None)

    def test_older_commits_need_no_such_line(self):
        message = "cdm: fix the depth of sub-lists" + BODY
        self.assertEqual(lint_commits.problems(message, lint_commits.FIXES_SINCE - 1), [])
        self.assertEqual(len(lint_commits.problems(message, lint_commits.FIXES_SINCE)), 1)

    def test_words_that_the_style_replaces_are_reported(self):
        subject = "cdm: fault on sub-lists nested too deep"
        for words, wanted in (("The depth is beside the address.", '"beside": write'),
                              ("It was taken for\nan address.", '"taken for": write'),
                              ("It looked at what is admitted.", '"at what": write')):
            self.check(f"{subject}\n\n{words}\n", wanted)
        self.check("cdm: define the depth beside the address" + BODY, '"beside": write')
        self.check(f'{subject}{BODY}The word "beside" is replaced.\n', None)
        self.check(f'{subject}{BODY}\nFixes: 0123456789ab ("cdm: go on beside it")\n', None)

    def test_older_commits_may_have_them(self):
        message = "cdm: define the depth beside the address" + BODY
        self.assertEqual(lint_commits.problems(message, lint_commits.WORDS_SINCE - 1), [])
        self.assertEqual(len(lint_commits.problems(message, lint_commits.WORDS_SINCE)), 1)

    def test_an_empty_message_is_reported(self):
        self.check("\n", "empty")

    def test_several_problems_are_reported_together(self):
        self.assertEqual(len(lint_commits.problems("the depth")), 2)


class Clones(unittest.TestCase):
    """Selection of commits."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.origin = pathlib.Path(holder.name) / "origin"
        self.origin.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, date=0, folder=None, committed=None):
        """Run git in the repository, as an author and committer at a time; its output."""
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null",
                       "GIT_CONFIG_SYSTEM": "/dev/null"}
        for role in ("AUTHOR", "COMMITTER"):
            environment[f"GIT_{role}_NAME"] = "test"
            environment[f"GIT_{role}_EMAIL"] = "test@localhost"
            environment[f"GIT_{role}_DATE"] = f"{lint_commits.BASE_DATE + date} +0000"
        if committed is not None:
            environment["GIT_COMMITTER_DATE"] = f"{committed} +0000"
        done = subprocess.run(["git", *arguments], cwd=folder or self.origin, check=True, text=True,
                              capture_output=True, env=environment)
        return done.stdout.strip()

    def commit(self, subject, date, committed=None):
        """Create an empty commit @seconds after the base; return its name."""
        self.git("commit", "-q", "--allow-empty", "-m", subject, date=date, committed=committed)
        return self.git("rev-parse", "HEAD")

    def found(self, base, folder=None):
        """Return the first lines of the commits that are read, the newest first."""
        return [message.splitlines()[0]
                for _, _, _, message in lint_commits.commits(base, folder or self.origin)]

    def test_commits_after_the_base_are_read(self):
        self.commit("before", -10)
        base = self.commit("base", 0)
        self.commit("first", -5)    # commits on a branch may be older than the base
        self.commit("second", 20)
        self.assertEqual(self.found(base), ["second", "first"])
        self.assertEqual(self.found("HEAD"), [])

    def test_merges_are_not_read(self):
        base = self.commit("base", 0)
        self.git("checkout", "-q", "-b", "other")
        self.commit("other", 1)
        self.git("checkout", "-q", "main")
        self.commit("main", 2)
        self.git("merge", "-q", "-m", "Merge other", "other", date=3)
        self.assertEqual(sorted(self.found(base)), ["main", "other"])

    def test_a_shallow_clone_is_read_as_far_as_it_goes(self):
        base = self.commit("base", 0)
        for number in range(3):
            self.commit(f"commit {number}", 1 + number)
        shallow = self.origin.parent / "shallow"
        self.git("clone", "-q", "--depth", "2", f"file://{self.origin}", str(shallow))
        self.assertEqual(self.found(base, shallow), ["commit 2", "commit 1"])

    def test_without_the_base_older_commits_are_not_read(self):
        self.commit("old", -1)
        self.commit("new", 1)
        self.assertEqual(self.found("0" * 40), ["new"])

    def test_a_tree_that_is_not_a_clone_has_no_commits(self):
        bare = self.origin.parent / "tree"
        bare.mkdir()
        self.assertIsNone(lint_commits.commits("HEAD", bare))

    def test_a_line_fixes_names_an_ancestor_by_its_summary(self):
        wrong = self.commit("cdm: read a stream", 1)[:12]
        summary = f"{SUBJECTS[0][0]}{BODY}\nFixes: "
        other = self.git("commit-tree", "-m", "cdm: read a list", f"{wrong}^{{tree}}")[:12]
        since = lint_commits.NAMED_SINCE
        shallow = self.origin.parent / "shallow"
        for line, wanted in ((f'{wrong} ("cdm: read a stream")', None),
                             ("none (the defect is older than the history)", None),
                             (f'{wrong} ("cdm: read a list")', 'is "cdm: read a stream"'),
                             (f'{other} ("cdm: read a list")', "is not a commit in the history"),
                             ('0123456789ab ("cdm: read a stream")', "is not a commit in the history")):
            for committed, reported in ((since - 1, None), (since, wanted)):
                with self.subTest(line=line, committed=committed):
                    self.commit(summary + line, 2, committed)
                    found = [problem for _, _, problem in lint_commits.all_problems(
                        lint_commits.commits("HEAD~1", self.origin), self.origin)]
                    self.assertEqual(len(found), 0 if reported is None else 1, found)
                    self.assertIn(reported or "", "".join(found))
        # Commits that are named may be missing there.
        self.git("clone", "-q", "--depth", "1", f"file://{self.origin}", str(shallow))
        self.assertEqual(list(lint_commits.all_problems(
            lint_commits.commits("0" * 40, shallow), shallow)), [])

    def test_the_base_of_the_project_is_the_commit_with_that_date(self):
        date = lint_commits.sources.git(["log", "-1", "--format=%at", lint_commits.BASE], TOP)
        if date is not None:    # not in a shallow clone
            self.assertEqual(int(date), lint_commits.BASE_DATE)


if __name__ == "__main__":
    unittest.main()
