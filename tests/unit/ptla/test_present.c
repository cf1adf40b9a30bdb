// SPDX-License-Identifier: MIT
/*
 * PTLA: presents. Copies of PRESENT equal those of SCALE, which test_scale.c compares with a
 * model; here: flips, their order and their place after the copy, a full FIFO, and bad words.
 */
#include "fixture.h"

#include <string.h>

#include "surface.h"

#define SECOND	(DATA + (1u << 20))	/* another surface */
#define THIRD	(DATA + (2u << 20))	/* and one for the copy by SCALE */
#define SIZE	48u			/* of a square surface */
#define BYTES_OF(width) ((width) * (width) * 4u)

static const struct pumice_texture plain = {
	.addr = DATA, .format = PUMICE_FORMAT_RGBA8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D_ARRAY,
	.levels = 2, .width = SIZE - 1, .height = SIZE - 1, .depth = 2, .swizzle_g = 1,
	.swizzle_b = 2, .swizzle_a = 3,
};

static struct pumice_tdm_present good_present(struct fixture *fx, u32 frame)
{
	struct pumice_texture other = plain;

	other.addr = SECOND;
	return (struct pumice_tdm_present){
		.filter = PUMICE_TDM_FILTER_LINEAR, .src = fx_texture(fx, 0, &plain),
		.dst = fx_texture(fx, 1, &other), .src_x = 3, .src_y = 1, .src_width = 40,
		.src_height = 44, .dst_x = 2, .dst_y = 5, .dst_width = 30, .dst_height = 35,
		.src_layer = 1, .flip_y = true, .frame = frame,
	};
}

static void put_present(struct fixture *fx, const struct pumice_tdm_present *p)
{
	pumice_tdm_present_pack(fx_command(fx, PUMICE_TDM_PRESENT_WORDS), p);
}

static void put_presents(struct fixture *fx, u32 first, u32 count)
{
	for (u32 n = 0; n < count; n++) {
		const struct pumice_tdm_present p = good_present(fx, first + n);

		put_present(fx, &p);
	}
	fx_halt(fx);
}

static void random_source(struct fixture *fx)
{
	for (u32 n = 0; n < 2 * BYTES_OF(SIZE); n++)
		fx->data[n] = (u8)rand_below(&fx->seed, 256);
}

/* Remove the oldest flip, as the firmware does. */
static struct ptla_flip pop(struct fixture *fx)
{
	struct ptla_flip flip;

	fx_lock(fx);
	assert_true(ptla_flips(fx->ptla) > 0);
	flip = ptla_flip(fx->ptla);
	ptla_flip_pop(fx->ptla);
	fx_unlock(fx);
	return flip;
}

static u32 flips(struct fixture *fx)
{
	u32 count;

	fx_lock(fx);
	count = ptla_flips(fx->ptla);
	fx_unlock(fx);
	return count;
}

/* Step the units until none has work; returns whether the job has ended. */
static bool step_until_idle(struct fixture *fx)
{
	static const _Atomic bool stop;

	for (u32 idle = 0, n = 0; idle < PTLA_UNITS; n++)
		idle = ptla_step(fx->ptla, n % PTLA_UNITS, &stop) ? 0 : idle + 1;
	return fx->ends;
}

/* Copy to a format by both commands. */
static void compare_with_scale(struct fixture *fx, enum pumice_format format,
			       bool flip_x, bool dither)
{
	struct pumice_texture second = plain, third = plain;
	struct pumice_tdm_present p = good_present(fx, 1);
	struct pumice_tdm_scale s;

	second.addr = SECOND;
	third.addr = THIRD;
	second.format = third.format = format;
	p.dst = fx_texture(fx, 1, &second);
	p.flip_x = flip_x;
	p.dither = dither;
	s = (struct pumice_tdm_scale){
		.filter = p.filter, .src = p.src, .dst = fx_texture(fx, 2, &third),
		.src_x = p.src_x, .src_y = p.src_y, .src_width = p.src_width,
		.src_height = p.src_height, .dst_x = p.dst_x, .dst_y = p.dst_y,
		.dst_width = p.dst_width, .dst_height = p.dst_height, .src_layer = p.src_layer,
		.flip_x = flip_x, .flip_y = p.flip_y, .dither = dither,
	};
	put_present(fx, &p);
	pumice_tdm_scale_pack(fx_command(fx, PUMICE_TDM_SCALE_WORDS), &s);
	fx_halt(fx);
	fx->presents = 1;
	fx_expect_done(fx);
	assert_memory_equal(fx->data + (SECOND - DATA), fx->data + (THIRD - DATA), BYTES_OF(SIZE));
	assert_int_equal(flips(fx), 1);
	pop(fx);
}

