/* SPDX-License-Identifier: MIT */
/*
 * Two users of one GPU, with address spaces of their own. The first has its jobs put one
 * word, CANARY, into every store that a program can write; they end in some way. The
 * jobs of the second, in which the word does not occur, write whatever they find in
 * registers, memories and tiles to memory of theirs. None of it may be the word.
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

#define CANARY	0x4a5ec2e7u	/* a float, 3649721.75, so that float formats store it as it is */

/* How the first user's jobs end. */
enum canary_end {
	CANARY_DONE,
	CANARY_KILLED,		/* programs without end, until their contexts are killed */
	CANARY_RESET,		/* the same, until the device is reset */
	CANARY_FAULTED,
	CANARY_RUNNING,		/* they have not ended when the second user's begin */
	CANARY_ENDS,
};

/* Stores that the second user reads. */
enum canary_store {
	CANARY_COMPUTE,		/* registers of every bank, local memory */
	/* Of fragment programs. */
	CANARY_TEMP, CANARY_ATTR, CANARY_INTERNAL, CANARY_SLOT, CANARY_SHARED, CANARY_COEFF,
	CANARY_OUTPUT,		/* one that nothing has written */
	CANARY_REST,		/* lanes without an instance, of a read ahead of the program */
	CANARY_VARYING,		/* that the vertex program does not write */
	CANARY_VERTEX_TEMP,	/* varying from a register of the vertex program */
	CANARY_BACKGROUND,	/* outputs after a background program that writes none */
	CANARY_PROBES,
};

/* A read of one of them. All numbers may have any value. */
struct canary_look {
	enum canary_store store;
	u32 number;		/* of the register */
	u32 rotate;		/* by how many lanes values are moved first */
	u32 output;		/* that is stored */
	u32 instances, groups;	/* of compute; 0: usual ones */
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
