// SPDX-License-Identifier: MIT
/*
 * Free lists whose pages the MMU maps: a page is mapped, at its address and to its memory,
 * exactly while it is allocated; page tables are never data; and words of the host that do not
 * fit are refused. Translations are checked through a TLB that is empty, and through one that
 * has all earlier translations.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/pm/internal.h"
#include "pb_fixture.h"

#define PAGES		1300u	/* more than two page tables */
#define BLOCK		512u	/* pages of a table */
#define RESERVED	4u	/* 0, 1, 512, 1024 */
#define CORES		4u
#define STEPS		6000u
#define NO_OWNER	(-1)

static const struct pumice_scene small = { .width = 256, .height = 256, .cores = 1 };

static bool is_table(u32 page)
{
	return page < 2 || !(page % BLOCK);
}

/* Translate the address of a page for a unit; returns the fault. */
static enum pumice_fault translate(struct pb_fixture *fx, struct mmu_tlb *tlb, u32 page,
				   enum pumice_unit unit, u8 **host)
{
	struct gpu_fault fault = { 0 };

	*host = mmu_translate(&fx->mmu, tlb, PBFX_CTX, pbfx_page_va(fx, 0, page), 1,
			      PUMICE_ACCESS_WRITE, unit, &fault);
	return (enum pumice_fault)fault.fault;
}

struct model {
	struct pb_fixture *fx;
	struct pm_scene scene[2];
	int owner[PAGES];	/* scene * 16 + macro tile */
	u32 pages;
	struct mmu_tlb used;	/* has translations of all checks */
};

static u32 model_pages(const struct model *m)
{
	u32 page, owned = 0;

	for (page = 0; page < m->pages; page++)
		owned += m->owner[page] != NO_OWNER;
	return owned;
}

static void model_return(const struct model *m)
{
	struct gpu_fault fault;
	u32 i;

	for (i = 0; i < CORES; i++)
		assert_true(pm_return(m->fx->pm, i, &fault));
}

/* Check all translations; no core has spare pages. */
static void model_check(struct model *m)
{
	static struct mmu_tlb empty;
	struct mmu_tlb *tlb;
	u32 page, i;
	u8 *host;

	model_return(m);
	memset(&empty, 0, sizeof(empty));
	for (page = 0; page < PAGES; page++)
		for (i = 0; i < 2; i++) {
			enum pumice_fault fault;

			tlb = i ? &empty : &m->used;
			fault = translate(m->fx, tlb, page, PUMICE_UNIT_PB, &host);
			if (m->owner[page] != NO_OWNER) {
				assert_ptr_equal(host, testmem_host(m->fx->tm,
								    m->fx->frames[0][page]));
				continue;
			}
			assert_true(fault == PUMICE_FAULT_MMU_PT_INVALID ||
				    fault == PUMICE_FAULT_MMU_PD_INVALID);
		}
	assert_int_equal(pbfx_read_list(m->fx, 0).free,
			 m->pages - RESERVED - model_pages(m));
}

static void model_alloc(struct model *m, u32 scene, u32 macro)
{
	struct pumice_pb_ref at;
	struct gpu_fault fault;
	u32 ref, page;

	if (pm_alloc(m->fx->pm, scene + 2 * pbfx_random(m->fx, 2), &m->scene[scene], macro, &ref,
		     &fault) == PM_EMPTY) {
		assert_int_equal(model_pages(m), m->pages - RESERVED);
		return;
	}
	pumice_pb_ref_unpack(&ref, &at);
	page = at.offset / (PUMICE_PM_PAGE_SIZE / 16);
	assert_true(page < m->pages && !is_table(page));
	assert_int_equal(m->owner[page], NO_OWNER);
	m->owner[page] = (int)(scene * PM_MACRO_TILES + macro);
}

static void model_freed(struct model *m, u32 scene, u32 from, u32 to)
{
	u32 page;

	for (page = 0; page < m->pages; page++)
		if (m->owner[page] >= (int)(scene * PM_MACRO_TILES + from) &&
		    m->owner[page] <= (int)(scene * PM_MACRO_TILES + to))
			m->owner[page] = NO_OWNER;
}

static void model_step(struct model *m)
{
	const u32 scene = pbfx_random(m->fx, 2), macro = pbfx_random(m->fx, PM_MACRO_TILES);
	struct gpu_fault fault;

	switch (pbfx_random(m->fx, 200)) {
	case 0:
		assert_true(pm_free_scene(m->fx->pm, &m->scene[scene], &fault));
		model_freed(m, scene, 0, PM_MACRO_TILES - 1);
		break;
	case 1:
		assert_true(pm_release(m->fx->pm, PBFX_SCENE(scene)));
		model_freed(m, scene, 0, PM_MACRO_TILES - 1);
		break;
	case 2: case 3: case 4:
		model_return(m);
		assert_true(pm_free_macro_tile(m->fx->pm, macro % CORES, &m->scene[scene], macro,
					       &fault));
		model_freed(m, scene, macro, macro);
		break;
	case 5:		/* the PM reads the list again */
		model_return(m);
		pm_reset(m->fx->pm);
		break;
	default:
		model_alloc(m, scene, macro);
	}
}

