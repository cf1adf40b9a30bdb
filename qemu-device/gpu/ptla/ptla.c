// SPDX-License-Identifier: MIT
/*
 * PTLA: execution of a transfer job.
 *
 * Source: document 004, "PTLA". Commands are run one at a time. A command is divided into
 * pieces, which the units process in order; the unit that ends the last one fetches the next
 * command. The fault of the first faulting piece is reported, so that it does not depend on
 * the number of units.
 *
 * Locking: the device lock guards struct ptla. A piece runs without it.
 */
#include "ptla.h"

#include <stdlib.h>
#include <string.h>

#include "../host_alloc.h"
#include "perf.h"
#include "state.h"

/* Budget of a step: pieces of 64 KiB, each of which takes memory some 10 us. */
#define STEP_COST 8u
/* The same in detailed modes: the requests for a piece take the memory hierarchy up to 1 ms. */
#define DETAILED_STEP_COST 1u

/* Create the second levels of the units' TLBs. False: out of memory. */
static bool create_tlbs(struct ptla *ptla)
{
	for (unsigned int unit = 0; unit < PTLA_UNITS; unit++) {
		struct mmu_tlb_entry *far = mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES);

		if (!far)
			return false;
		mmu_tlb_set_far(&ptla->unit[unit].tlb, far, MMU_TLB_FAR_ENTRIES);
	}
	return true;
}

struct ptla *ptla_create(struct mmu *mmu, const struct dm_ops *ops, void *opaque,
			 struct trace *trace)
{
	struct ptla *ptla = calloc(1, sizeof(*ptla));

	if (!ptla)
		return NULL;
	ptla->mmu = mmu;
	ptla->ops = ops;
	ptla->opaque = opaque;
	ptla->trace = trace;
	if (!create_tlbs(ptla)) {
		ptla_destroy(ptla);
		return NULL;
	}
	return ptla;
}

void ptla_destroy(struct ptla *ptla)
{
	if (!ptla)
		return;
	for (unsigned int unit = 0; unit < PTLA_UNITS; unit++)
		host_free(ptla->unit[unit].tlb.far);
	free(ptla);
}

static void reset_unit(struct ptla_unit *unit)
{
	struct mmu_tlb_entry *far = unit->tlb.far;

	mmu_tlb_reset(&unit->tlb);
	memset(unit, 0, sizeof(*unit));
	mmu_tlb_set_far(&unit->tlb, far, MMU_TLB_FAR_ENTRIES);
}

void ptla_reset(struct ptla *ptla)
{
	memset((u8 *)ptla + offsetof(struct ptla, run), 0,
	       offsetof(struct ptla, unit) - offsetof(struct ptla, run));
	for (unsigned int unit = 0; unit < PTLA_UNITS; unit++)
		reset_unit(&ptla->unit[unit]);
}

static struct trace_item command_event(const struct ptla *ptla, enum pumice_trace_phase phase)
{
	return (struct trace_item){
		.kind = PUMICE_TRACE_KIND_TRANSFER, .phase = (u8)phase, .dm = TRACE_TDM,
		.ctx = ptla->job.ctx, .arg0 = ptla->pc, .arg1 = (u64)ptla->command.type,
	};
}

/* Trace the end of the command, if its begin was. */
static void trace_command_end(struct ptla *ptla, enum pumice_trace_phase phase)
{
	trace_span_end(ptla->trace, &ptla->traced, command_event(ptla, phase));
}

static void wake_all(const struct ptla *ptla)
{
	for (unsigned int unit = 0; unit < PTLA_UNITS; unit++)
		ptla->ops->wake(ptla->opaque, unit);
}

static void stopped(void *opaque)
{
	struct ptla *ptla = opaque;

	ptla->phase = PTLA_DRAIN;
	ptla->ops->wake(ptla->opaque, 0);
}

static const struct dm_unit tdm_unit = { .unit = PUMICE_UNIT_PTLA, .stopped = stopped };

