/* SPDX-License-Identifier: MIT */
/* Heaps of a device: ranges of GPU virtual addresses with one page size each. */
#ifndef HEAPS_INTERNAL_H
#define HEAPS_INTERNAL_H

#include "internal.h"

/*
 * Check heaps that the kernel described: 1 to PUMICE_MAX_HEAPS, each of whole pages of a valid
 * size, in ascending order and within the address space, the first as in @info.
 * @why: the violated rule, if there is one
 * Return: 0 or -EPROTO.
 */
int heaps_check(const struct pumice_device_info *info, const struct pumice_device_limits *limits,
		char *why, size_t why_bytes);

/* Get the end of the addresses that may be bound. */
u64 heaps_end(const struct pumice_device *dev);

/* Get the heap of an address. Return: it, or NULL. */
const struct pumice_heap *heaps_find(const struct pumice_device *dev, u64 va);

/*
 * Choose the heap of the largest pages that a bo of this size may have: its size is a multiple of
 * the page and of the parts in which the back end has contiguous memory.
 * Return: the index of the heap, 0 for 4 KiB.
 */
u32 heaps_for_size(const struct pumice_device *dev, u64 size);

#endif
