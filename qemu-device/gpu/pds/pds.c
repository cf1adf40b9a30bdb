// SPDX-License-Identifier: MIT
/*
 * Programmable data sequencer: launches, selection of a USC, groups.
 *
 * Source: document 000, "Programmable Data Sequencer". state.h lists the files of the PDS.
 *
 * The USC with the fewest waves gets the next group, round robin among equals; preferred USCs have
 * precedence, except for the last groups of a launch. Without threads all are preferred: then this
 * depends only on earlier groups, so the GPU is deterministic.
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

#include "fill.h"
#include "perf.h"
#include "state.h"

#define COST_WORDS 4096u	/* words that PDS programs of an ordinary group write at most */
#define COST_CLEARED 4u		/* words cleared in the time to write one */
#define COST_READS 8u		/* memory reads of an ordinary group at most */
#define FAST_COST 8u		/* groups up to this cost are filled in one piece, */
#define QUICK_COST 1u		/* and up to this one, with the locks held */

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
	pds->next = 0;
	pds_order_reset(&pds->order);
	pds->sequences = 0;
	atomic_store(&pds->started, 0);
	atomic_store(&pds->done, 0);
	atomic_store(&pds->sequenced, 0);
	pds->waited = 0;
	atomic_store(&pds->tasks, 0);
	atomic_store(&pds->peak_tasks, 0);
	atomic_store(&pds->output_bytes, 0);
	atomic_store(&pds->peak_output_bytes, 0);
}

static u64 now(const struct pds *pds)
{
	return pds->config.now(pds->config.opaque);
}

void pds_tick(struct pds *pds)
{
	pds->time = now(pds);
}

void pds_prefer(struct pds *pds, u64 uscs)
{
	pds->preferred = uscs;
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

/* Fetch and check the PDS program of a launch; no lock. */
static bool load_pds_program(struct pds *pds, struct gpu_fault *fault)
{
	struct current *cur = &pds->current;
	const struct pumice_cdm_state *state = &cur->launch.state;
	const struct pds_program_limits limits = {
		.shared = state->shared, .coeffs = state->coeffs, .attrs = state->attrs,
		.coeffs_alt = state->coeffs_alt,
		.instances = cur->need.instances,
	};

	return pds_program_load(&cur->program, pds->config.mmu, &pds->tlb, cur->launch.ctx,
				state->pds_addr, state->pds_insns, &limits, fault);
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

/* Return the first of the last groups of a grid: as many as all USCs have tasks. */
static u64 balanced_from(const struct pds *pds, const struct pumice_cdm_launch *grid)
{
	const u64 groups = (u64)grid->groups_x * grid->groups_y * grid->groups_z;
	const u64 last = (u64)pds->capacity.managed * pds->config.uscs;

	return groups > last ? groups - last : 0;
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
	pds_number_instances(state, &cur->local);
	cur->cost = launch_cost(cur);
	cur->slow = cur->cost > FAST_COST;
	cur->quick = cur->cost <= QUICK_COST && !launch->sequences;
	cur->started = 0;
	cur->balanced = balanced_from(pds, &launch->grid);
	cur->waits = cur->filling = false;
	cur->begun = true;
	return PDS_LOADED;
}

unsigned int pds_launch_cost(const struct pds *pds)
{
	return pds->current.cost;
}

void pds_launch_pause(struct pds *pds)
{
	struct current *cur = &pds->current;

	while (cur->waits_on) {
		struct pds_core *core = pds_lock_core(pds, (u32)__builtin_ctz(cur->waits_on));

		cur->waits_on &= cur->waits_on - 1;
		pds_core_leave(core, PDS_DM_CDM);
		pds_unlock_core(core);
	}
}

/* Place of the group that is being filled. */
static struct pds_place filled_place(const struct pds *pds)
{
	return (struct pds_place){ .usc = pds->current.usc, .group = pds->current.group };
}

/* Drop the group that is being filled. */
static void drop_group(struct pds *pds)
{
	const struct pds_place place = filled_place(pds);
	struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, place.usc));

	pds->current.filling = false;
	pds_core_drop(core, &place);
	pds_unlock_core(core);
}

void pds_launch_end(struct pds *pds)
{
	struct current *cur = &pds->current;

	assert(cur->begun || cur->loading);
	if (cur->filling)
		drop_group(pds);
	pds_launch_pause(pds);
	if (cur->begun)
		pds_code_end_launch(&pds->codes, cur->code, cur->started);
	usc_load_drop(pds->config.programs, cur->load);
	cur->load = NULL;
	cur->begun = cur->loading = false;
}

/* Claim room for one group of the launch on a USC. Returns the locked core, or NULL. */
static struct pds_core *claim_on(struct pds *pds, unsigned int usc, unsigned int *group)
{
	struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, usc));

	if (pds_core_claim(core, usc, &pds->current.need, group))
		return core;
	pds_unlock_core(core);
	return NULL;
}

/*
 * Claim room on a core, which is returned locked; or enter the CDM there as waiting: in one step,
 * so that no release is missed.
 */
