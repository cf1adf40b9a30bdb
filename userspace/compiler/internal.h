/* SPDX-License-Identifier: MIT */
/*
 * What the rooms of the assembler share: tokens (token.c), errors (diag.c),
 * names (symbols.c), operands (operand.c), instructions (insn.c, with rules.c
 * for what the tables do not say), directives and the PDS program (directive.c,
 * pds.c), the file (assemble.c).
 *
 * A line is parsed at once and never looked at again, except for branch
 * targets, which are filled in at the end.
 */
#ifndef PUMICE_ASM_INTERNAL_H
#define PUMICE_ASM_INTERNAL_H

#include <stdbool.h>

#include "asm.h"
#include "pumice_formats.h"
#include "pumice_isa.h"
#include "pumice_regs.h"

#define ASM_MAX_ERRORS 20
#define ASM_WORDS 4	/* 32-bit words of an instruction, USC and PDS alike */

enum token_kind {
	TOKEN_END,	/* of the line */
	TOKEN_NAME,	/* letters, digits, '_' and inner '.' */
	TOKEN_INT,
	TOKEN_FLOAT,
	TOKEN_PUNCT,	/* one character */
	TOKEN_BAD,
};

/* A piece of a line; text points into the source. */
struct token {
	enum token_kind kind;
	const char *text;
	size_t length;
	uint64_t value;		/* INT: its value; FLOAT: its bits as binary32; PUNCT: the character */
	bool decimal;		/* INT: written in decimal */
};

enum symbol_kind { SYMBOL_LABEL, SYMBOL_EQU, SYMBOL_ALIAS };

/* A user's name. */
struct symbol {
	const char *name;
	size_t length;
	enum symbol_kind kind;
	uint64_t value;		/* label: instruction index; EQU: number */
	bool is_float, decimal;	/* EQU: as in struct token */
	struct pumice_usc_operand reg;	/* ALIAS */
	uint32_t dim;		/* ALIAS with an index: enum pumice_usc_dim */
};

/* A branch whose target was not known when its line was read. */
struct fixup {
	size_t insn;
	struct token name;
	const char *line;	/* where errors point */
	unsigned int line_number;
};

/* A growing array of words, in whole instructions. */
struct code {
	uint32_t *words;
	size_t insns, room;
};

struct assembler {
	const char *file;
	pumice_asm_report report;
	void *report_data;
	unsigned int errors;
	bool no_memory;

	/* The line in hand. */
	const char *line;
	unsigned int line_number;
	const char *at;		/* next character */
	struct token token;	/* the one in hand */
	/* The register that operand_register() read last, if it has an index. */
	uint32_t dim;		/* enum pumice_usc_dim, else 0 */
	struct token index_at;	/* where the index stands */

	struct symbol *symbols;
	size_t symbol_count, symbol_room;
	struct fixup *fixups;
	size_t fixup_count, fixup_room;

	struct code usc, pds;
	struct pumice_program_reloc relocs[2 * PUMICE_PDS_MAX_INSNS];
	size_t reloc_count;

	/* Resources: what the text names, and what directives ask for (-1: nothing). */
	uint32_t used_temps, used_attrs, used_shared, used_coeffs, used_vo, used_outputs;
	int64_t temps, attrs, shared, coeffs, vo, outputs;
	uint32_t stages;	/* bit n: the program can be of enum pumice_program_stage n */
	struct pumice_program_header header;
	/* The first work-group copy, which small work-groups cannot have; line NULL: none. */
	struct token copy;
	const char *copy_line;
	unsigned int copy_line_number;
	bool in_pds;		/* between .pds and .endpds */
	bool pds_by_hand, pds_by_directive;
	/* PDS instructions that are tasks without a number of instructions */
	bool open_task[PUMICE_PDS_MAX_INSNS];
};

/* diag.c: report an error at a token (NULL: at the token in hand); false, for the caller to return. */
bool asm_error(struct assembler *as, const struct token *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool asm_no_memory(struct assembler *as);

/* token.c */
void token_line(struct assembler *as, const char *line, unsigned int number);
void token_next(struct assembler *as);
/* The token is this character; it is then passed over. */
bool token_accept(struct assembler *as, char c);
bool token_expect(struct assembler *as, char c);
bool token_is(const struct token *token, const char *name);
/* A number, an .equ constant, or either with a minus before it. */
bool token_number(struct assembler *as, struct token *number);
/* The same, an integer of 0 to max only; what names it in errors. */
bool token_count(struct assembler *as, const char *what, uint64_t max, uint64_t *value);

/* symbols.c */
struct symbol *symbol_find(struct assembler *as, const struct token *name);
/* NULL after an error: the name is taken or not allowed. */
struct symbol *symbol_add(struct assembler *as, const struct token *name, enum symbol_kind kind);

/* operand.c */
bool operand_register(struct assembler *as, struct pumice_usc_operand *operand);
bool operand_mask(struct assembler *as, uint32_t *mask);
bool operand_parse(struct assembler *as, struct pumice_usc_operand *operand,
		   struct token *immediate);
/* A plain sh, cf or v register as directives take it; false after an error. */
bool operand_plain(struct assembler *as, struct pumice_usc_operand *operand);
/* Count a register among those that the program names. */
void operand_use(struct assembler *as, const struct pumice_usc_operand *operand, uint32_t count);

/*
 * An instruction that these stages alone have; false after an error: it does not go
 * with .stage or with others.
 */
bool operand_stages(struct assembler *as, const struct token *at, uint32_t stages);

/* code.c */
uint32_t *code_add(struct assembler *as, struct code *code);
bool code_word_directive(struct assembler *as, struct code *code);
bool code_fixup(struct assembler *as, size_t insn, const struct token *name);
bool code_resolve(struct assembler *as);

/* insn.c, pds.c, directive.c: one line, its first token in hand */
bool insn_line(struct assembler *as);
bool pds_line(struct assembler *as);
bool directive_line(struct assembler *as);

/* pds.c: what the PDS knows, by name; passed over */
bool pds_source(struct assembler *as, uint32_t *source);
/* pds.c: for directives, add a PDS instruction */
bool pds_dma_uniforms(struct assembler *as, const struct pumice_usc_operand *reg, uint32_t words);
bool pds_write(struct assembler *as, enum pumice_pds_op op,
	       const struct pumice_usc_operand *reg, uint32_t value);
bool pds_finish(struct assembler *as);

#endif
