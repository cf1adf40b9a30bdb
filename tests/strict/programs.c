// SPDX-License-Identifier: MIT
/*
 * Seeded errors of programs.
 *
 * Each runs after the six instructions of PREAMBLE in zoo.c, in one work-group of two waves: sh0
 * and sh1 are the address of a buffer, sh2 and sh3 that of one that is mapped read only, and r1 is
 * the byte offset of the instance's word. r9 is 0.
 */
#include "zoo.h"

const struct zoo_error zoo_errors[] = {
	{
		.name = "wait_for_another_signal",
		.program = "global_load32 sig3, r7, [one], sh0 + r1\n"
			   "%s"
			   "add.u32 r8, r7, 1\n",
		.right = "sig_wait r2[0], sig3\n",
		.wrong = "sig_wait r2[0], sig2\n",
		.finding = "late-data", .place = "\"register\":\"r7\",\"signal\":3",
		.instruction = 8, .other = ZOO_NONE,
	}, {
		.name = "destination_written_before_the_wait",
		.program = "global_load32 sig3, r7, [one], sh0 + r1\n"
			   "%s"
			   "mov r7, [one], r1\n",
		.right = "sig_wait r2[0], sig3\n",
		.wrong = "sig_wait r2[0], sig2\n",
		.finding = "late-data", .place = "\"register\":\"r7\",\"signal\":3",
		.instruction = 8, .other = ZOO_NONE,
	}, {
		.name = "shared_register_read_before_the_wait",
		.program = "shared_load sig4, sh6, sh0, 3\n"
			   "%s"
			   "mov r8, [one], sh7\n",
		.right = "sig_wait r2[0], sig4\n",
		.wrong = "sig_wait r2[0], sig2\n",
		.finding = "late-data", .place = "\"register\":\"sh7\",\"signal\":4",
		.instruction = 8, .other = ZOO_NONE,
	}, {
		.name = "local_memory_read_before_the_wait",
		.program = "group_load sig1, r9[0], sh0, 64\n"
			   "%s"
			   "local_load32 r8, [one], r1\n",
		.right = "sig_wait r2[0], sig1\n",
		.wrong = "sig_wait r2[0], sig2\n",
		.finding = "late-data", .place = "\"local\":0,\"signal\":1",
		.instruction = 8, .other = ZOO_NONE,
	}, {
		.name = "source_of_a_copy_written_before_the_wait",
		.program = "local_store32 [one], r1, r1\n"
			   "barrier\n"
			   "group_store sig1, r9[0], sh0, 64\n"
			   "%s"
			   "local_store32 [one], r1, r1\n",
		.right = "sig_wait r2[0], sig1\n",
		.wrong = "sig_wait r2[0], sig2\n",
		.finding = "late-data", .place = "\"local\":0,\"signal\":1",
		.instruction = 10, .other = ZOO_NONE,
	}, {
		.name = "no_wait_for_a_store_before_the_barrier",
		.program = "global_store32 sig1, [one], sh0 + r1, r1\n"
			   "%s"
			   "barrier\n"
			   "xor.u32 r3, r1, 128\n"
			   "global_load32 sig2, r4, [one], sh0 + r3\n",
		.right = "sig_wait r2[0], sig1\n",
		.wrong = "sig_wait r2[0], sig2\n",
		.finding = "late-data", .place = ",\"signal\":1,\"label\":\"words\",",
		.instruction = 10, .other = ZOO_NONE,
	}, {
		.name = "no_barrier_between_store_and_load",
		.program = "local_store32 [one], r1, r1\n"
			   "barrier\n"
			   "local_store32 [one], r1, r1\n"
			   "%s"
			   "xor.u32 r3, r1, 128\n"
			   "local_load32 r4, [one], r3\n",
		.right = "barrier\n",
		.wrong = "mov r8, [one], 0\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":0",
		.instruction = 8, .other = 11,
	}, {
		.name = "no_barrier_between_load_and_store",
		.program = "local_store32 [one], r1, r1\n"
			   "barrier\n"
			   "xor.u32 r3, r1, 128\n"
			   "local_load32 r4, [one], r3\n"
			   "%s"
			   "local_store32 [one], r1, r4\n",
		.right = "barrier\n",
		.wrong = "mov r8, [one], 0\n",
		.finding = "local-race", .place = "\"access\":\"read\",\"local\":128",
		.instruction = 9, .other = 11,
	}, {
		.name = "all_lanes_store_to_one_word",
		.program = "%s",
		.right = "local_store32 [one], r1, r1\n",
		.wrong = "local_store32 [one], r9, r1\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":0",
		.instruction = 6, .other = 6,
	}, {
		.name = "a_byte_of_the_next_wave",
		.program = "shr.u32 r3, r1, 2\n"
			   "%s",
		.right = "local_store8 [one], r3, r1\n",
		.wrong = "local_store8 [one], r3 + 1, r1\n"
			 "local_store8 [one], r3, r1\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":32",
		.instruction = 8, .other = 7,
	}, {
		.name = "load_of_a_sum_that_others_add_to",
		.program = "local_store32 [one], r1, r9\n"
			   "barrier\n"
			   "local_atomic.u32 add, r5, [one], r9, r1\n"
			   "%s"
			   "local_load32 r4, [one], r9\n",
		.right = "barrier\n",
		.wrong = "mov r8, [one], 0\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":0",
		.instruction = 8, .other = 10,
	}, {
		.name = "store_after_the_fence",
		.program = "local_store32 [one], r1, r1\n"
			   "mem_fence group\n"
			   "%s"
			   "xor.u32 r3, r1, 128\n"
			   "brz over, r1[0]\n"
			   "local_load32 r4, [one], r3\n"
			   "over:\n",
		.right = "barrier\n",
		.wrong = "local_store32 [one], r1, r1\n",
		.finding = "local-race", .place = "\"access\":\"read\",\"local\":0",
		.instruction = 11, .other = 8,
	}, {
		.name = "store_after_a_fence_of_both",
		.program = "%s"
			   "mem_fence group\n"
			   "xor.u32 r3, r1, 128\n"
			   "brz over, r1[0]\n"
			   "local_load32 r4, [one], r3\n"
			   "over:\n",
		.right = "local_store32 [one], r1, r1\n",
		.wrong = "local_store32 [one], r9, r1\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":0",
		.instruction = 6, .other = 6,
	}, {
		.name = "store_before_a_copy",
		.program = "%s"
			   "group_store sig1, r9[0], sh0, 64\n"
			   "xor.u32 r3, r1, 128\n"
			   "local_load32 r4, [one], r3\n"
			   "sig_wait r2[0], sig1\n",
		.right = "local_store32 [one], r1, r1\n",
		.wrong = "local_store32 [one], r9, r1\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":0",
		.instruction = 6, .other = 6,
	}, {
		.name = "slot_register_written_before_the_store",
		.program = "%s"
			   "mov sl0, 7\n"
			   "xor.u32 r3, r1, 128\n"
			   "local_load32 r4, [one], r3\n",
		.right = "local_store32 [one], r1, r1\n",
		.wrong = "local_store32 [one], r9, r1\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":0",
		.instruction = 6, .other = 6,
	}, {
		.name = "barrier_in_the_path_of_one_wave",
		.program = "brz over, r1[0]\n"
			   "mov r8, [one], 0\n"
			   "%s",
		.right = "over:\nbarrier\n",
		.wrong = "barrier\nover:\n",
		.finding = "divergent-barrier", .place = "\"wave\":1",
		.instruction = 8, .other = 9,
	}, {
		.name = "barriers_of_two_paths",
		.program = "%s"
			   "barrier\n"
			   "jump join\n"
			   "other:\n"
			   "barrier\n"
			   "join:\n",
		.right = "mov r8, [one], 0\n",
		.wrong = "brz other, r1[0]\n",
		.finding = "unpaired-barrier", .place = "\"wave\":0",
		.instruction = 9, .other = 7,
	}, {
		.name = "store_to_a_read_only_buffer",
		.program = "%s",
		.right = "global_store32 sig0, [one], sh0 + r1, r1\n",
		.wrong = "global_store32 sig0, [one], sh2 + r1, r1\n",
		.finding = "read-only-store", .place = ",\"label\":\"words\",",
		.instruction = 6, .other = ZOO_NONE,
	}, {
		.name = "load_from_an_address_without_a_mapping",
		.program = "%s"
			   "global_load32 sig0, r7, [one], sh0 + r1\n",
		.right = "mov r8, [one], 0\n",
		.wrong = "mov sh1, 0x7e\n",
		.finding = "unmapped", .place = "\"access\":\"read\",\"va\":\"0x7e",
		.instruction = 7, .other = ZOO_NONE,
	}, {
		.name = "local_store_beyond_the_allocation",
		.program = "%s",
		.right = "local_store32 [one], r1, r1\n",
		.wrong = "local_store32 [one], r1 + 508, r1\n",
		.finding = "local-bounds", .place = "\"local\":512",
		.instruction = 6, .other = ZOO_NONE,
	}, {
		.name = "register_never_written",
		.program = "%s"
			   "global_store32 sig0, [one], sh0 + r1, r5\n",
		.right = "mov r5, [one], 7\n",
		.wrong = "mov r8, [one], 7\n",
		.finding = "uninitialised", .place = "\"access\":\"read\",\"register\":\"r5\"",
		.instruction = 7, .other = ZOO_NONE,
	}, {
		.name = "register_written_in_some_lanes",
		.program = "lt.u32 r4, r1, 64\n"
			   "%s"
			   "global_store32 sig0, [one], sh0 + r1, r5\n",
		.right = "mov r5, [one], 7\n",
		.wrong = "mov r5, [r4], 7\n",
		.finding = "uninitialised", .place = "\"wave\":0,\"lane\":16",
		.instruction = 8, .other = ZOO_NONE,
	}, {
		.name = "lanes_without_a_value_are_stored",
		.program = "lt.u32 r4, r1, 64\n"
			   "mov r5, [r4], 7\n"
			   "add.u32 r6, r5, 1\n"
			   "select r6, [!r4], r6, r6\n"
			   "%s",
		.right = "global_store32 sig0, [r4], sh0 + r1, r6\n",
		.wrong = "global_store32 sig0, [one], sh0 + r1, r6\n",
		.finding = "uninitialised", .place = "\"register\":\"r5\"",
		.instruction = 8, .other = 10,
	}, {
		.name = "lane_that_select_does_not_read",
		.program = "lt.u32 r4, r1, 64\n"
			   "mov r5, [r4], 7\n"
			   "%s"
			   "global_store32 sig0, [one], sh0 + r1, r6\n",
		.right = "select r6, [r4], 3, r5\n",
		.wrong = "select r6, [r4], r5, 3\n",
		.finding = "uninitialised", .place = "\"register\":\"r5\"",
		.instruction = 8, .other = 9,
	}, {
		.name = "mask_that_no_other_decides",
		.program = "lt.u32 r4, r1, 64\n"
			   "mov r5, [r4], 1\n"
			   "%s"
			   "global_store32 sig0, [r6], sh0 + r1, r1\n",
		.right = "and.u32 r6, r4, r5\n",
		.wrong = "or.u32 r6, r4, r5\n",
		.finding = "uninitialised", .place = "\"register\":\"r5\"",
		.instruction = 8, .other = 9,
	}, {
		.name = "lanes_moved_by_a_mask_without_a_value",
		.program = "lt.u32 r4, r1, 64\n"
			   "mov r5, [r4], 1\n"
			   "mov r6, [one], 0\n"
			   "mov r6, [r5], 9\n"
			   "%s",
		.right = "global_store32 sig0, [r4], sh0 + r1, r6\n",
		.wrong = "global_store32 sig0, [one], sh0 + r1, r6\n",
		.finding = "uninitialised", .place = "\"register\":\"r5\"",
		.instruction = 9, .other = 10,
	}, {
		.name = "second_mask_where_the_first_is_true",
		.program = "lt.u32 r4, r1, 64\n"
			   "mov r5, [r4], 1\n"
			   "%s",
		.right = "global_store32 sig0, [r4 & r5], sh0 + r1, r1\n",
		.wrong = "global_store32 sig0, [!r4 & r5], sh0 + r1, r1\n",
		.finding = "uninitialised", .place = "\"register\":\"r5\"",
		.instruction = 8, .other = ZOO_NONE,
	}, {
		/* Of r5 the lanes are missing that the program does not use. */
		.name = "register_never_written_after_one_of_some_lanes",
		.program = "lt.u32 r4, r1, 64\n"
			   "mov r5, [r4], 1\n"
			   "%s"
			   "add.u32 r6, r5, r7\n"
			   "global_store32 sig0, [r4], sh0 + r1, r6\n",
		.right = "mov r7, [one], 1\n",
		.wrong = "mov r8, [one], 1\n",
		.finding = "uninitialised", .place = "\"register\":\"r7\"",
		.instruction = 9, .other = 10,
	}, {
		.name = "branch_by_a_register_never_written",
		.program = "%s"
			   "brz over, r7[0]\n"
			   "mov r8, [one], 1\n"
			   "over:\n",
		.right = "mov r7[0], 1\n",
		.wrong = "mov r6[0], 1\n",
		.finding = "uninitialised", .place = "\"register\":\"r7\"",
		.instruction = 7, .other = ZOO_NONE,
	}, {
		.name = "index_never_written",
		.program = "%s"
			   "mov r2, [one], 3\n"
			   "mov r8, [one], r[idx1 + 2]\n",
		.right = "mov idx1, [one], 0\n",
		.wrong = "mov idx0, [one], 0\n",
		.finding = "uninitialised", .place = "\"register\":\"idx1\"",
		.instruction = 8, .other = ZOO_NONE,
	}, {
		.name = "word_of_local_memory_never_written",
		.program = "%s"
			   "local_load32 r4, [one], r1 + 128\n",
		.right = "local_store32 [one], r1 + 128, r1\n",
		.wrong = "local_store32 [one], r1 + 132, r1\n",
		.finding = "uninitialised", .place = "\"access\":\"read\",\"local\":128",
		.instruction = 7, .other = ZOO_NONE,
	}, {
		.name = "copy_of_local_memory_never_written",
		.program = "%s"
			   "barrier\n"
			   "group_store sig1, r9[0], sh0, 64\n"
			   "sig_wait r2[0], sig1\n",
		.right = "local_store32 [one], r1, r1\n",
		.wrong = "local_store32 [one], r1 + 4, r1\n",
		.finding = "uninitialised", .place = "\"access\":\"read\",\"local\":0",
		.instruction = 8, .other = ZOO_NONE,
	}, {
		.name = "copy_to_other_words_of_local_memory",
		.program = "%s"
			   "sig_wait r2[0], sig1\n"
			   "local_load32 r4, [one], r1\n",
		.right = "group_load sig1, r9[0], sh0, 64\n",
		.wrong = "group_load sig1, r9[0], sh0, 32\n",
		.finding = "uninitialised", .place = "\"access\":\"read\",\"local\":128",
		.instruction = 8, .other = ZOO_NONE,
	},
};

const uint32_t zoo_error_count = sizeof(zoo_errors) / sizeof(zoo_errors[0]);
