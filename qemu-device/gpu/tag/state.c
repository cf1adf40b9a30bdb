// SPDX-License-Identifier: MIT
/*
 * Texture and sampler structures, decoded and checked.
 *
 * Source: hw/formats.xml, texture, sampler. Decoded state is cached with its words as key, so
 * that no invalidation is needed when shaders change them.
 */
#include <string.h>

#include "state.h"

static bool decode_texture(const u32 *words, struct tag_state *s)
{
	struct pumice_texture *t = &s->texture;
	u32 n;

	if (pumice_texture_unpack(words, t) != PUMICE_UNPACK_OK)
		return false;
	s->surface = pumice_surface_of_texture(t);
	s->tf.info = pumice_pixel_info(t->format);
	if (!pumice_surface_valid(&s->surface))
		return false;
	s->tf.swizzle[0] = t->swizzle_r;
	s->tf.swizzle[1] = t->swizzle_g;
	s->tf.swizzle[2] = t->swizzle_b;
	s->tf.swizzle[3] = t->swizzle_a;
	s->tf.same = true;
	for (n = 0; n < 4; n++) {
		if (!pumice_swizzle_valid(s->tf.swizzle[n]))
			return false;
		s->tf.same &= s->tf.swizzle[n] == n;
		s->tf.scale[n] = texel_scale(s->tf.info, n);
	}
	for (n = 0; n < t->levels; n++)
		s->level[n] = pumice_surface_level(&s->surface, n);
	s->cube = t->dim == PUMICE_TEXTURE_DIM_CUBE || t->dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY;
	s->array = t->dim >= PUMICE_TEXTURE_DIM_1D_ARRAY;
	s->dims = t->dim == PUMICE_TEXTURE_DIM_3D ? 3 :
		  t->dim == PUMICE_TEXTURE_DIM_1D || t->dim == PUMICE_TEXTURE_DIM_1D_ARRAY ? 1 : 2;
	s->plain = s->tf.info->kind == PUMICE_KIND_UNORM && s->tf.info->bytes <= 4 &&
		   !(s->tf.info->flags & (PUMICE_FORMAT_SRGB | PUMICE_FORMAT_BLOCKS));
	return true;
}

/* Return whether the state is valid for coordinates in texels. */
static bool texels_valid(const struct tag_state *s)
{
	if (s->sampler.mip_filter != PUMICE_MIP_FILTER_NONE || s->sampler.aniso_log2 || s->cube)
		return false;
	for (u32 a = 0; a < s->dims; a++) {
		if (s->wrap[a] != PUMICE_WRAP_CLAMP && s->wrap[a] != PUMICE_WRAP_BORDER)
			return false;
	}
	return true;
}

/* Decode the border colour as a texel of the format: missing components are 0, 0, 1 here, too. */
static void decode_border(struct tag_state *s)
{
	for (u32 c = 0; c < 4; c++) {
		bool one = s->sampler.border == PUMICE_BORDER_OPAQUE_WHITE ||
			   (s->sampler.border == PUMICE_BORDER_OPAQUE_BLACK && c == 3);
		float f;

		if (c >= s->tf.info->components)
			one = c == 3;
		f = one ? s->tf.scale[c] : 0.0f;
		if (texel_integer(s->tf.info))
			s->tf.border_colour[c] = one;
		else
			memcpy(&s->tf.border_colour[c], &f, sizeof(f));
	}
}

static bool decode_sampler(const u32 *words, struct tag_state *s)
{
	struct pumice_sampler *p = &s->sampler;
	u32 a;

	if (pumice_sampler_unpack(words, p) != PUMICE_UNPACK_OK ||
	    !pumice_mip_filter_valid(p->mip_filter) || !pumice_wrap_valid(p->wrap_u) ||
	    !pumice_wrap_valid(p->wrap_v) || !pumice_wrap_valid(p->wrap_w) ||
	    !pumice_border_valid(p->border) || p->aniso_log2 > 4)
		return false;
	s->wrap[0] = p->wrap_u;
	s->wrap[1] = p->wrap_v;
	s->wrap[2] = p->wrap_w;
	s->lod_bias = p->lod_bias;
	s->min_lod = p->min_lod;
	s->max_lod = p->max_lod;
	s->tf.compare_func = p->compare_func;
	s->tf.border_axes = 0;
	for (a = 0; a < s->dims; a++) {
		if (s->cube)
			s->wrap[a] = PUMICE_WRAP_BORDER;
		else if (s->wrap[a] == PUMICE_WRAP_BORDER)
			s->tf.border_axes |= (u8)(1u << a);
	}
	s->filters = p->min_linear || p->mag_linear || p->mip_filter == PUMICE_MIP_FILTER_LINEAR;
	if (p->texels && !texels_valid(s))
		return false;
	decode_border(s);
	return true;
}

static bool float_words_valid(const u32 *words)
{
	for (u32 n = 0; n < 3; n++) {
		if ((words[n] & 0x7fffffff) > 0x7f800000)
			return false;
	}
	return true;
}

const struct tag_state *tag_state_get(struct tag *tag, const u32 *words)
{
	u32 hash = (words[0] >> 4) ^ words[1] ^ words[8] * 31 ^ words[2] >> 7;
	struct tag_state *s = &tag->state[(hash * 0x9e3779b1u) >> 28];

	_Static_assert(TAG_STATES == 1 << 4, "four bits of the hash");
	if (s->used && !memcmp(s->words, words, sizeof(s->words)))
		return s;
	memcpy(s->words, words, sizeof(s->words));
	s->used = true;
	s->texture_valid = decode_texture(s->words, s);
	s->sampler_valid = s->texture_valid && float_words_valid(s->words + 9) &&
			   decode_sampler(s->words + PUMICE_TEXTURE_WORDS, s);
	return s;
}