static struct pds_core *claim_or_wait(struct pds *pds, unsigned int number, struct pds_place *place)
{
	struct pds_core *core = pds_lock_core(pds, number);

	if (pds_core_claim_any(core, &pds->current.need, 0, place))
		return core;
	pds_core_wait(core, &pds->current.need);
	pds->current.waits_on |= 1u << number;
	pds_unlock_core(core);
	return NULL;
}

/* Select the USC for a group to try next. */
static bool next_usc(struct pds *pds, u64 linear, u64 tried, unsigned int *usc)
{
	const struct current *cur = &pds->current;
	const u32 uscs = pds->config.uscs;

	if (linear < cur->balanced && pds_lowest_load(pds, 0, uscs, &cur->need, pds->next,
						      tried | ~pds->preferred, usc))
		return true;
	return pds_lowest_load(pds, 0, uscs, &cur->need, pds->next, tried, usc);
}

/*
 * Find room for a group of the launch. Returns its core, locked. If there is none, the CDM is
 * recorded as waiting on all cores, and NULL is returned.
 */
static struct pds_core *find_room(struct pds *pds, u64 linear, struct pds_place *place)
{
	struct pds_core *core;
	u64 tried = 0;
	unsigned int n;

	while (next_usc(pds, linear, tried, &place->usc)) {
		core = claim_on(pds, place->usc, &place->group);
		if (core)
			return core;
		tried |= 1ull << place->usc;
	}
	for (n = 0; n < pds->cores; n++) {
		if (pds->current.waits_on >> n & 1)
			continue;
		core = claim_or_wait(pds, n, place);
		if (core)
			return core;
	}
	return NULL;
}

