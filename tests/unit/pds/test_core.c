// SPDX-License-Identifier: MIT
/*
 * The PDS of a core: tasks of a core take its lock and no other, work-groups end without the device
 * lock, and data masters that use one core from threads of their own get resources of their own.
 * Groups that threads end at the same time are in order.
 */
#include "stage_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "../../../qemu-device/gpu/pds/state.h"
#include "perf.h"

#define PER_CORE	FX_USCS_PER_CORE
#define TASKS		1200000u	/* claims of each thread */
#define HELD		6u	/* tasks that a thread holds at a time at most */
#define INSTANCES	100u
#define WAVES		4u	/* of a task with this number of instances */

static const struct pumice_stage registers = { .temps = 4, .coeffs = 8 };

static void tasks_take_no_device_lock(void **state)
{
	struct stage_tasks *t = stage_tasks_create(2, NULL, &registers);
	struct pds_place place;
	unsigned int locks, i;

	(void)state;
	locks = t->fx->locks;
	for (i = 0; stage_task_start(t, PDS_DM_VDM, 0, INSTANCES, &place) == PDS_STARTED; i++)
		;
	assert_true(i > PER_CORE);
	fx_finish_oldest(t->fx);
	assert_int_equal(t->owner[PDS_DM_VDM].room[0], 1);
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 0, INSTANCES, 1, &place), PDS_STARTED);
	pds_task_drop(t->fx->pds, &place);
	assert_int_equal(t->fx->locks, locks);
	stage_tasks_destroy(t);
}

/* Start groups of a launch until one waits; without instances, one. */
static u32 start_groups(struct fixture *fx, bool sequences)
{
	struct pds_launch launch = fx_launch(INSTANCES, 1, 1);
	u32 n;

	launch.sequences = sequences;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	for (n = 0; !(sequences && n) && fx_group(fx, n, 0, 0, n) == PDS_STARTED; n++)
		;
	fx_end(fx);
	return n;
}

/* Also an end after which one without instances starts, and the end of that, which is the last. */
static void compute_ends_take_no_device_lock(void **state)
{
	struct fixture *fx = fx_create(2 * PER_CORE, NULL);
	const u32 groups = start_groups(fx, false);
	u32 locks, n;

	(void)state;
	assert_true(groups > 2 * PER_CORE);
	fx_finish_oldest(fx);
	assert_int_equal(start_groups(fx, true), 1);
	assert_int_equal(pds_pending(fx->pds), 1);
	assert_int_equal(pds_groups(fx->pds), groups);
	locks = fx->locks;
	for (n = 1; n < groups; n++) {
		assert_int_equal(pds_done(fx->pds), n);
		assert_int_equal(fx->ends, 0);
		assert_true(fx_finish_oldest(fx));
	}
	assert_int_equal(pds_done(fx->pds), groups);
	assert_int_equal(pds_pending(fx->pds), 1);
	assert_true(fx_finish_oldest(fx));
	assert_int_equal(pds_pending(fx->pds), 0);
	assert_int_equal(pds_groups(fx->pds), 0);
	assert_int_equal(fx->ends, 1);
	assert_int_equal(fx->locks, locks);
	fx_destroy(fx);
}

/* ------------------------------------------------------------ the order of groups, two threads */

#define HOLDS		40000u	/* groups without instances */
#define EACH		3u	/* groups before each of them, at most */
#define GROUPS		(HOLDS * EACH)

/* Groups are numbered in the order of their start; even ones are ended by one thread. */
struct dispatch {
	struct pds_order order;
	u32 epoch[GROUPS];
	_Atomic u32 started;	/* groups of which the epoch is valid */
	u32 before[HOLDS];	/* groups that were started before a group without instances */
	_Atomic u32 ended[2];	/* groups of each thread */
	u32 resolved;		/* groups without instances; order's lock */
	u32 wrong;		/* that were resolved too early or out of order; likewise */
};

struct ender {
	struct dispatch *d;
	u32 number;
	pthread_t thread;
};

static u32 ended_before(struct dispatch *d)
{
	const u32 even = atomic_load(&d->ended[0]), odd = atomic_load(&d->ended[1]);

	/* Groups before the first one that has not ended. */
	return even <= odd ? 2 * even : 2 * odd + 1;
}

/* Remove groups without instances that may end, and end them. */
static void resolve(struct dispatch *d)
{
	struct pds_place place;

	pthread_mutex_lock(&d->order.lock);
	while (pds_order_resolve(&d->order, &place)) {
		d->wrong += place.group != d->resolved ||
			    ended_before(d) < d->before[place.group];
		d->resolved++;
		pds_order_leave(&d->order, place.group + 1, 1);
	}
	pthread_mutex_unlock(&d->order.lock);
}

static void *end_groups(void *opaque)
{
	const struct ender *e = opaque;
	struct dispatch *d = e->d;
	u32 n;

	for (n = e->number; n < GROUPS; n += 2) {
		while (atomic_load(&d->started) <= n)
			sched_yield();
		atomic_fetch_add(&d->ended[e->number], 1);
		if (pds_order_leave(&d->order, d->epoch[n], 1))
			resolve(d);
	}
	return NULL;
}

