// SPDX-License-Identifier: MIT
/*
 * Limits of the cost of an input to the host: see oracle.h.
 *
 * Work is counted, not timed, so that the speed and load of a machine have no influence: a thread
 * counts the basic blocks of the GPU that it executes (the compiler calls
 * __sanitizer_cov_trace_pc() at each), and blocks for bytes that it copies, fills, compares and
 * allocates. Other builds, of a GPU that is not compiled in this way, count no work and check
 * memory only.
 *
 * With threads a unit waits for others in loops, so that counts differ: work is a finding only
 * if the input exceeds the limit in each of TRIES runs. Memory is counted in one run.
 *
 * Half of all steps of units run with their stop flag set from the start, by a sequence that
 * has no period. Such a step is the work of the unit between two reads of the flag,
 * for which park, reset and changes of the memory map wait. Each step continues
 * where the last one ended, so the pieces of a long command are measured one by one.
 *
 * Limits: allocations inside the C library are not counted, nor the work of the decoder (hw/) and
 * of copies that the compiler inlines; compilers, and vector levels of hosts, differ in their
 * blocks; with threads the measurements of one input are those of all threads together.
 */
#include "oracle.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../qemu-device/gpu/gpu.h"
#include "../../qemu-device/gpu/number.h"
#include "fuzz.h"

#define TRIES		5u
#define MAX_GPUS	4u

/* Bytes that cost as much as a block: copied or filled, and allocated (with their page faults). */
#define COPIED_BYTES	64u
#define ALLOCATED_BYTES	16u

struct unit {
	struct workers_unit cfg;
	u32 number;	/* enum gpu_unit; the USCs follow the cores */
	_Atomic u32 steps;
};

struct watched {
	_Atomic(struct pumice_gpu *) gpu;	/* NULL: free; read by other GPUs' threads */
	struct unit *units;
};

static const struct oracle_limits limits[PUMICE_MODE_COUNT] = {
	[PUMICE_MODE_FAST] = ORACLE_FAST,
	[PUMICE_MODE_COUNTED] = ORACLE_COUNTED,
	[PUMICE_MODE_STRICT] = ORACLE_STRICT,
};

static struct {
	u64 limit_bytes;	/* see oracle_limit_memory(), or 0 */
	/* Of every GPU; or NULL, which is fast. */
	const char *mode_name;
	enum pumice_mode mode;
	/* Of this run. */
	_Atomic u64 hold[ORACLE_LOCKS], stop, step;
	_Atomic u32 stop_unit, step_unit;
	/* Of all inputs: of each the best of its runs. */
	u64 worst_hold[ORACLE_LOCKS], worst_stop, worst_step, worst_bytes;
	_Atomic s64 bytes, peak;
	s64 before;		/* bytes when the input began */
	s64 created;		/* bytes when the last GPU had been created */
	struct watched gpu[MAX_GPUS];
} oracle;

/* Locks that the thread holds but control locks, and its work when it locked the first one. */
static __thread struct {
	u32 depth, control;
	enum oracle_lock first;
	u64 since;	/* in blocks of work */
} held;

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) __attribute__((weak));
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void __real_free(void *p);
void __wrap_free(void *p);
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int value, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);
int __real_memcmp(const void *a, const void *b, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);
int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_trylock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
struct workers *__real_workers_create(const struct workers_config *config);
struct workers *__wrap_workers_create(const struct workers_config *config);
struct pumice_gpu *__real_pumice_gpu_create(const struct pumice_gpu_config *config,
					    const struct pumice_gpu_ops *ops, void *opaque,
					    const char **error);
struct pumice_gpu *__wrap_pumice_gpu_create(const struct pumice_gpu_config *config,
					    const struct pumice_gpu_ops *ops, void *opaque,
					    const char **error);
void __real_pumice_gpu_destroy(struct pumice_gpu *gpu);
void __wrap_pumice_gpu_destroy(struct pumice_gpu *gpu);

/* Of the thread. */
static __thread u64 work;

/* Called by each basic block of a GPU that is compiled for counts. */
void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	work++;
}

/* Raise *worst to @blocks. Return whether it changed. */
static bool raise_to(_Atomic u64 *worst, u64 blocks)
{
	u64 old = atomic_load_explicit(worst, memory_order_relaxed);

	while (blocks > old)
		if (atomic_compare_exchange_weak_explicit(worst, &old, blocks, memory_order_relaxed,
							  memory_order_relaxed))
			return true;
	return false;
}

/* Memory. */

