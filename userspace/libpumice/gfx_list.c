// SPDX-License-Identifier: MIT
/*
 * Render control lists (hw/render.xml, stream pdm).
 *
 * The commands of all tiles of a data set are written once, in the PDM's own order, when a
 * frame needs them first; a frame's own list is a MODE and a link to them.
 */
#include <errno.h>

#include "gfx.h"
#include "pumice_regs.h"

#define LIST_ALIGN	16u
#define VERSION_LISTS	0x00020004u	/* of the register map: the PDM executes lists */
#define TILE_WORDS	(PUMICE_PDM_TILE_WORDS + PUMICE_PDM_BRANCH_WORDS + PUMICE_PDM_STORE_WORDS)

/* Sizes of a data set, in tiles. */
struct grid {
	u32 tiles_x, tiles_y;
	u32 macro_w, macro_h;	/* of a macro tile */
};

static u32 div_up(u32 a, u32 b)
{
	return (a + b - 1) / b;
}

static struct grid grid_of(const struct pumice_hwrt *hwrt)
{
	const u32 tile_w = hwrt->tile_size == PUMICE_TILE_SIZE_16X16 ? 16 : 32;
	const u32 tile_h = hwrt->tile_size == PUMICE_TILE_SIZE_32X32 ? 32 : 16;
	struct grid g = { .tiles_x = div_up(hwrt->width, tile_w),
			  .tiles_y = div_up(hwrt->height, tile_h) };

	g.macro_w = div_up(g.tiles_x, PUMICE_MACRO_TILES_X);
	g.macro_h = div_up(g.tiles_y, PUMICE_MACRO_TILES_Y);
	return g;
}

static u32 *put_tile(u32 *at, u32 x, u32 y, bool end)
{
	pumice_pdm_tile_pack(at, &(struct pumice_pdm_tile){ .x = (u16)x, .y = (u16)y });
	at += PUMICE_PDM_TILE_WORDS;
	pumice_pdm_branch_pack(at, &(struct pumice_pdm_branch){ 0 });
	at += PUMICE_PDM_BRANCH_WORDS;
	pumice_pdm_store_pack(at, &(struct pumice_pdm_store){ .end = end });
	return at + PUMICE_PDM_STORE_WORDS;
}

/* Write all tiles, macro tile by macro tile: their pages are freed early. */
static void put_grid(u32 *at, const struct grid *g)
{
	const u32 tiles = g->tiles_x * g->tiles_y;
	u32 macro, left, top, x, y, done = 0;

	for (macro = 0; macro < PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y; macro++) {
		left = macro % PUMICE_MACRO_TILES_X * g->macro_w;
		top = macro / PUMICE_MACRO_TILES_X * g->macro_h;
		for (y = top; y < top + g->macro_h && y < g->tiles_y; y++)
			for (x = left; x < left + g->macro_w && x < g->tiles_x; x++)
				at = put_tile(at, x, y, ++done == tiles);
	}
}

static int make_list(struct pumice_hwrt *hwrt, struct hwrt_list *list)
{
	const struct grid g = grid_of(hwrt);
	const u64 bytes = round_up((u64)g.tiles_x * g.tiles_y * TILE_WORDS * 4, PAGE_BYTES);
	void *cpu;
	int err = pumice_bo_create(hwrt->dev, bytes, hwrt->vm, &list->bo);

	if (err)
		return err;
	bo_name_internal(list->bo, "the tiles of a data set");
	err = pumice_bo_map(list->bo, &cpu);
	if (err)
		return err;
	put_grid(cpu, &g);
	return pumice_vm_place(hwrt->vm, list->bo, PUMICE_BIND_READONLY | PUMICE_BIND_NOEXEC,
			       &list->va);
}

void hwrt_list_destroy(struct pumice_hwrt *hwrt)
{
	struct hwrt_list *list = &hwrt->list;

	if (list->va)
		pumice_vm_remove(hwrt->vm, list->va);
	pumice_bo_destroy(list->bo);
	*list = (struct hwrt_list){ .bo = NULL };
}

/* Get the address of the list of all tiles; written at the first call. */
static int get_list(struct pumice_hwrt *hwrt, u64 *va)
{
	int err = 0;

	pthread_mutex_lock(&hwrt->list_lock);
	if (!hwrt->list.va) {
		err = make_list(hwrt, &hwrt->list);
		if (err)
			hwrt_list_destroy(hwrt);
	}
	*va = hwrt->list.va;
	pthread_mutex_unlock(&hwrt->list_lock);
	return err;
}

int pumice_stream_render_list(struct pumice_stream *s, struct pumice_hwrt *hwrt, uint64_t render,
			      uint64_t *va)
{
	const struct pumice_pdm_mode mode = { .addr = render };
	struct pumice_pdm_link link;
	void *cpu;
	u64 tiles;
	int err = stream_check_va(s, "render list", render, LIST_ALIGN);

	if (!hwrt)
		return fail_null(stream_vm(s)->dev, "render list", "hwrt");
	if (!err && hwrt->vm != stream_vm(s))
		return fail(hwrt->dev, EINVAL,
			    "render list: the data set belongs to another vm; create it in the stream's");
	/* An older device renders all tiles of a record. */
	if (!err && hwrt->dev->info.version < VERSION_LISTS) {
		*va = render;
		return 0;
	}
	if (!err)
		err = get_list(hwrt, &tiles);
	if (!err)
		err = pumice_stream_data(s, (PUMICE_PDM_MODE_WORDS + PUMICE_PDM_LINK_WORDS) * 4,
					 LIST_ALIGN, &cpu, va);
	if (err)
		return err;
	link = (struct pumice_pdm_link){ .addr = tiles };
	pumice_pdm_mode_pack(cpu, &mode);
	pumice_pdm_link_pack((u32 *)cpu + PUMICE_PDM_MODE_WORDS, &link);
	return 0;
}

