// SPDX-License-Identifier: MIT
/*
 * Observation of the whole GPU: counters against known work, the event ring filled by all
 * units, limits and sizes of the stores as configured by registers and properties.
 */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "perf.h"
#include "trace/trace.h"
#include "workers/workers.h"

#define RING	0x200000ull	/* in context 0 */
#define ENTRIES	4096u
#define DONE	PUMICE_IC_PENDING__CDM_DONE__MASK
#define FAULT	PUMICE_IC_PENDING__CDM_FAULT__MASK
#define EXTENDED PUMICE_TRACE_CTRL__EXTENDED__MASK
#define ALL_KINDS (EXTENDED | ((1u << PUMICE_TRACE_KIND_COUNT) - 1))

static const struct job number = { .program = JOB_NUMBER, .group = 200, .groups = 50 };
static const struct job place = { .program = JOB_PLACE, .group = 200, .groups = 50 };

static u64 counter(struct fixture *fx, unsigned int n)
{
	return fx_read(fx, PUMICE_PERF_COUNTER(n));
}

static void counters_count_known_work(void **state)
{
	unsigned int threads;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .threads = threads });
		u64 time, drops;
		u32 n;

		job_map(fx);
		fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
		fx_setup_mmu(fx);
		fx_boot_proxy(fx);
		fx_write(fx, PUMICE_PERF_CTRL, PUMICE_PERF_CTRL__DETAIL__MASK);
		assert_int_equal(job_run(fx, &number), DONE);
		time = fx_fw_read64(fx, PUMICE_CDM_TIME_END) -
		       fx_fw_read64(fx, PUMICE_CDM_TIME_START);
		assert_int_equal(counter(fx, PUMICE_PERF_CDM_BUSY), time);
		assert_int_equal(counter(fx, PUMICE_PERF_CDM_COMMANDS), 3);
		assert_int_equal(counter(fx, PUMICE_PERF_CDM_GROUPS), 50);
		assert_int_equal(counter(fx, PUMICE_PERF_PDS_TASKS), 100);
		assert_int_equal(counter(fx, PUMICE_PERF_USC_WAVES), 7 * 50);
		/* mul, add, shl, store, end */
		assert_int_equal(counter(fx, PUMICE_PERF_USC_ISSUED), 5 * 7 * 50);
		assert_int_equal(counter(fx, PUMICE_PERF_USC_INSN_INTEGER), 3 * 7 * 50);
		assert_int_equal(counter(fx, PUMICE_PERF_USC_STORE_BYTES), 200 * 50 * 4);
		assert_int_equal(counter(fx, PUMICE_PERF_USC_PROGRAMS), 1);
		assert_true(counter(fx, PUMICE_PERF_PDS_OCCUPANCY) > 0);
		assert_true(counter(fx, PUMICE_PERF_MMU_TLB_MISSES) > 0);
		assert_int_equal(counter(fx, PUMICE_PERF_MMU_FAULTS), 0);
		drops = counter(fx, PUMICE_PERF_MMU_INVALIDATIONS);
		fx_write(fx, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL);
		assert_int_equal(counter(fx, PUMICE_PERF_MMU_INVALIDATIONS), drops + 1);
		/* Both buses read the same values. */
		assert_int_equal(fx_fw_read64(fx, PUMICE_PERF_COUNTER(PUMICE_PERF_PDS_TASKS)),
				 100);
		fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
		for (n = 0; n < PUMICE_PERF_COUNTER_COUNT; n++)
			assert_int_equal(counter(fx, n), 0);
		fx_destroy(fx);
	}
}

/* Each register that page sizes depend on, at its first and last element. */
static void changed_page_sizes_invalidate_and_equal_ones_do_not(void **state)
{
	static const u32 regs[] = {
		PUMICE_MMU_RANGE_START(0), PUMICE_MMU_RANGE_START(PUMICE_MMU_RANGES - 1),
		PUMICE_MMU_RANGE_END(0), PUMICE_MMU_RANGE_END(PUMICE_MMU_RANGES - 1),
		PUMICE_MMU_PAGE_SIZES,
	};
	struct fixture *fx = fx_create(NULL);
	u64 drops;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		fx_write(fx, regs[i], 0);
		drops = counter(fx, PUMICE_PERF_MMU_INVALIDATIONS);
		fx_write(fx, regs[i], 1);
		assert_int_equal(counter(fx, PUMICE_PERF_MMU_INVALIDATIONS), drops + 1);
		fx_write(fx, regs[i], 1);
		assert_int_equal(counter(fx, PUMICE_PERF_MMU_INVALIDATIONS), drops + 1);
	}
	fx_destroy(fx);
}

