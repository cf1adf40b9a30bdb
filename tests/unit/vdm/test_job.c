// SPDX-License-Identifier: MIT
/*
 * Course of a job: exhausted pages, resume, flush and partial renders in submission order;
 * faults and aborts in every phase; no remaining state.
 */
#include "vdm_fixture.h"

#include <string.h>

#include "../../../qemu-device/gpu/vdm/state.h"

#define POINTS 900u

/* A fixture whose VPM and IDX FIFO have the usual sizes, or are as small as possible. */
static struct vdm_fixture *create_some(u32 cores, u32 number)
{
	return vdmfx_create_sizes(cores, number % 3 ? 128 : 16,
				  number % 4 < 2 ? FX_VPM : VDMFX_MIN_CULL_ROWS * 128u,
				  number % 5 < 3 ? 1024 : 9);
}

static void expect_points(const struct vdm_fixture *fx, u32 count)
{
	u32 i;

	assert_int_equal(fx->drawn.count, count);
	for (i = 0; i < count; i++)
		assert_int_equal(fx->drawn.prim[i].vertex[0], i);
}

/* Points that the coordinate program and the fixture's ta_cull() keep. */
static void expect_culled_points(const struct vdm_fixture *fx, u32 count)
{
	u32 i;

	assert_int_equal(fx->drawn.count, count - count / 3);
	for (i = 0; i < fx->drawn.count; i++)
		assert_int_equal(fx->drawn.prim[i].vertex[0], i / 2 * 3 + i % 2 + 1);
}

static void a_job_ends_with_a_valid_scene(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(4);

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->state =
		(struct pm_scene_state){ .valid = true, .spilled = true, .used = 9, .limit = 7 };
	assert_true(vdmfx_start(fx, 10));
	assert_true(vdm_status(fx->vdm)->busy);
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_false(vdm_status(fx->vdm)->busy);
	assert_true(vdm_status(fx->vdm)->time_end > vdm_status(fx->vdm)->time_start);
	assert_int_equal(vdm_status(fx->vdm)->done, POINTS);
	assert_int_equal(vdm_status(fx->vdm)->fault.fault, 0);
	assert_int_equal(fx->begins, 1);
	assert_int_equal(fx->frees, 0);
	assert_true(fx->state.valid);
	assert_false(fx->state.spilled);
	assert_int_equal(fx->state.limit, 0);
	/* Enough chunks for every core. */
	assert_int_equal(fx->state.used, 15);
	vdmfx_render(fx);
	expect_points(fx, POINTS);
	vdmfx_destroy(fx);
}

static void a_reset_clears_the_counters(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	u64 value[PUMICE_PERF_NUMBER] = { 0 };
	u32 i;

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	assert_true(vdmfx_start(fx, 10));
	vdmfx_run(fx);
	vdm_counters_add(fx->vdm, value);
	assert_int_equal(value[PUMICE_PERF_VDM_PRIMITIVES], POINTS);
	assert_int_equal(value[PUMICE_PERF_VDM_VERTICES], POINTS);
	assert_true(value[PUMICE_PERF_VDM_BUSY] && value[PUMICE_PERF_TA_BLOCKS]);
	assert_int_equal(value[PUMICE_PERF_VDM_BUSY],
			 vdm_status(fx->vdm)->time_end - vdm_status(fx->vdm)->time_start);
	vdm_reset(fx->vdm);
	memset(value, 0, sizeof(value));
	vdm_counters_add(fx->vdm, value);
	for (i = 0; i < PUMICE_PERF_NUMBER; i++)
		assert_int_equal(value[i], 0);
	vdmfx_destroy(fx);
}

static u64 counter(const struct vdm_fixture *fx, enum pumice_perf_counter number)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	vdm_counters_add(fx->vdm, value);
	return value[number];
}

/* Return the number of waits of the master because all FIFOs were full. */
static u64 fifo_waits(const struct vdm_fixture *fx)
{
	u64 waits = 0;
	u32 i;

	for (i = 0; i < fx->cores; i++)
		waits += atomic_load(&fx->vdm->core[i].fifo.waited);
	return waits;
}

