// SPDX-License-Identifier: MIT
/*
 * Reference model of the USC: graphics. See ref_model.h.
 *
 * Written from hw/isa.xml, document 003, "Types of Registers", and Documentation/precision.rst:
 * sample by sample, pixel by pixel.
 */
#include "ref_step.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_VERTEX = 1, STAGE_FRAGMENT, STAGE_TILE };

static bool has_pixels(const struct ref_gfx *gfx)
{
	return gfx->stage == STAGE_FRAGMENT || gfx->stage == STAGE_TILE;
}

/* Return the lane's span, or NULL after the last. Tasks of graphics are alone in their group. */
static struct ref_span *span_of(const struct ref_step *s, u32 lane)
{
	u32 n = s->w->number_in_group * 8 + lane / 4;

	return n < s->g->gfx->spans ? &s->g->gfx->span[n] : NULL;
}

/* Return whether the program runs for a sample. */
static bool runs_for(const struct ref_gfx *gfx, u32 sample)
{
	return gfx->sample == REF_PIXEL_RATE || gfx->sample == sample;
}

static bool has_sample(u32 samples, u32 pixel, u32 sample)
{
	return samples >> (pixel * 4 + sample) & 1;
}

static void drop(struct ref_step *s, u32 lane)
{
	s->w->valid &= ~(1u << lane);
	for (u32 sample = 0; sample < 4; sample++) {
		if (runs_for(s->g->gfx, sample))
			span_of(s, lane)->live &= ~(1u << (lane % 4 * 4 + sample));
	}
}

void ref_begin_gfx(struct ref_group *g)
{
	for (u32 n = 0; n < g->waves && has_pixels(g->gfx); n++) {
		struct ref_step s = { .g = g, .w = &g->wave[n] };

		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct ref_span *span = span_of(&s, l);
			bool any = false;

			for (u32 sample = 0; span && sample < g->gfx->samples; sample++)
				any |= runs_for(g->gfx, sample) &&
				       has_sample(span->samples, l % 4, sample);
			if (span)
				span->live = span->samples;
			if (!any)
				s.w->valid &= ~(1u << l);
		}
	}
}

static u32 *output_at(const struct ref_step *s, u32 number, u32 lane, u32 sample)
{
	u32 pixel = span_of(s, lane)->quad * 4 + lane % 4;

	return &s->g->gfx->output[sample * s->g->gfx->words + number][pixel];
}

u32 ref_output(const struct ref_step *s, u32 number, u32 lane)
{
	u32 sample = 0;

	if (!ref_valid(s->w, lane))
		return 0;
	while (!has_sample(span_of(s, lane)->samples, lane % 4, sample) ||
	       !runs_for(s->g->gfx, sample))
		sample++;
	return *output_at(s, number, lane, sample);
}

u32 ref_output_samples(const struct ref_step *s, u32 lane)
{
	u32 samples = 0;

	for (u32 sample = 0; ref_valid(s->w, lane) && sample < s->g->gfx->samples; sample++) {
		if (runs_for(s->g->gfx, sample) &&
		    has_sample(span_of(s, lane)->live, lane % 4, sample))
			samples |= 1u << sample;
	}
	return samples;
}

void ref_set_samples(struct ref_step *s, u32 number, u32 lane, u32 samples, u32 value)
{
	for (u32 sample = 0; sample < s->g->gfx->samples; sample++) {
		if (samples >> sample & 1)
			*output_at(s, number, lane, sample) = value;
	}
}

void ref_set_output(struct ref_step *s, u32 number, u32 lane, u32 value)
{
	ref_set_samples(s, number, lane, ref_output_samples(s, lane), value);
}

/* Sample positions in pixels, x and y, for 1, 2 and 4 samples. */
static const float position[5][4][2] = {
	[1] = { { .5f, .5f } },
	[2] = { { .25f, .25f }, { .75f, .75f } },
	[4] = { { .375f, .125f }, { .875f, .375f }, { .125f, .625f }, { .625f, .875f } },
};

static void lane_position(const struct ref_step *s, const struct ref_span *span, u32 pixel,
			  bool centroid, float *x, float *y)
{
	const struct ref_gfx *gfx = s->g->gfx;
	const float *in_pixel = position[1][0];
	u32 covered = span->covered >> pixel * 4 & 15, first = 0;

	if (gfx->sample != REF_PIXEL_RATE) {
		in_pixel = position[gfx->samples][gfx->sample];
	} else if (centroid && covered && covered != (1u << gfx->samples) - 1) {
		while (!(covered >> first & 1))
			first++;
		in_pixel = position[gfx->samples][first];
	}
	*x = (float)(span->quad % gfx->quads_across * 2 + (pixel & 1)) + in_pixel[0];
	*y = (float)(span->quad / gfx->quads_across * 2 + (pixel >> 1)) + in_pixel[1];
}

/*
 * Return a plane of an operand's components, in a lane. One that does not exist, in a lane that is
 * not valid, is 0.
 */
static float plane(const struct ref_step *s, u32 prim, u32 raw, u32 comps, u32 comp, u32 lane,
		   float x, float y)
{
	struct pumice_usc_operand opnd, *o = &opnd;
	float abc[3] = { 0 }, sum;
	u32 reg;

	pumice_usc_operand_unpack(&raw, o);
	if (!ref_select(s, raw, 3 * comps, lane, &reg))
		return 0;
	reg += 3 * comp;
	if (o->bank == PUMICE_USC_BANK_CFA)
		memcpy(abc, &s->g->coeff_alt[s->w->task][prim * s->g->gfx->coeffs_alt + reg],
		       sizeof(abc));
	else
		memcpy(abc, &s->g->coeff[s->w->task][prim * s->g->gfx->coeffs + reg], sizeof(abc));
	sum = abc[0] * x;
	sum += abc[1] * y;
	return sum + abc[2];
}

