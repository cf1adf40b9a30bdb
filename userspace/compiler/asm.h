/* SPDX-License-Identifier: MIT */
/*
 * Assembler and disassembler of Pumice programs.
 *
 * Source: Documentation/assembly.rst for the language, hw/isa.xml for
 * operations and operands (through the generated tables; no encoding
 * is defined here), hw/formats.xml program_header for the file.
 *
 * No global state; any number of programs may be assembled at once.
 */
#ifndef PUMICE_ASM_H
#define PUMICE_ASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * typedef pumice_asm_report - receives one error
 * @data: private data of the caller
 * @text: "file:line:column: error: …", the line and a caret below it; ends
 *   with a newline; valid during the call
 */
typedef void (*pumice_asm_report)(void *data, const char *text);

/**
 * pumice_assemble - assemble text to a program file.
 * @name: file name for errors
 * @text: NUL-terminated source
 * @report: called for each error, 20 at most; may be NULL
 * @data: for @report
 * @out: the program file, to be freed by the caller; on success only
 * @out_bytes: its size
 *
 * Return: 0; -EINVAL after errors in the text; -ENOMEM.
 */
int pumice_assemble(const char *name, const char *text, pumice_asm_report report, void *data,
		    uint8_t **out, size_t *out_bytes);

/**
 * typedef pumice_asm_include - reads a file for .include
 * @data: private data of the caller
 * @from: path of the file that includes
 * @name: name given in the directive
 * @path: out: the path at which it was found, to be freed by the assembler. The same path
 *   is not read twice
 * @text: out: NUL-terminated, to be freed by the assembler
 *
 * Return: 0 or a negative errno, with no output written.
 */
typedef int (*pumice_asm_include)(void *data, const char *from, const char *name, char **path,
				  char **text);

/** struct pumice_asm_options - options that pumice_assemble() does not have. All may be zero. */
struct pumice_asm_options {
	/** @report: called for each error, 20 at most; may be NULL */
	pumice_asm_report report;
	/** @include: may be NULL: .include is rejected */
	pumice_asm_include include;
	/** @data: for both */
	void *data;
	/** @listing: out: address, words and source line of each instruction, to be freed by the
	 * caller; on success only; may be NULL */
	char **listing;
	/** @lines: write source lines to the program file */
	bool lines;
};

/** pumice_assemble_with - as pumice_assemble(), with options. */
int pumice_assemble_with(const char *name, const char *text,
			 const struct pumice_asm_options *options, uint8_t **out,
			 size_t *out_bytes);

/**
 * pumice_disassemble - disassemble a program file to text.
 * @file: fully validated; instructions with an illegal encoding become .word
 * @bytes: size of @file
 * @out: NUL-terminated text, to be freed by the caller
 * @error: receives the reason of -EINVAL
 * @error_bytes: size of @error
 *
 * The text of a file that pumice_assemble() wrote assembles to the same bytes.
 * For other files it may not: the language cannot express everything that a file
 * can contain, such as relocations in another order or for unreachable code.
 *
 * Return: 0, -EINVAL for a damaged file, -ENOMEM.
 */
int pumice_disassemble(const void *file, size_t bytes, char **out, char *error,
		       size_t error_bytes);

/**
 * pumice_disassemble_numbered - the same, and a comment after each USC instruction with its
 * number, its address in bytes, and its source line where the file has lines.
 */
int pumice_disassemble_numbered(const void *file, size_t bytes, char **out, char *error,
				size_t error_bytes);

#endif
