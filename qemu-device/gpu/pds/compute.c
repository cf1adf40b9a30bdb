// SPDX-License-Identifier: MIT
/*
 * PDS: the source of compute of a core, which claims room for work-groups of the CDM on the core's
 * USCs, fills their registers, and starts them.
 *
 * Source: document 000, "Programmable Data Sequencer": requests of the data masters are handled in
 * parallel; document 004, "PDS": one in a core.
 *
 * The USC of the core with the fewest waves gets the next group, round robin among equals; one that
 * other data masters hold only as core.c describes. Small groups claim room several at a time,
 * PDS_BATCH.
 *
 * Locking: the source of a core belongs to the thread that steps it. It takes the core's lock to
 * claim and to start, and none to fill; never the device lock.
 */
#include <assert.h>
#include <string.h>

#include "../number.h"
#include "fill.h"
#include "state.h"

u64 pds_started(const struct pds *pds)
{
	u64 started = 0;
	unsigned int i;

	for (i = 0; i < pds->cores; i++)
		started += atomic_load(&pds->core[i].compute.started);
	return started;
}

void pds_compute_reset(struct pds_compute *compute)
{
	compute->claimed = compute->filled = 0;
	compute->next = 0;
	compute->task = compute->pc = 0;
	atomic_store(&compute->started, 0);
	mmu_tlb_reset(&compute->tlb);
}

u32 pds_core_waves(const struct pds *pds, unsigned int number)
{
	const struct pds_core *core = &pds->core[number];
	u32 waves = 0;
	unsigned int i;

	for (i = core->first; i < core->first + core->uscs; i++)
		waves += atomic_load_explicit(&pds->unit[i].load, memory_order_relaxed);
	return waves;
}

/* ------------------------------------------------------------ claim */

u32 pds_groups_claim(struct pds *pds, unsigned int number, u32 most)
{
	const struct current *cur = &pds->current;
	struct pds_core *core = pds_lock_core(pds, number);
	struct pds_compute *compute = &core->compute;
	struct pds_place *place = compute->place;

	assert(!compute->claimed);
	most = min_u32(most, cur->batch);
	for (; compute->claimed < most; compute->claimed++, place++) {
		if (!pds_core_claim_any(core, &cur->need, compute->next, place))
			break;
		compute->next = place->usc - core->first + 1;
	}
	if (!compute->claimed)
		pds_core_start_waiting(core, &cur->need, cur->launch.ctx);
	pds_unlock_core(core);
	compute->filled = 0;
	compute->task = compute->pc = 0;
	return compute->claimed;
}

void pds_groups_leave(struct pds *pds, unsigned int number)
{
	struct pds_core *core = pds_lock_core(pds, number);

	if (core->dms.waiting[PDS_DM_CDM])
		pds_core_leave(core, PDS_DM_CDM);
	pds_unlock_core(core);
}

/* ------------------------------------------------------------ fill */

/* Describe a group to its USC, and note what its end needs. */
static void describe(struct pds *pds, const struct pds_place *place, const u32 id[3], u64 linear)
{
	const struct current *cur = &pds->current;
	const struct pds_need *need = &cur->need;
	struct unit *unit = &pds->unit[place->usc];
	const struct pds_claim *claim = &unit->accounts.claim[place->group];
	struct usc_group *group = usc_group(pds->config.usc[place->usc], place->group);
	u32 i;

	unit->code[place->group] = cur->code;
	unit->linear[place->group] = linear;
	memcpy(unit->id[place->group], id, sizeof(unit->id[place->group]));
	unit->sequences[place->group] = cur->launch.sequences;
	group->tasks = (u8)need->tasks;
	group->ctx = (u8)cur->launch.ctx;
	group->waves = (u16)need->waves;
	group->first_wave = (u32)linear * need->waves;
	group->local_byte = claim->local_row * PDS_LOCAL_ROW_BYTES;
	group->local_bytes = (u32)cur->launch.state.local_bytes;
	group->code_addr = cur->program.insn[cur->program.task].addr;
	group->program = cur->usc_program;
	group->gfx = NULL;
	for (i = 0; i < need->tasks; i++) {
		*pds_task_of(pds, place, i) = (struct usc_task){
			.group = (u8)place->group,
			.index = (u8)i,
			.waves = (u8)pds_task_waves(need, i),
			.temps = cur->launch.state.temps,
			.attrs = cur->launch.state.attrs,
			.instances = (u16)pds_task_instances(need, i),
			.shared = cur->launch.state.shared,
			.coeffs = cur->launch.state.coeffs,
			.coeffs_alt = cur->launch.state.coeffs_alt,
			.us_row = claim->row[i],
			.cs_word = claim->word[i],
		};
	}
}

