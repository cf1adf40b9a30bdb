// SPDX-License-Identifier: MIT
/*
 * Render control lists: the list of a data set read back command by command, custom lists
 * that render some tiles, in another order, or store some to another image; refused arguments.
 *
 * Frames without draws: a tile that is rendered has the clear colour, another one what it had.
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

#define LONG	(60 * 1000000000ull)
#define WIDTH	1040u	/* 65 tiles of 16 pixels: not a multiple of 4 macro tiles */
#define HEIGHT	200u	/* 13, the last one in part */
#define TILE	16u
#define TILES_X	65u
#define TILES_Y	13u
#define TILES	(TILES_X * TILES_Y)
#define CLEARED	0x40302010u
#define BEFORE	0xeeeeeeeeu

static const char *device = "inproc:cores=3,threads=0,ram=64";
static struct pumice_device *dev;
static struct pumice_vm *vm;
static struct pumice_context *context;
static struct pumice_stream *stream, *list;
static struct pumice_freelist *pages;
static struct pumice_hwrt *hwrt;
static struct pumice_image *image, *other;
static uint64_t geometry, record;
static uint32_t texels[HEIGHT][WIDTH];

static void make_image(struct pumice_image **out)
{
	struct pumice_image_desc desc;

	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT);
	assert_int_equal(pumice_image_create(vm, &desc, out), 0);
}

static void forget(struct pumice_image *img)
{
	memset(texels, 0xee, sizeof(texels));
	assert_int_equal(pumice_image_upload(img, (struct pumice_image_part){ 0 }, texels, 0), 0);
}

static void init_render(struct pumice_render_desc *render, struct pumice_image *to)
{
	uint32_t i;

	pumice_render_desc_init(render, to);
	for (i = 0; i < 4; i++)
		render->clear[i].f = (float)(16 * (i + 1)) / 255;
}

static int set_up(void **state)
{
	struct pumice_freelist_desc few;
	struct pumice_render_desc render;
	struct pumice_hwrt_desc set;

	(void)state;
	if (pumice_device_open(device, &dev, NULL, 0) ||
	    pumice_vm_create(dev, &vm) || pumice_stream_create(vm, 65536, &stream) ||
	    pumice_stream_create(vm, 65536, &list) ||
	    pumice_context_create_type(vm, PUMICE_CONTEXT_RENDER, PUMICE_PRIORITY_NORMAL,
				       &context))
		return 1;
	pumice_freelist_desc_init(&few);
	few.initial_pages = few.max_pages = 64;
	few.grow_pages = 0;
	assert_int_equal(pumice_freelist_create(vm, &few, &pages), 0);
	pumice_hwrt_desc_init(&set, pages, WIDTH, HEIGHT);
	set.tile_size = PUMICE_TILE_SIZE_16X16;
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), 0);
	make_image(&image);
	make_image(&other);
	init_render(&render, image);
	assert_int_equal(pumice_stream_vdm_end(stream, &geometry), 0);
	assert_int_equal(pumice_stream_render(stream, &render, &record), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pumice_image_destroy(other);
	pumice_image_destroy(image);
	pumice_hwrt_destroy(hwrt);
	pumice_freelist_destroy(pages);
	pumice_context_destroy(context);
	pumice_stream_destroy(list);
	pumice_stream_destroy(stream);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}

/* Render; return the commands that the PDM executed. */
static uint64_t run(uint64_t render)
{
	struct pumice_perfmon *perfmon;
	struct pumice_frame frame;
	uint32_t counter;
	uint64_t commands;

	assert_int_equal(pumice_perf_counter_find(dev, "PDM_COMMANDS", &counter), 0);
	assert_int_equal(pumice_perfmon_create(dev, &counter, 1, &perfmon), 0);
	pumice_frame_init(&frame, hwrt);
	frame.geometry = geometry;
	frame.render = render;
	frame.perfmon = pumice_perfmon_id(perfmon);
	assert_int_equal(pumice_render(context, &frame, LONG, NULL), 0);
	assert_int_equal(pumice_perfmon_read(perfmon, 0, &commands), 0);
	pumice_perfmon_destroy(perfmon);
	return commands;
}

static void read_back(struct pumice_image *img)
{
	assert_int_equal(pumice_image_download(img, (struct pumice_image_part){ 0 }, texels, 0),
			 0);
}

/* All pixels of a tile, as far as they are in the image. */
static void expect_tile(uint32_t tile, uint32_t value)
{
	const uint32_t x0 = tile % TILES_X * TILE, y0 = tile / TILES_X * TILE;
	uint32_t x, y;

	for (y = y0; y < y0 + TILE && y < HEIGHT; y++)
		for (x = x0; x < x0 + TILE; x++)
			assert_int_equal(texels[y][x], value);
}