static void pages_are_mapped_exactly_while_they_are_allocated(void **state)
{
	static struct model m;
	struct gpu_fault fault;
	u32 i;

	(void)state;
	m.fx = pbfx_create_tables(PAGES, 0);
	m.pages = PAGES;
	for (i = 0; i < PAGES; i++)
		m.owner[i] = NO_OWNER;
	for (i = 0; i < 2; i++)
		m.scene[i] = pbfx_load(m.fx, i, &small);
	for (i = 0; i < STEPS; i++) {
		model_step(&m);
		if (i % 97 == 0)
			model_check(&m);
	}
	model_check(&m);
	for (i = 0; i < 2; i++) {
		assert_true(pm_free_scene(m.fx->pm, &m.scene[i], &fault));
		model_freed(&m, i, 0, PM_MACRO_TILES - 1);
	}
	model_check(&m);
	/* Without pages the directory, which is page 0, is empty. */
	for (i = 0; i < BLOCK; i++)
		assert_int_equal(((u64 *)testmem_host(m.fx->tm, m.fx->frames[0][0]))[i], 0);
	pbfx_destroy(m.fx);
}

/* As pages that the driver maps: units whose addresses come from users fault. */
static void other_units_fault_at_a_mapped_page(void **state)
{
	static const enum pumice_unit refused[] = { PUMICE_UNIT_USC_DATA, PUMICE_UNIT_MTE,
						    PUMICE_UNIT_PTLA, PUMICE_UNIT_FW };
	struct pb_fixture *fx = pbfx_create_tables(PAGES, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	struct mmu_tlb tlb = { 0 };
	struct gpu_fault fault;
	u32 ref, i;
	u8 *host;

	(void)state;
	assert_int_equal(pm_alloc(fx->pm, 0, &scene, 0, &ref, &fault), PM_OK);
	assert_int_equal(pm_address(&scene, ref + 1), pbfx_page_va(fx, 0, 2) + 16);
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		assert_int_equal(translate(fx, &tlb, 2, refused[i], &host),
				 PUMICE_FAULT_MMU_PM_OWNED);
		assert_null(host);
	}
	translate(fx, &tlb, 2, PUMICE_UNIT_TE, &host);
	assert_ptr_equal(host, pbfx_host(fx, ref));
	assert_int_equal(pm_mapped(fx->pm), 1 + DPM_SPARES);
	pbfx_destroy(fx);
}

