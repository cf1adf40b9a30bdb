// SPDX-License-Identifier: MIT
/*
 * Dispatch of work-groups to USCs: which USC gets the next one, when a group waits, groups
 * that never fit, and that all resources are freed. The fake USCs check that no two groups
 * own the same unit of a store.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

/* The memory hierarchy: data remain in memory. */
static void pass_request(void *opaque, const struct mmu_request *request)
{
	(void)opaque;
	(void)request;
}

static const struct fx_stores small_stores = {
	.unified_bytes = 64 * 128, .common_bytes = 1024, .local_bytes = 4096,
};

/* Groups of the launch that start before one has to wait. */
static u32 fill(struct fixture *fx)
{
	u32 n = 0;

	while (fx_group(fx, n, 0, 0, n) == PDS_STARTED)
		n++;
	return n;
}

static void groups_are_dispatched_to_the_usc_with_the_fewest_waves(void **state)
{
	struct fixture *fx = fx_create(2, NULL);
	struct pds_launch launch = fx_launch(64, 1, 1);
	u32 i;

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	for (i = 0; i < 12; i++) {
		assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
		assert_int_equal(fx->usc[i % 2]->started, i / 2 + 1);
		/* One that has groups needs no other wake-up. */
		assert_int_equal(fx->wakes[i % 2], 1);
	}
	/* Two end on USC 1: the next two are dispatched there. */
	fake_usc_finish(fx->usc[1], fake_usc_oldest(fx->usc[1]));
	fake_usc_finish(fx->usc[1], fake_usc_oldest(fx->usc[1]));
	assert_int_equal(fx_group(fx, 12, 0, 0, 12), PDS_STARTED);
	assert_int_equal(fx_group(fx, 13, 0, 0, 13), PDS_STARTED);
	assert_int_equal(fx->usc[1]->started, 8);
	assert_int_equal(fx->usc[0]->started, 6);
	fx_destroy(fx);
}

/* If the GPU is idle between two groups, not all of them are dispatched to USC 0. */
static void equal_uscs_are_used_round_robin_and_a_reset_starts_over(void **state)
{
	struct fixture *fx = fx_create(2, NULL);
	struct pds_launch launch = fx_launch(64, 1, 1);
	u32 i;

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	for (i = 0; i < 8; i++) {
		assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
		assert_int_equal(fx->usc[i % 2]->running, 1);
		assert_true(fx_finish_oldest(fx));
	}
	fx->begun = false;
	pds_reset(fx->pds);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fx->usc[0]->running, 1);
	fx_destroy(fx);
}

static void dispatch_is_reproducible(void **state)
{
	u32 first[2][64], run, i;

	(void)state;
	for (run = 0; run < 2; run++) {
		struct fixture *fx = fx_create(3, NULL);
		struct pds_launch launch = fx_launch(100, 1, 1);

		fx_program_empty(fx, &launch);
		assert_true(fx_begin(fx, &launch));
		for (i = 0; i < 64; i++) {
			u32 u, before[3];

			for (u = 0; u < 3; u++)
				before[u] = fx->usc[u]->started;
			assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
			for (u = 0; u < 3; u++) {
				if (fx->usc[u]->started != before[u])
					first[run][i] = u;
			}
			if (i % 5 == 4)
				fx_finish_oldest(fx);
		}
		fx_destroy(fx);
	}
	assert_memory_equal(first[0], first[1], sizeof(first[0]));
}

