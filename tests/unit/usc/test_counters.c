// SPDX-License-Identifier: MIT
/*
 * Performance counters against manually counted work of programs, and bank
 * conflicts against a count by sorting.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec.h"
#include "gen.h"
#include "perf.h"
#include "fixture.h"

#define DATA_BYTES 0x8000u
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct usc_program_limits limits = {
	.temps = 12, .attrs = 1, .shared = 2, .slot_regs = 2,
};

#define SL(n) usc_operand(PUMICE_USC_BANK_SL, (n), false)

/* All counters of this test. */
struct counts {
	u64 of[PUMICE_PERF_NUMBER];
};

static struct counts read_counts(struct fixture *fx)
{
	struct counts c = { 0 };

	usc_counters_add(fx->usc, c.of);
	usc_program_cache_counters_add(fx->cache, c.of);
	mmu_counters_add(&fx->mmu, c.of);
	return c;
}

static struct usc_program *make(struct fixture *fx, const struct pumice_usc_insn *code, u32 insns)
{
	struct usc_program *program = fx_program_insns(fx, code, insns, &limits);

	assert_non_null(program);
	return program;
}

/*
 * Run a group with the base of the data in SH0 and SH1, without forgetting counts; the difference.
 */
static struct counts run(struct fixture *fx, const struct fx_group *shape,
			 const struct pumice_usc_insn *code, u32 insns)
{
	struct usc_program *program = make(fx, code, insns);
	struct counts before = read_counts(fx), after;
	struct fx_group group = *shape;

	group.limits = limits;
	fx_clear(fx);
	fx_fill(fx, 0, &group, program);
	for (u32 t = 0; t < group.tasks; t++)
		fx_set_base(fx, t, FX_DATA);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1u << 16);
	fx_put(fx, program);
	after = read_counts(fx);
	for (u32 n = 0; n < PUMICE_PERF_NUMBER; n++)
		after.of[n] -= before.of[n];
	return after;
}

static struct fixture *create(bool detail)
{
	struct fixture *fx = fx_create(DATA_BYTES);

	usc_set_detail(fx->usc, detail);
	return fx;
}

/* One counter and its expected value. */
struct expect {
	enum pumice_perf_counter counter;
	u64 count;
};

#define EXPECT(name, n) { PUMICE_PERF_##name, n }

/* All others of those that the USC counts in detail are 0. */
static void check_detailed(const struct counts *c, const struct expect *expect, u32 count)
{
#define X(name, category, detailed, unit, text) [PUMICE_PERF_##name] = #name,
	static const char *const names[] = { PUMICE_PERF_COUNTERS(X) };
#undef X
#define X(name, category, is_detailed, unit, text) [PUMICE_PERF_##name] = is_detailed,
	static const bool detailed[] = { PUMICE_PERF_COUNTERS(X) };
#undef X
	u64 want[PUMICE_PERF_NUMBER] = { 0 };

	for (u32 n = 0; n < count; n++)
		want[expect[n].counter] = expect[n].count;
	for (u32 n = 0; n < PUMICE_PERF_NUMBER; n++) {
		if (detailed[n] && c->of[n] != want[n])
			fail_msg("%s is %llu, must be %llu", names[n], (unsigned long long)c->of[n],
				 (unsigned long long)want[n]);
	}
}

static const struct fx_group one_wave = {
	.tasks = 1, .instances = { PUMICE_LANES }, .local_bytes = 8192,
};