static void details_are_counted_on_request_only(void **state)
{
	struct fixture *fx = fx_create(NULL);

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	assert_int_equal(job_run(fx, &number), DONE);
	assert_int_equal(counter(fx, PUMICE_PERF_USC_INSN_INTEGER), 0);
	assert_int_equal(counter(fx, PUMICE_PERF_USC_WAVES), 7 * 50);
	fx_write(fx, PUMICE_PERF_CTRL, PUMICE_PERF_CTRL__DETAIL__MASK);
	assert_int_equal(job_run(fx, &number), DONE);
	fx_write(fx, PUMICE_PERF_CTRL, 0);
	assert_int_equal(job_run(fx, &number), DONE);
	assert_int_equal(counter(fx, PUMICE_PERF_USC_INSN_INTEGER), 3 * 7 * 50);
	assert_int_equal(counter(fx, PUMICE_PERF_USC_WAVES), 3 * 7 * 50);
	fx_destroy(fx);
}

/* The ring, mapped and switched on. */
static u32 *ring_on(struct fixture *fx, u32 kinds)
{
	u32 *ring = testmem_map(fx->tm, 0, RING, ENTRIES * 32, PUMICE_PAGE_SIZE_4K, TESTMEM_NX);

	fx_write(fx, PUMICE_TRACE_BASE, RING);
	fx_write(fx, PUMICE_TRACE_ENTRIES, ENTRIES);
	fx_write(fx, PUMICE_TRACE_CTRL, kinds);
	return ring;
}

static struct pumice_trace_record record(const u32 *ring, u64 n)
{
	struct pumice_trace_record r;

	pumice_trace_record_unpack(ring + n % ENTRIES * PUMICE_TRACE_RECORD_WORDS, &r);
	assert_int_equal(r.sequence, (n + 1) & 0xffff);
	return r;
}

/* Events of one kind in the ring; *last is set to the last of them. */
static u32 count_kind(struct fixture *fx, const u32 *ring, u32 kind,
		      struct pumice_trace_record *last)
{
	u64 n, written = fx_read(fx, PUMICE_TRACE_WRITTEN);
	u32 count = 0;

	assert_true(written <= ENTRIES);
	for (n = 0; n < written; n++) {
		struct pumice_trace_record r = record(ring, n);

		if (r.kind != kind)
			continue;
		*last = r;
		count++;
	}
	return count;
}

enum { CORES = 2, USCS = 2 };

/* Work-groups of a job that are in the ring. */
struct groups {
	u64 started, ended;	/* bit n: group n */
	u32 uscs;		/* that some were dispatched to, as bits */
};

/* Add the begin or the end of a group of JOB_PLACE; data: of the job. */
static void add_group(struct groups *groups, const struct pumice_trace_record *r, const u32 *data)
{
	const u64 group = 1ull << r->arg0 % 64;

	assert_true(r->arg0 < place.groups);
	assert_int_equal(r->mmu_ctx, JOB_CTX);
	assert_int_equal(r->context, 0x55667788);
	assert_int_equal(r->phase, PUMICE_TRACE_PHASE_INSTANT);
	assert_int_equal(r->dm, PUMICE_TRACE_MASTER_CDM);
	assert_int_equal(r->usc / USCS << 8 | r->usc % USCS, data[r->arg0 * place.group]);
	if (r->kind == PUMICE_TRACE_KIND_GROUP_START) {
		assert_int_equal(r->arg1, 7);
		assert_false(groups->started & group);
		groups->started |= group;
		groups->uscs |= 1u << r->usc;
	} else {
		assert_int_equal(r->arg1, 0);
		assert_true(groups->started & group);
		assert_false(groups->ended & group);
		groups->ended |= group;
	}
}

