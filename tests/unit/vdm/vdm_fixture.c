// SPDX-License-Identifier: MIT
/* Fixture of the tests of the VDM. See vdm_fixture.h. */
#include "vdm_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/pds/state.h"
#include "../../../qemu-device/gpu/ta/ta.h"

#define CANARY		0xbadc0de5u
#define COORDINATE_PDS (FX_PDS + 0x1000)
/* Each vertex reads a word by itself: a task of several is filled in pieces. */
#define READ DMA(V, 2, 1, FX_DATA, 8)
#define READS READ, READ, READ, READ, READ, READ, READ, READ

/* The same program for both stages: its outputs identify the stage of a task. */
static const struct pumice_pds_insn program[] = {
	MOV(V, 0, VERTEX), MOV(V, 1, INSTANCE), READS, READS, TASK, END,
};

#define INSNS (sizeof(program) / sizeof(*program))

struct pm {
	struct vdm_fixture *fx;
};

struct ta {
	struct vdm_fixture *fx;
	unsigned int core;
	bool begun, finishing;
	u32 min_sequence;	/* smallest valid next sequence */
	const struct ta_prim *more;	/* primitives of the next call; NULL: any */
	u32 culled;		/* primitives of the list */
	struct ta_counters counters;
};

static struct pm the_pm;

u32 vdmfx_random(struct vdm_fixture *fx, u32 below)
{
	fx->seed = fx->seed * 1664525 + 1013904223;
	return (u32)((u64)(fx->seed >> 4) * below >> 28);
}

/* PM. */

enum pm_result pm_scene_load_piece(struct pm *pm, u64 addr, unsigned int ctx,
				   struct pm_scene *scene, struct gpu_fault *fault)
{
	assert_false(pm->fx->base->locked);
	assert_int_equal(addr, VDMFX_SCENE);
	assert_int_equal(ctx, FX_CTX);
	*scene = pm->fx->scene;
	*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_PM_SCENE, .unit = PUMICE_UNIT_PM,
				     .addr = addr };
	return pm->fx->scene_bad ? PM_FAULT : PM_OK;
}

enum pm_result pm_scene_begin_piece(struct pm *pm, const struct pm_scene *scene,
				    struct gpu_fault *fault)
{
	(void)scene;
	(void)fault;
	assert_false(pm->fx->base->locked);
	pm->fx->begins++;
	return PM_OK;
}

bool pm_scene_state_read(struct pm *pm, const struct pm_scene *scene, struct pm_scene_state *state,
			 struct gpu_fault *fault)
{
	(void)scene;
	*state = pm->fx->state;
	*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_MMU_PT_INVALID, .unit = PUMICE_UNIT_PM };
	return !pm->fx->state_fails;
}

bool pm_scene_state_write(struct pm *pm, const struct pm_scene *scene,
			  const struct pm_scene_state *state, struct gpu_fault *fault)
{
	(void)scene;
	(void)fault;
	pm->fx->state = *state;
	return true;
}

/* The first piece never completes. */
enum pm_result pm_free_scene_piece(struct pm *pm, const struct pm_scene *scene,
				   enum trace_master dm, struct gpu_fault *fault)
{
	(void)scene;
	assert_int_equal(dm, TRACE_VDM);
	(void)fault;
	assert_false(pm->fx->base->locked);
	if (!(pm->fx->free_pieces++ & 1))
		return PM_MORE;
	pm->fx->frees++;
	pm->fx->list.count = 0;
	return PM_OK;
}

/* TA. */

struct ta *ta_create(const struct ta_config *config)
{
	struct ta *ta = calloc(1, sizeof(*ta));

	ta->fx = config->pm->fx;
	ta->core = config->core;
	ta->fx->ta[ta->core] = ta;
	return ta;
}

void ta_destroy(struct ta *ta)
{
	free(ta);
}

bool ta_begin(struct ta *ta, const struct pm_scene *scene)
{
	assert_false(ta->fx->base->locked);
	assert_int_equal(scene->addr, VDMFX_SCENE);
	ta->begun = true;
	ta->finishing = false;
	ta->min_sequence = 0;
	ta->more = NULL;
	return true;
}

bool ta_is_large(const struct ta *ta)
{
	return ta->fx->large;
}

void ta_trim(struct ta *ta)
{
	assert_false(ta->fx->base->locked);
	assert_false(ta->begun && vdm_status(ta->fx->vdm)->busy);
	ta->fx->trims++;
}

