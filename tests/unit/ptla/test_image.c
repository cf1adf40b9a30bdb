// SPDX-License-Identifier: MIT
/*
 * PTLA: blits, clears and downscales against the scalar model, byte by byte, and every
 * kind of invalid command.
 */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#include "surface.h"

#define HALF (512u << 10)	/* source below, destination above */
#define IMAGES (2 * HALF)

static void put_blit(struct fixture *fx, const struct pumice_tdm_blit *blit)
{
	pumice_tdm_blit_pack(fx_command(fx, PUMICE_TDM_BLIT_WORDS), blit);
}

/* A rectangle that fits both levels. */
static struct pumice_tdm_blit random_blit(struct fixture *fx, const struct pumice_texture *src,
					  const struct pumice_texture *dst)
{
	const struct model_surface s = image_model(src), d = image_model(dst);
	u64 *seed = &fx->seed;
	struct pumice_tdm_blit b = {
		.src_level = (u8)rand_below(seed, s.levels),
		.dst_level = (u8)rand_below(seed, d.levels), .dither = rand_below(seed, 2),
	};
	u32 sw = model_level_size(s.width, b.src_level),
		sh = model_level_size(s.height, b.src_level);
	u32 dw = model_level_size(d.width, b.dst_level),
		dh = model_level_size(d.height, b.dst_level);

	b.src = fx_texture(fx, 0, src);
	b.dst = fx_texture(fx, 1, dst);
	b.width = (u16)(1 + rand_below(seed, sw < dw ? sw : dw));
	b.height = (u16)(1 + rand_below(seed, sh < dh ? sh : dh));
	b.src_x = (u16)rand_below(seed, sw - b.width + 1);
	b.src_y = (u16)rand_below(seed, sh - b.height + 1);
	b.dst_x = (u16)rand_below(seed, dw - b.width + 1);
	b.dst_y = (u16)rand_below(seed, dh - b.height + 1);
	b.src_layer = (u16)rand_below(seed, model_layers(&s, b.src_level));
	b.dst_layer = (u16)rand_below(seed, model_layers(&d, b.dst_level));
	return b;
}

static struct pumice_texture random_texture(struct fixture *fx, u32 format, u64 addr)
{
	const struct pumice_texture t = image_random(fx, format, addr, 60, 60);
	const struct pumice_surface s = pumice_surface_of_texture(&t);

	assert_true(pumice_surface_bytes(&s) <= HALF);
	return t;
}

static u8 *before;	/* previous contents of memory */

static void check_blit(struct fixture *fx, const struct pumice_tdm_blit *b,
		       const struct pumice_texture *src, const struct pumice_texture *dst)
{
	const struct model_surface s = image_model(src), d = image_model(dst);
	const u8 swizzle[4] = { src->swizzle_r, src->swizzle_g, src->swizzle_b, src->swizzle_a };

	for (u32 y = 0; y < b->height; y++) {
		for (u32 x = 0; x < b->width; x++) {
			u64 at = HALF + model_offset(&d, b->dst_level, b->dst_layer, b->dst_x + x,
						     b->dst_y + y);
			struct model_texel t = model_texel_at(&s, before, b->src_level,
							      b->src_layer,
							      b->src_x + x, b->src_y + y);
			double value[4];

			for (u32 c = 0; c < 4; c++)
				value[c] = swizzle[c] < 4 ? t.c[swizzle[c]] : swizzle[c] == 5;
			/* Conversions pass through f32. */
			for (u32 c = 0; c < 4 && !model_integer(dst->format); c++)
				value[c] = (float)value[c];
			if (!image_holds(dst->format, fx->data + at, value, b->dither, b->dst_x + x,
					 b->dst_y + y))
				fail_msg("format %u to %u, %u, %u", src->format, dst->format, x, y);
			memcpy(before + at, fx->data + at, model_bytes(dst->format));
		}
	}
	assert_memory_equal(fx->data, before, IMAGES);
}

