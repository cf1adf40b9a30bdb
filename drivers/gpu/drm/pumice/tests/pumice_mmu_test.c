// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of the page tables, by walks as the GPU does them. Part of pumice_mmu.c.
 *
 * Addresses are translated by reading the tables in memory, entry by entry, and compared
 * with the last mapping of each page.
 */
#include <kunit/device.h>
#include <kunit/test.h>

#define TEST_VA		(3ull << DIR_SHIFT)
#define TEST_PAGES	2048u	/* of the model: four blocks */
#define TEST_ROUNDS	300u
#define TEST_ADDR	0x123400000ull	/* bus address, never accessed; 2 MiB aligned */

/* Result of one walk. */
struct walk {
	u64 leaf;	/* entry of 4 KiB: address and attributes; 0: not mapped */
	u32 page_size;	/* enum pumice_page_size */
};

struct mmu_fixture {
	struct pumice_device *pdev;
	struct pumice_mmu *mmu;
	struct pumice_mmu_pool pool;
	atomic_t usage;		/* number of tables of both */
	u64 model[TEST_PAGES];	/* leaves from TEST_VA on */
};

/* Return a table in memory; the tables belong to a device without an IOMMU. */
static const u64 *walk_table(u64 entry, u64 mask)
{
	return phys_to_virt(entry & mask);
}

static struct walk walk(struct pumice_mmu *mmu, u64 va)
{
	u64 entry = mmu->catalogue[va >> DIR_SHIFT];
	struct walk w = { 0 };
	u32 index;

	if (!(entry & PUMICE_MMU_PC_ENTRY__VALID__MASK))
		return w;
	entry = walk_table(entry, PUMICE_MMU_PC_ENTRY__ADDR__MASK)[(va >> BLOCK_SHIFT) % ENTRIES];
	if (!(entry & PUMICE_MMU_PD_ENTRY__VALID__MASK))
		return w;
	w.page_size = PUMICE_FIELD_GET(PUMICE_MMU_PD_ENTRY__PAGE_SIZE, entry);
	index = (va >> LEAF_SHIFT) % LEAVES;
	entry = walk_table(entry, PUMICE_MMU_PD_ENTRY__ADDR__MASK)[index >>
								   mmu_page_order(w.page_size)];
	if (entry & LEAF_VALID)
		w.leaf = entry + ((u64)(index & (BIT(mmu_page_order(w.page_size)) - 1))
				  << LEAF_SHIFT);
	return w;
}

static struct mmu_fixture *mmu_fixture(struct kunit *test)
{
	struct mmu_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "pumice-mmu");

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(48)), 0);
	f->pdev = kunit_kzalloc(test, sizeof(*f->pdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->pdev);
	f->pdev->drm.dev = dev;
	f->mmu = pumice_mmu_create(f->pdev);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->mmu);
	pumice_mmu_pool_init(&f->pool, &f->usage);
	test->priv = f;
	return f;
}

static void mmu_exit(struct kunit *test)
{
	struct mmu_fixture *f = test->priv;

	if (!f || IS_ERR_OR_NULL(f->mmu))
		return;
	pumice_mmu_destroy(f->mmu);
	pumice_mmu_pool_free(f->pdev, &f->pool);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->usage), 0);
}

static void map(struct kunit *test, u64 va, u64 size, u64 addr, u32 flags)
{
	struct mmu_fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, pumice_mmu_pool_fill_map(f->pdev, &f->pool, va, size), 0);
	pumice_mmu_map_contiguous(f->mmu, &f->pool, va, size, addr, flags);
}

static void unmap(struct kunit *test, u64 va, u64 size)
{
	struct mmu_fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, pumice_mmu_pool_fill_unmap(f->pdev, &f->pool), 0);
	pumice_mmu_unmap(f->mmu, &f->pool, va, size);
}

