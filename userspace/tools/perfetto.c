// SPDX-License-Identifier: MIT
/* Traces for Perfetto: see perfetto.h. */
#include "perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USCS	32u
#define LANES	48u	/* concurrent work-groups of a USC: its slots */

/* A work-group on its USC. */
struct lane {
	bool taken;
	uint64_t start, group;
	uint32_t context;
};

struct perfetto {
	FILE *file;
	uint64_t clock_hz;
	bool first;
	struct lane lane[USCS][LANES];
	uint64_t named[USCS];		/* bit n: lane n was named */
	uint64_t contexts;		/* bit n: context n's track of the driver was named */
	bool running;			/* the data master has a job */
	struct pumice_event_record job;	/* start of the job */
	uint64_t walks;			/* table walks so far */
};

static uint64_t to_ns(const struct perfetto *p, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000000u / p->clock_hz);
}

/* Write microseconds with a fraction, as the format requires. */
static void put_time(struct perfetto *p, const char *key, uint64_t ns)
{
	fprintf(p->file, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

static void put_text(struct perfetto *p, const char *text)
{
	fputc('"', p->file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', p->file);
		if ((unsigned char)*text >= ' ')
			fputc(*text, p->file);
	}
	fputc('"', p->file);
}

/* Write the head common to all events. */
static void begin(struct perfetto *p, const char *phase, enum perfetto_process process,
		  uint32_t track, const char *name)
{
	fprintf(p->file, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%" PRIu32 ",\"name\":",
		p->first ? "" : ",", phase, process, track);
	put_text(p, name);
	p->first = false;
}

static void end(struct perfetto *p)
{
	fputc('}', p->file);
}

static void put_name(struct perfetto *p, const char *what, enum perfetto_process process,
		     uint32_t track, const char *name)
{
	begin(p, "M", process, track, what);
	fputs(",\"args\":{\"name\":", p->file);
	put_text(p, name);
	fputc('}', p->file);
	end(p);
}

static void put_order(struct perfetto *p, enum perfetto_process process)
{
	begin(p, "M", process, 0, "process_sort_index");
	fprintf(p->file, ",\"args\":{\"sort_index\":%u}", process);
	end(p);
}

struct perfetto *perfetto_open(const char *path, uint64_t clock_hz)
{
	static const char *const names[] = {
		[PERFETTO_DRIVER] = "driver", [PERFETTO_FIRMWARE] = "firmware",
		[PERFETTO_CDM] = "compute data master", [PERFETTO_USC] = "USCs",
		[PERFETTO_MMU] = "MMU",
	};
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->file = fopen(path, "w");
	if (!p->file) {
		free(p);
		return NULL;
	}
	p->clock_hz = clock_hz;
	p->first = true;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", p->file);
	for (enum perfetto_process i = PERFETTO_DRIVER; i <= PERFETTO_MMU; i++) {
		put_name(p, "process_name", i, 0, names[i]);
		put_order(p, i);
	}
	put_name(p, "thread_name", PERFETTO_FIRMWARE, 0, "log");
	put_name(p, "thread_name", PERFETTO_CDM, 0, "jobs");
	put_name(p, "thread_name", PERFETTO_CDM, 1, "launches");
	put_name(p, "thread_name", PERFETTO_MMU, 0, "faults and invalidations");
	return p;
}

bool perfetto_close(struct perfetto *p)
{
	bool ok;

	fputs("\n]}\n", p->file);
	ok = !ferror(p->file);
	ok &= !fclose(p->file);
	free(p);
	return ok;
}

void perfetto_instant(struct perfetto *p, enum perfetto_process process, uint32_t track,
		      uint64_t ns, const char *name, const char *detail)
{
	begin(p, "i", process, track, name);
	put_time(p, "ts", ns);
	fputs(",\"s\":\"t\"", p->file);
	if (detail) {
		fputs(",\"args\":{\"detail\":", p->file);
		put_text(p, detail);
		fputc('}', p->file);
	}
	end(p);
}

/* Write an event with a duration. */
static void slice(struct perfetto *p, enum perfetto_process process, uint32_t track,
		  uint64_t from, uint64_t to, const char *name, const char *detail)
{
	begin(p, "X", process, track, name);
	put_time(p, "ts", from);
	put_time(p, "dur", to > from ? to - from : 0);
	fputs(",\"args\":{\"detail\":", p->file);
	put_text(p, detail);
	fputc('}', p->file);
	end(p);
}

void perfetto_job(struct perfetto *p, uint32_t context, uint32_t job, uint64_t from_ns,
		  uint64_t to_ns, const char *detail)
{
	char name[48];

	if (context < 64 && !(p->contexts >> context & 1)) {
		p->contexts |= 1ull << context;
		snprintf(name, sizeof(name), "context %" PRIu32, context);
		put_name(p, "thread_name", PERFETTO_DRIVER, context, name);
	}
	/* Queued jobs overlap in time, so this uses asynchronous events. */
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "context %" PRIu32 " job %" PRIu32, context, job);
		begin(p, i ? "e" : "b", PERFETTO_DRIVER, context, name);
		put_time(p, "ts", i ? to_ns : from_ns);
		fprintf(p->file, ",\"cat\":\"job\",\"id\":\"%" PRIu32 ".%" PRIu32 "\"", context,
			job);
		if (i) {
			fputs(",\"args\":{\"detail\":", p->file);
			put_text(p, detail);
			fputc('}', p->file);
		}
		end(p);
	}
}

