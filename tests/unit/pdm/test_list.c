// SPDX-License-Identifier: MIT
/*
 * The render control list, in addition to the random ones of test_scene.c: store programs,
 * where the list may be in memory, and lists that are refused.
 */
#include <string.h>

#include "../../../qemu-device/gpu/pdm/state.h"
#include "../../../qemu-device/gpu/usc/program.h"
#include "fixture.h"
#include "perf.h"
#include "pumice_isa.h"

#define SIZE	FX_MAX_SIZE
#define TILES	(SIZE / 16u)	/* in a row */
#define PLANE	(SIZE * SIZE * 4u)
#define PLANES	12u
#define UNTOUCHED	0xeeeeeeeeu
#define STATES	(FX_CODE + FX_BYTES / 2)	/* PBE state and PDS program of each plane */

static struct fixture fx;

/* ------------------------------------------------------------ a scene */

#define COUNTER	2u	/* of visibility, of COUNTERS */
#define COUNTERS	4u

/* One triangle that covers the target: its colour is 3; the background's is 0. */
static void make_scene(void)
{
	static const struct scene_size size = { .width = SIZE, .height = SIZE, .samples = 1,
						.tile_size = PUMICE_TILE_SIZE_16X16 };
	const struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_ALWAYS, .scissor_x1 = 8192, .scissor_y1 = 8192,
		.sample_mask = 15, .visibility = true, .visibility_id = COUNTER,
	};
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 400 << 8, 0 }, .y = { 0, 0, 400 << 8 },
			      .z = { 0.5f, 0.5f, 0.5f } },
		.value = { 3, 0 },
	};

	memset(fx.colour, 0xee, FX_BYTES);
	memset(fx.control, 0, FX_BYTES);
	memset(fx.visible, 0, COUNTERS * sizeof(u64));
	scene_begin(&fx, &size);
	fx.record.visibility_addr = FX_VISIBLE;
	fx.record.visibility_count = COUNTERS;
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	scene_draw(&fx, 0, &prim, 1);
	scene_end(&fx, true);
}

static u32 texel(u32 plane, u32 x, u32 y)
{
	u32 word;

	memcpy(&word, fx.colour + plane * PLANE + (y * SIZE + x) * 4, 4);
	return word;
}

static u32 bits(float f)
{
	u32 word;

	memcpy(&word, &f, 4);
	return word;
}

/* All pixels of a tile have a value. */
static void expect_tile(u32 plane, u32 tile_x, u32 tile_y, u32 value)
{
	u32 x, y;

	for (y = 0; y < 16; y++)
		for (x = 0; x < 16; x++)
			assert_int_equal(texel(plane, tile_x * 16 + x, tile_y * 16 + y), value);
}

static void run_job(void)
{
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
	assert_false(fx_scene(&fx).valid);
}

static void run_good(void)
{
	u32 i;

	make_scene();
	control_begin(&fx, FX_CONTROL);
	for (i = 0; i < TILES * TILES; i++) {
		control_tile(&fx, i % TILES, i / TILES);
		control_branch(&fx);
		control_store(&fx, i + 1 == TILES * TILES);
	}
	run_job();
	assert_int_equal(fx.end, DM_DONE);
	for (i = 0; i < TILES * TILES; i++)
		expect_tile(0, i % TILES, i / TILES, bits(3));
}

/* ------------------------------------------------------------ store programs */

/* The end-of-tile program with another target, and its state in other registers. */
static struct pumice_stage store_to(u32 plane)
{
	const struct pumice_pbe_state pbe = {
		.addr = FX_COLOUR + plane * PLANE, .format = PUMICE_FORMAT_R32_FLOAT,
		.layout = PUMICE_LAYOUT_LINEAR, .width = SIZE - 1, .height = SIZE - 1,
		.write_mask = 1, .samples = true,
	};
	const struct pumice_usc_operand first = { .bank = PUMICE_USC_BANK_SH,
						  .num = (u16)(plane * PUMICE_PBE_STATE_WORDS) };
	const u64 at = STATES + plane * 0x400;
	struct pumice_stage stage = fx.stage[FX_END_OF_TILE];
	u32 *words = (u32 *)(void *)(fx.code + (at - FX_CODE)), *program = words + 16;
	u32 *code = words + 128;
	struct pumice_pds_insn dma, task;
	struct pumice_usc_insn insn;

