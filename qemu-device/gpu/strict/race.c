// SPDX-License-Identifier: MIT
/*
 * Mode strict: races in memory between waves of all work-groups and jobs.
 *
 * Source: hw/isa.xml, mem_fence and barrier; hw/formats.xml, stream cdm. Two accesses of different
 * waves to one byte are a race if one of them writes, not both are atomic, and neither happens
 * before the other; a load and a compare-and-exchange operation are none:
 *
 * - Waves of a work-group are ordered by the vector clocks of usc/watch.c.
 * - A work-group is ordered after another one of its compute job by a command of its stream between
 *   them that waits for launches, and after those of a job that has ended before its own was ready:
 *   one that could have begun earlier does not depend on it, even if its data master was busy.
 * - A fence of scope core is after all earlier fences of its core, one of a larger scope after all
 *   of the GPU, and each publishes the accesses that precede it. Fences are numbered. A work-group
 *   keeps, for its fences, the clocks of its waves that they publish; a wave keeps the number of
 *   the last fence that it is after.
 *
 * The shadow has the last write and two reads of each word of four bytes, with the bytes that these
 * are of, in blocks of 64 bytes. When no more blocks can be used, a new one replaces the one that
 * was accessed first longest ago, at any address of the host; one of a bucket that is full replaces
 * the oldest of it.
 *
 * Limits, in which a race is not found: bytes of replaced blocks, accesses of work-groups before
 * the last RACE_GROUPS, of jobs before the last RACE_JOBS, before the last RACE_EVENTS fences of
 * their work-group. Of writes of different bytes of a word the last one is kept. If it is not known
 * when a job was ready, all that ended before it began precede it. Accesses within a graphics or
 * ray tracing job are not compared, since pixels have an order that waves do not show. A fence of a
 * core may be mistaken for one that others have forwarded. Fences order all accesses in the order
 * in which they were executed, as in usc/watch.c.
 */
#include "race.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "minmax.h"

#define RACE_READS	2u	/* of a word that are kept */
#define RACE_WORDS	16u	/* of a block */
#define RACE_BLOCK_BYTES (RACE_WORDS * 4u)
#define RACE_CHUNK	256u	/* blocks that are allocated together */
#define RACE_BLOCKS	65536u	/* most of them: 4 MiB of memory are watched */
#define RACE_BUCKETS	16384u	/* a power of two */
#define RACE_CHAIN	16u	/* blocks of a bucket */
#define RACE_GROUPS	16384u
#define RACE_JOBS	1024u
#define RACE_EVENTS	8u	/* fences of a work-group that are kept */

/* An access; group 0: there is none. */
struct mark {
	u32 group;
	u32 clock;
	u16 pc;
	u16 wave : 5;
	u16 lane : 5;
	u16 bytes : 4;	/* of the word, a mask */
	u16 atomic : 1;
	u16 compares : 1;
};

struct word {
	struct mark write;
	struct mark read[RACE_READS];
};

struct block {
	const u8 *host;
	u32 next;	/* of its bucket: number + 1, or 0 */
	struct word word[RACE_WORDS];
};

/* A fence of a work-group, and the clocks that it publishes. */
struct event {
	u64 number;
	bool device;
	u32 before[RACE_WAVES];
};

/* Fences of a work-group, the last ones. */
struct events {
	u32 count;			/* of all */
	u32 dropped[RACE_WAVES];	/* clocks that a dropped one has published */
	struct event event[RACE_EVENTS];
};

struct group {
	u32 number;
	u32 job;
	u32 phase;	/* of the compute job */
	struct race_group is;
	struct events *events;	/* or NULL */
};

struct job {
	u32 number;
	u64 tag;
	u64 begin, end;	/* by race.time; end 0: it runs */
	/* By the clock of the GPU; 0: not known. */
	u64 ready, end_clock;
};

struct race {
	pthread_mutex_t lock;
	u64 time;	/* events so far: fences, beginnings and ends of jobs */
	u32 jobs, groups;	/* so far */
	u32 phase;	/* counter: changes when launches are ordered */
	u32 running[PUMICE_WAVE_MASTER_COUNT];	/* job of each, or 0 */
	u64 forwarded[PUMICE_MAX_CORES];	/* number of the core's last fence of the GPU */
	struct job job[RACE_JOBS];
	struct group group[RACE_GROUPS];

	u32 used;	/* blocks */
	u32 oldest;	/* next one that is replaced, when no more can be used */
	bool full;
	u64 compared;	/* blocks, so far */
	u32 bucket[RACE_BUCKETS];	/* number of its first block + 1, or 0 */
	struct block *chunk[RACE_BLOCKS / RACE_CHUNK];
};

