// SPDX-License-Identifier: MIT
/*
 * Traps.
 *
 * An access through the window that fails makes its function return false; an
 * external interrupt runs the interrupt tasks, a timer interrupt ends a time
 * slice. Any other access to the memory of a virtual GPU other than 0 that fails is
 * skipped, and that virtual GPU is disconnected: os.h. Any other trap is an error of
 * the firmware itself: it is reported to all hosts, and the firmware stops.
 */
#include "boot.h"
#include "csr.h"
#include "irq.h"
#include "log.h"
#include "os.h"
#include "sched.h"
#include "trap.h"
#include "window.h"

static bool in_window_code(u32 pc)
{
	return pc >= (u32)window_code_start && pc < (u32)window_code_end;
}

/* Bytes of an instruction, by the two low bits of its first half. */
static u32 insn_bytes(u32 pc)
{
	return (*(const volatile u16 *)pc & 3) == 3 ? 4 : 2;
}

u32 trap_handle(u32 cause, u32 pc, u32 value)
{
	const u32 os = os_number;

	if (cause == MCAUSE_EXTERNAL) {
		irq_handle();
		os_select(os);
		return pc;
	}
	if (cause == MCAUSE_TIMER) {
		sched_review();
		os_select(os);
		return pc;
	}
	if (in_window_code(pc))
		return (u32)window_failed;
	if ((cause == MCAUSE_LOAD_FAULT || cause == MCAUSE_STORE_FAULT) && os_lose_memory(value))
		return pc + insn_bytes(pc);
	log_event(FWIF_LOG_TRAP, cause, pc, value);
	boot_stop(FWIF_ERROR_TRAP, cause, pc);
}
