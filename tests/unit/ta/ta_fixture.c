// SPDX-License-Identifier: MIT
/* Fixture of the tests of the TA. See ta_fixture.h. */
#include "ta_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/pm/block.h"

#define VARYINGS	3u
#define INDEX_AT	(PUMICE_PRIM_BLOCK_WORDS)
#define VERTEX_AT	(INDEX_AT + PUMICE_BLOCK_PRIMS)

struct ta_fixture *tafx_create_bare(u32 pages, const struct pumice_scene *scene)
{
	struct ta_fixture *fx = calloc(1, sizeof(*fx));
	struct pumice_tsp_state tsp = { .varyings = VARYINGS, .flat = 1 };
	u32 i;

	fx->pb = pbfx_create(pages, 0);
	fx->scene = pbfx_load(fx->pb, 0, scene);
	pumice_tsp_state_pack(fx->pb->state, &tsp);
	fx->cores = scene->cores;
	fx->draw = (struct ta_draw){
		.state = {
			.varyings = VARYINGS, .scale_x = 1, .scale_y = 1, .scale_z = 1,
			.point_width = 1, .line_width = 1,
			.isp_state = PBFX_STATE, .tsp_state = PBFX_STATE,
		},
	};
	for (i = 0; i < fx->cores; i++) {
		const struct ta_config config = {
			.core = i, .mmu = &fx->pb->mmu, .pm = fx->pb->pm,
		};

		fx->ta[i] = ta_create(&config);
		tafx_begin(fx, i);
	}
	return fx;
}

struct ta_fixture *tafx_create(u32 pages, const struct pumice_scene *scene)
{
	struct ta_fixture *fx = tafx_create_bare(pages, scene);

	assert_true(fx->scene.tiles_x * fx->scene.tiles_y <= TAFX_TILES);
	return fx;
}

void tafx_destroy(struct ta_fixture *fx)
{
	u32 i;

	tafx_clear(fx);
	for (i = 0; i < TAFX_TILES; i++)
		free(fx->tile[i].found);
	for (i = 0; i < fx->cores; i++)
		ta_destroy(fx->ta[i]);
	pbfx_destroy(fx->pb);
	free(fx);
}

u32 tafx_vertices(const struct ta_fixture *fx)
{
	return fx->draw.kind == PUMICE_PRIM_KIND_TRIANGLE ? 3 :
	       fx->draw.kind == PUMICE_PRIM_KIND_LINE ? 2 : 1;
}

struct ta_vertices tafx_waves(struct tafx_waves *waves, const u32 *vo, u32 words, u32 count)
{
	u32 n;

	assert_in_range(count, 0, TAFX_WAVES * PUMICE_LANES);
	for (n = 0; n * PUMICE_LANES < count; n++)
		waves->wave[n] = vo + n * words * PUMICE_LANES;
	return (struct ta_vertices){
		.wave = waves->wave, .vo_words = words, .count = count, .ready = count,
	};
}

static void put(u32 *vo, u32 words, u32 v, u32 n, u32 value)
{
	vo[(v / PUMICE_LANES * words + n) * PUMICE_LANES + v % PUMICE_LANES] = value;
}

/*
 * Cull two triangles of the next piece in two calls, while a call of ta_primitives() is open: the
 * first is on the target, the second is not.
 */
static void cull_others(struct ta_fixture *fx, u32 core, u32 call)
{
	static const float x[2][3] = { { 1, 9, 1 }, { -9, -1, -9 } }, y[3] = { 1, 1, 9 };
	static const struct ta_prim list[] = { { .v = { 0, 1, 2 } }, { .v = { 3, 4, 5 } } };
	u32 vo[4 * PUMICE_LANES] = { 0 }, i;
	struct ta_draw draw = fx->draw;
	struct tafx_waves waves;
	struct ta_vertices vertices = tafx_waves(&waves, vo, 4, 6);
	bool keep[2] = { true, true };

	for (i = 0; i < 6; i++) {
		put(vo, 4, i, 0, number_bits(x[i / 3][i % 3]));
		put(vo, 4, i, 1, number_bits(y[i % 3]));
		put(vo, 4, i, 2, number_bits(0.5f));
		put(vo, 4, i, 3, number_bits(1));
	}
	draw.kind = PUMICE_PRIM_KIND_TRIANGLE;
	ta_cull(fx->ta[core], &draw, &vertices, list, call, call + 1, keep);
	assert_int_equal(keep[call], !call);
}

