/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Waits and signals of the jobs of one SUBMIT. */
#ifndef PUMICE_SYNC_H
#define PUMICE_SYNC_H

#include <linux/list.h>
#include <linux/types.h>

#include <drm/pumice_drm.h>

struct dma_fence;
struct drm_file;
struct pumice_job;

struct drm_pumice_sync *pumice_sync_copy(const struct drm_pumice_array *array);
int pumice_sync_add_wait(struct drm_file *file, struct pumice_job *job,
			 const struct drm_pumice_sync *sync, const struct list_head *signals);
int pumice_sync_add_signal(struct drm_file *file, u32 job_index,
			   const struct drm_pumice_sync *sync, struct list_head *signals);
void pumice_sync_commit(struct list_head *signals, struct pumice_job * const *jobs);
void pumice_sync_commit_fence(struct list_head *signals, struct dma_fence *fence);
void pumice_sync_release(struct list_head *signals);

#endif
