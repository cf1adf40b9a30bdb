// SPDX-License-Identifier: MIT
/*
 * A geometry job that has run out of pages: growth granted and denied by the host, pages
 * freed by other jobs, partial renders, and failure if none of these helps; kills in each
 * of these states. VDM, PDM and PM are fakes.
 */
#include "scene.h"

/* A render context of two kinds, a second one for other fragment jobs, and a scene. */
struct partial_fixture {
	struct fixture *r;
	struct fx_vm vm, other_vm;
	struct scene scene, other;
	struct fx_context geometry, fragment;
};

static void begin(struct partial_fixture *t, bool spill)
{
	t->r = fx_booted();
	fx_vm(t->r, &t->vm);
	fx_vm(t->r, &t->other_vm);
	scene_make(t->r, spill, &t->scene);
	scene_make(t->r, spill, &t->other);
	fx_context_of(t->r, &t->vm, FWIF_DM_VDM, 1, &t->geometry);
	fx_context_of(t->r, &t->other_vm, FWIF_DM_PDM, 1, &t->fragment);
	submit_job(t->r, &t->geometry, &t->scene, 1);
	assert_int_equal(fake[FAKE_VDM].starts, 1);
}

/* Setup and teardown of each test: a geometry job runs. */
static int set_up(void **state)
{
	static struct partial_fixture t;

	begin(&t, true);
	*state = &t;
	return 0;
}

static int tear_down(void **state)
{
	struct partial_fixture *t = *state;

	fx_destroy(t->r);
	return 0;
}

/* Set both lists to their maximum of pages. */
static void cannot_grow(struct partial_fixture *t)
{
	u32 i;

	for (i = 0; i < PUMICE_PM_LISTS; i++)
		list_set_max(&t->scene, i, 10);
}

static void out_of_pages(struct partial_fixture *t)
{
	end_and_run(t->r, FAKE_VDM, DM_MEMORY);
}

/* Bring the job to a partial render of its scene so far. */
static void to_partial_render(struct partial_fixture *t)
{
	cannot_grow(t);
	out_of_pages(t);
	assert_int_equal(fake[FAKE_VDM].flushes, 1);
	out_of_pages(t);
	assert_true(fake[FAKE_PDM].job.partial);
}

static void assert_requested(struct partial_fixture *t, u32 list)
{
	const struct fwif_fwccb_msg msg = next_message(t->r);

	assert_int_equal(msg.type, FWIF_FWCCB_FREE_LIST_GROW);
	assert_int_equal(msg.code, t->scene.list_addr[list]);
	assert_int_equal(next_message(t->r).type, 0);
}

/* End the job without a fault; check the number of partial renders. */
static void assert_succeeds(struct partial_fixture *t, u32 partials)
{
	end_and_run(t->r, FAKE_VDM, DM_DONE);
	assert_int_equal(fx_result(&t->geometry, 1)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_result(&t->geometry, 1)->partials, partials);
	assert_int_equal(*t->geometry.object, 1);
	assert_int_equal(t->r->boot->partials, partials);
}

static void assert_ended_with(struct partial_fixture *t, u32 fault)
{
	fx_run(t->r);
	assert_false(fake[FAKE_VDM].status.busy);
	assert_int_equal(fx_result(&t->geometry, 1)->fault, fault);
	assert_int_equal(*t->geometry.object, 1);
	/* The next job starts without state of this one. */
	submit_job(t->r, &t->geometry, &t->scene, 2);
	if (t->geometry.f->state != FWIF_CONTEXT_OK)
		return;
	end_and_run(t->r, FAKE_VDM, DM_DONE);
	assert_int_equal(fx_result(&t->geometry, 2)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_result(&t->geometry, 2)->partials, 0);
}

static void granted_growth_resumes_the_job(void **state)
{
	struct partial_fixture *t = *state;

	out_of_pages(t);
	assert_requested(t, 0);
	assert_int_equal(fake[FAKE_VDM].resumes, 0);
	reply_grown(t->r, t->scene.list_addr[0], 20);
	assert_int_equal(list_pages(&t->scene, 0), 20);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	assert_int_equal(fake[FAKE_VDM].flushes, 0);
	assert_succeeds(t, 0);
}

