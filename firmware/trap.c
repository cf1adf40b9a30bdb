// SPDX-License-Identifier: MIT
/*
 * Traps.
 *
 * An access through the window that fails makes its function return false; an
 * external interrupt runs the interrupt tasks, a timer interrupt ends a time
 * slice; any other trap is an error of the firmware itself: it is reported to the
 * host, and the firmware stops.
 */
#include "boot.h"
#include "csr.h"
#include "irq.h"
#include "log.h"
#include "sched.h"
#include "trap.h"
#include "window.h"

static bool in_window_code(u32 pc)
{
	return pc >= (u32)window_code_start && pc < (u32)window_code_end;
}

u32 trap_handle(u32 cause, u32 pc, u32 value)
{
	if (cause == MCAUSE_EXTERNAL) {
		irq_handle();
		return pc;
	}
	if (cause == MCAUSE_TIMER) {
		sched_review();
		return pc;
	}
	if (in_window_code(pc))
		return (u32)window_failed;
	log_event(FWIF_LOG_TRAP, cause, pc, value);
	boot_stop(FWIF_STATE_FATAL, FWIF_ERROR_TRAP, cause, pc);
}
