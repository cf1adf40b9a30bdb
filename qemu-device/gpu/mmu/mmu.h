/* SPDX-License-Identifier: MIT */
/*
 * Memory management unit: GPU virtual address to host pointer.
 *
 * Source: document 000, "Memory Hierarchy". 32 contexts of 1 TiB, three levels
 * of tables in guest memory (hw/formats.xml), page-size ranges by register.
 *
 * Every unit that accesses memory owns a struct mmu_tlb and is the only one to
 * touch it. A TLB holds what it holds until it is invalidated: an invalidation
 * notes its range, bumps the context's generation, which the entries carry, and waits
 * until every unit has passed an instruction boundary. An entry of an older generation
 * is good if none of the ranges since then holds its address. Host pointers got here
 * are good until the unit's step returns.
 *
 * Limits: MMU_RANGES ranges of each context are kept; an entry that has missed as many
 * is dropped, whatever they held.
 */
#ifndef PUMICE_GPU_MMU_H
#define PUMICE_GPU_MMU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../fault.h"
#include "pumice_formats.h"

struct inject;
struct mem_map;

#define MMU_TLB_ENTRIES 256u	/* direct mapped; a power of two */
#define MMU_TLB_FAR	8192u	/* entries of the second level; a power of two */
#define MMU_GRAIN_SHIFT 12u	/* entries cover 4 KiB, whatever the page size */

#define MMU_BLOCK_SHIFT 21u	/* what one entry of a page directory covers */
#define MMU_RANGES	64u	/* invalidations of a context that are remembered; a power of two */

/*
 * Permissions of an entry. Of a page that the parameter manager owns it has the
 * last two in place of the first, so that only the tiling pipeline's units find
 * it: those that may, look for both.
 */
#define MMU_TLB_READ	1u
#define MMU_TLB_WRITE	2u
#define MMU_TLB_EXEC	4u
#define MMU_TLB_PM_READ	8u
#define MMU_TLB_PM_WRITE 16u

struct mmu_tlb_entry {
	u64 tag;	/* VA >> 12 | context << 28 | 1 << 33 when it holds something */
	u64 gen;	/* generation of the context when it was filled */
	u8 *host;	/* first byte of the 4 KiB grain */
	u32 perms;	/* MMU_TLB_* */
};

struct mmu_tlb {
	struct mmu_tlb_entry entry[MMU_TLB_ENTRIES];
	u64 hits, misses;
	/* A second level of MMU_TLB_FAR entries, zeroed at first, that the owner gives; or NULL. */
	struct mmu_tlb_entry *far;
	/*
	 * Where writes to null pages go. Write-only: it holds what any context wrote, so
	 * that who reads what it writes asks mmu_in_sink() first.
	 */
	_Alignas(16) u8 sink[1u << MMU_GRAIN_SHIFT];
};

/* What one invalidation dropped: first and last byte. */
struct mmu_dropped {
	_Atomic u64 first, last;
};

struct mmu {
	/* Registers, guarded by the device lock for writing; read without it. */
	_Atomic u64 ctx[PUMICE_MMU_CONTEXTS];
	_Atomic u64 range_start[PUMICE_MMU_RANGES];
	_Atomic u64 range_end[PUMICE_MMU_RANGES];
	u64 inval_start, inval_end;
	_Atomic u32 fault_count;	/* of all units, the firmware's window included */

	/*
	 * Generation of each context's TLB entries. Only ever rises, over resets
	 * too; 64 bits, so that no guest can make an old one come back. What the
	 * invalidation that made generation n dropped is in place n % MMU_RANGES, and
	 * was written before n was.
	 */
	_Atomic u64 gen[PUMICE_MMU_CONTEXTS];
	struct mmu_dropped dropped[PUMICE_MMU_CONTEXTS][MMU_RANGES];
	const struct mem_map *map;	/* changes only while no unit runs */
	struct inject *inject;	/* faults on request; constant, may be NULL */

	/* Told of walks and faults, in the thread of the request; constant, may be NULL. */
	void (*event)(void *opaque, enum pumice_trace_kind kind, unsigned int ctx, u64 arg0,
		      u64 arg1);
	void *event_opaque;

	/* Performance counters, over all units and resets. */
	_Atomic u64 misses, faults, invalidations;
};

static inline u64 mmu_tlb_tag(unsigned int ctx, u64 va)
{
	return va >> MMU_GRAIN_SHIFT | (u64)ctx << 28 | 1ull << 33;
}

/*
 * The entry for an address. Buffers like to lie at powers of two and to be walked
 * side by side, so that what stands above the 2 MiB block is mixed in: 37 sends
 * blocks that are a power of two apart to different places.
 */
