// SPDX-License-Identifier: MIT
/*
 * Every call of the driver concurrently with every other, on shared objects.
 *
 * Two threads repeat the one call, two the other: those of the ioctl fuzzer (tests/fuzz/ioctl),
 * which generate their arguments from a seed and from the objects that exist. Some calls fail
 * only concurrently with two others: a submission backs off from a buffer that another one has
 * locked, and an unmap removes that buffer. There are two address spaces on each file, and buffers
 * that are mapped in both; on two files, these buffers and the syncobjs are the same ones. A call
 * that destroys objects creates one before, so that there are always some. With signals, a timer
 * interrupts the calls of all threads.
 *
 * All stop at the same time: when the time is over and each has completed its rounds, so that
 * each call runs concurrently with the other for the whole time. Each call must succeed at least
 * once in that time; a pair of which one did not is repeated with another seed. Other return
 * values do not matter. After each pair, jobs of a new file run, and all counts in debugfs are
 * the same as before; the runner reads the kernel's log, in which a line names each pair when
 * it starts.
 *
 * PUMICE_PAIRS=all runs all pairs for a second each, PUMICE_PAIRS=SUBMIT/VM_BIND that one;
 * otherwise the pairs that share the most locks and references are run, for a shorter time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm.h>
#include <xf86drm.h>

#include "calls.h"
#include "harness.h"
#include "interrupt.h"
#include "parameters.h"
#include "system.h"

#define LONG_MS		1000u	/* duration of a pair */
#define SHORT_MS	120u
#define LONGEST_MS	10000u	/* duration of the pair that is selected by name */
#define LIMIT_SECONDS	2800u	/* all pairs of a case: four fit into the program's limit */
#define SEEDS		6u	/* maximum for a pair, until each call has succeeded */
#define JOB_TIMEOUT_MS	2000	/* a stream of random words may not terminate */
#define SEED		20261122ull
#define MOST_CALLS	64u
#define NS_PER_MS	1000000ull

#define SHARED		2u	/* buffers mapped in all address spaces */
#define SHARED_BYTES	(16 * PAGE)
#define EXTERNAL	64u	/* buffers of the address space that shares none */
#define EXTERNAL_VA	(FX_FREE + 3 * GIB)
#define MADE		2u	/* initial number of objects of each other kind */
#define TRIES		1000u	/* to create one: arguments of some calls are mostly invalid */
#define THREADS		4u	/* two for each call, alternately */
#define ROUNDS		4u	/* minimum for each thread, however busy the machine is */
#define JOBS		8u	/* calls of SUBMIT before the threads start */
#define RELEASE_NS	(300 * 1000 * NS_PER_MS)

/* Pairs that `make check` runs: calls that destroy or move against calls that use. */
static const struct {
	const char *calls[2];
} short_list[] = {
	{ { "SUBMIT", "VM_BIND" } },
	{ { "SUBMIT", "VM_DESTROY" } },
	{ { "SUBMIT", "CONTEXT_DESTROY" } },
	{ { "SUBMIT", "GEM_CLOSE" } },
	{ { "SUBMIT", "BO_MADVISE" } },
	{ { "SUBMIT", "PERFMON_DESTROY" } },
	{ { "SUBMIT", "VM_BIND and unbind" } },
	{ { "SUBMIT of a pair", "VM_BIND" } },
	{ { "SUBMIT of a pair", "HWRT_DESTROY" } },
	{ { "SUBMIT of a pair", "FREE_LIST_DESTROY" } },
	{ { "SUBMIT of a pair", "CONTEXT_DESTROY" } },
	{ { "VM_BIND", "VM_BIND" } },
	{ { "VM_BIND", "VM_DESTROY" } },
	{ { "VM_BIND", "GEM_CLOSE" } },
	{ { "VM_BIND", "BO_MADVISE" } },
	{ { "VM_BIND", "PRIME_FD_TO_HANDLE" } },
	{ { "CONTEXT_CREATE", "VM_DESTROY" } },
	{ { "CONTEXT_SET_PRIORITY", "CONTEXT_DESTROY" } },
	{ { "JOB_GET_RESULT", "CONTEXT_DESTROY" } },
	{ { "GEM_CLOSE", "PRIME_FD_TO_HANDLE" } },
	{ { "GEM_CLOSE", "MODE_CREATE_DUMB" } },
	{ { "VM_BIND", "closing a file" } },
	{ { "reading files", "VM_DESTROY" } },
};