/* Chunks in the FIFOs of all cores. */
static u32 chunks_in_fifos(struct vdm_fixture *fx, u32 depth)
{
	u32 i, all = 0;

	for (i = 0; i < fx->cores; i++) {
		const struct vdm_core *core = &fx->vdm->core[i];

		assert_in_range(core->fifo.level, 0, depth);
		assert_in_range(core->chunks, core->fifo.level + core->busy, UINT32_MAX);
		all += core->fifo.level;
	}
	return all;
}

/*
 * The master VDM runs ahead of the cores by as many chunks as their FIFOs have room for, and waits
 * then. No core has two chunks while another one has none.
 */
static void the_master_fills_the_fifos_of_the_cores(void **state)
{
	u32 depth, cores;

	(void)state;
	for (cores = 1; cores <= 4; cores++) {
		for (depth = 1; depth <= 4; depth++) {
			struct vdm_fixture *fx = vdmfx_create_fifo(cores, depth);
			u32 most = 0, all;

			vdmfx_put_points(fx, POINTS, false);
			assert_true(vdmfx_start(fx, 10));
			while (vdmfx_step(fx)) {
				all = chunks_in_fifos(fx, depth);
				most = all > most ? all : most;
			}
			assert_int_equal(most, cores * depth);
			assert_true(fifo_waits(fx) > 0);
			assert_true(counter(fx, PUMICE_PERF_VDM_FIFO_OCCUPANCY) > 0);
			assert_int_equal(chunks_in_fifos(fx, depth), 0);
			assert_int_equal(fx->ended[DM_DONE], 1);
			vdmfx_render(fx);
			expect_points(fx, POINTS);
			vdmfx_destroy(fx);
		}
	}
}

/*
 * Units in a FIFO times ns, of the chunks and of the primitives of all cores. The clock advances
 * between steps only.
 */
static void occupancy_is_the_sum_of_levels_over_time(void **state)
{
	u32 cores, i;

	(void)state;
	for (cores = 1; cores <= 4; cores++) {
		struct vdm_fixture *fx = vdmfx_create_fifo(cores, cores);
		u64 chunks = 0, prims = 0;

		fx->tick = 0;
		vdmfx_put_points(fx, POINTS, false);
		assert_true(vdmfx_start(fx, 10));
		do {
			const u32 ns = 1 + vdmfx_random(fx, 1000);

			fx->clock += ns;
			for (i = 0; i < cores; i++) {
				chunks += (u64)ns * fx->vdm->core[i].fifo.level;
				prims += (u64)ns * fx->vdm->core[i].idx.level;
			}
		} while (vdmfx_step(fx));
		assert_int_equal(fx->ended[DM_DONE], 1);
		assert_true(chunks && prims && chunks != prims);
		assert_int_equal(counter(fx, PUMICE_PERF_VDM_FIFO_OCCUPANCY), chunks);
		assert_int_equal(counter(fx, PUMICE_PERF_VDM_IDX_OCCUPANCY), prims);
		vdmfx_render(fx);
		vdmfx_destroy(fx);
	}
}

/*
 * Pages run out in chunk 2 while chunk 1, which precedes it, is in the FIFO of a core that has not
 * begun it: the core begins it before the job requests memory.
 */
