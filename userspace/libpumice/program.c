// SPDX-License-Identifier: MIT
/*
 * Program files (hw/formats.xml, program_header).
 *
 * A file is copied first; then everything that the loader and
 * the stream builder rely on is validated, and each rejection
 * reports its reason. The GPU validates the instructions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "program.h"
#include "program_header.h"
#include "pumice_isa.h"

#define HEADER_BYTES	(PUMICE_PROGRAM_HEADER_WORDS * 4u)
#define INSN_BYTES	16u
/* Larger files are rejected unread. */
#define MAX_FILE_BYTES	(HEADER_BYTES + PUMICE_PDS_MAX_INSNS * 4u + LINES_MAX_BYTES + \
			 (PUMICE_USC_MAX_INSNS + PUMICE_PDS_MAX_INSNS) * INSN_BYTES)

/* Check the first word, of a file of any size: most other files are text. */
static int check_magic(const void *data, const struct reason *reason)
{
	u32 first;

	memcpy(&first, data, sizeof(first));
	if (first == PUMICE_PROGRAM_HEADER__MAGIC__VALUE)
		return 0;
	return REFUSE(reason, "not a program file: the first word is %#x, not %#x; assemble it with "
		      "pumice-as", first, PUMICE_PROGRAM_HEADER__MAGIC__VALUE);
}

/* Check version, reserved bits and sizes. */
static int check_header(const u32 *words, size_t bytes, struct pumice_program_header *h,
			const struct reason *reason)
{
	enum pumice_unpack unpack = pumice_program_header_unpack(words, h);
	u64 expect = HEADER_BYTES + ((u64)h->usc_insns + h->pds_insns) * INSN_BYTES +
		     (u64)h->relocs * 4;

	if (words[1] != PUMICE_PROGRAM_HEADER__VERSION__VALUE)
		return REFUSE(reason, "version %u is not %u: assemble it again", words[1],
			      PUMICE_PROGRAM_HEADER__VERSION__VALUE);
	if (unpack != PUMICE_UNPACK_OK)
		return REFUSE(reason, "reserved bits of the header are set");
	if (h->file_bytes != bytes)
		return REFUSE(reason, "%zu bytes, but the header says %u: assemble it again", bytes,
			      h->file_bytes);
	if (!h->usc_insns || h->usc_insns > PUMICE_USC_MAX_INSNS)
		return REFUSE(reason, "%u USC instructions are not 1 to %u", h->usc_insns,
			      PUMICE_USC_MAX_INSNS);
	if (!h->pds_insns || h->pds_insns > PUMICE_PDS_MAX_INSNS)
		return REFUSE(reason, "%u PDS instructions are not 1 to %u", h->pds_insns,
			      PUMICE_PDS_MAX_INSNS);
	if (h->lines ? expect > bytes : expect != bytes)
		return REFUSE(reason, "%zu bytes, but the header describes %llu", bytes,
			      (unsigned long long)expect);
	return 0;
}

static int check_resources(const struct pumice_program_header *h, const struct reason *reason)
{
	u64 instances = (u64)h->size_x * h->size_y * h->size_z;

	if (h->rays && h->stage)
		return REFUSE(reason, "a program of rays with stage %u, not 0: assemble it again",
			      (u32)h->stage);
	if (h->shared > PUMICE_USC_MAX_SHARED)
		return REFUSE(reason, "%u shared registers are more than %u", (u32)h->shared,
			      PUMICE_USC_MAX_SHARED);
	if (h->attrs > PUMICE_USC_MAX_ATTRS)
		return REFUSE(reason, "%u attribute registers are more than %u", (u32)h->attrs,
			      PUMICE_USC_MAX_ATTRS);
	if (h->temps > PUMICE_USC_MAX_TEMPS)
		return REFUSE(reason, "%u temporary registers are more than %u", (u32)h->temps,
			      PUMICE_USC_MAX_TEMPS);
	if (h->vo > PUMICE_PROGRAM_VO)
		return REFUSE(reason, "%u vertex output registers are more than %u", (u32)h->vo,
			      PUMICE_PROGRAM_VO);
	if (pumice_program_vo(h) > PUMICE_USC_MAX_VO)
		return REFUSE(reason, "%u vertex output registers are more than %u",
			      pumice_program_vo(h), PUMICE_USC_MAX_VO);
	if (h->outputs > PUMICE_USC_MAX_OUTPUTS)
		return REFUSE(reason, "%u pixel output registers are more than %u", (u32)h->outputs,
			      PUMICE_USC_MAX_OUTPUTS);
	if (!instances || instances > PUMICE_GROUP_INSTANCES)
		return REFUSE(reason, "work-group of %llu instances is not 1 to %u",
			      (unsigned long long)instances, PUMICE_GROUP_INSTANCES);
	if (h->uniform_words > PUMICE_MAX_UNIFORM_WORDS)
		return REFUSE(reason, "%u uniform words are more than %u", h->uniform_words,
			      PUMICE_MAX_UNIFORM_WORDS);
	return 0;
}

