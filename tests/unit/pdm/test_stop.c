// SPDX-License-Identifier: MIT
/*
 * Jobs that stop: invalid records of every field, corrupt parameter buffers, programs that
 * fault or never end, aborts in every phase. The job ends once, all pages are freed, and
 * the next job runs.
 */
#include <math.h>
#include <string.h>

#include "../../../qemu-device/gpu/pds/state.h"
#include "model.h"
#include "fixture.h"

#define DAMAGES	400u

static struct fixture fx;

static int open_fixture(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

/* ------------------------------------------------------------ a small scene */

static const struct scene_size size = { .width = 70, .height = 50, .samples = 1,
					.tile_size = PUMICE_TILE_SIZE_32X32 };

static struct pumice_isp_state good_isp(void)
{
	return (struct pumice_isp_state){
		.depth_func = PUMICE_COMPARE_LESS_EQUAL, .depth_write = true,
		.scissor_x1 = 8192, .scissor_y1 = 8192, .sample_mask = 15, .visibility = true,
		.visibility_id = 1,
	};
}

/* Two triangles over all of it. */
static void draw_both(u32 object, float z)
{
	const struct scene_prim prims[2] = {
		{ .triangle = { .x = { 0, 100 << 8, 0 }, .y = { 0, 0, 100 << 8 },
				.z = { z, z, z } }, .value = { 3, 0.5f } },
		{ .triangle = { .x = { 100 << 8, 100 << 8, 0 }, .y = { 0, 100 << 8, 100 << 8 },
				.z = { z, z, z } }, .value = { 4, 0.5f } },
	};

	scene_draw(&fx, object, prims, 2);
}

static void set_record(void)
{
	struct pumice_pdm_render *r = &fx.record;

	pumice_stage_pack(r->background, &fx.stage[FX_BACKGROUND]);
	r->depth_load = true;
	r->depth_store = true;
	r->stencil_load = true;
	r->stencil_store = true;
	r->depth_format = PUMICE_DEPTH_FORMAT_D32F;
	r->depth_addr = FX_DEPTH;
	r->depth_stride = size.width * 4;
	r->stencil_addr = FX_STENCIL;
	r->stencil_stride = size.width;
	r->mask_plane = true;
	r->mask_load = true;
	r->mask_store = true;
	r->mask_addr = FX_MASK;
	r->mask_stride = (size.width + 7) / 8;
	r->visibility_addr = FX_VISIBLE;
	r->visibility_count = 4;
	r->stats_addr = FX_STATS;
}

/* Three objects: opaque, blending, punch-through; the middle one with a given program. */
static void make_scene(enum fx_program middle)
{
	struct pumice_isp_state isp = good_isp();
	u32 i;

	for (i = 0; i < FX_BYTES / 4; i++)
		((float *)(void *)fx.depth)[i] = 1;
	scene_begin(&fx, &size);
	set_record();
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	isp.pass_type = PUMICE_PASS_TYPE_TRANSLUCENT;
	scene_set_object(&fx, 1, &isp, middle, false);
	isp.pass_type = PUMICE_PASS_TYPE_PUNCH_THROUGH;
	scene_set_object(&fx, 2, &isp, FX_PUNCH, false);
	draw_both(0, 0.9f);
	draw_both(1, 0.8f);
	draw_both(2, 0.7f);
	draw_both(1, 0.6f);
	scene_end(&fx, true);
}

static void check_end(void)
{
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
	assert_false(fx_scene(&fx).valid);
	if (fx.end == DM_DONE)
		assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_NONE);
}

static void run_good(void)
{
	make_scene(FX_BLEND);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	check_end();
}

/* Run the prepared job: it must end with this fault. */
static void expect(enum pumice_fault fault, enum pumice_unit unit)
{
	const struct gpu_fault *f = &pdm_status(fx.pdm)->fault;

	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_FAULT);
	assert_int_equal(f->fault, fault);
	assert_int_equal(f->unit, unit);
	check_end();
}

