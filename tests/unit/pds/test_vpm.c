// SPDX-License-Identifier: MIT
/*
 * Vertex pipe memory: the ring against a list of rows in use; tasks that get rows with their room
 * on a USC, and wait for them alone; tasks of other data masters in the pool.
 */
#include "stage_fixture.h"

#include "../../../qemu-device/gpu/pds/outputs.h"
#include "../../../qemu-device/gpu/vpm/vpm.h"

#include <string.h>

#define ROWS	100u
/* Rows of a memory whose ring has n; the pool has a third as many. */
#define WITH_POOL(n) ((n) + (n) / 3u)

static const struct pumice_stage four_temps = { .temps = 4 };

static u32 random_below(u32 below)
{
	static u32 seed = 4711;

	seed = seed * 1664525 + 1013904223;
	return (u32)((u64)(seed >> 4) * below >> 28);
}

/* An allocation that is in use. */
struct piece {
	u64 at;
	u32 rows;
};

/* Rows of a piece are within the memory, and no other piece has one of them. */
static void check_place(const struct vpm *vpm, bool *used, const struct piece *piece)
{
	const u32 first = (u32)(vpm_row(vpm, piece->at) - vpm->memory) / VPM_ROW_WORDS;
	u32 n;

	assert_in_range(piece->rows, 0, ROWS - first);
	for (n = first; n < first + piece->rows; n++) {
		assert_false(used[n]);
		used[n] = true;
	}
}

static void set_unused(const struct vpm *vpm, bool *used, const struct piece *piece)
{
	const u32 first = (u32)(vpm_row(vpm, piece->at) - vpm->memory) / VPM_ROW_WORDS;

	memset(used + first, 0, piece->rows * sizeof(*used));
}

/* Random allocations, freed in order, the last one sometimes undone. */
static void rows_are_allocated_once_and_in_one_piece(void **state)
{
	static struct piece live[ROWS];
	bool used[ROWS] = { false };
	u32 count = 0, i, fails = 0, most = 0;
	struct vpm vpm;

	(void)state;
	assert_true(vpm_init(&vpm, WITH_POOL(ROWS) * VPM_ROW_BYTES));
	for (i = 0; i < 100000; i++) {
		struct piece piece = { .rows = 1 + random_below(ROWS / 4) };

		if (random_below(2) && vpm_alloc(&vpm, piece.rows, 0, &piece.at)) {
			check_place(&vpm, used, &piece);
			live[count++] = piece;
			if (random_below(8) == 0) {
				vpm_undo(&vpm, piece.at, 0);
				set_unused(&vpm, used, &live[--count]);
			}
		} else if (count) {
			const u32 n = 1 + random_below(count);
			u32 k;

			fails++;
			vpm_free(&vpm, live[n - 1].at + live[n - 1].rows, 0);
			for (k = 0; k < n; k++)
				set_unused(&vpm, used, &live[k]);
			memmove(live, live + n, (count - n) * sizeof(*live));
			count -= n;
		}
		most = count > most ? count : most;
		/* A quarter of the memory fits when at most a half is in use. */
		if (vpm.head - vpm.tail <= ROWS / 2)
			assert_true(vpm_has_room(&vpm, ROWS / 4));
	}
	assert_true(fails > 10000 && most > 6);
	vpm_fini(&vpm);
}

/* The end of the memory that an allocation skips is not in use after the allocation is undone. */
static void an_undone_allocation_leaves_no_skipped_rows(void **state)
{
	struct vpm vpm;
	u64 first, second;

	(void)state;
	assert_true(vpm_init(&vpm, WITH_POOL(8) * VPM_ROW_BYTES));
	assert_true(vpm_alloc(&vpm, 5, 0, &first));
	vpm_free(&vpm, first + 5, 10);
	assert_int_equal(vpm.occupancy, 5 * 10);
	assert_true(vpm_alloc(&vpm, 5, 10, &second));
	assert_int_equal(second, 8);
	/* A claim of another data master in between. */
	assert_true(vpm_alloc(&vpm, 0, 10, &first));
	vpm_undo(&vpm, second, 10);
	vpm_tick(&vpm, 1000);
	assert_int_equal(vpm.occupancy, 5 * 10);
	assert_int_equal(vpm.head, vpm.tail);
	/* The same rows are allocated again. */
	assert_true(vpm_alloc(&vpm, 3, 1000, &first));
	assert_int_equal(first, 5);
	vpm_fini(&vpm);
}

