// SPDX-License-Identifier: MIT
/*
 * Initialisers of the structures that callers fill, each over a
 * structure full of other bits; the calls that reject structures
 * with an unset member; helpers that combine several calls.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice_capture.h"
#include "pumice/pumice_gfx.h"

static struct pumice_device *dev;
static struct pumice_vm *vm;
static struct pumice_stream *stream;

/* Fill a structure so that no member is valid by chance. */
#define DIRTY(type, name) \
	struct type name; \
	memset(&name, 0x5a, sizeof(name))

/* Assert that all bytes of the two are equal; both were initialised completely. */
#define ASSERT_SAME(a, b) \
	do { \
		assert_int_equal(sizeof(a), sizeof(b)); \
		assert_memory_equal(&(a), &(b), sizeof(a)); \
	} while (0)

static int open_device(void **state)
{
	(void)state;
	return pumice_device_open("inproc:cores=1,threads=0,ram=128", &dev, NULL, 0) ||
	       pumice_vm_create(dev, &vm) || pumice_stream_create(vm, 65536, &stream);
}

static int close_device(void **state)
{
	(void)state;
	pumice_stream_destroy(stream);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}

static void assert_refused(int err, const char *words)
{
	assert_int_equal(err, -EINVAL);
	print_message("%s\n", pumice_device_error(dev));
	assert_non_null(strstr(pumice_device_error(dev), words));
}

static struct pumice_kernel *kernel(const char *text)
{
	struct pumice_kernel *out;

	assert_int_equal(pumice_kernel_assemble(vm, "test", text, &out), 0);
	return out;
}

static void an_initialised_bind_maps_the_whole_buffer(void **state)
{
	struct pumice_bo *bo;
	DIRTY(pumice_bind, bind);

	(void)state;
	assert_int_equal(pumice_bo_create(dev, 5000, NULL, &bo), 0);
	pumice_bind_init(&bind, bo, 0x40000000);
	assert_ptr_equal(bind.bo, bo);
	assert_int_equal(bind.bo_offset, 0);
	assert_int_equal(bind.va, 0x40000000);
	assert_int_equal(bind.size, 8192);
	assert_int_equal(bind.flags, 0);
	assert_int_equal(pumice_vm_bind(vm, &bind, 1, NULL), 0);
	pumice_bind_init(&bind, NULL, 0x40000000);
	bind.size = 8192;
	assert_int_equal(pumice_vm_bind(vm, &bind, 1, NULL), 0);
	pumice_bo_destroy(bo);
}

static void jobs_and_syncs_have_the_given_values_and_zeros(void **state)
{
	struct pumice_context *context = (void *)&dev;
	struct pumice_sync *sync = (void *)&vm;
	DIRTY(pumice_wait, wait);
	DIRTY(pumice_job_sync, signal);
	DIRTY(pumice_job, job);
	DIRTY(pumice_gfx_job, gfx);

	(void)state;
	pumice_wait_init(&wait, sync, 7);
	assert_true(wait.sync == sync && wait.point == 7);
	pumice_job_sync_init(&signal, sync, 8, true);
	assert_true(signal.sync == sync && signal.point == 8 && signal.signal);
	pumice_job_init(&job, context, 0x1000);
	assert_true(job.context == context && job.stream == 0x1000);
	assert_true(!job.syncs && !job.sync_count && !job.perfmon);
	pumice_gfx_job_init(&gfx, context, 0x2000);
	assert_true(gfx.context == context && gfx.stream == 0x2000);
	assert_true(!gfx.syncs && !gfx.sync_count && !gfx.perfmon && !gfx.hwrt && !gfx.hwrt_data);
	assert_int_equal(gfx.type, PUMICE_JOB_DEFAULT);
}

