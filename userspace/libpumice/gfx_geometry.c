// SPDX-License-Identifier: MIT
/* Builder of vertex control streams (hw/formats.xml, stream vdm) and the records they reference. */
#include <errno.h>

#include "gfx.h"
#include "pumice/pumice_tasks.h"
#include "pumice_regs.h"

void pumice_draw_state_viewport(struct pumice_draw_state *state,
				const struct pumice_viewport *v)
{
	bool half = state->vdm.clip_minus_w;

	state->vdm.scale_x = v->width * 0.5f;
	state->vdm.scale_y = v->height * -0.5f;
	state->vdm.scale_z = half ? (v->far - v->near) * 0.5f : v->far - v->near;
	state->vdm.offset_x = v->x + v->width * 0.5f;
	state->vdm.offset_y = v->y + v->height * 0.5f;
	state->vdm.offset_z = half ? (v->far + v->near) * 0.5f : v->near;
}

void pumice_draw_state_init(struct pumice_draw_state *state, uint32_t width, uint32_t height)
{
	struct pumice_viewport all;

	pumice_vdm_state_defaults(&state->vdm);
	/* It changes no sample. */
	state->vdm.small_cull = true;
	pumice_isp_state_defaults(&state->isp);
	pumice_tsp_state_defaults(&state->tsp);
	state->isp.scissor_x1 = (u16)width;
	state->isp.scissor_y1 = (u16)height;
	pumice_viewport_init(&all, width, height);
	pumice_draw_state_viewport(state, &all);
}

/* Packing would truncate these to the bits of their fields. */
static int check_isp(struct pumice_stream *s, const struct pumice_isp_state *isp)
{
	const struct {
		const char *name, *set;
		u32 value, count;
	} fields[] = {
		{ "depth_func", "compare", isp->depth_func, PUMICE_COMPARE_COUNT },
		{ "pass_type", "pass_type", isp->pass_type, PUMICE_PASS_TYPE_COUNT },
		{ "front_func", "compare", isp->front_func, PUMICE_COMPARE_COUNT },
		{ "front_sfail", "stencil_op", isp->front_sfail, PUMICE_STENCIL_OP_COUNT },
		{ "front_zfail", "stencil_op", isp->front_zfail, PUMICE_STENCIL_OP_COUNT },
		{ "front_pass", "stencil_op", isp->front_pass, PUMICE_STENCIL_OP_COUNT },
		{ "back_func", "compare", isp->back_func, PUMICE_COMPARE_COUNT },
		{ "back_sfail", "stencil_op", isp->back_sfail, PUMICE_STENCIL_OP_COUNT },
		{ "back_zfail", "stencil_op", isp->back_zfail, PUMICE_STENCIL_OP_COUNT },
		{ "back_pass", "stencil_op", isp->back_pass, PUMICE_STENCIL_OP_COUNT },
		{ "mask_test", "mask_test", isp->mask_test, PUMICE_MASK_TEST_COUNT },
		{ "mask_op", "mask_op", isp->mask_op, PUMICE_MASK_OP_COUNT },
	};
	u32 i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].value >= fields[i].count)
			return fail(stream_vm(s)->dev, EINVAL,
				    "draw state: isp.%s %u is not one of enum pumice_%s, 0 to %u",
				    fields[i].name, fields[i].value, fields[i].set,
				    fields[i].count - 1);
	return 0;
}

/* The device would refuse these only when it draws, long after this call. */
static int check_point_coord(struct pumice_stream *s, const struct pumice_draw_state *state)
{
	const u32 first = state->tsp.point_varying, varyings = state->vdm.varyings;

	if (!state->tsp.point_coord)
		return 0;
	if (first + 1 >= varyings)
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw state: point_coord needs varyings %u and %u, but vdm.varyings is %u; set point_varying to at most the number of varyings - 2",
			    first, first + 1, varyings);
	if (state->tsp.point_origin > PUMICE_POINT_ORIGIN_LOWER_LEFT)
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw state: point_origin %u is not one of enum pumice_point_origin",
			    state->tsp.point_origin);
	return 0;
}

/* Packing would truncate the address and the count. @unit: of the record */
static int check_uniforms(struct pumice_stream *s, const char *unit, u64 va, u32 words)
{
	if (va >> PUMICE_MMU_VA_BITS || va % UNIFORMS_ALIGN)
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw state: %s.uniforms %#llx is not a GPU address that is a multiple of %u; use pumice_stream_uniforms()",
			    unit, (unsigned long long)va, UNIFORMS_ALIGN);
	if (words > PUMICE_USC_MAX_UNIFORMS)
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw state: %s.uniform_words %u is not 0 to %u", unit, words,
			    PUMICE_USC_MAX_UNIFORMS);
	return 0;
}