static void second_list_is_requested_if_the_first_cannot_grow(void **state)
{
	struct partial_fixture *t = *state;

	out_of_pages(t);
	assert_requested(t, 0);
	reply_grown(t->r, t->scene.list_addr[0], 10);
	assert_requested(t, 1);
	reply_grown(t->r, t->scene.list_addr[1], 11);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	assert_int_equal(fake_pm.grown_list, t->scene.list_addr[1]);
	assert_succeeds(t, 0);
}

static void a_list_has_one_open_request(void **state)
{
	struct partial_fixture *t = *state;

	fake_low(t->scene.list_addr[0]);
	fx_run(t->r);
	assert_requested(t, 0);
	fake_low(t->scene.list_addr[0]);
	out_of_pages(t);
	assert_int_equal(next_message(t->r).type, 0);
	assert_int_equal(fake[FAKE_VDM].resumes, 0);
	reply_grown(t->r, t->scene.list_addr[0], 30);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	fake_low(t->scene.list_addr[0]);
	fx_run(t->r);
	assert_requested(t, 0);
}

static void a_low_list_grows_without_a_stall(void **state)
{
	struct partial_fixture *t = *state;

	fake_low(t->scene.list_addr[1]);
	fx_run(t->r);
	assert_requested(t, 1);
	reply_grown(t->r, t->scene.list_addr[1], 12);
	assert_int_equal(list_pages(&t->scene, 1), 12);
	assert_int_equal(fake[FAKE_VDM].resumes, 0);
	/* No request for a list with all its pages, nor for an address that is not a list. */
	list_set_max(&t->scene, 1, 12);
	fake_low(t->scene.list_addr[1]);
	fake_low(FX_FW_HOLE);
	fake_low(0);
	fake_low(0x80000000);
	fx_run(t->r);
	assert_int_equal(next_message(t->r).type, 0);
	fx_assert_alive(t->r);
}

static void replies_about_invalid_lists_are_refused(void **state)
{
	static const u32 bad[] = { 0, 0x200002, FX_FW_HOLE, 0x80000000, 0x7ffffffc };
	struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_FREE_LIST_GROWN, .pages = 20 };
	struct partial_fixture *t = *state;
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cmd.object = bad[i];
		assert_int_equal(fx_call(t->r, &cmd), FWIF_STATUS_INVALID);
	}
	assert_int_equal(fake_pm.grows, 0);
	/* Fields that a command does not have must be zero. */
	cmd.type = FWIF_KCCB_PING;
	cmd.object = 0;
	assert_int_equal(fx_call(t->r, &cmd), FWIF_STATUS_INVALID);
	cmd.pages = 0;
	cmd.object = t->scene.addr;
	assert_int_equal(fx_call(t->r, &cmd), FWIF_STATUS_INVALID);
}

static void a_partial_render_resumes_the_job(void **state)
{
	struct partial_fixture *t = *state;
	u32 i;

	cannot_grow(t);
	for (i = 1; i <= 3; i++) {
		fake[FAKE_VDM].status.done += 5;
		out_of_pages(t);
		assert_int_equal(fake[FAKE_VDM].flushes, i);
		assert_int_equal(fake[FAKE_PDM].starts, i - 1);
		out_of_pages(t);
		assert_int_equal(fake[FAKE_PDM].starts, i);
		assert_true(fake[FAKE_PDM].job.partial);
		assert_int_equal(fake[FAKE_PDM].job.stream, RENDER_VA);
		assert_int_equal(fake[FAKE_PDM].job.scene, t->scene.addr);
		assert_int_equal(fake[FAKE_PDM].job.ctx, fake[FAKE_VDM].job.ctx);
		assert_int_equal(fake[FAKE_VDM].resumes, i - 1);
		end_and_run(t->r, FAKE_PDM, DM_DONE);
		assert_int_equal(fake[FAKE_VDM].resumes, i);
	}
	assert_int_equal(next_message(t->r).type, 0);
	assert_succeeds(t, 3);
	assert_int_equal(t->r->boot->jobs_started, 1);
}

