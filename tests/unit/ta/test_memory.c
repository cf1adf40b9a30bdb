// SPDX-License-Identifier: MIT
/*
 * Running out of pages, at every page: the final contents of the tiles equal those with
 * enough memory, in the same order, nothing lost or repeated; whether pages are added, or
 * the scene is rendered and continues with empty tile lists. And cores: their streams,
 * merged by the IPF, are in submission order.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/ipf/stream.h"
#include "ta_fixture.h"

#define PRIMS	600u
#define CHUNK	32u	/* primitives with the same sequence */

static const struct pumice_scene target = {
	.width = 300, .height = 200, .cores = 1, .tile_size = PUMICE_TILE_SIZE_32X16,
};

static struct tafx_prim *make(struct ta_fixture *fx, u32 count)
{
	struct tafx_prim *prims = calloc(count, sizeof(*prims));
	u32 p, i;

	for (p = 0; p < count; p++) {
		const bool small = pbfx_random(fx->pb, 4) != 0;
		const float x = tafx_pixel(fx, -10, 310), y = tafx_pixel(fx, -10, 210);

		for (i = 0; i < 3; i++) {
			prims[p].pos[i][0] = small ? x + tafx_pixel(fx, 0, 9) :
						     tafx_pixel(fx, -10, 310);
			prims[p].pos[i][1] = small ? y + tafx_pixel(fx, 0, 9) :
						     tafx_pixel(fx, -10, 210);
			prims[p].pos[i][2] = 0.5f;
			prims[p].pos[i][3] = 1;
			prims[p].size[i] = 1;
		}
		/* Some are clipped, into up to eight triangles. */
		if (p % 9 == 0)
			prims[p].pos[pbfx_random(fx->pb, 3)][3] = -0.25f;
		if (p % 11 == 0)
			prims[p].pos[1][2] = prims[p].pos[1][3] * 3;
	}
	return prims;
}

/* Write the scene so far, free all pages, continue. */
static void partial_render(struct ta_fixture *fx)
{
	struct gpu_fault fault;

	tafx_finish(fx, 0);
	assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	tafx_begin(fx, 0);
}

/*
 * Draw all with limited memory; grow: one more page at each stop, as long as there are
 * some. Returns stops; ~0: one primitive needs more pages than there are.
 */
static u32 draw(struct ta_fixture *fx, const struct tafx_prim *prims, u32 grow_every)
{
	u32 at, stops = 0;

	for (at = 0; at < PRIMS; at += CHUNK) {
		const u32 n = PRIMS - at < CHUNK ? PRIMS - at : CHUNK;
		u32 done = 0, before = ~0u;

		fx->draw.sequence++;
		while (tafx_give(fx, 0, prims, at, n, &done) == TA_MEMORY) {
			const struct pumice_free_list list = pbfx_read_list(fx->pb, 0);

			stops++;
			if (grow_every && stops % grow_every == 0 && list.pages < list.max_pages) {
				pm_grow(fx->pb->pm, PBFX_LIST(0), list.pages + 1);
				continue;
			}
			if (done == before)
				return ~0u;
			before = done;
			partial_render(fx);
		}
		assert_int_equal(done, n);
	}
	tafx_finish(fx, 0);
	return stops;
}

static void a_stop_at_any_page_loses_nothing(void **state)
{
	struct ta_fixture *whole = tafx_create(2000, &target);
	struct tafx_prim *prims = make(whole, PRIMS);
	u32 pages, possible = 0, most = 0, all, grow;

	(void)state;
	whole->draw.state.depth_clip = true;
	assert_int_equal(draw(whole, prims, 0), 0);
	all = (u32)pm_allocated(whole->pb->pm);
	for (grow = 0; grow < 3; grow++)
		for (pages = 1; pages <= all; pages++) {
			struct ta_fixture *fx = tafx_create(all, &target);
			u32 stops;

			pbfx_list(fx->pb, 0, pages, 0);
			fx->draw.state.depth_clip = true;
			stops = draw(fx, prims, grow);
			if (stops != ~0u) {
				assert_true(tafx_same(fx, whole));
				possible++;
				most = stops > most ? stops : most;
			} else {
				/* A page for each macro tile is enough for any primitive here. */
				assert_true(pages < PM_MACRO_TILES);
			}
			tafx_destroy(fx);
		}
	print_message("%u pages in all; %u numbers of pages drawn with up to %u stops\n", all,
		      possible, most);
	assert_true(possible > all && most > 20);
	free(prims);
	tafx_destroy(whole);
}

