// SPDX-License-Identifier: MIT
/*
 * Reference rasteriser: coverage, mask, depth, stencil, interpolation. Source:
 * Documentation/precision.rst.
 */
#include <math.h>
#include <string.h>

#include "reference.h"

/* A triangle to be filled: its own vertices, and the provoking one of the primitive. */
struct triangle {
	struct ref_screen s[3];
	const float *flat;	/* varyings of the provoking vertex */
	bool front;
	double x[3], y[3];	/* pixels */
	double area;
};

struct draw {
	const struct ref_target *target;
	const struct ref_state *state;
	struct triangle t;
	double dzdx, dzdy, bias;
	/* Of a point: its centre and half of its side; else the side is 0. */
	double x, y, half, rw;
};

static bool compare(enum ref_compare func, double a, double b)
{
	switch (func) {
	case REF_NEVER: return false;
	case REF_LESS: return a < b;
	case REF_EQUAL: return a == b;
	case REF_LESS_EQUAL: return a <= b;
	case REF_GREATER: return a > b;
	case REF_NOT_EQUAL: return a != b;
	case REF_GREATER_EQUAL: return a >= b;
	default: return true;
	}
}

static uint8_t stencil_op(enum ref_stencil_op op, uint8_t old, uint8_t ref)
{
	switch (op) {
	case REF_ZERO: return 0;
	case REF_REPLACE: return ref;
	case REF_INCR: return old == 255 ? 255 : (uint8_t)(old + 1);
	case REF_DECR: return old == 0 ? 0 : (uint8_t)(old - 1);
	case REF_INVERT: return (uint8_t)~old;
	case REF_INCR_WRAP: return (uint8_t)(old + 1);
	case REF_DECR_WRAP: return (uint8_t)(old - 1);
	default: return old;
	}
}

static void write_stencil(uint8_t *at, const struct ref_stencil *s, enum ref_stencil_op op)
{
	const uint8_t value = stencil_op(op, *at, s->ref);

	*at = (uint8_t)((*at & ~s->write) | (value & s->write));
}

static int64_t edge(const struct ref_screen *i, const struct ref_screen *j, int64_t x, int64_t y)
{
	return (j->x - i->x) * (y - i->y) - (j->y - i->y) * (x - i->x);
}

static bool edge_covers(const struct ref_screen *i, const struct ref_screen *j, int64_t x,
			int64_t y)
{
	const int64_t e = edge(i, j, x, y);

	if (e)
		return e > 0;
	return (j->y == i->y && j->x > i->x) || j->y < i->y;
}

static bool covers(const struct triangle *t, int64_t x, int64_t y)
{
	const struct ref_screen *a = &t->s[0], *b = &t->s[1], *c = &t->s[2];

	if (t->area < 0) {
		const struct ref_screen *swap = b;

		b = c;
		c = swap;
	}
	return edge_covers(a, b, x, y) && edge_covers(b, c, x, y) && edge_covers(c, a, x, y);
}

static float depth_at(const struct draw *d, int64_t x, int64_t y)
{
	const struct triangle *t = &d->t;
	volatile double p = d->dzdx * ((double)x / 256 - t->x[0]);
	volatile double q = d->dzdy * ((double)y / 256 - t->y[0]);
	double z = ((double)t->s[0].z + p) + q;

	if (d->state->depth_bias)
		z = z + d->bias;
	if (!(z > 0))
		return 0;
	return z > 1 ? 1 : (float)z;
}

/* Compute the weights of the three vertices at a position, without perspective. */
static void weights(const struct triangle *t, int64_t x, int64_t y, double w[3])
{
	const double area = t->area * 65536;

	w[0] = (double)edge(&t->s[1], &t->s[2], x, y) / area;
	w[1] = (double)edge(&t->s[2], &t->s[0], x, y) / area;
	w[2] = (double)edge(&t->s[0], &t->s[1], x, y) / area;
}

/*
 * Return the error bound of a plane of f32 coefficients: they are rounded, and so are two products
 * and two sums, all below |value| + |slope| * 32 pixels.
 */
static double plane_error(double value, double dx, double dy)
{
	return 0x1p-22 * (fabs(value) + 64 * (fabs(dx) + fabs(dy)));
}

/* Compute numerator and denominator of a varying at a position. */
static void evaluate(const struct draw *d, uint32_t n, int64_t x, int64_t y, double out[2])
{
	const struct triangle *t = &d->t;
	double w[3];
	uint32_t i;

	weights(t, x, y, w);
	out[0] = out[1] = 0;
	for (i = 0; i < 3; i++) {
		const double k = d->state->linear >> n & 1 ? w[i] : w[i] * t->s[i].rw;

		out[0] += k * t->s[i].v[n];
		out[1] += k;
	}
}

