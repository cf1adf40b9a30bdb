// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * gputop_load - a client that keeps the GPU busy, for a display of it with gputop. Prints its
 * process id when its job runs; runs until it is killed.
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
