// SPDX-License-Identifier: MIT
/*
 * Memory management unit: the walk through three levels of tables, and copies through it.
 *
 * Source: document 000, "Memory Hierarchy"; formats.xml for the entries. Each entry is read
 * once, with one 64-bit load, and the copy is checked. The other bits of an invalid entry are
 * ignored.
 *
 * A null page is memory of the device: one page of zeros for reads, and a sink of the TLB's
 * for writes, so that units use both like any other page. A TLB entry of it serves one kind
 * of access only.
 *
 * Faulting translations are never cached, so that a page mapped after a fault is used without
 * an invalidation.
 */
#include "mmu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "../host_line.h"
#include "../inject/inject.h"
#include "../mem/mem.h"
#include "internal.h"
#include "minmax.h"
#include "perf.h"

#define GRAIN		(1ull << MMU_GRAIN_SHIFT)

/* First address bit that each level translates (formats.xml): 1 GiB and 2 MiB entries. */
#define PC_SHIFT	30
#define PD_SHIFT	MMU_BLOCK_SHIFT
#define PD_ENTRIES	512u

_Static_assert(!(MMU_FLAGS & (PUMICE_UNIT_COUNT - 1)), "no unit has the flags");

/* Result of a walk: one grain. */
struct walk {
	u8 *host;	/* first byte of the grain; NULL for a null page */
	u8 *page;	/* first byte of the page, if its size is assigned; or NULL */
	unsigned int shift; /* of the page, if its size is assigned; otherwise of the grain */
	u32 perms;	/* MMU_TLB_* */
	struct mmu_path path;
};

const u8 mmu_zeros[1u << MMU_GRAIN_SHIFT] __attribute__((aligned(1u << MMU_GRAIN_SHIFT)));

static unsigned int page_shift(enum pumice_page_size size)
{
	static const u8 shift[PUMICE_PAGE_SIZE_COUNT] = {
		[PUMICE_PAGE_SIZE_4K] = 12,  [PUMICE_PAGE_SIZE_16K] = 14,
		[PUMICE_PAGE_SIZE_64K] = 16, [PUMICE_PAGE_SIZE_256K] = 18,
		[PUMICE_PAGE_SIZE_1M] = 20,  [PUMICE_PAGE_SIZE_2M] = 21,
	};

	return shift[size];
}

/*
 * Return the page size of the range registers at va: the assigned or the largest one. A range
 * whose size field has no valid value has pages of 4 KiB.
 */
static enum pumice_page_size range_size(const struct mmu *mmu, u64 va)
{
	u64 block = va & PUMICE_MMU_RANGE_END__ADDR__MASK;
	unsigned int i;

	for (i = 0; i < PUMICE_MMU_RANGES; i++) {
		u64 start = atomic_load_explicit(&mmu->range_start[i], memory_order_relaxed);
		u64 end = atomic_load_explicit(&mmu->range_end[i], memory_order_relaxed);
		u32 size = (u32)PUMICE_FIELD_GET(PUMICE_MMU_RANGE_START__SIZE, start);

		if (!(end & PUMICE_MMU_RANGE_END__ENABLE__MASK) ||
		    block < (start & PUMICE_MMU_RANGE_START__ADDR__MASK) ||
		    block > (end & PUMICE_MMU_RANGE_END__ADDR__MASK))
			continue;
		return pumice_page_size_valid(size) ? (enum pumice_page_size)size :
						      PUMICE_PAGE_SIZE_4K;
	}
	return PUMICE_PAGE_SIZE_4K;
}

/* Return whether the range registers assign page sizes. */
static bool sizes_assigned(const struct mmu *mmu)
{
	u64 reg = atomic_load_explicit(&mmu->page_sizes, memory_order_relaxed);

	return PUMICE_FIELD_GET(PUMICE_MMU_PAGE_SIZES__MODE, reg) == PUMICE_MMU_PAGE_SIZES_RANGE;
}

/* Return whether a directory may name this page size for va. */
static bool size_allowed(const struct mmu *mmu, u64 va, u32 size)
{
	enum pumice_page_size range = range_size(mmu, va);

	return sizes_assigned(mmu) ? size == range : size <= range;
}

/* A translation and its requester. */
struct request {
	unsigned int ctx;
	unsigned int os; /* virtual GPU whose memory is accessed */
	u64 va;
	enum pumice_unit unit;	/* NONE: for debugging or tracing; no fault on request */
};

/* Return the bits of an entry to invert for an injected fault. */
static u64 inject_bits(const struct mmu *mmu, const struct request *r,
		       enum pumice_inject_where level)
{
	struct inject_request request;

	if (!mmu->inject || !inject_armed(mmu->inject, PUMICE_INJECT_KIND_PAGE_TABLE) ||
	    r->unit == PUMICE_UNIT_NONE)
		return 0;
	if (!r->ctx && (r->unit != PUMICE_UNIT_FW || level != PUMICE_INJECT_WHERE_TABLE))
		return 0;
	if (!inject_take(mmu->inject, PUMICE_INJECT_KIND_PAGE_TABLE,
			 r->ctx ? level : PUMICE_INJECT_WHERE_FW_TABLE, &request))
		return 0;
	return 1ull << request.bit % 64;
}

