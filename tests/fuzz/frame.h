/* SPDX-License-Identifier: MIT */
/*
 * A frame for fuzz targets: everything that a geometry and a fragment job need, in the
 * fixture's memory, all of it valid until a target changes it. A target of 64 x 64 pixels,
 * two triangles with a texture, depth and a mask plane, a free list, a scene with memory for
 * partial renders.
 */
#ifndef PUMICE_FUZZ_FRAME_H
#define PUMICE_FUZZ_FRAME_H

#include "host.h"
#include "pumice_isa.h"

#define FRAME_SIZE	64u	/* pixels, in both directions */
#define FRAME_PAGES	32u	/* of the free list's table */

/* Pages of the VM, from FX_STREAM_VA on; the first two are the fixture's own. */
enum {
	FRAME_STREAM,
	FRAME_CODE,
	FRAME_STATE,		/* records, see below */
	FRAME_DATA,		/* vertices, indices, words of indirect draws */
	FRAME_TEXELS,
	FRAME_TARGET,		/* 4 pages */
	FRAME_DEPTH = FRAME_TARGET + 4,
	FRAME_SPILL = FRAME_DEPTH + 4,
	FRAME_REGIONS = FRAME_SPILL + 16,	/* owned by the PM, like all up to FRAME_WORK */
	FRAME_BUFFER,		/* FRAME_PAGES pages */
	FRAME_VM_PAGES = FRAME_BUFFER + FRAME_PAGES,
	FRAME_WORK = FRAME_VM_PAGES,	/* for a target's additional data, not owned by the PM */
	FRAME_WORK_PAGES = 64,
	FRAME_ALL_PAGES = FRAME_WORK + FRAME_WORK_PAGES,
};

/* Programs in the page FRAME_CODE; space for one more remains. */
enum { FRAME_VERTEX, FRAME_FRAGMENT, FRAME_END_OF_TILE, FRAME_BACKGROUND };

#define FRAME_VA(page)	(FX_STREAM_VA + (u64)(page) * 4096)

/* Records in the page FRAME_STATE, 128 bytes each; the sampler follows the texture. */
enum {
	FRAME_VDM_STATE, FRAME_ISP_STATE, FRAME_TSP_STATE, FRAME_RENDER, FRAME_PBE, FRAME_TEXTURE,
	FRAME_RECORDS,
	FRAME_LIST = FRAME_RECORDS,	/* the render control list */
};

#define FRAME_RECORD_BYTES	128u
#define FRAME_RECORD_VA(n)	(FRAME_VA(FRAME_STATE) + (n) * FRAME_RECORD_BYTES)
/* In the page FRAME_DATA. */
#define FRAME_VERTICES		8u
#define FRAME_INDICES_AT	1024u	/* bytes; 64 of 16 bit */
#define FRAME_INDIRECT_AT	2048u
#define FRAME_MASK_AT		3072u	/* mask plane: a bit a pixel */

struct frame {
	struct fx_vm vm;
	u8 *page[FRAME_ALL_PAGES];	/* in host memory */
	u32 *list, *links, *scene;	/* in context 0 */
	u32 scene_addr;
	struct fx_context geometry, fragment;
	u32 *gate, gate_addr;		/* an additional dependency of the fragment job */
};

/* Initialise a frame; the free list has @pages at first, at most FRAME_PAGES. */
void frame_make(struct fixture *r, struct frame *f, u32 pages);
/* Return a record of the page FRAME_STATE. */
u32 *frame_record(struct frame *f, u32 record);
/*
 * Write the programs of a stage, one instruction of the PDS and up to 15 of the USC, and
 * their ends. The caller fills in the registers.
 */
struct pumice_stage frame_stage(struct frame *f, u32 number, struct pumice_pds_insn first,
				const struct pumice_usc_insn *insns, u32 count);
/* Submit both jobs, seqno 1; does not run. The fragment job waits for frame_open(). */
void frame_submit(struct fixture *r, struct frame *f);
void frame_open(struct fixture *r, struct frame *f);

/*
 * Wait for a job, else kill it; its result must have valid enumerators.
 * @patience: polls before it is killed
 */
void frame_finish(struct fixture *r, struct fx_context *c, unsigned int patience);

#endif