static void expect_mapped(struct kunit *test, u64 va, u64 size, u64 addr, u64 attributes)
{
	struct mmu_fixture *f = test->priv;
	u64 at;

	for (at = 0; at < size; at += LEAF_BYTES)
		KUNIT_EXPECT_EQ_MSG(test, walk(f->mmu, va + at).leaf,
				    (addr + at) | LEAF_VALID | attributes, "at 0x%llx", va + at);
}

static void expect_unmapped(struct kunit *test, u64 va, u64 size)
{
	struct mmu_fixture *f = test->priv;
	u64 at;

	for (at = 0; at < size; at += LEAF_BYTES)
		KUNIT_EXPECT_EQ_MSG(test, walk(f->mmu, va + at).leaf, 0, "at 0x%llx", va + at);
}

static void mapped_pages_translate_and_their_neighbours_do_not(struct kunit *test)
{
	mmu_fixture(test);
	map(test, TEST_VA + SZ_2M - 2 * SZ_4K, 3 * SZ_4K, TEST_ADDR, 0);
	expect_mapped(test, TEST_VA + SZ_2M - 2 * SZ_4K, 3 * SZ_4K, TEST_ADDR, 0);
	expect_unmapped(test, TEST_VA + SZ_2M - 3 * SZ_4K, SZ_4K);
	expect_unmapped(test, TEST_VA + SZ_2M + SZ_4K, SZ_4K);
	expect_unmapped(test, TEST_VA - SZ_4K, SZ_4K);
}

static void attributes_reach_the_entries(struct kunit *test)
{
	mmu_fixture(test);
	map(test, TEST_VA, SZ_4K, TEST_ADDR, PUMICE_MMU_READONLY);
	map(test, TEST_VA + SZ_4K, SZ_4K, TEST_ADDR, PUMICE_MMU_NOEXEC);
	map(test, TEST_VA + SZ_8K, SZ_4K, TEST_ADDR, PUMICE_MMU_PM_OWNED);
	map(test, TEST_VA + 3 * SZ_4K, SZ_4K, TEST_ADDR, PUMICE_MMU_COHERENT);
	map(test, TEST_VA + SZ_2M, SZ_2M, TEST_ADDR, PUMICE_MMU_COHERENT);
	expect_mapped(test, TEST_VA, SZ_4K, TEST_ADDR, PUMICE_MMU_PT_ENTRY__READ_ONLY__MASK);
	expect_mapped(test, TEST_VA + SZ_4K, SZ_4K, TEST_ADDR,
		      PUMICE_MMU_PT_ENTRY__NO_EXEC__MASK);
	expect_mapped(test, TEST_VA + SZ_8K, SZ_4K, TEST_ADDR,
		      PUMICE_MMU_PT_ENTRY__PM_OWNED__MASK);
	expect_mapped(test, TEST_VA + 3 * SZ_4K, SZ_4K, TEST_ADDR,
		      PUMICE_MMU_PT_ENTRY__COHERENT__MASK);
	expect_mapped(test, TEST_VA + SZ_2M, SZ_2M, TEST_ADDR,
		      PUMICE_MMU_PT_ENTRY__COHERENT__MASK);
}

/* A block has one page size: the largest that fits address, bus address and length. */
static void block_gets_the_largest_page_size_that_fits(struct kunit *test)
{
	static const struct {
		u64 offset, size, addr;
		u32 page_size;
	} cases[] = {
		{ 0, SZ_2M, TEST_ADDR, PUMICE_PAGE_SIZE_2M },
		{ 0, SZ_2M, TEST_ADDR + SZ_1M, PUMICE_PAGE_SIZE_1M },
		{ SZ_1M, SZ_1M, TEST_ADDR, PUMICE_PAGE_SIZE_1M },
		{ SZ_256K, SZ_256K, TEST_ADDR, PUMICE_PAGE_SIZE_256K },
		{ SZ_64K, SZ_512K, TEST_ADDR + SZ_64K, PUMICE_PAGE_SIZE_64K },
		{ 0, SZ_2M, TEST_ADDR + SZ_16K, PUMICE_PAGE_SIZE_16K },
		{ 0, SZ_2M, TEST_ADDR + SZ_4K, PUMICE_PAGE_SIZE_4K },
		{ 0, SZ_2M - SZ_4K, TEST_ADDR, PUMICE_PAGE_SIZE_4K },
	};
	struct mmu_fixture *f = mmu_fixture(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 va = TEST_VA + i * SZ_2M + cases[i].offset;

		map(test, va, cases[i].size, cases[i].addr, 0);
		expect_mapped(test, va, cases[i].size, cases[i].addr, 0);
		KUNIT_EXPECT_EQ_MSG(test, walk(f->mmu, va).page_size, cases[i].page_size,
				    "case %u", i);
	}
}

