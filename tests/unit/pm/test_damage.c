// SPDX-License-Identifier: MIT
/*
 * Free lists, links, scenes and chains with corrupted words: a fault of the PM, and never
 * a page that is allocated while a scene owns it.
 */
#include <string.h>

#include "pb_fixture.h"

#define PAGES	24u
/* With chains of 16 macro tiles on two lists. */
#define SCENE_BYTES	(4 * (PUMICE_SCENE_WORDS + 32 * PUMICE_SCENE_CHAIN_WORDS))

static const struct pumice_scene small = { .width = 256, .height = 256, .cores = 1 };

/* Lists, links and scenes before the corruption. */
struct snapshot {
	u32 list[2][PUMICE_FREE_LIST_WORDS], links[2][PAGES];
	u32 scene[2][PUMICE_SCENE_WORDS + 32 * PUMICE_SCENE_CHAIN_WORDS];
};

struct damage_fixture {
	struct pb_fixture *fx;
	struct pm_scene scene[2];
	struct snapshot good;
};

static void copy(struct pb_fixture *fx, struct snapshot *s, bool back)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		memcpy(back ? (void *)fx->list[i] : s->list[i],
		       back ? (void *)s->list[i] : fx->list[i], sizeof(s->list[i]));
		memcpy(back ? (void *)fx->links[i] : s->links[i],
		       back ? (void *)s->links[i] : fx->links[i], sizeof(s->links[i]));
		memcpy(back ? (void *)fx->scene[i] : s->scene[i],
		       back ? (void *)s->scene[i] : fx->scene[i], sizeof(s->scene[i]));
	}
}

/* Two scenes with pages in some macro tiles, reused pages, and fresh ones. */
static void damage_make(struct damage_fixture *w)
{
	struct gpu_fault fault;
	u32 ref, i;

	w->fx = pbfx_create(PAGES, PAGES);
	for (i = 0; i < 2; i++)
		w->scene[i] = pbfx_load(w->fx, i, &small);
	for (i = 0; i < PAGES + 15; i++)
		assert_int_equal(pm_alloc(w->fx->pm, 0, &w->scene[i % 2], i % 5, &ref, &fault),
				 PM_OK);
	for (i = 0; i < 2; i++)
		assert_true(pm_free_macro_tile(w->fx->pm, 0, &w->scene[0], i, &fault));
	copy(w->fx, &w->good, false);
}

/* Restore the memory; the PM reads the lists again, or caches them by use, as requested. */
static void damage_restore(struct damage_fixture *w)
{
	copy(w->fx, &w->good, true);
	pm_reset(w->fx->pm);
}

/* Make the PM cache the lists. */
static void damage_cache_lists(struct damage_fixture *w)
{
	struct pm_scene scene;
	struct gpu_fault fault;

	assert_true(pm_scene_load(w->fx->pm, PBFX_SCENE(0), PBFX_CTX, &scene, &fault));
}

static void is_pm_fault(const struct gpu_fault *fault)
{
	assert_int_equal(fault->unit, PUMICE_UNIT_PM);
	assert_true(fault->fault == PUMICE_FAULT_PM_SCENE ||
		    fault->fault == PUMICE_FAULT_PM_FREE_LIST ||
		    (fault->fault >= PUMICE_FAULT_MMU_CONTEXT_OFF &&
		     fault->fault <= PUMICE_FAULT_MMU_BUS));
}

/*
 * Allocate all pages, then free all. Returns whether a fault occurred. If the PM had cached
 * the list, no page is allocated that a scene owns, or twice. (A list that it must read from
 * corrupted memory may contain a scene's page as free; this is detected when the scene is freed.)
 */
