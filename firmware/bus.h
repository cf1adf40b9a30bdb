/* SPDX-License-Identifier: MIT */
/*
 * Registers on the firmware bus. The bus is 32 bit wide: a 64-bit register is
 * two accesses.
 */
#ifndef FW_BUS_H
#define FW_BUS_H

#include "pumice_regs.h"
#include "pumice_types.h"

static inline u32 reg_read(u32 offset)
{
	return *(const volatile u32 *)(PUMICE_FW_BUS_BASE + offset);
}

static inline void reg_write(u32 offset, u32 value)
{
	*(volatile u32 *)(PUMICE_FW_BUS_BASE + offset) = value;
}

/** reg_read64 - read a register that does not change between the two accesses. */
static inline u64 reg_read64(u32 offset)
{
	return (u64)reg_read(offset + 4) << 32 | reg_read(offset);
}

static inline void reg_write64(u32 offset, u64 value)
{
	reg_write(offset + 4, (u32)(value >> 32));
	reg_write(offset, (u32)value);
}

/** reg_read64_moving - read a counting register: repeat if the high half changed meanwhile. */
static inline u64 reg_read64_moving(u32 offset)
{
	u32 high, low;

	do {
		high = reg_read(offset + 4);
		low = reg_read(offset);
	} while (reg_read(offset + 4) != high);
	return (u64)high << 32 | low;
}

/** clock_now - read the GPU clock, ticks. */
static inline u64 clock_now(void)
{
	return reg_read64_moving(PUMICE_SYS_CLOCK);
}

#endif
