/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Checks for code shared by test programs of different harnesses.
 *
 * A check that fails ends the test as failed. Each harness defines this
 * with its own test_fail(): tests/guest/harness.c, tests/igt/check.c.
 */
#ifndef FX_CHECK_H
#define FX_CHECK_H

#include <stdint.h>

/** test_fail - end the test as failed, with a message. */
void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

void test_check_equal(const char *file, int line, const char *text, uint64_t got, uint64_t want);
void test_check_error(const char *file, int line, const char *text, long got, long want);

/* A condition that must hold. */
#define CHECK(condition) \
	do { \
		if (!(condition)) \
			test_fail(__FILE__, __LINE__, "%s", #condition); \
	} while (0)

/* Two numbers that must be equal. */
#define CHECK_EQUAL(got, want) \
	test_check_equal(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))

/* A call that must return 0; it returns a negative errno when it fails. */
#define CHECK_OK(call) test_check_error(__FILE__, __LINE__, #call, call, 0)

/* A call that must be refused with this errno. */
#define CHECK_ERROR(call, error) test_check_error(__FILE__, __LINE__, #call, call, -(error))

#endif
