/* SPDX-License-Identifier: MIT */
/*
 * A fault: the reason to stop a job, and its position. The reasons are those of
 * hw/registers.xml, enum fault; the device, the firmware, the driver and the library use the
 * same names.
 */
#ifndef PUMICE_GPU_FAULT_H
#define PUMICE_GPU_FAULT_H

#include "pumice_regs.h"
#include "pumice_types.h"

struct gpu_fault {
	u8 fault;	/* enum pumice_fault */
	u8 unit;	/* enum pumice_unit */
	u8 access;	/* enum pumice_access, of MMU faults */
	u8 ctx;		/* MMU context of the request */
	u16 usc;	/* USC number over all cores, USC number over all cores, for USC faults */
	u32 pc;		/* instruction index in the USC or PDS program */
	u64 addr;	/* GPU virtual address, see CDM_FAULT_ADDR */
	u64 code;	/* GPU virtual address of the USC program; 0 if the fault is not in one */
};

#endif
