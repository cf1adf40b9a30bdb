// SPDX-License-Identifier: MIT
/*
 * Disassembly to text that assembles to the same file: every resource by
 * its directive, the PDS program as instructions, labels at branch targets.
 *
 * Instructions with an illegal encoding, that break a rule of
 * rules.h, that use registers beyond the program's, or whose text is
 * that of another encoding, become .word. Limit: a file of another tool whose uniform_words differ
 * from the words its PDS program reads is not reproduced exactly.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "program_header.h"
#include "pumice_decode.h"
#include "pumice_formats.h"
#include "pumice_names.h"
#include "pumice_regs.h"
#include "rules.h"
#include "pumice/pumice.h"

#define WORDS PUMICE_USC_WORDS	/* 32-bit words of an instruction, USC and PDS alike */

struct listing {
	FILE *out;
	struct pumice_program_info info;
	struct pumice_program_header header;
	const uint8_t *file;	/* checked by pumice_program_parse() */
	const struct pumice_program *program;
	bool numbered;
	uint8_t *is_target;	/* for each USC instruction */
};

/* Get the target instruction index of a legal branch, or -1. */
static int64_t target_of(const uint32_t *words)
{
	struct pumice_usc_insn insn;
	const struct pumice_isa_op_info *op;

	if (pumice_usc_unpack(words, &insn) != PUMICE_ISA_UNPACK_OK)
		return -1;
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn.opcode);
	for (unsigned int i = 0; i < op->form[0].nr_operands; i++)
		if (op->form[0].operands[i].cls == PUMICE_USC_CLASS_TARGET)
			return insn.target;
	return -1;
}

static void find_targets(struct listing *list)
{
	for (uint32_t i = 0; i < list->info.usc_insns; i++) {
		int64_t target = target_of(&list->info.usc[WORDS * i]);

		if (target >= 0 && target < list->info.usc_insns)
			list->is_target[target] = 1;
	}
}

/* Return whether registers [first, first + count) of a bank exceed those of the header. */
static bool is_beyond(const struct listing *list, unsigned int bank, uint32_t first,
		      uint32_t count)
{
	switch (bank) {
	case PUMICE_USC_BANK_R:
		return first + count > list->info.temps;
	case PUMICE_USC_BANK_V:
		return first + count > list->info.attrs;
	case PUMICE_USC_BANK_SH:
		return first + count > list->info.shared;
	case PUMICE_USC_BANK_CF:
		return first + count > list->header.coeffs;
	case PUMICE_USC_BANK_CFA:
		return first + count > pumice_program_coeffs_alt(&list->header);
	case PUMICE_USC_BANK_VO:
		return first + count > pumice_program_vo(&list->header);
	case PUMICE_USC_BANK_O:
		return first + count > list->header.outputs;
	default:
		return false;
	}
}

static bool mask_is_beyond(const struct listing *list, uint32_t raw)
{
	struct pumice_usc_mask mask;
	uint32_t top;

	pumice_usc_mask_unpack(&raw, &mask);
	top = mask.a > mask.b ? mask.a : mask.b;
	return top >= PUMICE_USC_MASK_CONSTS &&
	       is_beyond(list, PUMICE_USC_BANK_R, top - PUMICE_USC_MASK_CONSTS, 1);
}

static bool operand_is_beyond(const struct listing *list, const struct pumice_usc_insn *insn,
			      const struct pumice_isa_operand *place, uint32_t raw)
{
	unsigned int cls = place->cls;
	const struct pumice_isa_class *info = &pumice_usc_isa.classes[cls];
	struct pumice_usc_operand operand;

	if (cls == PUMICE_USC_CLASS_MASK)
		return mask_is_beyond(list, raw);
	if (!info->full && !info->elem)
		return false;
	pumice_usc_operand_unpack(&raw, &operand);
	if (operand.bank == PUMICE_USC_BANK_M)
		return mask_is_beyond(list, operand.num);
	return is_beyond(list, operand.bank, operand.num, pumice_usc_registers(insn, place));
}

static bool copy_is_beyond(const struct listing *list, const struct pumice_usc_insn *insn)
{
	const uint32_t *size = list->info.size;

	return rule_copy_bytes(insn) > list->info.local_bytes ||
	       (pumice_usc_is_group_copy(insn->opcode) &&
		size[0] * size[1] * size[2] < PUMICE_USC_COPY_INSTANCES);
}

