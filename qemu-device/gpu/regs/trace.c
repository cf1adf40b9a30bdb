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
	return gpu->trace.regs.enable;
}

REG_WRITE(reg_trace_ctrl_write)
{
	const struct trace_regs *regs = &gpu->trace.regs;

	(void)at;
	gpu_trace(gpu, PUMICE_TRACE_RING, value, regs->base, regs->entries);
	return trace_set_enable(&gpu->trace, (u32)value) ? REG_WAIT : REG_DONE;
}

REG_READ(reg_trace_written)
{
	(void)at;
	return trace_written(&gpu->trace);
}