static void a_dispatch_is_of_one_group_and_parts_of_a_grid_are_refused(void **state)
{
	static const uint32_t bad[][3] = { { 5, 0, 0 }, { 5, 1, 0 }, { 0, 1, 1 }, { 1, 0, 1 } };
	struct pumice_kernel *k = kernel(".group 32\nend\n");
	const struct pumice_dispatch none = { .kernel = k };
	const struct pumice_dispatch empty = { .kernel = k, .allow_empty = 1 };
	DIRTY(pumice_dispatch, dispatch);

	(void)state;
	pumice_dispatch_init(&dispatch, k);
	assert_ptr_equal(dispatch.kernel, k);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(dispatch.groups[i], 1);
		assert_int_equal(dispatch.base[i], 0);
	}
	assert_true(!dispatch.uniforms && !dispatch.uniform_words);
	pumice_stream_reset(stream);
	assert_int_equal(pumice_stream_dispatch(stream, &dispatch), 0);
	assert_refused(pumice_stream_dispatch(stream, &none), "set all three");
	assert_int_equal(pumice_stream_dispatch(stream, &empty), 0);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(dispatch.groups, bad[i], sizeof(bad[i]));
		assert_refused(pumice_stream_dispatch(stream, &dispatch), "set all three");
	}
	pumice_kernel_destroy(k);
}

/* The limits are those of the CDM: tests/unit/cdm/test_stop.c. */
static void a_grid_beyond_the_ids_is_refused(void **state)
{
	static const struct {
		uint32_t groups[3], base[3];
		bool good;
	} grids[] = {
		{ { 1, 1, 1 }, { UINT32_MAX - 1, UINT32_MAX - 1, UINT32_MAX - 1 }, true },
		{ { 2, 1, 1 }, { UINT32_MAX - 1, 0, 0 }, false },
		{ { 1, 2, 1 }, { 0, UINT32_MAX - 1, 0 }, false },
		{ { 1, 1, 2 }, { 0, 0, UINT32_MAX - 1 }, false },
		{ { 1u << 31, 1u << 31, 3 }, { 0 }, true },
		{ { 1u << 31, 1u << 31, 4 }, { 0 }, false },
	};
	struct pumice_kernel *k = kernel(".group 32\nend\n");
	DIRTY(pumice_dispatch, dirty);
	struct pumice_dispatch grid;

	(void)state;
	pumice_stream_reset(stream);
	for (uint32_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		pumice_dispatch_init(&grid, k);
		memcpy(grid.groups, grids[i].groups, sizeof(grid.groups));
		memcpy(grid.base, grids[i].base, sizeof(grid.base));
		if (grids[i].good)
			assert_int_equal(pumice_stream_dispatch(stream, &grid), 0);
		else
			assert_refused(pumice_stream_dispatch(stream, &grid),
				       "is too large: ids have 32 bits");
	}
	assert_refused(pumice_stream_dispatch(stream, &dirty), "begin with pumice_dispatch_init()");
	pumice_kernel_destroy(k);
}

static void a_draw_without_instances_is_refused(void **state)
{
	const struct pumice_vdm_draw draw = { .topology = PUMICE_TOPOLOGY_TRIANGLES, .count = 3 };
	const struct pumice_vdm_draw_indexed indexed = { .count = 3, .index_count = 3 };
	DIRTY(pumice_vdm_draw, good);
	DIRTY(pumice_vdm_draw_indexed, good_indexed);
	uint64_t before;

	(void)state;
	pumice_stream_reset(stream);
	before = pumice_stream_va(stream);
	assert_refused(pumice_stream_draw(stream, &draw), "instances is 0");
	assert_refused(pumice_stream_draw_indexed(stream, &indexed), "instances is 0");
	assert_int_equal(pumice_stream_va(stream), before);
	pumice_vdm_draw_defaults(&good);
	assert_int_equal(good.instances, 1);
	assert_int_equal(good.topology, PUMICE_TOPOLOGY_TRIANGLES);
	assert_int_equal(good.first + good.count + good.base_instance, 0);
	assert_int_equal(pumice_stream_draw(stream, &good), 0);
	pumice_vdm_draw_indexed_defaults(&good_indexed);
	assert_int_equal(good_indexed.instances, 1);
	assert_int_equal(good_indexed.index_size, PUMICE_INDEX_SIZE_U32);
	assert_int_equal(pumice_stream_draw_indexed(stream, &good_indexed), 0);
}

