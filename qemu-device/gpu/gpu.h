/* SPDX-License-Identifier: MIT */
/*
 * The whole GPU, for gpu.c, which connects the blocks, and for the registers. No block
 * includes this header; blocks include the headers of other blocks.
 *
 * Locks, outermost first:
 *   control   resets, changes of the memory map and of the mode, one at a time
 *   gate      waiters for the device lock for an access of the host; see gpu_host_lock()
 *   lock      the device lock: registers, firmware control, data masters
 *   (PDS order)      inside pds/, of work-groups that wait for others
 *   (PDS)     inside pds/, one for each core; wakes units, else a leaf
 *   (PDS programs)   inside pds/, a leaf
 *   (PM)      inside pm/, a leaf except for the events it raises, owners and findings
 *   (program cache)  inside usc/
 *   (owners)         inside strict/, a leaf
 *   (findings)       inside strict/, a leaf
 *   (TAG)     inside tag/, one for each half of a core, a leaf
 *   (workers)        inside workers/, a leaf
 * Steps of units take the device lock, so never wait for a step while holding
 * it; steps never take the control lock.
 */
#ifndef PUMICE_GPU_INTERNAL_H
#define PUMICE_GPU_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "cdm/cdm.h"
#include "coherence.h"
#include "fwctl/fwctl.h"
#include "half/half.h"
#include "hier_counts.h"
#include "hierarchy/hierarchy.h"
#include "inject/inject.h"
#include "masters.h"
#include "mem/mem.h"
#include "mmu/mmu.h"
#include "mode.h"
#include "pdm/pdm.h"
#include "pds/pds.h"
#include "perf.h"
#include "pm/pm.h"
#include "ptla/ptla.h"
#include "pumice_gpu.h"
#include "rdm/rdm.h"
#include "strict/dropped.h"
#include "strict/owner.h"
#include "strict/race.h"
#include "strict/strict.h"
#include "trace/trace.h"
#include "usc/usc.h"
#include "vdm/vdm.h"
#include "workers/workers.h"

#define GPU_MAX_USCS (PUMICE_MAX_CORES * PUMICE_MAX_USCS_PER_CORE)

/*
 * Units of the workers, in the order of workers_config.unit; the USCs follow the cores, and the
 * sources of compute these.
 */
enum gpu_unit {
	GPU_UNIT_FW,
	GPU_UNIT_CDM,
	GPU_UNIT_LATE,	/* events delayed by fault injection */
	GPU_UNIT_RDM,
	GPU_UNIT_TDM0,
	GPU_UNIT_CORE0 = GPU_UNIT_TDM0 + PTLA_UNITS,
};
_Static_assert(GPU_UNIT_CORE0 + PUMICE_MAX_CORES * (2 + PUMICE_MAX_USCS_PER_CORE) ==
	       WORKERS_MAX_UNITS, "units of the largest GPU");

/* Interrupt line of one virtual GPU, and its connection to the firmware (unit OS). */
struct gpu_os {
	u32 irq_status, irq_enable;
	u32 ctrl, boot_arg;
	u32 connects;		/* times that CONNECT became 1 */
	u32 connect_arg;	/* boot_arg at that time */
	bool connected;		/* the firmware may use its memory */
};

/* Snapshot of the waves in flight, of one bus (unit WAVE). */
struct gpu_waves {
	struct usc_wave_info *wave;	/* room for all waves */
	u32 count;
	u32 select;
};
/* Registers of unit INJ, as written. */
struct gpu_inject_regs {
	u32 kind, where, bit, us, skip, count;
	bool armed;	/* the last ARM was accepted */
};

/* Registers PLACE of unit FIND, as written. */
struct gpu_place {
	u64 catalogue, addr, size, end, buffer, number, process;
	u64 label[PUMICE_FIND_PLACE_LABEL_COUNT];
};

/* Registers of unit SLC. */
struct gpu_slc_regs {
	u64 start, end;
	u32 count;
};

#define GPU_BUSES 2u	/* the host's, the firmware's */

struct pumice_gpu {
	/* Configuration, constant. */
	struct pumice_gpu_config config;
	struct pumice_gpu_ops ops;
	void *opaque;
	enum pumice_preset preset;
	enum usc_late_mode late;
	enum pumice_output_store outputs;
	unsigned int uscs;
	u32 slot_registers;	/* of a slot */
	u64 clock_base;		/* ops.now() when the GPU was created */

	pthread_mutex_t control;
	pthread_mutex_t gate;
	pthread_mutex_t lock;
	_Atomic bool host_waits;	/* the gate is held */
	_Atomic u32 lock_waits;		/* threads in gpu_lock() that wait for the lock */

	/* Changes only while parked. */
	struct mem_map mem;
	enum pumice_mode mode;	/* and the control and the device lock */
	struct hierarchy *hierarchy;	/* NULL in fast mode; and the device lock */
	struct hier_counts counts;	/* of the one before; device lock */

