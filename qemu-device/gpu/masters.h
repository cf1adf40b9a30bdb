/* SPDX-License-Identifier: MIT */
/*
 * The data masters VDM, PDM, TDM and RDM and the parameter management, interface to the rest of
 * the GPU: allocated, reset and counted together, started and stopped by number. dm/dm.h has
 * their common definitions.
 *
 * Locking: the device lock, unless noted otherwise.
 */
#ifndef PUMICE_GPU_MASTERS_H
#define PUMICE_GPU_MASTERS_H

#include "dm/dm.h"
#include "ptla/ptla.h"
#include "pumice_regs.h"

struct pumice_gpu;

enum gpu_master_number { GPU_VDM, GPU_PDM, GPU_TDM, GPU_RDM, GPU_MASTERS };

/* A data master and the job in its registers. */
struct gpu_master {
	struct pumice_gpu *gpu;
	enum gpu_master_number number;
	struct dm_job job;	/* next job */
};

/* Kind of the waves of a data master; the transfer data master has none. */
static inline enum pumice_wave_master master_waves(enum gpu_master_number number)
{
	static const enum pumice_wave_master waves[GPU_MASTERS] = {
		[GPU_VDM] = PUMICE_WAVE_MASTER_VDM,
		[GPU_PDM] = PUMICE_WAVE_MASTER_PDM,
		[GPU_RDM] = PUMICE_WAVE_MASTER_RDM,
	};

	return waves[number];
}

/*
 * Allocate all, after MMU, PDS and firmware control. Returns false when out of memory. No
 * lock.
 */
bool masters_create(struct pumice_gpu *gpu);
void masters_destroy(struct pumice_gpu *gpu);
/* Reset registers and blocks; only while no step runs. */
void masters_reset(struct pumice_gpu *gpu);
void masters_counters_add(const struct pumice_gpu *gpu, u64 *value);

/* Start the job in the registers; false while busy. */
bool master_start(struct gpu_master *m);
void master_abort(struct gpu_master *m);
const struct dm_status *master_status(const struct gpu_master *m);

/* Steps of the worker units; opaque is the GPU. No lock. */
bool masters_step_core(void *opaque, unsigned int core, const _Atomic bool *stop);
bool masters_step_tdm(void *opaque, unsigned int unit, const _Atomic bool *stop);
bool masters_step_rdm(void *opaque, unsigned int unit, const _Atomic bool *stop);

#endif
