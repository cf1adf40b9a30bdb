# SPDX-License-Identifier: MIT
"""
Output of the generator: when it is written, its files, and that every side can compile it.

The compilers are those of the four sides: freestanding 32-bit RISC-V (clang) for the firmware,
the host's C compiler for the device and user space, in 64 and 32 bits. The kernel build itself
tests the kernel's.
"""

import os
import shutil
import subprocess
import unittest

from contract import HW, ContractCase, run_generator
import reference

HEADERS = ["pumice_types.h", "pumice_regs.h", "pumice_formats.h", "pumice_isa_enums.h",
           "pumice_names.h"]
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
COMPILERS = [
    ("host", ["cc", "-ffreestanding"]),
    ("host, 32 bits", ["cc", "-ffreestanding", "-m32"]),
    ("clang", ["clang", "-ffreestanding"]),
    ("firmware", ["clang", "--target=riscv32", "-march=rv32imc", "-mabi=ilp32", "-ffreestanding"]),
]


class Output(ContractCase):
    """The generated files."""

    def test_every_header_compiles_alone_on_every_side(self):
        for hw in (self.dir, HW):
            self.assertEqual(run_generator(hw, self.out).stderr, "")
            for title, command in COMPILERS:
                if not shutil.which(command[0]):
                    self.fail(f"{command[0]} is not installed")
                for header in HEADERS:
                    with self.subTest(hw=hw, side=title, header=header):
                        self.compile(command + STRICT, f'#include "{header}"\n'
                                                       f'#include "{header}"\n')

    def test_register_macros_can_be_included_in_assembly(self):
        self.assertEqual(self.generate().stderr, "")
        self.compile(["cc", "-x", "assembler-with-cpp"],
                     '#include "pumice_regs.h"\n.long PUMICE_A_BASE(2), PUMICE_LIMIT\n')

    def compile(self, command, text):
        """Compile `text` without linking."""
        source = os.path.join(self.dir, "unit.c")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(text)
        done = subprocess.run([*command, "-I", self.out, "-c", source, "-o",
                               os.path.join(self.dir, "unit.o")],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_second_run_changes_no_file(self):
        self.generate()
        before = self.stamps()
        os.utime(os.path.join(self.out, "pumice_regs.h"), ns=(1, 1))
        before["pumice_regs.h"] = 1
        self.generate()
        self.assertEqual(self.stamps(), before)

    def test_only_chosen_outputs_are_written(self):
        self.generate("--only", "regs")
        names = os.listdir(self.out)
        self.assertIn("pumice_regs.h", names)
        self.assertNotIn("pumice_formats.h", names)
        self.assertNotIn("docs", names)

    def test_unknown_choice_is_refused(self):
        self.assertEqual(self.generate("--only", "regz").returncode, 2)

    def test_missing_contract_file_is_named(self):
        os.unlink(os.path.join(self.dir, "isa.xml"))
        done = self.generate()
        self.assertEqual(done.returncode, 1)
        self.assertIn("isa.xml:1: error: cannot read", done.stderr)

    def test_each_instruction_has_a_page_that_the_overview_lists(self):
        self.generate()
        docs = os.path.join(self.out, "docs")
        with open(os.path.join(docs, "t-isa.rst"), encoding="utf-8") as stream:
            overview = stream.read()
        for name in ("add", "nop"):
            with open(os.path.join(docs, "t", f"{name}.rst"), encoding="utf-8") as stream:
                page = stream.read()
            self.assertIn(f".. _t-{name}:", page)
            self.assertIn(f"\n{name}\n{'=' * len(name)}\n", page)
            self.assertIn(f"\n   t/{name}\n", overview)

    def test_each_instruction_of_the_contract_is_described_completely(self):
        self.assertEqual(run_generator(HW, self.out, "--only", "docs").stderr, "")
        for isa in reference.read_isas(os.path.join(HW, "isa.xml")):
            for op in isa.findall("op"):
                path = os.path.join(self.out, "docs", isa.get("name"), f"{op.get('name')}.rst")
                with open(path, encoding="utf-8") as stream:
                    page = stream.read()
                for part in (":Semantics: ``", ":Exceptions: ", ":Example: ``", "Encoding"):
                    self.assertIn(part, page, op.get("name"))
                self.assertEqual(":Types: " in page, bool(op.get("types")), op.get("name"))

    @unittest.skipUnless(shutil.which("sphinx-build"), "Sphinx is not installed")
    def test_reference_pages_build_without_a_warning(self):
        self.assertEqual(run_generator(HW, self.out, "--only", "docs").stderr, "")
        pages = os.path.join(self.out, "docs")
        with open(os.path.join(pages, "conf.py"), "w", encoding="utf-8") as stream:
            stream.write('project = "pumice"\n')
        done = subprocess.run(["sphinx-build", "-q", "-W", "-b", "html", pages,
                               os.path.join(self.dir, "html")],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def stamps(self):
        """Return the modification time of every file in the output directory."""
        return {os.path.relpath(os.path.join(root, name), self.out):
                os.stat(os.path.join(root, name)).st_mtime_ns
                for root, _, names in os.walk(self.out) for name in names}


if __name__ == "__main__":
    unittest.main()
