/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The device and the state attached to it.
 *
 * Lock order, outermost first: unplug_lock, vms_lock, kernel_ranges_lock, bind_queue.push_lock,
 * free_list.grow_lock, dma_resv, vm.lock, purgeable.lock, reset.lock, gpu_trace.lock,
 * fw_mem.lock, quota.lock, reset.contexts_lock, context.lock, kccb.lock. No lock is acquired
 * inside fw.settings_lock, vgpu.lock, vm.faults.lock, fault_log.lock, dump.lock, bind_queue.lock,
 * bos_lock and scenes_lock. See Documentation/driver/internals.rst.
 */
#ifndef PUMICE_DEVICE_H
#define PUMICE_DEVICE_H

#include <linux/idr.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_mm.h>
#include <drm/drm_print.h>
#include <drm/pumice_drm.h>

#include "compat.h"
#include "fwif.h"
#include "pumice_dump.h"
#include "pumice_fault_log.h"
#include "pumice_formats.h"
#include "pumice_mmu.h"
#include "pumice_quota.h"
#include "pumice_regs.h"
#include "pumice_shrinker.h"

struct pumice_blame;
struct pumice_fw_obj;
struct pumice_fw_shared;
struct pumice_kccb_wait;
struct pumice_mmu;

/* Entries of the rings shared with the firmware; powers of two, at most FWIF_RING_MAX. */
#define PUMICE_KCCB_COUNT	256u
#define PUMICE_FWCCB_COUNT	256u
#define PUMICE_LOG_COUNT	1024u

/**
 * struct pumice_fw - the firmware and its boot state
 */
struct pumice_fw {
	/** @image: payload of the firmware file, in memory the device can read */
	void *image;
	/** @image_dma: bus address of @image */
	dma_addr_t image_dma;
	/** @header: checked header of the firmware file */
	struct fwif_image_header header;
	/** @shared_obj: memory of @shared */
	struct pumice_fw_obj *shared_obj;
	/** @shared: boot structure and rings */
	struct pumice_fw_shared *shared;
	/** @ready: the firmware is running; written under reset.lock or at probe */
	bool ready;
	/**
	 * @settings_lock: guards changes of the settings below and of their copies in @shared; a
	 * change while the firmware boots must not be overwritten by the previous value
	 */
	struct mutex settings_lock;
	/** @log_level: enum fwif_log_level, applied at each boot */
	u32 log_level;
	/** @pds_shares: of struct fwif_boot, applied at each boot; 0 are the firmware's */
	u32 pds_shares;
	/** @dms_policy: the same, enum pumice_dms_policy */
	u32 dms_policy;
};

/**
 * struct pumice_fw_mem - address space of MMU context 0
 */
struct pumice_fw_mem {
	/** @lock: guards all fields */
	struct mutex lock;
	/** @mm: virtual addresses in use, bytes */
	struct drm_mm mm;
	/** @mmu: page tables */
	struct pumice_mmu *mmu;
	/** @pool: preallocated tables for the next change */
	struct pumice_mmu_pool pool;
	/** @tables: number of page tables */
	atomic_t tables;
	/** @first: first address; constant */
	u32 first;
	/** @end: end of the addresses; constant */
	u32 end;
	/** @reserve: addresses before @end for the driver and privileged users; constant */
	u32 reserve;
	/** @objs: all objects */
	struct list_head objs;
	/** @closed: the device was removed: objects have lost their memory */
	bool closed;
};

/**
 * struct pumice_kccb - kernel CCB: commands to the firmware
 */
struct pumice_kccb {
	/** @lock: guards all fields and the host's part of the ring */
	spinlock_t lock;
	/** @write: next entry to write */
	u32 write;
	/** @done: first entry whose reply has not been seen */
	u32 done;
	/** @reserved: entries reserved by pumice_kccb_reserve() and not used yet */
	u32 reserved;
	/** @open: commands are accepted; false while the firmware is down */
	bool open;
	/** @asleep: the firmware is down because it is not needed, see pumice_pm.c */
	bool asleep;
	/** @waiting: waiter for the reply to each entry */
	struct pumice_kccb_wait *waiting[PUMICE_KCCB_COUNT];
	/**
	 * @suspect: firmware address of the queue whose kick was the oldest command without a reply
	 * when the firmware was last quiesced; 0: none
	 */
	u32 suspect;
	/** @replied: entries, from @done on, whose reply has been seen */
	DECLARE_BITMAP(replied, PUMICE_KCCB_COUNT);
	/** @event: woken when replies arrived or the firmware was quiesced */
	wait_queue_head_t event;
};

