// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Marks in the kernel's log. With them igt_runner assigns the kernel's messages to subtests, and
 * a warning that no subtest announced makes its result a dmesg-warn.
 *
 * The log is opened for each line: the kernel limits the lines of one open file. A program
 * without the right to write there continues without marks. IGT_LAYER_KMSG names another file,
 * for tests of this layer.
 */
#include <fcntl.h>
#include <regex.h>
#include <string.h>

#include "layer.h"

#define LINE_BYTES	1000	/* one record of the log */

void igt_layer_kmsg(const char *format, ...)
{
	const char *path = getenv("IGT_LAYER_KMSG");
	char line[LINE_BYTES] = "<6>[IGT] ";
	size_t used = strlen(line);
	va_list args;
	int fd;

	va_start(args, format);
	vsnprintf(line + used, sizeof(line) - used, format, args);
	va_end(args);
	fd = open(path ? path : "/dev/kmsg", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, line, strlen(line)) < 0)
		igt_debug("no mark in the kernel's log: %m\n");
	close(fd);
}

void igt_emit_ignore_dmesg_regex(const char *regex)
{
	regex_t compiled;

	igt_assert_f(!regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB), "bad: %s\n", regex);
	regfree(&compiled);
	igt_layer_kmsg("add ignored dmesg regex: %s\n", regex);
}
