// SPDX-License-Identifier: MIT
/*
 * Requests of a frame to the memory hierarchy: hidden-surface removal reduces those for texels; the
 * master IPF reads the lists of tiles, and cores read primitives.
 */
#include "fixture.h"

#include "../../../qemu-device/gpu/hierarchy/hierarchy.h"
#include "../../../qemu-device/gpu/preset.h"
#include "pumice_format_table.h"

#define SIDE	64u
#define LAYERS	8u

static struct fixture fx;
static struct hierarchy *h;

static int open_fixture(void **state)
{
	struct pumice_gpu_config gpu = { 0 };
	struct hierarchy_config config;
	const char *error;

	(void)state;
	fx_open(&fx, 1);
	preset_apply(PUMICE_PRESET_VOLCANIC, &gpu);
	config = preset_hierarchy(&gpu);
	h = hierarchy_create(&config, &error);
	return h ? 0 : -1;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	hierarchy_destroy(h);
	return 0;
}

/* struct mmu: pass a request of a unit on, as mode.c does. */
static void request(void *opaque, const struct mmu_request *r)
{
	const u32 client = pumice_client_find(r->unit, r->access, r->kind);
	struct mem_request out = {
		.client = (enum pumice_mem_client)client, .ctx = r->ctx, .addr = r->addr,
		.bytes = (u32)r->bytes, .write = r->access == PUMICE_ACCESS_WRITE,
	};

	(void)opaque;
	if (r->unit == PUMICE_UNIT_NONE)
		return;
	out.place = pumice_client_table[client].path == PUMICE_MEM_PATH_DIRECT ? 1 : 0;
	assert_true(hierarchy_request(h, &out));
}

/* Draw layers over the whole target, each nearer than the one before. */
static struct hierarchy_client draw_layers(enum pumice_pass_type pass_type)
{
	const s32 end = SIDE * 256;
	struct pumice_isp_state isp = scene_usual_isp();
	struct hierarchy_client texture;
	u32 i;

	isp.depth_func = PUMICE_COMPARE_LESS_EQUAL;
	isp.depth_write = true;
	isp.pass_type = pass_type;
	scene_begin_square(&fx, SIDE);
	fx.record.clear_depth = 1;
	for (i = 0; i < LAYERS; i++) {
		const float z = 1 - (float)(i + 1) / LAYERS;
		const struct scene_prim prims[2] = {
			{ .triangle = { .x = { 0, end, 0 }, .y = { 0, 0, end },
					.z = { z, z, z } } },
			{ .triangle = { .x = { end, end, 0 }, .y = { 0, end, end },
					.z = { z, z, z } } },
		};

		scene_set_object(&fx, i, &isp, FX_TEXEL, false);
		scene_draw(&fx, i, prims, 2);
	}
	scene_end(&fx, true);
	hierarchy_reset(h);
	mmu_set_request(&fx.mmu, request, NULL);
	fx_start(&fx, false);
	fx_run(&fx);
	mmu_set_request(&fx.mmu, NULL, NULL);
	assert_int_equal(fx.end, DM_DONE);
	hierarchy_client_counters(h, PUMICE_MEM_CLIENT_TEXTURE, &texture);
	return texture;
}

/* Only the nearest layer is shaded; of layers that are translucent, all. */
static void hidden_surface_removal_reduces_reads_of_textures(void **state)
{
	const struct hierarchy_client opaque = draw_layers(PUMICE_PASS_TYPE_OPAQUE);
	const struct hierarchy_client all = draw_layers(PUMICE_PASS_TYPE_TRANSLUCENT);

	(void)state;
	print_message("bytes of texels: %llu, without removal %llu\n",
		      (unsigned long long)opaque.bytes, (unsigned long long)all.bytes);
	assert_true(opaque.bytes);
	assert_int_equal(all.bytes, LAYERS * opaque.bytes);
	assert_true(opaque.slc.read_bytes <= all.slc.read_bytes);
}

/* ------------------------------------------------------------ lists and primitives */

#define CORES	4u
#define TILES	9u	/* of FX_MAX_SIZE pixels, in tiles of 32 x 32 */

static struct fixture many;
static u64 read_bytes[PUMICE_MEM_CLIENT_COUNT][PUMICE_MAX_CORES + 1];	/* by place */

static void count(void *opaque, const struct mmu_request *r)
{
	(void)opaque;
	if (r->unit != PUMICE_UNIT_NONE)
		read_bytes[pumice_client_find(r->unit, r->access, r->kind)][r->place] += r->bytes;
}

/* Region headers of all cores; entries with the headers of their blocks; ends of chunks. */
static u64 bytes_of_lists(void)
{
	u64 sum = 0;
	u32 core, t;

	for (core = 0; core < CORES; core++)
		for (t = 0; t < TILES; t++) {
			const u32 n = many.stream[core][t].count;

			assert_true(n);
			sum += PUMICE_REGION_WORDS * 4 +
			       n * (PUMICE_TILE_ENTRY_WORDS + PUMICE_PRIM_BLOCK_WORDS) * 4ull +
			       (n + 6) / 7 * 8;
		}
	return sum;
}

/* Each word of a list is read once, by no core, whichever core renders the tile. */
static void the_master_reads_lists_for_all_cores(void **state)
{
	const struct scene_prim prim = { .triangle = { .x = { 0, FX_MAX_SIZE * 512, 0 },
						       .y = { 0, 0, FX_MAX_SIZE * 512 } } };
	const struct pumice_isp_state isp = scene_usual_isp();
	u64 of_cores = 0;
	u32 i;

	(void)state;
	fx_open(&many, CORES);
	scene_begin_square(&many, FX_MAX_SIZE);
	scene_set_object(&many, 0, &isp, FX_BLEND, false);
	for (i = 0; i < 11 * CORES; i++)
		scene_draw(&many, 0, &prim, 1);
	scene_end(&many, true);
	mmu_set_request(&many.mmu, count, NULL);
	fx_start(&many, false);
	fx_run(&many);
	mmu_set_request(&many.mmu, NULL, NULL);
	assert_int_equal(many.end, DM_DONE);
	assert_int_equal(read_bytes[PUMICE_MEM_CLIENT_IPF_READ][0], bytes_of_lists());
	assert_int_equal(read_bytes[PUMICE_MEM_CLIENT_IPF_PRIM][0], 0);
	for (i = 1; i <= CORES; i++) {
		assert_int_equal(read_bytes[PUMICE_MEM_CLIENT_IPF_READ][i], 0);
		assert_true(read_bytes[PUMICE_MEM_CLIENT_IPF_PRIM][i]);
		of_cores += read_bytes[PUMICE_MEM_CLIENT_IPF_PRIM][i];
	}
	assert_int_equal(of_cores, TILES * 11 * CORES *
		     (PUMICE_PRIM_INDEX_WORDS + 3 * PUMICE_PRIM_VERTEX_WORDS) * 4);
	fx_close(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidden_surface_removal_reduces_reads_of_textures),
		cmocka_unit_test(the_master_reads_lists_for_all_cores),
	};

	return cmocka_run_group_tests_name("pdm counted", tests, open_fixture, close_fixture);
}