static bool use_everything(struct damage_fixture *w, bool known)
{
	u8 held[2][PAGES] = { { 0 } };
	struct pm_scene scene;
	struct gpu_fault fault;
	bool faulted = false;
	u32 l, m, i, n, ref, page;

	for (n = 0; n < 2; n++)
		for (m = 0; m < PM_MACRO_TILES; m++)
			for (l = 0; l < 2; l++) {
				const u32 *words = w->good.scene[n] + PUMICE_SCENE_WORDS +
						   (m * 2 + l) * PUMICE_SCENE_CHAIN_WORDS;
				struct pumice_scene_chain chain;

				pumice_scene_chain_unpack(words, &chain);
				for (page = chain.head; page != PUMICE_PM_NO_PAGE;
				     page = w->good.links[l][page])
					held[l][page] = 1;
			}
	for (i = 0; i < 2 * PAGES + 10; i++) {
		struct pumice_pb_ref at;
		enum pm_result result = pm_alloc(w->fx->pm, 0, &w->scene[0], i % 16, &ref, &fault);

		if (result == PM_EMPTY)
			break;
		if (result == PM_FAULT) {
			is_pm_fault(&fault);
			faulted = true;
			break;
		}
		pumice_pb_ref_unpack(&ref, &at);
		page = at.offset / (PUMICE_PM_PAGE_SIZE / 16);
		assert_true(page < PAGES);
		assert_true(!known || !held[at.list][page]);
		held[at.list][page] = 1;
	}
	assert_true(i < 2 * PAGES + 10);
	for (i = 0; i < 2; i++) {
		if (!pm_scene_load(w->fx->pm, PBFX_SCENE(i), PBFX_CTX, &scene, &fault) ||
		    !pm_free_scene(w->fx->pm, &scene, &fault)) {
			is_pm_fault(&fault);
			faulted = true;
		}
		pm_release(w->fx->pm, PBFX_SCENE(i));
	}
	return faulted;
}

/* Corrupt one word in several ways; return how many were detected, of *tries. */
static u32 damage(struct damage_fixture *w, u32 *word, u32 *tries)
{
	const u32 was = *word;
	const u32 values[] = {
		0, 1, ~0u, was + 1, was - 1, was ^ 2, was ^ 4, was ^ 0x80000000, was ^ 0x1000,
		pbfx_random(w->fx, PAGES), pbfx_random(w->fx, ~0u),
	};
	u32 noticed = 0, known, i;

	*tries = 0;
	for (i = 0; i < sizeof(values) / sizeof(*values); i++)
		for (known = 0; known < 2; known++) {
			if (values[i] == was)
				continue;
			damage_restore(w);
			if (known)
				damage_cache_lists(w);
			*word = values[i];
			noticed += use_everything(w, known);
			++*tries;
		}
	damage_restore(w);
	return noticed;
}

static void a_corrupt_free_list_faults(void **state)
{
	/* Words whose corruption must be detected: pages, head, fresh, free; reserved. */
	static const bool must[PUMICE_FREE_LIST_WORDS] = { 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1 };
	struct damage_fixture w;
	u32 l, i, tries, noticed;

	(void)state;
	damage_make(&w);
	assert_false(use_everything(&w, false));
	for (l = 0; l < 2; l++)
		for (i = 0; i < PUMICE_FREE_LIST_WORDS; i++) {
			noticed = damage(&w, &w.fx->list[l][i], &tries);
			if (must[i])
				assert_int_equal(noticed, tries);
		}
	pbfx_destroy(w.fx);
}

/* The device's own writes have precedence: also for a list that it has cached. */
static void a_cached_list_keeps_its_entry(void **state)
{
	static const u32 word[] = { 0, 1, 3, 7, 8 };
	struct pm_scene scene;
	struct gpu_fault fault;
	struct damage_fixture w;
	u32 i;

	(void)state;
	damage_make(&w);
	for (i = 0; i < 5; i++) {
		damage_restore(&w);
		damage_cache_lists(&w);
		/* Another free page as the head; other bits of the rest. */
		if (word[i] == 3)
			w.fx->list[0][3] = w.fx->links[0][w.fx->list[0][3]];
		else
			w.fx->list[0][word[i]] ^= word[i] ? 4 : 0x1000;
		assert_false(pm_scene_load(w.fx->pm, PBFX_SCENE(0), PBFX_CTX, &scene, &fault));
		assert_int_equal(fault.fault, PUMICE_FAULT_PM_FREE_LIST);
		assert_int_equal(fault.addr, PBFX_LIST(0));
	}
	pbfx_destroy(w.fx);
}

