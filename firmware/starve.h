/* SPDX-License-Identifier: MIT */
/*
 * Jobs that get no room on the USCs because of jobs of other virtual GPUs. Called with interrupts
 * off. @holder: by data master, the context whose job it runs, or NULL
 */
#ifndef FW_STARVE_H
#define FW_STARVE_H

#include "context.h"

/*
 * Holds by which a job that others keep from the USCs may hold its data master for longer: one
 * until they are killed, if it began to wait late, and one for itself.
 */
#define STARVE_HOLDS	2u

/** starve_ended - note that the job of a data master has ended. */
void starve_ended(u32 dm);

/** starve_switch - note how long a compute job has waited, which is switched out. */
void starve_switch(struct context *c);

/**
 * starve_review - look for a job that has been kept from all USCs.
 * @hold: ticks for which a job may be kept from them
 * @next: out: time of the next review, if that is earlier than its value
 *
 * Return: the data masters whose jobs keep it from them and are to be killed: bit n is number n.
 */
u32 starve_review(struct context *const *holder, u64 hold, u64 *next);

/**
 * starve_extends - return whether a job, at the end of its hold, has STARVE_HOLDS more: others keep
 * it from the USCs, or did and were killed. The answer remains true until the job ends.
 */
bool starve_extends(struct context *const *holder, u32 dm);

#endif
