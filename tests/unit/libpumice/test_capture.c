// SPDX-License-Identifier: MIT
/*
 * Captures: the written contents are read back, for any sequence of bindings; and every
 * wrong field of a file is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "pumice/pumice_capture.h"

#define PAGE	4096u
#define GIB	(1ull << 30)
#define LARGE	(2ull << 20)	/* page of the last heap */
#define PAGES	64u		/* of the space that the tests bind in */
#define BASE	0x40000000ull
#define PATH	"test_capture.bin"
#define HEADER	(PUMICE_CAPTURE_FILE_WORDS * 4u)

static struct pumice_device *dev;
static struct pumice_vm *vm;
static const struct pumice_capture_frame some_frame = {
	.geometry = 0x12345670, .render = 0x89abcdef0, .width = 640, .height = 480, .samples = 4,
	.tile_size = 1, .pages = 99, .spill_outputs = 7, .target_count = 1,
	.targets = { { 1, 2, 3, 4, 5, 6, 7, 8 } },
};

static int open_device(void **state)
{
	(void)state;
	return pumice_device_open("inproc:cores=1,threads=0,ram=64", &dev, NULL, 0) ||
	       pumice_vm_create(dev, &vm);
}

static int close_device(void **state)
{
	(void)state;
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	unlink(PATH);
	return 0;
}

/* A bo whose page n is full of value + n. */
static struct pumice_bo *make_bo(uint32_t pages, uint8_t value)
{
	struct pumice_bo *bo;
	void *cpu;

	assert_int_equal(pumice_bo_create(dev, (uint64_t)pages * PAGE, NULL, &bo), 0);
	assert_int_equal(pumice_bo_map(bo, &cpu), 0);
	for (uint32_t n = 0; n < pages; n++)
		memset((uint8_t *)cpu + n * PAGE, value + (int)n, PAGE);
	return bo;
}

/* First byte of a page in a capture, or -1 if the page is not captured. */
static int byte_at(const struct pumice_capture *c, uint64_t va)
{
	struct pumice_capture_range r;

	for (uint32_t n = 0; !pumice_capture_range(c, n, &r); n++)
		if (va >= r.va && va - r.va < r.bytes)
			return ((const uint8_t *)r.data)[va - r.va];
	return -1;
}

static struct pumice_capture *write_and_load(void)
{
	struct pumice_capture *c;
	char error[200];

	assert_int_equal(pumice_capture_write(vm, &some_frame, PATH), 0);
	if (pumice_capture_load(PATH, &c, error, sizeof(error)))
		fail_msg("%s", error);
	return c;
}

static void a_full_disk_is_reported_as_such(void **state)
{
	struct pumice_bo *bo = make_bo(1, 1);
	const struct pumice_bind op = { .bo = bo, .va = BASE, .size = PAGE };

	(void)state;
	assert_int_equal(pumice_vm_bind(vm, &op, 1, NULL), 0);
	assert_int_equal(pumice_capture_write(vm, &some_frame, "/dev/full"), -ENOSPC);
	assert_string_equal(pumice_device_error(dev), "capture: /dev/full: No space left on device");
	pumice_bo_destroy(bo);
}

static void a_capture_contains_the_result_of_random_binds(void **state)
{
	struct pumice_bo *bo[3] = { make_bo(PAGES, 1), make_bo(PAGES, 80), make_bo(PAGES, 160) };
	int model[PAGES];
	struct pumice_capture *c;

	(void)state;
	memset(model, -1, sizeof(model));
	srand(4);
	for (int i = 0; i < 400; i++) {
		const uint32_t at = (uint32_t)rand() % PAGES,
			n = 1 + (uint32_t)rand() % (PAGES - at);
		const uint32_t from = (uint32_t)rand() % (PAGES - n + 1),
			which = (uint32_t)rand() % 4;
		const struct pumice_bind op = {
			.bo = which < 3 ? bo[which] : NULL, .va = BASE + at * PAGE,
			.size = (uint64_t)n * PAGE, .bo_offset = which < 3 ? from * PAGE : 0,
		};

		assert_int_equal(pumice_vm_bind(vm, &op, 1, NULL), 0);
		for (uint32_t k = 0; k < n; k++)
			model[at + k] = which < 3 ?
				(uint8_t)(1 + 79 * which + (which == 2) + from + k)
						  : -1;
		if (i % 20)
			continue;
		c = write_and_load();
		for (uint32_t p = 0; p < PAGES; p++)
			assert_int_equal(byte_at(c, BASE + p * PAGE), model[p]);
		pumice_capture_destroy(c);
	}
	for (int i = 0; i < 3; i++)
		pumice_bo_destroy(bo[i]);
	c = write_and_load();
	for (uint32_t p = 0; p < PAGES; p++)
		assert_int_equal(byte_at(c, BASE + p * PAGE), -1);
	pumice_capture_destroy(c);
}

