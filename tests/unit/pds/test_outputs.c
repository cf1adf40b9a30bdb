// SPDX-License-Identifier: MIT
/*
 * Pixel outputs of tiles: allocation from the stores of USCs, accounts, and tiles and data masters
 * that wait for each other. Sizes are computed from those of the tile.
 */
#include "../../../qemu-device/gpu/pds/outputs.h"
#include "../../../qemu-device/gpu/pds/state.h"
#include "stage_fixture.h"

#include <string.h>

#define TILE	(32u * 32)	/* pixels */
#define WORDS	(TILE * 4)	/* outputs of a tile: 16 KiB */

static const struct pumice_stage four_temps = { .temps = 4 };

/*
 * Stores of a USC with room for the outputs of some tiles of WORDS and the least that tasks keep.
 */
static struct fx_stores stores_for(u32 tiles, enum pumice_output_store outputs)
{
	const bool partition = outputs == PUMICE_OUTPUT_STORE_PARTITION;

	return (struct fx_stores){
		.unified_bytes = (256u << 10) + (partition ? tiles * WORDS * 4 : 0),
		.common_bytes = (64u << 10) + (partition ? 0 : tiles * WORDS * 4),
		.local_bytes = FX_LOCAL, .outputs = outputs,
	};
}

static struct stage_tasks *create(unsigned int cores, u32 tiles, enum pumice_output_store outputs)
{
	const struct fx_stores stores = stores_for(tiles, outputs);

	return stage_tasks_create(cores, &stores, &four_temps);
}

static enum pds_result claim(struct stage_tasks *t, u32 words, struct pds_outputs *out)
{
	memset(out, 0, sizeof(*out));
	return pds_outputs_claim(t->fx->pds, 0, words, FX_CTX, out);
}

/* ------------------------------------------------------------ the allocator */

static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*state >> 33);
}

#define MAP	2048u

/* The highest place by a search through all of them. */
static bool highest(const bool *used, u32 count, u32 align, u32 lowest, u32 *start)
{
	u32 n, at;

	for (at = (MAP - count) / align * align + align; at >= align && at > lowest;) {
		at -= align;
		for (n = 0; n < count && !used[at + n]; n++)
			;
		if (n == count && at >= lowest) {
			*start = at;
			return true;
		}
	}
	return false;
}

static void outputs_are_allocated_as_high_as_possible(void **state)
{
	struct pds_extent piece[PDS_OUTPUT_PIECES + PUMICE_USC_SLOTS] = { { 0 } };
	struct pds_store store;
	bool used[MAP] = { false };
	u32 i, refused = 0;
	u64 seed = 1;

	(void)state;
	pds_store_init(&store, MAP);
	for (i = 0; i < 100000; i++) {
		struct pds_extent *p = &piece[next_random(&seed) % 12];
		const u32 count = 1 + next_random(&seed) % 400;
		u32 start, expected;
		bool ok;

		if (p->count) {
			pds_store_free(&store, p->start, p->count);
			memset(used + p->start, false, p->count);
			p->count = 0;
		} else if (next_random(&seed) % 2) {
			const u32 align = next_random(&seed) % 2 ? 32 : 1;
			const u32 lowest = next_random(&seed) % 700;

			ok = pds_store_alloc_high(&store, count, align, lowest, &start);
			assert_int_equal(ok, highest(used, count, align, lowest, &expected));
			refused += !ok;
			if (ok) {
				assert_int_equal(start, expected);
				*p = (struct pds_extent){ start, count };
				memset(used + start, true, count);
			}
		} else if (pds_store_alloc(&store, count, &start)) {
			*p = (struct pds_extent){ start, count };
			memset(used + start, true, count);
		}
	}
	assert_true(refused > 1000);
}

/* ------------------------------------------------------------ accounts */

