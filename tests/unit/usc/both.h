/* SPDX-License-Identifier: MIT */
/*
 * One work-group for the USC and for the reference model: the same registers and
 * memory in both, and whether they have the same behind it.
 */
#ifndef PUMICE_TESTS_USC_BOTH_H
#define PUMICE_TESTS_USC_BOTH_H

#include "gen.h"
#include "ref_model.h"
#include "rig.h"

#define BOTH_GROUP_BYTES (GEN_READ_BYTES + 12 * GEN_WAVE_BYTES)	/* 3 tasks of 4 waves */

/* Once, before the first group. */
void both_begin(void);
/*
 * Fill group number with random registers and memory; what is random follows from
 * rng. ref->memory is to be freed by the caller.
 */
void both_set_up(struct gen_rng *rng, struct rig *rig, unsigned int number,
		 const struct gen_program *prog, struct rig_group *shape,
		 struct usc_program *program, struct ref_group *ref);
/* Words in both; tells the first that differs. */
bool both_same(const char *what, u32 number, u32 index, const void *got, const void *want,
	       size_t bytes);
/* Registers, local and global memory. */
bool both_same_state(struct rig *rig, unsigned int number, const struct ref_group *ref);

#endif
