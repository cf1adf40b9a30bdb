// SPDX-License-Identifier: MIT
/*
 * Formats: conversion to numbers and back, against the scalar model, at every vector
 * level.
 */
#include "cmocka_all.h"

#include <math.h>
#include <string.h>

#include "../../../qemu-device/gpu/texel/blocks.h"
#include "../../../qemu-device/gpu/texel/srgb.h"
#include "../../../qemu-device/gpu/texel/texel.h"
#include "model.h"
#include "rand.h"

static bool packed(u32 format)
{
	return format && model_block(format) == 1;
}

static double number(u32 format, u32 bits)
{
	float f;

	if (pumice_pixel_info(format)->kind == PUMICE_KIND_UINT)
		return bits;
	if (pumice_pixel_info(format)->kind == PUMICE_KIND_SINT)
		return (s32)bits;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

/* Expand and scale with the functions of a level. */
static void unpack(const struct texel_ops *ops, u32 format, const struct texel_rows *words,
		   struct texel_rows *out)
{
	const struct pumice_pixel_info *info = pumice_pixel_info(format);
	const float scale[4] = { texel_scale(info, 0), texel_scale(info, 1), texel_scale(info, 2),
				 texel_scale(info, 3) };

	ops->expand(info, words, out);
	ops->scale(scale, out);
}

/* 32 texels of a format: as in the model, rounded to f32, and the same at all levels. */
static void check_unpack(u32 format, const struct texel_rows *words)
{
	struct texel_rows out, first;

	for (u32 level = 0; level < TEXEL_LEVELS; level++) {
		const struct texel_ops *ops = texel_level_ops(level);

		if (!ops)
			continue;
		unpack(ops, format, words, &out);
		if (level)
			assert_memory_equal(&out, &first, sizeof(out));
		first = out;
	}
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 bytes[4] = { words->row[0][l], words->row[1][l], words->row[2][l],
				 words->row[3][l] };
		struct model_texel t = model_decode(format, (const u8 *)bytes);

		for (u32 c = 0; c < 4; c++) {
			double v = number(format, out.row[c][l]);
			double expected = model_integer(format) ? t.c[c] : (float)t.c[c];

			if (!same(v, expected))
				fail_msg("format %u, %08x, component %u: %.9g, not %.9g", format,
					 bytes[0], c, v, expected);
		}
	}
}

/* All patterns of a component of up to 16 bits, the other bits at random; else samples. */
static void every_pattern_is_converted_to_its_number(void **state)
{
	u64 seed = 1;

	(void)state;
	for (u32 format = 1; format < PUMICE_FORMAT_COUNT; format++) {
		for (u32 c = 0; packed(format) && c < model_components(format); c++) {
			struct texel_rows words;
			u32 low, bits, count;
			char kind;

			bits = model_component(format, c, &kind, &low);
			count = bits > 16 ? 1u << 14 : 1u << bits;
			for (u32 n = 0; n < count; n += PUMICE_LANES) {
				for (u32 w = 0; w < 4; w++) {
					for (u32 l = 0; l < PUMICE_LANES; l++)
						words.row[w][l] = rand_u32(&seed);
				}
				for (u32 l = 0; bits <= 16 && l < PUMICE_LANES; l++) {
					u32 *word = &words.row[low / 32][l],
						mask = (1u << bits) - 1;

					*word = (*word & ~(mask << low % 32)) |
						((n + l) & mask) << low % 32;
				}
				check_unpack(format, &words);
			}
		}
	}
}

static bool kept(u32 format, const struct texel_rows *a, const struct texel_rows *b, u32 l)
{
	for (u32 c = 0; c < model_components(format); c++) {
		if (!same(number(format, a->row[c][l]), number(format, b->row[c][l])))
			return false;
	}
	return true;
}

/* Representable values are converted back unchanged. */
static void unpacked_values_pack_again(void **state)
{
	u64 seed = 2;

	(void)state;
	for (u32 format = 1; format < PUMICE_FORMAT_COUNT; format++) {
		for (u32 n = 0; packed(format) && n < 512; n++) {
			struct texel_rows words, rows, again, back;

			for (u32 w = 0; w < 4; w++) {
				for (u32 l = 0; l < PUMICE_LANES; l++)
					words.row[w][l] = rand_u32(&seed);
			}
			unpack(texel_ops(), format, &words, &rows);
			for (u32 level = 0; level < TEXEL_LEVELS; level++) {
				if (!texel_level_ops(level))
					continue;
				texel_level_ops(level)->pack(pumice_pixel_info(format), &rows, NULL,
							     &again);
				unpack(texel_ops(), format, &again, &back);
				for (u32 l = 0; l < PUMICE_LANES; l++)
					assert_true(kept(format, &rows, &back, l));
			}
		}
	}
}

/* The component's bits in a packed texel. */
static u32 stored(u32 format, u32 c, const struct texel_rows *words, u32 l)
{
	u32 low, bits;
	char kind;

	bits = model_component(format, c, &kind, &low);
	return words->row[low / 32][l] >> low % 32 & (u32)((1ull << bits) - 1);
}

static float odd_float(u64 *seed)
{
	static const float special[] = { 0, -0.0f, 1, -1, 0.5f, 2, -2, INFINITY, -INFINITY, NAN,
					 65504, 65519, 65520, 65535, 1e-8f, 6e-8f, 1e30f, -1e30f,
					 64512, 65024, 65280, 0.99999994f, 1e-40f };
	u32 choice = rand_below(seed, 8);

	if (choice == 0)
		return special[rand_below(seed, sizeof(special) / sizeof(special[0]))];
	if (choice == 1)
		return ldexpf(rand_float(seed, -1, 1), (int)rand_below(seed, 40) - 20);
	return rand_float(seed, -0.1f, 1.1f);
}