/* Also run by it; takes longer to reproduce a former kernel bug. */
static const char *const long_pair[2] = { "SUBMIT of many", "VM_BIND and unbind" };

/* Time at which all threads stop. */
struct stop {
	pthread_barrier_t start;
	u64 run_ns;
	u64 deadline;			/* atomic; 0 until a thread has started */
	u32 short_of;			/* atomic: threads that have not completed their rounds */
};

/* One thread. */
struct side {
	pthread_t thread;
	struct fuzz *fuzz;
	const struct fuzz_call *call;
	struct fuzz_rng rng;
	u32 interval_us;		/* of signals; 0: none */
	struct stop *stop;
	u32 done, refused;
};

/* One case: how the threads of each pair share objects. */
struct kind {
	u32 files;			/* 1 or 2 */
	bool signals;
	u64 run_ns;			/* duration of a pair */
	u32 pairs;			/* pairs that have run */
};

static u32 call_of(const char *name)
{
	u32 call = 0;

	while (call < fuzz_call_count && strcmp(fuzz_calls[call].name, name))
		call++;
	if (call == fuzz_call_count)
		test_fail(__FILE__, __LINE__, "there is no call %s", name);
	return call;
}

/* The first thread sets the deadline for all. */
static void begin(struct stop *stop)
{
	u64 none = 0;

	pthread_barrier_wait(&stop->start);
	__atomic_compare_exchange_n(&stop->deadline, &none, now_ns() + stop->run_ns, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool is_over(struct stop *stop)
{
	return !__atomic_load_n(&stop->short_of, __ATOMIC_RELAXED) &&
	       now_ns() >= __atomic_load_n(&stop->deadline, __ATOMIC_RELAXED);
}

static void *run_side(void *arg)
{
	struct side *side = arg;
	timer_t timer = 0;
	u32 rounds = 0;

	if (side->interval_us)
		timer = interrupt_me(side->interval_us);
	begin(side->stop);
	do {
		if (side->call->make)
			side->call->make(side->fuzz, &side->rng);
		if (side->call->run(side->fuzz, &side->rng))
			side->refused++;
		else
			side->done++;
		if (++rounds == ROUNDS)
			__atomic_sub_fetch(&side->stop->short_of, 1, __ATOMIC_RELAXED);
	} while (!is_over(side->stop));
	if (side->interval_us)
		timer_delete(timer);
	return NULL;
}

/* Create objects of each kind that a call destroys; includes a second address space. */
static void make_objects(struct fuzz *f, struct fuzz_rng *rng)
{
	u32 call, made, tries;

	for (call = 0; call < fuzz_call_count; call++) {
		const bool vm = !strcmp(fuzz_calls[call].name, "VM_DESTROY");

		if (!fuzz_calls[call].make)
			continue;
		for (made = tries = 0; made < (vm ? 1 : MADE) && tries < TRIES; tries++)
			made += !fuzz_calls[call].make(f, rng);
		if (!made)
			test_fail(__FILE__, __LINE__, "%s: nothing created in %u tries",
				  fuzz_calls[call].name, TRIES);
	}
}

/* Submit jobs, so that contexts have results, and VMs have been used. */
static void submit_some(struct fuzz *f, struct fuzz_rng *rng)
{
	const u32 submit = call_of("SUBMIT"), pair = call_of("SUBMIT of a pair");
	u32 i;

	for (i = 0; i < JOBS; i++) {
		fuzz_calls[submit].run(f, rng);
		fuzz_calls[pair].run(f, rng);
	}
}

/* Streams that do not terminate would occupy the GPU for most of the time. */
static struct fuzz open_file(struct fuzz_rng *rng)
{
	struct fuzz f = fuzz_open();

	f.streams[FUZZ_STREAMS - 2] = f.streams[0];
	f.streams[FUZZ_STREAMS - 1] = f.render.geometry;
	make_objects(&f, rng);
	submit_some(&f, rng);
	return f;
}

/* Store a handle; the one it replaces is no longer used, and is closed with its file. */
static void put_handle(struct fuzz *f, enum fuzz_kind kind, u32 at, u32 handle)
{
	f->live[kind][at] = handle;
}

/* Map a buffer in all address spaces of a file. */
static void map_shared(struct fuzz *f, u32 at, u32 handle)
{
	u32 i;

	put_handle(f, FUZZ_BO, at, handle);
	for (i = 0; i < FUZZ_LIVE; i++)
		if (f->live[FUZZ_VM][i])
			need_map(f->fd, f->live[FUZZ_VM][i], handle, 0,
				 FX_FREE + at * SHARED_BYTES, SHARED_BYTES, 0);
}

static void share_buffers(struct fuzz *files, u32 count)
{
	u32 at, handle;
	int file;

	for (at = 0; at < SHARED; at++) {
		handle = need_bo(files[0].fd, SHARED_BYTES);
		map_shared(&files[0], at, handle);
		if (count == 1)
			continue;
		CHECK_OK(drmPrimeHandleToFD(files[0].fd, handle, DRM_CLOEXEC | DRM_RDWR, &file));
		CHECK_OK(drmPrimeFDToHandle(files[1].fd, file, &handle));
		map_shared(&files[1], at, handle);
		/* Kept for calls that import. */
		if (files[1].files[at] >= 0)
			close(files[1].files[at]);
		files[1].files[at] = file;
	}
}

/*
 * Add an address space that shares no buffers with the others of its file, with the same streams
 * at the same addresses. Submissions to it and to another one only share buffers that a call
 * binds in both. Those to it lock them for long, as it has many buffers. Each of the two has
 * enough contexts to fill a reservation with fences.
 */
static void add_vm_apart(struct fuzz *f)
{
	struct fixture apart = fx_on(f->fd);
	u32 i;

	memcpy(apart.code.cpu, f->render.fx.code.cpu, FX_CODE_BYTES);
	CHECK_OK(munmap(apart.code.cpu, apart.code.size));
	CHECK_OK(munmap(apart.data.cpu, apart.data.size));
	for (i = 0; i < EXTERNAL; i++)
		need_map(f->fd, apart.vm, need_bo(f->fd, PAGE), 0, EXTERNAL_VA + i * PAGE, PAGE, 0);
	put_handle(f, FUZZ_VM, FUZZ_LIVE - 1, apart.vm);
	for (i = 0; i < FUZZ_LIVE; i++)
		put_handle(f, FUZZ_CONTEXT, i,
			   need_context(f->fd, i % 2 ? apart.vm : f->render.fx.vm));
}

static void share_syncobjs(struct fuzz *from, struct fuzz *to)
{
	u32 i, handle;
	int file;

	for (i = 0; i < FUZZ_LIVE; i++) {
		if (!from->live[FUZZ_SYNC][i])
			continue;
		CHECK_OK(drmSyncobjHandleToFD(from->fd, from->live[FUZZ_SYNC][i], &file));
		CHECK_OK(drmSyncobjFDToHandle(to->fd, file, &handle));
		close(file);
		put_handle(to, FUZZ_SYNC, i, handle);
	}
}

/* Run the threads; the first thread of each call has the sums of both afterwards. */
static void run_threads(const struct kind *kind, struct fuzz *files, struct side *sides)
{
	struct stop stop = { .run_ns = kind->run_ns, .short_of = THREADS };
	u32 i;

	CHECK_OK(-pthread_barrier_init(&stop.start, NULL, THREADS));
	for (i = 0; i < THREADS; i++) {
		sides[i].fuzz = &files[i % kind->files];
		sides[i].stop = &stop;
		sides[i].interval_us = kind->signals ? 1000 + 370 * i : 0;
		CHECK_OK(-pthread_create(&sides[i].thread, NULL, run_side, &sides[i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK_OK(-pthread_join(sides[i].thread, NULL));
	for (i = 2; i < THREADS; i++) {
		sides[i % 2].done += sides[i].done;
		sides[i % 2].refused += sides[i].refused;
	}
	pthread_barrier_destroy(&stop.start);
}

static bool is_empty(struct counts c)
{
	return !(c.bos || c.vms || c.contexts || c.jobs || c.fences || c.free_lists || c.hwrts);
}

/* The debug kernel frees objects much later than the call that released them. */
static void need_all_released(void)
{
	const u64 deadline = now_ns() + RELEASE_NS;

	while (!is_empty(need_counts()) && now_ns() < deadline)
		usleep(2000);
	need_nothing_left();
}

/* Run compute and render jobs on a file that the pair has not used. */
static void check_next_jobs(void)
{
	struct render next = render_open();

	fx_check_works(&next.fx);
	render_check_works(&next);
	fx_close(&next.fx);
}

/* Write a line to the kernel's log, which attributes the following lines to this pair. */
static void log_pair(const struct kind *kind, const struct side *sides)
{
	char line[128];
	int file = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	int bytes = snprintf(line, sizeof(line), "<6>t_pairs: %s/%s, %u files%s\n",
			     sides[0].call->name, sides[1].call->name, kind->files,
			     kind->signals ? ", signals" : "");

	CHECK(file >= 0);
	CHECK_EQUAL(write(file, line, (size_t)bytes), bytes);
	close(file);
}

static bool submits_many(u32 call)
{
	return !strcmp(fuzz_calls[call].name, long_pair[0]);
}

/* Return: whether each call has succeeded. */
static bool run_seed(struct kind *kind, u32 first, u32 second, u32 seed)
{
	struct fuzz_rng rng = { .state = SEED + (seed * MOST_CALLS + first) * MOST_CALLS + second };
	const u32 calls[2] = { first, second };
	struct side sides[THREADS] = { 0 };
	struct fuzz files[2];
	u32 i;

	for (i = 0; i < THREADS; i++) {
		sides[i].call = &fuzz_calls[calls[i % 2]];
		sides[i].rng.state = fuzz_random(&rng);
	}
	log_pair(kind, sides);
	for (i = 0; i < kind->files; i++)
		files[i] = open_file(&rng);
	share_buffers(files, kind->files);
	for (i = 0; i < kind->files; i++)
		if (submits_many(first) || submits_many(second))
			add_vm_apart(&files[i]);
	if (kind->files > 1)
		share_syncobjs(&files[0], &files[1]);
	run_threads(kind, files, sides);
	test_note("%s/%s: %u and %u done, %u and %u refused", sides[0].call->name,
		  sides[1].call->name, sides[0].done, sides[1].done, sides[0].refused,
		  sides[1].refused);
	check_next_jobs();
	for (i = 0; i < kind->files; i++)
		fuzz_close(&files[i]);
	need_all_released();
	return sides[0].done && sides[1].done;
}

static void run_pair(struct kind *kind, u32 first, u32 second)
{
	u32 seed = 0;

	while (!run_seed(kind, first, second, seed))
		if (++seed == SEEDS)
			test_fail(__FILE__, __LINE__, "%s/%s: a call never succeeded",
				  fuzz_calls[first].name, fuzz_calls[second].name);
	kind->pairs++;
}

static void run_short_list(struct kind *kind)
{
	u32 i;

	kind->run_ns = LONGEST_MS * NS_PER_MS;
	run_pair(kind, call_of(long_pair[0]), call_of(long_pair[1]));
	kind->run_ns = SHORT_MS * NS_PER_MS;
	for (i = 0; i < sizeof(short_list) / sizeof(short_list[0]); i++)
		run_pair(kind, call_of(short_list[i].calls[0]), call_of(short_list[i].calls[1]));
}

static bool has_name(u32 first, u32 second, const char *name)
{
	char pair[80];

	snprintf(pair, sizeof(pair), "%s/%s", fuzz_calls[first].name, fuzz_calls[second].name);
	return !strcmp(pair, name);
}

/* Run all pairs, or the one of this name, with its calls in either order. */
static void run_long_list(struct kind *kind, const char *only)
{
	u32 a, b;

	kind->run_ns = LONG_MS * NS_PER_MS;
	for (a = 0; a < fuzz_call_count; a++) {
		for (b = a; b < fuzz_call_count; b++) {
			if (!only || has_name(a, b, only) || has_name(b, a, only))
				run_pair(kind, a, b);
		}
	}
}

static void run_pairs(u32 files, bool signals)
{
	const char *which = getenv("PUMICE_PAIRS");
	struct kind kind = { .files = files, .signals = signals };

	CHECK(fuzz_call_count <= MOST_CALLS);
	need_all_released();
	if (!which)
		run_short_list(&kind);
	else
		run_long_list(&kind, strcmp(which, "all") ? which : NULL);
	CHECK(kind.pairs);
	test_note("%u pairs", kind.pairs);
}

static void calls_on_one_file(void)
{
	run_pairs(1, false);
}

static void calls_on_one_file_with_signals(void)
{
	run_pairs(1, true);
}

static void calls_on_two_files(void)
{
	run_pairs(2, false);
}

static void calls_on_two_files_with_signals(void)
{
	run_pairs(2, true);
}

static const struct test_case cases[] = {
	TEST_CASE_SECONDS(calls_on_one_file, LIMIT_SECONDS),
	TEST_CASE_SECONDS(calls_on_one_file_with_signals, LIMIT_SECONDS),
	TEST_CASE_SECONDS(calls_on_two_files, LIMIT_SECONDS),
	TEST_CASE_SECONDS(calls_on_two_files_with_signals, LIMIT_SECONDS),
};

TEST_MAIN_TIMEOUT(cases, JOB_TIMEOUT_MS)
