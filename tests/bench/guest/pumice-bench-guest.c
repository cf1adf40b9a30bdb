// SPDX-License-Identifier: MIT
/*
 * pumice-bench-guest: cost of a job and of a mapping through the kernel driver.
 *
 * Prints rows as pumice-bench does, for scripts/bench.py. The peer of an empty
 * job is the minimum of any job in the same guest: one register write that
 * raises the device's interrupt, until the waiting thread runs again. The driver
 * measures that itself, in debugfs (pumice_bench.c).
 *
 * Both are measured alternately, and the medians are compared: in an emulated guest the
 * minimum of many is random.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "rows.h"

#define ROUNDS		SAMPLES
#define WARM_UP		20u
#define QUEUED		64u	/* jobs in a row */
#define ROWS		50u	/* rounds of those */
#define BIND_VA		FX_FREE
#define GOAL		0.333	/* a job may take three times the minimum */

void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* The driver's file that measures the interrupt. */
static int open_interrupt_file(void)
{
	glob_t found;
	int file = -1;

	if (!glob("/sys/kernel/debug/dri/*/interrupt_ns", 0, NULL, &found)) {
		file = open(found.gl_pathv[0], O_RDONLY);
		globfree(&found);
	}
	CHECK(file >= 0);
	return file;
}

/* One register write that raises the interrupt, until the thread that waits for it runs, ns. */
static u64 interrupt_once(int file)
{
	char text[32];
	ssize_t bytes = pread(file, text, sizeof(text) - 1, 0);

	CHECK(bytes > 0);
	text[bytes] = 0;
	return strtoull(text, NULL, 10);
}

static u64 job_once(struct fixture *fx, u64 stream)
{
	u64 start = now_ns();

	fx_submit(fx, stream);
	need_wait(fx->fd, fx->sync, 0);
	return now_ns() - start;
}

/* The same, where the thread does not sleep until the job has ended. */
static u64 polled_once(struct fixture *fx, u64 stream)
{
	u64 start = now_ns();

	fx_submit(fx, stream);
	while (!sync_status(fx->fd, fx->sync, 0))
		;
	return now_ns() - start;
}

static u64 queued_once(struct fixture *fx, u64 stream)
{
	u64 start = now_ns();

	for (u32 i = 0; i < QUEUED; i++)
		fx_submit(fx, stream);
	need_wait(fx->fd, fx->sync, 0);
	return (now_ns() - start) / QUEUED;
}

static u64 bind_once(struct fixture *fx, u32 handle)
{
	u64 start = now_ns(), ns;

	need_map(fx->fd, fx->vm, handle, 0, BIND_VA, PAGE, 0);
	ns = now_ns() - start;
	need_unmap(fx->fd, fx->vm, BIND_VA, PAGE);
	return ns;
}

static struct samples jobs, polled, interrupts, queued, binds;

static void measure(void)
{
	struct fixture fx = fx_open();
	u64 stream = fx_empty_stream(&fx);
	u32 handle = need_bo(fx.fd, PAGE), i;
	int file = open_interrupt_file();

	for (i = 0; i < WARM_UP; i++) {
		job_once(&fx, stream);
		interrupt_once(file);
	}
	for (i = 0; i < ROUNDS; i++) {
		samples_add(&jobs, job_once(&fx, stream));
		samples_add(&interrupts, interrupt_once(file));
	}
	for (i = 0; i < ROUNDS; i++)
		samples_add(&polled, polled_once(&fx, stream));
	for (i = 0; i < ROUNDS; i++)
		samples_add(&binds, bind_once(&fx, handle));
	for (i = 0; i < ROWS; i++)
		samples_add(&queued, queued_once(&fx, stream));
	close(file);
	fx_close(&fx);
}

static void bench_jobs(void)
{
	double one;

	measure();
	one = samples_median(&jobs);
	row_print(&(struct row){
		.name = "guest: empty job, submit to fence", .unit = "us", .ours = one,
		.peer = samples_median(&interrupts), .peer_name = "MMIO write and interrupt",
		.goal = GOAL,
	});
	row_print(&(struct row){
		.name = "guest: empty job of a thread that polls", .unit = "us",
		.ours = samples_median(&polled), .peer = one, .peer_name = "one that sleeps",
	});
	row_print(&(struct row){
		.name = "guest: empty job, 64 queued", .unit = "us",
		.ours = samples_median(&queued), .peer = one, .peer_name = "one at a time",
	});
	row_print(&(struct row){
		.name = "guest: VM_BIND of one page", .unit = "us", .ours = samples_median(&binds),
	});
}

/* Return whether a part is selected: all are without arguments. */
static bool selected(int argc, char **argv, const char *part)
{
	return argc < 2 || !strcmp(argv[1], part);
}

int main(int argc, char **argv)
{
	puts("[");
	if (selected(argc, argv, "jobs"))
		bench_jobs();
	if (selected(argc, argv, "binds"))
		bench_binds();
	if (selected(argc, argv, "contexts"))
		bench_contexts();
	puts("\n]");
	return 0;
}
