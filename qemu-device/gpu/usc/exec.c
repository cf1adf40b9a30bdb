// SPDX-License-Identifier: MIT
/*
 * Interpreter: the loop, selection of the host's vector level, faults.
 *
 * Source: document 002, "Instructions"; document 003, "Types of Registers"; exec.h for how the
 * parts fit together.
 *
 * Limits: one wave at a time; wave.c selects it.
 */
#include <string.h>

#include "exec.h"

#define NO_LEVEL GPU_LEVELS	/* use the best usable one */
#define FAR_HITS 16u	/* hits of the second level of the TLB that count as a walk */

static _Atomic int chosen_level = NO_LEVEL;

static const struct usc_level_ops *const levels[GPU_LEVELS] = {
	[GPU_LEVEL_BASE] = &usc_level_base,
#ifdef __x86_64__
	[GPU_LEVEL_AVX2] = &usc_level_avx2,
	[GPU_LEVEL_AVX512] = &usc_level_avx512,
#endif
};

void usc_level_choose(enum gpu_level level)
{
	atomic_store(&chosen_level, level);
}

const struct usc_level_ops *usc_level(void)
{
	int level = atomic_load(&chosen_level);

	if (level == NO_LEVEL) {
		do {
			level--;
		} while (!gpu_level_usable(level));
		atomic_store(&chosen_level, level);
	}
	return levels[level];
}

void usc_exec_bind(struct usc_insn *insn)
{
	const struct usc_level_ops *ops = usc_level();
	usc_exec_fn *wrapper;

	insn->run = usc_exec_scalar_find(insn);
	if (!insn->run)
		insn->run = usc_exec_reduce_find(insn);
	if (!insn->run)
		insn->run = usc_exec_flow_find(insn);
	if (!insn->run)
		insn->run = usc_exec_copy_find(insn);
	if (!insn->run)
		insn->run = usc_exec_gfx_find(insn);
	if (!insn->run)
		insn->run = usc_exec_ray_find(insn);
	if (!insn->run)
		insn->run = ops->find(insn);
	if (ops->find_output(insn)) {
		insn->run = ops->find_output(insn);
	} else if (insn->values || insn->lookups) {
		insn->then = insn->run;
		insn->run = !insn->run ? NULL : insn->lookups ? ops->lookups : ops->values;
	}
	wrapper = insn->writes_slot && insn->run ? usc_exec_slot_write :
		  pumice_usc_is_group_copy(insn->op) ? usc_exec_group_copy : NULL;
	if (wrapper) {
		insn->then = insn->then ? insn->then : insn->run;
		insn->run = wrapper;
	}
}

const struct usc_insn *exec_then(struct exec *x, const struct usc_insn *i)
{
	if (i->lookups)
		return usc_level()->lookups(x, i);
	return i->values ? usc_level()->values(x, i) : i->then(x, i);
}

void usc_exec_bind_pair(struct usc_insn *insn)
{
	usc_exec_fn *pair = usc_level()->find_pair(insn);

	if (pair)
		insn->run = pair;
}

/* Return the part of the USC that detects a fault. */
static enum pumice_unit fault_unit(enum pumice_fault fault)
{
	return fault == PUMICE_FAULT_USC_BURST ? PUMICE_UNIT_USC_DATA : PUMICE_UNIT_USC_CODE;
}

/* Fill in the position of the wave, common to all faults. */
static const struct usc_insn *stop_at(struct exec *x, const struct usc_insn *i)
{
	x->fault.usc = (u16)x->usc->config.number;
	x->fault.pc = (u32)(i - x->program->insn);
	x->fault.code = x->code_addr;
	x->fault.wave_known = true;
	x->fault.slot = x->wave->slot;
	x->fault.wave = (u8)((x->wave - x->usc->wave) % USC_MAX_WAVES);
	x->fault.lanes = x->wave->valid;
	return exec_leave(x, i, USC_EXIT_FAULT);
}

