// SPDX-License-Identifier: MIT
/* Fixture of the tests of the PDM: see fixture.h. */
#include "fixture.h"
#include "perf.h"

#include <string.h>

#include "../../../qemu-device/gpu/pdm/state.h"
#include "../../../qemu-device/gpu/usc/program.h"

#define USC_BUDGET	4096u
#define MAX_STEPS	2000000u

/* ------------------------------------------------------------ services */

static void fx_lock(void *opaque)
{
	struct fixture *fx = opaque;

	assert_false(fx->locked);
	fx->locked = true;
}

static void fx_unlock(void *opaque)
{
	struct fixture *fx = opaque;

	assert_true(fx->locked);
	fx->locked = false;
}

static u64 now(void *opaque)
{
	struct fixture *fx = opaque;

	return fx->clock += fx->tick;
}

static void wake_core(void *opaque, unsigned int core)
{
	struct fixture *fx = opaque;

	assert_true(core < fx->cores);
	fx->awake_core[core] = true;
}

static void wake_usc(void *opaque, unsigned int usc)
{
	struct fixture *fx = opaque;

	fx->awake_usc[usc] = true;
	fx->usc_wakes[usc]++;
}

static void ended(void *opaque, enum dm_end end)
{
	struct fixture *fx = opaque;

	assert_true(fx->locked);
	fx->ends++;
	fx->end = end;
}

static const struct dm_ops dm_ops = {
	.ended = ended, .now = now, .lock = fx_lock, .unlock = fx_unlock, .wake = wake_core,
};

static void no_group(void *opaque)
{
	(void)opaque;
}

static void no_work_group(void *opaque)
{
	(void)opaque;
}

static void no_fault(void *opaque, const struct gpu_fault *fault)
{
	(void)opaque;
	(void)fault;
	fail();
}

static void no_room(void *opaque, unsigned int core)
{
	(void)opaque;
	(void)core;
}

static const struct pds_ops pds_ops = { .ended = no_work_group, .fault = no_fault,
					.room = no_room };

/* ------------------------------------------------------------ making */

static void create_blocks(struct fixture *fx)
{
	struct usc_config usc = {
		.unified_bytes = fx->stores.unified_bytes, .common_bytes = fx->stores.common_bytes,
		.local_bytes = 64u << 10,
		.mmu = &fx->mmu, .ops = &pds_usc_ops,
	};
	const struct pds_config pds = {
		.uscs = fx->uscs, .usc = fx->usc,
		.uscs_per_core = fx->stores.uscs, .tasks = PUMICE_USC_TASKS,
		.slots = PUMICE_USC_SLOTS,
		.waves = USC_WAVES, .batch = PUMICE_TASK_INSTANCES,
		.unified_bytes = usc.unified_bytes, .common_bytes = usc.common_bytes,
		.local_bytes = usc.local_bytes, .outputs = fx->stores.outputs, 
		.vpm_bytes = fx->stores.vpm_bytes ? fx->stores.vpm_bytes : FX_VPM,
		.slot_regs = 4, .mmu = &fx->mmu,
		.programs = fx->programs, .lock = fx_lock, .unlock = fx_unlock,
		.wake_usc = wake_usc, .now = now, .opaque = fx, .ops = &pds_ops,
		.ops_opaque = fx, .trace = &fx->trace.trace,
	};
	const struct pm_config pm = { .mmu = &fx->mmu, .low = no_group, .opaque = fx,
				      .trace = &fx->trace.trace };
	struct dm_config pdm = { .cores = fx->cores, .uscs_per_core = fx->stores.uscs,
				  .batch = PUMICE_TASK_INSTANCES, .tile_fifo = fx->tile_fifo,
				  .tsp_vertices = fx->tsp_vertices,
				  .mmu = &fx->mmu, .ops = &dm_ops,
				  .opaque = fx, .trace = &fx->trace.trace };
	unsigned int i;

	fx->halves = halves_create(&fx->mmu, fx->cores, fx->stores.uscs);
	assert_non_null(fx->halves);
	fx->pds = pds_create(&pds);
	fx->pm = pm_create(&pm);
	assert_non_null(fx->pds);
	assert_non_null(fx->pm);
	usc.opaque = fx->pds;
	for (i = 0; i < pds.uscs; i++) {
		usc.number = i;
		usc.core = i / fx->stores.uscs;
		usc.tag = halves_of(fx->halves, i)->tag;
		usc.tcu = (u8)half_tcu_of_usc(i % fx->stores.uscs, fx->stores.uscs);
		fx->usc[i] = usc_create(&usc);
		assert_non_null(fx->usc[i]);
	}
	pdm.pm = fx->pm;
	pdm.pds = fx->pds;
	pdm.halves = fx->halves;
	fx->pdm = pdm_create(&pdm);
	assert_non_null(fx->pdm);
}

