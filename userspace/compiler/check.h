/* SPDX-License-Identifier: MIT */
/* Mistakes in programs that are legal. */
#ifndef PUMICE_ASM_CHECK_H
#define PUMICE_ASM_CHECK_H

#include <stddef.h>

#include "asm.h"

/**
 * pumice_check - find mistakes in a program, by its control flow
 * @name: of the program, for instructions without a source line
 * @file: program file
 * @bytes: its size
 * @report: called for each mistake: "file:line: warning: …", ended by a newline
 * @data: for @report
 *
 * Reports registers that are read but not written on any path, loads that are read without a
 * wait, and instructions from which the program cannot end. Each is certain: a program without
 * such mistakes gives no report.
 *
 * Return: number of mistakes; -EINVAL for a damaged file; -ENOMEM.
 */
int pumice_check(const char *name, const void *file, size_t bytes, pumice_asm_report report,
		 void *data);

struct pumice_program;

/* The PDS program that loads the inputs of a stage. */
struct pumice_check_inputs {
	const uint32_t *pds;	/* 4 words an instruction */
	uint32_t insns;
};

/**
 * pumice_check_stage - find registers that a program of a graphics stage reads without a value
 * @program: the program
 * @inputs: of its stage
 * @report: called for each register of V, SH, CF or CFA that neither the inputs nor the program
 *   write
 * @data: for @report
 *
 * Return: number of such registers; -ENOMEM.
 */
int pumice_check_stage(const struct pumice_program *program,
		       const struct pumice_check_inputs *inputs, pumice_asm_report report,
		       void *data);

#endif
