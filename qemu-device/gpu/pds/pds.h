/* SPDX-License-Identifier: MIT */
/*
 * Programmable data sequencer (PDS): turns work-groups into tasks.
 *
 * Source: document 000, "Programmable Data Sequencer". For each work-group it finds a USC
 * with room, allocates unified store, common store and local memory, runs the PDS
 * program once per task to fill the registers, and starts the group when it gets slots. A group
 * that can never fit is a fault; others wait for room.
 *
 * Each core has a PDS of its own, with its own lock, accounts, waiting data masters and sources of
 * their tasks, of compute too: cores do not wait for each other. This header is that of all of them
 * together.
 *
 * Locking: all functions are called with the device lock held, except those of pds_usc_ops and
 * those of a core's source of compute; they take the locks of the cores, which are inside. Only the
 * CDM calls the launch functions. Ends of groups, and of tasks of other data masters, take no
 * device lock: only a fault does.
 *
 * Tasks of the VDM, the PDM and the RDM: gfx.h. Limits apply to each data master separately.
 *
 * Limits: one launch is dispatched at a time; groups of earlier launches may still run in
 * parallel. Groups get slots of their USC in the order of dispatch.
 */
#ifndef PUMICE_GPU_PDS_H
#define PUMICE_GPU_PDS_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "../trace/trace.h"
#include "../usc/usc.h"
#include "pumice_formats.h"

#define PDS_MAX_USCS (PUMICE_MAX_CORES * PUMICE_MAX_USCS_PER_CORE)
#define PDS_MAX_PENDING 7u	/* groups without instances that have not ended */

struct pds;

/* A launch, validated by the CDM; read by the PDS for each of its groups. */
struct pds_launch {
	unsigned int ctx;		/* MMU context */
	struct pumice_cdm_state state;	/* resources and work-group size */
	struct pumice_cdm_launch grid;
	/*
	 * Its one group has no instances: it waits until all groups started before it have ended,
	 * and then ends. At most PDS_MAX_PENDING such groups have not ended.
	 */
	bool sequences;
};

enum pds_result {
	PDS_STARTED,	/* the task has room, or is filled */
	PDS_WAIT,	/* no room now; try again when a task is done */
	PDS_FAULT,	/* the reason is in *fault; stop the job */
	PDS_MORE,	/* a piece was done; call again with the same arguments */
};

/* Result of loading programs. */
enum pds_load_result {
	PDS_LOAD_FAULT,	/* all of *fault is filled in */
	PDS_LOADED,
	PDS_LOAD_MORE,	/* a piece was done; call again with the same arguments */
	PDS_LOAD_WAIT,	/* the same, after memory for programs may be available: usc_cache_ops */
};

struct pds_ops {
	/*
	 * No group is left, or one without instances has ended. No lock, or any: this may only wake
	 * a unit, which calls pds_groups() or pds_pending(). More groups may have been started
	 * since.
	 */
	void (*ended)(void *opaque);
	/* A group of the job faulted while it ran. Device lock held. */
	void (*fault)(void *opaque, const struct gpu_fault *fault);
	/*
	 * A core may have room for a group, after pds_groups_claim() has found none there. The
	 * core's lock is held, and the device lock or not: this may only wake a unit.
	 */
	void (*room)(void *opaque, unsigned int core);
};

struct pds_config {
	unsigned int uscs;		/* over all cores, at most PDS_MAX_USCS */
	unsigned int uscs_per_core;	/* 1 to PUMICE_MAX_USCS_PER_CORE */
	u32 tasks, slots, waves;	/* of one USC: tasks that it manages, those in slots */
	u32 batch;			/* most instances of a task of the VDM, PDM or RDM */
	/* uscs of them; the PDS keeps this pointer, and reads the array from the first launch. */
	struct usc *const *usc;
	u32 unified_bytes, common_bytes, local_bytes;	/* stores of one USC */
	u32 vpm_bytes;			/* VPM of one core */
	u32 slot_regs;			/* slot registers of a slot */
	enum pumice_output_store outputs;	/* COMMON or PARTITION */
	struct mmu *mmu;
	struct usc_program_cache *programs;
	void (*lock)(void *opaque);	/* the device lock */
	void (*unlock)(void *opaque);
	void (*wake_usc)(void *opaque, unsigned int usc);	/* the USC has work */
	u64 (*now)(void *opaque);	/* GPU clock */
	void *opaque;			/* of lock, unlock, wake_usc, now */
	struct trace *trace;		/* or NULL */
	const struct pds_ops *ops;
	void *ops_opaque;		/* of ops: the CDM, for cdm_pds_ops */
};

/*
 * Allocate a PDS for empty USCs. Stores are counted in whole rows: 128 bytes of unified store,
 * local memory or VPM, 4 bytes of common store. Returns NULL when out of memory or when there are
 * more USCs than PDS_MAX_USCS.
 */
