// SPDX-License-Identifier: MIT
/*
 * Turns of groups of different data masters, and while instructions are run one at a time: of every
 * stage, finely, and without those that wait. Turns of groups of one data master in the
 * interpreter's loop are in test_flow.c.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "fixture.h"

#define WORKS		8u	/* groups of a test */
#define MASTERS		4u
#define KINDS		7u

/* Memory of the groups of a test. */
struct work {
	struct usc_gfx gfx[WORKS];
	struct usc_tile tile;
	struct usc_span span;
	u32 outputs[PUMICE_TILE_PIXELS];
	struct usc_program *program[WORKS];
};

/* Programs of each kind. The first MASTERS are those of different data masters. */
static const struct {
	u32 stage;	/* of start() */
	enum pumice_wave_master master;
} kinds[KINDS] = {
	{ USC_STAGE_VERTEX, PUMICE_WAVE_MASTER_VDM },
	{ USC_STAGE_FRAGMENT, PUMICE_WAVE_MASTER_PDM },
	{ USC_STAGE_COMPUTE, PUMICE_WAVE_MASTER_CDM },
	{ USC_STAGE_RAYS, PUMICE_WAVE_MASTER_RDM },
	{ USC_STAGE_HIT, PUMICE_WAVE_MASTER_RDM },
	{ USC_STAGE_DEFERRED, PUMICE_WAVE_MASTER_PDM },
	{ USC_STAGE_TILE, PUMICE_WAVE_MASTER_PDM },
};

static struct usc_program_limits limits_of(u32 stage)
{
	return (struct usc_program_limits){
		.temps = 4, .shared = 4, .stage = stage, .vo = stage == USC_STAGE_VERTEX,
		.outputs = stage == USC_STAGE_FRAGMENT,
	};
}

/* Fill and start a group of one wave. USC_STAGE_DEFERRED is a vertex program that the PDM runs. */
static void start(struct fixture *fx, struct work *w, u32 group, u32 kind,
		  const struct pumice_usc_insn *insns, u32 count)
{
	const u32 stage = kind == USC_STAGE_DEFERRED ? USC_STAGE_VERTEX : kind;
	struct usc_gfx *gfx = &w->gfx[group];
	const struct fx_group shape = {
		.tasks = 1, .instances = { 4 }, .limits = limits_of(stage), .prims = 1,
		.gfx = stage == USC_STAGE_COMPUTE ? NULL : gfx,
	};

	w->tile = (struct usc_tile){ .outputs = w->outputs, .pixels = PUMICE_TILE_PIXELS,
				     .words = 1, .samples = 1, .width = 32, .height = 32 };
	w->span = (struct usc_span){ .samples = 0x1111, .covered = 0x1111 };
	*gfx = (struct usc_gfx){ .stage = (u8)stage, .deferred = kind != stage,
				 .sample = USC_PIXEL_RATE, .tile = &w->tile, .span = &w->span,
				 .spans = 1, .vo = w->outputs, .vo_words = 1 };
	w->program[group] = fx_program_insns(fx, insns, count, &shape.limits);
	assert_non_null(w->program[group]);
	fx_fill(fx, group, &shape, w->program[group]);
	fx_set_base(fx, usc_group(fx->usc, group)->slot[0], FX_DATA);
	usc_group_start(fx->usc, group);
}

static void drop(struct fixture *fx, struct work *w, u32 groups)
{
	usc_abort(fx->usc);
	usc_step(fx->usc, 1, NULL);
	for (u32 n = 0; n < groups; n++)
		fx_put(fx, w->program[n]);
	fx_destroy(fx);
}

/* The clock of a group's wave: instructions, and slots for which it waited. */
static u64 clock_of(const struct fixture *fx, u32 group)
{
	const struct usc_group *g = &fx->usc->group[group];

	return fx->usc->wave[g->slot[0] * USC_MAX_WAVES].clock;
}

static u64 stalled(const struct fixture *fx)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	usc_counters_add(fx->usc, value);
	return value[PUMICE_PERF_USC_STALLED];
}

