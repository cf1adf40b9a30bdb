/* SPDX-License-Identifier: MIT */
/*
 * Commands of the transfer control stream: read once, checked, cut into pieces.
 *
 * Source: hw/formats.xml, stream "tdm". What works on a command afterwards sees
 * this copy only.
 */
#ifndef PUMICE_GPU_PTLA_COMMAND_H
#define PUMICE_GPU_PTLA_COMMAND_H

#include <stdbool.h>

#include "../mmu/mmu.h"
#include "../texel/texel.h"

#define PTLA_MAX_WORDS 10u
/* What a piece is: so many bytes, or so many lines of a rectangle (a square's of TILED). */
#define PTLA_PIECE_BYTES 0x10000u
#define PTLA_PIECE_LINES 8u

/* A level of a surface. */
struct ptla_surface {
	struct pumice_texture texture;
	const struct pumice_pixel_info *info;
	struct pumice_surface surface;
	struct pumice_level level;
	u64 addr;		/* of the level's layer that the command names; else of layer 0 */
};

struct ptla_command {
	u8 type;		/* enum pumice_tdm_type */
	u8 words;
	union {
		struct pumice_tdm_copy copy;
		struct pumice_tdm_fill fill;
		struct pumice_tdm_blit blit;
		struct pumice_tdm_clear clear;
		struct pumice_tdm_downscale downscale;
		struct pumice_tdm_link link;
	};
	struct ptla_surface src, dst;	/* of BLIT, CLEAR (dst), DOWNSCALE */
	bool raw;		/* BLIT: blocks as they are */
	/* BLIT and CLEAR: in blocks where raw, else in texels; DOWNSCALE: a layer of dst. */
	u32 src_x, src_y, dst_x, dst_y, width, height;
	u64 pieces;
	bool serial;		/* one piece after the other: what is read may have been written */
	bool downwards;		/* COPY: from the last byte to the first */
};

/*
 * Read and check the command at addr, and the structures that it names. False with
 * *fault filled in.
 */
bool ptla_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			struct ptla_command *out, struct gpu_fault *fault);

#endif
