// SPDX-License-Identifier: MIT
/*
 * Workers: queue of units and threads that run them. See workers.h.
 *
 * The end of a step is the only event that is waited for: quiesce and park set the stop flags
 * of running units and sleep until their step counters have changed. The flag is cleared when
 * the unit is claimed for its next step, under the lock, so no request is lost.
 */
#include "workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Minimum sleep for a deadline: the clock may differ from the host's. */
#define MIN_SLEEP_NS	20000u
/* Maximum, so that a distant deadline does not overflow. */
#define MAX_SLEEP_NS	1000000000u

/*
 * Time that a thread without work polls before it sleeps: a job passes from unit to unit
 * within microseconds, and waking a sleeping thread takes longer. One thread at a time polls;
 * the others sleep at once.
 */
#define SPIN_NS		20000u
#define SPIN_LOOKS	16u	/* polls between two reads of the clock */

#define NO_UNIT		WORKERS_MAX_UNITS

/* Guarded by workers.lock, except stop and awake. */
struct unit {
	struct workers_unit cfg;
	bool queued, running;
	bool again;		/* woken during the step; valid while running */
	_Atomic bool awake;	/* woken, and not claimed since: another wake-up may only change
				 * the place in the queue. Read without the lock */
	unsigned int next;	/* in the queue, or NO_UNIT */
	u64 steps;		/* steps that have ended */
	u64 deadline;
	_Atomic bool stop;
};

#define DEFERRED_WORDS	((WORKERS_MAX_UNITS + 63) / 64)

struct thread {
	struct workers *w;
	unsigned int number;
	pthread_t id;
	/* Of the thread itself: wake-ups that its step defers, see workers_unit.defer. */
	enum workers_defer defer;
	u64 deferred[DEFERRED_WORDS];	/* a bit a unit */
};

struct workers {
	/* Configuration. */
	unsigned int threads, units;
	u64 (*now)(void *opaque);
	void *now_opaque;
	void (*kick)(void *opaque);
	void *kick_opaque;
	void (*thread_start)(void *opaque);
	void (*thread_end)(void *opaque);
	void *thread_opaque;
	struct thread thread[WORKERS_MAX_THREADS];

	/* Guards the following fields. */
	pthread_mutex_t lock;
	pthread_cond_t work;	/* queue, deadlines, parks or exit changed */
	pthread_cond_t ended;	/* a step ended */
	unsigned int started;	/* threads to join */
	unsigned int idle;	/* threads that wait on work */
	unsigned int parks;
	bool exit, polling;
	bool spinning;		/* a thread polls for work, and was not stopped */
	_Atomic u32 spin_stops;	/* changes when the polling thread is stopped; read without the
				 * lock */
	unsigned int head, tail;	/* queue of units */
	unsigned int skips;	/* units dequeued before the head since it became the head */
	struct unit unit[WORKERS_MAX_UNITS];
};

/* The caller, if it is a thread of workers. */
static _Thread_local struct thread *current_thread;

static void enqueue(struct workers *w, unsigned int index, bool first)
{
	struct unit *u = &w->unit[index];

	u->queued = true;
	if (w->head == NO_UNIT) {
		u->next = NO_UNIT;
		w->head = w->tail = index;
	} else if (first) {
		u->next = w->head;
		w->head = index;
	} else {
		u->next = NO_UNIT;
		w->unit[w->tail].next = index;
		w->tail = index;
	}
}

/* Make a queued unit the head. */
static void advance(struct workers *w, unsigned int index)
{
	unsigned int before;

	if (w->head == index)
		return;
	for (before = w->head; w->unit[before].next != index; before = w->unit[before].next)
		continue;
	w->unit[before].next = w->unit[index].next;
	if (w->tail == index)
		w->tail = before;
	enqueue(w, index, true);
}

/* Queue the unit: while it runs, when its step has ended. */
static void make_runnable(struct workers *w, unsigned int index)
{
	struct unit *u = &w->unit[index];

	if (u->running)
		u->again = true;
	else if (!u->queued)
		enqueue(w, index, u->cfg.urgent);
	else if (u->cfg.urgent)
		advance(w, index);
}