/*
 * Return whether an instruction breaks a rule or uses resources that
 * the program lacks, so that the assembler would reject its text.
 */
static bool insn_is_beyond(const struct listing *list, const uint32_t *words)
{
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *form;
	struct pumice_usc_insn insn;
	struct rule_break broken;

	if (pumice_usc_unpack(words, &insn) != PUMICE_ISA_UNPACK_OK)
		return false;
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn.opcode);
	form = pumice_isa_form_of(&pumice_usc_isa, op, words);
	if (target_of(words) >= (int64_t)list->info.usc_insns)
		return true;
	if (!rule_check(words, &broken) || copy_is_beyond(list, &insn) ||
	    rule_is_scalar_text(words) ||
	    !(rule_stages(&insn) >> pumice_program_stage_of(&list->header) & 1))
		return true;
	for (unsigned int i = 0; i < form->nr_operands; i++) {
		uint64_t raw = pumice_isa_get(&pumice_usc_isa, op->layout, form->operands[i].field,
					      words);

		if (operand_is_beyond(list, &insn, &form->operands[i], (uint32_t)raw))
			return true;
	}
	return false;
}

#define NUMBER_COLUMN 56	/* column of the comment of a numbered line */

/* Write an instruction, or words, without the leading tab; and its number. */
static void put_insn(struct listing *list, uint32_t insn, const char *text)
{
	struct pumice_source_line line[PUMICE_SOURCE_DEPTH];
	uint32_t count = PUMICE_SOURCE_DEPTH;

	if (!list->numbered) {
		fprintf(list->out, "\t%s\n", text);
		return;
	}
	fprintf(list->out, "\t%-*s ; %5u  %05x", NUMBER_COLUMN, text, insn, insn * WORDS * 4);
	pumice_program_get_lines(list->program, insn, line, &count);
	for (uint32_t i = 0; i < count; i++)
		fprintf(list->out, "%s%s:%u", i ? " < " : "  ", line[i].file, line[i].line);
	fputc('\n', list->out);
}

static void words_text(const uint32_t *words, char *text)
{
	snprintf(text, PUMICE_DECODE_LINE, ".word 0x%08x, 0x%08x, 0x%08x, 0x%08x", words[0],
		 words[1], words[2], words[3]);
}

static void put_words(struct listing *list, const uint32_t *words)
{
	char text[PUMICE_DECODE_LINE];

	words_text(words, text);
	fprintf(list->out, "\t%s\n", text);
}

static bool pds_is_beyond(const struct listing *list, const struct pumice_pds_insn *insn)
{
	if (insn->opcode == PUMICE_PDS_OP_END)
		return false;
	return rule_check_pds(insn) ||
		!(rule_pds_stages(insn) >> pumice_program_stage_of(&list->header) & 1) ||
	       (insn->opcode == PUMICE_PDS_OP_TASK ? !insn->insns :
		is_beyond(list, rule_pds_bank(insn->bank), insn->reg,
			  rule_pds_registers(insn)));
}

/* Return whether a PDS instruction's address is relocated; its opcode gives the type. */
static bool is_relocated(const struct listing *list, uint32_t insn)
{
	size_t at = (PUMICE_PROGRAM_HEADER_WORDS +
		     ((size_t)list->info.usc_insns + list->info.pds_insns) * WORDS) * 4;

	for (uint32_t i = 0; i < list->info.relocs; i++) {
		struct pumice_program_reloc reloc;
		uint32_t word;

		memcpy(&word, list->file + at + 4 * i, sizeof(word));
		pumice_program_reloc_unpack(&word, &reloc);
		if (reloc.insn == insn)
			return true;
	}
	return false;
}

static void put_head(struct listing *list)
{
	const struct pumice_program_info *info = &list->info;
	const enum pumice_program_stage stage = pumice_program_stage_of(&list->header);

	if (stage != PUMICE_PROGRAM_STAGE_COMPUTE)
		fprintf(list->out, ".stage %s\n", pumice_program_stage_str(stage));
	fprintf(list->out, ".group %u, %u, %u\n", info->size[0], info->size[1], info->size[2]);
	fprintf(list->out, ".temps %u\n.attrs %u\n.shared %u\n.coeffs %u\n", info->temps,
		info->attrs, info->shared, list->header.coeffs);
	if (pumice_program_coeffs_alt(&list->header))
		fprintf(list->out, ".coeffs_alt %u\n", pumice_program_coeffs_alt(&list->header));
	if (pumice_program_vo(&list->header))
		fprintf(list->out, ".vo %u\n", pumice_program_vo(&list->header));
	if (list->header.outputs)
		fprintf(list->out, ".outputs %u\n", list->header.outputs);
	if (info->local_bytes)
		fprintf(list->out, ".local %u\n", info->local_bytes);
}

