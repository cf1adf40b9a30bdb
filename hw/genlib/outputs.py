# SPDX-License-Identifier: MIT
"""From the directory of contract files to the set of generated files."""

import os
from dataclasses import dataclass

from . import docs_isa, docs_tables, emit_formats, emit_isa, emit_registers, emit_tables
from .cwriter import types_header
from .formats import load_formats
from .isa import load_isas
from .model import Context
from .registers import load_registers
from .source import Diag, read_xml

KINDS = ("regs", "formats", "isa", "docs")


@dataclass
class Contract:
    """The contents of hw/*.xml."""
    regs: object
    formats: object
    isas: list
    enums: list


def load(directory):
    """Read and check the contract; returns (Contract, error lines)."""
    diag = Diag()
    ctx = Context(diag)
    regs = load_registers(ctx, read_xml(os.path.join(directory, "registers.xml")))
    formats = load_formats(ctx, read_xml(os.path.join(directory, "formats.xml")))
    isas = load_isas(ctx, read_xml(os.path.join(directory, "isa.xml")))
    return Contract(regs, formats, isas, list(ctx.enums.values())), diag.errors


def generate(contract, kinds):
    """Return {file name: content} for the selected kinds of output."""
    files = {"pumice_types.h": types_header()}
    if "regs" in kinds:
        files["pumice_regs.h"] = emit_registers.regs_header(contract.regs)
        files["pumice_names.h"] = emit_registers.names_header(contract.enums)
        files["pumice_reg_table.h"] = emit_tables.reg_table_header(contract.regs)
        files["pumice_reg_table.c"] = emit_tables.reg_table_source(contract.regs)
    if "formats" in kinds:
        files["pumice_formats.h"] = emit_formats.formats_header(contract.formats)
        files["pumice_format_table.h"] = emit_tables.format_table_header(contract.formats)
        files["pumice_format_table.c"] = emit_tables.format_table_source(contract.formats)
    if "isa" in kinds:
        files["pumice_isa_enums.h"] = emit_isa.enums_header(contract.isas)
        files["pumice_isa.h"] = emit_isa.isa_header(contract.isas)
        files["pumice_isa.c"] = emit_isa.isa_source(contract.isas)
    if "docs" in kinds:
        files["docs/index.rst"] = docs_tables.index_page(contract.isas)
        files["docs/registers.rst"] = docs_tables.registers_page(contract.regs)
        files["docs/formats.rst"] = docs_tables.formats_page(contract.formats)
        files["docs/enums.rst"] = docs_tables.enums_page(contract.enums)
        for isa in contract.isas:
            for name, text in docs_isa.isa_pages(isa).items():
                files[f"docs/{name}"] = text
            for name, text in docs_isa.diagram_files(isa).items():
                files[f"docs/diagrams/{name}"] = text
        for name, text in docs_tables.diagram_files(contract.regs, contract.formats).items():
            files[f"docs/diagrams/{name}"] = text
    return files