/* For cases that compare all images before and after. */
static void setup(struct fixture *fx)
{
	fx_setup(fx);
	before = malloc(IMAGES);
	assert_non_null(before);
}

static void teardown(struct fixture *fx)
{
	fx_teardown(fx);
	free(before);
}

static void blits_convert_every_format_to_every_other(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < PUMICE_FORMAT_COUNT * PUMICE_FORMAT_COUNT; n++) {
		u32 from = n / PUMICE_FORMAT_COUNT, to = n % PUMICE_FORMAT_COUNT;
		struct pumice_texture src, dst;
		struct pumice_tdm_blit blit;

		if (!from || !to)
			continue;
		if (to == 1)
			image_random_data(&fx, from, IMAGES);
		src = random_texture(&fx, from, DATA);
		dst = random_texture(&fx, to, DATA + HALF);
		/* Between equal formats blocks are copied unchanged: see below. */
		if (rand_below(&fx.seed, 4) == 0 || from == to) {
			src.swizzle_r = (u8)rand_below(&fx.seed, 6);
			src.swizzle_g = 0;
		}
		blit = random_blit(&fx, &src, &dst);
		put_blit(&fx, &blit);
		fx_halt(&fx);
		memcpy(before, fx.data, IMAGES);
		if (image_convertible(from, to)) {
			fx_expect_done(&fx);
			check_blit(&fx, &blit, &src, &dst);
		} else if (from != to) {
			fx_expect(&fx, PUMICE_FAULT_TDM_SURFACE, blit.dst, "formats");
			assert_memory_equal(fx.data, before, IMAGES);
		} else {
			fx.words = 0;
		}
	}
	teardown(&fx);
}

static void blits_of_one_format_copy_blocks(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 6 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT, block, bytes;
		struct pumice_texture src, dst;
		struct model_surface s, d;
		struct pumice_tdm_blit b;

		if (!format)
			continue;
		block = model_block(format);
		bytes = model_bytes(format);
		for (u32 w = 0; w < IMAGES / 4; w++)
			((u32 *)(void *)fx.data)[w] = rand_u32(&fx.seed);
		src = random_texture(&fx, format, DATA);
		dst = random_texture(&fx, format, DATA + HALF);
		s = image_model(&src);
		d = image_model(&dst);
		b = random_blit(&fx, &src, &dst);
		if (block == 4) {
			/* Whole blocks: of a texture of one level that is large enough. */
			b.src_level = b.dst_level = 0;
			b.src_layer = b.dst_layer = 0;
			b.src_x = b.src_y = b.dst_x = b.dst_y = 0;
			b.width = (u16)((s.width < d.width ? s.width : d.width) / 4 * 4);
			b.height = (u16)((s.height < d.height ? s.height : d.height) / 4 * 4);
			if (!b.width || !b.height)
				continue;
		}
		put_blit(&fx, &b);
		fx_halt(&fx);
		memcpy(before, fx.data, IMAGES);
		fx_expect_done(&fx);
		for (u32 y = 0; y < b.height / block; y++) {
			for (u32 x = 0; x < b.width / block; x++)
				memcpy(before + HALF + model_offset(&d, b.dst_level, b.dst_layer,
								    b.dst_x / block + x,
								    b.dst_y / block + y),
				       before + model_offset(&s, b.src_level, b.src_layer,
							     b.src_x / block + x,
							     b.src_y / block + y), bytes);
		}
		assert_memory_equal(fx.data, before, IMAGES);
	}
	teardown(&fx);
}

