// SPDX-License-Identifier: MIT
/*
 * State changes between draws are merged: the commands of streams, word by word, and pictures with
 * and without merging.
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
#include "pumice/pumice_tasks.h"
#include "pumice_regs.h"

#define SIZE		48u
#define STATE		PUMICE_VDM_STATE_CMD_WORDS
#define DRAW		PUMICE_VDM_DRAW_WORDS
#define VERTICES	30u	/* of one draw */

static struct pumice_device *dev;
static struct pumice_vm *vm;
static struct pumice_stream *stream;
static struct pumice_canvas *canvas;
static struct pumice_kernel *vertex, *fragment;
static struct pumice_draw_state state_a, state_b;
static const struct pumice_vdm_draw triangle = {
	.topology = PUMICE_TOPOLOGY_TRIANGLES, .count = 3, .instances = 1,
};

static struct pumice_kernel *kernel(const char *text)
{
	struct pumice_program *program;
	struct pumice_kernel *k;

	assert_int_equal(pumice_program_assemble("merge", text, &program, NULL, 0), 0);
	assert_int_equal(pumice_kernel_create(vm, program, &k), 0);
	pumice_program_destroy(program);
	return k;
}

static int set_up(void **state)
{
	struct pumice_canvas_desc desc;

	(void)state;
	pumice_canvas_desc_init(&desc, SIZE, SIZE);
	if (pumice_device_open("inproc:cores=2,threads=0,ram=64", &dev, NULL, 0) ||
	    pumice_vm_create(dev, &vm) || pumice_stream_create(vm, 65536, &stream) ||
	    pumice_canvas_create(vm, &desc, &canvas))
		return 1;
	vertex = kernel("uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n");
	fragment = kernel("mov o0, [one], sh0\nmov o1, [one], sh1\nmov o2, [one], sh2\n"
			  "mov o3, [one], 1.0\nend\n");
	pumice_draw_state_init(&state_a, SIZE, SIZE);
	state_b = state_a;
	state_b.vdm.cull_back = true;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pumice_kernel_destroy(fragment);
	pumice_kernel_destroy(vertex);
	pumice_canvas_destroy(canvas);
	pumice_stream_destroy(stream);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}

/* Bytes of commands; ends merging, so it is the last use of the stream. */
static uint64_t bytes_from(uint64_t start)
{
	return pumice_stream_va(stream) - start;
}

static uint64_t begin(void)
{
	pumice_stream_reset(stream);
	return pumice_stream_va(stream);
}

static uint64_t set(const struct pumice_draw_state *s)
{
	uint64_t va;

	assert_int_equal(pumice_stream_draw_state(stream, s, &va), 0);
	return va;
}

static void draw(void)
{
	assert_int_equal(pumice_stream_draw(stream, &triangle), 0);
}

static void a_state_that_is_set_is_not_added_again(void **state)
{
	uint64_t start = begin(), va;

	(void)state;
	va = set(&state_a);
	draw();
	assert_int_equal(set(&state_a), va);
	draw();
	assert_int_equal(pumice_stream_state(stream, va), 0);
	draw();
	assert_int_not_equal(set(&state_b), va);
	draw();
	assert_int_equal(set(&state_a), va);
	draw();
	assert_int_equal(bytes_from(start), 4 * (3 * STATE + 5 * DRAW));
}

static void states_without_a_draw_between_them_become_one(void **state)
{
	uint64_t start = begin(), a, b;
	struct pumice_vdm_state_cmd cmd;
	void *cpu;

	(void)state;
	assert_int_equal(pumice_stream_data(stream, 4, 4, &cpu, &a), 0);
	a = set(&state_a);
	b = set(&state_b);
	draw();
	/* Back to the state of the last draw: nothing is left of it. */
	set(&state_a);
	set(&state_b);
	draw();
	assert_int_not_equal(a, b);
	assert_int_equal(bytes_from(start), 4 * (STATE + 2 * DRAW));
	/* The stream's last data word is 4 bytes before its end, its commands are at the start. */
	assert_int_equal(pumice_vdm_state_cmd_unpack((u32 *)(void *)((uint8_t *)cpu - 65532), &cmd),
			 PUMICE_UNPACK_OK);
	assert_int_equal(cmd.addr, b);
}

