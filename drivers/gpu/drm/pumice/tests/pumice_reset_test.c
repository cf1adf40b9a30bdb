// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of the detection of hangs, and of the reset state of files. Part of pumice_reset.c.
 *
 * The test acts as the firmware: it writes the firmware's counters.
 */
#include <kunit/test.h>

#include <drm/drm_file.h>

#include "pumice_blame.h"

struct reset_fixture {
	struct pumice_device pdev;
	struct pumice_file pfile;
	struct drm_file file;
};

static void no_unplug(struct work_struct *work)
{
}

/* Create a file of a device that exists in memory only, and is not unplugged when lost. */
static struct reset_fixture *reset_fixture(struct kunit *test)
{
	struct reset_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	INIT_WORK(&f->pdev.reset.lost_work, no_unplug);
	f->pfile.pdev = &f->pdev;
	f->pfile.blame = pumice_blame_create();
	KUNIT_ASSERT_NOT_NULL(test, f->pfile.blame);
	f->file.driver_priv = &f->pfile;
	return f;
}

static void reset_fixture_end(struct reset_fixture *f)
{
	flush_work(&f->pdev.reset.lost_work);
	pumice_blame_put(f->pfile.blame);
}

static struct drm_pumice_file_get_resets resets_of(struct kunit *test, struct reset_fixture *f)
{
	struct drm_pumice_file_get_resets args = { 0 };

	KUNIT_EXPECT_EQ(test, pumice_ioctl_file_get_resets(&f->pdev.drm, &args, &f->file), 0);
	return args;
}

/* Hardly observable in a guest: the device is unplugged, and all calls are refused. */
static void file_reports_a_lost_gpu(struct kunit *test)
{
	struct reset_fixture *f = reset_fixture(test);

	KUNIT_EXPECT_EQ(test, resets_of(test, f).state, 0);
	reset_lose_device(&f->pdev, "a test lost the GPU");
	KUNIT_EXPECT_EQ(test, resets_of(test, f).state, DRM_PUMICE_RESETS_LOST);
	reset_fixture_end(f);
}

static void resets_count_from_the_opening_of_the_file(struct kunit *test)
{
	struct reset_fixture *f = reset_fixture(test);

	f->pdev.reset.count = 5;
	f->pfile.resets = 3;
	KUNIT_EXPECT_EQ(test, resets_of(test, f).resets, 2);
	/* Both counters have 32 bits. */
	f->pdev.reset.count = 1;
	f->pfile.resets = U32_MAX;
	KUNIT_EXPECT_EQ(test, resets_of(test, f).resets, 2);
	reset_fixture_end(f);
}

struct hang_fixture {
	struct pumice_device pdev;
	struct pumice_context waiting, other;
	struct pumice_queue_shared waiting_shared, other_shared;
	struct pumice_fw_shared fw;
	struct pumice_job job;
};

/* Initialize one of two compute contexts, which the firmware has, without jobs. */
static void hang_context(struct hang_fixture *f, struct pumice_context *ctx,
			 struct pumice_queue_shared *shared, u32 dm)
{
	ctx->pdev = &f->pdev;
	ctx->timeout_ms = 1000;
	ctx->queue_count = 1;
	ctx->queues[0].ctx = ctx;
	ctx->queues[0].dm = dm;
	ctx->queues[0].shared = shared;
	ctx->queues[0].registered = true;
	list_add_tail(&ctx->node, &f->pdev.reset.contexts);
}

/* Create a job on the PDM that the firmware has and never starts, and a geometry context. */
static struct hang_fixture *hang_fixture(struct kunit *test)
{
	struct hang_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->pdev.regs = (void __iomem *)kunit_kzalloc(test, SZ_64K, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)f->pdev.regs);
	f->pdev.clock_hz = 1000000;
	f->pdev.fw.shared = &f->fw;
	mutex_init(&f->pdev.reset.lock);
	INIT_LIST_HEAD(&f->pdev.reset.contexts);
	hang_context(f, &f->waiting, &f->waiting_shared, FWIF_DM_PDM);
	hang_context(f, &f->other, &f->other_shared, FWIF_DM_VDM);
	f->job.ctx = &f->waiting;
	f->job.queue = &f->waiting.queues[0];
	f->job.seqno = 1;
	return f;
}

/* Process one tick. */
static bool tick(struct hang_fixture *f)
{
	bool hangs;

	mutex_lock(&f->pdev.reset.lock);
	hangs = reset_job_hangs(&f->job);
	mutex_unlock(&f->pdev.reset.lock);
	return hangs;
}

static void job_that_the_firmware_never_starts_hangs(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);
	u32 i;

	for (i = 1; i < PUMICE_TIMEOUT_TICKS; i++)
		KUNIT_EXPECT_FALSE(test, tick(f));
	KUNIT_EXPECT_TRUE(test, tick(f));
}

