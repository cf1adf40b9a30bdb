/* SPDX-License-Identifier: MIT */
/* Vertex attributes: fetched from memory and converted, a wave at a time. */
#ifndef PUMICE_GPU_PDS_ATTR_H
#define PUMICE_GPU_PDS_ATTR_H

#include "fill.h"

/*
 * Execute operation attr for one wave: lane l reads element index[l]. rows receives four rows
 * of 32 lanes, written for active lanes only. Returns false with the MMU's fault in *fault.
 */
bool pds_attr_wave(struct pds_fill *fill, const struct pumice_pds_insn *insn, const u32 *index,
		   u32 lanes, u32 *rows, struct gpu_fault *fault);

#endif
