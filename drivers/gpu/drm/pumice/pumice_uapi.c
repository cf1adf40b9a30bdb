// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Helpers for ioctls: copying arrays of user memory whose elements may grow in later versions.
 *
 * An element of a newer user is longer: the part unknown to this kernel must be
 * zero. An element of an older user is shorter: the missing part is treated as zero.
 */
#include <linux/overflow.h>
#include <linux/uaccess.h>

#include "pumice_uapi.h"

/* Maximum size of an array element. */
#define MAX_STRIDE	PAGE_SIZE

/**
 * pumice_array_check - validate an array descriptor
 * @array: copy of it
 * @min_stride: size of the element as it was first published, bytes
 * @max_count: maximum number of elements
 *
 * Context: Any.
 *
 * Return: 0; -E2BIG for too many or too long elements; -EINVAL for elements that are too
 * short or an array that exceeds the address space.
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
 * @array: checked array
 * @index: index of the element
 * @element: destination
 * @size: size of the element in this kernel, bytes
 *
 * Context: May sleep: reads memory of user space.
 *
 * Return: 0; -E2BIG if unknown bytes are not zero; -EFAULT.
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