static void a_present_copies_as_scale_does(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	random_source(&fx);
	for (u32 n = 0; n < 4; n++)
		compare_with_scale(&fx, n < 2 ? PUMICE_FORMAT_RGBA8_UNORM :
				   PUMICE_FORMAT_R5G6B5_UNORM, n & 1, n & 2);
	fx_teardown(&fx);
}

/* Called at each flip, with the device lock held: all of the copy is in memory. */
static void check_copy(struct fixture *fx)
{
	const u8 *to = fx->data + (SECOND - DATA);

	assert_true(ptla_status(fx->ptla)->busy);
	assert_memory_equal(to, fx->data, BYTES_OF(SIZE));
}

static void a_flip_follows_the_last_byte_of_its_copy(void **state)
{
	struct fixture fx;
	struct pumice_tdm_present p;
	struct ptla_flip flip;

	(void)state;
	fx_setup(&fx);
	random_source(&fx);
	p = good_present(&fx, 0xfeedf00d);
	p.filter = PUMICE_TDM_FILTER_NEAREST;
	p.flip_y = false;
	p.src_layer = 0;
	p.src_x = p.src_y = p.dst_x = p.dst_y = 0;
	p.src_width = p.src_height = p.dst_width = p.dst_height = SIZE;
	put_present(&fx, &p);
	fx_halt(&fx);
	fx.presents = 1;
	fx.at_flip = check_copy;
	fx_expect_done(&fx);
	assert_int_equal(fx.flips, 1);
	flip = pop(&fx);
	assert_int_equal(flip.frame, 0xfeedf00d);
	assert_int_equal(flip.addr, SECOND);
	assert_true(flip.time >= ptla_status(fx.ptla)->time_start);
	assert_true(flip.time <= ptla_status(fx.ptla)->time_end);
	assert_int_equal(flips(&fx), 0);
	fx_teardown(&fx);
}

static void a_flip_has_the_address_of_the_level_and_layer(void **state)
{
	const struct pumice_surface s = pumice_surface_of_texture(&plain);
	const struct pumice_level level = pumice_surface_level(&s, 1);
	struct pumice_tdm_present p;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	p = good_present(&fx, 1);
	p.dst_level = 1;
	p.dst_layer = 2;
	p.dst_x = p.dst_y = 0;
	p.dst_width = p.dst_height = SIZE / 2;
	put_present(&fx, &p);
	fx_halt(&fx);
	fx.presents = 1;
	fx_expect_done(&fx);
	assert_int_equal(pop(&fx).addr, SECOND + level.offset + 2 * level.layer_bytes);
	fx_teardown(&fx);
}

static void many_presents_flip_in_order(void **state)
{
	const u32 jobs = 40, per_job = PUMICE_TDM_FLIPS;
	struct fixture fx;
	u64 time = 0;
	u32 next = 100;

	(void)state;
	fx_setup(&fx);
	for (u32 job = 0; job < jobs; job++) {
		put_presents(&fx, next, per_job);
		fx.presents = per_job;
		fx_expect_done(&fx);
		assert_int_equal(ptla_status(fx.ptla)->done, per_job + 1);
		assert_int_equal(flips(&fx), per_job);
		for (u32 n = 0; n < per_job; n++) {
			const struct ptla_flip flip = pop(&fx);

			assert_int_equal(flip.frame, next++);
			assert_true(flip.time > time);
			time = flip.time;
		}
	}
	assert_int_equal(fx.flips, jobs * per_job);
	fx_teardown(&fx);
}

static void a_full_fifo_stalls_the_present_and_loses_none(void **state)
{
	const u32 count = PUMICE_TDM_FLIPS + 5;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	put_presents(&fx, 0, count);
	fx.presents = count;
	fx_start(&fx);
	for (u32 n = 0; n < count; n++) {
		const bool ended = step_until_idle(&fx);
		const u32 left = count - n;

		/* The present after the last flip that fits is stalled: its job is not complete. */
		assert_int_equal(ended, left <= PUMICE_TDM_FLIPS);
		assert_int_equal(flips(&fx), left < PUMICE_TDM_FLIPS ? left : PUMICE_TDM_FLIPS);
		fx.wakes[0] = 0;
		assert_int_equal(pop(&fx).frame, n);
		assert_int_equal(fx.wakes[0], !ended);
	}
	assert_int_equal(fx.end, DM_DONE);
	fx_lock(&fx);
	ptla_flip_pop(fx.ptla);	/* of an empty FIFO: ignored */
	assert_int_equal(ptla_flips(fx.ptla), 0);
	assert_int_equal(ptla_flip(fx.ptla).frame, 0);
	fx_unlock(&fx);
	fx_teardown(&fx);
}

