// SPDX-License-Identifier: MIT
/*
 * Heaps of a device: descriptions that the kernel could return, placing in heaps when the
 * back end refuses it, and captures of objects in large pages.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <pumice/pumice_capture.h>

#include "heaps_internal.h"

#include <cmocka.h>

#define GIB	(1ull << 30)
#define MIB	(1ull << 20)

static const struct pumice_device_info info = { .va_start = 2 * MIB, .va_end = 16 * GIB };

/* Return the first address of a heap that the library allocates. */
static uint64_t upper_half(const struct pumice_device *dev, u32 heap)
{
	return dev->limits.heaps[heap].start + dev->limits.heaps[heap].size / 2;
}

static struct pumice_device_limits good_limits(void)
{
	return (struct pumice_device_limits){
		.heap_count = 3,
		.heaps = {
			{ 2 * MIB, 16 * GIB - 2 * MIB, 4096 },
			{ 16 * GIB, GIB, 65536 },
			{ 20 * GIB, 4 * GIB, 2 * MIB },
		},
	};
}

static void heaps_of_the_kernel_are_checked(void **state)
{
	const struct {
		uint32_t count, index;
		struct pumice_heap heap;
		const char *words;
	} cases[] = {
		{ 0, 2, { 20 * GIB, GIB, 2 * MIB }, "the number of heaps, 0, is not 1 to 9" },
		{ 10, 2, { 20 * GIB, GIB, 2 * MIB }, "the number of heaps, 10, is not 1 to 9" },
		{ UINT32_MAX, 2, { 20 * GIB, GIB, 2 * MIB }, "is not 1 to 9" },
		{ 3, 0, { 0, 16 * GIB, 4096 }, "heap 0 does not consist of the 4 KiB pages" },
		{ 3, 0, { 2 * MIB, 8 * GIB, 4096 }, "heap 0 does not consist of the 4 KiB pages" },
		{ 3, 0, { 2 * MIB, 16 * GIB - 2 * MIB, 8192 }, "heap 0 does not consist of the 4 KiB" },
		{ 3, 1, { 16 * GIB, GIB, 0 }, "heap 1 has pages of 0 bytes" },
		{ 3, 1, { 16 * GIB, GIB, 2048 }, "heap 1 has pages of 0x800 bytes" },
		{ 3, 1, { 16 * GIB, GIB, 65535 }, "heap 1 has pages of 0xffff bytes" },
		{ 3, 1, { 16 * GIB, GIB, 4 * MIB }, "heap 1 has pages of 0x400000 bytes" },
		{ 3, 1, { 16 * GIB, 0, 65536 }, "heap 1 is not aligned to its pages" },
		{ 3, 1, { 16 * GIB, GIB + 4096, 65536 }, "heap 1 is not aligned to its pages" },
		{ 3, 1, { 16 * GIB + 4096, GIB, 65536 }, "heap 1 is not aligned to its pages" },
		{ 3, 1, { 8 * GIB, GIB, 65536 }, "heap 1 overlaps another" },
		{ 3, 2, { 16 * GIB, GIB, 2 * MIB }, "heap 2 overlaps another" },
		{ 3, 2, { 1024 * GIB, GIB, 2 * MIB }, "heap 2 overlaps another or the end" },
		{ 3, 2, { 1023 * GIB, 2 * GIB, 2 * MIB }, "heap 2 overlaps another or the end" },
		{ 3, 2, { 20 * GIB, UINT64_MAX - 2 * MIB + 1, 2 * MIB }, "heap 2 overlaps another" },
	};
	struct pumice_device_limits limits = good_limits();
	char why[100];
	size_t i;

	(void)state;
	assert_int_equal(heaps_check(&info, &limits, why, sizeof(why)), 0);
	limits.heap_count = 1;
	assert_int_equal(heaps_check(&info, &limits, why, sizeof(why)), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		limits = good_limits();
		limits.heap_count = cases[i].count;
		limits.heaps[cases[i].index] = cases[i].heap;
		assert_int_equal(heaps_check(&info, &limits, why, sizeof(why)), -EPROTO);
		if (!strstr(why, cases[i].words))
			fail_msg("case %zu: %s", i, why);
	}
}

