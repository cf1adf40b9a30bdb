// SPDX-License-Identifier: MIT
/*
 * Scaling copies: SCALE.
 *
 * Source: hw/transfer.xml, tdm_scale; Documentation/formats.rst, "Scaling". A piece is a few
 * lines of a strip of the destination, done in parts of PTLA_COLUMNS columns. Positions are
 * fractions of integers, so that they do not depend on how the destination is divided.
 *
 * Limits: sizes up to 8192, for which a position fits 32 bits.
 */
#include <string.h>

#include "../number.h"
#include "state.h"

/* Texels of a row that are loaded at once: above that, each column loads its own. */
#define SPAN 64u
#define PITCH (SPAN * PTLA_TEXEL_BYTES)

/* Texels of the source rectangle that a texel of the destination reads along one axis. */
struct tap {
	u32 first, second;	/* equal, or adjacent */
	float weight;		/* of the second; LINEAR */
};

/* Taps of the columns of a part. */
struct columns {
	u32 count;
	u32 lowest, span;	/* columns of the source rectangle that they read */
	u32 texel[2][PTLA_COLUMNS];
	float weight[PTLA_COLUMNS] __attribute__((aligned(64)));
};

/* Rows of the source at these columns, filtered along x: row y is in slot y % 2. */
struct filtered {
	bool valid[2];
	u32 y[2];
	struct texel_rows row[2];
};

/*
 * Return the taps of texel n of dst texels that show src texels. The centre of the texel is at
 * (n + 1/2) * src / dst; centre is this in units of 1 / (2 * dst) texels.
 */
static struct tap tap_of(enum pumice_tdm_filter filter, u32 src, u32 dst, bool flip, u32 n)
{
	const u32 m = flip ? dst - 1 - n : n, unit = 2 * dst, centre = (2 * m + 1) * src;
	struct tap t = { 0 };

	switch (filter) {
	case PUMICE_TDM_FILTER_LINEAR:
		if (centre < dst)
			return t;	/* before the centre of the first texel */
		t.first = (centre - dst) / unit;
		t.second = min_u32(t.first + 1, src - 1);
		if (t.second != t.first)
			t.weight = (float)((centre - dst) % unit) / (float)unit;
		return t;
	case PUMICE_TDM_FILTER_BOX:
		t.first = m * (src / dst);
		t.second = t.first + src / dst - 1;
		return t;
	default:
		t.first = t.second = centre / unit;
		return t;
	}
}

static void place_columns(const struct ptla_command *c, u32 x, u32 count, struct columns *to)
{
	const struct pumice_tdm_scale *s = &c->scale;
	u32 lowest = ~0u, highest = 0;

	memset(to, 0, sizeof(*to));
	to->count = count;
	for (u32 n = 0; n < count; n++) {
		struct tap t = tap_of(s->filter, s->src_width, s->dst_width, s->flip_x, x + n);

		to->texel[0][n] = t.first;
		to->texel[1][n] = t.second;
		to->weight[n] = t.weight;
		lowest = min_u32(lowest, t.first);
		highest = max_u32(highest, t.second);
	}
	to->lowest = lowest;
	to->span = highest - lowest + 1;
}

static struct tap tap_of_line(const struct ptla_command *c, u32 y)
{
	const struct pumice_tdm_scale *s = &c->scale;

	return tap_of(s->filter, s->src_height, s->dst_height, s->flip_y, y);
}

/* Load texels of a row of the source rectangle to the unit's buffer. */
static bool load_span(struct ptla_piece *p, u32 x, u32 y, u32 width)
{
	const struct ptla_command *c = p->command;
	struct texel_rect at = {
		.level = &c->src.level, .addr = c->src.addr, .x = c->src_x + x, .y = c->src_y + y,
		.width = width, .height = 1,
	};

	return ptla_load_texels(p, &c->src, &at, PITCH);
}