bool ptla_start(struct ptla *ptla, const struct dm_job *job)
{
	if (ptla->phase != PTLA_IDLE || job->ctx >= PUMICE_MMU_CONTEXTS)
		return false;
	dm_run_begin(&ptla->run, &tdm_unit, ptla, ptla->ops->now(ptla->opaque));
	ptla->job = *job;
	ptla->pc = job->stream;
	ptla->presented = 0;
	ptla->phase = PTLA_FETCH;
	trace_set_tag(ptla->trace, TRACE_TDM, job->tag);
	trace_event(ptla->trace, PUMICE_TRACE_KIND_JOB_START, TRACE_TDM, job->ctx, TRACE_TDM,
		    job->stream, trace_job(job->tag, false));
	ptla->ops->wake(ptla->opaque, 0);
	return true;
}

void ptla_abort(struct ptla *ptla)
{
	dm_abort(&ptla->run);
}

const struct dm_status *ptla_status(const struct ptla *ptla)
{
	return &ptla->run.status;
}

void ptla_counters_add(const struct ptla *ptla, u64 *value)
{
	value[PUMICE_PERF_TDM_BUSY] += dm_run_busy_ns(&ptla->run, ptla->ops->now(ptla->opaque));
	value[PUMICE_PERF_TDM_BYTES] += ptla->bytes;
	value[PUMICE_PERF_TDM_SCALED] += ptla->scaled;
}

static void end_job(struct ptla *ptla)
{
	ptla->phase = PTLA_IDLE;
	dm_run_end(&ptla->run, ptla->ops->now(ptla->opaque));
	trace_command_end(ptla, PUMICE_TRACE_PHASE_CANCEL);
	trace_event(ptla->trace, PUMICE_TRACE_KIND_JOB_END, TRACE_TDM, ptla->job.ctx, TRACE_TDM,
		    ptla->run.status.fault.fault, ptla->run.end);
	trace_set_tag(ptla->trace, TRACE_TDM, 0);
	ptla->ops->ended(ptla->opaque, ptla->run.end);
}

/* Complete the command. */
static void complete_command(struct ptla *ptla)
{
	const struct ptla_command *c = &ptla->command;

	trace_command_end(ptla, PUMICE_TRACE_PHASE_END);
	ptla->run.status.done++;
	ptla->phase = PTLA_FETCH;
	if (c->type == PUMICE_TDM_TYPE_LINK)
		ptla->pc = c->link.addr;
	else
		ptla->pc += c->words * sizeof(u32);
}

/* All pieces of the command are complete, and the data that they wrote is visible. */
static void complete_pieces(struct ptla *ptla)
{
	if (ptla->command.type == PUMICE_TDM_TYPE_PRESENT)
		ptla->phase = PTLA_FLIP;
	else
		complete_command(ptla);
}

/* Append the flip of the command. False while there is no space: ptla_flip_pop() wakes the unit. */
static bool append_flip(struct ptla *ptla)
{
	if (ptla->flip_count == PUMICE_TDM_FLIPS)
		return false;
	ptla->flip[ptla->flip_count++] = (struct ptla_flip){
		.frame = ptla->command.frame, .addr = ptla->command.dst.addr,
		.time = ptla->ops->now(ptla->opaque),
	};
	complete_command(ptla);
	ptla->ops->flipped(ptla->opaque);
	return true;
}

u32 ptla_flips(const struct ptla *ptla)
{
	return ptla->flip_count;
}

struct ptla_flip ptla_flip(const struct ptla *ptla)
{
	return ptla->flip_count ? ptla->flip[0] : (struct ptla_flip){ 0 };
}

void ptla_flip_pop(struct ptla *ptla)
{
	if (!ptla->flip_count)
		return;
	ptla->flip_count--;
	memmove(&ptla->flip[0], &ptla->flip[1], ptla->flip_count * sizeof(ptla->flip[0]));
	if (ptla->phase == PTLA_FLIP)
		ptla->ops->wake(ptla->opaque, 0);
}

