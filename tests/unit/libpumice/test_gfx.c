// SPDX-License-Identifier: MIT
/*
 * The builders of graphics: images and their layouts, stages as PDS programs, the
 * records of draws and renders read back field by field, and refused arguments.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice_gfx.h"
#include "pumice_isa.h"

#define SMALL_BYTES	(256u << 10)

static struct pumice_device *dev;
static struct pumice_vm *vm;
static struct pumice_stream *stream;
static struct pumice_kernel *kernel;
static uint8_t *memory;		/* of the stream */
static uint64_t memory_va;

static int set_up(void **state)
{
	static const char text[] = "mov r3, [one], sh5\nuvsw vo0, v2\nend\n";
	struct pumice_program *program;
	uint64_t va;
	void *cpu;

	(void)state;
	if (pumice_device_open("inproc:cores=2,threads=0,ram=64", &dev, NULL, 0) ||
	    pumice_vm_create(dev, &vm) || pumice_stream_create(vm, 65536, &stream) ||
	    pumice_program_assemble("gfx", text, &program, NULL, 0) ||
	    pumice_kernel_create(vm, program, &kernel) ||
	    pumice_stream_data(stream, 4, 4, &cpu, &va))
		return 1;
	pumice_program_destroy(program);
	memory_va = pumice_stream_va(stream);
	memory = (uint8_t *)cpu - (va - memory_va);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pumice_kernel_destroy(kernel);
	pumice_stream_destroy(stream);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}

static const u32 *at(uint64_t va)
{
	return (const u32 *)(memory + (va - memory_va));
}

static struct pumice_image *image(uint32_t format, uint32_t layout, uint32_t width)
{
	const struct pumice_image_desc desc = {
		.format = format, .layout = layout, .dim = PUMICE_TEXTURE_DIM_2D,
		.width = width, .height = 24, .levels = 1,
	};
	struct pumice_image *out;

	assert_int_equal(pumice_image_create(vm, &desc, &out), 0);
	return out;
}

/* Every layer of every level keeps its contents, for any layout. */
static void images_keep_their_texels(void **state)
{
	struct pumice_image_desc desc = {
		.format = PUMICE_FORMAT_RG8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D_ARRAY,
		.width = 21, .height = 13, .depth = 3,
	};
	uint8_t in[21 * 13 * 2], out[21 * 13 * 2];
	struct pumice_image_part part;
	struct pumice_image *img;
	uint32_t i;

	(void)state;
	for (desc.layout = 0; desc.layout < 3; desc.layout++) {
		desc.levels = 0;
		assert_int_equal(pumice_image_create(vm, &desc, &img), 0);
		pumice_image_info(img, &desc);
		assert_int_equal(desc.levels, 5);
		for (part.level = 0; part.level < 5; part.level++) {
			for (part.layer = 0; part.layer < 3; part.layer++) {
				for (i = 0; i < sizeof(in); i++)
					in[i] = (uint8_t)(i * 7 + part.level * 50 + part.layer);
				assert_int_equal(pumice_image_upload(img, part, in, 0), 0);
			}
		}
		for (part.level = 0; part.level < 5; part.level++) {
			const uint32_t bytes = (21u >> part.level ? 21u >> part.level : 1) *
					       (13u >> part.level ? 13u >> part.level : 1) * 2;

			for (part.layer = 0; part.layer < 3; part.layer++) {
				assert_int_equal(pumice_image_download(img, part, out, 0), 0);
				for (i = 0; i < bytes; i++)
					assert_int_equal(out[i], (uint8_t)(i * 7 + part.level * 50 +
									   part.layer));
			}
		}
		pumice_image_destroy(img);
	}
}

