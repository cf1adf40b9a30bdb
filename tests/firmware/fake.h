/* SPDX-License-Identifier: MIT */
/*
 * Data masters VDM, PDM and TDM that do nothing: a job that was started is busy
 * until the test says how it ends. They stand in the place of the GPU's own (the
 * test program defines the same functions), so that the firmware can be led into
 * every state, whatever streams and scenes would do.
 *
 * The fake PM counts pages as it is told to, and grows lists.
 */
#ifndef FW_FAKE_H
#define FW_FAKE_H

#include "dm/dm.h"

enum { FAKE_VDM, FAKE_PDM, FAKE_TDM, FAKES };

struct fake {
	const struct dm_ops *ops;	/* of the GPU */
	void *opaque;
	struct dm_job job;		/* the last that was started */
	struct dm_status status;
	unsigned int starts, refused, aborts, resumes, flushes;
};

extern struct fake fake[FAKES];

struct fake_pm {
	void (*low)(void *opaque);
	void *opaque;
	struct mmu *mmu;
	u64 low_list, freed;
	u64 grown_list, released;	/* what was asked for last */
	u32 grown_pages;
	unsigned int grows, releases;
	bool refuse;			/* lists do not grow, whatever the host says */
};

extern struct fake_pm fake_pm;

/* The job ends, well or not; or stands still (DM_MEMORY). */
void fake_end(unsigned int number, enum dm_end end);
/* The job stops with a fault at an address. */
void fake_fault(unsigned int number, u8 why, u64 addr);
/* PM_LOW of a list. */
void fake_low(u32 list);

#endif