/* Request a part of a table of a context, or of one that the MMU keeps: MMU_TABLES. */
static void request_table(const struct mmu *mmu, unsigned int ctx, u64 addr, u64 bytes,
			  enum pumice_access access)
{
	if (mmu->request)
		mmu->request(mmu->request_opaque, &(struct mmu_request){
			.ctx = ctx, .addr = addr, .bytes = bytes, .access = access,
		});
}

bool mmu_get_entry(const struct mmu *mmu, unsigned int os, u64 addr, u64 *entry)
{
	const u8 *host = mem_map_lookup(mmu->map, os, addr, sizeof(*entry), NULL);

	if (!host)
		return false;
	/*
	 * Pairs with the publisher's write order: a table is written before the entry that
	 * points to it.
	 */
	*entry = __atomic_load_n((const u64 *)(const void *)host, __ATOMIC_ACQUIRE);
	return true;
}

/* Read the entry at a bus address, for a request. */
static bool read_entry(const struct mmu *mmu, const struct request *r,
		       enum pumice_inject_where level, u64 addr, u64 *entry)
{
	if (!mmu_get_entry(mmu, r->os, addr, entry))
		return false;
	if (r->unit != PUMICE_UNIT_NONE)
		request_table(mmu, r->ctx, addr, sizeof(*entry), PUMICE_ACCESS_READ);
	*entry ^= inject_bits(mmu, r, level);
	return true;
}

u64 mmu_context_reg(const struct mmu *mmu, unsigned int ctx, u64 va, unsigned int *os)
{
	u64 part = ctx ? 0 : mmu_part(mmu, va), reg;

	if (part) {
		*os = (unsigned int)part;
		return part < mmu->oses ?
			       atomic_load_explicit(&mmu->part[part], memory_order_acquire) : 0;
	}
	reg = atomic_load_explicit(&mmu->ctx[ctx], memory_order_acquire);
	*os = ctx ? (unsigned int)PUMICE_FIELD_GET(PUMICE_MMU_CTX__OS, reg) : 0;
	if (*os && !(atomic_load_explicit(&mmu->part[*os], memory_order_acquire) &
		     PUMICE_OS_CATALOGUE__ENABLE__MASK))
		return 0;
	return reg;
}

/* Walk the catalogue of a context's register, to the page directory of va. */
static enum pumice_fault walk_catalogue(const struct mmu *mmu, const struct request *r, u64 reg,
					struct mmu_path *path)
{
	struct pumice_mmu_pc_entry entry;
	u64 raw;

	if (!(reg & PUMICE_MMU_CTX__ENABLE__MASK))
		return PUMICE_FAULT_MMU_CONTEXT_OFF;
	path->os = r->os;
	path->catalogue = reg & PUMICE_MMU_CTX__CATALOGUE__MASK;
	path->pc_entry = path->catalogue + (r->va >> PC_SHIFT) * sizeof(raw);
	if (!read_entry(mmu, r, PUMICE_INJECT_WHERE_CATALOGUE, path->pc_entry, &raw))
		return PUMICE_FAULT_MMU_TABLE_BUS;
	if (pumice_mmu_pc_entry_unpack64(raw, &entry) != PUMICE_UNPACK_OK && entry.valid)
		return PUMICE_FAULT_MMU_BUS;
	if (!entry.valid)
		return PUMICE_FAULT_MMU_PC_INVALID;
	path->directory = entry.addr;
	return PUMICE_FAULT_NONE;
}

/* Walk the directory, to the page table; *shift becomes that of the page size. */
static enum pumice_fault walk_directory(const struct mmu *mmu, const struct request *r,
					struct mmu_path *path, unsigned int *shift)
{
	struct pumice_mmu_pd_entry entry;
	u64 raw;

	path->pd_entry = path->directory + (r->va >> PD_SHIFT) % PD_ENTRIES * sizeof(raw);
	if (!read_entry(mmu, r, PUMICE_INJECT_WHERE_DIRECTORY, path->pd_entry, &raw))
		return PUMICE_FAULT_MMU_TABLE_BUS;
	if (pumice_mmu_pd_entry_unpack64(raw, &entry) != PUMICE_UNPACK_OK && entry.valid)
		return PUMICE_FAULT_MMU_BUS;
	if (!entry.valid)
		return PUMICE_FAULT_MMU_PD_INVALID;
	if (!pumice_page_size_valid(entry.page_size) ||
	    !size_allowed(mmu, r->va, entry.page_size))
		return PUMICE_FAULT_MMU_PAGE_SIZE;
	path->table = entry.addr;
	*shift = page_shift((enum pumice_page_size)entry.page_size);
	return PUMICE_FAULT_NONE;
}

/*
 * Look up the memory of a page table's entry: the page, if its size is assigned, otherwise the
 * grain of va. A page in several regions has no single host address: it is cached grain by grain.
 */
static bool look_up_page(const struct mmu *mmu, const struct request *r,
			 const struct pumice_mmu_pt_entry *entry, unsigned int shift,
			 bool *readonly, struct walk *out)
{
	const u64 bytes = 1ull << shift, offset = r->va & (bytes - 1) & ~(GRAIN - 1);

	out->host = NULL;
	out->page = NULL;
	out->path.page = entry->null ? 0 : entry->addr + offset;
	out->shift = sizes_assigned(mmu) ? shift : MMU_GRAIN_SHIFT;
	if (entry->null)
		return true;
	if (out->shift > MMU_GRAIN_SHIFT)
		out->page = mem_map_lookup(mmu->map, r->os, entry->addr, bytes, readonly);
	out->host = out->page ? out->page + offset :
				mem_map_lookup(mmu->map, r->os, entry->addr + offset, GRAIN,
					       readonly);
	return out->host;
}