static void a_job_writes_its_events_to_the_ring(void **state)
{
	unsigned int threads;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		const struct fx_options options = { .cores = CORES, .uscs_per_core = USCS,
						    .threads = threads };
		struct fixture *fx = fx_create(&options);
		struct pumice_trace_record r = { 0 };
		struct groups groups = { 0 };
		u32 *data = job_map(fx), *ring, n, starts = 0;
		u64 start, end;

		fx_boot_proxy(fx);
		ring = ring_on(fx, ALL_KINDS & ~(1u << PUMICE_TRACE_KIND_MMU_WALK));
		fx_fw_write64(fx, PUMICE_CDM_TAG, 0x1122334455667788);
		assert_int_equal(job_run(fx, &place), DONE);
		start = fx_fw_read64(fx, PUMICE_CDM_TIME_START);
		end = fx_fw_read64(fx, PUMICE_CDM_TIME_END);
		fx_write(fx, PUMICE_TRACE_CTRL, 0);

		assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_JOB_START, &r), 1);
		assert_int_equal(r.arg0, JOB_STREAM);
		assert_int_equal(r.arg1, 0x11223344ull << 8);
		assert_int_equal(r.context, 0x55667788);
		assert_int_equal(r.mmu_ctx, JOB_CTX);
		assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_LAUNCH, &r), 1);
		assert_int_equal(r.arg0, place.groups);
		assert_int_equal(r.arg1, JOB_STREAM + PUMICE_CDM_STATE_WORDS * 4);
		assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_JOB_END, &r), 1);
		assert_int_equal(r.arg0, PUMICE_FAULT_NONE);
		assert_int_equal(r.arg1, PUMICE_TRACE_END_DONE);
		for (n = 0; n < fx_read(fx, PUMICE_TRACE_WRITTEN); n++) {
			r = record(ring, n);
			if (r.kind == PUMICE_TRACE_KIND_GROUP_START ||
			    r.kind == PUMICE_TRACE_KIND_GROUP_END)
				add_group(&groups, &r, data);
			/* Groups of two cores may start, and end, in any order. */
			if (r.kind == PUMICE_TRACE_KIND_GROUP_START && !threads)
				assert_int_equal(r.arg0, starts++);
			if (r.kind != PUMICE_TRACE_KIND_STALL)
				assert_true(r.time >= start && r.time <= end + 1000000000);
		}
		assert_int_equal(groups.started, (1ull << place.groups) - 1);
		assert_int_equal(groups.ended, groups.started);
		if (!threads)
			assert_int_equal(groups.uscs, (1u << CORES * USCS) - 1);
		fx_destroy(fx);
	}
}

static void faults_walks_and_invalidations_are_traced(void **state)
{
	const struct job wild = { .program = JOB_WILD, .group = 1, .groups = 1 };
	struct fixture *fx = fx_create(NULL);
	struct pumice_trace_record r = { 0 };
	u32 *ring;

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	ring = ring_on(fx, ALL_KINDS);
	assert_int_equal(job_run(fx, &wild), FAULT);
	assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_MMU_FAULT, &r), 1);
	assert_int_equal(r.arg0, 0x5000000000);
	assert_int_equal(r.arg1, PUMICE_FAULT_MMU_PC_INVALID | PUMICE_UNIT_USC_DATA << 8);
	assert_int_equal(r.mmu_ctx, JOB_CTX);
	assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_JOB_END, &r), 1);
	assert_int_equal(r.arg0, PUMICE_FAULT_MMU_PC_INVALID);
	assert_int_equal(r.arg1, PUMICE_TRACE_END_FAULT);
	/* Its only work-group. */
	assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_GROUP_END, &r), 1);
	assert_int_equal(r.phase, PUMICE_TRACE_PHASE_CANCEL);
	/* Stream, PDS program, code, the fault's own; and the firmware's window. */
	assert_true(count_kind(fx, ring, PUMICE_TRACE_KIND_MMU_WALK, &r) >= 4);

	fx_write(fx, PUMICE_MMU_INVAL_START, 0x123456000);
	fx_write(fx, PUMICE_MMU_INVAL_END, 0x123459000);
	fx_write(fx, PUMICE_MMU_INVAL,
		 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_RANGE) |
			 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__CTX, JOB_CTX));
	assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_MMU_INVALIDATE, &r), 1);
	assert_int_equal(r.arg0, 0x123456000);
	assert_int_equal(r.arg1, 0x123459fff);
	assert_int_equal(r.mmu_ctx, JOB_CTX);
	fx_write(fx, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL);
	assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_MMU_INVALIDATE, &r), 2);
	assert_int_equal(r.arg1, 0xffffffffff);
	assert_int_equal(r.mmu_ctx, PUMICE_MMU_CONTEXTS);
	fx_destroy(fx);
}