static void a_group_is_described_to_its_usc(void **state)
{
	static const struct pumice_pds_insn insns[] = { TASK, END };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(30, 7, 1);	/* 210: 7 waves, 2 tasks */
	const struct usc_group *group;
	const struct usc_task *task;

	(void)state;
	launch.state.temps = 9;
	launch.state.attrs = 4;
	launch.state.shared = 17;
	launch.state.local_bytes = 1000;
	fx_program(fx, &launch, insns, 2);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fx_group(fx, 1, 0, 0, 0x123456789abull), PDS_STARTED);
	assert_int_equal(pds_groups(fx->pds), 2);
	assert_int_equal(fx_load(fx).tasks, 4);

	group = &fx->usc[0]->group[1];
	assert_int_equal(group->tasks, 2);
	assert_int_equal(group->ctx, FX_CTX);
	assert_int_equal(group->waves, 7);
	assert_int_equal(group->first_wave, (u32)(0x123456789abull * 7));
	assert_int_equal(group->local_bytes, 1000);
	assert_int_equal(group->code_addr, FX_CODE);
	task = &fx->usc[0]->task[group->slot[0]];
	assert_int_equal(task->waves, 4);
	assert_int_equal(task->instances, 128);
	assert_int_equal(task->temps, 9);
	assert_int_equal(task->attrs, 4);
	assert_int_equal(task->shared, 17);
	task = &fx->usc[0]->task[group->slot[1]];
	assert_int_equal(task->index, 1);
	assert_int_equal(task->waves, 3);
	assert_int_equal(task->instances, 82);
	fx_destroy(fx);
}

/* Bank 0 for every group, so that bank conflicts do not depend on neighbours. */
static void local_memory_starts_at_the_first_bank(void **state)
{
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(1, 1, 1);
	u32 i;

	(void)state;
	launch.state.local_bytes = 36;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	for (i = 0; i < 4; i++) {
		assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
		assert_int_equal(fx->usc[0]->group[i].local_byte % 128, 0);
	}
	fx_destroy(fx);
}

/* Each resource alone makes a group wait; the end of one group admits the next. */
static void a_group_waits_for_the_exhausted_resource(void **state)
{
	static const struct {
		const char *what;
		u16 size, shared;
		u8 temps;
		u32 local, fit;		/* groups that fit on one USC */
	} cases[] = {
		{ "slots", 1, 0, 0, 0, PUMICE_USC_SLOTS },
		{ "slots, two tasks each", 129, 0, 0, 0, PUMICE_USC_SLOTS / 2 },
		{ "unified store", 32, 0, 10, 0, 6 },	/* 64 rows */
		{ "common store", 1, 100, 0, 0, 2 },	/* 256 words */
		{ "local memory", 1, 0, 0, 1024, 4 },	/* 4096 bytes */
	};
	u32 i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *fx = fx_create(2, &small_stores);
		struct pds_launch launch = fx_launch(cases[i].size, 1, 1);

		launch.state.shared = cases[i].shared;
		launch.state.temps = cases[i].temps;
		launch.state.local_bytes = cases[i].local;
		fx_program_empty(fx, &launch);
		assert_true(fx_begin(fx, &launch));
		if (fill(fx) != 2 * cases[i].fit)
			fail_msg("%s: %u groups run", cases[i].what, pds_groups(fx->pds));
		for (n = 0; n < 10; n++) {
			assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_WAIT);
			assert_true(fx_finish_oldest(fx));
			assert_int_equal(pds_done(fx->pds), n + 1);
			assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
		}
		assert_int_equal(pds_groups(fx->pds), 2 * cases[i].fit);
		fx_destroy(fx);
	}
}

static void groups_that_can_never_fit_are_refused(void **state)
{
	static const struct {
		const char *what;
		u16 x, shared;
		u8 temps, attrs;
		u32 local;
		bool fits;
	} cases[] = {
		/* Small stores: 64 rows, 256 words, 4096 bytes. */
		{ "all rows", 64, 0, 30, 2, 0, true },
		{ "one more row per wave", 64, 0, 30, 3, 0, false },
		{ "one more wave", 65, 0, 30, 2, 0, false },
		{ "all words", 128, 256, 0, 0, 0, true },
		{ "one more word", 128, 257, 0, 0, 0, false },
		{ "one more task", 129, 256, 0, 0, 0, false },
		{ "all local memory", 1, 0, 0, 0, 4096, true },
		{ "local memory", 1, 0, 0, 0, 4100, false },
		{ "maximum local memory of the format", 1, 0, 0, 0, 0xffffc, false },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *fx = fx_create(2, &small_stores);
		struct pds_launch launch = fx_launch(cases[i].x, 1, 1);

		launch.state.shared = cases[i].shared;
		launch.state.temps = cases[i].temps;
		launch.state.attrs = cases[i].attrs;
		launch.state.local_bytes = cases[i].local;
		fx_program_empty(fx, &launch);
		if (fx_begin(fx, &launch) != cases[i].fits)
			fail_msg("%s", cases[i].what);
		if (cases[i].fits)
			assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
		else
			fx_expect_fault(fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS,
					0);
		fx_destroy(fx);
	}
}

