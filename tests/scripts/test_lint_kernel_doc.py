# SPDX-License-Identifier: MIT
"""Findings of lint_kernel_doc.py, and comments that it accepts."""

import pathlib
import re
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import lint_driver  # noqa: E402
import lint_kernel_doc  # noqa: E402

COMPLETE = """\
/**
 * pumice_vm_grow - allocate pages
 * @vm: address space
 * @count: pages
 *
 * Return: 0 or -ENOMEM.
 */
int pumice_vm_grow(struct pumice_vm *vm,
\t\t   u32 count)
{
\treturn 0;
}
"""
BODY = COMPLETE[COMPLETE.index("int "):]


class Comments(unittest.TestCase):
    """Files with one function, and the driver."""

    def reported(self, content):
        """Return the problems of a file, without its name and the function's."""
        return [problem.partition("() ")[2]
                for problem in lint_kernel_doc.problems({"pumice_vm.c": content})]

    def test_a_complete_comment_is_accepted(self):
        self.assertEqual(self.reported(COMPLETE), [])

    def test_a_missing_comment_is_reported_with_its_line(self):
        self.assertEqual(
            lint_kernel_doc.problems({"pumice_vm.c": "#include <a.h>\n\n" + BODY}),
            ["pumice_vm.c:3: function pumice_vm_grow() has no kernel-doc comment"])

    def test_a_plain_comment_is_reported(self):
        for comment in ("/* Allocate pages. */\n", "/*\n * Allocate pages.\n */\n",
                        COMPLETE.replace("/**", "/*")[:-len(BODY)]):
            with self.subTest(comment=comment):
                self.assertEqual(self.reported(comment + BODY), ["has no kernel-doc comment"])

    def test_a_comment_that_does_not_precede_the_function_is_not_its_comment(self):
        self.assertEqual(self.reported(COMPLETE.replace(" */\n", " */\n\n")),
                         ["has no kernel-doc comment"])
        self.assertEqual(self.reported(COMPLETE + "\nvoid pumice_vm_end(void)\n{\n}\n"),
                         ["has no kernel-doc comment"])

    def test_the_comment_of_another_function_is_reported(self):
        self.assertEqual(self.reported(COMPLETE.replace("* pumice_vm_grow -", "* pumice_vm_end -")),
                         ["has the kernel-doc comment of pumice_vm_end()"])

    def test_a_parameter_without_description_is_reported(self):
        self.assertEqual(self.reported(COMPLETE.replace(" * @count: pages\n", "")),
                         ["does not describe @count"])
        self.assertEqual(self.reported(COMPLETE.replace("@vm: address space", "@vm:")),
                         ["does not describe @vm"])

    def test_parameters_of_any_type_are_found(self):
        for parameter in ("u32 n[2]", "struct a * const *n", "void (*n)(struct a *obj, u32 size)",
                          "const char *n"):
            with self.subTest(parameter=parameter):
                self.assertEqual(self.reported(COMPLETE.replace("u32 count", parameter)),
                                 ["does not describe @n"])

    def test_a_function_that_returns_a_value_needs_return(self):
        for kind in ("int ", "bool ", "void *", "struct pumice_vm *", "const char *",
                     "unsigned long "):
            with self.subTest(kind=kind):
                text = COMPLETE.replace("int pumice", kind + "pumice")
                self.assertEqual(self.reported(text), [])
                self.assertEqual(self.reported(text.replace(" * Return: 0 or -ENOMEM.\n", "")),
                                 ['has no "Return:"'])

    def test_return_within_a_line_is_not_a_section(self):
        self.assertEqual(self.reported(COMPLETE.replace("* Return:", "* May sleep. Return:")),
                         ['has no "Return:"'])

    def test_a_void_function_needs_no_return(self):
        self.assertEqual(self.reported(COMPLETE.replace("int pumice", "void pumice")
                                       .replace(" * Return: 0 or -ENOMEM.\n", "")), [])

    def test_static_functions_prototypes_and_tables_are_left_alone(self):
        self.assertEqual(self.reported(
            "static " + BODY + "\nstatic\n" + BODY + "\nstatic inline " + BODY +
            "\nint pumice_vm_run(int n);\n\nstatic_assert(sizeof(int) == 4);\n\n"
            "const struct ops pumice_ops = {\n\t.run = DO(run),\n};\n\n"
            "struct step {\n\tint (*run)(int n);\n};\n"), [])

    def test_the_driver_has_no_problem(self):
        done = subprocess.run([TOP / "scripts/lint_kernel_doc.py"], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_a_defect_of_each_function_of_the_driver_is_reported(self):
        files = {path.name: path.read_text(encoding="utf-8")
                 for path in lint_driver.DRIVER.glob("*.c")}
        found = [function for content in files.values()
                 for function in lint_kernel_doc.functions(content)]
        self.assertGreater(len(found), 200)
        plain = {name: content.replace("/**\n", "/*\n") for name, content in files.items()}
        self.assertEqual(len(lint_kernel_doc.problems(plain)), len(found))
        bare = {name: re.sub(r"^ \* (Return|@\w+):.*\n", " *\n", content, flags=re.MULTILINE)
                for name, content in files.items()}
        reported = {problem.split(" ")[2] for problem in lint_kernel_doc.problems(bare)}
        exempt = {name for _, kind, name, parameters, _ in found
                  if not parameters and kind.split() == ["void"]}
        self.assertEqual({name + "()" for *_, name, _, _ in found} - reported,
                         {name + "()" for name in exempt})


if __name__ == "__main__":
    unittest.main()