static u64 counter(struct stage_tasks *t, enum pumice_perf_counter number)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	pds_counters_add(t->fx->pds, value);
	return value[number];
}

/* Fill the memory of a core with outputs of tasks of a wave, which end. Returns their number. */
static u32 fill(struct stage_tasks *t, u64 *end)
{
	struct pds_place place;
	u32 n = 0;

	while (stage_task_start(t, PDS_DM_VDM, 0, 32, &place) == PDS_STARTED) {
		assert_ptr_equal(pds_vpm_row(t->fx->pds, 0, place.vpm),
				 pds_vpm_row(t->fx->pds, 0, 0) + n * 4 * VPM_ROW_WORDS);
		*end = place.vpm + 4;
		fake_usc_finish(t->fx->usc[place.usc], place.group);
		n++;
	}
	return n;
}

/* The end of a task returns all that it has, but its outputs; those keep the next tasks waiting. */
static void tasks_wait_for_rows_until_outputs_are_freed(void **state)
{
	const struct fx_stores stores = { .unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON,
					  .local_bytes = FX_LOCAL,
					  .vpm_bytes = WITH_POOL(40) * 128 };
	struct stage_tasks *t = stage_tasks_create(2, &stores, &four_temps);
	struct pds_place place;
	u64 end = 0;

	(void)state;
	t->stage[PDS_DM_VDM].vo_words = 4;
	fx_control(t->fx, (struct pds_control){ .out_of_order = true,
						.policy = PUMICE_DMS_POLICY_VDM_PDM_CDM });
	t->fx->clock = 1000;
	assert_int_equal(fill(t, &end), 10);
	assert_int_equal(fx_load(t->fx).tasks, 0);
	assert_int_equal(fx_load(t->fx).vpm_rows, 40);
	assert_int_equal(counter(t, PUMICE_PERF_VPM_WAITS), 1);
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 0, 32, 1, &place), PDS_WAIT);
	assert_int_equal(counter(t, PUMICE_PERF_VPM_WAITS), 1);
	/* The other core has a memory of its own. */
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 1, 128, 1, &place), PDS_STARTED);
	assert_int_equal(fx_load(t->fx).vpm_rows, 56);
	pds_task_drop(t->fx->pds, &place);
	assert_int_equal(fx_load(t->fx).vpm_rows, 40);
	/* Tasks of the PDM without outputs do not wait for those of the VDM, which precede them. */
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 128, 1, &place), PDS_STARTED);
	pds_task_drop(t->fx->pds, &place);
	t->owner[PDS_DM_VDM].room[0] = 0;
	t->fx->clock = 3000;
	pds_vpm_free(t->fx->pds, 0, 8);
	assert_int_equal(t->owner[PDS_DM_VDM].room[0], 1);
	assert_int_equal(stage_task_start(t, PDS_DM_VDM, 0, 64, &place), PDS_STARTED);
	assert_int_equal(place.vpm, 40);
	t->fx->clock = 3500;
	pds_vpm_free(t->fx->pds, 0, 48);
	assert_int_equal(counter(t, PUMICE_PERF_VPM_OCCUPANCY), 40 * 2500);
	stage_tasks_destroy(t);
}

/*
 * The last rows are claimed, for a task or for copies: the VDM then waits for its own memory alone,
 * and compute, which had to wait for it, is notified.
 */
