// SPDX-License-Identifier: MIT
/* PTLA: invalid scaling copies. Each is refused by name, and the next job works. */
#include "fixture.h"

#include <string.h>

#define SECOND (DATA + (1u << 20))	/* another surface */

static const struct pumice_texture plain = {
	.addr = DATA, .format = PUMICE_FORMAT_RGBA8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D_ARRAY,
	.levels = 3, .width = 63, .height = 47, .depth = 2, .swizzle_g = 1, .swizzle_b = 2,
	.swizzle_a = 3,
};

/* A command that works, between plain and the same at SECOND. */
static struct pumice_tdm_scale good_scale(struct fixture *fx)
{
	struct pumice_texture other = plain;

	other.addr = SECOND;
	return (struct pumice_tdm_scale){
		.filter = PUMICE_TDM_FILTER_LINEAR, .src = fx_texture(fx, 0, &plain),
		.dst = fx_texture(fx, 1, &other), .src_level = 1, .dst_level = 1, .src_x = 10,
		.src_y = 3, .src_width = 20, .src_height = 4, .dst_x = 5, .dst_y = 20,
		.dst_width = 10, .dst_height = 3, .src_layer = 2, .dst_layer = 1,
	};
}

static void put_scale(struct fixture *fx, const struct pumice_tdm_scale *s)
{
	pumice_tdm_scale_pack(fx_command(fx, PUMICE_TDM_SCALE_WORDS), s);
	fx_halt(fx);
}

/* The command must be refused; the good one works afterwards. */
static void refuse(struct fixture *fx, const struct pumice_tdm_scale *bad, enum pumice_fault fault,
		   u64 addr, const char *what)
{
	struct pumice_tdm_scale good;

	put_scale(fx, bad);
	fx_expect(fx, fault, addr, what);
	good = good_scale(fx);
	put_scale(fx, &good);
	fx_expect_done(fx);
}

static void rectangles_beyond_are_refused(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
#define REFUSED(field, bad) \
	do { \
		struct pumice_tdm_scale c = good_scale(&fx); \
		c.field = bad; \
		refuse(&fx, &c, PUMICE_FAULT_TDM_RECT, STREAM, #field " " #bad); \
	} while (0)
	REFUSED(src_level, 2);	/* smaller than the rectangle */
	REFUSED(src_level, 3);
	REFUSED(dst_level, 2);
	REFUSED(dst_level, 15);
	REFUSED(src_x, 13);
	REFUSED(src_x, 8191);
	REFUSED(src_y, 21);
	REFUSED(src_y, 8191);
	REFUSED(src_width, 0);
	REFUSED(src_width, 23);
	REFUSED(src_width, 16383);
	REFUSED(src_height, 0);
	REFUSED(src_height, 22);
	REFUSED(src_height, 16383);
	REFUSED(dst_x, 23);
	REFUSED(dst_x, 8191);
	REFUSED(dst_y, 22);
	REFUSED(dst_y, 8191);
	REFUSED(dst_width, 0);
	REFUSED(dst_width, 28);
	REFUSED(dst_width, 16383);
	REFUSED(dst_height, 0);
	REFUSED(dst_height, 5);
	REFUSED(dst_height, 16383);
	REFUSED(src_layer, 3);
	REFUSED(src_layer, 4095);
	REFUSED(dst_layer, 3);
	REFUSED(dst_layer, 4095);
#undef REFUSED
	fx_teardown(&fx);
}

static void overlapping_rectangles_are_refused(void **state)
{
	/* Left, top, and whether the rectangle of 10 x 3 meets that of 20 x 4 at 10, 3. */
	static const struct {
		u16 x, y;
		bool overlaps;
	} places[] = {
		{ 0, 3, false }, { 1, 3, true }, { 29, 6, true }, { 30, 3, false },
		{ 15, 0, false },
		{ 15, 1, true }, { 15, 7, false }, { 12, 4, true },
	};
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 2 * sizeof(places) / sizeof(places[0]); n++) {
		struct pumice_tdm_scale c = good_scale(&fx);

		c.src_level = c.dst_level = 0;
		c.dst = c.src;
		c.dst_layer = n % 2 ? c.src_layer : 1;
		c.dst_x = places[n / 2].x;
		c.dst_y = places[n / 2].y;
		if (places[n / 2].overlaps && n % 2) {
			refuse(&fx, &c, PUMICE_FAULT_TDM_RECT, STREAM, "overlap");
			continue;
		}
		put_scale(&fx, &c);
		fx_halt(&fx);
		fx_expect_done(&fx);
	}
	fx_teardown(&fx);
}

/* The fault that a texture is refused with, as source or destination. */
static void refuse_texture(struct fixture *fx, const struct pumice_texture *t, bool is_dst,
			   const char *what)
{
	struct pumice_tdm_scale c = good_scale(fx);
	u64 at = fx_texture(fx, 2, t);

	if (is_dst)
		c.dst = at;
	else
		c.src = at;
	refuse(fx, &c, PUMICE_FAULT_TDM_SURFACE, at, what);
}

static void malformed_surfaces_are_refused(void **state)
{
	struct pumice_tdm_scale c;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 is_dst = 0; is_dst < 2; is_dst++) {
#define REFUSED(field, value) \
	do { \
		struct pumice_texture t = plain; \
		t.field = value; \
		refuse_texture(&fx, &t, is_dst, #field " " #value); \
	} while (0);
		FX_MALFORMED(REFUSED)
#undef REFUSED
		c = good_scale(&fx);
		fx.structures[is_dst * PUMICE_TEXTURE_WORDS + 7] = 1;
		refuse(&fx, &c, PUMICE_FAULT_TDM_SURFACE, is_dst ? c.dst : c.src, "reserved bits");
	}
	c = good_scale(&fx);
	c.src = 1ull << 39;
	refuse(&fx, &c, PUMICE_FAULT_MMU_PC_INVALID, 1ull << 39, "missing source structure");
	c = good_scale(&fx);
	c.dst = 1ull << 39;
	refuse(&fx, &c, PUMICE_FAULT_MMU_PC_INVALID, 1ull << 39, "missing destination structure");
	fx_teardown(&fx);
}

