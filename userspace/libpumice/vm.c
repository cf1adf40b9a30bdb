// SPDX-License-Identifier: MIT
/*
 * Address spaces: checks before binding, and allocation of addresses for
 * callers that do not choose them. These are in the upper half of each heap: of
 * 4 KiB pages, and of larger ones for callers that request these and for objects
 * of the library.
 */
#include <errno.h>
#include <stdlib.h>

#include "heaps_internal.h"

/* Drivers without heaps use pages of this size where addresses are aligned to it. */
#define LARGE_PAGE	(2ull << 20)

int vm_init(struct pumice_vm *vm, struct pumice_device *dev)
{
	u64 middle = dev->info.va_start + (dev->info.va_end - dev->info.va_start) / 2;
	const struct pumice_device_limits *limits = &dev->limits;
	u64 start = round_up(middle, LARGE_PAGE);
	u32 i;
	int err;

	vm->dev = dev;
	vm->nodes = (struct ranges){ 0 };
	vm->kernels = NULL;
	vm->bound = (struct bound){ 0 };
	pthread_mutex_init(&vm->lock, NULL);
	pthread_mutex_lock(&dev->vms_lock);
	vm->next = dev->vms;
	dev->vms = vm;
	pthread_mutex_unlock(&dev->vms_lock);
	err = extents_init(&vm->room[0], start, dev->info.va_end - start);
	for (i = 1; i < PUMICE_MAX_HEAPS && !err; i++)
		err = extents_init(&vm->room[i],
				   limits->heaps[i].start + limits->heaps[i].size / 2,
				   limits->heaps[i].size / 2);
	return err;
}

static void unlink_vm(struct pumice_vm *vm)
{
	struct pumice_vm **link;

	pthread_mutex_lock(&vm->dev->vms_lock);
	for (link = &vm->dev->vms; *link; link = &(*link)->next) {
		if (*link == vm) {
			*link = vm->next;
			break;
		}
	}
	pthread_mutex_unlock(&vm->dev->vms_lock);
}

void vm_forget(const struct pumice_bo *bo)
{
	struct pumice_vm *vm;

	pthread_mutex_lock(&bo->dev->vms_lock);
	for (vm = bo->dev->vms; vm; vm = vm->next) {
		pthread_mutex_lock(&vm->lock);
		bound_forget(&vm->bound, bo);
		pthread_mutex_unlock(&vm->lock);
	}
	pthread_mutex_unlock(&bo->dev->vms_lock);
}

static void note_binds(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count)
{
	u32 i;

	pthread_mutex_lock(&vm->lock);
	for (i = 0; i < count; i++)
		bound_change(&vm->bound, &ops[i]);
	pthread_mutex_unlock(&vm->lock);
}

void vm_fini(struct pumice_vm *vm)
{
	struct range *node;
	u32 i;

	/* Before vm_forget() no longer finds it: until then the bos of ranges exist. */
	pthread_mutex_lock(&vm->lock);
	bound_fini(&vm->bound);
	pthread_mutex_unlock(&vm->lock);
	unlink_vm(vm);
	while ((node = ranges_first(&vm->nodes))) {
		ranges_remove(&vm->nodes, node);
		free(node);
	}
	for (i = 0; i < PUMICE_MAX_HEAPS; i++)
		extents_fini(&vm->room[i]);
	pthread_mutex_destroy(&vm->lock);
}

int pumice_vm_create(struct pumice_device *dev, struct pumice_vm **vm)
{
	return dev->ops->vm_create(dev, vm);
}

void pumice_vm_destroy(struct pumice_vm *vm)
{
	if (vm)
		vm->dev->ops->vm_destroy(vm);
}

static int check_range(struct pumice_vm *vm, u32 index, u64 va, u64 size)
{
	struct pumice_device *dev = vm->dev;

	if (va % PAGE_BYTES)
		return fail(dev, EINVAL, "bind %u: address %#llx is not a multiple of a page, %#llx",
			    index, (unsigned long long)va, PAGE_BYTES);
	if (!size || size % PAGE_BYTES)
		return fail(dev, EINVAL, "bind %u: size %#llx is not one or more pages of %#llx",
			    index, (unsigned long long)size, PAGE_BYTES);
	if (va < dev->info.va_start || va >= heaps_end(dev) || size > heaps_end(dev) - va)
		return fail(dev, EINVAL,
			    "bind %u: address %#llx, size %#llx is not within %#llx to %#llx",
			    index, (unsigned long long)va, (unsigned long long)size,
			    (unsigned long long)dev->info.va_start,
			    (unsigned long long)heaps_end(dev) - 1);
	return 0;
}

