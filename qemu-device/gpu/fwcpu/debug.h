/* SPDX-License-Identifier: MIT */
/*
 * Firmware processor: functions of a debugger, besides those of fwcpu.h.
 *
 * A breakpoint costs nothing where there is none: when an instruction is decoded at an
 * address that has one, its record becomes an operation that ends fwcpu_run() with
 * FWCPU_STOP_BREAK. RAM is not changed.
 *
 * All functions: on the thread of fwcpu_run(), between two calls of it.
 *
 * Limits: FWCPU_BREAKPOINTS breakpoints, no watchpoints. A breakpoint at the second half of an
 * instruction is never reached.
 */
#ifndef PUMICE_FWCPU_DEBUG_H
#define PUMICE_FWCPU_DEBUG_H

#include "fwcpu.h"

/**
 * fwcpu_add_breakpoint - stop before the instruction at @addr.
 *
 * Return: 0, also when there is one already; -EINVAL for an address that is odd or outside
 * RAM; -ENOSPC.
 */
int fwcpu_add_breakpoint(struct fwcpu *cpu, uint32_t addr);

/** fwcpu_remove_breakpoint - Return: 0, or -ENOENT when there is none at @addr. */
int fwcpu_remove_breakpoint(struct fwcpu *cpu, uint32_t addr);

/** fwcpu_remove_breakpoints - remove all. */
void fwcpu_remove_breakpoints(struct fwcpu *cpu);

/** fwcpu_has_breakpoint - return whether there is one at @addr. */
bool fwcpu_has_breakpoint(const struct fwcpu *cpu, uint32_t addr);

/**
 * fwcpu_step - execute one instruction, whether it has a breakpoint or not.
 * @now: as for fwcpu_run()
 *
 * No interrupt is taken: time continues while a debugger reads, so that otherwise nearly each
 * step would end in the handler of the timer's interrupt. WFI completes at once, which the
 * privileged ISA allows (3.3.3), and a processor that sleeps in it continues. A store that is
 * to be executed again leaves fwcpu.retry set and pc where it is. Nothing happens to a
 * processor that is stopped or locked up.
 */
void fwcpu_step(struct fwcpu *cpu, uint64_t now);

/** fwcpu_set_pc - continue at @pc (bit 0 ignored); ends the sleep in WFI. */
void fwcpu_set_pc(struct fwcpu *cpu, uint32_t pc);

/** fwcpu_csr_peek - read a CSR. Return: false for one that does not exist. */
bool fwcpu_csr_peek(const struct fwcpu *cpu, uint32_t number, uint32_t *val);

/**
 * fwcpu_csr_poke - write a CSR, with the effect of a CSR instruction.
 *
 * Return: false for one that does not exist or is read-only, and for counters.
 */
bool fwcpu_csr_poke(struct fwcpu *cpu, uint32_t number, uint32_t val);

#endif
