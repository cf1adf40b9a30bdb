/* SPDX-License-Identifier: MIT */
/* Flips of present jobs: from the TDM's FIFO to the host. */
#ifndef FW_FLIP_H
#define FW_FLIP_H

/**
 * flip_report - write the flips of the TDM's FIFO to the running job's context. Interrupts off.
 *
 * Call before the end of that job is processed.
 */
void flip_report(void);

#endif
