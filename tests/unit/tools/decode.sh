#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pumice-decode PROGRAM: its output for known words, and refusals of bad
# input. The expected texts were derived manually from hw/*.xml.

decode=$1
# shellcheck source-path=SCRIPTDIR source=../support/tap.sh
. "$(dirname "$0")/../support/tap.sh"

# shows NAME STATUS TEXT ARGUMENT…
shows() {
	name=$1 status=$2 text=$3
	shift 3
	check "$name" gives "$status" "$text" "$decode" "$@"
}

shows a_register_is_named 0 "write CDM_STATUS = 0x00000200" reg 0x5010 0x200
shows an_enumerated_field_has_its_word 0 "FAULT = mmu-address (2)" reg 0x5010 0x200
shows an_unknown_register_is_said_to_be 0 "unknown register 0x9998" reg 0x9998 1
shows a_64_bit_register_is_one_value 0 "ENABLE = true" reg64 0x3000 0x12345600002001
shows a_table_entry_is_unpacked 0 "addr = 0x0012345000" mmu_pt_entry 0x12345003 0
shows a_stream_is_walked 0 "cdm_halt" stream 0x50000000 0x60000000
shows a_vertex_stream_is_walked 0 "vdm_halt" vdm 0x90000000
shows a_render_list_is_walked 0 "pdm_store" pdm 0xf 0x1000 0 0x20031 2 0x13
shows a_tile_has_its_coordinates 0 "x = 3" pdm 0x20031
shows a_transfer_stream_is_walked 0 "tdm_halt" tdm 0x70000000
shows a_scaling_copy_has_its_filter 0 "filter = linear" tdm \
	0x80000a00 0x1000 0 0x2000 0 0 0x00080010 0 0x00100020 0 0x70000000
shows an_unknown_command_is_an_error 1 "unknown cdm command" stream 0xf0000000
shows a_cut_off_command_is_an_error 1 "" stream 0x20000000 1
shows an_instruction_is_text 0 "end" usc 0x6f 0 0 0
shows an_illegal_instruction_is_an_error 1 ".word" usc 0xff 0 0 0
shows a_word_of_a_listing_is_hexadecimal 0 "end" usc 0000006f 00000000 00000000 00000000
shows eight_digits_are_not_octal 0 "write CDM_STATUS = 0x00000200" reg 0x5010 01000
shows no_words_are_an_error 2 "stream: no words: write them on the command line" stream
shows an_empty_file_is_an_error 1 "/dev/null: no words" stream -f /dev/null
shows a_pds_instruction_is_text 0 "end" pds 5 0 0 0
shows half_an_instruction_is_an_error 1 "usc: 3 words; a multiple of 4 is required" usc 1 2 3
shows an_unknown_structure_is_an_error 2 "or the name of a structure" wheel 1
shows a_file_in_place_of_a_structure_is_an_error 2 "unknown word 'code.bin': WHAT is" code.bin
shows a_word_that_is_not_a_number_is_an_error 2 "a number of 32 bits" stream 0x1g
shows a_word_above_32_bits_is_an_error 2 "a number of 32 bits" stream 0x100000000
shows a_missing_file_is_an_error 1 "No such file" stream -f /nonexistent
shows nothing_to_do_is_an_error 2 "usage:"
tap_end
