/* SPDX-License-Identifier: MIT */
/*
 * Memory management unit: GPU virtual address to host pointer.
 *
 * Source: document 000, "Memory Hierarchy". 32 contexts of 1 TiB, three levels of tables in
 * guest memory (hw/formats.xml), page sizes by ranges of registers.
 *
 * Every unit that accesses memory owns a struct mmu_tlb and only that unit accesses it. TLB
 * entries are kept until they are invalidated: an invalidation records its range, bumps the
 * context's generation, which the entries carry, and waits until every unit has passed an
 * instruction boundary. An entry of an older generation is valid if none of the ranges since
 * then contains its address. Host pointers returned here are valid until the unit's step
 * returns.
 *
 * The first level of a TLB has entries of 4 KiB. Those of the second are tagged by page size
 * where the range registers assign it, since only then the size follows from the address:
 * one entry serves a page of up to 2 MiB. Elsewhere they are of 4 KiB, too. Entries of either
 * level for parts of such a page become invalid with it.
 *
 * Limits: MMU_RANGES ranges of each context are kept; an entry older than that is dropped,
 * whatever the ranges.
 */
#ifndef PUMICE_GPU_MMU_H
#define PUMICE_GPU_MMU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../fault.h"
#include "../host_alloc.h"
#include "../host_line.h"
#include "pumice_formats.h"

struct inject;
struct mem_map;
struct mmu_request;

#define MMU_TLB_ENTRIES 256u	/* direct mapped; a power of two */
/* Entries of the second level of a unit that accesses scattered memory; a power of two. */
#define MMU_TLB_FAR_ENTRIES	8192u
/* Those of a unit that accesses a few buffers, page after page; a power of two. */
#define MMU_TLB_FAR_SMALL	64u
#define MMU_GRAIN_SHIFT 12u	/* entries of the first level cover 4 KiB */

#define MMU_BLOCK_SHIFT 21u	/* covered by one entry of a page directory */
#define MMU_RANGES	64u	/* recorded invalidations of a context; a power of two */

/*
 * Permissions of an entry. In detailed modes they are shifted by MMU_TLB_DETAILED bits, so that
 * only mmu_translate() finds the entry: the other functions make no requests. An entry for a page
 * that the parameter manager owns has the last two instead of the first two, so that only units of
 * the tiling pipeline may use it: those units accept both.
 */
#define MMU_TLB_READ	1u
#define MMU_TLB_WRITE	2u
#define MMU_TLB_EXEC	4u
#define MMU_TLB_PM_READ	8u
#define MMU_TLB_PM_WRITE 16u
#define MMU_TLB_COHERENT 32u	/* no permission: caches of the GPU keep nothing of the page */
#define MMU_TLB_DETAILED 8u
/* From this bit of perms on, mode strict: number of the context's job that has used it, % 2^16. */
#define MMU_TLB_JOB	16u

struct mmu_tlb_entry {
	u64 tag;	/* mmu_tlb_tag(), or mmu_tlb_page_tag() in the second level; 0: none */
	u64 gen;	/* generation of the context when the entry was filled */
	u8 *host;	/* first byte of the 4 KiB grain, or of the page */
	u32 perms;	/* MMU_TLB_* */
	/* Bytes that are invalidated together: 1 << shift, of the page if its size is assigned. */
	u32 shift;
};

struct mmu_tlb {
	struct mmu_tlb_entry entry[MMU_TLB_ENTRIES];
	u64 hits, misses;
	/*
	 * Of the owner, for struct mmu_request. place is constant; usc is that of the next access,
	 * where a unit serves several.
	 */
	u32 place, usc;
	bool program;	/* the next access is for an instruction of usc, in its thread */
	/* Second level, of the owner: mmu_tlb_set_far(); or NULL. */
	struct mmu_tlb_entry *far;
	u32 far_mask;	/* number of its entries - 1 */
	bool far_filled;	/* since its creation or the last reset */
	/*
	 * Target of writes to null pages. Write-only: it contains data of any context, so
	 * code that reads back its own writes must check mmu_in_sink() first.
	 */
	_Alignas(16) u8 sink[1u << MMU_GRAIN_SHIFT];
	/* Mode strict: a grain as caches hold it, for reads until the next translation. */
	_Alignas(16) u8 held[1u << MMU_GRAIN_SHIFT];
};

