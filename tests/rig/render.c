// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Render and transfer contexts. See render.h. */
#include "render.h"

#include <stddef.h>
#include <string.h>

#include "check.h"
#include "pumice_formats.h"

#define LIST_PAGES	64u

struct drm_pumice_free_list_create render_list_args(u32 vm)
{
	return (struct drm_pumice_free_list_create){
		.vm = vm, .initial_pages = LIST_PAGES, .max_pages = 4 * LIST_PAGES,
		.grow_pages = LIST_PAGES, .threshold = 25,
	};
}

struct drm_pumice_hwrt_create render_hwrt_args(u32 vm, u32 list)
{
	return (struct drm_pumice_hwrt_create){
		.vm = vm, .width = RENDER_SIZE, .height = RENDER_SIZE, .samples = 1,
		.tile_size = DRM_PUMICE_TILE_32X32, .free_lists = { list, 0 },
	};
}

u32 need_free_list(int fd, struct drm_pumice_free_list_create args)
{
	CHECK_OK(gpu_free_list_create(fd, &args));
	CHECK(args.id);
	return args.id;
}

u32 need_hwrt(int fd, struct drm_pumice_hwrt_create args)
{
	CHECK_OK(gpu_hwrt_create(fd, &args));
	CHECK(args.id);
	return args.id;
}

struct render render_on(const struct fixture *fx)
{
	const struct pumice_pdm_render record = { .outputs = 1, .clear_depth = 1 };
	u32 words[PUMICE_PDM_RENDER_WORDS], halt[PUMICE_VDM_HALT_WORDS];
	struct render r = { .fx = *fx };

	r.context = need_context_of(fx->fd, fx->vm, DRM_PUMICE_CONTEXT_RENDER);
	r.list = need_free_list(fx->fd, render_list_args(fx->vm));
	r.hwrt = need_hwrt(fx->fd, render_hwrt_args(fx->vm, r.list));
	pumice_vdm_halt_pack(halt, &(struct pumice_vdm_halt){ 0 });
	r.geometry = fx_place(&r.fx, halt, PUMICE_VDM_HALT_WORDS);
	pumice_pdm_render_pack(words, &record);
	r.fragment = fx_place(&r.fx, words, PUMICE_PDM_RENDER_WORDS);
	return r;
}

struct render render_open(void)
{
	struct fixture fx = fx_open();

	return render_on(&fx);
}

void render_pair(const struct render *r, u32 data, struct drm_pumice_job *jobs)
{
	const struct drm_pumice_job job = {
		.context = r->context, .hwrt = r->hwrt, .hwrt_data = data,
	};

	jobs[0] = job;
	jobs[0].type = DRM_PUMICE_JOB_GEOMETRY;
	jobs[0].stream = r->geometry;
	jobs[1] = job;
	jobs[1].type = DRM_PUMICE_JOB_FRAGMENT;
	jobs[1].stream = r->fragment;
}

void render_submit(struct render *r, u32 data, u64 geometry, u64 fragment)
{
	struct drm_pumice_sync sync = then_signal(r->fx.sync, 0);
	struct drm_pumice_job jobs[2];

	render_pair(r, data, jobs);
	jobs[0].stream = geometry;
	jobs[1].stream = fragment;
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&sync, 1);
	CHECK_OK(gpu_submit(r->fx.fd, jobs, 2, NULL));
}

void render_submit_past_geometry(struct render *r, u64 geometry, u64 fragment)
{
	struct drm_pumice_sync signals[2] = {
		then_signal(need_sync(r->fx.fd), 0), then_signal(r->fx.sync, 0),
	};
	struct drm_pumice_job jobs[2];

	render_pair(r, 0, jobs);
	jobs[0].stream = geometry;
	jobs[1].stream = fragment;
	jobs[0].syncs = (struct drm_pumice_array)ARRAY_OF(&signals[0], 1);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&signals[1], 1);
	CHECK_OK(gpu_submit(r->fx.fd, jobs, 2, NULL));
	need_wait(r->fx.fd, signals[0].handle, 0);
}

void render_block(struct render *r)
{
	const u64 busy = need_stats(r->fx.fd).geometry_busy;

	render_submit(r, 0, geometry_loop_stream(&r->fx), r->fragment);
	while (need_stats(r->fx.fd).geometry_busy == busy)
		;
}

int render_run(struct render *r, u32 data, u64 geometry, u64 fragment)
{
	render_submit(r, data, geometry, fragment);
	return fx_wait(&r->fx);
}

