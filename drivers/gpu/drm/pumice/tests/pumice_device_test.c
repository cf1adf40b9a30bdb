// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the versions that features need. Part of pumice_device.c. */
#include <kunit/test.h>

#define TEST_MAP	5u	/* minor versions of the device and of its firmware */
#define TEST_FIRMWARE	9u

static struct pumice_device *test_versions(struct kunit *test, u32 map_minor, u32 fw_minor)
{
	struct pumice_device *pdev = kunit_kzalloc(test, sizeof(*pdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pdev);
	pdev->version = PUMICE_FIELD_PREP(PUMICE_SYS_VERSION__MAJOR, 2) |
			PUMICE_FIELD_PREP(PUMICE_SYS_VERSION__MINOR, map_minor);
	pdev->fw.header.version = 7 << 16 | fw_minor;
	return pdev;
}

/* Both must suffice, whichever of them the feature needs more of. Major versions do not count. */
static void features_need_the_register_map_and_the_firmware(struct kunit *test)
{
	struct pumice_device *pdev = test_versions(test, TEST_MAP, TEST_FIRMWARE);

	KUNIT_EXPECT_TRUE(test, pumice_device_supports(pdev, 0, 0));
	KUNIT_EXPECT_TRUE(test, pumice_device_supports(pdev, TEST_MAP, TEST_FIRMWARE));
	KUNIT_EXPECT_FALSE(test, pumice_device_supports(pdev, TEST_MAP + 1, TEST_FIRMWARE));
	KUNIT_EXPECT_FALSE(test, pumice_device_supports(pdev, TEST_MAP, TEST_FIRMWARE + 1));
	KUNIT_EXPECT_FALSE(test, pumice_device_supports(pdev, TEST_MAP + 1, 0));
	KUNIT_EXPECT_FALSE(test, pumice_device_supports(pdev, 0, TEST_FIRMWARE + 1));
}

/* Documentation/versions.rst: presents need register map 2.5 and firmware 1.9. */
static void flips_need_their_register_map_and_firmware(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, pumice_flip_supported(test_versions(test, 5, 9)));
	KUNIT_EXPECT_FALSE(test, pumice_flip_supported(test_versions(test, 4, 9)));
	KUNIT_EXPECT_FALSE(test, pumice_flip_supported(test_versions(test, 5, 8)));
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(features_need_the_register_map_and_the_firmware),
	KUNIT_CASE(flips_need_their_register_map_and_firmware),
	{}
};

static struct kunit_suite device_suite = {
	.name = "pumice_device",
	.test_cases = device_cases,
};

kunit_test_suite(device_suite);