/* With assigned sizes, a block has that of its heap, whatever its mappings would permit. */
static void block_gets_the_page_size_of_its_heap(struct kunit *test)
{
	static const struct {
		u64 va, size;
		u32 page_size;
	} cases[] = {
		{ TEST_VA, SZ_2M, PUMICE_PAGE_SIZE_4K },
		{ 768ull << 30, SZ_16K, PUMICE_PAGE_SIZE_16K },
		{ 784ull << 30, SZ_2M, PUMICE_PAGE_SIZE_64K },
		{ 816ull << 30, SZ_512K, PUMICE_PAGE_SIZE_256K },
		{ 832ull << 30, SZ_1M, PUMICE_PAGE_SIZE_1M },
		{ 864ull << 30, SZ_4M, PUMICE_PAGE_SIZE_2M },
		{ 896ull << 30, SZ_2M, PUMICE_PAGE_SIZE_4K },
	};
	struct mmu_fixture *f = mmu_fixture(test);
	u32 i;

	f->pdev->version = 0x20004;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		map(test, cases[i].va, cases[i].size, TEST_ADDR, 0);
		expect_mapped(test, cases[i].va, cases[i].size, TEST_ADDR, 0);
		expect_unmapped(test, cases[i].va + cases[i].size, SZ_4K);
		KUNIT_EXPECT_EQ_MSG(test, walk(f->mmu, cases[i].va).page_size,
				    cases[i].page_size, "case %u", i);
	}
	unmap(test, 784ull << 30, SZ_64K);
	expect_unmapped(test, 784ull << 30, SZ_64K);
	KUNIT_EXPECT_EQ(test, walk(f->mmu, (784ull << 30) + SZ_64K).page_size,
			PUMICE_PAGE_SIZE_64K);
}

static void unmapping_a_part_splits_a_large_page(struct kunit *test)
{
	struct mmu_fixture *f = mmu_fixture(test);

	map(test, TEST_VA, SZ_2M, TEST_ADDR, 0);
	unmap(test, TEST_VA + SZ_1M, SZ_4K);
	expect_mapped(test, TEST_VA, SZ_1M, TEST_ADDR, 0);
	expect_unmapped(test, TEST_VA + SZ_1M, SZ_4K);
	expect_mapped(test, TEST_VA + SZ_1M + SZ_4K, SZ_1M - SZ_4K, TEST_ADDR + SZ_1M + SZ_4K, 0);
	KUNIT_EXPECT_EQ(test, walk(f->mmu, TEST_VA).page_size, PUMICE_PAGE_SIZE_4K);
}

