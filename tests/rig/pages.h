/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Page sizes: memory that large pages can map, and the sizes that the GPU's tables have.
 */
#ifndef FX_PAGES_H
#define FX_PAGES_H

#include <stdbool.h>

#include "gpu.h"

/**
 * use_large_memory - let shmem, which backs buffers, allocate 2 MiB at a time
 * @large: false: as usual
 *
 * For the whole system, until it is changed again. Return: 0 or -errno.
 */
int use_large_memory(bool large);

/** gpu_blocks - blocks of 2 MiB, of all address spaces, with pages of 1 << @bits bytes. */
u32 gpu_blocks(u32 bits);

#endif
