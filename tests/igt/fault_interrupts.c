// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Interrupts of the firmware and of the host that are lost, spurious, or late. */
#include <errno.h>

#include "fault_interrupts.h"
#include "fault_scene.h"
#include "sync.h"
#include "system.h"

#define LOOK_MS		500	/* interval of the driver's checks for lost interrupts */
#define PATIENT_MS	(20 * LOOK_MS)	/* a time-out with a much longer tick */

/* Independent of the duration of its job: the driver checks periodically while the GPU has jobs. */
static void lost_interrupt_of_a_long_job(void)
{
	struct fixture patient = fx_with(need_gpu(), DRM_PUMICE_PRIORITY_NORMAL, PATIENT_MS);
	u64 start, stream;

	fx_check_works(&patient);
	stream = store_stream(&patient, 9);
	need_inject("lost-irq,where=host-irq");
	start = submit_at(&patient, stream);
	check_end(&patient, start, 1, LOOK_MS);
	check_stored(&patient, 9);
	igt_assert_eq_u32(inject_left("lost-irq"), 0);
}

/* The tick of the time-out detects the end; further interrupts are delivered. */
static void lost_interrupt(void)
{
	struct scene s = scene_open();
	u64 start, stream = store_stream(&s.culprit, 7);

	need_inject("lost-irq,where=host-irq");
	start = submit_at(&s.culprit, stream);
	scene_after(&s);
	check_end(&s.culprit, start, 1, TICK_MS + 50);
	check_stored(&s.culprit, 7);
	scene_check_after(&s);
	check_in_time(&s.after, start, TICK_MS + 50);
	igt_assert_eq_u32(inject_left("lost-irq"), 0);
	start = submit_at(&s.culprit, store_stream(&s.culprit, 8));
	check_end(&s.culprit, start, 1, 0);
	scene_end(&s, 0, 0);
	lost_interrupt_of_a_long_job();
}

/* The firmware is woken not by the job, but by the tick. */
static void lost_kick(void)
{
	expect(&(struct expected){
		.text = "lost-irq,where=kick", .kind = "lost-irq", .status = 1, .ms = TICK_MS,
		.when = IN_PARALLEL });
}

/* The job has ended without a report to the firmware, so it cannot be stopped either. */
static void lost_end(void)
{
	expect(&(struct expected){
		.text = "lost-irq,where=cdm", .kind = "lost-irq", .status = -ETIMEDOUT,
		.state = DRM_PUMICE_CONTEXT_GUILTY, .resets = 1, .ms = JOB_MS + FW_MS,
		.when = BEFORE, .transfers = true, .lasts = true });
}

static void spurious_interrupt(void)
{
	expect(&(struct expected){
		.text = "spurious-irq,where=host-irq,count=3", .kind = "spurious-irq", .status = 1,
		.when = BEFORE, .transfers = true });
}

static void spurious_message(void)
{
	expect(&(struct expected){
		.text = "spurious-irq,where=host-fw,count=3", .kind = "spurious-irq",
		.status = 1, .when = BEFORE, .transfers = true });
}

static void spurious_lockup(void)
{
	expect(&(struct expected){
		.text = "spurious-irq,where=host-lockup,count=3", .kind = "spurious-irq",
		.status = 1, .when = BEFORE, .transfers = true });
}

/* While memory is slow the job has not completed: its fence must not signal before. */
static void spurious_end(void)
{
	struct scene s = scene_open();
	u32 hits = inject_hits("spurious-irq");
	u64 start, stream = store_stream(&s.culprit, 30);

	need_inject("slow-memory,us=50000,count=2");
	need_inject("spurious-irq,where=cdm");
	start = submit_at(&s.culprit, stream);
	scene_after(&s);
	check_end(&s.culprit, start, 1, 2 * 50);
	check_stored(&s.culprit, 30);
	scene_check_after(&s);
	igt_assert_eq_u32(inject_hits("spurious-irq"), hits + 1);
	scene_end(&s, 0, 0);
}

static void late_end(void)
{
	struct scene s = scene_open();
	u64 start, stream = store_stream(&s.culprit, 40);

	need_inject("late-end,where=cdm,us=200000");
	start = submit_at(&s.culprit, stream);
	scene_after(&s);
	scene_transfer(&s, 41);
	scene_check_transfer(&s, 41);
	need_in_flight(2);
	check_end(&s.culprit, start, 1, 200);
	igt_assert(sync_signaled_at(s.culprit.fd, s.culprit.sync) - start >= 200 * MS);
	check_stored(&s.culprit, 40);
	scene_check_after(&s);
	scene_end(&s, 0, 0);
}

/* Later than the time-out, but before the firmware's: stopped without a reset. */
static void too_late_end(void)
{
	expect(&(struct expected){
		.text = "late-end,where=cdm,us=700000", .kind = "late-end", .status = 1,
		.state = DRM_PUMICE_CONTEXT_GUILTY, .ms = JOB_MS + FW_MS, .when = BEFORE,
		.transfers = true, .lasts = true });
}

#define subtest igt_pumice_subtest
#define subtest_logs igt_pumice_subtest_logs

void fault_interrupt_subtests(void)
{
	subtest("lost-interrupt", "a lost interrupt delays one job by a tick or half a second",
		lost_interrupt);
	subtest("lost-kick", "a lost kick delays a job by a tick", lost_kick);
	subtest_logs("lost-end", "a lost completion stops the context and causes a reset",
		lost_end, NOT_STOPPED);
	subtest("spurious-interrupt", "interrupts without a cause have no effect",
		spurious_interrupt);
	subtest("spurious-message", "interrupts without new messages have no effect",
		spurious_message);
	subtest_logs("spurious-lockup", "false reports of a lockup have no effect", spurious_lockup,
		"ignored a lockup interrupt: ");
	subtest("spurious-end", "false reports of a completion have no effect", spurious_end);
	subtest("late-end", "a job whose completion is reported late succeeds", late_end);
	subtest_logs("too-late-end",
		"a job whose completion is reported after its time-out is stopped without a reset",
		too_late_end, IGT_PUMICE_TIMED_OUT);
}
