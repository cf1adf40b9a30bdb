/* SPDX-License-Identifier: MIT */
/*
 * Commands of the transfer control stream: read once, check, divide into pieces.
 *
 * Source: hw/formats.xml, stream "tdm". Later code uses only this copy.
 */
#ifndef PUMICE_GPU_PTLA_COMMAND_H
#define PUMICE_GPU_PTLA_COMMAND_H

#include <stdbool.h>

#include "../dm/flush.h"
#include "../mmu/mmu.h"
#include "../texel/texel.h"

/* Size of a piece: bytes, or lines of a rectangle (of a square of TILED). */
#define PTLA_PIECE_BYTES 0x10000u
#define PTLA_PIECE_LINES 8u
/* Columns of a piece of a scaling copy, each texel of which may be read from another page. */
#define PTLA_PIECE_COLUMNS 64u

/* A level of a surface. */
struct ptla_surface {
	struct pumice_texture texture;
	const struct pumice_pixel_info *info;
	struct pumice_surface surface;
	struct pumice_level level;
	u64 addr;		/* address of the level's layer in the command; else of layer 0 */
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
		struct pumice_tdm_scale scale;
		struct pumice_tdm_link link;
		struct dm_flush flush;
	};
	u32 frame;		/* PRESENT; its copy is in scale */
	struct ptla_surface src, dst;	/* for BLIT, CLEAR (dst), DOWNSCALE, SCALE, PRESENT */
	bool raw;		/* BLIT, SCALE, PRESENT: copy blocks or texels unconverted */
	/*
	 * BLIT and CLEAR: in blocks if raw, else in texels; DOWNSCALE: a layer of dst. SCALE and
	 * PRESENT: in texels; the size is that of dst.
	 */
	u32 src_x, src_y, dst_x, dst_y, width, height;
	u64 pieces;
	u32 extra;		/* cost of a piece beyond that of one of COPY, in these */
	bool serial;		/* one piece at a time: a piece may read data written by another */
	bool downwards;		/* COPY: from the last byte to the first */
};

/*
 * Read and check the command at addr, and the structures that it refers to. Returns false
 * with *fault filled in.
 */
bool ptla_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			struct ptla_command *out, struct gpu_fault *fault);

#endif
