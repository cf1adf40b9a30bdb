// SPDX-License-Identifier: MIT
/*
 * Tasks without instances in the vertex control stream. Draws are of points; the number of the
 * first vertex identifies the draw. The fixture checks that no vertex of a dependent draw is shaded
 * too early, whatever the order of its steps.
 */
#include "vdm_fixture.h"

#include "perf.h"

#define BEFORE		200u	/* points of the draw before the task */
#define FREE		1000u	/* first point of the one after it, which does not depend on it, */
#define FREE_POINTS	150u
#define DEPENDENT	2000u	/* and of the one that does */
#define DEPENDENT_POINTS 180u
#define POINTS		(BEFORE + FREE_POINTS + DEPENDENT_POINTS)

struct stream {
	u32 word[128], words;
};

static void put_state(struct stream *s)
{
	pumice_vdm_state_cmd_pack(s->word + s->words,
				  &(struct pumice_vdm_state_cmd){ .addr = VDMFX_STATE });
	s->words += PUMICE_VDM_STATE_CMD_WORDS;
}

static void put_draw(struct stream *s, u32 first, u32 count, bool after)
{
	pumice_vdm_draw_pack(s->word + s->words, &(struct pumice_vdm_draw){
		.topology = PUMICE_TOPOLOGY_POINTS, .after = after, .first = first, .count = count,
		.instances = 1 });
	s->words += PUMICE_VDM_DRAW_WORDS;
}

/* A draw of one point, as the counts at VDMFX_COUNTS have it. */
static void put_indirect(struct stream *s)
{
	pumice_vdm_draw_indirect_pack(s->word + s->words, &(struct pumice_vdm_draw_indirect){
		.topology = PUMICE_TOPOLOGY_POINTS, .after = true, .addr = VDMFX_COUNTS });
	s->words += PUMICE_VDM_DRAW_INDIRECT_WORDS;
}

static void put_task(struct stream *s)
{
	pumice_vdm_task_pack(s->word + s->words, &(struct pumice_vdm_task){ 0 });
	s->words += PUMICE_VDM_TASK_WORDS;
}

static void finish(struct vdm_fixture *fx, struct stream *s)
{
	pumice_vdm_halt_pack(s->word + s->words, &(struct pumice_vdm_halt){ 0 });
	vdmfx_put(fx, VDMFX_STREAM, s->word, s->words + PUMICE_VDM_HALT_WORDS);
}

/* A draw, two tasks, and a draw of each kind. */
static void put_draws(struct vdm_fixture *fx)
{
	const struct pumice_vdm_state record = vdmfx_state(false);
	struct stream s = { .words = 0 };

	vdmfx_put_state(fx, &record);
	put_state(&s);
	put_draw(&s, 0, BEFORE, false);
	put_task(&s);
	put_draw(&s, FREE, FREE_POINTS, false);
	put_task(&s);
	put_draw(&s, DEPENDENT, DEPENDENT_POINTS, true);
	finish(fx, &s);
	fx->dependent = DEPENDENT;
	fx->needs = 2;
}

static void expect_draws(const struct vdm_fixture *fx)
{
	u32 i;

	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_int_equal(fx->sequences, 2);
	assert_int_equal(fx->drawn.count, POINTS);
	for (i = 0; i < POINTS; i++)
		assert_int_equal(fx->drawn.prim[i].vertex[0],
				 i < BEFORE ? i : i < BEFORE + FREE_POINTS ? FREE + i - BEFORE :
				 DEPENDENT + i - BEFORE - FREE_POINTS);
}

static void a_task_waits_for_the_draws_before_it(void **state)
{
	u32 round, independent = 0;

	(void)state;
	for (round = 0; round < 300; round++) {
		struct vdm_fixture *fx = vdmfx_create_fifo(1u << round % 3, 1 + round % 4);

		fx->seed = round * 131 + 1;
		put_draws(fx);
		assert_true(vdmfx_start(fx, 1 + vdmfx_random(fx, 100)));
		vdmfx_run(fx);
		vdmfx_render(fx);
		expect_draws(fx);
		assert_true(fx->submitted_before[0] >= BEFORE);
		assert_true(fx->submitted_before[1] >= BEFORE + FREE_POINTS);
		independent += fx->independent;
		vdmfx_destroy(fx);
	}
	/* Other draws do not wait: several cores shade them meanwhile. */
	assert_true(independent > 1000);
}

static void partial_renders_keep_tasks_and_draws_in_order(void **state)
{
	u32 round, stops_seen = 0;

	(void)state;
	for (round = 0; round < 200; round++) {
		struct vdm_fixture *fx = vdmfx_create_fifo(1u << round % 3, 1 + round % 2);
		unsigned int stops = 0;

		fx->seed = round * 337 + 7;
		fx->pages = 1 + vdmfx_random(fx, 60);
		put_draws(fx);
		assert_true(vdmfx_start(fx, 1 + vdmfx_random(fx, 60)));
		for (vdmfx_run(fx); fx->ended[DM_MEMORY] > stops; vdmfx_run(fx)) {
			vdmfx_call(fx, vdm_flush);
			vdmfx_run(fx);
			stops = fx->ended[DM_MEMORY];
			vdmfx_render(fx);
			vdmfx_call(fx, vdm_resume);
		}
		vdmfx_render(fx);
		expect_draws(fx);
		stops_seen += stops;
		vdmfx_destroy(fx);
	}
	assert_true(stops_seen > 200);
}

