// SPDX-License-Identifier: MIT
/*
 * Data master selector: claims of room on a core while others wait, under each policy. The
 * expected order comes from the name of a policy.
 */
#include "../../../qemu-device/gpu/pds/outputs.h"
#include "stage_fixture.h"

#include <string.h>

#define PER_CORE FX_USCS_PER_CORE
#define MASTERS (PDS_DM_COUNT - 1)	/* of a name; the RDM has the priority of the CDM */

struct dms_fixture {
	struct stage_tasks *tasks;
	struct fixture *fx;	/* of tasks */
	bool waits[PDS_DM_COUNT];
	u64 waited[PDS_DM_COUNT];	/* how often it began to */
};

/* A core without room, on which no data master waits. */
static void create(struct dms_fixture *f, enum pumice_dms_policy policy)
{
	const struct pumice_stage registers = { .temps = 4 };
	struct pds_launch launch = fx_launch(32, 1, 1);
	u32 n;

	*f = (struct dms_fixture){ .tasks = stage_tasks_create(1, NULL, &registers) };
	f->fx = f->tasks->fx;
	fx_control(f->fx, (struct pds_control){ .out_of_order = true, .policy = policy });
	fx_program_empty(f->fx, &launch);
	assert_true(fx_begin(f->fx, &launch));
	for (n = 0; n < PER_CORE * PUMICE_USC_SLOTS; n++)
		assert_int_equal(fx_group(f->fx, n, 0, 0, n), PDS_STARTED);
}

static void destroy(struct dms_fixture *f)
{
	unsigned int dm;

	for (dm = 0; dm < PDS_DM_COUNT; dm++)
		assert_int_equal(pds_waits(f->fx->pds, (enum pds_dm)dm), f->waited[dm]);
	stage_tasks_destroy(f->tasks);
}

/* Claim and start, or wait. */
static enum pds_result start(struct dms_fixture *f, enum pds_dm dm)
{
	struct pds_place place;
	enum pds_result result;

	if (dm == PDS_DM_CDM)
		result = fx_group(f->fx, 0, 0, 0, 0);
	else
		result = stage_task_start(f->tasks, dm, 0, 32, &place);
	f->waited[dm] += result == PDS_WAIT && !f->waits[dm];
	f->waits[dm] = result == PDS_WAIT;
	return result;
}

/* Return how often a data master was notified that there may be room. */
static unsigned int notified(const struct dms_fixture *f, enum pds_dm dm)
{
	return dm == PDS_DM_CDM ? f->fx->room : f->tasks->owner[dm].room[0];
}

/* Free one slot. Of those that wait, only the data master expected is notified and gets it. */
static void serve(struct dms_fixture *f, enum pds_dm expected)
{
	unsigned int before[PDS_DM_COUNT], dm;

	for (dm = 0; dm < PDS_DM_COUNT; dm++)
		before[dm] = notified(f, (enum pds_dm)dm);
	assert_true(fx_finish_oldest(f->fx));
	for (dm = 0; dm < PDS_DM_COUNT; dm++)
		assert_int_equal(notified(f, (enum pds_dm)dm) - before[dm], dm == expected);
	for (dm = 0; dm < PDS_DM_COUNT; dm++) {
		if (dm != expected && f->waits[dm])
			assert_int_equal(start(f, (enum pds_dm)dm), PDS_WAIT);
	}
	assert_int_equal(start(f, expected), PDS_STARTED);
}

