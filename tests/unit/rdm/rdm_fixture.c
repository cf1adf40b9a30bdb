// SPDX-License-Identifier: MIT
/* Fixture for tests of the RDM. See rdm_fixture.h. */
#include "rdm_fixture.h"

#include <stdlib.h>
#include <string.h>

#define INSNS	4u	/* of each PDS program; a piece of filling a task runs two */

/* The only fixture at a time: the ray tracing unit has no pointer to it. */
static struct rdm_fixture *the_fixture;

struct rtu {
	bool made;
};

/* ------------------------------------------------------------ PDS */

void pds_set_task_ops(struct pds *pds, enum pds_dm dm, const struct pds_task_ops *ops, void *opaque)
{
	assert_int_equal(dm, PDS_DM_RDM);
	pds->ops = ops;
	pds->opaque = opaque;
}

/* Two pieces. */
enum pds_load_result pds_stage_load(struct pds *pds, struct mmu_tlb *tlb, unsigned int ctx,
				    const struct pumice_stage *state,
				    const struct pds_stage_limits *limits, struct pds_stage *out,
				    struct gpu_fault *fault)
{
	static const struct pds_stage zero;

	(void)tlb;
	(void)fault;
	assert_false(the_fixture->locked);
	assert_int_equal(ctx, RDMFX_CTX);
	assert_int_equal(limits->stage, (state->pds_addr & 0xf0) == RDMFX_GENERATE ?
						USC_STAGE_RAYS : USC_STAGE_HIT);
	if (pds->loading != out) {
		assert_memory_equal(out, &zero, sizeof(zero));
		pds->loading = out;
		return PDS_LOAD_MORE;
	}
	pds->loading = NULL;
	out->state = *state;
	out->program.insns = state->pds_insns;
	out->code = (struct usc_program *)(void *)pds;
	pds->loads++;
	pds->loaded++;
	return PDS_LOADED;
}

void pds_stage_drop(struct pds *pds, struct pds_stage *stage)
{
	u32 n;

	for (n = 0; n < pds->tasks; n++)
		assert_false(pds->task[n].running && pds->task[n].stage == stage);
	pds->loaded -= stage->code != NULL;
	stage->code = NULL;
	if (pds->loading == stage)
		pds->loading = NULL;
}

enum pds_result pds_task_claim(struct pds *pds, enum pds_dm dm, unsigned int core,
			       const struct pds_stage *stage, u32 instances, u32 prims,
			       struct pds_place *place, struct gpu_fault *fault)
{
	(void)fault;
	assert_false(the_fixture->locked);
	assert_int_equal(dm, PDS_DM_RDM);
	assert_in_range(core, 0, RDMFX_CORES - 1);
	assert_in_range(instances, 1, RDMFX_BATCH);
	assert_int_equal(prims, 1);
	assert_non_null(stage->code);
	if (pds->at_claim)
		pds->at_claim();
	pds->waits[core] = pds->used[core] >= pds->room[core];
	if (pds->waits[core])
		return PDS_WAIT;
	pds->used[core]++;
	assert_in_range(pds->tasks, 0, RDMFX_TASKS - 1);
	*place = (struct pds_place){
		.usc = core, .group = pds->tasks,
		.vpm_rows = (stage->state.pds_addr & 0xf0) != RDMFX_GENERATE ? 0 :
			    (instances + PUMICE_LANES - 1) / PUMICE_LANES * PUMICE_RT_RAY_REGS,
	};
	pds->task[pds->tasks++] = (struct fake_task){
		.core = core, .pds_addr = stage->state.pds_addr, .count = instances, .stage = stage,
		.rows = place->vpm_rows,
	};
	memset(pds->task[place->group].vo, 0x55, sizeof(pds->task->vo));
	return PDS_STARTED;
}

bool pds_fill_rays(struct pds *pds, const struct pds_place *place, const struct pds_stage *stage,
		   const struct pds_rays *in, struct mmu_tlb *tlb, u32 *pc, struct gpu_fault *fault)
{
	struct fake_task *task = &pds->task[place->group];

	(void)tlb;
	(void)fault;
	assert_false(the_fixture->locked);
	assert_ptr_equal(task->stage, stage);
	assert_int_equal(task->count, in->count);
	assert_in_range(*pc, 0, INSNS - 1);
	task->index = in->index;
	*pc += 2;
	return true;
}

