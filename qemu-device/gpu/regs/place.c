// SPDX-License-Identifier: MIT
/*
 * Registers PLACE of unit FIND: the host describes its buffers for findings of mode strict
 * (strict/places.h).
 *
 * Source: findings.xml; no document describes them.
 *
 * Limits: the registers are on the page of virtual GPU 0, so buffers of others have no description.
 */
#include <string.h>

#include "units.h"

_Static_assert(PUMICE_FIND_PLACE_LABEL_COUNT * sizeof(u64) == PLACES_LABEL_BYTES,
	       "words of PLACE_LABEL");

/* Return the register at an offset. */
static u64 *place_register(struct gpu_place *place, const struct reg_access *at)
{
	switch (at->info->offset) {
	case PUMICE_FIND_PLACE_CATALOGUE:
		return &place->catalogue;
	case PUMICE_FIND_PLACE_ADDR:
		return &place->addr;
	case PUMICE_FIND_PLACE_SIZE:
		return &place->size;
	case PUMICE_FIND_PLACE_END:
		return &place->end;
	case PUMICE_FIND_PLACE_BUFFER:
		return &place->buffer;
	case PUMICE_FIND_PLACE_NUMBER:
		return &place->number;
	case PUMICE_FIND_PLACE_PROCESS:
		return &place->process;
	default:
		return &place->label[at->index];
	}
}

REG_READ(reg_find_place)
{
	return *place_register(&gpu->find_place, at);
}

REG_WRITE(reg_find_place_write)
{
	*place_register(&gpu->find_place, at) = value;
	return REG_DONE;
}

REG_READ(reg_find_place_drops)
{
	(void)at;
	return places_drops(&gpu->strict.places);
}

/* Copy the name from the registers. */
static void place_label(const struct gpu_place *place, char label[PLACES_LABEL_BYTES])
{
	for (u32 n = 0; n < PLACES_LABEL_BYTES; n++)
		label[n] = (char)(place->label[n / 8] >> (n % 8 * 8));
	label[PLACES_LABEL_BYTES - 1] = '\0';
}

static bool place_is_valid(const struct gpu_place *place)
{
	const u64 limit = 1ull << PUMICE_MMU_VA_BITS;

	return place->size && place->addr < limit && place->size <= limit - place->addr;
}

static void place_map(struct places *places, const struct gpu_place *place, u64 space,
		      const char *label)
{
	const struct places_range range = {
		.space = space, .first = place->addr, .last = place->addr + place->size - 1,
		.buffer = (const void *)(uintptr_t)place->buffer,
	};

	places_add_range(places, &range, label);
	if (place->end > range.first && place->end <= range.last && place->end % PLACES_PAGE)
		places_add_end(places, space, place->end, range.buffer, label);
}

static void place_unmap(struct pumice_gpu *gpu, const struct gpu_place *place, u64 space,
			const char *label)
{
	struct places_removed removed = {
		.space = space, .first = place->addr, .last = place->addr + place->size - 1,
		.number = place->number, .clock = gpu_clock(gpu), .process = (u32)place->process,
		.buffer = (const void *)(uintptr_t)place->buffer,
	};

	memcpy(removed.label, label, sizeof(removed.label));
	places_remove(&gpu->strict.places, &removed);
}

REG_WRITE(reg_find_place_op)
{
	(void)value;
	return at->bus == PUMICE_REG_BUS_HOST && gpu->mode == PUMICE_MODE_STRICT ? REG_PLACE :
										   REG_DONE;
}

/*
 * Without the device lock, since the time depends on the number of mappings. If mode strict has
 * ended since the write, a mapping remains until the host describes all again.
 */
void reg_place_perform(struct pumice_gpu *gpu, unsigned int os, u64 value)
{
	struct places *places = &gpu->strict.places;
	char label[PLACES_LABEL_BYTES];
	struct gpu_place copy;
	const struct gpu_place *place = &copy;
	u64 space;

	gpu_host_lock(gpu);
	copy = gpu->find_place;
	gpu_host_unlock(gpu);
	space = mmu_space(os, place->catalogue);
	place_label(place, label);
	switch (PUMICE_FIELD_GET(PUMICE_FIND_PLACE_OP__OP, value)) {
	case PUMICE_PLACE_OP_MAP:
		if (place_is_valid(place))
			place_map(places, place, space, label);
		break;
	case PUMICE_PLACE_OP_UNMAP:
		if (place_is_valid(place))
			place_unmap(gpu, place, space, label);
		break;
	case PUMICE_PLACE_OP_LABEL:
		places_label(places, (const void *)(uintptr_t)place->buffer, label);
		break;
	case PUMICE_PLACE_OP_FREE:
		places_free(places, (const void *)(uintptr_t)place->buffer);
		break;
	case PUMICE_PLACE_OP_FORGET:
		places_forget(places, space);
		break;
	case PUMICE_PLACE_OP_BEGIN:
		places_unmap_all(places, os);
		break;
	default:
		break;
	}
}
