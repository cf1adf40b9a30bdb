// SPDX-License-Identifier: MIT
/*
 * Random scenes of every pass type against an immediate-mode renderer, to the bit:
 * colours of all samples, depth, stencil, mask, visibility counters, statistics; with any
 * number of cores, and through partial renders. Hidden fragments are not shaded: the
 * count of fragments is exactly that of a renderer which defers shading as described in
 * overview.rst.
 */
#include <math.h>
#include <string.h>

#include "../../../qemu-device/gpu/pdm/state.h"
#include "reference.h"

#define SCENES		160u
#define OBJECTS		10u
#define BLOCKS		8u
#define MANY		400u	/* objects, in scenes with more than the PDM caches */
#define CROWD		4608u	/* primitives of a tile: 512 more than tags can number */
#define COUNTERS	8u
#define IN_FLIGHT	2u	/* tiles of a core */

struct plan {
	struct scene_size size;
	struct reference_object object[MANY];
	struct {
		u32 object, count;
		struct scene_prim prim[32];
	} block[MANY];
	u32 blocks, objects;
	bool background;
	bool counted;	/* only objects of which the reference counts fragments */
	bool list;	/* a render control list; else the record alone */
	bool absent[FX_MAX_TILES];	/* tiles that it does not name */
	bool bare[FX_MAX_TILES];	/* tiles without a branch to their sub-list */
	float clear_depth;
	u8 clear_stencil;
	bool mask, mask_load, mask_store, clear_mask;
	u32 mask_stride;
};

static struct fixture fx;
static struct plan plan;
static struct reference_tile want[FX_MAX_TILES];
static u64 visible[COUNTERS];
static u8 mask_before[FX_BYTES];	/* mask buffer in memory before the job */

/* ------------------------------------------------------------ a random scene */

static void random_object(struct reference_object *o)
{
	static const enum fx_program program[] = { FX_PLAIN, FX_BLEND, FX_PUNCH,
						    FX_DEPTH_OUT };
	struct isp_tile whole = { .width = plan.size.width, .height = plan.size.height };

	model_random_state(&whole, &o->isp);
	if (!plan.mask)
		o->isp.mask_test = o->isp.mask_op = 0;
	/* Mostly opaque, and mostly a test that some samples pass. */
	if (model_below(2))
		o->isp.pass_type = PUMICE_PASS_TYPE_OPAQUE;
	if (model_below(2))
		o->isp.depth_func = model_below(2) ? PUMICE_COMPARE_LESS : PUMICE_COMPARE_ALWAYS;
	if (model_below(2))
		o->isp.sample_mask = 15;
	o->isp.visibility = model_below(2);
	o->isp.visibility_id = (u16)model_below(COUNTERS);
	o->isp.no_tag = o->isp.pass_type == PUMICE_PASS_TYPE_OPAQUE && !model_below(5);
	o->program = program[o->isp.pass_type];
	o->sample_rate = model_below(2);
}

/* For objects that the reference counts: see reference.h. */
static void countable_object(struct reference_object *o)
{
	const bool opaque = plan.size.samples > 1 || model_below(4);

	random_object(o);
	o->isp.pass_type = opaque ? PUMICE_PASS_TYPE_OPAQUE : PUMICE_PASS_TYPE_TRANSLUCENT;
	o->isp.no_tag = opaque && !model_below(5);
	o->program = opaque ? FX_PLAIN : FX_BLEND;
}

static void random_prim(struct scene_prim *p)
{
	struct isp_tile whole = { .width = plan.size.width, .height = plan.size.height };
	u32 i;

	model_random_triangle(&whole, &p->triangle, model_below(5));
	for (i = 0; i < 3; i++)
		if (!isfinite(p->triangle.z[i]))
			p->triangle.z[i] = 0.5f;
	p->back = model_below(2);
	p->value[0] = (float)model_below(1000);
	p->value[1] = (float)model_below(1200) / 1000 - 0.1f;
}

