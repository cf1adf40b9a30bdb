// SPDX-License-Identifier: MIT
/*
 * The Pumice GPU core: allocates and connects the blocks, and parks and resets them for the
 * host. See pumice_gpu.h for the interface to the host and gpu.h for the locks.
 */
#include "gpu.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coherence.h"
#include "finding.h"
#include "lock.h"
#include "preset.h"
#include "pumice_names.h"
#include "regs/regs.h"
#include "strict/lines.h"

/* Limits of one step; each is about WORKERS_QUANTUM_NS or less. */
#define CDM_BUDGET	64u	/* commands or work-groups */
#define CDM_LOOK	8u	/* of them, between two checks for waiters */
#define USC_BUDGET	8192u	/* wave instructions */
#define USC_SLOW_BUDGET	64u	/* the same, while slow memory is injected */
/* The same in detailed modes: the accesses of 32 lanes, each some 0.5 us, are an instruction. */
#define USC_DETAILED_BUDGET 32u

#define LOG_BYTES	256

void gpu_log(struct pumice_gpu *gpu, enum pumice_log_level level, const char *format, ...)
{
	char text[LOG_BYTES];
	va_list args;

	if (!gpu->ops.log)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	gpu->ops.log(gpu->opaque, level, text);
}

void gpu_trace(struct pumice_gpu *gpu, enum pumice_trace_event event, u64 a, u64 b, u64 c)
{
	if (gpu->ops.trace)
		gpu->ops.trace(gpu->opaque, event, a, b, c);
}

u64 gpu_clock(const struct pumice_gpu *gpu)
{
	return gpu->ops.now(gpu->opaque) - gpu->clock_base;
}

void gpu_tlb_drop(struct pumice_gpu *gpu, unsigned int ctx)
{
	if (ctx < PUMICE_MMU_CONTEXTS)
		mmu_invalidate_ctx(&gpu->mmu, ctx);
	else
		mmu_invalidate_all(&gpu->mmu);
	if (!ctx || ctx >= PUMICE_MMU_CONTEXTS)
		fwctl_window_flush(gpu->fw);
}

void gpu_tlb_drop_range(struct pumice_gpu *gpu, unsigned int ctx, u64 first, u64 last)
{
	mmu_invalidate_range(&gpu->mmu, ctx, first, last);
	/* Pages that the window translates again are in the TLB, unless they are in the range. */
	if (!ctx)
		fwctl_window_flush(gpu->fw);
}

_Static_assert((unsigned int)PUMICE_PERF_NUMBER <= PUMICE_PERF_COUNTER_COUNT,
	       "counters have registers");

void gpu_counters(const struct pumice_gpu *gpu, u64 value[PUMICE_PERF_COUNTER_COUNT])
{
	unsigned int i;

	memset(value, 0, PUMICE_PERF_COUNTER_COUNT * sizeof(*value));
	cdm_counters_add(gpu->cdm, value);
	pds_counters_add(gpu->pds, value);
	for (i = 0; i < gpu->uscs; i++)
		usc_counters_add(gpu->usc[i], value);
	halves_counters_add(gpu->halves, value);
	usc_program_cache_counters_add(gpu->programs, value);
	masters_counters_add(gpu, value);
	mmu_counters_add(&gpu->mmu, value);
}

void gpu_set_detail(struct pumice_gpu *gpu, bool detail)
{
	unsigned int i;

	gpu->perf_detail = detail;
	for (i = 0; i < gpu->uscs; i++)
		usc_set_detail(gpu->usc[i], detail);
	halves_set_detail(gpu->halves, detail);
}

void gpu_snapshot_waves(struct pumice_gpu *gpu, struct gpu_waves *waves, u32 masters,
			unsigned int self)
{
	unsigned int i;

	workers_park_others(gpu->workers, self);
	pthread_mutex_lock(&gpu->lock);
	waves->count = 0;
	for (i = 0; masters && i < gpu->uscs; i++)
		waves->count += usc_waves(gpu->usc[i], masters, waves->wave + waves->count);
	pthread_mutex_unlock(&gpu->lock);
	workers_unpark(gpu->workers);
}

/* Services for the blocks; opaque is the GPU. */

