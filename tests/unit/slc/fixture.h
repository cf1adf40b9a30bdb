/* SPDX-License-Identifier: MIT */
/* An SLC with one input that records completions. */
#ifndef PUMICE_TEST_SLC_FIXTURE_H
#define PUMICE_TEST_SLC_FIXTURE_H

#include "slc/slc.h"

#define FIXTURE_CLIENTS	4u
#define FIXTURE_MAX	256u	/* recorded completions */

struct fixture {
	struct slc *slc;
	u64 step;	/* number of steps */
	u32 count;	/* of completions; only the first FIXTURE_MAX are recorded */
	u64 token[FIXTURE_MAX];
	u64 when[FIXTURE_MAX];	/* step of the completion */
};

/* The first preset's SLC: four banks of 64 KiB, 128-byte lines on 64-byte segments. */
extern const struct slc_config fixture_wide;
/* Document 004, "SLC": 256-bit lines. */
extern const struct slc_config fixture_narrow;

void fixture_create(struct fixture *fx, const struct slc_config *config);
void fixture_destroy(struct fixture *fx);
/* Submit a request of client 0, whose token is the number of the call. */
void fixture_submit(struct fixture *fx, u64 addr, u32 bytes, enum slc_kind kind, bool bypass);
void fixture_submit_of(struct fixture *fx, u32 client, u64 addr, u32 bytes, enum slc_kind kind,
		       bool bypass);
void fixture_step(struct fixture *fx);
/* Step until all is complete, which must be soon. */
void fixture_finish(struct fixture *fx);
/* As fixture_submit() and fixture_finish(). */
void fixture_perform(struct fixture *fx, u64 addr, u32 bytes, enum slc_kind kind, bool bypass);

/* Return the sum of a counter of all banks. */
#define fixture_sum(fx, config, counter) ({					\
	u64 sum_ = 0;								\
	for (u32 bank_ = 0; bank_ < (config)->banks; bank_++)			\
		sum_ += slc_bank((fx)->slc, bank_)->counter;			\
	sum_;									\
})

#endif
