// SPDX-License-Identifier: MIT
/* Control commands of the CDM and the RDM. See walk.h. */
#include "walk.h"

u32 dm_control_align(enum pumice_cdm_type type)
{
	switch (type) {
	case PUMICE_CDM_TYPE_TIMESTAMP:
		return sizeof(u64);
	case PUMICE_CDM_TYPE_LINK:
	case PUMICE_CDM_TYPE_MARKER:
		return sizeof(u32);
	default:
		return 0;
	}
}

static enum pumice_unpack unpack_flush(const u32 *words, struct dm_flush *out)
{
	struct pumice_cdm_flush in;
	enum pumice_unpack result = pumice_cdm_flush_unpack(words, &in);

	*out = DM_FLUSH(in);
	return result;
}

enum pumice_unpack dm_control_unpack(const u32 *words, enum pumice_cdm_type type,
				     struct dm_control *out)
{
	struct pumice_cdm_return ret;
	struct pumice_cdm_fence fence;
	struct pumice_cdm_halt halt;

	switch (type) {
	case PUMICE_CDM_TYPE_CALL:
		return pumice_cdm_call_unpack(words, &out->call);
	case PUMICE_CDM_TYPE_RETURN:
		return pumice_cdm_return_unpack(words, &ret);
	case PUMICE_CDM_TYPE_FENCE:
		return pumice_cdm_fence_unpack(words, &fence);
	case PUMICE_CDM_TYPE_HALT:
		return pumice_cdm_halt_unpack(words, &halt);
	case PUMICE_CDM_TYPE_LINK:
		return pumice_cdm_link_unpack(words, &out->link);
	case PUMICE_CDM_TYPE_FLUSH:
		return unpack_flush(words, &out->flush);
	case PUMICE_CDM_TYPE_TIMESTAMP:
		return pumice_cdm_timestamp_unpack(words, &out->timestamp);
	case PUMICE_CDM_TYPE_MARKER:
		return pumice_cdm_marker_unpack(words, &out->marker);
	default:
		return PUMICE_UNPACK_CONST;
	}
}

bool dm_control_waits(enum pumice_cdm_type type, const struct dm_control *control)
{
	switch (type) {
	case PUMICE_CDM_TYPE_FENCE:
	case PUMICE_CDM_TYPE_FLUSH:
		return true;
	case PUMICE_CDM_TYPE_TIMESTAMP:
		return control->timestamp.wait;
	case PUMICE_CDM_TYPE_MARKER:
		return control->marker.wait;
	default:
		return false;
	}
}

/* Stop the job with a fault of its data master at the command. */
static bool refuse(const struct dm_walk *walk, const struct dm_walk_access *access,
		   enum pumice_fault reason)
{
	dm_stop_at(access->run, reason, access->ctx, walk->pc);
	return false;
}

static bool call(struct dm_walk *walk, const struct dm_walk_access *access, u64 addr, u64 next)
{
	if (walk->depth == PUMICE_CDM_MAX_DEPTH)
		return refuse(walk, access, access->too_deep);
	walk->return_pc[walk->depth++] = next;
	walk->pc = addr;
	return true;
}

static bool leave(struct dm_walk *walk, const struct dm_walk_access *access)
{
	if (!walk->depth)
		return refuse(walk, access, access->no_call);
	walk->pc = walk->return_pc[--walk->depth];
	return true;
}

/*
 * Translate the aligned address that a command writes to, or return NULL with the job stopped.
 */
static void *target(const struct dm_walk_access *access, u64 addr, u64 bytes)
{
	struct gpu_fault fault = { 0 };
	void *host = mmu_translate(access->mmu, access->tlb, access->ctx, addr, bytes,
				   PUMICE_ACCESS_WRITE, access->run->unit->unit, &fault);

	if (!host)
		dm_stop_fault(access->run, &fault);
	return host;
}

static bool write_time(const struct dm_walk_access *access, u64 addr)
{
	u64 *host = target(access, addr, sizeof(*host));

	if (host)
		__atomic_store_n(host, access->now(access->opaque), __ATOMIC_SEQ_CST);
	return host;
}

static bool write_marker(const struct dm_walk_access *access,
			 const struct pumice_cdm_marker *marker)
{
	u32 *host = target(access, marker->addr, sizeof(*host));

	if (host)
		__atomic_store_n(host, marker->value, __ATOMIC_SEQ_CST);
	return host;
}

bool dm_walk_control(struct dm_walk *walk, const struct dm_walk_access *access,
		     enum pumice_cdm_type type, const struct dm_control *control, u64 next)
{
	const enum pumice_unit master = access->run->unit->unit;

	walk->swept = false;
	switch (type) {
	case PUMICE_CDM_TYPE_CALL:
		return call(walk, access, control->call.addr, next);
	case PUMICE_CDM_TYPE_RETURN:
		return leave(walk, access);
	case PUMICE_CDM_TYPE_LINK:
		walk->pc = control->link.addr;
		return true;
	case PUMICE_CDM_TYPE_TIMESTAMP:
		if (control->timestamp.wait)
			walk->swept = dm_publish(access->mmu, master, access->ctx);
		if (!write_time(access, control->timestamp.addr))
			return false;
		break;
	case PUMICE_CDM_TYPE_MARKER:
		if (control->marker.wait)
			walk->swept = dm_publish(access->mmu, master, access->ctx);
		if (!write_marker(access, &control->marker))
			return false;
		break;
	case PUMICE_CDM_TYPE_FLUSH:
		walk->swept = dm_flush(access->mmu, master, access->ctx, &control->flush);
		break;
	default:	/* FENCE */
		walk->swept = dm_fence(access->mmu, master, access->ctx);
		break;
	}
	walk->pc = next;
	return true;
}