/*
 * Allocate and clear a second level of count entries, each in one line of the host's cache. NULL:
 * out of memory. The owner calls host_free().
 */
struct mmu_tlb_entry *mmu_tlb_far_create(u32 count);
/* Set the second level: memory of the owner, count entries of zero bytes. */
static inline void mmu_tlb_set_far(struct mmu_tlb *tlb, struct mmu_tlb_entry *far, u32 count)
{
	tlb->far = far;
	tlb->far_mask = count - 1;
	tlb->far_filled = false;
}

/*
 * A unit with two kinds of requests names those of kind 1 by this. The unit of a fault is without.
 */
#define MMU_KIND_1	 0x80u
#define MMU_SECOND(unit) ((enum pumice_unit)((unit) | MMU_KIND_1))
/*
 * A unit that requests more bytes than its program uses names the request by the first of these,
 * and in mode strict the bytes that are used by the second: the hierarchy has no request of these.
 */
#define MMU_IS_WINDOW	 0x40u
#define MMU_IS_USE	 0x20u
#define MMU_WINDOW(unit) ((enum pumice_unit)((unit) | MMU_IS_WINDOW))
#define MMU_USE(unit)	 ((enum pumice_unit)((unit) | MMU_IS_USE))
#define MMU_FLAGS	 (MMU_KIND_1 | MMU_IS_WINDOW | MMU_IS_USE)

/* A request of a unit to the memory hierarchy. */
struct mmu_request {
	enum pumice_unit unit;	/* NONE: a walk of the MMU */
	u32 kind;	/* of the unit's requests, 0 or 1: hw/clients.xml */
	u32 place;	/* core + 1 of the unit, or 0 outside of the cores */
	u32 usc;	/* USC that the unit belongs to or works for, over all cores */
	unsigned int ctx;	/* of walks: whose tables, or MMU_TABLES of the MMU's own */
	u64 addr;	/* virtual; of walks: the bus address */
	u64 bytes;	/* not 0 */
	enum pumice_access access;
	bool coherent;	/* bypasses the caches; false of walks */
	bool window, use;	/* see MMU_WINDOW(), MMU_USE() */
	bool program;	/* of TAG: for an instruction of the USC, in its thread */
};

/* The tables of a translation: bus addresses, in the memory of a virtual GPU. */
struct mmu_path {
	unsigned int os;
	u64 catalogue, directory, table;
	u64 pc_entry, pd_entry;	/* of the first two; pd_entry 0: of the catalogue only */
	u64 page;	/* of 4 KiB, the address that is translated to; 0: a null page */
};

/* A translation that was not in a TLB. */
struct mmu_walked {
	enum pumice_unit unit;
	enum pumice_access access;
	unsigned int ctx;
	u32 usc;	/* as in struct mmu_request */
	u64 addr;
	struct mmu_path path;
};

/*
 * Operations on the memory hierarchy. INVALIDATE writes dirty lines before it drops them, DROP does
 * not: it is for the firmware only. NONE has no effect on caches: a command of a stream has waited
 * for the work before it, which mode strict records.
 */
enum mmu_cache_kind {
	MMU_CACHE_FENCE,
	MMU_CACHE_CLEAN,
	MMU_CACHE_INVALIDATE,
	MMU_CACHE_DROP,
	MMU_CACHE_NONE,
};

/* Of struct mmu_cache_op. */
#define MMU_ALL_USCS		(~0u)
#define MMU_ALL_CONTEXTS	(~0u)			/* and the tables */
#define MMU_TABLES		PUMICE_MMU_CONTEXTS	/* addresses are bus addresses */

/* An operation on the lines of a context. FENCE is of one USC, and without a range. */
struct mmu_cache_op {
	enum mmu_cache_kind kind;
	enum pumice_mem_scope scope;
	u32 usc;	/* over all cores; or not of a USC: MMU_ALL_USCS */
	enum pumice_unit master;	/* whose stream has the command; NONE: another cause */
	unsigned int ctx;	/* or MMU_TABLES or MMU_ALL_CONTEXTS */
	u64 first, last;	/* addresses */
};

/* Mode strict: a use of a TLB entry whose translation the tables have no longer. */
struct mmu_stale {
	enum pumice_unit unit;
	enum pumice_access access;
	unsigned int ctx;
	u32 usc;	/* as in struct mmu_request */
	bool program;
	u64 addr;
};

