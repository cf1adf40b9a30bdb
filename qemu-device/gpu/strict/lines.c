// SPDX-License-Identifier: MIT
/*
 * Mode strict: data of the lines that caches may hold, against memory.
 *
 * Source: document 000, "Memory Hierarchy": caches are not coherent with the CPU. Each line that a
 * unit has read by the caches has a copy of the bytes as it has read them, until software
 * invalidates it. If memory differs when a later job reads them, then someone else has written it
 * since: they are stale, and the job reads the copy. Bytes that units have written by the caches
 * are dirty until software cleans them, or a unit that bypasses the caches writes them.
 *
 * Units write to memory itself, so a line needs no order with the writes of other threads. When a
 * job ends and no other one of its context runs, its dirty bytes are exchanged with the former ones
 * of memory: the line alone holds them, and the CPU does not see them. The next job of the context,
 * also one that is resumed, exchanges them again, and so does every end of the line except DROP.
 *
 * Lines are compared once in each job: memory that is written while a job runs is for programs that
 * use coherent buffers, of which no line exists. Writes of units forget the copy, those of lanes
 * when they are announced: whether they are ordered is examined elsewhere (race.h). A line is kept
 * whether or not a cache of the GPU's size would still have it, since a program must not depend on
 * evictions; so findings do not depend on the sizes of caches.
 *
 * Limits: one level for all caches: an operation counts if it reaches the CPU (scope SYSTEM).
 * LINES_SETS * LINES_WAYS lines; the oldest of a set is replaced, and counts as written then. If it
 * has bytes that are held then all of its context are written to memory, in their order.
 * LINES_HELD lines of a context have bytes that memory does not have: jobs begin and end under the
 * device lock. Memory that only the tiling pipeline may access is not compared, nor are translation
 * tables. Bytes are exchanged only with the memory that they were written to: if their address has
 * another one, those that are held are lost. If memory has several addresses, operations on ranges
 * of them write its lines in any order. Atomic operations have the value of memory.
 */
#include "lines.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NONE	UINT32_MAX

/*
 * Lists of the lines of a context: all, those with dirty bytes, and of these those to be held from
 * the next end of a job, and those with held bytes.
 */
enum { ALL, DIRTY, FRESH, HELD, LISTS };

#define SEARCH	4096u	/* dirty lines that are visited to find the lowest address */

struct list {
	u32 first;	/* or NONE */
	u32 count;
};

struct line {
	u64 va;		/* of the first byte */
	struct {
		u32 before, after;	/* or NONE */
	} link[LISTS];
	u8 *host;	/* memory of the first byte when dirty bytes were expected */
	u8 ctx;
	bool used, fresh;
	u64 known;	/* bytes with a copy in data */
	u64 dirty;	/* bytes that are not in memory */
	u64 checked;	/* bytes that need no comparison in job */
	u64 stale;	/* known bytes that differ from memory: reads return those in data */
	u64 expected;	/* bytes that will be dirty, whose value before is in other */
	u64 held;	/* dirty bytes whose value is in other, and memory has that before */
	u64 job;
	u64 age;	/* number of its allocation */
	struct lines_writer writer;	/* the last one of dirty bytes */
	u8 data[LINES_BYTES];
	u8 other[LINES_BYTES];	/* of dirty bytes: the value that memory does not have */
};

/* A job that has ended. */
struct ended {
	bool ended;
	bool reported;		/* its event was cleared */
	bool handled;
	bool signalled;		/* with this byte dirty */
	struct lines_dirty first;
	u8 dm, master;
	u64 tag;
};

struct lines {
	const struct mmu *mmu;
	pthread_mutex_t lock;	/* guards the rest */
	u64 jobs;		/* that have begun */
	u64 job[PUMICE_MMU_CONTEXTS];	/* number of the last one of a context; of 0: of all */
	u64 allocated;
	struct list list[PUMICE_MMU_CONTEXTS][LISTS];
	u32 lowest[PUMICE_MMU_CONTEXTS];	/* known dirty line by address, or NONE */
	_Atomic u32 stale[PUMICE_MMU_CONTEXTS];	/* lines with stale bytes; read without the lock */
	struct lines_counts counts;
	struct ended ended[PUMICE_MMU_CONTEXTS];	/* the last job of a context */
	struct line line[LINES_SETS * LINES_WAYS];
};

