// SPDX-License-Identifier: MIT
/*
 * Assembly of a text to a program file: lines, resources, file.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "internal.h"
#include "program_header.h"
#include "rules.h"

/* Parse "name:" before the rest of a line. */
static bool parse_label(struct assembler *as)
{
	struct token name = as->token;
	const char *after = name.text + name.length;
	struct symbol *symbol;

	while (*after == ' ' || *after == '\t')
		after++;
	if (name.kind != TOKEN_NAME || *after != ':')
		return true;
	if (as->in_pds)
		return asm_error(as, NULL, "a PDS program has no labels");
	symbol = symbol_add(as, &name, SYMBOL_LABEL);
	if (!symbol)
		return false;
	symbol->value = as->usc.insns;
	token_next(as);
	return token_expect(as, ':');
}

/* Report a \\name that was not replaced by an argument. */
static bool check_names(struct assembler *as)
{
	const char *at = as->where.text;
	struct token name;

	while (!token_ends_line(at) && *at != '\\')
		at++;
	if (token_ends_line(at))
		return true;
	name = (struct token){ .text = at, .length = 1 };
	if (at[1] == '@') {
		name.length = 2;
		return asm_error(as, &name, "\\@ is the number of a use of a macro or repetition: "
				 "write it between .macro and .endm, or .repeat and .endr");
	}
	while (isalnum((unsigned char)at[name.length]) || at[name.length] == '_')
		name.length++;
	if (name.length == 1)
		return asm_error(as, &name, "expected the name of an argument or counter after \\");
	return asm_error(as, &name, "no argument or counter has the name %.*s: write it in the "
			 "line of .macro, after the name, or of .repeat, after the number",
			 (int)name.length - 1, at + 1);
}

static bool parse_rest(struct assembler *as)
{
	const struct macro *macro;

	if (as->token.kind == TOKEN_END)
		return true;
	if (as->token.kind != TOKEN_NAME)
		return asm_error(as, NULL, "expected an operation, a directive, a macro or a label");
	if (as->token.text[0] == '.')
		return directive_line(as);
	macro = macro_find(as, &as->token);
	if (macro)
		return macro_use(as, (size_t)(macro - as->macros));
	return as->in_pds ? pds_line(as) : insn_line(as);
}

bool asm_line(struct assembler *as)
{
	as->op = NULL;
	as->cls = NULL;
	as->accepts = NULL;
	if (!check_names(as) || !parse_label(as) || !parse_rest(as))
		return false;
	if (as->token.kind != TOKEN_END)
		return asm_error_form(as, "unexpected text at the end of the line");
	return true;
}

static void parse_text(struct assembler *as, const char *name, const char *text)
{
	source_file(as, name, text);
	as->silent = false;
	if (as->in_pds && as->errors < ASM_MAX_ERRORS)
		asm_error_in(as, &as->pds_where, &as->pds_at,
			     ".pds without .endpds: write .endpds after the last PDS instruction");
}

/* Check the resources that a program uses against those a directive declares. */
static uint32_t resource(struct assembler *as, const char *what, uint32_t used,
			 const struct declared *declared, uint32_t max)
{
	if (declared->count >= 0 && used > (uint64_t)declared->count)
		asm_error_in(as, &declared->where, &declared->at,
			     "the program names %u %s, the directive gives %u: write %u, or remove "
			     "the directive", used, what, (unsigned int)declared->count, used);
	else if (used > max)
		asm_error(as, NULL, "the program names %u %s of at most %u", used, what, max);
	return declared->count >= 0 ? (uint32_t)declared->count : used;
}

/*
 * Check work-group copies against the local memory and the size of the work-group, set anywhere in
 * the text.
 */
static void check_copies(struct assembler *as)
{
	if (as->local_copy_bytes > as->header.local_bytes) {
		as->where = as->local_copy_where;
		asm_error(as, &as->local_copy,
			  "the copy ends at byte %u of local memory, .local gives it %u bytes",
			  as->local_copy_bytes, (unsigned int)as->header.local_bytes);
	}
	if (!as->copy_where.text ||
	    as->header.size_x * as->header.size_y * as->header.size_z >= PUMICE_USC_COPY_INSTANCES)
		return;
	as->where = as->copy_where;
	asm_error(as, &as->copy, "a work-group that copies has %u instances or more",
		  PUMICE_USC_COPY_INSTANCES);
}

