# SPDX-License-Identifier: MIT
"""
The generator refuses an unsound contract, names file and line, and then writes nothing.

In each case the comment HERE marks the line that the message must name.
"""

import unittest

from contract import CLIENTS, FORMATS, ISA, PATHS, REGISTERS, UNITS, ContractCase

HERE = "<!--HERE-->"
FULL = '<field name="V" bits="31:0"/>'


class Registers(ContractCase):
    """registers.xml"""

    def test_overlapping_fields_are_refused(self):
        self.refuse_reg('<reg name="R" offset="0x80" size="32" access="rw">\n'
                        '<field name="LOW" bits="16:0"/>\n'
                        f'<field name="HIGH" bits="31:16"/>{HERE}</reg>',
                        "field HIGH overlaps field LOW")

    def test_field_over_reserved_bits_is_refused(self):
        self.refuse_reg('<reg name="R" offset="0x80" size="32" access="rw">\n'
                        '<reserved bits="31:8"/>'
                        f'<field name="LOW" bits="7:0"/><field name="X" bits="8"/>{HERE}</reg>',
                        "overlaps")

    def test_unnamed_gap_is_refused(self):
        self.refuse_reg(f'<reg name="R" offset="0x80" size="32" access="rw">{HERE}\n'
                        '<field name="LOW" bits="7:0"/><field name="HIGH" bits="31:9"/></reg>',
                        "bits 8:8 before field HIGH belong to no field")

    def test_unnamed_top_bits_are_refused(self):
        self.refuse_reg(f'<reg name="R" offset="0x80" size="64" access="rw">{HERE}\n{FULL}</reg>',
                        "bits 63:32 belong to no field")

    def test_duplicate_address_is_refused(self):
        self.refuse_reg(f'<reg name="R" offset="0x0" size="32" access="rw">{HERE}\n{FULL}</reg>',
                        "register R overlaps register CTRL (line 5) at address 0x0")

    def test_register_on_an_array_element_is_refused(self):
        self.refuse_reg(f'<reg name="R" offset="0x34" size="32" access="rw">{HERE}\n{FULL}</reg>',
                        "register R overlaps register BASE (line 10) at address 0x34")

    def test_register_between_array_elements_is_accepted(self):
        self.put("registers.xml", REGISTERS % (
            f'<reg name="R" offset="0x18" size="32" access="rw" count="4" stride="16">{FULL}'
            '</reg>', ""))
        self.assertEqual(self.generate().stderr, "")

    def test_array_elements_that_overlap_are_refused(self):
        self.refuse_reg('<reg name="R" offset="0x80" size="64" access="rw" count="2" stride="4">'
                        f'{HERE}<field name="V" bits="63:0"/></reg>', "4 bytes apart overlap")

    def test_register_outside_its_unit_is_refused(self):
        self.refuse_reg(f'<reg name="R" offset="0x100" size="32" access="rw">{HERE}{FULL}</reg>',
                        "outside unit A")

    def test_last_array_element_outside_the_unit_is_refused(self):
        self.refuse_reg('<reg name="R" offset="0xf8" size="32" access="rw" count="3">'
                        f'{HERE}{FULL}</reg>', "outside unit A")

    def test_misaligned_register_is_refused(self):
        self.refuse_reg(f'<reg name="R" offset="0x84" size="64" access="rw">{HERE}'
                        '<field name="V" bits="63:0"/></reg>', "misaligned")

    def test_overlapping_units_are_refused(self):
        self.refuse_unit('<unit name="B" base="0xf8" size="0x100" bus="fw" scope="global">'
                         f'{HERE}</unit>', "unit B overlaps unit A")

    def test_unit_beyond_the_page_is_refused(self):
        self.refuse_unit('<unit name="B" base="0xff00" size="0x200" bus="fw" scope="global">'
                         f'{HERE}</unit>', "outside the 0x10000 bytes")

    def test_reset_in_reserved_bits_is_refused(self):
        self.refuse_reg(f'<reg name="R" offset="0x80" size="32" access="rw" reset="0x100">{HERE}'
                        '<field name="V" bits="7:0"/><reserved bits="31:8"/></reg>',
                        "sets reserved bits 31:8")

    def test_reset_wider_than_the_register_is_refused(self):
        self.refuse_reg('<reg name="R" offset="0x80" size="32" access="rw" reset="0x100000000">'
                        f'{HERE}{FULL}</reg>', "exceeds 32 bits")

    def test_reset_that_is_not_a_value_of_the_enum_is_refused(self):
        self.refuse_reg(f'<reg name="R" offset="0x80" size="32" access="rw" reset="1">{HERE}'
                        '<field name="V" bits="1:0" enum="state"/><reserved bits="31:2"/></reg>',
                        "which enum state does not have")

    def test_unknown_enum_is_refused(self):
        self.refuse_reg('<reg name="R" offset="0x80" size="32" access="rw">\n'
                        f'<field name="V" bits="31:0" enum="nothing"/>{HERE}</reg>',
                        "unknown enum nothing")

    def test_enum_value_too_big_for_the_field_is_refused(self):
        self.refuse_reg('<reg name="R" offset="0x80" size="32" access="rw">\n'
                        f'<field name="V" bits="0" enum="state"/>{HERE}\n<reserved bits="31:1"/>'
                        '</reg>', "too big for 1 bits")

    def test_duplicate_names_are_refused(self):
        reg = f'<reg name="CTRL" offset="0x80" size="32" access="rw">{HERE}{FULL}</reg>'
        cases = [
            (self.refuse_reg, reg, "register in unit A: CTRL is already defined"),
            (self.refuse_unit, f'<unit name="a" base="0x100" size="16" bus="fw" scope="os">{HERE}'
                               '</unit>', "unit A is already defined"),
            (self.refuse_unit, f'<constant name="limit" value="1"/>{HERE}', "already defined"),
            (self.refuse_unit, f'<enum name="state">{HERE}<value name="Z" value="1"/></enum>',
             "enum state is already defined"),
            (self.refuse_unit, '<enum name="e"><value name="Z" value="1"/>\n'
                               f'<value name="Y" value="1"/>{HERE}</enum>',
             "value in enum e: 0x1 is already defined"),
            (self.refuse_reg, '<reg name="R" offset="0x80" size="32" access="rw">\n'
                              '<field name="V" bits="15:0"/>\n'
                              f'<field name="v" bits="31:16"/>{HERE}</reg>',
             "field v is already defined"),
        ]
        for refuse, body, message in cases:
            with self.subTest(message=message):
                refuse(body, message)

    def test_constant_with_the_name_of_a_register_is_refused(self):
        reg = f'<reg name="R" offset="0x80" size="32" access="rw">{HERE}{FULL}</reg>'
        self.refuse("registers.xml", REGISTERS % (reg, '<constant name="A_R" value="1"/>'),
                    "C name PUMICE_A_R is already defined")

    def test_misplaced_address_is_refused(self):
        self.refuse_reg('<reg name="R" offset="0x80" size="32" access="rw">\n'
                        f'<field name="V" bits="31:0" type="address" shift="12"/>{HERE}</reg>',
                        "held in place")

    def test_misspelt_attributes_and_elements_are_refused(self):
        cases = [
            (f'<reg name="R" offset="0x80" sise="32" access="rw">{HERE}{FULL}</reg>',
             "<reg> has no attribute 'sise'"),
            (f'<reg name="R" offset="0x80" size="32">{HERE}{FULL}</reg>',
             "<reg> needs the attribute 'access'"),
            (f'<reg name="R" offset="0x80" size="32" access="rx">{HERE}{FULL}</reg>',
             'access="rx" is not one of'),
            ('<reg name="R" offset="0x80" size="32" access="rw">\n'
             f'<feild name="V" bits="31:0"/>{HERE}</reg>', "<feild> does not belong in <reg>"),
            (f'<reg name="R" offset="next" size="32" access="rw">{HERE}{FULL}</reg>',
             'offset="next" is not a number'),
            ('<reg name="R" offset="0x80" size="32" access="rw">\n'
             f'<field name="V" bits="0:31"/>{HERE}</reg>', "must be written high:low"),
            ('<reg name="R" offset="0x80" size="32" access="rw">\n'
             f'<field name="V" bits="32:0"/>{HERE}</reg>', "reaches outside the 32 bits"),
        ]
        for body, message in cases:
            with self.subTest(message=message):
                self.refuse_reg(body, message)

    def test_broken_xml_is_refused_with_its_line(self):
        self.refuse("registers.xml", f"<registers>\n<unit{HERE}</registers>", "not well-formed")

    def test_every_error_of_a_run_is_reported(self):
        self.put("registers.xml", REGISTERS % (
            '<reg name="R" offset="0x0" size="32" access="rw"><field name="V" bits="30:0"/></reg>',
            ""))
        self.put("formats.xml", FORMATS % '<stream name="s"><cmd struct="no"/></stream>')
        errors = self.generate().stderr
        for message in ("bits 31:31 belong", "overlaps register CTRL", "unknown struct no"):
            self.assertIn(message, errors)