static void events_of_the_firmware_are_records(void **state)
{
	struct fixture *fx = fx_create(NULL);
	struct pumice_trace_record r = { 0 };
	u32 *ring, i;

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	for (i = 0; i < PUMICE_TRACE_FW_ARG_COUNT; i++)
		fx_fw_write(fx, PUMICE_TRACE_FW_ARG(i), 0xa0000001 + i);
	fx_fw_write(fx, PUMICE_TRACE_FW_EVENT, 9);	/* the trace is off */
	ring = ring_on(fx, EXTENDED | 1u << PUMICE_TRACE_KIND_FIRMWARE);
	fx_fw_write(fx, PUMICE_TRACE_FW_EVENT, 7);
	assert_int_equal(count_kind(fx, ring, PUMICE_TRACE_KIND_FIRMWARE, &r), 1);
	assert_int_equal(r.arg0, 0xa0000002a0000001);
	assert_int_equal(r.arg1, 0x7a0000003);
	assert_int_equal(r.context, 0);
	assert_int_equal(fx_fw_read(fx, PUMICE_TRACE_FW_ARG(2)), 0xa0000003);
	fx_destroy(fx);
}

/* A ring that is switched off is no longer written by any unit. */
static void no_event_is_written_after_the_write_that_stops(void **state)
{
	const struct job touch = { .program = JOB_TOUCH, .group = 1, .groups = 100000 };
	unsigned int threads, i;

	(void)state;
	for (threads = 1; threads < 4; threads++) {
		const struct fx_options options = { .cores = 2, .threads = threads };
		struct fixture *fx = fx_create(&options);
		u32 *ring, sum;

		job_map(fx);
		fx_boot_proxy(fx);
		ring = ring_on(fx, ALL_KINDS);
		job_start(fx, &touch);
		for (i = 0; i < 10; i++) {
			u64 written;

			fx_write(fx, PUMICE_TRACE_CTRL, ALL_KINDS);
			fx_write(fx, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL);
			fx_write(fx, PUMICE_TRACE_CTRL, 0);
			written = fx_read(fx, PUMICE_TRACE_WRITTEN);
			memset(ring, 0xee, ENTRIES * 32);
			fx_write(fx, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL);
			fx_fw_read(fx, PUMICE_SYS_ID);
			assert_int_equal(fx_read(fx, PUMICE_TRACE_WRITTEN), written);
			for (sum = 0; sum < ENTRIES * 8; sum++)
				assert_int_equal(((volatile u32 *)ring)[sum], 0xeeeeeeee);
		}
		fx_destroy(fx);
	}
}

/* The emitter of an event that waits until the test allows its write; one at a time. */
static struct {
	_Atomic bool armed;	/* the next event will wait */
	pthread_mutex_t lock;	/* guards the following fields */
	pthread_cond_t change;
	bool waits, allowed, written;
} emitter = { .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER };

void __real_trace_write(struct trace *trace, u64 on, const struct trace_item *item);
void __wrap_trace_write(struct trace *trace, u64 on, const struct trace_item *item);
void __real_workers_quiesce(struct workers *w, unsigned int self);
void __wrap_workers_quiesce(struct workers *w, unsigned int self);

/* Set a field of the emitter. */
static void set(bool *field)
{
	pthread_mutex_lock(&emitter.lock);
	*field = true;
	pthread_cond_broadcast(&emitter.change);
	pthread_mutex_unlock(&emitter.lock);
}

