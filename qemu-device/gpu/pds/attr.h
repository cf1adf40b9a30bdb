/* SPDX-License-Identifier: MIT */
/* Vertex attributes: fetched from memory and converted, a wave at a time. */
#ifndef PUMICE_GPU_PDS_ATTR_H
#define PUMICE_GPU_PDS_ATTR_H

#include "fill.h"

/*
 * Operation attr for one wave: lane l reads element index[l]. rows becomes four
 * rows of 32 lanes, of which those of the lanes are written. False with what the
 * MMU says in *fault.
 */
bool pds_attr_wave(struct pds_fill *fill, const struct pumice_pds_insn *insn, const u32 *index,
		   u32 lanes, u32 *rows, struct gpu_fault *fault);

#endif