const struct usc_insn *exec_fault(struct exec *x, const struct usc_insn *i, enum pumice_fault fault)
{
	u64 pc = (u64)(i - x->program->insn);

	x->fault = (struct gpu_fault){
		.fault = fault,
		.unit = fault_unit(fault),
		.ctx = x->ctx,
		.addr = x->code_addr + pc * PUMICE_USC_WORDS * sizeof(u32),
	};
	return stop_at(x, i);
}

const struct usc_insn *exec_align_fault(struct exec *x, const struct usc_insn *i,
					enum pumice_fault fault, u64 va, bool store)
{
	x->fault = (struct gpu_fault){
		.fault = fault,
		.unit = PUMICE_UNIT_USC_DATA,
		.access = store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ,
		.ctx = x->ctx,
		.addr = va,
	};
	return stop_at(x, i);
}

u8 *exec_host_missed(struct exec *x, u64 va, bool store)
{
	struct usc *usc = x->usc;
	const u64 hits = usc->tlb.hits;
	u8 *host = NULL;

	/* In detailed modes mmu_translate() finds the entry, too: it makes the request. */
	if (!(va >> PUMICE_MMU_VA_BITS) && !mmu_is_detailed(usc->config.mmu))
		host = mmu_tlb_find_far(usc->config.mmu, &usc->tlb, x->ctx, va,
					store ? MMU_TLB_WRITE : MMU_TLB_READ);
	if (host) {
		x->tlb_hits++;
		if (!(++x->far_hits % FAR_HITS))
			exec_check_stop(x);
		return host;
	}
	exec_check_stop(x);
	x->fault = (struct gpu_fault){ 0 };
	host = mmu_translate(usc->config.mmu, &usc->tlb, x->ctx, va, 0,
			     store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ,
			     PUMICE_UNIT_USC_DATA, &x->fault);
	x->tlb_hits += (u32)(usc->tlb.hits - hits);
	return host;
}

const struct usc_insn *exec_local_fault(struct exec *x, const struct usc_insn *i,
					enum pumice_fault fault, u64 offset)
{
	x->fault = (struct gpu_fault){
		.fault = fault, .unit = PUMICE_UNIT_USC_DATA, .ctx = x->ctx, .addr = offset,
	};
	return stop_at(x, i);
}

const struct usc_insn *exec_mmu_fault(struct exec *x, const struct usc_insn *i)
{
	return stop_at(x, i);
}

static void fill_row(u32 *row, u32 value)
{
	for (u32 l = 0; l < USC_ROW_WORDS; l++)
		row[l] = value;
}

/* Fill the rows of USC_BASE_SPECIAL that the program reads. */
static void fill_specials(struct exec *x)
{
	const struct usc_wave *wave = x->wave;
	const struct usc *usc = x->usc;
	const struct usc_task *task = &usc->task[wave->slot];
	const struct usc_group *group = &usc->group[task->group];
	const u32 value[USC_SPECIAL_ROWS] = {
		[PUMICE_USC_SR_WAVE_IN_GROUP] = wave->in_group,
		[PUMICE_USC_SR_TASK_IN_GROUP] = task->index,
		[PUMICE_USC_SR_CORE] = usc->config.core,
		[PUMICE_USC_SR_USC] = usc->config.in_core,
		[PUMICE_USC_SR_SLOT] = wave->slot,
		[PUMICE_USC_SR_VALID] = wave->valid,
		[USC_SPECIAL_WAVE] = x->first_wave + wave->in_group,
		[USC_SPECIAL_ROW(PUMICE_USC_SR_WAVES_IN_GROUP)] = group->waves,
		[USC_SPECIAL_ROW(PUMICE_USC_SR_TASKS_IN_GROUP)] = group->tasks,
		[USC_SPECIAL_ROW(PUMICE_USC_SR_INSTANCES_IN_TASK)] = task->instances,
		[USC_SPECIAL_ROW(PUMICE_USC_SR_BYTES_OF_LOCAL)] = group->local_bytes,
	};
	u32 rows = x->program->specials;

	if (rows & 1u << PUMICE_USC_SR_INSTANCE) {
		for (u32 l = 0; l < USC_ROW_WORDS; l++)
			x->special[PUMICE_USC_SR_INSTANCE][l] = wave->instance + l;
	}
	for (rows &= ~(1u << PUMICE_USC_SR_INSTANCE); rows; rows &= rows - 1) {
		u32 row = (u32)__builtin_ctz(rows);

		fill_row(x->special[row], value[row]);
	}
}

