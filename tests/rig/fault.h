/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Required effects of every fault, for tests that provoke one.
 */
#ifndef FX_FAULT_H
#define FX_FAULT_H

#include "pumice_regs.h"
#include "fixture.h"

/** fault_is_unmapped - whether a fault is that of an unmapped address, at any level. */
bool fault_is_unmapped(u32 fault);

/**
 * expect_fault - check a job that must fault
 * @fault: enum pumice_fault; PUMICE_FAULT_MMU_PT_INVALID matches all levels
 * @unit: enum pumice_unit
 *
 * Checks that its fence has -EIO, that the context reports this fault and
 * unit and is marked, that the next job of the same context and a job of
 * another context work.
 *
 * Return: the context's state after the fault.
 */
struct drm_pumice_context_get_state expect_fault(struct fixture *fx, u64 stream, u32 fault,
						  u32 unit);

#endif
