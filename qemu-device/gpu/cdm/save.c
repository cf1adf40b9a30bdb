// SPDX-License-Identifier: MIT
/*
 * Compute data master: saving and restoring a switched-out job.
 *
 * Source: hw/formats.xml, cdm_save. The saved state is stored in memory that the guest can
 * write, so it is validated like a control stream: it is read once, its command words pass
 * the stream's own decoder, and values that cdm_save() cannot have written are a fault.
 *
 * A stream that ran past the last GPU virtual address cannot be saved. Such a job can only
 * fault, and faults instead of being saved.
 */
#include <string.h>

#include "state.h"

static bool aligned(const struct cdm *cdm)
{
	return cdm->job.save % sizeof(u32) == 0;
}

bool cdm_save(struct cdm *cdm)
{
	struct pumice_cdm_save save = {
		.dispatching = cdm->dispatching, .has_state = cdm->has_state,
		.depth = (u8)cdm->walk.depth, .pc = cdm->walk.pc,
		.groups = cdm->run.status.done,
	};
	u32 words[PUMICE_CDM_SAVE_WORDS];
	struct gpu_fault fault = { 0 };

	if (cdm->walk.pc >> PUMICE_MMU_VA_BITS) {
		dm_stop_at(&cdm->run, PUMICE_FAULT_MMU_ADDRESS, cdm->job.ctx, cdm->walk.pc);
		return false;
	}
	if (!aligned(cdm)) {
		dm_stop_at(&cdm->run, PUMICE_FAULT_CDM_ALIGN, 0, cdm->job.save);
		return false;
	}
	memcpy(save.return_pc, cdm->walk.return_pc, cdm->walk.depth * sizeof(save.return_pc[0]));
	if (cdm->has_state)
		pumice_cdm_state_pack(save.state, &cdm->launch.state);
	if (cdm->dispatching) {
		pumice_cdm_launch_pack(save.launch, &cdm->launch.grid);
		save.linear = cdm->linear;
	}
	pumice_cdm_save_pack(words, &save);
	if (!mmu_write(cdm->config.mmu, &cdm->tlb, 0, cdm->job.save, words, sizeof(words),
		       PUMICE_UNIT_CDM, &fault)) {
		dm_stop_fault(&cdm->run, &fault);
		return false;
	}
	return true;
}

static bool all_zero(const u32 *words, u32 count)
{
	u32 any = 0;

	while (count--)
		any |= *words++;
	return !any;
}

/* Return addresses of entered sub-lists are word aligned, all others 0. */
static bool check_returns(const struct pumice_cdm_save *save)
{
	u32 i;

	if (save->depth > PUMICE_CDM_MAX_DEPTH)
		return false;
	for (i = 0; i < PUMICE_CDM_MAX_DEPTH; i++) {
		if (i < save->depth ? save->return_pc[i] % sizeof(u32) : save->return_pc[i])
			return false;
	}
	return true;
}

/* A saved command is of this type and passes the stream's decoder, or is all zero. */
static bool check_command(const u32 *words, u32 count, bool present, enum pumice_cdm_type type,
			  struct cdm_command *out)
{
	if (!present)
		return all_zero(words, count);
	return pumice_cdm_cmd_type(words[0]) == type &&
	       cdm_command_decode(words, out) == PUMICE_FAULT_NONE;
}

/* Check the saved words and restore the state from them. False when they are malformed. */
static bool restore_fields(struct cdm *cdm, const u32 *words)
{
	struct cdm_command state = { 0 }, launch = { 0 };
	struct pumice_cdm_save save;

	if (pumice_cdm_save_unpack(words, &save) != PUMICE_UNPACK_OK || !check_returns(&save) ||
	    !check_command(save.state, PUMICE_CDM_STATE_WORDS, save.has_state,
			   PUMICE_CDM_TYPE_STATE, &state) ||
	    !check_command(save.launch, PUMICE_CDM_LAUNCH_WORDS, save.dispatching,
			   PUMICE_CDM_TYPE_LAUNCH, &launch))
		return false;
	if (save.dispatching ? !save.has_state || cdm_launch_groups(&launch.launch, &cdm->groups) ||
				       save.linear >= cdm->groups :
			       save.linear != 0)
		return false;
	cdm->walk.pc = save.pc;
	cdm->walk.depth = save.depth;
	memcpy(cdm->walk.return_pc, save.return_pc, sizeof(cdm->walk.return_pc));
	cdm->has_state = save.has_state;
	cdm->launch.state = state.state;
	cdm->launch.grid = launch.launch;
	cdm->launch.sequences = false;
	cdm->dispatching = save.dispatching;
	cdm->linear = save.linear;
	cdm->done_before -= save.groups;
	return true;
}

void cdm_restore(struct cdm *cdm)
{
	u32 words[PUMICE_CDM_SAVE_WORDS];
	struct gpu_fault fault = { 0 };

	if (!aligned(cdm)) {
		dm_stop_at(&cdm->run, PUMICE_FAULT_CDM_ALIGN, 0, cdm->job.save);
		return;
	}
	if (!mmu_read(cdm->config.mmu, &cdm->tlb, 0, cdm->job.save, words, sizeof(words),
		      PUMICE_ACCESS_READ, PUMICE_UNIT_CDM, &fault)) {
		dm_stop_fault(&cdm->run, &fault);
		return;
	}
	if (!restore_fields(cdm, words)) {
		dm_stop_at(&cdm->run, PUMICE_FAULT_CDM_SAVE, 0, cdm->job.save);
		return;
	}
	cdm->phase = CDM_FETCH;
	if (cdm->dispatching)
		cdm_walk_dispatch_from(cdm, cdm->linear);
}
