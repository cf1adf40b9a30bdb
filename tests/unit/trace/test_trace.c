// SPDX-License-Identifier: MIT
/*
 * The event ring: records, wrapping, selected events, invalid addresses, and writers in
 * parallel with a reader.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/trace/trace.h"
#include "cmocka_all.h"
#include "testmem.h"

/* Mapped in context 0, two pages, unmapped after them. */
#define RING		0x200000ull
#define RING_BYTES	0x2000u
#define PER_PAGE	(0x1000u / 32)
#define EXTENDED	PUMICE_TRACE_CTRL__EXTENDED__MASK
#define ALL_KINDS	(EXTENDED | ((1u << PUMICE_TRACE_KIND_COUNT) - 1))
#define STALL		PUMICE_TRACE_KIND_STALL

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct trace trace;
	u32 *ring;
	_Atomic u64 clock;
	u32 events;	/* of the MMU */
};

static u64 fx_now(void *opaque)
{
	return atomic_load(&((struct fixture *)opaque)->clock);
}

static void fx_event(void *opaque, enum pumice_trace_kind kind, unsigned int ctx, u64 arg0,
		     u64 arg1)
{
	(void)kind;
	(void)ctx;
	(void)arg0;
	(void)arg1;
	((struct fixture *)opaque)->events++;
}

static struct fixture *fx_create(void)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	fx->tm = testmem_create(4u << 20);
	testmem_bind(fx->tm, &fx->mmu);
	fx->mmu.event = fx_event;
	fx->mmu.event_opaque = fx;
	fx->ring = testmem_map(fx->tm, 0, RING, RING_BYTES, PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	trace_init(&fx->trace,
		   &(struct trace_config){ .mmu = &fx->mmu, .now = fx_now, .opaque = fx });
	return fx;
}

static void fx_destroy(struct fixture *fx)
{
	/* Tracing never faults, and never records itself. */
	assert_int_equal(fx->events, 0);
	assert_int_equal(atomic_load(&fx->mmu.fault_count), 0);
	testmem_destroy(fx->tm);
	free(fx);
}

static void enable(struct fixture *fx, u64 base, u32 entries, u32 kinds)
{
	fx->trace.regs.base = base;
	fx->trace.regs.entries = entries;
	assert_false(trace_set_enable(&fx->trace, kinds));
}

static struct pumice_trace_record record(const struct fixture *fx, u32 place)
{
	struct pumice_trace_record r;

	pumice_trace_record_unpack(fx->ring + place * PUMICE_TRACE_RECORD_WORDS, &r);
	return r;
}

static void stall(struct fixture *fx, u64 number)
{
	trace_event(&fx->trace, STALL, TRACE_CDM, 1, 0, number, 0);
}

static void a_record_contains_the_event(void **state)
{
	struct fixture *fx = fx_create();
	struct pumice_trace_record r;

	(void)state;
	enable(fx, RING, 4, ALL_KINDS);
	trace_set_tag(&fx->trace, TRACE_PDM, 0xc0ffee01);
	trace_set_tag(&fx->trace, TRACE_CDM, 0xc0ffee02);
	atomic_store(&fx->clock, 0x123456789abcdef0);
	trace_item(&fx->trace, (struct trace_item){
		.kind = PUMICE_TRACE_KIND_TILE, .phase = PUMICE_TRACE_PHASE_CANCEL,
		.dm = TRACE_PDM, .usc = 0xff, .slot = 15, .ctx = 31, .arg0 = 0xfedcba9876543210,
		.arg1 = 0xffff123456789abc,
	});
	r = record(fx, 0);
	assert_int_equal(r.time, 0x123456789abcdef0);
	assert_int_equal(r.kind, PUMICE_TRACE_KIND_TILE);
	assert_int_equal(r.phase, PUMICE_TRACE_PHASE_CANCEL);
	assert_int_equal(r.dm, TRACE_PDM);
	assert_int_equal(r.mmu_ctx, 31);
	assert_int_equal(r.usc, 0xff);
	assert_int_equal(r.slot, 15);
	assert_int_equal(r.context, 0xc0ffee01);
	assert_int_equal(r.arg0, 0xfedcba9876543210);
	assert_int_equal(r.arg1, 0x123456789abc);
	assert_int_equal(r.sequence, 1);
	assert_int_equal(trace_written(&fx->trace), 1);
	/* Each data master has a context of its own; events of no job have none. */
	trace_event(&fx->trace, STALL, TRACE_CDM, 0, 0, 0, 0);
	trace_event(&fx->trace, STALL, TRACE_VDM, 0, 0, 0, 0);
	trace_event(&fx->trace, STALL, TRACE_NO_JOB, 0, 0, 0, 0);
	assert_int_equal(record(fx, 1).context, 0xc0ffee02);
	assert_int_equal(record(fx, 2).context, 0);
	assert_int_equal(record(fx, 2).dm, TRACE_VDM);
	assert_int_equal(record(fx, 3).context, 0);
	fx_destroy(fx);
}