static void corrupt_links_fault(void **state)
{
	struct damage_fixture w;
	u32 l, i, tries;

	(void)state;
	damage_make(&w);
	for (l = 0; l < 2; l++)
		for (i = 0; i < pbfx_read_list(w.fx, l).fresh; i++) {
			const u32 noticed = damage(&w, &w.fx->links[l][i], &tries);

			assert_int_equal(noticed, tries);
		}
	pbfx_destroy(w.fx);
}

static void corrupt_chains_fault(void **state)
{
	struct damage_fixture w;
	u32 n, i, tries;

	(void)state;
	damage_make(&w);
	for (n = 0; n < 2; n++)
		for (i = 0; i < 32 * PUMICE_SCENE_CHAIN_WORDS; i++) {
			u32 *words = w.fx->scene[n] + PUMICE_SCENE_WORDS;
			const bool empty = !words[i / 4 * 4 + 2];
			const u32 noticed = damage(&w, &words[i], &tries);

			/* The last page of an empty chain is not used. */
			if (!(empty && i % 4 == 1))
				assert_int_equal(noticed, tries);
		}
	pbfx_destroy(w.fx);
}

static void corrupt_scenes_fault_or_are_other_scenes(void **state)
{
	struct damage_fixture w;
	u32 i, tries;

	(void)state;
	damage_make(&w);
	for (i = 0; i < PUMICE_SCENE_WORDS; i++) {
		const u32 noticed = damage(&w, &w.fx->scene[0][i], &tries);

		/* Reserved words, from 12 on. */
		if (i >= 12)
			assert_int_equal(noticed, tries);
	}
	pbfx_destroy(w.fx);
}

/* Invalid fields of a scene, one at a time. */
static void a_malformed_scene_is_refused(void **state)
{
	struct pb_fixture *fx = pbfx_create(4, 4);
	struct pm_scene scene;
	struct gpu_fault fault;
	u32 i;

	(void)state;
	for (i = 0; i < 12; i++) {
		struct pumice_scene s = small;
		u64 addr = PBFX_SCENE(0);

		pbfx_scene(fx, 0, &small);
		pumice_scene_unpack(fx->scene[0], &s);
		s.width = i == 0 ? 0 : i == 1 ? 8193 : s.width;
		s.height = i == 2 ? 0 : i == 3 ? 8193 : s.height;
		s.samples_log2 = i == 4 ? 3 : 0;
		s.tile_size = i == 5 ? 3 : 0;
		s.cores = i == 6 ? 0 : i == 7 ? 17 : 1;
		s.regions = i == 8 ? 0 : i == 9 ? (1ull << 40) - 16 : s.regions;
		s.free_list0 = i == 10 ? 0 : s.free_list0;
		s.free_list1 = i == 11 ? s.free_list0 : s.free_list1;
		pumice_scene_pack(fx->scene[0], &s);
		assert_false(pm_scene_load(fx->pm, addr, PBFX_CTX, &scene, &fault));
		assert_int_equal(fault.fault, PUMICE_FAULT_PM_SCENE);
		assert_int_equal(fault.unit, PUMICE_UNIT_PM);
		assert_int_equal(fault.addr, addr);
	}
	pbfx_scene(fx, 0, &small);
	assert_false(pm_scene_load(fx->pm, PBFX_SCENE(0) + 4, PBFX_CTX, &scene, &fault));
	assert_false(pm_scene_load(fx->pm, 0, PBFX_CTX, &scene, &fault));
	assert_false(pm_scene_load(fx->pm, 0xfffffff0, PBFX_CTX, &scene, &fault));
	assert_int_equal(fault.fault, PUMICE_FAULT_MMU_PC_INVALID);
	pbfx_destroy(fx);
}