/**
 * struct pumice_reset - recovery from a hang of the firmware or the GPU
 */
struct pumice_reset {
	/** @lock: held while the GPU is reset or a hung context is handled */
	struct mutex lock;
	/** @contexts_lock: writers of @contexts hold it and @lock; readers hold either of them */
	spinlock_t contexts_lock;
	/** @contexts: all contexts that may have jobs on the GPU, struct pumice_context.node */
	struct list_head contexts;
	/** @under_way: the GPU is being quiesced and is neither running nor asleep again */
	bool under_way;
	/** @rounds: times that the GPU has lost all its state, or was found to be unplugged */
	u32 rounds;
	/** @over: woken when @rounds and @under_way change, see pumice_reset_and_wait() */
	wait_queue_head_t over;
	/**
	 * @wq: ordered; time-outs of jobs and @work run here, one at a time. It has
	 * WQ_MEM_RECLAIM because workers of such queues wait for it
	 */
	struct workqueue_struct *wq;
	/** @work: resets the GPU */
	struct work_struct work;
	/** @lost_work: unplugs a device that cannot be brought back */
	struct work_struct lost_work;
	/** @event_work: sends the uevent of a reset, which allocates */
	struct work_struct event_work;
	/** @wanted: @work is to reset the current firmware, not the previous one */
	bool wanted;
	/** @lost: recovery of the GPU failed; it is being unplugged */
	bool lost;
	/** @count: resets since probe; under @lock */
	u32 count;
	/** @failures: firmware failures since a job last completed on the GPU; under @lock */
	u32 failures;
	/** @heartbeat: fwif_boot.heartbeat at the last check, 0 at boot; under @lock */
	u32 heartbeat;
	/** @dev_idx: from drm_dev_enter() between reset_prepare() and reset_done() */
	int dev_idx;
	/** @asleep: the GPU sleeps; under @lock */
	bool asleep;
	/** @paused: no job is submitted to the firmware, not even after a reset; under @lock */
	bool paused;
	/** @pci: between reset_prepare() and reset_done(); under @lock */
	bool pci;
};

/**
 * struct pumice_vgpu - connection of a virtual GPU other than 0, see pumice_vgpu.c
 */
struct pumice_vgpu {
	/** @lock: guards @enabled and OS_CATALOGUE; no lock is acquired inside */
	spinlock_t lock;
	/** @enabled: the GPU may access memory */
	bool enabled;
	/** @was_connected: the firmware has replied; under reset.lock or at probe */
	bool was_connected;
	/** @unanswered: the firmware did not reply at probe */
	bool unanswered;
	/** @stopped: firmware or processor stopped since the last connection; any context */
	bool stopped;
};

/**
 * struct pumice_bench - measurement of the interrupt, see pumice_bench.c; under reset.lock
 */
struct pumice_bench {
	/** @armed: the hard handler completes @handled at the next interrupt */
	bool armed;
	/** @handled: completed by the hard handler */
	struct completion handled;
};

/**
 * struct pumice_gpu_trace - the GPU's event trace, see pumice_gpu_trace.c
 */
struct pumice_gpu_trace {
	/** @lock: guards all fields; inside reset.lock, outside fw_mem.lock */
	struct mutex lock;
	/** @ring: memory of the records while the file is open, or NULL */
	struct pumice_fw_obj *ring;
	/** @read: number of the next record to read */
	u64 read;
	/**
	 * @awaited: the reader waits for the records before this number that are not complete;
	 * at most @read if it does not
	 */
	u64 awaited;
	/** @awaited_since: begin of that wait */
	ktime_t awaited_since;
	/** @lost: records that no reader got, of all traces; each is counted once */
	u64 lost;
};

/**
 * struct pumice_places - description of buffers to the GPU, see pumice_places.c
 */
struct pumice_places {
	/** @enabled: the mode is strict, as read last; set under @lock, while the GPU is awake */
	bool enabled;
	/** @missed: all must be described again: the GPU slept, or a reset cleared registers */
	atomic_t missed;
	/** @described: value of FIND_PLACE_DROPS since which all is described; under @lock */
	u32 described;
	/** @lock: guards the PLACE registers; inside vm.lock, outside bos_lock */
	struct mutex lock;
	/** @work: describes all VMs */
	struct work_struct work;
};

