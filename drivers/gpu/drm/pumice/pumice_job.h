/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One job, from the ioctl to its completion. */
#ifndef PUMICE_JOB_H
#define PUMICE_JOB_H

#include <drm/gpu_scheduler.h>
#include <drm/pumice_drm.h>

struct dma_fence;
struct pumice_context;
struct pumice_fence;
struct pumice_flip;
struct pumice_hwrt;
struct pumice_pair;
struct pumice_perfmon;
struct pumice_queue;

/*
 * Maximum number of jobs that one job waits for in the firmware; for further ones it waits
 * in the kernel. Those of the same SUBMIT always fit.
 */
#define PUMICE_MAX_GPU_DEPS	192u
/* In addition: jobs of the same SUBMIT, and the one that last rendered the scene. */
#define PUMICE_MAX_SIBLINGS	(DRM_PUMICE_MAX_JOBS + 1u)

/**
 * struct pumice_job - one job
 */
struct pumice_job {
	/** @base: scheduler's part */
	struct drm_sched_job base;
	/** @ctx: context; a reference */
	struct pumice_context *ctx;
	/** @queue: queue of @ctx */
	struct pumice_queue *queue;
	/** @fence: fence of the job in the firmware; a reference once @fenced */
	struct pumice_fence *fence;
	/** @node: in pumice_queue.in_flight or .refused, under the context's lock */
	struct list_head node;
	/** @perfmon: monitor that counts it; a reference, or NULL */
	struct pumice_perfmon *perfmon;
	/** @stream: GPU virtual address of the control stream, or of the render record */
	u64 stream;
	/** @render: for a geometry job: @stream of its fragment job */
	u64 render;
	/** @hwrt: data set of a render job; a reference, or NULL */
	struct pumice_hwrt *hwrt;
	/** @hwrt_data: index of the scene in @hwrt */
	u32 hwrt_data;
	/** @pair: for a render job; a reference, or NULL */
	struct pumice_pair *pair;
	/** @geometry: for a fragment job that is not armed: its geometry job */
	struct pumice_job *geometry;
	/** @flips: events of its presents, @flip_count entries, or NULL; see pumice_flip.c */
	struct pumice_flip **flips;
	/** @flip_count: presents that it announced */
	u32 flip_count;
	/** @flip_sent: events sent, the first of @flips; under the context's lock once armed */
	u32 flip_sent;
	/** @number: number in its context, from 1, in submission order; assigned when armed */
	u64 number;
	/** @submit_time: time of its submission to the firmware */
	ktime_t submit_time;
	/** @seqno: number among the firmware's jobs; for a refused job, that of its predecessor */
	u32 seqno;
	/** @before: for a submitted geometry job: see pumice_pair_note_submitted_locked() */
	u32 before;
	/** @suspect: see pumice_replay.c; under the context's lock */
	bool suspect;
	/** @error: for a job in pumice_queue.refused: error of its fence */
	int error;
	/** @ended: its result was noted; under the context's lock */
	bool ended;
	/** @armed: the scheduler's fences are initialised */
	bool armed;
	/** @queued: it is included in pumice_queue.queued */
	bool queued;
	/** @fenced: @fence is initialised */
	bool fenced;
	/**
	 * @sibling_deps: jobs of the same SUBMIT to wait for, by index; see
	 * pumice_job_add_siblings()
	 */
	u64 sibling_deps;
	/** @gpu_deps: "finished" fences of jobs of this GPU to wait for; a reference each */
	struct dma_fence **gpu_deps;
	/** @gpu_dep_count: number of entries in @gpu_deps */
	u32 gpu_dep_count;
	/** @gpu_dep_room: capacity of @gpu_deps */
	u32 gpu_dep_room;
};

static inline struct pumice_job *to_pumice_job(struct drm_sched_job *base)
{
	return container_of(base, struct pumice_job, base);
}

struct pumice_job *pumice_job_create(struct pumice_queue *q, u64 stream, u64 client);
void pumice_job_destroy(struct pumice_job *job);
int pumice_job_add_fence(struct pumice_job *job, struct dma_fence *fence);
int pumice_job_make_room(struct pumice_job *job);
void pumice_job_push(struct pumice_job *job);
void pumice_job_note_unqueued(struct pumice_job *job);
void pumice_job_add_siblings(struct pumice_job *job, struct pumice_job * const *jobs);
void pumice_job_arm_scene(struct pumice_job *job);

#endif
