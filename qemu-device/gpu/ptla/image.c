// SPDX-License-Identifier: MIT
/*
 * Transfers of texels: BLIT, CLEAR and DOWNSCALE.
 *
 * Source: hw/formats.xml, tdm_blit, tdm_clear, tdm_downscale;
 * Documentation/formats.rst, "Transfers". A piece is a few lines of the destination,
 * done in parts of a few columns that fit the unit's buffers.
 */
#include <string.h>

#include "../number.h"
#include "state.h"

/* Columns of a part: of unconverted blocks, and of converted texels. */
#define RAW_COLUMNS 256u
#define COLUMNS PTLA_COLUMNS
#define MAX_BYTES PTLA_TEXEL_BYTES

_Static_assert(RAW_COLUMNS * PTLA_PIECE_LINES * MAX_BYTES <= PTLA_BUFFER, "a part fits");

static bool blit_raw(struct ptla_piece *p, u32 y, u32 lines)
{
	const struct ptla_command *c = p->command;
	const struct texel_memory m = ptla_memory(p);
	u32 pitch = RAW_COLUMNS * c->src.info->bytes;

	for (u32 x = 0; x < c->width; x += RAW_COLUMNS) {
		struct texel_rect from = {
			.level = &c->src.level, .addr = c->src.addr, .x = c->src_x + x,
			.y = c->src_y + y, .width = min_u32(RAW_COLUMNS, c->width - x),
			.height = lines,
		};
		struct texel_rect to = from;

		to.level = &c->dst.level;
		to.addr = c->dst.addr;
		to.x = c->dst_x + x;
		to.y = c->dst_y + y;
		if (!texel_rect_load(&m, &from, p->unit->buffer, pitch) ||
		    !ptla_store(p, &c->dst, &to, p->unit->buffer, pitch))
			return false;
	}
	return true;
}

/* Convert a line of at most COLUMNS texels. */
static void convert_line(const struct ptla_command *c, u32 x, u32 y, u32 count, const u8 *from,
			 u8 *to)
{
	struct texel_rows words = { 0 }, rows;
	struct texel_dither dither = texel_dither_row(c->dst_x + x, c->dst_y + y);

	dither.on = c->blit.dither && texel_dithers(c->dst.info);
	texel_words_load(ptla_texel_bytes(&c->src), from, count, &words);
	texel_unpack(c->src.info, &words, &rows);
	ptla_swizzle(&c->src, &rows);
	texel_ops()->pack(c->dst.info, &rows, &dither, &words);
	texel_words_store(c->dst.info->bytes, &words, count, to);
}

static bool blit_converted(struct ptla_piece *p, u32 y, u32 lines)
{
	const struct ptla_command *c = p->command;
	const u32 pitch = COLUMNS * MAX_BYTES;

	for (u32 x = 0; x < c->width; x += COLUMNS) {
		u32 columns = min_u32(COLUMNS, c->width - x);
		struct texel_rect from = {
			.level = &c->src.level, .addr = c->src.addr, .x = c->src_x + x,
			.y = c->src_y + y, .width = columns, .height = lines,
		};
		const struct texel_rect to = {
			.level = &c->dst.level, .addr = c->dst.addr, .x = c->dst_x + x,
			.y = c->dst_y + y, .width = columns, .height = lines,
		};

		if (!ptla_load_texels(p, &c->src, &from, pitch))
			return false;
		for (u32 line = 0; line < lines; line++)
			convert_line(c, x, y + line, columns, p->unit->buffer + line * pitch,
				     p->unit->other + line * pitch);
		if (!ptla_store(p, &c->dst, &to, p->unit->other, pitch))
			return false;
	}
	return true;
}

bool ptla_blit_piece(struct ptla_piece *p)
{
	const struct ptla_command *c = p->command;
	u32 y = (u32)p->number * PTLA_PIECE_LINES;
	u32 lines = min_u32(PTLA_PIECE_LINES, c->height - y);

	return c->raw ? blit_raw(p, y, lines) : blit_converted(p, y, lines);
}

/* Make a row of texels of the clear value. Stencil of a depth format is the second component. */
static void clear_words(const struct ptla_command *c, struct texel_rows *words)
{
	struct texel_rows rows;

	for (u32 n = 0; n < 4; n++) {
		for (u32 l = 0; l < COLUMNS; l++)
			rows.row[n][l] = c->clear.value[n].u;
	}
	texel_ops()->pack(c->dst.info, &rows, NULL, words);
	if (c->dst.texture.format != PUMICE_FORMAT_D24_S8)
		return;
	for (u32 l = 0; l < COLUMNS; l++)
		words->row[0][l] |= min_u32(c->clear.value[1].u, 255) << c->dst.info->shift[1];
}

