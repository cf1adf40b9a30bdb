/* SPDX-License-Identifier: MIT */
/*
 * libpumice, performance counters of selected jobs, counts of the
 * memory hierarchy, and a trace of the events of the GPU. pumice.h includes this.
 *
 * Errors, threads and lifetimes are as in pumice.h.
 */
#ifndef PUMICE_PUMICE_PERF_H
#define PUMICE_PUMICE_PERF_H

#include "pumice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------- performance counters */

/* Counts only while a job with a performance monitor runs. */
#define PUMICE_PERF_DETAILED	(1u << 0)
/* Counts all jobs that ran concurrently with the monitor's, of any user. */
#define PUMICE_PERF_GLOBAL	(1u << 1)

/** struct pumice_perf_info - description of a performance counter. */
struct pumice_perf_info {
	/** @flags: PUMICE_PERF_* */
	uint32_t flags;
	/** @name: name */
	char name[32];
	/** @category: hardware block */
	char category[16];
	/** @unit: unit of one count */
	char unit[16];
	/** @description: text */
	char description[128];
};

/**
 * pumice_perf_counter_get - describe a counter.
 * @counter: from 0 to pumice_device_limits.perf_counters - 1
 * @info: out
 *
 * Return: 0; -ENOENT past the last.
 */
int pumice_perf_counter_get(struct pumice_device *dev, uint32_t counter,
			    struct pumice_perf_info *info);

/**
 * pumice_perf_counter_find - get the number of a counter by its name.
 * @name: its name, not case sensitive
 * @counter: out
 *
 * Return: 0; -ENOENT.
 */
int pumice_perf_counter_find(struct pumice_device *dev, const char *name, uint32_t *counter);

/* Maximum number of counters of one monitor. */
#define PUMICE_MAX_PERF_COUNTERS 32

/**
 * pumice_perfmon_create - create a monitor that accumulates counters over the jobs that use it.
 * @counters: numbers of counters
 * @count: elements of @counters, 1 to PUMICE_MAX_PERF_COUNTERS
 * @perfmon: out
 *
 * Return: 0; -EINVAL for a counter that does not exist, -E2BIG, -ENOSPC at
 * the limit of monitors, -ENOMEM; -EACCES for PUMICE_PERF_GLOBAL counters
 * without CAP_PERFMON where the sysctl dev.pumice.perf_paranoid is not 0.
 */
int pumice_perfmon_create(struct pumice_device *dev, const uint32_t *counters, uint32_t count,
			  struct pumice_perfmon **perfmon);

/** pumice_perfmon_destroy - destroy it; jobs that use it continue without. */
void pumice_perfmon_destroy(struct pumice_perfmon *perfmon);

/** pumice_perfmon_id - return its id, for pumice_job.perfmon; not 0. */
uint32_t pumice_perfmon_id(const struct pumice_perfmon *perfmon);

#define PUMICE_PERFMON_RESET	(1u << 0)	/* reset to zero after reading */

/**
 * pumice_perfmon_read - read the counts of the jobs that have ended.
 * @flags: PUMICE_PERFMON_*
 * @values: out: one for each counter, in the order of creation
 *
 * Return: 0; -EBUSY while a job that uses it has not ended; -EINVAL.
 */
int pumice_perfmon_read(struct pumice_perfmon *perfmon, uint32_t flags, uint64_t *values);

/* ---------------------------------------------- counts of the memory hierarchy */

/**
 * struct pumice_hierarchy_client - counts of a client, a kind of requests of a unit. The first and
 * the second level are those of the data or of the texture caches, by its path.
 */
struct pumice_hierarchy_client {
	/** @name: name, such as usc-load */
	char name[32];
	/** @requests: as units made them */
	uint64_t requests;
	/** @bytes: bytes of these */
	uint64_t bytes;
	/** @first_requests: of lines of the first level, atomic operations among them */
	uint64_t first_requests;
	/** @first_hits: those whose line it held */
	uint64_t first_hits;
	/** @first_misses: those whose line it did not hold */
	uint64_t first_misses;
	/** @first_combined: writes that it combined with an earlier one */
	uint64_t first_combined;
	/** @second_requests: of the second level */
	uint64_t second_requests;
	/** @second_hits: the same */
	uint64_t second_hits;
	/** @second_misses: the same */
	uint64_t second_misses;
	/** @second_combined: the same */
	uint64_t second_combined;
	/** @slc_hits: requests whose line the SLC held */
	uint64_t slc_hits;
	/** @slc_misses: those whose line it did not hold */
	uint64_t slc_misses;
	/** @slc_bypasses: those for which it allocates no line */
	uint64_t slc_bypasses;
	/** @read_bytes: bytes that the SLC read from memory */
	uint64_t read_bytes;
	/** @written_bytes: bytes that it wrote to memory */
	uint64_t written_bytes;
};

