// SPDX-License-Identifier: MIT
/*
 * Region headers, chunks and blocks with corrupted words, in many ways. A tile is read to
 * its end or to a fault of the IPF, in a bounded number of steps, without reads beyond a
 * block's page. Also streams with cycles.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/ipf/stream.h"
#include "ta_fixture.h"

#define PRIMS	600u
#define PAGES	60u
#define MOST	20000u	/* far more entries than a tile has here */

static const struct pumice_scene target = { .width = 128, .height = 128, .cores = 2 };

struct damage_fixture {
	struct ta_fixture *fx;
	u32 used;
	u8 *good;		/* the undamaged parameter buffer */
	u32 regions[2 * 16 * 2];
	u64 entries, faults;
};

static void damage_make(struct damage_fixture *w, u8 kind)
{
	struct tafx_prim *prims = calloc(PRIMS, sizeof(*prims));
	struct ta_fixture *fx = tafx_create(PAGES, &target);
	u32 p, i, done;

	*w = (struct damage_fixture){ .fx = fx };
	fx->draw.kind = kind;
	for (p = 0; p < PRIMS; p++)
		for (i = 0; i < 3; i++) {
			prims[p].pos[i][0] = tafx_pixel(fx, 0, p % 8 ? 32 : 128);
			prims[p].pos[i][1] = tafx_pixel(fx, 0, p % 8 ? 32 : 128);
			prims[p].pos[i][3] = 1;
			prims[p].size[i] = 2;
		}
	for (p = 0; p < PRIMS; p += 30) {
		done = 0;
		fx->draw.sequence++;
		assert_int_equal(tafx_give(fx, p / 30 % 2, prims, p, 30, &done), TA_OK);
	}
	for (i = 0; i < 2; i++)
		w->used |= (u32)tafx_write_headers(fx, i) << i;
	assert_int_equal(w->used, 3);
	w->good = malloc(PAGES * PUMICE_PM_PAGE_SIZE);
	memcpy(w->good, fx->pb->pages[0], PAGES * PUMICE_PM_PAGE_SIZE);
	memcpy(w->regions, fx->pb->regions, sizeof(w->regions));
	free(prims);
}

static void damage_destroy(struct damage_fixture *w)
{
	free(w->good);
	tafx_destroy(w->fx);
}

static void is_ipf_fault(const struct gpu_fault *fault, enum pumice_unit unit)
{
	assert_true(fault->unit == unit || fault->unit == PUMICE_UNIT_IPF);
	assert_int_equal(fault->ctx, PBFX_CTX);
	assert_true((fault->fault >= PUMICE_FAULT_IPF_REGION &&
		     fault->fault <= PUMICE_FAULT_IPF_BLOCK) ||
		    (fault->fault >= PUMICE_FAULT_MMU_CONTEXT_OFF &&
		     fault->fault <= PUMICE_FAULT_MMU_BUS));
}

static u32 vertex_of(const struct pumice_prim_index *index, u32 n)
{
	return n == 0 ? index->v0 : n == 1 ? index->v1 : index->v2;
}

/* Fetch all primitives of an entry. */
static bool read_prims(struct damage_fixture *w, struct mmu_tlb *tlb, struct ipf_prims *prims,
		       struct gpu_fault *fault)
{
	const struct ta_fixture *fx = w->fx;
	float v[3][PUMICE_MAX_VARYINGS];
	struct ipf_varyings varyings = { .block = prims->block, .header = &prims->header };
	struct ipf_prim prim;
	u32 n;

