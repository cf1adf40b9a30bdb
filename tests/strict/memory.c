// SPDX-License-Identifier: MIT
/*
 * Seeded errors of programs: races in memory between waves, work-groups and launches, and lanes
 * that write one shared register. As in programs.c; memory is 0 at first.
 */
#include "zoo.h"

/*
 * Each of two work-groups of one wave stores its words, and adds 1 for each instance to the word at
 * byte 2048. The last one loads the words of the other. Instructions 6 to 21.
 */
#define LAST_GROUP \
	"mov r10, [one], 1\n" \
	"mov r11, [one], 2048\n" \
	"mov r3, [one], sh4\n" \
	"shl.u32 r3, r3, 7\n" \
	"add.u32 r3, r3, r1\n" \
	"global_store32 sig0, [one], sh0 + r3, r1\n" \
	"sig_wait r2[0], sig0\n" \
	"%s" \
	"global_atomic.u32 add, sig0, r5, [one], sh0 + r11, r10\n" \
	"sig_wait r2[0], sig0\n" \
	"lt.u32 r6, r5, 32\n" \
	"brnz done, r6[0]\n" \
	"mem_fence device\n" \
	"xor.u32 r3, r3, 128\n" \
	"global_load32 sig0, r4, [one], sh0 + r3\n" \
	"sig_wait r2[0], sig0\n" \
	"done:\n"

/* Wait until the counter of 32 instances at byte 2048 plus DISPLACEMENT has counted all. */
#define WAIT_FOR(label, displacement) \
	label ":\n" \
	"global_atomic.u32 add, sig0, r5, [one], sh0 + r11 + " displacement ", r9\n" \
	"sig_wait r2[0], sig0\n" \
	"lt.u32 r6, r5, 32\n" \
	"brnz " label ", r6[0]\n" \
	"mem_fence device\n"
/* The wave's accesses precede those of the one that waits. */
#define COUNT(displacement) \
	"mem_fence device\n" \
	"global_atomic.u32 add, sig0, r5, [one], sh0 + r11 + " displacement ", r10\n" \
	"sig_wait r2[0], sig0\n"
#define LOAD \
	"global_load32 sig0, r4, [one], sh0 + r1\n" \
	"sig_wait r2[0], sig0\n"
/*
 * The first work-group loads its words, and again after the second one, in another USC, has stored
 * them. Instructions 6 to 34; the second load is 23.
 */
#define LOAD_AGAIN \
	"mov r10, [one], 1\n" \
	"mov r11, [one], 2048\n" \
	"mov r3, [one], sh4\n" \
	"brnz second, r3[0]\n" \
	LOAD COUNT("0") WAIT_FOR("first_waits", "4") "%s" LOAD \
	"brnz done, r10[0]\n" \
	"second:\n" \
	WAIT_FOR("second_waits", "0") \
	"global_store32 sig0, [one], sh0 + r1, r10\n" \
	"sig_wait r2[0], sig0\n" \
	COUNT("4") \
	"done:\n"

