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

/* drm_exec locked the second one after contention, and it has left its VM meanwhile. */
static void all_locked_reservations_have_room_for_fences(struct kunit *test)
{
	struct submit *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct drm_gem_object *objects[2];
	struct ww_acquire_ctx ticket;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	ww_acquire_init(&ticket, &reservation_ww_class);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = kunit_kzalloc(test, sizeof(*objects[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		objects[i]->resv = &objects[i]->_resv;
		dma_resv_init(objects[i]->resv);
		KUNIT_ASSERT_EQ(test, dma_resv_lock(objects[i]->resv, &ticket), 0);
	}
	s->count = 3;
	s->exec.objects = objects;
	s->exec.num_objects = ARRAY_SIZE(objects);
	s->exec.prelocked = objects[1];
	KUNIT_EXPECT_EQ(test, submit_reserve_fences(s), 0);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(objects[i]->resv->fences));
		dma_resv_unlock(objects[i]->resv);
		dma_resv_fini(objects[i]->resv);
	}
	ww_acquire_fini(&ticket);
}

static struct kunit_case submit_cases[] = {
	KUNIT_CASE(jobs_within_the_rules_pass),
	KUNIT_CASE(bad_jobs_are_refused),
	KUNIT_CASE(each_queue_takes_its_types_of_jobs),
	KUNIT_CASE(all_locked_reservations_have_room_for_fences),
	{}
};

static struct kunit_suite submit_suite = {
	.name = "pumice_submit",
	.test_cases = submit_cases,
};

kunit_test_suite(submit_suite);