class Formats(ContractCase):
    """formats.xml"""

    def test_file_that_cannot_be_included_is_refused(self):
        self.put("inner.xml", "<formats/>")
        self.put("nested.xml", "<formats>\n<include file='inner.xml'/></formats>")
        for attributes, message in [
                ("", "<include> has one attribute, 'file'"),
                ("file='inner.xml' name='n'", "<include> has one attribute, 'file'"),
                ("file='registers.xml'",
                 "the root of registers.xml must be <formats>, not <registers>")]:
            with self.subTest(attributes=attributes):
                self.refuse_format(f"<include {attributes}/>{HERE}", message)
        for name, message in [("absent.xml", "absent.xml:1: error: cannot read"),
                              ("nested.xml", "nested.xml:2: error: <include> does not belong in")]:
            with self.subTest(name=name):
                self.put("formats.xml", FORMATS % f"<include file='{name}'/>")
                done = self.generate()
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)

    def test_error_in_an_included_file_has_its_place(self):
        self.put("inner.xml", "<formats>\n<struct name='q' words='1'/>\n</formats>")
        self.put("formats.xml", FORMATS % "<include file='inner.xml'/>")
        self.assertIn("inner.xml:2: error: ", self.generate().stderr)

    def test_attributes_of_the_root_of_an_included_file_are_checked(self):
        self.put("formats.xml", FORMATS % "<include file='inner.xml'/>")
        self.put("inner.xml", "<formats doc='more formats'/>")
        self.assertEqual(self.generate().stderr, "")
        self.put("inner.xml", "\n<formats dox='more formats'/>")
        done = self.generate()
        self.assertEqual(done.returncode, 1)
        self.assertIn("inner.xml:2: error: <formats> has no attribute 'dox'\n", done.stderr)

    def test_structure_of_an_included_file_may_not_be_defined_twice(self):
        twice = '<struct name="q" words="1"><reserved word="0" bits="31:0"/></struct>'
        self.put("inner.xml", f"<formats>{twice}</formats>")
        self.refuse_format(f"<include file='inner.xml'/>\n{twice}{HERE}", "q is already defined")

    def test_field_that_overlaps_across_a_word_boundary_is_refused(self):
        self.refuse_format('<struct name="q" words="2">\n'
                           '<field name="a" word="0" bits="39:0"/>\n'
                           f'<field name="b" word="1" bits="31:7"/>{HERE}</struct>',
                           "field b overlaps field a")

    def test_word_without_a_name_is_refused(self):
        self.refuse_format(f'<struct name="q" words="2">{HERE}\n'
                           '<field name="a" word="0" bits="31:0"/></struct>',
                           "bits 63:32 belong to no field")

    def test_field_beyond_the_structure_is_refused(self):
        self.refuse_format('<struct name="q" words="1">\n'
                           f'<field name="a" word="0" bits="32:0"/>{HERE}</struct>',
                           "reaches outside")

    def test_repetition_beyond_the_structure_is_refused(self):
        self.refuse_format('<struct name="q" words="1">\n'
                           f'<field name="a" word="0" bits="7:0" count="5"/>{HERE}</struct>',
                           "reach outside")

    def test_field_over_64_bits_is_refused(self):
        self.refuse_format('<struct name="q" words="3">\n'
                           f'<field name="a" word="0" bits="64:0"/>{HERE}\n'
                           '<reserved word="0" bits="95:65"/></struct>', "widest field is 64")

    def test_ill_typed_fields_are_refused(self):
        cases = [
            ('type="bool"', "a bool is one bit"),
            ('type="const"', "needs the attribute 'value'"),
            ('type="const" value="0x100000000"', "too big for 32 bits"),
            ('type="enum"', "needs the attribute 'enum'"),
            ('type="bool" enum="kind"', "an enum on a field of type bool"),
            ('value="3"', "only type=\"const\" has a value"),
            ('type="int" shift="2"', "shift on a field of type int"),
            ('type="address" shift="40"', "exceed 64 bits"),
            ('type="word"', "is not one of"),
        ]
        for attrs, message in cases:
            with self.subTest(attrs=attrs):
                self.refuse_format('<struct name="q" words="1">\n'
                                   f'<field name="a" word="0" bits="31:0" {attrs}/>{HERE}'
                                   '</struct>', message)

    def test_unsound_defaults_are_refused(self):
        for field, message in (
                ('name="v" type="float" default="1"', "is not a number with a dot"),
                ('name="v" type="number" default="1"', "has no default"),
                ('name="v" default="kind.Z"', "is not a value of an enum"),
                ('name="v" default="nothing.X"', "is not a value of an enum"),
                ('name="v" default="0x100000000"', "too big for 32 bits"),
                ('name="v" default="one"', "default")):
            with self.subTest(field=field):
                self.refuse_format('<struct name="t" words="1">\n'
                                   f'<field {field} word="0" bits="31:0"/>{HERE}</struct>',
                                   message)

    def test_member_named_as_a_c_keyword_is_refused(self):
        self.refuse_format('<struct name="q" words="1">\n'
                           f'<field name="default" word="0" bits="31:0"/>{HERE}</struct>',
                           "C keyword")

    def test_duplicate_struct_is_refused(self):
        self.refuse_format(f'<struct name="go" words="1">{HERE}'
                           '<reserved word="0" bits="31:0"/></struct>', "struct go is already")

    def test_invalid_streams_are_refused(self):
        other = ('<struct name="other" words="1"><field name="type" word="0" bits="30:28" '
                 'type="const" value="1"/><reserved word="0" bits="27:0"/>'
                 '<reserved word="0" bits="31"/></struct>')
        twin = ('<struct name="twin" words="1"><field name="type" word="0" bits="31:28" '
                'type="const" value="5"/><reserved word="0" bits="27:0"/></struct>')
        cases = [("", "none", "unknown struct none"), ("", "entry", "has no const field 'type'"),
                 (other, "other", "struct other has its type at bits 30:28"),
                 (twin, "twin", "type in stream q: 0x5 is already defined")]
        for extra, name, message in cases:
            with self.subTest(name=name):
                self.refuse_format(f'{extra}<stream name="q"><cmd struct="go"/>\n'
                                   f'<cmd struct="{name}"/>{HERE}</stream>', message)