static void fixed_priorities_are_those_of_the_name(void **state)
{
	static const struct {
		enum pumice_dms_policy policy;
		enum pds_dm order[MASTERS];
	} cases[] = {
		{ PUMICE_DMS_POLICY_CDM_VDM_PDM, { PDS_DM_CDM, PDS_DM_VDM, PDS_DM_PDM } },
		{ PUMICE_DMS_POLICY_CDM_PDM_VDM, { PDS_DM_CDM, PDS_DM_PDM, PDS_DM_VDM } },
		{ PUMICE_DMS_POLICY_VDM_CDM_PDM, { PDS_DM_VDM, PDS_DM_CDM, PDS_DM_PDM } },
		{ PUMICE_DMS_POLICY_VDM_PDM_CDM, { PDS_DM_VDM, PDS_DM_PDM, PDS_DM_CDM } },
		{ PUMICE_DMS_POLICY_PDM_CDM_VDM, { PDS_DM_PDM, PDS_DM_CDM, PDS_DM_VDM } },
		{ PUMICE_DMS_POLICY_PDM_VDM_CDM, { PDS_DM_PDM, PDS_DM_VDM, PDS_DM_CDM } },
	};
	unsigned int i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const enum pds_dm *order = cases[i].order;
		struct dms_fixture f;

		create(&f, cases[i].policy);
		for (n = 0; n < MASTERS; n++)
			assert_int_equal(start(&f, order[n]), PDS_WAIT);
		serve(&f, order[0]);
		assert_int_equal(start(&f, order[0]), PDS_WAIT);
		serve(&f, order[0]);	/* again: the others wait while it claims */
		serve(&f, order[1]);
		assert_int_equal(start(&f, order[0]), PDS_WAIT);
		serve(&f, order[0]);
		serve(&f, order[2]);
		destroy(&f);
	}
}

/* In each policy the RDM takes the place of the CDM; of the two, the last one to claim waits. */
static void the_rdm_has_the_priority_of_the_cdm(void **state)
{
	static const struct {
		enum pumice_dms_policy policy;
		bool before_vdm, before_pdm;
	} cases[] = {
		{ PUMICE_DMS_POLICY_GRAPHICS, false, false },
		{ PUMICE_DMS_POLICY_CDM_VDM_PDM, true, true },
		{ PUMICE_DMS_POLICY_CDM_PDM_VDM, true, true },
		{ PUMICE_DMS_POLICY_VDM_CDM_PDM, false, true },
		{ PUMICE_DMS_POLICY_VDM_PDM_CDM, false, false },
		{ PUMICE_DMS_POLICY_PDM_CDM_VDM, true, false },
		{ PUMICE_DMS_POLICY_PDM_VDM_CDM, false, false },
	};
	unsigned int i, dm;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (dm = PDS_DM_VDM; dm <= PDS_DM_PDM; dm++) {
			const bool before = dm == PDS_DM_VDM ? cases[i].before_vdm :
				cases[i].before_pdm;
			const enum pds_dm first = before ? PDS_DM_RDM : (enum pds_dm)dm;
			struct dms_fixture f;

			create(&f, cases[i].policy);
			assert_int_equal(start(&f, PDS_DM_RDM), PDS_WAIT);
			assert_int_equal(start(&f, (enum pds_dm)dm), PDS_WAIT);
			serve(&f, first);
			serve(&f, before ? (enum pds_dm)dm : PDS_DM_RDM);
			destroy(&f);
		}
		{
			struct dms_fixture f;

			create(&f, cases[i].policy);	/* the CDM has claimed */
			assert_int_equal(start(&f, PDS_DM_CDM), PDS_WAIT);
			assert_int_equal(start(&f, PDS_DM_RDM), PDS_WAIT);
			for (dm = 0; dm < 6; dm++) {
				const enum pds_dm next = dm % 2 ? PDS_DM_CDM : PDS_DM_RDM;

				serve(&f, next);
				assert_int_equal(start(&f, next), PDS_WAIT);
			}
			destroy(&f);
		}
	}
}

/* A group that needs half a USC gets it, although rays would use every slot that becomes free. */
static void rays_do_not_keep_a_large_group_waiting(void **state)
{
	struct pds_launch launch = fx_launch(PUMICE_GROUP_INSTANCES, 1, 1);
	struct dms_fixture f;
	u32 ends = 0;

	(void)state;
	create(&f, PUMICE_DMS_POLICY_GRAPHICS);
	fx_finish_all(f.fx);
	while (start(&f, PDS_DM_RDM) == PDS_STARTED)
		;
	fx_end(f.fx);
	fx_program_empty(f.fx, &launch);
	assert_true(fx_begin(f.fx, &launch));
	while (start(&f, PDS_DM_CDM) == PDS_WAIT) {
		assert_true(ends++ < PER_CORE * PUMICE_USC_SLOTS);
		assert_true(fx_finish_oldest(f.fx));
		start(&f, PDS_DM_RDM);
	}
	destroy(&f);
}

