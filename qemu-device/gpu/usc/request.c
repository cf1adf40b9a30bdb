// SPDX-License-Identifier: MIT
/*
 * Accesses of instructions by lane, as requests to the memory hierarchy.
 *
 * Source: document 000, "System Memory Access": the accesses of a task's threads are resolved in
 * their order; each is a request of its own.
 *
 * Limits: the requests of an instruction follow it. An instruction that faults has none.
 */
#include "step.h"

void usc_requests_begin(const struct exec *x, const struct usc_insn *i, struct usc_requests *r)
{
	u32 row[PUMICE_LANES], lane;
	const u32 *offsets;
	struct usc_access a;
	u64 base;

	r->lanes = 0;
	r->store = false;
	r->atomic = false;
	if (!usc_access_of(i, &a) || a.local)
		return;
	r->lanes = usc_active_lanes(x, i);
	r->bytes = a.bytes;
	r->store = a.store;
	r->atomic = a.load && a.store;
	base = exec_base(x, i);
	offsets = usc_access_offsets(x, i, row);
	for (lane = 0; lane < PUMICE_LANES; lane++)
		r->va[lane] = base + offsets[lane];
}

void usc_requests_end(const struct exec *x, const struct usc_requests *r)
{
	/* An atomic operation is one request, a write of kind 1 (hw/clients.xml). */
	const enum pumice_unit source = r->atomic ? MMU_SECOND(PUMICE_UNIT_USC_DATA) :
						    PUMICE_UNIT_USC_DATA;
	u32 left;

	for (left = r->lanes; left; left &= left - 1) {
		const u32 lane = (u32)__builtin_ctz(left);

		x->usc->stepped_lane = lane;
		exec_request(x, r->va[lane], r->bytes, r->store, source);
	}
	x->usc->stepped_lane = PUMICE_LANES;
}
