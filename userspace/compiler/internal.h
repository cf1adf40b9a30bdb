/* SPDX-License-Identifier: MIT */
/*
 * What the files of the assembler share: lines of files, macros and repetitions
 * (source.c, macro.c), tokens (token.c), constant expressions (expr.c), errors (diag.c),
 * names (symbols.c), operands (operand.c), instructions (insn.c, with rules.c
 * for what the tables do not say), directives and the PDS program (directive.c,
 * pds.c), source lines and listing (lines.c), the file (assemble.c).
 *
 * A line is parsed at once and never looked at again, except for branch
 * targets, which are filled in at the end. Text lives until then: of files, and of
 * lines that macros made.
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

/* What a text may make of itself; beyond that it is refused. */
#define ASM_MAX_DEPTH	32u		/* files, macros and repetitions inside of each other */
#define ASM_MAX_LINES	1000000u	/* lines that are assembled in all */
#define ASM_MAX_REPEAT	65536u		/* of one .repeat */
#define ASM_MAX_LINE	4096u		/* characters of a line that a macro makes */
#define ASM_MAX_TEXT	(64u << 20)	/* bytes of such lines, and of all files */
#define ASM_MAX_PARAMS	16u		/* of one macro */
#define ASM_MAX_PARENS	64u		/* inside of each other */

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
	bool negative;		/* INT that an expression gave: it is value - 2^32 */
};

/* A line, and how it came into the program: its text ends with a line end or NUL. */
struct where {
	const char *text;
	struct pumice_program_place place;
};

enum symbol_kind { SYMBOL_LABEL, SYMBOL_EQU, SYMBOL_ALIAS };

/* A user's name. */
struct symbol {
	const char *name;
	size_t length;
	enum symbol_kind kind;
	uint64_t value;		/* label: instruction index; EQU: number */
	bool is_float, decimal, negative;	/* EQU: as in struct token */
	struct pumice_usc_operand reg;	/* ALIAS */
	uint32_t dim;		/* ALIAS with an index: enum pumice_usc_dim */
};

/* A branch whose target was not known when its line was read. */
struct fixup {
	size_t insn;
	struct token name;
	struct where where;	/* where errors point */
};

/* A growing array of words, in whole instructions. */
struct code {
	uint32_t *words;
	struct line_of *line;	/* of each */
	size_t insns, room;
};

/* Where an instruction comes from. */
struct line_of {
	uint32_t place;		/* plus 1; 0: none */
	const char *text;
};

/* A file that was read. */
struct source_file {
	char *path;
	char *text;		/* NULL: the caller's, which was not read here */
	bool open;		/* it is being assembled */
};

/* A line of a body. */
struct body_line {
	const char *text;
	uint32_t file, number;
};

/* Lines of a macro, or of a repetition. */
struct body {
	struct body_line *line;
	size_t count, room;
};

struct macro {
	struct token name;
	struct token param[ASM_MAX_PARAMS];
	struct token preset[ASM_MAX_PARAMS];	/* kind END: has to be given */
	unsigned int params;
	struct body body;
};

/* What stands for \name in the lines of a body. */
struct binding {
	const char *name, *value;
	size_t name_length, value_length;
};

/* Lines that are being read: of a file, or of a body. */
struct input {
	const char *text;		/* file: the next line; NULL: no more */
	const struct body *body;	/* or NULL */
	size_t next;			/* line of the body */
	uint32_t number;		/* file: of the next line */
	const struct binding *bindings;
	unsigned int binding_count;
	bool counted;			/* \@ stands for count */
	unsigned int count;
	struct pumice_program_place use;	/* of each line but its file and line */
};

struct assembler {
	struct pumice_asm_options options;
	unsigned int errors;
	bool no_memory;
	bool generated;		/* instructions that are added are of no line */
	bool stopped;		/* by an error after which nothing makes sense */

	/* The line in hand. */
	struct where where;
	struct input *input;	/* where the next comes from */
	const char *at;		/* next character */
	struct token token;	/* the one in hand */
	/* The register that operand_register() read last, if it has an index. */
	uint32_t dim;		/* enum pumice_usc_dim, else 0 */
	struct token index_at;	/* where the index stands */

	/* Text: files, macros, lines that were made. */
	struct source_file *files;
	size_t file_count;
	struct macro *macros;
	size_t macro_count;
	char **made;		/* lines, to be freed */
	size_t made_count, made_room;
	size_t text_bytes;	/* of all of these */
	unsigned int depth, lines, uses;
	struct pumice_program_place *places;
	size_t place_count, place_room;

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
	/* The first work-group copy, which small work-groups cannot have; text NULL: none. */
	struct token copy;
	struct where copy_where;
	bool in_pds;		/* between .pds and .endpds */
	bool pds_by_hand, pds_by_directive;
	/* PDS instructions that are tasks without a number of instructions */
	bool open_task[PUMICE_PDS_MAX_INSNS];
};

/* diag.c: report an error at a token (NULL: at the token in hand); false, for the caller to return. */
bool asm_error(struct assembler *as, const struct token *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool asm_no_memory(struct assembler *as);
/* The same as asm_error(), and the rest of the text is not looked at. */
bool asm_stop(struct assembler *as, const struct token *at, const char *text);

/* source.c */
/* Assemble a file whose text the caller holds. */
void source_file(struct assembler *as, const char *path, const char *text);
/* .include; the directive is passed over */
bool source_include(struct assembler *as);
/* Assemble what there is to read. */
void source_run(struct assembler *as, struct input *input);
/* Lines up to the .endm or .endr that belongs to the line in hand. */
bool source_body(struct assembler *as, const char *end, struct body *body);
/* Make room for one more element; false: out of memory. */
bool source_grow(struct assembler *as, void **array, size_t count, size_t *room, size_t size);
/* Number of the place of the line in hand, plus 1; 0 when there are too many. */
uint32_t source_place(struct assembler *as);
void source_free(struct assembler *as);

/* macro.c; directives are passed over, the name of a macro is not */
bool macro_define(struct assembler *as);
bool macro_repeat(struct assembler *as);
const struct macro *macro_find(struct assembler *as, const struct token *name);
bool macro_use(struct assembler *as, size_t macro);
void macro_free(struct assembler *as);
/* assemble.c: a line without its label */
bool asm_line(struct assembler *as);

/* lines.c: words of the section, to be freed; NULL when memory lacks */
uint32_t *lines_section(struct assembler *as, size_t *words);
/* Text of the listing, to be freed; NULL when memory lacks. */
char *lines_listing(struct assembler *as);

/* expr.c: a constant expression, or what can be in parentheses without them. */
bool expr_parse(struct assembler *as, struct token *value);
bool expr_primary(struct assembler *as, struct token *value);

/* token.c */
void token_line(struct assembler *as, const struct where *where);
void token_next(struct assembler *as);
/* The line, or all of it but its comment, ends here. */
bool token_ends_line(const char *at);
/* The token is this character; it is then passed over. */
bool token_accept(struct assembler *as, char c);
bool token_expect(struct assembler *as, char c);
bool token_is(const struct token *token, const char *name);
/* inf, nan or an .equ constant as a number. */
bool token_named_number(struct assembler *as, struct token *number);
/* A constant expression. */
bool token_number(struct assembler *as, struct token *number);
/* The same, an integer of 0 to max only; what names it in errors. */
bool token_count(struct assembler *as, const char *what, uint64_t max, uint64_t *value);
/* Only what expr_primary() reads. */
bool token_small_count(struct assembler *as, const char *what, uint64_t max, uint64_t *value);

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