void render_check_works(struct render *r)
{
	CHECK_EQUAL(render_run(r, 0, r->geometry, r->fragment), 1);
	CHECK_EQUAL(render_run(r, 1, r->geometry, r->fragment), 1);
}

/* A PDS program of some instructions and the task, as a stage. */
static void place_stage(struct fixture *fx, const struct shader *shader,
			const struct pumice_pds_insn *inputs, u32 count,
			struct pumice_stage stage, u32 *words)
{
	u64 code = fx_place(fx, shader->words, shader->insns * 4);
	u32 pds[4 * PUMICE_PDS_WORDS], n;

	CHECK(count <= 2);
	for (n = 0; n < count; n++)
		pumice_pds_pack(pds + n * PUMICE_PDS_WORDS, &inputs[n]);
	pumice_pds_pack(pds + n++ * PUMICE_PDS_WORDS, &(struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TASK, .addr = code, .insns = shader->insns,
	});
	pumice_pds_pack(pds + n++ * PUMICE_PDS_WORDS, &(struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_END,
	});
	stage.pds_addr = fx_place(fx, pds, n * PUMICE_PDS_WORDS);
	stage.pds_insns = (u16)n;
	pumice_stage_pack(words, &stage);
}

static u64 place_isp_state(struct fixture *fx)
{
	u32 words[PUMICE_ISP_STATE_WORDS];

	pumice_isp_state_pack(words, &(struct pumice_isp_state){
		.depth_func = PUMICE_COMPARE_ALWAYS, .scissor_x1 = RENDER_SIZE,
		.scissor_y1 = RENDER_SIZE, .sample_mask = 0xf,
	});
	return fx_place(fx, words, PUMICE_ISP_STATE_WORDS);
}

/* Fragments with the interpolated colour, or endless ones. */
static u64 place_tsp_state(struct fixture *fx, bool endless)
{
	const struct pumice_pds_insn iterate = {
		.opcode = PUMICE_PDS_OP_ITERATE, .bank = PUMICE_PDS_BANK_V, .comps = 3,
	};
	const struct shader shader = endless ? shader_spin() : shader_fragment();
	struct pumice_tsp_state state = { .varyings = 3 };
	u32 words[PUMICE_TSP_STATE_WORDS];

	place_stage(fx, &shader, &iterate, 1, (struct pumice_stage){ .attrs = 3 },
		    state.fragment);
	pumice_tsp_state_pack(words, &state);
	return fx_place(fx, words, PUMICE_TSP_STATE_WORDS);
}

/* The whole target; vertices at @va. */
static u64 place_vdm_state(struct fixture *fx, u64 va, u32 count, bool endless)
{
	const float half = RENDER_SIZE / 2;
	const struct pumice_pds_insn attr = {
		.opcode = PUMICE_PDS_OP_ATTR, .bank = PUMICE_PDS_BANK_V,
		.kind = PUMICE_ATTR_KIND_F32, .comps = 4, .elements = count, .addr = va,
		.stride = sizeof(struct vertex),
	};
	struct pumice_pds_insn inputs[2] = { attr, attr };
	struct pumice_vdm_state state = {
		.varyings = 3, .scale_x = half, .scale_y = half, .scale_z = 1,
		.offset_x = half, .offset_y = half, .point_width = 1, .line_width = 1,
	};
	const struct shader shader = shader_vertex();
	u32 words[PUMICE_VDM_STATE_WORDS];

	inputs[1].reg = 4;
	inputs[1].addr += offsetof(struct vertex, colour);
	place_stage(fx, &shader, inputs, 2, (struct pumice_stage){ .attrs = 8 }, state.vertex);
	state.isp_state = place_isp_state(fx);
	state.tsp_state = place_tsp_state(fx, endless);
	pumice_vdm_state_pack(words, &state);
	return fx_place(fx, words, PUMICE_VDM_STATE_WORDS);
}

static u64 draw_stream(struct render *r, u64 va, u32 count, bool endless)
{
	u32 words[PUMICE_VDM_STATE_CMD_WORDS + PUMICE_VDM_DRAW_WORDS + PUMICE_VDM_HALT_WORDS];
	u32 n = 0;

	pumice_vdm_state_cmd_pack(words, &(struct pumice_vdm_state_cmd){
		.addr = place_vdm_state(&r->fx, va, count, endless),
	});
	n += PUMICE_VDM_STATE_CMD_WORDS;
	pumice_vdm_draw_pack(words + n, &(struct pumice_vdm_draw){
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .count = count, .instances = 1,
	});
	n += PUMICE_VDM_DRAW_WORDS;
	pumice_vdm_halt_pack(words + n, &(struct pumice_vdm_halt){ 0 });
	return fx_place(&r->fx, words, n + PUMICE_VDM_HALT_WORDS);
}

