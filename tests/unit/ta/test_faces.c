// SPDX-License-Identifier: MIT
/*
 * Faces of triangles that have to be clipped: culled ones are not clipped. Clipping is observed by
 * its read of the TSP state, which is not mapped here, and by the work that a call is charged. The
 * face is compared with that of a clipper in f64, which needs no determinant, and where rounding
 * decides with the reference rasteriser.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "ta_fixture.h"

#define UNMAPPED	0xa00000000ull	/* address of a TSP state */
#define WORDS		8u		/* of a vertex */
#define PLANES		7u
#define MODES		32u		/* of set_mode() */

static const struct pumice_scene one_tile = { .width = 32, .height = 32, .cores = 1 };

static struct ta_fixture *create(void)
{
	struct ta_fixture *fx = tafx_create(500, &one_tile);

	fx->draw.state.depth_clip = true;
	fx->draw.state.offset_x = fx->draw.state.offset_y = 16;
	return fx;
}

/* Bits of mode: both faces that are culled, the orientation of front faces, both mirrors. */
static void set_mode(struct ta_fixture *fx, u32 mode)
{
	struct pumice_vdm_state *s = &fx->draw.state;

	s->cull_front = mode & 1;
	s->cull_back = mode & 2;
	s->front_ccw = mode & 4;
	s->scale_x = mode & 8 ? -16 : 16;
	s->scale_y = mode & 16 ? -16 : 16;
}

static struct ref_state rules(const struct ta_fixture *fx)
{
	const struct pumice_vdm_state *s = &fx->draw.state;

	return (struct ref_state){
		.scale = { s->scale_x, s->scale_y, s->scale_z },
		.offset = { s->offset_x, s->offset_y, s->offset_z },
		.cull_front = s->cull_front, .cull_back = s->cull_back, .front_ccw = s->front_ccw,
		.depth_clip = s->depth_clip,
	};
}

static void load(const struct tafx_prim *p, struct ref_vertex v[3])
{
	u32 i;

	memset(v, 0, 3 * sizeof(*v));
	for (i = 0; i < 3; i++)
		memcpy(v[i].pos, p->pos[i], sizeof(v[i].pos));
}

static float unit(struct ta_fixture *fx)
{
	return (float)pbfx_random(fx->pb, 1u << 24) / (1 << 23) - 1;
}

static void set(struct tafx_prim *p, u32 i, float x, float y, float z, float w)
{
	const float pos[4] = { x, y, z, w };

	memcpy(p->pos[i], pos, sizeof(pos));
	p->size[i] = 1;
}

/*
 * Make a triangle with a vertex inside of all planes, one outside of the given one, and one
 * anywhere, from vertex first on, in steps. That of plane 0 has a negative w.
 */
static void make_crossing(struct ta_fixture *fx, struct tafx_prim *p, u32 plane, u32 first,
			  u32 step)
{
	static const float out[PLANES][4] = {
		{ 0, 0, 0.5f, -1 }, { 0, 0, -2, 1 }, { 0, 0, 2, 1 }, { -1500, 0, 0.5f, 1 },
		{ 1500, 0, 0.5f, 1 }, { 0, -1500, 0.5f, 1 }, { 0, 1500, 0.5f, 1 },
	};
	const float w = 1.5f + unit(fx), *o = out[plane];

	set(p, first, unit(fx) * w, unit(fx) * w, 0.5f * w, w);
	set(p, (first + step) % 3, o[0] + unit(fx), o[1] + unit(fx), o[2], o[3]);
	set(p, (first + 2 * step) % 3, unit(fx) * 3, unit(fx) * 3, unit(fx) * 2,
	    unit(fx) + (plane ? 1.5f : 0));
}

static void make_any(struct ta_fixture *fx, struct tafx_prim *p, u32 plane)
{
	make_crossing(fx, p, plane, pbfx_random(fx->pb, 3), 1 + pbfx_random(fx->pb, 2));
}

/*
 * Return the area on the screen of the part with w > 0, clockwise positive, by clipping in f64.
 * Other planes remove parts of it, and do not change its sign.
 */
