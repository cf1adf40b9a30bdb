/* SPDX-License-Identifier: MIT */
/*
 * The backend that runs a GPU core in this process.
 *
 * It corresponds to the kernel driver, with the same firmware and the same
 * commands: memory (ram.c), translation tables (tables.c, space.c),
 * firmware and kernel CCB (fw.c), VMs (vm.c) and their queues of binds
 * (bind.c), contexts with client CCBs (context.c, submit.c), free lists
 * (freelist.c) and render-target data sets (hwrt.c), fences (sync.c),
 * performance monitors and statistics (perf.c), the event trace (trace.c),
 * further virtual GPUs (virtual.c).
 *
 * Locking: one lock protects all state of a device; functions are called with
 * it held unless documented otherwise. It is dropped while waiting for the GPU.
 * Each virtual GPU is a device with a lock of its own; virtual.c has the locks of the GPU.
 */
#ifndef PUMICE_INPROC_H
#define PUMICE_INPROC_H

#include "dumpfile.h"
#include "fwif.h"
#include "heaps.h"
#include "internal.h"
#include "pumice/pumice_present.h"
#include "pumice_formats.h"
#include "pumice_gpu.h"
#include "pumice_regs.h"
#include "ranges.h"

/* Ends of error texts. */
#define OUT_OF_GPU_MEMORY "out of GPU memory; open the device with a larger ram=MIB"
#define TOO_MANY_CONTEXTS "context: the firmware supports no more; destroy one"

#define RAM_BASE	0x100000000ull	/* bus address of the memory, above 4 GiB */
#define RAM_DISTANCE	0x2000000000ull	/* of the memories of two virtual GPUs */
#define BLOCK_BYTES	(2ull << 20)	/* range of one page-directory entry */
/* Addresses from PUMICE_HEAPS_END on are reserved for parameter buffers and region headers. */
#define VA_SPACE_END	(1ull << PUMICE_MMU_VA_BITS)
/* Mapping flag, in addition to PUMICE_BIND_*: for the tiling pipeline only. */
#define BIND_PM_OWNED	(1u << 31)
/* The same: caches of the GPU keep nothing of the memory. */
#define BIND_COHERENT	(1u << 30)

struct inproc_context;

/* ------------------------------------------------------------------- ram.c */

/* A piece of memory with a reference count. */
struct memory {
	u32 refs;
	u64 bus, bytes;
	bool coherent;	/* PUMICE_BO_COHERENT; constant */
	bool freed;	/* its bo was destroyed */
	/* For findings: the bo, or NULL; of one that was destroyed its size and its name then. */
	struct pumice_bo *bo;
	u64 used;	/* bytes as requested; 0: not of a bo */
	char label[PUMICE_LABEL_BYTES];
};

/* ---------------------------------------------------------------- tables.c */

#define VA_GIBS	1024u	/* entries of a catalogue */

/* Translation tables of one MMU context. */
struct tables {
	u64 catalogue;	/* bus address */
	u64 foreign[VA_GIBS / 64];	/* bit n: the directory of GiB n is not of these tables */
};

/* Table pages that changes add and remove. */
struct table_change {
	u64 *fresh, *old;	/* bus addresses */
	u32 fresh_count, old_count, fresh_room, old_room;
};

/* ----------------------------------------------------------------- space.c */

struct mapping {
	struct range at;	/* the first member */
	u64 bus;
	u32 flags;		/* PUMICE_BIND_* */
	struct memory *memory;	/* reference; NULL for memory freed only after the space */
	struct mapping *next;	/* of those that a change has removed */
};

struct space {
	struct tables tables;
	struct ranges mappings;
};

/* Mappings and tables that changes of a space have replaced; zero at first. */
struct space_change {
	struct table_change tables;
	struct mapping *removed;
	bool replaced;	/* a mapping, or a part of one */
};

/* -------------------------------------------------------------------- fw.c */

/* A piece of memory shared with the firmware. */
struct fw_buffer {
	u32 addr;	/* firmware address; 0 for none */
	u64 bus, bytes;
	void *cpu;
};

#define KCCB_COUNT	128u
#define FWCCB_COUNT	64u
#define LOG_COUNT	256u

/* Contents of the buffer of the boot structure. */
struct fw_shared {
	struct fwif_boot boot;
	struct fwif_ring kccb_ring, fwccb_ring, log_ring;
	_Alignas(64) struct fwif_kccb_cmd kccb[KCCB_COUNT];
	u32 kccb_status[KCCB_COUNT];
	struct fwif_fwccb_msg fwccb[FWCCB_COUNT];
	struct fwif_log_entry log[LOG_COUNT];
	/*
	 * Update objects of contexts. They are never unmapped, and a new context continues
	 * from the value of its predecessor, as jobs of others may still be waiting.
	 */
	u32 objects[FWIF_MAX_CONTEXTS];
};

