// SPDX-License-Identifier: MIT
/*
 * PTLA: scaling copies against a model in f64, texel by texel: positions, filters, edges,
 * formats, layouts. The model was written from Documentation/formats.rst, "Scaling".
 */
#include "images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"
#include "surface.h"

#define HALF (512u << 10)	/* source below, destination above */
#define MARGIN 4096u		/* bytes after the destination that must not change */

static u8 *before;		/* previous contents of the data */

static void setup(struct fixture *fx)
{
	fx_setup(fx);
	before = malloc(BYTES);
	assert_non_null(before);
}

static void teardown(struct fixture *fx)
{
	fx_teardown(fx);
	free(before);
}

static void put_scale(struct fixture *fx, const struct pumice_tdm_scale *s)
{
	pumice_tdm_scale_pack(fx_command(fx, PUMICE_TDM_SCALE_WORDS), s);
	fx_halt(fx);
}

/* Texels along one axis and the weight of the second. */
struct axis {
	u32 texel[2];
	double weight;
};

static struct axis axis_of(const struct pumice_tdm_scale *s, u32 src, u32 dst, bool flip, u32 n)
{
	double position = ((flip ? dst - 1 - n : n) + 0.5) * src / dst, low = floor(position - 0.5);

	if (s->filter == PUMICE_TDM_FILTER_BOX)
		return (struct axis){ { (u32)(position - 0.5 * src / dst),
					(u32)(position + 0.5 * src / dst) - 1 }, 0.5 };
	if (s->filter == PUMICE_TDM_FILTER_NEAREST)
		return (struct axis){ { (u32)position, (u32)position }, 0 };
	return (struct axis){
		{ (u32)fmax(low, 0), (u32)fmin(low + 1, src - 1) }, position - 0.5 - low,
	};
}

/* The value of the texel at x, y of the destination rectangle. */
static void scaled(const struct pumice_tdm_scale *s, const struct pumice_texture *src,
		   const u8 *memory, u32 x, u32 y, double value[4])
{
	const u8 swizzle[4] = { src->swizzle_r, src->swizzle_g, src->swizzle_b, src->swizzle_a };
	const struct axis u = axis_of(s, s->src_width, s->dst_width, s->flip_x, x);
	const struct axis v = axis_of(s, s->src_height, s->dst_height, s->flip_y, y);
	const struct model_surface model = image_model(src);
	double sum[4] = { 0 };

	for (u32 n = 0; n < 4; n++) {
		double weight = (n % 2 ? u.weight : 1 - u.weight) *
				(n / 2 ? v.weight : 1 - v.weight);
		struct model_texel t;

		if (!(weight > 0))
			continue;
		t = model_texel_at(&model, memory, s->src_level, s->src_layer,
				   s->src_x + u.texel[n % 2], s->src_y + v.texel[n / 2]);
		for (u32 c = 0; c < 4; c++)
			sum[c] += weight * t.c[c];
	}
	for (u32 c = 0; c < 4; c++)
		value[c] = swizzle[c] < 4 ? sum[swizzle[c]] : swizzle[c] == PUMICE_SWIZZLE_ONE;
}

/* Return whether texels are copied without conversion. */
static bool is_raw(const struct pumice_tdm_scale *s, const struct pumice_texture *src,
		   const struct pumice_texture *dst)
{
	bool same = src->swizzle_r == 0 && src->swizzle_g == 1 && src->swizzle_b == 2 &&
		    src->swizzle_a == 3;

	return s->filter == PUMICE_TDM_FILTER_NEAREST && src->format == dst->format &&
	       model_block(src->format) == 1 && (same || src->format == PUMICE_FORMAT_D24_S8);
}

