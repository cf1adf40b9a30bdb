/* SPDX-License-Identifier: MIT */
/*
 * The Pumice GPU core: the only header between the GPU and its host (the QEMU front end, or a
 * plain process: tests, benchmarks, libpumice in process).
 *
 * The host owns guest memory, interrupts and the clock; the core owns all other state. All
 * functions may be called from any thread unless noted otherwise, but only one thread at a
 * time may call create, destroy, set_memory, park, unpark and reset (in QEMU: the holder of
 * the big lock).
 *
 * Limits: little-endian hosts with 64-bit pointers. Snapshots (save, load) are not
 * implemented yet; all state is plain data with indices to allow them.
 */
#ifndef PUMICE_GPU_H
#define PUMICE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pumice_gpu;

/* No slot registers, as opposed to the default number. */
#define PUMICE_NO_REGISTERS UINT32_MAX

/* Limits of caches' sizes, and a limit as a text for messages. */
#define PUMICE_MIN_SLC_KIB	16
#define PUMICE_MAX_SLC_KIB	65536
#define PUMICE_MIN_CACHE_BYTES	256
#define PUMICE_MAX_CACHE_BYTES	1048576
#define PUMICE_LIMIT_TEXT_(limit) #limit
#define PUMICE_LIMIT_TEXT(limit) PUMICE_LIMIT_TEXT_(limit)

/* Data and texture caches of a core: hw/presets.h. */
enum pumice_cache_style {
	PUMICE_CACHE_STYLE_PRESET,	/* that of the preset */
	PUMICE_CACHE_STYLE_MCU,		/* document 000 */
	PUMICE_CACHE_STYLE_DCU,		/* document 004 */
};

/* Configuration of a GPU by the host. Zero means the default. */
struct pumice_gpu_config {
	const char *preset;	/* name of the preset; NULL is "default" */
	unsigned int cores;	/* 1 to PUMICE_MAX_CORES */
	unsigned int uscs_per_core;	/* 1 to PUMICE_MAX_USCS_PER_CORE */
	unsigned int slots;	/* task slots of one USC, 1 to PUMICE_USC_SLOTS */
	unsigned int tasks;	/* that one USC manages, slots to PUMICE_USC_TASKS */
	unsigned int waves;	/* that can be in flight on one USC, 1 to 192 */
	unsigned int batch;	/* most vertices or fragments of a task: 16, 32, 64, 96, 128 */
	unsigned int threads;	/* host threads, at most 64; 0 runs
				 * everything inside pumice_gpu_poll() */
	unsigned int oses;	/* virtual GPUs that are active, 1 to 8; default 1 */
	unsigned int unified_kib;	/* unified store of one USC, KiB */
	unsigned int common_kib;	/* common store of one USC, KiB */
	unsigned int local_kib;		/* local memory of one USC, KiB */
	unsigned int slot_registers;	/* of a slot, 1 to 8, or PUMICE_NO_REGISTERS */
	const char *mode;	/* "fast", which NULL is, "counted" or "strict"; see
				 * Documentation/hierarchy.rst and strict.rst */
	const char *late;	/* when data of loads arrive: "early", which NULL is, "data" or
				 * "poison"; see Documentation/execution.rst */
	unsigned int vpm_kib;	/* vertex pipe memory of one core, KiB */
	unsigned int idx_fifo;	/* primitives in the IDX FIFO of one core, 1 to 4096 */
	unsigned int chunk_fifo;	/* chunks of draws between the master
					 * VDM and a core, 1 to 4 */
	unsigned int tile_fifo;	/* tiles between the master IPF and a core, 1 to 64 */
	const char *pixel_outputs;	/* store of pixel outputs: "common" or "partition"; NULL is
					 * that of the preset */
	unsigned int tsp_vertices;	/* in the TSP's cache of one core: 4
					 * to 1024, a power of two */
	/*
	 * Caches, which requests pass in mode "counted". Powers of two: the first from
	 * PUMICE_MIN_SLC_KIB to _MAX_SLC_KIB, the others from PUMICE_MIN_CACHE_BYTES to
	 * _MAX_CACHE_BYTES.
	 */
	unsigned int slc_kib;		/* system level cache, KiB */
	unsigned int data_l1_bytes;	/* of half a core, or of a partition of a USC's */
	unsigned int data_l2_bytes;	/* of a core */
	unsigned int texture_l1_bytes;	/* of half a core, or of a USC */
	unsigned int texture_l2_bytes;	/* of a core */
	enum pumice_cache_style cache_style;
	unsigned int line_bytes;	/* 32 to 128, a power of two */
	unsigned int segment_bytes;	/* 32 or 64, at most a line */
	/* Ways of data and texture caches and of a bank of the SLC: 1 to 16, powers of two. */
	unsigned int data_ways, texture_ways, slc_ways;
	bool fault_injection;	/* the guest may inject faults, too: unit INJ */
};