static void any_number_packs_to_the_nearest(void **state)
{
	u64 seed = 3;

	(void)state;
	for (u32 format = 1; format < PUMICE_FORMAT_COUNT; format++) {
		for (u32 n = 0; packed(format) && !model_integer(format) && n < 500; n++) {
			struct texel_rows rows, words[TEXEL_LEVELS];
			float v[4][PUMICE_LANES];

			for (u32 c = 0; c < 4; c++) {
				for (u32 l = 0; l < PUMICE_LANES; l++)
					v[c][l] = odd_float(&seed);
			}
			memcpy(rows.row, v, sizeof(v));
			for (u32 level = 0; level < TEXEL_LEVELS; level++) {
				if (!texel_level_ops(level))
					continue;
				memset(&words[level], 0, sizeof(words[level]));
				texel_level_ops(level)->pack(pumice_pixel_info(format), &rows, NULL,
							     &words[level]);
				assert_memory_equal(&words[level], &words[0], sizeof(words[0]));
			}
			for (u32 c = 0; c < model_components(format); c++) {
				for (u32 l = 0; l < PUMICE_LANES; l++) {
					u32 got = stored(format, c, &words[0], l);

					if (!model_stores(format, c, v[c][l], got))
						fail_msg("format %u component %u: %.9g gave %u",
							 format, c, v[c][l], got);
				}
			}
		}
	}
}

static void integers_saturate(void **state)
{
	u64 seed = 4;

	(void)state;
	for (u32 format = 1; format < PUMICE_FORMAT_COUNT; format++) {
		bool is_signed = pumice_pixel_info(format)->kind == PUMICE_KIND_SINT;

		for (u32 n = 0; packed(format) && model_integer(format) && n < 200; n++) {
			struct texel_rows rows, words;

			for (u32 c = 0; c < 4; c++) {
				for (u32 l = 0; l < PUMICE_LANES; l++) {
					u32 v = rand_u32(&seed);

					rows.row[c][l] = rand_below(&seed, 2) ?
						(u32)((s32)v >> rand_below(&seed, 32)) :
						v >> rand_below(&seed, 32);
				}
			}
			texel_ops()->pack(pumice_pixel_info(format), &rows, NULL, &words);
			for (u32 c = 0; c < model_components(format); c++) {
				u32 low, bits = model_component(format, c, &(char){ 0 }, &low);
				double most = ldexp(1, (int)bits - is_signed) - 1;
				double min = is_signed ? -most - 1 : 0;

				for (u32 l = 0; l < PUMICE_LANES; l++) {
					double v = number(format, rows.row[c][l]);

					v = fmax(fmin(v, most), min);
					assert_true(model_pattern(format, c,
								  stored(format, c, &words,
									 l)) == v);
				}
			}
		}
	}
}

static void the_srgb_tables_are_the_curve(void **state)
{
	(void)state;
	for (u32 n = 0; n < 256; n++) {
		double linear = model_from_srgb(n / 255.0);

		assert_true(texel_srgb_to_linear[n] == (float)linear);
		assert_int_equal(texel_srgb_code(texel_srgb_to_linear[n]), n);
		if (!n)
			continue;
		/* The smallest float of a code, and the one below it. */
		assert_int_equal(texel_srgb_code(texel_srgb_min[n]), n);
		assert_int_equal(texel_srgb_code(nextafterf(texel_srgb_min[n], 0)), n - 1);
		assert_true(fabs(model_to_srgb(texel_srgb_min[n]) * 255 - (n - 0.5)) < 1e-4);
	}
	for (u32 bits = 0; bits < 0x40000000; bits += 977) {
		float f;

		memcpy(&f, &bits, sizeof(f));
		assert_true(fabs(model_to_srgb(fmin(f, 1)) * 255 - texel_srgb_code(f)) <= 0.5 +
			    1e-4);
	}
	assert_int_equal(texel_srgb_code(NAN), 0);
	assert_int_equal(texel_srgb_code(-1), 0);
	assert_int_equal(texel_srgb_code(INFINITY), 255);
}

static void compressed_blocks_decode_as_in_the_model(void **state)
{
	static const u32 formats[] = {
		PUMICE_FORMAT_ETC2_RGB8, PUMICE_FORMAT_ETC2_RGB8A1, PUMICE_FORMAT_ETC2_RGBA8,
		PUMICE_FORMAT_BC1_RGBA, PUMICE_FORMAT_BC2_RGBA, PUMICE_FORMAT_BC3_RGBA,
	};
	u64 seed = 5;

	(void)state;
	for (u32 n = 0; n < 6 * 20000; n++) {
		u32 format = formats[n % 6], words[4], texel[16];

		for (u32 w = 0; w < 4; w++)
			words[w] = rand_u32(&seed);
		if (n % 5 == 0)	/* equal BC colours */
			words[0] = words[2] = (words[0] & 0xffff) * 0x10001u;
		texel_block_decode(format, (const u8 *)words, texel);
		for (u32 t = 0; t < 16; t++) {
			struct model_texel m = model_block_texel(format, (const u8 *)words, t % 4,
								 t / 4);

			for (u32 c = 0; c < 4; c++) {
				if ((texel[t] >> 8 * c & 0xff) != (u32)lround(m.c[c] * 255))
					fail_msg("format %u, block %08x%08x, texel %u, component %u",
						 format, words[0], words[1], t, c);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pattern_is_converted_to_its_number),
		cmocka_unit_test(unpacked_values_pack_again),
		cmocka_unit_test(any_number_packs_to_the_nearest),
		cmocka_unit_test(integers_saturate),
		cmocka_unit_test(the_srgb_tables_are_the_curve),
		cmocka_unit_test(compressed_blocks_decode_as_in_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
