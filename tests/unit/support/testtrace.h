/* SPDX-License-Identifier: MIT */
/*
 * An event trace with its ring, for tests of the blocks that write to it.
 *
 *	testtrace_open(&t, tm, &mmu);
 *	... config.trace = &t.trace ...
 *	testtrace_on(&t, TESTTRACE_ALL);
 *	... the block works ...
 *	testtrace_check_pairs(&t);
 *	assert_int_equal(testtrace_events(&t, PUMICE_TRACE_KIND_TILE, PUMICE_TRACE_PHASE_END), 6);
 */
#ifndef PUMICE_TESTTRACE_H
#define PUMICE_TESTTRACE_H

#include "../../../qemu-device/gpu/trace/trace.h"
#include "testmem.h"

#define TESTTRACE_RING		0x30000000ull	/* in context 0 */
#define TESTTRACE_ENTRIES	16384u		/* no test writes as many */
#define TESTTRACE_ALL \
	(PUMICE_TRACE_CTRL__EXTENDED__MASK | ((1u << PUMICE_TRACE_KIND_COUNT) - 1))

struct testtrace {
	struct trace trace;
	u32 *ring;
	_Atomic u64 clock;
};

/* Map the ring; the trace is disabled. */
void testtrace_open(struct testtrace *t, struct testmem *tm, const struct mmu *mmu);
/* Write TRACE_CTRL. A trace that was disabled begins with no records. */
void testtrace_on(struct testtrace *t, u32 ctrl);

/* Number of records, and one of them. */
u32 testtrace_count(const struct testtrace *t);
struct pumice_trace_record testtrace_record(const struct testtrace *t, u32 number);
/* Number of records of a kind and phase; the last of them is *last, unless it is NULL. */
u32 testtrace_events(const struct testtrace *t, u32 kind, u32 phase,
		     struct pumice_trace_record *last);
/*
 * Every begin is followed, before the next begin of its unit and slot, by one end or
 * cancellation with its arg0, data master and contexts; and nothing else ends.
 */
void testtrace_check_pairs(const struct testtrace *t);

#endif
