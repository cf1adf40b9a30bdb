// SPDX-License-Identifier: MIT
/*
 * Trace events of the kernel driver.
 *
 * Uses a separate instance of tracefs, so
 * that other tracing is not disturbed.
 */
#include "trace_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#define INSTANCE	"/sys/kernel/tracing/instances/pumice-trace"
#define LINE_BYTES	512
#define PENDING		4096	/* concurrent jobs in the firmware */
/* Buffers of the instance: of all processors together, and at least the kernel's default. */
#define BUFFERS_KB	65536
#define MIN_BUFFER_KB	1408

/* A job queued in the firmware. */
struct pending {
	uint32_t context, job;
	uint64_t ns;
};

struct trace_kernel {
	struct pending pending[PENDING];
	uint32_t count;
};

static bool write_text(const char *folder, const char *name, const char *text)
{
	char path[600];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file)
		return false;
	ok = fputs(text, file) >= 0;
	return !fclose(file) && ok;
}

/* Without success the kernel's default size is used. */
static void set_buffer_size(void)
{
	const long processors = sysconf(_SC_NPROCESSORS_CONF);
	const long kb = processors > 0 ? BUFFERS_KB / processors : 0;
	char text[24];

	snprintf(text, sizeof(text), "%ld", kb > MIN_BUFFER_KB ? kb : MIN_BUFFER_KB);
	write_text(INSTANCE, "buffer_size_kb", text);
}

/* Number of events that were overwritten, of all processors. */
static uint64_t count_overruns(void)
{
	const long processors = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t sum = 0, value;
	char path[128], line[128];
	FILE *file;

	for (long cpu = 0; cpu < processors; cpu++) {
		snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%ld/stats", cpu);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "overrun: %" SCNu64, &value) == 1)
				sum += value;
		if (file)
			fclose(file);
	}
	return sum;
}

struct trace_kernel *trace_kernel_open(const char **error)
{
	struct trace_kernel *k = calloc(1, sizeof(*k));

	*error = "out of memory";
	if (!k)
		return NULL;
	*error = "no tracefs in /sys/kernel/tracing: is it mounted, and are you root?";
	if (mkdir(INSTANCE, 0700) && access(INSTANCE, W_OK))
		goto fail;
	set_buffer_size();
	if (!write_text(INSTANCE, "trace_clock", "mono") ||
	    !write_text(INSTANCE, "events/pumice/enable", "1")) {
		rmdir(INSTANCE);
		goto fail;
	}
	return k;

fail:
	free(k);
	return NULL;
}

static void note_run(struct trace_kernel *k, uint32_t context, uint32_t job, uint64_t ns)
{
	if (k->count < PENDING)
		k->pending[k->count++] = (struct pending){ context, job, ns };
}

static void note_done(struct trace_kernel *k, struct perfetto *p, uint32_t context, uint32_t job,
		      uint64_t ns, const char *detail)
{
	for (uint32_t i = 0; i < k->count; i++) {
		if (k->pending[i].context != context || k->pending[i].job != job)
			continue;
		perfetto_job(p, context, job, k->pending[i].ns, ns, detail);
		k->pending[i] = k->pending[--k->count];
		return;
	}
}

/* "context=1 stream=0x2 waits=0 dm=1 pid=123 comm=name": the name is the rest of the line. */
static void parse_owner(struct perfetto *p, uint32_t context, uint64_t ns, const char *text)
{
	const char *pid = strstr(text, " pid="), *comm = strstr(text, " comm=");

	if (pid && comm)
		perfetto_owner(p, context, ns, (uint32_t)strtoul(pid + 5, NULL, 10), comm + 6);
}

/* "  name-123  [000] .....  12.345678: pumice_job_run: context=1 job=2" */
static void parse_event_line(struct trace_kernel *k, struct perfetto *p, char *line,
			     int64_t offset_ns)
{
	char *event = strstr(line, ": pumice_"), *time = event, *text;
	uint32_t context = 0, job = 0;
	uint64_t ns;

	line[strcspn(line, "\n")] = '\0';
	if (!event)
		return;
	while (time > line && time[-1] != ' ')
		time--;
	ns = (uint64_t)((int64_t)(strtod(time, NULL) * 1e9) + offset_ns);
	event += 2;
	text = strchr(event, ':');
	if (!text)
		return;
	*text = '\0';
	text += 2;
	if (sscanf(text, "context=%" SCNu32 " job=%" SCNu32, &context, &job) == 2) {
		if (!strcmp(event, "pumice_job_run"))
			note_run(k, context, job, ns);
		else if (!strcmp(event, "pumice_job_done"))
			note_done(k, p, context, job, ns, text);
	}
	sscanf(text, "context=%" SCNu32, &context);
	if (!strcmp(event, "pumice_job_submit"))
		parse_owner(p, context, ns, text);
	if (strcmp(event, "pumice_job_start"))
		perfetto_instant(p, context, ns, event + strlen("pumice_"), text);
}

uint64_t trace_kernel_close(struct trace_kernel *k, struct perfetto *p, int64_t offset_ns)
{
	char line[LINE_BYTES];
	uint64_t lost;
	FILE *file;

	write_text(INSTANCE, "events/pumice/enable", "0");
	lost = count_overruns();
	if (lost)
		perfetto_instant(p, PERFETTO_ANY_CONTEXT, 0, "lost events",
				 "before the first of the driver: its buffer was full");
	file = fopen(INSTANCE "/trace", "r");
	while (file && fgets(line, sizeof(line), file))
		parse_event_line(k, p, line, offset_ns);
	if (file)
		fclose(file);
	rmdir(INSTANCE);
	free(k);
	return lost;
}
