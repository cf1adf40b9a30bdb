// SPDX-License-Identifier: MIT
/* pumice-dump: instructions around the places of waves. */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"
#include "pumice_decode.h"

#define INSN_BYTES	(PUMICE_USC_WORDS * sizeof(u32))
#define SHOWN		6u	/* instructions before and after the marked one */

static bool read_insn(const struct dump *dump, u64 code, u32 pc, u32 *dw)
{
	return dump_memory(dump, code + (u64)pc * INSN_BYTES, dw, INSN_BYTES) == INSN_BYTES;
}

bool dump_insn_text(const struct dump *dump, u64 code, u32 pc, char *text)
{
	u32 dw[PUMICE_USC_WORDS];

	if (!read_insn(dump, code, pc, dw))
		return false;
	pumice_isa_text(&pumice_usc_isa, dw, text);
	return true;
}

/* Words after the end of a program do not belong to it. */
static bool ends(const u32 *dw)
{
	return pumice_isa_check(&pumice_usc_isa, dw) == PUMICE_ISA_UNPACK_OPCODE;
}

void dump_print_code(const struct dump *dump, u64 code, u32 pc)
{
	const u32 first = pc > SHOWN ? pc - SHOWN : 0;
	char text[PUMICE_DECODE_LINE];
	u32 dw[PUMICE_USC_WORDS];

	for (u32 i = first; i - first <= pc - first + SHOWN; i++) {
		if (!read_insn(dump, code, i, dw)) {
			if (i == pc)
				printf("  => %5u  (not captured)\n", i);
			continue;
		}
		if (i > pc && ends(dw))
			break;
		pumice_isa_text(&pumice_usc_isa, dw, text);
		printf("  %s %5u  %s\n", i == pc ? "=>" : "  ", i, text);
	}
}
