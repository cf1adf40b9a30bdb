/* SPDX-License-Identifier: MIT */
/*
 * Rate limit of lines that a guest can cause in the host's log: LOG_LIMIT_LINES per second,
 * the others are counted. Plain data; the caller locks.
 */
#ifndef PUMICE_GPU_LOG_LIMIT_H
#define PUMICE_GPU_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LIMIT_LINES	32u
#define LOG_LIMIT_NS	1000000000ull

struct log_limit {
	uint64_t since;		/* when the second began, ns */
	uint32_t lines;		/* lines in that second */
	uint32_t dropped;	/* lines dropped since the last logged one */
};

/*
 * Return whether a line may be logged now. If so, *dropped becomes the number of lines dropped
 * before it.
 */
static inline bool log_limit_allow(struct log_limit *limit, uint64_t now, uint32_t *dropped)
{
	if (!limit->lines || now - limit->since >= LOG_LIMIT_NS) {
		limit->since = now;
		limit->lines = 0;
	}
	if (limit->lines == LOG_LIMIT_LINES) {
		limit->dropped += limit->dropped != UINT32_MAX;
		return false;
	}
	limit->lines++;
	*dropped = limit->dropped;
	limit->dropped = 0;
	return true;
}

#endif