/** struct pumice_hierarchy_level - counts of all caches of a level. */
struct pumice_hierarchy_level {
	/** @name: name, such as data-l1 */
	char name[32];
	/** @requests: of lines: hits, misses, atomics, combined and bypasses */
	uint64_t requests;
	/** @bytes: bytes of these */
	uint64_t bytes;
	/** @hits: those whose line was held */
	uint64_t hits;
	/** @misses: those whose line was not held */
	uint64_t misses;
	/** @atomics: atomic operations that were passed on */
	uint64_t atomics;
	/** @combined: writes that were combined with an earlier one */
	uint64_t combined;
	/** @bypasses: those for which no line was allocated */
	uint64_t bypasses;
	/** @evictions: lines that were replaced */
	uint64_t evictions;
	/** @dropped: lines that an atomic operation or an invalidation dropped */
	uint64_t dropped;
	/** @fills: reads of lines from the next level, or memory; of the SLC without bypasses */
	uint64_t fills;
	/** @read_bytes: bytes read from the next level, or memory, also by bypasses */
	uint64_t read_bytes;
	/** @writes: writes to the next level; of the SLC lines written back, without bypasses */
	uint64_t writes;
	/** @written_bytes: bytes written to the next level, or memory, also by bypasses */
	uint64_t written_bytes;
};

/**
 * pumice_device_set_mode - change the mode of the GPU, as mode= in the device string selects it.
 * @mode: "fast", "counted" or "strict"
 *
 * Counts of the memory hierarchy begin at 0 in the latter two, and remain in mode fast. Mode strict
 * begins without findings, but of a GPU of the kernel driver, which keeps them. Results of jobs are
 * the same in all modes.
 *
 * Return: 0; or, with the former mode, -EBUSY while a job of any virtual GPU runs; -EINVAL for
 * another name; -ENOMEM; -EOPNOTSUPP for a GPU of another process; for one of the kernel driver the
 * error of opening its file mode in debugfs, such as -EACCES or -ENOENT.
 */
int pumice_device_set_mode(struct pumice_device *dev, const char *mode);

/**
 * pumice_hierarchy_client_get - get the counts of a client of the memory hierarchy.
 * @client: from 0 until -ENOENT, mem_client of the hardware reference
 * @counts: out
 * @bytes: sizeof(*counts)
 *
 * Counts begin with mode counted or strict; in mode fast they are the last ones. They are exact
 * when no job runs. Return: 0; -ENOENT past the last; -EOPNOTSUPP for a GPU of the kernel driver,
 * whose file in debugfs has them.
 */
int pumice_hierarchy_client_get(struct pumice_device *dev, uint32_t client,
				struct pumice_hierarchy_client *counts, size_t bytes);

/**
 * pumice_hierarchy_level_get - get the counts of a level of caches.
 * @level: from 0 until -ENOENT, cache of the hardware reference
 * @counts: out
 * @bytes: sizeof(*counts)
 *
 * As pumice_hierarchy_client_get().
 *
 * Return: 0; -ENOENT past the last; -EOPNOTSUPP.
 */
int pumice_hierarchy_level_get(struct pumice_device *dev, uint32_t level,
			       struct pumice_hierarchy_level *counts, size_t bytes);

/** struct pumice_hierarchy_bus - requests of lines of a client on the buses (BIFs) to the SLC. */
struct pumice_hierarchy_bus {
	/** @name: name of the client, such as usc-load */
	char name[32];
	/** @requests: of lines, by the caches of cores and by clients without such a cache */
	uint64_t requests;
	/** @read_bytes: bytes of reads and atomic operations */
	uint64_t read_bytes;
	/** @written_bytes: bytes of writes and atomic operations */
	uint64_t written_bytes;
};

