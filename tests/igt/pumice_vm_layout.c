// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Mappings after overlapping binds: a model with one number per page predicts the data that
 * a job finds at each place, and jobs check it.
 *
 * The model's places are in the upper half of a 2 MiB region and the lower half of the next, so
 * that they have several page tables. Other subtests map one buffer in each heap of large pages.
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

#define MAPPED		(4 * LARGE)

/*
 * One buffer, whose memory is contiguous for any page, in each heap in turn. The numbers of bits
 * are those of the heaps' pages.
 */
struct large {
	struct fixture fx;
	u32 handle;
	u32 *cpu;
	u64 va;		/* in the current heap */
	u64 page;	/* its page size */
};

static struct large large_buffer(void)
{
	struct large l = { .fx = fx_open() };

	l.handle = need_bo(l.fx.fd, MAPPED);
	l.cpu = need_cpu(l.fx.fd, l.handle, MAPPED);
	return l;
}

/* Map the buffer in the heap of pages of @bits bits; its blocks must then have this page size. */
static void map_large(struct large *l, u32 bits, u32 flags)
{
	u32 before = gpu_blocks(bits);

	l->page = 1ull << bits;
	l->va = need_heap(l->fx.fd, bits) + GIB;
	need_map(l->fx.fd, l->fx.vm, l->handle, 0, l->va, MAPPED, flags);
	igt_assert_eq_u32(gpu_blocks(bits) - before, (u32)(MAPPED / LARGE));
}

static void large_check(struct large *l, u64 at, bool mapped)
{
	u32 value = 0x10000 + (u32)l->fx.used;

	igt_assert_eq(fx_run(&l->fx, fx_store_stream(&l->fx, l->va + at, value)),
		      mapped ? 1 : -EIO);
	if (mapped)
		fx_check_words(l->cpu + at / 4, value);
}

/* Unmap a range of whole pages from the mapping and map it again. */
static void large_unmap(struct large *l, u64 first, u64 bytes)
{
	const u64 looked_at[] = {
		0, first - PAGE, first, first + bytes - PAGE, first + bytes, LARGE - PAGE, LARGE,
		MAPPED - PAGE,
	};
	u32 i, round;

	/* The large pages are in the TLB when they are unmapped. */
	igt_assert_eq(fx_run(&l->fx, fx_store_stream(&l->fx, l->va + first, 1)), 1);
	need_unmap(l->fx.fd, l->fx.vm, l->va + first, bytes);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < sizeof(looked_at) / sizeof(looked_at[0]); i++) {
			u64 at = looked_at[i];

			if (at < MAPPED)
				large_check(l, at, round || at < first || at >= first + bytes);
		}
		need_map(l->fx.fd, l->fx.vm, l->handle, first, l->va + first, bytes, 0);
	}
}

/* Pages of each heap, also of that of 4 KiB. */
static const u32 page_bits[] = { 12, 14, 16, 18, 20, 21 };

#define HEAPS (sizeof(page_bits) / sizeof(page_bits[0]))

static void large_first_page(void)
{
	struct large l = large_buffer();
	u32 i;

	for (i = 0; i < HEAPS; i++) {
		map_large(&l, page_bits[i], 0);
		large_unmap(&l, 0, l.page);
	}
}

static void large_last_page(void)
{
	struct large l = large_buffer();
	u32 i;

	for (i = 0; i < HEAPS; i++) {
		map_large(&l, page_bits[i], 0);
		large_unmap(&l, MAPPED - l.page, l.page);
	}
}

static void large_middle(void)
{
	struct large l = large_buffer();
	u32 i;

	for (i = 0; i < HEAPS; i++) {
		map_large(&l, page_bits[i], 0);
		large_unmap(&l, 2 * LARGE - l.page, 2 * l.page);
	}
}

/* All pages of one block but the first, and one of the next; blocks of one page: both. */
static void large_over_the_border(void)
{
	struct large l = large_buffer();
	u32 i;

	for (i = 0; i < HEAPS; i++) {
		u64 first;

		map_large(&l, page_bits[i], 0);
		first = l.page % LARGE;
		large_unmap(&l, first, LARGE - first + l.page);
	}
}

static void large_whole_block(void)
{
	struct large l = large_buffer();
	u32 i;

	for (i = 0; i < HEAPS; i++) {
		map_large(&l, page_bits[i], 0);
		large_unmap(&l, LARGE, LARGE);
	}
}

/* All of one block and a page of the next. */
static void large_one_and_a_part(void)
{
	struct large l = large_buffer();
	u32 i;

	for (i = 0; i < HEAPS; i++) {
		map_large(&l, page_bits[i], 0);
		large_unmap(&l, 0, LARGE + l.page);
	}
}

