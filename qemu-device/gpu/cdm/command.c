// SPDX-License-Identifier: MIT
/* Commands of the compute control stream. See command.h. */
#include "command.h"

static enum pumice_fault check_state(const struct pumice_cdm_state *state)
{
	u64 instances = (u64)state->size_x * state->size_y * state->size_z;

	return instances && instances <= PUMICE_GROUP_INSTANCES ? PUMICE_FAULT_NONE :
								  PUMICE_FAULT_CDM_GROUP_SIZE;
}

static enum pumice_unpack unpack(const u32 *words, struct cdm_command *out)
{
	struct pumice_cdm_task task;

	switch ((enum pumice_cdm_type)out->type) {
	case PUMICE_CDM_TYPE_STATE:
		return pumice_cdm_state_unpack(words, &out->state);
	case PUMICE_CDM_TYPE_LAUNCH:
		return pumice_cdm_launch_unpack(words, &out->launch);
	case PUMICE_CDM_TYPE_LAUNCH_INDIRECT:
		return pumice_cdm_launch_indirect_unpack(words, &out->indirect);
	case PUMICE_CDM_TYPE_TASK:
		return pumice_cdm_task_unpack(words, &task);
	default:
		return dm_control_unpack(words, (enum pumice_cdm_type)out->type, &out->control);
	}
}

enum pumice_fault cdm_command_decode(const u32 *words, struct cdm_command *out)
{
	u32 align;

	out->type = (u8)pumice_cdm_cmd_type(words[0]);
	out->words = (u8)pumice_cdm_cmd_words(words[0]);
	if (!out->words)
		return PUMICE_FAULT_CDM_COMMAND;
	align = out->type == PUMICE_CDM_TYPE_LAUNCH_INDIRECT ? sizeof(u32) :
		dm_control_align((enum pumice_cdm_type)out->type);
	if (align && words[1] % align)
		return PUMICE_FAULT_CDM_ALIGN;
	if (unpack(words, out) != PUMICE_UNPACK_OK)
		return PUMICE_FAULT_CDM_RESERVED;
	return out->type == PUMICE_CDM_TYPE_STATE ? check_state(&out->state) : PUMICE_FAULT_NONE;
}

bool cdm_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		       struct cdm_command *out, struct gpu_fault *fault)
{
	u32 words[PUMICE_CDM_CMD_MAX_WORDS];
	u32 count;

	*fault = (struct gpu_fault){
		.unit = PUMICE_UNIT_CDM, .access = PUMICE_ACCESS_READ, .ctx = (u8)ctx, .addr = addr,
	};
	if (!mmu_read(mmu, tlb, ctx, addr, &words[0], sizeof(words[0]), PUMICE_ACCESS_READ,
		      PUMICE_UNIT_CDM, fault))
		return false;
	count = (u32)pumice_cdm_cmd_words(words[0]);
	if (count > 1 &&
	    !mmu_read(mmu, tlb, ctx, addr + sizeof(words[0]), &words[1],
		      (count - 1) * sizeof(words[0]), PUMICE_ACCESS_READ, PUMICE_UNIT_CDM, fault))
		return false;
	fault->fault = (u8)cdm_command_decode(words, out);
	return fault->fault == PUMICE_FAULT_NONE;
}

enum pumice_fault cdm_launch_groups(const struct pumice_cdm_launch *launch, u64 *groups)
{
	u32 end;

	if (__builtin_add_overflow(launch->base_x, launch->groups_x, &end) ||
	    __builtin_add_overflow(launch->base_y, launch->groups_y, &end) ||
	    __builtin_add_overflow(launch->base_z, launch->groups_z, &end) ||
	    __builtin_mul_overflow((u64)launch->groups_x * launch->groups_y,
				   (u64)launch->groups_z, groups))
		return PUMICE_FAULT_CDM_GRID;
	return PUMICE_FAULT_NONE;
}
