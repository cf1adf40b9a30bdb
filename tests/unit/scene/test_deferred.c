// SPDX-License-Identifier: MIT
/*
 * Deferred vertex shading: the memory of the parameter buffer, the vertices that are shaded while
 * tiles are rendered, and faults of the vertex program there. test_same.c compares random scenes.
 */
#include <errno.h>
#include <stdio.h>

#include "pumice/pumice_rays.h"
#include "scene.h"

#define SIZE		256u
#define PAGES		4096u
#define ACROSS		64u	/* squares of the mesh */
#define DOWN		63u
#define VARYINGS	12u
#define INDICES		(ACROSS * DOWN * 6u)
/* First vertex of a square over the whole target, in front of the mesh. */
#define FRONT		8192u
#define VERTICES	(2 * FRONT)
#define ATTRIBUTES_AT	(512u << 10)	/* in the buffer of vertices, after the indices */

#define VARYING(vo, base) "add.f32 r4, r2, " base "\nuvsw vo" vo ", r4\n"

/*
 * Columns and rows of the mesh are those of the number modulo and over 128; each instance is two
 * columns further to the right.
 */
static const char position_text[] =
	"and.u32 r0, v0, 127\nshr.u32 r1, v0, 7\nand.u32 r1, r1, 63\n"
	"shr.u32 r3, v0, 13\n"
	"cvt_f32.u32 r0, r0\ncvt_f32.u32 r1, r1\ncvt_f32.u32 r2, v0\ncvt_f32.u32 r3, r3\n"
	"mul.f32 r0, r0, 0.03125\nadd.f32 r0, r0, -1.0\n"
	"mul.f32 r1, r1, 0.03125\nadd.f32 r1, r1, -1.0\n"
	"mul.f32 r3, r3, -0.5\nadd.f32 r3, r3, 0.75\n"
	"cvt_f32.u32 r4, v1\nmul.f32 r4, r4, 0.0625\nadd.f32 r0, r0, r4\n"
	"uvsw vo0, r0\nuvsw vo1, r1\nuvsw vo2, r3\nmov r3, [one], 1.0\nuvsw vo3, r3\n"
	"mul.f32 r2, r2, 0.0001220703125\nadd.f32 r2, r2, r4\n";
static const char varyings_text[] =
	VARYING("4", "0.0") VARYING("5", "0.0625") VARYING("6", "0.125") VARYING("7", "0.1875")
	VARYING("8", "0.25") VARYING("9", "0.3125") VARYING("10", "0.375") VARYING("11", "0.4375")
	VARYING("12", "0.5") VARYING("13", "0.5625") VARYING("14", "0.625") VARYING("15", "0.6875");
/* The same from attributes: position without w, and number. */
static const char attributes_text[] =
	"uvsw vo0, v4\nuvsw vo1, v5\nuvsw vo2, v6\nmov r3, [one], 1.0\nuvsw vo3, r3\n"
	"mov r2, [one], v7\n";
static const char fragment_text[] =
	"mov o0, [one], v0\nmov o1, [one], v1\nmov o2, [one], v2\nmov o3, [one], v3\nend\n";
static const char plain_text[] =
	"mov o0, [one], 1.0\nmov o1, [one], 0.5\nmov o2, [one], 0.25\nmov o3, [one], 1.0\nend\n";

/* The last output is never written. */
static const char endless_text[] =
	".stage rays\nmov r0, [one], 1.0\nagain:\njump again\nuvsw vo7, r0\nend\n";

enum { PAGES_USED, SHADED_IN_TILES, SHADED_IN_BINNING, VPM_WAITS, PARTIALS, COUNTERS };

struct deferred_fixture {
	struct fixture fx;
	struct pumice_kernel *vertex, *attributes, *coordinate, *varying, *plain;
	uint32_t instances;
	bool derives;	/* the library derives the coordinate program */
	bool reads;	/* the vertex program reads attributes */
	struct pumice_perfmon *monitor;
	struct pumice_image *image;
	struct pumice_frame frame;
	uint64_t count[COUNTERS];
	float picture[SIZE * SIZE][4];
};

static struct deferred_fixture fixture;

static struct pumice_kernel *kernel(struct fixture *fx, const char *a, const char *b)
{
	char text[2048];

	snprintf(text, sizeof(text), "%s%send\n", a, b);
	return fx_kernel(fx, text);
}