/* Also in gaps, at both ends of each heap, and with none described. */
static void addresses_outside_of_heaps_are_in_none(void **state)
{
	struct pumice_device dev = { .info = info, .limits = good_limits() };

	(void)state;
	assert_null(heaps_find(&dev, 2 * MIB - 1));
	assert_ptr_equal(heaps_find(&dev, 2 * MIB), &dev.limits.heaps[0]);
	assert_ptr_equal(heaps_find(&dev, 17 * GIB - 1), &dev.limits.heaps[1]);
	assert_null(heaps_find(&dev, 17 * GIB));
	assert_null(heaps_find(&dev, 20 * GIB - 1));
	assert_ptr_equal(heaps_find(&dev, 24 * GIB - 1), &dev.limits.heaps[2]);
	assert_null(heaps_find(&dev, 24 * GIB));
	assert_null(heaps_find(&dev, UINT64_MAX));
	assert_int_equal(heaps_end(&dev), 24 * GIB);
	dev.limits.heap_count = 0;
	assert_null(heaps_find(&dev, 2 * MIB));
	assert_int_equal(heaps_end(&dev), 16 * GIB);
	dev.contiguous_bytes = 4096;
	assert_int_equal(heaps_for_size(&dev, 2 * MIB), 0);
}

static void sizes_without_contiguous_memory_have_small_pages(void **state)
{
	struct pumice_device dev = { .info = info, .limits = good_limits() };

	(void)state;
	assert_int_equal(heaps_for_size(&dev, 2 * MIB), 0);
	dev.contiguous_bytes = 2 * MIB;
	assert_int_equal(heaps_for_size(&dev, 65536), 0);
	assert_int_equal(heaps_for_size(&dev, 3 * MIB), 0);
	assert_int_equal(heaps_for_size(&dev, 4 * MIB), 2);
	dev.contiguous_bytes = 4096;
	assert_int_equal(heaps_for_size(&dev, 4096), 0);
	assert_int_equal(heaps_for_size(&dev, 65536), 1);
	assert_int_equal(heaps_for_size(&dev, 3 * MIB), 1);
	assert_int_equal(heaps_for_size(&dev, 4 * MIB), 2);
}

/* A back end that refuses binds in heaps of large pages. */
static const struct backend_ops *real_ops;
static int refusal;

static int refuse_large(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count, u32 *done)
{
	if (heaps_find(vm->dev, ops->va) == vm->dev->limits.heaps)
		return real_ops->vm_bind(vm, ops, count, done);
	*done = 0;
	return refusal;
}

static void only_memory_that_does_not_fit_is_placed_in_small_pages(void **state)
{
	static const struct {
		int err;
		bool fallback;
	} cases[] = {
		{ -EINVAL, true }, { -ENOMEM, true }, { -ENOSPC, true }, { -EIO, false },
		{ -ENODEV, false }, { -ENODATA, false }, { -EINTR, false },
	};
	struct pumice_device *dev;
	struct backend_ops ops;
	struct pumice_vm *vm;
	struct pumice_bo *bo;
	uint64_t va;
	size_t i;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_bo_create(dev, 2 * MIB, vm, &bo), 0);
	real_ops = dev->ops;
	ops = *dev->ops;
	ops.vm_bind = refuse_large;
	dev->ops = &ops;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		refusal = cases[i].err;
		if (cases[i].fallback) {
			assert_int_equal(pumice_vm_place(vm, bo, PUMICE_PLACE_LARGE, &va), 0);
			assert_true(va < dev->info.va_end);
			assert_int_equal(pumice_vm_remove(vm, va), 0);
		} else {
			assert_int_equal(pumice_vm_place(vm, bo, PUMICE_PLACE_LARGE, &va),
					 cases[i].err);
		}
	}
	dev->ops = real_ops;
	/* Refused placements have freed their addresses. */
	assert_int_equal(pumice_vm_place(vm, bo, PUMICE_PLACE_LARGE, &va), 0);
	assert_int_equal(va, upper_half(dev, dev->limits.heap_count - 1));
	pumice_bo_destroy(bo);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/* The heap of an address, by its number. */
static u32 heap_of(const struct pumice_device *dev, uint64_t va)
{
	const struct pumice_heap *heap = heaps_find(dev, va);

	assert_non_null(heap);
	return (u32)(heap - dev->limits.heaps);
}