/* ------------------------------------------------------------ records */

static void every_bit_of_the_render_record(void **state)
{
	const u32 words = PUMICE_PDM_RENDER_WORDS;
	u32 bit;

	(void)state;
	for (bit = 0; bit < words * 32; bit++) {
		struct pumice_pdm_render back;
		u32 *record = (u32 *)(void *)fx.render;
		bool reserved;

		make_scene(FX_BLEND);
		fx_start(&fx, false);
		record[bit / 32] ^= 1u << bit % 32;
		reserved = pumice_pdm_render_unpack(record, &back) != PUMICE_UNPACK_OK;
		fx_run(&fx);
		check_end();
		assert_int_not_equal(fx.end, DM_ABORTED);
		if (reserved) {
			assert_int_equal(fx.end, DM_FAULT);
			assert_int_equal(pdm_status(fx.pdm)->fault.fault,
					 PUMICE_FAULT_PDM_RENDER);
			assert_int_equal(pdm_status(fx.pdm)->fault.addr, FX_RENDER);
		}
	}
	run_good();
}

static void fields_of_the_render_record(void **state)
{
	static const u32 depths[] = { 0x7fc00000, 0xbf800000, 0x3f800001, 0x7f800000 };
	u32 i;

	(void)state;
	for (i = 0; i < 15; i++) {
		make_scene(FX_BLEND);
		switch (i) {
		case 0:
			fx.record.outputs = 0;
			break;
		case 1:
			fx.record.outputs = 33;
			break;
		case 2:
			fx.record.depth_stride = size.width * 4 - 4;
			break;
		case 3:
			fx.record.depth_stride += 2;
			break;
		case 4:
			fx.record.stencil_stride = size.width - 1;
			break;
		case 5:
			fx.record.background[1] |= 1u << 31;
			break;
		case 6:
		case 14:
			fx.record.mask_load = i == 6;
			fx.record.mask_store = i == 14;
			fx.record.mask_stride = (size.width + 7) / 8 - 1;
			break;
		case 7:
		case 8:
		case 9:
			/* Each of these needs a mask plane. */
			fx.record.mask_plane = false;
			fx.record.mask_load = i == 7;
			fx.record.mask_store = i == 8;
			fx.record.clear_mask = i == 9;
			break;
		default:
			fx.record.clear_depth = pumice_f32_from_bits(depths[i - 10]);
			break;
		}
		expect(PUMICE_FAULT_PDM_RENDER, PUMICE_UNIT_ISP);
	}
	run_good();
}

/* Run a job whose render record is at an address. */
static void run_record_at(u64 addr)
{
	const struct dm_job job = { .ctx = FX_CTX, .stream = addr, .scene = FX_SCENE };

	make_scene(FX_BLEND);
	fx.ends = 0;
	fx.locked = true;
	assert_true(pdm_start(fx.pdm, &job));
	fx.locked = false;
	fx_run(&fx);
}

static void a_misaligned_record_faults(void **state)
{
	(void)state;
	run_record_at(FX_RENDER + 4);
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_PDM_RENDER);
	check_end();
}

static void missing_buffers_fault(void **state)
{
	u64 *const addr[] = { &fx.record.depth_addr, &fx.record.stencil_addr,
			      &fx.record.mask_addr, &fx.record.visibility_addr,
			      &fx.record.stats_addr };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(addr) / sizeof(*addr); i++) {
		make_scene(FX_BLEND);
		*addr[i] = 0xff00000000ull;
		expect(PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_ISP);
	}
	run_good();
}

#define SECRET	0x5ec2e75eu