	pumice_pbe_state_pack(words, &pbe);
	memcpy(program, fx.code + (stage.pds_addr - FX_CODE), stage.pds_insns * 16u);
	pumice_pds_unpack(program, &dma);
	assert_int_equal(dma.opcode, PUMICE_PDS_OP_DMA);
	dma.addr = at;
	dma.reg = first.num;
	pumice_pds_pack(program, &dma);
	pumice_pds_unpack(program + 4, &task);
	assert_int_equal(task.opcode, PUMICE_PDS_OP_TASK);
	memcpy(code, fx.code + (task.addr - FX_CODE), task.insns * 16u);
	pumice_usc_unpack(code, &insn);
	assert_int_equal(insn.opcode, PUMICE_USC_OP_PBE);
	pumice_usc_operand_pack(&insn.src0, &first);
	pumice_usc_pack(code, &insn);
	task.addr = at + 128 * 4;
	pumice_pds_pack(program + 4, &task);
	stage.pds_addr = at + 64;
	stage.shared = (u16)(first.num + PUMICE_PBE_STATE_WORDS);
	return stage;
}

/* Plane of a tile; PLANES: it is not stored. Plane 0 is that of the record. */
static u32 plane_of(u32 tile)
{
	return tile * 7 % (PLANES + 1);
}

/* The first tiles have no primitives: their programs are loaded before any object. */
#define BARE	(2 * TILES)

static bool is_bare(u32 tile)
{
	return tile < BARE;
}

static u32 flush_every;	/* tiles of these lists; or 0 */

static void make_planes(void)
{
	struct pumice_stage stage;
	u32 i, plane;

	make_scene();
	control_begin(&fx, FX_CONTROL);
	for (i = 0; i < TILES * TILES; i++) {
		plane = plane_of(i);
		if (flush_every && i % flush_every == 0)
			control_word(&fx, PUMICE_PDM_TYPE_FLUSH);
		control_tile(&fx, i % TILES, i / TILES);
		if (!is_bare(i))
			control_branch(&fx);
		if (plane && plane < PLANES)
			stage = store_to(plane);
		if (!plane)
			control_store(&fx, false);
		else
			control_store_program(&fx, plane < PLANES ? &stage : NULL, false);
	}
	control_end(&fx);
}

/* The triangle's pixels are counted once, also of tiles that are not stored. */
static void expect_visible(u32 tiles)
{
	const u64 *visible = (const u64 *)(const void *)fx.visible;
	u32 i;

	for (i = 0; i < COUNTERS; i++)
		assert_int_equal(visible[i], i == COUNTER ? tiles * 16 * 16 : 0);
}

static void expect_planes(void)
{
	u32 plane, i;

	expect_visible(TILES * TILES - BARE);

	for (plane = 0; plane < PLANES; plane++)
		for (i = 0; i < TILES * TILES; i++)
			expect_tile(plane, i % TILES, i / TILES,
				    plane != plane_of(i) ? UNTOUCHED :
				    is_bare(i) ? 0 : bits(3));
}

static void tiles_are_stored_by_their_own_programs(void **state)
{
	u32 cores;

	(void)state;
	for (cores = 1; cores <= 4; cores++) {
		fx_open(&fx, cores);
		make_planes();
		run_job();
		assert_int_equal(fx.end, DM_DONE);
		expect_planes();
		run_good();
		fx_close(&fx);
	}
}

static u64 counter(enum pumice_perf_counter number)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	pdm_counters_add(fx.pdm, value);
	return value[number];
}

