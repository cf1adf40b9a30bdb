// SPDX-License-Identifier: MIT
/*
 * Findings of mode strict: members that blocks of the GPU cannot provide: the job, the last
 * invalidation of the address, and the buffer, as far as the host has described it.
 */
#include "finding.h"

#include <string.h>

#include "faults.h"
#include "gpu.h"
#include "pumice_gpu_places.h"

/*
 * Add the job whose task is in the slot of the finding. Only of programs: other blocks have no
 * slot, and report in other threads than that of the USC. Not of a byte that was not cleaned: that
 * has the job which has ended, and the slot may have a task of another one.
 */
static void add_job(const struct pumice_gpu *gpu, struct strict_finding *f)
{
	enum pumice_wave_master master;

	if (f->kind == PUMICE_FINDING_UNFLUSHED_WRITE || f->kind == PUMICE_FINDING_EARLY_SIGNAL ||
	    !f->code || f->usc >= gpu->uscs || f->slot >= PUMICE_USC_SLOTS)
		return;
	master = usc_slot_master(gpu->usc[f->usc], f->slot);
	f->job.tag = trace_tag(&gpu->trace, trace_master_of(master));
	f->job.master = (u8)master;
}

/* Add the buffer whose mapping of the address was removed; returns whether there is one. */
static bool add_removed(struct pumice_gpu *gpu, u64 space, struct strict_finding *f)
{
	struct places_removed removed;

	if (!places_find_removed(&gpu->strict.places, space, f->addr, &removed))
		return false;
	f->buffer.unmapped = true;
	f->buffer.unmapped_by = removed.number;
	f->buffer.unmapped_at = removed.clock;
	f->buffer.process = removed.process;
	f->buffer.freed = removed.freed;
	memcpy(f->buffer.label, removed.label, sizeof(f->buffer.label));
	return true;
}

/* Add the buffer that ends before an address at which nothing was mapped. */
static void add_before(struct pumice_gpu *gpu, u64 space, struct strict_finding *f)
{
	struct places_end end;

	if (!places_find_before(&gpu->strict.places, space, f->addr, &end))
		return;
	f->buffer.end = end.end;
	memcpy(f->buffer.label, end.label, sizeof(f->buffer.label));
}

/* Add the name of the buffer that is mapped at an address. */
static void add_mapped(struct pumice_gpu *gpu, u64 space, u64 va, struct strict_finding *f)
{
	struct places_range range;

	if (places_find_range(&gpu->strict.places, space, va, &range))
		memcpy(f->buffer.label, range.label, sizeof(f->buffer.label));
}

void finding_complete(void *opaque, struct strict_finding *f)
{
	struct pumice_gpu *gpu = opaque;
	u64 space;

	add_job(gpu, f);
	if (f->ctx >= PUMICE_MMU_CONTEXTS)
		return;
	space = mmu_context_space(&gpu->mmu, f->ctx);
	switch (f->kind) {
	case PUMICE_FINDING_UNMAPPED:
	case PUMICE_FINDING_STALE_TRANSLATION:
		f->invalidation = mmu_find_invalidation(&gpu->mmu, f->ctx, f->addr);
		if (!add_removed(gpu, space, f) && f->kind == PUMICE_FINDING_UNMAPPED)
			add_before(gpu, space, f);
		break;
	case PUMICE_FINDING_READ_ONLY_STORE:
	case PUMICE_FINDING_GLOBAL_RACE:
	case PUMICE_FINDING_STALE_READ:
	case PUMICE_FINDING_STALE_CORE:
	case PUMICE_FINDING_TABLE_REUSED:
	case PUMICE_FINDING_TARGET_READ:
	case PUMICE_FINDING_UNFLUSHED_WRITE:
	case PUMICE_FINDING_PAGE_SIZE:
	case PUMICE_FINDING_EARLY_SIGNAL:
		add_mapped(gpu, space, f->addr, f);
		break;
	case PUMICE_FINDING_LATE_DATA:
		if (pumice_late_is_memory(f->addr))
			add_mapped(gpu, space, pumice_late_memory_va(f->addr), f);
		break;
	default:
		break;
	}
}

/* pumice_gpu_places.h */

uint64_t pumice_gpu_space(uint32_t os, uint64_t catalogue)
{
	return mmu_space(os, catalogue);
}

void pumice_gpu_add_end(struct pumice_gpu *gpu, uint64_t space, uint64_t end,
			const void *buffer, const char *label)
{
	places_add_end(&gpu->strict.places, space, end, buffer, label);
}

void pumice_gpu_note_map(struct pumice_gpu *gpu, uint64_t space, uint64_t va, uint64_t size,
			 const void *buffer, const char *label)
{
	const struct places_range range = {
		.space = space, .first = va, .last = va + size - 1, .buffer = buffer,
	};

	places_add_range(&gpu->strict.places, &range, label);
}

void pumice_gpu_note_unmap(struct pumice_gpu *gpu, const struct pumice_gpu_unmap *unmap)
{
	struct places_removed removed = {
		.space = unmap->space,
		.first = unmap->va,
		.last = unmap->va + unmap->size - 1,
		.number = unmap->number,
		.clock = gpu_clock(gpu),
		.process = unmap->process,
		.buffer = unmap->buffer,
		.freed = unmap->freed,
	};

	if (unmap->label)
		strncpy(removed.label, unmap->label, sizeof(removed.label) - 1);
	places_remove(&gpu->strict.places, &removed);
}

void pumice_gpu_note_label(struct pumice_gpu *gpu, const void *buffer, const char *label)
{
	places_label(&gpu->strict.places, buffer, label);
}

void pumice_gpu_note_free(struct pumice_gpu *gpu, const void *buffer)
{
	places_free(&gpu->strict.places, buffer);
}

void pumice_gpu_forget_space(struct pumice_gpu *gpu, uint64_t space)
{
	places_forget(&gpu->strict.places, space);
}
