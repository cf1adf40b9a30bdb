// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of the addresses of firmware memory. Part of pumice_fw_mem.c. */
#include <kunit/test.h>

#include "tests/pumice_test_creds.h"

struct fw_mem_fixture {
	struct pumice_fw_mem mem;
	struct drm_mm_node users;
	struct pumice_share file;
	struct pumice_fw_obj obj;
};

/* Allocate all addresses that unprivileged users may have. */
static struct fw_mem_fixture *fw_mem_fixture(struct kunit *test)
{
	struct fw_mem_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	const u64 end = LAST_ADDR - pumice_quota_reserve(PUMICE_RESOURCE_MEMORY);

	KUNIT_ASSERT_NOT_NULL(test, f);
	mutex_init(&f->mem.lock);
	drm_mm_init(&f->mem.mm, FIRST_ADDR, LAST_ADDR - FIRST_ADDR);
	f->users.start = FIRST_ADDR;
	f->users.size = end - FIRST_ADDR;
	KUNIT_ASSERT_EQ(test, drm_mm_reserve_node(&f->mem.mm, &f->users), 0);
	f->obj.size = SZ_64K;
	return f;
}

static void fw_mem_fixture_end(struct fw_mem_fixture *f)
{
	drm_mm_remove_node(&f->users);
	drm_mm_takedown(&f->mem.mm);
	mutex_destroy(&f->mem.lock);
}

/* Try to allocate an address; returns the error. */
static int try_insert(struct fw_mem_fixture *f)
{
	int ret;

	mutex_lock(&f->mem.lock);
	ret = fw_mem_insert_locked(&f->mem, &f->obj);
	if (!ret)
		drm_mm_remove_node(&f->obj.va);
	mutex_unlock(&f->mem.lock);
	return ret;
}

static void reserve_is_for_the_driver_and_the_privileged(struct kunit *test)
{
	struct fw_mem_fixture *f = fw_mem_fixture(test);
	const struct cred *before;

	f->obj.charge.file = &f->file;
	KUNIT_EXPECT_EQ(test, try_insert(f), 0);
	before = become_unprivileged(test);
	KUNIT_EXPECT_EQ(test, try_insert(f), -ENOSPC);
	f->obj.charge.file = NULL;
	KUNIT_EXPECT_EQ(test, try_insert(f), 0);
	become_privileged(before);
	fw_mem_fixture_end(f);
}

static void users_addresses_come_first(struct kunit *test)
{
	struct fw_mem_fixture *f = fw_mem_fixture(test);

	drm_mm_remove_node(&f->users);
	f->users.size -= SZ_64K;
	KUNIT_ASSERT_EQ(test, drm_mm_reserve_node(&f->mem.mm, &f->users), 0);
	mutex_lock(&f->mem.lock);
	KUNIT_EXPECT_EQ(test, fw_mem_insert_locked(&f->mem, &f->obj), 0);
	mutex_unlock(&f->mem.lock);
	KUNIT_EXPECT_EQ(test, f->obj.va.start, f->users.start + f->users.size);
	drm_mm_remove_node(&f->obj.va);
	fw_mem_fixture_end(f);
}

static struct kunit_case fw_mem_cases[] = {
	KUNIT_CASE(reserve_is_for_the_driver_and_the_privileged),
	KUNIT_CASE(users_addresses_come_first),
	{}
};

static struct kunit_suite fw_mem_suite = {
	.name = "pumice_fw_mem",
	.test_cases = fw_mem_cases,
};

kunit_test_suite(fw_mem_suite);
