/* SPDX-License-Identifier: MIT */
/*
 * Signals that interrupt the calls of one thread, as a profiler's timer does.
 */
#ifndef GUEST_INTERRUPT_H
#define GUEST_INTERRUPT_H

#include <stdint.h>
#include <time.h>

/**
 * interrupt_me - send signals to the calling thread, at an interval
 * @interval_us: microseconds
 *
 * Calls that they interrupt are not restarted by the kernel (no SA_RESTART). Return:
 * the timer; timer_delete() ends it.
 */
timer_t interrupt_me(uint32_t interval_us);

#endif