static u32 output(const struct ta_vertices *vertices, u32 v, u32 n)
{
	assert_in_range(v, 0, vertices->count - 1);
	assert_in_range(v, 0, vertices->ready - 1);
	return vertices->wave[v / 32][n * 32 + v % 32];
}

/* Culls by vertex numbers: of points those that are multiples of 3. */
void ta_cull(struct ta *ta, const struct ta_draw *draw, const struct ta_vertices *vertices,
	     const struct ta_prim *prims, u32 first, u32 end, bool *keep)
{
	u32 i;

	(void)draw;
	assert_true(ta->begun);
	assert_int_equal(vertices->vo_words, 4);
	assert_int_equal(first, first ? ta->culled : 0);
	ta->culled = end;
	for (i = first; i < end; i++)
		if ((output(vertices, prims[i].v[0], 0) * 5 + output(vertices, prims[i].v[1], 0) +
		     output(vertices, prims[i].v[2], 0)) % 3 == 0)
			keep[i] = false;
}

/* Return output @n of a vertex, after the first two. */
static u32 further_output(u32 vertex, u32 n)
{
	return vertex * 2654435761u + n;
}

static void check_outputs(const struct ta_vertices *vertices, u32 v)
{
	const u32 vertex = output(vertices, v, 0);
	u32 n;

	/* The task was aborted. */
	if (vertex == CANARY)
		return;
	for (n = 2; n < vertices->vo_words; n++)
		assert_int_equal(output(vertices, v, n), further_output(vertex, n));
}

enum ta_result ta_primitives(struct ta *ta, const struct ta_draw *draw,
			     const struct ta_vertices *vertices, const struct ta_prim *prims,
			     u32 count, u32 *done, struct gpu_fault *fault)
{
	struct vdm_fixture *fx = ta->fx;
	const u32 corners = draw->kind == PUMICE_PRIM_KIND_TRIANGLE ? 3 :
			    draw->kind == PUMICE_PRIM_KIND_LINE ? 2 : 1;

	assert_false(fx->base->locked);
	assert_true(ta->begun);
	/* Whole waves, or all. */
	assert_true(vertices->ready % PUMICE_LANES == 0 || !vertices->more);
	ta->counters.blocks++;
	assert_true(draw->sequence >= ta->min_sequence);
	ta->min_sequence = draw->sequence;
	assert_true(!ta->more || ta->more == prims + *done);
	ta->more = NULL;
	for (; *done < count; ++*done) {
		struct vdmfx_prim *prim = &fx->list.prim[fx->list.count];
		u32 n;

		if (vdmfx_random(fx, 8) == 0) {
			ta->more = prims + *done;
			return TA_MORE;
		}
		if (fx->submitted == fx->fault_at) {
			*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_MMU_READ_ONLY,
						     .unit = PUMICE_UNIT_MTE, .addr = 0x77 };
			return TA_FAULT;
		}
		for (n = 0; n < 3; n++) {
			if (prims[*done].v[n] < vertices->ready)
				continue;
			ta->more = prims + *done;
			return TA_VERTICES;
		}
		if (fx->list.count >= fx->pages)
			return TA_MEMORY;
		fx->submitted++;
		assert_in_range(fx->list.count, 0, VDMFX_PRIMS - 1);
		*prim = (struct vdmfx_prim){ .sequence = draw->sequence, .kind = draw->kind };
		for (n = 0; n < corners; n++) {
			prim->vertex[n] = output(vertices, prims[*done].v[n], 0);
			prim->instance[n] = output(vertices, prims[*done].v[n], 1);
			if (draw->state.deferred)
				assert_int_equal(vertices->number[prims[*done].v[n]],
						 prim->vertex[n]);
			check_outputs(vertices, prims[*done].v[n]);
		}
		fx->list.count++;
	}
	if (vertices->more) {
		ta->more = prims + *done;
		return TA_VERTICES;
	}
	fx->lists++;
	return TA_OK;
}

/* The first piece never completes. */
enum ta_result ta_finish(struct ta *ta, bool *any, struct gpu_fault *fault)
{
	(void)fault;
	assert_false(ta->fx->base->locked);
	assert_true(ta->begun);
	*any = true;
	ta->finishing = !ta->finishing;
	if (ta->finishing)
		return TA_MORE;
	ta->begun = false;
	return TA_OK;
}

