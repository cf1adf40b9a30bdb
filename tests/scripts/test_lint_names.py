# SPDX-License-Identifier: MIT
"""Findings of lint_names.py, and lines that it accepts."""

import pathlib
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import lint_names  # noqa: E402


def function(name, storage="static int"):
    """Return the definition of a function."""
    return f"{storage} {name}(struct drm_device *drm,\n\t\tint n)\n{{\n\treturn n;\n}}\n\n"


class Names(unittest.TestCase):
    """Files with one or two functions each."""

    def reported(self, **files):
        """Return the places that are reported, for files named with _ instead of the dot."""
        content = {name[:-2] + "." + name[-1]: text for name, text in files.items()}
        return [problem.split(" ")[0] for problem in lint_names.problems(content)]

    def test_a_name_begins_with_that_of_its_file(self):
        self.assertEqual(self.reported(pumice_vm_c=function("vm_alloc") +
                                       function("pumice_vm_free")), [])

    def test_a_name_without_prefix_is_reported(self):
        self.assertEqual(self.reported(pumice_vm_c=function("vm_alloc") + function("submit")),
                         ["pumice_vm.c:7:"])

    def test_the_prefix_of_another_file_is_reported(self):
        self.assertEqual(self.reported(pumice_vm_c=function("mmu_alloc")), ["pumice_vm.c:1:"])
        self.assertEqual(self.reported(pumice_vm_bind_c=function("vm_alloc")),
                         ["pumice_vm_bind.c:1:"])

    def test_a_name_in_two_files_is_reported(self):
        self.assertEqual(self.reported(pumice_vm_c=function("vm_bind_run"),
                                       pumice_vm_bind_c=function("vm_bind_run")),
                         ["pumice_vm_bind.c:1:"])

    def test_a_function_of_any_type_is_found(self):
        for storage in ("static inline void", "static struct pumice_vm *", "static const char *",
                        "static bool __maybe_unused", "static\nint"):
            with self.subTest(storage=storage):
                self.assertEqual(len(self.reported(pumice_vm_c=function("run", storage))), 1)

    def test_external_functions_prototypes_and_tables_are_left_alone(self):
        self.assertEqual(self.reported(
            pumice_vm_c=function("run", "int") + "static int run(int n);\n\n"
            "static const struct ops ops = {\n\t.run = DO(run),\n};\n\n"
            "static_assert(sizeof(int) == 4);\n\nint f(void)\n{\n}\n"), [])

    def test_a_conversion_to_a_container_needs_no_prefix(self):
        self.assertEqual(self.reported(pumice_vm_c=function("to_pumice_va")), [])

    def test_inline_functions_of_headers_begin_with_the_drivers_name(self):
        self.assertEqual(self.reported(pumice_vm_h=function("pumice_read", "static inline u32")),
                         [])
        self.assertEqual(self.reported(pumice_vm_h=function("vm_read", "static inline u32")),
                         ["pumice_vm.h:1:"])

    def test_the_driver_has_no_problem(self):
        done = subprocess.run([TOP / "scripts/lint_names.py"], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))


if __name__ == "__main__":
    unittest.main()
