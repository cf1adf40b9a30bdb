// SPDX-License-Identifier: MIT
/*
 * Clipping: bit-identical to the reference rasteriser, which was written from the rules
 * alone, and equal in area to a clipper in double precision.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "ta_fixture.h"

#define BATCH	200u

/* -1 to 1 times most. */
static float wide(struct ta_fixture *fx, float most)
{
	return ((float)pbfx_random(fx->pb, 1u << 24) / (1 << 23) - 1) * most;
}

/* Clip-space positions, inside, outside, far outside, negative w. */
static void make(struct ta_fixture *fx, struct tafx_prim *p)
{
	static const float most[] = { 0.9f, 1.5f, 5, 200, 3000 };
	u32 i, how = pbfx_random(fx->pb, 5);

	for (i = 0; i < 3; i++) {
		p->pos[i][0] = wide(fx, most[how]);
		p->pos[i][1] = wide(fx, most[how]);
		p->pos[i][2] = wide(fx, how < 3 ? 1.5f : 3);
		p->pos[i][3] = how == 4 ? wide(fx, 1) : wide(fx, 1) + 0.9f;
		p->v[i][0] = wide(fx, 10);
		p->v[i][1] = wide(fx, 10);
		p->size[i] = 1;
	}
}

static void set_view(struct ta_fixture *fx, struct ref_state *s, u32 mode)
{
	struct pumice_vdm_state *v = &fx->draw.state;

	*s = (struct ref_state){
		.scale = { (float)fx->scene.width / 2, (float)fx->scene.height / -2, 0.5f },
		.offset = { (float)fx->scene.width / 2, (float)fx->scene.height / 2, 0.5f },
		.depth_clip = mode & 1, .clip_minus_w = mode & 2, .front_ccw = mode & 4,
		.provoking_last = mode & 8, .cull_back = mode & 16, .cull_front = mode & 32,
		.line_width = 1, .varyings = 3, .flat = 1,
	};
	v->scale_x = s->scale[0];
	v->scale_y = s->scale[1];
	v->scale_z = s->scale[2];
	v->offset_x = s->offset[0];
	v->offset_y = s->offset[1];
	v->offset_z = s->offset[2];
	v->depth_clip = s->depth_clip;
	v->clip_minus_w = s->clip_minus_w;
	v->front_ccw = s->front_ccw;
	v->provoking_last = s->provoking_last;
	v->cull_back = s->cull_back;
	v->cull_front = s->cull_front;
}

/* Return whether an entry of a tile is this vertex. */
static void is_vertex(const struct tafx_found *f, u32 i, const struct ref_screen *s)
{
	assert_int_equal(f->vertex[i].x, s->x);
	assert_int_equal(f->vertex[i].y, s->y);
	assert_int_equal(number_bits(f->vertex[i].z), number_bits(s->z));
	assert_int_equal(number_bits(f->vertex[i].rw), number_bits(s->rw));
	assert_true(f->v[i][1] == s->v[1] && f->v[i][2] == s->v[2]);
}

/* Return whether an entry of the primitive in the only tile is this triangle with this facing. */
static void is_found(const struct ta_fixture *fx, u32 number, const struct ref_screen *s[3],
		     bool back)
{
	const struct tafx_tile *tile = &fx->tile[0];
	u32 k, i;

	for (k = 0; k < tile->count; k++) {
		const struct tafx_found *f = &tile->found[k];
		bool same = f->number == number;

		for (i = 0; i < tafx_vertices(fx); i++)
			same = same && f->vertex[i].x == s[i]->x && f->vertex[i].y == s[i]->y &&
			       number_bits(f->vertex[i].z) == number_bits(s[i]->z);
		if (!same)
			continue;
		for (i = 0; i < tafx_vertices(fx); i++)
			is_vertex(f, i, s[i]);
		assert_int_equal(f->index.back, back);
		return;
	}
	fail_msg("a part of primitive %u is missing", number);
}

static bool on_screen(const struct ta_fixture *fx, const struct ref_screen *s[3])
{
	s64 x0 = s[0]->x, x1 = x0, y0 = s[0]->y, y1 = y0;
	u32 i;

	for (i = 1; i < 3; i++) {
		x0 = s[i]->x < x0 ? s[i]->x : x0;
		x1 = s[i]->x > x1 ? s[i]->x : x1;
		y0 = s[i]->y < y0 ? s[i]->y : y0;
		y1 = s[i]->y > y1 ? s[i]->y : y1;
	}
	return x1 > 0 && y1 > 0 && x0 < (s64)fx->scene.width * 256 &&
	       y0 < (s64)fx->scene.height * 256;
}

