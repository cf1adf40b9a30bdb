// SPDX-License-Identifier: MIT
/*
 * PDM: clear and store of tiles without tasks.
 *
 * Source: document 004, "PDM", background and end-of-tile programs; Documentation/triangle.rst. A
 * background program that writes constants leaves the tile with the same outputs for all samples,
 * pdm_tile.constant, until a task of the tile needs them in its store. A tile that no task has
 * changed is stored from one converted pixel.
 *
 * Results and counters are those of tasks. Where anything else is to be seen of these, in detailed
 * modes, by the trace or as a fault, they are run: pds_is_direct().
 */
#include <string.h>

#include "../pbe/pbe.h"
#include "../pds/direct.h"
#include "state.h"

#define COST_STORE	128u	/* of the largest tile, in units of about 50 ns */

void pdm_outputs_clear(struct pdm_tile *tile)
{
	memset(tile->constant, 0, tile->usc.words * sizeof(tile->constant[0]));
	tile->is_constant = true;
}

void pdm_outputs_fill(struct pdm_tile *tile)
{
	const u32 words = tile->usc.samples * tile->usc.words, pixels = tile->usc.pixels;
	u32 *out = tile->outputs.word, n, p;

	if (!tile->is_constant)
		return;
	tile->is_constant = false;
	for (n = 0; n < words; n++, out += pixels) {
		const u32 word = tile->constant[n % tile->usc.words];

		for (p = 0; p < pixels; p++)
			out[p] = word;
	}
}

static u32 waves_of(u32 instances)
{
	return (instances + PUMICE_LANES - 1) / PUMICE_LANES;
}

/* Count the tasks of a program for a number of instances. */
static void count_tasks(struct pdm_tile *tile, const struct pds_stage *stage,
			const struct pds_direct *direct, u32 instances)
{
	const u32 batch = tile->pdm->config.batch, rest = instances % batch;
	const u32 tasks = instances / batch + (rest != 0);
	const u32 waves = instances / batch * waves_of(batch) + waves_of(rest);

	tile->tasks += tasks;
	pds_direct_count(tile->pdm->config.pds, tile->core->number, stage, direct, tasks, waves);
}

bool pdm_background_direct(struct pdm_tile *tile)
{
	const struct pds_stage *stage = &tile->pdm->background;
	const struct pds *pds = tile->pdm->config.pds;
	struct pds_direct direct;

	if (!pds_is_direct(pds, stage, USC_DIRECT_CONSTANTS) ||
	    !pds_direct_fill(pds, stage, &tile->core->tlb, &direct))
		return false;
	usc_direct_write(stage->code, direct.shared, tile->constant);
	count_tasks(tile, stage, &direct, tile->usc.pixels);
	return true;
}

bool pdm_store_direct(struct pdm_tile *tile, const struct pds_stage *stage, u32 *cost)
{
	const struct pdm *pdm = tile->pdm;
	struct pds_direct direct;
	const u32 *state;
	u32 n;

	if (!tile->is_constant || !pds_is_direct(pdm->config.pds, stage, USC_DIRECT_STORES) ||
	    !pds_direct_fill(pdm->config.pds, stage, &tile->core->tlb, &direct))
		return false;
	for (n = 0; (state = usc_direct_store(stage->code, direct.shared, n)); n++) {
		*cost += COST_STORE;
		if (!pbe_store_constant(pdm->config.mmu, &tile->pbe_tlb, pdm->job.ctx, &tile->usc,
					tile->constant, state))
			return false;
	}
	count_tasks(tile, stage, &direct, 1);
	return true;
}
