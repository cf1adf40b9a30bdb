// SPDX-License-Identifier: MIT
/*
 * Observation of jobs by users: results by number, performance counters, statistics, the
 * event trace, time slices; and the commands that write to memory.
 */
#include <stdlib.h>

#include "fwif.h"
#include "inproc/inproc.h"
#include "path.h"
#include "store.pasm.h"

#define GROUPS	16u	/* of 64 instances: two waves each */
#define SMALL	16u	/* entries of a trace: fewer than a job's,
			 * more than the firmware's after it */

/* A job whose events are most of a ring: it wraps at the second, and never overflows. */
#define BUSY_LAUNCHES	100u
#define BUSY_GROUPS	256u
#define BUSY_ENTRIES	(1u << 16)
_Static_assert(2 * BUSY_LAUNCHES * BUSY_GROUPS + 1 < BUSY_ENTRIES, "an event of each kind and group");

/* A stream of @launches launches of store.pasm. Returns its address. */
static uint64_t stores(struct path *p, const struct pumice_kernel *k, uint32_t groups,
		       uint64_t to, uint32_t launches)
{
	const uint32_t uniforms[3] = { VA_WORDS(to), 1 };
	uint64_t va = pumice_stream_va(p->stream);

	while (launches--)
		path_dispatch(p, k, groups, uniforms, 3);
	assert_int_equal(pumice_stream_end(p->stream, NULL), 0);
	return va;
}

static struct pumice_job_result result_of(struct path *p, uint64_t job)
{
	struct pumice_job_result r;

	if (pumice_context_get_job_result(p->context, job, &r, sizeof(r)))
		fail_msg("%s", pumice_device_error(p->dev));
	return r;
}

static void results(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint64_t good = stores(p, k, GROUPS, p->out_va, 1), bad = stores(p, k, 1, 0x1000, 1);
	struct pumice_job job = { .context = p->context, .stream = good };
	struct pumice_job_result r = { .job = 99, .error = 77 };

	assert_int_equal(pumice_context_jobs(p->context), 0);
	assert_int_equal(pumice_context_get_job_result(p->context, 0, &r, sizeof(r)), -ENODATA);
	assert_int_equal(pumice_context_get_job_result(p->context, 1, &r, sizeof(r)), -ENOENT);
	assert_int_equal(pumice_context_run(p->context, good, LONG, NULL), 0);
	assert_int_equal(pumice_context_run(p->context, bad, LONG, NULL), -EIO);
	assert_int_equal(pumice_context_jobs(p->context), 2);
	r = result_of(p, 1);
	assert_int_equal(r.job, 1);
	assert_int_equal(r.error, 0);
	assert_int_equal(r.fault, 0);
	assert_int_equal(r.groups, GROUPS);
	assert_true(r.slices >= 1 && r.end > r.start && r.run_ticks > 0);
	assert_true(r.run_ticks <= r.end - r.start);
	r = result_of(p, 0);
	assert_int_equal(r.job, 2);
	assert_int_equal(r.error, -EIO);
	assert_string_equal(pumice_fault_name(r.fault), "mmu-pc-invalid");
	assert_string_equal(pumice_unit_name(r.unit), "usc-data");
	assert_in_range(r.fault_va, 0x1000, 0x10ff);
	assert_int_equal(pumice_context_get_job_result(p->context, 3, &r, sizeof(r)), -ENOENT);
	/* A shorter structure of an older program. */
	r.fault = 55;
	assert_int_equal(pumice_context_get_job_result(p->context, 1, &r, 12), 0);
	assert_int_equal(r.job, 1);
	assert_int_equal(r.fault, 55);
	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	if (!p->threads)
		assert_int_equal(pumice_context_get_job_result(p->context, 3, &r, sizeof(r)),
				 -EBUSY);
	for (int i = 0; i < 64; i++)
		assert_int_equal(pumice_context_run(p->context, good, LONG, NULL), 0);
	assert_int_equal(pumice_context_get_job_result(p->context, 3, &r, sizeof(r)), -ENODATA);
	assert_int_equal(result_of(p, 4).job, 4);
	assert_int_equal(result_of(p, 67).job, 67);
	pumice_kernel_destroy(k);
}

