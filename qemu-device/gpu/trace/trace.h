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
 * number, with the sequence last. An event is dropped if the writer of the event that it
 * replaces, one whole ring earlier, has not finished yet.
 *
 * Limits: translates for every event (no TLB entry for the ring), so it needs no invalidation
 * and adds no events itself. A disabled trace costs a load and a branch.
 */
#ifndef PUMICE_GPU_TRACE_H
#define PUMICE_GPU_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "../mmu/mmu.h"
#include "pumice_formats.h"
#include "pumice_regs.h"

#define TRACE_MAX_LOG	20u	/* log2 of the entries of the largest ring */
#define TRACE_FLAG_WORDS ((1u << TRACE_MAX_LOG) / 32)

/* Data masters, as in trace_record. */
enum trace_master {
	TRACE_CDM = PUMICE_TRACE_MASTER_CDM,
	TRACE_VDM = PUMICE_TRACE_MASTER_VDM,
	TRACE_PDM = PUMICE_TRACE_MASTER_PDM,
	TRACE_TDM = PUMICE_TRACE_MASTER_TDM,
	TRACE_RDM = PUMICE_TRACE_MASTER_RDM,
	TRACE_MASTERS = PUMICE_TRACE_MASTER_COUNT,
	TRACE_NO_JOB = TRACE_MASTERS,	/* an event of no job, or of one that is not known */
};

/* Return the number of a data master of tasks in the trace: there the TDM precedes the RDM. */
static inline enum trace_master trace_master_of(enum pumice_wave_master master)
{
	return master == PUMICE_WAVE_MASTER_RDM ? TRACE_RDM : (enum trace_master)master;
}

struct trace_config {
	const struct mmu *mmu;
	u64 (*now)(void *opaque);	/* GPU clock; any thread */
	void *opaque;
};

/* Registers of unit TRACE, as written. */
struct trace_regs {
	u64 base;
	u32 entries;
	u32 ctrl;
	u32 fw_arg[PUMICE_TRACE_FW_ARG_COUNT];
};

struct trace {
	/* Configuration. */
	struct trace_config config;

	/* Registers; device lock. */
	struct trace_regs regs;

	/* State; any thread. */
	/*
	 * Kinds that are written. Low half: bit n, events of enum trace_kind n; bit 31 is that of
	 * TRACE_CTRL. High half: number of the session, which begins when ENABLE goes from 0 to
	 * not 0; never 0 in a session.
	 */
	_Atomic u64 enabled;
	_Atomic u64 ring;	/* address of the ring, and log2 of its entries in the low bits */
	_Atomic u64 next;	/* number of the next event */
	_Atomic u64 tag[TRACE_MASTERS];	/* of the running jobs */
	/* Bit e / TRACE_FLAG_WORDS of word e % TRACE_FLAG_WORDS: entry e is being written. */
	_Atomic u32 writing[TRACE_FLAG_WORDS];
};

void trace_init(struct trace *trace, const struct trace_config *config);
void trace_reset(struct trace *trace);

/*
 * TRACE_CTRL. ENABLE going from 0 to not 0 latches the ring. Returns true when the caller must wait
 * for the units' steps (workers_quiesce()) until the ring is no longer written.
 */
bool trace_set_enable(struct trace *trace, u32 ctrl);
/* Return TRACE_WRITTEN. */
u64 trace_written(const struct trace *trace);
/* Set the TAG of the job that a data master runs, 0: it runs none; trace may be NULL. */
void trace_set_tag(struct trace *trace, enum trace_master dm, u64 tag);
/* Return it. */
u64 trace_tag(const struct trace *trace, enum trace_master dm);
/* Return the context whose job a data master runs, low half of the TAG, or 0. */
u32 trace_context(const struct trace *trace, enum trace_master dm);

/* Return arg1 of JOB_START. flag: a resumed job, or a partial render. */
static inline u64 trace_job(u64 tag, bool flag)
{
	return tag >> 32 << 8 | flag;
}

/* An event, without the fields that trace_write() adds: see trace_record. */
struct trace_item {
	u8 kind;	/* enum pumice_trace_kind */
	u8 phase;	/* enum pumice_trace_phase */
	u8 dm;		/* enum trace_master */
	u8 usc, slot;
	unsigned int ctx;
	u64 arg0, arg1;
	const u32 *context;	/* NULL: that of the data master's current job */
};

/*
 * Return the enabled events if this kind is one of them, for trace_write(); else 0. An emitter
 * reads them once for each event: the host may change them at any time. trace may be NULL.
 */
static inline u64 trace_on(const struct trace *trace, u32 kind)
{
	const u64 on = trace ? atomic_load_explicit(&trace->enabled, memory_order_relaxed) : 0;

	return on >> kind & 1 ? on : 0;
}

/* Return whether any event is enabled. */
static inline bool trace_is_enabled(const struct trace *trace)
{
	return trace && (u32)atomic_load_explicit(&trace->enabled, memory_order_relaxed);
}

/* Write an event. @on: of trace_on(), not 0 */
void trace_write(struct trace *trace, u64 on, const struct trace_item *item);

/* Write an event if its kind is enabled. */
static inline void trace_item(struct trace *trace, const struct trace_item item)
{
	const u64 on = trace_on(trace, item.kind);

	if (__builtin_expect(on != 0, 0))
		trace_write(trace, on, &item);
}

/*
 * Work with a duration: the session in which its begin was written, or 0. Kept by the unit from
 * begin to end, so that both are written or neither is, whatever the host enables meanwhile.
 */
typedef u32 trace_span;

/* Write the begin of an event. @on: of trace_on(), not 0 */
trace_span trace_write_begin(struct trace *trace, u64 on, const struct trace_item *item);

/* Write the begin of an event, item.phase, if its kind is enabled. */
static inline trace_span trace_span_begin(struct trace *trace, const struct trace_item item)
{
	const u64 on = trace_on(trace, item.kind);

	return __builtin_expect(on != 0, 0) ? trace_write_begin(trace, on, &item) : 0;
}

void trace_write_end(struct trace *trace, trace_span span, const struct trace_item *item);

/* Write its end, item.phase: END or CANCEL, if its begin was written; *span becomes 0. */
static inline void trace_span_end(struct trace *trace, trace_span *span,
				  const struct trace_item item)
{
	if (__builtin_expect(*span != 0, 0))
		trace_write_end(trace, *span, &item);
	*span = 0;
}

/* Record an event without phase and slot. */
static inline void trace_event(struct trace *trace, u32 kind, enum trace_master dm,
			       unsigned int ctx, unsigned int usc, u64 arg0, u64 arg1)
{
	trace_item(trace, (struct trace_item){
		.kind = (u8)kind, .dm = (u8)dm, .usc = (u8)usc, .ctx = ctx, .arg0 = arg0,
		.arg1 = arg1,
	});
}

#endif