/* Check that an operation consists of whole pages, and that one that maps is within one heap. */
static int check_heaps(struct pumice_device *dev, u32 index, const struct pumice_bind *op)
{
	const struct pumice_heap *first = heaps_find(dev, op->va);
	const struct pumice_heap *last = heaps_find(dev, op->va + op->size - 1);
	const bool map = op->bo || op->flags & PUMICE_BIND_NULL;

	if (!first || !last)
		return fail(dev, EINVAL,
			    "bind %u: address %#llx, size %#llx begins or ends in no heap; see pumice_device_limits()",
			    index, (unsigned long long)op->va, (unsigned long long)op->size);
	if (map && first != last)
		return fail(dev, EINVAL,
			    "bind %u: address %#llx, size %#llx is in two heaps; see pumice_device_limits()",
			    index, (unsigned long long)op->va, (unsigned long long)op->size);
	if ((op->va | op->bo_offset) % first->page_bytes || (op->va + op->size) % last->page_bytes)
		return fail(dev, EINVAL,
			    "bind %u: address %#llx, size %#llx, bo_offset %#llx are not multiples of the heap's pages, %#llx",
			    index, (unsigned long long)op->va, (unsigned long long)op->size,
			    (unsigned long long)op->bo_offset,
			    (unsigned long long)first->page_bytes);
	return 0;
}

#define BIND_FLAGS (PUMICE_BIND_READONLY | PUMICE_BIND_NOEXEC | PUMICE_BIND_UNMAP_ALL | \
		    PUMICE_BIND_NULL)

/* Check flags for conflicts with each other and with a bo. */
static int check_flags(struct pumice_device *dev, u32 index, const struct pumice_bind *op)
{
	const u32 flags = op->flags, unknown = flags & ~BIND_FLAGS;

	if (unknown)
		return fail(dev, EINVAL,
			    "bind %u: unknown flags %#x; accepted: 0x1 (READONLY), 0x2 (NOEXEC), 0x4 (UNMAP_ALL), 0x8 (NULL)",
			    index, unknown);
	if (flags & PUMICE_BIND_UNMAP_ALL && (op->bo || flags != PUMICE_BIND_UNMAP_ALL))
		return fail(dev, EINVAL, "bind %u: UNMAP_ALL takes no bo and no other flag", index);
	if (flags & PUMICE_BIND_NULL && op->bo)
		return fail(dev, EINVAL, "bind %u: NULL takes no bo", index);
	if (!op->bo && !(flags & PUMICE_BIND_NULL) &&
	    flags & (PUMICE_BIND_READONLY | PUMICE_BIND_NOEXEC))
		return fail(dev, EINVAL, "bind %u: flags %#x need a bo; unmapping takes no flags",
			    index, flags);
	return 0;
}

/* Check that an operation maps a range of a bo of the device that its VM may bind. */
static int check_memory(const struct pumice_vm *vm, u32 index, const struct pumice_bind *op)
{
	struct pumice_device *dev = vm->dev;
	const struct pumice_bo *bo = op->bo;

	if (!bo && op->bo_offset)
		return fail(dev, EINVAL, "bind %u: bo_offset %#llx without a bo; set it to 0",
			    index, (unsigned long long)op->bo_offset);
	if (!bo)
		return 0;
	if (bo->dev != dev)
		return fail(dev, EINVAL,
			    "bind %u: the bo belongs to another device; create it in this one",
			    index);
	if (bo->exclusive && bo->exclusive != vm)
		return fail(dev, EINVAL,
			    "bind %u: the bo is exclusive to another vm; create it with exclusive NULL",
			    index);
	if (op->bo_offset % PAGE_BYTES)
		return fail(dev, EINVAL, "bind %u: bo_offset %#llx is not a multiple of a page, %#llx",
			    index, (unsigned long long)op->bo_offset, PAGE_BYTES);
	if (op->bo_offset >= bo->size || op->size > bo->size - op->bo_offset)
		return fail(dev, EINVAL,
			    "bind %u: bo_offset %#llx, size %#llx is not within the bo's %#llx bytes",
			    index, (unsigned long long)op->bo_offset,
			    (unsigned long long)op->size, (unsigned long long)bo->size);
	return 0;
}

static int check_bind(struct pumice_vm *vm, u32 index, const struct pumice_bind *op)
{
	struct pumice_device *dev = vm->dev;
	int err = check_flags(dev, index, op);

	if (err)
		return err;
	if (op->flags & PUMICE_BIND_UNMAP_ALL)
		return op->va || op->size || op->bo_offset ?
		       fail(dev, EINVAL, "bind %u: UNMAP_ALL takes no address, size or offset",
			    index) : 0;
	err = check_memory(vm, index, op);
	if (err)
		return err;
	if (op->flags & PUMICE_BIND_NULL && op->size > MAX_NULL_BYTES)
		return fail(dev, E2BIG,
			    "bind %u: NULL of size %#llx is more than %llu GiB; split it", index,
			    (unsigned long long)op->size, MAX_NULL_BYTES >> 30);
	err = check_range(vm, index, op->va, op->size);
	return err ? err : check_heaps(dev, index, op);
}

