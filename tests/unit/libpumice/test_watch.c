// SPDX-License-Identifier: MIT
/*
 * The in-process time-out does not use times that the firmware is writing: the shared memory of a
 * job, which the test marks as the firmware does. Internal functions.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "inproc/inproc.h"

#include <cmocka.h>

#define MS	1000000ull

static void times_that_the_firmware_writes_do_not_count(void **state)
{
	struct pumice_context_state context_state;
	struct pumice_dispatch dispatch;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_kernel *endless;
	struct fwif_context *shared;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	u64 va;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=64,job-timeout-ms=50",
					    &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	assert_int_equal(pumice_kernel_assemble(vm, "endless", "loop: jump loop\n", &endless), 0);
	pumice_dispatch_init(&dispatch, endless);
	assert_int_equal(pumice_stream_dispatch(stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(stream, &va), 0);
	shared = &((struct inproc_context *)context)->shared->context;
	assert_int_equal(pumice_context_run(context, va, 1, NULL), -ETIME);
	while (!shared->slice_start)
		pumice_gpu_poll(inproc_device(dev)->gpu, 1000);
	shared->times_version |= 1;
	/* Several times the limit: the test's time does not decide about its result. */
	assert_int_equal(pumice_context_run(context, va, 250 * MS, NULL), -ETIME);
	assert_int_equal(pumice_context_get_state(context, &context_state), 0);
	assert_int_equal(context_state.flags, 0);
	shared->times_version++;
	assert_int_equal(pumice_context_run(context, va, PUMICE_FOREVER, NULL), -EIO);
	assert_int_equal(pumice_context_get_state(context, &context_state), 0);
	assert_true(context_state.flags & PUMICE_CONTEXT_GUILTY);
	pumice_kernel_destroy(endless);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_that_the_firmware_writes_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
