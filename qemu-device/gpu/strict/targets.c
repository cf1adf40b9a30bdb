// SPDX-License-Identifier: MIT
/* Mode strict: texture reads of targets. See targets.h. */
#include "targets.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WAYS		4u	/* lines with the same hash */
#define SETS		(TARGETS_LINES / WAYS)

/* Bytes of a line that a job has accessed. */
struct line {
	u64 va;
	u64 bytes;	/* a mask, in the phase of the last access */
	u64 before;	/* the same, in earlier phases */
	u64 used;	/* by targets.time */
	u32 job;	/* 0: the line is not used */
	u32 phase;	/* of the context, at the last access */
	u8 ctx;
	struct lines_writer place;	/* of the last access */
};

/* A job that runs; number 0: none does. */
struct job {
	u32 number;
	u64 tag;
};

struct targets {
	u32 storing;	/* data master; constant */
	pthread_mutex_t lock;	/* guards the rest; a leaf */
	u32 jobs;	/* so far */
	u64 time;
	struct job job[TARGETS_MASTERS];
	u32 phase[PUMICE_MMU_CONTEXTS];	/* counts FLUSH */
	struct line stored[SETS][WAYS], read[SETS][WAYS];
};

struct targets *targets_create(u32 storing)
{
	struct targets *targets = calloc(1, sizeof(*targets));

	if (!targets)
		return NULL;
	targets->storing = storing;
	pthread_mutex_init(&targets->lock, NULL);
	return targets;
}

void targets_destroy(struct targets *targets)
{
	if (!targets)
		return;
	pthread_mutex_destroy(&targets->lock);
	free(targets);
}

void targets_job_begin(struct targets *targets, u32 master, u64 tag)
{
	if (!targets)
		return;
	pthread_mutex_lock(&targets->lock);
	targets->jobs += targets->jobs == UINT32_MAX ? 2 : 1;
	targets->job[master] = (struct job){ .number = targets->jobs, .tag = tag };
	pthread_mutex_unlock(&targets->lock);
}

void targets_job_end(struct targets *targets, u32 master)
{
	if (!targets)
		return;
	pthread_mutex_lock(&targets->lock);
	targets->job[master].number = 0;
	pthread_mutex_unlock(&targets->lock);
}

void targets_reset(struct targets *targets)
{
	if (!targets)
		return;
	pthread_mutex_lock(&targets->lock);
	memset(targets->job, 0, sizeof(targets->job));
	pthread_mutex_unlock(&targets->lock);
}

void targets_flush(struct targets *targets, unsigned int ctx)
{
	if (!targets)
		return;
	pthread_mutex_lock(&targets->lock);
	targets->phase[ctx]++;
	pthread_mutex_unlock(&targets->lock);
}

/* ------------------------------------------------------------------- lines */

static struct line *set_of(struct line (*lines)[WAYS], unsigned int ctx, u64 va)
{
	const u64 line = va / LINES_BYTES;

	return lines[(line ^ line / SETS ^ ctx * 37) % SETS];
}

/* Return the mask of the bytes of an access in the line at va. */
static u64 bytes_of(const struct targets_access *a, u64 va)
{
	return lines_mask(va, a->va, a->va + a->bytes);
}

/* Return the data master that runs a job, or TARGETS_MASTERS. */
static u32 master_of(const struct targets *targets, u32 job)
{
	u32 n;

	for (n = 0; n < TARGETS_MASTERS; n++)
		if (job && targets->job[n].number == job)
			break;
	return n;
}

/* Add the bytes of an access to its line at va. A line of another job is replaced. */
static void remember(struct targets *targets, struct line (*lines)[WAYS],
		     const struct targets_access *a, u64 va)
{
	struct line *set = set_of(lines, a->ctx, va), *l, *to = set;
	const u32 job = targets->job[a->master].number;

	for (l = set; l < set + WAYS; l++) {
		if (l->job == job && l->ctx == a->ctx && l->va == va) {
			to = l;
			break;
		}
		if (l->used < to->used)
			to = l;
	}
	if (l == set + WAYS)
		*to = (struct line){ .va = va, .job = job, .ctx = (u8)a->ctx };
	if (to->phase != targets->phase[a->ctx]) {
		to->before |= to->bytes;
		to->bytes = 0;
	}
	to->bytes |= bytes_of(a, va);
	to->phase = targets->phase[a->ctx];
	to->used = ++targets->time;
	to->place = a->place;
}

/* Return the bytes of a line that a job has accessed, without those that a FLUSH orders for it. */
static u64 accessed(const struct targets *targets, const struct line *l, bool same_job)
{
	if (!same_job)
		return l->before | l->bytes;
	return l->phase == targets->phase[l->ctx] ? l->bytes : 0;
}

/* Find bytes that jobs which run have accessed, of the line at va. */
static bool find(struct targets *targets, struct line (*lines)[WAYS],
		 const struct targets_access *a, u64 va, struct targets_other *other)
{
	struct line *set = set_of(lines, a->ctx, va), *l;

	for (l = set; l < set + WAYS; l++) {
		const u32 master = master_of(targets, l->job);
		const u64 bytes = accessed(targets, l, master == a->master) & bytes_of(a, va);

		if (master == TARGETS_MASTERS || l->ctx != a->ctx || l->va != va || !bytes)
			continue;
		*other = (struct targets_other){
			.master = master, .tag = targets->job[master].tag,
			.va = va + (u64)__builtin_ctzll(bytes),
			.same_job = master == a->master, .place = l->place,
		};
		return true;
	}
	return false;
}

/* Compare an access with the lines of the other kind, and add it to those of its own, if any. */
static bool compare(struct targets *targets, const struct targets_access *a,
		    struct line (*others)[WAYS], struct line (*own)[WAYS],
		    struct targets_other *other)
{
	const u64 end = a->va + a->bytes;
	bool found = false;
	u64 va;

	pthread_mutex_lock(&targets->lock);
	for (va = a->va & ~(u64)(LINES_BYTES - 1); va < end && targets->job[a->master].number;
	     va += LINES_BYTES) {
		if (!found)
			found = find(targets, others, a, va, other);
		if (own)
			remember(targets, own, a, va);
	}
	pthread_mutex_unlock(&targets->lock);
	return found;
}

bool targets_store(struct targets *targets, const struct targets_access *store,
		   struct targets_other *other)
{
	return targets && compare(targets, store, targets->read, targets->stored, other);
}

bool targets_read(struct targets *targets, const struct targets_access *read,
		  struct targets_other *other)
{
	/* The job that stores may read its target before: see the limits. */
	const bool keep = targets && read->master != targets->storing;

	return targets && compare(targets, read, targets->stored, keep ? targets->read : NULL,
				  other);
}
