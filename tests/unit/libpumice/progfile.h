/* SPDX-License-Identifier: MIT */
/*
 * Program files written without the assembler or the library, for tests of programs that
 * an assembler would not produce.
 */
#ifndef PROGFILE_H
#define PROGFILE_H

#include <stddef.h>

#include "pumice_formats.h"
#include "pumice_isa.h"

#define PROGFILE_MAX_INSNS	64u

struct progfile {
	/* Counts, sizes and checksum are filled in by progfile_write(). */
	struct pumice_program_header header;
	struct pumice_program_reloc reloc[8];
	u32 usc[PROGFILE_MAX_INSNS * PUMICE_USC_WORDS];
	u32 pds[PROGFILE_MAX_INSNS * PUMICE_PDS_WORDS];
	u32 usc_insns, pds_insns, relocs;
};

/* Begin a program of one instance whose PDS program only starts it; add USC instructions. */
void progfile_init(struct progfile *p);
void progfile_usc(struct progfile *p, const struct pumice_usc_insn *insn);
void progfile_pds(struct progfile *p, const struct pumice_pds_insn *insn);
void progfile_reloc(struct progfile *p, u32 insn, enum pumice_pds_reloc kind);
/* Add the PDS program's end: task and end, with the relocation of the code's address. */
void progfile_start(struct progfile *p);
/* Write the file's bytes; at @words, which has room for @max. Return its size. */
size_t progfile_write(struct progfile *p, u32 *words, size_t max);
/* Correct the checksum of a changed file. */
void progfile_seal(u32 *words, size_t bytes);

#endif