/* -------------------------------------------------------------------- flip.c */

/* Presents of a job that have no flip yet. */
struct job_flips {
	u32 left;
	u64 user_data;
};

/* Flips that were not returned, oldest first, of a ring. */
struct flip_queue {
	struct pumice_flip flip[PUMICE_MAX_FLIPS];
	u32 first, count;
	u32 reserved;	/* of these, and of presents that have no flip yet */
};

/* ----------------------------------------------------------------- context.c */

/*
 * The fences of a context: job n is done when @done has reached
 * n. It exists as long as any reference to a fence of it.
 */
struct timeline {
	u32 refs;
	u32 submitted;
	u32 done;
	u32 object;	/* firmware address of the update object; 0: context destroyed */
};

/* A fence; without a timeline it counts as signaled. */
struct fence {
	struct timeline *timeline;	/* reference */
	u32 seqno;
};

#define CCCB_BYTES	16384u
#define RESULT_COUNT	256u

/* Contents of the buffer of a context. */
struct context_shared {
	struct fwif_context context;
	_Alignas(8) u32 save[PUMICE_CDM_SAVE_WORDS];	/* of a switched-out job */
	_Alignas(8) struct fwif_stuck stuck;	/* where the killed job was */
	_Alignas(8) struct fwif_flips flips;	/* of a transfer context */
	_Alignas(4096) u8 cccb[CCCB_BYTES];
	struct fwif_job_result results[RESULT_COUNT];
};

/*
 * A context of the firmware. A render context consists of two: the user's, with the geometry
 * jobs, and a second one with the fragment jobs, whose results are stored in the first.
 */
struct inproc_context {
	struct pumice_context base;
	struct inproc_context *next;	/* of the device */
	struct inproc_context *second;	/* or NULL */
	struct inproc_context *first;	/* the context of which this is the second, or NULL */
	struct timeline *timeline;
	struct fw_buffer buffer;
	struct context_shared *shared;
	u32 object;			/* number of its update object */
	u32 write;			/* client CCB */
	bool dead;			/* rejects further jobs */
	bool timed_out;			/* killed because of job watch_seqno */
	bool held;			/* killed by the firmware, whose job has not been counted */
	bool other_lives;		/* of the user's: the firmware has killed one queue only */
	u32 watch_seqno;		/* job in progress at the last check */
	u64 watch_start;		/* watched_ns of the device when that was first seen */
	struct pumice_context_state state;
	u64 numbered, last;		/* jobs of both queues; the one that ended last */
	struct pumice_job_result kept[KEPT_RESULTS];	/* indexed by job number */
	u64 number[RESULT_COUNT];	/* of jobs, by seqno; valid from submission on */
	u64 stream[RESULT_COUNT];	/* the same */
	struct perf_buffer *perf[RESULT_COUNT];	/* refs; of jobs that have not ended, by seqno */
	struct job_flips flips[RESULT_COUNT];	/* of jobs that have not ended, by seqno */
	u32 flip_read;			/* flips of the firmware that were read, wrapping */
};

/* -------------------------------------------------------------------- perf.c */

/* Counters written by the firmware; exists as long as a job that uses it. */
struct perf_buffer {
	u32 refs;
	u32 busy;		/* jobs that have not ended */
	struct fw_buffer buffer;	/* struct fwif_perf */
};

struct inproc_perfmon {
	struct pumice_perfmon base;
	struct inproc_perfmon *next;	/* of the device */
	struct perf_buffer *buffer;	/* reference count */
	u32 counters[PUMICE_MAX_PERF_COUNTERS];
	u64 zero[PUMICE_MAX_PERF_COUNTERS];	/* subtracted on reading */
};

/* -------------------------------------------------------------------- bind.c */

/* A pending call of pumice_vm_bind_async(). */
struct pending_bind {
	struct pending_bind *next;
	struct pumice_bind *ops;
	struct memory **memory;	/* of each operation, reference; NULL to unmap */
	u32 count;
	struct fence *waits;	/* with references to timelines */
	u32 wait_count;
	u32 seqno;		/* on the timeline of the VM's binder */
};

/* ------------------------------------------------------------------- sync.c */

struct sync_point {
	struct sync_point *next;
	u64 point;
	struct fence fence;
};