/* Rows of the caller's texels may be longer than those of the image. */
static void rows_of_texels_may_have_padding(void **state)
{
	struct pumice_image *img = image(PUMICE_FORMAT_R8_UNORM, PUMICE_LAYOUT_TWIDDLED, 20);
	const struct pumice_image_part part = { 0 };
	uint8_t in[24][32], out[24][48];
	uint32_t x, y;

	(void)state;
	for (y = 0; y < 24; y++)
		for (x = 0; x < 32; x++)
			in[y][x] = (uint8_t)(y * 32 + x);
	memset(out, 0xee, sizeof(out));
	assert_int_equal(pumice_image_upload(img, part, in, 32), 0);
	assert_int_equal(pumice_image_download(img, part, out, 48), 0);
	for (y = 0; y < 24; y++)
		for (x = 0; x < 48; x++)
			assert_int_equal(out[y][x], x < 20 ? in[y][x] : 0xee);
	pumice_image_destroy(img);
}

static void impossible_images_are_refused(void **state)
{
	static const struct pumice_image_desc bad[] = {
		{ .format = 0, .dim = PUMICE_TEXTURE_DIM_2D, .width = 4, .height = 4 },
		{ .format = 200, .dim = PUMICE_TEXTURE_DIM_2D, .width = 4, .height = 4 },
		{ .format = 3, .dim = PUMICE_TEXTURE_DIM_2D, .width = 0, .height = 4 },
		{ .format = 3, .dim = PUMICE_TEXTURE_DIM_2D, .width = 8193, .height = 4 },
		{ .format = 3, .dim = PUMICE_TEXTURE_DIM_2D, .width = 4, .height = 4, .depth = 2 },
		{ .format = 3, .dim = PUMICE_TEXTURE_DIM_2D, .width = 4, .height = 4, .levels = 4 },
		{ .format = 3, .dim = PUMICE_TEXTURE_DIM_CUBE, .width = 4, .height = 4,
		  .depth = 5 },
		{ .format = 3, .dim = 9, .width = 4, .height = 4 },
		{ .format = 3, .dim = PUMICE_TEXTURE_DIM_2D, .layout = 3, .width = 4, .height = 4 },
		{ .format = 3, .dim = PUMICE_TEXTURE_DIM_2D, .width = 4, .height = 4, .levels = 1,
		  .stride = 15 },
	};
	struct pumice_image *img;
	uint8_t texels[64 * 24 * 4];
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(pumice_image_create(vm, &bad[i], &img), -EINVAL);
	img = image(PUMICE_FORMAT_RGBA8_UNORM, PUMICE_LAYOUT_TILED, 64);
	assert_int_equal(pumice_image_upload(img, (struct pumice_image_part){ 1, 0 }, texels, 0),
			 -EINVAL);
	assert_int_equal(pumice_image_upload(img, (struct pumice_image_part){ 0, 1 }, texels, 0),
			 -EINVAL);
	assert_int_equal(pumice_image_download(img, (struct pumice_image_part){ 0, 0 },
					       texels, 255),
			 -EINVAL);
	pumice_image_destroy(img);
}

