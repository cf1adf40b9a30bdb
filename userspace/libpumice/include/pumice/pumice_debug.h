/* SPDX-License-Identifier: MIT */
/*
 * libpumice: source lines of instructions, and descriptions of failed jobs. A part of
 * pumice/pumice.h, which includes it.
 */
#ifndef PUMICE_PUMICE_DEBUG_H
#define PUMICE_PUMICE_DEBUG_H

#include "pumice.h"

#ifdef __cplusplus
extern "C" {
#endif

/** enum pumice_source_use - origin of a source line of a program. */
enum pumice_source_use {
	/** @PUMICE_SOURCE_FILE: it is in the assembled file */
	PUMICE_SOURCE_FILE = 0,
	/** @PUMICE_SOURCE_INCLUDE: the next line of the chain is the .include */
	PUMICE_SOURCE_INCLUDE = 1,
	/** @PUMICE_SOURCE_MACRO: the next line of the chain uses the macro */
	PUMICE_SOURCE_MACRO = 2,
	/** @PUMICE_SOURCE_REPEAT: the next line of the chain is the .repeat */
	PUMICE_SOURCE_REPEAT = 3,
};

/* Maximum number of lines of a chain made by the assembler. */
#define PUMICE_SOURCE_DEPTH 33

/** struct pumice_source_line - a line of source. */
struct pumice_source_line {
	/** @file: name of the file, as passed to the assembler; owned by the program */
	const char *file;
	/** @line: from 1 */
	uint32_t line;
	/** @use: origin, enum pumice_source_use */
	uint32_t use;
	/** @repetition: of PUMICE_SOURCE_REPEAT: its number, from 0 */
	uint32_t repetition;
};

/**
 * pumice_program_get_lines - get the source lines of an instruction.
 * @insn: index of a USC instruction
 * @lines: out: its line, then the line that included or expanded it, and so on
 * @count: in: elements of @lines; out: those written
 *
 * Return: 0; -EINVAL for an instruction that does not exist; -ENODATA where the program
 * has no source lines, or none for this instruction.
 */
int pumice_program_get_lines(const struct pumice_program *program, uint32_t insn,
			     struct pumice_source_line *lines, uint32_t *count);

/**
 * pumice_context_describe_job - describe how a job failed, as text of several lines.
 * @job: as in pumice_context_get_job_result()
 * @text: out; always terminated; if it does not fit, cut at the end of a line
 * @bytes: of @text
 *
 * For a fault: the rejected access, its address and the distance to the nearest
 * buffer; line and file of the instruction, and the adjacent instructions; lane,
 * instance, wave and work-group. For a job that timed out or was killed: the unit
 * that was busy with it and the lines its waves were at. Instructions and lines are
 * those of programs placed by pumice_kernel_create() in the same address space,
 * buffers those that this process has bound there; pumice_bo_set_label() names them.
 *
 * Return: 0, with an empty text for a job that succeeded; else as
 * pumice_context_get_job_result().
 */
int pumice_context_describe_job(struct pumice_context *context, uint64_t job, char *text,
				size_t bytes);

/**
 * pumice_bo_set_extent - set the used part of a buffer object, for these texts.
 * @offset: start of the part
 * @bytes: size of the part
 *
 * The default is the size requested of pumice_bo_create(). Memory is allocated in pages, so an
 * access past the end of the used part may still be within the buffer object and not fault.
 *
 * Return: 0; -EINVAL for a part that exceeds the buffer object.
 */
int pumice_bo_set_extent(struct pumice_bo *bo, uint64_t offset, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