static struct deferred_fixture *open_sized(const char *vertex_prefix, const char *options,
					   uint32_t pages)
{
	static const char *const names[COUNTERS] = {
		"PM_ALLOCATED", "PDM_VERTICES", "VDM_VERTICES", "VPM_WAITS", "PM_PARTIALS",
	};
	struct deferred_fixture *p = &fixture;
	struct pumice_image_desc image;
	uint32_t counters[COUNTERS], n;
	struct pumice_hwrt_desc set;
	struct fixture *fx = &p->fx;

	memset(p, 0, sizeof(*p));
	fx_open(fx, options, pages);
	p->instances = 1;
	p->vertex = kernel(fx, position_text, vertex_prefix);
	p->attributes = kernel(fx, attributes_text, varyings_text);
	p->coordinate = kernel(fx, position_text, "");
	p->varying = fx_kernel(fx, fragment_text);
	p->plain = fx_kernel(fx, plain_text);
	pumice_image_desc_init(&image, PUMICE_FORMAT_RGBA32_FLOAT, SIZE, SIZE);
	fx_check(fx, "image", pumice_image_create(fx->vm, &image, &p->image));
	pumice_hwrt_desc_init(&set, fx->list, SIZE, SIZE);
	pumice_frame_init(&p->frame, NULL);
	fx_check(fx, "data set", pumice_hwrt_create(fx->vm, &set, &p->frame.hwrt));
	for (n = 0; n < COUNTERS; n++)
		fx_check(fx, "counter", pumice_perf_counter_find(fx->dev, names[n], &counters[n]));
	fx_check(fx, "monitor", pumice_perfmon_create(fx->dev, counters, COUNTERS, &p->monitor));
	p->frame.perfmon = pumice_perfmon_id(p->monitor);
	return p;
}

static struct deferred_fixture *open_fixture(const char *vertex_prefix)
{
	return open_sized(vertex_prefix, "cores=1,threads=0", PAGES);
}

static void close_fixture(struct deferred_fixture *p)
{
	pumice_perfmon_destroy(p->monitor);
	pumice_hwrt_destroy(p->frame.hwrt);
	pumice_image_destroy(p->image);
	pumice_kernel_destroy(p->plain);
	pumice_kernel_destroy(p->varying);
	pumice_kernel_destroy(p->coordinate);
	pumice_kernel_destroy(p->attributes);
	pumice_kernel_destroy(p->vertex);
	fx_close(&p->fx);
}

/* Indices of the mesh, then of the square in front of it. */
static uint64_t put_indices(struct fixture *fx)
{
	static const uint32_t corner[6] = { 0, 1, 128, 128, 1, 129 };
	uint32_t *to = fx->vertices.cpu, n;

	for (n = 0; n < INDICES; n++)
		to[n] = n / 6 / ACROSS * 128 + n / 6 % ACROSS + corner[n % 6];
	for (n = 0; n < 6; n++)
		to[INDICES + n] = FRONT + corner[n] / 128 * DOWN * 128 + corner[n] % 128 * ACROSS;
	return fx->vertices.va;
}

/* Write the attributes of all vertices: the numbers that position_text computes, exactly. */
static uint64_t put_attributes(struct fixture *fx)
{
	float (*to)[4] = (void *)((uint8_t *)fx->vertices.cpu + ATTRIBUTES_AT);
	uint32_t n;

	for (n = 0; n < VERTICES; n++) {
		to[n][0] = (float)(n % 128) / 32 - 1;
		to[n][1] = (float)(n / 128 % 64) / 32 - 1;
		to[n][2] = 0.75f - (float)(n / FRONT) / 2;
		to[n][3] = (float)n / 8192;
	}
	return fx->vertices.va + ATTRIBUTES_AT;
}

/* Set the stages of a state, with a coordinate program if it is deferred. */
static void set_state(struct deferred_fixture *p, bool deferred, struct pumice_kernel *fragment)
{
	const struct pumice_input number[] = {
		pumice_input_source(0, PUMICE_PDS_SOURCE_VERTEX),
		pumice_input_source(1, PUMICE_PDS_SOURCE_INSTANCE),
	};
	const struct pumice_input read = {
		.kind = PUMICE_INPUT_ATTRIBUTE, .reg = 4, .va = put_attributes(&p->fx),
		.stride = 16, .elements = VERTICES, .format = PUMICE_ATTR_KIND_F32, .count = 4,
	};
	const struct pumice_input varying = pumice_input_varying(0, 3, 4);
	const struct pumice_stage_desc coordinate = { p->coordinate, number, 2 };
	const struct pumice_stage_desc vertex = {
		p->reads ? p->attributes : p->vertex, p->reads ? &read : number, p->reads ? 1 : 2,
	};
	const struct pumice_stage_desc shade = { fragment, &varying, fragment == p->varying };
	struct pumice_draw_state state;
	struct fixture *fx = &p->fx;

	pumice_draw_state_init(&state, SIZE, SIZE);
	state.vdm.varyings = VARYINGS;
	state.isp.depth_func = PUMICE_COMPARE_LESS;
	state.isp.depth_write = true;
	state.vdm.deferred = deferred;
	if (deferred && !p->derives)
		fx_check(fx, "coordinate stage",
			 pumice_stream_stage(fx->stream, &coordinate, state.vdm.coordinate));
	fx_check(fx, "stages", pumice_stream_stages(fx->stream, &state, &vertex, &shade));
}

