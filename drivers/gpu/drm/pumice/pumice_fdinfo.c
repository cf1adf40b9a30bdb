// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * fdinfo: engines, cycles and memory of an open file, in the format of
 * Documentation/gpu/drm-usage-stats.rst of the kernel.
 *
 * An engine is a data master. A job's time is the time that the firmware reports for it, but
 * at most the time between its start and its end; a running job counts with its time so
 * far. Values of a file never decrease, whatever the firmware reports.
 */
#include <linux/dma-resv.h>
#include <linux/idr.h>
#include <linux/math64.h>
#include <linux/sizes.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "pumice_context.h"
#include "pumice_fdinfo.h"
#include "pumice_kernel_range.h"
#include "pumice_pm.h"
#include "pumice_vm.h"

/* Engines by data master, enum fwif_dm. */
static const char * const engines[FWIF_DM_COUNT] = {
	[FWIF_DM_CDM] = "compute",
	[FWIF_DM_VDM] = "render-geometry",
	[FWIF_DM_PDM] = "render-fragment",
	[FWIF_DM_TDM] = "transfer",
	[FWIF_DM_RDM] = "rays",
};

/**
 * pumice_fdinfo_job_ended_locked - add the time of a completed job to its queue
 * @q: queue, under its context's lock
 * @r: copy of its result
 */
void pumice_fdinfo_job_ended_locked(struct pumice_queue *q, const struct fwif_job_result *r)
{
	lockdep_assert_held(&q->ctx->lock);
	if (r->time_end > r->time_start)
		q->busy_ticks += min(r->run_ticks, r->time_end - r->time_start);
}

static u64 fdinfo_queue_ticks(struct pumice_queue *q, bool awake)
{
	u64 ticks;

	spin_lock(&q->ctx->lock);
	ticks = q->busy_ticks;
	/* The shared memory exists as long as the context is in its file's table. */
	if (awake && !list_empty(&q->in_flight))
		ticks += pumice_queue_live_ticks(q);
	q->shown_ticks = max(q->shown_ticks, ticks);
	ticks = q->shown_ticks;
	spin_unlock(&q->ctx->lock);
	return ticks;
}

/**
 * pumice_fdinfo_context_released - add a destroyed context's time to its file
 * @file: file
 * @ctx: context; the caller has a reference
 */
void pumice_fdinfo_context_released(struct pumice_file *file, struct pumice_context *ctx)
{
	struct pumice_queue *q;

	pumice_for_each_queue(q, ctx)
		atomic64_add(fdinfo_queue_ticks(q, false), &file->released_ticks[q->dm]);
}

/* Sum up the ticks of each data master. */
static void fdinfo_file_ticks(struct pumice_file *file, u64 *ticks)
{
	bool awake = pumice_pm_get_if_awake(file->pdev);
	struct pumice_context *ctx;
	struct pumice_queue *q;
	unsigned long id;
	u32 dm;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		ticks[dm] = atomic64_read(&file->released_ticks[dm]);
	xa_lock(&file->contexts);
	xa_for_each(&file->contexts, id, ctx)
		pumice_for_each_queue(q, ctx)
			ticks[q->dm] += fdinfo_queue_ticks(q, awake);
	xa_unlock(&file->contexts);
	if (awake)
		pumice_pm_put(file->pdev);
}

static void fdinfo_show_engine(struct drm_printer *p, const char *engine, u64 ticks, u32 clock_hz)
{
	drm_printf(p, "drm-engine-%s:\t%llu ns\n", engine,
		   mul_u64_u32_div(ticks, NSEC_PER_SEC, clock_hz));
	drm_printf(p, "drm-cycles-%s:\t%llu\n", engine, ticks);
	drm_printf(p, "drm-total-cycles-%s:\t%llu\n", engine,
		   mul_u64_u32_div(ktime_get_ns(), clock_hz, NSEC_PER_SEC));
	drm_printf(p, "drm-maxfreq-%s:\t%u Hz\n", engine, clock_hz);
}

static void fdinfo_show_memory(struct drm_printer *p, const char *what, u64 bytes)
{
	drm_printf(p, "pumice-%s:\t%llu KiB\n", what, bytes / SZ_1K);
}

static void fdinfo_count_object(struct drm_memory_stats *stats, struct drm_gem_object *obj)
{
	enum drm_gem_object_status status = obj->funcs->status(obj);
	bool active = !dma_resv_test_signaled(obj->resv, DMA_RESV_USAGE_BOOKKEEP);

	if (drm_gem_object_is_shared_for_memory_stats(obj))
		stats->shared += obj->size;
	else
		stats->private += obj->size;
	if (active)
		stats->active += obj->size;
	if (!(status & DRM_GEM_OBJECT_RESIDENT))
		return;
	stats->resident += obj->size;
	if (status & DRM_GEM_OBJECT_PURGEABLE && !active)
		stats->purgeable += obj->size;
}

/*
 * Print the buffers that the file has handles of. drm_show_memory_stats() is not usable: it
 * reports buffers as idle whose fences are of DMA_RESV_USAGE_BOOKKEEP, as those of all jobs are.
 */
static void fdinfo_show_buffers(struct drm_printer *p, struct drm_file *file)
{
	struct drm_memory_stats stats = { 0 };
	struct drm_gem_object *obj;
	int id;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, id)
		fdinfo_count_object(&stats, obj);
	spin_unlock(&file->table_lock);
	drm_print_memory_stats(p, &stats, DRM_GEM_OBJECT_RESIDENT | DRM_GEM_OBJECT_PURGEABLE,
			       "memory");
}

/**
 * pumice_fdinfo_show - implement show_fdinfo of the driver
 * @p: printer
 * @file: file
 */
void pumice_fdinfo_show(struct drm_printer *p, struct drm_file *file)
{
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_device *pdev = pfile->pdev;
	u64 ticks[FWIF_DM_COUNT];
	u32 dm;
	int idx;

	if (drm_dev_enter(&pdev->drm, &idx)) {
		fdinfo_file_ticks(pfile, ticks);
		for (dm = 0; dm < FWIF_DM_COUNT; dm++)
			fdinfo_show_engine(p, engines[dm], ticks[dm], pdev->clock_hz);
		drm_dev_exit(idx);
	}
	fdinfo_show_buffers(p, file);
	/* Memory that is not a BO, and so is not included in the regions above. */
	fdinfo_show_memory(p, "page-tables", pumice_vm_table_bytes(pdev, file->client_id));
	fdinfo_show_memory(p, "parameter-buffers",
			   pumice_kernel_range_bytes(pdev, file->client_id));
}