static u8 *map(struct fixture *fx, unsigned int ctx, u64 va, u64 bytes)
{
	return testmem_map(fx->tm, ctx, va, bytes, PUMICE_PAGE_SIZE_4K, 0);
}

static void map_memory(struct fixture *fx)
{
	fx->scene_mem = map(fx, 0, FX_SCENE, 0x1000);
	fx->list_mem = map(fx, 0, FX_LIST, 0x1000);
	map(fx, 0, FX_LINKS, 0x1000 + FX_PAGES * 4);
	fx->pb = testmem_map(fx->tm, FX_CTX, FX_PB, (u64)FX_PAGES * PUMICE_PM_PAGE_SIZE,
			     PUMICE_PAGE_SIZE_4K, TESTMEM_PM);
	fx->regions = testmem_map(fx->tm, FX_CTX, FX_REGIONS, FX_BYTES, PUMICE_PAGE_SIZE_4K,
				  TESTMEM_PM);
	fx->states = map(fx, FX_CTX, FX_STATES, FX_BYTES);
	fx->code = map(fx, FX_CTX, FX_CODE, FX_BYTES);
	fx->render = map(fx, FX_CTX, FX_RENDER, 0x1000);
	fx->control = map(fx, FX_CTX, FX_CONTROL, FX_BYTES);
	fx->colour = map(fx, FX_CTX, FX_COLOUR, FX_BYTES);
	fx->depth = map(fx, FX_CTX, FX_DEPTH, FX_BYTES);
	fx->stencil = map(fx, FX_CTX, FX_STENCIL, FX_BYTES);
	fx->mask = map(fx, FX_CTX, FX_MASK, FX_BYTES);
	fx->spill = map(fx, FX_CTX, FX_SPILL, FX_SPILL_BYTES);
	fx->visible = map(fx, FX_CTX, FX_VISIBLE, 0x1000);
	fx->stats = map(fx, FX_CTX, FX_STATS, 0x1000);
	/* The same memory, for another context. */
	atomic_store(&fx->mmu.ctx[FX_OTHER_CTX], testmem_ctx_reg(fx->tm, FX_CTX));
}

static const struct fx_stores usual_stores = {
	512u << 10, 576u << 10, PUMICE_OUTPUT_STORE_COMMON, 0, 0,
};

static void open_with(struct fixture *fx, unsigned int cores, u32 tile_fifo, u32 tsp_vertices,
		      const struct fx_stores *stores)
{
	memset(fx, 0, sizeof(*fx));
	fx->tick = 1;
	fx->cores = cores;
	fx->tile_fifo = tile_fifo;
	fx->tsp_vertices = tsp_vertices;
	fx->stores = *stores;
	if (!stores->uscs)
		fx->stores.uscs = FX_USCS_PER_CORE;
	fx->uscs = cores * fx->stores.uscs;
	fx->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(fx->tm, &fx->mmu);
	testtrace_open(&fx->trace, fx->tm, &fx->mmu);
	fx->programs = usc_program_cache_create();
	map_memory(fx);
	create_blocks(fx);
	fx_load_programs(fx);
}

