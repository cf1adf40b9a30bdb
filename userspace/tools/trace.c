// SPDX-License-Identifier: MIT
/*
 * pumice-trace: record the activity of driver, firmware and every unit of a GPU, for
 * Perfetto: of a GPU with a driver, of the GPU in a running process, or of those in a process that
 * it starts.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "perfetto.h"
#include "trace_counts.h"
#include "trace_kernel.h"

#define ENTRIES	(1u << 18)
#define BATCH	512u
#define POLL_NS	2000000
#define REST_NS	100000000	/* time for the last events to be completed */
#define INSIDE_HZ 1000000000u	/* clock of a GPU in a process */
#define WAIT_VARIABLE "PUMICE_ATTACH_WAIT"	/* see libpumice/attach/attach.h */

static const char notes[] =
	"DEVICE pid:PID is the GPU in a process of the same user that was started with\n"
	"PUMICE_DEVICE=inproc:attach=1. With a DEVICE inproc the GPU in COMMAND is traced from its\n"
	"first job on. A GPU with a driver needs root.\n";

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

struct tracer {
	struct pumice_device *dev;
	struct pumice_trace *trace;
	struct trace_kernel *kernel;	/* or NULL: the GPU of a process */
	struct perfetto *out;
	bool ended;			/* that process has ended */
	bool failed;			/* events can no longer be read */
	pid_t inside;			/* COMMAND, whose own GPUs are traced; or 0 */
	uint32_t devices;		/* GPUs of it that were traced */
	int64_t base, shift;		/* the first one's begin, and that of
					 * this one after it, ns */
	char error[PUMICE_ERROR_BYTES];	/* of the last attempt to trace one, or empty */
	bool firmware, jobs;		/* events of these were traced */
	bool old;			/* the device or its firmware: it was reported */
	bool counted, any_counts;	/* counts are traced; and there were requests */
	struct trace_counts *counts;	/* of this GPU, or NULL */
	uint64_t clock_hz, events, lost;
	uint64_t now;			/* GPU clock of the latest event */
};

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "pumice-trace: %s: %s\n", what, why);
	exit(1);
}

/* No more events can be read: an observed process that ends is not a failure. */
static void stop_reading(struct tracer *t, int err)
{
	t->ended = !t->kernel && err == -ECONNRESET;
	t->failed = !t->ended;
	if (t->failed)
		fprintf(stderr, "pumice-trace: events: %s\n", pumice_device_error(t->dev));
}

/* Store the events of one read, and before them the number of those that were lost. */
static void store(struct tracer *t, const struct pumice_event_record *records, uint32_t count,
		  uint64_t lost)
{
	if (lost)
		perfetto_lost(t->out, count ? records[0].time + (uint64_t)t->shift : t->now, lost);
	for (uint32_t i = 0; i < count; i++) {
		struct pumice_event_record shifted = records[i];

		shifted.time += (uint64_t)t->shift;
		perfetto_event(t->out, &shifted);
		if (shifted.time > t->now)
			t->now = shifted.time;
		t->firmware |= records[i].kind == PUMICE_EVENT_FIRMWARE;
		t->jobs |= records[i].kind == PUMICE_EVENT_JOB_START;
	}
	t->events += count;
	t->lost += lost;
}

static bool is_readable(const struct tracer *t)
{
	return !t->ended && !t->failed;
}

/* Read the available events, at most as many as the ring holds. */
static void drain(struct tracer *t)
{
	static struct pumice_event_record records[BATCH];
	uint32_t count, rounds = ENTRIES / BATCH;
	uint64_t lost;

	do {
		const int err = pumice_trace_read(t->trace, records, BATCH, &count, &lost);

		if (err)
			stop_reading(t, err);
		store(t, records, count, lost);
	} while (count && --rounds);
	if (t->counts && is_readable(t))
		trace_counts_sample(t->counts, t->out, t->clock_hz, t->shift, false);
}

/* Return the GPU clock minus CLOCK_MONOTONIC, ns. */
static int64_t clock_offset(const struct tracer *t)
{
	uint64_t ticks, cpu_ns;

	if (pumice_device_timestamp(t->dev, &ticks, &cpu_ns))
		fail("clock", pumice_device_error(t->dev));
	return (int64_t)((unsigned __int128)ticks * 1000000000u / t->clock_hz) - (int64_t)cpu_ns;
}

