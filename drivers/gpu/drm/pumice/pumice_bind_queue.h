/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Asynchronous VM_BIND: the queue of a VM. */
#ifndef PUMICE_BIND_QUEUE_H
#define PUMICE_BIND_QUEUE_H

#include <linux/types.h>

struct drm_file;
struct drm_pumice_vm_bind;
struct pumice_bind_queue;
struct pumice_device;
struct pumice_vm;

struct pumice_bind_queue *pumice_bind_queue_create(struct pumice_device *pdev);
void pumice_bind_queue_destroy(struct pumice_bind_queue *queue);
void pumice_bind_queue_close(struct pumice_bind_queue *queue, int error);
int pumice_bind_queue_push(struct pumice_vm *vm, struct drm_file *file,
			   const struct drm_pumice_vm_bind *args, u32 *failed);

#endif
