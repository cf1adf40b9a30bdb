// SPDX-License-Identifier: MIT
/*
 * Compute data master: its sources, one for each core, and the distribution of work-groups to them.
 *
 * Source: document 000, "Programmable Data Sequencer": requests are handled in parallel. The CDM
 * distributes numbers of groups, not the groups: a source that has some may claim room for as many,
 * and then takes the next groups of the launch. So all groups before the next one are started or
 * being filled, whichever core has room, and a job is switched out at one number.
 *
 * The CDM distributes when the launch begins, and when a core has no number left. Many groups are
 * distributed evenly; a few, such that the cores have the same number of waves, to those that do
 * not wait for room.
 *
 * Locking: the lock of a source guards its fields, except as noted in state.h. It is taken after
 * the device lock, and before those of the PDS. A source fills groups without any lock; it takes
 * the device lock only to report a fault.
 */
#include <assert.h>
#include <stdlib.h>

#include "../lock.h"
#include "../number.h"
#include "state.h"

#define EVENLY	16u	/* groups for each core; more are distributed without regard to waves */

_Static_assert(PUMICE_MAX_CORES <= 32, "cores are bits of starved");

bool cdm_sources_create(struct cdm *cdm)
{
	unsigned int i;

	cdm->source = calloc(cdm->config.cores, sizeof(*cdm->source));
	if (!cdm->source)
		return false;
	for (i = 0; i < cdm->config.cores; i++)
		lock_init(&cdm->source[i].lock);
	return true;
}

void cdm_sources_destroy(struct cdm *cdm)
{
	unsigned int i;

	for (i = 0; cdm->source && i < cdm->config.cores; i++)
		pthread_mutex_destroy(&cdm->source[i].lock);
	free(cdm->source);
}

static struct cdm_source *lock_source(struct cdm *cdm, unsigned int core)
{
	struct cdm_source *source = &cdm->source[core];

	pthread_mutex_lock(&source->lock);
	return source;
}

static void unlock_source(struct cdm_source *source)
{
	pthread_mutex_unlock(&source->lock);
}

void cdm_sources_reset(struct cdm *cdm)
{
	unsigned int i;

	for (i = 0; i < cdm->config.cores; i++) {
		struct cdm_source *source = lock_source(cdm, i);

		source->open = source->stopped = source->busy = source->waits = false;
		source->quota = 0;
		source->dispatched = 0;
		unlock_source(source);
	}
	atomic_store(&cdm->taken, 0);
	atomic_store(&cdm->starved, 0);
}

u64 cdm_sources_dispatched(const struct cdm *cdm)
{
	u64 groups = 0;
	unsigned int i;

	for (i = 0; i < cdm->config.cores; i++) {
		struct cdm_source *source = &cdm->source[i];

		pthread_mutex_lock(&source->lock);
		groups += source->dispatched;
		unlock_source(source);
	}
	return groups;
}

static void wake(const struct cdm *cdm)
{
	cdm->config.ops->wake(cdm->config.opaque);
}

static void wake_source(const struct cdm *cdm, unsigned int core)
{
	cdm->config.ops->wake_source(cdm->config.opaque, core);
}

/* ------------------------------------------------------------ distribution */

/* Numbers that are distributed, and the cores. */
struct shares {
	u64 pool;	/* groups that no source may take */
	u32 waiting;	/* bit n: core n waits for room */
	u64 quota[PUMICE_MAX_CORES];
};

/* Withdraw the numbers of all sources. */
static void withdraw(struct cdm *cdm, struct shares *shares)
{
	unsigned int i;

	for (i = 0; i < cdm->config.cores; i++) {
		struct cdm_source *source = lock_source(cdm, i);

		shares->pool += source->quota;
		source->quota = 0;
		shares->waiting |= (u32)source->waits << i;
		unlock_source(source);
	}
}

/* Many groups: each core has the same number of them. */
static void share_evenly(const struct cdm *cdm, struct shares *shares)
{
	const unsigned int cores = cdm->config.cores;
	unsigned int i;

	for (i = 0; i < cores; i++)
		shares->quota[i] = shares->pool / cores + (i < shares->pool % cores);
}

/*
 * A few: each group is for the core with the fewest waves, round robin among equals. A source that
 * has no number left, for which the CDM distributes, does not wait for room.
 */
