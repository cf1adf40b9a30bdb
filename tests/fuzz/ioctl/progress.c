// SPDX-License-Identifier: MIT
/* Progress of a run of the ioctl fuzzer. See progress.h. */
#include "progress.h"

void progress_done(struct progress *progress, uint32_t kind)
{
	atomic_fetch_add_explicit(&progress->done[kind], 1, memory_order_relaxed);
}

/* Return the kinds that have not succeeded, as bits. */
static uint64_t missing(const struct progress *progress)
{
	uint64_t bits = 0;
	uint32_t kind;

	for (kind = 0; kind < progress->kinds; kind++)
		if (!atomic_load_explicit(&progress->done[kind], memory_order_relaxed))
			bits |= 1ull << kind;
	return bits;
}

bool progress_is_over(struct progress *progress, uint64_t now)
{
	uint64_t bits;

	if (now < progress->deadline)
		return false;
	bits = missing(progress);
	/* Later calls find no other kinds. */
	atomic_fetch_or_explicit(&progress->late, bits, memory_order_relaxed);
	return !bits || now >= progress->limit;
}
