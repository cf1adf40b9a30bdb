// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of objects with a reference count. Part of pumice_object.c.
 */
#include <kunit/test.h>
#include <linux/completion.h>

#define FREE_TIMEOUT	(10 * HZ)

struct object_fixture {
	struct pumice_object base;
	struct completion freed;
	u32 frees;
	bool by_its_work;
	struct xarray table;
	u32 id;
};

static void object_test_free(struct pumice_object *obj)
{
	struct object_fixture *f = container_of(obj, struct object_fixture, base);

	f->frees++;
	f->by_its_work = current_work() == &obj->free_work;
	complete(&f->freed);
}

/* Create an object in a table, which has its only reference. */
static struct object_fixture *object_fixture(struct kunit *test)
{
	struct object_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	init_completion(&f->freed);
	pumice_object_init(&f->base, object_test_free);
	xa_init_flags(&f->table, XA_FLAGS_ALLOC1);
	KUNIT_ASSERT_EQ(test, xa_alloc(&f->table, &f->id, f, XA_LIMIT(1, 9), GFP_KERNEL), 0);
	return f;
}

static void lookup_takes_a_reference(struct kunit *test)
{
	struct object_fixture *f = object_fixture(test);

	KUNIT_EXPECT_PTR_EQ(test, pumice_object_lookup(&f->table, f->id), (void *)f);
	KUNIT_EXPECT_EQ(test, kref_read(&f->base.ref), 2);
	KUNIT_EXPECT_NULL(test, pumice_object_lookup(&f->table, f->id + 1));
	KUNIT_EXPECT_NULL(test, pumice_object_lookup(&f->table, 0));
	KUNIT_EXPECT_EQ(test, kref_read(&f->base.ref), 2);
	xa_destroy(&f->table);
}

/* The last reference is put in atomic context. */
static void last_reference_frees_by_a_work_item(struct kunit *test)
{
	struct object_fixture *f = object_fixture(test);

	KUNIT_EXPECT_PTR_EQ(test, pumice_object_lookup(&f->table, f->id), (void *)f);
	KUNIT_EXPECT_EQ(test, pumice_object_destroy(&f->table, f->id), 0);
	KUNIT_EXPECT_EQ(test, pumice_object_destroy(&f->table, f->id), -ENOENT);
	flush_workqueue(pumice_cleanup_wq);
	KUNIT_EXPECT_EQ(test, f->frees, 0);
	preempt_disable();
	pumice_object_put(&f->base);
	preempt_enable();
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&f->freed, FREE_TIMEOUT), 0);
	flush_workqueue(pumice_cleanup_wq);
	KUNIT_EXPECT_EQ(test, f->frees, 1);
	KUNIT_EXPECT_TRUE(test, f->by_its_work);
	pumice_object_put(NULL);
	xa_destroy(&f->table);
}

static struct kunit_case object_cases[] = {
	KUNIT_CASE(lookup_takes_a_reference),
	KUNIT_CASE(last_reference_frees_by_a_work_item),
	{}
};

static struct kunit_suite object_suite = {
	.name = "pumice_object",
	.test_cases = object_cases,
};

kunit_test_suite(object_suite);
