// SPDX-License-Identifier: MIT
/*
 * PTLA: the units in separate threads. Results and faults are the same as with one unit.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

static _Atomic bool ended;

static void *run_unit(void *opaque)
{
	static const _Atomic bool stop;
	static _Atomic unsigned int next;
	struct fixture *fx = opaque;
	unsigned int unit = atomic_fetch_add(&next, 1) % PTLA_UNITS;

	while (!ended) {
		ptla_step(fx->ptla, unit, &stop);
		pthread_mutex_lock(&fx->mutex);
		if (fx->ends)
			ended = true;
		pthread_mutex_unlock(&fx->mutex);
	}
	return NULL;
}

static void run_in_threads(struct fixture *fx)
{
	pthread_t thread[PTLA_UNITS];

	ended = false;
	fx_start(fx);
	for (u32 n = 0; n < PTLA_UNITS; n++)
		assert_int_equal(pthread_create(&thread[n], NULL, run_unit, fx), 0);
	for (u32 n = 0; n < PTLA_UNITS; n++)
		pthread_join(thread[n], NULL);
	fx->words = 0;
}

/* A scaling copy to a surface in the same memory: each piece reads what the previous one wrote. */
static void put_chained_scale(struct fixture *fx)
{
	struct pumice_texture t = {
		.addr = DATA, .format = PUMICE_FORMAT_RGBA8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D,
		.levels = 1, .width = 63, .height = 3999, .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	struct pumice_tdm_scale scale = {
		.filter = PUMICE_TDM_FILTER_LINEAR, .src_width = 63, .src_height = 4000,
		.dst_width = 64, .dst_height = 4000, .flip_x = true,
	};

	scale.src = fx_texture(fx, 2, &t);
	t.addr += (u64)8 * 64 * 4;	/* lines of a piece */
	scale.dst = fx_texture(fx, 3, &t);
	pumice_tdm_scale_pack(fx_command(fx, PUMICE_TDM_SCALE_WORDS), &scale);
}

/*
 * Fills, copies with and without overlap, clears, blits, levels,
 * scaling copies: each reads the previous result.
 */
static void put_commands(struct fixture *fx)
{
	static const struct pumice_texture t = {
		.addr = DATA, .format = PUMICE_FORMAT_RGBA8_SRGB, .layout = PUMICE_LAYOUT_TWIDDLED,
		.dim = PUMICE_TEXTURE_DIM_2D, .levels = 8, .width = 299, .height = 199,
		.swizzle_g = 1, .swizzle_b = 2, .swizzle_a = 3,
	};
	struct pumice_texture other = t;
	struct pumice_tdm_blit blit = { .width = 290, .height = 180, .dst_x = 3, .dither = true };
	struct pumice_tdm_downscale down = { 0 };
	struct pumice_tdm_scale scale = {
		.filter = PUMICE_TDM_FILTER_LINEAR, .src_width = 290, .src_height = 190,
		.dst_level = 1, .dst_width = 149, .dst_height = 99, .flip_x = true,
	};

	other.addr += 4u << 20;
	other.format = PUMICE_FORMAT_R5G6B5_UNORM;
	other.layout = PUMICE_LAYOUT_TILED;
	blit.src = down.surface = fx_texture(fx, 0, &t);
	blit.dst = fx_texture(fx, 1, &other);
	fx_copy(fx, DATA + 100000, DATA, 900000);
	fx_copy(fx, DATA, DATA + 5000, 900000);
	fx_copy(fx, DATA + 2000000, DATA, 1500000);
	for (u32 level = 0; level < 7; level++) {
		down.src_level = (u8)level;
		pumice_tdm_downscale_pack(fx_command(fx, PUMICE_TDM_DOWNSCALE_WORDS), &down);
	}
	pumice_tdm_blit_pack(fx_command(fx, PUMICE_TDM_BLIT_WORDS), &blit);
	scale.src = blit.src;
	scale.dst = blit.dst;
	pumice_tdm_scale_pack(fx_command(fx, PUMICE_TDM_SCALE_WORDS), &scale);
	put_chained_scale(fx);
	fx_halt(fx);
}

static void fill_data(struct fixture *fx)
{
	u64 seed = 7;

	for (u32 n = 0; n < BYTES / 4; n++)
		((u32 *)(void *)fx->data)[n] = rand_u32(&seed);
}

static void sharing_work_between_units_does_not_change_results(void **state)
{
	u8 *expected = malloc(BYTES);
	struct fixture fx;

	(void)state;
	assert_non_null(expected);
	fx_setup(&fx);
	fill_data(&fx);
	put_commands(&fx);
	fx_expect_done(&fx);
	memcpy(expected, fx.data, BYTES);
	for (u32 n = 0; n < 5; n++) {
		fill_data(&fx);
		put_commands(&fx);
		run_in_threads(&fx);
		assert_int_equal(fx.end, DM_DONE);
		assert_memory_equal(fx.data, expected, BYTES);
	}
	fx_teardown(&fx);
	free(expected);
}

static void the_first_fault_is_reported(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 page = 60; page < 200; page += 3)
		testmem_unmap(fx.tm, CTX, DATA + page * 4096, 4096);
	for (u32 n = 0; n < 50; n++) {
		fx_copy(&fx, DATA, DATA + (2u << 20), 1u << 20);
		fx_halt(&fx);
		run_in_threads(&fx);
		assert_int_equal(fx.end, DM_FAULT);
		assert_int_equal(fx_fault(&fx)->addr, DATA + 60 * 4096);
	}
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sharing_work_between_units_does_not_change_results),
		cmocka_unit_test(the_first_fault_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
