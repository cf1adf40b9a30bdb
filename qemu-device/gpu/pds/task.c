// SPDX-License-Identifier: MIT
/*
 * PDS: tasks of the vertex, the pixel and the ray-tracing data master.
 *
 * Source: document 004, "PDS" and "DMS". A task is a group of its own, on the USC of its core
 * that has the fewest waves, of those that no other data masters hold; round robin among equals.
 *
 * Tasks of a core take the core's lock for their claim, start and end, not the device lock.
 */
#include "../number.h"
#include "outputs.h"
#include "state.h"

_Static_assert(PUMICE_TASK_INSTANCES <= UINT16_MAX, "struct usc_task");

/*
 * One task's coefficients are counted in u16 of struct usc_task, its primitives in usc_span.prim.
 */
#define MAX_COEFFS	UINT16_MAX
#define MAX_PRIMS	(PUMICE_TASK_INSTANCES / USC_SPAN_LANES)	/* each has at least
									 * one span */

void pds_set_task_ops(struct pds *pds, enum pds_dm dm, const struct pds_task_ops *ops,
		      void *opaque)
{
	pds->owner[dm] = (struct pds_task_owner){ .ops = ops, .opaque = opaque };
}

/* Return the number of coefficient registers of one primitive, of both sets. */
static u32 coeffs_of_prim(const struct pds_stage *stage)
{
	return (u32)stage->state.coeffs + stage->state.coeffs_alt;
}

u32 pds_stage_max_prims(const struct pds *pds, const struct pds_stage *stage)
{
	const struct pds_capacity capacity = pds_capacity_for_tile(pds, stage->tile_words);
	const u32 coeffs = coeffs_of_prim(stage);
	u32 words, prims;

	if (!coeffs)
		return MAX_PRIMS;
	words = capacity.words - stage->state.shared;
	words = min_u32(words, MAX_COEFFS);
	prims = words / coeffs;
	return min_u32(prims, MAX_PRIMS);
}

/* Describe a claimed task to its USC. */
static void describe(struct pds *pds, const struct pds_place *place, const struct pds_stage *stage)
{
	const struct pds_claim *claim = &pds->unit[place->usc].accounts.claim[place->group];
	const struct pds_need *need = &claim->need;
	struct usc_group *group = usc_group(pds->config.usc[place->usc], place->group);
	const u32 words = need->words - stage->state.shared, each = coeffs_of_prim(stage);
	const u32 prims = each ? words / each : 0;

	group->tasks = 1;
	group->ctx = (u8)stage->ctx;
	group->waves = (u16)need->waves;
	group->first_wave = 0;
	group->local_byte = claim->local_row * PDS_LOCAL_ROW_BYTES;
	group->local_bytes = 0;
	group->code_addr = stage->code_addr;
	group->program = stage->code;
	*pds_task_of(pds, place, 0) = (struct usc_task){
		.group = (u8)place->group,
		.waves = (u8)need->waves,
		.temps = stage->state.temps,
		.attrs = stage->state.attrs,
		.instances = (u16)need->instances,
		.shared = stage->state.shared,
		.coeffs = (u16)(stage->state.coeffs * prims),
		.coeffs_alt = (u16)(stage->state.coeffs_alt * prims),
		.us_row = claim->row[0],
		.cs_word = claim->word[0],
	};
}

/* ------------------------------------------------------------ vertex pipe memory */

struct pds_piece_limits pds_piece_limits(const struct pds *pds, u32 vo_words)
{
	/* A task of half a wave has rows of whole ones. */
	const u32 unit = min_u32(pds->config.batch, PUMICE_LANES);
	const u32 units = pds->core[0].vpm.rows / 2 / max_u32(vo_words, 1);
	u32 task = pds->config.batch / unit;

	/* One unit more for copies, which begin a wave; a task's rows may be skipped at the end. */
	if (units < 3)
		return (struct pds_piece_limits){ 0 };
	task = min_u32(task, (units - 1) / 2);
	return (struct pds_piece_limits){
		.vertices = (units - 1 - task) * unit, .task = task * unit,
	};
}