/* The register file has the size of document 003, "Temporary", even if the stores have more. */
static void too_many_registers_per_instance_are_refused(void **state)
{
	static const struct {
		u16 shared, coeffs;	/* of a task; document 003: 4095 coefficients */
		u8 temps, attrs;
		bool fits;
	} cases[] = {
		{ 4096, 0, 248, 248, true }, { 4097, 0, 0, 0, false }, { 0, 0, 249, 0, false },
		{ 0, 0, 0, 249, false }, { 0, 0, 255, 0, false }, { 8191, 0, 0, 0, false },
		{ 0, 4095, 0, 0, true }, { 0, 4096, 0, 0, false },
	};
	struct fixture *fx = fx_create(1, NULL);
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pds_launch launch = fx_launch(1, 1, 1);

		launch.state.shared = cases[i].shared;
		launch.state.coeffs = cases[i].coeffs;
		launch.state.temps = cases[i].temps;
		launch.state.attrs = cases[i].attrs;
		fx_program_empty(fx, &launch);
		assert_int_equal(fx_begin(fx, &launch), cases[i].fits);
		fx_end(fx);
		if (!cases[i].fits)
			fx_expect_fault(fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS,
					0);
	}
	fx_destroy(fx);
}

/* A group that does not fit on the emptiest USC is dispatched to another. */
static void a_group_is_placed_where_it_fits(void **state)
{
	struct fixture *fx = fx_create(2, &small_stores);
	struct pds_launch big = fx_launch(32, 1, 1), wide = fx_launch(96, 1, 1);

	(void)state;
	big.state.local_bytes = 4096;
	fx_program_empty(fx, &big);
	assert_true(fx_begin(fx, &big));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);	/* USC 0, one wave */
	fx_end(fx);
	wide.state = (struct pumice_cdm_state){
		.pds_addr = FX_PDS, .pds_insns = 2, .size_x = 96, .size_y = 1, .size_z = 1,
	};
	assert_true(fx_begin(fx, &wide));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);	/* USC 1, three waves */
	fx_end(fx);
	assert_true(fx_begin(fx, &big));
	assert_int_equal(fx_group(fx, 1, 0, 0, 1), PDS_STARTED);
	assert_int_equal(fx->usc[1]->started, 2);
	assert_int_equal(fx_group(fx, 2, 0, 0, 2), PDS_WAIT);
	fx_destroy(fx);
}

static void a_group_without_instances_sequences(void **state)
{
	static const struct pumice_pds_insn insns[] = { LDI(V, 0, 1), DMA(V, 0, 1, FX_DATA, 4),
							TASK, END };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(0, 1, 1);

	(void)state;
	launch.state.attrs = 1;
	fx_program(fx, &launch, insns, 4);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 5), PDS_STARTED);
	assert_int_equal(fx->usc[0]->group[0].tasks, 1);
	assert_int_equal(fx->usc[0]->group[0].waves, 0);
	assert_int_equal(fx->usc[0]->task[fx->usc[0]->group[0].slot[0]].instances, 0);
	assert_int_equal(fx_load(fx).tasks, 1);
	fx_destroy(fx);
}

