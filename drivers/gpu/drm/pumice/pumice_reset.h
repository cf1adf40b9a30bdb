/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Recovery from hangs of jobs, the firmware or the GPU. */
#ifndef PUMICE_RESET_H
#define PUMICE_RESET_H

#include <drm/gpu_scheduler.h>

struct pci_dev;
struct pumice_device;

/* Number of ticks in a job's time-out. */
#define PUMICE_TIMEOUT_TICKS	4
/* Consecutive failures of the firmware, with no job completed in between, that lose the GPU. */
#define PUMICE_FAILURES		5

int pumice_reset_init(struct pumice_device *pdev);
void pumice_reset_stop(struct pumice_device *pdev);
void pumice_reset_schedule(struct pumice_device *pdev);
void pumice_reset_pause(struct pumice_device *pdev);
void pumice_reset_continue(struct pumice_device *pdev);
void pumice_reset_sleep(struct pumice_device *pdev);
int pumice_reset_wake(struct pumice_device *pdev);
void pumice_reset_wait(struct pumice_device *pdev);
int pumice_reset_and_wait(struct pumice_device *pdev, int error);
enum drm_gpu_sched_stat pumice_reset_job_timed_out(struct drm_sched_job *base);
void pumice_reset_pci_prepare(struct pci_dev *pci);
void pumice_reset_pci_done(struct pci_dev *pci);

#endif
