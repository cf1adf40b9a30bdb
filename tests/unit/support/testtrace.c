// SPDX-License-Identifier: MIT
/* An event trace with its ring. See testtrace.h. */
#include "testtrace.h"

#include "cmocka_all.h"

#define RECORD_BYTES (PUMICE_TRACE_RECORD_WORDS * 4u)

static u64 now(void *opaque)
{
	return atomic_fetch_add(&((struct testtrace *)opaque)->clock, 1);
}

void testtrace_open(struct testtrace *t, struct testmem *tm, const struct mmu *mmu)
{
	t->ring = testmem_map(tm, 0, TESTTRACE_RING, TESTTRACE_ENTRIES * RECORD_BYTES,
			      PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	trace_init(&t->trace, &(struct trace_config){ .mmu = mmu, .now = now, .opaque = t });
}

void testtrace_on(struct testtrace *t, u32 ctrl)
{
	t->trace.regs.base = TESTTRACE_RING;
	t->trace.regs.entries = TESTTRACE_ENTRIES;
	trace_set_enable(&t->trace, ctrl);
}

u32 testtrace_count(const struct testtrace *t)
{
	const u64 count = trace_written(&t->trace);

	assert_true(count <= TESTTRACE_ENTRIES);
	return (u32)count;
}

struct pumice_trace_record testtrace_record(const struct testtrace *t, u32 number)
{
	struct pumice_trace_record r;

	pumice_trace_record_unpack(t->ring + number * PUMICE_TRACE_RECORD_WORDS, &r);
	assert_int_equal(r.sequence, (number + 1) & 0xffff);
	return r;
}

u32 testtrace_events(const struct testtrace *t, u32 kind, u32 phase,
		     struct pumice_trace_record *last)
{
	u32 i, count = 0;

	for (i = 0; i < testtrace_count(t); i++) {
		const struct pumice_trace_record r = testtrace_record(t, i);

		if (r.kind != kind || r.phase != phase)
			continue;
		if (last)
			*last = r;
		count++;
	}
	return count;
}

/* Kinds that have a begin and an end. */
static bool has_phases(u32 kind)
{
	switch (kind) {
	case PUMICE_TRACE_KIND_CHUNK:
	case PUMICE_TRACE_KIND_TA:
	case PUMICE_TRACE_KIND_TILE:
	case PUMICE_TRACE_KIND_ISP:
	case PUMICE_TRACE_KIND_SPANS:
	case PUMICE_TRACE_KIND_TASK:
	case PUMICE_TRACE_KIND_PBE:
	case PUMICE_TRACE_KIND_TRANSFER:
		return true;
	default:
		return false;
	}
}

static bool same_unit(const struct pumice_trace_record *a, const struct pumice_trace_record *b)
{
	return a->kind == b->kind && a->usc == b->usc && a->slot == b->slot &&
	       (a->kind != PUMICE_TRACE_KIND_TASK || a->arg0 == b->arg0);
}

static void check_end(const struct testtrace *t, u32 begin)
{
	const struct pumice_trace_record a = testtrace_record(t, begin);
	struct pumice_trace_record b = { 0 };
	u32 i = begin + 1;

	for (; i < testtrace_count(t); i++) {
		b = testtrace_record(t, i);
		if (same_unit(&a, &b))
			break;
	}
	if (i == testtrace_count(t))
		fail_msg("record %u, kind %u of unit %u, has no end", begin, a.kind, a.usc);
	assert_true(b.phase == PUMICE_TRACE_PHASE_END || b.phase == PUMICE_TRACE_PHASE_CANCEL);
	assert_int_equal(b.arg0, a.arg0);
	assert_int_equal(b.dm, a.dm);
	assert_int_equal(b.context, a.context);
	assert_int_equal(b.mmu_ctx, a.mmu_ctx);
}

void testtrace_check_pairs(const struct testtrace *t)
{
	u32 i, begins = 0, ends = 0;

	for (i = 0; i < testtrace_count(t); i++) {
		const struct pumice_trace_record r = testtrace_record(t, i);

		if (!has_phases(r.kind))
			continue;
		assert_int_not_equal(r.phase, PUMICE_TRACE_PHASE_INSTANT);
		if (r.phase == PUMICE_TRACE_PHASE_BEGIN) {
			check_end(t, i);
			begins++;
		} else {
			ends++;
		}
	}
	assert_int_equal(begins, ends);
}