/* Sizes of tiles, samples and outputs: occupied bytes, and their integral over time, are exact. */
static void occupancy_is_that_of_the_tiles(enum pumice_output_store store)
{
	static const u32 pixels[] = { 256, 512, 1024 }, registers[] = { 1, 5, 32 };
	struct stage_tasks *t = create(1, 32, store);
	u32 p, samples, r, peak = 0;
	u64 sum = 0;

	t->fx->clock = 1000;
	for (p = 0; p < 3; p++)
		for (samples = 1; samples <= 4; samples *= 2)
			for (r = 0; r < 3; r++) {
				const u32 words = pixels[p] * samples * registers[r];
				struct pds_outputs a, b;

				assert_int_equal(claim(t, words, &a), PDS_STARTED);
				assert_int_equal(fx_load(t->fx).output_bytes, words * 4);
				t->fx->clock += 100 + r;
				sum += words * 4ull * (100 + r);
				assert_int_equal(claim(t, words, &b), PDS_STARTED);
				assert_int_equal(fx_load(t->fx).output_bytes, words * 8);
				/* Least occupied USC first. */
				assert_int_not_equal(a.usc, b.usc);
				peak = words * 8 > peak ? words * 8 : peak;
				t->fx->clock += 10;
				sum += words * 8ull * 10;
				pds_outputs_free(t->fx->pds, &a);
				pds_outputs_free(t->fx->pds, &b);
				assert_null(a.word);
				assert_int_equal(fx_load(t->fx).output_bytes, 0);
				t->fx->clock += 1000;
			}
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDM_OUTPUT_OCCUPANCY), sum);
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDM_OUTPUT_WAITS), 0);
	assert_int_equal(fx_load(t->fx).peak_output_bytes, peak);
	pds_reset_peak_outputs(t->fx->pds);
	assert_int_equal(fx_load(t->fx).peak_output_bytes, 0);
	stage_tasks_destroy(t);
}

static void occupancy_of_either_store_is_that_of_the_tiles(void **state)
{
	(void)state;
	occupancy_is_that_of_the_tiles(PUMICE_OUTPUT_STORE_COMMON);
	occupancy_is_that_of_the_tiles(PUMICE_OUTPUT_STORE_PARTITION);
}

/* Outputs and the registers of tasks have no word in common. */
static void outputs_share_no_word_with_tasks(void **state)
{
	static const struct pumice_stage registers = { .temps = 1, .attrs = 7, .shared = 700 };
	static const enum pumice_output_store both[] = { PUMICE_OUTPUT_STORE_COMMON,
							 PUMICE_OUTPUT_STORE_PARTITION };
	u32 i, n;

	(void)state;
	for (i = 0; i < 2; i++) {
		const struct fx_stores stores = stores_for(2, both[i]);
		struct stage_tasks *t = stage_tasks_create(1, &stores, &registers);
		struct pds_outputs out;
		struct pds_place place;
		u32 tasks = 0;

		assert_int_equal(claim(t, WORDS, &out), PDS_STARTED);
		for (n = 0; n < WORDS; n++)
			out.word[n] = n;
		while (stage_task_claim(t, PDS_DM_PDM, 0, 128, 1, &place) == PDS_STARTED) {
			struct usc *usc = t->fx->usc[place.usc];
			struct usc_task *task = pds_task_of(t->fx->pds, &place, 0);

			memset(usc_shared(usc, task), 0xff, 700 * 4);
			memset(usc_attr(usc, task, 3, 0), 0xff, 7 * 128);
			pds_task_start(t->fx->pds, PDS_DM_PDM, &place, NULL);
			tasks++;
		}
		assert_true(tasks > 40);
		for (n = 0; n < WORDS; n++)
			assert_int_equal(out.word[n], n);
		fx_finish_all(t->fx);
		pds_outputs_free(t->fx->pds, &out);
		stage_tasks_destroy(t);
	}
}

/* ------------------------------------------------------------ waiting */

/* A tile waits for those that occupy the stores, and is notified once when one ends. */
static void tiles_wait_for_room(enum pumice_output_store store)
{
	struct stage_tasks *t = create(1, 1, store);
	struct pds_outputs out[3];

	t->fx->clock = 1;
	assert_int_equal(claim(t, WORDS, &out[0]), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &out[1]), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &out[2]), PDS_WAIT);
	assert_int_equal(claim(t, WORDS, &out[2]), PDS_WAIT);
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDM_OUTPUT_WAITS), 1);
	assert_int_equal(fx_load(t->fx).output_bytes, 2 * WORDS * 4);
	t->owner[PDS_DM_PDM].room[0] = 0;
	pds_outputs_free(t->fx->pds, &out[0]);
	assert_true(t->owner[PDS_DM_PDM].room[0] > 0);
	assert_int_equal(claim(t, WORDS, &out[2]), PDS_STARTED);
	pds_outputs_free(t->fx->pds, &out[1]);
	pds_outputs_free(t->fx->pds, &out[2]);
	stage_tasks_destroy(t);
}

