/* SPDX-License-Identifier: MIT */
/* Limits of the PDS: the part of slots and stores that a data master may hold. */
#ifndef FW_LIMITS_H
#define FW_LIMITS_H

#include "csr.h"

/** limits_init - read the sizes of the stores. Call before the first job. */
void limits_init(void);

/**
 * limits_update - set the limits for the data masters that have a job.
 * @masters: bit n is set if data master n, of enum fwif_dm, has one
 *
 * Tasks that hold more keep it; the limits apply to those that start afterwards. Call with
 * interrupts off, before the data master is started, and after it has ended.
 */
void limits_update(u32 masters);

#endif