class Clients(ContractCase):
    """Clients of memory, in formats.xml."""

    def setUp(self):
        super().setUp()
        self.put("registers.xml", REGISTERS % ("", UNITS))

    def refuse_client(self, attrs, message):
        """Refuse a further row."""
        self.refuse_format(PATHS + CLIENTS % f"<client {attrs}/>{HERE}", message)

    def test_valid_clients_are_accepted(self):
        self.put("formats.xml", FORMATS % (PATHS + CLIENTS % ""))
        self.assertEqual(self.generate().stderr, "")

    def test_unknown_words_are_refused(self):
        good = {"name": "X", "unit": "U", "access": "exec", "path": "near", "slc": "cached",
                "doc": "text", "kind": "0"}
        cases = [
            ("unit", "W", 'unit="W" is not a value of enum unit'),
            ("access", "write", 'access="write" is not a value of enum access'),
            ("path", "up", 'path="up" is not a value of enum mem_path'),
            ("slc", "often", 'slc="often" is not a value of enum mem_slc'),
            ("kind", "2", 'kind="2" is not in 0x0..0x1'),
            ("name", "1X", "is not an identifier"),
        ]
        for attr, value, message in cases:
            with self.subTest(attr=attr):
                row = {**good, attr: value}
                self.refuse_client(" ".join(f'{k}="{v}"' for k, v in row.items()), message)
        for attr in ("access", "path", "slc", "doc", "name"):
            with self.subTest(missing=attr):
                row = {k: v for k, v in good.items() if k != attr}
                self.refuse_client(" ".join(f'{k}="{v}"' for k, v in row.items()),
                                   f"<client> needs the attribute '{attr}'")

    def test_two_rows_of_a_name_are_refused(self):
        self.refuse_client('name="list" unit="U" access="exec" path="far" slc="cached" doc="x"',
                           "client LIST is already defined")

    def test_two_rows_for_the_same_requests_are_refused(self):
        rest = 'path="far" slc="cached" doc="x"'
        for key, message in (
                ('unit="U" access="read" kind="1"', "unit U, access READ, kind 1"),
                ('unit="U" access="read"', "unit U, access READ, kind 1"),
                ('unit="V" access="exec" kind="0"', "unit V, access EXEC, kind 0")):
            with self.subTest(key=key):
                self.refuse_client(f'name="X" {key} {rest}', f"client of {message} is already")

    def test_a_unit_without_a_client_is_refused(self):
        text = CLIENTS.replace("<clients>", f"<clients>{HERE}").replace('unit="V"', 'unit="U"')
        self.refuse_format(PATHS + text % "", "unit V has no client")

    def test_a_second_table_is_refused(self):
        self.refuse_format(PATHS + CLIENTS % "" + f"\n<clients>{HERE}</clients>",
                           "<clients> is already defined")

    def test_clients_without_their_enumerations_are_refused(self):
        row = f'<client name="X" access="read" path="near" slc="cached" doc="x"/>{HERE}'
        for paths, message in (("", "path: there is no enum mem_path"),
                               (PATHS.split("\n", maxsplit=1)[0], "slc: there is no enum mem_slc")):
            self.refuse_format(f"{paths}<clients>\n{row}</clients>", message)


