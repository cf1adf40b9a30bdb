// SPDX-License-Identifier: MIT
/*
 * Texture filter.
 *
 * Source: document 004, "TF"; Documentation/formats.rst for the rules. The arithmetic of 32 lanes
 * is that of texel/, once per vector level.
 */
#include "tf.h"

#include <string.h>

void tf_init(struct tf *tf)
{
	memset(tf, 0, sizeof(*tf));
	tf->ops = texel_ops();
}

static void put_border(const struct tf_state *s, const struct tf_taps *t, u32 n,
		       struct texel_rows *texel)
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 beyond = 0;

		for (u32 axes = s->border_axes; axes; axes &= axes - 1) {
			const u32 a = (u32)__builtin_ctz(axes);

			beyond |= t->beyond[a][n >> a & 1][l];
		}
		for (u32 c = 0; c < 4 && beyond; c++)
			texel->row[c][l] = s->border_colour[c];
	}
}

static bool compare(enum pumice_compare func, float a, float b)
{
	switch (func) {
	case PUMICE_COMPARE_NEVER:
		return false;
	case PUMICE_COMPARE_LESS:
		return a < b;
	case PUMICE_COMPARE_EQUAL:
		return a == b;
	case PUMICE_COMPARE_LESS_EQUAL:
		return a <= b;
	case PUMICE_COMPARE_GREATER:
		return a > b;
	case PUMICE_COMPARE_NOT_EQUAL:
		return a != b;
	case PUMICE_COMPARE_GREATER_EQUAL:
		return a >= b;
	default:
		return true;
	}
}

/* Set depths to 1 if their comparison with the reference is true, else to 0. */
static void compare_texels(const struct tf_read *read, struct texel_rows *texel)
{
	const struct tf_state *s = read->state;
	const enum pumice_compare func = (enum pumice_compare)s->compare_func;
	bool unit = s->info->kind == PUMICE_KIND_UNORM;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float depth, reference = read->reference[l], result;

		memcpy(&depth, &texel->row[0][l], sizeof(depth));
		depth /= s->scale[0];
		if (unit && !(reference > 0.0f))
			reference = 0.0f;
		if (unit && reference > 1.0f)
			reference = 1.0f;
		result = compare(func, reference, depth) ? 1.0f : 0.0f;
		for (u32 c = 0; c < 4; c++)
			memcpy(&texel->row[c][l], &result, sizeof(result));
	}
}

void tf_expand(struct tf *tf, const struct tf_read *read, const struct tf_taps *taps, u32 n,
	       const struct texel_rows *words, struct texel_rows *texel)
{
	const struct tf_state *s = read->state;
	const u64 began = activity_begin(&tf->activity);

	tf->ops->expand(s->info, words, texel);
	if (s->border_axes && taps)
		put_border(s, taps, n, texel);
	if (read->reference)
		compare_texels(read, texel);
	activity_end(&tf->activity, began);
}

/* Return whether texels must be ignored at weight 0: float formats may have infinity or NaN. */
static bool needs_guard(const struct tf_read *read)
{
	return read->state->info->kind == PUMICE_KIND_FLOAT && !read->reference;
}

void tf_filter(struct tf *tf, const struct tf_read *read, u32 dims, const struct tf_taps *taps,
	       struct texel_rows *texel, struct texel_rows *out)
{
	const u64 began = activity_begin(&tf->activity);

	tf->ops->blend(dims, needs_guard(read), taps, texel, out);
	activity_end(&tf->activity, began);
}

void tf_bilinear(struct tf *tf, const struct tf_read *read, const struct tf_taps *taps,
		 const u32 (*words)[PUMICE_LANES], struct texel_rows *out)
{
	const u64 began = activity_begin(&tf->activity);

	tf->ops->bilinear(read->state->info, taps, words, out);
	activity_end(&tf->activity, began);
}

void tf_mix(struct tf *tf, const struct tf_read *read, const float *weight,
	    const struct texel_rows *other, struct texel_rows *out)
{
	const u64 began = activity_begin(&tf->activity);

	tf->ops->mix(needs_guard(read), weight, other, out);
	activity_end(&tf->activity, began);
}

void tf_add(struct tf *tf, const struct texel_rows *one, u32 step, const float *steps,
	    struct texel_rows *sum)
{
	const u64 began = activity_begin(&tf->activity);

	for (u32 c = 0; c < 4; c++) {
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			float a, b;

			if ((float)step >= steps[l])
				continue;
			memcpy(&a, &sum->row[c][l], sizeof(a));
			memcpy(&b, &one->row[c][l], sizeof(b));
			a = step ? a + b : b;
			memcpy(&sum->row[c][l], &a, sizeof(a));
		}
	}
	activity_end(&tf->activity, began);
}

void tf_average(struct tf *tf, const float *steps, struct texel_rows *sum)
{
	const u64 began = activity_begin(&tf->activity);

	for (u32 c = 0; c < 4; c++) {
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			float value;

			memcpy(&value, &sum->row[c][l], sizeof(value));
			value /= steps[l];
			memcpy(&sum->row[c][l], &value, sizeof(value));
		}
	}
	activity_end(&tf->activity, began);
}

/* Scale numbers and select components, in four rows. */
static void finish(const struct tf *tf, const struct tf_state *s,
		   struct texel_rows *texel, u32 *out)
{
	u32 one = texel_integer(s->info) ? 1 : 0x3f800000u;

	tf->ops->scale(s->scale, texel);
	if (s->same) {
		memcpy(out, texel->row, sizeof(texel->row));
		return;
	}
	for (u32 c = 0; c < 4; c++) {
		u32 *row = out + c * PUMICE_LANES;

		if (s->swizzle[c] <= PUMICE_SWIZZLE_A)
			memcpy(row, texel->row[s->swizzle[c]], sizeof(texel->row[0]));
		for (u32 l = 0; l < PUMICE_LANES && s->swizzle[c] > PUMICE_SWIZZLE_A; l++)
			row[l] = s->swizzle[c] == PUMICE_SWIZZLE_ONE ? one : 0;
	}
}

void tf_result(struct tf *tf, const struct tf_read *read, struct texel_rows *texel, u32 *out)
{
	const u64 began = activity_begin(&tf->activity);

	activity_count(&tf->activity);
	if (read->reference)
		memcpy(out, texel->row, sizeof(texel->row));
	else
		finish(tf, read->state, texel, out);
	activity_end(&tf->activity, began);
}

void tf_gather(struct tf *tf, const struct tf_read *read, u32 comp,
	       struct texel_rows *texel, u32 *out)
{
	u32 all[4][PUMICE_LANES] __attribute__((aligned(64)));
	const u64 began = activity_begin(&tf->activity);

	if (read->reference) {
		memcpy(out, texel->row[0], sizeof(texel->row[0]));
	} else {
		finish(tf, read->state, texel, all[0]);
		memcpy(out, all[comp % 4], sizeof(all[0]));
	}
	activity_end(&tf->activity, began);
}
