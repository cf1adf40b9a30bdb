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

#define INSTANCE	"instances/pumice-trace"
#define FOLDER_BYTES	256
#define LINE_BYTES	512
#define VERSION(major, minor) ((uint32_t)(major) << 16 | (minor))
#define PENDING		4096	/* concurrent jobs in the firmware */
#define NAME_COLUMNS	16	/* width of a process's name, with which a line begins */
/* Buffers of the instance: of all processors together, and at least the kernel's default. */
#define BUFFERS_KB	65536
#define MIN_BUFFER_KB	1408

/* A job queued in the firmware. */
struct pending {
	uint32_t context, job;
	uint64_t ns;
};

struct trace_kernel {
	char folder[FOLDER_BYTES];	/* of the instance */
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

/* Set the size of the buffers; if this fails, the kernel's default is used. */
static void set_buffer_size(const struct trace_kernel *k)
{
	const long processors = sysconf(_SC_NPROCESSORS_CONF);
	const long kb = processors > 0 ? BUFFERS_KB / processors : 0;
	char text[24];

	snprintf(text, sizeof(text), "%ld", kb > MIN_BUFFER_KB ? kb : MIN_BUFFER_KB);
	write_text(k->folder, "buffer_size_kb", text);
}

/* Number of events that were overwritten, of all processors. */
static uint64_t count_overruns(const struct trace_kernel *k)
{
	const long processors = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t sum = 0, value;
	char path[FOLDER_BYTES + 64], line[128];
	FILE *file;

	for (long cpu = 0; cpu < processors; cpu++) {
		snprintf(path, sizeof(path), "%s/per_cpu/cpu%ld/stats", k->folder, cpu);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "overrun: %" SCNu64, &value) == 1)
				sum += value;
		if (file)
			fclose(file);
	}
	return sum;
}

const char *trace_kernel_missing(uint32_t version, uint32_t fw_version)
{
	if (version < VERSION(2, 3))
		return "the device has a register map before 2.3: its trace has no events of the "
		       "firmware, of tiles, chunks, tasks and transfers";
	if (fw_version < VERSION(1, 6))
		return "the firmware has an interface before 1.6: its trace has no events of the "
		       "firmware";
	return NULL;
}

/* Create the instance, and enable its events. Return: NULL or an error. */
static const char *start_instance(const struct trace_kernel *k)
{
	char events[FOLDER_BYTES + 32];

	if (mkdir(k->folder, 0700) && access(k->folder, W_OK))
		return "no tracefs: is it mounted in /sys/kernel/tracing, and are you root?";
	snprintf(events, sizeof(events), "%s/events/pumice", k->folder);
	if (access(events, F_OK))
		return "the driver has no trace events: is pumice.ko loaded, and of this version?";
	set_buffer_size(k);
	if (!write_text(k->folder, "trace_clock", "mono") ||
	    !write_text(k->folder, "events/pumice/enable", "1"))
		return "tracefs: the driver's events cannot be enabled";
	return NULL;
}

struct trace_kernel *trace_kernel_open(const char *tracefs, const char **error)
{
	struct trace_kernel *k = calloc(1, sizeof(*k));

	*error = "out of memory";
	if (!k)
		return NULL;
	snprintf(k->folder, sizeof(k->folder), "%s/" INSTANCE, tracefs);
	*error = start_instance(k);
	if (!*error)
		return k;
	rmdir(k->folder);
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

/* Parse "context=1 stream=0x2 waits=0 dm=1 pid=123 comm=name": the name is the rest of the line. */
static void parse_owner(struct perfetto *p, uint32_t context, uint64_t ns, const char *text)
{
	const char *pid = strstr(text, " pid="), *comm = strstr(text, " comm=");

	if (pid && comm)
		perfetto_owner(p, context, ns, (uint32_t)strtoul(pid + 5, NULL, 10), comm + 6);
}

/*
 * Find the event in a line. A process selects its name, which may contain the text of an event,
 * and line ends: neither is searched.
 */
static char *find_event(char *line)
{
	line[strcspn(line, "\n")] = '\0';
	return strlen(line) < NAME_COLUMNS ? NULL : strstr(line + NAME_COLUMNS, ": pumice_");
}

/* "            name-123     [000] ..... 12.345678: pumice_job_run: context=1 job=2" */
static void parse_event_line(struct trace_kernel *k, struct perfetto *p, char *line,
			     int64_t offset_ns)
{
	char *event = find_event(line), *time = event, *text;
	uint32_t context = 0, job = 0;
	uint64_t ns;

	if (!event)
		return;
	while (time > line && time[-1] != ' ')
		time--;
	ns = (uint64_t)((int64_t)(strtod(time, NULL) * 1e9) + offset_ns);
	event += 2;
	text = strstr(event, ": ");
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
	char path[FOLDER_BYTES + 64], line[LINE_BYTES];
	uint64_t lost;
	FILE *file;

	write_text(k->folder, "events/pumice/enable", "0");
	lost = count_overruns(k);
	if (lost)
		perfetto_instant(p, PERFETTO_ANY_CONTEXT, 0, "lost events",
				 "before the first of the driver: its buffer was full");
	snprintf(path, sizeof(path), "%s/trace", k->folder);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		parse_event_line(k, p, line, offset_ns);
	if (file)
		fclose(file);
	rmdir(k->folder);
	free(k);
	return lost;
}
