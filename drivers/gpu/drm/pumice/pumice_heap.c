// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Heaps: ranges of GPU virtual addresses with one page size each.
 *
 * Source: document 000, "Memory Hierarchy": registers assign page sizes to address ranges.
 * The layout is that of hw/heaps.h, the same for each VM, because the GPU has one set of
 * registers. Addresses outside of the heaps have pages of 4 KiB, also those of the firmware
 * and of the kernel. A VM_BIND maps in whole pages of its heap; the pages of its buffer must
 * be contiguous to that extent, otherwise user space binds it elsewhere.
 *
 * A device before register map 2.4 has no such setting: there the page directories select the
 * size, up to 2 MiB at any address, and the heaps are as any other addresses.
 */
#include <linux/align.h>
#include <linux/scatterlist.h>

#include "heaps.h"
#include "pumice_device.h"
#include "pumice_formats.h"
#include "pumice_heap.h"
#include "pumice_vm.h"

/* Register map that has MMU_PAGE_SIZES. */
#define VERSION_PAGE_SIZES	0x20004u

/**
 * struct heap - addresses with one page size
 */
struct heap {
	/** @start: first address */
	u64 start;
	/** @size: bytes */
	u64 size;
	/** @page_size: enum pumice_page_size */
	u32 page_size;
};

#define HEAP(page, first, gib) { (u64)(first) << 30, (u64)(gib) << 30, PUMICE_PAGE_SIZE_##page },

static const struct heap heaps[] = { PUMICE_HEAPS(HEAP) };

static_assert(ARRAY_SIZE(heaps) <= PUMICE_MMU_RANGES);
static_assert(ARRAY_SIZE(heaps) < DRM_PUMICE_MAX_HEAPS);

static u64 heap_page_bytes(u32 page_size)
{
	static const u8 shifts[] = {
		[PUMICE_PAGE_SIZE_4K] = 12, [PUMICE_PAGE_SIZE_16K] = 14,
		[PUMICE_PAGE_SIZE_64K] = 16, [PUMICE_PAGE_SIZE_256K] = 18,
		[PUMICE_PAGE_SIZE_1M] = 20, [PUMICE_PAGE_SIZE_2M] = 21,
	};

	return BIT_ULL(shifts[page_size]);
}

static bool heap_sizes_assigned(const struct pumice_device *pdev)
{
	return pdev->version >= VERSION_PAGE_SIZES;
}

/* Return the heap that contains an address, or NULL. */
static const struct heap *heap_find(const struct pumice_device *pdev, u64 va)
{
	u32 i;

	for (i = 0; heap_sizes_assigned(pdev) && i < ARRAY_SIZE(heaps); i++)
		if (va >= heaps[i].start && va - heaps[i].start < heaps[i].size)
			return &heaps[i];
	return NULL;
}

/**
 * pumice_heap_page_size - return the page size that an address must have
 * @pdev: device
 * @va: GPU virtual address
 *
 * Context: Any.
 *
 * Return: enum pumice_page_size, or PUMICE_PAGE_SIZE_COUNT if the driver may choose.
 */
u32 pumice_heap_page_size(const struct pumice_device *pdev, u64 va)
{
	const struct heap *heap = heap_find(pdev, va);

	if (!heap_sizes_assigned(pdev))
		return PUMICE_PAGE_SIZE_COUNT;
	return heap ? heap->page_size : PUMICE_PAGE_SIZE_4K;
}

/* Return the page size in bytes for checks; 4 KiB if the driver may choose. */
static u64 heap_granule(const struct pumice_device *pdev, u64 va)
{
	const struct heap *heap = heap_find(pdev, va);

	return heap ? heap_page_bytes(heap->page_size) : SZ_4K;
}

/**
 * pumice_heap_check - check that an operation consists of whole pages
 * @pdev: device
 * @op: operation, checked by pumice_bind_check_op()
 *
 * A MAP has the page size of one heap; an UNMAP may extend over several.
 *
 * Context: Any.
 *
 * Return: 0; or -EINVAL, with the reason in the debug log.
 */
