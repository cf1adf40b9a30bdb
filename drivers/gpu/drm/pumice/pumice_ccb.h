/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Rings between driver and firmware: kernel CCB and firmware CCB. */
#ifndef PUMICE_CCB_H
#define PUMICE_CCB_H

#include "pumice_device.h"

/**
 * struct pumice_kccb_wait - a waiter for the reply to a command
 */
struct pumice_kccb_wait {
	/** @status: enum fwif_status; under kccb.lock */
	u32 status;
	/** @aborted: the firmware went down before it replied; under kccb.lock */
	bool aborted;
};

void pumice_kccb_init(struct pumice_device *pdev);
void pumice_kccb_open(struct pumice_device *pdev);
void pumice_kccb_close(struct pumice_device *pdev);
void pumice_kccb_sleep(struct pumice_device *pdev);

int pumice_kccb_reserve(struct pumice_device *pdev);
void pumice_kccb_cancel(struct pumice_device *pdev);
int pumice_kccb_append_reserved(struct pumice_device *pdev, const struct fwif_kccb_cmd *cmd);
void pumice_kccb_ring(struct pumice_device *pdev);
int pumice_kccb_push_reserved(struct pumice_device *pdev, const struct fwif_kccb_cmd *cmd);
int pumice_kccb_call(struct pumice_device *pdev, const struct fwif_kccb_cmd *cmd);
void pumice_kccb_collect(struct pumice_device *pdev);

void pumice_fwccb_drain(struct pumice_device *pdev);

#endif
