// SPDX-License-Identifier: MIT
/* In-process backend: address spaces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "inproc.h"

int inproc_vm_create(struct pumice_device *dev, struct pumice_vm **out)
{
	struct inproc_device *d = inproc_device(dev);
	struct inproc_vm *vm = calloc(1, sizeof(*vm));
	int err;

	if (!vm)
		return fail(dev, ENOMEM, "vm: out of memory");
	err = vm_init(&vm->base, dev);
	if (!err) {
		pthread_mutex_lock(&d->lock);
		err = space_init(d, &vm->space);
		if (!err)
			err = extents_init(&vm->pm_room, PUMICE_HEAPS_END,
					   VA_SPACE_END - PUMICE_HEAPS_END);
		if (err) {
			space_fini(d, &vm->space);
		} else {
			vm->next = d->vms;
			d->vms = vm;
		}
		pthread_mutex_unlock(&d->lock);
	}
	if (err) {
		vm_fini(&vm->base);
		free(vm);
		return fail(dev, ENOMEM, "vm: out of memory");
	}
	*out = &vm->base;
	return 0;
}

static void unlink_vm(struct inproc_device *d, struct inproc_vm *vm)
{
	struct inproc_vm **link;

	for (link = &d->vms; *link != vm; link = &(*link)->next)
		;
	*link = vm->next;
}

void inproc_vm_destroy(struct pumice_vm *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_vm *vm = (struct inproc_vm *)base;
	const struct fwif_kccb_cmd release = {
		.type = FWIF_KCCB_VM_RELEASE, .catalogue = vm->space.tables.catalogue,
	};
	int err;

	pthread_mutex_lock(&d->lock);
	bind_cancel(d, vm);
	unlink_vm(d, vm);
	buffers_forget(d, vm);
	err = fw_call(d, &release);
	/* Memory that the GPU may still use is kept until the device is destroyed. */
	if (!err || d->lost)
		space_fini(d, &vm->space);
	extents_fini(&vm->pm_room);
	pthread_mutex_unlock(&d->lock);
	vm_fini(base);
	free(vm);
}

/* Build the mapping of an operation. Without memory, the address only allows large pages. */
static struct mapping op_mapping(const struct pumice_bind *op, struct memory *memory)
{
	return (struct mapping){
		.at = { .va = op->va, .size = op->size }, .memory = memory,
		.flags = op->flags | (memory && memory->coherent ? BIND_COHERENT : 0),
		.bus = memory ? memory->bus + op->bo_offset : op->va,
	};
}

void vm_note_memory(struct inproc_vm *vm, const struct pumice_bind *op,
		    const struct memory *memory)
{
	if (memory ? !memory->coherent : op->flags & PUMICE_BIND_NULL)
		vm->cached = true;
}

/* Have the TLBs and the caches invalidated after a change of mappings. */
static int invalidate(struct inproc_device *d, const struct inproc_vm *vm, u64 va, u64 size)
{
	struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_MMU_INVALIDATE,
		.catalogue = vm->space.tables.catalogue,
		.start = va,
		.end = va + size - 1,
	};
	const struct inproc_vm *other = d->vms == vm ? vm->next : d->vms;

	if (d->omitted & INPROC_OMIT_INVALIDATE)
		return 0;
	if (d->omitted & INPROC_OMIT_LATER_PAGES)
		cmd.end = va + PAGE_BYTES - 1;
	if (d->omitted & INPROC_OMIT_OWN_CONTEXT && other)
		cmd.catalogue = other->space.tables.catalogue;
	return fw_call(d, &cmd);
}

/* Add addresses to those that an update invalidates. */
static void extend(struct vm_update *u, u64 start, u64 end)
{
	if (!u->end || start < u->start)
		u->start = start;
	if (end > u->end)
		u->end = end;
}

int vm_bind_one(struct inproc_device *d, struct inproc_vm *vm, struct vm_update *u,
		const struct pumice_bind *op, struct memory *memory)
{
	const struct mapping m = op_mapping(op, memory);
	bool map = memory || op->flags & PUMICE_BIND_NULL;
	bool all = op->flags & PUMICE_BIND_UNMAP_ALL;
	u64 va = all ? d->base.info.va_start : op->va;
	u64 size = all ? PUMICE_HEAPS_END - va : op->size;

	vm->operations++;
	buffers_note_unmap(d, vm, va, size);
	u->change.replaced = false;
	if (space_change(d, &vm->space, va, size, map ? &m : NULL, &u->change))
		return fail(&d->base, ENOMEM, "bind: " OUT_OF_GPU_MEMORY);
	if (u->change.replaced || (map && (!vm->cached || vm->cacheless_job)))
		extend(u, va, va + size);
	if (map)
		buffers_note_map(d, vm, &m);
	return 0;
}

