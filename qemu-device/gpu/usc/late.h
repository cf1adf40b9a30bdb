/* SPDX-License-Identifier: MIT */
/*
 * Data that arrive when the signal of their access is done. See late.c.
 */
#ifndef PUMICE_GPU_USC_LATE_H
#define PUMICE_GPU_USC_LATE_H

#include "usc.h"

struct usc_late;

/* Create the state of a USC whose data are late; NULL when out of memory. */
struct usc_late *usc_late_create(const struct usc_config *config);
void usc_late_destroy(struct usc_late *late);
/*
 * A wave begins: nothing of it is under way. wave: its index in the USC; row: its first row in the
 * unified store, of rows.
 */
void usc_late_wave_begin(struct usc_late *late, u32 wave, u32 row, u32 rows);
/* The group of a wave ends before the wave, or by a reset: drop its stores to memory. */
void usc_late_wave_drop(struct usc_late *late, u32 wave);

#endif