/* Compare one texel at an offset of the data. */
static bool texel_is_good(const struct fixture *fx, const struct pumice_tdm_scale *s,
			  const struct pumice_texture *src, const struct pumice_texture *dst, u32 x,
			  u32 y, u64 at)
{
	const struct model_surface from = image_model(src);
	const u32 dx = s->dst_x + x, dy = s->dst_y + y;
	double value[4];

	if (is_raw(s, src, dst)) {
		struct axis u = axis_of(s, s->src_width, s->dst_width, s->flip_x, x);
		struct axis v = axis_of(s, s->src_height, s->dst_height, s->flip_y, y);

		return !memcmp(fx->data + at, fx->data + model_offset(&from, s->src_level,
				s->src_layer, s->src_x + u.texel[0], s->src_y + v.texel[0]),
			       model_bytes(dst->format));
	}
	scaled(s, src, fx->data, x, y, value);
	if (s->filter != PUMICE_TDM_FILTER_NEAREST)
		return image_about(dst->format, fx->data + at, value, s->dither, dx, dy);
	/* Conversions pass through f32. */
	for (u32 c = 0; c < 4 && !model_integer(dst->format); c++)
		value[c] = (float)value[c];
	return image_holds(dst->format, fx->data + at, value, s->dither, dx, dy);
}

/* Run the command, which works, and compare the destination, at HALF, and what follows it. */
static void check_scale(struct fixture *fx, const struct pumice_tdm_scale *s,
			const struct pumice_texture *src, const struct pumice_texture *dst)
{
	const struct pumice_surface surface = pumice_surface_of_texture(dst);
	const u64 bytes = pumice_surface_bytes(&surface) + MARGIN;
	const struct model_surface to = image_model(dst);

	memcpy(before, fx->data + HALF, bytes);
	fx_expect_done(fx);
	for (u32 y = 0; y < s->dst_height; y++) {
		for (u32 x = 0; x < s->dst_width; x++) {
			u64 at = model_offset(&to, s->dst_level, s->dst_layer, s->dst_x + x,
					      s->dst_y + y);

			if (!texel_is_good(fx, s, src, dst, x, y, HALF + at))
				fail_msg("format %u to %u, filter %u, %ux%u to %ux%u: %u, %u",
					 src->format, dst->format, s->filter, s->src_width,
					 s->src_height, s->dst_width, s->dst_height, x, y);
			memcpy(before + at, fx->data + HALF + at, model_bytes(dst->format));
		}
	}
	assert_memory_equal(fx->data + HALF, before, bytes);
}

/* A side of a rectangle in a level of the source, and one in a level of the destination. */
static void random_sides(u64 *seed, bool box, u32 src, u32 dst, u16 *from, u16 *to)
{
	*from = (u16)(1 + rand_below(seed, src));
	*to = (u16)(1 + rand_below(seed, dst));
	if (!box)
		return;
	*to = (u16)(1 + rand_below(seed, src < dst ? src : dst));
	*from = (u16)(2u * *to <= src && rand_below(seed, 4) ? 2 * *to : *to);
}

static struct pumice_tdm_scale random_scale(struct fixture *fx, enum pumice_tdm_filter filter,
					    const struct pumice_texture *src,
					    const struct pumice_texture *dst)
{
	const struct model_surface s = image_model(src), d = image_model(dst);
	const bool box = filter == PUMICE_TDM_FILTER_BOX;
	u64 *seed = &fx->seed;
	struct pumice_tdm_scale c = {
		.src_level = (u8)rand_below(seed, s.levels),
		.dst_level = (u8)rand_below(seed, d.levels),
		.dither = rand_below(seed, 2), .flip_x = rand_below(seed, 2),
		.flip_y = rand_below(seed, 2), .filter = filter,
	};
	u32 sw = model_level_size(s.width, c.src_level),
		sh = model_level_size(s.height, c.src_level);
	u32 dw = model_level_size(d.width, c.dst_level),
		dh = model_level_size(d.height, c.dst_level);

	c.src = fx_texture(fx, 0, src);
	c.dst = fx_texture(fx, 1, dst);
	random_sides(seed, box, sw, dw, &c.src_width, &c.dst_width);
	random_sides(seed, box, sh, dh, &c.src_height, &c.dst_height);
	c.src_x = (u16)rand_below(seed, sw - c.src_width + 1);
	c.src_y = (u16)rand_below(seed, sh - c.src_height + 1);
	c.dst_x = (u16)rand_below(seed, dw - c.dst_width + 1);
	c.dst_y = (u16)rand_below(seed, dh - c.dst_height + 1);
	c.src_layer = (u16)rand_below(seed, model_layers(&s, c.src_level));
	c.dst_layer = (u16)rand_below(seed, model_layers(&d, c.dst_level));
	return c;
}

