/* SPDX-License-Identifier: MIT */
/* pumice-trace: counts of the memory hierarchy, as counters of the trace. */
#ifndef PUMICE_TOOLS_TRACE_COUNTS_H
#define PUMICE_TOOLS_TRACE_COUNTS_H

#include "counts.h"
#include "perfetto.h"

struct trace_counts;

/* Begin with the present counts of a GPU. Returns NULL with the reason in @error. */
struct trace_counts *trace_counts_open(struct pumice_device *dev, char *error, size_t bytes);
/*
 * Add the counts since the last sample to a trace, if some time has passed since, or always with
 * @now. @shift: ns that are added to the GPU clock. After an error there are no more samples: the
 * process may have ended.
 */
void trace_counts_sample(struct trace_counts *t, struct perfetto *p, uint64_t clock_hz,
			 int64_t shift, bool now);
/* Free it, which may be NULL. Returns whether there was any request. */
bool trace_counts_close(struct trace_counts *t);

#endif
