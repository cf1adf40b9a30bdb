// SPDX-License-Identifier: MIT
/*
 * Rows: empty jobs of several contexts and of several processes. All contexts of a process are in
 * one VM.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "rows.h"

#define CONTEXTS	8u
#define QUEUED		64u	/* jobs in a row */
#define ROUNDS		60u
#define PROCESSES	4u
#define PROCESS_JOBS	4000u

struct contexts {
	struct fixture fx;
	u64 stream;
	u32 ids[CONTEXTS];
	u32 syncs[CONTEXTS];	/* of the last job of each */
};

/* Submit a job to each context after the other, and wait for all. */
static u64 jobs_once(struct contexts *c, u32 count, struct samples *calls)
{
	const struct fixture fx = c->fx;
	u64 start = now_ns(), ns;
	u32 i;

	for (i = 0; i < QUEUED; i++) {
		c->fx.context = c->ids[i % count];
		c->fx.sync = c->syncs[i % count];
		fx_submit(&c->fx, c->stream);
	}
	samples_add(calls, (now_ns() - start) / QUEUED);
	for (i = 0; i < count; i++)
		need_wait(c->fx.fd, c->syncs[i], 0);
	ns = (now_ns() - start) / QUEUED;
	c->fx.context = fx.context;
	c->fx.sync = fx.sync;
	return ns;
}

static void measure_contexts(void)
{
	static struct samples calls[2], jobs[2];
	struct contexts c = { .fx = fx_open() };
	u32 i;

	c.stream = fx_empty_stream(&c.fx);
	c.ids[0] = c.fx.context;
	for (i = 1; i < CONTEXTS; i++)
		c.ids[i] = need_context(c.fx.fd, c.fx.vm);
	for (i = 0; i < CONTEXTS; i++)
		c.syncs[i] = need_sync(c.fx.fd);
	for (i = 0; i < ROUNDS; i++) {
		samples_add(&jobs[0], jobs_once(&c, 1, &calls[0]));
		samples_add(&jobs[1], jobs_once(&c, CONTEXTS, &calls[1]));
	}
	fx_close(&c.fx);
	row_print(&(struct row){
		.name = "guest: SUBMIT, 8 contexts", .unit = "us",
		.ours = samples_median(&calls[1]), .peer = samples_median(&calls[0]),
		.peer_name = "one context", .goal = 0.7,
	});
	row_print(&(struct row){
		.name = "guest: empty job, 64 queued in 8 contexts", .unit = "us",
		.ours = samples_median(&jobs[1]), .peer = samples_median(&jobs[0]),
		.peer_name = "one context",
	});
}

/* Run jobs one after the other, when the parent closes the pipe. */
static void run_process(int gate)
{
	struct fixture fx = fx_open();
	u64 stream = fx_empty_stream(&fx);
	char byte;
	u32 i;

	CHECK_EQUAL(fx_run(&fx, stream), 1);
	CHECK(!read(gate, &byte, 1));
	for (i = 0; i < PROCESS_JOBS; i++) {
		fx_submit(&fx, stream);
		if (i % QUEUED == QUEUED - 1 || i == PROCESS_JOBS - 1)
			need_wait(fx.fd, fx.sync, 0);
	}
	exit(0);
}

/* Return jobs per second of @count processes. */
static double measure_processes(u32 count)
{
	pid_t children[PROCESSES];
	int gate[2], status;
	u64 start;
	u32 i;

	CHECK(!pipe(gate));
	for (i = 0; i < count; i++) {
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (!children[i]) {
			close(gate[1]);
			run_process(gate[0]);
		}
	}
	usleep(300000);
	start = now_ns();
	close(gate[1]);
	close(gate[0]);
	for (i = 0; i < count; i++) {
		CHECK(waitpid(children[i], &status, 0) == children[i]);
		CHECK(!status);
	}
	return count * PROCESS_JOBS * 1e9 / (double)(now_ns() - start);
}

void bench_contexts(void)
{
	double one, two, four;

	measure_contexts();
	one = measure_processes(1);
	two = measure_processes(2);
	four = measure_processes(4);
	row_print(&(struct row){
		.name = "guest: jobs of 2 processes", .unit = "1/s", .ours = two, .peer = one,
		.peer_name = "one process", .rate = true,
	});
	row_print(&(struct row){
		.name = "guest: jobs of 4 processes", .unit = "1/s", .ours = four, .peer = one,
		.peer_name = "one process", .rate = true,
	});
}
