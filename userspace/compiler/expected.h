/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of accepted input, for errors.
 *
 * Each function writes to @out, EXPECTED_BYTES long, and returns it.
 */
#ifndef PUMICE_ASM_EXPECTED_H
#define PUMICE_ASM_EXPECTED_H

#include "internal.h"
#include "pumice_info.h"

#define EXPECTED_BYTES 384u

/* Describe the values that an operand class accepts: "r0 to r247, v0 to v247, a number". */
const char *expected_operand(char *out, const struct pumice_isa_class *cls);
/* Describe the words of an enumeration: "add, mul, min". */
const char *expected_word(char *out, const struct pumice_isa_class *cls);
/* Describe the types of an operation: "f32, u32". */
const char *expected_types(char *out, const struct pumice_isa_op_info *op);
/* Describe a bank whose registers have names. */
const char *expected_specials(char *out, unsigned int bank);
/* Describe all banks with numbered registers. */
const char *expected_registers(char *out);
/* Describe the values that the PDS can write. */
const char *expected_sources(char *out);

/* Describe the values of a field of an instruction. */
const char *expected_number(char *out, const struct pumice_isa_info *isa, uint32_t layout,
			    uint32_t field);

/* A search for the known word that is most similar to an unknown one. */
struct similar {
	const char *word;
	size_t length;
	const char *best;	/* or NULL */
	unsigned int changes;
};

void similar_try(struct similar *similar, const char *candidate);
/* "; the most similar is WORD", or nothing. */
const char *similar_text(const struct similar *similar, char *out);

#endif
