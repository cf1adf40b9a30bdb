// SPDX-License-Identifier: MIT
/*
 * Pixel back end: stores a tile's outputs to a surface.
 *
 * Source: document 004, "PBE"; Documentation/formats.rst, "Storing". Two lines of pixels at a
 * time, which are one line of quads: values are gathered, resolved and packed in the order of
 * the outputs, then put in the order of pixels.
 *
 * Limits: a surface is one level and one layer; with all samples stored it is wider by the
 * number of samples.
 */
#include "pbe.h"

#include <string.h>

#include "../number.h"
#include "../texel/rect.h"
#include "../texel/texel.h"
#include "../usc/float_env.h"

/* Pixels of a line of quads, at most: two lines of a tile. */
#define LINE_PIXELS 64u
#define TILE_SIDE 32u

/* A validated store. */
struct store {
	const struct usc_tile *tile;
	struct pumice_pbe_state state;
	const struct pumice_pixel_info *info;
	struct pumice_level plane;
	u32 samples;		/* samples stored for each pixel */
	u32 width, height;	/* size of the tile's part inside the surface, pixels */
	bool dither;
};

static bool decode(const u32 *words, const struct usc_tile *tile, struct store *s)
{
	struct pumice_pbe_state *p = &s->state;
	u32 width, height;

	if (pumice_pbe_state_unpack(words, p) != PUMICE_UNPACK_OK)
		return false;
	s->tile = tile;
	s->info = pumice_pixel_info(p->format);
	width = p->width + 1u;
	height = p->height + 1u;
	if (s->info->kind == PUMICE_KIND_NONE || p->layout > PUMICE_LAYOUT_TWIDDLED ||
	    s->info->flags & (PUMICE_FORMAT_BLOCKS | PUMICE_FORMAT_DEPTH | PUMICE_FORMAT_STENCIL) ||
	    width > PUMICE_MAX_RENDER_SIZE || height > PUMICE_MAX_RENDER_SIZE ||
	    (p->resolve && p->samples) || p->source + s->info->components > tile->words ||
	    (p->stride && p->layout != PUMICE_LAYOUT_LINEAR))
		return false;
	s->samples = p->samples ? tile->samples : 1;
	if (!pumice_stride_valid(s->info, width * s->samples, p->stride))
		return false;
	s->plane = pumice_plane(p->format, p->layout, width * s->samples, height, p->stride);
	s->dither = p->dither && texel_dithers(s->info);
	s->width = tile->x0 < width ? min_u32(width - tile->x0, tile->width) : 0;
	s->height = tile->y0 < height ? min_u32(height - tile->y0, tile->height) : 0;
	return true;
}

static const u32 *output(const struct store *s, u32 sample, u32 component, u32 pixel)
{
	u32 word = s->state.source + component;

	return s->tile->outputs + (size_t)(sample * s->tile->words + word) * s->tile->pixels +
		pixel;
}

/* Average the samples: pairs first, so that the order of additions is defined. */
static void resolve(const struct store *s, u32 component, u32 pixel, u32 *out)
{
	const float *a = (const float *)(const void *)output(s, 0, component, pixel);
	const float *b = (const float *)(const void *)output(s, 1, component, pixel);
	bool four = s->tile->samples > 2;
	const float *c = four ? (const float *)(const void *)output(s, 2, component, pixel) : a;
	const float *d = four ? (const float *)(const void *)output(s, 3, component, pixel) : b;
	float sum[PUMICE_LANES];

	for (u32 l = 0; l < PUMICE_LANES; l++)
		sum[l] = four ? ((a[l] + b[l]) + (c[l] + d[l])) * 0.25f : (a[l] + b[l]) * 0.5f;
	memcpy(out, sum, sizeof(sum));
}

