// SPDX-License-Identifier: MIT
/*
 * The unit of one core. See core.h.
 *
 * The PDM goes first: what it finishes frees pages that the VDM might wait for.
 */
#include "core.h"

bool core_step(struct vdm *vdm, struct pdm *pdm, unsigned int core, const _Atomic bool *stop)
{
	bool pixels = pdm && pdm_core_step(pdm, core, stop);
	bool vertices = vdm && vdm_core_step(vdm, core, stop);

	return pixels || vertices;
}