const struct zoo_error zoo_memory[] = {
	{
		.name = "work_groups_store_to_the_same_words",
		.groups = 2,
		.program = "mov r3, [one], sh4\n"
			   "shl.u32 r3, r3, 8\n"
			   "add.u32 r3, r3, r1\n"
			   "%s"
			   "sig_wait r2[0], sig0\n",
		.right = "global_store32 sig0, [one], sh0 + r3, r1\n",
		.wrong = "global_store32 sig0, [one], sh0 + r1, r1\n",
		.finding = "global-race", .place = "\"access\":\"write\",\"va\":\"0x",
		.instruction = 9, .other = 9,
	}, {
		.name = "no_barrier_between_store_and_load_of_memory",
		.program = "global_store32 sig0, [one], sh0 + r1, r1\n"
			   "sig_wait r2[0], sig0\n"
			   "%s"
			   "xor.u32 r3, r1, 128\n"
			   "global_load32 sig0, r4, [one], sh0 + r3\n"
			   "sig_wait r2[0], sig0\n",
		.right = "barrier\n",
		.wrong = "mov r8, [one], 0\n",
		.finding = "global-race", .place = ",\"label\":\"words\",",
		.instruction = 10, .other = 6,
	}, {
		.name = "counter_read_without_an_atomic_operation",
		.groups = 2, .instances = 32,
		.program = "mov r10, [one], 1\n"
			   "global_atomic.u32 add, sig0, r5, [one], sh0 + r9, r10\n"
			   "sig_wait r2[0], sig0\n"
			   "%s"
			   "sig_wait r2[0], sig0\n",
		.right = "global_atomic.u32 add, sig0, r5, [one], sh0 + r9, r9\n",
		.wrong = "global_load32 sig0, r5, [one], sh0 + r9\n",
		.finding = "global-race", .place = "\"same_job\":true",
		.instruction = 7, .other = 9,
	}, {
		.name = "store_of_a_sum_without_a_comparison",
		.groups = 2, .instances = 32,
		.program = "eq.u32 r3, r1, 0\n"
			   "global_load32 sig0, r5, [r3], sh0 + r9\n"
			   "sig_wait r2[0], sig0\n"
			   "add.u32 r4, r5, 1\n"
			   "%s"
			   "sig_wait r2[0], sig0\n",
		.right = "global_atomic.u32 cmpxchg, sig0, r6, [r3], sh0 + r9, r4\n",
		.wrong = "global_store32 sig0, [r3], sh0 + r9, r4\n",
		.finding = "global-race", .place = "\"access\":\"read\",\"va\":\"0x",
		.instruction = 7, .other = 10,
	}, {
		.name = "last_work_group_after_a_fence_of_the_group",
		.groups = 2, .instances = 32, .program = LAST_GROUP,
		.right = "mem_fence device\n",
		.wrong = "mem_fence group\n",
		.finding = "global-race", .place = "\"access\":\"read\",\"va\":\"0x",
		.instruction = 20, .other = 11,
	}, {
		.name = "last_work_group_on_another_core_after_a_fence_of_the_core",
		.groups = 2, .instances = 32, .cores = 2, .program = LAST_GROUP,
		.right = "mem_fence device\n",
		.wrong = "mem_fence core\n",
		.finding = "global-race", .place = "\"access\":\"read\",\"va\":\"0x",
		.instruction = 20, .other = 11,
	}, {
		.name = "work_groups_copy_to_the_same_words",
		.groups = 2, .instances = 64,
		.program = "mov r3, [one], sh4\n"
			   "shl.u32 r3, r3, 8\n"
			   "mov sh8, 0\n"
			   "%s"
			   "group_store_shared sig0, sh8, sh0, 1\n"
			   "sig_wait r2[0], sig0\n"
			   "global_load32 sig0, r4, [one], sh0 + r9\n"
			   "sig_wait r2[0], sig0\n",
		.right = "add.u32 sh0, sh0, r3[0]\n",
		.wrong = "mov r4, [one], 0\n",
		.finding = "global-race", .place = ",\"label\":\"words\",",
		.instruction = 10, .other = 10,
	}, {
		.name = "burst_of_a_word_that_another_work_group_stores",
		.groups = 2, .instances = 32,
		.program = "mov r3, [one], sh4\n"
			   "shl.u32 r3, r3, 8\n"
			   "add.u32 r4, r3, r1\n"
			   "global_store32 sig0, [one], sh0 + r4, r1\n"
			   "sig_wait r2[0], sig0\n"
			   "%s"
			   "shared_load sig0, sh8, sh0, 1\n"
			   "sig_wait r2[0], sig0\n",
		.right = "add.u32 sh0, sh0, r3[0]\n",
		.wrong = "mov r4, [one], 0\n",
		.finding = "global-race", .place = "\"access\":\"read\",\"va\":\"0x",
		.instruction = 12, .other = 9,
	}, {
		.name = "no_invalidation_before_words_of_another_usc_are_loaded_again",
		.groups = 2, .instances = 32, .cores = 2, .program = LOAD_AGAIN,
		.right = "cache_invalidate core\n",
		.wrong = "cache_clean core\n",
		.finding = "stale-core", .place = "\"access\":\"read\",\"va\":\"0x",
		.instruction = 21, .other = ZOO_NONE,
	}, {
		.name = "invalidation_of_a_range_without_the_words",
		.groups = 2, .instances = 32, .cores = 2, .program = LOAD_AGAIN,
		.right = "cache_invalidate_range device, sh0, 32\n",
		.wrong = "cache_invalidate_range device, sh0 + 64, 16\n",
		.finding = "stale-core", .place = ",\"label\":\"words\",",
		.instruction = 21, .other = ZOO_NONE,
	}, {
		.name = "launches_without_a_fence",
		.launches = 2, .instances = 32,
		.program = "global_store32 sig0, [one], sh0 + r1, r1\n"
			   "sig_wait r2[0], sig0\n%s",
		.right = "", .wrong = "",
		.finding = "global-race", .place = "\"access\":\"write\",\"va\":\"0x",
		.instruction = 6, .other = 6,
	}, {
		.name = "launches_without_a_flush",
		.launches = 2, .flushes = true, .instances = 32,
		.program = "global_store32 sig0, [one], sh0 + r1, r1\n"
			   "sig_wait r2[0], sig0\n%s",
		.right = "", .wrong = "",
		.finding = "global-race", .place = "\"access\":\"write\",\"va\":\"0x",
		.instruction = 6, .other = 6,
	}, {
		.name = "lanes_write_one_shared_register",
		.instances = 32,
		.program = "shr.u32 r3, r1, 2\n"
			   "%s"
			   "mov idx0, [one], r3\n"
			   "mov sh[idx0 + 8], [one], r1\n"
			   "mov sh39, 0\n",
		.right = "mov r4, [one], 0\n",
		.wrong = "and.u32 r3, r3, 15\n",
		.finding = "clash", .place = "\"access\":\"write\",\"register\":\"sh23\"",
		.instruction = 9, .other = 9,
	}, {
		.name = "lanes_write_one_coefficient_register",
		.instances = 32,
		.program = "and.u32 r3, r1, 124\n"
			   "%s"
			   "mov idx0, [one], r3\n"
			   "mov cf[idx0 + 2], [one], r1\n"
			   "mov cf39, 0\n",
		.right = "shr.u32 r3, r3, 2\n",
		.wrong = "shr.u32 r3, r3, 3\n",
		.finding = "clash", .place = "\"access\":\"write\",\"register\":\"cf17\"",
		.instruction = 9, .other = 9,
	}, {
		.name = "lanes_write_one_alternate_coefficient_register",
		.instances = 32,
		.program = "and.u32 r3, r1, 124\n"
			   "%s"
			   "mov idx0, [one], r3\n"
			   "mov cfa[idx0 + 2], [one], r1\n"
			   "mov cfa39, 0\n",
		.right = "shr.u32 r3, r3, 2\n",
		.wrong = "shr.u32 r3, r3, 3\n",
		.finding = "clash", .place = "\"access\":\"write\",\"register\":\"cfa17\"",
		.instruction = 9, .other = 9,
	}, {
		.name = "lanes_write_one_value_to_a_shared_register",
		.instances = 32,
		.program = "mov idx0, [one], 3\n"
			   "%s"
			   "mov sh39, 0\n",
		.right = "mov sh[idx0 + 8], [one], r9\n",
		.wrong = "mov sh[idx0 + 8], [one], r1\n",
		.finding = "clash", .place = "\"lane\":0,",
		.instruction = 7, .other = 7,
	}, {
		.name = "masked_lanes_write_one_shared_register",
		.instances = 32,
		.program = "mov idx0, [one], 3\n"
			   "eq.u32 r4, r1, 8\n"
			   "%s"
			   "mov sh39, 0\n",
		.right = "mov sh[idx0 + 8], [r4], r1\n",
		.wrong = "mov sh[idx0 + 8], [!r4], r1\n",
		.finding = "clash", .place = "\"register\":\"sh11\"",
		.instruction = 8, .other = 8,
	},
};

const uint32_t zoo_memory_count = sizeof(zoo_memory) / sizeof(zoo_memory[0]);
