// SPDX-License-Identifier: MIT
/*
 * Mode strict: words of a uniform stream that the CPU writes between two frames whose driver leaves
 * out the invalidation of the caches. A vertex program reads words in order, and stores the last
 * one.
 */
#include <stdio.h>

#include "inproc/inproc.h"
#include "scene.h"

#define LAST	21u	/* word that is read last: in the middle of the second window */
#define WORDS	24u	/* of the stream */
#define BEFORE	5u
#define AFTER	7u

static struct fixture fx;
static struct fx_buffer uniforms, result;
static struct pumice_kernel *vertex, *fragment;

static void open_fixture(void)
{
	char text[1024];
	int at = 0;
	uint32_t n;

	fx_open(&fx, "cores=1,uscs=1,threads=0,mode=strict", 64);
	fx_buffer(&fx, 4096, &uniforms);
	fx_buffer(&fx, 4096, &result);
	for (n = 0; n < WORDS; n++)
		((uint32_t *)uniforms.cpu)[n] = BEFORE;
	for (n = 0; n <= LAST; n++)
		at += sprintf(text + at, "mov r0, [one], uniform\n");
	strcpy(text + at, "mov r1, [one], 0\nglobal_store32 sig0, [one], sh0 + r1, r0\nend\n");
	vertex = fx_kernel(&fx, text);
	fragment = fx_kernel(&fx, "end\n");
}

static void close_fixture(void)
{
	pumice_kernel_destroy(vertex);
	pumice_kernel_destroy(fragment);
	fx_buffer_free(&fx, &uniforms);
	fx_buffer_free(&fx, &result);
	fx_close(&fx);
}

/* Put a draw of one point. */
static void put_draw(void)
{
	const uint32_t address[2] = { (uint32_t)result.va, (uint32_t)(result.va >> 32) };
	const struct pumice_input input = pumice_input_uniforms(0, address, 2);
	struct pumice_stage_desc stage = { .kernel = vertex, .inputs = &input, .input_count = 1 };
	struct pumice_draw_state state;
	struct pumice_vdm_draw draw;

	pumice_draw_state_init(&state, 64, 64);
	state.vdm.uniforms = uniforms.va;
	state.vdm.uniform_words = WORDS;
	fx_check(&fx, "vertex stage", pumice_stream_stage(fx.stream, &stage, state.vdm.vertex));
	stage = (struct pumice_stage_desc){ .kernel = fragment };
	fx_check(&fx, "fragments", pumice_stream_stage(fx.stream, &stage, state.tsp.fragment));
	fx_check(&fx, "state", pumice_stream_draw_state(fx.stream, &state, NULL));
	pumice_vdm_draw_defaults(&draw);
	draw.topology = PUMICE_TOPOLOGY_POINTS;
	draw.count = 1;
	fx_check(&fx, "draw", pumice_stream_draw(fx.stream, &draw));
}

/* Run a frame with the draw. Returns the word that it has stored. */
static uint32_t run(void)
{
	const struct pumice_render_desc render = { .pdm = { .outputs = 1, .clear_depth = 1 } };
	struct pumice_frame frame = { 0 };
	struct pumice_hwrt_desc target;

	pumice_hwrt_desc_init(&target, fx.list, 64, 64);
	put_draw();
	fx_check(&fx, "end", pumice_stream_vdm_end(fx.stream, &frame.geometry));
	fx_check(&fx, "target", pumice_hwrt_create(fx.vm, &target, &frame.hwrt));
	fx_check(&fx, "render", pumice_stream_render(fx.stream, &render, &frame.render));
	fx_check(&fx, "run", pumice_render(fx.context, &frame, LONG, NULL));
	pumice_hwrt_destroy(frame.hwrt);
	return *(uint32_t *)result.cpu;
}

/* Run two frames; the CPU writes a word after the first one. Returns the result of the second. */
static uint32_t run_stale(uint32_t word)
{
	uint32_t value;

	assert_int_equal(run(), BEFORE);
	((uint32_t *)uniforms.cpu)[word] = AFTER;
	inproc_device(fx.dev)->omitted = INPROC_OMIT_START;
	value = run();
	inproc_device(fx.dev)->omitted = 0;
	return value;
}

static void stale_words_that_programs_read_are_found(void **state)
{
	char finding[4096], place[128];

	(void)state;
	open_fixture();
	assert_int_equal(run_stale(LAST), BEFORE);
	snprintf(place, sizeof(place), "\"unit\":\"usc-data\",\"access\":\"read\",\"va\":\"%#llx\",",
		 (unsigned long long)uniforms.va + 4 * LAST);
	fx_check(&fx, "finding", pumice_finding_get(fx.dev, 0, finding, sizeof(finding)));
	assert_non_null(strstr(finding, "\"finding\":\"stale-read\""));
	assert_non_null(strstr(finding, place));
	assert_int_not_equal(pumice_finding_get(fx.dev, 1, finding, sizeof(finding)), 0);
	assert_int_equal(run(), AFTER);
	close_fixture();
}

/* It is in the window that the device requests. */
static void word_after_those_that_programs_read_may_be_stale(void **state)
{
	char finding[4096];

	(void)state;
	open_fixture();
	assert_int_equal(run_stale(LAST + 1), BEFORE);
	assert_int_not_equal(pumice_finding_get(fx.dev, 0, finding, sizeof(finding)), 0);
	close_fixture();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stale_words_that_programs_read_are_found),
		cmocka_unit_test(word_after_those_that_programs_read_may_be_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
