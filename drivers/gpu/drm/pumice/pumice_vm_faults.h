/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Faults of jobs in a VM, for its user. */
#ifndef PUMICE_VM_FAULTS_H
#define PUMICE_VM_FAULTS_H

#include <linux/spinlock.h>

#include <drm/pumice_drm.h>

struct drm_device;
struct drm_file;
struct fwif_job_result;
struct pumice_job;

/**
 * struct pumice_vm_faults - the last faults of a VM
 */
struct pumice_vm_faults {
	/** @lock: guards all fields; nests inside context.lock, no lock is acquired inside */
	spinlock_t lock;
	/** @total: number of faults so far; number n is in @kept[n % DRM_PUMICE_VM_FAULTS] */
	u64 total;
	/** @kept: the last ones */
	struct drm_pumice_vm_fault kept[DRM_PUMICE_VM_FAULTS];
};

void pumice_vm_faults_init(struct pumice_vm_faults *faults);
void pumice_vm_faults_note(const struct pumice_job *job, const struct fwif_job_result *r);
int pumice_ioctl_vm_get_faults(struct drm_device *drm, void *data, struct drm_file *file);

#endif
