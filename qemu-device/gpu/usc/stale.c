// SPDX-License-Identifier: MIT
/*
 * Mode strict: accesses by lane that use a stale entry of the TLB, or data that caches hold.
 *
 * Source: the project's decision. The MMU compares entries with the tables when a job uses them
 * first (mmu_uses_stale()). Here this is done before the instruction runs, so that the finding has
 * its place; mmu_translate() reports the accesses of all others, without one.
 *
 * Requests of lanes follow the instruction (request.c), so the bytes that it will access are
 * announced here, for lines.c.
 *
 * Limits: the first lane of an instruction is reported.
 */
#include "finding.h"
#include "step.h"

static void report(const struct exec *x, const struct usc_insn *i, const struct usc_requests *r,
		   u32 lane, u64 va)
{
	struct strict_finding finding = usc_finding(x, PUMICE_FINDING_STALE_TRANSLATION,
						    (u32)(i - x->program->insn));

	finding.access = r->store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ;
	finding.lane_known = true;
	finding.lane = (u8)lane;
	finding.addr = va;
	strict_report(x->usc->strict, &finding);
}

void usc_stale_begin(const struct exec *x, const struct usc_insn *i, const struct usc_requests *r)
{
	const enum pumice_access access = r->store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ;
	bool found = false;

	for (u32 left = r->lanes; left; left &= left - 1) {
		const u32 lane = (u32)__builtin_ctz(left);
		/* At most two pages. */
		const u64 va[2] = { r->va[lane], r->va[lane] + r->bytes - 1 };

		for (u32 n = 0; n < 2; n++) {
			if (!mmu_uses_stale(x->usc->config.mmu, &x->usc->tlb, x->ctx, va[n],
					    access, PUMICE_UNIT_USC_DATA))
				continue;
			if (!found)
				report(x, i, r, lane, va[n]);
			found = true;
		}
		if (!r->store || r->atomic)
			exec_expect(x, r->va[lane], r->bytes, false);
		if (r->store)
			exec_expect(x, r->va[lane], r->bytes, true);
	}
}
