// SPDX-License-Identifier: MIT
/*
 * Deferred vertices of tasks of many primitives, one for each quad of a tile: vertices that are
 * kept and replaced, several draws in a task, planes that are computed again, and the records of
 * clipped primitives.
 */
#include <string.h>

#include "../../../qemu-device/gpu/ta/ta.h"
#include "../support/number.h"
#include "fixture.h"
#include "perf.h"

#define SIDE		32u	/* pixels of the target, one tile */
#define ROW		(SIDE / 2)	/* quads */
#define QUADS		(ROW * ROW)
#define TASK		32u	/* primitives of a task: its quads */
#define KEPT		256u	/* vertices that a tile keeps */
#define DRAWS		5u
#define OUTPUTS		(4u + SCENE_VARYINGS)	/* of the vertex programs */
#define RECORD(n)	(FX_STATES + 0x8000u + (n) * 0x100u)

/* A draw: its record, with a program, and its instance. */
struct draw {
	u32 record;		/* its number */
	enum fx_program program;
	bool second;		/* fragments are the second output of the program */
	u32 uniform_words;
	struct pumice_prim_draw draw;
};

/* The primitive of a quad; the fragments of number are those of its second vertex. */
struct quad {
	u8 draw;
	bool hidden;		/* it has none */
	u32 number;		/* of its first vertex */
	float expected;		/* fragments */
};

static struct fixture fx;
static struct quad quads[QUADS];

static int open_fixture(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static void put_record(const struct draw *draw)
{
	struct pumice_vdm_state record = scene_vertex_state(&fx, draw->program);
	u32 *words;

	record.point_size = draw->second;	/* varyings follow it */
	record.uniform_words = (u16)draw->uniform_words;
	words = (u32 *)(void *)(fx.states + (RECORD(draw->record) - FX_STATES));
	pumice_vdm_state_pack(words, &record);
}

static void begin(void)
{
	const struct pumice_isp_state isp = scene_usual_isp();

	scene_begin_square(&fx, SIDE);
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
}

/* A block of primitives whose vertices have consecutive numbers. */
struct block {
	struct scene_prim prim[PUMICE_BLOCK_PRIMS];
	struct scene_deferred deferred;
	u32 count;
};

static void add(struct block *block, const struct isp_triangle *triangle, u32 number)
{
	u32 v;

	block->prim[block->count] = (struct scene_prim){ .triangle = *triangle };
	for (v = 0; v < 3; v++)
		block->deferred.number[block->count * 3 + v] = number + v;
	block->count++;
}

static void flush(struct block *block)
{
	const struct fx_stream *stream = &fx.stream[0][0];

	if (!block->count)
		return;
	scene_draw(&fx, 0, block->prim, block->count);
	scene_defer(scene_block(&fx, 0, stream->count - 1), &block->deferred);
	block->count = 0;
}

/* Return a triangle over the pixels of a quad, and no others: in 1/256 pixel. */
static struct isp_triangle triangle_of(u32 quad)
{
	const s32 x = (s32)(quad % ROW) << 9, y = (s32)(quad / ROW) << 9;

	return (struct isp_triangle){
		.x = { x - 51, x + 563, x + 256 }, .y = { y + 102, y + 102, y + 614 },
		.z = { 0.25f, 0.25f, 0.25f },
	};
}

/* Add a primitive over the whole target. */
static void add_large(const struct draw *draw, u32 number)
{
	struct block block = {
		.deferred = { PUMICE_VERTEX_DATA_NUMBER, RECORD(draw->record), draw->draw, { 0 } },
	};

	add(&block, &(struct isp_triangle){ .x = { 0, 400 << 8, 0 }, .y = { 0, 0, 400 << 8 },
					    .z = { 0.25f, 0.25f, 0.25f } }, number);
	flush(&block);
}

/* Add the primitives of all quads, draw by draw. */
static void add_quads(const struct draw *draws, u32 count, u32 vertex_data)
{
	u32 n, quad;

	for (n = 0; n < count; n++) {
		struct block block = {
			.deferred = { (u8)vertex_data, RECORD(draws[n].record),
				      draws[n].draw, { 0 } },
		};

		put_record(&draws[n]);
		for (quad = 0; quad < QUADS; quad++) {
			const struct isp_triangle triangle = triangle_of(quad);

			if (quads[quad].draw != n || quads[quad].hidden)
				continue;
			add(&block, &triangle, quads[quad].number);
			if (block.count == PUMICE_BLOCK_PRIMS)
				flush(&block);
		}
		flush(&block);
	}
}

static void run(void)
{
	const float *colour = (const float *)(const void *)fx.colour;
	u32 i;

	scene_end(&fx, true);
	memset(fx.colour, 0xff, FX_BYTES);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	for (i = 0; i < SIDE * SIDE; i++) {
		const u32 quad = i / SIDE / 2 * ROW + i % SIDE / 2;

		if (colour[i] != quads[quad].expected)
			fail_msg("quad %u: %f instead of %f", quad, (double)colour[i],
				 (double)quads[quad].expected);
	}
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
}

static void set_number(u32 quad, u32 number)
{
	quads[quad] = (struct quad){ .number = number, .expected = (float)(number + 1) };
}

/*
 * Count the vertices that are shaded if a tile keeps KEPT of them, and a vertex replaces the oldest
 * one that no primitive of its task has.
 */
static u32 count_shaded(void)
{
	u32 number[KEPT], task[KEPT] = { 0 }, next = 0, count = 0, n, i;

	for (n = 0; n < 3 * QUADS; n++) {
		const u32 wanted = quads[n / 3].number + n % 3, now = 1 + n / 3 / TASK;

		for (i = 0; i < KEPT && !(task[i] && number[i] == wanted); i++)
			;
		if (i == KEPT) {
			do {
				i = next++ % KEPT;
			} while (task[i] == now);
			number[i] = wanted;
			count++;
		}
		task[i] = now;
	}
	return count;
}

static u64 shaded(void)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	pdm_counters_add(fx.pdm, value);
	return value[PUMICE_PERF_PDM_VERTICES];
}

