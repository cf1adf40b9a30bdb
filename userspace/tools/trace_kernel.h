/* SPDX-License-Identifier: MIT */
/*
 * Kernel information about a GPU's jobs: the driver's trace events
 * (tracefs) and the firmware's log (debugfs). Both need root.
 */
#ifndef PUMICE_TOOLS_TRACE_KERNEL_H
#define PUMICE_TOOLS_TRACE_KERNEL_H

#include "perfetto.h"

struct trace_kernel;

/*
 * Begin: enable the driver's events and all firmware logs. NULL,
 * with a reason in *error, if one of the two is not available.
 */
struct trace_kernel *trace_kernel_open(const char **error);
/* Read the new firmware log; call it before its ring wraps. */
void trace_kernel_poll(struct trace_kernel *k, struct perfetto *p);
/*
 * End: restore all settings, and add the rest to the
 * trace. offset_ns: GPU clock minus CLOCK_MONOTONIC.
 */
void trace_kernel_close(struct trace_kernel *k, struct perfetto *p, int64_t offset_ns);

#endif
