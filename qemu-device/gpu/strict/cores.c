// SPDX-License-Identifier: MIT
/* Mode strict: caches of cores. See cores.h. */
#include "cores.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define WAYS		4u	/* lines with the same hash */
#define SETS		(CORES_LINES / WAYS)

enum { DATA, TEXTURE, KINDS };

/* At most, of both kinds. */
#define CACHES		(KINDS * (PUMICE_MAX_CORES * PUMICE_MAX_USCS_PER_CORE + PUMICE_MAX_CORES))
#define SET_WORDS	((CACHES + 63u) / 64u)

/* Bytes of a line in caches of a USC or a core, as masks. */
struct held {
	u64 read;	/* that the caches have read */
	u64 stale;	/* of these, that were stored by others since */
	u32 generation;	/* of the caches: those before have been dropped */
};

/* A set of caches. */
struct set {
	u64 word[SET_WORDS];
};

struct line {
	u64 va;
	u64 used;	/* by cores.time; 0: never */
	u8 ctx;
	struct set holders;	/* caches that have bytes; of the others held is not used */
	struct held *held;	/* of each of the caches, or NULL */
};

/*
 * Caches are numbered: of a kind first those of each USC, then those of each core. Their number is
 * cores.caches for each kind.
 */
struct cores {
	u32 uscs, uscs_per_core, caches;	/* constant */
	pthread_mutex_t lock;			/* guards the rest; a leaf */
	u64 time;
	u32 fill;	/* cores_fill() */
	/* By context and cache: times that all lines were dropped. */
	u32 *generation;
	struct line line[SETS][WAYS];
};

struct cores *cores_create(u32 cores, u32 uscs_per_core)
{
	struct cores *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->uscs = cores * uscs_per_core;
	c->uscs_per_core = uscs_per_core;
	c->caches = c->uscs + cores;
	pthread_mutex_init(&c->lock, NULL);
	c->generation = calloc((size_t)PUMICE_MMU_CONTEXTS * KINDS * c->caches,
			       sizeof(*c->generation));
	if (!c->generation) {
		cores_destroy(c);
		return NULL;
	}
	return c;
}

static void free_lines(struct cores *cores)
{
	u32 n;

	for (n = 0; n < CORES_LINES; n++)
		free(cores->line[n / WAYS][n % WAYS].held);
	memset(cores->line, 0, sizeof(cores->line));
}

void cores_destroy(struct cores *cores)
{
	if (!cores)
		return;
	free_lines(cores);
	free(cores->generation);
	pthread_mutex_destroy(&cores->lock);
	free(cores);
}

void cores_fill(struct cores *cores, u32 bytes)
{
	pthread_mutex_lock(&cores->lock);
	cores->fill = bytes;
	pthread_mutex_unlock(&cores->lock);
}

void cores_reset(struct cores *cores)
{
	if (!cores)
		return;
	pthread_mutex_lock(&cores->lock);
	free_lines(cores);
	pthread_mutex_unlock(&cores->lock);
}

/* ------------------------------------------------------------------- lines */

/* Return the number of a kind's caches of a USC, or of its core. */
static u32 of_usc(const struct cores *cores, u32 kind, u32 usc)
{
	return kind * cores->caches + usc;
}

static u32 of_core(const struct cores *cores, u32 kind, u32 usc)
{
	return kind * cores->caches + cores->uscs + usc / cores->uscs_per_core;
}

static u32 *generation_of(struct cores *cores, unsigned int ctx, u32 cache)
{
	return &cores->generation[ctx * KINDS * cores->caches + cache];
}

static bool contains(const struct set *set, u32 cache)
{
	return set->word[cache / 64] >> (cache % 64) & 1;
}

static void add(struct set *set, u32 cache)
{
	set->word[cache / 64] |= 1ull << (cache % 64);
}

static void remove(struct set *set, u32 cache)
{
	set->word[cache / 64] &= ~(1ull << (cache % 64));
}

/* Return the first member of a set from a number on, or CACHES. */
static u32 next_of(const struct set *set, u32 from)
{
	u32 n = from / 64;
	u64 left = n < SET_WORDS ? set->word[n] >> (from % 64) << (from % 64) : 0;

	while (!left && ++n < SET_WORDS)
		left = set->word[n];
	return left ? n * 64 + (u32)__builtin_ctzll(left) : CACHES;
}

/* Return the masks of a cache, which are 0 if its lines were dropped since they were used. */
static struct held *held_in(struct cores *cores, struct line *line, u32 cache)
{
	struct held *held = &line->held[cache];
	const u32 generation = *generation_of(cores, line->ctx, cache);

