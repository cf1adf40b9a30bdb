// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Mappings after overlapping binds: a model with one number per page predicts the data that
 * a job finds at each place, and jobs check it.
 *
 * The model's places are in the upper half of a 2 MiB region and the lower half of the next, so
 * that they have several page tables, and in some subtests fill whole regions, which may be
 * mapped by one large page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "igt_pumice.h"
#include "pages.h"
#include "fixture.h"
#include "sync.h"

IGT_TEST_DESCRIPTION("Remaining mappings after binds that overlap.");

#define LARGE		(2 * MIB)
#define SMALL_VA	(FX_FREE + LARGE - 8 * PAGE)
#define LARGE_VA	(FX_FREE + GIB)
#define PLACES		24u
#define HOLE		UINT32_MAX	/* nothing is mapped at a place */

/* The checked places, of one unit each, in a VM. */
struct model {
	struct fixture fx;
	u64 va;
	u64 unit;		/* bytes */
	u32 handle;		/* buffer of PLACES units */
	u32 *cpu;
	u32 place[PLACES];	/* unit of the buffer that is mapped there, or HOLE */
};

static struct model model_of(u64 va, u64 unit)
{
	struct model m = { .fx = fx_open(), .va = va, .unit = unit };

	m.handle = need_bo(m.fx.fd, PLACES * unit);
	m.cpu = need_cpu(m.fx.fd, m.handle, PLACES * unit);
	memset(m.place, 0xff, sizeof(m.place));
	return m;
}

static struct drm_pumice_bind_op map_op(const struct model *m, u32 first, u32 count, u32 from)
{
	return bind_map(m->handle, from * m->unit, m->va + first * m->unit, count * m->unit, 0);
}

static struct drm_pumice_bind_op unmap_op(const struct model *m, u32 first, u32 count)
{
	return bind_unmap(m->va + first * m->unit, count * m->unit);
}

static void note_map(struct model *m, u32 first, u32 count, u32 from)
{
	u32 i;

	for (i = 0; i < count; i++)
		m->place[first + i] = from + i;
}

static void note_unmap(struct model *m, u32 first, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		m->place[first + i] = HOLE;
}

static void map(struct model *m, u32 first, u32 count, u32 from)
{
	struct drm_pumice_bind_op op = map_op(m, first, count, from);

	CHECK_OK(gpu_bind(m->fx.fd, m->fx.vm, &op, 1, NULL));
	note_map(m, first, count, from);
}

static void unmap(struct model *m, u32 first, u32 count)
{
	struct drm_pumice_bind_op op = unmap_op(m, first, count);

	CHECK_OK(gpu_bind(m->fx.fd, m->fx.vm, &op, 1, NULL));
	note_unmap(m, first, count);
}

/* A job stores to the end of each place: the data is in the right unit, or the job faults. */
static void check(struct model *m)
{
	u64 at = m->unit - 128;
	u32 i, value;

	for (i = 0; i < PLACES; i++) {
		value = 0x100000 * (i + 1) + (u32)m->fx.used;
		igt_assert_eq(fx_run(&m->fx, fx_store_stream(&m->fx, m->va + i * m->unit + at,
							     value)),
			      m->place[i] == HOLE ? -EIO : 1);
		if (m->place[i] != HOLE)
			fx_check_words(m->cpu + (m->place[i] * m->unit + at) / 4, value);
	}
}

/* Unmap a part of one mapping over all places, check, fill the hole, check again. */
static void unmap_part(u64 va, u64 unit, u32 first, u32 count)
{
	struct model m = model_of(va, unit);

	map(&m, 0, PLACES, 0);
	unmap(&m, first, count);
	check(&m);
	map(&m, first, count, 0);
	check(&m);
}

static void munmap_all(void)
{
	unmap_part(SMALL_VA, PAGE, 0, PLACES);
}

static void munmap_front(void)
{
	unmap_part(SMALL_VA, PAGE, 0, 5);
}

static void munmap_end(void)
{
	unmap_part(SMALL_VA, PAGE, PLACES - 5, 5);
}

static void munmap_middle(void)
{
	unmap_part(SMALL_VA, PAGE, 5, 9);
}

static void munmap_one(void)
{
	unmap_part(SMALL_VA, PAGE, 8, 1);
}

/* From before the first mapping to after the last, over a hole between them. */
static void munmap_beyond(void)
{
	struct model m = model_of(SMALL_VA, PAGE);

	map(&m, 2, 4, 0);
	map(&m, 9, 6, 7);
	unmap(&m, 0, 20);
	check(&m);
}

static void munmap_over_two(void)
{
	struct model m = model_of(SMALL_VA, PAGE);

	map(&m, 0, 10, 10);
	map(&m, 10, 14, 0);
	unmap(&m, 7, 6);
	check(&m);
}

/* One place after the other, from both ends: each time the remaining mappings must be correct. */
static void munmap_piecemeal(void)
{
	struct model m = model_of(SMALL_VA, PAGE);
	u32 i;

	map(&m, 0, PLACES, 0);
	for (i = 0; i < PLACES / 2; i += 3) {
		unmap(&m, i, 1);
		unmap(&m, PLACES - 1 - i, 1);
		check(&m);
	}
	map(&m, 0, PLACES, 0);
	check(&m);
}