/* As a claim for a task does. */
static void in_round_robin_a_claim_for_outputs_is_a_claim(void **state)
{
	struct pds_outputs out = { .tile = 1 };
	struct dms_fixture f;

	(void)state;
	create(&f, PUMICE_DMS_POLICY_ROUND_ROBIN);
	assert_int_equal(start(&f, PDS_DM_VDM), PDS_WAIT);
	serve(&f, PDS_DM_VDM);
	assert_int_equal(pds_outputs_claim(f.fx->pds, 0, 32, FX_CTX, &out), PDS_STARTED);
	assert_int_equal(start(&f, PDS_DM_PDM), PDS_WAIT);
	assert_int_equal(start(&f, PDS_DM_VDM), PDS_WAIT);
	serve(&f, PDS_DM_VDM);
	serve(&f, PDS_DM_PDM);
	pds_outputs_free(f.fx->pds, &out);
	destroy(&f);
}

static void in_round_robin_the_last_one_waits(void **state)
{
	static const enum pds_dm order[] = { PDS_DM_PDM, PDS_DM_CDM, PDS_DM_RDM, PDS_DM_VDM };
	struct dms_fixture f;
	unsigned int i;

	(void)state;
	create(&f, PUMICE_DMS_POLICY_ROUND_ROBIN);
	for (i = 0; i < PDS_DM_COUNT; i++) {	/* one after another, each alone */
		assert_int_equal(start(&f, order[i]), PDS_WAIT);
		serve(&f, order[i]);
	}
	for (i = 0; i < PDS_DM_COUNT; i++)
		assert_int_equal(start(&f, (enum pds_dm)i), PDS_WAIT);
	for (i = 0; i < 4 * PDS_DM_COUNT; i++) {
		serve(&f, order[i % PDS_DM_COUNT]);
		assert_int_equal(start(&f, order[i % PDS_DM_COUNT]), PDS_WAIT);
	}
	destroy(&f);
}

static void a_change_of_policy_notifies_those_that_it_admits(void **state)
{
	struct dms_fixture f;

	(void)state;
	create(&f, PUMICE_DMS_POLICY_VDM_PDM_CDM);
	assert_int_equal(start(&f, PDS_DM_VDM), PDS_WAIT);
	assert_int_equal(start(&f, PDS_DM_CDM), PDS_WAIT);
	serve(&f, PDS_DM_VDM);
	assert_int_equal(start(&f, PDS_DM_VDM), PDS_WAIT);
	f.fx->room = 0;
	fx_control(f.fx, (struct pds_control){
		.out_of_order = true, .policy = PUMICE_DMS_POLICY_CDM_VDM_PDM,
	});
	assert_int_equal(f.fx->room, 1);
	serve(&f, PDS_DM_CDM);
	destroy(&f);
}

static void compute_waits_for_either_kind_of_graphics(void **state)
{
	enum pds_dm dm;

	(void)state;
	for (dm = PDS_DM_VDM; dm <= PDS_DM_PDM; dm++) {
		struct dms_fixture f;

		create(&f, PUMICE_DMS_POLICY_GRAPHICS);
		assert_int_equal(start(&f, PDS_DM_CDM), PDS_WAIT);
		assert_int_equal(start(&f, dm), PDS_WAIT);
		serve(&f, dm);
		serve(&f, PDS_DM_CDM);
		destroy(&f);
	}
}

/* The room is not for it. */
static void a_data_master_at_its_limits_precedes_no_other(void **state)
{
	struct dms_fixture f;
	u32 n;

	(void)state;
	create(&f, PUMICE_DMS_POLICY_CDM_VDM_PDM);
	fx_finish_all(f.fx);
	fx_control(f.fx, (struct pds_control){
		.out_of_order = true, .tasks = 1, .policy = PUMICE_DMS_POLICY_CDM_VDM_PDM,
	});
	for (n = 0; n < PER_CORE; n++)
		assert_int_equal(start(&f, PDS_DM_CDM), PDS_STARTED);
	assert_int_equal(start(&f, PDS_DM_CDM), PDS_WAIT);
	while (start(&f, PDS_DM_VDM) == PDS_STARTED)
		n++;
	assert_int_equal(n, PER_CORE * PUMICE_USC_SLOTS);
	/* Without the limit it precedes: the VDM waits although there is room. */
	fx_control(f.fx, (struct pds_control){
		.out_of_order = true, .policy = PUMICE_DMS_POLICY_CDM_VDM_PDM,
	});
	serve(&f, PDS_DM_CDM);
	destroy(&f);
}