static int check_array(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count)
{
	if (count > MAX_BINDS)
		return fail(vm->dev, E2BIG, "bind: %u operations are more than %u; bind them in parts",
			    count, MAX_BINDS);
	if (count && !ops)
		return fail(vm->dev, EINVAL, "bind: ops is NULL; set it, or count to 0");
	return 0;
}

int pumice_vm_bind(struct pumice_vm *vm, const struct pumice_bind *ops, uint32_t count,
		   uint32_t *done)
{
	u32 unused, good;
	int bad = 0, err;

	if (!done)
		done = &unused;
	*done = 0;
	err = check_array(vm, ops, count);
	if (err)
		return err;
	for (good = 0; good < count && !bad; good++)
		bad = check_bind(vm, good, &ops[good]);
	if (bad)
		good--;
	err = good ? vm->dev->ops->vm_bind(vm, ops, good, done) : 0;
	note_binds(vm, ops, err ? *done : good);
	return err ? err : bad;
}

int pumice_vm_bind_async(struct pumice_vm *vm, const struct pumice_bind *ops, uint32_t count,
			 const struct pumice_job_sync *syncs, uint32_t sync_count)
{
	int err = check_array(vm, ops, count);
	u32 i;

	if (err)
		return err;
	if (sync_count > MAX_SYNCS)
		return fail(vm->dev, E2BIG, "bind: %u syncs are more than %u; split them between calls",
			    sync_count, MAX_SYNCS);
	if (sync_count && !syncs)
		return fail(vm->dev, EINVAL, "bind: syncs is NULL; set it, or sync_count to 0");
	for (i = 0; i < sync_count; i++) {
		if (!syncs[i].sync)
			return fail(vm->dev, EINVAL, "bind: sync %u is NULL; set it", i);
		if (syncs[i].sync->dev != vm->dev)
			return fail(vm->dev, EINVAL,
				    "bind: sync %u belongs to another device; create it in this one",
				    i);
	}
	for (i = 0; i < count && !err; i++)
		err = check_bind(vm, i, &ops[i]);
	if (!err)
		err = vm->dev->ops->vm_bind_async(vm, ops, count, syncs, sync_count);
	if (!err)
		note_binds(vm, ops, count);
	return err;
}

int pumice_vm_get_state(struct pumice_vm *vm, uint32_t *flags)
{
	return vm->dev->ops->vm_get_state(vm, flags);
}

/* Get the alignment that benefits an object of this size. */
static u64 good_align(u64 size)
{
	u64 align = PAGE_BYTES;

	while (align < LARGE_PAGE && align * 4 <= size)
		align *= 4;
	return size >= LARGE_PAGE ? LARGE_PAGE : align;
}

/* Allocate addresses for a node, and those of its guard. Lock held. */
static int add_node(struct pumice_vm *vm, struct va_node *node, u64 size, u64 align)
{
	int err = extents_alloc(&vm->room[node->heap], size + node->guard, align, &node->at.va);

	if (err)
		return err;
	node->at.size = size;
	ranges_add(&vm->nodes, &node->at);
	return 0;
}

/* @guard: bytes after @size to be allocated too */
static int va_alloc(struct pumice_vm *vm, u32 heap, u64 size, u64 guard, u64 align, bool placed,
		    u64 *va)
{
	struct va_node *node = malloc(sizeof(*node));
	int err = -ENOMEM;

	if (node) {
		*node = (struct va_node){ .guard = guard, .heap = heap, .placed = placed };
		pthread_mutex_lock(&vm->lock);
		err = add_node(vm, node, size, align);
		pthread_mutex_unlock(&vm->lock);
	}
	if (err)
		free(node);
	else
		*va = node->at.va;
	return err ? fail(vm->dev, ENOMEM, "vm: no free addresses for %#llx bytes; remove something",
			  (unsigned long long)size) : 0;
}

/* Unlink the node that starts at @va. Return: it, or NULL. */
static struct va_node *va_unlink(struct pumice_vm *vm, u64 va, bool placed)
{
	struct va_node *node;

	pthread_mutex_lock(&vm->lock);
	node = (struct va_node *)ranges_find(&vm->nodes, va);
	if (node && node->at.va == va && node->placed == placed)
		ranges_remove(&vm->nodes, &node->at);
	else
		node = NULL;
	pthread_mutex_unlock(&vm->lock);
	return node;
}

static void va_free(struct pumice_vm *vm, struct va_node *node)
{
	pthread_mutex_lock(&vm->lock);
	extents_free(&vm->room[node->heap], node->at.va, node->at.size + node->guard);
	pthread_mutex_unlock(&vm->lock);
	free(node);
}