void pds_core_start_waiting(struct pds_core *core, const struct pds_need *need, unsigned int ctx)
{
	const enum pds_dm dm = (enum pds_dm)need->dm;
	const struct pds *pds = core->pds;

	if (!pds_core_wait(core, need))
		return;
	core->waited[dm]++;
	core->wanted_since[dm][need->waiter] = pds->config.now(pds->config.opaque);
	core->vpm.waits += !pds_rows_suffice(core, need);
	trace_event(pds->config.trace, PUMICE_TRACE_KIND_STALL, pds_trace_master(dm), ctx,
		    core->first, pds_core_all_tasks(core), 0);
}

enum pds_result pds_vpm_claim(struct pds *pds, unsigned int number, u32 rows, unsigned int ctx,
			      u64 *at)
{
	const struct pds_need need = { .dm = PDS_DM_VDM, .vpm_rows = rows };
	struct pds_core *core = pds_lock_core(pds, number);
	const struct pds_admitted before = pds_core_admitted(core);
	const bool claimed = vpm_alloc(&core->vpm, rows, pds->config.now(pds->config.opaque), at);

	if (claimed)
		pds_core_end_wait(core, PDS_DM_VDM, &before);
	else
		pds_core_start_waiting(core, &need, ctx);
	pds_unlock_core(core);
	return claimed ? PDS_STARTED : PDS_WAIT;
}

void pds_vpm_undo(struct pds *pds, unsigned int number, u64 at)
{
	struct pds_core *core = pds_lock_core(pds, number);

	vpm_undo(&core->vpm, at, pds->config.now(pds->config.opaque));
	pds_core_room(core);
	pds_unlock_core(core);
}

void pds_vpm_free(struct pds *pds, unsigned int number, u64 end)
{
	struct pds_core *core = pds_lock_core(pds, number);

	vpm_free(&core->vpm, end, pds->config.now(pds->config.opaque));
	pds_core_room(core);
	pds_unlock_core(core);
}

u32 *pds_vpm_row(const struct pds *pds, unsigned int core, u64 at)
{
	return vpm_row(&pds->core[core].vpm, at);
}

/* ------------------------------------------------------------ tasks */

/* Claim room on a core. Core's lock held. */
static bool claim_on_core(struct pds_core *core, const struct pds_need *need,
			  struct pds_place *place)
{
	if (!pds_core_claim_any(core, need, core->next, place))
		return false;
	core->next = (u8)((place->usc - core->first + 1) % core->uscs);
	return true;
}

/* Claim the needs of a task of a stage on a core. */
static enum pds_result claim(struct pds *pds, unsigned int core, const struct pds_stage *stage,
			     struct pds_need need, struct pds_place *place,
			     struct gpu_fault *fault)
{
	const struct pds_capacity capacity = pds_capacity_for_tile(pds, stage->tile_words);
	struct pds_core *locked;
	bool claimed;

	need.vpm_rows = need.waves * stage->vo_words;
	if (!pds_need_fits(&need, &capacity) || !pds_rows_could_fit(&pds->core[core], &need) ||
	    need.words - stage->state.shared > MAX_COEFFS) {
		*fault = (struct gpu_fault){
			.fault = PUMICE_FAULT_PDS_RESOURCE, .unit = PUMICE_UNIT_PDS,
			.ctx = (u8)stage->ctx, .addr = stage->state.pds_addr,
		};
		return PDS_FAULT;
	}
	locked = pds_lock_core(pds, core);
	claimed = claim_on_core(locked, &need, place);
	if (!claimed)
		pds_core_start_waiting(locked, &need, stage->ctx);
	pds_unlock_core(locked);
	if (!claimed)
		return PDS_WAIT;
	describe(pds, place, stage);
	return PDS_STARTED;
}

enum pds_result pds_task_claim(struct pds *pds, enum pds_dm dm, unsigned int core,
			       const struct pds_stage *stage, u32 instances, u32 prims,
			       struct pds_place *place, struct gpu_fault *fault)
{
	struct pds_need need;

	pds_need_of_stage(&stage->state, dm, instances, prims, &need);
	return claim(pds, core, stage, need, place, fault);
}

enum pds_result pds_tile_task_claim(struct pds *pds, const struct pds_outputs *outputs,
				    const struct pds_stage *stage, u32 instances, u32 prims,
				    struct pds_place *place, struct gpu_fault *fault)
{
	const unsigned int core = pds_core_of(pds, outputs->usc);
	struct pds_need need;

