// SPDX-License-Identifier: MIT
/*
 * Timing of waves: scheduling, budgets, signals, barriers, ends, faults that end a group,
 * groups that start and end.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"
#include "fixture.h"

#define MAX_INSNS 64u

/* A program being written, and registers that all of them have. */
struct code {
	u32 words[MAX_INSNS * PUMICE_USC_WORDS];
	u32 n;
};

static const struct usc_program_limits limits = { .temps = 8, .attrs = 1, .shared = 4 };

static u32 put(struct code *c, struct pumice_usc_insn insn)
{
	usc_put(c->words, c->n, insn);
	return c->n++;
}

/* Offsets of the lanes, a word each from byte first on, in R7. */
static void put_offsets(struct code *c, u32 first)
{
	put(c, INSN(SHL, .dst = R(7), .src0 = K(SID), .src1 = IMM, .imm = 2));
	put(c, INSN(ADD, .dst = R(7), .src0 = R(7), .src1 = IMM, .imm = first));
}

static struct fx_group group_of(u32 instances)
{
	return (struct fx_group){ .tasks = 1, .instances = { instances }, .limits = limits,
				   .local_bytes = 1024 };
}

/* Fill and start a group; shared registers 0 and 1 point to the data. */
static void start(struct fixture *fx, unsigned int number, u32 instances,
		  struct usc_program *program)
{
	struct fx_group group = group_of(instances);

	fx_fill(fx, number, &group, program);
	fx_set_base(fx, usc_group(fx->usc, number)->slot[0], FX_DATA);
	usc_group_start(fx->usc, number);
}

static struct usc_program *build(struct fixture *fx, const struct code *c)
{
	struct usc_program *program = fx_program(fx, c->words, c->n, &limits);

	assert_non_null(program);
	return program;
}

static const u32 *data(const struct fixture *fx)
{
	return (const u32 *)(const void *)fx->data;
}

/* Element 0 of a temporary of a group's first wave. */
static u32 scalar_of(struct fixture *fx, unsigned int group, u32 temp)
{
	const struct usc_task *task = usc_task(fx->usc, usc_group(fx->usc, group)->slot[0]);

	return fx->usc->unified[usc_wave_regs(task, 0) + temp * USC_ROW_WORDS];
}

static struct usc_program *endless(struct fixture *fx)
{
	struct code c = { .n = 0 };

	put(&c, INSN(JUMP, .target = 0));
	put(&c, INSN(END));
	return build(fx, &c);
}

static void usc_endless_loop_leaves_the_step_and_lets_other_groups_end(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *loop = endless(fx), *work;

	put_offsets(&c, 0);
	put(&c, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(7), .src1 = K(SID)));
	put(&c, INSN(END));
	work = build(fx, &c);
	start(fx, 0, 32, loop);
	start(fx, 1, 32, work);
	for (u32 n = 0; n < 4; n++)
		assert_true(usc_step(fx->usc, USC_GROUP_QUANTUM, NULL));
	assert_int_equal(fx->done[0], 0);
	assert_int_equal(fx->done[1], 1);
	assert_int_equal(data(fx)[31], 31);
	assert_true(usc_has_work(fx->usc));
	fx_put(fx, loop);
	fx_put(fx, work);
}

static void usc_abort_ends_every_group_once_and_without_fault(void **state)
{
	struct fixture *fx = *state;
	struct usc_program *loop = endless(fx);

	start(fx, 0, 100, loop);
	start(fx, 5, 32, loop);
	usc_step(fx->usc, 100, NULL);
	/* Started, never stepped. */
	start(fx, 9, 32, loop);
	usc_abort(fx->usc);
	assert_true(usc_has_work(fx->usc));
	assert_false(usc_step(fx->usc, 100, NULL));
	assert_int_equal(fx->done[0], 1);
	assert_int_equal(fx->done[5], 1);
	assert_int_equal(fx->done[9], 1);
	assert_int_equal(fx->faults, 0);
	assert_false(usc_has_work(fx->usc));
	fx_put(fx, loop);
}

static void usc_abort_does_not_affect_groups_started_after_it(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;

	put(&c, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = IMM, .imm = 7));
	put(&c, INSN(END));
	program = build(fx, &c);
	usc_abort(fx->usc);
	/* A fault recorded just after the end of a group that was looked up just before. */
	atomic_store(&fx->usc->abort, 1);
	start(fx, 0, 32, program);
	fx_run(fx, 100);
	assert_int_equal(scalar_of(fx, 0, 0), 7);
	fx_put(fx, program);
}

static void usc_step_returns_early_when_requested_to_stop(void **state)
{
	const _Atomic bool stop = true;
	struct fixture *fx = *state;
	struct usc_program *loop = endless(fx);

	start(fx, 0, 32, loop);
	assert_true(usc_step(fx->usc, UINT32_MAX, &stop));
	fx_put(fx, loop);
}

static u32 cache_ops;

static void count_cache_op(void *opaque, const struct mmu_cache_op *op)
{
	(void)opaque;
	(void)op;
	cache_ops++;
}

/*
 * An operation may take as long as all lines of the caches: a program that loops over one must not
 * hold up the threads that wait for the end of the step. A fence within a core is only an access.
 */