/*
 * The FIFOs of the cores are full at times, if they have room for fewer tiles than there are; then
 * the walk waits.
 */
static void any_fifo_of_tiles_is_sufficient(void **state)
{
	static const u32 depths[] = { 1, 2, 5, TILES * TILES - 1, 64 };
	u32 cores, i;

	(void)state;
	for (cores = 1; cores <= 4; cores += 3) {
		for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
			fx_open_fifo(&fx, cores, depths[i]);
			make_planes();
			run_job();
			assert_int_equal(fx.end, DM_DONE);
			expect_planes();
			assert_int_equal(counter(PUMICE_PERF_PDM_FIFO_WAITS) > 0,
					 depths[i] * cores < TILES * TILES);
			assert_true(counter(PUMICE_PERF_PDM_FIFO_OCCUPANCY) > 0);
			pdm_reset(fx.pdm);
			assert_int_equal(counter(PUMICE_PERF_PDM_FIFO_WAITS), 0);
			fx_close(&fx);
		}
	}
}

/* Tiles in the FIFOs of all cores times ns. The clock advances between steps only. */
static void occupancy_is_the_sum_of_tiles_over_time(void **state)
{
	u32 cores, i;

	(void)state;
	for (cores = 1; cores <= 4; cores++) {
		u64 expected = 0;

		fx_open_fifo(&fx, cores, 5);
		fx.tick = 0;
		make_planes();
		fx_start(&fx, false);
		do {
			const u32 ns = 1 + fx.clock % 997;

			fx.clock += ns;
			for (i = 0; i < cores; i++)
				expected += (u64)ns *
					    ipf_master_tiles(&fx.pdm->list.master, i);
			assert_true(fx_step(&fx));
		} while (!fx.ends);
		assert_int_equal(fx.end, DM_DONE);
		assert_true(expected > 0);
		assert_int_equal(counter(PUMICE_PERF_PDM_FIFO_OCCUPANCY), expected);
		fx_close(&fx);
	}
}

/*
 * Waits of the only core: the walk adds tiles until the FIFO is full, and the next one, if there is
 * one, waits until a quarter is in use.
 */
static u32 waits_of(u32 tiles, u32 depth)
{
	u32 level = 0, waits = 0;

	while (tiles > depth - level) {
		tiles -= depth - level;
		waits++;
		level = depth / 4;
	}
	return waits;
}

enum ending { STORE_AND_END, END_COMMAND, NO_LIST, ENDINGS };

/* However the list ends, the last tile is followed by none that waits. */
static void waits_are_those_of_tiles_that_follow(void **state)
{
	static const u32 counts[] = { 1, 8, 9, 15, 16, 17, 35, TILES * TILES };
	static const u32 depths[] = { 1, 2, 5, 8, 16, TILES * TILES };
	u32 i, n, tile, ending;
	u64 before;

	(void)state;
	for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		fx_open_fifo(&fx, 1, depths[i]);
		for (ending = 0; ending < ENDINGS; ending++)
			for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
				const u32 tiles = ending == NO_LIST ? TILES * TILES : counts[n];

				make_scene();
				if (ending != NO_LIST)
					control_begin(&fx, FX_CONTROL);
				for (tile = 0; ending != NO_LIST && tile < tiles; tile++) {
					control_tile(&fx, tile % TILES, tile / TILES);
					control_store(&fx, ending == STORE_AND_END &&
							   tile + 1 == tiles);
				}
				if (ending == END_COMMAND)
					control_end(&fx);
				before = counter(PUMICE_PERF_PDM_FIFO_WAITS);
				run_job();
				assert_int_equal(fx.end, DM_DONE);
				assert_int_equal(counter(PUMICE_PERF_PDM_FIFO_WAITS) - before,
						 waits_of(tiles, depths[i]));
			}
		fx_close(&fx);
	}
}

static u64 cache_now(void *opaque)
{
	(void)opaque;
	return 0;	/* no time-out */
}

