// SPDX-License-Identifier: MIT
/*
 * Launches of the RDM: uniforms and cores of tasks, launches of no rays, queries that are
 * interrupted, programs that are released, and jobs that stop at any point.
 */
#include "rdm_fixture.h"

#include <string.h>

#include "perf.h"

#define BATCH	RDMFX_BATCH

static struct rdm_fixture *fx;

static int create(void **state)
{
	(void)state;
	fx = rdmfx_create();
	return 0;
}

static void run_done(void)
{
	rdmfx_start(fx);
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(rdm_status(fx->rdm)->done, fx->pds.tasks);
}

/* ------------------------------------------------------------ tasks */

static void tasks_have_the_uniforms_of_their_state(void **state)
{
	static const struct state states[] = {
		{ .generate = true, .hit = true, .miss = true, .pds = 0x1000, .uniforms = 0x7100,
		  .uniform_words = 40 },
		{ .hit = true, .pds = 0x2000, .uniforms = 0x7200,
		  .uniform_words = PUMICE_USC_MAX_UNIFORMS },
		{ .miss = true, .pds = 0x3000 },
	};
	u32 n, tasks[3] = { 0 };

	(void)state;
	for (n = 0; n < 3; n++) {
		put_state(fx, &states[n]);
		put_launch(fx, 2 * BATCH, 1, states[n].generate ? 0 : RDMFX_RAYS);
	}
	put_halt(fx);
	run_done();
	for (n = 0; n < fx->pds.tasks; n++) {
		const struct fake_task *task = &fx->pds.task[n];
		const u64 of = task->pds_addr / 0x1000 - 1;

		assert_in_range(of, 0, 2);
		tasks[of]++;
		assert_int_equal(task->uniforms, states[of].uniforms);
		assert_int_equal(task->uniform_words, states[of].uniform_words);
	}
	assert_int_equal(tasks[0], 2 + 1 + 1);
	assert_int_equal(tasks[1], 1);
	assert_int_equal(tasks[2], 1);
	rdmfx_destroy(fx);
}

/* Launch tasks of rays that miss, and halt. */
static void put_tasks(u32 count)
{
	fx->all_miss = true;
	put_state(fx, &(struct state){ .miss = true });
	put_launch(fx, BATCH, count, RDMFX_RAYS);
	put_halt(fx);
}

static void assert_cores(const unsigned int *core, u32 count)
{
	u32 n;

	assert_int_equal(fx->pds.tasks, count);
	for (n = 0; n < count; n++)
		assert_int_equal(fx->pds.task[n].core, core[n]);
}

static void each_task_is_dispatched_to_the_next_core(void **state)
{
	static const unsigned int cores[] = { 0, 1, 2, 0, 1 };

	(void)state;
	put_tasks(5);
	run_done();
	assert_cores(cores, 5);
	rdmfx_destroy(fx);
}

/* The claim that waited on the full core is left: a task runs on another one. */
static void a_task_runs_on_the_next_core_with_room(void **state)
{
	static const unsigned int cores[] = { 1, 2, 1, 2, 1 };

	(void)state;
	fx->pds.room[0] = 0;
	put_tasks(5);
	rdmfx_start(fx);
	rdmfx_walk(fx);
	assert_cores(cores, 5);
	assert_int_equal(fx->pds.running, 5);
	assert_int_equal(fx->pds.leaves[0], 3);
	assert_int_equal(fx->pds.leaves[1] + fx->pds.leaves[2], 0);
	assert_false(fx->pds.waits[0]);
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_DONE);
	rdmfx_destroy(fx);
}

static void a_task_that_waits_on_all_cores_runs_on_the_first_with_room(void **state)
{
	static const unsigned int cores[] = { 0, 1, 2, 2, 0 };
	u32 n;

	(void)state;
	for (n = 0; n < RDMFX_CORES; n++)
		fx->pds.room[n] = 1;
	put_tasks(5);
	rdmfx_start(fx);
	rdmfx_walk(fx);
	assert_int_equal(fx->pds.running, 3);
	for (n = 0; n < RDMFX_CORES; n++)
		assert_true(fx->pds.waits[n]);
	assert_true(rdmfx_finish(fx, true));	/* of core 2 */
	rdmfx_walk(fx);
	assert_int_equal(fx->pds.running, 3);
	for (n = 0; n < RDMFX_CORES; n++)	/* the last one waits */
		assert_true(fx->pds.waits[n]);
	assert_int_equal(fx->pds.leaves[0], 1);
	assert_int_equal(fx->pds.leaves[1], 1);
	assert_int_equal(fx->pds.leaves[2], 0);
	rdmfx_run(fx);
	assert_cores(cores, 5);
	assert_int_equal(fx->end, DM_DONE);
	rdmfx_destroy(fx);
}

