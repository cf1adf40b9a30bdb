// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the limits of all users together. Part of pumice_quota.c. */
#include <kunit/test.h>

#include "tests/pumice_test_creds.h"

struct quota_fixture {
	struct pumice_device pdev;
	struct pumice_share file, user;
	struct pumice_charge charge;
};

/* Create a user and a file without charges; other users have @others of the resource. */
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
	return quota_check_locked(&f->pdev, &f->charge);
}

static void users_together_leave_the_reserve(struct kunit *test)
{
	const struct cred *before;
	u32 r;

	for (r = 0; r < PUMICE_RESOURCE_COUNT; r++) {
		const struct limits *limit = &limits[r];
		const u32 left = 5;
		const u32 used = limit->total - limit->reserve - left;
		struct quota_fixture *f = quota_fixture(test, r, used);

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

/* A user and a file at their limits, and a worker that frees everything they have. */
struct settle_fixture {
	struct pumice_device pdev;
	struct pumice_file file;
	struct pumice_share share, user;
	struct work_struct free_work;
	struct delayed_work go_work;
	struct completion go;
};

static void settle_go(struct work_struct *work)
{
	complete(&container_of(to_delayed_work(work), struct settle_fixture, go_work)->go);
}

static void settle_free(struct work_struct *work)
{
	struct settle_fixture *f = container_of(work, struct settle_fixture, free_work);

	wait_for_completion(&f->go);
	mutex_lock(&f->pdev.quota.lock);
	f->share.used[PUMICE_RESOURCE_MEMORY] = 0;
	f->user.used[PUMICE_RESOURCE_MEMORY] = 0;
	mutex_unlock(&f->pdev.quota.lock);
}

/* The worker is delayed, so that a call which does not wait for it finds the limit reached. */
static void call_over_the_limit_waits_for_pending_releases(struct kunit *test)
{
	struct settle_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	const u32 r = PUMICE_RESOURCE_MEMORY;

	KUNIT_ASSERT_NOT_NULL(test, f);
	pumice_quota_init(&f->pdev);
	f->file.pdev = &f->pdev;
	f->file.share = &f->share;
	f->share.used[r] = limits[r].file;
	f->user.used[r] = limits[r].file;
	KUNIT_ASSERT_FALSE(test, xa_err(xa_store(&f->pdev.quota.users, quota_charged_uid(),
						 &f->user, GFP_KERNEL)));
	init_completion(&f->go);
	INIT_WORK(&f->free_work, settle_free);
	INIT_DELAYED_WORK(&f->go_work, settle_go);
	queue_work(pumice_cleanup_wq, &f->free_work);
	/* A charge within the limits does not wait. */
	pumice_quota_settle(&f->file, PUMICE_RESOURCE_CONTEXTS, 1);
	KUNIT_EXPECT_TRUE(test, quota_is_refused(&f->file, r, PAGE_SIZE));
	schedule_delayed_work(&f->go_work, HZ / 2);
	pumice_quota_settle(&f->file, r, PAGE_SIZE);
	KUNIT_EXPECT_FALSE(test, quota_is_refused(&f->file, r, PAGE_SIZE));
	flush_delayed_work(&f->go_work);
	flush_work(&f->free_work);
	xa_destroy(&f->pdev.quota.users);
}

/* Each virtual GPU has a part of the addresses, and number 0 most of the ids. */
static void limits_are_those_of_the_virtual_gpu(struct kunit *test)
{
	struct quota_fixture *f = quota_fixture(test, PUMICE_RESOURCE_MEMORY, 0);

	KUNIT_EXPECT_EQ(test, pumice_quota_total(&f->pdev, PUMICE_RESOURCE_MEMORY),
			PUMICE_FW_WINDOW_SIZE);
	f->pdev.oses = 2;
	KUNIT_EXPECT_EQ(test, pumice_quota_total(&f->pdev, PUMICE_RESOURCE_MEMORY),
			PUMICE_OS_PART_SIZE);
	KUNIT_EXPECT_EQ(test, pumice_quota_total(&f->pdev, PUMICE_RESOURCE_CONTEXTS),
			FWIF_MAX_CONTEXTS);
	f->pdev.os = 1;
	KUNIT_EXPECT_EQ(test, pumice_quota_total(&f->pdev, PUMICE_RESOURCE_MEMORY),
			PUMICE_OS_PART_SIZE);
	KUNIT_EXPECT_EQ(test, pumice_quota_total(&f->pdev, PUMICE_RESOURCE_CONTEXTS),
			FWIF_MAX_OS_CONTEXTS);
}

static struct kunit_case quota_cases[] = {
	KUNIT_CASE(limits_are_those_of_the_virtual_gpu),
	KUNIT_CASE(users_together_leave_the_reserve),
	KUNIT_CASE(privileged_cannot_take_more_than_there_is),
	KUNIT_CASE(call_over_the_limit_waits_for_pending_releases),
	{}
};

static struct kunit_suite quota_suite = {
	.name = "pumice_quota",
	.test_cases = quota_cases,
};

kunit_test_suite(quota_suite);