static void an_indirect_draw_that_would_fault_is_refused(void **state)
{
	struct pumice_vdm_draw_indirect draw;
	struct pumice_vdm_draw_indexed_indirect indexed;

	(void)state;
	pumice_stream_reset(stream);
	pumice_vdm_draw_indirect_defaults(&draw);
	draw.addr = 0x40000004;
	assert_int_equal(pumice_stream_draw_indirect(stream, &draw), 0);
	draw.addr += 2;
	assert_refused(pumice_stream_draw_indirect(stream, &draw),
		       "indirect draw: addr: address 0x40000006 is not a multiple of 4");
	draw.addr += 2;
	draw.topology = 77;
	assert_refused(pumice_stream_draw_indirect(stream, &draw), "topology 77 is not one of");
	pumice_vdm_draw_indexed_indirect_defaults(&indexed);
	indexed.addr = 0x40000004;
	indexed.indices = 0x40000002;
	assert_refused(pumice_stream_draw_indexed_indirect(stream, &indexed),
		       "indirect draw: indices: address 0x40000002 is not a multiple of 4");
	indexed.index_size = PUMICE_INDEX_SIZE_U16;
	assert_int_equal(pumice_stream_draw_indexed_indirect(stream, &indexed), 0);
	indexed.addr++;
	assert_refused(pumice_stream_draw_indexed_indirect(stream, &indexed), "a multiple of 4");
	indexed.addr--;
	indexed.index_size = 3;
	assert_refused(pumice_stream_draw_indexed_indirect(stream, &indexed), "index_size 3 is not");
}

static void an_indexed_draw_without_a_buffer_is_refused(void **state)
{
	struct pumice_vdm_draw_indexed draw;

	(void)state;
	pumice_stream_reset(stream);
	pumice_vdm_draw_indexed_defaults(&draw);
	draw.count = 3;
	draw.indices = 0x40000000;
	assert_refused(pumice_stream_draw_indexed(stream, &draw),
		       "index_count is 0 and each index would be read as 0");
	draw.index_count = 3;
	assert_int_equal(pumice_stream_draw_indexed(stream, &draw), 0);
	draw.indices++;
	assert_refused(pumice_stream_draw_indexed(stream, &draw),
		       "indices: address 0x40000001 is not a multiple of 4");
	draw.index_size = PUMICE_INDEX_SIZE_U8;
	assert_int_equal(pumice_stream_draw_indexed(stream, &draw), 0);
	draw.indices = 0;
	assert_refused(pumice_stream_draw_indexed(stream, &draw), "indices is 0; set it");
	/* It reads none: a program may have computed 0 of everything. */
	draw.count = 0;
	assert_int_equal(pumice_stream_draw_indexed(stream, &draw), 0);
	draw.index_count = 0;
	assert_int_equal(pumice_stream_draw_indexed(stream, &draw), 0);
}

/* Objects of a frame are accepted with the values that their initialisers set. */
static void a_frame_can_be_drawn_with_values_of_initialisers(void **state)
{
	DIRTY(pumice_freelist_desc, pages);
	DIRTY(pumice_hwrt_desc, set);
	DIRTY(pumice_image_desc, desc);
	DIRTY(pumice_render_desc, render);
	DIRTY(pumice_frame, frame);
	struct pumice_context *context;
	struct pumice_freelist *list;
	struct pumice_image *image;
	struct pumice_hwrt *hwrt;
	uint32_t texels[16 * 16];

	(void)state;
	pumice_freelist_desc_init(&pages);
	assert_int_equal(pumice_freelist_create(vm, &pages, &list), 0);
	pumice_hwrt_desc_init(&set, list, 16, 16);
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), 0);
	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA8_UNORM, 16, 16);
	assert_int_equal(pumice_image_create(vm, &desc, &image), 0);
	pumice_render_desc_init(&render, image);
	render.clear[0].f = 1;
	render.clear[3].f = 0.2f;
	pumice_frame_init(&frame, hwrt);
	assert_true(!frame.hwrt_data && !frame.perfmon);
	pumice_stream_reset(stream);
	assert_int_equal(pumice_stream_vdm_end(stream, &frame.geometry), 0);
	assert_int_equal(pumice_stream_render(stream, &render, &frame.render), 0);
	assert_int_equal(pumice_context_create_type(vm, PUMICE_CONTEXT_RENDER,
						    PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_render(context, &frame, PUMICE_FOREVER, NULL), 0);
	assert_int_equal(pumice_image_download(image, (struct pumice_image_part){ 0 }, texels, 0),
			 0);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(texels[i], 0x330000ff);
	pumice_context_destroy(context);
	pumice_hwrt_destroy(hwrt);
	pumice_freelist_destroy(list);
	pumice_image_destroy(image);
}

