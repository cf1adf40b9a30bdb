// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Faults that the GPU makes on request: which jobs fail, which succeed, and how soon. All of it
 * is in the guest's time; the list of programs has this one run where that is exact.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "inject.h"
#include "pumice_regs.h"
#include "render.h"
#include "rig.h"
#include "sync.h"
#include "system.h"
#include "uevent.h"

IGT_TEST_DESCRIPTION("Recovery from faults of the GPU and its firmware, made on request.");

#define JOB_MS		IGT_PUMICE_IMPATIENT	/* job_timeout_ms of this program */
#define FW_MS		400	/* fw_timeout_ms */
#define TICK_MS		(JOB_MS / 4)
#define SLACK_MS	100	/* recovery may take so much more than the time-outs in it */
#define FAILURES	5	/* in a row, after which firmware is given up */
#define MS		1000000ull
#define WORDS		1024u	/* of a transfer */

static long usual_fw_timeout_ms;

/* Who asks for the fault, and others: files of their own, contexts that have had jobs. */
struct scene {
	struct rig culprit, idle;
	struct rig other;	/* with a transfer context */
	u32 transfer;
	int resets;
};

static struct scene scene_open(void)
{
	struct scene s = { .culprit = rig_open(), .idle = rig_open(), .other = rig_open() };

