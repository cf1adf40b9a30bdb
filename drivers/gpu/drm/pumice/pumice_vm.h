/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* GPU address spaces. */
#ifndef PUMICE_VM_H
#define PUMICE_VM_H

#include <linux/kref.h>

#include <drm/drm_gpuvm.h>
#include <drm/drm_mm.h>

#include "heaps.h"
#include "pumice_device.h"
#include "pumice_process.h"
#include "pumice_vm_faults.h"

struct drm_exec;
struct pumice_bind_queue;

/* The first 2 MiB are never mapped, so that a null pointer faults. */
#define PUMICE_VA_START		BIT_ULL(21)
/*
 * The heaps of large pages end it. Higher addresses belong to the kernel: parameter buffers,
 * region headers; see pumice_kernel_range.c.
 */
#define PUMICE_VA_END		PUMICE_HEAPS_END
#define PUMICE_VA_KERNEL_END	BIT_ULL(PUMICE_MMU_VA_BITS)

/**
 * struct pumice_vm - a GPU address space
 *
 * The structure lives as long as something refers to @base. The address space
 * ends with its last use: its id, its contexts, and calls under way.
 */
struct pumice_vm {
	/** @base: base */
	struct drm_gpuvm base;
	/** @users: uses of the address space */
	struct kref users;
	/** @pdev: device */
	struct pumice_device *pdev;
	/** @node: in pumice_device.vms */
	struct list_head node;
	/** @lock: guards mappings and page tables */
	struct mutex lock;
	/** @mmu: page tables; under @lock */
	struct pumice_mmu *mmu;
	/** @tables: number of page tables, including those in pools of waiting binds */
	atomic_t tables;
	/** @client: DRM client to which @tables are accounted; constant */
	u64 client;
	/** @process: process that created it; constant */
	struct pumice_process process;
	/** @kernel_mm: addresses of the kernel part in use; under @lock */
	struct drm_mm kernel_mm;
	/** @operations: operations that were executed; under @lock */
	u64 operations;
	/** @closed: its id was removed: no more binds are accepted; under @lock */
	bool closed;
	/** @binds: asynchronous binds; constant until the last use, then under vms_lock; or NULL */
	struct pumice_bind_queue *binds;
	/** @released: the device was removed and the page tables freed; under @lock */
	bool released;
	/**
	 * @unusable: a TLB invalidation or an asynchronous bind failed;
	 * set under @lock, never cleared
	 */
	bool unusable;
	/** @faults: faults of jobs */
	struct pumice_vm_faults faults;
	/** @used: a job may have run in it, so TLBs may hold entries */
	bool used;
	/**
	 * @cached: pages that are not coherent were or are being mapped, so caches of the GPU may
	 * hold lines of them; never cleared
	 */
	bool cached;
	/** @cacheless_job: a job was written without operations on caches; never cleared */
	bool cacheless_job;
};

static inline struct pumice_vm *to_pumice_vm(struct drm_gpuvm *base)
{
	return container_of(base, struct pumice_vm, base);
}

struct pumice_vm *pumice_vm_lookup(struct pumice_file *file, u32 id);
struct pumice_vm *pumice_vm_get(struct pumice_vm *vm);
void pumice_vm_put(struct pumice_vm *vm);
void pumice_vm_close(struct pumice_vm *vm);
void pumice_vm_release_all(struct pumice_device *pdev);

dma_addr_t pumice_vm_catalogue(const struct pumice_vm *vm);
struct dma_resv *pumice_vm_resv(struct pumice_vm *vm);
bool pumice_vm_usable(const struct pumice_vm *vm);
u64 pumice_vm_table_bytes(struct pumice_device *pdev, u64 client);
void pumice_vm_note_use(struct pumice_vm *vm);
void pumice_vm_note_cached(struct pumice_vm *vm);
bool pumice_vm_note_job(struct pumice_vm *vm);
bool pumice_vm_map_invalidates(const struct pumice_vm *vm);
int pumice_vm_flush_locked(struct pumice_vm *vm);
int pumice_vm_lock_objects(struct pumice_vm *vm, struct drm_exec *exec);
void pumice_vm_add_fence(struct pumice_vm *vm, struct drm_exec *exec, struct dma_fence *fence);

int pumice_vm_bindable_locked(struct pumice_vm *vm);
void pumice_vm_free(struct drm_gpuvm *base);

/* pumice_bind.c */
extern const struct drm_gpuvm_ops pumice_vm_ops;

int pumice_ioctl_vm_create(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_vm_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_vm_get_state(struct drm_device *drm, void *data, struct drm_file *file);

#endif