/* Each class, with pairs that the interpreter runs as one, and a loop. */
static u32 classes_code(struct pumice_usc_insn *code)
{
	const struct pumice_usc_insn body[] = {
		INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = IMM, .imm = 3),
		/* The loop, three iterations. */
		INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = K(SID)),
		INSN(CVT_F32, .dst = R(2), .src0 = R(1)),
		INSN(PACK16, .type = F32, .dst = R(3), .src0 = R(2), .src1 = R(2)),
		INSN(MUL, .type = F32, .dst = R(3), .src0 = R(2), .src1 = R(2)),
		INSN(ADD, .type = F32, .dst = R(4), .src0 = R(3), .src1 = R(2)),
		INSN(FMA, .type = F32, .dst = R(4), .src0 = R(3), .src1 = R(2), .src2 = R(2)),
		INSN(MUL, .dst = R(3), .src0 = R(1), .src1 = R(1)),
		INSN(POPCOUNT, .dst = R(3), .src0 = R(1)),
		INSN(LT, .type = I32, .dst = R(3), .src0 = R(1), .src1 = R(2)),
		INSN(RCP, .type = F32, .dst = R(4), .src0 = R(2)),
		INSN(SIN, .type = F32, .dst = R(4), .src0 = R(2)),
		INSN(SHUFFLE, .dst = R(4), .src0 = R(2), .src1 = R(1)),
		INSN(BALLOT, .dst = R_ELEM(4), .mask = ALWAYS),
		INSN(SCAN, .dst = R(4), .src0 = R(1)),
		INSN(SHL, .dst = R(5), .src0 = R(1), .src1 = IMM, .imm = 2),
		INSN(LOCAL_LOAD32, .dst = R(6), .mask = ALWAYS, .src0 = R(5)),
		INSN(LOCAL_LOAD32, .dst = R(7), .mask = ALWAYS, .src0 = R(5)),
		INSN(LOCAL_STORE8, .mask = ALWAYS, .src0 = R(5), .src1 = R(1)),
		INSN(LOCAL_ATOMIC, .dst = R(7), .mask = ALWAYS, .src0 = R(5), .src1 = R(1)),
		INSN(GLOBAL_ATOMIC, .dst = R(7), .mask = ALWAYS, .src0 = R(5), .src1 = R(1),
		     .src2 = SH(0)),
		INSN(GLOBAL_LOAD32, .dst = R(7), .mask = ALWAYS, .src0 = R(5), .src2 = SH(0)),
		INSN(MEM_FENCE),
		INSN(BARRIER),
		INSN(SIG_DONE1, .dst = R_ELEM(8)),
		INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = R_ELEM(0), .src1 = IMM,
		     .imm = 1),
		INSN(BRNZ, .target = 1, .src0 = R_ELEM(0)),
		INSN(END),
	};

	memcpy(code, body, sizeof(body));
	return LENGTH(body);
}

static const struct expect class_counts[] = {
	EXPECT(USC_INSN_MOVE, 3 * 3),
	EXPECT(USC_INSN_FLOAT, 3 * 3),
	EXPECT(USC_INSN_INTEGER, 3 * 4),
	EXPECT(USC_INSN_SPECIAL, 3 * 2),
	EXPECT(USC_INSN_CROSS, 3 * 3),
	EXPECT(USC_INSN_SCALAR, 1 + 3),
	EXPECT(USC_INSN_LOCAL, 3 * 3),
	EXPECT(USC_INSN_GLOBAL, 3),
	EXPECT(USC_INSN_ATOMIC, 3 * 2),
	EXPECT(USC_INSN_FLOW, 3 * 4 + 1),
	EXPECT(USC_LOAD_BYTES, 3 * 2 * 128),
	EXPECT(USC_STORE_BYTES, 3 * 128),
	EXPECT(MMU_TLB_HITS, 3 * 2 - 1),
};

static void usc_detailed_counters_count_each_class(void **state)
{
	struct pumice_usc_insn code[64];
	u32 insns = classes_code(code);
	struct fixture *fx = create(true);
	struct counts c = run(fx, &one_wave, code, insns);

	(void)state;
	assert_int_equal(fx->faults, 0);
	check_detailed(&c, class_counts, LENGTH(class_counts));
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 1 + 3 * 26 + 1);
	assert_int_equal(c.of[PUMICE_PERF_USC_WAVES], 1);
	assert_int_equal(c.of[PUMICE_PERF_USC_BARRIERS], 3);
	fx_destroy(fx);
}

/* The same program: counters that are always on are the same, the others remain 0. */
static void usc_detailed_counters_stop_while_detail_is_off(void **state)
{
	struct pumice_usc_insn code[64];
	u32 insns = classes_code(code);
	struct fixture *fx = create(false);
	struct counts c = run(fx, &one_wave, code, insns);

	(void)state;
	check_detailed(&c, NULL, 0);
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 1 + 3 * 26 + 1);
	assert_int_equal(c.of[PUMICE_PERF_USC_BARRIERS], 3);
	usc_set_detail(fx->usc, true);
	c = run(fx, &one_wave, code, insns);
	assert_int_equal(c.of[PUMICE_PERF_USC_INSN_SPECIAL], 6);
	usc_set_detail(fx->usc, false);
	c = run(fx, &one_wave, code, insns);
	check_detailed(&c, NULL, 0);
	fx_destroy(fx);
}

