// SPDX-License-Identifier: MIT
/*
 * Cache of predecoded programs, shared by all USCs of a GPU.
 *
 * A program is found by its content, its length, its stage and the registers it is
 * checked against, never by its address: code that was overwritten is another program.
 * Programs that nobody runs stay until room is needed, the longest unused goes
 * first.
 *
 * Limits: USC_CACHE_IDLE_BYTES of host memory for programs that nobody runs; refused
 * programs are not kept.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"
#include "program.h"

#define USC_CACHE_BUCKETS 256u

struct usc_program_cache {
	pthread_mutex_t lock;	/* guards all the rest and the programs' last group */
	struct usc_program *bucket[USC_CACHE_BUCKETS];
	/* Programs without references, by when they lost the last one. */
	struct usc_program *oldest, *newest;
	u64 idle_bytes;
	u64 decoded;	/* programs, ever */
};

struct usc_program_cache *usc_program_cache_create(void)
{
	struct usc_program_cache *cache = calloc(1, sizeof(*cache));

	if (cache && pthread_mutex_init(&cache->lock, NULL)) {
		free(cache);
		return NULL;
	}
	return cache;
}

void usc_program_cache_destroy(struct usc_program_cache *cache)
{
	if (!cache)
		return;
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

/* Mixes every word into 64 bits; only spreads, equality is always compared in full. */
static u64 hash_words(u64 hash, const u32 *words, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		hash = (hash ^ words[n]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

static struct usc_program **bucket_of(struct usc_program_cache *cache, u64 hash)
{
	return &cache->bucket[hash % USC_CACHE_BUCKETS];
}

static bool same_program(const struct usc_program *p, u64 hash, const u32 *words, u32 insns,
			 const struct usc_program_limits *limits)
{
	return p->hash == hash && p->insns == insns && p->limits.temps == limits->temps &&
	       p->limits.attrs == limits->attrs && p->limits.shared == limits->shared &&
	       p->limits.coeffs == limits->coeffs && p->limits.slot_regs == limits->slot_regs &&
	       p->limits.stage == limits->stage && p->limits.vo == limits->vo &&
	       p->limits.outputs == limits->outputs &&
	       !memcmp(p->words, words, (size_t)insns * PUMICE_USC_WORDS * sizeof(*words));
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

static struct usc_program *find_locked(struct usc_program_cache *cache, u64 hash, const u32 *words,
				       u32 insns, const struct usc_program_limits *limits)
{
	struct usc_program *p;

	for (p = *bucket_of(cache, hash); p; p = p->next) {
		if (same_program(p, hash, words, insns, limits))
			break;
	}
	if (p && p->refs++ == 0)
		idle_remove_locked(cache, p);
	return p;
}

static void insert_locked(struct usc_program_cache *cache, struct usc_program *p)
{
	struct usc_program **bucket = bucket_of(cache, p->hash);

	p->refs = 1;
	p->next = *bucket;
	*bucket = p;
}

static void evict_locked(struct usc_program_cache *cache, struct usc_program *p)
{
	struct usc_program **link = bucket_of(cache, p->hash);

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	idle_remove_locked(cache, p);
	usc_program_free(p);
}

void usc_program_put(struct usc_program_cache *cache, struct usc_program *program)
{
	pthread_mutex_lock(&cache->lock);
	if (--program->refs == 0)
		idle_add_locked(cache, program);
	while (cache->idle_bytes > USC_CACHE_IDLE_BYTES)
		evict_locked(cache, cache->oldest);
	pthread_mutex_unlock(&cache->lock);
}

u64 usc_program_cache_idle(struct usc_program_cache *cache)
{
	u64 bytes;

	pthread_mutex_lock(&cache->lock);
	bytes = cache->idle_bytes;
	pthread_mutex_unlock(&cache->lock);
	return bytes;
}

void usc_program_cache_counters_add(struct usc_program_cache *cache, u64 *value)
{
	pthread_mutex_lock(&cache->lock);
	value[PUMICE_PERF_USC_PROGRAMS] += cache->decoded;
	pthread_mutex_unlock(&cache->lock);
}

static struct usc_program *find(struct usc_program_cache *cache, u64 hash, const u32 *words,
				u32 insns, const struct usc_program_limits *limits)
{
	struct usc_program *p;

	pthread_mutex_lock(&cache->lock);
	p = find_locked(cache, hash, words, insns, limits);
	pthread_mutex_unlock(&cache->lock);
	return p;
}

/* Add a new program, unless somebody else was faster: then that one is it. */
static struct usc_program *insert(struct usc_program_cache *cache, struct usc_program *made)
{
	struct usc_program *p;

	pthread_mutex_lock(&cache->lock);
	cache->decoded++;
	p = find_locked(cache, made->hash, made->words, made->insns, &made->limits);
	if (!p)
		insert_locked(cache, made);
	pthread_mutex_unlock(&cache->lock);
	if (!p)
		return made;
	usc_program_free(made);
	return p;
}

/* Fetch the code; the copy is what is checked and run. */
static u32 *fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr, u32 insns,
		  struct gpu_fault *fault)
{
	size_t bytes = (size_t)insns * PUMICE_USC_WORDS * sizeof(u32);
	u32 *words;

	*fault = (struct gpu_fault){ .unit = PUMICE_UNIT_USC_CODE, .access = PUMICE_ACCESS_EXEC,
				     .ctx = (u8)ctx, .addr = addr };
	if (addr % (PUMICE_USC_WORDS * sizeof(u32)) || insns == 0 || insns > PUMICE_USC_MAX_INSNS) {
		fault->fault = PUMICE_FAULT_USC_PROGRAM;
		return NULL;
	}
	words = malloc(bytes);
	if (!words) {
		fault->fault = PUMICE_FAULT_USC_PROGRAM;
		return NULL;
	}
	if (!mmu_read(mmu, tlb, ctx, addr, words, bytes, PUMICE_ACCESS_EXEC, PUMICE_UNIT_USC_CODE,
		      fault)) {
		free(words);
		return NULL;
	}
	return words;
}

struct usc_program *usc_program_get(struct usc_program_cache *cache, struct mmu *mmu,
				    struct mmu_tlb *tlb, unsigned int ctx, u64 addr, u32 insns,
				    const struct usc_program_limits *limits,
				    struct gpu_fault *fault)
{
	const u32 numbers[] = {
		insns, limits->temps, limits->attrs, limits->shared, limits->coeffs, limits->slot_regs,
		limits->stage, limits->vo, limits->outputs,
	};
	enum pumice_fault reason;
	struct usc_program *p;
	u32 *words, pc;
	u64 hash;

	words = fetch(mmu, tlb, ctx, addr, insns, fault);
	if (!words)
		return NULL;
	hash = hash_words(0, numbers, sizeof(numbers) / sizeof(numbers[0]));
	hash = hash_words(hash, words, (size_t)insns * PUMICE_USC_WORDS);
	p = find(cache, hash, words, insns, limits);
	if (p) {
		free(words);
		return p;
	}
	p = usc_predecode(words, insns, limits, &reason, &pc);
	if (!p) {
		free(words);
		/* Without a reason the host lacks memory: too long a program for it. */
		fault->fault = reason == PUMICE_FAULT_NONE ? PUMICE_FAULT_USC_PROGRAM : reason;
		fault->pc = reason == PUMICE_FAULT_NONE ? 0 : pc;
		fault->addr = addr + (u64)fault->pc * PUMICE_USC_WORDS * sizeof(u32);
		return NULL;
	}
	p->hash = hash;
	return insert(cache, p);
}