static void a_claim_of_the_last_rows_notifies_others(void **state)
{
	const struct fx_stores stores = { .unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON,
					  .local_bytes = FX_LOCAL,
					  .vpm_bytes = WITH_POOL(40) * 128 };
	struct stage_tasks *t = stage_tasks_create(1, &stores, &four_temps);
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pds_place place;
	u64 at;

	(void)state;
	t->stage[PDS_DM_VDM].vo_words = 20;
	fx_control(t->fx, (struct pds_control){ .out_of_order = true,
						.policy = PUMICE_DMS_POLICY_VDM_PDM_CDM });
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, 0, 0, 0, 0) == PDS_STARTED)
		;
	fx_finish_oldest(t->fx);
	assert_int_equal(stage_task_start(t, PDS_DM_VDM, 0, 32, &place), PDS_STARTED);
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 0, 32, 1, &place), PDS_WAIT);
	fx_finish_oldest(t->fx);
	fx_finish_oldest(t->fx);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	t->fx->room = 0;
	assert_int_equal(stage_task_start(t, PDS_DM_VDM, 0, 32, &place), PDS_STARTED);
	assert_int_equal(t->fx->room, 1);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);

	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(pds_vpm_claim(t->fx->pds, 0, 20, FX_CTX, &at), PDS_WAIT);
	fx_finish_oldest(t->fx);
	pds_vpm_free(t->fx->pds, 0, 20);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	t->fx->room = 0;
	assert_int_equal(pds_vpm_claim(t->fx->pds, 0, 20, FX_CTX, &at), PDS_STARTED);
	assert_int_equal(t->fx->room, 1);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	fx_finish_all(t->fx);
	pds_vpm_free(t->fx->pds, 0, at + 20);

	/* The wait of the copies has ended: rows that are free later are not reserved for it. */
	assert_int_equal(pds_vpm_claim(t->fx->pds, 0, 20, FX_CTX, &at), PDS_STARTED);
	assert_int_equal(fx_load(t->fx).vpm_rows, 20);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	fx_finish_all(t->fx);
	pds_vpm_free(t->fx->pds, 0, at + 20);
	stage_tasks_destroy(t);
}

/* Waits for slots or registers are none for the vertex pipe memory. */
static void only_waits_for_rows_are_counted(void **state)
{
	struct stage_tasks *t = stage_tasks_create(1, NULL, &four_temps);
	struct pds_place place;
	u64 rows = 0;

	(void)state;
	t->stage[PDS_DM_VDM].vo_words = 1;
	while (stage_task_start(t, PDS_DM_VDM, 0, 32, &place) == PDS_STARTED)
		rows = place.vpm + 1;
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDS_WAITS), 1);
	assert_int_equal(counter(t, PUMICE_PERF_VPM_WAITS), 0);
	pds_vpm_free(t->fx->pds, 0, rows);
	stage_tasks_destroy(t);
}

/* Half of the ring is enough for a piece, one wave of copies, and the rows skipped at the end. */
static void pieces_are_limited_to_half_of_the_ring(void **state)
{
	static const u32 batches[] = { 16, 32, 96, 128 };
	u32 i, total, vo;

	(void)state;
	for (i = 0; i < 4; i++) {
		const u32 unit = batches[i] < 32 ? 16 : 32;

		for (total = 1; total < 4000; total += 1 + total / 9) {
			const u32 rows = total - total / 4;
			const struct fx_stores stores = {
				.unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON,
				.local_bytes = FX_LOCAL, .vpm_bytes = total * 128,
				.batch = batches[i],
			};
			struct fixture *fx = fx_create(1, &stores);

			for (vo = 4; vo <= 256; vo += 9) {
				const struct pds_piece_limits l = pds_piece_limits(fx->pds, vo);
				const u32 all = l.vertices / unit + 1 + l.task / unit;

				if (!l.vertices) {
					assert_true(3 * vo > rows / 2);
					continue;
				}
				assert_true(all * vo <= rows / 2);
				assert_true((all + 2) * vo > rows / 2);
				assert_in_range(l.task, unit, batches[i]);
				assert_int_equal(l.vertices % unit, 0);
				assert_int_equal(l.task % unit, 0);
			}
			fx_destroy(fx);
		}
	}
}

/* ------------------------------------------------------------ the pool */

/* A memory with a pool of 80 rows, and a ring of 240. */
static struct stage_tasks *create_pool(unsigned int cores)
{
	const struct fx_stores stores = { .unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON,
					  .local_bytes = FX_LOCAL, .vpm_bytes = 320 * 128 };
	struct stage_tasks *t = stage_tasks_create(cores, &stores, &four_temps);

	t->stage[PDS_DM_VDM].vo_words = 4;
	t->stage[PDS_DM_PDM].vo_words = 12;
	t->stage[PDS_DM_RDM].vo_words = 8;
	fx_control(t->fx, (struct pds_control){ .out_of_order = true,
						.policy = PUMICE_DMS_POLICY_VDM_PDM_CDM });
	return t;
}