/* ------------------------------------------------------------ launches */

static void a_launch_of_no_rays_does_nothing(void **state)
{
	(void)state;
	put_state(fx, &(struct state){ .hit = true, .miss = true });
	put_launch(fx, 0, 5, RDMFX_RAYS);
	put_launch(fx, 5, 0, RDMFX_RAYS);
	put_halt(fx);
	run_done();
	assert_int_equal(fx->pds.loads, 0);
	put_state(fx, &(struct state){ .hit = true, .miss = true });
	put_launch(fx, 0, 0, RDMFX_RAYS);
	put_launch(fx, BATCH, 1, RDMFX_RAYS);
	put_launch(fx, UINT32_MAX, 0, RDMFX_RAYS);
	put_halt(fx);
	run_done();
	assert_int_equal(fx->pds.loads, 2);
	assert_int_equal(fx->pds.tasks, 2);
	rdmfx_destroy(fx);
}

static void expect_fault(enum pumice_fault fault, u64 addr)
{
	const struct gpu_fault *got = &rdm_status(fx->rdm)->fault;

	rdmfx_start(fx);
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_FAULT);
	assert_int_equal(got->fault, fault);
	assert_int_equal(got->unit, PUMICE_UNIT_RDM);
	assert_int_equal(got->addr, addr);
}

static void a_launch_of_no_rays_needs_a_valid_state(void **state)
{
	u64 at;

	(void)state;
	put_launch(fx, 0, 0, RDMFX_RAYS);
	expect_fault(PUMICE_FAULT_RDM_STATE, RDMFX_STREAM);
	put_state(fx, &(struct state){ .generate = true });
	at = fx->at;
	put_launch(fx, 0, 0, RDMFX_RAYS);	/* two sources of rays */
	expect_fault(PUMICE_FAULT_RDM_STATE, at);
	rdmfx_destroy(fx);
}

static void a_job_does_not_have_the_programs_of_the_job_before(void **state)
{
	(void)state;
	put_tasks(1);
	run_done();
	put_launch(fx, BATCH, 1, RDMFX_RAYS);
	expect_fault(PUMICE_FAULT_RDM_STATE, RDMFX_STREAM);
	assert_int_equal(fx->pds.tasks, 1);
	rdmfx_destroy(fx);
}

static u64 busy_time(void)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	rdm_counters_add(fx->rdm, value);
	return value[PUMICE_PERF_RDM_BUSY];
}

static void the_time_of_jobs_is_counted(void **state)
{
	const u64 job = 1000000;
	u64 begin, busy, n;

	(void)state;
	assert_int_equal(busy_time(), 0);
	for (n = 1; n <= 2; n++) {
		busy = busy_time();
		begin = fx->clock;
		put_tasks(5);
		rdmfx_start(fx);
		fx->clock += job;
		assert_in_range(busy_time(), busy + job, busy + fx->clock - begin);
		rdmfx_run(fx);
		assert_in_range(busy_time(), busy + job, busy + fx->clock - begin);
		busy = busy_time();
		fx->clock += job;	/* without a job */
		assert_int_equal(busy_time(), busy);
	}
	rdm_reset(fx->rdm);
	assert_int_equal(busy_time(), 0);
	rdmfx_destroy(fx);
}

/* ------------------------------------------------------------ queries */

/* The fixture compares each query with the one that was interrupted. */
static void interrupted_queries_are_resumed(void **state)
{
	static const struct state states[] = {
		{ .hit = true, .miss = true }, { .generate = true, .hit = true, .miss = true },
	};
	u32 n;

	(void)state;
	fx->single = 3;
	for (n = 0; n < 2; n++) {
		put_state(fx, &states[n]);
		put_launch(fx, 3 * BATCH, 1, n ? 0 : RDMFX_RAYS);
	}
	put_halt(fx);
	run_done();
	assert_int_equal(fx->interrupted, 2 * 3 * BATCH / PUMICE_LANES);
	rdmfx_destroy(fx);
}