/* Get the PDS opcode whose address field a relocation patches. */
static u32 reloc_opcode(enum pumice_pds_reloc kind)
{
	return kind == PUMICE_PDS_RELOC_CODE ? PUMICE_PDS_OP_TASK : PUMICE_PDS_OP_DMA;
}

static int check_reloc(const struct pumice_program *p, u32 index, u32 word,
		       const struct reason *reason)
{
	struct pumice_program_reloc *r = &p->relocs[index];
	struct pumice_pds_insn insn;

	if (pumice_program_reloc_unpack(&word, r) != PUMICE_UNPACK_OK)
		return REFUSE(reason, "relocation %u: unknown kind or reserved bits", index);
	if (r->insn >= p->header.pds_insns)
		return REFUSE(reason, "relocation %u: instruction %u is not below %u", index,
			      (u32)r->insn, p->header.pds_insns);
	if (r->kind == PUMICE_PDS_RELOC_UNIFORMS && !p->header.uniform_words)
		return REFUSE(reason, "relocation %u: the program has no uniform block", index);
	/* Only a legal instruction is unchanged after program_link() has repacked it. */
	if (pumice_pds_unpack(p->pds + r->insn * PUMICE_PDS_WORDS, &insn) ||
	    insn.opcode != reloc_opcode(r->kind))
		return REFUSE(reason, "relocation %u: instruction %u has no such address", index,
			      (u32)r->insn);
	return 0;
}

/* Copy and check the data after the header. */
static int parse_parts(struct pumice_program *p, const u32 *words, const struct reason *reason)
{
	const u32 *reloc_words;
	size_t at;
	u32 i;
	int err;

	p->words = malloc(p->header.file_bytes - HEADER_BYTES);
	p->relocs = calloc(p->header.relocs + 1, sizeof(*p->relocs));
	if (!p->words || !p->relocs)
		return fail_text(reason->text, reason->bytes, ENOMEM, "program: out of memory");
	memcpy(p->words, words + PUMICE_PROGRAM_HEADER_WORDS,
	       p->header.file_bytes - HEADER_BYTES);
	p->usc = p->words;
	p->pds = p->usc + (size_t)p->header.usc_insns * PUMICE_USC_WORDS;
	reloc_words = p->pds + (size_t)p->header.pds_insns * PUMICE_PDS_WORDS;
	for (i = 0; i < p->header.relocs; i++) {
		err = check_reloc(p, i, reloc_words[i], reason);
		if (err)
			return err;
	}
	if (!p->header.lines)
		return 0;
	at = (size_t)(reloc_words - p->words) + p->header.relocs;
	return lines_parse(&p->lines, p->words + at,
			   (p->header.file_bytes - HEADER_BYTES) / 4 - at,
			   p->header.usc_insns + p->header.pds_insns, reason);
}

static int parse(const u32 *words, size_t bytes, struct pumice_program *p,
		 const struct reason *reason)
{
	int err = check_header(words, bytes, &p->header, reason);
	u32 crc;

	if (err)
		return err;
	crc = (u32)crc32(0, (const Bytef *)(words + PUMICE_PROGRAM_HEADER_WORDS),
		   (uInt)(bytes - HEADER_BYTES));
	if (crc != p->header.crc32)
		return REFUSE(reason, "damaged: checksum %08x instead of %08x: assemble it again",
			      crc, p->header.crc32);
	err = check_resources(&p->header, reason);
	return err ? err : parse_parts(p, words, reason);
}

