// SPDX-License-Identifier: MIT
/*
 * Resource accounting of one USC: needs of a group, limits that can never be met, and
 * claims that succeed completely or fail. The reference counts owners unit by unit.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/pds/resource.h"
#include "cmocka_all.h"

#define ROWS	4096u
#define WORDS	16384u
#define LOCALS	512u
#define TASK_WAVES	(PUMICE_TASK_INSTANCES / PUMICE_LANES)

static const struct pds_capacity capacity = {
	.managed = PUMICE_USC_TASKS, .tasks = PUMICE_USC_SLOTS, .waves = UINT32_MAX,
	.rows = ROWS, .words = WORDS, .local_rows = LOCALS,
};

static const struct pds_limits unlimited = { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX };

/* An ended group is released at once. */
static void end_and_release(struct pds_unit *unit, unsigned int group)
{
	pds_unit_end(unit, group);
	pds_unit_release(unit, group);
}

/* Claim a group, and give it slots. Return false if it is claimed and waits for slots. */
static bool start(struct pds_unit *unit, const struct pds_need *need, unsigned int *group)
{
	assert_true(pds_unit_claim(unit, need, &unlimited, group));
	pds_unit_ready(unit, *group);
	return pds_unit_run(unit, *group);
}

static struct pumice_cdm_state size(u16 x, u16 y, u16 z)
{
	return (struct pumice_cdm_state){ .size_x = x, .size_y = y, .size_z = z };
}

static void groups_are_cut_into_tasks_of_128_and_waves_of_32(void **state)
{
	static const struct {
		u16 x, y, z;
		u32 tasks, waves, last_instances, last_waves;
	} cases[] = {
		{ 0, 1, 1, 1, 0, 0, 0 },	/* a task without instances only sequences */
		{ 1, 1, 1, 1, 1, 1, 1 },
		{ 32, 1, 1, 1, 1, 32, 1 },
		{ 33, 1, 1, 1, 2, 33, 2 },
		{ 8, 8, 2, 1, 4, 128, 4 },
		{ 129, 1, 1, 2, 5, 1, 1 },
		{ 10, 10, 10, 8, 32, 104, 4 },
		{ 1024, 1, 1, 8, 32, 128, 4 },
		{ 1, 1, 1023, 8, 32, 127, 4 },
	};
	struct pds_need need;
	u32 i, t, instances, waves;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pumice_cdm_state s = size(cases[i].x, cases[i].y, cases[i].z);

		pds_need_of(&s, &need);
		assert_int_equal(need.tasks, cases[i].tasks);
		assert_int_equal(need.waves, cases[i].waves);
		assert_int_equal(pds_task_instances(&need, need.tasks - 1),
				 cases[i].last_instances);
		assert_int_equal(pds_task_waves(&need, need.tasks - 1), cases[i].last_waves);
		for (t = 0, instances = 0, waves = 0; t < need.tasks; t++) {
			instances += pds_task_instances(&need, t);
			waves += pds_task_waves(&need, t);
		}
		assert_int_equal(instances, cases[i].x * cases[i].y * cases[i].z);
		assert_int_equal(waves, need.waves);
	}
}

/*
 * Document 002: a compute unit has two waves. A task that has ended releases its waves. A USC
 * manages one task more than it has slots.
 */
static void slots_and_waves_of_a_small_usc_are_not_exceeded(void **state)
{
	static const struct pds_capacity small = {
		.managed = 4, .tasks = 3, .waves = 2, .rows = ROWS, .words = WORDS,
		.local_rows = LOCALS,
	};
	struct pumice_cdm_state one = size(32, 1, 1), two = size(64, 1, 1), three = size(65, 1, 1);
	struct pumice_cdm_state none = size(0, 1, 1);
	struct pds_need need;
	struct pds_unit unit;
	unsigned int group, other, waiting, ready, last;

	(void)state;
	pds_need_of(&three, &need);
	assert_false(pds_need_fits(&need, &small));
	pds_need_of(&two, &need);
	assert_true(pds_need_fits(&need, &small));
	pds_unit_init(&unit, &small);
	assert_true(start(&unit, &need, &group));
	pds_need_of(&one, &need);
	assert_false(start(&unit, &need, &other));
	pds_unit_end(&unit, group);
	assert_true(pds_unit_run(&unit, other));
	/* Two slots are in use: the group that has ended has not been released. */
	pds_need_of(&none, &need);
	assert_true(start(&unit, &need, &last));
	assert_false(start(&unit, &need, &waiting));
	assert_int_equal(unit.tasks, 3);
	assert_int_equal(unit.managed, 4);
	assert_false(pds_unit_claim(&unit, &need, &unlimited, &last));
	pds_unit_release(&unit, group);
	assert_true(pds_unit_first_ready(&unit, UINT32_MAX, &ready));
	assert_int_equal(ready, waiting);
	assert_true(pds_unit_run(&unit, ready));
	assert_false(pds_unit_first_ready(&unit, UINT32_MAX, &ready));
	assert_true(pds_unit_claim(&unit, &need, &unlimited, &last));
}

