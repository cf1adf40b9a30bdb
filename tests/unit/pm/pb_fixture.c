// SPDX-License-Identifier: MIT
/* Fixture: a parameter buffer. See pb_fixture.h. */
#include "pb_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "number.h"

#define PAGE	PUMICE_PM_PAGE_SIZE

static void low(void *opaque)
{
	((struct pb_fixture *)opaque)->lows++;
}

static void report(void *opaque, const struct strict_finding *finding)
{
	struct pb_fixture *fx = opaque;

	assert_true(fx->findings < PBFX_FINDINGS);
	fx->finding[fx->findings++] = *finding;
}

static u64 whole_pages(u64 bytes)
{
	return (bytes + PAGE - 1) & ~(u64)(PAGE - 1);
}

/* Allocate the pages of a list, and let the MMU map them: its directory is page 0. */
static void create_frames(struct pb_fixture *fx, u32 l)
{
	const u32 count = fx->max_pages[l];
	const u64 bus = testmem_alloc(fx->tm, (u64)count * PAGE, PAGE);
	const struct pumice_mmu_pc_entry pc = { .valid = true, .addr = bus + (count - 1) * PAGE };
	u32 i;

	fx->pages[l] = testmem_host(fx->tm, bus);
	memset(fx->pages[l], 0xa5, (u64)count * PAGE);
	fx->frames[l] = testmem_map(fx->tm, 0, PBFX_FRAMES(l), whole_pages(count * 8ull),
				    PUMICE_PAGE_SIZE_4K, 0);
	for (i = 0; i < count; i++)
		fx->frames[l][i] = bus + (u64)(count - 1 - i) * PAGE;
	*testmem_pc_entry(fx->tm, PBFX_CTX, PBFX_TABLES_BASE(l)) = pumice_mmu_pc_entry_pack64(&pc);
}

static struct pb_fixture *create(u32 max_pages0, u32 max_pages1, bool tables)
{
	struct pb_fixture *fx = calloc(1, sizeof(*fx));
	const struct pm_config config = { .mmu = &fx->mmu, .low = low, .opaque = fx,
				       .inject = &fx->inject, .trace = &fx->trace.trace,
				       .owner = &fx->owner };
	u32 l, i;
	u8 *host;

	fx->seed = NUMBER_SEED;
	fx->tables = tables;
	inject_init(&fx->inject);
	owner_init(&fx->owner, report, fx);
	fx->max_pages[0] = max_pages0;
	fx->max_pages[1] = max_pages1;
	fx->tm = testmem_create((8ull << 20) + ((u64)max_pages0 + max_pages1) * 2 * PAGE);
	testmem_bind(fx->tm, &fx->mmu);
	testtrace_open(&fx->trace, fx->tm, &fx->mmu);
	host = testmem_map(fx->tm, 0, PBFX_LIST(0), PAGE, PUMICE_PAGE_SIZE_4K, 0);
	for (l = 0; l < PUMICE_PM_LISTS; l++) {
		fx->list[l] = (u32 *)(void *)(host + l * 0x100);
		if (!fx->max_pages[l])
			continue;
		fx->links[l] = testmem_map(fx->tm, 0, PBFX_LINKS(l),
					   whole_pages(fx->max_pages[l] * 4ull),
					   PUMICE_PAGE_SIZE_4K, 0);
		if (tables)
			create_frames(fx, l);
		else
			fx->pages[l] = testmem_map(fx->tm, PBFX_CTX, PBFX_BASE(l),
						   (u64)fx->max_pages[l] * PAGE,
						   PUMICE_PAGE_SIZE_4K, TESTMEM_PM);
		pbfx_list(fx, l, fx->max_pages[l], 0);
	}
	host = testmem_map(fx->tm, 0, PBFX_SCENE(0), PBFX_SCENES * PAGE, PUMICE_PAGE_SIZE_4K, 0);
	for (i = 0; i < PBFX_SCENES; i++)
		fx->scene[i] = (u32 *)(void *)(host + i * PAGE);
	fx->regions = testmem_map(fx->tm, PBFX_CTX, PBFX_REGIONS, PBFX_REGION_BYTES,
				  PUMICE_PAGE_SIZE_4K, TESTMEM_PM);
	fx->state = testmem_map(fx->tm, PBFX_CTX, PBFX_STATE, PAGE, PUMICE_PAGE_SIZE_4K, 0);
	fx->pm = pm_create(&config);
	assert_non_null(fx->pm);
	return fx;
}