int vm_update_end(struct inproc_device *d, struct inproc_vm *vm, struct vm_update *u)
{
	int err = u->end ? invalidate(d, vm, u->start, u->end - u->start) : 0;

	if (err)
		vm->unusable = true;
	space_release(d, &u->change);
	return err;
}

static struct memory *op_memory(const struct pumice_bind *op)
{
	return op->bo ? ((struct inproc_bo *)op->bo)->memory : NULL;
}

int inproc_vm_bind(struct pumice_vm *base, const struct pumice_bind *ops, u32 count, u32 *done)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_vm *vm = (struct inproc_vm *)base;
	struct vm_update update = { 0 };
	int err = 0, end;

	pthread_mutex_lock(&d->lock);
	if (count && vm->unusable)
		err = fail_vm_unusable(base->dev, "bind");
	while (*done < count && !err) {
		vm_note_memory(vm, &ops[*done], op_memory(&ops[*done]));
		err = vm_bind_one(d, vm, &update, &ops[*done], op_memory(&ops[*done]));
		*done += !err;
	}
	end = vm_update_end(d, vm, &update);
	pthread_mutex_unlock(&d->lock);
	return err ? err : end;
}

int inproc_vm_peek(struct pumice_vm *base, u64 va, void *data, u64 bytes)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct mapping *m;
	u64 part, done = 0;

	pthread_mutex_lock(&d->lock);
	for (m = space_find(&((struct inproc_vm *)base)->space, va);
	     m && m->at.va <= va + done && done < bytes; m = space_next(m)) {
		part = range_end(&m->at) - (va + done);
		if (part > bytes - done)
			part = bytes - done;
		if (m->flags & PUMICE_BIND_NULL)
			memset((u8 *)data + done, 0, part);
		else
			memcpy((u8 *)data + done, ram_cpu(d, m->bus + (va + done - m->at.va)),
			       part);
		done += part;
	}
	pthread_mutex_unlock(&d->lock);
	if (done < bytes)
		return fail(base->dev, EFAULT, "peek: nothing is mapped at %#llx; bind a bo there",
			    (unsigned long long)(va + done));
	return 0;
}

int inproc_vm_get_state(struct pumice_vm *base, u32 *flags)
{
	struct inproc_device *d = inproc_device(base->dev);

	pthread_mutex_lock(&d->lock);
	event_process(d);
	*flags = ((struct inproc_vm *)base)->unusable ? PUMICE_VM_UNUSABLE : 0;
	pthread_mutex_unlock(&d->lock);
	return 0;
}

void vm_note_fault(struct inproc_vm *vm, u32 context, const struct pumice_job_result *r)
{
	const enum pumice_fault_addr type = pumice_fault_addr_type(r->fault, r->unit, r->access);
	const u64 number = ++vm->fault_count;

	vm->faults[number % PUMICE_VM_FAULTS] = (struct pumice_vm_fault){
		.number = number,
		.va = r->fault_va,
		.precision = pumice_fault_addr_precision(type),
		.job = r->job,
		.time = r->end,
		.context = context,
		.type = type,
		.fault = r->fault,
		.unit = r->unit,
		.pc = r->pc,
		.usc = r->usc,
	};
}

int inproc_vm_get_faults(struct pumice_vm *base, u64 after, struct pumice_vm_fault *faults,
			 u32 *count, u64 *lost)
{
	struct inproc_device *d = inproc_device(base->dev);
	const struct inproc_vm *vm = (struct inproc_vm *)base;
	u64 first, n;
	u32 i = 0;

	pthread_mutex_lock(&d->lock);
	event_process(d);
	first = vm->fault_count > PUMICE_VM_FAULTS ? vm->fault_count - PUMICE_VM_FAULTS : 0;
	if (first < after)
		first = after;
	for (n = first + 1; first < vm->fault_count && n <= vm->fault_count && i < *count; n++)
		faults[i++] = vm->faults[n % PUMICE_VM_FAULTS];
	*count = i;
	*lost = first - after;
	pthread_mutex_unlock(&d->lock);
	return 0;
}
