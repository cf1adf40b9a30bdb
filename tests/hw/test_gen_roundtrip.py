# SPDX-License-Identifier: MIT
"""
The generated pack and unpack functions follow the XML, bit for bit.

The expected words come from reference.py, a reading of the XML that shares no code with the
generator. The seed is printed with every failure.
"""

import os
import random
import unittest

from contract import (CLIENTS, FORMATS, HW, PATHS, REGISTERS, SEED, UNITS, ContractCase,
                      decoder_sources, program, run_generator)
import reference

# Random values of each structure and of each instruction.
ROUNDS, INSTRUCTION_ROUNDS = 40, 20


class RoundTrip(ContractCase):
    """Compiled C against the reference, for the fixture and for the real contract."""

    def enums(self, hw):
        """Return all enumerations of a contract."""
        return reference.read_enums(*(os.path.join(hw, name) for name in
                                      ("registers.xml", "formats.xml", "isa.xml")))

    def test_struct_pack_and_unpack_match_the_reference(self):
        for hw in (self.dir, HW):
            with self.subTest(hw=hw):
                rng = random.Random(SEED)
                self.assertEqual(run_generator(hw, self.out).stderr, "")
                enums = self.enums(hw)
                structs = reference.read_structs(os.path.join(hw, "formats.xml"))
                bodies = [struct_case(s, [s.random_raw(rng, enums) for _ in range(ROUNDS)])
                          for s in structs]
                self.run_c(program(bodies))

    def test_defaults_are_those_of_the_xml(self):
        for hw in (self.dir, HW):
            with self.subTest(hw=hw):
                run_generator(hw, self.out)
                names = reference.read_enum_names(*(os.path.join(hw, name) for name in
                                                    ("registers.xml", "formats.xml")))
                structs = reference.read_structs(os.path.join(hw, "formats.xml"))
                bodies = [defaults_case(s, names) for s in structs
                          if any(f.const is None for f in s.fields)]
                self.run_c(program(bodies))

    def test_a_float_is_a_float_and_without_floats_no_number_at_all(self):
        self.generate()
        self.run_c(program([
            "struct pumice_real r = { .r = 1 };"
            "struct pumice_mixed m = { .value = { { 0.5 } } };"
            "u32 dw[2];"
            "pumice_real_pack(dw, &r); CHECK(dw[0] == 0x3f800000U);"
            "pumice_mixed_pack(dw, &m); CHECK(dw[0] == 0x3f000000U && dw[1] == 0);"
            "m.value[1].i = -1;"
            "pumice_mixed_pack(dw, &m); CHECK(dw[1] == 0xffffffffU);"]))
        self.run_c("#define PUMICE_NO_FLOAT\n" + program([
            "struct pumice_real r = { .r_bits = 0x3f800000U };"
            "u32 dw[1];"
            "pumice_real_pack(dw, &r); CHECK(dw[0] == 0x3f800000U);"]))
        with self.assertRaisesRegex(AssertionError, "has no member named"):
            self.run_c("#define PUMICE_NO_FLOAT\n" + program([
                "struct pumice_real r = { .r = 1 }; CHECK(sizeof(r) == 4);"]))

    def test_clients_are_those_of_the_xml(self):
        self.put("registers.xml", REGISTERS % ("", UNITS))
        self.put("formats.xml", FORMATS % (PATHS + CLIENTS % ""))
        for hw, formats in ((self.dir, "formats.xml"), (HW, "clients.xml")):
            with self.subTest(hw=hw):
                self.assertEqual(run_generator(hw, self.out).stderr, "")
                names = reference.read_enum_names(*(os.path.join(hw, name) for name in
                                                    ("registers.xml", "formats.xml")))
                rows = reference.read_clients(os.path.join(hw, formats))
                self.run_c('#include "pumice_format_table.h"\n' + program(
                    clients_cases(rows, names)), [os.path.join(self.out, "pumice_format_table.c")])

    def test_set_reserved_bit_is_reported_wherever_it_is(self):
        for hw in (self.dir, HW):
            with self.subTest(hw=hw):
                rng = random.Random(SEED)
                run_generator(hw, self.out)
                enums = self.enums(hw)
                bodies = []
                for item in reference.read_structs(os.path.join(hw, "formats.xml")):
                    value = item.join(item.random_raw(rng, enums))
                    if item.reserved:
                        bodies.append(reserved_case(item, value))
                self.run_c(program(bodies))

    def test_wrong_constant_and_unknown_enum_value_are_reported(self):
        self.generate()
        rng = random.Random(SEED)
        item = next(s for s in reference.read_structs(os.path.join(self.dir, "formats.xml"))
                    if s.name == "go")
        value = item.join(item.random_raw(rng, self.enums(self.dir)))
        wrong = (value & ~(0xf << 28)) | 4 << 28
        self.run_c(program([unpack_case(item, wrong, "CONST"),
                            unpack_case(item, value & ~3, "ENUM"),
                            unpack_case(item, (value & ~3) | 2, "ENUM")]))

    def test_stream_command_lengths_come_from_the_first_word(self):
        self.generate()
        self.run_c(program(["CHECK(PUMICE_S_CMD_MAX_WORDS == 4);",
                            "CHECK(pumice_s_cmd_words(0x5fffffffU) == 4);",
                            "CHECK(pumice_s_cmd_words(0x60000000U) == 1);",
                            "CHECK(pumice_s_cmd_words(0x70000000U) == 0);",
                            "CHECK(PUMICE_S_CMD_STOP == 6 && PUMICE_GO_WORDS == 4);"]))

    def test_two_word_struct_is_one_64_bit_value(self):
        self.generate()
        self.run_c(program([
            "struct pumice_entry e = { .valid = true, .addr = 0x123456789000ULL, .high = 0xbeef };"
            "struct pumice_entry back;"
            "u64 raw = pumice_entry_pack64(&e);"
            "CHECK(raw == 0xbeef123456789001ULL);"
            "CHECK(pumice_entry_unpack64(raw, &back) == PUMICE_UNPACK_OK);"
            "CHECK(back.valid && back.addr == e.addr && back.high == e.high);"
            "CHECK(PUMICE_FIELD_GET(PUMICE_ENTRY__ADDR, raw) == e.addr);"
            "CHECK(PUMICE_FIELD_GET(PUMICE_ENTRY__HIGH, raw) == 0xbeef);"]))

    def test_register_macros_match_the_xml(self):
        self.generate()
        self.run_c(program([
            "CHECK(PUMICE_A_CTRL == 0 && PUMICE_A_BASE(3) == 0x40 && PUMICE_A_BASE_COUNT == 4);"
            "CHECK(PUMICE_A_CTRL__RESET == 2 && PUMICE_A_CTRL__WRITABLE == 0xffffff03U);"
            "CHECK(PUMICE_FIELD_PREP(PUMICE_A_CTRL__COUNT, 0x1234567) == 0x23456700U);"
            "CHECK(PUMICE_FIELD_GET(PUMICE_A_CTRL__COUNT, 0xabcdefffU) == 0xabcdefU);"
            "CHECK(PUMICE_FIELD_PREP(PUMICE_A_BASE__ADDR, 0xff12345fffULL) == 0xff12345000ULL);"
            "CHECK(PUMICE_FIELD_GET(PUMICE_A_BASE__ADDR, ~0ULL) == 0xfffffff000ULL);"
            "CHECK(pumice_state_valid(2) && !pumice_state_valid(1) && PUMICE_STATE_COUNT == 3);"]))

    def test_instruction_pack_matches_the_reference(self):
        run_generator(HW, self.out)
        rng = random.Random(SEED)
        bodies = []
        for isa in reference.read_isas(os.path.join(HW, "isa.xml")):
            layouts = {n.get("name"): reference.Struct(n, number_of_words(isa), n.get("name"))
                       for n in isa.findall("layout")}
            for name, layout in layouts.items():
                ops = [op for op in isa.findall("op") if op.get("layout") == name]
                if ops:
                    bodies.append(insn_case(isa.get("name"), ops, layout, rng))
        self.run_c('#include "pumice_isa.h"\n' + program(bodies), decoder_sources(self.out))


