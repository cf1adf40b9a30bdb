/* SPDX-License-Identifier: MIT */
/*
 * The PTLA's state, shared by its files: ptla.c (a job), command.c (its commands),
 * memory.c and image.c (pieces of them). Nobody else includes this.
 */
#ifndef PUMICE_GPU_PTLA_STATE_H
#define PUMICE_GPU_PTLA_STATE_H

#include "../texel/rect.h"
#include "command.h"
#include "ptla.h"

enum ptla_phase {
	PTLA_IDLE,
	PTLA_FETCH,	/* the next command */
	PTLA_WORK,	/* pieces of the command */
	PTLA_DRAIN,	/* pieces that still run; then the job ends */
};

#define PTLA_BUFFER 0x10000u	/* bytes */

/* What a unit alone touches, in its step. */
struct ptla_unit {
	struct mmu_tlb tlb;
	struct mmu_tlb_entry far[MMU_TLB_FAR];	/* its second level: transfers are long */
	u8 buffer[PTLA_BUFFER];	/* blocks of a part of a piece */
	u8 other[PTLA_BUFFER];
};

/* Everything but the units: device lock. The command does not change while pieces run. */
struct ptla {
	/* Configuration. */
	struct mmu *mmu;
	const struct dm_ops *ops;
	void *opaque;

	/* What the registers show. */
	struct dm_status status;

	/* Running state. */
	enum ptla_phase phase;
	enum dm_end end;	/* how the job ends */
	struct dm_job job;
	u64 pc;			/* of the command */
	struct ptla_command command;
	u64 next;		/* piece */
	u64 fault_piece;	/* of status.fault: the first one counts */
	u32 running;		/* pieces */

	/* Performance counters. */
	u64 busy_ns;		/* of jobs that have ended */
	u64 bytes;

	struct ptla_unit unit[PTLA_UNITS];
};

/* A piece of the command; *bytes becomes what it wrote. False with *fault filled in. */
struct ptla_piece {
	struct mmu *mmu;
	struct ptla_unit *unit;
	unsigned int ctx;
	const struct ptla_command *command;
	u64 number;
	u64 bytes;
	struct gpu_fault fault;
};

bool ptla_copy_piece(struct ptla_piece *piece);
bool ptla_fill_piece(struct ptla_piece *piece);
bool ptla_blit_piece(struct ptla_piece *piece);
bool ptla_clear_piece(struct ptla_piece *piece);
bool ptla_downscale_piece(struct ptla_piece *piece);

#endif
