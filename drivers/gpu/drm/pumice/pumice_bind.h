/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Changes of an address space: one operation, and state shared by several of them. */
#ifndef PUMICE_BIND_H
#define PUMICE_BIND_H

#include <linux/list.h>

#include <drm/pumice_drm.h>

#include "pumice_mmu.h"

struct drm_file;
struct drm_gpuvm_bo;
struct pumice_va;
struct pumice_vm;

/* A map operation creates one mapping and may split one or two existing ones. */
#define PUMICE_BIND_NEW		3

/**
 * struct pumice_bind_op - one operation with all resources that it may need
 */
struct pumice_bind_op {
	/** @args: copy of it, checked */
	struct drm_pumice_bind_op args;
	/** @vm_bo: for a map: the buffer in the VM; a reference; or NULL */
	struct drm_gpuvm_bo *vm_bo;
	/** @sgt: for a map: pages of the buffer */
	struct sg_table *sgt;
	/** @fresh: preallocated mappings */
	struct pumice_va *fresh[PUMICE_BIND_NEW];
};

/**
 * struct pumice_bind - operations that share tables and one TLB invalidation
 *
 * The owner serializes access; changing the VM also requires vm.lock.
 */
struct pumice_bind {
	/** @vm: address space */
	struct pumice_vm *vm;
	/** @pool: preallocated page tables */
	struct pumice_mmu_pool pool;
	/** @retired: removed mappings, which the TLBs may still hold */
	struct list_head retired;
	/** @op: operation in progress */
	struct pumice_bind_op *op;
	/** @handle: handle of @vm_bo */
	u32 handle;
	/** @vm_bo: buffer of the map operation that was prepared last; a reference; or NULL */
	struct drm_gpuvm_bo *vm_bo;
	/** @sgt: pages of it */
	struct sg_table *sgt;
	/** @pages: pages of the map operation that was executed last, whose buffer still exists */
	struct pumice_mmu_pages pages;
	/** @process: process that has requested them */
	pid_t process;
	/** @awake: keeps the GPU awake, for pumice_places.c */
	bool awake;
};

int pumice_bind_check_op(struct drm_pumice_bind_op *args);
void pumice_bind_init(struct pumice_bind *b, struct pumice_vm *vm);
int pumice_bind_prepare_op(struct pumice_bind *b, struct pumice_bind_op *op,
			   struct drm_file *file);
void pumice_bind_execute_locked(struct pumice_bind *b, struct pumice_bind_op *op);
void pumice_bind_forget_buffer(struct pumice_bind *b);
void pumice_bind_put_buffer(struct pumice_bind_op *op);
void pumice_bind_release_op(struct pumice_bind_op *op);
void pumice_bind_remove_all_locked(struct pumice_bind *b);
void pumice_bind_release(struct pumice_bind *b);

#endif
