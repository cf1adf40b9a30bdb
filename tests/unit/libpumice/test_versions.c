// SPDX-License-Identifier: MIT
/*
 * Other versions: error texts for programs linked before 0.5, of which some fits into their
 * buffers; devices without render control lists, operations on caches, or coherent pages.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "internal.h"

#include <cmocka.h>
#include <pumice/pumice_rays.h>

static void a_former_error_text_ends_with_a_line_or_character(void **state)
{
	char long_line[301], two_lines[302], *umlauts = long_line;
	struct pumice_device *dev;
	size_t i;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	assert_string_equal(device_error_former(dev), "no error");
	/* Parentheses: cmocka has a macro of this name. */
	(fail)(dev, EIO, "short\nof two lines");
	assert_string_equal(device_error_former(dev), "short\nof two lines");
	memset(long_line, 'x', 300);
	long_line[300] = '\0';
	(fail)(dev, EIO, "%.255s", long_line);
	assert_string_equal(device_error_former(dev), device_error(dev));
	(fail)(dev, EIO, "%.256s", long_line);
	assert_int_equal(strlen(device_error_former(dev)), 255);
	memcpy(two_lines, long_line, sizeof(long_line));
	two_lines[100] = two_lines[200] = '\n';
	(fail)(dev, EIO, "%s", two_lines);
	assert_int_equal(strlen(device_error_former(dev)), 200);
	/* Two bytes each: the last ends at 254 or 255. */
	for (i = 0; i < 300; i += 2)
		memcpy(umlauts + i, "\xc3\xa4", 2);
	(fail)(dev, EIO, "%s", umlauts);
	assert_int_equal(strlen(device_error_former(dev)), 254);
	(fail)(dev, EIO, "x%s", umlauts);
	assert_int_equal(strlen(device_error_former(dev)), 255);
	assert_int_equal(strlen(device_error(dev)), 301);
	pumice_device_close(dev);
}

static void a_device_without_lists_gets_the_record(void **state)
{
	struct pumice_freelist_desc pages;
	struct pumice_freelist *list;
	struct pumice_stream *stream;
	struct pumice_hwrt_desc set;
	struct pumice_hwrt *hwrt;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	uint64_t va;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_stream_create(vm, 4096, &stream), 0);
	pumice_freelist_desc_init(&pages);
	pages.initial_pages = pages.max_pages = 16;
	pages.grow_pages = 0;
	assert_int_equal(pumice_freelist_create(vm, &pages, &list), 0);
	pumice_hwrt_desc_init(&set, list, 64, 64);
	assert_int_equal(pumice_hwrt_create(vm, &set, &hwrt), 0);
	dev->info.version = 0x20003;
	assert_int_equal(pumice_stream_render_list(stream, hwrt, 0x4560, &va), 0);
	assert_int_equal(va, 0x4560);
	dev->info.version = 0x20004;
	assert_int_equal(pumice_stream_render_list(stream, hwrt, 0x4560, &va), 0);
	assert_int_not_equal(va, 0x4560);
	pumice_hwrt_destroy(hwrt);
	pumice_freelist_destroy(list);
	pumice_stream_destroy(stream);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/* Instead of a job that ends with a fault, as the bit is reserved in its tables. */
static void a_device_without_coherent_pages_refuses_them(void **state)
{
	struct pumice_device *dev;
	struct pumice_bo *bo;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	dev->info.version = 0x2000a;
	assert_int_equal(pumice_bo_create_flags(dev, 4096, NULL, PUMICE_BO_COHERENT, &bo),
			 -EOPNOTSUPP);
	assert_non_null(strstr(device_error(dev), "needs register map 2.11; the device has 2.10"));
	assert_int_equal(pumice_bo_create_flags(dev, 4096, NULL, PUMICE_BO_WRITE_COMBINED, &bo), 0);
	pumice_bo_destroy(bo);
	dev->info.version = 0x2000b;
	assert_int_equal(pumice_bo_create_flags(dev, 4096, NULL, PUMICE_BO_COHERENT, &bo), 0);
	pumice_bo_destroy(bo);
	pumice_device_close(dev);
}