/* Contexts belong to processes that the driver reports, or to the one that is observed. */
static void begin_owners(struct tracer *t)
{
	struct pumice_process process;
	const char *why;

	if (!pumice_device_process(t->dev, &process)) {
		perfetto_owner(t->out, PERFETTO_ANY_CONTEXT, 0, process.pid, process.name);
		return;
	}
	t->kernel = trace_kernel_open(TRACE_KERNEL_TRACEFS, &why);
	if (!t->kernel) {
		perfetto_discard(t->out);
		fail("kernel", why);
	}
}

/* Report that the GPU is too old for a complete trace. */
static void check_versions(struct tracer *t, const struct pumice_device_info *info)
{
	const char *missing = trace_kernel_missing(info->version, info->fw_version);

	t->old = missing;
	if (missing)
		fprintf(stderr, "pumice-trace: %s\n", missing);
}

/* Begin to trace counts of the present GPU. Return: 0 or an error. */
static int begin_counts(struct tracer *t, char *error, size_t bytes)
{
	if (!t->counted)
		return 0;
	t->counts = trace_counts_open(t->dev, error, bytes);
	return t->counts ? 0 : -EIO;
}

static void end_counts(struct tracer *t)
{
	t->any_counts |= trace_counts_close(t->counts);
	t->counts = NULL;
}

static void begin(struct tracer *t, const char *device, const char *path)
{
	struct pumice_device_info info;
	char error[PUMICE_ERROR_BYTES];

	t->dev = command_device_open("pumice-trace", device);
	if (pumice_device_info(t->dev, &info))
		fail("device", pumice_device_error(t->dev));
	t->clock_hz = info.clock_hz;
	check_versions(t, &info);
	if (command_device_is_own(t->dev))
		fail(info.backend,
		     "a GPU inside pumice-trace has no other users: trace a COMMAND with its own "
		     "GPU (pumice-trace -d inproc COMMAND), or a process (-d pid:PID)");
	if (pumice_trace_open(t->dev, PUMICE_EVENTS_ALL, ENTRIES, &t->trace))
		fail("event trace", pumice_device_error(t->dev));
	if (begin_counts(t, error, sizeof(error)))
		fail("counts", error);
	t->out = perfetto_open(path, t->clock_hz);
	if (!t->out)
		fail(path, strerror(errno));
	begin_owners(t);
}

/* Return whether this is a program that can be started. */
static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* End if the command does not exist, before a file is written. */
static void check_command(const char *name)
{
	const char *at = strchr(name, '/') ? "" : getenv("PATH");
	char path[4096];

	if (strchr(name, '/') ? is_program(name) : !at)
		return;
	for (; *at; at += strcspn(at, ":"), at += *at == ':') {
		snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(at, ":"), at, name);
		if (*at == ':')
			snprintf(path, sizeof(path), "./%s", name);
		if (is_program(path))
			return;
	}
	fprintf(stderr, "pumice-trace: %s: no such program\n", name);
	exit(127);
}

/* The folder of the sockets of COMMAND's GPUs. */
static char socket_folder[] = "/tmp/pumice-trace-XXXXXX";

/* Remove the folder, with the sockets of a command that was killed. */
static void remove_socket_folder(void)
{
	DIR *folder = opendir(socket_folder);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(socket_folder);
}

/* Make the folder if XDG_RUNTIME_DIR is not set: in containers and cron there is no session. */
static void make_socket_folder(void)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");

	if (folder && *folder)
		return;
	if (!mkdtemp(socket_folder))
		fail(socket_folder, strerror(errno));
	atexit(remove_socket_folder);
	if (setenv("XDG_RUNTIME_DIR", socket_folder, 1))
		fail(socket_folder, strerror(errno));
}

/* Let the library in this process wait until its GPU, the device, is traced. */
static bool set_environment(const char *device)
{
	char process[16];

	snprintf(process, sizeof(process), "%d", (int)getpid());
	return !setenv(WAIT_VARIABLE, process, 1) &&
	       (!device || !setenv("PUMICE_DEVICE", device, 1));
}

