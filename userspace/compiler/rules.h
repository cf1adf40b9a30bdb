/* SPDX-License-Identifier: MIT */
/*
 * Rules that are not in the tables of the instruction set but apply
 * to a single instruction: register ranges, burst sizes, operations
 * that a type does not have, addresses that cannot be aligned.
 *
 * The assembler rejects an instruction that breaks a rule; the disassembler writes it as .word.
 */
#ifndef PUMICE_ASM_RULES_H
#define PUMICE_ASM_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "pumice_isa.h"

#define RULE_TEXT_BYTES 160

/* A rule that is broken. */
struct rule_break {
	unsigned int operand;	/* index in the form's operands */
	char text[RULE_TEXT_BYTES];
};

/**
 * rule_registers - get the maximum number of registers of a bank
 * @bank: enum pumice_usc_bank
 *
 * Return: the number, or 0 for a bank whose registers have no free numbering.
 */
uint32_t rule_registers(unsigned int bank);

/**
 * rule_words - get the maximum words of a burst, copy or window
 * @cls: enum pumice_usc_class
 * @what: receives a name for errors
 *
 * Return: the number, or 0 for a class that is not a number of words.
 */
uint32_t rule_words(unsigned int cls, const char **what);

#define RULE_ALL_STAGES 0x1fu

/**
 * rule_stages - get the stages whose programs may have an instruction
 * @insn: a legal instruction
 *
 * Return: bit n for enum pumice_program_stage n.
 */
uint32_t rule_stages(const struct pumice_usc_insn *insn);

/**
 * rule_pds_stages - the same for an instruction of the PDS
 */
uint32_t rule_pds_stages(const struct pumice_pds_insn *insn);

/**
 * rule_pds_registers - count the consecutive registers that a legal PDS instruction writes
 */
uint32_t rule_pds_registers(const struct pumice_pds_insn *insn);

/**
 * rule_copy_bytes - return the local memory that a work-group copy needs at least; 0: none
 */
uint32_t rule_copy_bytes(const struct pumice_usc_insn *insn);

/**
 * rule_check - check an instruction that is a legal encoding
 * @words: PUMICE_USC_WORDS words
 * @broken: the broken rule, if any
 *
 * Return: true if no rule is broken.
 */
bool rule_check(const uint32_t *words, struct rule_break *broken);

/**
 * rule_is_scalar_text - whether the text of a legal vector form is that of the scalar form
 *
 * Only of one that writes an indexed shared or coefficient register, and has the same value in
 * all lanes.
 */
bool rule_is_scalar_text(const uint32_t *words);

/**
 * rule_pds_bank - get the USC bank (enum pumice_usc_bank) of a PDS bank
 */
unsigned int rule_pds_bank(unsigned int pds_bank);

/**
 * rule_check_pds - check a PDS instruction that is a legal encoding
 *
 * Return: the broken rule, or NULL.
 */
const char *rule_check_pds(const struct pumice_pds_insn *insn);

#endif