static void usc_step_ends_after_an_operation_on_caches(void **state)
{
	const struct {
		struct pumice_usc_insn insn;
		bool alone;
	} rows[] = {
		{ INSN(CACHE_INVALIDATE, .func = PUMICE_USC_SCOPE_GROUP), true },
		{ INSN(CACHE_CLEAN, .func = PUMICE_USC_SCOPE_SYSTEM), true },
		{ INSN(CACHE_CLEAN_RANGE, .func = PUMICE_USC_SCOPE_CORE, .src2 = SH(0),
		       .words = 1), true },
		{ INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_SYSTEM), true },
		{ INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_DEVICE), true },
		{ INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_CORE), false },
	};
	struct fixture *fx = *state;

	mmu_set_cache_op(&fx->mmu, count_cache_op, NULL);
	for (u32 n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct code c = { .n = 0 };
		struct usc_program *loop;

		put(&c, rows[n].insn);
		put(&c, INSN(JUMP, .target = 0));
		put(&c, INSN(END));
		loop = build(fx, &c);
		start(fx, n, 32, loop);
		for (u32 step = 0; step < 4; step++) {
			cache_ops = 0;
			assert_true(usc_step(fx->usc, 8192, NULL));
			if (rows[n].alone)
				assert_int_equal(cache_ops, 1);
			else
				assert_true(cache_ops > 100);
		}
		usc_abort(fx->usc);
		assert_false(usc_step(fx->usc, 100, NULL));
		fx_put(fx, loop);
	}
	mmu_set_cache_op(&fx->mmu, NULL, NULL);
}

/* Instructions that the interpreter runs in pairs, in steps of one. */
static void usc_step_issues_no_more_than_its_budget(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;

	for (u32 n = 0; n < 8; n++)
		put(&c, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0)));
	for (u32 n = 0; n < 4; n++) {
		put(&c, INSN(MUL, .type = F32, .dst = R(2), .src0 = R(1), .src1 = R(1)));
		put(&c, INSN(ADD, .type = F32, .dst = R(3), .src0 = R(3), .src1 = R(2)));
	}
	put(&c, INSN(END));
	program = build(fx, &c);
	start(fx, 0, 32, program);
	for (u32 n = 1; n <= 16; n++) {
		assert_true(usc_step(fx->usc, 1, NULL));
		assert_int_equal(fx->usc->wave[0].clock, n);
		assert_int_equal(fx->usc->wave[0].pc, n);
	}
	fx_put(fx, program);
}

/* Of two waves with scalar instructions only one advances at a time. */
static void usc_waves_share_the_scalar_unit(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;

	for (u32 n = 0; n < 8; n++)
		put(&c, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = IMM, .imm = n));
	put(&c, INSN(END));
	program = build(fx, &c);
	start(fx, 0, 64, program);
	for (u32 n = 1; n <= 16; n++) {
		assert_true(usc_step(fx->usc, 1, NULL));
		assert_int_equal(fx->usc->wave[0].clock + fx->usc->wave[1].clock, n);
	}
	fx_put(fx, program);
}

static void usc_reset_drops_everything_without_reports(void **state)
{
	struct fixture *fx = *state;
	struct usc_program *loop = endless(fx);

	start(fx, 0, 32, loop);
	usc_step(fx->usc, 10, NULL);
	usc_reset(fx->usc);
	assert_false(usc_has_work(fx->usc));
	assert_false(usc_step(fx->usc, 10, NULL));
	assert_int_equal(fx->done[0], 0);
	fx_put(fx, loop);
}

static void usc_running_past_the_last_instruction_faults_there(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;

	put(&c, INSN(BRZ, .target = 1, .src0 = IMM));
	put(&c, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = K(ONE)));
	program = build(fx, &c);
	start(fx, 3, 96, program);
	fx_run(fx, 1000);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_END);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(fx->fault.pc, 2);
	assert_int_equal(fx->fault.addr, FX_CODE + 32);
	assert_int_equal(fx->fault.usc, FX_NUMBER);
	assert_int_equal(fx->fault.ctx, FX_CTX);
	assert_int_equal(fx->done[3], 1);
	fx_put(fx, program);
}

static void usc_fault_of_one_group_does_not_affect_others(void **state)
{
	struct fixture *fx = *state;
	struct code bad = { .n = 0 }, good = { .n = 0 };
	struct usc_program *b, *g;

	put(&bad, INSN(LOCAL_LOAD32, .dst = R(0), .mask = ALWAYS, .src0 = R(0), .disp = 1));
	put(&bad, INSN(END));
	put(&good, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = IMM, .imm = 9));
	put(&good, INSN(END));
	b = build(fx, &bad);
	g = build(fx, &good);
	start(fx, 0, 128, b);
	start(fx, 1, 32, g);
	fx_run(fx, 3);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_LOCAL_ALIGN);
	assert_int_equal(fx->done[0], 1);
	assert_int_equal(fx->done[1], 1);
	assert_int_equal(scalar_of(fx, 1, 0), 9);
	fx_put(fx, b);
	fx_put(fx, g);
}