void pds_task_start(struct pds *pds, enum pds_dm dm, const struct pds_place *place,
		    const struct usc_gfx *gfx)
{
	struct fake_task *task = &pds->task[place->group];

	assert_false(the_fixture->locked);
	assert_int_equal(dm, PDS_DM_RDM);
	if (pds->at_start)
		pds->at_start();
	task->gfx = gfx;
	task->uniforms = gfx->uniforms;
	task->uniform_words = gfx->uniform_words;
	task->running = true;
	pds->running++;
}

void pds_task_drop(struct pds *pds, const struct pds_place *place)
{
	assert_null(pds->task[place->group].gfx);
	pds->task[place->group].rows = 0;
	pds->used[place->usc]--;
}

u32 pds_pool_instances(const struct pds *pds, u32 vo_words)
{
	assert_int_equal(vo_words, PUMICE_RT_RAY_REGS);
	return pds->pool_instances;
}

u32 *pds_pool_row(const struct pds *pds, const struct pds_place *place)
{
	return ((struct pds *)pds)->task[place->group].vo;
}

/* Later reads return other words. */
void pds_pool_free(struct pds *pds, enum pds_dm dm, struct pds_place *place)
{
	struct fake_task *task = &pds->task[place->group];

	assert_int_equal(dm, PDS_DM_RDM);
	assert_false(task->running);
	assert_int_equal(task->rows, place->vpm_rows);
	if (pds->at_free)
		pds->at_free();
	memset(task->vo, 0x55, sizeof(task->vo));
	task->rows = place->vpm_rows = 0;
}

void pds_task_leave(struct pds *pds, enum pds_dm dm, unsigned int core)
{
	assert_int_equal(dm, PDS_DM_RDM);
	assert_true(pds->waits[core]);
	pds->waits[core] = false;
	pds->leaves[core]++;
}

void pds_dm_abort(struct pds *pds, enum pds_dm dm)
{
	u32 n;

	assert_true(the_fixture->locked);
	assert_int_equal(dm, PDS_DM_RDM);
	memset(pds->waits, 0, sizeof(pds->waits));
	for (n = 0; n < pds->tasks; n++)
		pds->task[n].aborted |= pds->task[n].running;
}

/* Generated rays have their numbers. */
static void write_outputs(const struct fake_task *task)
{
	u32 n;

	for (n = 0; task->gfx->vo && n < task->count; n++)
		task->gfx->vo[n / PUMICE_LANES * task->gfx->vo_words * PUMICE_LANES +
			      n % PUMICE_LANES] = task->index[n];
}

bool rdmfx_finish(struct rdm_fixture *fx, bool newest)
{
	struct pds *pds = &fx->pds;
	struct fake_task *task = NULL;
	u32 n;

	for (n = 0; n < pds->tasks; n++)
		if (pds->task[n].running && (pds->task[n].aborted || !pds->endless) &&
		    (!task || newest))
			task = &pds->task[n];
	if (!task)
		return false;
	write_outputs(task);
	task->running = false;
	pds->running--;
	pds->used[task->core]--;
	if (pds->waits[task->core])
		pds->ops->room(pds->opaque, task->core);
	pds->ops->task_done(pds->opaque, task->core, task->gfx);
	return true;
}

/* ------------------------------------------------------------ the ray tracing unit */

struct rtu *rtu_create(struct mmu *mmu, u32 usc, u32 waves)
{
	(void)mmu;
	(void)usc;
	assert_int_equal(waves, 1);
	return calloc(1, sizeof(struct rtu));
}

void rtu_destroy(struct rtu *rtu)
{
	free(rtu);
}

void rtu_reset(struct rtu *rtu)
{
	(void)rtu;
	the_fixture->query = NULL;
}

void rtu_counters_add(const struct rtu *rtu, u64 *value)
{
	(void)rtu;
	(void)value;
}

