// SPDX-License-Identifier: MIT
/*
 * Reads of texels from memory: the TCU's part.
 *
 * Source: document 004, "TCU". Each block is read once and is within one 4 KiB grain; a grain
 * is translated at its first use in a request.
 */
#include <string.h>

#include "../texel/blocks.h"
#include "state.h"

#define GRAIN_MASK ((1u << MMU_GRAIN_SHIFT) - 1)

static inline u32 window_slot(u64 grain)
{
	return (u32)(grain ^ grain >> 4 ^ grain >> 8) % TAG_WINDOWS;
}

static const u8 *fill_window(struct tag_wave *w, u64 va, u32 bytes)
{
	u64 grain = va >> MMU_GRAIN_SHIFT;
	struct mmu *mmu = w->tag->config.mmu;
	const u8 *host = mmu_translate(mmu, &w->tag->tlb, w->request->ctx, va, bytes,
				       PUMICE_ACCESS_READ, PUMICE_UNIT_TAG, w->fault);

	if (!host || mmu_is_detailed(mmu))
		return host;
	w->windows.grain[window_slot(grain)] = grain;
	w->windows.host[window_slot(grain)] = host - (va & GRAIN_MASK);
	return host;
}

static inline const u8 *window_at(struct tag_wave *w, u64 va, u32 bytes)
{
	u64 grain = va >> MMU_GRAIN_SHIFT;
	u32 slot = window_slot(grain);

	if (w->windows.grain[slot] != grain)
		return fill_window(w, va, bytes);
	return w->windows.host[slot] + (va & GRAIN_MASK);
}

static inline __attribute__((always_inline)) bool
read_rows(struct tag_wave *w, const u64 *row, const u32 *column, u32 bytes,
	  struct texel_rows *words)
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		const u8 *host = window_at(w, row[l] + column[l], bytes);
		u32 word[4] = { 0 };

		if (!host)
			return false;
		memcpy(word, host, bytes);
		for (u32 n = 0; n < (bytes + 3) / 4; n++)
			words->row[n][l] = word[n];
	}
	return true;
}

/* Return the texels of a block, replacing the last decoded one with the same hash. */
static const u32 *decoded(struct tag *tag, u32 format, const u8 *host, u32 bytes)
{
	u64 bits[2] = { 0 };
	struct tag_block *b;

	memcpy(bits, host, bytes);
	b = &tag->block[((bits[0] ^ bits[1] * 3) * 0x9e3779b97f4a7c15ull) >> 57];
	_Static_assert(TAG_BLOCKS == 1 << 7, "seven bits of the hash");
	if (b->format == format && b->bits[0] == bits[0] && b->bits[1] == bits[1])
		return b->texel;
	memcpy(b->bits, bits, sizeof(bits));
	b->format = format;
	texel_block_decode(format, (const u8 *)bits, b->texel);
	return b->texel;
}

static bool read_blocks(struct tag_wave *w, const u64 *row, const u32 *column, const u32 *x,
			const u32 *y, struct texel_rows *words)
{
	const u32 bytes = w->state->tf.info->bytes;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		const u8 *host = window_at(w, row[l] + column[l], bytes);

		if (!host)
			return false;
		words->row[0][l] = decoded(w->tag, w->state->texture.format, host,
					   bytes)[y[l] % 4 * 4 + x[l] % 4];
	}
	return true;
}

bool tag_read_words(struct tag_wave *w, const u64 *row, const u32 *column, const u32 *x,
		    const u32 *y, struct texel_rows *words)
{
	tcu_count(w->tcu, 1);
	if (w->state->tf.info->flags & PUMICE_FORMAT_BLOCKS)
		return read_blocks(w, row, column, x, y, words);
	switch (w->state->tf.info->bytes) {
	case 1:
		return read_rows(w, row, column, 1, words);
	case 2:
		return read_rows(w, row, column, 2, words);
	case 4:
		return read_rows(w, row, column, 4, words);
	case 8:
		return read_rows(w, row, column, 8, words);
	default:
		return read_rows(w, row, column, 16, words);
	}
}

/* Adjacent texels are mostly in one grain: then the second needs no window look-up. */
static inline __attribute__((always_inline)) bool
read_pair(struct tag_wave *w, u64 row, u32 first, u32 second, u32 bytes,
			     u32 *left, u32 *right)
{
	u64 va = row + first;
	const u8 *host = window_at(w, va, bytes), *next;
	u32 step = second - first, word = 0, other = 0;

	if (!host)
		return false;
	next = ((u32)va & GRAIN_MASK) + step < w->windows.near ?
		       host + (s32)step : window_at(w, row + second, bytes);
	if (!next)
		return false;
	memcpy(&word, host, bytes);
	memcpy(&other, next, bytes);
	*left = word;
	*right = other;
	return true;
}

static inline __attribute__((always_inline)) bool
read_four(struct tag_wave *w, const struct tf_taps *t, u32 bytes,
	  u32 (*words)[PUMICE_LANES])
{
	const u32 *column = t->column[0], *next = t->column[1];

	for (u32 y = 0; y < 2; y++) {
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			if (!read_pair(w, t->row[0][y][l], column[l], next[l], bytes,
				       &words[2 * y][l], &words[2 * y + 1][l]))
				return false;
		}
	}
	return true;
}

bool tag_read_four(struct tag_wave *w, const struct tf_taps *taps, u32 (*words)[PUMICE_LANES])
{
	tcu_count(w->tcu, 4);
	switch (w->state->tf.info->bytes) {
	case 1:
		return read_four(w, taps, 1, words);
	case 2:
		return read_four(w, taps, 2, words);
	default:
		return read_four(w, taps, 4, words);
	}
}