/* Walk the page table: return the grain and its permissions. */
static enum pumice_fault walk_table(const struct mmu *mmu, const struct request *r,
				    unsigned int shift, struct walk *out)
{
	u64 block = r->va & ((1ull << PD_SHIFT) - 1);
	u64 page = (1ull << shift) - 1;
	struct pumice_mmu_pt_entry entry;
	bool readonly = false;
	u64 raw;

	if (!read_entry(mmu, r, PUMICE_INJECT_WHERE_TABLE,
			out->path.table + (block >> shift) * sizeof(raw), &raw))
		return PUMICE_FAULT_MMU_TABLE_BUS;
	if (pumice_mmu_pt_entry_unpack64(raw, &entry) != PUMICE_UNPACK_OK && entry.valid)
		return PUMICE_FAULT_MMU_BUS;
	if (!entry.valid)
		return PUMICE_FAULT_MMU_PT_INVALID;
	if (entry.addr & page)
		return PUMICE_FAULT_MMU_BUS;
	if (!look_up_page(mmu, r, &entry, shift, &readonly, out))
		return PUMICE_FAULT_MMU_BUS;
	out->perms = entry.pm_owned ? MMU_TLB_PM_READ : MMU_TLB_READ;
	if (!entry.read_only && !readonly)
		out->perms |= entry.pm_owned ? MMU_TLB_PM_WRITE : MMU_TLB_WRITE;
	if (!entry.no_exec && !entry.pm_owned && !entry.null)
		out->perms |= MMU_TLB_EXEC;
	if (entry.coherent)
		out->perms |= MMU_TLB_COHERENT;
	return PUMICE_FAULT_NONE;
}

/*
 * Return whether a unit may access pages of the parameter management: only units all of whose
 * addresses come from scenes, free lists and data that the device wrote. A unit that uses
 * addresses supplied by the job must never be one of them.
 */
static bool tiling_unit(enum pumice_unit unit)
{
	switch (unit) {
	case PUMICE_UNIT_TE:
	case PUMICE_UNIT_PM:
	case PUMICE_UNIT_IPF:
	case PUMICE_UNIT_PB:
		return true;
	default:
		return false;
	}
}

/* Return the permissions any of which allows the access. */
static u32 access_perms(enum pumice_access access, enum pumice_unit unit)
{
	switch (access) {
	case PUMICE_ACCESS_WRITE:
		return MMU_TLB_WRITE | (tiling_unit(unit) ? MMU_TLB_PM_WRITE : 0);
	case PUMICE_ACCESS_EXEC:
		return MMU_TLB_EXEC;
	default:
		return MMU_TLB_READ | (tiling_unit(unit) ? MMU_TLB_PM_READ : 0);
	}
}

/* Return the fault of an access that the permissions do not allow. */
static enum pumice_fault access_fault(u32 perms, enum pumice_access access, enum pumice_unit unit)
{
	if (perms & MMU_TLB_PM_READ && (!tiling_unit(unit) || access == PUMICE_ACCESS_EXEC))
		return PUMICE_FAULT_MMU_PM_OWNED;
	return access == PUMICE_ACCESS_EXEC ? PUMICE_FAULT_MMU_NO_EXEC :
					      PUMICE_FAULT_MMU_READ_ONLY;
}

/* As walk(), for the permissions of a unit; requester: the same, or NONE. */
static enum pumice_fault walk_for(const struct mmu *mmu, unsigned int ctx, u64 va,
				  enum pumice_access access, enum pumice_unit unit,
				  enum pumice_unit requester, struct walk *out)
{
	struct request r = { .ctx = ctx, .va = va, .unit = requester };
	const u64 reg = mmu_context_reg(mmu, ctx, va, &r.os);
	enum pumice_fault fault;
	unsigned int shift;

	fault = walk_catalogue(mmu, &r, reg, &out->path);
	if (!fault)
		fault = walk_directory(mmu, &r, &out->path, &shift);
	if (!fault)
		fault = walk_table(mmu, &r, shift, out);
	if (fault)
		return fault;
	return out->perms & access_perms(access, unit) ? PUMICE_FAULT_NONE :
							access_fault(out->perms, access, unit);
}

static enum pumice_fault walk(const struct mmu *mmu, unsigned int ctx, u64 va,
			      enum pumice_access access, enum pumice_unit unit, struct walk *out)
{
	return walk_for(mmu, ctx, va, access, unit, unit, out);
}

/* Set the host memory of a null page for this kind of access. */
static void use_null_page(struct mmu_tlb *tlb, enum pumice_access access, struct walk *found)
{
	if (access == PUMICE_ACCESS_WRITE) {
		found->host = tlb->sink;
		found->perms &= MMU_TLB_WRITE | MMU_TLB_PM_WRITE | MMU_TLB_COHERENT;
	} else {
		found->host = (u8 *)(uintptr_t)mmu_zeros;
		found->perms &= MMU_TLB_READ | MMU_TLB_PM_READ | MMU_TLB_COHERENT;
	}
}

