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
			tile->model.mask[s][p] = false;
		}
	}
	memset(tile->owner, 0, sizeof(tile->owner));
	tile->primitives = 0;
	tile->covered = 0;
	tile->shaded = 0;
}

/* A pixel's samples of one owner are one fragment, unless it is shaded per sample. */
void reference_flush(struct reference_tile *tile)
{
	u32 p, s, before;

	for (p = 0; p < 1024; p++) {
		for (s = 0; s < tile->at.samples; s++) {
			bool first = tile->owner[s][p];

			for (before = 0; before < s && first && !tile->by_sample[s][p]; before++)
				first = tile->owner[before][p] != tile->owner[s][p];
			tile->shaded += first;
		}
	}
	memset(tile->owner, 0, sizeof(tile->owner));
}

/*
 * The program, for the samples in run; of of those in pass, if there are any, the first
 * is read. Then the tests.
 */
static void shade(struct reference_tile *t, const struct reference_object *o,
		  const struct scene_prim *prim, u32 x, u32 y, u32 run, u32 pass, const float z[4],
		  u64 *visible)
{
	const u32 at = y * 32 + x, read = run & pass ? run & pass : run;
	float value = t->out[__builtin_ctz(read)][at] * 0.5f;
	u32 s;

	value += prim->value[0];
	if (o->program == FX_PLAIN)
		value = prim->value[0];
	if (o->program == FX_PUNCH && !(((t->at.x0 + x) ^ (t->at.y0 + y)) & 1))
		return;
	for (s = 0; s < t->at.samples; s++) {
		const float depth = o->program == FX_DEPTH_OUT ?
					    fminf(fmaxf(prim->value[1], 0), 1) : z[s];

		if (!(run >> s & 1) ||
		    !model_test(&t->model, &o->isp, prim->back, s, at, depth, true))
			continue;
		if (o->isp.visibility)
			visible[o->isp.visibility_id]++;
		if (o->isp.no_tag)
			continue;
		t->out[s][at] = value;
		t->owner[s][at] = t->primitives;
		t->by_sample[s][at] = o->sample_rate;
	}
}

/*
 * Samples that are covered, with their depths; *open: those of them that pass the mask test; *pass:
 * those that will pass, if known already.
 */
static u32 look(const struct reference_tile *t, const struct reference_object *o,
		const struct scene_prim *prim, u32 x, u32 y, float z[4], u32 *open,
		u32 *pass)
{
	static struct model untouched;
	u32 s, covered = 0;

	*open = 0;
	*pass = 0;
	for (s = 0; s < t->at.samples; s++) {
		if (!model_covers(&t->at, &prim->triangle, &o->isp, x, y, s))
			continue;
		covered |= 1u << s;
		if (!model_mask_test(&t->model, &o->isp, s, y * 32 + x))
			continue;
		*open |= 1u << s;
		z[s] = model_depth(&t->at, &prim->triangle, &o->isp, x, y, s);
		untouched.depth[s][y * 32 + x] = t->model.depth[s][y * 32 + x];
		untouched.stencil[s][y * 32 + x] = t->model.stencil[s][y * 32 + x];
		if (o->program == FX_DEPTH_OUT ||
		    model_test(&untouched, &o->isp, prim->back, s, y * 32 + x, z[s], true))
			*pass |= 1u << s;
	}
	return covered;
}

static void pixel(struct reference_tile *t, const struct reference_object *o,
		  const struct scene_prim *prim, u32 x, u32 y, u64 *visible)
{
	u32 s, open, pass;
	float z[4];

	t->covered += look(t, o, prim, x, y, z, &open, &pass) != 0;
	if (!open)
		return;
	if (!o->sample_rate) {
		shade(t, o, prim, x, y, open, pass, z, visible);
		return;
	}
	for (s = 0; s < t->at.samples; s++)
		if (open >> s & 1)
			shade(t, o, prim, x, y, 1u << s, pass, z, visible);
}

/* Return whether a translucent primitive is visible over a sample that is not shaded yet. */
static bool reads_pending(const struct reference_tile *t, const struct reference_object *o,
			  const struct scene_prim *prim)
{
	u32 x, y, open, pass;
	float z[4];

	if (o->isp.pass_type != PUMICE_PASS_TYPE_TRANSLUCENT)
		return false;
	for (y = 0; y < t->at.clip_y; y++) {
		for (x = 0; x < t->at.clip_x; x++) {
			look(t, o, prim, x, y, z, &open, &pass);
			if (pass & 1 && t->owner[0][y * 32 + x])
				return true;
		}
	}
	return false;
}

void reference_draw(struct reference_tile *t, const struct reference_object *o,
		    const struct scene_prim *prim, u64 *visible)
{
	u32 x, y;

	t->primitives++;
	if (reads_pending(t, o, prim))
		reference_flush(t);
	for (y = 0; y < t->at.clip_y; y++)
		for (x = 0; x < t->at.clip_x; x++)
			pixel(t, o, prim, x, y, visible);
}