static struct usc_program *ends(struct fixture *fx)
{
	struct code c = { .n = 0 };

	put(&c, INSN(END));
	return build(fx, &c);
}

/* Notifying the PDS takes locks that other units need: once for groups that end in one step. */
static void usc_groups_that_end_in_one_step_are_reported_together(void **state)
{
	struct fixture *fx = *state;
	struct usc_program *program = ends(fx), *loop = endless(fx);

	for (u32 n = 0; n < 5; n++)
		start(fx, n, 32, n == 3 ? loop : program);
	assert_true(usc_step(fx->usc, 100, NULL));
	assert_true(usc_step(fx->usc, USC_GROUP_QUANTUM, NULL));
	for (u32 n = 0; n < 5; n++)
		assert_int_equal(fx->done[n], n != 3);
	/* Those before the loop after its first slice, and those after it. */
	assert_int_equal(fx->reports, 2);
	usc_abort(fx->usc);
	assert_false(usc_step(fx->usc, 1, NULL));
	assert_int_equal(fx->done[3], 1);
	fx_put(fx, program);
	fx_put(fx, loop);
}

/* Its job counts the groups that are done before the first fault. */
static void usc_groups_that_ended_before_a_fault_are_reported_before_it(void **state)
{
	struct fixture *fx = *state;
	struct code bad = { .n = 0 };
	struct usc_program *program = ends(fx), *b;

	put(&bad, INSN(LOCAL_LOAD32, .dst = R(0), .mask = ALWAYS, .src0 = R(0), .disp = 1));
	put(&bad, INSN(END));
	b = build(fx, &bad);
	start(fx, 1, 32, program);
	start(fx, 2, 32, program);
	start(fx, 3, 32, b);
	assert_false(usc_step(fx->usc, 100, NULL));
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->done_at_fault, 1u << 1 | 1u << 2);
	assert_int_equal(fx->done[3], 1);
	fx_put(fx, program);
	fx_put(fx, b);
}

/* Make an endless loop whose waves meet at a barrier in each round. */
static struct usc_program *endless_barriers(struct fixture *fx)
{
	struct code c = { .n = 0 };

	put(&c, INSN(BARRIER));
	put(&c, INSN(JUMP, .target = 0));
	put(&c, INSN(END));
	return build(fx, &c);
}

/* A longer group does not postpone the report of those before it, however its waves alternate. */
static void usc_groups_that_ended_do_not_wait_for_a_longer_one(void **state)
{
	struct fixture *fx = *state;
	struct usc_program *program = ends(fx), *loop = endless(fx);
	struct usc_program *barriers = endless_barriers(fx);

	for (u32 n = 0; n < 2; n++) {
		start(fx, 1, 32, program);
		start(fx, 2, 64, n ? barriers : loop);
		assert_true(usc_step(fx->usc, USC_GROUP_QUANTUM, NULL));
		assert_int_equal(fx->done[1], n + 1);
		assert_in_range(fx->left_at_report, USC_GROUP_QUANTUM - USC_WAVE_QUANTUM - 1,
				USC_GROUP_QUANTUM - USC_WAVE_QUANTUM);
		usc_abort(fx->usc);
		usc_step(fx->usc, 1, NULL);
	}
	fx_put(fx, program);
	fx_put(fx, loop);
	fx_put(fx, barriers);
}

/* Another thread starts groups as fast as they end: the step ends nevertheless. */
static void usc_step_ends_though_empty_groups_are_started(void **state)
{
	struct fixture *fx = *state;
	struct usc_program *loop = endless(fx);
	struct fx_group group = group_of(0);
	_Atomic bool stop = true;

	fx_fill(fx, 4, &group, loop);
	usc_group_start(fx->usc, 4);
	fx->restarts = 1000;
	assert_true(usc_step(fx->usc, 1000, NULL));
	/* Each costs 64 instructions. */
	assert_int_equal(fx->reports, 1000 / 64 + 1);
	fx->reports = 0;
	assert_true(usc_step(fx->usc, 100, &stop));
	assert_in_range(fx->reports, 1, 2);
	fx->restarts = 0;
	assert_false(usc_step(fx->usc, 100, NULL));
	fx_put(fx, loop);
}

/* An abort that arrives when a group has ended is not for the next one with its number. */
static void usc_abort_of_an_ended_group_does_not_affect_its_successor(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *loop = endless(fx), *work;

	put(&c, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = IMM, .imm = 9));
	put(&c, INSN(END));
	work = build(fx, &c);
	start(fx, 0, 32, loop);
	atomic_store(&fx->usc->abort, 1ull << 5);
	assert_true(usc_step(fx->usc, 100, NULL));
	assert_int_equal(fx->done[0], 0);
	/* It remains until the group starts. */
	assert_int_equal(atomic_load(&fx->usc->abort), 1ull << 5);
	start(fx, 5, 32, work);
	for (u32 n = 0; n < 2; n++)
		assert_true(usc_step(fx->usc, USC_GROUP_QUANTUM, NULL));
	assert_int_equal(fx->done[5], 1);
	assert_int_equal(scalar_of(fx, 5, 0), 9);
	usc_abort(fx->usc);
	assert_false(usc_step(fx->usc, 1, NULL));
	fx_put(fx, loop);
	fx_put(fx, work);
}

