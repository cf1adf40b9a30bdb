/* SPDX-License-Identifier: MIT */
/* Findings of mode strict: members that blocks of the GPU cannot provide. See finding.c. */
#ifndef PUMICE_GPU_FINDING_H
#define PUMICE_GPU_FINDING_H

#include "strict/strict.h"

/*
 * struct strict, complete; opaque: the GPU. A finding of a program: in the step of its USC. Locks
 * of a block may be held.
 */
void finding_complete(void *opaque, struct strict_finding *finding);

#endif