/* The job follows an address of its own record into pages of the parameter management. */
static void expect_pm_owned(const u32 *page, enum pumice_access access, u64 addr)
{
	const struct gpu_fault *f = &pdm_status(fx.pdm)->fault;
	u32 n;

	expect(PUMICE_FAULT_MMU_PM_OWNED, PUMICE_UNIT_ISP);
	assert_int_equal(f->access, access);
	assert_int_equal(f->ctx, FX_CTX);
	assert_int_equal(f->addr & ~4095ull, addr);
	for (n = 0; n < 1024; n++)
		assert_int_equal(page[n], SECRET);
}

static void user_addresses_reach_no_page_of_the_parameter_management(void **state)
{
	/* The last page: no job uses that one. Order of tiles is free: one state for all. */
	const u64 addr = FX_PB + (FX_PAGES - 1) * (u64)PUMICE_PM_PAGE_SIZE;
	u32 *page = (u32 *)(void *)(fx.pb + (addr - FX_PB));
	struct pumice_pdm_render *r = &fx.record;
	struct pumice_scene scene;
	u32 n;

	(void)state;
	for (n = 0; n < 1024; n++)
		page[n] = SECRET;
	for (n = 0; n < 8; n++) {
		make_scene(FX_BLEND);
		r->depth_load = n == 0;
		r->depth_store = n == 1;
		r->stencil_load = n == 2;
		r->stencil_store = n == 3;
		r->mask_load = n == 4;
		r->mask_store = n == 5;
		r->depth_stride = size.width * 4;
		if (n < 2)
			r->depth_addr = addr;
		else if (n < 4)
			r->stencil_addr = addr;
		else if (n < 6)
			r->mask_addr = addr;
		else if (n == 6)
			r->visibility_addr = addr;
		else
			r->stats_addr = addr;
		expect_pm_owned(page, n < 6 && n % 2 == 0 ? PUMICE_ACCESS_READ :
							    PUMICE_ACCESS_WRITE, addr);
	}
	/*
	 * Memory for partial renders is the user's, too: to write, and to read again. That of each
	 * tile is in pages that no job uses.
	 */
	for (n = 0; n < 2; n++) {
		make_scene(FX_BLEND);
		if (n == 1) {
			fx_start(&fx, true);
			fx_run(&fx);
			assert_int_equal(fx.end, DM_DONE);
			scene_again(&fx);
			scene_end(&fx, true);
		}
		pumice_scene_unpack((u32 *)(void *)fx.scene_mem, &scene);
		scene.spill = addr - 31 * (u64)PUMICE_PM_PAGE_SIZE;
		pumice_scene_pack((u32 *)(void *)fx.scene_mem, &scene);
		fx_start(&fx, n == 0);
		fx_run(&fx);
		assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_MMU_PM_OWNED);
		assert_int_equal(pdm_status(fx.pdm)->fault.unit, PUMICE_UNIT_ISP);
		assert_int_equal(pdm_status(fx.pdm)->fault.access,
				 n == 0 ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ);
	}
	for (n = 0; n < 1024; n++)
		assert_int_equal(page[n], SECRET);
	run_good();
}

static void user_states_are_not_read_from_pages_of_the_parameter_management(void **state)
{
	const u64 addr = FX_PB + (FX_PAGES - 1) * (u64)PUMICE_PM_PAGE_SIZE;
	u32 i;

	(void)state;
	run_record_at(addr);
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_MMU_PM_OWNED);
	assert_int_equal(pdm_status(fx.pdm)->fault.unit, PUMICE_UNIT_ISP);
	assert_int_equal(pdm_status(fx.pdm)->fault.addr, addr);
	check_end();
	for (i = 0; i < 2; i++) {
		fx.isp_at = i ? 0 : addr;
		fx.tsp_at = i ? addr : 0;
		make_scene(FX_BLEND);
		expect(PUMICE_FAULT_MMU_PM_OWNED, i ? PUMICE_UNIT_TSP : PUMICE_UNIT_ISP);
		assert_int_equal(pdm_status(fx.pdm)->fault.addr, addr);
	}
	fx.isp_at = 0;
	fx.tsp_at = 0;
	run_good();
}

