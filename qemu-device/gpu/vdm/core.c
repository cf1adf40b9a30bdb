// SPDX-License-Identifier: MIT
/*
 * Vertex data master: steps of one core.
 *
 * Source: document 004, "VDM".
 *
 * A core processes chunks in pieces: its front assembles primitives and shades their vertices in
 * tasks on its USCs (front.c), its back passes the primitives to its TA (back.c). The two take
 * turns; a core waits when neither can continue. With deferred vertex shading the TA gets positions
 * and the numbers of vertices, and the PDM runs the vertex program.
 *
 * Parking the GPU waits for the current step, so each step is bounded, below a millisecond: a
 * piece of a PDS program, of the TA's primitives or of its headers.
 */
#include "../number.h"
#include "state.h"

#define STEPS		16u	/* per call: one quantum at most */

static void lock(struct vdm *vdm)
{
	vdm->config.ops->lock(vdm->config.opaque);
}

static void unlock(struct vdm *vdm)
{
	vdm->config.ops->unlock(vdm->config.opaque);
}

enum vdm_step vdm_core_fault(struct vdm *vdm, const struct gpu_fault *fault)
{
	lock(vdm);
	dm_stop_fault(&vdm->run, fault);
	unlock(vdm);
	return VDM_STEP_ON;
}

bool vdm_core_begin_ta(struct vdm_core *core)
{
	if (core->begun)
		return true;
	core->begun = ta_begin(core->ta, &core->vdm->scene);
	if (!core->begun) {
		lock(core->vdm);
		dm_stop_at(&core->vdm->run, PUMICE_FAULT_PM_MEMORY, 0, core->vdm->scene.addr);
		unlock(core->vdm);
	}
	return core->begun;
}

trace_span vdm_trace_ta(const struct vdm_core *core, enum pumice_trace_ta work, u64 prims)
{
	return trace_span_begin(core->vdm->config.trace,
				vdm_event(core, PUMICE_TRACE_KIND_TA, PUMICE_TRACE_PHASE_BEGIN,
					  work, prims));
}

void vdm_trace_ta_end(const struct vdm_core *core, trace_span span, enum pumice_trace_ta work,
		      bool ok, u64 prims)
{
	trace_span_end(core->vdm->config.trace, &span,
		       vdm_event(core, PUMICE_TRACE_KIND_TA,
				 ok ? PUMICE_TRACE_PHASE_END : PUMICE_TRACE_PHASE_CANCEL,
				 work, prims));
}

/*
 * Nothing can be done until a task ends: be woken then, unless
 * one has ended before that was requested.
 */
static enum vdm_step watch(struct vdm_core *core)
{
	return atomic_exchange(&core->watching, true) ? VDM_STEP_WAIT : VDM_STEP_ON;
}

/*
 * There is no page for the next primitive: stall when no task of the core runs, so that its pieces
 * can be dropped. The position in them is kept.
 */
static enum vdm_step stall(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;

	if (core->filling) {
		core->filling = false;
		pds_task_drop(vdm->config.pds, &core->room);
	}
	pds_task_leave(vdm->config.pds, PDS_DM_VDM, core->number);
	if (atomic_load(&core->outstanding))
		return watch(core);
	core->quiet = false;
	lock(vdm);
	atomic_store(&core->stalled, true);
	vdm->short_of_pages = true;
	vdm_dispatch_memory(vdm);
	unlock(vdm);
	return VDM_STEP_WAIT;
}

/*
 * Write some region headers of the binned primitives. Device lock held on entry and return.
 */
static enum vdm_step write_headers(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum ta_result result;
	struct gpu_fault fault = { 0 };
	trace_span span;
	bool any = false;

	if (!vdm->pending) {
		vdm_headers_done(vdm);
		return VDM_STEP_ON;
	}
	if (!core->begun)
		return VDM_STEP_WAIT;
	core->writing = true;
	unlock(vdm);
	span = vdm_trace_ta(core, PUMICE_TRACE_TA_HEADERS, 0);
	result = ta_finish(core->ta, &any, &fault);
	vdm_trace_ta_end(core, span, PUMICE_TRACE_TA_HEADERS, result != TA_FAULT, 0);
	lock(vdm);
	core->writing = false;
	if (result == TA_MORE)
		return VDM_STEP_ON;
	core->begun = false;
	if (result != TA_OK) {
		dm_stop_fault(&vdm->run, &fault);
		return VDM_STEP_ON;
	}
	vdm->used |= (u32)any << core->number;
	if ((vdm->phase == VDM_FLUSH || vdm->phase == VDM_FINISH) && !--vdm->pending)
		vdm_headers_done(vdm);
	return VDM_STEP_ON;
}

/*
 * The job was stopped: release the chunk when its tasks have ended. Device lock held on entry
 * and return.
 */