struct pds *pds_create(const struct pds_config *config);
void pds_destroy(struct pds *pds);
/* Drop every group, without callbacks; the caller resets the USCs as well. */
void pds_reset(struct pds *pds);
/* The trace is about to begin: its events count from here. */
void pds_trace_begin(struct pds *pds);

/*
 * Begin a launch: check that one group can ever fit, fetch and check its PDS program and the
 * USC program that it starts. All results but PDS_LOAD_FAULT must be followed by
 * pds_launch_end() before the next launch begins.
 *
 * This function drops the device lock while it fetches and checks: state guarded by the lock may
 * change meanwhile, and the caller must check that the launch is still wanted. No other launch
 * function may be called meanwhile.
 */
enum pds_load_result pds_launch_begin(struct pds *pds, const struct pds_launch *launch,
				      struct gpu_fault *fault);
/*
 * Return the cost of starting one group of the launch, in units of an ordinary group's cost; at
 * least 1. Grows with the words that its PDS program writes. No lock.
 */
unsigned int pds_launch_cost(const struct pds *pds);
/* Return the waves of a group of the launch. */
u32 pds_launch_waves(const struct pds *pds);
/* Return the waves of all data masters on the USCs of a core, which may have changed meanwhile. */
u32 pds_core_waves(const struct pds *pds, unsigned int core);
/*
 * End the launch: its last group was started, or it is cancelled. Its running groups continue. No
 * source has groups that are not started.
 */
void pds_launch_end(struct pds *pds);

/*
 * The source of compute of each core starts groups of the launch on the core's USCs: it claims room
 * for some, fills them one after the other, and starts them. The following functions are called by
 * one thread at a time for each core, with locks outside of the core's, but without the device
 * lock.
 */

/*
 * Claim room for up to most groups. Returns their number; 0: the CDM waits for room on the core,
 * until pds_groups_leave() or the end of the launch.
 */
u32 pds_groups_claim(struct pds *pds, unsigned int core, u32 most);
/*
 * Fill the next one of these groups: id is its work-group id, base included; linear its number in
 * the grid, x fastest. A group that is slow to fill is filled in pieces. No lock.
 */
enum pds_result pds_group_fill(struct pds *pds, unsigned int core, const u32 id[3], u64 linear,
			       struct gpu_fault *fault);
/*
 * Start the groups that are filled: they run, or wait for slots or other groups. Drop the others.
 * Returns the number of those started.
 */
u32 pds_groups_start(struct pds *pds, unsigned int core);
/* Drop them all. */
void pds_groups_drop(struct pds *pds, unsigned int core);
/* The source starts no group for a while: other data masters may use room of the core. */
void pds_groups_leave(struct pds *pds, unsigned int core);

/* Stop every work-group of the CDM that was started; each still ends. */
void pds_abort(struct pds *pds);
/*
 * Work-groups of the CDM that were started on all USCs and have not ended. They end meanwhile; if
 * there are none, all effects of their ends are visible.
 */
unsigned int pds_groups(const struct pds *pds);
/* Of these, groups without instances; the same. */
unsigned int pds_pending(const struct pds *pds);
/* Work-groups of the CDM with instances that have ended since pds_reset(). */
u64 pds_done(const struct pds *pds);

/*
 * Control of resources: values of the registers of unit PDS. Limits are for one USC; 0 is no
 * limit. They apply to groups that start later.
 */
struct pds_dm_control {
	u32 tasks, unified_bytes, common_bytes;
};
struct pds_control {
	bool out_of_order;	/* CDM only; tasks of other data masters release at once */
	u32 tasks, unified_bytes, common_bytes, local_bytes;	/* of the CDM */
	struct pds_dm_control vdm, pdm, rdm;
	enum pumice_dms_policy policy;
};
void pds_set_control(struct pds *pds, const struct pds_control *control);
const struct pds_control *pds_control(const struct pds *pds);

/* Occupancy over all USCs, now. */
struct pds_load {
	u32 tasks;	/* in slots */
	u32 held;	/* of these, ended tasks that wait for release in order */
	u32 waves;	/* in flight */
	u32 peak_tasks;	/* maximum of tasks since pds_reset_peak() */
	u32 vpm_rows;	/* in use, over all cores */
	u32 output_bytes;	/* of stores, that pixel outputs of tiles have */
	u32 peak_output_bytes;	/* maximum since pds_reset_peak_outputs() */
};
void pds_load(const struct pds *pds, struct pds_load *load);
void pds_reset_peak(struct pds *pds);
void pds_reset_peak_outputs(struct pds *pds);

/* Add the counters PDS_* to value[], by enum pumice_perf_counter. */
void pds_counters_add(const struct pds *pds, u64 *value);

/* The USCs' ops; opaque is the PDS. A fault of a work-group takes the device lock. */
extern const struct usc_ops pds_usc_ops;

#endif
