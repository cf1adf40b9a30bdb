// SPDX-License-Identifier: MIT
/* Memory of the host for large stores: alignment and contents, sizes that are refused, frees. */
#include <malloc.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "cmocka_all.h"
#include "../../../qemu-device/gpu/host_alloc.h"
#include "../../../qemu-device/gpu/mmu/mmu.h"

#define MIB (1u << 20)

static const size_t aligns[] = { sizeof(void *), 64, 128, 4096 };
#define ALIGNS (sizeof(aligns) / sizeof(aligns[0]))

/* Of memory that was freed with other contents, too. */
static void memory_is_aligned_and_zero(void **state)
{
	static const size_t sizes[] = { 1, 100, 4096, MIB };
	size_t n, s, byte;
	u32 step;

	(void)state;
	for (n = 0; n < ALIGNS; n++)
		for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (step = 0; step < 2; step++) {
				u8 *memory = host_zalloc(aligns[n], sizes[s]);

				assert_non_null(memory);
				assert_int_equal((uintptr_t)memory % aligns[n], 0);
				for (byte = 0; byte < sizes[s]; byte++)
					assert_int_equal(memory[byte], 0);
				memset(memory, 0xff, sizes[s]);
				host_free(memory);
			}
}

/* The size of the block would not be a number of 64 bits. */
static void sizes_without_room_for_the_alignment_are_refused(void **state)
{
	size_t n, less;

	(void)state;
	for (n = 0; n < ALIGNS; n++)
		for (less = 0; less < sizeof(void *) + aligns[n]; less++)
			assert_null(host_zalloc(aligns[n], SIZE_MAX - less));
}

static size_t bytes_in_use(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void freed_memory_is_not_in_use(void **state)
{
	const size_t before = bytes_in_use();
	size_t n;

	(void)state;
	for (n = 0; n < ALIGNS; n++)
		host_free(host_zalloc(aligns[n], MIB));
	assert_true(bytes_in_use() < before + MIB);
}

static void nothing_is_freed_without_memory(void **state)
{
	(void)state;
	host_free(NULL);
}

/* In other builds nothing finds these. */
static void sanitizer_finds_accesses_around_the_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
	size_t n;

	for (n = 0; n < ALIGNS; n++) {
		u8 *memory = host_zalloc(aligns[n], 100);

		assert_non_null(memory);
		assert_true(__asan_address_is_poisoned(memory - 1));
		assert_true(__asan_address_is_poisoned(memory - sizeof(void *)));
		assert_null(__asan_region_is_poisoned(memory, 100));
		assert_true(__asan_address_is_poisoned(memory + 100));
		host_free(memory);
	}
#endif
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_aligned_and_zero),
		cmocka_unit_test(sizes_without_room_for_the_alignment_are_refused),
		cmocka_unit_test(freed_memory_is_not_in_use),
		cmocka_unit_test(nothing_is_freed_without_memory),
		cmocka_unit_test(sanitizer_finds_accesses_around_the_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
