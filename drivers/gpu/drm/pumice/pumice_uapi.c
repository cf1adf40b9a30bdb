// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What ioctls share: objects by their ids, and copying arrays of user memory so
 * that their elements may grow.
 *
 * An element of a newer user is longer: what this kernel does not know must be
 * zero. One of an older user is shorter: the rest is taken as zero.
 */
#include <linux/kref.h>
#include <linux/overflow.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "pumice_uapi.h"

/* No structure grows beyond this. */
#define MAX_STRIDE	PAGE_SIZE

/**
 * pumice_id_lookup - object of a file by its id
 * @table: table of the file, which has a reference of each; their struct kref comes first
 * @id: id
 *
 * Returns it with a reference, or NULL.
 */
void *pumice_id_lookup(struct xarray *table, u32 id)
{
	struct kref *object;

	xa_lock(table);
	object = xa_load(table, id);
	if (object)
		kref_get(object);
	xa_unlock(table);
	return object;
}

/**
 * pumice_array_check - the rules of an array
 * @array: copy of it
 * @min_stride: size of the element as it was first published, bytes
 * @max_count: most elements
 *
 * Returns 0; -E2BIG for too many or too long elements; -EINVAL for elements too
 * short or an array that leaves the address space.
 */
int pumice_array_check(const struct drm_pumice_array *array, u32 min_stride, u32 max_count)
{
	u64 end;

	if (array->count > max_count)
		return -E2BIG;
	if (!array->count)
		return 0;
	if (array->stride < min_stride)
		return -EINVAL;
	if (array->stride > MAX_STRIDE)
		return -E2BIG;
	if (check_add_overflow(array->array, (u64)array->stride * array->count, &end))
		return -EINVAL;
	return 0;
}

/**
 * pumice_array_copy - copy one element
 * @array: array that was checked
 * @index: element
 * @element: where to
 * @size: bytes of what this kernel knows
 *
 * Returns 0; -E2BIG if unknown bytes are not zero; -EFAULT.
 */
int pumice_array_copy(const struct drm_pumice_array *array, u32 index, void *element,
		      size_t size)
{
	u64 at = array->array + (u64)index * array->stride;

	return copy_struct_from_user(element, size, u64_to_user_ptr(at), array->stride);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_uapi_test.c"
#endif
