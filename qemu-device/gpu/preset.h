/* SPDX-License-Identifier: MIT */
/* Presets of the GPU's sizes: hw/presets.h. */
#ifndef PUMICE_GPU_PRESET_H
#define PUMICE_GPU_PRESET_H

#include <stdbool.h>

#include "hierarchy/hierarchy.h"
#include "pumice_gpu.h"
#include "pumice_regs.h"

/* Find a preset by its name in lower case; NULL is the default one. Returns false for none. */
bool preset_find(const char *name, enum pumice_preset *preset);
/* Set the sizes that are 0 to those of the preset. */
void preset_apply(enum pumice_preset preset, struct pumice_gpu_config *config);
/* Find a store of pixel outputs by its name in lower case. Returns false for none. */
bool preset_find_outputs(const char *name, enum pumice_output_store *store);
/*
 * Number of banks of the SLC, a power of two: one a core (document 004, "SLC"), or with an MCU,
 * where they scale with USCs (document 000, "System Level Cache"), one for each two USCs.
 */
u32 preset_slc_banks(const struct pumice_gpu_config *config);
/* Return the memory hierarchy of sizes that preset_check() accepts. */
struct hierarchy_config preset_hierarchy(const struct pumice_gpu_config *config);
/* Check the sizes; returns the error, or NULL. */
const char *preset_check(const struct pumice_gpu_config *config);

#endif
