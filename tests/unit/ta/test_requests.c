// SPDX-License-Identifier: MIT
/*
 * Requests of a TA in detailed modes: each byte of a block's primitives and vertices once, the
 * block's header with each of them, and each region header.
 */
#include "../../../qemu-device/gpu/pm/block.h"
#include "requests.h"
#include "ta_fixture.h"

#define CORE	1u
#define PRIMS	5u

static struct requests made;

static void set(struct tafx_prim *p, float x)
{
	static const float at[3][2] = { { 1, 1 }, { 9, 1 }, { 1, 9 } };
	u32 i;

	for (i = 0; i < 3; i++) {
		p->pos[i][0] = at[i][0] + x;
		p->pos[i][1] = at[i][1];
		p->pos[i][2] = 0.5f;
		p->pos[i][3] = 1;
		p->size[i] = 1;
	}
}

/* Triangles without common vertices, whose varyings are those of the fixture. */
static void blocks_and_headers_are_requested_by_their_core(void **state)
{
	const struct pumice_scene scene = { .width = 128, .height = 96, .cores = 2 };
	const u32 vertex = 4 * block_vertex_words(PUMICE_VERTEX_DATA_VARYINGS, 3);
	const u32 header = PUMICE_PRIM_BLOCK_WORDS * 4, region = PUMICE_REGION_WORDS * 4;
	struct ta_fixture *fx = tafx_create(100, &scene);
	const u32 tiles = fx->scene.tiles_x * fx->scene.tiles_y;
	struct tafx_prim prims[PRIMS] = { 0 };
	struct requests_sum sum;
	u32 i, done = 0, headers = 0;
	u64 va;

	(void)state;
	for (i = 0; i < PRIMS; i++)
		set(&prims[i], (float)i);
	requests_record(&made, &fx->pb->mmu);
	assert_int_equal(tafx_give(fx, CORE, prims, 0, PRIMS, &done), TA_OK);
	sum = requests_of(&made, PUMICE_MEM_CLIENT_PB_WRITE);
	assert_int_equal(sum.places, 1u << (CORE + 1));
	assert_int_equal(sum.bytes, PRIMS * (header + 4 + 3 * vertex));
	/* The block has its header first. */
	for (i = 0, va = UINT64_MAX; i < made.count; i++)
		if (requests_client(&made.request[i]) == PUMICE_MEM_CLIENT_PB_WRITE)
			va = made.request[i].addr < va ? made.request[i].addr : va;
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_PB_WRITE, va,
					header + PRIMS * 4), header + PRIMS * 4);
	va += block_vertex_at(PUMICE_VERTEX_DATA_VARYINGS);
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_PB_WRITE, va, PRIMS * 3 * vertex),
			 PRIMS * 3 * vertex);
	tafx_write_headers(fx, CORE);
	sum = requests_of(&made, PUMICE_MEM_CLIENT_TE_WRITE);
	assert_int_equal(sum.places, 1u << (CORE + 1));
	va = fx->scene.regions + CORE * tiles * region;
	for (i = 0; i < made.count; i++)
		headers += made.request[i].addr >= va && made.request[i].bytes == region &&
			   made.request[i].addr < va + tiles * region;
	assert_int_equal(headers, tiles);
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_TE_WRITE, va, tiles * region),
			 tiles * region);
	requests_end(&fx->pb->mmu);
	tafx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_and_headers_are_requested_by_their_core),
	};

	return cmocka_run_group_tests_name("ta requests", tests, NULL, NULL);
}