static void tiles_wait_for_room_in_either_store(void **state)
{
	(void)state;
	tiles_wait_for_room(PUMICE_OUTPUT_STORE_COMMON);
	tiles_wait_for_room(PUMICE_OUTPUT_STORE_PARTITION);
}

/* Accesses of a whole wave are to aligned words, whatever the sizes of the tiles before. */
static void outputs_are_aligned_to_a_wave(void **state)
{
	struct stage_tasks *t = create(1, 2, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_outputs out[2 * FX_USCS_PER_CORE];
	u32 i;

	(void)state;
	for (i = 0; i < 2 * FX_USCS_PER_CORE; i++) {
		assert_int_equal(claim(t, 33, &out[i]), PDS_STARTED);
		if (!out[i].usc)
			assert_int_equal((out[i].word -
					  usc_outputs_common(t->fx->usc[0], 0)) % PUMICE_LANES, 0);
	}
	for (i = 0; i < 2 * FX_USCS_PER_CORE; i++)
		pds_outputs_free(t->fx->pds, &out[i]);
	stage_tasks_destroy(t);
}

/*
 * A tile may occupy all of a store, and none fits that has more. Two tiles never leave less to
 * tasks than the least, though their words would fit.
 */
static void outputs_leave_room_for_tasks(void **state)
{
	struct stage_tasks *t = create(1, 1, PUMICE_OUTPUT_STORE_COMMON);
	const u32 all = (64u << 10) / 4 + WORDS;
	struct pds_outputs a, b, c;

	(void)state;
	assert_true(pds_outputs_fit(t->fx->pds, all));
	assert_false(pds_outputs_fit(t->fx->pds, all + 32));
	assert_int_equal(claim(t, WORDS, &a), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &b), PDS_STARTED);
	/* 64 KiB are free on each USC. */
	assert_int_equal(claim(t, 256, &c), PDS_WAIT);
	pds_outputs_free(t->fx->pds, &b);
	assert_int_equal(claim(t, all, &b), PDS_STARTED);
	pds_outputs_free(t->fx->pds, &a);
	pds_outputs_free(t->fx->pds, &b);
	stage_tasks_destroy(t);
}

/* The stage of a tile has what its outputs leave; more is a fault. */
static void stages_have_the_room_that_the_outputs_of_their_tile_leave(void **state)
{
	static const struct pumice_pds_insn program[] = { TASK, END };
	const struct pumice_stage shared = { .shared = 4096 };
	const u32 all = 32u << 10 >> 2;
	const struct fx_stores stores = { .unified_bytes = FX_UNIFIED, .common_bytes = 32u << 10,
					  .local_bytes = FX_LOCAL };
	struct stage_tasks *t = stage_tasks_create(1, &stores, &four_temps);
	struct pds_stage_limits limits = { .stage = USC_STAGE_FRAGMENT, .tile_words = all - 4096 };
	struct pds_stage stage;

	(void)state;
	assert_true(stage_load(t->fx, &shared, &limits, program, 2, &stage));
	pds_stage_drop(t->fx->pds, &stage);
	limits.tile_words += 32;
	assert_false(stage_load(t->fx, &shared, &limits, program, 2, &stage));
	fx_expect_fault(t->fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS, 0);
	stage_tasks_destroy(t);
}

/* The PDM's limits include outputs; one tile on a USC is always admitted. */
static void limits_include_outputs(void **state)
{
	struct pds_control control = { .out_of_order = true,
				       .pdm.common_bytes = 2 * WORDS * 4 - 4 };
	struct stage_tasks *t = create(1, 8, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_outputs out[4];

	(void)state;
	fx_control(t->fx, control);
	assert_int_equal(claim(t, WORDS, &out[0]), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &out[1]), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &out[2]), PDS_WAIT);
	control.pdm.common_bytes = 2 * WORDS * 4;
	fx_control(t->fx, control);
	assert_int_equal(claim(t, WORDS, &out[2]), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &out[3]), PDS_STARTED);
	control.pdm.common_bytes = 4;
	fx_control(t->fx, control);
	for (u32 i = 0; i < 4; i++)
		pds_outputs_free(t->fx->pds, &out[i]);
	assert_int_equal(claim(t, WORDS, &out[0]), PDS_STARTED);
	pds_outputs_free(t->fx->pds, &out[0]);
	stage_tasks_destroy(t);
}

/*
 * A limit that one tile exceeds, or that the tiles of a USC use up, is one of tasks all the same:
 * they have as much room as a limit without the outputs of a tile gives them.
 */
