/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Results of jobs, for users. */
#ifndef PUMICE_RESULT_H
#define PUMICE_RESULT_H

#include "fwif.h"

struct drm_device;
struct drm_file;
struct pumice_job;

void pumice_result_note_locked(struct pumice_job *job, int error, const struct fwif_job_result *r);
void pumice_result_note(struct pumice_job *job, int error);

int pumice_ioctl_job_get_result(struct drm_device *drm, void *data, struct drm_file *file);

#endif