static void counter(struct perfetto *p, enum perfetto_process process, uint64_t ns,
		    const char *name, uint64_t value)
{
	begin(p, "C", process, 0, name);
	put_time(p, "ts", ns);
	fprintf(p->file, ",\"args\":{\"value\":%" PRIu64 "}", value);
	end(p);
}

void perfetto_lost(struct perfetto *p, uint64_t ns, uint64_t events)
{
	char detail[48];

	snprintf(detail, sizeof(detail), "%" PRIu64 " events", events);
	perfetto_instant(p, PERFETTO_CDM, 0, ns, "lost events", detail);
	/* The lost events may include ends of work-groups. */
	memset(p->lane, 0, sizeof(p->lane));
	p->running = false;
}

static void job_end(struct perfetto *p, const struct pumice_event_record *e)
{
	static const char *const ends[] = { "done", "fault", "aborted", "switched out" };
	char name[48], detail[96];

	if (!p->running)
		return;
	p->running = false;
	snprintf(name, sizeof(name), "context %" PRIu32 "%s", p->job.context,
		 p->job.arg1 ? ", resumed" : "");
	snprintf(detail, sizeof(detail), "%s%s%s, stream 0x%" PRIx64,
		 e->arg1 < 4 ? ends[e->arg1] : "?", e->arg0 ? ": " : "",
		 e->arg0 ? pumice_fault_name((uint32_t)e->arg0) : "", p->job.arg0);
	slice(p, PERFETTO_CDM, 0, to_ns(p, p->job.time), to_ns(p, e->time), name, detail);
}

static void name_lane(struct perfetto *p, uint32_t usc, uint32_t lane)
{
	char name[32];

	if (p->named[usc] >> lane & 1)
		return;
	p->named[usc] |= 1ull << lane;
	snprintf(name, sizeof(name), "USC %" PRIu32 " / %" PRIu32, usc, lane);
	put_name(p, "thread_name", PERFETTO_USC, usc * LANES + lane, name);
}

static void group_start(struct perfetto *p, const struct pumice_event_record *e)
{
	struct lane *lanes = p->lane[e->usc % USCS];
	uint32_t i = 0;

	while (i < LANES && lanes[i].taken)
		i++;
	if (i == LANES)
		return;
	lanes[i] = (struct lane){ true, e->time, e->arg0, e->context };
	name_lane(p, e->usc % USCS, i);
}

static void group_end(struct perfetto *p, const struct pumice_event_record *e)
{
	struct lane *lanes = p->lane[e->usc % USCS];
	char name[48], detail[48];

	for (uint32_t i = 0; i < LANES; i++) {
		if (!lanes[i].taken || lanes[i].group != e->arg0)
			continue;
		lanes[i].taken = false;
		snprintf(name, sizeof(name), "group %" PRIu64, e->arg0);
		snprintf(detail, sizeof(detail), "context %" PRIu32, lanes[i].context);
		slice(p, PERFETTO_USC, e->usc % USCS * LANES + i, to_ns(p, lanes[i].start),
		      to_ns(p, e->time), name, detail);
		return;
	}
}

static void mmu_instant(struct perfetto *p, const struct pumice_event_record *e)
{
	char name[64], detail[96];

	if (e->kind == PUMICE_EVENT_MMU_FAULT) {
		snprintf(name, sizeof(name), "fault %s", pumice_fault_name(e->arg1 & 0xff));
		snprintf(detail, sizeof(detail), "0x%" PRIx64 " by %s, MMU context %u", e->arg0,
			 pumice_unit_name((uint32_t)(e->arg1 >> 8)), e->mmu_context);
	} else {
		snprintf(name, sizeof(name), "invalidation");
		snprintf(detail, sizeof(detail), "0x%" PRIx64 " to 0x%" PRIx64 ", MMU context %u",
			 e->arg0, e->arg1, e->mmu_context);
	}
	perfetto_instant(p, PERFETTO_MMU, 0, to_ns(p, e->time), name, detail);
}

void perfetto_event(struct perfetto *p, const struct pumice_event_record *e)
{
	char detail[64];

	switch (e->kind) {
	case PUMICE_EVENT_JOB_START:
		p->running = true;
		p->job = *e;
		break;
	case PUMICE_EVENT_JOB_END:
		job_end(p, e);
		break;
	case PUMICE_EVENT_LAUNCH:
		snprintf(detail, sizeof(detail), "%" PRIu64 " work-groups, command at 0x%" PRIx64,
			 e->arg0, e->arg1);
		perfetto_instant(p, PERFETTO_CDM, 1, to_ns(p, e->time), "launch", detail);
		break;
	case PUMICE_EVENT_GROUP_START:
		group_start(p, e);
		break;
	case PUMICE_EVENT_GROUP_END:
		group_end(p, e);
		break;
	case PUMICE_EVENT_MMU_FAULT:
	case PUMICE_EVENT_MMU_INVALIDATE:
		mmu_instant(p, e);
		break;
	case PUMICE_EVENT_MMU_WALK:
		counter(p, PERFETTO_MMU, to_ns(p, e->time), "table walks", ++p->walks);
		break;
	case PUMICE_EVENT_STALL:
		counter(p, PERFETTO_CDM, to_ns(p, e->time), "tasks when full", e->arg0);
		break;
	}
}
