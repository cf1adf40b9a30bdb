/* SPDX-License-Identifier: MIT */
/*
 * Programmable data sequencer (PDS): turns work-groups into tasks.
 *
 * Source: document 000, "Programmable Data Sequencer". For each work-group it
 * finds a USC with room, allocates slots, unified store, common store and local
 * memory, runs the PDS program once per task to fill the registers, and starts
 * the group. A group that can never fit is a fault; one that must wait waits.
 *
 * Locking: all functions are called with the device lock held, except
 * pds_group_done() and pds_fault(), which take it (they are the USCs' ops).
 */
#ifndef PUMICE_GPU_PDS_H
#define PUMICE_GPU_PDS_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "../usc/usc.h"
#include "pumice_formats.h"

struct pds;

/* One launch, checked by the CDM; read by the PDS for every group of it. */
struct pds_launch {
	unsigned int ctx;		/* MMU context */
	struct pumice_cdm_state state;	/* resources and work-group size */
	struct pumice_cdm_launch grid;
};

enum pds_result {
	PDS_STARTED,	/* the group runs */
	PDS_WAIT,	/* no room now; try again when a group is done */
	PDS_FAULT,	/* *fault says why; the job is to be stopped */
};

/* Called by the PDS with the device lock held. */
struct pds_ops {
	/* A group of the job left; there may be room now. */
	void (*group_done)(void *opaque);
	/* A group of the job faulted while it ran. */
	void (*fault)(void *opaque, const struct gpu_fault *fault);
};

struct pds_config {
	unsigned int uscs;		/* over all cores */
	struct usc *const *usc;		/* uscs of them */
	u32 unified_bytes, common_bytes, local_bytes;	/* stores of one USC */
	struct mmu *mmu;
	struct usc_program_cache *programs;
	void (*lock)(void *opaque);	/* the device lock */
	void (*unlock)(void *opaque);
	void (*wake_usc)(void *opaque, unsigned int usc);	/* the USC has work */
	const struct pds_ops *ops;
	void *opaque;			/* of all the above */
};

struct pds *pds_create(const struct pds_config *config);
void pds_destroy(struct pds *pds);
/* Forget every group; the USCs are reset beside it. */
void pds_reset(struct pds *pds);

/*
 * A launch begins: fetch, check and decode its PDS program and check that one
 * group can ever fit. False with *fault on refusal.
 */
bool pds_launch_begin(struct pds *pds, const struct pds_launch *launch, struct gpu_fault *fault);
/* Start one group of the launch begun last; linear is x fastest. */
enum pds_result pds_group(struct pds *pds, const u32 id[3], u64 linear, struct gpu_fault *fault);
/* Stop every running group; group_done still comes for each. */
void pds_abort(struct pds *pds);
/* Groups and tasks on all USCs. */
unsigned int pds_groups(const struct pds *pds);
unsigned int pds_tasks(const struct pds *pds);

/* The USCs' ops; opaque is the PDS. They take the device lock. */
extern const struct usc_ops pds_usc_ops;

#endif
