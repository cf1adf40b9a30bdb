// SPDX-License-Identifier: MIT
/*
 * The source lines of a program file (hw/formats.xml, program_lines), and the listing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void put_names(const struct assembler *as, uint32_t *words)
{
	char *at = (char *)words;

	for (size_t i = 0; i < as->file_count; i++) {
		char *end = stpcpy(at, as->files[i].path);

		diag_clean(at, "");
		at = end + 1;
	}
}

uint32_t *lines_section(struct assembler *as, size_t *count)
{
	const size_t insns = as->usc.insns + as->pds.insns;
	struct pumice_program_lines head = {
		.places = (uint32_t)as->place_count,
		.files = (uint32_t)as->file_count,
		.name_bytes = (uint32_t)(as->name_bytes + 3) / 4 * 4,
	};
	uint32_t *words, *at;

	*count = PUMICE_PROGRAM_LINES_WORDS + insns + as->place_count * PUMICE_PROGRAM_PLACE_WORDS +
		 head.name_bytes / 4;
	words = at = calloc(*count, sizeof(*words));
	if (!words)
		return NULL;
	pumice_program_lines_pack(at, &head);
	at += PUMICE_PROGRAM_LINES_WORDS;
	for (size_t i = 0; i < as->usc.insns; i++)
		*at++ = as->usc.line[i].place;
	for (size_t i = 0; i < as->pds.insns; i++)
		*at++ = as->pds.line[i].place;
	for (size_t i = 0; i < as->place_count; i++, at += PUMICE_PROGRAM_PLACE_WORDS)
		pumice_program_place_pack(at, &as->places[i]);
	put_names(as, at);
	return words;
}

/* Write the line, and after " < " each line that included or expanded it. */
static void list_place(const struct assembler *as, FILE *out, uint32_t number)
{
	while (number) {
		const struct pumice_program_place *place = &as->places[number - 1];

		fprintf(out, "%s:%u%s", as->files[place->file].path, place->line,
			place->parent ? " < " : "");
		number = place->parent;
	}
}

static void list_code(const struct assembler *as, FILE *out, const char *name,
		      const struct code *code)
{
	fprintf(out, "%s: %zu instructions\n", name, code->insns);
	for (size_t i = 0; i < code->insns; i++) {
		const uint32_t *w = &code->words[ASM_WORDS * i];
		const char *text = code->line[i].text;

		fprintf(out, "%5zu  %05zx  %08x %08x %08x %08x  ", i, i * ASM_WORDS * 4, w[0], w[1],
			w[2], w[3]);
		list_place(as, out, code->line[i].place);
		text += strspn(text, " \t");
		fprintf(out, "  %.*s\n", (int)strcspn(text, "\r\n"), text);
	}
}

char *lines_listing(struct assembler *as)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	list_code(as, out, "pds", &as->pds);
	list_code(as, out, "usc", &as->usc);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
