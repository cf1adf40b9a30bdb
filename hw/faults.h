/* SPDX-License-Identifier: MIT */
/*
 * Kind of the address of a fault: of data, of an instruction, or of a command. That of a
 * misaligned access is the address accessed by the lowest lane that faults; in local memory it
 * is an offset.
 * Kernel and library report it, for VK_EXT_device_fault and similar interfaces.
 */
#ifndef PUMICE_FAULTS_H
#define PUMICE_FAULTS_H

#include "pumice_isa_enums.h"
#include "pumice_regs.h"
#include "pumice_types.h"

/* The numbers are those of enum drm_pumice_fault_type. */
enum pumice_fault_addr {
	PUMICE_FAULT_ADDR_READ		= 0,	/* data that could not be read, or misaligned */
	PUMICE_FAULT_ADDR_WRITE		= 1,	/* data that could not be written, or misaligned */
	PUMICE_FAULT_ADDR_EXECUTE	= 2,	/* an instruction that could not be fetched */
	PUMICE_FAULT_ADDR_INSTRUCTION	= 3,	/* an instruction that failed, or never ended */
	PUMICE_FAULT_ADDR_COMMAND	= 4,	/* a command, state or structure; or 0 */
	PUMICE_FAULT_ADDR_LOCAL		= 5,	/* not an address: an offset in local memory */
	PUMICE_FAULT_ADDR_REGISTER	= 6,	/* not an address: usc_late of hw/formats.xml; or a
						 * byte of memory: PUMICE_LATE_MEMORY */
};

static inline bool pumice_fault_is_mmu(u32 fault)
{
	return fault >= PUMICE_FAULT_MMU_CONTEXT_OFF && fault <= PUMICE_FAULT_MMU_BUS;
}

/* Check if the address of a fault is of the data, or instruction, of a memory access. */
static inline bool pumice_fault_is_access(u32 fault)
{
	return pumice_fault_is_mmu(fault) || fault == PUMICE_FAULT_USC_GLOBAL_ALIGN ||
	       fault == PUMICE_FAULT_USC_BURST_ALIGN;
}

/* Check if the address of a fault is an offset in local memory. */
static inline bool pumice_fault_is_local(u32 fault)
{
	return fault == PUMICE_FAULT_USC_LOCAL_BOUNDS || fault == PUMICE_FAULT_USC_LOCAL_ALIGN;
}

/*
 * Check if the address of a fault is a usc_late: a register, or an offset in local memory; or, of
 * global memory, as follows.
 */
static inline bool pumice_fault_is_late(u32 fault)
{
	return fault == PUMICE_FAULT_USC_LATE;
}

/*
 * Address of a fault USC_LATE of a byte of memory that is loaded before the wait for the signal of
 * the store that writes it: this bit, which no usc_late has; the signal after the bits of a GPU
 * virtual address; that of the byte.
 */
#define PUMICE_LATE_MEMORY (1ull << 63)

static inline u64 pumice_late_memory(u64 va, u32 signal)
{
	return PUMICE_LATE_MEMORY | (u64)signal << PUMICE_MMU_VA_BITS | va;
}

static inline bool pumice_late_is_memory(u64 addr)
{
	return addr & PUMICE_LATE_MEMORY;
}

static inline u64 pumice_late_memory_va(u64 addr)
{
	return addr & ((1ull << PUMICE_MMU_VA_BITS) - 1);
}

static inline u32 pumice_late_memory_signal(u64 addr)
{
	return (u32)(addr >> PUMICE_MMU_VA_BITS) % PUMICE_USC_SIGNALS;
}

/* Classify the address of a fault; arguments as in struct fwif_job_result. */
static inline enum pumice_fault_addr pumice_fault_addr_type(u32 fault, u32 unit, u32 access)
{
	if (pumice_fault_is_access(fault))
		return access == PUMICE_ACCESS_WRITE ? PUMICE_FAULT_ADDR_WRITE :
		       access == PUMICE_ACCESS_EXEC ? PUMICE_FAULT_ADDR_EXECUTE :
						      PUMICE_FAULT_ADDR_READ;
	if (pumice_fault_is_local(fault))
		return PUMICE_FAULT_ADDR_LOCAL;
	if (pumice_fault_is_late(fault))
		return PUMICE_FAULT_ADDR_REGISTER;
	switch (unit) {
	case PUMICE_UNIT_PDS:
	case PUMICE_UNIT_USC_CODE:
	case PUMICE_UNIT_USC_DATA:
		return PUMICE_FAULT_ADDR_INSTRUCTION;
	default:
		return PUMICE_FAULT_ADDR_COMMAND;
	}
}

/* Return the precision of the address: the bytes of the aligned block that it is in. */
static inline u32 pumice_fault_addr_precision(enum pumice_fault_addr type)
{
	switch (type) {
	case PUMICE_FAULT_ADDR_INSTRUCTION:
		return PUMICE_USC_WORDS * 4;
	case PUMICE_FAULT_ADDR_COMMAND:
		return 4;
	default:
		return 1;
	}
}

#endif