/* One program per launch, referenced until the launch and its last group have ended. */
static void a_launch_gets_its_usc_program_once_and_releases_it(void **state)
{
	struct fixture *fx = fx_create(2, NULL);
	struct pds_launch launch = fx_launch(32, 1, 1);
	u32 i;

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	for (i = 0; i < 10; i++)
		assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
	assert_int_equal(fx->cache.gets, 1);
	fx_finish_all(fx);
	assert_int_equal(fx->cache.live, 1);	/* the launch continues */
	assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
	fx_end(fx);
	assert_int_equal(fx->cache.live, 1);	/* a group runs */
	fx_finish_all(fx);
	assert_int_equal(fx->cache.live, 0);
	fx_destroy(fx);
}

/* As many launches as slots run in parallel, one group each, and one more is begun. */
static void every_slot_can_run_another_launch(void **state)
{
	struct fixture *fx = fx_create(2, NULL);
	struct pds_launch launch = fx_launch(1, 1, 1);
	u32 i;

	(void)state;
	fx_program_empty(fx, &launch);
	for (i = 0; i < 2 * PUMICE_USC_SLOTS; i++) {
		assert_true(fx_begin(fx, &launch));
		assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
		fx_end(fx);
	}
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx->cache.live, 2 * PUMICE_USC_SLOTS + 1);
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_WAIT);
	assert_true(fx_finish_oldest(fx));
	assert_int_equal(fx->cache.live, 2 * PUMICE_USC_SLOTS);
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	fx_destroy(fx);
}

static void abort_reaches_only_uscs_with_groups(void **state)
{
	struct fixture *fx = fx_create(3, NULL);
	struct pds_launch launch = fx_launch(1, 1, 1);

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fx_group(fx, 1, 0, 0, 1), PDS_STARTED);
	fx_abort(fx);
	assert_true(fx->usc[0]->aborted);
	assert_true(fx->usc[2]->aborted);
	assert_false(fx->usc[1]->aborted);
	assert_int_equal(fx->wakes[0], 2);
	assert_int_equal(fx->wakes[2], 2);
	assert_int_equal(fx->wakes[1], 0);
	assert_int_equal(pds_groups(fx->pds), 2);	/* until the USCs end them */
	fx_destroy(fx);
}

static void a_usc_fault_is_reported_with_all_fields(void **state)
{
	struct fixture *fx = fx_create(2, NULL);
	struct pds_launch launch = fx_launch(1, 1, 1);

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fx_group(fx, 1, 0, 0, 1), PDS_STARTED);
	fake_usc_fault(fx->usc[1], 0, PUMICE_FAULT_USC_LOCAL_BOUNDS);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_LOCAL_BOUNDS);
	assert_int_equal(fx->fault.usc, 1);
	assert_int_equal(fx->fault.pc, 3);
	assert_int_equal(fx->fault.addr, FX_CODE + 48);
	assert_int_equal(pds_groups(fx->pds), 2);
	fx_destroy(fx);
}

/* Full of groups, each of its own launch, and another begun: all resources are freed. */
static void reset_drops_groups_and_releases_programs(void **state)
{
	struct fixture *fx = fx_create(2, &small_stores);
	struct pds_launch launch = fx_launch(1, 1, 1);
	u32 round, i;

	(void)state;
	launch.state.shared = 5;
	launch.state.local_bytes = 4;
	fx_program_empty(fx, &launch);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 2 * 32; i++) {	/* the local memory of 32 groups on each */
			assert_true(fx_begin(fx, &launch));
			assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
			fx_end(fx);
		}
		assert_true(fx_begin(fx, &launch));
		assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_WAIT);
		for (i = 0; i < 2; i++)
			usc_reset(fx->usc[i]);
		fx->begun = false;
		pds_reset(fx->pds);
		assert_int_equal(pds_groups(fx->pds), 0);
		assert_int_equal(fx_load(fx).tasks, 0);
		assert_int_equal(fx->cache.live, 0);
		assert_int_equal(pds_done(fx->pds), 0);
	}
	/* Without local memory the slots are the limit. */
	launch.state.local_bytes = 0;
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fill(fx), 2 * PUMICE_USC_SLOTS);
	fx_destroy(fx);
}