void gpu_lock(struct pumice_gpu *gpu)
{
	if (atomic_load_explicit(&gpu->host_waits, memory_order_relaxed)) {
		pthread_mutex_lock(&gpu->gate);
		pthread_mutex_unlock(&gpu->gate);
	}
	if (!pthread_mutex_trylock(&gpu->lock))
		return;
	atomic_fetch_add_explicit(&gpu->lock_waits, 1, memory_order_relaxed);
	pthread_mutex_lock(&gpu->lock);
	atomic_fetch_sub_explicit(&gpu->lock_waits, 1, memory_order_relaxed);
}

void gpu_unlock(struct pumice_gpu *gpu)
{
	pthread_mutex_unlock(&gpu->lock);
}

void gpu_host_lock(struct pumice_gpu *gpu)
{
	pthread_mutex_lock(&gpu->gate);
	atomic_store_explicit(&gpu->host_waits, true, memory_order_relaxed);
	pthread_mutex_lock(&gpu->lock);
}

void gpu_host_unlock(struct pumice_gpu *gpu)
{
	atomic_store_explicit(&gpu->host_waits, false, memory_order_relaxed);
	pthread_mutex_unlock(&gpu->lock);
	pthread_mutex_unlock(&gpu->gate);
}

static void device_lock(void *opaque)
{
	gpu_lock(opaque);
}

static void device_unlock(void *opaque)
{
	gpu_unlock(opaque);
}

static u64 device_clock(void *opaque)
{
	return gpu_clock(opaque);
}

static void wake_fw(void *opaque)
{
	workers_wake(((struct pumice_gpu *)opaque)->workers, GPU_UNIT_FW);
}

static void wake_cdm(void *opaque)
{
	workers_wake(((struct pumice_gpu *)opaque)->workers, GPU_UNIT_CDM);
}

static void wake_cdm_source(void *opaque, unsigned int core)
{
	struct pumice_gpu *gpu = opaque;

	workers_wake(gpu->workers, gpu_source_unit(gpu, core));
}

static void wake_usc(void *opaque, unsigned int usc)
{
	struct pumice_gpu *gpu = opaque;

	workers_wake(gpu->workers, gpu_usc_unit(gpu, usc));
}

static void set_fw_deadline(void *opaque, u64 deadline)
{
	workers_set_deadline(((struct pumice_gpu *)opaque)->workers, GPU_UNIT_FW, deadline);
}

/* struct usc_cache_ops: programs are loaded by the CDM, the RDM and the cores. */
static void programs_room(void *opaque)
{
	struct pumice_gpu *gpu = opaque;
	unsigned int i;

	workers_wake(gpu->workers, GPU_UNIT_CDM);
	workers_wake(gpu->workers, GPU_UNIT_RDM);
	for (i = 0; i < gpu->config.cores; i++)
		workers_wake(gpu->workers, GPU_UNIT_CORE0 + i);
}

static void programs_wait(void *opaque, u64 deadline)
{
	struct pumice_gpu *gpu = opaque;
	unsigned int i;

	/* Loads wait in all of these units: none may delay another's deadline. */
	workers_add_deadline(gpu->workers, GPU_UNIT_CDM, deadline);
	workers_add_deadline(gpu->workers, GPU_UNIT_RDM, deadline);
	for (i = 0; i < gpu->config.cores; i++)
		workers_add_deadline(gpu->workers, GPU_UNIT_CORE0 + i, deadline);
}

static const struct usc_cache_ops cache_ops = {
	.now = device_clock, .wait = programs_wait, .room = programs_room,
};

/* struct mmu, event */
static void mmu_event(void *opaque, enum pumice_trace_kind kind, unsigned int ctx, u64 arg0,
		      u64 arg1)
{
	trace_event(&((struct pumice_gpu *)opaque)->trace, kind, TRACE_NO_JOB, ctx, 0, arg0, arg1);
}

/* Fault injection that affects the whole GPU. */

void gpu_raise_end(struct pumice_gpu *gpu, enum pumice_inject_where master, u32 event)
{
	struct inject_request request;
	u64 until;

	if (inject_take(&gpu->inject, PUMICE_INJECT_KIND_LOST_IRQ, master, NULL))
		return;
	if (!inject_take(&gpu->inject, PUMICE_INJECT_KIND_LATE_END, master, &request)) {
		fwctl_raise(gpu->fw, event);
		return;
	}
	until = gpu_clock(gpu) + request.us * 1000ull;
	inject_hold_back(&gpu->inject, event, until);
	workers_add_deadline(gpu->workers, GPU_UNIT_LATE, until);
}