/* So does merging the pages again: entries of a page have all attributes of the large one. */
static void splitting_a_large_page_keeps_its_attributes(struct kunit *test)
{
	const u64 attributes = PUMICE_MMU_PT_ENTRY__READ_ONLY__MASK |
			       PUMICE_MMU_PT_ENTRY__NO_EXEC__MASK;
	const u32 flags = PUMICE_MMU_READONLY | PUMICE_MMU_NOEXEC;
	struct mmu_fixture *f = mmu_fixture(test);

	map(test, TEST_VA, SZ_2M, TEST_ADDR, flags);
	KUNIT_EXPECT_EQ(test, walk(f->mmu, TEST_VA).page_size, PUMICE_PAGE_SIZE_2M);
	unmap(test, TEST_VA + SZ_1M, SZ_4K);
	expect_mapped(test, TEST_VA, SZ_1M, TEST_ADDR, attributes);
	expect_mapped(test, TEST_VA + SZ_1M + SZ_4K, SZ_1M - SZ_4K, TEST_ADDR + SZ_1M + SZ_4K,
		      attributes);
	map(test, TEST_VA + SZ_1M, SZ_4K, TEST_ADDR + SZ_1M, flags);
	expect_mapped(test, TEST_VA, SZ_2M, TEST_ADDR, attributes);
	KUNIT_EXPECT_EQ(test, walk(f->mmu, TEST_VA).page_size, PUMICE_PAGE_SIZE_2M);
}

static void mapping_over_a_mapping_replaces_it(struct kunit *test)
{
	mmu_fixture(test);
	map(test, TEST_VA, SZ_2M, TEST_ADDR, 0);
	map(test, TEST_VA + SZ_64K, SZ_64K, TEST_ADDR + SZ_1G, PUMICE_MMU_READONLY);
	expect_mapped(test, TEST_VA, SZ_64K, TEST_ADDR, 0);
	expect_mapped(test, TEST_VA + SZ_64K, SZ_64K, TEST_ADDR + SZ_1G,
		      PUMICE_MMU_PT_ENTRY__READ_ONLY__MASK);
	expect_mapped(test, TEST_VA + SZ_128K, SZ_2M - SZ_128K, TEST_ADDR + SZ_128K, 0);
}

/* They are detached at once, but the GPU may still read them: freed after the flush. */
static void emptied_tables_are_freed_by_the_flush(struct kunit *test)
{
	struct mmu_fixture *f = mmu_fixture(test);
	struct pumice_mmu_dirty dirty;

	map(test, TEST_VA, SZ_4M, TEST_ADDR, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->mmu->retired));
	unmap(test, TEST_VA, SZ_4M);
	KUNIT_EXPECT_EQ(test, f->mmu->catalogue[TEST_VA >> DIR_SHIFT], 0);
	/* Two page tables and their directory. */
	KUNIT_EXPECT_EQ(test, list_count_nodes(&f->mmu->retired), 3);
	KUNIT_EXPECT_TRUE(test, pumice_mmu_dirty(f->mmu, &dirty));
	pumice_mmu_flushed(f->mmu);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->mmu->retired));
	KUNIT_EXPECT_FALSE(test, pumice_mmu_dirty(f->mmu, &dirty));
}

/* Page by page: the tables stay until the last page, and no page is dirty but the removed ones. */
static void emptied_tables_of_heaps_are_freed_by_the_flush(struct kunit *test)
{
	const u64 va = (768ull << 30) + SZ_64K;
	struct mmu_fixture *f = mmu_fixture(test);
	struct pumice_mmu_dirty dirty;
	u32 i;

	f->pdev->version = 0x20004;
	map(test, va, SZ_16K, TEST_ADDR, 0);
	map(test, va + SZ_16K, SZ_32K, TEST_ADDR + SZ_16K, 0);
	/* Replaces one page. */
	map(test, va, SZ_16K, TEST_ADDR + SZ_1M, 0);
	pumice_mmu_flushed(f->mmu);
	for (i = 0; i < 2; i++) {
		unmap(test, va + i * SZ_16K, SZ_16K);
		KUNIT_EXPECT_TRUE(test, list_empty(&f->mmu->retired));
	}
	KUNIT_EXPECT_TRUE(test, pumice_mmu_dirty(f->mmu, &dirty));
	KUNIT_EXPECT_EQ(test, dirty.start, va);
	KUNIT_EXPECT_EQ(test, dirty.end, va + SZ_32K - 1);
	expect_mapped(test, va + SZ_32K, SZ_16K, TEST_ADDR + SZ_32K, 0);
	unmap(test, va + SZ_32K, SZ_16K);
	/* One page table and its directory. */
	KUNIT_EXPECT_EQ(test, list_count_nodes(&f->mmu->retired), 2);
	KUNIT_EXPECT_EQ(test, f->mmu->catalogue[va >> DIR_SHIFT], 0);
}

