// SPDX-License-Identifier: MIT
/* Fixture: a parameter buffer. See pbrig.h. */
#include "pbrig.h"

#include <stdlib.h>
#include <string.h>

#include "number.h"

#define PAGE	PUMICE_PM_PAGE_SIZE

static void low(void *opaque)
{
	((struct pbrig *)opaque)->lows++;
}

static u64 whole_pages(u64 bytes)
{
	return (bytes + PAGE - 1) & ~(u64)(PAGE - 1);
}

struct pbrig *pbrig_create(u32 max_pages0, u32 max_pages1)
{
	struct pbrig *rig = calloc(1, sizeof(*rig));
	const struct pm_config config = { .mmu = &rig->mmu, .low = low, .opaque = rig,
				       .inject = &rig->inject };
	u32 l, i;
	u8 *host;

	rig->seed = NUMBER_SEED;
	inject_init(&rig->inject);
	rig->max_pages[0] = max_pages0;
	rig->max_pages[1] = max_pages1;
	rig->tm = testmem_create((8ull << 20) + ((u64)max_pages0 + max_pages1) * 2 * PAGE);
	testmem_bind(rig->tm, &rig->mmu);
	host = testmem_map(rig->tm, 0, PBRIG_LIST(0), PAGE, PUMICE_PAGE_SIZE_4K, 0);
	for (l = 0; l < PUMICE_PM_LISTS; l++) {
		rig->list[l] = (u32 *)(void *)(host + l * 0x100);
		if (!rig->max_pages[l])
			continue;
		rig->links[l] = testmem_map(rig->tm, 0, PBRIG_LINKS(l),
					    whole_pages(rig->max_pages[l] * 4ull),
					    PUMICE_PAGE_SIZE_4K, 0);
		rig->pages[l] = testmem_map(rig->tm, PBRIG_CTX, PBRIG_BASE(l),
					    (u64)rig->max_pages[l] * PAGE, PUMICE_PAGE_SIZE_4K,
					    TESTMEM_PM);
		pbrig_list(rig, l, rig->max_pages[l], 0);
	}
	host = testmem_map(rig->tm, 0, PBRIG_SCENE(0), PBRIG_SCENES * PAGE, PUMICE_PAGE_SIZE_4K, 0);
	for (i = 0; i < PBRIG_SCENES; i++)
		rig->scene[i] = (u32 *)(void *)(host + i * PAGE);
	rig->regions = testmem_map(rig->tm, PBRIG_CTX, PBRIG_REGIONS, PBRIG_REGION_BYTES,
				   PUMICE_PAGE_SIZE_4K, TESTMEM_PM);
	rig->state = testmem_map(rig->tm, PBRIG_CTX, PBRIG_STATE, PAGE, PUMICE_PAGE_SIZE_4K, 0);
	rig->pm = pm_create(&config);
	assert_non_null(rig->pm);
	return rig;
}

void pbrig_destroy(struct pbrig *rig)
{
	pm_destroy(rig->pm);
	inject_destroy(&rig->inject);
	testmem_destroy(rig->tm);
	free(rig);
}

void pbrig_list(struct pbrig *rig, u32 l, u32 pages, u32 threshold)
{
	const struct pumice_free_list list = {
		.base = PBRIG_BASE(l), .pages = pages, .head = PUMICE_PM_NO_PAGE, .free = pages,
		.threshold = threshold, .max_pages = rig->max_pages[l], .links = PBRIG_LINKS(l),
		.least_free = pages,
	};

	pumice_free_list_pack(rig->list[l], &list);
	memset(rig->links[l], 0xee, rig->max_pages[l] * 4ul);
}

struct pumice_free_list pbrig_read_list(const struct pbrig *rig, u32 l)
{
	struct pumice_free_list list;

	assert_int_equal(pumice_free_list_unpack(rig->list[l], &list), PUMICE_UNPACK_OK);
	return list;
}

void pbrig_scene(struct pbrig *rig, u32 n, const struct pumice_scene *scene)
{
	const struct pumice_scene_chain none = {
		.head = PUMICE_PM_NO_PAGE, .tail = PUMICE_PM_NO_PAGE,
	};
	struct pumice_scene s = *scene;
	u32 i;

	s.regions = PBRIG_REGIONS;
	s.free_list0 = rig->max_pages[0] ? PBRIG_LIST(0) : 0;
	s.free_list1 = rig->max_pages[1] ? PBRIG_LIST(1) : 0;
	pumice_scene_pack(rig->scene[n], &s);
	for (i = 0; i < PM_MACRO_TILES * PUMICE_PM_LISTS; i++)
		pumice_scene_chain_pack(rig->scene[n] + PUMICE_SCENE_WORDS +
						i * PUMICE_SCENE_CHAIN_WORDS, &none);
}

struct pm_scene pbrig_load(struct pbrig *rig, u32 n, const struct pumice_scene *scene)
{
	struct pm_scene out;
	struct gpu_fault fault;

	pbrig_scene(rig, n, scene);
	assert_true(pm_scene_load(rig->pm, PBRIG_SCENE(n), PBRIG_CTX, &out, &fault));
	return out;
}

struct pumice_scene_chain pbrig_read_chain(const struct pbrig *rig, u32 n, u32 macro_tile, u32 l)
{
	struct pumice_scene_chain chain;

	pumice_scene_chain_unpack(rig->scene[n] + PUMICE_SCENE_WORDS +
					  (macro_tile * PUMICE_PM_LISTS + l) *
						  PUMICE_SCENE_CHAIN_WORDS, &chain);
	return chain;
}

u8 *pbrig_host(const struct pbrig *rig, u32 ref)
{
	struct pumice_pb_ref at;

	pumice_pb_ref_unpack(&ref, &at);
	assert_true((u64)at.offset * 16 < (u64)rig->max_pages[at.list] * PAGE);
	return rig->pages[at.list] + (u64)at.offset * 16;
}

u32 pbrig_random(struct pbrig *rig, u32 below)
{
	return number_random(&rig->seed, below);
}