/* A job was started or switched out between two checks, and is over at both. */
static void job_does_not_hang_while_the_firmware_starts_others(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);
	u32 *const counters[] = {
		&f->fw.boot.jobs_started, &f->fw.boot.switches, &f->fw.boot.partials,
	};
	u32 i, n;

	for (n = 0; n < ARRAY_SIZE(counters); n++)
		for (i = 0; i < 2 * PUMICE_TIMEOUT_TICKS; i++) {
			(*counters[n])++;
			KUNIT_EXPECT_FALSE_MSG(test, tick(f), "counter %u", n);
		}
}

static void job_does_not_hang_while_another_is_on_its_data_master(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);
	u32 i;

	f->other_shared.context.renders_partial = 1;
	for (i = 0; i < 2 * PUMICE_TIMEOUT_TICKS; i++)
		KUNIT_EXPECT_FALSE(test, tick(f));
	f->other_shared.context.renders_partial = 0;
	f->other_shared.context.slice_start = 1;
	f->other.queues[0].dm = FWIF_DM_PDM;
	for (i = 0; i < 2 * PUMICE_TIMEOUT_TICKS; i++)
		KUNIT_EXPECT_FALSE(test, tick(f));
	/* The job does not wait for the VDM. */
	f->other.queues[0].dm = FWIF_DM_VDM;
	for (i = 2; i < PUMICE_TIMEOUT_TICKS; i++)
		KUNIT_EXPECT_FALSE(test, tick(f));
	KUNIT_EXPECT_TRUE(test, tick(f));
}

/*
 * The firmware stores the clock at which a slice begins in two halves: with the first of them alone
 * the job would appear to have run since the clock began.
 */
static void times_that_the_firmware_writes_do_not_count(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);
	struct fwif_context *fw = &f->waiting_shared.context;

	f->job.submit_time = ktime_sub_ms(ktime_get(), 10 * f->waiting.timeout_ms);
	pumice_write64(&f->pdev, PUMICE_SYS_CLOCK, 1ull << 40);
	fw->job_seqno = f->job.seqno;
	fw->slice_start = 1;
	fw->times_version = 1;
	KUNIT_EXPECT_EQ(test, pumice_queue_live_ticks(&f->waiting.queues[0]), 0);
	KUNIT_EXPECT_FALSE(test, tick(f));
	fw->times_version = 2;
	KUNIT_EXPECT_EQ(test, pumice_queue_live_ticks(&f->waiting.queues[0]), (1ull << 40) - 1);
	KUNIT_EXPECT_TRUE(test, tick(f));
}

static const char *fence_name(struct dma_fence *fence)
{
	return "test";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_name,
	.get_timeline_name = fence_name,
};

/* Jobs of other contexts, one of which has completed; the test owns their fences. */
struct waits_fixture {
	struct dma_fence ended, pending;
	struct dma_fence *gpu_deps[2];
	spinlock_t lock;	/* lock of both fences */
};

static struct waits_fixture *waits_fixture(struct kunit *test, struct pumice_job *job)
{
	struct waits_fixture *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	spin_lock_init(&w->lock);
	dma_fence_init(&w->ended, &fence_ops, &w->lock, dma_fence_context_alloc(1), 1);
	dma_fence_init(&w->pending, &fence_ops, &w->lock, dma_fence_context_alloc(1), 1);
	dma_fence_signal(&w->ended);
	w->gpu_deps[0] = &w->ended;
	w->gpu_deps[1] = &w->pending;
	job->gpu_deps = w->gpu_deps;
	job->gpu_dep_count = ARRAY_SIZE(w->gpu_deps);
	return w;
}

/* The time-out starts when the last of them has completed. */
static void job_does_not_hang_while_it_waits_for_others(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);
	struct waits_fixture *w = waits_fixture(test, &f->job);
	u32 i;

	for (i = 0; i < 2 * PUMICE_TIMEOUT_TICKS; i++)
		KUNIT_EXPECT_FALSE_MSG(test, tick(f), "tick %u", i);
	dma_fence_signal(&w->pending);
	/* The tick at which it still waited counts as the first. */
	for (i = 2; i < PUMICE_TIMEOUT_TICKS; i++)
		KUNIT_EXPECT_FALSE_MSG(test, tick(f), "tick %u after", i);
	KUNIT_EXPECT_TRUE(test, tick(f));
}

