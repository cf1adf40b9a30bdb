/* SPDX-License-Identifier: MIT */
/*
 * Jobs that get no room on the USCs because of jobs of other virtual GPUs. Called with interrupts
 * off. @holder: by data master, the context whose job it runs, or NULL
 */
#ifndef FW_STARVE_H
#define FW_STARVE_H

#include "context.h"

/* Limit of holds for which other virtual GPUs keep a job from the USCs; then one is killed. */
#define STARVE_HOLDS	2u

/** starve_observe - note the progress of the job that runs on a data master. @c: or NULL: none */
void starve_observe(u32 dm, const struct context *c);

/** starve_progress - note the end of a job of a data master, which is progress. */
void starve_progress(u32 dm);

/**
 * starve_review - look for a job that has been kept from all USCs.
 * @hold: ticks for which a job may be kept from them
 * @next: out: time of the next review, if that is earlier than its value
 *
 * Return: the context that keeps it from them, whose job is to be killed, or NULL.
 */
struct context *starve_review(struct context *const *holder, u64 hold, u64 *next);

/**
 * starve_is_kept - return whether another virtual GPU keeps the job of a data master from them.
 * @hold: ticks for which the answer may be that of an earlier call
 */
bool starve_is_kept(struct context *const *holder, u32 dm, u64 hold);

/** starve_ended - return the time at which a job that kept that of a data master was killed. */
u64 starve_ended(u32 dm);

#endif