static void cache_wait(void *opaque, u64 deadline)
{
	(void)opaque;
	(void)deadline;
}

static void cache_room(void *opaque)
{
	u32 i;

	(void)opaque;
	for (i = 0; i < fx.cores; i++)
		fx.awake_core[i] = true;
}

/*
 * Memory for the record's program and one other: a tile must release its objects for its store
 * program, and that for objects. Tiles that are done release theirs while a flush waits for one
 * that has none.
 */
static void store_programs_share_memory_for_one_program(void **state)
{
	static const struct usc_cache_ops ops = {
		.now = cache_now, .wait = cache_wait, .room = cache_room,
	};
	/* All have two instructions. */
	const u64 room = 2 * usc_predecode_bytes(2);
	bool short_of = false;
	u32 round;

	(void)state;
	for (round = 0; round < 8; round++) {
		flush_every = round < 4 ? 0 : 5;
		fx_open(&fx, 1 + round % 4);
		usc_program_cache_set_ops(fx.programs, &ops, NULL);
		assert_int_equal(usc_cache_reserve(fx.programs, USC_STAGE_FRAGMENT,
						   USC_CACHE_PDM_BYTES - room, &short_of),
				 USC_LOAD_DONE);
		make_planes();
		run_job();
		assert_int_equal(fx.end, DM_DONE);
		expect_planes();
		fx_close(&fx);
	}
	flush_every = 0;
}

/* A tile without primitives that has a store program, in a job without any other program. */
static void make_stored_tile(void)
{
	make_scene();
	memset(fx.record.end_of_tile, 0, sizeof(fx.record.end_of_tile));
	control_begin(&fx, FX_CONTROL);
	control_tile(&fx, 0, 0);
	control_store_program(&fx, &fx.stage[FX_END_OF_TILE], true);
}

static void a_wait_for_a_store_program_is_counted(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	fx_check_memory_wait(&fx, USC_STAGE_TILE, USC_CACHE_PDM_BYTES, make_stored_tile);
	fx_close(&fx);
}

static void a_store_program_that_is_refused_stops_the_job(void **state)
{
	struct pumice_stage stage;
	u32 i;

	(void)state;
	fx_open(&fx, 2);
	for (i = 0; i < 3; i++) {
		make_scene();
		stage = store_to(1);
		if (!i)
			stage.pds_addr = 0xff00000000ull;
		else if (i == 1)
			stage.temps = 255;
		else
			stage = fx.stage[FX_PLAIN];	/* of another stage */
		control_begin(&fx, FX_CONTROL);
		control_tile(&fx, 2, 3);
		control_store_program(&fx, &stage, true);
		run_job();
		assert_int_equal(fx.end, DM_FAULT);
		run_good();
	}
	fx_close(&fx);
}

/* ------------------------------------------------------------ memory */

/* A list may end at the end of mapped memory: no page without a command is read. */
static void the_page_after_the_list_is_not_read(void **state)
{
	const u64 end = FX_CONTROL + FX_BYTES;
	u32 calls, i;

	(void)state;
	fx_open(&fx, 1);
	for (calls = 0; calls < 30; calls++) {
		make_scene();
		control_begin(&fx, FX_CONTROL);
		control_link(&fx, end - 16 - calls * 12);
		fx.control_at = end - 16 - calls * 12;
		for (i = 0; i < calls; i++)
			control_call(&fx, FX_CONTROL + 64);
		control_tile(&fx, 1, 2);
		control_branch(&fx);
		control_store(&fx, false);
		control_end(&fx);
		fx.control_at = FX_CONTROL + 64;
		control_return(&fx);
		run_job();
		assert_int_equal(fx.end, DM_DONE);
		expect_tile(0, 1, 2, bits(3));
		expect_tile(0, 2, 2, UNTOUCHED);
	}
	fx_close(&fx);
}