static void outputs_of_one_tile_leave_tasks_their_limit(enum pumice_output_store store)
{
	static const struct pumice_stage registers = { .temps = 2, .shared = 100 };
	const struct fx_stores stores = stores_for(4, store);
	const bool partition = store == PUMICE_OUTPUT_STORE_PARTITION;
	/* Of each of 7 tasks of one wave; and less than another one needs. */
	const u32 task = partition ? 2 * 128 : 100 * 4, limit = 7 * task + task / 2;
	struct stage_tasks *t = stage_tasks_create(1, &stores, &registers);
	struct pds_control control = { .out_of_order = true };
	struct pds_outputs out[2 * FX_USCS_PER_CORE];
	struct pds_place place;
	u32 tiles, i, n;

	for (tiles = 1; tiles <= 2; tiles++) {
		/* The second tile of a USC is within the limit. */
		const u32 bytes = tiles == 1 ? limit : 2 * WORDS * 4;

		control.pdm.common_bytes = partition ? 0 : bytes;
		control.pdm.unified_bytes = partition ? bytes : 0;
		fx_control(t->fx, control);
		for (i = 0; i < tiles * FX_USCS_PER_CORE; i++)
			assert_int_equal(claim(t, WORDS, &out[i]), PDS_STARTED);
		n = 0;
		while (n < 1000 && stage_task_start(t, PDS_DM_PDM, 0, 32, &place) == PDS_STARTED)
			n++;
		/* Without slots for all: the number of these. */
		i = tiles == 1 ? 7 : WORDS * 4 / task;
		i = i < PUMICE_USC_SLOTS ? i : PUMICE_USC_SLOTS;
		assert_int_equal(n, FX_USCS_PER_CORE * i);
		fx_finish_all(t->fx);
		for (i = 0; i < tiles * FX_USCS_PER_CORE; i++)
			pds_outputs_free(t->fx->pds, &out[i]);
	}
	stage_tasks_destroy(t);
}

static void outputs_of_one_tile_in_either_store_leave_tasks_their_limit(void **state)
{
	(void)state;
	outputs_of_one_tile_leave_tasks_their_limit(PUMICE_OUTPUT_STORE_COMMON);
	outputs_of_one_tile_leave_tasks_their_limit(PUMICE_OUTPUT_STORE_PARTITION);
}

/* ------------------------------------------------------------ tiles of a core */

/* Work-groups, one in each slot of the core. */
static void fill_slots(struct stage_tasks *t)
{
	struct pds_launch launch = fx_launch(32, 1, 1);
	u32 n = 0;

	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, n, 0, 0, n) == PDS_STARTED)
		n++;
	assert_int_equal(n, FX_USCS_PER_CORE * PUMICE_USC_SLOTS);
	fx_end(t->fx);
}

static enum pds_result claim_task(struct stage_tasks *t, const struct pds_outputs *out)
{
	struct pds_place place;
	const enum pds_result result =
		pds_tile_task_claim(t->fx->pds, out, &t->stage[PDS_DM_PDM], 32, 1, &place,
				    &t->fx->fault);

	if (result == PDS_STARTED)
		pds_task_start(t->fx->pds, PDS_DM_PDM, &place, NULL);
	return result;
}

/*
 * A claim of one tile does not end the wait of another: that is notified by the next end of a task.
 */
static void each_tile_waits_for_its_own_task(enum pumice_output_store store)
{
	struct stage_tasks *t = create(1, 4, store);
	struct stage_owner *owner = &t->owner[PDS_DM_PDM];
	struct pds_outputs out[2] = { { .tile = 0 }, { .tile = 1 } };
	u32 i;

	for (i = 0; i < 2; i++)
		assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[i]),
				 PDS_STARTED);
	assert_int_not_equal(out[0].usc, out[1].usc);
	fill_slots(t);
	for (i = 0; i < 4; i++)
		assert_int_equal(claim_task(t, &out[i % 2]), PDS_WAIT);
	assert_int_equal(pds_waits(t->fx->pds, PDS_DM_PDM), 2);
	fake_usc_finish(t->fx->usc[out[1].usc], fake_usc_oldest(t->fx->usc[out[1].usc]));
	assert_true(owner->room[0] > 0);
	assert_int_equal(claim_task(t, &out[1]), PDS_STARTED);
	owner->room[0] = 0;
	fake_usc_finish(t->fx->usc[out[0].usc], fake_usc_oldest(t->fx->usc[out[0].usc]));
	assert_int_equal(owner->room[0], 1);
	assert_int_equal(claim_task(t, &out[0]), PDS_STARTED);
	/* Neither waits any longer. */
	owner->room[0] = 0;
	assert_true(fx_finish_oldest(t->fx));
	assert_int_equal(owner->room[0], 0);
	assert_int_equal(pds_waits(t->fx->pds, PDS_DM_PDM), 2);
	fx_finish_all(t->fx);
	for (i = 0; i < 2; i++)
		pds_outputs_free(t->fx->pds, &out[i]);
	stage_tasks_destroy(t);
}