/* Claim a task with outputs, start it, and let it end; the outputs remain. */
static struct pds_place run_in_pool(struct stage_tasks *t, enum pds_dm dm, u32 instances)
{
	struct pds_place place;

	assert_int_equal(stage_task_start(t, dm, 0, instances, &place), PDS_STARTED);
	fake_usc_finish(t->fx->usc[place.usc], place.group);
	assert_int_equal(place.vpm_rows, (instances + 31) / 32 * t->stage[dm].vo_words);
	return place;
}

/* A memory that the VDM has filled, because it is stalled, has room for other tasks. */
static void the_pool_is_not_for_the_vdm(void **state)
{
	struct stage_tasks *t = create_pool(1);
	struct pds_place place[2];
	u64 end = 0;

	(void)state;
	assert_int_equal(fill(t, &end), 60);
	assert_int_equal(fx_load(t->fx).vpm_rows, 240);
	place[0] = run_in_pool(t, PDS_DM_PDM, 96);
	assert_int_equal(fx_load(t->fx).vpm_rows, 276);
	assert_ptr_equal(pds_pool_row(t->fx->pds, &place[0]),
			 pds_vpm_row(t->fx->pds, 0, 239) + VPM_ROW_WORDS);
	/* Nor is the ring for others. */
	pds_vpm_free(t->fx->pds, 0, end);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 32, 1, &place[1]), PDS_WAIT);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &place[0]);
	assert_int_equal(place[0].vpm_rows, 0);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &place[0]);	/* nothing */
	assert_int_equal(fx_load(t->fx).vpm_rows, 0);
	stage_tasks_destroy(t);
}

/*
 * Rows of tasks that have ended are in use until they are freed, in any order; waits and occupancy
 * are counted, and those that wait are notified.
 */
static void tasks_wait_for_rows_of_the_pool(void **state)
{
	struct stage_tasks *t = create_pool(2);
	struct pds_place place[3], other;
	u32 n;

	(void)state;
	t->fx->clock = 1000;
	for (n = 0; n < 3; n++)
		place[n] = run_in_pool(t, PDS_DM_PDM, 32);
	assert_int_equal(fx_load(t->fx).tasks, 0);
	assert_int_equal(fx_load(t->fx).vpm_rows, 36);
	for (n = 0; n < 2; n++)
		assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 32, 1, &other), PDS_WAIT);
	assert_int_equal(counter(t, PUMICE_PERF_VPM_WAITS), 1);
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDS_WAITS), 1);
	/* The other core has a memory of its own. */
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 1, 96, 1, &other), PDS_STARTED);
	assert_int_equal(fx_load(t->fx).vpm_rows, 72);
	pds_task_drop(t->fx->pds, &other);
	assert_int_equal(fx_load(t->fx).vpm_rows, 36);
	t->owner[PDS_DM_PDM].room[0] = 0;
	t->fx->clock = 3000;
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &place[1]);
	assert_int_equal(t->owner[PDS_DM_PDM].room[0], 1);
	assert_int_equal(counter(t, PUMICE_PERF_VPM_OCCUPANCY), 36 * 2000);
	place[1] = run_in_pool(t, PDS_DM_PDM, 32);
	assert_ptr_equal(pds_pool_row(t->fx->pds, &place[1]),
			 pds_pool_row(t->fx->pds, &place[0]) + 12 * VPM_ROW_WORDS);
	for (n = 0; n < 3; n++)
		pds_pool_free(t->fx->pds, PDS_DM_PDM, &place[n]);
	assert_int_equal(fx_load(t->fx).vpm_rows, 0);
	stage_tasks_destroy(t);
}

/*
 * A wait counts on the core, once until it ends, with room or without: a task that each core
 * refuses counts on each of them.
 */