/* Draw this number of indices from the first one on. Returns the result of the frame. */
static int draw(struct deferred_fixture *p, bool deferred, struct pumice_kernel *fragment,
		uint32_t first, uint32_t count)
{
	const struct pumice_vdm_draw_indexed mesh = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .index_size = PUMICE_INDEX_SIZE_U32,
		.indices = put_indices(&p->fx), .index_count = INDICES + 6, .count = count,
		.first = first, .instances = p->instances,
	};
	struct pumice_render_desc render;
	struct fixture *fx = &p->fx;
	int err;

	pumice_stream_reset(fx->stream);
	set_state(p, deferred, fragment);
	fx_check(fx, "draw", pumice_stream_draw_indexed(fx->stream, &mesh));
	fx_check(fx, "end", pumice_stream_vdm_end(fx->stream, &p->frame.geometry));
	pumice_render_desc_init(&render, p->image);
	fx_check(fx, "render record", pumice_stream_render(fx->stream, &render, &p->frame.render));
	err = pumice_render(fx->context, &p->frame, LONG, NULL);
	fx_check(fx, "read", pumice_image_download(p->image, (struct pumice_image_part){ 0 },
						   p->picture, 0));
	fx_check(fx, "count", pumice_perfmon_read(p->monitor, PUMICE_PERFMON_RESET, p->count));
	return err;
}

static void the_parameter_buffer_is_smaller(void **state)
{
	static float picture[SIZE * SIZE][4];
	struct deferred_fixture *p = open_fixture(varyings_text);
	uint64_t pages;

	(void)state;
	fx_check(&p->fx, "frame", draw(p, false, p->varying, 0, INDICES));
	assert_int_equal(p->count[SHADED_IN_TILES], 0);
	pages = p->count[PAGES_USED];
	assert_true(p->count[SHADED_IN_BINNING] >= (ACROSS + 1) * (DOWN + 1));
	memcpy(picture, p->picture, sizeof(picture));
	fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, INDICES));
	print_message("%llu pages with varyings, %llu with numbers of vertices\n",
		      (unsigned long long)pages, (unsigned long long)p->count[PAGES_USED]);
	assert_memory_equal(picture, p->picture, sizeof(picture));
	assert_true(picture[SIZE * SIZE / 2][0] > 0.1f);
	/* 17 words of a vertex and 6; the rest of a block is the same, and pages are whole. */
	assert_true(p->count[PAGES_USED] * 10 < pages * 7);
	assert_true(p->count[SHADED_IN_TILES] >= (ACROSS + 1) * (DOWN + 1));
	close_fixture(p);
}

/* Instances of two adjacent squares have vertices of the same numbers in a tile. */
static void vertices_of_instances_are_separate(void **state)
{
	static float picture[SIZE * SIZE][4];
	struct deferred_fixture *p = open_fixture(varyings_text);

	(void)state;
	p->instances = 3;
	fx_check(&p->fx, "frame", draw(p, false, p->varying, 0, 2 * 6));
	memcpy(picture, p->picture, sizeof(picture));
	fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, 2 * 6));
	assert_memory_equal(picture, p->picture, sizeof(picture));
	p->instances = 1;
	fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, 2 * 6));
	assert_memory_not_equal(picture, p->picture, sizeof(picture));
	close_fixture(p);
}

/* A state without a coordinate program gets that of the library; its binning is the same. */
static void the_coordinate_program_is_derived(void **state)
{
	static float picture[SIZE * SIZE][4];
	struct deferred_fixture *p = open_fixture(varyings_text);
	uint64_t count[COUNTERS];

	(void)state;
	fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, INDICES));
	memcpy(picture, p->picture, sizeof(picture));
	memcpy(count, p->count, sizeof(count));
	p->derives = true;
	/* Twice: the kernel keeps the program. */
	for (uint32_t n = 0; n < 2; n++) {
		fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, INDICES));
		assert_memory_equal(picture, p->picture, sizeof(picture));
		assert_memory_equal(count, p->count, sizeof(count));
	}
	close_fixture(p);
}

