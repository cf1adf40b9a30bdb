/* SPDX-License-Identifier: MIT */
/*
 * Texture and shader set-up (TSP): inputs of fragment programs for a visible primitive.
 *
 * Source: document 004, "TSP"; Documentation/precision.rst, "Varyings"; hw/formats.xml,
 * tsp_state. State is read once for a job and tile slot; planes are set up only for visible
 * primitives, and only those of varyings and of depth that the object's program reads.
 */
#ifndef PUMICE_GPU_TSP_H
#define PUMICE_GPU_TSP_H

#include <stdbool.h>

#include "../fault.h"
#include "../isp/isp.h"
#include "../mmu/mmu.h"
#include "../pds/gfx.h"
#include "../plane.h"

/* Planes of a primitive: of its varyings, of 1/w, of depth. */
#define TSP_MAX_PLANES	(PUMICE_MAX_VARYINGS + 2u)

/* tsp_state, validated except its programs. */
struct tsp_state {
	struct pumice_stage fragment;
	u8 varyings;
	bool sample_rate;
	u64 flat, linear;	/* bit n: varying n */
	bool point_coord, point_lower_left;
	u8 point_varying;	/* it and the next one exist if point_coord */
	u64 uniforms;		/* the fragment program's stream */
	u32 uniform_words;
};

/* Read and check. Returns false with all of *fault filled in. */
bool tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		    struct tsp_state *state, struct gpu_fault *fault);

/* Inputs of the planes of a triangle. */
struct tsp_input {
	const struct isp_triangle *triangle;
	const struct isp_setup *depth;	/* of the triangle; NULL: its depth plane is not read */
	const struct ipf_prim *prim;
	const float *const *value;	/* [vertex][n] */
	u64 needed;		/* bit n: the plane of varying n is read */
	bool point;		/* the triangle is half of a point */
	u32 x0, y0;		/* pixel of the tile's corner */
};
/*
 * Compute planes relative to the tile's corner: out[n] of each needed varying n, and after the
 * state->varyings planes those of 1/w and, if it is read, of depth. Other elements of out are not
 * written.
 */
void tsp_set_up(const struct tsp_state *state, const struct tsp_input *in, struct tsp_plane *out);

#endif