static void a_wait_for_rows_counts_once_on_each_core(void **state)
{
	struct stage_tasks *t = create_pool(2);
	struct pds_place place[2], other;
	unsigned int core, n;

	(void)state;
	t->stage[PDS_DM_RDM].vo_words = 10;
	for (core = 0; core < 2; core++)
		assert_int_equal(stage_task_start(t, PDS_DM_RDM, core, 128, &place[core]),
				 PDS_STARTED);
	for (n = 0; n < 2; n++)
		for (core = 0; core < 2; core++)
			assert_int_equal(stage_task_claim(t, PDS_DM_RDM, core, 32, 1, &other),
					 PDS_WAIT);
	assert_int_equal(counter(t, PUMICE_PERF_VPM_WAITS), 2);
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDS_WAITS), 2);
	fx_finish_all(t->fx);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &place[1]);
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 1, 128, 1, &other), PDS_STARTED);
	pds_task_leave(t->fx->pds, PDS_DM_RDM, 0);
	place[1] = other;
	for (core = 0; core < 2; core++)
		assert_int_equal(stage_task_claim(t, PDS_DM_RDM, core, 32, 1, &other), PDS_WAIT);
	assert_int_equal(counter(t, PUMICE_PERF_VPM_WAITS), 4);
	pds_task_drop(t->fx->pds, &place[1]);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &place[0]);
	stage_tasks_destroy(t);
}

/*
 * The PDM has one half of the pool and the RDM the other one, whichever claims first, in any
 * policy, and wherever its rows are: one that holds its half, with programs that do not end, does
 * not keep the other one waiting.
 */
static void each_data_master_has_half_of_the_pool(void **state)
{
	static const enum pds_dm pairs[][2] = { { PDS_DM_PDM, PDS_DM_RDM },
						{ PDS_DM_RDM, PDS_DM_PDM } };
	u32 policy, pair;

	(void)state;
	for (policy = 0; policy < PUMICE_DMS_POLICY_COUNT; policy++) {
		for (pair = 0; pair < 2; pair++) {
			const enum pds_dm first = pairs[pair][0], second = pairs[pair][1];
			struct stage_tasks *t = create_pool(1);
			struct pds_place place, held[10];
			u32 n;

			fx_control(t->fx, (struct pds_control){ .out_of_order = true,
								.policy = policy });
			t->stage[first].vo_words = 4;
			for (n = 0; n < 10; n++)
				assert_int_equal(stage_task_start(t, first, 0, 32, &held[n]),
						 PDS_STARTED);
			assert_int_equal(stage_task_claim(t, first, 0, 32, 1, &place), PDS_WAIT);
			assert_int_equal(fx_load(t->fx).vpm_rows, 40);
			t->stage[second].vo_words = 10;
			assert_int_equal(stage_task_start(t, second, 0, 128, &place), PDS_STARTED);
			for (n = 0; n < 10; n++) {
				const u32 *row = pds_pool_row(t->fx->pds, &held[n]);
				const u32 *other = pds_pool_row(t->fx->pds, &place);

				assert_true(row + 4 * VPM_ROW_WORDS <= other ||
					    other + 40 * VPM_ROW_WORDS <= row);
			}
			fx_finish_all(t->fx);
			pds_pool_free(t->fx->pds, second, &place);
			for (n = 0; n < 10; n++)
				pds_pool_free(t->fx->pds, first, &held[n]);
			assert_int_equal(fx_load(t->fx).vpm_rows, 0);
			stage_tasks_destroy(t);
		}
	}
}

/*
 * A task that needs more rows than half of the pool runs when the pool is empty, and has it alone.
 * Its wait for rows of another data master holds that back, or small tasks would keep it waiting.
 */
static void large_tasks_have_the_whole_pool(void **state)
{
	struct stage_tasks *t = create_pool(1);
	struct pds_place large, rays, other;

	(void)state;
	t->stage[PDS_DM_PDM].vo_words = 14;
	rays = run_in_pool(t, PDS_DM_RDM, 32);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 96, 1, &large), PDS_WAIT);
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 32, 1, &other), PDS_WAIT);
	t->owner[PDS_DM_PDM].room[0] = t->owner[PDS_DM_RDM].room[0] = 0;
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &rays);
	assert_int_equal(t->owner[PDS_DM_PDM].room[0], 1);
	assert_int_equal(t->owner[PDS_DM_RDM].room[0], 0);
	large = run_in_pool(t, PDS_DM_PDM, 96);
	assert_int_equal(fx_load(t->fx).vpm_rows, 42);
	assert_ptr_equal(pds_pool_row(t->fx->pds, &large),
			 pds_vpm_row(t->fx->pds, 0, 239) + VPM_ROW_WORDS);
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 32, 1, &rays), PDS_WAIT);
	t->owner[PDS_DM_RDM].room[0] = 0;
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &large);
	assert_int_equal(t->owner[PDS_DM_RDM].room[0], 1);
	assert_int_equal(fx_load(t->fx).vpm_rows, 0);
	rays = run_in_pool(t, PDS_DM_RDM, 128);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &rays);
	stage_tasks_destroy(t);

	/* The same where rays precede deferred vertices. */
	t = create_pool(1);
	fx_control(t->fx, (struct pds_control){ .out_of_order = true,
						.policy = PUMICE_DMS_POLICY_CDM_VDM_PDM });
	t->stage[PDS_DM_RDM].vo_words = 14;
	other = run_in_pool(t, PDS_DM_PDM, 32);
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 96, 1, &large), PDS_WAIT);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 32, 1, &rays), PDS_WAIT);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &other);
	large = run_in_pool(t, PDS_DM_RDM, 96);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &large);
	stage_tasks_destroy(t);
}