/* A task without instances belongs to the state that is set. */
static void a_task_is_of_the_state_before_it(void **state)
{
	uint64_t start = begin();

	(void)state;
	set(&state_a);
	assert_int_equal(pumice_stream_vdm_task(stream), 0);
	set(&state_a);	/* is set already */
	draw();
	set(&state_b);
	assert_int_equal(pumice_stream_vdm_task(stream), 0);
	set(&state_a);
	draw();
	assert_int_equal(bytes_from(start), 4 * (3 * STATE + 2 * DRAW + 2 * PUMICE_VDM_TASK_WORDS));
}

/* The commands after these may be reached with another state than that of the stream's order. */
static void nothing_is_merged_across_other_commands(void **state)
{
	const struct pumice_vdm_return ret = { 0 };
	uint64_t start = begin(), sub;
	u32 words[PUMICE_VDM_RETURN_WORDS];

	(void)state;
	set(&state_a);
	draw();
	sub = pumice_stream_va(stream);
	set(&state_a);
	draw();
	assert_int_equal(pumice_stream_vdm_call(stream, sub), 0);
	set(&state_a);
	draw();
	assert_int_equal(pumice_stream_vdm_return(stream), 0);
	set(&state_a);
	draw();
	assert_int_equal(pumice_stream_vdm_link(stream, sub), 0);
	set(&state_a);
	draw();
	pumice_vdm_return_pack(words, &ret);
	assert_int_equal(pumice_stream_emit(stream, words, PUMICE_VDM_RETURN_WORDS), 0);
	set(&state_a);
	draw();
	assert_int_equal(bytes_from(start), 4 * (6 * STATE + 6 * DRAW + PUMICE_VDM_CALL_WORDS +
						 PUMICE_VDM_RETURN_WORDS * 2 +
						 PUMICE_VDM_LINK_WORDS));
}

static void a_reset_stream_has_no_state(void **state)
{
	uint64_t start = begin();

	(void)state;
	set(&state_a);
	draw();
	start = begin();
	set(&state_a);
	draw();
	assert_int_equal(bytes_from(start), 4 * (STATE + DRAW));
}

static void refused_states_change_nothing(void **state)
{
	uint64_t start = begin();

	(void)state;
	set(&state_a);
	draw();
	assert_int_equal(pumice_stream_state(stream, 8), -EINVAL);
	assert_int_equal(pumice_stream_state(stream, 1ull << 40), -EINVAL);
	set(&state_a);
	draw();
	assert_int_equal(bytes_from(start), 4 * (STATE + 2 * DRAW));
}

/*
 * Ten triangles in three colours, in two frames. @merge: if not, taking the address of the next
 * command before each state prevents it, and attributes are in PDS programs. Returns the bytes of
 * the commands.
 */
static uint64_t picture(bool merge, uint64_t vertices, uint8_t *rgba)
{
	static const float colour[3][3] = { { 1, 0.5f, 0 }, { 0, 0.25f, 1 }, { 0.5f, 1, 0.5f } };
	const struct pumice_image_part part = { 0 };
	struct pumice_vdm_draw d = triangle;
	struct pumice_stream *s = pumice_canvas_begin(canvas);
	const uint64_t start = pumice_stream_va(s);
	uint64_t bytes;
	uint32_t i;

	for (i = 0; i < VERTICES / 3; i++) {
		const struct pumice_input position =
			pumice_input_attribute(0, 4, vertices, 16, VERTICES);
		const struct pumice_input uniform = {
			.kind = PUMICE_INPUT_UNIFORMS, .words = (const uint32_t *)colour[i / 4],
			.count = 3,
		};
		const struct pumice_stage_desc v = { vertex, &position, 1 };
		const struct pumice_stage_desc f = { fragment, &uniform, 1 };

		if (merge) {
			assert_int_equal(pumice_stream_stages(s, &state_a, &v, &f), 0);
		} else {
			struct pumice_draw_state with = state_a;

			pumice_stream_va(s);
			assert_int_equal(pumice_stream_stage(s, &v, with.vdm.vertex), 0);
			assert_int_equal(pumice_stream_stage(s, &f, with.tsp.fragment), 0);
			assert_int_equal(pumice_stream_draw_state(s, &with, NULL), 0);
		}
		d.first = 3 * i;
		assert_int_equal(pumice_stream_draw(s, &d), 0);
	}
	bytes = pumice_stream_va(s) - start;
	assert_int_equal(pumice_canvas_end(canvas, NULL, PUMICE_FOREVER), 0);
	assert_int_equal(pumice_image_download(pumice_canvas_image(canvas), part, rgba, 0), 0);
	return bytes;
}

