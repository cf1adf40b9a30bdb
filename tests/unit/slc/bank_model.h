/* SPDX-License-Identifier: MIT */
/*
 * Model of a bank of the SLC: a list of requests, in which every condition is computed anew in each
 * step, and lines by the model of a cache.
 */
#ifndef PUMICE_TEST_SLC_BANK_MODEL_H
#define PUMICE_TEST_SLC_BANK_MODEL_H

#include "../cache/model.h"
#include "slc/slc.h"

struct bank_request {
	struct slc_request request;
	bool started, ordered;	/* ordered: it had to wait for one of its line */
	u64 since, ready;
};

struct bank_model {
	struct model cache;
	u32 *writer;	/* [ways of all sets] */
	struct bank_request list[SLC_QUEUE];	/* in the order of submission */
	u32 count;
	u64 now, busy_until;
	struct slc_bank counters;
	struct slc_client *client;	/* of all banks */
};

void bank_model_create(struct bank_model *bank, const struct slc_config *config,
		       struct slc_client *client);
void bank_model_destroy(struct bank_model *bank);
/* Return whether there is room. */
bool bank_model_submit(struct bank_model *bank, const struct slc_request *request);
/* Perform a step, and call done for the requests that are complete. */
void bank_model_step(struct bank_model *bank, slc_done *done, void *opaque);

#endif