static void a_stage_is_a_pds_program_with_its_resources(void **state)
{
	const u32 uniforms[3] = { 11, 22, 33 };
	const struct pumice_input in[] = {
		{ .kind = PUMICE_INPUT_UNIFORMS, .reg = 7, .words = uniforms, .count = 3 },
		{ .kind = PUMICE_INPUT_ATTRIBUTE, .reg = 9, .format = PUMICE_ATTR_KIND_SNORM16,
		  .count = 2, .va = 0x7000123450, .stride = 20, .elements = 77, .divisor = 3 },
		{ .kind = PUMICE_INPUT_PLANES, .reg = 6, .varying = 64, .count = 2 },
		{ .kind = PUMICE_INPUT_SOURCE, .reg = 30, .source = PUMICE_PDS_SOURCE_INSTANCE },
	};
	const struct pumice_stage_desc desc = { kernel, in, 4 };
	struct pumice_stage stage;
	struct pumice_pds_insn insn;
	const u32 *code;
	u32 words[4];

	(void)state;
	pumice_stream_reset(stream);
	assert_int_equal(pumice_stream_stage(stream, &desc, words), 0);
	pumice_stage_unpack(words, &stage);
	assert_int_equal(stage.pds_insns, 6);
	assert_int_equal(stage.shared, 10);
	assert_int_equal(stage.attrs, 31);
	assert_int_equal(stage.temps, 4);
	assert_int_equal(stage.coeffs, 12);
	code = at(stage.pds_addr);
	pumice_pds_unpack(code, &insn);
	assert_int_equal(insn.opcode, PUMICE_PDS_OP_DMA);
	assert_int_equal(insn.count, 3);
	assert_memory_equal(at(insn.addr), uniforms, sizeof(uniforms));
	pumice_pds_unpack(code + 4, &insn);
	assert_int_equal(insn.opcode, PUMICE_PDS_OP_ATTR);
	assert_int_equal(insn.kind, PUMICE_ATTR_KIND_SNORM16);
	assert_int_equal(insn.addr, 0x7000123450);
	assert_int_equal(insn.elements, 77);
	assert_int_equal(insn.divisor, 3);
	assert_int_equal(insn.stride, 20);
	pumice_pds_unpack(code + 16, &insn);
	assert_int_equal(insn.opcode, PUMICE_PDS_OP_TASK);
	assert_int_equal(insn.addr, pumice_kernel_code_va(kernel));
	assert_int_equal(insn.insns, 3);
}

static void inputs_out_of_range_are_refused(void **state)
{
	const u32 word = 0;
	const struct pumice_input bad[] = {
		{ .kind = 7 },
		{ .kind = PUMICE_INPUT_UNIFORMS, .words = &word },
		{ .kind = PUMICE_INPUT_UNIFORMS, .count = 1 },
		{ .kind = PUMICE_INPUT_UNIFORMS, .words = &word, .count = 1, .reg = 4096 },
		{ .kind = PUMICE_INPUT_UNIFORMS, .words = &word, .count = 4096, .reg = 1 },
		{ .kind = PUMICE_INPUT_TEXTURE },
		{ .kind = PUMICE_INPUT_PREFETCH },
		{ .kind = PUMICE_INPUT_ATTRIBUTE, .count = 5 },
		{ .kind = PUMICE_INPUT_ATTRIBUTE, .count = 1, .reg = 245 },
		{ .kind = PUMICE_INPUT_ATTRIBUTE, .count = 1, .format = 16 },
		{ .kind = PUMICE_INPUT_ATTRIBUTE, .count = 1, .stride = 65536 },
		{ .kind = PUMICE_INPUT_ATTRIBUTE, .count = 1, .divisor = 256 },
		{ .kind = PUMICE_INPUT_VARYING, .count = 0 },
		{ .kind = PUMICE_INPUT_VARYING, .count = 1, .varying = 66 },
		{ .kind = PUMICE_INPUT_VARYING, .count = 1, .mode = 4 },
		{ .kind = PUMICE_INPUT_PLANES, .count = 1, .reg = 1012 },
		{ .kind = PUMICE_INPUT_SOURCE, .reg = 248 },
	};
	struct pumice_stage_desc desc = { .kernel = kernel, .input_count = 1 };
	u32 words[4], i;

	(void)state;
	pumice_stream_reset(stream);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		desc.inputs = &bad[i];
		assert_int_equal(pumice_stream_stage(stream, &desc, words), -EINVAL);
	}
	desc.kernel = NULL;
	assert_int_equal(pumice_stream_stage(stream, &desc, words), -EINVAL);
}