/* Each store is filled to the last unit, then one more is requested. */
static void a_group_may_use_the_last_unit_of_each_store(void **state)
{
	struct pumice_cdm_state s = size(1024, 1, 1);
	struct pds_need need;

	(void)state;
	s.temps = 100;
	s.attrs = 28;	/* 32 waves of 128 rows */
	s.shared = 2048;	/* 8 tasks */
	s.local_bytes = 65536;
	pds_need_of(&s, &need);
	assert_true(pds_need_fits(&need, &capacity));

	s.attrs = 29;
	pds_need_of(&s, &need);
	assert_false(pds_need_fits(&need, &capacity));
	s.attrs = 28;

	s.shared = 2049;
	pds_need_of(&s, &need);
	assert_false(pds_need_fits(&need, &capacity));

	/* Coefficients are allocated in the same store. */
	s.shared = 2000;
	s.coeffs = 48;
	pds_need_of(&s, &need);
	assert_true(pds_need_fits(&need, &capacity));
	s.coeffs = 49;
	pds_need_of(&s, &need);
	assert_false(pds_need_fits(&need, &capacity));
	s.coeffs = 40;
	s.coeffs_alt = 8;
	pds_need_of(&s, &need);
	assert_true(pds_need_fits(&need, &capacity));
	s.coeffs_alt = 9;
	pds_need_of(&s, &need);
	assert_false(pds_need_fits(&need, &capacity));
	s.coeffs = s.coeffs_alt = 0;
	s.shared = 2048;

	s.local_bytes = 65540;
	pds_need_of(&s, &need);
	assert_false(pds_need_fits(&need, &capacity));
}

/* Groups that fit by size can be claimed on an empty USC, despite fragmentation of tasks. */
static void groups_that_fit_can_be_claimed_on_an_empty_usc(void **state)
{
	static struct pds_unit unit;
	struct pumice_cdm_state s = size(1000, 1, 1);
	struct pds_need need;
	unsigned int group;

	(void)state;
	s.temps = 64;
	s.attrs = 64;
	s.shared = 2048;
	s.local_bytes = 65536;
	pds_need_of(&s, &need);
	pds_unit_init(&unit, &capacity);
	assert_true(pds_unit_claim(&unit, &need, &unlimited, &group));
	assert_int_equal(unit.unified.free, 0);
	assert_int_equal(unit.common.free, 0);
	assert_int_equal(unit.local.free, 0);
	assert_int_equal(unit.managed, 8);
	assert_int_equal(unit.waves, 32);
	end_and_release(&unit, group);
}

/* A refused claim does not change the accounts, whichever resource was exhausted. */
static void a_refused_claim_allocates_nothing(void **state)
{
	static const struct {
		u32 rows, words, locals;	/* allocated before */
	} cases[] = {
		{ ROWS - 5 * 10 + 1, 0, 0 },
		{ 0, WORDS - 2 * 100 + 1, 0 },
		{ 0, 0, LOCALS - 1 },
	};
	struct pumice_cdm_state s = size(160, 1, 1);	/* 2 tasks, 5 waves */
	struct pds_need need;
	u32 i, start;

	(void)state;
	s.temps = 10;
	s.shared = 100;
	s.local_bytes = 256;
	pds_need_of(&s, &need);
	for (i = 0; i < 3; i++) {
		static struct pds_unit unit, before;
		unsigned int group;

		pds_unit_init(&unit, &capacity);
		pds_store_alloc(&unit.unified, cases[i].rows, &start);
		pds_store_alloc(&unit.common, cases[i].words, &start);
		pds_store_alloc(&unit.local, cases[i].locals, &start);
		before = unit;
		assert_false(pds_unit_claim(&unit, &need, &unlimited, &group));
		assert_memory_equal(&before.unified, &unit.unified, sizeof(unit.unified));
		assert_memory_equal(&before.common, &unit.common, sizeof(unit.common));
		assert_memory_equal(&before.local, &unit.local, sizeof(unit.local));
		assert_int_equal(unit.slots, 0);
		assert_int_equal(unit.tasks, 0);
	}
}

