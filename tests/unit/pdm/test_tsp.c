// SPDX-License-Identifier: MIT
/*
 * The vertex cache of the TSP: triangles with shared vertices, whose hits and misses are those of a
 * model of the cache; and frames with other data at the same addresses. Planes of depth.
 *
 * The triangles are neighbours with a row of vertices above the target and far ones below it, so
 * that they are seen from left to right in the first row of pixels, each in one pixel at least:
 * they are set up in that order. Vertices of the row are shared by two of them, each of the far
 * ones, which have one position, by every sixth.
 */
#include <string.h>

#include "../support/number.h"
#include "fixture.h"
#include "perf.h"

#define PRIMS	16u
#define FAR	6u	/* far vertices */
#define USED	(PRIMS + 1 + FAR)
#define MACRO	32u	/* width of a macro tile of a target of the maximum size */
#define WAYS	4u
#define MAX_SETS 32u

static struct fixture fx;
static struct scene_mesh mesh;
static u64 seed = NUMBER_SEED;

/* Vertices have random numbers in the block, and random values. */
static void make_mesh(void)
{
	u8 number[SCENE_MESH_VERTICES];
	u32 i, k;

	memset(&mesh, 0, sizeof(mesh));
	mesh.vertices = SCENE_MESH_VERTICES;
	mesh.prims = PRIMS;
	for (i = 0; i < SCENE_MESH_VERTICES; i++)
		number[i] = (u8)i;
	for (i = 0; i < USED; i++) {
		const u32 other = i + number_random(&seed, SCENE_MESH_VERTICES - i);
		const u8 n = number[other];
		const bool far = i > PRIMS;

		number[other] = number[i];
		number[i] = n;
		mesh.vertex[n] = (struct scene_vertex){
			.x = far ? 4109 : (s32)(i * 2 * 256) - 256 + 13,
			.y = (far ? 4000 : -64) * 256 + 7,
			.value = { (float)(1 + number_random(&seed, 100000)), 0 },
		};
	}
	for (k = 0; k < PRIMS; k++) {
		mesh.index[k][0] = number[k];
		mesh.index[k][1] = number[k + 1];
		mesh.index[k][2] = number[PRIMS + 1 + k % FAR];
	}
}

static bool inside(u32 prim, s32 x, s32 y)
{
	const struct scene_vertex *v[3];
	s64 side[3];
	u32 i;

	for (i = 0; i < 3; i++)
		v[i] = &mesh.vertex[mesh.index[prim][i]];
	for (i = 0; i < 3; i++) {
		const struct scene_vertex *a = v[i], *b = v[(i + 1) % 3];

		side[i] = (s64)(b->x - a->x) * (y - a->y) - (s64)(b->y - a->y) * (x - a->x);
		assert_true(side[i]);
	}
	return (side[0] > 0) == (side[1] > 0) && (side[1] > 0) == (side[2] > 0);
}

/* Return the triangle that a pixel is in, or PRIMS. */
static u32 prim_at(u32 x, u32 y)
{
	u32 prim;

	for (prim = 0; prim < PRIMS; prim++)
		if (inside(prim, (s32)(x * 256 + 128), (s32)(y * 256 + 128)))
			break;
	return prim;
}

/* Each pixel has the value of the triangle that it is in. */
static void compare(u32 side)
{
	const float *colour = (const float *)(const void *)fx.colour;
	u32 x, y;

	for (y = 0; y < side; y++) {
		for (x = 0; x < side; x++) {
			const u32 prim = prim_at(x, y);
			const float want = prim == PRIMS ? 0 :
					   mesh.vertex[mesh.index[prim][1]].value[0];

			assert_float_equal(colour[y * side + x], want, 0);
		}
	}
}

/* Render the mesh; return its block. */
static u32 render(u32 side, u32 tile_size)
{
	const struct scene_size size = { side, side, 1, tile_size };
	const struct pumice_isp_state isp = scene_usual_isp();
	u32 block;

	memset(fx.colour, 0, FX_BYTES);
	scene_begin(&fx, &size);
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	block = scene_draw_mesh(&fx, 0, &mesh);
	scene_end(&fx, true);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	compare(side);
	return block;
}

static u64 counter(enum pumice_perf_counter n)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	pdm_counters_add(fx.pdm, value);
	return value[n];
}

/* The model: vertices of each set, the last one used first. */
static u32 model_misses(u32 block, u32 sets)
{
	u32 list[MAX_SETS][WAYS], length[MAX_SETS] = { 0 }, misses = 0, prim, i, at;

	for (prim = 0; prim < PRIMS; prim++) {
		for (i = 0; i < 3; i++) {
			const u32 vertex = mesh.index[prim][i], set = (block + vertex) % sets;

			for (at = 0; at < length[set] && list[set][at] != vertex; at++)
				;
			misses += at == length[set];
			if (at == length[set] && at < WAYS)
				length[set]++;
			if (at == WAYS)
				at--;
			memmove(&list[set][1], &list[set][0], at * sizeof(list[0][0]));
			list[set][0] = vertex;
		}
	}
	return misses;
}

