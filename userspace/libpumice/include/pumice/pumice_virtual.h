/* SPDX-License-Identifier: MIT */
/*
 * libpumice: virtual GPUs of a GPU in the process. A part of pumice/pumice.h, which includes it.
 */
#ifndef PUMICE_PUMICE_VIRTUAL_H
#define PUMICE_PUMICE_VIRTUAL_H

#include "pumice.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * pumice_device_open_virtual - open a further virtual GPU of a GPU in this process.
 * @dev: a device that was opened as "inproc:virtual-gpus=N", or another virtual GPU of it
 * @number: 1 to N - 1; each can be open once
 * @out: out
 *
 * It is a device with memory, address spaces, contexts and a connection to the firmware of its own,
 * with the sizes and time-outs of @dev: errors of its user do not affect others. The GPU runs jobs
 * of all virtual GPUs in turn. Objects of one device cannot be used with another. Devices may be
 * closed in any order. Key hold-us of @dev: a job that cannot be switched out, and has
 * held the GPU for so long while another virtual GPU waits, is killed with its context, which is
 * then guilty.
 *
 * Since 0.5.
 *
 * Return: 0; -EINVAL for a number that is not active, -EBUSY if it is open, -EOPNOTSUPP for other
 * devices, -ENOMEM, -ENODEV if the firmware does not respond.
 */
int pumice_device_open_virtual(struct pumice_device *dev, uint32_t number,
			       struct pumice_device **out);

#ifdef __cplusplus
}
#endif

#endif
