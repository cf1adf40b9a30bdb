// SPDX-License-Identifier: MIT
/*
 * Registers of unit INJ: fault injection, for the guest. Without the device's property,
 * regs.c allows access to CAPS only.
 */
#include "units.h"

REG_READ(reg_inj_caps)
{
	(void)at;
	if (!gpu->config.fault_injection)
		return 0;
	return PUMICE_FIELD_PREP(PUMICE_INJ_CAPS__ENABLED, 1) |
	       PUMICE_FIELD_PREP(PUMICE_INJ_CAPS__KINDS, PUMICE_INJECT_KIND_COUNT);
}

/* Return the field of a register without side effects. */
static u32 *field_of(struct pumice_gpu *gpu, const struct reg_access *at)
{
	struct gpu_inject_regs *regs = &gpu->inject_regs;

	switch (at->info->offset) {
	case PUMICE_INJ_KIND:
		return &regs->kind;
	case PUMICE_INJ_WHERE:
		return &regs->where;
	case PUMICE_INJ_BIT:
		return &regs->bit;
	case PUMICE_INJ_TIME:
		return &regs->us;
	case PUMICE_INJ_SKIP:
		return &regs->skip;
	default:
		return &regs->count;
	}
}

REG_READ(reg_inj_field)
{
	return *field_of(gpu, at);
}

REG_WRITE(reg_inj_field_write)
{
	*field_of(gpu, at) = (u32)value;
	return REG_DONE;
}

REG_WRITE(reg_inj_ctrl)
{
	struct gpu_inject_regs *regs = &gpu->inject_regs;
	const struct inject_request request = {
		.kind = (enum pumice_inject_kind)regs->kind,
		.where = (enum pumice_inject_where)regs->where,
		.bit = regs->bit, .us = regs->us, .skip = regs->skip, .count = regs->count,
		.guest = true,
	};

	(void)at;
	if (value & PUMICE_INJ_CTRL__CLEAR__MASK)
		inject_clear(&gpu->inject);
	if (value & PUMICE_INJ_CTRL__ARM__MASK)
		regs->armed = inject_arm(&gpu->inject, &request);
	return REG_DONE;
}

REG_READ(reg_inj_status)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_INJ_STATUS__ARMED, gpu->inject_regs.armed);
}

REG_READ(reg_inj_left)
{
	return inject_left(&gpu->inject, at->index);
}

REG_READ(reg_inj_hits)
{
	return inject_hits(&gpu->inject, at->index);
}