/* Elements of one, two and three pages, at descending addresses: no two pages are contiguous. */
#define LIST_ELEMENTS	3u
#define LIST_PAGES	6u

static void fill_list(struct sg_table *sgt)
{
	struct scatterlist *sg;
	u32 i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		sg->length = (i + 1) * SZ_4K;
		sg_dma_address(sg) = TEST_ADDR - i * SZ_1M;
		sg_dma_len(sg) = sg->length;
	}
}

static void pages_of_a_buffer_are_found_in_any_order(struct kunit *test)
{
	static const u64 addrs[LIST_PAGES] = {
		TEST_ADDR, TEST_ADDR - SZ_1M, TEST_ADDR - SZ_1M + SZ_4K, TEST_ADDR - SZ_2M,
		TEST_ADDR - SZ_2M + SZ_4K, TEST_ADDR - SZ_2M + SZ_8K,
	};
	static const u32 order[] = { 1, 2, 5, 0, 4, 3, 2, 5, 1, 1 };
	struct mmu_fixture *f = mmu_fixture(test);
	struct pumice_mmu_pages pages = { 0 };
	struct sg_table sgt;
	u32 i;

	KUNIT_ASSERT_EQ(test, sg_alloc_table(&sgt, LIST_ELEMENTS, GFP_KERNEL), 0);
	fill_list(&sgt);
	pages.sgt = &sgt;
	KUNIT_EXPECT_EQ(test, pumice_mmu_pool_fill_map(f->pdev, &f->pool, TEST_VA, SZ_1M), 0);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		pumice_mmu_map_pages(f->mmu, &f->pool, TEST_VA, SZ_4K, &pages,
				     (u64)order[i] * SZ_4K, 0);
		expect_mapped(test, TEST_VA, SZ_4K, addrs[order[i]], 0);
	}
	pumice_mmu_map_pages(f->mmu, &f->pool, TEST_VA, LIST_PAGES * SZ_4K, &pages, 0, 0);
	for (i = 0; i < LIST_PAGES; i++)
		expect_mapped(test, TEST_VA + i * SZ_4K, SZ_4K, addrs[i], 0);
	sg_free_table(&sgt);
}

static void only_earlier_mappings_are_dirty(struct kunit *test)
{
	struct mmu_fixture *f = mmu_fixture(test);
	struct pumice_mmu_dirty dirty;

	map(test, TEST_VA, SZ_16K, TEST_ADDR + SZ_4K, 0);
	KUNIT_EXPECT_FALSE(test, pumice_mmu_dirty(f->mmu, &dirty));
	unmap(test, TEST_VA + SZ_4K, SZ_4K);
	KUNIT_EXPECT_TRUE(test, pumice_mmu_dirty(f->mmu, &dirty));
	KUNIT_EXPECT_LE(test, dirty.start, TEST_VA + SZ_4K);
	KUNIT_EXPECT_GE(test, dirty.end, TEST_VA + SZ_8K - 1);
}

/* In an address space whose jobs do not drop lines of tables when they start. */
static void a_mapping_is_dirty_on_request(struct kunit *test)
{
	struct mmu_fixture *f = mmu_fixture(test);
	struct pumice_mmu_dirty dirty;

	map(test, TEST_VA, SZ_16K, TEST_ADDR, 0);
	pumice_mmu_mark_mapped(f->mmu, TEST_VA, SZ_16K);
	KUNIT_EXPECT_TRUE(test, pumice_mmu_dirty(f->mmu, &dirty));
	KUNIT_EXPECT_EQ(test, dirty.start, TEST_VA);
	KUNIT_EXPECT_EQ(test, dirty.end, TEST_VA + SZ_16K - 1);
}