	assert_true(prims->header.prims <= PUMICE_BLOCK_PRIMS);
	assert_int_equal((u64)prims->mask >> prims->header.prims, 0);
	for (; prims->mask; prims->mask &= prims->mask - 1) {
		if (!ipf_fetch(&fx->scene, &fx->pb->mmu, tlb, prims->block, &prims->header,
			       (u32)__builtin_ctz(prims->mask), &prim, fault)) {
			is_ipf_fault(fault, PUMICE_UNIT_IPF);
			return false;
		}
		assert_true(prim.index.provoking < 3);
		varyings.count = ipf_vertices(prims->header.kind);
		for (n = 0; n < varyings.count; n++) {
			varyings.vertex[n] = (u8)vertex_of(&prim.index, n);
			varyings.out[n] = v[n];
		}
		if (!ipf_fetch_varyings(&fx->scene, &fx->pb->mmu, tlb, &varyings, fault)) {
			is_ipf_fault(fault, PUMICE_UNIT_PB);
			return false;
		}
	}
	return true;
}

static struct ipf_job job_of(struct damage_fixture *w, u32 limit)
{
	return (struct ipf_job){ &w->fx->scene, &w->fx->pb->mmu, w->used, limit };
}

/* Read a tile to its end (true), or to a fault. */
static bool read_tile(struct damage_fixture *w, u32 t, enum pumice_fault *why)
{
	const struct ipf_job job = job_of(w, 0);
	struct mmu_tlb *tlb = calloc(1, sizeof(*tlb));
	struct gpu_fault fault = { 0 };
	u32 entries = 0, sequence = 0;
	struct ipf_prims prims;
	struct ipf_stream stream;
	enum ipf_result result;

	ipf_stream_begin(&stream, t, true);
	while ((result = ipf_stream_next(&stream, &job, tlb, &prims, &fault)) == IPF_PRIMS) {
		assert_true(prims.header.sequence >= sequence);
		sequence = prims.header.sequence;
		assert_true(++entries < MOST);
		if (!read_prims(w, tlb, &prims, &fault)) {
			result = IPF_FAULT;
			break;
		}
	}
	free(tlb);
	w->entries += entries;
	if (result == IPF_END)
		return true;
	is_ipf_fault(&fault, PUMICE_UNIT_IPF);
	*why = fault.fault;
	w->faults++;
	return false;
}

static void restore(struct damage_fixture *w)
{
	memcpy(w->fx->pb->pages[0], w->good, PAGES * PUMICE_PM_PAGE_SIZE);
	memcpy(w->fx->pb->regions, w->regions, sizeof(w->regions));
}

/* A reference to an existing place of the list. */
static u32 any_place(struct damage_fixture *w)
{
	return pbfx_random(w->fx->pb, PAGES * PUMICE_PM_PAGE_SIZE / 16);
}

static void damage(struct damage_fixture *w, u32 *word, u32 was)
{
	const u32 values[] = {
		0, ~0u, was + 1, was - 1, was ^ 1u << pbfx_random(w->fx->pb, 32),
		was ^ 1u << pbfx_random(w->fx->pb, 32), was ^ 0x80000000, any_place(w),
		any_place(w) & ~3u, pbfx_random(w->fx->pb, ~0u), was & 0xffff, was << 4,
	};
	enum pumice_fault why;
	u32 i, t;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		*word = values[i];
		for (t = 0; t < 16; t += 1 + pbfx_random(w->fx->pb, 9))
			read_tile(w, t, &why);
		read_tile(w, 0, &why);
	}
	*word = was;
}

static void damage_all(u8 kind)
{
	struct damage_fixture w;
	enum pumice_fault why;
	u32 i, pages;

	damage_make(&w, kind);
	for (i = 0; i < 16; i++)
		assert_true(read_tile(&w, i, &why));
	assert_true(w.entries > 100);
	for (i = 0; i < sizeof(w.regions) / 4; i++)
		damage(&w, &w.fx->pb->regions[i], w.regions[i]);
	pages = pbfx_read_list(w.fx->pb, 0).fresh;
	for (i = 0; i < pages * PUMICE_PM_PAGE_SIZE / 4; i++) {
		u32 *word = (u32 *)(void *)w.fx->pb->pages[0] + i;

		/* Varyings and positions are not interpreted: test some of them. */
		if (*word && (i % 29 == 0 || i % 1024 < 48 || i % 1024 > 960))
			damage(&w, word, *word);
	}
	print_message("%llu entries read, %llu faults\n", (unsigned long long)w.entries,
		      (unsigned long long)w.faults);
	assert_true(w.faults > 1000);
	damage_destroy(&w);
}

