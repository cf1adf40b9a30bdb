/* SPDX-License-Identifier: MIT */
/*
 * One work-group for the USC and for the reference model: both start with the same
 * registers and memory, and must end with the same.
 */
#ifndef PUMICE_TESTS_USC_BOTH_H
#define PUMICE_TESTS_USC_BOTH_H

#include "gen.h"
#include "ref_model.h"
#include "fixture.h"

#define BOTH_GROUP_BYTES (GEN_READ_BYTES + 12 * GEN_WAVE_BYTES)	/* 3 tasks of 4 waves */

/* Once, before the first group. */
void both_begin(void);
/*
 * Fill group number with random registers and memory; random values depend on
 * rng. The caller frees ref->memory.
 */
void both_set_up(struct gen_rng *rng, struct fixture *fx, unsigned int number,
		 const struct gen_program *prog, struct fx_group *shape,
		 struct usc_program *program, struct ref_group *ref);
/* Compare words of both; print the first difference. */
bool both_same(const char *what, u32 number, u32 index, const void *got, const void *want,
	       size_t bytes);
/* Registers, local and global memory. */
bool both_same_state(struct fixture *fx, unsigned int number, const struct ref_group *ref);

#endif
