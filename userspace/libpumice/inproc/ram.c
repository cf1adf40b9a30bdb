// SPDX-License-Identifier: MIT
/*
 * In-process backend: the memory of the GPU's machine.
 *
 * One reservation of address space for each virtual GPU, whose pages are allocated
 * on first access. A memory object is contiguous, so that it
 * can be mapped with the largest pages. Freed memory is
 * discarded, so that it is zero when it is allocated again.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "inproc.h"

int ram_init(struct inproc_device *d, u64 bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int err;

	if (p == MAP_FAILED)
		return -ENOMEM;
	/* Use large pages of the host if available; this affects speed only. */
	madvise(p, bytes, MADV_HUGEPAGE);
	d->ram = p;
	d->ram_base = RAM_BASE + d->os * RAM_DISTANCE;
	d->ram_bytes = bytes;
	err = extents_init(&d->ram_free, d->ram_base, bytes);
	return err ? err : virtual_set_memory(d);
}

void ram_fini(struct inproc_device *d)
{
	extents_fini(&d->ram_free);
	if (d->ram)
		munmap(d->ram, d->ram_bytes);
}

int ram_alloc(struct inproc_device *d, u64 bytes, u64 align, u64 *bus)
{
	return extents_alloc(&d->ram_free, bytes, align, bus) ? -ENOMEM : 0;
}

void ram_free(struct inproc_device *d, u64 bus, u64 bytes)
{
	madvise(ram_cpu(d, bus), bytes, MADV_DONTNEED);
	extents_free(&d->ram_free, bus, bytes);
}

void *ram_cpu(struct inproc_device *d, u64 bus)
{
	return d->ram + (bus - d->ram_base);
}

struct memory *memory_create(struct inproc_device *d, u64 bytes)
{
	struct memory *m = calloc(1, sizeof(*m));
	u64 align = PAGE_BYTES;

	while (align < BLOCK_BYTES && align * 2 <= bytes)
		align *= 2;
	if (!m || ram_alloc(d, bytes, align, &m->bus)) {
		free(m);
		return NULL;
	}
	m->bytes = bytes;
	m->refs = 1;
	return m;
}

void memory_get(struct memory *m)
{
	m->refs++;
}

void memory_put(struct inproc_device *d, struct memory *m)
{
	if (!m || --m->refs)
		return;
	ram_free(d, m->bus, m->bytes);
	free(m);
}

/* Mappings of the CPU are those of the process: none of them is write-combined. */
int inproc_bo_create(struct pumice_device *dev, u64 size, struct pumice_vm *exclusive, u32 flags,
		     struct pumice_bo **out)
{
	struct inproc_device *d = inproc_device(dev);
	struct inproc_bo *bo = calloc(1, sizeof(*bo));

	(void)exclusive;
	size = round_up(size, PAGE_BYTES);
	if (bo) {
		pthread_mutex_lock(&d->lock);
		bo->memory = memory_create(d, size);
		pthread_mutex_unlock(&d->lock);
	}
	if (!bo || !bo->memory) {
		free(bo);
		return fail(dev, ENOMEM, "bo: %#llx bytes: " OUT_OF_GPU_MEMORY,
			    (unsigned long long)size);
	}
	bo->memory->coherent = flags & PUMICE_BO_COHERENT;
	bo_init(&bo->base, dev, size);
	bo->memory->bo = &bo->base;
	*out = &bo->base;
	return 0;
}

void inproc_bo_destroy(struct pumice_bo *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_bo *bo = (struct inproc_bo *)base;

	pthread_mutex_lock(&d->lock);
	buffers_note_free(d, bo->memory);
	memory_put(d, bo->memory);
	pthread_mutex_unlock(&d->lock);
	bo_fini(base);
	free(bo);
}

int inproc_bo_map(struct pumice_bo *bo, void **cpu)
{
	*cpu = ram_cpu(inproc_device(bo->dev), ((struct inproc_bo *)bo)->memory->bus);
	return 0;
}

void inproc_bo_unmap(struct pumice_bo *bo, void *cpu)
{
	(void)bo;
	(void)cpu;
}

int inproc_bo_set_label(struct pumice_bo *bo, const char *label)
{
	struct inproc_device *d = inproc_device(bo->dev);

	/* The common part stores it. */
	pthread_mutex_lock(&d->lock);
	buffers_note_label(d, ((struct inproc_bo *)bo)->memory, label);
	pthread_mutex_unlock(&d->lock);
	return 0;
}

int inproc_bo_madvise(struct pumice_bo *bo, u32 advice, bool *retained)
{
	/* Memory of a process is never purged. */
	(void)bo;
	(void)advice;
	*retained = true;
	return 0;
}
