// SPDX-License-Identifier: MIT
/* Commands of the vertex control stream, and draw state. See command.h. */
#include "command.h"


#define COUNTS_DRAW	4u	/* words of an indirect draw's record */
#define COUNTS_INDEXED	5u

/* Minimum and maximum size of points and lines, in pixels. */
#define SIZE_MIN	0.0625f
#define POINT_MAX	256.0f
#define LINE_MAX	64.0f

static enum pumice_fault check_draw(const struct vdm_draw *draw, u32 index_size)
{
	if (!pumice_topology_valid(draw->topology) || !pumice_index_size_valid(index_size))
		return PUMICE_FAULT_VDM_RESERVED;
	return draw->indices % (1u << index_size) ? PUMICE_FAULT_VDM_ALIGN : PUMICE_FAULT_NONE;
}

static enum pumice_fault decode_draw(const u32 *words, struct vdm_command *out)
{
	struct pumice_vdm_draw in;

	if (pumice_vdm_draw_unpack(words, &in) != PUMICE_UNPACK_OK)
		return PUMICE_FAULT_VDM_RESERVED;
	out->draw = (struct vdm_draw){
		.topology = in.topology, .after = in.after, .count = in.count, .first = in.first,
		.instances = in.instances, .base_instance = in.base_instance,
	};
	return check_draw(&out->draw, 0);
}

static enum pumice_fault decode_indexed(const u32 *words, struct vdm_command *out)
{
	struct pumice_vdm_draw_indexed in;

	if (pumice_vdm_draw_indexed_unpack(words, &in) != PUMICE_UNPACK_OK)
		return PUMICE_FAULT_VDM_RESERVED;
	out->draw = (struct vdm_draw){
		.topology = in.topology, .after = in.after, .indexed = true, .restart = in.restart,
		.index_shift = in.index_size, .indices = in.indices,
		.index_count = in.index_count, .count = in.count, .first = in.first,
		.base_vertex = (u32)in.base_vertex, .instances = in.instances,
		.base_instance = in.base_instance,
	};
	return check_draw(&out->draw, in.index_size);
}

static enum pumice_fault decode_indirect(const u32 *words, struct vdm_command *out)
{
	struct pumice_vdm_draw_indirect in;

	if (pumice_vdm_draw_indirect_unpack(words, &in) != PUMICE_UNPACK_OK)
		return PUMICE_FAULT_VDM_RESERVED;
	out->addr = in.addr;
	out->draw = (struct vdm_draw){ .topology = in.topology, .after = in.after };
	return check_draw(&out->draw, 0);
}

static enum pumice_fault decode_indexed_indirect(const u32 *words, struct vdm_command *out)
{
	struct pumice_vdm_draw_indexed_indirect in;

	if (pumice_vdm_draw_indexed_indirect_unpack(words, &in) != PUMICE_UNPACK_OK)
		return PUMICE_FAULT_VDM_RESERVED;
	out->addr = in.addr;
	out->draw = (struct vdm_draw){
		.topology = in.topology, .after = in.after, .indexed = true, .restart = in.restart,
		.index_shift = in.index_size, .indices = in.indices,
		.index_count = in.index_count,
	};
	return check_draw(&out->draw, in.index_size);
}

/* Decode commands that hold an address and nothing else. */
static enum pumice_fault decode_address(const u32 *words, struct vdm_command *out)
{
	struct pumice_vdm_state_cmd state;
	struct pumice_vdm_call call;
	struct pumice_vdm_link link;
	enum pumice_unpack result;

	if (out->type == PUMICE_VDM_TYPE_STATE) {
		result = pumice_vdm_state_cmd_unpack(words, &state);
		out->addr = state.addr;
	} else if (out->type == PUMICE_VDM_TYPE_CALL) {
		result = pumice_vdm_call_unpack(words, &call);
		out->addr = call.addr;
	} else {
		result = pumice_vdm_link_unpack(words, &link);
		out->addr = link.addr;
	}
	return result == PUMICE_UNPACK_OK ? PUMICE_FAULT_NONE : PUMICE_FAULT_VDM_RESERVED;
}

static enum pumice_fault decode_flush(const u32 *words, struct vdm_command *out)
{
	struct pumice_vdm_flush in;