int pumice_program_parse(const void *data, size_t bytes, struct pumice_program **program,
			 char *error, size_t error_bytes)
{
	const struct reason reason = { error, error_bytes };
	struct pumice_program *p;
	u32 *words;
	int err;

	if (!data)
		return REFUSE(&reason, "data is NULL; set it");
	err = bytes < sizeof(u32) ? 0 : check_magic(data, &reason);
	if (err)
		return err;
	if (!bytes)
		return REFUSE(&reason, "the file is empty; assemble it with pumice-as");
	if (bytes < HEADER_BYTES || bytes > MAX_FILE_BYTES || bytes % 4)
		return REFUSE(&reason, "%zu bytes are not a multiple of 4 from %u to %u: assemble it "
			      "again", bytes, HEADER_BYTES, MAX_FILE_BYTES);
	words = malloc(bytes);
	p = calloc(1, sizeof(*p));
	if (!words || !p) {
		free(words);
		free(p);
		return fail_text(error, error_bytes, ENOMEM, "program: out of memory");
	}
	memcpy(words, data, bytes);
	err = parse(words, bytes, p, &reason);
	free(words);
	if (err)
		pumice_program_destroy(p);
	else
		*program = p;
	return err;
}

/* Read a file of at most MAX_FILE_BYTES; one more byte detects larger files. */
static int read_file(const char *path, void **data, size_t *bytes, const struct reason *reason)
{
	FILE *f = fopen(path, "rb");
	int err = 0;

	if (!f)
		return fail_text(reason->text, reason->bytes, errno, "program %.100s: %s", path,
				 strerror(errno));
	*data = malloc(MAX_FILE_BYTES + 1);
	if (!*data) {
		err = fail_text(reason->text, reason->bytes, ENOMEM, "program: out of memory");
	} else {
		*bytes = fread(*data, 1, MAX_FILE_BYTES + 1, f);
		if (ferror(f))
			err = fail_text(reason->text, reason->bytes, EIO,
					"program %.100s: cannot be read", path);
	}
	fclose(f);
	return err;
}

int pumice_program_load(const char *path, struct pumice_program **program, char *error,
			size_t error_bytes)
{
	const struct reason reason = { error, error_bytes };
	void *data = NULL;
	size_t bytes = 0;
	int err;

	if (!path)
		return REFUSE(&reason, "path is NULL; set it");
	err = read_file(path, &data, &bytes, &reason);
	if (!err)
		err = pumice_program_parse(data, bytes, program, error, error_bytes);
	free(data);
	return err;
}

void pumice_program_destroy(struct pumice_program *p)
{
	if (!p)
		return;
	free(p->lines.names);
	free(p->relocs);
	free(p->words);
	free(p);
}

void pumice_program_info(const struct pumice_program *p, struct pumice_program_info *info)
{
	const struct pumice_program_header *h = &p->header;

	*info = (struct pumice_program_info){
		.usc_insns = h->usc_insns,
		.pds_insns = h->pds_insns,
		.relocs = h->relocs,
		.shared = h->shared,
		.attrs = h->attrs,
		.temps = h->temps,
		.local_bytes = h->local_bytes,
		.size = { h->size_x, h->size_y, h->size_z },
		.uniform_words = h->uniform_words,
		.usc = p->usc,
		.pds = p->pds,
	};
}

uint32_t pumice_program_coeffs(const struct pumice_program *p)
{
	return p->header.coeffs;
}

void program_link(const struct pumice_program *p, u64 code, u64 uniforms, u32 *to)
{
	struct pumice_pds_insn insn;
	u32 i, *at;

	memcpy(to, p->pds, (size_t)p->header.pds_insns * INSN_BYTES);
	for (i = 0; i < p->header.relocs; i++) {
		at = to + p->relocs[i].insn * PUMICE_PDS_WORDS;
		pumice_pds_unpack(at, &insn);
		insn.addr += p->relocs[i].kind == PUMICE_PDS_RELOC_CODE ? code : uniforms;
		pumice_pds_pack(at, &insn);
	}
}
