// SPDX-License-Identifier: MIT
/*
 * Scenes generated from seeds: primitives of every kind and size, on and off the grid of
 * pixels, in front of, past and across every plane; every state.
 */
#include <math.h>

#include "scene.h"

uint32_t scene_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static uint32_t below(uint32_t *r, uint32_t n)
{
	return (uint32_t)(((uint64_t)scene_random(r) * n) >> 32);
}

static bool one_in(uint32_t *r, uint32_t n)
{
	return below(r, n) == 0;
}

/* Return a number from -1 to 1. */
static float unit(uint32_t *r)
{
	return (float)((int32_t)scene_random(r) >> 8) / 8388608.0f;
}

void scene_texel(uint32_t x, uint32_t y, uint8_t rgba[4])
{
	uint32_t r = 0x9e3779b9u ^ (x * 2654435761u + y * 40503u + 1), i;

	scene_random(&r);
	for (i = 0; i < 4; i++)
		rgba[i] = (uint8_t)(scene_random(&r) >> 24);
}

static void make_position(const struct scene *s, uint32_t *r, float spread, float p[4])
{
	float x = unit(r) * spread, y = unit(r) * spread, w = 1;

	/* On pixels' corners, so that edges go through samples and are shared. */
	if (one_in(r, 3)) {
		x = rintf(x * (float)s->width * 0.5f) * 2 / (float)s->width;
		y = rintf(y * (float)s->height * 0.5f) * 2 / (float)s->height;
	}
	if (one_in(r, 2))
		w = exp2f(unit(r) * 2);
	if (one_in(r, 40))
		w = -w;
	p[0] = x * w;
	p[1] = y * w;
	p[2] = (one_in(r, 4) ? unit(r) * 1.5f : 0.5f + 0.49f * unit(r)) * w;
	p[3] = w;
}

static void make_vertices(const struct scene *s, struct scene_draw *d, uint32_t *r)
{
	static const float spreads[] = { 0.2f, 1, 1.3f, 6 };
	const float spread = spreads[below(r, 4)];
	uint32_t i, c;

	for (i = 0; i < SCENE_VERTICES; i++) {
		struct scene_vertex *v = &d->vertex[i];

		if (i && one_in(r, 8))
			*v = d->vertex[below(r, i)];
		else
			make_position(s, r, spread, v->position);
		for (c = 0; c < 4; c++)
			v->colour[c] = (uint8_t)scene_random(r);
		v->uv[0] = unit(r) * 2;
		v->uv[1] = unit(r) * 2;
		v->size = exp2f(unit(r) * 4);
	}
}

static void make_indices(struct scene_draw *d, uint32_t *r)
{
	static const uint32_t sizes[] = { 0, 0, 1, 2, 4 };
	uint32_t i;

	d->index_bytes = sizes[below(r, 5)];
	d->restart = d->index_bytes && one_in(r, 2);
	for (i = 0; i < SCENE_INDICES; i++) {
		d->index[i] = below(r, SCENE_VERTICES);
		if (d->restart && one_in(r, 9))
			d->index[i] = 0xffffffff;
	}
}

static void make_stencil(struct pumice_isp_state *isp, uint32_t *r)
{
	isp->stencil = true;
	isp->front_func = (uint8_t)below(r, 8);
	isp->front_sfail = (uint8_t)below(r, 8);
	isp->front_zfail = (uint8_t)below(r, 8);
	isp->front_pass = (uint8_t)below(r, 8);
	isp->front_ref = (uint8_t)scene_random(r);
	isp->front_mask = (uint8_t)scene_random(r);
	isp->front_write = (uint8_t)scene_random(r);
	isp->back_func = (uint8_t)below(r, 8);
	isp->back_sfail = (uint8_t)below(r, 8);
	isp->back_zfail = (uint8_t)below(r, 8);
	isp->back_pass = (uint8_t)below(r, 8);
	isp->back_ref = (uint8_t)scene_random(r);
	isp->back_mask = (uint8_t)scene_random(r);
	isp->back_write = (uint8_t)scene_random(r);
}