void gpu_fail_firmware(struct pumice_gpu *gpu, enum pumice_inject_where where)
{
	if (inject_take(&gpu->inject, PUMICE_INJECT_KIND_FW_LOCKUP, where, NULL))
		fwctl_fail(gpu->fw, FWCTL_FAIL_LOCKUP);
	if (inject_take(&gpu->inject, PUMICE_INJECT_KIND_FW_TRAP, where, NULL))
		fwctl_fail(gpu->fw, FWCTL_FAIL_TRAP);
	if (inject_take(&gpu->inject, PUMICE_INJECT_KIND_FW_SILENCE, where, NULL))
		fwctl_fail(gpu->fw, FWCTL_FAIL_SILENT);
}

void gpu_job_starts(struct pumice_gpu *gpu, enum pumice_inject_where master, u32 done)
{
	gpu_fail_firmware(gpu, PUMICE_INJECT_WHERE_JOB);
	if (inject_take(&gpu->inject, PUMICE_INJECT_KIND_UNIT_HANG, master, NULL))
		inject_hang(&gpu->inject, master);
	if (inject_take(&gpu->inject, PUMICE_INJECT_KIND_SPURIOUS_IRQ, master, NULL))
		fwctl_raise(gpu->fw, done);
}

void gpu_log_fault(struct pumice_gpu *gpu, const char *name, const struct gpu_fault *f)
{
	char number[8] = "";

	if (f->unit == PUMICE_UNIT_TAG)
		snprintf(number, sizeof(number), " %u", f->index);
	gpu_trace(gpu, PUMICE_TRACE_FAULT, f->addr, f->fault, f->unit);
	gpu_log(gpu, PUMICE_LOG_GUEST_ERROR,
		"%s job stopped: %s by %s%s (%s) at 0x%llx, context %u, USC %u, instruction %u",
		name, pumice_fault_str(f->fault), pumice_unit_str(f->unit), number,
		pumice_access_str(f->access), (unsigned long long)f->addr, f->ctx, f->usc, f->pc);
}

/* struct cdm_ops */
static void cdm_ended(void *opaque, enum dm_end end)
{
	static const u32 event[] = {
		[DM_DONE] = PUMICE_IC_PENDING__CDM_DONE__MASK,
		[DM_FAULT] = PUMICE_IC_PENDING__CDM_FAULT__MASK,
		[DM_ABORTED] = PUMICE_IC_PENDING__CDM_ABORTED__MASK,
		[DM_SWITCHED] = PUMICE_IC_PENDING__CDM_SWITCHED__MASK,
	};
	struct pumice_gpu *gpu = opaque;
	const struct dm_status *s = cdm_status(gpu->cdm);

	gpu_trace(gpu, PUMICE_TRACE_CDM_END, s->fault.fault, s->done,
		  end == DM_SWITCHED);
	race_job_end(gpu->strict.race, PUMICE_WAVE_MASTER_CDM, gpu_clock(gpu));
	if (end == DM_SWITCHED)
		coherence_compute_switched(gpu);
	else
		coherence_job_ends(gpu, COHERENCE_CDM);
	if (end == DM_FAULT)
		gpu_log_fault(gpu, "compute", &s->fault);
	gpu_raise_end(gpu, PUMICE_INJECT_WHERE_CDM, event[end]);
}

static const struct cdm_ops cdm_ops = {
	.ended = cdm_ended,
	.wake = wake_cdm,
	.wake_source = wake_cdm_source,
	.lock = device_lock,
	.unlock = device_unlock,
	.now = device_clock,
};

/* struct fwctl_ops */
static bool fw_bus_load(void *opaque, u32 offset, unsigned int size, u32 *value)
{
	if (size != sizeof(*value))
		return false;
	*value = (u32)regs_read(opaque, PUMICE_REG_BUS_FW, 0, offset, size);
	return true;
}