enum pumice_log_level {
	PUMICE_LOG_GUEST_ERROR,	/* the guest did an invalid access */
	PUMICE_LOG_TRACE,	/* for tracing */
};

/* Points of the core that a host may trace; names are those of QEMU's trace events. */
enum pumice_trace_event {
	PUMICE_TRACE_MMIO_READ,		/* a = offset, b = value, c = os |
					 * bytes of the access << 8 */
	PUMICE_TRACE_MMIO_WRITE,	/* as PUMICE_TRACE_MMIO_READ */
	PUMICE_TRACE_FW_BOOT,		/* a = image bytes, b = entry, c = boot error */
	PUMICE_TRACE_FW_LOCKUP,		/* a = pc, b = mcause */
	PUMICE_TRACE_CDM_START,		/* a = stream or saved state, b = MMU
					 * context, c = resumed */
	PUMICE_TRACE_CDM_END,		/* a = fault, b = work-groups finished, c = switched out */
	PUMICE_TRACE_VDM_START,		/* a = stream, b = MMU context */
	PUMICE_TRACE_VDM_MEMORY,	/* a = primitives so far: no pages, or headers written */
	PUMICE_TRACE_VDM_END,		/* a = fault, b = primitives finished */
	PUMICE_TRACE_PDM_START,		/* a = render record, b = MMU context, c = partial render */
	PUMICE_TRACE_PDM_END,		/* a = fault, b = tiles finished, c = partial render */
	PUMICE_TRACE_TDM_START,		/* a = stream, b = MMU context */
	PUMICE_TRACE_TDM_END,		/* a = fault, b = commands finished */
	PUMICE_TRACE_RDM_START,		/* a = stream, b = MMU context */
	PUMICE_TRACE_RDM_END,		/* a = fault, b = tasks finished */
	PUMICE_TRACE_FAULT,		/* a = address, b = fault, c = unit */
	PUMICE_TRACE_TLB_INVALIDATE,	/* a = operation, b = context */
	PUMICE_TRACE_RING,		/* a = kinds, b = ring address, c = entries */
	PUMICE_TRACE_IRQ,		/* a = os */
};

/* Services of the host. Called from worker threads, never with a lock of the host held. */
struct pumice_gpu_ops {
	/* Raise the interrupt of virtual GPU os. Any thread; must not block or call back. */
	void (*raise_irq)(void *opaque, unsigned int os);
	/* The GPU clock in ns; monotonic. Any thread. */
	uint64_t (*now)(void *opaque);
	/* threads=0 only: there is work, call pumice_gpu_poll() soon. Must not call it itself. */
	void (*kick)(void *opaque);
	void (*log)(void *opaque, enum pumice_log_level level, const char *text);
	/*
	 * Mode strict has detected an error; text: pumice_gpu_finding(). A bounded number of calls
	 * from one change of the mode to the next. From a worker thread; may be NULL.
	 */
	void (*finding)(void *opaque, const char *text);
	/* May be NULL. */
	void (*trace)(void *opaque, enum pumice_trace_event ev, uint64_t a, uint64_t b, uint64_t c);
	/* Called first and last by each thread of the GPU; may be NULL. */
	void (*thread_start)(void *opaque);
	void (*thread_end)(void *opaque);
};

/* A piece of guest memory, by bus address. */
struct pumice_mem_region {
	uint64_t addr;		/* bus address, 4 KiB aligned */
	uint64_t size;		/* bytes, a multiple of 4 KiB, not 0 */
	uint8_t *host;		/* its address in this process, 4 KiB aligned */
	bool readonly;		/* stores fault */
	uint8_t oses;		/* bit n: virtual GPU n may access it; 0: all of them may */
};

/*
 * Create a GPU, in reset and without memory. Returns NULL and sets *error to a constant text
 * when the configuration is refused or on out of memory.
 */
struct pumice_gpu *pumice_gpu_create(const struct pumice_gpu_config *config,
				     const struct pumice_gpu_ops *ops, void *opaque,
				     const char **error);
/* Return the sizes of a GPU, which are not 0; its texts are NULL. */
void pumice_gpu_get_config(const struct pumice_gpu *gpu, struct pumice_gpu_config *config);
/* Stop all threads and free everything. */
void pumice_gpu_destroy(struct pumice_gpu *gpu);