const struct ta_counters *ta_counters(const struct ta *ta)
{
	return &ta->counters;
}

void ta_reset_counters(struct ta *ta)
{
	ta->counters = (struct ta_counters){ 0 };
}

/* The VDM's neighbours. */

static void ended(void *opaque, enum dm_end end)
{
	struct vdm_fixture *fx = opaque;

	unsigned int i;

	assert_true(fx->base->locked);
	for (i = 0; end != DM_ABORTED && end != DM_FAULT && i < fx->cores; i++)
		assert_false(fx->ta[i]->finishing);
	fx->ended[end]++;
}

static u64 now(void *opaque)
{
	struct vdm_fixture *fx = opaque;
	const u64 time = fx->clock;

	fx->clock += fx->tick;
	return time;
}

static void lock(void *opaque)
{
	fx_lock(((struct vdm_fixture *)opaque)->base);
}

static void unlock(void *opaque)
{
	struct vdm_fixture *fx = opaque;

	fx_unlock(fx->base);
	if (fx->abort_in && !--fx->abort_in)
		vdmfx_call(fx, vdm_abort);
}

static void wake(void *opaque, unsigned int core)
{
	struct vdm_fixture *fx = opaque;

	assert_in_range(core, 0, fx->cores - 1);
	fx->awake[core] = true;
}

static const struct dm_ops ops = {
	.ended = ended, .now = now, .lock = lock, .unlock = unlock, .wake = wake,
};

static void put_programs(struct vdm_fixture *fx)
{
	struct mmu_tlb tlb = { 0 };
	struct gpu_fault fault;
	u32 i, at;

	for (at = 0; at < 2; at++) {
		for (i = 0; i < INSNS; i++) {
			u8 *host = mmu_translate(&fx->base->mmu, &tlb, FX_CTX,
						 (at ? COORDINATE_PDS : FX_PDS) + i * 16u, 1,
						 PUMICE_ACCESS_READ, PUMICE_UNIT_PDS, &fault);

			assert_non_null(host);
			pumice_pds_pack((u32 *)(void *)host, &program[i]);
		}
	}
}

struct vdm_fixture *vdmfx_create(unsigned int cores)
{
	return vdmfx_create_batch(cores, PUMICE_TASK_INSTANCES);
}

struct vdm_fixture *vdmfx_create_batch(unsigned int cores, unsigned int batch)
{
	return vdmfx_create_sizes(cores, batch, FX_VPM, 1024);
}

static struct vdm_fixture *create(unsigned int cores, unsigned int batch, u32 vpm_bytes, u32 idx,
				  u32 chunks)
{
	const struct fx_stores stores = { .unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON,
					  .local_bytes = FX_LOCAL, .vpm_bytes = vpm_bytes,
					  .batch = batch };
	struct vdm_fixture *fx = calloc(1, sizeof(*fx));
	struct dm_config config = {
		.cores = cores, .uscs_per_core = FX_USCS_PER_CORE,
		.batch = batch, .idx_fifo = idx, .chunk_fifo = chunks, .pm = &the_pm, .ops = &ops,
		.opaque = fx,
	};

	assert_non_null(fx);
	the_pm.fx = fx;
	fx->base = fx_create(cores * FX_USCS_PER_CORE, &stores);
	fx->cores = cores;
	fx->batch = batch;
	fx->seed = 12345;
	fx->tick = 1;
	fx->pages = fx->fault_at = fx->fault_task = UINT32_MAX;
	fx->dependent = UINT32_MAX;
	fx->scene = (struct pm_scene){ .addr = VDMFX_SCENE, .ctx = FX_CTX,
				       .cores = PUMICE_MAX_CORES,
				      .spill = 0x1000 };
	put_programs(fx);
	config.mmu = &fx->base->mmu;
	config.pds = fx->base->pds;
	config.trace = &fx->base->trace.trace;
	fx->vdm = vdm_create(&config);
	assert_non_null(fx->vdm);
	return fx;
}

struct vdm_fixture *vdmfx_create_sizes(unsigned int cores, unsigned int batch, u32 vpm_bytes,
				       u32 idx)
{
	return create(cores, batch, vpm_bytes, idx, 2);
}

struct vdm_fixture *vdmfx_create_fifo(unsigned int cores, u32 chunks)
{
	return create(cores, PUMICE_TASK_INSTANCES, FX_VPM, 1024, chunks);
}

