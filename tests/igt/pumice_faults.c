// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Faults that the GPU injects on request: which contexts are stopped, which continue, and how
 * soon. All times are the guest's; the list of programs runs this one where they are exact.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fault_interrupts.h"
#include "fault_scene.h"
#include "sync.h"
#include "system.h"
#include "uevent.h"

IGT_TEST_DESCRIPTION("Recovery from injected faults of the GPU and its firmware.");

#define FAILURES	5	/* consecutive failures after which the GPU is lost */

static long usual_fw_timeout_ms;

/* The reset comes when CONTEXT_KILL has no reply. */
static void unit_hang_cdm(void)
{
	expect(&(struct expected){
		.text = "unit-hang,where=cdm", .kind = "unit-hang", .status = -ETIMEDOUT,
		.state = DRM_PUMICE_CONTEXT_GUILTY, .resets = 1, .ms = JOB_MS + FW_MS,
		.when = BEFORE, .transfers = true, .lasts = true });
}

/* Another user's transfer is queued after the one that hangs; compute jobs continue. */
static void unit_hang_tdm(void)
{
	struct scene s = scene_open();
	u64 start;
	u32 queued;

	need_inject("unit-hang,where=tdm");
	start = now_ns();
	scene_transfer(&s, 1);
	queued = scene_queue_transfer(&s, 3);
	fx_check_works(&s.ahead);
	need_in_flight(2);
	check_end(&s.other, start, -ETIMEDOUT, JOB_MS + FW_MS);
	scene_check_queued(&s, queued, 3);
	igt_assert_eq_u32(need_state(s.other.fd, s.transfer).state, DRM_PUMICE_CONTEXT_GUILTY);
	s.transfer = need_context_of(s.other.fd, s.other.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	scene_end(&s, 0, 1);
}

static void unit_hang_vdm(void)
{
	struct scene s = scene_open();
	struct pair culprit = open_pair(), after = open_pair();
	u64 start;

	need_inject("unit-hang,where=vdm");
	start = now_ns();
	submit_pair(&culprit);
	submit_pair(&after);
	fx_check_works(&s.ahead);
	need_in_flight(4);
	need_wait(culprit.r.fx.fd, culprit.geometry, 0);
	igt_assert(now_ns() - start <= (JOB_MS + FW_MS + SLACK_MS) * MS);
	check_pair(&culprit, -ETIMEDOUT, -ECANCELED, DRM_PUMICE_CONTEXT_GUILTY);
	check_pair(&after, 1, 1, 0);
	scene_end(&s, 0, 1);
}

/* The geometry job of the next pair has ended: its output is discarded by the reset. */
static void unit_hang_pdm(void)
{
	struct scene s = scene_open();
	struct pair culprit = open_pair(), after = open_pair();
	u64 start;

	need_inject("unit-hang,where=pdm");
	start = now_ns();
	submit_pair(&culprit);
	submit_pair(&after);
	fx_check_works(&s.ahead);
	need_in_flight(2);
	need_wait(culprit.r.fx.fd, culprit.r.fx.sync, 0);
	check_in_time(&culprit.r.fx, start, JOB_MS + FW_MS);
	check_pair(&culprit, 1, -ETIMEDOUT, DRM_PUMICE_CONTEXT_GUILTY);
	check_pair(&after, 1, -ECANCELED, DRM_PUMICE_CONTEXT_INNOCENT);
	scene_end(&s, 0, 1);
}

/* Reported by interrupts: does not include a time-out. */
static void firmware_lockup(void)
{
	expect(&(struct expected){
		.text = "fw-lockup,where=job", .kind = "fw-lockup", .status = -ECANCELED,
		.state = DRM_PUMICE_CONTEXT_INNOCENT, .resets = 1, .when = AT_ITS_START,
		.log = "firmware processor stopped: mcause" });
}

/* The job has not begun, so it runs after the reset. */
static void firmware_lockup_at_kick(void)
{
	expect(&(struct expected){
		.text = "fw-lockup,where=kick", .kind = "fw-lockup", .status = 1, .resets = 1,
		.when = AT_ITS_KICK, .log = "firmware processor stopped: mcause" });
}

/*
 * It is resubmitted to the new firmware once, and not again. Jobs are resubmitted in the order of
 * their contexts' creation, so that the firmware fails at the culprit's again, not at another.
 */
static void firmware_lockup_at_every_kick(void)
{
	struct scene s = scene_open();
	u64 start;

	memset(s.culprit.data.cpu, 0, FX_DATA_BYTES);
	scene_hold(&s);
	scene_after(&s);
	need_in_flight(2);
	need_inject("fw-lockup,where=kick,count=2");
	start = submit_at(&s.culprit, store_stream(&s.culprit, 77));
	check_end(&s.culprit, start, -ECANCELED, 0);
	igt_assert_eq_u32(inject_left("fw-lockup"), 0);
	igt_assert_eq_u32(s.culprit.data.cpu[64], 0);
	scene_ahead_is_lost(&s);
	scene_check_after(&s);
	scene_end(&s, DRM_PUMICE_CONTEXT_INNOCENT, 2);
}

/* The firmware reports the reason itself. */
static void firmware_trap(void)
{
	expect(&(struct expected){
		.text = "fw-trap,where=job", .kind = "fw-trap", .status = -ECANCELED,
		.state = DRM_PUMICE_CONTEXT_INNOCENT, .resets = 1, .when = AT_ITS_START,
		.log = "firmware stopped: unexpected trap" });
}

static void firmware_trap_at_kick(void)
{
	expect(&(struct expected){
		.text = "fw-trap,where=kick", .kind = "fw-trap", .status = 1, .resets = 1,
		.when = AT_ITS_KICK, .log = "firmware stopped: unexpected trap" });
}

/* Detected by the first tick of the job's time-out: the firmware does not reply. */
static void firmware_silence(void)
{
	expect(&(struct expected){
		.text = "fw-silence,where=job", .kind = "fw-silence", .status = -ECANCELED,
		.state = DRM_PUMICE_CONTEXT_INNOCENT, .resets = 1, .ms = TICK_MS + FW_MS,
		.when = BEFORE, .lasts = true });
}

static void firmware_silence_at_kick(void)
{
	expect(&(struct expected){
		.text = "fw-silence,where=kick", .kind = "fw-silence", .status = 1, .resets = 1,
		.ms = TICK_MS + FW_MS, .when = AT_ITS_KICK });
}

/* It replies, but its background loop does not seem to run: detected by the second tick. */
static void heartbeat_stops(void)
{
	struct scene s = scene_open();
	u64 start;

	need_inject("fw-message,where=heartbeat,count=endless");
	need_inject("unit-hang,where=cdm");
	start = submit_at(&s.culprit, store_stream(&s.culprit, 1));
	scene_after(&s);
	need_in_flight(2);
	check_end(&s.culprit, start, -ECANCELED, 2 * TICK_MS);
	scene_check_after(&s);
	scene_end(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

/*
 * Jobs completed by the firmware count, although its message about them leads to a reset. Of two
 * transfers in flight at that time, the one that has begun is lost.
 */
static void ring_index_damaged(void)
{
	struct scene s = scene_open();
	u64 start, stream = store_stream(&s.culprit, 90);
	u32 queued;

	scene_hold_transfer(&s, 1, TICK_MS);
	queued = scene_queue_transfer(&s, 2);
	need_in_flight(2);
	need_inject("fw-message,where=ring,bit=20");
	start = submit_at(&s.culprit, stream);
	check_end(&s.culprit, start, 1, 0);
	check_stored(&s.culprit, 90);
	while (need_counts().resets == s.resets && now_ns() - start < SLACK_MS * MS)
		usleep(1000);
	scene_transfer_is_lost(&s);
	scene_check_queued(&s, queued, 2);
	scene_end(&s, 0, 1);
}

/*
 * Jobs are in flight, of which one has begun, when data that the firmware writes with a reply is
 * damaged: that one is lost by the reset.
 */
struct damage {
	struct scene s;
	u64 start;
};

static struct damage damage_begins(const char *text)
{
	struct damage d = { .s = scene_open() };

	scene_hold(&d.s);
	scene_after(&d.s);
	need_in_flight(2);
	need_inject(text);
	d.start = now_ns();
	return d;
}

/* @err: expected result of the ioctl that sent the command; @ret: actual result */
static void check_damage(struct damage *d, int ret, int err)
{
	struct scene *s = &d->s;

	igt_assert_eq(ret, err);
	while (need_counts().resets == s->resets && now_ns() - d->start < SLACK_MS * MS)
		usleep(1000);
	igt_assert_eq_u32(inject_left("fw-message"), 0);
	scene_ahead_is_lost(s);
	check_in_time(&s->ahead, d->start, 0);
	scene_check_after(s);
	scene_end(s, 0, 1);
}

/* At the reply to the command that ends a context. */
static void damaged_at_the_end_of_a_context(const char *text)
{
	struct damage d = damage_begins(text);
	int ret = gpu_context_destroy(d.s.culprit.fd, d.s.culprit.context);

	d.s.culprit.context = need_context(d.s.culprit.fd, d.s.culprit.vm);
	check_damage(&d, ret, 0);
}

static void ring_index_damaged_at_a_reply(void)
{
	damaged_at_the_end_of_a_context("fw-message,where=ring,bit=20");
}

#define DAMAGED_REPLY "fw-message,where=status,bit=2"

/* The GPU's remaining state of a context, a VM, a scene is unknown, so it is reset. */
static void reply_damaged_context(void)
{
	damaged_at_the_end_of_a_context(DAMAGED_REPLY);
}

static void reply_damaged_vm(void)
{
	struct fixture fx = fx_open();
	const int contexts = need_counts().contexts;
	struct damage d;

	fx_check_works(&fx);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	while (need_counts().contexts == contexts)
		usleep(1000);
	d = damage_begins(DAMAGED_REPLY);
	check_damage(&d, gpu_vm_destroy(fx.fd, fx.vm), 0);
}

static void reply_damaged_scene(void)
{
	struct render r = render_open();
	struct damage d;

	render_check_works(&r);
	d = damage_begins(DAMAGED_REPLY);
	check_damage(&d, gpu_hwrt_destroy(r.fx.fd, r.hwrt), 0);
}

static void reply_damaged_priority(void)
{
	struct damage d = damage_begins(DAMAGED_REPLY);

	check_damage(&d, gpu_context_set_priority(d.s.culprit.fd, d.s.culprit.context,
						  DRM_PUMICE_PRIORITY_LOW), -EIO);
}

/* A reply to an unbind: the VM becomes unusable. */
static void reply_damaged_unbind(void)
{
	const struct drm_pumice_bind_op unmap = bind_unmap(FX_FREE, PAGE);
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE), state;
	struct damage d;

	need_map(fx.fd, fx.vm, handle, 0, FX_FREE, PAGE, 0);
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), 1);
	d = damage_begins(DAMAGED_REPLY);
	check_damage(&d, gpu_bind(fx.fd, fx.vm, &unmap, 1, NULL), -EIO);
	CHECK_OK(gpu_vm_state(fx.fd, fx.vm, &state));
	igt_assert_neq_u32(state, 0);
}