enum ta_result tafx_give(struct ta_fixture *fx, u32 core, const struct tafx_prim *prims, u32 first,
			 u32 count, u32 *done)
{
	const u32 words = 5 + VARYINGS, n = tafx_vertices(fx);
	const u32 provoking = fx->draw.state.provoking_last ? n - 1 : 0;
	u32 *vo = calloc((count * n + PUMICE_LANES) * words, sizeof(u32));
	struct ta_prim *list = calloc(count, sizeof(*list));
	u32 *numbers = calloc(count * n, sizeof(u32));
	struct tafx_waves waves;
	struct ta_vertices vertices = tafx_waves(&waves, vo, words, count * n);
	struct gpu_fault fault;
	enum ta_result result;
	u32 p, i, k, calls = 0;

	vertices.number = fx->draw.state.deferred ? numbers : NULL;
	fx->draw.state.point_size = true;
	for (p = 0; p < count; p++)
		for (i = 0; i < n; i++) {
			const struct tafx_prim *prim = &prims[first + p];
			const u32 v = p * n + i;

			list[p].v[i] = (u16)v;
			for (k = 0; k < 4; k++)
				put(vo, words, v, k, number_bits(prim->pos[i][k]));
			put(vo, words, v, 4, number_bits(prim->size[i]));
			put(vo, words, v, 5, number_bits(i == provoking ? (float)(first + p) : -1));
			put(vo, words, v, 6, number_bits(prim->v[i][0]));
			put(vo, words, v, 7, number_bits(prim->v[i][1]));
		}
	if (fx->late)
		vertices.ready = 0;
	do {
		result = ta_primitives(fx->ta[core], &fx->draw, &vertices, list, count, done,
				       &fault);
		if (result == TA_VERTICES) {
			assert_int_equal(*done, vertices.ready / n);
			vertices.ready = vertices.ready + PUMICE_LANES < vertices.count ?
				vertices.ready + PUMICE_LANES : vertices.count;
			cull_others(fx, core, calls++ % 2);
		}
	} while (result == TA_MORE || result == TA_VERTICES);
	assert_int_not_equal(result, TA_FAULT);
	free(vo);
	free(list);
	free(numbers);
	return result;
}