bool ptla_clear_piece(struct ptla_piece *p)
{
	const struct ptla_command *c = p->command;
	const u32 bytes = c->dst.info->bytes;
	u32 y = (u32)p->number * PTLA_PIECE_LINES;
	struct texel_rows words;

	clear_words(c, &words);
	for (u32 x = 0; x < RAW_COLUMNS; x += COLUMNS)
		texel_words_store(bytes, &words, COLUMNS, p->unit->buffer + x * bytes);
	for (u32 x = 0; x < c->width; x += RAW_COLUMNS) {
		const struct texel_rect to = {
			.level = &c->dst.level, .addr = c->dst.addr, .x = c->dst_x + x,
			.y = c->dst_y + y, .width = min_u32(RAW_COLUMNS, c->width - x),
			.height = min_u32(PTLA_PIECE_LINES, c->height - y),
		};

		/* Store the same line repeatedly: all texels are equal. */
		if (!ptla_store(p, &c->dst, &to, p->unit->buffer, 0))
			return false;
	}
	return true;
}

/* Sums of the texels of a box so far. */
struct box {
	float sum[4][COLUMNS];
};

/*
 * Add the texels of a line to each of count boxes: two adjacent ones, or one if the level is
 * one texel wide.
 */
static void add_line(const struct ptla_surface *s, const u8 *line, u32 wide, u32 count,
		     struct box *box)
{
	struct texel_rows words = { 0 }, rows;

	for (u32 half = 0; half * COLUMNS < count * wide; half++) {
		u32 texels = min_u32(COLUMNS, count * wide - half * COLUMNS);

		texel_words_load(s->info->bytes, line + half * COLUMNS * s->info->bytes, texels,
				 &words);
		texel_unpack(s->info, &words, &rows);
		for (u32 c = 0; c < 4; c++) {
			const float *v = (const float *)(const void *)rows.row[c];

			for (u32 n = 0; n < texels / wide; n++)
				box->sum[c][half * COLUMNS / wide + n] +=
					wide == 2 ? v[2 * n] + v[2 * n + 1] : v[n];
		}
	}
}

/* Add lines of one slice to box[], from the source's line y. */
static bool add_slice(struct ptla_piece *p, u32 slice, struct texel_rect at, u32 wide, u32 high,
		      struct box *box)
{
	const struct ptla_command *c = p->command;
	const u32 pitch = 2 * COLUMNS * MAX_BYTES, boxes = at.width / wide;

	at.addr = c->src.addr + slice * c->src.level.layer_bytes;
	if (!ptla_load_texels(p, &c->src, &at, pitch))
		return false;
	for (u32 line = 0; line < at.height; line++)
		add_line(&c->src, p->unit->buffer + line * pitch, wide, boxes, &box[line / high]);
	return true;
}

static void put_boxes(const struct ptla_command *c, const struct box *box, u32 texels, u32 count,
		      u8 *to)
{
	struct texel_rows rows, words;

	for (u32 n = 0; n < 4; n++) {
		for (u32 l = 0; l < COLUMNS; l++) {
			float mean = box->sum[n][l] / (float)texels;

			memcpy(&rows.row[n][l], &mean, sizeof(mean));
		}
	}
	texel_ops()->pack(c->dst.info, &rows, NULL, &words);
	texel_words_store(c->dst.info->bytes, &words, count, to);
}

bool ptla_downscale_piece(struct ptla_piece *p)
{
	const struct ptla_command *c = p->command;
	const struct pumice_level *src = &c->src.level;
	const u32 bands = (c->height + PTLA_PIECE_LINES - 1) / PTLA_PIECE_LINES;
	const u32 layer = (u32)(p->number / bands);
	const u32 y = (u32)(p->number % bands) * PTLA_PIECE_LINES;
	const u32 lines = min_u32(PTLA_PIECE_LINES, c->height - y);
	const u32 wide = src->width > 1 ? 2 : 1, high = src->height > 1 ? 2 : 1;
	const u32 deep = src->layers > c->dst.level.layers ? 2 : 1;
	const u32 pitch = COLUMNS * MAX_BYTES;

	for (u32 x = 0; x < c->width; x += COLUMNS) {
		u32 columns = min_u32(COLUMNS, c->width - x);
		struct box box[PTLA_PIECE_LINES] = { 0 };
		const struct texel_rect from = {
			.level = src, .x = x * wide, .y = y * high, .width = columns * wide,
			.height = lines * high,
		};
		const struct texel_rect to = {
			.level = &c->dst.level,
			.addr = c->dst.addr + layer * c->dst.level.layer_bytes,
			.x = x, .y = y, .width = columns, .height = lines,
		};

		for (u32 slice = 0; slice < deep; slice++) {
			if (!add_slice(p, layer * deep + slice, from, wide, high, box))
				return false;
		}
		for (u32 line = 0; line < lines; line++)
			put_boxes(c, &box[line], wide * high * deep, columns,
				  p->unit->other + line * pitch);
		if (!ptla_store(p, &c->dst, &to, p->unit->other, pitch))
			return false;
	}
	return true;
}