static void random_mask(void)
{
	u32 i;

	plan.mask = model_below(2);
	plan.mask_load = plan.mask && model_below(2);
	plan.mask_store = plan.mask && model_below(4);
	plan.clear_mask = plan.mask && model_below(2);
	plan.mask_stride = (plan.size.width * plan.size.samples + 7) / 8 + model_below(3);
	for (i = 0; i < FX_BYTES; i++)
		mask_before[i] = (u8)model_below(256);
}

static void random_plan(bool counted)
{
	u32 i, n;

	memset(&plan, 0, sizeof(plan));
	plan.counted = counted;
	plan.size.width = 1 + model_below(FX_MAX_SIZE);
	plan.size.height = 1 + model_below(FX_MAX_SIZE);
	plan.size.samples = 1u << model_below(3);
	plan.size.tile_size = model_below(PUMICE_TILE_SIZE_COUNT);
	plan.background = model_below(2);
	plan.clear_depth = model_below(2) ? 1 : 0.5f;
	plan.clear_stencil = (u8)model_below(256);
	random_mask();
	plan.list = model_below(2);
	for (i = 0; i < FX_MAX_TILES && plan.list && model_below(2); i++) {
		plan.absent[i] = !model_below(4);
		plan.bare[i] = !model_below(4);
	}
	plan.objects = OBJECTS;
	for (i = 0; i < OBJECTS; i++) {
		if (counted)
			countable_object(&plan.object[i]);
		else
			random_object(&plan.object[i]);
	}
	plan.blocks = 1 + model_below(BLOCKS);
	for (i = 0; i < plan.blocks; i++) {
		plan.block[i].object = model_below(OBJECTS);
		plan.block[i].count = 1 + model_below(32);
		for (n = 0; n < plan.block[i].count; n++)
			random_prim(&plan.block[i].prim[n]);
	}
}

/* One tile of very many objects, of a triangle each. */
static void random_crowd(void)
{
	u32 i;

	memset(&plan, 0, sizeof(plan));
	plan.size = (struct scene_size){ .width = 32, .height = 32,
					 .samples = 1u << model_below(3) };
	plan.clear_depth = 1;
	random_mask();
	plan.objects = MANY;
	plan.blocks = MANY;
	for (i = 0; i < MANY; i++) {
		random_object(&plan.object[i]);
		plan.block[i].object = i;
		plan.block[i].count = 1;
		random_prim(&plan.block[i].prim[0]);
	}
}

/* ------------------------------------------------------------ expected result */

static bool is_drawn(u32 tile)
{
	return !plan.absent[tile] && !plan.bare[tile];
}

static bool bit_before(u32 x, u32 y, u32 s)
{
	const u32 bit = x * plan.size.samples + s;

	return mask_before[y * plan.mask_stride + bit / 8] >> bit % 8 & 1;
}

/* The mask plane at the start of a tile. */
static void set_reference_mask(struct reference_tile *t)
{
	u32 x, y, s;

	for (y = 0; y < t->at.clip_y; y++)
		for (x = 0; x < t->at.clip_x; x++)
			for (s = 0; s < t->at.samples; s++)
				t->model.mask[s][y * 32 + x] = plan.mask_load ?
					bit_before(t->at.x0 + x, t->at.y0 + y, s) :
					plan.clear_mask;
}

/* partials: blocks between two partial renders, each of which shades pending samples; 0: none. */
static void make_reference(u32 partials)
{
	const struct pm_scene *s = &fx.scene;
	u32 x, y, i, n;

	memset(visible, 0, sizeof(visible));
	for (y = 0; y < s->tiles_y; y++) {
		for (x = 0; x < s->tiles_x; x++) {
			struct reference_tile *t = &want[y * s->tiles_x + x];
			const u32 x0 = x * s->tile_w, y0 = y * s->tile_h;

			t->at.x0 = x0;
			t->at.y0 = y0;
			t->at.width = s->tile_w;
			t->at.height = s->tile_h;
			t->at.clip_x = s->width - x0 < s->tile_w ? s->width - x0 : s->tile_w;
			t->at.clip_y = s->height - y0 < s->tile_h ? s->height - y0 : s->tile_h;
			t->at.samples = s->samples;
			reference_clear(t, plan.background ? 0.25f : 0, plan.clear_depth,
					plan.clear_stencil);
			set_reference_mask(t);
			if (!is_drawn(y * s->tiles_x + x))
				continue;
			for (i = 0; i < plan.blocks; i++) {
				for (n = 0; n < plan.block[i].count; n++)
					reference_draw(t, &plan.object[plan.block[i].object],
						       &plan.block[i].prim[n], visible);
				if (partials && !((i + 1) % partials))
					reference_flush(t);
			}
			reference_flush(t);
		}
	}
}

