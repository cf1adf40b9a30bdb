// SPDX-License-Identifier: MIT
/*
 * Pumice firmware: boot, and the background tasks (document 000, "Firmware
 * Processor"): new host commands, dependency checks, preparation of jobs. The
 * interrupt tasks are in irq.c.
 *
 * No memory is allocated and nothing recurses. State shared by background and
 * interrupt tasks is accessed with interrupts off, for one command or one context
 * at a time.
 */
#include "boot.h"
#include "context.h"
#include "csr.h"
#include "fwccb.h"
#include "irq.h"
#include "kccb.h"
#include "limits.h"
#include "log.h"
#include "sched.h"

/* Sleep unless there is work; an event after the check ends the sleep at once. */
static void sleep_until_work(void)
{
	irq_off();
	if (!kccb_has_background_work() && !sched_has_background_work())
		wait_for_interrupt();
	irq_on();
}

static _Noreturn void background_loop(void)
{
	for (;;) {
		fw_boot->heartbeat++;
		kccb_process_command();
		sched_check_dependencies();
		host_notify();
		sleep_until_work();
	}
}

/* Entered from crt0.S with the fw address of the boot structure. */
_Noreturn void fw_main(u32 boot_low, u32 boot_high);

_Noreturn void fw_main(u32 boot_low, u32 boot_high)
{
	struct fw_rings rings;

	boot_handshake(boot_low, boot_high, &rings);
	log_init(&rings.log);
	fwccb_init(&rings.fwccb);
	kccb_init(&rings);
	context_init();
	limits_init();
	sched_init();
	irq_init();
	log_event(FWIF_LOG_BOOT, FWIF_VERSION_MAJOR, FWIF_VERSION_MINOR, 0);
	boot_ready();
	background_loop();
}
