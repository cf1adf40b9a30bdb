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
#include "connect.h"
#include "context.h"
#include "csr.h"
#include "fwccb.h"
#include "irq.h"
#include "kccb.h"
#include "limits.h"
#include "log.h"
#include "os.h"
#include "sched.h"
#include "strict.h"

/* Return whether a virtual GPU has commands that can be processed. Interrupts off. */
static bool any_commands(void)
{
	u32 os;

	for (os = 0; os < os_count(); os++) {
		if (!os_connected(os))
			continue;
		os_select(os);
		if (kccb_has_background_work())
			return true;
	}
	return false;
}

/* Sleep unless there is work; an event after the check ends the sleep at once. */
static void sleep_until_work(void)
{
	irq_off();
	if (!any_commands() && !sched_has_background_work() && !connect_has_background_work())
		wait_for_interrupt();
	strict_refresh();
	irq_on();
}

/* Process a command of a virtual GPU. */
static void serve(u32 os)
{
	u32 irq = irq_off();

	os_select(os);
	fw_boot->heartbeat++;
	irq_restore(irq);
	kccb_process_command();
}

static _Noreturn void background_loop(void)
{
	u32 os;

	for (;;) {
		for (os = 0; os < os_count(); os++)
			if (os_connected(os))
				serve(os);
		connect_process();
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
	os_init(boot_device_minor());
	strict_init(boot_device_minor());
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
