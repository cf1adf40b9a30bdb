// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_drv.h>

int probe(void);
int probe(void)
{
	return DRIVER_GEM_GPUVA;
}
