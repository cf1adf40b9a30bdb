// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the arguments of bind operations. Part of pumice_bind.c. */
#include <linux/sizes.h>

#include <kunit/test.h>

#define OP_MAP(...) { .type = DRM_PUMICE_BIND_MAP, .handle = 1, __VA_ARGS__ }
#define OP_UNMAP(...) { .type = DRM_PUMICE_BIND_UNMAP, __VA_ARGS__ }

static void operations_within_the_rules_pass(struct kunit *test)
{
	static const struct drm_pumice_bind_op good[] = {
		OP_MAP(.va = PUMICE_VA_START, .size = SZ_4K),
		OP_MAP(.va = PUMICE_VA_START, .size = PUMICE_VA_END - PUMICE_VA_START),
		OP_MAP(.va = PUMICE_VA_END - SZ_4K, .size = SZ_4K),
		OP_MAP(.va = SZ_1G, .size = SZ_8K, .bo_offset = SZ_4K),
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .flags = DRM_PUMICE_BIND_READONLY),
		OP_MAP(.va = SZ_1G, .size = SZ_4K,
		       .flags = DRM_PUMICE_BIND_READONLY | DRM_PUMICE_BIND_NOEXEC),
		OP_UNMAP(.va = PUMICE_VA_START, .size = PUMICE_VA_END - PUMICE_VA_START),
		OP_UNMAP(.va = PUMICE_VA_END - SZ_4K, .size = SZ_4K),
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_EQ_MSG(test, pumice_bind_check_op(&good[i]), 0, "operation %u", i);
}

static void ranges_outside_of_user_addresses_are_refused(struct kunit *test)
{
	static const struct {
		u64 va, size;
	} bad[] = {
		{ SZ_1G, 0 },
		{ SZ_1G, 1 },
		{ SZ_1G, SZ_4K + 1 },
		{ SZ_1G + 1, SZ_4K },
		{ SZ_1G + SZ_2K, SZ_4K },
		{ PUMICE_VA_START - SZ_4K, SZ_4K },
		{ PUMICE_VA_START - SZ_4K, SZ_8K },
		{ PUMICE_VA_END - SZ_4K, SZ_8K },
		{ PUMICE_VA_END, SZ_4K },
		{ PUMICE_VA_KERNEL_END, SZ_4K },
		{ SZ_1G, PAGE_MASK },
		{ PAGE_MASK, SZ_4K },
		{ PAGE_MASK, SZ_8K },
		{ 0, SZ_4K },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct drm_pumice_bind_op map = OP_MAP(.va = bad[i].va, .size = bad[i].size);
		struct drm_pumice_bind_op unmap = OP_UNMAP(.va = bad[i].va, .size = bad[i].size);

		KUNIT_EXPECT_EQ_MSG(test, pumice_bind_check_op(&map), -EINVAL, "range %u", i);
		KUNIT_EXPECT_EQ_MSG(test, pumice_bind_check_op(&unmap), -EINVAL, "range %u", i);
	}
}

static void unknown_and_misplaced_fields_are_refused(struct kunit *test)
{
	static const struct drm_pumice_bind_op bad[] = {
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .pad = 1),
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .flags = BIT(31)),
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .flags = PUMICE_MMU_PM_OWNED),
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .bo_offset = 1),
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .bo_offset = SZ_2K),
		OP_UNMAP(.va = SZ_1G, .size = SZ_4K, .pad = 1),
		OP_UNMAP(.va = SZ_1G, .size = SZ_4K, .flags = DRM_PUMICE_BIND_READONLY),
		OP_UNMAP(.va = SZ_1G, .size = SZ_4K, .handle = 1),
		OP_UNMAP(.va = SZ_1G, .size = SZ_4K, .bo_offset = SZ_4K),
		{ .type = 0x7fff, .va = SZ_1G, .size = SZ_4K },
		{ .type = U32_MAX, .va = SZ_1G, .size = SZ_4K },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, pumice_bind_check_op(&bad[i]), -EINVAL,
				    "operation %u", i);
}

static struct kunit_case bind_cases[] = {
	KUNIT_CASE(operations_within_the_rules_pass),
	KUNIT_CASE(ranges_outside_of_user_addresses_are_refused),
	KUNIT_CASE(unknown_and_misplaced_fields_are_refused),
	{}
};

static struct kunit_suite bind_suite = {
	.name = "pumice_bind",
	.test_cases = bind_cases,
};

kunit_test_suite(bind_suite);
