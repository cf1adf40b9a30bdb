// SPDX-License-Identifier: MIT
/* Program files written by tests: see progfile.h. The checksum is zlib's. */
#include "progfile.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void progfile_init(struct progfile *p)
{
	memset(p, 0, sizeof(*p));
	p->header.temps = 4;
	p->header.size_x = 1;
	p->header.size_y = 1;
	p->header.size_z = 1;
}

void progfile_usc(struct progfile *p, const struct pumice_usc_insn *insn)
{
	pumice_usc_pack(p->usc + p->usc_insns++ * PUMICE_USC_WORDS, insn);
}

void progfile_pds(struct progfile *p, const struct pumice_pds_insn *insn)
{
	pumice_pds_pack(p->pds + p->pds_insns++ * PUMICE_PDS_WORDS, insn);
}

void progfile_reloc(struct progfile *p, u32 insn, enum pumice_pds_reloc kind)
{
	p->reloc[p->relocs++] = (struct pumice_program_reloc){ .insn = (u16)insn, .kind = kind };
}

void progfile_start(struct progfile *p)
{
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .insns = p->usc_insns,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };

	progfile_reloc(p, p->pds_insns, PUMICE_PDS_RELOC_CODE);
	progfile_pds(p, &task);
	progfile_pds(p, &end);
}

void progfile_seal(u32 *words, size_t bytes)
{
	size_t skip = PUMICE_PROGRAM_HEADER_WORDS * 4;

	words[3] = (u32)crc32(0, (const Bytef *)words + skip, (uInt)(bytes - skip));
}

size_t progfile_write(struct progfile *p, u32 *words, size_t max)
{
	size_t usc = p->usc_insns * 16, pds = p->pds_insns * 16;
	size_t bytes = PUMICE_PROGRAM_HEADER_WORDS * 4 + usc + pds + p->relocs * 4;
	u32 *at = words + PUMICE_PROGRAM_HEADER_WORDS, i;

	if (bytes > max)
		abort();
	p->header.usc_insns = p->usc_insns;
	p->header.pds_insns = p->pds_insns;
	p->header.relocs = p->relocs;
	p->header.file_bytes = (u32)bytes;
	pumice_program_header_pack(words, &p->header);
	memcpy(at, p->usc, usc);
	memcpy(at + usc / 4, p->pds, pds);
	for (i = 0; i < p->relocs; i++)
		pumice_program_reloc_pack(at + (usc + pds) / 4 + i, &p->reloc[i]);
	progfile_seal(words, bytes);
	return bytes;
}
