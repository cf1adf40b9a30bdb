// SPDX-License-Identifier: MIT
/* Fixture of the tests of the PDM: see rig.h. */
#include "rig.h"

#include <string.h>

#define USC_BUDGET	4096u
#define MOST_TURNS	2000000u

/* ------------------------------------------------------------ services */

static void rig_lock(void *opaque)
{
	struct rig *rig = opaque;

	assert_false(rig->locked);
	rig->locked = true;
}

static void rig_unlock(void *opaque)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	rig->locked = false;
}

static u64 now(void *opaque)
{
	return ++((struct rig *)opaque)->clock;
}

static void wake_core(void *opaque, unsigned int core)
{
	struct rig *rig = opaque;

	assert_true(core < rig->cores);
	rig->awake_core[core] = true;
}

static void wake_usc(void *opaque, unsigned int usc)
{
	struct rig *rig = opaque;

	rig->awake_usc[usc] = true;
	rig->usc_wakes[usc]++;
}

static void ended(void *opaque, enum dm_end end)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	rig->ends++;
	rig->end = end;
}

static const struct dm_ops dm_ops = {
	.ended = ended, .now = now, .lock = rig_lock, .unlock = rig_unlock, .wake = wake_core,
};

static void no_group(void *opaque)
{
	(void)opaque;
}

static void no_fault(void *opaque, const struct gpu_fault *fault)
{
	(void)opaque;
	(void)fault;
	fail();
}

static const struct pds_ops pds_ops = { .group_done = no_group, .fault = no_fault,
					.room = no_group };

/* ------------------------------------------------------------ making */

static void create_blocks(struct rig *rig)
{
	struct usc_config usc = {
		.unified_bytes = 512u << 10, .common_bytes = 64u << 10, .local_bytes = 64u << 10,
		.mmu = &rig->mmu, .ops = &pds_usc_ops,
	};
	const struct pds_config pds = {
		.uscs = rig->cores * PUMICE_USCS_PER_CORE, .usc = rig->usc,
		.unified_bytes = usc.unified_bytes, .common_bytes = usc.common_bytes,
		.local_bytes = usc.local_bytes, .slot_regs = 4, .mmu = &rig->mmu,
		.programs = rig->programs, .lock = rig_lock, .unlock = rig_unlock,
		.wake_usc = wake_usc, .now = now, .opaque = rig, .ops = &pds_ops,
		.ops_opaque = rig,
	};
	const struct pm_config pm = { .mmu = &rig->mmu, .low = no_group, .opaque = rig };
	struct dm_config pdm = { .cores = rig->cores, .mmu = &rig->mmu, .ops = &dm_ops,
				  .opaque = rig };
	unsigned int i;

	rig->pds = pds_create(&pds);
	rig->pm = pm_create(&pm);
	assert_non_null(rig->pds);
	assert_non_null(rig->pm);
	usc.opaque = rig->pds;
	for (i = 0; i < pds.uscs; i++) {
		usc.number = i;
		usc.core = i / PUMICE_USCS_PER_CORE;
		rig->usc[i] = usc_create(&usc);
		assert_non_null(rig->usc[i]);
	}
	pdm.pm = rig->pm;
	pdm.pds = rig->pds;
	rig->pdm = pdm_create(&pdm);
	assert_non_null(rig->pdm);
}

static u8 *map(struct rig *rig, unsigned int ctx, u64 va, u64 bytes)
{
	return testmem_map(rig->tm, ctx, va, bytes, PUMICE_PAGE_SIZE_4K, 0);
}