static void states_of_objects_are_checked(void **state)
{
	struct pumice_isp_state isp = good_isp();
	u32 *tsp, i;

	(void)state;
	make_scene(FX_BLEND);
	isp.scissor_x1 = 8193;
	scene_set_object(&fx, 1, &isp, FX_BLEND, false);
	expect(PUMICE_FAULT_ISP_STATE, PUMICE_UNIT_ISP);

	make_scene(FX_BLEND);
	isp = good_isp();
	isp.visibility_id = 4;
	scene_set_object(&fx, 1, &isp, FX_BLEND, false);
	expect(PUMICE_FAULT_ISP_STATE, PUMICE_UNIT_ISP);

	/* The mask plane: a test that does not exist, and a record without one. */
	for (i = 0; i < 3; i++) {
		make_scene(FX_BLEND);
		isp = good_isp();
		isp.mask_test = i == 0 ? PUMICE_MASK_TEST_COUNT : i == 1 ? PUMICE_MASK_TEST_SET : 0;
		isp.mask_op = i == 2 ? PUMICE_MASK_OP_SET : 0;
		scene_set_object(&fx, 1, &isp, FX_BLEND, false);
		if (i)
			fx.record.mask_plane = fx.record.mask_load = fx.record.mask_store = false;
		expect(PUMICE_FAULT_ISP_STATE, PUMICE_UNIT_ISP);
		assert_int_equal(pdm_status(fx.pdm)->fault.addr, scene_isp_address(1));
	}

	/* Varyings that do not match the block's. */
	make_scene(FX_BLEND);
	tsp = (u32 *)(void *)(fx.states + (scene_tsp_address(2) - FX_STATES));
	tsp[4] = SCENE_VARYINGS + 1;
	expect(PUMICE_FAULT_TSP_STATE, PUMICE_UNIT_TSP);

	/* An object without a program. */
	make_scene(FX_BLEND);
	memset(tsp, 0, 16);
	expect(PUMICE_FAULT_TSP_STATE, PUMICE_UNIT_TSP);
	run_good();
}

/* ------------------------------------------------------------ scenes */

static void a_scene_must_be_finished(void **state)
{
	struct pm_scene_state s;
	struct gpu_fault fault;

	(void)state;
	make_scene(FX_BLEND);
	assert_true(pm_scene_state_read(fx.pm, &fx.scene, &s, &fault));
	s.valid = false;
	assert_true(pm_scene_state_write(fx.pm, &fx.scene, &s, &fault));
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_FAULT);
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_PM_NO_SCENE);
	/* The pages are owned by the job that writes the scene. */
	assert_true(fx_free_pages(&fx) < FX_PAGES);
	run_good();
}

/* A partial render with this much memory, at an address or 0, in units of 256 bytes. */
static void render_in(bool mask, u64 spill, u32 units)
{
	u32 *words = (u32 *)(void *)fx.scene_mem;
	struct pumice_scene scene;

	make_scene(FX_BLEND);
	if (!mask)
		fx.record.mask_plane = fx.record.mask_load = fx.record.mask_store = false;
	pumice_scene_unpack(words, &scene);
	scene.spill = spill;
	scene.spill_bytes = units;
	pumice_scene_pack(words, &scene);
	fx_start(&fx, true);
	fx_run(&fx);
}

/* Six tiles of 1024 pixels: 9 bytes each, and a mask bit if there is a mask plane. */
static void a_partial_render_needs_memory(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++) {
		const bool mask = i % 2;
		const u32 units = 6 * (mask ? 37 : 36);

		render_in(mask, i < 2 ? FX_SPILL : 0, units - (i < 2));
		assert_int_equal(fx.end, DM_FAULT);
		assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_PM_MEMORY);
		check_end();
		render_in(mask, FX_SPILL, units);
		assert_int_equal(fx.end, DM_DONE);
	}
}