static void usc_group_without_instances_is_done_at_once(void **state)
{
	struct fixture *fx = *state;
	struct usc_program *loop = endless(fx);
	struct fx_group group = group_of(0);

	group.tasks = 2;
	fx_fill(fx, 4, &group, loop);
	usc_group_start(fx->usc, 4);
	assert_true(usc_has_work(fx->usc));
	fx_run(fx, 1);
	assert_int_equal(fx->done[4], 1);
	assert_int_equal(atomic_load(&usc_group(fx->usc, 4)->state), USC_GROUP_FREE);
	fx_put(fx, loop);
}

/* Each wave stores its number before the barrier, and reads the next wave's after it. */
static void usc_barrier_blocks_until_every_wave_has_reached_it(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;

	/* The first wave is late. */
	put(&c, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = IMM, .imm = 5000));
	put(&c, INSN(BRNZ, .target = 4, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	put(&c, INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = R_ELEM(1), .src1 = IMM,
		     .imm = 1));
	put(&c, INSN(BRNZ, .target = 2, .src0 = R_ELEM(1)));
	put(&c, INSN(SHL, .dst = R(2), .src0 = SR(WAVE_IN_GROUP), .src1 = IMM, .imm = 2));
	put(&c, INSN(ADD, .dst = R(3), .src0 = SR(WAVE_IN_GROUP), .src1 = IMM, .imm = 100));
	put(&c, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(2), .src1 = R(3)));
	put(&c, INSN(BARRIER));
	put(&c, INSN(ADD, .dst = R(4), .src0 = SR(WAVE_IN_GROUP), .src1 = IMM, .imm = 1));
	put(&c, INSN(AND, .dst = R(4), .src0 = R(4), .src1 = IMM, .imm = 3));
	put(&c, INSN(SHL, .dst = R(4), .src0 = R(4), .src1 = IMM, .imm = 2));
	put(&c, INSN(LOCAL_LOAD32, .dst = R(5), .mask = ALWAYS, .src0 = R(4)));
	put(&c, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(2), .src1 = R(5)));
	put(&c, INSN(END));
	program = build(fx, &c);
	start(fx, 0, 128, program);
	fx_run(fx, 77);
	assert_int_equal(fx->faults, 0);
	for (u32 w = 0; w < 4; w++)
		assert_int_equal(data(fx)[w], 100 + (w + 1) % 4);
	fx_put(fx, program);
}

/*
 * Waves end in the order of their numbers: the slot and registers of each task but the last one are
 * free when its last wave has ended, and belong to others while later waves run.
 */
static void usc_tasks_end_before_their_group(void **state)
{
	struct fixture *fx = *state;
	const struct fx_group group = { .tasks = 4, .instances = { 128, 100, 0, 33 },
					.limits = limits };
	struct code c = { .n = 0 };
	struct usc_program *program;
	u32 i;

	/* Later waves run longer. */
	put(&c, INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = SR_ELEM(WAVE_IN_GROUP),
		     .src1 = IMM, .imm = 0));
	put(&c, INSN(BRZ, .target = 4, .src0 = R_ELEM(0)));
	put(&c, INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = R_ELEM(0), .src1 = IMM,
		     .imm = UINT32_MAX));
	put(&c, INSN(JUMP, .target = 1));
	put(&c, INSN(END));
	program = build(fx, &c);
	fx->overwrite = true;
	fx_fill(fx, 0, &group, program);
	usc_group_start(fx->usc, 0);
	for (i = 0; i < 1000 && !fx->done[0]; i++)
		usc_step(fx->usc, 1, NULL);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(fx->done[0], 1);
	assert_int_equal(fx->tasks_done, 2);
	assert_int_equal(fx->task_done[0], 0);
	assert_int_equal(fx->task_done[1], 1);
	fx_put(fx, program);
}

static void usc_barrier_that_an_ended_wave_never_reaches_faults(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;

	put(&c, INSN(BRZ, .target = 3, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	put(&c, INSN(BARRIER));
	put(&c, INSN(END));
	put(&c, INSN(END));
	program = build(fx, &c);
	start(fx, 0, 64, program);
	fx_run(fx, 100);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_BARRIER);
	assert_int_equal(fx->fault.pc, 1);
	assert_int_equal(fx->fault.addr, FX_CODE + 16);
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

/* A poll right after the load, one much later; and the number of iterations of a poll loop. */
static void usc_signal_is_first_pending_and_finally_done(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;
	u32 loop;

	put_offsets(&c, 0);
	put(&c, INSN(SIG_DONE1, .dst = R_ELEM(0), .sig0 = 3));
	put(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(6), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(7)));
	put(&c, INSN(SIG_DONE1, .dst = R_ELEM(1), .sig0 = 3));
	put(&c, INSN(SIG_DONE1, .dst = R_ELEM(2), .sig0 = 4));
	put(&c, INSN(SIG_DONE2, .dst = R_ELEM(3), .sig0 = 4, .sig1 = 3));
	loop = put(&c, INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(4), .src0 = R_ELEM(4),
			    .src1 = IMM, .imm = 1));
	put(&c, INSN(SIG_DONE2, .dst = R_ELEM(5), .sig0 = 3, .sig1 = 4));
	put(&c, INSN(BRZ, .target = loop, .src0 = R_ELEM(5)));
	put(&c, INSN(END));
	program = build(fx, &c);
	start(fx, 0, 32, program);
	fx_run(fx, 100000);
	assert_int_equal(scalar_of(fx, 0, 0), 1);	/* never used: done */
	assert_int_equal(scalar_of(fx, 0, 1), 0);
	assert_int_equal(scalar_of(fx, 0, 2), 1);	/* another signal */
	assert_int_equal(scalar_of(fx, 0, 3), 0);
	assert_true(scalar_of(fx, 0, 4) > 1);
	assert_int_equal(scalar_of(fx, 0, 5), 1);
	fx_put(fx, program);
}