/*
 * Meanwhile the CDM, which the PDM precedes, has no such rows and is not held back; from then on,
 * when the large task can have them, it is.
 */
static void large_tasks_that_wait_for_rows_do_not_hold_work_groups(void **state)
{
	static const enum pumice_dms_policy policies[] = {
		PUMICE_DMS_POLICY_GRAPHICS, PUMICE_DMS_POLICY_PDM_VDM_CDM,
		PUMICE_DMS_POLICY_ROUND_ROBIN,
	};
	struct pds_launch launch = fx_launch(32, 2, 1);
	u32 n;

	(void)state;
	for (n = 0; n < sizeof(policies) / sizeof(policies[0]); n++) {
		struct stage_tasks *t = create_pool(1);
		struct pds_place large, rays;

		fx_control(t->fx, (struct pds_control){ .out_of_order = true,
							.policy = policies[n] });
		fx_program_empty(t->fx, &launch);
		assert_true(fx_begin(t->fx, &launch));
		t->stage[PDS_DM_PDM].vo_words = 14;
		rays = run_in_pool(t, PDS_DM_RDM, 32);
		assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 96, 1, &large), PDS_WAIT);
		assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
		pds_pool_free(t->fx->pds, PDS_DM_RDM, &rays);
		assert_int_equal(fx_group(t->fx, 1, 0, 0, 1), PDS_WAIT);
		large = run_in_pool(t, PDS_DM_PDM, 96);
		assert_int_equal(fx_group(t->fx, 1, 0, 0, 1), PDS_STARTED);
		fx_finish_all(t->fx);
		pds_pool_free(t->fx->pds, PDS_DM_PDM, &large);
		stage_tasks_destroy(t);
	}
}

/* The same for a claim that is dropped: all rows can be claimed again. */
static void large_tasks_that_are_dropped_leave_the_pool_free(void **state)
{
	struct stage_tasks *t = create_pool(1);
	struct pds_place large, rays, other;

	(void)state;
	t->stage[PDS_DM_RDM].vo_words = 20;
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 128, 1, &large), PDS_STARTED);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 32, 1, &other), PDS_WAIT);
	pds_task_drop(t->fx->pds, &large);
	assert_int_equal(fx_load(t->fx).vpm_rows, 0);
	other = run_in_pool(t, PDS_DM_PDM, 96);
	rays = run_in_pool(t, PDS_DM_RDM, 64);
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 128, 1, &large), PDS_WAIT);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &other);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &rays);
	large = run_in_pool(t, PDS_DM_RDM, 128);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &large);
	stage_tasks_destroy(t);
}

/*
 * A wait of a small task holds no other data master: neither one for rows of its own, nor one for a
 * large task, whose rows become free at once. Then it precedes other tasks.
 */
static void waits_of_small_tasks_hold_no_other(void **state)
{
	struct stage_tasks *t = create_pool(1);
	struct pds_place place, large, other;

	(void)state;
	place = run_in_pool(t, PDS_DM_PDM, 96);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 96, 1, &other), PDS_WAIT);
	t->stage[PDS_DM_RDM].vo_words = 2;
	large = run_in_pool(t, PDS_DM_RDM, 32);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &large);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &place);
	place = run_in_pool(t, PDS_DM_PDM, 96);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &place);

	t->stage[PDS_DM_RDM].vo_words = 20;
	large = run_in_pool(t, PDS_DM_RDM, 128);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 32, 1, &other), PDS_WAIT);
	t->stage[PDS_DM_RDM].vo_words = 0;
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 32, 1, &place), PDS_STARTED);
	pds_task_drop(t->fx->pds, &place);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &large);
	t->stage[PDS_DM_RDM].vo_words = 20;
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 128, 1, &large), PDS_WAIT);
	place = run_in_pool(t, PDS_DM_PDM, 32);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &place);
	stage_tasks_destroy(t);
}