static void reset_empties_the_tlb(void **state)
{
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(1, 1, 1);

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	fx_end(fx);
	testmem_unmap(fx->tm, FX_CTX, FX_PDS, 0x1000);
	assert_true(fx_begin(fx, &launch));	/* the TLB still has the page */
	fx->begun = false;
	pds_reset(fx->pds);
	assert_false(fx_begin(fx, &launch));
	fx_expect_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS, FX_PDS, 0);
	fx_destroy(fx);
}

static void a_pds_has_one_to_sixty_four_uscs(void **state)
{
	struct pds_config config = {
		.uscs_per_core = PUMICE_MAX_USCS_PER_CORE, .slots = PUMICE_USC_SLOTS,
		.tasks = PUMICE_USC_TASKS,
		.vpm_bytes = FX_VPM,
	};
	struct pds *pds;

	(void)state;
	assert_null(pds_create(&config));
	config.uscs = PDS_MAX_USCS + 1;
	assert_null(pds_create(&config));
	config.uscs = PDS_MAX_USCS;
	pds = pds_create(&config);
	assert_non_null(pds);
	pds_destroy(pds);
	config.uscs_per_core = 0;
	assert_null(pds_create(&config));
	pds_destroy(NULL);
}

/* Waiting ends when all USCs were tried, and any of them is found again. */
static void each_of_sixty_four_uscs_is_used(void **state)
{
	struct fixture *fx = fx_create(PDS_MAX_USCS, NULL);
	struct pds_launch launch = fx_launch(32, 1, 1);
	u32 i;

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fill(fx), PDS_MAX_USCS * PUMICE_USC_SLOTS);
	for (i = 0; i < PDS_MAX_USCS; i++) {
		assert_int_equal(fx->usc[i]->running, PUMICE_USC_SLOTS);
		fake_usc_finish(fx->usc[i], fake_usc_oldest(fx->usc[i]));
		assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
		assert_int_equal(fx->usc[i]->running, PUMICE_USC_SLOTS);
		assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_WAIT);
	}
	fx_destroy(fx);
}

static void out_of_time(int signal)
{
	(void)signal;
	fail_msg("no answer within 20 s");
}

/*
 * USCs without local memory look as if they had room, so that each of them is tried; the search
 * ends nevertheless.
 */
static void a_group_waits_when_sixty_four_uscs_have_no_local_memory(void **state)
{
	struct fixture *fx = fx_create(PDS_MAX_USCS, &small_stores);
	struct pds_launch launch = fx_launch(32, 1, 1);

	(void)state;
	launch.state.local_bytes = small_stores.local_bytes;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	signal(SIGALRM, out_of_time);
	alarm(20);
	assert_int_equal(fill(fx), PDS_MAX_USCS);
	alarm(0);
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_WAIT);
	fake_usc_finish(fx->usc[63], fake_usc_oldest(fx->usc[63]));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	fx_destroy(fx);
}

static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*state >> 33);
}

/* Launches of every shape, groups that end in any order, some that fault: the fakes check. */
static void random_launches_lose_and_overlap_nothing(void **state)
{
	static const struct pumice_pds_insn good[] = { MOV(SH, 0, TASK), MOV(V, 0, LOCAL_LINEAR),
						       TASK, END };
	static const struct pumice_pds_insn faulty[] = { DMA(SH, 0, 1, 0x8000, 0), TASK, END };
	struct fixture *fx = fx_create(5, NULL);
	u64 rnd = 0x5eed0003;
	u32 launches, waits = 0, faults = 0, n;

	(void)state;
	print_message("seed 0x%llx\n", (unsigned long long)rnd);
	for (launches = 0; launches < 300; launches++) {
		struct pds_launch launch = fx_launch((u16)(next_random(&rnd) % 1024 + 1), 1, 1);
		bool fault = next_random(&rnd) % 8 == 0;

		launch.state.shared = (u16)(next_random(&rnd) % 1500 + 1);
		launch.state.attrs = (u8)(next_random(&rnd) % 30 + 1);
		launch.state.temps = (u8)(next_random(&rnd) % 50);
		launch.state.local_bytes = next_random(&rnd) % 20000 & ~3u;
		fx_program(fx, &launch, fault ? faulty : good, fault ? 3 : 4);
		assert_true(fx_begin(fx, &launch));
		for (n = next_random(&rnd) % 30; n; n--) {
			enum pds_result result = fx_group(fx, n, 0, 0, n);
			struct usc *usc = fx->usc[next_random(&rnd) % 5];
			unsigned int group = next_random(&rnd) % PUMICE_USC_SLOTS;

			waits += result == PDS_WAIT;
			faults += result == PDS_FAULT;
			assert_true(fault ? result != PDS_STARTED : result != PDS_FAULT);
			if (fake_usc_running(usc, group))
				fake_usc_finish(usc, group);
			if (result == PDS_WAIT)
				fx_finish_oldest(fx);
		}
		fx_end(fx);
	}
	assert_true(waits > 100 && faults > 100);
	fx_destroy(fx);
}

