/* SPDX-License-Identifier: MIT */
/* Kernel information about a GPU's jobs: the driver's trace events (tracefs). Needs root. */
#ifndef PUMICE_TOOLS_TRACE_KERNEL_H
#define PUMICE_TOOLS_TRACE_KERNEL_H

#include "perfetto.h"

struct trace_kernel;

/* Begin: enable the driver's events. NULL, with a reason in *error, if there are none. */
struct trace_kernel *trace_kernel_open(const char **error);
/*
 * End: restore all settings, and add the events. offset_ns: GPU clock minus CLOCK_MONOTONIC.
 * Return: the number of events that were lost since the buffer was full.
 */
uint64_t trace_kernel_close(struct trace_kernel *k, struct perfetto *p, int64_t offset_ns);

#endif
