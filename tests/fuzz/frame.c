// SPDX-License-Identifier: MIT
/* A frame for fuzz targets: see frame.h. */
#include "frame.h"

#include <string.h>

#include "enc.h"

#define LIST_VA		FRAME_VA(FRAME_BUFFER)
#define VO(n)		usc_operand(PUMICE_USC_BANK_VO, (n), false)
#define O(n)		usc_operand(PUMICE_USC_BANK_O, (n), false)
#define PROGRAM_BYTES	512u	/* of a stage: PDS program, then USC program */
#define USC_AT		256u	/* bytes */
#define VARYINGS	2u

u32 *frame_record(struct frame *f, u32 record)
{
	return (u32 *)(void *)(f->page[FRAME_STATE] + record * FRAME_RECORD_BYTES);
}

static void map_pages(struct fixture *r, struct frame *f)
{
	u64 bus = testmem_alloc(r->tm, (FRAME_ALL_PAGES - 2) * 4096ull, 4096);
	u32 i;

	f->page[FRAME_STREAM] = (u8 *)f->vm.stream;
	f->page[FRAME_CODE] = (u8 *)f->vm.code;
	for (i = FRAME_STATE; i < FRAME_ALL_PAGES; i++, bus += 4096) {
		const struct pumice_mmu_pt_entry pte = {
			.valid = true, .addr = bus,
			.pm_owned = i >= FRAME_REGIONS && i < FRAME_VM_PAGES,
		};

		f->vm.pt[i] = pumice_mmu_pt_entry_pack64(&pte);
		f->page[i] = testmem_host(r->tm, bus);
		memset(f->page[i], 0, 4096);
	}
}

struct pumice_stage frame_stage(struct frame *f, u32 number, struct pumice_pds_insn first,
				const struct pumice_usc_insn *insns, u32 count)
{
	u8 *at = f->page[FRAME_CODE] + number * PROGRAM_BYTES;
	const u64 va = FX_CODE_VA + number * PROGRAM_BYTES;
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = va + USC_AT, .insns = count + 1,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };
	u32 *pds = (u32 *)(void *)at, *usc = (u32 *)(void *)(at + USC_AT), i;

	pumice_pds_pack(pds, &first);
	pumice_pds_pack(pds + PUMICE_PDS_WORDS, &task);
	pumice_pds_pack(pds + 2 * PUMICE_PDS_WORDS, &end);
	for (i = 0; i < count; i++)
		usc_put(usc, i, insns[i]);
	usc_put(usc, count, INSN(END));
	return (struct pumice_stage){ .pds_addr = va, .pds_insns = 3 };
}

static void put_geometry_state(struct frame *f)
{
	const struct pumice_usc_insn program[] = {
		INSN(UVSW, .dst = VO(0), .src0 = V(0)), INSN(UVSW, .dst = VO(1), .src0 = V(1)),
		INSN(UVSW, .dst = VO(2), .src0 = V(2)), INSN(UVSW, .dst = VO(3), .src0 = V(3)),
		INSN(UVSW, .dst = VO(4), .src0 = V(0)), INSN(UVSW, .dst = VO(5), .src0 = V(1)),
	};
	struct pumice_stage stage = frame_stage(f, FRAME_VERTEX, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_ATTR, .bank = PUMICE_PDS_BANK_V,
		.kind = PUMICE_ATTR_KIND_F32, .comps = 4, .elements = FRAME_VERTICES,
		.addr = FRAME_VA(FRAME_DATA), .stride = 16,
	}, program, 6);
	struct pumice_vdm_state state = {
		.varyings = VARYINGS, .depth_clip = true,
		.scale_x = FRAME_SIZE / 2, .scale_y = FRAME_SIZE / 2,
		.scale_z = 1, .offset_x = FRAME_SIZE / 2,
		.offset_y = FRAME_SIZE / 2, .point_width = 3, .line_width = 2,
		.isp_state = FRAME_RECORD_VA(FRAME_ISP_STATE),
		.tsp_state = FRAME_RECORD_VA(FRAME_TSP_STATE),
	};

	stage.attrs = 4;
	pumice_stage_pack(state.vertex, &stage);
	pumice_vdm_state_pack(frame_record(f, FRAME_VDM_STATE), &state);
}