static void an_attribute_without_a_gpu_address_is_refused(void **state)
{
	const struct {
		uint64_t va;
		const char *text;
	} cases[] = {
		{ 0, "stage: input 0: va 0 is not a GPU address" },
		{ 0xfff, "stage: input 0: va 0xfff is not a GPU address" },
		{ 0x7f0000001000, "stage: input 0: va 0x7f0000001000 is not a GPU address: pass "
				  "pumice_buffer.va, not .cpu" },
	};
	struct pumice_input input = { .kind = PUMICE_INPUT_ATTRIBUTE, .count = 1 };
	struct pumice_device_info info;
	struct pumice_stage_desc desc = { .kernel = kernel, .inputs = &input, .input_count = 1 };
	uint32_t words[4], i;

	(void)state;
	pumice_stream_reset(stream);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		input.va = cases[i].va;
		assert_int_equal(pumice_stream_stage(stream, &desc, words), -EINVAL);
		assert_non_null(strstr(pumice_device_error(dev), cases[i].text));
	}
	input.va = pumice_stream_va(stream);
	assert_int_equal(pumice_stream_stage(stream, &desc, words), 0);
	/* In the first heap of larger pages. */
	assert_int_equal(pumice_device_info(dev, &info), 0);
	input.va = info.va_end;
	assert_int_equal(pumice_stream_stage(stream, &desc, words), 0);
}

static void states_and_draws_are_joined_by_addresses(void **state)
{
	const struct pumice_vdm_draw draw = { .topology = PUMICE_TOPOLOGY_LINES, .count = 9,
					      .first = 2, .instances = 4 };
	struct pumice_draw_state records;
	struct pumice_vdm_state_cmd cmd;
	struct pumice_vdm_state vdm;
	struct pumice_isp_state isp;
	struct pumice_tsp_state tsp;
	struct pumice_vdm_draw read;
	uint64_t va, start;

	(void)state;
	pumice_stream_reset(stream);
	pumice_draw_state_init(&records, 320, 200);
	records.vdm.varyings = 5;
	records.isp.depth_func = PUMICE_COMPARE_GREATER;
	assert_int_equal(pumice_stream_draw_state(stream, &records, &va), 0);
	assert_int_equal(pumice_stream_draw(stream, &draw), 0);
	assert_int_equal(pumice_stream_state(stream, va), 0);
	assert_int_equal(pumice_stream_state(stream, va + 4), -EINVAL);
	assert_int_equal(pumice_stream_vdm_end(stream, &start), 0);
	assert_int_equal(start, memory_va);
	assert_int_equal(pumice_vdm_state_cmd_unpack(at(start), &cmd), PUMICE_UNPACK_OK);
	assert_int_equal(cmd.addr, va);
	pumice_vdm_state_unpack(at(va), &vdm);
	pumice_isp_state_unpack(at(vdm.isp_state), &isp);
	pumice_tsp_state_unpack(at(vdm.tsp_state), &tsp);
	assert_int_equal(vdm.varyings, 5);
	assert_int_equal(tsp.varyings, 5);
	assert_int_equal(isp.depth_func, PUMICE_COMPARE_GREATER);
	assert_int_equal(isp.scissor_x1, 320);
	assert_int_equal(isp.scissor_y1, 200);
	/* The y axis of clip space points up, of the screen down. */
	assert_true(vdm.scale_x == 160 && vdm.offset_x == 160);
	assert_true(vdm.scale_y == -100 && vdm.offset_y == 100);
	assert_true(vdm.scale_z == 1 && vdm.offset_z == 0);
	pumice_vdm_draw_unpack(at(start) + PUMICE_VDM_STATE_CMD_WORDS, &read);
	assert_int_equal(read.topology, PUMICE_TOPOLOGY_LINES);
	assert_int_equal(read.count, 9);
	assert_int_equal(read.first, 2);
	assert_int_equal(read.instances, 4);
}

