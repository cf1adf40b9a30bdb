/* SPDX-License-Identifier: MIT */
/* Programs that run with other module parameters than the usual ones. */
#ifndef GUEST_PARAMETERS_H
#define GUEST_PARAMETERS_H

#include "harness.h"

/** struct test_parameter - value of a parameter of the driver while a program runs */
struct test_parameter {
	/** @name: of the parameter */
	const char *name;
	/** @value: for all cases */
	long value;
};

/* More than any program needs. */
#define TEST_PARAMETERS 4

/**
 * test_main_with - test_main() with parameters set; the former values return after it
 * @parameters: array; cases may change these parameters, too
 * @parameter_count: its elements, at most TEST_PARAMETERS
 *
 * Return: exit status of the program; 1 also if a parameter cannot be set or restored.
 */
int test_main_with(int argc, char **argv, const struct test_case *cases, unsigned int count,
		   const struct test_parameter *parameters, unsigned int parameter_count);

/* TEST_MAIN() of a program whose jobs time out after another time than the usual one. */
#define TEST_MAIN_TIMEOUT(cases, ms) \
	int main(int argc, char **argv) \
	{ \
		const struct test_parameter timeout = { "job_timeout_ms", ms }; \
		\
		return test_main_with(argc, argv, cases, sizeof(cases) / sizeof((cases)[0]), \
				      &timeout, 1); \
	}

#endif
