// SPDX-License-Identifier: MIT
/*
 * Rays against two models that test every triangle: one in exact integers, to the bit, and one in
 * long double within a tolerance, for instances.
 *
 * The exact model is not the device's method: its decision is the sign of the volumes that the
 * ray spans with each edge. Coordinates are integers and the greatest component of a direction is
 * a power of two, so that neither the device nor the model rounds anything before the result.
 */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RAYS 100000u
#define TRIANGLES 600u

struct vec {
	s64 v[3];
};

static struct vec minus(struct vec a, struct vec b)
{
	return (struct vec){ { a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2] } };
}

static struct vec cross(struct vec a, struct vec b)
{
	return (struct vec){ { a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2],
			       a.v[0] * b.v[1] - a.v[1] * b.v[0] } };
}

static s64 dot(struct vec a, struct vec b)
{
	return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
}

static struct vec vec_of(const float *v)
{
	return (struct vec){ { (s64)v[0], (s64)v[1], (s64)v[2] } };
}

static const struct result miss = { .instance = ~0u, .primitive = ~0u };

/* Test one triangle in integers and replace the result if the hit is closer. */
static void exact_triangle(const struct ray *ray, const float *v, u32 primitive,
			   struct result *best)
{
	const struct vec d = vec_of(ray->direction), o = vec_of(ray->origin);
	const struct vec a = minus(vec_of(v), o), b = minus(vec_of(v + 3), o),
			 c = minus(vec_of(v + 6), o);
	const struct vec normal = cross(minus(b, a), minus(c, a));
	const s64 sa = dot(d, cross(b, c)), sb = dot(d, cross(c, a)), sc = dot(d, cross(a, b));
	const s64 sum = sa + sb + sc;
	float t;

	if (((sa < 0 || sb < 0 || sc < 0) && (sa > 0 || sb > 0 || sc > 0)) || !sum)
		return;
	t = (float)((double)dot(normal, a) / (double)dot(normal, d));
	if (t < ray->min || t > best->t ||
	    (t == best->t && best->kind != PUMICE_RT_HIT_NONE && primitive > best->primitive))
		return;
	*best = (struct result){
		.t = t, .u = (float)((double)sb / (double)sum),
		.v = (float)((double)sc / (double)sum), .instance = ~0u, .primitive = primitive,
		/* The normal points to the side from which the vertices are counter-clockwise. */
		.kind = dot(normal, d) < 0 ? PUMICE_RT_HIT_FRONT : PUMICE_RT_HIT_BACK,
	};
}

static void exact(const struct ray *ray, const float *vertices, u32 count, struct result *best)
{
	*best = miss;
	best->t = ray->max;
	for (u32 n = 0; n < count; n++)
		exact_triangle(ray, vertices + (size_t)n * 9, n, best);
}

/* A random integer from -most to most. */
static float integer(u64 *seed, u32 most)
{
	return (float)rand_below(seed, 2 * most + 1) - (float)most;
}

#define GREATEST 64u

static struct ray integer_ray(u64 *seed, u32 n)
{
	struct ray ray = { .max = INFINITY };
	u32 axis = n % 3;

	for (u32 a = 0; a < 3; a++) {
		ray.origin[a] = integer(seed, 300);
		ray.direction[a] = integer(seed, GREATEST - 1);
	}
	ray.direction[axis] = n & 8 ? (float)GREATEST : -(float)GREATEST;
	/* Along an axis: edges, and sides of boxes, are hit exactly. */
	for (u32 k = 1; k < 3 && n % 4 == 0; k++) {
		ray.direction[(axis + k) % 3] = 0;
		ray.origin[(axis + k) % 3] = integer(seed, 16) * 8;
	}
	if (n % 5 == 0)
		ray.max = (float)rand_below(seed, 8);
	if (n % 7 == 0)
		ray.min = integer(seed, 8);
	return ray;
}

/* A sheet of squares with integer corners: neighbours share edges. Other triangles above it. */
static void integer_triangles(u64 *seed, float *v, u32 count)
{
	for (u32 n = 0; n < count; n++, v += 9) {
		u32 x = n % 16, y = n / 16 % 16;

		if (n >= 256) {
			for (u32 k = 0; k < 9; k++)
				v[k] = integer(seed, 200) + (k % 3 == 2 ? 220 : 0);
			continue;
		}
		for (u32 k = 0; k < 3; k++) {
			u32 px = x + (k == 1), py = y + (k == 2);

			v[k * 3] = (float)px * 16 - 128;
			v[k * 3 + 1] = (float)py * 16 - 128;
			v[k * 3 + 2] = (float)(px * 7 % 5 * py % 9);
		}
	}
}

