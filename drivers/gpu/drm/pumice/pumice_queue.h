/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Submission of jobs from the scheduler to the firmware, with one queue per data master. */
#ifndef PUMICE_QUEUE_H
#define PUMICE_QUEUE_H

#include <drm/gpu_scheduler.h>

#include "fwif.h"
#include "pumice_formats.h"
#include "pumice_fw_mem.h"

struct pumice_context;
struct pumice_device;
struct pumice_file;
struct pumice_job;
struct pumice_pair;

/* Size of the client CCB, bytes; number of results, more than the jobs that fit into it. */
#define PUMICE_CCCB_BYTES	16384u
#define PUMICE_RESULT_COUNT	512u

/* Maximum number of queues of a context; indices of a render context's queues. */
#define PUMICE_CONTEXT_QUEUES	2u
#define PUMICE_QUEUE_GEOMETRY	0u
#define PUMICE_QUEUE_FRAGMENT	1u

/**
 * struct pumice_queue_shared - memory shared by a queue and the firmware
 */
struct pumice_queue_shared {
	struct fwif_context context;
	u8 cccb[PUMICE_CCCB_BYTES] __aligned(8);
	u32 save[PUMICE_CDM_SAVE_WORDS] __aligned(8);
	struct fwif_stuck stuck __aligned(8);
	struct fwif_flips flips __aligned(8);
	struct fwif_job_result results[PUMICE_RESULT_COUNT];
};

/**
 * struct pumice_queue - jobs of one context on one data master
 *
 * The firmware treats it as a context of its own. Lives as long as its context.
 */
struct pumice_queue {
	/** @ctx: context; constant */
	struct pumice_context *ctx;
	/** @dm: enum fwif_dm; constant */
	u32 dm;
	/** @id: the firmware's context id, below FWIF_MAX_CONTEXTS, until destroyed */
	u32 id;
	/** @charge: quota charge of @id */
	struct pumice_charge charge;
	/** @fence_context: fence context of struct pumice_fence; constant */
	u64 fence_context;
	/** @obj: memory of @shared, until destroyed */
	struct pumice_fw_obj *obj;
	/** @shared: shared with the firmware; under the context's lock */
	struct pumice_queue_shared *shared;
	/** @ufo: update object: number of the last completed job */
	struct pumice_fw_obj *ufo;

	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	/** @scheduled: @sched and @entity are initialised */
	bool scheduled;
	/** @queued: jobs pushed and not yet run or killed */
	atomic_t queued;

	/* Under the context's lock: */
	/** @write: offset in the client CCB, bytes */
	u32 write;
	/** @flip_read: flips of @shared that were read, wrapping */
	u32 flip_read;
	/** @seqno: number of the last job submitted to the firmware */
	u32 seqno;
	/** @in_flight: jobs that the firmware has, struct pumice_job.node, oldest first */
	struct list_head in_flight;
	/**
	 * @refused: jobs not submitted to the firmware, which wait for those @in_flight, struct
	 * pumice_job.node, oldest first; empty when @in_flight is
	 */
	struct list_head refused;
	/** @registered: the firmware has the queue */
	bool registered;
	/** @promised: for a fragment queue: credits reserved for the fragment jobs of @pairs */
	u32 promised;
	/** @awaited: fragment jobs not submitted yet whose geometry jobs the firmware got */
	u32 awaited;
	/** @pairs: pairs with reserved credits, struct pumice_pair.node, oldest first */
	struct list_head pairs;
	/** @busy_ticks: GPU clock ticks of completed jobs on the data master */
	u64 busy_ticks;
	/** @shown_ticks: maximum value that fdinfo has shown of it */
	u64 shown_ticks;

	/**
	 * @tick_end: end of the tick of the oldest job @in_flight, jiffies; see
	 * pumice_queue_restore_tick()
	 */
	unsigned long tick_end;

	/* Under reset.lock: */
	/** @ticks: consecutive checks at which the GPU was busy with the same job */
	u32 ticks;
	/** @tick_starts: jobs started and switched out, and partial renders, at the last check */
	u32 tick_starts;
};

const char *pumice_queue_name(u32 dm);
int pumice_queue_init(struct pumice_queue *q, struct pumice_file *file, struct pumice_context *ctx,
		      u32 dm);
void pumice_queue_release_shared(struct pumice_queue *q);
void pumice_queue_fini(struct pumice_queue *q);
u32 pumice_queue_memory(void);
u32 pumice_queue_credits(const struct pumice_queue *q, u32 waits);
bool pumice_queue_has_room(const struct pumice_queue *q, u32 credits);
u64 pumice_queue_live_ticks(const struct pumice_queue *q);
void pumice_queue_emit_locked(struct pumice_job *job);
int pumice_queue_kick_locked(struct pumice_queue *q);
void pumice_queue_renew_locked(struct pumice_queue *q, u32 ended);
void pumice_queue_start_tick_locked(struct pumice_queue *q);
void pumice_queue_process(struct pumice_context *ctx);
void pumice_queue_process_all(struct pumice_device *pdev);
void pumice_queue_cancel(struct pumice_context *ctx, int error);

#endif