static void the_last_64_jobs_of_a_context_have_results_by_number(void **state)
{
	(void)state;
	path_one(1, 0, results);
	path_one(4, 2, results);
}

static uint32_t counter(struct path *p, const char *name)
{
	uint32_t number;

	if (pumice_perf_counter_find(p->dev, name, &number))
		fail_msg("%s", pumice_device_error(p->dev));
	return number;
}

static int run_counted(struct path *p, uint64_t stream, const struct pumice_perfmon *pm)
{
	struct pumice_sync *sync;
	struct pumice_wait wait = { 0 };
	struct pumice_job_sync signal = { .signal = true };
	const struct pumice_job job = {
		.context = p->context, .stream = stream, .syncs = &signal, .sync_count = 1,
		.perfmon = pm ? pumice_perfmon_id(pm) : 0,
	};
	int err;

	assert_int_equal(pumice_sync_create(p->dev, 0, &sync), 0);
	signal.sync = wait.sync = sync;
	err = pumice_submit(p->dev, &job, 1, NULL);
	if (!err)
		err = pumice_sync_wait(&wait, 1, 0, LONG);
	pumice_sync_destroy(sync);
	return err;
}

static void counters(struct path *p)
{
	const uint32_t numbers[] = {
		counter(p, "CDM_GROUPS"), counter(p, "PDS_TASKS"), counter(p, "USC_WAVES"),
		counter(p, "USC_STORE_BYTES"), counter(p, "USC_INSN_GLOBAL"),
		counter(p, "USC_INSN_FLOW"), counter(p, "CDM_COMMANDS"),
	};
	const uint64_t waves = 3 * GROUPS * 2;
	/* Three launches of store.pasm: an add, a shift, a store, an end in each wave. */
	const uint64_t expected[] = {
		3 * GROUPS, 3 * GROUPS, waves, waves * 32 * 4, waves, waves, 3 * 2 + 1,
	};
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint64_t va = stores(p, k, GROUPS, p->out_va, 3), values[7];
	struct pumice_perfmon *pm, *unused;

	assert_int_equal(pumice_perfmon_create(p->dev, numbers, 7, &pm), 0);
	assert_int_equal(pumice_perfmon_create(p->dev, numbers, 7, &unused), 0);
	assert_int_equal(run_counted(p, va, pm), 0);
	assert_int_equal(run_counted(p, va, NULL), 0);
	assert_int_equal(pumice_perfmon_read(pm, 0, values), 0);
	for (int i = 0; i < 7; i++)
		assert_int_equal(values[i], expected[i]);
	assert_int_equal(run_counted(p, va, pm), 0);
	assert_int_equal(pumice_perfmon_read(pm, PUMICE_PERFMON_RESET, values), 0);
	for (int i = 0; i < 7; i++)
		assert_int_equal(values[i], 2 * expected[i]);
	assert_int_equal(pumice_perfmon_read(pm, 0, values), 0);
	assert_int_equal(values[0], 0);
	assert_int_equal(pumice_perfmon_read(unused, 0, values), 0);
	assert_int_equal(values[0], 0);
	pumice_perfmon_destroy(pm);
	pumice_perfmon_destroy(unused);
	pumice_kernel_destroy(k);
}

static void a_monitor_counts_only_jobs_that_use_it(void **state)
{
	(void)state;
	path_one(1, 0, counters);
	path_one(2, 1, counters);
	path_one(4, 2, counters);
}

static void monitor_life(struct path *p)
{
	const uint32_t number = counter(p, "CDM_GROUPS");
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	struct pumice_job job = { .context = p->context };
	struct pumice_perfmon *pm;
	uint64_t value;

	job.stream = stores(p, k, GROUPS, p->out_va, 1);
	assert_int_equal(pumice_perfmon_create(p->dev, &number, 1, &pm), 0);
	job.perfmon = pumice_perfmon_id(pm);
	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	assert_int_equal(pumice_perfmon_read(pm, 0, &value), -EBUSY);
	pumice_perfmon_destroy(pm);
	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), -ENOENT);
	assert_non_null(strstr(pumice_device_error(p->dev), "unknown performance monitor"));
	assert_int_equal(run_counted(p, job.stream, NULL), 0);
	assert_int_equal(result_of(p, 1).error, 0);
	pumice_kernel_destroy(k);
}

