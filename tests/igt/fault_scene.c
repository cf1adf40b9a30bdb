// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* The users of a GPU at which a fault occurs. See fault_scene.h. */
#include "fault_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "sync.h"
#include "system.h"

#define AHEAD		0xa4ead000u	/* words that the other users' jobs store */
#define AFTER		0xbe41d000u

static struct fixture open_fixture(u32 priority)
{
	struct fixture fx = fx_with(need_gpu(), priority, JOB_MS);

	fx_check_works(&fx);
	return fx;
}

struct scene scene_open(void)
{
	struct scene s = { .resets = 0 };

	need_inject("none");
	s.culprit = open_fixture(DRM_PUMICE_PRIORITY_NORMAL);
	s.ahead = open_fixture(DRM_PUMICE_PRIORITY_HIGH);
	s.after = open_fixture(DRM_PUMICE_PRIORITY_NORMAL);
	s.other = open_fixture(DRM_PUMICE_PRIORITY_NORMAL);
	s.transfer = need_context_of(s.other.fd, s.other.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	s.resets = need_counts().resets;
	return s;
}

static void submit_fill(struct fixture *fx, u32 context, u32 value)
{
	struct drm_pumice_sync sync = then_signal(fx->sync, 0);
	struct drm_pumice_job job = {
		.context = context, .syncs = ARRAY_OF(&sync, 1),
		.stream = transfer_fill_stream(fx, fx->data.va, value, WORDS),
	};

	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

static void check_fill(struct fixture *fx, u32 context, u32 value)
{
	u32 i;

	igt_assert_eq(fx_wait(fx), 1);
	for (i = 0; i < WORDS; i++)
		igt_assert_eq_u32(fx->data.cpu[i], value);
	igt_assert_eq_u32(need_state(fx->fd, context).state, 0);
}

void scene_transfer(struct scene *s, u32 value)
{
	submit_fill(&s->other, s->transfer, value);
}

void scene_check_transfer(struct scene *s, u32 value)
{
	check_fill(&s->other, s->transfer, value);
}

u32 scene_queue_transfer(struct scene *s, u32 value)
{
	const u32 context = need_context_of(s->after.fd, s->after.vm,
					    DRM_PUMICE_CONTEXT_TRANSFER);

	submit_fill(&s->after, context, value);
	return context;
}

void scene_check_queued(struct scene *s, u32 context, u32 value)
{
	check_fill(&s->after, context, value);
}

void scene_transfer_is_lost(struct scene *s)
{
	igt_assert_eq(fx_wait(&s->other), -ECANCELED);
	igt_assert_eq_u32(need_state(s->other.fd, s->transfer).state, DRM_PUMICE_CONTEXT_INNOCENT);
	s->transfer = need_context_of(s->other.fd, s->other.vm, DRM_PUMICE_CONTEXT_TRANSFER);
}

/* Wait until the end of a job is delayed. */
static void wait_for_late_end(void)
{
	u64 deadline = now_ns() + HOLD_MS * MS;

	while (inject_left("late-end") && now_ns() < deadline)
		;
	igt_assert_eq_u32(inject_left("late-end"), 0);
}

void scene_hold_transfer(struct scene *s, u32 value, u32 ms)
{
	char text[64];

	snprintf(text, sizeof(text), "late-end,where=tdm,us=%u", ms * 1000);
	need_inject(text);
	scene_transfer(s, value);
	wait_for_late_end();
}

void scene_hold(struct scene *s)
{
	char text[64];

	snprintf(text, sizeof(text), "late-end,where=cdm,us=%u", HOLD_MS * 1000);
	need_inject(text);
	memset(s->ahead.data.cpu, 0, FX_DATA_BYTES);
	fx_submit(&s->ahead, store_stream(&s->ahead, AHEAD));
	wait_for_late_end();
}

u64 scene_ahead_ends(struct scene *s)
{
	igt_assert_eq(fx_wait(&s->ahead), 1);
	check_stored(&s->ahead, AHEAD);
	return sync_signaled_at(s->ahead.fd, s->ahead.sync);
}

void scene_ahead_is_lost(struct scene *s)
{
	struct fixture *ahead = &s->ahead;

	igt_assert_eq(fx_wait(ahead), -ECANCELED);
	igt_assert_eq_u32(need_state(ahead->fd, ahead->context).state,
			  DRM_PUMICE_CONTEXT_INNOCENT);
	CHECK_OK(gpu_context_create(ahead->fd, ahead->vm, DRM_PUMICE_PRIORITY_HIGH,
				    &ahead->context));
}

void scene_after(struct scene *s)
{
	memset(s->after.data.cpu, 0, FX_DATA_BYTES);
	fx_submit(&s->after, store_stream(&s->after, AFTER));
}

void scene_check_after(struct scene *s)
{
	igt_assert_eq(fx_wait(&s->after), 1);
	check_stored(&s->after, AFTER);
}

void scene_crash(struct scene *s, const char *fault, u32 ms)
{
	u64 start;

	scene_hold(s);
	fx_submit(&s->culprit, store_stream(&s->culprit, 1));
	scene_after(s);
	need_in_flight(3);
	need_inject(fault);
	start = scene_ahead_ends(s);
	check_end(&s->culprit, start, -ECANCELED, ms);
	scene_check_after(s);
}

void scene_end(struct scene *s, u32 state, int resets)
{
	struct fixture *culprit = &s->culprit;

	need_inject("none");
	igt_assert_eq_u32(need_state(culprit->fd, culprit->context).state, state);
	igt_assert_eq_u32(need_state(s->ahead.fd, s->ahead.context).state, 0);
	igt_assert_eq_u32(need_state(s->after.fd, s->after.context).state, 0);
	igt_assert_eq_u32(need_state(s->other.fd, s->other.context).state, 0);
	if (state & STOPPED)
		culprit->context = need_context(culprit->fd, culprit->vm);
	fx_check_works(culprit);
	fx_check_works(&s->ahead);
	fx_check_works(&s->after);
	scene_transfer(s, 0x600d);
	scene_check_transfer(s, 0x600d);
	igt_assert_eq(need_counts().resets, s->resets + resets);
}

void check_in_time(struct fixture *fx, u64 start, u32 ms)
{
	/* May be below 0: one interrupt reports the ends of several jobs. */
	const s64 took = (s64)(sync_signaled_at(fx->fd, fx->sync) - start) / 1000;

	igt_info("ended after %lld us\n", (long long)took);
	igt_assert_f(took <= (ms + SLACK_MS) * 1000ll, "took %lld us, more than %u ms\n",
		     (long long)took, ms + SLACK_MS);
}

void check_end(struct fixture *fx, u64 start, int status, u32 ms)
{
	igt_assert_eq(fx_wait(fx), status);
	check_in_time(fx, start, ms);
}

u64 submit_at(struct fixture *fx, u64 stream)
{
	const u64 start = now_ns();

	fx_submit(fx, stream);
	return start;
}

u64 store_stream(struct fixture *fx, u32 value)
{
	return fx_store_stream(fx, fx_data(fx, 64), value);
}

void check_stored(const struct fixture *fx, u32 value)
{
	fx_check_words(fx->data.cpu + 64, value);
}

bool log_has(int log, const char *text, const char *remedy)
{
	char line[1024];
	bool found = false;
	ssize_t bytes;

	while (!found) {
		bytes = read(log, line, sizeof(line) - 1);
		if (bytes < 0 && errno == EPIPE)
			continue;
		if (bytes <= 0)
			break;
		line[bytes] = 0;
		found = strstr(line, text) && strstr(line, remedy);
	}
	return found;
}

struct pair open_pair(void)
{
	struct pair p = { .r = render_open() };

	p.geometry = need_sync(p.r.fx.fd);
	render_check_works(&p.r);
	return p;
}

void submit_pair(struct pair *p)
{
	struct drm_pumice_sync signals[2] = {
		then_signal(p->geometry, 0), then_signal(p->r.fx.sync, 0),
	};
	struct drm_pumice_job jobs[2];

	render_pair(&p->r, 0, jobs);
	jobs[0].syncs = (struct drm_pumice_array)ARRAY_OF(&signals[0], 1);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&signals[1], 1);
	CHECK_OK(gpu_submit(p->r.fx.fd, jobs, 2, NULL));
}

void check_pair(struct pair *p, int geometry, int fragment, u32 state)
{
	igt_assert_eq(fx_wait(&p->r.fx), fragment);
	igt_assert_eq(sync_status(p->r.fx.fd, p->geometry, 0), geometry);
	igt_assert_eq_u32(need_state(p->r.fx.fd, p->r.context).state, state);
	if (state & STOPPED)
		p->r.context = need_context_of(p->r.fx.fd, p->r.fx.vm,
					       DRM_PUMICE_CONTEXT_RENDER);
	render_check_works(&p->r);
}

struct pair short_of_pages(struct pair p)
{
	static const float corner[3][2] = { { -1, -1 }, { 3, -1 }, { -1, 3 } };
	struct drm_pumice_free_list_create args = render_list_args(p.r.fx.vm);
	struct vertex *v = (struct vertex *)p.r.fx.data.cpu;
	u32 i;