struct lines *lines_create(const struct mmu *mmu)
{
	struct lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->mmu = mmu;
	pthread_mutex_init(&lines->lock, NULL);
	for (u32 n = 0; n < PUMICE_MMU_CONTEXTS; n++) {
		for (u32 which = 0; which < LISTS; which++)
			lines->list[n][which].first = NONE;
		lines->lowest[n] = NONE;
	}
	return lines;
}

void lines_destroy(struct lines *lines)
{
	if (!lines)
		return;
	pthread_mutex_destroy(&lines->lock);
	free(lines);
}

/* ------------------------------------------------------------------- lines */

/* Return the first line of the set of an address. */
static struct line *set_of(struct lines *lines, unsigned int ctx, u64 va)
{
	const u64 hash = (va / LINES_BYTES + (u64)ctx * 0x9e3779b9u) * 0x9e3779b97f4a7c15ull;

	return &lines->line[(hash >> 40) % LINES_SETS * LINES_WAYS];
}

/* Return the line of an address, or NULL. */
static struct line *find(struct lines *lines, unsigned int ctx, u64 va)
{
	struct line *set = set_of(lines, ctx, va);
	u32 n;

	for (n = 0; n < LINES_WAYS; n++)
		if (set[n].used && set[n].va == va && set[n].ctx == ctx)
			return &set[n];
	return NULL;
}

static void link_in(struct lines *lines, struct line *line, u32 which)
{
	struct list *list = &lines->list[line->ctx][which];
	const u32 number = (u32)(line - lines->line);

	line->link[which].before = NONE;
	line->link[which].after = list->first;
	if (list->first != NONE)
		lines->line[list->first].link[which].before = number;
	list->first = number;
	list->count++;
}

static void link_out(struct lines *lines, const struct line *line, u32 which)
{
	struct list *list = &lines->list[line->ctx][which];
	const u32 before = line->link[which].before, after = line->link[which].after;

	if (before != NONE)
		lines->line[before].link[which].after = after;
	else
		list->first = after;
	if (after != NONE)
		lines->line[after].link[which].before = before;
	list->count--;
}

/* Add a line to a list, or remove it, if its membership changes. */
static void set_linked(struct lines *lines, struct line *line, u32 which, bool was, bool is)
{
	if (is && !was)
		link_in(lines, line, which);
	else if (!is && was)
		link_out(lines, line, which);
}

static void set_fresh(struct lines *lines, struct line *line, bool fresh)
{
	set_linked(lines, line, FRESH, line->fresh, fresh);
	line->fresh = fresh;
}

static void set_held(struct lines *lines, struct line *line, u64 bytes)
{
	set_linked(lines, line, HELD, line->held, bytes);
	line->held = bytes;
}

static void set_stale(struct lines *lines, struct line *line, u64 bytes)
{
	if (!line->stale != !bytes)
		atomic_fetch_add(&lines->stale[line->ctx], bytes ? 1u : UINT32_MAX);
	line->stale = bytes;
}

static void set_dirty(struct lines *lines, struct line *line, u64 bytes)
{
	u32 *lowest = &lines->lowest[line->ctx];

	if (!line->dirty) {
		if (!lines->list[line->ctx][DIRTY].count ||
		    (*lowest != NONE && line->va < lines->line[*lowest].va))
			*lowest = (u32)(line - lines->line);
		link_in(lines, line, DIRTY);
	}
	line->dirty |= bytes;
	set_fresh(lines, line, true);
}

/*
 * Exchange some of 8 bytes with those of memory. Others of them may be written by the CPU and by
 * units of other contexts at the same time.
 */
static void exchange_word(u8 *host, u8 *other, u8 bytes)
{
	u64 word;
	u32 n;

	if (bytes == UINT8_MAX) {
		memcpy(&word, other, sizeof(word));
		word = __atomic_exchange_n((u64 *)(void *)host, word, __ATOMIC_RELAXED);
		memcpy(other, &word, sizeof(word));
		return;
	}
	for (n = 0; n < sizeof(word); n++)
		if (bytes >> n & 1)
			other[n] = __atomic_exchange_n(&host[n], other[n], __ATOMIC_RELAXED);
}

