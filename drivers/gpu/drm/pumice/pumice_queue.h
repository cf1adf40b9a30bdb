/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* From the scheduler to the firmware and back. */
#ifndef PUMICE_QUEUE_H
#define PUMICE_QUEUE_H

#include <linux/types.h>

struct pumice_context;
struct pumice_device;

int pumice_queue_init(struct pumice_context *ctx);
u32 pumice_queue_credits(u32 waits);
void pumice_queue_process(struct pumice_context *ctx);
void pumice_queue_process_all(struct pumice_device *pdev);
void pumice_queue_cancel(struct pumice_context *ctx, int error);

#endif
