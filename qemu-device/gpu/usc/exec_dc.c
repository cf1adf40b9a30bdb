// SPDX-License-Identifier: MIT
/*
 * Dynamic constants: read-only registers in memory.
 *
 * Source: document 003, "Dynamic Constant Registers": the USC manages windows of 16 registers
 * of each instance. An instance has one window for each index register. A read outside of it
 * replaces it: it is fetched entirely and serves later reads of that instance with that index
 * register. Instances that fetch the same window in one instruction translate it once.
 *
 * Limits: a window is not coherent: it keeps the words that it fetched until it is replaced, or
 * until the wave executes dc_window or mem_fence, which drop all of its windows. A window is 64
 * bytes of memory, aligned, so that it is in one page; registers at its edges may not belong to
 * the dynamic constants, and cannot be named.
 */
#include "exec.h"

#define WINDOW_BYTES (PUMICE_USC_DC_WINDOW * 4u)

/* Copy a window to these lanes. */
static void keep_window(struct usc_dc_windows *dc, u64 tag, const u8 *host, u32 lanes)
{
	const u32 *from = (const u32 *)(const void *)host;
	u32 word[PUMICE_USC_DC_WINDOW];

	for (u32 n = 0; n < PUMICE_USC_DC_WINDOW; n++)
		word[n] = __atomic_load_n(&from[n], __ATOMIC_RELAXED);
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes);

		dc->tag[l] = tag;
		memcpy(dc->word[l], word, sizeof(word));
	}
}

/* Return the lanes of a set whose word is not in a window that they keep. */
static u32 lanes_without(const struct usc_dc_windows *dc, u32 kept, const u64 *va, u32 lanes)
{
	u32 hits = 0;

	for (u32 left = lanes & kept; left; left &= left - 1) {
		u32 l = (u32)__builtin_ctz(left);

		hits |= (u32)(dc->tag[l] == va[l] / WINDOW_BYTES) << l;
	}
	return lanes & ~hits;
}

/*
 * Fetch the windows that lanes need, that of the lowest lane first. Return 0; with x->fault
 * set, the lanes that have none when a window faulted: that of the lowest of them.
 */
static u32 fetch_windows(struct exec *x, struct usc_dc_windows *dc, u32 *kept, const u64 *va,
			 u32 lanes)
{
	while (lanes) {
		u64 tag = va[__builtin_ctz(lanes)] / WINDOW_BYTES;
		const u8 *host;
		u32 same = 0;

		exec_expect(x, tag * WINDOW_BYTES, WINDOW_BYTES, false);
		host = exec_host(x, tag * WINDOW_BYTES, false);
		if (!host)
			return lanes;
		exec_request(x, tag * WINDOW_BYTES, WINDOW_BYTES, false,
			     MMU_WINDOW(PUMICE_UNIT_USC_DATA));
		for (u32 left = lanes; left; left &= left - 1) {
			u32 l = (u32)__builtin_ctz(left);

			same |= (u32)(va[l] / WINDOW_BYTES == tag) << l;
		}
		keep_window(dc, tag, host, same);
		usc_count(x->usc, PUMICE_PERF_USC_DC_WINDOWS, (u64)__builtin_popcount(same));
		*kept |= same;
		lanes &= ~same;
	}
	return 0;
}

/* Mode strict: these lanes use words of their windows. */
static void use_words(struct exec *x, const u64 *va, u32 lanes)
{
	u64 before = UINT64_MAX;

	for (; lanes; lanes &= lanes - 1) {
		const u32 l = (u32)__builtin_ctz(lanes);

		if (va[l] == before)
			continue;
		before = va[l];
		x->usc->stepped_lane = l;
		exec_use(x, va[l], 4);
	}
	x->usc->stepped_lane = PUMICE_LANES;
}

/* Make the words at va available to these lanes and read them; returns as fetch_windows(). */
static u32 read_windows(struct exec *x, const struct usc_lookup *lookup, const u64 *va, u32 lanes,
			u32 *row)
{
	u32 index = lookup->index / (USC_ROW_WORDS * 4u) - USC_OWN_INDEX;
	u32 *kept = &x->wave->dc_kept[index];
	struct usc_dc_windows *dc =
		&x->usc->dc[(u32)(x->wave - x->usc->wave) * PUMICE_USC_INDEX_REGS + index];
	u32 without = lanes_without(dc, *kept, va, lanes);
	u32 failed = fetch_windows(x, dc, kept, va, without);

	if (failed)
		return failed;
	if (x->usc->strict)
		use_words(x, va, lanes);
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes);

		row[l] = dc->word[l][va[l] / 4 % PUMICE_USC_DC_WINDOW];
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
	lanes = read_windows(x, lookup, va, lanes, row);
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