	if (pumice_vdm_flush_unpack(words, &in) != PUMICE_UNPACK_OK)
		return PUMICE_FAULT_VDM_RESERVED;
	out->flush = DM_FLUSH(in);
	return PUMICE_FAULT_NONE;
}

/*
 * Alignment in bytes of the address in a command, where a misaligned one has a fault of its
 * own, and the index of its word.
 */
static u32 address_align(enum pumice_vdm_type type, u32 *word)
{
	*word = type == PUMICE_VDM_TYPE_DRAW_INDEXED_INDIRECT ? 4 : 1;
	switch (type) {
	case PUMICE_VDM_TYPE_STATE:
		return 16;
	case PUMICE_VDM_TYPE_CALL:
	case PUMICE_VDM_TYPE_LINK:
	case PUMICE_VDM_TYPE_DRAW_INDIRECT:
	case PUMICE_VDM_TYPE_DRAW_INDEXED_INDIRECT:
		return sizeof(u32);
	default:
		return 1;
	}
}

enum pumice_fault vdm_command_decode(const u32 *words, struct vdm_command *out)
{
	struct pumice_vdm_return ret;
	struct pumice_vdm_halt halt;
	struct pumice_vdm_task task;
	u32 align, word;

	*out = (struct vdm_command){
		.type = (u8)pumice_vdm_cmd_type(words[0]),
		.words = (u8)pumice_vdm_cmd_words(words[0]),
	};
	if (!out->words)
		return PUMICE_FAULT_VDM_COMMAND;
	align = address_align((enum pumice_vdm_type)out->type, &word);
	if (align > 1 && words[word] % align)
		return PUMICE_FAULT_VDM_ALIGN;
	switch ((enum pumice_vdm_type)out->type) {
	case PUMICE_VDM_TYPE_STATE:
	case PUMICE_VDM_TYPE_CALL:
	case PUMICE_VDM_TYPE_LINK:
		return decode_address(words, out);
	case PUMICE_VDM_TYPE_DRAW:
		return decode_draw(words, out);
	case PUMICE_VDM_TYPE_DRAW_INDEXED:
		return decode_indexed(words, out);
	case PUMICE_VDM_TYPE_DRAW_INDIRECT:
		return decode_indirect(words, out);
	case PUMICE_VDM_TYPE_DRAW_INDEXED_INDIRECT:
		return decode_indexed_indirect(words, out);
	case PUMICE_VDM_TYPE_RETURN:
		return pumice_vdm_return_unpack(words, &ret) == PUMICE_UNPACK_OK ?
		       PUMICE_FAULT_NONE : PUMICE_FAULT_VDM_RESERVED;
	case PUMICE_VDM_TYPE_HALT:
		return pumice_vdm_halt_unpack(words, &halt) == PUMICE_UNPACK_OK ?
		       PUMICE_FAULT_NONE : PUMICE_FAULT_VDM_RESERVED;
	case PUMICE_VDM_TYPE_TASK:
		return pumice_vdm_task_unpack(words, &task) == PUMICE_UNPACK_OK ?
		       PUMICE_FAULT_NONE : PUMICE_FAULT_VDM_RESERVED;
	case PUMICE_VDM_TYPE_FLUSH:
		return decode_flush(words, out);
	}
	return PUMICE_FAULT_VDM_COMMAND;
}

/* Read words in the job's context, with faults of the VDM. */
static bool read_words(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr, u32 *words,
		       u32 count, struct gpu_fault *fault)
{
	return mmu_read(mmu, tlb, ctx, addr, words, count * sizeof(*words), PUMICE_ACCESS_READ,
			PUMICE_UNIT_VDM, fault);
}

static struct gpu_fault fault_at(unsigned int ctx, u64 addr)
{
	return (struct gpu_fault){
		.unit = PUMICE_UNIT_VDM, .access = PUMICE_ACCESS_READ, .ctx = (u8)ctx, .addr = addr,
	};
}

bool vdm_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		       struct vdm_command *out, struct gpu_fault *fault)
{
	u32 words[PUMICE_VDM_CMD_MAX_WORDS];
	u32 count;

	*fault = fault_at(ctx, addr);
	if (addr % sizeof(u32)) {
		fault->fault = PUMICE_FAULT_VDM_ALIGN;
		return false;
	}
	if (!read_words(mmu, tlb, ctx, addr, words, 1, fault))
		return false;
	count = (u32)pumice_vdm_cmd_words(words[0]);
	if (count > 1 &&
	    !read_words(mmu, tlb, ctx, addr + sizeof(u32), words + 1, count - 1, fault))
		return false;
	fault->fault = (u8)vdm_command_decode(words, out);
	return fault->fault == PUMICE_FAULT_NONE;
}