static void shared_vertices_hit_as_in_the_model(void **state)
{
	u32 vertices, round, different = 0;

	(void)state;
	for (vertices = WAYS; vertices <= MAX_SETS * WAYS; vertices *= 2) {
		u64 hits = 0, misses = 0;

		fx_open_cache(&fx, 1, vertices);
		for (round = 0; round < 20; round++) {
			u32 block, want;

			make_mesh();
			block = render(32, PUMICE_TILE_SIZE_32X32);
			want = model_misses(block, vertices / WAYS);
			assert_int_equal(counter(PUMICE_PERF_PDM_TSP_MISSES) - misses, want);
			assert_int_equal(counter(PUMICE_PERF_PDM_TSP_HITS) - hits,
					 3 * PRIMS - want);
			misses += want;
			hits += 3 * PRIMS - want;
			different += want != USED;
		}
		fx_close(&fx);
	}
	assert_true(different > 20);	/* vertices were replaced */
}

/* Count the vertices of the triangles in a square, and the triangles. */
static u32 count_in(u32 left, u32 top, u32 side, u32 *prims)
{
	bool seen[SCENE_MESH_VERTICES] = { false }, drawn[PRIMS] = { false };
	u32 x, y, i, prim, vertices = 0;

	*prims = 0;
	for (y = top; y < top + side; y++) {
		for (x = left; x < left + side; x++) {
			prim = prim_at(x, y);
			if (prim == PRIMS || drawn[prim])
				continue;
			drawn[prim] = true;
			++*prims;
			for (i = 0; i < 3; i++) {
				vertices += !seen[mesh.index[prim][i]];
				seen[mesh.index[prim][i]] = true;
			}
		}
	}
	return vertices;
}

/* A core reads each vertex of a block once, although several tiles set up its triangles. */
static void tiles_of_a_core_share_the_cache(void **state)
{
	u32 vertices = 0, setups = 0, x, y, prims;

	(void)state;
	fx_open_cache(&fx, 1, 1024);
	make_mesh();
	render(FX_MAX_SIZE, PUMICE_TILE_SIZE_16X16);
	for (y = 0; y < FX_MAX_SIZE; y += MACRO)
		for (x = 0; x < FX_MAX_SIZE; x += MACRO)
			vertices += count_in(x, y, MACRO, &prims);
	for (y = 0; y < FX_MAX_SIZE; y += 16) {
		for (x = 0; x < FX_MAX_SIZE; x += 16) {
			count_in(x, y, 16, &prims);
			setups += prims;
		}
	}
	assert_int_equal(counter(PUMICE_PERF_PDM_TSP_MISSES), vertices);
	assert_int_equal(counter(PUMICE_PERF_PDM_TSP_HITS), 3 * setups - vertices);
	fx_close(&fx);
}

/* compare() fails if a vertex of an earlier frame is used. */
static void blocks_at_the_same_address_have_the_vertices_of_their_frame(void **state)
{
	u32 round, first = 0, block;

	(void)state;
	fx_open_cache(&fx, 2, 256);
	for (round = 0; round < 8; round++) {
		make_mesh();
		block = render(32, PUMICE_TILE_SIZE_16X16);
		first = round ? first : block;
		assert_int_equal(block, first);
		if (round == 5)
			fx_reset(&fx);
	}
	fx_close(&fx);
}

/* Return the depth of the triangle of render_depths() at a point, in pixels. */
static float depth_at(const struct scene_prim *p, double x, double y)
{
	const struct isp_triangle *t = &p->triangle;
	const double dx = (double)t->z[1] - (double)t->z[0], dy = (double)t->z[2] - (double)t->z[0];

	return (float)((double)t->z[0] + dx * x / 1024 + dy * y / 1024);
}

/* Render a triangle with corners at 0, 0, at 1024, 0 and at 0, 1024, and random depths. */
static struct scene_prim render_depths(enum fx_program program)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	struct scene_prim prim = { .triangle = {
		.x = { 0, 1024 * 256, 0 }, .y = { 0, 0, 1024 * 256 }, .vertex = { 0, 1, 2 },
	} };
	u32 i;

	for (i = 0; i < 3; i++)
		prim.triangle.z[i] = (float)(1 + number_random(&seed, 1000)) / 1001;
	scene_begin_square(&fx, 32);
	scene_set_object(&fx, 0, &isp, program, false);
	scene_draw(&fx, 0, &prim, 1);
	scene_end(&fx, true);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	return prim;
}

/* The plane of depth is set up only for programs that read it, in one of these ways. */
static void programs_that_read_depth_get_its_plane(void **state)
{
	static const enum fx_program programs[] = { FX_DEPTH_MOV, FX_DEPTH_ITERATE,
						    FX_DEPTH_COEFF };
	u32 n, x, y;

	(void)state;
	fx_open_cache(&fx, 1, 256);
	for (n = 0; n < 3 * sizeof(programs) / sizeof(programs[0]); n++) {
		struct scene_prim prim;

		render_depths(FX_PLAIN);
		prim = render_depths(programs[n / 3]);
		for (y = 0; y < 32; y++)
			for (x = 0; x < 32; x++)
				assert_float_equal(scene_colour(&fx, 32, x, y),
						   depth_at(&prim, x + 0.5, y + 0.5), 1e-6);
	}
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_vertices_hit_as_in_the_model),
		cmocka_unit_test(tiles_of_a_core_share_the_cache),
		cmocka_unit_test(blocks_at_the_same_address_have_the_vertices_of_their_frame),
		cmocka_unit_test(programs_that_read_depth_get_its_plane),
	};

	return cmocka_run_group_tests_name("pdm tsp", tests, NULL, NULL);
}
