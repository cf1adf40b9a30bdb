// SPDX-License-Identifier: MIT
/*
 * Registers of unit CDM, and of unit DBG, which mirrors them for the host.
 */
#include "../coherence.h"
#include "units.h"

REG_READ(reg_cdm_stream)
{
	(void)at;
	return gpu->cdm_job.stream;
}

REG_WRITE(reg_cdm_stream_write)
{
	(void)at;
	gpu->cdm_job.stream = value;
	return REG_DONE;
}

REG_READ(reg_cdm_ctx)
{
	(void)at;
	return gpu->cdm_job.ctx;
}

REG_WRITE(reg_cdm_ctx_write)
{
	(void)at;
	gpu->cdm_job.ctx = (unsigned int)value;
	return REG_DONE;
}

REG_READ(reg_cdm_save)
{
	(void)at;
	return gpu->cdm_job.save;
}

REG_WRITE(reg_cdm_save_write)
{
	(void)at;
	gpu->cdm_job.save = value;
	return REG_DONE;
}

REG_READ(reg_cdm_tag)
{
	(void)at;
	return gpu->cdm_job.tag;
}

REG_WRITE(reg_cdm_tag_write)
{
	(void)at;
	gpu->cdm_job.tag = value;
	return REG_DONE;
}

static void start(struct pumice_gpu *gpu, bool resume)
{
	const struct cdm_job *job = &gpu->cdm_job;
	bool started;

	gpu_job_starts(gpu, PUMICE_INJECT_WHERE_CDM, PUMICE_IC_PENDING__CDM_DONE__MASK);
	coherence_job_begins(gpu, COHERENCE_CDM);
	if (!cdm_status(gpu->cdm)->busy)
		race_job_begin(gpu->strict.race, PUMICE_WAVE_MASTER_CDM, job->tag, gpu->find_ready);
	gpu->find_ready = 0;
	started = resume ? cdm_resume(gpu->cdm, job) : cdm_start(gpu->cdm, job);

	if (started)
		gpu_trace(gpu, PUMICE_TRACE_CDM_START, resume ? job->save : job->stream, job->ctx,
			  resume);
	else
		gpu_log(gpu, PUMICE_LOG_GUEST_ERROR, "CDM started while busy");
}

REG_WRITE(reg_cdm_ctrl)
{
	(void)at;
	if (value & PUMICE_CDM_CTRL__ABORT__MASK)
		cdm_abort(gpu->cdm);
	if (value & PUMICE_CDM_CTRL__SWITCH_OUT__MASK)
		cdm_switch_out(gpu->cdm);
	if (value & (PUMICE_CDM_CTRL__START__MASK | PUMICE_CDM_CTRL__RESUME__MASK))
		start(gpu, !(value & PUMICE_CDM_CTRL__START__MASK));
	return REG_DONE;
}

/* The firmware reads the status: it handles the end of the job. */
static void handled(struct pumice_gpu *gpu)
{
	dropped_read(&gpu->dropped, PUMICE_UNIT_CDM);
	coherence_job_handled(gpu, PUMICE_UNIT_CDM);
}

/* Both status registers have the same fields. */
REG_READ(reg_cdm_status)
{
	const struct dm_status *s = cdm_status(gpu->cdm);

	if (at->bus == PUMICE_REG_BUS_FW)
		handled(gpu);
	return PUMICE_FIELD_PREP(PUMICE_CDM_STATUS__BUSY, s->busy) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_STATUS__FAULT, s->fault.fault) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_STATUS__UNIT, s->fault.unit) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_STATUS__ACCESS, s->fault.access);
}

REG_READ(reg_cdm_fault_addr)
{
	(void)at;
	return cdm_status(gpu->cdm)->fault.addr;
}

REG_READ(reg_cdm_fault_info)
{
	const struct gpu_fault *f = &cdm_status(gpu->cdm)->fault;

	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_INFO__PC, f->pc) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_INFO__USC, f->usc) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_INFO__CTX, f->ctx) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_INFO__INDEX, (u64)f->index);
}

REG_READ(reg_cdm_fault_code)
{
	(void)at;
	return cdm_status(gpu->cdm)->fault.code;
}

REG_READ(reg_cdm_fault_wave)
{
	(void)at;
	return fault_wave(&cdm_status(gpu->cdm)->fault);
}

REG_READ(reg_cdm_fault_group)
{
	(void)at;
	return fault_group(&cdm_status(gpu->cdm)->fault);
}

REG_READ(reg_cdm_fault_group_z)
{
	(void)at;
	return cdm_status(gpu->cdm)->fault.group[2];
}

REG_READ(reg_cdm_time_start)
{
	(void)at;
	return cdm_status(gpu->cdm)->time_start;
}

REG_READ(reg_cdm_time_end)
{
	(void)at;
	return cdm_status(gpu->cdm)->time_end;
}

REG_READ(reg_cdm_groups)
{
	(void)at;
	return cdm_status(gpu->cdm)->done;
}
