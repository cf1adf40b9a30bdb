// SPDX-License-Identifier: MIT
/*
 * Registers of unit SYS: identity, configuration, clock, reset.
 */
#include "units.h"

REG_READ(reg_sys_config)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_SYS_CONFIG__CORES, gpu->config.cores) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_CONFIG__USCS, gpu->config.uscs_per_core) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_CONFIG__SLOTS, gpu->config.slots) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_CONFIG__OSES, gpu->config.oses);
}

REG_READ(reg_sys_stores)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_SYS_STORES__UNIFIED_KIB, gpu->config.unified_kib) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_STORES__COMMON_KIB, gpu->config.common_kib) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_STORES__LOCAL_KIB, gpu->config.local_kib);
}

REG_READ(reg_sys_shape)
{
	const u32 lanes = gpu->config.waves * PUMICE_LANES;
	const u32 instances = gpu->config.slots * PUMICE_TASK_INSTANCES;

	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_SYS_SHAPE__WAVES, gpu->config.waves) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_SHAPE__BATCH, gpu->config.batch) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_SHAPE__GROUP,
				 min_u32(PUMICE_GROUP_INSTANCES, min_u32(lanes, instances))) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_SHAPE__PRESET, gpu->preset);
}

static u32 log2_of(u64 bytes)
{
	return 63u - (u32)__builtin_clzll(bytes);
}

REG_READ(reg_sys_caches)
{
	const struct pumice_gpu_config *c = &gpu->config;

	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__SLC, log2_of((u64)c->slc_kib << 10)) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__DATA_L1, log2_of(c->data_l1_bytes)) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__DATA_L2, log2_of(c->data_l2_bytes)) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__TEXTURE_L1, log2_of(c->texture_l1_bytes)) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__TEXTURE_L2, log2_of(c->texture_l2_bytes));
}

REG_READ(reg_sys_units)
{
	const struct pumice_gpu_config *c = &gpu->config;

	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__VPM_KIB, c->vpm_kib) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__IDX_FIFO, c->idx_fifo) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__CHUNK_FIFO, c->chunk_fifo) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__TILE_FIFO, c->tile_fifo) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__TSP_VERTICES, c->tsp_vertices) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__TCUS, c->uscs_per_core);
}

REG_READ(reg_sys_mode)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_SYS_MODE__MODE, gpu->mode) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_MODE__AVAILABLE, mode_is_available(gpu)) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_MODE__REFUSED, gpu->mode_refusal);
}

/* Host only: a change waits for all units, also for the firmware processor. */
REG_WRITE(reg_sys_mode_write)
{
	(void)gpu;
	(void)value;
	return at->bus == PUMICE_REG_BUS_HOST ? REG_MODE : REG_DONE;
}

REG_READ(reg_sys_clock)
{
	(void)at;
	return gpu_clock(gpu);
}

REG_READ(reg_sys_status)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_SYS_STATUS__RESETTING, atomic_load(&gpu->resetting));
}

/* Host only: the firmware cannot reset the processor that it runs on. */
REG_WRITE(reg_sys_reset)
{
	if (value != PUMICE_SYS_RESET_KEY || at->bus != PUMICE_REG_BUS_HOST)
		return REG_DONE;
	atomic_store(&gpu->resetting, true);
	return REG_RESET;
}

REG_READ(reg_sys_registers)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_SYS_REGISTERS__SLOT, gpu->slot_registers) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_REGISTERS__INTERNAL,
				 PUMICE_USC_OWN_REGS - gpu->slot_registers) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_REGISTERS__TASKS, gpu->config.tasks) |
	       PUMICE_FIELD_PREP(PUMICE_SYS_REGISTERS__OUTPUTS, gpu->outputs);
}
