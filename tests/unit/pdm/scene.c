// SPDX-License-Identifier: MIT
/*
 * A parameter buffer written without the TA: blocks, streams and region headers as defined
 * in hw/formats.xml. A block is written once for each macro tile; blocks are distributed to
 * the cores round robin.
 */
#include <string.h>

#include "fixture.h"

#define STATE_BYTES	64u
#define CHUNK_UNITS	4u	/* 64 bytes in units of 16 */
#define CHUNK_ENTRIES	7u

static u8 *host(const struct fixture *fx, u32 ref)
{
	const u64 va = pm_address(&fx->scene, ref);

	assert_true(va >= FX_PB);
	return fx->pb + (va - FX_PB);
}

static u32 alloc(struct fixture *fx, u32 macro)
{
	struct gpu_fault fault;
	u32 ref;

	assert_int_equal(pm_alloc(fx->pm, 0, &fx->scene, macro, &ref, &fault), PM_OK);
	return ref;
}

void scene_again(struct fixture *fx)
{
	struct gpu_fault fault;

	memset(fx->stream, 0, sizeof(fx->stream));
	memset(fx->chunk_page, 0, sizeof(fx->chunk_page));
	memset(fx->regions, 0, FX_BYTES);
	(void)fault;
}

void scene_begin(struct fixture *fx, const struct scene_size *size)
{
	const struct pumice_free_list list = {
		.base = FX_PB, .pages = FX_PAGES, .head = PUMICE_PM_NO_PAGE,
		.free = FX_PAGES, .max_pages = FX_PAGES, .links = FX_LINKS,
		.min_free = FX_PAGES,
	};
	const struct pumice_scene scene = {
		.width = (u16)size->width, .height = (u16)size->height,
		.samples_log2 = size->samples == 4 ? 2 : size->samples == 2,
		.tile_size = (u8)size->tile_size, .regions = FX_REGIONS,
		.cores = (u8)fx->cores, .free_list0 = FX_LIST, .spill = FX_SPILL,
		.spill_bytes = FX_SPILL_BYTES / 256,
	};
	struct pumice_scene_chain none = { .head = PUMICE_PM_NO_PAGE, .tail = PUMICE_PM_NO_PAGE };
	u32 *words = (u32 *)(void *)fx->scene_mem, i;
	struct gpu_fault fault;

	pumice_free_list_pack((u32 *)(void *)fx->list_mem, &list);
	pumice_scene_pack(words, &scene);
	for (i = 0; i < PM_MACRO_TILES * PUMICE_PM_LISTS; i++)
		pumice_scene_chain_pack(words + PUMICE_SCENE_WORDS +
						i * PUMICE_SCENE_CHAIN_WORDS, &none);
	assert_true(pm_scene_load(fx->pm, FX_SCENE, FX_CTX, &fx->scene, &fault));
	assert_true(pm_scene_begin(fx->pm, &fx->scene, &fault));
	fx->sequence = 0;
	fx->job_stream = 0;
	scene_again(fx);
	fx->record = (struct pumice_pdm_render){ .outputs = 1, .clear_depth = 1 };
	pumice_stage_pack(fx->record.end_of_tile, &fx->stage[FX_END_OF_TILE]);
	fx_set_target(fx, size->width, size->height);
}

void scene_begin_square(struct fixture *fx, u32 side)
{
	const struct scene_size size = { side, side, 1, PUMICE_TILE_SIZE_32X32 };

	memset(fx->colour, 0, FX_BYTES);
	scene_begin(fx, &size);
}

float scene_colour(const struct fixture *fx, u32 side, u32 x, u32 y)
{
	return ((const float *)(const void *)fx->colour)[y * side + x];
}

struct pumice_isp_state scene_usual_isp(void)
{
	return (struct pumice_isp_state){
		.depth_func = PUMICE_COMPARE_ALWAYS, .scissor_x1 = 8192, .scissor_y1 = 8192,
		.sample_mask = 15,
	};
}

u64 scene_isp_address(u32 object)
{
	return FX_STATES + object * 2 * STATE_BYTES;
}

u64 scene_tsp_address(u32 object)
{
	return scene_isp_address(object) + STATE_BYTES;
}

void scene_set_object(struct fixture *fx, u32 object, const struct pumice_isp_state *isp,
		      enum fx_program program, bool sample_rate)
{
	struct pumice_tsp_state tsp = { .varyings = SCENE_VARYINGS, .sample_rate = sample_rate,
					.flat = 3 };
	u8 *at = fx->states + object * 2 * STATE_BYTES;

	pumice_stage_pack(tsp.fragment, &fx->stage[program]);
	pumice_isp_state_pack((u32 *)(void *)at, isp);
	pumice_tsp_state_pack((u32 *)(void *)(at + STATE_BYTES), &tsp);
}

