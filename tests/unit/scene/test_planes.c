// SPDX-License-Identifier: MIT
/*
 * The TSP sets up planes only of the varyings that the program of a visible primitive reads,
 * counted by PDM_PLANES; the pictures do not depend on the varyings that it does not read.
 */
#include <stdio.h>

#include "scene.h"

#define SIZE		64u
#define PAGES		64u
#define VARYINGS	12u

/* Two triangles over the whole target; varying n of vertex v is VALUE(n, v). */
#define VALUE(n, v)	((float)(8 * (n) + (v)) / 128)

#define VARYING(vo, base) "add.f32 r0, r2, " base "\nuvsw vo" vo ", r0\n"

/* v0: number of the vertex. */
static const char vertex_text[] =
	"and.u32 r0, v0, 1\nshr.u32 r1, v0, 1\n"
	"cvt_f32.u32 r0, r0\ncvt_f32.u32 r1, r1\ncvt_f32.u32 r2, v0\n"
	"mul.f32 r0, r0, 2.0\nadd.f32 r0, r0, -1.0\nmul.f32 r1, r1, 2.0\nadd.f32 r1, r1, -1.0\n"
	"uvsw vo0, r0\nuvsw vo1, r1\nmov r0, [one], 0.5\nuvsw vo2, r0\nmov r0, [one], 1.0\n"
	"uvsw vo3, r0\nmul.f32 r2, r2, 0.0078125\n"
	VARYING("4", "0.0") VARYING("5", "0.0625") VARYING("6", "0.125")
	VARYING("7", "0.1875") VARYING("8", "0.25") VARYING("9", "0.3125")
	VARYING("10", "0.375") VARYING("11", "0.4375") VARYING("12", "0.5")
	VARYING("13", "0.5625") VARYING("14", "0.625") VARYING("15", "0.6875")
	"end\n";
static const char fragment_text[] =
	"mov o0, [one], v0\nmov o1, [one], v1\nmov o2, [one], v2\nmov o3, [one], v3\nend\n";
/* Interpolates the four varyings of cf0 to cf11; cf12 is the plane of 1/w. */
static const char planes_text[] =
	"itr r0, perspective, 4, cf0, cf12\nmov o0, [one], r0\nmov o1, [one], r1\n"
	"mov o2, [one], r2\nmov o3, [one], r3\nend\n";
static const char empty_text[] = "mov o0, [one], 1.0\nend\n";

#define COUNTERS	7u

struct planes_fixture {
	struct fixture fx;
	struct pumice_kernel *vertex;
	struct pumice_perfmon *monitor;
	struct pumice_image *image;
	struct pumice_frame frame;
	float picture[SIZE * SIZE][4];
	uint64_t counts[COUNTERS];	/* of the last frame, as counters[] */
};

static const char *const counters[COUNTERS] = {
	"PDM_PLANES", "VPM_OCCUPANCY", "TAG_READS", "TAG_TCU0_REQUESTS", "TAG_TCU1_REQUESTS",
	"TAG_TCU2_REQUESTS", "TAG_TCU3_REQUESTS",
};

static void open_device(struct planes_fixture *p, const char *options)
{
	struct pumice_image_desc image;
	struct pumice_hwrt_desc set;
	struct fixture *fx = &p->fx;
	uint32_t counter[COUNTERS], i;

	fx_open(fx, options, PAGES);
	p->vertex = fx_kernel(fx, vertex_text);
	pumice_image_desc_init(&image, PUMICE_FORMAT_RGBA32_FLOAT, SIZE, SIZE);
	fx_check(fx, "image", pumice_image_create(fx->vm, &image, &p->image));
	pumice_hwrt_desc_init(&set, fx->list, SIZE, SIZE);
	pumice_frame_init(&p->frame, NULL);
	fx_check(fx, "data set", pumice_hwrt_create(fx->vm, &set, &p->frame.hwrt));
	for (i = 0; i < COUNTERS; i++)
		fx_check(fx, "counter",
			 pumice_perf_counter_find(fx->dev, counters[i], &counter[i]));
	fx_check(fx, "monitor", pumice_perfmon_create(fx->dev, counter, COUNTERS, &p->monitor));
	p->frame.perfmon = pumice_perfmon_id(p->monitor);
}

