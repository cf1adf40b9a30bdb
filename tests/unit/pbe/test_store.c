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
#include "perf.h"
#include "surface.h"
#include "testmem.h"

#define CTX 3u
#define VA 0x800000ull
#define BYTES (1u << 20)
#define WORDS 8u	/* output registers */

struct fixture {
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

static void setup(struct fixture *fx)
{
	memset(fx, 0, sizeof(*fx));
	fx->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(fx->tm, &fx->mmu);
	fx->memory = testmem_map(fx->tm, CTX, VA, BYTES, PUMICE_PAGE_SIZE_4K, 0);
	fx->before = malloc(BYTES);
	fx->outputs = malloc(sizeof(u32) * 4 * WORDS * PUMICE_TILE_PIXELS);
	assert_true(fx->before && fx->outputs);
	fx->seed = 1;
	fx->tile = (struct usc_tile){
		.outputs = fx->outputs, .words = WORDS, .samples = 1, .width = 32, .height = 32,
		.pixels = PUMICE_TILE_PIXELS,
	};
	fx->state = (struct pumice_pbe_state){
		.addr = VA, .format = PUMICE_FORMAT_RGBA8_UNORM, .width = 63, .height = 63,
		.write_mask = 15,
	};
}

static void teardown(struct fixture *fx)
{
	testmem_destroy(fx->tm);
	free(fx->before);
	free(fx->outputs);
}

static bool store(struct fixture *fx)
{
	u32 words[8];

	pumice_pbe_state_pack(words, &fx->state);
	memset(&fx->fault, 0, sizeof(fx->fault));
	return pbe_store(&fx->mmu, &fx->tlb, CTX, &fx->tile, words, &fx->fault);
}

static void random_outputs(struct fixture *fx)
{
	bool integer = model_integer(fx->state.format);

	for (u32 n = 0; n < 4 * WORDS * PUMICE_TILE_PIXELS; n++) {
		float f = rand_float(&fx->seed, -0.25f, 1.25f);

		memcpy(&fx->outputs[n], &f, sizeof(f));
		if (integer)
			fx->outputs[n] = rand_u32(&fx->seed) >> rand_below(&fx->seed, 32);
	}
}

/* The output word of a pixel of the tile, at the position that the contract defines. */
static u32 output(const struct fixture *fx, u32 sample, u32 word, u32 x, u32 y)
{
	u32 quad = y / 2 * (fx->tile.width / 2u) + x / 2, pixel = quad * 4 + y % 2 * 2 + x % 2;

	return fx->outputs[(sample * fx->tile.words + word) * PUMICE_TILE_PIXELS + pixel];
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
static double value_of(const struct fixture *fx, u32 sample, u32 c, u32 x, u32 y)
{
	u32 format = fx->state.format, word = fx->state.source + c, n = fx->tile.samples;
	float v[4] = { 0 };

	if (!fx->state.resolve || model_integer(format))
		return as_number(format, output(fx, sample, word, x, y));
	for (u32 s = 0; s < n; s++)
		v[s] = (float)as_number(format, output(fx, s, word, x, y));
	return ((v[0] + v[1]) + (v[2] + v[3])) / (float)n;
}

static u32 bits_at(const u8 *bytes, u32 low, u32 count)
{
	u32 v = 0;

	for (u32 b = 0; b < count; b++)
		v |= (u32)(bytes[(low + b) / 8] >> (low + b) % 8 & 1) << b;
	return v;
}

static void check_texel(const struct fixture *fx, u32 sample, u32 x, u32 y, u64 at)
{
	const struct pumice_pbe_state *p = &fx->state;
	u32 px = fx->tile.x0 + x, py = fx->tile.y0 + y, low;
	bool dither = p->dither && (p->format == PUMICE_FORMAT_R5G6B5_UNORM ||
				    p->format == PUMICE_FORMAT_RGBA4_UNORM ||
				    p->format == PUMICE_FORMAT_RGB5A1_UNORM ||
				    p->format == PUMICE_FORMAT_RGB10A2_UNORM);
	char kind;

	for (u32 c = 0; c < model_components(p->format); c++) {
		u32 count = model_component(p->format, c, &kind, &low);
		u32 now = bits_at(fx->memory + at, low, count);
		double v = value_of(fx, sample, c, x, y);
		bool good;

		if (!(p->write_mask >> c & 1))
			good = now == bits_at(fx->before + at, low, count);
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
static void check_surface(struct fixture *fx)
{
	const struct pumice_pbe_state *p = &fx->state;
	u32 samples = p->samples ? fx->tile.samples : 1, bytes = model_bytes(p->format);
	const struct model_surface s = {
		.format = p->format, .layout = p->layout, .dim = PUMICE_TEXTURE_DIM_2D,
		.width = (p->width + 1u) * samples, .height = p->height + 1u, .depth = 1,
		.levels = 1, .stride = p->stride,
	};

	for (u32 y = 0; y < fx->tile.height; y++) {
		for (u32 x = 0; x < fx->tile.width; x++) {
			u32 px = fx->tile.x0 + x, py = fx->tile.y0 + y;

			for (u32 n = 0; n < samples && px <= p->width && py <= p->height; n++) {
				u64 at = model_offset(&s, 0, 0, px * samples + n, py);

				assert_true(at + bytes <= BYTES);
				check_texel(fx, n, x, y, at);
				memcpy(fx->before + at, fx->memory + at, bytes);
			}
		}
	}
	assert_memory_equal(fx->memory, fx->before, BYTES);
}

static bool stored_format(u32 format)
{
	return format && model_block(format) == 1 && !model_depth(format) &&
	       format != PUMICE_FORMAT_S8_UINT;
}

static void random_store(struct fixture *fx, u32 format)
{
	static const u8 sizes[3][2] = { { 32, 32 }, { 16, 16 }, { 32, 16 } };
	u64 *seed = &fx->seed;
	u32 size = rand_below(seed, 3), samples = 1u << rand_below(seed, 3);

	fx->tile.width = sizes[size][0];
	fx->tile.height = sizes[size][1];
	fx->tile.samples = (u8)samples;
	fx->tile.x0 = (u16)(fx->tile.width * rand_below(seed, 3));
	fx->tile.y0 = (u16)(fx->tile.height * rand_below(seed, 3));
	fx->state = (struct pumice_pbe_state){
		.addr = VA, .format = (u8)format, .layout = (u8)rand_below(seed, 3),
		.width = (u16)rand_below(seed, 100), .height = (u16)rand_below(seed, 100),
		.source = (u8)rand_below(seed, WORDS - 3),
		.write_mask = (u8)(rand_below(seed, 2) ? 15 : rand_below(seed, 16)),
		.dither = rand_below(seed, 2), .resolve = rand_below(seed, 3) == 0,
	};
	if (!fx->state.resolve)
		fx->state.samples = rand_below(seed, 3) == 0;
	/* Twiddled squares of many samples are the largest; those of 128 bit do not fit. */
	if (model_bytes(format) == 16 && fx->state.samples)
		fx->state.width = fx->state.height = 20;
	if (fx->state.layout == PUMICE_LAYOUT_LINEAR && rand_below(seed, 2))
		fx->state.stride = model_bytes(format) *
			((fx->state.width + 1u) * (fx->state.samples ? samples : 1) + 5);
}

/* Make a random store of a format to random memory. */
static void make_case(struct fixture *fx, u32 number)
{
	random_store(fx, number % PUMICE_FORMAT_COUNT);
	random_outputs(fx);
	for (u32 b = 0; b < BYTES / 4; b++)
		((u32 *)(void *)fx->memory)[b] = b * 0x9e3779b1u + number;
	memcpy(fx->before, fx->memory, BYTES);
}

static void tiles_are_stored_as_the_model_stores_them(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 24 * PUMICE_FORMAT_COUNT; n++) {
		if (!stored_format(n % PUMICE_FORMAT_COUNT))
			continue;
		make_case(&fx, n);
		if (!store(&fx))
			fail_msg("format %u: fault %u", fx.state.format, fx.fault.fault);
		check_surface(&fx);
	}
	teardown(&fx);
}

/* Give all samples of all pixels the outputs of the first one. */
static void repeat_outputs(struct fixture *fx, u32 *output)
{
	for (u32 w = 0; w < WORDS; w++)
		output[w] = fx->outputs[w * PUMICE_TILE_PIXELS];
	for (u32 n = 0; n < 4 * WORDS * PUMICE_TILE_PIXELS; n++)
		fx->outputs[n] = output[n / PUMICE_TILE_PIXELS % WORDS];
}

static bool store_constant(struct fixture *fx, const u32 *output)
{
	u32 words[8];

	pumice_pbe_state_pack(words, &fx->state);
	return pbe_store_constant(&fx->mmu, &fx->tlb, CTX, &fx->tile, output, words);
}

static void constant_tiles_are_stored_as_the_model_stores_them(void **state)
{
	u32 output[WORDS], stored = 0, refused = 0;
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 24 * PUMICE_FORMAT_COUNT; n++) {
		if (!stored_format(n % PUMICE_FORMAT_COUNT))
			continue;
		make_case(&fx, n);
		repeat_outputs(&fx, output);
		if (store_constant(&fx, output)) {
			check_surface(&fx);
			stored++;
		} else {
			assert_true(fx.state.dither || fx.state.write_mask != 15);
			assert_memory_equal(fx.memory, fx.before, BYTES);
			refused++;
		}
	}
	assert_true(stored > 5 * PUMICE_FORMAT_COUNT && refused > PUMICE_FORMAT_COUNT);
	teardown(&fx);
}

/* The caller stores it in the usual way, which faults. */
static void constant_tiles_do_not_fault(void **state)
{
	u32 output[WORDS] = { 0 };
	u64 counts[PUMICE_PERF_NUMBER] = { 0 };
	struct fixture fx;

	(void)state;
	setup(&fx);
	fx.state.width = 1023;	/* one page per row */
	testmem_unmap(fx.tm, CTX, VA + 20 * 4096, 4096);
	assert_false(store_constant(&fx, output));
	testmem_map(fx.tm, CTX, 0x40000000, 0x200000, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	fx.state.addr = 0x40000000;
	assert_false(store_constant(&fx, output));
	fx.state.addr = (1ull << 40) - 16;
	assert_false(store_constant(&fx, output));
	fx.state.format = 255;
	assert_false(store_constant(&fx, output));
	mmu_counters_add(&fx.mmu, counts);
	assert_int_equal(counts[PUMICE_PERF_MMU_FAULTS], 0);
	teardown(&fx);
}

static void assert_refused(struct fixture *fx, const char *what)
{
	if (store(fx) || fx->fault.fault != PUMICE_FAULT_PBE_STATE)
		fail_msg("%s: fault %u", what, fx->fault.fault);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_PBE);
	assert_int_equal(fx->fault.ctx, CTX);
}

static void malformed_state_is_refused(void **state)
{
	struct pumice_pbe_state good;
	struct fixture fx;
	u32 words[8];

	(void)state;
	setup(&fx);
	random_outputs(&fx);
	good = fx.state;
	assert_true(store(&fx));
#define REFUSED(field, value) \
	do { \
		fx.state = good; \
		fx.state.field = value; \
		assert_refused(&fx, #field); \
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
	fx.state = good;
	fx.state.layout = PUMICE_LAYOUT_TILED;
	fx.state.stride = 256;
	assert_refused(&fx, "stride of a tiled surface");
	fx.state = good;
	fx.state.resolve = fx.state.samples = true;
	assert_refused(&fx, "resolved and all samples");
	pumice_pbe_state_pack(words, &good);
	for (u32 bit = 0; bit < 256; bit++) {
		struct pumice_pbe_state back;

		words[bit / 32] ^= 1u << bit % 32;
		if (pumice_pbe_state_unpack(words, &back) != PUMICE_UNPACK_OK) {
			assert_false(pbe_store(&fx.mmu, &fx.tlb, CTX, &fx.tile, words, &fx.fault));
			assert_int_equal(fx.fault.fault, PUMICE_FAULT_PBE_STATE);
		}
		words[bit / 32] ^= 1u << bit % 32;
	}
	teardown(&fx);
}

static void pages_that_are_missing_or_read_only_fault(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	random_outputs(&fx);
	fx.state.width = 1023;	/* one page per row */
	testmem_unmap(fx.tm, CTX, VA + 20 * 4096, 4096);
	assert_false(store(&fx));
	assert_int_equal(fx.fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(fx.fault.unit, PUMICE_UNIT_PBE);
	assert_int_equal(fx.fault.access, PUMICE_ACCESS_WRITE);
	assert_int_equal(fx.fault.addr, VA + 20 * 4096);
	testmem_map(fx.tm, CTX, 0x40000000, 0x200000, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	fx.state.addr = 0x40000000;
	assert_false(store(&fx));
	assert_int_equal(fx.fault.fault, PUMICE_FAULT_MMU_READ_ONLY);
	fx.state.addr = (1ull << 40) - 16;
	assert_false(store(&fx));
	/* A tile outside of the surface, or an empty mask, store nothing. */
	fx.tile.x0 = 1024;
	assert_true(store(&fx));
	fx.tile.x0 = 0;
	fx.state.write_mask = 0;
	assert_true(store(&fx));
	teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_are_stored_as_the_model_stores_them),
		cmocka_unit_test(constant_tiles_are_stored_as_the_model_stores_them),
		cmocka_unit_test(constant_tiles_do_not_fault),
		cmocka_unit_test(malformed_state_is_refused),
		cmocka_unit_test(pages_that_are_missing_or_read_only_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
