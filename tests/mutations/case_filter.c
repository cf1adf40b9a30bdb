// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Select the cases of a cmocka program by the variable PUMICE_CASE, which may have the wildcards
 * * and ?. scripts/mutation_tests.py has it loaded into the tests (LD_PRELOAD): the case that a
 * mutation names is the only one that matters. Programs without cmocka run all their cases.
 */
#include <stdlib.h>

extern void cmocka_set_test_filter(const char *pattern) __attribute__((weak));

static void __attribute__((constructor)) select_cases(void)
{
	const char *pattern = getenv("PUMICE_CASE");

	if (pattern && cmocka_set_test_filter)
		cmocka_set_test_filter(pattern);
}