/* Separating axes: whether the interior of the triangle intersects the target's. */
static bool meets_target(const struct ta_fixture *fx, const struct ref_screen *s[3], s64 area)
{
	const s64 w = (s64)fx->scene.width * 256, h = (s64)fx->scene.height * 256;
	u32 i;

	for (i = 0; i < 3; i++) {
		const struct ref_screen *a = s[i], *b = s[(i + 1) % 3];
		const s64 sign = area > 0 ? 1 : -1;
		const s64 dx = (b->x - a->x) * sign, dy = (b->y - a->y) * sign;
		const s64 x = dy < 0 ? w : 0, y = dx > 0 ? h : 0;

		/* The target's corner farthest inside of the edge. */
		if (dx * (y - a->y) - dy * (x - a->x) <= 0)
			return false;
	}
	return true;
}

/* Assert that the triangles are exactly those of the reference's polygon. */
static u32 check_triangles(const struct ta_fixture *fx, const struct ref_state *state,
			   const struct ref_polygon *polygon, u32 number)
{
	struct ref_screen s[REF_POLYGON];
	u32 i, count = 0;

	for (i = 0; i < polygon->count; i++)
		if (!ref_project(state, &polygon->vertex[i], &s[i]))
			return 0;
	for (i = 2; i < polygon->count; i++) {
		const struct ref_screen *t[3] = { &s[0], &s[i - 1], &s[i] };
		const s64 area = (t[1]->x - t[0]->x) * (t[2]->y - t[0]->y) -
				 (t[2]->x - t[0]->x) * (t[1]->y - t[0]->y);
		const bool front = state->front_ccw ? area < 0 : area > 0;

		if (!area || (front ? state->cull_front : state->cull_back) || !on_screen(fx, t) ||
		    !meets_target(fx, t, area))
			continue;
		is_found(fx, number, t, !front);
		count++;
	}
	return count;
}

static void load(const struct tafx_prim *p, u32 number, struct ref_vertex v[3])
{
	u32 i;

	for (i = 0; i < 3; i++) {
		memcpy(v[i].pos, p->pos[i], sizeof(v[i].pos));
		v[i].v[0] = (float)number;
		v[i].v[1] = p->v[i][0];
		v[i].v[2] = p->v[i][1];
		v[i].size = p->size[i];
	}
}

/* One tile, so that it contains every part of a primitive once. */
static const struct pumice_scene one_tile = { .width = 32, .height = 32, .cores = 1 };

static void run(struct ta_fixture *fx, const struct ref_state *state, u64 *parts)
{
	struct tafx_prim *prims = calloc(BATCH, sizeof(*prims));
	struct gpu_fault fault;
	u32 i, expected = 0;

	for (i = 0; i < BATCH; i++)
		make(fx, &prims[i]);
	tafx_clear(fx);
	tafx_begin(fx, 0);
	tafx_give_all(fx, prims, BATCH);
	tafx_finish(fx, 0);
	for (i = 0; i < BATCH; i++) {
		struct ref_vertex v[3];
		struct ref_polygon polygon;

		load(&prims[i], i, v);
		if (ref_clip(state, v, tafx_vertices(fx), &polygon))
			expected += check_triangles(fx, state, &polygon, i);
	}
	assert_int_equal(fx->tile[0].count, expected);
	*parts += expected;
	assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	free(prims);
}

static void clipped_triangles_equal_the_rules_to_the_bit(void **state)
{
	struct ta_fixture *fx = tafx_create(2000, &one_tile);
	struct ref_state s;
	u64 parts = 0;
	u32 mode, i;

	(void)state;
	for (mode = 0; mode < 64; mode++) {
		set_view(fx, &s, mode);
		for (i = 0; i < 10; i++)
			run(fx, &s, &parts);
	}
	print_message("%llu parts of %u triangles, %llu of them clipped\n",
		      (unsigned long long)parts, 64 * 10 * BATCH,
		      (unsigned long long)ta_counters(fx->ta[0])->clipped);
	assert_true(ta_counters(fx->ta[0])->clipped > 10000);
	tafx_destroy(fx);
}

