// SPDX-License-Identifier: MIT
/*
 * Heaps: ranges of GPU virtual addresses with one page size each, as the device's limits
 * describe them (document 000, "Memory Hierarchy"). The first one has 4 KiB pages.
 */
#include <errno.h>

#include "heaps_internal.h"
#include "pumice_formats.h"

#define MAX_PAGE_BYTES	(2ull << 20)

static bool valid_page(u64 bytes)
{
	return bytes >= PAGE_BYTES && bytes <= MAX_PAGE_BYTES && !(bytes & (bytes - 1));
}

int heaps_check(const struct pumice_device_info *info, const struct pumice_device_limits *limits,
		char *why, size_t why_bytes)
{
	const struct pumice_heap *heap = limits->heaps;
	u64 end = 0;
	u32 i;

	if (!limits->heap_count || limits->heap_count > PUMICE_MAX_HEAPS)
		return fail_text(why, why_bytes, EPROTO, "the number of heaps, %u, is not 1 to %u",
				 limits->heap_count, PUMICE_MAX_HEAPS);
	if (heap->start != info->va_start || info->va_end <= info->va_start ||
	    heap->size != info->va_end - info->va_start || heap->page_bytes != PAGE_BYTES)
		return fail_text(why, why_bytes, EPROTO,
				 "heap 0 does not consist of the 4 KiB pages of va_start to va_end");
	for (i = 0; i < limits->heap_count; i++, heap++) {
		if (!valid_page(heap->page_bytes))
			return fail_text(why, why_bytes, EPROTO, "heap %u has pages of %#llx bytes",
					 i, (unsigned long long)heap->page_bytes);
		if (!heap->size || (heap->start | heap->size) % heap->page_bytes)
			return fail_text(why, why_bytes, EPROTO, "heap %u is not aligned to its pages", i);
		if (heap->start < end || heap->start >= 1ull << PUMICE_MMU_VA_BITS ||
		    heap->size > (1ull << PUMICE_MMU_VA_BITS) - heap->start)
			return fail_text(why, why_bytes, EPROTO,
					 "heap %u overlaps another or the end of the addresses", i);
		end = heap->start + heap->size;
	}
	return 0;
}

u64 heaps_end(const struct pumice_device *dev)
{
	const struct pumice_heap *heap = dev->limits.heaps;

	if (!dev->limits.heap_count)
		return dev->info.va_end;
	heap += dev->limits.heap_count - 1;
	return heap->start + heap->size;
}

const struct pumice_heap *heaps_find(const struct pumice_device *dev, u64 va)
{
	const struct pumice_heap *heap = dev->limits.heaps;
	u32 i;

	for (i = 0; i < dev->limits.heap_count; i++, heap++)
		if (va >= heap->start && va - heap->start < heap->size)
			return heap;
	return NULL;
}

u32 heaps_for_size(const struct pumice_device *dev, u64 size)
{
	const struct pumice_heap *heap = dev->limits.heaps;
	u32 i, best = 0;

	if (!dev->contiguous_bytes || size % dev->contiguous_bytes)
		return 0;
	for (i = 1; i < dev->limits.heap_count; i++)
		if (!(size % heap[i].page_bytes) && heap[i].page_bytes > heap[best].page_bytes)
			best = i;
	return best;
}