static uint32_t peek(uint64_t va)
{
	uint32_t word;

	assert_int_equal(pumice_vm_peek(vm, va, &word, 4), 0);
	return word;
}

static void the_list_of_a_data_set_names_every_tile(void **state)
{
	bool seen[TILES] = { false };
	uint32_t words[3], n, last = 0;
	struct pumice_pdm_mode mode;
	struct pumice_pdm_link link;
	uint64_t va, again, at;

	(void)state;
	assert_int_equal(pumice_stream_render_list(stream, hwrt, record, &va), 0);
	assert_int_equal(va % 16, 0);
	for (n = 0; n < 3; n++)
		words[n] = peek(va + 4 * n);
	assert_int_equal(pumice_pdm_mode_unpack(words, &mode), PUMICE_UNPACK_OK);
	assert_int_equal(mode.addr, record);
	for (n = 0; n < 3; n++)
		words[n] = peek(va + 12 + 4 * n);
	assert_int_equal(pumice_pdm_link_unpack(words, &link), PUMICE_UNPACK_OK);
	for (n = 0, at = link.addr; n < TILES; n++, at += 12) {
		const uint32_t tile = peek(at), branch = peek(at + 4), store = peek(at + 8);
		struct pumice_pdm_branch b;
		struct pumice_pdm_store s;
		struct pumice_pdm_tile t;
		uint32_t macro;

		assert_int_equal(pumice_pdm_tile_unpack(&tile, &t), PUMICE_UNPACK_OK);
		assert_int_equal(pumice_pdm_branch_unpack(&branch, &b), PUMICE_UNPACK_OK);
		assert_int_equal(pumice_pdm_store_unpack(&store, &s), PUMICE_UNPACK_OK);
		assert_true(t.x < TILES_X && t.y < TILES_Y);
		assert_false(seen[t.y * TILES_X + t.x]);
		seen[t.y * TILES_X + t.x] = true;
		assert_int_equal(s.end, n + 1 == TILES);
		/* Macro tiles are of 17 x 4 tiles; their pages are freed one after the other. */
		macro = t.y / 4 * 4 + t.x / 17;
		assert_true(macro >= last);
		last = macro;
	}
	/* Frames share it. */
	assert_int_equal(pumice_stream_render_list(stream, hwrt, record, &again), 0);
	assert_int_equal(peek(again + 16), peek(va + 16));
	assert_int_not_equal(again, va);
}

static void a_list_renders_as_its_record_does(void **state)
{
	uint64_t va;
	uint32_t i, n;

	(void)state;
	assert_int_equal(pumice_stream_render_list(stream, hwrt, record, &va), 0);
	for (i = 0; i < 2; i++) {
		forget(image);
		/* MODE and LINK; or the END of the generated list. */
		assert_int_equal(run(i ? record : va), 3 * TILES + (i ? 1 : 2));
		read_back(image);
		for (n = 0; n < TILES; n++)
			expect_tile(n, CLEARED);
	}
}

static void a_list_renders_some_tiles_only(void **state)
{
	uint64_t va;
	uint32_t n;

	(void)state;
	pumice_stream_reset(list);
	assert_int_equal(pumice_stream_pdm_mode(list, record), 0);
	for (n = 0; n < TILES; n += 3) {
		assert_int_equal(pumice_stream_pdm_tile(list, n % TILES_X, n / TILES_X), 0);
		assert_int_equal(pumice_stream_pdm_branch(list), 0);
		assert_int_equal(pumice_stream_pdm_store(list, false), 0);
	}
	assert_int_equal(pumice_stream_pdm_end(list, &va), 0);
	forget(image);
	run(va);
	read_back(image);
	for (n = 0; n < TILES; n++)
		expect_tile(n, n % 3 ? BEFORE : CLEARED);
}