/* Words of a command are read across blocks of the prefetch and pages. */
static void commands_cross_pages(void **state)
{
	u32 offset;

	(void)state;
	fx_open(&fx, 2);
	for (offset = 0; offset < 6; offset++) {
		struct pumice_stage stage;

		make_scene();
		stage = store_to(3);
		control_begin(&fx, FX_CONTROL);
		control_link(&fx, FX_CONTROL + 0x1000 - offset * 4);
		fx.control_at = FX_CONTROL + 0x1000 - offset * 4;
		control_tile(&fx, 5, 5);
		control_store_program(&fx, &stage, true);
		run_job();
		assert_int_equal(fx.end, DM_DONE);
		expect_tile(3, 5, 5, 0);
	}
	fx_close(&fx);
}

/* ------------------------------------------------------------ flushes */

#define FLUSH_EVERY	7u	/* tiles */

static u32 flushes;

/* All tiles before the flush are stored, none after it is begun. */
static void flushed(void *opaque, const struct mmu_cache_op *op)
{
	(void)opaque;
	flushes++;
	assert_int_equal(pdm_status(fx.pdm)->done, flushes * FLUSH_EVERY);
	assert_int_equal(op->kind, MMU_CACHE_INVALIDATE);
	assert_int_equal(op->scope, PUMICE_MEM_SCOPE_CORE);
	assert_int_equal(op->usc, MMU_ALL_USCS);
	assert_int_equal(op->ctx, FX_CTX);
}

static void put_flush(void)
{
	u32 word;

	pumice_pdm_flush_pack(&word, &(struct pumice_pdm_flush){
		.scope = PUMICE_MEM_SCOPE_CORE, .invalidate = true });
	control_word(&fx, word);
}

static void flushes_wait_for_the_tiles_before_them(void **state)
{
	u32 cores, i;

	(void)state;
	for (cores = 1; cores <= 4; cores++) {
		fx_open(&fx, cores);
		mmu_set_cache_op(&fx.mmu, flushed, NULL);
		flushes = 0;
		make_scene();
		control_begin(&fx, FX_CONTROL);
		for (i = 0; i < TILES * TILES; i++) {
			if (i && i % FLUSH_EVERY == 0)
				put_flush();
			control_tile(&fx, i % TILES, i / TILES);
			control_branch(&fx);
			control_store(&fx, i + 1 == TILES * TILES);
		}
		run_job();
		assert_int_equal(fx.end, DM_DONE);
		assert_int_equal(flushes, (TILES * TILES - 1) / FLUSH_EVERY);
		for (i = 0; i < TILES * TILES; i++)
			expect_tile(0, i % TILES, i / TILES, bits(3));
		fx_close(&fx);
	}
}

/* The GPU is to be parked from now on. */
static void flush_and_stop(void *opaque, const struct mmu_cache_op *op)
{
	_Atomic bool *stop = opaque;

	(void)op;
	flushes++;
	*stop = true;
}

/* An operation may take as long as all lines of the caches: steps stop between two of them. */
static void a_flush_ends_a_piece_of_the_list(void **state)
{
	_Atomic bool stop;
	u32 before, i;

	(void)state;
	fx_open(&fx, 1);
	mmu_set_cache_op(&fx.mmu, flush_and_stop, &stop);
	flushes = 0;
	make_scene();
	control_begin(&fx, FX_CONTROL);
	for (i = 0; i < 8; i++)
		put_flush();
	for (i = 0; i < TILES * TILES; i++) {
		control_tile(&fx, i % TILES, i / TILES);
		control_branch(&fx);
		control_store(&fx, i + 1 == TILES * TILES);
	}
	fx_start(&fx, false);
	for (i = 0; i < 1000 && flushes < 8; i++) {
		before = flushes;
		stop = false;
		pdm_core_step(fx.pdm, 0, &stop);
		assert_true(flushes - before <= 1);
	}
	assert_int_equal(flushes, 8);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	assert_int_equal(flushes, 8);
	fx_close(&fx);
}

/* ------------------------------------------------------------ lists that are refused */

