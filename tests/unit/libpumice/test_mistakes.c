// SPDX-License-Identifier: MIT
/* The errors and texts of mistakes.c, in process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mistakes.h"
#include "pumice/pumice_rays.h"

static void every_mistake_has_its_text(void **state)
{
	struct pumice_device *dev;
	struct pumice_vm *vm;
	size_t i;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	for (i = 0; i < mistake_count; i++) {
		print_message("%s\n", mistakes[i].name);
		assert_int_equal(mistakes[i].make(dev, vm), -mistakes[i].error);
		assert_string_equal(pumice_device_error(dev), mistakes[i].text);
	}
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/* Without a device there is no text. */
static void a_wait_for_nothing_is_refused(void **state)
{
	const struct pumice_wait wait = { 0 };

	(void)state;
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, 0), -EINVAL);
	assert_int_equal(pumice_sync_wait(&wait, 0, 0, 0), -EINVAL);
	assert_int_equal(pumice_sync_wait(NULL, 1, 0, 0), -EINVAL);
}

/* Streams of rays end with the same function as those of compute. */
static void a_stream_of_rays_in_a_context_of_compute_is_explained(void **state)
{
	struct pumice_ray_structure *structure;
	struct pumice_ray_launch launch;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_buffer rays;
	struct pumice_device *dev;
	struct pumice_rays *builder;
	struct pumice_vm *vm;
	uint64_t va;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:ram=64,threads=0", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	assert_int_equal(pumice_rays_create(vm, &builder), 0);
	assert_int_equal(pumice_ray_structure_create(builder, 4, &structure), 0);
	assert_int_equal(pumice_buffer_create(vm, 4096, &rays), 0);
	pumice_ray_launch_init(&launch, pumice_ray_structure_va(structure), 4, 4);
	launch.rays = rays.va;
	assert_int_equal(pumice_stream_rays_launch(stream, &launch), 0);
	assert_int_equal(pumice_stream_end(stream, &va), 0);
	assert_int_equal(pumice_context_run(context, va, PUMICE_FOREVER, NULL), -EIO);
	assert_non_null(strstr(pumice_device_error(dev),
			       "; submit streams of rays to a context of PUMICE_CONTEXT_RAYS."));
	pumice_buffer_destroy(&rays);
	pumice_ray_structure_destroy(structure);
	pumice_rays_destroy(builder);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mistake_has_its_text),
		cmocka_unit_test(a_wait_for_nothing_is_refused),
		cmocka_unit_test(a_stream_of_rays_in_a_context_of_compute_is_explained),
	};

	return cmocka_run_group_tests_name("libpumice-mistakes", tests, NULL, NULL);
}
