/* SPDX-License-Identifier: MIT */
/*
 * Resets of the GPU that the driver reports in the kernel's log.
 *
 * The log rather than the driver's counter, which also counts a case's own resets of the function,
 * and begins anew whenever the driver is bound.
 */
#ifndef GUEST_KERNEL_LOG_H
#define GUEST_KERNEL_LOG_H

#include <stdbool.h>

#define KERNEL_LOG_LINE 160

/** struct kernel_log - what is reported from kernel_log_open() on */
struct kernel_log {
	/** @fd: of the log; may be polled */
	int fd;
	/** @resets: number of resets read and not taken */
	unsigned int resets;
	/** @last: how the last of them was reported */
	char last[KERNEL_LOG_LINE];
	/** @overrun: lines were overwritten before they were read; resets may be missing */
	bool overrun;
};

/**
 * kernel_log_open - look at the log from now on
 *
 * PUMICE_KMSG names another file than /dev/kmsg, for tests of the harness.
 *
 * Return: 0 or a negative errno.
 */
int kernel_log_open(struct kernel_log *log);

/** kernel_log_read - read all that there is, without waiting. */
void kernel_log_read(struct kernel_log *log);

/** kernel_log_take - the resets since it was last called, after a kernel_log_read(). */
unsigned int kernel_log_take(struct kernel_log *log);

#endif