/* Attributes and the derived coordinate program: as computed from numbers, while binning or not. */
static void deferred_vertices_read_the_attribute_table(void **state)
{
	static float picture[SIZE * SIZE][4];
	struct deferred_fixture *p = open_fixture(varyings_text);

	(void)state;
	p->derives = true;
	fx_check(&p->fx, "frame", draw(p, false, p->varying, 0, INDICES));
	memcpy(picture, p->picture, sizeof(picture));
	p->reads = true;
	fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, INDICES));
	assert_memory_equal(picture, p->picture, sizeof(picture));
	assert_true(p->count[SHADED_IN_TILES] >= (ACROSS + 1) * (DOWN + 1));
	fx_check(&p->fx, "frame", draw(p, false, p->varying, 0, INDICES));
	assert_memory_equal(picture, p->picture, sizeof(picture));
	close_fixture(p);
}

/* It would store again when tiles are rendered. */
static void a_program_that_stores_has_no_derived_one(void **state)
{
	struct deferred_fixture *p = open_fixture("global_store32 sig0, [zero], sh0 + r0, r4\n");
	const struct pumice_input number[] = {
		pumice_input_source(0, PUMICE_PDS_SOURCE_VERTEX),
		pumice_input_source(1, PUMICE_PDS_SOURCE_INSTANCE),
	};
	const struct pumice_stage_desc vertex = { p->vertex, number, 2 };
	struct pumice_draw_state draw_state;

	(void)state;
	pumice_draw_state_init(&draw_state, SIZE, SIZE);
	draw_state.vdm.deferred = true;
	assert_int_equal(pumice_stream_stages(p->fx.stream, &draw_state, &vertex, NULL), -EINVAL);
	assert_non_null(strstr(pumice_device_error(p->fx.dev), "stores to memory"));
	close_fixture(p);
}

/* The mesh is hidden: its vertices are not shaded. The square's are, once in each tile slot. */
static void only_vertices_of_visible_primitives_are_shaded(void **state)
{
	struct deferred_fixture *p = open_fixture(varyings_text);

	(void)state;
	fx_check(&p->fx, "frame", draw(p, true, p->varying, INDICES, 6));
	assert_int_equal(p->count[SHADED_IN_TILES], 2 * 4);
	fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, INDICES + 6));
	assert_int_equal(p->count[SHADED_IN_TILES], 2 * 4);
	close_fixture(p);
}

static void programs_without_varyings_need_no_vertices(void **state)
{
	struct deferred_fixture *p = open_fixture(varyings_text);

	(void)state;
	fx_check(&p->fx, "frame", draw(p, true, p->plain, 0, INDICES));
	assert_int_equal(p->count[SHADED_IN_TILES], 0);
	assert_true(p->picture[SIZE * SIZE / 2][1] == 0.5f);
	close_fixture(p);
}

/* The coordinate program binned the scene; the vertex program faults when it is rendered. */
static void a_fault_of_the_vertex_program_stops_the_render(void **state)
{
	struct deferred_fixture *p = open_fixture("mov r4, [one], uniform\nuvsw vo4, r4\n");

	(void)state;
	assert_true(draw(p, true, p->varying, 0, INDICES) < 0);
	assert_non_null(strstr(pumice_device_error(p->fx.dev), "uniform stream"));
	assert_true(p->count[PAGES_USED] > 0);
	/* The next frame is complete. */
	fx_check(&p->fx, "frame", draw(p, true, p->plain, 0, INDICES));
	assert_true(p->picture[SIZE * SIZE / 2][1] == 0.5f);
	close_fixture(p);
}

/*
 * The pool of 8 KiB has the 16 outputs of one wave: the tiles of a core wait for each other. So
 * they do in a partial render, for which a VDM waits that has all rows of the ring.
 */
static void a_small_vertex_memory_changes_nothing(void **state)
{
	static const char *const options[] = {
		"cores=1,threads=0,vpm-kib=8", "cores=1,threads=1,vpm-kib=8",
		"cores=2,threads=2,vpm-kib=8", "cores=4,threads=2,vpm-kib=9,batch=16",
	};
	static float picture[SIZE * SIZE][4];
	struct deferred_fixture *p = open_fixture(varyings_text);
	uint64_t partials = 0;
	uint32_t n;

	(void)state;
	fx_check(&p->fx, "frame", draw(p, false, p->varying, 0, INDICES));
	memcpy(picture, p->picture, sizeof(picture));
	fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, INDICES));
	assert_int_equal(p->count[VPM_WAITS], 0);
	close_fixture(p);
	for (n = 0; n < 2 * 4; n++) {
		p = open_sized(varyings_text, options[n % 4], n < 4 ? PAGES : n % 4 < 2 ? 40 : 80);
		fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, INDICES));
		print_message("%s: %llu waits, %llu partial renders\n", options[n % 4],
			      (unsigned long long)p->count[VPM_WAITS],
			      (unsigned long long)p->count[PARTIALS]);
		assert_memory_equal(picture, p->picture, sizeof(picture));
		assert_true(p->count[VPM_WAITS] > 0);
		partials += p->count[PARTIALS];
		close_fixture(p);
	}
	assert_true(partials > 0);
}