static double area_in_front(const struct ta_fixture *fx, const struct tafx_prim *p)
{
	const double near = 0x1p-20;
	double at[4][2], area = 0;
	u32 n = 0, i, k;

	for (i = 0; i < 3; i++) {
		const float *a = p->pos[i], *b = p->pos[(i + 1) % 3];
		const double da = (double)a[3] - near, db = (double)b[3] - near;

		for (k = 0; k < 2 && da >= 0; k++)
			at[n][k] = (double)a[k] / (double)a[3];
		n += da >= 0;
		for (k = 0; k < 2 && (da >= 0) != (db >= 0); k++)
			at[n][k] = ((double)a[k] * db - (double)b[k] * da) / (db - da) / near;
		n += (da >= 0) != (db >= 0);
	}
	for (i = 0; i < n; i++) {
		const double *a = at[i], *b = at[(i + 1) % n];

		area += a[0] * b[1] - b[0] * a[1];
	}
	return area / 2 * (double)fx->draw.state.scale_x * (double)fx->draw.state.scale_y;
}

static void store(const struct tafx_prim *p, u32 vo[WORDS * PUMICE_LANES])
{
	u32 i, k;

	memset(vo, 0, WORDS * PUMICE_LANES * sizeof(*vo));
	for (i = 0; i < 3; i++)
		for (k = 0; k < 4; k++)
			vo[k * PUMICE_LANES + i] = number_bits(p->pos[i][k]);
}

/* Return whether the triangle is clipped: then the TSP state is read, and missing. */
static bool is_clipped(struct ta_fixture *fx, const struct tafx_prim *p)
{
	static u32 vo[WORDS * PUMICE_LANES];
	const struct ta_prim prim = { { 0, 1, 2 } };
	const u64 tsp_state = fx->draw.state.tsp_state;
	struct gpu_fault fault = { 0 };
	struct tafx_waves waves;
	struct ta_vertices vertices = tafx_waves(&waves, vo, WORDS, 3);
	enum ta_result result;
	u32 done = 0;

	store(p, vo);
	fx->draw.state.point_size = true;
	fx->draw.state.tsp_state = UNMAPPED;
	result = ta_primitives(fx->ta[0], &fx->draw, &vertices, &prim, 1, &done, &fault);
	fx->draw.state.tsp_state = tsp_state;
	if (result == TA_OK)
		return false;
	assert_int_equal(result, TA_FAULT);
	assert_int_equal(fault.unit, PUMICE_UNIT_MTE);
	assert_int_equal(fault.addr, UNMAPPED);
	return true;
}

/* Return the number of parts of the triangle in the one tile, with a TSP state that is mapped. */
static u32 parts(struct ta_fixture *fx, const struct tafx_prim *p)
{
	struct gpu_fault fault;

	tafx_clear(fx);
	tafx_begin(fx, 0);
	tafx_give_all(fx, p, 1);
	tafx_finish(fx, 0);
	assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	return fx->tile[0].count;
}

/* Return whether a coordinate program keeps the triangle. */
static bool is_kept_by_position(struct ta_fixture *fx, const struct tafx_prim *p)
{
	static u32 vo[WORDS * PUMICE_LANES];
	const struct ta_prim prim = { { 0, 1, 2 } };
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, WORDS, 3);
	bool keep = true;

	store(p, vo);
	ta_cull(fx->ta[0], &fx->draw, &vertices, &prim, 0, 1, &keep);
	return keep;
}

