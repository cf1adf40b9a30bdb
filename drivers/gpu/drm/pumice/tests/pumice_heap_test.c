// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the layout of heaps and of the checks of operations. Part of pumice_heap.c. */
#include <kunit/test.h>

#define HEAP_64K	(784ull << 30)
#define HEAP_2M		(864ull << 30)
#define TEST_BUS	0x123400000ull	/* 2 MiB aligned; never accessed */

static struct pumice_device *heap_device(struct kunit *test, u32 version)
{
	struct pumice_device *pdev = kunit_kzalloc(test, sizeof(*pdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pdev);
	pdev->version = version;
	return pdev;
}

/* In ascending order, without gaps, each in whole blocks, up to the kernel's addresses. */
static void heaps_divide_the_addresses_of_users(struct kunit *test)
{
	struct pumice_device *pdev = heap_device(test, VERSION_PAGE_SIZES);
	struct drm_pumice_query_heaps query = pumice_heap_query(pdev);
	u64 next = PUMICE_VA_START, page = 0;
	u32 i;

	KUNIT_EXPECT_EQ(test, query.count, 6);
	for (i = 0; i < query.count; i++) {
		KUNIT_EXPECT_EQ(test, query.heaps[i].start, next);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED(query.heaps[i].size, SZ_2M));
		KUNIT_EXPECT_GT(test, query.heaps[i].page_bytes, page);
		page = query.heaps[i].page_bytes;
		next += query.heaps[i].size;
	}
	KUNIT_EXPECT_EQ(test, next, PUMICE_VA_END);
	KUNIT_EXPECT_EQ(test, page, SZ_2M);
}

static void addresses_have_the_page_size_of_their_heap(struct kunit *test)
{
	struct pumice_device *pdev = heap_device(test, VERSION_PAGE_SIZES);
	struct pumice_device *old = heap_device(test, VERSION_PAGE_SIZES - 1);

	KUNIT_EXPECT_EQ(test, pumice_heap_page_size(pdev, 0), PUMICE_PAGE_SIZE_4K);
	KUNIT_EXPECT_EQ(test, pumice_heap_page_size(pdev, HEAP_64K - 1), PUMICE_PAGE_SIZE_16K);
	KUNIT_EXPECT_EQ(test, pumice_heap_page_size(pdev, HEAP_64K), PUMICE_PAGE_SIZE_64K);
	KUNIT_EXPECT_EQ(test, pumice_heap_page_size(pdev, PUMICE_VA_END - 1),
			PUMICE_PAGE_SIZE_2M);
	KUNIT_EXPECT_EQ(test, pumice_heap_page_size(pdev, PUMICE_VA_END), PUMICE_PAGE_SIZE_4K);
	KUNIT_EXPECT_EQ(test, pumice_heap_page_size(old, HEAP_64K), PUMICE_PAGE_SIZE_COUNT);
}

static void operations_consist_of_whole_pages_of_a_heap(struct kunit *test)
{
	static const struct {
		u32 type;
		u64 va, size, bo_offset;
		int ret;
	} cases[] = {
		{ DRM_PUMICE_BIND_MAP, HEAP_64K, SZ_64K, 0, 0 },
		{ DRM_PUMICE_BIND_MAP, HEAP_64K, SZ_128K, SZ_64K, 0 },
		{ DRM_PUMICE_BIND_MAP, HEAP_64K, SZ_64K, SZ_4K, -EINVAL },
		{ DRM_PUMICE_BIND_MAP, HEAP_64K, SZ_4K, 0, -EINVAL },
		{ DRM_PUMICE_BIND_MAP, HEAP_64K + SZ_4K, SZ_64K, 0, -EINVAL },
		{ DRM_PUMICE_BIND_MAP, HEAP_64K - SZ_64K, SZ_128K, 0, -EINVAL },
		{ DRM_PUMICE_BIND_MAP, PUMICE_HEAPS_START - SZ_4K, SZ_4K, SZ_4K, 0 },
		{ DRM_PUMICE_BIND_UNMAP, HEAP_64K + SZ_64K, SZ_64K, 0, 0 },
		{ DRM_PUMICE_BIND_UNMAP, HEAP_64K + SZ_64K, SZ_4K, 0, -EINVAL },
		{ DRM_PUMICE_BIND_UNMAP, HEAP_64K + SZ_4K, SZ_64K - SZ_4K, 0, -EINVAL },
		{ DRM_PUMICE_BIND_UNMAP, HEAP_64K - SZ_16K, HEAP_2M - HEAP_64K + SZ_16K, 0, 0 },
		{ DRM_PUMICE_BIND_UNMAP, HEAP_2M - SZ_1M, SZ_2M, 0, -EINVAL },
		{ DRM_PUMICE_BIND_UNMAP, PUMICE_VA_START, PUMICE_VA_END - PUMICE_VA_START, 0, 0 },
	};
	struct pumice_device *pdev = heap_device(test, VERSION_PAGE_SIZES);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct drm_pumice_bind_op op = {
			.type = cases[i].type, .va = cases[i].va, .size = cases[i].size,
			.bo_offset = cases[i].bo_offset,
		};

		KUNIT_EXPECT_EQ_MSG(test, pumice_heap_check(pdev, &op), cases[i].ret, "case %u",
				    i);
	}
}