/* Some primitives have the oldest vertices, which others of their task would replace. */
static void vertices_that_a_task_needs_are_not_replaced(void **state)
{
	static const struct draw draw = { .program = FX_VERTEX };
	u64 seed = NUMBER_SEED;
	u32 round, quad, next;
	u64 before;

	(void)state;
	for (round = 0; round < 20; round++) {
		next = 0;
		before = shaded();
		for (quad = 0; quad < QUADS; quad++) {
			const u32 back = KEPT / 3 - number_random(&seed, 16);

			if (back <= next && number_random(&seed, 3) == 0)
				set_number(quad, 3 * (next - back));
			else
				set_number(quad, 3 * next++);
		}
		begin();
		add_quads(&draw, 1, PUMICE_VERTEX_DATA_NUMBER);
		run();
		assert_int_equal(shaded() - before, count_shaded());
	}
}

/*
 * Each task of fragments needs the vertices of three waves: they are shaded in as many tasks as
 * half of the pool requires, of a quarter of the VPM, or wave by wave if that is less than a wave.
 */
static void tasks_of_vertices_fit_half_of_the_pool(void **state)
{
	static const u32 rows[] = { 4 * OUTPUTS, 8 * OUTPUTS, 16 * OUTPUTS, 24 * OUTPUTS };
	static const u32 tasks[] = { 3, 3, 2, 1 };	/* of vertices, for one of fragments */
	static const struct draw draw = { .program = FX_VERTEX };
	u32 i, quad;
	u64 before;

	(void)state;
	for (i = 0; i < 4; i++) {
		const struct fx_stores stores = {
			.unified_bytes = 512u << 10, .common_bytes = 576u << 10,
			.outputs = PUMICE_OUTPUT_STORE_COMMON,
			.vpm_bytes = rows[i] * PUMICE_LANES * 4u,
		};

		fx_close(&fx);
		fx_open_stores(&fx, 1, &stores);
		for (quad = 0; quad < QUADS; quad++)
			set_number(quad, 3 * quad);
		begin();
		add_quads(&draw, 1, PUMICE_VERTEX_DATA_NUMBER);
		before = fx_counter(&fx, PUMICE_PERF_PDS_TASKS);
		run();
		/* The last task is that of the store program. */
		assert_int_equal(fx_counter(&fx, PUMICE_PERF_PDS_TASKS) - before,
				 QUADS / TASK * (1 + tasks[i]) + 1);
	}
	fx_close(&fx);
	fx_open(&fx, 1);
}