static void denied_growth_leads_to_a_partial_render(void **state)
{
	struct partial_fixture *t = *state;

	list_set_max(&t->scene, 1, 10);
	out_of_pages(t);
	assert_requested(t, 0);
	assert_int_equal(fake[FAKE_VDM].flushes, 0);
	reply_grown(t->r, t->scene.list_addr[0], 10);
	assert_int_equal(fake[FAKE_VDM].flushes, 1);
	out_of_pages(t);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_succeeds(t, 1);
}

static void pages_freed_by_a_fragment_job_precede_a_partial_render(void **state)
{
	struct partial_fixture *t = *state;

	cannot_grow(t);
	submit_job(t->r, &t->fragment, &t->other, 1);
	out_of_pages(t);
	assert_int_equal(fake[FAKE_VDM].flushes, 0);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	/* Pages were freed while it stalled: it is resumed at once. */
	submit_job(t->r, &t->fragment, &t->other, 2);
	fake[FAKE_VDM].status.done = 1;
	out_of_pages(t);
	fake[FAKE_PDM].status.done = 1;
	fake_pm.freed = 7;
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_int_equal(fake[FAKE_VDM].resumes, 2);
	assert_int_equal(fake[FAKE_VDM].flushes, 0);
	assert_succeeds(t, 0);
}

static void partial_render_follows_the_running_fragment_job_and_precedes_the_next(void **state)
{
	struct partial_fixture *t = *state;

	cannot_grow(t);
	out_of_pages(t);
	assert_int_equal(fake[FAKE_VDM].flushes, 1);
	/* Submitted during the flush: it must not start before the partial render. */
	submit_job(t->r, &t->fragment, &t->other, 1);
	assert_int_equal(fake[FAKE_PDM].starts, 0);
	out_of_pages(t);
	assert_int_equal(fake[FAKE_PDM].starts, 1);
	assert_true(fake[FAKE_PDM].job.partial);
	assert_int_equal(*t->fragment.object, 0);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_int_equal(fake[FAKE_PDM].starts, 2);
	assert_false(fake[FAKE_PDM].job.partial);
	assert_int_equal(fake[FAKE_PDM].job.scene, t->other.addr);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_int_equal(*t->fragment.object, 1);
	assert_succeeds(t, 1);
}

static void no_progress_waits_once_for_other_jobs_and_then_renders(void **state)
{
	struct partial_fixture *t = *state;

	cannot_grow(t);
	submit_job(t->r, &t->fragment, &t->other, 1);
	submit_job(t->r, &t->fragment, &t->other, 2);
	out_of_pages(t);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	/* The second one runs now, but this job has made no progress. */
	out_of_pages(t);
	assert_int_equal(fake[FAKE_VDM].flushes, 1);
	out_of_pages(t);
	assert_int_equal(fake[FAKE_PDM].starts, 2);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_int_equal(fake[FAKE_PDM].starts, 3);
	assert_true(fake[FAKE_PDM].job.partial);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_succeeds(t, 1);
}

static void a_partial_render_waits_for_the_dependencies_of_its_fragment_job(void **state)
{
	struct fwif_cccb_render *cmd;
	struct partial_fixture *t = *state;

	cannot_grow(t);
	end_and_run(t->r, FAKE_VDM, DM_DONE);
	cmd = (struct fwif_cccb_render *)(void *)(t->geometry.cccb + t->geometry.write);
	put_geometry(&t->geometry, &t->scene, 2);
	cmd->before = t->fragment.object_addr;
	cmd->before_value = 1;
	fx_submit(t->r, &t->geometry);
	out_of_pages(t);
	assert_int_equal(fake[FAKE_VDM].flushes, 0);
	submit_job(t->r, &t->fragment, &t->other, 1);
	assert_int_equal(fake[FAKE_PDM].starts, 1);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	out_of_pages(t);
	assert_int_equal(fake[FAKE_VDM].flushes, 1);
	out_of_pages(t);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	end_and_run(t->r, FAKE_VDM, DM_DONE);
	assert_int_equal(fx_result(&t->geometry, 2)->partials, 1);
}

