/* SPDX-License-Identifier: MIT */
/*
 * Programs that a data master executes itself, without a task: clear and store of most tiles.
 *
 * Source: document 004, "PDS", background and end-of-tile programs. Such a program has no branch,
 * and accesses no memory and no registers but shared ones. So all instances of all tasks do the
 * same, and it is executed once for a tile.
 */
#ifndef PUMICE_GPU_USC_DIRECT_H
#define PUMICE_GPU_USC_DIRECT_H

#include "program.h"

/* Most instructions of such a program, and most stores: a tile's step is to be short. */
#define USC_DIRECT_INSNS	64u
#define USC_DIRECT_MAX_STORES	8u

enum usc_direct {
	USC_DIRECT_NONE,
	USC_DIRECT_CONSTANTS,	/* it writes constants to pixel outputs, in all lanes */
	USC_DIRECT_STORES,	/* it stores through the PBE */
};

/* Return the kind of a program; one that only ends has a task. */
enum usc_direct usc_direct_of(const struct usc_program *program);
/* Return the instructions that a wave issues, end included. */
u32 usc_direct_issued(const struct usc_program *program);
/* CONSTANTS: update the outputs of one pixel. @shared: its registers, as the PDS fills them */
void usc_direct_write(const struct usc_program *program, const u32 *shared, u32 *output);
/*
 * STORES: return the first of the shared registers with the state of a store, pbe_state; NULL:
 * there are not as many stores.
 */
const u32 *usc_direct_store(const struct usc_program *program, const u32 *shared, u32 number);

#endif
