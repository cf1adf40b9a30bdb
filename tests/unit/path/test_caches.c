// SPDX-License-Identifier: MIT
/*
 * Operations on caches that a job of the library causes, by the count of the device: buffers are
 * coherent, so each job reads memory anew and is seen there when it has ended.
 */
#include "../../../qemu-device/gpu/gpu.h"
#include "inproc/inproc.h"
#include "path.h"
#include "store.pasm.h"

static uint32_t operations(struct path *p)
{
	return inproc_device(p->dev)->gpu->slc_regs.count;
}

static void run(struct path *p, const struct pumice_kernel *k)
{
	const uint32_t uniforms[3] = { VA_WORDS(p->out_va), 1 };

	path_dispatch(p, k, 1, uniforms, 3);
	if (path_run(p, NULL))
		fail_msg("%s", pumice_device_error(p->dev));
}

/* One before its start, one after its end; the first job also binds an MMU context. */
static void check_job(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint32_t before;

	run(p, k);
	before = operations(p);
	run(p, k);
	assert_int_equal(operations(p), before + 2);
	pumice_kernel_destroy(k);
}

static void jobs_cause_an_operation_before_and_after(void **state)
{
	(void)state;
	path_one(1, 0, check_job);
	path_one(2, 2, check_job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_cause_an_operation_before_and_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