/* The poll after a wait finds the signal done: a wait that skips the position polls too early. */
static void usc_wait_includes_the_signal_in_each_position(void **state)
{
	static const u16 ops[] = {
		PUMICE_USC_OP_SIG_WAIT, PUMICE_USC_OP_SIG_WAITALL2, PUMICE_USC_OP_SIG_WAITALL3,
		PUMICE_USC_OP_SIG_WAITALL4,
	};
	struct fixture *fx = *state;

	for (u32 count = 1; count <= sizeof(ops) / sizeof(ops[0]); count++) {
		for (u32 at = 0; at < count; at++) {
			struct pumice_usc_insn wait = INSN(SIG_WAIT, .dst = R_ELEM(1));
			struct code c = { .n = 0 };
			struct usc_program *program;

			wait.opcode = ops[count - 1];
			wait.sig0 = at == 0 ? 3 : 4;
			wait.sig1 = count < 2 ? 0 : at == 1 ? 3 : 5;
			wait.sig2 = count < 3 ? 0 : at == 2 ? 3 : 6;
			wait.sig3 = count < 4 ? 0 : at == 3 ? 3 : 7;
			put_offsets(&c, 0);
			put(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(6), .mask = ALWAYS,
				     .src2 = SH(0), .src0 = R(7)));
			put(&c, INSN(SIG_DONE1, .dst = R_ELEM(0), .sig0 = 3));
			put(&c, wait);
			put(&c, INSN(SIG_DONE1, .dst = R_ELEM(2), .sig0 = 3));
			put(&c, INSN(END));
			program = build(fx, &c);
			fx_clear(fx);
			start(fx, 0, 32, program);
			fx_run(fx, 100000);
			assert_int_equal(scalar_of(fx, 0, 0), 0);
			assert_int_equal(scalar_of(fx, 0, 2), 1);
			fx_put(fx, program);
		}
	}
}

/*
 * Write a program that loads with signal 3, three instructions later with signal 4, and waits; then
 * it polls signals 3, 4 and 4. Results are in R0 to R3. The second poll of signal 4 is three
 * instructions after the wait.
 */
static struct usc_program *build_wait_for_any(struct fixture *fx, struct pumice_usc_insn wait)
{
	struct code c = { .n = 0 };

	put_offsets(&c, 0);
	put(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(6), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(7)));
	put(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = IMM));
	put(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = IMM));
	put(&c, INSN(GLOBAL_LOAD32, .sig0 = 4, .dst = R(5), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(7)));
	wait.dst = R_ELEM(0);
	put(&c, wait);
	for (u32 n = 1; n <= 3; n++)
		put(&c, INSN(SIG_DONE1, .dst = R_ELEM(n), .sig0 = n == 1 ? 3 : 4));
	put(&c, INSN(END));
	return build(fx, &c);
}

/* The wait ends in the slot in which the first signal is done: the other is, three slots later. */
static void usc_wait_for_any_ends_with_the_first_signal(void **state)
{
	static const u16 ops[] = {
		PUMICE_USC_OP_SIG_WAITANY2, PUMICE_USC_OP_SIG_WAITANY3, PUMICE_USC_OP_SIG_WAITANY4,
	};
	struct fixture *fx = *state;

	for (u32 count = 2; count <= 4; count++) {
		for (u32 at = 0; at < count; at++) {
			struct usc_program *program = build_wait_for_any(fx,
				(struct pumice_usc_insn){
					.opcode = ops[count - 2],
					.sig0 = at == 0 ? 3 : 4,
					.sig1 = at == 1 ? 3 : 4,
					.sig2 = count < 3 ? 0 : at == 2 ? 3 : 4,
					.sig3 = count < 4 ? 0 : at == 3 ? 3 : 4,
				});

			fx_clear(fx);
			start(fx, 0, 32, program);
			fx_run(fx, 100000);
			assert_int_equal(scalar_of(fx, 0, 0), 1u << 3);
			assert_int_equal(scalar_of(fx, 0, 1), 1);
			assert_int_equal(scalar_of(fx, 0, 2), 0);
			assert_int_equal(scalar_of(fx, 0, 3), 1);
			fx_put(fx, program);
		}
	}
}