static void state_of_a_scene_is_kept_and_checked(void **state)
{
	const struct pm_scene_state in = { .valid = true, .used = 0x5, .partials = 7 };
	struct pb_fixture *fx = pbfx_create(4, 0);
	const struct pm_scene scene =
		pbfx_load(fx, 0, &(struct pumice_scene){ .width = 1, .height = 1, .cores = 3 });
	struct pm_scene_state out;
	struct gpu_fault fault;

	(void)state;
	assert_true(pm_scene_state_write(fx->pm, &scene, &in, &fault));
	assert_true(pm_scene_state_read(fx->pm, &scene, &out, &fault));
	assert_true(out.valid == in.valid && out.spilled == in.spilled && out.used == in.used &&
		    out.partials == in.partials);
	fx->scene[0][9] |= 1u << 19;	/* a core without room */
	assert_false(pm_scene_state_read(fx->pm, &scene, &out, &fault));
	assert_int_equal(fault.fault, PUMICE_FAULT_PM_SCENE);
	pm_release(fx->pm, PBFX_SCENE(0));
	assert_true(pm_scene_state_read(fx->pm, &scene, &out, &fault));
	assert_false(out.valid);
	pbfx_destroy(fx);
}

/* An injected fault does not change memory, so that the next use succeeds. */
static void a_flipped_bit_of_a_read_faults_once(void **state)
{
	struct inject_request request = {
		.kind = PUMICE_INJECT_KIND_FREE_LIST, .where = PUMICE_INJECT_WHERE_LIST,
		.count = 1,
	};
	u32 words[PUMICE_FREE_LIST_WORDS], ref, faults = 0;
	struct gpu_fault fault;
	struct damage_fixture w;

	(void)state;
	damage_make(&w);
	for (request.bit = 0; request.bit < PUMICE_FREE_LIST_WORDS * 32; request.bit++) {
		damage_restore(&w);
		assert_int_equal(pm_alloc(w.fx->pm, 0, &w.scene[0], 0, &ref, &fault), PM_OK);
		memcpy(words, w.fx->list[0], sizeof(words));
		assert_true(inject_arm(&w.fx->inject, &request));
		if (pm_alloc(w.fx->pm, 0, &w.scene[0], 0, &ref, &fault) == PM_FAULT) {
			assert_int_equal(fault.fault, PUMICE_FAULT_PM_FREE_LIST);
			assert_memory_equal(words, w.fx->list[0], sizeof(words));
			faults++;
		}
		assert_int_equal(inject_left(&w.fx->inject, PUMICE_INJECT_KIND_FREE_LIST), 0);
		assert_int_equal(pm_alloc(w.fx->pm, 0, &w.scene[0], 0, &ref, &fault), PM_OK);
	}
	/* All bits except those of statistics and of the threshold of PM_LOW. */
	assert_true(faults >= 9 * 32);
	pbfx_destroy(w.fx);
}

/* Map memory of context 0 at the same address of virtual GPU 1's part, too. */
static void alias(struct pb_fixture *fx, u32 va, const void *host)
{
	testmem_map_bus(fx->tm, 0, PUMICE_OS_PART_SIZE + va, testmem_bus(fx->tm, host) & ~4095ull,
			4096, PUMICE_PAGE_SIZE_4K, 0);
}

static enum pumice_fault load_fault(struct pb_fixture *fx)
{
	struct gpu_fault fault = { 0 };
	struct pm_scene scene;