struct mmu_tlb_entry *mmu_tlb_far_create(u32 count)
{
	_Static_assert(HOST_LINE % sizeof(struct mmu_tlb_entry) == 0, "no entry is in two lines");
	return host_zalloc(HOST_LINE, count * sizeof(struct mmu_tlb_entry));
}

void mmu_tlb_reset(struct mmu_tlb *tlb)
{
	memset(tlb->entry, 0, sizeof(tlb->entry));
	tlb->hits = tlb->misses = 0;
	if (tlb->far_filled)
		memset(tlb->far, 0, (tlb->far_mask + 1ull) * sizeof(*tlb->far));
	tlb->far_filled = false;
}

/* Return the entry of the second level for a page of 1 << shift bytes. */
static struct mmu_tlb_entry *far_entry(const struct mmu_tlb *tlb, u64 va, unsigned int shift)
{
	return &tlb->far[(va >> shift) & tlb->far_mask];
}

/* Fill the second level after a walk that filled an entry of the first. */
static void fill_far(struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		     const struct mmu_tlb_entry *near, const struct walk *found)
{
	unsigned int shift = found->page ? found->shift : MMU_GRAIN_SHIFT;
	struct mmu_tlb_entry *e = far_entry(tlb, va, shift);

	*e = *near;
	e->tag = mmu_tlb_page_tag(ctx, va, shift);
	if (found->page)
		e->host = found->page;
	tlb->far_filled = true;
}

/* Return the valid entry of the second level for va with this page size, or NULL. */
static inline const struct mmu_tlb_entry *valid_far(const struct mmu *mmu,
						    const struct mmu_tlb *tlb, unsigned int ctx,
						    u64 va, unsigned int shift)
{
	struct mmu_tlb_entry *far = far_entry(tlb, va, shift);
	u64 gen;

	if (far->tag != mmu_tlb_page_tag(ctx, va, shift))
		return NULL;
	gen = mmu_generation(mmu, ctx);
	return far->gen == gen || mmu_tlb_renew(mmu, far, ctx, va, gen) ? far : NULL;
}

/*
 * Copy the grain of va from an entry of the second level with this page size, and return its
 * entry; NULL if there is none.
 */
static inline const struct mmu_tlb_entry *copy_far(const struct mmu *mmu, struct mmu_tlb *tlb,
						   unsigned int ctx, u64 va, unsigned int shift)
{
	const struct mmu_tlb_entry *far = valid_far(mmu, tlb, ctx, va, shift);
	struct mmu_tlb_entry *near;

	if (!far)
		return NULL;
	near = mmu_tlb_entry(tlb, va);
	*near = *far;
	near->tag = mmu_tlb_tag(ctx, va);
	near->host += va & ((1ull << shift) - 1) & ~(GRAIN - 1);
	return near;
}

/* Return the shift of the page of an address, if sizes are assigned, otherwise that of a grain. */
static unsigned int assigned_shift(const struct mmu *mmu, u64 va)
{
	return sizes_assigned(mmu) ? page_shift(range_size(mmu, va)) : MMU_GRAIN_SHIFT;
}

u8 *mmu_tlb_find_far(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		     u32 perm)
{
	const struct mmu_tlb_entry *e = copy_far(mmu, tlb, ctx, va, MMU_GRAIN_SHIFT);

	if (!e) {
		const unsigned int shift = assigned_shift(mmu, va);

		e = shift != MMU_GRAIN_SHIFT ? copy_far(mmu, tlb, ctx, va, shift) : NULL;
	}
	return e && e->perms & perm ? e->host + (va & (GRAIN - 1)) : NULL;
}

u64 mmu_tlb_extent(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, u32 perm,
		   u8 **host)
{
	const unsigned int shift = tlb->far ? assigned_shift(mmu, va) : MMU_GRAIN_SHIFT;
	const u64 at = va & ((1ull << shift) - 1);

	if (shift != MMU_GRAIN_SHIFT) {
		const struct mmu_tlb_entry *e = valid_far(mmu, tlb, ctx, va, shift);

		if (e && e->perms & perm) {
			*host = e->host + at;
			return (1ull << shift) - at;
		}
	}
	*host = mmu_tlb_find(mmu, tlb, ctx, va, perm);
	return *host ? GRAIN - (va & (GRAIN - 1)) : 0;
}

/*
 * Return whether a page is coherent. A unit that requests a part of a page which it has translated
 * before may have lost the entry to another page since then: the tables are read again, without
 * requests, so that what the hierarchy sees does not depend on it.
 */
bool mmu_is_coherent(const struct mmu *mmu, const struct mmu_tlb *tlb, unsigned int ctx, u64 va)
{
	const struct mmu_tlb_entry *e = &tlb->entry[mmu_tlb_number(va)];
	struct walk found = { .perms = 0 };

	if (e->tag == mmu_tlb_tag(ctx, va))
		return e->perms >> MMU_TLB_DETAILED & MMU_TLB_COHERENT;
	walk(mmu, ctx, va, PUMICE_ACCESS_READ, PUMICE_UNIT_NONE, &found);
	return found.perms & MMU_TLB_COHERENT;
}

