/* SPDX-License-Identifier: MIT */
/* Programs and kernels, for the builder of streams. */
#ifndef PUMICE_PROGRAM_H
#define PUMICE_PROGRAM_H

#include "internal.h"
#include "pumice_formats.h"

/* A program file, checked. */
struct pumice_program {
	struct pumice_program_header header;
	struct pumice_program_reloc *relocs;	/* header.relocs */
	u32 *usc;				/* header.usc_insns instructions */
	u32 *pds;				/* header.pds_insns instructions */
	u32 *words;				/* memory of both */
};

struct pumice_kernel {
	struct pumice_vm *vm;
	struct pumice_program *program;	/* own copy */
	struct pumice_bo *bo;		/* USC instructions */
	u64 code_va;
};

/*
 * program_link - the PDS program with its relocations applied.
 * @to: header.pds_insns instructions
 * @uniforms: GPU virtual address of the uniform block
 */
void program_link(const struct pumice_program *program, u64 code, u64 uniforms, u32 *to);

#endif
