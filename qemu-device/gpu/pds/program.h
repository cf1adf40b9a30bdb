/* SPDX-License-Identifier: MIT */
/*
 * PDS programs: fetched, checked and decoded once for a launch.
 *
 * Source: document 000, "PDS Compute Workload Programs"; hw/isa.xml, isa "pds". A program has
 * no branches, so everything except memory can be checked before the first group: a program
 * that passes pds_program_load() can only fault by an MMU fault of a burst.
 *
 * Limits: instructions after the first end are ignored.
 */
#ifndef PUMICE_GPU_PDS_PROGRAM_H
#define PUMICE_GPU_PDS_PROGRAM_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "pumice_formats.h"
#include "pumice_isa.h"

struct pds_program {
	u32 insns;	/* executed ones, end included */
	u32 task;	/* the one that starts the USC program */
	struct pumice_pds_insn insn[PUMICE_PDS_MAX_INSNS];
};

/* Limits that the operands of a program are checked against. */
struct pds_program_limits {
	u32 shared, coeffs, attrs;	/* registers of the allocation; coeffs of one primitive */
	u32 coeffs_alt;		/* in the alternate set, the same */
	u32 instances;		/* of a work-group, or the maximum of a task */
	u32 stage;		/* enum usc_stage */
	u32 varyings;		/* FRAGMENT: planes of a primitive, except those below */
	const struct pumice_vdm_attribute *attribute;	/* VERTEX: entries of the checked table */
	u32 attributes;
};

/* Varying numbers of the planes that every primitive has. */
#define PDS_VARYING_RW		PUMICE_MAX_VARYINGS		/* 1/w */
#define PDS_VARYING_DEPTH	(PUMICE_MAX_VARYINGS + 1u)

/* Return whether a bank is one of the two sets of coefficients. */
static inline bool pds_bank_is_coeffs(u32 bank)
{
	return bank == PUMICE_PDS_BANK_CF || bank == PUMICE_PDS_BANK_CFA;
}

/* Return whether a valid source differs between instances, and so is valid for bank V only. */
bool pds_source_per_instance(u32 source);

/*
 * Check and decode one instruction from its words. An attribute of the table becomes an attr with
 * its values. Returns PUMICE_FAULT_NONE with *out filled, or the reason to refuse it.
 */
enum pumice_fault pds_decode(const u32 *dw, const struct pds_program_limits *limits,
			     struct pumice_pds_insn *out);

/*
 * Fetch the program of insns instructions at addr and check all of it. Returns false with all
 * of *fault filled in.
 */
bool pds_program_load(struct pds_program *program, struct mmu *mmu, struct mmu_tlb *tlb,
		      unsigned int ctx, u64 addr, u32 insns,
		      const struct pds_program_limits *limits, struct gpu_fault *fault);

/* Varyings whose planes a fragment program reads: bit n is varying n. */
u64 pds_program_varyings(const struct pds_program *program);
/* Return whether a fragment program reads the depth plane of its primitives. */
bool pds_program_reads_depth(const struct pds_program *program);

#define PDS_ATTR_COMPS	4u	/* registers that operation attr writes */

/*
 * Return the maximum number of words that one run of the program for a task with this number of
 * instances writes.
 */
u64 pds_program_words(const struct pds_program *program, u32 instances);
/*
 * Return the same for one instruction, and its memory reads; lanes whose words leave no gap share
 * one.
 */
u32 pds_insn_words(const struct pumice_pds_insn *insn, u32 instances);
u32 pds_insn_reads(const struct pumice_pds_insn *insn, u32 instances);
/* Return the maximum number of memory reads of one run of the program. */
u64 pds_program_reads(const struct pds_program *program, u32 instances);

#endif