/* Binary (fence) and timeline (points, reached) at once; a user uses only one of them. */
struct inproc_sync {
	struct pumice_sync base;
	bool has_fence;
	struct fence fence;
	struct sync_point *points;	/* ascending, not yet seen as reached */
	struct sync_point *last;	/* of them, or NULL */
	u64 reached;
};

/* ------------------------------------------------------------------- device */

struct inproc_bo {
	struct pumice_bo base;
	struct memory *memory;
};

struct inproc_vm {
	struct pumice_vm base;
	struct inproc_vm *next;		/* of the device */
	struct space space;
	struct extents pm_room;		/* free addresses from PUMICE_HEAPS_END on */
	/*
	 * Memory that is not coherent was mapped, or is to be by a pending bind: caches of the GPU
	 * may hold lines of it. Never cleared. Until then, each new mapping is followed by an
	 * invalidation, as jobs do not drop the lines of the tables.
	 */
	bool cached;
	/*
	 * A job was written without operations on caches, so that one may be queued or run after
	 * the VM became cached, and depend on a mapping that is made later: invalidations continue.
	 * Never cleared.
	 */
	bool cacheless_job;
	/* Unusable: tables and TLBs became inconsistent, or an asynchronous bind failed. */
	bool unusable;
	u64 fault_count;		/* total */
	struct pumice_vm_fault faults[PUMICE_VM_FAULTS];	/* last ones, by number */
	/*
	 * Asynchronous binds, oldest first. Their fences belong to a firmware
	 * context that runs updates only, so that jobs can wait for them.
	 */
	struct pending_bind *pending;
	struct inproc_context *binder;	/* NULL before the first bind */
	u64 operations;			/* of binds, in the order in which they took effect */
};

/* --------------------------------------------------------------- freelist.c */

/* Contents of the buffer of a free list. */
struct freelist_shared {
	u32 list[PUMICE_FREE_LIST_WORDS];
	_Alignas(64) u32 links[];	/* max_pages entries */
};

struct inproc_freelist {
	struct pumice_freelist base;
	struct inproc_freelist *next;	/* of the device */
	struct pumice_freelist_desc desc;
	u64 va;				/* of page 0; range of max_pages */
	u32 pages;			/* that the GPU uses */
	bool gpu_tables;		/* the GPU maps the pages; va is of 1 GiB */
	u64 own_directory;		/* of the VM's tables for these addresses then, or 0 */
	struct memory **step;		/* their memory then */
	u32 steps;
	struct memory *reserve;		/* the next pages to grow by, or NULL */
	bool grow_requested;		/* the firmware waits for a reply */
	bool reply_pending;		/* the reply waits for room in the kernel CCB */
	struct fw_buffer buffer;		/* struct freelist_shared */
};

/* ------------------------------------------------------------------- hwrt.c */

#define HWRT_SCENES	2u

/* A scene and its chains, in the firmware's layout. */
struct scene_shared {
	_Alignas(64) u32 scene[PUMICE_SCENE_WORDS];
	u32 chain[PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y * PUMICE_PM_LISTS]
		 [PUMICE_SCENE_CHAIN_WORDS];
};

struct inproc_hwrt {
	struct pumice_hwrt base;
	struct inproc_freelist *list[PUMICE_PM_LISTS];	/* or NULL */
	u64 regions, regions_bytes;	/* GPU virtual address for scene 0; bytes of one scene */
	struct fw_buffer buffer;		/* struct scene_shared of each */
	/* Most recent jobs that used the scene. */
	struct fence binned[HWRT_SCENES], rendered[HWRT_SCENES];
};

/* ---------------------------------------------------------------- virtual.c */

/* The GPU that the virtual GPUs of one device share; it exists until the last of them is closed. */
struct inproc_shared {
	/* Held while a virtual GPU is opened or closed; taken before other locks. */
	pthread_mutex_t lock;
	u32 open;		/* virtual GPUs that are not closed */
	/*
	 * One thread at a time: runs of the GPU in waits, changes of its memory map, and sequences
	 * of accesses to registers that select others. After the lock of a device.
	 */
	pthread_mutex_t run_lock;
	/* For the table below, which interrupts read; not held in calls of the core. */
	pthread_mutex_t irq_lock;
	struct inproc_device *device[PUMICE_OS_COUNT];	/* by number; NULL if not open */
};