static void each_tile_waits_for_its_own_task_with_either_store(void **state)
{
	(void)state;
	each_tile_waits_for_its_own_task(PUMICE_OUTPUT_STORE_COMMON);
	each_tile_waits_for_its_own_task(PUMICE_OUTPUT_STORE_PARTITION);
}

/*
 * The tile whose USC is at a limit precedes no other data master. The other one does, although it
 * claims later.
 */
static void a_tile_at_a_limit_precedes_none_and_another_does(void **state)
{
	struct stage_tasks *t = create(1, 4, PUMICE_OUTPUT_STORE_PARTITION);
	struct pds_outputs out[2] = { { .tile = 0 }, { .tile = 1 } };
	struct pds_launch launch = fx_launch(32, 1, 1);
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++)
		assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[i]),
				 PDS_STARTED);
	fx_control(t->fx, (struct pds_control){ .out_of_order = true, .pdm.tasks = 1 });
	assert_int_equal(claim_task(t, &out[0]), PDS_STARTED);
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, 0, 0, 0, 0) == PDS_STARTED)
		;
	for (i = 0; i < 2; i++)
		assert_int_equal(claim_task(t, &out[i]), PDS_WAIT);
	fake_usc_finish(t->fx->usc[out[1].usc], fake_usc_oldest(t->fx->usc[out[1].usc]));
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(claim_task(t, &out[1]), PDS_STARTED);
	fake_usc_finish(t->fx->usc[out[1].usc], fake_usc_oldest(t->fx->usc[out[1].usc]));
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	fx_finish_all(t->fx);
	for (i = 0; i < 2; i++)
		pds_outputs_free(t->fx->pds, &out[i]);
	stage_tasks_destroy(t);
}

/*
 * A tile of two that wait claims the last task of the limit. Compute, which had to wait for it, is
 * notified then: no later event would.
 */
static void a_claim_that_reaches_the_limit_notifies_others(void **state)
{
	struct stage_tasks *t = create(1, 4, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_outputs out[2] = { { .tile = 0 }, { .tile = 1 } };
	struct pds_launch launch = fx_launch(32, 1, 1);
	u32 i, n = 0;

	(void)state;
	for (i = 0; i < 2; i++)
		assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[i]),
				 PDS_STARTED);
	fx_control(t->fx, (struct pds_control){ .out_of_order = true, .pdm.tasks = 2 });
	while (claim_task(t, &out[n % 2]) == PDS_STARTED)
		n++;
	assert_int_equal(n, 4);
	assert_int_equal(claim_task(t, &out[1]), PDS_WAIT);
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	fx_finish_oldest(t->fx);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	t->fx->room = 0;
	assert_int_equal(claim_task(t, &out[0]), PDS_STARTED);
	assert_int_equal(t->fx->room, 1);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	fx_finish_all(t->fx);
	for (i = 0; i < 2; i++)
		pds_outputs_free(t->fx->pds, &out[i]);
	stage_tasks_destroy(t);
}

/* The same for outputs: the next tile of the same size would not fit, whatever ends. */
static void a_claim_of_the_last_outputs_notifies_others(void **state)
{
	struct stage_tasks *t = create(1, 1, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_outputs out[3] = { { .tile = 0 }, { .tile = 1 }, { .tile = 2 } };
	struct pds_launch launch = fx_launch(32, 1, 1);
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[i]),
				 i < FX_USCS_PER_CORE ? PDS_STARTED : PDS_WAIT);
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	pds_outputs_free(t->fx->pds, &out[0]);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	t->fx->room = 0;
	assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[2]), PDS_STARTED);
	assert_int_equal(t->fx->room, 1);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	fx_finish_all(t->fx);
	for (i = 1; i < 3; i++)
		pds_outputs_free(t->fx->pds, &out[i]);
	stage_tasks_destroy(t);
}

