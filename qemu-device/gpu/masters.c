// SPDX-License-Identifier: MIT
/*
 * The data masters VDM, PDM, TDM and RDM: connection to the other blocks, events for the firmware
 * at ends of jobs, worker units. See masters.h.
 */
#include "masters.h"

#include "coherence.h"
#include "core/core.h"
#include "gpu.h"
#include "pumice_names.h"

/* struct dm_ops; opaque is the struct gpu_master. Called with the device lock held. */

static void trace_end(const struct gpu_master *m, enum dm_end end)
{
	static const enum pumice_trace_event event[GPU_MASTERS] = {
		PUMICE_TRACE_VDM_END, PUMICE_TRACE_PDM_END, PUMICE_TRACE_TDM_END,
		PUMICE_TRACE_RDM_END,
	};
	const struct dm_status *s = master_status(m);

	if (end == DM_MEMORY)
		gpu_trace(m->gpu, PUMICE_TRACE_VDM_MEMORY, s->done, 0, 0);
	else
		gpu_trace(m->gpu, event[m->number], s->fault.fault, s->done, m->job.partial);
}

static void ended(void *opaque, enum dm_end end)
{
	static const char *const name[GPU_MASTERS] = {
		"geometry", "fragment", "transfer", "ray-tracing",
	};
	static const u32 event[GPU_MASTERS][DM_MEMORY + 1] = {
		[GPU_VDM] = {
			[DM_DONE] = PUMICE_IC_PENDING__VDM_DONE__MASK,
			[DM_FAULT] = PUMICE_IC_PENDING__VDM_FAULT__MASK,
			[DM_ABORTED] = PUMICE_IC_PENDING__VDM_ABORTED__MASK,
			[DM_MEMORY] = PUMICE_IC_PENDING__VDM_MEMORY__MASK,
		},
		[GPU_PDM] = {
			[DM_DONE] = PUMICE_IC_PENDING__PDM_DONE__MASK,
			[DM_FAULT] = PUMICE_IC_PENDING__PDM_FAULT__MASK,
			[DM_ABORTED] = PUMICE_IC_PENDING__PDM_ABORTED__MASK,
		},
		[GPU_TDM] = {
			[DM_DONE] = PUMICE_IC_PENDING__TDM_DONE__MASK,
			[DM_FAULT] = PUMICE_IC_PENDING__TDM_FAULT__MASK,
			[DM_ABORTED] = PUMICE_IC_PENDING__TDM_ABORTED__MASK,
		},
		[GPU_RDM] = {
			[DM_DONE] = PUMICE_IC_PENDING__RDM_DONE__MASK,
			[DM_FAULT] = PUMICE_IC_PENDING__RDM_FAULT__MASK,
			[DM_ABORTED] = PUMICE_IC_PENDING__RDM_ABORTED__MASK,
		},
	};
	static const enum pumice_inject_where where[GPU_MASTERS] = {
		PUMICE_INJECT_WHERE_VDM, PUMICE_INJECT_WHERE_PDM, PUMICE_INJECT_WHERE_TDM,
		PUMICE_INJECT_WHERE_RDM,
	};
	struct gpu_master *m = opaque;

	if (end != DM_MEMORY && m->number != GPU_TDM)
		race_job_end(m->gpu->strict.race, master_waves(m->number), gpu_clock(m->gpu));
	if (end != DM_MEMORY && !(m->number == GPU_PDM && m->job.partial))
		coherence_job_ends(m->gpu, m->number);
	if (end == DM_DONE && m->number == GPU_PDM && m->job.partial)
		m->gpu->partials++;
	trace_end(m, end);
	if (end == DM_FAULT)
		gpu_log_fault(m->gpu, name[m->number], &master_status(m)->fault);
	if (end == DM_MEMORY)
		fwctl_raise(m->gpu->fw, event[m->number][end]);
	else
		gpu_raise_end(m->gpu, where[m->number], event[m->number][end]);
}

static void flipped(void *opaque)
{
	struct gpu_master *m = opaque;

	fwctl_raise(m->gpu->fw, PUMICE_IC_PENDING__TDM_FLIP__MASK);
}

static u64 now(void *opaque)
{
	return gpu_clock(((struct gpu_master *)opaque)->gpu);
}

static void lock(void *opaque)
{
	gpu_lock(((struct gpu_master *)opaque)->gpu);
}

static void unlock(void *opaque)
{
	gpu_unlock(((struct gpu_master *)opaque)->gpu);
}

static void wake(void *opaque, unsigned int index)
{
	struct gpu_master *m = opaque;
	static const unsigned int first[GPU_MASTERS] = {
		[GPU_VDM] = GPU_UNIT_CORE0, [GPU_PDM] = GPU_UNIT_CORE0, [GPU_TDM] = GPU_UNIT_TDM0,
		[GPU_RDM] = GPU_UNIT_RDM,
	};

	workers_wake(m->gpu->workers, first[m->number] + index);
}

static const struct dm_ops ops = {
	.ended = ended, .flipped = flipped, .now = now, .lock = lock, .unlock = unlock,
	.wake = wake,
};

/* struct pm_config; called with the PM's lock held. */
static void pm_low(void *opaque)
{
	fwctl_raise(((struct pumice_gpu *)opaque)->fw, PUMICE_IC_PENDING__PM_LOW__MASK);
}

