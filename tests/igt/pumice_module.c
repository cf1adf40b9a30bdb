// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Loading and unloading. Invalid firmware is tested by tests/guest/probe_bad.sh. */
#include <errno.h>
#include <stdlib.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "system.h"

IGT_TEST_DESCRIPTION("Loading and unloading of the module.");

#define ODD_TIMEOUT_MS	4321

/* Not by modprobe -r, which also tries to remove modules that this one and others use. */
static void need_unloaded(void)
{
	need_module_unused();
	igt_assert_eq(system("rmmod pumice"), 0);
	igt_assert_eq(module_parameter("job_timeout_ms"), -ENOENT);
}

static void check_works(void)
{
	struct fixture fx;

	need_bound();
	fx = fx_open();
	fx_check_works(&fx);
	fx_close(&fx);
}

static void many_reload(void)
{
	u32 round;

	for (round = 0; round < 10; round++) {
		need_unloaded();
		igt_assert_eq(system("modprobe pumice"), 0);
		check_works();
	}
}

static void reload_with_a_parameter(void)
{
	need_unloaded();
	igt_assert_eq(system("modprobe pumice job_timeout_ms=4321"), 0);
	igt_assert_eq((int)module_parameter("job_timeout_ms"), ODD_TIMEOUT_MS);
	check_works();
}

static void open_file_keeps_the_module(void)
{
	struct fixture fx = fx_open();

	igt_assert_neq(system("rmmod pumice 2>/dev/null"), 0);
	fx_check_works(&fx);
	fx_close(&fx);
	need_unloaded();
	igt_assert_eq(system("modprobe pumice"), 0);
	check_works();
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("many-reload", "the module can be loaded repeatedly", many_reload);
	igt_pumice_subtest("reload-with-a-parameter", "a parameter set at loading takes effect",
			   reload_with_a_parameter);
	igt_pumice_subtest("open-file-keeps-the-module", "an open file keeps the module",
			   open_file_keeps_the_module);
}