/* The range spans the first to the last changed page, over several operations and blocks. */
static void dirty_range_holds_all_that_changed_and_no_more(struct kunit *test)
{
	struct mmu_fixture *f = mmu_fixture(test);
	struct pumice_mmu_dirty dirty;

	/* Misaligned with each other: pages of 4 KiB, which are changed in place. */
	map(test, TEST_VA, SZ_4M, TEST_ADDR + SZ_4K, 0);
	unmap(test, TEST_VA + SZ_64K, 4 * SZ_4K);
	KUNIT_EXPECT_TRUE(test, pumice_mmu_dirty(f->mmu, &dirty));
	KUNIT_EXPECT_EQ(test, dirty.start, TEST_VA + SZ_64K);
	KUNIT_EXPECT_EQ(test, dirty.end, TEST_VA + SZ_64K + 4 * SZ_4K - 1);
	map(test, TEST_VA + SZ_2M + SZ_64K, 2 * SZ_4K, TEST_ADDR, 0);
	KUNIT_EXPECT_TRUE(test, pumice_mmu_dirty(f->mmu, &dirty));
	KUNIT_EXPECT_EQ(test, dirty.start, TEST_VA + SZ_64K);
	KUNIT_EXPECT_EQ(test, dirty.end, TEST_VA + SZ_2M + SZ_64K + 2 * SZ_4K - 1);
	pumice_mmu_flushed(f->mmu);
	/* A replaced table: all pages of its block. */
	map(test, TEST_VA + SZ_1G, SZ_2M, TEST_ADDR, 0);
	unmap(test, TEST_VA + SZ_1G + SZ_1M, SZ_4K);
	KUNIT_EXPECT_TRUE(test, pumice_mmu_dirty(f->mmu, &dirty));
	KUNIT_EXPECT_EQ(test, dirty.start, TEST_VA + SZ_1G);
	KUNIT_EXPECT_EQ(test, dirty.end, TEST_VA + SZ_1G + SZ_2M - 1);
	/* A large page that is removed while others stay. */
	map(test, TEST_VA + SZ_1G + SZ_4M, SZ_1M, TEST_ADDR, 0);
	map(test, TEST_VA + SZ_1G + SZ_4M + SZ_1M, SZ_1M, TEST_ADDR + SZ_4M, 0);
	pumice_mmu_flushed(f->mmu);
	unmap(test, TEST_VA + SZ_1G + SZ_4M + SZ_1M, SZ_1M);
	KUNIT_EXPECT_TRUE(test, pumice_mmu_dirty(f->mmu, &dirty));
	KUNIT_EXPECT_EQ(test, dirty.start, TEST_VA + SZ_1G + SZ_4M + SZ_1M);
	KUNIT_EXPECT_EQ(test, dirty.end, TEST_VA + SZ_1G + SZ_4M + SZ_2M - 1);
}