/* Write a PDS instruction with a relocated address; the tables lack the symbol name. */
static void put_relocated(struct listing *list, const struct pumice_pds_insn *insn)
{
	bool task = insn->opcode == PUMICE_PDS_OP_TASK;

	if (task)
		fprintf(list->out, "\ttask code");
	else
		fprintf(list->out, "\tdma %s%u, %u, uniforms", pumice_pds_bank_str(insn->bank),
			insn->reg, insn->count);
	if (insn->addr)
		fprintf(list->out, " + %" PRIu64, insn->addr);
	if (task)
		fprintf(list->out, ", %u", insn->insns);
	else if (insn->stride)
		fprintf(list->out, ", %u", insn->stride);
	fputc('\n', list->out);
}

static void put_pds(struct listing *list)
{
	char line[PUMICE_DECODE_LINE];

	fprintf(list->out, ".pds\n");
	for (uint32_t i = 0; i < list->info.pds_insns; i++) {
		const uint32_t *words = &list->info.pds[WORDS * i];
		struct pumice_pds_insn insn;
		bool legal = pumice_pds_unpack(words, &insn) == PUMICE_ISA_UNPACK_OK;

		if (legal && is_relocated(list, i)) {
			put_relocated(list, &insn);
			continue;
		}
		if (legal && pds_is_beyond(list, &insn)) {
			put_words(list, words);
			continue;
		}
		pumice_isa_text(&pumice_pds_isa, words, line);
		fprintf(list->out, "\t%s\n", line);
	}
	fprintf(list->out, ".endpds\n");
}

/* Write a branch: its text with the target number replaced by a label. */
static void put_branch(struct listing *list, uint32_t insn, const char *line, int64_t target)
{
	size_t name = strcspn(line, " ");
	const char *rest = line + name + strspn(line + name, " ");
	char text[PUMICE_DECODE_LINE + 16];

	rest += strcspn(rest, ",");
	snprintf(text, sizeof(text), "%.*s L%" PRId64 "%s", (int)name, line, target, rest);
	put_insn(list, insn, text);
}

static void put_usc(struct listing *list)
{
	char line[PUMICE_DECODE_LINE];

	for (uint32_t i = 0; i < list->info.usc_insns; i++) {
		const uint32_t *words = &list->info.usc[WORDS * i];
		int64_t target;

		if (list->is_target[i])
			fprintf(list->out, "L%u:\n", i);
		if (insn_is_beyond(list, words)) {
			words_text(words, line);
			put_insn(list, i, line);
			continue;
		}
		pumice_isa_text(&pumice_usc_isa, words, line);
		target = target_of(words);
		if (target >= 0)
			put_branch(list, i, line, target);
		else
			put_insn(list, i, line);
	}
}

static int disassemble(const void *file, size_t bytes, bool numbered, char **out, char *error,
		       size_t error_bytes)
{
	struct listing list = { .file = file, .numbered = numbered };
	uint32_t words[PUMICE_PROGRAM_HEADER_WORDS];
	struct pumice_program *program;
	size_t out_bytes;
	int ret = pumice_program_parse(file, bytes, &program, error, error_bytes);

	if (ret)
		return ret;
	list.program = program;
	pumice_program_info(program, &list.info);
	memcpy(words, file, sizeof(words));
	pumice_program_header_unpack(words, &list.header);
	list.is_target = calloc(list.info.usc_insns, 1);
	list.out = open_memstream(out, &out_bytes);
	if (!list.is_target || !list.out) {
		ret = -ENOMEM;
	} else {
		find_targets(&list);
		put_head(&list);
		put_pds(&list);
		put_usc(&list);
	}
	if (list.out && fclose(list.out))
		ret = -ENOMEM;
	free(list.is_target);
	pumice_program_destroy(program);
	return ret;
}

int pumice_disassemble(const void *file, size_t bytes, char **out, char *error,
		       size_t error_bytes)
{
	return disassemble(file, bytes, false, out, error, error_bytes);
}

int pumice_disassemble_numbered(const void *file, size_t bytes, char **out, char *error,
				size_t error_bytes)
{
	return disassemble(file, bytes, true, out, error, error_bytes);
}
