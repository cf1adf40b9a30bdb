// SPDX-License-Identifier: MIT
/*
 * In-process backend: free lists of the parameter buffer (hw/formats.xml,
 * free_list), and their growth at the request of the firmware.
 *
 * A list has addresses for its maximum number of pages, and memory for the
 * current ones. The pages of its next growth are allocated in advance, so
 * that growth does not fail for lack of memory while a job is stalled on it.
 * Pages are mapped here, or by the GPU, to which their bus addresses are passed.
 *
 * Limits: growth happens in event_process(),
 * that is while a thread waits for an event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inproc.h"

#define PAGES_BYTES(n)	((u64)(n) * PUMICE_PM_PAGE_SIZE)
#define PERCENT		100u
#define TABLES_BYTES	(1ull << 30)	/* addresses of a list with page tables */

static struct freelist_shared *shared(const struct inproc_freelist *f)
{
	return f->buffer.cpu;
}

/* Return the offset of the table of bus addresses in the buffer of a list. */
static u64 frames_offset(const struct inproc_freelist *f)
{
	return (offsetof(struct freelist_shared, links) + 4ull * f->desc.max_pages + 7) & ~7ull;
}

/* Map memory for the tiling pipeline, or unmap a range. @memory: NULL to unmap */
static int pm_bind(struct inproc_device *d, struct inproc_vm *vm, u64 va, u64 bytes,
		   struct memory *memory)
{
	const struct pumice_bind op = {
		.va = va, .size = bytes, .flags = PUMICE_BIND_NOEXEC | BIND_PM_OWNED,
	};
	struct vm_update update = { 0 };
	int err, end;

	vm_note_memory(vm, &op, memory);
	err = vm_bind_one(d, vm, &update, &op, memory);
	end = vm_update_end(d, vm, &update);
	return err ? err : end;
}

int pm_memory_create(struct inproc_device *d, struct inproc_vm *vm, u64 bytes, u64 *va)
{
	struct memory *memory = memory_create(d, bytes);
	int err = memory ? 0 : -ENOMEM;

	if (!err)
		err = extents_alloc(&vm->pm_room, bytes, PAGE_BYTES, va);
	if (!err) {
		err = pm_bind(d, vm, *va, bytes, memory);
		if (err)
			extents_free(&vm->pm_room, *va, bytes);
	}
	if (memory)
		memory_put(d, memory);
	return err;
}

void pm_memory_destroy(struct inproc_device *d, struct inproc_vm *vm, u64 va, u64 bytes)
{
	/* If the tables cannot be allocated, the addresses remain allocated. */
	if (!pm_bind(d, vm, va, bytes, NULL))
		extents_free(&vm->pm_room, va, bytes);
}

/* Get the pages of the next growth; 0 if the list has its maximum. */
static u32 next_pages(const struct inproc_freelist *f)
{
	u32 rest = f->desc.max_pages - f->pages;

	return rest < f->desc.grow_pages ? rest : f->desc.grow_pages;
}

static void fill_reserve(struct inproc_device *d, struct inproc_freelist *f)
{
	if (!f->reserve && next_pages(f))
		f->reserve = memory_create(d, PAGES_BYTES(next_pages(f)));
}

static void fill_list(struct inproc_freelist *f)
{
	const struct pumice_freelist_desc *desc = &f->desc;
	const struct pumice_free_list list = {
		.base = f->va,
		.pages = desc->initial_pages,
		.head = PUMICE_PM_NO_PAGE,
		.free = desc->initial_pages,
		.threshold = (u32)((u64)desc->initial_pages * desc->threshold / PERCENT),
		.max_pages = desc->max_pages,
		.links = f->buffer.addr + (u32)offsetof(struct freelist_shared, links),
		.min_free = desc->initial_pages,
		.frames = f->gpu_tables ? f->buffer.addr + (u32)frames_offset(f) : 0,
	};

	pumice_free_list_pack(shared(f)->list, &list);
}

