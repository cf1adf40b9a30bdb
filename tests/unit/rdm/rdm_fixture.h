/* SPDX-License-Identifier: MIT */
/*
 * Fixture for tests of the RDM: guest memory mapped by the real MMU, a control stream to write, and
 * in place of its neighbours a PDS and a ray tracing unit that record their calls.
 *
 * Tasks run until the test ends them. A call that the contract forbids fails the test: work with
 * the device lock held, a stage that is loaded twice or dropped while a task of it runs, a core
 * that is left without a claim that waits there, a query that is not the one that was interrupted.
 *
 *	struct rdm_fixture *fx = rdmfx_create();
 *
 *	put_state(fx, &(struct state){ .miss = true });
 *	put_launch(fx, RDMFX_BATCH, 2, RDMFX_RAYS);
 *	put_halt(fx);
 *	rdmfx_start(fx);
 *	rdmfx_run(fx);
 *	rdmfx_destroy(fx);
 */
#ifndef PUMICE_RDM_FIXTURE_H
#define PUMICE_RDM_FIXTURE_H

#include "../../../qemu-device/gpu/pds/gfx.h"
#include "../../../qemu-device/gpu/rdm/rdm.h"
#include "../../../qemu-device/gpu/rtu/rtu.h"
#include "cmocka_all.h"
#include "testmem.h"
#include "testtrace.h"

#define RDMFX_CTX	7u
#define RDMFX_STREAM	0x200000ull	/* a page */
#define RDMFX_RAYS	0x300000ull	/* a buffer of rays, whose first words are their numbers */
#define RDMFX_MAX_RAYS	1024u
#define RDMFX_TAG	0x700000005ull

#define RDMFX_CORES	3u
#define RDMFX_BATCH	64u	/* rays of a task: two waves */
#define RDMFX_TASKS	256u	/* that are recorded */

/* PDS programs of a state: each at the state's address plus its kind's. */
#define RDMFX_GENERATE	0x10u
#define RDMFX_HIT	0x20u
#define RDMFX_MISS	0x30u

/* A task that was claimed. */
struct fake_task {
	unsigned int core;
	u64 pds_addr;
	u32 count;
	const u32 *index;
	const struct pds_stage *stage;
	const struct usc_gfx *gfx;	/* once it was started, and */
	u64 uniforms;			/* from it */
	u32 uniform_words;
	bool running, aborted;
	u32 rows;	/* of outputs, until they are freed */
	u32 vo[RDMFX_BATCH * PUMICE_RT_RAY_REGS];
};

struct pds {
	/* Set by the test. */
	u32 room[RDMFX_CORES];	/* tasks that a core has room for */
	u32 pool_instances;	/* of a task that generates rays */
	bool endless;		/* programs end only when they are aborted */
	/* Called without the lock, before a claim, a start of a task, or freeing rows; or NULL. */
	void (*at_claim)(void), (*at_start)(void), (*at_free)(void);

	/* Recorded. */
	u32 loads, loaded;	/* stages: loaded in all, and not dropped */
	const struct pds_stage *loading;	/* after its first piece, or NULL */
	u32 used[RDMFX_CORES];	/* tasks that were claimed, and have not ended */
	bool waits[RDMFX_CORES];
	u32 leaves[RDMFX_CORES];
	struct fake_task task[RDMFX_TASKS];
	u32 tasks, running;
	const struct pds_task_ops *ops;
	void *opaque;
};

struct rdm_fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct testtrace trace;	/* disabled */
	u32 *stream, *rays;
	u64 at;			/* GPU virtual address where the next command is written */
	struct pds pds;
	struct rdm *rdm;

	/* The ray tracing unit. */
	bool all_miss;		/* else rays of odd numbers hit */
	u32 single;		/* lanes of a query that are each traced in a call of their own */
	u32 interrupted;	/* queries that were not done in one call */
	const u32 *query;	/* ray of the query that continues, or NULL */
	u32 query_lanes, query_left;

	u64 clock;
	bool locked, awake;
	bool stop;		/* steps end after one piece */
	unsigned int ended;
	enum dm_end end;	/* of the last job */
};

struct rdm_fixture *rdmfx_create(void);
void rdmfx_destroy(struct rdm_fixture *fx);

/* A STATE: its programs, and its uniforms. */
struct state {
	bool generate, hit, miss;
	u64 pds;	/* their address */
	u64 uniforms;
	u32 uniform_words;
};

/* Write a command at fx->at. */
void put_state(struct rdm_fixture *fx, const struct state *state);
void put_launch(struct rdm_fixture *fx, u32 width, u32 height, u64 rays);
void put_halt(struct rdm_fixture *fx);
/* A flush of data, with these bits besides. */
void put_flush(struct rdm_fixture *fx, u32 bits);

/* Start a job of the stream, which is written from its first word again afterwards. */
void rdmfx_start(struct rdm_fixture *fx);
/* Step the RDM if it was woken. */
bool rdmfx_step(struct rdm_fixture *fx);
/* Step it until it sleeps. */
void rdmfx_walk(struct rdm_fixture *fx);
/* End a task that runs, the oldest or the newest. Return false if there is none. */
bool rdmfx_finish(struct rdm_fixture *fx, bool newest);
/* Alternate between steps and ends of tasks until neither is possible; the job has ended. */
void rdmfx_run(struct rdm_fixture *fx);
void rdmfx_abort(struct rdm_fixture *fx);

#endif
