// SPDX-License-Identifier: MIT
/* Traces for Perfetto: storage and the JSON file. See perfetto.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "perfetto_internal.h"

#define FIRST_ROOM 4096u

uint64_t pf_ns(const struct perfetto *p, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000000u / p->clock_hz);
}

/* ------------------------------------------------------------------- storage */

struct perfetto *perfetto_open(const char *path, uint64_t clock_hz)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	int fd = p ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;

	if (fd >= 0)
		p->created = path;
	else if (p && errno == EEXIST)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		p->file = fdopen(fd, "w");
	if (fd < 0 || !p->file) {
		if (fd >= 0)
			close(fd);
		free(p);
		return NULL;
	}
	p->clock_hz = clock_hz;
	return p;
}

/* Make room for one record. */
static bool make_room(struct perfetto *p)
{
	uint64_t room = p->record_room ? p->record_room * 2 : FIRST_ROOM;
	struct pf_record *more;

	if (p->record_count < p->record_room)
		return true;
	if (room > PERFETTO_MAX_EVENTS)
		return false;
	more = realloc(p->records, room * sizeof(*more));
	if (!more)
		return false;
	p->records = more;
	p->record_room = room;
	return true;
}

void perfetto_event(struct perfetto *p, const struct pumice_event_record *event)
{
	/* After the first event that is not stored, the later ones would have the wrong order. */
	if (p->dropped || !make_room(p)) {
		p->dropped += event->kind ? 1 : event->arg0;
		return;
	}
	p->records[p->record_count] = (struct pf_record){ *event, p->record_count };
	p->record_count++;
}

void perfetto_lost(struct perfetto *p, uint64_t ticks, uint64_t events)
{
	perfetto_event(p, &(struct pumice_event_record){ .time = ticks, .arg0 = events });
}

const struct pf_owner *pf_owner_at(const struct perfetto *p, uint32_t context, uint64_t ns)
{
	const struct pf_owner *best = NULL;

	/* Owners are sorted by time; the first one is assumed before its first record. */
	for (uint32_t i = 0; i < p->owner_count; i++)
		if ((p->owners[i].context == context ||
		     p->owners[i].context == PERFETTO_ANY_CONTEXT) &&
		    (!best || p->owners[i].from_ns <= ns))
			best = &p->owners[i];
	return best;
}

void perfetto_owner(struct perfetto *p, uint32_t context, uint64_t from_ns, uint32_t pid,
		    const char *name)
{
	const struct pf_owner *last = pf_owner_at(p, context, UINT64_MAX);
	struct pf_owner *more;

	if (last && last->pid == pid && !strncmp(last->name, name, sizeof(last->name) - 1))
		return;
	more = realloc(p->owners, (p->owner_count + 1) * sizeof(*more));
	if (!more)
		return;
	p->owners = more;
	more += p->owner_count++;
	*more = (struct pf_owner){ .context = context, .pid = pid, .from_ns = from_ns };
	snprintf(more->name, sizeof(more->name), "%s", name);
}

static void add_driver(struct perfetto *p, const struct pf_driver *event, const char *name,
		       const char *detail)
{
	struct pf_driver *more = realloc(p->driver, (p->driver_count + 1) * sizeof(*more));

	if (!more) {
		p->driver_dropped++;
		return;
	}
	p->driver = more;
	more += p->driver_count++;
	*more = *event;
	more->name = name ? strdup(name) : NULL;
	more->detail = detail ? strdup(detail) : NULL;
}

void perfetto_instant(struct perfetto *p, uint32_t context, uint64_t ns, const char *name,
		      const char *detail)
{
	add_driver(p, &(struct pf_driver){ .context = context, .from_ns = ns }, name, detail);
}

void perfetto_job(struct perfetto *p, uint32_t context, uint32_t job, uint64_t from_ns,
		  uint64_t to_ns, const char *detail)
{
	add_driver(p, &(struct pf_driver){ context, job, from_ns, to_ns, NULL, NULL }, NULL,
		   detail);
}

void perfetto_sample(struct perfetto *p, uint64_t ns, const char *name, uint64_t value)
{
	struct pf_sample *sample;

	if (p->sample_count == p->sample_room) {
		const uint64_t room = p->sample_room ? 2 * p->sample_room : 1024;
		struct pf_sample *more = p->sample_count < PERFETTO_MAX_EVENTS ?
			realloc(p->samples, room * sizeof(*more)) : NULL;

		if (!more) {
			p->driver_dropped++;
			return;
		}
		p->samples = more;
		p->sample_room = room;
	}
	sample = &p->samples[p->sample_count++];
	*sample = (struct pf_sample){ .ns = ns, .value = value };
	snprintf(sample->name, sizeof(sample->name), "%s", name);
}

/* ---------------------------------------------------------------------- JSON */