static void put_object_state(struct frame *f)
{
	const struct pumice_usc_insn program[] = {
		INSN(MOV, .dst = O(0), .mask = ALWAYS, .src0 = V(0)),
	};
	struct pumice_stage stage = frame_stage(f, FRAME_FRAGMENT, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TEXTURE, .bank = PUMICE_PDS_BANK_V,
		.mode = PUMICE_USC_ITERATE_PERSPECTIVE, .dim = PUMICE_TEXTURE_DIM_2D,
		.addr = FRAME_RECORD_VA(FRAME_TEXTURE),
	}, program, 1);
	const struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_LESS_EQUAL, .depth_write = true,
		.scissor_x1 = FRAME_SIZE, .scissor_y1 = FRAME_SIZE, .sample_mask = 0xf,
		.mask_op = PUMICE_MASK_OP_INVERT,
	};
	struct pumice_tsp_state tsp = { .varyings = VARYINGS };

	stage.attrs = 4;
	pumice_stage_pack(tsp.fragment, &stage);
	pumice_isp_state_pack(frame_record(f, FRAME_ISP_STATE), &isp);
	pumice_tsp_state_pack(frame_record(f, FRAME_TSP_STATE), &tsp);
}

static void put_render(struct frame *f)
{
	const struct pumice_usc_insn program[] = {
		INSN(PBE, .src0 = SH(0)),
	};
	struct pumice_stage stage = frame_stage(f, FRAME_END_OF_TILE, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .count = 8,
		.addr = FRAME_RECORD_VA(FRAME_PBE),
	}, program, 1);
	struct pumice_pdm_render render = {
		.outputs = 1, .depth_store = true, .depth_format = PUMICE_DEPTH_FORMAT_D32F,
		.clear_depth = 1, .depth_addr = FRAME_VA(FRAME_DEPTH),
		.depth_stride = FRAME_SIZE * 4,
		.mask_plane = true, .mask_load = true, .mask_store = true,
		.mask_addr = FRAME_VA(FRAME_DATA) + FRAME_MASK_AT, .mask_stride = FRAME_SIZE / 8,
	};
	const struct pumice_pbe_state pbe = {
		.addr = FRAME_VA(FRAME_TARGET), .format = PUMICE_FORMAT_R32_FLOAT,
		.width = FRAME_SIZE - 1, .height = FRAME_SIZE - 1, .write_mask = 1,
	};

	stage.shared = 8;
	pumice_stage_pack(render.end_of_tile, &stage);
	pumice_pdm_render_pack(frame_record(f, FRAME_RENDER), &render);
	pumice_pbe_state_pack(frame_record(f, FRAME_PBE), &pbe);
}

/* A list of the four tiles, with a branch to the last ones. */
static void put_list(struct frame *f)
{
	const struct pumice_pdm_mode mode = { .addr = FRAME_RECORD_VA(FRAME_RENDER) };
	const struct pumice_pdm_link link = { .addr = FRAME_RECORD_VA(FRAME_LIST) + 64 };
	u32 *at = frame_record(f, FRAME_LIST), n;

	pumice_pdm_mode_pack(at, &mode);
	at += PUMICE_PDM_MODE_WORDS;
	for (n = 0; n < 4; n++) {
		const struct pumice_pdm_tile tile = { .x = (u16)(n % 2), .y = (u16)(n / 2) };

		if (n == 2) {
			pumice_pdm_link_pack(at, &link);
			at = frame_record(f, FRAME_LIST) + 16;
		}
		pumice_pdm_tile_pack(at++, &tile);
		pumice_pdm_branch_pack(at++, &(struct pumice_pdm_branch){ 0 });
		pumice_pdm_store_pack(at++, &(struct pumice_pdm_store){ .end = n == 3 });
	}
}