	pm_reset(fx->pm);
	return pm_scene_load(fx->pm, PBFX_SCENE(0), PBFX_CTX, &scene, &fault) ?
		       PUMICE_FAULT_NONE : (enum pumice_fault)fault.fault;
}

static void lists_and_their_tables_belong_to_the_virtual_gpu_of_the_scene(void **state)
{
	struct pb_fixture *fx = pbfx_create(PAGES, 0);
	u32 *list = &fx->scene[0][4], *links = &fx->list[0][8];

	(void)state;
	fx->mmu.oses = 2;
	atomic_store(&fx->mmu.part[1], testmem_ctx_reg(fx->tm, 0));
	alias(fx, PBFX_LIST(0), fx->list[0]);
	alias(fx, PBFX_LINKS(0), fx->links[0]);
	pbfx_scene(fx, 0, &small);
	assert_int_equal(load_fault(fx), PUMICE_FAULT_NONE);
	assert_int_equal(*list, PBFX_LIST(0));
	*list += PUMICE_OS_PART_SIZE;
	assert_int_equal(load_fault(fx), PUMICE_FAULT_PM_SCENE);
	*list -= PUMICE_OS_PART_SIZE;
	assert_int_equal(*links, PBFX_LINKS(0));
	*links += PUMICE_OS_PART_SIZE;
	assert_int_equal(load_fault(fx), PUMICE_FAULT_PM_FREE_LIST);
	/* One that ends in the next part. */
	*links = PUMICE_OS_PART_SIZE - 4;
	assert_int_equal(load_fault(fx), PUMICE_FAULT_PM_FREE_LIST);
	pbfx_destroy(fx);
}

static void a_scene_and_its_chains_belong_to_one_virtual_gpu(void **state)
{
	struct pb_fixture *fx = pbfx_create(PAGES, 0);
	const u64 edge = PUMICE_OS_PART_SIZE;
	struct gpu_fault fault = { 0 };
	struct pumice_mmu_pt_entry pt;
	struct pm_scene scene;
	u64 addr;

	(void)state;
	pbfx_scene(fx, 0, &small);
	testmem_map(fx->tm, 0, edge - 4096, 8192, PUMICE_PAGE_SIZE_4K, 0);
	fx->mmu.oses = 2;
	atomic_store(&fx->mmu.part[1], testmem_ctx_reg(fx->tm, 0));
	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, 0, edge - 4096), &pt);
	/* The last one that ends in its part, and the first that does not. */
	for (addr = edge - SCENE_BYTES; addr < edge; addr += 16) {
		const bool ends = addr == edge - SCENE_BYTES;

		pm_reset(fx->pm);
		fault.fault = PUMICE_FAULT_NONE;
		memcpy((u8 *)testmem_host(fx->tm, pt.addr) + addr % 4096, fx->scene[0],
		       edge - addr < 4 * PUMICE_SCENE_WORDS ? edge - addr : 4 * PUMICE_SCENE_WORDS);
		assert_int_equal(pm_scene_load(fx->pm, addr, PBFX_CTX, &scene, &fault), ends);
		assert_int_equal(fault.fault, ends ? PUMICE_FAULT_NONE : PUMICE_FAULT_PM_SCENE);
	}
	pbfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_corrupt_free_list_faults),
		cmocka_unit_test(a_cached_list_keeps_its_entry),
		cmocka_unit_test(a_flipped_bit_of_a_read_faults_once),
		cmocka_unit_test(corrupt_links_fault),
		cmocka_unit_test(corrupt_chains_fault),
		cmocka_unit_test(corrupt_scenes_fault_or_are_other_scenes),
		cmocka_unit_test(a_malformed_scene_is_refused),
		cmocka_unit_test(state_of_a_scene_is_kept_and_checked),
		cmocka_unit_test(lists_and_their_tables_belong_to_the_virtual_gpu_of_the_scene),
		cmocka_unit_test(a_scene_and_its_chains_belong_to_one_virtual_gpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