/* ------------------------------------------------------------ actual result */

static struct pumice_isp_state pack_isp(const struct isp_state *s)
{
	const struct isp_stencil *f = &s->face[0], *b = &s->face[1];
	struct pumice_isp_state out = {
		.depth_func = s->depth_func, .depth_write = s->depth_write,
		.pass_type = s->pass_type, .stencil = s->stencil, .depth_bias = s->depth_bias,
		.visibility = s->visibility, .visibility_id = s->visibility_id,
		.no_tag = s->no_tag,
		.scissor_x0 = s->x0, .scissor_x1 = s->x1, .scissor_y0 = s->y0,
		.scissor_y1 = s->y1, .sample_mask = s->sample_mask,
		.mask_test = s->mask_test, .mask_op = s->mask_op,
		.front_func = f->func, .front_sfail = f->sfail, .front_zfail = f->zfail,
		.front_pass = f->pass, .front_ref = f->ref, .front_mask = f->mask,
		.front_write = f->write,
		.back_func = b->func, .back_sfail = b->sfail, .back_zfail = b->zfail,
		.back_pass = b->pass, .back_ref = b->ref, .back_mask = b->mask,
		.back_write = b->write, .bias_constant = s->bias_constant,
		.bias_slope = s->bias_slope, .bias_clamp = s->bias_clamp,
	};

	return out;
}

static void set_record(void)
{
	struct pumice_pdm_render *r = &fx.record;

	if (plan.background)
		pumice_stage_pack(r->background, &fx.stage[FX_BACKGROUND]);
	r->clear_depth = plan.clear_depth;
	r->clear_stencil = plan.clear_stencil;
	r->depth_store = true;
	r->stencil_store = true;
	r->depth_format = PUMICE_DEPTH_FORMAT_D32F;
	r->depth_addr = FX_DEPTH;
	r->depth_stride = plan.size.width * plan.size.samples * 4;
	r->stencil_addr = FX_STENCIL;
	r->stencil_stride = plan.size.width * plan.size.samples;
	r->mask_plane = plan.mask;
	r->mask_load = plan.mask_load;
	r->mask_store = plan.mask_store;
	r->clear_mask = plan.clear_mask;
	r->mask_addr = FX_MASK;
	r->mask_stride = plan.mask_stride;
	r->visibility_addr = FX_VISIBLE;
	r->visibility_count = COUNTERS;
	r->stats_addr = FX_STATS;
}

/* Write the commands of a tile, in one list or with sub-lists in *sub. */
static void write_tile(u32 tile, u64 *sub, bool end)
{
	const u32 x = tile % fx.scene.tiles_x, y = tile / fx.scene.tiles_x;
	const u64 at = fx.control_at;

	if (model_below(2)) {
		fx.control_at = *sub;
		control_tile(&fx, x, y);
		control_return(&fx);
		fx.control_at = at;
		control_call(&fx, *sub);
		*sub += 64;
	} else {
		control_tile(&fx, x, y);
	}
	if (!plan.bare[tile])
		control_branch(&fx);
	if (!model_below(4)) {
		control_link(&fx, *sub);
		fx.control_at = *sub;
		*sub += 0x400;
	}
	control_store(&fx, end);
}

