/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * What the driver's IGT tests share beside tests/rig.
 *
 * Every subtest runs in a process of its own, so that the kernel cleans up after one that
 * failed in the middle: an endless job that a failed subtest left would hold up all that
 * follow. A subtest that needs more processes has helpers (igt_fork_helper()), as IGT lets no
 * child have children.
 */
#ifndef IGT_PUMICE_H
#define IGT_PUMICE_H

#include "igt.h"

#include "check.h"
#include "gpu.h"

/* Messages of the driver, at the level of a warning and above, that subtests provoke. */
#define IGT_PUMICE_TIMED_OUT	"context [0-9]+ job [0-9]+ timed out"
#define IGT_PUMICE_RESET	"resetting the GPU"

/**
 * igt_pumice_subtest - a subtest in a process of its own
 * @name: its name
 * @proves: the rule, for --describe
 * @run: function that proves it
 */
#define igt_pumice_subtest(name, proves, run) \
	do { \
		igt_describe(proves); \
		igt_subtest(name) \
			igt_pumice_alone(name, run); \
	} while (0)

/** igt_pumice_subtest_logs - the same; @messages: regular expression of what the driver logs */
#define igt_pumice_subtest_logs(name, proves, run, messages) \
	do { \
		igt_describe(proves); \
		igt_subtest(name) { \
			igt_emit_ignore_dmesg_regex(messages); \
			igt_pumice_alone(name, run); \
		} \
	} while (0)

/* Time limits of a job, ms. */
#define IGT_PUMICE_PATIENT	20000	/* for tests that hold jobs back on a busy machine */
#define IGT_PUMICE_IMPATIENT	500	/* for tests of the limit itself */

/**
 * igt_pumice_require - choose the device; skip all subtests where there is none
 * @timeout_ms: time limit of a job for contexts of this program, until it ends
 */
void igt_pumice_require(long timeout_ms);

/** igt_pumice_join - wait for a helper; it must end well. */
void igt_pumice_join(struct igt_helper_process *helper);

/** igt_pumice_alone - run a function in a process of its own, with a time limit. */
void igt_pumice_alone(const char *name, void (*run)(void));

#endif
