/* SPDX-License-Identifier: MIT */
/*
 * What the driver's IGT tests share beside tests/rig.
 *
 * Every subtest runs in a process of its own, so that the kernel cleans up
 * behind one that failed in the middle: an endless job that a failed subtest
 * left would hold up all that follow.
 */
#ifndef IGT_PUMICE_H
#define IGT_PUMICE_H

#include "igt.h"

#include "check.h"
#include "gpu.h"

/** struct igt_pumice_case - one subtest */
struct igt_pumice_case {
	/** @name: its name */
	const char *name;
	/** @proves: the rule, for --describe */
	const char *proves;
	/** @run: proves it */
	void (*run)(void);
};

/* A block for each element of an array of cases. */
#define igt_pumice_for_each_case(each, cases) \
	for (const struct igt_pumice_case *each = (cases); \
	     each < (cases) + sizeof(cases) / sizeof((cases)[0]); each++)

/* A subtest for each element of an array of cases. */
#define igt_pumice_subtests(cases) \
	igt_pumice_for_each_case(one, cases) { \
		igt_describe(one->proves); \
		igt_subtest(one->name) \
			igt_pumice_alone(one); \
	}

/**
 * igt_pumice_main - main() of a program whose subtests are those of an array
 * @cases: struct igt_pumice_case[]
 * @timeout_ms: as of igt_pumice_require()
 */
#define igt_pumice_main(cases, timeout_ms) \
	int igt_main() \
	{ \
		igt_fixture() \
			igt_pumice_require(timeout_ms); \
		igt_pumice_subtests(cases) \
		igt_fixture() \
			igt_pumice_restore(); \
	}

/* Time limits of a job, ms. */
#define IGT_PUMICE_PATIENT	20000	/* for tests that hold jobs back on a busy machine */
#define IGT_PUMICE_IMPATIENT	500	/* for tests of the limit itself */

/**
 * igt_pumice_require - skip all subtests where the driver has no device
 * @timeout_ms: time limit of a job for contexts of this program, until igt_pumice_restore()
 */
void igt_pumice_require(long timeout_ms);

/** igt_pumice_restore - put back what igt_pumice_require() changed. */
void igt_pumice_restore(void);

/** igt_pumice_join - wait for a process that a case started by itself; it must end well. */
void igt_pumice_join(pid_t pid);

/** igt_pumice_alone - run a case in a process of its own, with a time limit. */
void igt_pumice_alone(const struct igt_pumice_case *one);

#endif
