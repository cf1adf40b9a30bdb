// SPDX-License-Identifier: MIT
/*
 * In-process backend: asynchronous binds.
 *
 * Each VM has a queue. The host waits for the dependencies of a bind and changes the
 * tables; the fences are signaled by the firmware: an UPDATE is queued in a separate
 * context (the binder) when a bind has taken effect, so that jobs can wait for it as for
 * other jobs. Any thread that processes events executes the ready binds, one at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inproc.h"

/* Waits of one call, while they are collected. */
struct wait_list {
	struct fence *fences;
	u32 count, room;
	bool no_memory;
};

static void add_wait(void *data, const struct fence *f)
{
	struct wait_list *list = data;
	struct fence *grown;

	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 16;
		grown = realloc(list->fences, list->room * sizeof(*grown));
		if (!grown) {
			list->no_memory = true;
			list->room = list->count;
			return;
		}
		list->fences = grown;
	}
	timeline_get(f->timeline);
	list->fences[list->count++] = *f;
}

static void free_pending(struct inproc_device *d, struct pending_bind *p)
{
	u32 i;

	for (i = 0; i < p->wait_count; i++)
		timeline_put(p->waits[i].timeline);
	for (i = 0; i < p->count; i++)
		if (p->memory[i])
			memory_put(d, p->memory[i]);
	free(p->waits);
	free(p->memory);
	free(p->ops);
	free(p);
}

/* Copy the operations and take references on their memory. */
static struct pending_bind *make_pending(const struct pumice_bind *ops, u32 count)
{
	struct pending_bind *p = calloc(1, sizeof(*p));
	u32 i;

	if (!p)
		return NULL;
	p->ops = calloc(count + 1, sizeof(*p->ops));
	p->memory = calloc(count + 1, sizeof(*p->memory));
	if (!p->ops || !p->memory) {
		free(p->ops);
		free(p->memory);
		free(p);
		return NULL;
	}
	for (i = 0; i < count; i++) {
		p->ops[i] = ops[i];
		if (!ops[i].bo)
			continue;
		p->memory[i] = ((struct inproc_bo *)ops[i].bo)->memory;
		memory_get(p->memory[i]);
	}
	p->count = count;
	return p;
}

static int collect_waits(struct inproc_device *d, struct pending_bind *p,
			 const struct pumice_job_sync *syncs, u32 count)
{
	struct wait_list list = { 0 };
	u32 i;

	for (i = 0; i < count; i++) {
		if (syncs[i].signal)
			continue;
		if (!sync_is_submitted((struct inproc_sync *)syncs[i].sync, syncs[i].point))
			return fail_bind_unsignaled(&d->base, i);
	}
	for (i = 0; i < count; i++)
		if (!syncs[i].signal)
			sync_each_fence((struct inproc_sync *)syncs[i].sync, syncs[i].point,
					add_wait, &list);
	p->waits = list.fences;
	p->wait_count = list.count;
	return list.no_memory ? fail(&d->base, ENOMEM, "bind: out of memory") : 0;
}

/* Create the context whose updates are the fences of binds. */
static int make_binder(struct inproc_device *d, struct inproc_vm *vm)
{
	struct inproc_context *binder;
	int err;

	if (vm->binder)
		return 0;
	err = context_create(d, vm, FWIF_DM_CDM, PUMICE_PRIORITY_HIGH, &binder);
	if (err)
		return err;
	/* The lock was dropped: another thread may have created it first. */
	if (vm->binder)
		context_destroy(d, binder);
	else
		vm->binder = binder;
	return 0;
}

static void append(struct inproc_vm *vm, struct pending_bind *p)
{
	struct pending_bind **link = &vm->pending;

	while (*link)
		link = &(*link)->next;
	*link = p;
}

