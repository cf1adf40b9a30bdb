// SPDX-License-Identifier: MIT
/*
 * Unified shading cluster: its stores, start and end of work-groups.
 *
 * Source: document 000, "Unified Shading Cluster" and "USC Register Stores".
 *
 * Limits: the PDS fills all attribute, shared and coefficient registers; the other registers
 * and local memory are zeroed here.
 */
#include <stdlib.h>
#include <string.h>

#include "../activity.h"
#include "../host_alloc.h"
#include "../rtu/rtu.h"
#include "gfx.h"
#include "state.h"

#define STORE_ALIGN 128u	/* a row, and two cache lines */

static void *store_create(size_t bytes)
{
	return host_zalloc(STORE_ALIGN, bytes);
}

/* Rows of the predefined constants, so that they are used like other operands. */
static u32 *constants_create(void)
{
	const struct pumice_isa_info *isa = &pumice_usc_isa;
	u32 rows = 0, *store;

	for (u32 n = 0; n < isa->nr_specials; n++) {
		if (isa->specials[n].bank == PUMICE_USC_BANK_K && isa->specials[n].number >= rows)
			rows = isa->specials[n].number + 1u;
	}
	store = store_create(rows * sizeof(isa->specials[0].lanes));
	for (u32 n = 0; store && n < isa->nr_specials; n++) {
		const struct pumice_isa_special *k = &isa->specials[n];

		if (k->bank == PUMICE_USC_BANK_K)
			memcpy(&store[k->number * USC_ROW_WORDS], k->lanes, sizeof(k->lanes));
	}
	return store;
}

struct usc *usc_create(const struct usc_config *config)
{
	struct usc *usc = calloc(1, sizeof(*usc));

	if (!usc)
		return NULL;
	usc->config = *config;
	usc->late_chosen = config->late;
	mmu_tlb_set_far(&usc->tlb, usc->far, MMU_TLB_FAR_SMALL);
	usc->tlb.place = config->core + 1;
	usc->tlb.usc = config->number;
	usc->unified = store_create(config->unified_bytes);
	usc->common = store_create(config->common_bytes);
	usc->local = store_create((size_t)config->local_bytes + USC_LOCAL_SLACK);
	usc->constants = constants_create();
	usc->own = store_create(PUMICE_USC_SLOTS * USC_MAX_WAVES * USC_OWN_WORDS *
				sizeof(*usc->own));
	usc->dc = calloc(USC_WAVES * PUMICE_USC_INDEX_REGS, sizeof(*usc->dc));
	usc->uniform = calloc(USC_WAVES, sizeof(*usc->uniform));
	usc->rtu = rtu_create(config->mmu, config->number, USC_WAVES);
	if (config->late != USC_LATE_EARLY)
		usc->late = usc_late_create(config);
	if (!usc->rtu || !usc->dc || !usc->uniform || !usc->unified || !usc->common ||
	    !usc->local || !usc->constants || !usc->own ||
	    (config->late != USC_LATE_EARLY && !usc->late)) {
		usc_destroy(usc);
		return NULL;
	}
	return usc;
}

void usc_destroy(struct usc *usc)
{
	if (!usc)
		return;
	rtu_destroy(usc->rtu);
	host_free(usc->unified);
	host_free(usc->common);
	host_free(usc->local);
	host_free(usc->constants);
	host_free(usc->own);
	free(usc->dc);
	free(usc->uniform);
	usc_late_destroy(usc->late);
	usc_watch_destroy(usc->watch);
	usc_unset_destroy(usc->unset);
	free(usc);
}

bool usc_checks_create(struct usc_checks *checks, const struct usc *usc, bool strict)
{
	struct usc_config config = usc->config;

	*checks = (struct usc_checks){ .late_mode = strict ? USC_LATE_POISON : usc->late_chosen };
	config.late = checks->late_mode;
	/* That of one mode serves another: a USC has no tasks then, and so none with late data. */
	if (config.late != USC_LATE_EARLY && !usc->late) {
		checks->late = usc_late_create(&config);
		if (!checks->late)
			return false;
	}
	if (!strict)
		return true;
	checks->watch = usc_watch_create(config.local_bytes);
	checks->unset = usc_unset_create(&config);
	return checks->watch && checks->unset;
}

void usc_checks_destroy(struct usc_checks *checks)
{
	usc_late_destroy(checks->late);
	usc_watch_destroy(checks->watch);
	usc_unset_destroy(checks->unset);
	*checks = (struct usc_checks){ 0 };
}

