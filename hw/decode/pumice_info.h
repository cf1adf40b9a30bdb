/* SPDX-License-Identifier: MIT */
/*
 * Types of the generated tables that describe registers, structures and instructions.
 *
 * The tables themselves (pumice_reg_table.c, pumice_format_table.c, pumice_isa.c) are generated
 * by hw/gen.py from registers.xml, formats.xml and isa.xml; traces, tools and tests read them.
 * Bit positions count from bit 0 of the first 32-bit word.
 *
 * Limits: for user space and the device only; the kernel and the firmware use the headers with
 * macros and inline functions instead.
 */
#ifndef PUMICE_INFO_H
#define PUMICE_INFO_H

#include <stddef.h>

#include "pumice_types.h"

/* Interpretation of the bits of a field. */
enum pumice_field_type {
	PUMICE_FIELD_UINT,
	PUMICE_FIELD_INT,
	PUMICE_FIELD_BOOL,
	PUMICE_FIELD_ENUM,
	PUMICE_FIELD_ADDRESS,
	PUMICE_FIELD_CONST,
	PUMICE_FIELD_FLOAT,
	PUMICE_FIELD_NUMBER, /* a float or an integer */
	PUMICE_FIELD_RESERVED, /* must be zero */
};

/* One field of a register, structure or instruction layout. */
struct pumice_field_info {
	const char *name; /* NULL for reserved bits */
	u16 bit; /* lowest bit */
	u8 width; /* bits; reserved ranges are split into pieces of at most 64 */
	u8 type; /* enum pumice_field_type */
	u8 shift; /* value = raw bits << shift */
	u16 count; /* repetitions, in consecutive bits */
	u64 value; /* of a constant field */
	bool (*valid)(u32 value); /* of an enumeration, else NULL */
	const char *(*text)(u32 value); /* of an enumeration, else NULL */
};

enum pumice_reg_access {
	PUMICE_REG_RO,
	PUMICE_REG_RW,
	PUMICE_REG_WO,
	PUMICE_REG_W1C,
	PUMICE_REG_W1S,
};

/* Buses from which a register is accessible. */
enum pumice_reg_bus {
	PUMICE_REG_BUS_HOST = 1,
	PUMICE_REG_BUS_FW = 2,
	PUMICE_REG_BUS_BOTH = 3,
};

/* One register, or an array of them. */
struct pumice_reg_info {
	const char *unit;
	const char *name; /* UNIT_REG */
	u32 offset; /* bytes from the page start, of element 0 */
	u8 bits; /* 32 or 64 */
	u8 access; /* enum pumice_reg_access */
	u8 bus; /* enum pumice_reg_bus */
	bool per_os; /* one in every virtual GPU's page, else in page 0 only */
	u16 count; /* elements; 1 for a plain register */
	u16 stride; /* bytes from one element to the next */
	u64 reset;
	u64 writable; /* bits that a write can change */
	const struct pumice_field_info *fields; /* lowest bit first, reserved ones included */
	u16 nr_fields;
};

/* One client of memory, by enum pumice_mem_client; see hw/clients.xml. */
struct pumice_client_info {
	const char *name;
	const char *doc;
	u8 unit; /* enum pumice_unit; 0: no unit makes the requests */
	u8 access; /* enum pumice_access */
	u8 kind; /* of the unit's requests; 2: both */
	u8 path; /* enum pumice_mem_path */
	u8 slc; /* enum pumice_mem_slc */
};

/* One structure in memory. */
struct pumice_format_info {
	const char *name;
	u16 words;
	u16 nr_fields;
	const struct pumice_field_info *fields; /* lowest bit first, reserved ones included */
};

/* One command of a stream. */
struct pumice_stream_cmd {
	u32 type;
	const struct pumice_format_info *format;
};

/* One command stream: a sequence of structures distinguished by a field of word 0. */
struct pumice_stream_info {
	const char *name;
	u8 type_bit;
	u8 type_width;
	u16 nr_cmds;
	const struct pumice_stream_cmd *cmds;
};

#define PUMICE_ISA_FORMS 2 /* largest number of forms of an operation */
#define PUMICE_ISA_LANES 32