/* Tiles in random order. */
static void write_list(void)
{
	const u32 tiles = fx.scene.tiles_x * fx.scene.tiles_y;
	u32 order[FX_MAX_TILES], count = 0, i, n;
	u64 sub = FX_CONTROL + 0x4000;

	for (i = 0; i < tiles; i++)
		if (!plan.absent[i])
			order[count++] = i;
	control_begin(&fx, FX_CONTROL + model_below(64) * 16);
	for (i = 0; i < count; i++) {
		const u32 other = i + model_below(count - i);

		n = order[other];
		order[other] = order[i];
		write_tile(n, &sub, i + 1 == count);
	}
	if (!count)
		control_end(&fx);
}

/* Memory, objects and record of the plan. */
static void set_plan(void)
{
	u32 i;

	memset(fx.visible, 0, 0x1000);
	memset(fx.colour, 0xee, FX_BYTES);
	memset(fx.depth, 0xee, FX_BYTES);
	memset(fx.stencil, 0xee, FX_BYTES);
	memcpy(fx.mask, mask_before, FX_BYTES);
	memset(fx.stats, 0, 0x1000);
	scene_begin(&fx, &plan.size);
	for (i = 0; i < plan.objects; i++) {
		const struct pumice_isp_state isp = pack_isp(&plan.object[i].isp);

		scene_set_object(&fx, i, &isp, plan.object[i].program,
				 plan.object[i].sample_rate);
	}
	set_record();
	if (plan.list)
		write_list();
}

/* The whole scene, ready to be rendered. */
static void render_begin(void)
{
	u32 i;

	set_plan();
	for (i = 0; i < plan.blocks; i++)
		scene_draw(&fx, plan.block[i].object, plan.block[i].prim, plan.block[i].count);
	scene_end(&fx, true);
}

static void render(u32 partials)
{
	u32 i, tiles;

	set_plan();
	for (i = 0; i < plan.blocks; i++) {
		scene_draw(&fx, plan.block[i].object, plan.block[i].prim, plan.block[i].count);
		if (!partials || (i + 1) % partials)
			continue;
		scene_end(&fx, false);
		fx_start(&fx, true);
		fx_run(&fx);
		assert_int_equal(fx.end, DM_DONE);
		assert_int_equal(fx_free_pages(&fx), FX_PAGES);
		assert_true(fx_scene(&fx).spilled);
		assert_int_equal(fx_scene(&fx).partials, (i + 1) / partials);
		scene_again(&fx);
	}
	scene_end(&fx, true);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
	assert_false(fx_scene(&fx).valid);
	assert_false(fx_scene(&fx).spilled);
	tiles = fx.scene.tiles_x * fx.scene.tiles_y;
	for (i = 0; i < fx.scene.tiles_x * fx.scene.tiles_y; i++)
		tiles -= plan.absent[i];
	assert_int_equal(pdm_status(fx.pdm)->done, tiles);
}

/* A sample of a tile that was not rendered. */
static void expect_untouched(u32 n)
{
	static const u8 before[4] = { 0xee, 0xee, 0xee, 0xee };

	assert_memory_equal(fx.colour + n * 4, before, 4);
	assert_memory_equal(fx.depth + n * 4, before, 4);
	assert_int_equal(fx.stencil[n], before[0]);
}

static void compare_tile(const struct reference_tile *t, u32 number)
{
	const u32 row = plan.size.width * plan.size.samples;
	struct pumice_tile_stats stats;
	u32 x, y, s;

	for (y = 0; y < t->at.clip_y; y++) {
		for (x = 0; x < t->at.clip_x; x++) {
			for (s = 0; s < t->at.samples; s++) {
				const u32 n = (t->at.y0 + y) * row +
					      (t->at.x0 + x) * t->at.samples + s;
				const u32 at = y * 32 + x;

				if (plan.absent[number]) {
					expect_untouched(n);
					continue;
				}
				assert_memory_equal(fx.colour + n * 4, &t->out[s][at], 4);
				assert_memory_equal(fx.depth + n * 4, &t->model.depth[s][at], 4);
				assert_int_equal(fx.stencil[n], t->model.stencil[s][at]);
			}
		}
	}
	pumice_tile_stats_unpack((const u32 *)(const void *)fx.stats +
					 number * PUMICE_TILE_STATS_WORDS, &stats);
	assert_int_equal(stats.primitives, t->primitives);
	assert_int_equal(stats.covered, t->covered);
	if (plan.counted)
		assert_int_equal(stats.shaded, t->shaded);
}