/* ------------------------------------------------------------------ large pages */

static void restore_memory(int signal)
{
	(void)signal;
	use_large_memory(false);
}

/* Map a buffer of large regions, which must then have large pages. */
static void map_large(struct fixture *fx, u32 handle, u64 bytes, u32 flags)
{
	u32 before = gpu_blocks(21);

	need_map(fx->fd, fx->vm, handle, 0, LARGE_VA, bytes, flags);
	igt_assert_eq_u32(gpu_blocks(21) - before, (u32)(bytes / LARGE));
}

/* Two large regions, mapped as one; then a range of small pages is unmapped. */
static void large_unmap(u64 first, u64 bytes)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, 2 * LARGE), *cpu = need_cpu(fx.fd, handle, 2 * LARGE);
	const u64 looked_at[] = {
		0, first - PAGE, first, first + bytes - PAGE, first + bytes, LARGE - PAGE, LARGE,
		2 * LARGE - PAGE,
	};
	u32 i, round, value;
	u64 at;

	map_large(&fx, handle, 2 * LARGE, 0);
	/* The large pages are in the TLB when they are unmapped. */
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, LARGE_VA + first, 1)), 1);
	need_unmap(fx.fd, fx.vm, LARGE_VA + first, bytes);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < sizeof(looked_at) / sizeof(looked_at[0]); i++) {
			bool unmapped;

			at = looked_at[i];
			if (at >= 2 * LARGE)
				continue;
			unmapped = !round && at >= first && at < first + bytes;
			value = 0x10000 * (i + 1) + (u32)fx.used;
			igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, LARGE_VA + at, value)),
				      unmapped ? -EIO : 1);
			if (!unmapped)
				fx_check_words(cpu + at / 4, value);
		}
		need_map(fx.fd, fx.vm, handle, first, LARGE_VA + first, bytes, 0);
	}
}

static void large_first_page(void)
{
	large_unmap(0, PAGE);
}

static void large_last_page(void)
{
	large_unmap(2 * LARGE - PAGE, PAGE);
}

static void large_middle(void)
{
	large_unmap(LARGE / 2, 16 * PAGE);
}

static void large_over_the_border(void)
{
	large_unmap(LARGE - 3 * PAGE, 5 * PAGE);
}

static void large_whole_of_two(void)
{
	large_unmap(LARGE, LARGE);
}

/* All of one region and a part of the next. */
static void large_one_and_a_part(void)
{
	large_unmap(0, LARGE + 7 * PAGE);
}

/* The permissions of the remaining pages do not depend on the split of a large page. */
static void large_split_keeps_readonly(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, LARGE), *cpu = need_cpu(fx.fd, handle, LARGE), i;

	for (i = 0; i < LARGE / 4; i++)
		cpu[i] = i;
	map_large(&fx, handle, LARGE, DRM_PUMICE_BIND_READONLY);
	need_unmap(fx.fd, fx.vm, LARGE_VA + LARGE / 2, PAGE);
	for (i = 0; i < 2; i++) {
		u64 at = i ? LARGE / 2 + PAGE : LARGE / 2 - PAGE;

		igt_assert_eq(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, LARGE_VA + at, 0)),
			      1);
		fx_check_words(fx.data.cpu, (u32)at / 4);
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, LARGE_VA + at, 0)), -EIO);
		igt_assert_eq_u32(cpu[at / 4], (u32)at / 4);
	}
}

/* ---------------------------------------------------------------- shared tables */

/* Mappings at @distance share a table of some level: one is unmapped, the other stays. */
static void neighbours(u64 distance)
{
	struct fixture fx = fx_open();
	struct mem stays = need_mem(fx.fd, fx.vm, LARGE_VA, PAGE);
	u32 handle = need_bo(fx.fd, PAGE), round;

	for (round = 0; round < 8; round++) {
		need_map(fx.fd, fx.vm, handle, 0, LARGE_VA + distance, PAGE, 0);
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, LARGE_VA + distance, round)), 1);
		need_unmap(fx.fd, fx.vm, LARGE_VA + distance, PAGE);
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, LARGE_VA + distance, 0)), -EIO);
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, LARGE_VA, round)), 1);
		fx_check_words(stays.cpu, round);
	}
}

static void shared_table(void)
{
	neighbours(PAGE);
}

static void shared_directory(void)
{
	neighbours(LARGE);
}

static void shared_root(void)
{
	neighbours(GIB);
}

/* ------------------------------------------------------------------------ arrays */

static void array_conflicts(void)
{
	struct model m = model_of(SMALL_VA, PAGE);
	struct drm_pumice_bind_op ops[] = {
		map_op(&m, 0, 12, 0), map_op(&m, 6, 12, 12), unmap_op(&m, 4, 4),
		map_op(&m, 5, 1, 3), unmap_op(&m, 16, 1), map_op(&m, 15, 4, 0),
	};

	CHECK_OK(gpu_bind(m.fx.fd, m.fx.vm, ops, 6, NULL));
	note_map(&m, 0, 12, 0);
	note_map(&m, 6, 12, 12);
	note_unmap(&m, 4, 4);
	note_map(&m, 5, 1, 3);
	note_unmap(&m, 16, 1);
	note_map(&m, 15, 4, 0);
	check(&m);
}