/* Needs of operations together: a directory and its table only where none is certain to exist. */
static void pool_counts_for_the_worst_case(struct kunit *test)
{
	struct mmu_fixture *f = mmu_fixture(test);
	u64 tables;

	KUNIT_EXPECT_EQ(test, pumice_mmu_pool_add_map(f->pdev, &f->pool, TEST_VA, SZ_4K), 0);
	KUNIT_EXPECT_EQ(test, f->pool.dir_count, 1);
	KUNIT_EXPECT_EQ(test, f->pool.table_count, 2);
	/* The same directory. */
	KUNIT_EXPECT_EQ(test, pumice_mmu_pool_add_map(f->pdev, &f->pool, TEST_VA, SZ_4K), 0);
	KUNIT_EXPECT_EQ(test, f->pool.dir_count, 1);
	KUNIT_EXPECT_EQ(test, f->pool.table_count, 3);
	/* An unmap may have removed it. */
	KUNIT_EXPECT_EQ(test, pumice_mmu_pool_add_unmap(f->pdev, &f->pool), 0);
	KUNIT_EXPECT_EQ(test, pumice_mmu_pool_add_map(f->pdev, &f->pool, TEST_VA, SZ_4K), 0);
	KUNIT_EXPECT_EQ(test, f->pool.dir_count, 2);
	/* Across a directory's end: two directories, two blocks. */
	KUNIT_EXPECT_EQ(test, pumice_mmu_pool_add_unmap(f->pdev, &f->pool), 0);
	tables = f->pool.table_count;
	KUNIT_EXPECT_EQ(test, pumice_mmu_pool_add_map(f->pdev, &f->pool, TEST_VA - SZ_4K, SZ_8K),
			0);
	KUNIT_EXPECT_EQ(test, f->pool.dir_count, 4);
	KUNIT_EXPECT_EQ(test, f->pool.table_count, tables + 4);
	pumice_mmu_pool_free(f->pdev, &f->pool);
	KUNIT_EXPECT_EQ(test, f->pool.table_count, 0);
	KUNIT_EXPECT_EQ(test, f->pool.dir_count, 0);
}

/* Return the next number of a linear congruential generator, the same sequence each time. */
static u32 next_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void change_model(struct mmu_fixture *f, u32 first, u32 count, u64 leaf)
{
	u32 i;

	for (i = 0; i < count; i++)
		f->model[first + i] = leaf ? leaf + ((u64)i << LEAF_SHIFT) : 0;
}

/* Map and unmap parts of TEST_PAGES from @base on, in units of @unit pages of 4 KiB. */
static void random_operations(struct kunit *test, struct mmu_fixture *f, u64 base, u32 unit)
{
	u32 state = 20260722, round, i;

	memset(f->model, 0, sizeof(f->model));
	for (round = 0; round < TEST_ROUNDS; round++) {
		u32 first = next_random(&state) % (TEST_PAGES / unit) * unit;
		u32 count = (1 + next_random(&state) % ((TEST_PAGES - first) / unit)) * unit;
		u64 va = base + ((u64)first << LEAF_SHIFT);
		u64 addr = TEST_ADDR + ((u64)(next_random(&state) % 4) << BLOCK_SHIFT) +
			   ((u64)(first % LEAVES) << LEAF_SHIFT);

		if (next_random(&state) % 3) {
			map(test, va, (u64)count << LEAF_SHIFT, addr, 0);
			change_model(f, first, count, addr | LEAF_VALID);
		} else {
			unmap(test, va, (u64)count << LEAF_SHIFT);
			change_model(f, first, count, 0);
		}
		for (i = 0; i < TEST_PAGES; i++)
			if (walk(f->mmu, base + ((u64)i << LEAF_SHIFT)).leaf != f->model[i])
				break;
		KUNIT_ASSERT_EQ_MSG(test, i, TEST_PAGES, "units of %u, round %u", unit, round);
		if (!(next_random(&state) % 4))
			pumice_mmu_flushed(f->mmu);
	}
}

static void random_operations_agree_with_a_model(struct kunit *test)
{
	random_operations(test, mmu_fixture(test), TEST_VA, 1);
}

static void random_operations_in_heaps_agree_with_a_model(struct kunit *test)
{
	struct mmu_fixture *f = mmu_fixture(test);

	f->pdev->version = 0x20004;
	random_operations(test, f, TEST_VA, 1);
	random_operations(test, f, 768ull << 30, SZ_16K / SZ_4K);
	random_operations(test, f, 816ull << 30, SZ_256K / SZ_4K);
	random_operations(test, f, 864ull << 30, SZ_2M / SZ_4K);
}

/* Tables of the GPU: a directory and a page table, which are not the driver's. */
#define TEST_DIRECTORY	0x5000000ull
#define TEST_TABLE	0x5001000ull
static u64 gpu_directory[ENTRIES], gpu_table[LEAVES];

