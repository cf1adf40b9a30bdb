// SPDX-License-Identifier: MIT
/*
 * Log rings, one for each virtual GPU.
 *
 * The oldest entries are overwritten; the host recognises a complete entry by its
 * sequence number, which is cleared before and written after the other fields.
 * Entries contain numbers only; the texts are defined in fwif.h, for the host.
 */
#include "bus.h"
#include "csr.h"
#include "log.h"
#include "os.h"
#include "window.h"

static struct {
	struct fw_ring ring;
	u32 written;
} log_of[PUMICE_OS_COUNT];

/* The level of each event. */
#define EVENT_LEVEL(name, level, format) FWIF_LOG_##level,
static const u8 event_level[FWIF_LOG_EVENT_COUNT] = { FWIF_LOG_EVENTS(EVENT_LEVEL) };

void log_init(const struct fw_ring *ring)
{
	log_of[os_number].ring = ring ? *ring : (struct fw_ring){ 0 };
	log_of[os_number].written = 0;
}

static void write_entry(u32 event, u32 arg0, u32 arg1, u32 arg2)
{
	const struct fw_ring *log = &log_of[os_number].ring;
	volatile struct fwif_log_entry *entries = window_ptr(log->entries);
	volatile struct fwif_log_entry *entry = &entries[log_of[os_number].written & log->mask];
	u32 written;

	entry->sequence = 0;
	fence_writes();
	entry->time = clock_now();
	entry->event = event;
	entry->args[0] = arg0;
	entry->args[1] = arg1;
	entry->args[2] = arg2;
	written = ++log_of[os_number].written;
	fence_writes();
	entry->sequence = written;
	log->ring->write = written;
}

/* The event trace is a ring of the GPU's, so that its records are in the order of all units. */
static void write_trace(u32 event, u32 arg0, u32 arg1, u32 arg2)
{
	reg_write(PUMICE_TRACE_FW_ARG(0), arg0);
	reg_write(PUMICE_TRACE_FW_ARG(1), arg1);
	reg_write(PUMICE_TRACE_FW_ARG(2), arg2);
	reg_write(PUMICE_TRACE_FW_EVENT, PUMICE_FIELD_PREP(PUMICE_TRACE_FW_EVENT__EVENT, event));
}

void log_event(enum fwif_log_event event, u32 arg0, u32 arg1, u32 arg2)
{
	u32 irq;
	bool trace;

	if (!log_of[os_number].ring.ring)
		return;
	trace = os_config()->trace;
	if (!trace && event_level[event] > fw_boot->log_level)
		return;
	irq = irq_off();
	if (trace)
		write_trace(event, arg0, arg1, arg2);
	if (event_level[event] <= fw_boot->log_level)
		write_entry(event, arg0, arg1, arg2);
	irq_restore(irq);
}
