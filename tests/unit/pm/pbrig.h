/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests of PM, TA and IPF, a parameter buffer: guest memory mapped by the
 * real MMU, two free lists, scenes, region headers, and a PM.
 *
 *	struct pbrig *rig = pbrig_create(100, 0);
 *
 *	pbrig_scene(rig, 0, &(struct pumice_scene){ .width = 64, .height = 64, .cores = 1 });
 *	pm_scene_load(rig->pm, PBRIG_SCENE(0), PBRIG_CTX, &scene, &fault);
 *	pbrig_destroy(rig);
 */
#ifndef PUMICE_PBRIG_H
#define PUMICE_PBRIG_H

#include "../../../qemu-device/gpu/inject/inject.h"
#include "../../../qemu-device/gpu/pm/pm.h"
#include "cmocka_all.h"
#include "testmem.h"

#define PBRIG_CTX	3u		/* of the job */
#define PBRIG_SCENES	4u

/* Context 0. */
#define PBRIG_LIST(l)	(0x10000u + (l) * 0x100u)
#define PBRIG_SCENE(n)	(0x20000ull + (n) * 0x1000u)
#define PBRIG_LINKS(l)	(0x1000000u + (l) * 0x1000000u)

/* Context of the job. */
#define PBRIG_BASE(l)	(0x10000000ull + (l) * 0x100000000ull)
#define PBRIG_REGIONS	0x800000000ull
#define PBRIG_REGION_BYTES	0x200000u
#define PBRIG_STATE	0x900000000ull	/* ISP and TSP state */

struct pbrig {
	struct testmem *tm;
	struct mmu mmu;
	struct inject inject;		/* injected faults */
	struct pm *pm;
	u32 *list[PUMICE_PM_LISTS], *links[PUMICE_PM_LISTS];
	u32 *scene[PBRIG_SCENES];
	u8 *pages[PUMICE_PM_LISTS];	/* the parameter buffer */
	u32 max_pages[PUMICE_PM_LISTS];
	u32 *regions, *state;
	unsigned int lows;		/* number of PM_LOW events */
	u64 seed;
};

/* Max_pages of either list, all of them present; 0: no such list. */
struct pbrig *pbrig_create(u32 max_pages0, u32 max_pages1);
void pbrig_destroy(struct pbrig *rig);

/* Write a new list with a number of pages, of its max_pages. */
void pbrig_list(struct pbrig *rig, u32 l, u32 pages, u32 threshold);
struct pumice_free_list pbrig_read_list(const struct pbrig *rig, u32 l);
/* Write a scene with empty chains; region headers and free lists are filled in. */
void pbrig_scene(struct pbrig *rig, u32 n, const struct pumice_scene *scene);
/* The same, and load it. */
struct pm_scene pbrig_load(struct pbrig *rig, u32 n, const struct pumice_scene *scene);
struct pumice_scene_chain pbrig_read_chain(const struct pbrig *rig, u32 n, u32 macro_tile, u32 l);

/* Host pointer to an offset in the parameter buffer. */
u8 *pbrig_host(const struct pbrig *rig, u32 ref);

/* Random numbers, the same in every run. */
u32 pbrig_random(struct pbrig *rig, u32 below);

#endif
