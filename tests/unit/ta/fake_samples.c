// SPDX-License-Identifier: MIT
/* Sample positions, which the USC defines in the device. */
#include "../../../qemu-device/gpu/usc/gfx.h"
#include "geometry.h"

void usc_gfx_sample_position(u32 samples, u32 sample, u32 *x16, u32 *y16)
{
	int64_t x, y;

	geo_sample(samples, sample, &x, &y);
	*x16 = (u32)(x / 16);
	*y16 = (u32)(y / 16);
}
