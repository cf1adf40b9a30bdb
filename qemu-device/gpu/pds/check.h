/* SPDX-License-Identifier: MIT */
/* What operands of PDS instructions may be, by stage. */
#ifndef PUMICE_GPU_PDS_CHECK_H
#define PUMICE_GPU_PDS_CHECK_H

#include "program.h"

/* Why a legal encoding is refused in a program of these limits: a fault, or PUMICE_FAULT_NONE. */
enum pumice_fault pds_check_operands(const struct pumice_pds_insn *insn,
				     const struct pds_program_limits *limits);

#endif