/* Mostly small; some long enough that columns load their texels separately. */
static struct pumice_texture random_image(struct fixture *fx, u32 format, u64 addr)
{
	if (rand_below(&fx->seed, 8))
		return image_random(fx, format, addr, 40, 30);
	return image_random(fx, format, addr, 400, 3);
}

static bool filters(enum pumice_tdm_filter filter, u32 format)
{
	return filter == PUMICE_TDM_FILTER_NEAREST ||
	       (format != PUMICE_FORMAT_D24_S8 &&
		!(model_block(format) == 1 && model_integer(format)));
}

/* One random rectangle of a pair of formats: compared, or refused. Returns whether compared. */
static bool check_pair(struct fixture *fx, u32 from, u32 to, enum pumice_tdm_filter filter)
{
	struct pumice_texture src = random_image(fx, from, DATA);
	struct pumice_texture dst = random_image(fx, to, DATA + HALF);
	struct pumice_tdm_scale c;

	if (rand_below(&fx->seed, 4) == 0) {
		src.swizzle_r = (u8)rand_below(&fx->seed, 6);
		src.swizzle_g = (u8)rand_below(&fx->seed, 6);
	}
	c = random_scale(fx, filter, &src, &dst);
	put_scale(fx, &c);
	if (is_raw(&c, &src, &dst) || (image_convertible(from, to) && filters(filter, from))) {
		check_scale(fx, &c, &src, &dst);
		return true;
	}
	if (image_convertible(from, to))
		fx_expect(fx, PUMICE_FAULT_TDM_FILTER, STREAM, "filter");
	else
		fx_expect(fx, PUMICE_FAULT_TDM_SURFACE, c.dst, "formats");
	return false;
}

static void random_rectangles_equal_the_model(void **state)
{
	struct fixture fx;
	u32 compared = 0;

	(void)state;
	setup(&fx);
	for (u32 from = 1; from < PUMICE_FORMAT_COUNT; from++) {
		image_random_data(&fx, from, HALF);
		for (u32 n = 0; n < 3 * 3 * PUMICE_FORMAT_COUNT; n++) {
			u32 to = n % PUMICE_FORMAT_COUNT;

			compared += to && check_pair(&fx, from, to, n / PUMICE_FORMAT_COUNT % 3);
		}
	}
	assert_true(compared > 10000);
	teardown(&fx);
}

/* A texture of one level. */
static struct pumice_texture sized(u32 format, u64 addr, u32 width, u32 height)
{
	return (struct pumice_texture){
		.addr = addr, .format = (u8)format, .dim = PUMICE_TEXTURE_DIM_2D, .levels = 1,
		.width = (u16)(width - 1), .height = (u16)(height - 1), .swizzle_g = 1,
		.swizzle_b = 2, .swizzle_a = 3,
	};
}

/* A command for all of two textures. */
static struct pumice_tdm_scale whole(struct fixture *fx, enum pumice_tdm_filter filter,
				     const struct pumice_texture *src,
				     const struct pumice_texture *dst)
{
	return (struct pumice_tdm_scale){
		.filter = filter, .src = fx_texture(fx, 0, src), .dst = fx_texture(fx, 1, dst),
		.src_width = (u16)(src->width + 1), .src_height = (u16)(src->height + 1),
		.dst_width = (u16)(dst->width + 1), .dst_height = (u16)(dst->height + 1),
	};
}