/* Vertices of all draws have the same numbers. */
static void a_task_may_have_vertices_of_several_draws(void **state)
{
	static const struct draw draws[DRAWS] = {
		{ .program = FX_VERTEX, .draw = { .instance = 3 } },
		{ .record = 1, .program = FX_VERTEX, .second = true, .draw = { .instance = 3 } },
		{ .record = 1, .program = FX_VERTEX, .second = true, .draw = { .instance = 4 } },
		{ .record = 2, .program = FX_VERTEX_BASE, .draw = { 4, 1 } },
		{ .record = 2, .program = FX_VERTEX_BASE, .draw = { 4, 2 } },
	};
	static const float expected[DRAWS] = { 18, 3, 4, 0.5f, 0.75f };
	float *attributes = (float *)(void *)(fx.states + (FX_ATTRIBUTES - FX_STATES));
	u64 seed = NUMBER_SEED;
	u32 round, quad;

	(void)state;
	attributes[0] = 0.25f;
	attributes[1] = expected[3];
	attributes[2] = expected[4];
	for (round = 0; round < 4; round++) {
		for (quad = 0; quad < QUADS; quad++) {
			const u8 draw = (u8)number_random(&seed, DRAWS);

			quads[quad] = (struct quad){ .draw = draw, .number = 17,
						     .expected = expected[draw] };
		}
		begin();
		add_quads(draws, DRAWS, PUMICE_VERTEX_DATA_NUMBER);
		run();
	}
}

/* Not those of the task before, which wrote them in all of its waves. */
static void outputs_that_are_not_written_are_0(void **state)
{
	static const struct draw draws[] = {
		{ .program = FX_VERTEX }, { .record = 1, .program = FX_VERTEX_SECOND },
	};
	u32 quad;

	(void)state;
	for (quad = 0; quad < QUADS; quad++) {
		set_number(quad, 3 * quad);
		if (quad < QUADS / 2)
			continue;
		quads[quad].draw = 1;
		quads[quad].expected = 0;
	}
	begin();
	add_quads(draws, 2, PUMICE_VERTEX_DATA_NUMBER);
	run();
}

/*
 * A primitive of the first task is also in the second one, at each place. Planes of those before it
 * there can replace its own, which are then computed again from its vertices.
 */
static void vertices_are_gathered_where_planes_may_be_replaced(void **state)
{
	static const struct draw draw = { .program = FX_VERTEX };
	u32 at, quad;

	(void)state;
	for (at = TASK; at < 2 * TASK; at++) {
		for (quad = 0; quad < QUADS; quad++)
			set_number(quad, 3 * quad);
		set_number(0, 9000);
		set_number(at, 9000);
		quads[0].hidden = quads[at].hidden = true;
		begin();
		add_large(&draw, 9000);
		add_quads(&draw, 1, PUMICE_VERTEX_DATA_NUMBER);
		run();
	}
}

/* ------------------------------------------------------------ clipped primitives */

static u32 clips[2];	/* by the uniform words of the record */

void __real_ta_clip_again(const struct pumice_vdm_state *state, u8 kind, u64 flat,
			  const struct ta_source *source, u32 vertices, const u8 *corner,
			  float *out);
void __wrap_ta_clip_again(const struct pumice_vdm_state *state, u8 kind, u64 flat,
			  const struct ta_source *source, u32 vertices, const u8 *corner,
			  float *out);

void __wrap_ta_clip_again(const struct pumice_vdm_state *state, u8 kind, u64 flat,
			  const struct ta_source *source, u32 vertices, const u8 *corner,
			  float *out)
{
	assert_in_range(state->uniform_words, 0, 1);
	clips[state->uniform_words]++;
	__real_ta_clip_again(state, kind, flat, source, vertices, corner, out);
}

/* The record that was loaded last is that of one draw of a task only. */
static void primitives_are_clipped_with_their_own_record(void **state)
{
	static const struct draw draws[] = {
		{ .program = FX_VERTEX }, { .record = 1, .program = FX_VERTEX, .uniform_words = 1 },
	};
	u32 quad;

	(void)state;
	for (quad = 0; quad < QUADS; quad++) {
		set_number(quad, 3 * quad);
		quads[quad].draw = quad % 4 == 0;
	}
	memset(clips, 0, sizeof(clips));
	begin();
	add_quads(draws, 2, PUMICE_VERTEX_DATA_CLIPPED);
	run();
	assert_int_equal(clips[0], QUADS * 3 / 4);
	assert_int_equal(clips[1], QUADS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vertices_that_a_task_needs_are_not_replaced),
		cmocka_unit_test(tasks_of_vertices_fit_half_of_the_pool),
		cmocka_unit_test(a_task_may_have_vertices_of_several_draws),
		cmocka_unit_test(outputs_that_are_not_written_are_0),
		cmocka_unit_test(vertices_are_gathered_where_planes_may_be_replaced),
		cmocka_unit_test(primitives_are_clipped_with_their_own_record),
	};

	return cmocka_run_group_tests_name("vertices", tests, open_fixture, close_fixture);
}
