/* SPDX-License-Identifier: MIT */
/*
 * Traces for Perfetto: its documented JSON form ("Trace Event Format"), which
 * ui.perfetto.dev and chrome://tracing read.
 *
 * A process is a block of the GPU, the driver or the firmware; a thread is one of
 * its tracks. Times are those of the GPU clock, in ns.
 */
#ifndef PUMICE_TOOLS_PERFETTO_H
#define PUMICE_TOOLS_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#include <pumice/pumice.h>

struct perfetto;

/* Tracks. */
enum perfetto_process {
	PERFETTO_DRIVER = 1,	/* a track for each context */
	PERFETTO_FIRMWARE,
	PERFETTO_CDM,
	PERFETTO_USC,		/* tracks for each USC, one for each work-group at a time */
	PERFETTO_MMU,
};

/* Begin a file; NULL if it cannot be created. clock_hz: GPU clock ticks per second. */
struct perfetto *perfetto_open(const char *path, uint64_t clock_hz);
/* End it. False if it could not be written completely. */
bool perfetto_close(struct perfetto *p);

/* Write an event of the GPU; call in the order of events. */
void perfetto_event(struct perfetto *p, const struct pumice_event_record *event);
/* Record that events were lost at this time. */
void perfetto_lost(struct perfetto *p, uint64_t ns, uint64_t events);

/* Write an instant event on a track; detail may be NULL. */
void perfetto_instant(struct perfetto *p, enum perfetto_process process, uint32_t track,
		      uint64_t ns, const char *name, const char *detail);
/* Write the interval in which a job of the driver was queued in the firmware. */
void perfetto_job(struct perfetto *p, uint32_t context, uint32_t job, uint64_t from_ns,
		  uint64_t to_ns, const char *detail);

#endif
