/* SPDX-License-Identifier: MIT */
/*
 * Fixture: a PDM with the real blocks that it uses, and a parameter buffer written by the test.
 *
 * Cores and USCs are stepped only when they were woken, so that a missing wake-up fails
 * the test. The device lock records whether it is held.
 *
 * A frame:
 *
 *	fx_open(&fx, cores);
 *	scene_begin(&fx, &scene);		the target
 *	scene_draw(&fx, object, prims, count);	blocks, in order
 *	scene_end(&fx, true);			tile streams, region headers
 *	fx_start(&fx, partial);
 *	fx_run(&fx);				to its end
 *	fx_close(&fx);
 */
#ifndef PUMICE_PDM_FIXTURE_H
#define PUMICE_PDM_FIXTURE_H

#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/half/half.h"
#include "../../../qemu-device/gpu/pdm/pdm.h"
#include "../../../qemu-device/gpu/isp/isp.h"
#include "../support/testmem.h"
#include "../support/testtrace.h"

#define FX_CTX		5u
#define FX_TAG		0x700000009ull	/* of jobs: number 7 of context 9 */
#define FX_OTHER_CTX	6u	/* has the memory of FX_CTX */
#define FX_USCS_PER_CORE	2u
#define FX_USCS	(PUMICE_MAX_CORES * FX_USCS_PER_CORE)

/* Context 0. */
#define FX_SCENE	0x10000ull
#define FX_LIST	0x20000ull
#define FX_LINKS	0x30000ull
/* Context FX_CTX; each area is followed by unmapped memory. */
#define FX_PB		0x1000000ull
#define FX_PAGES	1024u
#define FX_REGIONS	0x2000000ull
#define FX_STATES	0x3000000ull
#define FX_CODE	0x3100000ull
#define FX_RENDER	0x3200000ull
#define FX_CONTROL	0x3300000ull
#define FX_COLOUR	0x4000000ull
#define FX_DEPTH	0x5000000ull
#define FX_STENCIL	0x6000000ull
#define FX_MASK		0x6100000ull
#define FX_SPILL	0x7000000ull
#define FX_VISIBLE	0x8000000ull
#define FX_STATS	0x8100000ull
#define FX_BYTES	0x80000u	/* of each of these but the parameter
					 * buffer and the spill */
#define FX_ATTRIBUTES	(FX_STATES + 0x9000u)	/* of FX_VERTEX_BASE, f32 */
#define FX_SPILL_BYTES	0x200000u
#define FX_SECOND	0x40000u	/* bytes from FX_COLOUR, a second target */

#define FX_MAX_SIZE	96u		/* pixels of a target */
#define FX_MAX_TILES	(6u * 6u)

/* Programs. */
enum fx_program {
	FX_PLAIN,	/* o0 = v0 */
	FX_BLEND,	/* o0 = o0 / 2 + v0 */
	FX_PUNCH,	/* the same where (x ^ y) & 1 */
	FX_DEPTH_OUT,	/* depth v1, then the same */
	FX_DEPTH_MOV,	/* o0 is the depth plane: from its source, */
	FX_DEPTH_ITERATE,	/* iterated by the PDS, */
	FX_DEPTH_COEFF,	/* or by the program; both after that of 1/w */
	FX_LOOP,	/* never ends */
	FX_BAD_STORE,	/* faults */
	FX_READS,	/* o0 = o0 / 2 + v0; a task is filled in pieces (texture reads) */
	FX_TEXEL,	/* o0 = o0 / 2 + v0; a task is filled with one texture read */
	FX_BURST,	/* o0 = v0; a task is filled with a burst to shared registers */
	FX_BURST_COEFFS,	/* the same, to coefficients of each primitive */
	FX_BACKGROUND,	/* o0 = 0.25 */
	FX_BACKGROUND_READ,	/* o0 = the word at FX_ATTRIBUTES */
	FX_BACKGROUND_COLUMN,	/* o0 = the column of the pixel, u32 */
	FX_BACKGROUND_PART,	/* o0 = 0.25 in two lanes of four */
	FX_BACKGROUND_LANES,	/* o0 = the lane, u32 */
	FX_BACKGROUND_BANKS,	/* o0 = 0.5, a shared register; an attribute is 5 */
	FX_BACKGROUND_COEFFS,	/* o0 = 0, a register that nothing writes: in these banks, */
	FX_BACKGROUND_ALL_SHARED,
	FX_BACKGROUND_COEFFS_ALT,
	FX_BACKGROUND_SLOT,
	FX_BACKGROUND_TEMP,
	FX_BACKGROUND_UNWRITTEN,	/* the last shared one */
	FX_BACKGROUND_WORDS,	/* as FX_BACKGROUND_READ, of many words */
	FX_BACKGROUND_INDEXED,	/* o0 = 0.25, by an index */
	FX_NOTHING,	/* writes nothing */
	FX_END_OF_TILE,
	FX_END_OF_TILE_TWO,	/* stores the same at FX_SECOND, too */
	FX_TILE_LOOP,	/* never ends */
	FX_VERTEX,	/* varyings: number of the vertex, of the instance; position 0 */
	FX_VERTEX_BASE,	/* first varying: the attribute of the base instance */
	FX_VERTEX_SECOND,	/* writes only the second varying: the number of the vertex */
	FX_VERTEX_LOOP,	/* never ends */
	FX_VERTEX_FAR,	/* its PDS program reads an attribute that is not in memory */
	FX_PROGRAMS,
};