/* Free units that are not contiguous do not suffice: the claim is rolled back. */
static void a_failed_claim_frees_its_pieces(void **state)
{
	static struct pds_unit unit;
	struct pumice_cdm_state s = size(256, 1, 1);
	struct pds_store common;
	struct pds_need need;
	unsigned int group;
	u32 start, i;

	(void)state;
	pds_unit_init(&unit, &capacity);
	/* Leave pieces of 1000, 999 and 1 words: the second task's 1000 are not contiguous. */
	for (i = 0; i < 7; i++) {
		static const u32 piece[7] = { 1000, 1, 999, 1, 1, 1, WORDS - 1000 - 1 - 999 - 3 };

		pds_store_alloc(&unit.common, piece[i], &start);
	}
	pds_store_free(&unit.common, 0, 1000);
	pds_store_free(&unit.common, 1001, 999);
	pds_store_free(&unit.common, 2001, 1);
	common = unit.common;
	s.temps = 4;
	s.shared = 1000;
	s.local_bytes = 4;
	pds_need_of(&s, &need);
	assert_false(pds_unit_claim(&unit, &need, &unlimited, &group));
	assert_int_equal(common.free, unit.common.free);
	assert_int_equal(common.extents, unit.common.extents);
	assert_memory_equal(common.extent, unit.common.extent,
			    common.extents * sizeof(common.extent[0]));
	assert_int_equal(unit.unified.free, ROWS);
	assert_int_equal(unit.local.free, LOCALS);
	assert_int_equal(unit.slots, 0);
}

static void a_usc_runs_as_many_tasks_as_it_has_slots(void **state)
{
	static struct pds_unit unit;
	struct pumice_cdm_state s = size(384, 1, 1);	/* 3 tasks */
	struct pds_need need;
	unsigned int group, first, n;
	u32 i;

	(void)state;
	pds_unit_init(&unit, &capacity);
	pds_need_of(&s, &need);
	for (i = 0; i < PUMICE_USC_SLOTS / 3; i++)
		assert_true(start(&unit, &need, &group));
	assert_int_equal(unit.tasks, PUMICE_USC_SLOTS);
	assert_false(start(&unit, &need, &first));
	/* Those that wait hold all their resources but slots. */
	for (i = unit.managed; i + 3 <= PUMICE_USC_TASKS; i += 3)
		assert_false(start(&unit, &need, &group));
	assert_int_equal(unit.tasks, PUMICE_USC_SLOTS);
	assert_int_equal(unit.managed, PUMICE_USC_TASKS - PUMICE_USC_TASKS % 3);
	assert_false(pds_unit_claim(&unit, &need, &unlimited, &group));
	s = size(1, 1, 1);
	pds_need_of(&s, &need);
	assert_false(start(&unit, &need, &group));
	assert_false(pds_unit_claim(&unit, &need, &unlimited, &group));
	assert_int_equal(unit.managed, PUMICE_USC_TASKS);
	/* The one that was ready first is the next. */
	end_and_release(&unit, 4);
	assert_true(pds_unit_first_ready(&unit, UINT32_MAX, &n));
	assert_int_equal(n, first);
	assert_true(pds_unit_run(&unit, n));
	assert_int_equal(unit.tasks, PUMICE_USC_SLOTS);
	assert_true(pds_unit_first_ready(&unit, UINT32_MAX, &n));
	assert_false(pds_unit_run(&unit, n));
}

static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*state >> 33);
}

/* Owner of each unit: group number + 1, or 0 for none. */
struct owners {
	u8 row[ROWS], word[WORDS], local[LOCALS], entry[PUMICE_USC_TASKS], slot[PUMICE_USC_SLOTS];
	u32 rows, words, locals, entries, slots;	/* allocated */
};

static void own(u8 *owner, u32 start, u32 count, u8 from, u8 to)
{
	while (count--) {
		assert_int_equal(owner[start + count], from);
		owner[start + count] = to;
	}
}

/* Assign a claim's slots to the group, or free them, if it has some. */
static void own_slots(struct owners *o, const struct pds_claim *claim, u8 group, bool take)
{
	u8 from = take ? 0 : (u8)(group + 1), to = take ? (u8)(group + 1) : 0;
	u32 t;

	if (!claim->in_slots)
		return;
	for (t = 0; t < claim->need.tasks; t++)
		own(o->slot, claim->slot[t], 1, from, to);
	o->slots += (take ? 1u : UINT32_MAX) * claim->need.tasks;
}