/* Store the records of a state, or find equal ones that the stream has. @va: of the vdm_state */
static int share_records(struct pumice_stream *s, const struct pumice_draw_state *state, u64 *va)
{
	struct pumice_vdm_state vdm = state->vdm;
	struct pumice_tsp_state tsp = state->tsp;
	u32 words[PUMICE_VDM_STATE_WORDS];
	int err;

	tsp.varyings = vdm.varyings;
	pumice_isp_state_pack(words, &state->isp);
	err = stream_share(s, words, PUMICE_ISP_STATE_WORDS * 4, 16, &vdm.isp_state);
	if (err)
		return err;
	pumice_tsp_state_pack(words, &tsp);
	err = stream_share(s, words, PUMICE_TSP_STATE_WORDS * 4, 16, &vdm.tsp_state);
	if (err)
		return err;
	pumice_vdm_state_pack(words, &vdm);
	return stream_share(s, words, PUMICE_VDM_STATE_WORDS * 4, 16, va);
}

int pumice_stream_draw_state(struct pumice_stream *s, const struct pumice_draw_state *state,
			     uint64_t *va)
{
	u64 at;
	int err = state ? check_point_coord(s, state) :
			  fail_null(stream_vm(s)->dev, "draw state", "state");

	if (!err)
		err = check_isp(s, &state->isp);
	if (!err)
		err = check_uniforms(s, "vdm", state->vdm.uniforms, state->vdm.uniform_words);
	if (!err)
		err = check_uniforms(s, "tsp", state->tsp.uniforms, state->tsp.uniform_words);
	if (!err)
		err = share_records(s, state, &at);
	if (err)
		return err;
	if (va)
		*va = at;
	return pumice_stream_state(s, at);
}

/*
 * An unset number of instances would draw nothing, which is hard to diagnose: reject it. A count of
 * 0 vertices or indices is accepted: meshes can be empty.
 */
static int check_instances(struct pumice_stream *s, u32 instances)
{
	if (!instances)
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw: instances is 0 and nothing would be drawn; set it to 1 or more");
	return 0;
}

/* Records have 3 bits for the topology, 2 for the size of an index: others would be truncated. */
static int check_enums(struct pumice_stream *s, u32 topology, u32 index_size)
{
	if (!pumice_topology_valid(topology))
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw: topology %u is not one of enum pumice_topology; begin with "
			    "pumice_vdm_draw_defaults()", topology);
	if (!pumice_index_size_valid(index_size))
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw: index_size %u is not one of enum pumice_index_size; begin with "
			    "pumice_vdm_draw_indexed_defaults()", index_size);
	return 0;
}

static u32 index_bytes(u32 index_size)
{
	return 1u << index_size;	/* enum pumice_index_size */
}

/* Indices outside of the buffer are read as 0: without a buffer each of them would be. */
static int check_indices(struct pumice_stream *s, const struct pumice_vdm_draw_indexed *draw)
{
	if (draw->count && !draw->index_count)
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw: index_count is 0 and each index would be read as 0; set it to the indices in the buffer");
	if (draw->count && !draw->indices)
		return fail(stream_vm(s)->dev, EINVAL,
			    "draw: indices is 0; set it to the address of the indices");
	return stream_check_va(s, "draw: indices", draw->indices, index_bytes(draw->index_size));
}

int pumice_stream_draw(struct pumice_stream *s, const struct pumice_vdm_draw *draw)
{
	u32 words[PUMICE_VDM_DRAW_WORDS];
	int err = draw ? check_instances(s, draw->instances) :
			 fail_null(stream_vm(s)->dev, "draw", "draw");

	if (!err)
		err = check_enums(s, draw->topology, 0);
	if (err)
		return err;
	pumice_vdm_draw_pack(words, draw);
	return stream_emit_draw(s, words, PUMICE_VDM_DRAW_WORDS);
}

