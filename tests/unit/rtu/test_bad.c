// SPDX-License-Identifier: MIT
/*
 * Acceleration structures that are malformed: each is refused by name, with its address, in bounded
 * time.
 */
#include "fixture.h"

#include <string.h>

static const float square[2][9] = {
	{ -9, -9, 4, 9, -9, 4, 9, 9, 4 }, { -9, -9, 4, 9, 9, 4, -9, 9, 4 },
};

static void *begin(struct fixture *fx, struct tree *bottom, struct tree *top)
{
	struct pumice_rt_instance instance = { .to_object = { [0] = 1, [5] = 1, [10] = 1 },
					       .id = 7 };
	struct tree_box box;

	fx_setup(fx);
	fx_triangles(fx, bottom, square[0], 2);
	instance.addr = bottom->va;
	box = bottom->box;
	fx_instances(fx, top, &instance, &box, 1);
	return fx;
}

/* The ray must fault so, and hit as soon as the words are repaired. */
static void must_fault(struct fixture *fx, u64 va, enum pumice_fault fault, u64 addr)
{
	struct ray ray = fx_ray_z(1, 2);
	struct result got;

	fx->fault = (struct gpu_fault){ 0 };
	assert_false(fx_trace(fx, va, false, &ray, &got, 1));
	assert_int_equal(fx->fault.fault, fault);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_RTU);
	assert_int_equal(fx->fault.ctx, FX_CTX);
	assert_true(fx->fault.addr == addr);
	assert_int_equal(fx->query.lanes, 1);
}

static void must_hit(struct fixture *fx, u64 va)
{
	struct ray ray = fx_ray_z(1, 2);
	struct result got;

	assert_true(fx_trace(fx, va, false, &ray, &got, 1));
	assert_true(got.t == 4);
}

static void headers_are_refused(void **state)
{
	static const struct { u32 word, bits; } bad[] = {
		{ 0, 0x100 }, { 0, 0x80 }, { 0, 2 }, { 3, 1 }, { 4, 0x40 },
		{ 5, 0x100 }, { 6, 0x20 },
		{ 7, 0x80000000 }, { 14, 1 }, { 15, 0x80000000 },
		{ 1, 0x80000000 }, { 2, 0x80000000 },	/* more than 2^30 */
	};
	struct tree bottom, top;
	struct fixture fx;

	(void)state;
	begin(&fx, &bottom, &top);
	for (u32 n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		bottom.header[bad[n].word] ^= bad[n].bits;
		must_fault(&fx, bottom.va, PUMICE_FAULT_RTU_HEADER, bottom.va);
		must_fault(&fx, top.va, PUMICE_FAULT_RTU_HEADER, bottom.va);
		bottom.header[bad[n].word] ^= bad[n].bits;
	}
	must_hit(&fx, top.va);
	for (u32 n = 1; n < 64; n *= 2)
		must_fault(&fx, bottom.va + n, PUMICE_FAULT_RTU_ALIGN, bottom.va + n);
	fx_teardown(&fx);
}

/* The last node and leaf of the address space exist, the next ones do not. */
static void arrays_end_with_the_address_space(void **state)
{
	const u64 space = 1ull << PUMICE_MMU_VA_BITS;
	struct tree bottom, top;
	struct fixture fx;

	(void)state;
	begin(&fx, &bottom, &top);
	for (u32 leaves = 0; leaves < 2; leaves++) {
		const u64 at = space - (leaves ? 2 * 64 : 128);
		u32 *addr = &bottom.header[leaves ? 6 : 4], *count = &bottom.header[leaves ? 2 : 1];
		const u32 was[2] = { addr[0], addr[1] };

		addr[0] = (u32)at;
		addr[1] = (u32)(at >> 32);
		must_fault(&fx, bottom.va, PUMICE_FAULT_MMU_PC_INVALID, leaves ? at + 64 : at);
		++*count;
		must_fault(&fx, bottom.va, PUMICE_FAULT_RTU_HEADER, bottom.va);
		--*count;
		addr[0] = was[0];
		addr[1] = was[1];
	}
	must_hit(&fx, top.va);
	fx_teardown(&fx);
}

