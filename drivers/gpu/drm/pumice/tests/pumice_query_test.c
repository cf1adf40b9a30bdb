// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the sizes that the GPU reports. Part of pumice_query.c. */
#include <kunit/test.h>

/* Return the answer of a device whose registers SYS_CACHES and SYS_UNITS have these values. */
static struct drm_pumice_query_gpu query_with(struct kunit *test, u32 caches, u64 units)
{
	struct pumice_device *pdev = kunit_kzalloc(test, sizeof(*pdev), GFP_KERNEL);
	struct drm_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pdev);
	KUNIT_ASSERT_NOT_NULL(test, file);
	pdev->caches = caches;
	pdev->units = units;
	return query_gpu(pdev, file);
}

/* A register map before 2.6 has no such register. */
static void caches_that_are_not_reported_have_no_bytes(struct kunit *test)
{
	struct drm_pumice_query_gpu gpu = query_with(test, 0, 0);
	u32 i;

	for (i = 0; i < PUMICE_CACHE_COUNT; i++)
		KUNIT_EXPECT_EQ_MSG(test, gpu.cache_bytes[i], 0, "cache %u", i);
}

static void caches_have_the_bytes_of_their_fields(struct kunit *test)
{
	struct drm_pumice_query_gpu gpu =
		query_with(test, PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__SLC, 20) |
				 PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__DATA_L1, 8) |
				 PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__DATA_L2, 9) |
				 PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__TEXTURE_L1, 10) |
				 PUMICE_FIELD_PREP(PUMICE_SYS_CACHES__TEXTURE_L2, 11), 0);

	KUNIT_EXPECT_EQ(test, gpu.cache_bytes[PUMICE_CACHE_SLC], SZ_1M);
	KUNIT_EXPECT_EQ(test, gpu.cache_bytes[PUMICE_CACHE_DATA_L1], SZ_256);
	KUNIT_EXPECT_EQ(test, gpu.cache_bytes[PUMICE_CACHE_DATA_L2], SZ_512);
	KUNIT_EXPECT_EQ(test, gpu.cache_bytes[PUMICE_CACHE_TEXTURE_L1], SZ_1K);
	KUNIT_EXPECT_EQ(test, gpu.cache_bytes[PUMICE_CACHE_TEXTURE_L2], SZ_2K);
}

/* A register map before 2.7 has no such register. */
static void units_that_are_not_reported_have_no_sizes(struct kunit *test)
{
	struct drm_pumice_query_gpu gpu = query_with(test, 0, 0);

	KUNIT_EXPECT_EQ(test, gpu.vpm_bytes, 0);
	KUNIT_EXPECT_EQ(test, gpu.idx_fifo, 0);
	KUNIT_EXPECT_EQ(test, gpu.chunk_fifo, 0);
	KUNIT_EXPECT_EQ(test, gpu.tile_fifo, 0);
	KUNIT_EXPECT_EQ(test, gpu.tsp_vertices, 0);
	KUNIT_EXPECT_EQ(test, gpu.tcus_per_spu, 0);
}

static void units_have_the_sizes_of_their_fields(struct kunit *test)
{
	struct drm_pumice_query_gpu gpu =
		query_with(test, 0, PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__VPM_KIB, 4096) |
				    PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__IDX_FIFO, 4095) |
				    PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__CHUNK_FIFO, 3) |
				    PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__TILE_FIFO, 64) |
				    PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__TSP_VERTICES, 1024) |
				    PUMICE_FIELD_PREP(PUMICE_SYS_UNITS__TCUS, 3));

	KUNIT_EXPECT_EQ(test, gpu.vpm_bytes, SZ_4M);
	KUNIT_EXPECT_EQ(test, gpu.idx_fifo, 4095);
	KUNIT_EXPECT_EQ(test, gpu.chunk_fifo, 3);
	KUNIT_EXPECT_EQ(test, gpu.tile_fifo, 64);
	KUNIT_EXPECT_EQ(test, gpu.tsp_vertices, 1024);
	KUNIT_EXPECT_EQ(test, gpu.tcus_per_spu, 3);
}

static struct kunit_case query_cases[] = {
	KUNIT_CASE(caches_that_are_not_reported_have_no_bytes),
	KUNIT_CASE(caches_have_the_bytes_of_their_fields),
	KUNIT_CASE(units_that_are_not_reported_have_no_sizes),
	KUNIT_CASE(units_have_the_sizes_of_their_fields),
	{}
};

static struct kunit_suite query_suite = {
	.name = "pumice_query",
	.test_cases = query_cases,
};

kunit_test_suite(query_suite);
