/* SPDX-License-Identifier: MIT */
/*
 * Workers: host threads that run the units of the GPU.
 *
 * Source: pumice_gpu.h, "threads". A unit is anything that works in steps: the
 * firmware processor, the CDM, each USC. A unit is stepped by one thread at a
 * time; a step lasts a quantum, about WORKERS_QUANTUM_NS. Units that have
 * something to do stand in one queue; an urgent unit that is woken goes to its
 * head, and makes a busy thread give up its step when no thread is idle. What
 * has more to do after a step goes to the tail. A thread takes the first unit that
 * is at home with it, so that what units hand on stays in a processor's caches; it
 * takes the head when there is none, or when others went before the head
 * WORKERS_MAX_SKIPS times in a row, so nobody starves and no thread is idle.
 *
 * A thread that runs out of work looks out for more for some microseconds before it
 * sleeps, one thread at a time.
 *
 * With no threads the same queue is run inside workers_poll(). The order is
 * then a function of the wake-ups alone: a budget is counted in steps, not in
 * time.
 *
 * Locking: one lock inside, a leaf: every function but workers_quiesce(),
 * workers_park(), workers_park_others() and workers_destroy() may be called with any
 * other lock held. Those wait for steps, and a step may need the caller's locks.
 */
#ifndef PUMICE_GPU_WORKERS_H
#define PUMICE_GPU_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pumice_regs.h"

#define WORKERS_MAX_THREADS	64u
/* Firmware processor, CDM, late events, two of the TDM, cores and their USCs. */
#define WORKERS_MAX_UNITS	(5u + PUMICE_MAX_CORES * (1u + PUMICE_USCS_PER_CORE))
#define WORKERS_QUANTUM_NS	200000u	/* what one step is taken to last */
#define WORKERS_NEVER		UINT64_MAX
#define WORKERS_MAX_SKIPS	8u

/* "No unit": who calls from outside of any step. */
#define WORKERS_OUTSIDE		WORKERS_MAX_UNITS

struct workers;

struct workers_unit {
	/*
	 * Work for a quantum, less when *stop becomes true. Returns true while
	 * there is more to do; after false, workers_wake() or the deadline set
	 * in the step tells when to call again.
	 */
	bool (*step)(void *opaque, unsigned int index, const _Atomic bool *stop);
	void *opaque;
	unsigned int index;	/* handed to step: which of its kind */
	bool urgent;
	/*
	 * Units that pass data to each other have the same home, from 1 on: one
	 * thread of several runs them as long as it has the choice. 0: any thread.
	 */
	unsigned int home;
};

struct workers_config {
	unsigned int threads;	/* at most WORKERS_MAX_THREADS; 0: workers_poll() */
	unsigned int units;	/* at most WORKERS_MAX_UNITS */
	const struct workers_unit *unit;	/* copied */
	u64 (*now)(void *opaque);	/* the clock of deadlines, ns */
	void *now_opaque;
	void (*kick)(void *opaque);	/* no threads: workers_poll() has something to do */
	void *kick_opaque;
	/* Called by each thread, first and last; may be NULL. */
	void (*thread_start)(void *opaque);
	void (*thread_end)(void *opaque);
	void *thread_opaque;
};

/* Start the threads, all units asleep. NULL when memory or threads lack. */
struct workers *workers_create(const struct workers_config *config);
/* Wait for the running steps, end the threads and free. */
void workers_destroy(struct workers *w);

/* The unit has something to do. A wake-up during its step leads to another step. */
void workers_wake(struct workers *w, unsigned int unit);
/* Wake the unit when the clock reaches deadline; WORKERS_NEVER for never. Replaces the last one. */
void workers_set_deadline(struct workers *w, unsigned int unit, u64 deadline);
/* The same, unless the unit has an earlier deadline: for several who wait in one unit. */
void workers_add_deadline(struct workers *w, unsigned int unit, u64 deadline);
/* All units asleep again, no deadlines; only while parked. */
void workers_forget(struct workers *w);

/*
 * Make every unit that is in a step come to its end, and wait for that; units
 * start new steps meanwhile. self is the unit in whose step the caller is, or
 * WORKERS_OUTSIDE. At most one unit may do this in its steps.
 */
void workers_quiesce(struct workers *w, unsigned int self);

/* Wait until no unit is in a step, and start none until workers_unpark(). Nests. */
void workers_park(struct workers *w);
/* The same from within a step of unit self, which goes on. At most one unit may do this. */
void workers_park_others(struct workers *w, unsigned int self);
void workers_unpark(struct workers *w);

/* See pumice_gpu_poll(). */
u64 workers_poll(struct workers *w, u64 budget_ns);

#endif