/* A tile by the IPF: numbers in the order of the stream. */
static void merge(const struct ta_fixture *fx, u32 used, u32 t, u32 *number, u32 *count)
{
	const struct ipf_job job = { .scene = &fx->scene, .mmu = &fx->pb->mmu, .used = used };
	static struct mmu_tlb tlb;
	struct ipf_stream stream;
	struct ipf_prims prims;
	struct gpu_fault fault;
	enum ipf_result result;

	*count = 0;
	memset(&tlb, 0, sizeof(tlb));
	ipf_stream_begin(&stream, t, true);
	while ((result = ipf_stream_next(&stream, &job, &tlb, &prims, &fault)) == IPF_PRIMS)
		for (; prims.mask; prims.mask &= prims.mask - 1) {
			struct ipf_prim prim;
			float v[3];
			struct ipf_varyings varyings = {
				.block = prims.block, .header = &prims.header, .count = 1,
				.out = { v },
			};

			assert_true(ipf_fetch(&fx->scene, &fx->pb->mmu, &tlb, prims.block,
					      &prims.header, (u32)__builtin_ctz(prims.mask), &prim,
					      &fault));
			varyings.vertex[0] = prim.index.provoking == 0 ? prim.index.v0 :
					     prim.index.provoking == 1 ? prim.index.v1 :
									 prim.index.v2;
			assert_true(ipf_fetch_varyings(&fx->scene, &fx->pb->mmu, &tlb, &varyings,
						       &fault));
			assert_true(*count < PRIMS * 8);
			number[(*count)++] = (u32)v[0];
		}
	assert_int_equal(result, IPF_END);
}

static void merged_cores_are_in_submission_order(void **state)
{
	static u32 number[PRIMS * 8];
	struct ta_fixture *one = tafx_create(2000, &target);
	struct tafx_prim *prims = make(one, PRIMS);
	u32 cores, at, t, i, count;

	(void)state;
	one->draw.state.depth_clip = true;
	assert_int_equal(draw(one, prims, 0), 0);
	for (cores = 1; cores <= PUMICE_MAX_CORES; cores++) {
		struct pumice_scene scene = target;
		struct ta_fixture *fx;
		u32 used = 0;

		scene.cores = (u8)cores;
		fx = tafx_create(4000, &scene);
		fx->draw.state.depth_clip = true;
		for (at = 0; at < PRIMS; at += CHUNK) {
			const u32 n = PRIMS - at < CHUNK ? PRIMS - at : CHUNK;
			const u32 core = pbfx_random(fx->pb, cores);
			u32 done = 0;

			fx->draw.sequence++;
			assert_int_equal(tafx_give(fx, core, prims, at, n, &done), TA_OK);
		}
		for (i = 0; i < cores; i++)
			used |= (u32)tafx_write_headers(fx, i) << i;
		for (t = 0; t < fx->scene.tiles_x * fx->scene.tiles_y; t++) {
			merge(fx, used, t, number, &count);
			assert_int_equal(count, one->tile[t].count);
			for (i = 0; i < count; i++)
				assert_int_equal(number[i], one->tile[t].found[i].number);
		}
		tafx_destroy(fx);
	}
	free(prims);
	tafx_destroy(one);
}

/* With plenty of memory, the DPM has pages of the scene until the core has finished. */
static void pages_of_a_core_are_those_of_the_scene_at_its_end(void **state)
{
	struct ta_fixture *fx = tafx_create(2000, &target);
	struct tafx_prim *prims = make(fx, PRIMS);
	u32 m, pages = 0;

	(void)state;
	fx->draw.state.depth_clip = true;
	assert_int_equal(draw(fx, prims, 0), 0);
	assert_true(pm_from_spares(fx->pb->pm) > 0);
	for (m = 0; m < PM_MACRO_TILES; m++)
		pages += pbfx_read_chain(fx->pb, 0, m, 0).pages;
	assert_int_equal(pages, pm_allocated(fx->pb->pm));
	assert_int_equal(pbfx_read_list(fx->pb, 0).free, 2000 - pages);
	free(prims);
	tafx_destroy(fx);
}