static void a_culled_face_that_crosses_any_plane_is_not_clipped(void **state)
{
	struct ta_fixture *fx = create();
	u32 mode, plane, i, clipped = 0, culled = 0, kept = 0;

	(void)state;
	for (mode = 0; mode < MODES; mode++) {
		set_mode(fx, mode);
		for (plane = 0; plane < PLANES; plane++)
			for (i = 0; i < 40; i++) {
				struct tafx_prim p = { 0 };
				double area;
				bool front, cull;

				make_any(fx, &p, plane);
				area = area_in_front(fx, &p);
				if (fabs(area) < 0.01)
					continue;
				front = fx->draw.state.front_ccw ? area < 0 : area > 0;
				cull = mode & (front ? 1 : 2);
				if (is_clipped(fx, &p) == cull)
					fail_msg("mode %u, plane %u, triangle %u: area %f", mode,
						 plane, i, area);
				clipped += !cull;
				culled += cull;
				if (cull)
					assert_false(is_kept_by_position(fx, &p));
				if (parts(fx, &p)) {
					assert_false(cull);
					assert_true(is_kept_by_position(fx, &p));
					kept++;
				}
			}
	}
	print_message("%u triangles are clipped, of which %u are on the target, %u are culled\n",
		      clipped, kept, culled);
	assert_true(clipped > 4000 && culled > 4000 && kept > 1000);
	tafx_destroy(fx);
}

/*
 * Make three vertices in a plane through the origin, as multiples of 23 bits: their determinant
 * is 0, and the computed one is the rounding of its terms.
 */
static void make_rounding(struct ta_fixture *fx, struct tafx_prim *p)
{
	const float scale = ldexpf(1, (s32)pbfx_random(fx->pb, 60) - 50);
	const u32 first = pbfx_random(fx->pb, 3), step = 1 + pbfx_random(fx->pb, 2);
	float *a = p->pos[first], *b = p->pos[(first + step) % 3];
	float *c = p->pos[(first + 2 * step) % 3];
	u32 k;

	for (k = 0; k < 4; k++) {
		a[k] = (float)(pbfx_random(fx->pb, 1u << 22) + (1u << 22)) * scale;
		b[k] = ((float)pbfx_random(fx->pb, 1u << 23) - (1 << 22)) * scale;
	}
	a[2] = a[3] / 2;
	b[3] = -fabsf(b[3]) - scale;
	for (k = 0; k < 4; k++)
		c[k] = a[k] + b[k];
}

static void rounding_decides_as_the_rules_do(void **state)
{
	struct ta_fixture *fx = create();
	u32 i, clipped = 0, culled = 0;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct tafx_prim p = { 0 };
		struct ref_vertex v[3];
		struct ref_state s;
		bool cull;

		set_mode(fx, i % MODES);
		s = rules(fx);
		make_rounding(fx, &p);
		load(&p, v);
		cull = ref_culls(&s, v);
		if (is_clipped(fx, &p) == cull)
			fail_msg("triangle %u, mode %u", i, i % MODES);
		clipped += !cull;
		culled += cull;
	}
	print_message("%u triangles are clipped, %u are culled\n", clipped, culled);
	assert_true(clipped > 30000 && culled > 20000);
	tafx_destroy(fx);
}

/* Without an area there is no face to be culled: clipping leaves nothing that is drawn. */
static void triangles_without_area_are_clipped_and_not_drawn(void **state)
{
	static const float a[4] = { 0.5f, 0.25f, 0.5f, 1 }, b[4] = { 3, -2, 0.5f, -1 };
	static const float sum[4] = { 3.5f, -1.75f, 1, 0 }, origin[4] = { 0 };
	static const float *cases[][3] = {
		{ a, b, b }, { b, a, b }, { b, b, a }, { a, a, b }, { a, b, a }, { b, a, a },
		{ a, b, sum }, { sum, b, a }, { a, sum, b }, { a, b, origin }, { origin, b, a },
	};
	struct ta_fixture *fx = create();
	u32 mode, c, i;

	(void)state;
	for (mode = 0; mode < MODES; mode++)
		for (c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
			struct tafx_prim p = { 0 };

			set_mode(fx, mode);
			for (i = 0; i < 3; i++)
				set(&p, i, cases[c][i][0], cases[c][i][1], cases[c][i][2],
				    cases[c][i][3]);
			if (!is_clipped(fx, &p))
				fail_msg("mode %u, case %u", mode, c);
			assert_int_equal(parts(fx, &p), 0);
		}
	tafx_destroy(fx);
}

