// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * gputop_load - a client of the GPU that keeps it busy all the time, for a look at it
 * with gputop. Prints its process id when its job runs; ends when it is killed.
 */
#include "igt_pumice.h"
#include "fixture.h"
#include "system.h"

int main(void)
{
	struct fixture fx;

	CHECK_OK(set_module_parameter("job_timeout_ms", 10 * IGT_PUMICE_PATIENT));
	fx = fx_open();
	fx_block(&fx);
	printf("%d\n", getpid());
	fflush(stdout);
	pause();
	return 0;
}
