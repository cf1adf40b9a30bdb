/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* GPU usage of an open file. */
#ifndef PUMICE_FDINFO_H
#define PUMICE_FDINFO_H

#include "pumice_device.h"

struct drm_printer;
struct pumice_context;
struct pumice_queue;

void pumice_fdinfo_job_ended_locked(struct pumice_queue *q, const struct fwif_job_result *r);
void pumice_fdinfo_context_released(struct pumice_file *file, struct pumice_context *ctx);
void pumice_fdinfo_show(struct drm_printer *p, struct drm_file *file);

#endif