static void a_monitor_is_busy_until_its_jobs_end_and_may_be_destroyed_before(void **state)
{
	(void)state;
	path_one(1, 0, monitor_life);
}

static void statistics(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint64_t good = stores(p, k, GROUPS, p->out_va, 1), bad = stores(p, k, 1, 0x1000, 1);
	struct pumice_job job = { .context = p->context, .stream = good };
	struct pumice_device_stats before, after;

	assert_int_equal(pumice_device_stats(p->dev, &before, sizeof(before)), 0);
	assert_int_equal(before.contexts, 1);
	assert_int_equal(before.jobs_done, 0);
	assert_int_equal(pumice_context_run(p->context, good, LONG, NULL), 0);
	assert_int_equal(pumice_context_run(p->context, bad, LONG, NULL), -EIO);
	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	assert_int_equal(pumice_device_stats(p->dev, &after, sizeof(after)), 0);
	assert_int_equal(after.jobs_submitted, 3);
	assert_int_equal(after.jobs_faulted, 1);
	assert_true(after.mmu_faults > before.mmu_faults);
	assert_true(after.time > before.time && after.compute_busy > before.compute_busy);
	assert_true(after.usc_busy > before.usc_busy);
	assert_int_equal(after.geometry_busy + after.fragment_busy + after.transfer_busy, 0);
	assert_int_equal(after.partial_renders, 0);
	if (!p->threads) {
		assert_int_equal(after.jobs_done, 2);
		assert_int_equal(after.jobs_firmware, 1);
		assert_int_equal(after.contexts_busy, 1);
	}
	assert_int_equal(run_counted(p, good, NULL), 0);
	assert_int_equal(pumice_device_stats(p->dev, &after, sizeof(after)), 0);
	assert_int_equal(after.jobs_done, 4);
	assert_int_equal(after.tasks, 0);
	assert_int_equal(after.waves, 0);
	/* A shorter structure of an older program. */
	before.geometry_busy = 55;
	assert_int_equal(pumice_device_stats(p->dev, &before,
					     offsetof(struct pumice_device_stats, geometry_busy)),
					     0);
	assert_int_equal(before.jobs_done, 4);
	assert_int_equal(before.geometry_busy, 55);
	pumice_kernel_destroy(k);
}

static void statistics_count_all_jobs(void **state)
{
	(void)state;
	path_one(1, 0, statistics);
	path_one(4, 2, statistics);
}

/* Number of records of a kind. */
static uint32_t count_kind(const struct pumice_event_record *r, uint32_t count, uint32_t kind)
{
	uint32_t n = 0, i;

	for (i = 0; i < count; i++)
		n += r[i].kind == kind;
	return n;
}

static void trace_of_a_job(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint64_t va = stores(p, k, GROUPS, p->out_va, 1), lost;
	struct pumice_event_record *r = calloc(1024, sizeof(*r));
	struct pumice_trace *trace;
	uint32_t count, i;

	assert_int_equal(pumice_trace_open(p->dev, PUMICE_EVENTS_ALL, 1024, &trace), 0);
	assert_int_equal(pumice_trace_read(trace, r, 1024, &count, &lost), 0);
	assert_int_equal(count, 0);
	assert_int_equal(pumice_context_run(p->context, va, LONG, NULL), 0);
	assert_int_equal(pumice_trace_read(trace, r, 1024, &count, &lost), 0);
	assert_int_equal(lost, 0);
	assert_int_equal(count_kind(r, count, PUMICE_EVENT_JOB_START), 1);
	assert_int_equal(count_kind(r, count, PUMICE_EVENT_JOB_END), 1);
	assert_int_equal(count_kind(r, count, PUMICE_EVENT_LAUNCH), 1);
	assert_int_equal(count_kind(r, count, PUMICE_EVENT_GROUP_START), GROUPS);
	assert_int_equal(count_kind(r, count, PUMICE_EVENT_GROUP_END), GROUPS);
	for (i = 0; i < count; i++) {
		if (r[i].kind == PUMICE_EVENT_JOB_START)
			assert_int_equal(r[i].arg0, va);
		if (r[i].kind == PUMICE_EVENT_LAUNCH)
			assert_int_equal(r[i].arg0, GROUPS);
		assert_true(!i || p->threads || r[i].time >= r[i - 1].time);
	}
	/* Only the firmware may still have work after the job. */
	assert_int_equal(pumice_trace_read(trace, r, 1024, &count, &lost), 0);
	assert_int_equal(count_kind(r, count, PUMICE_EVENT_FIRMWARE), count);
	pumice_trace_close(trace);
	free(r);
	pumice_kernel_destroy(k);
}