int pumice_stream_pdm_mode(struct pumice_stream *s, uint64_t render)
{
	const struct pumice_pdm_mode mode = { .addr = render };
	u32 words[PUMICE_PDM_MODE_WORDS];
	int err = stream_check_va(s, "mode", render, LIST_ALIGN);

	if (!err && pumice_stream_va(s) % LIST_ALIGN)
		err = fail(stream_vm(s)->dev, EINVAL,
			   "mode: the list begins at %#llx, which is not a multiple of %u; begin with it",
			   (unsigned long long)pumice_stream_va(s), LIST_ALIGN);
	pumice_pdm_mode_pack(words, &mode);
	return err ? err : pumice_stream_emit(s, words, PUMICE_PDM_MODE_WORDS);
}

int pumice_stream_pdm_tile(struct pumice_stream *s, uint32_t x, uint32_t y)
{
	const u32 most = PUMICE_MAX_RENDER_SIZE / 16;
	const struct pumice_pdm_tile tile = { .x = (u16)x, .y = (u16)y };
	u32 words[PUMICE_PDM_TILE_WORDS];

	if (x >= most || y >= most)
		return fail(stream_vm(s)->dev, EINVAL, "tile: column %u or row %u is not 0 to %u",
			    x, y, most - 1);
	pumice_pdm_tile_pack(words, &tile);
	return pumice_stream_emit(s, words, PUMICE_PDM_TILE_WORDS);
}

int pumice_stream_pdm_branch(struct pumice_stream *s)
{
	const struct pumice_pdm_branch branch = { 0 };
	u32 words[PUMICE_PDM_BRANCH_WORDS];

	pumice_pdm_branch_pack(words, &branch);
	return pumice_stream_emit(s, words, PUMICE_PDM_BRANCH_WORDS);
}

int pumice_stream_pdm_store(struct pumice_stream *s, bool end)
{
	const struct pumice_pdm_store store = { .end = end };
	u32 words[PUMICE_PDM_STORE_WORDS];

	pumice_pdm_store_pack(words, &store);
	return pumice_stream_emit(s, words, PUMICE_PDM_STORE_WORDS);
}

int pumice_stream_pdm_store_program(struct pumice_stream *s, const uint32_t stage[4], bool end)
{
	struct pumice_pdm_store_program store = { .end = end };
	u32 words[PUMICE_PDM_STORE_PROGRAM_WORDS], i;

	for (i = 0; stage && i < 4; i++)
		store.program[i] = stage[i];
	pumice_pdm_store_program_pack(words, &store);
	return pumice_stream_emit(s, words, PUMICE_PDM_STORE_PROGRAM_WORDS);
}

int pumice_stream_pdm_call(struct pumice_stream *s, uint64_t va)
{
	const struct pumice_pdm_call call = { .addr = va };
	u32 words[PUMICE_PDM_CALL_WORDS];
	int err = stream_check_va(s, "call", va, 4);

	pumice_pdm_call_pack(words, &call);
	return err ? err : pumice_stream_emit(s, words, PUMICE_PDM_CALL_WORDS);
}

int pumice_stream_pdm_return(struct pumice_stream *s)
{
	const struct pumice_pdm_return ret = { 0 };
	u32 words[PUMICE_PDM_RETURN_WORDS];

	pumice_pdm_return_pack(words, &ret);
	return pumice_stream_emit(s, words, PUMICE_PDM_RETURN_WORDS);
}

int pumice_stream_pdm_link(struct pumice_stream *s, uint64_t va)
{
	const struct pumice_pdm_link link = { .addr = va };
	u32 words[PUMICE_PDM_LINK_WORDS];
	int err = stream_check_va(s, "link", va, 4);

	pumice_pdm_link_pack(words, &link);
	return err ? err : pumice_stream_emit(s, words, PUMICE_PDM_LINK_WORDS);
}

int pumice_stream_pdm_flush(struct pumice_stream *s, uint32_t flags)
{
	struct pumice_pdm_flush flush;
	u32 words[PUMICE_PDM_FLUSH_WORDS];
	int err = stream_check_flush(s, flags, 0);

	STREAM_SET_FLUSH(flush, flags);
	pumice_pdm_flush_pack(words, &flush);
	return err ? err : pumice_stream_emit(s, words, PUMICE_PDM_FLUSH_WORDS);
}

int pumice_stream_pdm_end(struct pumice_stream *s, uint64_t *va)
{
	const struct pumice_pdm_end end = { 0 };
	u32 words[PUMICE_PDM_END_WORDS];
	int err;

	pumice_pdm_end_pack(words, &end);
	err = pumice_stream_emit(s, words, PUMICE_PDM_END_WORDS);
	if (!err && va)
		*va = stream_start(s);
	return err;
}
