/* SPDX-License-Identifier: MIT */
/*
 * Texture unit of one USC: TAG (addresses and weights), TCU, TF (expansion and filtering).
 *
 * Source: document 004, "TAG", "TF" and "TCU"; hw/formats.xml, texture, sampler; hw/surface.h
 * for layouts. Processes a wave at a time. Used by one thread at a time; it owns its TLB.
 */
#ifndef PUMICE_GPU_TAG_H
#define PUMICE_GPU_TAG_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "pumice_isa_enums.h"

struct tag;

struct tag *tag_create(struct mmu *mmu);
void tag_destroy(struct tag *tag);
/* Clear TLB, decoded state and counts. */
void tag_reset(struct tag *tag);

#define TAG_STATE_WORDS 12u	/* a texture structure, a sampler structure */

struct tag_request {
	u8 op;			/* enum pumice_usc_op: SAMPLE to QUERY_LOD */
	u8 type;		/* enum pumice_usc_type of the result */
	u8 dim;			/* enum pumice_texture_dim */
	u8 comp;		/* GATHER: component */
	unsigned int ctx;	/* MMU context */
	const u32 *state;	/* TAG_STATE_WORDS */
	u8 master;		/* enum pumice_wave_master of the task, for tag_reads_of() */
	u32 lanes;		/* lanes that read: the others' results are undefined */
	bool spans;		/* four lanes are 2x2 pixels, from which levels of detail are
				 * computed */
	/* Rows of 32 lanes, f32 or for FETCH u32. */
	const u32 *coord;	/* rows follow each other */
	const u32 *extra;	/* bias, level, reference or derivatives; or NULL */
};

/*
 * Read for a wave: out is four rows of 32 lanes. Returns false with *fault filled in except
 * usc and pc: TAG_STATE (addr 0) or an MMU fault.
 */
bool tag_read(struct tag *tag, const struct tag_request *request, u32 *out,
	      struct gpu_fault *fault);

/* Return the number of reads so far, of all tasks or those of a data master; any thread. */
u64 tag_reads(const struct tag *tag);
u64 tag_reads_of(const struct tag *tag, enum pumice_wave_master master);

#endif
