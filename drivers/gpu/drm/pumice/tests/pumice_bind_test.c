// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the validation of bind operations. Part of pumice_bind.c. */
#include <linux/sizes.h>

#include <kunit/test.h>

#define OP_MAP(...) { .type = DRM_PUMICE_BIND_MAP, .handle = 1, __VA_ARGS__ }
#define OP_UNMAP(...) { .type = DRM_PUMICE_BIND_UNMAP, __VA_ARGS__ }
#define OP_UNMAP_ALL(...) { .type = DRM_PUMICE_BIND_UNMAP_ALL, __VA_ARGS__ }
#define OP_NULL(...) { .type = DRM_PUMICE_BIND_MAP, .va = SZ_1G, __VA_ARGS__ }

/* Check a copy, because the check may write to it. */
static int check_copy(const struct drm_pumice_bind_op *op)
{
	struct drm_pumice_bind_op copy = *op;

	return pumice_bind_check_op(&copy);
}

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
		OP_NULL(.size = SZ_4K, .flags = DRM_PUMICE_BIND_NULL),
		OP_NULL(.size = DRM_PUMICE_MAX_BO_SIZE,
			.flags = DRM_PUMICE_BIND_NULL | DRM_PUMICE_BIND_READONLY),
		OP_UNMAP_ALL(),
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_EQ_MSG(test, check_copy(&good[i]), 0, "operation %u", i);
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
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .flags = PUMICE_MMU_COHERENT),
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .bo_offset = 1),
		OP_MAP(.va = SZ_1G, .size = SZ_4K, .bo_offset = SZ_2K),
		OP_UNMAP(.va = SZ_1G, .size = SZ_4K, .pad = 1),
		OP_UNMAP(.va = SZ_1G, .size = SZ_4K, .flags = DRM_PUMICE_BIND_READONLY),
		OP_UNMAP(.va = SZ_1G, .size = SZ_4K, .handle = 1),
		OP_UNMAP(.va = SZ_1G, .size = SZ_4K, .bo_offset = SZ_4K),
		OP_NULL(.size = SZ_4K, .flags = DRM_PUMICE_BIND_NULL, .handle = 1),
		OP_NULL(.size = SZ_4K, .flags = DRM_PUMICE_BIND_NULL, .bo_offset = SZ_4K),
		OP_NULL(.size = SZ_4K + 1, .flags = DRM_PUMICE_BIND_NULL),
		OP_UNMAP_ALL(.va = SZ_1G),
		OP_UNMAP_ALL(.size = SZ_4K),
		OP_UNMAP_ALL(.handle = 1),
		OP_UNMAP_ALL(.flags = DRM_PUMICE_BIND_NULL),
		OP_UNMAP_ALL(.pad = 1),
		{ .type = 0x7fff, .va = SZ_1G, .size = SZ_4K },
		{ .type = U32_MAX, .va = SZ_1G, .size = SZ_4K },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, check_copy(&bad[i]), -EINVAL,
				    "operation %u", i);
}

static void null_mappings_are_as_large_as_buffers(struct kunit *test)
{
	static const struct drm_pumice_bind_op op =
		OP_NULL(.size = DRM_PUMICE_MAX_BO_SIZE + SZ_4K, .flags = DRM_PUMICE_BIND_NULL);

	KUNIT_EXPECT_EQ(test, check_copy(&op), -E2BIG);
}

static void unmap_all_becomes_an_unmap_of_all_user_addresses(struct kunit *test)
{
	struct drm_pumice_bind_op op = OP_UNMAP_ALL();

	KUNIT_EXPECT_EQ(test, pumice_bind_check_op(&op), 0);
	KUNIT_EXPECT_EQ(test, op.type, DRM_PUMICE_BIND_UNMAP);
	KUNIT_EXPECT_EQ(test, op.va, PUMICE_VA_START);
	KUNIT_EXPECT_EQ(test, op.va + op.size, PUMICE_VA_END);
}

static struct kunit_case bind_cases[] = {
	KUNIT_CASE(operations_within_the_rules_pass),
	KUNIT_CASE(ranges_outside_of_user_addresses_are_refused),
	KUNIT_CASE(unknown_and_misplaced_fields_are_refused),
	KUNIT_CASE(null_mappings_are_as_large_as_buffers),
	KUNIT_CASE(unmap_all_becomes_an_unmap_of_all_user_addresses),
	{}
};

static struct kunit_suite bind_suite = {
	.name = "pumice_bind",
	.test_cases = bind_cases,
};

kunit_test_suite(bind_suite);
