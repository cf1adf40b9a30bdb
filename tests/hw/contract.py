# SPDX-License-Identifier: MIT
"""
Fixture of the generator's tests: a small valid contract, and running the generator on it.

Limits: uses the generator's command line only, not its code.
"""

import os
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HW = os.path.join(ROOT, "hw")
SEED = int(os.environ.get("PUMICE_SEED", random.SystemRandom().randrange(1 << 32)))
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
         "-fno-sanitize-recover=all"]
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pumice_formats.h"
#define CHECK(c) do { if (!(c)) { printf("line %d: %s\\n", __LINE__, #c); exit(1); } } while (0)
"""

REGISTERS = """<registers>
<enum name="state"><value name="OFF" value="0"/><value name="ON" value="2"/></enum>
<constant name="LIMIT" value="16"/>
<unit name="A" base="0x0" size="0x100" bus="host" scope="os">
<reg name="CTRL" offset="0x0" size="32" access="rw" reset="0x2">
<field name="STATE" bits="1:0" enum="state"/>
<reserved bits="7:2"/>
<field name="COUNT" bits="31:8"/>
</reg>
<reg name="BASE" offset="0x10" size="64" access="rw" count="4" stride="16">
<field name="EN" bits="0" type="bool"/>
<reserved bits="11:1"/>
<field name="ADDR" bits="39:12" type="address"/>
<reserved bits="63:40"/>
</reg>
%s
</unit>
%s
</registers>
"""

FORMATS = """<formats>
<enum name="kind"><value name="X" value="1"/><value name="Y" value="3"/></enum>
<struct name="go" words="4">
<field name="type" word="0" bits="31:28" type="const" value="5"/>
<field name="kind" word="0" bits="1:0" enum="kind"/>
<reserved word="0" bits="27:2"/>
<field name="addr" word="1" bits="39:4" type="address"/>
<reserved word="1" bits="3:0"/>
<field name="delta" word="2" bits="20:8" type="int"/>
<field name="page" word="2" bits="30:21" type="address" shift="12"/>
<field name="flag" word="2" bits="31" type="bool"/>
<field name="lane" word="3" bits="7:0" count="3"/>
<reserved word="3" bits="31:24"/>
</struct>
<struct name="stop" words="1">
<field name="type" word="0" bits="31:28" type="const" value="6"/>
<reserved word="0" bits="27:0"/>
</struct>
<struct name="entry" words="2">
<field name="valid" word="0" bits="0" type="bool"/>
<reserved word="0" bits="11:1"/>
<field name="addr" word="0" bits="47:12" type="address"/>
<field name="high" word="0" bits="63:48"/>
</struct>
<struct name="wide" words="3">
<field name="low" word="0" bits="16:0" type="int"/>
<field name="all" word="0" bits="80:17"/>
<field name="value" word="0" bits="95:81"/>
</struct>
<struct name="real" words="1"><field name="r" word="0" bits="31:0" type="float"/></struct>
<struct name="mixed" words="2">
<field name="value" word="0" bits="31:0" type="number" count="2"/>
</struct>
<struct name="chosen" words="2">
<field name="kind" word="0" bits="1:0" enum="kind" default="kind.Y"/>
<field name="on" word="0" bits="2" type="bool" default="1"/>
<field name="many" word="0" bits="10:3" default="0x81" count="3"/>
<reserved word="0" bits="31:27"/>
<field name="r" word="1" bits="31:0" type="float" default="-2.5"/>
</struct>
<stream name="s"><cmd struct="go"/><cmd struct="stop"/></stream>
%s
</formats>
"""

# Enumerations of clients, to add to the registers and to the formats; the clients themselves have
# room for further rows.
UNITS = """<enum name="unit"><value name="NONE" value="0"/><value name="U" value="1"/>
<value name="V" value="3"/></enum>
<enum name="access"><value name="READ" value="0"/><value name="EXEC" value="2"/></enum>"""
PATHS = """<enum name="mem_path"><value name="NEAR" value="0"/><value name="FAR" value="1"/></enum>
<enum name="mem_slc"><value name="BYPASS" value="0"/><value name="CACHED" value="1"/></enum>"""
CLIENTS = """<clients>
<client name="TABLE" access="read" path="far" slc="cached" doc="none"/>
<client name="LIST" unit="U" access="read" kind="1" path="near" slc="cached" doc="one"/>
<client name="CODE" unit="V" access="exec" path="far" slc="bypass" doc="both"/>
%s
</clients>"""

ISA = """<isa name="t" word_bits="128">
<enum name="t_type"><value name="U32" value="0"/><value name="F32" value="2"/></enum>
<enum name="t_form"><value name="VECTOR" value="0"/><value name="SCALAR" value="1"/></enum>
<enum name="t_bank"><value name="R" value="1"/><value name="SH" value="3"/></enum>
<class name="reg" full="R SH" elem="R"/>
<class name="num"/>
<layout name="one">
<field name="opcode" bits="7:0"/>
<field name="type" bits="9:8"/>
<field name="form" bits="10"/>
<reserved bits="31:11"/>
<field name="dst" bits="51:32"/>
<field name="far" bits="71:52"/>
<reserved bits="127:72"/>
</layout>
<layout name="two"><field name="opcode" bits="7:0"/><reserved bits="127:8"/></layout>
<op name="add" opcode="0x10" layout="one" types="u32 f32" forms="vector scalar"
 operands="dst:reg far:num" scalar_operands="dst:reg"/>