static void trace_lane(const struct rdm_fixture *fx, struct rtu_query *query, u32 lane)
{
	const bool hit = !fx->all_miss && query->ray[lane] % 2;

	query->result[(PUMICE_RT_RESULT_REGS - 1) * PUMICE_LANES + lane] =
		hit ? PUMICE_RT_HIT_FRONT : PUMICE_RT_HIT_NONE;
	query->lanes &= ~(1u << lane);
}

enum rtu_status rtu_trace(struct rtu *rtu, struct rtu_query *query, struct gpu_fault *fault)
{
	struct rdm_fixture *fx = the_fixture;

	(void)rtu;
	(void)fault;
	assert_false(fx->locked);
	assert_int_equal(query->ctx, RDMFX_CTX);
	assert_int_not_equal(query->lanes, 0);
	assert_int_equal(query->resumed, fx->query != NULL);
	if (query->resumed) {
		assert_ptr_equal(query->ray, fx->query);
		assert_int_equal(query->lanes, fx->query_lanes);
	} else {
		fx->query_left = fx->single;
		fx->interrupted += fx->single != 0;
	}
	do {
		trace_lane(fx, query, (u32)__builtin_ctz(query->lanes));
	} while (!fx->query_left && query->lanes);
	fx->query_left -= fx->query_left != 0;
	fx->query = query->lanes ? query->ray : NULL;
	fx->query_lanes = query->lanes;
	return query->lanes ? RTU_MORE : RTU_DONE;
}

/* ------------------------------------------------------------ the RDM's owner */

static void ended(void *opaque, enum dm_end end)
{
	struct rdm_fixture *fx = opaque;
	u32 core, task;

	assert_true(fx->locked);
	assert_int_equal(fx->pds.running, 0);
	assert_int_equal(fx->pds.loaded, 0);
	for (core = 0; core < RDMFX_CORES; core++) {
		assert_int_equal(fx->pds.used[core], 0);
		assert_false(fx->pds.waits[core]);
	}
	for (task = 0; task < fx->pds.tasks; task++)
		assert_int_equal(fx->pds.task[task].rows, 0);
	fx->ended++;
	fx->end = end;
}

static u64 now(void *opaque)
{
	return ((struct rdm_fixture *)opaque)->clock++;
}

static void lock(void *opaque)
{
	struct rdm_fixture *fx = opaque;

	assert_false(fx->locked);
	fx->locked = true;
}

static void unlock(void *opaque)
{
	struct rdm_fixture *fx = opaque;

	assert_true(fx->locked);
	fx->locked = false;
}

static void wake(void *opaque, unsigned int core)
{
	assert_int_equal(core, 0);
	((struct rdm_fixture *)opaque)->awake = true;
}

static const struct dm_ops ops = {
	.ended = ended, .now = now, .lock = lock, .unlock = unlock, .wake = wake,
};

struct rdm_fixture *rdmfx_create(void)
{
	struct rdm_fixture *fx = calloc(1, sizeof(*fx));
	struct dm_config config = {
		.cores = RDMFX_CORES, .batch = RDMFX_BATCH, .ops = &ops, .opaque = fx,
	};
	u32 n;

	assert_non_null(fx);
	the_fixture = fx;
	fx->tm = testmem_create(4u << 20);
	testmem_bind(fx->tm, &fx->mmu);
	fx->stream = testmem_map(fx->tm, RDMFX_CTX, RDMFX_STREAM, 0x1000, PUMICE_PAGE_SIZE_4K,
				 TESTMEM_RO | TESTMEM_NX);
	fx->rays = testmem_map(fx->tm, RDMFX_CTX, RDMFX_RAYS,
			       RDMFX_MAX_RAYS * PUMICE_RDM_RAY_WORDS * 4, PUMICE_PAGE_SIZE_4K,
			       TESTMEM_RO | TESTMEM_NX);
	for (n = 0; n < RDMFX_MAX_RAYS; n++)
		fx->rays[n * PUMICE_RDM_RAY_WORDS] = n;
	testtrace_open(&fx->trace, fx->tm, &fx->mmu);
	fx->at = RDMFX_STREAM;
	for (n = 0; n < RDMFX_CORES; n++)
		fx->pds.room[n] = RDMFX_TASKS;
	fx->pds.pool_instances = RDMFX_BATCH;
	config.mmu = &fx->mmu;
	config.pds = &fx->pds;
	config.trace = &fx->trace.trace;
	fx->rdm = rdm_create(&config);
	assert_non_null(fx->rdm);
	return fx;
}

