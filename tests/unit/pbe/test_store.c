// SPDX-License-Identifier: MIT
/*
 * Pixel back end: tiles of random outputs, stored in all modes, against the scalar
 * model, byte by byte.
 */
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/pbe/pbe.h"
#include "../tag/model.h"
#include "../tag/rand.h"
#include "surface.h"
#include "testmem.h"

#define CTX 3u
#define VA 0x800000ull
#define BYTES (1u << 20)
#define WORDS 8u	/* output registers */

struct rig {
	struct testmem *tm;
	struct mmu mmu;
	struct mmu_tlb tlb;
	u8 *memory, *before;
	u64 seed;
	u32 *outputs;
	struct usc_tile tile;
	struct pumice_pbe_state state;
	struct gpu_fault fault;
};

static void setup(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(rig->tm, &rig->mmu);
	rig->memory = testmem_map(rig->tm, CTX, VA, BYTES, PUMICE_PAGE_SIZE_4K, 0);
	rig->before = malloc(BYTES);
	rig->outputs = malloc(sizeof(u32) * 4 * WORDS * PUMICE_TILE_PIXELS);
	assert_true(rig->before && rig->outputs);
	rig->seed = 1;
	rig->tile = (struct usc_tile){
		.outputs = rig->outputs, .words = WORDS, .samples = 1, .width = 32, .height = 32,
	};
	rig->state = (struct pumice_pbe_state){
		.addr = VA, .format = PUMICE_FORMAT_RGBA8_UNORM, .width = 63, .height = 63,
		.write_mask = 15,
	};
}

static void teardown(struct rig *rig)
{
	testmem_destroy(rig->tm);
	free(rig->before);
	free(rig->outputs);
}

static bool store(struct rig *rig)
{
	u32 words[8];

	pumice_pbe_state_pack(words, &rig->state);
	memset(&rig->fault, 0, sizeof(rig->fault));
	return pbe_store(&rig->mmu, &rig->tlb, CTX, &rig->tile, words, &rig->fault);
}

static void random_outputs(struct rig *rig)
{
	bool integer = model_integer(rig->state.format);

	for (u32 n = 0; n < 4 * WORDS * PUMICE_TILE_PIXELS; n++) {
		float f = rand_float(&rig->seed, -0.25f, 1.25f);

		memcpy(&rig->outputs[n], &f, sizeof(f));
		if (integer)
			rig->outputs[n] = rand_u32(&rig->seed) >> rand_below(&rig->seed, 32);
	}
}

/* The output word of a pixel of the tile, at the position that the contract defines. */
static u32 output(const struct rig *rig, u32 sample, u32 word, u32 x, u32 y)
{
	u32 quad = y / 2 * (rig->tile.width / 2u) + x / 2, pixel = quad * 4 + y % 2 * 2 + x % 2;

	return rig->outputs[(sample * rig->tile.words + word) * PUMICE_TILE_PIXELS + pixel];
}

static double as_number(u32 format, u32 bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	if (!model_integer(format))
		return f;
	return pumice_pixel_info(format)->kind == PUMICE_KIND_SINT ? (double)(s32)bits : bits;
}

/* The value of a pixel's component; samples averaged in f32, in pairs, as specified. */
static double value_of(const struct rig *rig, u32 sample, u32 c, u32 x, u32 y)
{
	u32 format = rig->state.format, word = rig->state.source + c, n = rig->tile.samples;
	float v[4] = { 0 };

	if (!rig->state.resolve || model_integer(format))
		return as_number(format, output(rig, sample, word, x, y));
	for (u32 s = 0; s < n; s++)
		v[s] = (float)as_number(format, output(rig, s, word, x, y));
	return ((v[0] + v[1]) + (v[2] + v[3])) / (float)n;
}

static u32 bits_at(const u8 *bytes, u32 low, u32 count)
{
	u32 v = 0;

	for (u32 b = 0; b < count; b++)
		v |= (u32)(bytes[(low + b) / 8] >> (low + b) % 8 & 1) << b;
	return v;
}

