# SPDX-License-Identifier: MIT
"""Words that Documentation/style-words.inc and style-names.inc replace, and clauses used as nouns.

For lint_language.py, which checks files, and lint_commits.py, which checks messages of commits.
"""

import csv
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent
WORDS = TOP / "Documentation" / "style-words.inc"
NAMES = TOP / "Documentation" / "style-names.inc"
# A remark of names that are reported in tests only.
TESTS_ONLY = "in ``tests/`` only"
# A clause that is the object of a preposition: "wait for what the command depends on".
OBJECT = re.compile(r"\b(?:about|after|as|at|before|beyond|by|except|for|from|in|into|like|of|on|onto|"
                    r"over|past|since|than|to|under|until|upon|with|within|without) what\b",
                    re.IGNORECASE)


def replaced_words(table, tests=False):
    """Return [(pattern, replacement)] of a table; tests: with those of tests.

    A "_" at an end of a name matches a further word there, so that "what_" excepts "what". It is
    "\\_" in the table, since reStructuredText reads "what_" as a link.
    """
    text = table.read_text(encoding="utf-8").replace("\\", "")
    rows = [line.strip() for line in text.splitlines() if line.startswith('   "')]
    return [(re.compile(r"\b(?:" + "|".join(map(re.escape, avoid.replace("_", " ").split(", "))) +
                        r")\b", re.IGNORECASE), write) for avoid, write, remark in csv.reader(rows)
            if tests or not remark.startswith(TESTS_ONLY)]


def of_prose():
    """Return [(pattern, replacement)] for text: the words, and clauses after prepositions."""
    return [*replaced_words(WORDS), (OBJECT, "the object")]