static u64 earliest_deadline(const struct workers *w)
{
	u64 first = WORKERS_NEVER;
	unsigned int i;

	for (i = 0; i < w->units; i++)
		if (w->unit[i].deadline < first)
			first = w->unit[i].deadline;
	return first;
}

/* Queue the units whose deadline has passed. Returns ns until the next, or WORKERS_NEVER. */
static u64 check_deadlines(struct workers *w)
{
	u64 first = earliest_deadline(w), now;
	unsigned int i;

	if (first == WORKERS_NEVER)
		return first;
	now = w->now(w->now_opaque);
	if (first > now)
		return first - now;
	for (i = 0; i < w->units; i++) {
		if (w->unit[i].deadline > now)
			continue;
		w->unit[i].deadline = WORKERS_NEVER;
		make_runnable(w, i);
	}
	first = earliest_deadline(w);
	return first == WORKERS_NEVER ? first : first - now;
}

static bool is_home(const struct workers *w, unsigned int index, unsigned int thread)
{
	const unsigned int home = w->unit[index].cfg.home;

	return !home || home % w->threads == thread;
}

/*
 * Return the unit in the queue before the one for the thread to run; NO_UNIT: the head is
 * next.
 */
static unsigned int before_next(const struct workers *w, unsigned int thread)
{
	unsigned int before = NO_UNIT, index = w->head;

	if (!w->threads || w->skips >= WORKERS_MAX_SKIPS)
		return NO_UNIT;
	while (index != NO_UNIT && !is_home(w, index, thread)) {
		before = index;
		index = w->unit[index].next;
	}
	return index == NO_UNIT ? NO_UNIT : before;
}

/* Remove the first unit from the queue, or the one after another. */
static unsigned int dequeue(struct workers *w, unsigned int before)
{
	unsigned int *link = before == NO_UNIT ? &w->head : &w->unit[before].next;
	const unsigned int index = *link;

	*link = w->unit[index].next;
	if (w->tail == index)
		w->tail = before;
	w->skips = before == NO_UNIT ? 0 : w->skips + 1;
	return index;
}

/* Claim the next unit for a step; NO_UNIT when none may run. */
static unsigned int claim(struct workers *w, unsigned int thread)
{
	unsigned int index;
	struct unit *u;

	if (w->parks || w->head == NO_UNIT)
		return NO_UNIT;
	index = dequeue(w, before_next(w, thread));
	u = &w->unit[index];
	u->queued = false;
	u->running = true;
	u->again = false;
	/* An exchange: the step sees all stores before each wake-up that was not needed. */
	atomic_exchange(&u->awake, false);
	atomic_store(&u->stop, false);
	return index;
}

/* Make the polling thread check the queue. False when there is none. */
static bool stop_spinning(struct workers *w)
{
	bool spinning = w->spinning;

	w->spinning = false;
	if (spinning)
		atomic_fetch_add_explicit(&w->spin_stops, 1, memory_order_relaxed);
	return spinning;
}

/*
 * Find a thread for work: one that polls, an idle one, or for urgent work one whose step is stopped
 * early. Returns true for an idle one, which the caller signals, without the lock if possible: a
 * thread that wakes up needs it at once.
 */
static bool find_thread(struct workers *w, bool urgent)
{
	unsigned int i;

	if (stop_spinning(w))
		return false;
	if (w->idle)
		return true;
	for (i = 0; urgent && i < w->units; i++) {
		if (w->unit[i].running && !w->unit[i].cfg.urgent) {
			atomic_store(&w->unit[i].stop, true);
			break;
		}
	}
	return false;
}

/* Queue a unit that was woken, and find a thread for it as find_thread() does; the lock is held. */
static bool wake_locked(struct workers *w, unsigned int unit)
{
	struct unit *u = &w->unit[unit];
	const bool queued = u->queued;

	make_runnable(w, unit);
	/*
	 * The thread of a step that runs continues with the unit: no other is needed. One that is
	 * queued had a step: it stops none, so that others have whole steps in between, however
	 * often a guest wakes it.
	 */
	return !w->parks && !u->running && find_thread(w, u->cfg.urgent && !queued);
}