/* 9 instances, a mask, and every width. */
static void usc_bytes_are_those_of_active_lanes(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(SHL, .dst = R(0), .src0 = K(SID), .src1 = IMM, .imm = 6),
		INSN(GLOBAL_LOAD8, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0)),
		INSN(GLOBAL_LOAD16, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0)),
		INSN(GLOBAL_LOAD128, .dst = R(1), .mask = IF(MASK_K(CH2)), .src0 = R(0),
		     .src2 = SH(0)),
		INSN(GLOBAL_STORE64, .mask = ALWAYS, .src0 = R(0), .src2 = SH(0), .src1 = R(1)),
		INSN(BURST_STORE, .mask = IF(MASK_K(CH4)), .src0 = R(0), .src2 = SH(0),
		     .src1 = R(1), .words = 11),
		INSN(BURST_LOAD, .mask = IF(MASK_K(ZERO)), .src0 = R(0), .src2 = SH(0), .dst = R(1),
		     .words = 11),
		INSN(GLOBAL_ATOMIC, .mask = ALWAYS, .dst = R(8), .src0 = R(0), .src1 = R(1),
		     .src2 = SH(0)),
		INSN(END),
	};
	const struct fx_group nine = { .tasks = 1, .instances = { 9 }, .local_bytes = 64 };
	struct fixture *fx = create(true);
	struct counts c = run(fx, &nine, code, LENGTH(code));

	(void)state;
	assert_int_equal(fx->faults, 0);
	/* Of lanes 0 to 8: 5 where l mod 4 < 2, 5 where l mod 8 < 4. */
	assert_int_equal(c.of[PUMICE_PERF_USC_LOAD_BYTES], 9 * 1 + 9 * 2 + 5 * 16 + 9 * 4);
	assert_int_equal(c.of[PUMICE_PERF_USC_STORE_BYTES], 9 * 8 + 5 * 44 + 9 * 4);
	assert_int_equal(c.of[PUMICE_PERF_USC_INSN_GLOBAL], 6);
	fx_destroy(fx);
}

/* Two operands, 9 instances; the mask is not counted. */
static void usc_bytes_of_dynamic_constants_are_those_of_valid_lanes(void **state)
{
	const struct pumice_usc_operand constant = { .bank = PUMICE_USC_BANK_DC, .idx = 1 };
	const struct fx_group nine = { .tasks = 1, .instances = { 9 }, .local_bytes = 64 };
	struct pumice_usc_insn code[] = {
		INSN(DC_WINDOW, .src2 = SH(0), .words = 16),
		INSN(SELECT, .dst = R(0), .mask = IF(MASK_K(ZERO))),
		INSN(END),
	};
	struct fixture *fx = create(true);
	struct counts c;

	(void)state;
	pumice_usc_operand_pack(&code[1].src0, &constant);
	code[1].src1 = code[1].src0;
	c = run(fx, &nine, code, LENGTH(code));
	assert_int_equal(fx->faults, 0);
	assert_int_equal(c.of[PUMICE_PERF_USC_LOAD_BYTES], 9 * 4 * 2);
	fx_destroy(fx);
}

/* Both directions of a work-group copy: each word once, for any number of waves. */
static void usc_bytes_of_a_copy_are_its_words(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(GROUP_LOAD, .src0 = SC(0), .src2 = SH(0), .words = 1000),
		INSN(BARRIER),
		INSN(GROUP_STORE, .src0 = SC(0), .src2 = SH(0), .words = 77),
		INSN(END),
	};
	const struct fx_group seven = {
		.tasks = 2, .instances = { 128, 80 }, .local_bytes = 4096,
	};
	struct fixture *fx = create(true);
	struct counts c = run(fx, &seven, code, LENGTH(code));

	(void)state;
	assert_int_equal(fx->faults, 0);
	assert_int_equal(c.of[PUMICE_PERF_USC_LOAD_BYTES], 4000);
	assert_int_equal(c.of[PUMICE_PERF_USC_STORE_BYTES], 308);
	assert_int_equal(c.of[PUMICE_PERF_USC_INSN_GLOBAL], 14);
	assert_int_equal(c.of[PUMICE_PERF_USC_WAVES], 7);
	assert_int_equal(c.of[PUMICE_PERF_USC_BARRIERS], 1);
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 7 * LENGTH(code));
	fx_destroy(fx);
}

