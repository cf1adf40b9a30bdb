// SPDX-License-Identifier: MIT
/*
 * In-process backend: the time-out of jobs, and the location of a job that runs.
 *
 * As in the kernel driver, a job that has had its data master for longer than the time-out is
 * killed, and its context accepts no further jobs. No thread exists for this: waits check it. They
 * also kill the rest of a context of which the firmware has killed one queue, as the driver does.
 *
 * Two times have to exceed the time-out: that on the data master, as the firmware reports it,
 * which leaves out other jobs, and that for which the library has watched the job. The second
 * leaves out the time for which the process was stopped or, with threads=0, ran no GPU.
 */
#include <errno.h>
#include <stdlib.h>

#include "inproc.h"
#include "pumice_isa_enums.h"
#include "times.h"

/* The longest time that counts as watched between two checks, ns. */
#define MAX_GAP_NS	(2 * WATCH_PAUSE_NS)

bool watch_enabled(const struct inproc_device *d)
{
	return d->job_timeout_ms && !d->first->debugged;
}

/*
 * Return the GPU clock ticks for which the job in progress had its data master and was not stopped;
 * 0 while the firmware writes the times.
 */
static u64 ran_ticks(struct inproc_device *d, const struct inproc_context *c)
{
	struct pumice_times times;

	if (!pumice_times_read(&c->shared->context, &times))
		return 0;
	return pumice_times_ran_itself(&times,
				       pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_CLOCK, 8));
}

/* Return whether the job in progress has exceeded the time-out. */
static bool expired(struct inproc_device *d, struct inproc_context *c)
{
	const u32 seqno = __atomic_load_n(&c->shared->context.job_seqno, __ATOMIC_RELAXED);

	if ((s32)(seqno - c->timeline->done) <= 0 || c->watch_seqno != seqno) {
		c->watch_seqno = seqno;
		c->watch_start = d->watched_ns;
		return false;
	}
	return d->watched_ns - c->watch_start >= d->job_timeout_ms * 1000000ull &&
	       ran_ticks(d, c) / (d->base.info.clock_hz / 1000) >= d->job_timeout_ms;
}

/* Without a reply: waiting for one would release the lock, and the list could change. */
static void send_kill(struct inproc_device *d, struct inproc_context *c)
{
	const struct fwif_kccb_cmd kill = {
		.type = FWIF_KCCB_CONTEXT_KILL,
		.context = c->buffer.addr + (u32)offsetof(struct context_shared, context),
	};

	fw_send(d, &kill);
}

/*
 * Kill the queues of a context; returns false if there is no room for the commands yet: then waits
 * look again, as no event may follow.
 */
static bool kill_queues(struct inproc_device *d, struct inproc_context *user)
{
	if (!fw_has_room_for(d, 2)) {
		d->no_room_to_kill = true;
		return false;
	}
	/* Fragment jobs before the geometry jobs that they depend on. */
	if (user->second)
		send_kill(d, user->second);
	send_kill(d, user);
	return true;
}

/* Kill a context because of the job in progress of one of its queues. */
static void kill_guilty(struct inproc_device *d, struct inproc_context *c)
{
	struct inproc_context *user = context_user(c);

	if (!kill_queues(d, user))
		return;
	c->timed_out = true;
	context_set_guilty(d, user);
	user->dead = true;
}

/* Kill the other queue of contexts of which the firmware has killed one by itself. */
static void kill_others(struct inproc_device *d)
{
	struct inproc_context *c;

	for (c = d->contexts; c; c = c->next)
		if (c->other_lives && kill_queues(d, c))
			c->other_lives = false;
}

void watch_jobs(struct inproc_device *d)
{
	u64 now = now_ns(), gap = now - d->watch_time;
	struct inproc_context *c;

	d->no_room_to_kill = false;
	if (d->lost)
		return;
	kill_others(d);
	if (!watch_enabled(d))
		return;
	d->watch_time = now;
	if (d->threads)
		d->watched_ns += gap < MAX_GAP_NS ? gap : MAX_GAP_NS;
	for (c = d->contexts; c; c = c->next)
		if (!context_user(c)->dead && expired(d, c))
			kill_guilty(d, c);
}

/* Return the unit that processes a job without waves in flight. */
static u32 unit_of(const struct inproc_context *c)
{
	static const u8 unit[FWIF_DM_COUNT] = {
		[FWIF_DM_CDM] = PUMICE_UNIT_CDM,
		[FWIF_DM_VDM] = PUMICE_UNIT_VDM,
		[FWIF_DM_PDM] = PUMICE_UNIT_ISP,
		[FWIF_DM_TDM] = PUMICE_UNIT_PTLA,
		[FWIF_DM_RDM] = PUMICE_UNIT_RDM,
	};

	return unit[c->shared->context.dm];
}

int inproc_job_running(struct pumice_context *base, struct pumice_job_result *result)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_context *queue;
	struct fwif_stuck stuck;
	int err = 0;

	pthread_mutex_lock(&d->lock);
	event_process(d);
	queue = dump_running((struct inproc_context *)base, &stuck);
	if (queue) {
		result->job = queue->number[queue->shared->context.job_seqno % RESULT_COUNT];
		result->unit = stuck.places ? PUMICE_UNIT_USC_CODE : unit_of(queue);
		context_add_places(&stuck, result);
	} else {
		err = -ENODATA;
	}
	pthread_mutex_unlock(&d->lock);
	return err;
}
