// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * DRM_IOCTL_PUMICE_FILE_GET_RESETS: contexts of a file stopped by resets and time-outs.
 *
 * The counts include all contexts that the file has had. Contexts may be stopped after
 * their file was closed, so the counters live as long as both the file and the contexts.
 */
#include <linux/kref.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "pumice_blame.h"
#include "pumice_device.h"

/**
 * struct pumice_blame - counts of a file's contexts that were stopped
 */
struct pumice_blame {
	/** @ref: held by the file and its contexts */
	struct kref ref;
	/** @guilty: contexts with a job that took too long */
	atomic64_t guilty;
	/** @innocent: contexts that lost a job in a reset caused by another context */
	atomic64_t innocent;
};

/**
 * pumice_blame_create - allocate the counters of a file
 *
 * Context: May sleep.
 *
 * Return: the counters with one reference, or NULL without memory.
 */
struct pumice_blame *pumice_blame_create(void)
{
	struct pumice_blame *blame = kzalloc(sizeof(*blame), GFP_KERNEL_ACCOUNT);

	if (blame)
		kref_init(&blame->ref);
	return blame;
}

/**
 * pumice_blame_get - acquire a reference
 * @blame: counters, to which the caller has a reference
 *
 * Context: Any.
 *
 * Return: @blame.
 */
struct pumice_blame *pumice_blame_get(struct pumice_blame *blame)
{
	kref_get(&blame->ref);
	return blame;
}

static void blame_last_put(struct kref *ref)
{
	kfree(container_of(ref, struct pumice_blame, ref));
}

/**
 * pumice_blame_put - drop a reference, and free the counters with the last one
 * @blame: counters
 *
 * Context: Does not sleep.
 */
void pumice_blame_put(struct pumice_blame *blame)
{
	kref_put(&blame->ref, blame_last_put);
}

/**
 * pumice_blame_note - count a context that is stopped; does not sleep
 * @blame: counters of its file
 * @state: DRM_PUMICE_CONTEXT_GUILTY or _INNOCENT, or 0
 */
void pumice_blame_note(struct pumice_blame *blame, u32 state)
{
	if (state & DRM_PUMICE_CONTEXT_GUILTY)
		atomic64_inc(&blame->guilty);
	if (state & DRM_PUMICE_CONTEXT_INNOCENT)
		atomic64_inc(&blame->innocent);
}

/**
 * pumice_ioctl_file_get_resets - implement DRM_IOCTL_PUMICE_FILE_GET_RESETS
 * @drm: device
 * @data: struct drm_pumice_file_get_resets
 * @file: file
 *
 * The values are read without a lock, so a reset that occurs meanwhile may be missing in some.
 *
 * Context: Process context.
 *
 * Return: 0, or -EINVAL if @flags is not zero.
 */
int pumice_ioctl_file_get_resets(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_file_get_resets *args = data;
	struct pumice_file *pfile = file->driver_priv;
	const struct pumice_reset *reset = &pfile->pdev->reset;

	if (args->flags)
		return -EINVAL;
	args->state = READ_ONCE(reset->lost) ? DRM_PUMICE_RESETS_LOST : 0;
	args->resets = READ_ONCE(reset->count) - pfile->resets;
	args->guilty = atomic64_read(&pfile->blame->guilty);
	args->innocent = atomic64_read(&pfile->blame->innocent);
	return 0;
}