struct fx_entry {
	u32 block, mask;
};

#define FX_ENTRIES	512u

/* Entries of a tile's stream of one core. */
struct fx_stream {
	struct fx_entry entry[FX_ENTRIES];
	u32 count;
};

/* Stores of a USC, and that of pixel outputs. */
#define FX_VPM	(64u << 10)
struct fx_stores {
	u32 unified_bytes, common_bytes;
	enum pumice_output_store outputs;
	u32 uscs;	/* of a core; 0: FX_USCS_PER_CORE */
	u32 vpm_bytes;	/* of a core; 0: FX_VPM */
};

struct fixture {
	/* The device. */
	struct testmem *tm;
	struct mmu mmu;
	struct usc_program_cache *programs;
	struct usc *usc[FX_USCS];
	struct pds *pds;
	struct pm *pm;
	struct pdm *pdm;
	struct halves *halves;
	struct testtrace trace;	/* of PDM, PDS and PM; disabled */
	unsigned int cores;
	u32 tile_fifo;		/* tiles in the FIFO at most */
	struct fx_stores stores;
	unsigned int uscs;	/* over all cores */
	u32 tsp_vertices;	/* in the cache of a core's TSP */
	u64 clock;
	u32 tick;		/* ns that pass at each reading of the clock */
	bool locked;
	bool awake_core[PUMICE_MAX_CORES], awake_usc[FX_USCS];
	u32 usc_wakes[FX_USCS];	/* about the number of tasks */
	u32 held_uscs;		/* bit n: USC n is not stepped, so its tasks do not end */
	u32 shuffle;		/* not 0: fx_run() holds USCs at random */
	unsigned int ends;
	enum dm_end end;

	/* Memory. */
	u8 *scene_mem, *list_mem, *pb, *regions, *states, *code, *render, *control, *colour, *depth,
		*stencil, *mask, *spill, *visible, *stats;
	struct pumice_stage stage[FX_PROGRAMS];
	u32 code_used;

	/* The scene that is written. */
	struct pm_scene scene;
	u32 sequence;
	u64 isp_at, tsp_at;	/* addresses of states in blocks instead, or 0 */
	struct fx_stream stream[PUMICE_MAX_CORES][FX_MAX_TILES];
	u32 chunk_page[16], chunk_used[16];
	struct pumice_pdm_render record;
	u64 job_stream;		/* of the job; 0: the record */
	u64 control_at;		/* end of the render control list */
};

void fx_open(struct fixture *fx, unsigned int cores);
/* Open the same with a maximum number of tiles in the FIFO of a core. */
void fx_open_fifo(struct fixture *fx, unsigned int cores, u32 tile_fifo);
/* The same with other stores. */
void fx_open_stores(struct fixture *fx, unsigned int cores, const struct fx_stores *stores);
/* Open the same with a size of the cache of each TSP. */
#define FX_TSP_VERTICES 128u
void fx_open_cache(struct fixture *fx, unsigned int cores, u32 tsp_vertices);
void fx_close(struct fixture *fx);
/* Counter of the PDS. */
u64 fx_counter(const struct fixture *fx, u32 number);
/* Rows of the VPM that are in use, over all cores. */
u32 fx_vpm_rows(const struct fixture *fx);
/* Start the job that record describes, in FX_CTX or another context. */
void fx_start(struct fixture *fx, bool partial);
void fx_start_in(struct fixture *fx, unsigned int ctx, bool partial);
/* Reset the device, at any time. */
void fx_reset(struct fixture *fx);
/* Step all units that are awake. Return false if none is. */
bool fx_step(struct fixture *fx);
/* Check that no sample of a tile has two tasks that run. */
void fx_check_order(const struct fixture *fx);
/* Run to the end of the job. */
void fx_run(struct fixture *fx);
/*
 * Let others occupy memory for decoded programs of a stage. There is no time-out: loads wait until
 * it is released.
 */