static void the_trace_has_a_jobs_events(void **state)
{
	(void)state;
	path_one(1, 0, trace_of_a_job);
	path_one(4, 2, trace_of_a_job);
}

/* Events of one job, read while it runs: each group starts and ends once. */
static void read_one_job(struct path *p, struct pumice_trace *trace, uint64_t stream)
{
	const struct pumice_job job = { .context = p->context, .stream = stream };
	struct pumice_event_record r[SMALL];
	uint32_t starts = 0, ends = 0, done = 0, count;
	uint64_t lost;

	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	while (!done) {
		assert_int_equal(pumice_trace_read(trace, r, SMALL, &count, &lost), 0);
		assert_int_equal(lost, 0);
		starts += count_kind(r, count, PUMICE_EVENT_GROUP_START);
		ends += count_kind(r, count, PUMICE_EVENT_GROUP_END);
		done += count_kind(r, count, PUMICE_EVENT_JOB_END);
	}
	assert_int_equal(starts, BUSY_LAUNCHES * BUSY_GROUPS);
	assert_int_equal(ends, BUSY_LAUNCHES * BUSY_GROUPS);
	assert_int_equal(done, 1);
}

static void trace_of_busy_threads(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint64_t va = stores(p, k, BUSY_GROUPS, p->out_va, BUSY_LAUNCHES);
	struct pumice_trace *trace;
	uint32_t round;

	assert_int_equal(pumice_trace_open(p->dev, 1u << PUMICE_EVENT_GROUP_START |
					   1u << PUMICE_EVENT_GROUP_END |
					   1u << PUMICE_EVENT_JOB_END, BUSY_ENTRIES, &trace), 0);
	for (round = 0; round < 4; round++)
		read_one_job(p, trace, va);
	pumice_trace_close(trace);
	pumice_kernel_destroy(k);
}

static void no_event_is_lost_while_there_is_room(void **state)
{
	(void)state;
	path_one(4, 2, trace_of_busy_threads);
}

#define GAP_ENTRIES 1024u

/* A trace of jobs; gap is as if the threads that write some of its records were not done yet. */
struct gap {
	struct pumice_trace *trace;
	struct inproc_device *device;
	uint64_t written;
	struct pumice_event_record records[GAP_ENTRIES];
};

static u32 *last_word(const struct gap *g, uint64_t event)
{
	return (u32 *)g->device->trace->buffer.cpu +
	       (event % GAP_ENTRIES + 1) * PUMICE_TRACE_RECORD_WORDS - 1;
}

/* Trace jobs until there are more than @events events. */
static struct gap *gap_begin(struct path *p, uint64_t events)
{
	struct gap *g = calloc(1, sizeof(*g));
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint64_t va = stores(p, k, GROUPS, p->out_va, 1);

	assert_non_null(g);
	g->device = (struct inproc_device *)p->dev;
	assert_int_equal(pumice_trace_open(p->dev, PUMICE_EVENTS_ALL, GAP_ENTRIES, &g->trace), 0);
	while (g->written <= events) {
		assert_int_equal(pumice_context_run(p->context, va, LONG, NULL), 0);
		g->written = pumice_gpu_mmio_read(g->device->gpu, 0, PUMICE_TRACE_WRITTEN, 8);
	}
	/* The firmware has more to do after a job: no more events. */
	pumice_gpu_mmio_write(g->device->gpu, 0, PUMICE_TRACE_CTRL, 0, 4);
	g->written = pumice_gpu_mmio_read(g->device->gpu, 0, PUMICE_TRACE_WRITTEN, 8);
	pumice_kernel_destroy(k);
	return g;
}

