// SPDX-License-Identifier: MIT
/*
 * The event trace of the PDS: tasks and work-groups of a stopped job end as cancelled, each
 * begin has its end whatever the host enables meanwhile, and texture reads are counted for the
 * job that reads.
 */
#include "stage_fixture.h"

#define TASK_EVENT	PUMICE_TRACE_KIND_TASK
#define BEGIN		PUMICE_TRACE_PHASE_BEGIN
#define ENDS		PUMICE_TRACE_PHASE_END
#define CANCEL		PUMICE_TRACE_PHASE_CANCEL
#define CONTEXT(dm)	(0x100u + (dm))

/* One core; the trace is enabled. */
static struct stage_tasks *create_with(const struct fx_stores *stores)
{
	const struct pumice_stage registers = { .temps = 4 };
	struct stage_tasks *t = stage_tasks_create(1, stores, &registers);
	struct trace *trace = &t->fx->trace.trace;

	trace_set_tag(trace, TRACE_CDM, CONTEXT(PDS_DM_CDM));
	trace_set_tag(trace, TRACE_VDM, CONTEXT(PDS_DM_VDM));
	trace_set_tag(trace, TRACE_PDM, CONTEXT(PDS_DM_PDM));
	trace_set_tag(trace, TRACE_RDM, CONTEXT(PDS_DM_RDM));
	testtrace_on(&t->fx->trace, TESTTRACE_ALL);
	return t;
}

static struct stage_tasks *create(void)
{
	return create_with(NULL);
}

static struct pds_place start(struct stage_tasks *t, enum pds_dm dm)
{
	struct pds_place place;

	assert_int_equal(stage_task_start(t, dm, 0, 32, &place), PDS_STARTED);
	return place;
}

static void finish(struct stage_tasks *t, struct pds_place place)
{
	fake_usc_finish(t->fx->usc[place.usc], place.group);
}

static u32 events(const struct stage_tasks *t, u32 kind, u32 phase,
		  struct pumice_trace_record *last)
{
	return testtrace_events(&t->fx->trace, kind, phase, last);
}

static void only_tasks_of_the_stopped_job_are_cancelled(void **state)
{
	struct stage_tasks *t = create();
	struct pds_place place[3], next[2 * FX_USCS_PER_CORE];
	struct pumice_trace_record r = { 0 };
	bool again = false;
	u32 i;

	(void)state;
	place[0] = start(t, PDS_DM_VDM);
	place[1] = start(t, PDS_DM_PDM);
	place[2] = start(t, PDS_DM_VDM);
	finish(t, place[0]);
	stage_tasks_abort(t, PDS_DM_VDM);
	finish(t, place[2]);
	finish(t, place[1]);
	/* Tasks of the next job, one of them at the place of the cancelled one. */
	for (i = 0; i < 2 * FX_USCS_PER_CORE; i++) {
		next[i] = start(t, PDS_DM_VDM);
		again |= next[i].usc == place[2].usc && next[i].group == place[2].group;
	}
	assert_true(again);
	for (i = 0; i < 2 * FX_USCS_PER_CORE; i++)
		finish(t, next[i]);
	testtrace_check_pairs(&t->fx->trace);
	assert_int_equal(events(t, TASK_EVENT, BEGIN, NULL), 3 + i);
	assert_int_equal(events(t, TASK_EVENT, ENDS, NULL), 2 + i);
	assert_int_equal(events(t, TASK_EVENT, CANCEL, &r), 1);
	assert_int_equal(r.dm, PUMICE_TRACE_MASTER_VDM);
	assert_int_equal(r.context, CONTEXT(PDS_DM_VDM));
	assert_int_equal(r.mmu_ctx, FX_CTX);
	assert_int_equal(r.usc, place[2].usc);
	assert_int_equal(r.arg0, place[2].group);
	stage_tasks_destroy(t);
}

static void check_master(const struct pumice_trace_record *r, enum pds_dm dm)
{
	assert_int_equal(r->rdm, dm == PDS_DM_RDM);
	assert_int_equal(r->dm, dm == PDS_DM_RDM ? 0 : dm);
	assert_int_equal(r->context, CONTEXT(dm));
	assert_int_equal(r->mmu_ctx, FX_CTX);
}

