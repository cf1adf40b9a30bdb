/* SPDX-License-Identifier: MIT */
/*
 * Memory map: which bus addresses are memory, and its addresses in this process.
 *
 * Source: pumice_gpu.h, struct pumice_mem_region. The map is a table for each virtual GPU, sorted
 * by bus address: virtual GPUs may have different memory at the same address.
 * It changes only while no unit runs (pumice_gpu_set_memory()), so readers take no lock.
 *
 * Limits: regions begin and end at 4 KiB boundaries, in the bus address space and in this
 * process; adjacent regions are not merged.
 */
#ifndef PUMICE_GPU_MEM_H
#define PUMICE_GPU_MEM_H

#include "../pumice_gpu.h"
#include "pumice_regs.h"
#include "pumice_types.h"

#define MEM_ALIGN 4096u	/* alignment of regions, in both address spaces */

struct mem_map {
	struct pumice_mem_region *region;	/* by virtual GPU, then by addr; owned */
	/* Those of virtual GPU n begin at n; they end where those of n + 1 begin. */
	unsigned int first[PUMICE_OS_COUNT + 1];
};

/*
 * Replace the map by a sorted copy of regions. Returns 0, -ENOMEM, or -EINVAL
 * for a region that is empty, misaligned, wraps around or overlaps another of
 * the same virtual GPU; on an error the map is empty.
 */
int mem_map_set(struct mem_map *map, const struct pumice_mem_region *regions,
		unsigned int count);

/* Make the map empty and free its table. */
void mem_map_clear(struct mem_map *map);

/*
 * Return a host pointer to len bytes at bus address addr, all inside one region that virtual GPU
 * os may access, or NULL. *readonly becomes true if stores are refused there; readonly may be NULL.
 */
u8 *mem_map_lookup(const struct mem_map *map, unsigned int os, u64 addr, u64 len, bool *readonly);

/*
 * Copy len bytes at bus address addr of virtual GPU 0 to buf, across adjacent regions. Returns
 * false, with part of buf written, when some of it is not memory.
 */
bool mem_map_read(const struct mem_map *map, u64 addr, void *buf, u64 len);

#endif