void fx_open(struct fixture *fx, unsigned int cores)
{
	fx_open_fifo(fx, cores, 64);
}

void fx_open_fifo(struct fixture *fx, unsigned int cores, u32 tile_fifo)
{
	open_with(fx, cores, tile_fifo, FX_TSP_VERTICES, &usual_stores);
}

void fx_open_stores(struct fixture *fx, unsigned int cores, const struct fx_stores *stores)
{
	open_with(fx, cores, 64, FX_TSP_VERTICES, stores);
}

void fx_open_cache(struct fixture *fx, unsigned int cores, u32 tsp_vertices)
{
	open_with(fx, cores, 64, tsp_vertices, &usual_stores);
}

void fx_close(struct fixture *fx)
{
	unsigned int i;

	pdm_destroy(fx->pdm);
	pds_destroy(fx->pds);
	pm_destroy(fx->pm);
	for (i = 0; i < FX_USCS; i++)
		if (fx->usc[i])
			usc_destroy(fx->usc[i]);
	halves_destroy(fx->halves);
	usc_program_cache_destroy(fx->programs);
	testmem_destroy(fx->tm);
}

u64 fx_counter(const struct fixture *fx, u32 number)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	pds_counters_add(fx->pds, value);
	return value[number];
}

u32 fx_vpm_rows(const struct fixture *fx)
{
	struct pds_load load;

	pds_load(fx->pds, &load);
	return load.vpm_rows;
}

/* ------------------------------------------------------------ running */

void fx_reset(struct fixture *fx)
{
	unsigned int i;

	pdm_reset(fx->pdm);
	pds_reset(fx->pds);
	pm_reset(fx->pm);
	halves_reset(fx->halves);
	for (i = 0; i < fx->uscs; i++)
		usc_reset(fx->usc[i]);
	assert_false(pdm_status(fx->pdm)->busy);
}

void fx_start_in(struct fixture *fx, unsigned int ctx, bool partial)
{
	const struct dm_job job = { .ctx = ctx,
				    .stream = fx->job_stream ? fx->job_stream : FX_RENDER,
				    .scene = FX_SCENE, .tag = FX_TAG, .partial = partial };

	pumice_pdm_render_pack((u32 *)(void *)fx->render, &fx->record);
	fx->ends = 0;
	fx_lock(fx);
	assert_true(pdm_start(fx->pdm, &job));
	assert_false(pdm_start(fx->pdm, &job));
	fx_unlock(fx);
}

void fx_start(struct fixture *fx, bool partial)
{
	fx_start_in(fx, FX_CTX, partial);
}

bool fx_step(struct fixture *fx)
{
	const _Atomic bool stop = false;
	bool any = false;
	unsigned int i;

	for (i = 0; i < fx->cores; i++) {
		if (!fx->awake_core[i])
			continue;
		any = true;
		fx->awake_core[i] = false;
		if (pdm_core_step(fx->pdm, i, &stop))
			fx->awake_core[i] = true;
		assert_false(fx->locked);
	}
	for (i = 0; i < fx->uscs; i++) {
		if (!fx->awake_usc[i] || fx->held_uscs >> i & 1)
			continue;
		any = true;
		fx->awake_usc[i] = false;
		if (usc_step(fx->usc[i], USC_BUDGET, &stop))
			fx->awake_usc[i] = true;
	}
	return any;
}

static void check_tile(const struct pdm_tile *tile)
{
	u16 owned[PUMICE_TILE_PIXELS / USC_SPAN_LANES] = { 0 };
	u32 i, n;

	for (i = 0; i < PDM_TASKS; i++) {
		const struct pdm_task *task = &tile->task[i];

		if (atomic_load(&task->state) != PDM_TASK_RUNS)
			continue;
		for (n = 0; n < task->spans; n++) {
			assert_int_equal(owned[task->span[n].quad] & task->span[n].samples, 0);
			owned[task->span[n].quad] |= task->span[n].samples;
		}
	}
}

