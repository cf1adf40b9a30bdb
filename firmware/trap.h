/* SPDX-License-Identifier: MIT */
/* Traps: failed window accesses, interrupts, and fatal errors. */
#ifndef FW_TRAP_H
#define FW_TRAP_H

#include "pumice_types.h"

/**
 * trap_handle - called by trap_entry.S with interrupts off.
 * @cause: mcause
 * @pc: mepc
 * @value: mtval
 *
 * Return: address to continue at.
 */
u32 trap_handle(u32 cause, u32 pc, u32 value);

#endif
