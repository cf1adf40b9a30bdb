/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The GPU's own event trace. */
#ifndef PUMICE_GPU_TRACE_H
#define PUMICE_GPU_TRACE_H

#include "pumice_device.h"

struct dentry;

#ifdef CONFIG_DEBUG_FS
void pumice_gpu_trace_init(struct pumice_device *pdev, struct dentry *root);
void pumice_gpu_trace_restore(struct pumice_device *pdev);
u64 pumice_gpu_trace_lost(struct pumice_device *pdev);
#else
static inline void pumice_gpu_trace_restore(struct pumice_device *pdev)
{
}
#endif

#endif