/*
 * Exchange dirty bytes of a line with those that memory had before. Returns whether the memory that
 * they were written to still has their address.
 */
static bool exchange(const struct lines *lines, struct line *line, u64 bytes)
{
	u8 *host = mmu_probe(lines->mmu, line->ctx, line->va, PUMICE_ACCESS_WRITE);
	u32 n;

	if (!host || host != line->host)
		return false;
	for (n = 0; n < LINES_BYTES; n += 8)
		exchange_word(host + n, line->other + n, (u8)(bytes >> n));
	return true;
}

/* Bytes of a line of which none is held are no longer dirty: they are in memory, or lost. */
static void end_dirty(struct lines *lines, struct line *line, u64 bytes)
{
	const u64 before = line->dirty;

	line->dirty &= ~bytes;
	if (line->dirty || !before)
		return;
	set_fresh(lines, line, false);
	link_out(lines, line, DIRTY);
	if (lines->lowest[line->ctx] == (u32)(line - lines->line))
		lines->lowest[line->ctx] = NONE;
}

/* Write held bytes to memory; they stay dirty. Without that memory they are lost. */
static void show(struct lines *lines, struct line *line)
{
	const u64 held = line->held;

	if (!held)
		return;
	set_held(lines, line, 0);
	if (exchange(lines, line, held))
		set_fresh(lines, line, true);
	else
		end_dirty(lines, line, held);
}

/*
 * Write the held bytes of a context, in the reverse order of the end of the job: memory of several
 * addresses has the last store.
 */
static void show_all(struct lines *lines, unsigned int ctx)
{
	const struct list *list = &lines->list[ctx][HELD];

	while (list->first != NONE)
		show(lines, &lines->line[list->first]);
}

/* Hold the dirty bytes of a fresh line, of which none is held. */
static void hide(struct lines *lines, struct line *line)
{
	set_fresh(lines, line, false);
	if (exchange(lines, line, line->dirty))
		set_held(lines, line, line->dirty);
}

static void set_clean(struct lines *lines, struct line *line)
{
	show(lines, line);
	end_dirty(lines, line, line->dirty);
}

/* Remove a line from its context, and forget it. */
static void forget(struct lines *lines, struct line *line)
{
	set_clean(lines, line);
	set_stale(lines, line, 0);
	link_out(lines, line, ALL);
	line->used = false;
}

/* Return the line of an address, which may replace the oldest one of its set. */
static struct line *get(struct lines *lines, unsigned int ctx, u64 va)
{
	struct line *line = find(lines, ctx, va), *set = set_of(lines, ctx, va);
	u32 n;

	if (line)
		return line;
	line = set;
	for (n = 0; n < LINES_WAYS && line->used; n++)
		if (!set[n].used || set[n].age < line->age)
			line = &set[n];
	if (line->used) {
		if (line->held)
			show_all(lines, line->ctx);
		forget(lines, line);
	}
	*line = (struct line){
		.va = va, .ctx = (u8)ctx, .used = true, .age = ++lines->allocated,
	};
	link_in(lines, line, ALL);
	return line;
}

/* Return the bytes of a line, as bits, from *va to end, and advance *va to the next line. */
static u64 take_bytes(u64 *va, u64 end)
{
	const u64 line = *va & ~(u64)(LINES_BYTES - 1), mask = lines_mask(line, *va, end);

	*va = min_u64(line + LINES_BYTES, end);
	return mask;
}

/* Copy 8 bytes of memory, which may be written at the same time. */
static void copy_word(const u8 *memory, u8 *to)
{
	const u64 word = __atomic_load_n((const u64 *)(const void *)memory, __ATOMIC_RELAXED);

	memcpy(to, &word, sizeof(word));
}

/*
 * Copy the words of memory that have some of the bytes. The CPU may write them at the same time,
 * and units others of the line, without an order.
 */