static void show(const struct ray *r, const struct result *got, const struct result *want)
{
	print_message("ray %a %a %a  %a %a %a from %a to %a\n", r->origin[0], r->origin[1],
		      r->origin[2], r->direction[0], r->direction[1], r->direction[2],
		      r->min, r->max);
	print_message("t %a u %a v %a instance %u primitive %u kind %u; must be\n", got->t, got->u,
		      got->v, got->instance, got->primitive, got->kind);
	print_message("t %a u %a v %a instance %u primitive %u kind %u\n", want->t,
		      want->u, want->v, want->instance, want->primitive, want->kind);
}

static bool same(const struct result *a, const struct result *b)
{
	return a->t == b->t && a->u == b->u && a->v == b->v && a->instance == b->instance &&
	       a->primitive == b->primitive && a->kind == b->kind;
}

static void rays_agree_with_the_exact_model_to_the_bit(void **state)
{
	static float vertices[TRIANGLES * 9];
	static struct ray rays[RAYS];
	static struct result got[RAYS], any[RAYS];
	u32 hits = 0, backs = 0, edges = 0;
	struct result want;
	struct fixture fx;
	struct tree tree;

	(void)state;
	fx_setup(&fx);
	integer_triangles(&fx.seed, vertices, TRIANGLES);
	fx_triangles(&fx, &tree, vertices, TRIANGLES);
	for (u32 n = 0; n < RAYS; n++)
		rays[n] = integer_ray(&fx.seed, n);
	fx_trace_all(&fx, tree.va, false, rays, got, RAYS);
	fx_trace_all(&fx, tree.va, true, rays, any, RAYS);
	for (u32 n = 0; n < RAYS; n++) {
		exact(&rays[n], vertices, TRIANGLES, &want);
		if (!same(&got[n], &want)) {
			show(&rays[n], &got[n], &want);
			fail_msg("ray %u", n);
		}
		assert_int_equal(any[n].kind != 0, want.kind != 0);
		/* Any hit is one of the triangle's that it names. */
		if (any[n].kind) {
			struct result one = miss;

			one.t = rays[n].max;
			exact_triangle(&rays[n], vertices + (size_t)any[n].primitive * 9,
				       any[n].primitive, &one);
			assert_true(same(&any[n], &one));
		}
		hits += want.kind != 0;
		backs += want.kind == PUMICE_RT_HIT_BACK;
		edges += want.kind && (want.u == 0 || want.v == 0 || want.u + want.v == 1);
	}
	print_message("%u of %u rays hit, %u from the back, %u on an edge\n", hits, RAYS,
		      backs, edges);
	assert_true(hits > RAYS / 4 && hits < RAYS && backs > RAYS / 10 && edges > 500);
	fx_teardown(&fx);
}

/* Instances */

#define INSTANCES 24u
#define SHAPE 120u		/* triangles of a structure */

struct scene {
	float vertices[2][SHAPE * 9];
	double to_world[INSTANCES][12], to_object[INSTANCES][12];
	struct pumice_rt_instance instance[INSTANCES];
	struct tree_box box[INSTANCES];
};

static void apply(const double *m, const double *v, double w, double *out)
{
	for (u32 a = 0; a < 3; a++)
		out[a] = m[a * 4] * v[0] + m[a * 4 + 1] * v[1] + m[a * 4 + 2] * v[2] +
			m[a * 4 + 3] * w;
}

/* Invert a transformation by cofactors. */
static void invert(const double *m, double *out)
{
	double det = 0;

	for (u32 r = 0; r < 3; r++) {
		for (u32 c = 0; c < 3; c++) {
			u32 r1 = (c + 1) % 3, r2 = (c + 2) % 3, c1 = (r + 1) % 3, c2 = (r + 2) % 3;

			out[r * 4 + c] = m[r1 * 4 + c1] * m[r2 * 4 + c2] -
				m[r1 * 4 + c2] * m[r2 * 4 + c1];
		}
	}
	for (u32 c = 0; c < 3; c++)
		det += m[c] * out[c * 4];
	for (u32 r = 0; r < 3; r++) {
		for (u32 c = 0; c < 3; c++)
			out[r * 4 + c] /= det;
	}
	for (u32 r = 0; r < 3; r++)
		out[r * 4 + 3] =
			-(out[r * 4] * m[3] + out[r * 4 + 1] * m[7] + out[r * 4 + 2] * m[11]);
}

