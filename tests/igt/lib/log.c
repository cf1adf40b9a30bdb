// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Log messages.
 *
 * The messages of a subtest are kept, printed or not, so that all of them can be shown
 * when the subtest fails. Limits: the last LINES messages of LINE_BYTES.
 */
#include <string.h>

#include "layer.h"

#define LINES		256u
#define LINE_BYTES	512

static const char *program = "";
static char kept[LINES][LINE_BYTES];
static unsigned int count;	/* messages of the subtest; the last LINES are kept */

static const char *const level_names[] = {
	[IGT_LOG_DEBUG] = "DEBUG", [IGT_LOG_INFO] = "INFO", [IGT_LOG_WARN] = "WARNING",
	[IGT_LOG_CRITICAL] = "CRITICAL",
};

void igt_layer_log_name(const char *name)
{
	program = name;
}

const char *igt_layer_program(void)
{
	return program;
}

void igt_layer_log_clear(void)
{
	count = 0;
}

void igt_layer_log_dump(const char *what)
{
	unsigned int i = count > LINES ? count - LINES : 0;

	fflush(stdout);
	fprintf(stderr, "Subtest %s failed.\n**** DEBUG ****\n", what);
	for (; i < count; i++)
		fputs(kept[i % LINES], stderr);
	fprintf(stderr, "****  END  ****\n");
	fflush(stderr);
}

static bool is_printed(const char *domain, enum igt_log_level level)
{
	if (level < igt_layer_options.level)
		return false;
	return level > IGT_LOG_DEBUG || !igt_layer_options.domain ||
	       !strcmp(igt_layer_options.domain, domain ? domain : "application");
}

void igt_vlog(const char *domain, enum igt_log_level level, const char *format, va_list args)
{
	char text[LINE_BYTES - 128], *line = kept[count % LINES];

	vsnprintf(text, sizeof(text), format, args);
	snprintf(line, LINE_BYTES, "(%s:%d) %s%s%s: %s", program, getpid(), domain ? domain : "",
		 domain ? "-" : "", level_names[level], text);
	count++;
	if (!is_printed(domain, level))
		return;
	if (level == IGT_LOG_INFO) {
		fputs(text, stdout);
		fflush(stdout);
		return;
	}
	fflush(stdout);
	fputs(line, stderr);
}

void igt_log(const char *domain, enum igt_log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	igt_vlog(domain, level, format, args);
	va_end(args);
}