/* @text damages the message about a fault; the job's result describes the fault. */
static void message_damaged(const char *text)
{
	struct scene s = scene_open();
	u32 hits = inject_hits("fw-message");
	u64 start;

	scene_hold(&s);
	fx_submit(&s.culprit, fx_store_stream(&s.culprit, FX_FREE, 1));
	scene_after(&s);
	need_in_flight(3);
	need_inject(text);
	start = scene_ahead_ends(&s);
	check_end(&s.culprit, start, -EIO, 0);
	scene_check_after(&s);
	igt_assert_eq_u32(inject_hits("fw-message"), hits + 1);
	scene_end(&s, DRM_PUMICE_CONTEXT_FAULTED, 0);
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

/* A request for pages becomes a report of an error. */
static void message_becomes_an_error(void)
{
	struct scene s = scene_open();
	struct pair p = open_pair(), drawn = short_of_pages(p);
	int log = need_log(O_NONBLOCK);

	scene_hold(&s);
	scene_after(&s);
	need_inject("fw-message,where=message,bit=0");
	submit_pair(&drawn);
	need_wait(p.r.fx.fd, p.r.fx.sync, 0);
	igt_assert_eq_u32(inject_left("fw-message"), 0);
	igt_assert(log_has(log, "firmware error: ", FW_REMEDY));
	close(log);
	/* The context works with its previous list. */
	p.r.fx.used = drawn.r.fx.used;
	check_pair(&p, -ECANCELED, -ECANCELED, DRM_PUMICE_CONTEXT_INNOCENT);
	scene_ahead_is_lost(&s);
	scene_check_after(&s);
	scene_end(&s, 0, 1);
}

static void page_table(const char *text)
{
	expect(&(struct expected){
		.text = text, .kind = "page-table", .status = -EIO,
		.state = DRM_PUMICE_CONTEXT_FAULTED, .when = AT_ITS_START });
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

/*
 * The firmware cannot access memory shared with the host: it continues, but without the job, which
 * it cannot stop either. Its earlier jobs complete successfully.
 */
static void firmware_table_bit(void)
{
	struct scene s;
	u64 start, stream;

	need_nothing_left();
	s = scene_open();
	stream = store_stream(&s.culprit, 1);
	/*
	 * The firmware first reads the memory of this context for the job, so that only that
	 * access walks the tables between the injection and the job. Creating the context later
	 * would wait for a reply meanwhile, and the clock could pass the end of the held job.
	 */
	s.culprit.context = need_context(s.culprit.fd, s.culprit.vm);
	/*
	 * When memory of the firmware is freed, all translations of its window are dropped. A work
	 * item frees that of contexts of earlier subtests, and of those that scene_open() replaced:
	 * after the injection the firmware would fail at its own memory.
	 */
	need_contexts_freed();
	scene_hold(&s);
	scene_after(&s);
	need_in_flight(2);
	need_inject("page-table,where=fw-table");
	start = submit_at(&s.culprit, stream);
	check_end(&s.culprit, start, -ETIMEDOUT, JOB_MS + FW_MS);
	igt_assert_eq_u32(inject_left("page-table"), 0);
	scene_ahead_ends(&s);
	scene_check_after(&s);
	scene_end(&s, DRM_PUMICE_CONTEXT_GUILTY, 1);
}

static void free_list_bit(void)
{
	struct scene s = scene_open();
	struct pair culprit = open_pair(), after = open_pair();
	u64 start;

	need_inject("free-list,bit=96");
	start = now_ns();
	submit_pair(&culprit);
	submit_pair(&after);
	scene_transfer(&s, 50);
	scene_check_transfer(&s, 50);
	need_wait(culprit.r.fx.fd, culprit.r.fx.sync, 0);
	check_in_time(&culprit.r.fx, start, 0);
	check_pair(&culprit, -EIO, -EIO, DRM_PUMICE_CONTEXT_FAULTED);
	igt_assert_eq_u32(inject_left("free-list"), 0);
	check_pair(&after, 1, 1, 0);
	scene_end(&s, 0, 0);
}

static void slow_memory(void)
{
	expect(&(struct expected){
		.text = "slow-memory,us=100000", .kind = "slow-memory", .status = 1, .ms = 100,
		.when = BEFORE, .transfers = true, .lasts = true });
}

/* So slow that the job is stopped, which requires no reset. */
static void too_slow_memory(void)
{
	expect(&(struct expected){
		.text = "slow-memory,us=700000", .kind = "slow-memory", .status = -ETIMEDOUT,
		.state = DRM_PUMICE_CONTEXT_GUILTY, .ms = JOB_MS + FW_MS, .when = BEFORE,
		.transfers = true, .lasts = true });
}

/* Bind the GPU again after it was declared lost. */
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

/* Check that the GPU is lost when the firmware is silent, and works when bound again. */
static void check_lost(struct fixture *fx, int events)
{
	struct fixture after = fx_open();
	u64 start = now_ns(), took;
	int files[2];

	files[0] = submit_for_file(fx);
	files[1] = submit_for_file(&after);
	check_file(files[0], -ECANCELED);
	took = now_ns() - start;
	igt_assert_f(took <= (TICK_MS + FW_MS + SLACK_MS) * MS, "took %llu us\n",
		     (unsigned long long)took / 1000);
	/* There is no further firmware to which it could be submitted. */
	check_file(files[1], -ECANCELED);
	check_wedged(events, "WEDGED=rebind,bus-reset");
	fx_close(fx);
	fx_close(&after);
	need_gpu_again();
	*fx = fx_open();
	fx_check_works(fx);
}

/* Fail as often as the firmware may without losing the GPU. */
static void crash_in_a_row(struct fixture *fx, const char *fault)
{
	u64 start;
	int i;

	for (i = 0; i < FAILURES - 1; i++) {
		if (fault)
			need_inject(fault);
		start = submit_at(fx, store_stream(fx, 1));
		check_end(fx, start, -ECANCELED, 0);
		fx->context = need_context(fx->fd, fx->vm);
	}
}

/* A job that completes in between restarts the count. */
static void crash_at_every_job(void)
{
	struct fixture fx = fx_open();
	int events, resets = need_counts().resets;

	need_inject("none");
	crash_in_a_row(&fx, "fw-lockup,where=job");
	fx_check_works(&fx);
	need_inject("fw-lockup,where=job,count=endless");
	events = need_uevents();
	crash_in_a_row(&fx, NULL);
	igt_assert_eq(need_counts().resets, resets + 2 * (FAILURES - 1));
	/* The last time it is silent, so that there is time to request the sync file. */
	need_inject("none");
	need_inject("fw-silence,where=job,count=endless");
	check_lost(&fx, events);
}

/* The first boot after the reset fails after the firmware's time-out. */
static void crash_at_boot(void)
{
	struct scene s = scene_open();

	need_inject("fw-silence,where=boot");
	scene_crash(&s, "fw-lockup,where=job", FW_MS);
	igt_assert_eq_u32(inject_left("fw-silence"), 0);
	scene_end(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

static void crash_at_every_boot(void)
{
	struct fixture fx = fx_open();
	int events;

	need_inject("none");
	fx_check_works(&fx);
	events = need_uevents();
	need_inject("fw-lockup,where=boot,count=2");
	need_inject("fw-silence,where=job");
	check_lost(&fx, events);
}

/* The firmware continues, but receives no command: the job does not begin. */
static void kernel_ccb_silence(void)
{
	expect(&(struct expected){
		.text = "fw-silence,where=kccb", .kind = "fw-silence", .status = 1, .resets = 1,
		.ms = TICK_MS + FW_MS, .when = BEFORE, .lasts = true });
}

/*
 * A job that is on the GPU at that time ends by its own fault, and a queued one completes
 * successfully; the next is processed after the reset.
 */
static void kernel_ccb_silence_during_a_job(void)
{
	struct scene s = scene_open();
	u32 hits = inject_hits("slow-memory");
	u64 start, next;

	need_inject("slow-memory,us=200000");
	start = now_ns();
	fx_submit(&s.other, fx_store_stream(&s.other, FX_FREE, 1));
	while (inject_hits("slow-memory") == hits && now_ns() - start < SLACK_MS * MS)
		usleep(1000);
	scene_after(&s);
	need_in_flight(2);
	need_inject("fw-silence,where=kccb");
	next = now_ns();
	fx_submit(&s.culprit, fx_store_stream(&s.culprit, s.culprit.data.va, 1));
	check_end(&s.other, start, -EIO, 200);
	igt_assert(sync_signaled_at(s.other.fd, s.other.sync) - start >= 200 * MS);
	scene_check_after(&s);
	igt_assert_eq(need_counts().resets, s.resets);
	check_end(&s.culprit, next, 1, TICK_MS + FW_MS);
	s.other.context = need_context(s.other.fd, s.other.vm);
	scene_end(&s, 0, 1);
}

/*
 * No JOB_FAULT; the job's result describes the fault. Firmware that stops reports this by its
 * state, so that no time-out elapses either.
 */
static void firmware_ccb_silence(void)
{
	struct scene s = scene_open();
	u64 start;

	need_inject("fw-silence,where=fwccb");
	scene_hold(&s);
	fx_submit(&s.other, fx_store_stream(&s.other, FX_FREE, 1));
	scene_after(&s);
	need_in_flight(3);
	igt_assert_eq_u32(inject_left("fw-silence"), 0);
	start = scene_ahead_ends(&s);
	check_end(&s.other, start, -EIO, 0);
	scene_check_after(&s);
	fx_check_works(&s.other);
	igt_assert_eq(need_counts().resets, s.resets);
	scene_crash(&s, "fw-trap,where=job", 0);
	s.other.context = need_context(s.other.fd, s.other.vm);
	scene_end(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

/* The request for pages is lost: the pair ends by its time-out, and others continue. */
static void request_for_pages_lost(struct scene *s, struct render *r, u64 stream)
{
	u64 start = now_ns();

	render_submit(r, 0, stream, r->fragment);
	scene_transfer(s, 70);
	fx_check_works(&s->ahead);
	scene_check_transfer(s, 70);
	igt_assert(fx_wait(&r->fx) < 0);
	igt_assert(sync_signaled_at(r->fx.fd, r->fx.sync) - start <= (JOB_MS + SLACK_MS) * MS);
	igt_assert_eq_u32(need_state(r->fx.fd, r->context).state, DRM_PUMICE_CONTEXT_GUILTY);
	igt_assert_eq(need_counts().resets, s->resets);
}

/* The same list grows for the next pair. */
static void check_list_grows(struct render *r, u64 stream)
{
	const int grown = need_free_lists_grown();

	r->context = need_context_of(r->fx.fd, r->fx.vm, DRM_PUMICE_CONTEXT_RENDER);
	igt_assert_eq(render_run(r, 0, stream, r->fragment), 1);
	igt_assert_lt(grown, need_free_lists_grown());
}

static void firmware_ccb_silence_without_pages(void)
{
	struct scene s = scene_open();
	u64 stream;
	struct render r = open_short_of_pages(&stream);

	need_inject("fw-silence,where=fwccb");
	request_for_pages_lost(&s, &r, stream);
	scene_crash(&s, "fw-lockup,where=job", 0);
	check_list_grows(&r, stream);
	scene_end(&s, DRM_PUMICE_CONTEXT_INNOCENT, 1);
}

/* One request is lost, and nothing else: without a reset. */
static void request_for_pages_damaged(void)
{
	struct scene s = scene_open();
	u64 stream;
	struct render r = open_short_of_pages(&stream);

	need_inject("fw-message,where=message,bit=5");
	request_for_pages_lost(&s, &r, stream);
	igt_assert_eq_u32(inject_left("fw-message"), 0);
	check_list_grows(&r, stream);
	scene_end(&s, 0, 0);
}

static void invalid_faults_refused(void)
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
		igt_assert_f(inject(bad[i]) < 0, "\"%s\" is accepted\n", bad[i]);
	memset(text, 'u', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	igt_assert_eq(inject(text), -EINVAL);
	igt_assert_eq_u32(inject_left("unit-hang"), 0);
}

/* Reports of the driver. */
#define LOCKUP		"firmware processor stopped: |" IGT_PUMICE_RESET "firmware failed"
#define TRAP		"firmware stopped: unexpected trap|" IGT_PUMICE_RESET "firmware failed"
#define SILENCE		IGT_PUMICE_RESET "firmware does not reply"
#define HEARTBEAT	IGT_PUMICE_RESET "firmware replies, but makes no progress"
#define RING_INDEX	"firmware ring index [0-9]+ out of range|" \
			IGT_PUMICE_RESET "firmware failed"
#define REFUSED		"firmware command failed|" IGT_PUMICE_RESET "firmware failed"
#define LOST(reason)	"GPU lost: " reason "; unplugging it"

#define subtest igt_pumice_subtest
#define subtest_logs igt_pumice_subtest_logs

/* Runs also after a subtest that was killed. */
static void restore(int signal)
{
	(void)signal;
	inject("none");
	set_module_parameter("fw_timeout_ms", usual_fw_timeout_ms);
}

static void memory_subtests(void)
{
	subtest("page-table-bit", "a bit error in a page table makes one job fail", page_table_bit);
	subtest("page-directory-bit", "a bit error in a page directory makes one job fail",
		page_directory_bit);
	subtest("page-catalogue-bit", "a bit error in a page catalogue makes one job fail",
		page_catalogue_bit);
	subtest_logs("firmware-table-bit",
		"the GPU recovers from firmware that cannot access its memory", firmware_table_bit,
		"firmware refused command|" NOT_STOPPED);
	subtest("free-list-bit", "a bit error in a free list makes one pair fail", free_list_bit);
	subtest("slow-memory", "jobs have correct results with slow memory", slow_memory);
	subtest_logs("too-slow-memory",
		"a job that slow memory delays past its time-out is stopped", too_slow_memory,
		IGT_PUMICE_TIMED_OUT);
}

static void message_subtests(void)
{
	subtest_logs("ring-index-damaged",
		"a ring index out of range causes a reset, and results are kept",
		ring_index_damaged, RING_INDEX);
	subtest_logs("ring-index-damaged-at-a-reply",
		"jobs that had not begun run after the reset", ring_index_damaged_at_a_reply,
		RING_INDEX);
	subtest_logs("message-of-unknown-type", "a message of unknown type is ignored",
		message_of_unknown_type, "firmware message of unknown type");
	subtest("message-of-another-type", "a message about an unknown object is ignored",
		message_of_another_type);
	subtest_logs("message-becomes-an-error",
		"an error that the firmware reports causes a reset", message_becomes_an_error,
		"firmware error: |" IGT_PUMICE_RESET "firmware failed");
	subtest_logs("reply-damaged-context", "an invalid reply causes a reset",
		reply_damaged_context, REFUSED);
	subtest_logs("reply-damaged-vm", "an invalid reply at the end of a VM causes a reset",
		reply_damaged_vm, REFUSED);
	subtest_logs("reply-damaged-scene",
		"an invalid reply at the end of a scene causes a reset", reply_damaged_scene,
		REFUSED);
	subtest_logs("reply-damaged-priority",
		"an invalid reply to a change of priority causes a reset", reply_damaged_priority,
		REFUSED);
	subtest_logs("reply-damaged-unbind",
		"an invalid reply to an unbind causes a reset and makes its VM unusable",
		reply_damaged_unbind, REFUSED);
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(JOB_MS);
		igt_require_f(can_inject(), "this GPU cannot inject faults\n");
		usual_fw_timeout_ms = module_parameter("fw_timeout_ms");
		igt_install_exit_handler(restore);
		CHECK_OK(set_module_parameter("fw_timeout_ms", FW_MS));
	}

	subtest_logs("unit-hang-cdm",
		"a CDM that hangs and ignores ABORT is reset, and its job is lost", unit_hang_cdm,
		NOT_STOPPED);
	subtest_logs("unit-hang-vdm", "a VDM that hangs is reset", unit_hang_vdm, NOT_STOPPED);
	subtest_logs("unit-hang-pdm", "a PDM that hangs is reset", unit_hang_pdm, NOT_STOPPED);
	subtest_logs("unit-hang-tdm", "a TDM that hangs is reset", unit_hang_tdm, NOT_STOPPED);
	subtest_logs("firmware-lockup",
		"firmware that locks up during a job is booted again immediately", firmware_lockup,
		LOCKUP);
	subtest_logs("firmware-lockup-at-kick",
		"if the firmware locks up before a job, the job runs afterwards",
		firmware_lockup_at_kick, LOCKUP);
	subtest_logs("firmware-lockup-at-every-kick",
		"a job is lost if the firmware fails twice when it is kicked",
		firmware_lockup_at_every_kick, LOCKUP);
	subtest_logs("firmware-trap", "firmware that stops itself is booted again immediately",
		firmware_trap, TRAP);
	subtest_logs("firmware-trap-at-kick",
		"if the firmware stops before a job, the job runs afterwards",
		firmware_trap_at_kick, TRAP);
	subtest_logs("firmware-silence",
		"firmware that does not respond is detected by a job's tick", firmware_silence,
		SILENCE);
	subtest_logs("firmware-silence-at-kick",
		"if the firmware does not respond before a job, the job runs afterwards",
		firmware_silence_at_kick, SILENCE);
	subtest_logs("heartbeat-stops",
		"firmware that only replies to commands is booted again",
		heartbeat_stops, HEARTBEAT);
	message_subtests();
	fault_interrupt_subtests();
	memory_subtests();
	subtest_logs("crash-at-boot", "a boot that fails is retried", crash_at_boot,
		LOCKUP "|firmware did not boot in [0-9]+ ms");
	subtest_logs("crash-at-every-boot", "a GPU that cannot be booted is unplugged",
		crash_at_every_boot,
		SILENCE "|firmware did not boot: |" LOST("firmware did not boot after a reset"));
	subtest_logs("crash-at-every-job", "a GPU whose firmware crashes at every job is unplugged",
		crash_at_every_job,
		LOCKUP "|" SILENCE "|" LOST("firmware failed repeatedly"));
	subtest_logs("kernel-ccb-silence",
		"firmware that reads no commands is detected by a tick; the job runs afterwards",
		kernel_ccb_silence, SILENCE);
	subtest_logs("kernel-ccb-silence-during-a-job",
		"a job on the GPU completes while no commands are read",
		kernel_ccb_silence_during_a_job, SILENCE);
	subtest_logs("firmware-ccb-silence",
		"jobs complete although the firmware writes no messages", firmware_ccb_silence,
		TRAP);
	subtest_logs("firmware-ccb-silence-without-pages",
		"a job whose request for pages is lost is stopped without a reset",
		firmware_ccb_silence_without_pages, LOCKUP "|" IGT_PUMICE_TIMED_OUT);
	subtest_logs("request-for-pages-damaged",
		"a free list whose request for pages is damaged grows for the next pair",
		request_for_pages_damaged,
		"firmware message of unknown type|" IGT_PUMICE_TIMED_OUT);
	subtest("invalid-faults-refused",
		"the debugfs file refuses faults that the GPU does not support",
		invalid_faults_refused);
}
