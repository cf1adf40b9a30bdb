/* SPDX-License-Identifier: MIT */
/*
 * Random PDS programs: a generator of valid ones for every data master, and a scalar model that
 * executes them one instruction and one instance at a time, as hw/isa.xml, isa "pds", specifies.
 *
 * The model shares no code with the PDS. Positions of pixels and texels are those of fake_gfx.c.
 */
#ifndef PUMICE_PDS_RANDOM_H
#define PUMICE_PDS_RANDOM_H

#include "stage_fixture.h"

#define RANDOM_INSNS	24u	/* next to task and end */
#define RANDOM_GROUP	210u	/* most instances of a work-group: two tasks */
#define RANDOM_TASK	128u	/* most instances of a task */
#define RANDOM_TASKS	2u
#define RANDOM_ATTRS	20u
#define RANDOM_SHARED	24u
#define RANDOM_COEFFS	18u	/* of a primitive */
#define RANDOM_ALT	9u
#define RANDOM_PRIMS	4u
#define RANDOM_VARYINGS	7u
#define RANDOM_PLANES	(RANDOM_VARYINGS + 2u)
#define RANDOM_TABLE	32u	/* entries of the attribute table */
#define RANDOM_STAGES	(USC_STAGE_HIT + 1u)

/* A program and all that it can read. */
struct random_case {
	u32 stage;		/* enum usc_stage */
	u32 instances, prims;
	struct pumice_pds_insn insn[RANDOM_INSNS + 2];
	u16 count;
	u8 *data;		/* of FX_DATA */

	/* Compute. */
	u16 size[3];
	u32 id[3], groups[3];

	/* Vertices. */
	u32 vertex[RANDOM_TASK], instance, base_instance;
	struct pumice_vdm_attribute table[RANDOM_TABLE];

	/* Fragments and tiles. */
	struct tsp_plane plane[RANDOM_PRIMS][RANDOM_PLANES];
	struct usc_span span[RANDOM_TASK / 4];
	struct usc_tile tile;
	u8 sample;
	u32 dim;		/* of all texture reads */

	/* Rays. */
	u32 index[RANDOM_TASK], width;
	u32 ray[4 * PUMICE_RT_RAY_REGS * PUMICE_LANES];
	u32 result[4 * PUMICE_RT_RESULT_REGS * PUMICE_LANES];
};

/* Registers. */
struct random_registers {
	u32 v[RANDOM_TASKS][RANDOM_TASK][RANDOM_ATTRS];
	u32 sh[RANDOM_TASKS][RANDOM_SHARED];
	u32 cf[RANDOM_TASKS][RANDOM_PRIMS * RANDOM_COEFFS];
	u32 cfa[RANDOM_TASKS][RANDOM_PRIMS * RANDOM_ALT];
};

/* Values that the programs so far have used. */
struct random_coverage {
	bool op[RANDOM_STAGES][256][4];	/* by stage and bank */
	bool source[256][4];		/* by bank */
	bool attribute[2][256][5];	/* attr and fetch: by kind and components */
	bool divisor[2], elements[2];	/* none or some; elements outside were read */
	bool iterate[256][5], coeff[5], plane[2];	/* by mode and components */
	bool texture[256][256];		/* by mode and dimensions */
	bool stride[3];			/* less than, equal to, more than the words */
};

u32 random_number(u32 *seed, u32 below);
/* Generate a case of a stage; memory and inputs, too. */
void random_make(struct random_case *c, u32 stage, u32 *seed, struct random_coverage *coverage);
/* Execute it. */
void random_model(const struct random_case *c, struct random_registers *out);

#endif