void fx_check_order(const struct fixture *fx)
{
	unsigned int i, t;

	for (i = 0; i < fx->cores; i++)
		for (t = 0; t < PDM_TILES; t++)
			check_tile(fx->pdm->core[i].tile[t]);
}

/* Hold about three of four USCs; if the others have nothing to do, none. */
static void step_some(struct fixture *fx)
{
	bool any;

	fx->shuffle = fx->shuffle * 1664525 + 1013904223;
	fx->held_uscs = fx->shuffle | fx->shuffle << 13;
	any = fx_step(fx);
	fx_check_order(fx);
	fx->held_uscs = 0;
	assert_true(any || fx_step(fx));
}

void fx_run(struct fixture *fx)
{
	unsigned int steps = 0;

	while (!fx->ends) {
		assert_true(steps++ < MAX_STEPS);
		if (fx->shuffle)
			step_some(fx);
		else
			assert_true(fx_step(fx));
	}
	assert_int_equal(fx->ends, 1);
	assert_int_equal(fx_vpm_rows(fx), 0);
	assert_false(pdm_status(fx->pdm)->busy);
}

/* ------------------------------------------------------------ memory of programs */

static u64 memory_now(void *opaque)
{
	(void)opaque;
	return 0;	/* no time-out */
}

static void memory_wait(void *opaque, u64 deadline)
{
	(void)opaque;
	(void)deadline;
}

static void memory_room(void *opaque)
{
	struct fixture *fx = opaque;

	memset(fx->awake_core, true, fx->cores * sizeof(*fx->awake_core));
}

static const struct usc_cache_ops memory_ops = {
	.now = memory_now, .wait = memory_wait, .room = memory_room,
};

static void run_to_memory_wait(struct fixture *fx, void (*make)(void))
{
	unsigned int steps = 0;

	make();
	fx_start(fx, false);
	while (fx_step(fx))
		assert_true(steps++ < MAX_STEPS);
	assert_int_equal(fx->ends, 0);
	assert_int_equal(atomic_load(&fx->pdm->memory_waits), 1);
}

void fx_occupy_memory(struct fixture *fx, u32 stage, u64 bytes)
{
	bool short_of = false;

	usc_program_cache_set_ops(fx->programs, &memory_ops, fx);
	assert_int_equal(usc_cache_reserve(fx->programs, stage, bytes, &short_of), USC_LOAD_DONE);
}

void fx_wait_for_memory(struct fixture *fx, u32 stage, u64 bytes, void (*make)(void))
{
	fx_occupy_memory(fx, stage, bytes);
	run_to_memory_wait(fx, make);
}

void fx_check_memory_wait(struct fixture *fx, u32 stage, u64 bytes, void (*make)(void))
{
	fx_wait_for_memory(fx, stage, bytes, make);
	fx_reset(fx);
	assert_int_equal(atomic_load(&fx->pdm->memory_waits), 0);

	run_to_memory_wait(fx, make);
	fx_lock(fx);
	pdm_abort(fx->pdm);
	fx_unlock(fx);
	fx_run(fx);
	assert_int_equal(fx->end, DM_ABORTED);
	assert_int_equal(atomic_load(&fx->pdm->memory_waits), 0);

	run_to_memory_wait(fx, make);
	usc_cache_release(fx->programs, stage, bytes);
	fx_run(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(atomic_load(&fx->pdm->memory_waits), 0);
}

u32 fx_free_pages(const struct fixture *fx)
{
	struct pumice_free_list list;

	pumice_free_list_unpack((const u32 *)(const void *)fx->list_mem, &list);
	return list.free;
}

struct pumice_scene fx_scene(const struct fixture *fx)
{
	struct pumice_scene scene;

	pumice_scene_unpack((const u32 *)(const void *)fx->scene_mem, &scene);
	return scene;
}
