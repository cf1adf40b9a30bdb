/* SPDX-License-Identifier: MIT */
/* Images and streams, for the builders of records that reference them. */
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

#define UNIFORMS_ALIGN	256u	/* of uniform streams */

/*
 * gfx_merge.c: store words in the stream's data, or find equal ones that it has already. Nothing
 * may change them later. @va: set to their address
 */
int stream_share(struct pumice_stream *s, const u32 *words, u64 bytes, u64 align, u64 *va);
/* gfx_merge.c: add a draw, which leaves the draw state as it is. */
int stream_emit_draw(struct pumice_stream *s, const u32 *words, u32 count);

/* gfx_transfer.c: add the image's texture structure to the stream's data. @va: its address */
int transfer_put_texture(struct pumice_stream *s, const struct pumice_image *image, u64 *va);

#endif
