// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Page sizes. See pages.h. */
#include "pages.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "system.h"

/* Also for the kernel's own files, unlike the mode "always". */
#define SHMEM_MODE	"/sys/kernel/mm/transparent_hugepage/shmem_enabled"

int use_large_memory(bool large)
{
	return write_file(SHMEM_MODE, large ? "force" : "never");
}

/* The driver's name of a page size; bytes are those of formats.xml. */
static const char *name_of(u32 bits)
{
	static const struct {
		u32 bits;
		const char *name;
	} sizes[] = {
		{ 12, "4k" }, { 14, "16k" }, { 16, "64k" }, { 18, "256k" }, { 20, "1m" },
		{ 21, "2m" },
	};
	u32 i = 0;

	while (i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i].bits != bits)
		i++;
	CHECK(i < sizeof(sizes) / sizeof(sizes[0]));
	return sizes[i].name;
}

u32 gpu_blocks(u32 bits)
{
	u32 blocks, sum = 0;
	char line[256], name[16];
	glob_t found;
	FILE *file;

	CHECK_EQUAL(glob("/sys/kernel/debug/dri/*/vms", 0, NULL, &found), 0);
	file = fopen(found.gl_pathv[0], "re");
	globfree(&found);
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " blocks of %15s pages: %u", name, &blocks) == 2 &&
		    !strcmp(name, name_of(bits)))
			sum += blocks;
	fclose(file);
	return sum;
}