/* Wait until a field is set. */
static void wait_for(const bool *field)
{
	pthread_mutex_lock(&emitter.lock);
	while (!*field)
		pthread_cond_wait(&emitter.change, &emitter.lock);
	pthread_mutex_unlock(&emitter.lock);
}

void __wrap_trace_write(struct trace *trace, u64 on, const struct trace_item *item)
{
	const bool held = atomic_exchange(&emitter.armed, false);

	if (held) {
		set(&emitter.waits);
		wait_for(&emitter.allowed);
	}
	__real_trace_write(trace, on, item);
	if (held)
		set(&emitter.written);
}

/* The host is about to wait for the ends of steps. */
void __wrap_workers_quiesce(struct workers *w, unsigned int self)
{
	if (self == WORKERS_OUTSIDE)
		set(&emitter.allowed);
	__real_workers_quiesce(w, self);
}

/*
 * Groups without end on the only thread, all of which store to the same word: the thread is held
 * when one of them ends, after it has read that the trace is on.
 */
static void the_write_that_stops_waits_for_events_that_are_being_written(void **state)
{
	const struct pumice_cdm_launch endless = { .groups_x = 1, .groups_y = UINT32_MAX,
						   .groups_z = 1 };
	const struct pumice_cdm_state group = job_state(1);
	struct fixture *fx = fx_create(&(struct fx_options){ .threads = 1 });
	bool written;
	u32 *at;

	(void)state;
	job_map(fx);
	at = job_stream(fx);
	fx_boot_proxy(fx);
	ring_on(fx, EXTENDED | 1u << PUMICE_TRACE_KIND_GROUP_END);
	job_write_programs(fx, JOB_NUMBER);
	pumice_cdm_state_pack(at, &group);
	pumice_cdm_launch_pack(at + PUMICE_CDM_STATE_WORDS, &endless);
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	emitter.waits = emitter.allowed = emitter.written = false;
	atomic_store(&emitter.armed, true);
	wait_for(&emitter.waits);
	fx_write(fx, PUMICE_TRACE_CTRL, 0);
	pthread_mutex_lock(&emitter.lock);
	written = emitter.written;
	pthread_mutex_unlock(&emitter.lock);
	/* Without a wait, it would never end. */
	set(&emitter.allowed);
	fx_destroy(fx);
	assert_true(written);
}

static void check_traced(const struct fx_traced *t, enum pumice_trace_event event, u64 a, u64 b,
			 u64 c)
{
	assert_int_equal(t->event, event);
	assert_int_equal(t->a, a);
	assert_int_equal(t->b, b);
	assert_int_equal(t->c, c);
}

/* Geometry, a partial render and a transfer; the first two have no scene and fault. */
static void run_masters(struct fixture *fx)
{
	pumice_tdm_halt_pack(job_stream(fx), &(struct pumice_tdm_halt){ 0 });
	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), testmem_ctx_reg(fx->tm, JOB_CTX));
	fx_fw_write64(fx, PUMICE_VDM_STREAM_BASE, JOB_STREAM);
	fx_fw_write(fx, PUMICE_VDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_VDM_CTRL, PUMICE_VDM_CTRL__START__MASK);
	fx_fw_wait(fx, PUMICE_IC_PENDING__VDM_FAULT__MASK);
	fx_fw_write64(fx, PUMICE_PDM_STREAM_BASE, JOB_DATA);
	fx_fw_write(fx, PUMICE_PDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_PDM_CTRL,
		    PUMICE_PDM_CTRL__START__MASK | PUMICE_PDM_CTRL__PARTIAL__MASK);
	fx_fw_wait(fx, PUMICE_IC_PENDING__PDM_FAULT__MASK);
	fx_fw_write64(fx, PUMICE_TDM_STREAM_BASE, JOB_STREAM);
	fx_fw_write(fx, PUMICE_TDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_TDM_CTRL, PUMICE_TDM_CTRL__START__MASK);
	fx_fw_wait(fx, PUMICE_IC_PENDING__TDM_DONE__MASK);
}

