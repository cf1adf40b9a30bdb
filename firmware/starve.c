// SPDX-License-Identifier: MIT
/*
 * Jobs that get no room on the USCs because of jobs of other virtual GPUs.
 *
 * Limits of the PDS leave room for each data master, but a work-group that is the first one of its
 * data master on a USC may take all of it, and limits take nothing back that was in use before
 * they applied. Room is free again when a task ends, so it is kept only by jobs that make no
 * progress on the USCs that they occupy. If a job has neither finished anything for the time of
 * FWIF_OS_HOLD_US nor has waves, and one of another virtual GPU, on another data master, has
 * finished nothing either but has waves, then that one is killed: of several the one that has made
 * no progress for longest. Progress defers this to twice that time, not longer: a job may have
 * work-groups that never end on one USC, and others that end on the next one.
 *
 * A geometry job that waits for pages or for its partial render needs no room.
 *
 * Limits: progress is noticed when the firmware reviews its jobs, and waves are counted once in
 * that time for each pair of jobs, because it stops the whole GPU; so a kill may be later by once
 * that time.
 */
#include "bus.h"
#include "dm.h"
#include "minmax.h"
#include "starve.h"

static struct {
	const struct context *c;	/* whose job was observed last */
	u64 groups;			/* that it had finished */
	u64 since;			/* GPU clock at its last progress; 0: none observed */
	u64 ended;			/* GPU clock when it got room by a kill */
	/* By data master whose job may keep its own from the USCs: GPU clock of the next look. */
	u64 look[FWIF_DM_COUNT];
	u64 kept_until;			/* GPU clock to which starve_is_kept() keeps its answer */
} master[FWIF_DM_COUNT];

/* Of WAVE_CTRL; 0: it has no tasks. */
static const u32 wave_mask[FWIF_DM_COUNT] = {
	[FWIF_DM_CDM] = PUMICE_WAVE_CTRL__CDM__MASK,
	[FWIF_DM_VDM] = PUMICE_WAVE_CTRL__VDM__MASK,
	[FWIF_DM_PDM] = PUMICE_WAVE_CTRL__PDM__MASK,
	[FWIF_DM_RDM] = PUMICE_WAVE_CTRL__RDM__MASK,
};

void starve_observe(u32 dm, const struct context *c)
{
	u64 groups;

	if (!c || !wave_mask[dm]) {
		master[dm].since = 0;
		return;
	}
	groups = dm_groups(dm);
	if (!master[dm].since || (master[dm].c == c && master[dm].groups != groups))
		master[dm].since = clock_now();
	master[dm].c = c;
	master[dm].groups = groups;
}

void starve_progress(u32 dm)
{
	master[dm].since = 0;
	master[dm].kept_until = 0;
}

/* Stops the whole GPU briefly, so callers limit how often they look. */
static bool has_waves(u32 dm)
{
	reg_write(PUMICE_WAVE_CTRL, wave_mask[dm]);
	return reg_read(PUMICE_WAVE_COUNT);
}

/* Return whether a job needs room on the USCs. */
static bool needs_room(struct context *const *holder, u32 dm)
{
	const struct context *c = holder[dm];

	return c && wave_mask[dm] && !context_is_dead(c) &&
	       !(dm == FWIF_DM_VDM && (c->stop_start || c->renders_partial));
}

/* Return whether the job of one data master may keep that of another from the USCs. */
static bool may_keep(struct context *const *holder, u32 dm, u32 from)
{
	return holder[dm] && wave_mask[dm] && dm != from && holder[dm]->os != holder[from]->os;
}

/*
 * Return the data master whose job keeps that of another from all USCs, or FWIF_DM_COUNT. The time
 * at which the answer may be another one is stored in @next, if it is earlier.
 */
static u32 keeper_of(struct context *const *holder, u32 from, u64 hold, u64 *next)
{
	const u64 now = clock_now();
	u32 best = FWIF_DM_COUNT, dm;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++) {
		u64 end;

		if (!may_keep(holder, dm, from) || context_is_dead(holder[dm]))
			continue;
		end = min_u64(max_u64(master[dm].since, master[from].since) + hold,
			      master[from].since + STARVE_HOLDS * hold);
		end = max_u64(end, master[from].look[dm]);
		if (end > now) {
			*next = min_u64(*next, end);
			continue;
		}
		/* Each command of a guest causes a review. */
		master[from].look[dm] = now + hold;
		*next = min_u64(*next, now + hold);
		if (!has_waves(from) && has_waves(dm) &&
		    (best == FWIF_DM_COUNT || master[dm].since < master[best].since))
			best = dm;
	}
	return best;
}

struct context *starve_review(struct context *const *holder, u64 hold, u64 *next)
{
	u32 dm, keeper;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		starve_observe(dm, holder[dm]);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++) {
		if (!needs_room(holder, dm))
			continue;
		keeper = keeper_of(holder, dm, hold, next);
		if (keeper == FWIF_DM_COUNT)
			continue;
		/* It has room from now on. */
		master[dm].since = clock_now();
		master[dm].ended = master[dm].since;
		*next = min_u64(*next, master[dm].since + hold);
		return holder[keeper];
	}
	return NULL;
}

bool starve_is_kept(struct context *const *holder, u32 dm, u64 hold)
{
	const u64 now = clock_now();
	u32 other;

	if (now < master[dm].kept_until)
		return true;
	if (!needs_room(holder, dm) || has_waves(dm))
		return false;
	for (other = 0; other < FWIF_DM_COUNT; other++)
		if (may_keep(holder, other, dm) && has_waves(other)) {
			master[dm].kept_until = now + hold;
			return true;
		}
	return false;
}

u64 starve_ended(u32 dm)
{
	return master[dm].ended;
}