static void gap_end(struct gap *g)
{
	pumice_trace_close(g->trace);
	free(g);
}

static void expect_read(struct gap *g, uint64_t events, uint64_t lost)
{
	uint32_t count;
	uint64_t missed;

	assert_int_equal(pumice_trace_read(g->trace, g->records, GAP_ENTRIES, &count, &missed), 0);
	assert_int_equal(missed, lost);
	assert_int_equal(count, events);
}

static void trace_with_gaps(struct path *p)
{
	struct gap *g = gap_begin(p, 64);

	assert_true(g->written < GAP_ENTRIES / 2);
	*last_word(g, 5) = *last_word(g, 6) = *last_word(g, 7) = *last_word(g, 20) = 0;
	expect_read(g, 5, 0);
	expect_read(g, 0, 0);
	assert_false(inproc_trace_is_read(g->trace));
	/* As if the wait that the last read began were over: for all that had begun before it. */
	g->device->trace->wait_since = 0;
	expect_read(g, 12, 3);
	expect_read(g, g->written - 21, 1);
	assert_true(inproc_trace_is_read(g->trace));
	expect_read(g, 0, 0);
	gap_end(g);
}

static void one_wait_is_for_all_events_that_are_never_complete(void **state)
{
	(void)state;
	path_one(1, 0, trace_with_gaps);
}

/* Most of the ring is written while a record is not complete. */
static void trace_with_a_slow_writer(struct path *p)
{
	struct gap *g = gap_begin(p, GAP_ENTRIES / 2 + 100);
	u32 complete = *last_word(g, 5);

	assert_true(g->written < GAP_ENTRIES);
	*last_word(g, 5) = 0;
	expect_read(g, 5, 0);
	expect_read(g, 0, 0);
	*last_word(g, 5) = complete;
	expect_read(g, g->written - 5, 0);
	gap_end(g);
}

static void an_event_is_awaited_while_there_is_room_for_more(void **state)
{
	(void)state;
	path_one(1, 0, trace_with_a_slow_writer);
}

/* The ring is overrun, also by events of which one is not complete. */
static void trace_with_an_overrun(struct path *p)
{
	struct gap *g = gap_begin(p, GAP_ENTRIES + 100);

	*last_word(g, g->written - 1) = 0;
	expect_read(g, GAP_ENTRIES - 1, g->written - GAP_ENTRIES);
	expect_read(g, 0, 0);
	g->device->trace->wait_since = 0;
	expect_read(g, 0, 1);
	gap_end(g);
}

static void an_overrun_is_counted_exactly(void **state)
{
	(void)state;
	path_one(1, 0, trace_with_an_overrun);
}

static void trace_overflows(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint64_t va = stores(p, k, GROUPS, p->out_va, 1), lost;
	struct pumice_event_record r[SMALL];
	struct pumice_trace *trace;
	uint32_t count;

	assert_int_equal(pumice_trace_open(p->dev, 1u << PUMICE_EVENT_GROUP_START |
					   1u << PUMICE_EVENT_JOB_END, SMALL, &trace), 0);
	assert_int_equal(pumice_context_run(p->context, va, LONG, NULL), 0);
	assert_int_equal(pumice_trace_read(trace, r, SMALL, &count, &lost), 0);
	assert_true(lost >= 2 * GROUPS - SMALL);
	assert_true(count >= 1 && count <= SMALL);
	assert_int_equal(r[count - 1].kind, PUMICE_EVENT_JOB_END);
	pumice_trace_close(trace);
	pumice_kernel_destroy(k);
}

static void events_without_room_in_a_trace_are_counted_as_lost(void **state)
{
	(void)state;
	path_one(1, 0, trace_overflows);
}