static struct pumice_prim_block block_of(const struct fixture *fx, u32 object, u32 prims,
					 u32 vertices)
{
	return (struct pumice_prim_block){
		.prims = (u8)prims, .vertices = (u8)vertices, .varyings = SCENE_VARYINGS,
		.kind = PUMICE_PRIM_KIND_TRIANGLE, .sequence = fx->sequence,
		.isp_state = fx->isp_at ? fx->isp_at : scene_isp_address(object),
		.tsp_state = fx->tsp_at ? fx->tsp_at : scene_tsp_address(object),
	};
}

static void write_block(const struct fixture *fx, u32 ref, u32 object,
			const struct scene_prim *prims, u32 count)
{
	const struct pumice_prim_block header = block_of(fx, object, count, count * 3);
	u32 *words = (u32 *)(void *)host(fx, ref), n, v;
	u32 *vertex = words + PUMICE_PRIM_BLOCK_WORDS + PUMICE_BLOCK_PRIMS;

	pumice_prim_block_pack(words, &header);
	for (n = 0; n < count; n++) {
		const struct pumice_prim_index index = {
			.v0 = (u8)(n * 3), .v1 = (u8)(n * 3 + 1), .v2 = (u8)(n * 3 + 2),
			.provoking = 1, .back = prims[n].back,
		};

		pumice_prim_index_pack(words + PUMICE_PRIM_BLOCK_WORDS + n, &index);
		for (v = 0; v < 3; v++) {
			struct pumice_prim_vertex out = { .x = prims[n].triangle.x[v],
							  .y = prims[n].triangle.y[v],
							  .z = prims[n].triangle.z[v], .rw = 1 };

			pumice_prim_vertex_pack(vertex, &out);
			/* Only the provoking vertex has the values. */
			if (v == 1)
				memcpy(vertex + PUMICE_PRIM_VERTEX_WORDS, prims[n].value,
				       sizeof(prims[n].value));
			else
				memset(vertex + PUMICE_PRIM_VERTEX_WORDS, 0xff,
				       sizeof(prims[n].value));
			vertex += PUMICE_PRIM_VERTEX_WORDS + SCENE_VARYINGS;
		}
	}
}

static void write_mesh(const struct fixture *fx, u32 ref, u32 object, const struct scene_mesh *mesh)
{
	const struct pumice_prim_block header = block_of(fx, object, mesh->prims, mesh->vertices);
	u32 *words = (u32 *)(void *)host(fx, ref), n;
	u32 *vertex = words + PUMICE_PRIM_BLOCK_WORDS + PUMICE_BLOCK_PRIMS;

	pumice_prim_block_pack(words, &header);
	for (n = 0; n < mesh->prims; n++) {
		const u8 *v = mesh->index[n];
		const struct pumice_prim_index index = {
			.v0 = v[0], .v1 = v[1], .v2 = v[2], .provoking = 1,
		};

		pumice_prim_index_pack(words + PUMICE_PRIM_BLOCK_WORDS + n, &index);
	}
	for (n = 0; n < mesh->vertices; n++) {
		const struct scene_vertex *v = &mesh->vertex[n];
		const struct pumice_prim_vertex out = { .x = v->x, .y = v->y, .z = 0.5f, .rw = 1 };

		pumice_prim_vertex_pack(vertex, &out);
		memcpy(vertex + PUMICE_PRIM_VERTEX_WORDS, v->value, sizeof(v->value));
		vertex += PUMICE_PRIM_VERTEX_WORDS + SCENE_VARYINGS;
	}
}

/* Write a block for each macro tile, and entries for all tiles. Return the last block. */
static u32 draw(struct fixture *fx, u32 object, const struct scene_prim *prims, u32 count,
		const struct scene_mesh *mesh)
{
	const u32 core = fx->sequence % fx->cores;
	const u32 mask = count == 32 ? UINT32_MAX : (1u << count) - 1;
	u32 macro, x, y, last = 0;

	for (macro = 0; macro < PM_MACRO_TILES; macro++) {
		u32 ref = 0;

		for (y = 0; y < fx->scene.tiles_y; y++) {
			for (x = 0; x < fx->scene.tiles_x; x++) {
				struct fx_stream *s;

				if (pm_macro_tile(&fx->scene, x, y) != macro)
					continue;
				if (!ref) {
					last = ref = alloc(fx, macro) + 1;
					if (mesh)
						write_mesh(fx, ref, object, mesh);
					else
						write_block(fx, ref, object, prims, count);
				}
				s = &fx->stream[core][y * fx->scene.tiles_x + x];
				assert_true(s->count < FX_ENTRIES);
				s->entry[s->count++] = (struct fx_entry){ ref, mask };
			}
		}
	}
	fx->sequence++;
	return last;
}

void scene_draw(struct fixture *fx, u32 object, const struct scene_prim *prims, u32 count)
{
	draw(fx, object, prims, count, NULL);
}

u32 scene_draw_mesh(struct fixture *fx, u32 object, const struct scene_mesh *mesh)
{
	return draw(fx, object, NULL, mesh->prims, mesh);
}

