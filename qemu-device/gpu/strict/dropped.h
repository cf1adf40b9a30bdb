/* SPDX-License-Identifier: MIT */
/*
 * Interrupts that the firmware drops, in mode strict.
 *
 * Source: the project's decision; no document describes it. The end of a job is an event of the
 * interrupt controller. A firmware that handles it clears it and reads the status of the data
 * master before it sleeps. One that sleeps without having done so has a job that never ends for
 * the host: finding interrupt-dropped.
 *
 * Limits: only ends of jobs are examined. A firmware that does not sleep has no finding.
 *
 * Locking: dropped.lock, a leaf; findings are reported without it.
 */
#ifndef PUMICE_GPU_DROPPED_H
#define PUMICE_GPU_DROPPED_H

#include <pthread.h>
#include <stdbool.h>

#include "strict.h"

struct dropped {
	bool on;		/* mode strict; changed while nothing runs */
	void (*report)(void *opaque, const struct strict_finding *finding);
	void *opaque;
	pthread_mutex_t lock;	/* guards the rest */
	u32 cleared;		/* events that were cleared, without a read of the status since */
};

/* report: receives findings; any thread. */
void dropped_init(struct dropped *d,
		  void (*report)(void *opaque, const struct strict_finding *finding), void *opaque);
void dropped_destroy(struct dropped *d);
/* Begin without events, or end; no unit runs. */
void dropped_set(struct dropped *d, bool on);
/* Forget events: after a reset. */
void dropped_reset(struct dropped *d);
/* The firmware clears events, those of pending that are in clear. */
void dropped_clear(struct dropped *d, u32 pending, u32 clear);
/* Return the events of the end of a job of a data master. */
u32 dropped_ends(enum pumice_unit unit);
/* The firmware reads the status of a data master. unit: PUMICE_UNIT_* of the data master. */
void dropped_read(struct dropped *d, enum pumice_unit unit);
/* The firmware sleeps; events that are pending, and enabled ones. */
void dropped_sleep(struct dropped *d, u32 pending, u32 enabled);

#endif
