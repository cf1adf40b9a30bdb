// SPDX-License-Identifier: MIT
/*
 * In-process backend: synchronisation objects. They behave as DRM syncobjs:
 * a binary one holds the fence last stored in it; a point of a timeline is
 * reached when its fence and those of all points before it are signaled.
 */
#include <errno.h>
#include <stdlib.h>

#include "inproc.h"

bool fence_signaled(const struct fence *f)
{
	return !f->timeline || (s32)(f->timeline->done - f->seqno) >= 0;
}

static void fence_set(struct fence *f, struct timeline *timeline, u32 seqno)
{
	timeline_get(timeline);
	timeline_put(f->timeline);
	*f = (struct fence){ timeline, seqno };
}

static void remove_first(struct inproc_sync *s)
{
	struct sync_point *p = s->points;

	s->points = p->next;
	if (!s->points)
		s->last = NULL;
	timeline_put(p->fence.timeline);
	free(p);
}

/* Remove the points that are reached. */
static void advance(struct inproc_sync *s)
{
	while (s->points && fence_signaled(&s->points->fence)) {
		s->reached = s->points->point;
		remove_first(s);
	}
}

void sync_put_fence(struct inproc_sync *s, u64 point, struct timeline *timeline, u32 seqno,
		    struct sync_point *node)
{
	const u64 last = s->last ? s->last->point : s->reached;

	if (!node) {
		fence_set(&s->fence, timeline, seqno);
		s->has_fence = true;
		return;
	}
	/* Timeline points only increase: a point that is not higher is merged with the last one. */
	*node = (struct sync_point){ .point = point > last ? point : last };
	fence_set(&node->fence, timeline, seqno);
	*(s->last ? &s->last->next : &s->points) = node;
	s->last = node;
}

void sync_free_nodes(struct sync_point *nodes)
{
	while (nodes) {
		struct sync_point *next = nodes->next;

		free(nodes);
		nodes = next;
	}
}

bool sync_make_nodes(const struct pumice_job_sync *syncs, u32 count, struct sync_point **nodes)
{
	struct sync_point *node;
	u32 i;

	for (i = 0; i < count; i++) {
		if (!syncs[i].signal || !syncs[i].point)
			continue;
		node = malloc(sizeof(*node));
		if (!node) {
			sync_free_nodes(*nodes);
			*nodes = NULL;
			return false;
		}
		node->next = *nodes;
		*nodes = node;
	}
	return true;
}

void sync_put_signals(const struct pumice_job_sync *syncs, u32 count, struct timeline *timeline,
		      u32 seqno, struct sync_point **nodes)
{
	struct sync_point *node;
	u32 i;

	for (i = 0; i < count; i++) {
		if (!syncs[i].signal)
			continue;
		node = NULL;
		if (syncs[i].point) {
			node = *nodes;
			*nodes = node->next;
		}
		sync_put_fence((struct inproc_sync *)syncs[i].sync, syncs[i].point, timeline,
			       seqno, node);
	}
}

bool sync_is_submitted(const struct inproc_sync *s, u64 point)
{
	if (!point)
		return s->has_fence;
	return s->reached >= point || (s->last && s->last->point >= point);
}

void sync_each_fence(struct inproc_sync *s, u64 point,
		     void (*fn)(void *data, const struct fence *fence), void *data)
{
	const struct sync_point *p;
	u64 before;

	if (!point) {
		if (s->has_fence && !fence_signaled(&s->fence))
			fn(data, &s->fence);
		return;
	}
	/* Of a program that only submits, and never waits, nothing else removes them. */
	advance(s);
	before = s->reached;
	for (p = s->points; p && before < point; before = p->point, p = p->next)
		if (!fence_signaled(&p->fence))
			fn(data, &p->fence);
}

int inproc_sync_create(struct pumice_device *dev, u32 flags, struct pumice_sync **out)
{
	struct inproc_sync *s = calloc(1, sizeof(*s));

	if (!s)
		return fail(dev, ENOMEM, "sync: out of memory");
	s->base.dev = dev;
	s->has_fence = flags & PUMICE_SYNC_SIGNALED;
	*out = &s->base;
	return 0;
}

/* Drop all fences. */
static void clear(struct inproc_sync *s)
{
	fence_set(&s->fence, NULL, 0);
	s->has_fence = false;
	while (s->points)
		remove_first(s);
	s->reached = 0;
}

void inproc_sync_destroy(struct pumice_sync *base)
{
	struct inproc_device *d = inproc_device(base->dev);

	pthread_mutex_lock(&d->lock);
	clear((struct inproc_sync *)base);
	pthread_mutex_unlock(&d->lock);
	free(base);
}

int inproc_sync_signal(struct pumice_sync *base, u64 point)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct sync_point *node = NULL;

	if (point) {
		node = malloc(sizeof(*node));
		if (!node)
			return fail(base->dev, ENOMEM, "sync: out of memory");
	}
	pthread_mutex_lock(&d->lock);
	sync_put_fence((struct inproc_sync *)base, point, NULL, 0, node);
	pthread_mutex_unlock(&d->lock);
	event_raise(d);
	return 0;
}

int inproc_sync_reset(struct pumice_sync *base)
{
	struct inproc_device *d = inproc_device(base->dev);

	pthread_mutex_lock(&d->lock);
	clear((struct inproc_sync *)base);
	pthread_mutex_unlock(&d->lock);
	return 0;
}

int inproc_sync_query(struct pumice_sync *base, u64 *point)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_sync *s = (struct inproc_sync *)base;

	pthread_mutex_lock(&d->lock);
	event_process(d);
	advance(s);
	*point = s->reached;
	pthread_mutex_unlock(&d->lock);
	return 0;
}

static bool reached(struct inproc_sync *s, u64 point)
{
	if (!point)
		return s->has_fence && fence_signaled(&s->fence);
	advance(s);
	return s->reached >= point;
}

/* Return: 1 when the wait is complete, 0 to continue, -EINVAL. */
static int check_waits(struct pumice_device *dev, const struct pumice_wait *waits, u32 count,
		       u32 flags)
{
	u32 good = 0, i;

	for (i = 0; i < count; i++) {
		struct inproc_sync *s = (struct inproc_sync *)waits[i].sync;

		if (reached(s, waits[i].point))
			good++;
		else if (!(flags & PUMICE_WAIT_SUBMIT) && !sync_is_submitted(s, waits[i].point))
			return fail_wait_unsignaled(dev, i);
	}
	return flags & PUMICE_WAIT_ANY ? good > 0 : good == count;
}

int inproc_sync_wait(struct pumice_device *dev, const struct pumice_wait *waits, u32 count,
		     u32 flags, u64 timeout_ns)
{
	struct inproc_device *d = inproc_device(dev);
	u64 now = timeout_ns ? now_ns() : 0, seen;
	u64 deadline = timeout_ns > PUMICE_FOREVER - now ? PUMICE_FOREVER : now + timeout_ns;
	int ret, late = 0;

	pthread_mutex_lock(&d->lock);
	for (;;) {
		seen = event_count(d);
		event_process(d);
		watch_jobs(d);
		ret = check_waits(dev, waits, count, flags);
		if (ret || late)
			break;
		late = event_wait(d, seen, deadline);
	}
	pthread_mutex_unlock(&d->lock);
	if (ret)
		return ret < 0 ? ret : 0;
	return fail_wait_timeout(dev, timeout_ns);
}
