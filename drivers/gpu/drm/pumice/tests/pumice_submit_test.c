// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the arguments of jobs. Part of pumice_submit.c. */
#include <kunit/test.h>

static void jobs_within_the_rules_pass(struct kunit *test)
{
	static const struct drm_pumice_job good[] = {
		{ .stream = 0x1000 },
		{ .stream = 0x1004 },
		{ .stream = 0x1004, .type = DRM_PUMICE_JOB_GEOMETRY, .hwrt = 1, .hwrt_data = 1 },
		{ .stream = 0x1010, .type = DRM_PUMICE_JOB_FRAGMENT, .hwrt = 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_EQ_MSG(test, submit_check_job(&good[i]), 0, "job %u", i);
}

static void bad_jobs_are_refused(struct kunit *test)
{
	static const struct drm_pumice_job bad[] = {
		{ .stream = 0x1000, .flags = BIT(31) },
		{ .stream = 0x1002 },
		{ .stream = 0x1001 },
		{ .stream = 0x1000, .hwrt = 1 },
		{ .stream = 0x1000, .hwrt_data = 1 },
		{ .stream = 0x1008, .type = DRM_PUMICE_JOB_FRAGMENT, .hwrt = 1 },
		{ .stream = 0x1002, .type = DRM_PUMICE_JOB_GEOMETRY, .hwrt = 1 },
		{ .stream = 0x1000, .type = DRM_PUMICE_JOB_FRAGMENT + 1 },
		{ .stream = 0x1000, .type = U32_MAX },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, submit_check_job(&bad[i]), -EINVAL, "job %u", i);
}

static void each_queue_takes_its_types_of_jobs(struct kunit *test)
{
	struct pumice_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->type = DRM_PUMICE_CONTEXT_COMPUTE;
	KUNIT_EXPECT_PTR_EQ(test, submit_queue_for(ctx, DRM_PUMICE_JOB_DEFAULT), &ctx->queues[0]);
	KUNIT_EXPECT_NULL(test, submit_queue_for(ctx, DRM_PUMICE_JOB_GEOMETRY));
	KUNIT_EXPECT_NULL(test, submit_queue_for(ctx, DRM_PUMICE_JOB_FRAGMENT));
	ctx->type = DRM_PUMICE_CONTEXT_RENDER;
	KUNIT_EXPECT_NULL(test, submit_queue_for(ctx, DRM_PUMICE_JOB_DEFAULT));
	KUNIT_EXPECT_PTR_EQ(test, submit_queue_for(ctx, DRM_PUMICE_JOB_GEOMETRY),
			    &ctx->queues[PUMICE_QUEUE_GEOMETRY]);
	KUNIT_EXPECT_PTR_EQ(test, submit_queue_for(ctx, DRM_PUMICE_JOB_FRAGMENT),
			    &ctx->queues[PUMICE_QUEUE_FRAGMENT]);
}

static struct kunit_case submit_cases[] = {
	KUNIT_CASE(jobs_within_the_rules_pass),
	KUNIT_CASE(bad_jobs_are_refused),
	KUNIT_CASE(each_queue_takes_its_types_of_jobs),
	{}
};

static struct kunit_suite submit_suite = {
	.name = "pumice_submit",
	.test_cases = submit_cases,
};

kunit_test_suite(submit_suite);