/* Drop the entries of a TLB and its counts; levels and place stay. No access is under way. */
void mmu_tlb_reset(struct mmu_tlb *tlb);

/* Range of one invalidation: first and last byte. */
struct mmu_dropped {
	_Atomic u64 first, last;
};

struct mmu {
	unsigned int oses;	/* virtual GPUs that are active; 0 is 1. Constant */

	/* Registers, guarded by the device lock for writing; read without it. */
	_Atomic u64 ctx[PUMICE_MMU_CONTEXTS];
	_Atomic u64 part[PUMICE_OS_COUNT];	/* OS_CATALOGUE; of OS 0 it is ctx[0] */
	_Atomic u64 range_start[PUMICE_MMU_RANGES];
	_Atomic u64 range_end[PUMICE_MMU_RANGES];
	_Atomic u64 page_sizes;
	u64 inval_start, inval_end;
	_Atomic u32 fault_count;	/* faults of all units, including the firmware's window */

	/*
	 * Generation of each context's TLB entries. Only increases, also over resets; 64
	 * bits, so that no guest can make it wrap. The range of the invalidation that made
	 * generation n is in entry n % MMU_RANGES, and was written before n was.
	 */
	_Atomic u64 gen[PUMICE_MMU_CONTEXTS];
	struct mmu_dropped dropped[PUMICE_MMU_CONTEXTS][MMU_RANGES];
	_Atomic bool dropping;	/* a thread records an invalidation */
	const struct mem_map *map;	/* changes only while no unit runs */
	struct inject *inject;	/* fault injection; constant, may be NULL */

	/*
	 * Detailed modes (Documentation/hierarchy.rst): each access of a unit is passed to the
	 * memory hierarchy, in the unit's thread. NULL in fast mode. Changes only while no unit
	 * runs, by mmu_set_request().
	 */
	void (*request)(void *opaque, const struct mmu_request *request);
	void *request_opaque;
	/* The same for operations on its caches: mmu_set_cache_op(). */
	void (*cache_op)(void *opaque, const struct mmu_cache_op *op);
	void *cache_op_opaque;

	/*
	 * Mode strict: called for the first use of a stale TLB entry in a job, in the thread of the
	 * unit; NULL in other modes. Changes only while no unit runs, by mmu_set_stale().
	 */
	void (*stale)(void *opaque, const struct mmu_stale *use);
	void *stale_opaque;
	/*
	 * Mode strict: called after the request of a read, in the thread of the unit. If caches
	 * hold other bytes of its grain than memory, copy the grain as they hold it and return
	 * true. In other modes NULL; set as stale is, by mmu_set_held().
	 */
	bool (*held)(void *opaque, const struct mmu_request *read, const u8 *grain, u8 *to);
	void *held_opaque;
	/*
	 * Mode strict: called for each translation that was not in a TLB, in the thread of the
	 * unit; NULL in other modes. Set as stale is, by mmu_set_walked().
	 */
	void (*walked)(void *opaque, const struct mmu_walked *walked);
	void *walked_opaque;
	_Atomic u32 jobs[PUMICE_MMU_CONTEXTS];	/* that have begun, in mode strict */

	/* Called for walks and faults, in the thread of the request; constant, may be NULL. */
	void (*event)(void *opaque, enum pumice_trace_kind kind, unsigned int ctx, u64 arg0,
		      u64 arg1);
	void *event_opaque;

	/*
	 * Performance counters, over all units and resets. Every thread adds to them at each walk,
	 * so they are in other host lines than the pointers above, which units read at each access.
	 */
	u8 apart_before[HOST_LINE];
	_Atomic u64 misses, faults, invalidations;
	/*
	 * Of each context: times that code fetched before may differ from memory, which is at the
	 * start of a job and after an invalidation of caches. mmu_code_count().
	 */
	_Atomic u64 code[PUMICE_MMU_CONTEXTS];
	u8 apart_after[HOST_LINE];
};

/*
 * Return the virtual GPU to whose part of context 0 an address belongs; it may be one that is not
 * active, or beyond the last possible one.
 */
static inline u64 mmu_part(const struct mmu *mmu, u64 va)
{
	return mmu->oses > 1 ? va / PUMICE_OS_PART_SIZE : 0;
}

/* Tag of an entry for a page of 1 << shift bytes. */
static inline u64 mmu_tlb_page_tag(unsigned int ctx, u64 va, unsigned int shift)
{
	return va >> shift | (u64)ctx << 28 | 1ull << 33 | (u64)(shift - MMU_GRAIN_SHIFT) << 34;
}

