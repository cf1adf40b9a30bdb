/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* State shared by a geometry job and its fragment job. */
#ifndef PUMICE_PAIR_H
#define PUMICE_PAIR_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

struct dma_fence;
struct pumice_context;
struct pumice_job;
struct pumice_queue;

/**
 * struct pumice_pair - state shared by both jobs
 *
 * Neither job refers to the other once it is pushed: either may be freed first.
 */
struct pumice_pair {
	/** @ref: held by both jobs */
	struct kref ref;
	/** @fragment: queue of the fragment job; the jobs hold its context */
	struct pumice_queue *fragment;
	/** @credits: credits of the fragment job; constant once armed */
	u32 credits;
	/** @ended: "finished" fence of the fragment job; a reference once armed */
	struct dma_fence *ended;
	/** @refused: the geometry job was not submitted to the firmware; set before its end */
	bool refused;

	/* Under the context's lock: */
	/** @node: in pumice_queue.pairs while @promised */
	struct list_head node;
	/** @promised: @credits are reserved for the fragment job */
	bool promised;
	/** @submitted: the firmware has the geometry job, but not the fragment job yet */
	bool submitted;
	/** @over: the fragment job has completed, or will never begin */
	bool over;
};

struct pumice_pair *pumice_pair_create(struct pumice_context *ctx);
struct pumice_pair *pumice_pair_get(struct pumice_pair *pair);
void pumice_pair_put(struct pumice_pair *pair);
void pumice_pair_arm(struct pumice_job *fragment);
struct dma_fence *pumice_pair_promise(struct pumice_pair *pair);
u32 pumice_pair_note_submitted_locked(struct pumice_job *job);
bool pumice_pair_geometry_refused(const struct pumice_job *job);
void pumice_pair_end_locked(struct pumice_job *job);
void pumice_pair_end(struct pumice_job *job);
void pumice_pair_refuse(struct pumice_job *job);

#endif