/* The depth expected for the contents of the spill memory. */
static u32 expected_d24(float z)
{
	return z >= 1 ? 0xffffff : z > 0 ? (u32)((double)z * 0xffffff + 0.5) : 0;
}

/* Spilled tiles are stored in user memory, which the user may overwrite. */
static void spilled_depth_may_have_any_value(void **state)
{
	static const float any[] = { NAN, -NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 2, 1.0000001f,
				     -1, 256, 0.25f, 1, 0, -0.0f };
	const u32 count = sizeof(any) / sizeof(*any);
	/* Output, depth, stencil and mask of its pixels, rounded up to 256 bytes. */
	const u32 tile = 1024 * 9 + 256;
	u32 i, n, x, y;

	(void)state;
	for (i = 0; i < count; i++) {
		make_scene(FX_BLEND);
		fx_start(&fx, true);
		fx_run(&fx);
		assert_int_equal(fx.end, DM_DONE);
		for (n = 0; n < 6; n++) {
			for (x = 0; x < 1024; x++)
				memcpy(fx.spill + n * tile + 1024 * 4 + x * 4, &any[i], 4);
			memset(fx.spill + n * tile + 1024 * 8, 0x5a, 1024);
		}
		scene_again(&fx);
		scene_end(&fx, true);
		fx.record.depth_format = PUMICE_DEPTH_FORMAT_D24_S8;
		fx_start(&fx, false);
		fx_run(&fx);
		assert_int_equal(fx.end, DM_DONE);
		for (y = 0; y < size.height; y++) {
			for (x = 0; x < size.width; x++) {
				u32 word;

				memcpy(&word, fx.depth + (y * size.width + x) * 4, 4);
				assert_int_equal(word, 0x5a000000 | expected_d24(any[i]));
			}
		}
	}
}

/* Any word of streams, blocks, region headers or states may have any value. */
static void corrupt_memory_ends_the_job(void **state)
{
	u32 i, faults = 0;

	(void)state;
	for (i = 0; i < DAMAGES; i++) {
		u32 used, at, n;

		make_scene(FX_BLEND);
		used = FX_PAGES - fx_free_pages(&fx);
		for (n = 0; n < 1 + i % 4; n++) {
			u8 *area = i % 3 == 0 ? fx.regions : i % 3 == 1 ? fx.pb : fx.states;
			const u32 bytes = i % 3 == 0 ? 2 * 6 * 8 :
					  i % 3 == 1 ? used * PUMICE_PM_PAGE_SIZE : 6 * 64;
			u32 *words = (u32 *)(void *)area;

			at = model_below(bytes / 4);
			/* Most of a page is empty: prefer words in use. */
			while (i % 3 == 1 && !words[at] && model_below(50))
				at = model_below(bytes / 4);
			words[at] = model_below(2) ? (u32)model_random() :
						     words[at] ^ 1u << model_below(32);
		}
		fx_start(&fx, false);
		fx_run(&fx);
		faults += fx.end == DM_FAULT;
		check_end();
	}
	assert_true(faults > DAMAGES / 4);
	run_good();
}

/* A stream whose chunk follows itself. */
static void a_stream_without_end_faults(void **state)
{
	struct pumice_region region;
	struct pumice_tile_chunk chunk;
	u32 *words, i;

	(void)state;
	make_scene(FX_BLEND);
	pumice_region_unpack((const u32 *)(const void *)fx.regions, &region);
	words = (u32 *)(void *)(fx.pb + (pm_address(&fx.scene, region.stream) - FX_PB));
	pumice_tile_chunk_unpack(words, &chunk);
	for (i = 1; i < 7; i++)
		chunk.entries[i] = chunk.entries[0];
	chunk.next = region.stream;
	pumice_tile_chunk_pack(words, &chunk);
	expect(PUMICE_FAULT_IPF_STREAM, PUMICE_UNIT_IPF);
	run_good();
}

/* ------------------------------------------------------------ programs */