static void copy_memory(struct lines *lines, const u8 *host, u64 bytes, u8 *data)
{
	u32 n;

	for (n = 0; n < LINES_BYTES; n += 8) {
		if (!(bytes >> n & 0xff))
			continue;
		lines->counts.copied++;
		copy_word(host + n, data + n);
	}
}

/*
 * Compare known bytes of a line with memory, and copy the others. Returns those that differ, which
 * are stale from then on.
 */
static u64 compare(struct lines *lines, struct line *line, u64 bytes)
{
	const u8 *host = mmu_probe(lines->mmu, line->ctx, line->va, PUMICE_ACCESS_READ);
	u64 left, differ = 0;
	u8 now[LINES_BYTES];

	if (!host)
		return 0;
	copy_memory(lines, host, bytes, now);
	for (left = bytes; left; left &= left - 1) {
		const u32 n = (u32)__builtin_ctzll(left);

		if (!(line->known >> n & 1))
			line->data[n] = now[n];
		else if (line->data[n] != now[n])
			differ |= 1ull << n;
	}
	line->known |= bytes;
	set_stale(lines, line, (line->stale & ~bytes) | differ);
	return differ;
}

/*
 * Begin an access by the context of a line, in its current job. Jobs of all contexts access context
 * 0. The firmware of the project starts no job in it, but another one may: then lines of context 0
 * hold bytes from the end of that job on, also while those jobs run, until one of them accesses
 * such a line.
 */
static void begin(struct lines *lines, struct line *line)
{
	if (line->held)
		show_all(lines, line->ctx);
	if (line->job != lines->job[line->ctx])
		line->checked = line->expected = 0;
	line->job = lines->job[line->ctx];
}

/*
 * Keep the values that bytes have before they are written: before the first store of several that
 * are announced. Those of other memory, which had the address before, are in it.
 */
static void expect(struct lines *lines, struct line *line, u64 bytes)
{
	u8 *host;

	bytes &= ~line->dirty;
	if (!bytes)
		return;
	host = mmu_probe(lines->mmu, line->ctx, line->va, PUMICE_ACCESS_READ);
	if (host != line->host) {
		set_clean(lines, line);
		line->expected = 0;
	}
	line->host = host;
	bytes &= ~line->expected;
	line->expected |= bytes;
	for (; host && bytes; bytes &= bytes - 1) {
		const u32 n = (u32)__builtin_ctzll(bytes);

		line->other[n] = __atomic_load_n(&host[n], __ATOMIC_RELAXED);
	}
}

/*
 * A store will write bytes: end their comparison in this job, and in others that begin before its
 * request. Memory has the result of an atomic operation then, which those of other USCs may load.
 */
static void end_comparison(struct line *line, u64 bytes)
{
	line->checked |= bytes;
	line->known &= ~bytes | line->stale;
}

/* Bytes of a line are written: they are neither stale nor compared, until they are read again. */
static void forget_copy(struct lines *lines, struct line *line, u64 bytes)
{
	line->known &= ~bytes;
	line->checked &= ~bytes;
	set_stale(lines, line, line->stale & ~bytes);
}

/* ------------------------------------------------------------------- accesses */

/*
 * Begin an access to the line of the first of the bytes from *va to end, and advance *va to the
 * next line. Returns the line, or NULL if it has none and none is to be created; mask: its bytes.
 */
static struct line *begin_next(struct lines *lines, unsigned int ctx, u64 *va, u64 end, bool create,
			       u64 *mask)
{
	const u64 start = *va & ~(u64)(LINES_BYTES - 1);
	struct line *line = create ? get(lines, ctx, start) : find(lines, ctx, start);

	*mask = take_bytes(va, end);
	if (line)
		begin(lines, line);
	return line;
}

bool lines_read(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, u64 *at)
{
	const u64 end = va + bytes;
	bool stale = false;

	if (!lines || ctx >= PUMICE_MMU_CONTEXTS)
		return false;
	pthread_mutex_lock(&lines->lock);
	while (va < end) {
		u64 mask, differ;
		struct line *line = begin_next(lines, ctx, &va, end, true, &mask);

		mask &= ~line->checked;
		differ = mask ? compare(lines, line, mask) : 0;
		line->checked |= mask;
		if (differ && !stale)
			*at = line->va + (u32)__builtin_ctzll(differ);
		stale |= differ != 0;
	}
	pthread_mutex_unlock(&lines->lock);
	return stale;
}