static u32 float_word(float value)
{
	u32 word;

	memcpy(&word, &value, sizeof(word));
	return value != value ? 0x7fc00000u : word;
}

static void run_itr(struct ref_step *s)
{
	bool centroid = s->in.func == PUMICE_USC_ITERATE_LINEAR_CENTROID ||
			s->in.func == PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID;
	struct pumice_usc_operand dst;

	pumice_usc_operand_unpack(&s->in.dst, &dst);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		const struct ref_span *span = span_of(s, l);

		/* Values of lanes without a pixel are unspecified: use the first span's. */
		span = span ? span : span_of(s, 0);
		for (u32 c = 0; c < s->in.comps; c++) {
			struct pumice_usc_operand to = dst;
			float x, y, value;

			lane_position(s, span, l % 4, centroid, &x, &y);
			value = plane(s, span->prim, s->in.src0, s->in.comps, c, l, x, y);
			if (s->in.src1)
				value /= plane(s, span->prim, s->in.src1, 1, 0, l, x, y);
			to.num += c;
			*ref_word(s, &to, l) = float_word(value);
		}
	}
}

/* Rows from a register on, of one lane. */
static u32 gather_words(const struct ref_step *s, u32 raw, u32 rows, u32 lane, u32 *out)
{
	struct pumice_usc_operand at;

	pumice_usc_operand_unpack(&raw, &at);
	for (u32 n = 0; n < rows; n++, at.num++)
		out[n] = raw ? *ref_word(s, &at, lane) : 0;
	return rows;
}

/* Not from the tables: number of coordinates, and of those with derivatives. */
static u32 coordinates(u32 dim, bool layer)
{
	static const u32 axes[] = { 1, 2, 3, 3, 1, 2, 3 };

	return axes[dim] + (layer && dim >= 4);
}

static u32 extra_rows(u32 op, u32 dim)
{
	if (op == PUMICE_USC_OP_SAMPLE_GRAD)
		return 2 * coordinates(dim, false);
	return op != PUMICE_USC_OP_SAMPLE && op != PUMICE_USC_OP_GATHER &&
	       op != PUMICE_USC_OP_QUERY_LOD;
}

static void run_texture(struct ref_step *s)
{
	bool spans = s->g->gfx && has_pixels(s->g->gfx);
	u32 out[4][PUMICE_LANES], reads = 0, raw;
	struct pumice_usc_operand dst;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 words[32], count = 0;
		bool any = false;

		for (u32 p = 0; p < 4; p++)
			any |= ref_valid(s->w, spans ? l / 4 * 4 + p : l);
		reads |= (u32)any << l;
		count += gather_words(s, s->in.src0, coordinates(s->in.func, true), l, words);
		count += gather_words(s, s->in.src1, extra_rows(s->in.opcode, s->in.func), l,
				      words + count);
		count += gather_words(s, s->in.src2, 12, 0, words + count);
		for (u32 n = 0; n < 4; n++)
			out[n][l] = s->g->gfx->texture(s->in.opcode, s->in.type, s->in.func,
						       s->in.comp, spans, words, count, n);
	}
	pumice_usc_operand_unpack(&s->in.dst, &dst);
	for (u32 n = 0; n < 4; n++, dst.num++) {
		pumice_usc_operand_pack(&raw, &dst);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			if (reads >> l & 1)
				ref_load(s, raw, l, out[n][l]);
		}
	}
}

static void run_depth(struct ref_step *s)
{
	u32 depth[PUMICE_LANES];

	ref_read_all(s, s->in.src0, depth);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		struct ref_span *span = span_of(s, l);
		bool any = false;

		for (u32 n = 0; span && n < s->g->gfx->samples; n++) {
			u32 bit = 1u << (l % 4 * 4 + n);

			if ((span->live & bit) && runs_for(s->g->gfx, n) &&
			    !s->g->gfx->depth(span->quad * 4 + l % 4, n, depth[l]))
				span->live &= ~bit;
			any |= runs_for(s->g->gfx, n) && (span->live & bit);
		}
		if (!any)
			s->w->valid &= ~(1u << l);
	}
}

/* Lanes without an instance write as well, if the register that they select exists. */
static void run_uvsw(struct ref_step *s)
{
	u32 (*vo)[PUMICE_LANES] = s->g->gfx->vo[s->w->number_in_group];
	u32 value[PUMICE_LANES], number;

	ref_read_all(s, s->in.src0, value);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (ref_select(s, s->in.dst, 1, l, &number))
			vo[number][l] = value[l];
	}
}

bool ref_run_gfx(struct ref_step *s, bool *done)
{
	u32 lanes = 0;

	*done = true;
	switch (s->in.opcode) {
	case PUMICE_USC_OP_UVSW:
		run_uvsw(s);
		return true;
	case PUMICE_USC_OP_ITR:
		run_itr(s);
		return true;
	case PUMICE_USC_OP_DISCARD:
		for (u32 l = 0; l < PUMICE_LANES; l++)
			lanes |= (u32)(ref_valid(s->w, l) && ref_mask(s, s->in.mask, l)) << l;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			if (lanes >> l & 1)
				drop(s, l);
		}
		return true;
	case PUMICE_USC_OP_DEPTH:
		run_depth(s);
		return true;
	default:
		if (s->in.opcode >= PUMICE_USC_OP_SAMPLE &&
		    s->in.opcode <= PUMICE_USC_OP_QUERY_LOD) {
			run_texture(s);
			return true;
		}
		*done = false;
		return false;
	}
}