static void the_lowest_chunk_is_begun_before_a_flush(void **state)
{
	struct vdm_fixture *fx = vdmfx_create_fifo(2, 1);
	const _Atomic bool stop = false;
	u32 stops = 0;

	(void)state;
	vdmfx_put_points(fx, 50, false);
	fx->pages = 15;
	assert_true(vdmfx_start(fx, 10));
	while (fx->vdm->phase != VDM_RUN) {
		fx->awake[0] = false;
		vdm_core_step(fx->vdm, 0, &stop);
	}
	/* It has begun chunk 0: let core 1 begin none. */
	do {
		fx->awake[0] = false;
		fx->awake[0] |= vdm_core_step(fx->vdm, 0, &stop);
	} while (vdmfx_end_oldest(fx) || fx->awake[0]);
	assert_true(atomic_load(&fx->vdm->core[0].stalled));
	assert_int_equal(fx->vdm->core[1].fifo.level, 1);
	assert_int_equal(fx->ended[DM_MEMORY], 0);
	for (vdmfx_run(fx); fx->ended[DM_MEMORY] > stops; vdmfx_run(fx)) {
		vdmfx_call(fx, vdm_flush);
		vdmfx_run(fx);
		stops = fx->ended[DM_MEMORY];
		vdmfx_render(fx);
		vdmfx_call(fx, vdm_resume);
	}
	assert_true(stops > 0);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_render(fx);
	expect_points(fx, 50);
	vdmfx_destroy(fx);
}

/* As many chunks as cores: each has one. */
static void chunks_are_distributed_evenly(void **state)
{
	struct vdm_fixture *fx = vdmfx_create_fifo(4, 4);
	u32 i, most[4] = { 0 };

	(void)state;
	vdmfx_put_points(fx, 40, false);
	assert_true(vdmfx_start(fx, 10));
	while (vdmfx_step(fx))
		for (i = 0; i < 4; i++)
			most[i] = fx->vdm->core[i].chunks > most[i] ? fx->vdm->core[i].chunks :
				  most[i];
	for (i = 0; i < 4; i++)
		assert_int_equal(most[i], 1);
	vdmfx_render(fx);
	expect_points(fx, 40);
	vdmfx_destroy(fx);
}

/* Step a core, and end all tasks, until nothing happens or the next chunk to dispatch is until. */
static void step_core(struct vdm_fixture *fx, u32 core, u32 until)
{
	const _Atomic bool stop = false;
	bool again = true;

	while (again && fx->vdm->next_dispatch != until) {
		fx->awake[core] = false;
		again = vdm_core_step(fx->vdm, core, &stop);
		again |= vdmfx_end_oldest(fx) || fx->awake[core];
	}
}

/*
 * Core 1 is slow: core 0 receives all chunks but those in the other one's FIFO, until the first of
 * these, which is to be retired next, stops the master. The following ones are those of core 0,
 * which has none, though there is room in both FIFOs.
 */
static void a_faster_core_receives_more_chunks(void **state)
{
	struct vdm_fixture *fx = vdmfx_create_fifo(2, 4);
	const struct vdm_core *core = fx->vdm->core;
	u32 next;

	(void)state;
	vdmfx_put_points(fx, 1000, false);
	assert_true(vdmfx_start(fx, 10));
	step_core(fx, 0, UINT32_MAX);
	assert_int_equal(core[0].chunks, 0);
	assert_int_equal(core[1].chunks, 4);
	next = fx->vdm->next_dispatch;
	assert_true(next >= VDM_RING);
	step_core(fx, 1, next + 2);
	assert_int_equal(fx->vdm->next_dispatch, next + 2);
	assert_int_equal(core[0].chunks, 2);
	assert_true(core[1].fifo.level < core[1].fifo.depth);
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_render(fx);
	expect_points(fx, 1000);
	vdmfx_destroy(fx);
}

static void an_empty_stream_is_a_valid_empty_scene(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);

	(void)state;
	vdmfx_put_points(fx, 0, false);
	assert_true(vdmfx_start(fx, 10));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_true(fx->state.valid);
	assert_int_equal(fx->state.used, 0);
	vdmfx_destroy(fx);
}

static void a_start_is_refused_while_busy_and_for_contexts_that_are_not(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(1);
	const struct dm_job bad = { .ctx = PUMICE_MMU_CONTEXTS };

	(void)state;
	vdmfx_put_points(fx, 5, false);
	assert_false(vdm_start(fx->vdm, &bad));
	assert_true(vdmfx_start(fx, 0));
	assert_false(vdmfx_start(fx, 1));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_true(vdmfx_start(fx, 1));
	vdmfx_run(fx);
	vdmfx_destroy(fx);
}