/* From the last tile to the first, through sub-lists and links. */
static void a_list_renders_in_any_order(void **state)
{
	uint64_t va, sub;
	uint32_t n;

	(void)state;
	pumice_stream_reset(list);
	sub = pumice_stream_va(list);
	assert_int_equal(pumice_stream_pdm_branch(list), 0);
	assert_int_equal(pumice_stream_pdm_return(list), 0);
	while (pumice_stream_va(list) % 16)
		assert_int_equal(pumice_stream_pdm_return(list), 0);
	va = pumice_stream_va(list);
	assert_int_equal(pumice_stream_pdm_mode(list, record), 0);
	for (n = TILES; n--;) {
		assert_int_equal(pumice_stream_pdm_tile(list, n % TILES_X, n / TILES_X), 0);
		assert_int_equal(pumice_stream_pdm_call(list, sub), 0);
		assert_int_equal(pumice_stream_pdm_link(list, pumice_stream_va(list) + 12), 0);
		assert_int_equal(pumice_stream_pdm_store(list, !n), 0);
	}
	forget(image);
	assert_int_equal(run(va), 1 + 6 * TILES);
	read_back(image);
	for (n = 0; n < TILES; n++)
		expect_tile(n, CLEARED);
}

/* The end-of-tile program of another record stores every fourth tile; every fifth is dropped. */
static void tiles_are_stored_to_another_image(void **state)
{
	struct pumice_render_desc render;
	struct pumice_pdm_render words;
	uint32_t raw[PUMICE_PDM_RENDER_WORDS], n, i;
	uint64_t va, second;

	(void)state;
	init_render(&render, other);
	assert_int_equal(pumice_stream_render(stream, &render, &second), 0);
	for (n = 0; n < PUMICE_PDM_RENDER_WORDS; n++)
		raw[n] = peek(second + 4 * n);
	assert_int_equal(pumice_pdm_render_unpack(raw, &words), PUMICE_UNPACK_OK);
	pumice_stream_reset(list);
	assert_int_equal(pumice_stream_pdm_mode(list, record), 0);
	for (n = 0; n < TILES; n++) {
		assert_int_equal(pumice_stream_pdm_tile(list, n % TILES_X, n / TILES_X), 0);
		if (n % 4 && n % 5)
			assert_int_equal(pumice_stream_pdm_store(list, false), 0);
		else
			assert_int_equal(pumice_stream_pdm_store_program(
				list, n % 5 ? words.end_of_tile : NULL, false), 0);
	}
	assert_int_equal(pumice_stream_pdm_end(list, &va), 0);
	forget(image);
	forget(other);
	run(va);
	for (i = 0; i < 2; i++) {
		read_back(i ? other : image);
		for (n = 0; n < TILES; n++)
			expect_tile(n, n % 5 && i == !(n % 4) ? CLEARED : BEFORE);
	}
}

static void arguments_out_of_range_are_refused(void **state)
{
	struct pumice_stream *small;
	struct pumice_vm *elsewhere;
	struct pumice_stream *foreign;
	uint64_t va;

	(void)state;
	assert_int_equal(pumice_stream_render_list(stream, hwrt, record + 8, &va), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "multiple of 16"));
	assert_int_equal(pumice_vm_create(dev, &elsewhere), 0);
	assert_int_equal(pumice_stream_create(elsewhere, 4096, &foreign), 0);
	assert_int_equal(pumice_stream_render_list(foreign, hwrt, record, &va), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "another vm"));
	pumice_stream_destroy(foreign);
	pumice_vm_destroy(elsewhere);
	pumice_stream_reset(list);
	assert_int_equal(pumice_stream_pdm_mode(list, record + 4), -EINVAL);
	assert_int_equal(pumice_stream_pdm_mode(list, 1ull << 40), -EINVAL);
	assert_int_equal(pumice_stream_pdm_tile(list, 512, 0), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "column 512"));
	assert_int_equal(pumice_stream_pdm_tile(list, 0, 512), -EINVAL);
	assert_int_equal(pumice_stream_pdm_call(list, 2), -EINVAL);
	assert_int_equal(pumice_stream_pdm_link(list, 1ull << 40), -EINVAL);
	assert_int_equal(pumice_stream_pdm_branch(list), 0);
	assert_int_equal(pumice_stream_pdm_mode(list, record), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "begin with it"));
	assert_int_equal(pumice_stream_create(vm, 4096, &small), 0);
	while (!pumice_stream_pdm_return(small))
		;
	assert_int_equal(pumice_stream_pdm_tile(small, 0, 0), -ENOSPC);
	assert_int_equal(pumice_stream_pdm_branch(small), -ENOSPC);
	assert_int_equal(pumice_stream_pdm_store(small, true), -ENOSPC);
	assert_int_equal(pumice_stream_pdm_store_program(small, NULL, true), -ENOSPC);
	assert_int_equal(pumice_stream_pdm_call(small, 0), -ENOSPC);
	assert_int_equal(pumice_stream_pdm_link(small, 0), -ENOSPC);
	assert_int_equal(pumice_stream_pdm_end(small, &va), -ENOSPC);
	assert_int_equal(pumice_stream_render_list(small, hwrt, record, &va), -ENOSPC);
	pumice_stream_destroy(small);
}