/* Set a bit of the expected mask buffer. */
static void expect_bit(u8 *buffer, u32 bit, bool set)
{
	buffer[bit / 8] = (u8)((buffer[bit / 8] & ~(1u << bit % 8)) | (u32)set << bit % 8);
}

/* The mask buffer of the whole target, and the memory around it. */
static void compare_mask(void)
{
	static u8 expected[FX_BYTES];
	const u32 tiles = fx.scene.tiles_x * fx.scene.tiles_y;
	const u32 samples = plan.size.samples, row = plan.size.width * samples;
	u32 i, x, y, s;

	memcpy(expected, mask_before, FX_BYTES);
	for (i = 0; i < tiles && plan.mask_store; i++) {
		const struct reference_tile *t = &want[i];

		if (plan.absent[i])
			continue;
		for (y = 0; y < t->at.clip_y; y++) {
			const u32 line = (t->at.y0 + y) * plan.mask_stride * 8;

			for (x = 0; x < t->at.clip_x; x++)
				for (s = 0; s < samples; s++)
					expect_bit(expected,
						   line + (t->at.x0 + x) * samples + s,
						   t->model.mask[s][y * 32 + x]);
			/* The rest of a row's last byte. */
			for (x = row; t->at.x0 + t->at.clip_x == plan.size.width && x % 8; x++)
				expect_bit(expected, line + x, false);
		}
	}
	assert_memory_equal(fx.mask, expected, FX_BYTES);
}

static void compare(void)
{
	const u32 tiles = fx.scene.tiles_x * fx.scene.tiles_y;
	u32 i;

	for (i = 0; i < tiles; i++)
		compare_tile(&want[i], i);
	compare_mask();
	assert_memory_equal(fx.visible, visible, sizeof(visible));
}

static void random_scenes_of(u32 cores, u32 partials, bool counted)
{
	u32 i;

	fx_open(&fx, cores);
	for (i = 0; i < SCENES; i++) {
		random_plan(counted);
		render(partials);
		make_reference(partials);
		compare();
	}
	fx_close(&fx);
}

static void random_scenes(u32 cores, u32 partials)
{
	random_scenes_of(cores, partials, false);
}

static void hidden_fragments_are_not_shaded(void **state)
{
	(void)state;
	random_scenes_of(2, 0, true);
	random_scenes_of(2, 3, true);
}

/* One of a pixel or three; as many as cover the tile, then the same number that hide them. */
static struct scene_prim small_prim(u32 number)
{
	const s32 x = (s32)(number % 32) << 8, y = (s32)(number / 32 % 32) << 8;

	return (struct scene_prim){
		.triangle = { .x = { x, x + (2 << 8), x }, .y = { y, y, y + (2 << 8) },
			      .z = { 0.5f, 0.5f, 0.5f } },
		.value = { (float)number, 0 },
	};
}

/*
 * More primitives in a tile than tags can number: those that are no longer visible free
 * their tags, without extra shading. Some of the earlier ones are visible in the end.
 */
static void hidden_primitives_make_room_for_others(void **state)
{
	u32 i, n;

	(void)state;
	fx_open(&fx, 1);
	memset(&plan, 0, sizeof(plan));
	plan.counted = true;
	plan.size = (struct scene_size){ .width = 32, .height = 32, .samples = 1,
					 .tile_size = PUMICE_TILE_SIZE_32X32 };
	plan.clear_depth = 1;
	plan.objects = 1;
	plan.object[0].isp = (struct isp_state){
		.pass_type = PUMICE_PASS_TYPE_OPAQUE, .depth_func = PUMICE_COMPARE_ALWAYS,
		.x1 = 8192, .y1 = 8192, .sample_mask = 15,
	};
	plan.blocks = CROWD / 32;
	for (i = 0; i < plan.blocks; i++) {
		plan.block[i].count = 32;
		for (n = 0; n < 32; n++)
			plan.block[i].prim[n] = small_prim(i * 32 + n);
	}
	render(0);
	make_reference(0);
	compare();
	fx_close(&fx);
}