/**
 * pumice_hierarchy_bus_get - get the counts of a client's requests on the buses to the SLC.
 * @client: from 0 until -ENOENT, mem_client of the hardware reference
 * @counts: out
 * @bytes: sizeof(*counts)
 *
 * As pumice_hierarchy_client_get(). Return: 0; -ENOENT past the last; -EOPNOTSUPP for a GPU of the
 * kernel driver or of another process.
 */
int pumice_hierarchy_bus_get(struct pumice_device *dev, uint32_t client,
			     struct pumice_hierarchy_bus *counts, size_t bytes);

/**
 * pumice_finding_get - get a finding of mode strict: an error that the GPU has detected.
 * @number: from 0 until -ENOENT, in the order of detection
 * @text: out, a JSON object in one line; Documentation/strict.rst describes its members
 * @bytes: room of @text; 2048 is sufficient
 *
 * Findings are complete when no job runs. If there was no room for further ones, the last text is
 * {"lost": N}, with the number of their detections; of all virtual GPUs, and only of device 0.
 * Those of a GPU of the kernel driver are of all processes; they are in a file in debugfs.
 *
 * Return: 0; -ENOENT past the last; -ENOSPC; -EOPNOTSUPP for a GPU of another process; for one of
 * the kernel driver the error of opening its file, such as -EACCES, or -ENODEV without the file.
 */
int pumice_finding_get(struct pumice_device *dev, uint32_t number, char *text, size_t bytes);

/* ------------------------------------------------- devices of other processes */

/** struct pumice_process - a process with a device. */
struct pumice_process {
	/** @pid: its id */
	uint32_t pid;
	/** @name: name of its program, truncated if it is longer */
	char name[64];
};

/**
 * pumice_device_process - get the process that has a device opened as "pid:PID".
 * @process: out
 *
 * Return: 0; -ENOENT for a device that was opened otherwise.
 */
int pumice_device_process(struct pumice_device *dev, struct pumice_process *process);

/* ------------------------------------------------------------- event trace */

/** enum pumice_event - events of the GPU: see trace_kind of the hardware reference. */
enum pumice_event {
	/** @PUMICE_EVENT_JOB_START: arg0: control stream; arg1: 1 if resumed, job from bit 8 */
	PUMICE_EVENT_JOB_START = 1,
	/** @PUMICE_EVENT_JOB_END: arg0: fault; arg1: 0 done, 1 fault, 2 aborted, 3 switched out */
	PUMICE_EVENT_JOB_END = 2,
	/** @PUMICE_EVENT_LAUNCH: arg0: work-groups; arg1: address of the command */
	PUMICE_EVENT_LAUNCH = 3,
	/** @PUMICE_EVENT_GROUP_START: arg0: linear number of a work-group; arg1: its waves */
	PUMICE_EVENT_GROUP_START = 4,
	/** @PUMICE_EVENT_GROUP_END: arg0: linear number of a work-group */
	PUMICE_EVENT_GROUP_END = 5,
	/** @PUMICE_EVENT_MMU_FAULT: arg0: address; arg1: fault, and unit from bit 8 */
	PUMICE_EVENT_MMU_FAULT = 6,
	/** @PUMICE_EVENT_MMU_INVALIDATE: arg0: first address; arg1: last */
	PUMICE_EVENT_MMU_INVALIDATE = 7,
	/** @PUMICE_EVENT_MMU_WALK: arg0: address; arg1: unit */
	PUMICE_EVENT_MMU_WALK = 8,
	/** @PUMICE_EVENT_STALL: arg0: tasks in flight */
	PUMICE_EVENT_STALL = 9,
	/** @PUMICE_EVENT_CHUNK: a core works on a chunk. arg0: its number; arg1: primitives */
	PUMICE_EVENT_CHUNK = 10,
	/** @PUMICE_EVENT_TA: arg0: 0 bins, 1 culls, 2 writes region headers; arg1: primitives */
	PUMICE_EVENT_TA = 11,
	/** @PUMICE_EVENT_PM: arg0: 0 page allocated, 1 none is free, 2 low, 3 freed, 4 grown */
	PUMICE_EVENT_PM = 12,
	/** @PUMICE_EVENT_TILE: arg0: column, and row from bit 32; arg1: pixels shaded */
	PUMICE_EVENT_TILE = 13,
	/** @PUMICE_EVENT_ISP: arg0: as of a tile; arg1: primitives so far */
	PUMICE_EVENT_ISP = 14,
	/** @PUMICE_EVENT_SPANS: arg0: 0 objects, 1 background, 2 end of tile; arg1: spans */
	PUMICE_EVENT_SPANS = 15,
	/** @PUMICE_EVENT_TASK: arg0: number on the USC while it runs; arg1: waves */
	PUMICE_EVENT_TASK = 16,
	/** @PUMICE_EVENT_TAG: arg0: reads for its data master; arg1: 0 of the USC, 1 of
	 * iterators */
	PUMICE_EVENT_TAG = 17,
	/** @PUMICE_EVENT_PBE: arg0: as of a tile */
	PUMICE_EVENT_PBE = 18,
	/** @PUMICE_EVENT_TRANSFER: arg0: address of the command; arg1: its type */
	PUMICE_EVENT_TRANSFER = 19,
	/** @PUMICE_EVENT_FIRMWARE: a line of the firmware's log, in numbers */
	PUMICE_EVENT_FIRMWARE = 20,
};

