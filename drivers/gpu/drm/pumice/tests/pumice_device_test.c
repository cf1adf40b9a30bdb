// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the versions that features need. Part of pumice_device.c. */
#include <kunit/test.h>

#define TEST_MAP	5u	/* minor versions of the device and of its firmware */
#define TEST_FIRMWARE	9u

/* Both must suffice, whichever of them the feature needs more of. Major versions do not count. */
static void features_need_the_register_map_and_the_firmware(struct kunit *test)
{
	struct pumice_device *pdev = kunit_kzalloc(test, sizeof(*pdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pdev);
	pdev->version = PUMICE_FIELD_PREP(PUMICE_SYS_VERSION__MAJOR, 2) |
			PUMICE_FIELD_PREP(PUMICE_SYS_VERSION__MINOR, TEST_MAP);
	pdev->fw.header.version = 7 << 16 | TEST_FIRMWARE;
	KUNIT_EXPECT_TRUE(test, pumice_device_supports(pdev, 0, 0));
	KUNIT_EXPECT_TRUE(test, pumice_device_supports(pdev, TEST_MAP, TEST_FIRMWARE));
	KUNIT_EXPECT_FALSE(test, pumice_device_supports(pdev, TEST_MAP + 1, TEST_FIRMWARE));
	KUNIT_EXPECT_FALSE(test, pumice_device_supports(pdev, TEST_MAP, TEST_FIRMWARE + 1));
	KUNIT_EXPECT_FALSE(test, pumice_device_supports(pdev, TEST_MAP + 1, 0));
	KUNIT_EXPECT_FALSE(test, pumice_device_supports(pdev, 0, TEST_FIRMWARE + 1));
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(features_need_the_register_map_and_the_firmware),
	{}
};

static struct kunit_suite device_suite = {
	.name = "pumice_device",
	.test_cases = device_cases,
};

kunit_test_suite(device_suite);
