/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests of PM, TA and IPF, a parameter buffer: guest memory mapped by the
 * real MMU, two free lists, scenes, region headers, and a PM.
 *
 *	struct pb_fixture *fx = pbfx_create(100, 0);
 *
 *	pbfx_scene(fx, 0, &(struct pumice_scene){ .width = 64, .height = 64, .cores = 1 });
 *	pm_scene_load(fx->pm, PBFX_SCENE(0), PBFX_CTX, &scene, &fault);
 *	pbfx_destroy(fx);
 */
#ifndef PUMICE_PB_FIXTURE_H
#define PUMICE_PB_FIXTURE_H

#include "../../../qemu-device/gpu/inject/inject.h"
#include "../../../qemu-device/gpu/pm/pm.h"
#include "../../../qemu-device/gpu/strict/owner.h"
#include "cmocka_all.h"
#include "testmem.h"
#include "testtrace.h"

#define PBFX_CTX	3u		/* of the job */
#define PBFX_SCENES	4u
#define PBFX_FINDINGS	8u

/* Context 0. */
#define PBFX_LIST(l)	(0x10000u + (l) * 0x100u)
#define PBFX_SCENE(n)	(0x20000ull + (n) * 0x1000u)
#define PBFX_LINKS(l)	(0x1000000u + (l) * 0x1000000u)
#define PBFX_FRAMES(l)	(0x4000000u + (l) * 0x1000000u)

/* Context of the job. */
#define PBFX_BASE(l)	(0x10000000ull + (l) * 0x100000000ull)
#define PBFX_TABLES_BASE(l)	(0x1000000000ull + (l) * 0x40000000ull)	/* of lists with tables */
#define PBFX_REGIONS	0x800000000ull
#define PBFX_REGION_BYTES	0x200000u
#define PBFX_STATE	0x900000000ull	/* ISP and TSP state */

struct pb_fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct inject inject;		/* injected faults */
	struct testtrace trace;		/* of the PM; disabled */
	struct owner owner;		/* of pages; off */
	struct strict_finding finding[PBFX_FINDINGS];
	u32 findings;
	struct pm *pm;
	u32 *list[PUMICE_PM_LISTS], *links[PUMICE_PM_LISTS];
	u32 *scene[PBFX_SCENES];
	u8 *pages[PUMICE_PM_LISTS];	/* the parameter buffer */
	u32 max_pages[PUMICE_PM_LISTS];
	bool tables;			/* the MMU maps the pages of lists */
	u64 *frames[PUMICE_PM_LISTS];	/* then: their bus addresses */
	u32 *regions, *state;
	unsigned int lows;		/* number of PM_LOW events */
	u64 seed;
};

/* Max_pages of either list, all of them present; 0: no such list. */
struct pb_fixture *pbfx_create(u32 max_pages0, u32 max_pages1);
/* Create the same with lists whose pages the MMU maps; their memory is in reverse order. */
struct pb_fixture *pbfx_create_tables(u32 max_pages0, u32 max_pages1);
void pbfx_destroy(struct pb_fixture *fx);

/* Return the GPU virtual address of a page. */
u64 pbfx_page_va(const struct pb_fixture *fx, u32 l, u32 page);

/* Write a new list with a number of pages, of its max_pages. */
void pbfx_list(struct pb_fixture *fx, u32 l, u32 pages, u32 threshold);
struct pumice_free_list pbfx_read_list(const struct pb_fixture *fx, u32 l);
/* Write a scene with empty chains; region headers and free lists are filled in. */
void pbfx_scene(struct pb_fixture *fx, u32 n, const struct pumice_scene *scene);
/* The same, and load it. */
struct pm_scene pbfx_load(struct pb_fixture *fx, u32 n, const struct pumice_scene *scene);
struct pumice_scene_chain pbfx_read_chain(const struct pb_fixture *fx, u32 n, u32 macro_tile,
					  u32 l);

/* Return the host pointer to an offset in the parameter buffer. */
u8 *pbfx_host(const struct pb_fixture *fx, u32 ref);

/* Return random numbers, the same in every run. */
u32 pbfx_random(struct pb_fixture *fx, u32 below);

#endif