/** enum pumice_event_phase - whether an event has a duration. */
enum pumice_event_phase {
	/** @PUMICE_PHASE_INSTANT: none, or its kind is one of a pair */
	PUMICE_PHASE_INSTANT = 0,
	/** @PUMICE_PHASE_BEGIN: work begins */
	PUMICE_PHASE_BEGIN = 1,
	/** @PUMICE_PHASE_END: it is complete; kind, usc, slot and arg0 are those of its begin */
	PUMICE_PHASE_END = 2,
	/** @PUMICE_PHASE_CANCEL: it ends incomplete */
	PUMICE_PHASE_CANCEL = 3,
};

/** struct pumice_event_record - one event. */
struct pumice_event_record {
	/** @time: GPU clock */
	uint64_t time;
	/** @kind: enum pumice_event */
	uint32_t kind;
	/** @context: id of the context whose job it was; 0 for events of no job */
	uint32_t context;
	/** @mmu_context: MMU context */
	uint16_t mmu_context;
	/** @usc: USC over all cores, or core, or data master: see trace_record of the reference */
	uint16_t usc;
	/** @phase: enum pumice_event_phase */
	uint8_t phase;
	/** @dm: data master of the job: 0 CDM, 1 VDM, 2 PDM, 3 TDM, 4 RDM */
	uint8_t dm;
	/** @slot: which of the core's tiles in flight */
	uint8_t slot;
	/** @reserved: 0 */
	uint8_t reserved;
	/** @arg0: see enum pumice_event */
	uint64_t arg0;
	/** @arg1: see enum pumice_event */
	uint64_t arg1;
};

/** pumice_event_name - return the name of an enum pumice_event. */
const char *pumice_event_name(uint32_t kind);

/* Mask of all kinds of events. */
#define PUMICE_EVENTS_ALL UINT32_MAX

/**
 * pumice_trace_open - begin to trace events of the GPU, for all its users.
 * @kinds: bit n: events of enum pumice_event n
 * @entries: capacity for unread events, a power of two
 *   from 2 to 2^20; ignored with the kernel driver
 * @trace: out
 *
 * Return: 0; -EINVAL; -EBUSY while another trace is open; -ENOMEM; through the
 * kernel driver the error of opening its debugfs file, such as -EACCES or -ENOENT.
 */
int pumice_trace_open(struct pumice_device *dev, uint32_t kinds, uint32_t entries,
		      struct pumice_trace **trace);

/**
 * pumice_trace_read - consume events, oldest first.
 * @records: room for @max events
 * @max: events
 * @count: out: number of events read; 0 if there are no new ones
 * @lost: out: events that were overwritten before they were read, between those
 *   of the last call and the first of this one; may be NULL
 *
 * Does not wait. Returns fewer than @max events before such a gap: read until
 * @count is 0. Return: 0 or a negative errno; an error after events is that of the
 * next call. With a GPU of another process -ECONNRESET: that process has ended.
 */
int pumice_trace_read(struct pumice_trace *trace, struct pumice_event_record *records,
		      uint32_t max, uint32_t *count, uint64_t *lost);

/** pumice_trace_close - stop tracing. */
void pumice_trace_close(struct pumice_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