void vdmfx_destroy(struct vdm_fixture *fx)
{
	vdmfx_run(fx);
	vdm_destroy(fx->vdm);
	fx_destroy(fx->base);
	free(fx);
}

struct pumice_vdm_state vdmfx_state(bool coordinate)
{
	struct pumice_vdm_state state = { .varyings = 3, .point_width = 1,
					  .line_width = 1, .provoking_last = true };
	struct pumice_stage stage = { .pds_addr = FX_PDS, .pds_insns = INSNS, .attrs = 3,
				      .temps = 1 };

	pumice_stage_pack(state.vertex, &stage);
	stage.pds_addr = COORDINATE_PDS;
	if (coordinate)
		pumice_stage_pack(state.coordinate, &stage);
	return state;
}

void vdmfx_put(struct vdm_fixture *fx, u64 addr, const u32 *words, u32 count)
{
	memcpy(fx->base->data + (addr - FX_DATA), words, count * sizeof(*words));
}

void vdmfx_put_state(struct vdm_fixture *fx, const struct pumice_vdm_state *state)
{
	u32 words[PUMICE_VDM_STATE_WORDS];

	pumice_vdm_state_pack(words, state);
	vdmfx_put(fx, VDMFX_STATE, words, PUMICE_VDM_STATE_WORDS);
}

void vdmfx_put_points(struct vdm_fixture *fx, u32 count, bool coordinate)
{
	const struct pumice_vdm_state record = vdmfx_state(coordinate);
	u32 words[32], n = 0;

	vdmfx_put_state(fx, &record);
	pumice_vdm_state_cmd_pack(words, &(struct pumice_vdm_state_cmd){ .addr = VDMFX_STATE });
	n += PUMICE_VDM_STATE_CMD_WORDS;
	pumice_vdm_draw_pack(words + n, &(struct pumice_vdm_draw){
		.topology = PUMICE_TOPOLOGY_POINTS, .count = count, .instances = 1 });
	n += PUMICE_VDM_DRAW_WORDS;
	pumice_vdm_halt_pack(words + n, &(struct pumice_vdm_halt){ 0 });
	vdmfx_put(fx, VDMFX_STREAM, words, n + PUMICE_VDM_HALT_WORDS);
}

bool vdmfx_start(struct vdm_fixture *fx, u32 split)
{
	const struct dm_job job = { .ctx = FX_CTX, .stream = VDMFX_STREAM, .scene = VDMFX_SCENE,
				    .tag = VDMFX_TAG, .split = split };
	bool ok;

	memset(fx->ended, 0, sizeof(fx->ended));
	fx->list.count = fx->drawn.count = fx->submitted = 0;
	fx_lock(fx->base);
	ok = vdm_start(fx->vdm, &job);
	fx_unlock(fx->base);
	return ok;
}

/* Outputs of all lanes are zero before a program, and not zero after it. */
static void check_and_dirty_outputs(const struct usc_gfx *gfx, u32 instances)
{
	const u32 words = (instances + PUMICE_LANES - 1) / PUMICE_LANES * gfx->vo_words *
			  PUMICE_LANES;
	u32 i;

	for (i = 0; i < words; i++) {
		assert_int_equal(gfx->vo[i], 0);
		gfx->vo[i] = CANARY;
	}
}

/* Run a task of a USC to its end: outputs, or a fault. */
static void run_task(struct vdm_fixture *fx, struct usc *usc, unsigned int group)
{
	const struct usc_gfx *gfx = usc->group[group].gfx;
	const struct usc_task *task = &usc->task[usc->group[group].slot[0]];
	const bool coordinate = gfx->vo_words == 4;
	u32 i, n;

	if (fx->tasks++ == fx->fault_task)
		fake_usc_fault(usc, group, PUMICE_FAULT_MMU_READ_ONLY);
	assert_true(task->instances <= fx->batch);
	if (!task->instances && fx->sequences < 8)
		fx->submitted_before[fx->sequences] = fx->submitted;
	fx->sequences += !task->instances;
	check_and_dirty_outputs(gfx, task->instances);
	for (i = 0; !usc->aborted && i < task->instances; i++) {
		u32 *vo = gfx->vo + i / 32 * gfx->vo_words * 32 + i % 32;

		vo[0] = fake_usc_attr(usc, group, i, 0);
		vo[32] = fake_usc_attr(usc, group, i, 1);
		assert_true(vo[0] < fx->dependent || fx->sequences >= fx->needs);
		fx->independent += vo[0] >= 1000 && !fx->sequences;
		for (n = 2; n < gfx->vo_words; n++)
			vo[32 * n] = further_output(vo[0], n);
		fx->shaded[coordinate]++;
	}
	if (!coordinate)
		fx->vo_words = gfx->vo_words;
	fake_usc_finish(usc, group);
}