static void interpolate_one(const struct draw *d, uint32_t n, int64_t x, int64_t y,
			    struct ref_fragment *f)
{
	double at[2], right[2], under[2], error, weight;

	evaluate(d, n, x, y, at);
	evaluate(d, n, x + 256, y, right);
	evaluate(d, n, x, y + 256, under);
	error = plane_error(at[0], right[0] - at[0], under[0] - at[0]);
	weight = plane_error(at[1], right[1] - at[1], under[1] - at[1]);
	if (d->state->linear >> n & 1) {
		f->v[n] = at[0];
		f->error[n] = error;
		return;
	}
	f->v[n] = at[0] / at[1];
	f->error[n] = (error + fabs(f->v[n]) * weight) / fmax(fabs(at[1]) - weight, 1e-30) +
		      0x1p-23 * fabs(f->v[n]);
}

/* Return whether a varying is a component of a point's coordinate. */
static bool is_coordinate(const struct draw *d, uint32_t n)
{
	const struct ref_state *s = d->state;

	return d->half > 0 && s->point_coord &&
	       (n == s->point_varying || n == s->point_varying + 1);
}

/*
 * Compute the coordinate over a point, as OpenGL and Vulkan define it: 1/2 at the centre, 0 and 1
 * at the sides. Its planes are multiplied by 1/w, unless the varying is without perspective.
 */
static void point_coordinate(const struct draw *d, uint32_t n, int64_t x, int64_t y,
			     struct ref_fragment *f)
{
	const struct ref_state *s = d->state;
	const bool linear = (s->linear | s->flat) >> n & 1;
	const double k = linear ? 1 : d->rw, slope = k * 256 / (2 * d->half);
	double at = 0.5 + ((double)x - d->x) / (2 * d->half);

	if (n != s->point_varying) {
		at = 0.5 + ((double)y - d->y) / (2 * d->half);
		if (s->point_lower_left)
			at = 1 - at;
	}
	f->v[n] = at;
	f->error[n] = plane_error(at * k, slope, slope) / k + 0x1p-21 * fabs(at);
}

static void interpolate(const struct draw *d, int64_t x, int64_t y, int64_t cx, int64_t cy,
			struct ref_fragment *f)
{
	const struct ref_state *s = d->state;
	const struct triangle *t = &d->t;
	uint32_t n;

	for (n = 0; n < s->varyings; n++) {
		const bool centroid = s->centroid >> n & 1;

		f->error[n] = 0;
		if (is_coordinate(d, n))
			point_coordinate(d, n, centroid ? cx : x, centroid ? cy : y, f);
		else if (s->flat >> n & 1)
			f->v[n] = t->flat[n];
		else
			interpolate_one(d, n, centroid ? cx : x, centroid ? cy : y, f);
	}
	f->z = depth_at(d, x, y);
}

/* Return whether a sample would pass. */
static bool would_pass(const struct draw *d, uint32_t at, float z)
{
	const struct ref_state *s = d->state;
	const struct ref_stencil *st = d->t.front ? &s->front : &s->back;

	return compare(s->depth_func, z, d->target->depth[at]) &&
	       (!s->stencil_test ||
		compare(st->func, st->ref & st->mask, d->target->stencil[at] & st->mask));
}

static bool mask_allows(const struct draw *d, uint32_t at)
{
	switch (d->state->mask_test) {
	case REF_MASK_IF_SET: return d->target->mask[at];
	case REF_MASK_IF_CLEAR: return !d->target->mask[at];
	default: return true;
	}
}

static void write_mask(const struct draw *d, uint32_t at)
{
	const enum ref_mask_op op = d->state->mask_op;

	if (op == REF_MASK_INVERT)
		d->target->mask[at] = !d->target->mask[at];
	else if (op != REF_MASK_KEEP)
		d->target->mask[at] = op == REF_MASK_SET;
}

/* Depth and stencil of one sample: return whether it passes. Effects of failing are applied. */
static bool test(const struct draw *d, uint32_t at, float z)
{
	const struct ref_state *s = d->state;
	const struct ref_stencil *st = d->t.front ? &s->front : &s->back;
	uint8_t *stencil = &d->target->stencil[at];

	if (s->stencil_test && !compare(st->func, st->ref & st->mask, *stencil & st->mask)) {
		write_stencil(stencil, st, st->sfail);
		return false;
	}
	if (!compare(s->depth_func, z, d->target->depth[at])) {
		if (s->stencil_test)
			write_stencil(stencil, st, st->zfail);
		return false;
	}
	return true;
}

