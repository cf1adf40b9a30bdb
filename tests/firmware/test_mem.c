// SPDX-License-Identifier: MIT
/*
 * The firmware's own memset() and memcpy(), compiled for the host: each alignment and size around
 * that of a word.
 */
#include "cmocka_all.h"

#include <string.h>

#define memset fw_memset
#define memcpy fw_memcpy
#include "../../firmware/mem.c"
#undef memset
#undef memcpy

#define BYTES 64u

static void bytes_are_set_and_no_others(void **state)
{
	_Alignas(4) unsigned char got[BYTES], want[BYTES];
	unsigned int from, size, i;

	(void)state;
	for (from = 0; from < 8; from++) {
		for (size = 0; from + size <= BYTES - 8; size++) {
			for (i = 0; i < BYTES; i++)
				got[i] = want[i] = (unsigned char)i;
			for (i = 0; i < size; i++)
				want[from + i] = 0x9a;
			assert_ptr_equal(fw_memset(got + from, 0x19a, size), got + from);
			assert_memory_equal(got, want, BYTES);
		}
	}
}

static void bytes_are_copied(void **state)
{
	unsigned char from[BYTES], to[BYTES] = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < BYTES; i++)
		from[i] = (unsigned char)(i + 1);
	assert_ptr_equal(fw_memcpy(to + 1, from, 7), to + 1);
	assert_memory_equal(to + 1, from, 7);
	assert_int_equal(to[0], 0);
	assert_int_equal(to[8], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_set_and_no_others),
		cmocka_unit_test(bytes_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
