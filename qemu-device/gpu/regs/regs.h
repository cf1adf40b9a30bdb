/* SPDX-License-Identifier: MIT */
/*
 * Register file: all accesses to registers, from the host's bus and from the firmware's.
 *
 * Source: hw/registers.xml. The generated table has the properties of a register (offset,
 * width, access, bus, scope, writable bits); one table of bindings (table.c) has its
 * functions.
 *
 * Rules for every register:
 * - An access is 4 or 8 bytes, naturally aligned. 8 bytes are for 64-bit
 *   registers only; 4 bytes of a 64-bit register are one half of it, and a
 *   write to a half does not change the other half.
 * - A register that a bus cannot access, or that does not exist, reads as 0 and ignores
 *   writes; so do the pages of virtual GPUs that are not active.
 * - Bits that are not writable are ignored.
 * - The firmware reads SYS_CLOCK in halves, low first: the low half latches the
 *   high one. The host reads it in one access.
 */
#ifndef PUMICE_GPU_REGS_H
#define PUMICE_GPU_REGS_H

#include "pumice_reg_table.h"

struct pumice_gpu;

u64 regs_read(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os, u32 offset,
	      unsigned int size);
/* One access to one register, passed to its binding. */
struct reg_access {
	const struct pumice_reg_info *info;
	u32 index;		/* element of a register array */
	unsigned int os;	/* page */
	enum pumice_reg_bus bus;	/* HOST or FW */
};

/* Action after a write, when the device lock has been dropped. */
enum reg_after {
	REG_DONE,
	REG_WAIT,	/* wait until every unit has passed the end of a step */
	REG_WAVES,	/* take a snapshot of the waves in flight of the data masters in value */
	REG_RESET,	/* reset the whole GPU */
	REG_MODE,	/* change the mode to the one in value */
	REG_CACHES,	/* perform the operation on caches in value */
	REG_PLACE,	/* perform the description of a buffer in value */
	REG_AGAIN,	/* a piece was done: repeat the write; only for the firmware's bus */
};

/* Returns the action after the write; all except REG_AGAIN are already done. */
enum reg_after regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
			  u32 offset, u64 value, unsigned int size);

/*
 * Functions of a register; called with the device lock held. write receives the whole
 * register's new value, bits that are not writable cleared; for a w1c register the bits to
 * clear.
 */
struct reg_binding {
	u32 offset;
	u64 (*read)(struct pumice_gpu *gpu, const struct reg_access *at);
	enum reg_after (*write)(struct pumice_gpu *gpu, const struct reg_access *at, u64 value);
};

/* One binding for each row of pumice_reg_table, in the same order. */
extern const struct reg_binding reg_bindings[PUMICE_REG_TABLE_SIZE];

#endif