static void is_unchanged(const struct ref_polygon *polygon, const struct ref_vertex v[3])
{
	u32 i;

	assert_int_equal(polygon->count, 3);
	for (i = 0; i < 3; i++)
		assert_memory_equal(polygon->vertex[i].pos, v[i].pos, sizeof(v[i].pos));
}

/* The greatest and smallest finite numbers have a face; others are dropped, not clipped. */
static void extreme_positions_have_a_face_if_they_are_finite(void **state)
{
	static const float values[] = {
		NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -FLT_TRUE_MIN, -0.0f,
	};
	struct ta_fixture *fx = create();
	u32 mode, plane, n, clipped = 0, culled = 0;

	(void)state;
	for (mode = 0; mode < MODES; mode++)
		for (plane = 0; plane < PLANES; plane++)
			for (n = 0; n < 8 * 12; n++) {
				const float value = values[n / 12];
				struct ref_polygon polygon;
				struct tafx_prim p = { 0 };
				struct ref_vertex v[3];
				struct ref_state s;
				bool cull;

				set_mode(fx, mode);
				s = rules(fx);
				make_any(fx, &p, plane);
				p.pos[n % 3][n / 3 % 4] = value;
				load(&p, v);
				if (n < 3 * 12) {
					assert_false(is_clipped(fx, &p));
					assert_int_equal(parts(fx, &p), 0);
					continue;
				}
				cull = ref_culls(&s, v);
				/* The value may be inside of all planes, or all outside of one. */
				if (!is_clipped(fx, &p)) {
					culled += cull;
					s.cull_front = s.cull_back = false;
					if (!cull && ref_clip(&s, v, 3, &polygon))
						is_unchanged(&polygon, v);
					continue;
				}
				assert_false(cull);
				clipped++;
			}
	print_message("%u triangles are clipped, %u are culled\n", clipped, culled);
	assert_true(clipped > 5000 && culled > 5000);
	tafx_destroy(fx);
}

/* Points are not clipped. */
static void lines_that_are_clipped_have_no_face(void **state)
{
	struct ta_fixture *fx = create();
	u32 mode, plane, i;

	(void)state;
	fx->draw.kind = PUMICE_PRIM_KIND_LINE;
	for (mode = 0; mode < MODES; mode++)
		for (plane = 0; plane < PLANES; plane++)
			for (i = 0; i < 10; i++) {
				struct tafx_prim p = { 0 };

				set_mode(fx, mode);
				make_crossing(fx, &p, plane, 0, 1);
				if (!is_clipped(fx, &p))
					fail_msg("mode %u, plane %u, line %u", mode, plane, i);
			}
	tafx_destroy(fx);
}

/* Return the number of calls that many triangles of the same positions need; none is drawn. */
static u32 calls_for(struct ta_fixture *fx, const struct tafx_prim *p)
{
	static const u32 numbers[3] = { 0, 1, 2 };
	static struct ta_prim prims[4 * TA_PIECE];
	static u32 vo[WORDS * PUMICE_LANES];
	const u32 count = sizeof(prims) / sizeof(*prims);
	const u64 culled = ta_counters(fx->ta[0])->culled;
	struct tafx_waves waves;
	struct ta_vertices vertices = tafx_waves(&waves, vo, WORDS, 3);
	enum ta_result result;
	struct gpu_fault fault;
	u32 i, done = 0, calls = 0;

	for (i = 0; i < count; i++)
		prims[i] = (struct ta_prim){ { 0, 1, 2 } };
	store(p, vo);
	vertices.number = numbers;
	tafx_begin(fx, 0);
	do {
		result = ta_primitives(fx->ta[0], &fx->draw, &vertices, prims, count, &done,
				       &fault);
		calls++;
	} while (result == TA_MORE);
	assert_int_equal(result, TA_OK);
	assert_int_equal(done, count);
	assert_int_equal(ta_counters(fx->ta[0])->culled - culled, count);
	assert_int_equal(ta_counters(fx->ta[0])->clipped, 0);
	assert_int_equal(ta_counters(fx->ta[0])->tile_entries, 0);
	return calls;
}

