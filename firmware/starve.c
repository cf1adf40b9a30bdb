// SPDX-License-Identifier: MIT
/*
 * Jobs that get no room on the USCs because of jobs of other virtual GPUs.
 *
 * Limits of the PDS leave room for each data master, but a work-group that is the first one of its
 * data master on a USC may take all of it, and limits take nothing back that was in use before
 * they applied. Room is free again when a task ends, so only tasks that do not end keep others
 * from it for long. The PDS shows both:
 *
 * A job is starved if it waits for room or slots, and none of its tasks has been in slots, for the
 * time of FWIF_OS_HOLD_US (register STARVED). A job that needs no room is never starved.
 *
 * Its keepers are the jobs of other virtual GPUs of which one task has been in slots for this time
 * (register OLDEST), on a USC for which the job waits. Those of the virtual GPU with the oldest
 * such task are killed; others, if the job is still starved after the same time. A job whose tasks
 * all end earlier is never a keeper, whatever others wait for.
 *
 * A geometry job that waits for pages or for its partial render needs no room. The time of a
 * compute job that is switched out is continued in its next slice, until one of its work-groups
 * ends.
 *
 * Limits: a job with a task that is longer than the hold may be killed although a USC has room
 * for the tasks of most other jobs.
 */
#include "boot.h"
#include "bus.h"
#include "minmax.h"
#include "starve.h"

#define PDS_MASTERS	4u	/* that have tasks */
#define NONE		0xffu

/* Numbers of the data masters in registers of the PDS. */
static const u8 pds_number[FWIF_DM_COUNT] = {
	[FWIF_DM_CDM] = 0,
	[FWIF_DM_VDM] = 1,
	[FWIF_DM_PDM] = 2,
	[FWIF_DM_TDM] = NONE,
	[FWIF_DM_RDM] = 3,
};

static struct {
	u64 killed;	/* GPU clock when keepers of its jobs were killed last, or 0 */
	bool extended;	/* its job holds it for longer than others */
} master[FWIF_DM_COUNT];

void starve_ended(u32 dm)
{
	master[dm].killed = 0;
	master[dm].extended = false;
}

/* Read a time, or 0; 0 as well if it changes meanwhile: then a task has started or ended. */
static u64 read_time(u32 offset)
{
	const u64 time = reg_read64(offset);

	return reg_read64(offset) == time ? time : 0;
}

/* Return whether a job needs room on the USCs. */
static bool needs_room(struct context *const *holder, u32 dm)
{
	const struct context *c = holder[dm];

	return c && pds_number[dm] != NONE && !context_is_dead(c) &&
	       !(dm == FWIF_DM_VDM && (c->stop_start || c->renders_partial));
}

/* Return for how long a job had waited when it was switched out, if no work-group ended since. */
static u64 starved_before(const struct context *c)
{
	return c->starved && reg_read64_moving(PUMICE_CDM_GROUPS) == c->starved_groups ?
	       c->starved : 0;
}

/* Return the time since which a job has waited without tasks in slots, or 0. */
static u64 waits_since(struct context *const *holder, u32 dm)
{
	u64 since;

	if (!needs_room(holder, dm))
		return 0;
	since = read_time(PUMICE_PDS_STARVED(pds_number[dm]));
	return since ? since - starved_before(holder[dm]) : 0;
}

/* Return whether the job of one data master may keep that of another from the USCs. */
static bool may_keep(struct context *const *holder, u32 dm, u32 from)
{
	return holder[dm] && pds_number[dm] != NONE && dm != from &&
	       holder[dm]->os != holder[from]->os;
}

/*
 * Return when the oldest task of a data master got its slot, of those that may keep another one
 * from USCs, or 0.
 */
static u64 keeps_since(struct context *const *holder, u32 dm, u32 from)
{
	if (!may_keep(holder, dm, from))
		return 0;
	return read_time(PUMICE_PDS_OLDEST(pds_number[from] * PDS_MASTERS + pds_number[dm]));
}

/* Return the keepers of a job of those of one virtual GPU, as a set of data masters. */
static u32 keepers_of(struct context *const *holder, u32 from, u64 hold, u64 *next)
{
	const u64 now = clock_now();
	u64 since[FWIF_DM_COUNT];
	u32 dm, oldest = FWIF_DM_COUNT, set = 0;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++) {
		since[dm] = keeps_since(holder, dm, from);
		if (!since[dm])
			continue;
		/* Its end makes room; it causes another review. */
		if (context_is_dead(holder[dm]))
			return 0;
		if (since[dm] + hold > now) {
			*next = min_u64(*next, since[dm] + hold);
			since[dm] = 0;
		} else if (oldest == FWIF_DM_COUNT || since[dm] < since[oldest]) {
			oldest = dm;
		}
	}
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		if (since[dm] && holder[dm]->os == holder[oldest]->os)
			set |= 1u << dm;
	return set;
}

/* Return whether jobs of other virtual GPUs may keep that of a data master from the USCs. */
static bool has_others(struct context *const *holder, u32 from)
{
	u32 dm;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		if (may_keep(holder, dm, from))
			return true;
	return false;
}

/* Return the keepers of a job, if it is starved; else note when to look again. */
static u32 review(struct context *const *holder, u32 dm, u64 hold, u64 *next)
{
	const u64 now = clock_now(), since = waits_since(holder, dm);
	const u64 end = max_u64(since ? since : now, master[dm].killed) + hold;
	u32 keepers;

	if (end > now) {
		*next = min_u64(*next, end);
		return 0;
	}
	*next = min_u64(*next, now + hold);
	keepers = keepers_of(holder, dm, hold, next);
	if (keepers) {
		master[dm].killed = now;
		master[dm].extended = true;
	}
	return keepers;
}

u32 starve_review(struct context *const *holder, u64 hold, u64 *next)
{
	u32 dm, keepers = 0;

	if (boot_device_minor() < FWIF_STARVED_SINCE_MAP)
		return 0;
	for (dm = 0; dm < FWIF_DM_COUNT && !keepers; dm++)
		if (needs_room(holder, dm) && has_others(holder, dm))
			keepers = review(holder, dm, hold, next);
	return keepers;
}

bool starve_extends(struct context *const *holder, u32 dm)
{
	u32 other;

	if (master[dm].extended || boot_device_minor() < FWIF_STARVED_SINCE_MAP ||
	    !waits_since(holder, dm))
		return master[dm].extended;
	for (other = 0; other < FWIF_DM_COUNT; other++)
		if (keeps_since(holder, other, dm))
			master[dm].extended = true;
	return master[dm].extended;
}

void starve_switch(struct context *c)
{
	const u64 since = boot_device_minor() < FWIF_STARVED_SINCE_MAP ? 0 :
			  read_time(PUMICE_PDS_STARVED(pds_number[c->dm]));

	c->starved = since ? starved_before(c) + clock_now() - since : 0;
	c->starved_groups = reg_read64_moving(PUMICE_CDM_GROUPS);
	master[c->dm].extended = false;
}
