/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Credentials of a KUnit case, whose thread has all capabilities by default. */
#ifndef PUMICE_TEST_CREDS_H
#define PUMICE_TEST_CREDS_H

#include <linux/cred.h>

#include <kunit/test.h>

/* Drop all capabilities; the result is the argument of become_privileged(). */
static inline const struct cred *become_unprivileged(struct kunit *test)
{
	struct cred *cred = prepare_creds();
	const struct cred *before;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cred->cap_effective = CAP_EMPTY_SET;
	before = override_creds(cred);
	KUNIT_EXPECT_FALSE(test, capable(CAP_SYS_RESOURCE) || capable(CAP_SYS_NICE));
	return before;
}

static inline void become_privileged(const struct cred *before)
{
	const struct cred *cred = current_cred();

	revert_creds(before);
	put_cred(cred);
}

#endif