/* Copies count once for the group, bursts once for each wave; waiting for a copy not at all. */
static void usc_bytes_of_shared_registers_are_those_read_from_memory(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(SHARED_LOAD, .dst = SH(0), .src2 = SH(0), .words = 1),
		INSN(GROUP_LOAD_SHARED, .dst = SH(0), .src2 = SH(0), .words = 2),
		INSN(GROUP_STORE_SHARED, .src0 = SH(1), .src2 = SH(0), .disp = 512, .words = 1),
		INSN(END),
	};
	const struct fx_group five = { .tasks = 2, .instances = { 128, 20 } };
	static const struct expect expect[] = {
		EXPECT(USC_INSN_GLOBAL, 5 * 3), EXPECT(USC_INSN_FLOW, 5),
		EXPECT(USC_LOAD_BYTES, 5 * 4 + 8), EXPECT(USC_STORE_BYTES, 4),
		/* 5 bursts and 2 copies; the first one misses. */
		EXPECT(MMU_TLB_HITS, 5 + 2 - 1),
	};
	struct fixture *fx = create(true);
	struct counts c;

	(void)state;
	/* The base is not changed. */
	((u32 *)(void *)fx->data)[0] = (u32)FX_DATA;
	((u32 *)(void *)fx->data)[1] = (u32)(FX_DATA >> 32);
	c = run(fx, &five, code, LENGTH(code));
	assert_int_equal(fx->faults, 0);
	check_detailed(&c, expect, LENGTH(expect));
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 5 * LENGTH(code));
	fx_destroy(fx);
}

/* Both waves reach the first write and wait, and execute it when the other one is there, too. */
static void usc_a_write_to_a_slot_register_counts_once_for_each_wave(void **state)
{
	static const struct fx_group two_waves = { .tasks = 1, .instances = { 64 } };
	static const struct expect expect[] = {
		EXPECT(USC_INSN_INTEGER, 2 * 2), EXPECT(USC_INSN_MOVE, 2), EXPECT(USC_INSN_FLOW, 2),
	};
	const struct pumice_usc_insn code[] = {
		INSN(ADD, .dst = SL(0), .src0 = SL(0), .src1 = IMM, .imm = 1),
		INSN(ADD, .dst = SL(1), .src0 = SL(0), .src1 = IMM, .imm = 1),
		INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SL(1)),
		INSN(END),
	};
	struct fixture *fx = create(true);
	struct counts c = run(fx, &two_waves, code, LENGTH(code));

	(void)state;
	assert_int_equal(fx->faults, 0);
	check_detailed(&c, expect, LENGTH(expect));
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 2 * LENGTH(code));
	fx_destroy(fx);
}

/* A load and a wait for it; latency is 64 slots after the load's own. */
static const struct fx_group waves_of[] = {
	{ .tasks = 1, .instances = { 32 } },
	{ .tasks = 1, .instances = { 64 } },
};

static void usc_stalls_are_slots_in_which_every_wave_waits(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0)),
		INSN(SIG_WAIT, .dst = R_ELEM(2)),
		INSN(END),
	};
	struct fixture *fx = create(false);
	struct counts c = run(fx, &waves_of[0], code, LENGTH(code));

	(void)state;
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 3);
	assert_int_equal(c.of[PUMICE_PERF_USC_STALLED], USC_GLOBAL_LATENCY);
	/* The second wave's load fills one of the first's slots. */
	c = run(fx, &waves_of[1], code, LENGTH(code));
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 6);
	assert_int_equal(c.of[PUMICE_PERF_USC_STALLED], USC_GLOBAL_LATENCY - 1);
	fx_destroy(fx);
}

/* A wait for one of two loads stalls until the first of them is complete. */
static void usc_stalls_of_a_wait_for_any_end_with_the_first_signal(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(GLOBAL_LOAD32, .sig0 = 5, .dst = R(1), .mask = ALWAYS, .src0 = R(0),
		     .src2 = SH(0)),
		INSN(GLOBAL_LOAD32, .sig0 = 6, .dst = R(1), .mask = ALWAYS, .src0 = R(0),
		     .src2 = SH(0)),
		INSN(SIG_WAITANY2, .dst = R_ELEM(2), .sig0 = 6, .sig1 = 5),
		INSN(END),
	};
	struct fixture *fx = create(false);
	struct counts c = run(fx, &waves_of[0], code, LENGTH(code));

	(void)state;
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 4);
	assert_int_equal(c.of[PUMICE_PERF_USC_STALLED], USC_GLOBAL_LATENCY - 1);
	/* The second wave's loads fill two more of the first's slots. */
	c = run(fx, &waves_of[1], code, LENGTH(code));
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 8);
	assert_int_equal(c.of[PUMICE_PERF_USC_STALLED], USC_GLOBAL_LATENCY - 3);
	fx_destroy(fx);
}