/* Return whether a thread whose step defers wake-ups defers that of a unit. */
static bool is_deferred(const struct workers *w, const struct thread *self, unsigned int unit)
{
	return self->defer == WORKERS_DEFER_ALL ||
	       (w->unit[unit].cfg.home && is_home(w, unit, self->number));
}

/*
 * Defer a wake-up by this thread's step. Returns false if the unit is to be woken now. A unit whose
 * wake-up is deferred is not awake: other threads may wake it at once.
 */
static bool defer_wake(const struct workers *w, unsigned int unit)
{
	struct thread *self = current_thread;

	if (!self || self->w != w || !self->defer || !is_deferred(w, self, unit))
		return false;
	self->deferred[unit / 64] |= 1ull << unit % 64;
	return true;
}

/* Queue the units whose wake-ups a step deferred: its thread checks the queue next; lock held. */
static void queue_deferred(struct workers *w, struct thread *self)
{
	unsigned int n, unit;

	self->defer = WORKERS_DEFER_NONE;
	for (n = 0; n < DEFERRED_WORDS; n++) {
		for (; self->deferred[n]; self->deferred[n] &= self->deferred[n] - 1) {
			unit = n * 64 + (unsigned int)__builtin_ctzll(self->deferred[n]);
			if (!atomic_exchange(&w->unit[unit].awake, true))
				make_runnable(w, unit);
		}
	}
}

/* Run one step of a claimed unit; called and returns with the lock held. self: NULL if polled. */
static void run_step(struct workers *w, struct thread *self, unsigned int index)
{
	struct unit *u = &w->unit[index];
	bool more;

	if (self)
		self->defer = w->threads > 1 ? u->cfg.defer : WORKERS_DEFER_NONE;
	pthread_mutex_unlock(&w->lock);
	more = u->cfg.step(u->cfg.opaque, u->cfg.index, &u->stop);
	pthread_mutex_lock(&w->lock);
	if (self)
		queue_deferred(w, self);
	u->running = false;
	u->steps++;
	/*
	 * No signal: this thread checks the queue next. A unit that only continues is queued
	 * after the others, urgent or not.
	 */
	if (more || u->again)
		enqueue(w, index, !more && u->cfg.urgent);
	pthread_cond_broadcast(&w->ended);
}

static u64 host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static void relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/*
 * Poll for work without the lock; called and returns with it held. Returns true when it was
 * stopped because there may be work; false when there was none, or when another thread polls
 * already.
 */
static bool spin_for_work(struct workers *w)
{
	u32 seen = atomic_load_explicit(&w->spin_stops, memory_order_relaxed);
	bool found = false;
	u64 end;

	if (w->spinning || w->parks)
		return false;
	w->spinning = true;
	pthread_mutex_unlock(&w->lock);
	end = host_ns() + SPIN_NS;
	while (!found && host_ns() < end) {
		sched_yield();
		for (u32 i = 0; i < SPIN_LOOKS && !found; i++) {
			relax();
			found = atomic_load_explicit(&w->spin_stops, memory_order_relaxed) != seen;
		}
	}
	pthread_mutex_lock(&w->lock);
	/* It may have been stopped since the last poll. */
	found = atomic_load_explicit(&w->spin_stops, memory_order_relaxed) != seen;
	if (!found)
		w->spinning = false;
	return found;
}

/* Sleep until work is signalled, at most ns. */
static void sleep_for_work(struct workers *w, u64 ns)
{
	struct timespec until;

	if (spin_for_work(w))
		return;
	w->idle++;
	if (ns == WORKERS_NEVER) {
		pthread_cond_wait(&w->work, &w->lock);
	} else {
		if (ns < MIN_SLEEP_NS)
			ns = MIN_SLEEP_NS;
		if (ns > MAX_SLEEP_NS)
			ns = MAX_SLEEP_NS;
		clock_gettime(CLOCK_MONOTONIC, &until);
		ns += (u64)until.tv_nsec;
		until.tv_sec += (time_t)(ns / 1000000000u);
		until.tv_nsec = (long)(ns % 1000000000u);
		pthread_cond_timedwait(&w->work, &w->lock, &until);
	}
	w->idle--;
}