/* It may complete while its time-out is handled, or may never have been submitted. */
static void only_a_job_in_flight_makes_its_context_guilty(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);
	struct pumice_context *ctx = &f->waiting;
	LIST_HEAD(in_flight);

	spin_lock_init(&ctx->lock);
	ctx->blame = pumice_blame_create();
	KUNIT_ASSERT_NOT_NULL(test, ctx->blame);
	INIT_LIST_HEAD(&f->job.node);
	KUNIT_EXPECT_FALSE(test, reset_stop_guilty(ctx, &f->job));
	list_add(&f->job.node, &in_flight);
	f->job.error = -EIO;
	KUNIT_EXPECT_FALSE(test, reset_stop_guilty(ctx, &f->job));
	KUNIT_EXPECT_EQ(test, ctx->state, 0);
	KUNIT_EXPECT_FALSE(test, ctx->stopped);
	f->job.error = 0;
	KUNIT_EXPECT_TRUE(test, reset_stop_guilty(ctx, &f->job));
	KUNIT_EXPECT_EQ(test, ctx->state, DRM_PUMICE_CONTEXT_GUILTY);
	KUNIT_EXPECT_PTR_EQ(test, ctx->guilty, &f->job);
	pumice_blame_put(ctx->blame);
}

static bool fails(struct hang_fixture *f)
{
	bool often;

	mutex_lock(&f->pdev.reset.lock);
	reset_note_progress(&f->pdev);
	often = reset_failed_too_often(&f->pdev);
	mutex_unlock(&f->pdev.reset.lock);
	return often;
}

/* A job that completes in between, even with a fault, shows that the firmware works. */
static void gpu_is_lost_when_firmware_fails_repeatedly(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);
	u32 *const counters[] = { &f->fw.boot.jobs_done, &f->fw.boot.jobs_faulted };
	u32 i, n;

	for (n = 0; n < ARRAY_SIZE(counters); n++) {
		for (i = 1; i < PUMICE_FAILURES; i++)
			KUNIT_EXPECT_FALSE_MSG(test, fails(f), "counter %u, failure %u", n, i);
		*counters[n] = 1;
		KUNIT_EXPECT_FALSE(test, fails(f));
		*counters[n] = 0;
		f->pdev.reset.failures = 0;
	}
	for (i = 1; i < PUMICE_FAILURES; i++)
		KUNIT_EXPECT_FALSE(test, fails(f));
	KUNIT_EXPECT_TRUE(test, fails(f));
}

/* The firmware does not accept commands: a GPU that is not lost is reset, here one that sleeps. */
static void gpu_that_is_lost_is_not_reset_again(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);

	pumice_kccb_init(&f->pdev);
	init_waitqueue_head(&f->pdev.reset.over);
	spin_lock_init(&f->waiting.lock);
	f->pdev.reset.asleep = true;
	mutex_lock(&f->pdev.reset.lock);
	reset_watch_job(&f->waiting, &f->job);
	KUNIT_EXPECT_EQ(test, f->pdev.reset.rounds, 1);
	f->pdev.reset.lost = true;
	reset_watch_job(&f->waiting, &f->job);
	KUNIT_EXPECT_EQ(test, f->pdev.reset.rounds, 1);
	mutex_unlock(&f->pdev.reset.lock);
}

/* Its shared memory is freed: the tick of a job that the scheduler completes uses none. */
static void context_that_was_destroyed_is_not_watched(struct kunit *test)
{
	struct hang_fixture *f = hang_fixture(test);

	pumice_kccb_init(&f->pdev);
	init_waitqueue_head(&f->pdev.reset.over);
	spin_lock_init(&f->waiting.lock);
	f->pdev.reset.asleep = true;
	list_del_init(&f->waiting.node);
	mutex_lock(&f->pdev.reset.lock);
	reset_watch_job(&f->waiting, &f->job);
	KUNIT_EXPECT_EQ(test, f->pdev.reset.rounds, 0);
	mutex_unlock(&f->pdev.reset.lock);
}

static struct kunit_case reset_cases[] = {
	KUNIT_CASE(job_that_the_firmware_never_starts_hangs),
	KUNIT_CASE(job_does_not_hang_while_the_firmware_starts_others),
	KUNIT_CASE(job_does_not_hang_while_another_is_on_its_data_master),
	KUNIT_CASE(times_that_the_firmware_writes_do_not_count),
	KUNIT_CASE(job_does_not_hang_while_it_waits_for_others),
	KUNIT_CASE(only_a_job_in_flight_makes_its_context_guilty),
	KUNIT_CASE(gpu_is_lost_when_firmware_fails_repeatedly),
	KUNIT_CASE(gpu_that_is_lost_is_not_reset_again),
	KUNIT_CASE(context_that_was_destroyed_is_not_watched),
	KUNIT_CASE(file_reports_a_lost_gpu),
	KUNIT_CASE(resets_count_from_the_opening_of_the_file),
	{}
};

static struct kunit_suite reset_suite = {
	.name = "pumice_reset",
	.test_cases = reset_cases,
};

kunit_test_suite(reset_suite);