static void a_capture_contains_the_frame(void **state)
{
	struct pumice_capture *c = write_and_load();

	(void)state;
	assert_memory_equal(pumice_capture_frame(c), &some_frame, sizeof(some_frame));
	pumice_capture_destroy(c);
}

static void a_capture_can_be_placed_in_another_vm(void **state)
{
	struct pumice_bo *bo = make_bo(2, 33);
	const struct pumice_bind op = { .bo = bo, .va = BASE, .size = 2 * PAGE };
	struct pumice_capture *c, *again;
	struct pumice_vm *other, *first = vm;

	(void)state;
	assert_int_equal(pumice_vm_bind(vm, &op, 1, NULL), 0);
	c = write_and_load();
	assert_int_equal(pumice_vm_create(dev, &other), 0);
	assert_int_equal(pumice_capture_place(c, other), 0);
	/* A second placement would replace the buffers of the first. */
	assert_int_equal(pumice_capture_place(c, other), -EBUSY);
	vm = other;
	again = write_and_load();
	vm = first;
	assert_int_equal(byte_at(again, BASE), 33);
	assert_int_equal(byte_at(again, BASE + PAGE), 34);
	pumice_capture_destroy(again);
	pumice_vm_destroy(other);
	pumice_capture_destroy(c);
	pumice_bo_destroy(bo);
}

/* In each heap: the library's objects of the replay are after all those of the capture. */
static void objects_after_a_capture_do_not_replace_its_memory(void **state)
{
	enum { EACH = 3, OBJECTS = 2 * EACH };
	static const uint64_t sizes[] = { PAGE, LARGE };
	struct pumice_buffer old[OBJECTS], more[OBJECTS];
	struct pumice_capture *c, *again;
	struct pumice_vm *other, *first = vm;
	size_t i;

	(void)state;
	for (i = 0; i < OBJECTS; i++) {
		assert_int_equal(pumice_buffer_create(vm, sizes[i / EACH], &old[i]), 0);
		memset(old[i].cpu, 77 + (int)i, sizes[i / EACH]);
	}
	c = write_and_load();
	assert_int_equal(pumice_vm_create(dev, &other), 0);
	assert_int_equal(pumice_capture_place(c, other), 0);
	vm = other;
	for (i = 0; i < OBJECTS; i++) {
		const struct pumice_buffer *last = &old[i / EACH * EACH + EACH - 1];

		assert_int_equal(pumice_buffer_create(vm, sizes[i / EACH], &more[i]), 0);
		assert_true(more[i].va >= last->va + sizes[i / EACH]);
	}
	again = write_and_load();
	vm = first;
	for (i = 0; i < OBJECTS; i++) {
		assert_int_equal(byte_at(again, old[i].va), 77 + i);
		pumice_buffer_destroy(&old[i]);
		pumice_buffer_destroy(&more[i]);
	}
	pumice_capture_destroy(again);
	pumice_vm_destroy(other);
	pumice_capture_destroy(c);
}

/* Return the distance from an object of large pages to one that is created after its replay. */
static uint64_t distance_after(uint32_t count)
{
	struct pumice_bo *bo = make_bo(count * (LARGE / PAGE), 1);
	struct pumice_buffer more;
	struct pumice_capture *c;
	struct pumice_vm *other;
	uint64_t va, distance;

	assert_int_equal(pumice_vm_place(vm, bo, PUMICE_PLACE_LARGE, &va), 0);
	c = write_and_load();
	assert_int_equal(pumice_vm_create(dev, &other), 0);
	assert_int_equal(pumice_capture_place(c, other), 0);
	assert_int_equal(pumice_buffer_create(other, LARGE, &more), 0);
	distance = more.va - va;
	pumice_buffer_destroy(&more);
	pumice_vm_destroy(other);
	pumice_capture_destroy(c);
	assert_int_equal(pumice_vm_remove(vm, va), 0);
	pumice_bo_destroy(bo);
	return distance;
}