/* Steps of a driver that are left out, for tests of mode strict: struct inproc_device, omitted. */
#define INPROC_OMIT_INVALIDATE		(1u << 0)	/* of the MMU after a change of mappings */
#define INPROC_OMIT_LATER_PAGES		(1u << 1)	/* of it all pages but the first */
#define INPROC_OMIT_OWN_CONTEXT		(1u << 2)	/* it is of another VM */
#define INPROC_OMIT_START		(1u << 3)	/* of caches at the start of a job */
#define INPROC_OMIT_START_SYSTEM	(1u << 4)	/* the same, of the SLC */
#define INPROC_OMIT_END			(1u << 5)	/* the clean of caches at its end */
#define INPROC_OMIT_ENTRY		(1u << 6)	/* of the entry of a freed table */
#define INPROC_OMIT_PAGE_SIZE		(1u << 7)	/* of a heap, in new entries */

struct inproc_device {
	struct pumice_device base;
	struct pumice_gpu *gpu;
	u32 os;			/* number of this virtual GPU */
	u32 oses;		/* virtual GPUs that are active */
	struct inproc_device *first;	/* number 0, which may be this device */
	struct inproc_shared shared;	/* of number 0 */
	bool debugged;		/* firmware may be stopped by GDB: no time-outs */
	u32 threads;
	u32 slice_us, split_prims;	/* passed to the firmware; 0 for its default */
	u32 hold_us;			/* the same */
	u32 pds_shares;			/* the same */
	u32 dms_policy;			/* of struct fwif_boot */
	u32 job_timeout_ms;		/* 0: none */
	u32 omitted;			/* INPROC_OMIT_*: errors that tests seed; or 0 */
	pthread_mutex_t lock;

	/* ram.c */
	u8 *ram;
	u64 ram_base, ram_bytes;	/* bus address, size */
	struct extents ram_free;

	/* fw.c */
	struct space fw_space;
	struct extents fw_room;
	struct fw_buffer fw_buffer;
	struct fw_shared *fw;
	u32 kccb_write;
	bool kccb_held[KCCB_COUNT];	/* a thread is about to read the status */
	bool object_used[FWIF_MAX_CONTEXTS];
	u64 guilty, innocent;		/* counts of such contexts; there are no resets */
	const char *lost;		/* reason why the GPU is lost, or NULL */
	struct gdb_server *gdb;		/* gdb.c, or NULL */
	struct attach_server *attach;	/* attach.c, or NULL */

	struct flip_queue flips;
	struct inproc_context *contexts;
	struct inproc_freelist *freelists;
	u32 fwccb_read;
	bool growing;			/* a thread is serving free lists */
	struct inproc_vm *vms;
	bool binding;			/* a thread is executing asynchronous binds */
	bool no_room;			/* a bind's signal is pending for lack of ring space */
	bool no_room_to_kill;		/* so are the commands that kill a context */
	struct inproc_perfmon *perfmons;
	u32 last_perfmon;		/* id */
	struct inproc_trace *trace;	/* the only trace, or NULL */
	u64 jobs_submitted;		/* statistics; those of ended jobs are in the contexts */
	u64 jobs_done, jobs_faulted;

	/* watch.c */
	u64 watch_time;			/* CLOCK_MONOTONIC of the last check, ns */
	u64 watched_ns;			/* total */

	/*
	 * Events: interrupts, and signals from the CPU. Their
	 * lock is innermost and not held in calls of the core.
	 */
	pthread_mutex_t event_lock;
	pthread_cond_t event;
	u64 events;
};

static inline struct inproc_device *inproc_device(struct pumice_device *dev)
{
	return (struct inproc_device *)dev;
}

/* buffers.c: for findings of mode strict; without effect in other modes */
/* A bo is destroyed; its memory may still be mapped. */
void buffers_note_free(struct inproc_device *d, struct memory *m);
void buffers_note_label(struct inproc_device *d, const struct memory *m, const char *label);
/* Mappings of a range are about to be removed by the current operation of a VM. */
void buffers_note_unmap(struct inproc_device *d, struct inproc_vm *vm, u64 va, u64 size);
void buffers_note_map(struct inproc_device *d, struct inproc_vm *vm, const struct mapping *m);
/* A VM is being destroyed: before its tables. */
void buffers_forget(struct inproc_device *d, const struct inproc_vm *vm);

/* virtual.c */
/* Begin to be number 0 of a GPU that does not exist yet. */
void virtual_init(struct inproc_device *d);
/* Wake the waiters of virtual GPU @os; any thread. @first: number 0 */
void virtual_raise_irq(struct inproc_device *first, u32 os);
/* Set the memory map of the GPU to the memory of all that are open. Return: 0 or -errno */
int virtual_set_memory(struct inproc_device *d);
/* Begin and end what one thread at a time may do; see struct inproc_shared. */
void virtual_run_lock(struct inproc_device *d);
void virtual_run_unlock(struct inproc_device *d);
/* Disconnect a device that is not number 0. No lock held. */
void virtual_close(struct inproc_device *d);
/* Count a device as closed. Return: whether it was the last one. No lock held. */
bool virtual_put(struct inproc_device *first);
/* Destroy the locks. The GPU, whose threads take them, is destroyed. */
void virtual_fini(struct inproc_device *first);
int inproc_open_virtual(struct pumice_device *dev, u32 number, struct pumice_device **out);

