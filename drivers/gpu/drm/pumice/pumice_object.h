/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Base of reference-counted objects that are freed by a work item. */
#ifndef PUMICE_OBJECT_H
#define PUMICE_OBJECT_H

#include <linux/kref.h>
#include <linux/workqueue.h>

struct xarray;

/**
 * struct pumice_object - base of an object whose last reference may be put in atomic context
 *
 * It is the first member of objects that are looked up by id.
 */
struct pumice_object {
	/** @ref: references */
	struct kref ref;
	/** @free: frees the object; in a work item, so it may sleep; constant */
	void (*free)(struct pumice_object *obj);
	/** @free_work: calls @free */
	struct work_struct free_work;
};

void pumice_object_init(struct pumice_object *obj, void (*free)(struct pumice_object *obj));
void pumice_object_put(struct pumice_object *obj);
void *pumice_object_lookup(struct xarray *table, u32 id);
int pumice_object_destroy(struct xarray *table, u32 id);

static inline void pumice_object_get(struct pumice_object *obj)
{
	kref_get(&obj->ref);
}

#endif
