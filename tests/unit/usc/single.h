/* SPDX-License-Identifier: MIT */
/*
 * One instruction on one wave: sources in attribute registers, the result in a temporary
 * that is set to a mark before.
 */
#ifndef PUMICE_TESTS_USC_SINGLE_H
#define PUMICE_TESTS_USC_SINGLE_H

#include "fixture.h"

#define SINGLE_SOURCES 3u	/* V0, V1, V2 */
#define SINGLE_OUT 0u		/* R0 */
#define SINGLE_MARK 0x5eedu	/* in all lanes of it */

/* A row for each source; NULL leaves it zero. */
typedef const u32 *single_sources[SINGLE_SOURCES];

/* Run insn on this number of instances; out is R0 afterwards. It must not fault. */
void single_run(struct fixture *fx, struct pumice_usc_insn insn, u32 instances, single_sources v,
		u32 *out);
/* The test at every vector level of this host, each with a fixture of its own. */
void single_at_each_level(void (*test)(struct fixture *fx));

#endif
