// SPDX-License-Identifier: MIT
/*
 * Programmable data sequencer: launches, and ends of groups. Groups are claimed, filled and started
 * by the source of compute of each core: compute.c.
 *
 * Source: document 000, "Programmable Data Sequencer". state.h lists the files of the PDS.
 *
 * The resources of a task are released when it ends, and local memory with its group; or, in order,
 * those of a group when it and those before it on its USC have ended. Fences and the end of a job
 * wait for groups, not for releases: the end of the last group releases the last resources.
 */
#include "pds.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"
#include "state.h"

#define COST_WORDS 4096u	/* words that PDS programs of an ordinary group write at most */
#define COST_CLEARED 4u		/* words cleared in the time to write one */
#define COST_READS 8u		/* memory reads of an ordinary group at most */
#define FAST_COST 8u		/* groups up to this cost are filled in one piece, */
#define QUICK_COST 1u		/* and up to this one, several claim room together */

struct pds *pds_create(const struct pds_config *config)
{
	struct pds *pds;

	if (!config->uscs || config->uscs > PDS_MAX_USCS || !config->uscs_per_core)
		return NULL;
	pds = calloc(1, sizeof(*pds));
	if (!pds)
		return NULL;
	pds->config = *config;
	pds_order_init(&pds->order);
	pds->capacity = (struct pds_capacity){
		.managed = config->tasks,
		.tasks = config->slots,
		.waves = config->waves,
		.rows = config->unified_bytes / PDS_UNIFIED_ROW_BYTES,
		.words = config->common_bytes / (u32)sizeof(u32),
		.local_rows = config->local_bytes / PDS_LOCAL_ROW_BYTES,
		.partition = config->outputs == PUMICE_OUTPUT_STORE_PARTITION,
	};
	/*
	 * Every task of a USC can belong to a group of another launch; one more for the launch
	 * being dispatched.
	 */
	if (!pds_cores_create(pds) ||
	    !pds_code_init(&pds->codes, config->programs, config->uscs * PUMICE_USC_TASKS + 1)) {
		pds_destroy(pds);
		return NULL;
	}
	pds_reset(pds);
	return pds;
}

void pds_destroy(struct pds *pds)
{
	if (!pds)
		return;
	usc_load_drop(pds->config.programs, pds->current.load);
	pds_code_fini(&pds->codes);
	pds_order_fini(&pds->order);
	pds_cores_destroy(pds);
	free(pds);
}

void pds_reset(struct pds *pds)
{
	unsigned int i;

	pds->control = (struct pds_control){ .out_of_order = true };
	pds_code_reset(&pds->codes);
	for (i = 0; i < pds->cores; i++)
		pds_core_reset(&pds->core[i], &pds->control);
	usc_load_drop(pds->config.programs, pds->current.load);
	memset(&pds->current, 0, sizeof(pds->current));
	mmu_tlb_reset(&pds->tlb);
	pds_order_reset(&pds->order);
	pds->sequences = 0;
	atomic_store(&pds->done, 0);
	atomic_store(&pds->sequenced, 0);
	atomic_store(&pds->tasks, 0);
	atomic_store(&pds->peak_tasks, 0);
	atomic_store(&pds->output_bytes, 0);
	atomic_store(&pds->peak_output_bytes, 0);
}

static u64 now(const struct pds *pds)
{
	return pds->config.now(pds->config.opaque);
}

/* Return whether the state's resources are within the maximum and a group fits on an empty USC. */
static bool resources_suffice(const struct pds *pds, const struct pumice_cdm_state *state,
			      const struct pds_need *need)
{
	return state->temps <= PUMICE_USC_MAX_TEMPS && state->attrs <= PUMICE_USC_MAX_ATTRS &&
	       state->shared <= PUMICE_USC_MAX_SHARED && state->coeffs <= PUMICE_USC_MAX_COEFFS &&
	       state->coeffs_alt <= PUMICE_USC_MAX_COEFFS_ALT &&
	       pds_need_fits(need, &pds->capacity);
}

/* Fetch a piece of the USC program of the launch's task instruction. No lock. */
static enum pds_load_result load_code(struct pds *pds, struct usc_program **program,
				      struct gpu_fault *fault)
{
	struct current *cur = &pds->current;
	const struct pumice_cdm_state *state = &cur->launch.state;
	const struct pumice_pds_insn *task = &cur->program.insn[cur->program.task];
	const struct usc_program_limits limits = {
		.temps = state->temps, .attrs = state->attrs, .shared = state->shared,
		.coeffs = state->coeffs, .coeffs_alt = state->coeffs_alt,
		.slot_regs = pds->config.slot_regs,
	};

