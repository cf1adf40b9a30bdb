// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of free lists: arguments, and ownership of pages. Part of pumice_free_list.c. */
#include <linux/sizes.h>

#include <kunit/test.h>

#define TEST_LINKS	0x5000u	/* fw address of the structure */

struct list_fixture {
	struct pumice_device pdev;
	struct pumice_freelist list;
	struct pumice_kernel_range range;
	struct pumice_fw_obj obj;
};

/* Create a list whose GPU part has 100 pages, of at most 400; threshold 25 percent. */
static struct list_fixture *list_fixture(struct kunit *test)
{
	struct list_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	spin_lock_init(&f->pdev.scenes_lock);
	f->obj.cpu = kunit_kzalloc(test, SZ_4K, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->obj.cpu);
	f->obj.addr = TEST_LINKS;
	f->range.pages = 100;
	f->range.va.start = SZ_1G;
	f->list = (struct pumice_freelist) {
		.pdev = &f->pdev, .range = &f->range, .obj = &f->obj, .max_pages = 400,
		.grow_pages = 50, .threshold = 25, .pages = 100,
	};
	return f;
}

static struct pumice_free_list unpacked(const struct list_fixture *f)
{
	struct pumice_free_list words;

	pumice_free_list_unpack(f->obj.cpu, &words);
	return words;
}

static void fresh_list_has_all_pages_free(struct kunit *test)
{
	struct list_fixture *f = list_fixture(test);
	struct pumice_free_list words;

	f->list.wanted = true;
	free_list_fill_locked(&f->list);
	words = unpacked(f);
	KUNIT_EXPECT_EQ(test, words.base, SZ_1G);
	KUNIT_EXPECT_EQ(test, words.pages, 100);
	KUNIT_EXPECT_EQ(test, words.free, 100);
	KUNIT_EXPECT_EQ(test, words.min_free, 100);
	KUNIT_EXPECT_EQ(test, words.max_pages, 400);
	KUNIT_EXPECT_EQ(test, words.threshold, 25);
	KUNIT_EXPECT_EQ(test, words.head, PUMICE_PM_NO_PAGE);
	KUNIT_EXPECT_EQ(test, words.links, TEST_LINKS + LINKS_OFFSET);
	KUNIT_EXPECT_EQ(test, words.frames, 0);
	KUNIT_EXPECT_FALSE(test, f->list.wanted);
}

static void bus_addresses_follow_the_links_of_a_list_with_page_tables(struct kunit *test)
{
	struct list_fixture *f = list_fixture(test);
	struct drm_pumice_free_list_create args = {
		.initial_pages = 3, .max_pages = 401, .grow_pages = 1,
		.flags = DRM_PUMICE_FREE_LIST_GPU_TABLES,
	};

	f->list.gpu_tables = true;
	f->list.max_pages = 401;
	free_list_fill_locked(&f->list);
	/* The links end at 1668. */
	KUNIT_EXPECT_EQ(test, unpacked(f).frames, TEST_LINKS + 1672);
	KUNIT_EXPECT_EQ(test, free_list_obj_bytes(&args), 2 * SZ_4K);
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), 0);
	args.initial_pages = 2;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -EINVAL);
	args.flags = 0;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), 0);
	args.flags = ~DRM_PUMICE_FREE_LIST_GPU_TABLES;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -EINVAL);
}

static void threshold_is_a_share_of_the_pages_there_are(struct kunit *test)
{
	struct list_fixture *f = list_fixture(test);

	KUNIT_EXPECT_EQ(test, free_list_threshold_pages(&f->list), 25);
	f->list.pages = DRM_PUMICE_MAX_FREE_LIST_PAGES;
	f->list.threshold = 99;
	/* Intermediate results exceed 32 bits. */
	KUNIT_EXPECT_EQ(test, free_list_threshold_pages(&f->list),
			(u32)(DRM_PUMICE_MAX_FREE_LIST_PAGES * 99ull / 100));
	f->list.threshold = 0;
	KUNIT_EXPECT_EQ(test, free_list_threshold_pages(&f->list), 0);
}

static void new_threshold_leaves_all_other_words(struct kunit *test)
{
	struct list_fixture *f = list_fixture(test);
	struct pumice_free_list words;

	free_list_fill_locked(&f->list);
	words = unpacked(f);
	/* The GPU has allocated some pages. */
	words.free = 17;
	words.head = 3;
	pumice_free_list_pack(f->obj.cpu, &words);
	f->list.pages = 200;
	free_list_set_threshold(&f->list);
	words = unpacked(f);
	KUNIT_EXPECT_EQ(test, words.threshold, 50);
	KUNIT_EXPECT_EQ(test, words.free, 17);
	KUNIT_EXPECT_EQ(test, words.head, 3);
	KUNIT_EXPECT_EQ(test, words.pages, 100);
}

