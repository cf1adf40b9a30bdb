/* SPDX-License-Identifier: MIT */
/*
 * Parameter management (PM): pages of the parameter buffer. The master DPM and the DPM of each
 * core.
 *
 * Source: document 004, "Master DPM" and "DPM"; hw/formats.xml, free_list, scene,
 * scene_chain. MTE and TE request pages for a macro tile; rendering frees all pages of a
 * macro tile when its last tile is done. Free pages and the pages of a macro tile are chains,
 * linked by number in the free list's table, so that a chain is freed by changing two links,
 * once it has been checked.
 *
 * The DPM of a core has a few spare pages while the list has plenty of them. It allocates from
 * these, and keeps the chains of such pages until the core's part of the scene is complete; then
 * the master DPM receives chains and spare pages. So cores allocate in parallel. The DPM of the
 * core that rendered the last tile of a macro tile follows the chain to free, and the master
 * joins it with the free pages: chains are freed in parallel, in parallel with allocation.
 *
 * Free lists, scenes and links are in memory that the host writes: everything is checked when
 * it is read. A link that points outside the list, or a page that is not free, is a fault of
 * the job.
 *
 * Locking: the master DPM and each DPM have locks of their own, leaves; any thread. They are
 * held for microseconds: functions that follow links, of which a list can have 262144, do a
 * piece of the work and return PM_MORE; call them again with the same arguments until they
 * return another result. The caller may check its stop flag between two calls.
 */
#ifndef PUMICE_GPU_PM_H
#define PUMICE_GPU_PM_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "../trace/trace.h"
#include "pumice_formats.h"

struct inject;
struct owner;
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
	/* 0 for a list that does not exist. */
	u64 list_base[PUMICE_PM_LISTS];	/* GPU virtual address of page 0 */
	u32 list_pages[PUMICE_PM_LISTS];	/* bound of page numbers: max_pages */
	u32 list[PUMICE_PM_LISTS];	/* free_list in context 0, or 0 */
	struct owner *owner;	/* mode strict: records of pages, for accesses to them; or NULL */
};

struct pm_config {
	struct mmu *mmu;
	/* A free list fell below its threshold; only the PM's lock is held. */
	void (*low)(void *opaque);
	void *opaque;
	struct inject *inject;	/* fault injection, or NULL */
	struct trace *trace;	/* or NULL */
	struct owner *owner;	/* records owners of pages in mode strict; or NULL */
};

struct pm *pm_create(const struct pm_config *config);
void pm_destroy(struct pm *pm);
void pm_reset(struct pm *pm);

enum pm_result { PM_OK, PM_EMPTY, PM_FAULT, PM_MORE };

/* Read and check a scene. PM_FAULT: all of *fault is filled in. */
enum pm_result pm_scene_load_piece(struct pm *pm, u64 addr, unsigned int ctx,
				   struct pm_scene *scene, struct gpu_fault *fault);
/* Do all of it at once, for callers without a stop flag. */
bool pm_scene_load(struct pm *pm, u64 addr, unsigned int ctx, struct pm_scene *scene,
		   struct gpu_fault *fault);
/* Fields of a scene that the device writes: see formats.xml. */
struct pm_scene_state {
	bool valid, spilled;
	u32 used;		/* cores with region headers */
	u32 partials;
	u32 limit;		/* render blocks with lower sequences; 0: all */
};
bool pm_scene_state_read(struct pm *pm, const struct pm_scene *scene, struct pm_scene_state *state,
			 struct gpu_fault *fault);
bool pm_scene_state_write(struct pm *pm, const struct pm_scene *scene,
			  const struct pm_scene_state *state, struct gpu_fault *fault);

/*
 * Allocate a page for a macro tile: *ref becomes a pb_ref to its first 16 bytes, which stay
 * unused, so that no item in it has offset 0. PM_EMPTY: no list has a page, and no core has a
 * spare one. core: the core whose DPM allocates.
 */
enum pm_result pm_alloc(struct pm *pm, u32 core, const struct pm_scene *scene, u32 macro_tile,
			u32 *ref, struct gpu_fault *fault);
/*
 * Return the pages of a core's DPM, of its current scene: chains become those of the scene,
 * spare pages are free. At the end of the core's part of a scene.
 */
enum pm_result pm_return_piece(struct pm *pm, u32 core, struct gpu_fault *fault);
/*
 * Free the pages of one macro tile, by the DPM of a core, or of all macro tiles: at the end of
 * a scene and before it begins. The latter includes the pages that DPMs of cores have.
 */
enum pm_result pm_free_macro_tile_piece(struct pm *pm, u32 core, const struct pm_scene *scene,
					u32 macro_tile, struct gpu_fault *fault);
enum pm_result pm_scene_begin_piece(struct pm *pm, const struct pm_scene *scene,
				    struct gpu_fault *fault);
/* dm: the data master whose job frees them. */
enum pm_result pm_free_scene_piece(struct pm *pm, const struct pm_scene *scene,
				   enum trace_master dm, struct gpu_fault *fault);
/* Do all of it at once, for callers without a stop flag. */
bool pm_scene_begin(struct pm *pm, const struct pm_scene *scene, struct gpu_fault *fault);
bool pm_return(struct pm *pm, u32 core, struct gpu_fault *fault);
bool pm_free_macro_tile(struct pm *pm, u32 core, const struct pm_scene *scene, u32 macro_tile,
			struct gpu_fault *fault);
bool pm_free_scene(struct pm *pm, const struct pm_scene *scene, struct gpu_fault *fault);

/*
 * Return the GPU virtual address of a reference to the parameter buffer; 0 if it is not
 * within the scene's lists.
 */
u64 pm_address(const struct pm_scene *scene, u32 ref);
/*
 * Check an access to the parameter buffer of a scene that has an owner: a page that is not one of
 * the scene is a finding. source: the unit, or MMU_SECOND() of it.
 */
void pm_check_owner(const struct pm_scene *scene, u64 va, enum pumice_unit source,
		    enum pumice_access access);
/* Return the macro tile of a tile. */
u32 pm_macro_tile(const struct pm_scene *scene, u32 tile_x, u32 tile_y);
/* Return the number of tiles of a macro tile. */
u32 pm_macro_tile_tiles(const struct pm_scene *scene, u32 macro_tile);

/* Registers of unit PM. Returns false when there is more to do: call it again. */
bool pm_grow(struct pm *pm, u64 list, u32 pages);
bool pm_release(struct pm *pm, u64 scene);
u64 pm_low_list(const struct pm *pm);
u64 pm_allocated(const struct pm *pm);
u64 pm_freed(const struct pm *pm);
/* Return the pages that the MMU has mapped for the PM since the reset. */
u64 pm_mapped(const struct pm *pm);
/* Return the pages of pm_allocated() that were spare pages of a DPM. */
u64 pm_from_spares(const struct pm *pm);

#endif
