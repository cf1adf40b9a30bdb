// SPDX-License-Identifier: MIT
/* Programs that run with modified module parameters. See parameters.h. */
#include "parameters.h"

#include <stdio.h>

#include "system.h"

/* Set all parameters and store their previous values; or report which cannot be set. */
static bool set_all(const struct test_parameter *parameters, unsigned int count, long *usual)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		usual[i] = module_parameter(parameters[i].name);
		if (usual[i] < 0 || set_module_parameter(parameters[i].name, parameters[i].value)) {
			printf("Bail out! the driver's %s cannot be set\n", parameters[i].name);
			return false;
		}
	}
	return true;
}

int test_main_with(int argc, char **argv, const struct test_case *cases, unsigned int count,
		   const struct test_parameter *parameters, unsigned int parameter_count)
{
	long usual[TEST_PARAMETERS];
	unsigned int i;
	int status;

	if (parameter_count > TEST_PARAMETERS || !set_all(parameters, parameter_count, usual))
		return 1;
	status = test_main(argc, argv, cases, count);
	for (i = 0; i < parameter_count; i++) {
		if (set_module_parameter(parameters[i].name, usual[i]))
			status = 1;
	}
	return status;
}
