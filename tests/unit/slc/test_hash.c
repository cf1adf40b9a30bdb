// SPDX-License-Identifier: MIT
/*
 * Distribution of lines over banks: the load of the bank with the most lines, relative to the mean.
 */
#include "../support/cmocka_all.h"

#include <string.h>

#include "../support/number.h"
#include "slc/hash.h"
#include "slc/slc.h"

#define LINES		4096u
#define LINE_SHIFT	7u

/* Loads of the banks in percent of the mean. */
struct load {
	struct slc_hash hash;
	u32 lines[SLC_MAX_BANKS];
	u32 total;
};

static void load_init(struct load *load, u32 bits)
{
	memset(load, 0, sizeof(*load));
	slc_hash_init(&load->hash, bits, LINE_SHIFT);
}

static void load_clear(struct load *load)
{
	memset(load->lines, 0, sizeof(load->lines));
	load->total = 0;
}

static void load_add(struct load *load, u32 ctx, u64 addr)
{
	u32 bank = slc_hash_bank(&load->hash, ctx, addr);

	assert_true(bank < 1u << load->hash.bits);
	load->lines[bank]++;
	load->total++;
}

/* Return the largest load in percent of the mean, and clear the loads. */
static u32 load_max(struct load *load)
{
	u32 i, most = 0;

	for (i = 0; i < 1u << load->hash.bits; i++)
		most = load->lines[i] > most ? load->lines[i] : most;
	most = most * 100 / (load->total >> load->hash.bits);
	load_clear(load);
	return most;
}

/* From one line to 4 GiB: over pages, blocks of 2 MiB and page tables. */
static void strides_of_powers_of_two_use_all_banks_equally(void **state)
{
	static const u64 starts[] = { 0, 0x12345000, 0xff00000000 };
	struct load load;
	u32 bits, shift, i, s;

	(void)state;
	for (bits = 0; bits <= SLC_HASH_MAX_BITS; bits++) {
		load_init(&load, bits);
		for (shift = LINE_SHIFT; shift <= 27; shift++) {
			/* Aligned starts: as many lines as banks are in different ones. */
			for (i = 0; i < 1u << bits; i++)
				load_add(&load, 1, (u64)i << shift);
			assert_int_equal(load_max(&load), 100);
			for (s = 0; s < 3; s++) {
				for (i = 0; i < LINES; i++)
					load_add(&load, 1, starts[s] + ((u64)i << shift));
				assert_in_range(load_max(&load), 100, 102);
			}
		}
	}
}

static void other_strides_use_no_bank_for_much_more_than_its_share(void **state)
{
	/* In percent, by the bits of a bank's number. */
	static const u32 most[SLC_HASH_MAX_BITS + 1] = { 100, 130, 120, 130, 160, 150, 170 };
	struct load load;
	u32 bits, stride, i;

	(void)state;
	for (bits = 0; bits <= SLC_HASH_MAX_BITS; bits++) {
		load_init(&load, bits);
		for (stride = 1; stride < 260; stride++) {
			for (i = 0; i < LINES; i++)
				load_add(&load, 1, (u64)i * stride << LINE_SHIFT);
			assert_in_range(load_max(&load), 100, most[bits]);
		}
	}
}

/* Tiles of a surface whose rows are a power of two apart, tile after tile. */
static void tiled_streams_use_all_banks_equally(void **state)
{
	u32 bits, width, height, pitch, tile, x, y;
	struct load load;

	(void)state;
	for (bits = 0; bits <= 4; bits++) {
		load_init(&load, bits);
		for (width = 1; width <= 8; width *= 2) {
			for (height = 16; height <= 64; height *= 2) {
				for (pitch = 32; pitch <= 1024; pitch *= 2) {
					for (tile = 0; tile < 32 / width * 4; tile++) {
						u64 first = (tile / (32 / width) * height * pitch +
							     tile % (32 / width) * width);

						for (y = 0; y < height; y++)
							for (x = 0; x < width; x++)
								load_add(&load, 1,
									 (first + y * pitch + x)
										 << LINE_SHIFT);
					}
					assert_in_range(load_max(&load), 100, 102);
				}
			}
		}
	}
}

static void random_lines_use_all_banks(void **state)
{
	u64 random = NUMBER_SEED;
	struct load load;
	u32 bits, i;

	(void)state;
	for (bits = 0; bits <= SLC_HASH_MAX_BITS; bits++) {
		load_init(&load, bits);
		for (i = 0; i < 1u << 18; i++)
			load_add(&load, number_random(&random, 33),
				 (u64)number_random(&random, 1u << 31) << 9);
		assert_in_range(load_max(&load), 100, 106);
	}
}

/* The same buffer of all contexts. */
static void contexts_use_all_banks(void **state)
{
	struct load load;
	u32 bits, ctx;

	(void)state;
	for (bits = 1; bits <= 5; bits++) {
		load_init(&load, bits);
		for (ctx = 0; ctx < 32; ctx++)
			load_add(&load, ctx, 0x40000000);
		assert_int_equal(load_max(&load), 100);
	}
}

static void bytes_of_a_line_have_one_bank(void **state)
{
	struct load load;
	u32 addr;

	(void)state;
	load_init(&load, 4);
	for (addr = 0; addr < 65536; addr++)
		assert_int_equal(slc_hash_bank(&load.hash, 1, addr),
				 slc_hash_bank(&load.hash, 1, addr / 128 * 128));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strides_of_powers_of_two_use_all_banks_equally),
		cmocka_unit_test(other_strides_use_no_bank_for_much_more_than_its_share),
		cmocka_unit_test(tiled_streams_use_all_banks_equally),
		cmocka_unit_test(random_lines_use_all_banks),
		cmocka_unit_test(contexts_use_all_banks),
		cmocka_unit_test(bytes_of_a_line_have_one_bank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