	pds_need_of_stage(&stage->state, PDS_DM_PDM, instances, prims, &need);
	need.waiter = outputs->tile;
	if (pds->capacity.partition)
		need.on = (u8)(outputs->usc - pds->core[core].first + 1);
	return claim(pds, core, stage, need, place, fault);
}

void pds_task_drop(struct pds *pds, const struct pds_place *place)
{
	const struct pds_need *need = &pds->unit[place->usc].accounts.claim[place->group].need;
	struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, place->usc));

	pds_rows_drop(core, need, place);
	pds_core_drop(core, place);
	pds_unlock_core(core);
}

void pds_task_leave(struct pds *pds, enum pds_dm dm, unsigned int number)
{
	struct pds_core *core = pds_lock_core(pds, number);

	pds_core_leave(core, dm);
	pds_unlock_core(core);
}

static struct trace_item task_item(const struct pds *pds, enum pumice_trace_phase phase,
				   unsigned int usc, unsigned int group)
{
	const struct pds_need *need = &pds->unit[usc].accounts.claim[group].need;

	return (struct trace_item){
		.kind = PUMICE_TRACE_KIND_TASK, .phase = (u8)phase,
		.dm = (u8)pds_trace_master((enum pds_dm)need->dm),
		.usc = (u8)usc, .ctx = usc_group(pds->config.usc[usc], group)->ctx,
		.arg0 = group, .arg1 = need->waves,
	};
}

void pds_task_trace_begin(struct pds *pds, const struct pds_place *place)
{
	const u64 on = trace_on(pds->config.trace, PUMICE_TRACE_KIND_TASK);
	struct trace_item item;

	if (!on)
		return;
	item = task_item(pds, PUMICE_TRACE_PHASE_BEGIN, place->usc, place->group);
	pds->unit[place->usc].span[place->group] = trace_write_begin(pds->config.trace, on, &item);
}

static void trace_task_end(struct pds *pds, unsigned int usc, unsigned int group)
{
	struct unit *unit = &pds->unit[usc];
	const bool stopped = pds_was_stopped(unit, group);

	if (unit->span[group])
		trace_span_end(pds->config.trace, &unit->span[group],
			       task_item(pds, stopped ? PUMICE_TRACE_PHASE_CANCEL :
							PUMICE_TRACE_PHASE_END, usc, group));
}

void pds_task_start(struct pds *pds, enum pds_dm dm, const struct pds_place *place,
		    const struct usc_gfx *gfx)
{
	struct usc *usc = pds->config.usc[place->usc];
	struct pds_core *core;

	usc_group(usc, place->group)->gfx = gfx;
	pds->unit[place->usc].gfx[place->group] = gfx;
	pds->unit[place->usc].span[place->group] = 0;
	core = pds_lock_core(pds, pds_core_of(pds, place->usc));
	pds_core_start(core, place, dm, pds->config.now(pds->config.opaque));
	pds_unlock_core(core);
}

void pds_task_ended(struct pds *pds, unsigned int usc, unsigned int group)
{
	const struct unit *unit = &pds->unit[usc];
	const struct pds_task_owner *owner = &pds->owner[unit->accounts.claim[group].need.dm];
	const struct pds_place place = { .usc = usc, .group = group };
	const struct usc_gfx *gfx = unit->gfx[group];
	struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, usc));
	u64 now;

	trace_task_end(pds, usc, group);
	pds_trace_tag(pds, &place);
	now = pds->config.now(pds->config.opaque);
	pds_core_end(core, &place, now);
	pds_core_ended(core, usc, now);
	pds_unlock_core(core);
	owner->ops->task_done(owner->opaque, core->number, gfx);
}

void pds_task_faulted(struct pds *pds, unsigned int group, const struct gpu_fault *fault)
{
	const struct unit *unit = &pds->unit[fault->usc];
	const struct pds_task_owner *owner = &pds->owner[unit->accounts.claim[group].need.dm];

	owner->ops->task_fault(owner->opaque, pds_core_of(pds, fault->usc),
			       unit->gfx[group], fault);
}

void pds_dm_abort(struct pds *pds, enum pds_dm dm)
{
	unsigned int i;

	for (i = 0; i < pds->cores; i++) {
		struct pds_core *core = pds_lock_core(pds, i);

		pds_core_leave(core, dm);
		pds_core_stop(core, dm);
		pds_unlock_core(core);
	}
}
