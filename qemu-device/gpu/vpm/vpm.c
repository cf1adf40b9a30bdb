// SPDX-License-Identifier: MIT
/* Vertex pipe memory of a core. See vpm.h. */
#include "vpm.h"

#include <assert.h>
#include <stdlib.h>

#define POOL_PART	4u	/* one of these is the pool */

bool vpm_init(struct vpm *vpm, u32 bytes)
{
	const u32 rows = bytes / VPM_ROW_BYTES, pool = rows / POOL_PART;

	*vpm = (struct vpm){ .rows = rows - pool, .pool_rows = pool };
	if (rows)
		vpm->memory = aligned_alloc(VPM_ROW_BYTES, (size_t)rows * VPM_ROW_BYTES);
	return vpm->memory;
}

void vpm_fini(struct vpm *vpm)
{
	free(vpm->memory);
	vpm->memory = NULL;
}

void vpm_reset(struct vpm *vpm)
{
	vpm->head = vpm->tail = vpm->last = vpm->before = 0;
	vpm->pool_used = 0;
	vpm->waits = vpm->occupancy = 0;
}

/*
 * Return the position of the next allocation: the end of the memory is skipped if it is too short.
 */
static u64 next_place(const struct vpm *vpm, u32 rows)
{
	const u64 left = vpm->rows - vpm->head % vpm->rows;

	return vpm->head + (left < rows ? left : 0);
}

bool vpm_has_room(const struct vpm *vpm, u32 rows)
{
	return next_place(vpm, rows) + rows - vpm->tail <= vpm->rows;
}

void vpm_tick(struct vpm *vpm, u64 now)
{
	if (now <= vpm->time)
		return;
	vpm->occupancy += vpm_used(vpm) * (now - vpm->time);
	vpm->time = now;
}

bool vpm_alloc(struct vpm *vpm, u32 rows, u64 now, u64 *at)
{
	if (!vpm_has_room(vpm, rows))
		return false;
	*at = vpm->head;
	if (!rows)
		return true;	/* of no vertices: the last allocation may still be undone */
	vpm_tick(vpm, now);
	vpm->before = vpm->head;
	vpm->last = *at = next_place(vpm, rows);
	vpm->head = *at + rows;
	return true;
}

void vpm_undo(struct vpm *vpm, u64 at, u64 now)
{
	assert(at >= vpm->tail && at <= vpm->head);
	vpm_tick(vpm, now);
	vpm->head = at == vpm->last ? vpm->before : at;
}

void vpm_free(struct vpm *vpm, u64 end, u64 now)
{
	assert(end >= vpm->tail && end <= vpm->head);
	vpm_tick(vpm, now);
	vpm->tail = end;
}

void vpm_pool_count(struct vpm *vpm, u32 rows, bool add, u64 now)
{
	vpm_tick(vpm, now);
	vpm->pool_used += add ? rows : 0u - rows;
}