u64 render_draw_stream(struct render *r, u64 va, u32 count)
{
	return draw_stream(r, va, count, false);
}

u64 render_loop_stream(struct render *r, u64 va, u32 count)
{
	return draw_stream(r, va, count, true);
}

void render_hang_in_fragment(struct render *r)
{
	static const float corner[3][2] = { { -1, -1 }, { 3, -1 }, { -1, 3 } };
	struct vertex *v = (struct vertex *)r->fx.data.cpu;
	u32 i;

	for (i = 0; i < 3; i++)
		v[i] = (struct vertex){
			.x = corner[i][0], .y = corner[i][1], .z = 0.5f, .w = 1,
		};
	render_submit_past_geometry(r, render_loop_stream(r, r->fx.data.va, 3), r->fragment);
}

u64 render_store_record(struct render *r, u64 va)
{
	struct pumice_pds_insn dma = {
		.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH,
		.count = PUMICE_PBE_STATE_WORDS,
	};
	struct pumice_pdm_render record = { .outputs = 4, .clear_depth = 1 };
	const struct shader shader = shader_tile();
	u32 words[PUMICE_PDM_RENDER_WORDS];

	pumice_pbe_state_pack(words, &(struct pumice_pbe_state){
		.addr = va, .format = PUMICE_FORMAT_RGBA8_UNORM, .width = RENDER_SIZE - 1,
		.height = RENDER_SIZE - 1, .write_mask = 0xf,
	});
	dma.addr = fx_place(&r->fx, words, PUMICE_PBE_STATE_WORDS);
	place_stage(&r->fx, &shader, &dma, 1,
		    (struct pumice_stage){ .shared = PUMICE_PBE_STATE_WORDS }, record.end_of_tile);
	pumice_pdm_render_pack(words, &record);
	return fx_place(&r->fx, words, PUMICE_PDM_RENDER_WORDS);
}

static u32 halt_transfer(u32 *words)
{
	pumice_tdm_halt_pack(words, &(struct pumice_tdm_halt){ 0 });
	return PUMICE_TDM_HALT_WORDS;
}

u64 transfer_copy_stream(struct fixture *fx, u64 to, u64 from, u32 bytes)
{
	u32 words[PUMICE_TDM_COPY_WORDS + PUMICE_TDM_HALT_WORDS];

	pumice_tdm_copy_pack(words, &(struct pumice_tdm_copy){
		.src = from, .dst = to, .bytes = bytes,
	});
	return fx_place(fx, words, PUMICE_TDM_COPY_WORDS +
			halt_transfer(words + PUMICE_TDM_COPY_WORDS));
}

u64 transfer_fill_stream(struct fixture *fx, u64 to, u32 value, u32 count)
{
	u32 words[PUMICE_TDM_FILL_WORDS + PUMICE_TDM_HALT_WORDS];

	pumice_tdm_fill_pack(words, &(struct pumice_tdm_fill){
		.dst = to, .words = count, .value = value,
	});
	return fx_place(fx, words, PUMICE_TDM_FILL_WORDS +
			halt_transfer(words + PUMICE_TDM_FILL_WORDS));
}

/* Address that the next fx_place() uses. */
static u64 next_place(struct fixture *fx)
{
	return fx_place(fx, NULL, 0);
}

/* A stream of fills and a link back: a link alone could be detected by its own address. */
u64 transfer_loop_stream(struct fixture *fx)
{
	u32 words[PUMICE_TDM_FILL_WORDS + PUMICE_TDM_LINK_WORDS];
	u64 at = next_place(fx);

	pumice_tdm_fill_pack(words, &(struct pumice_tdm_fill){
		.dst = fx->data.va, .words = 1, .value = 1,
	});
	pumice_tdm_link_pack(words + PUMICE_TDM_FILL_WORDS, &(struct pumice_tdm_link){
		.addr = at,
	});
	CHECK_EQUAL(fx_place(fx, words, PUMICE_TDM_FILL_WORDS + PUMICE_TDM_LINK_WORDS), at);
	return at;
}

u64 geometry_loop_stream(struct fixture *fx)
{
	u32 words[PUMICE_VDM_LINK_WORDS];
	u64 at = next_place(fx);

	pumice_vdm_link_pack(words, &(struct pumice_vdm_link){ .addr = at });
	CHECK_EQUAL(fx_place(fx, words, PUMICE_VDM_LINK_WORDS), at);
	return at;
}
