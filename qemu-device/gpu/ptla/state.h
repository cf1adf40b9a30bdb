/* SPDX-License-Identifier: MIT */
/*
 * The PTLA's state, shared by its files: ptla.c (a job), command.c (its commands), memory.c,
 * image.c and scale.c (pieces of them), texels.c (texels of a piece). No other file includes
 * this.
 */
#ifndef PUMICE_GPU_PTLA_STATE_H
#define PUMICE_GPU_PTLA_STATE_H

#include "../texel/rect.h"
#include "../trace/trace.h"
#include "command.h"
#include "ptla.h"

enum ptla_phase {
	PTLA_IDLE,
	PTLA_FETCH,	/* fetch the next command */
	PTLA_WORK,	/* run pieces of the command */
	PTLA_FLIP,	/* PRESENT: the copy is complete, its flip waits for space */
	PTLA_DRAIN,	/* wait for running pieces; then the job ends */
};

#define PTLA_BUFFER 0x10000u	/* bytes */

/* State of a unit, accessed only in its step. */
struct ptla_unit {
	struct mmu_tlb tlb;	/* with a second level: transfers are long */
	u8 buffer[PTLA_BUFFER];	/* blocks of a part of a piece */
	u8 other[PTLA_BUFFER];
};

/* All fields except the units: device lock. The command does not change while pieces run. */
struct ptla {
	/* Configuration. */
	struct mmu *mmu;
	const struct dm_ops *ops;
	void *opaque;
	struct trace *trace;	/* or NULL */

	/* State of the running job: the first field that a reset clears. */
	struct dm_run run;
	enum ptla_phase phase;
	struct dm_job job;
	u64 pc;			/* address of the command */
	struct ptla_command command;
	trace_span traced;	/* the command */
	u64 next;		/* next piece */
	u64 fault_piece;	/* piece of run.status.fault: the lowest one */
	u32 running;		/* running pieces */
	u32 presented;		/* PRESENT commands that have begun */

	/* Flips, oldest first; they outlive the job. */
	struct ptla_flip flip[PUMICE_TDM_FLIPS];
	u32 flip_count;

	/* Performance counters. */
	u64 bytes;
	u64 scaled;		/* texels */

	struct ptla_unit unit[PTLA_UNITS];
};

/*
 * A piece of the command. Its function adds the bytes that it writes to *bytes, the texels of
 * a scaling copy to *scaled, and returns false with *fault filled in.
 */
struct ptla_piece {
	struct mmu *mmu;
	struct ptla_unit *unit;
	unsigned int ctx;
	const struct ptla_command *command;
	u64 number;
	u64 bytes;
	u64 scaled;
	struct gpu_fault fault;
};

bool ptla_copy_piece(struct ptla_piece *piece);
bool ptla_fill_piece(struct ptla_piece *piece);
bool ptla_blit_piece(struct ptla_piece *piece);
bool ptla_clear_piece(struct ptla_piece *piece);
bool ptla_downscale_piece(struct ptla_piece *piece);
bool ptla_scale_piece(struct ptla_piece *piece);

/* Columns that are converted at a time, and the bytes of the largest texel or block. */
#define PTLA_COLUMNS PUMICE_LANES
#define PTLA_TEXEL_BYTES 16u

struct texel_memory ptla_memory(struct ptla_piece *piece);

/* Store a rectangle and count its bytes. */
bool ptla_store(struct ptla_piece *piece, const struct ptla_surface *s, const struct texel_rect *at,
		const u8 *from, u32 pitch);

/*
 * Load texels of a rectangle of at most 64 x 16, as words of the format (RGBA8 for compressed
 * ones), to the unit's buffer with pitch bytes per line. Changes *at, and the unit's other
 * buffer.
 */
bool ptla_load_texels(struct ptla_piece *piece, const struct ptla_surface *s,
		      struct texel_rect *at, u32 pitch);

/* Return the bytes of a texel that ptla_load_texels() has loaded. */
u32 ptla_texel_bytes(const struct ptla_surface *s);

/* Reorder unpacked components as the texture's swizzle says. */
void ptla_swizzle(const struct ptla_surface *s, struct texel_rows *rows);

#endif
