/* SPDX-License-Identifier: MIT */
/*
 * Fault injection (unit INJ), for tests of drivers.
 *
 * Source: hw/registers.xml, unit INJ, enum inject_kind. A request is armed by the host
 * (pumice_gpu_inject()) or by the guest (the unit's registers, where the device allows it),
 * one for each kind, and consumed by inject_take() where the fault acts.
 *
 * Requests are kept over resets of the GPU, so that a fault can be repeated after each.
 * Effects of faults on the GPU are not: inject_reset(). A reset of the machine drops the requests
 * that its guest has armed: inject_forget_guest().
 *
 * Locking: a leaf lock guards the requests; any thread, any lock held. Late events are under
 * the device lock. A kind without a request costs one load.
 */
#ifndef PUMICE_GPU_INJECT_H
#define PUMICE_GPU_INJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "pumice_regs.h"

#define INJECT_ENDLESS	UINT32_MAX	/* count: on all occasions */
#define INJECT_EVENTS	32u		/* of the firmware's interrupt controller */

struct inject_request {
	enum pumice_inject_kind kind;
	enum pumice_inject_where where;
	u32 bit;	/* number of the bit to invert */
	u32 us;		/* microseconds */
	u32 skip;	/* occasions without a fault */
	u32 count;	/* occasions after those, or INJECT_ENDLESS */
	bool guest;	/* armed by the unit's registers */
};

struct inject {
	_Atomic u32 armed;	/* bit n: there is a request of kind n */
	pthread_mutex_t lock;	/* guards request and hits */
	struct inject_request request[PUMICE_INJECT_KIND_COUNT];
	u32 hits[PUMICE_INJECT_KIND_COUNT];

	/* Effects of faults. */
	_Atomic u32 hung;	/* bit n: data master n of enum inject_where */
	u32 late;		/* delayed events; device lock */
	u64 late_until[INJECT_EVENTS];	/* GPU clock; device lock */
};

void inject_init(struct inject *in);
void inject_destroy(struct inject *in);
/* Clear the effects of faults on a reset of the GPU. Requests are kept. Device lock held. */
void inject_reset(struct inject *in);

/* Arm a request. Returns false if kind, where or count is invalid. */
bool inject_arm(struct inject *in, const struct inject_request *request);
void inject_clear(struct inject *in);
/* Drop the guest's requests; the host's are kept. */
void inject_forget_guest(struct inject *in);
/* Return the remaining occasions, and the number of faults so far, of one kind. */
u32 inject_left(struct inject *in, u32 kind);
u32 inject_hits(struct inject *in, u32 kind);

/* Return whether a request of a kind is armed. */
static inline bool inject_armed(const struct inject *in, enum pumice_inject_kind kind)
{
	return atomic_load_explicit(&in->armed, memory_order_relaxed) & 1u << kind;
}

/* inject_take() for an armed kind; takes the lock. */
bool inject_consume(struct inject *in, enum pumice_inject_kind kind,
		    enum pumice_inject_where where, struct inject_request *request);

/*
 * Count an occasion. Returns true if the fault must happen, with the request in *request, if
 * not NULL.
 */
static inline bool inject_take(struct inject *in, enum pumice_inject_kind kind,
			       enum pumice_inject_where where, struct inject_request *request)
{
	return inject_armed(in, kind) && inject_consume(in, kind, where, request);
}

/* Hang a data master until the reset. */
static inline void inject_hang(struct inject *in, enum pumice_inject_where master)
{
	atomic_fetch_or_explicit(&in->hung, 1u << master, memory_order_relaxed);
}

static inline bool inject_hung(const struct inject *in, enum pumice_inject_where master)
{
	return atomic_load_explicit(&in->hung, memory_order_relaxed) & 1u << master;
}

/* Delay events (bits of IC_PENDING) until the clock reaches until; device lock held. */
void inject_hold_back(struct inject *in, u32 events, u64 until);
/* Return the events that are due; *next becomes the time of the next one, or UINT64_MAX. */
u32 inject_due(struct inject *in, u64 now, u64 *next);

/*
 * Parse a request: "KIND[,where=WHERE][,bit=N][,us=N][,skip=N][,count=N|endless]", names as
 * in pumice_inject_kind_str() and pumice_inject_where_str(). Without where the first one
 * valid for the kind; without count once. Returns false if the text is invalid.
 */
bool inject_parse(const char *text, struct inject_request *request);
/* List the armed requests, one per line, in the syntax of inject_parse(). */
void inject_describe(struct inject *in, char *text, size_t bytes);

#endif
