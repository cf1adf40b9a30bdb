// SPDX-License-Identifier: MIT
/* Fixture of the tests of the TA. See tarig.h. */
#include "tarig.h"

#include <stdlib.h>
#include <string.h>

#define VARYINGS	3u
#define INDEX_AT	(PUMICE_PRIM_BLOCK_WORDS)
#define VERTEX_AT	(INDEX_AT + PUMICE_BLOCK_PRIMS)

struct tarig *tarig_create_bare(u32 pages, const struct pumice_scene *scene)
{
	struct tarig *rig = calloc(1, sizeof(*rig));
	struct pumice_tsp_state tsp = { .varyings = VARYINGS, .flat = 1 };
	u32 i;

	rig->pb = pbrig_create(pages, 0);
	rig->scene = pbrig_load(rig->pb, 0, scene);
	pumice_tsp_state_pack(rig->pb->state, &tsp);
	rig->cores = scene->cores;
	rig->draw = (struct ta_draw){
		.state = {
			.varyings = VARYINGS, .scale_x = number_bits(1), .scale_y = number_bits(1),
			.scale_z = number_bits(1), .point_width = number_bits(1),
			.line_width = number_bits(1),
			.isp_state = PBRIG_STATE, .tsp_state = PBRIG_STATE,
		},
	};
	for (i = 0; i < rig->cores; i++) {
		const struct ta_config config = {
			.core = i, .mmu = &rig->pb->mmu, .pm = rig->pb->pm,
		};

		rig->ta[i] = ta_create(&config);
		tarig_begin(rig, i);
	}
	return rig;
}

struct tarig *tarig_create(u32 pages, const struct pumice_scene *scene)
{
	struct tarig *rig = tarig_create_bare(pages, scene);

	assert_true(rig->scene.tiles_x * rig->scene.tiles_y <= TARIG_TILES);
	return rig;
}

void tarig_destroy(struct tarig *rig)
{
	u32 i;

	tarig_clear(rig);
	for (i = 0; i < TARIG_TILES; i++)
		free(rig->tile[i].found);
	for (i = 0; i < rig->cores; i++)
		ta_destroy(rig->ta[i]);
	pbrig_destroy(rig->pb);
	free(rig);
}

u32 tarig_vertices(const struct tarig *rig)
{
	return rig->draw.kind == PUMICE_PRIM_KIND_TRIANGLE ? 3 :
	       rig->draw.kind == PUMICE_PRIM_KIND_LINE ? 2 : 1;
}

static void put(u32 *vo, u32 words, u32 v, u32 n, u32 value)
{
	vo[(v / PUMICE_LANES * words + n) * PUMICE_LANES + v % PUMICE_LANES] = value;
}

enum ta_result tarig_give(struct tarig *rig, u32 core, const struct tarig_prim *prims, u32 first,
			  u32 count, u32 *done)
{
	const u32 words = 5 + VARYINGS, n = tarig_vertices(rig);
	const u32 provoking = rig->draw.state.provoking_last ? n - 1 : 0;
	u32 *vo = calloc((count * n + PUMICE_LANES) * words, sizeof(u32));
	struct ta_prim *list = calloc(count, sizeof(*list));
	const struct ta_vertices vertices = { .vo = vo, .vo_words = words, .count = count * n };
	struct gpu_fault fault;
	enum ta_result result;
	u32 p, i, k;

	rig->draw.state.point_size = true;
	for (p = 0; p < count; p++)
		for (i = 0; i < n; i++) {
			const struct tarig_prim *prim = &prims[first + p];
			const u32 v = p * n + i;

			list[p].v[i] = (u16)v;
			for (k = 0; k < 4; k++)
				put(vo, words, v, k, number_bits(prim->pos[i][k]));
			put(vo, words, v, 4, number_bits(prim->size[i]));
			put(vo, words, v, 5, number_bits(i == provoking ? (float)(first + p) : -1));
			put(vo, words, v, 6, number_bits(prim->v[i][0]));
			put(vo, words, v, 7, number_bits(prim->v[i][1]));
		}
	do
		result = ta_primitives(rig->ta[core], &rig->draw, &vertices, list, count, done,
				       &fault);
	while (result == TA_MORE);
	assert_int_not_equal(result, TA_FAULT);
	free(vo);
	free(list);
	return result;
}

void tarig_give_all(struct tarig *rig, const struct tarig_prim *prims, u32 count)
{
	u32 at;

	for (at = 0; at < count; at += TARIG_CHUNK) {
		const u32 n = count - at < TARIG_CHUNK ? count - at : TARIG_CHUNK;
		u32 done = 0;

		rig->draw.sequence++;
		assert_int_equal(tarig_give(rig, 0, prims, at, n, &done), TA_OK);
		assert_int_equal(done, n);
	}
}

static void read_vertex(const struct pumice_prim_block *header, const u32 *block, u32 v,
			struct pumice_prim_vertex *out, float *varyings)
{
	const u32 *words = block + VERTEX_AT + v * (PUMICE_PRIM_VERTEX_WORDS + header->varyings);
	u32 i;

	assert_true(v < header->vertices);
	assert_int_equal(pumice_prim_vertex_unpack(words, out), PUMICE_UNPACK_OK);
	for (i = 0; i < header->varyings; i++)
		varyings[i] = number_float(words[PUMICE_PRIM_VERTEX_WORDS + i]);
}