/* All signals that are named and done are in the result, each once, and no others. */
static void usc_wait_for_any_returns_every_signal_that_is_done(void **state)
{
	static const struct {
		struct pumice_usc_insn wait;
		u32 result;
		bool pending;	/* signals 3 and 4, before it */
	} cases[] = {
		{ INSN(SIG_WAITANY2, .sig0 = 4, .sig1 = 3), 1u << 3 | 1u << 4, false },
		{ INSN(SIG_WAITANY2, .sig0 = 3, .sig1 = 3), 1u << 3, false },
		{ INSN(SIG_WAITANY2, .sig0 = 0, .sig1 = 4), 1u << 0 | 1u << 4, false },
		{ INSN(SIG_WAITANY3, .sig0 = 4, .sig1 = 15, .sig2 = 3),
		  1u << 3 | 1u << 4 | 1u << 15, false },
		{ INSN(SIG_WAITANY4, .sig0 = 3, .sig1 = 9, .sig2 = 8, .sig3 = 4),
		  1u << 3 | 1u << 4 | 1u << 8 | 1u << 9, false },
		/* A signal that was never used is done: no wait. */
		{ INSN(SIG_WAITANY2, .sig0 = 3, .sig1 = 5), 1u << 5, true },
		{ INSN(SIG_WAITANY4, .sig0 = 5, .sig1 = 4, .sig2 = 3, .sig3 = 6),
		  1u << 5 | 1u << 6, true },
	};
	struct fixture *fx = *state;

	for (u32 n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct pumice_usc_insn wait = cases[n].wait;
		struct code c = { .n = 0 };
		struct usc_program *program;

		put_offsets(&c, 0);
		for (u32 sig = 3; sig <= 4; sig++)
			put(&c, INSN(GLOBAL_LOAD32, .sig0 = (u8)sig, .dst = R(6), .mask = ALWAYS,
				     .src2 = SH(0), .src0 = R(7)));
		if (!cases[n].pending)
			put(&c, INSN(SIG_WAITALL2, .dst = R_ELEM(5), .sig0 = 3, .sig1 = 4));
		wait.dst = R_ELEM(0);
		put(&c, wait);
		put(&c, INSN(SIG_DONE1, .dst = R_ELEM(1), .sig0 = 3));
		put(&c, INSN(END));
		program = build(fx, &c);
		fx_clear(fx);
		start(fx, 0, 32, program);
		fx_run(fx, 100000);
		assert_int_equal(scalar_of(fx, 0, 0), cases[n].result);
		assert_int_equal(scalar_of(fx, 0, 1), !cases[n].pending);
		fx_put(fx, program);
	}
}

/* Alone on the USC, among waves that run meanwhile, in steps of any size. */
static void usc_result_of_a_wait_for_any_depends_on_the_program_only(void **state)
{
	static const u32 budgets[] = { 1, 17, 1u << 20 };
	struct fixture *fx = *state;
	struct usc_program *program = build_wait_for_any(fx, INSN(SIG_WAITANY2, .sig0 = 4,
								  .sig1 = 3));

	for (u32 n = 0; n < 3 * sizeof(budgets) / sizeof(budgets[0]); n++) {
		const u32 groups = 1 + n / 3 * 3;

		fx_clear(fx);
		for (u32 group = 0; group < groups; group++)
			start(fx, group, 96, program);
		fx_run(fx, budgets[n % 3]);
		for (u32 group = 0; group < groups; group++) {
			assert_int_equal(scalar_of(fx, group, 0), 1u << 3);
			assert_int_equal(scalar_of(fx, group, 2), 0);
			assert_int_equal(scalar_of(fx, group, 3), 1);
		}
	}
	fx_put(fx, program);
}

/* Iterations of a poll loop, alone on the USC or among others, in large or small steps. */
static u32 poll_turns(struct fixture *fx, u32 others, u32 budget)
{
	struct code c = { .n = 0 };
	struct usc_program *program;
	u32 loop, turns;

	put_offsets(&c, 0);
	put(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(6), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(7)));
	loop = put(&c, INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(4), .src0 = R_ELEM(4),
			    .src1 = IMM, .imm = 1));
	put(&c, INSN(SIG_DONE1, .dst = R_ELEM(5), .sig0 = 3));
	put(&c, INSN(BRZ, .target = loop, .src0 = R_ELEM(5)));
	put(&c, INSN(END));
	program = build(fx, &c);
	fx_clear(fx);
	for (u32 n = 0; n < 1 + others; n++)
		start(fx, n, 96, program);
	fx_run(fx, budget);
	turns = scalar_of(fx, others, 4);
	fx_put(fx, program);
	return turns;
}

static void usc_result_of_a_poll_depends_on_the_program_only(void **state)
{
	struct fixture *fx = *state;
	u32 turns = poll_turns(fx, 0, 1u << 20);

	assert_int_equal(poll_turns(fx, 7, 1u << 20), turns);
	assert_int_equal(poll_turns(fx, 0, 1), turns);
	assert_int_equal(poll_turns(fx, 3, 17), turns);
}

/*
 * Wave 0 waits for a load; wave 1 first stores a word and then loops
 * for long. Wave 0 continues after the wait and reads the word.
 */