static void *thread_main(void *arg)
{
	struct thread *self = arg;
	struct workers *w = self->w;

	current_thread = self;
	if (w->thread_start)
		w->thread_start(w->thread_opaque);
	pthread_mutex_lock(&w->lock);
	while (!w->exit) {
		/* While parked the clock may be stopped: no deadlines then. */
		u64 ns = w->parks ? WORKERS_NEVER : check_deadlines(w);
		unsigned int index = claim(w, self->number);

		if (index == NO_UNIT) {
			sleep_for_work(w, ns);
			continue;
		}
		/* Units that a step left in the queue, for another thread. */
		if (w->head != NO_UNIT && find_thread(w, false))
			pthread_cond_signal(&w->work);
		run_step(w, self, index);
	}
	pthread_mutex_unlock(&w->lock);
	if (w->thread_end)
		w->thread_end(w->thread_opaque);
	return NULL;
}

/* Notify the caller of workers_poll(), after the lock was dropped. */
static void kick_poller(struct workers *w, bool kick)
{
	if (kick && w->kick)
		w->kick(w->kick_opaque);
}

void workers_wake(struct workers *w, unsigned int unit)
{
	struct unit *u = &w->unit[unit];
	bool kick, signal;

	if (defer_wake(w, unit))
		return;
	/* An urgent unit may be queued after others since its step ended. */
	if (atomic_exchange(&u->awake, true) && !u->cfg.urgent)
		return;
	pthread_mutex_lock(&w->lock);
	signal = wake_locked(w, unit);
	kick = !w->threads && !w->polling && !w->parks;
	pthread_mutex_unlock(&w->lock);
	if (signal)
		pthread_cond_signal(&w->work);
	kick_poller(w, kick);
}

static void set_deadline(struct workers *w, unsigned int unit, u64 deadline, bool replace)
{
	bool kick, signal = false;

	pthread_mutex_lock(&w->lock);
	if (replace || deadline < w->unit[unit].deadline)
		w->unit[unit].deadline = deadline;
	if (deadline != WORKERS_NEVER)
		signal = find_thread(w, false);
	kick = !w->threads && !w->polling && !w->parks && deadline != WORKERS_NEVER;
	pthread_mutex_unlock(&w->lock);
	if (signal)
		pthread_cond_signal(&w->work);
	kick_poller(w, kick);
}

void workers_set_deadline(struct workers *w, unsigned int unit, u64 deadline)
{
	set_deadline(w, unit, deadline, true);
}

void workers_add_deadline(struct workers *w, unsigned int unit, u64 deadline)
{
	set_deadline(w, unit, deadline, false);
}

void workers_clear(struct workers *w)
{
	unsigned int i;

	pthread_mutex_lock(&w->lock);
	w->head = w->tail = NO_UNIT;
	w->skips = 0;
	for (i = 0; i < w->units; i++) {
		w->unit[i].queued = false;
		w->unit[i].deadline = WORKERS_NEVER;
		atomic_store(&w->unit[i].awake, false);
	}
	pthread_mutex_unlock(&w->lock);
}

/*
 * Queue the units whose wake-ups the caller's step deferred: it may wait for long. Those that
 * follow are deferred again. The lock is held.
 */
static void queue_before_wait(struct workers *w)
{
	struct thread *self = current_thread;
	enum workers_defer defer;

	if (!self || self->w != w || !self->defer)
		return;
	defer = self->defer;
	queue_deferred(w, self);
	self->defer = defer;
	if (w->head != NO_UNIT && find_thread(w, false))
		pthread_cond_signal(&w->work);
}

