// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Flips: events of DRM files for the commands PRESENT of transfer jobs.
 *
 * A job announces its commands. For each of them SUBMIT reserves an event, which the file's owner
 * receives exactly once: when the firmware reports the flip, else with an error when the job ends.
 * So an event is not lost for lack of memory or space, and a process that waits for one does
 * not wait for ever. Nothing here allocates where a fence waits.
 *
 * The space of a file for events, of which unread ones are a part, bounds the flips that a
 * context has in the firmware: its ring cannot overflow.
 *
 * When the device is removed, jobs end and send their remaining events; poll() reports EPOLLHUP
 * when none follows.
 *
 * A file may be closed before: the DRM core then frees events that can be read, and
 * drm_send_event() the others.
 */
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/pumice_drm.h>

#include "pumice_context.h"
#include "pumice_device.h"
#include "pumice_events.h"
#include "pumice_flip.h"
#include "pumice_fw.h"
#include "pumice_job.h"
#include "pumice_queue.h"
#include "pumice_regs.h"
#include "pumice_reset.h"

/* Space for events of a file: drm_file_alloc(). */
#define EVENT_SPACE	4096

static_assert(EVENT_SPACE / sizeof(struct drm_pumice_event_flip) <= FWIF_FLIPS);
static_assert(DRM_PUMICE_MAX_PRESENTS == PUMICE_TDM_MAX_PRESENTS);

/**
 * struct pumice_flip - one event
 */
struct pumice_flip {
	/** @base: DRM core's part, first: the core frees it */
	struct drm_pending_event base;
	/** @event: contents */
	struct drm_pumice_event_flip event;
};

static_assert(offsetof(struct pumice_flip, base) == 0);

/**
 * pumice_flip_supported - check whether device and firmware have flips
 * @pdev: device, with firmware
 *
 * Context: Any.
 *
 * Return: true if a job may announce presents.
 */
bool pumice_flip_supported(const struct pumice_device *pdev)
{
	return pumice_device_supports(pdev, FWIF_FLIPS_SINCE_MAP, FWIF_FLIPS_SINCE);
}

/* Create one event with space in the file. Returns -ENOSPC if there is none. */
static int flip_add(struct pumice_job *job, struct drm_file *file, u64 user_data)
{
	struct pumice_flip *flip = kzalloc(sizeof(*flip), GFP_KERNEL_ACCOUNT);

	if (!flip)
		return -ENOMEM;
	flip->event.base.type = DRM_PUMICE_EVENT_FLIP;
	flip->event.base.length = sizeof(flip->event);
	flip->event.user_data = user_data;
	if (drm_event_reserve_init(&job->ctx->pdev->drm, file, &flip->base, &flip->event.base)) {
		kfree(flip);
		return -ENOSPC;
	}
	job->flips[job->flip_count++] = flip;
	return 0;
}

/**
 * pumice_flip_reserve - reserve the events that a job announces
 * @job: job, not armed
 * @file: file that receives them
 * @args: arguments of the job
 *
 * Context: May sleep. Acquires the device's event_lock.
 *
 * Return: 0; -E2BIG above DRM_PUMICE_MAX_PRESENTS; -EINVAL for padding, data without presents, or a
 * context of another type; -EOPNOTSUPP if device or firmware have no flips; -ENOSPC if the file has
 * no space for the events; or -ENOMEM. pumice_flip_release() frees those that were reserved.
 */
int pumice_flip_reserve(struct pumice_job *job, struct drm_file *file,
			const struct drm_pumice_job *args)
{
	int ret = 0;
	u32 i;

	if (args->presents > DRM_PUMICE_MAX_PRESENTS)
		return -E2BIG;
	if (args->pad ||
	    (!args->presents && args->present_data) ||
	    (args->presents && job->queue->dm != FWIF_DM_TDM))
		return -EINVAL;
	if (!args->presents)
		return 0;
	if (!pumice_flip_supported(job->ctx->pdev))
		return -EOPNOTSUPP;
	job->flips = kcalloc(args->presents, sizeof(*job->flips), GFP_KERNEL_ACCOUNT);
	if (!job->flips)
		return -ENOMEM;
	for (i = 0; i < args->presents && !ret; i++)
		ret = flip_add(job, file, args->present_data);
	return ret;
}

/* Send the next event of a job. The DRM core owns it then. */
static void flip_send_locked(struct pumice_job *job, const struct fwif_flip *f, int error)
{
	struct pumice_flip *flip = job->flips[job->flip_sent++];
	struct drm_pumice_event_flip *event = &flip->event;

	lockdep_assert_held(&job->ctx->lock);
	event->time_ns = ktime_get_ns();
	event->gpu_ticks = f->time;
	event->address = f->addr;
	event->frame = f->frame;
	event->job = job->number;
	event->context = job->ctx->id;
	event->error = error;
	trace_pumice_flip(job->queue->id, job->seqno, f, error);
	drm_send_event(&job->ctx->pdev->drm, &flip->base);
}