typedef void (*access_fn)(struct lines *lines, struct line *line, u64 bytes,
			  const struct lines_writer *writer);

/* Begin an access to each line of a range that exists, or that is created, and do the access. */
static void access_lines(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, bool create,
			 access_fn access, const struct lines_writer *writer)
{
	const u64 end = va + bytes;

	if (!lines || ctx >= PUMICE_MMU_CONTEXTS)
		return;
	pthread_mutex_lock(&lines->lock);
	while (va < end) {
		u64 mask;
		struct line *line = begin_next(lines, ctx, &va, end, create, &mask);

		if (line)
			access(lines, line, mask, writer);
	}
	pthread_mutex_unlock(&lines->lock);
}

static void access_write(struct lines *lines, struct line *line, u64 bytes,
			 const struct lines_writer *writer)
{
	forget_copy(lines, line, bytes);
	if (!writer)
		return;
	expect(lines, line, bytes & ~line->expected);
	line->expected &= ~bytes;
	set_dirty(lines, line, bytes);
	line->writer = *writer;
}

static void access_bypass(struct lines *lines, struct line *line, u64 bytes,
			  const struct lines_writer *writer)
{
	(void)writer;
	forget_copy(lines, line, bytes);
	end_dirty(lines, line, bytes);
}

static void announce_store(struct lines *lines, struct line *line, u64 bytes,
			   const struct lines_writer *writer)
{
	(void)writer;
	expect(lines, line, bytes);
	end_comparison(line, bytes);
}

static void announce_load(struct lines *lines, struct line *line, u64 bytes,
			  const struct lines_writer *writer)
{
	(void)writer;
	if (bytes & line->known & ~line->checked)
		compare(lines, line, bytes & line->known & ~line->checked);
}

void lines_write(struct lines *lines, unsigned int ctx, u64 va, u64 bytes,
		 const struct lines_writer *writer)
{
	access_lines(lines, ctx, va, bytes, writer, access_write, writer);
}

void lines_bypass(struct lines *lines, unsigned int ctx, u64 va, u64 bytes)
{
	access_lines(lines, ctx, va, bytes, false, access_bypass, NULL);
}

void lines_expect(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, bool store)
{
	access_lines(lines, ctx, va, bytes, store, store ? announce_store : announce_load, NULL);
}

bool lines_is_stale(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, u64 *at)
{
	const u64 end = va + bytes;
	u64 found = 0;

	if (!lines || ctx >= PUMICE_MMU_CONTEXTS || !atomic_load(&lines->stale[ctx]))
		return false;
	pthread_mutex_lock(&lines->lock);
	while (va < end && !found) {
		const struct line *line = find(lines, ctx, va & ~(u64)(LINES_BYTES - 1));

		found = take_bytes(&va, end) & (line ? line->stale : 0);
		if (found)
			*at = line->va + (u32)__builtin_ctzll(found);
	}
	pthread_mutex_unlock(&lines->lock);
	return found;
}

bool lines_held(struct lines *lines, unsigned int ctx, u64 va, const u8 *memory, u8 *to)
{
	const u64 end = va + LINES_GRAIN;
	bool found = false;
	u32 n;

	if (!lines || ctx >= PUMICE_MMU_CONTEXTS || !atomic_load(&lines->stale[ctx]))
		return false;
	pthread_mutex_lock(&lines->lock);
	for (; va < end; va += LINES_BYTES) {
		const struct line *line = find(lines, ctx, va);
		u64 left = line ? line->stale : 0;

		lines->counts.visited++;
		for (n = 0; left && !found && n < LINES_GRAIN; n += 8)
			copy_word(memory + n, to + n);
		found |= left != 0;
		for (; left; left &= left - 1) {
			n = (u32)__builtin_ctzll(left);
			to[va % LINES_GRAIN + n] = line->data[n];
		}
	}
	pthread_mutex_unlock(&lines->lock);
	return found;
}

/* ------------------------------------------------------------------- operations */

enum operation { CLEAN, INVALIDATE, DISCARD };

