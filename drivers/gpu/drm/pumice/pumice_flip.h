/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Flip events of present jobs. */
#ifndef PUMICE_FLIP_H
#define PUMICE_FLIP_H

#include <linux/types.h>

struct drm_file;
struct drm_pumice_job;
struct file;
struct poll_table_struct;
struct pumice_device;
struct pumice_job;
struct pumice_queue;

bool pumice_flip_supported(const struct pumice_device *pdev);
int pumice_flip_reserve(struct pumice_job *job, struct drm_file *file,
			const struct drm_pumice_job *args);
void pumice_flip_collect_locked(struct pumice_queue *q);
void pumice_flip_end_locked(struct pumice_job *job, int error);
void pumice_flip_release(struct pumice_job *job);
__poll_t pumice_flip_poll(struct file *filp, struct poll_table_struct *wait);
void pumice_flip_wake_all(struct pumice_device *pdev);

#endif