struct pb_fixture *pbfx_create(u32 max_pages0, u32 max_pages1)
{
	return create(max_pages0, max_pages1, false);
}

struct pb_fixture *pbfx_create_tables(u32 max_pages0, u32 max_pages1)
{
	return create(max_pages0, max_pages1, true);
}

u64 pbfx_page_va(const struct pb_fixture *fx, u32 l, u32 page)
{
	return (fx->tables ? PBFX_TABLES_BASE(l) : PBFX_BASE(l)) + (u64)page * PAGE;
}

void pbfx_destroy(struct pb_fixture *fx)
{
	pm_destroy(fx->pm);
	inject_destroy(&fx->inject);
	owner_destroy(&fx->owner);
	testmem_destroy(fx->tm);
	free(fx);
}

void pbfx_list(struct pb_fixture *fx, u32 l, u32 pages, u32 threshold)
{
	const struct pumice_free_list list = {
		.base = pbfx_page_va(fx, l, 0), .pages = pages, .head = PUMICE_PM_NO_PAGE,
		.free = pages,
		.threshold = threshold, .max_pages = fx->max_pages[l], .links = PBFX_LINKS(l),
		.min_free = pages, .frames = fx->tables ? PBFX_FRAMES(l) : 0,
	};

	pumice_free_list_pack(fx->list[l], &list);
	memset(fx->links[l], 0xee, fx->max_pages[l] * 4ul);
}

struct pumice_free_list pbfx_read_list(const struct pb_fixture *fx, u32 l)
{
	struct pumice_free_list list;

	assert_int_equal(pumice_free_list_unpack(fx->list[l], &list), PUMICE_UNPACK_OK);
	return list;
}

void pbfx_scene(struct pb_fixture *fx, u32 n, const struct pumice_scene *scene)
{
	const struct pumice_scene_chain none = {
		.head = PUMICE_PM_NO_PAGE, .tail = PUMICE_PM_NO_PAGE,
	};
	struct pumice_scene s = *scene;
	u32 i;

	s.regions = PBFX_REGIONS;
	s.free_list0 = fx->max_pages[0] ? PBFX_LIST(0) : 0;
	s.free_list1 = fx->max_pages[1] ? PBFX_LIST(1) : 0;
	pumice_scene_pack(fx->scene[n], &s);
	for (i = 0; i < PM_MACRO_TILES * PUMICE_PM_LISTS; i++)
		pumice_scene_chain_pack(fx->scene[n] + PUMICE_SCENE_WORDS +
						i * PUMICE_SCENE_CHAIN_WORDS, &none);
}

struct pm_scene pbfx_load(struct pb_fixture *fx, u32 n, const struct pumice_scene *scene)
{
	struct pm_scene out;
	struct gpu_fault fault;

	pbfx_scene(fx, n, scene);
	assert_true(pm_scene_load(fx->pm, PBFX_SCENE(n), PBFX_CTX, &out, &fault));
	return out;
}

struct pumice_scene_chain pbfx_read_chain(const struct pb_fixture *fx, u32 n, u32 macro_tile, u32 l)
{
	struct pumice_scene_chain chain;

	pumice_scene_chain_unpack(fx->scene[n] + PUMICE_SCENE_WORDS +
					  (macro_tile * PUMICE_PM_LISTS + l) *
						  PUMICE_SCENE_CHAIN_WORDS, &chain);
	return chain;
}

u8 *pbfx_host(const struct pb_fixture *fx, u32 ref)
{
	struct pumice_pb_ref at;

	pumice_pb_ref_unpack(&ref, &at);
	assert_true((u64)at.offset * 16 < (u64)fx->max_pages[at.list] * PAGE);
	if (!fx->tables)
		return fx->pages[at.list] + (u64)at.offset * 16;
	return (u8 *)testmem_host(fx->tm, fx->frames[at.list][at.offset / (PAGE / 16)]) +
	       at.offset % (PAGE / 16) * 16;
}

u32 pbfx_random(struct pb_fixture *fx, u32 below)
{
	return number_random(&fx->seed, below);
}
