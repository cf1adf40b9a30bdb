/* SPDX-License-Identifier: MIT */
/*
 * The unit of one core: its share of the geometry and of the fragment phase.
 *
 * Source: document 004, "DMS": vertex and fragment work share a core. Each step
 * gives both data masters a turn, so that the geometry of a frame runs beside the
 * fragments of the one before.
 */
#ifndef PUMICE_GPU_CORE_H
#define PUMICE_GPU_CORE_H

#include "../pdm/pdm.h"
#include "../vdm/vdm.h"

/* One turn of each data master on a core. True while there is more to do at once. */
bool core_step(struct vdm *vdm, struct pdm *pdm, unsigned int core, const _Atomic bool *stop);

#endif
