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
#include <unistd.h>

#include "check.h"
#include "fixture.h"

#define ROUNDS		400u
#define WARM_UP		20u
#define QUEUED		64u	/* jobs in a row */
#define ROWS		50u	/* rounds of those */
#define BIND_VA		FX_FREE
#define GOAL		0.25	/* a job may take four times the minimum */

struct samples {
	double us[ROUNDS];
	unsigned int count;
};

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

static void take(struct samples *s, u64 ns)
{
	s->us[s->count++] = (double)ns / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(struct samples *s)
{
	qsort(s->us, s->count, sizeof(s->us[0]), compare);
	return s->us[s->count / 2];
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

static void print_row(const char *name, double ours, double peer, const char *peer_name,
		      double goal)
{
	printf("  {\"name\": \"%s\", \"unit\": \"us\", \"ours\": %.4g, ", name, ours);
	if (peer_name)
		printf("\"peer\": %.4g, \"peer_name\": \"%s\", \"ratio\": %.4g, ", peer, peer_name,
		       peer / ours);
	else
		printf("\"peer\": null, \"peer_name\": null, \"ratio\": null, ");
	if (goal > 0)
		printf("\"goal\": %g, \"met\": %s}", goal, peer / ours >= goal ? "true" : "false");
	else
		printf("\"goal\": null, \"met\": null}");
}

static struct samples jobs, interrupts, queued, binds;

static void measure(void)
{
	struct fixture fx = fx_open();
	u64 stream = fx_empty_stream(&fx);
	u32 handle = need_bo(fx.fd, PAGE), i;
	int file = open_interrupt_file();

	for (i = 0; i < WARM_UP; i++) {
		job_once(&fx, stream);
		interrupt_once(file);
		bind_once(&fx, handle);
	}
	for (i = 0; i < ROUNDS; i++) {
		take(&jobs, job_once(&fx, stream));
		take(&interrupts, interrupt_once(file));
		take(&binds, bind_once(&fx, handle));
	}
	for (i = 0; i < ROWS; i++)
		take(&queued, queued_once(&fx, stream));
	close(file);
	fx_close(&fx);
}

int main(void)
{
	double one;

	measure();
	one = median(&jobs);
	puts("[");
	print_row("guest: empty job, submit to fence", one, median(&interrupts),
		  "MMIO write and interrupt", GOAL);
	puts(",");
	print_row("guest: empty job, 64 queued", median(&queued), one, "one at a time", 0);
	puts(",");
	print_row("guest: VM_BIND of one page", median(&binds), 0, NULL, 0);
	puts("\n]");
	return 0;
}