class Isa(ContractCase):
    """isa.xml"""

    def test_duplicate_opcode_is_refused(self):
        self.refuse_isa(f'<op name="x" opcode="0x10" layout="two"/>{HERE}',
                        "opcode in isa t: 0x10 is already defined")

    def test_duplicate_op_name_is_refused(self):
        self.refuse_isa(f'<op name="add" opcode="0x20" layout="two"/>{HERE}',
                        "op in isa t: add is already defined")

    def test_opcode_too_big_is_refused(self):
        self.refuse_isa(f'<op name="x" opcode="0x100" layout="two"/>{HERE}', "too big for 8 bits")

    def test_layout_overlap_is_refused(self):
        self.refuse_isa('<layout name="x"><field name="opcode" bits="7:0"/>\n'
                        f'<field name="y" bits="31:7"/>{HERE}<reserved bits="127:32"/></layout>',
                        "field y overlaps field opcode")

    def test_layout_gap_is_refused(self):
        self.refuse_isa(f'<layout name="x">{HERE}<field name="opcode" bits="7:0"/>\n'
                        '<reserved bits="127:64"/></layout>', "bits 63:8")

    def test_opcode_at_another_place_is_refused(self):
        self.refuse_isa('<layout name="x">\n'
                        f'<field name="opcode" bits="8:1"/>{HERE}<reserved bits="0"/>'
                        '<reserved bits="127:9"/></layout>', "the first layout at bits 7:0")

    def test_layout_without_opcode_is_refused(self):
        self.refuse_isa(f'<layout name="x">{HERE}<reserved bits="127:0"/></layout>',
                        "has no field 'opcode'")

    def test_invalid_ops_are_refused(self):
        one = 'layout="one" types="u32" forms="vector"'
        cases = [
            ('layout="three"', "unknown layout three"),
            (f'{one} operands="wide:num"', "operand field wide is not in layout one"),
            (f'{one} operands="dst:what"', "unknown operand class 'what'"),
            (f'{one} operands="dst:num dst:num"', "named twice"),
            ('layout="one" types="f64" forms="vector"', "unknown type f64"),
            ('layout="one" types="u32" forms="matrix"', "unknown form matrix"),
            ('layout="one" forms="vector"', "needs the attribute 'types'"),
            ('layout="two" types="f32"', "type f32 cannot be encoded"),
            (f'{one} scalar_operands="dst:reg"', "scalar_operands without the form scalar"),
        ]
        for attrs, message in cases:
            with self.subTest(message=message):
                self.refuse_isa(f'<op name="x" opcode="0x20" {attrs}/>{HERE}', message)

    def test_more_forms_than_the_tables_hold_are_refused(self):
        self.refuse("isa.xml", f'<isa name="q" word_bits="128">{HERE}\n'
                               '<enum name="q_form"><value name="X" value="2"/></enum></isa>',
                    "enum q_form has a value above 1")

    def test_isa_without_layouts_is_refused(self):
        self.refuse("isa.xml", f'<isa name="q" word_bits="128">{HERE}</isa>', "has no layouts")

    def test_unknown_bank_is_refused(self):
        self.refuse_isa(f'<class name="x" full="Q"/>{HERE}', "unknown register bank Q")

    def test_special_twice_is_refused(self):
        self.refuse_isa(f'<special bank="R" number="9" name="x" value="0"/>{HERE}',
                        "R 9 is already defined")

    def test_special_outside_of_the_blocks_of_its_bank_is_refused(self):
        isa = ('<isa name="q" word_bits="128"><enum name="q_bank"><value name="SC" value="1"/>'
               '<value name="SR" value="2"/></enum><layout name="x"><field name="opcode" bits="7:0"/>'
               '<reserved bits="127:8"/></layout>{}</isa>')
        for special, message in (
                ('<special bank="SC" number="32" name="x" value="0"/>', "in a block of bank SR"),
                ('<special bank="SR" number="3" name="x" value="a"/>', "in a block of bank SC"),
                ('<special bank="SR" number="9" space="64" name="x" value="a"/>',
                 "in a block of bank SC"),
                ('<special bank="SC" number="240" name="x" value="0"/>', "space of 240")):
            self.refuse("isa.xml", isa.format(special + HERE), message)

    def test_special_value_that_is_not_an_expression_is_refused(self):
        self.refuse_isa(f'<special bank="R" number="8" name="x" value="l +"/>{HERE}',
                        "not an expression")

    def test_same_field_name_of_another_type_is_refused(self):
        self.refuse_isa('<layout name="x"><field name="opcode" bits="7:0"/>\n'
                        f'<field name="dst" bits="8" type="bool"/>{HERE}'
                        '<reserved bits="127:9"/></layout>', "of another type")


class Sound(ContractCase):
    """The contract that all other tests invalidate is itself accepted."""

    def test_valid_contract_is_accepted(self):
        done = self.generate()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("%s", REGISTERS % ("", "") + FORMATS % "" + ISA % "")


if __name__ == "__main__":
    unittest.main()