/* Batches whose rays were generated meanwhile wait, also those of smaller numbers. */
static void the_walker_completes_the_query_that_it_has_begun(void **state)
{
	(void)state;
	fx->single = PUMICE_LANES;
	fx->stop = true;
	put_state(fx, &(struct state){ .generate = true, .hit = true });
	put_launch(fx, 3 * BATCH, 1, 0);
	put_halt(fx);
	rdmfx_start(fx);
	rdmfx_walk(fx);
	assert_int_equal(fx->pds.running, 3);
	assert_true(rdmfx_finish(fx, true));
	while (!fx->query)
		assert_true(rdmfx_step(fx));
	assert_true(rdmfx_finish(fx, false));
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->interrupted, 3 * BATCH / PUMICE_LANES);
	rdmfx_destroy(fx);
}

/* ------------------------------------------------------------ programs */

/* The fixture checks at every end of a job that all are released. */
static void programs_are_released_when_their_place_is_used_again(void **state)
{
	u32 n;

	(void)state;
	fx->all_miss = true;
	for (n = 0; n < 5; n++) {
		put_state(fx, &(struct state){ .hit = true, .miss = true, .pds = 0x1000 * n });
		put_launch(fx, BATCH, 1, RDMFX_RAYS);
	}
	put_halt(fx);
	rdmfx_start(fx);
	rdmfx_walk(fx);
	/* The third launch waits for the task of the first one. */
	assert_int_equal(fx->pds.running, 2);
	assert_int_equal(fx->pds.loaded, 4);
	while (!fx->ended) {
		rdmfx_walk(fx);
		assert_in_range(fx->pds.loaded, 0, 4);
		assert_true(fx->ended || rdmfx_finish(fx, false));
	}
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.loads, 10);
	assert_int_equal(fx->pds.tasks, 5);
	rdmfx_destroy(fx);
}

/*
 * A small vertex pipe memory: tasks generate fewer rays; rays of buffers need none of it. Their
 * outputs are read, and their rows returned, when they have ended: the fixture overwrites them.
 */
static void batches_have_room_for_their_outputs(void **state)
{
	u32 n, rays = 0;

	(void)state;
	fx->pds.pool_instances = 32;
	put_state(fx, &(struct state){ .generate = true });
	put_launch(fx, 5 * 32 + 7, 1, 0);
	put_halt(fx);
	rdmfx_start(fx);
	rdmfx_walk(fx);
	assert_int_equal(fx->pds.running, 6);
	assert_true(rdmfx_finish(fx, true));
	rdmfx_walk(fx);
	for (n = 0; n < fx->pds.tasks; n++) {
		assert_in_range(fx->pds.task[n].count, 1, 32);
		assert_int_equal(fx->pds.task[n].rows,
				 fx->pds.task[n].running ? PUMICE_RT_RAY_REGS : 0);
		rays += fx->pds.task[n].count;
	}
	assert_int_equal(rays, 5 * 32 + 7);
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_DONE);
	fx->pds.tasks = 0;
	put_state(fx, &(struct state){ .hit = true, .miss = true });
	put_launch(fx, 2 * BATCH, 1, RDMFX_RAYS);
	put_halt(fx);
	run_done();
	assert_int_equal(fx->pds.tasks, 2);
	rdmfx_destroy(fx);
}

/* Rays that were generated have the numbers that their program wrote. */
static void generated_rays_are_those_of_their_outputs(void **state)
{
	u32 n, hits = 0, misses = 0;

	(void)state;
	put_state(fx, &(struct state){ .generate = true, .hit = true, .miss = true });
	put_launch(fx, 2 * BATCH + 6, 1, 0);
	put_halt(fx);
	run_done();
	for (n = 0; n < fx->pds.tasks; n++) {
		const u64 kind = fx->pds.task[n].pds_addr & 0xf0;

		hits += kind == RDMFX_HIT ? fx->pds.task[n].count : 0;
		misses += kind == RDMFX_MISS ? fx->pds.task[n].count : 0;
	}
	assert_int_equal(hits, BATCH + 3);
	assert_int_equal(misses, BATCH + 3);
	rdmfx_destroy(fx);
}

