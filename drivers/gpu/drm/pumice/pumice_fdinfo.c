// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * fdinfo: engines, cycles, memory of an open file, in the form that
 * Documentation/gpu/drm-usage-stats.rst of the kernel lays down.
 *
 * The compute engine is the compute data master. A job's time is what the
 * firmware says that it had it, and never more than the time between its start
 * and its end; of a job that runs, what it has had so far. Numbers of a file
 * never go back, whatever the firmware says.
 */
#include <linux/math64.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "pumice_context.h"
#include "pumice_fdinfo.h"
#include "pumice_pm.h"

/**
 * pumice_fdinfo_job_ended_locked - a job of a context ended
 * @ctx: context, under its lock
 * @r: copy of its result
 */
void pumice_fdinfo_job_ended_locked(struct pumice_context *ctx, const struct fwif_job_result *r)
{
	lockdep_assert_held(&ctx->lock);
	if (r->time_end > r->time_start)
		ctx->busy_ticks += min(r->run_ticks, r->time_end - r->time_start);
}

/* What the job that the firmware has had so far; the GPU is awake. */
static u64 live_ticks_locked(struct pumice_context *ctx)
{
	const struct fwif_context *fw = &ctx->shared->context;
	u64 now = pumice_read64(ctx->pdev, PUMICE_SYS_CLOCK);
	u64 start = READ_ONCE(fw->slice_start);
	u64 ticks = READ_ONCE(fw->job_ticks);

	lockdep_assert_held(&ctx->lock);
	if (list_empty(&ctx->in_flight))
		return 0;
	if (start && start < now)
		ticks += now - start;
	return min(ticks, now);
}

static u64 context_ticks(struct pumice_context *ctx, bool awake)
{
	u64 ticks;

	spin_lock(&ctx->lock);
	ticks = ctx->busy_ticks;
	/* What is shared is there as long as the context is in its file's table. */
	if (awake)
		ticks += live_ticks_locked(ctx);
	ctx->shown_ticks = max(ctx->shown_ticks, ticks);
	ticks = ctx->shown_ticks;
	spin_unlock(&ctx->lock);
	return ticks;
}

/**
 * pumice_fdinfo_context_gone - a context of a file has been destroyed
 * @file: file
 * @ctx: context; a reference of the caller
 */
void pumice_fdinfo_context_gone(struct pumice_file *file, struct pumice_context *ctx)
{
	atomic64_add(context_ticks(ctx, false), &file->gone_ticks);
}

static u64 file_ticks(struct pumice_file *file)
{
	bool awake = pumice_pm_get_if_awake(file->pdev);
	u64 ticks = atomic64_read(&file->gone_ticks);
	struct pumice_context *ctx;
	unsigned long id;

	xa_lock(&file->contexts);
	xa_for_each(&file->contexts, id, ctx)
		ticks += context_ticks(ctx, awake);
	xa_unlock(&file->contexts);
	if (awake)
		pumice_pm_put(file->pdev);
	return ticks;
}

/**
 * pumice_fdinfo_show - show_fdinfo of the driver
 * @p: printer
 * @file: file
 */
void pumice_fdinfo_show(struct drm_printer *p, struct drm_file *file)
{
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_device *pdev = pfile->pdev;
	u64 ticks, now;
	int idx;

	if (drm_dev_enter(&pdev->drm, &idx)) {
		ticks = file_ticks(pfile);
		now = ktime_get_ns();
		drm_printf(p, "drm-engine-compute:\t%llu ns\n",
			   mul_u64_u32_div(ticks, NSEC_PER_SEC, pdev->clock_hz));
		drm_printf(p, "drm-cycles-compute:\t%llu\n", ticks);
		drm_printf(p, "drm-total-cycles-compute:\t%llu\n",
			   mul_u64_u32_div(now, pdev->clock_hz, NSEC_PER_SEC));
		drm_printf(p, "drm-maxfreq-compute:\t%u Hz\n", pdev->clock_hz);
		drm_dev_exit(idx);
	}
	drm_show_memory_stats(p, file);
}