/* Outputs that do not count against the limit leave others the same part of the rest. */
static void tasks_with_large_outputs_leave_others_their_part(void **state)
{
	static const struct pumice_stage registers = { .temps = 1, .shared = 1024 };
	const struct fx_stores stores = stores_for(4, PUMICE_OUTPUT_STORE_COMMON);
	struct stage_tasks *t = stage_tasks_create(1, &stores, &registers);
	struct pds_launch launch = fx_launch(32, 1, 1);
	const u32 words = stores.common_bytes / 4, part = words / 4 * 3;
	const u32 rest = (words - 4 * WORDS) / 4 * 3;
	struct pds_outputs out = { .tile = 0 };

	(void)state;
	fx_control(t->fx, (struct pds_control){
		.out_of_order = true, .pdm.common_bytes = part * 4,
	});
	assert_int_equal(pds_outputs_claim(t->fx->pds, 0, 4 * WORDS, FX_CTX, &out), PDS_STARTED);
	while (claim_task(t, &out) == PDS_STARTED)
		;
	assert_int_equal(fx_load(t->fx).tasks, part / 1024 + rest / 1024);
	launch.state.shared = 1024;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	stage_tasks_abort(t, PDS_DM_PDM);	/* it waits no longer */
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	fx_finish_all(t->fx);
	pds_outputs_free(t->fx->pds, &out);
	stage_tasks_destroy(t);
}

/* The same for outputs, for which two tiles wait. */
static void each_tile_waits_for_its_own_outputs(void **state)
{
	struct stage_tasks *t = create(1, 2, PUMICE_OUTPUT_STORE_COMMON);
	struct stage_owner *owner = &t->owner[PDS_DM_PDM];
	struct pds_outputs out[2] = { { .tile = 0 }, { .tile = 1 } };
	struct pds_launch launch = fx_launch(32, 1, 1);
	u32 i, groups = 0;

	(void)state;
	launch.state.shared = 4096;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, groups, 0, 0, groups) == PDS_STARTED)
		groups++;
	fx_end(t->fx);
	for (i = 0; i < 4; i++)
		assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[i % 2]),
				 PDS_WAIT);
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDM_OUTPUT_WAITS), 2);
	while (pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[1]) == PDS_WAIT)
		assert_true(fx_finish_oldest(t->fx));
	owner->room[0] = 0;
	assert_true(fx_finish_oldest(t->fx));
	assert_int_equal(owner->room[0], 1);
	fx_finish_all(t->fx);
	assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[0]), PDS_STARTED);
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDM_OUTPUT_WAITS), 2);
	for (i = 0; i < 2; i++)
		pds_outputs_free(t->fx->pds, &out[i]);
	stage_tasks_destroy(t);
}

/* ------------------------------------------------------------ with other data masters */

/* With a partition the tasks of a tile run on its USC; else on all of the core. */
static void tasks_of_a_tile_run_where_its_outputs_may_be_reached(void **state)
{
	static const enum pumice_output_store both[] = { PUMICE_OUTPUT_STORE_COMMON,
							 PUMICE_OUTPUT_STORE_PARTITION };
	u32 i, n;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct stage_tasks *t = create(1, 1, both[i]);
		struct pds_outputs out;
		struct pds_place place;
		u32 on[2] = { 0 };

		assert_int_equal(claim(t, WORDS, &out), PDS_STARTED);
		for (n = 0; n < 6; n++) {
			assert_int_equal(pds_tile_task_claim(t->fx->pds, &out,
							     &t->stage[PDS_DM_PDM],
							     32, 1, &place, &t->fx->fault),
					 PDS_STARTED);
			on[place.usc]++;
			pds_task_start(t->fx->pds, PDS_DM_PDM, &place, NULL);
		}
		assert_int_equal(on[out.usc], i ? 6 : 3);
		fx_finish_all(t->fx);
		pds_outputs_free(t->fx->pds, &out);
		stage_tasks_destroy(t);
	}
}

/* A work-group that needs the words which the outputs of tiles occupy on every USC. */
static void large_group(struct stage_tasks *t)
{
	struct pds_launch launch = fx_launch(1024, 1, 1);

	launch.state.shared = 4096;	/* of each of eight tasks: 128 KiB */
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
}

/*
 * Under policies by which the CDM precedes the PDM: a work-group that waits for outputs of tiles
 * does not keep their tasks waiting, or the tiles would never end; but it keeps new tiles waiting,
 * or it would wait for ever.
 */