/* Return the size of the addresses of a list, which are aligned to @align. */
static u64 va_bytes(const struct inproc_freelist *f, u64 *align)
{
	*align = f->gpu_tables ? TABLES_BYTES : PAGE_BYTES;
	return f->gpu_tables ? TABLES_BYTES : PAGES_BYTES(f->desc.max_pages);
}

/* Pass pages to a list that the GPU maps. The first one is its page directory. */
static int add_frames(struct inproc_device *d, struct inproc_freelist *f, u32 pages,
		      struct memory *memory)
{
	struct inproc_vm *vm = (struct inproc_vm *)f->base.vm;
	u64 *frames = (u64 *)(void *)((u8 *)f->buffer.cpu + frames_offset(f)) + f->pages;
	struct memory **step = realloc(f->step, (f->steps + 1) * sizeof(*step));
	u32 i;

	if (!step)
		return -ENOMEM;
	f->step = step;
	f->step[f->steps++] = memory;
	memory_get(memory);
	for (i = 0; i < pages; i++)
		frames[i] = memory->bus + PAGES_BYTES(i);
	vm->cached = true;
	if (!f->pages) {
		memset(ram_cpu(d, memory->bus), 0, PAGE_BYTES);
		f->own_directory = tables_lend_gib(d, &vm->space.tables, f->va, memory->bus);
	}
	return 0;
}

/* Add memory after the current pages. The caller keeps its reference. */
static int add_pages(struct inproc_device *d, struct inproc_freelist *f, u32 pages,
		     struct memory *memory)
{
	int err;

	if (f->gpu_tables)
		err = add_frames(d, f, pages, memory);
	else
		err = pm_bind(d, (struct inproc_vm *)f->base.vm, f->va + PAGES_BYTES(f->pages),
			      PAGES_BYTES(pages), memory);
	if (!err)
		f->pages += pages;
	return err;
}

/* Remove the directory of a list that the GPU maps. Return: 0, or the TLBs may still have it. */
static int drop_directory(struct inproc_device *d, struct inproc_freelist *f)
{
	struct inproc_vm *vm = (struct inproc_vm *)f->base.vm;
	const struct fwif_kccb_cmd invalidate = {
		.type = FWIF_KCCB_MMU_INVALIDATE, .catalogue = vm->space.tables.catalogue,
		.start = f->va, .end = f->va + TABLES_BYTES - 1,
	};
	int err;

	tables_return_gib(d, &vm->space.tables, f->va, f->own_directory);
	err = fw_call(d, &invalidate);
	vm->unusable |= err != 0;
	while (f->steps && (!err || d->lost))
		memory_put(d, f->step[--f->steps]);
	free(f->step);
	return err;
}

/* Allocate memory, addresses and the firmware's buffer of a new list. */
static int init_list(struct inproc_device *d, struct inproc_freelist *f)
{
	struct inproc_vm *vm = (struct inproc_vm *)f->base.vm;
	u64 align, bytes = va_bytes(f, &align);
	struct memory *memory;
	int err = fw_buffer_create(d, frames_offset(f) + f->gpu_tables * 8ull * f->desc.max_pages,
				   &f->buffer);

	if (err)
		return err;
	err = extents_alloc(&vm->pm_room, bytes, align, &f->va);
	if (err) {
		fw_buffer_destroy(d, &f->buffer);
		return err;
	}
	memory = memory_create(d, PAGES_BYTES(f->desc.initial_pages));
	err = memory ? add_pages(d, f, f->desc.initial_pages, memory) : -ENOMEM;
	if (memory)
		memory_put(d, memory);
	if (err) {
		extents_free(&vm->pm_room, f->va, bytes);
		fw_buffer_destroy(d, &f->buffer);
		return err;
	}
	fill_list(f);
	fill_reserve(d, f);
	return 0;
}