static struct mmu_request request_of(const struct mmu *mmu, const struct mmu_tlb *tlb,
				     unsigned int ctx, u64 va, u64 bytes,
				     enum pumice_access access, enum pumice_unit source)
{
	return (struct mmu_request){
		.unit = (enum pumice_unit)(source & ~MMU_FLAGS),
		.kind = source & MMU_KIND_1 ? 1 : 0, .place = tlb->place, .usc = tlb->usc,
		.ctx = ctx, .addr = va, .bytes = bytes, .access = access,
		.window = source & MMU_IS_WINDOW, .use = source & MMU_IS_USE,
		.program = tlb->program,
		.coherent = mmu_is_coherent(mmu, tlb, ctx, va),
	};
}

void mmu_pass_request(const struct mmu *mmu, const struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		      u64 bytes, enum pumice_access access, enum pumice_unit source)
{
	const struct mmu_request request = request_of(mmu, tlb, ctx, va, bytes, access, source);

	mmu->request(mmu->request_opaque, &request);
}

/*
 * Make the request of a translated access, if it has bytes. Returns where its data are, of a read:
 * in host, or in mode strict in the copy with data that caches hold.
 */
static u8 *access_data(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		       u64 bytes, enum pumice_access access, enum pumice_unit source, u8 *host)
{
	const u64 at = va & (GRAIN - 1);
	struct mmu_request request;

	if (!mmu_is_detailed(mmu))
		return host;
	request = request_of(mmu, tlb, ctx, va, bytes, access, source);
	if (bytes)
		mmu->request(mmu->request_opaque, &request);
	if (!mmu->held || access == PUMICE_ACCESS_WRITE)
		return host;
	return mmu->held(mmu->held_opaque, &request, host - at, tlb->held) ? tlb->held + at : host;
}

/* Return the bits of an entry's permissions that number the last job of the context. */
static u32 job_bits(const struct mmu *mmu, unsigned int ctx)
{
	return atomic_load_explicit(&mmu->jobs[ctx], memory_order_relaxed) << MMU_TLB_JOB;
}

/* Mode strict: return whether an entry of a context was used in this job before. */
static bool is_verified(const struct mmu *mmu, const struct mmu_tlb_entry *e, unsigned int ctx)
{
	return (e->perms ^ job_bits(mmu, ctx)) >> MMU_TLB_JOB == 0;
}

static void set_verified(const struct mmu *mmu, struct mmu_tlb_entry *e, unsigned int ctx)
{
	e->perms = (e->perms & ((1u << MMU_TLB_JOB) - 1)) | job_bits(mmu, ctx);
}

/* The same for the entry of the second level, of one page size, that an entry is a part of. */
static void set_far_verified(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va,
			     const struct mmu_tlb_entry *near, unsigned int shift)
{
	struct mmu_tlb_entry *far = far_entry(tlb, va, shift);
	const u64 offset = va & ((1ull << shift) - 1) & ~(GRAIN - 1);

	if (far->tag == mmu_tlb_page_tag(ctx, va, shift) && far->host + offset == near->host)
		set_verified(mmu, far, ctx);
}

/*
 * Compare an entry that permits an access with the tables, without requests. Returns whether the
 * access is wrong; *same becomes whether every other access by the entry would be right, too.
 */
static bool is_stale(const struct mmu *mmu, struct mmu_tlb *tlb, const struct mmu_tlb_entry *e,
		     const struct mmu_stale *use, bool *same)
{
	const u32 perms = e->perms >> MMU_TLB_DETAILED & ((1u << MMU_TLB_DETAILED) - 1);
	struct walk found;

	*same = false;
	if (walk_for(mmu, use->ctx, use->addr, use->access, use->unit, PUMICE_UNIT_NONE, &found))
		return true;
	if (!found.host)
		use_null_page(tlb, use->access, &found);
	*same = !(perms & ~found.perms);
	return found.host != e->host;
}

/* Return whether faults were injected into tables: units have read entries that no table had. */
static bool tables_injected(const struct mmu *mmu)
{
	return mmu->inject && inject_hits(mmu->inject, PUMICE_INJECT_KIND_PAGE_TABLE);
}

bool mmu_uses_stale(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		    enum pumice_access access, enum pumice_unit unit)
{
	const struct mmu_stale use = { .unit = unit, .access = access, .ctx = ctx, .addr = va };
	const u32 perms = access_perms(access, unit) << MMU_TLB_DETAILED;
	struct mmu_tlb_entry *e = mmu_tlb_entry(tlb, va);
	bool stale, same;

	if (va >> PUMICE_MMU_VA_BITS || !mmu_tlb_find(mmu, tlb, ctx, va, perms) ||
	    is_verified(mmu, e, ctx))
		return false;
	stale = is_stale(mmu, tlb, e, &use, &same);
	if (stale || same)
		set_verified(mmu, e, ctx);
	/* The first level may lose the entry, and copy it again in the same job. */
	if ((stale || same) && tlb->far) {
		set_far_verified(mmu, tlb, ctx, va, e, MMU_GRAIN_SHIFT);
		set_far_verified(mmu, tlb, ctx, va, e, assigned_shift(mmu, va));
	}
	return stale && !tables_injected(mmu);
}