static inline struct mmu_tlb_entry *mmu_tlb_entry(struct mmu_tlb *tlb, u64 va)
{
	u64 grain = va >> MMU_GRAIN_SHIFT, block = va >> MMU_BLOCK_SHIFT;

	return &tlb->entry[(grain ^ block * 37) % MMU_TLB_ENTRIES];
}

/*
 * Whether an entry of an older generation is still good; it becomes one of gen, the
 * context's present generation, then.
 */
bool mmu_tlb_renew(const struct mmu *mmu, struct mmu_tlb_entry *entry, unsigned int ctx, u64 va,
		   u64 gen);

/*
 * The fast path: a host pointer to va, or NULL when the TLB does not hold it
 * with these permissions. The caller has checked va < 1 TiB.
 */
static inline u8 *mmu_tlb_lookup(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx,
				 u64 va, u32 perm)
{
	struct mmu_tlb_entry *e = mmu_tlb_entry(tlb, va);
	u64 gen;

	if (e->tag != mmu_tlb_tag(ctx, va) || !(e->perms & perm))
		return NULL;
	gen = atomic_load_explicit(&mmu->gen[ctx], memory_order_acquire);
	if (e->gen != gen && !mmu_tlb_renew(mmu, e, ctx, va, gen))
		return NULL;
	return e->host + (va & ((1u << MMU_GRAIN_SHIFT) - 1));
}

/* What a null page holds for who reads it: where pointers to one lead that were got so. */
extern const u8 mmu_zeros[1u << MMU_GRAIN_SHIFT];

/* Whether a host pointer that was got for writing leads to a null page. */
static inline bool mmu_in_sink(const struct mmu_tlb *tlb, const u8 *host)
{
	return (uintptr_t)host - (uintptr_t)tlb->sink < sizeof(tlb->sink);
}

/* The entry of the second level; only where there is one. */
static inline struct mmu_tlb_entry *mmu_tlb_far_entry(const struct mmu_tlb *tlb, u64 va)
{
	return &tlb->far[(va >> MMU_GRAIN_SHIFT) % MMU_TLB_FAR];
}

/* As mmu_tlb_lookup(), in both levels; what the second one holds goes to the first. */
static inline u8 *mmu_tlb_find(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx,
			       u64 va, u32 perm)
{
	u8 *host = mmu_tlb_lookup(mmu, tlb, ctx, va, perm);

	if (host || !tlb->far || mmu_tlb_far_entry(tlb, va)->tag != mmu_tlb_tag(ctx, va))
		return host;
	*mmu_tlb_entry(tlb, va) = *mmu_tlb_far_entry(tlb, va);
	return mmu_tlb_lookup(mmu, tlb, ctx, va, perm);
}

/*
 * Translate one address, through the TLB, filling it. Returns a host pointer
 * that is good to the end of the 4 KiB grain, or NULL with *fault filled in
 * (fault, unit, access, ctx, addr; the rest is left alone).
 */
u8 *mmu_translate(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		  enum pumice_access access, enum pumice_unit unit, struct gpu_fault *fault);

/*
 * Translate one address without a TLB, for a unit that none knows of: no fault, no
 * event and no counter. NULL when the access would fault, or would write to a null page.
 */
u8 *mmu_probe(const struct mmu *mmu, unsigned int ctx, u64 va, enum pumice_access access);

/*
 * Copy between GPU virtual memory and a host buffer, grain by grain. False with
 * *fault on a fault; what lies before the faulting grain has then been copied.
 */
bool mmu_read(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, void *buf, u64 len,
	      enum pumice_access access, enum pumice_unit unit, struct gpu_fault *fault);
bool mmu_write(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, const void *buf,
	       u64 len, enum pumice_unit unit, struct gpu_fault *fault);

/*
 * Drop entries of all units; the caller holds the device lock and then waits for the
 * units' steps (workers). A range goes from the 4 KiB page of its first byte to that
 * of its last; one that ends before it begins holds nothing.
 */
void mmu_invalidate_all(struct mmu *mmu);
void mmu_invalidate_ctx(struct mmu *mmu, unsigned int ctx);
void mmu_invalidate_range(struct mmu *mmu, unsigned int ctx, u64 first, u64 last);

/* Registers to their reset values, and all TLB entries dropped. Map and counters stay. */
void mmu_reset(struct mmu *mmu);

/* Add the counters MMU_TLB_MISSES, _FAULTS, _INVALIDATIONS to value[], by enum pumice_perf_counter. */
void mmu_counters_add(const struct mmu *mmu, u64 *value);

#endif
