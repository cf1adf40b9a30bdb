/* SPDX-License-Identifier: MIT */
/* Mode strict: the members of a finding that the running wave determines. */
#ifndef PUMICE_GPU_USC_FINDING_H
#define PUMICE_GPU_USC_FINDING_H

#include "../strict/strict.h"
#include "exec.h"

/* Return a finding of an instruction of the wave that runs: a read, of no lane and no address. */
static inline struct strict_finding usc_finding(const struct exec *x, enum pumice_finding kind,
						u32 pc)
{
	return (struct strict_finding){
		.kind = (u8)kind,
		.unit = PUMICE_UNIT_USC_DATA,
		.access = PUMICE_ACCESS_READ,
		.ctx = x->ctx,
		.slot = x->wave->slot,
		.wave = x->wave->in_group,
		.usc = (u16)x->usc->config.number,
		.pc = pc,
		.code = x->code_addr,
	};
}

#endif