static void a_reset_releases_programs(void **state)
{
	(void)state;
	put_tasks(3);
	rdmfx_start(fx);
	rdmfx_walk(fx);
	assert_int_equal(fx->pds.loaded, 1);
	memset(&fx->pds.task, 0, sizeof(fx->pds.task));	/* the PDS is reset, too */
	memset(fx->pds.used, 0, sizeof(fx->pds.used));
	fx->pds.tasks = fx->pds.running = 0;
	rdm_reset(fx->rdm);
	assert_int_equal(fx->pds.loaded, 0);
	assert_int_equal(fx->ended, 0);
	put_tasks(3);
	run_done();
	rdmfx_destroy(fx);
}

/* ------------------------------------------------------------ stops */

static void put_stopped_job(void)
{
	fx->pds.tasks = 0;
	put_state(fx, &(struct state){ .generate = true, .hit = true, .miss = true });
	put_launch(fx, BATCH, 4, 0);
	put_halt(fx);
	rdmfx_start(fx);
}

/* Step the job and end tasks this many times, or until it has ended. */
static void run_pieces(u32 pieces)
{
	u32 n;

	for (n = 0; n < pieces && !fx->ended; n++)
		if (n % 3 == 2 || !rdmfx_step(fx))
			rdmfx_finish(fx, n % 2);
}

/* Abort the job; return how many tasks were being filled. */
static u32 abort_job(void)
{
	const u64 done = rdm_status(fx->rdm)->done;
	u32 n, filling = 0;

	for (n = 0; n < fx->pds.tasks; n++)
		filling += !fx->pds.task[n].gfx;
	fx->pds.endless = true;
	rdmfx_abort(fx);
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_ABORTED);
	assert_int_equal(rdm_status(fx->rdm)->done, done);
	fx->query = NULL;	/* the walker continues no query of another job */
	return filling;
}

/* The fixture checks at the end of each job that room and claims are released. */
static void jobs_are_aborted_at_any_point(void **state)
{
	u32 pieces, n, filling = 0;

	(void)state;
	fx->stop = true;
	for (pieces = 0;; pieces++) {
		fx->pds.endless = false;
		for (n = 0; n < RDMFX_CORES; n++)
			fx->pds.room[n] = 1 + pieces % 3;
		put_stopped_job();
		run_pieces(pieces);
		if (fx->ended)
			break;
		filling += abort_job();
	}
	assert_int_equal(fx->end, DM_DONE);
	assert_true(pieces > 20);
	assert_true(filling > 5);
	rdmfx_destroy(fx);
}

static void abort_once(void)
{
	fx->pds.at_claim = fx->pds.at_start = NULL;
	rdmfx_abort(fx);
}

static void finish_oldest(void)
{
	fx->pds.at_free = NULL;
	rdmfx_finish(fx, false);
}

/* The fixture checks that the job ends without rows: those of a task that ends last, too. */
static void a_task_that_ends_during_the_search_for_others_is_reaped(void **state)
{
	(void)state;
	fx->stop = true;
	fx->pds.endless = true;
	put_stopped_job();
	while (fx->pds.running < 2)
		rdmfx_step(fx);
	assert_int_equal(fx->pds.task[0].pds_addr & 0xf0, RDMFX_GENERATE);
	rdmfx_abort(fx);
	rdmfx_finish(fx, true);
	fx->pds.at_free = finish_oldest;
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_ABORTED);
	assert_null(fx->pds.at_free);
	rdmfx_destroy(fx);
}

/* A claim of a job that is aborted meanwhile waits on: it is cancelled at the end of the job. */
static void claims_that_wait_after_an_abort_are_cancelled(void **state)
{
	(void)state;
	fx->pds.room[0] = fx->pds.room[1] = fx->pds.room[2] = 0;
	fx->pds.at_claim = abort_once;
	put_tasks(1);
	rdmfx_start(fx);
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_ABORTED);
	assert_int_equal(fx->pds.tasks, 0);
	rdmfx_destroy(fx);
}