/* Run the PDS program for the tasks of a group, all of it or a piece. */
static enum pds_result run_programs(struct pds *pds, struct pds_core *core, const u32 id[3],
				    struct gpu_fault *fault)
{
	const struct current *cur = &pds->current;
	struct pds_compute *compute = &core->compute;
	const struct pds_place *place = &compute->place[compute->filled];
	const u32 reads = cur->slow ? PDS_PIECE_READS : PDS_WHOLE;
	const struct pds_run run = {
		.launch = &cur->launch,
		.local = &cur->local,
		.program = &cur->program,
		.id = id,
		.mmu = pds->config.mmu,
		.tlb = &compute->tlb,
		.dma_bytes = &core->dma_bytes,
	};

	compute->tlb.usc = place->usc;
	while (compute->task < cur->need.tasks) {
		if (!pds_run_task(&run, pds->config.usc[place->usc],
				  pds_task_of(pds, place, compute->task), reads, &compute->pc,
				  fault))
			return PDS_FAULT;
		if (compute->pc == cur->program.insns) {
			compute->task++;
			compute->pc = 0;
		}
		if (reads != PDS_WHOLE && compute->task < cur->need.tasks)
			return PDS_MORE;
	}
	return PDS_STARTED;
}

enum pds_result pds_group_fill(struct pds *pds, unsigned int number, const u32 id[3], u64 linear,
			       struct gpu_fault *fault)
{
	struct pds_core *core = &pds->core[number];
	struct pds_compute *compute = &core->compute;
	enum pds_result result;

	assert(compute->filled < compute->claimed);
	if (!compute->task && !compute->pc)
		describe(pds, &compute->place[compute->filled], id, linear);
	result = run_programs(pds, core, id, fault);
	if (result == PDS_STARTED) {
		compute->filled++;
		compute->task = compute->pc = 0;
	}
	return result;
}

/* ------------------------------------------------------------ start */

/*
 * Count a filled group, which is started next: it may end at once on another thread. Only the
 * source of its core stores the number.
 */
static void count_start(struct pds *pds, struct pds_core *core, const struct pds_place *place)
{
	atomic_store(&core->compute.started,
		     atomic_load_explicit(&core->compute.started, memory_order_relaxed) + 1);
	trace_event(pds->config.trace, PUMICE_TRACE_KIND_GROUP_START, TRACE_CDM,
		    pds->current.launch.ctx, place->usc,
		    pds->unit[place->usc].linear[place->group], pds->current.need.waves);
}

void pds_start_resolved(struct pds *pds, u64 time)
{
	struct pds_place place;

	while (pds_order_resolve(&pds->order, &place)) {
		struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, place.usc));

		pds_core_start(core, &place, PDS_DM_CDM, time);
		pds_unlock_core(core);
	}
}

/*
 * A group without instances, which alone is filled, waits for those before it, if any of them is
 * left; no other source starts any. Under the lock its epoch is set before another thread can start
 * it.
 */
static void hold_group(struct pds *pds, struct pds_core *core, u64 time)
{
	const struct pds_place *place = core->compute.place;
	const u64 before = pds_started(pds);

	pds->sequences++;
	count_start(pds, core, place);
	pthread_mutex_lock(&pds->order.lock);
	pds->unit[place->usc].epoch[place->group] = pds_order_hold(&pds->order, place, before);
	pds_start_resolved(pds, time);
	pthread_mutex_unlock(&pds->order.lock);
}

/* Start the first groups of those that have room, and drop the others. */
static void start_groups(struct pds *pds, struct pds_core *core, u32 count, u64 time)
{
	struct pds_compute *compute = &core->compute;
	u32 i;

	pthread_mutex_lock(&core->lock);
	for (i = 0; i < compute->claimed; i++) {
		const struct pds_place *place = &compute->place[i];

		if (i >= count) {
			pds_core_drop(core, place);
			continue;
		}
		count_start(pds, core, place);
		pds->unit[place->usc].epoch[place->group] = pds_order_epoch(&pds->order);
		pds_core_start(core, place, PDS_DM_CDM, time);
	}
	pds_unlock_core(core);
	compute->claimed = compute->filled = 0;
	compute->task = compute->pc = 0;
}

u32 pds_groups_start(struct pds *pds, unsigned int number)
{
	struct pds_core *core = &pds->core[number];
	const u64 time = pds->config.now(pds->config.opaque);
	const u32 started = core->compute.filled;

	if (pds->current.launch.sequences && started) {
		hold_group(pds, core, time);
		core->compute.claimed = core->compute.filled = 0;
	} else {
		start_groups(pds, core, started, time);
	}
	return started;
}

void pds_groups_drop(struct pds *pds, unsigned int number)
{
	start_groups(pds, &pds->core[number], 0, 0);
}