/* device.c */
/* Allocate a device without GPU, memory and firmware. Return: NULL if out of memory. */
struct inproc_device *device_create(void);
void device_destroy(struct inproc_device *d);

/* ram.c */
int ram_init(struct inproc_device *d, u64 bytes);
void ram_fini(struct inproc_device *d);
/* Allocate zeroed memory. Return: 0 or -ENOMEM. */
int ram_alloc(struct inproc_device *d, u64 bytes, u64 align, u64 *bus);
void ram_free(struct inproc_device *d, u64 bus, u64 bytes);
void *ram_cpu(struct inproc_device *d, u64 bus);
struct memory *memory_create(struct inproc_device *d, u64 bytes);
void memory_get(struct memory *m);
void memory_put(struct inproc_device *d, struct memory *m);
int inproc_bo_create(struct pumice_device *dev, u64 size, struct pumice_vm *exclusive, u32 flags,
		     struct pumice_bo **bo);
void inproc_bo_destroy(struct pumice_bo *bo);
int inproc_bo_set_label(struct pumice_bo *bo, const char *label);
int inproc_bo_madvise(struct pumice_bo *bo, u32 advice, bool *retained);
int inproc_bo_map(struct pumice_bo *bo, void **cpu);
void inproc_bo_unmap(struct pumice_bo *bo, void *cpu);

/* tables.c */
/* Describe the heaps of large pages. Return: their number. */
u32 tables_heaps(struct pumice_heap *out);
/* Program the range registers: page sizes of the heaps, 4 KiB elsewhere. */
void tables_program_ranges(struct inproc_device *d);
int tables_init(struct inproc_device *d, struct tables *t);
void tables_fini(struct inproc_device *d, struct tables *t);
/*
 * Set the directory of the GiB at @va, where nothing is mapped, to one that the GPU keeps. Return:
 * the empty directory of these tables, for tables_return_gib(), or 0.
 */
u64 tables_lend_gib(struct inproc_device *d, struct tables *t, u64 va, u64 bus);
/* Set the directory of a GiB to @own, which tables_lend_gib() returned. */
void tables_return_gib(struct inproc_device *d, struct tables *t, u64 va, u64 own);
/*
 * Reserve the pages that mapping, or unmapping, @size bytes at @va may need, in addition to those
 * of the change.
 */
int tables_reserve(struct inproc_device *d, struct tables *t, u64 va, u64 size, bool map,
		   struct table_change *change);
/* Enter a mapping, in place of those that are there. Cannot fail. */
void tables_map(struct inproc_device *d, struct tables *t, const struct mapping *m,
		struct table_change *change);
/*
 * Remove the entries of @va to @va + @size. Cannot fail. Pages of tables that are empty then are
 * kept until tables_release(), as the GPU may still access them.
 */
void tables_unmap(struct inproc_device *d, struct tables *t, u64 va, u64 size,
		  struct table_change *change);
void tables_release(struct inproc_device *d, struct table_change *change);
/* Get the entries the GPU reads for an address below 1 TiB. Return: their number, up to 3. */
u32 tables_walk(struct inproc_device *d, const struct tables *t, u64 va,
		struct pumice_dump_walk *steps);

/* space.c */
int space_init(struct inproc_device *d, struct space *s);
void space_fini(struct inproc_device *d, struct space *s);
/*
 * Change a range; replaced mappings are kept until space_release(), to be called after one or
 * more changes, when the TLBs are invalidated. @new: mapping to be copied there, or NULL
 */
int space_change(struct inproc_device *d, struct space *s, u64 va, u64 size,
		 const struct mapping *new, struct space_change *change);
/* Return the first mapping whose end is after an address, and the one after a mapping; or NULL. */
struct mapping *space_find(struct space *s, u64 va);
struct mapping *space_next(struct mapping *m);
void space_release(struct inproc_device *d, struct space_change *change);

