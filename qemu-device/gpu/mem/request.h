/* SPDX-License-Identifier: MIT */
/*
 * A request to the memory hierarchy, as the blocks below the units see it.
 *
 * Source: document 000, "Memory Hierarchy". Only detailed modes make requests; in fast mode units
 * access memory by host pointers alone.
 */
#ifndef PUMICE_GPU_MEM_REQUEST_H
#define PUMICE_GPU_MEM_REQUEST_H

#include <stdbool.h>

#include "pumice_formats.h"

/* Context of requests by bus address: page tables. Those of the MMU are below. */
#define MEM_CTX_BUS 32u

struct mem_request {
	enum pumice_mem_client client;	/* pumice_client_find() */
	/*
	 * Place of the requester: the number of its USC, over all cores, if the client's path is
	 * that of data or textures; otherwise its core + 1, or 0 outside of the cores.
	 */
	u32 place;
	u32 ctx;
	u64 addr;	/* virtual; bus address if ctx is MEM_CTX_BUS */
	u32 bytes;	/* not 0 */
	bool write, atomic;	/* an atomic operation reads and writes, whatever write is */
	bool bypass;	/* of all caches, also if requests of the client do not */
};

#endif