static void a_partial_render_without_progress_fails_the_job(void **state)
{
	struct partial_fixture *t = *state;

	to_partial_render(t);
	end_and_run(t->r, FAKE_PDM, DM_DONE);
	out_of_pages(t);
	assert_int_equal(fake[FAKE_VDM].aborts, 1);
	assert_ended_with(t, PUMICE_FAULT_PM_MEMORY);
	assert_int_equal(fx_result(&t->geometry, 1)->unit, PUMICE_UNIT_PM);
	assert_int_equal(fx_result(&t->geometry, 1)->addr, t->scene.addr);
	assert_int_equal(fx_result(&t->geometry, 1)->partials, 1);
}

static void a_scene_without_spill_memory_has_no_partial_render(void **state)
{
	struct partial_fixture t;

	(void)state;
	begin(&t, false);
	cannot_grow(&t);
	out_of_pages(&t);
	assert_int_equal(fake[FAKE_VDM].flushes, 0);
	assert_ended_with(&t, PUMICE_FAULT_PM_MEMORY);
	fx_destroy(t.r);
}

static void fault_of_a_partial_render_is_reported_for_the_geometry_job(void **state)
{
	struct partial_fixture *t = *state;

	to_partial_render(t);
	fake_fault(FAKE_PDM, PUMICE_FAULT_IPF_REGION, 0x77000);
	assert_ended_with(t, PUMICE_FAULT_IPF_REGION);
	assert_int_equal(fx_result(&t->geometry, 1)->unit, PUMICE_UNIT_IPF);
	assert_int_equal(fx_result(&t->geometry, 1)->addr, 0x77000);
	assert_int_equal(t->r->boot->partials, 0);
}

/* States of a geometry job. */
enum job_state { RUNNING, GROWING, WAITING, FLUSHING, QUEUED, RENDERING };

static const enum job_state every_state[] = {
	RUNNING, GROWING, WAITING, FLUSHING, QUEUED, RENDERING,
};

static void bring_to(struct partial_fixture *t, enum job_state state)
{
	if (state > GROWING)
		cannot_grow(t);
	if (state == WAITING || state == QUEUED)
		submit_job(t->r, &t->fragment, &t->other, 1);
	if (state == QUEUED) {
		/* It waits for one fragment job, and for the next when it stalls again. */
		submit_job(t->r, &t->fragment, &t->other, 2);
		out_of_pages(t);
		end_and_run(t->r, FAKE_PDM, DM_DONE);
		out_of_pages(t);
		fake[FAKE_VDM].resumes = 0;
	}
	if (state > RUNNING)
		out_of_pages(t);
	if (state == RENDERING)
		out_of_pages(t);
}

/* The times that the host's time-outs use. */
static void stall_time_is_published_separately_from_run_time(void **state)
{
	const struct fwif_context *f;
	struct partial_fixture t;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(every_state) / sizeof(every_state[0]); i++) {
		const enum job_state at = every_state[i];
		const bool stopped = at == GROWING || at == WAITING || at == QUEUED;

		print_message("state %u\n", at);
		begin(&t, true);
		f = t.geometry.f;
		bring_to(&t, at);
		assert_int_equal(!!f->stop_start, stopped);
		assert_int_equal(f->renders_partial, at == FLUSHING || at == RENDERING);
		assert_int_not_equal(f->slice_start, 0);
		if (stopped)
			assert_in_range(f->stop_start, f->slice_start, fx_clock(t.r));
		fx_call_context(t.r, FWIF_KCCB_CONTEXT_KILL, &t.geometry);
		fx_run(t.r);
		assert_int_equal(f->slice_start, 0);
		assert_int_equal(f->stop_start, 0);
		assert_int_equal(f->stop_ticks, 0);
		assert_int_equal(f->renders_partial, 0);
		fx_destroy(t.r);
	}
}

static void ended_stalls_are_counted_until_the_job_ends(void **state)
{
	const struct partial_fixture *t = *state;
	const struct fwif_context *f = t->geometry.f;
	u64 start, now;

	out_of_pages(*state);
	start = f->stop_start;
	assert_int_not_equal(start, 0);
	assert_int_equal(f->stop_ticks, 0);
	reply_grown(t->r, t->scene.list_addr[0], 20);
	now = fx_clock(t->r);
	assert_int_equal(f->stop_start, 0);
	assert_in_range(f->stop_ticks, 1, now - start);
	end_and_run(t->r, FAKE_VDM, DM_DONE);
	assert_int_equal(f->stop_ticks, 0);
}

