// SPDX-License-Identifier: MIT
/*
 * The event trace of a fragment job: every begin has one end, also if the job is stopped or the
 * host changes what is traced; texture reads are those of the job.
 */
#include "fixture.h"
#include "perf.h"

#define BEGIN	PUMICE_TRACE_PHASE_BEGIN
#define ENDS	PUMICE_TRACE_PHASE_END
#define CANCEL	PUMICE_TRACE_PHASE_CANCEL
#define TILES	6u

static struct fixture fx;

static int open_fixture(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

/* 3x2 tiles, two triangles over all of them, a background and an end of tile; started. */
static void start(enum fx_program program)
{
	const struct scene_size size = { .width = 70, .height = 50, .samples = 1,
					 .tile_size = PUMICE_TILE_SIZE_32X32 };
	const struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_ALWAYS, .scissor_x1 = 8192, .scissor_y1 = 8192,
		.sample_mask = 15, .pass_type = PUMICE_PASS_TYPE_TRANSLUCENT,
	};
	const struct scene_prim prims[2] = {
		{ .triangle = { .x = { 0, 100 << 8, 0 }, .y = { 0, 0, 100 << 8 },
				.z = { 0.5f, 0.5f, 0.5f } }, .value = { 3, 0.5f } },
		{ .triangle = { .x = { 100 << 8, 100 << 8, 0 }, .y = { 0, 100 << 8, 100 << 8 },
				.z = { 0.5f, 0.5f, 0.5f } }, .value = { 4, 0.5f } },
	};

	scene_begin(&fx, &size);
	pumice_stage_pack(fx.record.background, &fx.stage[FX_BACKGROUND]);
	scene_set_object(&fx, 0, &isp, program, false);
	scene_draw(&fx, 0, prims, 2);
	scene_end(&fx, true);
	fx_start(&fx, false);
}

/* Begin a trace as the register write does. */
static void begin_trace(u32 ctrl)
{
	testtrace_on(&fx.trace, 0);
	fx.locked = true;
	pds_trace_begin(fx.pds);
	fx.locked = false;
	pdm_trace_begin(fx.pdm);
	testtrace_on(&fx.trace, ctrl);
}

static u32 events(u32 kind, u32 phase, struct pumice_trace_record *last)
{
	return testtrace_events(&fx.trace, kind, phase, last);
}

static void abort_now(void)
{
	fx.locked = true;
	pdm_abort(fx.pdm);
	fx.locked = false;
}

static void an_abort_at_any_time_cancels_begun_work(void **state)
{
	u32 steps, i, tiles = 0, passes = 0;
	struct pumice_trace_record r = { 0 };
	bool over = false;

	(void)state;
	for (steps = 0; !over; steps++) {
		begin_trace(TESTTRACE_ALL);
		start(FX_READS);
		for (i = 0; i < steps && !fx.ends; i++)
			assert_true(fx_step(&fx));
		over = fx.ends;
		abort_now();
		if (!over)
			fx_run(&fx);
		testtrace_check_pairs(&fx.trace);
		tiles += events(PUMICE_TRACE_KIND_TILE, CANCEL, NULL);
		passes += events(PUMICE_TRACE_KIND_SPANS, CANCEL, NULL);
		assert_int_equal(events(PUMICE_TRACE_KIND_JOB_END, 0, &r), 1);
		assert_int_equal(r.arg1, fx.end);
		assert_int_equal(r.context, (u32)FX_TAG);
		if (fx.end == DM_DONE)
			assert_int_equal(events(PUMICE_TRACE_KIND_TILE, ENDS, NULL), TILES);
		else
			assert_int_equal(r.arg1, PUMICE_TRACE_END_ABORTED);
	}
	assert_true(tiles > 0 && passes > 0);
}

static void tasks_that_never_end_are_cancelled(void **state)
{
	u32 i;

	(void)state;
	begin_trace(TESTTRACE_ALL);
	start(FX_LOOP);
	for (i = 0; i < 100; i++)
		assert_true(fx_step(&fx));
	abort_now();
	fx_run(&fx);
	assert_int_equal(fx.end, DM_ABORTED);
	testtrace_check_pairs(&fx.trace);
	assert_true(events(PUMICE_TRACE_KIND_TASK, CANCEL, NULL) > 0);
	assert_int_equal(events(PUMICE_TRACE_KIND_TILE, ENDS, NULL), 0);
}