/* Work before the wait, and that of another wave. */
static void usc_work_hides_latency(void **state)
{
	struct pumice_usc_insn code[USC_GLOBAL_LATENCY / 2 + 8];
	struct fixture *fx = create(false);
	u32 insns = 0;
	struct counts c;

	(void)state;
	code[insns++] = INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0),
			     .src2 = SH(0));
	while (insns < USC_GLOBAL_LATENCY / 2)
		code[insns++] = INSN(ADD, .dst = R(2), .src0 = R(2), .src1 = R(2));
	code[insns++] = INSN(SIG_WAIT, .dst = R_ELEM(2));
	code[insns++] = INSN(END);
	/* The wave waits at slot 32 until slot 65. */
	c = run(fx, &waves_of[0], code, insns);
	assert_int_equal(c.of[PUMICE_PERF_USC_STALLED], 65 - 32);
	/*
	 * The other wave's 32 slots intervene: one remains. That wave waits from
	 * slot 64 on, for slot 97; the first one's last two instructions end at 67.
	 */
	c = run(fx, &waves_of[1], code, insns);
	assert_int_equal(c.of[PUMICE_PERF_USC_STALLED], 1 + (97 - 67));
	fx_destroy(fx);
}

static void usc_tlb_hits_and_walks_add_up_to_the_requests(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(SHL, .dst = R(0), .src0 = K(SID), .src1 = IMM, .imm = 10),	/* 4 lanes a page */
		INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0)),
		INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0)),
		INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0),
		     .disp = 1024),	/* the last lane's is not there */
		INSN(END),
	};
	struct fixture *fx = create(true);
	struct counts c = run(fx, &one_wave, code, LENGTH(code));

	(void)state;
	assert_int_equal(fx->faults, 1);
	assert_int_equal(c.of[PUMICE_PERF_MMU_TLB_MISSES], 8 + 1);
	assert_int_equal(c.of[PUMICE_PERF_MMU_TLB_HITS], 8 + 8);
	assert_int_equal(c.of[PUMICE_PERF_MMU_FAULTS], 1);
	/* Faulting instructions are not complete. */
	assert_int_equal(c.of[PUMICE_PERF_USC_INSN_GLOBAL], 2);
	assert_int_equal(c.of[PUMICE_PERF_USC_LOAD_BYTES], 256);
	assert_int_equal(c.of[PUMICE_PERF_USC_ISSUED], 3);
	fx_destroy(fx);
}

/* Let the range registers assign pages of 64 KiB to a block of 2 MiB. */
static void assign_64k(struct fixture *fx, u64 va)
{
	atomic_store(&fx->mmu.range_start[0],
		     va | PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, PUMICE_PAGE_SIZE_64K));
	atomic_store(&fx->mmu.range_end[0], va | PUMICE_MMU_RANGE_END__ENABLE__MASK);
	atomic_store(&fx->mmu.page_sizes, PUMICE_FIELD_PREP(PUMICE_MMU_PAGE_SIZES__MODE,
							    PUMICE_MMU_PAGE_SIZES_RANGE));
}

/* One walk serves a page of assigned size, here 16 grains; after a reset there is another. */
static void usc_large_page_is_walked_once(void **state)
{
	enum { BYTES = 2 * 65536, AT = 2u << 20 };	/* two pages; from the start of the data */
	const u64 va = FX_DATA + AT;
	const struct pumice_usc_insn code[] = {
		INSN(SHL, .dst = R(0), .src0 = K(SID), .src1 = IMM, .imm = 12),	/* a lane a grain */
		INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = AT),
		INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0)),
		INSN(END),
	};
	struct fixture *fx = create(true);
	struct counts c;

	(void)state;
	testmem_map(fx->mem, FX_CTX, va, BYTES, PUMICE_PAGE_SIZE_64K, 0);
	assign_64k(fx, va);
	c = run(fx, &one_wave, code, LENGTH(code));
	assert_int_equal(fx->faults, 0);
	assert_int_equal(c.of[PUMICE_PERF_MMU_TLB_MISSES], 2);
	assert_int_equal(c.of[PUMICE_PERF_MMU_TLB_HITS], 30);
	usc_reset(fx->usc);
	c = run(fx, &one_wave, code, LENGTH(code));
	assert_int_equal(c.of[PUMICE_PERF_MMU_TLB_MISSES], 2);
	fx_destroy(fx);
}