/* Lines of several parts: the last part is not full. */
static void wide_blits_of_one_format_copy_every_column(void **state)
{
	const struct pumice_texture src = {
		.addr = DATA, .format = PUMICE_FORMAT_R16_UNORM, .dim = PUMICE_TEXTURE_DIM_2D,
		.levels = 1, .width = 699, .height = 8, .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	struct pumice_texture dst = src;
	struct model_surface s, d;
	struct pumice_tdm_blit b = { .src_x = 13, .dst_x = 5, .width = 650, .height = 9 };
	struct fixture fx;

	(void)state;
	setup(&fx);
	dst.addr = DATA + HALF;
	s = image_model(&src);
	d = image_model(&dst);
	b.src = fx_texture(&fx, 0, &src);
	b.dst = fx_texture(&fx, 1, &dst);
	for (u32 w = 0; w < IMAGES / 4; w++)
		((u32 *)(void *)fx.data)[w] = rand_u32(&fx.seed);
	put_blit(&fx, &b);
	fx_halt(&fx);
	memcpy(before, fx.data, IMAGES);
	fx_expect_done(&fx);
	for (u32 n = 0; n < (u32)b.width * b.height; n++) {
		const u32 x = n % b.width, y = n / b.width;

		memcpy(before + HALF + model_offset(&d, 0, 0, b.dst_x + x, y),
		       before + model_offset(&s, 0, 0, b.src_x + x, y), 2);
	}
	assert_memory_equal(fx.data, before, IMAGES);
	teardown(&fx);
}

static void clears_fill_rectangles(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 8 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT, width, height;
		struct pumice_tdm_clear c = { 0 };
		struct pumice_texture dst;
		struct model_surface d;
		double value[4];

		if (!image_writable(format))
			continue;
		dst = random_texture(&fx, format, DATA + HALF);
		d = image_model(&dst);
		c.dst = fx_texture(&fx, 1, &dst);
		c.dst_level = (u8)rand_below(&fx.seed, d.levels);
		c.dst_layer = (u16)rand_below(&fx.seed, model_layers(&d, c.dst_level));
		width = model_level_size(d.width, c.dst_level);
		height = model_level_size(d.height, c.dst_level);
		c.width = (u16)(1 + rand_below(&fx.seed, width));
		c.height = (u16)(1 + rand_below(&fx.seed, height));
		c.dst_x = (u16)rand_below(&fx.seed, width - c.width + 1);
		c.dst_y = (u16)rand_below(&fx.seed, height - c.height + 1);
		for (u32 i = 0; i < 4; i++) {
			float f = rand_float(&fx.seed, -0.2f, 1.2f);

			c.value[i].f = f;
			value[i] = f;
			if (!model_integer(format))
				continue;
			c.value[i].u = rand_u32(&fx.seed) >> rand_below(&fx.seed, 32);
			value[i] = pumice_pixel_info(format)->kind == PUMICE_KIND_SINT ?
				(double)c.value[i].i : c.value[i].u;
		}
		if (format == PUMICE_FORMAT_D24_S8)
			c.value[1].u = n;
		pumice_tdm_clear_pack(fx_command(&fx, PUMICE_TDM_CLEAR_WORDS), &c);
		fx_halt(&fx);
		memcpy(before, fx.data, IMAGES);
		fx_expect_done(&fx);
		for (u32 y = 0; y < c.height; y++) {
			for (u32 x = 0; x < c.width; x++) {
				u64 at = HALF + model_offset(&d, c.dst_level, c.dst_layer,
							     c.dst_x + x, c.dst_y + y);

				assert_true(image_holds(format, fx.data + at, value, false, 0, 0));
				if (format == PUMICE_FORMAT_D24_S8)
					assert_int_equal(fx.data[at + 3], n < 255 ? n : 255);
				memcpy(before + at, fx.data + at, model_bytes(format));
			}
		}
		assert_memory_equal(fx.data, before, IMAGES);
	}
	teardown(&fx);
}

/* The mean of the texels that a texel of the next level covers. */
static void mean_of(const struct model_surface *s, u32 level, u32 layer, u32 x, u32 y,
		    double value[4])
{
	u32 w = model_level_size(s->width, level) > 1 ? 2 : 1;
	u32 h = model_level_size(s->height, level) > 1 ? 2 : 1;
	u32 deep = model_layers(s, level) > model_layers(s, level + 1) ? 2 : 1;

	memset(value, 0, 4 * sizeof(*value));
	for (u32 n = 0; n < w * h * deep; n++) {
		struct model_texel t = model_texel_at(s, before, level, layer * deep + n / (w * h),
						      x * w + n % w, y * h + n / w % h);

		for (u32 c = 0; c < 4; c++)
			value[c] += t.c[c] / (w * h * deep);
	}
}