/* Describe a group to its USC. */
static void fill_group(struct pds *pds, unsigned int usc_number, unsigned int number, u64 linear)
{
	const struct current *cur = &pds->current;
	const struct pds_need *need = &cur->need;
	const struct pds_place place = { .usc = usc_number, .group = number };
	const struct pds_claim *claim = &pds->unit[usc_number].accounts.claim[number];
	struct usc_group *group = usc_group(pds->config.usc[usc_number], number);
	u32 i;

	group->tasks = (u8)need->tasks;
	group->ctx = (u8)cur->launch.ctx;
	group->waves = (u16)need->waves;
	group->first_wave = (u32)linear * need->waves;
	group->local_byte = claim->local_row * PDS_LOCAL_ROW_BYTES;
	group->local_bytes = (u32)cur->launch.state.local_bytes;
	group->code_addr = cur->program.insn[cur->program.task].addr;
	group->program = pds_code_program(&pds->codes, cur->code);
	group->gfx = NULL;
	for (i = 0; i < need->tasks; i++) {
		*pds_task_of(pds, &place, i) = (struct usc_task){
			.group = (u8)number,
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

/*
 * Run the PDS program for the tasks of the group that is being filled: all of it, or a piece.
 * PDS_STARTED: the group is filled.
 */
static enum pds_result run_programs(struct pds *pds, u32 reads, const u32 id[3],
				    struct gpu_fault *fault)
{
	struct current *cur = &pds->current;
	const struct pds_place place = filled_place(pds);
	struct usc *usc = pds->config.usc[cur->usc];
	const struct pds_run run = {
		.launch = &cur->launch,
		.local = &cur->local,
		.program = &cur->program,
		.id = id,
		.mmu = pds->config.mmu,
		.tlb = &pds->tlb,
		.dma_bytes = &pds->core[pds_core_of(pds, cur->usc)].dma_bytes,
	};

	pds->tlb.usc = cur->usc;
	while (cur->task < cur->need.tasks) {
		if (!pds_run_task(&run, usc, pds_task_of(pds, &place, cur->task), reads,
				  &cur->pc, fault))
			return PDS_FAULT;
		if (cur->pc == cur->program.insns) {
			cur->task++;
			cur->pc = 0;
		}
		if (reads != PDS_WHOLE && cur->task < cur->need.tasks)
			return PDS_MORE;
	}
	return PDS_STARTED;
}

/* Count a waiting group once, however often it is tried. */
static void note_wait(struct pds *pds)
{
	if (pds->current.waits)
		return;
	pds->current.waits = true;
	pds->waited++;
	trace_event(pds->config.trace, PUMICE_TRACE_KIND_STALL, TRACE_CDM, pds->current.launch.ctx,
		    0, atomic_load_explicit(&pds->tasks, memory_order_relaxed), 0);
}

/*
 * Start groups without instances that do not wait for others any longer. The order's lock is held
 * until they are started: pds_abort() removes each of them under this lock, or finds it on its core
 * later.
 */
static void start_resolved(struct pds *pds, u64 time)
{
	struct pds_place place;

	while (pds_order_resolve(&pds->order, &place)) {
		struct pds_core *core = pds_lock_core(pds, pds_core_of(pds, place.usc));

		pds_core_start(core, &place, PDS_DM_CDM, time);
		pds_unlock_core(core);
	}
}

/*
 * Note a filled group, which is started next: all that its end needs, since it may end at once on
 * another thread.
 */
static void note_start(struct pds *pds, const u32 id[3], u64 linear)
{
	const struct pds_place place = filled_place(pds);
	struct unit *unit = &pds->unit[place.usc];

	unit->code[place.group] = pds->current.code;
	unit->linear[place.group] = linear;
	memcpy(unit->id[place.group], id, sizeof(unit->id[place.group]));
	unit->sequences[place.group] = pds->current.launch.sequences;
	pds->current.started++;
	pds->sequences += pds->current.launch.sequences;
	/* No other thread stores it. The start of the group publishes it to the end. */
	atomic_store_explicit(&pds->started,
			      atomic_load_explicit(&pds->started, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	trace_event(pds->config.trace, PUMICE_TRACE_KIND_GROUP_START, TRACE_CDM,
		    pds->current.launch.ctx, place.usc, linear, pds->current.need.waves);
}

/* Start a noted group with instances. Its core's lock is held. */
static void start_on_core(struct pds *pds, struct pds_core *core, const struct pds_place *place)
{
	pds->unit[place->usc].epoch[place->group] = pds_order_enter(&pds->order);
	pds_core_start(core, place, PDS_DM_CDM, pds->time);
}

/*
 * A noted group without instances waits for those before it, if any of them is left. Under the lock
 * its epoch is set before another thread can start it.
 */
static void hold_group(struct pds *pds, const struct pds_place *place)
{
	pthread_mutex_lock(&pds->order.lock);
	pds->unit[place->usc].epoch[place->group] = pds_order_hold(&pds->order, place);
	start_resolved(pds, pds->time);
	pthread_mutex_unlock(&pds->order.lock);
}

/* Start the filled group, or let it wait for others. */
static void start_group(struct pds *pds, const u32 id[3], u64 linear)
{
	const struct pds_place place = filled_place(pds);
	struct pds_core *core;

	note_start(pds, id, linear);
	if (pds->current.launch.sequences) {
		hold_group(pds, &place);
		return;
	}
	core = pds_lock_core(pds, pds_core_of(pds, place.usc));
	start_on_core(pds, core, &place);
	pds_unlock_core(core);
}

/* Fill the group, a slow one in pieces. The device lock is not held meanwhile. */
static enum pds_result fill(struct pds *pds, const u32 id[3], struct gpu_fault *fault)
{
	const u32 reads = pds->current.slow ? PDS_PIECE_READS : PDS_WHOLE;
	enum pds_result result;

	pds->config.unlock(pds->config.opaque);
	result = run_programs(pds, reads, id, fault);
	pds->config.lock(pds->config.opaque);
	return result;
}

/* Fill a quick group, and start it. Locks of the device and of its core held. */
static enum pds_result fill_and_start(struct pds *pds, struct pds_core *core, const u32 id[3],
				      u64 linear, struct gpu_fault *fault)
{
	const struct pds_place place = filled_place(pds);
	const enum pds_result result = run_programs(pds, PDS_WHOLE, id, fault);

	pds->current.filling = false;
	if (result == PDS_STARTED) {
		note_start(pds, id, linear);
		start_on_core(pds, core, &place);
	} else {
		pds_core_drop(core, &place);
	}
	return result;
}

/* Describe a group for which there is room on a core, to fill it. The core's lock is held. */
static void describe_group(struct pds *pds, const struct pds_core *core,
			   const struct pds_place *place, u64 linear)
{
	struct current *cur = &pds->current;

	cur->waits = false;
	cur->waits_on &= ~(1u << core->number);
	pds->next = (place->usc + 1) % pds->config.uscs;
	cur->usc = place->usc;
	cur->group = place->group;
	fill_group(pds, cur->usc, cur->group, linear);
	cur->filling = true;
	cur->task = cur->pc = 0;
}

/* Begin a group; PDS_MORE: it is to be filled. A quick one is started. */
static enum pds_result begin_group(struct pds *pds, const u32 id[3], u64 linear,
				   struct gpu_fault *fault)
{
	enum pds_result result = PDS_MORE;
	struct pds_place place;
	struct pds_core *core = find_room(pds, linear, &place);

	if (!core) {
		note_wait(pds);
		return PDS_WAIT;
	}
	describe_group(pds, core, &place, linear);
	if (pds->current.quick)
		result = fill_and_start(pds, core, id, linear, fault);
	pds_unlock_core(core);
	return result;
}

enum pds_result pds_group(struct pds *pds, const u32 id[3], u64 linear, struct gpu_fault *fault)
{
	enum pds_result result = pds->current.filling ? PDS_MORE :
							begin_group(pds, id, linear, fault);

	if (result != PDS_MORE)
		return result;
	result = fill(pds, id, fault);
	if (result == PDS_FAULT)
		drop_group(pds);
	if (result != PDS_STARTED)
		return result;
	pds->current.filling = false;
	start_group(pds, id, linear);
	return PDS_STARTED;
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

	return (unsigned int)(atomic_load(&pds->started) - ended);
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
	start_resolved(pds, time);
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