void fx_occupy_memory(struct fixture *fx, u32 stage, u64 bytes);
/* The same, and run a job of one tile until it waits for memory. make: write the job. */
void fx_wait_for_memory(struct fixture *fx, u32 stage, u64 bytes, void (*make)(void));
/* The same; the wait is counted until the job ends by a reset, an abort or its last tile. */
void fx_check_memory_wait(struct fixture *fx, u32 stage, u64 bytes, void (*make)(void));
/* Number of free pages of the free list. */
u32 fx_free_pages(const struct fixture *fx);
struct pumice_scene fx_scene(const struct fixture *fx);

/* program.c: load all programs; they remain loaded. */
void fx_load_programs(struct fixture *fx);
/*
 * Replace a program by a longer one. The first instruction is repeated; repeating it must have no
 * effect.
 */
void fx_lengthen(struct fixture *fx, enum fx_program program, u32 insns);
/* Repeat the burst of FX_BURST or FX_BURST_COEFFS, of up to FX_BURST_WORDS or _COEFFS words. */
#define FX_BURST_WORDS	2048u
#define FX_BURST_COEFFS_WORDS	256u
void fx_set_bursts(struct fixture *fx, enum fx_program program, u32 bursts, u32 words);
/* Write the end-of-tile program's state: store every sample of output 0 as R32_FLOAT. */
void fx_set_target(struct fixture *fx, u32 width, u32 height);

/* scene.c */
struct scene_size {
	u32 width, height, samples, tile_size;	/* enum pumice_tile_size */
};
void scene_begin(struct fixture *fx, const struct scene_size *size);
/* Begin a square of pixels of one sample, in tiles of 32 x 32; clear its stored colours. */
void scene_begin_square(struct fixture *fx, u32 side);
/* Return the stored colour of a pixel of such a square. */
float scene_colour(const struct fixture *fx, u32 side, u32 x, u32 y);
/* Start new tiles after a partial render. */
void scene_again(struct fixture *fx);

/* State of an object that covers all pixels, whatever their depths are. */
struct pumice_isp_state scene_usual_isp(void);
/* State records, numbered; the caller fills them in. */
void scene_set_object(struct fixture *fx, u32 object, const struct pumice_isp_state *isp,
		      enum fx_program program, bool sample_rate);
u64 scene_isp_address(u32 object);
u64 scene_tsp_address(u32 object);

#define SCENE_VARYINGS 2u

/* A triangle; varyings are flat. */
struct scene_prim {
	struct isp_triangle triangle;
	bool back;
	float value[SCENE_VARYINGS];
};

/* Triangles that share vertices; the varyings of the second one of each are its values. */
#define SCENE_MESH_VERTICES 64u
struct scene_mesh {
	u32 vertices, prims;
	struct scene_vertex {
		s32 x, y;	/* 1/256 pixel */
		float value[SCENE_VARYINGS];
	} vertex[SCENE_MESH_VERTICES];
	u8 index[PUMICE_BLOCK_PRIMS][3];
};
/* Add a block of a mesh; return its reference in the last macro tile that the scene has. */
u32 scene_draw_mesh(struct fixture *fx, u32 object, const struct scene_mesh *mesh);

/* Add a block of up to 32 primitives. */
void scene_draw(struct fixture *fx, u32 object, const struct scene_prim *prims, u32 count);

/* Deferred vertices of a block. */
struct scene_deferred {
	u8 vertex_data;		/* NUMBER, or CLIPPED: corner n is vertex n */
	u64 record;		/* the vdm_state */
	struct pumice_prim_draw draw;
	u32 number[PUMICE_BLOCK_VERTICES];	/* of vertices, three for each primitive */
};
/* Return the record of deferred vertices whose two programs are the same. */
struct pumice_vdm_state scene_vertex_state(const struct fixture *fx, enum fx_program program);
/* Return the block of an entry of a tile's stream of core 0, by its number. */
u32 *scene_block(const struct fixture *fx, u32 tile, u32 n);
/* Replace the varyings of a block of scene_draw(), at words; nothing if it has none. */
void scene_defer(u32 *words, const struct scene_deferred *deferred);
/*
 * control.c: write a render control list, command by command; it is the stream of the next job.
 * control_begin() adds MODE. A list may be continued elsewhere: set control_at.
 */
void control_begin(struct fixture *fx, u64 va);
void control_tile(struct fixture *fx, u32 x, u32 y);
void control_branch(struct fixture *fx);
void control_store(struct fixture *fx, bool end);
/* stage: NULL for none */
void control_store_program(struct fixture *fx, const struct pumice_stage *stage, bool end);
void control_call(struct fixture *fx, u64 va);
void control_return(struct fixture *fx);
void control_link(struct fixture *fx, u64 va);
void control_end(struct fixture *fx);
void control_word(struct fixture *fx, u32 word);

/* Streams and region headers; final: the scene is finished. */
void scene_end(struct fixture *fx, bool final);

#endif
