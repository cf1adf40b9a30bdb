// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Performance monitors.
 *
 * The firmware adds the counts of a job's slices to a block in shared memory; see
 * struct fwif_perf. hw/perf.h defines the counters.
 *
 * Values written by the firmware are passed to users and not used otherwise.
 *
 * A data master has one job at a time, so the counts of its own blocks belong to the
 * context. Blocks shared by data masters also count concurrent jobs, and so reveal the
 * activity of others: as with other drivers' sysctls of this kind
 * (dev.i915.perf_stream_paranoid, dev.xe.observation_paranoid), reading them requires
 * CAP_PERFMON, unless dev.pumice.perf_paranoid is 0.
 */
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>

#include "perf.h"
#include "pumice_fw_mem.h"
#include "pumice_perfmon.h"
#include "pumice_uapi.h"

static const struct {
	const char *name;
	const char *category;
	const char *unit;
	const char *description;
	u32 flags;
} counters[] = {
#define COUNTER(name, category, detailed, unit, description) \
	{ #name, #category, unit, description, \
	  ((detailed) ? DRM_PUMICE_PERF_COUNTER_DETAILED : 0) | \
	  (BIT(PUMICE_PERF_##category) & PUMICE_PERF_SHARED ? \
	   DRM_PUMICE_PERF_COUNTER_GLOBAL : 0) },
	PUMICE_PERF_COUNTERS(COUNTER)
#undef COUNTER
};

static_assert(ARRAY_SIZE(counters) <= PUMICE_PERF_COUNTER_COUNT);
/* Numbers of counters fit in the elements of struct pumice_perfmon.counters. */
static_assert(ARRAY_SIZE(counters) <= U8_MAX + 1);

/* dev.pumice.perf_paranoid: 1: global counters need CAP_PERFMON; 0: they do not */
static int perf_paranoid = 1;
static struct ctl_table_header *sysctls;

static struct ctl_table sysctl_table[] = {
	{
		.procname = "perf_paranoid",
		.data = &perf_paranoid,
		.maxlen = sizeof(perf_paranoid),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	},
};

/**
 * pumice_perfmon_register_sysctl - register the sysctl dev.pumice.perf_paranoid
 *
 * If it cannot be registered, as on kernels without sysctls, the default of 1 applies.
 *
 * Context: May sleep; called once, when the module is loaded.
 */
void pumice_perfmon_register_sysctl(void)
{
	sysctls = register_sysctl("dev/pumice", sysctl_table);
}

/**
 * pumice_perfmon_unregister_sysctl - remove the sysctl, if it was registered
 *
 * Context: May sleep; called once, when the module is unloaded.
 */
void pumice_perfmon_unregister_sysctl(void)
{
	unregister_sysctl_table(sysctls);
}

static bool perfmon_may_use(u32 counter)
{
	return !(counters[counter].flags & DRM_PUMICE_PERF_COUNTER_GLOBAL) ||
	       !READ_ONCE(perf_paranoid) || perfmon_capable();
}

static void perfmon_free(struct pumice_object *obj)
{
	struct pumice_perfmon *perfmon = container_of(obj, struct pumice_perfmon, base);
	struct drm_device *drm = &perfmon->pdev->drm;

	pumice_fw_obj_destroy(perfmon->pdev, perfmon->obj);
	mutex_destroy(&perfmon->lock);
	kfree(perfmon);
	drm_dev_put(drm);
}

/**
 * pumice_perfmon_put - drop a reference
 * @perfmon: monitor, or NULL
 *
 * Context: Any, including atomic: a work item frees the monitor after the last reference.
 */
void pumice_perfmon_put(struct pumice_perfmon *perfmon)
{
	pumice_object_put(perfmon ? &perfmon->base : NULL);
}

/**
 * pumice_perfmon_lookup - look up a monitor of a file by its id
 * @file: file
 * @id: id
 *
 * Context: Does not sleep. Acquires the lock of the table.
 *
 * Return: the monitor with a reference, or NULL.
 */
struct pumice_perfmon *pumice_perfmon_lookup(struct pumice_file *file, u32 id)
{
	static_assert(!offsetof(struct pumice_perfmon, base));
	return pumice_object_lookup(&file->perfmons, id);
}

/**
 * pumice_ioctl_perf_counter_get - implement DRM_IOCTL_PUMICE_PERF_COUNTER_GET
 * @drm: device
 * @data: struct drm_pumice_perf_counter_get
 * @file: file
 *
 * Context: Process context. Reads constants only.
 *
 * Return: 0, or -ENOENT without such a counter.
 */
int pumice_ioctl_perf_counter_get(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_perf_counter_get *args = data;
	u32 n = args->counter;

	if (n >= ARRAY_SIZE(counters))
		return -ENOENT;
	memset(args, 0, sizeof(*args));
	args->counter = n;
	args->flags = counters[n].flags;
	strscpy(args->name, counters[n].name, sizeof(args->name));
	strscpy(args->category, counters[n].category, sizeof(args->category));
	strscpy(args->unit, counters[n].unit, sizeof(args->unit));
	strscpy(args->description, counters[n].description, sizeof(args->description));
	return 0;
}

static int perfmon_copy_counters(struct pumice_perfmon *perfmon,
				 const struct drm_pumice_array *array)
{
	u32 i, n;
	int ret;

	for (i = 0; i < array->count; i++) {
		ret = pumice_array_copy(array, i, &n, sizeof(n));
		if (ret)
			return ret;
		if (n >= ARRAY_SIZE(counters))
			return -EINVAL;
		if (!perfmon_may_use(n))
			return -EACCES;
		perfmon->counters[i] = n;
	}
	perfmon->count = array->count;
	return 0;
}

/* Allocate a monitor without firmware memory. Returns an error pointer on failure. */
static struct pumice_perfmon *perfmon_alloc(struct pumice_device *pdev,
					    const struct drm_pumice_array *array)
{
	struct pumice_perfmon *perfmon = kzalloc(sizeof(*perfmon), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!perfmon)
		return ERR_PTR(-ENOMEM);
	ret = perfmon_copy_counters(perfmon, array);
	if (ret) {
		kfree(perfmon);
		return ERR_PTR(ret);
	}
	pumice_object_init(&perfmon->base, perfmon_free);
	mutex_init(&perfmon->lock);
	drm_dev_get(&pdev->drm);
	perfmon->pdev = pdev;
	return perfmon;
}

static struct pumice_perfmon *perfmon_create(struct pumice_file *file,
					     const struct drm_pumice_array *array)
{
	struct pumice_perfmon *perfmon = perfmon_alloc(file->pdev, array);
	struct pumice_fw_obj *obj;

	if (IS_ERR(perfmon))
		return perfmon;
	obj = pumice_fw_obj_create(file->pdev, file, sizeof(struct fwif_perf));
	if (IS_ERR(obj)) {
		pumice_perfmon_put(perfmon);
		return ERR_CAST(obj);
	}
	perfmon->obj = obj;
	return perfmon;
}

/**
 * pumice_ioctl_perfmon_create - implement DRM_IOCTL_PUMICE_PERFMON_CREATE
 * @drm: device
 * @data: struct drm_pumice_perfmon_create
 * @file: file, charged for the memory shared with the firmware
 *
 * Context: Process context. May wait until destroyed objects are freed.
 *
 * Return: 0; -EINVAL for flags, no counters or an unknown counter; -EACCES for a global
 * counter that the caller may not read; -ENOSPC if the file has DRM_PUMICE_MAX_PERFMONS or a
 * limit of the memory shared with the firmware is reached; -ENOMEM; -EINTR if the caller is
 * killed; -ENODEV if the device was unplugged; or an error of pumice_array_check(), with at
 * most DRM_PUMICE_MAX_PERF_COUNTERS elements, or of pumice_array_copy().
 */
int pumice_ioctl_perfmon_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_perfmon_create *args = data;
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_perfmon *perfmon;
	int ret, idx;

	if (args->flags || !args->counters.count)
		return -EINVAL;
	ret = pumice_array_check(&args->counters, sizeof(u32), DRM_PUMICE_MAX_PERF_COUNTERS);
	if (ret)
		return ret;
	pumice_quota_settle(pfile, PUMICE_RESOURCE_MEMORY, PAGE_ALIGN(sizeof(struct fwif_perf)));
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	perfmon = perfmon_create(pfile, &args->counters);
	drm_dev_exit(idx);
	if (IS_ERR(perfmon))
		return PTR_ERR(perfmon);
	ret = xa_alloc(&pfile->perfmons, &args->id, perfmon,
		       XA_LIMIT(1, DRM_PUMICE_MAX_PERFMONS), GFP_KERNEL);
	if (ret)
		pumice_perfmon_put(perfmon);
	return ret == -EBUSY ? -ENOSPC : ret;
}

