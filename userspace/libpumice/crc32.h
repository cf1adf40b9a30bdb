/* SPDX-License-Identifier: MIT */
/* CRC-32 of IEEE 802.3, as program files and firmware images carry it. */
#ifndef PUMICE_CRC32_H
#define PUMICE_CRC32_H

#include <stddef.h>

#include "pumice_types.h"

u32 crc32_ieee(const void *data, size_t bytes);

#endif
