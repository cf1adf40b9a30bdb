// SPDX-License-Identifier: MIT
/*
 * The mask plane: every test with every operation on each kind of object, against a table of
 * results and not the model; its buffer in memory, bit by bit; USCs that write bits of one byte
 * at the same time.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/isp/draw.h"
#include "../support/testmem.h"
#include "model.h"
#include "surface.h"

#define CTX	3u
#define VA	0x100000ull
#define BYTES	0x10000u

static struct isp_tile tile, again;

static bool bit_at(const struct isp_tile *t, u32 x, u32 y, u32 s)
{
	const u32 p = model_pixel(t, x, y);

	return t->mask[s][p / 8] >> p % 8 & 1;
}

static void set_bit(struct isp_tile *t, u32 x, u32 y, u32 s, bool set)
{
	const u32 p = model_pixel(t, x, y);

	t->mask[s][p / 8] = (u8)((t->mask[s][p / 8] & ~(1u << p % 8)) | (u32)set << p % 8);
}

/* Samples of which the bit is set before. */
static bool is_set(u32 x, u32 y, u32 s)
{
	return (x * 3 + y * 5 + s) % 7 < 3;
}

/* Samples with a depth in front of the triangle. */
static bool is_hidden(u32 x, u32 y, u32 s)
{
	return (x + y * 2 + s) % 5 == 0;
}

static void small_tile(u32 samples)
{
	u32 x, y, s;

	tile = (struct isp_tile){ .width = 16, .height = 16, .clip_x = 16, .clip_y = 16,
				  .samples = samples };
	isp_tile_clear(&tile, 1, 3);
	for (s = 0; s < samples; s++) {
		for (y = 0; y < 16; y++) {
			for (x = 0; x < 16; x++) {
				set_bit(&tile, x, y, s, is_set(x, y, s));
				if (is_hidden(x, y, s))
					tile.depth[s][model_pixel(&tile, x, y)] = 0.25f;
			}
		}
	}
}

/* A triangle over columns 0 to 7 of a tile, in front of all but the hidden samples. */
static const struct isp_triangle half[2] = {
	{ .x = { 0, 8 << 8, 0 }, .y = { 0, 0, 16 << 8 }, .z = { 0.5f, 0.5f, 0.5f } },
	{ .x = { 8 << 8, 8 << 8, 0 }, .y = { 0, 16 << 8, 16 << 8 }, .z = { 0.5f, 0.5f, 0.5f } },
};

static bool mask_passes(u32 test, bool set)
{
	return test == PUMICE_MASK_TEST_NONE || set == (test == PUMICE_MASK_TEST_SET);
}

static bool mask_after(u32 op, bool set)
{
	static const bool result[PUMICE_MASK_OP_COUNT][2] = {
		[PUMICE_MASK_OP_KEEP] = { false, true },
		[PUMICE_MASK_OP_SET] = { true, true },
		[PUMICE_MASK_OP_CLEAR] = { false, false },
		[PUMICE_MASK_OP_INVERT] = { true, false },
	};

	return result[op][set];
}

static void draw_half(const struct isp_state *state, struct isp_result *sum)
{
	u32 n;

	*sum = (struct isp_result){ 0 };
	for (n = 0; n < 2; n++) {
		struct isp_setup setup;
		struct isp_result result;

		assert_true(isp_set_up(&half[n], state, &setup));
		isp_draw(&tile, &setup, state, false, 9, &result);
		sum->covered += result.covered;
		sum->passed += result.passed;
	}
}

/* After drawing with a state: each sample has the bit, stencil, depth and tag of the rules. */
static void check_half(const struct isp_state *state, u32 passed)
{
	const bool early = state->pass_type <= PUMICE_PASS_TYPE_TRANSLUCENT;
	u32 x, y, s, count = 0;

	for (s = 0; s < tile.samples; s++) {
		for (y = 0; y < 16; y++) {
			for (x = 0; x < 16; x++) {
				const u32 p = model_pixel(&tile, x, y);
				const bool set = is_set(x, y, s), hidden = is_hidden(x, y, s);
				const bool open = x < 8 && mask_passes(state->mask_test, set);
				const bool tested =
					state->pass_type != PUMICE_PASS_TYPE_DEPTH_WRITE;
				const bool pass = open && !(tested && hidden);
				const float before = hidden ? 0.25f : 1;
				u8 stencil = 3;

				count += pass;
				if (open && hidden && tested)
					stencil = 2;
				else if (pass && early)
					stencil = 4;
				assert_int_equal(tile.stencil[s][p], state->stencil ? stencil : 3);
				assert_int_equal(bit_at(&tile, x, y, s), pass && early ?
						 mask_after(state->mask_op, set) : set);
				assert_true(tile.depth[s][p] == (pass && early ? 0.5f : before));
				assert_int_equal(tile.tag[s][p] & ~ISP_LATE, pass ? 9 : 0);
			}
		}
	}
	assert_int_equal(passed, count);
}