static inline u64 mmu_tlb_tag(unsigned int ctx, u64 va)
{
	return mmu_tlb_page_tag(ctx, va, MMU_GRAIN_SHIFT);
}

/*
 * Return the number of the entry for an address. Buffers are often at powers of two and accessed in
 * parallel, so the bits above the 2 MiB block are mixed in: the factor 37 maps blocks that
 * are a power of two apart to different entries.
 */
static inline u32 mmu_tlb_number(u64 va)
{
	u64 grain = va >> MMU_GRAIN_SHIFT, block = va >> MMU_BLOCK_SHIFT;

	return (grain ^ block * 37) % MMU_TLB_ENTRIES;
}

static inline struct mmu_tlb_entry *mmu_tlb_entry(struct mmu_tlb *tlb, u64 va)
{
	return &tlb->entry[mmu_tlb_number(va)];
}

/*
 * Return whether an entry for va of an older generation is still valid; if so it is updated to
 * gen, the context's current generation.
 */
bool mmu_tlb_renew(const struct mmu *mmu, struct mmu_tlb_entry *entry, unsigned int ctx, u64 va,
		   u64 gen);

/* Return the bus address of the catalogue of a context. */
static inline u64 mmu_catalogue(const struct mmu *mmu, unsigned int ctx)
{
	return atomic_load_explicit(&mmu->ctx[ctx], memory_order_relaxed) &
	       PUMICE_MMU_CTX__CATALOGUE__MASK;
}

/*
 * Return the address space of a context as one number, by which it differs from those of all
 * virtual GPUs: as mmu_space().
 */
static inline u64 mmu_context_space(const struct mmu *mmu, unsigned int ctx)
{
	return atomic_load_explicit(&mmu->ctx[ctx], memory_order_relaxed) &
	       (PUMICE_MMU_CTX__CATALOGUE__MASK | PUMICE_MMU_CTX__OS__MASK);
}

/* Return that number of the address space of a catalogue, a bus address, of a virtual GPU. */
static inline u64 mmu_space(unsigned int os, u64 catalogue)
{
	return (catalogue & PUMICE_MMU_CTX__CATALOGUE__MASK) |
	       PUMICE_FIELD_PREP(PUMICE_MMU_CTX__OS, os);
}

/*
 * Return the number of the last invalidation of a context that has an address in its range, from 1
 * in the order of all of the context. 0: there is none of the last MMU_RANGES, but for those of the
 * whole context.
 */
u64 mmu_find_invalidation(const struct mmu *mmu, unsigned int ctx, u64 va);

/* Return the generation of translations of a context, which each invalidation increases. */
static inline u64 mmu_generation(const struct mmu *mmu, unsigned int ctx)
{
	return atomic_load_explicit(&mmu->gen[ctx], memory_order_acquire);
}

/*
 * The fast path: return a host pointer to va, or NULL when the TLB has no entry with these
 * permissions. The caller has checked va < 1 TiB.
 */
static inline u8 *mmu_tlb_lookup(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx,
				 u64 va, u32 perm)
{
	struct mmu_tlb_entry *e = mmu_tlb_entry(tlb, va);
	u64 gen;

	if (e->tag != mmu_tlb_tag(ctx, va) || !(e->perms & perm))
		return NULL;
	gen = mmu_generation(mmu, ctx);
	if (e->gen != gen && !mmu_tlb_renew(mmu, e, ctx, va, gen))
		return NULL;
	return e->host + (va & ((1u << MMU_GRAIN_SHIFT) - 1));
}

/* Contents of null pages for reads; pointers to a null page for reading point here. */
extern const u8 mmu_zeros[1u << MMU_GRAIN_SHIFT];

/* Return whether a host pointer for writing points to a null page. */
static inline bool mmu_in_sink(const struct mmu_tlb *tlb, const u8 *host)
{
	return (uintptr_t)host - (uintptr_t)tlb->sink < sizeof(tlb->sink);
}

/* Look up the second level, which must exist, and copy a hit's grain to the first. */
u8 *mmu_tlb_find_far(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		     u32 perm);

