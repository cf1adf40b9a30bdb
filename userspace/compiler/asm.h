/* SPDX-License-Identifier: MIT */
/*
 * Assembler and disassembler of Pumice programs.
 *
 * Source: Documentation/assembly.rst for the language, hw/isa.xml for
 * operations and operands (through the generated tables; nothing of the
 * encoding stands here), hw/formats.xml program_header for the file.
 *
 * No global state; any number of programs may be assembled at once.
 */
#ifndef PUMICE_ASM_H
#define PUMICE_ASM_H

#include <stddef.h>
#include <stdint.h>

/**
 * typedef pumice_asm_report - receives one error
 * @data: the caller's
 * @text: "file:line:column: error: …", the line and a caret below it; ends
 *   with a newline; valid during the call
 */
typedef void (*pumice_asm_report)(void *data, const char *text);

/**
 * pumice_assemble - turn text into a program file.
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
 * pumice_disassemble - turn a program file into text.
 * @file: checked wholly; instructions that are no legal encoding become .word
 * @bytes: size of @file
 * @out: NUL-terminated text, to be freed by the caller
 * @error: takes the reason of -EINVAL
 * @error_bytes: size of @error
 *
 * The text of a file that pumice_assemble() wrote assembles to the same bytes. Of
 * other files it may not: the language cannot say everything that a file can,
 * such as relocations in another order or for what can never run.
 *
 * Return: 0, -EINVAL for a file that is damaged, -ENOMEM.
 */
int pumice_disassemble(const void *file, size_t bytes, char **out, char *error,
		       size_t error_bytes);

#endif
