// SPDX-License-Identifier: MIT
/*
 * Programs that a data master executes itself, without a task. See direct.h.
 */
#include "direct.h"

#include "pumice_formats.h"

static bool ends(const struct usc_insn *i)
{
	return i->op == PUMICE_USC_OP_END;
}

/*
 * Return whether an operand of some words begins in the shared registers that the program uses,
 * and ends there: coefficients follow those of its allocation.
 */
static bool is_shared(const struct usc_program *p, const struct usc_insn *i, enum usc_place place,
		      u32 words)
{
	return i->base[place] == USC_BASE_SHARED &&
	       i->offset[place] / sizeof(u32) + words <= p->needs.shared;
}

/* Return whether an operand is a word that all instances of all tasks of a tile have. */
static bool is_constant(const struct usc_program *p, const struct usc_insn *i,
			enum usc_place place)
{
	return (i->scalars >> place & 1) &&
	       (is_shared(p, i, place, 1) || i->base[place] == USC_BASE_POOL);
}

/* Return whether an instruction writes a constant to a pixel output, in all lanes. */
static bool writes_constant(const struct usc_program *p, const struct usc_insn *i)
{
	const bool all = !i->masked || (i->lanes_known && i->lanes == UINT32_MAX);

	return i->op == PUMICE_USC_OP_MOV && i->form != PUMICE_USC_FORM_SCALAR && all &&
	       !i->values && i->lookups == 1u << USC_DST && i->outputs == 1u << USC_DST &&
	       is_constant(p, i, USC_SRC0);
}

static bool stores(const struct usc_program *p, const struct usc_insn *i)
{
	return i->op == PUMICE_USC_OP_PBE && !i->values && !i->lookups &&
	       is_shared(p, i, USC_SRC0, PUMICE_PBE_STATE_WORDS);
}

enum usc_direct usc_direct_of(const struct usc_program *program)
{
	const bool writes = program->insns && writes_constant(program, program->insn);
	bool (*const fits)(const struct usc_program *p, const struct usc_insn *i) =
		writes ? writes_constant : stores;
	const u32 most = writes ? USC_DIRECT_INSNS : USC_DIRECT_MAX_STORES;
	u32 n;

	for (n = 0; n < program->insns && fits(program, &program->insn[n]); n++)
		;
	if (!n || n == program->insns || n > most || !ends(&program->insn[n]))
		return USC_DIRECT_NONE;
	return writes ? USC_DIRECT_CONSTANTS : USC_DIRECT_STORES;
}

u32 usc_direct_issued(const struct usc_program *program)
{
	u32 n = 0;

	while (!ends(&program->insn[n]))
		n++;
	return n + 1;
}

void usc_direct_write(const struct usc_program *program, const u32 *shared, u32 *output)
{
	const struct usc_insn *i;

	for (i = program->insn; !ends(i); i++) {
		const u32 *from = i->base[USC_SRC0] == USC_BASE_SHARED ? shared : program->pool;

		output[program->lookup[i->mask + USC_DST].offset] =
			from[i->offset[USC_SRC0] / sizeof(u32)];
	}
}

const u32 *usc_direct_store(const struct usc_program *program, const u32 *shared, u32 number)
{
	const struct usc_insn *i = &program->insn[number];

	return ends(i) ? NULL : shared + i->offset[USC_SRC0] / sizeof(u32);
}