static void the_largest_ratios_equal_the_model(void **state)
{
	static const u16 sizes[][4] = {
		{ 8192, 1, 1, 1 }, { 1, 8192, 1, 1 }, { 1, 1, 8192, 2 }, { 1, 1, 2, 8192 },
		{ 8192, 2, 8191, 3 }, { 8191, 3, 8192, 2 }, { 8192, 4, 67, 1 }, { 2, 8192, 3, 31 },
	};
	struct fixture fx;

	(void)state;
	setup(&fx);
	image_random_data(&fx, PUMICE_FORMAT_RGBA8_UNORM, HALF);
	for (u32 n = 0; n < 8 * 2; n++) {
		const u16 *size = sizes[n / 2];
		const struct pumice_texture src = sized(PUMICE_FORMAT_RGBA8_UNORM, DATA, size[0],
							size[1]);
		const struct pumice_texture dst = sized(PUMICE_FORMAT_R16_UNORM, DATA + HALF,
							size[2], size[3]);
		struct pumice_tdm_scale c = whole(&fx, (enum pumice_tdm_filter)(n % 2), &src, &dst);

		put_scale(&fx, &c);
		check_scale(&fx, &c, &src, &dst);
	}
	teardown(&fx);
}

/* Scale a row of floats in the middle of infinities to a row of count. */
static const float *scale_row(struct fixture *fx, enum pumice_tdm_filter filter, bool flip,
			      u32 texels, u32 count)
{
	const struct pumice_texture src = sized(PUMICE_FORMAT_R32_FLOAT, DATA, texels + 2, 3);
	const struct pumice_texture dst = sized(PUMICE_FORMAT_R32_FLOAT, DATA + HALF, count, 1);
	struct pumice_tdm_scale c = whole(fx, filter, &src, &dst);
	float *row = (float *)(void *)fx->data;

	for (u32 n = 0; n < 3 * (texels + 2); n++)
		row[n] = INFINITY;
	for (u32 n = 0; n < texels; n++)
		row[texels + 2 + 1 + n] = (float)n;
	c.src_x = c.src_y = c.src_height = 1;
	c.src_width = (u16)texels;
	c.flip_x = flip;
	put_scale(fx, &c);
	fx_expect_done(fx);
	return (const float *)(const void *)(fx->data + HALF);
}

/* Computed manually; texels outside of the source rectangle have no effect. */
static void positions_are_centres_and_edges_are_clamped(void **state)
{
	static const struct {
		enum pumice_tdm_filter filter;
		u32 texels, count;
		float want[8];
	} rows[] = {
		{ PUMICE_TDM_FILTER_LINEAR, 2, 8, { 0, 0, .125f, .375f, .625f, .875f, 1, 1 } },
		{ PUMICE_TDM_FILTER_LINEAR, 8, 2, { 1.5f, 5.5f } },
		{ PUMICE_TDM_FILTER_LINEAR, 3, 3, { 0, 1, 2 } },
		{ PUMICE_TDM_FILTER_LINEAR, 1, 3, { 0, 0, 0 } },
		{ PUMICE_TDM_FILTER_NEAREST, 3, 8, { 0, 0, 0, 1, 1, 2, 2, 2 } },
		{ PUMICE_TDM_FILTER_NEAREST, 8, 3, { 1, 4, 6 } },
		{ PUMICE_TDM_FILTER_NEAREST, 8, 4, { 1, 3, 5, 7 } },
		{ PUMICE_TDM_FILTER_BOX, 8, 4, { .5f, 2.5f, 4.5f, 6.5f } },
		{ PUMICE_TDM_FILTER_BOX, 5, 5, { 0, 1, 2, 3, 4 } },
	};
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 2 * sizeof(rows) / sizeof(rows[0]); n++) {
		u32 count = rows[n / 2].count;
		const float *got = scale_row(&fx, rows[n / 2].filter, n % 2,
					     rows[n / 2].texels, count);

		for (u32 x = 0; x < count; x++) {
			float want = rows[n / 2].want[n % 2 ? count - 1 - x : x];

			if (got[x] < want || got[x] > want)
				fail_msg("row %u, column %u: %g, not %g", n, x, (double)got[x],
					 (double)want);
		}
	}
	fx_teardown(&fx);
}

