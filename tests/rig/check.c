// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Checks that report the compared values. See check.h. */
#include "check.h"

#include <string.h>

void test_check_equal(const char *file, int line, const char *text, uint64_t got, uint64_t want)
{
	if (got != want)
		test_fail(file, line, "%s is %llu (0x%llx), should be %llu (0x%llx)", text,
			  (unsigned long long)got, (unsigned long long)got,
			  (unsigned long long)want, (unsigned long long)want);
}

static const char *error_text(long error)
{
	return error ? strerrorname_np((int)-error) ?: "an unknown error" : "success";
}

void test_check_error(const char *file, int line, const char *text, long got, long want)
{
	if (got != want)
		test_fail(file, line, "%s gives %s, should give %s", text, error_text(got),
			  error_text(want));
}