static void a_reset_clears_waits_and_claims(void **state)
{
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct dms_fixture f;
	u32 i;

	(void)state;
	create(&f, PUMICE_DMS_POLICY_ROUND_ROBIN);
	assert_int_equal(start(&f, PDS_DM_PDM), PDS_WAIT);
	serve(&f, PDS_DM_PDM);
	assert_int_equal(start(&f, PDS_DM_VDM), PDS_WAIT);
	for (i = 0; i < PER_CORE; i++)
		usc_reset(f.fx->usc[i]);
	pds_reset(f.fx->pds);
	f.fx->begun = false;
	memset(f.waited, 0, sizeof(f.waited));
	memset(f.waits, 0, sizeof(f.waits));
	fx_control(f.fx, (struct pds_control){
		.out_of_order = true, .policy = PUMICE_DMS_POLICY_ROUND_ROBIN,
	});
	fx_program_empty(f.fx, &launch);
	assert_true(fx_begin(f.fx, &launch));
	for (i = 0; i < PER_CORE * PUMICE_USC_SLOTS; i++)	/* the VDM no longer waits */
		assert_int_equal(start(&f, PDS_DM_CDM), PDS_STARTED);
	assert_int_equal(start(&f, PDS_DM_VDM), PDS_WAIT);
	assert_int_equal(start(&f, PDS_DM_PDM), PDS_WAIT);
	f.tasks->owner[PDS_DM_VDM].room[0] = f.tasks->owner[PDS_DM_PDM].room[0] = 0;
	fx_finish_oldest(f.fx);	/* neither has claimed since */
	assert_int_equal(notified(&f, PDS_DM_VDM), 1);
	assert_int_equal(notified(&f, PDS_DM_PDM), 1);
	destroy(&f);
}

/* The end of no task would notify of its room. */
static void a_dropped_group_is_room_for_others(void **state)
{
	const struct pumice_pds_insn insns[] = {
		DMA(V, 0, 1, FX_DATA, 8), DMA(V, 0, 1, FX_DATA, 8), DMA(V, 0, 1, FX_DATA, 8),
		TASK, END,
	};
	struct pds_launch launch = fx_launch(PUMICE_GROUP_INSTANCES, 1, 1);
	struct dms_fixture f;

	(void)state;
	create(&f, PUMICE_DMS_POLICY_GRAPHICS);
	fx_finish_all(f.fx);
	fx_end(f.fx);
	launch.state.attrs = 1;
	fx_program(f.fx, &launch, insns, 5);
	assert_true(fx_begin(f.fx, &launch));
	assert_int_equal(fx_group_piece(f.fx, 0, 0, 0, 0), PDS_MORE);
	while (start(&f, PDS_DM_VDM) == PDS_STARTED)
		;
	assert_int_equal(notified(&f, PDS_DM_VDM), 0);
	fx_end(f.fx);
	assert_int_equal(notified(&f, PDS_DM_VDM), 1);
	assert_int_equal(start(&f, PDS_DM_VDM), PDS_STARTED);
	destroy(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_priorities_are_those_of_the_name),
		cmocka_unit_test(the_rdm_has_the_priority_of_the_cdm),
		cmocka_unit_test(rays_do_not_keep_a_large_group_waiting),
		cmocka_unit_test(in_round_robin_the_last_one_waits),
		cmocka_unit_test(in_round_robin_a_claim_for_outputs_is_a_claim),
		cmocka_unit_test(a_change_of_policy_notifies_those_that_it_admits),
		cmocka_unit_test(compute_waits_for_either_kind_of_graphics),
		cmocka_unit_test(a_data_master_at_its_limits_precedes_no_other),
		cmocka_unit_test(a_reset_clears_waits_and_claims),
		cmocka_unit_test(a_dropped_group_is_room_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
