// SPDX-License-Identifier: MIT
/*
 * PTLA: the units in separate threads. Results and faults are the same as with one unit.
 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

static _Atomic bool ended;

static void *run_unit(void *opaque)
{
	static const _Atomic bool stop;
	static _Atomic unsigned int next;
	struct rig *rig = opaque;
	unsigned int unit = atomic_fetch_add(&next, 1) % PTLA_UNITS;

	while (!ended) {
		ptla_step(rig->ptla, unit, &stop);
		pthread_mutex_lock(&rig->mutex);
		if (rig->ends)
			ended = true;
		pthread_mutex_unlock(&rig->mutex);
	}
	return NULL;
}

static void run_in_threads(struct rig *rig)
{
	pthread_t thread[PTLA_UNITS];

	ended = false;
	rig_start(rig);
	for (u32 n = 0; n < PTLA_UNITS; n++)
		assert_int_equal(pthread_create(&thread[n], NULL, run_unit, rig), 0);
	for (u32 n = 0; n < PTLA_UNITS; n++)
		pthread_join(thread[n], NULL);
	rig->words = 0;
}

/* Fills, copies with and without overlap, clears, blits, levels: each reads the previous result. */
static void put_commands(struct rig *rig)
{
	static const struct pumice_texture t = {
		.addr = DATA, .format = PUMICE_FORMAT_RGBA8_SRGB, .layout = PUMICE_LAYOUT_TWIDDLED,
		.dim = PUMICE_TEXTURE_DIM_2D, .levels = 8, .width = 299, .height = 199,
		.swizzle_g = 1, .swizzle_b = 2, .swizzle_a = 3,
	};
	struct pumice_texture other = t;
	struct pumice_tdm_blit blit = { .width = 290, .height = 180, .dst_x = 3, .dither = true };
	struct pumice_tdm_downscale down = { 0 };

	other.addr += 4u << 20;
	other.format = PUMICE_FORMAT_R5G6B5_UNORM;
	other.layout = PUMICE_LAYOUT_TILED;
	blit.src = down.surface = rig_texture(rig, 0, &t);
	blit.dst = rig_texture(rig, 1, &other);
	rig_copy(rig, DATA + 100000, DATA, 900000);
	rig_copy(rig, DATA, DATA + 5000, 900000);
	rig_copy(rig, DATA + 2000000, DATA, 1500000);
	for (u32 level = 0; level < 7; level++) {
		down.src_level = (u8)level;
		pumice_tdm_downscale_pack(rig_command(rig, PUMICE_TDM_DOWNSCALE_WORDS), &down);
	}
	pumice_tdm_blit_pack(rig_command(rig, PUMICE_TDM_BLIT_WORDS), &blit);
	rig_halt(rig);
}

static void fill_data(struct rig *rig)
{
	u64 seed = 7;

	for (u32 n = 0; n < BYTES / 4; n++)
		((u32 *)(void *)rig->data)[n] = rand_u32(&seed);
}

static void sharing_work_between_units_does_not_change_results(void **state)
{
	u8 *expected = malloc(BYTES);
	struct rig rig;

	(void)state;
	assert_non_null(expected);
	rig_setup(&rig);
	fill_data(&rig);
	put_commands(&rig);
	rig_expect_done(&rig);
	memcpy(expected, rig.data, BYTES);
	for (u32 n = 0; n < 5; n++) {
		fill_data(&rig);
		put_commands(&rig);
		run_in_threads(&rig);
		assert_int_equal(rig.end, DM_DONE);
		assert_memory_equal(rig.data, expected, BYTES);
	}
	rig_teardown(&rig);
	free(expected);
}

static void the_first_fault_is_reported(void **state)
{
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	for (u32 page = 60; page < 200; page += 3)
		testmem_unmap(rig.tm, CTX, DATA + page * 4096, 4096);
	for (u32 n = 0; n < 50; n++) {
		rig_copy(&rig, DATA, DATA + (2u << 20), 1u << 20);
		rig_halt(&rig);
		run_in_threads(&rig);
		assert_int_equal(rig.end, DM_FAULT);
		assert_int_equal(rig_fault(&rig)->addr, DATA + 60 * 4096);
	}
	rig_teardown(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sharing_work_between_units_does_not_change_results),
		cmocka_unit_test(the_first_fault_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