/* A scene over all macro tiles, of one object that covers all of it. */
static void plain_plan(void)
{
	const s32 far = (s32)(4 * FX_MAX_SIZE) << 8;

	memset(&plan, 0, sizeof(plan));
	plan.size = (struct scene_size){ .width = FX_MAX_SIZE, .height = FX_MAX_SIZE,
					 .samples = 1, .tile_size = PUMICE_TILE_SIZE_16X16 };
	plan.clear_depth = 1;
	plan.objects = plan.blocks = 1;
	plan.object[0].isp = (struct isp_state){
		.pass_type = PUMICE_PASS_TYPE_OPAQUE, .depth_func = PUMICE_COMPARE_ALWAYS,
		.x1 = 8192, .y1 = 8192, .sample_mask = 15,
	};
	plan.block[0].count = 1;
	plan.block[0].prim[0] = (struct scene_prim){
		.triangle = { .x = { 0, far, 0 }, .y = { 0, 0, far }, .z = { 0.5f, 0.5f, 0.5f } },
		.value = { 3, 0 },
	};
}

/* A geometry job that runs in parallel may need them. */
static void pages_of_a_macro_tile_are_free_when_its_tiles_are_done(void **state)
{
	u32 free, lowest, macro, done;

	(void)state;
	fx_open(&fx, 1);
	plain_plan();
	render_begin();
	lowest = fx_free_pages(&fx);
	fx_start(&fx, false);
	while (!fx.ends) {
		assert_true(fx_step(&fx));
		/* Tiles are started by macro tile; those in flight may end out of order. */
		done = (u32)pdm_status(fx.pdm)->done;
		free = lowest;
		for (macro = 0; macro < PM_MACRO_TILES; macro++) {
			const u32 tiles = pm_macro_tile_tiles(&fx.scene, macro);

			if (done < tiles + 2 * IN_FLIGHT)
				break;
			done -= tiles;
			free += tiles != 0;
		}
		assert_true(fx_free_pages(&fx) >= free);
	}
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
	fx_close(&fx);
}

/*
 * Document 004, "ISP". Bit 0 of stores: depth, bit 1: stencil; 4: none, and no memory to store to.
 */
static void check_stores(u32 stores)
{
	static const float depth = 0.75f;
	static const u8 stencil = 0x5a, canary[4] = { 0xee, 0xee, 0xee, 0xee };
	u32 i;

	plain_plan();
	plan.clear_depth = depth;
	plan.clear_stencil = stencil;
	render_begin();
	fx.record.depth_store = stores & 1;
	fx.record.stencil_store = stores >> 1 & 1;
	if (stores & 4) {
		fx.record.depth_addr = FX_DEPTH + FX_BYTES;
		fx.record.stencil_addr = FX_STENCIL + FX_BYTES;
	}
	memset(fx.depth, canary[0], FX_BYTES);
	memset(fx.stencil, canary[0], FX_BYTES);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	for (i = 0; i < FX_MAX_SIZE * FX_MAX_SIZE; i++) {
		assert_memory_equal(fx.depth + i * 4, stores & 1 ? (const void *)&depth : canary,
				    4);
		assert_int_equal(fx.stencil[i], stores & 2 ? stencil : canary[0]);
	}
}

static void depth_and_stencil_are_stored_only_if_required(void **state)
{
	u32 stores;

	(void)state;
	fx_open(&fx, 2);
	for (stores = 0; stores <= 4; stores++)
		check_stores(stores);
	fx_close(&fx);
}