static void a_capture_reserves_its_pages_and_no_more(void **state)
{
	(void)state;
	for (uint32_t count = 1; count < 4; count++)
		assert_int_equal(distance_after(count), count * LARGE);
}

static void null_mappings_are_captured_without_data(void **state)
{
	struct pumice_bo *bo = make_bo(1, 55);
	const struct pumice_bind ops[] = {
		{ .flags = PUMICE_BIND_UNMAP_ALL },
		{ .va = BASE, .size = 1ull << 30,
		  .flags = PUMICE_BIND_NULL | PUMICE_BIND_READONLY },
		{ .bo = bo, .va = BASE + PAGE, .size = PAGE },
	};
	struct pumice_capture_range r;
	struct pumice_capture *c, *again;
	struct pumice_vm *other, *first = vm;
	uint8_t byte = 1;

	(void)state;
	assert_int_equal(pumice_vm_bind(vm, ops, 3, NULL), 0);
	c = write_and_load();
	assert_int_equal(pumice_capture_range(c, 0, &r), 0);
	assert_int_equal(r.va, BASE);
	assert_int_equal(r.bytes, PAGE);
	assert_int_equal(r.flags, PUMICE_BIND_NULL | PUMICE_BIND_READONLY);
	assert_null(r.data);
	assert_int_equal(byte_at(c, BASE + PAGE), 55);
	assert_int_equal(pumice_vm_create(dev, &other), 0);
	assert_int_equal(pumice_capture_place(c, other), 0);
	assert_int_equal(pumice_vm_peek(other, BASE + (1ull << 30) - 1, &byte, 1), 0);
	assert_int_equal(byte, 0);
	vm = other;
	again = write_and_load();
	vm = first;
	assert_int_equal(pumice_capture_range(again, 2, &r), 0);
	assert_int_equal(r.va, BASE + 2 * PAGE);
	assert_int_equal(r.bytes, (1ull << 30) - 2 * PAGE);
	assert_int_equal(r.flags, PUMICE_BIND_NULL | PUMICE_BIND_READONLY);
	assert_int_equal(pumice_capture_range(again, 3, &r), -ENOENT);
	pumice_capture_destroy(again);
	pumice_vm_destroy(other);
	pumice_capture_destroy(c);
	assert_int_equal(pumice_vm_bind(vm, ops, 1, NULL), 0);
	pumice_bo_destroy(bo);
}

/* A file of these ranges, whose data are 0. */
static uint8_t *file_of(const struct pumice_capture_file_range *ranges, uint32_t count,
			size_t *bytes)
{
	struct pumice_capture_file h = {
		.file_bytes = HEADER + count * PUMICE_CAPTURE_FILE_RANGE_WORDS * 4,
		.ranges = count, .target_count = 1,
	};
	uint32_t *words;
	uint8_t *file;

	for (uint32_t n = 0; n < count; n++)
		h.file_bytes += ranges[n].flags & PUMICE_BIND_NULL ? 0 : ranges[n].bytes;
	file = calloc(1, h.file_bytes);
	assert_non_null(file);
	words = (void *)file;
	for (uint32_t n = 0; n < count; n++)
		pumice_capture_file_range_pack(
			words + PUMICE_CAPTURE_FILE_WORDS + n * PUMICE_CAPTURE_FILE_RANGE_WORDS,
			&ranges[n]);
	h.crc32 = (uint32_t)crc32_z(0, file + HEADER, h.file_bytes - HEADER);
	pumice_capture_file_pack(words, &h);
	*bytes = h.file_bytes;
	return file;
}

/* A small file: two ranges of a page each. */
static uint8_t *small_file(size_t *bytes)
{
	static const struct pumice_capture_file_range ranges[] = {
		{ .va = BASE, .bytes = PAGE }, { .va = BASE + PAGE, .bytes = PAGE },
	};

	return file_of(ranges, 2, bytes);
}

