// SPDX-License-Identifier: MIT
/*
 * Registers of units VDM, PDM, TDM and RDM, which have the same fields at the same offsets, of
 * unit PM, and their mirrors in unit DBG.
 */
#include "../coherence.h"
#include "units.h"

/* Return the data master of a register. */
static struct gpu_master *master_of(struct pumice_gpu *gpu, const struct reg_access *at)
{
	if (at->info->offset >= PUMICE_RDM_UNIT_BASE)
		return &gpu->master[GPU_RDM];
	if (at->info->offset >= PUMICE_TDM_UNIT_BASE)
		return &gpu->master[GPU_TDM];
	if (at->info->offset >= PUMICE_PDM_UNIT_BASE)
		return &gpu->master[GPU_PDM];
	return &gpu->master[GPU_VDM];
}

REG_READ(reg_master_stream)
{
	return master_of(gpu, at)->job.stream;
}

REG_WRITE(reg_master_stream_write)
{
	master_of(gpu, at)->job.stream = value;
	return REG_DONE;
}

REG_READ(reg_master_ctx)
{
	return master_of(gpu, at)->job.ctx;
}

REG_WRITE(reg_master_ctx_write)
{
	master_of(gpu, at)->job.ctx = (unsigned int)value;
	return REG_DONE;
}

REG_READ(reg_master_scene)
{
	return master_of(gpu, at)->job.scene;
}

REG_WRITE(reg_master_scene_write)
{
	master_of(gpu, at)->job.scene = value;
	return REG_DONE;
}

REG_READ(reg_master_tag)
{
	return master_of(gpu, at)->job.tag;
}

REG_WRITE(reg_master_tag_write)
{
	master_of(gpu, at)->job.tag = value;
	return REG_DONE;
}

REG_READ(reg_vdm_split)
{
	return master_of(gpu, at)->job.split;
}

REG_WRITE(reg_vdm_split_write)
{
	master_of(gpu, at)->job.split = (u32)value;
	return REG_DONE;
}

/* A job starts: an occasion for injected faults. */
static void job_starts(struct gpu_master *m)
{
	static const enum pumice_inject_where where[GPU_MASTERS] = {
		[GPU_VDM] = PUMICE_INJECT_WHERE_VDM,
		[GPU_PDM] = PUMICE_INJECT_WHERE_PDM,
		[GPU_TDM] = PUMICE_INJECT_WHERE_TDM,
		[GPU_RDM] = PUMICE_INJECT_WHERE_RDM,
	};
	static const u32 done[GPU_MASTERS] = {
		[GPU_VDM] = PUMICE_IC_PENDING__VDM_DONE__MASK,
		[GPU_PDM] = PUMICE_IC_PENDING__PDM_DONE__MASK,
		[GPU_TDM] = PUMICE_IC_PENDING__TDM_DONE__MASK,
		[GPU_RDM] = PUMICE_IC_PENDING__RDM_DONE__MASK,
	};

	gpu_job_starts(m->gpu, where[m->number], done[m->number]);
	coherence_job_begins(m->gpu, m->number);
	if (m->number != GPU_TDM && !master_status(m)->busy)
		race_job_begin(m->gpu->strict.race, master_waves(m->number), m->job.tag,
			       m->gpu->find_ready);
	/* Of this job, also if it has no waves or is refused. */
	m->gpu->find_ready = 0;
}

/* START and ABORT are the same bits in all of them. */
static void start_or_abort(struct gpu_master *m, u64 value)
{
	if (value & PUMICE_VDM_CTRL__ABORT__MASK)
		master_abort(m);
	if (value & PUMICE_VDM_CTRL__START__MASK)
		job_starts(m);
	if ((value & PUMICE_VDM_CTRL__START__MASK) && !master_start(m))
		gpu_log(m->gpu, PUMICE_LOG_GUEST_ERROR, "data master started while busy");
}

REG_WRITE(reg_vdm_ctrl)
{
	start_or_abort(master_of(gpu, at), value);
	if (value & PUMICE_VDM_CTRL__FLUSH__MASK)
		vdm_flush(gpu->vdm);
	else if (value & PUMICE_VDM_CTRL__RESUME__MASK)
		vdm_resume(gpu->vdm);
	return REG_DONE;
}

REG_WRITE(reg_pdm_ctrl)
{
	struct gpu_master *m = master_of(gpu, at);

	if (value & PUMICE_PDM_CTRL__START__MASK && !master_status(m)->busy)
		m->job.partial = value & PUMICE_PDM_CTRL__PARTIAL__MASK;
	start_or_abort(m, value);
	return REG_DONE;
}

/* TDM and RDM. */
REG_WRITE(reg_tdm_ctrl)
{
	start_or_abort(master_of(gpu, at), value);
	return REG_DONE;
}

REG_READ(reg_tdm_presents)
{
	return master_of(gpu, at)->job.presents;
}

REG_WRITE(reg_tdm_presents_write)
{
	master_of(gpu, at)->job.presents = (u32)value;
	return REG_DONE;
}

REG_READ(reg_tdm_flip_status)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_TDM_FLIP_STATUS__COUNT, ptla_flips(gpu->ptla));
}

REG_READ(reg_tdm_flip_frame)
{
	(void)at;
	return ptla_flip(gpu->ptla).frame;
}

REG_READ(reg_tdm_flip_addr)
{
	(void)at;
	return ptla_flip(gpu->ptla).addr;
}

REG_READ(reg_tdm_flip_time)
{
	(void)at;
	return ptla_flip(gpu->ptla).time;
}