/* Rays that a program generates and never ends, of a context of its own. */
struct endless {
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
	struct pumice_sync *end;	/* signalled when the job has been killed */
};

static void start_endless(struct fixture *fx, struct endless *e)
{
	const struct pumice_stage_desc generate = { .kernel = e->kernel };
	struct pumice_job_sync signal = { .sync = e->end, .signal = true };
	struct pumice_ray_launch launch;
	struct pumice_job job;
	uint64_t va;

	/* No ray is ever traced, so that nothing reads the structure. */
	pumice_ray_launch_init(&launch, fx->vertices.va, 1024, 1024);
	launch.generate = &generate;
	fx_check(fx, "launch", pumice_stream_rays_launch(e->stream, &launch));
	fx_check(fx, "end", pumice_stream_end(e->stream, &va));
	pumice_job_init(&job, e->context, va);
	job.syncs = &signal;
	job.sync_count = 1;
	fx_check(fx, "rays", pumice_submit(fx->dev, &job, 1, NULL));
}

/* Wait until a task of the rays runs, which has its rows. */
static void wait_for_endless(struct fixture *fx, const struct endless *e)
{
	const struct pumice_wait killed = { .sync = e->end };
	struct pumice_device_stats stats;

	do {
		assert_int_equal(pumice_sync_wait(&killed, 1, 0, SECOND / 1000), -ETIME);
		fx_check(fx, "statistics", pumice_device_stats(fx->dev, &stats, sizeof(stats)));
	} while (!stats.tasks);
}

static void open_endless(struct fixture *fx, struct endless *e)
{
	e->kernel = fx_kernel(fx, endless_text);
	fx_check(fx, "context", pumice_context_create_type(fx->vm, PUMICE_CONTEXT_RAYS,
							   PUMICE_PRIORITY_NORMAL, &e->context));
	fx_check(fx, "stream", pumice_stream_create(fx->vm, 4096, &e->stream));
	fx_check(fx, "sync", pumice_sync_create(fx->dev, 0, &e->end));
}

static void close_endless(struct endless *e)
{
	pumice_context_destroy(e->context);
	pumice_sync_destroy(e->end);
	pumice_stream_destroy(e->stream);
	pumice_kernel_destroy(e->kernel);
}

/*
 * A task of these rays has all rows of their half of the pool, which is less than two such tasks
 * need. Frames are complete before the rays are killed. The sizes are the default ones: such a task
 * has all waves of a USC of the preset waves.
 */
static void endless_rays_do_not_hold_the_rows_of_frames(void **state)
{
	struct deferred_fixture *p = open_sized(varyings_text,
						"preset=default,cores=1,threads=2,vpm-kib=32",
						PAGES);
	struct endless e;
	uint32_t n;

	(void)state;
	open_endless(&p->fx, &e);
	start_endless(&p->fx, &e);
	wait_for_endless(&p->fx, &e);
	for (n = 0; n < 2; n++) {
		const struct pumice_wait killed = { .sync = e.end };

		fx_check(&p->fx, "frame", draw(p, true, p->varying, 0, INDICES));
		assert_true(p->count[SHADED_IN_TILES] > 0);
		assert_int_equal(pumice_sync_wait(&killed, 1, 0, 0), -ETIME);
	}
	close_endless(&e);
	close_fixture(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parameter_buffer_is_smaller),
		cmocka_unit_test(vertices_of_instances_are_separate),
		cmocka_unit_test(the_coordinate_program_is_derived),
		cmocka_unit_test(deferred_vertices_read_the_attribute_table),
		cmocka_unit_test(a_program_that_stores_has_no_derived_one),
		cmocka_unit_test(only_vertices_of_visible_primitives_are_shaded),
		cmocka_unit_test(programs_without_varyings_need_no_vertices),
		cmocka_unit_test(a_fault_of_the_vertex_program_stops_the_render),
		cmocka_unit_test(a_small_vertex_memory_changes_nothing),
		cmocka_unit_test(endless_rays_do_not_hold_the_rows_of_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