/*
 * Register access of virtual GPU os; offset inside its page, size 4 or 8 bytes (8 for 64-bit
 * registers only), naturally aligned. Other accesses read as 0, are ignored, and are logged.
 * Work of the GPU is never run inline; a write to MMU_INVAL or SYS_RESET, or one that stops
 * the firmware, waits for units to reach an instruction boundary. Must not be called from
 * ops.
 */
uint64_t pumice_gpu_mmio_read(struct pumice_gpu *gpu, unsigned int os, uint32_t offset,
			      unsigned int size);
void pumice_gpu_mmio_write(struct pumice_gpu *gpu, unsigned int os, uint32_t offset,
			   uint64_t value, unsigned int size);

/*
 * Replace the memory map. Regions of one virtual GPU must not overlap; any order. When it
 * returns no thread uses memory of the old map. Returns 0, -ENOMEM, or -EINVAL for a
 * region that is misaligned, empty, or overlaps another; on an error the map is
 * empty.
 */
int pumice_gpu_set_memory(struct pumice_gpu *gpu, const struct pumice_mem_region *regions,
			  unsigned int count);

/*
 * Stop at the next instruction boundary until unparked; nests. While parked no thread
 * accesses guest memory, and registers may still be read and written.
 */
void pumice_gpu_park(struct pumice_gpu *gpu);
void pumice_gpu_unpark(struct pumice_gpu *gpu);

/* Reset all state as at power-on except the clock and the memory map. */
void pumice_gpu_reset(struct pumice_gpu *gpu);
/*
 * Reset the GPU where the whole machine is reset, so that another guest starts: drops the requests
 * for faults that were armed by the unit's registers, and restores the mode that the host selected.
 * Any thread, not in a step.
 */
void pumice_gpu_machine_reset(struct pumice_gpu *gpu);

/*
 * Change the mode: its name as in the configuration. Returns 0, or changes nothing: -EBUSY while a
 * job runs, -EINVAL for another name, -ENOMEM. Any thread; must not be called from ops.
 */
int pumice_gpu_set_mode(struct pumice_gpu *gpu, const char *name);
/* Return its name, a constant text. */
const char *pumice_gpu_mode(struct pumice_gpu *gpu);

/* Requests of lines of a client of the memory hierarchy that all BIFs have passed to the SLC. */
struct pumice_gpu_bus {
	uint64_t requests;
	uint64_t read_bytes, written_bytes;	/* atomic operations count as both */
};
/* Get those of a client, enum pumice_mem_client; false for others. In fast mode the last ones. */
bool pumice_gpu_bus(struct pumice_gpu *gpu, unsigned int client, struct pumice_gpu_bus *bus);

/* Bytes of the text of a finding, its end included. */
#define PUMICE_FINDING_BYTES	768
/*
 * Get a finding of mode strict by its number, from 0 in the order of detection: a JSON object in
 * one line. Findings are kept until mode strict is selected again. Returns false if there is none.
 * Any thread.
 */
bool pumice_gpu_finding(struct pumice_gpu *gpu, unsigned int number,
			char text[PUMICE_FINDING_BYTES]);
/* The same, of those of virtual GPU os. */
bool pumice_gpu_finding_of(struct pumice_gpu *gpu, unsigned int os, unsigned int number,
			   char text[PUMICE_FINDING_BYTES]);
/* Return how often all findings were dropped: then they are numbered from 0 again. Any thread. */
unsigned int pumice_gpu_findings_clears(struct pumice_gpu *gpu);
/* Return the number of further findings, for which there was no room. Any thread. */
uint64_t pumice_gpu_findings_lost(struct pumice_gpu *gpu);

/*
 * Request a fault, for tests of drivers: "KIND[,where=WHERE][,bit=N][,us=N][,skip=N]
 * [,count=N|endless]", or "none" to drop all requests. hw/registers.xml, enum inject_kind,
 * lists the kinds. Any thread. Returns 0, or -EINVAL for an invalid text.
 */
int pumice_gpu_inject(struct pumice_gpu *gpu, const char *text);
/* List the pending requests, a line each; truncated at bytes, which is not 0. */
void pumice_gpu_injected(struct pumice_gpu *gpu, char *text, size_t bytes);

/*
 * threads=0: run for about budget_ns, or until no work is left. Returns the time in ns until
 * the next call: 0 at once, UINT64_MAX when only an external event can cause work (reported
 * by ops->kick).
 */
uint64_t pumice_gpu_poll(struct pumice_gpu *gpu, uint64_t budget_ns);

#endif