/* Start the command, with its own GPUs to be traced or not. */
static pid_t start(char **command, bool inside, const char *device)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork", strerror(errno));
	if (!child) {
		if (!inside || set_environment(device))
			execvp(command[0], command);
		fprintf(stderr, "pumice-trace: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	return child;
}

/* Return whether this names a GPU inside of a process. */
static bool is_inproc(const char *device)
{
	const size_t bytes = strlen("inproc");

	device = command_device_name(device);
	return device && !strncmp(device, "inproc", bytes) &&
	       (!device[bytes] || device[bytes] == ':');
}

/* Place a GPU of the command in time: the clock of each begins at 0. Return: 0 or an error. */
static int set_base(struct tracer *t)
{
	uint64_t ticks, cpu_ns;
	int err = pumice_device_timestamp(t->dev, &ticks, &cpu_ns);

	if (err)
		return err;
	if (!t->devices)
		t->base = (int64_t)(cpu_ns - ticks);
	t->shift = (int64_t)(cpu_ns - ticks) - t->base;
	return 0;
}

/* Begin to trace the GPU that was opened. Return: 0 or an error. */
static int begin_inside(struct tracer *t)
{
	struct pumice_device_info info;
	struct pumice_process process;
	int err = pumice_device_info(t->dev, &info);

	if (!err && info.clock_hz != INSIDE_HZ)
		err = -EPROTO;
	if (!err)
		err = set_base(t);
	if (!err)
		err = begin_counts(t, t->error, sizeof(t->error));
	if (!err)
		err = pumice_trace_open(t->dev, PUMICE_EVENTS_ALL, ENTRIES, &t->trace);
	if (err) {
		end_counts(t);
		return err;
	}
	t->devices++;
	t->clock_hz = info.clock_hz;
	t->ended = false;
	if (!pumice_device_process(t->dev, &process))
		perfetto_owner(t->out, PERFETTO_ANY_CONTEXT, 0, process.pid, process.name);
	return 0;
}

static void end_inside(struct tracer *t)
{
	if (t->dev) {
		end_counts(t);
		pumice_trace_close(t->trace);
		pumice_device_close(t->dev);
		perfetto_lost(t->out, t->now, 0);
	}
	t->trace = NULL;
	t->dev = NULL;
}

/* Trace the command's next GPU, if it has opened one. */
static void trace_inside(struct tracer *t)
{
	char name[16];
	int err;

	end_inside(t);
	snprintf(name, sizeof(name), "pid:%d", (int)t->inside);
	err = pumice_device_open(name, &t->dev, t->error, sizeof(t->error));
	if (err) {
		t->dev = NULL;
		if (err == -ENOENT || err == -ECONNREFUSED)
			t->error[0] = '\0';
		return;
	}
	if (!begin_inside(t))
		return;
	snprintf(t->error, sizeof(t->error), "%s", pumice_device_error(t->dev));
	pumice_device_close(t->dev);
	t->trace = NULL;
	t->dev = NULL;
}

static void pause_for_poll(void)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };

	nanosleep(&pause, NULL);
}

/* Read what is written until shortly after the end. */
static void drain_rest(struct tracer *t)
{
	for (int i = 0; i < REST_NS / POLL_NS && is_readable(t); i++) {
		drain(t);
		pause_for_poll();
	}
	if (t->counts && is_readable(t))
		trace_counts_sample(t->counts, t->out, t->clock_hz, t->shift, true);
}