	*fault = (struct gpu_fault){ 0 };
	return pds_load_result_of(usc_program_load(pds->config.programs, pds->config.mmu,
						   &pds->tlb, cur->launch.ctx, task->addr,
						   task->insns, &limits, &cur->load, program,
						   fault));
}

static unsigned int launch_cost(const struct current *cur)
{
	const struct pumice_cdm_state *state = &cur->launch.state;
	u64 words = 0, cleared = 0, reads = 0, cost;
	u32 task;

	for (task = 0; task < cur->need.tasks; task++) {
		const u32 instances = pds_task_instances(&cur->need, task);

		/* All registers are cleared, also those that the program writes. */
		cleared += state->shared + state->coeffs + state->coeffs_alt +
			   state->attrs * pds_task_waves(&cur->need, task) * USC_ROW_WORDS;
		words += pds_program_words(&cur->program, instances);
		reads += pds_program_reads(&cur->program, instances);
	}
	words += cleared / COST_CLEARED;
	cost = words / COST_WORDS + reads / COST_READS + 1;
	return cost > UINT_MAX ? UINT_MAX : (unsigned int)cost;
}

/* Return the source of the PDS program of a launch as it is now: before its words are fetched. */
static struct pds_source source_of(const struct pds *pds)
{
	const struct current *cur = &pds->current;
	const struct pumice_cdm_state *state = &cur->launch.state;

	return (struct pds_source){
		.addr = state->pds_addr, .ctx = cur->launch.ctx, .insns = state->pds_insns,
		.gen = mmu_generation(pds->config.mmu, cur->launch.ctx),
		.code = mmu_code_count(pds->config.mmu, cur->launch.ctx),
		.limits = {
			.shared = state->shared, .coeffs = state->coeffs, .attrs = state->attrs,
			.coeffs_alt = state->coeffs_alt, .instances = cur->need.instances,
		},
	};
}

/* Compare the limits that a launch sets. */
static bool are_same_limits(const struct pds_program_limits *a, const struct pds_program_limits *b)
{
	return a->shared == b->shared && a->coeffs == b->coeffs && a->attrs == b->attrs &&
	       a->coeffs_alt == b->coeffs_alt && a->instances == b->instances;
}

static bool is_same_source(const struct pds_source *a, const struct pds_source *b)
{
	return a->addr == b->addr && a->gen == b->gen && a->code == b->code && a->ctx == b->ctx &&
	       a->insns == b->insns && are_same_limits(&a->limits, &b->limits);
}

/* Fetch and check the PDS program of a launch, unless it is that of the last one; no lock. */
static bool load_pds_program(struct pds *pds, struct gpu_fault *fault)
{
	struct current *cur = &pds->current;
	const struct pds_source source = source_of(pds);
	const bool fast = !mmu_is_detailed(pds->config.mmu);

	if (fast && cur->source.insns && is_same_source(&cur->source, &source))
		return true;
	cur->source.insns = 0;
	if (!pds_program_load(&cur->program, pds->config.mmu, &pds->tlb, source.ctx, source.addr,
			      source.insns, &source.limits, fault))
		return false;
	if (fast)
		cur->source = source;
	return true;
}

static enum pds_load_result load_piece(struct pds *pds, struct usc_program **program,
				       struct gpu_fault *fault)
{
	if (!pds->current.loading && !load_pds_program(pds, fault))
		return PDS_LOAD_FAULT;
	pds->current.loading = true;
	return load_code(pds, program, fault);
}

/* Set the launch, and the needs of its groups. */
static void set_launch(struct current *cur, const struct pds_launch *launch)
{
	cur->launch = *launch;
	if (launch->sequences) {	/* nothing but its shared and coefficient registers */
		cur->launch.state.size_x = 0;
		cur->launch.state.local_bytes = 0;
	}
	pds_need_of(&cur->launch.state, &cur->need);
}

enum pds_load_result pds_launch_begin(struct pds *pds, const struct pds_launch *launch,
				      struct gpu_fault *fault)
{
	struct current *cur = &pds->current;
	const struct pumice_cdm_state *state = &cur->launch.state;
	enum pds_load_result result;
	struct usc_program *program;

	assert(!cur->begun);
	if (!cur->loading) {
		set_launch(cur, launch);
		if (!resources_suffice(pds, state, &cur->need)) {
			*fault = (struct gpu_fault){
				.fault = PUMICE_FAULT_PDS_RESOURCE, .unit = PUMICE_UNIT_PDS,
				.ctx = (u8)launch->ctx, .addr = state->pds_addr,
			};
			return PDS_LOAD_FAULT;
		}
	}
	pds->config.unlock(pds->config.opaque);
	result = load_piece(pds, &program, fault);
	pds->config.lock(pds->config.opaque);
	if (result == PDS_LOAD_FAULT)
		cur->loading = false;
	if (result != PDS_LOADED)
		return result;
	cur->loading = false;
	cur->code = pds_code_add(&pds->codes, program);
	cur->usc_program = program;
	pds_number_instances(state, &cur->local);
	cur->cost = launch_cost(cur);
	cur->slow = cur->cost > FAST_COST;
	cur->batch = cur->cost <= QUICK_COST ? PDS_BATCH : 1;
	cur->before = pds_started(pds);
	cur->begun = true;
	return PDS_LOADED;
}

