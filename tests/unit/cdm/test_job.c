// SPDX-License-Identifier: MIT
/*
 * CDM and PDS together, over fake USCs: whole jobs from a control
 * stream in memory to groups with their registers filled.
 */
#include <string.h>

#include "../../../qemu-device/gpu/cdm/cdm.h"
#include "../../../qemu-device/gpu/pds/gfx.h"
#include "fixture.h"

/* The stream is stored in the fixture's PDS pages, after the program. */
#define STREAM (FX_PDS + 0x2000)

struct job {
	struct fixture *fx;
	struct cdm *cdm;
	u64 at;			/* where the next command is written */
	unsigned int ended;
	enum dm_end end;
	bool wake;
	u32 sources;	/* bit n: the source of core n requests a step */
};

static void job_ended(void *opaque, enum dm_end end)
{
	struct job *job = opaque;

	assert_true(job->fx->locked);
	assert_int_equal(pds_groups(job->fx->pds), 0);
	job->ended++;
	job->end = end;
}

static void job_wake(void *opaque)
{
	((struct job *)opaque)->wake = true;
}

static u64 job_now(void *opaque)
{
	(void)opaque;
	return 1;
}

static void job_groups_ended(void *opaque)
{
	cdm_pds_ops.ended(((struct job *)opaque)->cdm);
}

static void job_fault(void *opaque, const struct gpu_fault *fault)
{
	cdm_pds_ops.fault(((struct job *)opaque)->cdm, fault);
}

static void job_room(void *opaque, unsigned int core)
{
	cdm_pds_ops.room(((struct job *)opaque)->cdm, core);
}

static void job_wake_source(void *opaque, unsigned int core)
{
	((struct job *)opaque)->sources |= 1u << core;
}

static void job_lock(void *opaque)
{
	fx_lock(((struct job *)opaque)->fx);
}

static void job_unlock(void *opaque)
{
	fx_unlock(((struct job *)opaque)->fx);
}

static const struct cdm_ops job_ops = {
	.ended = job_ended, .wake = job_wake, .wake_source = job_wake_source, .lock = job_lock,
	.unlock = job_unlock, .now = job_now,
};
static const struct pds_ops job_pds_ops = {
	.ended = job_groups_ended, .fault = job_fault, .room = job_room,
};

static void job_create(struct job *job, unsigned int uscs, const struct fx_stores *stores)
{
	struct cdm_config config = { .ops = &job_ops, .opaque = job };

	memset(job, 0, sizeof(*job));
	job->fx = fx_create_for(uscs, stores, &job_pds_ops, job);
	config.mmu = &job->fx->mmu;
	config.cores = job->fx->cores;
	job->cdm = cdm_create(&config);
	assert_non_null(job->cdm);
	cdm_connect(job->cdm, job->fx->pds);
	job->at = STREAM;
}

static void job_destroy(struct job *job)
{
	fx_destroy(job->fx);
	cdm_destroy(job->cdm);
}

static void put(struct job *job, const u32 *words, u32 count)
{
	struct mmu_tlb tlb = { 0 };
	struct gpu_fault fault;
	u32 i;

	for (i = 0; i < count; i++, job->at += 4) {
		u8 *host = mmu_translate(&job->fx->mmu, &tlb, FX_CTX, job->at, 1,
					 PUMICE_ACCESS_READ, PUMICE_UNIT_CDM, &fault);

		assert_non_null(host);
		memcpy(host, &words[i], 4);
	}
}

static void put_launch(struct job *job, const struct pds_launch *launch)
{
	u32 words[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS];

	pumice_cdm_state_pack(words, &launch->state);
	pumice_cdm_launch_pack(words + PUMICE_CDM_STATE_WORDS, &launch->grid);
	put(job, words, PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS);
}

static void put_halt(struct job *job)
{
	const struct pumice_cdm_halt halt = { 0 };
	u32 words[PUMICE_CDM_HALT_WORDS];

	pumice_cdm_halt_pack(words, &halt);
	put(job, words, PUMICE_CDM_HALT_WORDS);
}

static void job_start(struct job *job)
{
	const struct cdm_job start = { .ctx = FX_CTX, .stream = STREAM };

	fx_lock(job->fx);
	assert_true(cdm_start(job->cdm, &start));
	fx_unlock(job->fx);
}

/* Step a source that was woken, without the lock. */
static void step_source(struct job *job)
{
	const unsigned int core = (unsigned int)__builtin_ctz(job->sources);
	const _Atomic bool stop = false;

	job->sources &= job->sources - 1;
	if (cdm_source_step(job->cdm, core, 5, &stop))
		job->sources |= 1u << core;
}