/* Gather a row of 32 pixels' components, in the order of the outputs. */
static void gather(const struct store *s, u32 sample, u32 pixel, struct texel_rows *rows)
{
	bool average = s->state.resolve && s->tile->samples > 1 && !texel_integer(s->info);

	for (u32 c = 0; c < s->info->components; c++) {
		if (average)
			resolve(s, c, pixel, rows->row[c]);
		else
			memcpy(rows->row[c], output(s, sample, c, pixel), sizeof(rows->row[c]));
	}
}

/*
 * Get the dither of 32 pixels in the order of the outputs: four of a quad are consecutive, and the
 * matrix has a period of two different quads: so there are two.
 */
static void line_dither(const struct store *s, u32 y, struct texel_dither dither[2])
{
	const struct texel_dither upper = texel_dither_row(s->tile->x0, y);
	const struct texel_dither lower = texel_dither_row(s->tile->x0, y + 1);

	for (u32 quad = 0; quad < 2; quad++) {
		dither[quad].on = true;
		dither[quad].add[0] = upper.add[2 * quad];
		dither[quad].add[1] = upper.add[2 * quad + 1];
		dither[quad].add[2] = lower.add[2 * quad];
		dither[quad].add[3] = lower.add[2 * quad + 1];
	}
}

/* Pack words of 32 pixels of the line of quads at y (of the surface). */
static void pack_row(const struct store *s, const struct texel_ops *ops, u32 y,
		     const struct texel_rows *rows, struct texel_rows *words)
{
	struct texel_dither dither[2];
	struct texel_rows odd;

	if (!s->dither) {
		ops->pack(s->info, rows, NULL, words);
		return;
	}
	line_dither(s, y, dither);
	ops->pack(s->info, rows, &dither[0], words);
	ops->pack(s->info, rows, &dither[1], &odd);
	for (u32 n = 0; n < (s->info->bytes + 3u) / 4; n++) {
		for (u32 l = 4; l < PUMICE_LANES; l += 8)
			memcpy(&words->row[n][l], &odd.row[n][l], 4 * sizeof(u32));
	}
}

/* Copy blocks of one sample of a line of quads to two lines of the buffer. */
static void put_lines(const struct store *s, u32 sample, const u8 *blocks, u8 *upper, u8 *lower)
{
	const u32 bytes = s->info->bytes, step = bytes * s->samples, quads = s->tile->width / 2;

	for (u32 q = 0; q < quads; q++) {
		for (u32 n = 0; n < 2; n++) {
			u32 at = (2 * q + n) * step + sample * bytes;

			memcpy(upper + at, blocks + (4 * q + n) * bytes, bytes);
			memcpy(lower + at, blocks + (4 * q + 2 + n) * bytes, bytes);
		}
	}
}

/* The same for the most common case: pairs of pixels of a word each. */
static void put_lines_of_words(const struct store *s, const u8 *blocks, u8 *upper, u8 *lower)
{
	for (u32 q = 0; q < s->tile->width / 2u; q++) {
		memcpy(upper + 8 * q, blocks + 16 * q, 8);
		memcpy(lower + 8 * q, blocks + 16 * q + 8, 8);
	}
}

/* Convert two lines of pixels, from line y of the tile. */
static void convert_lines(const struct store *s, const struct texel_ops *ops, u32 y, u8 *upper,
			  u8 *lower)
{
	const u32 pixels = s->tile->width * 2u, first = y * s->tile->width;
	u8 blocks[LINE_PIXELS * 16];
	struct texel_rows rows, words;

	for (u32 sample = 0; sample < s->samples; sample++) {
		for (u32 p = 0; p < pixels; p += PUMICE_LANES) {
			gather(s, sample, first + p, &rows);
			pack_row(s, ops, s->tile->y0 + y, &rows, &words);
			texel_words_store(s->info->bytes, &words, PUMICE_LANES,
					  blocks + p * s->info->bytes);
		}
		if (s->info->bytes == 4 && s->samples == 1)
			put_lines_of_words(s, blocks, upper, lower);
		else
			put_lines(s, sample, blocks, upper, lower);
	}
}

