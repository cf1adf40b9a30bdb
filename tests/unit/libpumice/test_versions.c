// SPDX-License-Identifier: MIT
/* Error texts for programs linked before 0.5: what of a text fits into their buffers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "internal.h"

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_former_error_text_ends_with_a_line_or_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
