// SPDX-License-Identifier: MIT
/*
 * A scene, drawn by the reference rasteriser. Output 5 is the permitted error of the
 * colours.
 */
#include <math.h>

#include "reference.h"
#include "scene.h"

#define WORDS	(SCENE_OUTPUTS + 1)
#define ERROR	5

struct shader {
	const struct scene_draw *draw;
	double number;
};

static void blend(const struct ref_fragment *f, const double c[4], double error, double *out)
{
	const double keep = 1 - c[3];
	uint32_t i;

	(void)f;
	out[ERROR] = fabs(keep) * out[ERROR] + 4 * error + 1e-6;
	for (i = 0; i < 4; i++)
		out[i] = c[i] * c[3] + out[i] * keep;
}

/* Bilinear, repeated; *slope: the greatest change of a component from one texel to the next. */
static void texture(double u, double v, double out[4])
{
	const double x = u * SCENE_TEXELS - 0.5, y = v * SCENE_TEXELS - 0.5;
	const double fx = x - floor(x), fy = y - floor(y);
	const int32_t ix = (int32_t)floor(x), iy = (int32_t)floor(y);
	uint32_t i, t;

	memset(out, 0, 4 * sizeof(*out));
	for (t = 0; t < 4; t++) {
		const double wx = t & 1 ? fx : 1 - fx, wy = t & 2 ? fy : 1 - fy;
		uint8_t texel[4];

		scene_texel((uint32_t)(ix + (int32_t)(t & 1)) % SCENE_TEXELS,
			    (uint32_t)(iy + (int32_t)(t >> 1)) % SCENE_TEXELS, texel);
		for (i = 0; i < 4; i++)
			out[i] += wx * wy * texel[i] / 255;
	}
}

static bool shade(void *data, struct ref_fragment *f)
{
	const struct shader *shader = data;
	const uint32_t shading = shader->draw->shading;
	double c[4], texel[4], error = 1e-6;
	uint32_t i;

	if (shader->draw->state.isp.no_tag)
		return true;
	if (shading == SHADE_DISCARD && (f->x ^ f->y) >> 1 & 1)
		return false;
	f->depth = (7 * f->x + 13 * f->y) % 64 / 64.0;
	for (i = 0; i < 4; i++) {
		c[i] = f->v[i];
		error = fmax(error, f->error[i]);
	}
	if (shading == SHADE_TEXTURE || shading == SHADE_PREFETCH) {
		const double bits = shading == SHADE_PREFETCH ? 0x1p-14 * 4 : 0;
		const double uv = fmax(f->error[4], f->error[5]) +
				  bits * (1 + fmax(fabs(f->v[4]), fabs(f->v[5])));

		texture(f->v[4], f->v[5], texel);
		/* A texel is at most 1 from the next; weights have at least 8 bits. */
		error += 2 * SCENE_TEXELS * uv + 2.0 / 256;
		for (i = 0; i < 4; i++)
			c[i] *= texel[i];
	}
	f->out[4] = shader->number;
	if (shading == SHADE_BLEND) {
		blend(f, c, error, f->out);
		return true;
	}
	memcpy(f->out, c, sizeof(c));
	f->out[ERROR] = error;
	return true;
}

static void set_stencil(const struct pumice_isp_state *isp, struct ref_state *s)
{
	s->stencil_test = isp->stencil;
	s->front = (struct ref_stencil){ isp->front_func, isp->front_sfail, isp->front_zfail,
					 isp->front_pass, isp->front_ref, isp->front_mask,
					 isp->front_write };
	s->back = (struct ref_stencil){ isp->back_func, isp->back_sfail, isp->back_zfail,
					isp->back_pass, isp->back_ref, isp->back_mask,
					isp->back_write };
}

static void set_state(const struct scene_draw *d, struct ref_state *s)
{
	const struct pumice_vdm_state *vdm = &d->state.vdm;
	const struct pumice_isp_state *isp = &d->state.isp;

	*s = (struct ref_state){
		.scale = { vdm->scale_x, vdm->scale_y, vdm->scale_z },
		.offset = { vdm->offset_x, vdm->offset_y, vdm->offset_z },
		.cull_front = vdm->cull_front, .cull_back = vdm->cull_back,
		.front_ccw = vdm->front_ccw, .provoking_last = vdm->provoking_last,
		.depth_clip = vdm->depth_clip, .clip_minus_w = vdm->clip_minus_w,
		.line_width = vdm->line_width, .varyings = SCENE_VARYINGS,
		.flat = d->state.tsp.flat, .linear = d->state.tsp.linear,
		.point_coord = d->state.tsp.point_coord,
		.point_lower_left = d->state.tsp.point_origin == PUMICE_POINT_ORIGIN_LOWER_LEFT,
		.point_varying = d->state.tsp.point_varying,
		.centroid = d->interpolation == INTERP_CENTROID ? 0xf : 0,
		.depth_func = isp->depth_func, .depth_write = isp->depth_write,
		.depth_bias = isp->depth_bias, .bias_constant = isp->bias_constant,
		.bias_slope = isp->bias_slope, .bias_clamp = isp->bias_clamp,
		.scissor = { isp->scissor_x0, isp->scissor_x1, isp->scissor_y0, isp->scissor_y1 },
		.sample_mask = isp->sample_mask,
		.mask_test = isp->mask_test, .mask_op = isp->mask_op,
		/* Objects that write no colour keep that of each sample. */
		.sample_rate = d->sample_rate || isp->no_tag,
		.shader_depth = d->shading == SHADE_DEPTH, .shade = shade,
	};
	set_stencil(isp, s);
}

