// SPDX-License-Identifier: MIT
/*
 * Registers of an operand, for observers of single instructions. See rows.h.
 *
 * Source: hw/isa.xml; document 003, "Types of Registers".
 *
 * Limits: slow; the functions that execute instructions (vec/) do not use it.
 */
#include "rows.h"

static bool is_row(u32 base)
{
	return base == USC_BASE_REG || base == USC_BASE_OWN;
}

/* Visit the samples of a pixel output, each in the lanes whose pixels have it live. */
static bool each_sample(struct exec *x, const struct usc_insn *i, u32 number, u32 lanes,
			usc_row_fn *fn)
{
	struct usc_row p = { USC_BASE_OUTPUTS, number * PUMICE_MAX_SAMPLES * USC_ROW_BYTES };

	for (u32 s = 0; s < x->gfx->tile->samples; s++, p.offset += USC_ROW_BYTES) {
		if (!fn(x, i, p, exec_output_lanes(x, s, lanes)))
			return false;
	}
	return true;
}

/* Visit the pixel outputs that the lanes' indices select. */
static bool each_indexed_output(struct exec *x, const struct usc_insn *i,
				const struct usc_lookup *l, u32 lanes, usc_row_fn *fn)
{
	const u32 *index = (const u32 *)(const void *)(x->base[USC_BASE_OWN] + l->index);

	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		if (index[lane] <= l->last &&
		    !each_sample(x, i, l->offset + (index[lane] << l->dim), 1u << lane, fn))
			return false;
	}
	return true;
}

/* Visit the registers that the lanes' indices, or that of lane 0, select. */
static bool each_indexed(struct exec *x, const struct usc_insn *i, enum usc_place place, u32 lanes,
			 usc_row_fn *fn)
{
	const struct usc_lookup *l = exec_lookup(x, i, place);
	const u32 *index = (const u32 *)(const void *)(x->base[USC_BASE_OWN] + l->index);

	if (l->base != USC_BASE_REG)
		return true;
	if (l->kind == USC_LOOKUP_WORD)
		lanes = 1;
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);
		struct usc_row p = { USC_BASE_REG, l->offset };

		if (index[lane] > l->last)
			continue;	/* a fault when it is executed */
		p.offset += index[lane] << (l->shift + l->dim);
		for (u32 n = 0; n < l->count; n++, p.offset += USC_ROW_BYTES) {
			if (!fn(x, i, p, 1u << lane))
				return false;
		}
	}
	return true;
}

bool usc_each_register(struct exec *x, const struct usc_insn *i, enum usc_place place, u32 lanes,
		       usc_row_fn *fn)
{
	struct usc_row p = { i->base[place], i->offset[place] };

	if (i->lookups >> place & 1) {
		const struct usc_lookup *l = exec_lookup(x, i, place);

		if (l->kind == USC_LOOKUP_ROWS || l->kind == USC_LOOKUP_WORD)
			return each_indexed(x, i, place, lanes, fn);
		if (l->kind == USC_LOOKUP_OUTPUT)
			return each_sample(x, i, l->offset, lanes, fn);
		if (l->kind == USC_LOOKUP_OUTPUTS)
			return each_indexed_output(x, i, l, lanes, fn);
		if (l->kind != USC_LOOKUP_SCALED)
			return true;
		p = (struct usc_row){ l->base, l->offset };
	}
	for (u32 n = 0; is_row(p.base) && n < i->registers[place]; n++) {
		if (!fn(x, i, p, lanes))
			return false;
		p.offset += USC_ROW_BYTES;
	}
	return true;
}

void usc_row_register(const struct exec *x, struct usc_row p, u32 *bank, u32 *number)
{
	const u32 row = p.offset / USC_ROW_BYTES, temps = x->program->limits.temps;

	*bank = PUMICE_USC_BANK_R;
	*number = row;
	if (p.base == USC_BASE_OUTPUTS) {
		*bank = PUMICE_USC_BANK_O;
		*number = row / PUMICE_MAX_SAMPLES;
	} else if (p.base == USC_BASE_OWN) {
		*bank = row < USC_OWN_INDEX ? PUMICE_USC_BANK_I : PUMICE_USC_BANK_IDX;
		*number = row < USC_OWN_INDEX ? row : row - USC_OWN_INDEX;
	} else if (row >= temps) {
		*bank = PUMICE_USC_BANK_V;
		*number = row - temps;
	}
}