/* Counts in memory, a marker, two time stamps, and a second stream after a link. */
static void commands(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	const uint32_t uniforms[3] = { VA_WORDS(p->out_va), 5 };
	const struct pumice_dispatch d = {
		.kernel = k, .uniforms = uniforms, .uniform_words = 3,
	};
	uint32_t *words = p->out_cpu + 0x8000;
	uint64_t va = p->out_va + 0x8000 * 4, second, first, stamps[2];
	uint32_t i;

	words[0] = 3;
	words[1] = words[2] = 1;
	second = pumice_stream_va(p->stream);
	assert_int_equal(pumice_stream_timestamp(p->stream, va + 24, true), 0);
	assert_int_equal(pumice_stream_marker(p->stream, va + 12, 0x12345678, true), 0);
	assert_int_equal(pumice_stream_end(p->stream, NULL), 0);
	first = pumice_stream_va(p->stream);
	assert_int_equal(pumice_stream_timestamp(p->stream, va + 16, false), 0);
	assert_int_equal(pumice_stream_dispatch_indirect(p->stream, &d, va), 0);
	assert_int_equal(pumice_stream_flush(p->stream, PUMICE_FLUSH_DATA | PUMICE_FLUSH_CODE), 0);
	assert_int_equal(pumice_stream_link(p->stream, second), 0);
	if (pumice_context_run(p->context, first, LONG, NULL))
		fail_msg("%s", pumice_device_error(p->dev));
	for (i = 0; i < 3 * 64; i++)
		assert_int_equal(p->out_cpu[i], 5 + i);
	assert_int_equal(p->out_cpu[3 * 64], 0);
	assert_int_equal(words[3], 0x12345678);
	memcpy(stamps, words + 4, sizeof(stamps));
	assert_true(stamps[0] && stamps[1] >= stamps[0]);
	pumice_kernel_destroy(k);
}

static void commands_read_and_write_memory(void **state)
{
	(void)state;
	path_one(1, 0, commands);
	path_one(4, 2, commands);
}

/* Preemptions in the trace, of the context of the fixture and of others. */
struct preemptions {
	uint32_t slice[2], priority[2];
};

static void read_preemptions(struct path *p, struct pumice_trace *trace, struct preemptions *n)
{
	static struct pumice_event_record r[256];
	uint32_t count, i;
	uint64_t lost;

	do {
		assert_int_equal(pumice_trace_read(trace, r, 256, &count, &lost), 0);
		assert_int_equal(lost, 0);
		for (i = 0; i < count; i++) {
			const uint32_t other = (uint32_t)r[i].arg0 != pumice_context_id(p->context);

			n->slice[other] += r[i].arg1 >> 32 == FWIF_LOG_PREEMPT_SLICE;
			n->priority[other] += r[i].arg1 >> 32 == FWIF_LOG_PREEMPT_PRIORITY;
		}
	} while (count);
}

/* About 18 slices, and no time-out under ThreadSanitizer on a machine with other work. */
enum { DISPATCHES = 60 };

/* Two contexts whose jobs need many slices each, compared with the same work alone. */
static void slices(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	const uint32_t uniforms[3] = { VA_WORDS(p->out_va), 3 };
	struct pumice_job jobs[2] = { { .context = p->context } };
	struct pumice_job_sync signals[2] = { { .signal = true }, { .signal = true } };
	struct pumice_job_result r[2];
	struct pumice_wait waits[2] = { 0 };
	struct preemptions n = { 0 };
	struct pumice_trace *trace;
	uint32_t i;

	assert_int_equal(pumice_trace_open(p->dev, 1u << PUMICE_EVENT_FIRMWARE, BUSY_ENTRIES,
					   &trace), 0);
	assert_int_equal(pumice_context_create(p->vm, PUMICE_PRIORITY_NORMAL, &jobs[1].context), 0);
	jobs[0].stream = jobs[1].stream = pumice_stream_va(p->stream);
	for (i = 0; i < DISPATCHES; i++)
		path_dispatch(p, k, 1024, uniforms, 3);
	assert_int_equal(pumice_stream_end(p->stream, NULL), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pumice_sync_create(p->dev, 0, &waits[i].sync), 0);
		signals[i].sync = waits[i].sync;
		jobs[i].syncs = &signals[i];
		jobs[i].sync_count = 1;
	}
	assert_int_equal(pumice_submit(p->dev, jobs, 2, NULL), 0);
	/* Without threads the GPU runs only during a wait. */
	while (!p->threads && pumice_sync_wait(waits, 2, 0, SECOND / 1000))
		read_preemptions(p, trace, &n);
	assert_int_equal(pumice_sync_wait(waits, 2, 0, LONG), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pumice_context_get_job_result(jobs[i].context, 1, &r[i],
							       sizeof(r[i])), 0);
		assert_int_equal(r[i].error, 0);
		assert_int_equal(r[i].groups, DISPATCHES * 1024);
		assert_true(r[i].slices > 1);
		pumice_sync_destroy(waits[i].sync);
	}
	/*
	 * Each slice but the last of a job ends by preemption, of the same priority. The last may
	 * end with the job after the firmware has decided to preempt it.
	 */
	if (!p->threads) {
		read_preemptions(p, trace, &n);
		for (i = 0; i < 2; i++)
			assert_in_range(n.slice[i], r[i].slices - 1, r[i].slices);
		assert_int_equal(n.priority[0] + n.priority[1], 0);
	}
	pumice_trace_close(trace);
	/* Neither waited for the other to end. */
	assert_true(r[0].start < r[1].end && r[1].start < r[0].end);
	for (i = 0; i < 1024 * 64; i++)
		assert_int_equal(p->out_cpu[i], 3 + i);
	pumice_context_destroy(jobs[1].context);
	pumice_kernel_destroy(k);
}

