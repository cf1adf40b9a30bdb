// SPDX-License-Identifier: MIT
/*
 * Seeded errors of programs with three and more waves, or by the order of two waves: as in
 * programs.c. Local memory has data in word 0, and in word 1 a flag that waves set after their
 * fence, and that others wait for.
 */
#include "zoo.h"

/* Wave 0 clears both words; instructions 6 to 10. r10 is 1. */
#define CLEAR \
	"mov r10, [one], 1\n" \
	"brnz ready, r1[0]\n" \
	"local_store32 [one], r9, r9\n" \
	"local_store32 [one], r9 + 4, r9\n" \
	"ready:\n" \
	"barrier\n"

/* Wave 0 stores, wave 1 loads, with an operation on caches between the store and the flag. */
#define CACHE_OPERATION \
	.program = CLEAR \
		   "brnz other, r1[0]\n" \
		   "local_store32 [one], r9, r1\n" \
		   "%s" \
		   "local_atomic.u32 add, r5, [one], r9 + 4, r10\n" \
		   "jump done\n" \
		   "other:\n" \
		   "local_atomic.u32 add, r5, [one], r9 + 4, r9\n" \
		   "brz other, r5[0]\n" \
		   "mem_fence group\n" \
		   "local_load32 r4, [one], r9\n" \
		   "done:\n", \
	.wrong = "mov r8, [one], 0\n", \
	.finding = "local-race", .place = "\"access\":\"read\",\"local\":0", \
	.instruction = 19, .other = 12

const struct zoo_error zoo_waves[] = {
	{
		.name = "masked_store_to_a_word_of_another_wave",
		.program = "xor.u32 r3, r1, 128\n"
			   "local_store32 [one], r1, r1\n"
			   "%s",
		.right = "local_store32 [r9], r3, r1\n",
		.wrong = "local_store32 [one], r3, r1\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":128",
		.instruction = 7, .other = 8,
	}, {
		.name = "store_to_a_sum_that_another_wave_adds_to",
		.program = "local_store32 [one], r1, r9\n"
			   "barrier\n"
			   "brz other, r1[0]\n"
			   "local_atomic.u32 add, r5, [one], r9, r1\n"
			   "jump done\n"
			   "other:\n"
			   "%s"
			   "done:\n",
		.right = "local_atomic.u32 add, r5, [one], r9, r1\n",
		.wrong = "local_store32 [one], r9, r1\n",
		.finding = "local-race", .place = "\"access\":\"write\",\"local\":0",
		.instruction = 11, .other = 9,
	}, {
		/* Wave 0 stores and meets wave 1, whose fence and flag wave 4 waits for. */
		.name = "no_fence_of_the_wave_that_has_met_the_storing_one",
		.instances = 160,
		.program = CLEAR
			   "eq.u32 r6, r1, 512\n"
			   "brnz last, r6[0]\n"
			   "brnz meet, r1[0]\n"
			   "local_store32 [one], r9, r1\n"
			   "meet:\n"
			   "mov sl0, 7\n"
			   "eq.u32 r6, r1, 128\n"
			   "brz done, r6[0]\n"
			   "%s"
			   "local_atomic.u32 add, r5, [one], r9 + 4, r10\n"
			   "jump done\n"
			   "last:\n"
			   "local_atomic.u32 add, r5, [one], r9 + 4, r9\n"
			   "brz last, r5[0]\n"
			   "mem_fence group\n"
			   "local_load32 r4, [one], r9\n"
			   "done:\n",
		.right = "mem_fence group\n",
		.wrong = "mov r8, [one], 0\n",
		.finding = "local-race", .place = "\"access\":\"read\",\"local\":0",
		.instruction = 24, .other = 14,
	}, {
		/* Wave 4 stores, wave 1 waits for its flag and then meets wave 2, which loads. */
		.name = "wave_that_does_not_meet_the_one_after_the_fence",
		.instances = 160,
		.program = CLEAR
			   "eq.u32 r6, r1, 512\n"
			   "brnz first, r6[0]\n"
			   "eq.u32 r6, r1, 128\n"
			   "brz meet, r6[0]\n"
			   "wait:\n"
			   "local_atomic.u32 add, r5, [one], r9 + 4, r9\n"
			   "brz wait, r5[0]\n"
			   "mem_fence group\n"
			   "meet:\n"
			   "%s"
			   "eq.u32 r6, r1, 256\n"
			   "brz done, r6[0]\n"
			   "local_load32 r4, [one], r9\n"
			   "jump done\n"
			   "first:\n"
			   "local_store32 [one], r9, r1\n"
			   "mem_fence group\n"
			   "local_atomic.u32 add, r5, [one], r9 + 4, r10\n"
			   "done:\n",
		.right = "mov sl0, 7\n",
		.wrong = "mov r8, [one], 0\n",
		.finding = "local-race", .place = "\"access\":\"read\",\"local\":0",
		.instruction = 21, .other = 23,
	}, {
		/* Wave 1 loads twice, and after wave 0: wave 2 stores, and is after wave 1 only. */
		.name = "store_after_one_of_two_readers",
		.instances = 96,
		.program = CLEAR
			   "eq.u32 r6, r1, 256\n"
			   "brnz last, r6[0]\n"
			   "local_load32 r4, [one], r9\n"
			   "brnz again, r1[0]\n"
			   "%s"
			   "jump count\n"
			   "again:\n"
			   "local_load32 r4, [one], r9\n"
			   "mem_fence group\n"
			   "count:\n"
			   "local_atomic.u32 add, r5, [one], r9 + 4, r10\n"
			   "jump done\n"
			   "last:\n"
			   "local_atomic.u32 add, r5, [one], r9 + 4, r9\n"
			   "lt.u32 r6, r5, 64\n"
			   "brnz last, r6[0]\n"
			   "mem_fence group\n"
			   "local_store32 [one], r9, r1\n"
			   "done:\n",
		.right = "mem_fence group\n",
		.wrong = "mov r8, [one], 0\n",
		.finding = "local-race",
		.place = "{\"instruction\":13,\"wave\":0,\"access\":\"read\"",
		.instruction = 25, .other = 13,
	}, {
		.name = "cache_clean_orders_waves", CACHE_OPERATION,
		.right = "cache_clean group\n",
	}, {
		.name = "cache_invalidate_orders_waves", CACHE_OPERATION,
		.right = "cache_invalidate group\n",
	}, {
		.name = "cache_clean_range_orders_waves", CACHE_OPERATION,
		.right = "cache_clean_range group, sh0, 64\n",
	}, {
		.name = "cache_invalidate_range_orders_waves", CACHE_OPERATION,
		.right = "cache_invalidate_range group, sh0, 64\n",
	},
};

const uint32_t zoo_wave_count = sizeof(zoo_waves) / sizeof(zoo_waves[0]);