static void random_transform(u64 *seed, double *m)
{
	for (u32 r = 0; r < 3; r++) {
		for (u32 c = 0; c < 3; c++)
			m[r * 4 + c] = (r == c) * 1.5 + rand_float(seed, -0.7f, 0.7f);
		m[r * 4 + 3] = rand_float(seed, -20, 20);
	}
	if (rand_below(seed, 2))	/* mirrored */
		m[0] = -m[0];
}

static void place_instance(struct scene *s, u64 *seed, u32 n, u64 structure)
{
	struct tree_box *box = &s->box[n];

	random_transform(seed, s->to_world[n]);
	s->instance[n] = (struct pumice_rt_instance){ .addr = structure, .id = 1000 - n };
	invert(s->to_world[n], s->to_object[n]);
	for (u32 k = 0; k < 12; k++)
		s->instance[n].to_object[k] = (float)s->to_object[n][k];
	for (u32 a = 0; a < 3; a++) {
		box->low[a] = INFINITY;
		box->high[a] = -INFINITY;
	}
	for (u32 k = 0; k < SHAPE * 3; k++) {
		const float *v = s->vertices[n % 2] + (size_t)k * 3;
		double in[3] = { v[0], v[1], v[2] }, out[3];

		apply(s->to_world[n], in, 1, out);
		for (u32 a = 0; a < 3; a++) {
			box->low[a] = fminf(box->low[a], (float)out[a] - 1e-3f);
			box->high[a] = fmaxf(box->high[a], (float)out[a] + 1e-3f);
		}
	}
}

/* The closest hit in doubles. Its margin: how far it is from an edge, and from the next hit. */
static double model_closest(const struct scene *s, const struct ray *ray, u32 *instance,
			    u32 *primitive, double *margin)
{
	double best = INFINITY;

	*margin = INFINITY;
	for (u32 n = 0; n < INSTANCES; n++) {
		double o[3] = { ray->origin[0], ray->origin[1], ray->origin[2] }, lo[3];
		double d[3] = { ray->direction[0], ray->direction[1], ray->direction[2] }, ld[3];

		apply(s->to_object[n], o, 1, lo);
		apply(s->to_object[n], d, 0, ld);
		for (u32 p = 0; p < SHAPE; p++) {
			const float *v = s->vertices[n % 2] + (size_t)p * 9;
			double e1[3], e2[3], pv[3], tv[3], qv[3], det, u, w, t, edge;

			for (u32 a = 0; a < 3; a++) {
				e1[a] = (double)v[3 + a] - v[a];
				e2[a] = (double)v[6 + a] - v[a];
				tv[a] = lo[a] - v[a];
			}
			for (u32 a = 0; a < 3; a++) {
				u32 b = (a + 1) % 3, c = (a + 2) % 3;

				pv[a] = ld[b] * e2[c] - ld[c] * e2[b];
				qv[a] = tv[b] * e1[c] - tv[c] * e1[b];
			}
			det = e1[0] * pv[0] + e1[1] * pv[1] + e1[2] * pv[2];
			u = (tv[0] * pv[0] + tv[1] * pv[1] + tv[2] * pv[2]) / det;
			w = (ld[0] * qv[0] + ld[1] * qv[1] + ld[2] * qv[2]) / det;
			t = (e2[0] * qv[0] + e2[1] * qv[1] + e2[2] * qv[2]) / det;
			edge = fmin(fmin(u, w), 1 - u - w);
			if (edge > -1e-4 && t > -1e-3)
				*margin = fmin(*margin, fmin(fabs(edge), fabs(t)));
			if (!(edge >= 0) || t < 0)
				continue;
			*margin = fmin(*margin, fabs(t - best));
			if (t < best) {
				best = t;
				*instance = s->instance[n].id;
				*primitive = p;
			}
		}
	}
	return best;
}