/* Run the list: it must fault at the command at an offset. */
static void expect_fault(enum pumice_fault why, u64 offset)
{
	const struct gpu_fault *f = &pdm_status(fx.pdm)->fault;

	run_job();
	assert_int_equal(fx.end, DM_FAULT);
	assert_int_equal(f->fault, why);
	assert_int_equal(f->unit, PUMICE_UNIT_PDM);
	assert_int_equal(f->ctx, FX_CTX);
	assert_int_equal(f->addr, FX_CONTROL + offset);
	run_good();
}

#define BEGIN	(PUMICE_PDM_MODE_WORDS * 4u)

static void new_list(void)
{
	make_scene();
	control_begin(&fx, FX_CONTROL);
}

static void unknown_commands_and_reserved_bits(void **state)
{
	u32 type, bit;

	(void)state;
	fx_open(&fx, 2);
	for (type = 0; type < 16; type++) {
		if (pumice_pdm_cmd_words(type))
			continue;
		new_list();
		control_word(&fx, type);
		expect_fault(PUMICE_FAULT_PDM_COMMAND, BEGIN);
	}
	for (bit = 4; bit < 32; bit++) {
		new_list();
		control_word(&fx, PUMICE_PDM_TYPE_BRANCH | 1u << bit);
		expect_fault(PUMICE_FAULT_PDM_RESERVED, BEGIN);
		new_list();
		control_word(&fx, PUMICE_PDM_TYPE_MODE | 1u << bit);
		expect_fault(PUMICE_FAULT_PDM_RESERVED, BEGIN);
		make_scene();
		fx.job_stream = fx.control_at = FX_CONTROL;
		control_word(&fx, PUMICE_PDM_TYPE_MODE | 1u << bit);
		expect_fault(PUMICE_FAULT_PDM_RESERVED, 0);
	}
	new_list();
	control_tile(&fx, 0, 0);
	control_word(&fx, PUMICE_PDM_TYPE_STORE_PROGRAM);
	control_word(&fx, 1);	/* a reserved bit of the stage */
	expect_fault(PUMICE_FAULT_PDM_RESERVED, BEGIN + 4);
	fx_close(&fx);
}

/* Scopes beyond the last one, reserved bits, and a tile that is not stored. */
static void bad_flushes(void **state)
{
	u32 bit;

	(void)state;
	fx_open(&fx, 2);
	for (bit = 8; bit < 32; bit = bit == 8 ? 11 : bit + 1) {
		new_list();
		control_word(&fx, PUMICE_PDM_TYPE_FLUSH | 1u << bit);
		expect_fault(PUMICE_FAULT_PDM_RESERVED, BEGIN);
	}
	new_list();
	control_tile(&fx, 0, 0);
	put_flush();
	expect_fault(PUMICE_FAULT_PDM_TILE_OPEN, BEGIN + 4);
	fx_close(&fx);
}

static void misaligned_addresses(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	make_scene();
	fx.job_stream = fx.control_at = FX_CONTROL;
	control_word(&fx, PUMICE_PDM_TYPE_MODE);
	control_word(&fx, (u32)FX_RENDER + 8);
	expect_fault(PUMICE_FAULT_PDM_ALIGN, 0);
	new_list();
	control_word(&fx, PUMICE_PDM_TYPE_CALL);
	control_word(&fx, (u32)FX_CONTROL + 2);
	expect_fault(PUMICE_FAULT_PDM_ALIGN, BEGIN);
	new_list();
	control_word(&fx, PUMICE_PDM_TYPE_LINK);
	control_word(&fx, (u32)FX_CONTROL + 1);
	expect_fault(PUMICE_FAULT_PDM_ALIGN, BEGIN);
	fx_close(&fx);
}