def number_of_words(isa):
    """Return the number of 32-bit words of an instruction."""
    return reference.number(isa.get("word_bits")) // 32


def table(rows):
    """Return a C initialiser of rows of literals; one without columns has a zero."""
    return ",\n".join(f"{{ {', '.join(row) or '0'} }}" for row in rows)


def round_trip(item, rows, declare, pack, unpack):
    """Return a case: members of each row of raw bits pack to the reference's words, and back."""
    live = [(i, f) for i, f in enumerate(item.fields) if f.const is None]
    values = table([f"(u64){f.unpacked(raws[i])}" for i, f in live] for raws in rows)
    sets = "\n".join(f.assign("in", f"v[r][{n}]") for n, (_, f) in enumerate(live))
    checks = "\n".join(f"CHECK({f.value('out')} == {f.value('in')});"
                       f"CHECK((u64){f.value('out')} == v[r][{n}]);"
                       for n, (_, f) in enumerate(live))
    return f"""static const u64 v[][{max(len(live), 1)}] = {{ {values} }};
static const u32 want[][{item.words}] = {{ {table(item.row(raws) for raws in rows)} }};
{declare} in, out;
u32 dw[{item.words}];
for (unsigned int r = 0; r < {len(rows)}; r++) {{
(void)v;
memset(&in, 0, sizeof(in));
{sets}
memset(dw, 0xa5, sizeof(dw));
memset(&out, 0x5a, sizeof(out));
{pack}(dw, &in);
CHECK(memcmp(dw, want[r], sizeof(dw)) == 0);
{unpack}
{checks}
}}"""


