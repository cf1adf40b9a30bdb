/* SPDX-License-Identifier: MIT */
/*
 * Traces for Perfetto: its documented JSON form ("Trace Event Format"), which
 * ui.perfetto.dev and chrome://tracing read.
 *
 * A process is the driver, the firmware, a core, a USC or another block of the GPU; a thread
 * is one of its tracks. Times are those of the GPU clock, in ns. Everything is stored until
 * the end and written in the order of time, since the owners of contexts are reported late.
 *
 * perfetto.c stores and writes; perfetto_units.c assigns records to tracks.
 */
#ifndef PUMICE_TOOLS_PERFETTO_H
#define PUMICE_TOOLS_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#include <pumice/pumice.h>

struct perfetto;

/*
 * Begin a file; NULL if it cannot be opened. It is truncated only when it is written.
 * path: valid until the file is closed; clock_hz: GPU clock ticks per second.
 */
struct perfetto *perfetto_open(const char *path, uint64_t clock_hz);
/*
 * Write and end it. False if it could not be written completely. *dropped: events that were not
 * stored, because PERFETTO_MAX_EVENTS were, or memory was exhausted; they are marked as lost.
 */
bool perfetto_close(struct perfetto *p, uint64_t *dropped);
/* End without writing: an existing file keeps its contents, and none is created. */
void perfetto_discard(struct perfetto *p);

#define PERFETTO_MAX_EVENTS (1u << 24)	/* about 1 GB */

/* Add an event of the GPU. */
void perfetto_event(struct perfetto *p, const struct pumice_event_record *event);
/*
 * Record that events were lost before this time, ticks of the GPU clock. 0 events: none were, but
 * the GPU is another one from now on, on which nothing has begun.
 */
void perfetto_lost(struct perfetto *p, uint64_t ticks, uint64_t events);

#define PERFETTO_ANY_CONTEXT UINT32_MAX
/*
 * A context, or each that has no owner of its own, belongs to a process from this time until
 * another owner of the same id.
 */
void perfetto_owner(struct perfetto *p, uint32_t context, uint64_t from_ns, uint32_t pid,
		    const char *name);

/* Add a sample of a counter of the memory hierarchy. Samples are in the order of time. */
void perfetto_sample(struct perfetto *p, uint64_t ns, const char *name, uint64_t value);

/* Add an instant event of the driver about a context; detail may be NULL. */
void perfetto_instant(struct perfetto *p, uint32_t context, uint64_t ns, const char *name,
		      const char *detail);
/* Add the interval in which a job of the driver was queued in the firmware. */
void perfetto_job(struct perfetto *p, uint32_t context, uint32_t job, uint64_t from_ns,
		  uint64_t to_ns, const char *detail);

#endif