static void apply(struct lines *lines, struct line *line, enum operation operation)
{
	if (operation == DISCARD)
		set_held(lines, line, 0);
	if (operation == CLEAN)
		set_clean(lines, line);
	else
		forget(lines, line);
}

/*
 * Apply an operation to lines of a context with bytes of a range. Those of the range are looked up,
 * or those of the context, whichever are fewer: at most LINES_SETS * LINES_WAYS, also if none of
 * the range has a line. Lock held.
 */
static void sweep(struct lines *lines, unsigned int ctx, u64 first, u64 last,
		  enum operation operation)
{
	const u32 which = operation == CLEAN ? DIRTY : ALL;
	const struct list *list = &lines->list[ctx][which];
	struct line *line;
	u64 va = first & ~(u64)(LINES_BYTES - 1);
	u32 n, left, after;

	if (last / LINES_BYTES - first / LINES_BYTES < list->count) {
		left = (u32)(last / LINES_BYTES - first / LINES_BYTES) + 1;
		for (; left; left--, va += LINES_BYTES) {
			lines->counts.visited++;
			line = find(lines, ctx, va);
			if (line)
				apply(lines, line, operation);
		}
		return;
	}
	for (n = list->first; n != NONE; n = after) {
		lines->counts.visited++;
		line = &lines->line[n];
		after = line->link[which].after;
		if (line->va > last || line->va + LINES_BYTES - 1 < first)
			continue;
		apply(lines, line, operation);
	}
}

static void operate(struct lines *lines, unsigned int ctx, u64 first, u64 last,
		    enum operation operation)
{
	unsigned int n;

	if (!lines)
		return;
	pthread_mutex_lock(&lines->lock);
	for (n = 0; n < PUMICE_MMU_CONTEXTS; n++)
		if (ctx == n || ctx == MMU_ALL_CONTEXTS) {
			if (operation != DISCARD && !first && last == UINT64_MAX)
				show_all(lines, n);
			sweep(lines, n, first, last, operation);
		}
	pthread_mutex_unlock(&lines->lock);
}

void lines_clean(struct lines *lines, unsigned int ctx, u64 first, u64 last)
{
	operate(lines, ctx, first, last, CLEAN);
}

void lines_drop(struct lines *lines, unsigned int ctx, u64 first, u64 last)
{
	operate(lines, ctx, first, last, INVALIDATE);
}

void lines_discard(struct lines *lines, unsigned int ctx, u64 first, u64 last)
{
	operate(lines, ctx, first, last, DISCARD);
}

void lines_show(struct lines *lines, unsigned int ctx)
{
	if (!lines || ctx >= PUMICE_MMU_CONTEXTS)
		return;
	pthread_mutex_lock(&lines->lock);
	show_all(lines, ctx);
	pthread_mutex_unlock(&lines->lock);
}

void lines_reset(struct lines *lines)
{
	if (!lines)
		return;
	lines_discard(lines, MMU_ALL_CONTEXTS, 0, UINT64_MAX);
	pthread_mutex_lock(&lines->lock);
	memset(lines->ended, 0, sizeof(lines->ended));
	pthread_mutex_unlock(&lines->lock);
}

/* ------------------------------------------------------------------- jobs */

void lines_job_begin(struct lines *lines, unsigned int ctx)
{
	if (!lines || ctx >= PUMICE_MMU_CONTEXTS)
		return;
	pthread_mutex_lock(&lines->lock);
	show_all(lines, ctx);
	lines->job[ctx] = lines->job[0] = ++lines->jobs;
	/* Bytes of this job are dirty now, also after it was switched out. */
	lines->ended[ctx] = (struct ended){ 0 };
	pthread_mutex_unlock(&lines->lock);
}

void lines_job_end(struct lines *lines, unsigned int ctx, enum pumice_unit dm, u8 master, u64 tag,
		   bool last)
{
	const struct list *list;
	u32 n;

	if (!lines || ctx >= PUMICE_MMU_CONTEXTS)
		return;
	pthread_mutex_lock(&lines->lock);
	list = lines->list[ctx];
	lines->ended[ctx] = (struct ended){ .ended = true, .dm = (u8)dm, .master = master,
					    .tag = tag };
	for (n = list[HELD].count; last && n < LINES_HELD && list[FRESH].first != NONE; n++)
		hide(lines, &lines->line[list[FRESH].first]);
	pthread_mutex_unlock(&lines->lock);
}