/*
 * A program of reads that no burst joins, for 1024 instances: a piece is one instruction of
 * one task, and the device lock is not held meanwhile.
 */
static void a_group_with_many_reads_is_filled_in_pieces(void **state)
{
	const struct pumice_pds_insn insns[] = {
		DMA(V, 0, 1, FX_DATA, 8), DMA(V, 0, 1, FX_DATA, 8), DMA(V, 0, 1, FX_DATA, 8),
		TASK, END,
	};
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(PUMICE_GROUP_INSTANCES, 1, 1);
	enum pds_result result;
	u32 pieces = 0;

	(void)state;
	launch.state.attrs = 1;
	fx_program(fx, &launch, insns, 5);
	assert_true(fx_begin(fx, &launch));
	while ((result = fx_group_piece(fx, 0, 0, 0, 0)) == PDS_MORE)
		pieces++;
	assert_int_equal(result, PDS_STARTED);
	/* The last piece of a task runs to the end of the program; that of the group starts it. */
	assert_int_equal(pieces, PUMICE_GROUP_TASKS * 4 - 1);

	/* A cancelled one frees all its resources. */
	assert_int_equal(fx_group_piece(fx, 1, 0, 0, 1), PDS_MORE);
	fx_end(fx);
	fake_usc_finish(fx->usc[0], fake_usc_oldest(fx->usc[0]));
	assert_int_equal(fx_load(fx).held, 0);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	fx_destroy(fx);
}

/* A group with many registers is filled task by task, for any program. */
static void a_group_of_many_registers_is_filled_in_pieces(void **state)
{
	static const struct fx_stores stores = {
		.unified_bytes = 1u << 20, .common_bytes = 1024, .local_bytes = 4096,
	};
	struct fixture *fx = fx_create(1, &stores);
	struct pds_launch launch = fx_launch(PUMICE_GROUP_INSTANCES, 1, 1);
	enum pds_result result;
	u32 pieces = 0;

	(void)state;
	launch.state.attrs = 128;	/* 512 KiB */
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	while ((result = fx_group_piece(fx, 0, 0, 0, 0)) == PDS_MORE)
		pieces++;
	assert_int_equal(result, PDS_STARTED);
	assert_int_equal(pieces, PUMICE_GROUP_TASKS - 1);
	fx_destroy(fx);
}

/* Each instance reads; seven reads are few. */
static void the_cost_of_a_group_grows_with_its_reads(void **state)
{
	const struct pumice_pds_insn insns[] = { DMA(V, 0, 1, FX_DATA, 8), TASK, END };
	u32 instances;

	(void)state;
	for (instances = 7; instances <= 8; instances++) {
		struct fixture *fx = fx_create(1, NULL);
		struct pds_launch launch = fx_launch(instances, 1, 1);

		launch.state.attrs = 1;
		fx_program(fx, &launch, insns, 3);
		assert_true(fx_begin(fx, &launch));
		assert_int_equal(pds_launch_cost(fx->pds), instances == 8 ? 2 : 1);
		fx_destroy(fx);
	}
}