static void only_selected_events_are_written(void **state)
{
	struct fixture *fx = fx_create();
	u32 kind, wanted;

	(void)state;
	for (wanted = 1; wanted < PUMICE_TRACE_KIND_COUNT; wanted++) {
		trace_set_enable(&fx->trace, 0);
		enable(fx, RING, 16, EXTENDED | 1u << wanted);
		for (kind = 1; kind < PUMICE_TRACE_KIND_COUNT; kind++)
			trace_event(&fx->trace, kind, TRACE_CDM, 0, 0, 0, 0);
		assert_int_equal(trace_written(&fx->trace), 1);
		assert_int_equal(record(fx, 0).kind, wanted);
	}
	trace_set_enable(&fx->trace, 0);
	stall(fx, 1);
	assert_int_equal(trace_written(&fx->trace), 1);
	trace_event(NULL, STALL, TRACE_CDM, 0, 0, 0, 0);	/* no trace at all */
	fx_destroy(fx);
}

/* As a driver for register map 2.2 expects them. */
static void records_without_extended_are_those_of_version_2_2(void **state)
{
	struct fixture *fx = fx_create();
	u32 kind;

	(void)state;
	enable(fx, RING, 256, 0xffff);
	trace_set_tag(&fx->trace, TRACE_CDM, 5);
	trace_set_tag(&fx->trace, TRACE_PDM, 6);
	for (kind = 1; kind < PUMICE_TRACE_KIND_COUNT; kind++)
		trace_item(&fx->trace, (struct trace_item){
			.kind = (u8)kind, .phase = PUMICE_TRACE_PHASE_END, .dm = TRACE_PDM,
			.usc = 63, .slot = 3, .ctx = 9, .arg0 = kind,
			.arg1 = trace_job(7ull << 32, true),
		});
	assert_int_equal(trace_written(&fx->trace), PUMICE_TRACE_KIND_STALL);
	for (kind = 1; kind <= PUMICE_TRACE_KIND_STALL; kind++) {
		const struct pumice_trace_record r = record(fx, kind - 1);

		assert_int_equal(r.kind, kind);
		assert_int_equal(r.phase, 0);
		assert_int_equal(r.dm, 0);
		assert_int_equal(r.slot, 0);
		assert_int_equal(r.usc, 63);
		assert_int_equal(r.mmu_ctx, 9);
		assert_int_equal(r.context, 5);
		assert_int_equal(r.arg0, kind);
		assert_int_equal(r.arg1, kind == PUMICE_TRACE_KIND_JOB_START ? 1 : 0x701);
	}
	/* EXTENDED alone enables nothing. */
	trace_set_enable(&fx->trace, 0);
	enable(fx, RING, 256, EXTENDED);
	stall(fx, 1);
	assert_int_equal(trace_written(&fx->trace), PUMICE_TRACE_KIND_STALL);
	fx_destroy(fx);
}

static const struct trace_item chunk = {
	.kind = PUMICE_TRACE_KIND_CHUNK, .phase = PUMICE_TRACE_PHASE_BEGIN, .dm = TRACE_VDM,
	.usc = 3, .arg0 = 7,
};
static const struct trace_item chunk_end = {
	.kind = PUMICE_TRACE_KIND_CHUNK, .phase = PUMICE_TRACE_PHASE_END, .dm = TRACE_VDM,
	.usc = 3, .arg0 = 7,
};

#define CHUNKS	(EXTENDED | 1u << PUMICE_TRACE_KIND_CHUNK)
#define STALLS	(EXTENDED | 1u << STALL)

/* Change what is enabled, of a trace that is not disabled. */
static void change(struct fixture *fx, u32 kinds)
{
	assert_false(trace_set_enable(&fx->trace, kinds));
}