static void a_points_coordinate_must_be_among_the_varyings(void **state)
{
	struct pumice_draw_state records;
	struct pumice_vdm_state vdm;
	struct pumice_tsp_state tsp;
	uint64_t va;

	(void)state;
	pumice_stream_reset(stream);
	pumice_draw_state_init(&records, 320, 200);
	records.vdm.varyings = 5;
	records.tsp.point_varying = 4;
	assert_int_equal(pumice_stream_draw_state(stream, &records, NULL), 0);
	records.tsp.point_coord = true;
	assert_int_equal(pumice_stream_draw_state(stream, &records, NULL), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "needs varyings 4 and 5"));
	records.tsp.point_varying = 3;
	records.tsp.point_origin = 2;
	assert_int_equal(pumice_stream_draw_state(stream, &records, NULL), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "point_origin 2"));
	records.tsp.point_origin = PUMICE_POINT_ORIGIN_LOWER_LEFT;
	assert_int_equal(pumice_stream_draw_state(stream, &records, &va), 0);
	pumice_vdm_state_unpack(at(va), &vdm);
	assert_int_equal(pumice_tsp_state_unpack(at(vdm.tsp_state), &tsp), PUMICE_UNPACK_OK);
	assert_true(tsp.point_coord);
	assert_int_equal(tsp.point_varying, 3);
	assert_int_equal(tsp.point_origin, PUMICE_POINT_ORIGIN_LOWER_LEFT);
	records.vdm.varyings = 0;
	records.tsp.point_varying = 0;
	assert_int_equal(pumice_stream_draw_state(stream, &records, NULL), -EINVAL);
}

static void render_records_contain_background_and_end_of_tile(void **state)
{
	struct pumice_image *img = image(PUMICE_FORMAT_RGBA8_UNORM, PUMICE_LAYOUT_TILED, 64);
	struct pumice_render_desc desc = { .pdm = { .outputs = 6 }, .target_count = 2 };
	struct pumice_pdm_render record;
	struct pumice_stage stage;
	struct pumice_pds_insn insn;
	struct pumice_pbe_state pbe;
	uint64_t va;

	(void)state;
	pumice_stream_reset(stream);
	desc.targets[0] = (struct pumice_target){ .image = img, .source = 2, .keep = 8 };
	desc.targets[1] = (struct pumice_target){ .image = img, .samples = 4 };
	assert_int_equal(pumice_stream_render(stream, &desc, &va), 0);
	assert_int_equal(va % 16, 0);
	pumice_pdm_render_unpack(at(va), &record);
	pumice_stage_unpack(record.background, &stage);
	assert_int_equal(stage.pds_insns, 3);
	pumice_stage_unpack(record.end_of_tile, &stage);
	assert_int_equal(stage.shared, 16);
	pumice_pds_unpack(at(stage.pds_addr), &insn);
	assert_int_equal(insn.count, 16);
	pumice_pbe_state_unpack(at(insn.addr), &pbe);
	assert_int_equal(pbe.addr, pumice_image_va(img));
	assert_int_equal(pbe.source, 2);
	assert_int_equal(pbe.write_mask, 7);
	assert_int_equal(pbe.width, 63);
	assert_int_equal(pbe.height, 23);
	pumice_pbe_state_unpack(at(insn.addr) + PUMICE_PBE_STATE_WORDS, &pbe);
	assert_int_equal(pbe.width, 15);
	assert_true(pbe.samples);

	desc.targets[0].source = 3;
	assert_int_equal(pumice_stream_render(stream, &desc, &va), -EINVAL);
	desc.targets[0].source = 0;
	desc.targets[0].part.level = 1;
	assert_int_equal(pumice_stream_render(stream, &desc, &va), -EINVAL);
	desc.targets[0].part.level = 0;
	desc.targets[1].samples = 3;
	assert_int_equal(pumice_stream_render(stream, &desc, &va), -EINVAL);
	desc.target_count = 9;
	assert_int_equal(pumice_stream_render(stream, &desc, &va), -EINVAL);
	desc.target_count = 0;
	desc.pdm.outputs = 33;
	assert_int_equal(pumice_stream_render(stream, &desc, &va), -EINVAL);
	pumice_image_destroy(img);
}

