// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of the handling of errors of the firmware. Part of pumice_irq.c.
 *
 * Registers and shared memory are plain memory. A reset that is requested does nothing.
 */
#include <kunit/test.h>

static void irq_ignore_reset(struct work_struct *work)
{
}

/* Let the firmware of a virtual GPU stop by itself. Returns the device. */
static struct pumice_device *irq_stop_firmware(struct kunit *test, u32 os)
{
	struct pumice_device *pdev = kunit_kzalloc(test, sizeof(*pdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pdev);
	pdev->fw.shared = kunit_kzalloc(test, sizeof(*pdev->fw.shared), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pdev->fw.shared);
	pdev->os = os;
	pdev->reset.wq = system_unbound_wq;
	INIT_WORK(&pdev->reset.work, irq_ignore_reset);
	pdev->fw.shared->boot.state = FWIF_STATE_READY;
	pumice_irq_check_firmware(pdev);
	KUNIT_EXPECT_FALSE(test, pdev->reset.wanted);
	pdev->fw.shared->boot.state = FWIF_STATE_FATAL;
	pumice_irq_check_firmware(pdev);
	flush_work(&pdev->reset.work);
	KUNIT_EXPECT_TRUE(test, pdev->reset.wanted);
	return pdev;
}

/* Failures unplug a device, and number 0 may cause a fatal error as often as it likes. */
static void fatal_error_does_not_count_for_a_virtual_gpu(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, irq_stop_firmware(test, 1)->vgpu.stopped);
}

static void fatal_error_counts_for_number_0(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, irq_stop_firmware(test, 0)->vgpu.stopped);
}

static struct kunit_case irq_cases[] = {
	KUNIT_CASE(fatal_error_does_not_count_for_a_virtual_gpu),
	KUNIT_CASE(fatal_error_counts_for_number_0),
	{}
};

static struct kunit_suite irq_suite = {
	.name = "pumice_irq",
	.test_cases = irq_cases,
};

kunit_test_suite(irq_suite);
