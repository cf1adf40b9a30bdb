/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Recovery from jobs, firmware or a GPU that hang. */
#ifndef PUMICE_RESET_H
#define PUMICE_RESET_H

#include <drm/gpu_scheduler.h>

struct pci_dev;
struct pumice_device;

/* A job's time-out is watched in so many steps. */
#define PUMICE_TIMEOUT_TICKS	4
/* Firmware that fails so often in a row, without the end of a job in between, is given up. */
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