static void the_host_is_notified_of_jobs_of_each_data_master(void **state)
{
	unsigned int threads;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .threads = threads });
		const struct fx_traced *t = fx->traced;
		u64 fault[2];

		job_map(fx);
		fx_boot_proxy(fx);
		assert_int_equal(job_run(fx, &number), DONE);
		run_masters(fx);
		fault[0] = PUMICE_FIELD_GET(PUMICE_VDM_STATUS__FAULT,
					    fx_fw_read(fx, PUMICE_VDM_STATUS));
		fault[1] = PUMICE_FIELD_GET(PUMICE_PDM_STATUS__FAULT,
					    fx_fw_read(fx, PUMICE_PDM_STATUS));
		assert_true(fault[0] && fault[1]);
		assert_int_equal(fx->traced_count, 8);
		check_traced(t, PUMICE_TRACE_CDM_START, JOB_STREAM, JOB_CTX, 0);
		check_traced(t + 1, PUMICE_TRACE_CDM_END, 0, 50, 0);
		check_traced(t + 2, PUMICE_TRACE_VDM_START, JOB_STREAM, JOB_CTX, 0);
		check_traced(t + 3, PUMICE_TRACE_VDM_END, fault[0], 0, 0);
		check_traced(t + 4, PUMICE_TRACE_PDM_START, JOB_DATA, JOB_CTX, 1);
		check_traced(t + 5, PUMICE_TRACE_PDM_END, fault[1], 0, 1);
		check_traced(t + 6, PUMICE_TRACE_TDM_START, JOB_STREAM, JOB_CTX, 0);
		check_traced(t + 7, PUMICE_TRACE_TDM_END, 0,
			     fx_fw_read64(fx, PUMICE_TDM_GROUPS), 0);
		fx_destroy(fx);
	}
}

/* Results do not depend on traced events, the ring's address, or its removal meanwhile. */
static void tracing_does_not_change_results(void **state)
{
	unsigned int threads, i;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		const struct fx_options options = { .cores = 2, .threads = threads };
		struct fixture *fx = fx_create(&options);
		u32 *data = job_map(fx), n;

		fx_boot_proxy(fx);
		ring_on(fx, ALL_KINDS);
		for (i = 0; i < 5; i++) {
			memset(data, 0, JOB_DATA_BYTES);
			job_start(fx, &number);
			if (i == 2)
				testmem_unmap(fx->tm, 0, RING, ENTRIES * 16);
			if (i == 3) {
				fx_write(fx, PUMICE_TRACE_CTRL, 0);
				fx_write(fx, PUMICE_TRACE_BASE, 0xffffffffe0);
				fx_write(fx, PUMICE_TRACE_CTRL, ALL_KINDS);
			}
			assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), DONE);
			for (n = 0; n < number.group * number.groups; n++)
				assert_int_equal(data[n], job_number(n));
		}
		assert_int_equal(fx_read(fx, PUMICE_MMU_FAULT_COUNT), 0);
		fx_destroy(fx);
	}
}

static void limits_and_order_do_not_change_results(void **state)
{
	static const u32 limit[][4] = { { 0 }, { 1 }, { 3 }, { 0, 1 }, { 0, 5000 }, { 0, 0, 1 },
					{ 7, 4000, 100, 1 } };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * sizeof(limit) / sizeof(limit[0]); i++) {
		const struct fx_options options = { .cores = 1, .threads = i % 3 };
		struct fixture *fx = fx_create(&options);
		u32 *data = job_map(fx), n;

		fx_boot_proxy(fx);
		fx_write(fx, PUMICE_PDS_CTRL, i & 1);
		fx_write(fx, PUMICE_PDS_CDM_TASKS, limit[i / 2][0]);
		fx_write(fx, PUMICE_PDS_CDM_UNIFIED, limit[i / 2][1]);
		fx_write(fx, PUMICE_PDS_CDM_COMMON, limit[i / 2][2]);
		fx_write(fx, PUMICE_PDS_CDM_LOCAL, limit[i / 2][3]);
		assert_int_equal(job_run(fx, &number), DONE);
		for (n = 0; n < number.group * number.groups; n++)
			assert_int_equal(data[n], job_number(n));
		assert_int_equal(fx_read(fx, PUMICE_PDS_TASKS), 0);
		assert_int_equal(fx_read(fx, PUMICE_PDS_HELD), 0);
		if (limit[i / 2][0] == 1)
			assert_int_equal(fx_read(fx, PUMICE_PDS_PEAK_TASKS), 2 * 2);
		fx_write(fx, PUMICE_PDS_PEAK_TASKS, 99);
		assert_int_equal(fx_read(fx, PUMICE_PDS_PEAK_TASKS), 0);
		fx_destroy(fx);
	}
}