def struct_case(item, rows):
    """Pack gives the reference's words, and unpacking those gives the values back."""
    name = f"pumice_{item.name}"
    return round_trip(item, rows, f"struct {name}", f"{name}_pack",
                      f"CHECK({name}_unpack(dw, &out) == PUMICE_UNPACK_OK);")


def defaults_case(item, names):
    """Return a case: _defaults() sets every member to the value in the XML."""
    checks = [f"CHECK((u64){f.value('v')} == (u64){f.unpacked(f.default_raw(names))});"
              for f in item.fields if f.const is None]
    return (f"struct pumice_{item.name} v;\nmemset(&v, 0x5a, sizeof(v));\n"
            f"pumice_{item.name}_defaults(&v);\n" + "\n".join(checks))


def clients_cases(rows, names):
    """Return cases: the table has the rows, and each request has the client of its row or none."""
    cases = [f"CHECK(PUMICE_MEM_CLIENT_COUNT == {len(rows)});"
             f"CHECK(sizeof(pumice_client_table) / sizeof(pumice_client_table[0]) == {len(rows)});"]
    for number, row in enumerate(rows):
        one = f"pumice_client_table[{number}]"
        cases.append(
            f"CHECK(PUMICE_MEM_CLIENT_{row.get('name')} == {number});"
            f"CHECK(!strcmp({one}.name, \"{row.get('name')}\") && {one}.doc[0]);"
            f"CHECK({one}.unit == {names['unit'][row.get('unit', 'NONE')]});"
            f"CHECK({one}.access == {names['access'][row.get('access').upper()]});"
            f"CHECK({one}.kind == {row.get('kind', 2)});"
            f"CHECK({one}.path == {names['mem_path'][row.get('path').upper()]});"
            f"CHECK({one}.slc == {names['mem_slc'][row.get('slc').upper()]});")
    for unit, u in names["unit"].items():
        for access, a in names["access"].items():
            for kind in range(2):
                found = [n for n, row in enumerate(rows) if row.get("unit") == unit
                         and row.get("access").upper() == access
                         and row.get("kind", str(kind)) == str(kind)]
                cases.append(f"CHECK(pumice_client_find({u}, {a}, {kind}) == "
                             f"{(found + [len(rows)])[0]});")
    cases += [f"CHECK(pumice_client_find({key}) == {len(rows)});"
              for key in ("1, 0, 2", "1, 3, 0", "99, 0, 0", "0xffffffffU, 0, 0", "0, 0, 0")]
    return cases


def unpack_case(item, value, result):
    """Return a case: unpacking `value` gives `result`."""
    return f"""struct pumice_{item.name} out;
const u32 dw[] = {{ {', '.join(reference.words_of(value, item.words))} }};
CHECK(pumice_{item.name}_unpack(dw, &out) == PUMICE_UNPACK_{result});"""


def reserved_case(item, value):
    """Return a case: each reserved bit of a structure, set alone, is reported."""
    return f"""static const unsigned short bits[] = {{ {', '.join(map(str, item.reserved))} }};
const u32 good[] = {{ {', '.join(reference.words_of(value, item.words))} }};
struct pumice_{item.name} out;
for (unsigned int i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {{
u32 dw[{item.words}];
memcpy(dw, good, sizeof(dw));
dw[bits[i] / 32] |= 1U << bits[i] % 32;
CHECK(pumice_{item.name}_unpack(dw, &out) == PUMICE_UNPACK_RESERVED);
}}"""


def insn_case(isa, ops, layout, rng):
    """Return a case: instructions of a layout pack to the reference's words and back."""
    rows = [[reference.number(op.get("opcode")) if f.member == "opcode" else
             rng.randint(0, (1 << f.width) - 1) for f in layout.fields]
            for op in ops for _ in range(INSTRUCTION_ROUNDS)]
    return round_trip(layout, rows, f"struct pumice_{isa}_insn", f"pumice_{isa}_pack",
                      f"(void)pumice_{isa}_unpack(dw, &out);")


if __name__ == "__main__":
    unittest.main()
