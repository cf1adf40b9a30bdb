# SPDX-License-Identifier: MIT
"""From the directory of contract files to the set of generated files."""

import os
from dataclasses import dataclass

from . import emit_formats, emit_registers
from .cwriter import types_header
from .formats import load_formats
from .isa import load_isas
from .model import Context
from .registers import load_registers
from .source import Diag, read_xml

KINDS = ("regs", "formats", "isa", "docs")


@dataclass
class Contract:
    """Everything that hw/*.xml says."""
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
    """Return {file name: content} for the chosen kinds of output."""
    files = {"pumice_types.h": types_header()}
    if "regs" in kinds:
        files["pumice_regs.h"] = emit_registers.regs_header(contract.regs)
        files["pumice_names.h"] = emit_registers.names_header(contract.enums)
    if "formats" in kinds:
        files["pumice_formats.h"] = emit_formats.formats_header(contract.formats)
    return files