/* Culled faces cost as much as those that cross no plane; a clip costs more. */
static void culled_faces_are_not_charged_for_a_clip(void **state)
{
	struct ta_fixture *fx = create();
	struct tafx_prim crossing = { 0 }, inside = { 0 }, no_area = { 0 };
	u32 deferred, culled, clipped;

	(void)state;
	set(&crossing, 0, 0, 0, 0.5f, 1);
	set(&crossing, 1, 0, 1, 0.5f, -1);
	set(&crossing, 2, 1, 0, 0.5f, 1);
	no_area = inside = crossing;
	set(&inside, 1, 0, -1, 0.5f, 1);
	set(&no_area, 2, 0, -1, 0.5f, 1);
	set_mode(fx, 0);
	fx->draw.state.point_size = true;
	fx->draw.vertex_state = PBFX_STATE;
	for (deferred = 0; deferred < 2; deferred++) {
		fx->draw.state.deferred = deferred;
		set_mode(fx, area_in_front(fx, &inside) > 0 ? 1 : 2);
		culled = calls_for(fx, &inside);
		set_mode(fx, area_in_front(fx, &crossing) > 0 ? 1 : 2);
		assert_int_equal(calls_for(fx, &crossing), culled);
		clipped = calls_for(fx, &no_area);
		assert_true(clipped >= 2 * culled);
	}
	print_message("%u calls, %u with clips\n", culled, clipped);
	tafx_destroy(fx);
}

/* Return how many parts in the tile are of a face that is culled, or not culled. */
static u32 parts_of_face(const struct ta_fixture *fx, bool culled)
{
	const struct pumice_vdm_state *s = &fx->draw.state;
	u32 i, n = 0;

	for (i = 0; i < fx->tile[0].count; i++)
		n += culled == (fx->tile[0].found[i].index.back ? s->cull_back : s->cull_front);
	return n;
}

/*
 * Rounding to the grid reverses some parts of thin triangles. Those of a triangle that is culled
 * are culled with it; others are culled if the face of their area is.
 */
static void reversed_parts_are_culled_with_their_triangle(void **state)
{
	struct ta_fixture *fx = create();
	u32 i, k, reversed = 0, remain = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		const u32 mode = i % MODES;
		struct tafx_prim p = { 0 };
		struct ref_vertex v[3];
		struct ref_state s;
		u32 drawn, other;
		bool crosses;
		float t;

		make_any(fx, &p, i / MODES % PLANES);
		t = unit(fx);
		for (k = 0; k < 4; k++)
			p.pos[2][k] = p.pos[0][k] + (p.pos[1][k] - p.pos[0][k]) * t +
				      (k < 2 ? unit(fx) * 0x1p-12f : 0);
		/* No face is culled: all parts, of all triangles that have to be clipped. */
		set_mode(fx, mode & ~3u);
		other = parts(fx, &p);
		crosses = is_clipped(fx, &p);
		set_mode(fx, mode);
		s = rules(fx);
		load(&p, v);
		drawn = parts_of_face(fx, false);
		if (!other || !crosses)
			continue;
		if (!ref_culls(&s, v)) {
			remain += drawn != other;
			assert_int_equal(parts(fx, &p), drawn);
		} else {
			reversed += drawn != 0;
			assert_int_equal(parts(fx, &p), 0);
		}
	}
	print_message("%u culled triangles have reversed parts, %u others have\n", reversed,
		      remain);
	assert_true(reversed > 100 && remain > 100);
	tafx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_culled_face_that_crosses_any_plane_is_not_clipped),
		cmocka_unit_test(rounding_decides_as_the_rules_do),
		cmocka_unit_test(triangles_without_area_are_clipped_and_not_drawn),
		cmocka_unit_test(extreme_positions_have_a_face_if_they_are_finite),
		cmocka_unit_test(lines_that_are_clipped_have_no_face),
		cmocka_unit_test(culled_faces_are_not_charged_for_a_clip),
		cmocka_unit_test(reversed_parts_are_culled_with_their_triangle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