/* fw.c */
int fw_init(struct inproc_device *d, const char *path, char *error, size_t error_bytes);
/* Connect a virtual GPU other than 0 to the firmware, and disconnect it. */
int fw_connect(struct inproc_device *d, char *error, size_t error_bytes);
void fw_disconnect(struct inproc_device *d);
/* Return the reason why the firmware does not serve this device anymore, or NULL. */
const char *fw_stopped(struct inproc_device *d);
void fw_fini(struct inproc_device *d);
int fw_buffer_create(struct inproc_device *d, u64 bytes, struct fw_buffer *buffer);
void fw_buffer_destroy(struct inproc_device *d, struct fw_buffer *buffer);
/* Get the firmware address of a member of struct fw_shared. */
u32 fw_addr(const struct inproc_device *d, const void *p);
/* Return whether the kernel CCB has room for a command now, or for @count of them. */
bool fw_has_room(struct inproc_device *d);
bool fw_has_room_for(struct inproc_device *d, u32 count);
/* Queue a command and kick; requires room. Return: its entry. */
u32 fw_send(struct inproc_device *d, const struct fwif_kccb_cmd *cmd);
/* Set and return the error of every call after the GPU is lost. */
int fw_lost(struct inproc_device *d);
/* Queue a command and wait for its reply. Return: 0, -EBUSY or another error. */
int fw_call(struct inproc_device *d, const struct fwif_kccb_cmd *cmd);

/* perf.c */
int inproc_stats(struct pumice_device *dev, struct pumice_device_stats *stats);
int inproc_perf_counter(struct pumice_device *dev, u32 counter, struct pumice_perf_info *info);
int inproc_perfmon_create(struct pumice_device *dev, const u32 *counters, u32 count,
			  struct pumice_perfmon **perfmon);
void inproc_perfmon_destroy(struct pumice_perfmon *perfmon);
int inproc_perfmon_read(struct pumice_perfmon *perfmon, u32 flags, u64 *values);
int inproc_hierarchy_row(struct pumice_device *dev, u32 row, u64 *value);
void inproc_hierarchy_bus(struct pumice_device *dev, u32 client,
			  struct pumice_hierarchy_bus *counts);
int inproc_finding(struct pumice_device *dev, u32 number, char *text, size_t bytes);
const char *inproc_mode(struct pumice_device *dev);
int inproc_set_mode(struct pumice_device *dev, const char *mode);
u32 inproc_findings_clears(struct pumice_device *dev);
u64 inproc_findings_lost(struct pumice_device *dev);
/* Look up the buffer of a monitor by its id, or NULL. */
struct perf_buffer *perf_find(struct inproc_device *d, u32 id);
void perf_put(struct inproc_device *d, struct perf_buffer *buffer);

/* watch.c */
#define WATCH_PAUSE_NS	50000000u	/* maximum interval between two checks in a wait */
bool watch_enabled(const struct inproc_device *d);
/* Kill jobs that exceed the time-out. Called in waits, after event_process(). */
void watch_jobs(struct inproc_device *d);
/* Describe the job of a context that runs: number, unit and waves. Return: 0, -ENODATA. */
int inproc_job_running(struct pumice_context *context, struct pumice_job_result *result);

/* trace.c */
#define INPROC_TRACE_BATCH 64u

/* The event trace; its caller serialises the functions below. */
struct inproc_trace {
	struct pumice_trace base;
	struct fw_buffer buffer;	/* the ring */
	u32 entries;
	u64 next;		/* number of the event to be copied next */
	u64 written;		/* register WRITTEN, as last read */
	/* Copied events, of which those from index on have not been returned. */
	u32 count, index;
	u32 words[INPROC_TRACE_BATCH][PUMICE_TRACE_RECORD_WORDS];
	/*
	 * The wait for events that are not complete: for those before
	 * wait_end, since this time in ns.
	 */
	u64 wait_end, wait_since;
};

int inproc_trace_open(struct pumice_device *dev, u32 entries, struct pumice_trace **trace);
int inproc_trace_next(struct pumice_trace *trace, u32 *words, bool *have, u64 *lost);
/*
 * Return whether every event has been returned or counted as lost; not while one is not complete.
 */
bool inproc_trace_is_read(struct pumice_trace *trace);
void inproc_trace_close(struct pumice_trace *trace);

/* image.c: read and check a firmware file. @payload: to be freed */
int image_load(const char *path, struct fwif_image_header *header, void **payload, char *error,
	       size_t error_bytes);

/* event.c */
void event_init(struct inproc_device *d);
void event_fini(struct inproc_device *d);
/* Count an event and wake waiters. Any thread, any lock except event_lock. */
void event_raise(struct inproc_device *d);
/* Mark the GPU as lost: all jobs end. @why: constant text */
void event_lose(struct inproc_device *d, const char *why);
/* Process the events of the GPU. */
void event_process(struct inproc_device *d);
/*
 * Run the GPU and wait, with the lock dropped, until an event after
 * @seen, or @deadline (CLOCK_MONOTONIC, ns). Return: 0 or -ETIME.
 */