/* Compute the result of the vertex program for a vertex. */
static void shade_vertex(const struct scene_draw *d, uint32_t index, uint32_t instance,
			 struct ref_vertex *out)
{
	static const struct scene_vertex nothing;
	const struct scene_vertex *v = index < SCENE_VERTICES ? &d->vertex[index] : &nothing;
	uint32_t i;

	memset(out, 0, sizeof(*out));
	memcpy(out->pos, v->position, sizeof(out->pos));
	out->pos[0] = (float)instance * 0.125f + v->position[0];
	out->size = d->point_size ? v->size : d->state.vdm.point_width;
	for (i = 0; i < 4; i++)
		out->v[i] = (float)v->colour[i] / 255.0f;
	out->v[4] = v->uv[0];
	out->v[5] = v->uv[1];
}

struct run {
	const struct scene_draw *draw;
	const struct ref_target *target;
	const struct ref_state *state;
	uint32_t instance;
};

static void draw_primitive(const struct run *run, const uint32_t *index, uint32_t count)
{
	struct ref_vertex v[3];
	uint32_t i;

	for (i = 0; i < count; i++)
		shade_vertex(run->draw, index[i], run->instance, &v[i]);
	ref_draw(run->target, run->state, v, count);
}

/* The orientation of odd ones is reversed; the provoking vertex keeps its position. */
static void draw_strip_triangle(const struct run *run, const uint32_t *v, bool odd)
{
	const uint32_t first[3] = { v[0], v[2], v[1] }, last[3] = { v[1], v[0], v[2] };

	draw_primitive(run, !odd ? v : run->state->provoking_last ? last : first, 3);
}

/* Draw the primitives of a run of indices without restart. */
static void draw_run(const struct run *run, const uint32_t *v, uint32_t count)
{
	uint32_t n;

	for (n = 0; n < count; n++) {
		switch (run->draw->topology) {
		case PUMICE_TOPOLOGY_POINTS:
			draw_primitive(run, v + n, 1);
			break;
		case PUMICE_TOPOLOGY_LINES:
			if (n % 2 == 1)
				draw_primitive(run, v + n - 1, 2);
			break;
		case PUMICE_TOPOLOGY_LINE_STRIP:
			if (n >= 1)
				draw_primitive(run, v + n - 1, 2);
			break;
		case PUMICE_TOPOLOGY_TRIANGLES:
			if (n % 3 == 2)
				draw_primitive(run, v + n - 2, 3);
			break;
		case PUMICE_TOPOLOGY_TRIANGLE_STRIP:
			if (n >= 2)
				draw_strip_triangle(run, v + n - 2, n % 2);
			break;
		default:
			if (n >= 2)
				draw_primitive(run, (uint32_t[3]){ v[0], v[n - 1], v[n] }, 3);
			break;
		}
	}
}

static void draw_instance(const struct run *run)
{
	const struct scene_draw *d = run->draw;
	const uint64_t mask = d->index_bytes ? (1ull << (8 * d->index_bytes)) - 1 : 0xffffffff;
	uint32_t v[SCENE_INDICES + SCENE_VERTICES], i, n = 0;

	for (i = 0; i < d->count; i++) {
		uint32_t index = d->first + i;

		if (d->index_bytes)
			index = index < SCENE_INDICES ? d->index[index] & (uint32_t)mask : 0;
		if (d->restart && index == mask) {
			draw_run(run, v, n);
			n = 0;
		} else {
			v[n++] = index;
		}
	}
	draw_run(run, v, n);
}

static void clear(const struct scene *s, const struct ref_target *t)
{
	const size_t samples = (size_t)s->width * s->height * s->samples;
	size_t n;
	uint32_t i;

	for (n = 0; n < samples; n++) {
		t->depth[n] = s->clear_depth;
		t->stencil[n] = s->clear_stencil;
		t->mask[n] = s->mask_load ? scene_mask_bit(s, (uint32_t)n) : s->clear_mask;
		for (i = 0; i < WORDS; i++)
			t->out[n * WORDS + i] = i < SCENE_OUTPUTS ? (double)s->clear[i] : 0;
	}
}

void scene_draw_reference(const struct scene *s, struct picture *out)
{
	static double words[SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4 * WORDS];
	const struct ref_target target = {
		.width = s->width, .height = s->height, .samples = s->samples, .words = WORDS,
		.depth = out->depth, .stencil = out->stencil, .mask = out->mask,
		.out = words,
	};
	const size_t samples = (size_t)s->width * s->height * s->samples;
	uint32_t i, c;
	size_t n;

	memset(out, 0, sizeof(*out));
	clear(s, &target);
	for (i = 0; i < s->draws; i++) {
		struct shader shader = { &s->draw[i], i + 1 };
		struct ref_state state;
		struct run run = { &s->draw[i], &target, &state, 0 };

		set_state(&s->draw[i], &state);
		state.data = &shader;
		if (s->draw[i].state.isp.visibility)
			state.visible = &out->visible[i];
		for (run.instance = 0; run.instance < s->draw[i].instances; run.instance++)
			draw_instance(&run);
	}
	for (n = 0; n < samples; n++) {
		for (c = 0; c < 4; c++)
			out->colour[n][c] = (float)words[n * WORDS + c];
		out->id[n] = (float)words[n * WORDS + 4];
		out->error[n] = (float)words[n * WORDS + ERROR];
	}
}