static void objects_with_bad_numbers_are_refused(void **state)
{
	static const struct pumice_freelist_desc bad_lists[] = {
		{ 0, 4, 1, 0 }, { 5, 4, 1, 0 }, { 4, 8, 0, 0 }, { 4, 4, 1, 100 },
	};
	const struct pumice_freelist_desc huge = { 1, 262145, 1, 0 }, good = { 4, 4, 0, 0 };
	const struct pumice_freelist_desc two = { 2, 4, 1, 0 };
	struct pumice_freelist *list;
	struct pumice_hwrt_desc set = { .width = 64, .height = 64, .samples = 1 };
	struct pumice_hwrt *hwrt;
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pumice_freelist_create(vm, &bad_lists[i], &list), -EINVAL);
	assert_int_equal(pumice_freelist_create(vm, &huge, &list), -E2BIG);
	for (i = 0; i < 4; i++)
		assert_int_equal(pumice_freelist_create_gpu_tables(vm, &bad_lists[i], &list),
				 -EINVAL);
	/* Two pages are page tables. */
	assert_int_equal(pumice_freelist_create_gpu_tables(vm, &two, &list), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "initial_pages 2 is less than 3"));
	assert_int_equal(pumice_freelist_create_gpu_tables(vm, &good, &list), 0);
	pumice_freelist_destroy(list);
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), -EINVAL);
	assert_int_equal(pumice_freelist_create(vm, &good, &list), 0);
	set.local = list;
	set.samples = 3;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), -EINVAL);
	set.samples = 8;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), -EINVAL);
	set.samples = 4;
	set.width = 8193;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), -EINVAL);
	set.width = 0;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), -EINVAL);
	set.width = 64;
	set.tile_size = 3;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), -EINVAL);
	set.tile_size = 1;
	set.spill_outputs = 33;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), -EINVAL);
	set.spill_outputs = 32;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), 0);
	pumice_hwrt_destroy(hwrt);
	pumice_freelist_destroy(list);
}

/* Allocate all memory of the device, except about the size of the smallest buffer. */
static void fill_memory(struct pumice_bo *bo[], uint32_t most, uint32_t *count)
{
	uint64_t bytes;

	for (*count = 0, bytes = 1u << 20; bytes >= SMALL_BYTES; bytes /= 4)
		while (*count < most && !pumice_bo_create(dev, bytes, NULL, &bo[*count]))
			++*count;
	assert_true(*count && *count < most);
	pumice_bo_destroy(bo[--*count]);
}

/* The second list has addresses for which the first one's page tables had a directory. */
static void alternating_lists_of_both_kinds_leak_no_memory(void **state)
{
	const struct pumice_freelist_desc desc = { 4, 4, 0, 0 };
	struct pumice_freelist *list;
	struct pumice_bo *bo[256];
	uint32_t count, i;

	(void)state;
	fill_memory(bo, 256, &count);
	for (i = 0; i < 2 * SMALL_BYTES / 4096; i++) {
		assert_int_equal(pumice_freelist_create(vm, &desc, &list), 0);
		pumice_freelist_destroy(list);
		assert_int_equal(pumice_freelist_create_gpu_tables(vm, &desc, &list), 0);
		pumice_freelist_destroy(list);
	}
	while (count)
		pumice_bo_destroy(bo[--count]);
}

