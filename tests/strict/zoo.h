/* SPDX-License-Identifier: MIT */
/*
 * Seeded errors: each is a program that differs from a right one in one place.
 */
#ifndef PUMICE_TESTS_STRICT_ZOO_H
#define PUMICE_TESTS_STRICT_ZOO_H

#include <stdbool.h>
#include <stdint.h>

#define ZOO_NONE UINT32_MAX	/* no other side */

struct zoo_error {
	const char *name;
	const char *program;	/* with one %s */
	const char *right, *wrong;	/* lines for it */
	/* The first finding of the wrong program; of its text the words of the place. */
	const char *finding, *place;
	uint32_t instruction, other;
	uint32_t instances;	/* of a work-group; 0: 64, two waves */
	uint32_t groups;	/* of a launch; 0: 1. sh4 is the number of the work-group */
	uint32_t launches;	/* 0: 1; the right program has fences between them, if it has no
				 * other lines than the wrong one */
	bool flushes;		/* that have no operation on caches, instead of fences */
	uint32_t cores;		/* 0: 1 */
};

extern const struct zoo_error zoo_errors[], zoo_waves[], zoo_memory[];
extern const uint32_t zoo_error_count, zoo_wave_count, zoo_memory_count;

#endif