static void merged_states_draw_the_same_picture(void **state)
{
	static uint8_t merged[SIZE * SIZE * 4], all[SIZE * SIZE * 4];
	struct pumice_bo *bo;
	uint64_t va;
	uint32_t i;
	float *v;
	void *cpu;

	(void)state;
	assert_int_equal(pumice_bo_create(dev, 4096, vm, &bo), 0);
	assert_int_equal(pumice_bo_map(bo, &cpu), 0);
	assert_int_equal(pumice_vm_place(vm, bo, 0, &va), 0);
	for (i = 0, v = cpu; i < VERTICES; i++, v += 4) {
		v[0] = (float)((i * 37 + i / 3 * 11) % 41) / 20 - 1;
		v[1] = (float)((i * 23 + i / 3 * 7) % 43) / 21 - 1;
		v[2] = 0.5f;
		v[3] = 1;
	}
	assert_int_equal(picture(true, va, merged), 4 * (3 * STATE + 10 * DRAW));
	assert_int_equal(picture(false, va, all), 4 * (10 * STATE + 10 * DRAW));
	assert_memory_equal(merged, all, sizeof(all));
	for (i = 0; i < SIZE * SIZE && !all[4 * i]; i++)
		;
	assert_true(i < SIZE * SIZE);
	pumice_vm_remove(vm, va);
	pumice_bo_destroy(bo);
}

/* The words of the vdm_state that the last STATE of the stream names. */
static void last_state(const uint8_t *end, struct pumice_vdm_state *vdm)
{
	struct pumice_vdm_state_cmd cmd;
	uint64_t next = pumice_stream_va(stream);

	pumice_vdm_state_cmd_unpack((const u32 *)(const void *)end - STATE, &cmd);
	pumice_vdm_state_unpack((const u32 *)(const void *)(end + (int64_t)(cmd.addr - next)), vdm);
}

static void another_buffer_needs_no_other_pds_program(void **state)
{
	const uint64_t base = begin();
	struct pumice_input in[2] = { pumice_input_attribute(0, 4, base, 16, 5),
				      pumice_input_attribute(4, 2, base + 0x2000, 8, 5) };
	const struct pumice_stage_desc v = { vertex, in, 2 };
	struct pumice_draw_state own = state_a;
	struct pumice_vdm_attribute entry;
	struct pumice_vdm_state one, two;
	const uint8_t *start;
	uint64_t va;
	void *cpu;

	(void)state;
	assert_int_equal(pumice_stream_data(stream, 4, 4, &cpu, &va), 0);
	start = (const uint8_t *)cpu - 65532;
	assert_int_equal(pumice_stream_stages(stream, &state_a, &v, NULL), 0);
	last_state(start + 4 * STATE, &one);
	in[1].va = base + 0x3004;
	in[1].divisor = 2;
	assert_int_equal(pumice_stream_stages(stream, &state_a, &v, NULL), 0);
	last_state(start + 8 * STATE, &two);
	assert_memory_equal(one.vertex, two.vertex, sizeof(one.vertex));
	assert_int_equal(one.attribute_count, 2);
	assert_int_equal(two.attribute_count, 2);
	assert_true(one.attributes != two.attributes);
	va = two.attributes + 16 - pumice_stream_va(stream);
	pumice_vdm_attribute_unpack((const u32 *)(const void *)(start + 8 * STATE + va), &entry);
	assert_true(entry.addr == base + 0x3004);
	assert_int_equal(entry.divisor, 2);
	assert_int_equal(entry.elements, 5);
	assert_int_equal(entry.stride, 8);
	assert_int_equal(entry.comps, 2);
	assert_int_equal(entry.kind, PUMICE_ATTR_KIND_F32);
	/* A table that the state has, perhaps for its coordinate program, is kept. */
	own.vdm.attributes = 0x40000;
	own.vdm.attribute_count = 1;
	assert_int_equal(pumice_stream_stages(stream, &own, &v, NULL), 0);
	last_state(start + 12 * STATE, &one);
	assert_true(one.attributes == 0x40000);
	assert_int_equal(one.attribute_count, 1);
}