/* Random overlapping operations, one call for each array, synchronous or queued. */
static void random_arrays(bool queued)
{
	enum { CALLS = 6, OPS = 16 };
	struct model m = model_of(SMALL_VA, PAGE);
	struct drm_pumice_bind_op ops[OPS];
	u32 call, i;

	srandom(20261122);
	for (call = 0; call < CALLS; call++) {
		const struct drm_pumice_sync bound = then_signal(m.fx.sync, 0);

		for (i = 0; i < OPS; i++) {
			u32 first = (u32)random() % PLACES, count, from;

			count = 1 + (u32)random() % (PLACES - first);
			from = (u32)random() % (PLACES - count + 1);
			if (random() % 3) {
				ops[i] = map_op(&m, first, count, from);
				note_map(&m, first, count, from);
			} else {
				ops[i] = unmap_op(&m, first, count);
				note_unmap(&m, first, count);
			}
		}
		if (queued) {
			CHECK_OK(gpu_bind_async(m.fx.fd, m.fx.vm, ops, OPS, &bound, 1));
			need_wait(m.fx.fd, m.fx.sync, 0);
		} else {
			CHECK_OK(gpu_bind(m.fx.fd, m.fx.vm, ops, OPS, NULL));
		}
		check(&m);
	}
}

static void array_random(void)
{
	random_arrays(false);
}

static void array_random_queued(void)
{
	random_arrays(true);
}

/* Operations before the refused one take effect, those after it do not. */
static void array_refused_in_the_middle(void)
{
	struct model m = model_of(SMALL_VA, PAGE);
	struct drm_pumice_bind_op ops[] = {
		map_op(&m, 0, 10, 0), unmap_op(&m, 3, 2), map_op(&m, 2, 4, PLACES - 1),
		unmap_op(&m, 0, 10),
	};
	u32 failed = 99;

	igt_assert_eq(gpu_bind(m.fx.fd, m.fx.vm, ops, 4, &failed), -EINVAL);
	igt_assert_eq_u32(failed, 2);
	note_map(&m, 0, 10, 0);
	note_unmap(&m, 3, 2);
	check(&m);
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(IGT_PUMICE_PATIENT);
		igt_install_exit_handler(restore_memory);
		CHECK_OK(use_large_memory(true));
	}

	igt_pumice_subtest("munmap-all", "an unmap of the whole range leaves no mapping",
			   munmap_all);
	igt_pumice_subtest("munmap-front", "an unmap of the front leaves the rest", munmap_front);
	igt_pumice_subtest("munmap-end", "an unmap of the end leaves the rest", munmap_end);
	igt_pumice_subtest("munmap-middle", "an unmap inside leaves both sides", munmap_middle);
	igt_pumice_subtest("munmap-one", "an unmap of one page leaves its neighbours", munmap_one);
	igt_pumice_subtest("munmap-beyond", "an unmap may be larger than the mapping",
			   munmap_beyond);
	igt_pumice_subtest("munmap-over-two", "an unmap may remove parts of two mappings",
			   munmap_over_two);
	igt_pumice_subtest("munmap-piecemeal", "one mapping may be removed page by page",
			   munmap_piecemeal);

	igt_pumice_subtest("large-first-page", "the first 4 KiB of a large page can be unmapped",
			   large_first_page);
	igt_pumice_subtest("large-last-page", "the last 4 KiB of a large page can be unmapped",
			   large_last_page);
	igt_pumice_subtest("large-middle", "small pages inside of a large page can be unmapped",
			   large_middle);
	igt_pumice_subtest("large-over-the-border", "parts of two large pages can be unmapped",
			   large_over_the_border);
	igt_pumice_subtest("large-whole-of-two", "one of two large pages can be unmapped",
			   large_whole_of_two);
	igt_pumice_subtest("large-one-and-a-part",
			   "a large page and a part of the next can be unmapped",
			   large_one_and_a_part);
	igt_pumice_subtest("large-split-keeps-readonly",
			   "the remainder of a large page keeps its permissions",
			   large_split_keeps_readonly);

	igt_pumice_subtest("shared-table", "neighbours share a page table", shared_table);
	igt_pumice_subtest("shared-directory", "neighbours share a page directory",
			   shared_directory);
	igt_pumice_subtest("shared-root", "neighbours share the root table only", shared_root);

	igt_pumice_subtest("array-conflicts", "operations of a call take effect in order",
			   array_conflicts);
	igt_pumice_subtest("array-random", "random operations of a call agree with a model",
			   array_random);
	igt_pumice_subtest("array-random-queued",
			   "random operations of a VM's queue agree with a model",
			   array_random_queued);
	igt_pumice_subtest("array-refused-in-the-middle",
			   "a refused operation keeps those before it and skips those after it",
			   array_refused_in_the_middle);
}