static void all_tests_and_operations(isp_raster_fn *fn)
{
	struct isp_state state = { .depth_func = PUMICE_COMPARE_LESS, .depth_write = true,
				   .x1 = 8192, .y1 = 8192, .sample_mask = 15 };
	struct isp_result result;
	u32 n, samples;

	state.face[0] = (struct isp_stencil){
		.func = PUMICE_COMPARE_ALWAYS, .zfail = PUMICE_STENCIL_OP_DECR,
		.pass = PUMICE_STENCIL_OP_INCR, .mask = 255, .write = 255,
	};
	isp_use_raster(fn);
	for (samples = 1; samples <= 4; samples *= 2) {
		for (n = 0; n < 3 * 4 * 4 * 2; n++) {
			state.mask_test = (u8)(n % 3);
			state.mask_op = (u8)(n / 3 % 4);
			state.pass_type = (u8)(n / 12 % 4);
			state.stencil = n / 48;
			/* Such an object is tested late; see the next test. */
			if (isp_tests_late(&state))
				continue;
			small_tile(samples);
			draw_half(&state, &result);
			/* Pixels are covered whether their mask test passes or not. */
			if (samples == 1)
				assert_int_equal(result.covered, 8 * 16);
			check_half(&state, result.passed);
		}
	}
	isp_use_raster(NULL);
}

static void each_test_with_each_operation(void **state)
{
	(void)state;
	all_tests_and_operations(NULL);
}

static void base_level_agrees_with_the_model(void **state)
{
	(void)state;
	all_tests_and_operations(isp_raster_base);
}

/* A sample that fails the mask test is not even run for its stencil. */
static void late_objects_run_for_open_samples_only(void **state)
{
	struct isp_state s = { .pass_type = PUMICE_PASS_TYPE_PUNCH_THROUGH, .stencil = true,
			       .depth_func = PUMICE_COMPARE_LESS, .x1 = 8192, .y1 = 8192,
			       .sample_mask = 15, .mask_test = PUMICE_MASK_TEST_CLEAR,
			       .mask_op = PUMICE_MASK_OP_SET };
	struct isp_result result;
	struct isp_setup setup;
	struct usc_span span = { .quad = 0 };
	u32 x, y;

	(void)state;
	s.face[0].zfail = PUMICE_STENCIL_OP_INVERT;
	assert_true(isp_tests_late(&s));
	small_tile(1);
	draw_half(&s, &result);
	for (y = 0; y < 16; y++)
		for (x = 0; x < 16; x++)
			assert_int_equal(tile.tag[0][model_pixel(&tile, x, y)] != 0,
					 x < 8 && !is_set(x, y, 0));
	/* The program keeps pixel 1 of quad 0 and drops pixel 2; the bit of the first is set. */
	isp_mask_clear(&tile, false);
	assert_true(isp_set_up(&half[0], &s, &setup));
	span.samples = 0x0110;
	span.live = 0x0010;
	assert_int_equal(isp_late_write(&tile, &setup, &s, false, &span), 1);
	assert_true(bit_at(&tile, 1, 0, 0));
	assert_false(bit_at(&tile, 0, 1, 0));
}

/* A pending program may change the mask that others test: it must run before. */
static void pending_changes_of_the_mask_are_flushed(void **state)
{
	struct isp_state s = { .pass_type = PUMICE_PASS_TYPE_PUNCH_THROUGH, .x1 = 8192, .y1 = 8192,
			       .depth_func = PUMICE_COMPARE_ALWAYS, .sample_mask = 15,
			       .mask_op = PUMICE_MASK_OP_SET };
	struct isp_result result;
	struct isp_setup setup;

	(void)state;
	small_tile(1);
	isp_mask_clear(&tile, false);
	draw_half(&s, &result);
	s.pass_type = PUMICE_PASS_TYPE_OPAQUE;
	s.mask_test = PUMICE_MASK_TEST_SET;
	assert_true(isp_set_up(&half[0], &s, &setup));
	assert_true(isp_must_flush(&tile, &setup, &s, false));
	isp_tile_clear_tags(&tile);
	assert_false(isp_must_flush(&tile, &setup, &s, false));
}

