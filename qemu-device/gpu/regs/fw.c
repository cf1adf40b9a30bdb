// SPDX-License-Identifier: MIT
/*
 * Registers of units FW (boot and state of the firmware processor) and IC (its
 * interrupt controller and timer).
 */
#include "units.h"

#include "../fwctl/message.h"

REG_READ(reg_fw_image_addr)
{
	(void)at;
	return fwctl_boot(gpu->fw)->image_addr;
}

REG_WRITE(reg_fw_image_addr_write)
{
	(void)at;
	fwctl_boot(gpu->fw)->image_addr = value;
	return REG_DONE;
}

REG_READ(reg_fw_image_size)
{
	(void)at;
	return fwctl_boot(gpu->fw)->image_size;
}

REG_WRITE(reg_fw_image_size_write)
{
	(void)at;
	fwctl_boot(gpu->fw)->image_size = (u32)value;
	return REG_DONE;
}

REG_READ(reg_fw_entry)
{
	(void)at;
	return fwctl_boot(gpu->fw)->entry;
}

REG_WRITE(reg_fw_entry_write)
{
	(void)at;
	fwctl_boot(gpu->fw)->entry = (u32)value;
	return REG_DONE;
}

REG_READ(reg_fw_boot_arg)
{
	(void)at;
	return fwctl_boot(gpu->fw)->arg;
}

REG_WRITE(reg_fw_boot_arg_write)
{
	(void)at;
	fwctl_boot(gpu->fw)->arg = value;
	return REG_DONE;
}

REG_READ(reg_fw_ctrl)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_FW_CTRL__RUN, fwctl_run(gpu->fw));
}

REG_WRITE(reg_fw_ctrl_write)
{
	(void)at;
	return fwctl_set_run(gpu->fw, value & PUMICE_FW_CTRL__RUN__MASK) ? REG_WAIT : REG_DONE;
}

static struct fwctl_status status_of(const struct pumice_gpu *gpu)
{
	struct fwctl_status status;

	fwctl_status(gpu->fw, &status);
	return status;
}

REG_READ(reg_fw_status)
{
	struct fwctl_status status = status_of(gpu);

	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_FW_STATUS__STATE, status.state) |
	       PUMICE_FIELD_PREP(PUMICE_FW_STATUS__BOOT_ERROR, status.boot_error);
}

REG_READ(reg_fw_pc)
{
	(void)at;
	return status_of(gpu).pc;
}

REG_READ(reg_fw_cause)
{
	(void)at;
	return status_of(gpu).mcause;
}

REG_READ(reg_fw_instret)
{
	(void)at;
	return status_of(gpu).instret;
}

REG_READ(reg_ic_pending)
{
	(void)at;
	return fwctl_pending(gpu->fw);
}

REG_READ(reg_ic_enable)
{
	(void)at;
	return fwctl_enabled(gpu->fw);
}

REG_WRITE(reg_ic_enable_write)
{
	(void)at;
	fwctl_enable(gpu->fw, (u32)value);
	return REG_DONE;
}

REG_WRITE(reg_ic_clear)
{
	const u32 pending = fwctl_pending(gpu->fw);

	(void)at;
	dropped_clear(&gpu->dropped, pending, (u32)value);
	coherence_events_cleared(gpu, pending & (u32)value);
	fwctl_clear(gpu->fw, (u32)value);
	return REG_DONE;
}

REG_WRITE(reg_ic_host_irq)
{
	unsigned int os;

	(void)at;
	if (PUMICE_FIELD_GET(PUMICE_IC_HOST_IRQ__OSES, value) & 1)
		fwctl_inject_message(&gpu->inject, &gpu->mmu, fwctl_boot(gpu->fw)->arg);
	for (os = 0; os < PUMICE_OS_COUNT; os++)
		if (PUMICE_FIELD_GET(PUMICE_IC_HOST_IRQ__OSES, value) >> os & 1)
			gpu_os_raise(gpu, os, PUMICE_OS_IRQ_STATUS__FW__MASK);
	return REG_DONE;
}

REG_READ(reg_ic_timecmp)
{
	(void)at;
	return fwctl_timer(gpu->fw);
}

REG_WRITE(reg_ic_timecmp_write)
{
	(void)at;
	fwctl_set_timer(gpu->fw, value);
	return REG_DONE;
}

REG_READ(reg_ic_os_ctrl)
{
	const struct gpu_os *os = &gpu->os[at->index];

	return PUMICE_FIELD_PREP(PUMICE_IC_OS_CTRL__CONNECT, os->ctrl) |
	       PUMICE_FIELD_PREP(PUMICE_IC_OS_CTRL__CONNECTS, os->connects);
}

/* A connection that was requested since the firmware read CONNECT remains. */
REG_WRITE(reg_ic_os_ctrl_write)
{
	struct gpu_os *os = &gpu->os[at->index];

	(void)value;
	if (!(os->ctrl & PUMICE_OS_CTRL__CONNECT__MASK))
		os->connected = false;
	return REG_DONE;
}

REG_READ(reg_ic_os_boot_arg)
{
	return gpu->os[at->index].connect_arg;
}