/* A launch whose program is loaded in pieces begins once, and can be cancelled between two. */
static void a_launch_begins_when_its_program_is_loaded(void **state)
{
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(1, 1, 1);
	u32 calls;

	(void)state;
	fx_program_empty(fx, &launch);
	fx->cache.pieces = 7;
	for (calls = 1; !fx_begin(fx, &launch); calls++)
		assert_int_equal(fx->cache.loads, 1);
	assert_int_equal(calls, 8);
	assert_int_equal(fx->cache.loads, 0);
	fx_end(fx);
	assert_false(fx_begin(fx, &launch));
	assert_int_equal(fx->cache.loads, 1);
	fx->begun = true;
	fx_end(fx);
	assert_int_equal(fx->cache.loads, 0);
	fx_destroy(fx);
}

/* Run a launch of one group, which starts. */
static void launch_one(struct fixture *fx)
{
	struct pds_launch launch = fx_launch(32, 1, 1);

	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	fx_end(fx);
}

/* The CDM dispatches while a USC ends a group. */
static void launch_meanwhile(struct fixture *fx)
{
	struct pds_launch launch = fx_launch(32, 1, 1);

	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	while (fx_group(fx, 0, 0, 0, 0) == PDS_STARTED)
		;
	fx_end(fx);
	assert_true(fx_begin(fx, &launch));
	fx_end(fx);
}

static void each_group_may_be_of_a_launch_of_its_own(void **state)
{
	struct fixture *fx = fx_create(1, NULL);
	unsigned int n;

	(void)state;
	for (n = 0; n < PUMICE_USC_SLOTS; n++)
		launch_one(fx);
	while (pds_groups(fx->pds) > 1)
		fx_finish_oldest(fx);
	assert_int_equal(fx->cache.live, 1);
	fx->at_end = launch_meanwhile;
	fx_finish_oldest(fx);
	assert_int_equal(pds_groups(fx->pds), PUMICE_USC_SLOTS);
	assert_int_equal(fx->cache.live, 1);	/* that of the groups that were started meanwhile */
	fx_destroy(fx);
}

