/* SPDX-License-Identifier: MIT */
/* Programs that run with modified module parameters. */
#ifndef GUEST_PARAMETERS_H
#define GUEST_PARAMETERS_H

#include "harness.h"

/** struct test_parameter - value of a parameter of the driver while a program runs */
struct test_parameter {
	/** @name: name of the parameter */
	const char *name;
	/** @value: value for all cases */
	long value;
};

/* Maximum number of parameters of a program. */
#define TEST_PARAMETERS 4

/**
 * test_main_with - test_main() with parameters set, which are restored afterwards
 * @parameters: array; cases may change these parameters, too
 * @parameter_count: number of elements, at most TEST_PARAMETERS
 *
 * Return: exit status of the program; 1 also if a parameter cannot be set or restored.
 */
int test_main_with(int argc, char **argv, const struct test_case *cases, unsigned int count,
		   const struct test_parameter *parameters, unsigned int parameter_count);

/* TEST_MAIN() of a program with a different job time-out, in ms. */
#define TEST_MAIN_TIMEOUT(cases, ms) \
	int main(int argc, char **argv) \
	{ \
		const struct test_parameter timeout = { "job_timeout_ms", ms }; \
		\
		return test_main_with(argc, argv, cases, sizeof(cases) / sizeof((cases)[0]), \
				      &timeout, 1); \
	}

#endif
