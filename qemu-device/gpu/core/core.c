// SPDX-License-Identifier: MIT
/*
 * Unit of one core. See core.h.
 *
 * The PDM is stepped first: finished tiles free pages that the VDM may be stalled on.
 */
#include "core.h"

bool core_step(struct vdm *vdm, struct pdm *pdm, unsigned int core, const _Atomic bool *stop)
{
	bool pixels = pdm && pdm_core_step(pdm, core, stop);
	bool vertices = vdm && vdm_core_step(vdm, core, stop);

	return pixels || vertices;
}