/* Place a file of a good range and another one, which is refused: nothing has changed. */
static void place_refused(const struct pumice_capture_file_range *bad, const char *reason)
{
	const struct pumice_capture_file_range good = { .va = BASE, .bytes = PAGE };
	const struct pumice_capture_file_range ranges[] = {
		bad->va < BASE ? *bad : good, bad->va < BASE ? good : *bad,
	};
	struct pumice_buffer first, buffer;
	struct pumice_vm *fresh, *other;
	struct pumice_capture *c;
	size_t bytes;
	uint8_t *file = file_of(ranges, 2, &bytes), byte;

	assert_int_equal(pumice_vm_create(dev, &fresh), 0);
	assert_int_equal(pumice_buffer_create(fresh, LARGE, &first), 0);
	assert_int_equal(pumice_vm_create(dev, &other), 0);
	assert_int_equal(pumice_capture_parse(file, bytes, &c, NULL, 0), 0);
	assert_int_equal(pumice_capture_place(c, other), -EINVAL);
	print_message("%s\n", pumice_device_error(dev));
	assert_non_null(strstr(pumice_device_error(dev), reason));
	assert_int_not_equal(pumice_vm_peek(other, BASE, &byte, 1), 0);
	assert_int_equal(pumice_buffer_create(other, LARGE, &buffer), 0);
	assert_int_equal(buffer.va, first.va);
	pumice_buffer_destroy(&buffer);
	pumice_buffer_destroy(&first);
	pumice_vm_destroy(fresh);
	pumice_vm_destroy(other);
	pumice_capture_destroy(c);
	free(file);
}

/* Before anything is reserved or bound. Addresses count from the last heap, of 32 GiB. */
static void ranges_that_fit_no_heap_are_refused(void **state)
{
	static const char none[] = "is not in one heap of this device";
	static const char part[] = "does not consist of its heap's pages, 0x200000: bind it in";
	static const struct {
		struct pumice_capture_file_range range;
		const char *reason;
	} cases[] = {
		{ { .va = 32 * GIB, .bytes = PAGE }, none },
		{ { .va = 32 * GIB - LARGE, .bytes = LARGE + PAGE }, none },
		{ { .va = 0 - LARGE, .bytes = 2 * LARGE }, none },
		{ { .va = 0 - LARGE, .bytes = 2 * LARGE, .flags = PUMICE_BIND_NULL }, none },
		{ { .va = 16 * GIB, .bytes = PAGE }, part },
		{ { .va = 16 * GIB + PAGE, .bytes = LARGE }, part },
		{ { .va = 16 * GIB, .bytes = LARGE + PAGE, .flags = PUMICE_BIND_NULL }, part },
	};
	const struct pumice_capture_file_range first = { .va = 0, .bytes = PAGE };
	struct pumice_device_limits limits;

	(void)state;
	assert_int_equal(pumice_device_limits(dev, &limits, sizeof(limits)), 0);
	assert_int_equal(limits.heaps[limits.heap_count - 1].size, 32 * GIB);
	place_refused(&first, none);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pumice_capture_file_range range = cases[i].range;

		range.va += limits.heaps[limits.heap_count - 1].start;
		place_refused(&range, cases[i].reason);
	}
}

/* Also where the next heap, or no heap, begins at the end of a range. */
static void ranges_at_the_end_of_a_heap_are_placed(void **state)
{
	struct pumice_device_limits limits;

	(void)state;
	assert_int_equal(pumice_device_limits(dev, &limits, sizeof(limits)), 0);
	for (uint32_t n = 0; n < limits.heap_count; n++) {
		const struct pumice_heap *heap = &limits.heaps[n];
		const struct pumice_capture_file_range last = {
			.va = heap->start + heap->size - heap->page_bytes,
			.bytes = (uint32_t)heap->page_bytes,
		};
		struct pumice_capture *c;
		struct pumice_vm *other;
		size_t bytes;
		uint8_t *file = file_of(&last, 1, &bytes), byte = 1;

		assert_int_equal(pumice_vm_create(dev, &other), 0);
		assert_int_equal(pumice_capture_parse(file, bytes, &c, NULL, 0), 0);
		assert_int_equal(pumice_capture_place(c, other), 0);
		assert_int_equal(pumice_vm_peek(other, last.va + last.bytes - 1, &byte, 1), 0);
		assert_int_equal(byte, 0);
		pumice_vm_destroy(other);
		pumice_capture_destroy(c);
		free(file);
	}
}

/* The CRC is corrected, so that the changed field is refused. */
static void seal(uint8_t *file, size_t bytes)
{
	((uint32_t *)(void *)file)[4] = (uint32_t)crc32_z(0, file + HEADER, bytes - HEADER);
}

