// SPDX-License-Identifier: MIT
/*
 * Properties of a device that are sizes of units, in frames: each FIFO, the vertex cache of the
 * TSP and the vertex pipe memory have the size of the property, counted; programs of all stages
 * have its slot registers. One core without threads: the order of steps is fixed.
 */
#include <errno.h>
#include <stdio.h>

#include "scene.h"

#define PAGES		256u
#define INDEX_AT	(512u << 10)	/* in the buffer of vertices */
#define UNMAPPED	0x7000000000ull
#define OWN		8u	/* slot and internal registers */

/* A frame: each distinct triangle covers the target, all are drawn in turn, for some rounds. */
struct sized_frame {
	const char *options;
	uint32_t width, height, triangles, rounds;
	bool fault;	/* a last draw faults */
	const char *vertex, *fragment;	/* programs; NULL: plain ones */
};

static const char *const names[] = {
	"VDM_IDX_WAITS", "PDM_FIFO_WAITS", "PDM_TSP_MISSES", "PDM_TSP_HITS", "VDM_INDICES",
	"PDM_TILES", "VPM_WAITS", "PDS_TASKS",
};

enum { IDX_WAITS, TILE_WAITS, MISSES, HITS, INDICES, TILES, VPM_WAITS, TASKS, COUNTERS };

struct result {
	int err;
	struct pumice_context_state state;
	uint64_t count[COUNTERS];
	float pixel[4];	/* the first one */
};

#define POSITION "uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\n"

static const char plain_vertex[] = POSITION "uvsw vo4, v0\nend\n";
static const char plain_fragment[] =
	"mov o0, [one], v0\nmov o1, [one], v0\nmov o2, [one], v0\nmov o3, [one], v0\nend\n";

static void put_vertices(struct fixture *fx, const struct sized_frame *f)
{
	static const float corner[3][4] = { { -1, -1, 0.5f, 1 }, { 3, -1, 0.5f, 1 },
					    { -1, 3, 0.5f, 1 } };
	float *at = fx->vertices.cpu;
	uint16_t *index = (uint16_t *)((uint8_t *)fx->vertices.cpu + INDEX_AT);
	uint32_t i;

	for (i = 0; i < f->triangles * 3; i++)
		memcpy(at + i * 4, corner[i % 3], sizeof(corner[0]));
	for (i = 0; i < f->triangles * f->rounds * 3; i++)
		index[i] = (uint16_t)(i % (f->triangles * 3));
}

static void put_draws(struct fixture *fx, const struct sized_frame *f)
{
	const uint32_t count = f->triangles * f->rounds * 3;
	const struct pumice_vdm_draw_indexed draw = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .index_size = PUMICE_INDEX_SIZE_U16,
		.indices = fx->vertices.va + INDEX_AT, .index_count = count, .count = count,
		.instances = 1,
	};
	const struct pumice_vdm_draw_indirect fault = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .addr = UNMAPPED,
	};

	fx_check(fx, "draw", pumice_stream_draw_indexed(fx->stream, &draw));
	if (f->fault)
		fx_check(fx, "draw", pumice_stream_draw_indirect(fx->stream, &fault));
}

/* The fragment programs read the only varying, and run for hidden triangles as well. */
static void put_geometry(struct fixture *fx, const struct sized_frame *f,
			 struct pumice_kernel *const kernel[2], uint64_t *va)
{
	const struct pumice_input attribute = {
		.kind = PUMICE_INPUT_ATTRIBUTE, .stride = 16, .elements = f->triangles * 3,
		.va = fx->vertices.va, .format = PUMICE_ATTR_KIND_F32, .count = 4,
	};
	const struct pumice_input varying = pumice_input_varying(0, 0, 1);
	struct pumice_stage_desc stage;
	struct pumice_draw_state state;

	put_vertices(fx, f);
	pumice_draw_state_init(&state, f->width, f->height);
	state.vdm.varyings = 1;
	state.isp.pass_type = PUMICE_PASS_TYPE_TRANSLUCENT;
	state.isp.depth_func = PUMICE_COMPARE_ALWAYS;
	stage = (struct pumice_stage_desc){
		.kernel = kernel[0], .inputs = &attribute, .input_count = 1,
	};
	fx_check(fx, "vertices", pumice_stream_stage(fx->stream, &stage, state.vdm.vertex));
	stage = (struct pumice_stage_desc){
		.kernel = kernel[1], .inputs = &varying, .input_count = 1,
	};
	fx_check(fx, "fragments", pumice_stream_stage(fx->stream, &stage, state.tsp.fragment));
	fx_check(fx, "state", pumice_stream_draw_state(fx->stream, &state, NULL));
	put_draws(fx, f);
	fx_check(fx, "end", pumice_stream_vdm_end(fx->stream, va));
}