/*
 * Start a wave whose lanes load from a page each, again and again, and let it walk them. Lanes n
 * and n + 8 evict each other in the first level of the TLB, those from 16 on as those before.
 */
static struct usc_program *start_evictions(struct fixture *fx, u32 lanes)
{
	enum { AT = 2u << 20, PAGES = 32 };
	const struct pumice_usc_insn code[] = {
		INSN(AND, .dst = R(0), .src0 = K(SID), .src1 = IMM, .imm = 16 | 7),
		INSN(AND, .dst = R(1), .src0 = K(SID), .src1 = IMM, .imm = 8),
		INSN(SHL, .dst = R(1), .src0 = R(1), .src1 = IMM, .imm = 2),
		INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = R(1)),
		INSN(SHL, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = 15),
		INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = AT),
		INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0)),
		INSN(JUMP, .target = 6),
		INSN(END),
	};
	const u64 bus = testmem_alloc(fx->mem, 65536, 65536);
	struct usc_program *program = make(fx, code, LENGTH(code));
	struct fx_group group = one_wave;

	for (u32 n = 0; n < PAGES; n++)
		testmem_map_bus(fx->mem, FX_CTX, FX_DATA + AT + n * 65536ull, bus, 65536,
				PUMICE_PAGE_SIZE_64K, 0);
	assign_64k(fx, FX_DATA + AT);
	group.limits = limits;
	group.instances[0] = (u8)lanes;
	fx_fill(fx, 0, &group, program);
	fx_set_base(fx, 0, FX_DATA);
	usc_group_start(fx->usc, 0);
	usc_step(fx->usc, 128, NULL);
	return program;
}

/* Return the instructions that a step issues, none of which walks. */
static u64 step_hits(struct fixture *fx, const _Atomic bool *stop)
{
	const struct counts before = read_counts(fx);
	struct counts after;

	assert_true(usc_step(fx->usc, USC_GROUP_QUANTUM, stop));
	after = read_counts(fx);
	assert_int_equal(after.of[PUMICE_PERF_MMU_TLB_MISSES],
			 before.of[PUMICE_PERF_MMU_TLB_MISSES]);
	return after.of[PUMICE_PERF_USC_ISSUED] - before.of[PUMICE_PERF_USC_ISSUED];
}

static void end_evictions(struct fixture *fx, struct usc_program *program)
{
	usc_abort(fx->usc);
	usc_step(fx->usc, 1, NULL);
	fx_put(fx, program);
	fx_destroy(fx);
}

static void usc_hits_of_the_second_level_use_up_the_step(void **state)
{
	struct fixture *fx = create(false);
	struct usc_program *program = start_evictions(fx, 32);
	_Atomic bool stop = true;

	(void)state;
	assert_in_range(step_hits(fx, NULL), 1, USC_WAVE_QUANTUM);
	assert_in_range(step_hits(fx, &stop), 1, 2);
	end_evictions(fx, program);
}

/* 16 lanes hit it 16 times a load, 12 lanes 8 times: the first or the second load polls. */
static void usc_16_hits_of_the_second_level_poll_as_a_walk(void **state)
{
	static const u32 lanes[] = { 16, 12 };
	_Atomic bool stop = true;

	(void)state;
	for (u32 n = 0; n < 2; n++) {
		struct fixture *fx = create(false);
		struct usc_program *program = start_evictions(fx, lanes[n]);

		assert_in_range(step_hits(fx, &stop), n ? 3 : 1, n ? 4 : 2);
		end_evictions(fx, program);
	}
}