int pumice_vm_va_alloc(struct pumice_vm *vm, uint64_t size, uint64_t align, uint64_t *va)
{
	if (!size || size > vm->dev->info.va_end)
		return fail(vm->dev, EINVAL, "vm: size %#llx is not 1 to %#llx bytes",
			    (unsigned long long)size, (unsigned long long)vm->dev->info.va_end);
	if (align && !power_of_two(align))
		return fail(vm->dev, EINVAL, "vm: align %#llx is not 0 or a power of two",
			    (unsigned long long)align);
	size = round_up(size, PAGE_BYTES);
	if (!align)
		align = good_align(size);
	if (align < PAGE_BYTES)
		align = PAGE_BYTES;
	return va_alloc(vm, 0, size, 0, align, false, va);
}

void pumice_vm_va_free(struct pumice_vm *vm, uint64_t va)
{
	struct va_node *node = va_unlink(vm, va, false);

	if (node)
		va_free(vm, node);
}

/* Place a bo in a heap, with a page after it that stays unmapped. */
static int place_in(struct pumice_vm *vm, u32 heap, struct pumice_bo *bo, u64 align, u32 flags,
		    u64 *va)
{
	struct pumice_bind op = { .bo = bo, .size = bo->size, .flags = flags };
	u64 guard = vm->dev->limits.heaps[heap].page_bytes;
	int err = va_alloc(vm, heap, bo->size, guard, align, true, &op.va);

	if (err)
		return err;
	err = pumice_vm_bind(vm, &op, 1, NULL);
	if (err)
		va_free(vm, va_unlink(vm, op.va, true));
	else
		*va = op.va;
	return err;
}

int pumice_vm_place(struct pumice_vm *vm, struct pumice_bo *bo, uint32_t flags, uint64_t *va)
{
	u32 heap;
	int err;

	if (!bo)
		return fail_null(vm->dev, "vm", "bo");
	heap = flags & PUMICE_PLACE_LARGE ? heaps_for_size(vm->dev, bo->size) : 0;
	flags &= ~PUMICE_PLACE_LARGE;
	if (heap) {
		err = place_in(vm, heap, bo, vm->dev->limits.heaps[heap].page_bytes, flags, va);
		/* Memory that is not contiguous, or a full heap: 4 KiB pages may fit. */
		if (err != -EINVAL && err != -ENOMEM && err != -ENOSPC)
			return err;
	}
	return place_in(vm, 0, bo, good_align(bo->size), flags, va);
}

/*
 * Only sizes of whole pages of the largest heap: the kernel has contiguous memory for these, too,
 * so that captures of either back end can be placed in the other one.
 */
int vm_place_object(struct pumice_vm *vm, struct pumice_bo *bo, u32 flags, u64 *va)
{
	return pumice_vm_place(vm, bo, bo->size % LARGE_PAGE ? flags : flags | PUMICE_PLACE_LARGE,
			       va);
}

int vm_reserve(struct pumice_vm *vm, u32 heap, u64 end)
{
	const u64 page = vm->dev->limits.heaps[heap].page_bytes;
	u64 start;
	/* The first page shows where the room begins. */
	int err = va_alloc(vm, heap, page, 0, page, false, &start);

	if (err || end <= start + page)
		return err;
	return va_alloc(vm, heap, end - start - page, 0, page, false, &start);
}

int pumice_vm_remove(struct pumice_vm *vm, uint64_t va)
{
	struct va_node *node = va_unlink(vm, va, true);
	struct pumice_bind op = { .va = va };
	int err;

	if (!node)
		return fail(vm->dev, EINVAL, "vm: pumice_vm_place() did not return address %#llx",
			    (unsigned long long)va);
	op.size = node->at.size;
	err = pumice_vm_bind(vm, &op, 1, NULL);
	if (err) {
		/* Still mapped: the addresses must not be reused. */
		free(node);
		return err;
	}
	va_free(vm, node);
	return 0;
}

int pumice_vm_get_faults(struct pumice_vm *vm, u64 after, struct pumice_vm_fault *faults,
			 u32 *count, size_t bytes, u64 *lost)
{
	struct pumice_vm_fault all[PUMICE_VM_FAULTS];
	u32 n = *count < PUMICE_VM_FAULTS ? *count : PUMICE_VM_FAULTS, i;
	u64 lost_count;
	int err = vm->dev->ops->vm_get_faults(vm, after, all, &n, &lost_count);

	if (err)
		return err;
	for (i = 0; i < n; i++)
		put_sized((u8 *)faults + i * bytes, bytes, &all[i], sizeof(all[i]));
	*count = n;
	if (lost)
		*lost = lost_count;
	return 0;
}
