# SPDX-License-Identifier: MIT
"""
Legal encodings, and the text that the decoder prints for them, of the real contract.

The legal instructions are built from isa.xml by reference.py and this file; the generated tables
play no part in it.
"""

import os
import random
import unittest

from contract import HW, SEED, ContractCase, decoder_sources, program, run_generator
import reference

INCLUDES = '#include "pumice_decode.h"\n#include "pumice_names.h"\n'
PRINT = """static __attribute__((unused)) void print(void *data, u64 addr, const char *line)
{ (void)data; printf("%llx %s\\n", (unsigned long long)addr, line); }
"""


class Encoder:
    """Builds legal instructions of one <isa> element."""

    def __init__(self, isa, enums, rng):
        self.isa, self.rng, self.enums = isa, rng, enums
        self.name = isa.get("name")
        self.words = reference.number(isa.get("word_bits")) // 32
        self.layouts = {n.get("name"): reference.Struct(n, self.words, n.get("name"))
                        for n in isa.findall("layout")}
        self.classes = {n.get("name"): n for n in isa.findall("class")}
        self.banks = self.value_names("usc_bank")
        self.numbers = {}
        for item in isa.findall("special"):
            self.numbers.setdefault(item.get("bank"), []).append(int(item.get("number")))
        self.access = {int(n.get("number")): n.get("access", "ro") for n in isa.findall("special")
                       if n.get("bank") == "SR"}

    def value_names(self, enum):
        """Return {name: value} of an enumeration anywhere in the contract."""
        return self.enums.get(enum, {})

    def mask(self):
        """Return a legal double mask."""
        numbers = self.numbers["K"] + list(range(16, 32))
        a, b = self.rng.choice(numbers), self.rng.choice(numbers)
        return a | b << 6 | self.rng.choice([0, 1 << 5]) | self.rng.choice([0, 1 << 11])

    def operand(self, kind, field):
        """Return legal raw bits for a field of a class, and whether they need the immediate."""
        full, elem = (kind.get(k, "").split() for k in ("full", "elem"))
        full = [bank for bank in full if bank not in kind.get("indexed", "").split()]
        if not full and not elem:
            if kind.get("name") == "mask":
                return self.mask(), False
            if kind.get("enum"):
                return self.rng.choice(list(self.value_names(kind.get("enum")).values())), False
            return self.rng.randint(0, (1 << field.width) - 1), False
        bank, is_elem = self.rng.choice([(b, 0) for b in full] + [(b, 1) for b in elem])
        num = self.rng.randint(0, 247)
        if bank in ("NONE", "IMM"):
            num = 0
        elif bank == "M":
            num = self.mask()
        elif bank == "SR":
            num = self.rng.choice([n for n, access in self.access.items()
                                   if kind.get("special", access) == access])
        elif bank in self.numbers:
            num = self.rng.choice(self.numbers[bank])
        elif bank in ("I", "SL"):
            num = self.rng.randrange(8)
        elif bank == "IDX":
            num = self.rng.randrange(2)
        elif bank == "DC":
            num |= self.rng.choice((1, 2)) << 12
        return self.banks[bank] | num << 5 | is_elem << 19, bank == "IMM"

    def legal(self, op, form):
        """Return (integer of the instruction, mask of its bits that may differ from zero)."""
        layout = self.layouts[op.get("layout")]
        fields = {f.member: f for f in layout.fields}
        types = self.value_names(f"{self.name}_type")
        raws = {"opcode": reference.number(op.get("opcode"))}
        if "type" in fields:
            raws["type"] = types[self.rng.choice(op.get("types").split()).upper()]
        if "form" in fields:
            raws["form"] = self.value_names(f"{self.name}_form")[form.upper()]
        attr = "scalar_operands" if form == "scalar" else "operands"
        for word in op.get(attr, "").split():
            field, kind = word.split(":")
            raws[field], imm = self.operand(self.classes[kind], fields[field])
            if imm:
                raws["imm"] = self.rng.randint(0, 0xffffffff)
            if self.classes[kind].get("full") and raws[field] >> 17 & 3:
                raws["dim"] = self.rng.randint(0, 4)
        value = sum(raw << fields[name].lo for name, raw in raws.items())
        used = sum(((1 << fields[n].width) - 1) << fields[n].lo for n in raws)
        return value, used