/* Load the words of both taps of each column in row y of the source rectangle. */
static bool load_row(struct ptla_piece *p, const struct columns *x, u32 y,
		     struct texel_rows words[2])
{
	const u32 bytes = ptla_texel_bytes(&p->command->src);
	const bool whole = x->span <= SPAN;
	u8 line[2][PTLA_COLUMNS * PTLA_TEXEL_BYTES];

	if (whole && !load_span(p, x->lowest, y, x->span))
		return false;
	for (u32 n = 0; n < x->count; n++) {
		u32 first = x->texel[0][n], second = x->texel[1][n];
		u32 base = whole ? x->lowest : first;

		if (!whole && !load_span(p, first, y, second - first + 1))
			return false;
		texel_copy(line[0] + n * bytes, p->unit->buffer + (first - base) * bytes, bytes);
		texel_copy(line[1] + n * bytes, p->unit->buffer + (second - base) * bytes, bytes);
	}
	memset(words, 0, 2 * sizeof(*words));
	for (u32 t = 0; t < 2; t++)
		texel_words_load(bytes, line[t], x->count, &words[t]);
	return true;
}

/* Return row y of the source rectangle, filtered along x; NULL on a fault. */
static const struct texel_rows *filtered_row(struct ptla_piece *p, const struct columns *x, u32 y,
					     struct filtered *rows)
{
	const struct pumice_pixel_info *info = p->command->src.info;
	const u32 slot = y % 2;
	struct texel_rows words[2], second;

	if (rows->valid[slot] && rows->y[slot] == y)
		return &rows->row[slot];
	if (!load_row(p, x, y, words))
		return NULL;
	texel_ops()->expand(info, &words[0], &rows->row[slot]);
	texel_ops()->expand(info, &words[1], &second);
	texel_ops()->mix(info->kind == PUMICE_KIND_FLOAT, x->weight, &second, &rows->row[slot]);
	rows->valid[slot] = true;
	rows->y[slot] = y;
	return &rows->row[slot];
}

/* Compute a line by interpolation: along x, then y; UNORM and SNORM are divided at the end. */
static bool line_linear(struct ptla_piece *p, const struct columns *x, u32 y,
			struct filtered *rows, struct texel_rows *out)
{
	const struct pumice_pixel_info *info = p->command->src.info;
	const struct tap t = tap_of_line(p->command, y);
	const struct texel_rows *row = filtered_row(p, x, t.first, rows);
	float weight[PTLA_COLUMNS] __attribute__((aligned(64)));
	float scale[4];

	if (!row)
		return false;
	*out = *row;
	row = filtered_row(p, x, t.second, rows);
	if (!row)
		return false;
	for (u32 n = 0; n < PTLA_COLUMNS; n++)
		weight[n] = t.weight;
	for (u32 n = 0; n < 4; n++)
		scale[n] = texel_scale(info, n);
	texel_ops()->mix(info->kind == PUMICE_KIND_FLOAT, weight, row, out);
	texel_ops()->scale(scale, out);
	return true;
}

/* Add the texels of row y to the sums of the boxes, pairs first, as DOWNSCALE does. */
static bool add_row(struct ptla_piece *p, const struct columns *x, u32 y, bool pairs,
		    float sum[4][PTLA_COLUMNS])
{
	struct texel_rows words[2], rows[2];

	if (!load_row(p, x, y, words))
		return false;
	for (u32 t = 0; t < (pairs ? 2u : 1u); t++)
		texel_unpack(p->command->src.info, &words[t], &rows[t]);
	for (u32 c = 0; c < 4; c++) {
		const float *first = (const float *)(const void *)rows[0].row[c];
		const float *second = (const float *)(const void *)rows[1].row[c];

		for (u32 n = 0; n < x->count; n++)
			sum[c][n] += pairs ? first[n] + second[n] : first[n];
	}
	return true;
}

