/* SPDX-License-Identifier: MIT */
/*
 * Vertex data master (VDM): the geometry phase of one job over all cores.
 *
 * Source: document 004, "Master VDM" and "VDM"; document 001; hw/formats.xml, stream "vdm".
 * The master walks the control stream and splits draws into chunks of primitives, numbered in
 * order; cores process chunks: they shade their vertices on their USCs and pass primitives to
 * their TA. So the numbers preserve the submission order, whichever core processes a chunk.
 */
#ifndef PUMICE_GPU_VDM_H
#define PUMICE_GPU_VDM_H

#include <stdatomic.h>

#include "../dm/dm.h"
#include "../mmu/mmu.h"
#include "../pds/gfx.h"
#include "../pm/pm.h"
#include "../trace/trace.h"

struct vdm;

struct vdm *vdm_create(const struct dm_config *config);
void vdm_destroy(struct vdm *vdm);
void vdm_reset(struct vdm *vdm);

/* Registers; device lock held. START is refused (false) while busy. */
bool vdm_start(struct vdm *vdm, const struct dm_job *job);
void vdm_abort(struct vdm *vdm);
/*
 * After DM_MEMORY: continue; or write region headers of the scene so far, then report
 * DM_MEMORY again.
 */
void vdm_resume(struct vdm *vdm);
void vdm_flush(struct vdm *vdm);
const struct dm_status *vdm_status(const struct vdm *vdm);
void vdm_counters_add(const struct vdm *vdm, u64 *value);

/* Run one core for about a quantum; true while more can be done at once. */
bool vdm_core_step(struct vdm *vdm, unsigned int core, const _Atomic bool *stop);

#endif
