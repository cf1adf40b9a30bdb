/* SPDX-License-Identifier: MIT */
/*
 * Resets of the GPU that the driver reports in the kernel's log.
 *
 * The log is used instead of the driver's counter, because that also counts a case's own resets of
 * the function, and restarts whenever the driver is bound.
 */
#ifndef GUEST_KERNEL_LOG_H
#define GUEST_KERNEL_LOG_H

#include <stdbool.h>

#define KERNEL_LOG_LINE 160

/** struct kernel_log - resets reported since kernel_log_open() */
struct kernel_log {
	/** @fd: descriptor of the log; may be polled */
	int fd;
	/** @resets: number of resets read and not yet returned by kernel_log_take() */
	unsigned int resets;
	/** @last: report of the last of them */
	char last[KERNEL_LOG_LINE];
	/** @overrun: lines were overwritten before they were read; resets may be missing */
	bool overrun;
};

/**
 * kernel_log_open - open the log, at its end
 *
 * PUMICE_KMSG names another file than /dev/kmsg, for tests of the harness.
 *
 * Return: 0 or a negative errno.
 */
int kernel_log_open(struct kernel_log *log);

/** kernel_log_read - read all available messages, without waiting. */
void kernel_log_read(struct kernel_log *log);

/** kernel_log_take - return the resets since the last call, after a kernel_log_read(). */
unsigned int kernel_log_take(struct kernel_log *log);

#endif