static u32 all_components(const struct store *s)
{
	return (1u << s->info->components) - 1;
}

/* Return whether a store writes nothing: outside of the surface, or no component. */
static bool is_empty(const struct store *s)
{
	return !s->width || !s->height || !(s->state.write_mask & all_components(s));
}

/* Return whether it writes all components. */
static bool is_whole(const struct store *s)
{
	return (s->state.write_mask & all_components(s)) == all_components(s);
}

/* Return the tile's part of the surface. */
static struct texel_rect rect_of(const struct store *s)
{
	return (struct texel_rect){
		.level = &s->plane, .addr = s->state.addr, .x = s->tile->x0 * s->samples,
		.y = s->tile->y0, .width = s->width * s->samples, .height = s->height,
	};
}

bool pbe_store(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, const struct usc_tile *tile,
	       const u32 words[8], struct gpu_fault *fault)
{
	const struct texel_memory memory = {
		.mmu = mmu, .tlb = tlb, .ctx = ctx, .unit = PUMICE_UNIT_PBE, .fault = fault,
	};
	const struct texel_ops *ops = texel_ops();
	u8 buffer[TILE_SIDE * TILE_SIDE * PUMICE_MAX_SAMPLES * 16];
	struct texel_rect rect;
	struct store s;
	u8 mask[16];
	u32 pitch;

	if (!decode(words, tile, &s)) {
		fault->fault = PUMICE_FAULT_PBE_STATE;
		fault->unit = PUMICE_UNIT_PBE;
		fault->access = PUMICE_ACCESS_WRITE;
		fault->ctx = (u8)ctx;
		fault->addr = 0;
		return false;
	}
	if (is_empty(&s))
		return true;
	pitch = tile->width * s.samples * s.info->bytes;
	for (u32 y = 0; y < s.height; y += 2)
		convert_lines(&s, ops, y, buffer + y * pitch, buffer + (y + 1) * pitch);
	texel_component_bits(s.info, s.state.write_mask, mask);
	rect = rect_of(&s);
	return texel_rect_store(&memory, &rect, buffer, pitch, is_whole(&s) ? NULL : mask);
}

/* Convert outputs that all samples of all pixels have: one row of pixels is enough. */
static void convert_constant(const struct store *s, const u32 *output, u8 *block)
{
	u32 outputs[PUMICE_MAX_SAMPLES * PUMICE_USC_MAX_OUTPUTS * PUMICE_LANES];
	const u32 samples = s->state.resolve ? s->tile->samples : 1;
	struct usc_tile tile = *s->tile;
	struct store row = *s;
	struct texel_rows rows, words;

	for (u32 n = 0; n < samples * tile.words; n++) {
		for (u32 l = 0; l < PUMICE_LANES; l++)
			outputs[n * PUMICE_LANES + l] = output[n % tile.words];
	}
	tile.outputs = outputs;
	tile.pixels = PUMICE_LANES;
	row.tile = &tile;
	gather(&row, 0, 0, &rows);
	pack_row(&row, texel_ops(), 0, &rows, &words);
	texel_words_store(s->info->bytes, &words, 1, block);
}

bool pbe_store_constant(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx,
			const struct usc_tile *tile, const u32 *output, const u32 words[8])
{
	const struct texel_memory memory = {
		.mmu = mmu, .tlb = tlb, .ctx = ctx, .unit = PUMICE_UNIT_PBE,
	};
	struct float_env host;
	struct texel_rect rect;
	struct store s;
	u8 block[16];

	if (!decode(words, tile, &s) || s.dither)
		return false;
	if (is_empty(&s))
		return true;
	if (!is_whole(&s))
		return false;
	float_env_enter(&host);
	convert_constant(&s, output, block);
	float_env_leave(&host);
	rect = rect_of(&s);
	return texel_rect_fill(&memory, &rect, block);
}