static void a_render_without_targets_has_none(void **state)
{
	DIRTY(pumice_render_desc, render);

	(void)state;
	pumice_render_desc_init(&render, NULL);
	assert_int_equal(render.target_count, 0);
	assert_true(render.pdm.clear_depth == 1);
	assert_int_equal(render.pdm.outputs, 4);
	assert_false(render.pdm.depth_load || render.pdm.depth_store || render.pdm.stencil_load ||
		     render.pdm.stencil_store || render.pdm.mask_plane);
	assert_true(!render.background && !render.end_of_tile);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(render.clear[i].u, 0);
}

static void a_mask_plane_has_a_bit_a_sample(void **state)
{
	DIRTY(pumice_render_desc, render);

	(void)state;
	pumice_render_desc_init(&render, NULL);
	assert_int_equal(pumice_render_desc_mask(&render, 0x12340, 67, 50, 2), 50 * 17);
	assert_true(render.pdm.mask_plane);
	assert_int_equal(render.pdm.mask_addr, 0x12340);
	assert_int_equal(render.pdm.mask_stride, 17);
	assert_false(render.pdm.mask_load || render.pdm.mask_store || render.pdm.clear_mask);
	/* The size is known before the address, and is that of one sample, too. */
	assert_int_equal(pumice_render_desc_mask(&render, 0, 64, 3, 1), 3 * 8);
	assert_int_equal(render.pdm.mask_addr, 0);
}

static void records_of_a_draw_let_everything_pass(void **state)
{
	DIRTY(pumice_draw_state, draw);

	(void)state;
	pumice_draw_state_init(&draw, 300, 200);
	assert_true(draw.vdm.scale_x == 150 && draw.vdm.scale_y == -100 && draw.vdm.scale_z == 1);
	assert_true(draw.vdm.offset_x == 150 && draw.vdm.offset_y == 100 &&
		    draw.vdm.offset_z == 0);
	assert_true(draw.vdm.point_width == 1 && draw.vdm.line_width == 1 && draw.vdm.depth_clip);
	assert_false(draw.vdm.cull_front || draw.vdm.cull_back || draw.vdm.discard);
	/* It drops nothing that covers a sample. */
	assert_true(draw.vdm.small_cull);
	assert_int_equal(draw.isp.depth_func, PUMICE_COMPARE_ALWAYS);
	assert_int_equal(draw.isp.front_func, PUMICE_COMPARE_ALWAYS);
	assert_int_equal(draw.isp.back_func, PUMICE_COMPARE_ALWAYS);
	assert_int_equal(draw.isp.sample_mask, 0xf);
	assert_int_equal(draw.isp.scissor_x1, 300);
	assert_int_equal(draw.isp.scissor_y1, 200);
	assert_true(draw.isp.bias_constant == 0 && draw.isp.bias_slope == 0 &&
		    draw.isp.bias_clamp == 0);
	assert_int_equal(draw.tsp.flat | draw.tsp.linear | draw.tsp.varyings, 0);
}

