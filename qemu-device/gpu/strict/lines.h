/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: data of the lines that caches may hold, against memory. See lines.c.
 *
 * Locking: one mutex, a leaf; any thread. The functions accept NULL, for other modes.
 */
#ifndef PUMICE_GPU_STRICT_LINES_H
#define PUMICE_GPU_STRICT_LINES_H

#include <stdbool.h>

#include "../mmu/mmu.h"
#include "minmax.h"
#include "pumice_regs.h"

#define LINES_BYTES	64u	/* of a line, so that the masks have a bit for each byte */
#define LINES_SETS	16384u	/* a power of two */
#define LINES_WAYS	4u
#define LINES_HELD	8192u	/* lines of a context with bytes that memory does not have */
#define LINES_GRAIN	(1u << MMU_GRAIN_SHIFT)

/* The unit that writes, and the instruction, if code is not 0. */
struct lines_writer {
	u8 unit;	/* enum pumice_unit */
	u8 slot, wave, lane;
	bool lane_known;
	u16 usc;	/* over all cores */
	u32 pc;
	u64 code;
};

/* A byte that was written and is not in memory, at the end of a job or when that was signalled. */
struct lines_dirty {
	u64 va;
	u8 ctx;
	u8 master;	/* of the job: enum pumice_wave_master, if its tag is not 0 */
	u64 tag;	/* of the job: TAG of the data master, or 0 */
	bool cleaned;	/* after it was signalled */
	struct lines_writer writer;
};

/* Work that was done so far. */
struct lines_counts {
	u64 visited;	/* lines, by operations, ends of jobs and copies of grains */
	u64 copied;	/* words of memory of 8 bytes */
};

/* Return the bytes of the line at va from first up to end, of which there is one, as bits. */
static inline u64 lines_mask(u64 va, u64 first, u64 end)
{
	const u64 from = max_u64(first, va) - va, to = min_u64(end - va, LINES_BYTES);

	return UINT64_MAX >> (LINES_BYTES - (to - from)) << from;
}

struct lines;

/* Create the state of a GPU; NULL when out of memory. */
struct lines *lines_create(const struct mmu *mmu);
void lines_destroy(struct lines *lines);
/* Drop all lines: after a reset. */
void lines_reset(struct lines *lines);

/*
 * A job of an MMU context begins, or is resumed: bytes that units have read before are compared
 * with memory, and those that are held are written to it.
 */
void lines_job_begin(struct lines *lines, unsigned int ctx);
/*
 * A unit has read bytes by the caches. Returns whether a line may have other data than memory, and
 * the first such byte in *at: memory was written after an earlier job had read it, and the line was
 * not invalidated.
 */
bool lines_read(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, u64 *at);
/*
 * A unit writes bytes by the caches, which hold them until they are cleaned. writer: NULL: they
 * were written before and have become visible now.
 */
void lines_write(struct lines *lines, unsigned int ctx, u64 va, u64 bytes,
		 const struct lines_writer *writer);
/* A unit that bypasses the caches writes bytes: memory has the new value, and a line too. */
void lines_bypass(struct lines *lines, unsigned int ctx, u64 va, u64 bytes);
/*
 * A unit will access bytes by the caches, and calls lines_read() or lines_write() afterwards:
 * find those that are stale, or keep those that memory has before a store. A store ends the
 * comparison of its bytes that are not stale.
 */
void lines_expect(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, bool store);
/*
 * Return whether some bytes are known to be stale, and the first one in *at: of an atomic
 * operation, which was announced as a load and a store.
 */
bool lines_is_stale(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, u64 *at);
/*
 * Copy memory and the stale bytes of a grain, at va, if it has some, as units read them. memory and
 * to are its first byte.
 */
bool lines_held(struct lines *lines, unsigned int ctx, u64 va, const u8 *memory, u8 *to);
/* Lines with bytes of a range are written to memory; or that, and dropped; or dropped only. */
void lines_clean(struct lines *lines, unsigned int ctx, u64 first, u64 last);
void lines_drop(struct lines *lines, unsigned int ctx, u64 first, u64 last);
void lines_discard(struct lines *lines, unsigned int ctx, u64 first, u64 last);
/* Write held bytes to memory: before the tables of a context are replaced, or strict mode ends. */
void lines_show(struct lines *lines, unsigned int ctx);

/*
 * A job of a data master has ended. tag: as in struct lines_dirty. dm: its unit. last: no other job
 * of the context runs, so bytes that it has written are held by the caches from now on
 */
void lines_job_end(struct lines *lines, unsigned int ctx, enum pumice_unit dm, u8 master, u64 tag,
		   bool last);
/*
 * A job of an MMU context was switched out. It needs no clean, so ends of other jobs before are
 * forgotten: bytes that are dirty may be its own.
 */
void lines_job_switched(struct lines *lines, unsigned int ctx);
/* The firmware clears the event of the end of a data master's job. */
void lines_job_reported(struct lines *lines, enum pumice_unit dm);
/*
 * The firmware reads the status of a data master, and so handles the end of its job if that was
 * reported.
 */
void lines_job_handled(struct lines *lines, enum pumice_unit dm);
/*
 * The firmware signals the end of a job, which it has handled: note the first byte that is not in
 * memory. busy: as below.
 */
void lines_job_signalled(struct lines *lines, u32 busy, u64 tag);
/*
 * The firmware sleeps. Return the first byte of a job whose end it has handled that is not in
 * memory, or that of 4096 lines if the first one was cleaned; if all are, the one that was noted
 * when the end was signalled. To be called until there is none.
 * busy: bit n: a job of MMU context n runs, which may have written it: then the end is forgotten.
 */
bool lines_take_dirty(struct lines *lines, u32 busy, struct lines_dirty *dirty);
void lines_get_counts(struct lines *lines, struct lines_counts *counts);

#endif
