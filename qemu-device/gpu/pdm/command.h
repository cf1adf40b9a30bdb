/* SPDX-License-Identifier: MIT */
/*
 * Commands of the render control list: checked and unpacked.
 *
 * Source: document 001, "Binning Pass"; hw/render.xml.
 */
#ifndef PUMICE_GPU_PDM_COMMAND_H
#define PUMICE_GPU_PDM_COMMAND_H

#include <stdbool.h>

#include "../dm/flush.h"
#include "pumice_formats.h"
#include "pumice_regs.h"

/* One validated command. */
struct pdm_command {
	u8 type;		/* enum pumice_pdm_type */
	bool end;		/* of a store: and end of the frame */
	u16 x, y;		/* of TILE */
	u64 addr;		/* of MODE, CALL, LINK */
	u32 program[4];		/* of STORE_PROGRAM: a stage, not checked */
	struct dm_flush flush;	/* of FLUSH */
};

/* Check and unpack one command. Returns PUMICE_FAULT_NONE with *out filled, or the reason. */
enum pumice_fault pdm_command_decode(const u32 *words, struct pdm_command *out);

#endif