static void fetch(struct ptla *ptla, struct ptla_unit *unit)
{
	struct ptla_command *c = &ptla->command;
	struct gpu_fault fault = { 0 };

	if (!ptla_command_fetch(ptla->mmu, &unit->tlb, ptla->job.ctx, ptla->pc, c, &fault)) {
		dm_stop_fault(&ptla->run, &fault);
		return;
	}
	if (c->type == PUMICE_TDM_TYPE_PRESENT && ptla->presented++ == ptla->job.presents) {
		dm_stop_at(&ptla->run, PUMICE_FAULT_TDM_PRESENT, ptla->job.ctx, ptla->pc);
		return;
	}
	if (c->type == PUMICE_TDM_TYPE_HALT) {
		ptla->run.status.done++;
		ptla->phase = PTLA_DRAIN;
		return;
	}
	ptla->traced = trace_span_begin(ptla->trace,
					command_event(ptla, PUMICE_TRACE_PHASE_BEGIN));
	if (c->type == PUMICE_TDM_TYPE_FLUSH)
		c->extra = dm_flush(ptla->mmu, PUMICE_UNIT_PTLA, ptla->job.ctx, &c->flush) ?
				   STEP_COST : 0;
	if (!c->pieces) {
		complete_command(ptla);
		return;
	}
	ptla->phase = PTLA_WORK;
	ptla->next = 0;
	if (c->pieces > 1 && !c->serial)
		wake_all(ptla);
}

static bool run_piece(struct ptla_piece *piece)
{
	switch (piece->command->type) {
	case PUMICE_TDM_TYPE_COPY:
		return ptla_copy_piece(piece);
	case PUMICE_TDM_TYPE_FILL:
		return ptla_fill_piece(piece);
	case PUMICE_TDM_TYPE_BLIT:
		return ptla_blit_piece(piece);
	case PUMICE_TDM_TYPE_CLEAR:
		return ptla_clear_piece(piece);
	case PUMICE_TDM_TYPE_SCALE:
	case PUMICE_TDM_TYPE_PRESENT:
		return ptla_scale_piece(piece);
	default:
		return ptla_downscale_piece(piece);
	}
}

/* Record the fault of a piece. Earlier pieces are in progress, and may fault, too. */
static void piece_fault(struct ptla *ptla, const struct ptla_piece *piece)
{
	if (ptla->run.end == DM_FAULT && piece->number < ptla->fault_piece)
		ptla->run.status.fault = piece->fault;
	else if (ptla->run.end != DM_DONE)
		return;
	ptla->fault_piece = piece->number;
	dm_stop_fault(&ptla->run, &piece->fault);
}

/* Do the next piece, without the lock. */
static void work(struct ptla *ptla, struct ptla_unit *unit)
{
	struct ptla_piece piece = {
		.mmu = ptla->mmu, .unit = unit, .ctx = ptla->job.ctx, .command = &ptla->command,
		.number = ptla->next++,
		.fault = { .unit = PUMICE_UNIT_PTLA, .ctx = (u8)ptla->job.ctx },
	};
	bool done;

	ptla->running++;
	ptla->ops->unlock(ptla->opaque);
	done = run_piece(&piece);
	ptla->ops->lock(ptla->opaque);
	ptla->running--;
	ptla->bytes += piece.bytes;
	ptla->scaled += piece.scaled;
	if (!done)
		piece_fault(ptla, &piece);
	else if (ptla->phase == PTLA_WORK && ptla->next == ptla->command.pieces && !ptla->running)
		complete_pieces(ptla);
}

/* Do one step of the job, with the lock. False when this unit has no work. */
static bool advance(struct ptla *ptla, struct ptla_unit *unit)
{
	switch (ptla->phase) {
	case PTLA_IDLE:
		return false;
	case PTLA_FETCH:
		fetch(ptla, unit);
		return true;
	case PTLA_WORK:
		if (ptla->next == ptla->command.pieces || (ptla->command.serial && ptla->running))
			return false;
		work(ptla, unit);
		return true;
	case PTLA_FLIP:
		return append_flip(ptla);
	case PTLA_DRAIN:
		if (!ptla->running)
			end_job(ptla);
		return ptla->phase != PTLA_IDLE && !ptla->running;
	}
	return false;
}

bool ptla_step(struct ptla *ptla, unsigned int unit, const _Atomic bool *stop_now)
{
	const u32 budget = mmu_is_detailed(ptla->mmu) ? DETAILED_STEP_COST : STEP_COST;
	bool more = true;

	ptla->ops->lock(ptla->opaque);
	for (u32 cost = 0; more && cost < budget; cost += 1 + ptla->command.extra) {
		if (cost && atomic_load_explicit(stop_now, memory_order_relaxed))
			break;
		more = advance(ptla, &ptla->unit[unit]);
	}
	ptla->ops->unlock(ptla->opaque);
	return more;
}