static void share_by_waves(struct cdm *cdm, struct shares *shares)
{
	const u32 allowed = (u32)((1ull << cdm->config.cores) - 1) & ~shares->waiting;
	const u32 each = pds_launch_waves(cdm->pds);
	u64 waves[PUMICE_MAX_CORES];
	unsigned int i, n, to;

	assert(allowed);
	for (i = 0; i < cdm->config.cores; i++)
		waves[i] = pds_core_waves(cdm->pds, i);
	for (; shares->pool; shares->pool--) {
		to = cdm->config.cores;
		for (i = 0; i < cdm->config.cores; i++) {
			n = (cdm->next_core + i) % cdm->config.cores;
			if (allowed >> n & 1 &&
			    (to == cdm->config.cores || waves[n] < waves[to]))
				to = n;
		}
		shares->quota[to]++;
		waves[to] += each;
		cdm->next_core = (to + 1) % cdm->config.cores;
	}
}

/* Distribute the groups of the pool, and those that sources have numbers of. */
static void distribute(struct cdm *cdm, u64 pool)
{
	struct shares shares = { .pool = pool };
	unsigned int i;

	withdraw(cdm, &shares);
	if (shares.pool > (u64)EVENLY * cdm->config.cores)
		share_evenly(cdm, &shares);
	else
		share_by_waves(cdm, &shares);
	for (i = 0; i < cdm->config.cores; i++) {
		struct cdm_source *source;

		if (!shares.quota[i])
			continue;
		source = lock_source(cdm, i);
		source->quota = shares.quota[i];
		atomic_fetch_and(&cdm->starved, ~(1u << i));
		unlock_source(source);
		wake_source(cdm, i);
	}
}

void cdm_sources_open(struct cdm *cdm)
{
	unsigned int i;

	atomic_store(&cdm->taken, cdm->linear);
	atomic_store(&cdm->starved, 0);
	for (i = 0; i < cdm->config.cores; i++) {
		struct cdm_source *source = lock_source(cdm, i);

		source->open = true;
		source->stopped = source->waits = false;
		unlock_source(source);
	}
	cdm->open = true;
	distribute(cdm, cdm->groups - cdm->linear);
}

void cdm_sources_feed(struct cdm *cdm)
{
	if (atomic_load(&cdm->starved))
		distribute(cdm, 0);
}

void cdm_sources_withdraw(struct cdm *cdm)
{
	struct shares shares = { 0 };

	withdraw(cdm, &shares);
}

void cdm_sources_stop(struct cdm *cdm)
{
	unsigned int i;

	for (i = 0; i < cdm->config.cores; i++) {
		struct cdm_source *source = lock_source(cdm, i);

		source->stopped = true;
		source->quota = 0;
		unlock_source(source);
		wake_source(cdm, i);
	}
}

bool cdm_sources_close(struct cdm *cdm)
{
	bool busy = false;
	unsigned int i;

	for (i = 0; i < cdm->config.cores; i++) {
		struct cdm_source *source = lock_source(cdm, i);

		busy |= source->busy;
		unlock_source(source);
	}
	if (busy)
		return false;
	for (i = 0; i < cdm->config.cores; i++) {
		struct cdm_source *source = lock_source(cdm, i);

		source->open = false;
		unlock_source(source);
	}
	cdm->linear = atomic_load(&cdm->taken);
	cdm->open = false;
	pds_launch_end(cdm->pds);
	return true;
}

/* ------------------------------------------------------------ step; the source's lock is held */

/* Set the id of the next group, without its base. */
static void set_next(struct cdm_source *source, const struct pumice_cdm_launch *grid)
{
	source->next[0] = (u32)(source->linear % grid->groups_x);
	source->next[1] = (u32)(source->linear / grid->groups_x % grid->groups_y);
	source->next[2] = (u32)(source->linear / grid->groups_x / grid->groups_y);
}

/* Go to the next work-group of the grid, x fastest. */
static void advance(struct cdm_source *source, const struct pumice_cdm_launch *grid)
{
	source->linear++;
	if (++source->next[0] < grid->groups_x)
		return;
	source->next[0] = 0;
	if (++source->next[1] < grid->groups_y)
		return;
	source->next[1] = 0;
	source->next[2]++;
}

/* The source has no number left: the CDM distributes those of others, or ends the launch. */
static void starve(struct cdm *cdm, struct cdm_source *source, unsigned int core)
{
	const u32 bit = 1u << core;

	if (source->waits)
		pds_groups_leave(cdm->pds, core);
	source->waits = false;
	if (!(atomic_fetch_or(&cdm->starved, bit) & bit))
		wake(cdm);
}

/* There is no room on the core: one that has no number may have some. */
static void wait_for_room(struct cdm *cdm, struct cdm_source *source)
{
	const bool first = !source->waits;

	source->waits = true;
	if (first && atomic_load(&cdm->starved))
		wake(cdm);
}

