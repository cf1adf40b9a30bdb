// SPDX-License-Identifier: MIT
/*
 * Tasks without instances in a vertex stream: a draw that depends on one reads what vertex programs
 * of the draws before it have stored; a draw that does not is shaded meanwhile on other cores.
 */
#include "pumice/pumice_tasks.h"
#include "scene.h"

#define POINTS	256u
#define TURNS	20000u
#define FLAG	7u

/* Areas of the buffer, words. */
#define HELD	1024u
#define COPY	2048u
#define WORDS	4096u

/* Uniforms: address of the flag, out, turns. */
static const char hold[] =
	"	mov.u32		r1, 0\n"
	"	mov.u32		r3, sh4\n"
	"wait:\n"
	"	global_atomic.u32 or, sig0, r0, [one], sh0 + r1, r1\n"
	"	sig_wait	r2[0], sig0\n"
	"	eq.u32		r4, r0, 0\n"
	"	br_any		wait, [r4]\n"
	"delay:\n"
	"	sub.u32		r3, r3, 1\n"
	"	gt.i32		r4, r3, 0\n"
	"	br_any		delay, [r4]\n"
	"	shl.u32		r1, v0, 2\n"
	"	global_store32	sig0, [one], sh2 + r1, r0\n"
	"	end\n";

/* Uniforms: address of the flag, its value. */
static const char set[] =
	"	mov.u32		r1, 0\n"
	"	mov.u32		r0, sh2\n"
	"	global_atomic.u32 xchg, sig0, r5, [one], sh0 + r1, r0\n"
	"	end\n";

/* Uniforms: in, out. */
static const char copy[] =
	"	shl.u32		r1, v0, 2\n"
	"	global_load32	sig0, r0, [one], sh0 + r1\n"
	"	sig_wait	r2[0], sig0\n"
	"	add.u32		r0, r0, 100\n"
	"	global_store32	sig0, [one], sh2 + r1, r0\n"
	"	end\n";

static struct fixture fx;
static struct fx_buffer buffer;
static struct pumice_kernel *kernel[4];

static uint64_t va_of(uint32_t word)
{
	return buffer.va + word * sizeof(uint32_t);
}

/* Put a draw of points whose vertex program is number @n. */
static void put_draw(uint32_t n, const uint32_t *uniforms, uint32_t words, uint32_t points,
		     bool after)
{
	const struct pumice_input inputs[] = {
		pumice_input_uniforms(0, uniforms, words),
		pumice_input_source(0, PUMICE_PDS_SOURCE_VERTEX),
	};
	struct pumice_stage_desc stage = {
		.kernel = kernel[n], .inputs = inputs, .input_count = 2,
	};
	struct pumice_draw_state state;
	struct pumice_vdm_draw draw;

	pumice_draw_state_init(&state, 64, 64);
	fx_check(&fx, "vertex stage", pumice_stream_stage(fx.stream, &stage, state.vdm.vertex));
	stage = (struct pumice_stage_desc){ .kernel = kernel[3] };
	fx_check(&fx, "fragments", pumice_stream_stage(fx.stream, &stage, state.tsp.fragment));
	fx_check(&fx, "state", pumice_stream_draw_state(fx.stream, &state, NULL));
	pumice_vdm_draw_defaults(&draw);
	draw.topology = PUMICE_TOPOLOGY_POINTS;
	draw.count = points;
	draw.after = after;
	fx_check(&fx, "draw", pumice_stream_draw(fx.stream, &draw));
}

/* A draw that waits for the flag, a task, a draw that sets it, and one that depends on the task. */
static void put_draws(void)
{
	const uint32_t held[5] = { (uint32_t)va_of(0), (uint32_t)(va_of(0) >> 32),
				   (uint32_t)va_of(HELD), (uint32_t)(va_of(HELD) >> 32), TURNS };
	const uint32_t flag[3] = { held[0], held[1], FLAG };
	const uint32_t copied[4] = { held[2], held[3], (uint32_t)va_of(COPY),
				     (uint32_t)(va_of(COPY) >> 32) };

	put_draw(0, held, 5, POINTS, false);
	fx_check(&fx, "task", pumice_stream_vdm_task(fx.stream));
	put_draw(1, flag, 3, 1, false);
	put_draw(2, copied, 4, POINTS, true);
}

static void run(void)
{
	const struct pumice_hwrt_desc target = {
		.width = 64, .height = 64, .samples = 1, .tile_size = PUMICE_TILE_SIZE_16X16,
		.local = fx.list,
	};
	const struct pumice_render_desc render = { .pdm = { .outputs = 1, .clear_depth = 1 } };
	struct pumice_frame frame = { 0 };

	fx_check(&fx, "end", pumice_stream_vdm_end(fx.stream, &frame.geometry));
	fx_check(&fx, "target", pumice_hwrt_create(fx.vm, &target, &frame.hwrt));
	fx_check(&fx, "render", pumice_stream_render(fx.stream, &render, &frame.render));
	fx_check(&fx, "run", pumice_render(fx.context, &frame, LONG, NULL));
	pumice_hwrt_destroy(frame.hwrt);
}

/* With @meanwhile the flag is set by a draw that does not depend on the task. */
static void check(const char *options, bool meanwhile)
{
	const char *const text[] = { hold, set, copy, "end\n" };
	uint32_t *word, n;

	fx_open(&fx, options, 64);
	fx_buffer(&fx, WORDS * 4, &buffer);
	for (n = 0; n < 4; n++)
		kernel[n] = fx_kernel(&fx, text[n]);
	word = buffer.cpu;
	memset(word, 0, WORDS * 4);
	word[0] = meanwhile ? 0 : FLAG;
	put_draws();
	run();
	for (n = 0; n < POINTS; n++) {
		assert_int_equal(word[HELD + n], FLAG);
		assert_int_equal(word[COPY + n], FLAG + 100);
	}
	for (n = 0; n < 4; n++)
		pumice_kernel_destroy(kernel[n]);
	fx_buffer_free(&fx, &buffer);
	fx_close(&fx);
}

static void a_dependent_draw_reads_stores_of_draws_before_the_task(void **state)
{
	static const char *const options[] = {
		"cores=1,threads=0", "cores=1,threads=2", "cores=2,threads=2", "cores=4,threads=0",
		"cores=4,threads=2", "preset=videocore4,threads=1", "preset=waves,threads=2",
	};
	uint32_t n;

	(void)state;
	for (n = 0; n < sizeof(options) / sizeof(options[0]); n++)
		check(options[n], false);
}

/* The first draw, the task and the second draw are in chunks of three cores. */
static void other_draws_do_not_wait_for_a_task(void **state)
{
	(void)state;
	check("cores=4,threads=0", true);
	check("cores=4,threads=2", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dependent_draw_reads_stores_of_draws_before_the_task),
		cmocka_unit_test(other_draws_do_not_wait_for_a_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
