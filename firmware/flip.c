// SPDX-License-Identifier: MIT
/*
 * Flips of present jobs: document 004, "PTLA".
 *
 * The TDM runs one job at a time, and starts the next one only after the end of the previous one
 * was processed: all flips in its FIFO are of the job that runs or has just ended. The host
 * announces no more presents than its ring has entries (struct fwif_flips), so that none waits
 * or is lost.
 */
#include "bus.h"
#include "csr.h"
#include "dm.h"
#include "flip.h"
#include "fwccb.h"
#include "log.h"
#include "os.h"
#include "window.h"

static void write_flip(struct context *c)
{
	const struct fwif_flip flip = {
		.job = c->seqno,
		.frame = reg_read(PUMICE_TDM_FLIP_FRAME),
		.addr = reg_read64(PUMICE_TDM_FLIP_ADDR),
		.time = reg_read64(PUMICE_TDM_FLIP_TIME),
	};
	const u32 entry = c->flips_write & (FWIF_FLIPS - 1);

	log_event(FWIF_LOG_FLIP, c->id, c->seqno, flip.frame);
	/* The host may have unmapped its ring: that context loses its flips. */
	if (!window_write(c->flips + __builtin_offsetof(struct fwif_flips, flip) +
			  entry * sizeof(flip), &flip, sizeof(flip) / 4))
		return;
	fence_writes();
	c->flips_write++;
	window_write32(c->flips + __builtin_offsetof(struct fwif_flips, write), c->flips_write);
	host_request_irq();
}

void flip_report(void)
{
	struct context *c = dm_running(FWIF_DM_TDM);

	if (c)
		os_select(c->os);
	while (PUMICE_FIELD_GET(PUMICE_TDM_FLIP_STATUS__COUNT, reg_read(PUMICE_TDM_FLIP_STATUS))) {
		if (c && c->flips)
			write_flip(c);
		reg_write(PUMICE_TDM_FLIP_CTRL, PUMICE_TDM_FLIP_CTRL__POP__MASK);
	}
}