static void run_wait_and_another_wave(struct fixture *fx, struct pumice_usc_insn wait, u32 result)
{
	struct code c = { .n = 0 };
	struct usc_program *program;
	u32 other;

	put(&c, INSN(SIG_DONE1, .dst = R_ELEM(1), .sig0 = 0));
	other = put(&c, INSN(BRNZ, .target = 0, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	put(&c, INSN(GLOBAL_LOAD32, .dst = R(2), .mask = ALWAYS, .src2 = SH(0), .src0 = R(7)));
	wait.dst = R_ELEM(3);
	put(&c, wait);
	put(&c, INSN(LOCAL_LOAD32, .dst = R(4), .mask = ALWAYS, .src0 = R(7)));
	put(&c, INSN(END));
	usc_put(c.words, other, INSN(BRNZ, .target = c.n, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	put(&c, INSN(MOV, .dst = R(5), .mask = ALWAYS, .src0 = IMM, .imm = 123));
	put(&c, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(7), .src1 = R(5)));
	put(&c, INSN(END));
	program = build(fx, &c);
	fx_clear(fx);
	start(fx, 0, 64, program);
	fx_run(fx, 1u << 20);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(scalar_of(fx, 0, 3), result);
	assert_int_equal(scalar_of(fx, 0, 4), 123);
	fx_put(fx, program);
}

static void usc_wait_lets_other_waves_of_the_group_run(void **state)
{
	run_wait_and_another_wave(*state, INSN(SIG_WAIT), 1);
}

static void usc_wait_for_any_lets_other_waves_of_the_group_run(void **state)
{
	run_wait_and_another_wave(*state, INSN(SIG_WAITANY2), 1u << 0);
}

static void usc_waves_of_a_group_are_scheduled_round_robin_in_long_loops(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;

	/* Wave 0 loops until wave 1 has stored: without round robin it would never end. */
	put(&c, INSN(BRNZ, .target = 4, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	put(&c, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(7)));
	put(&c, INSN(BRZ, .target = 1, .src0 = R_ELEM(1)));
	put(&c, INSN(END));
	put(&c, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(7), .src1 = K(ONE)));
	put(&c, INSN(END));
	program = build(fx, &c);
	start(fx, 0, 64, program);
	for (u32 n = 0; n < 100 && usc_step(fx->usc, 100, NULL); n++)
		;
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

/* Document 000, "Unified Shading Cluster": instances of one group are executed at a time. */
static void usc_groups_run_one_at_a_time_for_a_quantum(void **state)
{
	struct fixture *fx = *state;
	struct code c = { .n = 0 };
	struct usc_program *program;
	u32 counted;

	/* R0 counts two instructions. */
	put(&c, INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = R_ELEM(0), .src1 = IMM,
		     .imm = 1));
	put(&c, INSN(JUMP, .target = 0));
	put(&c, INSN(END));
	program = build(fx, &c);
	start(fx, 0, 32, program);
	start(fx, 1, 32, program);
	usc_step(fx->usc, USC_GROUP_QUANTUM / 2, NULL);
	assert_true(!scalar_of(fx, 0, 0) != !scalar_of(fx, 1, 0));
	counted = scalar_of(fx, 0, 0) + scalar_of(fx, 1, 0);
	/* The other one begins after the quantum. */
	for (u32 n = 0; n < USC_GROUP_QUANTUM / 2; n++)
		usc_step(fx->usc, 1, NULL);
	assert_true(!scalar_of(fx, 0, 0) != !scalar_of(fx, 1, 0));
	assert_true(scalar_of(fx, 0, 0) + scalar_of(fx, 1, 0) > counted);
	usc_step(fx->usc, 2, NULL);
	assert_true(scalar_of(fx, 0, 0) && scalar_of(fx, 1, 0));
	usc_abort(fx->usc);
	usc_step(fx->usc, 1, NULL);
	fx_put(fx, program);
}

/* Special registers of a wave, a task and a group. */
static void usc_waves_are_numbered_through_the_tasks_of_their_group(void **state)
{
	struct fixture *fx = *state;
	struct fx_group group = { .tasks = 3, .instances = { 40, 0, 33 }, .limits = limits,
				   .first_wave = 0xfffffffeu };
	struct code c = { .n = 0 };
	struct usc_program *program;
	static const u32 instance[4] = { 0, 32, 40, 72 }, task[4] = { 0, 0, 2, 2 };
	static const u32 valid[4] = { 0xffffffff, 0xff, 0xffffffff, 1 };

	put(&c, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SR(INSTANCE)));
	put(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SR(WAVE_IN_GROUP)));
	put(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = SR(TASK_IN_GROUP)));
	put(&c, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = SR(VALID)));
	put(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = K(WAVE)));
	put(&c, INSN(MOV, .dst = R(5), .mask = ALWAYS, .src0 = SR(CORE)));
	put(&c, INSN(MOV, .dst = R(6), .mask = ALWAYS, .src0 = SR(USC)));
	put(&c, INSN(END));
	program = build(fx, &c);
	fx_run_group(fx, &group, program);
	for (u32 w = 0; w < 4; w++) {
		u32 slot = task[w] == 0 ? 0 : 2, in_task = w % 2;
		const u32 *regs = fx->usc->unified +
				  usc_wave_regs(usc_task(fx->usc, slot), in_task);

		assert_int_equal(regs[0 * 32 + 5], instance[w] + 5);
		assert_int_equal(regs[1 * 32 + 5], w);
		assert_int_equal(regs[2 * 32 + 5], task[w]);
		assert_int_equal(regs[3 * 32 + 5], valid[w]);
		assert_int_equal(regs[4 * 32 + 5], 0xfffffffeu + w);
		assert_int_equal(regs[5 * 32 + 5], FX_CORE);
		assert_int_equal(regs[6 * 32 + 5], FX_IN_CORE);
	}
	fx_put(fx, program);
}