/* Step the CDM and its sources as the workers do, while they request steps. */
static void job_walk(struct job *job)
{
	while (job->wake || job->sources) {
		if (job->sources)
			step_source(job);
		if (!job->wake)
			continue;
		job->wake = false;
		fx_lock(job->fx);
		job->wake |= cdm_step(job->cdm, 5);
		fx_unlock(job->fx);
	}
}

static void job_abort(struct job *job)
{
	fx_lock(job->fx);
	cdm_abort(job->cdm);
	fx_unlock(job->fx);
}

static void job_finish(struct job *job)
{
	for (job_walk(job); !job->ended; job_walk(job))
		assert_true(fx_finish_oldest(job->fx));
}

static const struct fx_stores small_stores = {
	.unified_bytes = 128 * 128, .common_bytes = 2048, .local_bytes = 4096,
};

/* 7 x 5 x 3 groups on three small USCs: each runs once, with its own id and number. */
static void every_group_of_a_grid_runs_once_with_its_id(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		MOV(SH, 0, GROUP_X), MOV(SH, 1, GROUP_Y), MOV(SH, 2, GROUP_Z),
		MOV(V, 0, GLOBAL_X), TASK, END,
	};
	struct pds_launch launch = fx_launch(9, 5, 2);	/* 90: three waves */
	bool seen[7][5][3] = { { { false } } };
	struct job job;
	u32 total = 0;

	(void)state;
	job_create(&job, 3, &small_stores);
	launch.state.shared = 100;
	launch.state.attrs = 1;
	launch.state.temps = 6;
	launch.state.local_bytes = 700;
	launch.grid = (struct pumice_cdm_launch){ false, 7, 5, 3, 10, 20, 30 };
	fx_program(job.fx, &launch, insns, 6);
	put_launch(&job, &launch);
	put_halt(&job);
	job_start(&job);
	while (!job.ended) {
		u32 i, g;

		job_walk(&job);
		for (i = 0; i < 3; i++) {
			struct usc *usc = job.fx->usc[i];

			for (g = 0; g < PUMICE_USC_SLOTS; g++) {
				u32 x, y, z;

				if (!fake_usc_running(usc, g))
					continue;
				x = fake_usc_shared(usc, g, 0, 0) - 10;
				y = fake_usc_shared(usc, g, 0, 1) - 20;
				z = fake_usc_shared(usc, g, 0, 2) - 30;
				assert_true(x < 7 && y < 5 && z < 3);
				assert_false(seen[x][y][z]);
				seen[x][y][z] = true;
				assert_int_equal(usc->group[g].first_wave,
						 (x + 7 * (y + 5 * z)) * 3);
				assert_int_equal(fake_usc_attr(usc, g, 40, 0), (x + 10) * 9 + 4);
				fake_usc_finish(usc, g);
				total++;
			}
		}
	}
	assert_int_equal(job.end, DM_DONE);
	assert_int_equal(total, 7 * 5 * 3);
	assert_int_equal(cdm_status(job.cdm)->done, total);
	job_destroy(&job);
}

/* More groups than room: the PDS stalls the CDM, and every group is started eventually. */
static void a_job_larger_than_the_gpu_completes(void **state)
{
	struct pds_launch launch = fx_launch(128, 1, 1);
	struct job job;

	(void)state;
	job_create(&job, 2, &small_stores);
	launch.state.temps = 20;	/* 80 of 128 rows */
	launch.grid.groups_x = 100;
	fx_program_empty(job.fx, &launch);
	put_launch(&job, &launch);
	put_launch(&job, &launch);
	put_halt(&job);
	job_start(&job);
	job_walk(&job);
	assert_int_equal(pds_groups(job.fx->pds), 2);
	job_finish(&job);
	assert_int_equal(job.end, DM_DONE);
	assert_int_equal(cdm_status(job.cdm)->done, 200);
	assert_int_equal(job.fx->usc[0]->started, 100);
	assert_int_equal(job.fx->cache.gets, 2);
	job_destroy(&job);
}

/* Stopped while it waits for room: nothing more starts, and all resources are freed. */
static void abort_and_fault_free_all_resources(void **state)
{
	u32 fault;

	(void)state;
	for (fault = 0; fault < 2; fault++) {
		struct pds_launch launch = fx_launch(128, 1, 1);
		struct job job;

		job_create(&job, 2, &small_stores);
		launch.state.temps = 10;
		launch.grid.groups_x = 100;
		fx_program_empty(job.fx, &launch);
		put_launch(&job, &launch);
		put_halt(&job);
		job_start(&job);
		job_walk(&job);
		assert_int_equal(pds_groups(job.fx->pds), 6);
		if (fault)
			fake_usc_fault(job.fx->usc[1], 2, PUMICE_FAULT_USC_BRANCH);
		else
			job_abort(&job);
		assert_true(job.fx->usc[0]->aborted && job.fx->usc[1]->aborted);
		job_finish(&job);
		assert_int_equal(job.end, fault ? DM_FAULT : DM_ABORTED);
		assert_int_equal(job.fx->usc[0]->started + job.fx->usc[1]->started, 6);
		assert_int_equal(job.fx->cache.live, 0);
		job_destroy(&job);
	}
}