	if (!contains(&line->holders, cache) || held->generation != generation)
		*held = (struct held){ .generation = generation };
	add(&line->holders, cache);
	return held;
}

static struct line *set_of(struct cores *cores, unsigned int ctx, u64 va)
{
	const u64 line = va / LINES_BYTES;

	return cores->line[(line ^ line / SETS ^ ctx * 37) % SETS];
}

/* Return the line at va, or NULL. */
static struct line *find(struct cores *cores, unsigned int ctx, u64 va)
{
	struct line *set = set_of(cores, ctx, va), *line;

	for (line = set; line < set + WAYS; line++)
		if (line->used && line->va == va && line->ctx == ctx)
			return line;
	return NULL;
}

/* The same; created in place of the oldest one. NULL: out of memory. */
static struct line *get(struct cores *cores, unsigned int ctx, u64 va)
{
	const size_t bytes = KINDS * cores->caches * sizeof(struct held);
	struct line *set = set_of(cores, ctx, va), *line = find(cores, ctx, va), *other;

	if (line)
		return line;
	for (line = set, other = set + 1; other < set + WAYS; other++)
		if (other->used < line->used)
			line = other;
	if (!line->held)
		line->held = malloc(bytes);
	if (!line->held)
		return NULL;
	line->holders = (struct set){ { 0 } };
	line->va = va;
	line->ctx = (u8)ctx;
	return line;
}

/* Return the mask of the bytes of an access in the line at va, which may have none. */
static u64 bytes_of(const struct cores_access *a, u64 va)
{
	if (va >= a->va + a->bytes || va + LINES_BYTES <= a->va)
		return 0;
	return lines_mask(va, a->va, a->va + a->bytes);
}

/* Return the mask of the bytes of a line that an access to some of them fills. */
static u64 filled(const struct cores *cores, u64 bytes)
{
	return cores->fill ? UINT64_MAX : bytes;
}

/* Return the first line that an access fills, and the end of the last one. */
static u64 first_of(const struct cores *cores, const struct cores_access *a)
{
	return a->va & ~(u64)((cores->fill ? cores->fill : LINES_BYTES) - 1);
}

static u64 end_of(const struct cores *cores, const struct cores_access *a)
{
	const u64 end = a->va + a->bytes;

	return cores->fill ? (end + cores->fill - 1) & ~(u64)(cores->fill - 1) : end;
}

/* ------------------------------------------------------------------- accesses */

/* Read bytes of a line by a cache. Returns those that are stale. */
static u64 read_by(struct cores *cores, struct line *line, u32 cache, u64 bytes)
{
	struct held *held = held_in(cores, line, cache);

	held->read |= filled(cores, bytes);
	return held->stale & bytes;
}

bool cores_read(struct cores *cores, const struct cores_access *read, u64 *at)
{
	const u32 kind = read->texture ? TEXTURE : DATA;
	bool stale = false;
	u64 va, end, bytes;

	if (!cores || read->usc >= cores->uscs)
		return false;
	pthread_mutex_lock(&cores->lock);
	end = end_of(cores, read);
	for (va = first_of(cores, read); va < end; va += LINES_BYTES) {
		struct line *line = get(cores, read->ctx, va);

		if (!line)
			break;
		line->used = ++cores->time;
		bytes = read_by(cores, line, of_usc(cores, kind, read->usc), bytes_of(read, va));
		bytes |= read_by(cores, line, of_core(cores, kind, read->usc), bytes_of(read, va));
		if (bytes && !stale)
			*at = va + (u64)__builtin_ctzll(bytes);
		stale |= bytes;
	}
	pthread_mutex_unlock(&cores->lock);
	return stale;
}

/* A cache receives the data that a store passes. */
static void receive(struct cores *cores, struct line *line, u32 cache,
		    const struct cores_access *write)
{
	struct held *held;

	if (write->atomic) {
		remove(&line->holders, cache);
		return;
	}
	held = held_in(cores, line, cache);
	held->read |= filled(cores, bytes_of(write, line->va));
	held->stale &= ~bytes_of(write, line->va);
}

