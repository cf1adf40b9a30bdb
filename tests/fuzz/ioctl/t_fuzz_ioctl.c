// SPDX-License-Identifier: MIT
/*
 * A fuzzer of the driver's calls: several threads on one file, with shared objects.
 *
 * An input is a short sequence of calls; each generates its arguments from a seed and
 * from the objects that are live at that moment (calls.c), so that the combinations of
 * concurrent creation, use and destruction are random. Sequences that reach new code are
 * kept and mutated further. A timer interrupts the threads' calls.
 *
 * Results of calls do not matter. Required: the kernel reports no error, which the runner
 * checks in its log; all threads end; afterwards jobs run on a new file, and no
 * object remains. The calls of each thread depend only on PUMICE_FUZZ_SEED, which is
 * printed; their interleaving does not.
 *
 * It runs for PUMICE_FUZZ_SECONDS, and longer if a kind of call has not succeeded by then (the
 * report has its time, and marks such kinds as late): on a slow machine a few seconds are some
 * hundred sequences.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "harness.h"
#include "interrupt.h"
#include "kcov.h"
#include "progress.h"
#include "system.h"

#define THREADS		4u
#define STEPS		12u	/* of a sequence */
#define CORPUS		256u	/* sequences that each thread keeps */
#define SEED		20260722ull
#define SECONDS_USUAL	10u
#define SECONDS_MAX	3600u
#define SECONDS_MORE	300u	/* for calls that have not succeeded */
#define JOB_TIMEOUT_MS	500	/* short, so that endless jobs time out often */
#define PLACES		200u	/* of the driver; every run reaches more */
#define NS_PER_SECOND	1000000000ull

/* One call of a sequence. */
struct step {
	u32 call;	/* in fuzz_calls */
	u64 seed;
};

struct sequence {
	struct step steps[STEPS];
	u32 count;
};

struct thread {
	pthread_t pthread;
	struct fuzz *fuzz;
	struct progress *progress;
	struct fuzz_rng rng;
	u32 interval_us;		/* of its signals */
	struct kcov kcov;
	struct sequence corpus[CORPUS];
	u32 kept;			/* of the corpus; older ones are replaced */
	u64 sequences;
	u32 failed[PROGRESS_KINDS];
};

static u64 number_of(const char *name, u64 usual)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : usual;
}

static struct step random_step(struct fuzz_rng *rng)
{
	u32 sum = 0, i, at;

	for (i = 0; i < fuzz_call_count; i++)
		sum += fuzz_calls[i].weight;
	at = fuzz_below(rng, sum);
	for (i = 0; at >= fuzz_calls[i].weight; i++)
		at -= fuzz_calls[i].weight;
	return (struct step){ .call = i, .seed = fuzz_random(rng) };
}

static struct sequence random_sequence(struct fuzz_rng *rng)
{
	struct sequence new = { .count = 1 + fuzz_below(rng, STEPS) };
	u32 i;

	for (i = 0; i < new.count; i++)
		new.steps[i] = random_step(rng);
	return new;
}

/* Mutate a step, its arguments alone, or the order; or continue with steps of another. */
static void change(struct thread *t, struct sequence *s)
{
	const struct sequence *other = &t->corpus[fuzz_below(&t->rng, t->kept)];
	u32 at = fuzz_below(&t->rng, s->count);

	switch (fuzz_below(&t->rng, 4)) {
	case 0:
		s->steps[at] = random_step(&t->rng);
		break;
	case 1:
		s->steps[at].seed = fuzz_random(&t->rng);
		break;
	case 2:
		s->steps[fuzz_below(&t->rng, s->count)] = s->steps[at];
		break;
	default:
		memcpy(s->steps + at, other->steps + at, (STEPS - at) * sizeof(s->steps[0]));
		s->count = at + 1 > other->count ? at + 1 : other->count;
		if (at >= other->count)
			s->steps[at] = random_step(&t->rng);
	}
}

static struct sequence next_sequence(struct thread *t)
{
	struct sequence next;

	if (!t->kept || fuzz_chance(&t->rng, 3))
		return random_sequence(&t->rng);
	next = t->corpus[fuzz_below(&t->rng, t->kept)];
	do {
		change(t, &next);
	} while (!fuzz_chance(&t->rng, 3));
	return next;
}