/* Compute a line as the average of boxes. */
static bool line_box(struct ptla_piece *p, const struct columns *x, u32 y, struct texel_rows *out)
{
	const struct pumice_tdm_scale *s = &p->command->scale;
	const struct tap t = tap_of_line(p->command, y);
	const u32 wide = s->src_width / s->dst_width, high = s->src_height / s->dst_height;
	float sum[4][PTLA_COLUMNS] = { 0 };

	for (u32 row = t.first; row <= t.second; row++) {
		if (!add_row(p, x, row, wide == 2, sum))
			return false;
	}
	for (u32 c = 0; c < 4; c++) {
		for (u32 n = 0; n < PTLA_COLUMNS; n++) {
			float mean = sum[c][n] / (float)(wide * high);

			memcpy(&out->row[c][n], &mean, sizeof(mean));
		}
	}
	return true;
}

/* Compute the texels of line y of the destination and store them at to. */
static bool scale_line(struct ptla_piece *p, const struct columns *x, u32 left, u32 y,
		       struct filtered *rows, u8 *to)
{
	const struct ptla_command *c = p->command;
	struct texel_dither dither = texel_dither_row(c->dst_x + left, c->dst_y + y);
	struct texel_rows words[2], out;

	switch (c->scale.filter) {
	case PUMICE_TDM_FILTER_LINEAR:
		if (!line_linear(p, x, y, rows, &out))
			return false;
		break;
	case PUMICE_TDM_FILTER_BOX:
		if (!line_box(p, x, y, &out))
			return false;
		break;
	default:
		if (!load_row(p, x, tap_of_line(c, y).first, words))
			return false;
		if (!c->raw)
			texel_unpack(c->src.info, &words[0], &out);
		break;
	}
	if (!c->raw) {
		dither.on = c->scale.dither && texel_dithers(c->dst.info);
		ptla_swizzle(&c->src, &out);
		texel_ops()->pack(c->dst.info, &out, &dither, &words[0]);
	}
	texel_words_store(c->dst.info->bytes, &words[0], x->count, to);
	return true;
}

/* Do at most PTLA_COLUMNS columns from left and PTLA_PIECE_LINES lines from top. */
static bool scale_part(struct ptla_piece *p, u32 left, u32 top, u32 count, u32 lines)
{
	const struct ptla_command *c = p->command;
	const u32 pitch = PTLA_COLUMNS * PTLA_TEXEL_BYTES;
	const struct texel_rect to = {
		.level = &c->dst.level, .addr = c->dst.addr, .x = c->dst_x + left,
		.y = c->dst_y + top, .width = count, .height = lines,
	};
	u8 out[PTLA_PIECE_LINES * PTLA_COLUMNS * PTLA_TEXEL_BYTES];
	struct filtered rows = { 0 };
	struct columns x;

	place_columns(c, left, count, &x);
	for (u32 line = 0; line < lines; line++) {
		if (!scale_line(p, &x, left, top + line, &rows, out + line * pitch))
			return false;
	}
	if (!ptla_store(p, &c->dst, &to, out, pitch))
		return false;
	p->scaled += (u64)count * lines;
	return true;
}

bool ptla_scale_piece(struct ptla_piece *p)
{
	const struct ptla_command *c = p->command;
	const u32 strips = (c->width + PTLA_PIECE_COLUMNS - 1) / PTLA_PIECE_COLUMNS;
	const u32 top = (u32)(p->number / strips) * PTLA_PIECE_LINES;
	const u32 left = (u32)(p->number % strips) * PTLA_PIECE_COLUMNS;
	const u32 right = min_u32(c->width, left + PTLA_PIECE_COLUMNS);
	const u32 lines = min_u32(PTLA_PIECE_LINES, c->height - top);

	for (u32 x = left; x < right; x += PTLA_COLUMNS) {
		if (!scale_part(p, x, top, min_u32(PTLA_COLUMNS, right - x), lines))
			return false;
	}
	return true;
}