static enum fwctl_store fw_bus_store(void *opaque, u32 offset, unsigned int size, u32 value)
{
	if (size != sizeof(value))
		return FWCTL_STORE_REFUSED;
	switch (regs_write(opaque, PUMICE_REG_BUS_FW, 0, offset, value, size)) {
	case REG_AGAIN:
		return FWCTL_STORE_AGAIN;
	case REG_WAIT:
	case REG_WAVES:
	case REG_CACHES:
		return FWCTL_STORE_LONG;
	default:
		return FWCTL_STORE_DONE;
	}
}

static void fw_booted(void *opaque, u32 image_bytes, u32 entry, enum pumice_fw_boot_error error)
{
	struct pumice_gpu *gpu = opaque;

	gpu_trace(gpu, PUMICE_TRACE_FW_BOOT, image_bytes, entry, error);
	if (error)
		gpu_log(gpu, PUMICE_LOG_GUEST_ERROR, "firmware did not boot: boot error %s",
			pumice_fw_boot_error_str(error));
	else
		gpu_fail_firmware(gpu, PUMICE_INJECT_WHERE_BOOT);
}

static void fw_lockup(void *opaque, u32 pc, u32 mcause)
{
	struct pumice_gpu *gpu = opaque;
	unsigned int os;

	gpu_trace(gpu, PUMICE_TRACE_FW_LOCKUP, pc, mcause, 0);
	gpu_log(gpu, PUMICE_LOG_GUEST_ERROR, "firmware locked up at 0x%x, cause 0x%x", pc, mcause);
	for (os = 0; os < gpu->config.oses; os++)
		gpu_os_raise(gpu, os, PUMICE_OS_IRQ_STATUS__LOCKUP__MASK);
}

static void fw_asleep(void *opaque)
{
	struct pumice_gpu *gpu = opaque;

	if (gpu->dropped.on)
		dropped_sleep(&gpu->dropped, fwctl_pending(gpu->fw), fwctl_enabled(gpu->fw));
	coherence_asleep(gpu);
}

static const struct fwctl_ops fwctl_ops = {
	.bus_load = fw_bus_load,
	.bus_store = fw_bus_store,
	.lock = device_lock,
	.unlock = device_unlock,
	.wake = wake_fw,
	.set_deadline = set_fw_deadline,
	.clock = device_clock,
	.asleep = fw_asleep,
	.booted = fw_booted,
	.lockup = fw_lockup,
};

/* Steps of the worker units. */

static bool step_fw(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct pumice_gpu *gpu = opaque;

	(void)index;
	return fwctl_step(gpu->fw, stop);
}

/* Return whether the host or another unit waits for the device lock. */
static bool lock_wanted(const struct pumice_gpu *gpu)
{
	return atomic_load_explicit(&gpu->host_waits, memory_order_relaxed) ||
	       atomic_load_explicit(&gpu->lock_waits, memory_order_relaxed);
}

static bool step_cdm(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct pumice_gpu *gpu = opaque;
	bool more = true;
	u32 done;

	(void)index;
	if (inject_hung(&gpu->inject, PUMICE_INJECT_WHERE_CDM))
		return false;
	device_lock(gpu);
	for (done = 0; more && done < CDM_BUDGET; done += CDM_LOOK) {
		if (done && (atomic_load_explicit(stop, memory_order_relaxed) || lock_wanted(gpu)))
			break;
		more = cdm_step(gpu->cdm, CDM_LOOK);
	}
	device_unlock(gpu);
	return more;
}

static bool step_cdm_source(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct pumice_gpu *gpu = opaque;

	if (inject_hung(&gpu->inject, PUMICE_INJECT_WHERE_CDM))
		return false;
	return cdm_source_step(gpu->cdm, index, CDM_BUDGET, stop);
}

/* Raise the events delayed by fault injection that are due. */
static bool step_late(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct pumice_gpu *gpu = opaque;
	u32 due;
	u64 next;

	(void)index;
	(void)stop;
	device_lock(gpu);
	due = inject_due(&gpu->inject, gpu_clock(gpu), &next);
	workers_set_deadline(gpu->workers, GPU_UNIT_LATE, next);
	if (due)
		fwctl_raise(gpu->fw, due);
	device_unlock(gpu);
	return false;
}

/*
 * Step a USC with slow memory: a pause in which the unit but no thread sleeps, then a few
 * instructions. Returns like usc_step().
 */
