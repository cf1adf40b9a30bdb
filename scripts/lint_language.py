#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Report words that Documentation/style-words.inc and style-names.inc replace.

lint_language.py [--all]: in lines added since LINT_BASE, else since the branch left its upstream
or the main branch, else since the previous commit; uncommitted changes count. --all checks every
line of every file instead.
Checks the words in all text, the names in identifiers only, which are split at "_", comments,
headings and sentences that begin with a clause ("What ..."), "for what ...", "is what ...", "; what
...", "is no NOUN", and that docstrings of functions begin with a verb. A line that contains "lint: word" is excepted. Also checks that every citation of a
source document names a section ("document 004, "PDS"", in XML without quotes) that
Documentation/sources.rst lists.
"""

import ast
import os
import pathlib
import re
import sys

import lint_commits
import lint_words
import sources

TOP = pathlib.Path(__file__).resolve().parent.parent
SOURCES = TOP / "Documentation" / "sources.rst"
# Not text of ours: licences and data.
NOT_TEXT = re.compile(r"LICENSES/|debian/copyright$|.*\.(?:bin|png|gif|svg)$")
# Files that list the words themselves; and two whose every change rebuilds a kernel.
EXCEPT = ("Documentation/style.rst", "Documentation/style-words.inc",
          "Documentation/style-names.inc", "scripts/lint_language.py", "scripts/lint_words.py",
          "tests/scripts/test_lint_language.py", "tests/scripts/test_lint_commits.py",
          "scripts/kernel/debug.config", "scripts/kernel/fast.config")
MARKER = "lint: word"
# A comment, docstring or text of XML that is a clause: it names no object. A comma indicates a
# conditional ("When ..., it is ..."). Markdown's # is a heading.
CLAUSE = re.compile(r'(?:^\W*(?:/\*\*?|//|#|"""|\*|;)\s*|\bdoc=")'
                    r'(?:(?:What|Who|Whose|Whether|How|Why|Which)\b[^?]*|(?:Where|When)\b[^?,]*)$')
# A sentence that begins with one, after the first: in a line, and at the start of the next line.
LATER_CLAUSE = re.compile(r"(?<=[a-z0-9)\]\"'`][.;:] )(?:What|Who|Whose|Whether|How|Why|Which) [^?]*$")
# A clause as predicate, or after ";" or ":": "the list is what it needs". Before
# punctuation it is a name.
PREDICATE = re.compile(r"(?<![\"'])[;:] what\b(?!\s*[:=,.)\]}])|\b(?:is|are|was|were) (?:what|how|why|whether|where)\b")
# A heading of Markdown, and one of reStructuredText, whose line is underlined, that is a clause.
MARKDOWN_HEADING = re.compile(r"#+ +(.*)")
UNDERLINE = re.compile(r"([=~^\"'-])\1{2,}$")
HEADING_CLAUSE = re.compile(r"(?:What|Who|Whose|Whether|How|Why|Which)\b[^?]*$|(?:Where|When)\b[^?,]*$")
# "0 is no number": "there is no" is right, also if "there" ends the line before.
NO_NOUN = re.compile(r"(?<!^)(?<!there )(?<!where )\b(?:is|are|was|were) no "
                     r"(?!longer\b|more\b|less\b|better\b|other\b)\w+", re.IGNORECASE)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# A line of Python that defines names: its function and arguments, or the left side of "=".
DEFINED = re.compile(r"^\s*(?:def\s+([^:]*)|(?:for\s+)?([\w\s,()]+?)\s*(?:=(?!=)|\bin\b))")
C_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# A citation, which may continue in the next line of a comment; in XML it has no quotes.
CITATION = re.compile(r'[Dd]ocument (00[0-4]),\s+(?:[*;]\s+)?"([^"]+)"')
XML_CITATION = re.compile(r'(?:\(|; )[Dd]ocument (00[0-4]), ([^":;)]+)')
BARE_CITATION = re.compile(r"(?:\(|(?i:sources?): )[Dd]ocuments? (00[0-4])(?:[);:]| and )")


