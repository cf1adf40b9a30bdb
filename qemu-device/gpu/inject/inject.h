/* SPDX-License-Identifier: MIT */
/*
 * Faults on request (unit INJ), for tests of drivers.
 *
 * Source: hw/registers.xml, unit INJ, enum inject_kind. A request is armed by the host
 * (pumice_gpu_inject()) or by the guest (the unit's registers, where the device allows it),
 * one for each kind, and consumed by inject_take() at the place where the fault acts.
 *
 * Requests outlive resets of the GPU, so that a fault can be made to return after each of
 * them. What a fault has done to the GPU does not: inject_reset().
 *
 * Locking: a leaf lock guards the requests; any thread, any lock held. Late events are
 * under the device lock. A kind without a request costs one load.
 */
#ifndef PUMICE_GPU_INJECT_H
#define PUMICE_GPU_INJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "pumice_regs.h"

#define INJECT_ENDLESS	UINT32_MAX	/* count: at all occasions */
#define INJECT_EVENTS	32u		/* of the firmware's interrupt controller */

struct inject_request {
	enum pumice_inject_kind kind;
	enum pumice_inject_where where;
	u32 bit;	/* which bit is inverted */
	u32 us;		/* microseconds */
	u32 skip;	/* occasions that pass unharmed */
	u32 count;	/* occasions after those, or INJECT_ENDLESS */
};

struct inject {
	_Atomic u32 armed;	/* bit n: there is a request of kind n */
	pthread_mutex_t lock;	/* guards request and hits */
	struct inject_request request[PUMICE_INJECT_KIND_COUNT];
	u32 hits[PUMICE_INJECT_KIND_COUNT];

	/* What faults have done. */
	_Atomic u32 hung;	/* bit n: data master n of enum inject_where */
	u32 late;		/* events that are held back; device lock */
	u64 late_until[INJECT_EVENTS];	/* GPU clock; device lock */
};

void inject_init(struct inject *in);
void inject_destroy(struct inject *in);
/* The GPU is reset: what faults have done is over. Requests stay. Device lock held. */
void inject_reset(struct inject *in);

/* False where kind, where or count holds what is not allowed. */
bool inject_arm(struct inject *in, const struct inject_request *request);
void inject_clear(struct inject *in);
/* Occasions left, and times that it has happened, of one kind. */
u32 inject_left(struct inject *in, u32 kind);
u32 inject_hits(struct inject *in, u32 kind);

/* Whether there is a request of a kind at all. */
static inline bool inject_armed(const struct inject *in, enum pumice_inject_kind kind)
{
	return atomic_load_explicit(&in->armed, memory_order_relaxed) & 1u << kind;
}

/* inject_take() with the lock. */
bool inject_consume(struct inject *in, enum pumice_inject_kind kind,
		    enum pumice_inject_where where, struct inject_request *request);

/* An occasion: true if the fault shall happen, with the request in *request, if not NULL. */
static inline bool inject_take(struct inject *in, enum pumice_inject_kind kind,
			       enum pumice_inject_where where, struct inject_request *request)
{
	return inject_armed(in, kind) && inject_consume(in, kind, where, request);
}

/* A data master hangs until the reset. */
static inline void inject_hang(struct inject *in, enum pumice_inject_where master)
{
	atomic_fetch_or_explicit(&in->hung, 1u << master, memory_order_relaxed);
}

static inline bool inject_hung(const struct inject *in, enum pumice_inject_where master)
{
	return atomic_load_explicit(&in->hung, memory_order_relaxed) & 1u << master;
}

/* Hold events (bits of IC_PENDING) back until the clock is there; device lock held. */
void inject_hold_back(struct inject *in, u32 events, u64 until);
/* Events that are due; *next is when the next of the others is, or UINT64_MAX. */
u32 inject_due(struct inject *in, u64 now, u64 *next);

/*
 * A request as text: "KIND[,where=WHERE][,bit=N][,us=N][,skip=N][,count=N|endless]", names as
 * pumice_inject_kind_str() and pumice_inject_where_str() spell them. Without where the first
 * that the kind allows; without count once. False if it is none.
 */
bool inject_parse(const char *text, struct inject_request *request);
/* Requests that are armed, one a line, as inject_parse() reads them. */
void inject_describe(struct inject *in, char *text, size_t bytes);

#endif
