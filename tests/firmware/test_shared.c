// SPDX-License-Identifier: MIT
/*
 * Data masters that several virtual GPUs share: jobs of one neither fail nor are killed because
 * others render. VDM, PDM and PM are fakes.
 */
#include "scene.h"

#define HOLD_US	200000u
#define HOLD_NS	(HOLD_US * 1000ull)

/* Virtual GPU 0 and 1, with a VM for each kind of job, and scenes for them. */
struct sharing {
	struct fixture *r, *guest;
	struct fx_vm vm[3], guest_vm;
	struct scene scene[3], guest_scene;
	struct fx_context geometry, fragment, other, guest_geometry, guest_fragment;
};

static int set_up(void **state)
{
	static struct sharing s;
	u32 i;

	s.r = fx_booted_oses(2);
	s.guest = fx_guest(s.r, 1);
	assert_int_equal(fx_connect(s.guest), FWIF_STATE_READY);
	for (i = 0; i < 3; i++) {
		fx_vm(s.r, &s.vm[i]);
		scene_make(s.r, i, &s.scene[i]);
	}
	fx_vm(s.guest, &s.guest_vm);
	scene_make(s.guest, true, &s.guest_scene);
	fx_context_of(s.r, &s.vm[0], FWIF_DM_VDM, 1, &s.geometry);
	fx_context_of(s.r, &s.vm[1], FWIF_DM_PDM, 1, &s.fragment);
	fx_context_of(s.r, &s.vm[2], FWIF_DM_PDM, 1, &s.other);
	fx_context_of(s.guest, &s.guest_vm, FWIF_DM_VDM, 1, &s.guest_geometry);
	fx_context_of(s.guest, &s.guest_vm, FWIF_DM_PDM, 1, &s.guest_fragment);
	*state = &s;
	return 0;
}

static int tear_down(void **state)
{
	struct sharing *s = *state;

	fx_destroy(s->r);
	return 0;
}

static void cannot_grow(struct scene *scene)
{
	u32 i;

	for (i = 0; i < PUMICE_PM_LISTS; i++)
		list_set_max(scene, i, 10);
}

/* A geometry job of number 0 runs out of pages while number 1 renders, and has a job after that. */
static void stall_after_guest(struct sharing *s)
{
	cannot_grow(&s->scene[0]);
	submit_job(s->guest, &s->guest_fragment, &s->guest_scene, 1);
	submit_job(s->r, &s->fragment, &s->scene[1], 1);
	submit_job(s->r, &s->geometry, &s->scene[0], 1);
	end_and_run(s->r, FAKE_VDM, DM_MEMORY);
	assert_int_equal(fake[FAKE_VDM].aborts, 0);
	assert_int_equal(fake[FAKE_VDM].resumes, 0);
}

static void a_geometry_job_waits_for_its_own_fragment_job(void **state)
{
	struct sharing *s = *state;

	stall_after_guest(s);
	/* Pages of the other one are of no use. */
	fake_pm.freed += 5;
	end_and_run(s->r, FAKE_PDM, DM_DONE);
	assert_int_equal(*s->guest_fragment.object, 1);
	assert_int_equal(fake[FAKE_VDM].resumes, 0);
	fake_pm.freed += 5;
	end_and_run(s->r, FAKE_PDM, DM_DONE);
	assert_int_equal(*s->fragment.object, 1);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	end_and_run(s->r, FAKE_VDM, DM_DONE);
	assert_int_equal(fx_result(&s->geometry, 1)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_result(&s->geometry, 1)->partials, 0);
}

static void a_killed_fragment_job_is_not_waited_for(void **state)
{
	struct sharing *s = *state;

	stall_after_guest(s);
	assert_int_equal(fx_call_context(s->r, FWIF_KCCB_CONTEXT_KILL, &s->fragment),
			 FWIF_STATUS_OK);
	assert_int_equal(fake[FAKE_VDM].resumes, 1);
	/* It has no memory for a partial render. */
	end_and_run(s->r, FAKE_VDM, DM_MEMORY);
	assert_int_equal(fake[FAKE_VDM].aborts, 1);
	end_and_run(s->r, FAKE_VDM, DM_ABORTED);
	assert_int_equal(fx_result(&s->geometry, 1)->fault, PUMICE_FAULT_PM_MEMORY);
}

/* Each request, while another one frees pages, would be repeated for ever. */
static void pages_that_others_free_resume_no_job(void **state)
{
	struct sharing *s = *state;

	submit_job(s->guest, &s->guest_fragment, &s->guest_scene, 1);
	submit_job(s->r, &s->geometry, &s->scene[0], 1);
	cannot_grow(&s->scene[0]);
	list_set_max(&s->scene[0], 0, 40);
	end_and_run(s->r, FAKE_VDM, DM_MEMORY);
	assert_int_equal(next_message(s->r).code, s->scene[0].list_addr[0]);
	fake_pm.freed += 5;
	reply_grown(s->r, s->scene[0].list_addr[0], 10);
	assert_int_equal(fake[FAKE_VDM].resumes, 0);
	assert_int_equal(fake[FAKE_VDM].aborts, 1);
	end_and_run(s->r, FAKE_VDM, DM_ABORTED);
	assert_int_equal(fx_result(&s->geometry, 1)->fault, PUMICE_FAULT_PM_MEMORY);
}

/* Run until the state of number 1's geometry context changes; return the time. */
static u64 time_to_kill(struct sharing *s)
{
	const u64 start = s->r->clock;

	while (s->guest_geometry.f->state == FWIF_CONTEXT_OK && s->r->clock - start < 3 * HOLD_NS) {
		fx_steps(s->r, 1);
		s->r->clock += 100000;
	}
	return s->r->clock - start;
}

static void a_partial_render_holds_the_pdm_from_its_start(void **state)
{
	struct sharing *s = *state;
	u32 i;

	s->r->boot->os_hold_us = HOLD_US;
	cannot_grow(&s->guest_scene);
	submit_job(s->guest, &s->guest_geometry, &s->guest_scene, 1);
	submit_job(s->r, &s->fragment, &s->scene[1], 1);
	submit_job(s->r, &s->other, &s->scene[2], 1);
	end_and_run(s->r, FAKE_VDM, DM_MEMORY);
	end_and_run(s->r, FAKE_VDM, DM_MEMORY);
	assert_int_equal(fake[FAKE_VDM].flushes, 1);
	s->r->clock += HOLD_NS * 3 / 4;
	fake_end(FAKE_PDM, DM_DONE);
	for (i = 0; i < 2000 && !fake[FAKE_PDM].job.partial; i++)
		fx_steps(s->r, 1);
	assert_true(fake[FAKE_PDM].job.partial);
	/* The second job of number 0 has waited all the time. */
	assert_in_range(time_to_kill(s), HOLD_NS * 9 / 10, HOLD_NS * 11 / 10);
	assert_int_equal(s->guest_geometry.f->state, FWIF_CONTEXT_KILLED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_geometry_job_waits_for_its_own_fragment_job),
		TEST(a_killed_fragment_job_is_not_waited_for),
		TEST(pages_that_others_free_resume_no_job),
		TEST(a_partial_render_holds_the_pdm_from_its_start),
	};

	return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