/* Instead of a job that ends with a fault at the command or instruction. */
static void a_device_without_cache_operations_refuses_them(void **state)
{
	static const char *const programs[] = {
		"cache_clean system\nend\n", "cache_invalidate core\nend\n",
		"mem_fence core\nend\n", "mem_fence device\nend\n",
	};
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	u32 older, n;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_stream_create(vm, 4096, &stream), 0);
	for (older = 0; older < 2; older++) {
		const int refused = older ? -EOPNOTSUPP : 0;

		dev->info.version = older ? 0x20008 : 0x20009;
		assert_int_equal(pumice_stream_flush(stream, 0), 0);
		assert_int_equal(pumice_stream_flush(stream, PUMICE_FLUSH_DATA | PUMICE_FLUSH_CODE),
				 0);
		assert_int_equal(pumice_stream_flush(stream, PUMICE_FLUSH_CLEAN), refused);
		if (older)
			assert_non_null(strstr(device_error(dev), "need register map 2.9; the device has 2.8"));
		assert_int_equal(pumice_stream_flush(stream, PUMICE_FLUSH_INVALIDATE), refused);
		assert_int_equal(pumice_stream_flush(stream, PUMICE_FLUSH_DATA | PUMICE_FLUSH_GPU),
				 refused);
		assert_int_equal(pumice_stream_vdm_flush(stream, PUMICE_FLUSH_DATA), refused);
		assert_int_equal(pumice_stream_pdm_flush(stream, PUMICE_FLUSH_DATA), refused);
		assert_int_equal(pumice_stream_tdm_flush(stream, PUMICE_FLUSH_DATA), refused);
		for (n = 0; n < sizeof(programs) / sizeof(programs[0]); n++) {
			int ret = pumice_kernel_assemble(vm, "caches", programs[n], &kernel);

			assert_int_equal(ret, n < 3 ? refused : 0);
			if (!ret)
				pumice_kernel_destroy(kernel);
		}
	}
	pumice_stream_destroy(stream);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/* The RDM of a device with register map 2.8 has no FLUSH: neither order of the two is emitted. */
static void streams_of_rays_have_no_flush_on_older_devices(void **state)
{
	struct pumice_ray_launch launch;
	struct pumice_stream *stream;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	u32 older;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_stream_create(vm, 4096, &stream), 0);
	pumice_ray_launch_init(&launch, pumice_stream_va(stream), 1, 1);
	launch.rays = launch.structure;
	for (older = 0; older < 2; older++) {
		const int refused = older ? -EOPNOTSUPP : 0;
		u64 end;

		dev->info.version = older ? 0x20008 : 0x20009;
		pumice_stream_reset(stream);
		assert_int_equal(pumice_stream_rays_launch(stream, &launch), 0);
		assert_int_equal(pumice_stream_flush(stream, 0), refused);
		if (older)
			assert_non_null(strstr(device_error(dev),
					       "need register map 2.9; the device has 2.8"));
		/* Another stream in the same memory, of compute. */
		assert_int_equal(pumice_stream_end(stream, &end), 0);
		assert_int_equal(pumice_stream_flush(stream, PUMICE_FLUSH_DATA), 0);
		assert_int_equal(pumice_stream_rays_launch(stream, &launch), refused);
		assert_int_equal(pumice_stream_link(stream, end), 0);
		assert_int_equal(pumice_stream_rays_launch(stream, &launch), 0);
		assert_int_equal(pumice_stream_link(stream, end), 0);
		assert_int_equal(pumice_stream_flush(stream, 0), 0);
		pumice_stream_reset(stream);
		assert_int_equal(pumice_stream_rays_launch(stream, &launch), 0);
		pumice_stream_reset(stream);
		assert_int_equal(pumice_stream_flush(stream, PUMICE_FLUSH_CODE), 0);
	}
	pumice_stream_destroy(stream);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_former_error_text_ends_with_a_line_or_character),
		cmocka_unit_test(a_device_without_lists_gets_the_record),
		cmocka_unit_test(a_device_without_cache_operations_refuses_them),
		cmocka_unit_test(streams_of_rays_have_no_flush_on_older_devices),
		cmocka_unit_test(a_device_without_coherent_pages_refuses_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