static void levels_do_not_nest_deeper(void **state)
{
	struct pumice_rt_instance instance = { .to_object = { [0] = 1, [5] = 1, [10] = 1 } };
	struct tree bottom, top, above;
	struct fixture fx;

	(void)state;
	begin(&fx, &bottom, &top);
	instance.addr = top.va;
	fx_instances(&fx, &above, &instance, &top.box, 1);
	must_fault(&fx, above.va, PUMICE_FAULT_RTU_HEADER, top.va);
	fx_teardown(&fx);
}

static void children_are_refused(void **state)
{
	const struct { struct pumice_rt_child_ref ref; } bad[] = {
		{ { .kind = PUMICE_RT_CHILD_NODE, .index = 1 } },
		{ { .kind = PUMICE_RT_CHILD_LEAF, .index = 2 } },
		{ { .kind = PUMICE_RT_CHILD_LEAF, .index = 0x3fffffff } },
		{ { .kind = PUMICE_RT_CHILD_NONE, .index = 1 } },
		{ { .kind = 3, .index = 0 } },
	};
	const u32 at = PUMICE_RT_NODE_WORDS - 8;	/* the first child */
	struct tree bottom, top;
	struct fixture fx;

	(void)state;
	begin(&fx, &bottom, &top);
	for (u32 n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		u32 was = bottom.node[at];

		pumice_rt_child_ref_pack(&bottom.node[at], &bad[n].ref);
		must_fault(&fx, top.va, PUMICE_FAULT_RTU_NODE, bottom.va + 128);
		bottom.node[at] = was;
	}
	must_hit(&fx, top.va);
	fx_teardown(&fx);
}

static void instances_are_refused(void **state)
{
	static const struct { u32 word, bits; } bad[] = {
		{ 12, 1 }, { 12, 0x20 }, { 13, 0x100 }, { 15, 1 },
	};
	struct tree bottom, top;
	struct fixture fx;

	(void)state;
	begin(&fx, &bottom, &top);
	for (u32 n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		top.leaf[bad[n].word] ^= bad[n].bits;
		must_fault(&fx, top.va, PUMICE_FAULT_RTU_LEAF,
			   top.va + (u64)((u8 *)top.leaf - (u8 *)top.header));
		top.leaf[bad[n].word] ^= bad[n].bits;
	}
	must_hit(&fx, top.va);
	fx_teardown(&fx);
}

/* Make every child of node 0 refer to it. */
static void make_cycle(struct tree *tree, u32 children)
{
	const struct pumice_rt_child_ref self = { .kind = PUMICE_RT_CHILD_NODE };
	struct pumice_rt_node node;

	pumice_rt_node_unpack(tree->node, &node);
	for (u32 n = 0; n < children; n++) {
		node.low_x[n] = node.low_y[n] = node.low_z[n] = -9;
		node.high_x[n] = node.high_y[n] = node.high_z[n] = 9;
		pumice_rt_child_ref_pack(&node.child[n], &self);
	}
	pumice_rt_node_pack(tree->node, &node);
}

static void cycles_end(void **state)
{
	struct tree bottom, top;
	struct fixture fx;

	(void)state;
	begin(&fx, &bottom, &top);
	make_cycle(&bottom, 1);		/* and the only one */
	bottom.node[PUMICE_RT_NODE_WORDS - 7] = 0;
	must_fault(&fx, top.va, PUMICE_FAULT_RTU_STEPS, bottom.va + 128);
	make_cycle(&bottom, 4);
	must_fault(&fx, top.va, PUMICE_FAULT_RTU_DEPTH, bottom.va + 128);
	fx_teardown(&fx);
}

#define SAME 20000u

/* Many triangles in one place: each ray visits them all. */
static void build_same(struct fixture *fx, struct tree *tree)
{
	static float same[SAME][9];

	fx_setup(fx);
	for (u32 n = 0; n < SAME; n++)
		memcpy(same[n], square[n % 2], sizeof(same[n]));
	fx_triangles(fx, tree, same[0], SAME);
}

