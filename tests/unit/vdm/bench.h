/* SPDX-License-Identifier: MIT */
/*
 * What a VDM needs around it in a test: the real PDS on the rig of tests/unit/pds,
 * whose USCs run a vertex program that this file plays, a TA that writes down what
 * it is given, and a PM that keeps one scene.
 *
 * Cores and USCs take turns in an order that a seed chooses.
 *
 * The vertex program puts its vertex and its instance number to VO0 and VO1; so
 * primitives in the TA's list name the vertices that they are made of.
 */
#ifndef PUMICE_VDM_BENCH_H
#define PUMICE_VDM_BENCH_H

#include "../../../qemu-device/gpu/vdm/vdm.h"
#include "../pds/rig.h"

#define BENCH_SCENE	0x4000u
#define BENCH_STREAM	RIG_DATA
#define BENCH_SUB	(RIG_DATA + 0x400)	/* more stream */
#define BENCH_STATE	(RIG_DATA + 0x800)
#define BENCH_COUNTS	(RIG_DATA + 0x900)
#define BENCH_INDICES	(RIG_DATA + 0x1000)
#define BENCH_INDEX_BYTES (RIG_DATA_BYTES - 0x1000u)
#define BENCH_PRIMS	65536u

/* A primitive as the TA was given it. */
struct bench_prim {
	u32 sequence;
	u8 kind;
	u32 vertex[3], instance[3];	/* those that it has; else 0 */
};

struct bench_list {
	u32 count;
	struct bench_prim prim[BENCH_PRIMS];
};

struct bench {
	struct rig *rig;
	struct vdm *vdm;
	unsigned int cores;
	u32 seed;
	bool awake[PUMICE_MAX_CORES];
	u32 abort_in;		/* the VDM unlocks before the job is aborted; 0: it is not */
	bool stop;		/* every step is to end as soon as it can, not just some */
	u64 clock;

	/* How jobs ended. */
	unsigned int ended[DM_MEMORY + 1];

	/* Scene, as the PM keeps it. */
	struct pm_scene scene;
	struct pm_scene_state state;
	bool scene_bad, state_fails;	/* to fault the next time */
	unsigned int begins, frees, free_pieces;

	/* TAs. */
	struct ta *ta[PUMICE_MAX_CORES];
	u32 pages;		/* primitives that there is room for; UINT32_MAX: no bound */
	bool large;		/* they hold much memory */
	u32 trims;		/* times that one was to give memory back */
	u32 fault_at;		/* primitive, over all, at which a TA faults; UINT32_MAX: none */
	u32 given;		/* primitives so far */
	struct bench_list list;	/* in tile lists now, core by core */
	struct bench_list drawn;	/* by partial renders, then by the last */

	/* USCs. */
	u32 shaded[2];		/* lanes that ran: [1] by the coordinate program */
	u32 fault_task;		/* task that faults; UINT32_MAX: none */
	u32 tasks;
};

struct bench *bench_create(unsigned int cores);
void bench_destroy(struct bench *b);

/* Stream and state. */
struct pumice_vdm_state bench_state(bool coordinate);
void bench_put_state(struct bench *b, const struct pumice_vdm_state *state);
/* Words to an address of RIG_DATA. */
void bench_put(struct bench *b, u64 addr, const u32 *words, u32 count);

/* Start the stream at BENCH_STREAM. */
bool bench_start(struct bench *b, u32 split);
/* One turn of somebody. False when nobody has anything to do. */
bool bench_turn(struct bench *b);
/* Until nobody has anything to do. */
void bench_run(struct bench *b);
/* What a render does: primitives of sequences below the limit are drawn in order; all are freed. */
void bench_render(struct bench *b);
/* One call with the device lock held. */
void bench_call(struct bench *b, void (*call)(struct vdm *vdm));
const struct gpu_fault *bench_fault(const struct bench *b);
u32 bench_random(struct bench *b, u32 below);

#endif