/* As mmu_tlb_lookup(), in both levels; a hit in the second is copied to the first. */
static inline u8 *mmu_tlb_find(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx,
			       u64 va, u32 perm)
{
	u8 *host = mmu_tlb_lookup(mmu, tlb, ctx, va, perm);

	return host || !tlb->far ? host : mmu_tlb_find_far(mmu, tlb, ctx, va, perm);
}

/*
 * As mmu_tlb_find(), for more than a grain. Returns the bytes from va that are contiguous in the
 * host's memory by one entry, and their beginning in *host; 0 if no entry permits the access.
 */
u64 mmu_tlb_extent(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, u32 perm,
		   u8 **host);

/*
 * Translate one address through the TLB, filling it, for an access to bytes from there, which end
 * in the same grain. Returns a host pointer that is valid to the end of the 4 KiB grain, or NULL
 * with *fault filled in (fault, unit, access, ctx, addr; other fields are unchanged). In detailed
 * modes the access is a request to the memory hierarchy. One who accesses more of the grain than
 * that, or accesses it again, calls mmu_request() for it. bytes is 0 if all of them do. source is
 * the unit, or MMU_SECOND() of it. In mode strict a pointer for reading may be to a copy with data
 * that caches hold, which is valid until the next translation of the TLB.
 */
u8 *mmu_translate(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, u64 bytes,
		  enum pumice_access access, enum pumice_unit source, struct gpu_fault *fault);

/*
 * Return whether accesses are requests to the memory hierarchy. Then a unit does not keep host
 * pointers beyond the access for which it translated them.
 */
static inline bool mmu_is_detailed(const struct mmu *mmu)
{
	return mmu->request;
}

/* The part of mmu_request() for detailed modes. */
void mmu_pass_request(const struct mmu *mmu, const struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		      u64 bytes, enum pumice_access access, enum pumice_unit source);

/*
 * Pass an access to the memory hierarchy, in detailed modes; bytes is not 0, and they are in one
 * grain.
 */
static inline void mmu_request(const struct mmu *mmu, const struct mmu_tlb *tlb, unsigned int ctx,
			       u64 va, u64 bytes, enum pumice_access access,
			       enum pumice_unit source)
{
	if (mmu->request)
		mmu_pass_request(mmu, tlb, ctx, va, bytes, access, source);
}

/* Mode strict: a unit uses bytes that it has read by a request of MMU_WINDOW(). */
static inline void mmu_use(const struct mmu *mmu, const struct mmu_tlb *tlb, unsigned int ctx,
			   u64 va, u64 bytes, enum pumice_unit unit)
{
	if (mmu->stale)
		mmu_pass_request(mmu, tlb, ctx, va, bytes, PUMICE_ACCESS_READ, MMU_USE(unit));
}

/*
 * Set the function that requests of units are passed to, or NULL for fast mode, and drop all TLB
 * entries. While no unit runs.
 */
void mmu_set_request(struct mmu *mmu, void (*request)(void *opaque,
						      const struct mmu_request *request),
		     void *opaque);

/* Set the function that operations on caches are passed to, or NULL. While no unit runs. */
void mmu_set_cache_op(struct mmu *mmu, void (*cache_op)(void *opaque,
							const struct mmu_cache_op *op),
		      void *opaque);

/*
 * Set the function that uses of stale TLB entries are reported to, or NULL for other modes than
 * strict. While no unit runs; mmu_set_request() follows.
 */
void mmu_set_stale(struct mmu *mmu, void (*stale)(void *opaque, const struct mmu_stale *use),
		   void *opaque);

/* The same for data that caches hold. */
void mmu_set_held(struct mmu *mmu, bool (*held)(void *opaque, const struct mmu_request *read,
						const u8 *grain, u8 *to), void *opaque);

/* The same for translations that were not in a TLB. */
void mmu_set_walked(struct mmu *mmu, void (*walked)(void *opaque, const struct mmu_walked *walked),
		    void *opaque);

/*
 * Return whether the tables still have a path: a context has the catalogue, and its entries lead
 * to the next table. Without requests; any thread.
 */
bool mmu_path_exists(const struct mmu *mmu, const struct mmu_path *path);

/*
 * A job of a context begins: its programs are fetched again, and in mode strict entries of TLBs are
 * compared with the tables when they are used next. A change of tables while a job uses them is an
 * error of its user, which the invalidation makes visible.
 */
void mmu_job_begins(struct mmu *mmu, unsigned int ctx);

/*
 * Mode strict, before an access: return whether it is the first use of a stale TLB entry in this
 * job. mmu_translate() does not report it again.
 */