static struct pumice_perfmon *monitor_of(struct fixture *fx)
{
	struct pumice_perfmon *monitor;
	uint32_t counter[COUNTERS], i;

	for (i = 0; i < COUNTERS; i++)
		fx_check(fx, "counter", pumice_perf_counter_find(fx->dev, names[i], &counter[i]));
	fx_check(fx, "monitor", pumice_perfmon_create(fx->dev, counter, COUNTERS, &monitor));
	return monitor;
}

/* Render a frame on a fixture's device into an image. */
static void render(struct fixture *fx, const struct sized_frame *f, struct pumice_image *image,
		   struct result *result)
{
	struct pumice_kernel *const kernel[2] = {
		fx_kernel(fx, f->vertex ? f->vertex : plain_vertex),
		fx_kernel(fx, f->fragment ? f->fragment : plain_fragment),
	};
	struct pumice_perfmon *monitor = monitor_of(fx);
	struct pumice_render_desc render;
	struct pumice_hwrt_desc set;
	struct pumice_frame frame;

	pumice_frame_init(&frame, NULL);
	frame.perfmon = pumice_perfmon_id(monitor);
	pumice_render_desc_init(&render, image);
	pumice_hwrt_desc_init(&set, fx->list, f->width, f->height);
	set.tile_size = PUMICE_TILE_SIZE_16X16;
	put_geometry(fx, f, kernel, &frame.geometry);
	fx_check(fx, "set", pumice_hwrt_create(fx->vm, &set, &frame.hwrt));
	fx_check(fx, "render", pumice_stream_render(fx->stream, &render, &frame.render));
	result->err = pumice_render(fx->context, &frame, LONG, &result->state);
	fx_check(fx, "counts", pumice_perfmon_read(monitor, 0, result->count));
	pumice_hwrt_destroy(frame.hwrt);
	pumice_perfmon_destroy(monitor);
	pumice_kernel_destroy(kernel[1]);
	pumice_kernel_destroy(kernel[0]);
}

/* The same on a device of its own. */
static struct result draw(const struct sized_frame *f)
{
	static float picture[SCENE_MAX_SIZE * SCENE_MAX_SIZE][4];
	struct result result = { 0 };
	struct pumice_image_desc desc;
	struct pumice_image *image;
	struct fixture fx;
	char options[128];

	snprintf(options, sizeof(options), "cores=1,threads=0,%s", f->options);
	fx_open(&fx, options, PAGES);
	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA32_FLOAT, f->width, f->height);
	fx_check(&fx, "image", pumice_image_create(fx.vm, &desc, &image));
	render(&fx, f, image, &result);
	fx_check(&fx, "read", pumice_image_download(image, (struct pumice_image_part){ 0 },
						    picture, 0));
	memcpy(result.pixel, picture[0], sizeof(result.pixel));
	pumice_image_destroy(image);
	fx_close(&fx);
	return result;
}

/* Render a frame that must not fail. */
static struct result draw_well(const struct sized_frame *f)
{
	const struct result result = draw(f);

	if (result.err)
		fail_msg("%s: error %d, fault %u", f->options, result.err, result.state.fault);
	return result;
}

/*
 * A piece of a draw has as many primitives as the FIFO at most. With a small one the second piece
 * and all that follow are assembled while the FIFO is full.
 */
static void pieces_of_draws_wait_for_an_idx_fifo_of_the_property(void **state)
{
	struct sized_frame f = { .width = 16, .height = 16, .triangles = 60, .rounds = 1 };

	(void)state;
	f.options = "idx-fifo=1";
	assert_int_equal(draw_well(&f).count[IDX_WAITS], 60 - 1);
	f.options = "idx-fifo=4";
	assert_int_equal(draw_well(&f).count[IDX_WAITS], 60 / 4 - 1);
	f.options = "idx-fifo=4096";
	assert_int_equal(draw_well(&f).count[IDX_WAITS], 0);
}

/*
 * The master reads the command after ten chunks of four triangles, which faults, when the FIFO has
 * room for a further chunk. Chunks in it are not assembled: no index of theirs is read.
 */
