/* SPDX-License-Identifier: MIT */
/*
 * Harness of the guest's test programs: runs cases, reports in TAP.
 *
 * Every case runs in a process of its own, whose resources the kernel releases:
 * a case that fails, crashes or hangs does not affect the next one. A case ends
 * by returning (ok) or by a check that fails (not ok); there is no skipping, a
 * case that cannot run here has failed. Exit status of a program: 0 if all
 * cases passed, otherwise 1.
 *
 * A case in which the driver resets the GPU has failed, unless it announces that (.resets): after a
 * reset the jobs that had not begun are run, so that a defect of the firmware or the driver could
 * remain undetected. A case that announces resets fails if there is none. Resets of the function
 * (need_flr()) are made by the case and do not count.
 *
 * Limits: a case has 120 seconds, or as specified by .seconds. Processes that a
 * case starts belong to its process group and are killed with it.
 */
#ifndef GUEST_HARNESS_H
#define GUEST_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"

/** struct test_case - test of one rule */
struct test_case {
	/** @name: the rule, as one word */
	const char *name;
	/** @run: checks the rule */
	void (*run)(void);
	/** @seconds: time limit; 0 for the default */
	unsigned int seconds;
	/** @resets: the driver resets the GPU during the case */
	bool resets;
};

/* A case whose function has the name of the rule. */
#define TEST_CASE(function) { .name = #function, .run = function }
#define TEST_CASE_SECONDS(function, limit) { .name = #function, .run = function, .seconds = limit }
#define TEST_CASE_RESETS(function) { .name = #function, .run = function, .resets = true }

/**
 * test_main - run the cases whose names are given as arguments, or all
 * @cases: array of cases
 * @count: number of cases
 *
 * Return: exit status of the program.
 */
int test_main(int argc, char **argv, const struct test_case *cases, unsigned int count);

#define TEST_MAIN(cases) \
	int main(int argc, char **argv) \
	{ \
		return test_main(argc, argv, cases, sizeof(cases) / sizeof((cases)[0])); \
	}

/** test_note - add a line to the report. */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
