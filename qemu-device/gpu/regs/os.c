// SPDX-License-Identifier: MIT
/*
 * Registers of unit OS: a virtual GPU's doorbell and interrupt line, and its connection to the
 * firmware: the catalogue of the memory that they share, and the address of the boot structure.
 *
 * Source: document 000, "Firmware Processor" (thread scheduler, interrupt line). The line is
 * raised when a cause becomes pending and enabled that was not both before; so a handler that
 * clears a cause before it reads the queues loses no event.
 */
#include "units.h"

/* Return the causes that raise the vector. */
static u32 active(const struct gpu_os *os)
{
	return os->irq_status & os->irq_enable;
}

static void update(struct pumice_gpu *gpu, unsigned int os, u32 before)
{
	if (!(active(&gpu->os[os]) & ~before))
		return;
	/* The causes stay pending, so none of them raises the line again. */
	if (!os && inject_take(&gpu->inject, PUMICE_INJECT_KIND_LOST_IRQ,
			       PUMICE_INJECT_WHERE_HOST_IRQ, NULL))
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

/* Inject interrupts of the host without a cause. */
static void spurious(struct pumice_gpu *gpu)
{
	struct inject *in = &gpu->inject;

	if (inject_take(in, PUMICE_INJECT_KIND_SPURIOUS_IRQ, PUMICE_INJECT_WHERE_HOST_IRQ, NULL))
		gpu->ops.raise_irq(gpu->opaque, 0);
	if (inject_take(in, PUMICE_INJECT_KIND_SPURIOUS_IRQ, PUMICE_INJECT_WHERE_HOST_FW, NULL))
		gpu_os_raise(gpu, 0, PUMICE_OS_IRQ_STATUS__FW__MASK);
	if (inject_take(in, PUMICE_INJECT_KIND_SPURIOUS_IRQ, PUMICE_INJECT_WHERE_HOST_LOCKUP, NULL))
		gpu_os_raise(gpu, 0, PUMICE_OS_IRQ_STATUS__LOCKUP__MASK);
}

/* Make the firmware stop using one of its rings, by an event to it. */
static void silence_rings(struct pumice_gpu *gpu)
{
	struct inject *in = &gpu->inject;

	if (inject_take(in, PUMICE_INJECT_KIND_FW_SILENCE, PUMICE_INJECT_WHERE_KCCB, NULL))
		fwctl_raise(gpu->fw, PUMICE_IC_PENDING__KCCB_SILENT__MASK);
	if (inject_take(in, PUMICE_INJECT_KIND_FW_SILENCE, PUMICE_INJECT_WHERE_FWCCB, NULL))
		fwctl_raise(gpu->fw, PUMICE_IC_PENDING__FWCCB_SILENT__MASK);
}

/* Inject faults on a kick of the host; false if the kick is dropped. */
static bool inject_kick_faults(struct pumice_gpu *gpu)
{
	gpu_fail_firmware(gpu, PUMICE_INJECT_WHERE_KICK);
	silence_rings(gpu);
	spurious(gpu);
	return !inject_take(&gpu->inject, PUMICE_INJECT_KIND_LOST_IRQ, PUMICE_INJECT_WHERE_KICK,
			    NULL);
}

REG_WRITE(reg_os_schedule)
{
	if (value & PUMICE_OS_SCHEDULE__KICK__MASK && (at->os || inject_kick_faults(gpu)))
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

REG_READ(reg_os_info)
{
	return PUMICE_FIELD_PREP(PUMICE_OS_INFO__NUMBER, at->os) |
	       PUMICE_FIELD_PREP(PUMICE_OS_INFO__OSES, gpu->config.oses);
}

REG_READ(reg_os_ctrl)
{
	const struct gpu_os *os = &gpu->os[at->os];

	return os->ctrl | PUMICE_FIELD_PREP(PUMICE_OS_CTRL__CONNECTED, os->connected);
}

REG_WRITE(reg_os_ctrl_write)
{
	struct gpu_os *os = &gpu->os[at->os];

	if (value & ~os->ctrl & PUMICE_OS_CTRL__CONNECT__MASK) {
		os->connects++;
		os->connect_arg = os->boot_arg;
		os->connected = true;
	}
	os->ctrl = (u32)value & PUMICE_OS_CTRL__CONNECT__MASK;
	fwctl_raise(gpu->fw, PUMICE_FIELD_PREP(PUMICE_IC_PENDING__HOST, 1u << at->os));
	return REG_DONE;
}

/* The register of page 0 is that of the whole context, as long as one virtual GPU is active. */
static _Atomic u64 *catalogue(struct pumice_gpu *gpu, unsigned int os)
{
	return os ? &gpu->mmu.part[os] : &gpu->mmu.ctx[0];
}

REG_READ(reg_os_catalogue)
{
	return atomic_load(catalogue(gpu, at->os));
}

REG_WRITE(reg_os_catalogue_write)
{
	const u64 first = (u64)at->os * PUMICE_OS_PART_SIZE;
	const u64 last = gpu->config.oses > 1 ? first + PUMICE_OS_PART_SIZE - 1 : UINT64_MAX;

	atomic_store(catalogue(gpu, at->os), value);
	/* A part that is disabled also disables all contexts of its virtual GPU. */
	if (at->os && !(value & PUMICE_OS_CATALOGUE__ENABLE__MASK))
		gpu_tlb_drop(gpu, PUMICE_MMU_CONTEXTS);
	else
		gpu_tlb_drop_range(gpu, 0, first, last);
	return REG_WAIT;
}

REG_READ(reg_os_boot_arg)
{
	return gpu->os[at->os].boot_arg;
}

REG_WRITE(reg_os_boot_arg_write)
{
	gpu->os[at->os].boot_arg = (u32)value;
	return REG_DONE;
}