static void corrupt_triangles_fault_or_are_others(void **state)
{
	(void)state;
	damage_all(PUMICE_PRIM_KIND_TRIANGLE);
}

static void corrupt_lines_fault_or_are_others(void **state)
{
	(void)state;
	damage_all(PUMICE_PRIM_KIND_LINE);
}

static void corrupt_points_fault_or_decode_as_other_points(void **state)
{
	(void)state;
	damage_all(PUMICE_PRIM_KIND_POINT);
}

/* Host pointer to a chunk of tile 0 of core 0, number n; its pb_ref in *ref. */
static u32 *chunk(struct damage_fixture *w, u32 n, u32 *ref)
{
	u32 *words;

	*ref = w->regions[1];
	for (;;) {
		words = (u32 *)(void *)pbfx_host(w->fx->pb, *ref);
		if (!n--)
			return words;
		assert_int_not_equal(words[14], 0);
		*ref = words[14];
	}
}

static u32 *block(struct damage_fixture *w, u32 ref)
{
	return (u32 *)(void *)pbfx_host(w->fx->pb, ref);
}

static void a_stream_without_end_is_a_fault(void **state)
{
	struct damage_fixture w;
	enum pumice_fault why;
	u32 from, to, ref, last;

	(void)state;
	damage_make(&w, PUMICE_PRIM_KIND_TRIANGLE);
	for (last = 0; chunk(&w, last, &ref)[14]; last++)
		;
	assert_true(last >= 2);
	for (from = 0; from < last; from++)
		for (to = 0; to <= from; to++) {
			u32 *words, target_ref;
			u32 i, n;

			chunk(&w, to, &target_ref);
			words = chunk(&w, from, &ref);
			words[14] = target_ref;
			/* All of one sequence number, so that only the cycle can be detected. */
			for (n = 0; n <= from; n++) {
				const u32 *entries = chunk(&w, n, &ref);

				for (i = 0; i < 7; i++)
					block(&w, entries[2 * i])[1] = 1;
			}
			assert_false(read_tile(&w, 0, &why));
			assert_int_equal(why, PUMICE_FAULT_IPF_STREAM);
			restore(&w);
		}
	damage_destroy(&w);
}