static void a_scene_uses_no_more_cores_than_it_has_room_for(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(4);

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->scene.cores = 2;
	assert_true(vdmfx_start(fx, 1));
	vdmfx_run(fx);
	assert_int_equal(fx->state.used & ~3u, 0);
	vdmfx_render(fx);
	expect_points(fx, POINTS);
	vdmfx_destroy(fx);
}

static void added_pages_resume_the_job(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(3);
	u32 stops = 0;

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->pages = 1;
	assert_true(vdmfx_start(fx, 20));
	for (vdmfx_run(fx); fx->ended[DM_MEMORY] > stops; vdmfx_run(fx)) {
		stops++;
		assert_true(vdm_status(fx->vdm)->busy);
		assert_int_equal(fx->list.count, fx->pages);
		/* Sometimes no page is added, and it requests again. */
		fx->pages += vdmfx_random(fx, 40);
		vdmfx_call(fx, vdm_resume);
	}
	assert_true(stops > 20);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_render(fx);
	expect_points(fx, POINTS);
	vdmfx_destroy(fx);
}

/* Partial renders with little room: no primitive is lost, repeated or out of order. */
static void partial_renders_keep_the_order(void **state)
{
	u32 cores, pages, split, round;

	(void)state;
	for (round = 0; round < 150; round++) {
		struct vdm_fixture *fx;
		u32 stops = 0, flushes = 0;
		u64 done = 0;

		cores = 1 + round % 5;
		fx = create_some(cores, round);
		fx->seed = round * 977 + 5;
		pages = 1 + vdmfx_random(fx, 90);
		split = 1 + vdmfx_random(fx, 60);
		vdmfx_put_points(fx, POINTS, round & 1);
		fx->pages = pages;
		assert_true(vdmfx_start(fx, split));
		for (vdmfx_run(fx); fx->ended[DM_MEMORY] > stops; vdmfx_run(fx)) {
			stops = fx->ended[DM_MEMORY];
			assert_true(vdm_status(fx->vdm)->done >= done);
			done = vdm_status(fx->vdm)->done;
			vdmfx_call(fx, vdm_flush);
			vdmfx_run(fx);
			assert_int_equal(fx->ended[DM_MEMORY], ++stops);
			assert_true(fx->state.valid);
			assert_true(fx->state.used && fx->state.limit);
			assert_int_equal(fx->state.partials, flushes++);
			vdmfx_render(fx);
			vdmfx_call(fx, vdm_resume);
		}
		if (fx->ended[DM_DONE] != 1)
			fail_msg("round %u: fault %u", round, vdmfx_fault(fx)->fault);
		assert_true(fx->state.spilled);
		assert_true(flushes >= (600 - 1) / pages);
		assert_int_equal(fx->state.limit, 0);
		vdmfx_render(fx);
		if (round & 1)
			expect_culled_points(fx, POINTS);
		else
			expect_points(fx, POINTS);
		assert_int_equal(vdm_status(fx->vdm)->done, POINTS);
		vdmfx_destroy(fx);
	}
}

static void without_spill_memory_a_flush_is_a_fault(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->scene.spill = 0;
	fx->pages = 50;
	assert_true(vdmfx_start(fx, 20));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_MEMORY], 1);
	vdmfx_call(fx, vdm_flush);
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_FAULT], 1);
	assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_PM_MEMORY);
	assert_int_equal(vdmfx_fault(fx)->addr, VDMFX_SCENE);
	assert_int_equal(fx->frees, 1);
	vdmfx_destroy(fx);
}

static void a_primitive_that_never_fits_is_a_fault(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->pages = 0;
	assert_true(vdmfx_start(fx, 20));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_MEMORY], 1);
	vdmfx_call(fx, vdm_flush);
	vdmfx_run(fx);
	vdmfx_call(fx, vdm_resume);
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_FAULT], 1);
	assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_PM_MEMORY);
	vdmfx_destroy(fx);
}