static void chunks_are_made_ahead_as_the_property_permits(void **state)
{
	struct sized_frame f = { .width = 16, .height = 16, .triangles = 40, .rounds = 1,
				 .fault = true };
	uint32_t depth;

	(void)state;
	for (depth = 1; depth <= 4; depth++) {
		char options[48];
		struct result result;

		snprintf(options, sizeof(options), "split=4,chunk-fifo=%u", depth);
		f.options = options;
		result = draw(&f);
		assert_int_equal(result.err, -EIO);
		assert_int_equal(result.count[INDICES], (10 - depth) * 4 * 3);
	}
}

#define TARGET_TILES	15u	/* of 72 x 48 pixels */

/* The walk adds tiles until the FIFO is full, and the next one waits until a quarter is in use. */
static uint32_t tile_waits(uint32_t depth)
{
	uint32_t tiles = TARGET_TILES, level = 0, waits = 0;

	while (tiles > depth - level) {
		tiles -= depth - level;
		waits++;
		level = depth / 4;
	}
	return waits;
}

static void tiles_wait_for_a_fifo_of_the_property(void **state)
{
	static const uint32_t depths[] = { 1, 2, 4, 8, TARGET_TILES - 1, TARGET_TILES, 64 };
	struct sized_frame f = { .width = 72, .height = 48, .triangles = 2, .rounds = 1 };
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		char options[48];
		struct result result;

		snprintf(options, sizeof(options), "tile-fifo=%u", depths[i]);
		f.options = options;
		result = draw_well(&f);
		assert_int_equal(result.count[TILES], TARGET_TILES);
		assert_int_equal(result.count[TILE_WAITS], tile_waits(depths[i]));
	}
}

/*
 * A tile sets up 15 vertices in turn, twice. The least recently used one is replaced: a cache that
 * has no room for all of them has none of the second round.
 */
static void the_vertex_cache_of_the_tsp_has_the_size_of_the_property(void **state)
{
	static const struct {
		const char *options;
		uint32_t misses, hits;
	} sizes[] = {
		{ "tsp-vertices=4", 30, 0 }, { "tsp-vertices=8", 30, 0 },
		{ "tsp-vertices=16", 15, 15 }, { "tsp-vertices=1024", 15, 15 },
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct sized_frame f = {
			.options = sizes[i].options, .width = 16, .height = 16, .triangles = 5,
			.rounds = 2,
		};
		const struct result result = draw_well(&f);

		assert_int_equal(result.count[MISSES], sizes[i].misses);
		assert_int_equal(result.count[HITS], sizes[i].hits);
	}
}

#define VPM_ROW		128u	/* bytes: an output of a wave */
#define OUTPUTS		5u	/* of the vertex program */
#define WAVE		32u
#define TASK_WAVES	4u

/*
 * Vertex tasks of triangles without common vertices, by the size of the vertex pipe memory. Three
 * quarters are the ring of binning. Half of it has a piece, with room for one task more and a wave.
 */
static uint32_t vertex_tasks(uint32_t kib, uint32_t triangles)
{
	const uint32_t waves = kib * 1024 / VPM_ROW * 3 / 4 / 2 / OUTPUTS;
	const uint32_t task = (waves - 1) / 2 < TASK_WAVES ? (waves - 1) / 2 : TASK_WAVES;
	const uint32_t piece = (waves - 1 - task) * WAVE / 3;
	uint32_t tasks = 0, n;

	for (; triangles; triangles -= n) {
		n = triangles < piece ? triangles : piece;
		tasks += (n * 3 + task * WAVE - 1) / (task * WAVE);
	}
	return tasks;
}

static void pieces_and_tasks_of_binning_fit_a_vertex_memory_of_the_property(void **state)
{
	static const uint32_t sizes[] = { 8, 12, 16, 32, 512 };
	struct sized_frame f = { .width = 16, .height = 16, .triangles = 100, .rounds = 1 };
	/* Two tasks of spans of each triangle and of the background, and the end of the tile. */
	const uint32_t others = f.triangles * 2 + 2 + 1;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char options[48];

		snprintf(options, sizeof(options), "vpm-kib=%u", sizes[i]);
		f.options = options;
		assert_int_equal(draw_well(&f).count[TASKS],
				 others + vertex_tasks(sizes[i], f.triangles));
	}
}

/*
 * The ring has 192 rows. A whole piece has 149 triangles, in tasks of 20, 20, 20 and 10 rows. The
 * last two tasks of the third piece begin at row 0 again, where the first piece was, and 40 rows
 * are free from there to those of the second piece: a fourth piece that has more waits. Four pieces
 * may be in flight (VDM_PIECES), so that they wait for memory only.
 */