/* Write a texture, followed by its sampler. */
static void put_texture(struct frame *f)
{
	const struct pumice_texture texture = {
		.addr = FRAME_VA(FRAME_TEXELS), .format = PUMICE_FORMAT_RGBA8_UNORM,
		.layout = PUMICE_LAYOUT_TWIDDLED, .dim = PUMICE_TEXTURE_DIM_2D, .levels = 5,
		.width = 15, .height = 15, .swizzle_g = PUMICE_SWIZZLE_G,
		.swizzle_b = PUMICE_SWIZZLE_B, .swizzle_a = PUMICE_SWIZZLE_A,
	};
	const struct pumice_sampler sampler = {
		.min_linear = true, .mag_linear = true, .mip_filter = PUMICE_MIP_FILTER_LINEAR,
		.max_lod = 4,
	};
	u32 *at = frame_record(f, FRAME_TEXTURE);

	pumice_texture_pack(at, &texture);
	pumice_sampler_pack(at + PUMICE_TEXTURE_WORDS, &sampler);
	memset(f->page[FRAME_TEXELS], 0x55, 4096);
}

static void put_data(struct frame *f)
{
	static const float vertex[FRAME_VERTICES][4] = {
		{ -1, -1, 0.5f, 1 }, { 1, -1, 0.5f, 1 }, { -1, 1, 0.5f, 1 }, { 1, 1, 0.25f, 1 },
		{ 0, -0.5f, 0.1f, 2 }, { 3, 0.5f, 0.1f, 1 }, { -0.5f, 0.5f, 0.9f, 0.5f },
		{ 0, 0, -1, -1 },
	};
	u16 *index = (u16 *)(void *)(f->page[FRAME_DATA] + FRAME_INDICES_AT);
	u32 *words = (u32 *)(void *)(f->page[FRAME_DATA] + FRAME_INDIRECT_AT), i;

	memcpy(f->page[FRAME_DATA], vertex, sizeof(vertex));
	for (i = 0; i < 64; i++)
		index[i] = (u16)(i * 5 % FRAME_VERTICES);
	words[0] = 6;
	words[1] = 1;
}

static void put_stream(struct frame *f)
{
	const struct pumice_vdm_state_cmd state = { .addr = FRAME_RECORD_VA(FRAME_VDM_STATE) };
	const struct pumice_vdm_draw draw = {
		.topology = PUMICE_TOPOLOGY_TRIANGLE_STRIP, .count = 4, .instances = 1,
	};
	u32 *at = f->vm.stream;

	pumice_vdm_state_cmd_pack(at, &state);
	pumice_vdm_draw_pack(at + PUMICE_VDM_STATE_CMD_WORDS, &draw);
	at[PUMICE_VDM_STATE_CMD_WORDS + PUMICE_VDM_DRAW_WORDS] =
		(u32)PUMICE_VDM_TYPE_HALT << PUMICE_VDM_HALT__TYPE__SHIFT;
}

