// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of which jobs the fault log keeps, and how it shows them. Part of pumice_fault_log.c. */
#include <kunit/test.h>

#define LOG_BYTES	4096

struct fault_log_fixture {
	struct pumice_device pdev;
	struct pumice_context ctx;
	struct pumice_job job;
	char text[LOG_BYTES];
};

static struct fault_log_fixture *fault_log_fixture(struct kunit *test)
{
	struct fault_log_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	pumice_fault_log_init(&f->pdev.fault_log);
	spin_lock_init(&f->ctx.lock);
	f->ctx.pdev = &f->pdev;
	f->ctx.id = 3;
	f->ctx.process = (struct pumice_process){ .pid = 42, .name = "quartz\n" };
	f->ctx.queues[0].ctx = &f->ctx;
	f->ctx.queues[0].dm = FWIF_DM_CDM;
	f->ctx.queues[0].id = 9;
	f->job.ctx = &f->ctx;
	f->job.queue = &f->ctx.queues[0];
	return f;
}

/* End the next job of the context. */
static void job_ends(struct fault_log_fixture *f, int error, const struct fwif_job_result *r)
{
	f->job.number++;
	f->job.seqno++;
	spin_lock(&f->ctx.lock);
	pumice_fault_log_note_locked(&f->job, error, r);
	spin_unlock(&f->ctx.lock);
}

/* Return true if the log as it is shown contains a text. */
static bool log_has(struct fault_log_fixture *f, const char *text)
{
	struct seq_file m = { .buf = f->text, .size = sizeof(f->text) - 1 };

	pumice_fault_log_show(&m, &f->pdev);
	f->text[m.count] = '\0';
	return strstr(f->text, text);
}

static const struct fwif_job_result reset_result = { .fault = PUMICE_FAULT_RESET };
static const struct fwif_job_result killed_result = { .fault = PUMICE_FAULT_KILLED };

static void successful_and_killed_jobs_are_not_kept(struct kunit *test)
{
	const struct fwif_job_result done = { .fault = PUMICE_FAULT_NONE };
	struct fault_log_fixture *f = fault_log_fixture(test);

	job_ends(f, 0, &done);
	job_ends(f, -ECANCELED, &killed_result);
	KUNIT_EXPECT_TRUE(test, log_has(f, "jobs lost in a reset, 0 in total:\nlast "));
	KUNIT_EXPECT_TRUE(test, log_has(f, "\nlast jobs that failed, 0 in total:\n"));
}

static void job_without_a_result_is_kept(struct kunit *test)
{
	struct fault_log_fixture *f = fault_log_fixture(test);

	job_ends(f, -EIO, NULL);
	KUNIT_EXPECT_TRUE(test, log_has(f, "] quartz\\n (42): context 9 job 1, compute, "));
	KUNIT_EXPECT_TRUE(test, log_has(f, "context 3 job 1: ended without a result of the"));
}

static void jobs_lost_in_a_reset_are_one_record(struct kunit *test)
{
	struct fault_log_fixture *f = fault_log_fixture(test);
	u32 i;

	for (i = 0; i < 3 * PUMICE_FAULT_LOG_COUNT; i++)
		job_ends(f, -ECANCELED, &reset_result);
	KUNIT_EXPECT_EQ(test, f->pdev.fault_log.lost.total, 1);
	KUNIT_EXPECT_TRUE(test, log_has(f, "job 1 and 47 after it: lost in a reset of"));
}

/* Other jobs between two that were lost show that they were lost in different resets. */
static void jobs_lost_separately_are_two_records(struct kunit *test)
{
	struct fault_log_fixture *f = fault_log_fixture(test);

	job_ends(f, -ECANCELED, &reset_result);
	job_ends(f, 0, NULL);
	job_ends(f, -ECANCELED, &reset_result);
	f->ctx.queues[0].id++;
	job_ends(f, -ECANCELED, &reset_result);
	KUNIT_EXPECT_EQ(test, f->pdev.fault_log.lost.total, 3);
	KUNIT_EXPECT_FALSE(test, log_has(f, "after it"));
}

/* A job that timed out and did not stop caused the reset: victims do not displace it. */
static void job_that_caused_the_reset_is_kept(struct kunit *test)
{
	struct fault_log_fixture *f = fault_log_fixture(test);
	u32 i;

	job_ends(f, -ETIMEDOUT, &reset_result);
	for (i = 0; i <= PUMICE_FAULT_LOG_COUNT; i++, f->ctx.queues[0].id++)
		job_ends(f, -ECANCELED, &reset_result);
	KUNIT_EXPECT_EQ(test, f->pdev.fault_log.failed.total, 1);
	KUNIT_EXPECT_EQ(test, f->pdev.fault_log.lost.total, PUMICE_FAULT_LOG_COUNT + 1);
	KUNIT_EXPECT_TRUE(test, log_has(f, "job 1: timed out, and ended without a result"));
	KUNIT_EXPECT_TRUE(test, log_has(f, "job 3: lost in a reset"));
	KUNIT_EXPECT_FALSE(test, log_has(f, "job 2: lost in a reset"));
}

/* Nor are jobs of a device that was removed, or of a GPU that is lost. */
static void jobs_of_a_removed_device_are_not_kept(struct kunit *test)
{
	struct fault_log_fixture *f = fault_log_fixture(test);

	job_ends(f, -ENODEV, &reset_result);
	KUNIT_EXPECT_EQ(test, f->pdev.fault_log.lost.total, 0);
	KUNIT_EXPECT_EQ(test, f->pdev.fault_log.failed.total, 0);
}

static void time_out_shows_the_unit(struct kunit *test)
{
	const struct fwif_job_result stuck = {
		.fault = PUMICE_FAULT_KILLED, .unit = PUMICE_UNIT_USC_CODE, .addr = 0x1000,
	};
	struct fault_log_fixture *f = fault_log_fixture(test);

	job_ends(f, -ETIMEDOUT, &stuck);
	job_ends(f, -ETIMEDOUT, &killed_result);
	KUNIT_EXPECT_TRUE(test, log_has(f, ": timed out in usc-code, at 0x1000\n"));
	KUNIT_EXPECT_TRUE(test, log_has(f, ": timed out\n"));
}

static struct kunit_case fault_log_cases[] = {
	KUNIT_CASE(successful_and_killed_jobs_are_not_kept),
	KUNIT_CASE(job_without_a_result_is_kept),
	KUNIT_CASE(jobs_lost_in_a_reset_are_one_record),
	KUNIT_CASE(jobs_lost_separately_are_two_records),
	KUNIT_CASE(job_that_caused_the_reset_is_kept),
	KUNIT_CASE(jobs_of_a_removed_device_are_not_kept),
	KUNIT_CASE(time_out_shows_the_unit),
	{}
};

static struct kunit_suite fault_log_suite = {
	.name = "pumice_fault_log",
	.test_cases = fault_log_cases,
};

kunit_test_suite(fault_log_suite);