int event_wait(struct inproc_device *d, u64 seen, u64 deadline);
u64 event_count(struct inproc_device *d);

/* vm.c */
int inproc_vm_create(struct pumice_device *dev, struct pumice_vm **vm);
void inproc_vm_destroy(struct pumice_vm *vm);
int inproc_vm_bind(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count, u32 *done);

int inproc_vm_get_state(struct pumice_vm *vm, u32 *flags);
int inproc_vm_get_faults(struct pumice_vm *vm, u64 after, struct pumice_vm_fault *faults,
			 u32 *count, u64 *lost);
/* Record that a job of a context of this VM faulted, or was killed while running. */
void vm_note_fault(struct inproc_vm *vm, u32 context, const struct pumice_job_result *r);
int inproc_vm_peek(struct pumice_vm *vm, u64 va, void *data, u64 bytes);
/*
 * Note whether caches may keep pages that an operation maps: when it is requested, before it is
 * executed. @memory: memory to map, or NULL.
 */
void vm_note_memory(struct inproc_vm *vm, const struct pumice_bind *op,
		    const struct memory *memory);
/* Changes of an address space by some operations; zero at first. */
struct vm_update {
	struct space_change change;
	u64 start, end;		/* of the addresses whose translations must be invalidated */
};

/*
 * Execute one checked operation as part of an update. @memory: memory to map, or NULL. Return: 0
 * or a negative errno.
 */
int vm_bind_one(struct inproc_device *d, struct inproc_vm *vm, struct vm_update *update,
		const struct pumice_bind *op, struct memory *memory);
/*
 * Complete an update, also after an operation that has failed: have translations and caches
 * invalidated once for all operations, and release what they have replaced. Return: as
 * vm_bind_one().
 */
int vm_update_end(struct inproc_device *d, struct inproc_vm *vm, struct vm_update *update);

/* bind.c */
int inproc_vm_bind_async(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count,
			 const struct pumice_job_sync *syncs, u32 sync_count);
/* Execute the binds that are ready; drops the lock meanwhile. */
void bind_process(struct inproc_device *d);
/* Cancel pending binds of a VM that is being destroyed. */
void bind_cancel(struct inproc_device *d, struct inproc_vm *vm);

/* context.c */
/* @dm: enum fwif_dm */
int context_create(struct inproc_device *d, struct inproc_vm *vm, u32 dm, u32 priority,
		   struct inproc_context **context);
void context_destroy(struct inproc_device *d, struct inproc_context *c);
int inproc_context_create(struct pumice_vm *vm, enum pumice_context_type type,
			  enum pumice_priority priority, struct pumice_context **context);
void inproc_context_destroy(struct pumice_context *context);
int inproc_context_set_priority(struct pumice_context *context, enum pumice_priority priority);
int inproc_resets(struct pumice_device *dev, struct pumice_device_resets *resets);
int inproc_context_get_state(struct pumice_context *context, struct pumice_context_state *state);
int inproc_context_kill(struct pumice_context *context);
int inproc_context_dump(struct pumice_context *context, const char *path);
/* Find the queue of a user's context whose job runs, or NULL. @stuck: out: its waves */
struct inproc_context *dump_running(struct inproc_context *c, struct fwif_stuck *stuck);
int inproc_job_result(struct pumice_context *context, u64 job, struct pumice_job_result *result);
/* Process the results of jobs that have ended. */
void context_process(struct inproc_device *d, struct inproc_context *c);
/* Store the places of waves as those of a job. */
void context_add_places(const struct fwif_stuck *stuck, struct pumice_job_result *result);
/* Get the user's context that a queue belongs to. */
struct inproc_context *context_user(struct inproc_context *c);
/* Mark a user's context as stopped because of its own job. */
void context_set_guilty(struct inproc_device *d, struct inproc_context *user);
/* End all jobs of the context, unfinished. @flag: PUMICE_CONTEXT_*, the reason */
void context_lose(struct inproc_device *d, struct inproc_context *c, u32 flag);
/* Count the jobs queued in the firmware. */
u32 context_busy(const struct inproc_context *c);
void timeline_get(struct timeline *t);
void timeline_put(struct timeline *t);