/* Claim room for the next groups of the launch. Returns false if there is none, or no group. */
static bool take(struct cdm *cdm, struct cdm_source *source, unsigned int core)
{
	u32 count;

	if (!source->open || source->stopped)
		return false;
	if (!source->quota) {
		starve(cdm, source, core);
		return false;
	}
	count = pds_groups_claim(cdm->pds, core, (u32)(source->quota < UINT32_MAX ?
						       source->quota : UINT32_MAX));
	if (!count) {
		wait_for_room(cdm, source);
		return false;
	}
	source->waits = false;
	source->quota -= count;
	source->linear = atomic_fetch_add(&cdm->taken, count);
	source->left = count;
	source->busy = true;
	set_next(source, &cdm->launch.grid);
	return true;
}

/* Groups were started or dropped: the CDM may wait for that. */
static void retire(struct cdm *cdm, struct cdm_source *source)
{
	source->busy = false;
	if (source->stopped || cdm->switch_wanted || atomic_load(&cdm->taken) == cdm->groups)
		wake(cdm);
}

static void start(struct cdm *cdm, struct cdm_source *source, unsigned int core)
{
	const u32 started = pds_groups_start(cdm->pds, core);

	source->dispatched += cdm->launch.sequences ? 0 : started;
}

/* Start the groups, or drop those of a job that was stopped. */
static void finish(struct cdm *cdm, struct cdm_source *source, unsigned int core)
{
	if (source->stopped)
		pds_groups_drop(cdm->pds, core);
	else
		start(cdm, source, core);
	retire(cdm, source);
}

/* Return whether the source has a group to fill. */
static bool prepare(struct cdm *cdm, struct cdm_source *source, unsigned int core)
{
	if (source->busy && (source->stopped || !source->left))
		finish(cdm, source, core);
	return source->busy || take(cdm, source, core);
}

/* ------------------------------------------------------------ step; without a lock */

/* Fill a group, or a piece of it. */
static enum pds_result fill(struct cdm *cdm, struct cdm_source *source, unsigned int core,
			    struct gpu_fault *fault)
{
	const struct pumice_cdm_launch *grid = &cdm->launch.grid;
	const u32 id[3] = {
		grid->base_x + source->next[0], grid->base_y + source->next[1],
		grid->base_z + source->next[2],
	};
	const enum pds_result result = pds_group_fill(cdm->pds, core, id, source->linear, fault);

	if (result == PDS_STARTED) {
		advance(source, grid);
		source->left--;
	}
	return result;
}

/*
 * A group cannot be filled. Those before it are started, unless the job was stopped. The source is
 * busy until the job is, so that the fault is of this job.
 */
static void report(struct cdm *cdm, unsigned int core, const struct gpu_fault *fault)
{
	struct cdm_source *source = lock_source(cdm, core);

	if (source->stopped)
		pds_groups_drop(cdm->pds, core);
	else
		start(cdm, source, core);
	unlock_source(source);
	cdm->config.ops->lock(cdm->config.opaque);
	dm_stop_fault(&cdm->run, fault);
	cdm->config.ops->unlock(cdm->config.opaque);
	source = lock_source(cdm, core);
	retire(cdm, source);
	unlock_source(source);
}

/* Fill the groups that have room, until *stop; false: one was refused. *budget is reduced. */
static bool fill_groups(struct cdm *cdm, unsigned int core, unsigned int *budget,
			const _Atomic bool *stop)
{
	const unsigned int cost = pds_launch_cost(cdm->pds);
	struct cdm_source *source = &cdm->source[core];
	struct gpu_fault fault = { 0 };
	enum pds_result result;

	do {
		result = fill(cdm, source, core, &fault);
		*budget -= min_u32(cost, *budget);
	} while (*budget && source->left && result != PDS_FAULT &&
		 !atomic_load_explicit(stop, memory_order_relaxed));
	if (result != PDS_FAULT)
		return true;
	report(cdm, core, &fault);
	return false;
}

bool cdm_source_step(struct cdm *cdm, unsigned int core, unsigned int budget,
		     const _Atomic bool *stop)
{
	struct cdm_source *source = &cdm->source[core];
	bool ready;

	do {
		pthread_mutex_lock(&source->lock);
		ready = prepare(cdm, source, core);
		unlock_source(source);
		if (!ready)
			return false;
		if (!fill_groups(cdm, core, &budget, stop))
			return false;
	} while (budget && !atomic_load_explicit(stop, memory_order_relaxed));
	pthread_mutex_lock(&source->lock);
	if (source->busy && !source->left)
		finish(cdm, source, core);
	unlock_source(source);
	return true;
}
