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
static struct fw_mem_fixture *fw_mem_fixture(struct kunit *test, u32 os, u32 bytes)
{
	struct fw_mem_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	mutex_init(&f->mem.lock);
	fw_mem_set_range(&f->mem, os, bytes, bytes / 8);
	f->users.start = f->mem.first;
	f->users.size = f->mem.end - f->mem.reserve - f->mem.first;
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
	struct fw_mem_fixture *f = fw_mem_fixture(test, 0, PUMICE_FW_WINDOW_SIZE);
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
	struct fw_mem_fixture *f = fw_mem_fixture(test, 0, PUMICE_FW_WINDOW_SIZE);

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

/* The firmware refuses addresses of other parts. */
static void addresses_are_those_of_the_own_part(struct kunit *test)
{
	const u64 part = PUMICE_OS_PART_SIZE;
	struct fw_mem_fixture *f = fw_mem_fixture(test, 2, part);

	drm_mm_remove_node(&f->users);
	KUNIT_EXPECT_EQ(test, f->mem.first, 2 * part + SZ_64K);
	KUNIT_EXPECT_EQ(test, f->mem.end, 3 * part);
	f->users.start = 2 * part;
	f->users.size = SZ_64K;
	KUNIT_EXPECT_EQ(test, drm_mm_reserve_node(&f->mem.mm, &f->users), -ENOSPC);
	f->users.start = 3 * part;
	KUNIT_EXPECT_EQ(test, drm_mm_reserve_node(&f->mem.mm, &f->users), -ENOSPC);
	mutex_lock(&f->mem.lock);
	KUNIT_EXPECT_EQ(test, fw_mem_insert_locked(&f->mem, &f->obj), 0);
	mutex_unlock(&f->mem.lock);
	KUNIT_EXPECT_GE(test, f->obj.va.start, 2 * part + SZ_64K);
	KUNIT_EXPECT_LE(test, f->obj.va.start + f->obj.va.size, 3 * part);
	drm_mm_remove_node(&f->obj.va);
	drm_mm_takedown(&f->mem.mm);
	mutex_destroy(&f->mem.lock);
}

static struct kunit_case fw_mem_cases[] = {
	KUNIT_CASE(addresses_are_those_of_the_own_part),
	KUNIT_CASE(reserve_is_for_the_driver_and_the_privileged),
	KUNIT_CASE(users_addresses_come_first),
	{}
};

static struct kunit_suite fw_mem_suite = {
	.name = "pumice_fw_mem",
	.test_cases = fw_mem_cases,
};

kunit_test_suite(fw_mem_suite);
