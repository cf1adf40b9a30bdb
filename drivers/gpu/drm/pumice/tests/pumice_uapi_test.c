// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the validation of arrays. Part of pumice_uapi.c. */
#include <kunit/test.h>

#define TEST_STRIDE	24u
#define TEST_MAX	16u

static void arrays_within_the_rules_pass(struct kunit *test)
{
	static const struct drm_pumice_array good[] = {
		{ TEST_STRIDE, 1, 0x1000 },
		{ TEST_STRIDE, TEST_MAX, 0x1000 },
		{ TEST_STRIDE + 8, TEST_MAX, 0x1001 },
		{ MAX_STRIDE, 1, 0x1000 },
		{ TEST_STRIDE, 1, U64_MAX - TEST_STRIDE },
		/* Empty: the other fields are not checked. */
		{ 0, 0, 0 },
		{ U32_MAX, 0, U64_MAX },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_EQ_MSG(test, pumice_array_check(&good[i], TEST_STRIDE, TEST_MAX), 0,
				    "array %u", i);
}

static void too_many_or_too_long_elements_are_refused(struct kunit *test)
{
	static const struct drm_pumice_array bad[] = {
		{ TEST_STRIDE, TEST_MAX + 1, 0x1000 },
		{ TEST_STRIDE, U32_MAX, 0x1000 },
		{ MAX_STRIDE + 1, 1, 0x1000 },
		{ U32_MAX, 1, 0x1000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, pumice_array_check(&bad[i], TEST_STRIDE, TEST_MAX),
				    -E2BIG, "array %u", i);
}

static void short_elements_and_ends_of_memory_are_refused(struct kunit *test)
{
	static const struct drm_pumice_array bad[] = {
		{ 0, 1, 0x1000 },
		{ TEST_STRIDE - 1, 1, 0x1000 },
		{ TEST_STRIDE, 1, U64_MAX - TEST_STRIDE + 1 },
		{ TEST_STRIDE, TEST_MAX, U64_MAX - TEST_STRIDE },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, pumice_array_check(&bad[i], TEST_STRIDE, TEST_MAX),
				    -EINVAL, "array %u", i);
}

static struct kunit_case uapi_cases[] = {
	KUNIT_CASE(arrays_within_the_rules_pass),
	KUNIT_CASE(too_many_or_too_long_elements_are_refused),
	KUNIT_CASE(short_elements_and_ends_of_memory_are_refused),
	{}
};

static struct kunit_suite uapi_suite = {
	.name = "pumice_uapi",
	.test_cases = uapi_cases,
};

kunit_test_suite(uapi_suite);