static void corrupt_files_are_refused(void **state)
{
	static const struct {
		uint32_t word, value;
		bool sealed;
		const char *words;
	} cases[] = {
		{ 0, 0, false, "; write one with pumice_capture_write(), or by" },
		{ 1, 2, false, "version 2" },
		{ 2, 5, false, "header says 5: capture the frame again" },
		{ 3, 1, false, "header says" },
		{ 4, 1, false, ": capture the frame again" },
		{ 5, 0xffffffff, false, "ranges" },
		{ 5, 1, false, "after the last range" },
		{ 5, 3, false, "range" },
		{ 16, 9, false, "9 targets" },
		{ 17, 1, false, "reserved" },
		{ PUMICE_CAPTURE_FILE_WORDS, 1, true, "a range at" },
		{ PUMICE_CAPTURE_FILE_WORDS + 1, 0x100, true, "a range at" },
		{ PUMICE_CAPTURE_FILE_WORDS + 2, 0, true, "a range at" },
		{ PUMICE_CAPTURE_FILE_WORDS + 2, 100, true, "a range at" },
		{ PUMICE_CAPTURE_FILE_WORDS + 2, 3 * PAGE, true, "a range at" },
		{ PUMICE_CAPTURE_FILE_WORDS + 3, 1, true, "a range at" },
		{ PUMICE_CAPTURE_FILE_WORDS + 4, 4, true, "unknown flags" },
		{ PUMICE_CAPTURE_FILE_WORDS + 4, PUMICE_BIND_NULL, true, "after the last range" },
		{ PUMICE_CAPTURE_FILE_WORDS + 5, 1, true, "reserved bits" },
		{ PUMICE_CAPTURE_FILE_WORDS + 6, (uint32_t)BASE, true, "a range at" },
		{ 100 + PUMICE_CAPTURE_FILE_WORDS, 1, false, "checksum" },
	};
	struct pumice_capture *c;
	char error[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bytes;
		uint8_t *file = small_file(&bytes);

		((uint32_t *)(void *)file)[cases[i].word] = cases[i].value;
		if (cases[i].sealed)
			seal(file, bytes);
		assert_int_equal(pumice_capture_parse(file, bytes, &c, error, sizeof(error)),
				 -EINVAL);
		print_message("%s\n", error);
		assert_non_null(strstr(error, cases[i].words));
		free(file);
	}
}

static void truncated_files_are_refused(void **state)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_capture *c;
	size_t bytes;
	uint8_t *file = small_file(&bytes);

	(void)state;
	for (size_t n = 0; n < bytes; n += n < HEADER + 64 ? 1 : 61)
		assert_int_equal(pumice_capture_parse(file, n, &c, NULL, 0), -EINVAL);
	assert_int_equal(pumice_capture_parse(file, bytes, &c, NULL, 0), 0);
	pumice_capture_destroy(c);
	free(file);
	assert_int_equal(pumice_capture_load("/no/such/file", &c, NULL, 0), -ENOENT);
	assert_int_equal(pumice_capture_load("/", &c, error, sizeof(error)), -EISDIR);
	assert_string_equal(error, "capture: /: Is a directory");
	assert_int_equal(pumice_capture_load("/dev/null", &c, error, sizeof(error)), -ESPIPE);
	assert_string_equal(error, "capture: /dev/null: a pipe or a device: store the capture in a "
			    "file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_is_reported_as_such),
		cmocka_unit_test(a_capture_contains_the_result_of_random_binds),
		cmocka_unit_test(a_capture_contains_the_frame),
		cmocka_unit_test(a_capture_can_be_placed_in_another_vm),
		cmocka_unit_test(objects_after_a_capture_do_not_replace_its_memory),
		cmocka_unit_test(a_capture_reserves_its_pages_and_no_more),
		cmocka_unit_test(ranges_that_fit_no_heap_are_refused),
		cmocka_unit_test(ranges_at_the_end_of_a_heap_are_placed),
		cmocka_unit_test(null_mappings_are_captured_without_data),
		cmocka_unit_test(corrupt_files_are_refused),
		cmocka_unit_test(truncated_files_are_refused),
	};

	return cmocka_run_group_tests(tests, open_device, close_device);
}
