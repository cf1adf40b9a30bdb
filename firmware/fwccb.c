// SPDX-License-Identifier: MIT
/*
 * Firmware CCB, and the host's interrupt.
 *
 * The firmware never waits for the host: a message that does not fit is counted
 * and dropped. All that the host needs to end a job is in the job's result.
 */
#include "bus.h"
#include "csr.h"
#include "fwccb.h"
#include "log.h"
#include "window.h"

static struct fw_ring fwccb;
static u32 fwccb_write;
static volatile bool irq_wanted;
static bool silent;

void fwccb_init(const struct fw_ring *ring)
{
	fwccb = *ring;
}

void fwccb_silence(void)
{
	silent = true;
}

bool fwccb_send(const struct fwif_fwccb_msg *msg)
{
	u32 next = (fwccb_write + 1) & fwccb.mask;

	if (silent)
		return true;
	if (next == (fwccb.ring->read & fwccb.mask)) {
		fwccb.ring->dropped++;
		log_event(FWIF_LOG_FWCCB_FULL, msg->type, 0, 0);
		return false;
	}
	window_write(fwccb.entries + fwccb_write * sizeof(*msg), msg, sizeof(*msg) / 4);
	fence_writes();
	fwccb_write = next;
	fwccb.ring->write = next;
	host_request_irq();
	return true;
}

void host_request_irq(void)
{
	irq_wanted = true;
}

void host_notify(void)
{
	if (!irq_wanted)
		return;
	irq_wanted = false;
	fence_writes();
	reg_write(PUMICE_IC_HOST_IRQ, PUMICE_FIELD_PREP(PUMICE_IC_HOST_IRQ__OSES, 1));
}