/* One wrong field each, and the expected fault. */
static void invalid_fields_are_reported(void **state)
{
	static const struct {
		u32 word, value;	/* of the region (0, 1), chunk (10 on), block (100 on) */
		enum pumice_fault why;
	} cases[] = {
		{ 0, 0, PUMICE_FAULT_IPF_REGION },		/* not present, but a stream */
		{ 0, 3, PUMICE_FAULT_IPF_REGION },		/* reserved */
		{ 1, 0, PUMICE_FAULT_IPF_REGION },
		{ 1, 0x7fffffff, PUMICE_FAULT_IPF_REGION },	/* beyond the list */
		{ 1, 5, PUMICE_FAULT_IPF_REGION },		/* no multiple of 64 bytes */
		{ 1, 0x80000010, PUMICE_FAULT_IPF_REGION },	/* a missing list */
		{ 10, 0, PUMICE_FAULT_IPF_STREAM },		/* empty */
		{ 10, 0x7fffffff, PUMICE_FAULT_IPF_BLOCK },
		{ 10, 0xf8, PUMICE_FAULT_IPF_BLOCK },		/* too near the page's end */
		{ 11, 0, PUMICE_FAULT_IPF_STREAM },		/* no primitive */
		{ 11, 0xffffffff, PUMICE_FAULT_IPF_STREAM },	/* more than the block has */
		{ 24, 3, PUMICE_FAULT_IPF_STREAM },		/* next */
		{ 25, 1, PUMICE_FAULT_IPF_STREAM },		/* reserved */
		{ 100, 0, PUMICE_FAULT_IPF_BLOCK },
		{ 100, 3 << 21 | 1 << 6 | 1, PUMICE_FAULT_IPF_BLOCK },	/* kind */
		{ 100, 33 | 3 << 6, PUMICE_FAULT_IPF_BLOCK },	/* primitives */
		{ 100, 1 | 97 << 6, PUMICE_FAULT_IPF_BLOCK },	/* vertices */
		{ 100, 1 | 3 << 6 | 65 << 14, PUMICE_FAULT_IPF_BLOCK },	/* varyings */
		/* beyond the page */
		{ 100, 30 | 96 << 6 | 64 << 14, PUMICE_FAULT_IPF_BLOCK },
		{ 105, 1 << 8, PUMICE_FAULT_IPF_BLOCK },	/* reserved */
		{ 108, 0xff, PUMICE_FAULT_IPF_BLOCK },		/* no such vertex */
		{ 108, 3 << 24, PUMICE_FAULT_IPF_BLOCK },	/* provoking */
		{ 108, 1u << 27, PUMICE_FAULT_IPF_BLOCK },	/* reserved */
	};
	enum pumice_fault why;
	struct damage_fixture w;
	u32 c, ref;

	(void)state;
	damage_make(&w, PUMICE_PRIM_KIND_TRIANGLE);
	for (c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		const u32 word = cases[c].word;
		u32 *words = chunk(&w, 0, &ref);
		u32 *in_block = block(&w, words[0]);

		assert_true(words[1] & 1);
		if (word >= 100)
			in_block[word - 100] = cases[c].value;
		else if (word >= 10)
			words[word - 10] = cases[c].value;
		else
			w.fx->pb->regions[word] = cases[c].value;
		if (read_tile(&w, 0, &why) || why != cases[c].why)
			fail_msg("case %u", c);
		restore(&w);
		assert_true(read_tile(&w, 0, &why));
	}
	damage_destroy(&w);
}

/* The first primitive and the first vertex that a block does not have. */
static void references_beyond_a_block_are_refused(void **state)
{
	struct mmu_tlb *tlb = calloc(1, sizeof(*tlb));
	struct pumice_prim_block header;
	struct gpu_fault fault;
	struct ipf_prim prim;
	struct damage_fixture w;
	u32 ref, entry, *words;

	(void)state;
	damage_make(&w, PUMICE_PRIM_KIND_TRIANGLE);
	entry = chunk(&w, 0, &ref)[0];
	words = block(&w, entry);
	assert_int_equal(pumice_prim_block_unpack(words, &header), PUMICE_UNPACK_OK);
	assert_true(ipf_fetch(&w.fx->scene, &w.fx->pb->mmu, tlb, entry, &header,
			      header.prims - 1u, &prim, &fault));
	assert_false(ipf_fetch(&w.fx->scene, &w.fx->pb->mmu, tlb, entry, &header, header.prims,
			       &prim, &fault));
	assert_int_equal(fault.fault, PUMICE_FAULT_IPF_BLOCK);
	/* The first primitive's first vertex is set to the block's last one, then to one more. */
	words[8] = (words[8] & ~0xffu) | (header.vertices - 1u);
	assert_true(ipf_fetch(&w.fx->scene, &w.fx->pb->mmu, tlb, entry, &header, 0, &prim,
			      &fault));
	words[8]++;
	assert_false(ipf_fetch(&w.fx->scene, &w.fx->pb->mmu, tlb, entry, &header, 0, &prim,
			       &fault));
	assert_int_equal(fault.fault, PUMICE_FAULT_IPF_BLOCK);
	free(tlb);
	damage_destroy(&w);
}

