// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Purgeable buffers: BO_MADVISE, and the shrinker that purges their content when memory
 * is short.
 *
 * Intended for buffer caches in user space. Only unused buffers are purged: those not
 * bound in any VM, not mapped by any process, and not shared by PRIME. So reclaim neither
 * changes page tables nor waits for fences: when a buffer's last mapping was removed from
 * a VM, the TLBs were invalidated. Advice about a buffer in use is stored and takes effect
 * when it is last unbound.
 *
 * The shrinker waits for its own lock, under which no memory is allocated, but not for any
 * reservation: a task that reclaims may hold one. It has to wait: with trylock, a task that
 * reclaims while another one purges would repeatedly find nothing to free, and the OOM
 * killer would be invoked although there are buffers to purge.
 */
#include <linux/sched/mm.h>
#include <linux/shrinker.h>

#include <drm/drm_gem.h>

#include "pumice_device.h"
#include "pumice_gem.h"
#include "pumice_shrinker.h"

static bool pumice_shrinker_is_purgeable(struct pumice_bo *bo)
{
	return drm_gem_shmem_is_purgeable(&bo->base) && !bo->base.base.dma_buf &&
	       list_empty(&bo->base.base.gpuva.list) && pumice_gem_shmem_users(&bo->base) == 1;
}

static u64 pumice_shrinker_pages_of(const struct pumice_bo *bo)
{
	return bo->base.base.size >> PAGE_SHIFT;
}

/* Maximum number of buffers to check per call: a process may have created many in use. */
#define MAX_SCANNED	1024u

/* Return an estimate: buffers that are checked may change, and there may be more. */
static unsigned long pumice_shrinker_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct pumice_device *pdev = shrinker->private_data;
	unsigned long pages = 0;
	struct pumice_bo *bo;
	u32 scanned = 0;

	mutex_lock(&pdev->purgeable.lock);
	list_for_each_entry(bo, &pdev->purgeable.bos, purgeable) {
		if (scanned++ == MAX_SCANNED) {
			/* Not 0, so that a scan follows, which continues after the previous one. */
			pages = pages ?: 1;
			break;
		}
		if (pumice_shrinker_is_purgeable(bo))
			pages += pumice_shrinker_pages_of(bo);
	}
	mutex_unlock(&pdev->purgeable.lock);
	return pages ?: SHRINK_EMPTY;
}

/*
 * A thread that binds the buffer adds it to its VM's list before getting its pages, for which
 * it needs the reservation: see pumice_bind.c.
 */
static bool pumice_shrinker_try_to_purge(struct pumice_bo *bo)
{
	struct dma_resv *resv = bo->base.base.resv;
	bool purge;

	if (!dma_resv_trylock(resv))
		return false;
	purge = pumice_shrinker_is_purgeable(bo);
	if (purge)
		pumice_gem_shmem_purge(&bo->base);
	dma_resv_unlock(resv);
	return purge;
}

static unsigned long pumice_shrinker_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct pumice_device *pdev = shrinker->private_data;
	struct pumice_bo *bo, *next;
	unsigned long freed = 0;
	LIST_HEAD(in_use);
	u32 scanned = 0;

	mutex_lock(&pdev->purgeable.lock);
	list_for_each_entry_safe(bo, next, &pdev->purgeable.bos, purgeable) {
		if (freed >= sc->nr_to_scan || scanned++ == MAX_SCANNED)
			break;
		if (!pumice_shrinker_try_to_purge(bo)) {
			list_move_tail(&bo->purgeable, &in_use);
			continue;
		}
		list_del_init(&bo->purgeable);
		freed += pumice_shrinker_pages_of(bo);
	}
	list_splice_tail(&in_use, &pdev->purgeable.bos);
	mutex_unlock(&pdev->purgeable.lock);
	sc->nr_scanned = max(freed, sc->nr_scanned);
	return freed ?: SHRINK_STOP;
}

/* Record the lock order with lockdep before the first reclaim needs it. */
static void pumice_shrinker_prime_lockdep(struct pumice_device *pdev)
{
	fs_reclaim_acquire(GFP_KERNEL);
	mutex_lock(&pdev->purgeable.lock);
	mutex_unlock(&pdev->purgeable.lock);
	fs_reclaim_release(GFP_KERNEL);
}

/**
 * pumice_shrinker_init - initialize; called before the first buffer is created
 * @pdev: device
 *
 * Return: 0 or -ENOMEM.
 */
int pumice_shrinker_init(struct pumice_device *pdev)
{
	struct pumice_purgeable *p = &pdev->purgeable;

	p->shrinker = shrinker_alloc(0, "drm-pumice:%s", dev_name(pdev->drm.dev));
	if (!p->shrinker)
		return -ENOMEM;
	mutex_init(&p->lock);
	INIT_LIST_HEAD(&p->bos);
	pumice_shrinker_prime_lockdep(pdev);
	p->shrinker->count_objects = pumice_shrinker_count;
	p->shrinker->scan_objects = pumice_shrinker_scan;
	p->shrinker->private_data = pdev;
	shrinker_register(p->shrinker);
	return 0;
}

/**
 * pumice_shrinker_fini - unregister the shrinker; called after the last buffer is freed
 * @pdev: device
 */
void pumice_shrinker_fini(struct pumice_device *pdev)
{
	shrinker_free(pdev->purgeable.shrinker);
	mutex_destroy(&pdev->purgeable.lock);
}

/**
 * pumice_shrinker_forget - remove a buffer that is being freed from the shrinker's list
 * @bo: buffer, in the list or not
 *
 * Context: May sleep. Acquires purgeable.lock.
 */
void pumice_shrinker_forget(struct pumice_bo *bo)
{
	struct pumice_purgeable *p = &to_pumice_device(bo->base.base.dev)->purgeable;

	mutex_lock(&p->lock);
	list_del_init(&bo->purgeable);
	mutex_unlock(&p->lock);
}

/* Apply advice about a buffer. Returns whether it still has its content, or an error. */
static int pumice_shrinker_advise(struct pumice_bo *bo, u32 advice)
{
	struct pumice_purgeable *p = &to_pumice_device(bo->base.base.dev)->purgeable;
	const bool needed = advice == DRM_PUMICE_BO_WILLNEED;
	int ret = dma_resv_lock_interruptible(bo->base.base.resv, NULL);

	if (ret)
		return ret;
	mutex_lock(&p->lock);
	ret = pumice_gem_shmem_madvise(&bo->base, !needed);
	if (needed || !ret)
		list_del_init(&bo->purgeable);
	else
		list_move_tail(&bo->purgeable, &p->bos);
	mutex_unlock(&p->lock);
	dma_resv_unlock(bo->base.base.resv);
	return ret;
}

/**
 * pumice_ioctl_bo_madvise - implement DRM_IOCTL_PUMICE_BO_MADVISE
 * @drm: device
 * @data: struct drm_pumice_bo_madvise
 * @file: file
 *
 * Context: Process context. Acquires the buffer's reservation and purgeable.lock.
 *
 * Return: 0; -EINVAL for unknown advice or padding; -ENOENT without such a buffer; or -EINTR
 * if a signal interrupts the wait for the reservation.
 */
int pumice_ioctl_bo_madvise(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_bo_madvise *args = data;
	struct drm_gem_object *obj;
	int ret;

	if (args->pad || args->advice > DRM_PUMICE_BO_DONTNEED)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	ret = pumice_shrinker_advise(to_pumice_bo(obj), args->advice);
	drm_gem_object_put(obj);
	if (ret < 0)
		return ret;
	args->retained = ret;
	return 0;
}
