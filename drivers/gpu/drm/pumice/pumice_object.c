// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Objects with a reference count: contexts, free lists, data sets, performance monitors,
 * asynchronous binds.
 *
 * A fence may hold the last reference and be put in atomic context, or on the path to another
 * fence, while freeing an object may wait for the firmware. So objects are freed by
 * pumice_cleanup_wq.
 */
#include <linux/xarray.h>

#include "pumice_device.h"
#include "pumice_object.h"

static void object_free_work(struct work_struct *work)
{
	struct pumice_object *obj = container_of(work, struct pumice_object, free_work);

	obj->free(obj);
}

static void object_last_put(struct kref *ref)
{
	struct pumice_object *obj = container_of(ref, struct pumice_object, ref);

	queue_work(pumice_cleanup_wq, &obj->free_work);
}

/**
 * pumice_object_init - initialize an object, with one reference
 * @obj: base of the object
 * @free: frees the object and its memory; called in a work item
 */
void pumice_object_init(struct pumice_object *obj, void (*free)(struct pumice_object *obj))
{
	kref_init(&obj->ref);
	obj->free = free;
	INIT_WORK(&obj->free_work, object_free_work);
}

/**
 * pumice_object_put - drop a reference; may be called in atomic context
 * @obj: base of the object, or NULL
 */
void pumice_object_put(struct pumice_object *obj)
{
	if (obj)
		kref_put(&obj->ref, object_last_put);
}

/**
 * pumice_object_lookup - look up an object of a file by its id
 * @table: table of the file with a reference to each object, which begins with its base
 * @id: id
 *
 * Context: Does not sleep. Acquires the lock of the table.
 *
 * Return: the object with a reference, or NULL.
 */
void *pumice_object_lookup(struct xarray *table, u32 id)
{
	struct pumice_object *obj;

	xa_lock(table);
	obj = xa_load(table, id);
	if (obj)
		pumice_object_get(obj);
	xa_unlock(table);
	return obj;
}

/**
 * pumice_object_destroy - remove an object of a file by its id, and drop the table's reference
 * @table: see pumice_object_lookup()
 * @id: id
 *
 * Return: 0, or -ENOENT.
 */
int pumice_object_destroy(struct xarray *table, u32 id)
{
	struct pumice_object *obj = xa_erase(table, id);

	if (!obj)
		return -ENOENT;
	pumice_object_put(obj);
	return 0;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_object_test.c"
#endif