static struct pumice_job *flip_job_locked(struct pumice_queue *q, u32 seqno)
{
	struct pumice_job *job;

	lockdep_assert_held(&q->ctx->lock);
	list_for_each_entry(job, &q->in_flight, node)
		if (job->seqno == seqno)
			return job;
	return NULL;
}

/**
 * pumice_flip_collect_locked - send events of the flips that the firmware has reported
 * @q: queue, under its context's lock
 *
 * Call after reading the queue's update object, and before completing the jobs that it has
 * reached: all their flips were reported before.
 */
void pumice_flip_collect_locked(struct pumice_queue *q)
{
	const struct fwif_flips *flips = &q->shared->flips;
	u32 write = READ_ONCE(flips->write);
	struct pumice_job *job;
	struct fwif_flip f;

	lockdep_assert_held(&q->ctx->lock);
	if (write - q->flip_read > FWIF_FLIPS) {
		drm_err_ratelimited(&q->ctx->pdev->drm,
				    "context %u: firmware reports %u flips at once, maximum %u\n",
				    q->id, write - q->flip_read, FWIF_FLIPS);
		q->flip_read = write;
		pumice_reset_schedule(q->ctx->pdev);
		return;
	}
	dma_rmb(); /* read the index before the flips that it publishes */
	while (q->flip_read != write) {
		pumice_copy_once(&f, &flips->flip[q->flip_read % FWIF_FLIPS], sizeof(f));
		q->flip_read++;
		job = flip_job_locked(q, f.job);
		if (job && job->flip_sent < job->flip_count)
			flip_send_locked(job, &f, 0);
	}
}

/**
 * pumice_flip_end_locked - send the remaining events of a job that has ended
 * @job: job, under its context's lock
 * @error: error of its fence
 */
void pumice_flip_end_locked(struct pumice_job *job, int error)
{
	static const struct fwif_flip none;

	lockdep_assert_held(&job->ctx->lock);
	while (job->flip_sent < job->flip_count)
		flip_send_locked(job, &none, error ?: -ENODATA);
}

/**
 * pumice_flip_release - free the events of a job that were not sent
 * @job: job that is being freed; if it was armed, after pumice_flip_end_locked()
 *
 * Context: Acquires the device's event_lock.
 */
void pumice_flip_release(struct pumice_job *job)
{
	struct drm_file *file = NULL;

	while (job->flip_sent < job->flip_count) {
		struct drm_pending_event *event = &job->flips[job->flip_sent++]->base;

		/* The job was not armed: its SUBMIT, a call on this file, has not returned. */
		file = event->file_priv;
		drm_event_cancel_free(&job->ctx->pdev->drm, event);
	}
	if (file)
		wake_up_interruptible(&file->event_wait); /* see flip_none_follow() */
	kfree(job->flips);
}

/* Return true if the device was removed and no event of the file is announced that was not sent. */
static bool flip_none_follow(struct drm_file *file)
{
	struct drm_device *drm = file->minor->dev;
	bool none;

	if (!drm_dev_is_unplugged(drm))
		return false;
	spin_lock_irq(&drm->event_lock);
	none = list_empty(&file->pending_event_list);
	spin_unlock_irq(&drm->event_lock);
	return none;
}

/**
 * pumice_flip_poll - implement poll() of a file
 * @filp: file
 * @wait: poll table
 *
 * The DRM core's poll() waits for ever for events of a device that was removed.
 *
 * Context: May sleep. Acquires the device's event_lock.
 *
 * Return: EPOLLIN if an event can be read, EPOLLHUP if none follows because the device was removed.
 */
__poll_t pumice_flip_poll(struct file *filp, struct poll_table_struct *wait)
{
	__poll_t mask = drm_poll(filp, wait);

	/* The last event may have been sent after the first look. */
	if (flip_none_follow(filp->private_data))
		mask = drm_poll(filp, NULL) | EPOLLHUP;
	return mask;
}

/**
 * pumice_flip_wake_all - have all callers of poll() notice that the device was removed
 * @pdev: device, unplugged
 *
 * Context: May sleep. Acquires the device's filelist_mutex.
 */
void pumice_flip_wake_all(struct pumice_device *pdev)
{
	struct drm_file *file;

	mutex_lock(&pdev->drm.filelist_mutex);
	list_for_each_entry(file, &pdev->drm.filelist, lhead)
		wake_up_interruptible(&file->event_wait);
	mutex_unlock(&pdev->drm.filelist_mutex);
}
