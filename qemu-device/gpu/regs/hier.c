// SPDX-License-Identifier: MIT
/* Registers of unit HIER: counts of the memory hierarchy. */
#include "units.h"

/* Return the selection of the bus that an access comes from. */
static u32 *selection(struct pumice_gpu *gpu, const struct reg_access *at)
{
	return &gpu->hier_select[at->bus == PUMICE_REG_BUS_FW];
}

REG_READ(reg_hier_select)
{
	return *selection(gpu, at);
}

REG_WRITE(reg_hier_select_write)
{
	*selection(gpu, at) = (u32)value;
	return REG_DONE;
}

/* The hierarchy changes only with the device lock held. */
REG_READ(reg_hier_value)
{
	u64 value[PUMICE_HIER_VALUE_COUNT];

	hier_counts_row(&gpu->counts, gpu->hierarchy, *selection(gpu, at), value);
	return value[at->index];
}