/* Return the value that the program at FX_PDS gives the first shared register in a launch. */
static u32 value_of_launch(struct fixture *fx, const struct pds_launch *launch)
{
	u32 value;

	assert_true(fx_begin(fx, launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	value = fake_usc_shared(fx->usc[0], 0, 0, 0);
	assert_true(fx_finish_oldest(fx));
	fx_end(fx);
	return value;
}

/* Overwrite the immediate of the first instruction. */
static void write_value(struct fixture *fx, u32 value)
{
	const struct pumice_pds_insn ldi = LDI(SH, 0, value);
	u32 words[PUMICE_PDS_WORDS];
	u8 *host = mmu_probe(&fx->mmu, FX_CTX, FX_PDS, PUMICE_ACCESS_READ);

	assert_non_null(host);
	pumice_pds_pack(words, &ldi);
	memcpy(host, words, sizeof(words));
}

/* In mode fast: until a job begins, lines are dropped or a translation changes. */
static void a_program_of_launches_is_fetched_until_it_may_have_changed(void **state)
{
	static const struct pumice_pds_insn insns[] = { LDI(SH, 0, 1), TASK, END };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(1, 1, 1);

	(void)state;
	launch.state.shared = 4;
	fx_program(fx, &launch, insns, 3);
	assert_int_equal(value_of_launch(fx, &launch), 1);
	write_value(fx, 2);
	assert_int_equal(value_of_launch(fx, &launch), 1);
	mmu_job_begins(&fx->mmu, FX_CTX + 1);
	assert_int_equal(value_of_launch(fx, &launch), 1);
	mmu_job_begins(&fx->mmu, FX_CTX);
	assert_int_equal(value_of_launch(fx, &launch), 2);
	write_value(fx, 3);
	mmu_invalidate_ctx(&fx->mmu, FX_CTX);
	assert_int_equal(value_of_launch(fx, &launch), 3);
	write_value(fx, 4);
	pds_reset(fx->pds);
	assert_int_equal(value_of_launch(fx, &launch), 4);
	/* In the other modes each fetch is a request. */
	write_value(fx, 5);
	mmu_set_request(&fx->mmu, pass_request, NULL);
	assert_int_equal(value_of_launch(fx, &launch), 5);
	write_value(fx, 7);
	assert_int_equal(value_of_launch(fx, &launch), 7);
	mmu_set_request(&fx->mmu, NULL, NULL);
	write_value(fx, 6);
	assert_int_equal(value_of_launch(fx, &launch), 6);
	fx_destroy(fx);
}

/* Nothing else may be checked against the limits of an earlier launch. */
static void a_program_is_checked_for_each_allocation(void **state)
{
	static const struct pumice_pds_insn insns[] = { LDI(SH, 3, 1), LDI(V, 2, 1), TASK, END };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(1, 1, 1);

	(void)state;
	launch.state.shared = 4;
	launch.state.attrs = 3;
	fx_program(fx, &launch, insns, 4);
	assert_int_equal(value_of_launch(fx, &launch), 0);
	launch.state.shared = 3;
	assert_false(fx_begin(fx, &launch));
	fx_expect_fault(fx, PUMICE_FAULT_PDS_REGISTER, PUMICE_UNIT_PDS, FX_PDS, 0);
	launch.state.shared = 4;
	assert_int_equal(value_of_launch(fx, &launch), 0);
	launch.state.attrs = 2;
	assert_false(fx_begin(fx, &launch));
	fx_expect_fault(fx, PUMICE_FAULT_PDS_REGISTER, PUMICE_UNIT_PDS, FX_PDS + 16, 1);
	launch.state.attrs = 3;
	assert_int_equal(value_of_launch(fx, &launch), 0);
	/* The first two of its instructions alone have no end. */
	launch.state.pds_insns = 3;
	assert_false(fx_begin(fx, &launch));
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_of_launches_is_fetched_until_it_may_have_changed),
		cmocka_unit_test(a_program_is_checked_for_each_allocation),
		cmocka_unit_test(groups_are_dispatched_to_the_usc_with_the_fewest_waves),
		cmocka_unit_test(equal_uscs_are_used_round_robin_and_a_reset_starts_over),
		cmocka_unit_test(dispatch_is_reproducible),
		cmocka_unit_test(a_group_is_described_to_its_usc),
		cmocka_unit_test(local_memory_starts_at_the_first_bank),
		cmocka_unit_test(a_group_waits_for_the_exhausted_resource),
		cmocka_unit_test(groups_that_can_never_fit_are_refused),
		cmocka_unit_test(too_many_registers_per_instance_are_refused),
		cmocka_unit_test(a_group_is_placed_where_it_fits),
		cmocka_unit_test(a_group_without_instances_sequences),
		cmocka_unit_test(a_launch_gets_its_usc_program_once_and_releases_it),
		cmocka_unit_test(every_slot_can_run_another_launch),
		cmocka_unit_test(abort_reaches_only_uscs_with_groups),
		cmocka_unit_test(a_usc_fault_is_reported_with_all_fields),
		cmocka_unit_test(reset_drops_groups_and_releases_programs),
		cmocka_unit_test(reset_empties_the_tlb),
		cmocka_unit_test(a_pds_has_one_to_sixty_four_uscs),
		cmocka_unit_test(each_of_sixty_four_uscs_is_used),
		cmocka_unit_test(a_group_waits_when_sixty_four_uscs_have_no_local_memory),
		cmocka_unit_test(random_launches_lose_and_overlap_nothing),
		cmocka_unit_test(a_group_with_many_reads_is_filled_in_pieces),
		cmocka_unit_test(a_group_of_many_registers_is_filled_in_pieces),
		cmocka_unit_test(the_cost_of_a_group_grows_with_its_reads),
		cmocka_unit_test(a_launch_begins_when_its_program_is_loaded),
		cmocka_unit_test(each_group_may_be_of_a_launch_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
