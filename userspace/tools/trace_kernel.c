// SPDX-License-Identifier: MIT
/*
 * Trace events and firmware log of the kernel driver.
 *
 * Uses a separate instance of tracefs, so
 * that other tracing is not disturbed.
 */
#include "trace_kernel.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#define INSTANCE	"/sys/kernel/tracing/instances/pumice-trace"
#define DRI		"/sys/kernel/debug/dri"
#define LINE_BYTES	512
#define PENDING		4096	/* concurrent jobs in the firmware */

/* A job queued in the firmware. */
struct pending {
	uint32_t context, job;
	uint64_t ns;
};

struct trace_kernel {
	char folder[512];		/* the device's, in debugfs */
	char level[16];			/* the firmware's previous log level */
	uint64_t logged;		/* time of the last log line read, ns */
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

/* Find the folder of the first device that has a firmware log. */
static bool find_folder(char *folder, size_t bytes)
{
	DIR *dir = opendir(DRI);
	struct dirent *entry;
	char path[600];
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(folder, bytes, DRI "/%s", entry->d_name);
		snprintf(path, sizeof(path), "%s/fw_log_level", folder);
		found = !access(path, W_OK);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void log_everything(struct trace_kernel *k)
{
	char path[600];
	FILE *file;

	snprintf(path, sizeof(path), "%s/fw_log_level", k->folder);
	file = fopen(path, "r");
	if (!file || !fgets(k->level, sizeof(k->level), file))
		snprintf(k->level, sizeof(k->level), "1");
	if (file)
		fclose(file);
	write_text(k->folder, "fw_log_level", "2");
}

struct trace_kernel *trace_kernel_open(const char **error)
{
	struct trace_kernel *k = calloc(1, sizeof(*k));

	*error = "out of memory";
	if (!k)
		return NULL;
	*error = "no firmware log in " DRI ": is debugfs mounted, and are you root?";
	if (!find_folder(k->folder, sizeof(k->folder)))
		goto fail;
	*error = "no tracefs in /sys/kernel/tracing: is it mounted, and are you root?";
	if (mkdir(INSTANCE, 0700) && access(INSTANCE, W_OK))
		goto fail;
	if (!write_text(INSTANCE, "trace_clock", "mono") ||
	    !write_text(INSTANCE, "events/pumice/enable", "1")) {
		rmdir(INSTANCE);
		goto fail;
	}
	log_everything(k);
	return k;

fail:
	free(k);
	return NULL;
}

/* "[     1.000002345] DEBUG context 0: job 1 starts in mmu context 1" */
static void parse_log_line(struct trace_kernel *k, struct perfetto *p, char *line)
{
	uint64_t seconds, fraction, ns;
	char level[16];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "[%" SCNu64 ".%" SCNu64 "] %15s %n", &seconds, &fraction, level, &at) < 3 ||
	    !at)
		return;
	ns = seconds * 1000000000u + fraction;
	if (ns <= k->logged)
		return;
	k->logged = ns;
	perfetto_instant(p, PERFETTO_FIRMWARE, 0, ns, line + at, level);
}

void trace_kernel_poll(struct trace_kernel *k, struct perfetto *p)
{
	char path[600], line[LINE_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/fw_log", k->folder);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		parse_log_line(k, p, line);
	if (file)
		fclose(file);
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
	if (strcmp(event, "pumice_job_start"))
		perfetto_instant(p, PERFETTO_DRIVER, context, ns, event + strlen("pumice_"), text);
}

void trace_kernel_close(struct trace_kernel *k, struct perfetto *p, int64_t offset_ns)
{
	char line[LINE_BYTES];
	FILE *file;

	write_text(INSTANCE, "events/pumice/enable", "0");
	trace_kernel_poll(k, p);
	write_text(k->folder, "fw_log_level", k->level);
	file = fopen(INSTANCE "/trace", "r");
	while (file && fgets(line, sizeof(line), file))
		parse_event_line(k, p, line, offset_ns);
	if (file)
		fclose(file);
	rmdir(INSTANCE);
	free(k);
}