/* A task that starts just after the abort of its job would run for ever. */
static void a_task_that_starts_after_an_abort_is_aborted(void **state)
{
	(void)state;
	fx->pds.endless = true;
	fx->pds.at_start = abort_once;
	put_tasks(1);
	rdmfx_start(fx);
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_ABORTED);
	assert_true(fx->pds.task[0].aborted);
	assert_int_equal(rdm_status(fx->rdm)->done, 0);
	rdmfx_destroy(fx);
}

/* ------------------------------------------------------------ flushes */

static u32 flushes;

static void flushed(void *opaque, const struct mmu_cache_op *op)
{
	(void)opaque;
	flushes++;
	assert_int_equal(fx->pds.running, 0);
	assert_int_equal(op->kind, MMU_CACHE_INVALIDATE);
	assert_int_equal(op->scope, PUMICE_MEM_SCOPE_SYSTEM);
	assert_int_equal(op->ctx, RDMFX_CTX);
}

static void a_flush_waits_for_the_launches_before_it(void **state)
{
	const struct state programs = { .hit = true, .pds = 0x1000 };

	(void)state;
	mmu_set_cache_op(&fx->mmu, flushed, NULL);
	flushes = 0;
	put_state(fx, &programs);
	put_launch(fx, 2 * BATCH, 1, RDMFX_RAYS);
	put_flush(fx, 0);
	put_launch(fx, BATCH, 1, RDMFX_RAYS);
	put_halt(fx);
	rdmfx_start(fx);
	/* The tasks of the launch run. */
	rdmfx_walk(fx);
	assert_true(fx->pds.running);
	assert_int_equal(flushes, 0);
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(flushes, 1);
	rdmfx_destroy(fx);
}

/* The step has the device lock, and an operation may take as long as all lines of the caches. */
static void a_flush_ends_the_step_in_detailed_modes(void **state)
{
	u32 n;

	(void)state;
	mmu_set_cache_op(&fx->mmu, flushed, NULL);
	flushes = 0;
	for (n = 0; n < 8; n++)
		put_flush(fx, 0);
	put_halt(fx);
	rdmfx_start(fx);
	for (n = 1; n <= 8; n++) {
		rdmfx_step(fx);
		assert_true(flushes <= n);
	}
	rdmfx_run(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(flushes, 8);
	rdmfx_destroy(fx);
}

static void bad_flushes_are_refused(void **state)
{
	u32 bit;

	(void)state;
	for (bit = 4; bit < 28; bit = bit == 4 ? 7 : bit + 1) {
		put_flush(fx, 1u << bit);
		rdmfx_start(fx);
		rdmfx_run(fx);
		assert_int_equal(fx->end, DM_FAULT);
		assert_int_equal(rdm_status(fx->rdm)->fault.fault, PUMICE_FAULT_RDM_RESERVED);
	}
	put_halt(fx);
	run_done();
	rdmfx_destroy(fx);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, create)
	const struct CMUnitTest tests[] = {
		TEST(tasks_have_the_uniforms_of_their_state),
		TEST(each_task_is_dispatched_to_the_next_core),
		TEST(a_task_runs_on_the_next_core_with_room),
		TEST(a_task_that_waits_on_all_cores_runs_on_the_first_with_room),
		TEST(a_launch_of_no_rays_does_nothing),
		TEST(a_launch_of_no_rays_needs_a_valid_state),
		TEST(a_job_does_not_have_the_programs_of_the_job_before),
		TEST(the_time_of_jobs_is_counted),
		TEST(interrupted_queries_are_resumed),
		TEST(the_walker_completes_the_query_that_it_has_begun),
		TEST(programs_are_released_when_their_place_is_used_again),
		TEST(batches_have_room_for_their_outputs),
		TEST(generated_rays_are_those_of_their_outputs),
		TEST(a_reset_releases_programs),
		TEST(jobs_are_aborted_at_any_point),
		TEST(a_task_that_ends_during_the_search_for_others_is_reaped),
		TEST(claims_that_wait_after_an_abort_are_cancelled),
		TEST(a_task_that_starts_after_an_abort_is_aborted),
		TEST(a_flush_waits_for_the_launches_before_it),
		TEST(a_flush_ends_the_step_in_detailed_modes),
		TEST(bad_flushes_are_refused),
	};

	return cmocka_run_group_tests_name("rdm_launches", tests, NULL, NULL);
}
