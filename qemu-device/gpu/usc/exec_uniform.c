// SPDX-License-Identifier: MIT
/*
 * The uniform stream: a register that is the next word of memory at each read.
 *
 * Source: document 001, "Binning Pass": the state record has the address of the uniforms,
 * reads of one register return them in order, and a small cache holds them. Every wave reads the
 * stream from its start. USC_UNIFORM_WINDOW words are fetched at a time: the stream is aligned, so
 * that they are in one page, and words after its end can be fetched but not read.
 *
 * Limits: fetched words are not coherent; mem_fence drops them. An operand that is looked up is
 * fetched once for each execution of its instruction, so words are neither skipped nor repeated.
 */
#include "exec.h"

/* Fetch the words around the next one. Returns false with the MMU's fault in x->fault. */
static bool fetch_window(struct exec *x, u64 va, u32 *window)
{
	const u32 *from;

	exec_expect(x, va, USC_UNIFORM_WINDOW * sizeof(*window), false);
	from = (const u32 *)(const void *)exec_host(x, va, false);
	if (!from)
		return false;
	exec_request(x, va, USC_UNIFORM_WINDOW * sizeof(*window), false,
		     MMU_WINDOW(PUMICE_UNIT_USC_DATA));
	for (u32 n = 0; n < USC_UNIFORM_WINDOW; n++)
		window[n] = __atomic_load_n(&from[n], __ATOMIC_RELAXED);
	return true;
}

bool exec_uniform_read(struct exec *x, const struct usc_insn *i, u32 *row)
{
	struct usc_wave *wave = x->wave;
	u32 *window = x->usc->uniform[wave - x->usc->wave];
	const u32 at = wave->uniforms % USC_UNIFORM_WINDOW;

	if (!x->gfx || wave->uniforms >= x->gfx->uniform_words) {
		exec_fault(x, i, PUMICE_FAULT_USC_UNIFORM);
		return false;
	}
	if ((!at || !wave->uniforms_kept) &&
	    !fetch_window(x, x->gfx->uniforms + (u64)(wave->uniforms - at) * 4, window)) {
		exec_mmu_fault(x, i);
		return false;
	}
	exec_use(x, x->gfx->uniforms + (u64)wave->uniforms * 4, 4);
	wave->uniforms_kept = true;
	wave->uniforms++;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		row[l] = window[at];
	return true;
}
