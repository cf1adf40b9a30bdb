// SPDX-License-Identifier: MIT
/*
 * A fake texture unit: the result mixes all words of the request, so that a wrong word is
 * detected. See fake_tag.h.
 */
#include "fake_tag.h"

#include <stdlib.h>

#include "pumice_isa.h"

struct tag {
	u64 reads;
};

struct gpu_fault fake_tag_fault;

u32 fake_tag_mix(u32 op, u32 type, u32 dim, u32 comp, bool spans, const u32 *words, u32 count,
		 u32 component)
{
	u32 mix = op * 31 + type * 7 + dim * 131 + comp * 1021 + spans * 8191 + component * 65537;

	for (u32 n = 0; n < count; n++)
		mix = (mix ^ words[n]) * 0x01000193u + (mix >> 15);
	return mix;
}

struct tag *tag_create(const struct tag_config *config)
{
	(void)config;
	return calloc(1, sizeof(struct tag));
}

void tag_destroy(struct tag *tag)
{
	free(tag);
}

/* Corrupts lanes that were not requested, and writes row by row while it reads. */
bool tag_read(struct tag *tag, const struct tag_request *r, u32 *out, struct gpu_fault *fault)
{
	u32 coords = pumice_usc_texture_coords(r->dim),
		extra = pumice_usc_texture_extra(r->op, r->dim);

	tag->reads++;
	if (fake_tag_fault.fault) {
		*fault = fake_tag_fault;
		return false;
	}
	for (u32 n = 0; n < 4; n++) {
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			u32 words[32], count = 0;

			for (u32 c = 0; c < coords; c++)
				words[count++] = r->coord[c * PUMICE_LANES + l];
			for (u32 e = 0; e < extra; e++)
				words[count++] = r->extra[e * PUMICE_LANES + l];
			for (u32 s = 0; s < TAG_STATE_WORDS; s++)
				words[count++] = r->state[s];
			out[n * PUMICE_LANES + l] = r->lanes >> l & 1 ?
				fake_tag_mix(r->op, r->type, r->dim, r->comp, r->spans, words,
					     count, n) : 0xdeadbeef;
		}
	}
	return true;
}