static void resume_and_flush_of_a_running_job_do_nothing(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(3);
	u32 i;

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	vdmfx_call(fx, vdm_flush);
	vdmfx_call(fx, vdm_resume);
	vdmfx_call(fx, vdm_abort);
	assert_true(vdmfx_start(fx, 7));
	for (i = 0; i < 40; i++) {
		vdmfx_step(fx);
		vdmfx_call(fx, i & 1 ? vdm_flush : vdm_resume);
	}
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_int_equal(fx->ended[DM_MEMORY] + fx->ended[DM_ABORTED], 0);
	vdmfx_render(fx);
	expect_points(fx, POINTS);
	vdmfx_destroy(fx);
}

/* After any stop no state remains, and the next job is not affected. */
static void expect_clean(struct vdm_fixture *fx, u32 frees)
{
	assert_false(vdm_status(fx->vdm)->busy);
	assert_int_equal(fx->frees, frees);
	assert_false(fx->state.valid);
	assert_int_equal(fx->state.used, 0);
	assert_int_equal(fx_load(fx->base).tasks, 0);
	assert_int_equal(fx_load(fx->base).vpm_rows, 0);
	fx->pages = fx->fault_at = fx->fault_task = UINT32_MAX;
	vdmfx_put_points(fx, POINTS, true);
	vdmfx_put_points(fx, POINTS, false);
	for (unsigned int i = 0; i < fx->base->uscs; i++)
		fx->base->usc[i]->aborted = false;
	assert_true(vdmfx_start(fx, 33));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_render(fx);
	expect_points(fx, POINTS);
}

static void an_abort_in_every_phase_leaves_nothing(void **state)
{
	u32 steps, cores;

	(void)state;
	for (cores = 1; cores <= 3; cores += 2) {
		for (steps = 0; steps < 260; steps++) {
			struct vdm_fixture *fx = create_some(cores, steps / 2);
			u32 i;

			vdmfx_put_points(fx, 400, steps & 1);
			fx->pages = steps % 3 ? 150 : UINT32_MAX;
			assert_true(vdmfx_start(fx, 30));
			for (i = 0; i < steps; i++) {
				if (!vdmfx_step(fx) && fx->ended[DM_MEMORY])
					vdmfx_call(fx, vdm_flush);
			}
			if (!vdm_status(fx->vdm)->busy) {
				vdmfx_destroy(fx);
				continue;
			}
			vdmfx_call(fx, vdm_abort);
			vdmfx_call(fx, vdm_abort);
			assert_int_equal(fx->ended[DM_ABORTED], 0);	/* only by a step */
			vdmfx_run(fx);
			assert_int_equal(fx->ended[DM_ABORTED], 1);
			assert_int_equal(fx->ended[DM_DONE] + fx->ended[DM_FAULT], 0);
			expect_clean(fx, fx->begins ? 1 : 0);
			vdmfx_destroy(fx);
		}
	}
}

/*
 * The host may abort the job whenever a core has dropped the device lock, in the middle of
 * that core's work.
 */
static void an_abort_while_a_core_has_dropped_the_lock_leaves_nothing(void **state)
{
	u32 unlocks, steps, aborted = 0, done = 0;

	(void)state;
	for (unlocks = 1; !done; unlocks++) {
		struct vdm_fixture *fx = create_some(2, unlocks / 2);

		vdmfx_put_points(fx, 300, unlocks & 1);
		fx->abort_in = unlocks;
		assert_true(vdmfx_start(fx, 30));
		for (steps = 0; vdmfx_step(fx); steps++)
			assert_true(steps < 10000);
		done = fx->abort_in;
		fx->abort_in = 0;
		if (fx->ended[DM_ABORTED]) {
			assert_int_equal(fx->ended[DM_ABORTED], 1);
			assert_int_equal(fx->ended[DM_DONE] + fx->ended[DM_FAULT], 0);
			expect_clean(fx, fx->begins ? 1 : 0);
			aborted++;
		} else {
			assert_int_equal(fx->ended[DM_DONE], 1);
		}
		vdmfx_destroy(fx);
	}
	assert_true(aborted > 20);
}