void workers_quiesce(struct workers *w, unsigned int self)
{
	u64 steps[WORKERS_MAX_UNITS];
	unsigned int i;

	pthread_mutex_lock(&w->lock);
	queue_before_wait(w);
	for (i = 0; i < w->units; i++) {
		/* A step that begins from now on observes what the caller wrote before. */
		steps[i] = w->unit[i].running ? w->unit[i].steps : UINT64_MAX;
		if (w->unit[i].running && i != self)
			atomic_store(&w->unit[i].stop, true);
	}
	for (i = 0; i < w->units; i++)
		while (i != self && w->unit[i].running && w->unit[i].steps == steps[i])
			pthread_cond_wait(&w->ended, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

void workers_park_others(struct workers *w, unsigned int self)
{
	unsigned int i;

	/* No unit starts while parked: deferred wake-ups remain so. */
	pthread_mutex_lock(&w->lock);
	w->parks++;
	for (i = 0; i < w->units; i++)
		if (w->unit[i].running && i != self)
			atomic_store(&w->unit[i].stop, true);
	for (i = 0; i < w->units; i++)
		while (i != self && w->unit[i].running)
			pthread_cond_wait(&w->ended, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

void workers_park(struct workers *w)
{
	workers_park_others(w, WORKERS_OUTSIDE);
}

void workers_unpark(struct workers *w)
{
	bool kick;

	pthread_mutex_lock(&w->lock);
	w->parks--;
	if (!w->parks) {
		stop_spinning(w);
		pthread_cond_broadcast(&w->work);
	}
	kick = !w->threads && !w->polling && !w->parks &&
	       (w->head != NO_UNIT || earliest_deadline(w) != WORKERS_NEVER);
	pthread_mutex_unlock(&w->lock);
	kick_poller(w, kick);
}

u64 workers_poll(struct workers *w, u64 budget_ns)
{
	u64 steps = budget_ns / WORKERS_QUANTUM_NS + 1;
	u64 ns = WORKERS_NEVER;

	pthread_mutex_lock(&w->lock);
	w->polling = true;
	while (!w->parks) {
		unsigned int index;

		ns = check_deadlines(w);
		if (w->head == NO_UNIT)
			break;
		ns = 0;
		if (!steps--)
			break;
		index = claim(w, 0);
		run_step(w, NULL, index);
	}
	if (w->parks)
		ns = WORKERS_NEVER;
	w->polling = false;
	pthread_mutex_unlock(&w->lock);
	return ns;
}

static bool start_threads(struct workers *w)
{
	sigset_t all, old;
	bool ok = true;

	/* Signals are handled by the host program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (ok && w->started < w->threads) {
		struct thread *thread = &w->thread[w->started];
		char name[16];

		*thread = (struct thread){ .w = w, .number = w->started };
		ok = !pthread_create(&thread->id, NULL, thread_main, thread);
		if (!ok)
			break;
		snprintf(name, sizeof(name), "pumice/%u", thread->number % 100);
		pthread_setname_np(thread->id, name);
		w->started++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}

static void init_locks(struct workers *w)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, &attr);
	pthread_cond_init(&w->ended, NULL);
	pthread_condattr_destroy(&attr);
}

struct workers *workers_create(const struct workers_config *config)
{
	struct workers *w = calloc(1, sizeof(*w));
	unsigned int i;

	if (!w)
		return NULL;
	w->threads = config->threads;
	w->units = config->units;
	w->now = config->now;
	w->now_opaque = config->now_opaque;
	w->kick = config->kick;
	w->kick_opaque = config->kick_opaque;
	w->thread_start = config->thread_start;
	w->thread_end = config->thread_end;
	w->thread_opaque = config->thread_opaque;
	w->head = w->tail = NO_UNIT;
	for (i = 0; i < w->units; i++) {
		w->unit[i].cfg = config->unit[i];
		w->unit[i].next = NO_UNIT;
		w->unit[i].deadline = WORKERS_NEVER;
	}
	init_locks(w);
	if (!start_threads(w)) {
		workers_destroy(w);
		return NULL;
	}
	return w;
}

void workers_destroy(struct workers *w)
{
	unsigned int i;

	if (!w)
		return;
	workers_park(w);
	pthread_mutex_lock(&w->lock);
	w->exit = true;
	stop_spinning(w);
	pthread_cond_broadcast(&w->work);
	pthread_mutex_unlock(&w->lock);
	for (i = 0; i < w->started; i++)
		pthread_join(w->thread[i].id, NULL);
	pthread_cond_destroy(&w->work);
	pthread_cond_destroy(&w->ended);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