/*
 * A large task that waits for rows of its own data master alone, of a small task or of another
 * large one, is a wait for rows and holds no other data master, which may have none of them.
 */
static void large_tasks_that_wait_for_own_rows_hold_no_other(void **state)
{
	static const u32 first[] = { 32, 96 };	/* instances: a small task, a large one */
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		struct stage_tasks *t = create_pool(1);
		struct pds_place own, rays, large;

		t->stage[PDS_DM_PDM].vo_words = 14;
		/* While a large task runs, only tasks without outputs have room. */
		t->stage[PDS_DM_RDM].vo_words = first[n] == 32 ? 8 : 0;
		own = run_in_pool(t, PDS_DM_PDM, first[n]);
		assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 96, 1, &large), PDS_WAIT);
		assert_int_equal(counter(t, PUMICE_PERF_VPM_WAITS), 1);
		rays = run_in_pool(t, PDS_DM_RDM, 32);
		pds_pool_free(t->fx->pds, PDS_DM_RDM, &rays);
		assert_int_equal(counter(t, PUMICE_PERF_VPM_WAITS), 1);
		pds_pool_free(t->fx->pds, PDS_DM_PDM, &own);
		large = run_in_pool(t, PDS_DM_PDM, 96);
		pds_pool_free(t->fx->pds, PDS_DM_PDM, &large);
		assert_int_equal(fx_load(t->fx).vpm_rows, 0);
		stage_tasks_destroy(t);
	}
}

static enum pds_result claim_for_tile(struct stage_tasks *t, u8 tile, u32 vo_words, u32 instances,
				      struct pds_place *place)
{
	const struct pds_outputs outputs = { .tile = tile };

	t->stage[PDS_DM_PDM].vo_words = vo_words;
	return pds_tile_task_claim(t->fx->pds, &outputs, &t->stage[PDS_DM_PDM], instances, 1,
				   place, &t->fx->fault);
}

/*
 * A tile that waits for room on a USC holds back the CDM, which a large task of another tile that
 * waits for rows of the RDM does not.
 */
static void check_wait_for_room(u8 tile)
{
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct stage_tasks *t = create_pool(1);
	struct pds_place rays, large, task;

	rays = run_in_pool(t, PDS_DM_RDM, 32);
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, 0, 0, 0, 0) == PDS_STARTED)
		;
	assert_int_equal(claim_for_tile(t, tile, 0, 32, &task), PDS_WAIT);
	assert_int_equal(claim_for_tile(t, !tile, 14, 96, &large), PDS_WAIT);
	fx_finish_oldest(t->fx);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(claim_for_tile(t, tile, 0, 32, &task), PDS_STARTED);
	fx_finish_oldest(t->fx);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	pds_task_drop(t->fx->pds, &task);
	fx_finish_all(t->fx);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &rays);
	stage_tasks_destroy(t);
}

/*
 * A large task of a tile that waits for rows of the RDM holds that back, which a small task of
 * another tile that waits for rows of its own data master does not.
 */
static void check_wait_for_rows(u8 tile)
{
	struct stage_tasks *t = create_pool(1);
	struct pds_place own, rays, task;

	own = run_in_pool(t, PDS_DM_PDM, 96);
	rays = run_in_pool(t, PDS_DM_RDM, 32);
	assert_int_equal(claim_for_tile(t, !tile, 12, 32, &task), PDS_WAIT);
	assert_int_equal(claim_for_tile(t, tile, 14, 96, &task), PDS_WAIT);
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 32, 1, &task), PDS_WAIT);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &rays);
	assert_int_equal(stage_task_claim(t, PDS_DM_RDM, 0, 32, 1, &task), PDS_STARTED);
	pds_task_drop(t->fx->pds, &task);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &own);
	stage_tasks_destroy(t);
}

