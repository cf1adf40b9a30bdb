// SPDX-License-Identifier: MIT
/* Program files of coordinate programs. See slice.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "program_header.h"
#include "pumice/pumice.h"
#include "pumice_formats.h"
#include "pumice_isa.h"
#include "pumice_names.h"
#include "slice.h"

#define INSN_WORDS	PUMICE_USC_WORDS
#define HEADER_WORDS	PUMICE_PROGRAM_HEADER_WORDS

/* Parts of a program file that was validated: words after its header. */
struct parts {
	struct pumice_program_header header;
	const uint32_t *usc, *pds, *relocs, *lines, *end;
};

static void find_parts(const uint32_t *words, struct parts *p)
{
	pumice_program_header_unpack(words, &p->header);
	p->usc = words + HEADER_WORDS;
	p->pds = p->usc + (size_t)p->header.usc_insns * INSN_WORDS;
	p->relocs = p->pds + (size_t)p->header.pds_insns * INSN_WORDS;
	p->lines = p->relocs + p->header.relocs;
	p->end = words + p->header.file_bytes / sizeof(uint32_t);
}

static uint32_t *put(uint32_t *to, const uint32_t *from, size_t count)
{
	memcpy(to, from, count * sizeof(*to));
	return to + count;
}

/* Copy the instructions that remain; branches go to the first one from their target on. */
static uint32_t *put_code(uint32_t *to, const struct parts *p, const uint8_t *keep)
{
	for (uint32_t i = 0; i < p->header.usc_insns; i++) {
		struct pumice_usc_insn insn;
		uint32_t target = 0;

		if (!keep[i])
			continue;
		pumice_usc_unpack(&p->usc[(size_t)INSN_WORDS * i], &insn);
		for (uint32_t k = 0; k < insn.target; k++)
			target += keep[k];
		to = put(to, &p->usc[(size_t)INSN_WORDS * i], INSN_WORDS);
		if (insn.target)
			pumice_isa_set(&pumice_usc_isa, PUMICE_USC_LAYOUT_FLOW,
				       PUMICE_USC_FIELD_TARGET, to - INSN_WORDS, target);
	}
	return to;
}

/* Copy the PDS program, which names the number of instructions. */
static uint32_t *put_pds(uint32_t *to, const struct parts *p, uint32_t insns)
{
	for (uint32_t i = 0; i < p->header.pds_insns; i++, to += INSN_WORDS) {
		struct pumice_pds_insn insn;

		put(to, &p->pds[(size_t)INSN_WORDS * i], INSN_WORDS);
		if (pumice_pds_unpack(to, &insn) == PUMICE_ISA_UNPACK_OK &&
		    insn.opcode == PUMICE_PDS_OP_TASK)
			pumice_isa_set(&pumice_pds_isa, PUMICE_PDS_LAYOUT_TASK,
				       PUMICE_PDS_FIELD_INSNS, to, insns);
	}
	return to;
}

/* Copy the source lines of the rest. */
static uint32_t *put_lines(uint32_t *to, const struct parts *p, const uint8_t *keep)
{
	const uint32_t *from = p->lines;

	if (!p->header.lines)
		return to;
	to = put(to, from, PUMICE_PROGRAM_LINES_WORDS);
	from += PUMICE_PROGRAM_LINES_WORDS;
	for (uint32_t i = 0; i < p->header.usc_insns; i++)
		if (keep[i])
			*to++ = from[i];
	from += p->header.usc_insns;
	return put(to, from, (size_t)(p->end - from));
}

static int write_file(const struct parts *p, const uint8_t *keep, uint32_t outputs, uint8_t **out,
		      size_t *out_bytes)
{
	struct pumice_program_header header = p->header;
	uint32_t *words = malloc(header.file_bytes), *at;

	if (!words)
		return -ENOMEM;
	header.usc_insns = 0;
	for (uint32_t i = 0; i < p->header.usc_insns; i++)
		header.usc_insns += keep[i];
	at = put_code(words + HEADER_WORDS, p, keep);
	at = put_pds(at, p, header.usc_insns);
	at = put(at, p->relocs, header.relocs);
	at = put_lines(at, p, keep);
	pumice_program_set_vo(&header, outputs);
	header.file_bytes = (uint32_t)((size_t)(at - words) * sizeof(*words));
	header.crc32 = (uint32_t)crc32(0, (const uint8_t *)(words + HEADER_WORDS),
				       header.file_bytes - HEADER_WORDS * 4);
	pumice_program_header_pack(words, &header);
	*out = (uint8_t *)words;
	*out_bytes = header.file_bytes;
	return 0;
}

static int check_program(const struct pumice_program_header *h, uint32_t outputs, char *error,
			 size_t error_bytes)
{
	if (h->stage != PUMICE_PROGRAM_STAGE_VERTEX) {
		snprintf(error, error_bytes, "a %s program has no position: only a vertex program has a coordinate program",
			 pumice_program_stage_str(h->stage));
		return -EINVAL;
	}
	if (outputs && outputs <= pumice_program_vo(h))
		return 0;
	snprintf(error, error_bytes, "a coordinate program of %u outputs: the vertex program has %u",
		 outputs, pumice_program_vo(h));
	return -EINVAL;
}

int slice_file(const void *file, size_t bytes, uint32_t outputs, uint8_t **out, size_t *out_bytes,
	       char *error, size_t error_bytes)
{
	struct pumice_program *program;
	struct parts parts;
	uint32_t *words;
	uint8_t *keep;
	int err = pumice_program_parse(file, bytes, &program, error, error_bytes);

	if (err)
		return err;
	pumice_program_destroy(program);
	words = malloc(bytes);
	if (!words)
		return -ENOMEM;
	memcpy(words, file, bytes);
	find_parts(words, &parts);
	keep = calloc(parts.header.usc_insns, 1);
	err = keep ? check_program(&parts.header, outputs, error, error_bytes) : -ENOMEM;
	if (!err)
		err = slice_program(parts.usc, parts.header.usc_insns, outputs, keep, error,
				    error_bytes);
	if (!err)
		err = write_file(&parts, keep, outputs, out, out_bytes);
	free(keep);
	free(words);
	return err;
}