unsigned int pds_launch_cost(const struct pds *pds)
{
	return pds->current.cost;
}

u32 pds_launch_waves(const struct pds *pds)
{
	return pds->current.need.waves;
}

void pds_launch_end(struct pds *pds)
{
	struct current *cur = &pds->current;
	unsigned int i;

	assert(cur->begun || cur->loading);
	for (i = 0; cur->begun && i < pds->cores; i++)
		pds_groups_leave(pds, i);
	if (cur->begun)
		pds_code_end_launch(&pds->codes, cur->code, pds_started(pds) - cur->before);
	usc_load_drop(pds->config.programs, cur->load);
	cur->load = NULL;
	cur->begun = cur->loading = false;
}

void pds_abort(struct pds *pds)
{
	struct pds_place place;
	unsigned int i;

	/*
	 * Pending groups: later they would wait for slots that other data masters hold. Once ready,
	 * they would get slots of tasks that end. Those that an end of a group removes at the same
	 * time are on their cores when the lock is released.
	 */
	pthread_mutex_lock(&pds->order.lock);
	while (pds_order_cancel(&pds->order, &place)) {
		struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, place.usc));

		pds_core_ready(core, &place, PDS_DM_CDM, now(pds));
		pds_core_stop(core, PDS_DM_CDM);
		pds_unlock_core(core);
	}
	pthread_mutex_unlock(&pds->order.lock);
	for (i = 0; i < pds->cores; i++) {
		struct pds_core *core = pds_lock_core(pds, i);

		pds_core_stop(core, PDS_DM_CDM);
		pds_unlock_core(core);
	}
}

unsigned int pds_groups(const struct pds *pds)
{
	/* A group that ends between the loads is counted as running; the last one wakes the CDM. */
	const u64 ended = atomic_load(&pds->done) + atomic_load(&pds->sequenced);

	return (unsigned int)(pds_started(pds) - ended);
}

unsigned int pds_pending(const struct pds *pds)
{
	return (unsigned int)(pds->sequences - atomic_load(&pds->sequenced));
}

u64 pds_done(const struct pds *pds)
{
	return atomic_load(&pds->done);
}

_Static_assert((int)PDS_DM_CDM == (int)TRACE_CDM && (int)PDS_DM_VDM == (int)TRACE_VDM &&
	       (int)PDS_DM_PDM == (int)TRACE_PDM,
	       "data masters but the RDM have the same numbers in the trace");
_Static_assert((int)PDS_DM_CDM == PUMICE_WAVE_MASTER_CDM &&
	       (int)PDS_DM_VDM == PUMICE_WAVE_MASTER_VDM &&
	       (int)PDS_DM_PDM == PUMICE_WAVE_MASTER_PDM &&
	       (int)PDS_DM_RDM == PUMICE_WAVE_MASTER_RDM, "and all in the USC");

/* Trace the end of a work-group. */
static void trace_group_end(struct pds *pds, unsigned int usc, unsigned int group)
{
	const u64 on = trace_on(pds->config.trace, PUMICE_TRACE_KIND_GROUP_END);
	const bool stopped = pds_was_stopped(&pds->unit[usc], group);

	if (!on)
		return;
	trace_write(pds->config.trace, on, &(struct trace_item){
		.kind = PUMICE_TRACE_KIND_GROUP_END, .dm = TRACE_CDM,
		.phase = stopped ? PUMICE_TRACE_PHASE_CANCEL : PUMICE_TRACE_PHASE_INSTANT,
		.usc = (u8)usc, .ctx = usc_group(pds->config.usc[usc], group)->ctx,
		.arg0 = pds->unit[usc].linear[group],
	});
}

/* Groups that have ended on a USC at the same time. */
struct ended {
	u32 done, sequenced;	/* with instances, and without */
	u32 epoch[PDS_ORDER_EPOCHS];	/* of each epoch, modulo the size */
};

/* Count groups, before their claims are released. */
static struct ended count_ended(const struct unit *unit, u64 groups)
{
	struct ended ended = { 0 };

	for (; groups; groups &= groups - 1) {
		const unsigned int group = (unsigned int)__builtin_ctzll(groups);

		ended.done += !unit->sequences[group];
		ended.sequenced += unit->sequences[group];
		ended.epoch[unit->epoch[group] % PDS_ORDER_EPOCHS]++;
	}
	return ended;
}