/* On-chip memory of the last job must not be visible to this one. */
static void outputs_of_the_last_job_are_zero_for_the_next(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++) {	/* until places of the vertex pipe memory are used again */
		vdmfx_put_points(fx, POINTS, i & 1);
		assert_true(vdmfx_start(fx, 50));
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_DONE], 1);
		vdmfx_render(fx);
	}
	vdmfx_destroy(fx);
}

/* Tasks that fill registers or run. */
static u32 tasks(struct vdm_fixture *fx)
{
	return fx_load(fx->base).tasks;
}

/*
 * Parking waits for a step that has read the stop flag: it starts one task at most,
 * although the piece has several.
 */
static void a_step_requested_to_end_starts_one_task(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(1);
	u32 most = 0, before;

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->stop = true;
	assert_true(vdmfx_start(fx, POINTS));
	do {
		before = tasks(fx);
		most = tasks(fx) > most ? tasks(fx) : most;
		if (!vdmfx_step(fx))
			break;
		assert_true(tasks(fx) <= before + 1);
	} while (vdm_status(fx->vdm)->busy);
	vdmfx_run(fx);
	assert_true(most > 1);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_render(fx);
	expect_points(fx, POINTS);
	vdmfx_destroy(fx);
}

/* A TA with much memory must free it after a stopped job, and after a reset. */
static void memory_is_freed_after_a_stop(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(3);
	u32 i;

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->large = true;
	fx->pages = 100;
	assert_true(vdmfx_start(fx, 20));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_MEMORY], 1);
	assert_int_equal(fx->trims, 0);
	vdmfx_call(fx, vdm_abort);
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_ABORTED], 1);
	assert_true(fx->trims >= fx->cores);
	vdmfx_call(fx, vdm_reset);
	for (i = 0; i < fx->cores; i++)
		assert_true(fx->awake[i]);
	fx->trims = 0;
	vdmfx_run(fx);
	assert_int_equal(fx->trims, fx->cores);
	vdmfx_destroy(fx);
}

static void a_fault_of_any_task_stops_the_job(void **state)
{
	u32 task;

	(void)state;
	for (task = 0; task < 40; task++) {
		struct vdm_fixture *fx = vdmfx_create(3);

		vdmfx_put_points(fx, POINTS, false);
		fx->fault_task = task;
		assert_true(vdmfx_start(fx, 20));
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_FAULT], 1);
		assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_MMU_READ_ONLY);
		assert_int_equal(vdmfx_fault(fx)->unit, PUMICE_UNIT_USC_DATA);
		expect_clean(fx, 1);
		vdmfx_destroy(fx);
	}
}

static void a_fault_of_the_ta_stops_the_job(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(3);

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->fault_at = 200;
	assert_true(vdmfx_start(fx, 20));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_FAULT], 1);
	assert_int_equal(vdmfx_fault(fx)->unit, PUMICE_UNIT_MTE);
	assert_int_equal(vdmfx_fault(fx)->addr, 0x77);
	expect_clean(fx, 1);
	vdmfx_destroy(fx);
}

static void the_first_reason_to_stop_is_reported(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	const struct gpu_fault late = { .fault = PUMICE_FAULT_PM_MEMORY };
	u32 i;

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	assert_true(vdmfx_start(fx, 20));
	for (i = 0; i < 9; i++)
		vdmfx_step(fx);
	vdmfx_call(fx, vdm_abort);
	fx_lock(fx->base);
	dm_stop_fault(&fx->vdm->run, &late);
	fx_unlock(fx->base);
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_ABORTED], 1);
	assert_int_equal(fx->ended[DM_FAULT], 0);
	assert_int_equal(vdmfx_fault(fx)->fault, 0);
	vdmfx_destroy(fx);
}

