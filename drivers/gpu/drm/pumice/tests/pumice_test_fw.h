/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Firmware of KUnit tests: shared memory and registers that are plain memory. */
#ifndef PUMICE_TEST_FW_H
#define PUMICE_TEST_FW_H

#include <kunit/test.h>

#include "pumice_ccb.h"
#include "pumice_fw.h"

/* Let a device accept commands; pumice_kccb_init() was called. */
static inline void pumice_test_boot(struct kunit *test, struct pumice_device *pdev)
{
	pdev->fw.shared = kunit_kzalloc(test, sizeof(*pdev->fw.shared), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pdev->fw.shared);
	pdev->regs = (void __iomem *)kunit_kzalloc(test, SZ_64K, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)pdev->regs);
	pumice_kccb_open(pdev);
}

#endif