bool vdm_command_counts(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx,
			struct vdm_command *cmd, struct gpu_fault *fault)
{
	struct vdm_draw *draw = &cmd->draw;
	u32 words[COUNTS_INDEXED];

	*fault = fault_at(ctx, cmd->addr);
	if (!read_words(mmu, tlb, ctx, cmd->addr, words,
			draw->indexed ? COUNTS_INDEXED : COUNTS_DRAW, fault))
		return false;
	draw->count = words[0];
	draw->instances = words[1];
	draw->first = words[2];
	draw->base_vertex = draw->indexed ? words[3] : 0;
	draw->base_instance = words[draw->indexed ? 4 : 3];
	return true;
}

/* NaN is outside every range. */
static bool in_range(float value, float min, float max)
{
	return value >= min && value <= max;
}

enum pumice_fault vdm_record_decode(const u32 *words, struct vdm_record *out)
{
	const struct pumice_vdm_state *state = &out->state;

	if (pumice_vdm_state_unpack(words, &out->state) != PUMICE_UNPACK_OK ||
	    pumice_stage_unpack(state->vertex, &out->vertex) != PUMICE_UNPACK_OK ||
	    pumice_stage_unpack(state->coordinate, &out->coordinate) != PUMICE_UNPACK_OK)
		return PUMICE_FAULT_VDM_RESERVED;
	if (state->varyings > PUMICE_MAX_VARYINGS || !out->vertex.pds_insns ||
	    (state->deferred && !out->coordinate.pds_insns) ||
	    vdm_record_vo(out) > PUMICE_USC_MAX_VO ||
	    state->uniform_words > PUMICE_USC_MAX_UNIFORMS ||
	    state->attribute_count > PUMICE_MAX_ATTRIBUTES ||
	    !in_range(state->point_width, SIZE_MIN, POINT_MAX) ||
	    !in_range(state->line_width, SIZE_MIN, LINE_MAX))
		return PUMICE_FAULT_VDM_STATE;
	return PUMICE_FAULT_NONE;
}

enum pumice_fault vdm_attribute_decode(const u32 *words, struct pumice_vdm_attribute *out)
{
	if (pumice_vdm_attribute_unpack(words, out) != PUMICE_UNPACK_OK)
		return PUMICE_FAULT_VDM_RESERVED;
	return out->comps >= 1 && out->comps <= 4 ? PUMICE_FAULT_NONE : PUMICE_FAULT_VDM_STATE;
}

static bool fetch_attributes(const struct gpu_record *from, struct vdm_record *out,
			     struct gpu_fault *fault)
{
	u32 words[PUMICE_MAX_ATTRIBUTES * PUMICE_VDM_ATTRIBUTE_WORDS], n;
	struct gpu_record table = *from;

	table.addr = out->state.attributes;
	if (!gpu_record_read(&table, words,
			     out->state.attribute_count * PUMICE_VDM_ATTRIBUTE_WORDS, fault))
		return false;
	for (n = 0; n < out->state.attribute_count; n++) {
		const u32 *entry = words + n * PUMICE_VDM_ATTRIBUTE_WORDS;
		const enum pumice_fault why = vdm_attribute_decode(entry, &out->attribute[n]);

		table.addr = out->state.attributes + (u64)n * PUMICE_VDM_ATTRIBUTE_WORDS * 4;
		if (why != PUMICE_FAULT_NONE)
			return gpu_record_refuse(&table, why, fault);
	}
	return true;
}

bool vdm_record_fetch(const struct gpu_record *from, struct vdm_record *out,
		      struct gpu_fault *fault)
{
	u32 words[PUMICE_VDM_STATE_WORDS];
	enum pumice_fault why;

	if (!gpu_record_read(from, words, PUMICE_VDM_STATE_WORDS, fault))
		return false;
	why = vdm_record_decode(words, out);
	if (why != PUMICE_FAULT_NONE)
		return gpu_record_refuse(from, why, fault);
	return !out->state.attribute_count || fetch_attributes(from, out, fault);
}