/* Write microseconds with a fraction, as the format requires. */
static void put_time(struct perfetto *p, uint64_t ns)
{
	fprintf(p->file, ",\"ts\":%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
}

/* Names of processes may have any byte but 0: the file is ASCII. */
static void put_text(struct perfetto *p, const char *text)
{
	fputc('"', p->file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', p->file);
		fputc(*text >= ' ' && *text <= '~' ? *text : '?', p->file);
	}
	fputc('"', p->file);
}

/* Write the head common to all events. */
static void begin(struct perfetto *p, const char *phase, uint32_t process, uint32_t track,
		  const char *name)
{
	fprintf(p->file, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"name\":",
		p->first ? "" : ",", phase, process, track);
	put_text(p, name);
	p->first = false;
}

static void put_meta(struct perfetto *p, const char *what, uint32_t process, uint32_t track,
		     const char *name)
{
	begin(p, "M", process, track, what);
	fputs(",\"args\":{\"name\":", p->file);
	put_text(p, name);
	fputs("}}", p->file);
}

static void put_order(struct perfetto *p, const char *what, uint32_t process, uint32_t track,
		      uint32_t order)
{
	begin(p, "M", process, track, what);
	fprintf(p->file, ",\"args\":{\"sort_index\":%" PRIu32 "}}", order);
}

void pf_name(struct perfetto *p, uint32_t process, const char *name, uint32_t track,
	     const char *track_name)
{
	if (!p->named[process]) {
		p->named[process] = true;
		put_meta(p, "process_name", process, 0, name);
		put_order(p, "process_sort_index", process, 0, process);
	}
	if (p->track_named[process][track])
		return;
	p->track_named[process][track] = true;
	put_meta(p, "thread_name", process, track, track_name);
	put_order(p, "thread_sort_index", process, track, track);
}

static void put_owner(struct perfetto *p, const struct pf_owner *owner)
{
	char text[96];

	snprintf(text, sizeof(text), "%s (%" PRIu32 ")", owner->name, owner->pid);
	fputs(",\"process\":", p->file);
	put_text(p, text);
}

static void put_args(struct perfetto *p, uint64_t ns, const struct pf_args *a)
{
	const struct pumice_event_record *e = a->event;
	const uint32_t *context = e ? &e->context : a->context;
	const struct pf_owner *owner;

	fputs(",\"args\":{\"detail\":", p->file);
	put_text(p, a->detail ? a->detail : "");
	if (a->key)
		fprintf(p->file, ",\"%s\":%" PRIu64, a->key, a->value);
	if (e && p->job[e->dm % PF_MASTERS])
		fprintf(p->file, ",\"job\":%" PRIu32, p->job[e->dm % PF_MASTERS]);
	if (context) {
		fprintf(p->file, ",\"context\":%" PRIu32, *context);
		owner = pf_owner_at(p, *context, ns);
		if (owner)
			put_owner(p, owner);
	}
	fputs("}}", p->file);
}

void pf_begin(struct perfetto *p, uint32_t process, uint32_t track, uint64_t ns,
	      const char *name, const struct pf_args *args)
{
	if (p->open[process][track])
		pf_end(p, process, track, ns, &(struct pf_args){ .detail = "its end is missing" });
	p->open[process][track] = true;
	begin(p, "B", process, track, name);
	put_time(p, ns);
	put_args(p, ns, args);
}

void pf_end(struct perfetto *p, uint32_t process, uint32_t track, uint64_t ns,
	    const struct pf_args *args)
{
	if (!p->open[process][track])
		return;
	p->open[process][track] = false;
	fprintf(p->file, ",\n{\"ph\":\"E\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, process, track);
	put_time(p, ns);
	put_args(p, ns, args);
}

void pf_end_all(struct perfetto *p, uint64_t ns, const char *why)
{
	for (uint32_t i = 0; i < PF_PROCESSES; i++)
		for (uint32_t t = 0; t < PF_TRACKS; t++)
			pf_end(p, i, t, ns, &(struct pf_args){ .detail = why });
	memset(p->lane, 0, sizeof(p->lane));
}

void pf_point(struct perfetto *p, uint32_t process, uint32_t track, uint64_t ns,
	      const char *name, const struct pf_args *args)
{
	begin(p, "i", process, track, name);
	put_time(p, ns);
	fputs(",\"s\":\"t\"", p->file);
	put_args(p, ns, args);
}

void pf_counter(struct perfetto *p, uint32_t process, uint64_t ns, const char *name,
		uint64_t value)
{
	begin(p, "C", process, 0, name);
	put_time(p, ns);
	fprintf(p->file, ",\"args\":{\"value\":%" PRIu64 "}}", value);
}

/* ------------------------------------------------------------- driver's events */

/* Number of the track of a context's owner, and its name. 0: no context. */
static uint32_t driver_track(struct perfetto *p, const struct pf_driver *d)
{
	const struct pf_owner *owner = pf_owner_at(p, d->context, d->from_ns);

	return owner ? (uint32_t)(owner - p->owners) + 1 : 0;
}

static void name_driver(struct perfetto *p)
{
	char name[128];

	put_meta(p, "process_name", PF_DRIVER, 0, "driver");
	put_order(p, "process_sort_index", PF_DRIVER, 0, PF_DRIVER);
	put_meta(p, "thread_name", PF_DRIVER, 0, "events of no process");
	for (uint32_t i = 0; i < p->owner_count; i++) {
		const struct pf_owner *o = &p->owners[i];

		if (o->context == PERFETTO_ANY_CONTEXT)
			snprintf(name, sizeof(name), "%s (%" PRIu32 ")", o->name, o->pid);
		else
			snprintf(name, sizeof(name), "%s (%" PRIu32 "), context %" PRIu32, o->name,
				 o->pid, o->context);
		put_meta(p, "thread_name", PF_DRIVER, i + 1, name);
	}
}

/* Queued jobs overlap in time, so this uses asynchronous events. */
static void put_job(struct perfetto *p, const struct pf_driver *d, uint32_t track)
{
	char name[48];

	snprintf(name, sizeof(name), "context %" PRIu32 " job %" PRIu32, d->context, d->job);
	for (int i = 0; i < 2; i++) {
		begin(p, i ? "e" : "b", PF_DRIVER, track, name);
		put_time(p, i ? d->to_ns : d->from_ns);
		fprintf(p->file, ",\"cat\":\"job\",\"id\":\"%" PRIu32 ".%" PRIu32 ".%" PRIu32
			"\"", track, d->context, d->job);
		put_args(p, d->from_ns, &(struct pf_args){ .detail = i ? d->detail : NULL });
	}
}

static int compare_driver(const void *a, const void *b)
{
	const struct pf_driver *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void put_driver(struct perfetto *p)
{
	name_driver(p);
	if (p->driver_count)
		qsort(p->driver, p->driver_count, sizeof(*p->driver), compare_driver);
	for (uint32_t i = 0; i < p->driver_count; i++) {
		struct pf_driver *d = &p->driver[i];

		if (d->to_ns)
			put_job(p, d, driver_track(p, d));
		else
			pf_point(p, PF_DRIVER, driver_track(p, d), d->from_ns,
				 d->name ? d->name : "?", &(struct pf_args){ .detail = d->detail });
	}
}

/* ------------------------------------------------------------------- the file */

static int compare(const void *a, const void *b)
{
	const struct pf_record *x = a, *y = b;

	if (x->event.time != y->event.time)
		return x->event.time < y->event.time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void put_records(struct perfetto *p)
{
	uint64_t last = 0;

	if (p->record_count)
		qsort(p->records, p->record_count, sizeof(*p->records), compare);
	for (uint64_t i = 0; i < p->record_count; i++) {
		pf_record(p, &p->records[i].event);
		last = p->records[i].event.time;
	}
	if (p->dropped)
		pf_record(p, &(struct pumice_event_record){ .time = last, .arg0 = p->dropped });
	pf_end_all(p, pf_ns(p, last), "the trace ends before");
}

static void put_samples(struct perfetto *p)
{
	uint64_t i;

	for (i = 0; i < p->sample_count; i++) {
		const struct pf_sample *s = &p->samples[i];

		pf_name(p, PF_HIERARCHY, "memory hierarchy", 0, "counts");
		pf_counter(p, PF_HIERARCHY, s->ns, s->name, s->value);
	}
}

/* Remove the former contents of a file; pipes and devices, EINVAL, have none. */
static bool truncate_file(FILE *file)
{
	return !ftruncate(fileno(file), 0) || errno == EINVAL;
}

/* Close the file, and free everything. Return: whether all of it was written. */
static bool release(struct perfetto *p)
{
	bool ok = !ferror(p->file);

	ok &= !fclose(p->file);
	for (uint32_t i = 0; i < p->driver_count; i++) {
		free(p->driver[i].name);
		free(p->driver[i].detail);
	}
	free(p->records);
	free(p->owners);
	free(p->driver);
	free(p->samples);
	free(p);
	return ok;
}

bool perfetto_close(struct perfetto *p, uint64_t *dropped)
{
	bool ok = truncate_file(p->file);

	*dropped = p->dropped + p->driver_dropped;
	p->first = true;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", p->file);
	put_driver(p);
	put_records(p);
	put_samples(p);
	fputs("\n]}\n", p->file);
	return release(p) && ok;
}

void perfetto_discard(struct perfetto *p)
{
	if (p->created)
		unlink(p->created);
	release(p);
}
