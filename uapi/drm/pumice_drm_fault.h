/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * Pumice DRM interface: faults of jobs. A part of pumice_drm.h, which includes it;
 * the same rules apply.
 */
/* Outside of the guard: it includes this header after the definition of its arrays. */
#include "pumice_drm.h"

#ifndef _PUMICE_DRM_FAULT_H_
#define _PUMICE_DRM_FAULT_H_

/* Limits that user space may rely on; larger counts return -E2BIG. */
#define DRM_PUMICE_VM_FAULTS		16		/* kept of a VM */
#define DRM_PUMICE_STUCK_PLACES		16		/* shown of a job that timed out */

/**
 * enum drm_pumice_fault_type - kind of the address of a fault
 */
enum drm_pumice_fault_type {
	/** @DRM_PUMICE_FAULT_READ: of data that could not be read, or misaligned */
	DRM_PUMICE_FAULT_READ = 0,
	/** @DRM_PUMICE_FAULT_WRITE: of data that could not be written, or misaligned */
	DRM_PUMICE_FAULT_WRITE = 1,
	/** @DRM_PUMICE_FAULT_EXECUTE: of an instruction that could not be fetched */
	DRM_PUMICE_FAULT_EXECUTE = 2,
	/** @DRM_PUMICE_FAULT_INSTRUCTION: of an instruction that failed, or never ended */
	DRM_PUMICE_FAULT_INSTRUCTION = 3,
	/** @DRM_PUMICE_FAULT_COMMAND: of a command, state or structure that is malformed; or 0 */
	DRM_PUMICE_FAULT_COMMAND = 4,
	/** @DRM_PUMICE_FAULT_LOCAL: not an address: an offset in local memory, in bytes */
	DRM_PUMICE_FAULT_LOCAL = 5,
	/** @DRM_PUMICE_FAULT_REGISTER: not an address: usc_late of the hardware reference */
	DRM_PUMICE_FAULT_REGISTER = 6,
};

/**
 * struct drm_pumice_vm_fault - failure of a job in a VM
 */
struct drm_pumice_vm_fault {
	/** @number: the faults of a VM are numbered from 1 */
	__u64 number;
	/** @va: GPU virtual address, see @type */
	__u64 va;
	/** @precision: bytes of the aligned block that @va is in, a power of two */
	__u64 precision;
	/** @job: number of the job in its context */
	__u64 job;
	/** @time: GPU clock when the job had ended */
	__u64 time;
	/** @context: context id of the job */
	__u32 context;
	/** @type: enum drm_pumice_fault_type */
	__u32 type;
	/** @fault: enum fault of the hardware reference; killed: the job timed out */
	__u32 fault;
	/** @unit: enum unit that raised it */
	__u32 unit;
	/** @pc: instruction index in the shader, where there is one */
	__u32 pc;
	/** @usc: USC, over all cores, where there is an instruction */
	__u32 usc;
};

/**
 * struct drm_pumice_vm_get_faults - DRM_IOCTL_PUMICE_VM_GET_FAULTS
 *
 * The faults and time-outs of jobs of a VM, oldest first; the last
 * DRM_PUMICE_VM_FAULTS are kept. Reading does not remove them. A fault is recorded
 * before the fence of its job signals. Jobs that were canceled or lost in a GPU
 * reset are not included.
 */
struct drm_pumice_vm_get_faults {
	/** @vm: in: VM id */
	__u32 vm;
	/** @flags: in: zero */
	__u32 flags;
	/** @after: in: only faults with higher numbers; 0: all */
	__u64 after;
	/**
	 * @faults: in: array of struct drm_pumice_vm_fault to be written, at most
	 * DRM_PUMICE_VM_FAULTS. Bytes of an element after the kernel's structure are
	 * zeroed.
	 */
	struct drm_pumice_array faults;
	/** @total: out: number of the last fault, the count of all faults */
	__u64 total;
	/** @lost: out: faults after @after that are no longer kept */
	__u64 lost;
	/** @returned: out: elements written */
	__u32 returned;
	/** @pad: in: zero */
	__u32 pad;
};

/**
 * struct drm_pumice_stuck_place - an instruction with waves of a job that timed out
 */
struct drm_pumice_stuck_place {
	/** @code: GPU virtual address of the program */
	__u64 code;
	/** @pc: instruction index in it: the next one, or the barrier they wait at */
	__u32 pc;
	/** @waves: waves at this instruction */
	__u32 waves;
	/** @state: enum wave_state of the hardware reference, of the first of them */
	__u32 state;
	/** @lanes: bit n: lane n of the first of them has an instance */
	__u32 lanes;
	/** @usc: USC of the first of them, over all cores */
	__u32 usc;
	/** @slot: its slot */
	__u32 slot;
	/** @wave: its number in its task */
	__u32 wave;
	/** @pad: zero */
	__u32 pad;
};

#endif /* _PUMICE_DRM_FAULT_H_ */
