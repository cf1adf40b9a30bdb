// SPDX-License-Identifier: MIT
/*
 * Ray queries, which the ray tracing unit executes.
 *
 * Source: hw/isa.xml, ray_query; hw/rt.xml. A query that visits many nodes is done in pieces: the
 * wave yields in between and continues with the lanes that are left, at the address that it began
 * with, since results may replace the registers of the base and of the mask. The pieces
 * depend on the structure, the rays and the mode only. The step is charged for the nodes and leaves
 * that are visited, and the slice ends after rtu_piece() of them, also those of several queries.
 *
 * Limits: results are written when a ray is traced, before the signal is done.
 */
#include "../rtu/rtu.h"
#include "exec.h"
#include "step.h"

/* Steps of a ray that take the time of a slow instruction. */
#define RAY_STEPS 256u

/* Set up the call for a new query, or for the rest of one that was interrupted. */
static void begin(struct exec *x, const struct usc_insn *i, struct rtu_query *query)
{
	struct usc_wave *wave = x->wave;

	query->wave = (u32)(wave - x->usc->wave);
	query->resumed = wave->ray_lanes != 0;
	if (!query->resumed) {
		wave->ray_lanes = usc_active_lanes(x, i);
		wave->ray_base = exec_base(x, i);
	}
	query->lanes = wave->ray_lanes;
	query->addr = wave->ray_base;
}

/* Charge the step; the slice ends if the budget has to be compared. */
static void charge(struct exec *x, u32 steps)
{
	x->slow += steps / RAY_STEPS;
	if (x->slow >= rtu_piece(x->usc->config.mmu) / RAY_STEPS)
		exec_pause(x);
}

static const struct usc_insn *ray_query(struct exec *x, const struct usc_insn *i)
{
	struct rtu_query query = {
		.ctx = x->ctx,
		.any = i->func == PUMICE_USC_RAY_ANY,
		.ray = exec_operand(x, i, USC_SRC0),
		.result = exec_operand(x, i, USC_DST),
	};
	enum rtu_status status;

	begin(x, i, &query);
	exec_check_stop(x);
	x->fault = (struct gpu_fault){ 0 };
	status = rtu_trace(x->usc->rtu, &query, &x->fault);
	x->wave->ray_lanes = query.lanes;
	charge(x, query.steps);
	switch (status) {
	case RTU_FAULT:
		exec_mmu_fault(x, i);
		exec_fault_lane(x, query.lanes);
		return i;
	case RTU_MORE:
		x->wait = 0;
		return exec_leave(x, i, USC_EXIT_YIELD);
	default:
		exec_signal(x, i);
		return exec_next(x, i);
	}
}

usc_exec_fn *usc_exec_ray_find(const struct usc_insn *insn)
{
	return insn->op == PUMICE_USC_OP_RAY_QUERY ? ray_query : NULL;
}