/**
 * struct pumice_stats - live objects, for debugfs and leak tests
 */
struct pumice_stats {
	atomic_t bos;
	atomic_t vms;
	atomic_t contexts;
	/** @destroyed_contexts: not in @contexts; freed after the last of their fences */
	atomic_t destroyed_contexts;
	/** @jobs: jobs and asynchronous binds not yet freed */
	atomic_t jobs;
	atomic_t fences;
	atomic_t free_lists;
	atomic_t hwrts;
	/** @jobs_submitted: since the driver was loaded, like the next two */
	atomic64_t jobs_submitted;
	/** @jobs_done: completed jobs, failed ones included */
	atomic64_t jobs_done;
	/** @jobs_failed: completed jobs that failed */
	atomic64_t jobs_failed;
};

/**
 * struct pumice_totals - sums of the GPU's counters up to its last reset
 */
struct pumice_totals {
	/** @busy: ns during which each data master had a job, by enum fwif_dm */
	u64 busy[FWIF_DM_COUNT];
	/** @usc_busy: ns during which USCs ran waves, summed over all USCs */
	u64 usc_busy;
	/** @mmu_faults: requests that faulted */
	u64 mmu_faults;
	/** @switches: jobs that were context-switched out */
	u64 switches;
	/** @partials: partial renders */
	u64 partials;
};

/**
 * struct pumice_hierarchy - counts of the memory hierarchy up to the GPU's last reset
 */
struct pumice_hierarchy {
	/** @sum: sums of HIER_VALUE, of each client and then of each level of caches */
	u64 sum[PUMICE_MEM_CLIENT_COUNT + PUMICE_CACHE_COUNT][PUMICE_HIER_VALUE_COUNT];
};

/**
 * struct pumice_device - one GPU
 *
 * Freed with the last reference to @drm, which may be long after the PCI device was
 * removed. Registers and DMA memory are released with the PCI device: all accesses to
 * them must be between drm_dev_enter() and drm_dev_exit().
 */
struct pumice_device {
	/** @drm: base */
	struct drm_device drm;
	/** @regs: BAR0, page of this virtual GPU */
	void __iomem *regs;
	/** @os: number of this virtual GPU; 0 boots the firmware, others connect to it; constant */
	u32 os;
	/** @oses: virtual GPUs that are active; constant */
	u32 oses;
	/** @irq: Linux number of MSI-X vector 0; 0 before it is requested */
	int irq;
	/** @lockup: the interrupt reported that the firmware processor stopped; for its thread */
	bool lockup;
	/** @in_flight: jobs that the firmware has, of all queues */
	atomic_t in_flight;
	/** @recheck_timer: runs while @in_flight is not 0 and the interrupt is enabled */
	struct timer_list recheck_timer;

	/** @version: SYS_VERSION; constant */
	u32 version;
	/** @config: SYS_CONFIG; constant */
	u32 config;
	/** @stores: SYS_STORES; constant */
	u32 stores;
	/** @registers: SYS_REGISTERS; constant */
	u32 registers;
	/** @caches: SYS_CACHES, 0 before register map 2.6; constant */
	u32 caches;
	/** @units: SYS_UNITS, 0 before register map 2.7; constant */
	u64 units;
	/** @shape: SYS_SHAPE, 0 before register map 2.4; constant */
	u32 shape;
	/** @clock_hz: GPU clock, ticks per second; constant */
	u32 clock_hz;

	struct pumice_fw fw;
	struct pumice_fw_mem fw_mem;
	struct pumice_kccb kccb;
	struct pumice_reset reset;
	struct pumice_vgpu vgpu;
	struct pumice_bench bench;
	struct pumice_gpu_trace gpu_trace;
	struct pumice_places places;
	struct pumice_stats stats;
	/** @dump: for devcoredump */
	struct pumice_dump dump;
	/** @fault_log: jobs that faulted or timed out last, for debugfs */
	struct pumice_fault_log fault_log;
	/** @totals: under reset.lock, or during initialization and removal */
	struct pumice_totals totals;
	/** @hierarchy: the same */
	struct pumice_hierarchy hierarchy;