static void write_line(struct cores *cores, struct line *line, const struct cores_access *write)
{
	const bool by_usc = write->usc != CORES_NO_USC;
	const u32 first = by_usc ? of_usc(cores, DATA, write->usc) : CACHES;
	const u32 second = by_usc ? of_core(cores, DATA, write->usc) : CACHES;
	const u64 bytes = write->compares ? 0 : bytes_of(write, line->va);
	u32 cache;

	for (cache = next_of(&line->holders, 0); cache < CACHES;
	     cache = next_of(&line->holders, cache + 1)) {
		struct held *held = held_in(cores, line, cache);

		if (cache != first && cache != second)
			held->stale |= held->read & bytes;
	}
	if (!by_usc)
		return;
	receive(cores, line, first, write);
	receive(cores, line, second, write);
}

void cores_write(struct cores *cores, const struct cores_access *write)
{
	struct line *line;
	u64 va, end;

	if (!cores || (write->usc != CORES_NO_USC && write->usc >= cores->uscs))
		return;
	pthread_mutex_lock(&cores->lock);
	end = end_of(cores, write);
	for (va = first_of(cores, write); va < end; va += LINES_BYTES) {
		const bool fills = cores->fill && write->usc != CORES_NO_USC && !write->atomic;

		line = fills ? get(cores, write->ctx, va) : find(cores, write->ctx, va);
		if (line && fills)
			line->used = ++cores->time;
		if (line)
			write_line(cores, line, write);
	}
	pthread_mutex_unlock(&cores->lock);
}

/* ------------------------------------------------------------------- operations */

/* Return whether an operation drops lines of the caches of a number. */
static bool reaches(const struct cores *cores, const struct mmu_cache_op *op, u32 cache)
{
	const u32 number = cache % cores->caches;
	const bool is_core = number >= cores->uscs;
	const u32 core = is_core ? number - cores->uscs : number / cores->uscs_per_core;

	if (op->scope == PUMICE_MEM_SCOPE_GPU || op->scope == PUMICE_MEM_SCOPE_SYSTEM)
		return true;
	if (op->scope == PUMICE_MEM_SCOPE_GROUP && is_core)
		return false;
	if (op->usc == MMU_ALL_USCS)
		return true;
	return op->scope == PUMICE_MEM_SCOPE_CORE ? core == op->usc / cores->uscs_per_core :
						    number == op->usc;
}

/* Drop a line, unless it is beyond the operation's range. */
static void drop_line(struct cores *cores, struct line *line, const struct mmu_cache_op *op)
{
	u32 cache;

	if ((op->ctx != MMU_ALL_CONTEXTS && op->ctx != line->ctx) ||
	    line->va > op->last || line->va + LINES_BYTES - 1 < op->first)
		return;
	for (cache = next_of(&line->holders, 0); cache < CACHES;
	     cache = next_of(&line->holders, cache + 1))
		if (reaches(cores, op, cache))
			remove(&line->holders, cache);
}

/* The same, of each line in a range. */
static void drop_range(struct cores *cores, const struct mmu_cache_op *op)
{
	const u64 first = op->first & ~(u64)(LINES_BYTES - 1);
	/* Counted, since the last line may be that of the last addresses of 64 bits. */
	const u64 count = (op->last - first) / LINES_BYTES + 1;
	struct line *line;
	u32 n;

	if (op->ctx == MMU_ALL_CONTEXTS || count > CORES_LINES) {
		for (n = 0; n < CORES_LINES; n++)
			drop_line(cores, &cores->line[n / WAYS][n % WAYS], op);
		return;
	}
	for (n = 0; n < count; n++) {
		line = find(cores, op->ctx, first + n * LINES_BYTES);
		if (line)
			drop_line(cores, line, op);
	}
}

/* The same, of all lines of a context. */
static void drop_context(struct cores *cores, const struct mmu_cache_op *op, unsigned int ctx)
{
	u32 cache;

	for (cache = 0; cache < KINDS * cores->caches; cache++)
		if (reaches(cores, op, cache))
			++*generation_of(cores, ctx, cache);
}

void cores_operate(struct cores *cores, const struct mmu_cache_op *op)
{
	unsigned int ctx;

	if (!cores || op->ctx == MMU_TABLES || op->kind == MMU_CACHE_FENCE ||
	    op->kind == MMU_CACHE_CLEAN || op->first > op->last)
		return;
	pthread_mutex_lock(&cores->lock);
	if (op->first || op->last != UINT64_MAX)
		drop_range(cores, op);
	for (ctx = 0; ctx < PUMICE_MMU_CONTEXTS && !op->first && op->last == UINT64_MAX; ctx++)
		if (op->ctx == MMU_ALL_CONTEXTS || op->ctx == ctx)
			drop_context(cores, op, ctx);
	pthread_mutex_unlock(&cores->lock);
}