/* Infinities and NaNs of the neighbours, too: at weight 0 they have no effect. */
static void linear_copies_of_equal_size_are_blits(void **state)
{
	const u32 formats[][2] = {
		{ PUMICE_FORMAT_RGBA16_FLOAT, PUMICE_FORMAT_RGBA32_FLOAT },
		{ PUMICE_FORMAT_RGBA8_SRGB, PUMICE_FORMAT_RGB10A2_UNORM },
		{ PUMICE_FORMAT_BC3_RGBA, PUMICE_FORMAT_BGRA8_UNORM },
		{ PUMICE_FORMAT_RG16_SNORM, PUMICE_FORMAT_R11G11B10_FLOAT },
	};
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < HALF / 4; n++)
		((u32 *)(void *)fx.data)[n] = rand_u32(&fx.seed);
	for (u32 n = 0; n < sizeof(formats) / sizeof(formats[0]); n++) {
		const struct pumice_texture src = sized(formats[n][0], DATA, 100, 50);
		const struct pumice_texture dst = sized(formats[n][1], DATA + HALF, 100, 50);
		const struct pumice_surface surface = pumice_surface_of_texture(&dst);
		struct pumice_tdm_scale c = whole(&fx, PUMICE_TDM_FILTER_LINEAR, &src, &dst);
		const struct pumice_tdm_blit blit = { .src = c.src, .dst = c.dst, .width = 100,
						      .height = 50 };

		pumice_tdm_blit_pack(fx_command(&fx, PUMICE_TDM_BLIT_WORDS), &blit);
		fx_halt(&fx);
		fx_expect_done(&fx);
		memcpy(before, fx.data + HALF, pumice_surface_bytes(&surface));
		memset(fx.data + HALF, 0, pumice_surface_bytes(&surface));
		put_scale(&fx, &c);
		fx_expect_done(&fx);
		assert_memory_equal(fx.data + HALF, before, pumice_surface_bytes(&surface));
	}
	teardown(&fx);
}

/* To the bit, for each format that DOWNSCALE supports; of odd sizes, too. */
static void boxes_of_half_the_size_are_downscales(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 2 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT, width = 63 + n / PUMICE_FORMAT_COUNT;
		struct pumice_texture src = sized(format, DATA, width, 35), dst;
		struct pumice_tdm_downscale down = { 0 };
		struct pumice_tdm_scale c;
		struct model_surface s;

		if (!image_writable(format) || model_integer(format) ||
		    format == PUMICE_FORMAT_D24_S8)
			continue;
		image_random_data(&fx, format, HALF);
		src.levels = 2;
		dst = sized(format, DATA + HALF, width / 2, 17);
		s = image_model(&src);
		c = whole(&fx, PUMICE_TDM_FILTER_BOX, &src, &dst);
		c.src_width = (u16)(width / 2 * 2);
		c.src_height = 34;
		down.surface = c.src;
		pumice_tdm_downscale_pack(fx_command(&fx, PUMICE_TDM_DOWNSCALE_WORDS), &down);
		put_scale(&fx, &c);
		fx_expect_done(&fx);
		assert_memory_equal(fx.data + HALF, fx.data + model_offset(&s, 1, 0, 0, 0),
				    width / 2 * 17 * model_bytes(format));
	}
	teardown(&fx);
}