static void an_end_is_written_if_its_begin_was(void **state)
{
	struct fixture *fx = fx_create();
	trace_span span, off;

	(void)state;
	enable(fx, RING, 16, STALLS);
	off = trace_span_begin(&fx->trace, chunk);
	assert_int_equal(off, 0);
	change(fx, CHUNKS);
	trace_span_end(&fx->trace, &off, chunk_end);
	assert_int_equal(trace_written(&fx->trace), 0);
	/* Also if its kind is disabled meanwhile, and once. */
	span = trace_span_begin(&fx->trace, chunk);
	change(fx, STALLS);
	trace_span_end(&fx->trace, &span, chunk_end);
	trace_span_end(&fx->trace, &span, chunk_end);
	assert_int_equal(span, 0);
	assert_int_equal(trace_written(&fx->trace), 2);
	assert_int_equal(record(fx, 0).phase, PUMICE_TRACE_PHASE_BEGIN);
	assert_int_equal(record(fx, 1).phase, PUMICE_TRACE_PHASE_END);
	assert_int_equal(record(fx, 1).arg0, 7);
	span = trace_span_begin(NULL, chunk);	/* no trace at all */
	trace_span_end(NULL, &span, chunk_end);
	fx_destroy(fx);
}

static void an_end_is_not_written_to_a_later_trace(void **state)
{
	struct fixture *fx = fx_create();
	trace_span span;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		enable(fx, RING, 16, CHUNKS);
		span = trace_span_begin(&fx->trace, chunk);
		assert_int_not_equal(span, 0);
		if (i == 0)
			trace_reset(&fx->trace);
		else if (i == 1)
			trace_set_enable(&fx->trace, 0);
		else
			change(fx, CHUNKS & ~EXTENDED);
		if (i < 2)
			enable(fx, RING, 16, CHUNKS);
		trace_span_end(&fx->trace, &span, chunk_end);
		assert_int_equal(trace_written(&fx->trace), i == 2);
		assert_int_equal(span, 0);
		trace_set_enable(&fx->trace, 0);
		span = trace_span_begin(&fx->trace, chunk);
		assert_int_equal(span, 0);
	}
	fx_destroy(fx);
}

/* The host changes it between the two: the record has the kinds enabled at first. */
static void a_record_has_the_kinds_that_were_read(void **state)
{
	struct fixture *fx = fx_create();
	struct pumice_trace_record r;
	u64 on;

	(void)state;
	enable(fx, RING, 16, CHUNKS);
	on = trace_on(&fx->trace, PUMICE_TRACE_KIND_CHUNK);
	change(fx, STALLS & ~EXTENDED);
	trace_write(&fx->trace, on, &chunk);
	r = record(fx, 0);
	assert_int_equal(r.phase, PUMICE_TRACE_PHASE_BEGIN);
	assert_int_equal(r.dm, PUMICE_TRACE_MASTER_VDM);
	assert_int_equal(trace_on(&fx->trace, PUMICE_TRACE_KIND_CHUNK), 0);
	fx_destroy(fx);
}

static void a_record_may_have_another_context_than_the_current_one(void **state)
{
	struct fixture *fx = fx_create();
	const u32 context = 0x77;

	(void)state;
	enable(fx, RING, 16, ALL_KINDS);
	trace_set_tag(&fx->trace, TRACE_VDM, 0x88);
	trace_item(&fx->trace, (struct trace_item){
		.kind = PUMICE_TRACE_KIND_PM, .dm = TRACE_VDM, .context = &context,
	});
	assert_int_equal(record(fx, 0).context, context);
	assert_int_equal(trace_context(&fx->trace, TRACE_VDM), 0x88);
	assert_int_equal(trace_context(&fx->trace, TRACE_NO_JOB), 0);
	assert_int_equal(trace_context(NULL, TRACE_VDM), 0);
	fx_destroy(fx);
}

static void the_ring_wraps_over_the_oldest(void **state)
{
	static const u32 sizes[] = { 2, 4, 64, 256 };
	u32 i, n;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct fixture *fx = fx_create();
		u32 total = 3 * sizes[i] + 1;

		enable(fx, RING, sizes[i], ALL_KINDS);
		for (n = 0; n < total; n++)
			stall(fx, n);
		assert_int_equal(trace_written(&fx->trace), total);
		for (n = total - sizes[i]; n < total; n++) {
			assert_int_equal(record(fx, n % sizes[i]).arg0, n);
			assert_int_equal(record(fx, n % sizes[i]).sequence, n + 1);
		}
		/* No write outside of the ring. */
		for (n = sizes[i] * PUMICE_TRACE_RECORD_WORDS; n < RING_BYTES / 4; n++)
			assert_int_equal(fx->ring[n], 0);
		fx_destroy(fx);
	}
}

/* The low 16 bits, so that they wrap. */
static void sequences_wrap_around(void **state)
{
	struct fixture *fx = fx_create();
	u32 n;

	(void)state;
	enable(fx, RING, 2, ALL_KINDS);
	for (n = 0; n < 0x10003; n++) {
		stall(fx, n);
		assert_int_equal(record(fx, n % 2).sequence, (n + 1) & 0xffff);
	}
	fx_destroy(fx);
}

