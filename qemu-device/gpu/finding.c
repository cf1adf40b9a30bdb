// SPDX-License-Identifier: MIT
/*
 * Findings of mode strict: members that blocks of the GPU cannot provide: the job, the last
 * invalidation of the address, and the buffer, as far as the host has described it.
 */
#include "finding.h"

#include <string.h>

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

	if (f->kind == PUMICE_FINDING_UNFLUSHED_WRITE || !f->code || f->usc >= gpu->uscs ||
	    f->slot >= PUMICE_USC_SLOTS)
		return;
	master = usc_slot_master(gpu->usc[f->usc], f->slot);
	f->job.tag = trace_tag(&gpu->trace, trace_master_of(master));
	f->job.master = (u8)master;
}

/* Add the buffer whose mapping of the address was removed. */
static void add_removed(struct pumice_gpu *gpu, u64 catalogue, struct strict_finding *f)
{
	struct places_removed removed;

	if (!places_find_removed(&gpu->strict.places, catalogue, f->addr, &removed))
		return;
	f->buffer.unmapped = true;
	f->buffer.unmapped_by = removed.number;
	f->buffer.freed = removed.freed;
	memcpy(f->buffer.label, removed.label, sizeof(f->buffer.label));
}

void finding_complete(void *opaque, struct strict_finding *f)
{
	struct pumice_gpu *gpu = opaque;

	add_job(gpu, f);
	if ((f->kind != PUMICE_FINDING_UNMAPPED && f->kind != PUMICE_FINDING_STALE_TRANSLATION) ||
	    f->ctx >= PUMICE_MMU_CONTEXTS)
		return;
	f->invalidation = mmu_find_invalidation(&gpu->mmu, f->ctx, f->addr);
	add_removed(gpu, mmu_catalogue(&gpu->mmu, f->ctx), f);
}

/* pumice_gpu_places.h */

void pumice_gpu_add_end(struct pumice_gpu *gpu, uint64_t catalogue, uint64_t end,
			const void *buffer, const char *label)
{
	places_add_end(&gpu->strict.places, catalogue, end, buffer, label);
}

void pumice_gpu_note_unmap(struct pumice_gpu *gpu, const struct pumice_gpu_unmap *unmap)
{
	struct places_removed removed = {
		.catalogue = unmap->catalogue,
		.first = unmap->va,
		.last = unmap->va + unmap->size - 1,
		.number = unmap->number,
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

void pumice_gpu_forget_space(struct pumice_gpu *gpu, uint64_t catalogue)
{
	places_forget(&gpu->strict.places, catalogue);
}
