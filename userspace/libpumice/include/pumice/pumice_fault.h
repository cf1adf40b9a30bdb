/* SPDX-License-Identifier: MIT */
/*
 * libpumice: results of jobs and reasons of failures. A part of pumice/pumice.h, which includes it.
 *
 * A job's result, the last faults of an address space, dumps for pumice-dump, and names.
 */
#ifndef PUMICE_PUMICE_FAULT_H
#define PUMICE_PUMICE_FAULT_H

#include "pumice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------- results of jobs */

/* Maximum number of places reported for a killed job. */
#define PUMICE_STUCK_PLACES 16

/** struct pumice_stuck_place - an instruction that waves of a killed job were at. */
struct pumice_stuck_place {
	/** @code: GPU virtual address of the program */
	uint64_t code;
	/** @pc: instruction index in it: the next one, or the barrier they are waiting at */
	uint32_t pc;
	/** @waves: number of waves there */
	uint32_t waves;
	/** @barrier: 1: the first of them waits at a barrier */
	uint32_t barrier;
	/** @lanes: bit n: lane n of the first of them has an instance */
	uint32_t lanes;
	/** @usc: USC of the first of them, over all cores */
	uint32_t usc;
	/** @slot: its slot */
	uint32_t slot;
	/** @wave: its number in its task */
	uint32_t wave;
	/** @pad: 0 */
	uint32_t pad;
};

/* Valid fields of a job's result that locate a fault. */
#define PUMICE_FAULT_PROGRAM	(1u << 0)	/* code and pc: an instruction of a shader */
#define PUMICE_FAULT_WAVE	(1u << 1)	/* lanes, slot and wave */
#define PUMICE_FAULT_LANE	(1u << 2)	/* lane and instance */
#define PUMICE_FAULT_GROUP	(1u << 3)	/* group */

/** struct pumice_job_result - result of one job; grows with the library. */
struct pumice_job_result {
	/** @job: its number in its context */
	uint64_t job;
	/** @error: 0 or a negative errno, as in the job's fence */
	int32_t error;
	/** @fault: see pumice_fault_name(); 0 for none */
	uint32_t fault;
	/** @unit: unit that raised it, see pumice_unit_name() */
	uint32_t unit;
	/** @access: of MMU faults and misaligned accesses, see pumice_access_name() */
	uint32_t access;
	/** @pc: instruction index in the program, where applicable */
	uint32_t pc;
	/** @usc: USC that faulted, over all cores */
	uint32_t usc;
	/** @fault_va: GPU virtual address of the fault */
	uint64_t fault_va;
	/** @start: GPU clock when it was first started; 0 if it never was */
	uint64_t start;
	/** @end: GPU clock when it had ended */
	uint64_t end;
	/** @run_ticks: GPU clock ticks for which it occupied the data master */
	uint64_t run_ticks;
	/** @groups: work-groups, primitives, tiles or commands that it finished */
	uint64_t groups;
	/** @slices: time slices that it used */
	uint32_t slices;
	/** @partial_renders: of a geometry job: partial renders of its scene; else 0 */
	uint32_t partial_renders;
	/** @waves: of a job that timed out or was killed: waves in flight at that time; else 0 */
	uint32_t waves;
	/** @waves_looked: sampled waves, 256 at most; those at further places only count here */
	uint32_t waves_looked;
	/** @place_count: entries of @places that are used */
	uint32_t place_count;
	/** @pad: 0 */
	uint32_t pad;
	/** @places: where the sampled waves are; @pc, @usc and @fault_va are of the first */
	struct pumice_stuck_place places[PUMICE_STUCK_PLACES];
	/** @code: GPU virtual address of the program that faulted */
	uint64_t code;
	/** @known: PUMICE_FAULT_*: which of these fields of a fault are valid; others are 0 */
	uint32_t known;
	/** @lane: lane that faulted, the lowest of several */
	uint32_t lane;
	/** @instance: its instance, as linear number in the work-group, or in the task */
	uint32_t instance;
	/** @lanes: bit n: lane n of the wave has an instance */
	uint32_t lanes;
	/** @slot: slot of the wave that faulted */
	uint32_t slot;
	/** @wave: its number in its task */
	uint32_t wave;
	/** @group: work-group id */
	uint32_t group[3];
	/** @pad2: 0 */
	uint32_t pad2;
};

