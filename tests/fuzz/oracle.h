/* SPDX-License-Identifier: MIT */
/*
 * Limits of the cost of an input to the host: memory, work with a lock held, work until a unit
 * notices that it is to stop, work of a step. Linked into a target (oracle_dep in meson.build),
 * this measures every GPU that the target creates; the target need not call anything.
 *
 * The functions that it measures are replaced by the linker (--wrap), in the calls
 * from one object file to another: allocation, memcpy(), memmove(), memset(), memcmp(),
 * pthread_mutex_lock(), _trylock() and _unlock(), workers_create(), pumice_gpu_create() and
 * _destroy(), LLVMFuzzerTestOneInput().
 */
#ifndef PUMICE_FUZZ_ORACLE_H
#define PUMICE_FUZZ_ORACLE_H

#include "../../qemu-device/gpu/usc/program.h"

struct pumice_gpu;

/*
 * Memory that jobs may make a GPU of one core allocate in addition to decoded programs:
 * scenes and lists of the maximum size.
 */
#define ORACLE_REST_BYTES	(16ull << 20)
/* Total, including decoded programs, with the maximum share for each data master. */
#define ORACLE_GPU_BYTES	(USC_CACHE_BYTES + ORACLE_REST_BYTES)

/*
 * The same when no job is left: the cache keeps idle programs, and arrays keep their
 * largest size.
 */
#define ORACLE_IDLE_BYTES	(USC_CACHE_IDLE_BYTES + ORACLE_REST_BYTES / 2)

/* Set a limit below ORACLE_GPU_BYTES, for this and all later inputs of the target. */
void oracle_limit_memory(u64 bytes);

/* No job is left: the memory that the GPU has allocated since its creation is bounded. */
void oracle_check_idle(void);

#endif