/* Lines: both ends, as in the reference. They are front faces, and have none to be culled. */
static void clipped_lines_equal_the_rules_to_the_bit(void **state)
{
	struct ta_fixture *fx = tafx_create(2000, &one_tile);
	struct tafx_prim *prims = calloc(BATCH, sizeof(*prims));
	struct gpu_fault fault;
	struct ref_state s;
	u32 mode, i, k, n = 0;

	(void)state;
	fx->draw.kind = PUMICE_PRIM_KIND_LINE;
	for (mode = 0; mode < 160; mode++) {
		set_view(fx, &s, mode % 64);
		for (i = 0; i < BATCH; i++)
			make(fx, &prims[i]);
		tafx_clear(fx);
		tafx_begin(fx, 0);
		tafx_give_all(fx, prims, BATCH);
		tafx_finish(fx, 0);
		for (k = 0; k < fx->tile[0].count; k++) {
			const struct tafx_found *f = &fx->tile[0].found[k];
			struct ref_vertex v[3];
			struct ref_polygon polygon;

			load(&prims[f->number], f->number, v);
			assert_true(ref_clip(&s, v, 2, &polygon));
			for (i = 0; i < 2; i++) {
				struct ref_screen p;

				assert_true(ref_project(&s, &polygon.vertex[i], &p));
				is_vertex(f, i, &p);
				assert_true(f->vertex[i].size == 1);
			}
			assert_int_equal(f->index.provoking, s.provoking_last);
			n++;
		}
		assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	}
	print_message("%u lines\n", n);
	assert_true(n > 1000);
	free(prims);
	tafx_destroy(fx);
}

/* A clipper in f64, planes in another order and form: the remaining area on the screen. */
struct exact {
	double pos[16][4];
	u32 n;
};

static double far_from(const double *p, u32 plane, bool minus_w)
{
	const double bound = 16384.0 / 16 + 1;	/* guard band in clip space; scale, offset: 16 */

	switch (plane) {
	case 0: return bound * p[3] - p[1];
	case 1: return p[3] - p[2];
	case 2: return (bound - 2) * p[3] - p[0];
	case 3: return minus_w ? p[3] + p[2] : p[2];
	case 4: return p[0] + bound * p[3];
	case 5: return p[1] + (bound - 2) * p[3];
	default: return p[3] - 0x1p-32;
	}
}

/* Area of the part of a polygon, in pixels, on the target, 0 to 32 in x and y. */
static double target_area(struct exact *e)
{
	struct exact out;
	double area = 0;
	u32 side, i;

	for (side = 0; side < 4; side++) {
		const u32 axis = side & 1;
		const double sign = side & 2 ? -1 : 1, at = side & 2 ? 32 : 0;

		out.n = 0;
		for (i = 0; i < e->n; i++) {
			const double *a = e->pos[i], *b = e->pos[(i + 1) % e->n];
			const double da = sign * (a[axis] - at), db = sign * (b[axis] - at);

			if (da >= 0)
				memcpy(out.pos[out.n++], a, sizeof(e->pos[0]));
			if ((da >= 0) != (db >= 0)) {
				double *p = out.pos[out.n++];

				p[axis] = at;
				p[!axis] = (a[!axis] * db - b[!axis] * da) / (db - da);
			}
		}
		*e = out;
	}
	for (i = 0; i < e->n; i++) {
		const double *a = e->pos[i], *b = e->pos[(i + 1) % e->n];

		area += a[0] * b[1] - b[0] * a[1];
	}
	return fabs(area) / 2;
}

static double exact_area(const struct tafx_prim *p, bool minus_w)
{
	struct exact e = { .n = 3 }, out;
	u32 plane, i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k < 4; k++)
			e.pos[i][k] = (double)p->pos[i][k];
	for (plane = 0; plane < 7; plane++) {
		out.n = 0;
		for (i = 0; i < e.n; i++) {
			const double *a = e.pos[i], *b = e.pos[(i + 1) % e.n];
			const double da = far_from(a, plane, minus_w);
			const double db = far_from(b, plane, minus_w);

			if (da >= 0)
				memcpy(out.pos[out.n++], a, sizeof(e.pos[0]));
			if ((da >= 0) != (db >= 0)) {
				for (k = 0; k < 4; k++)
					out.pos[out.n][k] = (a[k] * db - b[k] * da) / (db - da);
				out.n++;
			}
		}
		e = out;
	}
	for (i = 0; i < e.n; i++)
		for (k = 0; k < 2; k++)
			e.pos[i][k] = e.pos[i][k] / e.pos[i][3] * 16 + 16;
	return target_area(&e);
}