static enum vdm_step drain(struct vdm_core *core)
{
	if (core->filling) {	/* the core is busy, so the job does not end meanwhile */
		core->filling = false;
		unlock(core->vdm);
		pds_task_drop(core->vdm->config.pds, &core->room);
		lock(core->vdm);
	}
	if (atomic_load(&core->outstanding))
		return VDM_STEP_WAIT;
	vdm_trace_chunk_end(core, PUMICE_TRACE_PHASE_CANCEL);
	vdm_dispatch_drop(core);
	atomic_store(&core->stalled, false);
	vdm_try_end(core->vdm, core->number);
	return core->vdm->phase == VDM_FREE ? VDM_STEP_ON : VDM_STEP_WAIT;
}

/*
 * The first steps of a job, and the last ones of a stopped job, follow the free lists' links.
 * This is done in pieces without the device lock, which register accesses need; the core
 * counts as writing meanwhile. Device lock held on entry and return.
 */
static enum vdm_step begin(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum pm_result result;
	struct gpu_fault fault = { 0 };

	if (core->number)
		return VDM_STEP_WAIT;
	core->writing = true;
	unlock(vdm);
	result = vdm_begin_piece(vdm, &fault);
	lock(vdm);
	core->writing = false;
	if (vdm->phase != VDM_BEGIN)
		return VDM_STEP_ON;
	if (result == PM_FAULT)
		dm_stop_fault(&vdm->run, &fault);
	else if (result == PM_OK)
		vdm_run(vdm);
	return VDM_STEP_ON;
}

static enum vdm_step free_scene(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum pm_result result;

	if (core->number != vdm->freeing_core)
		return VDM_STEP_WAIT;
	unlock(vdm);
	result = vdm_free_piece(vdm);
	lock(vdm);
	if (result == PM_MORE)
		return VDM_STEP_ON;
	vdm_freed(vdm);
	return VDM_STEP_WAIT;
}

/* Return whether the core has pieces, or a chunk to assemble. */
static bool has_work(const struct vdm_core *core)
{
	return core->phase != VDM_CORE_IDLE || core->back != core->queued;
}

/* Dispatch the next chunk to the front. */
static enum vdm_step dispatch(struct vdm_core *core)
{
	if (core->number >= core->vdm->cores)
		return VDM_STEP_WAIT;
	if (vdm_dispatch(core->vdm, core) != VDM_DISPATCH_WAIT)
		return VDM_STEP_ON;
	core->no_chunk = true;
	return has_work(core) ? VDM_STEP_ON : VDM_STEP_WAIT;
}

/* Execute the step that the phase of the job requires of the core. Device lock held. */
static enum vdm_step step_job(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;

	switch (vdm->phase) {
	case VDM_IDLE:
	case VDM_MEMORY:
		return VDM_STEP_WAIT;
	case VDM_BEGIN:
		return begin(core);
	case VDM_FREE:
		return free_scene(core);
	case VDM_RUN:
		return atomic_load(&core->stalled) ? VDM_STEP_WAIT : dispatch(core);
	case VDM_FLUSH:
	case VDM_FINISH:
		return write_headers(core);
	case VDM_DRAIN:
		return drain(core);
	}
	return VDM_STEP_WAIT;
}

/* Do a step of the front or of the back, alternately while both can continue. */
static enum vdm_step work(struct vdm_core *core)
{
	core->binning = !core->binning;
	if ((core->binning ? vdm_back(core) : vdm_front(core)) == VDM_STEP_ON)
		return VDM_STEP_ON;
	return core->binning ? vdm_front(core) : vdm_back(core);
}

static enum vdm_step step(struct vdm_core *core)
{
	enum vdm_step result;
	bool idle;

	if (!atomic_load(&core->vdm->stopping) && !atomic_load(&core->stalled)) {
		if (core->quiet)
			return stall(core);
		if (work(core) == VDM_STEP_ON)
			return VDM_STEP_ON;
		if (core->phase != VDM_CORE_IDLE || (core->back != core->queued && core->no_chunk))
			return watch(core);
	}
	lock(core->vdm);
	result = step_job(core);
	idle = core->vdm->phase == VDM_IDLE;
	unlock(core->vdm);
	/*
	 * After a stopped job. Only this thread begins the TA, so it cannot begin meanwhile.
	 */
	if (idle)
		ta_trim(core->ta);
	return result;
}

bool vdm_core_step(struct vdm *vdm, unsigned int number, const _Atomic bool *stop)
{
	unsigned int n;

	vdm->core[number].no_chunk = false;
	for (n = 0; n < STEPS; n++) {
		if (step(&vdm->core[number]) == VDM_STEP_WAIT)
			return false;
		if (atomic_load_explicit(stop, memory_order_relaxed))
			break;
	}
	return true;
}