/* A call does a part of a ray. */
static void long_queries_are_done_in_pieces(void **state)
{
	struct ray rays[PUMICE_LANES];
	struct result got[PUMICE_LANES];
	struct fixture fx;
	struct tree tree;

	(void)state;
	build_same(&fx, &tree);
	for (u32 n = 0; n < PUMICE_LANES; n++)
		rays[n] = fx_ray_z((float)n / 8, (float)n / 16);
	assert_true(fx_trace(&fx, tree.va, false, rays, got, PUMICE_LANES));
	/* At least one step for each triangle, and at most two more for its nodes. */
	assert_in_range(fx.calls, PUMICE_LANES * SAME / RTU_PIECE,
			3 * PUMICE_LANES * SAME / RTU_PIECE);
	for (u32 n = 0; n < PUMICE_LANES; n++)
		assert_int_equal(got[n].primitive, 0);
	assert_true(fx_trace(&fx, tree.va, true, rays, got, PUMICE_LANES));
	assert_int_equal(fx.calls, 1);
	fx_teardown(&fx);
}

/* Queries of two waves at a time, and one that is abandoned. */
static void interrupted_queries_of_waves_are_separate(void **state)
{
	static u32 rays[2][PUMICE_RT_RAY_REGS][PUMICE_LANES];
	static u32 regs[2][PUMICE_RT_RESULT_REGS][PUMICE_LANES];
	enum rtu_status status[2] = { RTU_MORE, RTU_MORE };
	struct rtu_query query[2];
	struct fixture fx;
	struct tree tree;

	(void)state;
	build_same(&fx, &tree);
	for (u32 w = 0; w < 2; w++) {
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct ray ray = fx_ray_z(1, (float)l / 8);
			u32 words[PUMICE_RT_RAY_REGS];

			ray.direction[2] = w ? 0.5f : 1;
			memcpy(words, &ray, sizeof(words));
			for (u32 n = 0; n < PUMICE_RT_RAY_REGS; n++)
				rays[w][n][l] = words[n];
		}
		query[w] = (struct rtu_query){
			.ctx = FX_CTX, .addr = tree.va, .ray = rays[w][0], .result = regs[w][0],
			.lanes = ~0u, .wave = w,
		};
		assert_int_equal(rtu_trace(fx.rtu, &query[w], &fx.fault), RTU_MORE);
		assert_int_equal(query[w].lanes, ~0u);
	}
	/* The first wave begins again, and ignores what it had interrupted. */
	query[1].resumed = true;
	while (status[0] == RTU_MORE || status[1] == RTU_MORE) {
		for (u32 w = 0; w < 2; w++) {
			if (status[w] == RTU_MORE)
				status[w] = rtu_trace(fx.rtu, &query[w], &fx.fault);
			query[w].resumed = true;
		}
	}
	for (u32 w = 0; w < 2; w++) {
		const float t = w ? 8 : 4;

		assert_int_equal(status[w], RTU_DONE);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_memory_equal(&regs[w][0][l], &t, sizeof(t));
	}
	fx_teardown(&fx);
}

static void count_request(void *opaque, const struct mmu_request *request)
{
	u32 *count = opaque;

	if (request->unit == PUMICE_UNIT_NONE)	/* a walk of the MMU */
		return;
	assert_int_equal(request->ctx, FX_CTX);
	++*count;
}

/* In detailed modes each node and leaf is a request or two, which take longer than the visit. */
static void pieces_are_shorter_in_detailed_modes(void **state)
{
	struct ray rays[PUMICE_LANES];
	struct result got[PUMICE_LANES];
	struct fixture fx;
	struct tree tree;
	u32 requests = 0;

	(void)state;
	build_same(&fx, &tree);
	for (u32 n = 0; n < PUMICE_LANES; n++)
		rays[n] = fx_ray_z((float)n / 8, (float)n / 16);
	mmu_set_request(&fx.mmu, count_request, &requests);
	assert_true(fx_trace(&fx, tree.va, false, rays, got, PUMICE_LANES));
	assert_in_range(fx.calls, PUMICE_LANES * SAME / RTU_DETAILED_PIECE,
			3 * PUMICE_LANES * SAME / RTU_DETAILED_PIECE);
	assert_in_range(requests, PUMICE_LANES * SAME, 2 * RTU_DETAILED_PIECE * fx.calls);
	for (u32 n = 0; n < PUMICE_LANES; n++)
		assert_int_equal(got[n].primitive, 0);
	fx_teardown(&fx);
}