/* One launch of one group with these needs; return the event that ends it. */
static u32 run_state(struct fixture *fx, const struct pumice_cdm_state *state)
{
	u32 *at = job_stream(fx);

	job_write_programs(fx, JOB_NUMBER);
	pumice_cdm_state_pack(at, state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &(struct pumice_cdm_launch){ false, 1, 1, 1, 0, 0, 0 });
	at += PUMICE_CDM_LAUNCH_WORDS;
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	return fx_fw_wait(fx, JOB_EVENTS);
}

/* Each store at the smallest and at another size: full to the last unit, and one more. */
static void stores_are_as_large_as_configured(void **state)
{
	static const struct {
		struct fx_options options;
		u32 field;		/* 0 temps, 1 shared, 2 coeffs, 3 local bytes */
		u32 most, more;
	} cases[] = {
		/* One wave: temps + 1 attribute register, 128 bytes each. */
		{ { .unified_kib = 1 }, 0, 7, 8 },
		{ { .unified_kib = 3 }, 0, 23, 24 },
		{ { .common_kib = 1 }, 1, 256, 257 },
		{ { .common_kib = 5 }, 1, 1280, 1281 },
		{ { .common_kib = 1 }, 2, 254, 255 },
		{ { .local_kib = 1 }, 3, 1024, 1028 },
		{ { .local_kib = 200 }, 3, 204800, 204804 },
	};
	unsigned int i, over;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *fx = fx_create(&cases[i].options);

		job_map(fx);
		fx_boot_proxy(fx);
		for (over = 0; over < 2; over++) {
			struct pumice_cdm_state s = job_state(32);
			u32 value = over ? cases[i].more : cases[i].most;

			switch (cases[i].field) {
			case 0:
				s.temps = (u8)value;
				break;
			case 1:
				s.shared = (u16)value;
				break;
			case 2:
				s.coeffs = (u16)value;
				break;
			case 3:
				s.local_bytes = value;
				break;
			}
			assert_int_equal(run_state(fx, &s), over ? FAULT : DONE);
			assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT,
							  fx_fw_read(fx, PUMICE_CDM_STATUS)),
					 over ? PUMICE_FAULT_PDS_RESOURCE : PUMICE_FAULT_NONE);
		}
		fx_destroy(fx);
	}
}

static void registers_report_how_wave_registers_are_divided(void **state)
{
	static const unsigned int config[] = { 0, PUMICE_NO_REGISTERS, 1, 5, 8 };
	static const unsigned int slot[] = { 4, 0, 1, 5, 8 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .slot_registers = config[i] });
		u64 value = fx_read(fx, PUMICE_SYS_REGISTERS);

		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__SLOT, value), slot[i]);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__INTERNAL, value),
				 PUMICE_USC_OWN_REGS - slot[i]);
		fx_destroy(fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_count_known_work),
		cmocka_unit_test(changed_page_sizes_invalidate_and_equal_ones_do_not),
		cmocka_unit_test(details_are_counted_on_request_only),
		cmocka_unit_test(a_job_writes_its_events_to_the_ring),
		cmocka_unit_test(faults_walks_and_invalidations_are_traced),
		cmocka_unit_test(events_of_the_firmware_are_records),
		cmocka_unit_test(the_host_is_notified_of_jobs_of_each_data_master),
		cmocka_unit_test(no_event_is_written_after_the_write_that_stops),
		cmocka_unit_test(the_write_that_stops_waits_for_events_that_are_being_written),
		cmocka_unit_test(tracing_does_not_change_results),
		cmocka_unit_test(limits_and_order_do_not_change_results),
		cmocka_unit_test(stores_are_as_large_as_configured),
		cmocka_unit_test(registers_report_how_wave_registers_are_divided),
	};

	return cmocka_run_group_tests_name("gpu observation", tests, NULL, NULL);
}