/* Of several tiles that wait, the one that most ends of tasks help decides, whichever it is. */
static void of_tiles_that_wait_the_one_with_most_hope_decides(void **state)
{
	u8 tile;

	(void)state;
	for (tile = 0; tile < 2; tile++) {
		check_wait_for_room(tile);
		check_wait_for_rows(tile);
	}
}

/* A task that the whole pool has no room for is refused, and does not wait. */
static void tasks_beyond_the_pool_are_a_fault(void **state)
{
	struct stage_tasks *t = create_pool(1);
	struct pds_place place;

	(void)state;
	t->stage[PDS_DM_PDM].vo_words = 20;
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 128, 1, &place), PDS_STARTED);
	pds_task_drop(t->fx->pds, &place);
	t->stage[PDS_DM_PDM].vo_words = 21;
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 128, 1, &place), PDS_FAULT);
	assert_int_equal(t->fx->fault.fault, PUMICE_FAULT_PDS_RESOURCE);
	stage_tasks_destroy(t);
}

/*
 * A task has no more rows than half of the pool, but at least a wave; more outputs than a wave may
 * have are refused.
 */
static void tasks_are_limited_to_half_of_the_pool(void **state)
{
	static const u32 batches[] = { 16, 32, 96, 128 };
	u32 i, total, vo;

	(void)state;
	for (i = 0; i < 4; i++) {
		for (total = 4; total < 4000; total += 1 + total / 9) {
			const u32 batch = batches[i], rows = total / 4;
			const struct fx_stores stores = {
				.unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON,
				.local_bytes = FX_LOCAL, .vpm_bytes = total * 128,
				.batch = batch,
			};
			struct fixture *fx = fx_create(1, &stores);

			for (vo = 4; vo <= 256; vo += 9) {
				const u32 n = pds_pool_instances(fx->pds, vo);
				const u32 waves = (n + 31) / 32;

				assert_int_equal(n == 0, vo > rows);
				assert_in_range(n, 0, batch);
				if (waves > 1)
					assert_true(waves * vo <= rows / 2);
				if (n && n < batch)
					assert_true((waves + 1) * vo > rows / 2 && n % 32 == 0);
			}
			fx_destroy(fx);
		}
	}
}

/* A reset frees all rows. */
static void a_reset_frees_the_pool(void **state)
{
	struct stage_tasks *t = create_pool(1);
	struct pds_place place;

	(void)state;
	run_in_pool(t, PDS_DM_PDM, 96);
	run_in_pool(t, PDS_DM_RDM, 128);
	pds_reset(t->fx->pds);
	assert_int_equal(fx_load(t->fx).vpm_rows, 0);
	place = run_in_pool(t, PDS_DM_PDM, 96);
	pds_pool_free(t->fx->pds, PDS_DM_PDM, &place);
	place = run_in_pool(t, PDS_DM_RDM, 128);
	pds_pool_free(t->fx->pds, PDS_DM_RDM, &place);
	stage_tasks_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_allocated_once_and_in_one_piece),
		cmocka_unit_test(an_undone_allocation_leaves_no_skipped_rows),
		cmocka_unit_test(tasks_wait_for_rows_until_outputs_are_freed),
		cmocka_unit_test(a_claim_of_the_last_rows_notifies_others),
		cmocka_unit_test(only_waits_for_rows_are_counted),
		cmocka_unit_test(pieces_are_limited_to_half_of_the_ring),
		cmocka_unit_test(the_pool_is_not_for_the_vdm),
		cmocka_unit_test(tasks_wait_for_rows_of_the_pool),
		cmocka_unit_test(a_wait_for_rows_counts_once_on_each_core),
		cmocka_unit_test(each_data_master_has_half_of_the_pool),
		cmocka_unit_test(large_tasks_have_the_whole_pool),
		cmocka_unit_test(large_tasks_that_wait_for_rows_do_not_hold_work_groups),
		cmocka_unit_test(large_tasks_that_are_dropped_leave_the_pool_free),
		cmocka_unit_test(waits_of_small_tasks_hold_no_other),
		cmocka_unit_test(large_tasks_that_wait_for_own_rows_hold_no_other),
		cmocka_unit_test(of_tiles_that_wait_the_one_with_most_hope_decides),
		cmocka_unit_test(tasks_beyond_the_pool_are_a_fault),
		cmocka_unit_test(tasks_are_limited_to_half_of_the_pool),
		cmocka_unit_test(a_reset_frees_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