static void tiles_outside_of_the_target(void **state)
{
	static const u32 at[][2] = { { TILES, 0 }, { 0, TILES }, { 4095, 0 }, { 0, 4095 } };
	u32 i;

	(void)state;
	fx_open(&fx, 2);
	for (i = 0; i < 4; i++) {
		new_list();
		control_tile(&fx, at[i][0], at[i][1]);
		expect_fault(PUMICE_FAULT_PDM_TILE, BEGIN);
	}
	fx_close(&fx);
}

static void coordinates_and_stores_must_alternate(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	new_list();
	control_tile(&fx, 0, 0);
	control_tile(&fx, 1, 0);
	expect_fault(PUMICE_FAULT_PDM_TILE_OPEN, BEGIN + 4);
	new_list();
	control_tile(&fx, 0, 0);
	control_end(&fx);
	expect_fault(PUMICE_FAULT_PDM_TILE_OPEN, BEGIN + 4);
	new_list();
	control_branch(&fx);
	expect_fault(PUMICE_FAULT_PDM_NO_TILE, BEGIN);
	new_list();
	control_store(&fx, true);
	expect_fault(PUMICE_FAULT_PDM_NO_TILE, BEGIN);
	new_list();
	control_store_program(&fx, NULL, true);
	expect_fault(PUMICE_FAULT_PDM_NO_TILE, BEGIN);
	/* The second store is that of no tile. */
	new_list();
	control_tile(&fx, 0, 0);
	control_store(&fx, false);
	control_store(&fx, true);
	expect_fault(PUMICE_FAULT_PDM_NO_TILE, BEGIN + 8);
	fx_close(&fx);
}

static void tiles_and_branches_twice(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	new_list();
	control_tile(&fx, 3, 1);
	control_store(&fx, false);
	control_tile(&fx, 3, 1);
	expect_fault(PUMICE_FAULT_PDM_TILE_TWICE, BEGIN + 8);
	new_list();
	control_tile(&fx, 3, 1);
	control_branch(&fx);
	control_branch(&fx);
	expect_fault(PUMICE_FAULT_PDM_TILE_TWICE, BEGIN + 8);
	fx_close(&fx);
}

static void the_mode_is_the_first_command_only(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	new_list();
	control_begin(&fx, FX_CONTROL + BEGIN);
	fx.job_stream = FX_CONTROL;
	expect_fault(PUMICE_FAULT_PDM_MODE, BEGIN);
	/* A list without it is a malformed record. */
	make_scene();
	fx.job_stream = fx.control_at = FX_CONTROL;
	control_tile(&fx, 0, 0);
	control_store(&fx, true);
	run_job();
	assert_int_equal(fx.end, DM_FAULT);
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_PDM_RENDER);
	run_good();
	fx_close(&fx);
}

static void sub_lists_nest_to_a_maximum_depth(void **state)
{
	u32 depth, i;

	(void)state;
	fx_open(&fx, 2);
	for (depth = 1; depth <= PUMICE_PDM_MAX_DEPTH + 1; depth++) {
		new_list();
		control_call(&fx, FX_CONTROL + 0x100);
		control_tile(&fx, 0, 1);
		control_store(&fx, true);
		for (i = 1; i <= depth; i++) {
			fx.control_at = FX_CONTROL + i * 0x100;
			if (i < depth)
				control_call(&fx, FX_CONTROL + (i + 1) * 0x100);
			control_tile(&fx, i, 0);
			control_store(&fx, false);
			control_return(&fx);
		}
		if (depth > PUMICE_PDM_MAX_DEPTH) {
			expect_fault(PUMICE_FAULT_PDM_DEPTH, PUMICE_PDM_MAX_DEPTH * 0x100);
			break;
		}
		run_job();
		assert_int_equal(fx.end, DM_DONE);
		assert_int_equal(pdm_status(fx.pdm)->done, depth + 1);
	}
	new_list();
	control_return(&fx);
	expect_fault(PUMICE_FAULT_PDM_RETURN, BEGIN);
	fx_close(&fx);
}