/* Two segments, each of 128 KiB, at the given bus addresses. */
static bool two_segments_fit(struct kunit *test, u64 first, u64 second, u64 va, u64 size,
			     u64 offset)
{
	struct pumice_device *pdev = heap_device(test, VERSION_PAGE_SIZES);
	struct scatterlist list[2];
	struct sg_table sgt = { .sgl = list, .nents = 2, .orig_nents = 2 };

	sg_init_table(list, ARRAY_SIZE(list));
	list[0].length = SZ_128K;
	list[1].length = SZ_128K;
	sg_dma_len(&list[0]) = SZ_128K;
	sg_dma_len(&list[1]) = SZ_128K;
	sg_dma_address(&list[0]) = first;
	sg_dma_address(&list[1]) = second;
	return pumice_heap_fits(pdev, va, size, &sgt, offset);
}

static void memory_is_contiguous_and_aligned_by_page(struct kunit *test)
{
	const u64 far = TEST_BUS + SZ_1G;

	/* Pages of 64 KiB in two places, but not across the gap of one of 256 KiB. */
	KUNIT_EXPECT_TRUE(test, two_segments_fit(test, TEST_BUS, far, HEAP_64K, SZ_256K, 0));
	KUNIT_EXPECT_FALSE(test, two_segments_fit(test, TEST_BUS, far, 816ull << 30, SZ_256K, 0));
	KUNIT_EXPECT_TRUE(test, two_segments_fit(test, TEST_BUS, TEST_BUS + SZ_128K,
						 816ull << 30, SZ_256K, 0));
	KUNIT_EXPECT_FALSE(test, two_segments_fit(test, TEST_BUS + SZ_4K, far, HEAP_64K, SZ_64K,
						  0));
	KUNIT_EXPECT_FALSE(test, two_segments_fit(test, TEST_BUS, far + SZ_4K, HEAP_64K, SZ_64K,
						  SZ_128K));
	/* Only the part that is mapped counts. */
	KUNIT_EXPECT_TRUE(test, two_segments_fit(test, TEST_BUS, far + SZ_4K, HEAP_64K, SZ_128K,
						 0));
	KUNIT_EXPECT_TRUE(test, two_segments_fit(test, TEST_BUS + SZ_4K, far, SZ_1G, SZ_256K, 0));
	/* A table that ends before the mapping does. */
	KUNIT_EXPECT_FALSE(test, two_segments_fit(test, TEST_BUS, far, HEAP_64K, SZ_512K, 0));
	KUNIT_EXPECT_FALSE(test, two_segments_fit(test, TEST_BUS, far, HEAP_64K, SZ_64K, SZ_256K));
}

static struct kunit_case heap_cases[] = {
	KUNIT_CASE(heaps_divide_the_addresses_of_users),
	KUNIT_CASE(addresses_have_the_page_size_of_their_heap),
	KUNIT_CASE(operations_consist_of_whole_pages_of_a_heap),
	KUNIT_CASE(memory_is_contiguous_and_aligned_by_page),
	{}
};

static struct kunit_suite heap_suite = {
	.name = "pumice_heap",
	.test_cases = heap_cases,
};

kunit_test_suite(heap_suite);
