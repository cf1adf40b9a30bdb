// SPDX-License-Identifier: MIT
/*
 * TSP states and programs of objects, which are read when the first visible span is shaded: a
 * painter with a depth buffer predicts how often each is read, those of hidden objects may have any
 * contents, and those of visible ones are checked.
 */
#include <string.h>

#include "../../../qemu-device/gpu/tsp/tsp.h"
#include "../support/number.h"
#include "fixture.h"

#define SIDE	32u
#define OBJECTS	24u
#define UNMAPPED 0xff00000000ull

static struct fixture fx;
static u64 seed = NUMBER_SEED;

static int open_fixture(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static struct pumice_isp_state usual_isp(void)
{
	struct pumice_isp_state isp = scene_usual_isp();

	isp.depth_func = PUMICE_COMPARE_LESS_EQUAL;
	isp.depth_write = true;
	return isp;
}

/* A rectangle of whole pixels. */
struct rect {
	s32 x0, y0, x1, y1;
	float z, value;
};

static void draw(u32 object, const struct rect *r)
{
	const s32 x0 = r->x0 * 256, y0 = r->y0 * 256, x1 = r->x1 * 256, y1 = r->y1 * 256;
	const struct scene_prim prims[2] = {
		{ .triangle = { .x = { x0, x1, x0 }, .y = { y0, y0, y1 },
				.z = { r->z, r->z, r->z } }, .value = { r->value, 0.5f } },
		{ .triangle = { .x = { x1, x1, x0 }, .y = { y0, y1, y1 },
				.z = { r->z, r->z, r->z } }, .value = { r->value, 0.5f } },
	};

	scene_draw(&fx, object, prims, 2);
}

static void run(void)
{
	scene_end(&fx, true);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
}

/* ------------------------------------------------------------ how often states are read */

static u32 reads[OBJECTS];

bool __real_tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			   struct tsp_state *state, struct gpu_fault *fault);
bool __wrap_tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			   struct tsp_state *state, struct gpu_fault *fault);

bool __wrap_tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			   struct tsp_state *state, struct gpu_fault *fault)
{
	u32 i;

	for (i = 0; i < OBJECTS; i++)
		reads[i] += addr == scene_tsp_address(i);
	return __real_tsp_state_load(mmu, tlb, ctx, addr, state, fault);
}

/* The painter: the nearest depth of each pixel, and the object whose colour it has. */
static struct {
	float depth[FX_MAX_SIZE][FX_MAX_SIZE], colour[FX_MAX_SIZE][FX_MAX_SIZE];
	u32 owner[FX_MAX_SIZE][FX_MAX_SIZE];
} painter;

static void paint(u32 side, u32 object, const struct rect *r, bool no_tag)
{
	s32 x, y;

	for (y = r->y0; y < r->y1 && y < (s32)side; y++) {
		for (x = r->x0; x < r->x1 && x < (s32)side; x++) {
			if (r->z > painter.depth[y][x])
				continue;
			painter.depth[y][x] = r->z;
			if (no_tag)
				continue;
			painter.colour[y][x] = r->value;
			painter.owner[y][x] = object;
		}
	}
}

static struct rect random_rect(u32 side, float value)
{
	const s32 x0 = (s32)number_random(&seed, side), y0 = (s32)number_random(&seed, side);

	return (struct rect){
		.x0 = x0, .y0 = y0, .x1 = x0 + 1 + (s32)number_random(&seed, side),
		.y1 = y0 + 1 + (s32)number_random(&seed, side),
		.z = (float)number_random(&seed, 8) / 8, .value = value,
	};
}