static void a_group_that_waits_for_tiles_lets_their_tasks_run(void **state)
{
	const struct pds_control control = { .out_of_order = true,
					     .policy = PUMICE_DMS_POLICY_CDM_PDM_VDM };
	struct stage_tasks *t = create(1, 4, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_outputs a, b, c;
	struct pds_place place;

	(void)state;
	fx_control(t->fx, control);
	assert_int_equal(claim(t, WORDS, &a), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &b), PDS_STARTED);
	large_group(t);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(stage_task_start(t, PDS_DM_PDM, 0, 32, &place), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &c), PDS_WAIT);
	fx_finish_all(t->fx);
	pds_outputs_free(t->fx->pds, &a);
	/* The group now precedes tasks as well: their ends make room for it. */
	assert_int_equal(stage_task_start(t, PDS_DM_PDM, 0, 32, &place), PDS_WAIT);
	assert_int_equal(claim(t, WORDS, &c), PDS_WAIT);
	t->owner[PDS_DM_PDM].room[0] = 0;
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(t->owner[PDS_DM_PDM].room[0], 1);
	assert_int_equal(claim(t, WORDS, &c), PDS_STARTED);
	fx_finish_all(t->fx);
	pds_outputs_free(t->fx->pds, &b);
	pds_outputs_free(t->fx->pds, &c);
	stage_tasks_destroy(t);
}

static const struct pds_control compute_first = {
	.out_of_order = true, .policy = PUMICE_DMS_POLICY_CDM_PDM_VDM,
};

/* The group waits for outputs, and precedes only tiles: its end of waiting is for these. */
static void a_tile_is_notified_when_a_group_that_waits_for_tiles_leaves(void **state)
{
	struct stage_tasks *t = create(1, 4, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_outputs a, b, c;

	(void)state;
	fx_control(t->fx, compute_first);
	assert_int_equal(claim(t, WORDS, &a), PDS_STARTED);
	assert_int_equal(claim(t, WORDS, &b), PDS_STARTED);
	large_group(t);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(claim(t, WORDS, &c), PDS_WAIT);
	t->owner[PDS_DM_PDM].room[0] = 0;
	fx_end(t->fx);
	assert_int_equal(t->owner[PDS_DM_PDM].room[0], 1);
	assert_int_equal(claim(t, WORDS, &c), PDS_STARTED);
	pds_outputs_free(t->fx->pds, &a);
	pds_outputs_free(t->fx->pds, &b);
	pds_outputs_free(t->fx->pds, &c);
	stage_tasks_destroy(t);
}

/* The same when it claims: the words of one of its tasks are those of a tile above another tile. */
static void a_tile_is_notified_when_a_group_claims_among_tiles(void **state)
{
	struct stage_tasks *t = create(1, 4, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_launch launch = fx_launch(7 * PUMICE_TASK_INSTANCES, 1, 1);
	struct pds_outputs out[4], next;
	u32 i;

	(void)state;
	fx_control(t->fx, compute_first);
	for (i = 0; i < 4; i++)	/* 96 KiB remain below, on each USC */
		assert_int_equal(claim(t, WORDS, &out[i]), PDS_STARTED);
	launch.state.shared = WORDS;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(claim(t, WORDS, &next), PDS_WAIT);
	pds_outputs_free(t->fx->pds, &out[0]);
	assert_int_equal(claim(t, WORDS, &next), PDS_WAIT);
	t->owner[PDS_DM_PDM].room[0] = 0;
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(t->owner[PDS_DM_PDM].room[0], 1);
	assert_int_equal(claim(t, WORDS, &next), PDS_STARTED);
	fx_finish_all(t->fx);
	for (i = 1; i < 4; i++)
		pds_outputs_free(t->fx->pds, &out[i]);
	pds_outputs_free(t->fx->pds, &next);
	stage_tasks_destroy(t);
}

/*
 * A tile that waits for words of work-groups precedes them; one
 * that waits for other tiles does not.
 */
static void a_tile_that_waits_precedes_groups_that_could_help_it(void **state)
{
	struct stage_tasks *t = create(1, 5, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pds_outputs out[9];
	u32 n, groups = 0;

	(void)state;
	/* Both USCs' words but fewer than a tile needs. */
	launch.state.shared = 4096;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, groups, 0, 0, groups) == PDS_STARTED)
		groups++;
	assert_true(groups >= 18);
	assert_int_equal(claim(t, WORDS, &out[0]), PDS_WAIT);
	t->owner[PDS_DM_PDM].room[0] = 0;
	assert_true(fx_finish_oldest(t->fx));
	assert_true(t->owner[PDS_DM_PDM].room[0] > 0);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	fx_finish_all(t->fx);
	assert_int_equal(claim(t, WORDS, &out[0]), PDS_STARTED);
	for (n = 1; n < 8; n++)
		assert_int_equal(claim(t, WORDS, &out[n]), PDS_STARTED);
	assert_int_equal(claim(t, 6 * WORDS, &out[8]), PDS_WAIT);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	for (n = 0; n < 8; n++)
		pds_outputs_free(t->fx->pds, &out[n]);
	stage_tasks_destroy(t);
}

/* The end of a job cancels the wait of its tiles. */
static void an_abort_ends_the_wait_of_tiles(void **state)
{
	struct stage_tasks *t = create(1, 5, PUMICE_OUTPUT_STORE_COMMON);
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pds_outputs out;
	u32 groups = 0;

	(void)state;
	launch.state.shared = 4096;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, groups, 0, 0, groups) == PDS_STARTED)
		groups++;
	assert_int_equal(claim(t, WORDS, &out), PDS_WAIT);
	assert_true(fx_finish_oldest(t->fx));
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	stage_tasks_abort(t, PDS_DM_PDM);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	stage_tasks_destroy(t);
}