/* The permissions of the remaining pages do not change. */
static void large_rest_keeps_readonly(void)
{
	struct large l = large_buffer();
	u32 i, k;

	for (k = 0; k < MAPPED / 4; k++)
		l.cpu[k] = k;
	for (i = 0; i < HEAPS; i++) {
		map_large(&l, page_bits[i], DRM_PUMICE_BIND_READONLY);
		need_unmap(l.fx.fd, l.fx.vm, l.va + LARGE, l.page);
		for (k = 0; k < 2; k++) {
			u64 at = k ? LARGE + l.page : LARGE - PAGE;

			igt_assert_eq(fx_run(&l.fx, fx_copy_stream(&l.fx, l.fx.data.va, l.va + at,
								   0)), 1);
			fx_check_words(l.fx.data.cpu, (u32)at / 4);
			igt_assert_eq(fx_run(&l.fx, fx_store_stream(&l.fx, l.va + at, 0)), -EIO);
			igt_assert_eq_u32(l.cpu[at / 4], (u32)at / 4);
		}
	}
}

static void refuse_parts(struct large *l)
{
	const struct drm_pumice_bind_op bad[] = {
		bind_unmap(l->va, PAGE), bind_unmap(l->va + PAGE, l->page - PAGE),
		bind_unmap(l->va + l->page - PAGE, 2 * PAGE),
		bind_map(l->handle, 0, l->va, l->page / 2, DRM_PUMICE_BIND_READONLY),
		bind_map(l->handle, l->page / 2, l->va, l->page, DRM_PUMICE_BIND_READONLY),
		bind_map(0, 0, l->va + l->page, l->page / 4, DRM_PUMICE_BIND_NULL),
	};
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		igt_assert_eq(gpu_bind(l->fx.fd, l->fx.vm, &bad[i], 1, NULL), -EINVAL);
}

/* No operation has a part of a page; a refused one changes nothing. */
static void large_part_refused(void)
{
	struct large l = large_buffer();
	u32 i;

	for (i = 1; i < HEAPS; i++) {
		map_large(&l, page_bits[i], 0);
		refuse_parts(&l);
		large_check(&l, 0, true);
		large_check(&l, l.page - PAGE, true);
		large_check(&l, l.page, true);
	}
}

/* A mapping is within one heap; an unmap of several heaps leaves no mapping in any. */
static void large_over_two_heaps(void)
{
	struct large l = large_buffer();
	u64 last[HEAPS], start = need_heap(l.fx.fd, page_bits[1]) - LARGE;
	u32 i;

	for (i = 1; i < HEAPS; i++) {
		u64 border = need_heap(l.fx.fd, page_bits[i]);
		struct drm_pumice_bind_op op = bind_map(l.handle, 0, border - LARGE, 2 * LARGE, 0);

		igt_assert_eq(gpu_bind(l.fx.fd, l.fx.vm, &op, 1, NULL), -EINVAL);
		need_map(l.fx.fd, l.fx.vm, l.handle, 0, border - LARGE, LARGE, 0);
		need_map(l.fx.fd, l.fx.vm, l.handle, LARGE, border, LARGE, 0);
		l.va = border - LARGE;
		large_check(&l, LARGE - PAGE, true);
		large_check(&l, LARGE, true);
		last[i] = border;
	}
	need_unmap(l.fx.fd, l.fx.vm, start, last[HEAPS - 1] + LARGE - start);
	for (i = 1; i < HEAPS; i++) {
		l.va = last[i] - LARGE;
		large_check(&l, LARGE - PAGE, false);
		large_check(&l, LARGE, false);
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

	igt_pumice_subtest("large-first-page", "the first page of any size can be unmapped",
			   large_first_page);
	igt_pumice_subtest("large-last-page", "the last page of any size can be unmapped",
			   large_last_page);
	igt_pumice_subtest("large-middle", "pages of any size in the middle can be unmapped",
			   large_middle);
	igt_pumice_subtest("large-over-the-border", "pages of two blocks can be unmapped",
			   large_over_the_border);
	igt_pumice_subtest("large-whole-block", "all pages of a block can be unmapped",
			   large_whole_block);
	igt_pumice_subtest("large-one-and-a-part",
			   "a block and a page of the next can be unmapped",
			   large_one_and_a_part);
	igt_pumice_subtest("large-rest-keeps-readonly",
			   "the remaining pages of any size keep their permissions",
			   large_rest_keeps_readonly);
	igt_pumice_subtest("large-part-refused", "parts of large pages are refused",
			   large_part_refused);
	igt_pumice_subtest("large-over-two-heaps",
			   "a mapping is within one heap, an unmap may be over several",
			   large_over_two_heaps);

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