static void a_sampler_reads_nearest_texels_of_any_level(void **state)
{
	DIRTY(pumice_sampler, sampler);

	(void)state;
	pumice_sampler_init(&sampler);
	assert_false(sampler.min_linear || sampler.mag_linear || sampler.compare ||
		     sampler.texels);
	assert_int_equal(sampler.mip_filter, PUMICE_MIP_FILTER_NONE);
	assert_int_equal(sampler.wrap_u | sampler.wrap_v | sampler.wrap_w, PUMICE_WRAP_REPEAT);
	assert_true(sampler.lod_bias == 0 && sampler.min_lod == 0 && sampler.max_lod == 16);
}

static void inputs_agree_with_their_names(void **state)
{
	static const float words[2] = { 1, 2 };
	const struct pumice_input uniforms = { .kind = PUMICE_INPUT_UNIFORMS, .reg = 3,
					       .words = (const void *)words, .count = 2 };
	const struct pumice_input source = { .kind = PUMICE_INPUT_SOURCE, .reg = 4,
					     .source = PUMICE_PDS_SOURCE_INSTANCE };
	const struct pumice_input attribute = { .kind = PUMICE_INPUT_ATTRIBUTE,
						.reg = 8, .count = 3,
						.va = 0x1234, .stride = 12, .elements = 9,
						.format = PUMICE_ATTR_KIND_F32 };
	const struct pumice_input varying = { .kind = PUMICE_INPUT_VARYING, .reg = 1, .varying = 6,
					      .count = 2, .mode = PUMICE_USC_ITERATE_PERSPECTIVE };
	const struct pumice_input texture = { .kind = PUMICE_INPUT_TEXTURE, .reg = 16,
					      .texture = (const void *)&dev,
					      .sampler = (const void *)&vm };
	const struct pumice_input planes = { .kind = PUMICE_INPUT_PLANES, .reg = 6, .varying = 64,
					     .count = 2 };
	const struct pumice_input prefetch = { .kind = PUMICE_INPUT_PREFETCH, .reg = 4,
					       .varying = 9, .texture = (const void *)&dev,
					       .sampler = (const void *)&vm,
					       .mode = PUMICE_USC_ITERATE_PERSPECTIVE };
	struct pumice_input got;

	(void)state;
	got = pumice_input_uniforms(3, words, 2);
	ASSERT_SAME(got, uniforms);
	got = pumice_input_source(4, PUMICE_PDS_SOURCE_INSTANCE);
	ASSERT_SAME(got, source);
	got = pumice_input_attribute(8, 3, 0x1234, 12, 9);
	ASSERT_SAME(got, attribute);
	got = pumice_input_varying(1, 6, 2);
	ASSERT_SAME(got, varying);
	got = pumice_input_texture(16, texture.texture, texture.sampler);
	ASSERT_SAME(got, texture);
	got = pumice_input_planes(6, 64, 2);
	ASSERT_SAME(got, planes);
	got = pumice_input_prefetch(4, 9, prefetch.texture, prefetch.sampler);
	ASSERT_SAME(got, prefetch);
}

/* 4 MiB that grow to 256 MiB when less than a quarter is free; one sample, one level. */
static void sizes_of_a_frame_are_as_documented(void **state)
{
	DIRTY(pumice_freelist_desc, pages);
	DIRTY(pumice_hwrt_desc, set);
	DIRTY(pumice_image_desc, image);

	(void)state;
	pumice_freelist_desc_init(&pages);
	assert_int_equal(pages.initial_pages, (4 << 20) / 4096);
	assert_int_equal(pages.grow_pages, (4 << 20) / 4096);
	assert_int_equal(pages.max_pages, (256 << 20) / 4096);
	assert_int_equal(pages.threshold, 25);
	pumice_hwrt_desc_init(&set, (void *)&vm, 40, 30);
	assert_true(set.local == (void *)&vm && set.width == 40 && set.height == 30);
	assert_int_equal(set.samples, 1);
	assert_int_equal(set.spill_outputs, 4);
	pumice_image_desc_init(&image, PUMICE_FORMAT_RGBA8_UNORM, 40, 30);
	assert_true(image.format == PUMICE_FORMAT_RGBA8_UNORM && image.width == 40 &&
		    image.height == 30);
	assert_int_equal(image.dim, PUMICE_TEXTURE_DIM_2D);
	assert_int_equal(image.depth, 1);
	assert_int_equal(image.levels, 1);
}

