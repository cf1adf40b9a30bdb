/* SPDX-License-Identifier: MIT */
/*
 * Event trace: a ring of records in MMU context 0 that every unit writes to.
 *
 * Source: hw/registers.xml, unit TRACE; hw/trace.xml, trace_record. The meaning of events
 * is documented there, in enum trace_kind.
 *
 * Locking: trace_event() is called in the step of a unit, or with the device lock held; with
 * any other lock held too. It takes none. The other functions are called with the device lock
 * held.
 *
 * Writers do not wait for each other. Each allocates a number, and writes the record of that
 * number, with the sequence last. An event is dropped if a delayed writer has not finished
 * the same record yet.
 *
 * Limits: translates for every event (no TLB entry for the ring), so it needs no invalidation
 * and adds no events itself. A disabled trace costs a load and a branch.
 */
#ifndef PUMICE_GPU_TRACE_H
#define PUMICE_GPU_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "../mmu/mmu.h"

#define TRACE_WRITERS 256u	/* a power of two, far above the number of threads */

struct trace_config {
	const struct mmu *mmu;
	u64 (*now)(void *opaque);	/* GPU clock; any thread */
	void *opaque;
};

/* Registers of unit TRACE, as written. */
struct trace_regs {
	u64 base;
	u32 entries;
	u32 enable;
};

struct trace {
	/* Configuration. */
	struct trace_config config;

	/* Registers; device lock. */
	struct trace_regs regs;

	/* State; any thread. */
	_Atomic u32 kinds;	/* bit n: events of enum trace_kind n are written */
	_Atomic u64 ring;	/* address of the ring, and log2 of its entries in the low bits */
	_Atomic u64 next;	/* number of the next event */
	_Atomic u32 context;	/* of the running job */
	_Atomic bool writing[TRACE_WRITERS];	/* records being written, modulo their number */
};

void trace_init(struct trace *trace, const struct trace_config *config);
void trace_reset(struct trace *trace);

/*
 * TRACE_CTRL. Going from 0 to not 0 latches the ring. Returns true when the caller must wait
 * for the units' steps (workers_quiesce()) until the ring is no longer written.
 */
bool trace_set_enable(struct trace *trace, u32 enable);
/* TRACE_WRITTEN. */
u64 trace_written(const struct trace *trace);
/* Set the context whose job runs, low half of CDM_TAG; 0 for none. */
void trace_set_context(struct trace *trace, u32 context);

/* Write one event; kind is enum pumice_trace_kind. */
void trace_write(struct trace *trace, u32 kind, unsigned int ctx, unsigned int usc, u64 arg0,
		 u64 arg1);

/* The same if such events are enabled; trace may be NULL. */
static inline void trace_event(struct trace *trace, u32 kind, unsigned int ctx, unsigned int usc,
			       u64 arg0, u64 arg1)
{
	if (trace && atomic_load_explicit(&trace->kinds, memory_order_relaxed) >> kind & 1)
		trace_write(trace, kind, ctx, usc, arg0, arg1);
}

#endif
