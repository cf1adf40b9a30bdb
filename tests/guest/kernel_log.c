// SPDX-License-Identifier: MIT
/* Resets of the GPU in the kernel's log. See kernel_log.h. */
#include "kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_BYTES	8192	/* larger than any record */

/* Message by which pumice_reset.c reports a reset. */
static const char report[] = "resetting the GPU: ";

int kernel_log_open(struct kernel_log *log)
{
	const char *path = getenv("PUMICE_KMSG");

	*log = (struct kernel_log){ .fd = -1 };
	log->fd = open(path ? path : "/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log->fd < 0)
		return -errno;
	/* A file without positions has no earlier messages either. */
	if (lseek(log->fd, 0, SEEK_END) < 0 && errno != ESPIPE)
		return -errno;
	return 0;
}

/* Note the resets in a text: the kernel returns one record per read, other files several. */
static void note_resets(struct kernel_log *log, const char *text)
{
	for (text = strstr(text, report); text; text = strstr(text + 1, report)) {
		snprintf(log->last, sizeof(log->last), "%.*s", (int)strcspn(text, "\n"), text);
		log->resets++;
	}
}

void kernel_log_read(struct kernel_log *log)
{
	char record[RECORD_BYTES + 1];
	ssize_t got;

	for (;;) {
		got = read(log->fd, record, RECORD_BYTES);
		if (got > 0) {
			record[got] = 0;
			note_resets(log, record);
		} else if (got < 0 && errno == EPIPE) {
			log->overrun = true;
		} else if (!(got < 0 && errno == EINTR)) {
			return;
		}
	}
}

unsigned int kernel_log_take(struct kernel_log *log)
{
	const unsigned int resets = log->resets;

	log->resets = 0;
	return resets;
}