static u32 resolved(struct dispatch *d)
{
	u32 n;

	pthread_mutex_lock(&d->order.lock);
	n = d->resolved;
	pthread_mutex_unlock(&d->order.lock);
	return n;
}

static void start(struct dispatch *d)
{
	const u32 n = atomic_load(&d->started);

	d->epoch[n] = pds_order_epoch(&d->order);
	atomic_store(&d->started, n + 1);
}

static void hold(struct dispatch *d, u32 n)
{
	const struct pds_place place = { .group = n };

	while (n >= resolved(d) + PDS_MAX_PENDING)
		sched_yield();
	pthread_mutex_lock(&d->order.lock);
	d->before[n] = atomic_load(&d->started);
	assert_int_equal(pds_order_hold(&d->order, &place, d->before[n] + n), n + 1);
	pthread_mutex_unlock(&d->order.lock);
	resolve(d);
}

static void each_group_without_instances_is_resolved_once(void **state)
{
	struct dispatch *d = calloc(1, sizeof(*d));
	struct ender ender[2];
	u32 n, i;

	(void)state;
	assert_non_null(d);
	pds_order_init(&d->order);
	for (i = 0; i < 2; i++) {
		ender[i] = (struct ender){ .d = d, .number = i };
		assert_int_equal(pthread_create(&ender[i].thread, NULL, end_groups, &ender[i]), 0);
	}
	for (n = 0; n < HOLDS; n++) {
		for (i = 0; i < n % (EACH + 1); i++)
			start(d);
		hold(d, n);
	}
	while (atomic_load(&d->started) < GROUPS)
		start(d);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(ender[i].thread, NULL), 0);
	assert_int_equal(d->resolved, HOLDS);
	assert_int_equal(d->wrong, 0);
	pds_order_fini(&d->order);
	free(d);
}

/* ------------------------------------------------------------ two data masters, two threads */

/* Owner of each entry for a task over the USCs of the core: 0, or a data master + 1. */
static _Atomic u32 entry_owner[PER_CORE][PUMICE_USC_TASKS];

struct client {
	struct stage_tasks *tasks;
	enum pds_dm dm;
	unsigned int claims, shared;	/* the latter: entries that another task had */
	pthread_t thread;
};

static _Atomic u32 *owner_of(const struct client *c, const struct pds_place *place)
{
	const struct unit *unit = &c->tasks->fx->pds->unit[place->usc];

	return &entry_owner[place->usc][unit->accounts.claim[place->group].entry[0]];
}

static void take(struct client *c, struct pds_place *place)
{
	while (stage_task_claim(c->tasks, c->dm, 0, INSTANCES, 1, place) != PDS_STARTED)
		;
	c->claims++;
	c->shared += atomic_exchange(owner_of(c, place), (u32)c->dm + 1) != 0;
}

static void drop(struct client *c, const struct pds_place *place)
{
	c->shared += atomic_exchange(owner_of(c, place), 0) != (u32)c->dm + 1;
	pds_task_drop(c->tasks->fx->pds, place);
}

static void *claim_and_drop(void *opaque)
{
	struct client *c = opaque;
	struct pds_place held[HELD];
	u32 i, n;

	for (i = 0; i < TASKS; i += HELD) {
		for (n = 0; n < HELD; n++)
			take(c, &held[n]);
		while (n--)
			drop(c, &held[n]);
	}
	return NULL;
}

static void data_masters_share_a_core(void **state)
{
	struct stage_tasks *t = stage_tasks_create(1, NULL, &registers);
	struct client client[2] = { { .dm = PDS_DM_VDM }, { .dm = PDS_DM_PDM } };
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		client[i].tasks = t;
		assert_int_equal(pthread_create(&client[i].thread, NULL, claim_and_drop,
						&client[i]), 0);
	}
	/* Meanwhile the registers change and the counters are read, as by the firmware. */
	for (i = 0; i < TASKS; i++) {
		fx_control(t->fx, (struct pds_control){
			.out_of_order = true,
			.vdm = { .tasks = HELD + i % 2 }, .pdm = { .tasks = HELD + i % 3 },
		});
		assert_true(fx_load(t->fx).waves <= 2 * HELD * WAVES);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(client[i].thread, NULL), 0);
	assert_int_equal(client[0].shared + client[1].shared, 0);
	assert_int_equal(client[0].claims + client[1].claims, 2 * TASKS);
	assert_int_equal(fx_counter(t->fx, PUMICE_PERF_PDS_TASKS), 0);	/* none was started */
	stage_tasks_destroy(t);	/* checks that nothing is left in the accounts */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_take_no_device_lock),
		cmocka_unit_test(compute_ends_take_no_device_lock),
		cmocka_unit_test(each_group_without_instances_is_resolved_once),
		cmocka_unit_test(data_masters_share_a_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
