// SPDX-License-Identifier: MIT
/*
 * Descriptions of accepted input, for errors: registers, words and types
 * from the tables that are generated from hw/isa.xml, and similar words.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "expected.h"
#include "pumice_names.h"
#include "rules.h"

#define MAX_WORD	32u	/* letters of words that are compared */
#define MAX_DISTANCE	2u	/* changed letters of a similar word */

/* Append to a list; the end of one that is too long is omitted. */
__attribute__((format(printf, 2, 3)))
static void add(char *out, const char *format, ...)
{
	size_t used = strlen(out);
	va_list args;

	if (used)
		used += (size_t)snprintf(out + used, EXPECTED_BYTES - used, ", ");
	if (used >= EXPECTED_BYTES)
		return;
	va_start(args, format);
	vsnprintf(out + used, EXPECTED_BYTES - used, format, args);
	va_end(args);
}

/* Return the name of the first register of a bank with names, or NULL. */
static const char *first_special(unsigned int bank)
{
	for (size_t i = 0; i < pumice_usc_isa.nr_specials; i++)
		if (pumice_usc_isa.specials[i].bank == bank)
			return pumice_usc_isa.specials[i].name;
	return NULL;
}

static void add_bank(char *out, unsigned int bank)
{
	const char *name = pumice_usc_bank_str(bank), *special = first_special(bank);
	const uint32_t registers = rule_registers(bank);

	if (registers)
		add(out, "%s0 to %s%u", name, name, registers - 1);
	else if (special)
		add(out, "a %s such as %s", bank == PUMICE_USC_BANK_SR ? "special register" :
		    "constant", special);
	else if (bank == PUMICE_USC_BANK_IMM)
		add(out, "a number");
	else if (bank == PUMICE_USC_BANK_M)
		add(out, "a mask such as [r1]");
	else if (bank == PUMICE_USC_BANK_DC)
		add(out, "dc[idx0]");
}

const char *expected_operand(char *out, const struct pumice_isa_class *cls)
{
	const char *comma = "";
	size_t used;

	*out = '\0';
	for (unsigned int bank = 0; bank < PUMICE_USC_BANK_COUNT; bank++)
		if (cls->indexed >> bank & 1)
			add(out, "%s[idx0]", pumice_usc_bank_str(bank));
		else if (cls->full >> bank & 1 && bank == PUMICE_USC_BANK_SR &&
			 cls->special == PUMICE_ISA_SPECIAL_RW)
			add(out, "sr%u to sr%u", PUMICE_USC_SR_SR36, PUMICE_USC_SR_SR43);
		else if (cls->full >> bank & 1)
			add_bank(out, bank);
	if (!cls->elem)
		return out;
	add(out, "element 0, such as r1[0], of ");
	for (unsigned int bank = 0; bank < PUMICE_USC_BANK_COUNT; bank++) {
		used = strlen(out);
		if (!(cls->elem >> bank & 1))
			continue;
		snprintf(out + used, EXPECTED_BYTES - used, "%s%s", comma,
			 pumice_usc_bank_str(bank));
		comma = ", ";
	}
	return out;
}

const char *expected_word(char *out, const struct pumice_isa_class *cls)
{
	*out = '\0';
	for (uint32_t value = 0; value < 256; value++)
		if (cls->valid(value))
			add(out, "%s", cls->text(value));
	return out;
}

const char *expected_types(char *out, const struct pumice_isa_op_info *op)
{
	*out = '\0';
	for (uint32_t type = 0; type < PUMICE_USC_TYPE_COUNT; type++)
		if (op->types >> type & 1)
			add(out, "%s", pumice_usc_type_str(type));
	return out;
}

const char *expected_specials(char *out, unsigned int bank)
{
	*out = '\0';
	for (size_t i = 0; i < pumice_usc_isa.nr_specials; i++)
		if (pumice_usc_isa.specials[i].bank == bank)
			add(out, "%s", pumice_usc_isa.specials[i].name);
	return out;
}

const char *expected_registers(char *out)
{
	*out = '\0';
	for (unsigned int bank = 0; bank < PUMICE_USC_BANK_COUNT; bank++)
		if (pumice_usc_isa.banks >> bank & 1 && rule_registers(bank))
			add_bank(out, bank);
	return out;
}

const char *expected_sources(char *out)
{
	*out = '\0';
	for (uint32_t source = 0; source < PUMICE_PDS_SOURCE_COUNT; source++)
		if (pumice_pds_source_valid(source))
			add(out, "%s", pumice_pds_source_str(source));
	return out;
}

const char *expected_number(char *out, const struct pumice_isa_info *isa, uint32_t layout,
			    uint32_t field)
{
	const struct pumice_field_info *info = pumice_isa_place(isa, layout, field);
	const uint64_t most = info ? UINT64_MAX >> (64 - info->width) << info->shift : 0;

	snprintf(out, EXPECTED_BYTES, "a number from 0 to %llu", (unsigned long long)most);
	if (info && info->shift)
		snprintf(out + strlen(out), EXPECTED_BYTES - strlen(out), ", a multiple of %u",
			 1u << info->shift);
	return out;
}

/* Return the number of letters to insert, remove or replace, or of pairs to swap, between words. */
static unsigned int distance(const char *a, size_t length, const char *b)
{
	/* Rows of the table: the current one, the previous one, and that before it. */
	unsigned int row[MAX_WORD + 1], last[MAX_WORD + 1], older[MAX_WORD + 1];
	const size_t width = strlen(b);

	if (length > MAX_WORD || width > MAX_WORD)
		return MAX_WORD;
	for (unsigned int j = 0; j <= MAX_WORD; j++)
		row[j] = last[j] = j;
	for (unsigned int i = 1; i <= length; i++) {
		memcpy(older, last, sizeof(older));
		memcpy(last, row, sizeof(last));
		row[0] = i;
		for (unsigned int j = 1; j <= width; j++) {
			row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
			if (row[j] > last[j] + 1)
				row[j] = last[j] + 1;
			if (row[j] > row[j - 1] + 1)
				row[j] = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    row[j] > older[j - 2] + 1)
				row[j] = older[j - 2] + 1;
		}
	}
	return row[width];
}

void similar_try(struct similar *similar, const char *candidate)
{
	unsigned int changes = distance(similar->word, similar->length, candidate);

	/*
	 * An unfinished name of several words, such as br of br_all, is better than a changed one.
	 */
	if (similar->length > 1 && !strncmp(similar->word, candidate, similar->length) &&
	    candidate[similar->length] == '_')
		changes = 0;

	/* A word of two letters is similar to every other one. */
	if (changes > MAX_DISTANCE || changes >= similar->length / 2 + 1 ||
	    (similar->best && changes >= similar->changes))
		return;
	similar->best = candidate;
	similar->changes = changes;
}

const char *similar_text(const struct similar *similar, char *out)
{
	*out = '\0';
	if (similar->best)
		snprintf(out, EXPECTED_BYTES, "; the most similar is %s", similar->best);
	return out;
}