	need_inject("none");
	s.transfer = need_context_of(s.other.fd, s.other.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	rig_check_works(&s.culprit);
	rig_check_works(&s.idle);
	rig_check_works(&s.other);
	s.resets = need_counts().resets;
	return s;
}

/* A transfer of another file; signals its rig's sync. */
static void start_transfer(struct scene *s, u32 value)
{
	struct drm_pumice_sync sync = then_signal(s->other.sync, 0);
	struct drm_pumice_job job = {
		.context = s->transfer, .syncs = ARRAY_OF(&sync, 1),
		.stream = transfer_fill_stream(&s->other, s->other.data.va, value, WORDS),
	};

	CHECK_OK(gpu_submit(s->other.fd, &job, 1, NULL));
}

static void check_transfer(struct scene *s, u32 value)
{
	u32 i;

	igt_assert_eq(rig_wait(&s->other), 1);
	for (i = 0; i < WORDS; i++)
		igt_assert_eq_u32(s->other.data.cpu[i], value);
	igt_assert_eq_u32(need_state(s->other.fd, s->transfer).state, 0);
}

/* The last job of a rig, submitted at @start, has ended, and took no more than @ms + SLACK_MS. */
static void check_in_time(struct rig *rig, u64 start, u32 ms)
{
	const u64 took = sync_signaled_at(rig->fd, rig->sync) - start;

	igt_info("ended after %llu us\n", (unsigned long long)took / 1000);
	igt_assert_f(took <= (ms + SLACK_MS) * MS, "took %llu us, more than %u ms\n",
		     (unsigned long long)took / 1000, ms + SLACK_MS);
}

/* It ends with this status, and in time. */
static void check_end(struct rig *rig, u64 start, int status, u32 ms)
{
	igt_assert_eq(rig_wait(rig), status);
	check_in_time(rig, start, ms);
}

/* Return: the time before the job was submitted. */
static u64 submit(struct rig *rig, u64 stream)
{
	const u64 start = now_ns();

	rig_submit(rig, stream);
	return start;
}

static u64 store_stream(struct rig *rig, u32 value)
{
	return rig_store_stream(rig, rig->data.va, value);
}

/* A job that stores words ends with this status, and in time; one that ends well stored them. */
static void check_store(struct rig *rig, u32 value, int status, u32 ms)
{
	const u64 start = submit(rig, store_stream(rig, value));

	check_end(rig, start, status, ms);
	if (status == 1)
		rig_check_words(rig->data.cpu, value);
}

/* After every fault: other contexts are as they were, the next jobs run. */
static void check_others_and_next(struct scene *s, u32 state, int resets)
{
	struct rig *culprit = &s->culprit;

	need_inject("none");
	igt_assert_eq_u32(need_state(culprit->fd, culprit->context).state, state);
	igt_assert_eq_u32(need_state(s->idle.fd, s->idle.context).state, 0);
	if (state & (DRM_PUMICE_CONTEXT_GUILTY | DRM_PUMICE_CONTEXT_INNOCENT))
		culprit->context = need_context(culprit->fd, culprit->vm);
	rig_check_works(culprit);
	rig_check_works(&s->idle);
	igt_assert_eq(need_counts().resets, s->resets + resets);
}

/* A fault at which one compute job is on the GPU. */
struct expected {
	const char *text;
	const char *kind;
	int status;	/* of its fence */
	u32 state;	/* of its context, flags */
	int resets;
	u32 ms;		/* time-outs in the recovery */
	bool transfers;	/* a transfer of others runs meanwhile */
};

static void expect(const struct expected *e)
{
	struct scene s = scene_open();
	u32 hits = inject_hits(e->kind);
	u64 start, stream = rig_store_stream(&s.culprit, rig_data(&s.culprit, 64), 1000);

	need_inject(e->text);
	start = submit(&s.culprit, stream);
	if (e->transfers) {
		start_transfer(&s, 0xabcd);
		check_transfer(&s, 0xabcd);
	}
	check_end(&s.culprit, start, e->status, e->ms);
	igt_assert_lt_u32(hits, inject_hits(e->kind));
	if (e->status == 1)
		rig_check_words(s.culprit.data.cpu + 64, 1000);
	check_others_and_next(&s, e->state, e->resets);
}

/* The reset comes when CONTEXT_KILL is not answered. */
static void unit_hang_cdm(void)
{
	expect(&(struct expected){
		"unit-hang,where=cdm", "unit-hang", -ETIMEDOUT, DRM_PUMICE_CONTEXT_GUILTY, 1,
		JOB_MS + FW_MS, true });
}

static void unit_hang_tdm(void)
{
	struct scene s = scene_open();
	u64 start;

	need_inject("unit-hang,where=tdm");
	start = now_ns();
	start_transfer(&s, 1);
	/* Compute jobs of others go on. */
	rig_check_works(&s.idle);
	check_end(&s.other, start, -ETIMEDOUT, JOB_MS + FW_MS);
	igt_assert_eq_u32(need_state(s.other.fd, s.transfer).state, DRM_PUMICE_CONTEXT_GUILTY);
	s.transfer = need_context_of(s.other.fd, s.other.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	start_transfer(&s, 2);
	check_transfer(&s, 2);
	check_others_and_next(&s, 0, 1);
}

/* A pair of a file of its own, at which @fault happens. Return: the time before it. */
static u64 submit_pair(struct render *r, const char *fault)
{
	u64 start;

	render_check_works(r);
	need_inject(fault);
	start = now_ns();
	render_submit(r, 0, r->geometry, r->fragment);
	return start;
}

/* It fails in time, and leaves its context in @state. */
static void check_pair_fails(struct render *r, u64 start, u32 state, u32 ms)
{
	igt_assert(rig_wait(&r->rig) < 0);
	check_in_time(&r->rig, start, ms);
	igt_assert_eq_u32(need_state(r->rig.fd, r->context).state, state);
}

static void unit_hangs_in_a_pair(const char *text)
{
	struct scene s = scene_open();
	struct render r = render_open();
	u64 start = submit_pair(&r, text);

	rig_check_works(&s.idle);
	check_pair_fails(&r, start, DRM_PUMICE_CONTEXT_GUILTY, JOB_MS + FW_MS);
	need_inject("none");
	r = render_open();
	render_check_works(&r);
	check_others_and_next(&s, 0, 1);
}

static void unit_hang_vdm(void)
{
	unit_hangs_in_a_pair("unit-hang,where=vdm");
}

static void unit_hang_pdm(void)
{
	unit_hangs_in_a_pair("unit-hang,where=pdm");
}

/* Reported by interrupts: no time-out is in it. */
static void firmware_lockup(void)
{
	expect(&(struct expected){
		"fw-lockup,where=job", "fw-lockup", -ECANCELED, DRM_PUMICE_CONTEXT_INNOCENT, 1,
		0, false });
}

static void firmware_lockup_at_kick(void)
{
	expect(&(struct expected){
		"fw-lockup,where=kick", "fw-lockup", -ECANCELED, DRM_PUMICE_CONTEXT_INNOCENT, 1,
		0, false });
}

static void firmware_trap(void)
{
	expect(&(struct expected){
		"fw-trap,where=job", "fw-trap", -ECANCELED, DRM_PUMICE_CONTEXT_INNOCENT, 1, 0,
		false });
}

/* Found by the first tick of the job's time-out: the firmware does not answer. */
static void firmware_silence(void)
{
	expect(&(struct expected){
		"fw-silence,where=job", "fw-silence", -ECANCELED, DRM_PUMICE_CONTEXT_INNOCENT, 1,
		TICK_MS + FW_MS, false });
}

static void firmware_silence_at_kick(void)
{
	expect(&(struct expected){
		"fw-silence,where=kick", "fw-silence", -ECANCELED, DRM_PUMICE_CONTEXT_INNOCENT, 1,
		TICK_MS + FW_MS, false });
}

/* It answers, but its background loop does not seem to go on: found by the second tick. */
static void heartbeat_stops(void)
{
	struct scene s = scene_open();

	need_inject("fw-message,where=heartbeat,count=endless");
	need_inject("unit-hang,where=cdm");
	check_store(&s.culprit, 1, -ECANCELED, 2 * TICK_MS);
	check_others_and_next(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

/* At the answer to a command that ends a context; no job is on the GPU. */
static void ring_index_damaged(void)
{
	struct scene s = scene_open();
	u64 start;

	need_inject("fw-message,where=ring,bit=20");
	start = now_ns();
	CHECK_OK(gpu_context_destroy(s.other.fd, s.other.context));
	while (need_counts().resets == s.resets && now_ns() - start < SLACK_MS * MS)
		usleep(1000);
	check_others_and_next(&s, 0, 1);
}

/* @text damages the message about a fault; the job's result still has the fault. */
static void message_damaged(const char *text)
{
	struct scene s = scene_open();
	u32 hits = inject_hits("fw-message");
	u64 start;

	need_inject(text);
	start = submit(&s.culprit, rig_store_stream(&s.culprit, RIG_FREE, 1));
	check_end(&s.culprit, start, -EIO, 0);
	igt_assert_eq_u32(inject_hits("fw-message"), hits + 1);
	check_others_and_next(&s, DRM_PUMICE_CONTEXT_FAULTED, 0);
}

static void message_of_unknown_type(void)
{
	message_damaged("fw-message,where=message,bit=5");
}

/* JOB_FAULT becomes FREE_LIST_GROW of a list that does not exist. */
static void message_of_another_type(void)
{
	message_damaged("fw-message,where=message,bit=1");
}

/* The answer to an unbind: what the TLBs still hold is uncertain, so the GPU is reset. */
static void answer_damaged(void)
{
	struct scene s = scene_open();
	const struct drm_pumice_bind_op unmap = bind_unmap(RIG_FREE, PAGE);
	u32 handle = need_bo(s.culprit.fd, PAGE);
	u64 start;

	need_map(s.culprit.fd, s.culprit.vm, handle, 0, RIG_FREE, PAGE, 0);
	igt_assert_eq(rig_run(&s.culprit, rig_store_stream(&s.culprit, RIG_FREE, 1)), 1);
	need_inject("fw-message,where=status,bit=2");
	start = now_ns();
	igt_assert_eq(gpu_bind(s.culprit.fd, s.culprit.vm, &unmap, 1, NULL), -EIO);
	igt_assert(now_ns() - start <= SLACK_MS * MS);
	rig_close(&s.culprit);
	s.culprit = rig_open();
	check_others_and_next(&s, 0, 1);
}

/* Nothing but the tick of the time-out finds the end; after that interrupts come again. */
static void lost_interrupt(void)
{
	struct scene s = scene_open();

	need_inject("lost-irq,where=host-irq");
	check_store(&s.culprit, 7, 1, TICK_MS + 50);
	igt_assert_eq_u32(inject_left("lost-irq"), 0);
	check_store(&s.culprit, 8, 1, 0);
	check_others_and_next(&s, 0, 0);
}

/* The firmware is not woken for the job, but by the tick. */
static void lost_kick(void)
{
	expect(&(struct expected){
		"lost-irq,where=kick", "lost-irq", 1, 0, 0, TICK_MS, false });
}

/* The job has ended without a report to the firmware: it cannot be stopped either. */
static void lost_end(void)
{
	expect(&(struct expected){
		"lost-irq,where=cdm", "lost-irq", -ETIMEDOUT, DRM_PUMICE_CONTEXT_GUILTY, 1,
		JOB_MS + FW_MS, true });
}

static void spurious_interrupt(void)
{
	expect(&(struct expected){
		"spurious-irq,where=host-irq,count=3", "spurious-irq", 1, 0, 0, 0, true });
}

static void spurious_news(void)
{
	expect(&(struct expected){
		"spurious-irq,where=host-news,count=3", "spurious-irq", 1, 0, 0, 0, true });
}

static void spurious_lockup(void)
{
	expect(&(struct expected){
		"spurious-irq,where=host-lockup,count=3", "spurious-irq", 1, 0, 0, 0, true });
}

/* While memory is slow the job is not done: its fence must not signal before. */
static void spurious_end(void)
{
	struct scene s = scene_open();

	need_inject("slow-memory,us=50000,count=2");
	need_inject("spurious-irq,where=cdm");
	check_store(&s.culprit, 30, 1, 2 * 50);
	check_others_and_next(&s, 0, 0);
}

static void late_end(void)
{
	struct scene s = scene_open();
	u64 start;

	need_inject("late-end,where=cdm,us=200000");
	start = submit(&s.culprit, store_stream(&s.culprit, 40));
	start_transfer(&s, 41);
	check_transfer(&s, 41);
	check_end(&s.culprit, start, 1, 200);
	igt_assert(sync_signaled_at(s.culprit.fd, s.culprit.sync) - start >= 200 * MS);
	rig_check_words(s.culprit.data.cpu, 40);
	check_others_and_next(&s, 0, 0);
}

/* Later than the time-out, but before the firmware's: stopped without a reset. */
static void too_late_end(void)
{
	expect(&(struct expected){
		"late-end,where=cdm,us=700000", "late-end", 1, DRM_PUMICE_CONTEXT_GUILTY, 0,
		JOB_MS + FW_MS, true });
}

static void page_table(const char *text)
{
	expect(&(struct expected){
		text, "page-table", -EIO, DRM_PUMICE_CONTEXT_FAULTED, 0, 0, false });
}

static void page_table_bit(void)
{
	page_table("page-table,where=table");
}

static void page_directory_bit(void)
{
	page_table("page-table,where=directory");
}

static void page_catalogue_bit(void)
{
	page_table("page-table,where=catalogue");
}

/* The firmware cannot reach what it shares with the host. */
static void firmware_table_bit(void)
{
	struct scene s = scene_open();
	u64 start;

	need_inject("page-table,where=fw-table");
	/* Maps memory for the firmware, so that its translations are read anew. */
	s.culprit.context = need_context(s.culprit.fd, s.culprit.vm);
	start = submit(&s.culprit, store_stream(&s.culprit, 1));
	need_wait(s.culprit.fd, s.culprit.sync, 0);
	check_in_time(&s.culprit, start, JOB_MS + FW_MS);
	igt_assert_eq_u32(inject_left("page-table"), 0);
	s.culprit.context = need_context(s.culprit.fd, s.culprit.vm);
	rig_check_works(&s.culprit);
	rig_check_works(&s.idle);
}

static void free_list_bit(void)
{
	struct scene s = scene_open();
	struct render r = render_open();
	u64 start = submit_pair(&r, "free-list,bit=96");

	start_transfer(&s, 50);
	check_transfer(&s, 50);
	check_pair_fails(&r, start, DRM_PUMICE_CONTEXT_FAULTED, 0);
	igt_assert_eq_u32(inject_left("free-list"), 0);
	render_check_works(&r);
	check_others_and_next(&s, 0, 0);
}

static void slow_memory(void)
{
	expect(&(struct expected){
		"slow-memory,us=100000", "slow-memory", 1, 0, 0, 100, true });
}

/* So slow that the job is stopped, which needs no reset. */
static void too_slow_memory(void)
{
	expect(&(struct expected){
		"slow-memory,us=700000", "slow-memory", -ETIMEDOUT, DRM_PUMICE_CONTEXT_GUILTY, 0,
		JOB_MS + FW_MS, true });
}

/*
 * A job during which the GPU is given up, after a time-out: its file refuses calls then, so ask
 * a sync file.
 */
static void run_to_the_end(struct rig *rig, int status)
{
	struct pollfd done = { .events = POLLIN };

	rig_submit(rig, store_stream(rig, 1));
	done.fd = need_sync_file(rig->fd, rig->sync);
	igt_assert_eq(poll(&done, 1, WAIT_SECONDS * 1000), 1);
	igt_assert_eq(sync_file_status(done.fd), status);
	close(done.fd);
}

/* The GPU has been given up, and is bound again. */
static void need_gpu_again(void)
{
	u64 deadline = now_ns() + WAIT_SECONDS * 1000 * MS;
	char path[64];

	while (!gpu_node(path) && now_ns() < deadline)
		usleep(1000);
	igt_assert_eq(gpu_node(path), -ENODEV);
	need_unbound();
	need_bound();
	need_inject("none");
}

/* The GPU is given up at a job of this rig, and works when it is bound again. */
static void check_given_up(struct rig *rig, int events)
{
	run_to_the_end(rig, -ECANCELED);
	check_wedged(events, "WEDGED=rebind,bus-reset");
	rig_close(rig);
	need_gpu_again();
	*rig = rig_open();
	rig_check_works(rig);
}

/* As often as the firmware may fail without being given up. */
static void crash_in_a_row(struct rig *rig, const char *fault)
{
	int i;

	for (i = 0; i < FAILURES - 1; i++) {
		if (fault)
			need_inject(fault);
		igt_assert_eq(rig_run(rig, store_stream(rig, 1)), -ECANCELED);
		rig->context = need_context(rig->fd, rig->vm);
	}
}

/* With a job that ends in between the count begins anew. */
static void crash_at_every_job(void)
{
	struct rig rig = rig_open();
	int events;

	need_inject("none");
	crash_in_a_row(&rig, "fw-lockup,where=job");
	rig_check_works(&rig);
	need_inject("fw-lockup,where=job,count=endless");
	events = need_uevents();
	crash_in_a_row(&rig, NULL);
	/* The last time it falls silent, so that there is time to ask for the sync file. */
	need_inject("none");
	need_inject("fw-silence,where=job,count=endless");
	check_given_up(&rig, events);
}

static void crash_at_boot(void)
{
	struct scene s = scene_open();

	need_inject("fw-lockup,where=job");
	need_inject("fw-silence,where=boot");
	igt_assert_eq(rig_run(&s.culprit, store_stream(&s.culprit, 1)), -ECANCELED);
	igt_assert_eq_u32(inject_left("fw-silence"), 0);
	check_others_and_next(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

static void crash_at_every_boot(void)
{
	struct rig rig = rig_open();
	int events;

	need_inject("none");
	rig_check_works(&rig);
	events = need_uevents();
	need_inject("fw-lockup,where=boot,count=2");
	need_inject("fw-silence,where=kick");
	check_given_up(&rig, events);
}

/* The firmware goes on, but no command reaches it. */
static void kernel_ccb_silence(void)
{
	expect(&(struct expected){
		"fw-silence,where=kccb", "fw-silence", -ECANCELED, DRM_PUMICE_CONTEXT_INNOCENT, 1,
		TICK_MS + FW_MS, false });
}

/* A job that is on the GPU then ends by its own fault, and is reported; the next is not seen. */
static void kernel_ccb_silence_beside_a_job(void)
{
	struct scene s = scene_open();
	u32 hits = inject_hits("slow-memory");
	u64 start, next;

	need_inject("slow-memory,us=200000");
	start = now_ns();
	rig_submit(&s.other, rig_store_stream(&s.other, RIG_FREE, 1));
	while (inject_hits("slow-memory") == hits && now_ns() - start < SLACK_MS * MS)
		usleep(1000);
	need_inject("fw-silence,where=kccb");
	next = now_ns();
	rig_submit(&s.culprit, rig_store_stream(&s.culprit, s.culprit.data.va, 1));
	check_end(&s.other, start, -EIO, 200);
	igt_assert(sync_signaled_at(s.other.fd, s.other.sync) - start >= 200 * MS);
	check_end(&s.culprit, next, -ECANCELED, TICK_MS + FW_MS);
	check_others_and_next(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

/*
 * No JOB_FAULT, and the job's result says what it did. Firmware that stops says so by its state,
 * so that this costs no time-out either.
 */
static void firmware_ccb_silence(void)
{
	struct scene s = scene_open();
	u64 start;

	need_inject("fw-silence,where=fwccb");
	start = now_ns();
	rig_submit(&s.other, rig_store_stream(&s.other, RIG_FREE, 1));
	check_end(&s.other, start, -EIO, 0);
	igt_assert_eq_u32(inject_left("fw-silence"), 0);
	rig_check_works(&s.other);
	igt_assert_eq(need_counts().resets, s.resets);
	need_inject("fw-trap,where=job");
	start = now_ns();
	rig_submit(&s.culprit, rig_store_stream(&s.culprit, s.culprit.data.va, 1));
	check_end(&s.culprit, start, -ECANCELED, 0);
	check_others_and_next(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

/* A data set whose list has one page and may grow, and a stream that needs more. */
static struct render short_of_pages(u64 *stream)
{
	static const struct vertex triangle[3] = {
		{ -1, -1, .5, 1, { 1, 1, 1, 1 } }, { 3, -1, .5, 1, { 1, 1, 1, 1 } },
		{ -1, 3, .5, 1, { 1, 1, 1, 1 } },
	};
	struct render r = render_open();
	struct drm_pumice_free_list_create args = render_list_args(r.rig.vm);

	args.initial_pages = 1;
	args.threshold = 0;
	r.list = need_free_list(r.rig.fd, args);
	r.hwrt = need_hwrt(r.rig.fd, render_hwrt_args(r.rig.vm, r.list));
	memcpy(r.rig.data.cpu, triangle, sizeof(triangle));
	*stream = render_draw_stream(&r, r.rig.data.va, 3);
	r.fragment = render_store_record(&r, rig_data(&r.rig, 4096));
	return r;
}

/* The request for pages is lost: the pair ends by its time-out, and others go on. */
static void request_for_pages_lost(struct scene *s, struct render *r, u64 stream)
{
	u64 start = now_ns();

	render_submit(r, 0, stream, r->fragment);
	start_transfer(s, 70);
	rig_check_works(&s->idle);
	check_transfer(s, 70);
	igt_assert(rig_wait(&r->rig) < 0);
	igt_assert(sync_signaled_at(r->rig.fd, r->rig.sync) - start <= (JOB_MS + SLACK_MS) * MS);
	igt_assert_eq_u32(need_state(r->rig.fd, r->context).state, DRM_PUMICE_CONTEXT_GUILTY);
	igt_assert_eq(need_counts().resets, s->resets);
}

/* The same list grows for the next pair. */
static void check_list_grows(struct render *r, u64 stream)
{
	const int grown = need_free_lists_grown();

	r->context = need_context_of(r->rig.fd, r->rig.vm, DRM_PUMICE_CONTEXT_RENDER);
	igt_assert_eq(render_run(r, 0, stream, r->fragment), 1);
	igt_assert_lt(grown, need_free_lists_grown());
}

static void firmware_ccb_silence_without_pages(void)
{
	struct scene s = scene_open();
	u64 stream;
	struct render r = short_of_pages(&stream);

	need_inject("fw-silence,where=fwccb");
	request_for_pages_lost(&s, &r, stream);
	need_inject("fw-lockup,where=job");
	igt_assert_eq(rig_run(&s.culprit, rig_empty_stream(&s.culprit)), -ECANCELED);
	check_list_grows(&r, stream);
	check_others_and_next(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

/* One request is lost, and nothing else: without a reset. */
static void request_for_pages_damaged(void)
{
	struct scene s = scene_open();
	u64 stream;
	struct render r = short_of_pages(&stream);

	need_inject("fw-message,where=message,bit=5");
	request_for_pages_lost(&s, &r, stream);
	igt_assert_eq_u32(inject_left("fw-message"), 0);
	check_list_grows(&r, stream);
	check_others_and_next(&s, 0, 0);
}

static void nonsense_is_refused(void)
{
	static const char *const bad[] = {
		"\n", "nothing", "none,where=cdm", "unit-hang,where=list", "unit-hang,count=0",
		"unit-hang,count", "unit-hang,bit=x", "unit-hang,us=4294967296", "unit-hang,,",
		"unit-hang,colour=red",
	};
	char text[400];
	u32 i;

	need_inject("none");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		igt_assert_f(inject(bad[i]) < 0, "\"%s\" is taken\n", bad[i]);
	memset(text, 'u', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	igt_assert_eq(inject(text), -EINVAL);
	igt_assert_eq_u32(inject_left("unit-hang"), 0);
}

/* Messages of the driver about a fault are expected; other messages of the kernel count. */
#define MESSAGES "pumice [0-9a-f:.]+: "
#define subtest(name, proves, run) igt_pumice_subtest_logs(name, proves, run, MESSAGES)

/* Also after a subtest that was ended. */
static void restore(int signal)
{
	(void)signal;
	inject("none");
	set_module_parameter("fw_timeout_ms", usual_fw_timeout_ms);
}

static void interrupt_subtests(void)
{
	subtest("lost-interrupt", "a lost interrupt delays one job by a tick, and no other",
		lost_interrupt);
	subtest("lost-kick", "a lost kick delays a job by a tick", lost_kick);
	subtest("lost-end", "a job whose end is not reported times out; the GPU is reset",
		lost_end);
	subtest("spurious-interrupt", "interrupts without a cause have no effect",
		spurious_interrupt);
	subtest("spurious-news", "interrupts without new messages have no effect", spurious_news);
	subtest("spurious-lockup", "reports of a lockup that did not happen have no effect",
		spurious_lockup);
	subtest("spurious-end", "reports of an end that did not happen have no effect",
		spurious_end);
	subtest("late-end", "a job whose end is reported late succeeds", late_end);
	subtest("too-late-end",
		"a job whose end is reported after its time-out is stopped without a reset",
		too_late_end);
}

static void memory_subtests(void)
{
	subtest("page-table-bit", "a flipped bit in a page table fails one job", page_table_bit);
	subtest("page-directory-bit", "a flipped bit in a page directory fails one job",
		page_directory_bit);
	subtest("page-catalogue-bit", "a flipped bit in a page catalogue fails one job",
		page_catalogue_bit);
	subtest("firmware-table-bit", "firmware that cannot reach its memory does no lasting harm",
		firmware_table_bit);
	subtest("free-list-bit", "a flipped bit in a free list fails one pair", free_list_bit);
	subtest("slow-memory", "results are right however slow memory is", slow_memory);
	subtest("too-slow-memory", "a job that memory makes too slow is stopped", too_slow_memory);
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(JOB_MS);
		igt_require_f(can_inject(), "this GPU makes no faults on request\n");
		usual_fw_timeout_ms = module_parameter("fw_timeout_ms");
		igt_install_exit_handler(restore);
		CHECK_OK(set_module_parameter("fw_timeout_ms", FW_MS));
	}

	subtest("unit-hang-cdm",
		"a CDM that hangs and ignores ABORT is reset; the context of its job is guilty",
		unit_hang_cdm);
	subtest("unit-hang-vdm", "a VDM that hangs is reset; the context of its job is guilty",
		unit_hang_vdm);
	subtest("unit-hang-pdm", "a PDM that hangs is reset; the context of its job is guilty",
		unit_hang_pdm);
	subtest("unit-hang-tdm", "a TDM that hangs is reset; the context of its job is guilty",
		unit_hang_tdm);
	subtest("firmware-lockup", "firmware that locks up at a job is booted again at once",
		firmware_lockup);
	subtest("firmware-lockup-at-kick",
		"firmware that locks up before a job is booted again at once",
		firmware_lockup_at_kick);
	subtest("firmware-trap", "firmware that stops itself is booted again at once",
		firmware_trap);
	subtest("firmware-silence",
		"firmware that stops responding at a job is found by the job's tick",
		firmware_silence);
	subtest("firmware-silence-at-kick",
		"firmware that stops responding before a job is found by the tick",
		firmware_silence_at_kick);
	subtest("heartbeat-stands-still",
		"firmware that answers but does nothing else is booted again",
		heartbeat_stops);
	subtest("ring-index-damaged",
		"a ring index out of range leads to a reset, and to no result", ring_index_damaged);
	subtest("message-of-unknown-type", "a message of unknown type is ignored",
		message_of_unknown_type);
	subtest("message-of-another-type",
		"a message that names an object that does not exist is ignored",
		message_of_another_type);
	subtest("answer-damaged", "an invalid answer leads to a reset", answer_damaged);
	interrupt_subtests();
	memory_subtests();
	subtest("crash-at-boot", "a boot that fails is tried again", crash_at_boot);
	subtest("crash-at-every-boot", "a GPU that cannot be booted is given up",
		crash_at_every_boot);
	subtest("crash-at-every-job", "firmware that crashes at every job is given up",
		crash_at_every_job);
	subtest("kernel-ccb-silence", "firmware that reads no commands is detected by a tick",
		kernel_ccb_silence);
	subtest("kernel-ccb-silence-beside-a-job",
		"a job on the GPU ends as usual while no commands are read",
		kernel_ccb_silence_beside_a_job);
	subtest("firmware-ccb-silence", "jobs end although the firmware writes no messages",
		firmware_ccb_silence);
	subtest("firmware-ccb-silence-without-pages",
		"a job whose request for pages is lost is stopped without a reset",
		firmware_ccb_silence_without_pages);
	subtest("request-for-pages-damaged",
		"a free list whose request for pages is damaged grows for the next pair",
		request_for_pages_damaged);
	subtest("nonsense-is-refused", "the debugfs file refuses what the GPU would not accept",
		nonsense_is_refused);
}
