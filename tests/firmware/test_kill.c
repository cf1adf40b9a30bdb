// SPDX-License-Identifier: MIT
/* Killing contexts: running jobs stop, waiting ones end as KILLED, dependents continue. */
#include "fixture.h"

static void submit_jobs(struct fixture *r, struct fx_context *c, u32 count)
{
	u32 i;

	for (i = 1; i <= count; i++) {
		fx_compute(c, FX_STREAM_VA, i);
		fx_update(c, c->object_addr, i);
	}
	fx_submit(r, c);
}

static void assert_killed(const struct fx_context *c, u32 first, u32 last)
{
	u32 i;

	assert_int_equal(c->f->state, FWIF_CONTEXT_KILLED);
	assert_int_equal(*c->object, last);
	assert_int_equal(c->f->cccb_read, c->write);
	for (i = first; i <= last; i++) {
		assert_int_equal(fx_result(c, i)->seqno, i);
		assert_int_equal(fx_result(c, i)->fault, PUMICE_FAULT_KILLED);
	}
}

/* The result of a job that was not started has neither an instruction nor an access. */
static void assert_no_place(const struct fwif_job_result *result)
{
	assert_int_equal(result->access, 0);
	assert_int_equal(result->mmu_context, 0);
	assert_int_equal(result->pc, 0);
	assert_int_equal(result->usc, 0);
	assert_int_equal(result->groups, 0);
}

static void kill_stops_an_endless_job_and_all_that_follow(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c, next;
	struct fx_vm endless, vm;
	u32 seqno;

	(void)state;
	fx_vm(r, &endless);
	fx_vm(r, &vm);
	fx_vm_endless(&endless);
	fx_context(r, &endless, 1, &c);
	fx_context(r, &vm, 1, &next);
	submit_jobs(r, &c, 4);
	submit_jobs(r, &next, 1);
	assert_int_equal(r->boot->active_context, c.f->id);
	assert_int_equal(*next.object, 0);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &c), FWIF_STATUS_OK);
	assert_killed(&c, 1, 4);
	for (seqno = 2; seqno <= 4; seqno++)
		assert_no_place(fx_result(&c, seqno));
	assert_int_equal(r->boot->jobs_killed, 4);
	assert_true(fx_run(r));
	assert_int_equal(*next.object, 1);
	assert_int_equal(fx_result(&next, 1)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &c), FWIF_STATUS_OK);
	fx_destroy(r);
}

static void kill_of_a_waiting_context_releases_its_dependents(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c, dependent;
	struct fx_vm vm;
	u32 never;

	(void)state;
	fx_fw_alloc(r, 4, &never);
	fx_vm(r, &vm);
	fx_context(r, &vm, 1, &c);
	fx_context(r, &vm, 1, &dependent);
	fx_wait_for(&c, never, 1);
	submit_jobs(r, &c, 2);
	fx_wait_for(&dependent, c.object_addr, 2);
	submit_jobs(r, &dependent, 1);
	assert_int_equal(*dependent.object, 0);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &c), FWIF_STATUS_OK);
	assert_killed(&c, 1, 2);
	assert_int_equal(*dependent.object, 1);
	assert_int_equal(fx_result(&dependent, 1)->fault, PUMICE_FAULT_NONE);
	fx_destroy(r);
}

static void kill_of_a_prepared_job_does_not_affect_the_running_one(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context running, c;
	struct fx_vm endless;

	(void)state;
	fx_vm(r, &endless);
	fx_vm_endless(&endless);
	fx_context(r, &endless, 1, &running);
	fx_context(r, &endless, 1, &c);
	submit_jobs(r, &running, 1);
	submit_jobs(r, &c, 3);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &c), FWIF_STATUS_OK);
	assert_killed(&c, 1, 3);
	assert_int_equal(r->boot->active_context, running.f->id);
	assert_int_equal(*running.object, 0);
	fx_destroy(r);
}

static void kill_of_an_idle_context_completes_at_once_and_later_jobs_end_killed(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);

	(void)state;
	fx_submit(r, &c);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &c), FWIF_STATUS_OK);
	assert_int_equal(c.f->state, FWIF_CONTEXT_KILLED);
	submit_jobs(r, &c, 2);
	assert_killed(&c, 1, 2);
	assert_int_equal(r->boot->jobs_started, 0);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &c), FWIF_STATUS_OK);
	fx_destroy(r);
}

static void kill_completes_before_the_commands_that_follow(void **state)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct fixture *r = fx_booted();
	struct fwif_kccb_cmd kill = { .type = FWIF_KCCB_CONTEXT_KILL };
	struct fwif_kccb_cmd release = { .type = FWIF_KCCB_CONTEXT_RELEASE };
	struct fx_context c;
	struct fx_vm endless;
	u32 entry[3];

	(void)state;
	fx_vm(r, &endless);
	fx_vm_endless(&endless);
	fx_context(r, &endless, 1, &c);
	submit_jobs(r, &c, 1);
	kill.context = release.context = c.addr;
	entry[0] = fx_put(r, &kill);
	entry[1] = fx_put(r, &release);
	entry[2] = fx_put(r, &ping);
	fx_kick(r);
	assert_true(fx_run(r));
	/* The release that follows finds no unfinished work. */
	assert_int_equal(r->kccb_status[entry[0]], FWIF_STATUS_OK);
	assert_int_equal(r->kccb_status[entry[1]], FWIF_STATUS_OK);
	assert_int_equal(r->kccb_status[entry[2]], FWIF_STATUS_OK);
	fx_destroy(r);
}

