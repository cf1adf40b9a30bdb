#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pumice-decode PROGRAM: what it shows for known words, and how it refuses bad
# input. The expected texts follow from hw/*.xml by hand.

decode=$1
cases=0
failed=0

# check NAME STATUS TEXT ARGUMENT…: the exit status, and a text that the output holds.
check() {
	name=$1 status=$2 text=$3
	shift 3
	cases=$((cases + 1))
	out=$("$decode" "$@" 2>&1)
	got=$?
	if [ $got -eq "$status" ] && printf '%s' "$out" | grep -qF -- "$text"; then
		echo "ok $cases - $name"
	else
		failed=1
		echo "not ok $cases - $name"
		printf 'status %s\n%s\n' $got "$out" | sed 's/^/# /'
	fi
}

check a_register_is_named 0 "write CDM_STATUS = 0x00000200" reg 0x5010 0x200
check an_enumerated_field_has_its_word 0 "FAULT = mmu-address (2)" reg 0x5010 0x200
check an_unknown_register_is_said_to_be 0 "unknown register 0x9998" reg 0x9998 1
check a_64_bit_register_is_one_value 0 "ENABLE = true" reg64 0x3000 0x12345600002001
check a_table_entry_is_unpacked 0 "addr = 0x0012345000" mmu_pt_entry 0x12345003 0
check a_stream_is_walked 0 "cdm_halt" stream 0x50000000 0x60000000
check a_vertex_stream_is_walked 0 "vdm_halt" vdm 0x90000000
check a_transfer_stream_is_walked 0 "tdm_halt" tdm 0x70000000
check an_unknown_command_is_an_error 1 "unknown cdm command" stream 0xf0000000
check a_cut_off_command_is_an_error 1 "" stream 0x20000000 1
check an_instruction_is_text 0 "end" usc 0x6f 0 0 0
check an_illegal_instruction_is_an_error 1 ".word" usc 0xff 0 0 0
check a_pds_instruction_is_text 0 "end" pds 5 0 0 0
check half_an_instruction_is_an_error 1 "no whole number of instructions" usc 1 2 3
check an_unknown_structure_is_an_error 1 "no such structure" wheel 1
check a_word_that_is_no_number_is_an_error 1 "no 32-bit number" stream 0x1g
check a_word_above_32_bits_is_an_error 1 "no 32-bit number" stream 0x100000000
check a_missing_file_is_an_error 1 "No such file" stream -f /nonexistent
check nothing_to_do_is_an_error 1 "usage:"
echo "1..$cases"
exit $failed