static const u64 *read_gpu_table(struct pumice_vm *vm, u64 va, u64 table)
{
	if (vm || va >> DIR_SHIFT != TEST_VA >> DIR_SHIFT)
		return NULL;
	return table == TEST_DIRECTORY ? gpu_directory : table == TEST_TABLE ? gpu_table : NULL;
}

static const struct pumice_mmu_reader gpu_tables = { .read = read_gpu_table };

static void walks_continue_in_tables_that_the_gpu_keeps(struct kunit *test)
{
	const u64 va = TEST_VA + (7ull << BLOCK_SHIFT) + (9ull << LEAF_SHIFT);
	const u64 page = TEST_ADDR;
	struct pumice_mmu_step steps[PUMICE_MMU_LEVELS];
	struct mmu_fixture *f = mmu_fixture(test);

	memset(gpu_directory, 0, sizeof(gpu_directory));
	KUNIT_EXPECT_EQ(test, pumice_mmu_walk(f->mmu, va, steps, &gpu_tables), 1);
	pumice_mmu_set_directory(f->mmu, TEST_VA, TEST_DIRECTORY);
	KUNIT_EXPECT_EQ(test, pumice_mmu_walk(f->mmu, va, steps, &gpu_tables), 2);
	KUNIT_EXPECT_EQ(test, steps[1].table, TEST_DIRECTORY);
	KUNIT_EXPECT_EQ(test, steps[1].index, 7);
	KUNIT_EXPECT_EQ(test, steps[1].entry, 0);
	gpu_directory[7] = TEST_TABLE | PUMICE_MMU_PD_ENTRY__VALID__MASK;
	gpu_table[9] = page | LEAF_VALID;
	KUNIT_EXPECT_EQ(test, pumice_mmu_walk(f->mmu, va, steps, &gpu_tables), 3);
	KUNIT_EXPECT_EQ(test, steps[2].table, TEST_TABLE);
	KUNIT_EXPECT_EQ(test, steps[2].index, 9);
	KUNIT_EXPECT_EQ(test, steps[2].entry, page | LEAF_VALID);
	/* A table that is not one of theirs is not read. */
	gpu_directory[7] += PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, pumice_mmu_walk(f->mmu, va, steps, &gpu_tables), 2);
	pumice_mmu_set_directory(f->mmu, TEST_VA, 0);
}

static struct kunit_case mmu_cases[] = {
	KUNIT_CASE(walks_continue_in_tables_that_the_gpu_keeps),
	KUNIT_CASE(mapped_pages_translate_and_their_neighbours_do_not),
	KUNIT_CASE(attributes_reach_the_entries),
	KUNIT_CASE(block_gets_the_largest_page_size_that_fits),
	KUNIT_CASE(block_gets_the_page_size_of_its_heap),
	KUNIT_CASE(unmapping_a_part_splits_a_large_page),
	KUNIT_CASE(splitting_a_large_page_keeps_its_attributes),
	KUNIT_CASE(mapping_over_a_mapping_replaces_it),
	KUNIT_CASE(emptied_tables_are_freed_by_the_flush),
	KUNIT_CASE(emptied_tables_of_heaps_are_freed_by_the_flush),
	KUNIT_CASE(pages_of_a_buffer_are_found_in_any_order),
	KUNIT_CASE(only_earlier_mappings_are_dirty),
	KUNIT_CASE(a_mapping_is_dirty_on_request),
	KUNIT_CASE(dirty_range_holds_all_that_changed_and_no_more),
	KUNIT_CASE(pool_counts_for_the_worst_case),
	KUNIT_CASE(random_operations_agree_with_a_model),
	KUNIT_CASE(random_operations_in_heaps_agree_with_a_model),
	{}
};

static struct kunit_suite mmu_suite = {
	.name = "pumice_mmu",
	.test_cases = mmu_cases,
	.exit = mmu_exit,
};

kunit_test_suite(mmu_suite);