/* Drop the references of groups to their programs: most are of the same launch. */
static void drop_programs(struct pds *pds, const struct unit *unit, u64 groups)
{
	u16 code = unit->code[__builtin_ctzll(groups)];
	u32 same = 0;		/* groups of this program */

	for (; groups; groups &= groups - 1) {
		const unsigned int group = (unsigned int)__builtin_ctzll(groups);

		if (unit->code[group] != code) {
			pds_code_unref(&pds->codes, code, same);
			code = unit->code[group];
			same = 0;
		}
		same++;
	}
	pds_code_unref(&pds->codes, code, same);
}

/* Release the room of groups. Afterwards their numbers may be those of others. */
static void release_groups(struct pds *pds, unsigned int usc, u64 groups, u64 time)
{
	struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, usc));

	for (; groups; groups &= groups - 1) {
		const struct pds_place place = {
			.usc = usc, .group = (unsigned int)__builtin_ctzll(groups),
		};

		trace_group_end(pds, usc, place.group);
		pds_trace_tag(pds, &place);
		pds_core_end(core, &place, time);
	}
	pds_core_ended(core, usc, time);
	pds_unlock_core(core);
}

/* Groups have left their epochs: start those without instances that waited for them alone. */
static void leave_epochs(struct pds *pds, const struct ended *ended, u64 time)
{
	bool look = false;
	u32 n;

	for (n = 0; n < PDS_ORDER_EPOCHS; n++)
		if (ended->epoch[n])
			look |= pds_order_leave(&pds->order, n, ended->epoch[n]);
	if (!look)
		return;
	pthread_mutex_lock(&pds->order.lock);
	pds_start_resolved(pds, time);
	pthread_mutex_unlock(&pds->order.lock);
}

/*
 * Work-groups of the CDM have ended on a USC; no lock is held. Their programs are dropped before
 * their room: the table of programs has an entry for each group that has room. They are counted as
 * ended last: the CDM may then end the job, and begin another one.
 */
static void compute_done(struct pds *pds, unsigned int usc, u64 groups)
{
	const struct ended ended = count_ended(&pds->unit[usc], groups);
	const u64 time = now(pds);

	drop_programs(pds, &pds->unit[usc], groups);
	release_groups(pds, usc, groups, time);
	leave_epochs(pds, &ended, time);
	if (ended.sequenced)
		atomic_fetch_add(&pds->sequenced, ended.sequenced);
	if (ended.done)
		atomic_fetch_add(&pds->done, ended.done);
	/*
	 * The thread that counts the last end finds that none is left, since all starts precede it.
	 * An end of a group without instances wakes the CDM in any case.
	 */
	if (ended.sequenced || !pds_groups(pds))
		pds->config.ops->ended(pds->config.ops_opaque);
}

/*
 * Return the data master of a running group. It was set before the group was started, so no
 * lock is needed.
 */
static enum pds_dm group_dm(const struct pds *pds, unsigned int usc, unsigned int group)
{
	return (enum pds_dm)pds->unit[usc].accounts.claim[group].need.dm;
}

/* Tasks of other data masters are groups of their own. */
static void task_done(void *opaque, unsigned int usc, unsigned int group, unsigned int task)
{
	struct pds *pds = opaque;
	struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, usc));

	pds_core_end_task(core, &(struct pds_place){ .usc = usc, .group = group }, task, now(pds));
	pds_unlock_core(core);
}

static void groups_done(void *opaque, unsigned int usc, u64 groups)
{
	struct pds *pds = opaque;
	u64 compute = 0, left;

	for (left = groups; left; left &= left - 1) {
		const unsigned int group = (unsigned int)__builtin_ctzll(left);

		if (group_dm(pds, usc, group) == PDS_DM_CDM)
			compute |= 1ull << group;
		else
			pds_task_ended(pds, usc, group);
	}
	if (compute)
		compute_done(pds, usc, compute);
}

static void group_fault(void *opaque, unsigned int group, const struct gpu_fault *fault)
{
	struct pds *pds = opaque;
	struct gpu_fault full = *fault;

	if (group_dm(pds, fault->usc, group) != PDS_DM_CDM) {
		pds_task_faulted(pds, group, fault);
		return;
	}
	full.group_known = fault->wave_known;
	memcpy(full.group, pds->unit[fault->usc].id[group], sizeof(full.group));
	pds->config.lock(pds->config.opaque);
	pds->config.ops->fault(pds->config.ops_opaque, &full);
	pds->config.unlock(pds->config.opaque);
}

const struct usc_ops pds_usc_ops = {
	.task_done = task_done,
	.groups_done = groups_done,
	.fault = group_fault,
};
