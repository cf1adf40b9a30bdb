/* SPDX-License-Identifier: MIT */
/* Images, for the builders of records that reference them. */
#ifndef PUMICE_GFX_H
#define PUMICE_GFX_H

#include "program.h"
#include "surface.h"

struct pumice_image {
	struct pumice_vm *vm;
	struct pumice_bo *bo;
	struct pumice_surface surface;
	u64 va;
	u8 *cpu;
};

/* Return whether the PBE writes a known format: neither depth, stencil nor compressed. */
static inline bool image_is_renderable(u32 format)
{
	return !(pumice_pixel_info(format)->flags &
		 (PUMICE_FORMAT_BLOCKS | PUMICE_FORMAT_DEPTH | PUMICE_FORMAT_STENCIL));
}

#endif
