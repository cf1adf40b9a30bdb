// SPDX-License-Identifier: MIT
/*
 * Random scenes of every pass type against an immediate-mode renderer, to the bit:
 * colours of all samples, depth, stencil, visibility counters, statistics; with any
 * number of cores, and through partial renders.
 */
#include <math.h>
#include <string.h>

#include "reference.h"

#define SCENES		160u
#define OBJECTS		10u
#define BLOCKS		8u
#define MANY		400u	/* objects, in scenes that have more than the PDM remembers */
#define COUNTERS	8u

struct plan {
	struct scene_size size;
	struct reference_object object[MANY];
	struct {
		u32 object, count;
		struct scene_prim prim[32];
	} block[MANY];
	u32 blocks, objects;
	bool background;
	float clear_depth;
	u8 clear_stencil;
};

static struct rig rig;
static struct plan plan;
static struct reference_tile want[RIG_MAX_TILES];
static u64 visible[COUNTERS];

/* ------------------------------------------------------------ a random scene */

static void random_object(struct reference_object *o)
{
	static const enum rig_program program[] = { RIG_PLAIN, RIG_BLEND, RIG_PUNCH,
						    RIG_DEPTH_OUT };
	struct isp_tile whole = { .width = plan.size.width, .height = plan.size.height };

	model_random_state(&whole, &o->isp);
	/* Mostly opaque, and mostly a test that lets something through. */
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

static void random_plan(void)
{
	u32 i, n;

	memset(&plan, 0, sizeof(plan));
	plan.size.width = 1 + model_below(RIG_MAX_SIZE);
	plan.size.height = 1 + model_below(RIG_MAX_SIZE);
	plan.size.samples = 1u << model_below(3);
	plan.size.tile_size = model_below(PUMICE_TILE_SIZE_COUNT);
	plan.background = model_below(2);
	plan.clear_depth = model_below(2) ? 1 : 0.5f;
	plan.clear_stencil = (u8)model_below(256);
	plan.objects = OBJECTS;
	for (i = 0; i < OBJECTS; i++)
		random_object(&plan.object[i]);
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
	plan.objects = MANY;
	plan.blocks = MANY;
	for (i = 0; i < MANY; i++) {
		random_object(&plan.object[i]);
		plan.block[i].object = i;
		plan.block[i].count = 1;
		random_prim(&plan.block[i].prim[0]);
	}
}

/* ------------------------------------------------------------ what it should be */

static void make_reference(void)
{
	const struct pm_scene *s = &rig.scene;
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
			for (i = 0; i < plan.blocks; i++)
				for (n = 0; n < plan.block[i].count; n++)
					reference_draw(t, &plan.object[plan.block[i].object],
						       &plan.block[i].prim[n], visible);
		}
	}
}

/* ------------------------------------------------------------ what it is */

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
		.front_func = f->func, .front_sfail = f->sfail, .front_zfail = f->zfail,
		.front_pass = f->pass, .front_ref = f->ref, .front_mask = f->mask,
		.front_write = f->write,
		.back_func = b->func, .back_sfail = b->sfail, .back_zfail = b->zfail,
		.back_pass = b->pass, .back_ref = b->ref, .back_mask = b->mask,
		.back_write = b->write,
	};

	memcpy(&out.bias_constant, &s->bias_constant, 4);
	memcpy(&out.bias_slope, &s->bias_slope, 4);
	memcpy(&out.bias_clamp, &s->bias_clamp, 4);
	return out;
}

static void set_record(void)
{
	struct pumice_pdm_render *r = &rig.record;

	if (plan.background)
		pumice_stage_pack(r->background, &rig.stage[RIG_BACKGROUND]);
	memcpy(&r->clear_depth, &plan.clear_depth, 4);
	r->clear_stencil = plan.clear_stencil;
	r->depth_store = true;
	r->stencil_store = true;
	r->depth_format = PUMICE_DEPTH_FORMAT_D32F;
	r->depth_addr = RIG_DEPTH;
	r->depth_stride = plan.size.width * plan.size.samples * 4;
	r->stencil_addr = RIG_STENCIL;
	r->stencil_stride = plan.size.width * plan.size.samples;
	r->visibility_addr = RIG_VISIBLE;
	r->visibility_count = COUNTERS;
	r->stats_addr = RIG_STATS;
}

static void render(u32 partials)
{
	u32 i;

	memset(rig.visible, 0, 0x1000);
	memset(rig.colour, 0xee, RIG_BYTES);
	scene_begin(&rig, &plan.size);
	for (i = 0; i < plan.objects; i++) {
		const struct pumice_isp_state isp = pack_isp(&plan.object[i].isp);

		scene_set_object(&rig, i, &isp, plan.object[i].program,
				 plan.object[i].sample_rate);
	}
	set_record();
	for (i = 0; i < plan.blocks; i++) {
		scene_draw(&rig, plan.block[i].object, plan.block[i].prim, plan.block[i].count);
		if (!partials || (i + 1) % partials)
			continue;
		scene_end(&rig, false);
		rig_start(&rig, true);
		rig_run(&rig);
		assert_int_equal(rig.end, DM_DONE);
		assert_int_equal(rig_free_pages(&rig), RIG_PAGES);
		assert_true(rig_scene(&rig).spilled);
		assert_int_equal(rig_scene(&rig).partials, (i + 1) / partials);
		scene_again(&rig);
	}
	scene_end(&rig, true);
	rig_start(&rig, false);
	rig_run(&rig);
	assert_int_equal(rig.end, DM_DONE);
	assert_int_equal(rig_free_pages(&rig), RIG_PAGES);
	assert_false(rig_scene(&rig).valid);
	assert_false(rig_scene(&rig).spilled);
	assert_int_equal(pdm_status(rig.pdm)->done, rig.scene.tiles_x * rig.scene.tiles_y);
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

				assert_memory_equal(rig.colour + n * 4, &t->out[s][at], 4);
				assert_memory_equal(rig.depth + n * 4, &t->model.depth[s][at], 4);
				assert_int_equal(rig.stencil[n], t->model.stencil[s][at]);
			}
		}
	}
	pumice_tile_stats_unpack((const u32 *)(const void *)rig.stats +
					 number * PUMICE_TILE_STATS_WORDS, &stats);
	assert_int_equal(stats.primitives, t->primitives);
	assert_int_equal(stats.covered, t->covered);
}

static void compare(void)
{
	const u32 tiles = rig.scene.tiles_x * rig.scene.tiles_y;
	u32 i;

	for (i = 0; i < tiles; i++)
		compare_tile(&want[i], i);
	assert_memory_equal(rig.visible, visible, sizeof(visible));
}

static void random_scenes(u32 cores, u32 partials)
{
	u32 i;

	rig_open(&rig, cores);
	for (i = 0; i < SCENES; i++) {
		random_plan();
		render(partials);
		make_reference();
		compare();
	}
	rig_close(&rig);
}

static void one_core(void **state)
{
	(void)state;
	random_scenes(1, 0);
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

/* More objects than a tile remembers, and more tasks than it has at a time. */
static void crowds(void **state)
{
	u32 i;

	(void)state;
	rig_open(&rig, 1);
	for (i = 0; i < 24; i++) {
		random_crowd();
		render(0);
		make_reference();
		compare();
	}
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_core),
		cmocka_unit_test(three_cores),
		cmocka_unit_test(sixteen_cores),
		cmocka_unit_test(partial_renders),
		cmocka_unit_test(crowds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