def identifiers(name, line):
    """Return the identifiers of a line, their words separated by spaces.

    In files of other languages than C a single word may be prose: only those with "_" count, and
    names that a line of Python defines.
    """
    found = [word for word in IDENTIFIER.findall(line)
             if name.endswith((".c", ".h")) or "_" in word]
    defined = DEFINED.match(line) if name.endswith(".py") else None
    if defined:
        found += IDENTIFIER.findall(defined[1] or defined[2])
    # "struct name" is also one of two words, for rows such as "struct_name".
    return "; ".join(word.replace("_", " ").strip() for word in found).replace(
        "struct; ", "struct; struct ")


def text_lines(name, content):
    """Return [(number, text, identifiers)] of the lines of a file.

    The text of C is that of its comments and strings.
    """
    texts = {}
    code = content
    if name.endswith((".c", ".h")):
        for match in C_TEXT.finditer(content):
            first = content.count("\n", 0, match.start()) + 1
            for number, text in enumerate(match.group().split("\n"), first):
                texts[number] = texts.get(number, "") + " " + text
        code = C_TEXT.sub(lambda match: "\n" * match.group().count("\n"), content)
    else:
        texts = dict(enumerate(content.splitlines(), 1))
    return [(number, texts.get(number, ""), identifiers(name, line))
            for number, line in enumerate(code.splitlines(), 1)]


def split_phrases(lines, words):
    """Return [(number, phrase, replacement)] of phrases that continue in the next line."""
    found = []
    for (number, text, _), (_, following, _) in zip(lines, lines[1:]):
        first = text.rstrip()
        joined = first + " " + following.lstrip(" \t*#/")
        for pattern, write in words:
            found += [(number, match.group(), write) for match in pattern.finditer(joined)
                      if match.start() < len(first) < match.end()]
    return found


def later_clauses(name, lines):
    """Return [(number, clause)] of sentences that begin with a clause after another sentence, or at
    the start of a paragraph of a comment or docstring, except its first line.
    """
    openings = ('"""', "") if name.endswith(".py") else ()
    found = []
    for (_, before, _), (number, text, _) in zip([(0, "", "")] + lines, lines):
        part = text.strip(" \t*#/;")
        # A list item or heading of a document begins a text of its own.
        ended = before.rstrip().endswith(".") and text.strip()[:1] not in ("-", "|") or \
            before.strip() in openings
        match = LATER_CLAUSE.search(f"a. {part}" if ended else part)
        if match:
            found.append((number, match.group()))
    return found


def clause_headings(name, source):
    """Return [(number, heading)] of the headings of a document that are clauses."""
    found = []
    for number, (line, following) in enumerate(zip(source, source[1:] + [""]), 1):
        heading = MARKDOWN_HEADING.match(line) if name.endswith(".md") else \
            re.match("(.*)", line) if name.endswith(".rst") and UNDERLINE.match(following) else None
        if heading and HEADING_CLAUSE.match(heading[1]):
            found.append((number, heading[1]))
    return found


def problems(name, content, words, names, wanted=None):
    """Return the problems of one file; wanted: the line numbers to check, None for all."""
    source = content.splitlines()
    lines = text_lines(name, content)
    clauses = [(PREDICATE, "the object")]
    for number, phrase, write in split_phrases(lines, words + clauses):
        if (wanted is None or number in wanted or number + 1 in wanted) and \
                MARKER not in source[number - 1]:
            yield f"{name}:{number}: \"{phrase}\": write {write}"
    later = [(number, clause) for number, clause in later_clauses(name, lines)
             if not CLAUSE.search(source[number - 1])]
    for number, clause in later + clause_headings(name, source):
        if (wanted is None or number in wanted) and MARKER not in source[number - 1]:
            yield f"{name}:{number}: \"{clause}\": name the object"
    for number, text, identified in lines:
        if wanted is not None and number not in wanted or MARKER in source[number - 1]:
            continue
        found = [(pattern.search(text) or pattern.search(identified), write)
                 for pattern, write in words]
        found += [(pattern.search(text), write) for pattern, write in clauses]
        found += [(pattern.search(identified), write) for pattern, write in names]
        found += [(NO_NOUN.search(part), "is not a") for part in (text.lstrip(" \t*/#"), identified)
                  if " no " in part]
        if not name.endswith((".md", ".rst")):
            found.append((CLAUSE.search(source[number - 1]), "the object, or a verb (Return ...)"))
        for match, write in found:
            if match:
                yield f"{name}:{number}: \"{match.group()}\": write {write}"