/* Formats that no filter converts are TDM_SURFACE: test_scale.c has all pairs. */
static void filters_that_do_not_fit_are_refused(void **state)
{
	static const u8 unfiltered[] = {
		PUMICE_FORMAT_R8_UINT, PUMICE_FORMAT_RGBA32_SINT, PUMICE_FORMAT_RGB10A2_UINT,
		PUMICE_FORMAT_S8_UINT,
	};
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 2 * sizeof(unfiltered); n++) {
		struct pumice_texture t = plain;
		struct pumice_tdm_scale c = good_scale(&fx);

		t.format = unfiltered[n / 2];
		c.filter = n % 2 ? PUMICE_TDM_FILTER_LINEAR : PUMICE_TDM_FILTER_BOX;
		c.src_height = 2 * c.dst_height;
		c.src = fx_texture(&fx, 0, &t);
		t.addr = SECOND;
		c.dst = fx_texture(&fx, 1, &t);
		refuse(&fx, &c, PUMICE_FAULT_TDM_FILTER, STREAM, "integers");
	}
#define REFUSED(field, value) \
	do { \
		struct pumice_tdm_scale c = good_scale(&fx); \
		c.filter = PUMICE_TDM_FILTER_BOX; \
		c.src_height = 2 * c.dst_height; \
		c.field = value; \
		refuse(&fx, &c, PUMICE_FAULT_TDM_FILTER, STREAM, #field " " #value); \
	} while (0)
	REFUSED(src_width, 1);
	REFUSED(src_width, 19);
	REFUSED(src_width, 21);
	REFUSED(src_height, 2);
	REFUSED(src_height, 5);
	REFUSED(src_height, 7);
	REFUSED(src_height, 9);
	REFUSED(dst_height, 1);
	REFUSED(dst_width, 9);
	REFUSED(filter, (enum pumice_tdm_filter)3);
#undef REFUSED
	fx_teardown(&fx);
}

static void reserved_bits_are_refused(void **state)
{
	struct fixture fx;
	u32 refused = 0;

	(void)state;
	fx_setup(&fx);
	for (u32 bit = 0; bit < PUMICE_TDM_SCALE_WORDS * 32u; bit++) {
		struct pumice_tdm_scale c;

		if (bit / 4 == 7)
			continue;	/* the type */
		memset(fx.stream, 0, 64);
		fx.stream[0] = (u32)PUMICE_TDM_TYPE_SCALE << 28;
		fx.stream[bit / 32] |= 1u << bit % 32;
		if (pumice_tdm_scale_unpack(fx.stream, &c) == PUMICE_UNPACK_OK)
			continue;
		fx_expect(&fx, PUMICE_FAULT_TDM_RESERVED, STREAM, "reserved bit");
		refused++;
	}
	/* After the flags, in both addresses, above the coordinates, the sizes and the layers. */
	assert_int_equal(refused, 15 + (4 + 24) * 2 + 6 + 4 + 6 + 4 + 8);
	fx_teardown(&fx);
}

/* The address is that of the first texel that cannot be read or written. */
static void faults_in_rectangles_report_the_address(void **state)
{
	struct pumice_texture t = plain;
	struct pumice_tdm_scale c;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	t.levels = 1;
	t.width = t.height = 1023;
	t.depth = 0;
	c = good_scale(&fx);
	c.src_level = c.src_layer = c.dst_level = c.dst_layer = 0;
	c.src = fx_texture(&fx, 2, &t);
	c.src_x = c.src_y = 0;
	c.src_width = c.src_height = 1024;
	testmem_unmap(fx.tm, CTX, DATA + 700 * 4096, 4096);
	testmem_unmap(fx.tm, CTX, DATA + 300 * 4096, 4096);
	/* A line is a page. The centres of three lines are in lines 170, 512 and 853. */
	put_scale(&fx, &c);
	fx_expect_done(&fx);
	/* The centre of 601 lines is that of line 300; that of the first of ten columns is 51.2. */
	c.src_height = 601;
	c.dst_height = 1;
	put_scale(&fx, &c);
	fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, DATA + 300 * 4096 + 50 * 4, "source");
	assert_int_equal(fx_fault(&fx)->access, PUMICE_ACCESS_READ);
	t.addr = DATA + 701 * 4096;
	c = good_scale(&fx);
	c.dst = fx_texture(&fx, 2, &t);
	c.dst_level = c.dst_layer = 0;
	testmem_unmap(fx.tm, CTX, DATA + 801 * 4096, 4096);
	c.dst_y = 98;
	put_scale(&fx, &c);
	fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, DATA + 801 * 4096 + 5 * 4, "destination");
	assert_int_equal(fx_fault(&fx)->access, PUMICE_ACCESS_WRITE);
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rectangles_beyond_are_refused),
		cmocka_unit_test(overlapping_rectangles_are_refused),
		cmocka_unit_test(malformed_surfaces_are_refused),
		cmocka_unit_test(filters_that_do_not_fit_are_refused),
		cmocka_unit_test(reserved_bits_are_refused),
		cmocka_unit_test(faults_in_rectangles_report_the_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
