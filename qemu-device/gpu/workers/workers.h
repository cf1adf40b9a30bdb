/* SPDX-License-Identifier: MIT */
/*
 * Workers: host threads that run the units of the GPU.
 *
 * Source: pumice_gpu.h, "threads". A unit is a block that runs in steps: the firmware
 * processor, the CDM, each USC. A unit is stepped by one thread at a time; a step lasts a
 * quantum, about WORKERS_QUANTUM_NS. Runnable units are in one queue; a woken urgent unit
 * that does not run becomes its head, and makes a busy thread end its step early when it was
 * asleep and no thread is idle. A unit with more work after a step is appended. A thread
 * runs the first unit whose home it is, so that data passed between units stays in a
 * processor's caches; it runs the head when there is none, or when others were run before
 * the head WORKERS_MAX_SKIPS times in a row, so no unit starves and no thread is idle.
 *
 * A thread without work polls for some microseconds before it sleeps, one thread at a time.
 *
 * With no threads the same queue is run inside workers_poll(). The order then depends only on
 * the wake-ups: a budget is counted in steps, not in time.
 *
 * Locking: one lock inside, a leaf: every function except workers_quiesce(), workers_park(),
 * workers_park_others() and workers_destroy() may be called with any other lock held. Those
 * wait for steps, and a step may need the caller's locks.
 */
#ifndef PUMICE_GPU_WORKERS_H
#define PUMICE_GPU_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pumice_regs.h"

#define WORKERS_MAX_THREADS	64u
/*
 * Firmware processor, CDM, late events, RDM, two of the TDM, cores, their sources of compute and
 * their USCs.
 */
#define WORKERS_MAX_UNITS	(6u + PUMICE_MAX_CORES * (2u + PUMICE_MAX_USCS_PER_CORE))
#define WORKERS_QUANTUM_NS	200000u	/* assumed duration of one step */
#define WORKERS_NEVER		UINT64_MAX
#define WORKERS_MAX_SKIPS	8u

/* "No unit": a caller outside any step. */
#define WORKERS_OUTSIDE		WORKERS_MAX_UNITS

struct workers;

/*
 * Units whose wake-ups by a step are deferred: with several threads they are queued only when the
 * step has ended. Before that an idle thread would run them, although what the step wrote for them
 * is in the caches of its own thread, which runs one of them next. Wake-ups by others are not
 * deferred, and a step that waits for other units in workers_quiesce() queues them before. One that
 * parks the others does not: none of them would run.
 */
enum workers_defer {
	WORKERS_DEFER_NONE,
	WORKERS_DEFER_HOME,	/* those with their home at the thread of the step */
	WORKERS_DEFER_ALL,	/* of a unit with short steps */
};

struct workers_unit {
	/*
	 * Run for a quantum, less when *stop becomes true. Returns true while there is more
	 * to do; after false the step is called again on workers_wake() or at the deadline
	 * set in the step.
	 */
	bool (*step)(void *opaque, unsigned int index, const _Atomic bool *stop);
	void *opaque;
	unsigned int index;	/* argument of step: number among its kind */
	bool urgent;
	/*
	 * Units that pass data to each other have the same home, 1 or more: if possible, the
	 * same thread runs them. 0: any thread, as all urgent units.
	 */
	unsigned int home;
	enum workers_defer defer;	/* which wake-ups by its steps are deferred */
};

struct workers_config {
	unsigned int threads;	/* at most WORKERS_MAX_THREADS; 0: workers_poll() */
	unsigned int units;	/* at most WORKERS_MAX_UNITS */
	const struct workers_unit *unit;	/* copied */
	u64 (*now)(void *opaque);	/* clock of deadlines, ns */
	void *now_opaque;
	void (*kick)(void *opaque);	/* no threads: workers_poll() has work */
	void *kick_opaque;
	/* Called by each thread at its start and end; may be NULL. */
	void (*thread_start)(void *opaque);
	void (*thread_end)(void *opaque);
	void *thread_opaque;
};

/*
 * Start the threads, with all units asleep. Returns NULL when memory or threads cannot be
 * allocated.
 */
struct workers *workers_create(const struct workers_config *config);
/* Wait for the running steps, end the threads and free. */
void workers_destroy(struct workers *w);

/* Wake the unit. A wake-up during its step causes another step. */
void workers_wake(struct workers *w, unsigned int unit);
/*
 * Wake the unit when the clock reaches deadline; WORKERS_NEVER for never. Replaces the
 * previous one.
 */
void workers_set_deadline(struct workers *w, unsigned int unit, u64 deadline);
/* The same, unless the unit has an earlier deadline: for several waiters in one unit. */
void workers_add_deadline(struct workers *w, unsigned int unit, u64 deadline);
/* Put all units to sleep and clear deadlines; only while parked. */
void workers_clear(struct workers *w);

/*
 * Make every running unit end its step, and wait for that; units may start new steps
 * meanwhile. self is the unit in whose step the caller is, or WORKERS_OUTSIDE. At most one
 * unit may do this in its steps.
 */
void workers_quiesce(struct workers *w, unsigned int self);

/* Wait until no unit is in a step, and start none until workers_unpark(). Nests. */
void workers_park(struct workers *w);
/* The same from within a step of unit self, which continues. At most one unit may do this. */
void workers_park_others(struct workers *w, unsigned int self);
void workers_unpark(struct workers *w);

/* See pumice_gpu_poll(). */
u64 workers_poll(struct workers *w, u64 budget_ns);

#endif
