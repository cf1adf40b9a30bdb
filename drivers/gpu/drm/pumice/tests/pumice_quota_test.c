// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of what all users together may have. Part of pumice_quota.c. */
#include <kunit/test.h>

#include "tests/pumice_test_creds.h"

struct quota_fixture {
	struct pumice_device pdev;
	struct pumice_share file, user;
	struct pumice_charge charge;
};

/* A user and a file that have nothing; all others have so much of the resource. */
static struct quota_fixture *quota_fixture(struct kunit *test, u32 resource, u32 others)
{
	struct quota_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->pdev.quota.used[resource] = others;
	f->charge = (struct pumice_charge){ .file = &f->file, .user = &f->user,
					    .resource = resource };
	return f;
}

static int check_amount(struct quota_fixture *f, u32 amount)
{
	f->charge.amount = amount;
	return check_locked(&f->pdev, &f->charge);
}

static void users_together_leave_the_reserve(struct kunit *test)
{
	const struct cred *before;
	u32 r;

	for (r = 0; r < PUMICE_RESOURCE_COUNT; r++) {
		const struct limits *limit = &limits[r];
		const u32 left = 5;
		struct quota_fixture *f = quota_fixture(test, r, limit->total - limit->reserve - left);

		KUNIT_ASSERT_GE_MSG(test, limit->reserve, left, "resource %u", r);
		before = become_unprivileged(test);
		KUNIT_EXPECT_EQ_MSG(test, check_amount(f, left), 0, "resource %u", r);
		KUNIT_EXPECT_EQ_MSG(test, check_amount(f, left + 1), -ENOSPC, "resource %u", r);
		become_privileged(before);
		KUNIT_EXPECT_EQ_MSG(test, check_amount(f, left + 1), 0, "resource %u", r);
	}
}

static void privileged_cannot_take_more_than_there_is(struct kunit *test)
{
	u32 r;

	for (r = 0; r < PUMICE_RESOURCE_COUNT; r++) {
		struct quota_fixture *f = quota_fixture(test, r, limits[r].total - 5);

		KUNIT_EXPECT_EQ_MSG(test, check_amount(f, 5), 0, "resource %u", r);
		KUNIT_EXPECT_EQ_MSG(test, check_amount(f, 6), -ENOSPC, "resource %u", r);
	}
}

static struct kunit_case quota_cases[] = {
	KUNIT_CASE(users_together_leave_the_reserve),
	KUNIT_CASE(privileged_cannot_take_more_than_there_is),
	{}
};

static struct kunit_suite quota_suite = {
	.name = "pumice_quota",
	.test_cases = quota_cases,
};

kunit_test_suite(quota_suite);