static void check_texel(const struct rig *rig, u32 sample, u32 x, u32 y, u64 at)
{
	const struct pumice_pbe_state *p = &rig->state;
	u32 px = rig->tile.x0 + x, py = rig->tile.y0 + y, low;
	bool dither = p->dither && (p->format == PUMICE_FORMAT_R5G6B5_UNORM ||
				    p->format == PUMICE_FORMAT_RGBA4_UNORM ||
				    p->format == PUMICE_FORMAT_RGB5A1_UNORM ||
				    p->format == PUMICE_FORMAT_RGB10A2_UNORM);
	char kind;

	for (u32 c = 0; c < model_components(p->format); c++) {
		u32 count = model_component(p->format, c, &kind, &low);
		u32 now = bits_at(rig->memory + at, low, count);
		double v = value_of(rig, sample, c, x, y);
		bool good;

		if (!(p->write_mask >> c & 1))
			good = now == bits_at(rig->before + at, low, count);
		else if (dither)
			good = model_stores_dithered(p->format, c, v, now, px, py);
		else
			good = model_stores(p->format, c, v, now);
		if (!good)
			fail_msg("format %u layout %u pixel %u, %u component %u: %.9g stored as %x",
				 p->format, p->layout, px, py, c, v, now);
	}
}

/* All pixels of the tile that are inside, and nothing else. */
static void check_surface(struct rig *rig)
{
	const struct pumice_pbe_state *p = &rig->state;
	u32 samples = p->samples ? rig->tile.samples : 1, bytes = model_bytes(p->format);
	const struct model_surface s = {
		.format = p->format, .layout = p->layout, .dim = PUMICE_TEXTURE_DIM_2D,
		.width = (p->width + 1u) * samples, .height = p->height + 1u, .depth = 1,
		.levels = 1, .stride = p->stride,
	};

	for (u32 y = 0; y < rig->tile.height; y++) {
		for (u32 x = 0; x < rig->tile.width; x++) {
			u32 px = rig->tile.x0 + x, py = rig->tile.y0 + y;

			for (u32 n = 0; n < samples && px <= p->width && py <= p->height; n++) {
				u64 at = model_offset(&s, 0, 0, px * samples + n, py);

				assert_true(at + bytes <= BYTES);
				check_texel(rig, n, x, y, at);
				memcpy(rig->before + at, rig->memory + at, bytes);
			}
		}
	}
	assert_memory_equal(rig->memory, rig->before, BYTES);
}

static bool stored_format(u32 format)
{
	return format && model_block(format) == 1 && !model_depth(format) &&
	       format != PUMICE_FORMAT_S8_UINT;
}

static void random_store(struct rig *rig, u32 format)
{
	static const u8 sizes[3][2] = { { 32, 32 }, { 16, 16 }, { 32, 16 } };
	u64 *seed = &rig->seed;
	u32 size = rand_below(seed, 3), samples = 1u << rand_below(seed, 3);

	rig->tile.width = sizes[size][0];
	rig->tile.height = sizes[size][1];
	rig->tile.samples = (u8)samples;
	rig->tile.x0 = (u16)(rig->tile.width * rand_below(seed, 3));
	rig->tile.y0 = (u16)(rig->tile.height * rand_below(seed, 3));
	rig->state = (struct pumice_pbe_state){
		.addr = VA, .format = (u8)format, .layout = (u8)rand_below(seed, 3),
		.width = (u16)rand_below(seed, 100), .height = (u16)rand_below(seed, 100),
		.source = (u8)rand_below(seed, WORDS - 3),
		.write_mask = (u8)(rand_below(seed, 2) ? 15 : rand_below(seed, 16)),
		.dither = rand_below(seed, 2), .resolve = rand_below(seed, 3) == 0,
	};
	if (!rig->state.resolve)
		rig->state.samples = rand_below(seed, 3) == 0;
	/* Twiddled squares of many samples are the largest; those of 128 bit do not fit. */
	if (model_bytes(format) == 16 && rig->state.samples)
		rig->state.width = rig->state.height = 20;
	if (rig->state.layout == PUMICE_LAYOUT_LINEAR && rand_below(seed, 2))
		rig->state.stride = model_bytes(format) *
			((rig->state.width + 1u) * (rig->state.samples ? samples : 1) + 5);
}

