// SPDX-License-Identifier: MIT
/*
 * Mode strict: loads and stores beyond the end of a buffer, in its last page.
 *
 * Source: the project's decision. The MMU maps whole pages, so such an access reads bytes that the
 * buffer does not have, and no fault reports it. The host describes the ends (strict/places.h).
 *
 * Limits: accesses by lane only: not those of work-group copies, uniforms, dynamic constants,
 * textures and the ray-tracing unit. The first lane of an instruction is reported.
 */
#include "step.h"

#include <string.h>

#include "finding.h"

static void report(const struct exec *x, const struct usc_insn *i, const struct usc_requests *r,
		   u32 lane, const struct places_end *end)
{
	struct strict_finding finding = usc_finding(x, PUMICE_FINDING_PAST_END,
						    (u32)(i - x->program->insn));

	finding.access = r->store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ;
	finding.lane_known = true;
	finding.lane = (u8)lane;
	finding.addr = r->va[lane];
	finding.buffer.end = end->end;
	memcpy(finding.buffer.label, end->label, sizeof(finding.buffer.label));
	strict_report(x->usc->strict, &finding);
}

void usc_past_end(const struct exec *x, const struct usc_insn *i, const struct usc_requests *r)
{
	struct places *places = &x->usc->strict->places;
	struct places_end end;
	u64 space;

	if (!r->lanes || !places_have_ends(places))
		return;
	space = mmu_context_space(x->usc->config.mmu, x->ctx);
	for (u32 left = r->lanes; left; left &= left - 1) {
		const u32 lane = (u32)__builtin_ctz(left);

		if (!places_find_end(places, space, r->va[lane], r->bytes, &end))
			continue;
		report(x, i, r, lane, &end);
		return;
	}
}
