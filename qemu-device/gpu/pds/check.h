/* SPDX-License-Identifier: MIT */
/* Valid operands of PDS instructions, by stage. */
#ifndef PUMICE_GPU_PDS_CHECK_H
#define PUMICE_GPU_PDS_CHECK_H

#include "program.h"

/*
 * Check a legal encoding against the limits of the program. Returns the reason to refuse it,
 * or PUMICE_FAULT_NONE.
 */
enum pumice_fault pds_check_operands(const struct pumice_pds_insn *insn,
				     const struct pds_program_limits *limits);

#endif
