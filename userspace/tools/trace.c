// SPDX-License-Identifier: MIT
/*
 * pumice-trace: record the activity of driver, firmware, data
 * master, USCs and MMU while a command runs, for Perfetto.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "perfetto.h"
#include "trace_kernel.h"

#define ENTRIES	65536u
#define BATCH	512u
#define POLL_NS	2000000

struct tracer {
	struct pumice_device *dev;
	struct pumice_trace *trace;
	struct trace_kernel *kernel;
	struct perfetto *out;
	uint64_t clock_hz, events, lost;
};

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "pumice-trace: %s: %s\n", what, why);
	exit(1);
}

/* Read all available events. */
static void drain(struct tracer *t)
{
	static struct pumice_event_record records[BATCH];
	uint32_t count;
	uint64_t lost;

	do {
		if (pumice_trace_read(t->trace, records, BATCH, &count, &lost))
			fail("events", pumice_device_error(t->dev));
		if (lost && count)
			perfetto_lost(t->out, records[0].time, lost);
		for (uint32_t i = 0; i < count; i++)
			perfetto_event(t->out, &records[i]);
		t->events += count;
		t->lost += lost;
	} while (count == BATCH);
}

/* GPU clock minus CLOCK_MONOTONIC, ns. */
static int64_t clock_offset(const struct tracer *t)
{
	uint64_t ticks, cpu_ns;

	if (pumice_device_timestamp(t->dev, &ticks, &cpu_ns))
		fail("clock", pumice_device_error(t->dev));
	return (int64_t)((unsigned __int128)ticks * 1000000000u / t->clock_hz) - (int64_t)cpu_ns;
}

static void begin(struct tracer *t, const char *device, const char *path)
{
	struct pumice_device_info info;
	const char *why;

	t->dev = command_device_open("pumice-trace", device);
	if (pumice_device_info(t->dev, &info))
		fail("device", pumice_device_error(t->dev));
	if (pumice_device_drm_fd(t->dev) < 0)
		fail(info.backend, "only a GPU with a driver is shared with other commands");
	t->clock_hz = info.clock_hz;
	if (pumice_trace_open(t->dev, PUMICE_EVENTS_ALL, ENTRIES, &t->trace))
		fail("event trace", pumice_device_error(t->dev));
	t->kernel = trace_kernel_open(&why);
	if (!t->kernel)
		fail("kernel", why);
	t->out = perfetto_open(path, t->clock_hz);
	if (!t->out)
		fail(path, strerror(errno));
}

static pid_t start(char **command)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork", strerror(errno));
	if (!child) {
		execvp(command[0], command);
		fprintf(stderr, "pumice-trace: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	return child;
}

/* Get the command's status as reported by a shell. */
static int follow(struct tracer *t, pid_t child)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	int status;

	while (!waitpid(child, &status, WNOHANG)) {
		drain(t);
		trace_kernel_poll(t->kernel, t->out);
		nanosleep(&pause, NULL);
	}
	drain(t);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *device = NULL, *path = "pumice-trace.json";
	const struct command_option options[] = {
		COMMAND_DEVICE(&device),
		COMMAND_OUTPUT(&path, "FILE", "the trace (default pumice-trace.json)"),
		{ 0 }
	};
	const struct command command = {
		.name = "pumice-trace",
		.words = "COMMAND [ARGUMENT]…",
		.min_words = 1, .max_words = -1,
		.purpose = "Runs a command and records what the GPU does meanwhile, for all its users.\n"
			   "The trace is for ui.perfetto.dev. Needs root.\n",
		.options = options,
		.versions = COMMAND_VERSION_GPU,
	};
	struct tracer t = { 0 };
	int first, status;
	pid_t child;

	first = command_line(&command, argc, argv);
	begin(&t, device, path);
	child = start(argv + first);
	/* An interrupt is for the command; its trace is kept. */
	signal(SIGINT, SIG_IGN);
	status = follow(&t, child);
	trace_kernel_close(t.kernel, t.out, clock_offset(&t));
	if (!perfetto_close(t.out))
		fail(path, "cannot be written");
	pumice_trace_close(t.trace);
	pumice_device_close(t.dev);
	fprintf(stderr, "pumice-trace: %" PRIu64 " events of the GPU, %" PRIu64 " lost; wrote %s\n",
		t.events, t.lost, path);
	return status;
}
