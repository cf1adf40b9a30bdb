// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Fault injection. See inject.h. */
#include "inject.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "system.h"

#define PATH_BYTES 256

/* The driver's file; false if there is none. */
static bool find_file(char *path)
{
	return debugfs_path("inject", path, PATH_BYTES);
}

bool can_inject(void)
{
	char path[PATH_BYTES];

	return find_file(path);
}

int inject(const char *text)
{
	char path[PATH_BYTES];

	return find_file(path) ? write_file(path, text) : -ENOENT;
}

void need_inject(const char *text)
{
	int err = inject(text);

	if (err)
		test_fail(__FILE__, __LINE__, "\"%s\" is refused: %s", text, strerror(-err));
}

/* A line of the file: "KIND: N left, N times". */
static void need_line(const char *kind, u32 *left, u32 *times)
{
	char path[PATH_BYTES], line[128];
	bool found = false;
	FILE *file;

	CHECK(find_file(path));
	file = fopen(path, "re");
	CHECK(file);
	while (!found && fgets(line, sizeof(line), file))
		found = !strncmp(line, kind, strlen(kind)) &&
			sscanf(line + strlen(kind), ": %u left, %u times", left, times) == 2;
	fclose(file);
	CHECK(found);
}

u32 inject_hits(const char *kind)
{
	u32 left, times;

	need_line(kind, &left, &times);
	return times;
}

u32 inject_left(const char *kind)
{
	u32 left, times;

	need_line(kind, &left, &times);
	return left;
}
