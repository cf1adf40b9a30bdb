/* SPDX-License-Identifier: MIT */
/* Kernel information about a GPU's jobs: the driver's trace events (tracefs). Needs root. */
#ifndef PUMICE_TOOLS_TRACE_KERNEL_H
#define PUMICE_TOOLS_TRACE_KERNEL_H

#include "perfetto.h"

#define TRACE_KERNEL_TRACEFS "/sys/kernel/tracing"

struct trace_kernel;

/*
 * Return the records that a trace of a GPU with these versions of register map and firmware
 * interface does not have, as a text; NULL if it has all. See Documentation/versions.rst.
 */
const char *trace_kernel_missing(uint32_t version, uint32_t fw_version);
/*
 * Begin: enable the driver's events in this tracefs. NULL, with a reason in *error, if there are
 * none.
 */
struct trace_kernel *trace_kernel_open(const char *tracefs, const char **error);
/*
 * End: restore all settings, and add the events. offset_ns: GPU clock minus CLOCK_MONOTONIC.
 * Return: the number of events that were lost since the buffer was full.
 */
uint64_t trace_kernel_close(struct trace_kernel *k, struct perfetto *p, int64_t offset_ns);

#endif