REG_WRITE(reg_tdm_flip_ctrl)
{
	(void)at;
	if (value & PUMICE_TDM_FLIP_CTRL__POP__MASK)
		ptla_flip_pop(gpu->ptla);
	return REG_DONE;
}

static u64 status_bits(const struct gpu_master *m)
{
	const struct dm_status *s = master_status(m);

	return PUMICE_FIELD_PREP(PUMICE_VDM_STATUS__BUSY, s->busy) |
	       PUMICE_FIELD_PREP(PUMICE_VDM_STATUS__FAULT, s->fault.fault) |
	       PUMICE_FIELD_PREP(PUMICE_VDM_STATUS__UNIT, s->fault.unit) |
	       PUMICE_FIELD_PREP(PUMICE_VDM_STATUS__ACCESS, s->fault.access);
}

/* The unit of the data master, for mode strict. */
static enum pumice_unit unit_of(const struct gpu_master *m)
{
	static const enum pumice_unit unit[GPU_MASTERS] = {
		[GPU_VDM] = PUMICE_UNIT_VDM, [GPU_PDM] = PUMICE_UNIT_PDM,
		[GPU_TDM] = PUMICE_UNIT_PTLA, [GPU_RDM] = PUMICE_UNIT_RDM,
	};

	return unit[m->number];
}

REG_READ(reg_master_status)
{
	const struct gpu_master *m = master_of(gpu, at);

	dropped_read(&gpu->dropped, unit_of(m));
	coherence_job_handled(gpu, unit_of(m));
	return status_bits(m);
}

REG_READ(reg_dbg_vdm_status)
{
	(void)at;
	return status_bits(&gpu->master[GPU_VDM]);
}

REG_READ(reg_dbg_pdm_status)
{
	(void)at;
	return status_bits(&gpu->master[GPU_PDM]);
}

REG_READ(reg_dbg_tdm_status)
{
	(void)at;
	return status_bits(&gpu->master[GPU_TDM]);
}

REG_READ(reg_dbg_rdm_status)
{
	(void)at;
	return status_bits(&gpu->master[GPU_RDM]);
}

REG_READ(reg_dbg_rdm_stream)
{
	(void)at;
	return gpu->master[GPU_RDM].job.stream;
}

REG_READ(reg_dbg_rdm_tag)
{
	(void)at;
	return gpu->master[GPU_RDM].job.tag;
}

REG_READ(reg_dbg_rdm_ctx)
{
	(void)at;
	return gpu->master[GPU_RDM].job.ctx;
}

/* Element 0 of DBG's arrays is the CDM's, which has its own registers. */

REG_READ(reg_dbg_job_stream)
{
	return at->index ? gpu->master[at->index - 1].job.stream : gpu->cdm_job.stream;
}

REG_READ(reg_dbg_job_tag)
{
	return at->index ? gpu->master[at->index - 1].job.tag : gpu->cdm_job.tag;
}

REG_READ(reg_dbg_job_ctx)
{
	return at->index ? gpu->master[at->index - 1].job.ctx : gpu->cdm_job.ctx;
}

REG_READ(reg_master_fault_addr)
{
	return master_status(master_of(gpu, at))->fault.addr;
}

REG_READ(reg_master_fault_info)
{
	const struct gpu_fault *f = &master_status(master_of(gpu, at))->fault;

	return PUMICE_FIELD_PREP(PUMICE_VDM_FAULT_INFO__PC, f->pc) |
	       PUMICE_FIELD_PREP(PUMICE_VDM_FAULT_INFO__USC, f->usc) |
	       PUMICE_FIELD_PREP(PUMICE_VDM_FAULT_INFO__CTX, f->ctx) |
	       PUMICE_FIELD_PREP(PUMICE_VDM_FAULT_INFO__INDEX, (u64)f->index);
}

REG_READ(reg_master_fault_code)
{
	return master_status(master_of(gpu, at))->fault.code;
}

REG_READ(reg_master_fault_wave)
{
	return fault_wave(&master_status(master_of(gpu, at))->fault);
}

REG_READ(reg_master_fault_group)
{
	return fault_group(&master_status(master_of(gpu, at))->fault);
}

REG_READ(reg_master_fault_group_z)
{
	return master_status(master_of(gpu, at))->fault.group[2];
}

REG_READ(reg_master_time_start)
{
	return master_status(master_of(gpu, at))->time_start;
}

REG_READ(reg_master_time_end)
{
	return master_status(master_of(gpu, at))->time_end;
}

REG_READ(reg_master_groups)
{
	return master_status(master_of(gpu, at))->done;
}

/* Unit PM. */

REG_READ(reg_pm_list)
{
	(void)at;
	return gpu->pm_list;
}

REG_WRITE(reg_pm_list_write)
{
	(void)at;
	gpu->pm_list = value;
	return REG_DONE;
}

REG_WRITE(reg_pm_grow)
{
	(void)at;
	return pm_grow(gpu->pm, gpu->pm_list, (u32)value) ? REG_DONE : REG_AGAIN;
}

REG_WRITE(reg_pm_release)
{
	(void)at;
	return pm_release(gpu->pm, value) ? REG_DONE : REG_AGAIN;
}

REG_READ(reg_pm_low_list)
{
	(void)at;
	return pm_low_list(gpu->pm);
}

REG_READ(reg_pm_allocated)
{
	(void)at;
	return pm_allocated(gpu->pm);
}

REG_READ(reg_pm_freed)
{
	(void)at;
	return pm_freed(gpu->pm);
}
