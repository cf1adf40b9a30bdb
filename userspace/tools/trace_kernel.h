/* SPDX-License-Identifier: MIT */
/*
 * What the kernel knows of a GPU's jobs: the driver's trace events (tracefs) and
 * the firmware's log (debugfs). Both need root.
 */
#ifndef PUMICE_TOOLS_TRACE_KERNEL_H
#define PUMICE_TOOLS_TRACE_KERNEL_H

#include "perfetto.h"

struct trace_kernel;

/*
 * Begin: the driver's events are on, and the firmware logs all. NULL, with a
 * reason in *error, where one of the two is not to be had.
 */
struct trace_kernel *trace_kernel_open(const char **error);
/* Take what the firmware logged since the last time; before its ring is over. */
void trace_kernel_poll(struct trace_kernel *k, struct perfetto *p);
/*
 * End: everything back as it was, and the rest into the trace. offset_ns: GPU
 * clock less CLOCK_MONOTONIC.
 */
void trace_kernel_close(struct trace_kernel *k, struct perfetto *p, int64_t offset_ns);

#endif
