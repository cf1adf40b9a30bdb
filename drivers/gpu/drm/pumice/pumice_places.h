/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Description of buffers to the GPU, for findings of mode strict. */
#ifndef PUMICE_PLACES_H
#define PUMICE_PLACES_H

#include "pumice_device.h"

struct drm_gem_object;
struct drm_pumice_bind_op;
struct pumice_bo;
struct pumice_vm;

void pumice_places_init(struct pumice_device *pdev);
void pumice_places_fini(struct pumice_device *pdev);
void pumice_places_update(struct pumice_device *pdev);
void pumice_places_reset(struct pumice_device *pdev);
void pumice_places_flush(struct pumice_device *pdev);
bool pumice_places_wake(struct pumice_device *pdev);

void pumice_places_begin_vm(struct pumice_vm *vm);
void pumice_places_end_vm_locked(struct pumice_vm *vm);
void pumice_places_map_locked(struct pumice_vm *vm, const struct drm_pumice_bind_op *args,
			      struct drm_gem_object *obj);
void pumice_places_unmap_locked(struct pumice_vm *vm, u64 va, u64 size, pid_t process);
void pumice_places_label(struct pumice_bo *bo);
void pumice_places_free(struct pumice_bo *bo);

#endif