/**
 * pumice_context_get_job_result - get the result of a job.
 * @job: its number; 0: the last that ended
 * @result: out
 * @bytes: sizeof(*result)
 *
 * Return: 0; -EBUSY for a job that has not ended; -ENODATA for one older than the
 * last 64 that ended, or if none has ended; -ENOENT for one that was not submitted.
 */
int pumice_context_get_job_result(struct pumice_context *context, uint64_t job,
				  struct pumice_job_result *result, size_t bytes);

/* ------------------------------------------------ faults of address spaces */

/* Maximum number of faults that an address space keeps. */
#define PUMICE_VM_FAULTS 16

/** enum pumice_fault_type - meaning of the address of a fault. */
enum pumice_fault_type {
	/** @PUMICE_FAULT_TYPE_READ: address of data that could not be read, or misaligned */
	PUMICE_FAULT_TYPE_READ = 0,
	/** @PUMICE_FAULT_TYPE_WRITE: address of data that could not be written, or misaligned */
	PUMICE_FAULT_TYPE_WRITE = 1,
	/** @PUMICE_FAULT_TYPE_EXECUTE: address of an instruction that could not be fetched */
	PUMICE_FAULT_TYPE_EXECUTE = 2,
	/** @PUMICE_FAULT_TYPE_INSTRUCTION: address of an instruction that failed, or never ended */
	PUMICE_FAULT_TYPE_INSTRUCTION = 3,
	/** @PUMICE_FAULT_TYPE_COMMAND: address of a malformed command, state or structure; or 0 */
	PUMICE_FAULT_TYPE_COMMAND = 4,
	/** @PUMICE_FAULT_TYPE_LOCAL: not an address: an offset in local memory, in bytes */
	PUMICE_FAULT_TYPE_LOCAL = 5,
};

/** struct pumice_vm_fault - failure of a job in an address space; grows with the library. */
struct pumice_vm_fault {
	/** @number: the faults of an address space are numbered from 1 */
	uint64_t number;
	/** @va: GPU virtual address, see @type */
	uint64_t va;
	/** @precision: a power of two: @va is exact to a block of this many bytes */
	uint64_t precision;
	/** @job: number of the job in its context */
	uint64_t job;
	/** @time: GPU clock when the job had ended */
	uint64_t time;
	/** @context: pumice_context_id() of the job's context */
	uint32_t context;
	/** @type: enum pumice_fault_type */
	uint32_t type;
	/** @fault: see pumice_fault_name() */
	uint32_t fault;
	/** @unit: unit that raised it, see pumice_unit_name() */
	uint32_t unit;
	/** @pc: instruction index in the program, where applicable */
	uint32_t pc;
	/** @usc: USC, over all cores, if there is an instruction */
	uint32_t usc;
};

/**
 * pumice_vm_get_faults - get the last faults and time-outs of jobs, oldest first.
 * @after: only those with higher numbers; 0: all kept faults
 * @faults: out
 * @count: in: elements of @faults; out: those
 *   written. PUMICE_VM_FAULTS always suffice
 * @bytes: sizeof(*faults)
 * @lost: out: faults after @after that were discarded; may be NULL
 *
 * A fault is recorded when its job has ended. Reading does not remove faults.
 *
 * Return: 0 or a negative errno.
 */
int pumice_vm_get_faults(struct pumice_vm *vm, uint64_t after, struct pumice_vm_fault *faults,
			 uint32_t *count, size_t bytes, uint64_t *lost);

/* ------------------------------------------------------------------- dumps */

/**
 * pumice_context_dump - write the state of the
 * GPU and of the context's job, for pumice-dump.
 * @path: path of the file
 *
 * The job is the running one, else the last of the context that failed. In
 * process only: the kernel driver leaves a dump in /sys/class/devcoredump when a job
 * fails.
 *
 * Return: 0; -EOPNOTSUPP through the kernel driver, or the error of the system call.
 */
int pumice_context_dump(struct pumice_context *context, const char *path);

/* ------------------------------------------------------------------- names */

/** pumice_fault_name - return the name of a fault, the same in all logs; "unknown" for none. */
const char *pumice_fault_name(uint32_t fault);

/** pumice_unit_name - return the name of a unit. */
const char *pumice_unit_name(uint32_t unit);

/** pumice_access_name - return the name of a kind of access. */
const char *pumice_access_name(uint32_t access);

#ifdef __cplusplus
}
#endif

#endif