void usc_exchange_checks(struct usc *usc, struct strict *strict, struct usc_checks *checks)
{
	const struct usc_checks old = {
		.late_mode = usc->config.late, .late = usc->late, .watch = usc->watch,
		.unset = usc->unset,
	};
	const bool keeps = usc->late && checks->late_mode != USC_LATE_EARLY;

	usc->config.late = checks->late_mode;
	usc->late = keeps ? old.late : checks->late;
	usc->watch = checks->watch;
	usc->unset = checks->unset;
	usc->strict = strict;
	*checks = old;
	if (keeps)
		checks->late = NULL;
}

void usc_reset(struct usc *usc)
{
	atomic_store(&usc->live, 0);
	atomic_store(&usc->abort, 0);
	usc->running = 0;
	usc->ended = 0;
	usc->current = 0;
	usc->left = 0;
	usc->slots = 0;
	usc->master = 0;
	memset(usc->running_of, 0, sizeof(usc->running_of));
	memset(usc->kept, 0, sizeof(usc->kept));
	memset(usc->kept_left, 0, sizeof(usc->kept_left));
	mmu_tlb_reset(&usc->tlb);
	for (u32 n = 0; n < PUMICE_WAVE_MASTER_COUNT; n++)
		atomic_store_explicit(&usc->tag_reads[n], 0, memory_order_relaxed);
	rtu_reset(usc->rtu);
	for (u32 n = 0; usc->late && n < USC_WAVES; n++)
		usc_late_wave_drop(usc->late, n);
	memset(usc->task, 0, sizeof(usc->task));
	for (u32 g = 0; g < PUMICE_USC_TASKS; g++)
		usc->group[g] = (struct usc_group){ .state = USC_GROUP_FREE };
	/* A GPU that has run no program has touched no page of these. */
	if (!atomic_exchange(&usc->written, false))
		return;
	memset(usc->unified, 0, usc->config.unified_bytes);
	memset(usc->common, 0, usc->config.common_bytes);
	memset(usc->local, 0, usc->config.local_bytes);
}

/* Stores are about to be written. */
static void set_written(struct usc *usc)
{
	if (!atomic_load_explicit(&usc->written, memory_order_relaxed))
		atomic_store_explicit(&usc->written, true, memory_order_relaxed);
}

struct usc_task *usc_task(struct usc *usc, unsigned int slot)
{
	return &usc->task[slot];
}

struct usc_group *usc_group(struct usc *usc, unsigned int group)
{
	return &usc->group[group];
}

u32 *usc_shared(struct usc *usc, const struct usc_task *task)
{
	set_written(usc);
	return usc->common + task->cs_word;
}

u32 *usc_coeffs(struct usc *usc, const struct usc_task *task)
{
	return usc_shared(usc, task) + task->shared;
}

u32 *usc_coeffs_alt(struct usc *usc, const struct usc_task *task)
{
	return usc_coeffs(usc, task) + task->coeffs;
}

u32 *usc_attr(struct usc *usc, const struct usc_task *task, unsigned int wave, unsigned int reg)
{
	set_written(usc);
	return usc->unified + usc_wave_regs(task, wave) + (task->temps + reg) * USC_ROW_WORDS;
}

u32 *usc_outputs_unified(struct usc *usc, u32 row)
{
	set_written(usc);
	return usc->unified + (size_t)row * USC_ROW_WORDS;
}

u32 *usc_outputs_common(struct usc *usc, u32 word)
{
	set_written(usc);
	return usc->common + word;
}

bool usc_group_start(struct usc *usc, unsigned int group)
{
	set_written(usc);
	atomic_store_explicit(&usc->group[group].state, USC_GROUP_READY, memory_order_relaxed);
	if (atomic_load_explicit(&usc->abort, memory_order_relaxed) >> group & 1)
		atomic_fetch_and(&usc->abort, ~(1ull << group));
	return !atomic_fetch_or(&usc->live, 1ull << group);
}

bool usc_has_work(struct usc *usc)
{
	return atomic_load(&usc->live) != 0;
}

void usc_abort(struct usc *usc)
{
	atomic_fetch_or(&usc->abort, atomic_load(&usc->live));
}

void usc_abort_groups(struct usc *usc, u64 groups)
{
	atomic_fetch_or(&usc->abort, atomic_load(&usc->live) & groups);
}

void usc_set_detail(struct usc *usc, bool detail)
{
	atomic_store_explicit(&usc->detail, detail, memory_order_relaxed);
}

void usc_counters_add(const struct usc *usc, u64 *value)
{
	for (u32 n = 0; n < USC_COUNTERS; n++)
		value[n] += atomic_load_explicit(&usc->count[n], memory_order_relaxed);
	rtu_counters_add(usc->rtu, value);
}

u64 usc_tag_reads(const struct usc *usc, enum pumice_wave_master master)
{
	return atomic_load_explicit(&usc->tag_reads[master], memory_order_relaxed);
}