static void memory_that_is_not_bound_faults_with_its_address(void **state)
{
	const u64 hole = FX_VA + FX_BYTES + 0x1000;
	struct tree bottom, top;
	struct fixture fx;

	(void)state;
	begin(&fx, &bottom, &top);
	must_fault(&fx, hole, PUMICE_FAULT_MMU_PD_INVALID, hole);
	bottom.header[4] = (u32)hole;
	must_fault(&fx, top.va, PUMICE_FAULT_MMU_PD_INVALID, hole);
	bottom.header[4] = (u32)bottom.va + 128;
	bottom.header[6] = (u32)hole;
	must_fault(&fx, top.va, PUMICE_FAULT_MMU_PD_INVALID, hole + 64);
	must_fault(&fx, 1ull << PUMICE_MMU_VA_BITS, PUMICE_FAULT_MMU_ADDRESS,
		   1ull << PUMICE_MMU_VA_BITS);
	fx_teardown(&fx);
}

/*
 * Addresses above the address space fault also if the TLB has
 * the address below them, of any context.
 */
static void addresses_above_the_space_are_not_those_of_a_context(void **state)
{
	struct tree bottom, top;
	struct fixture fx;

	(void)state;
	begin(&fx, &bottom, &top);
	must_hit(&fx, bottom.va);
	for (u64 above = 1; above < 32; above++) {
		const u64 va = bottom.va | above << PUMICE_MMU_VA_BITS;

		must_fault(&fx, va, PUMICE_FAULT_MMU_ADDRESS, va);
	}
	fx_teardown(&fx);
}

/* Any damage ends with results or a fault of the unit. */
static void damaged_structures_do_no_harm(void **state)
{
	struct tree bottom, top;
	struct fixture fx;
	u32 faults = 0;

	(void)state;
	begin(&fx, &bottom, &top);
	for (u32 n = 0; n < 20000; n++) {
		u32 words[8], at[8], count = 1 + rand_below(&fx.seed, 8);
		struct ray ray = fx_ray_z(rand_float(&fx.seed, -10, 10),
					  rand_float(&fx.seed, -10, 10));
		struct result got;

		for (u32 k = 0; k < count; k++) {
			at[k] = rand_below(&fx.seed, (u32)fx.used / 4);
			words[k] = ((u32 *)(void *)fx.memory)[at[k]];
			((u32 *)(void *)fx.memory)[at[k]] ^= rand_below(&fx.seed, 2) ?
				1u << rand_below(&fx.seed, 32) : rand_u32(&fx.seed);
		}
		if (!fx_trace(&fx, top.va, false, &ray, &got, 1)) {
			assert_int_equal(fx.fault.unit, PUMICE_UNIT_RTU);
			faults++;
		}
		while (count--)
			((u32 *)(void *)fx.memory)[at[count]] = words[count];
	}
	must_hit(&fx, top.va);
	assert_true(faults > 1000);
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_refused),
		cmocka_unit_test(arrays_end_with_the_address_space),
		cmocka_unit_test(levels_do_not_nest_deeper),
		cmocka_unit_test(children_are_refused),
		cmocka_unit_test(instances_are_refused),
		cmocka_unit_test(cycles_end),
		cmocka_unit_test(long_queries_are_done_in_pieces),
		cmocka_unit_test(interrupted_queries_of_waves_are_separate),
		cmocka_unit_test(pieces_are_shorter_in_detailed_modes),
		cmocka_unit_test(memory_that_is_not_bound_faults_with_its_address),
		cmocka_unit_test(addresses_above_the_space_are_not_those_of_a_context),
		cmocka_unit_test(damaged_structures_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
