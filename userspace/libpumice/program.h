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

/* An address that a command holds. Return: 0, or -EINVAL with the error text set. */
int stream_check_va(struct pumice_stream *s, const char *what, u64 va, u64 align);
struct pumice_vm *stream_vm(const struct pumice_stream *s);
/* GPU virtual address of its first command. */
u64 stream_start(const struct pumice_stream *s);

/* Assemble a program of the library's own and place it in the stream. @words: out: of the stage */
int stream_place_program(struct pumice_stream *s, const char *text,
			 const struct pumice_input *inputs, u32 count, u32 words[4]);

#endif