static bool step_slow_usc(struct pumice_gpu *gpu, unsigned int usc, const _Atomic bool *stop)
{
	const u64 now = gpu_clock(gpu);
	struct inject_request request;

	if (!gpu->slow_until[usc] &&
	    inject_take(&gpu->inject, PUMICE_INJECT_KIND_SLOW_MEMORY, PUMICE_INJECT_WHERE_USC,
			&request))
		gpu->slow_until[usc] = now + request.us * 1000ull;
	if (gpu->slow_until[usc] > now) {
		workers_set_deadline(gpu->workers, gpu_usc_unit(gpu, usc),
				     gpu->slow_until[usc]);
		return false;
	}
	gpu->slow_until[usc] = 0;
	return usc_step(gpu->usc[usc], USC_SLOW_BUDGET, stop);
}

static bool step_usc(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct pumice_gpu *gpu = opaque;

	if (gpu->slow_until[index] ||
	    inject_armed(&gpu->inject, PUMICE_INJECT_KIND_SLOW_MEMORY))
		return step_slow_usc(gpu, index, stop);
	return usc_step(gpu->usc[index],
			mmu_is_detailed(&gpu->mmu) ? USC_DETAILED_BUDGET : USC_BUDGET, stop);
}

/* Allocation and release. */

static bool find_late(const char *name, enum usc_late_mode *late)
{
	static const char *const names[] = {
		[USC_LATE_EARLY] = "early", [USC_LATE_DATA] = "data", [USC_LATE_POISON] = "poison",
	};
	size_t n;

	*late = USC_LATE_EARLY;
	for (n = 0; name && n < sizeof(names) / sizeof(names[0]); n++) {
		*late = (enum usc_late_mode)n;
		if (!strcmp(name, names[n]))
			return true;
	}
	return !name;
}

/* Choices of a configuration that it has as words. */
struct words {
	enum pumice_preset preset;
	enum usc_late_mode late;
	enum pumice_output_store outputs;
	enum pumice_mode mode;
};

/* Fill in defaults and check; returns the error, or NULL. */
static const char *check_config(struct pumice_gpu_config *c, struct words *words)
{
	if (!find_late(c->late, &words->late))
		return "late must be early, data or poison";
	if (!mode_find(c->mode, &words->mode))
		return "mode must be fast, counted or strict";
	if (!preset_find(c->preset, &words->preset))
		return "the preset must be default, volcanic, waves, sgx543mp4 or videocore4";
	preset_apply(words->preset, c);
	if (!preset_find_outputs(c->pixel_outputs, &words->outputs))
		return "pixel-outputs must be common or partition";
	c->oses = c->oses ? c->oses : 1;
	if (c->threads > WORKERS_MAX_THREADS)
		return "threads must be 0 to 64";
	if (c->oses > PUMICE_OS_COUNT)
		return "oses must be 1 to 8";
	return preset_check(c);
}

static bool create_fw(struct pumice_gpu *gpu)
{
	const struct fwctl_config config = {
		.mmu = &gpu->mmu,
		.mem = &gpu->mem,
		.ops = &fwctl_ops,
		.opaque = gpu,
	};

	gpu->fw = fwctl_create(&config);
	return gpu->fw;
}

static bool create_data_masters(struct pumice_gpu *gpu)
{
	const struct cdm_config cdm = {
		.cores = gpu->config.cores, .mmu = &gpu->mmu, .ops = &cdm_ops, .opaque = gpu,
		.trace = &gpu->trace,
	};
	struct pds_config pds = {
		.uscs = gpu->uscs,
		.uscs_per_core = gpu->config.uscs_per_core,
		.tasks = gpu->config.tasks,
		.slots = gpu->config.slots,
		.waves = gpu->config.waves,
		.batch = gpu->config.batch,
		.usc = gpu->usc,
		.unified_bytes = gpu->config.unified_kib * 1024,
		.common_bytes = gpu->config.common_kib * 1024,
		.local_bytes = gpu->config.local_kib * 1024,
		.slot_regs = gpu->slot_registers,
		.outputs = gpu->outputs,
		.vpm_bytes = gpu->config.vpm_kib * 1024,
		.mmu = &gpu->mmu,
		.lock = device_lock,
		.unlock = device_unlock,
		.wake_usc = wake_usc,
		.now = device_clock,
		.opaque = gpu,
		.trace = &gpu->trace,
		.ops = &cdm_pds_ops,
	};

	gpu->halves = halves_create(&gpu->mmu, gpu->config.cores, gpu->config.uscs_per_core);
	gpu->programs = usc_program_cache_create();
	gpu->cdm = cdm_create(&cdm);
	if (!gpu->halves || !gpu->programs || !gpu->cdm)
		return false;
	usc_program_cache_set_ops(gpu->programs, &cache_ops, gpu);
	pds.programs = gpu->programs;
	pds.ops_opaque = gpu->cdm;
	gpu->pds = pds_create(&pds);
	if (!gpu->pds)
		return false;
	cdm_connect(gpu->cdm, gpu->pds);
	return masters_create(gpu);
}