struct race *race_create(void)
{
	struct race *race = calloc(1, sizeof(*race));

	if (race)
		pthread_mutex_init(&race->lock, NULL);
	return race;
}

void race_destroy(struct race *race)
{
	if (!race)
		return;
	for (u32 n = 0; n < RACE_GROUPS; n++)
		free(race->group[n].events);
	for (u32 n = 0; n < RACE_BLOCKS / RACE_CHUNK; n++)
		free(race->chunk[n]);
	pthread_mutex_destroy(&race->lock);
	free(race);
}

/* ------------------------------------------------------------------- jobs */

/* The same as race_job_begin(); lock held. */
static void begin_job(struct race *race, enum pumice_wave_master master, u64 tag, u64 ready)
{
	struct job *job;

	race->jobs += race->jobs == UINT32_MAX ? 2 : 1;
	job = &race->job[race->jobs % RACE_JOBS];
	*job = (struct job){ .number = race->jobs, .tag = tag, .begin = ++race->time,
			      .ready = ready };
	race->running[master] = race->jobs;
}

/* Return a job, or NULL if it is not kept any longer. */
static struct job *job_of(struct race *race, u32 number)
{
	struct job *job = &race->job[number % RACE_JOBS];

	return number && job->number == number ? job : NULL;
}

static void end_job(struct race *race, enum pumice_wave_master master, u64 clock)
{
	struct job *job = job_of(race, race->running[master]);

	if (job) {
		job->end = ++race->time;
		job->end_clock = clock;
	}
	race->running[master] = 0;
}

void race_job_begin(struct race *race, enum pumice_wave_master master, u64 tag, u64 ready)
{
	if (!race)
		return;
	pthread_mutex_lock(&race->lock);
	end_job(race, master, 0);	/* one that a reset has dropped */
	begin_job(race, master, tag, ready);
	pthread_mutex_unlock(&race->lock);
}

void race_job_end(struct race *race, enum pumice_wave_master master, u64 clock)
{
	if (!race)
		return;
	pthread_mutex_lock(&race->lock);
	end_job(race, master, clock);
	pthread_mutex_unlock(&race->lock);
}

void race_reset(struct race *race)
{
	if (!race)
		return;
	pthread_mutex_lock(&race->lock);
	for (u32 n = 0; n < PUMICE_WAVE_MASTER_COUNT; n++)
		end_job(race, (enum pumice_wave_master)n, 0);
	pthread_mutex_unlock(&race->lock);
}

void race_job_orders(struct race *race)
{
	if (!race)
		return;
	pthread_mutex_lock(&race->lock);
	race->phase++;
	pthread_mutex_unlock(&race->lock);
}

/* ------------------------------------------------------------------- work-groups */

u32 race_group_begin(struct race *race, const struct race_group *is)
{
	const enum pumice_wave_master master = (enum pumice_wave_master)is->master;
	struct group *group;
	u32 number;

	pthread_mutex_lock(&race->lock);
	if (!race->running[master])
		begin_job(race, master, 0, 0);
	race->groups += race->groups == UINT32_MAX ? 2 : 1;
	number = race->groups;
	group = &race->group[number % RACE_GROUPS];
	free(group->events);
	*group = (struct group){ .number = number, .job = race->running[master],
				 .phase = race->phase, .is = *is };
	pthread_mutex_unlock(&race->lock);
	return number;
}

/* Return a work-group, or NULL if it is not kept any longer. */
static struct group *group_of(struct race *race, u32 number)
{
	struct group *group = &race->group[number % RACE_GROUPS];

	return group->number == number ? group : NULL;
}

/* Store a fence of a work-group. Without memory for it, the group has no events. */
static void add_event(struct group *group, u64 number, const u32 *before, bool device)
{
	struct events *events = group->events;
	struct event *event;

	if (!events)
		events = group->events = calloc(1, sizeof(*events));
	if (!events)
		return;
	event = &events->event[events->count % RACE_EVENTS];
	if (events->count >= RACE_EVENTS)
		memcpy(events->dropped, event->before, sizeof(events->dropped));
	events->count++;
	event->number = number;
	event->device = device;
	memcpy(event->before, before, sizeof(event->before));
}

void race_fence(struct race *race, u32 number, const u32 *before, bool device,
		struct race_acquired *acquired)
{
	struct group *group;