/* Mode strict: report the use of an entry, if it is stale. */
static void verify(const struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va,
		   enum pumice_access access, enum pumice_unit unit)
{
	if (mmu_uses_stale(mmu, tlb, ctx, va, access, unit))
		mmu->stale(mmu->stale_opaque, &(struct mmu_stale){
			.unit = unit, .access = access, .ctx = ctx, .usc = tlb->usc,
			.program = tlb->program, .addr = va });
}

/* Mode strict: report the tables of a walk. */
static void report_walk(const struct mmu *mmu, const struct mmu_walked *walked)
{
	if (!tables_injected(mmu))
		mmu->walked(mmu->walked_opaque, walked);
}

u8 *mmu_translate(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, u64 bytes,
		  enum pumice_access access, enum pumice_unit source, struct gpu_fault *fault)
{
	const enum pumice_unit unit = (enum pumice_unit)(source & ~MMU_FLAGS);
	const u32 detailed = mmu_is_detailed(mmu) ? MMU_TLB_DETAILED : 0;
	struct mmu_tlb_entry *e = mmu_tlb_entry(tlb, va);
	enum pumice_fault why = PUMICE_FAULT_MMU_ADDRESS;
	struct walk found;
	u64 gen;
	u8 *host;

	if (!(va >> PUMICE_MMU_VA_BITS)) {
		host = mmu_tlb_find(mmu, tlb, ctx, va, access_perms(access, unit) << detailed);
		if (host) {
			tlb->hits++;
			if (detailed && mmu->stale && !is_verified(mmu, e, ctx))
				verify(mmu, tlb, ctx, va, access, unit);
			return access_data(mmu, tlb, ctx, va, bytes, access, source, host);
		}
		tlb->misses++;
		atomic_fetch_add_explicit(&mmu->misses, 1, memory_order_relaxed);
		/* Before the walk: an invalidation during it must drop the result. */
		gen = mmu_generation(mmu, ctx);
		why = walk(mmu, ctx, va, access, unit, &found);
		if (mmu->event)
			mmu->event(mmu->event_opaque, PUMICE_TRACE_KIND_MMU_WALK, ctx, va, unit);
	}
	if (why) {
		if (mmu->event)
			mmu->event(mmu->event_opaque, PUMICE_TRACE_KIND_MMU_FAULT, ctx, va,
				   (u64)why | (u64)unit << 8);
		atomic_fetch_add_explicit(&mmu->fault_count, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&mmu->faults, 1, memory_order_relaxed);
		fault->fault = (u8)why;
		fault->unit = (u8)unit;
		fault->access = (u8)access;
		fault->ctx = (u8)ctx;
		fault->addr = va;
		return NULL;
	}
	if (!found.host)
		use_null_page(tlb, access, &found);
	e->tag = mmu_tlb_tag(ctx, va);
	e->gen = gen;
	e->host = found.host;
	e->perms = found.perms << detailed;
	if (detailed && mmu->stale)
		e->perms |= job_bits(mmu, ctx);
	e->shift = found.shift;
	if (tlb->far)
		fill_far(tlb, ctx, va, e, &found);
	if (mmu->walked)
		report_walk(mmu, &(struct mmu_walked){
			.unit = unit, .access = access, .ctx = ctx, .usc = tlb->usc, .addr = va,
			.path = found.path });
	return access_data(mmu, tlb, ctx, va, bytes, access, source,
			   found.host + (va & (GRAIN - 1)));
}

u8 *mmu_probe(const struct mmu *mmu, unsigned int ctx, u64 va, enum pumice_access access)
{
	struct walk found;

	if (va >> PUMICE_MMU_VA_BITS || walk(mmu, ctx, va, access, PUMICE_UNIT_NONE, &found))
		return NULL;
	if (!found.host && access == PUMICE_ACCESS_WRITE)
		return NULL;
	if (!found.host)
		found.host = (u8 *)(uintptr_t)mmu_zeros;
	return found.host + (va & (GRAIN - 1));
}

u8 *mmu_reach(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, u64 bytes,
	      enum pumice_access access, enum pumice_unit unit)
{
	struct gpu_fault fault;
	struct walk found;

	if (va >> PUMICE_MMU_VA_BITS)
		return NULL;
	if (!mmu_tlb_find(mmu, tlb, ctx, va, access_perms(access, unit)) &&
	    (walk(mmu, ctx, va, access, unit, &found) || !found.host))
		return NULL;
	return mmu_translate(mmu, tlb, ctx, va, bytes, access, unit, &fault);
}

/* Return the bytes from va to the end of its grain, at most len. */
static u64 grain_part(u64 va, u64 len)
{
	return min_u64(GRAIN - (va & (GRAIN - 1)), len);
}

bool mmu_read(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, void *buf, u64 len,
	      enum pumice_access access, enum pumice_unit unit, struct gpu_fault *fault)
{
	u8 *to = buf;

	while (len) {
		u64 part = grain_part(va, len);
		const u8 *host = mmu_translate(mmu, tlb, ctx, va, part, access, unit, fault);

		if (!host)
			return false;
		memcpy(to, host, part);
		to += part;
		va += part;
		len -= part;
	}
	return true;
}