class Decoder(ContractCase):
    """pumice_isa_check() and the decoder's text."""

    def setUp(self):
        super().setUp()
        self.assertEqual(run_generator(HW, self.out).stderr, "")
        self.rng = random.Random(SEED)
        self.enums = {}
        for name in ("registers.xml", "formats.xml", "isa.xml"):
            root = reference.read_root(os.path.join(HW, name))
            for node in root.iter("enum"):
                self.enums[node.get("name")] = {v.get("name"): reference.number(v.get("value"))
                                                for v in node.findall("value")}
        self.isas = {n.get("name"): Encoder(n, self.enums, self.rng)
                     for n in reference.read_isas(os.path.join(HW, "isa.xml"))}

    def check(self, bodies):
        """Compile and run cases; returns what they print."""
        return self.run_c(INCLUDES + program(bodies, PRINT), decoder_sources(self.out))

    def every_op(self):
        """Yield (encoder, op, form) of every operation in every form."""
        for encoder in self.isas.values():
            for op in encoder.isa.findall("op"):
                for form in op.get("forms", "").split() or [""]:
                    yield encoder, op, form

    def test_every_operation_in_every_form_is_legal(self):
        bodies = []
        for encoder, op, form in self.every_op():
            rows = [reference.words_of(encoder.legal(op, form)[0], encoder.words)
                    for _ in range(8)]
            bodies.append(check_rows(encoder.name, rows, "== PUMICE_ISA_UNPACK_OK"))
        self.check(bodies)

    def test_any_bit_outside_the_used_fields_makes_an_instruction_illegal(self):
        bodies = []
        for encoder, op, form in self.every_op():
            value, used = encoder.legal(op, form)
            rows = [reference.words_of(value | 1 << bit, encoder.words)
                    for bit in range(encoder.words * 32) if not used >> bit & 1]
            bodies.append(check_rows(encoder.name, rows, "!= PUMICE_ISA_UNPACK_OK"))
        self.check(bodies)

    def test_bank_outside_of_the_class_is_refused(self):
        bodies = []
        for encoder, op, form in self.every_op():
            fields = {f.member: f for f in encoder.layouts[op.get("layout")].fields}
            attr = "scalar_operands" if form == "scalar" else "operands"
            for word in op.get(attr, "").split():
                field, kind = word.split(":")
                rows = self.bad_banks(encoder, op, form, fields[field], encoder.classes[kind])
                if rows:
                    bodies.append(check_rows(encoder.name, rows, "!= PUMICE_ISA_UNPACK_OK"))
        self.assertGreater(len(bodies), 50)
        self.check(bodies)

    def bad_banks(self, encoder, op, form, field, kind):
        """Return the instructions whose `field` names each bank and mode that its class does not
        list.
        """
        if not kind.get("full") and not kind.get("elem"):
            return []
        rows = []
        for bank in range(32):
            for elem in (0, 1):
                allowed = kind.get("elem" if elem else "full", "").split()
                if bank in [encoder.banks[name] for name in allowed]:
                    continue
                value = encoder.legal(op, form)[0] & ~(0xfffff << field.lo)
                rows.append(reference.words_of(value | (bank | elem << 19) << field.lo,
                                               encoder.words))
        return rows

    def test_each_kind_of_illegal_encoding_has_its_own_result(self):
        usc = "&pumice_usc_isa"
        cases = [
            ("0xff, 0, 0, 0", "OPCODE"),
            ("PUMICE_USC_OP_END | 1U << 8, 0, 0, 0", "RESERVED"),
            ("PUMICE_USC_OP_AND | 2U << 8, 0, 0, 0", "TYPE"),
            ("PUMICE_USC_OP_ADD | 3U << 8, 0, 0, 0", "TYPE"),
            ("PUMICE_USC_OP_DIV, 0, 0, 0", "FORM"),
            ("PUMICE_USC_OP_END | 1U << 16, 0, 0, 0", "FIELD"),
            ("PUMICE_USC_OP_JUMP, PUMICE_USC_BANK_R << 20, 0, 0", "FIELD"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R, 0, 0", "OPERAND"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R | PUMICE_USC_BANK_CFA << 20, 0, 0",
             "OPERAND"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R | PUMICE_USC_BANK_DC << 20, 0, 0",
             "OPERAND"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R | PUMICE_USC_BANK_DC << 20, 1U << 5, 0",
             "OK"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R | PUMICE_USC_BANK_R << 20, "
             "1U << 5 | 4U << 28, 0", "OK"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R | PUMICE_USC_BANK_R << 20, "
             "1U << 5 | 5U << 28, 0", "OPERAND"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R | PUMICE_USC_BANK_R << 20, "
             "1U << 28, 0", "FIELD"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R | PUMICE_USC_BANK_I << 20, 1U << 5, 0",
             "OPERAND"),
            ("PUMICE_USC_OP_NEG | 2U << 8, PUMICE_USC_BANK_R | PUMICE_USC_BANK_V << 20, 0, 0",
             "OK"),
            ("PUMICE_USC_OP_BR_ANY | 16U << 16 | 12U << 22, 0, 0, 0", "OPERAND"),
            ("PUMICE_USC_OP_BR_ANY | 16U << 16 | 11U << 22, 0, 0, 0", "OK"),
        ]
        self.check([f"const u32 dw[] = {{ {words} }};\n"
                    f"CHECK(pumice_isa_check({usc}, dw) == PUMICE_ISA_UNPACK_{result});"
                    for words, result in cases])

    def test_no_raw_instruction_crashes_check_or_text(self):
        rows = []
        for encoder, op, form in self.every_op():
            value, _ = encoder.legal(op, form)
            rows += [(encoder, reference.words_of(value ^ 1 << self.rng.randrange(128), 4))
                     for _ in range(8)]
            noise = (self.rng.getrandbits(128) & ~0xff) | (value & 0xff)
            rows.append((encoder, reference.words_of(noise, 4)))
        self.check([f"const u32 dw[] = {{ {', '.join(row)} }};\n"
                    "char text[PUMICE_DECODE_LINE]; struct pumice_%s_insn insn;\n"
                    "CHECK(pumice_isa_text(&pumice_%s_isa, dw, text) == "
                    "pumice_%s_unpack(dw, &insn));\nCHECK(text[0]);" % ((e.name,) * 3)
                    for e, row in rows])

    def test_special_register_values_are_those_of_document_002(self):
        rules = {"ZERO": "0", "ONE": "1", "SID": "l", "U8_MAX": "255", "N2ND": "1u << l % 2",
                 "N3RD": "1u << l % 3", "N4TH": "1u << l % 4", "LO16": "l < 16",
                 "CH2": "l % 4 < 2", "CH4": "l % 8 < 4", "ALO8": "l % 16 < 8"}
        self.check([f"""const struct pumice_isa_special *k =
	pumice_isa_find_special(&pumice_usc_isa, PUMICE_USC_BANK_K, PUMICE_USC_K_{name});
CHECK(k && k->constant);
for (u32 l = 0; l < 32; l++)
	CHECK(k->lanes[l] == ({rule}));""" for name, rule in rules.items()] + [
            "CHECK(!pumice_isa_find_special(&pumice_usc_isa, PUMICE_USC_BANK_K,"
            " PUMICE_USC_K_WAVE)->constant);"])

    def test_register_lookup_supports_arrays_halves_and_holes(self):
        self.check(["""u32 index = 99;
const struct pumice_reg_info *reg = pumice_reg_find(PUMICE_MMU_RANGE_END(3) + 4, &index);
CHECK(reg && strcmp(reg->name, "MMU_RANGE_END") == 0 && index == 3);
CHECK(pumice_reg_find(PUMICE_MMU_CTX(31), &index) && index == 31);
CHECK(!pumice_reg_find(0xfffc, NULL) && !pumice_reg_find(PUMICE_OS_UNIT_SIZE - 4, NULL));
CHECK(!pumice_reg_find(0x10000000, NULL));"""])

    def test_register_lookup_is_that_of_a_search_at_each_byte(self):
        self.check(["""for (u32 offset = 0; offset < 2 * 0x10000; offset++) {
	const struct pumice_reg_info *found = NULL;
	u32 element = 0, index = 0;
	for (u32 i = 0; i < PUMICE_REG_TABLE_SIZE; i++) {
		const struct pumice_reg_info *reg = &pumice_reg_table[i];
		for (u32 e = 0; e < reg->count; e++) {
			u32 at = reg->offset + e * reg->stride;
			if (offset >= at && offset < at + reg->bits / 8) {
				found = reg;
				element = e;
			}
		}
	}
	CHECK(pumice_reg_find(offset, &index) == found && index == element);
}"""])

    def test_stream_decoder_stops_at_unknown_commands(self):
        text = self.check([
            """struct pumice_cdm_call call = { .addr = 0x123456780 };
struct pumice_cdm_halt halt = { 0 };
u32 dw[5];
pumice_cdm_call_pack(dw, &call);
pumice_cdm_halt_pack(dw + 3, &halt);
dw[4] = 0;
CHECK(pumice_decode_stream(&pumice_stream_cdm, 0x1000, dw, 5, print, NULL) == 4);
CHECK(pumice_decode_stream(&pumice_stream_cdm, 0x2000, dw, 2, print, NULL) == 0);
dw[0] |= 1;
CHECK(pumice_decode_stream(&pumice_stream_cdm, 0x3000, dw, 3, print, NULL) == 3);"""])
        self.assertEqual(text.splitlines(), [
            "1000 cdm_call", "1000   addr = 0x0123456780", "100c cdm_halt",
            "1010 unknown cdm command 0x00000000",
            "2000 cdm_call cut off after 2 of 3 words",
            "3000 cdm_call", "3000   (reserved) = 1: reserved bits are set",
            "3000   addr = 0x0123456780"])

    def test_register_decoder_names_fields_and_halves(self):
        text = self.check([
            "pumice_decode_reg(PUMICE_CDM_STATUS, 32, false, 0x1001, print, NULL);"
            "pumice_decode_reg(PUMICE_MMU_CTX(2) + 4, 32, true, 0x12, print, NULL);"
            "pumice_decode_reg(0xfff0, 32, true, 7, print, NULL);"])
        rows = text.splitlines()
        self.assertIn("5010 read CDM_STATUS = 0x00001001", rows)
        self.assertIn("5010   FAULT = cdm-command (16)", rows)
        self.assertIn("3014 write MMU_CTX[2] (high half) = 0x00000012", rows)
        self.assertIn("3014   CATALOGUE = 0x1200000000", rows)
        self.assertIn("fff0 write of unknown register 0xfff0: 0x7", rows)


def check_rows(isa, rows, condition):
    """Return C code that checks each row of words against a condition on the result."""
    table = ",\n".join("{ " + ", ".join(row) + " }" for row in rows)
    return f"""static const u32 rows[][4] = {{
{table}
}};
for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
	CHECK(pumice_isa_check(&pumice_{isa}_isa, rows[i]) {condition});"""


if __name__ == "__main__":
    unittest.main()