/* Allowed operands and their syntax. */
struct pumice_isa_class {
	const char *name;
	const char *doc;
	u32 full; /* banks allowed with the elem bit clear, bit n =
		   * bank n; 0 = no register operand */
	u32 elem; /* banks allowed with the elem bit set */
	u32 indexed; /* banks of full that need an index register */
	bool (*valid)(u32 value); /* of an enumeration, else NULL */
	const char *(*text)(u32 value);
	const char *prefix; /* written before the value */
	const char *join; /* separator from the previous operand; NULL = ", " */
	const char *next; /* separator from the next operand; NULL = that one's join */
	bool optional; /* omitted if zero */
	bool hex; /* written in hexadecimal */
	u8 special; /* enum pumice_isa_special_access: which special registers are allowed */
};

enum pumice_isa_special_access {
	PUMICE_ISA_SPECIAL_ANY,
	PUMICE_ISA_SPECIAL_RO, /* those that cannot be written */
	PUMICE_ISA_SPECIAL_RW, /* those that can */
};

#define PUMICE_ISA_NO_SPACE 0xffff

/* One operand of an operation, in the order of the assembly syntax. */
struct pumice_isa_operand {
	u8 field; /* PUMICE_<ISA>_FIELD_<NAME> */
	u8 cls; /* PUMICE_<ISA>_CLASS_<NAME> */
};

/* Syntax and operands of an operation in one form; nr_operands counts .operands. */
struct pumice_isa_form {
	bool exists;
	u8 nr_operands;
	u64 uses; /* bit n = field n may be other than zero */
	const struct pumice_isa_operand *operands;
	const char *syntax; /* such as "dst, mask, src0"; "" without operands */
};

/* One operation. */
struct pumice_isa_op_info {
	const char *name;
	u32 opcode;
	u8 layout; /* PUMICE_<ISA>_LAYOUT_<NAME> */
	u32 types; /* bit n = exists for type n; 0 = has no type */
	u32 forms; /* bit n = exists in form n; 0 = has no form, described by form[0] */
	struct pumice_isa_form form[PUMICE_ISA_FORMS];
	const char *doc;
	const char *semantics;
	const char *exceptions;
	const char *example;
};

/* A field of one layout: its number in the set's fields, and its bits. */
struct pumice_isa_place {
	u8 field;
	struct pumice_field_info info;
};

/* Positions of the fields in the instructions of a group of operations. */
struct pumice_isa_layout {
	const char *name;
	u8 nr_places;
	const struct pumice_isa_place *places;
	const u32 *reserved; /* per 32-bit word, the bits that must be zero */
};

/* A register with a fixed meaning. */
struct pumice_isa_special {
	const char *name;
	u8 bank; /* <isa>_bank */
	u16 number;
	u16 space; /* number that constants and registers share, or PUMICE_ISA_NO_SPACE */
	bool writable;
	bool constant; /* the value of every lane is constant: see lanes */
	const char *value; /* expression of the lane number l, or a name */
	const char *doc;
	u32 lanes[PUMICE_ISA_LANES];
};

#define PUMICE_ISA_NO_FIELD 0xff

/* One instruction set. */
struct pumice_isa_info {
	const char *name;
	u8 words; /* 32-bit words of an instruction */
	u8 opcode_bit;
	u8 opcode_width;
	u8 nr_fields;
	u8 field_type; /* numbers of these fields, or PUMICE_ISA_NO_FIELD */
	u8 field_form;
	u8 field_imm;
	u8 field_dim;
	u8 nr_layouts;
	u8 nr_classes;
	u16 nr_ops;
	u16 nr_specials;
	u32 banks; /* register banks that some class allows; 0 = no bank operands */
	u32 known_banks; /* all banks of the enumeration */
	const char *const *fields; /* names */
	const struct pumice_isa_layout *layouts;
	const struct pumice_isa_class *classes;
	const struct pumice_isa_op_info *ops; /* by rising opcode */
	const struct pumice_isa_special *specials;
	const char *(*type_text)(u32 value); /* NULL without types */
	const char *(*form_text)(u32 value); /* NULL without forms */
};

/* Errors of an instruction; the first that applies is reported, in this order. */
enum pumice_isa_unpack {
	PUMICE_ISA_UNPACK_OK = 0,
	PUMICE_ISA_UNPACK_OPCODE, /* no such operation */
	PUMICE_ISA_UNPACK_RESERVED, /* a reserved bit is set */
	PUMICE_ISA_UNPACK_TYPE, /* the operation does not exist for this type */
	PUMICE_ISA_UNPACK_FORM, /* the operation does not exist in this form */
	PUMICE_ISA_UNPACK_FIELD, /* a field that the operation does not use is not zero */
	PUMICE_ISA_UNPACK_BANK, /* an operand names a bank that no operand can have */
	PUMICE_ISA_UNPACK_OPERAND, /* an operand that is not allowed in this position */
};