static void a_bad_scene_is_a_fault(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);

	(void)state;
	vdmfx_put_points(fx, POINTS, false);
	fx->scene_bad = true;
	assert_true(vdmfx_start(fx, 20));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_FAULT], 1);
	assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_PM_SCENE);
	fx->scene_bad = false;
	fx->state_fails = true;
	assert_true(vdmfx_start(fx, 20));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_FAULT], 1);
	assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_MMU_PT_INVALID);
	fx->state_fails = false;
	expect_clean(fx, 1);
	vdmfx_destroy(fx);
}

/* Too many chunks to generate here: the count is set close to its maximum. */
static void a_scene_has_a_maximum_number_of_chunks(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(1);

	(void)state;
	vdmfx_put_points(fx, 30, false);
	assert_true(vdmfx_start(fx, 10));
	fx->vdm->lowest = fx->vdm->next_dispatch = fx->vdm->made = UINT32_MAX - 3;
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_FAULT], 1);
	assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_VDM_STATE);
	vdmfx_put_points(fx, 20, false);
	assert_true(vdmfx_start(fx, 10));
	fx->vdm->lowest = fx->vdm->next_dispatch = fx->vdm->made = UINT32_MAX - 3;
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_destroy(fx);
}

static void a_reset_drops_the_job(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	unsigned int i;
	u32 steps;

	(void)state;
	for (steps = 0; steps < 60; steps += 7) {
		vdmfx_put_points(fx, POINTS, steps & 1);
		assert_true(vdmfx_start(fx, 30));
		for (i = 0; i < steps; i++)
			vdmfx_step(fx);
		vdm_reset(fx->vdm);
		pds_reset(fx->base->pds);
		for (i = 0; i < fx->base->uscs; i++)
			usc_reset(fx->base->usc[i]);
		assert_false(vdm_status(fx->vdm)->busy);
		assert_int_equal(fx->base->cache.live, 0);
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_DONE] + fx->ended[DM_ABORTED], 0);
	}
	vdmfx_put_points(fx, POINTS, false);
	assert_true(vdmfx_start(fx, 30));
	vdmfx_run(fx);
	vdmfx_render(fx);
	expect_points(fx, POINTS);
	vdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_ends_with_a_valid_scene),
		cmocka_unit_test(a_reset_clears_the_counters),
		cmocka_unit_test(the_master_fills_the_fifos_of_the_cores),
		cmocka_unit_test(occupancy_is_the_sum_of_levels_over_time),
		cmocka_unit_test(the_lowest_chunk_is_begun_before_a_flush),
		cmocka_unit_test(chunks_are_distributed_evenly),
		cmocka_unit_test(a_faster_core_receives_more_chunks),
		cmocka_unit_test(an_empty_stream_is_a_valid_empty_scene),
		cmocka_unit_test(a_start_is_refused_while_busy_and_for_contexts_that_are_not),
		cmocka_unit_test(a_scene_uses_no_more_cores_than_it_has_room_for),
		cmocka_unit_test(added_pages_resume_the_job),
		cmocka_unit_test(partial_renders_keep_the_order),
		cmocka_unit_test(without_spill_memory_a_flush_is_a_fault),
		cmocka_unit_test(a_primitive_that_never_fits_is_a_fault),
		cmocka_unit_test(resume_and_flush_of_a_running_job_do_nothing),
		cmocka_unit_test(an_abort_in_every_phase_leaves_nothing),
		cmocka_unit_test(an_abort_while_a_core_has_dropped_the_lock_leaves_nothing),
		cmocka_unit_test(outputs_of_the_last_job_are_zero_for_the_next),
		cmocka_unit_test(a_step_requested_to_end_starts_one_task),
		cmocka_unit_test(memory_is_freed_after_a_stop),
		cmocka_unit_test(a_fault_of_any_task_stops_the_job),
		cmocka_unit_test(a_fault_of_the_ta_stops_the_job),
		cmocka_unit_test(the_first_reason_to_stop_is_reported),
		cmocka_unit_test(a_bad_scene_is_a_fault),
		cmocka_unit_test(a_scene_has_a_maximum_number_of_chunks),
		cmocka_unit_test(a_reset_drops_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