static void make_isp(const struct scene *s, struct scene_draw *d, uint32_t *r)
{
	static const uint8_t passes[SHADE_COUNT] = {
		[SHADE_BLEND] = PUMICE_PASS_TYPE_TRANSLUCENT,
		[SHADE_DISCARD] = PUMICE_PASS_TYPE_PUNCH_THROUGH,
		[SHADE_DEPTH] = PUMICE_PASS_TYPE_DEPTH_WRITE,
	};
	struct pumice_isp_state *isp = &d->state.isp;

	isp->pass_type = passes[d->shading];
	isp->depth_func = one_in(r, 2) ? PUMICE_COMPARE_LESS : (uint8_t)below(r, 8);
	isp->depth_write = !one_in(r, 3);
	isp->no_tag = !isp->pass_type && one_in(r, 10);
	if (one_in(r, 3))
		make_stencil(isp, r);
	if (one_in(r, 4)) {
		isp->depth_bias = true;
		isp->bias_constant = unit(r) * 100000;
		isp->bias_slope = unit(r) * 4;
		isp->bias_clamp = one_in(r, 2) ? 0 : unit(r) * 0.01f;
	}
	if (one_in(r, 4)) {
		isp->scissor_x0 = (uint16_t)below(r, s->width);
		isp->scissor_x1 = (uint16_t)(isp->scissor_x0 + below(r, s->width));
		isp->scissor_y0 = (uint16_t)below(r, s->height);
		isp->scissor_y1 = (uint16_t)(isp->scissor_y0 + below(r, s->height));
	}
	if (one_in(r, 5))
		isp->sample_mask = (uint8_t)below(r, 16);
}

static void make_vdm(struct scene_draw *d, uint32_t *r)
{
	struct pumice_vdm_state *vdm = &d->state.vdm;

	vdm->varyings = SCENE_VARYINGS;
	vdm->cull_front = one_in(r, 8);
	vdm->cull_back = one_in(r, 4);
	vdm->front_ccw = one_in(r, 2);
	vdm->provoking_last = one_in(r, 2);
	vdm->depth_clip = !one_in(r, 4);
	vdm->clip_minus_w = one_in(r, 3);
	vdm->small_cull = one_in(r, 2);
	vdm->point_size = d->point_size;
	vdm->point_width = exp2f(unit(r) * 4);
	vdm->line_width = exp2f(unit(r) * 3);
	if (one_in(r, 4))
		vdm->more_vo = (uint8_t)below(r, PUMICE_USC_MAX_VO - 5 - SCENE_VARYINGS + 1);
}

/* Two varyings of half of the draws of points are their coordinate; numbers of its own. */
static void make_point_coord(struct scene_draw *d, uint32_t r)
{
	scene_random(&r);
	d->state.tsp.point_coord = d->topology == PUMICE_TOPOLOGY_POINTS ? one_in(&r, 2) :
									   one_in(&r, 8);
	d->state.tsp.point_origin = (uint8_t)below(&r, 2);
	d->state.tsp.point_varying = (uint8_t)below(&r, SCENE_VARYINGS - 1);
}

/* Uniform streams, deferred vertices, tables, tasks and dependencies; numbers of its own. */
static void make_vertex_modes(struct scene_draw *d, uint32_t r)
{
	scene_random(&r);
	d->streams = one_in(&r, 4);
	d->deferred = one_in(&r, 4);
	d->coordinate |= d->deferred;
	d->table = one_in(&r, 4);
	if (d->streams)
		d->streams = 1 + below(&r, SCENE_STREAM_WORDS);
	d->task = one_in(&r, 4);
	d->after = one_in(&r, 3);
}

/* Inputs in coefficient registers of a third of the draws that can; numbers of its own. */
static void make_coeffs(struct scene_draw *d, uint32_t r)
{
	scene_random(&r);
	d->coeffs = !d->streams && !d->table && one_in(&r, 3);
}