static void kill_flushes_a_full_client_ccb(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	u32 never, i;

	(void)state;
	fx_fw_alloc(r, 4, &never);
	fx_vm(r, &vm);
	fx_context(r, &vm, 1, &c);
	fx_wait_for(&c, never, 1);
	for (i = 1; i < 250; i++)
		fx_update(&c, c.object_addr, i);
	fx_submit(r, &c);
	assert_int_equal(*c.object, 0);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &c), FWIF_STATUS_OK);
	assert_int_equal(*c.object, 249);
	fx_destroy(r);
}

static void release_is_busy_while_there_is_work(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context waiting, running;
	struct fx_vm endless, vm;
	u32 never;

	(void)state;
	fx_fw_alloc(r, 4, &never);
	fx_vm(r, &vm);
	fx_vm(r, &endless);
	fx_vm_endless(&endless);
	fx_context(r, &vm, 1, &waiting);
	fx_context(r, &endless, 1, &running);
	fx_wait_for(&waiting, never, 1);
	submit_jobs(r, &waiting, 1);
	submit_jobs(r, &running, 1);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &waiting),
			 FWIF_STATUS_BUSY);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &running),
			 FWIF_STATUS_BUSY);
	assert_int_equal(fx_call_catalogue(r, FWIF_KCCB_VM_RELEASE, vm.catalogue),
			 FWIF_STATUS_BUSY);
	assert_int_equal(fx_call_catalogue(r, FWIF_KCCB_VM_RELEASE, endless.catalogue),
			 FWIF_STATUS_BUSY);
	fx_destroy(r);
}

/* Kill a loop of one instruction; return the report written to @stuck. */
static void kill_with_stuck(u32 stuck)
{
	struct fixture *r = fx_booted();
	struct fx_vm endless;
	struct fx_context c;

	fx_vm(r, &endless);
	fx_vm_endless(&endless);
	fx_context(r, &endless, 1, &c);
	c.f->stuck = stuck;
	submit_jobs(r, &c, 2);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &c), FWIF_STATUS_OK);
	assert_killed(&c, 1, 2);
	/* The job that ran, and the one that never started. */
	assert_int_equal(fx_result(&c, 1)->unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(fx_result(&c, 1)->addr, FX_CODE_VA);
	assert_int_equal(fx_result(&c, 2)->unit, PUMICE_UNIT_FW);
	fx_assert_alive(r);
	fx_destroy(r);
}

static void kill_with_an_unmapped_report_affects_no_other_context(void **state)
{
	(void)state;
	kill_with_stuck(0);
	kill_with_stuck(FX_FW_HOLE);
}

static void kill_reports_the_position_of_the_waves(void **state)
{
	struct fixture *r = fx_booted();
	struct fwif_stuck *stuck;
	struct fx_vm endless;
	struct fx_context c;
	u32 addr;

	(void)state;
	fx_vm(r, &endless);
	fx_vm_endless(&endless);
	fx_context(r, &endless, 1, &c);
	stuck = fx_fw_alloc(r, sizeof(*stuck), &addr);
	c.f->stuck = addr;
	submit_jobs(r, &c, 1);
	assert_int_equal(stuck->seqno, 0);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &c), FWIF_STATUS_OK);
	assert_int_equal(stuck->seqno, 1);
	assert_int_equal(stuck->unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(stuck->waves, 1);
	assert_int_equal(stuck->sampled, 1);
	assert_int_equal(stuck->busy, 1u << FWIF_DM_CDM);
	assert_int_equal(stuck->places, 1);
	assert_int_equal(stuck->place[0].code, FX_CODE_VA);
	assert_int_equal(stuck->place[0].pc, 0);
	assert_int_equal(stuck->place[0].waves, 1);
	assert_int_equal(stuck->place[0].lanes, 1);
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kill_stops_an_endless_job_and_all_that_follow),
		cmocka_unit_test(kill_of_a_waiting_context_releases_its_dependents),
		cmocka_unit_test(kill_of_a_prepared_job_does_not_affect_the_running_one),
		cmocka_unit_test(kill_of_an_idle_context_completes_at_once_and_later_jobs_end_killed),
		cmocka_unit_test(kill_completes_before_the_commands_that_follow),
		cmocka_unit_test(kill_flushes_a_full_client_ccb),
		cmocka_unit_test(release_is_busy_while_there_is_work),
		cmocka_unit_test(kill_with_an_unmapped_report_affects_no_other_context),
		cmocka_unit_test(kill_reports_the_position_of_the_waves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