static void downscales_average_boxes(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 8 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT, level;
		struct pumice_tdm_downscale command;
		struct pumice_texture texture;
		struct model_surface s;

		if (!image_writable(format))
			continue;
		image_random_data(&fx, format, IMAGES);
		do {
			texture = random_texture(&fx, format, DATA);
		} while (texture.levels < 2);
		s = image_model(&texture);
		level = rand_below(&fx.seed, s.levels - 1);
		command.src_level = (u8)level;
		command.surface = fx_texture(&fx, 0, &texture);
		pumice_tdm_downscale_pack(fx_command(&fx, PUMICE_TDM_DOWNSCALE_WORDS), &command);
		fx_halt(&fx);
		memcpy(before, fx.data, IMAGES);
		if (model_integer(format) || format == PUMICE_FORMAT_D24_S8) {
			fx_expect(&fx, PUMICE_FAULT_TDM_SURFACE, command.surface, "format");
			continue;
		}
		fx_expect_done(&fx);
		for (u32 layer = 0; layer < model_layers(&s, level + 1); layer++) {
			for (u32 y = 0; y < model_level_size(s.height, level + 1); y++) {
				for (u32 x = 0; x < model_level_size(s.width, level + 1); x++) {
					u64 at = model_offset(&s, level + 1, layer, x, y);
					double value[4];

					mean_of(&s, level, layer, x, y, value);
					if (!image_about(format, fx.data + at, value, false, 0, 0))
						fail_msg("format %u level %u: %u, %u",
							 format, level, x, y);
					memcpy(before + at, fx.data + at, model_bytes(format));
				}
			}
		}
		assert_memory_equal(fx.data, before, IMAGES);
	}
	teardown(&fx);
}

static const struct pumice_texture plain = {
	.addr = DATA, .format = PUMICE_FORMAT_RGBA8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D_ARRAY,
	.levels = 3, .width = 63, .height = 47, .depth = 2, .swizzle_g = 1, .swizzle_b = 2,
	.swizzle_a = 3,
};

