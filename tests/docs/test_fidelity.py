# SPDX-License-Identifier: MIT
"""The tables of Documentation/fidelity name files and tests that exist, and a state for each row.

The tests of a row contain its files: a test that is linked without a file passes whatever that does.
"""

import pathlib
import re
import sys
import tomllib
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))

import linked  # noqa: E402  # pylint: disable=wrong-import-position
import mutation_programs  # noqa: E402  # pylint: disable=wrong-import-position

TABLES = sorted((TOP / "Documentation/fidelity").glob("document-*.inc"))
COLUMNS = 5
STATES = ("done", "decided", "simplified", "missing")
GAPS = STATES[2:]
# Rows that are done, of which no named test finds an edit of tests/mutations in a named file. Such
# an edit may still be one of another requirement. The number may only fall: a row that gets an edit
# lowers it here too, so that no other one can lose its own unnoticed.
WITHOUT_MUTATION = 34


def rows(text):
    """Return the cells of each row of the list-tables in a text, without the header rows."""
    found = []
    for part in re.split(r"^\.\. list-table::.*$", text, flags=re.MULTILINE)[1:]:
        table = re.split(r"^\S", part, maxsplit=1, flags=re.MULTILINE)[0]
        for row in re.split(r"^   \* - ", table, flags=re.MULTILINE)[2:]:
            found.append([" ".join(cell.split())
                          for cell in re.split(r"^     - ", row, flags=re.MULTILINE)])
    return found


def classes():
    """Return the classes of gaps that the page explains."""
    text = (TOP / "Documentation/fidelity.rst").read_text(encoding="utf-8")
    return re.findall(r"^   (\w[\w ]*)\n      \S", text, flags=re.MULTILINE)


def class_of(state):
    """Return the class that the state of a gap begins with."""
    return re.split(r"[;(]", state.partition(":")[2], maxsplit=1)[0].strip()


def entries(text):
    """Return the terms of the definition lists of a text."""
    return re.findall(r"^(\w.*)\n   \S", text, flags=re.MULTILINE)


def texts(text):
    """Return {term: text} of the definition lists of a text."""
    return {term: " ".join(lines.split()) for term, lines in
            re.findall(r"^(\w.*)\n((?:   \S.*(?:\n|$))+)", text, flags=re.MULTILINE)}


def names_a_conflict(entry, document, sections):
    """Return whether an entry of a document's list names another document, or two sections of its
    own. References to pages of this project are not sections.
    """
    documents = set(re.findall(r"\b00[0-4]\b", entry)) - {document}
    quoted = {name for name in re.findall(r'(?<!`, )"([^"]+)"', entry) if name in sections}
    return bool(documents) or len(quoted) >= 2


def literals(cell):
    return re.findall(r"``([^`]+)``", cell)


def names_in_parentheses(cell):
    """Return the literals in parentheses that are not paths: functions without "()", fields."""
    groups = re.findall(r"\(([^()]*)\)", cell.replace("()``", "``"))
    return [name for group in groups for name in literals(group) if "/" not in name]


def names_after_a_file(cell):
    """Return (path, names) of the literals in parentheses that directly follow a path."""
    return [(path, literals(group.replace("()``", "``"))) for path, group in
            re.findall(r"``([^`]*/[^`]*)`` \(([^()]*(?:\(\)[^()]*)*)\)", cell)]


def mutated_files():
    """Return {test: files} of tests/mutations."""
    found = {}
    for path in (TOP / "tests/mutations").glob("*.toml"):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]:
            found.setdefault(row["test"], set()).add(row["file"])
    return found


def has_mutation(row, mutated):
    """Return whether a test of a row finds an edit of one of its files."""
    named = {path.relative_to(TOP) for literal in literals(row[2]) if "/" in literal
             for path in TOP.glob(literal.rstrip("/"))}
    edited = {pathlib.PurePath(name) for test in literals(row[3]) for name in mutated.get(test, ())}
    return any(named & {path, *path.parents} for path in edited)


def untested_files(row, build):
    """Return the sources of a row that none of its tests contains. Guests contain all."""
    tests = [test.split("/")[:2] for test in literals(row[3])]
    sources = [TOP / name for name in literals(row[2]) if TOP / name in build.objects]
    if any(kind != "unit" for kind, _ in tests):
        return []
    return [str(source.relative_to(TOP)) for source in sources
            if not any(build.is_in(source, program) for _, program in tests)]


def source_of(kind, program):
    """Return the source of a test that runs in a guest."""
    return TOP / {"guest": f"tests/guest/{program}.c", "igt": f"tests/igt/{program}.c",
                  "kunit": f"drivers/gpu/drm/pumice/tests/{program}_test.c"}[kind]


def problem_of(test, programs):
    """Return why there is no such test, or None."""
    kind, program, case = test.split("/")
    if kind == "unit":
        return programs.problem(program, case)
    path = source_of(kind, program)
    if not path.is_file():
        return f"there is no {path.relative_to(TOP)}"
    if case not in mutation_programs.words_of_source(path):
        return f"{path.name} has no case {case}"
    return None