static void an_abort_ends_a_stalled_present(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	put_presents(&fx, 0, PUMICE_TDM_FLIPS + 2);
	fx.presents = PUMICE_TDM_FLIPS + 2;
	fx_start(&fx);
	assert_false(step_until_idle(&fx));
	fx_lock(&fx);
	ptla_abort(fx.ptla);
	fx_unlock(&fx);
	assert_true(step_until_idle(&fx));
	assert_int_equal(fx.end, DM_ABORTED);
	/* The flips of completed presents remain; that of the stalled one does not occur. */
	assert_int_equal(flips(&fx), PUMICE_TDM_FLIPS);
	for (u32 n = 0; n < PUMICE_TDM_FLIPS; n++)
		assert_int_equal(pop(&fx).frame, n);
	fx.words = 0;
	put_presents(&fx, 77, 1);
	fx.presents = 1;
	fx_expect_done(&fx);
	assert_int_equal(pop(&fx).frame, 77);
	fx_teardown(&fx);
}

static void a_reset_discards_flips(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	put_presents(&fx, 0, 3);
	fx.presents = 3;
	fx_expect_done(&fx);
	fx_lock(&fx);
	ptla_reset(fx.ptla);
	assert_int_equal(ptla_flips(fx.ptla), 0);
	fx_unlock(&fx);
	fx_teardown(&fx);
}

static void presents_beyond_those_announced_are_refused(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 announced = 0; announced < 3; announced++) {
		put_presents(&fx, 0, announced + 1);
		fx.presents = announced;
		fx_expect(&fx, PUMICE_FAULT_TDM_PRESENT,
			  STREAM + announced * PUMICE_TDM_PRESENT_WORDS * sizeof(u32), "present");
		assert_int_equal(flips(&fx), announced);
		while (flips(&fx))
			pop(&fx);
	}
	fx_teardown(&fx);
}

/* The word is refused, reports no flip, and a correct command works afterwards. */
static void refuse(struct fixture *fx, const struct pumice_tdm_present *bad,
		   enum pumice_fault fault, u64 addr, const char *what)
{
	put_present(fx, bad);
	fx_halt(fx);
	fx->presents = 1;
	fx_expect(fx, fault, addr, what);
	assert_int_equal(flips(fx), 0);
	put_presents(fx, 9, 1);
	fx->presents = 1;
	fx_expect_done(fx);
	assert_int_equal(pop(fx).frame, 9);
}

static void bad_presents_are_refused_by_name(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
#define REFUSED(field, bad, fault) \
	do { \
		struct pumice_tdm_present c = good_present(&fx, 1); \
		c.field = bad; \
		refuse(&fx, &c, PUMICE_FAULT_TDM_##fault, STREAM, #field " " #bad); \
	} while (0)
	REFUSED(src_level, 2, RECT);
	REFUSED(dst_level, 15, RECT);
	REFUSED(src_layer, 3, RECT);
	REFUSED(dst_layer, 4095, RECT);
	REFUSED(src_width, 0, RECT);
	REFUSED(src_height, 16383, RECT);
	REFUSED(dst_width, 0, RECT);
	REFUSED(dst_height, 45, RECT);
	REFUSED(src_x, 9, RECT);
	REFUSED(dst_y, 8191, RECT);
	REFUSED(filter, PUMICE_TDM_FILTER_BOX, FILTER);
	REFUSED(filter, 3, FILTER);
	fx_teardown(&fx);
}

static void reserved_bits_of_a_present_are_refused(void **state)
{
	struct fixture fx;
	u32 set = 0;

	(void)state;
	fx_setup(&fx);
	for (u32 bit = 0; bit < PUMICE_TDM_PRESENT_WORDS * 32; bit++) {
		struct pumice_tdm_present p = good_present(&fx, 0);
		struct pumice_tdm_present read;
		u32 *at = fx_command(&fx, PUMICE_TDM_PRESENT_WORDS);

		pumice_tdm_present_pack(at, &p);
		at[bit / 32] |= 1u << bit % 32;
		fx_halt(&fx);
		if (pumice_tdm_present_unpack(at, &read) != PUMICE_UNPACK_RESERVED) {
			fx.words = 0;
			continue;
		}
		set++;
		fx.presents = 1;
		fx_expect(&fx, PUMICE_FAULT_TDM_RESERVED, STREAM, "reserved bit");
		assert_int_equal(flips(&fx), 0);
	}
	/* 15 of word 0, 56 of the addresses, and 28 of the five words after these. */
	assert_int_equal(set, 99);
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_present_copies_as_scale_does),
		cmocka_unit_test(a_flip_follows_the_last_byte_of_its_copy),
		cmocka_unit_test(a_flip_has_the_address_of_the_level_and_layer),
		cmocka_unit_test(many_presents_flip_in_order),
		cmocka_unit_test(a_full_fifo_stalls_the_present_and_loses_none),
		cmocka_unit_test(an_abort_ends_a_stalled_present),
		cmocka_unit_test(a_reset_discards_flips),
		cmocka_unit_test(presents_beyond_those_announced_are_refused),
		cmocka_unit_test(bad_presents_are_refused_by_name),
		cmocka_unit_test(reserved_bits_of_a_present_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
