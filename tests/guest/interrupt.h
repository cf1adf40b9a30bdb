/* SPDX-License-Identifier: MIT */
/*
 * Signals that interrupt the calls of one thread, as a profiler's timer does.
 */
#ifndef GUEST_INTERRUPT_H
#define GUEST_INTERRUPT_H

#include <stdint.h>
#include <time.h>

/**
 * interrupt_me - send signals to the calling thread periodically
 * @interval_us: microseconds
 *
 * The kernel does not restart interrupted calls (no SA_RESTART). Return:
 * the timer; timer_delete() stops it.
 */
timer_t interrupt_me(uint32_t interval_us);

#endif
