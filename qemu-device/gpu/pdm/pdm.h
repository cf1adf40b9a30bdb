/* SPDX-License-Identifier: MIT */
/*
 * Pixel data master (PDM): the fragment phase of one job over all cores.
 *
 * Source: document 004, "PDM", "ISP", "TSP", "Master IPF"; document 001, "Binning
 * Pass"; hw/formats.xml, pdm_render; hw/render.xml. The render control list names the tiles.
 * They go to cores, and each is rendered entirely by its core; when the last tile of a macro
 * tile is done its pages are freed.
 */
#ifndef PUMICE_GPU_PDM_H
#define PUMICE_GPU_PDM_H

#include <stdatomic.h>

#include "../dm/dm.h"
#include "../mmu/mmu.h"
#include "../pds/gfx.h"
#include "../pm/pm.h"
#include "../trace/trace.h"

struct pdm;

struct pdm *pdm_create(const struct dm_config *config);
void pdm_destroy(struct pdm *pdm);
void pdm_reset(struct pdm *pdm);
/* The trace is about to begin: its events count from here. */
void pdm_trace_begin(struct pdm *pdm);

/* Registers; device lock held. START is refused (false) while busy. */
bool pdm_start(struct pdm *pdm, const struct dm_job *job);
void pdm_abort(struct pdm *pdm);
const struct dm_status *pdm_status(const struct pdm *pdm);
void pdm_counters_add(const struct pdm *pdm, u64 *value);

/* Run one core for about a quantum; true while more can be done at once. */
bool pdm_core_step(struct pdm *pdm, unsigned int core, const _Atomic bool *stop);

#endif