int pumice_heap_check(const struct pumice_device *pdev, const struct drm_pumice_bind_op *op)
{
	u64 last = op->va + op->size - 1;
	bool map = op->type == DRM_PUMICE_BIND_MAP;

	if (map && heap_find(pdev, op->va) != heap_find(pdev, last)) {
		drm_dbg(&pdev->drm, "bind 0x%llx, 0x%llx bytes: not in one heap\n", op->va,
			op->size);
		return -EINVAL;
	}
	if (!IS_ALIGNED(op->va, heap_granule(pdev, op->va)) ||
	    !IS_ALIGNED(last + 1, heap_granule(pdev, last)) ||
	    (map && !IS_ALIGNED(op->bo_offset, heap_granule(pdev, op->va)))) {
		drm_dbg(&pdev->drm, "bind 0x%llx, 0x%llx bytes: not aligned to the pages of its heap\n",
			op->va, op->size);
		return -EINVAL;
	}
	return 0;
}

/**
 * pumice_heap_fits - return true if a buffer's memory permits the page size of an address
 * @pdev: device
 * @va: GPU virtual address that pumice_heap_check() accepted
 * @size: bytes to map
 * @sgt: DMA-mapped pages of the buffer
 * @offset: first byte in the buffer
 *
 * Context: May sleep.
 *
 * Return: true if each page is contiguous and aligned, and the table has them all; otherwise the
 * reason is in the debug log.
 */
bool pumice_heap_fits(const struct pumice_device *pdev, u64 va, u64 size, struct sg_table *sgt,
		      u64 offset)
{
	const u64 page = heap_granule(pdev, va);
	struct sg_dma_page_iter iter;
	u64 done = 0, expected = 0;
	dma_addr_t addr;

	if (page == SZ_4K)
		return true;
	for_each_sgtable_dma_page(sgt, &iter, offset >> PAGE_SHIFT) {
		addr = sg_page_iter_dma_address(&iter);
		if (IS_ALIGNED(done, page) ? !IS_ALIGNED(addr, page) : addr != expected)
			break;
		expected = addr + PAGE_SIZE;
		done += PAGE_SIZE;
		if (done == size)
			return true;
		cond_resched();
	}
	drm_dbg(&pdev->drm,
		"bind 0x%llx: memory at 0x%llx of the buffer is not contiguous for pages of 0x%llx\n",
		va, offset + done, page);
	return false;
}

/**
 * pumice_heap_query - describe the heaps, for DRM_PUMICE_QUERY_HEAPS
 * @pdev: device
 *
 * Context: Any.
 *
 * Return: the heaps; the first is that of 4 KiB pages, and the only one on an older device.
 */
struct drm_pumice_query_heaps pumice_heap_query(const struct pumice_device *pdev)
{
	struct drm_pumice_query_heaps query = { .count = 1 };
	u32 i;

	query.heaps[0] = (struct drm_pumice_heap) {
		.start = PUMICE_VA_START,
		.size = PUMICE_HEAPS_START - PUMICE_VA_START,
		.page_bytes = SZ_4K,
	};
	for (i = 0; heap_sizes_assigned(pdev) && i < ARRAY_SIZE(heaps); i++)
		query.heaps[query.count++] = (struct drm_pumice_heap) {
			.start = heaps[i].start,
			.size = heaps[i].size,
			.page_bytes = heap_page_bytes(heaps[i].page_size),
		};
	return query;
}

static void heap_setup_range(struct pumice_device *pdev, u32 range, u64 start, u64 size,
			     u32 page_size)
{
	u64 last = start + size - heap_page_bytes(PUMICE_PAGE_SIZE_2M);

	pumice_write64(pdev, PUMICE_MMU_RANGE_START(range),
		       PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__ADDR, start) |
		       PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, page_size));
	pumice_write64(pdev, PUMICE_MMU_RANGE_END(range),
		       PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_END__ADDR, last) |
		       PUMICE_MMU_RANGE_END__ENABLE__MASK);
}

/**
 * pumice_heap_setup - program the page sizes of all addresses
 * @pdev: device, reset and not booted
 */
void pumice_heap_setup(struct pumice_device *pdev)
{
	u32 i;

	if (!heap_sizes_assigned(pdev)) {
		heap_setup_range(pdev, 0, 0, PUMICE_VA_KERNEL_END, PUMICE_PAGE_SIZE_2M);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(heaps); i++)
		heap_setup_range(pdev, i, heaps[i].start, heaps[i].size, heaps[i].page_size);
	pumice_write(pdev, PUMICE_MMU_PAGE_SIZES,
		     PUMICE_FIELD_PREP(PUMICE_MMU_PAGE_SIZES__MODE, PUMICE_MMU_PAGE_SIZES_RANGE));
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_heap_test.c"
#endif