/* The counts of a dependent draw are read when the task has ended. */
static void counts_are_read_after_the_task(void **state)
{
	const struct pumice_vdm_state record = vdmfx_state(false);
	const u32 counts[2][4] = { { 5, 1, 40, 0 }, { 3, 1, 70, 0 } };
	struct vdm_fixture *fx = vdmfx_create(2);
	struct stream s = { .words = 0 };
	u32 i;

	(void)state;
	vdmfx_put_state(fx, &record);
	put_state(&s);
	put_draw(&s, 0, BEFORE, false);
	put_task(&s);
	put_indirect(&s);
	finish(fx, &s);
	vdmfx_put(fx, VDMFX_COUNTS, counts[0], 4);
	assert_true(vdmfx_start(fx, 1000));
	for (i = 0; !fx->sequences && i < 10000; i++)
		assert_true(vdmfx_step(fx));
	/* The task has ended, and no unit has been stepped since. */
	vdmfx_put(fx, VDMFX_COUNTS, counts[1], 4);
	vdmfx_run(fx);
	vdmfx_render(fx);
	assert_int_equal(fx->drawn.count, BEFORE + 3);
	assert_int_equal(fx->drawn.prim[BEFORE].vertex[0], 70);
	vdmfx_destroy(fx);
}

static void a_task_at_the_ends_of_a_stream(void **state)
{
	const struct pumice_vdm_state record = vdmfx_state(true);
	struct vdm_fixture *fx = vdmfx_create(2);
	struct stream s = { .words = 0 };

	(void)state;
	vdmfx_put_state(fx, &record);
	put_state(&s);
	put_task(&s);
	put_task(&s);
	finish(fx, &s);
	assert_true(vdmfx_start(fx, 7));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_int_equal(fx->sequences, 2);
	assert_true(fx->state.valid);
	assert_int_equal(vdm_status(fx->vdm)->done, 0);
	vdmfx_destroy(fx);
}

static void a_task_needs_state(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	struct stream s = { .words = 0 };

	(void)state;
	put_task(&s);
	finish(fx, &s);
	assert_true(vdmfx_start(fx, 7));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_FAULT], 1);
	assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_VDM_STATE);
	assert_int_equal(vdmfx_fault(fx)->addr, VDMFX_STREAM);
	vdmfx_destroy(fx);
}

/* After any number of steps; the fixture checks that nothing is left. */
static void a_job_with_tasks_can_be_stopped_at_any_step(void **state)
{
	bool done = false;
	u32 steps, i;

	(void)state;
	for (steps = 0; !done; steps++) {
		struct vdm_fixture *fx = vdmfx_create(1 + steps % 4);

		put_draws(fx);
		assert_true(vdmfx_start(fx, 40));
		for (i = 0; i < steps && vdmfx_step(fx); i++)
			;
		done = fx->ended[DM_DONE];
		vdmfx_call(fx, vdm_abort);
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_ABORTED] + fx->ended[DM_DONE], 1);
		vdmfx_destroy(fx);
	}
	assert_true(steps > 50);
}

/* ------------------------------------------------------------ flushes */

static u32 flushes;

/* All vertices of the draw before it are in the TA, none of the one after it. */
static void flushed(void *opaque, const struct mmu_cache_op *op)
{
	const struct vdm_fixture *fx = opaque;

	flushes++;
	assert_int_equal(fx->submitted, BEFORE);
	assert_int_equal(op->kind, MMU_CACHE_CLEAN);
	assert_int_equal(op->scope, PUMICE_MEM_SCOPE_GPU);
	assert_int_equal(op->usc, MMU_ALL_USCS);
	assert_int_equal(op->ctx, FX_CTX);
}

/* @bits: of the command besides those of a flush that cleans */
static void put_flush(struct stream *s, u32 bits)
{
	pumice_vdm_flush_pack(s->word + s->words, &(struct pumice_vdm_flush){
		.scope = PUMICE_MEM_SCOPE_GPU, .clean = true });
	s->word[s->words++] |= bits;
}

static void a_flush_waits_for_the_draws_before_it(void **state)
{
	const struct pumice_vdm_state record = vdmfx_state(false);
	u32 round;

	(void)state;
	for (round = 0; round < 100; round++) {
		struct vdm_fixture *fx = vdmfx_create_fifo(1u << round % 3, 1 + round % 4);
		struct stream s = { .words = 0 };

		fx->seed = round * 131 + 1;
		flushes = 0;
		mmu_set_cache_op(&fx->base->mmu, flushed, fx);
		vdmfx_put_state(fx, &record);
		put_state(&s);
		put_draw(&s, 0, BEFORE, false);
		put_flush(&s, 0);
		put_draw(&s, FREE, FREE_POINTS, false);
		finish(fx, &s);
		assert_true(vdmfx_start(fx, 1 + vdmfx_random(fx, 100)));
		vdmfx_run(fx);
		vdmfx_render(fx);
		assert_int_equal(fx->ended[DM_DONE], 1);
		assert_int_equal(fx->drawn.count, BEFORE + FREE_POINTS);
		assert_int_equal(flushes, 1);
		vdmfx_destroy(fx);
	}
}

