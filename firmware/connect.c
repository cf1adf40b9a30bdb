// SPDX-License-Identifier: MIT
/*
 * Connections of virtual GPUs other than 0.
 *
 *   OFF -> ON        CONNECT became 1, and the boot structure is valid
 *   OFF -> REFUSED   it is not; CONNECT has to become 0 and 1 again
 *   ON -> ENDING     CONNECT became 0, or 1 again, or memory of the rings is not mapped: all
 *                    contexts are killed
 *   ENDING -> OFF    the last job has ended: everything is released; REFUSED if memory was lost
 */
#include "boot.h"
#include "bus.h"
#include "caches.h"
#include "connect.h"
#include "context.h"
#include "csr.h"
#include "freelist.h"
#include "fwccb.h"
#include "irq.h"
#include "kccb.h"
#include "log.h"
#include "mmu.h"
#include "os.h"
#include "sched.h"
#include "window.h"

static struct connection {
	enum { OFF, ON, ENDING, REFUSED } state;
	u32 connects;	/* of IC_OS_CTRL, for which the state is */
} table[PUMICE_OS_COUNT];

/* Attach all modules to the selected virtual GPU, or detach them: @rings NULL. */
static void attach(const struct fw_rings *rings)
{
	log_init(rings ? &rings->log : NULL);
	fwccb_init(rings ? &rings->fwccb : NULL);
	kccb_init(rings);
}

/* Connect the selected virtual GPU; false if its boot structure is refused. */
static bool connect(void)
{
	struct fw_rings rings;
	u32 addr = reg_read(PUMICE_IC_OS_BOOT_ARG(os_number));

	os_clear_lost(os_number);
	os_clear_rang();
	if (!boot_connect(addr, &rings))
		return false;
	os_set_connected(true);
	attach(&rings);
	context_init();
	log_event(FWIF_LOG_OS_CONNECTED, os_number, FWIF_VERSION_MAJOR, FWIF_VERSION_MINOR);
	boot_ready();
	return true;
}

/* Log the end of a connection for virtual GPU 0. */
static void log_ended(u32 os)
{
	os_select(0);
	log_event(FWIF_LOG_OS_ENDED, os, os_lost(os), 0);
	os_select(os);
}

/* Release everything of the selected virtual GPU, which has neither jobs nor MMU contexts. */
static void release(void)
{
	context_release_all();
	freelist_forget(window_part.first, window_part.bytes);
	/* Its host may free all memory now, also scenes and tables of VMs that are not bound. */
	caches_flush_shared();
	caches_flush_tables();
	attach(NULL);
	boot_end();
	log_ended(os_number);
}

/* Start to end the connection of the selected virtual GPU. */
static void end(void)
{
	os_set_connected(false);
	kccb_abandon();
	context_visit_working(sched_kill);
}

/* Advance the state of the selected virtual GPU. */
static void advance(struct connection *c)
{
	u32 ctrl = reg_read(PUMICE_IC_OS_CTRL(os_number));
	u32 connects = (u32)PUMICE_FIELD_GET(PUMICE_IC_OS_CTRL__CONNECTS, ctrl);
	bool wanted = ctrl & PUMICE_IC_OS_CTRL__CONNECT__MASK, lost = os_lost(os_number);

	os_clear_changed(os_number);
	/* A later event sets the change again, and its cause is read afterwards. */
	irq_listen(os_number);
	if (c->state == ON && (lost || !wanted || connects != c->connects)) {
		c->state = ENDING;
		end();
	}
	if (c->state == ENDING && !context_any_work(os_number)) {
		/* One in each pass: their lines are flushed, and interrupts are off. */
		if (mmu_release_next())
			return;
		release();
		c->state = lost ? REFUSED : OFF;
	}
	if (c->state == REFUSED && (!wanted || connects != c->connects))
		c->state = OFF;
	if (c->state == OFF && wanted) {
		c->connects = connects;
		c->state = connect() ? ON : REFUSED;
	}
	/* Its memory is not used. The device ignores this if another connection was requested. */
	if (c->state == OFF || c->state == REFUSED)
		reg_write(PUMICE_IC_OS_CTRL(os_number), 0);
}

/* Return whether the state of a virtual GPU may change. */
static bool has_work(u32 os)
{
	return os_changed(os) || (os_lost(os) && table[os].state == ON) ||
	       (table[os].state == ENDING && !context_any_work(os));
}

bool connect_has_background_work(void)
{
	u32 os;

	for (os = 1; os < os_count(); os++)
		if (has_work(os))
			return true;
	return false;
}

void connect_process(void)
{
	u32 os, irq;

	for (os = 1; os < os_count(); os++) {
		irq = irq_off();
		if (has_work(os)) {
			os_select(os);
			advance(&table[os]);
		}
		irq_restore(irq);
	}
}