bool mmu_write(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 va, const void *buf,
	       u64 len, enum pumice_unit unit, struct gpu_fault *fault)
{
	const u8 *from = buf;

	while (len) {
		u64 part = grain_part(va, len);
		u8 *host = mmu_translate(mmu, tlb, ctx, va, part, PUMICE_ACCESS_WRITE, unit,
					 fault);

		if (!host)
			return false;
		memcpy(host, from, part);
		from += part;
		va += part;
		len -= part;
	}
	return true;
}

/*
 * The ring entry may be rewritten while it is read: a reader that reads part of the new range
 * also reads the generation stored before it, and so detects that the old range was
 * overwritten.
 */
bool mmu_tlb_renew(const struct mmu *mmu, struct mmu_tlb_entry *entry, unsigned int ctx, u64 va,
		   u64 gen)
{
	const u64 mask = (1ull << entry->shift) - 1, start = va & ~mask, end = va | mask;
	u64 n;

	if (gen - entry->gen >= MMU_RANGES)
		return false;
	for (n = entry->gen + 1; n <= gen; n++) {
		const struct mmu_dropped *d = &mmu->dropped[ctx][n % MMU_RANGES];
		u64 first = atomic_load_explicit(&d->first, memory_order_acquire);
		u64 last = atomic_load_explicit(&d->last, memory_order_acquire);

		if (end >= first && start <= last)
			return false;
	}
	if (atomic_load_explicit(&mmu->gen[ctx], memory_order_relaxed) - entry->gen >= MMU_RANGES)
		return false;
	entry->gen = gen;
	return true;
}

u64 mmu_find_invalidation(const struct mmu *mmu, unsigned int ctx, u64 va)
{
	const u64 gen = mmu_generation(mmu, ctx);
	u64 n;

	for (n = gen; n && gen - n < MMU_RANGES; n--) {
		const struct mmu_dropped *d = &mmu->dropped[ctx][n % MMU_RANGES];
		const u64 last = atomic_load_explicit(&d->last, memory_order_acquire);

		if (last != UINT64_MAX && va <= last &&
		    va >= atomic_load_explicit(&d->first, memory_order_acquire))
			return n;
	}
	return 0;
}

/* Two invalidations, of the device lock's holder and the PM, must not use the same entry. */
static void drop(struct mmu *mmu, unsigned int ctx, u64 first, u64 last)
{
	struct mmu_dropped *d;
	u64 gen;

	while (atomic_exchange_explicit(&mmu->dropping, true, memory_order_acquire))
		sched_yield();
	gen = atomic_load_explicit(&mmu->gen[ctx], memory_order_relaxed) + 1;
	d = &mmu->dropped[ctx][gen % MMU_RANGES];
	atomic_store_explicit(&d->first, first, memory_order_release);
	atomic_store_explicit(&d->last, last, memory_order_release);
	atomic_store(&mmu->gen[ctx], gen);
	atomic_store_explicit(&mmu->dropping, false, memory_order_release);
}

void mmu_invalidate_range(struct mmu *mmu, unsigned int ctx, u64 first, u64 last)
{
	drop(mmu, ctx, first & ~(GRAIN - 1), last | (GRAIN - 1));
	atomic_fetch_add_explicit(&mmu->invalidations, 1, memory_order_relaxed);
}

void mmu_invalidate_ctx(struct mmu *mmu, unsigned int ctx)
{
	mmu_invalidate_range(mmu, ctx, 0, UINT64_MAX);
}

static void drop_all(struct mmu *mmu)
{
	unsigned int ctx;

	for (ctx = 0; ctx < PUMICE_MMU_CONTEXTS; ctx++)
		drop(mmu, ctx, 0, UINT64_MAX);
}

void mmu_set_request(struct mmu *mmu, void (*request)(void *opaque,
						      const struct mmu_request *request),
		     void *opaque)
{
	mmu->request = request;
	mmu->request_opaque = opaque;
	drop_all(mmu);
}

void mmu_set_cache_op(struct mmu *mmu, void (*cache_op)(void *opaque,
							const struct mmu_cache_op *op),
		      void *opaque)
{
	mmu->cache_op = cache_op;
	mmu->cache_op_opaque = opaque;
}

void mmu_set_stale(struct mmu *mmu, void (*stale)(void *opaque, const struct mmu_stale *use),
		   void *opaque)
{
	mmu->stale = stale;
	mmu->stale_opaque = opaque;
}

void mmu_set_held(struct mmu *mmu, bool (*held)(void *opaque, const struct mmu_request *read,
						const u8 *grain, u8 *to), void *opaque)
{
	mmu->held = held;
	mmu->held_opaque = opaque;
}

void mmu_set_walked(struct mmu *mmu, void (*walked)(void *opaque, const struct mmu_walked *walked),
		    void *opaque)
{
	mmu->walked = walked;
	mmu->walked_opaque = opaque;
}

void mmu_drop_code(struct mmu *mmu, unsigned int ctx)
{
	unsigned int n;

	if (ctx < PUMICE_MMU_CONTEXTS)
		atomic_fetch_add_explicit(&mmu->code[ctx], 1, memory_order_release);
	for (n = 0; ctx == MMU_ALL_CONTEXTS && n < PUMICE_MMU_CONTEXTS; n++)
		atomic_fetch_add_explicit(&mmu->code[n], 1, memory_order_release);
}

