/* SPDX-License-Identifier: MIT */
/*
 * Two users of one GPU, with separate address spaces. The first user's jobs write one word,
 * CANARY, to every store that a program can write, and then complete or are stopped. The
 * second user's jobs, in which the word does not occur, copy the contents of registers,
 * memories and tiles to that user's memory. The word must not occur there.
 *
 *	struct canary *c = canary_open();
 *
 *	canary_fill(c, CANARY_KILLED, 0, 3000);
 *	for (probe = 0; probe < CANARY_PROBES; probe++)
 *		canary_probe(c, &(struct canary_look){ .probe = probe });
 *	canary_close(c);
 *
 * A wrong word ends the program by FUZZ_CHECK().
 */
#ifndef PUMICE_FUZZ_CANARY_H
#define PUMICE_FUZZ_CANARY_H

#include "frame.h"

#define CANARY	0x4a5ec2e7u	/* a float, 3649721.75, so that float formats store it unchanged */

/* Ends of the first user's jobs. */
enum canary_end {
	CANARY_DONE,
	CANARY_KILLED,		/* endless programs, until their contexts are killed */
	CANARY_RESET,		/* the same, until the device is reset */
	CANARY_FAULTED,
	CANARY_RUNNING,		/* still running when the second user's begin */
	CANARY_ENDS,
};

/* Stores that the second user reads. */
enum canary_store {
	CANARY_COMPUTE,		/* registers of every bank, local memory */
	/* Of fragment programs. */
	CANARY_TEMP, CANARY_ATTR, CANARY_INTERNAL, CANARY_SLOT, CANARY_SHARED, CANARY_COEFF,
	CANARY_OUTPUT,		/* an output that no program wrote */
	CANARY_REST,		/* lanes without an instance, read before the program */
	CANARY_VARYING,		/* not written by the vertex program */
	CANARY_VERTEX_TEMP,	/* varying copied from a register of the vertex program */
	CANARY_BACKGROUND,	/* outputs after a background program that writes none */
	CANARY_PROBES,
};

/* A read of one of them. All numbers may have any value. */
struct canary_look {
	enum canary_store store;
	u32 number;		/* of the register */
	u32 rotate;		/* lanes by which values are rotated first */
	u32 output;		/* the stored output */
	u32 instances, groups;	/* of compute; 0: default */
	bool points;		/* tasks of few pixels */
};

struct canary;

struct canary *canary_open(void);
void canary_close(struct canary *c);

/*
 * Run the first user's jobs, the @variant-th way of filling registers.
 * @steps: of the GPU, before they are killed, reset, or joined by the second user's
 */
void canary_fill(struct canary *c, enum canary_end end, u32 variant, u32 steps);
/* Run a job of the second user, and check its memory. */
void canary_probe(struct canary *c, const struct canary_look *look);

#endif