/* Bits of an address above the MMU's are not part of a tag. */
static void usc_address_beyond_the_mmu_hits_no_entry(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(SHL, .dst = R(0), .src0 = K(SID), .src1 = IMM, .imm = 2),
		INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = SH(0)),
		INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(2), .src0 = SH(0)),
		INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(3), .src0 = SH(1), .src1 = IMM,
		     .imm = 1u << (PUMICE_MMU_VA_BITS - 32)),
		INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .src2 = R_ELEM(2)),
		INSN(END),
	};
	struct fixture *fx = create(false);

	(void)state;
	run(fx, &one_wave, code, LENGTH(code));
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_ADDRESS);
	assert_int_equal(fx->fault.pc, 4);
	fx_destroy(fx);
}

static void usc_programs_are_counted_when_they_are_decoded(void **state)
{
	const struct pumice_usc_insn end = INSN(END);
	const struct pumice_usc_insn two[] = { INSN(BARRIER), INSN(END) };
	struct fixture *fx = create(false);

	(void)state;
	fx_put(fx, make(fx, &end, 1));
	fx_put(fx, make(fx, &end, 1));
	assert_int_equal(read_counts(fx).of[PUMICE_PERF_USC_PROGRAMS], 1);
	fx_put(fx, make(fx, two, 2));
	assert_int_equal(read_counts(fx).of[PUMICE_PERF_USC_PROGRAMS], 2);
	fx_destroy(fx);
}

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* Steps without work count no time; counts survive a reset. */
static void usc_busy_time_counts_steps_with_waves(void **state)
{
	struct pumice_usc_insn code[64];
	u32 insns = classes_code(code);
	struct fixture *fx = create(false);
	u64 begin = now();
	struct counts c = run(fx, &one_wave, code, insns);
	u64 took = now() - begin, busy = c.of[PUMICE_PERF_USC_BUSY];

	(void)state;
	assert_true(busy > 0 && busy <= took);
	usc_step(fx->usc, 100, NULL);
	usc_reset(fx->usc);
	assert_int_equal(read_counts(fx).of[PUMICE_PERF_USC_BUSY], busy);
	assert_int_equal(read_counts(fx).of[PUMICE_PERF_USC_ISSUED], 1 + 3 * 26 + 1);
	fx_destroy(fx);
}

static int by_bank(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x % 32 != y % 32 ? (x % 32 > y % 32) - (x % 32 < y % 32) : (x > y) - (x < y);
}

/* Words sorted by bank: the longest stretch of one bank without repeats, less one. */
static u32 further_cycles(const u32 *off, u32 plus, u32 lanes)
{
	u32 words[PUMICE_LANES], most = 1, run_length = 0, count = 0;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (lanes >> l & 1)
			words[count++] = (off[l] + plus) / 4;
	}
	qsort(words, count, sizeof(words[0]), by_bank);
	for (u32 n = 0; n < count; n++) {
		if (n && words[n] == words[n - 1])
			continue;
		run_length = n && words[n] % 32 == words[n - 1] % 32 ? run_length + 1 : 1;
		most = run_length > most ? run_length : most;
	}
	return most - 1;
}