/* Mirrored twice, an image is as before: the second copy reads the result of the first. */
static void results_of_a_copy_may_be_scaled_again(void **state)
{
	const struct pumice_texture src = sized(PUMICE_FORMAT_R8_UNORM, DATA, 200, 100);
	const struct pumice_texture dst = sized(PUMICE_FORMAT_R8_UNORM, DATA + HALF, 200, 100);
	struct pumice_tdm_scale c, back;
	struct fixture fx;

	(void)state;
	setup(&fx);
	image_random_data(&fx, src.format, HALF);
	memcpy(before, fx.data, 200 * 100);
	c = whole(&fx, PUMICE_TDM_FILTER_NEAREST, &src, &dst);
	c.flip_x = c.flip_y = true;
	back = c;
	back.src = c.dst;
	back.dst = c.src;
	pumice_tdm_scale_pack(fx_command(&fx, PUMICE_TDM_SCALE_WORDS), &c);
	put_scale(&fx, &back);
	fx_expect_done(&fx);
	assert_memory_equal(fx.data, before, 200 * 100);
	for (u32 n = 0; n < 200 * 100; n++)
		assert_int_equal(fx.data[HALF + n], before[200 * 100 - 1 - n]);
	teardown(&fx);
}

static void counters_count_texels_and_bytes(void **state)
{
	const struct pumice_texture src = sized(PUMICE_FORMAT_R8_UNORM, DATA, 20, 10);
	const struct pumice_texture dst = sized(PUMICE_FORMAT_RG16_UNORM, DATA + HALF, 301, 77);
	u64 value[PUMICE_PERF_NUMBER] = { 0 };
	struct pumice_tdm_scale c;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	c = whole(&fx, PUMICE_TDM_FILTER_LINEAR, &src, &dst);
	put_scale(&fx, &c);
	fx_expect_done(&fx);
	fx.locked = true;
	ptla_counters_add(fx.ptla, value);
	fx.locked = false;
	assert_int_equal(value[PUMICE_PERF_TDM_SCALED], 301 * 77);
	assert_int_equal(value[PUMICE_PERF_TDM_BYTES], 301 * 77 * 4);
	fx_teardown(&fx);
}

/* Return the steps of a copy of 8192 x 20 texels from a format. */
static u32 steps_of(u32 format, const _Atomic bool *stop)
{
	const struct pumice_texture src = sized(format, DATA, 8192, 128);
	const struct pumice_texture dst =
		sized(PUMICE_FORMAT_R8_UNORM, DATA + (5u << 20), 8192, 20);
	struct pumice_tdm_scale c;
	struct fixture fx;
	u32 steps = 0;

	fx_setup(&fx);
	c = whole(&fx, PUMICE_TDM_FILTER_LINEAR, &src, &dst);
	put_scale(&fx, &c);
	fx_start(&fx);
	while (!fx.ends) {
		ptla_step(fx.ptla, 0, stop);
		steps++;
	}
	assert_int_equal(fx.end, DM_DONE);
	fx_teardown(&fx);
	return steps;
}

/*
 * A piece is 64 columns of 8 lines. A step does one piece if it has
 * to stop, or if the texels are compressed.
 */
static void steps_are_bounded(void **state)
{
	static const _Atomic bool stop = true, run;

	(void)state;
	/* The command, its pieces, HALT, the end. */
	assert_int_equal(steps_of(PUMICE_FORMAT_RGBA8_UNORM, &stop), 1 + 128 * 3 + 1 + 1);
	assert_int_equal(steps_of(PUMICE_FORMAT_ETC2_RGBA8, &stop), 1 + 128 * 3 + 1 + 1);
	assert_int_equal(steps_of(PUMICE_FORMAT_RGBA8_UNORM, &run), (1 + 128 * 3 + 1 + 1 + 7) / 8);
	assert_in_range(steps_of(PUMICE_FORMAT_ETC2_RGBA8, &run), 128 * 3, 128 * 3 + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_rectangles_equal_the_model),
		cmocka_unit_test(the_largest_ratios_equal_the_model),
		cmocka_unit_test(positions_are_centres_and_edges_are_clamped),
		cmocka_unit_test(linear_copies_of_equal_size_are_blits),
		cmocka_unit_test(boxes_of_half_the_size_are_downscales),
		cmocka_unit_test(results_of_a_copy_may_be_scaled_again),
		cmocka_unit_test(counters_count_texels_and_bytes),
		cmocka_unit_test(steps_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
