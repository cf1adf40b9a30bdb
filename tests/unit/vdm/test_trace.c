// SPDX-License-Identifier: MIT
/*
 * The event trace of a geometry job: every begin has one end, also if the job is stopped or the
 * host changes what is traced; culled primitives are counted.
 */
#include "vdm_fixture.h"

#define POINTS	300u
#define SPLIT	30u
#define CHUNK	PUMICE_TRACE_KIND_CHUNK
#define BEGIN	PUMICE_TRACE_PHASE_BEGIN
#define ENDS	PUMICE_TRACE_PHASE_END
#define CANCEL	PUMICE_TRACE_PHASE_CANCEL

/* A job of points 0, 1, 2..., started; the trace is enabled. */
static struct vdm_fixture *start(unsigned int cores, bool coordinate)
{
	struct vdm_fixture *fx = vdmfx_create(cores);

	vdmfx_put_points(fx, POINTS, coordinate);
	testtrace_on(&fx->base->trace, TESTTRACE_ALL);
	assert_true(vdmfx_start(fx, SPLIT));
	return fx;
}

static u32 events(const struct vdm_fixture *fx, u32 kind, u32 phase,
		  struct pumice_trace_record *last)
{
	return testtrace_events(&fx->base->trace, kind, phase, last);
}

/* The sum of arg1 of ends of the TA's work. */
static u32 ta_sum(const struct vdm_fixture *fx, u32 work, u32 phase)
{
	u32 i, sum = 0;

	for (i = 0; i < testtrace_count(&fx->base->trace); i++) {
		const struct pumice_trace_record r = testtrace_record(&fx->base->trace, i);

		if (r.kind == PUMICE_TRACE_KIND_TA && r.phase == phase && r.arg0 == work)
			sum += (u32)r.arg1;
	}
	return sum;
}

static void culled_primitives_are_counted(void **state)
{
	struct vdm_fixture *fx = start(2, true);

	(void)state;
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	testtrace_check_pairs(&fx->base->trace);
	/* The fixture culls every third one. */
	assert_int_equal(ta_sum(fx, PUMICE_TRACE_TA_CULL, BEGIN), POINTS);
	assert_int_equal(ta_sum(fx, PUMICE_TRACE_TA_CULL, ENDS), POINTS / 3);
	assert_int_equal(events(fx, PUMICE_TRACE_KIND_TA, CANCEL, NULL), 0);
	assert_int_equal(events(fx, CHUNK, ENDS, NULL), POINTS / SPLIT);
	vdmfx_destroy(fx);
}

static void an_abort_at_any_time_cancels_begun_work(void **state)
{
	struct pumice_trace_record r = { 0 };
	u32 steps, i, chunks = 0, tasks = 0;

	(void)state;
	for (steps = 0; steps < 200; steps++) {
		struct vdm_fixture *fx = start(1 + steps % 3, steps & 1);

		fx->pages = steps % 4 ? UINT32_MAX : 100;
		for (i = 0; i < steps; i++)
			if (!vdmfx_step(fx) && fx->ended[DM_MEMORY])
				vdmfx_call(fx, vdm_flush);
		vdmfx_call(fx, vdm_abort);
		vdmfx_run(fx);
		testtrace_check_pairs(&fx->base->trace);
		chunks += events(fx, CHUNK, CANCEL, NULL);
		tasks += events(fx, PUMICE_TRACE_KIND_TASK, CANCEL, &r);
		assert_int_equal(events(fx, PUMICE_TRACE_KIND_JOB_END, 0, &r), 1);
		assert_int_equal(r.arg1, fx->ended[DM_DONE] ? PUMICE_TRACE_END_DONE :
							      PUMICE_TRACE_END_ABORTED);
		assert_int_equal(r.context, (u32)VDMFX_TAG);
		vdmfx_destroy(fx);
	}
	print_message("%u chunks, %u tasks cancelled\n", chunks, tasks);
	assert_true(chunks > 20 && tasks > 20);
}

static void a_fault_cancels_begun_work(void **state)
{
	struct vdm_fixture *fx = start(2, false);
	struct pumice_trace_record r = { 0 };

	(void)state;
	fx->fault_at = 100;	/* in the TA */
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_FAULT], 1);
	testtrace_check_pairs(&fx->base->trace);
	assert_int_equal(events(fx, PUMICE_TRACE_KIND_TA, CANCEL, &r), 1);
	assert_int_equal(r.arg0, PUMICE_TRACE_TA_BIN);
	assert_true(events(fx, CHUNK, CANCEL, NULL) >= 1);
	assert_int_equal(events(fx, PUMICE_TRACE_KIND_JOB_END, 0, &r), 1);
	assert_int_equal(r.arg0, PUMICE_FAULT_MMU_READ_ONLY);
	assert_int_equal(r.arg1, PUMICE_TRACE_END_FAULT);
	vdmfx_destroy(fx);
}

/* The host changes the enabled events at every step; each begin still has an end. */
static void begins_and_ends_are_paired_whatever_is_enabled(void **state)
{
	u32 round;

	(void)state;
	for (round = 0; round < 20; round++) {
		struct vdm_fixture *fx = start(3, round & 1);
		u32 seed = round;

		while (vdmfx_step(fx)) {
			seed = seed * 1664525 + 1013904223;
			testtrace_on(&fx->base->trace, TESTTRACE_ALL & (1u << 31 | 1u | seed >> 3));
		}
		assert_int_equal(fx->ended[DM_DONE], 1);
		testtrace_check_pairs(&fx->base->trace);
		assert_true(testtrace_count(&fx->base->trace) > 20);
		vdmfx_destroy(fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(culled_primitives_are_counted),
		cmocka_unit_test(an_abort_at_any_time_cancels_begun_work),
		cmocka_unit_test(a_fault_cancels_begun_work),
		cmocka_unit_test(begins_and_ends_are_paired_whatever_is_enabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