static bool create_task_masters(struct pumice_gpu *gpu)
{
	struct dm_config config = {
		.cores = gpu->config.cores,
		.uscs_per_core = gpu->config.uscs_per_core,
		.batch = gpu->config.batch,
		.idx_fifo = gpu->config.idx_fifo,
		.chunk_fifo = gpu->config.chunk_fifo,
		.tile_fifo = gpu->config.tile_fifo,
		.tsp_vertices = gpu->config.tsp_vertices,
		.mmu = &gpu->mmu,
		.pm = gpu->pm,
		.pds = gpu->pds,
		.halves = gpu->halves,
		.ops = &ops,
		.trace = &gpu->trace,
	};

	config.opaque = &gpu->master[GPU_VDM];
	gpu->vdm = vdm_create(&config);
	config.opaque = &gpu->master[GPU_PDM];
	gpu->pdm = pdm_create(&config);
	config.opaque = &gpu->master[GPU_RDM];
	gpu->rdm = rdm_create(&config);
	return gpu->vdm && gpu->pdm && gpu->rdm;
}

static void reset_registers(struct pumice_gpu *gpu)
{
	unsigned int i;

	for (i = 0; i < GPU_MASTERS; i++)
		gpu->master[i] = (struct gpu_master){ .gpu = gpu, .number = i };
	gpu->master[GPU_VDM].job.split = PUMICE_VDM_SPLIT__RESET;
	gpu->pm_list = 0;
}

bool masters_create(struct pumice_gpu *gpu)
{
	const struct pm_config pm = { .mmu = &gpu->mmu, .low = pm_low, .opaque = gpu,
				       .inject = &gpu->inject, .trace = &gpu->trace,
				       .owner = &gpu->owner };

	reset_registers(gpu);
	gpu->pm = pm_create(&pm);
	gpu->ptla = ptla_create(&gpu->mmu, &ops, &gpu->master[GPU_TDM], &gpu->trace);
	return gpu->pm && gpu->ptla && create_task_masters(gpu);
}

void masters_destroy(struct pumice_gpu *gpu)
{
	vdm_destroy(gpu->vdm);
	pdm_destroy(gpu->pdm);
	rdm_destroy(gpu->rdm);
	ptla_destroy(gpu->ptla);
	pm_destroy(gpu->pm);
}

void masters_reset(struct pumice_gpu *gpu)
{
	vdm_reset(gpu->vdm);
	pdm_reset(gpu->pdm);
	rdm_reset(gpu->rdm);
	ptla_reset(gpu->ptla);
	pm_reset(gpu->pm);
	reset_registers(gpu);
}

void masters_counters_add(const struct pumice_gpu *gpu, u64 *value)
{
	vdm_counters_add(gpu->vdm, value);
	pdm_counters_add(gpu->pdm, value);
	ptla_counters_add(gpu->ptla, value);
	rdm_counters_add(gpu->rdm, value);
	value[PUMICE_PERF_PM_ALLOCATED] += pm_allocated(gpu->pm);
	value[PUMICE_PERF_PM_FREED] += pm_freed(gpu->pm);
	value[PUMICE_PERF_PM_PARTIALS] += gpu->partials;
	value[PUMICE_PERF_PM_SPARES] += pm_from_spares(gpu->pm);
	value[PUMICE_PERF_PM_MAPPED] += pm_mapped(gpu->pm);
}

static bool start_job(struct gpu_master *m)
{
	switch (m->number) {
	case GPU_VDM:
		return vdm_start(m->gpu->vdm, &m->job);
	case GPU_PDM:
		return pdm_start(m->gpu->pdm, &m->job);
	case GPU_RDM:
		return rdm_start(m->gpu->rdm, &m->job);
	default:
		if (!ptla_start(m->gpu->ptla, &m->job))
			return false;
		m->job.presents = 0;
		return true;
	}
}

bool master_start(struct gpu_master *m)
{
	static const enum pumice_trace_event event[GPU_MASTERS] = {
		PUMICE_TRACE_VDM_START, PUMICE_TRACE_PDM_START, PUMICE_TRACE_TDM_START,
		PUMICE_TRACE_RDM_START,
	};

	if (!start_job(m))
		return false;
	gpu_trace(m->gpu, event[m->number], m->job.stream, m->job.ctx, m->job.partial);
	return true;
}

void master_abort(struct gpu_master *m)
{
	switch (m->number) {
	case GPU_VDM:
		vdm_abort(m->gpu->vdm);
		break;
	case GPU_PDM:
		pdm_abort(m->gpu->pdm);
		break;
	case GPU_RDM:
		rdm_abort(m->gpu->rdm);
		break;
	default:
		ptla_abort(m->gpu->ptla);
		break;
	}
}

const struct dm_status *master_status(const struct gpu_master *m)
{
	switch (m->number) {
	case GPU_VDM:
		return vdm_status(m->gpu->vdm);
	case GPU_PDM:
		return pdm_status(m->gpu->pdm);
	case GPU_RDM:
		return rdm_status(m->gpu->rdm);
	default:
		return ptla_status(m->gpu->ptla);
	}
}

bool masters_step_core(void *opaque, unsigned int core, const _Atomic bool *stop)
{
	struct pumice_gpu *gpu = opaque;

	return core_step(inject_hung(&gpu->inject, PUMICE_INJECT_WHERE_VDM) ? NULL : gpu->vdm,
			 inject_hung(&gpu->inject, PUMICE_INJECT_WHERE_PDM) ? NULL : gpu->pdm,
			 core, stop);
}

bool masters_step_tdm(void *opaque, unsigned int unit, const _Atomic bool *stop)
{
	struct pumice_gpu *gpu = opaque;

	if (inject_hung(&gpu->inject, PUMICE_INJECT_WHERE_TDM))
		return false;
	return ptla_step(gpu->ptla, unit, stop);
}

bool masters_step_rdm(void *opaque, unsigned int unit, const _Atomic bool *stop)
{
	struct pumice_gpu *gpu = opaque;

	(void)unit;
	if (inject_hung(&gpu->inject, PUMICE_INJECT_WHERE_RDM))
		return false;
	return rdm_step(gpu->rdm, stop);
}
