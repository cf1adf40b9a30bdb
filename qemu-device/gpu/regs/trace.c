// SPDX-License-Identifier: MIT
/*
 * Registers of unit TRACE: the ring of events.
 */
#include "units.h"

REG_READ(reg_trace_base)
{
	(void)at;
	return gpu->trace.regs.base;
}

REG_WRITE(reg_trace_base_write)
{
	(void)at;
	gpu->trace.regs.base = value;
	return REG_DONE;
}

REG_READ(reg_trace_entries)
{
	(void)at;
	return gpu->trace.regs.entries;
}

REG_WRITE(reg_trace_entries_write)
{
	(void)at;
	gpu->trace.regs.entries = (u32)value;
	return REG_DONE;
}

REG_READ(reg_trace_ctrl)
{
	(void)at;
	return gpu->trace.regs.ctrl;
}

REG_WRITE(reg_trace_ctrl_write)
{
	const struct trace_regs *regs = &gpu->trace.regs;

	(void)at;
	gpu_trace(gpu, PUMICE_TRACE_RING, value, regs->base, regs->entries);
	if (!(regs->ctrl & PUMICE_TRACE_CTRL__ENABLE__MASK)) {
		pds_trace_begin(gpu->pds);
		pdm_trace_begin(gpu->pdm);
	}
	return trace_set_enable(&gpu->trace, (u32)value) ? REG_WAIT : REG_DONE;
}

REG_READ(reg_trace_written)
{
	(void)at;
	return trace_written(&gpu->trace);
}

REG_READ(reg_trace_fw_arg)
{
	return gpu->trace.regs.fw_arg[at->index];
}

REG_WRITE(reg_trace_fw_arg_write)
{
	gpu->trace.regs.fw_arg[at->index] = (u32)value;
	return REG_DONE;
}

REG_WRITE(reg_trace_fw_event)
{
	const u32 *arg = gpu->trace.regs.fw_arg;

	(void)at;
	trace_event(&gpu->trace, PUMICE_TRACE_KIND_FIRMWARE, TRACE_NO_JOB, 0, 0,
		    arg[0] | (u64)arg[1] << 32,
		    arg[2] | PUMICE_FIELD_GET(PUMICE_TRACE_FW_EVENT__EVENT, value) << 32);
	return REG_DONE;
}
