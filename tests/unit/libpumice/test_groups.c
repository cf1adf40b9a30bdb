// SPDX-License-Identifier: MIT
/*
 * Placement of the work-groups of a GPU with two threads: those of a large launch run on the USCs
 * of all cores. Each group stores the number of its USC, after a loop, so that a core is busy while
 * others start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pumice/pumice.h"

#define GROUPS	1024u
#define CORES	4u
#define MOST	4u	/* USCs of a core, of any preset */
#define LAUNCHES 50u

/* Wave 0, lane 0 of each group stores: a group is one instance. */
static const char text[] =
	".group 1, 1, 1\n"
	".uniforms sh0, 2\n"
	".input sh2, group_x\n"
	"mov r2[0], 1000\n"
	"round:\n"
	"sub.u32 r2[0], r2[0], 1\n"
	"brnz round, r2[0]\n"
	"mov r0, [one], core\n"
	"shl.u32 r0, r0, 2\n"
	"add.u32 r0, r0, usc\n"
	"mov r1, [one], sh2\n"
	"shl.u32 r1, r1, 2\n"
	"global_store32 sig0, [one], sh0 + r1, r0\n"
	"sig_wait r3[0], sig0\n"
	"end\n";

/* Launch the groups; return the number of USCs that they ran on. */
static unsigned int uscs_of_launch(struct pumice_context *context, uint64_t start,
				   const uint32_t *usc)
{
	uint32_t seen = 0, i;

	assert_int_equal(pumice_context_run(context, start, PUMICE_FOREVER, NULL), 0);
	for (i = 0; i < GROUPS; i++) {
		assert_in_range(usc[i], 0, CORES * MOST - 1);
		seen |= 1u << usc[i];
	}
	return (unsigned int)__builtin_popcount(seen);
}

/* The host may run one thread only, which does the work of a core before others start: rarely. */
static void groups_of_a_large_launch_run_on_all_cores(void **state)
{
	struct pumice_dispatch d = { .groups = { GROUPS, 1, 1 } };
	unsigned int launches, all, uscs = 0;
	struct pumice_program *program;
	struct pumice_context *context;
	struct pumice_device_info info;
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
	char error[PUMICE_ERROR_BYTES];
	struct pumice_device *dev;
	struct pumice_buffer out;
	struct pumice_vm *vm;
	uint32_t uniforms[2];
	uint64_t start;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=4,threads=2,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_device_info(dev, &info), 0);
	assert_in_range(info.uscs_per_core, 1, MOST);
	all = CORES * info.uscs_per_core;
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_buffer_create(vm, GROUPS * 4, &out), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	if (pumice_program_assemble("groups", text, &program, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_kernel_create(vm, program, &kernel), 0);
	uniforms[0] = (uint32_t)out.va;
	uniforms[1] = (uint32_t)(out.va >> 32);
	d.kernel = kernel;
	d.uniforms = uniforms;
	d.uniform_words = 2;
	assert_int_equal(pumice_stream_dispatch(stream, &d), 0);
	assert_int_equal(pumice_stream_end(stream, &start), 0);
	for (launches = 0; launches < LAUNCHES && uscs != all; launches++)
		uscs = uscs_of_launch(context, start, out.cpu);
	assert_int_equal(uscs, all);
	pumice_kernel_destroy(kernel);
	pumice_program_destroy(program);
	pumice_stream_destroy(stream);
	pumice_buffer_destroy(&out);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_a_large_launch_run_on_all_cores),
	};

	return cmocka_run_group_tests_name("libpumice groups", tests, NULL, NULL);
}