/* Nothing drawn: no headers. A core without room: a fault. */
static void finish_reports_whether_the_scene_is_empty(void **state)
{
	struct ta_fixture *fx = tafx_create(100, &target);
	struct tafx_prim p = { .pos = { { 1, 1, 0, 1 }, { 9, 1, 0, 1 }, { 1, 9, 0, 1 } } };
	struct gpu_fault fault;
	u32 done = 0;
	bool any;

	(void)state;
	memset(fx->pb->regions, 0x5a, 64);
	assert_false(tafx_write_headers(fx, 0));
	assert_int_equal(fx->pb->regions[0], 0x5a5a5a5a);
	fx->scene.cores = 0;
	tafx_begin(fx, 0);
	assert_int_equal(tafx_give(fx, 0, &p, 0, 1, &done), TA_OK);
	assert_int_equal(ta_finish(fx->ta[0], &any, &fault), TA_FAULT);
	assert_int_equal(fault.fault, PUMICE_FAULT_PM_SCENE);
	tafx_destroy(fx);
}

/*
 * A page of the parameter buffer, of the regions or of the TSP state that is not mapped;
 * and a TSP state, whose address is the user's, in a page of the parameter management.
 */
static void faults_of_the_mmu_are_reported(void **state)
{
	static const u64 missing[] = { PBFX_BASE(0), PBFX_REGIONS, PBFX_STATE, PBFX_STATE };
	static const u8 unit[] = { PUMICE_UNIT_PB, PUMICE_UNIT_TE, PUMICE_UNIT_MTE,
				   PUMICE_UNIT_MTE };
	u32 vo[8 * 32] = { 0 }, i, k;

	(void)state;
	for (k = 0; k < 3; k++) {
		vo[3 * 32 + k] = 0x3f800000;		/* 1 */
		if (k < 2)
			vo[k * 32 + k] = 0x41000000;	/* 8 */
	}
	for (i = 0; i < 4; i++) {
		struct ta_fixture *fx = tafx_create(100, &target);
		struct tafx_waves waves;
		const struct ta_vertices vertices = tafx_waves(&waves, vo, 8, 3);
		const struct ta_prim prim = { { 0, 1, 2 } };
		struct gpu_fault fault = { 0 };
		u32 done = 0;
		bool any;

		/* The last two are clipped, and so need the TSP state. */
		vo[3 * 32 + 2] = i >= 2 ? 0xbf000000 : 0x3f800000;	/* -0.5, 1 */
		fx->draw.state.point_size = true;
		if (i == 3)
			*testmem_pt_entry(fx->pb->tm, PBFX_CTX,
					  missing[i]) |= PUMICE_MMU_PT_ENTRY__PM_OWNED__MASK;
		else
			testmem_unmap(fx->pb->tm, PBFX_CTX, missing[i], 4096);
		mmu_invalidate_ctx(&fx->pb->mmu, PBFX_CTX);
		if (ta_primitives(fx->ta[0], &fx->draw, &vertices, &prim, 1, &done, &fault) ==
		    TA_OK)
			assert_int_equal(ta_finish(fx->ta[0], &any, &fault), TA_FAULT);
		assert_int_equal(fault.fault, i == 3 ? PUMICE_FAULT_MMU_PM_OWNED :
						      PUMICE_FAULT_MMU_PT_INVALID);
		assert_int_equal(fault.unit, unit[i]);
		assert_int_equal(fault.ctx, PBFX_CTX);
		assert_int_equal(fault.addr & ~4095ull, missing[i]);
		tafx_destroy(fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_at_any_page_loses_nothing),
		cmocka_unit_test(merged_cores_are_in_submission_order),
		cmocka_unit_test(pages_of_a_core_are_those_of_the_scene_at_its_end),
		cmocka_unit_test(finish_reports_whether_the_scene_is_empty),
		cmocka_unit_test(faults_of_the_mmu_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