static void every_core_has_tiles(void **state)
{
	u32 cores, core, usc;

	(void)state;
	for (cores = 1; cores <= 4; cores++) {
		fx_open(&fx, cores);
		plain_plan();
		render(0);
		make_reference(0);
		compare();
		for (core = 0; core < cores; core++) {
			u32 tasks = 0;

			for (usc = 0; usc < FX_USCS_PER_CORE; usc++)
				tasks += fx.usc_wakes[core * FX_USCS_PER_CORE + usc];
			assert_true(tasks);
		}
		fx_close(&fx);
	}
}

#define MOST_TILES 16u	/* of a row or a column */

/* Record the core of each tile that is in work: plus one. It stays until the tile is done. */
static void note_cores(u32 core_of[MOST_TILES][MOST_TILES])
{
	u32 core, slot;

	for (core = 0; core < fx.cores; core++) {
		for (slot = 0; slot < PDM_TILES; slot++) {
			const struct pdm_tile *tile = fx.pdm->core[core].tile[slot];
			u32 *noted;

			if (tile->phase == PDM_TILE_NONE)
				continue;
			assert_true(tile->number_x < MOST_TILES && tile->number_y < MOST_TILES);
			noted = &core_of[tile->number_y][tile->number_x];
			assert_true(!*noted || *noted == core + 1);
			*noted = core + 1;
		}
	}
}

/* Document 004, "Master IPF". The tasks of a tile: pds_task/a_task_stays_on_its_core_…. */
static void a_tile_is_processed_on_one_core(void **state)
{
	u32 core_of[MOST_TILES][MOST_TILES] = { { 0 } };
	u32 x, y, cores = 0;

	(void)state;
	fx_open(&fx, 4);
	plain_plan();
	render_begin();
	fx_start(&fx, false);
	while (!fx.ends) {
		assert_true(fx_step(&fx));
		note_cores(core_of);
	}
	for (y = 0; y < MOST_TILES; y++)
		for (x = 0; x < MOST_TILES; x++)
			cores |= 1u << core_of[y][x];
	assert_int_equal(cores & ~1u, 0x1e);	/* all four */
	fx_close(&fx);
}

static void one_core(void **state)
{
	(void)state;
	random_scenes(1, 0);
}

/* Programs of a tile begin and end in any order that the scoreboard allows. */
static void tasks_in_random_order(void **state)
{
	u32 i;

	(void)state;
	fx_open(&fx, 2);
	fx.shuffle = 1;
	for (i = 0; i < SCENES; i++) {
		random_plan(false);
		render(0);
		make_reference(0);
		compare();
	}
	for (i = 0; i < 8; i++) {
		random_crowd();
		render(0);
		make_reference(0);
		compare();
	}
	fx_close(&fx);
}

static void three_cores(void **state)
{
	(void)state;
	random_scenes(3, 0);
}

static void sixteen_cores(void **state)
{
	(void)state;
	random_scenes(16, 0);
}

static void partial_renders(void **state)
{
	(void)state;
	random_scenes(2, 1);
	random_scenes(2, 3);
}

/* More objects than a tile caches, and more tasks than it runs at a time. */
static void many_objects_and_tasks_per_tile(void **state)
{
	u32 i;

	(void)state;
	fx_open(&fx, 1);
	for (i = 0; i < 24; i++) {
		random_crowd();
		render(0);
		make_reference(0);
		compare();
	}
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidden_fragments_are_not_shaded),
		cmocka_unit_test(hidden_primitives_make_room_for_others),
		cmocka_unit_test(pages_of_a_macro_tile_are_free_when_its_tiles_are_done),
		cmocka_unit_test(depth_and_stencil_are_stored_only_if_required),
		cmocka_unit_test(every_core_has_tiles),
		cmocka_unit_test(a_tile_is_processed_on_one_core),
		cmocka_unit_test(one_core),
		cmocka_unit_test(tasks_in_random_order),
		cmocka_unit_test(three_cores),
		cmocka_unit_test(sixteen_cores),
		cmocka_unit_test(partial_renders),
		cmocka_unit_test(many_objects_and_tasks_per_tile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