/* A program binds its own memory at the start of each heap; the library does not replace it. */
static void objects_are_not_placed_in_the_lower_half_of_a_heap(void **state)
{
	static const uint64_t pattern = 0x0123456789abcdefull;
	struct pumice_buffer buffer[2];
	struct pumice_device *dev;
	struct pumice_bo *bo;
	struct pumice_vm *vm;
	uint64_t found;
	void *cpu;
	u32 i;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_bo_create(dev, 2 * MIB, vm, &bo), 0);
	assert_int_equal(pumice_bo_map(bo, &cpu), 0);
	memcpy(cpu, &pattern, sizeof(pattern));
	for (i = 1; i < dev->limits.heap_count; i++) {
		const struct pumice_bind bind = {
			.va = dev->limits.heaps[i].start, .size = 2 * MIB, .bo = bo,
		};

		assert_int_equal(pumice_vm_bind(vm, &bind, 1, NULL), 0);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(pumice_buffer_create(vm, 2 * MIB, &buffer[i]), 0);
	for (i = 1; i < dev->limits.heap_count; i++) {
		assert_int_equal(pumice_vm_peek(vm, dev->limits.heaps[i].start, &found,
						sizeof(found)), 0);
		assert_int_equal(found, pattern);
	}
	for (i = 0; i < 2; i++)
		pumice_buffer_destroy(&buffer[i]);
	pumice_bo_destroy(bo);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

static void objects_of_whole_large_pages_are_in_their_heap(void **state)
{
	static const struct {
		uint64_t bytes;
		bool large;
	} cases[] = {
		{ 4096, false }, { MIB, false }, { 2 * MIB - 4096, false }, { 2 * MIB - 1, true },
		{ 2 * MIB, true }, { 3 * MIB, false }, { 4 * MIB, true },
	};
	struct pumice_image_desc desc = {
		.format = PUMICE_FORMAT_RGBA8_UNORM, .layout = PUMICE_LAYOUT_LINEAR,
		.dim = PUMICE_TEXTURE_DIM_2D, .width = 1024, .levels = 1,
	};
	struct pumice_stream *stream;
	struct pumice_buffer buffer;
	struct pumice_image *image;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	u32 last;
	size_t i;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	last = dev->limits.heap_count - 1;
	assert_int_equal(dev->limits.heaps[last].page_bytes, 2 * MIB);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(pumice_buffer_create(vm, cases[i].bytes, &buffer), 0);
		assert_int_equal(heap_of(dev, buffer.va), cases[i].large ? last : 0);
		pumice_buffer_destroy(&buffer);
	}
	for (desc.height = 256; desc.height <= 1024; desc.height *= 2) {
		assert_int_equal(pumice_image_create(vm, &desc, &image), 0);
		assert_int_equal(heap_of(dev, pumice_image_va(image)),
				 desc.height >= 512 ? last : 0);
		pumice_image_destroy(image);
	}
	assert_int_equal(pumice_stream_create(vm, 2 * MIB, &stream), 0);
	assert_int_equal(heap_of(dev, pumice_stream_va(stream)), last);
	pumice_stream_destroy(stream);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/* The data of partial renders: 2 MiB, but for less than a page, with 20 outputs. */
static void spilled_outputs_of_whole_large_pages_are_in_their_heap(void **state)
{
	struct pumice_freelist_desc list_desc;
	struct pumice_freelist *list;
	struct pumice_hwrt_desc desc;
	struct pumice_device *dev;
	struct pumice_hwrt *hwrt;
	struct pumice_vm *vm;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	pumice_freelist_desc_init(&list_desc);
	assert_int_equal(pumice_freelist_create(vm, &list_desc, &list), 0);
	pumice_hwrt_desc_init(&desc, list, 12 * 32, 32);
	for (desc.spill_outputs = 19; desc.spill_outputs <= 20; desc.spill_outputs++) {
		assert_int_equal(pumice_hwrt_create(vm, &desc, &hwrt), 0);
		assert_int_equal(heap_of(dev, hwrt->spill_va),
				 desc.spill_outputs == 20 ? dev->limits.heap_count - 1 : 0);
		pumice_hwrt_destroy(hwrt);
	}
	pumice_freelist_destroy(list);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/* ------------------------------------------------------------ captures */

#define PATH	"test_heaps.bin"

/* An image of 2 MiB and its capture. */
struct captured {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_image *image;
	struct pumice_capture *capture;
	struct backend_ops ops;	/* those of the process, which may refuse large pages */
};

/* small: large pages are refused when the image is created, so that it has 4 KiB pages. */
static void open_captured(struct captured *c, bool small)
{
	const struct pumice_image_desc desc = {
		.format = PUMICE_FORMAT_RGBA8_UNORM, .layout = PUMICE_LAYOUT_LINEAR,
		.dim = PUMICE_TEXTURE_DIM_2D, .width = 1024, .height = 512, .levels = 1,
	};
	const struct pumice_capture_frame frame = { .samples = 1 };
	static uint8_t texels[2 * MIB];
	struct pumice_image_part part;

	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &c->dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(c->dev, &c->vm), 0);
	real_ops = c->dev->ops;
	c->ops = *real_ops;
	c->ops.vm_bind = refuse_large;
	refusal = -EINVAL;
	if (small)
		c->dev->ops = &c->ops;
	assert_int_equal(pumice_image_create(c->vm, &desc, &c->image), 0);
	c->dev->ops = real_ops;
	assert_int_equal(heap_of(c->dev, pumice_image_va(c->image)) == 0, small);
	memset(texels, 0x5a, sizeof(texels));
	pumice_image_part_init(&part);
	assert_int_equal(pumice_image_upload(c->image, part, texels, 1024 * 4), 0);
	assert_int_equal(pumice_capture_write(c->vm, &frame, PATH), 0);
	assert_int_equal(pumice_capture_load(PATH, &c->capture, NULL, 0), 0);
	unlink(PATH);
}

static void close_captured(struct captured *c)
{
	pumice_capture_destroy(c->capture);
	pumice_image_destroy(c->image);
	pumice_vm_destroy(c->vm);
	pumice_device_close(c->dev);
}

/* Place the capture in a new VM; if that succeeds, the image's last byte is there. */
static int place_captured(struct captured *c)
{
	struct pumice_vm *vm;
	uint8_t byte = 0;
	int err;

	assert_int_equal(pumice_vm_create(c->dev, &vm), 0);
	err = pumice_capture_place(c->capture, vm);
	if (!err) {
		assert_int_equal(pumice_vm_peek(vm, pumice_image_va(c->image) + 2 * MIB - 1, &byte,
						1), 0);
		assert_int_equal(byte, 0x5a);
	}
	pumice_vm_destroy(vm);
	return err;
}

static void images_are_replayed_in_pages_of_either_size(void **state)
{
	struct captured c;

	(void)state;
	for (int small = 0; small < 2; small++) {
		open_captured(&c, small);
		assert_int_equal(place_captured(&c), 0);
		close_captured(&c);
	}
	/* Those of 4 KiB pages also where large ones are refused or have no heap. */
	open_captured(&c, true);
	c.dev->ops = &c.ops;
	c.dev->limits.heap_count = 1;
	assert_int_equal(place_captured(&c), 0);
	c.dev->ops = real_ops;
	close_captured(&c);
}

static void a_replay_without_large_pages_is_refused_with_the_reason(void **state)
{
	struct captured c;
	u32 heaps, n;

	(void)state;
	open_captured(&c, false);
	c.dev->ops = &c.ops;
	for (n = 0; n < 40; n++)	/* 80 MiB, more than the device has, if they remain */
		assert_int_equal(place_captured(&c), -EINVAL);
	assert_non_null(strstr(pumice_device_error(c.dev),
			       "is not contiguous for pages of 0x200000: free memory, or"));
	refusal = -EINTR;
	assert_int_equal(place_captured(&c), -EINTR);
	c.dev->ops = real_ops;
	heaps = c.dev->limits.heap_count;
	c.dev->limits.heap_count = 1;
	assert_int_equal(place_captured(&c), -EINVAL);
	assert_non_null(strstr(pumice_device_error(c.dev),
			       "is not in one heap of this device; see"));
	c.dev->limits.heap_count = heaps;
	close_captured(&c);
}

/* Other memory would not help a range that has none. */
static void a_refused_range_without_memory_lacks_no_large_pages(void **state)
{
	const struct pumice_capture_frame frame = { .samples = 1 };
	struct pumice_bind bind = { .size = 2 * MIB, .flags = PUMICE_BIND_NULL };
	struct captured c = { 0 };
	struct pumice_vm *vm;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:threads=0,ram=64", &c.dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(c.dev, &c.vm), 0);
	bind.va = c.dev->limits.heaps[c.dev->limits.heap_count - 1].start;
	assert_int_equal(pumice_vm_bind(c.vm, &bind, 1, NULL), 0);
	assert_int_equal(pumice_capture_write(c.vm, &frame, PATH), 0);
	assert_int_equal(pumice_capture_load(PATH, &c.capture, NULL, 0), 0);
	unlink(PATH);
	real_ops = c.dev->ops;
	c.ops = *real_ops;
	c.ops.vm_bind = refuse_large;
	refusal = -EINVAL;
	c.dev->ops = &c.ops;
	assert_int_equal(pumice_vm_create(c.dev, &vm), 0);
	assert_int_equal(pumice_capture_place(c.capture, vm), -EINVAL);
	assert_null(strstr(pumice_device_error(c.dev), "contiguous"));
	c.dev->ops = real_ops;
	assert_int_equal(pumice_capture_place(c.capture, vm), 0);
	pumice_vm_destroy(vm);
	close_captured(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heaps_of_the_kernel_are_checked),
		cmocka_unit_test(addresses_outside_of_heaps_are_in_none),
		cmocka_unit_test(sizes_without_contiguous_memory_have_small_pages),
		cmocka_unit_test(only_memory_that_does_not_fit_is_placed_in_small_pages),
		cmocka_unit_test(objects_of_whole_large_pages_are_in_their_heap),
		cmocka_unit_test(objects_are_not_placed_in_the_lower_half_of_a_heap),
		cmocka_unit_test(spilled_outputs_of_whole_large_pages_are_in_their_heap),
		cmocka_unit_test(images_are_replayed_in_pages_of_either_size),
		cmocka_unit_test(a_replay_without_large_pages_is_refused_with_the_reason),
		cmocka_unit_test(a_refused_range_without_memory_lacks_no_large_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