static void the_rest_is_as_documented(void **state)
{
	DIRTY(pumice_stage_desc, stage);
	DIRTY(pumice_viewport, viewport);
	DIRTY(pumice_target, target);
	DIRTY(pumice_capture_frame, capture);
	DIRTY(pumice_canvas_desc, canvas);

	(void)state;
	pumice_stage_desc_init(&stage, (const void *)&dev);
	assert_true(stage.kernel == (const void *)&dev && !stage.inputs && !stage.input_count);
	pumice_viewport_init(&viewport, 40, 30);
	assert_true(viewport.x == 0 && viewport.y == 0 && viewport.width == 40 &&
		    viewport.height == 30 && viewport.near == 0 && viewport.far == 1);
	pumice_target_init(&target, (const void *)&vm);
	assert_ptr_equal(target.image, &vm);
	assert_false(target.part.level || target.part.layer || target.source || target.keep ||
		     target.dither || target.resolve || target.samples || target.load);
	pumice_capture_frame_init(&capture);
	assert_int_equal(capture.samples, 1);
	assert_int_equal(capture.target_count, 0);
	assert_true(capture.pages > 0);
	pumice_canvas_desc_init(&canvas, 5, 6);
	assert_int_equal(canvas.format, PUMICE_FORMAT_RGBA8_SRGB);
	assert_true(canvas.width == 5 && canvas.height == 6 && canvas.samples == 1);
}

static void assembler_errors_are_the_devices(void **state)
{
	struct pumice_kernel *k;

	(void)state;
	assert_refused(pumice_kernel_assemble(vm, "shader", "nonsense r0\n", &k), "shader:1:");
}

static void failed_canvas_creation_leaks_nothing(void **state)
{
	struct pumice_canvas_desc desc;
	struct pumice_canvas *canvas;

	(void)state;
	pumice_canvas_desc_init(&desc, 64, 64);
	desc.samples = 3;
	assert_refused(pumice_canvas_create(vm, &desc, &canvas), "samples 3 is not 1, 2 or 4");
	pumice_canvas_desc_init(&desc, 0, 64);
	assert_refused(pumice_canvas_create(vm, &desc, &canvas), "image");
}

/* Two frames: one target, a new picture each time. */
static void a_canvas_draws_one_frame_after_the_other(void **state)
{
	static const float colours[2][4] = { { 1, 0, 0, 1 }, { 0, 1, 0, 1 } };
	static const uint32_t expected[2] = { 0xff0000ff, 0xff00ff00 };
	struct pumice_canvas_desc desc;
	struct pumice_canvas *canvas;
	uint32_t texels[16];

	(void)state;
	pumice_canvas_desc_init(&desc, 4, 4);
	assert_int_equal(pumice_canvas_create(vm, &desc, &canvas), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_non_null(pumice_canvas_begin(canvas));
		assert_int_equal(pumice_canvas_end(canvas, colours[i], PUMICE_FOREVER), 0);
		assert_int_equal(pumice_image_download(pumice_canvas_image(canvas),
						       (struct pumice_image_part){ 0 }, texels, 0),
				 0);
		for (uint32_t n = 0; n < 16; n++)
			assert_int_equal(texels[n], expected[i]);
	}
	pumice_canvas_destroy(canvas);
}

/* A triangle of one colour, and how it is drawn to a canvas. */
struct triangle {
	struct pumice_kernel *vertex, *fragment;
	struct pumice_buffer corners;
	struct pumice_input input;
	struct pumice_stage_desc stages[2];
	struct pumice_draw_state state;
};