def docstrings(name, content, wanted=None):
    """Return the functions of Python whose docstring does not begin with a verb.

    The docstring of a test is its rule, that of a property is about its value.
    """
    found = []
    for node in ast.walk(ast.parse(content)):
        text = ast.get_docstring(node) if isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        if not text or node.name.startswith(("test_", "__")) or \
                any(getattr(place, "id", "") == "property" for place in node.decorator_list):
            continue
        line, word = node.body[0].lineno, text.split()[0].rstrip(".,:;")
        if word.lower() not in lint_commits.VERBS and (wanted is None or line in wanted):
            found.append(f"{name}:{line}: \"{word}\": begin with a verb (Return ...)")
    return found


def citations(name, content, sections):
    """Return cited sections that sources.rst does not list, and citations without a section."""
    found = [*CITATION.finditer(content)]
    if name.endswith(".xml"):
        found += XML_CITATION.finditer(content)
    for match in found:
        number = content.count("\n", 0, match.start()) + 1
        section = re.sub(r"\s+(?:[*;] )?", " ", match[2])
        if section not in sections:
            yield f"{name}:{number}: document {match[1]} has no section \"{section}\" " \
                  "(Documentation/sources.rst)"
    # The tables of fidelity are about one document each.
    for match in BARE_CITATION.finditer(content) if "fidelity" not in name else ():
        number = content.count("\n", 0, match.start()) + 1
        yield f"{name}:{number}: document {match[1]} is cited without a section"


def git(*arguments):
    """Return the output of git, empty if it fails."""
    return sources.git(arguments, TOP) or ""


def base(environment):
    """Return the commit to compare with for added lines."""
    head = git("rev-parse", "HEAD").strip()
    if environment:
        return environment
    for branch in ("@{upstream}", "origin/HEAD", "main", "master"):
        common = git("merge-base", "HEAD", branch).strip()
        if common and common != head:
            return common
    return "HEAD~1"


def added_lines(commit):
    """Return {name: the numbers of its added lines}."""
    added = {}
    name = None
    for line in git("diff", "-U0", "--no-color", "--no-ext-diff", commit).splitlines():
        if line.startswith("+++ "):
            name = line[6:] if line.startswith("+++ b/") else None
        elif line.startswith("@@") and name:
            start, _, count = re.search(r"\+(\d+)(,(\d+))?", line).groups()
            first = int(start)
            added.setdefault(name, set()).update(range(first, first + int(count or 1)))
    return added


def main(arguments, environment):
    """Check, print the problems."""
    words = lint_words.of_prose()
    names = {tests: lint_words.replaced_words(lint_words.NAMES, tests) for tests in (False, True)}
    sections = " ".join(SOURCES.read_text(encoding="utf-8").split())
    untracked = git("ls-files", "--others", "--exclude-standard").splitlines()
    added = {} if "--all" in arguments else added_lines(base(environment))
    whole = set(untracked if "--all" not in arguments else git("ls-files").splitlines())
    found = []
    for name in git("ls-files").splitlines() + untracked:
        path = TOP / name
        if NOT_TEXT.match(name) or name in EXCEPT or not path.is_file():
            continue
        content = sources.text(path)
        wanted = None if name in whole else added.get(name, ())
        found += citations(name, content, sections)
        found += problems(name, content, words, names[name.startswith("tests/")], wanted)
        if name.endswith(".py"):
            found += docstrings(name, content, wanted)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ.get("LINT_BASE")))