<op name="nop" opcode="0x11" layout="two"/>
<special bank="R" number="9" name="nine" value="l * 2"/>
%s
</isa>
"""


def run_generator(hw, out, *args):
    """Run the generator as a user does; returns the completed process."""
    return subprocess.run([sys.executable, os.path.join(HW, "gen.py"), "--hw", hw, "--out", out,
                           *args], capture_output=True, text=True, check=False)


def decoder_sources(out):
    """Return the sources of the decoder library, generated into `out` and handwritten."""
    return [os.path.join(where, name) for where in (out, os.path.join(HW, "decode"))
            for name in os.listdir(where) if name.endswith(".c")]


def program(bodies, helpers=""):
    """Return a C program of one function per case, so that no function grows without bounds."""
    parts = [HEAD, helpers]
    for i, body in enumerate(bodies):
        parts.append(f"static void case{i}(void)\n{{\n{body}\n}}\n")
    calls = "\n".join(f"\tcase{i}();" for i in range(len(bodies)))
    return "".join(parts) + f"int main(void)\n{{\n{calls}\n\treturn 0;\n}}\n"


class ContractCase(unittest.TestCase):
    """A test with a directory that holds a small contract."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name
        self.out = os.path.join(self.dir, "out")
        self.put("registers.xml", REGISTERS % ("", ""))
        self.put("formats.xml", FORMATS % "")
        self.put("isa.xml", ISA % "")

    def put(self, name, text):
        """Write one contract file."""
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def generate(self, *args):
        """Run the generator on the directory."""
        return run_generator(self.dir, self.out, *args)

    def run_c(self, text, sources=()):
        """Compile and run a program against the generated headers."""
        path = os.path.join(self.dir, "program.c")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        binary = os.path.join(self.dir, "program")
        done = subprocess.run(["cc", *FLAGS, "-I", self.out, "-I", os.path.join(HW, "decode"),
                               path, *sources, "-o", binary],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([binary], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"seed {SEED}\n{done.stdout}{done.stderr}")
        return done.stdout

    def refuse(self, name, text, message):
        """
        Check that the generator refuses the file `name` with content `text`, in which the comment
        <!--HERE--> marks the line that the error must name; and it writes nothing.
        """
        self.put(name, text)
        line = next(i for i, row in enumerate(text.split("\n"), 1) if "<!--HERE-->" in row)
        done = self.generate()
        expected = f"{os.path.join(self.dir, name)}:{line}: error: "
        self.assertEqual(done.returncode, 1, done.stderr)
        hits = [row for row in done.stderr.splitlines() if row.startswith(expected)]
        self.assertTrue(any(message in row for row in hits),
                        f"no '{message}' on line {line} in:\n{done.stderr}")
        self.assertFalse(os.path.exists(self.out))

    def refuse_reg(self, body, message):
        """Refuse registers added to unit A."""
        self.refuse("registers.xml", REGISTERS % (body, ""), message)

    def refuse_unit(self, body, message):
        """Refuse text that is added after unit A."""
        self.refuse("registers.xml", REGISTERS % ("", body), message)

    def refuse_format(self, body, message):
        """Refuse text that is added to the formats."""
        self.refuse("formats.xml", FORMATS % body, message)

    def refuse_isa(self, body, message):
        """Refuse text that is added to the instruction set."""
        self.refuse("isa.xml", ISA % body, message)