/* size: of the canvas. It must not move before triangle_destroy(). */
static void triangle_create(struct triangle *t, const float corners[3][4], uint32_t size)
{
	t->vertex = kernel("uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n");
	t->fragment = kernel("mov o0, [one], 1.0\nend\n");
	assert_int_equal(pumice_buffer_create(vm, 3 * sizeof(corners[0]), &t->corners), 0);
	memcpy(t->corners.cpu, corners, 3 * sizeof(corners[0]));
	t->input = pumice_input_attribute(0, 4, t->corners.va, 16, 3);
	pumice_stage_desc_init(&t->stages[0], t->vertex);
	t->stages[0].inputs = &t->input;
	t->stages[0].input_count = 1;
	pumice_stage_desc_init(&t->stages[1], t->fragment);
	pumice_draw_state_init(&t->state, size, size);
}

static void triangle_destroy(struct triangle *t)
{
	pumice_buffer_destroy(&t->corners);
	pumice_kernel_destroy(t->vertex);
	pumice_kernel_destroy(t->fragment);
}

/* A triangle through the middle of pixels: some samples of a pixel are covered, others not. */
static void a_canvas_averages_its_samples(void **state)
{
	static const float corners[3][4] = { { -1, -1, 0, 1 }, { 1, -1, 0, 1 }, { -1, 1, 0, 1 } };
	static const float black[4] = { 0, 0, 0, 0 };
	struct pumice_canvas_desc desc;
	struct pumice_vdm_draw draw;
	struct pumice_canvas *canvas;
	struct pumice_stream *list;
	struct triangle triangle;
	uint32_t texels[64], partial = 0;

	(void)state;
	triangle_create(&triangle, corners, 8);
	pumice_vdm_draw_defaults(&draw);
	draw.count = 3;
	pumice_canvas_desc_init(&desc, 8, 8);
	desc.format = PUMICE_FORMAT_RGBA8_UNORM;
	desc.samples = 4;
	assert_int_equal(pumice_canvas_create(vm, &desc, &canvas), 0);
	list = pumice_canvas_begin(canvas);
	assert_int_equal(pumice_stream_stages(list, &triangle.state, &triangle.stages[0],
					      &triangle.stages[1]), 0);
	assert_int_equal(pumice_stream_draw(list, &draw), 0);
	assert_int_equal(pumice_canvas_end(canvas, black, PUMICE_FOREVER), 0);
	assert_int_equal(pumice_image_download(pumice_canvas_image(canvas),
					       (struct pumice_image_part){ 0 }, texels, 0), 0);
	/* Everything left of and below the diagonal, nothing to the right of it. */
	assert_int_equal(texels[7 * 8], 255);
	assert_int_equal(texels[7], 0);
	for (uint32_t i = 0; i < 64; i++)
		partial += texels[i] > 0 && texels[i] < 255;
	assert_int_equal(partial, 8);
	pumice_canvas_destroy(canvas);
	triangle_destroy(&triangle);
}

static void mipmaps_are_averages(void **state)
{
	struct pumice_image_desc desc;
	struct pumice_image *image;
	struct pumice_image_part part = { 7, 7 };
	uint8_t texels[4] = { 10, 20, 30, 40 }, average = 0;

	(void)state;
	pumice_image_desc_init(&desc, PUMICE_FORMAT_R8_UNORM, 2, 2);
	desc.levels = 2;
	assert_int_equal(pumice_image_create(vm, &desc, &image), 0);
	pumice_image_part_init(&part);
	assert_int_equal(pumice_image_upload(image, part, texels, 0), 0);
	assert_int_equal(pumice_image_mipmaps(vm, image), 0);
	part.level = 1;
	assert_int_equal(pumice_image_download(image, part, &average, 0), 0);
	assert_int_equal(average, 25);
	pumice_image_destroy(image);
}

static void buffers_are_coherent_and_not_leaked(void **state)
{
	static const struct pumice_buffer zero;
	DIRTY(pumice_buffer, buffer);
	uint32_t word = 1;

	(void)state;
	assert_refused(pumice_buffer_create(vm, 0, &buffer), "");
	assert_int_equal(pumice_buffer_create(vm, 5000, &buffer), 0);
	*(uint32_t *)buffer.cpu = 77;
	assert_int_equal(pumice_vm_peek(vm, buffer.va, &word, sizeof(word)), 0);
	assert_int_equal(word, 77);
	pumice_buffer_destroy(&buffer);
	ASSERT_SAME(buffer, zero);
	pumice_buffer_destroy(&buffer);
	pumice_buffer_destroy(NULL);
}

