/* SPDX-License-Identifier: MIT */
/*
 * Fixture: a PDM with the real blocks that it uses, and a parameter buffer written by the test.
 *
 * Cores and USCs are stepped only when they were woken, so that a missing wake-up fails
 * the test. The device lock records whether it is held.
 *
 * A frame:
 *
 *	rig_open(&rig, cores);
 *	scene_begin(&rig, &scene);		the target
 *	scene_draw(&rig, object, prims, count);	blocks, in order
 *	scene_end(&rig, true);			tile streams, region headers
 *	rig_start(&rig, partial);
 *	rig_run(&rig);				to its end
 *	rig_close(&rig);
 */
#ifndef PUMICE_PDM_RIG_H
#define PUMICE_PDM_RIG_H

#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/pdm/pdm.h"
#include "../../../qemu-device/gpu/isp/isp.h"
#include "../support/testmem.h"

#define RIG_CTX		5u
#define RIG_OTHER_CTX	6u	/* has the memory of RIG_CTX */
#define RIG_USCS	(PUMICE_MAX_CORES * PUMICE_USCS_PER_CORE)

/* Context 0. */
#define RIG_SCENE	0x10000ull
#define RIG_LIST	0x20000ull
#define RIG_LINKS	0x30000ull
/* Context RIG_CTX; each area is followed by unmapped memory. */
#define RIG_PB		0x1000000ull
#define RIG_PAGES	1024u
#define RIG_REGIONS	0x2000000ull
#define RIG_STATES	0x3000000ull
#define RIG_CODE	0x3100000ull
#define RIG_RENDER	0x3200000ull
#define RIG_COLOUR	0x4000000ull
#define RIG_DEPTH	0x5000000ull
#define RIG_STENCIL	0x6000000ull
#define RIG_SPILL	0x7000000ull
#define RIG_VISIBLE	0x8000000ull
#define RIG_STATS	0x8100000ull
#define RIG_BYTES	0x80000u	/* of each of these but the parameter buffer and the spill */
#define RIG_SPILL_BYTES	0x200000u

#define RIG_MAX_SIZE	96u		/* pixels of a target */
#define RIG_MAX_TILES	(6u * 6u)

/* Programs. */
enum rig_program {
	RIG_PLAIN,	/* o0 = v0 */
	RIG_BLEND,	/* o0 = o0 / 2 + v0 */
	RIG_PUNCH,	/* the same where (x ^ y) & 1 */
	RIG_DEPTH_OUT,	/* depth v1, then the same */
	RIG_LOOP,	/* never ends */
	RIG_BAD_STORE,	/* faults */
	RIG_READS,	/* o0 = o0 / 2 + v0; a task is filled in pieces (texture reads) */
	RIG_BACKGROUND,	/* o0 = 0.25 */
	RIG_NOTHING,	/* writes nothing */
	RIG_END_OF_TILE,
	RIG_PROGRAMS,
};

struct rig_entry {
	u32 block, mask;
};

#define RIG_ENTRIES	512u

/* Entries of a tile's stream of one core. */
struct rig_stream {
	struct rig_entry entry[RIG_ENTRIES];
	u32 count;
};

struct rig {
	/* The device. */
	struct testmem *tm;
	struct mmu mmu;
	struct usc_program_cache *programs;
	struct usc *usc[RIG_USCS];
	struct pds *pds;
	struct pm *pm;
	struct pdm *pdm;
	unsigned int cores;
	u64 clock;
	bool locked;
	bool awake_core[PUMICE_MAX_CORES], awake_usc[RIG_USCS];
	u32 usc_wakes[RIG_USCS];	/* about the number of tasks */
	unsigned int ends;
	enum dm_end end;

	/* Memory. */
	u8 *scene_mem, *list_mem, *pb, *regions, *states, *code, *render, *colour, *depth,
		*stencil, *spill, *visible, *stats;
	struct pumice_stage stage[RIG_PROGRAMS];
	u32 code_used;

	/* The scene that is written. */
	struct pm_scene scene;
	u32 sequence;
	u64 isp_at, tsp_at;	/* addresses of states in blocks instead, or 0 */
	struct rig_stream stream[PUMICE_MAX_CORES][RIG_MAX_TILES];
	u32 chunk_page[16], chunk_used[16];
	struct pumice_pdm_render record;
};

void rig_open(struct rig *rig, unsigned int cores);
void rig_close(struct rig *rig);
/* Start the job that record describes, in RIG_CTX or another context. */
void rig_start(struct rig *rig, bool partial);
void rig_start_in(struct rig *rig, unsigned int ctx, bool partial);
/* Reset the device, at any time. */
void rig_reset(struct rig *rig);
/* Step all units that are awake. Return false if none is. */
bool rig_turn(struct rig *rig);
/* Run to the end of the job. */
void rig_run(struct rig *rig);
/* Number of free pages of the free list. */
u32 rig_free_pages(const struct rig *rig);
struct pumice_scene rig_scene(const struct rig *rig);

/* program.c: load all programs; they remain loaded. */
void rig_load_programs(struct rig *rig);
/* Write the end-of-tile program's state: store every sample of output 0 as R32_FLOAT. */
void rig_set_target(struct rig *rig, u32 width, u32 height);

/* scene.c */
struct scene_size {
	u32 width, height, samples, tile_size;	/* enum pumice_tile_size */
};
void scene_begin(struct rig *rig, const struct scene_size *size);
/* Start new tiles after a partial render. */
void scene_again(struct rig *rig);

/* State records, numbered; the caller fills them in. */
void scene_set_object(struct rig *rig, u32 object, const struct pumice_isp_state *isp,
		      enum rig_program program, bool sample_rate);
u64 scene_isp_address(u32 object);
u64 scene_tsp_address(u32 object);

#define SCENE_VARYINGS 2u

/* A triangle; varyings are flat. */
struct scene_prim {
	struct isp_triangle triangle;
	bool back;
	float value[SCENE_VARYINGS];
};

/* A block of up to 32 primitives. */
void scene_draw(struct rig *rig, u32 object, const struct scene_prim *prims, u32 count);
/* Streams and region headers; final: the scene is finished. */
void scene_end(struct rig *rig, bool final);

#endif
