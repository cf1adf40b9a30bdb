/* SPDX-License-Identifier: MIT */
/*
 * Flushes: the command of all control streams that operates on caches, and the operations that
 * commands imply which wait until stores are visible.
 *
 * Source: hw/formats.xml, cdm_flush. No document describes them. Software of the job's context
 * writes streams: operations are on lines of this context only, and an invalidation writes dirty
 * lines before, since they may have data of others.
 */
#ifndef PUMICE_GPU_DM_FLUSH_H
#define PUMICE_GPU_DM_FLUSH_H

#include "../mmu/mmu.h"

struct dm_flush {
	bool clean, invalidate;
	u8 scope;	/* enum pumice_mem_scope */
};

/* Return the operations of an unpacked flush command of any stream. */
#define DM_FLUSH(in)									\
	((struct dm_flush){ .clean = (in).data || (in).clean,				\
			    .invalidate = (in).data || (in).code || (in).invalidate,	\
			    .scope = (u8)(in).scope })

/*
 * Execute a flush of a data master's stream, of a job in context ctx, after the work before it.
 * In fast mode an invalidation drops programs that were fetched. Without clean and invalidate it
 * has waited, which is passed on, too. Returns whether it was an operation of a detailed mode,
 * which takes as long as the caches have lines of the context: then the caller ends its step, in
 * which it may hold the device lock, so that the time of a step is at most that of one operation.
 */
static inline bool dm_flush(struct mmu *mmu, enum pumice_unit master, unsigned int ctx,
			    const struct dm_flush *flush)
{
	mmu_cache_op(mmu, &(struct mmu_cache_op){
		.kind = flush->invalidate ? MMU_CACHE_INVALIDATE :
			flush->clean	  ? MMU_CACHE_CLEAN :
					    MMU_CACHE_NONE,
		.scope = (enum pumice_mem_scope)flush->scope, .usc = MMU_ALL_USCS,
		.master = master, .ctx = ctx, .first = 0, .last = UINT64_MAX,
	});
	return mmu->cache_op && (flush->clean || flush->invalidate);
}

/*
 * Make stores of the work before a command visible to the work after it, on all cores: they are
 * written to the SLC, and lines of the cores, which may have former data, are dropped. As
 * dm_flush().
 */
static inline bool dm_fence(struct mmu *mmu, enum pumice_unit master, unsigned int ctx)
{
	return dm_flush(mmu, master, ctx,
			&(struct dm_flush){ .clean = true, .invalidate = true,
					    .scope = PUMICE_MEM_SCOPE_GPU });
}

/* The same for the CPU, which observes a word that a command writes afterwards. */
static inline bool dm_publish(struct mmu *mmu, enum pumice_unit master, unsigned int ctx)
{
	return dm_flush(mmu, master, ctx,
			&(struct dm_flush){ .clean = true, .scope = PUMICE_MEM_SCOPE_SYSTEM });
}

#endif