bool usc_is_stepped(const struct usc *usc)
{
	return atomic_load_explicit(&usc->detail, memory_order_relaxed) || usc->late ||
	       mmu_is_detailed(usc->config.mmu);
}

void usc_exec_group(struct exec *x, struct usc *usc, unsigned int group)
{
	const struct usc_group *g = &usc->group[group];

	x->usc = usc;
	x->program = g->program;
	x->gfx = g->gfx;
	x->ctx = g->ctx;
	x->code_addr = g->code_addr;
	x->first_wave = g->first_wave;
	x->local = usc->local + g->local_byte;
	x->local_bytes = g->local_bytes;
	x->detail = atomic_load_explicit(&usc->detail, memory_order_relaxed);
	x->stepped = usc_is_stepped(usc);
	x->issued = 0;
	x->stalled = 0;
	x->tlb_hits = 0;
	x->base[USC_BASE_CONST] = (u8 *)usc->constants;
	x->base[USC_BASE_SPECIAL] = (u8 *)x->special;
	x->base[USC_BASE_POOL] = (u8 *)x->program->pool;
	x->base[USC_BASE_SCRATCH] = (u8 *)x->scratch;
}

void usc_exec_count(struct exec *x)
{
	usc_count(x->usc, PUMICE_PERF_USC_ISSUED, x->issued);
	usc_count(x->usc, PUMICE_PERF_USC_STALLED, x->stalled);
	if (x->detail)
		usc_count(x->usc, PUMICE_PERF_MMU_TLB_HITS, x->tlb_hits);
	x->issued = 0;
	x->stalled = 0;
	x->tlb_hits = 0;
}

u32 usc_exec(struct exec *x, struct usc_wave *wave, u32 slice, bool exclusive)
{
	const struct usc_insn *i = &x->program->insn[wave->pc];
	u32 issued;

	x->wave = wave;
	x->valid = wave->valid;
	x->base[USC_BASE_REG] = (u8 *)(x->usc->unified + wave->regs);
	x->base[USC_BASE_SHARED] = (u8 *)(x->usc->common + wave->shared);
	x->base[USC_BASE_COEFFS_ALT] = (u8 *)(x->usc->common + wave->coeffs_alt);
	x->base[USC_BASE_OWN] = (u8 *)(x->usc->own + (wave - x->usc->wave) * USC_OWN_WORDS);
	x->base[USC_BASE_SLOT] = (u8 *)x->usc->slot_reg[wave->slot];
	x->exclusive = exclusive;
	x->pause = false;
	x->exit = USC_EXIT_SLICE;
	x->done = 0;
	x->slice = slice;
	if (x->gfx)
		usc_gfx_exec(x, (u32)(wave - x->usc->wave) % USC_MAX_WAVES);
	if (x->program->specials)
		fill_specials(x);
	exec_run_from(x, i);
	if (x->stepped) {
		i = usc_exec_stepped(x, i);
	} else {
		do {
			i = i->run(x, i);
		} while ((uintptr_t)i < (uintptr_t)x->limit);
	}

	issued = x->done + (u32)(i - x->from);
	wave->pc = (u32)(i - x->program->insn);
	wave->clock += issued;
	x->issued += issued;
	return issued;
}
