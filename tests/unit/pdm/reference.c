// SPDX-License-Identifier: MIT
/* See reference.h. */
#include "reference.h"

#include <math.h>
#include <string.h>

void reference_clear(struct reference_tile *tile, float out, float depth, u8 stencil)
{
	u32 s, p;

	for (s = 0; s < 4; s++) {
		for (p = 0; p < 1024; p++) {
			tile->out[s][p] = out;
			tile->model.depth[s][p] = depth;
			tile->model.stencil[s][p] = stencil;
		}
	}
	tile->primitives = 0;
	tile->covered = 0;
}

/* The program, for the samples in pass, of which the first is read. */
static void shade(struct reference_tile *t, const struct reference_object *o,
		  const struct scene_prim *prim, u32 x, u32 y, u32 pass, const float z[4],
		  u64 *visible)
{
	const u32 at = y * 32 + x;
	float value = t->out[__builtin_ctz(pass)][at] * 0.5f;
	u32 s;

	value += prim->value[0];
	if (o->program == RIG_PLAIN)
		value = prim->value[0];
	if (o->program == RIG_PUNCH && !(((t->at.x0 + x) ^ (t->at.y0 + y)) & 1))
		return;
	for (s = 0; s < t->at.samples; s++) {
		const float depth = o->program == RIG_DEPTH_OUT ?
					    fminf(fmaxf(prim->value[1], 0), 1) : z[s];

		if (!(pass >> s & 1))
			continue;
		if (o->program == RIG_DEPTH_OUT &&
		    !model_test(&t->model, &o->isp, prim->back, s, at, depth, true))
			continue;
		if (o->program == RIG_PUNCH) {
			/* The test has been passed; only what passing does is left. */
			struct isp_state late = o->isp;

			late.depth_func = PUMICE_COMPARE_ALWAYS;
			late.face[prim->back].func = PUMICE_COMPARE_ALWAYS;
			model_test(&t->model, &late, prim->back, s, at, depth, true);
		}
		if (o->isp.visibility)
			visible[o->isp.visibility_id]++;
		if (!o->isp.no_tag)
			t->out[s][at] = value;
	}
}

static void pixel(struct reference_tile *t, const struct reference_object *o,
		  const struct scene_prim *prim, u32 x, u32 y, u64 *visible)
{
	u32 s, covered = 0, pass = 0;
	float z[4];

	for (s = 0; s < t->at.samples; s++) {
		if (!model_covers(&t->at, &prim->triangle, &o->isp, x, y, s))
			continue;
		covered |= 1u << s;
		z[s] = model_depth(&t->at, &prim->triangle, &o->isp, x, y, s);
		if (o->program == RIG_DEPTH_OUT ||
		    model_test(&t->model, &o->isp, prim->back, s, y * 32 + x, z[s],
			       o->program != RIG_PUNCH))
			pass |= 1u << s;
	}
	t->covered += covered != 0;
	if (!pass)
		return;
	if (!o->sample_rate) {
		shade(t, o, prim, x, y, pass, z, visible);
		return;
	}
	for (s = 0; s < t->at.samples; s++)
		if (pass >> s & 1)
			shade(t, o, prim, x, y, 1u << s, z, visible);
}

void reference_draw(struct reference_tile *t, const struct reference_object *o,
		    const struct scene_prim *prim, u64 *visible)
{
	u32 x, y;

	t->primitives++;
	for (y = 0; y < t->at.clip_y; y++)
		for (x = 0; x < t->at.clip_x; x++)
			pixel(t, o, prim, x, y, visible);
}