static void map_memory(struct rig *rig)
{
	rig->scene_mem = map(rig, 0, RIG_SCENE, 0x1000);
	rig->list_mem = map(rig, 0, RIG_LIST, 0x1000);
	map(rig, 0, RIG_LINKS, 0x1000 + RIG_PAGES * 4);
	rig->pb = testmem_map(rig->tm, RIG_CTX, RIG_PB, (u64)RIG_PAGES * PUMICE_PM_PAGE_SIZE,
			      PUMICE_PAGE_SIZE_4K, TESTMEM_PM);
	rig->regions = testmem_map(rig->tm, RIG_CTX, RIG_REGIONS, RIG_BYTES, PUMICE_PAGE_SIZE_4K,
				   TESTMEM_PM);
	rig->states = map(rig, RIG_CTX, RIG_STATES, RIG_BYTES);
	rig->code = map(rig, RIG_CTX, RIG_CODE, RIG_BYTES);
	rig->render = map(rig, RIG_CTX, RIG_RENDER, 0x1000);
	rig->colour = map(rig, RIG_CTX, RIG_COLOUR, RIG_BYTES);
	rig->depth = map(rig, RIG_CTX, RIG_DEPTH, RIG_BYTES);
	rig->stencil = map(rig, RIG_CTX, RIG_STENCIL, RIG_BYTES);
	rig->spill = map(rig, RIG_CTX, RIG_SPILL, RIG_SPILL_BYTES);
	rig->visible = map(rig, RIG_CTX, RIG_VISIBLE, 0x1000);
	rig->stats = map(rig, RIG_CTX, RIG_STATS, 0x1000);
	/* The same memory, for another context. */
	atomic_store(&rig->mmu.ctx[RIG_OTHER_CTX], testmem_ctx_reg(rig->tm, RIG_CTX));
}

void rig_open(struct rig *rig, unsigned int cores)
{
	memset(rig, 0, sizeof(*rig));
	rig->cores = cores;
	rig->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(rig->tm, &rig->mmu);
	rig->programs = usc_program_cache_create();
	map_memory(rig);
	create_blocks(rig);
	rig_load_programs(rig);
}

void rig_close(struct rig *rig)
{
	unsigned int i;

	pdm_destroy(rig->pdm);
	pds_destroy(rig->pds);
	pm_destroy(rig->pm);
	for (i = 0; i < RIG_USCS; i++)
		if (rig->usc[i])
			usc_destroy(rig->usc[i]);
	usc_program_cache_destroy(rig->programs);
	testmem_destroy(rig->tm);
}

/* ------------------------------------------------------------ running */

void rig_reset(struct rig *rig)
{
	unsigned int i;

	pdm_reset(rig->pdm);
	pds_reset(rig->pds);
	pm_reset(rig->pm);
	for (i = 0; i < rig->cores * PUMICE_USCS_PER_CORE; i++)
		usc_reset(rig->usc[i]);
	assert_false(pdm_status(rig->pdm)->busy);
}

void rig_start_in(struct rig *rig, unsigned int ctx, bool partial)
{
	const struct dm_job job = { .ctx = ctx, .stream = RIG_RENDER, .scene = RIG_SCENE,
				    .partial = partial };

	pumice_pdm_render_pack((u32 *)(void *)rig->render, &rig->record);
	rig->ends = 0;
	rig_lock(rig);
	assert_true(pdm_start(rig->pdm, &job));
	assert_false(pdm_start(rig->pdm, &job));
	rig_unlock(rig);
}

void rig_start(struct rig *rig, bool partial)
{
	rig_start_in(rig, RIG_CTX, partial);
}

bool rig_turn(struct rig *rig)
{
	const _Atomic bool stop = false;
	bool any = false;
	unsigned int i;

	for (i = 0; i < rig->cores; i++) {
		if (!rig->awake_core[i])
			continue;
		any = true;
		rig->awake_core[i] = false;
		if (pdm_core_step(rig->pdm, i, &stop))
			rig->awake_core[i] = true;
		assert_false(rig->locked);
	}
	for (i = 0; i < rig->cores * PUMICE_USCS_PER_CORE; i++) {
		if (!rig->awake_usc[i])
			continue;
		any = true;
		rig->awake_usc[i] = false;
		if (usc_step(rig->usc[i], USC_BUDGET, &stop))
			rig->awake_usc[i] = true;
	}
	return any;
}

void rig_run(struct rig *rig)
{
	unsigned int turns = 0;

	while (!rig->ends) {
		assert_true(turns++ < MOST_TURNS);
		assert_true(rig_turn(rig));
	}
	assert_int_equal(rig->ends, 1);
	assert_false(pdm_status(rig->pdm)->busy);
}

u32 rig_free_pages(const struct rig *rig)
{
	struct pumice_free_list list;

	pumice_free_list_unpack((const u32 *)(const void *)rig->list_mem, &list);
	return list.free;
}

struct pumice_scene rig_scene(const struct rig *rig)
{
	struct pumice_scene scene;

	pumice_scene_unpack((const u32 *)(const void *)rig->scene_mem, &scene);
	return scene;
}
