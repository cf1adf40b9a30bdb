// SPDX-License-Identifier: MIT
/* Tests of the sources of compute of the cores, with threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../../../qemu-device/gpu/pds/state.h"
#include "fixture.h"

#define CORES		2u
#define WAIT_S		25	/* for a thread that would wait for a lock */
#define ROUNDS		4000u
#define REGISTERS	3u	/* shared ones of a group */

/* Two cores and a launch of groups of one wave, which read memory. */
static struct fixture *two_cores(void)
{
	static const struct pumice_pds_insn insns[] = { DMA(SH, 0, REGISTERS, FX_DATA, 0), TASK,
							END };
	struct fixture *fx = fx_create(CORES * FX_USCS_PER_CORE, NULL);
	struct pds_launch launch = fx_launch(32, 1, 1);

	launch.state.shared = REGISTERS;
	launch.state.temps = 4;
	launch.grid.groups_x = 1000000;
	fx_program(fx, &launch, insns, 3);
	assert_true(fx_begin(fx, &launch));
	return fx;
}

/* A thread that steps the source of a core. */
struct source {
	struct fixture *fx;
	unsigned int core;
	u64 linear;		/* of the next group */
	u64 started;
	u32 batches;
	u32 wrong;
	u64 rnd;
	pthread_t thread;
};

/* Claim room for some groups, fill them, and start the first ones. Returns how many had room. */
static u32 start_some(struct source *s, u32 most, u32 start)
{
	const u32 claimed = pds_groups_claim(s->fx->pds, s->core, most);
	struct gpu_fault fault;
	u32 i;

	for (i = 0; i < claimed && i < start; i++) {
		const u32 id[3] = { (u32)s->linear, 0, s->core };

		s->wrong += pds_group_fill(s->fx->pds, s->core, id, s->linear++, &fault) !=
			    PDS_STARTED;
	}
	s->started += pds_groups_start(s->fx->pds, s->core);
	return claimed;
}

static void *start_a_batch(void *opaque)
{
	struct source *s = opaque;

	s->batches = start_some(s, PDS_BATCH, PDS_BATCH);
	return NULL;
}

/* Run a source in a thread while the caller holds locks. False if it waits for one of them. */
static bool proceeds(struct source *s)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	assert_int_equal(pthread_create(&s->thread, NULL, start_a_batch, s), 0);
	return !pthread_timedjoin_np(s->thread, NULL, &until);
}

/* The fixture's lock fails the test if it is taken twice. */
static void a_source_works_while_the_device_lock_and_another_core_are_held(void **state)
{
	struct fixture *fx = two_cores();
	struct source source = { .fx = fx, .core = 1 };
	const u32 locks = fx->locks;
	struct pds_core *other;
	bool done;

	(void)state;
	fx_lock(fx);
	other = pds_lock_core(fx->pds, 0);
	done = proceeds(&source);
	pds_unlock_core(other);
	fx_unlock(fx);
	assert_true(done);
	assert_int_equal(fx->locks - locks, 1);	/* by this test */
	assert_int_equal(source.started, PDS_BATCH);
	assert_int_equal(source.wrong, 0);
	assert_int_equal(fx->usc[2]->running + fx->usc[3]->running, PDS_BATCH);
	fx_destroy(fx);
}

/* Another core's source is in the middle of a batch; its groups are started later. */
static void a_source_works_while_another_one_fills(void **state)
{
	static const u32 id[3] = { 7, 0, 0 };
	struct fixture *fx = two_cores();
	struct source source = { .fx = fx, .core = 1 };
	struct gpu_fault fault;

	(void)state;
	assert_int_equal(pds_groups_claim(fx->pds, 0, 2), 2);
	assert_int_equal(pds_group_fill(fx->pds, 0, id, 7, &fault), PDS_STARTED);
	assert_true(proceeds(&source));
	assert_int_equal(source.started, PDS_BATCH);
	assert_int_equal(fx->usc[0]->running + fx->usc[1]->running, 0);
	/* The one that is filled starts, the other one is dropped. */
	assert_int_equal(pds_groups_start(fx->pds, 0), 1);
	assert_int_equal(fx->usc[0]->running + fx->usc[1]->running, 1);
	assert_int_equal(pds_groups(fx->pds), PDS_BATCH + 1);
	fx_destroy(fx);
}

/* A fill needs no lock at all: not even that of its core. */
static void groups_are_filled_without_the_lock_of_their_core(void **state)
{
	static const u32 id[3] = { 1, 0, 0 };
	struct fixture *fx = two_cores();
	struct pds_core *core;
	struct gpu_fault fault;

	(void)state;
	assert_int_equal(pds_groups_claim(fx->pds, 0, 1), 1);
	core = pds_lock_core(fx->pds, 0);
	assert_int_equal(pds_group_fill(fx->pds, 0, id, 1, &fault), PDS_STARTED);
	pds_unlock_core(core);
	assert_int_equal(pds_groups_start(fx->pds, 0), 1);
	fx_destroy(fx);
}