static void open_fixture(struct planes_fixture *p)
{
	open_device(p, "cores=2,threads=0");
}

static void close_fixture(struct planes_fixture *p)
{
	pumice_perfmon_destroy(p->monitor);
	pumice_hwrt_destroy(p->frame.hwrt);
	pumice_image_destroy(p->image);
	pumice_kernel_destroy(p->vertex);
	fx_close(&p->fx);
}

/* Draw two triangles of a program with these inputs: return the number of planes of the frame. */
static uint64_t draw(struct planes_fixture *p, const char *text, const struct pumice_input *inputs,
		     uint32_t count)
{
	const struct pumice_input number = pumice_input_source(0, PUMICE_PDS_SOURCE_VERTEX);
	struct fixture *fx = &p->fx;
	struct pumice_kernel *kernel = fx_kernel(fx, text);
	struct pumice_stage_desc vertex, fragment;
	struct pumice_render_desc render;
	struct pumice_draw_state state;
	struct pumice_vdm_draw quad;

	pumice_stage_desc_init(&vertex, p->vertex);
	vertex.inputs = &number;
	vertex.input_count = 1;
	pumice_stage_desc_init(&fragment, kernel);
	fragment.inputs = inputs;
	fragment.input_count = count;
	pumice_draw_state_init(&state, SIZE, SIZE);
	state.vdm.varyings = VARYINGS;
	pumice_vdm_draw_defaults(&quad);
	quad.topology = PUMICE_TOPOLOGY_TRIANGLE_STRIP;
	quad.count = 4;
	quad.instances = 1;
	pumice_stream_reset(fx->stream);
	fx_check(fx, "stages", pumice_stream_stages(fx->stream, &state, &vertex, &fragment));
	fx_check(fx, "draw", pumice_stream_draw(fx->stream, &quad));
	fx_check(fx, "end", pumice_stream_vdm_end(fx->stream, &p->frame.geometry));
	pumice_render_desc_init(&render, p->image);
	fx_check(fx, "render record", pumice_stream_render(fx->stream, &render, &p->frame.render));
	fx_check(fx, "render", pumice_render(fx->context, &p->frame, LONG, NULL));
	fx_check(fx, "read", pumice_image_download(p->image, (struct pumice_image_part){ 0 },
						   p->picture, 0));
	fx_check(fx, "count", pumice_perfmon_read(p->monitor, PUMICE_PERFMON_RESET, p->counts));
	/* The vertices' outputs: of the geometry job. */
	assert_true(p->counts[1] > 0);
	pumice_kernel_destroy(kernel);
	return p->counts[0];
}

/*
 * Primitives that are visible in the tiles: each of the two triangles of the quad is in three of
 * them, as their common edge is a diagonal of the target.
 */
#define VISIBLE	6u

/* Assert that the picture has the varyings from first on, at the target's corners. */
static void check_picture(const struct planes_fixture *p, uint32_t first, uint32_t count)
{
	const uint32_t pixel[4] = { (SIZE - 1) * SIZE, SIZE * SIZE - 1, 0, SIZE - 1 };
	uint32_t v, n;

	for (v = 0; v < 4; v++)
		for (n = 0; n < count; n++) {
			const float want = VALUE(first + n, v), got = p->picture[pixel[v]][n];

			if (got < want - 0.02f || got > want + 0.02f)
				fail_msg("varying %u at vertex %u is %f instead of %f",
					 first + n, v, (double)got, (double)want);
		}
}

