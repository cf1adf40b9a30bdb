// SPDX-License-Identifier: MIT
/*
 * Registers of unit OS: a virtual GPU's doorbell and interrupt line.
 *
 * Source: document 000, "Firmware Processor" (thread scheduler, interrupt line).
 * The line is raised when a cause becomes pending and enabled that was not both
 * before; so clearing a cause before looking at the queues loses nothing.
 */
#include "units.h"

/* Causes that raise the vector. */
static u32 active(const struct gpu_os *os)
{
	return os->irq_status & os->irq_enable;
}

static void update(struct pumice_gpu *gpu, unsigned int os, u32 before)
{
	if (!(active(&gpu->os[os]) & ~before))
		return;
	gpu_trace(gpu, PUMICE_TRACE_IRQ, os, 0, 0);
	gpu->ops.raise_irq(gpu->opaque, os);
}

void gpu_os_raise(struct pumice_gpu *gpu, unsigned int os, u32 causes)
{
	u32 before = active(&gpu->os[os]);

	gpu->os[os].irq_status |= causes;
	update(gpu, os, before);
}

REG_WRITE(reg_os_schedule)
{
	if (value & PUMICE_OS_SCHEDULE__KICK__MASK)
		fwctl_raise(gpu->fw, PUMICE_FIELD_PREP(PUMICE_IC_PENDING__HOST, 1u << at->os));
	return REG_DONE;
}

REG_READ(reg_os_irq_status)
{
	return gpu->os[at->os].irq_status;
}

REG_READ(reg_os_irq_enable)
{
	return gpu->os[at->os].irq_enable;
}

REG_WRITE(reg_os_irq_enable_write)
{
	u32 before = active(&gpu->os[at->os]);

	gpu->os[at->os].irq_enable = (u32)value;
	update(gpu, at->os, before);
	return REG_DONE;
}

REG_WRITE(reg_os_irq_clear)
{
	gpu->os[at->os].irq_status &= ~(u32)value;
	return REG_DONE;
}
