/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The firmware: its file, boot and reports. */
#ifndef PUMICE_FW_H
#define PUMICE_FW_H

#include "pumice_device.h"

/**
 * struct pumice_fw_shared - boot structure and rings, in one object
 */
struct pumice_fw_shared {
	struct fwif_boot boot;
	struct fwif_ring kccb_ring;
	struct fwif_ring fwccb_ring;
	struct fwif_ring log_ring;
	u32 kccb_status[PUMICE_KCCB_COUNT];
	struct fwif_kccb_cmd kccb[PUMICE_KCCB_COUNT];
	struct fwif_fwccb_msg fwccb[PUMICE_FWCCB_COUNT];
	struct fwif_log_entry log[PUMICE_LOG_COUNT];
};

/*
 * Copy data that the firmware may change at any time. The compiler must not read the
 * original again: the checked value and the used value must be the same copy.
 */
static inline void pumice_copy_once(void *copy, const void *shared, size_t bytes)
{
	memcpy(copy, shared, bytes);
	barrier_data(copy);
}

/* Return a name of fwlog.h, or a text in place of a missing one: firmware may send any number. */
static inline const char *pumice_fw_name(const char *name)
{
	return name ?: "unknown";
}

int pumice_fw_load(struct pumice_device *pdev);
void pumice_fw_unload(struct pumice_device *pdev);
int pumice_fw_boot(struct pumice_device *pdev);
void pumice_fw_set_slice(struct pumice_device *pdev);

#endif