class Fidelity(unittest.TestCase):
    """Each row."""

    def setUp(self):
        self.rows = [(table.name, row) for table in TABLES
                     for row in rows(table.read_text(encoding="utf-8"))]

    def test_there_is_a_table_for_each_document(self):
        self.assertEqual([table.name for table in TABLES],
                         [f"document-00{n}.inc" for n in range(5)])
        self.assertEqual({name for name, _ in self.rows}, {table.name for table in TABLES})

    def test_every_row_has_its_columns_and_a_state(self):
        for name, row in self.rows:
            with self.subTest(table=name, requirement=row[1]):
                self.assertEqual(len(row), COLUMNS)
                state, _, how = row[4].partition(":")
                self.assertIn(state, STATES)
                if state == "simplified":
                    self.assertTrue(how.strip(), "how it is simplified is missing")
                if state == "done":
                    self.assertTrue(literals(row[2]), "no file implements it")
                    self.assertTrue(literals(row[3]), "no test fails without it")

    def test_gaps_begin_with_a_class_that_the_page_explains(self):
        known = classes()
        self.assertIn("time", known)
        for name, row in self.rows:
            if row[4].startswith(GAPS):
                with self.subTest(table=name, requirement=row[1]):
                    self.assertIn(class_of(row[4]), known)

    def test_every_class_has_a_gap(self):
        used = {class_of(row[4]) for _, row in self.rows if row[4].startswith(GAPS)}
        self.assertEqual(set(classes()), used)

    def test_decisions_are_in_the_list_of_their_table(self):
        lists = {table.name: entries(table.read_text(encoding="utf-8")) for table in TABLES}
        for name, row in self.rows:
            if row[4].startswith("decided"):
                with self.subTest(table=name, requirement=row[1]):
                    decision = re.fullmatch(r"decided: ([^;]+)(;.*)?", row[4])
                    self.assertTrue(decision, "the name of the decision is missing")
                    self.assertIn(decision.group(1), lists[name])

    def test_decisions_are_between_two_documents_or_sections(self):
        sections = " ".join((TOP / "Documentation/sources.rst").read_text(encoding="utf-8").split())
        lists = {table.name: texts(table.read_text(encoding="utf-8")) for table in TABLES}
        for name, row in self.rows:
            if row[4].startswith("decided"):
                entry = re.fullmatch(r"decided: ([^;]+)(;.*)?", row[4]).group(1)
                with self.subTest(table=name, requirement=row[1], entry=entry):
                    self.assertTrue(names_a_conflict(lists[name][entry], name[9:12], sections),
                                    "it names no other document, and not two sections")

    def test_entries_that_rows_refer_to_exist(self):
        lists = {table.name: entries(table.read_text(encoding="utf-8")) for table in TABLES}
        for name, row in self.rows:
            for entry in re.findall(r"\(below, ([^)]+)\)", row[4]):
                with self.subTest(table=name, requirement=row[1]):
                    self.assertIn(entry, lists[name])

    def test_named_files_exist(self):
        for name, row in self.rows:
            for path in literals(row[2]):
                if "/" in path:
                    with self.subTest(table=name, requirement=row[1], path=path):
                        self.assertTrue(list(TOP.glob(path.rstrip("/"))))

    def test_named_functions_are_in_the_named_files(self):
        for name, row in self.rows:
            paths = [path for literal in literals(row[2]) if "/" in literal
                     for path in TOP.glob(literal.rstrip("/"))]
            words = {word for path in paths if path.is_file()
                     for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
            for literal in literals(row[2]):
                if literal.endswith("()"):
                    with self.subTest(table=name, requirement=row[1], function=literal):
                        self.assertIn(literal[:-2], words)
            for literal in names_in_parentheses(row[2]):
                with self.subTest(table=name, requirement=row[1], name=literal):
                    self.assertEqual(set(re.findall(r"\w+", literal)) - words, set())

    def test_names_follow_the_file_that_has_them(self):
        for name, row in self.rows:
            for path, names in names_after_a_file(row[2]):
                if not (TOP / path).is_file():
                    continue
                words = set(re.findall(r"\w+", (TOP / path).read_text(encoding="utf-8")))
                for literal in names:
                    with self.subTest(table=name, requirement=row[1], name=literal):
                        self.assertEqual(set(re.findall(r"\w+", literal)) - words, set())

    def test_named_tests_exist(self):
        programs = mutation_programs.Programs(TOP)
        for name, row in self.rows:
            for test in literals(row[3]):
                with self.subTest(table=name, requirement=row[1], test=test):
                    self.assertRegex(test, r"^(unit|guest|kunit|igt)/[\w-]+/[\w@-]+$")
                    self.assertIsNone(problem_of(test, programs))

    def test_named_tests_contain_the_named_files(self):
        build = linked.Build()
        for name, row in self.rows:
            if row[4].startswith("done"):
                with self.subTest(table=name, requirement=row[1]):
                    self.assertEqual(untested_files(row, build), [])

    def test_file_that_no_named_test_contains_is_reported(self):
        build = linked.Build()
        file, own = "qemu-device/gpu/pdm/task.c", "userspace/demos/gears.c"
        for path, tests, reported in [(file, ["unit/tag_levels/a"], [file]),
                                      (file, ["unit/tag_levels/a", "unit/pdm_scene/a"], []),
                                      (file, ["unit/tag_levels/a", "guest/t_draw/a"], []),
                                      (own, ["unit/demo_nbody_threads_0/main"], [own]),
                                      (own, ["unit/demo_gears_threads_0/main"], []),
                                      ("firmware/main.c", ["unit/tag_levels/a"], [])]:
            with self.subTest(path=path, tests=tests):
                row = ["", "", f"``{path}``", ", ".join(f"``{test}``" for test in tests), "done"]
                self.assertEqual(untested_files(row, build), reported)

    def test_as_many_rows_as_written_have_tests_that_find_no_mutation(self):
        mutated = mutated_files()
        bare = [f"{name}: {row[1]}" for name, row in self.rows
                if row[4].startswith("done") and not has_mutation(row, mutated)]
        self.assertEqual(len(bare), WITHOUT_MUTATION,
                         "if they are fewer, lower WITHOUT_MUTATION; rows without:\n" + "\n".join(bare))

    def test_mutation_is_of_a_named_file_and_test(self):
        row = ["", "", "``scripts/sources.py``", "``unit/a/b``", "done"]
        self.assertTrue(has_mutation(row, {"unit/a/b": {"scripts/sources.py"}}))
        self.assertFalse(has_mutation(row, {"unit/a/b": {"scripts/results.py"}}))
        self.assertFalse(has_mutation(row, {"unit/a/c": {"scripts/sources.py"}}))
        row[2] = "``scripts/``"
        self.assertTrue(has_mutation(row, {"unit/a/b": {"scripts/results.py"}}))

    def test_test_of_another_program_does_not_exist(self):
        programs = mutation_programs.Programs(TOP)
        for test, exists in [("unit/pds_core/data_masters_share_a_core", True),
                             ("unit/pds_dispatch/data_masters_share_a_core", False),
                             ("guest/t_draw/square_is_drawn_to_the_pixel", True),
                             ("guest/t_rays/square_is_drawn_to_the_pixel", False),
                             ("kunit/pumice_mmu/attributes_reach_the_entries", True),
                             ("kunit/pumice_none/attributes_reach_the_entries", False)]:
            with self.subTest(test):
                self.assertEqual(problem_of(test, programs) is None, exists)

    def test_names_in_parentheses_are_read_as_written(self):
        cell = "VDM: ``a/b.c`` (``run()``, ``state``), ``x.xml`` (``s.field``; ``c/d.h``) and ``e``"
        self.assertEqual(names_in_parentheses(cell), ["run", "state", "s.field"])
        self.assertEqual(names_after_a_file(cell), [("a/b.c", ["run", "state"])])

    def test_rows_are_read_as_written(self):
        text = (".. list-table::\n   :widths: 1 1\n\n   * - Section\n     - Test\n   * - A\n"
                "     - b c\n       d\n   * - E\n     - f\n\ntext\n  more\n")
        self.assertEqual(rows(text), [["A", "b c d"], ["E", "f"]])

    def test_a_reason_of_the_project_alone_is_not_a_conflict(self):
        for entry, conflict in [("Rates of a product. Time is not modelled.", False),
                                ("Document 004 culls before it clips. Here the face is exact.", False),
                                ('The document has one (:doc:`overview`, "Waves").', False),
                                ('"Waves" has some.', False), ('"Waves" has some, "Pages" none.', False),
                                ('"Waves" has some; "Mathematics" has none.', True),
                                ("Here one; in document 003 two. Document 003 holds.", True)]:
            with self.subTest(entry):
                self.assertEqual(names_a_conflict(entry, "004", "Waves, Mathematics"), conflict)

    def test_classes_are_read_as_written(self):
        for state, name in [("missing: time", "time"), ("missing", ""), ("simplified: none; a", "none"),
                            ("simplified: memory hierarchy; a: b", "memory hierarchy"),
                            ("missing: time (below, Speed)", "time")]:
            with self.subTest(state):
                self.assertEqual(class_of(state), name)

    def test_entries_of_lists_are_read_as_written(self):
        text = "Some text\nof two lines:\n\nA name\n   Its text.\nAnother\n   More\n   text.\n"
        self.assertEqual(entries(text), ["A name", "Another"])
        self.assertEqual(texts(text), {"A name": "Its text.", "Another": "More text."})


if __name__ == "__main__":
    unittest.main()