/* ------------------------------------------------------------ memory */

static struct testmem *tm;
static struct mmu mmu;
static struct mmu_tlb tlb;
static u8 *mem;

static int set_up(void **state)
{
	(void)state;
	tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(tm, &mmu);
	mem = testmem_map(tm, CTX, VA, BYTES, PUMICE_PAGE_SIZE_4K, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	testmem_destroy(tm);
	return 0;
}

/* A random tile near the origin: the last one of its row, with bits that end in a byte's middle. */
static struct isp_mask_plane random_plane(void)
{
	model_random_tile(&tile);
	tile.x0 = model_below(3) * tile.width;
	tile.y0 = model_below(3) * tile.height;
	return (struct isp_mask_plane){
		.ctx = CTX, .addr = VA + 16,
		.stride = pumice_mask_row_bytes(tile.x0 + tile.clip_x,
						tile.samples) + model_below(3),
	};
}

/* Bit n of a row is bit n % 8 of its byte n / 8; those after the target are 0. */
static void stored_bits_are_as_documented(void **state)
{
	static u8 want[BYTES];
	struct gpu_fault fault;
	u32 n, x, y, s;

	(void)state;
	for (n = 0; n < 300; n++) {
		const struct isp_mask_plane plane = random_plane();

		memset(mem, 0xa5, BYTES);
		memset(want, 0xa5, BYTES);
		for (y = 0; y < tile.clip_y; y++) {
			u8 *row = want + 16 + (tile.y0 + y) * plane.stride;
			const u32 first = tile.x0 * tile.samples;
			const u32 end = first + tile.clip_x * tile.samples;

			memset(row + first / 8, 0, (end + 7) / 8 - first / 8);
			for (x = 0; x < tile.clip_x; x++) {
				for (s = 0; s < tile.samples; s++) {
					const u32 at = first + x * tile.samples + s;

					if (bit_at(&tile, x, y, s))
						row[at / 8] |= (u8)(1u << at % 8);
				}
			}
		}
		assert_true(isp_mask_store(&tile, &plane, &mmu, &tlb, &fault));
		assert_memory_equal(mem, want, BYTES);
	}
}

static void loading_returns_the_stored_bits(void **state)
{
	struct gpu_fault fault;
	u32 n, x, y, s;

	(void)state;
	for (n = 0; n < 300; n++) {
		const struct isp_mask_plane plane = random_plane();
		const bool clear = n % 2;

		again = tile;
		isp_mask_clear(&again, clear);
		assert_true(isp_mask_store(&tile, &plane, &mmu, &tlb, &fault));
		assert_true(isp_mask_load(&again, &plane, &mmu, &tlb, &fault));
		for (y = 0; y < tile.height; y++)
			for (x = 0; x < tile.width; x++)
				for (s = 0; s < tile.samples; s++)
					assert_int_equal(bit_at(&again, x, y, s),
							 x < tile.clip_x && y < tile.clip_y ?
								 bit_at(&tile, x, y, s) : clear);
	}
}

/* The last row of a plane ends where the memory ends. */
static void nothing_after_a_row_is_accessed(void **state)
{
	struct gpu_fault fault;
	u32 n;

	(void)state;
	for (n = 0; n < 300; n++) {
		struct isp_mask_plane plane = random_plane();
		const u32 bytes = pumice_mask_row_bytes(tile.x0 + tile.clip_x, tile.samples);

		if (!tile.clip_x || !tile.clip_y)
			continue;
		plane.addr = VA + BYTES - bytes - (u64)(tile.y0 + tile.clip_y - 1) * plane.stride;
		assert_true(isp_mask_load(&tile, &plane, &mmu, &tlb, &fault));
		assert_true(isp_mask_store(&tile, &plane, &mmu, &tlb, &fault));
		plane.addr++;
		assert_false(isp_mask_load(&tile, &plane, &mmu, &tlb, &fault));
		assert_int_equal(fault.addr & ~(u64)0xfff, VA + BYTES);
		assert_false(isp_mask_store(&tile, &plane, &mmu, &tlb, &fault));
	}
}

/* Rows of a plane may be further apart than 2^32 bytes in all. */
static void rows_are_found_beyond_4_gib(void **state)
{
	struct isp_mask_plane plane = random_plane();
	struct gpu_fault fault;

	(void)state;
	plane.stride = 0xfffff0;
	tile.x0 = 0;
	tile.y0 = 288;
	assert_false(isp_mask_load(&tile, &plane, &mmu, &tlb, &fault));
	assert_int_equal(fault.addr, plane.addr + 288ull * 0xfffff0);
}

static void buffers_outside_of_memory_fault(void **state)
{
	struct isp_mask_plane plane = random_plane();
	struct gpu_fault fault;

	(void)state;
	plane.addr = 0xff00000000ull;
	assert_false(isp_mask_load(&tile, &plane, &mmu, &tlb, &fault));
	assert_int_equal(fault.unit, PUMICE_UNIT_ISP);
	assert_int_equal(fault.access, PUMICE_ACCESS_READ);
	assert_int_equal(fault.ctx, CTX);
	assert_false(isp_mask_store(&tile, &plane, &mmu, &tlb, &fault));
	assert_int_equal(fault.access, PUMICE_ACCESS_WRITE);
}

/* ------------------------------------------------------------ threads */

/* Turns during which the other thread had one, too; a machine that is busy may have fewer. */
#define ENOUGH		100000u
#define PATIENCE_S	5

/* A quad whose bits a thread inverts. */
struct inverter {
	struct inverter *other;
	u32 quad;
	u32 wrong;		/* turns after which its own bits were not inverted */
	u32 overlaps;
	_Atomic u32 turns;
	_Atomic bool done;
};

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void invert_once(struct inverter *self, u8 want)
{
	static const struct isp_state state = { .mask_op = PUMICE_MASK_OP_INVERT,
						.depth_func = PUMICE_COMPARE_ALWAYS };
	static const float depth[USC_SPAN_LANES];
	const u8 own = (u8)(0xf << 4 * self->quad);
	const u32 turns = atomic_load(&self->other->turns);
	struct usc_span span = { .quad = (u8)self->quad, .samples = 0x1111, .live = 0x1111 };

	isp_late_depth(&tile, &state, false, &span, depth);
	if ((__atomic_load_n(&tile.mask[0][0], __ATOMIC_RELAXED) & own) != (want & own))
		self->wrong++;
	self->overlaps += atomic_load(&self->other->turns) != turns;
	atomic_fetch_add(&self->turns, 1);
}

/* Invert the bits of one quad, again and again; they are clear before and after. */
static void *invert(void *arg)
{
	struct inverter *self = arg;
	const time_t end = seconds() + PATIENCE_S;

	while (!atomic_load(&self->other->done) && self->overlaps < ENOUGH && seconds() < end) {
		invert_once(self, 0xff);
		invert_once(self, 0);
	}
	atomic_store(&self->done, true);
	return NULL;
}

/* Quads 0 and 1 share their byte; two USCs run their programs. */
static void bits_of_other_spans_are_kept(void **state)
{
	struct inverter other = { .quad = 1 };
	struct inverter self = { .quad = 0, .other = &other };
	pthread_t thread;

	(void)state;
	small_tile(1);
	isp_mask_clear(&tile, false);
	other.other = &self;
	assert_int_equal(pthread_create(&thread, NULL, invert, &other), 0);
	invert(&self);
	pthread_join(thread, NULL);
	assert_int_equal(self.wrong, 0);
	assert_int_equal(other.wrong, 0);
	assert_int_equal(tile.mask[0][0], 0);
	assert_int_equal(tile.mask[0][1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_test_with_each_operation),
		cmocka_unit_test(base_level_agrees_with_the_model),
		cmocka_unit_test(late_objects_run_for_open_samples_only),
		cmocka_unit_test(pending_changes_of_the_mask_are_flushed),
		cmocka_unit_test(stored_bits_are_as_documented),
		cmocka_unit_test(loading_returns_the_stored_bits),
		cmocka_unit_test(nothing_after_a_row_is_accessed),
		cmocka_unit_test(rows_are_found_beyond_4_gib),
		cmocka_unit_test(buffers_outside_of_memory_fault),
		cmocka_unit_test(bits_of_other_spans_are_kept),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