/* freelist.c */
int inproc_freelist_create(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			   bool gpu_tables, struct pumice_freelist **list);
void inproc_freelist_destroy(struct pumice_freelist *list);
/* Grow the lists requested by the firmware; drops the lock meanwhile. */
void freelist_process(struct inproc_device *d);
/* Map zeroed memory in a VM that only the tiling pipeline can access. */
int pm_memory_create(struct inproc_device *d, struct inproc_vm *vm, u64 bytes, u64 *va);
void pm_memory_destroy(struct inproc_device *d, struct inproc_vm *vm, u64 va, u64 bytes);

/* thread.c */
/* Start a thread in which all signals are blocked: they are the program's. Return: 0 or -errno. */
int server_thread(pthread_t *thread, void *(*serve)(void *), void *server);

/* gdb.c */
struct gdb_server;
/* Serve GDB on a socket at @path, which has at most GDB_PATH_MAX bytes. */
#define GDB_PATH_MAX	107u
int gdb_start(struct inproc_device *d, const char *path, char *error, size_t error_bytes);
/* Valid only while the GPU exists. */
void gdb_end(struct inproc_device *d);

/* attach.c */
struct attach_server;
/* Listen for observers. */
int attach_start(struct inproc_device *d, char *error, size_t error_bytes);
/* Stop: the device is being closed. No lock held. */
void attach_end(struct inproc_device *d);
/* Return whether pumice-trace has started this process, to observe it from its first job on. */
bool attach_is_awaited(void);
/* Then wait until it does so; see attach/attach.h, ATTACH_WAIT. */
void attach_await(struct inproc_device *d);

/* hwrt.c */
int inproc_hwrt_create(struct pumice_vm *vm, const struct pumice_hwrt_desc *desc, u64 spill,
		       u64 spill_bytes, struct pumice_hwrt **hwrt);
void inproc_hwrt_destroy(struct pumice_hwrt *hwrt);
int inproc_hwrt_layout(const struct pumice_hwrt *hwrt, u32 scene,
		       struct pumice_hwrt_layout *layout);
/* Get the firmware address of a scene. */
u32 hwrt_scene(const struct inproc_hwrt *hwrt, u32 scene);
/* Replace the previous fence by this one. */
void fence_replace(struct fence *f, struct timeline *timeline, u32 seqno);

/* submit.c */
/* Queue an update of the context's own object after all jobs, if there is room now. */
bool submit_update(struct inproc_device *d, struct inproc_context *c, u32 seqno);
int inproc_submit(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
		  const struct pumice_present_job *present, u32 *failed);

/* flip.c */
/* Reserve the flips of a job. Return: 0 or -ENOSPC. */
int flip_reserve(struct inproc_device *d, u32 presents);
/* Read the flips that the firmware has reported, before its ended jobs are processed. */
void flip_collect(struct inproc_device *d, struct inproc_context *c);
/* Append the remaining flips of a job that has ended. @error: of the job */
void flip_end(struct inproc_device *d, struct inproc_context *c, u32 seqno, int error);
int inproc_wait_flip(struct pumice_device *dev, u64 timeout_ns, struct pumice_flip *flip);

/* sync.c */
int inproc_sync_create(struct pumice_device *dev, u32 flags, struct pumice_sync **sync);
void inproc_sync_destroy(struct pumice_sync *sync);
int inproc_sync_signal(struct pumice_sync *sync, u64 point);
int inproc_sync_reset(struct pumice_sync *sync);
int inproc_sync_query(struct pumice_sync *sync, u64 *point);
int inproc_sync_wait(struct pumice_device *dev, const struct pumice_wait *waits, u32 count,
		     u32 flags, u64 timeout_ns);
/* Store a fence in an object. @node: for timelines, consumed; else NULL */
void sync_put_fence(struct inproc_sync *s, u64 point, struct timeline *timeline, u32 seqno,
		    struct sync_point *node);
/* Add a node for each signal of a timeline. Return: false and no nodes if out of memory. */
bool sync_make_nodes(const struct pumice_job_sync *syncs, u32 count, struct sync_point **nodes);
void sync_free_nodes(struct sync_point *nodes);
/* Store a fence in all objects to be signaled. @nodes: those it needs are consumed */
void sync_put_signals(const struct pumice_job_sync *syncs, u32 count, struct timeline *timeline,
		      u32 seqno, struct sync_point **nodes);
/* Return whether a fence has signaled. */
bool fence_signaled(const struct fence *f);
/* Return whether a signal of this point was submitted. */
bool sync_is_submitted(const struct inproc_sync *s, u64 point);
/* Call @fn for each fence, of this point and earlier points, that has a timeline. */
void sync_each_fence(struct inproc_sync *s, u64 point,
		     void (*fn)(void *data, const struct fence *fence), void *data);

#endif