static void passed(const struct draw *d, uint32_t at, float z, const double *out)
{
	const struct ref_state *s = d->state;
	const struct ref_stencil *st = d->t.front ? &s->front : &s->back;

	if (s->stencil_test)
		write_stencil(&d->target->stencil[at], st, st->pass);
	if (s->depth_write)
		d->target->depth[at] = z;
	write_mask(d, at);
	if (s->visible)
		++*s->visible;
	memcpy(&d->target->out[(size_t)at * d->target->words], out,
	       d->target->words * sizeof(*out));
}

/*
 * Shade a pixel for some of its samples, of which those in pass are known to pass
 * their tests; then test and write them.
 */
static void shade(const struct draw *d, uint32_t px, uint32_t py, uint32_t covered, uint32_t run,
		  uint32_t pass, const float *z, uint32_t sample)
{
	const struct ref_target *t = d->target;
	const uint32_t at = (py * t->width + px) * t->samples;
	const uint32_t first = (uint32_t)__builtin_ctz(run & pass ? run & pass : run);
	struct ref_fragment f = { .x = px, .y = py, .sample = sample, .front = d->t.front };
	int64_t x = 128, y = 128, cx = 128, cy = 128;
	uint32_t i;

	if (d->state->sample_rate)
		ref_sample(t->samples, sample, &x, &y);
	cx = x;
	cy = y;
	if (!d->state->sample_rate && covered != (1u << t->samples) - 1)
		ref_sample(t->samples, (uint32_t)__builtin_ctz(covered), &cx, &cy);
	interpolate(d, (int64_t)px * 256 + x, (int64_t)py * 256 + y, (int64_t)px * 256 + cx,
		    (int64_t)py * 256 + cy, &f);
	memcpy(f.out, &t->out[(size_t)(at + first) * t->words], t->words * sizeof(*f.out));
	if (!d->state->shade(d->state->data, &f))
		return;
	for (i = 0; i < t->samples; i++) {
		const float depth = d->state->shader_depth ? (float)f.depth : z[i];

		if (run >> i & 1 && test(d, at + i, depth))
			passed(d, at + i, depth, f.out);
	}
}

static void fill_pixel(const struct draw *d, uint32_t px, uint32_t py)
{
	const struct ref_target *t = d->target;
	const uint32_t at = (py * t->width + px) * t->samples;
	uint32_t covered = 0, open = 0, pass = 0, i;
	float z[REF_SAMPLES] = { 0 };

	for (i = 0; i < t->samples; i++) {
		int64_t x, y;

		ref_sample(t->samples, i, &x, &y);
		x += (int64_t)px * 256;
		y += (int64_t)py * 256;
		if (!(d->state->sample_mask >> i & 1) || !covers(&d->t, x, y))
			continue;
		covered |= 1u << i;
		if (!mask_allows(d, at + i))
			continue;
		open |= 1u << i;
		z[i] = depth_at(d, x, y);
		if (d->state->shader_depth || would_pass(d, at + i, z[i]))
			pass |= 1u << i;
	}
	/* Failing changes the stencil only. */
	if (!pass && !(open && d->state->stencil_test))
		return;
	if (!d->state->sample_rate) {
		shade(d, px, py, covered, open, pass, z, 0);
		return;
	}
	for (i = 0; i < t->samples; i++)
		if (open >> i & 1)
			shade(d, px, py, covered, 1u << i, pass, z, i);
}

static uint32_t clamp_pixel(int64_t at, uint32_t most)
{
	const int64_t pixel = at >= 0 ? at / 256 : -1;

	return pixel < 0 ? 0 : pixel > most ? most : (uint32_t)pixel;
}

static void bounds(const struct draw *d, uint32_t x[2], uint32_t y[2])
{
	const struct ref_screen *s = d->t.s;
	const uint32_t *scissor = d->state->scissor;
	int64_t low[2] = { s[0].x, s[0].y }, high[2] = { s[0].x, s[0].y };
	unsigned int i;

	for (i = 1; i < 3; i++) {
		low[0] = s[i].x < low[0] ? s[i].x : low[0];
		low[1] = s[i].y < low[1] ? s[i].y : low[1];
		high[0] = s[i].x > high[0] ? s[i].x : high[0];
		high[1] = s[i].y > high[1] ? s[i].y : high[1];
	}
	x[0] = clamp_pixel(low[0], d->target->width);
	y[0] = clamp_pixel(low[1], d->target->height);
	x[1] = clamp_pixel(high[0] + 256, d->target->width);
	y[1] = clamp_pixel(high[1] + 256, d->target->height);
	x[0] = x[0] > scissor[0] ? x[0] : scissor[0];
	x[1] = x[1] < scissor[1] ? x[1] : scissor[1];
	y[0] = y[0] > scissor[2] ? y[0] : scissor[2];
	y[1] = y[1] < scissor[3] ? y[1] : scissor[3];
}