/* Assign a claim's other resources to the group, or free them. */
static void own_claim(struct owners *o, const struct pds_claim *claim, u8 group, bool take)
{
	const struct pds_need *need = &claim->need;
	u8 from = take ? 0 : (u8)(group + 1), to = take ? (u8)(group + 1) : 0;
	s32 sign = take ? 1 : -1;
	u32 t;

	for (t = 0; t < need->tasks; t++) {
		u32 rows = pds_task_waves(need, t) * need->wave_rows;

		own(o->entry, claim->entry[t], 1, from, to);
		own(o->row, claim->row[t], rows, from, to);
		own(o->word, claim->word[t], need->words, from, to);
		o->rows += (u32)sign * rows;
		o->words += (u32)sign * need->words;
	}
	own(o->local, claim->local_row, need->local_rows, from, to);
	o->locals += (u32)sign * need->local_rows;
	o->entries += (u32)sign * need->tasks;
}

static void random_need(u64 *rnd, struct pds_need *need)
{
	struct pumice_cdm_state s = size((u16)(next_random(rnd) % 1025), 1, 1);

	s.temps = (u8)(next_random(rnd) % 40);
	s.attrs = (u8)(next_random(rnd) % 20);
	s.shared = (u16)(next_random(rnd) % 700);
	s.local_bytes = next_random(rnd) % 4 ? next_random(rnd) % 8192 & ~3u : 0;
	pds_need_of(&s, need);
}

/* Give slots to groups that wait for some, in order. Returns whether one has to wait further. */
static bool run_ready(struct pds_unit *unit, struct owners *o)
{
	unsigned int group;

	while (pds_unit_first_ready(unit, UINT32_MAX, &group)) {
		if (!pds_unit_run(unit, group))
			return true;
		own_slots(o, &unit->claim[group], (u8)group, true);
	}
	return false;
}

static void random_claims_lose_and_overlap_nothing(void **state)
{
	static struct pds_unit unit, empty;
	static struct owners o;
	u64 rnd = 0x5eed0002;
	u32 step, refused = 0, waited = 0;
	unsigned int group;

	(void)state;
	print_message("seed 0x%llx\n", (unsigned long long)rnd);
	pds_unit_init(&unit, &capacity);
	empty = unit;
	for (step = 0; step < 100000; step++) {
		struct pds_need need;

		group = next_random(&rnd) % PUMICE_USC_TASKS;
		if (unit.live >> group & 1) {
			own_slots(&o, &unit.claim[group], (u8)group, false);
			own_claim(&o, &unit.claim[group], (u8)group, false);
			end_and_release(&unit, group);
		} else {
			random_need(&rnd, &need);
			if (pds_unit_claim(&unit, &need, &unlimited, &group)) {
				own_claim(&o, &unit.claim[group], (u8)group, true);
				if (next_random(&rnd) % 8)	/* the others are filled for long */
					pds_unit_ready(&unit, group);
			} else {
				refused++;
			}
		}
		waited += run_ready(&unit, &o);
		assert_int_equal(unit.managed, o.entries);
		assert_int_equal(unit.unified.free, ROWS - o.rows);
		assert_int_equal(unit.common.free, WORDS - o.words);
		assert_int_equal(unit.local.free, LOCALS - o.locals);
		assert_int_equal(unit.tasks, o.slots);
	}
	assert_true(refused > 1000);	/* the USC was full many times */
	assert_true(waited > 1000);
	for (group = 0; group < PUMICE_USC_TASKS; group++) {
		if (unit.live >> group & 1)
			end_and_release(&unit, group);
	}
	assert_int_equal(unit.live, 0);
	assert_int_equal(unit.waves, 0);
	assert_int_equal(unit.in_flight, 0);
	assert_int_equal(unit.slots, 0);
	assert_int_equal(unit.entries, 0);
	assert_int_equal(unit.waiting, 0);
	assert_int_equal(unit.unified.extents, 1);
	assert_int_equal(unit.common.extents, 1);
	assert_int_equal(unit.local.extents, 1);
	assert_memory_equal(&unit.unified.extent[0], &empty.unified.extent[0],
			    sizeof(struct pds_extent));
}

/*
 * The waves and tasks of others on a USC of two slots and two waves, of which none has a slot yet.
 */
