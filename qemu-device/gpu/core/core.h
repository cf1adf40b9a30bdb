/* SPDX-License-Identifier: MIT */
/*
 * Unit of one core: its share of the geometry and the fragment phase.
 *
 * Source: document 004, "DMS": vertex and fragment work share a core. Each step runs both
 * data masters, so that the geometry of a frame overlaps with the fragments of the previous
 * frame.
 */
#ifndef PUMICE_GPU_CORE_H
#define PUMICE_GPU_CORE_H

#include "../pdm/pdm.h"
#include "../vdm/vdm.h"

/* Step each data master on a core once. True while more can be done at once. */
bool core_step(struct vdm *vdm, struct pdm *pdm, unsigned int core, const _Atomic bool *stop);

#endif
