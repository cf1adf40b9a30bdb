// SPDX-License-Identifier: MIT
/*
 * Waves in flight, for a debugger (registers.xml, unit WAVE).
 *
 * Limits: work-groups that were started but not stepped yet have no waves.
 */
#include "gfx.h"
#include "state.h"

static struct usc_wave_info describe(const struct usc *usc, const struct usc_group *group,
				     unsigned int index, bool barrier, bool copy)
{
	const struct usc_wave *wave = &usc->wave[index];

	return (struct usc_wave_info){
		.code = group->code_addr,
		/* A wave at a barrier continues after it. */
		.pc = wave->pc - barrier,
		.lanes = wave->valid,
		.usc = (u8)usc->config.number,
		.slot = wave->slot,
		.wave = (u8)(index % USC_MAX_WAVES),
		.state = barrier || copy ? PUMICE_WAVE_STATE_BARRIER : PUMICE_WAVE_STATE_RUNS,
		.master = (u8)usc_gfx_master(group->gfx),
		.ctx = group->ctx,
	};
}

static u32 group_waves(const struct usc *usc, unsigned int number, struct usc_wave_info *out)
{
	const struct usc_group *group = &usc->group[number];
	const struct usc_run *run = &usc->run[number];
	u32 count = 0;

	for (u32 w = 0; w < run->waves; w++)
		if (!(run->ended >> w & 1))
			out[count++] = describe(usc, group, run->wave[w], run->barrier >> w & 1,
						run->copying >> w & 1);
	return count;
}

enum pumice_wave_master usc_slot_master(const struct usc *usc, unsigned int slot)
{
	return usc_gfx_master(usc->group[usc->task[slot].group].gfx);
}

u32 usc_waves(const struct usc *usc, u32 masters, struct usc_wave_info *out)
{
	u64 groups = usc->running;
	u32 count = 0;

	for (; groups; groups &= groups - 1) {
		const unsigned int number = (unsigned int)__builtin_ctzll(groups);

		if (masters >> usc_gfx_master(usc->group[number].gfx) & 1)
			count += group_waves(usc, number, out + count);
	}
	return count;
}
