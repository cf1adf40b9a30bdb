/* SPDX-License-Identifier: MIT */
/*
 * USSE iterator (UITR) of half a core: per-fragment inputs of fragment programs.
 *
 * Source: document 004, "UITR". Computes in 32 bits; the PDS writes the results to attribute
 * registers of the task. The instruction itr of fragment programs is the USC's own.
 */
#ifndef PUMICE_GPU_UITR_H
#define PUMICE_GPU_UITR_H

#include "../activity.h"
#include "itr.h"

struct uitr {
	struct activity activity;
};

/*
 * Iterate a varying, 1/w or depth, by the number of its plane: out[n] of instance n.
 * perspective: divide by 1/w.
 */
void uitr_iterate(struct uitr *uitr, const struct itr_task *task,
		  struct itr_positions *at, u32 plane, bool perspective, float *out);

#endif