static bool create_uscs(struct pumice_gpu *gpu)
{
	struct usc_config config = {
		.unified_bytes = gpu->config.unified_kib * 1024,
		.common_bytes = gpu->config.common_kib * 1024,
		.local_bytes = gpu->config.local_kib * 1024,
		.late = gpu->late,
		.mmu = &gpu->mmu,
		.ops = &pds_usc_ops,
		.opaque = gpu->pds,
	};
	unsigned int i;

	for (i = 0; i < gpu->uscs; i++) {
		config.number = i;
		config.core = i / gpu->config.uscs_per_core;
		config.in_core = i % gpu->config.uscs_per_core;
		config.tag = halves_of(gpu->halves, i)->tag;
		config.tcu = (u8)half_tcu_of_usc(config.in_core, gpu->config.uscs_per_core);
		gpu->usc[i] = usc_create(&config);
		if (!gpu->usc[i])
			return false;
	}
	return true;
}

static bool create_waves(struct pumice_gpu *gpu)
{
	unsigned int i;

	for (i = 0; i < GPU_BUSES; i++) {
		gpu->waves[i].wave = calloc(gpu->uscs * USC_WAVES, sizeof(*gpu->waves[i].wave));
		if (!gpu->waves[i].wave)
			return false;
	}
	return true;
}

static bool create_workers(struct pumice_gpu *gpu)
{
	struct workers_unit unit[WORKERS_MAX_UNITS] = {
		[GPU_UNIT_FW] = { .step = step_fw, .opaque = gpu, .urgent = true,
				  .defer = WORKERS_DEFER_ALL },
		[GPU_UNIT_CDM] = { .step = step_cdm, .opaque = gpu,
				   .defer = WORKERS_DEFER_HOME },
		[GPU_UNIT_LATE] = { .step = step_late, .opaque = gpu },
		[GPU_UNIT_RDM] = { .step = masters_step_rdm, .opaque = gpu },
	};
	const struct workers_config config = {
		.threads = gpu->config.threads,
		.units = gpu_source_unit(gpu, gpu->config.cores),
		.unit = unit,
		.now = device_clock,
		.kick = gpu->ops.kick,
		.now_opaque = gpu,
		.kick_opaque = gpu->opaque,
		.thread_start = gpu->ops.thread_start,
		.thread_end = gpu->ops.thread_end,
		.thread_opaque = gpu->opaque,
	};
	unsigned int i;

	for (i = 0; i < PTLA_UNITS; i++)
		unit[GPU_UNIT_TDM0 + i] = (struct workers_unit){
			.step = masters_step_tdm, .opaque = gpu, .index = i };
	/* A core, its source of compute and its USCs share tiles, spans and registers. */
	for (i = 0; i < gpu->config.cores; i++) {
		unit[GPU_UNIT_CORE0 + i] = (struct workers_unit){
			.step = masters_step_core, .opaque = gpu, .index = i, .home = i + 1 };
		unit[gpu_source_unit(gpu, i)] = (struct workers_unit){
			.step = step_cdm_source, .opaque = gpu, .index = i, .home = i + 1,
			.defer = WORKERS_DEFER_HOME };
	}
	for (i = 0; i < gpu->uscs; i++)
		unit[gpu_usc_unit(gpu, i)] = (struct workers_unit){
			.step = step_usc, .opaque = gpu, .index = i,
			.home = i / gpu->config.uscs_per_core + 1 };
	gpu->workers = workers_create(&config);
	return gpu->workers;
}

/* A finding of mode strict. */
static void notify_finding(void *opaque, const char *text)
{
	struct pumice_gpu *gpu = opaque;

	if (gpu->ops.finding)
		gpu->ops.finding(gpu->opaque, text);
}

