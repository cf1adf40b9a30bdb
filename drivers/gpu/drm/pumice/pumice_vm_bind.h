/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One operation of a VM_BIND call, for those who carry it out now or later. */
#ifndef PUMICE_VM_BIND_H
#define PUMICE_VM_BIND_H

#include <drm/drm_exec.h>

#include "pumice_vm.h"

struct pumice_bo;
struct pumice_va;

/* A map makes a mapping and may cut one in two, or two. */
#define PUMICE_BIND_NEW	3

/**
 * struct pumice_bind - one operation, or all mappings at the end of a VM
 */
struct pumice_bind {
	/** @vm: address space, under its lock */
	struct pumice_vm *vm;
	/** @op: operation; its size is 0 at the end of a VM */
	struct drm_pumice_bind_op op;
	/** @bo: of a map; a reference until pumice_bind_books() */
	struct pumice_bo *bo;
	/** @sgt: pages of @bo */
	struct sg_table *sgt;
	/** @vm_bo: of a map; a reference until pumice_bind_books() */
	struct drm_gpuvm_bo *vm_bo;
	/** @tables: page tables reserved for it, while it is queued */
	u32 tables;
	/** @fresh: mappings to use */
	struct pumice_va *fresh[PUMICE_BIND_NEW];
	/** @retired: removed mappings, struct pumice_va.retired */
	struct list_head retired;
};

void pumice_bind_init(struct pumice_bind *b, struct pumice_vm *vm);
int pumice_bind_check(const struct drm_pumice_bind_op *op);
int pumice_bind_prepare(struct pumice_bind *b, struct drm_file *file);
int pumice_bind_lock(struct pumice_bind *b, u32 count, struct drm_exec *exec);
int pumice_bind_obtain(struct pumice_bind *b);
void pumice_bind_unobtain(struct pumice_bind *b);
int pumice_bind_books(struct pumice_bind *b);
void pumice_bind_release_buffer(struct pumice_bind *b);
void pumice_bind_tables(struct pumice_bind *b);
void pumice_bind_finish(struct pumice_bind *b);
void pumice_bind_orphan(struct pumice_bind *b);

/* pumice_bind_queue.c */
int pumice_bind_async(struct pumice_vm *vm, struct drm_file *file,
		      const struct drm_pumice_array *ops, const struct drm_pumice_array *syncs,
		      u32 *failed);
int pumice_bind_queue_open(struct pumice_vm *vm);
void pumice_bind_queue_close(struct pumice_vm *vm);
int pumice_bind_queue_init(struct pumice_device *pdev);
void pumice_bind_queue_fini(struct pumice_device *pdev);

#endif
