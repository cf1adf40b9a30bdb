/* SPDX-License-Identifier: MIT */
/*
 * Fake data masters VDM, PDM, TDM and RDM: a started job is busy until the test ends it.
 * They replace the GPU's own (the test program defines the same functions), so that
 * a test can bring the firmware into every state, independent of streams and scenes.
 *
 * The version of the register map can be another one for the firmware.
 *
 * The fake PM reports page counts set by the test, and grows lists.
 */
#ifndef FW_FAKE_H
#define FW_FAKE_H

#include "dm/dm.h"

enum { FAKE_VDM, FAKE_PDM, FAKE_TDM, FAKE_RDM, FAKES };

struct fake {
	const struct dm_ops *ops;	/* of the GPU */
	void *opaque;
	struct dm_job job;		/* the job started last */
	struct dm_status status;
	unsigned int starts, refused, aborts, resumes, flushes;
};

extern struct fake fake[FAKES];

/* SYS_VERSION as the firmware reads it; 0: that of the device. */
extern u32 fake_version;

struct fake_pm {
	void (*low)(void *opaque);
	void *opaque;
	struct mmu *mmu;
	u64 low_list, freed;
	u64 grown_list, released;	/* arguments of the last calls */
	u32 grown_pages;
	unsigned int grows, releases;
	bool refuse;			/* lists do not grow, despite the host's reply */
};

extern struct fake_pm fake_pm;

/* End the job, with or without an error; DM_MEMORY: stall it. */
void fake_end(unsigned int number, enum dm_end end);
/* Stop the job with a fault at an address. */
void fake_fault(unsigned int number, u8 why, u64 addr);
/* Append a flip of the TDM, without running; at most PUMICE_TDM_FLIPS. */
void fake_flip(u32 frame, u64 addr, u64 time);
/* Raise PM_LOW for a list. */
void fake_low(u32 list);

#endif
