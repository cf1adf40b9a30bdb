// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of the trace's reader: which records it returns, waits for and counts as lost. Part of
 * pumice_gpu_trace.c.
 *
 * The test acts as the GPU: it writes records, or numbers them and does not.
 */
#include <linux/vmalloc.h>

#include <kunit/test.h>

#define TRACE_COPIES	256u	/* maximum number of records that a test reads at once */

struct trace_fixture {
	struct pumice_gpu_trace trace;
	struct pumice_fw_obj ring;
	/** @written: number of records that the GPU has numbered */
	u64 written;
	/** @ms: time */
	u64 ms;
	u32 records[TRACE_COPIES][PUMICE_TRACE_RECORD_WORDS];
};

static void trace_free_ring(void *memory)
{
	vfree(memory);
}

/* Create an empty ring of which @number records were written and read. */
static struct trace_fixture *trace_fixture(struct kunit *test, u64 number)
{
	struct trace_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->ring.cpu = vzalloc(ENTRIES * RECORD_BYTES);
	KUNIT_ASSERT_NOT_NULL(test, f->ring.cpu);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, trace_free_ring, f->ring.cpu), 0);
	f->trace.ring = &f->ring;
	f->trace.read = number;
	f->trace.awaited = number;
	f->written = number;
	f->ms = 10 * LATE_MS; /* no wait began at time 0 */
	return f;
}

static u32 *trace_entry(struct trace_fixture *f, u64 number)
{
	return f->ring.cpu + (number & (ENTRIES - 1)) * RECORD_BYTES;
}

/* Write record @number, as the GPU. arg0 is its number. */
static void trace_complete(struct trace_fixture *f, u64 number)
{
	const struct pumice_trace_record r = {
		.kind = PUMICE_TRACE_KIND_LAUNCH, .arg0 = number, .sequence = (u16)(number + 1),
	};

	pumice_trace_record_pack(trace_entry(f, number), &r);
}

/* Number and write @count records. */
static void trace_write(struct trace_fixture *f, u64 count)
{
	while (count--)
		trace_complete(f, f->written++);
}

/* Begin to write a record of which the body is not complete: its sequence is invalid. */
static void trace_begin(struct trace_fixture *f)
{
	u32 *words = trace_entry(f, f->written);

	words[PUMICE_TRACE_RECORD_WORDS - 1] = (u32)(u16)f->written << 16;
	f->written++;
}

static u32 trace_read(struct trace_fixture *f, u32 count)
{
	gpu_trace_skip_overwritten(&f->trace, f->written);
	return gpu_trace_copy_available(&f->trace, f->written, ms_to_ktime(f->ms), f->records,
					count);
}

/* Return the number of the @index-th record that was read. */
static u64 trace_number(struct trace_fixture *f, u32 index)
{
	struct pumice_trace_record r;

	pumice_trace_record_unpack(f->records[index], &r);
	return r.arg0;
}

static void records_are_returned_once_and_in_order(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	trace_write(f, 5);
	KUNIT_EXPECT_EQ(test, trace_read(f, 3), 3);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 0);
	KUNIT_EXPECT_EQ(test, trace_number(f, 2), 2);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 2);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 3);
	KUNIT_EXPECT_EQ(test, trace_number(f, 1), 4);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 0);
}

/* A record that is being written is waited for, and so are those after it: the order is kept. */
static void incomplete_record_is_waited_for(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	trace_write(f, 1);
	trace_begin(f);
	trace_write(f, 1);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 1);
	f->ms += LATE_MS - 1;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	trace_complete(f, 1);
	f->ms += LATE_MS;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 2);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 1), 2);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 0);
}

/* Records that are lost have one wait together, however many they are. */
static void gaps_are_waited_for_once(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);
	u32 i;

	for (i = 0; i < 20; i++) {
		trace_write(f, 1);
		trace_begin(f);
	}
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 1);
	f->ms += LATE_MS;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 19);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 2);
	KUNIT_EXPECT_EQ(test, trace_number(f, 18), 38);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 20);
	KUNIT_EXPECT_EQ(test, f->trace.read, f->written);
}

/* A record that the GPU numbers during a wait has a wait of its own. */
static void gap_after_the_wait_began_is_waited_for_again(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	trace_begin(f);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 0);
	trace_begin(f);
	trace_write(f, 1);
	f->ms += LATE_MS;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 1);
	f->ms += LATE_MS - 1;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	f->ms++;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 2);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 2);
}

/* A lost record is not returned if it is completed after all. */
static void lost_record_is_counted_once(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	trace_begin(f);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	f->ms += LATE_MS;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	trace_complete(f, 0);
	f->ms += LATE_MS;
	trace_write(f, 1);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 1);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 1);
}