static void only_planes_that_are_read_are_set_up(void **state)
{
	static struct planes_fixture p;
	struct pumice_input in[2];
	uint32_t first, count;

	(void)state;
	open_fixture(&p);
	assert_int_equal(draw(&p, empty_text, NULL, 0), 0);
	for (count = 1; count <= 4; count++)
		for (first = 0; first <= VARYINGS - count; first += 3) {
			in[0] = pumice_input_varying(0, first, count);
			assert_int_equal(draw(&p, fragment_text, in, 1), VISIBLE * count);
			check_picture(&p, first, count);
		}
	/* Varyings that two inputs read are set up once. */
	in[0] = pumice_input_varying(0, 3, 3);
	in[1] = pumice_input_varying(2, 4, 2);
	assert_int_equal(draw(&p, fragment_text, in, 2), VISIBLE * 3);
	/* 1/w and depth are not varyings. */
	in[1] = pumice_input_varying(3, 64, 1);
	assert_int_equal(draw(&p, fragment_text, in, 2), VISIBLE * 3);
	close_fixture(&p);
}

static void planes_in_coefficient_registers_are_read(void **state)
{
	static struct planes_fixture p;
	struct pumice_input in[2] = {
		pumice_input_planes(0, 7, 4), pumice_input_planes(12, 64, 1),
	};

	(void)state;
	open_fixture(&p);
	assert_int_equal(draw(&p, planes_text, in, 2), VISIBLE * 4);
	check_picture(&p, 7, 4);
	close_fixture(&p);
}

static void coordinates_of_prefetched_textures_are_read(void **state)
{
	static struct planes_fixture p;
	struct pumice_texture texture;
	struct pumice_input in = { .kind = PUMICE_INPUT_PREFETCH, .varying = 9,
				   .mode = PUMICE_USC_ITERATE_PERSPECTIVE, .texture = &texture };

	(void)state;
	open_fixture(&p);
	pumice_image_texture(p.fx.texture, &texture);
	assert_int_equal(draw(&p, fragment_text, &in, 1), VISIBLE * 2);
	close_fixture(&p);
}

/* Assert that reads passed all interfaces of the SPU, a texel of each lane for each read. */
static void check_interfaces(const struct planes_fixture *p)
{
	uint64_t sum = 0;
	uint32_t n;

	for (n = 0; n < 4; n++) {
		assert_true(p->counts[3 + n] > 0);
		sum += p->counts[3 + n];
	}
	assert_int_equal(sum, p->counts[2]);
}

/* Tasks run on four USCs of a core, two of which share a TAG. The sampler selects one texel. */
static void reads_pass_the_interfaces_of_their_uscs(void **state)
{
	static struct planes_fixture p;
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	struct pumice_input ahead = { .kind = PUMICE_INPUT_PREFETCH, .varying = 9,
				      .mode = PUMICE_USC_ITERATE_PERSPECTIVE, .texture = &texture,
				      .sampler = &sampler };
	const struct pumice_input in[2] = {
		pumice_input_varying(0, 3, 2),
		{ .kind = PUMICE_INPUT_TEXTURE, .reg = 16, .texture = &texture,
		  .sampler = &sampler },
	};

	(void)state;
	open_device(&p, "cores=1,uscs=4,threads=0");
	pumice_image_texture(p.fx.texture, &texture);
	pumice_sampler_init(&sampler);
	draw(&p, "sample.f32 r0, 2d, v0, sh16\nmov o0, [one], r0\nend\n", in, 2);
	check_interfaces(&p);
	draw(&p, fragment_text, &ahead, 1);
	check_interfaces(&p);
	close_fixture(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_planes_that_are_read_are_set_up),
		cmocka_unit_test(planes_in_coefficient_registers_are_read),
		cmocka_unit_test(coordinates_of_prefetched_textures_are_read),
		cmocka_unit_test(reads_pass_the_interfaces_of_their_uscs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
