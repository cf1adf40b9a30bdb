/* SPDX-License-Identifier: MIT */
/*
 * Decoder: register accesses, control streams, structures and instructions as text.
 *
 * Used by traces and tools. Works from the generated tables alone, so a new register, command
 * or instruction appears here as soon as it is in hw/registers.xml, formats.xml or isa.xml.
 *
 * Limits: a stream is decoded as it lies, without following branches to sub-lists. Text is for
 * people; what it looks like is no interface.
 */
#ifndef PUMICE_DECODE_H
#define PUMICE_DECODE_H

#include "pumice_format_table.h"
#include "pumice_info.h"
#include "pumice_isa.h"
#include "pumice_reg_table.h"

#define PUMICE_DECODE_LINE 512 /* bytes of the longest line, its end included */

/**
 * typedef pumice_decode_fn - receives one line of text
 * @data: the caller's
 * @addr: address of what the line is about: GPU virtual address, or register offset
 * @line: text without a line end; valid during the call
 */
typedef void (*pumice_decode_fn)(void *data, u64 addr, const char *line);

/**
 * pumice_decode_reg - one register access
 * @offset: bytes from the start of a virtual GPU's page
 * @bits: size of the access, 32 or 64
 * @write: a write, else a read
 * @value: what was written or read
 *
 * One line for the register and one for each field that the access covers. An access to an
 * unknown offset gives a line that says so.
 */
void pumice_decode_reg(u32 offset, u32 bits, bool write, u64 value, pumice_decode_fn fn,
		       void *data);

/**
 * pumice_decode_format - one structure
 * @format: its description; pumice_format_find() gives it by name
 * @va: address of @dw
 * @dw: format->words words
 */
void pumice_decode_format(const struct pumice_format_info *format, u64 va, const u32 *dw,
			  pumice_decode_fn fn, void *data);

/**
 * pumice_format_find - the structure with a name, or NULL
 */
const struct pumice_format_info *pumice_format_find(const char *name);

/**
 * pumice_decode_stream - a command stream
 * @stream: such as &pumice_stream_cdm
 * @va: address of @dw
 * @dw: words
 * @words: how many
 *
 * Stops at the first unknown or cut-off command, saying so. Returns the words decoded.
 */
size_t pumice_decode_stream(const struct pumice_stream_info *stream, u64 va, const u32 *dw,
			    size_t words, pumice_decode_fn fn, void *data);

/**
 * pumice_decode_program - instructions
 * @isa: &pumice_usc_isa or &pumice_pds_isa
 * @va: address of @dw
 * @dw: raw instructions
 * @insns: how many
 *
 * One line for each, illegal ones included with the reason. Returns the number of illegal ones.
 */
size_t pumice_decode_program(const struct pumice_isa_info *isa, u64 va, const u32 *dw,
			     size_t insns, pumice_decode_fn fn, void *data);

/**
 * pumice_isa_text - one instruction as assembly text
 * @dw: raw instruction
 * @out: PUMICE_DECODE_LINE bytes
 *
 * Branch targets appear as instruction numbers. Returns what pumice_isa_check() says; an illegal
 * instruction gives its words as .word with the reason behind them.
 */
enum pumice_isa_unpack pumice_isa_text(const struct pumice_isa_info *isa, const u32 *dw,
				       char *out);

/**
 * pumice_usc_operand_type - the type in which an operation reads a source operand
 * @op: operation of the USC
 * @field: enum pumice_usc_field of the operand
 * @type: the operation's type, enum pumice_usc_type
 *
 * Decides how an immediate is written; mostly the operation's own type.
 */
u32 pumice_usc_operand_type(const struct pumice_isa_op_info *op, u32 field, u32 type);

/**
 * pumice_isa_unpack_text - short text of a result of pumice_isa_check()
 */
const char *pumice_isa_unpack_text(enum pumice_isa_unpack result);

#endif /* PUMICE_DECODE_H */