static void request_is_replied_to_with_the_ready_pages(struct kunit *test)
{
	struct list_fixture *f = list_fixture(test);
	struct fwif_kccb_cmd cmd = { 0 };

	f->range.pages = 150;
	f->list.wanted = true;
	KUNIT_EXPECT_EQ(test, free_list_pages_ready(&f->list), 50);
	KUNIT_EXPECT_TRUE(test, free_list_dequeue_request(&f->list, &cmd));
	KUNIT_EXPECT_EQ(test, cmd.object, TEST_LINKS);
	KUNIT_EXPECT_EQ(test, cmd.pages, 150);
	KUNIT_EXPECT_EQ(test, f->list.pages, 150);
	KUNIT_EXPECT_EQ(test, f->list.grown, 1);
	KUNIT_EXPECT_EQ(test, free_list_pages_ready(&f->list), 0);
}

static void request_is_replied_to_once(struct kunit *test)
{
	struct list_fixture *f = list_fixture(test);
	struct fwif_kccb_cmd cmd = { 0 };

	f->list.wanted = true;
	KUNIT_EXPECT_TRUE(test, free_list_dequeue_request(&f->list, &cmd));
	KUNIT_EXPECT_FALSE(test, free_list_dequeue_request(&f->list, &cmd));
}

/* The job continues with the existing pages; the list has not grown. */
static void request_without_pages_is_replied_to(struct kunit *test)
{
	struct list_fixture *f = list_fixture(test);
	struct fwif_kccb_cmd cmd = { 0 };

	f->list.wanted = true;
	KUNIT_EXPECT_TRUE(test, free_list_dequeue_request(&f->list, &cmd));
	KUNIT_EXPECT_EQ(test, cmd.pages, 100);
	KUNIT_EXPECT_EQ(test, f->list.grown, 0);
}

/* Values of the last event, and the number of events. */
struct refill_events {
	u32 count;
	u32 before;
	u32 after;
};

static void refill_event(void *data, u32 addr, u32 before, u32 after)
{
	*(struct refill_events *)data = (struct refill_events){
		.count = ((struct refill_events *)data)->count + 1,
		.before = before, .after = after,
	};
}

/* A list that has its maximum, or for which there is no memory, has no new pages. */
static void refill_is_traced_if_there_are_new_pages(struct kunit *test)
{
	struct list_fixture *f = list_fixture(test);
	struct refill_events events = { 0 };

	mutex_init(&f->list.grow_lock);
	f->range.pages = f->list.max_pages;
	KUNIT_ASSERT_EQ(test, register_trace_pumice_free_list_refill(refill_event, &events), 0);
	free_list_refill(&f->list);
	KUNIT_EXPECT_EQ(test, events.count, 0);
	free_list_trace_refill(&f->list, 350);
	unregister_trace_pumice_free_list_refill(refill_event, &events);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, events.count, 1);
	KUNIT_EXPECT_EQ(test, events.before, 350);
	KUNIT_EXPECT_EQ(test, events.after, 400);
}

static void arguments_of_creation_are_checked(struct kunit *test)
{
	const struct drm_pumice_free_list_create good = {
		.vm = 1, .initial_pages = 10, .max_pages = 20, .grow_pages = 5, .threshold = 99,
	};
	struct drm_pumice_free_list_create args = good;

	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), 0);
	args.max_pages = DRM_PUMICE_MAX_FREE_LIST_PAGES;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), 0);
	args.max_pages++;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -E2BIG);
	args = good;
	args.max_pages = 9;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -EINVAL);
	args = good;
	args.initial_pages = 0;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -EINVAL);
	args = good;
	args.threshold = 100;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -EINVAL);
	args = good;
	args.grow_pages = 0;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -EINVAL);
	args.max_pages = args.initial_pages;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), 0);
	args.flags = BIT(31);
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -EINVAL);
	args = good;
	args.pad = 1;
	KUNIT_EXPECT_EQ(test, free_list_check_create(&args), -EINVAL);
}

static struct kunit_case free_list_cases[] = {
	KUNIT_CASE(fresh_list_has_all_pages_free),
	KUNIT_CASE(bus_addresses_follow_the_links_of_a_list_with_page_tables),
	KUNIT_CASE(threshold_is_a_share_of_the_pages_there_are),
	KUNIT_CASE(new_threshold_leaves_all_other_words),
	KUNIT_CASE(request_is_replied_to_with_the_ready_pages),
	KUNIT_CASE(request_is_replied_to_once),
	KUNIT_CASE(request_without_pages_is_replied_to),
	KUNIT_CASE(refill_is_traced_if_there_are_new_pages),
	KUNIT_CASE(arguments_of_creation_are_checked),
	{}
};

static struct kunit_suite free_list_suite = {
	.name = "pumice_free_list",
	.test_cases = free_list_cases,
};

kunit_test_suite(free_list_suite);
