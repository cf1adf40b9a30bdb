// SPDX-License-Identifier: MIT
/* Requests of a frame to the memory hierarchy: hidden-surface removal reduces those for texels. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidden_surface_removal_reduces_reads_of_textures),
	};

	return cmocka_run_group_tests_name("pdm counted", tests, open_fixture, close_fixture);
}