/* Render the list, whose fault has this name and an advice with this word. */
static void assert_list_fails(const char *fault, const char *word)
{
	struct pumice_frame frame;

	pumice_frame_init(&frame, hwrt);
	frame.geometry = geometry;
	assert_int_equal(pumice_stream_pdm_end(list, &frame.render), 0);
	assert_int_not_equal(pumice_render(context, &frame, LONG, NULL), 0);
	if (!strstr(pumice_device_error(dev), fault) || !strstr(pumice_device_error(dev), word))
		fail_msg("%s and '%s' are not in: %s", fault, word, pumice_device_error(dev));
	pumice_stream_reset(list);
	assert_int_equal(pumice_stream_pdm_mode(list, record), 0);
}

/* The next frame is rendered. */
static void a_wrong_list_is_described(void **state)
{
	pumice_stream_reset(list);
	assert_int_equal(pumice_stream_pdm_mode(list, record), 0);
	assert_int_equal(pumice_stream_pdm_tile(list, TILES_X, 0), 0);
	assert_list_fails("pdm-tile", "tile_size");
	assert_int_equal(pumice_stream_pdm_return(list), 0);
	assert_list_fails("pdm-return", "Submit the list that calls the sub-list");
	assert_int_equal(pumice_stream_pdm_tile(list, 0, 0), 0);
	assert_int_equal(pumice_stream_pdm_store(list, false), 0);
	assert_int_equal(pumice_stream_pdm_tile(list, 0, 0), 0);
	assert_list_fails("pdm-tile-twice", "pumice_stream_pdm_tile() once for each tile");
	a_list_renders_as_its_record_does(state);
}

/* Render the tile of a list of the user's in a buffer of some bytes, in mode strict. */
static void run_in_buffer(uint32_t bytes)
{
	struct pumice_buffer buffer;
	uint32_t *at;

	assert_int_equal(pumice_buffer_create(vm, bytes, &buffer), 0);
	assert_int_equal(pumice_bo_set_label(buffer.bo, "list"), 0);
	at = buffer.cpu;
	pumice_pdm_mode_pack(at, &(struct pumice_pdm_mode){ .addr = record });
	at += PUMICE_PDM_MODE_WORDS;
	pumice_pdm_tile_pack(at, &(struct pumice_pdm_tile){ .x = 1, .y = 2 });
	at += PUMICE_PDM_TILE_WORDS;
	pumice_pdm_branch_pack(at, &(struct pumice_pdm_branch){ 0 });
	at += PUMICE_PDM_BRANCH_WORDS;
	pumice_pdm_store_pack(at, &(struct pumice_pdm_store){ .end = true });
	assert_ptr_equal(at + PUMICE_PDM_STORE_WORDS, (uint32_t *)buffer.cpu + 6);
	run(buffer.va);
	pumice_buffer_destroy(&buffer);
}

static void mode_strict_compares_the_commands_of_a_list_with_its_buffer(void **state)
{
	char text[4096];

	tear_down(state);
	device = "inproc:cores=3,threads=0,ram=64,mode=strict";
	assert_int_equal(set_up(state), 0);
	/* The PDM fetches more words than the list has. */
	run_in_buffer(24);
	assert_int_equal(pumice_finding_get(dev, 0, text, sizeof(text)), -ENOENT);
	run_in_buffer(20);
	assert_int_equal(pumice_finding_get(dev, 0, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "{\"finding\":\"past-end\",\"unit\":\"pdm\","));
	assert_non_null(strstr(text, ",\"label\":\"list\","));
	assert_non_null(strstr(text, ",\"master\":\"pdm\","));
	/* Another buffer has another finding of the unit. */
	run_in_buffer(20);
	assert_int_equal(pumice_finding_get(dev, 1, text, sizeof(text)), -ENOENT);
	run_in_buffer(16);
	assert_int_equal(pumice_finding_get(dev, 1, text, sizeof(text)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_of_a_data_set_names_every_tile),
		cmocka_unit_test(a_list_renders_as_its_record_does),
		cmocka_unit_test(a_list_renders_some_tiles_only),
		cmocka_unit_test(a_list_renders_in_any_order),
		cmocka_unit_test(tiles_are_stored_to_another_image),
		cmocka_unit_test(arguments_out_of_range_are_refused),
		cmocka_unit_test(a_wrong_list_is_described),
		cmocka_unit_test(mode_strict_compares_the_commands_of_a_list_with_its_buffer),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