void tafx_give_all(struct ta_fixture *fx, const struct tafx_prim *prims, u32 count)
{
	u32 at;

	for (at = 0; at < count; at += TAFX_CHUNK) {
		const u32 n = count - at < TAFX_CHUNK ? count - at : TAFX_CHUNK;
		u32 done = 0;

		fx->draw.sequence++;
		assert_int_equal(tafx_give(fx, 0, prims, at, n, &done), TA_OK);
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

static void found(struct tafx_tile *tile, const struct pumice_prim_block *header,
		  const u32 *block, u32 prim)
{
	struct tafx_found *f;
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

static void read_entry(struct ta_fixture *fx, u32 tile, u32 ref, u32 mask)
{
	const u32 *block = (const u32 *)(const void *)pbfx_host(fx->pb, ref);
	struct pumice_prim_block header;
	u32 left;

	assert_int_equal(pumice_prim_block_unpack(block, &header), PUMICE_UNPACK_OK);
	assert_true(header.prims >= 1 && header.prims <= PUMICE_BLOCK_PRIMS);
	assert_true(header.vertices <= PUMICE_BLOCK_VERTICES);
	if (header.vertex_data != PUMICE_VERTEX_DATA_VARYINGS) {
		pumice_prim_draw_unpack(block + BLOCK_DRAW_AT / 4, &fx->deferred);
		return;
	}
	/* All of it in one page. */
	assert_true((ref * 16ul) % PUMICE_PM_PAGE_SIZE +
			    4 * (VERTEX_AT + header.vertices * (5u + header.varyings)) <=
		    PUMICE_PM_PAGE_SIZE);
	assert_int_equal((u64)mask >> header.prims, 0);
	assert_int_not_equal(mask, 0);
	for (left = mask; left; left &= left - 1)
		found(&fx->tile[tile], &header, block, (u32)__builtin_ctz(left));
}

static void read_stream(struct ta_fixture *fx, u32 tile, u32 ref)
{
	struct pumice_tile_chunk chunk;
	struct pumice_tile_entry entry;
	u32 i;

	for (; ref; ref = chunk.next) {
		const u32 *words = (const u32 *)(const void *)pbfx_host(fx->pb, ref);

		assert_int_equal(ref % 4, 0);
		assert_int_equal(pumice_tile_chunk_unpack(words, &chunk), PUMICE_UNPACK_OK);
		for (i = 0; i < 7; i++) {
			pumice_tile_entry_unpack(words + 2 * i, &entry);
			if (!entry.block)
				return;
			read_entry(fx, tile, entry.block, entry.mask);
		}
	}
}

bool tafx_write_headers(struct ta_fixture *fx, u32 core)
{
	enum ta_result result;
	struct gpu_fault fault;
	bool any;

	do
		result = ta_finish(fx->ta[core], &any, &fault);
	while (result == TA_MORE);
	assert_int_equal(result, TA_OK);
	return any;
}

void tafx_finish(struct ta_fixture *fx, u32 core)
{
	const u32 tiles = fx->scene.tiles_x * fx->scene.tiles_y;
	u32 *words = fx->pb->regions + core * tiles * PUMICE_REGION_WORDS;
	struct pumice_region region;
	bool any;
	u32 i;

	memset(words, 0xff, tiles * PUMICE_REGION_WORDS * 4);
	any = tafx_write_headers(fx, core);
	for (i = 0; any && i < tiles; i++) {
		assert_int_equal(pumice_region_unpack(words + i * 2, &region), PUMICE_UNPACK_OK);
		assert_int_equal(region.present, region.stream != 0);
		if (region.present)
			read_stream(fx, i, region.stream);
	}
}

void tafx_begin(struct ta_fixture *fx, u32 core)
{
	assert_true(ta_begin(fx->ta[core], &fx->scene));
}

void tafx_clear(struct ta_fixture *fx)
{
	u32 i;

	for (i = 0; i < TAFX_TILES; i++)
		fx->tile[i].count = 0;
}

bool tafx_holds(const struct ta_fixture *fx, u32 tile, u32 number)
{
	u32 i;

	for (i = 0; i < fx->tile[tile].count; i++)
		if (fx->tile[tile].found[i].number == number)
			return true;
	return false;
}

bool tafx_same(const struct ta_fixture *a, const struct ta_fixture *b)
{
	u32 t, i;

	for (t = 0; t < TAFX_TILES; t++) {
		if (a->tile[t].count != b->tile[t].count)
			return false;
		for (i = 0; i < a->tile[t].count; i++) {
			const struct tafx_found *f = &a->tile[t].found[i];
			const struct tafx_found *g = &b->tile[t].found[i];

			if (f->number != g->number || f->index.back != g->index.back ||
			    memcmp(f->vertex, g->vertex, sizeof(f->vertex)) ||
			    memcmp(f->v, g->v, sizeof(f->v)))
				return false;
		}
	}
	return true;
}

float tafx_pixel(struct ta_fixture *fx, s32 low, s32 high)
{
	return (float)(low * 256 + (s32)pbfx_random(fx->pb, (u32)(high - low) * 256)) / 256;
}
