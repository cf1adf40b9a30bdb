/* SPDX-License-Identifier: MIT */
/*
 * libpumice, presents: copies by transfer jobs that end in a flip.
 *
 * The command of pumice_stream_present() copies a rectangle as pumice_stream_scale() does. When the
 * last byte of the copy is visible it reports a flip, with a frame number of the caller's, which
 * pumice_wait_flip() returns. Flips of one context are returned in the order of its jobs and their
 * commands. Those of different contexts may be returned in another order than they occurred:
 * compare gpu_ticks where that matters. There is no display yet.
 *
 * Errors, threads and lifetimes are as in pumice.h.
 */
#ifndef PUMICE_PUMICE_PRESENT_H
#define PUMICE_PUMICE_PRESENT_H

#include "pumice_gfx.h"

#ifdef __cplusplus
extern "C" {
#endif

/** PUMICE_MAX_PRESENTS - maximum number of presents of a job. */
#define PUMICE_MAX_PRESENTS	16u
/**
 * PUMICE_MAX_FLIPS - maximum number of flips of a device that are announced or not yet returned.
 */
#define PUMICE_MAX_FLIPS	64u

/**
 * pumice_stream_present - add a copy to a transfer stream that ends in a flip.
 * @src: surface to copy from
 * @dst: surface to copy to
 * @present: rectangles, filter and frame number; src and dst are set by the call
 *
 * Return: 0, -EINVAL for NULL, or -ENOSPC.
 */
int pumice_stream_present(struct pumice_stream *stream, const struct pumice_image *src,
			  const struct pumice_image *dst, const struct pumice_tdm_present *present);

/** struct pumice_present_job - a transfer job with presents. */
struct pumice_present_job {
	/** @context: a transfer context */
	struct pumice_context *context;
	/** @stream: GPU virtual address of the stream, from pumice_stream_tdm_end() */
	uint64_t stream;
	/** @syncs: waits and signals of the job, @sync_count of them; or NULL */
	const struct pumice_job_sync *syncs;
	/** @sync_count: number of @syncs */
	uint32_t sync_count;
	/** @perfmon: id of a monitor that counts the job, or 0 */
	uint32_t perfmon;
	/** @presents: presents of the stream, 1 to PUMICE_MAX_PRESENTS; a further one faults */
	uint32_t presents;
	/** @reserved: 0 */
	uint32_t reserved;
	/** @user_data: returned with each flip */
	uint64_t user_data;
};

/** pumice_present_job_init - initialise to a job with one present. */
void pumice_present_job_init(struct pumice_present_job *job, struct pumice_context *context,
			     uint64_t stream);

/**
 * pumice_submit_present - submit a transfer job with presents.
 * @job: job
 *
 * For each of its presents pumice_wait_flip() returns one flip: with an error for those that the
 * job did not run, so that none is missing.
 *
 * Return: 0; -EINVAL for NULL, a context of another type or no presents; -E2BIG for more than
 * PUMICE_MAX_PRESENTS; -ENOSPC if there would be more than PUMICE_MAX_FLIPS flips: call
 * pumice_wait_flip() first; or, as for other jobs, if the context has as many jobs as it can: wait
 * for one (pumice_device_error() is the reason);
 * -EOPNOTSUPP if GPU or driver have no presents; or as pumice_submit_gfx().
 */
int pumice_submit_present(const struct pumice_present_job *job);

/** struct pumice_flip - a flip. */
struct pumice_flip {
	/** @user_data: of the job */
	uint64_t user_data;
	/** @time_ns: CLOCK_MONOTONIC at which the kernel, or the library in process, received it */
	uint64_t time_ns;
	/** @gpu_ticks: GPU clock when the copy was complete; 0 with @error */
	uint64_t gpu_ticks;
	/** @va: GPU virtual address of the level and layer of the destination; 0 with @error */
	uint64_t va;
	/** @job: number of the job in its context, from 1 */
	uint64_t job;
	/** @context: pumice_context_id() of the context */
	uint32_t context;
	/** @frame: frame number of the command; 0 with @error */
	uint32_t frame;
	/** @error: 0 if the copy was made; else the negative errno of the job, or -ENODATA if it
	 * succeeded without the command */
	int32_t error;
	/** @reserved: 0 */
	uint32_t reserved;
};

/**
 * pumice_wait_flip - wait for the next flip of a device, and return it.
 * @timeout_ns: time to wait; 0 to return at once; PUMICE_FOREVER
 * @flip: out
 * @bytes: size of *flip, sizeof(struct pumice_flip)
 *
 * With a kernel driver flips are events of pumice_device_drm_fd(), which poll() reports; do not
 * read from it elsewhere. The poll() of a program reports POLLHUP when the GPU was removed and no
 * flip is left, from uapi 1.6 on; pumice_wait_flip() returns -ENODEV with older kernels as well.
 *
 * Return: 0; -ETIME if none occurred; -EINVAL for NULL; -ENODEV if the GPU was removed or is lost
 * and no flip is left; -EPROTO if the next event of pumice_device_drm_fd() is larger than a flip;
 * or another negative errno.
 */
int pumice_wait_flip(struct pumice_device *dev, uint64_t timeout_ns, struct pumice_flip *flip,
		     size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