/* Start a loop that never waits. */
static void start_loop(struct fixture *fx, struct work *w, u32 group, u32 stage)
{
	const struct pumice_usc_insn loop[] = {
		INSN(ADD, .dst = R(1), .src0 = R(1), .src1 = IMM, .imm = 1),
		INSN(JUMP, .target = 0),
		INSN(END),
	};

	start(fx, w, group, stage, loop, 3);
}

/* Programs of all data masters: none is ahead of another by more than a turn. */
static void programs_of_every_stage_take_turns_of_32_instructions(void **state)
{
	struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_DATA);
	struct work w;
	u32 switches = 0;

	(void)state;
	fx_clear(fx);
	for (u32 n = 0; n < MASTERS; n++)
		start_loop(fx, &w, n, kinds[n].stage);
	for (u32 issued = 1; issued <= 10 * MASTERS * USC_FINE_QUANTUM; issued++) {
		const u8 before = fx->usc->current;
		u64 sum = 0;

		assert_true(usc_step(fx->usc, 1, NULL));
		for (u32 n = 0; n < MASTERS; n++) {
			const u64 clock = clock_of(fx, n);

			sum += clock;
			assert_true(clock <= issued / MASTERS + USC_FINE_QUANTUM);
			assert_true(clock + USC_FINE_QUANTUM >= issued / MASTERS);
		}
		assert_int_equal(sum, issued);
		switches += fx->usc->current != before;
	}
	assert_int_equal(fx->faults, 0);
	assert_true(switches >= 10 * MASTERS - 1);
	drop(fx, &w, MASTERS);
}

/* The same in the interpreter's loop, by turns of 256: no program waits for 8192. */
static void programs_of_every_stage_take_turns_in_the_loop(void **state)
{
	struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_EARLY);
	struct work w;

	(void)state;
	fx_clear(fx);
	for (u32 n = 0; n < MASTERS; n++)
		start_loop(fx, &w, n, kinds[n].stage);
	for (u32 round = 1; round <= 40; round++) {
		assert_true(usc_step(fx->usc, MASTERS * USC_SHARED_QUANTUM, NULL));
		for (u32 n = 0; n < MASTERS; n++)
			assert_int_equal(clock_of(fx, n), round * USC_SHARED_QUANTUM);
	}
	assert_int_equal(fx->faults, 0);
	drop(fx, &w, MASTERS);
}

/* A program of another data master waits for the rest of a short turn, not of a long one. */
static void long_turns_end_early_for_another_data_master(void **state)
{
	struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_EARLY);
	struct work w;

	(void)state;
	fx_clear(fx);
	start_loop(fx, &w, 0, USC_STAGE_COMPUTE);
	assert_true(usc_step(fx->usc, 100, NULL));
	start_loop(fx, &w, 1, USC_STAGE_FRAGMENT);
	assert_true(usc_step(fx->usc, USC_SHARED_QUANTUM + 1, NULL));
	assert_int_equal(clock_of(fx, 0), 100 + USC_SHARED_QUANTUM);
	assert_int_equal(clock_of(fx, 1), 1);
	/* Alone again after the end of the other, it has long turns: one of its kind waits. */
	usc_abort_groups(fx->usc, 1ull << 1);
	assert_true(usc_step(fx->usc, 1, NULL));
	assert_int_equal(fx->usc->left, USC_GROUP_QUANTUM - 1);
	start_loop(fx, &w, 2, USC_STAGE_COMPUTE);
	assert_true(usc_step(fx->usc, USC_GROUP_QUANTUM - 1, NULL));
	assert_int_equal(clock_of(fx, 2), 0);
	assert_true(usc_step(fx->usc, USC_GROUP_QUANTUM, NULL));
	assert_int_equal(clock_of(fx, 2), USC_GROUP_QUANTUM);
	drop(fx, &w, 3);
}

