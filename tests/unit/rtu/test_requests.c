// SPDX-License-Identifier: MIT
/* Requests of the ray tracing unit in detailed modes: whole items, for the USC that it serves. */
#include "fixture.h"
#include "requests.h"

#define USC	6u

static struct requests made;

/* A ray that hits the only triangle: header, root and leaf. */
static void items_are_requested_for_the_usc_of_the_unit(void **state)
{
	static const float vertices[9] = { 0, 0, 5, 4, 0, 5, 0, 4, 5 };
	const struct ray ray = fx_ray_z(1, 1);
	struct requests_sum sum;
	struct result result;
	struct fixture fx;
	struct tree tree;

	(void)state;
	fx_setup(&fx);
	rtu_destroy(fx.rtu);
	fx.rtu = rtu_create(&fx.mmu, USC, FX_WAVES);
	assert_non_null(fx.rtu);
	fx_triangles(&fx, &tree, vertices, 1);
	requests_record(&made, &fx.mmu);
	assert_true(fx_trace(&fx, tree.va, false, &ray, &result, 1));
	requests_end(&fx.mmu);
	assert_true(result.kind);
	sum = requests_of(&made, PUMICE_MEM_CLIENT_RTU_NODE);
	assert_int_equal(sum.requests, 3);
	assert_int_equal(sum.bytes, 4 * (PUMICE_RT_HEADER_WORDS + PUMICE_RT_NODE_WORDS +
					 PUMICE_RT_TRIANGLE_WORDS));
	assert_int_equal(sum.uscs, 1u << USC);
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_requested_for_the_usc_of_the_unit),
	};

	return cmocka_run_group_tests_name("rtu requests", tests, NULL, NULL);
}