static void a_list_without_end_is_refused(void **state)
{
	const u32 link = PUMICE_PDM_LINK_WORDS * 4;
	u32 i;

	(void)state;
	fx_open(&fx, 2);
	/* A circle with a tile, and a branch to itself. */
	new_list();
	control_tile(&fx, 0, 0);
	control_store(&fx, false);
	control_link(&fx, FX_CONTROL + BEGIN);
	expect_fault(PUMICE_FAULT_PDM_TILE_TWICE, BEGIN);
	new_list();
	control_link(&fx, FX_CONTROL + BEGIN);
	expect_fault(PUMICE_FAULT_PDM_ENDLESS, BEGIN);
	new_list();
	control_link(&fx, FX_CONTROL + BEGIN);
	run_job();
	assert_int_equal(fx.end, DM_FAULT);
	/* One more than the last command that is allowed, and that one, after idle ones. */
	for (i = 0; i < 2; i++) {
		const u32 links = PUMICE_PDM_MAX_IDLE - 1 - i;
		u32 n;

		new_list();
		for (n = 0; n < links; n++)
			control_link(&fx, fx.control_at + link);
		control_tile(&fx, 0, 0);
		control_store(&fx, true);
		if (i)
			run_job();
		else
			expect_fault(PUMICE_FAULT_PDM_ENDLESS, BEGIN + links * link + 4);
	}
	/* Zeroes are not commands; memory that is not mapped has none. */
	new_list();
	expect_fault(PUMICE_FAULT_PDM_COMMAND, BEGIN);
	new_list();
	control_link(&fx, 0xff00000000ull);
	run_job();
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_MMU_PC_INVALID);
	assert_int_equal(pdm_status(fx.pdm)->fault.unit, PUMICE_UNIT_PDM);
	run_good();
	fx_close(&fx);
}

static void a_list_does_not_reach_pages_of_the_parameter_management(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	new_list();
	control_link(&fx, FX_PB + 0x3000);
	run_job();
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_MMU_PM_OWNED);
	run_good();
	fx_close(&fx);
}

/* Whatever a word contains, the job ends. */
static void every_bit_of_a_list(void **state)
{
	u32 bit, bytes;

	(void)state;
	fx_open(&fx, 3);
	make_planes();
	bytes = (u32)(fx.control_at - FX_CONTROL);
	for (bit = 0; bit < bytes * 8; bit += 7) {
		make_planes();
		fx.control[bit / 8] ^= (u8)(1u << bit % 8);
		run_job();
		assert_int_not_equal(fx.end, DM_ABORTED);
	}
	run_good();
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_are_stored_by_their_own_programs),
		cmocka_unit_test(any_fifo_of_tiles_is_sufficient),
		cmocka_unit_test(occupancy_is_the_sum_of_tiles_over_time),
		cmocka_unit_test(waits_are_those_of_tiles_that_follow),
		cmocka_unit_test(store_programs_share_memory_for_one_program),
		cmocka_unit_test(a_wait_for_a_store_program_is_counted),
		cmocka_unit_test(a_store_program_that_is_refused_stops_the_job),
		cmocka_unit_test(the_page_after_the_list_is_not_read),
		cmocka_unit_test(commands_cross_pages),
		cmocka_unit_test(flushes_wait_for_the_tiles_before_them),
		cmocka_unit_test(a_flush_ends_a_piece_of_the_list),
		cmocka_unit_test(unknown_commands_and_reserved_bits),
		cmocka_unit_test(bad_flushes),
		cmocka_unit_test(misaligned_addresses),
		cmocka_unit_test(tiles_outside_of_the_target),
		cmocka_unit_test(coordinates_and_stores_must_alternate),
		cmocka_unit_test(tiles_and_branches_twice),
		cmocka_unit_test(the_mode_is_the_first_command_only),
		cmocka_unit_test(sub_lists_nest_to_a_maximum_depth),
		cmocka_unit_test(a_list_without_end_is_refused),
		cmocka_unit_test(a_list_does_not_reach_pages_of_the_parameter_management),
		cmocka_unit_test(every_bit_of_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