/*
 * Draw empty draws before and after a triangle over the whole canvas of one colour, and without it.
 * A draw without vertices is not an error: a program may have computed its count.
 */
static void a_draw_without_vertices_draws_nothing(void **state)
{
	static const float corners[3][4] = { { -1, -1, 0, 1 }, { 3, -1, 0, 1 }, { -1, 3, 0, 1 } };
	static const float black[4] = { 0, 0, 0, 0 };
	struct pumice_canvas_desc desc;
	struct pumice_vdm_draw_indexed no_indices;
	struct pumice_vdm_draw none, whole;
	struct pumice_canvas *canvas;
	struct pumice_stream *list;
	struct triangle triangle;
	uint32_t texels[16], i, n;

	(void)state;
	triangle_create(&triangle, corners, 4);
	pumice_vdm_draw_defaults(&none);
	pumice_vdm_draw_indexed_defaults(&no_indices);
	whole = none;
	whole.count = 3;
	pumice_canvas_desc_init(&desc, 4, 4);
	desc.format = PUMICE_FORMAT_RGBA8_UNORM;
	assert_int_equal(pumice_canvas_create(vm, &desc, &canvas), 0);
	for (i = 0; i < 2; i++) {
		list = pumice_canvas_begin(canvas);
		assert_int_equal(pumice_stream_stages(list, &triangle.state, &triangle.stages[0],
						      &triangle.stages[1]), 0);
		assert_int_equal(pumice_stream_draw(list, &none), 0);
		if (i)
			assert_int_equal(pumice_stream_draw(list, &whole), 0);
		assert_int_equal(pumice_stream_draw_indexed(list, &no_indices), 0);
		assert_int_equal(pumice_canvas_end(canvas, black, PUMICE_FOREVER), 0);
		assert_int_equal(pumice_image_download(pumice_canvas_image(canvas),
						       (struct pumice_image_part){ 0 }, texels, 0),
				 0);
		for (n = 0; n < 16; n++)
			assert_int_equal(texels[n] & 0xff, i ? 0xff : 0);
	}
	pumice_canvas_destroy(canvas);
	triangle_destroy(&triangle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_initialised_bind_maps_the_whole_buffer),
		cmocka_unit_test(jobs_and_syncs_have_the_given_values_and_zeros),
		cmocka_unit_test(a_dispatch_is_of_one_group_and_parts_of_a_grid_are_refused),
		cmocka_unit_test(a_grid_beyond_the_ids_is_refused),
		cmocka_unit_test(a_draw_without_instances_is_refused),
		cmocka_unit_test(an_indirect_draw_that_would_fault_is_refused),
		cmocka_unit_test(an_indexed_draw_without_a_buffer_is_refused),
		cmocka_unit_test(a_frame_can_be_drawn_with_values_of_initialisers),
		cmocka_unit_test(a_render_without_targets_has_none),
		cmocka_unit_test(a_mask_plane_has_a_bit_a_sample),
		cmocka_unit_test(records_of_a_draw_let_everything_pass),
		cmocka_unit_test(a_sampler_reads_nearest_texels_of_any_level),
		cmocka_unit_test(inputs_agree_with_their_names),
		cmocka_unit_test(sizes_of_a_frame_are_as_documented),
		cmocka_unit_test(the_rest_is_as_documented),
		cmocka_unit_test(assembler_errors_are_the_devices),
		cmocka_unit_test(failed_canvas_creation_leaks_nothing),
		cmocka_unit_test(a_canvas_draws_one_frame_after_the_other),
		cmocka_unit_test(a_canvas_averages_its_samples),
		cmocka_unit_test(a_draw_without_vertices_draws_nothing),
		cmocka_unit_test(mipmaps_are_averages),
		cmocka_unit_test(buffers_are_coherent_and_not_leaked),
	};

	return cmocka_run_group_tests(tests, open_device, close_device);
}
