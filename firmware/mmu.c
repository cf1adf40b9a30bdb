// SPDX-License-Identifier: MIT
/*
 * Assignment of MMU contexts to VMs.
 *
 * There may be more VMs than MMU contexts. A VM keeps its MMU context until
 * another VM needs one; the context whose last job started longest ago, of the virtual
 * GPU that has most of them, is then reassigned and its TLB entries are invalidated. At
 * most one job per data master runs at a time, and a context is bound just before its job
 * starts, so an unused one always exists.
 *
 * Lines of caches are tagged with the MMU context. When a context is released or reassigned they
 * are written while its translations are still valid, then the tables are dropped from the caches,
 * and only then the entries of TLBs, which could else be loaded again from a stale line.
 *
 * When mappings change the host has changed the tables before, and jobs of the VM may run: they use
 * entries of TLBs until these are dropped, and fill lines by them. So lines are written and dropped
 * before, for the data of the former pages, as far as TLBs still have these, and again afterwards.
 */
#include "caches.h"
#include "context.h"
#include "log.h"
#include "mmu.h"
#include "os.h"

#define FIRST	1u	/* context 0 is the firmware's own */

/* VM of each MMU context, os_vm(); 0 for none. */
static u64 bound[PUMICE_MMU_CONTEXTS];
/* Value of starts at its last use; compare the unsigned distance to the present value. */
static u32 used_at[PUMICE_MMU_CONTEXTS];
static u32 starts;
/* Running jobs that use it. */
static u8 users[PUMICE_MMU_CONTEXTS];

_Static_assert(PUMICE_MMU_CONTEXTS - FIRST > FWIF_DM_COUNT, "one is free for every job");

static void drop_tlb(u32 ctx)
{
	caches_flush_tables();
	reg_write(PUMICE_MMU_INVAL,
		  PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_CONTEXT) |
		  PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__CTX, ctx));
}

/* Return the MMU context of a VM, or 0. */
static u32 find(u64 catalogue)
{
	u32 i;

	for (i = FIRST; i < PUMICE_MMU_CONTEXTS; i++)
		if (bound[i] == catalogue)
			return i;
	return 0;
}

/* Return the virtual GPU of a context that is bound. */
static u32 os_of(u32 ctx)
{
	return (u32)PUMICE_FIELD_GET(PUMICE_MMU_CTX__OS, bound[ctx]);
}

/*
 * Select a free context, else one without a running job: of the virtual GPU that has most of these,
 * so that none evicts all VMs of another, the least recently used one.
 */
static u32 select_free(void)
{
	u32 number[PUMICE_OS_COUNT] = { 0 };
	u32 best = 0, i;

	for (i = FIRST; i < PUMICE_MMU_CONTEXTS; i++) {
		if (!bound[i])
			return i;
		number[os_of(i)] += !users[i];
	}
	for (i = FIRST; i < PUMICE_MMU_CONTEXTS; i++) {
		const u32 most = best ? number[os_of(best)] : 0;

		if (!users[i] && (number[os_of(i)] > most ||
				  (number[os_of(i)] == most &&
				   starts - used_at[i] > starts - used_at[best])))
			best = i;
	}
	return best;
}

static u32 assign(struct context *c)
{
	u32 ctx = select_free();

	if (bound[ctx])
		caches_flush(ctx);
	bound[ctx] = c->catalogue;
	reg_write64(PUMICE_MMU_CTX(ctx), c->catalogue | PUMICE_MMU_CTX__ENABLE__MASK);
	drop_tlb(ctx);
	log_event(FWIF_LOG_MMU_BIND, ctx, c->id, 0);
	return ctx;
}

u32 mmu_bind(struct context *c)
{
	u32 ctx = c->mmu;

	if (bound[ctx] != c->catalogue) {
		ctx = find(c->catalogue);
		if (!ctx)
			ctx = assign(c);
		c->mmu = (u8)ctx;
	}
	used_at[ctx] = starts++;
	users[ctx]++;
	return ctx;
}

u32 mmu_find(const struct context *c)
{
	return bound[c->mmu] == c->catalogue ? c->mmu : find(c->catalogue);
}

void mmu_unbind(u32 ctx)
{
	users[ctx]--;
}

void mmu_invalidate(u64 catalogue, u64 start, u64 end)
{
	u32 ctx = find(catalogue);

	if (!ctx) {
		/* The host may free tables of which another context has left lines. */
		caches_flush_tables();
		return;
	}
	log_event(FWIF_LOG_MMU_INVALIDATE, ctx, (u32)(start >> 12), (u32)(end >> 12));
	if (start > end) {
		caches_flush(ctx);
		drop_tlb(ctx);
		caches_flush(ctx);
		return;
	}
	caches_flush_range(ctx, start, end);
	caches_flush_tables();
	reg_write64(PUMICE_MMU_INVAL_START, start & PUMICE_MMU_INVAL_START__ADDR__MASK);
	reg_write64(PUMICE_MMU_INVAL_END, end & PUMICE_MMU_INVAL_END__ADDR__MASK);
	reg_write(PUMICE_MMU_INVAL,
		  PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_RANGE) |
		  PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__CTX, ctx));
	caches_flush_range_again(ctx);
}

static void release(u32 ctx)
{
	caches_flush(ctx);
	bound[ctx] = 0;
	reg_write64(PUMICE_MMU_CTX(ctx), 0);
	drop_tlb(ctx);
}

void mmu_release(u64 catalogue)
{
	u32 ctx = find(catalogue);

	if (ctx)
		release(ctx);
}

bool mmu_release_next(void)
{
	u32 i;

	for (i = FIRST; i < PUMICE_MMU_CONTEXTS; i++) {
		if (!bound[i] || os_of(i) != os_number)
			continue;
		release(i);
		return true;
	}
	return false;
}