static void the_ring_is_latched_when_the_trace_continues(void **state)
{
	struct fixture *fx = fx_create();

	(void)state;
	enable(fx, RING, 4, 1u << STALL);
	stall(fx, 10);
	/* On already: another address, size and choice of events; only the last is used. */
	enable(fx, RING + 0x1000, 8, ALL_KINDS);
	stall(fx, 11);
	assert_int_equal(record(fx, 1).arg0, 11);
	assert_int_equal(trace_written(&fx->trace), 2);
	assert_true(trace_set_enable(&fx->trace, 0));	/* stopping has to wait */
	assert_false(trace_set_enable(&fx->trace, 0));
	trace_set_enable(&fx->trace, ALL_KINDS);
	assert_int_equal(trace_written(&fx->trace), 0);
	stall(fx, 12);
	assert_int_equal(record(fx, PER_PAGE).arg0, 12);
	assert_int_equal(record(fx, 0).arg0, 10);
	fx_destroy(fx);
}

static void invalid_rings_leave_the_trace_off(void **state)
{
	static const struct {
		u64 base;
		u32 entries;
	} cases[] = {
		{ RING, 0 }, { RING, 1 }, { RING, 3 }, { RING, 6 }, { RING, 1u << 21 },
		{ RING, 0x80000000 }, { RING, 0xffffffff }, { RING + 1, 4 }, { RING + 4, 4 },
		{ RING + 16, 4 }, { RING + 31, 4 },
	};
	struct fixture *fx = fx_create();
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enable(fx, cases[i].base, cases[i].entries, ALL_KINDS);
		assert_int_equal(fx->trace.regs.ctrl, ALL_KINDS);
		stall(fx, 1);
		assert_int_equal(trace_written(&fx->trace), 0);
		trace_set_enable(&fx->trace, 0);
	}
	for (i = 0; i < RING_BYTES / 4; i++)
		assert_int_equal(fx->ring[i], 0);
	fx_destroy(fx);
}

static void events_without_memory_are_lost_and_counted(void **state)
{
	static const u64 bases[] = { RING - 32, RING + RING_BYTES, 0, (1ull << 40) - 32,
				     (1ull << 40) - 64 };
	struct fixture *fx = fx_create();
	u32 i, n;

	(void)state;
	for (i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		enable(fx, bases[i], 1u << 20, ALL_KINDS);
		for (n = 0; n < 4; n++)
			stall(fx, n);
		assert_int_equal(trace_written(&fx->trace), 4);
		trace_set_enable(&fx->trace, 0);
	}
	/* The first ring's later events are stored in the mapped pages. */
	assert_int_equal(record(fx, 0).sequence, 2);
	assert_int_equal(record(fx, 2).sequence, 4);
	assert_int_equal(record(fx, 3).sequence, 0);
	fx_destroy(fx);
}