/* Groups that a reset drops share the USC with none that starts after it. */
static void a_reset_drops_the_shares_of_groups(void **state)
{
	struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_EARLY);
	struct work w;

	(void)state;
	fx_clear(fx);
	start_loop(fx, &w, 0, USC_STAGE_FRAGMENT);
	assert_true(usc_step(fx->usc, 1, NULL));
	usc_reset(fx->usc);
	start_loop(fx, &w, 1, USC_STAGE_COMPUTE);
	start_loop(fx, &w, 2, USC_STAGE_COMPUTE);
	assert_true(usc_step(fx->usc, 1, NULL));
	assert_int_equal(fx->usc->left, USC_GROUP_QUANTUM - 1);
	drop(fx, &w, 3);
}

/* Those of one data master do not, whichever stages they are of: it continues with one. */
static void programs_take_turns_by_their_data_master(void **state)
{
	const u32 issued = 10 * USC_FINE_QUANTUM;

	(void)state;
	for (u32 n = 0; n < KINDS * KINDS; n++) {
		const u32 a = n / KINDS, b = n % KINDS;
		struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_DATA);
		struct work w;

		fx_clear(fx);
		start_loop(fx, &w, 0, kinds[a].stage);
		start_loop(fx, &w, 1, kinds[b].stage);
		assert_true(usc_step(fx->usc, issued, NULL));
		assert_int_equal(fx->faults, 0);
		assert_int_equal(clock_of(fx, 0) + clock_of(fx, 1), issued);
		if (kinds[a].master != kinds[b].master)
			assert_int_equal(clock_of(fx, 0), issued / 2);
		else
			assert_true(!clock_of(fx, 0) || !clock_of(fx, 1));
		drop(fx, &w, 2);
	}
}

/* Another group issues in all slots for which the first waits, and only in these. */
static void group_that_waits_is_replaced_at_once(void **state)
{
	const struct pumice_usc_insn waits[] = {
		INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(2), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)),
		INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = 3),
		INSN(JUMP, .target = 2),
		INSN(END),
	};
	struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_DATA);
	struct work w;
	u32 pc = 0, slots = 0;

	(void)state;
	fx_clear(fx);
	start(fx, &w, 0, USC_STAGE_COMPUTE, waits, 4);
	start_loop(fx, &w, 1, USC_STAGE_FRAGMENT);
	while (pc < 2) {
		assert_true(usc_step(fx->usc, 1, NULL));
		slots++;
		pc = fx->usc->wave[fx->usc->group[0].slot[0] * USC_MAX_WAVES].pc;
		assert_true(slots < 4 * USC_GLOBAL_LATENCY);
	}
	assert_int_equal(stalled(fx), 0);
	assert_true(clock_of(fx, 1) >= USC_GLOBAL_LATENCY - 1);
	assert_true(clock_of(fx, 1) <= USC_GLOBAL_LATENCY + USC_FINE_QUANTUM);
	drop(fx, &w, 2);
}

/* Start a program that loads, waits, and then continues at next. */
static void start_load(struct fixture *fx, struct work *w, u32 group, u32 next)
{
	const struct pumice_usc_insn load[] = {
		INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(2), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)),
		INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = 3),
		INSN(JUMP, .target = next),
		INSN(END),
	};

	start(fx, w, group, USC_STAGE_COMPUTE, load, 4);
}

/* Waits of several groups elapse together, and that which ends first ends first. */
static void group_whose_wait_ends_first_continues(void **state)
{
	struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_DATA);
	struct work w;

	(void)state;
	fx_clear(fx);
	start_load(fx, &w, 0, 3);
	start_load(fx, &w, 1, 3);
	usc_step(fx->usc, 1, NULL);
	assert_int_equal(fx->usc->current, 1);
	while (!fx->done[0] && !fx->done[1])
		usc_step(fx->usc, 1, NULL);
	assert_int_equal(fx->done[1], 1);
	assert_int_equal(fx->done[0], 0);
	fx_run(fx, 1);
	assert_int_equal(fx->done[0], 1);
	/* In the slots of the other group the USC is not stalled: less than for one wait. */
	assert_true(stalled(fx) > 0);
	assert_true(stalled(fx) < USC_GLOBAL_LATENCY);
	assert_true(fx->usc->slots < 2 * USC_GLOBAL_LATENCY);
	drop(fx, &w, 2);
}

