/* SPDX-License-Identifier: MIT */
/*
 * libpumice: from an instruction to its source, and the text of a failure. A part of
 * pumice/pumice.h, which includes it.
 */
#ifndef PUMICE_PUMICE_DEBUG_H
#define PUMICE_PUMICE_DEBUG_H

#include "pumice.h"

#ifdef __cplusplus
extern "C" {
#endif

/** enum pumice_source_use - how a line of source came into a program. */
enum pumice_source_use {
	/** @PUMICE_SOURCE_FILE: it is of the file that was assembled */
	PUMICE_SOURCE_FILE = 0,
	/** @PUMICE_SOURCE_INCLUDE: the next line of the chain is the .include */
	PUMICE_SOURCE_INCLUDE = 1,
	/** @PUMICE_SOURCE_MACRO: the next line of the chain uses the macro */
	PUMICE_SOURCE_MACRO = 2,
	/** @PUMICE_SOURCE_REPEAT: the next line of the chain is the .repeat */
	PUMICE_SOURCE_REPEAT = 3,
};

/* Lines of a chain that the assembler makes at most. */
#define PUMICE_SOURCE_DEPTH 33

/** struct pumice_source_line - a line of source. */
struct pumice_source_line {
	/** @file: name of the file, as the assembler was given it; owned by the program */
	const char *file;
	/** @line: from 1 */
	uint32_t line;
	/** @use: enum pumice_source_use */
	uint32_t use;
	/** @repetition: of PUMICE_SOURCE_REPEAT: which one, from 0 */
	uint32_t repetition;
};

/**
 * pumice_program_get_lines - where an instruction comes from.
 * @insn: index of a USC instruction
 * @lines: out: its line, then the line that brought this into the program, and so on
 * @count: in: elements of @lines; out: those written
 *
 * Return: 0; -EINVAL for an instruction that does not exist; -ENODATA where the program
 * has no source lines, or none of this instruction.
 */
int pumice_program_get_lines(const struct pumice_program *program, uint32_t insn,
			     struct pumice_source_line *lines, uint32_t *count);

/**
 * pumice_context_describe_job - how a job failed, as text of several lines.
 * @job: as in pumice_context_get_job_result()
 * @text: out; always terminated, and cut off where it does not fit
 * @bytes: of @text
 *
 * Of a fault: what was refused, at which address and how far that is from which buffer;
 * line and file of the instruction, and the instructions around it; lane, instance, wave and
 * work-group. Of a job that timed out or was killed: the unit that was busy with it and the
 * lines at which its waves were. Instructions and lines are those of programs placed by
 * pumice_kernel_create() in the same address space, buffers those that this process has
 * bound there; pumice_bo_set_label() names them.
 *
 * Return: 0, with an empty text for a job that ended well; else as
 * pumice_context_get_job_result().
 */
int pumice_context_describe_job(struct pumice_context *context, uint64_t job, char *text,
				size_t bytes);

/**
 * pumice_bo_set_extent - which part of a buffer object is used, for these texts.
 * @offset: where it begins
 * @bytes: of it
 *
 * By default it is what pumice_bo_create() was asked for. Memory comes in pages, so an access
 * past the end of the used part may still be within the buffer object, and is then no fault.
 *
 * Return: 0; -EINVAL for a part that goes beyond the buffer object.
 */
int pumice_bo_set_extent(struct pumice_bo *bo, uint64_t offset, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
