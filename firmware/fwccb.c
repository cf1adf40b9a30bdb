// SPDX-License-Identifier: MIT
/*
 * Firmware CCBs, and the host's interrupts, one for each virtual GPU.
 *
 * The firmware never waits for the host: a message that does not fit is counted
 * and dropped. All that the host needs to end a job is in the job's result.
 */
#include "bus.h"
#include "csr.h"
#include "fwccb.h"
#include "log.h"
#include "os.h"
#include "window.h"

static struct {
	struct fw_ring ring;
	u32 write;
	bool silent;
} fwccb_of[PUMICE_OS_COUNT];
static volatile u32 irqs_wanted;	/* bit n: virtual GPU n */

void fwccb_init(const struct fw_ring *ring)
{
	fwccb_of[os_number].ring = ring ? *ring : (struct fw_ring){ 0 };
	fwccb_of[os_number].write = 0;
}

void fwccb_silence(void)
{
	fwccb_of[os_number].silent = true;
}

bool fwccb_send(const struct fwif_fwccb_msg *msg)
{
	const struct fw_ring *fwccb = &fwccb_of[os_number].ring;
	u32 write = fwccb_of[os_number].write, next = (write + 1) & fwccb->mask;

	if (fwccb_of[os_number].silent)
		return true;
	if (!fwccb->ring)
		return false;
	if (next == (fwccb->ring->read & fwccb->mask)) {
		fwccb->ring->dropped++;
		log_event(FWIF_LOG_FWCCB_FULL, msg->type, 0, 0);
		return false;
	}
	window_write(fwccb->entries + write * sizeof(*msg), msg, sizeof(*msg) / 4);
	fence_writes();
	fwccb_of[os_number].write = next;
	fwccb->ring->write = next;
	host_request_irq();
	return true;
}

void host_request_irq(void)
{
	u32 irq = irq_off();

	irqs_wanted |= 1u << os_number;
	irq_restore(irq);
}

void host_notify(void)
{
	u32 wanted, irq;

	if (!irqs_wanted)
		return;
	irq = irq_off();
	wanted = irqs_wanted;
	irqs_wanted = 0;
	irq_restore(irq);
	fence_writes();
	reg_write(PUMICE_IC_HOST_IRQ, PUMICE_FIELD_PREP(PUMICE_IC_HOST_IRQ__OSES, wanted));
}
