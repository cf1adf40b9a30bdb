/* SPDX-License-Identifier: MIT */
/*
 * Limits of the cost of an input to the host: memory, work with a lock held, work until a unit
 * notices that it is to stop, work of a step. Linked into a target (oracle_dep in meson.build),
 * this measures every GPU that the target creates; the target need not call anything. Each GPU has
 * the mode in PUMICE_FUZZ_MODE, which is fast by default, and the limits of that.
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

/* Locks, by those that wait for them; one that is taken with another held counts as that. */
enum oracle_lock {
	ORACLE_DEVICE,	/* the device lock, or its gate: register accesses */
	ORACLE_RESET,	/* the same in a reset or a change of the memory map or of the mode */
	ORACLE_BLOCK,	/* any other: units */
	ORACLE_LOCKS,
};

struct oracle_limits {
	u64 hold[ORACLE_LOCKS], stop, step;	/* blocks of work */
	u64 bytes;	/* of memory, in addition to those of mode fast */
};

/*
 * In blocks, about three times the worst of all inputs. Without counts a block takes about a
 * nanosecond, more if it has many cache misses. A register access waits for up to two holders of
 * the device lock, parking for each unit's work until it notices its stop flag. A step that loads
 * a long program, or decodes the objects of a tile, is longer than WORKERS_QUANTUM_NS, since it
 * allocates and frees much.
 */
#define ORACLE_FAST { { 100000, 300000, 100000 }, 1500000, 20000000, 0 }

/*
 * An instruction that reads a texture has the lock of its TAG, and makes requests for all of its
 * lanes and samples. Caches of the two GPUs that a target may have need 1 MiB.
 */
#define ORACLE_COUNTED { { 200000, 300000, 1200000 }, 1500000, 40000000, 2ull << 20 }

/*
 * Each request is compared, too. With the device lock held the end of a job exchanges the bytes of
 * 8192 lines with memory, and a free list has records of 262144 pages allocated; a reset writes
 * all lines that are held. Memory is that which calloc() returns, although half of it is not used:
 * 49 MiB for each of two GPUs, and in addition accesses to memory (37 MiB), fences (20 MiB), lists
 * (7 MiB each) and stores that are under way (28 MiB).
 */
#define ORACLE_STRICT { { 2500000, 1000000, 3500000 }, 3500000, 110000000, 192ull << 20 }

/* Set a limit below ORACLE_GPU_BYTES, for this and all later inputs of the target. */
void oracle_limit_memory(u64 bytes);

/* No job is left: the memory that the GPU has allocated since its creation is bounded. */
void oracle_check_idle(void);

#endif
