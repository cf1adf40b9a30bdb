// SPDX-License-Identifier: MIT
/*
 * Dynamic constants: read-only registers in memory.
 *
 * Source: document 003, "Dynamic Constant Registers": windows of 16 registers at a time. Each
 * 64 bytes of memory that lanes read are translated once.
 *
 * Limits: nothing is kept between instructions; a read returns the current contents of
 * memory.
 */
#include "exec.h"

#define WINDOW_BYTES (PUMICE_USC_DC_WINDOW * 4u)

/*
 * Read all lanes at once, the window of the lowest lane first. Return 0; with x->fault set,
 * the lanes that were not read when a window faulted: that of the lowest of them.
 */
static u32 read_windows(struct exec *x, const u64 *va, u32 lanes, u32 *row)
{
	while (lanes) {
		u32 first = (u32)__builtin_ctz(lanes);
		u64 window = va[first] / WINDOW_BYTES * WINDOW_BYTES;
		const u8 *host = exec_host(x, window, false);

		if (!host)
			return lanes;
		for (u32 l = first; l < PUMICE_LANES; l++) {
			u64 at = va[l] - window;

			if (!(lanes >> l & 1) || at >= WINDOW_BYTES)
				continue;
			row[l] = __atomic_load_n((const u32 *)(const void *)(host + at),
						 __ATOMIC_RELAXED);
			lanes &= ~(1u << l);
		}
	}
	return 0;
}

bool exec_dc_read(struct exec *x, const struct usc_insn *i, const struct usc_lookup *lookup,
		  u32 *row)
{
	const u32 *index = (const u32 *)(const void *)(x->base[USC_BASE_OWN] + lookup->index);
	u32 lanes = 0, beyond = 0;
	u64 va[PUMICE_LANES];

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u64 number = lookup->last + ((u64)index[l] << lookup->dim);

		row[l] = 0;
		if (!(x->valid >> l & 1))
			continue;
		if (number >= x->wave->dc_words) {
			beyond = 1u << l;
			break;	/* lower lanes may fault first */
		}
		va[l] = x->wave->dc_base + number * 4;
		lanes |= 1u << l;
	}
	lanes = read_windows(x, va, lanes, row);
	if (lanes) {
		exec_mmu_fault(x, i);
		exec_fault_lane(x, lanes);
		return false;
	}
	if (beyond) {
		exec_fault(x, i, PUMICE_FAULT_USC_INDEX);
		exec_fault_lane(x, beyond);
	}
	return !beyond;
}
