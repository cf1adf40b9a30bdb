/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Helpers shared by the driver's IGT tests, in addition to tests/fixture.
 *
 * Every subtest runs in a process of its own, whose resources the kernel releases if it
 * fails: an endless job left by a failed subtest would block all following ones.
 * A subtest that needs more processes has helpers (igt_pumice_fork_helper()), because IGT
 * permits no children of children.
 */
#ifndef IGT_PUMICE_H
#define IGT_PUMICE_H

#include "igt.h"

#include "check.h"
#include "gpu.h"

/*
 * Messages of the driver, at warning level and above, that subtests provoke: regular
 * expressions for the text after the driver's prefix.
 */
#define IGT_PUMICE_TIMED_OUT	"context [0-9]+ job [0-9]+ timed out"
#define IGT_PUMICE_RESET	"resetting the GPU: "

/*
 * Includes the prefix, so that a kernel report that names one of our functions still counts.
 * Contains no backslashes, which the runner reads from the kernel's log as \x5c.
 */
#define IGT_PUMICE_LOGS(messages) \
	"pumice [0-9a-f]{4}:[0-9a-f:.]+: " \
	"([[]drm] ([*]ERROR[*] )?|error -[A-Z0-9]+: )?(" messages ")"

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

/** igt_pumice_subtest_logs - the same; @messages: regex of driver messages (IGT_PUMICE_RESET) */
#define igt_pumice_subtest_logs(name, proves, run, messages) \
	igt_pumice_subtest_regex(name, proves, run, IGT_PUMICE_LOGS(messages))

/** igt_pumice_subtest_regex - the same; @regex: matches all expected kernel lines */
#define igt_pumice_subtest_regex(name, proves, run, regex) \
	do { \
		igt_describe(proves); \
		igt_subtest(name) { \
			igt_emit_ignore_dmesg_regex(regex); \
			igt_pumice_alone(name, run); \
		} \
	} while (0)

/* Time limits of a job, ms. */
#define IGT_PUMICE_PATIENT	20000	/* for tests that delay jobs on a busy machine */
#define IGT_PUMICE_IMPATIENT	500	/* for tests of the limit itself */

/**
 * igt_pumice_require - select the device; skip all subtests if there is none
 * @timeout_ms: time limit of a job for contexts of this program, until it ends
 */
void igt_pumice_require(long timeout_ms);

/** igt_pumice_end_with_parent - kill this process of a subtest when its parent ends. */
bool igt_pumice_end_with_parent(void);

/**
 * igt_pumice_fork_helper - a block that runs in a process in parallel with the subtest
 *
 * Like igt_fork_helper(), but it does not outlive a subtest that is killed by its time limit.
 */
#define igt_pumice_fork_helper(helper) \
	igt_fork_helper(helper) \
		for (bool igt_pumice_once = igt_pumice_end_with_parent(); igt_pumice_once; \
		     igt_pumice_once = false)

/** igt_pumice_join - wait for a helper; it must exit successfully. */
void igt_pumice_join(struct igt_helper_process *helper);

/** igt_pumice_alone - run a function in a process of its own, with a time limit. */
void igt_pumice_alone(const char *name, void (*run)(void));

#endif
