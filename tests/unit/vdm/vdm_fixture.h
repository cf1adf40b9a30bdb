/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests of the VDM: the real PDS on the fixture of tests/unit/pds, whose
 * USCs run a vertex program that is emulated here, a fake TA that records primitives, and
 * a fake PM with one scene.
 *
 * Cores and USCs are stepped in an order that depends on a seed.
 *
 * The vertex program writes its vertex and its instance number to VO0 and VO1, so that
 * primitives in the TA's list identify their vertices.
 */
#ifndef PUMICE_VDM_FIXTURE_H
#define PUMICE_VDM_FIXTURE_H

#include "../../../qemu-device/gpu/vdm/vdm.h"
#include "../pds/fixture.h"

#define VDMFX_SCENE	0x4000u
#define VDMFX_STREAM	FX_DATA
#define VDMFX_SUB	(FX_DATA + 0x400)	/* more stream */
#define VDMFX_STATE	(FX_DATA + 0x800)
#define VDMFX_COUNTS	(FX_DATA + 0x900)
#define VDMFX_INDICES	(FX_DATA + 0x1000)
#define VDMFX_INDEX_BYTES (FX_DATA_BYTES - 0x1000u)
#define VDMFX_PRIMS	65536u
#define VDMFX_TAG	0x700000009ull	/* job 7 of context 9 */

/* A primitive as passed to the TA. */
struct vdmfx_prim {
	u32 sequence;
	u8 kind;
	u32 vertex[3], instance[3];	/* those that it has; else 0 */
};

struct vdmfx_list {
	u32 count;
	struct vdmfx_prim prim[VDMFX_PRIMS];
};

struct vdm_fixture {
	struct fixture *base;
	struct vdm *vdm;
	unsigned int cores;
	unsigned int batch;	/* vertices of a task at most */
	u32 seed;
	bool awake[PUMICE_MAX_CORES];
	u32 abort_in;		/* unlocks of the VDM before the job is aborted; 0: not aborted */
	bool stop;		/* every step has to end as soon as possible, not just some */
	u64 clock;
	u32 tick;		/* ns that pass at each reading of the clock */

	/* Ends of jobs. */
	unsigned int ended[DM_MEMORY + 1];

	/* Scene of the PM. */
	struct pm_scene scene;
	struct pm_scene_state state;
	bool scene_bad, state_fails;	/* the next call faults */
	unsigned int begins, frees, free_pieces;

	/* TAs. */
	struct ta *ta[PUMICE_MAX_CORES];
	u32 pages;		/* room in primitives; UINT32_MAX: no limit */
	bool large;		/* they use much memory */
	u32 trims;		/* calls that request a TA to free memory */
	u32 fault_at;		/* primitive, over all, at which a TA faults; UINT32_MAX: none */
	u32 submitted;		/* primitives so far */
	u32 lists;		/* of primitives that the TA has processed as a whole */
	struct vdmfx_list list;	/* in tile lists now, core by core */
	struct vdmfx_list drawn;	/* by partial renders, then by the last */

	/* USCs. */
	u32 shaded[2];		/* lanes that ran: [1] by the coordinate program */
	u32 vo_words;		/* of the last task of a vertex program */
	u32 fault_task;		/* task that faults; UINT32_MAX: none */
	u32 tasks;
	u32 sequences;		/* of these, those without instances */
	u32 submitted_before[8];	/* value of submitted when the first of them ended */
	u32 dependent;		/* tasks of vertices from this number on fail the test, */
	u32 needs;		/* unless this number of those without instances has ended */
	u32 independent;	/* vertices from 1000 on that were shaded
				 * before the first of them */
};

struct vdm_fixture *vdmfx_create(unsigned int cores);
/* Create the same with a maximum number of vertices of a task: 16, or whole waves. */
struct vdm_fixture *vdmfx_create_batch(unsigned int cores, unsigned int batch);
/* Rows of the smallest VPM for the fixture's states: its ring has six units of seven outputs. */
#define VDMFX_MIN_ROWS	55u
/* The same with positions of a coordinate program, too: eleven words. */
#define VDMFX_MIN_CULL_ROWS	87u
/* Create the same with sizes of the VPM, in bytes, and of the IDX FIFO, in primitives. */
struct vdm_fixture *vdmfx_create_sizes(unsigned int cores, unsigned int batch, u32 vpm_bytes,
				       u32 idx);
/* Create the same with the usual sizes and this number of chunks in the FIFO of a core. */
struct vdm_fixture *vdmfx_create_fifo(unsigned int cores, u32 chunks);
void vdmfx_destroy(struct vdm_fixture *fx);

/* Stream and state. */
struct pumice_vdm_state vdmfx_state(bool coordinate);
void vdmfx_put_state(struct vdm_fixture *fx, const struct pumice_vdm_state *state);
/* Write words to an address of FX_DATA. */
void vdmfx_put(struct vdm_fixture *fx, u64 addr, const u32 *words, u32 count);
/* Write a stream of points 0, 1, 2...: the number of each is its position in the order. */
void vdmfx_put_points(struct vdm_fixture *fx, u32 count, bool coordinate);

/* Start the stream at VDMFX_STREAM. */
bool vdmfx_start(struct vdm_fixture *fx, u32 split);
/* Step a random unit that has work. Return false if none has. */
bool vdmfx_step(struct vdm_fixture *fx);
/* Run the task that started first, or last, to its end. Return false if none runs. */
bool vdmfx_end_oldest(struct vdm_fixture *fx);
bool vdmfx_end_newest(struct vdm_fixture *fx);
/* Step until no unit has work. */
void vdmfx_run(struct vdm_fixture *fx);
/* Render: draw primitives of sequences below the limit in order; free all. */
void vdmfx_render(struct vdm_fixture *fx);
/* Call with the device lock held. */
void vdmfx_call(struct vdm_fixture *fx, void (*call)(struct vdm *vdm));
const struct gpu_fault *vdmfx_fault(const struct vdm_fixture *fx);
u32 vdmfx_random(struct vdm_fixture *fx, u32 below);

#endif
