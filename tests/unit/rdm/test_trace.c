// SPDX-License-Identifier: MIT
/* The event trace of ray-tracing jobs: their beginnings, launches and ends, with addresses. */
#include "rdm_fixture.h"

#define EXTENDED	PUMICE_TRACE_CTRL__EXTENDED__MASK

/* Return the only record of a kind; all are of the RDM and its job. */
static struct pumice_trace_record record(const struct rdm_fixture *fx, u32 kind)
{
	struct pumice_trace_record r = { 0 };

	assert_int_equal(testtrace_events(&fx->trace, kind, PUMICE_TRACE_PHASE_INSTANT, &r), 1);
	assert_true(r.rdm);
	assert_int_equal(r.dm, 0);
	assert_int_equal(r.context, (u32)RDMFX_TAG);
	assert_int_equal(r.mmu_ctx, RDMFX_CTX);
	return r;
}

/* Start a job of 20 columns and 3 rows, and of no rays; return the address of the first LAUNCH. */
static u64 start(struct rdm_fixture *fx)
{
	u64 launch;

	put_state(fx, &(struct state){ .hit = true });
	launch = fx->at;
	put_launch(fx, 20, 3, RDMFX_RAYS);
	put_launch(fx, 0, 3, RDMFX_RAYS);
	put_halt(fx);
	rdmfx_start(fx);
	return launch;
}

static void events_name_the_stream_and_the_launch(void **state)
{
	struct rdm_fixture *fx = rdmfx_create();
	struct pumice_trace_record r;
	u64 launch;

	(void)state;
	testtrace_on(&fx->trace, TESTTRACE_ALL);
	launch = start(fx);
	rdmfx_run(fx);
	r = record(fx, PUMICE_TRACE_KIND_JOB_START);
	assert_int_equal(r.usc, TRACE_RDM);
	assert_int_equal(r.arg0, RDMFX_STREAM);
	assert_int_equal(r.arg1, RDMFX_TAG >> 32 << 8);
	r = record(fx, PUMICE_TRACE_KIND_LAUNCH);
	assert_int_equal(r.arg0, 60);
	assert_int_equal(r.arg1, launch);
	r = record(fx, PUMICE_TRACE_KIND_JOB_END);
	assert_int_equal(r.usc, TRACE_RDM);
	assert_int_equal(r.arg0, PUMICE_FAULT_NONE);
	assert_int_equal(r.arg1, PUMICE_TRACE_END_DONE);
	assert_int_equal(testtrace_count(&fx->trace), 3);
	assert_int_equal(trace_context(&fx->trace.trace, TRACE_RDM), 0);
	rdmfx_destroy(fx);
}

static void the_end_of_a_job_has_its_reason(void **state)
{
	struct rdm_fixture *fx = rdmfx_create();
	struct pumice_trace_record r;

	(void)state;
	testtrace_on(&fx->trace, TESTTRACE_ALL);
	put_launch(fx, 1, 1, RDMFX_RAYS);	/* without a state */
	rdmfx_start(fx);
	rdmfx_run(fx);
	r = record(fx, PUMICE_TRACE_KIND_JOB_END);
	assert_int_equal(r.arg0, PUMICE_FAULT_RDM_STATE);
	assert_int_equal(r.arg1, PUMICE_TRACE_END_FAULT);
	testtrace_on(&fx->trace, 0);
	testtrace_on(&fx->trace, TESTTRACE_ALL);
	start(fx);
	rdmfx_abort(fx);
	rdmfx_run(fx);
	r = record(fx, PUMICE_TRACE_KIND_JOB_END);
	assert_int_equal(r.arg0, PUMICE_FAULT_NONE);
	assert_int_equal(r.arg1, PUMICE_TRACE_END_ABORTED);
	rdmfx_destroy(fx);
}

/* Events are those of the enabled kinds; a job that runs when the trace is enabled has its tag. */
static void events_are_written_while_they_are_enabled(void **state)
{
	struct rdm_fixture *fx = rdmfx_create();

	(void)state;
	start(fx);
	rdmfx_run(fx);
	assert_int_equal(testtrace_count(&fx->trace), 0);
	testtrace_on(&fx->trace, EXTENDED | 1u << PUMICE_TRACE_KIND_LAUNCH);
	start(fx);
	rdmfx_run(fx);
	record(fx, PUMICE_TRACE_KIND_LAUNCH);
	assert_int_equal(testtrace_count(&fx->trace), 1);
	testtrace_on(&fx->trace, 0);
	start(fx);
	rdmfx_walk(fx);
	testtrace_on(&fx->trace, EXTENDED | 1u << PUMICE_TRACE_KIND_JOB_END);
	rdmfx_run(fx);
	record(fx, PUMICE_TRACE_KIND_JOB_END);
	assert_int_equal(testtrace_count(&fx->trace), 1);
	rdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_name_the_stream_and_the_launch),
		cmocka_unit_test(the_end_of_a_job_has_its_reason),
		cmocka_unit_test(events_are_written_while_they_are_enabled),
	};

	return cmocka_run_group_tests_name("rdm_trace", tests, NULL, NULL);
}