/* Bring a geometry job to a state and kill it there. */
static void begin_killed(struct partial_fixture *t, enum job_state state)
{
	print_message("state %u\n", state);
	begin(t, true);
	bring_to(t, state);
	assert_int_equal(fx_call_context(t->r, FWIF_KCCB_CONTEXT_KILL, &t->geometry),
			 FWIF_STATUS_OK);
}

static void kill_ends_the_job_in_every_state(void **state)
{
	struct partial_fixture t;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(every_state) / sizeof(every_state[0]); i++) {
		begin_killed(&t, every_state[i]);
		assert_int_equal(fake[FAKE_PDM].aborts, every_state[i] == RENDERING);
		assert_int_equal(fake[FAKE_VDM].aborts, 1);
		assert_ended_with(&t, PUMICE_FAULT_KILLED);
		assert_int_equal(t.r->boot->partials, 0);
		if (every_state[i] == WAITING || every_state[i] == QUEUED) {
			end_and_run(t.r, FAKE_PDM, DM_DONE);
			assert_int_equal(*t.fragment.object, every_state[i] == WAITING ? 1 : 2);
		}
		submit_job(t.r, &t.fragment, &t.other, 3);
		assert_true(fake[FAKE_PDM].status.busy);
		assert_int_equal(fake[FAKE_VDM].resumes, 0);
		fx_destroy(t.r);
	}
}

/* The unit in the result of a killed job: of the PDM during its partial render. */
static void killed_job_reports_the_unit_that_processed_it(void **state)
{
	struct partial_fixture t;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(every_state) / sizeof(every_state[0]); i++) {
		begin_killed(&t, every_state[i]);
		fx_run(t.r);
		assert_int_equal(fx_result(&t.geometry, 1)->fault, PUMICE_FAULT_KILLED);
		assert_int_equal(fx_result(&t.geometry, 1)->unit,
				 every_state[i] == RENDERING ? PUMICE_UNIT_ISP : PUMICE_UNIT_VDM);
		fx_destroy(t.r);
	}
}

static void full_message_ring_does_not_stall_a_job_forever(void **state)
{
	struct partial_fixture *t = *state;
	u32 i;

	/* Requests for other lists fill the ring, which the host does not read. */
	for (i = 0; i < FX_FWCCB; i++) {
		struct scene more;

		scene_make(t->r, true, &more);
		fake_low(more.list_addr[0]);
		fx_run(t->r);
	}
	out_of_pages(t);
	assert_int_equal(fake[FAKE_VDM].flushes, 1);
	assert_int_not_equal(t->r->fwccb_ring->dropped, 0);
}

/* A lost request must not block this list or its jobs forever. */
static void lost_request_is_cancelled_with_its_job(void **state)
{
	struct fx_context next;
	struct partial_fixture *t = *state;

	out_of_pages(t);
	assert_requested(t, 0);
	assert_int_equal(fx_call_context(t->r, FWIF_KCCB_CONTEXT_KILL, &t->geometry),
			 FWIF_STATUS_OK);
	assert_ended_with(t, PUMICE_FAULT_KILLED);
	fx_context_of(t->r, &t->vm, FWIF_DM_VDM, 1, &next);
	submit_job(t->r, &next, &t->scene, 1);
	out_of_pages(t);
	assert_requested(t, 0);
	reply_grown(t->r, t->scene.list_addr[0], 20);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	end_and_run(t->r, FAKE_VDM, DM_DONE);
	assert_int_equal(fx_result(&next, 1)->fault, PUMICE_FAULT_NONE);
}