static void add_bytes(s64 bytes)
{
	s64 now = atomic_fetch_add_explicit(&oracle.bytes, bytes, memory_order_relaxed) + bytes;
	s64 peak = atomic_load_explicit(&oracle.peak, memory_order_relaxed);

	while (now > peak &&
	       !atomic_compare_exchange_weak_explicit(&oracle.peak, &peak, now,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

static void *allocated(void *p)
{
	const size_t bytes = malloc_usable_size(p);

	work += bytes / ALLOCATED_BYTES;
	add_bytes((s64)bytes);
	return p;
}

void *__wrap_malloc(size_t bytes)
{
	return allocated(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return allocated(__real_calloc(count, bytes));
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return allocated(__real_aligned_alloc(align, bytes));
}

void *__wrap_realloc(void *p, size_t bytes)
{
	s64 old = (s64)malloc_usable_size(p);
	void *q = __real_realloc(p, bytes);

	if (q || !bytes) {
		add_bytes(-old);
		allocated(q);
	}
	return q;
}

void __wrap_free(void *p)
{
	add_bytes(-(s64)malloc_usable_size(p));
	__real_free(p);
}

/* Copies of the C library. */

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
	work += bytes / COPIED_BYTES;
	return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
	work += bytes / COPIED_BYTES;
	return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
	work += bytes / COPIED_BYTES;
	return __real_memset(to, value, bytes);
}

int __wrap_memcmp(const void *a, const void *b, size_t bytes)
{
	work += bytes / COPIED_BYTES;
	return __real_memcmp(a, b, bytes);
}

void oracle_limit_memory(u64 bytes)
{
	oracle.limit_bytes = bytes;
}

void oracle_check_idle(void)
{
	s64 more = atomic_load(&oracle.bytes) - oracle.created;

	FUZZ_CHECK(more <= (s64)ORACLE_IDLE_BYTES, "%lld bytes more than before all jobs",
		   (long long)more);
}

/* Locks. Only resets and changes of memory map and mode wait for the control lock itself. */

static bool is_control(const pthread_mutex_t *lock)
{
	u32 i;

	for (i = 0; i < MAX_GPUS; i++) {
		struct pumice_gpu *gpu = oracle.gpu[i].gpu;

		if (gpu && lock == &gpu->control)
			return true;
	}
	return false;
}

static enum oracle_lock kind_of(const pthread_mutex_t *lock)
{
	u32 i;

	if (held.control)
		return ORACLE_RESET;
	for (i = 0; i < MAX_GPUS; i++) {
		struct pumice_gpu *gpu = oracle.gpu[i].gpu;

		if (gpu && (lock == &gpu->lock || lock == &gpu->gate))
			return ORACLE_DEVICE;
	}
	return ORACLE_BLOCK;
}

static void locked(const pthread_mutex_t *lock)
{
	if (is_control(lock)) {
		held.control++;
	} else if (held.depth++ == 0) {
		held.first = kind_of(lock);
		held.since = work;
	}
}

static void unlocked(const pthread_mutex_t *lock)
{
	if (is_control(lock))
		held.control--;
	else if (--held.depth == 0)
		raise_to(&oracle.hold[held.first], work - held.since);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	int ret = __real_pthread_mutex_lock(lock);

	locked(lock);
	return ret;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *lock)
{
	int ret = __real_pthread_mutex_trylock(lock);

	if (!ret)
		locked(lock);
	return ret;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
	unlocked(lock);
	return __real_pthread_mutex_unlock(lock);
}

/* Steps. */

static bool step(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	static const _Atomic bool stopped = true;
	struct unit *u = opaque;
	const u32 number = atomic_fetch_add_explicit(&u->steps, 1, memory_order_relaxed);
	/* Multiples of the golden ratio: one of two or three steps in a row, without a period. */
	const bool whole = number * 0x9e3779b9u >> 31;
	u64 start;
	bool more;

	start = work;
	more = u->cfg.step(u->cfg.opaque, index, whole ? stop : &stopped);
	if (raise_to(whole ? &oracle.step : &oracle.stop, work - start))
		atomic_store(whole ? &oracle.step_unit : &oracle.stop_unit, u->number);
	return more;
}

/* Units of the GPU that is being created; pumice_gpu_create() keeps them. */
static __thread struct unit *new_units;

struct workers *__wrap_workers_create(const struct workers_config *config)
{
	struct workers_unit unit[WORKERS_MAX_UNITS];
	struct workers_config changed = *config;
	u32 i;

	new_units = __real_calloc(config->units, sizeof(*new_units));
	FUZZ_CHECK(new_units, "out of memory");
	for (i = 0; i < config->units; i++) {
		new_units[i].cfg = config->unit[i];
		new_units[i].number = i;
		unit[i] = config->unit[i];
		unit[i].step = step;
		unit[i].opaque = &new_units[i];
	}
	changed.unit = unit;
	return __real_workers_create(&changed);
}

struct pumice_gpu *__wrap_pumice_gpu_create(const struct pumice_gpu_config *config,
					    const struct pumice_gpu_ops *ops, void *opaque,
					    const char **error)
{
	struct pumice_gpu_config changed = *config;
	struct pumice_gpu *gpu;
	u32 i;

	changed.mode = oracle.mode_name;
	/* It has no lock until it is known: nothing waits for one that is being created. */
	held.depth++;
	gpu = __real_pumice_gpu_create(&changed, ops, opaque, error);
	held.depth--;
	for (i = 0; i < MAX_GPUS && oracle.gpu[i].gpu; i++)
		;
	FUZZ_CHECK(i < MAX_GPUS, "too many GPUs");
	if (gpu) {
		oracle.gpu[i].units = new_units;
		oracle.gpu[i].gpu = gpu;
	}
	oracle.created = atomic_load(&oracle.bytes);
	return gpu;
}

void __wrap_pumice_gpu_destroy(struct pumice_gpu *gpu)
{
	u32 i;

	__real_pumice_gpu_destroy(gpu);
	for (i = 0; i < MAX_GPUS; i++) {
		if (oracle.gpu[i].gpu != gpu)
			continue;
		__real_free(oracle.gpu[i].units);
		oracle.gpu[i].gpu = NULL;
	}
}

/* Inputs. */

__attribute__((constructor)) static void select_mode(void)
{
	oracle.mode_name = getenv("PUMICE_FUZZ_MODE");
	FUZZ_CHECK(mode_find(oracle.mode_name, &oracle.mode), "PUMICE_FUZZ_MODE: no mode %s",
		   oracle.mode_name);
}

static void begin(void)
{
	for (u32 n = 0; n < ORACLE_LOCKS; n++)
		atomic_store(&oracle.hold[n], 0);
	atomic_store(&oracle.stop, 0);
	atomic_store(&oracle.step, 0);
	oracle.before = atomic_load(&oracle.bytes);
	atomic_store(&oracle.peak, oracle.before);
}

static void check_memory(void)
{
	const u64 fast = oracle.limit_bytes ? oracle.limit_bytes : ORACLE_GPU_BYTES;
	const u64 limit = fast + limits[oracle.mode].bytes;
	s64 more = atomic_load(&oracle.bytes) - oracle.before;
	s64 peak = atomic_load(&oracle.peak) - oracle.before;

	FUZZ_CHECK(peak <= (s64)limit, "%lld bytes of host memory", (long long)peak);
	FUZZ_CHECK(more <= 0, "%lld bytes are never freed", (long long)more);
	if ((u64)peak > oracle.worst_bytes)
		oracle.worst_bytes = (u64)peak;
}

/* Of one input: of each the best of its runs. */
struct measured {
	u64 hold[ORACLE_LOCKS], stop, step;
};

static void keep_best(struct measured *best)
{
	u32 n;

	for (n = 0; n < ORACLE_LOCKS; n++)
		best->hold[n] = min_u64(best->hold[n], oracle.hold[n]);
	best->stop = min_u64(best->stop, oracle.stop);
	best->step = min_u64(best->step, oracle.step);
}

static bool exceeds(const struct measured *best)
{
	bool exceeded = best->stop > limits[oracle.mode].stop ||
			best->step > limits[oracle.mode].step;
	u32 n;

	for (n = 0; n < ORACLE_LOCKS; n++)
		exceeded |= best->hold[n] > limits[oracle.mode].hold[n];
	return exceeded;
}

static void check_work(const struct measured *best)
{
	static const char *const name[ORACLE_LOCKS] = {
		[ORACLE_DEVICE] = "the device lock", [ORACLE_RESET] = "a lock of a reset",
		[ORACLE_BLOCK] = "a lock",
	};
	u32 n;

	for (n = 0; n < ORACLE_LOCKS; n++) {
		FUZZ_CHECK(best->hold[n] <= limits[oracle.mode].hold[n], "%s is held for %llu blocks",
			   name[n], (unsigned long long)best->hold[n]);
		oracle.worst_hold[n] = max_u64(oracle.worst_hold[n], best->hold[n]);
	}
	FUZZ_CHECK(best->stop <= limits[oracle.mode].stop,
		   "unit %u notices after %llu blocks that it is to stop", oracle.stop_unit,
		   (unsigned long long)best->stop);
	FUZZ_CHECK(best->step <= limits[oracle.mode].step, "a step of unit %u takes %llu blocks",
		   oracle.step_unit, (unsigned long long)best->step);
	oracle.worst_stop = max_u64(oracle.worst_stop, best->stop);
	oracle.worst_step = max_u64(oracle.worst_step, best->step);
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct measured best;
	u32 tries = 0;

	memset(&best, 0xff, sizeof(best));
	do {
		begin();
		__real_LLVMFuzzerTestOneInput(data, size);
		check_memory();
		keep_best(&best);
	} while (exceeds(&best) && ++tries < TRIES);
	FUZZ_CHECK(best.hold[ORACLE_DEVICE] || best.hold[ORACLE_BLOCK] || !ORACLE_COUNTS,
		   "no work is counted");
	check_work(&best);
	return 0;
}

__attribute__((destructor)) static void report(void)
{
	if (oracle.worst_bytes)
		printf("# worst of all inputs: device lock held for %llu blocks, in a reset for %llu, "
		       "another lock for %llu, stop noticed after %llu, step of %llu, %.1f MiB\n",
		       (unsigned long long)oracle.worst_hold[ORACLE_DEVICE],
		       (unsigned long long)oracle.worst_hold[ORACLE_RESET],
		       (unsigned long long)oracle.worst_hold[ORACLE_BLOCK],
		       (unsigned long long)oracle.worst_stop,
		       (unsigned long long)oracle.worst_step,
		       (double)oracle.worst_bytes / 1048576);
}
