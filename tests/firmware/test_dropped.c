// SPDX-License-Identifier: MIT
/*
 * Mode strict: a firmware that drops an interrupt, a build with the defect DROP. The first argument
 * is "right" for the firmware without it.
 */
#include <string.h>

#include "fixture.h"

static bool right;

/* Run a compute job; returns whether it has ended. */
static bool run_job(struct fixture *r, struct fx_context *c)
{
	fx_compute(c, FX_STREAM_VA, 1);
	fx_update(c, c->object_addr, 1);
	fx_put_kick(r, c);
	fx_kick(r);
	assert_true(fx_run(r));
	return *c->object == 1;
}

static void the_end_of_a_job_that_is_dropped_is_found(void **state)
{
	char text[PUMICE_FINDING_BYTES];
	struct fx_context c;
	struct fixture *r;
	struct fx_vm vm;

	(void)state;
	r = fx_with_context(&vm, &c);
	assert_int_equal(pumice_gpu_set_mode(r->gpu, "strict"), 0);
	assert_int_equal(run_job(r, &c), right);
	assert_int_equal(pumice_gpu_finding(r->gpu, 0, text), !right);
	if (!right)
		assert_non_null(strstr(text, "{\"finding\":\"interrupt-dropped\",\"unit\":\"cdm\","
					     "\"virtual_gpu\":0,\"context\":0,\"event\":8,"));
	assert_false(pumice_gpu_finding(r->gpu, 1, text));
	fx_destroy(r);
}

static void other_modes_have_no_finding(void **state)
{
	char text[PUMICE_FINDING_BYTES];
	struct fx_context c;
	struct fixture *r;
	struct fx_vm vm;

	(void)state;
	r = fx_with_context(&vm, &c);
	assert_int_equal(run_job(r, &c), right);
	assert_false(pumice_gpu_finding(r->gpu, 0, text));
	fx_destroy(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_a_job_that_is_dropped_is_found),
		cmocka_unit_test(other_modes_have_no_finding),
	};

	right = argc > 1 && !strcmp(argv[1], "right");
	return cmocka_run_group_tests_name("firmware dropped", tests, NULL, NULL);
}