/* Draw every object twice, in random order. Some write depth alone. */
static void random_scene(u32 side)
{
	bool no_tag[OBJECTS];
	u32 i, x, y;

	scene_begin_square(&fx, side);
	fx.record.clear_depth = 1;
	for (y = 0; y < side; y++) {
		for (x = 0; x < side; x++) {
			painter.depth[y][x] = 1;
			painter.colour[y][x] = 0;
			painter.owner[y][x] = OBJECTS;
		}
	}
	for (i = 0; i < OBJECTS; i++) {
		struct pumice_isp_state isp = usual_isp();

		isp.no_tag = no_tag[i] = !number_random(&seed, 6);
		scene_set_object(&fx, i, &isp, FX_PLAIN, false);
	}
	for (i = 0; i < 2 * OBJECTS; i++) {
		const u32 object = number_random(&seed, OBJECTS);
		const struct rect rect = random_rect(side, (float)(i + 1));

		draw(object, &rect);
		paint(side, object, &rect, no_tag[object]);
	}
	memset(reads, 0, sizeof(reads));
	run();
	assert_int_equal(fx.end, DM_DONE);
	for (y = 0; y < side; y++)
		for (x = 0; x < side; x++)
			assert_float_equal(scene_colour(&fx, side, x, y), painter.colour[y][x], 0);
}

static bool is_visible(u32 side, u32 object)
{
	u32 x, y;

	for (y = 0; y < side; y++)
		for (x = 0; x < side; x++)
			if (painter.owner[y][x] == object)
				return true;
	return false;
}

/* In one tile exactly once; with several, once for each of the two tiles in flight at most. */
static void states_of_visible_objects_alone_are_read(void **state)
{
	u32 round, i, hidden = 0;

	(void)state;
	for (round = 0; round < 40; round++) {
		const u32 side = round % 2 ? FX_MAX_SIZE : SIDE;

		random_scene(side);
		for (i = 0; i < OBJECTS; i++) {
			const bool visible = is_visible(side, i);

			assert_in_range(reads[i], visible, visible << (side != SIDE));
			hidden += !visible;
		}
	}
	assert_true(hidden > 100);
}

/* ------------------------------------------------------------ invalid states */

#define OBJECT	1u	/* the one that is invalid */

/* Invalid states, and the fault of each if it is visible. */
enum damage {
	NO_MEMORY, RESERVED, NO_PROGRAM, VARYINGS, NO_PROGRAM_MEMORY, RESOURCES, STAGE, DAMAGES,
};

static const struct {
	enum pumice_fault fault;
	enum pumice_unit unit;
} faults[DAMAGES] = {
	[NO_MEMORY] = { PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_TSP },
	[RESERVED] = { PUMICE_FAULT_TSP_STATE, PUMICE_UNIT_TSP },
	[NO_PROGRAM] = { PUMICE_FAULT_TSP_STATE, PUMICE_UNIT_TSP },
	[VARYINGS] = { PUMICE_FAULT_TSP_STATE, PUMICE_UNIT_TSP },
	[NO_PROGRAM_MEMORY] = { PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_PDS },
	[RESOURCES] = { PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS },
	[STAGE] = { PUMICE_FAULT_USC_STAGE, PUMICE_UNIT_USC_CODE },
};

static void damage_state(enum damage damage)
{
	u32 *words = (u32 *)(void *)(fx.states + (scene_tsp_address(OBJECT) - FX_STATES));
	struct pumice_stage stage = fx.stage[damage == STAGE ? FX_END_OF_TILE : FX_PLAIN];
	struct pumice_tsp_state tsp;

	assert_int_equal(pumice_tsp_state_unpack(words, &tsp), PUMICE_UNPACK_OK);
	tsp.varyings += damage == VARYINGS;
	if (damage == NO_PROGRAM)
		memset(&stage, 0, sizeof(stage));
	if (damage == NO_PROGRAM_MEMORY)
		stage.pds_addr = UNMAPPED;
	if (damage == RESOURCES)
		stage.temps = 255;
	pumice_stage_pack(tsp.fragment, &stage);
	pumice_tsp_state_pack(words, &tsp);
	if (damage == RESERVED)
		words[11] = 1;
}

static const struct rect whole = { 0, 0, SIDE, SIDE, 0.5f, 7 };

/* Draw the whole tile with the invalid object. */
static void draw_invalid(const struct pumice_isp_state *isp, enum damage damage)
{
	scene_set_object(&fx, OBJECT, isp, FX_PLAIN, false);
	damage_state(damage);
	fx.tsp_at = damage == NO_MEMORY ? UNMAPPED : 0;
	draw(OBJECT, &whole);
	fx.tsp_at = 0;
}

static void begin_invalid(void)
{
	const struct pumice_isp_state isp = usual_isp();

	scene_begin_square(&fx, SIDE);
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
}

