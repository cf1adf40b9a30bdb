// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of ranges whose page tables the GPU keeps. Part of pumice_kernel_range.c. */
#include <kunit/test.h>

#define TEST_PAGES	6u
#define TEST_BUS	0x7f000000ull

struct range_fixture {
	struct pumice_vm vm;
	struct pumice_kernel_range range;
	struct step step[2];
	u64 frames[TEST_PAGES];
};

/* Create a range without memory. The driver has set its directory. */
static struct range_fixture *range_fixture(struct kunit *test)
{
	struct range_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	mutex_init(&f->vm.lock);
	f->range.vm = &f->vm;
	f->range.gpu_tables = true;
	INIT_LIST_HEAD(&f->range.steps);
	return f;
}

/* Fill in a step of pages at bus addresses from TEST_BUS + first on; the first two adjacent. */
static void range_fill_step(struct kunit *test, struct step *step, u32 first, u32 count)
{
	struct scatterlist *sg;
	u32 i;

	KUNIT_ASSERT_EQ(test, sg_alloc_table(&step->sgt, count - 1, GFP_KERNEL), 0);
	step->count = count;
	for_each_sgtable_dma_sg(&step->sgt, sg, i) {
		sg_dma_address(sg) = TEST_BUS + (u64)(first + i + !!i) * PAGE_SIZE;
		sg_dma_len(sg) = i ? PAGE_SIZE : 2 * PAGE_SIZE;
	}
}

static void new_pages_are_listed_when_their_number_is_published(struct kunit *test)
{
	struct range_fixture *f = range_fixture(test);
	u32 i;

	range_fill_step(test, &f->step[0], 0, 3);
	range_fill_step(test, &f->step[1], 3, 3);
	list_add_tail(&f->step[0].node, &f->range.steps);
	f->range.pages = 3;
	pumice_kernel_range_set_frames(&f->range, f->frames);
	KUNIT_EXPECT_EQ(test, f->frames[2], TEST_BUS + 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, f->frames[3], 0);
	/* Another thread may pass the new number to the GPU as soon as it is stored. */
	mutex_lock(&f->vm.lock);
	KUNIT_EXPECT_EQ(test, kernel_range_add_step_locked(&f->range, &f->step[1]), 0);
	mutex_unlock(&f->vm.lock);
	KUNIT_EXPECT_EQ(test, f->range.pages, TEST_PAGES);
	for (i = 0; i < TEST_PAGES; i++)
		KUNIT_EXPECT_EQ(test, f->frames[i], TEST_BUS + (u64)i * PAGE_SIZE);
	sg_free_table(&f->step[0].sgt);
	sg_free_table(&f->step[1].sgt);
	mutex_destroy(&f->vm.lock);
}

static void unusable_address_spaces_get_no_tables_of_the_gpu(struct kunit *test)
{
	struct range_fixture *f = range_fixture(test);

	range_fill_step(test, &f->step[0], 0, 3);
	f->range.pages = 1;	/* its directory is set */
	f->vm.unusable = true;
	mutex_lock(&f->vm.lock);
	KUNIT_EXPECT_EQ(test, kernel_range_add_step_locked(&f->range, &f->step[0]), -EIO);
	mutex_unlock(&f->vm.lock);
	KUNIT_EXPECT_EQ(test, f->range.pages, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->range.steps));
	sg_free_table(&f->step[0].sgt);
	mutex_destroy(&f->vm.lock);
}

static void tables_of_the_gpu_are_pages_of_their_range(struct kunit *test)
{
	struct range_fixture *f = range_fixture(test);
	struct page *pages[3];
	const void *found;
	u32 i;

	range_fill_step(test, &f->step[0], 0, 3);
	for (i = 0; i < 3; i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, pages[i]);
	}
	f->step[0].pages = pages;
	list_add_tail(&f->step[0].node, &f->range.steps);
	for (i = 0; i < 3; i++) {
		found = kernel_range_find_table(&f->range, TEST_BUS + (u64)i * PAGE_SIZE);
		KUNIT_EXPECT_PTR_EQ(test, found, page_address(pages[i]));
	}
	KUNIT_EXPECT_NULL(test, kernel_range_find_table(&f->range, TEST_BUS + 3 * PAGE_SIZE));
	KUNIT_EXPECT_NULL(test, kernel_range_find_table(&f->range, TEST_BUS + 8));
	KUNIT_EXPECT_NULL(test, kernel_range_find_table(&f->range, 0));
	for (i = 0; i < 3; i++)
		__free_page(pages[i]);
	sg_free_table(&f->step[0].sgt);
	mutex_destroy(&f->vm.lock);
}

static struct kunit_case kernel_range_cases[] = {
	KUNIT_CASE(unusable_address_spaces_get_no_tables_of_the_gpu),
	KUNIT_CASE(tables_of_the_gpu_are_pages_of_their_range),
	KUNIT_CASE(new_pages_are_listed_when_their_number_is_published),
	{}
};

static struct kunit_suite kernel_range_suite = {
	.name = "pumice_kernel_range",
	.test_cases = kernel_range_cases,
};

kunit_test_suite(kernel_range_suite);