/* A block has a finding. */
static void report_finding(void *opaque, const struct strict_finding *finding)
{
	strict_report(opaque, finding);
}

struct pumice_gpu *pumice_gpu_create(const struct pumice_gpu_config *config,
				     const struct pumice_gpu_ops *ops, void *opaque,
				     const char **error)
{
	struct pumice_gpu_config checked = *config;
	struct words words;
	struct pumice_gpu *gpu;

	*error = check_config(&checked, &words);
	if (*error)
		return NULL;
	*error = "out of memory or threads";
	gpu = calloc(1, sizeof(*gpu));
	if (!gpu)
		return NULL;
	gpu->config = checked;
	gpu->config.preset = NULL;	/* the caller's */
	gpu->config.late = NULL;
	gpu->config.pixel_outputs = NULL;
	gpu->config.mode = NULL;
	gpu->late = words.late;
	gpu->outputs = words.outputs;
	gpu->preset = words.preset;
	gpu->ops = *ops;
	gpu->opaque = opaque;
	gpu->uscs = checked.cores * checked.uscs_per_core;
	gpu->slot_registers =
		checked.slot_registers == PUMICE_NO_REGISTERS ? 0 : checked.slot_registers;
	gpu->clock_base = ops->now(opaque);
	inject_init(&gpu->inject);
	strict_init(&gpu->strict, &gpu->mmu, notify_finding, gpu);
	gpu->strict.complete = finding_complete;
	owner_init(&gpu->owner, report_finding, &gpu->strict);
	dropped_init(&gpu->dropped, report_finding, &gpu->strict);
	gpu->mmu.map = &gpu->mem;
	gpu->mmu.oses = gpu->config.oses;
	gpu->mmu.inject = &gpu->inject;
	gpu->mmu.event = mmu_event;
	gpu->mmu.event_opaque = gpu;
	mmu_reset(&gpu->mmu);
	trace_init(&gpu->trace, &(struct trace_config){
					.mmu = &gpu->mmu, .now = device_clock, .opaque = gpu });
	pthread_mutex_init(&gpu->control, NULL);
	pthread_mutex_init(&gpu->gate, NULL);
	lock_init(&gpu->lock);
	/* The workers last: no unit runs before all blocks exist. */
	gpu->mode_of_host = words.mode;
	if (!create_fw(gpu) || !create_data_masters(gpu) || !create_uscs(gpu) ||
	    !create_waves(gpu) || !create_workers(gpu) || mode_set(gpu, words.mode)) {
		pumice_gpu_destroy(gpu);
		return NULL;
	}
	*error = NULL;
	return gpu;
}

void pumice_gpu_get_config(const struct pumice_gpu *gpu, struct pumice_gpu_config *config)
{
	*config = gpu->config;
}

void pumice_gpu_destroy(struct pumice_gpu *gpu)
{
	unsigned int i;

	if (!gpu)
		return;
	workers_destroy(gpu->workers);
	fwctl_destroy(gpu->fw);
	cdm_destroy(gpu->cdm);
	masters_destroy(gpu);
	pds_destroy(gpu->pds);
	for (i = 0; i < gpu->uscs; i++)
		usc_destroy(gpu->usc[i]);
	for (i = 0; i < GPU_BUSES; i++)
		free(gpu->waves[i].wave);
	halves_destroy(gpu->halves);
	usc_program_cache_destroy(gpu->programs);
	mem_map_clear(&gpu->mem);
	inject_destroy(&gpu->inject);
	owner_destroy(&gpu->owner);
	dropped_destroy(&gpu->dropped);
	strict_destroy(&gpu->strict);
	hierarchy_destroy(gpu->hierarchy);
	pthread_mutex_destroy(&gpu->lock);
	pthread_mutex_destroy(&gpu->gate);
	pthread_mutex_destroy(&gpu->control);
	free(gpu);
}

/* Interface to the host. */

uint64_t pumice_gpu_mmio_read(struct pumice_gpu *gpu, unsigned int os, uint32_t offset,
			      unsigned int size)
{
	return regs_read(gpu, PUMICE_REG_BUS_HOST, os, offset, size);
}

void pumice_gpu_mmio_write(struct pumice_gpu *gpu, unsigned int os, uint32_t offset,
			   uint64_t value, unsigned int size)
{
	regs_write(gpu, PUMICE_REG_BUS_HOST, os, offset, value, size);
}

