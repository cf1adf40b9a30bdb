/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Replay of jobs that the firmware had at a reset and that had not begun. */
#ifndef PUMICE_REPLAY_H
#define PUMICE_REPLAY_H

#include <linux/types.h>

struct pumice_context;

bool pumice_replay_prepare(struct pumice_context *ctx);
int pumice_replay_run(struct pumice_context *ctx, bool kick);

#endif