	for (i = 0; i < 3; i++)
		v[i] = (struct vertex){
			.x = corner[i][0], .y = corner[i][1], .z = 0.5f, .w = 1,
		};
	args.initial_pages = 1;
	p.r.list = need_free_list(p.r.fx.fd, args);
	p.r.hwrt = need_hwrt(p.r.fx.fd, render_hwrt_args(p.r.fx.vm, p.r.list));
	p.r.geometry = render_draw_stream(&p.r, p.r.fx.data.va, 3);
	return p;
}

struct render open_short_of_pages(u64 *stream)
{
	static const struct vertex triangle[3] = {
		{ -1, -1, .5, 1, { 1, 1, 1, 1 } }, { 3, -1, .5, 1, { 1, 1, 1, 1 } },
		{ -1, 3, .5, 1, { 1, 1, 1, 1 } },
	};
	struct render r = render_open();
	struct drm_pumice_free_list_create args = render_list_args(r.fx.vm);

	args.initial_pages = 1;
	args.threshold = 0;
	r.list = need_free_list(r.fx.fd, args);
	r.hwrt = need_hwrt(r.fx.fd, render_hwrt_args(r.fx.vm, r.list));
	memcpy(r.fx.data.cpu, triangle, sizeof(triangle));
	*stream = render_draw_stream(&r, r.fx.data.va, 3);
	r.fragment = render_store_record(&r, fx_data(&r.fx, 4096));
	return r;
}

int submit_for_file(struct fixture *fx)
{
	fx_submit(fx, store_stream(fx, 1));
	return need_sync_file(fx->fd, fx->sync);
}

void check_file(int file, int status)
{
	struct pollfd done = { .fd = file, .events = POLLIN };

	igt_assert_eq(poll(&done, 1, WAIT_SECONDS * 1000), 1);
	igt_assert_eq(sync_file_status(file), status);
	close(file);
}

/* Return: the time at which all dependencies of the culprit's job were satisfied. */
static u64 cause(struct scene *s, const struct expected *e, u64 stream)
{
	u64 start;

	switch (e->when) {
	case AT_ITS_START:
		scene_hold(s);
		fx_submit(&s->culprit, stream);
		scene_after(s);
		need_in_flight(3);
		need_inject(e->text);
		igt_assert(sync_is_pending(s->ahead.fd, s->ahead.sync, 0));
		return scene_ahead_ends(s);
	case AT_ITS_KICK:
		scene_hold(s);
		scene_after(s);
		need_in_flight(2);
		need_inject(e->text);
		return submit_at(&s->culprit, stream);
	case IN_PARALLEL:
		scene_hold_transfer(s, 0xbe51de, 2 * TICK_MS);
		need_inject(e->text);
		return submit_at(&s->culprit, stream);
	default:
		need_inject(e->text);
		start = submit_at(&s->culprit, stream);
		scene_after(s);
		return start;
	}
}

/* Check the other users' jobs that cause() has submitted. */
static void check_others(struct scene *s, const struct expected *e)
{
	if (e->when == IN_PARALLEL) {
		igt_assert(sync_is_pending(s->other.fd, s->other.sync, 0));
		scene_check_transfer(s, 0xbe51de);
		return;
	}
	if (e->when == AT_ITS_KICK)
		scene_ahead_is_lost(s);
	scene_check_after(s);
}

void expect(const struct expected *e)
{
	struct scene s = scene_open();
	u32 hits = inject_hits(e->kind);
	int log = need_log(O_NONBLOCK);
	u64 start, stream = store_stream(&s.culprit, 1000);

	start = cause(&s, e, stream);
	if (e->lasts)
		need_in_flight(2);
	if (e->transfers) {
		scene_transfer(&s, 0xabcd);
		scene_check_transfer(&s, 0xabcd);
	}
	check_end(&s.culprit, start, e->status, e->ms);
	igt_assert_lt_u32(hits, inject_hits(e->kind));
	if (e->status == 1)
		check_stored(&s.culprit, 1000);
	check_others(&s, e);
	if (e->log)
		igt_assert_f(log_has(log, e->log, FW_REMEDY), "no line of the log has \"%s\" and \"%s\"\n",
			     e->log, FW_REMEDY);
	close(log);
	scene_end(&s, e->state, e->resets);
}
