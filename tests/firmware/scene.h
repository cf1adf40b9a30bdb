/* SPDX-License-Identifier: MIT */
/* Scenes, free lists and jobs of render contexts, for tests on the fake data masters. */
#ifndef FW_SCENE_H
#define FW_SCENE_H

#include "fake.h"
#include "fixture.h"

#define SCENE_BYTES	(4 * (PUMICE_SCENE_WORDS + PUMICE_SCENE_CHAIN_WORDS * PUMICE_PM_LISTS * \
			      PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y))
#define RENDER_VA	0x5000000000ull

struct scene {
	u32 addr, list_addr[PUMICE_PM_LISTS];
	u32 *words, *list[PUMICE_PM_LISTS];
};

/*
 * A scene with two free lists of 10 pages that may have 40.
 * @spill: it has memory for partial renders
 */
void scene_make(struct fixture *r, bool spill, struct scene *s);
u32 list_pages(const struct scene *s, u32 list);
void list_set_max(struct scene *s, u32 list, u32 max);

/* Commands; partial renders of a geometry job use the record at RENDER_VA. */
void put_geometry(struct fx_context *c, const struct scene *s, u32 seqno);
void put_fragment(struct fx_context *c, const struct scene *s, u32 seqno);
/* A job of the TDM or RDM: FWIF_CCCB_TRANSFER or _RAYS. */
void put_stream(struct fx_context *c, u32 type, u32 seqno);
/* Append a job of the context's data master and its update, and submit them. */
void submit_job(struct fixture *r, struct fx_context *c, const struct scene *s, u32 seqno);

/* End the job of a fake and run the firmware's reaction. */
void end_and_run(struct fixture *r, unsigned int number, enum dm_end end);

/* Consume the next message of the firmware; type 0 if there is none. */
struct fwif_fwccb_msg next_message(struct fixture *r);
/* Send the host's reply about a list; assert OK. */
void reply_grown(struct fixture *r, u32 list, u32 pages);

#endif