static void a_program_that_faults_stops_the_job(void **state)
{
	(void)state;
	make_scene(FX_BAD_STORE);
	expect(PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_USC_DATA);
	run_good();
}

static void abort_now(void)
{
	fx.locked = true;
	pdm_abort(fx.pdm);
	fx.locked = false;
}

static void a_program_without_end_is_aborted(void **state)
{
	u32 i;

	(void)state;
	make_scene(FX_LOOP);
	fx_start(&fx, false);
	for (i = 0; i < 3000; i++)
		assert_true(fx_step(&fx));
	assert_int_equal(fx.ends, 0);
	abort_now();
	fx_run(&fx);
	assert_int_equal(fx.end, DM_ABORTED);
	check_end();
	run_good();
}

static void aborts_at_every_step(void **state)
{
	u32 steps, i, aborted = 0;
	bool over = false;

	(void)state;
	for (steps = 0; !over; steps++) {
		make_scene(FX_BLEND);
		fx_start(&fx, steps % 3 == 2);
		for (i = 0; i < steps && !fx.ends; i++)
			assert_true(fx_step(&fx));
		over = fx.ends;
		if (!over) {
			abort_now();
			abort_now();
			fx_run(&fx);
			aborted += fx.end == DM_ABORTED;
		}
		check_end();
	}
	assert_true(aborted > 4);
	/* Idle: ignored. */
	fx.ends = 0;
	abort_now();
	assert_int_equal(fx.ends, 0);
	run_good();
}

/* Return the tasks that USCs manage: also those without slots. */
static u32 tasks(void)
{
	u32 tasks = 0, i;

	for (i = 0; i < fx.pds->config.uscs; i++)
		tasks += fx.pds->unit[i].accounts.managed;
	return tasks;
}

/* Also a task that has its room and some registers: it never runs, and all is freed. */
static void an_abort_drops_a_task_that_is_half_filled(void **state)
{
	u32 steps, i, aborted = 0;
	bool over = false;

	(void)state;
	for (steps = 0; !over; steps++) {
		make_scene(FX_READS);
		fx_start(&fx, false);
		for (i = 0; i < steps && !fx.ends; i++)
			assert_true(fx_step(&fx));
		over = fx.ends;
		if (!over) {
			abort_now();
			fx_run(&fx);
			aborted += fx.end == DM_ABORTED;
		}
		check_end();
		assert_int_equal(tasks(), 0);
	}
	assert_int_equal(fx.end, DM_DONE);
	assert_true(aborted > 20);
	run_good();
}

static void a_reset_drops_the_job(void **state)
{
	u32 steps, i;

	(void)state;
	for (steps = 0; steps < 12; steps++) {
		make_scene(FX_BLEND);
		fx_start(&fx, false);
		for (i = 0; i < steps && !fx.ends; i++)
			fx_step(&fx);
		fx_reset(&fx);
		run_good();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bit_of_the_render_record),
		cmocka_unit_test(fields_of_the_render_record),
		cmocka_unit_test(a_misaligned_record_faults),
		cmocka_unit_test(missing_buffers_fault),
		cmocka_unit_test(user_addresses_reach_no_page_of_the_parameter_management),
		cmocka_unit_test(user_states_are_not_read_from_pages_of_the_parameter_management),
		cmocka_unit_test(states_of_objects_are_checked),
		cmocka_unit_test(a_scene_must_be_finished),
		cmocka_unit_test(a_partial_render_needs_memory),
		cmocka_unit_test(spilled_depth_may_have_any_value),
		cmocka_unit_test(corrupt_memory_ends_the_job),
		cmocka_unit_test(a_stream_without_end_faults),
		cmocka_unit_test(a_program_that_faults_stops_the_job),
		cmocka_unit_test(a_program_without_end_is_aborted),
		cmocka_unit_test(aborts_at_every_step),
		cmocka_unit_test(an_abort_drops_a_task_that_is_half_filled),
		cmocka_unit_test(a_reset_drops_the_job),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
