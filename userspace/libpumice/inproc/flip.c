// SPDX-License-Identifier: MIT
/*
 * In-process backend: flips.
 *
 * As in the kernel driver each announced present has exactly one flip: the firmware's, or one with
 * an error when its job ends. Their number is bounded, so all have a place in the queue.
 */
#include <errno.h>

#include "inproc.h"

_Static_assert(PUMICE_MAX_FLIPS <= FWIF_FLIPS, "the firmware's ring holds all flips");
_Static_assert(PUMICE_MAX_PRESENTS == PUMICE_TDM_MAX_PRESENTS, "presents of a job");

int flip_reserve(struct inproc_device *d, u32 presents)
{
	if (presents > PUMICE_MAX_FLIPS - d->flips.reserved)
		return fail_no_flip_space(&d->base);
	d->flips.reserved += presents;
	return 0;
}

static void append(struct inproc_device *d, struct inproc_context *c, u32 seqno,
		   const struct fwif_flip *f, int error)
{
	struct flip_queue *q = &d->flips;
	struct job_flips *job = &c->flips[seqno % RESULT_COUNT];

	job->left--;
	q->flip[(q->first + q->count++) % PUMICE_MAX_FLIPS] = (struct pumice_flip){
		.user_data = job->user_data,
		.time_ns = now_ns(),
		.gpu_ticks = f->time,
		.va = f->addr,
		.job = c->number[seqno % RESULT_COUNT],
		.context = c->base.id,
		.frame = f->frame,
		.error = error,
	};
}

void flip_collect(struct inproc_device *d, struct inproc_context *c)
{
	const struct fwif_flips *flips = &c->shared->flips;
	u32 write = __atomic_load_n(&flips->write, __ATOMIC_ACQUIRE);
	const struct timeline *t = c->timeline;

	/* A count that cannot be right is ignored: the jobs' ends complete their flips. */
	if (write - c->flip_read > FWIF_FLIPS)
		return;
	while (c->flip_read != write) {
		const struct fwif_flip f = flips->flip[c->flip_read++ % FWIF_FLIPS];
		const bool pending = f.job - t->done - 1 < t->submitted - t->done;

		if (pending && c->flips[f.job % RESULT_COUNT].left)
			append(d, c, f.job, &f, 0);
	}
}

void flip_end(struct inproc_device *d, struct inproc_context *c, u32 seqno, int error)
{
	static const struct fwif_flip none;

	while (c->flips[seqno % RESULT_COUNT].left)
		append(d, c, seqno, &none, error ? error : -ENODATA);
}

/* Return: 0, or -EAGAIN if there is none. */
static int next_flip(struct inproc_device *d, struct pumice_flip *flip)
{
	struct flip_queue *q = &d->flips;

	if (!q->count)
		return d->lost ? fw_lost(d) : -EAGAIN;
	*flip = q->flip[q->first];
	q->first = (q->first + 1) % PUMICE_MAX_FLIPS;
	q->count--;
	q->reserved--;
	return 0;
}

int inproc_wait_flip(struct pumice_device *dev, u64 timeout_ns, struct pumice_flip *flip)
{
	struct inproc_device *d = inproc_device(dev);
	u64 now = timeout_ns ? now_ns() : 0, seen;
	u64 deadline = timeout_ns > PUMICE_FOREVER - now ? PUMICE_FOREVER : now + timeout_ns;
	int err, late = 0;

	pthread_mutex_lock(&d->lock);
	for (;;) {
		seen = event_count(d);
		event_process(d);
		watch_jobs(d);
		err = next_flip(d, flip);
		if (err != -EAGAIN || late)
			break;
		late = event_wait(d, seen, deadline);
	}
	pthread_mutex_unlock(&d->lock);
	return err == -EAGAIN ? -ETIME : err;
}