/* Varyings of a vertex that a block does not have, in each place, or whose program has not run. */
static void varyings_beyond_a_block_are_refused(void **state)
{
	static const enum pumice_vertex_data deferred[] = { PUMICE_VERTEX_DATA_NUMBER,
							    PUMICE_VERTEX_DATA_CLIPPED };
	struct mmu_tlb *tlb = calloc(1, sizeof(*tlb));
	struct pumice_prim_block header;
	float v[3][PUMICE_MAX_VARYINGS];
	struct ipf_varyings varyings = { .header = &header, .count = 3,
					 .out = { v[0], v[1], v[2] } };
	struct gpu_fault fault;
	struct damage_fixture w;
	u32 ref, i;

	(void)state;
	damage_make(&w, PUMICE_PRIM_KIND_TRIANGLE);
	varyings.block = chunk(&w, 0, &ref)[0];
	assert_int_equal(pumice_prim_block_unpack(block(&w, varyings.block), &header),
			 PUMICE_UNPACK_OK);
	for (i = 0; i < 3; i++) {
		varyings.vertex[i] = (u8)(header.vertices - 1);
		assert_true(ipf_fetch_varyings(&w.fx->scene, &w.fx->pb->mmu, tlb, &varyings,
					       &fault));
		varyings.vertex[i] = header.vertices;
		assert_false(ipf_fetch_varyings(&w.fx->scene, &w.fx->pb->mmu, tlb, &varyings,
						&fault));
		assert_int_equal(fault.fault, PUMICE_FAULT_IPF_BLOCK);
		varyings.vertex[i] = 0;
	}
	for (i = 0; i < 2; i++) {
		header.vertex_data = deferred[i];
		assert_false(ipf_fetch_varyings(&w.fx->scene, &w.fx->pb->mmu, tlb, &varyings,
						&fault));
		assert_int_equal(fault.fault, PUMICE_FAULT_IPF_BLOCK);
	}
	free(tlb);
	damage_destroy(&w);
}

/* Descending sequence numbers fault; a limit ends streams that reach it. */
static void sequences_ascend_and_a_limit_ends_them(void **state)
{
	static struct mmu_tlb tlb;
	struct ipf_stream stream;
	struct ipf_prims prims;
	struct gpu_fault fault;
	enum pumice_fault why;
	struct damage_fixture w;
	struct ipf_job job;
	u32 limit, ref, all = 0, n;

	(void)state;
	damage_make(&w, PUMICE_PRIM_KIND_TRIANGLE);
	for (limit = 0; limit < 22; limit++) {
		job = job_of(&w, limit);
		ipf_stream_begin(&stream, 0, true);
		for (n = 0; ipf_stream_next(&stream, &job, &tlb, &prims, &fault) == IPF_PRIMS; n++)
			assert_true(!limit || prims.header.sequence < limit);
		assert_int_equal(ipf_stream_next(&stream, &job, &tlb, &prims, &fault), IPF_END);
		all = limit ? all : n;
		assert_true(limit == 1 ? !n : n <= all);
		if (limit == 21)
			assert_int_equal(n, all);
	}
	block(&w, chunk(&w, 0, &ref)[0])[1] = 1000;
	assert_false(read_tile(&w, 0, &why));
	assert_int_equal(why, PUMICE_FAULT_IPF_STREAM);
	damage_destroy(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corrupt_triangles_fault_or_are_others),
		cmocka_unit_test(corrupt_lines_fault_or_are_others),
		cmocka_unit_test(corrupt_points_fault_or_decode_as_other_points),
		cmocka_unit_test(a_stream_without_end_is_a_fault),
		cmocka_unit_test(invalid_fields_are_reported),
		cmocka_unit_test(references_beyond_a_block_are_refused),
		cmocka_unit_test(varyings_beyond_a_block_are_refused),
		cmocka_unit_test(sequences_ascend_and_a_limit_ends_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
