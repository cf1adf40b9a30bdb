/* SPDX-License-Identifier: MIT */
/*
 * Modes of the GPU. Results are the same in all of them.
 *
 * Fast mode is the default. In the others each access of a unit is a request to the memory
 * hierarchy (mmu_set_request()). In mode strict the USCs detect errors, too: usc_exchange_checks().
 * A mode that also counts cycles belongs here, too: its clock advances with the turns of the
 * hierarchy.
 */
#ifndef PUMICE_GPU_MODE_H
#define PUMICE_GPU_MODE_H

#include <stdbool.h>

#include "pumice_regs.h"
#include "pumice_types.h"

struct pumice_gpu;

/* Find a mode by its name in lower case; NULL is fast. Returns false if there is none. */
bool mode_find(const char *name, enum pumice_mode *mode);

/* Return whether the mode can be changed: no data master has a job. Device lock held. */
bool mode_is_available(struct pumice_gpu *gpu);

/*
 * Change the mode, between two steps of all units. Returns 0, or changes nothing: -EBUSY if a data
 * master has a job, -EINVAL if there is no such mode, or -ENOMEM. No lock held; not in a step.
 */
int mode_set(struct pumice_gpu *gpu, u32 mode);

/* The same by the register, which shows the reason of a refusal afterwards. */
void mode_write(struct pumice_gpu *gpu, u32 mode);

/*
 * Select the mode that the host, not the guest, selected last, after a reset: a data master with a
 * job would keep the present one. No lock held; not in a step.
 */
void mode_restore(struct pumice_gpu *gpu);

#endif
