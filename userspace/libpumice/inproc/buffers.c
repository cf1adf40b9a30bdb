// SPDX-License-Identifier: MIT
/*
 * In-process backend: description of buffers for findings of mode strict (pumice_gpu_places.h):
 * mappings, removed mappings with the number of the operation, names, and ends within a page.
 *
 * Limits: buffers that are bound before mode strict is selected have no name and no end until they
 * are bound again. Other modes keep nothing.
 */
#include <string.h>

#include "inproc.h"
#include "pumice_gpu_places.h"

static bool is_strict(struct inproc_device *d)
{
	return !strcmp(pumice_gpu_mode(d->gpu), "strict");
}

/* Return the number of an address space. */
static u64 space_of(const struct inproc_device *d, const struct inproc_vm *vm)
{
	return pumice_gpu_space(d->os, vm->space.tables.catalogue);
}

/* Copy the present name of a bo, and its size as requested, to its memory. */
static void copy_bo(struct memory *m)
{
	if (!m->bo)
		return;
	m->used = m->bo->bytes;
	pthread_mutex_lock(&m->bo->lock);
	memcpy(m->label, m->bo->label, sizeof(m->label));
	pthread_mutex_unlock(&m->bo->lock);
}

void buffers_note_free(struct inproc_device *d, struct memory *m)
{
	copy_bo(m);
	m->bo = NULL;
	m->freed = true;
	if (is_strict(d))
		pumice_gpu_note_free(d->gpu, m);
}

void buffers_note_label(struct inproc_device *d, const struct memory *m, const char *label)
{
	if (is_strict(d))
		pumice_gpu_note_label(d->gpu, m, label);
}

void buffers_note_unmap(struct inproc_device *d, struct inproc_vm *vm, u64 va, u64 size)
{
	struct mapping *m;

	if (!is_strict(d))
		return;
	for (m = space_find(&vm->space, va); m && m->at.va < va + size; m = space_next(m)) {
		const u64 first = m->at.va > va ? m->at.va : va;
		const u64 end = range_end(&m->at) < va + size ? range_end(&m->at) : va + size;

		if (!m->memory)
			continue;
		copy_bo(m->memory);
		pumice_gpu_note_unmap(d->gpu, &(struct pumice_gpu_unmap){
						      .space = space_of(d, vm),
						      .va = first, .size = end - first,
						      .number = vm->operations,
						      .buffer = m->memory,
						      .label = m->memory->label,
						      .freed = m->memory->freed });
	}
}

void buffers_note_map(struct inproc_device *d, struct inproc_vm *vm, const struct mapping *m)
{
	struct memory *memory = m->memory;
	u64 offset, end;

	if (!memory || !is_strict(d))
		return;
	copy_bo(memory);
	pumice_gpu_note_map(d->gpu, space_of(d, vm), m->at.va, m->at.size, memory,
			    memory->label);
	offset = m->bus - memory->bus;
	end = m->at.va + memory->used - offset;
	if (memory->used % PAGE_BYTES && memory->used > offset && end < range_end(&m->at))
		pumice_gpu_add_end(d->gpu, space_of(d, vm), end, memory,
				   memory->label);
}

void buffers_forget(struct inproc_device *d, const struct inproc_vm *vm)
{
	pumice_gpu_forget_space(d->gpu, space_of(d, vm));
}
