/* SPDX-License-Identifier: MIT */
/*
 * Seeded errors: each is a program that differs from a right one in one place.
 */
#ifndef PUMICE_TESTS_STRICT_ZOO_H
#define PUMICE_TESTS_STRICT_ZOO_H

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
};

extern const struct zoo_error zoo_errors[], zoo_waves[];
extern const uint32_t zoo_error_count, zoo_wave_count;

#endif
