// SPDX-License-Identifier: MIT
/*
 * Programmable data sequencer of one core: slots of tasks that its USCs manage.
 *
 * Source: document 000, "Unified Shading Cluster": a USC has space for a number of tasks, of which
 * a part has slots. A task is managed from its claim: it has its registers, which its PDS program
 * fills. When it is filled it is ready, and gets a slot as soon as one is free, or is started with
 * the other tasks of its group.
 *
 * Order: tasks of one data master get slots in the order in which they became ready; those of
 * several as the policy of the DMS selects. A group for which too few slots are free is not
 * overtaken.
 *
 * A ready task waits for slots alone. Those are held by tasks that run, or by ended ones that are
 * released in order, after claims that have slots already; neither waits for a task without slots.
 * So every ready task gets its slot, and a data master that waits for an entry or for registers
 * gets these after a finite time: if tasks end. core.c assigns no task to slots that those of other
 * data masters hold, perhaps for ever, while its own data master has a USC of the core.
 */
#include "state.h"

/* Describe the tasks of a group that has got slots to the USC. */
static void describe(struct usc *usc, const struct unit *unit, unsigned int number)
{
	const struct pds_claim *claim = &unit->accounts.claim[number];
	struct usc_group *group = usc_group(usc, number);
	u32 n;

	for (n = 0; n < claim->need.tasks; n++) {
		group->slot[n] = claim->slot[n];
		*usc_task(usc, claim->slot[n]) = unit->task[claim->entry[n]];
	}
}

/* The USC receives a group, which no longer waits. */
static void start(struct pds_core *core, const struct pds_place *place, enum pds_dm dm)
{
	const struct pds_config *config = &core->pds->config;
	struct unit *unit = &core->pds->unit[place->usc];

	unit->ready[dm] &= ~(1ull << place->group);
	unit->started[dm] |= 1ull << place->group;
	if (usc_group_start(config->usc[place->usc], place->group))
		config->wake_usc(config->opaque, place->usc);
}

/* Start a ready group if as many slots are free. */
static bool run(struct pds_core *core, const struct pds_place *place)
{
	struct unit *unit = &core->pds->unit[place->usc];
	const struct pds_need *need = &unit->accounts.claim[place->group].need;

	if (!pds_unit_run(&unit->accounts, place->group))
		return false;
	core->started += need->tasks;
	core->waves += need->waves;
	core->tasks += need->tasks;
	core->waiting -= need->tasks;
	unit->since[place->group] = core->time;
	describe(core->pds->config.usc[place->usc], unit, place->group);
	if (need->dm != PDS_DM_CDM)
		pds_task_trace_begin(core->pds, place);
	start(core, place, (enum pds_dm)need->dm);
	return true;
}

/* Data masters whose groups wait for slots of a USC. */
static u8 waiting_on(const struct unit *unit)
{
	unsigned int dm;
	u8 set = 0;

	for (dm = 0; dm < PDS_DM_COUNT; dm++)
		set |= (u8)((unit->ready[dm] != 0) << dm);
	return set;
}

void pds_core_fill_slots(struct pds_core *core, unsigned int usc, u64 now)
{
	struct unit *unit = &core->pds->unit[usc];
	struct pds_place place = { .usc = usc };

	pds_core_tick(core, now);
	while (unit->accounts.waiting &&
	       pds_unit_first_ready(&unit->accounts, dms_first(&core->dms, waiting_on(unit)),
				    &place.group))
		if (!run(core, &place))
			return;
}

void pds_core_ready(struct pds_core *core, const struct pds_place *place, enum pds_dm dm, u64 now)
{
	struct unit *unit = &core->pds->unit[place->usc];

	pds_core_tick(core, now);
	pds_unit_ready(&unit->accounts, place->group);
	unit->ready[dm] |= 1ull << place->group;
	unit->since[place->group] = core->time;
	core->waiting += unit->accounts.claim[place->group].need.tasks;
}

void pds_core_start(struct pds_core *core, const struct pds_place *place, enum pds_dm dm, u64 now)
{
	struct unit *unit = &core->pds->unit[place->usc];
	const struct pds_need *need = &unit->accounts.claim[place->group].need;
	const bool others = unit->accounts.waiting;

	pds_core_ready(core, place, dm, now);
	if (others)
		pds_core_fill_slots(core, place->usc, now);
	else
		run(core, place);
	if (unit->ready[dm] >> place->group & 1)
		core->slot_waits += need->tasks;
}

/*
 * The USC ends a group that waits for slots at once: it receives the group without tasks, so that
 * it ends as others do.
 */
static void cancel(struct pds_core *core, unsigned int usc, enum pds_dm dm)
{
	struct unit *unit = &core->pds->unit[usc];
	u64 groups = unit->ready[dm];

	for (; groups; groups &= groups - 1) {
		const struct pds_place place = {
			.usc = usc, .group = (unsigned int)__builtin_ctzll(groups),
		};
		struct usc_group *group = usc_group(core->pds->config.usc[usc], place.group);

		group->tasks = 0;
		group->waves = 0;
		group->local_bytes = 0;
		core->waiting -= unit->accounts.claim[place.group].need.tasks;
		pds_unit_cancel(&unit->accounts, place.group);
		start(core, &place, dm);
	}
}

void pds_core_stop(struct pds_core *core, enum pds_dm dm)
{
	const struct pds_config *config = &core->pds->config;
	unsigned int i;

	for (i = core->first; i < core->first + core->uscs; i++) {
		struct unit *unit = &core->pds->unit[i];

		pds_core_tick(core, config->now(config->opaque));
		cancel(core, i, dm);
		if (!unit->started[dm])
			continue;
		unit->stopped |= unit->started[dm];
		usc_abort_groups(config->usc[i], unit->started[dm]);
		config->wake_usc(config->opaque, i);
	}
}

bool pds_was_stopped(struct unit *unit, unsigned int group)
{
	const bool stopped = unit->stopped >> group & 1;

	unit->stopped &= ~(1ull << group);
	return stopped;
}