/* Half a ring after a record it is lost without a wait: it would be overwritten soon. */
static void record_half_a_ring_ago_is_not_waited_for(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	trace_begin(f);
	trace_write(f, LATE - 1);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	trace_write(f, 1);
	KUNIT_EXPECT_EQ(test, trace_read(f, 1), 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 1);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 1);
}

static void sequence_numbers_wrap(struct kunit *test)
{
	const u64 first = 3 * SEQUENCES - 2;
	struct trace_fixture *f = trace_fixture(test, first);

	trace_write(f, 1);
	trace_begin(f); /* number 2^16 - 1, of which the sequence is 0 */
	trace_write(f, 2);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 1);
	trace_complete(f, first + 1);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 3);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), first + 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 2), first + 3);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 0);
}

/* An entry that was never written has the sequence number 0, as a complete record may. */
static void empty_entry_is_not_a_record(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, SEQUENCES - 1);

	f->written++;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	KUNIT_EXPECT_EQ(test, f->trace.read, SEQUENCES - 1);
}

/* The entry keeps a record whose sequence number the next but one in it has, too. */
static void record_is_not_returned_again_two_laps_later(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	trace_write(f, 1);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 1);
	f->trace.read = SEQUENCES;
	f->trace.awaited = SEQUENCES;
	f->written = SEQUENCES + 1;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	trace_complete(f, SEQUENCES);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), SEQUENCES);
}

static void overrun_ring_returns_the_newest(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	trace_write(f, ENTRIES + 10);
	KUNIT_EXPECT_EQ(test, trace_read(f, 1), 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 10);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 10);
	KUNIT_EXPECT_EQ(test, trace_read(f, 1), 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), 11);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 10);
}

/* Iterating over such a gap would take years. */
static void jump_beyond_the_ring_is_skipped_at_once(struct kunit *test)
{
	const u64 jump = BIT_ULL(62);
	struct trace_fixture *f = trace_fixture(test, 7);

	f->written += jump;
	trace_complete(f, f->written - ENTRIES);
	KUNIT_EXPECT_EQ(test, trace_read(f, 1), 1);
	KUNIT_EXPECT_EQ(test, trace_number(f, 0), f->written - ENTRIES);
	KUNIT_EXPECT_EQ(test, f->trace.lost, jump - ENTRIES);
	KUNIT_EXPECT_EQ(test, f->trace.read, f->written - ENTRIES + 1);
}

/* The number of a GPU that was reset restarts before its trace does: nothing is lost by that. */
static void number_that_falls_returns_nothing(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	trace_write(f, 3);
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 3);
	f->written = 0;
	KUNIT_EXPECT_EQ(test, trace_read(f, TRACE_COPIES), 0);
	KUNIT_EXPECT_EQ(test, f->trace.read, 3);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 0);
}

/* A reader that is stopped while it copies may have copied a record of two laps later. */
static void copies_that_may_be_of_later_records_are_lost(struct kunit *test)
{
	struct trace_fixture *f = trace_fixture(test, 0);

	KUNIT_EXPECT_EQ(test, gpu_trace_check_copied(&f->trace, 4, SEQUENCES + 4, 9), 9);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 0);
	KUNIT_EXPECT_EQ(test, gpu_trace_check_copied(&f->trace, 4, SEQUENCES + 5, 9), 0);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 9);
	/* Not if the GPU was reset meanwhile. */
	KUNIT_EXPECT_EQ(test, gpu_trace_check_copied(&f->trace, 4, 0, 9), 9);
	KUNIT_EXPECT_EQ(test, f->trace.lost, 9);
}

static struct kunit_case trace_cases[] = {
	KUNIT_CASE(records_are_returned_once_and_in_order),
	KUNIT_CASE(incomplete_record_is_waited_for),
	KUNIT_CASE(gaps_are_waited_for_once),
	KUNIT_CASE(gap_after_the_wait_began_is_waited_for_again),
	KUNIT_CASE(lost_record_is_counted_once),
	KUNIT_CASE(record_half_a_ring_ago_is_not_waited_for),
	KUNIT_CASE(sequence_numbers_wrap),
	KUNIT_CASE(empty_entry_is_not_a_record),
	KUNIT_CASE(record_is_not_returned_again_two_laps_later),
	KUNIT_CASE(overrun_ring_returns_the_newest),
	KUNIT_CASE(jump_beyond_the_ring_is_skipped_at_once),
	KUNIT_CASE(number_that_falls_returns_nothing),
	KUNIT_CASE(copies_that_may_be_of_later_records_are_lost),
	{}
};

static struct kunit_suite trace_suite = {
	.name = "pumice_gpu_trace",
	.test_cases = trace_cases,
};

kunit_test_suite(trace_suite);