/* Get the command's status as reported by a shell. */
static int follow(struct tracer *t, pid_t child)
{
	int status;

	/* An interrupt is for the command; its trace is kept. */
	signal(SIGINT, SIG_IGN);
	while (!waitpid(child, &status, WNOHANG)) {
		if (t->inside && t->ended)
			trace_inside(t);
		if (is_readable(t))
			drain(t);
		pause_for_poll();
	}
	drain_rest(t);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Run a command, and trace the GPUs in its process one after the other. Return: its status. */
static int run_inside(struct tracer *t, const char *device, const char *path, char **command)
{
	int status;

	make_socket_folder();
	/* An unknown option of the device is an error now, not one of the command. */
	pumice_device_close(command_device_open("pumice-trace", device));
	t->out = perfetto_open(path, INSIDE_HZ);
	if (!t->out)
		fail(path, strerror(errno));
	t->ended = true;
	t->inside = start(command, true, device);
	status = follow(t, t->inside);
	if (t->devices)
		return status;
	fprintf(stderr, "pumice-trace: %s: %s\n", command[0], *t->error ? t->error :
		"it opened no GPU in its own process; children of it are not traced");
	return status;
}

/* Record until an interrupt, the end of the observed process, or this time; 0: no limit. */
static void record(struct tracer *t, uint32_t seconds)
{
	const struct sigaction action = { .sa_handler = on_interrupt };
	const time_t end = time(NULL) + (time_t)seconds;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (seconds)
		fprintf(stderr, "pumice-trace: recording for %" PRIu32 " s\n", seconds);
	else
		fprintf(stderr, "pumice-trace: recording until it is interrupted\n");
	while (!interrupted && is_readable(t) && (!seconds || time(NULL) < end)) {
		drain(t);
		pause_for_poll();
	}
	drain_rest(t);
}

/* Write the file, unless there was no GPU. Return: whether all of the trace was recorded. */
static bool end(struct tracer *t, const char *path)
{
	uint64_t driver = 0, dropped;

	if (t->inside && !t->devices) {
		perfetto_discard(t->out);
		fprintf(stderr, "pumice-trace: nothing was recorded; %s was not written\n", path);
		return false;
	}
	end_counts(t);
	if (t->counted && !t->any_counts)
		fprintf(stderr,
			"pumice-trace: --counted: no requests to the memory hierarchy; the "
			"mode of the GPU must be counted\n");
	if (t->kernel)
		driver = trace_kernel_close(t->kernel, t->out, clock_offset(t));
	if (!perfetto_close(t->out, &dropped))
		fail(path, strerror(errno));
	pumice_trace_close(t->trace);
	pumice_device_close(t->dev);
	if (t->jobs && !t->firmware && !t->old)
		fprintf(stderr, "pumice-trace: the firmware's tracks are empty: the driver is older "
			"than this tool\n");
	if (driver)
		fprintf(stderr, "pumice-trace: %" PRIu64 " events of the driver were lost: its "
			"buffer in tracefs was full\n", driver);
	if (dropped)
		fprintf(stderr, "pumice-trace: %" PRIu64 " events at the end were not stored: the "
			"trace is too long for memory\n", dropped);
	fprintf(stderr, "pumice-trace: %" PRIu64 " events of the GPU, %" PRIu64 " lost; wrote %s\n",
		t->events, t->lost, path);
	return !t->failed;
}

int main(int argc, char **argv)
{
	const char *device = NULL, *path = "pumice-trace.json";
	uint32_t seconds = 0;
	struct tracer t = { 0 };
	const struct command_option options[] = {
		COMMAND_DEVICE(&device),
		COMMAND_OUTPUT(&path, "FILE", "the trace (default pumice-trace.json)"),
		{ 't', "time", "SECONDS", "without COMMAND: end after this time, 1 to 3600",
		  .number = &seconds, .min = 1, .max = 3600 },
		{ 'c', "counted", NULL, "hit rates and bytes of the memory hierarchy, too, of a GPU\n"
		  "in mode counted", .flag = &t.counted },
		{ 0 }
	};
	const struct command command = {
		.name = "pumice-trace",
		.words = "[COMMAND [ARGUMENT]…]",
		.max_words = -1,
		.purpose = "Records the activity of a GPU, for all its users: while COMMAND runs; without\n"
			   "one, until it is interrupted. The trace is for ui.perfetto.dev.\n",
		.options = options,
		.notes = notes,
		.versions = COMMAND_VERSION_GPU,
	};
	int first, status = 0;

	first = command_line(&command, argc, argv);
	if (seconds && first < argc)
		command_refuse(&command, "--time: a trace with a COMMAND ends with it");
	if (first < argc)
		check_command(argv[first]);
	if (first < argc && is_inproc(device)) {
		status = run_inside(&t, device, path, argv + first);
	} else {
		begin(&t, device, path);
		if (first < argc)
			status = follow(&t, start(argv + first, false, NULL));
		else
			record(&t, seconds);
	}
	if (!end(&t, path) && !status)
		status = 1;
	return status;
}