int inproc_freelist_create(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			   bool gpu_tables, struct pumice_freelist **out)
{
	struct inproc_device *d = inproc_device(vm->dev);
	struct inproc_freelist *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return fail(vm->dev, ENOMEM, "free list: out of memory");
	f->base = (struct pumice_freelist){ .dev = vm->dev, .vm = vm };
	f->desc = *desc;
	f->gpu_tables = gpu_tables;
	pthread_mutex_lock(&d->lock);
	err = init_list(d, f);
	if (!err) {
		f->next = d->freelists;
		d->freelists = f;
	}
	pthread_mutex_unlock(&d->lock);
	if (err) {
		free(f);
		return fail(vm->dev, ENOMEM, "free list: %u pages: " OUT_OF_GPU_MEMORY,
			    desc->initial_pages);
	}
	*out = &f->base;
	return 0;
}

void inproc_freelist_destroy(struct pumice_freelist *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_freelist *f = (struct inproc_freelist *)base, **link;
	struct inproc_vm *vm = (struct inproc_vm *)base->vm;
	u64 align, bytes = va_bytes(f, &align);
	int err;

	pthread_mutex_lock(&d->lock);
	for (link = &d->freelists; *link != f; link = &(*link)->next)
		;
	*link = f->next;
	err = f->gpu_tables ? drop_directory(d, f) :
			      pm_bind(d, vm, f->va, PAGES_BYTES(f->pages), NULL);
	if (!err)
		extents_free(&vm->pm_room, f->va, bytes);
	if (f->reserve)
		memory_put(d, f->reserve);
	fw_buffer_destroy(d, &f->buffer);
	pthread_mutex_unlock(&d->lock);
	free(f);
}

/* Add the reserve, if any, after the current pages. */
static void grow(struct inproc_device *d, struct inproc_freelist *f)
{
	u32 pages = next_pages(f);

	fill_reserve(d, f);
	if (!pages || !f->reserve || add_pages(d, f, pages, f->reserve))
		return;
	memory_put(d, f->reserve);
	f->reserve = NULL;
}

/* Report the number of pages to the firmware. Return: false without room in the kernel CCB. */
static bool reply_grow_request(struct inproc_device *d, struct inproc_freelist *f)
{
	const struct fwif_kccb_cmd grown = {
		.type = FWIF_KCCB_FREE_LIST_GROWN, .object = f->buffer.addr, .pages = f->pages,
	};

	if (!fw_has_room(d))
		return false;
	fw_send(d, &grown);
	f->reply_pending = false;
	fill_reserve(d, f);
	return true;
}

static void note_grow_request(struct inproc_device *d, u32 addr)
{
	struct inproc_freelist *f;

	for (f = d->freelists; f; f = f->next)
		if (f->buffer.addr == addr)
			f->grow_requested = true;
}

/* Process a firmware message; except for free lists, job results have the same data. */
static void read_messages(struct inproc_device *d)
{
	u32 write = __atomic_load_n(&d->fw->fwccb_ring.write, __ATOMIC_ACQUIRE) % FWCCB_COUNT;
	struct fwif_fwccb_msg msg;

	while (d->fwccb_read != write) {
		msg = d->fw->fwccb[d->fwccb_read];
		if (msg.type == FWIF_FWCCB_FREE_LIST_GROW)
			note_grow_request(d, msg.code);
		d->fwccb_read = (d->fwccb_read + 1) % FWCCB_COUNT;
	}
	__atomic_store_n(&d->fw->fwccb_ring.read, d->fwccb_read, __ATOMIC_RELEASE);
}

static struct inproc_freelist *next_request(struct inproc_device *d)
{
	struct inproc_freelist *f;

	for (f = d->freelists; f && !f->grow_requested && !f->reply_pending; f = f->next)
		;
	return f;
}

void freelist_process(struct inproc_device *d)
{
	struct inproc_freelist *f;
	bool worked = false;

	if (d->growing || d->lost)
		return;
	d->growing = true;
	read_messages(d);
	while ((f = next_request(d))) {
		if (f->grow_requested) {
			/* Mapping may drop the lock: requests received meanwhile stay pending. */
			f->grow_requested = false;
			grow(d, f);
			f->reply_pending = true;
		}
		if (!reply_grow_request(d, f))
			break;
		worked = true;
		read_messages(d);
	}
	d->growing = false;
	if (worked)
		event_raise(d);
}