/* Growing by a page that is a page table adds none for data. */
static void a_list_grows_by_pages_for_data(void **state)
{
	struct pb_fixture *fx = pbfx_create_tables(PAGES, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	struct gpu_fault fault;
	u32 pages, count, ref;

	(void)state;
	for (pages = BLOCK - 2; pages <= BLOCK + 3; pages++) {
		pbfx_list(fx, 0, 3, 0);
		pm_reset(fx->pm);
		pbfx_scene(fx, 0, &small);
		assert_int_equal(pm_alloc(fx->pm, 0, &scene, 1, &ref, &fault), PM_OK);
		assert_int_equal(pm_alloc(fx->pm, 0, &scene, 1, &ref, &fault), PM_EMPTY);
		assert_true(pm_grow(fx->pm, PBFX_LIST(0), pages));
		for (count = 1; pm_alloc(fx->pm, 0, &scene, 1, &ref, &fault) == PM_OK; count++)
			;
		assert_int_equal(count, pages - 2 - (pages > BLOCK));
		assert_true(pm_free_scene(fx->pm, &scene, &fault));
	}
	pbfx_destroy(fx);
}

/* Write a new list with one word changed, and use it. Returns the fault, or NONE. */
static enum pumice_fault use_list(struct pb_fixture *fx, void (*change)(struct pumice_free_list *))
{
	struct pumice_free_list list;
	struct gpu_fault fault = { 0 };
	struct pm_scene scene;
	u32 ref;

	pbfx_list(fx, 0, PAGES, 0);
	pbfx_scene(fx, 0, &small);
	pm_reset(fx->pm);
	list = pbfx_read_list(fx, 0);
	change(&list);
	pumice_free_list_pack(fx->list[0], &list);
	if (pm_scene_load(fx->pm, PBFX_SCENE(0), PBFX_CTX, &scene, &fault))
		pm_alloc(fx->pm, 0, &scene, 0, &ref, &fault);
	assert_true(!fault.fault || fault.unit == PUMICE_UNIT_PM);
	return (enum pumice_fault)fault.fault;
}

static void no_change(struct pumice_free_list *list)
{
	(void)list;
}

static void frames_misaligned(struct pumice_free_list *list)
{
	list->frames += 4;
}

static void frames_at_the_end(struct pumice_free_list *list)
{
	list->frames = 0xfffff000;
}

static void frames_unmapped(struct pumice_free_list *list)
{
	list->frames = 0xf0000000;
}

static void base_inside_a_gib(struct pumice_free_list *list)
{
	list->base += 2u << 20;
}

static void already_partly_used(struct pumice_free_list *list)
{
	list->free--;
}

static void words_that_do_not_fit_are_refused(void **state)
{
	struct pb_fixture *fx = pbfx_create_tables(PAGES, 0);
	u64 frame;

	(void)state;
	assert_int_equal(use_list(fx, no_change), PUMICE_FAULT_NONE);
	assert_int_equal(use_list(fx, frames_misaligned), PUMICE_FAULT_PM_FREE_LIST);
	assert_int_equal(use_list(fx, frames_at_the_end), PUMICE_FAULT_PM_FREE_LIST);
	assert_int_equal(use_list(fx, frames_unmapped), PUMICE_FAULT_MMU_PC_INVALID);
	assert_int_equal(use_list(fx, base_inside_a_gib), PUMICE_FAULT_PM_FREE_LIST);
	assert_int_equal(use_list(fx, already_partly_used), PUMICE_FAULT_PM_FREE_LIST);
	/* The directory, a page table and a page at addresses that are none. */
	for (u32 page = 0; page < 3; page++) {
		frame = fx->frames[0][page];
		fx->frames[0][page] = frame | 8;
		assert_int_equal(use_list(fx, no_change), PUMICE_FAULT_PM_FREE_LIST);
		fx->frames[0][page] = frame | 1ull << 48;
		assert_int_equal(use_list(fx, no_change), PUMICE_FAULT_PM_FREE_LIST);
		fx->frames[0][page] = 0;	/* not written by the host */
		assert_int_equal(use_list(fx, no_change), PUMICE_FAULT_PM_FREE_LIST);
		fx->frames[0][page] = 1ull << 46;	/* no memory */
		assert_int_equal(use_list(fx, no_change), page < 2 ? PUMICE_FAULT_MMU_TABLE_BUS :
								   PUMICE_FAULT_NONE);
		fx->frames[0][page] = frame;
	}
	assert_int_equal(use_list(fx, no_change), PUMICE_FAULT_NONE);
	pbfx_destroy(fx);
}

/* A page table in the chain of free pages, or of a scene. */
static void links_to_page_tables_are_refused(void **state)
{
	struct pb_fixture *fx = pbfx_create_tables(PAGES, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	struct gpu_fault fault;
	u32 ref, i;

	(void)state;
	for (i = 0; i < BLOCK + 10; i++)
		assert_int_equal(pm_alloc(fx->pm, 0, &scene, 0, &ref, &fault), PM_OK);
	assert_true(pm_return(fx->pm, 0, &fault));
	fx->links[0][BLOCK] = fx->links[0][pbfx_read_chain(fx, 0, 0, 0).head];
	fx->links[0][pbfx_read_chain(fx, 0, 0, 0).head] = BLOCK;
	assert_false(pm_free_macro_tile(fx->pm, 0, &scene, 0, &fault));
	assert_int_equal(fault.fault, PUMICE_FAULT_PM_FREE_LIST);

	pbfx_list(fx, 0, PAGES, 0);
	pbfx_scene(fx, 0, &small);
	pm_reset(fx->pm);
	for (i = 0; i < BLOCK + 10; i++)
		assert_int_equal(pm_alloc(fx->pm, 0, &scene, 0, &ref, &fault), PM_OK);
	assert_true(pm_free_scene(fx->pm, &scene, &fault));
	/* The page table is between two free pages, so that only its number is wrong. */
	fx->links[0][BLOCK] = fx->links[0][pbfx_read_list(fx, 0).head];
	fx->links[0][pbfx_read_list(fx, 0).head] = BLOCK;
	assert_int_equal(pm_alloc(fx->pm, 0, &scene, 0, &ref, &fault), PM_FAULT);
	assert_int_equal(fault.fault, PUMICE_FAULT_PM_FREE_LIST);
	pbfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_mapped_exactly_while_they_are_allocated),
		cmocka_unit_test(other_units_fault_at_a_mapped_page),
		cmocka_unit_test(a_list_grows_by_pages_for_data),
		cmocka_unit_test(words_that_do_not_fit_are_refused),
		cmocka_unit_test(links_to_page_tables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