	pthread_mutex_lock(&race->lock);
	group = group_of(race, number);
	race->time++;
	if (group)
		add_event(group, race->time, before, device);
	if (group && device)
		race->forwarded[group->is.core % PUMICE_MAX_CORES] = race->time;
	acquired->core = race->time;
	if (device)
		acquired->device = race->time;
	pthread_mutex_unlock(&race->lock);
}

/* ------------------------------------------------------------------- order */

/* Return whether a wave is after a fence of a work-group. */
static bool is_after(const struct race *race, const struct group *group,
		     const struct event *event, const struct race_acquired *acquired, u8 core)
{
	if (event->device && event->number <= acquired->device)
		return true;
	if (group->is.core == core && event->number <= acquired->core)
		return true;
	return !event->device &&
	       race->forwarded[group->is.core % PUMICE_MAX_CORES] > event->number;
}

/* Return whether a fence that a wave is after has published an access of another group. */
static bool is_published(const struct race *race, const struct group *group,
			 const struct mark *mark, const struct race_access *a, u8 core)
{
	const struct events *events = group->events;

	if (!events)
		return false;
	if (events->dropped[mark->wave] >= mark->clock)
		return true;
	for (u32 n = 0; n < min_u32(events->count, RACE_EVENTS); n++) {
		const struct event *event = &events->event[n];

		if (event->before[mark->wave] >= mark->clock &&
		    is_after(race, group, event, &a->acquired, core))
			return true;
	}
	return false;
}

/* Return whether the first job has ended before the second one was ready; or is not known. */
static bool job_precedes(struct race *race, u32 first, u32 second)
{
	const struct job *a = job_of(race, first), *b = job_of(race, second);

	if (!a || !b)
		return true;
	return a->end && a->end < b->begin && (!b->ready || a->end_clock <= b->ready);
}

/* Return whether an earlier access happens before another one, or cannot be compared with it. */
static bool precedes(struct race *race, const struct mark *mark, const struct race_access *a)
{
	const struct group *group, *own;

	if (mark->group == a->group)
		return mark->wave == a->wave || a->before[mark->wave] >= mark->clock;
	group = group_of(race, mark->group);
	own = group_of(race, a->group);
	if (!group || !own)
		return true;
	if (group->job != own->job) {
		if (job_precedes(race, group->job, own->job))
			return true;
	} else if (own->is.master != PUMICE_WAVE_MASTER_CDM || group->phase != own->phase) {
		return true;
	}
	return is_published(race, group, mark, a, own->is.core);
}

/*
 * Return whether two accesses may race. A compare-and-exchange operation examines the value of a
 * load, which is part of it.
 */
static bool may_race(const struct mark *mark, bool mark_writes, const struct race_access *a)
{
	if (mark->atomic && a->atomic)
		return false;
	return !(mark->compares && !a->write) && !(a->compares && !mark_writes);
}

/* Return whether an earlier access races with one to some bytes of its word. */
static bool races(struct race *race, const struct mark *mark, bool mark_writes,
		  const struct race_access *a, u32 bytes)
{
	return mark->group && (mark->bytes & bytes) && may_race(mark, mark_writes, a) &&
	       !precedes(race, mark, a);
}

/* ------------------------------------------------------------------- shadow */

static struct block *block_at(struct race *race, u32 number)
{
	return &race->chunk[number / RACE_CHUNK][number % RACE_CHUNK];
}

static u32 *bucket_of(struct race *race, const u8 *host)
{
	const u64 block = (u64)(uintptr_t)host / RACE_BLOCK_BYTES;

	return &race->bucket[(block ^ block >> 14) % RACE_BUCKETS];
}

/* Return the number of a block to use for other memory, or RACE_BLOCKS if there is none. */
static u32 replace_block(struct race *race)
{
	const u32 number = race->oldest;
	u32 *link;

	if (!race->used)
		return RACE_BLOCKS;
	link = bucket_of(race, block_at(race, number)->host);
	while (*link != number + 1)
		link = &block_at(race, *link - 1)->next;
	*link = block_at(race, number)->next;
	race->oldest = (number + 1) % race->used;
	return number;
}

/* The same, of one that was not used before, if there is room. */
static u32 new_block(struct race *race)
{
	const u32 chunk = race->used / RACE_CHUNK;

	race->full |= race->used == RACE_BLOCKS;
	if (!race->full && !race->chunk[chunk])
		race->chunk[chunk] = calloc(RACE_CHUNK, sizeof(struct block));
	race->full |= !race->full && !race->chunk[chunk];
	return race->full ? replace_block(race) : race->used++;
}