static void vertex_tasks_of_a_frame_wait_for_vertex_memory(void **state)
{
	static const struct {
		const char *options;
		uint32_t triangles, waits;
	} cases[] = {
		{ "vpm-kib=32", 149 * 3 + 85, 0 },	/* eight waves: 40 rows */
		{ "vpm-kib=32", 149 * 3 + 86, 1 },	/* nine */
		{ "vpm-kib=512", 149 * 3 + 86, 0 },
	};
	struct sized_frame f = { .width = 16, .height = 16, .rounds = 1 };
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f.options = cases[i].options;
		f.triangles = cases[i].triangles;
		assert_int_equal(draw_well(&f).count[VPM_WAITS], cases[i].waits);
	}
}

/* ------------------------------------------------------------- slot registers */

#define TEXT_BYTES	512u

/* Programs that take 1.0 through a register, such as "i7", to the target. */
static void write_programs(const char *vertex_reg, const char *fragment_reg, char *vertex,
			   char *fragment)
{
	snprintf(vertex, TEXT_BYTES,
		 POSITION "mov %s, [one], 1.0\nmov r0, [one], %s\nuvsw vo4, r0\nend\n", vertex_reg,
		 vertex_reg);
	snprintf(fragment, TEXT_BYTES,
		 "mov %s, [one], 2.0\nmov r0, [one], %s\nadd.f32 r0, r0, v0\nmov o0, [one], r0\n"
		 "mov o1, [one], r0\nmov o2, [one], r0\nmov o3, [one], r0\nend\n", fragment_reg,
		 fragment_reg);
}

static struct result draw_registers(uint32_t slot_registers, const char *vertex_reg,
				    const char *fragment_reg)
{
	char options[48], vertex[TEXT_BYTES], fragment[TEXT_BYTES];
	const struct sized_frame f = {
		.options = options, .width = 16, .height = 16, .triangles = 1, .rounds = 1,
		.vertex = vertex, .fragment = fragment,
	};

	snprintf(options, sizeof(options), "slot-registers=%u", slot_registers);
	write_programs(vertex_reg, fragment_reg, vertex, fragment);
	return draw(&f);
}

static void expect_registers(uint32_t slot_registers, const char *vertex_reg,
			     const char *fragment_reg)
{
	const struct result result = draw_registers(slot_registers, vertex_reg, fragment_reg);

	assert_int_equal(result.err, 0);
	assert_true(result.pixel[0] == 3.0f);
}

/* The context may report the fragment job, which has no scene if the vertex program is refused. */
static void expect_refusal(uint32_t slot_registers, const char *vertex_reg,
			   const char *fragment_reg, bool vertex_is_refused)
{
	const struct result result = draw_registers(slot_registers, vertex_reg, fragment_reg);

	assert_int_equal(result.err, -EIO);
	if (!vertex_is_refused || result.state.fault != PUMICE_FAULT_PM_NO_SCENE)
		assert_int_equal(result.state.fault, PUMICE_FAULT_USC_REGISTER);
}

/* The last register of each kind that exists, and the one after it. */
static void programs_of_a_frame_have_the_slot_registers_of_the_property(void **state)
{
	uint32_t slot;

	(void)state;
	for (slot = 0; slot <= OWN; slot += 4) {
		char sl[2][16], i[2][16];
		const char *const good = slot ? sl[0] : i[0];
		uint32_t n;

		for (n = 0; n < 2; n++) {
			snprintf(sl[n], sizeof(sl[n]), "sl%u", slot - 1 + n);
			snprintf(i[n], sizeof(i[n]), "i%u", OWN - slot - 1 + n);
		}
		expect_registers(slot, good, good);
		if (slot < OWN) {
			expect_registers(slot, i[0], i[0]);
			expect_refusal(slot, sl[1], good, true);
			expect_refusal(slot, good, sl[1], false);
		}
		if (slot) {
			expect_refusal(slot, i[1], good, true);
			expect_refusal(slot, good, i[1], false);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_draws_wait_for_an_idx_fifo_of_the_property),
		cmocka_unit_test(chunks_are_made_ahead_as_the_property_permits),
		cmocka_unit_test(tiles_wait_for_a_fifo_of_the_property),
		cmocka_unit_test(the_vertex_cache_of_the_tsp_has_the_size_of_the_property),
		cmocka_unit_test(pieces_and_tasks_of_binning_fit_a_vertex_memory_of_the_property),
		cmocka_unit_test(vertex_tasks_of_a_frame_wait_for_vertex_memory),
		cmocka_unit_test(programs_of_a_frame_have_the_slot_registers_of_the_property),
	};

	return cmocka_run_group_tests_name("scene sizes", tests, NULL, NULL);
}