	/* Registers that belong to no block; device lock. */
	struct gpu_os os[PUMICE_OS_COUNT];
	struct cdm_job cdm_job;	/* next job */
	struct gpu_master master[GPU_MASTERS];
	/* Mode strict: jobs that run, by enum gpu_master_number; that of the CDM is the last. */
	struct coherence_job started[COHERENCE_MASTERS];
	u64 pm_list;		/* PM_LIST */
	u64 partials;		/* total partial renders */
	bool perf_detail;
	enum pumice_mode_refusal mode_refusal;	/* of the last write of SYS_MODE */
	enum pumice_mode mode_of_host;	/* selected by the host last, not by the guest */
	u64 perf_base[PUMICE_PERF_COUNTER_COUNT];	/* counters at the last reset */
	struct gpu_waves waves[GPU_BUSES];
	u32 hier_select[GPU_BUSES];	/* HIER_SELECT */
	u32 find_select;		/* FIND_SELECT */
	u32 find_arg[PUMICE_FIND_FW_ARG_COUNT];	/* FIND_FW_ARG */
	u64 find_ready;		/* FIND_FW_READY */
	struct gpu_place find_place;
	u64 find_text[STRICT_TEXT_BYTES / sizeof(u64)];	/* of that finding, 0 after its end */
	struct gpu_slc_regs slc_regs;
	u32 clock_high;		/* high half of SYS_CLOCK for the firmware */
	struct gpu_inject_regs inject_regs;
	u64 slow_until[GPU_MAX_USCS];	/* GPU clock; of the USC's step, or while parked */
	_Atomic bool resetting;

	/* Blocks. */
	struct inject inject;
	struct mmu mmu;
	struct trace trace;
	struct strict strict;
	struct owner owner;
	struct dropped dropped;
	struct fwctl *fw;
	struct cdm *cdm;
	struct pds *pds;
	struct pm *pm;
	struct vdm *vdm;
	struct pdm *pdm;
	struct ptla *ptla;
	struct rdm *rdm;
	struct usc_program_cache *programs;
	struct halves *halves;
	struct usc *usc[GPU_MAX_USCS];
	struct workers *workers;
};

/* Return the worker unit of a USC. */
static inline unsigned int gpu_usc_unit(const struct pumice_gpu *gpu, unsigned int usc)
{
	return GPU_UNIT_CORE0 + gpu->config.cores + usc;
}

/* Return the worker unit of the source of compute of a core. */
static inline unsigned int gpu_source_unit(const struct pumice_gpu *gpu, unsigned int core)
{
	return gpu_usc_unit(gpu, gpu->uscs) + core;
}

/*
 * Take the device lock, and the same for an access of the host to a register. Such an access
 * precedes steps of units, so that a unit that takes the lock repeatedly does not starve the
 * host: an access waits only for earlier owners and waiters, each of which holds the lock for
 * some microseconds. An owner with more work ends its step when another unit waits: the lock
 * is not handed over, and who releases and takes it at once would get it again.
 */
void gpu_lock(struct pumice_gpu *gpu);
void gpu_unlock(struct pumice_gpu *gpu);
void gpu_host_lock(struct pumice_gpu *gpu);
void gpu_host_unlock(struct pumice_gpu *gpu);

/* Return ticks of the GPU clock. Any thread. */
u64 gpu_clock(const struct pumice_gpu *gpu);

/* Set causes (bits of OS_IRQ_STATUS) of virtual GPU os; device lock held. */
void gpu_os_raise(struct pumice_gpu *gpu, unsigned int os, u32 causes);

/*
 * Report the end of a job of a data master as an event to the firmware (bits of IC_PENDING);
 * fault injection may drop or delay it. Device lock held.
 */
void gpu_raise_end(struct pumice_gpu *gpu, enum pumice_inject_where master, u32 event);

/* Inject faults of the firmware: on BOOT, KICK, JOB. Device lock held. */
void gpu_fail_firmware(struct pumice_gpu *gpu, enum pumice_inject_where where);

/*
 * The firmware starts a job of a data master: an occasion for injected faults. done: the
 * master's DONE event. Device lock held, in the firmware's step.
 */
void gpu_job_starts(struct pumice_gpu *gpu, enum pumice_inject_where master, u32 done);

/*
 * Drop TLB entries of one context, or of all (ctx PUMICE_MMU_CONTEXTS), or of a range
 * of one (mmu.h), and of the firmware's window; the caller then waits for the units.
 */
void gpu_tlb_drop(struct pumice_gpu *gpu, unsigned int ctx);
void gpu_tlb_drop_range(struct pumice_gpu *gpu, unsigned int ctx, u64 first, u64 last);

/*
 * Take a snapshot of the waves of data masters, bits of WAVE_CTRL. self is the
 * worker unit in whose step the caller is, or WORKERS_OUTSIDE. No lock.
 */
void gpu_snapshot_waves(struct pumice_gpu *gpu, struct gpu_waves *waves, u32 masters,
			unsigned int self);

/*
 * Return the counters of the blocks, by enum pumice_perf_counter; device lock held. Those of the
 * memory hierarchy are 0: see hier_counts_perf().
 */
void gpu_counters(const struct pumice_gpu *gpu, u64 value[PUMICE_PERF_COUNTER_COUNT]);
/* Enable or disable the detailed counters of hw/perf.h; device lock held. */
void gpu_set_detail(struct pumice_gpu *gpu, bool detail);

/* Write the fault that stopped a job of a data master to the host's log and trace. */
void gpu_log_fault(struct pumice_gpu *gpu, const char *name, const struct gpu_fault *fault);

/* Write to the host's log or trace. */
__attribute__((format(printf, 3, 4))) void gpu_log(struct pumice_gpu *gpu,
						   enum pumice_log_level level,
						   const char *format, ...);
void gpu_trace(struct pumice_gpu *gpu, enum pumice_trace_event event, u64 a, u64 b, u64 c);

#endif