static void waves_and_tasks_of_others_hold_a_usc(void **state)
{
	struct pds_capacity small = capacity;
	const struct pds_need one = { .dm = PDS_DM_PDM, .waves = 1, .tasks = 1 };
	const struct pds_need two = { .dm = PDS_DM_VDM, .waves = 2, .tasks = 1 };
	const struct pds_need none = { .dm = PDS_DM_CDM, .tasks = 1 };
	static struct pds_unit unit;
	unsigned int group, empty;

	(void)state;
	small.tasks = small.waves = 2;
	pds_unit_init(&unit, &small);
	assert_false(pds_unit_is_held(&unit, &two));
	assert_true(pds_unit_claim(&unit, &one, &unlimited, &group));
	assert_true(pds_unit_is_filling(&unit));
	assert_true(pds_unit_is_held(&unit, &two));
	assert_false(pds_unit_is_held(&unit, &one));
	assert_false(pds_unit_is_held(&unit, &none));
	assert_true(pds_unit_claim(&unit, &none, &unlimited, &empty));
	assert_true(pds_unit_is_held(&unit, &two));
	pds_unit_ready(&unit, group);
	assert_true(pds_unit_is_filling(&unit));
	pds_unit_ready(&unit, empty);
	assert_false(pds_unit_is_filling(&unit));
	assert_true(pds_unit_run(&unit, group));
	assert_false(pds_unit_is_filling(&unit));
	end_and_release(&unit, group);
	assert_false(pds_unit_is_held(&unit, &two));
	/* The other slot is held by a task without waves; two of these hold both. */
	assert_true(pds_unit_claim(&unit, &none, &unlimited, &group));
	assert_true(pds_unit_is_held(&unit, &one));
	assert_false(pds_unit_is_held(&unit, &none));
	end_and_release(&unit, group);
	end_and_release(&unit, empty);
}

/* A task that has ended before its group, or a group that is not released, has no waves. */
static void ended_waves_hold_no_usc(void **state)
{
	const struct pds_need group_of_two = {
		.dm = PDS_DM_CDM, .instances = 2 * PUMICE_TASK_INSTANCES,
		.waves = 2 * TASK_WAVES, .tasks = 2,
	};
	const struct pds_need task = {
		.dm = PDS_DM_VDM, .instances = PUMICE_TASK_INSTANCES, .waves = TASK_WAVES,
		.tasks = 1,
	};
	struct pds_capacity small = capacity;
	static struct pds_unit unit;
	unsigned int own[2], group;
	u32 i;

	(void)state;
	small.waves = 2 * TASK_WAVES;
	pds_unit_init(&unit, &small);
	/* Two of its own wait for their registers. */
	assert_true(pds_unit_claim(&unit, &task, &unlimited, &own[0]));
	assert_true(pds_unit_claim(&unit, &task, &unlimited, &own[1]));
	for (i = 0; i < 3; i++) {
		assert_true(start(&unit, &group_of_two, &group));
		assert_true(pds_unit_is_held(&unit, &task));
		if (i)
			pds_unit_release_task(&unit, group, i - 1);
		assert_int_equal(pds_unit_is_held(&unit, &task), !i);
		pds_unit_end(&unit, group);
		assert_false(pds_unit_is_held(&unit, &task));
		pds_unit_release(&unit, group);
	}
	end_and_release(&unit, own[0]);
	end_and_release(&unit, own[1]);
}

/* Waves of the need's data master hold no USC for it, also if others have a task there. */
static void own_waves_hold_no_usc(void **state)
{
	const struct pds_need none = { .dm = PDS_DM_CDM, .tasks = 1 };
	const struct pds_need two = { .dm = PDS_DM_VDM, .waves = 2, .tasks = 1 };
	struct pds_capacity small = capacity;
	static struct pds_unit unit;
	unsigned int group, empty;

	(void)state;
	small.tasks = small.waves = 2;
	pds_unit_init(&unit, &small);
	assert_true(pds_unit_claim(&unit, &two, &unlimited, &group));
	assert_true(pds_unit_claim(&unit, &none, &unlimited, &empty));
	assert_false(pds_unit_is_held(&unit, &two));
	end_and_release(&unit, group);
	end_and_release(&unit, empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_cut_into_tasks_of_128_and_waves_of_32),
		cmocka_unit_test(slots_and_waves_of_a_small_usc_are_not_exceeded),
		cmocka_unit_test(a_group_may_use_the_last_unit_of_each_store),
		cmocka_unit_test(groups_that_fit_can_be_claimed_on_an_empty_usc),
		cmocka_unit_test(a_refused_claim_allocates_nothing),
		cmocka_unit_test(a_failed_claim_frees_its_pieces),
		cmocka_unit_test(a_usc_runs_as_many_tasks_as_it_has_slots),
		cmocka_unit_test(waves_and_tasks_of_others_hold_a_usc),
		cmocka_unit_test(ended_waves_hold_no_usc),
		cmocka_unit_test(own_waves_hold_no_usc),
		cmocka_unit_test(random_claims_lose_and_overlap_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