/* Small groups claim room together, as far as there is some; others one by one. */
static void small_groups_claim_room_in_batches(void **state)
{
	struct fixture *fx = two_cores();
	struct pds_launch large = fx_launch(PUMICE_GROUP_INSTANCES, 1, 1);

	(void)state;
	assert_int_equal(pds_groups_claim(fx->pds, 0, 1000), PDS_BATCH);
	pds_groups_drop(fx->pds, 0);
	assert_int_equal(pds_groups_claim(fx->pds, 0, 3), 3);
	pds_groups_drop(fx->pds, 0);
	assert_int_equal(fx_load(fx).tasks, 0);
	fx_end(fx);
	large.state.attrs = 16;
	fx_program_empty(fx, &large);
	assert_true(fx_begin(fx, &large));
	assert_int_equal(pds_launch_cost(fx->pds), 2);
	assert_int_equal(pds_groups_claim(fx->pds, 0, 1000), 1);
	pds_groups_drop(fx->pds, 0);
	fx_destroy(fx);
}

static u32 next_random(struct source *s)
{
	s->rnd = s->rnd * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(s->rnd >> 33);
}

/* End some groups of the core, as its USCs do in the same thread. */
static void end_some(struct source *s, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct usc *usc = s->fx->usc[s->core * FX_USCS_PER_CORE + i % FX_USCS_PER_CORE];
		const unsigned int group = fake_usc_oldest(usc);

		if (group != FAKE_NONE)
			fake_usc_finish(usc, group);
	}
}

static void *claim_at_random(void *opaque)
{
	struct source *s = opaque;
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		const u32 what = next_random(s);

		start_some(s, 1 + what % 10, what >> 8 & 15);
		if (what >> 16 & 1)
			pds_groups_leave(s->fx->pds, s->core);
		end_some(s, what >> 20 & 15);
	}
	end_some(s, 2 * FX_USCS_PER_CORE * PUMICE_USC_TASKS);
	return NULL;
}

/* Meanwhile registers change, and counters and loads are read. */
static void random_claims_of_two_cores_lose_nothing(void **state)
{
	struct fixture *fx = two_cores();
	struct source source[CORES];
	u64 value[PUMICE_PERF_COUNTER_COUNT];
	u32 i;

	(void)state;
	for (i = 0; i < CORES; i++) {
		source[i] = (struct source){ .fx = fx, .core = i, .rnd = 0x5eed0001 + i };
		assert_int_equal(pthread_create(&source[i].thread, NULL, claim_at_random,
						&source[i]), 0);
	}
	/* No other thread calls these; ends of groups test that the fixture's lock is not held. */
	for (i = 0; i < 300; i++) {
		pds_set_control(fx->pds, &(struct pds_control){
						 .out_of_order = true, .tasks = i % 3 * 20 });
		pds_counters_add(fx->pds, value);
		pds_core_waves(fx->pds, i % CORES);
	}
	for (i = 0; i < CORES; i++) {
		assert_int_equal(pthread_join(source[i].thread, NULL), 0);
		assert_int_equal(source[i].wrong, 0);
		assert_true(source[i].started > ROUNDS);
	}
	assert_int_equal(pds_groups(fx->pds), 0);
	assert_int_equal(pds_done(fx->pds), source[0].started + source[1].started);
	for (i = 0; i < CORES; i++)
		assert_int_equal(pds_core_waves(fx->pds, i), 0);
	fx_destroy(fx);
}

/* A reset while a source has groups that are not started: all room is free. */
static void a_reset_drops_the_groups_of_all_sources(void **state)
{
	struct fixture *fx = two_cores();
	struct pds_launch launch = fx_launch(32, 1, 1);
	static const u32 id[3];
	struct gpu_fault fault;

	(void)state;
	assert_int_equal(pds_groups_claim(fx->pds, 0, 8), PDS_BATCH);
	assert_int_equal(pds_group_fill(fx->pds, 0, id, 0, &fault), PDS_STARTED);
	assert_int_equal(pds_groups_claim(fx->pds, 1, 2), 2);
	fx->begun = false;
	pds_reset(fx->pds);
	assert_int_equal(pds_core_waves(fx->pds, 0) + pds_core_waves(fx->pds, 1), 0);
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(pds_groups_claim(fx->pds, 0, 8), PDS_BATCH);
	pds_groups_drop(fx->pds, 0);
	assert_int_equal(pds_groups(fx->pds), 0);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_works_while_the_device_lock_and_another_core_are_held),
		cmocka_unit_test(a_source_works_while_another_one_fills),
		cmocka_unit_test(groups_are_filled_without_the_lock_of_their_core),
		cmocka_unit_test(small_groups_claim_room_in_batches),
		cmocka_unit_test(random_claims_of_two_cores_lose_nothing),
		cmocka_unit_test(a_reset_drops_the_groups_of_all_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