/* Room for data: a hundred equal states need that of one. */
static void equal_records_share_their_memory(void **state)
{
	struct pumice_stream *small;
	uint64_t va, other;
	uint32_t i;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 4096, &small), 0);
	assert_int_equal(pumice_stream_draw_state(small, &state_a, &va), 0);
	for (i = 0; i < 100; i++) {
		assert_int_equal(pumice_stream_draw_state(small, &state_b, &other), 0);
		assert_int_not_equal(other, va);
		assert_int_equal(pumice_stream_draw_state(small, &state_a, &other), 0);
		assert_int_equal(other, va);
	}
	pumice_stream_destroy(small);
}

/* The same words are in the stream already, at an address that uniforms of a state cannot have. */
static void uniforms_of_a_state_are_aligned(void **state)
{
	static const u32 words[] = { 7, 8, 9 };
	const uint64_t base = begin();
	const struct pumice_input position = pumice_input_attribute(0, 4, base, 16, VERTICES);
	const struct pumice_input uniform = {
		.kind = PUMICE_INPUT_UNIFORMS, .words = words, .count = 3,
	};
	const struct pumice_stage_desc v = { vertex, &position, 1 }, f = { fragment, &uniform, 1 };
	uint64_t va, pad;
	void *cpu;

	(void)state;
	/* The next address is a multiple of 64, but not of 256. */
	do
		assert_int_equal(pumice_stream_data(stream, 64, 64, &cpu, &pad), 0);
	while (pad % 256 != 64);
	if (pumice_stream_stages(stream, &state_a, &v, &f))
		fail_msg("%s", pumice_device_error(dev));
	assert_int_equal(pumice_stream_uniforms(stream, words, 3, &va), 0);
	assert_int_equal(va % 256, 0);
}

static void uniforms_out_of_range_are_refused(void **state)
{
	static u32 words[PUMICE_USC_MAX_UNIFORMS + 1] = { 7, 8 };
	struct pumice_draw_state s = state_a;
	uint64_t va, same, other;

	(void)state;
	begin();
	assert_int_equal(pumice_stream_uniforms(stream, words, 2, &va), 0);
	assert_int_equal(va % 256, 0);
	assert_int_equal(pumice_stream_uniforms(stream, words, 2, &same), 0);
	assert_int_equal(same, va);
	assert_int_equal(pumice_stream_uniforms(stream, words, 3, &other), 0);
	assert_int_not_equal(other, va);
	assert_int_equal(pumice_stream_uniforms(stream, NULL, 2, &va), -EINVAL);
	assert_int_equal(pumice_stream_uniforms(stream, words, 2, NULL), -EINVAL);
	assert_int_equal(pumice_stream_uniforms(stream, words, 0, &va), -EINVAL);
	assert_int_equal(pumice_stream_uniforms(stream, words, PUMICE_USC_MAX_UNIFORMS + 1, &va),
			 -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "count 16385 is not 1 to 16384"));
	s.vdm.uniforms = va + 128;
	assert_int_equal(pumice_stream_draw_state(stream, &s, NULL), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "vdm.uniforms"));
	s = state_a;
	s.tsp.uniforms = 1ull << 40;
	assert_int_equal(pumice_stream_draw_state(stream, &s, NULL), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "tsp.uniforms"));
	s = state_a;
	s.tsp.uniform_words = 16385;
	assert_int_equal(pumice_stream_draw_state(stream, &s, NULL), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "tsp.uniform_words 16385"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_that_is_set_is_not_added_again),
		cmocka_unit_test(states_without_a_draw_between_them_become_one),
		cmocka_unit_test(a_task_is_of_the_state_before_it),
		cmocka_unit_test(nothing_is_merged_across_other_commands),
		cmocka_unit_test(a_reset_stream_has_no_state),
		cmocka_unit_test(refused_states_change_nothing),
		cmocka_unit_test(merged_states_draw_the_same_picture),
		cmocka_unit_test(another_buffer_needs_no_other_pds_program),
		cmocka_unit_test(equal_records_share_their_memory),
		cmocka_unit_test(uniforms_of_a_state_are_aligned),
		cmocka_unit_test(uniforms_out_of_range_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