/* Tasks of rays have a bit of their own: the data masters of records are those before them. */
static void tasks_are_traced_with_their_data_master(void **state)
{
	struct stage_tasks *t = create();
	struct pumice_trace_record r = { 0 };
	struct pds_place place;
	enum pds_dm dm;
	u32 count = 0;

	(void)state;
	for (dm = PDS_DM_VDM; dm < PDS_DM_COUNT; dm++) {
		place = start(t, dm);
		assert_int_equal(events(t, TASK_EVENT, BEGIN, &r), ++count);
		check_master(&r, dm);
		t->fx->usc[place.usc]->tag_reads[dm]++;
		finish(t, place);
		assert_int_equal(events(t, TASK_EVENT, ENDS, &r), count);
		check_master(&r, dm);
		assert_int_equal(events(t, PUMICE_TRACE_KIND_TAG, 0, &r), count);
		check_master(&r, dm);
	}
	while (stage_task_start(t, PDS_DM_RDM, 0, 32, &place) == PDS_STARTED)
		;
	assert_int_equal(events(t, PUMICE_TRACE_KIND_STALL, 0, &r), 1);
	check_master(&r, PDS_DM_RDM);
	fx_finish_all(t->fx);
	testtrace_check_pairs(&t->fx->trace);
	stage_tasks_destroy(t);
}

/* A task is traced while it is in its slot: not before, and never if it is stopped before. */
static void a_task_begins_in_the_trace_when_it_gets_a_slot(void **state)
{
	static const struct fx_stores one_slot = {
		.unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON, .local_bytes = FX_LOCAL,
		.slots = 1, .tasks = 4,
	};
	struct stage_tasks *t = create_with(&one_slot);
	struct pumice_trace_record r = { 0 };
	u32 n, begun = FX_USCS_PER_CORE;

	(void)state;
	for (n = 0; n < 4 * FX_USCS_PER_CORE; n++)
		start(t, n % 2 ? PDS_DM_VDM : PDS_DM_PDM);
	assert_int_equal(events(t, TASK_EVENT, BEGIN, NULL), begun);
	for (n = 0; n < 2 * FX_USCS_PER_CORE; n++) {
		t->fx->clock += 1000;
		assert_true(fx_finish_oldest(t->fx));
		assert_int_equal(events(t, TASK_EVENT, BEGIN, &r), ++begun);
		assert_int_equal(events(t, TASK_EVENT, ENDS, NULL), n + 1);
		assert_true(fake_usc_running(t->fx->usc[r.usc], (unsigned int)r.arg0));
	}
	stage_tasks_abort(t, PDS_DM_VDM);
	stage_tasks_abort(t, PDS_DM_PDM);
	fx_finish_all(t->fx);
	assert_int_equal(events(t, TASK_EVENT, BEGIN, NULL), begun);
	assert_int_equal(events(t, TASK_EVENT, CANCEL, NULL), begun - n);
	testtrace_check_pairs(&t->fx->trace);
	stage_tasks_destroy(t);
}

static void work_groups_of_a_stopped_job_are_cancelled(void **state)
{
	struct stage_tasks *t = create();
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pumice_trace_record r = { 0 };
	u32 i;

	(void)state;
	launch.grid.groups_x = 3;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	for (i = 0; i < 3; i++)
		assert_int_equal(fx_group(t->fx, i, 0, 0, i), PDS_STARTED);
	assert_true(fx_finish_oldest(t->fx));
	fx_abort(t->fx);
	fx_finish_all(t->fx);
	assert_int_equal(events(t, PUMICE_TRACE_KIND_GROUP_START, 0, NULL), 3);
	assert_int_equal(events(t, PUMICE_TRACE_KIND_GROUP_END, 0, &r), 1);
	assert_int_equal(r.arg0, 0);
	assert_int_equal(events(t, PUMICE_TRACE_KIND_GROUP_END, CANCEL, &r), 2);
	assert_int_equal(r.arg0, 2);
	assert_int_equal(r.arg1, 0);
	assert_int_equal(r.context, CONTEXT(PDS_DM_CDM));
	fx_end(t->fx);
	stage_tasks_destroy(t);
}