int pumice_gpu_set_memory(struct pumice_gpu *gpu, const struct pumice_mem_region *regions,
			  unsigned int count)
{
	int ret;

	pthread_mutex_lock(&gpu->control);
	workers_park(gpu->workers);
	/* Register accesses continue while parked; their trace events are written to memory. */
	device_lock(gpu);
	ret = mem_map_set(&gpu->mem, regions, count);
	gpu_tlb_drop(gpu, PUMICE_MMU_CONTEXTS);
	device_unlock(gpu);
	workers_unpark(gpu->workers);
	pthread_mutex_unlock(&gpu->control);
	return ret;
}

void pumice_gpu_park(struct pumice_gpu *gpu)
{
	workers_park(gpu->workers);
}

void pumice_gpu_unpark(struct pumice_gpu *gpu)
{
	workers_unpark(gpu->workers);
}

/* Set all state to its reset value; parked, device lock held. */
static void reset_locked(struct pumice_gpu *gpu)
{
	unsigned int i;

	fwctl_reset(gpu->fw);
	cdm_reset(gpu->cdm);
	masters_reset(gpu);
	pds_reset(gpu->pds);
	for (i = 0; i < gpu->uscs; i++)
		usc_reset(gpu->usc[i]);
	halves_reset(gpu->halves);
	mmu_reset(&gpu->mmu);
	if (gpu->hierarchy)
		hierarchy_reset(gpu->hierarchy);
	coherence_reset(gpu);
	memset(&gpu->counts, 0, sizeof(gpu->counts));
	trace_reset(&gpu->trace);
	gpu_set_detail(gpu, false);
	gpu_counters(gpu, gpu->perf_base);
	for (i = 0; i < PUMICE_OS_COUNT; i++)
		gpu->os[i] = (struct gpu_os){ 0 };
	gpu->cdm_job = (struct cdm_job){ 0 };
	for (i = 0; i < GPU_BUSES; i++)
		gpu->waves[i].count = gpu->waves[i].select = gpu->hier_select[i] = 0;
	gpu->find_select = 0;
	memset(gpu->find_arg, 0, sizeof(gpu->find_arg));
	gpu->find_ready = 0;
	gpu->find_place = (struct gpu_place){ 0 };
	dropped_reset(&gpu->dropped);
	memset(gpu->find_text, 0, sizeof(gpu->find_text));
	gpu->clock_high = 0;
	gpu->slc_regs = (struct gpu_slc_regs){ 0 };
	gpu->mode_refusal = PUMICE_MODE_REFUSAL_NONE;
	inject_reset(&gpu->inject);
	memset(gpu->slow_until, 0, sizeof(gpu->slow_until));
	gpu->inject_regs = (struct gpu_inject_regs){ 0 };
}

void pumice_gpu_reset(struct pumice_gpu *gpu)
{
	pthread_mutex_lock(&gpu->control);
	atomic_store(&gpu->resetting, true);
	workers_park(gpu->workers);
	device_lock(gpu);
	/* This must be first: a wake-up by a concurrent register write must not be lost. */
	workers_clear(gpu->workers);
	reset_locked(gpu);
	atomic_store(&gpu->resetting, false);
	device_unlock(gpu);
	workers_unpark(gpu->workers);
	pthread_mutex_unlock(&gpu->control);
}

void pumice_gpu_machine_reset(struct pumice_gpu *gpu)
{
	inject_forget_guest(&gpu->inject);
	pumice_gpu_reset(gpu);
	mode_restore(gpu);
}

int pumice_gpu_inject(struct pumice_gpu *gpu, const char *text)
{
	struct inject_request request;

	if (!strcmp(text, "none")) {
		inject_clear(&gpu->inject);
		return 0;
	}
	return inject_parse(text, &request) && inject_arm(&gpu->inject, &request) ? 0 : -EINVAL;
}

void pumice_gpu_injected(struct pumice_gpu *gpu, char *text, size_t bytes)
{
	inject_describe(&gpu->inject, text, bytes);
}

uint64_t pumice_gpu_poll(struct pumice_gpu *gpu, uint64_t budget_ns)
{
	return workers_poll(gpu->workers, budget_ns);
}
