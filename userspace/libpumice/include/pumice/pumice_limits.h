/* SPDX-License-Identifier: MIT */
/*
 * libpumice: limits of a device, and the heaps of its address spaces. A part of pumice/pumice.h,
 * which includes it.
 */
#ifndef PUMICE_PUMICE_LIMITS_H
#define PUMICE_PUMICE_LIMITS_H

#include "pumice.h"

#ifdef __cplusplus
extern "C" {
#endif

/** PUMICE_MAX_HEAPS - size of pumice_device_limits.heaps */
#define PUMICE_MAX_HEAPS 9

/** struct pumice_heap - GPU virtual addresses with one page size. */
struct pumice_heap {
	/** @start: first address */
	uint64_t start;
	/** @size: bytes */
	uint64_t size;
	/** @page_bytes: page size */
	uint64_t page_bytes;
};

/** struct pumice_device_limits - further GPU properties; grows with the library. */
struct pumice_device_limits {
	/** @slot_registers: slot registers of a slot */
	uint32_t slot_registers;
	/** @internal_registers: internal registers of an instance */
	uint32_t internal_registers;
	/** @perf_counters: number of performance counters */
	uint32_t perf_counters;
	/** @perfmons: maximum number of performance monitors of a device object */
	uint32_t perfmons;
	/** @preset: sizes that properties did not override: enum pumice_preset */
	uint32_t preset;
	/** @waves_per_usc: waves that can be in flight on a USC; 0: not known */
	uint32_t waves_per_usc;
	/** @batch: maximum number of vertices or fragments of a task; 0: not known */
	uint32_t batch;
	/** @heap_count: number of @heaps; the others are zero */
	uint32_t heap_count;
	/** @heaps: layout of the address space of every VM; the first is of 4 KiB pages */
	struct pumice_heap heaps[PUMICE_MAX_HEAPS];
	/** @tasks_per_usc: tasks that a USC manages, in slots and waiting for one; 0: not known */
	uint32_t tasks_per_usc;
	/** @pixel_outputs: store of pixel outputs: enum pumice_output_store */
	uint32_t pixel_outputs;
	/** @cache_bytes: sizes of caches, by enum pumice_cache; 0: not known */
	uint32_t cache_bytes[5];
	/** @vpm_bytes: vertex pipe memory of a core; 0: not known */
	uint32_t vpm_bytes;
	/** @idx_fifo: primitives in the IDX FIFO of a core; 0: not known */
	uint32_t idx_fifo;
	/** @chunk_fifo: chunks of draws between the master VDM and a core; 0: not known */
	uint32_t chunk_fifo;
	/** @tile_fifo: tiles between the master IPF and a core; 0: not known */
	uint32_t tile_fifo;
	/** @tsp_vertices: vertices in the cache of a core's TSP; 0: not known */
	uint32_t tsp_vertices;
	/** @tcus_per_spu: interfaces of texture cache units of an SPU; 0: not known */
	uint32_t tcus_per_spu;
};

/**
 * pumice_device_limits - describe the limits of a device.
 * @limits: out
 * @bytes: sizeof(*limits), so that programs built with an older library still work
 *
 * Return: 0 or a negative errno.
 */
int pumice_device_limits(struct pumice_device *dev, struct pumice_device_limits *limits,
			 size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