int pumice_stream_draw_indexed(struct pumice_stream *s, const struct pumice_vdm_draw_indexed *draw)
{
	u32 words[PUMICE_VDM_DRAW_INDEXED_WORDS];
	int err = draw ? check_instances(s, draw->instances) :
			 fail_null(stream_vm(s)->dev, "draw", "draw");

	if (!err)
		err = check_enums(s, draw->topology, draw->index_size);
	if (!err)
		err = check_indices(s, draw);
	if (err)
		return err;
	pumice_vdm_draw_indexed_pack(words, draw);
	return stream_emit_draw(s, words, PUMICE_VDM_DRAW_INDEXED_WORDS);
}

int pumice_stream_draw_indirect(struct pumice_stream *s,
				const struct pumice_vdm_draw_indirect *draw)
{
	u32 words[PUMICE_VDM_DRAW_INDIRECT_WORDS];
	int err = draw ? stream_check_va(s, "indirect draw: addr", draw->addr, 4) :
			 fail_null(stream_vm(s)->dev, "indirect draw", "draw");

	if (!err)
		err = check_enums(s, draw->topology, 0);
	if (err)
		return err;
	pumice_vdm_draw_indirect_pack(words, draw);
	return stream_emit_draw(s, words, PUMICE_VDM_DRAW_INDIRECT_WORDS);
}

int pumice_stream_draw_indexed_indirect(struct pumice_stream *s,
					const struct pumice_vdm_draw_indexed_indirect *draw)
{
	u32 words[PUMICE_VDM_DRAW_INDEXED_INDIRECT_WORDS];
	int err = draw ? stream_check_va(s, "indirect draw: addr", draw->addr, 4) :
			 fail_null(stream_vm(s)->dev, "indirect draw", "draw");

	if (!err)
		err = check_enums(s, draw->topology, draw->index_size);
	if (!err)
		err = stream_check_va(s, "indirect draw: indices", draw->indices,
				      index_bytes(draw->index_size));
	if (err)
		return err;
	pumice_vdm_draw_indexed_indirect_pack(words, draw);
	return stream_emit_draw(s, words, PUMICE_VDM_DRAW_INDEXED_INDIRECT_WORDS);
}

int pumice_stream_vdm_task(struct pumice_stream *s)
{
	const struct pumice_vdm_task task = { 0 };
	u32 words[PUMICE_VDM_TASK_WORDS];

	pumice_vdm_task_pack(words, &task);
	return stream_emit_draw(s, words, PUMICE_VDM_TASK_WORDS);
}

int pumice_stream_vdm_call(struct pumice_stream *s, uint64_t va)
{
	const struct pumice_vdm_call call = { .addr = va };
	u32 words[PUMICE_VDM_CALL_WORDS];
	int err = stream_check_va(s, "call", va, 4);

	pumice_vdm_call_pack(words, &call);
	return err ? err : pumice_stream_emit(s, words, PUMICE_VDM_CALL_WORDS);
}

int pumice_stream_vdm_return(struct pumice_stream *s)
{
	const struct pumice_vdm_return ret = { 0 };
	u32 words[PUMICE_VDM_RETURN_WORDS];

	pumice_vdm_return_pack(words, &ret);
	return pumice_stream_emit(s, words, PUMICE_VDM_RETURN_WORDS);
}

int pumice_stream_vdm_link(struct pumice_stream *s, uint64_t va)
{
	const struct pumice_vdm_link link = { .addr = va };
	u32 words[PUMICE_VDM_LINK_WORDS];
	int err = stream_check_va(s, "link", va, 4);

	pumice_vdm_link_pack(words, &link);
	return err ? err : pumice_stream_emit(s, words, PUMICE_VDM_LINK_WORDS);
}

int pumice_stream_vdm_flush(struct pumice_stream *s, uint32_t flags)
{
	struct pumice_vdm_flush flush;
	u32 words[PUMICE_VDM_FLUSH_WORDS];
	int err = stream_check_flush(s, flags, 0);

	STREAM_SET_FLUSH(flush, flags);
	pumice_vdm_flush_pack(words, &flush);
	return err ? err : pumice_stream_emit(s, words, PUMICE_VDM_FLUSH_WORDS);
}

int pumice_stream_vdm_end(struct pumice_stream *s, uint64_t *va)
{
	const struct pumice_vdm_halt halt = { 0 };
	u32 words[PUMICE_VDM_HALT_WORDS];
	int err;

	pumice_vdm_halt_pack(words, &halt);
	err = pumice_stream_emit(s, words, PUMICE_VDM_HALT_WORDS);
	if (!err && va)
		*va = stream_start(s);
	return err;
}