static void tiles_are_stored_as_the_model_stores_them(void **state)
{
	struct rig rig;

	(void)state;
	setup(&rig);
	for (u32 n = 0; n < 24 * PUMICE_FORMAT_COUNT; n++) {
		if (!stored_format(n % PUMICE_FORMAT_COUNT))
			continue;
		random_store(&rig, n % PUMICE_FORMAT_COUNT);
		random_outputs(&rig);
		for (u32 b = 0; b < BYTES / 4; b++)
			((u32 *)(void *)rig.memory)[b] = b * 0x9e3779b1u + n;
		memcpy(rig.before, rig.memory, BYTES);
		if (!store(&rig))
			fail_msg("format %u: fault %u", rig.state.format, rig.fault.fault);
		check_surface(&rig);
	}
	teardown(&rig);
}

static void assert_refused(struct rig *rig, const char *what)
{
	if (store(rig) || rig->fault.fault != PUMICE_FAULT_PBE_STATE)
		fail_msg("%s: fault %u", what, rig->fault.fault);
	assert_int_equal(rig->fault.unit, PUMICE_UNIT_PBE);
	assert_int_equal(rig->fault.ctx, CTX);
}

static void malformed_state_is_refused(void **state)
{
	struct pumice_pbe_state good;
	struct rig rig;
	u32 words[8];

	(void)state;
	setup(&rig);
	random_outputs(&rig);
	good = rig.state;
	assert_true(store(&rig));
#define REFUSED(field, value) \
	do { \
		rig.state = good; \
		rig.state.field = value; \
		assert_refused(&rig, #field); \
	} while (0)
	for (u32 format = 0; format < 256; format++) {
		if (format >= PUMICE_FORMAT_COUNT || !stored_format(format))
			REFUSED(format, (u8)format);
	}
	REFUSED(layout, 3);
	REFUSED(width, 8192);
	REFUSED(height, 8192);
	REFUSED(stride, 255);
	REFUSED(stride, 254);
	REFUSED(source, WORDS - 3);
	REFUSED(source, 31);
#undef REFUSED
	rig.state = good;
	rig.state.layout = PUMICE_LAYOUT_TILED;
	rig.state.stride = 256;
	assert_refused(&rig, "stride of a tiled surface");
	rig.state = good;
	rig.state.resolve = rig.state.samples = true;
	assert_refused(&rig, "resolved and all samples");
	pumice_pbe_state_pack(words, &good);
	for (u32 bit = 0; bit < 256; bit++) {
		struct pumice_pbe_state back;

		words[bit / 32] ^= 1u << bit % 32;
		if (pumice_pbe_state_unpack(words, &back) != PUMICE_UNPACK_OK) {
			assert_false(pbe_store(&rig.mmu, &rig.tlb, CTX, &rig.tile, words, &rig.fault));
			assert_int_equal(rig.fault.fault, PUMICE_FAULT_PBE_STATE);
		}
		words[bit / 32] ^= 1u << bit % 32;
	}
	teardown(&rig);
}

static void pages_that_are_missing_or_read_only_fault(void **state)
{
	struct rig rig;

	(void)state;
	setup(&rig);
	random_outputs(&rig);
	rig.state.width = 1023;	/* one page per row */
	testmem_unmap(rig.tm, CTX, VA + 20 * 4096, 4096);
	assert_false(store(&rig));
	assert_int_equal(rig.fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(rig.fault.unit, PUMICE_UNIT_PBE);
	assert_int_equal(rig.fault.access, PUMICE_ACCESS_WRITE);
	assert_int_equal(rig.fault.addr, VA + 20 * 4096);
	testmem_map(rig.tm, CTX, 0x40000000, 0x200000, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	rig.state.addr = 0x40000000;
	assert_false(store(&rig));
	assert_int_equal(rig.fault.fault, PUMICE_FAULT_MMU_READ_ONLY);
	rig.state.addr = (1ull << 40) - 16;
	assert_false(store(&rig));
	/* A tile outside of the surface, or an empty mask, store nothing. */
	rig.tile.x0 = 1024;
	assert_true(store(&rig));
	rig.tile.x0 = 0;
	rig.state.write_mask = 0;
	assert_true(store(&rig));
	teardown(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_are_stored_as_the_model_stores_them),
		cmocka_unit_test(malformed_state_is_refused),
		cmocka_unit_test(pages_that_are_missing_or_read_only_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
