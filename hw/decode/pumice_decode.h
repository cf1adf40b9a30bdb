/* SPDX-License-Identifier: MIT */
/*
 * Decoder: register accesses, control streams, structures and instructions as text.
 *
 * Used by traces and tools. Uses only the generated tables, so a new register, command or
 * instruction is decoded as soon as it is in hw/registers.xml, formats.xml or isa.xml.
 *
 * Limits: a stream is decoded linearly, without following branches to sub-lists. The text is for
 * people; its form is not a stable interface.
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
 * @addr: address of the decoded item: GPU virtual address, or register offset
 * @line: text without a line end; valid during the call
 */
typedef void (*pumice_decode_fn)(void *data, u64 addr, const char *line);

/**
 * pumice_decode_reg - decode one register access
 * @offset: bytes from the start of a virtual GPU's page
 * @bits: size of the access, 32 or 64
 * @write: a write, else a read
 * @value: value that was written or read
 *
 * Emits one line for the register and one for each field that the access covers. An access to an
 * unknown offset is reported in one line.
 */
void pumice_decode_reg(u32 offset, u32 bits, bool write, u64 value, pumice_decode_fn fn,
		       void *data);

/**
 * pumice_decode_format - decode one structure
 * @format: its description, see pumice_format_find()
 * @va: address of @dw
 * @dw: format->words words
 */
void pumice_decode_format(const struct pumice_format_info *format, u64 va, const u32 *dw,
			  pumice_decode_fn fn, void *data);

/**
 * pumice_format_find - look up a structure by its name; NULL if there is none
 */
const struct pumice_format_info *pumice_format_find(const char *name);

/**
 * pumice_decode_stream - decode a command stream
 * @stream: such as &pumice_stream_cdm
 * @va: address of @dw
 * @dw: words
 * @words: number of words
 *
 * Stops at the first unknown or truncated command and reports it. Returns the words decoded.
 */
size_t pumice_decode_stream(const struct pumice_stream_info *stream, u64 va, const u32 *dw,
			    size_t words, pumice_decode_fn fn, void *data);

/**
 * pumice_decode_program - decode instructions
 * @isa: &pumice_usc_isa or &pumice_pds_isa
 * @va: address of @dw
 * @dw: raw instructions
 * @insns: number of instructions
 *
 * Emits one line for each, for illegal ones with the reason. Returns the number of illegal ones.
 */
size_t pumice_decode_program(const struct pumice_isa_info *isa, u64 va, const u32 *dw,
			     size_t insns, pumice_decode_fn fn, void *data);

/**
 * pumice_isa_text - disassemble one instruction
 * @dw: raw instruction
 * @out: PUMICE_DECODE_LINE bytes
 *
 * Branch targets are printed as instruction numbers. Returns the result of pumice_isa_check(); an
 * illegal instruction is printed as .word with its words, followed by the reason.
 */
enum pumice_isa_unpack pumice_isa_text(const struct pumice_isa_info *isa, const u32 *dw,
				       char *out);

/**
 * pumice_usc_operand_type - return the type in which an operation reads a source operand
 * @op: operation of the USC
 * @field: enum pumice_usc_field of the operand
 * @type: the operation's type, enum pumice_usc_type
 *
 * Selects the notation of an immediate; for most operations the operation's own type.
 */
u32 pumice_usc_operand_type(const struct pumice_isa_op_info *op, u32 field, u32 type);

/**
 * pumice_isa_unpack_text - describe a result of pumice_isa_check()
 */
const char *pumice_isa_unpack_text(enum pumice_isa_unpack result);

#endif /* PUMICE_DECODE_H */