/**
 * pumice_ioctl_perfmon_destroy - implement DRM_IOCTL_PUMICE_PERFMON_DESTROY
 * @drm: device
 * @data: struct drm_pumice_perfmon_destroy
 * @file: file
 *
 * Context: Process context. Does not wait: jobs keep their reference.
 *
 * Return: 0; -EINVAL for padding; or -ENOENT without such a monitor.
 */
int pumice_ioctl_perfmon_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_perfmon_destroy *args = data;
	struct pumice_file *pfile = file->driver_priv;

	return args->pad ? -EINVAL : pumice_object_destroy(&pfile->perfmons, args->id);
}

static void perfmon_read_values(const struct pumice_perfmon *perfmon, u64 *values)
{
	const struct fwif_perf *perf = perfmon->obj->cpu;
	u32 i, n;

	lockdep_assert_held(&perfmon->lock);
	for (i = 0; i < perfmon->count; i++) {
		n = perfmon->counters[i];
		values[i] = READ_ONCE(perf->value[n]) - perfmon->zero[n];
	}
}

/*
 * Reset the counters by the values that were returned, so that counts added by the firmware
 * meanwhile are not lost. For duplicate counters the first value is used.
 */
static void perfmon_reset_values(struct pumice_perfmon *perfmon, const u64 *values)
{
	DECLARE_BITMAP(reset, PUMICE_PERF_COUNTER_COUNT) = { 0 };
	u32 i;

	lockdep_assert_held(&perfmon->lock);
	for (i = 0; i < perfmon->count; i++)
		if (!__test_and_set_bit(perfmon->counters[i], reset))
			perfmon->zero[perfmon->counters[i]] += values[i];
}

