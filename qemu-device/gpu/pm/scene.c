// SPDX-License-Identifier: MIT
/*
 * Scenes of the parameter management: render target data and the chains of pages of their
 * macro tiles.
 *
 * Source: hw/formats.xml, scene, scene_chain. A scene is read once for a job, and checked;
 * the fields that the device writes are read and written separately.
 */
#include "../number.h"
#include "internal.h"

#define SCENE_ALIGN	16u
/* A scene and its chains. */
#define SCENE_BYTES	(4 * (PUMICE_SCENE_WORDS + PUMICE_SCENE_CHAIN_WORDS * PUMICE_PM_LISTS * \
			      PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y))
#define STATE_WORD	9u	/* scene.valid to scene.limit: three words */
#define STATE_WORDS	3u
#define TILES_MAX_CORES	PUMICE_MAX_CORES

/* Set sizes, in pixels and tiles. False if they are invalid. */
static bool set_size(struct pm_scene *scene, const struct pumice_scene *in)
{
	static const u32 width[] = {
		[PUMICE_TILE_SIZE_32X32] = 32, [PUMICE_TILE_SIZE_16X16] = 16,
		[PUMICE_TILE_SIZE_32X16] = 32,
	};
	static const u32 height[] = {
		[PUMICE_TILE_SIZE_32X32] = 32, [PUMICE_TILE_SIZE_16X16] = 16,
		[PUMICE_TILE_SIZE_32X16] = 16,
	};

	if (!pumice_tile_size_valid(in->tile_size) || in->samples_log2 > 2 || !in->width ||
	    in->width > PUMICE_MAX_RENDER_SIZE || !in->height ||
	    in->height > PUMICE_MAX_RENDER_SIZE || !in->cores || in->cores > TILES_MAX_CORES)
		return false;
	scene->width = in->width;
	scene->height = in->height;
	scene->samples = 1u << in->samples_log2;
	scene->tile_w = width[in->tile_size];
	scene->tile_h = height[in->tile_size];
	scene->tiles_x = div_up(scene->width, scene->tile_w);
	scene->tiles_y = div_up(scene->height, scene->tile_h);
	scene->macro_w = div_up(scene->tiles_x, PUMICE_MACRO_TILES_X);
	scene->macro_h = div_up(scene->tiles_y, PUMICE_MACRO_TILES_Y);
	scene->cores = in->cores;
	return true;
}

/* Return whether a range is in the job's address space, not empty and not at 0. */
static bool is_range(u64 addr, u64 bytes)
{
	return addr && (addr + bytes) >> PUMICE_MMU_VA_BITS == 0;
}

static bool set_memory(struct pm_scene *scene, const struct pumice_scene *in)
{
	const u64 regions = (u64)scene->cores * scene->tiles_x * scene->tiles_y *
			    PUMICE_REGION_WORDS * 4;

	if (!is_range(in->regions, regions))
		return false;
	if (in->spill && !is_range(in->spill, (u64)in->spill_bytes * 256))
		return false;
	if (!in->free_list0 || in->free_list0 == in->free_list1)
		return false;
	scene->regions = in->regions;
	scene->spill = in->spill;
	scene->spill_bytes = in->spill ? (u64)in->spill_bytes * 256 : 0;
	scene->list[0] = in->free_list0;
	scene->list[1] = in->free_list1;
	return true;
}

/* Return whether a scene with its chains is memory of one virtual GPU. */
static bool in_one_part(const struct pm *pm, u64 addr)
{
	return mmu_part(pm->config.mmu, addr) ==
	       mmu_part(pm->config.mmu, addr + SCENE_BYTES - 1);
}

/* PM lock held. */
static enum pm_result load_locked(struct pm *pm, u64 addr, unsigned int ctx,
				  struct pm_scene *scene, struct gpu_fault *fault)
{
	u32 words[PUMICE_SCENE_WORDS];
	enum pm_result result;
	struct pumice_scene in;
	u32 l;

	*scene = (struct pm_scene){
		.addr = addr, .ctx = ctx,
		.owner = owner_is_on(pm->config.owner) ? pm->config.owner : NULL,
	};
	if (!addr || addr % SCENE_ALIGN || !in_one_part(pm, addr))
		goto damaged;
	if (!pm_read_words(pm, addr, words, PUMICE_SCENE_WORDS, fault))
		return PM_FAULT;
	if (pumice_scene_unpack(words, &in) != PUMICE_UNPACK_OK || !set_size(scene, &in) ||
	    !set_memory(scene, &in))
		goto damaged;
	for (l = 0; l < PUMICE_PM_LISTS; l++) {
		struct pm_shadow *s;

		if (!scene->list[l])
			continue;
		/* The lists of a scene belong to the same virtual GPU. */
		if (mmu_part(pm->config.mmu, scene->list[l]) != mmu_part(pm->config.mmu, addr))
			goto damaged;
		result = pm_list_open(pm, scene->list[l], &s, fault);
		if (result != PM_OK)
			return result;
		scene->list_base[l] = s->list.base;
		scene->list_pages[l] = s->list.max_pages;
	}
	return PM_OK;
damaged:
	pm_fault(fault, PUMICE_FAULT_PM_SCENE, addr);
	return PM_FAULT;
}

u64 pm_chain_addr(const struct pm_scene *scene, u32 macro_tile, u32 l)
{
	return scene->addr + 4 * (PUMICE_SCENE_WORDS + (u64)PUMICE_SCENE_CHAIN_WORDS *
							       (macro_tile * PUMICE_PM_LISTS + l));
}