static void keep(struct thread *t, const struct sequence *s)
{
	if (t->kept < CORPUS)
		t->corpus[t->kept++] = *s;
	else
		t->corpus[fuzz_below(&t->rng, CORPUS)] = *s;
}

static void run_sequence(struct thread *t, const struct sequence *s)
{
	u32 i;

	kcov_begin(&t->kcov);
	for (i = 0; i < s->count; i++) {
		struct fuzz_rng rng = { .state = s->steps[i].seed };
		u32 call = s->steps[i].call;

		if (fuzz_calls[call].run(t->fuzz, &rng))
			t->failed[call]++;
		else
			progress_done(t->progress, call);
	}
	if (kcov_end(&t->kcov))
		keep(t, s);
	t->sequences++;
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;
	timer_t timer;

	t->kcov = kcov_open();
	timer = interrupt_me(t->interval_us);
	while (!progress_is_over(t->progress, now_ns())) {
		struct sequence next = next_sequence(t);

		run_sequence(t, &next);
	}
	timer_delete(timer);
	kcov_close(&t->kcov);
	return NULL;
}

static void run_threads(struct fuzz *f, struct progress *progress, struct thread *threads, u64 seed)
{
	u32 i;

	for (i = 0; i < THREADS; i++) {
		threads[i].fuzz = f;
		threads[i].progress = progress;
		threads[i].rng.state = seed + i;
		threads[i].interval_us = 2000 + 970 * i;
		CHECK_OK(-pthread_create(&threads[i].pthread, NULL, run_thread, &threads[i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK_OK(-pthread_join(threads[i].pthread, NULL));
}

/*
 * Every kind of call must have succeeded at least once: else it tests nothing. Those that needed
 * more than the usual time are rare.
 */
static void report(struct progress *progress, const struct thread *threads)
{
	u64 sequences = 0;
	u32 i, call;

	for (i = 0; i < THREADS; i++)
		sequences += threads[i].sequences;
	for (call = 0; call < fuzz_call_count; call++) {
		const char *late = progress->late >> call & 1 ? ", late" : "";
		u32 done = progress->done[call], failed = 0;

		for (i = 0; i < THREADS; i++)
			failed += threads[i].failed[call];
		test_note("%-24s %6u done, %6u refused%s", fuzz_calls[call].name, done, failed,
			  late);
		CHECK(done);
	}
	test_note("%llu sequences, %u places of the driver reached, %d GPU resets",
		  (unsigned long long)sequences, kcov_reached(), need_counts().resets);
	/* Without coverage of the driver, nothing guides the threads. */
	if (kcov_is_available())
		CHECK(kcov_reached() >= PLACES);
}

static void threads_sharing_a_file_leave_the_driver_sound(void)
{
	u64 seed = number_of("PUMICE_FUZZ_SEED", SEED);
	u64 seconds = number_of("PUMICE_FUZZ_SECONDS", SECONDS_USUAL);
	struct thread *threads = calloc(THREADS, sizeof(*threads));
	long timeout = module_parameter("job_timeout_ms");
	struct fuzz f = fuzz_open();
	struct progress progress = { .kinds = fuzz_call_count };
	struct fixture fx;
	u64 start;

	CHECK(threads && fuzz_call_count <= PROGRESS_KINDS && seconds && seconds <= SECONDS_MAX);
	test_note("PUMICE_FUZZ_SEED=%llu, %u threads, %llu s", (unsigned long long)seed, THREADS,
		  (unsigned long long)seconds);
	CHECK_OK(set_module_parameter("job_timeout_ms", JOB_TIMEOUT_MS));
	start = now_ns();
	progress.deadline = start + seconds * NS_PER_SECOND;
	progress.limit = progress.deadline + SECONDS_MORE * NS_PER_SECOND;
	run_threads(&f, &progress, threads, seed);
	test_note("ended after %llu s", (unsigned long long)((now_ns() - start) / NS_PER_SECOND));
	CHECK_OK(set_module_parameter("job_timeout_ms", timeout));
	report(&progress, threads);
	fuzz_close(&f);
	need_nothing_left();
	fx = fx_open();
	fx_check_works(&fx);
	fx_close(&fx);
	need_nothing_left();
	free(threads);
}

static const struct test_case cases[] = {
	TEST_CASE_SECONDS(threads_sharing_a_file_leave_the_driver_sound,
			  SECONDS_MAX + SECONDS_MORE + 600),
};

TEST_MAIN(cases)
