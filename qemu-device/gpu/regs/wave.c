// SPDX-License-Identifier: MIT
/*
 * Registers of unit WAVE: a window onto a snapshot of the waves in flight.
 */
#include "units.h"

struct gpu_waves *reg_waves(struct pumice_gpu *gpu, const struct reg_access *at)
{
	return &gpu->waves[at->bus == PUMICE_REG_BUS_FW];
}

/* Return the selected wave; zeros past the last. */
static const struct usc_wave_info *selected(struct pumice_gpu *gpu, const struct reg_access *at)
{
	static const struct usc_wave_info none;
	const struct gpu_waves *waves = reg_waves(gpu, at);

	return waves->select < waves->count ? &waves->wave[waves->select] : &none;
}

/* The snapshot itself is taken without the device lock. */
REG_WRITE(reg_wave_ctrl)
{
	(void)gpu;
	(void)at;
	(void)value;
	return REG_WAVES;
}

REG_READ(reg_wave_count)
{
	return reg_waves(gpu, at)->count;
}

REG_READ(reg_wave_select)
{
	return reg_waves(gpu, at)->select;
}

REG_WRITE(reg_wave_select_write)
{
	reg_waves(gpu, at)->select = (u32)value;
	return REG_DONE;
}

REG_READ(reg_wave_pc)
{
	return selected(gpu, at)->pc;
}

REG_READ(reg_wave_lanes)
{
	return selected(gpu, at)->lanes;
}

REG_READ(reg_wave_where)
{
	const struct usc_wave_info *w = selected(gpu, at);

	return PUMICE_FIELD_PREP(PUMICE_WAVE_WHERE__USC, w->usc) |
	       PUMICE_FIELD_PREP(PUMICE_WAVE_WHERE__SLOT, w->slot) |
	       PUMICE_FIELD_PREP(PUMICE_WAVE_WHERE__WAVE, w->wave) |
	       PUMICE_FIELD_PREP(PUMICE_WAVE_WHERE__STATE, w->state) |
	       PUMICE_FIELD_PREP(PUMICE_WAVE_WHERE__MASTER, w->master) |
	       PUMICE_FIELD_PREP(PUMICE_WAVE_WHERE__CTX, w->ctx);
}

REG_READ(reg_wave_code)
{
	return selected(gpu, at)->code;
}
