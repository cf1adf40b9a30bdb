// SPDX-License-Identifier: MIT
/*
 * The PDS of a core: tasks of a core take its lock and no other, and data masters that use one
 * core from threads of their own get resources of their own.
 */
#include "stage_fixture.h"

#include <pthread.h>

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
		cmocka_unit_test(data_masters_share_a_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
