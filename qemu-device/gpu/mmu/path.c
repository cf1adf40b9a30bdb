// SPDX-License-Identifier: MIT
/* Memory management unit, mode strict: whether tables are still those of a former walk. */
#include "internal.h"

/* Return whether a context of a virtual GPU, or its part of context 0, has a catalogue. */
static bool has_catalogue(const struct mmu *mmu, unsigned int os, u64 catalogue)
{
	const u64 part = mmu->oses > 1 ? os * PUMICE_OS_PART_SIZE : 0;
	unsigned int ctx, of;
	u64 reg;

	for (ctx = 0; ctx < PUMICE_MMU_CONTEXTS; ctx++) {
		reg = mmu_context_reg(mmu, ctx, ctx ? 0 : part, &of);
		if (of == os && reg & PUMICE_MMU_CTX__ENABLE__MASK &&
		    (reg & PUMICE_MMU_CTX__CATALOGUE__MASK) == catalogue)
			return true;
	}
	return false;
}

bool mmu_path_exists(const struct mmu *mmu, const struct mmu_path *path)
{
	struct pumice_mmu_pc_entry pc;
	struct pumice_mmu_pd_entry pd;
	u64 raw;

	if (!has_catalogue(mmu, path->os, path->catalogue) ||
	    !mmu_get_entry(mmu, path->os, path->pc_entry, &raw))
		return false;
	pumice_mmu_pc_entry_unpack64(raw, &pc);
	if (!pc.valid || pc.addr != path->directory)
		return false;
	if (!path->pd_entry)
		return true;
	if (!mmu_get_entry(mmu, path->os, path->pd_entry, &raw))
		return false;
	pumice_mmu_pd_entry_unpack64(raw, &pd);
	return pd.valid && pd.addr == path->table;
}
