/* SPDX-License-Identifier: MIT */
/*
 * Registers of an operand: for late data (late.c) and uninitialised registers (unset.c).
 */
#ifndef PUMICE_GPU_USC_ROWS_H
#define PUMICE_GPU_USC_ROWS_H

#include "exec.h"

#define USC_ROW_BYTES (USC_ROW_WORDS * 4u)

/* The base of pixel outputs, whose words are in the tile: that of their operands. */
#define USC_BASE_OUTPUTS USC_BASE_SCRATCH

/* A register: a row from one of three bases. */
struct usc_row {
	enum usc_base base;	/* USC_BASE_REG, USC_BASE_OWN or USC_BASE_OUTPUTS */
	u32 offset;		/* bytes */
};

/* Visit a register of which some lanes are used; false ends the visit. */
typedef bool usc_row_fn(struct exec *x, const struct usc_insn *i, struct usc_row p, u32 lanes);

/*
 * Visit the registers of an operand, where it has any; returns false if fn did. Where an index
 * selects them, each with the lanes that select it.
 */
bool usc_each_register(struct exec *x, const struct usc_insn *i, enum usc_place place, u32 lanes,
		       usc_row_fn *fn);
/* Return a register's bank, enum pumice_usc_bank, and its number in it. */
void usc_row_register(const struct exec *x, struct usc_row p, u32 *bank, u32 *number);

#endif
