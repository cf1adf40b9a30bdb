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

/** igt_pumice_require - skip all subtests where the driver has no device. */
void igt_pumice_require(void);

/** igt_pumice_alone - run a case in a process of its own, with a time limit. */
void igt_pumice_alone(const struct igt_pumice_case *one);

#endif