static void put_scene(struct fixture *r, struct frame *f, u32 pages)
{
	struct pumice_free_list list = {
		.base = LIST_VA, .pages = pages, .head = PUMICE_PM_NO_PAGE, .free = pages,
		.max_pages = FRAME_PAGES, .threshold = pages / 4, .min_free = pages,
	};
	struct pumice_scene scene = {
		.width = FRAME_SIZE, .height = FRAME_SIZE, .cores = 1,
		.regions = FRAME_VA(FRAME_REGIONS), .spill = FRAME_VA(FRAME_SPILL),
		.spill_bytes = 16 * 4096 / 256,
	};
	const struct pumice_scene_chain chain = {
		.head = PUMICE_PM_NO_PAGE, .tail = PUMICE_PM_NO_PAGE,
	};
	const u32 chains = PUMICE_PM_LISTS * PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y;
	u32 i;

	f->links = fx_fw_alloc(r, FRAME_PAGES * 4, &list.links);
	f->list = fx_fw_alloc(r, PUMICE_FREE_LIST_WORDS * 4, &scene.free_list0);
	pumice_free_list_pack(f->list, &list);
	f->scene = fx_fw_alloc(r, (PUMICE_SCENE_WORDS + chains * PUMICE_SCENE_CHAIN_WORDS) * 4,
			       &f->scene_addr);
	pumice_scene_pack(f->scene, &scene);
	for (i = 0; i < chains; i++)
		pumice_scene_chain_pack(f->scene + PUMICE_SCENE_WORDS +
					i * PUMICE_SCENE_CHAIN_WORDS, &chain);
}

void frame_make(struct fixture *r, struct frame *f, u32 pages)
{
	fx_vm(r, &f->vm);
	map_pages(r, f);
	put_geometry_state(f);
	put_object_state(f);
	put_render(f);
	put_list(f);
	put_texture(f);
	put_data(f);
	put_stream(f);
	put_scene(r, f, pages);
	fx_context_of(r, &f->vm, FWIF_DM_VDM, 1, &f->geometry);
	fx_context_of(r, &f->vm, FWIF_DM_PDM, 1, &f->fragment);
	f->gate = fx_fw_alloc(r, 4, &f->gate_addr);
}

void frame_submit(struct fixture *r, struct frame *f)
{
	struct fwif_cccb_render cmd = {
		.header = { FWIF_CCCB_GEOMETRY | FWIF_CACHES_ALL, sizeof(cmd) },
		.stream = FX_STREAM_VA, .seqno = 1, .scene = f->scene_addr,
		.render = FRAME_RECORD_VA(FRAME_LIST),
	};

	fx_bytes(&f->geometry, &cmd, sizeof(cmd));
	fx_update(&f->geometry, f->geometry.object_addr, 1);
	fx_wait_for(&f->fragment, f->geometry.object_addr, 1);
	fx_wait_for(&f->fragment, f->gate_addr, 1);
	cmd.header.type = FWIF_CCCB_FRAGMENT | FWIF_CACHES_ALL;
	cmd.stream = cmd.render;
	cmd.render = 0;
	fx_bytes(&f->fragment, &cmd, sizeof(cmd));
	fx_update(&f->fragment, f->fragment.object_addr, 1);
	fx_put_kick(r, &f->geometry);
	fx_put_kick(r, &f->fragment);
	fx_kick(r);
}

void frame_open(struct fixture *r, struct frame *f)
{
	*(volatile u32 *)f->gate = 1;
	fx_put_kick(r, &f->fragment);
	fx_kick(r);
}

/* Reply to a request for pages without adding any. */
static void deny_growth(struct fixture *r)
{
	struct fwif_kccb_cmd grown = { .type = FWIF_KCCB_FREE_LIST_GROWN };

	while (r->fwccb_ring->read != r->fwccb_ring->write) {
		const struct fwif_fwccb_msg *msg = &r->fwccb[r->fwccb_ring->read % FX_FWCCB];

		grown.object = msg->code;
		if (msg->type == FWIF_FWCCB_FREE_LIST_GROW)
			host_call(r, &grown);
		r->fwccb_ring->read = (r->fwccb_ring->read + 1) % FX_FWCCB;
	}
}

void frame_finish(struct fixture *r, struct fx_context *c, unsigned int patience)
{
	const struct fwif_job_result *result = host_end_job(r, c, 1, patience, deny_growth);

	FUZZ_CHECK(!result->fault || result->unit != PUMICE_UNIT_NONE, "fault %u of no unit",
		   result->fault);
}
