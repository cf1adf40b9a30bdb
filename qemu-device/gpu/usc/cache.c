// SPDX-License-Identifier: MIT
/*
 * Cache of predecoded programs, shared by all USCs of a GPU.
 *
 * The key of a program is its content, its length and its stage, never its address:
 * overwritten code is another program. It can be used with all limits that it fits
 * (program.h). Idle programs are kept until room is needed, then evicted least recently used
 * first.
 *
 * A launch or a draw of a program that was fetched before, in the same job, finds it by its source
 * instead, and does not fetch it: struct usc_source. Sources are forgotten by replacement only.
 *
 * Each data master has a share of the memory, which its programs in use and its loads cannot
 * exceed. A master runs one job at a time, so a job that fills the share delays only itself.
 * The stage identifies the master, and no program belongs to two stages. The vertex programs of the
 * PDM have a share of their own, so that its job does not delay that of the VDM. An idle program
 * counts towards no share; it makes room for any load.
 *
 * The lock is held only briefly, since it is taken under the device lock: at most
 * USC_CACHE_PIECE programs are evicted at a time. They are freed later, at most as many per
 * call and with no lock; code is also compared without it. Hashes are seeded, so that a job
 * cannot choose programs that all hash to one bucket.
 *
 * Limits: USC_CACHE_BYTES of host memory for all programs, including those being decoded and
 * those not freed yet; USC_CACHE_IDLE_BYTES of it, briefly a little more, for idle programs.
 * Refused programs are not cached.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perf.h"
#include "program.h"

#define USC_CACHE_BUCKETS 1024u
#define SWEEP_BYTES (1u << 20)	/* freed per call, or one program */
#define USC_CACHE_SOURCES 1024u

static const u64 share_bytes[USC_SHARES] = {
	[USC_SHARE_CDM] = USC_CACHE_CDM_BYTES,
	[USC_SHARE_VDM] = USC_CACHE_VDM_BYTES,
	[USC_SHARE_PDM] = USC_CACHE_PDM_BYTES,
	[USC_SHARE_DEFERRED] = USC_CACHE_DEFERRED_BYTES,
	[USC_SHARE_RDM] = USC_CACHE_RDM_BYTES,
};

/* The program of a source; serial 0: none. */
struct known_source {
	struct usc_source source;
	u64 hash, serial;	/* of the program */
};

struct usc_program_cache {
	/* Configuration. */
	struct usc_cache_ops ops;
	void *opaque;
	u64 seed;

	pthread_mutex_t lock;	/* guards all other fields, and the cache state of programs */
	struct usc_program *bucket[USC_CACHE_BUCKETS];
	/* Programs without references, in the order of losing the last one. */
	struct usc_program *oldest, *newest;
	struct usc_program *evicted;	/* to be freed */
	u64 idle_bytes;
	u64 live_bytes[USC_SHARES];	/* programs in use, and loads */
	u64 bytes;		/* all of these, and evicted programs */
	u64 ended[USC_SHARES];	/* total programs that became idle */
	u32 waiting;		/* loads that wait for memory */
	u64 decoded;	/* total programs */
	u64 serial;	/* of the last program */
	struct known_source source[USC_CACHE_SOURCES];
};

struct usc_program_cache *usc_program_cache_create(void)
{
	struct usc_program_cache *cache = calloc(1, sizeof(*cache));
	struct timespec t;

	if (cache && pthread_mutex_init(&cache->lock, NULL)) {
		free(cache);
		return NULL;
	}
	if (cache) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		cache->seed = ((u64)t.tv_sec << 30 ^ (u64)t.tv_nsec ^ (u64)(uintptr_t)cache) *
			      0x9e3779b97f4a7c15ull;
	}
	return cache;
}

void usc_program_cache_set_ops(struct usc_program_cache *cache, const struct usc_cache_ops *ops,
			       void *opaque)
{
	cache->ops = *ops;
	cache->opaque = opaque;
}

u64 usc_cache_seed(const struct usc_program_cache *cache)
{
	return cache->seed;
}