/* Freed outputs remain those of their tile: the next waits of two tiles are two waits, too. */
static void freed_outputs_remain_those_of_their_tile(void **state)
{
	static const enum pumice_output_store both[] = { PUMICE_OUTPUT_STORE_COMMON,
							 PUMICE_OUTPUT_STORE_PARTITION };
	u32 s, i;

	(void)state;
	for (s = 0; s < 2; s++) {
		struct stage_tasks *t = create(1, 1, both[s]);
		struct pds_outputs out[2] = { { .tile = 0 }, { .tile = 1 } }, others[2];

		for (i = 0; i < 2; i++)
			assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &out[i]),
					 PDS_STARTED);
		for (i = 0; i < 2; i++) {
			pds_outputs_free(t->fx->pds, &out[i]);
			assert_null(out[i].word);
			assert_int_equal(out[i].tile, i);
		}
		for (i = 0; i < 2; i++)
			assert_int_equal(claim(t, WORDS, &others[i]), PDS_STARTED);
		for (i = 0; i < 4; i++)
			assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX,
							   &out[i % 2]), PDS_WAIT);
		assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDM_OUTPUT_WAITS), 2);
		for (i = 0; i < 2; i++)
			pds_outputs_free(t->fx->pds, &others[i]);
		stage_tasks_destroy(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_are_allocated_as_high_as_possible),
		cmocka_unit_test(occupancy_of_either_store_is_that_of_the_tiles),
		cmocka_unit_test(outputs_share_no_word_with_tasks),
		cmocka_unit_test(tiles_wait_for_room_in_either_store),
		cmocka_unit_test(outputs_are_aligned_to_a_wave),
		cmocka_unit_test(outputs_leave_room_for_tasks),
		cmocka_unit_test(stages_have_the_room_that_the_outputs_of_their_tile_leave),
		cmocka_unit_test(limits_include_outputs),
		cmocka_unit_test(outputs_of_one_tile_in_either_store_leave_tasks_their_limit),
		cmocka_unit_test(each_tile_waits_for_its_own_task_with_either_store),
		cmocka_unit_test(a_tile_at_a_limit_precedes_none_and_another_does),
		cmocka_unit_test(a_claim_that_reaches_the_limit_notifies_others),
		cmocka_unit_test(a_claim_of_the_last_outputs_notifies_others),
		cmocka_unit_test(tasks_with_large_outputs_leave_others_their_part),
		cmocka_unit_test(each_tile_waits_for_its_own_outputs),
		cmocka_unit_test(tasks_of_a_tile_run_where_its_outputs_may_be_reached),
		cmocka_unit_test(a_group_that_waits_for_tiles_lets_their_tasks_run),
		cmocka_unit_test(a_tile_is_notified_when_a_group_that_waits_for_tiles_leaves),
		cmocka_unit_test(a_tile_is_notified_when_a_group_claims_among_tiles),
		cmocka_unit_test(a_tile_that_waits_precedes_groups_that_could_help_it),
		cmocka_unit_test(an_abort_ends_the_wait_of_tiles),
		cmocka_unit_test(freed_outputs_remain_those_of_their_tile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
