/* SPDX-License-Identifier: MIT */
/*
 * Detection of uninitialised registers and local memory, in mode strict. See unset.c.
 */
#ifndef PUMICE_GPU_USC_UNSET_H
#define PUMICE_GPU_USC_UNSET_H

#include "usc.h"

struct usc_unset;

/* Create the state of a USC; NULL when out of memory. */
struct usc_unset *usc_unset_create(const struct usc_config *config);
void usc_unset_destroy(struct usc_unset *unset);
/*
 * A wave begins, by its index: its temporaries, from a row of the unified store on, and its own
 * registers have no value; its attributes, which follow, have one.
 */
void usc_unset_wave_begin(struct usc_unset *unset, u32 wave, u32 row, u32 temps, u32 attrs);
/* A group begins: no byte of its local memory has a value. */
void usc_unset_group_begin(struct usc_unset *unset, u32 local_byte, u32 local_bytes);

#endif