static void jobs_of_a_frame_are_submitted_together(void **state)
{
	const struct pumice_freelist_desc pages = { 64, 64, 0, 0 };
	struct pumice_hwrt_desc set = { .width = 64, .height = 64, .samples = 1 };
	struct pumice_context *render, *compute;
	struct pumice_gfx_job jobs[2];
	struct pumice_freelist *list;
	struct pumice_hwrt *hwrt;
	uint32_t failed;

	(void)state;
	assert_int_equal(pumice_freelist_create(vm, &pages, &list), 0);
	set.local = list;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), 0);
	assert_int_equal(pumice_context_create_type(vm, PUMICE_CONTEXT_RENDER,
						    PUMICE_PRIORITY_NORMAL, &render), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &compute), 0);
	jobs[0] = (struct pumice_gfx_job){ .context = render, .type = PUMICE_JOB_GEOMETRY,
					   .hwrt = hwrt };
	jobs[1] = jobs[0];
	jobs[1].type = PUMICE_JOB_FRAGMENT;
	assert_int_equal(pumice_submit_gfx(dev, jobs, 1, &failed), -EINVAL);
	assert_int_equal(pumice_submit_gfx(dev, jobs + 1, 1, &failed), -EINVAL);
	jobs[1].hwrt_data = 1;
	assert_int_equal(pumice_submit_gfx(dev, jobs, 2, &failed), -EINVAL);
	jobs[1].hwrt_data = 0;
	jobs[1].stream = 8;
	assert_int_equal(pumice_submit_gfx(dev, jobs, 2, &failed), -EINVAL);
	assert_int_equal(failed, 1);
	jobs[1].stream = 0;
	jobs[0].hwrt = NULL;
	assert_int_equal(pumice_submit_gfx(dev, jobs, 2, &failed), -EINVAL);
	jobs[0].hwrt = hwrt;
	jobs[0].type = PUMICE_JOB_DEFAULT;
	assert_int_equal(pumice_submit_gfx(dev, jobs, 2, &failed), -EINVAL);
	jobs[0].context = compute;
	assert_int_equal(pumice_submit_gfx(dev, jobs, 1, &failed), -EINVAL);
	jobs[0].type = PUMICE_JOB_GEOMETRY;
	assert_int_equal(pumice_submit_gfx(dev, jobs, 1, &failed), -EINVAL);
	assert_int_equal(pumice_context_create_type(vm, 5, PUMICE_PRIORITY_NORMAL, &compute),
			 -EINVAL);
	pumice_context_destroy(compute);
	pumice_context_destroy(render);
	pumice_hwrt_destroy(hwrt);
	pumice_freelist_destroy(list);
}

/* End the stream of transfers, and run it. */
static void run_transfers(void)
{
	struct pumice_context *transfer;
	uint64_t va;

	assert_int_equal(pumice_context_create_type(vm, PUMICE_CONTEXT_TRANSFER,
						    PUMICE_PRIORITY_NORMAL, &transfer), 0);
	assert_int_equal(pumice_stream_tdm_end(stream, &va), 0);
	assert_int_equal(pumice_context_run(transfer, va, PUMICE_FOREVER, NULL), 0);
	pumice_context_destroy(transfer);
}

/* A texture through the PTLA: blit to another layout, then levels of averages. */
static void transfers_go_through_the_ptla(void **state)
{
	const struct pumice_tdm_blit blit = { .width = 64, .height = 24 };
	const struct pumice_tdm_clear clear = { .dst_x = 8, .dst_y = 4, .width = 5, .height = 6,
						.value = { { 1 }, { 0 }, { 1 }, { 0 } } };
	struct pumice_image *from = image(PUMICE_FORMAT_RGBA8_UNORM, PUMICE_LAYOUT_LINEAR, 64);
	struct pumice_image *to = image(PUMICE_FORMAT_BGRA8_UNORM, PUMICE_LAYOUT_TWIDDLED, 64);
	const struct pumice_image_part part = { 0 };
	uint8_t in[24][64][4], out[24][64][4];
	uint32_t x, y;
	uint64_t va;

	(void)state;
	for (y = 0; y < 24; y++)
		for (x = 0; x < 64; x++)
			for (va = 0; va < 4; va++)
				in[y][x][va] = (uint8_t)(x * 3 + y * 11 + va * 71);
	assert_int_equal(pumice_image_upload(from, part, in, 0), 0);
	pumice_stream_reset(stream);
	assert_int_equal(pumice_stream_blit(stream, from, to, &blit), 0);
	assert_int_equal(pumice_stream_clear(stream, to, &clear), 0);
	run_transfers();
	assert_int_equal(pumice_image_download(to, part, out, 0), 0);
	for (y = 0; y < 24; y++) {
		for (x = 0; x < 64; x++) {
			const bool inside = x >= 8 && x < 13 && y >= 4 && y < 10;
			const uint8_t set[4] = { 255, 0, 255, 0 };
			const uint8_t *want = inside ? set : in[y][x];
			const uint8_t bgra[4] = { want[2], want[1], want[0], want[3] };

			assert_memory_equal(out[y][x], bgra, 4);
		}
	}
	pumice_image_destroy(from);
	pumice_image_destroy(to);
}

