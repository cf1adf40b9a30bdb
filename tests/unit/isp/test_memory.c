// SPDX-License-Identifier: MIT
/*
 * The ISP and memory: state records of every bad field, depth and stencil buffers of
 * every format.
 */
#include <math.h>
#include <string.h>

#include "../support/cmocka_all.h"

#include "../support/testmem.h"
#include "model.h"

#define CTX	3u
#define VA	0x100000ull
#define STENCIL	0x200000ull
#define BYTES	0x40000u

static struct testmem *tm;
static struct mmu mmu;
static struct mmu_tlb tlb;
static u8 *mem, *stencil;
static struct isp_tile tile, again;

static int set_up(void **state)
{
	(void)state;
	tm = testmem_create(TESTMEM_SIZE);
	memset(&mmu, 0, sizeof(mmu));
	memset(&tlb, 0, sizeof(tlb));
	testmem_bind(tm, &mmu);
	mem = testmem_map(tm, CTX, VA, BYTES, PUMICE_PAGE_SIZE_4K, 0);
	stencil = testmem_map(tm, CTX, STENCIL, BYTES, PUMICE_PAGE_SIZE_4K, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	testmem_destroy(tm);
	return 0;
}

static bool load(struct isp_state *out, struct gpu_fault *fault)
{
	return isp_state_load(&mmu, &tlb, CTX, VA, out, fault);
}

static void state_is_unpacked(void **state)
{
	const struct pumice_isp_state in = {
		.depth_func = PUMICE_COMPARE_LESS, .depth_write = true,
		.pass_type = PUMICE_PASS_TYPE_DEPTH_WRITE, .visibility = true,
		.visibility_id = 77, .scissor_x0 = 1, .scissor_x1 = 8192, .scissor_y0 = 2,
		.scissor_y1 = 300, .sample_mask = 5, .front_ref = 9, .back_mask = 0x7e,
		.back_zfail = PUMICE_STENCIL_OP_INVERT, .bias_slope = 2,
		.mask_test = PUMICE_MASK_TEST_CLEAR, .mask_op = PUMICE_MASK_OP_INVERT,
	};
	struct gpu_fault fault;
	struct isp_state out;

	(void)state;
	pumice_isp_state_pack((u32 *)(void *)mem, &in);
	assert_true(load(&out, &fault));
	assert_int_equal(out.depth_func, PUMICE_COMPARE_LESS);
	assert_int_equal(out.pass_type, PUMICE_PASS_TYPE_DEPTH_WRITE);
	assert_int_equal(out.visibility_id, 77);
	assert_int_equal(out.x1, 8192);
	assert_int_equal(out.y1, 300);
	assert_int_equal(out.sample_mask, 5);
	assert_int_equal(out.face[0].ref, 9);
	assert_int_equal(out.face[1].mask, 0x7e);
	assert_int_equal(out.face[1].zfail, PUMICE_STENCIL_OP_INVERT);
	assert_true(out.bias_slope == 2);
	assert_int_equal(out.mask_test, PUMICE_MASK_TEST_CLEAR);
	assert_int_equal(out.mask_op, PUMICE_MASK_OP_INVERT);
}

/* Flip each bit of a good record: it loads only if the bit is valid for its field. */
static void reserved_bits_and_bad_scissors_fault(void **state)
{
	const struct pumice_isp_state in = { .scissor_x1 = 8192, .scissor_y1 = 8192 };
	u32 words[PUMICE_ISP_STATE_WORDS], bit;
	struct gpu_fault fault;
	struct isp_state out;

	(void)state;
	pumice_isp_state_pack(words, &in);
	for (bit = 0; bit < PUMICE_ISP_STATE_WORDS * 32; bit++) {
		struct pumice_isp_state back;
		bool good;

		words[bit / 32] ^= 1u << bit % 32;
		memcpy(mem, words, sizeof(words));
		good = pumice_isp_state_unpack(words, &back) == PUMICE_UNPACK_OK &&
		       back.scissor_x1 <= 8192 && back.scissor_y1 <= 8192 &&
		       (!back.no_tag || back.pass_type == PUMICE_PASS_TYPE_OPAQUE);
		assert_int_equal(load(&out, &fault), good);
		if (!good) {
			assert_int_equal(fault.fault, PUMICE_FAULT_ISP_STATE);
			assert_int_equal(fault.unit, PUMICE_UNIT_ISP);
			assert_int_equal(fault.addr, VA);
		}
		words[bit / 32] ^= 1u << bit % 32;
	}
}

static void each_mask_test_is_valid_or_refused(void **state)
{
	u32 test;

	(void)state;
	for (test = 0; test < 4; test++) {
		const struct pumice_isp_state in = { .mask_test = (u8)test };
		struct gpu_fault fault;
		struct isp_state out;

		pumice_isp_state_pack((u32 *)(void *)mem, &in);
		assert_int_equal(load(&out, &fault), test < PUMICE_MASK_TEST_COUNT);
		if (test == PUMICE_MASK_TEST_COUNT)
			assert_int_equal(fault.fault, PUMICE_FAULT_ISP_STATE);
	}
}

static void only_opaque_objects_may_be_without_tags(void **state)
{
	u32 type;

	(void)state;
	for (type = 0; type < PUMICE_PASS_TYPE_COUNT; type++) {
		const struct pumice_isp_state in = { .pass_type = (u8)type, .no_tag = true };
		struct gpu_fault fault;
		struct isp_state out;

		pumice_isp_state_pack((u32 *)(void *)mem, &in);
		assert_int_equal(load(&out, &fault), type == PUMICE_PASS_TYPE_OPAQUE);
		if (type == PUMICE_PASS_TYPE_OPAQUE)
			assert_true(out.no_tag);
		else
			assert_int_equal(fault.fault, PUMICE_FAULT_ISP_STATE);
	}
}

static void state_outside_of_memory_faults(void **state)
{
	struct gpu_fault fault;
	struct isp_state out;

	(void)state;
	assert_false(isp_state_load(&mmu, &tlb, CTX, 0x900000, &out, &fault));
	assert_int_equal(fault.unit, PUMICE_UNIT_ISP);
	assert_int_equal(fault.fault, PUMICE_FAULT_MMU_PD_INVALID);
}

/* A tile near the origin, so that the buffers stay small. */
static void random_small_tile(void)
{
	model_random_tile(&tile);
	tile.x0 = model_below(3) * tile.width;
	tile.y0 = model_below(3) * tile.height;
}

static struct isp_zs zs_of(u32 format)
{
	return (struct isp_zs){ .ctx = CTX, .format = (u8)format, .depth = VA, .stencil = STENCIL,
				.depth_stride = 96 * 16, .stencil_stride = 96 * 4 };
}

static u32 word_at(const struct isp_zs *zs, u32 x, u32 y, u32 s)
{
	const u32 bytes = zs->format == PUMICE_DEPTH_FORMAT_D16 ? 2 : 4;
	u32 v = 0;

	memcpy(&v, mem + (tile.y0 + y) * zs->depth_stride +
		   ((tile.x0 + x) * tile.samples + s) * bytes, bytes);
	return v;
}

static u32 want_word(u32 format, float z)
{
	u32 bits;

	switch (format) {
	case PUMICE_DEPTH_FORMAT_D16:
		return (u32)lrint((double)z * 65535);
	case PUMICE_DEPTH_FORMAT_D32F:
		memcpy(&bits, &z, 4);
		return bits;
	default:
		return (u32)lrint((double)z * 16777215);
	}
}

static void stored_words_are_as_documented(void **state)
{
	u32 n, x, y, s;

	(void)state;
	for (n = 0; n < 200; n++) {
		const struct isp_zs zs = zs_of(n % 4);
		const bool depth = n % 3 != 1, st = n % 3 != 0;
		const bool packed = zs.format == PUMICE_DEPTH_FORMAT_D24_S8;
		struct gpu_fault fault;

		random_small_tile();
		memset(mem, 0xa5, BYTES);
		memset(stencil, 0x5a, BYTES);
		assert_true(isp_store(&tile, &zs, depth, st, &mmu, &tlb, &fault));
		for (y = 0; y < tile.height; y++) {
			for (x = 0; x < tile.width; x++) {
				for (s = 0; s < tile.samples; s++) {
					const u32 p = model_pixel(&tile, x, y);
					const bool in = x < tile.clip_x && y < tile.clip_y;
					u32 want = 0xa5a5a5a5;

					if (zs.format == PUMICE_DEPTH_FORMAT_D16)
						want &= 0xffff;
					if (in && depth && packed)
						want = (want & 0xff000000) |
						       want_word(zs.format, tile.depth[s][p]);
					else if (in && depth)
						want = want_word(zs.format, tile.depth[s][p]);
					if (in && st && packed)
						want = (want & 0xffffff) |
						       (u32)tile.stencil[s][p] << 24;
					assert_int_equal(word_at(&zs, x, y, s), want);
					assert_int_equal(
						stencil[(tile.y0 + y) * zs.stencil_stride +
							(tile.x0 + x) * tile.samples + s],
						in && st && !packed ? tile.stencil[s][p] : 0x5a);
				}
			}
		}
	}
}

static void loading_returns_the_stored_values(void **state)
{
	static const double steps[] = { 65535, 16777215, 16777215, 0 };
	u32 n, x, y, s;

	(void)state;
	for (n = 0; n < 200; n++) {
		const struct isp_zs zs = zs_of(n % 4);
		struct gpu_fault fault;

		random_small_tile();
		again = tile;
		isp_tile_clear(&again, 0.5f, 7);
		assert_true(isp_store(&tile, &zs, true, true, &mmu, &tlb, &fault));
		assert_true(isp_load(&again, &zs, true, true, &mmu, &tlb, &fault));
		for (y = 0; y < tile.height; y++) {
			for (x = 0; x < tile.width; x++) {
				for (s = 0; s < tile.samples; s++) {
					const u32 p = model_pixel(&tile, x, y);
					float want = tile.depth[s][p];

					if (x >= tile.clip_x || y >= tile.clip_y) {
						assert_true(again.depth[s][p] == 0.5f);
						continue;
					}
					if (steps[n % 4] > 0)
						want = (float)(rint((double)want * steps[n % 4]) /
							       steps[n % 4]);
					assert_true(again.depth[s][p] == want);
					assert_int_equal(again.stencil[s][p], tile.stencil[s][p]);
				}
			}
		}
	}
}

static void special_floats_are_converted_to_depths(void **state)
{
	static const u32 bits[] = { 0x7fc00000, 0xbf800000, 0x7f800000, 0x40000000, 0x80000000,
				    0xffffffff, 0x00000001 };
	static const float want[] = { 0, 0, 1, 1, 0, 0, 0x1p-149f };
	struct isp_zs zs = zs_of(PUMICE_DEPTH_FORMAT_D32F);
	struct gpu_fault fault;
	u32 i;

	(void)state;
	tile = (struct isp_tile){ .width = 16, .height = 16, .clip_x = 16, .clip_y = 1,
				  .samples = 1 };
	isp_tile_clear(&tile, 0.5f, 0);
	memcpy(mem, bits, sizeof(bits));
	assert_true(isp_load(&tile, &zs, true, false, &mmu, &tlb, &fault));
	for (i = 0; i < 7; i++)
		assert_memory_equal(&tile.depth[0][model_pixel(&tile, i, 0)], &want[i], 4);
}

static void buffers_outside_of_memory_fault(void **state)
{
	struct isp_zs zs = zs_of(PUMICE_DEPTH_FORMAT_D16);
	struct gpu_fault fault = { 0 };

	(void)state;
	random_small_tile();
	zs.depth = 0xff00000000ull;
	assert_false(isp_load(&tile, &zs, true, false, &mmu, &tlb, &fault));
	assert_int_equal(fault.unit, PUMICE_UNIT_ISP);
	assert_int_equal(fault.access, PUMICE_ACCESS_READ);
	assert_false(isp_store(&tile, &zs, true, false, &mmu, &tlb, &fault));
	assert_int_equal(fault.access, PUMICE_ACCESS_WRITE);
	zs.stencil = 0xffffffff00ull;
	assert_false(isp_store(&tile, &zs, false, true, &mmu, &tlb, &fault));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_is_unpacked),
		cmocka_unit_test(reserved_bits_and_bad_scissors_fault),
		cmocka_unit_test(each_mask_test_is_valid_or_refused),
		cmocka_unit_test(only_opaque_objects_may_be_without_tags),
		cmocka_unit_test(state_outside_of_memory_faults),
		cmocka_unit_test(stored_words_are_as_documented),
		cmocka_unit_test(loading_returns_the_stored_values),
		cmocka_unit_test(special_floats_are_converted_to_depths),
		cmocka_unit_test(buffers_outside_of_memory_fault),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