void lines_job_switched(struct lines *lines, unsigned int ctx)
{
	if (!lines || ctx >= PUMICE_MMU_CONTEXTS)
		return;
	pthread_mutex_lock(&lines->lock);
	lines->ended[ctx] = (struct ended){ 0 };
	pthread_mutex_unlock(&lines->lock);
}

void lines_job_reported(struct lines *lines, enum pumice_unit dm)
{
	u32 n;

	if (!lines)
		return;
	pthread_mutex_lock(&lines->lock);
	for (n = 0; n < PUMICE_MMU_CONTEXTS; n++)
		lines->ended[n].reported |= lines->ended[n].ended && lines->ended[n].dm == dm;
	pthread_mutex_unlock(&lines->lock);
}

void lines_job_handled(struct lines *lines, enum pumice_unit dm)
{
	u32 n;

	if (!lines)
		return;
	pthread_mutex_lock(&lines->lock);
	for (n = 0; n < PUMICE_MMU_CONTEXTS; n++)
		lines->ended[n].handled |= lines->ended[n].reported && lines->ended[n].dm == dm;
	pthread_mutex_unlock(&lines->lock);
}

/*
 * Return the dirty line of a context with the lowest address, or NULL. If that was cleaned, and
 * others were not, it is the lowest of the SEARCH lines that became dirty last. Lock held.
 */
static struct line *first_dirty(struct lines *lines, unsigned int ctx)
{
	u32 *lowest = &lines->lowest[ctx], left = SEARCH, n;

	n = *lowest == NONE ? lines->list[ctx][DIRTY].first : NONE;
	for (; n != NONE && left; n = lines->line[n].link[DIRTY].after, left--) {
		lines->counts.visited++;
		if (*lowest == NONE || lines->line[n].va < lines->line[*lowest].va)
			*lowest = n;
	}
	return *lowest == NONE ? NULL : &lines->line[*lowest];
}

/* Get the first dirty byte of a context whose last job has ended; false: none. Lock held. */
static bool first_byte(struct lines *lines, unsigned int ctx, struct lines_dirty *dirty)
{
	const struct ended *e = &lines->ended[ctx];
	const struct line *line = first_dirty(lines, ctx);

	if (!line)
		return false;
	*dirty = (struct lines_dirty){
		.va = line->va + (u32)__builtin_ctzll(line->dirty),
		.ctx = (u8)ctx, .master = e->master, .tag = e->tag, .writer = line->writer,
	};
	return true;
}

void lines_job_signalled(struct lines *lines, u32 busy, u64 tag)
{
	unsigned int n;

	if (!lines)
		return;
	pthread_mutex_lock(&lines->lock);
	for (n = 0; n < PUMICE_MMU_CONTEXTS; n++) {
		struct ended *e = &lines->ended[n];

		if (e->handled && e->tag == tag && !e->signalled && !(busy >> n & 1))
			e->signalled = first_byte(lines, n, &e->first);
	}
	pthread_mutex_unlock(&lines->lock);
}

bool lines_take_dirty(struct lines *lines, u32 busy, struct lines_dirty *dirty)
{
	bool found = false;
	unsigned int n;

	if (!lines)
		return false;
	pthread_mutex_lock(&lines->lock);
	for (n = 0; n < PUMICE_MMU_CONTEXTS && !found; n++) {
		struct ended *e = &lines->ended[n];

		if (!e->handled)
			continue;
		found = !(busy >> n & 1) && first_byte(lines, n, dirty);
		if (!found && e->signalled) {
			*dirty = e->first;
			dirty->cleaned = found = true;
		}
		*e = (struct ended){ 0 };
	}
	pthread_mutex_unlock(&lines->lock);
	return found;
}

void lines_get_counts(struct lines *lines, struct lines_counts *counts)
{
	pthread_mutex_lock(&lines->lock);
	*counts = lines->counts;
	pthread_mutex_unlock(&lines->lock);
}