	/** @sched_wq: runs the schedulers of all contexts, one item after the other */
	struct workqueue_struct *sched_wq;
	/** @bind_wq: runs the schedulers of all VMs, whose jobs wait for the firmware */
	struct workqueue_struct *bind_wq;
	/** @context_ids: ids of contexts, below FWIF_MAX_CONTEXTS */
	struct ida context_ids;
	/** @quota: limits of the resources shared by all users */
	struct pumice_quota quota;

	/**
	 * @gem_mount: file system of large buffers; NULL if there is none, or DRM has it; constant
	 */
	struct vfsmount *gem_mount;
	/** @bos_lock: guards @bos */
	spinlock_t bos_lock;
	/** @bos: all buffers, struct pumice_bo.node; those detached from the device come last */
	struct list_head bos;
	/** @bo_count: buffers that were created; under bos_lock */
	u64 bo_count;
	/** @bos_event: woken when a buffer was removed from @bos */
	wait_queue_head_t bos_event;
	/** @purgeable: buffers that may be purged when memory is short */
	struct pumice_purgeable purgeable;
	/** @vms_lock: guards @vms */
	struct mutex vms_lock;
	/** @vms: all VMs, struct pumice_vm.node */
	struct list_head vms;
	/** @kernel_ranges_lock: guards @kernel_ranges */
	struct mutex kernel_ranges_lock;
	/** @kernel_ranges: memory of the kernel part of VMs, struct pumice_kernel_range.node */
	struct list_head kernel_ranges;
	/** @scenes_lock: guards @free_lists and @hwrts, and the fields that refer to it */
	spinlock_t scenes_lock;
	/** @free_lists: all free lists, struct pumice_free_list.node */
	struct list_head free_lists;
	/** @hwrts: all data sets, struct pumice_hwrt.node */
	struct list_head hwrts;

	/** @unplug_lock: guards @unplugged */
	struct mutex unplug_lock;
	/** @unplugged: pumice_device_unplug() has completed */
	bool unplugged;
};

/**
 * struct pumice_file - objects owned by one open file
 */
struct pumice_file {
	struct pumice_device *pdev;
	/** @share: its share of the resources common to all files; constant */
	struct pumice_share *share;
	/** @vms: struct pumice_vm by id; a reference each */
	struct xarray vms;
	/** @contexts: struct pumice_context by id; a reference each */
	struct xarray contexts;
	/** @perfmons: struct pumice_perfmon by id; a reference each */
	struct xarray perfmons;
	/** @free_lists: struct pumice_free_list by id; a reference each */
	struct xarray free_lists;
	/** @hwrts: struct pumice_hwrt by id; a reference each */
	struct xarray hwrts;
	/** @blame: counters of its stopped contexts; a reference */
	struct pumice_blame *blame;
	/** @resets: value of pumice_reset.count when it was opened */
	u32 resets;
	/** @released_ticks: GPU clock ticks of its destroyed contexts on each data master */
	atomic64_t released_ticks[FWIF_DM_COUNT];
};

static inline struct pumice_device *to_pumice_device(struct drm_device *drm)
{
	return container_of(drm, struct pumice_device, drm);
}

static inline u32 pumice_read(struct pumice_device *pdev, u32 reg)
{
	return readl(pdev->regs + reg);
}

static inline u64 pumice_read64(struct pumice_device *pdev, u32 reg)
{
	return readq(pdev->regs + reg);
}

static inline void pumice_write(struct pumice_device *pdev, u32 reg, u32 value)
{
	writel(value, pdev->regs + reg);
}

static inline void pumice_write64(struct pumice_device *pdev, u32 reg, u64 value)
{
	writeq(value, pdev->regs + reg);
}

/* pumice_drv.c */
extern unsigned int pumice_job_timeout_ms;
extern unsigned int pumice_fw_timeout_ms;
extern unsigned int pumice_slice_us;
extern unsigned int pumice_split_prims;
extern struct workqueue_struct *pumice_cleanup_wq;
extern struct workqueue_struct *pumice_grow_wq;
extern struct workqueue_struct *pumice_refill_wq;

/* pumice_device.c */
int pumice_device_init(struct pumice_device *pdev);
void pumice_device_unplug(struct pumice_device *pdev);
void pumice_device_wait_unplugged(struct pumice_device *pdev);
int pumice_device_halt(struct pumice_device *pdev);
bool pumice_device_supports(const struct pumice_device *pdev, u32 map_minor, u32 fw_minor);

#endif