/**
 * pumice_bits - read a bit field in an array of words
 * @dw: words, lowest first
 * @bit: lowest bit
 * @width: bits, 1 to 64
 */
u64 pumice_bits(const u32 *dw, u32 bit, u32 width);

/**
 * pumice_set_bits - write a bit field in an array of words
 * @dw: words, lowest first
 * @bit: lowest bit
 * @width: bits, 1 to 64
 * @value: new value; excess bits are discarded
 */
void pumice_set_bits(u32 *dw, u32 bit, u32 width, u64 value);

/**
 * pumice_isa_find_opcode - look up an operation by its opcode; NULL if there is none
 */
const struct pumice_isa_op_info *pumice_isa_find_opcode(const struct pumice_isa_info *isa,
							u32 opcode);

/**
 * pumice_isa_find_name - look up an operation by its exact lower-case name; NULL if there is none
 */
const struct pumice_isa_op_info *pumice_isa_find_name(const struct pumice_isa_info *isa,
						      const char *name);

/**
 * pumice_isa_find_special - look up a special register by bank and number; NULL if there is none
 */
const struct pumice_isa_special *pumice_isa_find_special(const struct pumice_isa_info *isa,
							 u32 bank, u32 number);

/**
 * pumice_isa_place - return the position of a field in a layout; NULL without this field
 */
const struct pumice_field_info *pumice_isa_place(const struct pumice_isa_info *isa, u32 layout,
						 u32 field);

/**
 * pumice_isa_get - read a field of a raw instruction; 0 if its layout does not have the field
 */
u64 pumice_isa_get(const struct pumice_isa_info *isa, u32 layout, u32 field, const u32 *dw);

/**
 * pumice_isa_set - set a field of a raw instruction
 *
 * Returns false if the layout does not have the field or the value does not fit.
 */
bool pumice_isa_set(const struct pumice_isa_info *isa, u32 layout, u32 field, u32 *dw, u64 value);

/**
 * pumice_isa_form_of - return the description of an operation in the form of a raw instruction
 *
 * Returns NULL if the operation does not exist in this form.
 */
const struct pumice_isa_form *pumice_isa_form_of(const struct pumice_isa_info *isa,
						 const struct pumice_isa_op_info *op,
						 const u32 *dw);

/**
 * pumice_isa_check - validate the encoding of a raw instruction
 * @isa: instruction set
 * @dw: isa->words words
 *
 * Checks all rules of the contract about the encoding: opcode, reserved bits, type, form,
 * unused fields, and for every operand its bank, mode and, in banks of a fixed size, number.
 * Not checked: register numbers against an allocation, branch targets, and the rules of an
 * operation for the values of its operands.
 */
enum pumice_isa_unpack pumice_isa_check(const struct pumice_isa_info *isa, const u32 *dw);

struct pumice_usc_insn;

/**
 * pumice_usc_registers - return the number of consecutive registers of a USC operand
 * @insn: a legal instruction
 * @operand: one of its form
 */
u32 pumice_usc_registers(const struct pumice_usc_insn *insn,
			 const struct pumice_isa_operand *operand);

/**
 * pumice_usc_atomic_exists - return whether an atomic operation exists for a type
 * @func: enum pumice_usc_atomic
 * @type: enum pumice_usc_type
 */
bool pumice_usc_atomic_exists(u32 func, u32 type);

/**
 * pumice_usc_is_group_copy - return whether an operation is a work-group copy
 * @op: enum pumice_usc_op
 */
bool pumice_usc_is_group_copy(u32 op);

/**
 * pumice_usc_texture_coords - return the registers of a dimension's coordinates; 0 if unknown
 * @dim: enum pumice_texture_dim
 */
u32 pumice_usc_texture_coords(u32 dim);

/**
 * pumice_usc_texture_extra - return the registers of a texture read's further operand; 0 if none
 * @op: enum pumice_usc_op, one of the texture reads
 * @dim: enum pumice_texture_dim
 */
u32 pumice_usc_texture_extra(u32 op, u32 dim);

/**
 * pumice_usc_texture_exists - return whether a texture read exists for a dimension
 */
bool pumice_usc_texture_exists(u32 op, u32 dim);

#endif /* PUMICE_INFO_H */