static void finish(struct assembler *as)
{
	if (!as->no_memory)
		code_resolve(as);
	if (as->errors || as->no_memory)
		return;
	as->header.temps = (uint8_t)resource(as, "temporary registers", as->used_temps, &as->temps,
					     PUMICE_USC_MAX_TEMPS);
	as->header.attrs = (uint8_t)resource(as, "attribute registers", as->used_attrs, &as->attrs,
					     PUMICE_USC_MAX_ATTRS);
	as->header.shared = (uint16_t)resource(as, "shared registers", as->used_shared, &as->shared,
					       PUMICE_USC_MAX_SHARED);
	as->header.coeffs = (uint16_t)resource(as, "coefficient registers", as->used_coeffs,
					       &as->coeffs, PUMICE_USC_MAX_COEFFS);
	pumice_program_set_coeffs_alt(&as->header,
				      resource(as, "alternate coefficient registers",
					       as->used_coeffs_alt, &as->coeffs_alt,
					       PUMICE_USC_MAX_COEFFS_ALT));
	pumice_program_set_vo(&as->header, resource(as, "vertex output registers", as->used_vo,
						    &as->vo, PUMICE_USC_MAX_VO));
	as->header.outputs = (uint8_t)resource(as, "pixel output registers", as->used_outputs,
					       &as->outputs, PUMICE_USC_MAX_OUTPUTS);
	pumice_program_set_stage(&as->header,
				 (enum pumice_program_stage)__builtin_ctz(as->stages));
	check_copies(as);
	if (!as->usc.insns)
		asm_error_in(as, &as->first, NULL,
			     "the program has no instruction: write at least end");
	else if (as->usc.insns > PUMICE_USC_MAX_INSNS)
		asm_error(as, NULL, "more than %u instructions", PUMICE_USC_MAX_INSNS);
	as->generated = true;
	if (!as->errors)
		pds_finish(as);
}

static uint8_t *put_words(uint8_t *out, const uint32_t *words, size_t count)
{
	if (count)
		memcpy(out, words, count * sizeof(uint32_t));
	return out + count * sizeof(uint32_t);
}

static void write_relocs(struct assembler *as, uint8_t *at)
{
	uint32_t word;

	for (size_t i = 0; i < as->reloc_count; i++) {
		pumice_program_reloc_pack(&word, &as->relocs[i]);
		at = put_words(at, &word, 1);
	}
}

static int write_file(struct assembler *as, uint8_t **out, size_t *out_bytes)
{
	struct pumice_program_header *header = &as->header;
	size_t header_bytes = PUMICE_PROGRAM_HEADER_WORDS * sizeof(uint32_t), line_words = 0;
	uint32_t *lines = as->options.lines ? lines_section(as, &line_words) : NULL;
	size_t bytes = header_bytes + (as->usc.insns + as->pds.insns) * ASM_WORDS * 4 +
		       (as->reloc_count + line_words) * 4;
	uint32_t words[PUMICE_PROGRAM_HEADER_WORDS];
	uint8_t *file = malloc(bytes);
	uint8_t *at;

	if (!file || (as->options.lines && !lines)) {
		free(file);
		free(lines);
		return -ENOMEM;
	}
	at = put_words(file + header_bytes, as->usc.words, as->usc.insns * ASM_WORDS);
	at = put_words(at, as->pds.words, as->pds.insns * ASM_WORDS);
	write_relocs(as, at);
	put_words(at + as->reloc_count * 4, lines, line_words);
	free(lines);
	header->file_bytes = (uint32_t)bytes;
	header->usc_insns = (uint32_t)as->usc.insns;
	header->pds_insns = (uint32_t)as->pds.insns;
	header->relocs = (uint32_t)as->reloc_count;
	header->lines = as->options.lines;
	header->crc32 = (uint32_t)crc32(0, file + header_bytes, (uInt)(bytes - header_bytes));
	pumice_program_header_pack(words, header);
	put_words(file, words, PUMICE_PROGRAM_HEADER_WORDS);
	*out = file;
	*out_bytes = bytes;
	return 0;
}

static int finish_all(struct assembler *as, uint8_t **out, size_t *out_bytes)
{
	int err;

	if (!as->stopped)
		finish(as);
	if (as->no_memory)
		return -ENOMEM;
	if (as->errors)
		return -EINVAL;
	err = write_file(as, out, out_bytes);
	if (err || !as->options.listing)
		return err;
	*as->options.listing = lines_listing(as);
	if (*as->options.listing)
		return 0;
	free(*out);
	return -ENOMEM;
}

int pumice_assemble_with(const char *name, const char *text,
			 const struct pumice_asm_options *options, uint8_t **out,
			 size_t *out_bytes)
{
	struct assembler *as = calloc(1, sizeof(*as));
	int ret;

	if (!as)
		return -ENOMEM;
	as->options = *options;
	as->temps = as->attrs = as->shared = as->coeffs = as->coeffs_alt = as->vo = as->outputs =
		(struct declared){ .count = -1 };
	as->stages = RULE_ALL_STAGES;
	as->header.size_x = PUMICE_LANES;
	as->header.size_y = as->header.size_z = 1;
	parse_text(as, name, text);
	ret = finish_all(as, out, out_bytes);
	macro_free(as);
	source_free(as);
	free(as->symbols);
	free(as->symbol_slots);
	free(as->fixups);
	free(as->usc.words);
	free(as->usc.line);
	free(as->pds.words);
	free(as->pds.line);
	free(as);
	return ret;
}

int pumice_assemble(const char *name, const char *text, pumice_asm_report report, void *data,
		    uint8_t **out, size_t *out_bytes)
{
	const struct pumice_asm_options options = { .report = report, .data = data };

	return pumice_assemble_with(name, text, &options, out, out_bytes);
}