void rdmfx_destroy(struct rdm_fixture *fx)
{
	rdm_destroy(fx->rdm);
	assert_int_equal(fx->pds.loaded, 0);
	testmem_destroy(fx->tm);
	free(fx);
}

static void put_words(struct rdm_fixture *fx, const u32 *words, u32 count)
{
	assert_true(fx->at + count * 4 <= RDMFX_STREAM + 0x1000);
	memcpy(fx->stream + (fx->at - RDMFX_STREAM) / 4, words, count * 4);
	fx->at += count * 4;
}

static void put_stage(u32 *words, u64 addr)
{
	pumice_stage_pack(words, &(struct pumice_stage){ .pds_addr = addr, .pds_insns = INSNS });
}

void put_state(struct rdm_fixture *fx, const struct state *state)
{
	struct pumice_rdm_state rdm = {
		.structure = 0x40000, .uniforms = state->uniforms,
		.uniform_words = (u16)state->uniform_words,
	};
	u32 words[PUMICE_RDM_STATE_WORDS];

	if (state->generate)
		put_stage(rdm.generate, state->pds + RDMFX_GENERATE);
	if (state->hit)
		put_stage(rdm.hit, state->pds + RDMFX_HIT);
	if (state->miss)
		put_stage(rdm.miss, state->pds + RDMFX_MISS);
	pumice_rdm_state_pack(words, &rdm);
	put_words(fx, words, PUMICE_RDM_STATE_WORDS);
}

void put_launch(struct rdm_fixture *fx, u32 width, u32 height, u64 rays)
{
	const struct pumice_rdm_launch launch = { .width = width, .height = height, .rays = rays };
	u32 words[PUMICE_RDM_LAUNCH_WORDS];

	pumice_rdm_launch_pack(words, &launch);
	put_words(fx, words, PUMICE_RDM_LAUNCH_WORDS);
}

void put_halt(struct rdm_fixture *fx)
{
	u32 words[PUMICE_CDM_HALT_WORDS];

	pumice_cdm_halt_pack(words, &(struct pumice_cdm_halt){ 0 });
	put_words(fx, words, PUMICE_CDM_HALT_WORDS);
}

void put_flush(struct rdm_fixture *fx, u32 bits)
{
	u32 words[PUMICE_CDM_FLUSH_WORDS];

	pumice_cdm_flush_pack(words, &(struct pumice_cdm_flush){ .data = true });
	words[0] |= bits;
	put_words(fx, words, PUMICE_CDM_FLUSH_WORDS);
}

void rdmfx_start(struct rdm_fixture *fx)
{
	const struct dm_job job = { .ctx = RDMFX_CTX, .stream = RDMFX_STREAM, .tag = RDMFX_TAG };

	lock(fx);
	assert_true(rdm_start(fx->rdm, &job));
	unlock(fx);
	fx->at = RDMFX_STREAM;
	fx->ended = 0;
}

bool rdmfx_step(struct rdm_fixture *fx)
{
	const _Atomic bool stop = fx->stop;

	if (!fx->awake)
		return false;
	fx->awake = false;
	if (rdm_step(fx->rdm, &stop))
		fx->awake = true;
	assert_false(fx->locked);
	return true;
}

void rdmfx_walk(struct rdm_fixture *fx)
{
	while (rdmfx_step(fx))
		;
}

void rdmfx_run(struct rdm_fixture *fx)
{
	do {
		rdmfx_walk(fx);
	} while (rdmfx_finish(fx, false));
	assert_int_equal(fx->ended, 1);
	assert_false(rdm_status(fx->rdm)->busy);
}

void rdmfx_abort(struct rdm_fixture *fx)
{
	lock(fx);
	rdm_abort(fx->rdm);
	unlock(fx);
}
