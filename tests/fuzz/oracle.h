/* SPDX-License-Identifier: MIT */
/*
 * What an input may cost the host: memory, time with a lock held, time until a unit
 * notices that it is to stop. Linked into a target (oracle_dep in meson.build), this
 * measures every GPU that the target creates; the target need not call anything.
 *
 * The functions that it measures are replaced by the linker (--wrap), in the calls
 * from one object file to another: allocation, pthread_mutex_lock() and _unlock(),
 * workers_create(), pumice_gpu_create() and _destroy(), LLVMFuzzerTestOneInput().
 */
#ifndef PUMICE_FUZZ_ORACLE_H
#define PUMICE_FUZZ_ORACLE_H

#include "pumice_types.h"

struct pumice_gpu;

/*
 * Memory of one GPU with everything that jobs make it allocate. USC_CACHE_BYTES (64 MiB) for
 * programs are most of it; a GPU of one core starts with about 10 MiB, and scenes and
 * lists as large as there are need some MiB.
 */
#define ORACLE_GPU_BYTES	(96ull << 20)

/*
 * The same when no job is left: the cache keeps USC_CACHE_IDLE_BYTES (16 MiB) of
 * programs, and arrays keep their largest size.
 */
#define ORACLE_IDLE_BYTES	(24ull << 20)

/* No job is left: the memory that the GPU holds beyond what it was created with is bounded. */
void oracle_check_idle(void);

#endif