static int perfmon_get_values(struct pumice_perfmon *perfmon,
			      const struct drm_pumice_perfmon_get_values *args)
{
	u64 values[DRM_PUMICE_MAX_PERF_COUNTERS];
	int ret = 0;

	if (atomic_read_acquire(&perfmon->busy))
		return -EBUSY;
	mutex_lock(&perfmon->lock);
	perfmon_read_values(perfmon, values);
	if (copy_to_user(u64_to_user_ptr(args->values), values,
			 perfmon->count * sizeof(*values)))
		ret = -EFAULT;
	else if (args->flags & DRM_PUMICE_PERFMON_RESET)
		perfmon_reset_values(perfmon, values);
	mutex_unlock(&perfmon->lock);
	return ret;
}

/**
 * pumice_ioctl_perfmon_get_values - implement DRM_IOCTL_PUMICE_PERFMON_GET_VALUES
 * @drm: device
 * @data: struct drm_pumice_perfmon_get_values
 * @file: file
 *
 * Context: Process context. Acquires the monitor's lock, under which user memory is written.
 *
 * Return: 0; -EINVAL for unknown flags; -ENOENT without such a monitor; -EBUSY while a job
 * that names it has not completed; -EFAULT if the values cannot be written, in which case they
 * are not reset; or -ENODEV if the device was unplugged.
 */
int pumice_ioctl_perfmon_get_values(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_perfmon_get_values *args = data;
	struct pumice_perfmon *perfmon;
	int ret, idx;

	if (args->flags & ~DRM_PUMICE_PERFMON_RESET)
		return -EINVAL;
	perfmon = pumice_perfmon_lookup(file->driver_priv, args->id);
	if (!perfmon)
		return -ENOENT;
	ret = -ENODEV;
	if (drm_dev_enter(drm, &idx)) {
		ret = perfmon_get_values(perfmon, args);
		drm_dev_exit(idx);
	}
	pumice_perfmon_put(perfmon);
	return ret;
}
