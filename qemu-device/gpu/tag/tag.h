/* SPDX-License-Identifier: MIT */
/*
 * Texture address generator (TAG) of half a core: addresses, weights, levels of detail; reads
 * texels as the TCU does and passes them to its texture filter (tf/).
 *
 * Source: document 004, "TAG" and "TCU"; hw/formats.xml, texture, sampler; hw/surface.h for
 * layouts. Requests come from the USCs of the half and from its TITR, each for a wave; one is
 * processed at a time, the others wait. It owns its TLB.
 */
#ifndef PUMICE_GPU_TAG_H
#define PUMICE_GPU_TAG_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "../tcu/tcu.h"
#include "pumice_isa_enums.h"

struct tag;
struct tf;

struct tag_config {
	u8 number;	/* over all cores, for faults */
	u32 first_usc;	/* of its half, over all cores; its interface is 0 */
	struct mmu *mmu;
	struct tf *tf;
	struct tcu *tcu;	/* interfaces of its USCs, by tag_request.tcu */
};

/* Returns NULL when out of memory. */
struct tag *tag_create(const struct tag_config *config);
void tag_destroy(struct tag *tag);
/* Clear TLB, decoded state and counts. */
void tag_reset(struct tag *tag);

#define TAG_STATE_WORDS 12u	/* a texture structure, a sampler structure */

struct tag_request {
	u8 op;			/* enum pumice_usc_op: SAMPLE to QUERY_LOD */
	u8 type;		/* enum pumice_usc_type of the result */
	u8 dim;			/* enum pumice_texture_dim */
	u8 comp;		/* GATHER: component */
	u8 tcu;			/* interface of the USC: half_tcu_of_usc() */
	bool program;		/* for an instruction of the USC, in its thread */
	unsigned int ctx;	/* MMU context */
	const u32 *state;	/* TAG_STATE_WORDS */
	u32 lanes;		/* lanes that read: the others' results are undefined */
	bool spans;		/* four lanes are 2x2 pixels, from which levels of detail are
				 * computed */
	/* Rows of 32 lanes, f32 or for FETCH u32. */
	const u32 *coord;	/* rows follow each other */
	const u32 *extra;	/* bias, level, reference or derivatives; or NULL */
};

/*
 * Read for a wave: out is four rows of 32 lanes. Any thread; waits while the unit processes another
 * request. Returns false with *fault filled in except usc and pc: TAG_STATE (addr 0) or an MMU
 * fault.
 */
bool tag_read(struct tag *tag, const struct tag_request *request, u32 *out,
	      struct gpu_fault *fault);

/* Measure the time in which the unit is busy, or not. */
void tag_set_detail(struct tag *tag, bool detail);
/* Add its counters, by enum pumice_perf_counter; any thread. */
void tag_counters_add(const struct tag *tag, u64 *value);

#endif