/* Area of the target that a batch of primitives covers, by the contents of its tile. */
static void found_areas(const struct ta_fixture *fx, double area[BATCH])
{
	u32 f, i;

	memset(area, 0, BATCH * sizeof(*area));
	for (f = 0; f < fx->tile[0].count; f++) {
		struct exact e = { .n = 3 };

		for (i = 0; i < 3; i++) {
			e.pos[i][0] = (double)fx->tile[0].found[f].vertex[i].x / 256;
			e.pos[i][1] = (double)fx->tile[0].found[f].vertex[i].y / 256;
		}
		area[fx->tile[0].found[f].number] += target_area(&e);
	}
}

/* The area on the target equals exact clipping, except for the grid of 1/256 pixel. */
static void clipped_area_equals_exact_clipping(void **state)
{
	struct ta_fixture *fx = tafx_create(2000, &one_tile);
	struct tafx_prim *prims = calloc(BATCH, sizeof(*prims));
	double area[BATCH], worst = 0, sum = 0;
	struct gpu_fault fault;
	u32 i, k, n = 0;

	(void)state;
	fx->draw.state.scale_x = fx->draw.state.scale_y = 16;
	fx->draw.state.offset_x = fx->draw.state.offset_y = 16;
	fx->draw.state.depth_clip = true;
	fx->draw.state.clip_minus_w = true;
	for (k = 0; k < 200; k++) {
		for (i = 0; i < BATCH; i++)
			make(fx, &prims[i]);
		tafx_clear(fx);
		tafx_begin(fx, 0);
		tafx_give_all(fx, prims, BATCH);
		tafx_finish(fx, 0);
		found_areas(fx, area);
		for (i = 0; i < BATCH; i++) {
			const double exact = exact_area(&prims[i], true);
			const double error = fabs(area[i] - exact);

			worst = error > worst ? error : worst;
			sum += error;
			n += exact > 0;
		}
		assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	}
	print_message("%u areas, of at most 1024 pixels: worst error %.3f, mean %.5f\n", n, worst,
		      sum / n);
	/* Corners move by half a step, edges of at most 45 pixels on the target with them. */
	assert_true(n > 5000 && worst < 0.5 && sum / n < 0.05);
	free(prims);
	tafx_destroy(fx);
}

static void primitives_that_are_not_finite_are_dropped(void **state)
{
	const float bad[] = { NAN, INFINITY, -INFINITY, 3.4e38f, -3.4e38f };
	struct ta_fixture *fx = tafx_create(100, &one_tile);
	struct tafx_prim p;
	u32 kind, b, i, k;

	(void)state;
	for (kind = 0; kind < 3; kind++)
		for (b = 0; b < 5; b++)
			for (i = 0; i < 3; i++)
				for (k = 0; k < 4; k++) {
					p = (struct tafx_prim){
						.pos = { { 1, 1, 0, 1 }, { 30, 1, 0, 1 },
							 { 1, 30, 0, 1 } },
						.size = { 1, 1, 1 },
					};
					fx->draw.kind = (u8)kind;
					if (i >= tafx_vertices(fx))
						continue;
					p.pos[i][k] = bad[b];
					tafx_clear(fx);
					tafx_begin(fx, 0);
					tafx_give_all(fx, &p, 1);
					tafx_finish(fx, 0);
					if (b < 3)
						assert_int_equal(fx->tile[0].count, 0);
				}
	tafx_destroy(fx);
}

/* Viewports without valid screen positions: any result, but no crash. */
static void no_viewport_crashes(void **state)
{
	struct ta_fixture *fx = tafx_create(500, &one_tile);
	struct gpu_fault fault;
	struct tafx_prim p[16];
	u32 i, k;

	(void)state;
	for (i = 0; i < 2000; i++) {
		float *value[] = { &fx->draw.state.scale_x, &fx->draw.state.offset_x,
				&fx->draw.state.scale_y, &fx->draw.state.offset_y,
				&fx->draw.state.scale_z, &fx->draw.state.line_width,
				&fx->draw.state.point_width };

		for (k = 0; k < 7; k++)
			*value[k] = number_float(pbfx_random(fx->pb, ~0u));
		fx->draw.kind = (u8)(i % 3);
		for (k = 0; k < 16; k++)
			make(fx, &p[k]);
		tafx_begin(fx, 0);
		tafx_give_all(fx, p, 16);
		tafx_finish(fx, 0);
		assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	}
	tafx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clipped_triangles_equal_the_rules_to_the_bit),
		cmocka_unit_test(clipped_lines_equal_the_rules_to_the_bit),
		cmocka_unit_test(clipped_area_equals_exact_clipping),
		cmocka_unit_test(primitives_that_are_not_finite_are_dropped),
		cmocka_unit_test(no_viewport_crashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