/* Document 003, "Special Constant": also after other waves and tasks ran. */
static void usc_special_registers_are_constant_throughout_an_instance(void **state)
{
	static const u32 special[] = {
		PUMICE_USC_SR_INSTANCE, PUMICE_USC_SR_WAVE_IN_GROUP, PUMICE_USC_SR_TASK_IN_GROUP,
		PUMICE_USC_SR_VALID, PUMICE_USC_SR_CORE, PUMICE_USC_SR_USC, PUMICE_USC_SR_SLOT,
	};
	struct fixture *fx = *state;
	struct fx_group group = { .tasks = 2, .instances = { 64, 40 }, .limits = limits };
	struct code c = { .n = 0 };
	struct usc_program *program;

	/* r0 collects differences. */
	for (u32 n = 0; n < sizeof(special) / sizeof(special[0]); n++)
		put(&c, INSN(MOV, .dst = R(1 + n), .mask = ALWAYS,
			     .src0 = usc_operand(PUMICE_USC_BANK_SR, special[n], false)));
	put(&c, INSN(BARRIER));
	for (u32 n = 0; n < sizeof(special) / sizeof(special[0]); n++) {
		put(&c, INSN(XOR, .type = U32, .dst = R(1 + n), .src0 = R(1 + n),
			     .src1 = usc_operand(PUMICE_USC_BANK_SR, special[n], false)));
		put(&c, INSN(OR, .type = U32, .dst = R(0), .src0 = R(0),
			     .src1 = R(1 + n)));
	}
	put(&c, INSN(END));
	program = build(fx, &c);
	fx_run_group(fx, &group, program);
	for (u32 w = 0; w < 4; w++) {
		const u32 *regs = fx->usc->unified +
				  usc_wave_regs(usc_task(fx->usc, w / 2), w % 2);

		/* Arithmetic also writes lanes without an instance: the last wave has 24. */
		for (u32 l = 0; l < (w < 3 ? PUMICE_LANES : 8); l++)
			assert_int_equal(regs[l], 0);
	}
	fx_put(fx, program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(usc_endless_loop_leaves_the_step_and_lets_other_groups_end),
		FX_TEST(usc_abort_ends_every_group_once_and_without_fault),
		FX_TEST(usc_abort_does_not_affect_groups_started_after_it),
		FX_TEST(usc_step_returns_early_when_requested_to_stop),
		FX_TEST(usc_step_ends_after_an_operation_on_caches),
		FX_TEST(usc_step_issues_no_more_than_its_budget),
		FX_TEST(usc_waves_share_the_scalar_unit),
		FX_TEST(usc_reset_drops_everything_without_reports),
		FX_TEST(usc_running_past_the_last_instruction_faults_there),
		FX_TEST(usc_fault_of_one_group_does_not_affect_others),
		FX_TEST(usc_groups_that_end_in_one_step_are_reported_together),
		FX_TEST(usc_groups_that_ended_before_a_fault_are_reported_before_it),
		FX_TEST(usc_groups_that_ended_do_not_wait_for_a_longer_one),
		FX_TEST(usc_step_ends_though_empty_groups_are_started),
		FX_TEST(usc_abort_of_an_ended_group_does_not_affect_its_successor),
		FX_TEST(usc_group_without_instances_is_done_at_once),
		FX_TEST(usc_barrier_blocks_until_every_wave_has_reached_it),
		FX_TEST(usc_tasks_end_before_their_group),
		FX_TEST(usc_barrier_that_an_ended_wave_never_reaches_faults),
		FX_TEST(usc_signal_is_first_pending_and_finally_done),
		FX_TEST(usc_wait_includes_the_signal_in_each_position),
		FX_TEST(usc_wait_for_any_ends_with_the_first_signal),
		FX_TEST(usc_wait_for_any_returns_every_signal_that_is_done),
		FX_TEST(usc_result_of_a_wait_for_any_depends_on_the_program_only),
		FX_TEST(usc_result_of_a_poll_depends_on_the_program_only),
		FX_TEST(usc_wait_lets_other_waves_of_the_group_run),
		FX_TEST(usc_wait_for_any_lets_other_waves_of_the_group_run),
		FX_TEST(usc_waves_of_a_group_are_scheduled_round_robin_in_long_loops),
		FX_TEST(usc_groups_run_one_at_a_time_for_a_quantum),
		FX_TEST(usc_waves_are_numbered_through_the_tasks_of_their_group),
		FX_TEST(usc_special_registers_are_constant_throughout_an_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
