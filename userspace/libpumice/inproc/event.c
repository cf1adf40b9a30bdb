// SPDX-License-Identifier: MIT
/*
 * In-process backend: waiting for the GPU.
 *
 * Everything that may end a wait increments the event count: an
 * interrupt, or a signal from the CPU. A waiter reads the count,
 * checks its condition, and sleeps until the count changes. With
 * threads=0 no other thread runs the GPU, so the waiter does.
 */
#include <errno.h>
#include <time.h>

#include "inproc.h"

/* Time slice of the GPU in a waiter (threads=0), ns. */
#define POLL_BUDGET_NS	1000000u

/* Firmware that frees space in a ring need not notify the host: poll interval, ns. */
#define ROOM_PAUSE_NS	500000u

void event_init(struct inproc_device *d)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->event, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&d->event_lock, NULL);
}

void event_fini(struct inproc_device *d)
{
	pthread_cond_destroy(&d->event);
	pthread_mutex_destroy(&d->event_lock);
}

void event_raise(struct inproc_device *d)
{
	pthread_mutex_lock(&d->event_lock);
	d->events++;
	pthread_mutex_unlock(&d->event_lock);
	/* Without the lock, which a thread that wakes up needs at once. */
	pthread_cond_broadcast(&d->event);
}

u64 event_count(struct inproc_device *d)
{
	u64 count;

	pthread_mutex_lock(&d->event_lock);
	count = d->events;
	pthread_mutex_unlock(&d->event_lock);
	return count;
}

void event_lose(struct inproc_device *d, const char *why)
{
	struct inproc_context *c;

	d->lost = why;
	for (c = d->contexts; c; c = c->next) {
		/* Jobs that ended and flips that were reported before are not lost. */
		context_process(d, c);
		context_lose(d, c, PUMICE_CONTEXT_INNOCENT);
	}
}

void event_process(struct inproc_device *d)
{
	u32 status = (u32)pumice_gpu_mmio_read(d->gpu, d->os, PUMICE_OS_IRQ_STATUS, 4);
	struct inproc_context *c;
	const char *why;

	if (d->lost)
		return;
	/* Cleared before the events are read, so that later events raise it again. */
	if (status)
		pumice_gpu_mmio_write(d->gpu, d->os, PUMICE_OS_IRQ_CLEAR, status, 4);
	why = status & PUMICE_OS_IRQ_STATUS__LOCKUP__MASK ? "the firmware locked up" :
							     fw_stopped(d);
	if (why)
		event_lose(d, why);
	for (c = d->contexts; c; c = c->next)
		context_process(d, c);
	freelist_process(d);
	bind_process(d);
}

static struct timespec to_timespec(u64 ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };
}

/* Sleep until the count changes. Return: 0 or -ETIME. */
static int sleep_for_event(struct inproc_device *d, u64 seen, u64 deadline)
{
	const struct timespec until = to_timespec(deadline);
	int err = 0;

	pthread_mutex_lock(&d->event_lock);
	while (d->events == seen && !err) {
		if (deadline == PUMICE_FOREVER)
			pthread_cond_wait(&d->event, &d->event_lock);
		else if (pthread_cond_timedwait(&d->event, &d->event_lock, &until))
			err = -ETIME;
	}
	pthread_mutex_unlock(&d->event_lock);
	return err;
}

/* Run the GPU in this thread. Return: whether it has no work. */
static bool poll_gpu(struct inproc_device *d)
{
	u64 before;
	bool idle;

	virtual_run_lock(d);
	before = now_ns();
	idle = pumice_gpu_poll(d->gpu, POLL_BUDGET_NS) == UINT64_MAX;
	virtual_run_unlock(d);
	d->watched_ns += now_ns() - before;
	return idle;
}

static u64 earlier(u64 a, u64 b)
{
	return a < b ? a : b;
}

int event_wait(struct inproc_device *d, u64 seen, u64 deadline)
{
	bool idle = true, watch = watch_enabled(d) && d->jobs_done != d->jobs_submitted;
	bool look_again = d->no_room || d->no_room_to_kill || !fw_has_room(d);
	/* Then no thread of another virtual GPU need run what this one waits for. */
	bool run_again = !d->threads && d->oses > 1;
	u64 until = deadline;
	int err = 0;

	if (!d->threads)
		idle = poll_gpu(d);
	pthread_mutex_unlock(&d->lock);
	if (look_again)
		until = earlier(until, now_ns() + ROOM_PAUSE_NS);
	else if (watch || run_again)
		until = earlier(until, now_ns() + WATCH_PAUSE_NS);
	if (idle && event_count(d) == seen)
		err = sleep_for_event(d, seen, until);
	else if (deadline != PUMICE_FOREVER && now_ns() >= deadline)
		err = -ETIME;
	if (err && until != deadline && now_ns() < deadline)
		err = 0;
	pthread_mutex_lock(&d->lock);
	return err;
}