static void malformed_structures_are_refused(void **state)
{
	struct pumice_tdm_downscale command = { 0 };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
#define REFUSED(field, value) \
	do { \
		struct pumice_texture t = plain; \
		t.field = value; \
		command.surface = fx_texture(&fx, 3, &t); \
		pumice_tdm_downscale_pack(fx_command(&fx, PUMICE_TDM_DOWNSCALE_WORDS), &command); \
		fx_expect(&fx, PUMICE_FAULT_TDM_SURFACE, command.surface, #field); \
	} while (0);
	FX_MALFORMED(REFUSED)
	REFUSED(format, PUMICE_FORMAT_BC1_RGBA)
#undef REFUSED
	fx_texture(&fx, 3, &plain);
	fx.structures[3 * PUMICE_TEXTURE_WORDS + 7] = 1;
	pumice_tdm_downscale_pack(fx_command(&fx, PUMICE_TDM_DOWNSCALE_WORDS), &command);
	fx_expect(&fx, PUMICE_FAULT_TDM_SURFACE, command.surface, "reserved bits");
	command.surface = 1ull << 39;
	pumice_tdm_downscale_pack(fx_command(&fx, PUMICE_TDM_DOWNSCALE_WORDS), &command);
	fx_expect(&fx, PUMICE_FAULT_MMU_PC_INVALID, 1ull << 39, "missing structure");
	/* The last level has none below it; others are beyond. */
	for (u32 level = 2; level < 16; level++) {
		command.src_level = (u8)level;
		command.surface = fx_texture(&fx, 3, &plain);
		pumice_tdm_downscale_pack(fx_command(&fx, PUMICE_TDM_DOWNSCALE_WORDS), &command);
		fx_expect(&fx, PUMICE_FAULT_TDM_RECT, STREAM, "level");
	}
	fx_teardown(&fx);
}

static void rectangles_beyond_are_refused(void **state)
{
	struct pumice_texture other = plain;
	struct pumice_tdm_blit good = { .src_level = 1, .dst_level = 1, .src_x = 10, .src_y = 3,
					.dst_x = 5, .dst_y = 20, .width = 20, .height = 3 };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	other.addr += HALF;
	good.src = fx_texture(&fx, 0, &plain);
	good.dst = fx_texture(&fx, 1, &other);
	put_blit(&fx, &good);
	fx_halt(&fx);
	fx_expect_done(&fx);
#define REFUSED(field, bad) \
	do { \
		struct pumice_tdm_blit b = good; \
		b.field = bad; \
		put_blit(&fx, &b); \
		fx_expect(&fx, PUMICE_FAULT_TDM_RECT, STREAM, #field); \
	} while (0)
	REFUSED(src_level, 3);
	REFUSED(dst_level, 15);
	REFUSED(src_x, 13);
	REFUSED(src_x, 8191);
	REFUSED(src_y, 22);
	REFUSED(dst_x, 13);
	REFUSED(dst_y, 22);
	REFUSED(dst_y, 8191);
	REFUSED(width, 0);
	REFUSED(width, 23);
	REFUSED(width, 16383);
	REFUSED(height, 0);
	REFUSED(height, 16383);
	REFUSED(src_layer, 3);
	REFUSED(dst_layer, 4095);
#undef REFUSED
	/* Rectangles of one layer, overlapping or not. */
	good.dst = good.src;
	good.dst_x = 29;
	good.dst_level = 0;
	good.src_level = 0;
	good.dst_y = 5;
	put_blit(&fx, &good);
	fx_expect(&fx, PUMICE_FAULT_TDM_RECT, STREAM, "overlap");
	good.dst_x = 30;
	put_blit(&fx, &good);
	fx_halt(&fx);
	fx_expect_done(&fx);
	/* Compressed blocks are copied whole. */
	other.format = PUMICE_FORMAT_BC1_RGBA;
	other.height = 45;
	good.src = good.dst = fx_texture(&fx, 2, &other);
	good = (struct pumice_tdm_blit){ .src = good.src, .dst = good.dst, .width = 8, .height = 8,
					 .dst_layer = 1 };
	put_blit(&fx, &good);
	fx_halt(&fx);
	fx_expect_done(&fx);
	good.width = 6;
	put_blit(&fx, &good);
	fx_expect(&fx, PUMICE_FAULT_TDM_RECT, STREAM, "half a block");
	good.width = 8;
	good.dst_y = 2;
	put_blit(&fx, &good);
	fx_expect(&fx, PUMICE_FAULT_TDM_RECT, STREAM, "between blocks");
	/* At the edge a block may be incomplete: 46 lines. */
	good.dst_y = good.src_y = 40;
	good.height = 6;
	put_blit(&fx, &good);
	fx_halt(&fx);
	fx_expect_done(&fx);
	fx_teardown(&fx);
}

static void clears_beyond_are_refused(void **state)
{
	struct pumice_tdm_clear good = { .dst_level = 1, .dst_x = 5, .dst_y = 20, .width = 20,
					 .height = 3 };
	struct pumice_texture compressed = plain;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	good.dst = fx_texture(&fx, 0, &plain);
#define REFUSED(field, bad) \
	do { \
		struct pumice_tdm_clear c = good; \
		c.field = bad; \
		pumice_tdm_clear_pack(fx_command(&fx, PUMICE_TDM_CLEAR_WORDS), &c); \
		fx_expect(&fx, PUMICE_FAULT_TDM_RECT, STREAM, #field); \
	} while (0)
	REFUSED(dst_level, 3);
	REFUSED(dst_x, 13);
	REFUSED(dst_y, 22);
	REFUSED(width, 0);
	REFUSED(width, 28);
	REFUSED(height, 0);
	REFUSED(height, 5);
	REFUSED(dst_layer, 3);
#undef REFUSED
	compressed.format = PUMICE_FORMAT_ETC2_RGB8;
	good.dst = fx_texture(&fx, 1, &compressed);
	pumice_tdm_clear_pack(fx_command(&fx, PUMICE_TDM_CLEAR_WORDS), &good);
	fx_expect(&fx, PUMICE_FAULT_TDM_SURFACE, good.dst, "compressed");
	fx_teardown(&fx);
}

/* Every bit of the three commands outside of fields. */
static void reserved_bits_are_refused(void **state)
{
	static const u8 types[3] = { PUMICE_TDM_TYPE_BLIT, PUMICE_TDM_TYPE_CLEAR,
				     PUMICE_TDM_TYPE_DOWNSCALE };
	static const u8 words[3] = { PUMICE_TDM_BLIT_WORDS, PUMICE_TDM_CLEAR_WORDS,
				     PUMICE_TDM_DOWNSCALE_WORDS };
	struct fixture fx;
	u32 refused = 0;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 3; n++) {
		for (u32 bit = 0; bit < words[n] * 32u; bit++) {
			union {
				struct pumice_tdm_blit blit;
				struct pumice_tdm_clear clear;
				struct pumice_tdm_downscale downscale;
			} back;
			bool bad;

			if (bit / 4 == 7)
				continue;	/* the type */
			memset(fx.stream, 0, 64);
			fx.stream[0] = (u32)types[n] << 28;
			fx.stream[bit / 32] |= 1u << bit % 32;
			bad = n == 0 ? pumice_tdm_blit_unpack(fx.stream, &back.blit) :
			      n == 1 ? pumice_tdm_clear_unpack(fx.stream, &back.clear) :
				       pumice_tdm_downscale_unpack(fx.stream, &back.downscale);
			if (!bad)
				continue;
			fx_expect(&fx, PUMICE_FAULT_TDM_RESERVED, STREAM, "reserved bit");
			refused++;
		}
	}
	assert_int_equal(refused, (19 + 4 + 28 + 4 + 24 + 6 + 6 + 4 + 36) +
				  (4 + 20 + 4 + 24 + 6 + 4 + 20) + (24 + 4 + 56));
	fx_teardown(&fx);
}

/* A missing page within a rectangle: the lines before its piece are written. */
static void faults_in_rectangles_report_the_address(void **state)
{
	const struct pumice_texture t = {
		.addr = DATA, .format = PUMICE_FORMAT_RGBA8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D,
		.levels = 1, .width = 1023, .height = 511, .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	struct pumice_tdm_clear clear = { .width = 1024, .height = 512, .value = { { 1 } } };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	clear.dst = fx_texture(&fx, 0, &t);
	testmem_unmap(fx.tm, CTX, DATA + 300 * 4096, 4096);
	testmem_unmap(fx.tm, CTX, DATA + 100 * 4096, 4096);
	pumice_tdm_clear_pack(fx_command(&fx, PUMICE_TDM_CLEAR_WORDS), &clear);
	fx_halt(&fx);
	fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, DATA + 100 * 4096, "clear");
	assert_int_equal(fx_fault(&fx)->access, PUMICE_ACCESS_WRITE);
	for (u32 n = 0; n < 96 * 4096; n += 4)
		assert_int_equal(fx.data[n], 255);
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blits_convert_every_format_to_every_other),
		cmocka_unit_test(blits_of_one_format_copy_blocks),
		cmocka_unit_test(wide_blits_of_one_format_copy_every_column),
		cmocka_unit_test(clears_fill_rectangles),
		cmocka_unit_test(downscales_average_boxes),
		cmocka_unit_test(malformed_structures_are_refused),
		cmocka_unit_test(rectangles_beyond_are_refused),
		cmocka_unit_test(clears_beyond_are_refused),
		cmocka_unit_test(reserved_bits_are_refused),
		cmocka_unit_test(faults_in_rectangles_report_the_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
