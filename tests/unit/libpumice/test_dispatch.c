// SPDX-License-Identifier: MIT
/* Kernels that the GPU cannot run as work-groups: the dispatch refuses them, with both numbers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice.h"

/* Dispatch one work-group of a program. Returns 0, or the error of the dispatch. */
static int dispatch(struct pumice_vm *vm, struct pumice_stream *stream, const char *text,
		    struct pumice_kernel **kernel)
{
	struct pumice_dispatch d;

	assert_int_equal(pumice_kernel_assemble(vm, "shader", text, kernel), 0);
	pumice_dispatch_init(&d, *kernel);
	return pumice_stream_dispatch(stream, &d);
}

/* The device refuses a program with this error, and then runs another one. */
static void check(const char *device, const char *refused, const char *error, const char *accepted)
{
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	uint64_t va;

	assert_int_equal(pumice_device_open(device, &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	assert_int_equal(dispatch(vm, stream, refused, &kernel), -EINVAL);
	assert_string_equal(pumice_device_error(dev), error);
	pumice_kernel_destroy(kernel);
	assert_int_equal(dispatch(vm, stream, accepted, &kernel), 0);
	assert_int_equal(pumice_stream_end(stream, &va), 0);
	assert_int_equal(pumice_context_run(context, va, PUMICE_FOREVER, NULL), 0);
	pumice_kernel_destroy(kernel);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

static void local_memory_beyond_a_usc_is_refused(void **state)
{
	(void)state;
	check("inproc:cores=1,ram=64,threads=0,local-memory-kib=16", ".local 16388\nend\n",
	      "dispatch: the kernel takes 16388 bytes of local memory, but a USC has 16384; "
	      "declare less: .local BYTES", ".local 16384\nend\n");
}

static void groups_larger_than_those_of_the_gpu_are_refused(void **state)
{
	(void)state;
	check("inproc:cores=1,ram=64,threads=0,preset=waves", ".group 5, 13\nend\n",
	      "dispatch: the kernel has work-groups of 65 instances, but this GPU's have at most "
	      "64; declare fewer: .group X, Y, Z", ".group 4, 16\nend\n");
}

static void programs_of_other_stages_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *stage;
	} rows[] = {
		{ "uvsw vo0, v0\nend\n", "vertex" },
		{ "mov o0, [one], 1.0\nend\n", "fragment" },
		{ ".stage tile\nmov o0, [one], 1.0\nend\n", "tile" },
		{ ".stage rays\nend\n", "rays" },
	};
	char error[128];

	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		snprintf(error, sizeof(error), "dispatch: the kernel is a program of stage %s; "
			 "dispatch one of .stage compute", rows[n].stage);
		check("inproc:cores=1,ram=64,threads=0", rows[n].text, error,
		      ".stage compute\nend\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_memory_beyond_a_usc_is_refused),
		cmocka_unit_test(groups_larger_than_those_of_the_gpu_are_refused),
		cmocka_unit_test(programs_of_other_stages_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