/* All vertices of the draw before the task are in the TA. It has not begun, nor a draw after it. */
static void fenced(void *opaque, const struct mmu_cache_op *op)
{
	const struct vdm_fixture *fx = opaque;

	flushes++;
	assert_int_equal(fx->submitted, BEFORE);
	assert_int_equal(fx->sequences, 0);
	assert_int_equal(op->kind, MMU_CACHE_INVALIDATE);
	assert_int_equal(op->scope, PUMICE_MEM_SCOPE_GPU);
	assert_int_equal(op->usc, MMU_ALL_USCS);
	assert_int_equal(op->ctx, FX_CTX);
}

static void a_task_sees_the_stores_of_the_draws_before_it(void **state)
{
	const struct pumice_vdm_state record = vdmfx_state(false);
	struct vdm_fixture *fx = vdmfx_create(2);
	struct stream s = { .words = 0 };

	(void)state;
	flushes = 0;
	mmu_set_cache_op(&fx->base->mmu, fenced, fx);
	vdmfx_put_state(fx, &record);
	put_state(&s);
	put_draw(&s, 0, BEFORE, false);
	put_task(&s);
	put_draw(&s, FREE, FREE_POINTS, true);
	finish(fx, &s);
	assert_true(vdmfx_start(fx, 100));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_int_equal(flushes, 1);
	vdmfx_destroy(fx);
}

static void count_flush(void *opaque, const struct mmu_cache_op *op)
{
	(void)opaque;
	(void)op;
	flushes++;
}

/* With the device lock held: between two of them the lock is released. */
static void a_flush_ends_the_step_in_detailed_modes(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(1);
	const _Atomic bool stop = true;
	struct stream s = { .words = 0 };
	u32 n;

	(void)state;
	flushes = 0;
	mmu_set_cache_op(&fx->base->mmu, count_flush, NULL);
	for (n = 0; n < 8; n++)
		put_flush(&s, 0);
	finish(fx, &s);
	assert_true(vdmfx_start(fx, 10));
	while (!flushes)
		vdm_core_step(fx->vdm, 0, &stop);
	for (n = 1; n < 8; n++) {
		assert_int_equal(flushes, n);
		vdm_core_step(fx->vdm, 0, &stop);
	}
	vdmfx_run(fx);
	assert_int_equal(flushes, 8);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_destroy(fx);
}

/* The fence of a task is an operation, too: a FLUSH after it is in another step. */
static void a_task_and_a_flush_are_in_two_steps(void **state)
{
	const struct pumice_vdm_state record = vdmfx_state(false);
	struct vdm_fixture *fx = vdmfx_create(1);
	struct stream s = { .words = 0 };
	u32 n, before = 0;

	(void)state;
	flushes = 0;
	mmu_set_cache_op(&fx->base->mmu, count_flush, NULL);
	vdmfx_put_state(fx, &record);
	put_state(&s);
	for (n = 0; n < 4; n++) {
		put_task(&s);
		put_flush(&s, 0);
	}
	finish(fx, &s);
	assert_true(vdmfx_start(fx, 10));
	for (fx->stop = true; vdmfx_step(fx); before = flushes)
		assert_true(flushes - before <= 1);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_int_equal(flushes, 8);
	vdmfx_destroy(fx);
}

/* Scopes beyond the last one, and reserved bits; the next job runs. */
static void bad_flushes_are_refused(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	u32 bit;

	(void)state;
	for (bit = 4; bit < 28; bit = bit == 4 ? 7 : bit + 1) {
		struct stream s = { .words = 0 };

		put_flush(&s, 1u << bit);
		finish(fx, &s);
		assert_true(vdmfx_start(fx, 10));
		vdmfx_run(fx);
		assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_VDM_RESERVED);
		assert_int_equal(vdmfx_fault(fx)->addr, VDMFX_STREAM);
	}
	put_draws(fx);
	assert_true(vdmfx_start(fx, 10));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_waits_for_the_draws_before_it),
		cmocka_unit_test(partial_renders_keep_tasks_and_draws_in_order),
		cmocka_unit_test(counts_are_read_after_the_task),
		cmocka_unit_test(a_task_at_the_ends_of_a_stream),
		cmocka_unit_test(a_task_needs_state),
		cmocka_unit_test(a_job_with_tasks_can_be_stopped_at_any_step),
		cmocka_unit_test(a_flush_waits_for_the_draws_before_it),
		cmocka_unit_test(a_task_sees_the_stores_of_the_draws_before_it),
		cmocka_unit_test(a_flush_ends_the_step_in_detailed_modes),
		cmocka_unit_test(a_task_and_a_flush_are_in_two_steps),
		cmocka_unit_test(bad_flushes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