/*
 * Return the block of an address, or NULL when out of memory. A bucket has RACE_CHAIN blocks at
 * most, so that programs with addresses of one bucket take no longer: the last one is replaced.
 */
static struct block *find_block(struct race *race, const u8 *host)
{
	u32 *bucket = bucket_of(race, host), *link = bucket, number, n = 0;
	struct block *block, *before = NULL;

	host -= (uintptr_t)host % RACE_BLOCK_BYTES;
	for (number = *bucket; number && n < RACE_CHAIN; number = block->next, n++) {
		race->compared++;
		block = block_at(race, number - 1);
		if (block->host == host)
			return block;
		link = n ? &before->next : bucket;
		before = block;
	}
	if (n == RACE_CHAIN) {
		number = *link - 1;
		*link = before->next;
	} else {
		number = new_block(race);
	}
	if (number == RACE_BLOCKS)
		return NULL;
	block = block_at(race, number);
	*block = (struct block){ .host = host, .next = *bucket };
	*bucket = number + 1;
	return block;
}

/* Return whether an access is of the same wave as another one, without a fence between them. */
static bool is_same_wave(const struct mark *mark, const struct mark *of)
{
	return mark->group == of->group && mark->wave == of->wave && mark->clock == of->clock;
}

/* Store an access to bytes of a word, which may be in reads of other bytes. */
static void remember(struct race *race, struct word *word, const struct race_access *a,
		     u32 bytes)
{
	struct mark mark = {
		.group = a->group, .clock = a->clock, .pc = (u16)a->pc, .wave = a->wave & 31,
		.lane = a->lane & 31, .bytes = bytes & 15, .atomic = a->atomic,
		.compares = a->compares,
	};
	struct mark *to = a->write ? &word->write : &word->read[0];

	if (a->write) {
		for (u32 n = 0; n < RACE_READS; n++)
			word->read[n].bytes &= (u16)~bytes & 15;
	} else if (to->group && !is_same_wave(to, &mark) && !precedes(race, to, a)) {
		word->read[1] = *to;
	}
	if (is_same_wave(to, &mark) && to->atomic == mark.atomic &&
	    to->compares == mark.compares)
		mark.bytes |= to->bytes;
	*to = mark;
}

/* Describe an earlier access. Its group exists, since it can be compared. */
static void describe(struct race *race, const struct mark *mark, const struct race_access *a,
		     bool write, struct race_other *other)
{
	const struct group *group = group_of(race, mark->group);
	const struct job *job = job_of(race, group->job);

	*other = (struct race_other){
		.group = group->is, .tag = job ? job->tag : 0, .write = write,
		.same_job = group->job == group_of(race, a->group)->job,
		.wave = (u8)mark->wave, .lane = (u8)mark->lane, .pc = mark->pc,
	};
}

/* As race_access(), for bytes of one word; other: NULL if it has been described. Lock held. */
static bool access_word(struct race *race, const struct race_access *a, struct word *word,
			u32 bytes, struct race_other *other)
{
	const struct mark *found = races(race, &word->write, true, a, bytes) ? &word->write : NULL;
	const bool write = found;

	for (u32 n = 0; a->write && !found && n < RACE_READS; n++) {
		if (races(race, &word->read[n], false, a, bytes))
			found = &word->read[n];
	}
	if (found && other)
		describe(race, found, a, write, other);
	remember(race, word, a, bytes);
	return found;
}

bool race_access(struct race *race, const struct race_access *access, const u8 *host, u32 bytes,
		 struct race_other *other)
{
	const u8 *const end = host + bytes;
	struct block *block = NULL;
	bool found = false;

	pthread_mutex_lock(&race->lock);
	while (host < end && group_of(race, access->group)) {
		const u32 first = (uintptr_t)host % 4;
		const u32 count = min_u32(4 - first, (u32)(end - host));

		if (!block || !((uintptr_t)host % RACE_BLOCK_BYTES))
			block = find_block(race, host);
		if (!block)
			break;
		found |= access_word(race, access,
				     &block->word[(uintptr_t)host / 4 % RACE_WORDS],
				     ((1u << count) - 1) << first, found ? NULL : other);
		host += count;
	}
	pthread_mutex_unlock(&race->lock);
	return found;
}

u64 race_compared(struct race *race)
{
	u64 compared;

	pthread_mutex_lock(&race->lock);
	compared = race->compared;
	pthread_mutex_unlock(&race->lock);
	return compared;
}
