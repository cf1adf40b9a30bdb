/* SPDX-License-Identifier: MIT */
/*
 * Parameter management (PM, the master DPM): pages of the parameter buffer.
 *
 * Source: document 004, "Master DPM" and "DPM"; hw/formats.xml, free_list, scene,
 * scene_chain. MTE and TE ask for pages, for a macro tile; rendering gives back
 * all pages of a macro tile when its last tile is done. Free pages and the pages
 * of a macro tile are chains, linked by number in the free list's table, so
 * that a chain is given back by changing two links, once it has been checked.
 *
 * Free lists, scenes and links lie in memory that the host writes: everything is
 * checked when it is read. A link that leads out of the list, or a page that is
 * not free, is a fault of the job.
 *
 * Locking: the PM has a lock of its own, a leaf; any thread. It is held for
 * microseconds: what follows links, of which a list can have 262144, does some of it and
 * returns PM_MORE; it is called again, with the same arguments, until it returns
 * something else. The caller may look at its stop flag between two calls.
 */
#ifndef PUMICE_GPU_PM_H
#define PUMICE_GPU_PM_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "pumice_formats.h"

struct inject;
struct pm;

#define PM_MACRO_TILES (PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y)

/* A scene, read once and checked. */
struct pm_scene {
	u64 addr;		/* in context 0 */
	unsigned int ctx;	/* MMU context of the job: of parameter buffer, regions, spill */
	u32 width, height;	/* pixels */
	u32 samples;		/* 1, 2 or 4 */
	u32 tile_w, tile_h;	/* pixels */
	u32 tiles_x, tiles_y;
	u32 macro_w, macro_h;	/* tiles of a macro tile */
	u32 cores;
	u64 regions, spill, spill_bytes;
	/* Of a list that is not there 0. */
	u64 list_base[PUMICE_PM_LISTS];	/* GPU virtual address of page 0 */
	u32 list_pages[PUMICE_PM_LISTS];	/* a bound for places: max_pages */
	u32 list[PUMICE_PM_LISTS];	/* free_list in context 0, or 0 */
};

struct pm_config {
	struct mmu *mmu;
	/* A free list fell below its threshold; no lock held but the PM's. */
	void (*low)(void *opaque);
	void *opaque;
	struct inject *inject;	/* faults on request, or NULL */
};

struct pm *pm_create(const struct pm_config *config);
void pm_destroy(struct pm *pm);
void pm_reset(struct pm *pm);

enum pm_result { PM_OK, PM_EMPTY, PM_FAULT, PM_MORE };

/* Read and check a scene. PM_FAULT with *fault filled in wholly. */
enum pm_result pm_scene_load_piece(struct pm *pm, u64 addr, unsigned int ctx,
				   struct pm_scene *scene, struct gpu_fault *fault);
/* All of it at once, for callers without a stop flag. */
bool pm_scene_load(struct pm *pm, u64 addr, unsigned int ctx, struct pm_scene *scene,
		   struct gpu_fault *fault);
/* What the device writes of a scene: see formats.xml. */
struct pm_scene_state {
	bool valid, spilled;
	u32 used;		/* cores with region headers */
	u32 partials;
	u32 limit;		/* blocks of sequences below it are rendered; 0: all */
};
bool pm_scene_state_read(struct pm *pm, const struct pm_scene *scene, struct pm_scene_state *state,
			 struct gpu_fault *fault);
bool pm_scene_state_write(struct pm *pm, const struct pm_scene *scene,
			  const struct pm_scene_state *state, struct gpu_fault *fault);

/*
 * A page for a macro tile: *ref becomes a pb_ref to its first 16 bytes, which
 * stay unused, so that no place in it has offset 0. PM_EMPTY: no list has one.
 */
enum pm_result pm_alloc(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 *ref,
			struct gpu_fault *fault);
/* Free the pages of one macro tile, or of all: at the end of a scene and before it begins. */
enum pm_result pm_free_macro_tile_piece(struct pm *pm, const struct pm_scene *scene,
					u32 macro_tile, struct gpu_fault *fault);
enum pm_result pm_scene_begin_piece(struct pm *pm, const struct pm_scene *scene,
				    struct gpu_fault *fault);
enum pm_result pm_free_scene_piece(struct pm *pm, const struct pm_scene *scene,
				   struct gpu_fault *fault);
/* All of it at once, for callers without a stop flag. */
bool pm_scene_begin(struct pm *pm, const struct pm_scene *scene, struct gpu_fault *fault);
bool pm_free_macro_tile(struct pm *pm, const struct pm_scene *scene, u32 macro_tile,
			struct gpu_fault *fault);
bool pm_free_scene(struct pm *pm, const struct pm_scene *scene, struct gpu_fault *fault);

/* GPU virtual address of a place in the parameter buffer; 0 if the scene has no such place. */
u64 pm_address(const struct pm_scene *scene, u32 ref);
/* Macro tile of a tile. */
u32 pm_macro_tile(const struct pm_scene *scene, u32 tile_x, u32 tile_y);
/* How many tiles a macro tile has. */
u32 pm_macro_tile_tiles(const struct pm_scene *scene, u32 macro_tile);

/* Registers of unit PM. False: there is more to do, call it again. */
bool pm_grow(struct pm *pm, u64 list, u32 pages);
bool pm_release(struct pm *pm, u64 scene);
u64 pm_low_list(const struct pm *pm);
u64 pm_allocated(const struct pm *pm);
u64 pm_freed(const struct pm *pm);

#endif