static void a_ring_that_is_read_only_or_off_is_not_written(void **state)
{
	struct fixture *fx = fx_create();

	(void)state;
	testmem_map_bus(fx->tm, 0, RING, testmem_bus(fx->tm, fx->ring), 0x1000,
			PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	enable(fx, RING, 4, ALL_KINDS);
	stall(fx, 1);
	assert_int_equal(fx->ring[0], 0);
	atomic_store(&fx->mmu.ctx[0], 0);
	stall(fx, 2);
	assert_int_equal(trace_written(&fx->trace), 2);
	fx_destroy(fx);
}

/* Remapped pages take effect at once: no TLB caches the ring. */
static void a_remapped_ring_needs_no_invalidation(void **state)
{
	struct fixture *fx = fx_create();
	u64 bus = testmem_alloc(fx->tm, 0x1000, 0x1000);
	const u32 *fresh = testmem_host(fx->tm, bus);

	(void)state;
	enable(fx, RING, 4, ALL_KINDS);
	stall(fx, 1);
	testmem_map_bus(fx->tm, 0, RING, bus, 0x1000, PUMICE_PAGE_SIZE_4K, 0);
	stall(fx, 2);
	assert_int_equal(record(fx, 1).sequence, 0);
	assert_int_equal(fresh[PUMICE_TRACE_RECORD_WORDS + 4], 2);
	fx_destroy(fx);
}

static void a_reset_stops_the_trace(void **state)
{
	struct fixture *fx = fx_create();

	(void)state;
	enable(fx, RING, 4, ALL_KINDS);
	trace_set_tag(&fx->trace, TRACE_CDM, 9);
	stall(fx, 1);
	trace_reset(&fx->trace);
	stall(fx, 2);
	assert_int_equal(trace_written(&fx->trace), 0);
	assert_int_equal(fx->trace.regs.ctrl, 0);
	assert_int_equal(fx->trace.regs.base, 0);
	enable(fx, RING, 4, ALL_KINDS);
	stall(fx, 3);
	assert_int_equal(record(fx, 0).context, 0);
	fx_destroy(fx);
}

#define WRITERS	4u
#define ROUNDS	20000u

struct writer {
	struct fixture *fx;
	u32 number;
};

/* Every word of a record can be computed from arg0, so a mixed one is detected. */
static u64 other_arg(u64 arg0)
{
	return arg0 * 0x9e3779b97f4a7c15 >> 16;
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	u64 n;

	for (n = 0; n < ROUNDS; n++) {
		u64 arg0 = n * WRITERS + w->number;

		trace_event(&w->fx->trace, STALL, TRACE_CDM, (unsigned int)(arg0 & 31),
			    (unsigned int)(arg0 & 0xff), arg0, other_arg(arg0));
	}
	return NULL;
}

/* Read as specified: the sequence, the record, the sequence again. */
static bool read_whole(const u32 *at, u64 number, struct pumice_trace_record *r)
{
	u32 words[PUMICE_TRACE_RECORD_WORDS], i, last;

	last = __atomic_load_n(&at[7], __ATOMIC_ACQUIRE);
	for (i = 0; i < 7; i++)
		words[i] = __atomic_load_n(&at[i], __ATOMIC_ACQUIRE);
	words[7] = __atomic_load_n(&at[7], __ATOMIC_RELAXED);
	pumice_trace_record_unpack(words, r);
	return words[7] == last && r->sequence == (u16)(number + 1);
}

static void check_whole(const struct pumice_trace_record *r)
{
	assert_int_equal(r->kind, STALL);
	assert_int_equal(r->mmu_ctx, r->arg0 & 31);
	assert_int_equal(r->usc, r->arg0 & 0xff);
	assert_int_equal(r->arg1, other_arg(r->arg0));
}

static void records_of_many_threads_are_whole_or_lost(void **state)
{
	static const u32 sizes[] = { 2, 256 };
	u32 i, n;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct fixture *fx = fx_create();
		struct writer writer[WRITERS];
		pthread_t thread[WRITERS];
		u64 whole = 0, total = 0;

		enable(fx, RING, sizes[i], ALL_KINDS);
		for (n = 0; n < WRITERS; n++) {
			writer[n] = (struct writer){ fx, n };
			assert_int_equal(
				pthread_create(&thread[n], NULL, writer_main, &writer[n]), 0);
		}
		while (total < WRITERS * ROUNDS) {
			struct pumice_trace_record r;

			total = trace_written(&fx->trace);
			for (n = 0; n < sizes[i] && n < total; n++) {
				u64 number = total - 1 - n;
				u32 place = (u32)(number % sizes[i]);

				if (!read_whole(fx->ring + place * 8, number, &r))
					continue;
				check_whole(&r);
				whole++;
			}
		}
		for (n = 0; n < WRITERS; n++)
			pthread_join(thread[n], NULL);
		assert_true(whole > 0);
		assert_int_equal(trace_written(&fx->trace), WRITERS * ROUNDS);
		fx_destroy(fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_contains_the_event),
		cmocka_unit_test(only_selected_events_are_written),
		cmocka_unit_test(records_without_extended_are_those_of_version_2_2),
		cmocka_unit_test(an_end_is_written_if_its_begin_was),
		cmocka_unit_test(an_end_is_not_written_to_a_later_trace),
		cmocka_unit_test(a_record_has_the_kinds_that_were_read),
		cmocka_unit_test(a_record_may_have_another_context_than_the_current_one),
		cmocka_unit_test(the_ring_wraps_over_the_oldest),
		cmocka_unit_test(sequences_wrap_around),
		cmocka_unit_test(the_ring_is_latched_when_the_trace_continues),
		cmocka_unit_test(invalid_rings_leave_the_trace_off),
		cmocka_unit_test(events_without_memory_are_lost_and_counted),
		cmocka_unit_test(a_ring_that_is_read_only_or_off_is_not_written),
		cmocka_unit_test(a_remapped_ring_needs_no_invalidation),
		cmocka_unit_test(a_reset_stops_the_trace),
		cmocka_unit_test(records_of_many_threads_are_whole_or_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
