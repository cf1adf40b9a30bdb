/* SPDX-License-Identifier: MIT */
/* Traces for Perfetto: state shared by perfetto.c and perfetto_units.c. */
#ifndef PUMICE_TOOLS_PERFETTO_INTERNAL_H
#define PUMICE_TOOLS_PERFETTO_INTERNAL_H

#include <stdio.h>

#include "perfetto.h"

#define PF_CORES	16u
#define PF_USCS		64u
#define PF_TRACKS	64u	/* of a process */
#define PF_MASTERS	5u

/* Processes. */
enum {
	PF_DRIVER = 1,	/* a track for each owner of a context */
	PF_FIRMWARE,
	PF_JOBS,	/* data masters */
	PF_PM,
	PF_MMU,
	PF_HIERARCHY,
	PF_CORE0 = 10,
	PF_USC0 = PF_CORE0 + PF_CORES,
	PF_PROCESSES = PF_USC0 + PF_USCS,
};

struct pf_owner {
	uint32_t context, pid;
	uint64_t from_ns;
	char name[64];
};

/* A stored record; lost events are a record of kind 0 with their number in arg0. */
struct pf_record {
	struct pumice_event_record event;
	uint64_t number;	/* order of arrival */
};

/* An event of the driver. */
struct pf_driver {
	uint32_t context, job;
	uint64_t from_ns, to_ns;	/* to_ns 0: an instant */
	char *name, *detail;		/* or NULL */
};

/* A sample of a counter. */
struct pf_sample {
	uint64_t ns, value;
	char name[64];
};

/* Arguments of an event: values that are not 0 or NULL are written. */
struct pf_args {
	const struct pumice_event_record *event;	/* of a job: its context, process, number */
	const char *detail;
	const char *key;	/* of value */
	uint64_t value;
	const uint32_t *context;	/* without an event; or NULL */
};

/* A work-group or task on a USC. */
struct pf_lane {
	bool taken;
	uint8_t kind;
	uint64_t number;
};

struct perfetto {
	FILE *file;
	const char *created;	/* path, if there was no such file; else NULL */
	uint64_t clock_hz;
	bool first;

	struct pf_record *records;
	uint64_t record_count, record_room;
	uint64_t dropped;		/* without memory, or beyond PERFETTO_MAX_EVENTS */
	uint64_t driver_dropped;	/* the same, of the driver and of samples */
	struct pf_owner *owners;
	uint32_t owner_count;
	struct pf_driver *driver;
	uint32_t driver_count;
	struct pf_sample *samples;
	uint64_t sample_count, sample_room;

	/* While records are written. */
	bool named[PF_PROCESSES];
	bool track_named[PF_PROCESSES][PF_TRACKS];
	bool open[PF_PROCESSES][PF_TRACKS];	/* a slice is open */
	struct pf_lane lane[PF_USCS][PF_TRACKS];
	uint32_t job[PF_MASTERS];		/* sequence number of the running job */
	uint64_t walks, pages;
};

/* perfetto.c */
uint64_t pf_ns(const struct perfetto *p, uint64_t ticks);
/* Return the owner of a context at a time, or NULL. */
const struct pf_owner *pf_owner_at(const struct perfetto *p, uint32_t context, uint64_t ns);
/* Name a process and one of its tracks, once. */
void pf_name(struct perfetto *p, uint32_t process, const char *name, uint32_t track,
	     const char *track_name);
/* Begin and end a slice of a track. Beginning one ends the previous; only open ones end. */
void pf_begin(struct perfetto *p, uint32_t process, uint32_t track, uint64_t ns,
	      const char *name, const struct pf_args *args);
void pf_end(struct perfetto *p, uint32_t process, uint32_t track, uint64_t ns,
	    const struct pf_args *args);
void pf_end_all(struct perfetto *p, uint64_t ns, const char *why);
void pf_point(struct perfetto *p, uint32_t process, uint32_t track, uint64_t ns,
	      const char *name, const struct pf_args *args);
void pf_counter(struct perfetto *p, uint32_t process, uint64_t ns, const char *name,
		uint64_t value);

/* perfetto_units.c: write a record; they are passed in the order of time. */
void pf_record(struct perfetto *p, const struct pumice_event_record *event);

#endif