static void a_task_that_began_before_the_trace_has_no_end_in_it(void **state)
{
	struct stage_tasks *t = create();
	struct pds_place place[3];

	(void)state;
	place[0] = start(t, PDS_DM_VDM);
	testtrace_on(&t->fx->trace, 0);
	place[1] = start(t, PDS_DM_VDM);
	testtrace_on(&t->fx->trace, TESTTRACE_ALL);
	finish(t, place[0]);
	finish(t, place[1]);
	assert_int_equal(testtrace_count(&t->fx->trace), 0);
	/* A kind that is disabled meanwhile. */
	place[2] = start(t, PDS_DM_VDM);
	testtrace_on(&t->fx->trace, TESTTRACE_ALL & ~(1u << TASK_EVENT));
	finish(t, place[2]);
	testtrace_check_pairs(&t->fx->trace);
	assert_int_equal(testtrace_count(&t->fx->trace), 2);
	stage_tasks_destroy(t);
}

/* Read this number of texels, and expect a record with it. */
static void expect_reads(struct stage_tasks *t, enum pds_dm dm, u64 reads, u64 count)
{
	struct pds_place place = start(t, dm);
	const u32 before = events(t, PUMICE_TRACE_KIND_TAG, 0, NULL);
	struct pumice_trace_record r = { 0 };

	t->fx->usc[place.usc]->tag_reads[dm] += reads;
	finish(t, place);
	assert_int_equal(events(t, PUMICE_TRACE_KIND_TAG, 0, &r), before + (reads != 0));
	if (!reads)
		return;
	assert_int_equal(r.arg0, count);
	assert_int_equal(r.arg1, 0);
	assert_int_equal(r.usc, place.usc);
	assert_int_equal(r.dm, dm);
	assert_int_equal(r.context, CONTEXT(dm));
	assert_int_equal(r.mmu_ctx, FX_CTX);
}

static void reads_are_counted_for_their_data_master_since_the_trace_began(void **state)
{
	struct stage_tasks *t = create();
	u32 i;

	(void)state;
	testtrace_on(&t->fx->trace, 0);
	for (i = 0; i < FX_USCS_PER_CORE; i++)
		t->fx->usc[i]->tag_reads[PDS_DM_PDM] = t->fx->usc[i]->tag_reads[PDS_DM_VDM] = 1000;
	fx_lock(t->fx);
	pds_trace_begin(t->fx->pds);
	fx_unlock(t->fx);
	testtrace_on(&t->fx->trace, TESTTRACE_ALL);
	/* Tasks alternate between the USCs. */
	for (i = 0; i < FX_USCS_PER_CORE; i++)
		expect_reads(t, PDS_DM_VDM, 0, 0);
	for (i = 0; i < FX_USCS_PER_CORE; i++)
		expect_reads(t, PDS_DM_PDM, 5, 5);
	for (i = 0; i < FX_USCS_PER_CORE; i++)
		expect_reads(t, PDS_DM_VDM, 3, 3);
	for (i = 0; i < FX_USCS_PER_CORE; i++)
		expect_reads(t, PDS_DM_PDM, 2, 7);
	for (i = 0; i < FX_USCS_PER_CORE; i++)
		expect_reads(t, PDS_DM_PDM, 0, 0);
	stage_tasks_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_tasks_of_the_stopped_job_are_cancelled),
		cmocka_unit_test(tasks_are_traced_with_their_data_master),
		cmocka_unit_test(a_task_begins_in_the_trace_when_it_gets_a_slot),
		cmocka_unit_test(work_groups_of_a_stopped_job_are_cancelled),
		cmocka_unit_test(a_task_that_began_before_the_trace_has_no_end_in_it),
		cmocka_unit_test(reads_are_counted_for_their_data_master_since_the_trace_began),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
