/* SPDX-License-Identifier: MIT */
/* Programs and kernels, for the builder of streams. */
#ifndef PUMICE_PROGRAM_H
#define PUMICE_PROGRAM_H

#include <errno.h>
#include <string.h>

#include "internal.h"
#include "pumice_formats.h"

/* Destination of the reason of a rejection. */
struct reason {
	char *text;
	size_t bytes;
};

#define REFUSE(reason, ...) \
	fail_text((reason)->text, (reason)->bytes, EINVAL, "program: " __VA_ARGS__)

/* Validated source lines of a program; zero if none. All but @names is in the program's words. */
struct program_lines {
	struct pumice_program_lines head;
	const u32 *insn;	/* of each USC and then each PDS
				 * instruction: its place plus 1, or 0 */
	const u32 *place;	/* program_place structures */
	const char **names;	/* head.files */
};

/* Maximum bytes of a program_lines structure and the data after it. */
#define LINES_MAX_BYTES ((PUMICE_PROGRAM_LINES_WORDS + PUMICE_USC_MAX_INSNS + \
			  PUMICE_PDS_MAX_INSNS + \
			  PUMICE_PROGRAM_PLACES * PUMICE_PROGRAM_PLACE_WORDS) * 4u + \
			 PUMICE_PROGRAM_NAME_BYTES)

/*
 * lines_parse - check the source lines of a program file.
 * @words: @count words, which must stay valid; the rest of the file
 * @insns: instructions of the program
 */
int lines_parse(struct program_lines *lines, const u32 *words, size_t count, u32 insns,
		const struct reason *reason);

/* lines_copy - set up the lines of a copy of a program's words. False: out of memory. */
bool lines_copy(struct pumice_program *to, const struct pumice_program *from);

/* A program file, checked. */
struct pumice_program {
	struct pumice_program_header header;
	struct pumice_program_reloc *relocs;	/* header.relocs */
	u32 *usc;				/* header.usc_insns instructions */
	u32 *pds;				/* header.pds_insns instructions */
	u32 *words;				/* memory of both, and of the lines */
	struct program_lines lines;
	bool inputs_checked;			/* atomic: see warn_of_inputs() */
};

struct pumice_kernel {
	struct pumice_vm *vm;
	struct pumice_kernel *next;	/* of the VM's */
	struct pumice_program *program;	/* private copy */
	struct pumice_bo *bo;		/* USC instructions */
	u64 code_va;
	/*
	 * Coordinate programs derived from it, without and with a point size, or NULL; VM's lock.
	 */
	struct pumice_kernel *positions[2];
};

/* positions.c: get the coordinate program of a vertex program. @size: it computes VO4, too */
int kernel_positions(struct pumice_kernel *vertex, bool size, struct pumice_kernel **kernel);

/*
 * program_link - apply the relocations of the PDS program.
 * @to: header.pds_insns instructions
 * @uniforms: GPU virtual address of the uniform block
 */
void program_link(const struct pumice_program *program, u64 code, u64 uniforms, u32 *to);

/*
 * program_warn_of_inputs - report registers that a program reads, but that no input of its stage
 * loads.
 * @pds: the PDS program that loads the inputs
 */
void program_warn_of_inputs(const struct pumice_program *program, struct warnings warnings,
			    const u32 *pds, u32 insns);

/*
 * program_assemble - pumice_program_assemble(), and report warnings of the program.
 * @warnings: none if its report is NULL
 */
int program_assemble(const char *name, const char *text, struct warnings warnings,
		     struct pumice_program **program, char *error, size_t error_bytes);

/* Check an address for a command. Return: 0, or -EINVAL with the error text set. */
int stream_check_va(struct pumice_stream *s, const char *what, u64 va, u64 align);
#define VERSION_CACHES	0x00020009u	/* of the register map, since which there are operations on
					 * caches, and FLUSH in all streams */
/*
 * Check PUMICE_FLUSH_* for a flush command. @former: the flags that devices before VERSION_CACHES
 * have, or 0 if their streams have no such command. Return: 0, or with the error text set -EINVAL,
 * or -EOPNOTSUPP for such a device.
 */
int stream_check_flush(struct pumice_stream *s, u32 flags, u32 former);
/*
 * Check that a stream may have a launch of rays: a flush before it is of VERSION_CACHES. Return: 0,
 * or -EOPNOTSUPP with the error text set.
 */
int stream_check_rays(struct pumice_stream *s);
/* Note that the stream has a launch of rays now. */
void stream_has_rays(struct pumice_stream *s);
/* Return the scope of valid PUMICE_FLUSH_*: enum pumice_mem_scope. */
u32 stream_flush_scope(u32 flags);
/* Set the fields of a flush command of any stream. */
#define STREAM_SET_FLUSH(flush, flags)						\
	do {									\
		memset(&(flush), 0, sizeof(flush));				\
		(flush).data = (flags) & PUMICE_FLUSH_DATA;			\
		(flush).code = (flags) & PUMICE_FLUSH_CODE;			\
		(flush).clean = (flags) & PUMICE_FLUSH_CLEAN;			\
		(flush).invalidate = (flags) & PUMICE_FLUSH_INVALIDATE;		\
		(flush).scope = (u8)stream_flush_scope(flags);			\
	} while (0)
struct pumice_vm *stream_vm(const struct pumice_stream *s);
/* Get the GPU virtual address of its first command. */
u64 stream_start(const struct pumice_stream *s);

/* Assemble an internal program and place it in the stream. @words: out: of the stage */
int stream_place_program(struct pumice_stream *s, const char *text,
			 const struct pumice_input *inputs, u32 count, u32 words[4]);

#endif