/* None of the job's own groups runs: a vertex task frees the room that wakes it. */
static void a_job_stalled_on_a_full_gpu_resumes_when_a_task_ends(void **state)
{
	const struct pds_stage stage = { .stage = USC_STAGE_VERTEX, .ctx = FX_CTX };
	struct pds_place place[PUMICE_USC_SLOTS];
	struct pds_launch launch = fx_launch(128, 1, 1);
	struct gpu_fault fault;
	struct job job;
	u32 i;

	(void)state;
	job_create(&job, 1, NULL);
	launch.grid.groups_x = 3;
	fx_program_empty(job.fx, &launch);
	put_launch(&job, &launch);
	put_halt(&job);
	for (i = 0; i < PUMICE_USC_SLOTS; i++)
		assert_int_equal(pds_task_claim(job.fx->pds, PDS_DM_VDM, 0, &stage, 128, 1,
						&place[i], &fault), PDS_STARTED);
	job_start(&job);
	job_walk(&job);
	assert_int_equal(pds_groups(job.fx->pds), 0);
	for (i = 0; i < PUMICE_USC_SLOTS; i++) {
		pds_task_drop(job.fx->pds, &place[i]);
		assert_int_equal(job.sources, i < 3);
		job_walk(&job);
		assert_int_equal(pds_groups(job.fx->pds), i < 3 ? i + 1 : 3);
	}
	job_finish(&job);
	assert_int_equal(job.end, DM_DONE);
	job_destroy(&job);
}

/* A burst that faults in the middle of a launch, while other groups of it run. */
static void a_burst_fault_between_running_groups_stops_the_job(void **state)
{
	static const struct pumice_pds_insn insns[] = { DMA(SH, 0, 1, FX_DATA, 0), TASK, END };
	struct pds_launch launch = fx_launch(128, 1, 1);
	struct job job;

	(void)state;
	job_create(&job, 1, &small_stores);
	launch.state.shared = 1;
	launch.state.temps = 20;
	launch.grid.groups_x = 3;
	fx_program(job.fx, &launch, insns, 3);
	put_launch(&job, &launch);
	put_halt(&job);
	job_start(&job);
	job_walk(&job);
	assert_int_equal(job.fx->usc[0]->started, 1);
	testmem_unmap(job.fx->tm, FX_CTX, FX_DATA, 0x1000);
	mmu_invalidate_ctx(&job.fx->mmu, FX_CTX);
	job_finish(&job);
	assert_int_equal(job.end, DM_FAULT);
	assert_int_equal(job.fx->usc[0]->started, 1);
	job.fx->fault = cdm_status(job.cdm)->fault;
	fx_expect_fault(job.fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS, FX_DATA, 0);
	job_destroy(&job);
}

/* TLBs are real: without an invalidation the PDS and the CDM use stale entries. */
static void tlb_entries_are_kept_until_invalidated(void **state)
{
	static const struct pumice_pds_insn insns[] = { DMA(SH, 0, 1, FX_DATA, 0), TASK, END };
	struct pds_launch launch = fx_launch(1, 1, 1);
	struct job job;

	(void)state;
	job_create(&job, 1, &small_stores);
	launch.state.shared = 1;
	fx_program(job.fx, &launch, insns, 3);
	put_launch(&job, &launch);
	put_halt(&job);
	job_start(&job);
	job_finish(&job);
	testmem_unmap(job.fx->tm, FX_CTX, STREAM, 0x1000);
	testmem_unmap(job.fx->tm, FX_CTX, FX_DATA, 0x1000);
	job.ended = 0;
	job_start(&job);
	job_finish(&job);
	assert_int_equal(job.end, DM_DONE);
	mmu_invalidate_ctx(&job.fx->mmu, FX_CTX);
	job.ended = 0;
	job_start(&job);
	job_finish(&job);
	assert_int_equal(job.end, DM_FAULT);
	job.fx->fault = cdm_status(job.cdm)->fault;
	fx_expect_fault(job.fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_CDM, STREAM, 0);
	job_destroy(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_group_of_a_grid_runs_once_with_its_id),
		cmocka_unit_test(a_job_larger_than_the_gpu_completes),
		cmocka_unit_test(abort_and_fault_free_all_resources),
		cmocka_unit_test(a_job_stalled_on_a_full_gpu_resumes_when_a_task_ends),
		cmocka_unit_test(a_burst_fault_between_running_groups_stops_the_job),
		cmocka_unit_test(tlb_entries_are_kept_until_invalidated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