/* Mirrored viewports of a quarter of the draws in each direction; numbers of its own. */
static void make_mirrors(struct scene_draw *d, uint32_t r)
{
	struct pumice_vdm_state *vdm = &d->state.vdm;

	scene_random(&r);
	if (one_in(&r, 4))
		vdm->scale_x = -vdm->scale_x;
	if (one_in(&r, 4))
		vdm->scale_y = -vdm->scale_y;
}

/* Mask plane of half of the scenes; numbers of its own. */
static void make_mask(struct scene *s, uint32_t r)
{
	uint32_t i;

	scene_random(&r);
	s->mask = one_in(&r, 2);
	s->mask_load = s->mask && one_in(&r, 2);
	s->clear_mask = s->mask && one_in(&r, 2);
	for (i = 0; i < s->draws && s->mask; i++) {
		struct pumice_isp_state *isp = &s->draw[i].state.isp;

		if (one_in(&r, 2))
			isp->mask_test = (uint8_t)below(&r, PUMICE_MASK_TEST_COUNT);
		if (one_in(&r, 2))
			isp->mask_op = (uint8_t)below(&r, PUMICE_MASK_OP_COUNT);
	}
}

bool scene_mask_bit(const struct scene *s, uint32_t n)
{
	uint32_t r = s->seed * 2654435761u ^ (n / 3 * 40503u + 1);

	return scene_random(&r) >> 31;
}

static void make_draw(const struct scene *s, struct scene_draw *d, uint32_t number, uint32_t *r)
{
	pumice_draw_state_init(&d->state, s->width, s->height);
	d->topology = one_in(r, 2) ? PUMICE_TOPOLOGY_TRIANGLES : below(r, 6);
	d->shading = one_in(r, 3) ? SHADE_PLAIN : below(r, SHADE_COUNT);
	d->interpolation = below(r, 4);
	d->sample_rate = one_in(r, 4);
	d->point_size = one_in(r, 3);
	d->coordinate = one_in(r, 3);
	d->indirect = one_in(r, 4);
	d->instances = one_in(r, 4) ? 1 + below(r, 3) : 1;
	make_vertices(s, d, r);
	make_indices(d, r);
	d->first = below(r, 6);
	d->count = below(r, one_in(r, 3) ? SCENE_VERTICES - 6 : 12);
	make_vdm(d, r);
	make_isp(s, d, r);
	d->state.isp.visibility = one_in(r, 3);
	d->state.isp.visibility_id = (uint16_t)number;
	d->state.tsp.sample_rate = d->sample_rate;
	d->state.tsp.flat = d->interpolation == INTERP_FLAT ? 0xf : 0;
	d->state.tsp.linear = d->interpolation == INTERP_LINEAR ? 0xf : 0;
	make_point_coord(d, *r ^ 0x90147u);
	make_vertex_modes(d, *r ^ 0xdefe2u);
	make_mirrors(d, *r ^ 0x3177u);
	make_coeffs(d, *r ^ 0xcfau);
}

void scene_make(struct scene *s, uint32_t seed)
{
	uint32_t r = seed * 2654435761u ^ 0x5ce9e5u, i;

	scene_random(&r);
	memset(s, 0, sizeof(*s));
	s->seed = seed;
	s->width = one_in(&r, 4) ? 1 + below(&r, SCENE_MAX_SIZE) : 64;
	s->height = one_in(&r, 4) ? 1 + below(&r, SCENE_MAX_SIZE) : 64;
	s->samples = 1u << below(&r, 3);
	s->tile_size = below(&r, 3);
	s->depth_format = below(&r, 4);
	s->format = scene_format(scene_random(&r));
	s->draws = 1 + below(&r, SCENE_DRAWS);
	for (i = 0; i < 4; i++)
		s->clear[i] = 0.5f + 0.5f * unit(&r);
	s->clear_depth = one_in(&r, 2) ? 1 : 0.5f + 0.5f * unit(&r);
	s->clear_stencil = (uint8_t)scene_random(&r);
	for (i = 0; i < s->draws; i++)
		make_draw(s, &s->draw[i], i, &r);
	make_mask(s, r ^ 0x3a5cu);
}