struct pumice_vdm_state scene_vertex_state(const struct fixture *fx, enum fx_program program)
{
	struct pumice_vdm_state record;

	pumice_vdm_state_defaults(&record);
	record.varyings = SCENE_VARYINGS;
	record.deferred = true;
	pumice_stage_pack(record.vertex, &fx->stage[program]);
	pumice_stage_pack(record.coordinate, &fx->stage[program]);
	return record;
}

u32 *scene_block(const struct fixture *fx, u32 tile, u32 n)
{
	return (u32 *)(void *)host(fx, fx->stream[0][tile].entry[n].block);
}

void scene_defer(u32 *words, const struct scene_deferred *deferred)
{
	u32 *vertex = words + PUMICE_PRIM_BLOCK_WORDS + PUMICE_BLOCK_PRIMS, v;
	u32 position[PUMICE_BLOCK_VERTICES][PUMICE_PRIM_VERTEX_WORDS];
	struct pumice_prim_block header;

	assert_int_equal(pumice_prim_block_unpack(words, &header), PUMICE_UNPACK_OK);
	if (header.vertex_data != PUMICE_VERTEX_DATA_VARYINGS)
		return;	/* another tile of the macro tile */
	header.vertex_data = deferred->vertex_data;
	header.vertex_state = deferred->record;
	pumice_prim_block_pack(words, &header);
	for (v = 0; v < header.vertices; v++)
		memcpy(position[v], vertex + v * (PUMICE_PRIM_VERTEX_WORDS + SCENE_VARYINGS),
		       sizeof(position[v]));
	pumice_prim_draw_pack(vertex, &deferred->draw);
	vertex += PUMICE_PRIM_DRAW_WORDS;
	for (v = 0; v < header.vertices; v++) {
		const u32 *number = deferred->number + v / 3 * 3;
		const struct pumice_prim_clip clip = {
			.v0 = number[0], .v1 = number[1], .v2 = number[2], .corner = (u8)(v % 3),
		};

		memcpy(vertex, position[v], sizeof(position[v]));
		vertex += PUMICE_PRIM_VERTEX_WORDS;
		if (deferred->vertex_data == PUMICE_VERTEX_DATA_CLIPPED) {
			pumice_prim_clip_pack(vertex, &clip);
			vertex += PUMICE_PRIM_CLIP_WORDS;
		} else {
			*vertex++ = number[v % 3];
		}
	}
}

static u32 new_chunk(struct fixture *fx, u32 macro)
{
	if (!fx->chunk_page[macro] ||
	    fx->chunk_used[macro] == PUMICE_PM_PAGE_SIZE / 64) {
		fx->chunk_page[macro] = alloc(fx, macro);
		fx->chunk_used[macro] = 1;
	}
	return fx->chunk_page[macro] + fx->chunk_used[macro]++ * CHUNK_UNITS;
}

/* Write a stream; return its first chunk. */
static u32 write_stream(struct fixture *fx, const struct fx_stream *s, u32 macro)
{
	u32 ref = new_chunk(fx, macro);
	const u32 first = ref;
	u32 i = 0, n;

	for (;;) {
		struct pumice_tile_chunk chunk = { 0 };

		for (n = 0; n < CHUNK_ENTRIES && i < s->count; n++, i++)
			chunk.entries[n] = s->entry[i].block | (u64)s->entry[i].mask << 32;
		if (i < s->count)
			chunk.next = new_chunk(fx, macro);
		pumice_tile_chunk_pack((u32 *)(void *)host(fx, ref), &chunk);
		if (i == s->count)
			return first;
		ref = chunk.next;
	}
}

void scene_end(struct fixture *fx, bool final)
{
	const u32 tiles = fx->scene.tiles_x * fx->scene.tiles_y;
	struct pm_scene_state state;
	struct gpu_fault fault;
	u32 core, x, y;

	assert_true(pm_scene_state_read(fx->pm, &fx->scene, &state, &fault));
	for (core = 0; core < fx->cores; core++) {
		for (y = 0; y < fx->scene.tiles_y; y++) {
			for (x = 0; x < fx->scene.tiles_x; x++) {
				const u32 tile = y * fx->scene.tiles_x + x;
				struct fx_stream *s = &fx->stream[core][tile];
				struct pumice_region region = { .present = s->count != 0 };

				if (s->count)
					region.stream = write_stream(
						fx, s, pm_macro_tile(&fx->scene, x, y));
				pumice_region_pack((u32 *)(void *)fx->regions +
							   (core * tiles + tile) *
								   PUMICE_REGION_WORDS,
						   &region);
			}
		}
		state.used |= 1u << core;
	}
	assert_true(pm_return(fx->pm, 0, &fault));
	state.valid = final;
	assert_true(pm_scene_state_write(fx->pm, &fx->scene, &state, &fault));
}