void mmu_job_begins(struct mmu *mmu, unsigned int ctx)
{
	mmu_drop_code(mmu, ctx);
	if (!mmu->stale)
		return;
	atomic_fetch_add_explicit(&mmu->jobs[ctx], 1, memory_order_relaxed);
	/* Context 0 has no jobs: its memory is used for those of all others. */
	if (ctx)
		atomic_fetch_add_explicit(&mmu->jobs[0], 1, memory_order_relaxed);
}

void mmu_invalidate_all(struct mmu *mmu)
{
	drop_all(mmu);
	atomic_fetch_add_explicit(&mmu->invalidations, 1, memory_order_relaxed);
}

/* Return the host's address of a table's memory, or NULL if it cannot be written. */
static u64 *owned_memory(const struct mmu *mmu, unsigned int os, u64 addr, u64 bytes)
{
	bool readonly = false;
	u8 *host = mem_map_lookup(mmu->map, os, addr, bytes, &readonly);

	return readonly ? NULL : (u64 *)(void *)host;
}

/*
 * Write the entry at a bus address. It is written after the table that it points to. Returns false
 * if it is not memory that can be written.
 */
static bool owned_write(const struct mmu *mmu, unsigned int os, u64 addr, u64 value)
{
	u64 *entry = owned_memory(mmu, os, addr, sizeof(value));

	if (!entry)
		return false;
	request_table(mmu, MMU_TABLES, addr, sizeof(value), PUMICE_ACCESS_WRITE);
	__atomic_store_n(entry, value, __ATOMIC_RELEASE);
	return true;
}

bool mmu_owned_clear(const struct mmu *mmu, unsigned int os, u64 directory)
{
	u64 *entries = owned_memory(mmu, os, directory, GRAIN);

	if (!entries)
		return false;
	request_table(mmu, MMU_TABLES, directory, GRAIN, PUMICE_ACCESS_WRITE);
	memset(entries, 0, GRAIN);
	return true;
}

/* Return the bus addresses of the entries that map a page. */
static u64 owned_pd_entry(const struct mmu_owned *at)
{
	return at->directory + (at->va >> PD_SHIFT) % PD_ENTRIES * sizeof(u64);
}

static u64 owned_pt_entry(const struct mmu_owned *at)
{
	return at->table + ((at->va & ((1ull << PD_SHIFT) - 1)) >> MMU_GRAIN_SHIFT) * sizeof(u64);
}

bool mmu_owned_map(const struct mmu *mmu, const struct mmu_owned *at, u64 addr, bool first)
{
	const struct pumice_mmu_pd_entry pd = {
		.valid = true, .page_size = PUMICE_PAGE_SIZE_4K, .addr = at->table,
	};
	const struct pumice_mmu_pt_entry pt = {
		.valid = true, .no_exec = true, .pm_owned = true, .addr = addr,
	};

	/* Neither is written if the directory cannot be. */
	if (!owned_memory(mmu, at->os, owned_pd_entry(at), sizeof(u64)))
		return false;
	if (first && !mmu_owned_clear(mmu, at->os, at->table))
		return false;
	if (!owned_write(mmu, at->os, owned_pt_entry(at), pumice_mmu_pt_entry_pack64(&pt)))
		return false;
	return !first ||
	       owned_write(mmu, at->os, owned_pd_entry(at), pumice_mmu_pd_entry_pack64(&pd));
}

void mmu_owned_unmap(const struct mmu *mmu, const struct mmu_owned *at)
{
	owned_write(mmu, at->os, owned_pt_entry(at), 0);
}

void mmu_owned_drop_table(const struct mmu *mmu, const struct mmu_owned *at)
{
	owned_write(mmu, at->os, owned_pd_entry(at), 0);
}

void mmu_reset(struct mmu *mmu)
{
	unsigned int i;

	for (i = 0; i < PUMICE_MMU_CONTEXTS; i++)
		atomic_store(&mmu->ctx[i], PUMICE_MMU_CTX__RESET);
	for (i = 0; i < PUMICE_OS_COUNT; i++)
		atomic_store(&mmu->part[i], PUMICE_OS_CATALOGUE__RESET);
	for (i = 0; i < PUMICE_MMU_RANGES; i++) {
		atomic_store(&mmu->range_start[i], PUMICE_MMU_RANGE_START__RESET);
		atomic_store(&mmu->range_end[i], PUMICE_MMU_RANGE_END__RESET);
	}
	atomic_store(&mmu->page_sizes, PUMICE_MMU_PAGE_SIZES__RESET);
	mmu->inval_start = PUMICE_MMU_INVAL_START__RESET;
	mmu->inval_end = PUMICE_MMU_INVAL_END__RESET;
	atomic_store(&mmu->fault_count, PUMICE_MMU_FAULT_COUNT__RESET);
	drop_all(mmu);
}

void mmu_counters_add(const struct mmu *mmu, u64 *value)
{
	value[PUMICE_PERF_MMU_TLB_MISSES] += atomic_load_explicit(&mmu->misses,
								  memory_order_relaxed);
	value[PUMICE_PERF_MMU_FAULTS] += atomic_load_explicit(&mmu->faults, memory_order_relaxed);
	value[PUMICE_PERF_MMU_INVALIDATIONS] += atomic_load_explicit(&mmu->invalidations,
								     memory_order_relaxed);
}