/* Step a random task. Return false if none runs. */
static bool run_some_task(struct vdm_fixture *fx)
{
	const u32 uscs = fx->base->uscs, first = vdmfx_random(fx, uscs);
	u32 i;

	for (i = 0; i < uscs; i++) {
		struct usc *usc = fx->base->usc[(first + i) % uscs];
		unsigned int group = fake_usc_oldest(usc);

		if (group == FAKE_NONE)
			continue;
		run_task(fx, usc, group);
		return true;
	}
	return false;
}

/* Run the running task with the lowest or the highest number to its end. */
static bool end_task(struct vdm_fixture *fx, bool newest)
{
	struct usc *best = NULL;
	unsigned int group = 0, n;
	u32 i;

	for (i = 0; i < fx->base->uscs; i++) {
		struct usc *usc = fx->base->usc[i];

		for (n = 0; n < PUMICE_USC_TASKS; n++) {
			if (!fake_usc_running(usc, n) ||
			    (best && (usc->start_order[n] > best->start_order[group]) != newest))
				continue;
			best = usc;
			group = n;
		}
	}
	if (best)
		run_task(fx, best, group);
	return best;
}

bool vdmfx_end_oldest(struct vdm_fixture *fx)
{
	return end_task(fx, false);
}

bool vdmfx_end_newest(struct vdm_fixture *fx)
{
	return end_task(fx, true);
}

/* Overwrite rows of small VPMs that are not allocated: a read of one returns other numbers. */
static void overwrite_free_rows(struct vdm_fixture *fx)
{
	u32 i;

	for (i = 0; i < fx->cores; i++) {
		const struct vpm *vpm = &fx->base->pds->core[i].vpm;
		u64 at;

		for (at = vpm->head; vpm->rows < 256 && at < vpm->tail + vpm->rows; at++)
			memset(vpm_row(vpm, at), 0x55, VPM_ROW_BYTES);
	}
}

bool vdmfx_step(struct vdm_fixture *fx)
{
	const u32 first = vdmfx_random(fx, fx->cores);
	/* Steps end when the GPU is parked, between any two pieces. */
	const _Atomic bool stop = fx->stop || vdmfx_random(fx, 2);
	u32 i;

	if (vdmfx_random(fx, 3) == 0 && run_some_task(fx))
		return true;
	for (i = 0; i < fx->cores; i++) {
		const u32 core = (first + i) % fx->cores;

		if (!fx->awake[core])
			continue;
		fx->awake[core] = false;
		if (vdm_core_step(fx->vdm, core, &stop))
			fx->awake[core] = true;
		assert_false(fx->base->locked);
		overwrite_free_rows(fx);
		return true;
	}
	return run_some_task(fx);
}

void vdmfx_run(struct vdm_fixture *fx)
{
	while (vdmfx_step(fx))
		;
}

void vdmfx_render(struct vdm_fixture *fx)
{
	const u32 limit = fx->state.limit ? fx->state.limit : UINT32_MAX;
	u32 n, sequence = 0;

	assert_true(fx->state.valid);
	/* Sequence by sequence, each in its own order. */
	while (sequence < limit) {
		u32 next = UINT32_MAX;

		for (n = 0; n < fx->list.count; n++) {
			const struct vdmfx_prim *prim = &fx->list.prim[n];

			if (prim->sequence == sequence)
				fx->drawn.prim[fx->drawn.count++] = *prim;
			else if (prim->sequence > sequence && prim->sequence < next)
				next = prim->sequence;
		}
		sequence = next;
		if (next == UINT32_MAX)
			break;
	}
	fx->list.count = 0;
	fx->state.valid = false;
	fx->state.used = 0;
	fx->state.spilled = true;
	fx->state.partials++;
}

void vdmfx_call(struct vdm_fixture *fx, void (*call)(struct vdm *vdm))
{
	fx_lock(fx->base);
	call(fx->vdm);
	fx_unlock(fx->base);
}

const struct gpu_fault *vdmfx_fault(const struct vdm_fixture *fx)
{
	return &vdm_status(fx->vdm)->fault;
}