static void jobs_of_two_contexts_share_the_gpu_in_slices(void **state)
{
	(void)state;
	path_one(1, 0, slices);
	path_one(4, 2, slices);
}

/* A job of a context of a higher priority is submitted while one of a lower priority runs. */
static void preemption(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint64_t longer = stores(p, k, 1024, p->out_va, 300);
	uint64_t shorter = stores(p, k, 1, p->out_va, 1);
	struct pumice_context *high;
	struct pumice_job_result result;
	struct preemptions n = { 0 };
	struct pumice_trace *trace;

	assert_int_equal(pumice_context_create(p->vm, PUMICE_PRIORITY_HIGH, &high), 0);
	assert_int_equal(pumice_trace_open(p->dev, 1u << PUMICE_EVENT_FIRMWARE, BUSY_ENTRIES,
					   &trace), 0);
	assert_int_equal(pumice_context_run(p->context, longer, SECOND / 1000, NULL), -ETIME);
	while (!*(volatile uint32_t *)p->out_cpu)
		path_run_briefly(p);
	assert_int_equal(pumice_context_run(high, shorter, LONG, NULL), 0);
	assert_int_equal(pumice_context_get_job_result(p->context, 1, &result, sizeof(result)),
			 -EBUSY);
	read_preemptions(p, trace, &n);
	assert_int_equal(n.priority[0], 1);
	assert_int_equal(n.priority[1] + n.slice[0] + n.slice[1], 0);
	pumice_trace_close(trace);
	assert_int_equal(pumice_context_kill(p->context), 0);
	pumice_context_destroy(high);
	pumice_kernel_destroy(k);
}

static void preemption_by_priority_is_traced_as_such(void **state)
{
	(void)state;
	path_one(1, 0, preemption);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_64_jobs_of_a_context_have_results_by_number),
		cmocka_unit_test(a_monitor_counts_only_jobs_that_use_it),
		cmocka_unit_test(a_monitor_is_busy_until_its_jobs_end_and_may_be_destroyed_before),
		cmocka_unit_test(statistics_count_all_jobs),
		cmocka_unit_test(the_trace_has_a_jobs_events),
		cmocka_unit_test(no_event_is_lost_while_there_is_room),
		cmocka_unit_test(events_without_room_in_a_trace_are_counted_as_lost),
		cmocka_unit_test(one_wait_is_for_all_events_that_are_never_complete),
		cmocka_unit_test(an_event_is_awaited_while_there_is_room_for_more),
		cmocka_unit_test(an_overrun_is_counted_exactly),
		cmocka_unit_test(commands_read_and_write_memory),
		cmocka_unit_test(jobs_of_two_contexts_share_the_gpu_in_slices),
		cmocka_unit_test(preemption_by_priority_is_traced_as_such),
	};

	return cmocka_run_group_tests_name("path-watch", tests, NULL, NULL);
}