/* Set one wave to the first instruction. Its instances are the task's remaining ones. */
static void wave_begin(struct usc *usc, struct usc_run *run, unsigned int slot,
		       unsigned int in_task, u32 instance, const struct usc_group *group)
{
	const struct usc_task *task = &usc->task[slot];
	unsigned int index = slot * USC_MAX_WAVES + in_task;
	u32 lanes = task->instances - in_task * PUMICE_LANES;

	usc->wave[index] = (struct usc_wave){
		.valid = lanes < PUMICE_LANES ? (1u << lanes) - 1 : UINT32_MAX,
		.instance = instance,
		.regs = usc_wave_regs(task, in_task),
		.shared = task->cs_word,
		.coeffs_alt = task->cs_word + task->shared + task->coeffs,
		.slot = (u8)slot,
		.in_group = run->waves,
	};
	memset(usc->unified + usc->wave[index].regs, 0,
	       task->temps * USC_ROW_WORDS * sizeof(*usc->unified));
	if (group->gfx)
		usc_gfx_wave_begin(group->gfx, &usc->wave[index], in_task);
	if (group->program->own)
		memset(usc->own + index * USC_OWN_WORDS, 0, USC_OWN_WORDS * sizeof(*usc->own));
	if (usc->late)
		usc_late_wave_begin(usc->late, index, usc->wave[index].regs / USC_ROW_WORDS,
				    (u32)task->temps + task->attrs);
	if (usc->unset)
		usc_unset_wave_begin(usc->unset, index, usc->wave[index].regs / USC_ROW_WORDS,
				     task->temps, task->attrs);
	run->wave[run->waves++] = (u8)index;
}

void usc_group_begin(struct usc *usc, unsigned int group)
{
	struct usc_group *g = &usc->group[group];
	struct usc_run *run = &usc->run[group];
	u32 instance = 0;

	*run = (struct usc_run){ .left = USC_WAVE_QUANTUM };
	for (unsigned int t = 0; t < g->tasks; t++) {
		const struct usc_task *task = &usc->task[g->slot[t]];

		for (unsigned int w = 0; w * PUMICE_LANES < task->instances; w++)
			wave_begin(usc, run, g->slot[t], w, instance + w * PUMICE_LANES, g);
		memset(usc->slot_reg[g->slot[t]], 0, sizeof(usc->slot_reg[0]));
		instance += task->instances;
	}
	run->runnable = (u32)((1ull << run->waves) - 1);
	memset(usc->local + g->local_byte, 0, g->local_bytes);
	if (usc->watch) {
		usc_watch_group_begin(usc->watch, group, run->waves, g->local_byte,
				      g->local_bytes);
		usc_unset_group_begin(usc->unset, g->local_byte, g->local_bytes);
	}
	usc_count(usc, PUMICE_PERF_USC_WAVES, run->waves);
	atomic_store_explicit(&g->state, USC_GROUP_RUNNING, memory_order_relaxed);
	usc->running |= 1ull << group;
	usc_turns_begin(usc, group);
}

void usc_busy_begin(struct usc *usc)
{
	if (!usc->busy_since)
		usc->busy_since = host_ns();
}

void usc_busy_end(struct usc *usc)
{
	if (usc->busy_since)
		usc_count(usc, PUMICE_PERF_USC_BUSY, host_ns() - usc->busy_since);
	usc->busy_since = 0;
}

void usc_report_ended(struct usc *usc)
{
	const u64 ended = usc->ended;

	if (!ended)
		return;
	usc->ended = 0;
	atomic_fetch_and(&usc->live, ~ended);
	usc->config.ops->groups_done(usc->config.opaque, usc->config.number, ended);
}

/* Drop late data of waves that have not ended. Others may have the numbers of those that have. */
static void drop_late(struct usc *usc, const struct usc_run *run)
{
	u32 w;

	for (w = 0; usc->late && w < run->waves; w++)
		if (!(run->ended >> w & 1))
			usc_late_wave_drop(usc->late, run->wave[w]);
}

void usc_group_finish(struct usc *usc, unsigned int group)
{
	struct usc_group *g = &usc->group[group];

	if (usc->running >> group & 1) {	/* an aborted group may not have begun */
		usc_turns_end(usc, group);
		drop_late(usc, &usc->run[group]);
	}
	usc->running &= ~(1ull << group);
	if (!usc->running)
		usc_busy_end(usc);	/* before the end of the last group is reported */
	atomic_store_explicit(&g->state, USC_GROUP_FREE, memory_order_relaxed);
	usc->ended |= 1ull << group;
	if (g->gfx)
		usc_report_ended(usc);
}