static void set_up(struct draw *d)
{
	const struct ref_state *s = d->state;
	struct triangle *t = &d->t;
	double z[3], steep;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		t->x[i] = (double)t->s[i].x / 256;
		t->y[i] = (double)t->s[i].y / 256;
		z[i] = (double)t->s[i].z;
	}
	d->dzdx = ((z[1] - z[0]) * (t->y[2] - t->y[0]) - (z[2] - z[0]) * (t->y[1] - t->y[0])) /
		  t->area;
	d->dzdy = ((z[2] - z[0]) * (t->x[1] - t->x[0]) - (z[1] - z[0]) * (t->x[2] - t->x[0])) /
		  t->area;
	steep = fmax(fabs(d->dzdx), fabs(d->dzdy));
	d->bias = (double)s->bias_constant * 0x1p-24 + (double)s->bias_slope * steep;
	if (s->bias_clamp > 0 && d->bias > (double)s->bias_clamp)
		d->bias = (double)s->bias_clamp;
	if (s->bias_clamp < 0 && d->bias < (double)s->bias_clamp)
		d->bias = (double)s->bias_clamp;
}

static int64_t area_of(const struct ref_screen *s)
{
	return (s[1].x - s[0].x) * (s[2].y - s[0].y) - (s[2].x - s[0].x) * (s[1].y - s[0].y);
}

static void fill(struct draw *d)
{
	uint32_t x[2], y[2], px, py;

	d->t.area = (double)area_of(d->t.s) / 65536;
	if (d->t.area == 0)
		return;
	set_up(d);
	bounds(d, x, y);
	for (py = y[0]; py < y[1]; py++)
		for (px = x[0]; px < x[1]; px++)
			fill_pixel(d, px, py);
}

/* Fill a rectangle: triangles A B C and A C D. */
static void fill_quad(struct draw *d, const struct ref_screen q[4])
{
	d->t.front = true;
	d->t.s[0] = q[0];
	d->t.s[1] = q[1];
	d->t.s[2] = q[2];
	fill(d);
	d->t.s[1] = q[2];
	d->t.s[2] = q[3];
	fill(d);
}

static void draw_point(struct draw *d, const struct ref_screen *p)
{
	const float size = fmaxf(0.0625f, fminf(256, p->size));
	const int64_t h = (int64_t)rint((double)size * 128);
	struct ref_screen q[4] = { *p, *p, *p, *p };

	q[0].x = q[3].x = p->x - h;
	q[1].x = q[2].x = p->x + h;
	q[0].y = q[1].y = p->y - h;
	q[2].y = q[3].y = p->y + h;
	d->x = (double)p->x;
	d->y = (double)p->y;
	d->half = (double)h;
	d->rw = (double)p->rw;
	fill_quad(d, q);
}

static void draw_line(struct draw *d, const struct ref_screen *p)
{
	const double dx = (double)(p[1].x - p[0].x), dy = (double)(p[1].y - p[0].y);
	const double l = sqrt(dx * dx + dy * dy), h = (double)d->state->line_width * 128;
	struct ref_screen q[4] = { p[0], p[0], p[1], p[1] };
	int64_t nx, ny;

	if (l == 0)
		return;
	nx = (int64_t)rint(-dy * h / l);
	ny = (int64_t)rint(dx * h / l);
	q[0].x += nx;
	q[0].y += ny;
	q[1].x -= nx;
	q[1].y -= ny;
	q[2].x -= nx;
	q[2].y -= ny;
	q[3].x += nx;
	q[3].y += ny;
	fill_quad(d, q);
}

static void draw_triangle(struct draw *d, const struct ref_screen s[3])
{
	const int64_t area = area_of(s);
	const bool front = d->state->front_ccw ? area < 0 : area > 0;

	if (!area || (front ? d->state->cull_front : d->state->cull_back))
		return;
	d->t.front = front;
	memcpy(d->t.s, s, sizeof(d->t.s));
	fill(d);
}

void ref_draw(const struct ref_target *target, const struct ref_state *state,
	      const struct ref_vertex *vertices, unsigned int count)
{
	const struct ref_vertex *provoking = &vertices[state->provoking_last ? count - 1 : 0];
	struct draw d = { .target = target, .state = state, .t.flat = provoking->v };
	struct ref_screen s[REF_POLYGON];
	struct ref_polygon polygon;
	unsigned int i;

	if (!ref_clip(state, vertices, count, &polygon))
		return;
	for (i = 0; i < polygon.count; i++)
		if (!ref_project(state, &polygon.vertex[i], &s[i]))
			return;
	if (count == 1)
		draw_point(&d, s);
	else if (count == 2)
		draw_line(&d, s);
	else
		for (i = 2; i < polygon.count; i++)
			draw_triangle(&d, (struct ref_screen[3]){ s[0], s[i - 1], s[i] });
}
