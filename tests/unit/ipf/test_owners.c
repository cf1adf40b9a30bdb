// SPDX-License-Identifier: MIT
/* Mode strict: the IPF and the TA access the parameter buffer in pages that the scene owns. */
#include <string.h>

#include "../../../qemu-device/gpu/ipf/stream.h"
#include "requests.h"
#include "ta_fixture.h"

static const struct pumice_scene target = { .width = 64, .height = 64, .cores = 1 };
static struct requests made;

/* A TA with a scene in mode strict, in which no access is a hit of a TLB, and a triangle. */
static struct ta_fixture *create(struct tafx_prim *prim)
{
	static const float at[3][2] = { { 1, 1 }, { 9, 1 }, { 1, 9 } };
	struct ta_fixture *fx = tafx_create(100, &target);
	u32 i;

	requests_record(&made, &fx->pb->mmu);
	owner_set(&fx->pb->owner, true);
	fx->scene = pbfx_load(fx->pb, 0, &target);
	tafx_begin(fx, 0);
	*prim = (struct tafx_prim){ 0 };
	for (i = 0; i < 3; i++) {
		prim->pos[i][0] = at[i][0];
		prim->pos[i][1] = at[i][1];
		prim->pos[i][2] = 0.5f;
		prim->pos[i][3] = 1;
		prim->size[i] = 1;
	}
	return fx;
}

static void destroy(struct ta_fixture *fx)
{
	requests_end(&fx->pb->mmu);
	tafx_destroy(fx);
}

static void give(struct ta_fixture *fx, const struct tafx_prim *prim)
{
	u32 done = 0;

	assert_int_equal(tafx_give(fx, 0, prim, 0, 1, &done), TA_OK);
}

/* Read the first primitive of the first tile, as the IPF and the TSP do. */
static void read_tile(struct ta_fixture *fx)
{
	const struct ipf_job job = { .scene = &fx->scene, .mmu = &fx->pb->mmu, .used = 1 };
	static struct mmu_tlb tlb;
	struct ipf_varyings varyings = { .count = 1 };
	struct ipf_stream stream;
	struct ipf_prims prims;
	struct ipf_prim prim;
	struct gpu_fault fault;
	float v[3];

	memset(&tlb, 0, sizeof(tlb));
	ipf_stream_begin(&stream, 0, true);
	assert_int_equal(ipf_stream_next(&stream, &job, &tlb, &prims, &fault), IPF_PRIMS);
	assert_true(ipf_fetch(&fx->scene, &fx->pb->mmu, &tlb, prims.block, &prims.header, 0, &prim,
			      &fault));
	varyings.block = prims.block;
	varyings.header = &prims.header;
	varyings.out[0] = v;
	assert_true(ipf_fetch_varyings(&fx->scene, &fx->pb->mmu, &tlb, &varyings, &fault));
}

static void free_pages(struct ta_fixture *fx)
{
	struct gpu_fault fault;

	assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
}

static void a_scene_with_its_pages_has_no_finding(void **state)
{
	struct tafx_prim prim;
	struct ta_fixture *fx = create(&prim);

	(void)state;
	give(fx, &prim);
	give(fx, &prim);
	tafx_write_headers(fx, 0);
	read_tile(fx);
	free_pages(fx);
	assert_int_equal(fx->pb->findings, 0);
	destroy(fx);
}

/* The pages of a tile are freed before it is rendered. */
static void a_read_after_the_pages_are_freed_is_found(void **state)
{
	struct strict_finding *f;
	struct tafx_prim prim;
	struct ta_fixture *fx = create(&prim);
	u32 i, units = 0;

	(void)state;
	give(fx, &prim);
	tafx_write_headers(fx, 0);
	free_pages(fx);
	assert_int_equal(fx->pb->findings, 0);
	read_tile(fx);
	assert_true(fx->pb->findings > 0);
	for (i = 0; i < fx->pb->findings; i++) {
		f = &fx->pb->finding[i];
		assert_int_equal(f->kind, PUMICE_FINDING_PAGE_AFTER_FREE);
		assert_int_equal(f->access, PUMICE_ACCESS_READ);
		assert_int_equal(f->page.scene, PBFX_SCENE(0));
		assert_int_equal(f->page.other.state, STRICT_PAGE_FREE);
		units |= 1u << f->unit;
	}
	assert_int_equal(units, 1u << PUMICE_UNIT_IPF | 1u << PUMICE_UNIT_PB);
	destroy(fx);
}

/* The pages of a scene are freed while its geometry is binned. */
static void a_write_after_the_pages_are_freed_is_found(void **state)
{
	struct tafx_prim prim;
	struct ta_fixture *fx = create(&prim);

	(void)state;
	give(fx, &prim);
	free_pages(fx);
	assert_int_equal(fx->pb->findings, 0);
	give(fx, &prim);
	assert_true(fx->pb->findings > 0);
	assert_int_equal(fx->pb->finding[0].kind, PUMICE_FINDING_PAGE_AFTER_FREE);
	assert_int_equal(fx->pb->finding[0].access, PUMICE_ACCESS_WRITE);
	assert_int_equal(fx->pb->finding[0].page.other.scene, PBFX_SCENE(0));
	destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scene_with_its_pages_has_no_finding),
		cmocka_unit_test(a_read_after_the_pages_are_freed_is_found),
		cmocka_unit_test(a_write_after_the_pages_are_freed_is_found),
	};

	return cmocka_run_group_tests_name("ipf owners", tests, NULL, NULL);
}
