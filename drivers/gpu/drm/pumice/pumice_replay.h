/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Jobs that a reset finds in the firmware and that had not begun are given to it again. */
#ifndef PUMICE_REPLAY_H
#define PUMICE_REPLAY_H

#include <linux/types.h>

struct pumice_context;

bool pumice_replay_prepare(struct pumice_context *ctx);
int pumice_replay_run(struct pumice_context *ctx, bool kick);

#endif