static void found(struct tarig_tile *tile, const struct pumice_prim_block *header,
		  const u32 *block, u32 prim)
{
	struct tarig_found *f;
	u32 n = header->kind == PUMICE_PRIM_KIND_TRIANGLE ? 3 :
		header->kind == PUMICE_PRIM_KIND_LINE ? 2 : 1;
	u32 i;

	if (tile->count == tile->room) {
		tile->room = tile->room * 2 + 16;
		tile->found = realloc(tile->found, tile->room * sizeof(*tile->found));
	}
	f = &tile->found[tile->count++];
	memset(f, 0, sizeof(*f));
	f->sequence = header->sequence;
	assert_int_equal(header->varyings, VARYINGS);
	assert_int_equal(pumice_prim_index_unpack(block + INDEX_AT + prim, &f->index),
			 PUMICE_UNPACK_OK);
	for (i = 0; i < n; i++)
		read_vertex(header, block,
			    i == 0 ? f->index.v0 : i == 1 ? f->index.v1 : f->index.v2,
			    &f->vertex[i], f->v[i]);
	assert_true(f->index.provoking < n);
	/* The others have -1 there. */
	assert_true(f->v[f->index.provoking][0] >= 0);
	f->number = (u32)f->v[f->index.provoking][0];
}

static void read_entry(struct tarig *rig, u32 tile, u32 ref, u32 mask)
{
	const u32 *block = (const u32 *)(const void *)pbrig_host(rig->pb, ref);
	struct pumice_prim_block header;
	u32 left;

	assert_int_equal(pumice_prim_block_unpack(block, &header), PUMICE_UNPACK_OK);
	assert_true(header.prims >= 1 && header.prims <= PUMICE_BLOCK_PRIMS);
	assert_true(header.vertices <= PUMICE_BLOCK_VERTICES);
	/* All of it in one page. */
	assert_true((ref * 16ul) % PUMICE_PM_PAGE_SIZE +
			    4 * (VERTEX_AT + header.vertices * (5u + header.varyings)) <=
		    PUMICE_PM_PAGE_SIZE);
	assert_int_equal((u64)mask >> header.prims, 0);
	assert_int_not_equal(mask, 0);
	for (left = mask; left; left &= left - 1)
		found(&rig->tile[tile], &header, block, (u32)__builtin_ctz(left));
}

static void read_stream(struct tarig *rig, u32 tile, u32 ref)
{
	struct pumice_tile_chunk chunk;
	struct pumice_tile_entry entry;
	u32 i;

	for (; ref; ref = chunk.next) {
		const u32 *words = (const u32 *)(const void *)pbrig_host(rig->pb, ref);

		assert_int_equal(ref % 4, 0);
		assert_int_equal(pumice_tile_chunk_unpack(words, &chunk), PUMICE_UNPACK_OK);
		for (i = 0; i < 7; i++) {
			pumice_tile_entry_unpack(words + 2 * i, &entry);
			if (!entry.block)
				return;
			read_entry(rig, tile, entry.block, entry.mask);
		}
	}
}

bool tarig_write_headers(struct tarig *rig, u32 core)
{
	enum ta_result result;
	struct gpu_fault fault;
	bool any;

	do
		result = ta_finish(rig->ta[core], &any, &fault);
	while (result == TA_MORE);
	assert_int_equal(result, TA_OK);
	return any;
}

void tarig_finish(struct tarig *rig, u32 core)
{
	const u32 tiles = rig->scene.tiles_x * rig->scene.tiles_y;
	u32 *words = rig->pb->regions + core * tiles * PUMICE_REGION_WORDS;
	struct pumice_region region;
	bool any;
	u32 i;

	memset(words, 0xff, tiles * PUMICE_REGION_WORDS * 4);
	any = tarig_write_headers(rig, core);
	for (i = 0; any && i < tiles; i++) {
		assert_int_equal(pumice_region_unpack(words + i * 2, &region), PUMICE_UNPACK_OK);
		assert_int_equal(region.present, region.stream != 0);
		if (region.present)
			read_stream(rig, i, region.stream);
	}
}

void tarig_begin(struct tarig *rig, u32 core)
{
	assert_true(ta_begin(rig->ta[core], &rig->scene));
}

void tarig_clear(struct tarig *rig)
{
	u32 i;

	for (i = 0; i < TARIG_TILES; i++)
		rig->tile[i].count = 0;
}

bool tarig_holds(const struct tarig *rig, u32 tile, u32 number)
{
	u32 i;

	for (i = 0; i < rig->tile[tile].count; i++)
		if (rig->tile[tile].found[i].number == number)
			return true;
	return false;
}

bool tarig_same(const struct tarig *a, const struct tarig *b)
{
	u32 t, i;

	for (t = 0; t < TARIG_TILES; t++) {
		if (a->tile[t].count != b->tile[t].count)
			return false;
		for (i = 0; i < a->tile[t].count; i++) {
			const struct tarig_found *f = &a->tile[t].found[i];
			const struct tarig_found *g = &b->tile[t].found[i];

			if (f->number != g->number || f->index.back != g->index.back ||
			    memcmp(f->vertex, g->vertex, sizeof(f->vertex)) ||
			    memcmp(f->v, g->v, sizeof(f->v)))
				return false;
		}
	}
	return true;
}

float tarig_pixel(struct tarig *rig, s32 low, s32 high)
{
	return (float)(low * 256 + (s32)pbrig_random(rig->pb, (u32)(high - low) * 256)) / 256;
}
