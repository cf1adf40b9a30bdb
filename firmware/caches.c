// SPDX-License-Identifier: MIT
/*
 * Coherence of the GPU's caches (document 000, "Memory Hierarchy"), which are coherent neither with
 * the CPU nor with each other.
 *
 * Lines are tagged with the MMU context. An operation therefore is on the context of the job's VM.
 * Jobs with a scene also have those of the SLC on context 0, which has scenes and lists of pages;
 * caches of cores have no lines of it. All invalidations clean, too: other jobs of the VM may be
 * running, whose dirty lines would be lost.
 *
 * Messages, results and update objects need no operation: the firmware's own accesses bypass the
 * caches.
 */
#include "boot.h"
#include "bus.h"
#include "caches.h"

#define SHARED	0u			/* MMU context of structures shared with the host */
#define TABLES	PUMICE_MMU_CONTEXTS	/* as a context of SLC_OP */
#define CLEAN	PUMICE_SLC_OP__CLEAN__MASK
#define FLUSH	(CLEAN | PUMICE_SLC_OP__INVALIDATE__MASK)

static void operate(u32 op, enum pumice_mem_scope scope, u32 ctx)
{
	if (boot_device_minor() < FWIF_CACHES_SINCE_MAP)
		return;
	reg_write(PUMICE_SLC_OP, op | PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, scope) |
				 PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, ctx));
}

void caches_start(const struct context *c, u32 ctx)
{
	if (!(c->caches & FWIF_CACHES_START_SYSTEM)) {
		caches_start_partial(c, ctx);
		return;
	}
	operate(FLUSH, PUMICE_MEM_SCOPE_SYSTEM, ctx);
	if (c->scene)
		operate(FLUSH, PUMICE_MEM_SCOPE_SYSTEM, SHARED);
}

/* Its geometry job has started, but fragment jobs that it depends on may have ended since. */
void caches_start_partial(const struct context *c, u32 ctx)
{
	if (c->caches & (FWIF_CACHES_START_CORES | FWIF_CACHES_START_SYSTEM))
		operate(FLUSH, PUMICE_MEM_SCOPE_GPU, ctx);
}

void caches_end(const struct context *c, u32 ctx)
{
	if (!(c->caches & FWIF_CACHES_END))
		return;
	operate(CLEAN, PUMICE_MEM_SCOPE_SYSTEM, ctx);
	if (c->scene)
		operate(CLEAN, PUMICE_MEM_SCOPE_SYSTEM, SHARED);
}

void caches_flush(u32 ctx)
{
	operate(FLUSH, PUMICE_MEM_SCOPE_SYSTEM, ctx);
}

void caches_flush_range(u32 ctx, u64 first, u64 last)
{
	if (boot_device_minor() < FWIF_CACHES_SINCE_MAP)
		return;
	reg_write64(PUMICE_SLC_START, first);
	reg_write64(PUMICE_SLC_END, last);
	caches_flush_range_again(ctx);
}

void caches_flush_range_again(u32 ctx)
{
	operate(FLUSH | PUMICE_SLC_OP__RANGE__MASK, PUMICE_MEM_SCOPE_SYSTEM, ctx);
}

void caches_flush_tables(void)
{
	operate(FLUSH, PUMICE_MEM_SCOPE_SYSTEM, TABLES);
}

void caches_flush_shared(void)
{
	operate(FLUSH, PUMICE_MEM_SCOPE_SYSTEM, SHARED);
}