/* A message that is not sent counts as sent: the job waits until the host's time-out kills it. */
static void request_into_a_silent_ring_waits_for_the_host(void **state)
{
	struct partial_fixture *t = *state;

	assert_int_equal(pumice_gpu_inject(t->r->gpu, "fw-silence,where=fwccb"), 0);
	fx_kick(t->r);
	fx_run(t->r);
	out_of_pages(t);
	assert_int_equal(next_message(t->r).type, 0);
	assert_int_equal(t->r->fwccb_ring->dropped, 0);
	assert_int_equal(fake[FAKE_VDM].flushes, 0);
	assert_int_equal(fake[FAKE_VDM].resumes, 0);
	assert_int_not_equal(t->geometry.f->stop_start, 0);
	assert_int_equal(fx_call_context(t->r, FWIF_KCCB_CONTEXT_KILL, &t->geometry),
			 FWIF_STATUS_OK);
	assert_ended_with(t, PUMICE_FAULT_KILLED);
}

static u32 release_scene(struct partial_fixture *t, u32 scene)
{
	const struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_SCENE_RELEASE, .object = scene };

	return fx_call(t->r, &cmd);
}

static void a_scene_in_use_is_not_released(void **state)
{
	struct partial_fixture *t = *state;

	assert_int_equal(release_scene(t, t->scene.addr), FWIF_STATUS_BUSY);
	assert_int_equal(fake_pm.releases, 0);
	assert_int_equal(release_scene(t, t->other.addr), FWIF_STATUS_OK);
	assert_int_equal(fake_pm.released, t->other.addr);
	end_and_run(t->r, FAKE_VDM, DM_DONE);
	assert_int_equal(release_scene(t, t->scene.addr), FWIF_STATUS_OK);
	assert_int_equal(fake_pm.released, t->scene.addr);
	assert_int_equal(release_scene(t, 0), FWIF_STATUS_INVALID);
	assert_int_equal(release_scene(t, t->scene.addr + 4), FWIF_STATUS_INVALID);
	assert_int_equal(release_scene(t, 0x80000000), FWIF_STATUS_INVALID);
	assert_int_equal(fake_pm.releases, 2);
}

/* Another list may be created at the address of one that was released with an open request. */
static void request_is_cancelled_with_the_scenes_of_its_list(void **state)
{
	struct partial_fixture *t = *state;
	u32 i;

	for (i = 0; i < PUMICE_PM_LISTS; i++) {
		fake_low(t->scene.list_addr[i]);
		fx_run(t->r);
		assert_requested(t, i);
	}
	end_and_run(t->r, FAKE_VDM, DM_DONE);
	assert_int_equal(release_scene(t, t->scene.addr), FWIF_STATUS_OK);
	for (i = 0; i < PUMICE_PM_LISTS; i++) {
		fake_low(t->scene.list_addr[i]);
		fx_run(t->r);
		assert_requested(t, i);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(granted_growth_resumes_the_job),
		TEST(second_list_is_requested_if_the_first_cannot_grow),
		TEST(a_list_has_one_open_request),
		TEST(a_low_list_grows_without_a_stall),
		TEST(replies_about_invalid_lists_are_refused),
		TEST(a_partial_render_resumes_the_job),
		TEST(denied_growth_leads_to_a_partial_render),
		TEST(pages_freed_by_a_fragment_job_precede_a_partial_render),
		TEST(partial_render_follows_the_running_fragment_job_and_precedes_the_next),
		TEST(no_progress_waits_once_for_other_jobs_and_then_renders),
		TEST(a_partial_render_waits_for_the_dependencies_of_its_fragment_job),
		TEST(a_partial_render_without_progress_fails_the_job),
		cmocka_unit_test(a_scene_without_spill_memory_has_no_partial_render),
		TEST(fault_of_a_partial_render_is_reported_for_the_geometry_job),
		cmocka_unit_test(stall_time_is_published_separately_from_run_time),
		TEST(ended_stalls_are_counted_until_the_job_ends),
		cmocka_unit_test(kill_ends_the_job_in_every_state),
		cmocka_unit_test(killed_job_reports_the_unit_that_processed_it),
		TEST(full_message_ring_does_not_stall_a_job_forever),
		TEST(lost_request_is_cancelled_with_its_job),
		TEST(request_into_a_silent_ring_waits_for_the_host),
		TEST(a_scene_in_use_is_not_released),
		TEST(request_is_cancelled_with_the_scenes_of_its_list),
	};

	return cmocka_run_group_tests_name("partial renders", tests, NULL, NULL);
}