static int queue(struct inproc_device *d, struct inproc_vm *vm, struct pending_bind *p,
		 const struct pumice_job_sync *syncs, u32 count, struct sync_point **nodes)
{
	int err = d->lost ? fw_lost(d) : make_binder(d, vm);
	u32 i;

	if (!err && vm->unusable)
		err = fail_vm_unusable(&d->base, "bind");
	if (!err)
		err = collect_waits(d, p, syncs, count);
	if (err)
		return err;
	for (i = 0; i < p->count; i++)
		vm_note_memory(vm, &p->ops[i], p->memory[i]);
	p->seqno = ++vm->binder->timeline->submitted;
	append(vm, p);
	sync_put_signals(syncs, count, vm->binder->timeline, p->seqno, nodes);
	return 0;
}

int inproc_vm_bind_async(struct pumice_vm *base, const struct pumice_bind *ops, u32 count,
			 const struct pumice_job_sync *syncs, u32 sync_count)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct sync_point *nodes = NULL;
	struct pending_bind *p;
	int err;

	pthread_mutex_lock(&d->lock);
	p = make_pending(ops, count);
	if (!p || !sync_make_nodes(syncs, sync_count, &nodes))
		err = fail(base->dev, ENOMEM, "bind: out of memory");
	else
		err = queue(d, (struct inproc_vm *)base, p, syncs, sync_count, &nodes);
	if (!err)
		bind_process(d);
	else if (p)
		free_pending(d, p);
	pthread_mutex_unlock(&d->lock);
	sync_free_nodes(nodes);
	/* Other threads may be waiting for a submission. */
	event_raise(d);
	return err;
}

static bool is_ready(const struct inproc_vm *vm)
{
	const struct pending_bind *p = vm->pending;
	u32 i;

	if (!p || vm->unusable)
		return p;
	for (i = 0; i < p->wait_count; i++)
		if (!fence_signaled(&p->waits[i]))
			return false;
	return true;
}

static struct inproc_vm *next_ready(struct inproc_device *d)
{
	struct inproc_vm *vm;

	for (vm = d->vms; vm && !is_ready(vm); vm = vm->next)
		;
	return vm;
}

/*
 * Execute the oldest bind of a VM, unless already done, and signal its fence.
 * Return: false if there is no room for the signal now.
 */
static bool step(struct inproc_device *d, struct inproc_vm *vm)
{
	struct pending_bind *p = vm->pending;
	struct vm_update update = { 0 };
	u32 i;

	for (i = 0; i < p->count; i++) {
		if (!vm->unusable && vm_bind_one(d, vm, &update, &p->ops[i], p->memory[i]))
			vm->unusable = true;
		if (p->memory[i])
			memory_put(d, p->memory[i]);
	}
	p->count = 0;
	vm_update_end(d, vm, &update);
	if (!d->lost && !submit_update(d, vm->binder, p->seqno))
		return false;
	vm->pending = p->next;
	free_pending(d, p);
	return true;
}

void bind_process(struct inproc_device *d)
{
	struct inproc_vm *vm;
	bool worked = false;

	if (d->binding)
		return;
	d->binding = true;
	while ((vm = next_ready(d)) && step(d, vm))
		worked = true;
	d->no_room = vm;
	d->binding = false;
	/* Other threads may be waiting for this one to complete. */
	if (worked)
		event_raise(d);
}

/* Wait until something has happened. */
static void wait_briefly(struct inproc_device *d)
{
	u64 seen = event_count(d);

	event_process(d);
	event_wait(d, seen, now_ns() + 10000000u);
}

void bind_cancel(struct inproc_device *d, struct inproc_vm *vm)
{
	struct pending_bind *p;
	bool canceled;

	while (d->binding)
		wait_briefly(d);
	canceled = vm->pending;
	while (vm->pending) {
		p = vm->pending;
		vm->pending = p->next;
		free_pending(d, p);
	}
	if (!vm->binder)
		return;
	/* Jobs may be waiting for canceled binds. */
	while (canceled && !d->lost &&
	       !submit_update(d, vm->binder, vm->binder->timeline->submitted))
		wait_briefly(d);
	context_destroy(d, vm->binder);
	vm->binder = NULL;
}
