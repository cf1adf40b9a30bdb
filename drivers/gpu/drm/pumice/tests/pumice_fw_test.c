// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the boot structure. Part of pumice_fw.c. */
#include <linux/completion.h>
#include <linux/kthread.h>

#include <kunit/test.h>

/* Time in which a thread that does not wait for the lock has filled the memory. */
#define FILL_MS		200

struct fw_fixture {
	struct pumice_fw fw;
	struct pumice_fw_obj obj;
	struct completion done;
};

/* Create firmware whose shared memory is plain memory. */
static struct fw_fixture *fw_fixture(struct kunit *test)
{
	struct fw_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->fw.shared = kunit_kzalloc(test, sizeof(*f->fw.shared), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->fw.shared);
	f->fw.shared_obj = &f->obj;
	mutex_init(&f->fw.settings_lock);
	init_completion(&f->done);
	return f;
}

static int fill_shared(void *data)
{
	struct fw_fixture *f = data;

	fw_fill_shared(&f->fw);
	/* The module may be unloaded right after. */
	kthread_complete_and_exit(&f->done, 0);
}

/* The GPU is reset while root changes shares, policy and log level. */
static void settings_that_change_during_a_boot_are_not_lost(struct kunit *test)
{
	struct fw_fixture *f = fw_fixture(test);
	struct fwif_boot *boot = &f->fw.shared->boot;
	struct task_struct *thread;
	bool filled = true;

	f->fw.pds_shares = 1;
	mutex_lock(&f->fw.settings_lock);
	thread = kthread_run(fill_shared, f, "pumice-fw-test");
	if (!IS_ERR(thread))
		filled = wait_for_completion_timeout(&f->done, msecs_to_jiffies(FILL_MS));
	f->fw.pds_shares = 2;
	boot->pds_shares = 2;
	f->fw.dms_policy = PUMICE_DMS_POLICY_VDM_CDM_PDM;
	boot->dms_policy = PUMICE_DMS_POLICY_VDM_CDM_PDM;
	f->fw.log_level = FWIF_LOG_DEBUG;
	boot->log_level = FWIF_LOG_DEBUG;
	mutex_unlock(&f->fw.settings_lock);
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	KUNIT_EXPECT_FALSE(test, filled);
	if (!filled)
		wait_for_completion(&f->done);
	KUNIT_EXPECT_EQ(test, boot->magic, FWIF_BOOT_MAGIC);
	KUNIT_EXPECT_EQ(test, boot->pds_shares, 2);
	KUNIT_EXPECT_EQ(test, boot->dms_policy, PUMICE_DMS_POLICY_VDM_CDM_PDM);
	KUNIT_EXPECT_EQ(test, boot->log_level, FWIF_LOG_DEBUG);
	mutex_destroy(&f->fw.settings_lock);
}

static struct kunit_case fw_cases[] = {
	KUNIT_CASE(settings_that_change_during_a_boot_are_not_lost),
	{}
};

static struct kunit_suite fw_suite = {
	.name = "pumice_fw",
	.test_cases = fw_cases,
};

kunit_test_suite(fw_suite);
