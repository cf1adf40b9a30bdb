// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Required effects of every fault. See fault.h. */
#include "fault.h"

#include <errno.h>

#include "check.h"
#include "pumice_names.h"

bool fault_is_unmapped(u32 fault)
{
	return fault == PUMICE_FAULT_MMU_PC_INVALID || fault == PUMICE_FAULT_MMU_PD_INVALID ||
	       fault == PUMICE_FAULT_MMU_PT_INVALID;
}

static bool is_expected(u32 got, u32 want)
{
	return want == PUMICE_FAULT_MMU_PT_INVALID ? fault_is_unmapped(got) : got == want;
}

struct drm_pumice_context_get_state expect_fault(struct fixture *fx, u64 stream, u32 fault,
						  u32 unit)
{
	struct drm_pumice_context_get_state before = need_state(fx->fd, fx->context), after;
	struct fixture other = fx_on(fx->fd);
	int status = fx_run(fx, stream);

	after = need_state(fx->fd, fx->context);
	if (!is_expected(after.fault, fault) || after.unit != unit)
		test_fail(__FILE__, __LINE__, "fault %s of %s, should be %s of %s",
			  pumice_fault_str(after.fault), pumice_unit_str(after.unit),
			  pumice_fault_str(fault), pumice_unit_str(unit));
	CHECK_EQUAL(status, -EIO);
	CHECK_EQUAL(after.state, DRM_PUMICE_CONTEXT_FAULTED);
	CHECK_EQUAL(after.jobs_done, before.jobs_done + 1);
	CHECK_EQUAL(after.jobs_faulted, before.jobs_faulted + 1);
	fx_check_works(fx);
	fx_check_works(&other);
	CHECK_EQUAL(need_state(fx->fd, fx->context).jobs_faulted, after.jobs_faulted);
	return after;
}
