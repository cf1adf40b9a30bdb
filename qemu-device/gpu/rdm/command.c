// SPDX-License-Identifier: MIT
/* Commands of the ray control stream. See command.h. */
#include "command.h"

_Static_assert((int)PUMICE_RDM_TYPE_CALL == (int)PUMICE_CDM_TYPE_CALL &&
	       (int)PUMICE_RDM_TYPE_RETURN == (int)PUMICE_CDM_TYPE_RETURN &&
	       (int)PUMICE_RDM_TYPE_FENCE == (int)PUMICE_CDM_TYPE_FENCE &&
	       (int)PUMICE_RDM_TYPE_HALT == (int)PUMICE_CDM_TYPE_HALT &&
	       (int)PUMICE_RDM_TYPE_LINK == (int)PUMICE_CDM_TYPE_LINK &&
	       (int)PUMICE_RDM_TYPE_FLUSH == (int)PUMICE_CDM_TYPE_FLUSH &&
	       (int)PUMICE_RDM_TYPE_TIMESTAMP == (int)PUMICE_CDM_TYPE_TIMESTAMP &&
	       (int)PUMICE_RDM_TYPE_MARKER == (int)PUMICE_CDM_TYPE_MARKER,
	       "control commands are those of the CDM");

static enum pumice_unpack unpack_programs(const u32 *words, struct rdm_programs *out)
{
	const enum pumice_unpack result = pumice_rdm_state_unpack(words, &out->state);
	const u32 *const stage[RDM_KINDS] = {
		[RDM_GENERATE] = out->state.generate, [RDM_HIT] = out->state.hit,
		[RDM_MISS] = out->state.miss,
	};
	enum rdm_kind kind;

	if (result != PUMICE_UNPACK_OK)
		return result;
	if (out->state.uniform_words > PUMICE_USC_MAX_UNIFORMS)
		return PUMICE_UNPACK_RESERVED;
	for (kind = RDM_GENERATE; kind < RDM_KINDS; kind++)
		if (pumice_stage_unpack(stage[kind], &out->stage[kind]) != PUMICE_UNPACK_OK)
			return PUMICE_UNPACK_RESERVED;
	return PUMICE_UNPACK_OK;
}

static enum pumice_unpack unpack(const u32 *words, struct rdm_command *out)
{
	switch ((enum pumice_rdm_type)out->type) {
	case PUMICE_RDM_TYPE_STATE:
		return unpack_programs(words, &out->programs);
	case PUMICE_RDM_TYPE_LAUNCH:
		return pumice_rdm_launch_unpack(words, &out->launch);
	default:
		return dm_control_unpack(words, rdm_control_type(out), &out->control);
	}
}

/*
 * Return whether the addresses of a command, whose misalignment
 * has a fault of its own, are aligned.
 */
static bool aligned(const u32 *words, const struct rdm_command *command)
{
	const u32 align = dm_control_align(rdm_control_type(command));

	switch ((enum pumice_rdm_type)command->type) {
	case PUMICE_RDM_TYPE_STATE:
		return words[13] % 64 == 0 && words[15] % 256 == 0;
	case PUMICE_RDM_TYPE_LAUNCH:
		return words[3] % sizeof(u32) == 0;
	default:
		return !align || words[1] % align == 0;
	}
}

enum pumice_fault rdm_command_decode(const u32 *words, struct rdm_command *out)
{
	out->type = (u8)pumice_rdm_cmd_type(words[0]);
	out->words = (u8)pumice_rdm_cmd_words(words[0]);
	if (!out->words)
		return PUMICE_FAULT_RDM_COMMAND;
	if (!aligned(words, out))
		return PUMICE_FAULT_RDM_ALIGN;
	return unpack(words, out) == PUMICE_UNPACK_OK ? PUMICE_FAULT_NONE :
							PUMICE_FAULT_RDM_RESERVED;
}

bool rdm_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		       struct rdm_command *out, struct gpu_fault *fault)
{
	u32 words[PUMICE_RDM_CMD_MAX_WORDS];
	u32 count;

	*fault = (struct gpu_fault){
		.unit = PUMICE_UNIT_RDM, .access = PUMICE_ACCESS_READ, .ctx = (u8)ctx, .addr = addr,
	};
	if (!mmu_read(mmu, tlb, ctx, addr, &words[0], sizeof(words[0]), PUMICE_ACCESS_READ,
		      PUMICE_UNIT_RDM, fault))
		return false;
	count = (u32)pumice_rdm_cmd_words(words[0]);
	if (count > 1 &&
	    !mmu_read(mmu, tlb, ctx, addr + sizeof(words[0]), &words[1],
		      (count - 1) * sizeof(words[0]), PUMICE_ACCESS_READ, PUMICE_UNIT_RDM, fault))
		return false;
	fault->fault = (u8)rdm_command_decode(words, out);
	return fault->fault == PUMICE_FAULT_NONE;
}