bool mmu_uses_stale(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		    enum pumice_access access, enum pumice_unit unit);

/* Return whether caches of the GPU keep nothing of the page of an address. */
bool mmu_is_coherent(const struct mmu *mmu, const struct mmu_tlb *tlb, unsigned int ctx, u64 va);

/*
 * Return a count of a context that changes when programs must be fetched again, which mode fast
 * may keep otherwise: code is cached as the data of other clients (hw/clients.xml), and so remains
 * what it was until a job begins, or an operation drops lines. Any thread.
 */
static inline u64 mmu_code_count(const struct mmu *mmu, unsigned int ctx)
{
	return atomic_load_explicit(&mmu->code[ctx], memory_order_acquire);
}

/* Change that count; ctx may be MMU_ALL_CONTEXTS or MMU_TABLES. */
void mmu_drop_code(struct mmu *mmu, unsigned int ctx);

/* Execute an operation on caches. In detailed modes it is passed to the memory hierarchy. */
static inline void mmu_cache_op(struct mmu *mmu, const struct mmu_cache_op *op)
{
	if (op->kind == MMU_CACHE_INVALIDATE || op->kind == MMU_CACHE_DROP)
		mmu_drop_code(mmu, op->ctx);
	if (mmu->cache_op)
		mmu->cache_op(mmu->cache_op_opaque, op);
}

/*
 * Translate one address without a TLB, on behalf of no unit: without fault, event and
 * counter. NULL when the access would fault, or would write to a null page.
 */
u8 *mmu_probe(const struct mmu *mmu, unsigned int ctx, u64 va, enum pumice_access access);

/*
 * The same as mmu_translate(), but NULL without fault, event and counter where that would fault, or
 * would use a null page. Not in detailed modes.
 */
u8 *mmu_reach(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, u64 bytes,
	      enum pumice_access access, enum pumice_unit unit);

/*
 * Copy between GPU virtual memory and a host buffer, grain by grain. Returns false with
 * *fault on a fault; the bytes before the faulting grain have been copied.
 */
bool mmu_read(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, void *buf, u64 len,
	      enum pumice_access access, enum pumice_unit unit, struct gpu_fault *fault);
bool mmu_write(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, const void *buf,
	       u64 len, enum pumice_unit unit, struct gpu_fault *fault);

/*
 * Drop entries of all units; the caller then waits for the units' steps (workers), if the memory
 * is to be used for something else. A range goes from the 4 KiB page of its first byte to that
 * of its last; one that ends before it begins is empty.
 */
void mmu_invalidate_all(struct mmu *mmu);
void mmu_invalidate_ctx(struct mmu *mmu, unsigned int ctx);
void mmu_invalidate_range(struct mmu *mmu, unsigned int ctx, u64 first, u64 last);

/*
 * Tables that the MMU keeps for the PM (document 000, Memory Hierarchy). The PM supplies their
 * memory: a page directory of 1 GiB, to which the context's catalogue points, and a page table
 * for each 2 MiB. Pages are of 4 KiB and owned by the PM. The functions return false if a
 * table is not memory that the GPU can write. Calls for different pages may be concurrent, but
 * those for the first page of a table and for the table itself.
 */
struct mmu_owned {
	unsigned int os;	/* virtual GPU whose memory the tables are */
	u64 va;			/* of a page */
	u64 directory, table;	/* bus addresses of its tables */
};

/* Clear a directory. @os: as in struct mmu_owned */
bool mmu_owned_clear(const struct mmu *mmu, unsigned int os, u64 directory);
/* Map a page to a bus address. first: the table has no page yet, and is cleared before. */
bool mmu_owned_map(const struct mmu *mmu, const struct mmu_owned *at, u64 addr, bool first);
/* Unmap a page; remove its table from the directory. The caller invalidates the TLBs. */
void mmu_owned_unmap(const struct mmu *mmu, const struct mmu_owned *at);
void mmu_owned_drop_table(const struct mmu *mmu, const struct mmu_owned *at);

/* Set registers to their reset values and drop all TLB entries. Map and counters are kept. */
void mmu_reset(struct mmu *mmu);

/*
 * Add the counters MMU_TLB_MISSES, _FAULTS, _INVALIDATIONS to value[], by enum pumice_perf_counter.
 */
void mmu_counters_add(const struct mmu *mmu, u64 *value);

#endif
