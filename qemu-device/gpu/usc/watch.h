/* SPDX-License-Identifier: MIT */
/*
 * Detection of races between waves in local memory, in mode strict. See watch.c.
 */
#ifndef PUMICE_GPU_USC_WATCH_H
#define PUMICE_GPU_USC_WATCH_H

#include "usc.h"

struct usc_watch;

/* Create the state of a USC with local_bytes of local memory; NULL when out of memory. */
struct usc_watch *usc_watch_create(u32 local_bytes);
void usc_watch_destroy(struct usc_watch *watch);
/* A group begins: its waves and its local memory have no history. */
void usc_watch_group_begin(struct usc_watch *watch, unsigned int group, u32 waves, u32 local_byte,
			   u32 local_bytes);
/* Waves, by number in the group, have met: their later accesses follow all earlier ones. */
void usc_watch_meet(struct usc_watch *watch, unsigned int group, u32 waves);
/* A wave has executed a fence: it is after the fences of its group before it. */
void usc_watch_fence(struct usc_watch *watch, unsigned int group, u32 wave);
/* Report the fault of a group if it is an error of its program. No lock held. */
void usc_watch_fault(const struct usc *usc, unsigned int group, const struct gpu_fault *fault);
/* A wave of a group has ended at an instruction. */
void usc_watch_wave_end(struct usc_watch *watch, unsigned int group, u32 wave, u32 pc);
/* All waves of a group wait at barriers: report if these are different instructions. */
void usc_watch_barrier(const struct usc *usc, unsigned int group);

#endif