static void a_fault_cancels_begun_work(void **state)
{
	struct pumice_trace_record r = { 0 };

	(void)state;
	begin_trace(TESTTRACE_ALL);
	start(FX_BAD_STORE);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_FAULT);
	testtrace_check_pairs(&fx.trace);
	assert_true(events(PUMICE_TRACE_KIND_TASK, CANCEL, NULL) > 0);
	assert_true(events(PUMICE_TRACE_KIND_TILE, CANCEL, NULL) > 0);
	assert_int_equal(events(PUMICE_TRACE_KIND_JOB_END, 0, &r), 1);
	assert_int_equal(r.arg1, PUMICE_TRACE_END_FAULT);
}

static void begins_and_ends_are_paired_whatever_is_enabled(void **state)
{
	u32 round, seed = 1;

	(void)state;
	for (round = 0; round < 20; round++) {
		begin_trace(TESTTRACE_ALL);
		start(FX_BLEND);
		while (!fx.ends) {
			assert_true(fx_step(&fx));
			seed = seed * 1664525 + 1013904223;
			testtrace_on(&fx.trace, TESTTRACE_ALL & (1u << 31 | 1u | seed >> 3));
		}
		testtrace_check_pairs(&fx.trace);
		assert_true(testtrace_count(&fx.trace) > 20);
	}
}

static void a_tile_that_began_before_the_trace_has_no_end_in_it(void **state)
{
	u32 steps, i;

	(void)state;
	for (steps = 1; steps < 6; steps++) {
		testtrace_on(&fx.trace, 0);
		start(FX_BLEND);
		for (i = 0; i < steps; i++)
			assert_true(fx_step(&fx));
		begin_trace(TESTTRACE_ALL);
		fx_run(&fx);
		testtrace_check_pairs(&fx.trace);
		assert_int_equal(events(PUMICE_TRACE_KIND_JOB_END, 0, NULL), 1);
	}
}

static u64 all_reads(void)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	halves_counters_add(fx.halves, value);
	return value[PUMICE_PERF_TAG_READS];
}

/* Reads in the last record of each texture unit, summed over iterators or USCs. */
static u64 traced_reads(u64 iterators)
{
	u64 last[FX_USCS] = { 0 }, sum = 0;
	u32 i;

	for (i = 0; i < testtrace_count(&fx.trace); i++) {
		const struct pumice_trace_record r = testtrace_record(&fx.trace, i);

		if (r.kind != PUMICE_TRACE_KIND_TAG || r.arg1 != iterators)
			continue;
		assert_int_equal(r.dm, PUMICE_TRACE_MASTER_PDM);
		assert_int_equal(r.mmu_ctx, FX_CTX);
		assert_true(r.arg0 > last[r.usc]);
		last[r.usc] = r.arg0;
	}
	for (i = 0; i < FX_USCS; i++)
		sum += last[i];
	return sum;
}

/* Textures of FX_READS are read by iterators. */
static void reads_are_those_of_the_traced_jobs(void **state)
{
	u64 before, job;

	(void)state;
	testtrace_on(&fx.trace, 0);
	before = all_reads();
	start(FX_READS);
	fx_run(&fx);
	job = all_reads() - before;
	assert_true(job > 0);
	/* A job that reads no texture has no reads of the previous one. */
	begin_trace(TESTTRACE_ALL);
	start(FX_BLEND);
	fx_run(&fx);
	assert_int_equal(events(PUMICE_TRACE_KIND_TAG, 0, NULL), 0);
	start(FX_READS);
	fx_run(&fx);
	assert_int_equal(traced_reads(1), job);
	assert_int_equal(traced_reads(0), 0);
}

/* Reads of a stopped job are not attributed to the next one. */
static void reads_of_a_stopped_job_are_its_own(void **state)
{
	struct pumice_trace_record r = { 0 };
	u64 before;
	u32 i;

	(void)state;
	begin_trace(TESTTRACE_ALL);
	before = all_reads();
	start(FX_READS);
	for (i = 0; all_reads() == before; i++)
		assert_true(fx_step(&fx));
	abort_now();
	fx_run(&fx);
	assert_int_equal(fx.end, DM_ABORTED);
	assert_int_equal(traced_reads(1), all_reads() - before);
	i = events(PUMICE_TRACE_KIND_TAG, 0, &r);
	assert_int_equal(r.context, (u32)FX_TAG);
	start(FX_BLEND);
	fx_run(&fx);
	assert_int_equal(events(PUMICE_TRACE_KIND_TAG, 0, NULL), i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_abort_at_any_time_cancels_begun_work),
		cmocka_unit_test(tasks_that_never_end_are_cancelled),
		cmocka_unit_test(a_fault_cancels_begun_work),
		cmocka_unit_test(begins_and_ends_are_paired_whatever_is_enabled),
		cmocka_unit_test(a_tile_that_began_before_the_trace_has_no_end_in_it),
		cmocka_unit_test(reads_are_those_of_the_traced_jobs),
		cmocka_unit_test(reads_of_a_stopped_job_are_its_own),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
