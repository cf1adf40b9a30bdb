// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Statistics: DRM_PUMICE_QUERY_STATS.
 *
 * The GPU's counters restart from zero with each of its resets, so their values are
 * added to totals before a reset. They are accessible to virtual GPU 0 only: for others they are
 * 0.
 */
#include <linux/math64.h>

#include "perf.h"
#include "pumice_context.h"
#include "pumice_fw.h"
#include "pumice_stats.h"

/* Counters by data master, enum fwif_dm. */
static const u32 busy_counters[FWIF_DM_COUNT] = {
	[FWIF_DM_CDM] = PUMICE_PERF_CDM_BUSY,
	[FWIF_DM_VDM] = PUMICE_PERF_VDM_BUSY,
	[FWIF_DM_PDM] = PUMICE_PERF_PDM_BUSY,
	[FWIF_DM_TDM] = PUMICE_PERF_TDM_BUSY,
	[FWIF_DM_RDM] = PUMICE_PERF_RDM_BUSY,
};

static u64 stats_read_counter(struct pumice_device *pdev, u32 number)
{
	return pumice_read64(pdev, PUMICE_PERF_COUNTER(number));
}

/* Read the counters since the last reset of the GPU. */
static struct pumice_totals stats_read_current(struct pumice_device *pdev)
{
	const struct pumice_fw_shared *shared = pdev->fw.shared;
	struct pumice_totals now = {
		.switches = shared ? READ_ONCE(shared->boot.switches) : 0,
	};
	u32 dm;

	if (pdev->os)
		return now;
	now.usc_busy = stats_read_counter(pdev, PUMICE_PERF_USC_BUSY);
	now.mmu_faults = stats_read_counter(pdev, PUMICE_PERF_MMU_FAULTS);
	now.partials = stats_read_counter(pdev, PUMICE_PERF_PM_PARTIALS);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		now.busy[dm] = stats_read_counter(pdev, busy_counters[dm]);
	return now;
}

static void stats_add(struct pumice_totals *to, const struct pumice_totals *more)
{
	u32 dm;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		to->busy[dm] += more->busy[dm];
	to->usc_busy += more->usc_busy;
	to->mmu_faults += more->mmu_faults;
	to->switches += more->switches;
	to->partials += more->partials;
}

/**
 * pumice_stats_keep - add the GPU's counters to the totals before it is reset
 * @pdev: device, under reset.lock or where no statistics are read
 */
void pumice_stats_keep(struct pumice_device *pdev)
{
	struct pumice_totals now = stats_read_current(pdev);

	stats_add(&pdev->totals, &now);
	/* This counter is in memory, which a reset does not clear. */
	if (pdev->fw.shared)
		WRITE_ONCE(pdev->fw.shared->boot.switches, 0);
}

/* Add the state of all contexts. */
static void stats_count_contexts(struct pumice_device *pdev, struct drm_pumice_query_stats *stats)
{
	struct pumice_context *ctx;
	struct pumice_queue *q;
	u32 in_flight;

	spin_lock(&pdev->reset.contexts_lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node) {
		in_flight = 0;
		spin_lock(&ctx->lock);
		pumice_for_each_queue(q, ctx) {
			in_flight += list_count_nodes(&q->in_flight);
			stats->jobs_queued += max(atomic_read(&q->queued), 0);
		}
		spin_unlock(&ctx->lock);
		stats->contexts++;
		stats->contexts_busy += !!in_flight;
		stats->jobs_firmware += in_flight;
	}
	spin_unlock(&pdev->reset.contexts_lock);
}

/* Sum up with no reset under way: values that it adds to the totals would count twice. */
static struct pumice_totals stats_total(struct pumice_device *pdev)
{
	struct pumice_totals sum;

	mutex_lock(&pdev->reset.lock);
	sum = stats_read_current(pdev);
	stats_add(&sum, &pdev->totals);
	mutex_unlock(&pdev->reset.lock);
	return sum;
}

static u64 stats_busy_ticks(struct pumice_device *pdev, const struct pumice_totals *sum, u32 dm)
{
	return mul_u64_u32_div(sum->busy[dm], pdev->clock_hz, NSEC_PER_SEC);
}

/**
 * pumice_stats_query - return all statistics
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); awake
 *
 * Context: May sleep. Acquires reset.lock.
 *
 * Return: the statistics.
 */
struct drm_pumice_query_stats pumice_stats_query(struct pumice_device *pdev)
{
	struct drm_pumice_query_stats stats = { 0 };
	struct pumice_totals sum = stats_total(pdev);

	stats_count_contexts(pdev, &stats);
	stats.time = pumice_read64(pdev, PUMICE_SYS_CLOCK);
	stats.compute_busy = stats_busy_ticks(pdev, &sum, FWIF_DM_CDM);
	stats.geometry_busy = stats_busy_ticks(pdev, &sum, FWIF_DM_VDM);
	stats.fragment_busy = stats_busy_ticks(pdev, &sum, FWIF_DM_PDM);
	stats.transfer_busy = stats_busy_ticks(pdev, &sum, FWIF_DM_TDM);
	stats.usc_busy = sum.usc_busy;
	stats.jobs_submitted = atomic64_read(&pdev->stats.jobs_submitted);
	stats.jobs_done = atomic64_read(&pdev->stats.jobs_done);
	stats.jobs_faulted = atomic64_read(&pdev->stats.jobs_failed);
	stats.mmu_faults = sum.mmu_faults;
	stats.switches = sum.switches;
	stats.resets = READ_ONCE(pdev->reset.count);
	if (!pdev->os) {
		stats.tasks = pumice_read(pdev, PUMICE_PDS_TASKS);
		stats.waves = pumice_read(pdev, PUMICE_PDS_WAVES);
	}
	stats.partial_renders = sum.partials;
	stats.rays_busy = stats_busy_ticks(pdev, &sum, FWIF_DM_RDM);
	return stats;
}
