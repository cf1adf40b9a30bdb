/* SPDX-License-Identifier: MIT */
/*
 * Internal interface of pumice-dump: the validated sections
 * of a dump file (hw/dumpfile.h), and their output.
 *
 * Nothing in a file is trusted: a section that is longer than the
 * file, or has fewer bytes than its elements need, is rejected when
 * it is read; all later code works on copies of whole elements.
 */
#ifndef PUMICE_TOOLS_DUMP_H
#define PUMICE_TOOLS_DUMP_H

#include <stdbool.h>
#include <stddef.h>

#include "dumpfile.h"

#define DUMP_MAX_SECTIONS 4096u

/* One section of a file. */
struct dump_part {
	struct pumice_dump_section head;
	const unsigned char *data;	/* head.bytes of them */
};

struct dump {
	struct pumice_dump_header head;
	struct dump_part part[DUMP_MAX_SECTIONS];
	u32 parts;
	char error[80];
};

/*
 * Split a file into parts, which point into it. False with *error set,
 * which is valid as long as the dump: parts before the damage are valid.
 */
bool dump_parse(struct dump *dump, const unsigned char *file, size_t bytes, const char **error);

/* Find the first part of a type, or NULL. */
const struct dump_part *dump_find(const struct dump *dump, u32 type);
/* Count the complete elements of a part, each at least @known bytes long. */
u32 dump_elements(const struct dump_part *part, size_t known);
/* Copy element @index; @known: bytes that this tool supports. */
void dump_element(const struct dump_part *part, u32 index, void *to, size_t known);
/* Copy the first element of the first part of a type. False, and *to zeroed: none. */
bool dump_one(const struct dump *dump, u32 type, void *to, size_t known);
/* Copy captured memory from @va on; returns the available bytes, at most @bytes. */
size_t dump_memory(const struct dump *dump, u64 va, void *to, size_t bytes);

/* Sections that can be selected by name, in the order of output. */
struct dump_view {
	const char *name;
	/* Returns false, and prints nothing, if the dump has no data for it. */
	bool (*print)(const struct dump *dump, bool all);
};

#define DUMP_VIEWS 10
extern const struct dump_view dump_views[DUMP_VIEWS];

/* dump_code.c: print instructions around @pc, which is marked; format one as text. */
void dump_print_code(const struct dump *dump, u64 code, u32 pc);
/* @text: PUMICE_DECODE_LINE bytes. False: the instruction was not captured. */
bool dump_insn_text(const struct dump *dump, u64 code, u32 pc, char *text);
/* dump_memory.c */
bool dump_print_stream(const struct dump *dump, bool all);
bool dump_print_memory(const struct dump *dump, bool all);
bool dump_print_walk(const struct dump *dump, bool all);

/* Print a line of a decoder. */
void dump_print_line(void *data, u64 addr, const char *line);

#endif