void usc_program_cache_destroy(struct usc_program_cache *cache)
{
	if (!cache)
		return;
	while (cache->evicted)
		usc_cache_sweep(cache);
	for (u32 b = 0; b < USC_CACHE_BUCKETS; b++) {
		while (cache->bucket[b]) {
			struct usc_program *p = cache->bucket[b];

			cache->bucket[b] = p->next;
			usc_program_free(p);
		}
	}
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static struct usc_program **bucket_of(struct usc_program_cache *cache, u64 hash)
{
	return &cache->bucket[(hash ^ hash >> 32) % USC_CACHE_BUCKETS];
}

static u64 *live_of(struct usc_program_cache *cache, u32 stage)
{
	return &cache->live_bytes[usc_cache_share(stage)];
}

/* Return whether the program's needs are within limits and its form is valid for them. */
static bool fits_limits(const struct usc_program *p, const struct usc_program_limits *limits)
{
	const struct usc_program_limits *made = &p->limits, *needs = &p->needs;

	if (limits->stage != made->stage || limits->slot_regs != made->slot_regs)
		return false;
	if (limits->temps < needs->temps || limits->attrs < needs->attrs ||
	    limits->shared < needs->shared || limits->coeffs < needs->coeffs ||
	    limits->coeffs_alt < needs->coeffs_alt ||
	    limits->vo < needs->vo || limits->outputs < needs->outputs)
		return false;
	return !((p->exact & USC_EXACT_TEMPS && limits->temps != made->temps) ||
		 (p->exact & USC_EXACT_ATTRS && limits->attrs != made->attrs) ||
		 (p->exact & USC_EXACT_SHARED && limits->shared != made->shared) ||
		 (p->exact & USC_EXACT_COEFFS && limits->coeffs != made->coeffs) ||
		 (p->exact & USC_EXACT_COEFFS_ALT && limits->coeffs_alt != made->coeffs_alt) ||
		 (p->exact & USC_EXACT_VO && limits->vo != made->vo) ||
		 (p->exact & USC_EXACT_OUTPUTS && limits->outputs != made->outputs));
}

static void idle_add_locked(struct usc_program_cache *cache, struct usc_program *p)
{
	p->older = cache->newest;
	p->newer = NULL;
	*(p->older ? &p->older->newer : &cache->oldest) = p;
	cache->newest = p;
	cache->idle_bytes += p->bytes;
}

static void idle_remove_locked(struct usc_program_cache *cache, struct usc_program *p)
{
	*(p->older ? &p->older->newer : &cache->oldest) = p->newer;
	*(p->newer ? &p->newer->older : &cache->newest) = p->older;
	cache->idle_bytes -= p->bytes;
}

/* Take a reference. */
static void take_locked(struct usc_program_cache *cache, struct usc_program *p)
{
	if (p->refs++ == 0) {
		idle_remove_locked(cache, p);
		*live_of(cache, p->limits.stage) += p->bytes;
	}
}

/* Return the first program from p that may match, with a reference. */
static struct usc_program *candidate_locked(struct usc_program_cache *cache, struct usc_program *p,
					    u64 hash, u32 insns,
					    const struct usc_program_limits *limits)
{
	while (p && (p->hash != hash || p->insns != insns || !fits_limits(p, limits)))
		p = p->next;
	if (p)
		take_locked(cache, p);
	return p;
}

static bool same_words(const struct usc_program *p, const u32 *words)
{
	return !memcmp(p->words, words, (size_t)p->insns * PUMICE_USC_WORDS * sizeof(*words));
}

/* Notify the masters that wait. Not under the lock. */
static void notify_room(struct usc_program_cache *cache, bool room)
{
	if (room && cache->ops.room)
		cache->ops.room(cache->opaque);
}

static void free_later_locked(struct usc_program_cache *cache, struct usc_program *p)
{
	p->next = cache->evicted;
	cache->evicted = p;
}

/* Evict the oldest idle program; it is freed later. */
static void evict_locked(struct usc_program_cache *cache)
{
	struct usc_program *p = cache->oldest;

	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	idle_remove_locked(cache, p);
	free_later_locked(cache, p);
}

void usc_cache_free_later(struct usc_program_cache *cache, struct usc_program *program,
			  u64 reserved)
{
	bool room;

	pthread_mutex_lock(&cache->lock);
	program->bytes = reserved;
	*live_of(cache, program->limits.stage) -= reserved;
	free_later_locked(cache, program);
	room = cache->waiting;
	pthread_mutex_unlock(&cache->lock);
	notify_room(cache, room);
}

/* Remove *bytes of evicted programs from the list. */
static struct usc_program *remove_evicted(struct usc_program_cache *cache, u64 *bytes)
{
	struct usc_program *evicted, **end = &cache->evicted;

	*bytes = 0;
	pthread_mutex_lock(&cache->lock);
	for (u32 n = 0; *end && n < USC_CACHE_PIECE && *bytes < SWEEP_BYTES; n++) {
		*bytes += (*end)->bytes;
		end = &(*end)->next;
	}
	evicted = end == &cache->evicted ? NULL : cache->evicted;
	if (evicted) {
		cache->evicted = *end;
		*end = NULL;
	}
	pthread_mutex_unlock(&cache->lock);
	return evicted;
}

void usc_cache_sweep(struct usc_program_cache *cache)
{
	u64 bytes;
	struct usc_program *evicted = remove_evicted(cache, &bytes);
	bool room;

	if (!evicted)
		return;
	while (evicted) {
		struct usc_program *p = evicted;

		evicted = p->next;
		usc_program_free(p);
	}
	pthread_mutex_lock(&cache->lock);
	cache->bytes -= bytes;
	room = cache->waiting;
	pthread_mutex_unlock(&cache->lock);
	notify_room(cache, room);
}

void usc_program_put(struct usc_program_cache *cache, struct usc_program *program)
{
	bool room = false;
	u32 n;

	pthread_mutex_lock(&cache->lock);
	if (--program->refs == 0) {
		*live_of(cache, program->limits.stage) -= program->bytes;
		cache->ended[usc_cache_share(program->limits.stage)]++;
		idle_add_locked(cache, program);
		room = cache->waiting;
	}
	for (n = 0; n < USC_CACHE_PIECE && cache->idle_bytes > USC_CACHE_IDLE_BYTES; n++)
		evict_locked(cache);
	pthread_mutex_unlock(&cache->lock);
	notify_room(cache, room);
}

/* Make room for bytes of host memory: evict idle programs, a piece in each call. */
static enum usc_load_result make_room_locked(struct usc_program_cache *cache, u64 bytes)
{
	u64 evicted = 0;

	if (cache->bytes + bytes <= USC_CACHE_BYTES)
		return USC_LOAD_DONE;
	bytes += cache->bytes - USC_CACHE_BYTES;
	for (u32 n = 0; n < USC_CACHE_PIECE && cache->oldest && evicted < bytes; n++) {
		evicted += cache->oldest->bytes;
		evict_locked(cache);
	}
	return cache->evicted ? USC_LOAD_MORE : USC_LOAD_WAIT;
}

enum usc_load_result usc_cache_reserve(struct usc_program_cache *cache, u32 stage, u64 bytes,
				       bool *waits)
{
	const u64 share = share_bytes[usc_cache_share(stage)];
	enum usc_load_result result = USC_LOAD_WAIT;
	u64 *live = live_of(cache, stage);

	pthread_mutex_lock(&cache->lock);
	if (*live + bytes <= share)
		result = make_room_locked(cache, bytes);
	if (result == USC_LOAD_DONE) {
		*live += bytes;
		cache->bytes += bytes;
	}
	/* Still under the lock of the failed search, so that no release of memory is missed. */
	cache->waiting -= *waits;
	*waits = result == USC_LOAD_WAIT;
	cache->waiting += *waits;
	pthread_mutex_unlock(&cache->lock);
	return result;
}

void usc_cache_release(struct usc_program_cache *cache, u32 stage, u64 bytes)
{
	bool room;

	pthread_mutex_lock(&cache->lock);
	*live_of(cache, stage) -= bytes;
	cache->bytes -= bytes;
	room = cache->waiting;
	pthread_mutex_unlock(&cache->lock);
	notify_room(cache, room);
}

u64 usc_cache_ended(struct usc_program_cache *cache, u32 stage)
{
	u64 ended;

	pthread_mutex_lock(&cache->lock);
	ended = cache->ended[usc_cache_share(stage)];
	pthread_mutex_unlock(&cache->lock);
	return ended;
}

u64 usc_cache_wait(struct usc_program_cache *cache, u64 deadline)
{
	if (!cache->ops.now)
		return 0;
	if (!deadline)
		deadline = cache->ops.now(cache->opaque) + USC_LOAD_PATIENCE_NS;
	cache->ops.wait(cache->opaque, deadline);
	return deadline;
}

void usc_cache_wait_end(struct usc_program_cache *cache)
{
	pthread_mutex_lock(&cache->lock);
	cache->waiting--;
	pthread_mutex_unlock(&cache->lock);
}

bool usc_cache_late(const struct usc_program_cache *cache, u64 deadline)
{
	return cache->ops.now(cache->opaque) >= deadline;
}

u64 usc_program_cache_idle(struct usc_program_cache *cache)
{
	u64 bytes;

	pthread_mutex_lock(&cache->lock);
	bytes = cache->idle_bytes;
	pthread_mutex_unlock(&cache->lock);
	return bytes;
}

u64 usc_program_cache_bytes(struct usc_program_cache *cache)
{
	u64 bytes;

	pthread_mutex_lock(&cache->lock);
	bytes = cache->bytes;
	pthread_mutex_unlock(&cache->lock);
	return bytes;
}

void usc_program_cache_counters_add(struct usc_program_cache *cache, u64 *value)
{
	pthread_mutex_lock(&cache->lock);
	value[PUMICE_PERF_USC_PROGRAMS] += cache->decoded;
	pthread_mutex_unlock(&cache->lock);
}

struct usc_program *usc_cache_find(struct usc_program_cache *cache, u64 hash, const u32 *words,
				   u32 insns, const struct usc_program_limits *limits)
{
	struct usc_program *p, *next;

	pthread_mutex_lock(&cache->lock);
	p = candidate_locked(cache, *bucket_of(cache, hash), hash, insns, limits);
	pthread_mutex_unlock(&cache->lock);
	/* It stays in the list while it has a reference. */
	while (p && !same_words(p, words)) {
		pthread_mutex_lock(&cache->lock);
		next = candidate_locked(cache, p->next, hash, insns, limits);
		pthread_mutex_unlock(&cache->lock);
		usc_program_put(cache, p);
		p = next;
	}
	return p;
}

struct usc_program *usc_cache_insert(struct usc_program_cache *cache, struct usc_program *made,
				     u64 reserved)
{
	struct usc_program *p = usc_cache_find(cache, made->hash, made->words, made->insns,
					       &made->limits);
	const u32 stage = made->limits.stage;
	const u64 kept = p ? 0 : made->bytes;

	pthread_mutex_lock(&cache->lock);
	cache->decoded++;
	if (!p) {
		struct usc_program **bucket = bucket_of(cache, made->hash);

		made->refs = 1;
		made->serial = ++cache->serial;
		made->next = *bucket;
		made->link = bucket;
		if (made->next)
			made->next->link = &made->next;
		*bucket = made;
	}
	pthread_mutex_unlock(&cache->lock);
	if (p)
		usc_program_free(made);
	usc_cache_release(cache, stage, reserved - kept);
	return p ? p : made;
}

static struct known_source *source_slot(struct usc_program_cache *cache,
					const struct usc_source *source)
{
	const u64 key = source->addr ^ source->ctx * 0xd6e8feb86659fd93ull ^
			source->insns * 0xa0761d6478bd642full ^ source->limits.stage;

	/* The high bits depend on all of the key. */
	return &cache->source[(key * 0x9e3779b97f4a7c15ull >> 40) % USC_CACHE_SOURCES];
}

_Static_assert(sizeof(struct usc_program_limits) == 9 * sizeof(u32), "no padding");

static bool same_source(const struct usc_source *a, const struct usc_source *b)
{
	return a->addr == b->addr && a->gen == b->gen && a->code == b->code && a->ctx == b->ctx &&
	       a->insns == b->insns && !memcmp(&a->limits, &b->limits, sizeof(a->limits));
}

struct usc_program *usc_cache_recall(struct usc_program_cache *cache,
				     const struct usc_source *source)
{
	const struct known_source *known = source_slot(cache, source);
	struct usc_program *p = NULL;

	pthread_mutex_lock(&cache->lock);
	if (known->serial && same_source(&known->source, source))
		p = *bucket_of(cache, known->hash);
	while (p && p->serial != known->serial)
		p = p->next;
	if (p)
		take_locked(cache, p);
	pthread_mutex_unlock(&cache->lock);
	return p;
}

void usc_cache_note(struct usc_program_cache *cache, const struct usc_source *source,
		    const struct usc_program *program)
{
	pthread_mutex_lock(&cache->lock);
	*source_slot(cache, source) = (struct known_source){
		.source = *source, .hash = program->hash, .serial = program->serial,
	};
	pthread_mutex_unlock(&cache->lock);
}