/* One access of a width with these offsets, which may be indexed, in 1 to 32 instances. */
static void check_conflicts(struct fixture *fx, const u32 *off, u32 instances, u32 which,
			    bool indexed)
{
	static const struct { enum pumice_usc_op op; u32 bytes; bool store; } kinds[] = {
		{ PUMICE_USC_OP_LOCAL_LOAD8, 1, false }, { PUMICE_USC_OP_LOCAL_STORE16, 2, true },
		{ PUMICE_USC_OP_LOCAL_LOAD32, 4, false }, { PUMICE_USC_OP_LOCAL_STORE64, 8, true },
		{ PUMICE_USC_OP_LOCAL_LOAD128, 16, false }, { PUMICE_USC_OP_LOCAL_ATOMIC, 4, true },
		{ PUMICE_USC_OP_LOCAL_ATOMICW, 4, true },
	};
	const bool atomic = which >= 5;
	const u32 unit = kinds[which].op == PUMICE_USC_OP_LOCAL_ATOMICW ? 4 : 1;
	const struct fx_group group = {
		.tasks = 1, .instances = { instances }, .limits = limits, .local_bytes = 16384,
	};
	/* IDX0 is 0. */
	const u32 at = indexed ? V(0) | PUMICE_FIELD_PREP(PUMICE_USC_OPERAND__IDX, 1) : V(0);
	struct pumice_usc_insn code[2] = { {
		.opcode = kinds[which].op, .mask = ALWAYS, .src0 = at, .dst = R(0), .src1 = R(4),
		.disp = (u16)(16 / unit),
	}, INSN(END) };
	u32 lanes = (u32)((1ull << instances) - 1), want = 0, *addresses;
	struct counts before, after;
	struct usc_program *program;

	if (!atomic)
		*(kinds[which].store ? &code[0].dst : &code[0].src1) = 0;
	for (u32 n = 0; n < kinds[which].bytes; n += 4)
		want += further_cycles(off, 16 + n, lanes);
	program = make(fx, code, 2);
	before = read_counts(fx);
	fx_clear(fx);
	fx_fill(fx, 0, &group, program);
	addresses = usc_attr(fx->usc, usc_task(fx->usc, 0), 0, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		addresses[l] = off[l] / unit;
	usc_group_start(fx->usc, 0);
	fx_run(fx, 100);
	fx_put(fx, program);
	after = read_counts(fx);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(after.of[PUMICE_PERF_USC_LOCAL_CONFLICTS] -
			 before.of[PUMICE_PERF_USC_LOCAL_CONFLICTS], want);
}

static void usc_bank_conflicts_agree_with_a_count_by_sorting(void **state)
{
	struct gen_rng rng = { 99 };
	struct fixture *fx = create(true);

	(void)state;
	for (u32 n = 0; n < 3000; n++) {
		u32 off[PUMICE_LANES], step = 4 * gen_below(&rng, 66), kind = gen_below(&rng, 3);
		u32 span = 4u << gen_below(&rng, 11);

		for (u32 l = 0; l < PUMICE_LANES; l++)
			off[l] = kind ? gen_below(&rng, span) & ~3u : l * step;
		check_conflicts(fx, off, 1 + gen_below(&rng, PUMICE_LANES), n % 7, n % 5 == 0);
	}
	fx_destroy(fx);
}

/* The well-known cases. */
static void usc_bank_conflicts_of_well_known_patterns(void **state)
{
	static const struct { u32 step, further; } patterns[] = {
		{ 4, 0 },	/* consecutive */
		{ 0, 0 },	/* one word for all */
		{ 8, 1 },	/* every other bank */
		{ 128, 31 },	/* a column */
		{ 132, 0 },	/* a column of padded rows */
		{ 12, 0 },	/* an odd stride */
	};
	struct fixture *fx = create(true);
	u32 off[PUMICE_LANES];

	(void)state;
	for (u32 p = 0; p < LENGTH(patterns); p++) {
		for (u32 l = 0; l < PUMICE_LANES; l++)
			off[l] = l * patterns[p].step;
		assert_int_equal(further_cycles(off, 0, ~0u), patterns[p].further);
		check_conflicts(fx, off, PUMICE_LANES, 2, p % 2);
	}
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_detailed_counters_count_each_class),
		cmocka_unit_test(usc_detailed_counters_stop_while_detail_is_off),
		cmocka_unit_test(usc_bytes_are_those_of_active_lanes),
		cmocka_unit_test(usc_bytes_of_dynamic_constants_are_those_of_valid_lanes),
		cmocka_unit_test(usc_bytes_of_a_copy_are_its_words),
		cmocka_unit_test(usc_bytes_of_shared_registers_are_those_read_from_memory),
		cmocka_unit_test(usc_a_write_to_a_slot_register_counts_once_for_each_wave),
		cmocka_unit_test(usc_stalls_are_slots_in_which_every_wave_waits),
		cmocka_unit_test(usc_stalls_of_a_wait_for_any_end_with_the_first_signal),
		cmocka_unit_test(usc_work_hides_latency),
		cmocka_unit_test(usc_tlb_hits_and_walks_add_up_to_the_requests),
		cmocka_unit_test(usc_large_page_is_walked_once),
		cmocka_unit_test(usc_hits_of_the_second_level_use_up_the_step),
		cmocka_unit_test(usc_16_hits_of_the_second_level_poll_as_a_walk),
		cmocka_unit_test(usc_address_beyond_the_mmu_hits_no_entry),
		cmocka_unit_test(usc_programs_are_counted_when_they_are_decoded),
		cmocka_unit_test(usc_busy_time_counts_steps_with_waves),
		cmocka_unit_test(usc_bank_conflicts_agree_with_a_count_by_sorting),
		cmocka_unit_test(usc_bank_conflicts_of_well_known_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