/* Of groups of one data master, the one that it continues with is replaced only while it waits. */
static void group_continues_after_its_wait(void **state)
{
	struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_DATA);
	struct work w;

	(void)state;
	fx_clear(fx);
	start_load(fx, &w, 1, 0);
	for (u32 n = 2; n < WORKS; n++)
		start_loop(fx, &w, n, USC_STAGE_COMPUTE);
	usc_step(fx->usc, 3000, NULL);
	assert_int_equal(fx->faults, 0);
	/* Each wait lasts for the latency, and then for the rest of a turn at most. */
	assert_true(clock_of(fx, 1) > 3000 * USC_GLOBAL_LATENCY /
				      (USC_GLOBAL_LATENCY + USC_FINE_QUANTUM));
	usc_step(fx->usc, USC_GROUP_QUANTUM * 64, NULL);
	for (u32 n = 1; n < WORKS; n++)
		assert_true(clock_of(fx, n) > USC_GROUP_QUANTUM);
	usc_abort(fx->usc);
	usc_step(fx->usc, 1, NULL);
	for (u32 n = 1; n < WORKS; n++)
		fx_put(fx, w.program[n]);
	fx_destroy(fx);
}

/* Quanta are part of the state: the end of a step is none of a turn. */
static void turns_do_not_depend_on_budgets(void **state)
{
	const u32 budgets[] = { 1, 7, 33, 1000 };
	u64 first[MASTERS] = { 0 };

	(void)state;
	for (u32 n = 0; n < sizeof(budgets) / sizeof(budgets[0]); n++) {
		struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_DATA);
		struct work w;
		u32 left = 1000;

		fx_clear(fx);
		for (u32 g = 0; g < MASTERS; g++)
			start_loop(fx, &w, g, kinds[g].stage);
		for (; left; left -= left < budgets[n] ? left : budgets[n])
			usc_step(fx->usc, left < budgets[n] ? left : budgets[n], NULL);
		for (u32 g = 0; g < MASTERS; g++) {
			assert_true(n == 0 || clock_of(fx, g) == first[g]);
			first[g] = clock_of(fx, g);
		}
		drop(fx, &w, MASTERS);
	}
}

/* After a reset the order is that of a new USC. */
static void turns_begin_anew_after_a_reset(void **state)
{
	struct fixture *fx = fx_create_late(FX_DATA_BYTES, USC_LATE_DATA);
	u64 first[MASTERS + 1] = { 0 };

	(void)state;
	for (u32 n = 0; n < 2; n++) {
		struct work w;

		fx_clear(fx);
		for (u32 g = 0; g < MASTERS; g++)
			start_loop(fx, &w, g, kinds[g].stage);
		start_loop(fx, &w, MASTERS, USC_STAGE_COMPUTE);
		usc_step(fx->usc, (MASTERS + 1) * USC_FINE_QUANTUM, NULL);
		for (u32 g = 0; g <= MASTERS; g++) {
			assert_true(n == 0 || clock_of(fx, g) == first[g]);
			first[g] = clock_of(fx, g);
		}
		usc_abort(fx->usc);
		usc_step(fx->usc, 1, NULL);
		for (u32 g = 0; g <= MASTERS; g++)
			fx_put(fx, w.program[g]);
	}
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_every_stage_take_turns_of_32_instructions),
		cmocka_unit_test(programs_of_every_stage_take_turns_in_the_loop),
		cmocka_unit_test(long_turns_end_early_for_another_data_master),
		cmocka_unit_test(a_reset_drops_the_shares_of_groups),
		cmocka_unit_test(programs_take_turns_by_their_data_master),
		cmocka_unit_test(group_that_waits_is_replaced_at_once),
		cmocka_unit_test(group_whose_wait_ends_first_continues),
		cmocka_unit_test(group_continues_after_its_wait),
		cmocka_unit_test(turns_do_not_depend_on_budgets),
		cmocka_unit_test(turns_begin_anew_after_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
