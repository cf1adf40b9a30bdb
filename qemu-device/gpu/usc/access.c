// SPDX-License-Identifier: MIT
/*
 * Memory accesses of instructions before they run: sizes, active lanes, offsets.
 *
 * Source: hw/isa.xml. For observers of single instructions: detailed counters (count.c) and
 * data that arrive late (late.c).
 *
 * Limits: slow; the functions that execute accesses (vec/) do not use it.
 */
#include "step.h"

bool usc_access_of(const struct usc_insn *insn, struct usc_access *a)
{
	/* clang-format off */
	switch (insn->op) {
#define ACCESS(name, size)						\
	case PUMICE_USC_OP_LOCAL_LOAD##name:				\
		*a = (struct usc_access){ true, true, false, size };	\
		return true;						\
	case PUMICE_USC_OP_LOCAL_STORE##name:				\
		*a = (struct usc_access){ true, false, true, size };	\
		return true;						\
	case PUMICE_USC_OP_GLOBAL_LOAD##name:				\
		*a = (struct usc_access){ false, true, false, size };	\
		return true;						\
	case PUMICE_USC_OP_GLOBAL_STORE##name:				\
		*a = (struct usc_access){ false, false, true, size };	\
		return true
	ACCESS(8, 1);
	ACCESS(16, 2);
	ACCESS(32, 4);
	ACCESS(64, 8);
	ACCESS(128, 16);
#undef ACCESS
	/* clang-format on */
	case PUMICE_USC_OP_LOCAL_ATOMIC:
		*a = (struct usc_access){ true, true, true, 4 };
		return true;
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
		*a = (struct usc_access){ false, true, true, 4 };
		return true;
	case PUMICE_USC_OP_BURST_LOAD:
		*a = (struct usc_access){ false, true, false, insn->words * 4u };
		return true;
	case PUMICE_USC_OP_BURST_STORE:
		*a = (struct usc_access){ false, false, true, insn->words * 4u };
		return true;
	default:
		return false;
	}
}

u32 usc_active_lanes(const struct exec *x, const struct usc_insn *i)
{
	const struct usc_mask *mask = exec_mask(x, i, USC_MASK_OF_LANES);
	const u32 *a = exec_mask_row(x, mask, 0), *b = exec_mask_row(x, mask, 1);
	u32 lanes = 0;

	for (u32 l = 0; l < PUMICE_LANES; l++)
		lanes |= ((a[l] ^ mask->invert[0]) & (b[l] ^ mask->invert[1]) & 1) << l;
	return lanes & x->valid;
}

/* Return the byte offset of a word address; one beyond 4 GiB becomes the last below. */
static u32 scaled(u32 word)
{
	return word > UINT32_MAX >> 2 ? UINT32_MAX & ~3u : word << 2;
}

/* Return a lane's offset, in its register; 0 if its index is a fault. */
static u32 looked_up(const struct exec *x, const struct usc_lookup *l, u32 lane)
{
	const u32 *index = (const u32 *)(const void *)(x->base[USC_BASE_OWN] + l->index);
	const u8 *reg = x->base[l->base] + l->offset;
	u32 offset;

	if (l->kind != USC_LOOKUP_SCALED) {
		if (index[lane] > l->last)
			return 0;
		reg += (size_t)index[lane] << (l->shift + l->dim);
	}
	offset = ((const u32 *)(const void *)reg)[lane];
	return l->kind == USC_LOOKUP_SCALED || l->scaled ? scaled(offset) : offset;
}

const u32 *usc_access_offsets(const struct exec *x, const struct usc_insn *i, u32 *row)
{
	if (!(i->lookups >> USC_SRC0 & 1))
		return exec_operand(x, i, USC_SRC0);
	for (u32 lane = 0; lane < PUMICE_LANES; lane++)
		row[lane] = looked_up(x, exec_lookup(x, i, USC_SRC0), lane);
	return row;
}
