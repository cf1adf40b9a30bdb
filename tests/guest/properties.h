/* SPDX-License-Identifier: MIT */
/* Properties of the guest's GPU, as scripts/run-guest.py gave them to QEMU. */
#ifndef GUEST_PROPERTIES_H
#define GUEST_PROPERTIES_H

#include <stdint.h>

/**
 * device_property - read a property of the GPU
 * @name: its name
 * @otherwise: the value if the command line of QEMU does not have the property
 *
 * run-guest.py repeats the device's options in the kernel's command line. The text is valid until
 * the next call.
 *
 * Return: the value.
 */
const char *device_property(const char *name, const char *otherwise);

/** device_size - device_property() of a number. */
uint32_t device_size(const char *name, uint32_t otherwise);

#endif