/* Half the size, averaged, then twice that size, nearest and mirrored. */
static void images_are_scaled_by_the_ptla(void **state)
{
	const struct pumice_tdm_scale half = {
		.filter = PUMICE_TDM_FILTER_BOX, .src_width = 64, .src_height = 24,
		.dst_width = 32, .dst_height = 12,
	};
	const struct pumice_tdm_scale twice = {
		.filter = PUMICE_TDM_FILTER_NEAREST, .src_width = 32, .src_height = 12,
		.dst_width = 64, .dst_height = 24, .flip_x = true,
	};
	struct pumice_image *from = image(PUMICE_FORMAT_R8_UNORM, PUMICE_LAYOUT_LINEAR, 64);
	struct pumice_image *small = image(PUMICE_FORMAT_RG16_UNORM, PUMICE_LAYOUT_TILED, 64);
	struct pumice_image *to = image(PUMICE_FORMAT_R8_UNORM, PUMICE_LAYOUT_TWIDDLED, 64);
	const struct pumice_image_part part = { 0 };
	uint8_t in[24][64], out[24][64];
	uint32_t x, y;

	(void)state;
	/* The sum of each 2x2 is a multiple of 4. */
	for (y = 0; y < 24; y++)
		for (x = 0; x < 64; x++)
			in[y][x] =
				(uint8_t)((x / 2 * 5 + y / 2 * 3) + (x % 2 ? 3 : 0) +
					  (y % 2 ? 5 : 0));
	assert_int_equal(pumice_image_upload(from, part, in, 0), 0);
	pumice_stream_reset(stream);
	assert_int_equal(pumice_stream_scale(stream, from, small, &half), 0);
	assert_int_equal(pumice_stream_scale(stream, small, to, &twice), 0);
	run_transfers();
	assert_int_equal(pumice_image_download(to, part, out, 0), 0);
	for (y = 0; y < 24; y++)
		for (x = 0; x < 64; x++)
			assert_int_equal(out[y][x], (63 - x) / 2 * 5 + y / 2 * 3 + 4);
	pumice_image_destroy(from);
	pumice_image_destroy(small);
	pumice_image_destroy(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_keep_their_texels),
		cmocka_unit_test(rows_of_texels_may_have_padding),
		cmocka_unit_test(impossible_images_are_refused),
		cmocka_unit_test(a_stage_is_a_pds_program_with_its_resources),
		cmocka_unit_test(inputs_out_of_range_are_refused),
		cmocka_unit_test(an_attribute_without_a_gpu_address_is_refused),
		cmocka_unit_test(states_and_draws_are_joined_by_addresses),
		cmocka_unit_test(a_points_coordinate_must_be_among_the_varyings),
		cmocka_unit_test(render_records_contain_background_and_end_of_tile),
		cmocka_unit_test(objects_with_bad_numbers_are_refused),
		cmocka_unit_test(alternating_lists_of_both_kinds_leak_no_memory),
		cmocka_unit_test(jobs_of_a_frame_are_submitted_together),
		cmocka_unit_test(transfers_go_through_the_ptla),
		cmocka_unit_test(images_are_scaled_by_the_ptla),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