/* Ways in which an object is not visible in any pixel. */
enum hidden {
	COVERED, FARTHER, SCISSORED, MASKED, NO_TAG, NEVER, TRANSLUCENT, PUNCH_THROUGH, HIDDEN,
};

static struct pumice_isp_state hidden_isp(enum hidden hidden)
{
	struct pumice_isp_state isp = usual_isp();

	if (hidden == SCISSORED)
		isp.scissor_x0 = SIDE;
	if (hidden == MASKED)
		isp.sample_mask = 0;
	isp.no_tag = hidden == NO_TAG;
	if (hidden == NEVER)
		isp.depth_func = PUMICE_COMPARE_NEVER;
	if (hidden == TRANSLUCENT)
		isp.pass_type = PUMICE_PASS_TYPE_TRANSLUCENT;
	if (hidden == PUNCH_THROUGH)
		isp.pass_type = PUMICE_PASS_TYPE_PUNCH_THROUGH;
	return isp;
}

static void hidden_objects_may_have_any_tsp_state(void **state)
{
	struct rect front = whole;
	u32 damage, hidden, x, y;

	(void)state;
	front.z = 0.25f;
	front.value = 3;
	for (hidden = 0; hidden < HIDDEN; hidden++) {
		const struct pumice_isp_state isp = hidden_isp(hidden);
		const bool first = hidden == FARTHER || hidden == TRANSLUCENT ||
				   hidden == PUNCH_THROUGH;

		for (damage = 0; damage < DAMAGES; damage++) {
			begin_invalid();
			if (first)
				draw(0, &front);
			draw_invalid(&isp, damage);
			if (!first)
				draw(0, &front);
			run();
			assert_int_equal(fx.end, DM_DONE);
			assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_NONE);
			for (y = 0; y < SIDE; y++)
				for (x = 0; x < SIDE; x++)
					assert_float_equal(scene_colour(&fx, SIDE, x, y), 3, 0);
		}
	}
}

/* Of all pixels, only the one at the origin is visible. */
static void a_visible_pixel_makes_the_tsp_state_checked(void **state)
{
	const struct rect right = { 1, 0, SIDE, SIDE, 0.25f, 3 };
	const struct rect bottom = { 0, 1, 1, SIDE, 0.25f, 3 };
	const struct gpu_fault *fault = &pdm_status(fx.pdm)->fault;
	const struct pumice_isp_state isp = usual_isp();
	u32 damage;

	(void)state;
	for (damage = 0; damage < DAMAGES; damage++) {
		begin_invalid();
		draw_invalid(&isp, damage);
		draw(0, &right);
		draw(0, &bottom);
		run();
		assert_int_equal(fx.end, DM_FAULT);
		assert_int_equal(fault->fault, faults[damage].fault);
		assert_int_equal(fault->unit, faults[damage].unit);
		assert_int_equal(fault->ctx, FX_CTX);
		if (damage == NO_MEMORY || damage == NO_PROGRAM_MEMORY)
			assert_true(fault->addr == UNMAPPED);
		else if (faults[damage].unit == PUMICE_UNIT_TSP)
			assert_true(fault->addr == scene_tsp_address(OBJECT));
	}
}

/* Its ISP state is read when it is drawn, whether or not a pixel is visible. */
static void the_isp_state_of_a_hidden_object_is_checked(void **state)
{
	struct pumice_isp_state isp = usual_isp();
	struct rect front = whole;

	(void)state;
	front.z = 0.25f;
	isp.scissor_x1 = 8193;
	begin_invalid();
	draw(0, &front);
	scene_set_object(&fx, OBJECT, &isp, FX_PLAIN, false);
	draw(OBJECT, &whole);
	run();
	assert_int_equal(fx.end, DM_FAULT);
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_ISP_STATE);
	assert_true(pdm_status(fx.pdm)->fault.addr == scene_isp_address(OBJECT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_of_visible_objects_alone_are_read),
		cmocka_unit_test(hidden_objects_may_have_any_tsp_state),
		cmocka_unit_test(a_visible_pixel_makes_the_tsp_state_checked),
		cmocka_unit_test(the_isp_state_of_a_hidden_object_is_checked),
	};

	return cmocka_run_group_tests_name("pdm hidden", tests, open_fixture, close_fixture);
}