bool pm_chain_read(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		   struct pumice_scene_chain *chain, struct gpu_fault *fault)
{
	const u64 addr = pm_chain_addr(scene, macro_tile, l);
	u32 words[PUMICE_SCENE_CHAIN_WORDS];

	if (!pm_read_words(pm, addr, words, PUMICE_SCENE_CHAIN_WORDS, fault))
		return false;
	if (pumice_scene_chain_unpack(words, chain) != PUMICE_UNPACK_OK ||
	    !chain->pages != (chain->head == PUMICE_PM_NO_PAGE))
		return pm_fault(fault, PUMICE_FAULT_PM_SCENE, addr);
	return true;
}

bool pm_chain_check(const struct pm_scene *scene, u32 macro_tile, u32 l, const struct pm_shadow *s,
		    const struct pumice_scene_chain *chain, struct gpu_fault *fault)
{
	if (chain->pages > s->list.pages - s->list.free ||
	    (chain->pages && (!pm_list_is_allocated(s, chain->head) ||
			      !pm_list_is_allocated(s, chain->tail))))
		return pm_fault(fault, PUMICE_FAULT_PM_SCENE,
				pm_chain_addr(scene, macro_tile, l));
	return true;
}

bool pm_chain_write(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		    const struct pumice_scene_chain *chain, struct gpu_fault *fault)
{
	u32 words[PUMICE_SCENE_CHAIN_WORDS];

	pumice_scene_chain_pack(words, chain);
	return pm_write_words(pm, pm_chain_addr(scene, macro_tile, l), words,
			      PUMICE_SCENE_CHAIN_WORDS, fault);
}

enum pm_result pm_scene_load_piece(struct pm *pm, u64 addr, unsigned int ctx,
				   struct pm_scene *scene, struct gpu_fault *fault)
{
	enum pm_result result;

	pm_lock(pm);
	pm->budget = pm_piece(pm);
	result = load_locked(pm, addr, ctx, scene, fault);
	pm_unlock(pm);
	return result;
}

bool pm_scene_load(struct pm *pm, u64 addr, unsigned int ctx, struct pm_scene *scene,
		   struct gpu_fault *fault)
{
	enum pm_result result;

	do
		result = pm_scene_load_piece(pm, addr, ctx, scene, fault);
	while (result == PM_MORE);
	return result == PM_OK;
}

bool pm_scene_state_read(struct pm *pm, const struct pm_scene *scene, struct pm_scene_state *state,
			 struct gpu_fault *fault)
{
	u32 words[PUMICE_SCENE_WORDS] = { 0 };
	struct pumice_scene in;
	bool ok;

	pm_lock(pm);
	ok = pm_read_words(pm, scene->addr + 4 * STATE_WORD, words + STATE_WORD, STATE_WORDS,
			   fault);
	pm_unlock(pm);
	if (!ok)
		return false;
	/* Cores without room for headers cannot have written any. */
	if (pumice_scene_unpack(words, &in) == PUMICE_UNPACK_RESERVED ||
	    (u32)in.used >> scene->cores)
		return pm_fault(fault, PUMICE_FAULT_PM_SCENE, scene->addr);
	*state = (struct pm_scene_state){
		.valid = in.valid, .spilled = in.spilled, .used = in.used, .partials = in.partials,
		.limit = in.limit,
	};
	return true;
}

bool pm_scene_state_write(struct pm *pm, const struct pm_scene *scene,
			  const struct pm_scene_state *state, struct gpu_fault *fault)
{
	const struct pumice_scene out = {
		.valid = state->valid, .spilled = state->spilled, .used = (u16)state->used,
		.partials = state->partials, .limit = state->limit,
	};
	u32 words[PUMICE_SCENE_WORDS];
	bool ok;

	pumice_scene_pack(words, &out);
	pm_lock(pm);
	ok = pm_write_words(pm, scene->addr + 4 * STATE_WORD, words + STATE_WORD, STATE_WORDS,
			    fault);
	pm_unlock(pm);
	return ok;
}

u64 pm_address(const struct pm_scene *scene, u32 ref)
{
	struct pumice_pb_ref at;
	u64 offset;

	pumice_pb_ref_unpack(&ref, &at);
	offset = (u64)at.offset * 16;
	if (!offset || offset / PUMICE_PM_PAGE_SIZE >= scene->list_pages[at.list])
		return 0;
	return scene->list_base[at.list] + offset;
}

void pm_check_owner(const struct pm_scene *scene, u64 va, enum pumice_unit source,
		    enum pumice_access access)
{
	if (owner_is_on(scene->owner))
		owner_access(scene->owner, &(struct owner_access){
			.scene = scene->addr, .list = scene->list, .va = va, .ctx = (u8)scene->ctx,
			.unit = (u8)(source & ~MMU_KIND_1), .access = (u8)access });
}

u32 pm_macro_tile(const struct pm_scene *scene, u32 tile_x, u32 tile_y)
{
	return tile_y / scene->macro_h * PUMICE_MACRO_TILES_X + tile_x / scene->macro_w;
}

/*
 * Return the tiles of a row, or column, in the macro tile at a position; the last ones have
 * fewer.
 */
static u32 tiles_at(u32 tiles, u32 macro, u32 position)
{
	const u32 before = position * macro;

	if (before >= tiles)
		return 0;
	return tiles - before < macro ? tiles - before : macro;
}

u32 pm_macro_tile_tiles(const struct pm_scene *scene, u32 macro_tile)
{
	return tiles_at(scene->tiles_x, scene->macro_w, macro_tile % PUMICE_MACRO_TILES_X) *
	       tiles_at(scene->tiles_y, scene->macro_h, macro_tile / PUMICE_MACRO_TILES_X);
}
