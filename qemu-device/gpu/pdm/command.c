// SPDX-License-Identifier: MIT
/* Commands of the render control list. See command.h. */
#include "command.h"

#include <string.h>

#define MODE_ALIGN	16u

/* Alignment in bytes of the address in a command, for which there is a fault of its own. */
static u32 address_align(u8 type)
{
	switch ((enum pumice_pdm_type)type) {
	case PUMICE_PDM_TYPE_MODE:
		return MODE_ALIGN;
	case PUMICE_PDM_TYPE_CALL:
	case PUMICE_PDM_TYPE_LINK:
		return sizeof(u32);
	default:
		return 1;
	}
}

/* Unpack commands that hold an address and nothing else. */
static enum pumice_unpack unpack_address(const u32 *words, struct pdm_command *out)
{
	struct pumice_pdm_mode mode;
	struct pumice_pdm_call call;
	struct pumice_pdm_link link;
	enum pumice_unpack result;

	if (out->type == PUMICE_PDM_TYPE_MODE) {
		result = pumice_pdm_mode_unpack(words, &mode);
		out->addr = mode.addr;
	} else if (out->type == PUMICE_PDM_TYPE_CALL) {
		result = pumice_pdm_call_unpack(words, &call);
		out->addr = call.addr;
	} else {
		result = pumice_pdm_link_unpack(words, &link);
		out->addr = link.addr;
	}
	return result;
}

static enum pumice_unpack unpack_tile(const u32 *words, struct pdm_command *out)
{
	struct pumice_pdm_tile tile;
	enum pumice_unpack result = pumice_pdm_tile_unpack(words, &tile);

	out->x = tile.x;
	out->y = tile.y;
	return result;
}

static enum pumice_unpack unpack_store(const u32 *words, struct pdm_command *out)
{
	struct pumice_pdm_store_program program;
	struct pumice_pdm_store store;
	enum pumice_unpack result;

	if (out->type == PUMICE_PDM_TYPE_STORE) {
		result = pumice_pdm_store_unpack(words, &store);
		out->end = store.end;
	} else {
		result = pumice_pdm_store_program_unpack(words, &program);
		out->end = program.end;
		memcpy(out->program, program.program, sizeof(out->program));
	}
	return result;
}

static enum pumice_unpack unpack_flush(const u32 *words, struct pdm_command *out)
{
	struct pumice_pdm_flush in;
	enum pumice_unpack result = pumice_pdm_flush_unpack(words, &in);

	out->flush = DM_FLUSH(in);
	return result;
}

/* Check the reserved bits of a command without fields. */
static enum pumice_unpack unpack_plain(const u32 *words, u8 type)
{
	struct pumice_pdm_branch branch;
	struct pumice_pdm_return ret;
	struct pumice_pdm_end end;

	if (type == PUMICE_PDM_TYPE_BRANCH)
		return pumice_pdm_branch_unpack(words, &branch);
	if (type == PUMICE_PDM_TYPE_RETURN)
		return pumice_pdm_return_unpack(words, &ret);
	return pumice_pdm_end_unpack(words, &end);
}

static enum pumice_unpack unpack(const u32 *words, struct pdm_command *out)
{
	switch ((enum pumice_pdm_type)out->type) {
	case PUMICE_PDM_TYPE_MODE:
	case PUMICE_PDM_TYPE_CALL:
	case PUMICE_PDM_TYPE_LINK:
		return unpack_address(words, out);
	case PUMICE_PDM_TYPE_TILE:
		return unpack_tile(words, out);
	case PUMICE_PDM_TYPE_STORE:
	case PUMICE_PDM_TYPE_STORE_PROGRAM:
		return unpack_store(words, out);
	case PUMICE_PDM_TYPE_FLUSH:
		return unpack_flush(words, out);
	case PUMICE_PDM_TYPE_BRANCH:
	case PUMICE_PDM_TYPE_RETURN:
	case PUMICE_PDM_TYPE_END:
		break;
	}
	return unpack_plain(words, out->type);
}

enum pumice_fault pdm_command_decode(const u32 *words, struct pdm_command *out)
{
	u32 align;

	*out = (struct pdm_command){ .type = (u8)pumice_pdm_cmd_type(words[0]) };
	if (!pumice_pdm_cmd_words(words[0]))
		return PUMICE_FAULT_PDM_COMMAND;
	align = address_align(out->type);
	if (align > 1 && words[1] % align)
		return PUMICE_FAULT_PDM_ALIGN;
	return unpack(words, out) == PUMICE_UNPACK_OK ? PUMICE_FAULT_NONE :
							PUMICE_FAULT_PDM_RESERVED;
}