static void rays_agree_with_the_model_of_instances(void **state)
{
	static struct scene s;
	static struct ray rays[RAYS];
	static struct result got[RAYS];
	u32 compared = 0, hits = 0;
	struct tree shape[2], top;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 2; n++) {
		for (u32 k = 0; k < SHAPE * 9; k++)
			s.vertices[n][k] = rand_float(&fx.seed, -4, 4);
		fx_triangles(&fx, &shape[n], s.vertices[n], SHAPE);
	}
	for (u32 n = 0; n < INSTANCES; n++)
		place_instance(&s, &fx.seed, n, shape[n % 2].va);
	fx_instances(&fx, &top, s.instance, s.box, INSTANCES);
	for (u32 n = 0; n < RAYS; n++) {
		rays[n] = (struct ray){ .max = INFINITY };
		for (u32 a = 0; a < 3; a++) {
			rays[n].origin[a] = rand_float(&fx.seed, -30, 30);
			rays[n].direction[a] = rand_float(&fx.seed, -20, 20) - rays[n].origin[a];
		}
	}
	fx_trace_all(&fx, top.va, false, rays, got, RAYS);
	for (u32 n = 0; n < RAYS; n += 4) {	/* every one takes 2880 triangles */
		u32 instance = ~0u, primitive = ~0u;
		double margin, t = model_closest(&s, &rays[n], &instance, &primitive, &margin);
		const struct result want = { .t = (float)t, .instance = instance,
					     .primitive = primitive };

		if (margin < 1e-4)
			continue;
		compared++;
		hits += t != INFINITY;
		if (got[n].instance != instance || got[n].primitive != primitive ||
		    (t == INFINITY ? got[n].t != INFINITY : fabs(got[n].t - t) > 1e-4 * (1 + t))) {
			show(&rays[n], &got[n], &want);
			fail_msg("ray %u", n);
		}
	}
	print_message("%u rays compared, %u hit\n", compared, hits);
	assert_true(compared > RAYS / 4 * 9 / 10 && hits > compared / 4);
	fx_teardown(&fx);
}

/* Rays that no number of the model describes. */
static void rays_out_of_range_hit_nothing(void **state)
{
	static const float square[2][9] = {
		{ -9, -9, 4, 9, -9, 4, 9, 9, 4 }, { -9, -9, 4, 9, 9, 4, -9, 9, 4 },
	};
	static const struct { u32 reg; float value; } cases[] = {
		{ 0, NAN }, { 1, INFINITY }, { 2, -INFINITY }, { 3, NAN }, { 4, NAN },
		{ 5, INFINITY },
		{ 6, 0x1p61f }, { 6, 0x1p-61f }, { 6, 0 }, { 7, NAN }, { 7, 3.5f }, { 3, 4.5f },
		{ 2, 0x1p61f },
	};
	struct ray ray = fx_ray_z(1, 2);
	struct result got;
	struct fixture fx;
	struct tree tree;

	(void)state;
	fx_setup(&fx);
	fx_triangles(&fx, &tree, square[0], 2);
	fx_trace_all(&fx, tree.va, false, &ray, &got, 1);
	assert_true(got.t == 4 && got.kind == PUMICE_RT_HIT_BACK);
	for (u32 n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		float regs[PUMICE_RT_RAY_REGS];
		struct ray bad;

		memcpy(regs, &ray, sizeof(regs));
		regs[cases[n].reg] = cases[n].value;
		memcpy(&bad, regs, sizeof(bad));
		fx_trace_all(&fx, tree.va, false, &bad, &got, 1);
		assert_int_equal(got.kind, PUMICE_RT_HIT_NONE);
		assert_int_equal(got.primitive, ~0u);
		assert_int_equal(got.instance, ~0u);
		assert_memory_equal(&got.t, &bad.max, sizeof(got.t));
		assert_true(got.u == 0 && got.v == 0);
	}
	/* The limits themselves are in range, and both ends of t. */
	ray.direction[2] = 0x1p-60f;
	fx_trace_all(&fx, tree.va, false, &ray, &got, 1);
	assert_true(got.t == 0x1p62f);
	ray.direction[2] = 1;
	ray.min = ray.max = 4;
	fx_trace_all(&fx, tree.va, false, &ray, &got, 1);
	assert_int_equal(got.kind, PUMICE_RT_HIT_BACK);
	fx_teardown(&fx);
}

static void empty_structures_are_hit_by_nothing(void **state)
{
	struct ray ray = fx_ray_z(0, 0);
	struct fixture fx;
	struct result got;
	struct tree tree;

	(void)state;
	fx_setup(&fx);
	fx_triangles(&fx, &tree, NULL, 0);
	fx_trace_all(&fx, tree.va, false, &ray, &got, 1);
	assert_int_equal(got.kind, PUMICE_RT_HIT_NONE);
	fx_instances(&fx, &tree, NULL, NULL, 0);
	fx_trace_all(&fx, tree.va, false, &ray, &got, 1);
	assert_int_equal(got.kind, PUMICE_RT_HIT_NONE);
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rays_agree_with_the_exact_model_to_the_bit),
		cmocka_unit_test(rays_agree_with_the_model_of_instances),
		cmocka_unit_test(rays_out_of_range_hit_nothing),
		cmocka_unit_test(empty_structures_are_hit_by_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
