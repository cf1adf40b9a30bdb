// SPDX-License-Identifier: MIT
/* Two users of one GPU: see canary.h. */
#include "canary.h"

#include <stdlib.h>
#include <string.h>

#include "enc.h"

#define VO(n)		usc_operand(PUMICE_USC_BANK_VO, (n), false)
#define O(n)		usc_operand(PUMICE_USC_BANK_O, (n), false)
#define I(n)		usc_operand(PUMICE_USC_BANK_I, (n), false)
#define SL(n)		usc_operand(PUMICE_USC_BANK_SL, (n), false)
#define CF(n)		usc_operand(PUMICE_USC_BANK_CF, (n), false)
#define IDX(n)		usc_operand(PUMICE_USC_BANK_IDX, (n), false)
#define NOTHING		usc_operand(PUMICE_USC_BANK_NONE, 0, false)

#define INTERNALS	4u	/* of OWN_REGS, as many as slot registers */
#define OUTPUTS		4u
#define VARYINGS	8u	/* not written by the second user's vertex program */
#define PATIENCE	2000u	/* polls of a job */

/* Pages of FRAME_WORK: compute code, then its output. */
#define CODE_PAGES	8u
#define CODE_VA		FRAME_VA(FRAME_WORK)
#define OUT_VA		FRAME_VA(FRAME_WORK + CODE_PAGES)
#define OUT_BYTES	((FRAME_WORK_PAGES - CODE_PAGES) * 4096u)
#define PDS_AT		0u		/* bytes in the code */
#define USC_AT		(64u * 16u)
#define STREAM_AT	2048u		/* of compute, in the page FRAME_STREAM */
#define UNMAPPED	0x7f00000000ull

/* Compute work-groups; the first user's are as large as a USC allows. */
#define FILL_TEMPS	62u
#define FILL_ATTRS	62u
#define FILL_SHARED	1024u
#define FILL_LOCAL	(64u << 10)
#define FILL_INSTANCES	1024u
#define FILL_GROUPS	6u
#define LOOK_TEMPS	24u
#define LOOK_ATTRS	16u
#define LOOK_SHARED	16u
#define LOOK_LOCAL	(32u << 10)
/* Rows that are stored for each instance before local memory. */
#define LOOK_ROWS	(LOOK_TEMPS + LOOK_ATTRS + LOOK_SHARED + 2 * INTERNALS + \
			 PUMICE_USC_INDEX_REGS)
#define LOOK_LOADS	64u	/* of local memory, at most */

struct user {
	struct frame frame;
	struct fx_context compute;
	u32 seqno;
};

struct canary {
	struct fixture *r;
	struct user first, second;
	bool filling;		/* the first user's jobs have not ended */
};

/* ------------------------------------------------------------ programs */

/* A compute program under construction. */
struct writer {
	u32 *code;
	u32 insns;
};

static void put(struct writer *w, struct pumice_usc_insn insn)
{
	FUZZ_CHECK(USC_AT + (w->insns + 1) * 16 <= CODE_PAGES * 4096, "no room for the program");
	usc_put(w->code, w->insns++, insn);
}

static void put_end(struct writer *w, enum canary_end end)
{
	if (end == CANARY_FAULTED)
		put(w, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(0),
			    .src1 = R(1)));
	if (end == CANARY_KILLED || end == CANARY_RESET)
		put(w, INSN(JUMP, .target = w->insns));
	put(w, INSN(END));
}

static u32 *work(struct user *u, u32 byte)
{
	return (u32 *)(void *)(u->frame.page[FRAME_WORK] + byte);
}

/* Write the stream of one launch; the next compute job runs it and the program. */
static void put_launch(struct user *u, struct pumice_cdm_state state, u32 groups)
{
	const struct pumice_cdm_launch launch = {
		.groups_x = groups, .groups_y = 1, .groups_z = 1,
	};
	u32 *at = u->frame.vm.stream + STREAM_AT / 4;

	state.pds_addr = CODE_VA + PDS_AT;
	state.size_y = state.size_z = 1;
	pumice_cdm_state_pack(at, &state);
	pumice_cdm_launch_pack(at + PUMICE_CDM_STATE_WORDS, &launch);
	at[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS] =
		(u32)PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
}

static u16 put_pds(struct user *u, const struct pumice_pds_insn *insns, u32 count, u32 usc_insns)
{
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = CODE_VA + USC_AT, .insns = usc_insns,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };
	u32 *at = work(u, PDS_AT), i;

	for (i = 0; i < count; i++)
		pumice_pds_pack(at + i * PUMICE_PDS_WORDS, &insns[i]);
	pumice_pds_pack(at + count * PUMICE_PDS_WORDS, &task);
	pumice_pds_pack(at + (count + 1) * PUMICE_PDS_WORDS, &end);
	return (u16)(count + 2);
}

/* Set every register of the task, and the group's local memory, to the word. */
static void put_fill_compute(struct user *u, enum canary_end end)
{
	struct pumice_pds_insn pds[] = {
		{ .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .count = FILL_SHARED,
		  .addr = FRAME_VA(FRAME_TEXELS) },
		/* A faulting program accesses an unmapped address. */
		{ .opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH, .reg = 1,
		  .imm = (u32)(UNMAPPED >> 32) },
		{ .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_V, .count = FILL_ATTRS,
		  .addr = FRAME_VA(FRAME_TEXELS) },
		{ .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V,
		  .source = PUMICE_PDS_SOURCE_LOCAL_LINEAR },
	};
	struct writer w = { work(u, USC_AT), 0 };
	u32 n;

	put(&w, INSN(SHL, .dst = R(0), .src0 = V(0), .src1 = IMM, .imm = 2));
	for (n = 1; n < FILL_TEMPS; n++)
		put(&w, INSN(MOV, .dst = R(n), .mask = ALWAYS, .src0 = IMM, .imm = CANARY));
	for (n = 0; n < INTERNALS; n++) {
		put(&w, INSN(MOV, .dst = I(n), .mask = ALWAYS, .src0 = IMM, .imm = CANARY));
		put(&w, INSN(MOV, .dst = SL(n), .mask = ALWAYS, .src0 = IMM, .imm = CANARY));
	}
	for (n = 0; n < PUMICE_USC_INDEX_REGS; n++)
		put(&w, INSN(MOV, .dst = IDX(n), .mask = ALWAYS, .src0 = IMM, .imm = CANARY));
	for (n = 0; n < FILL_LOCAL; n += FILL_INSTANCES * 4) {
		put(&w, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(0), .src1 = R(1)));
		put(&w, INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = IMM,
			     .imm = FILL_INSTANCES * 4));
	}
	put(&w, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = CANARY & ~3u));
	put_end(&w, end);
	put_launch(u, (struct pumice_cdm_state){
		.pds_insns = put_pds(u, pds, 4, w.insns), .temps = FILL_TEMPS,
		.attrs = FILL_ATTRS, .shared = FILL_SHARED, .local_bytes = FILL_LOCAL,
		.size_x = FILL_INSTANCES,
	}, FILL_GROUPS);
}

/* Store a register's row, rotated by some lanes, at the offset in R(0); advance *at. */
static void put_store(struct writer *w, u32 reg, u32 rotate, u32 step)
{
	put(w, INSN(ROTATE, .dst = R(1), .src0 = reg, .src1 = IMM, .imm = rotate % PUMICE_LANES));
	put(w, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(0), .src1 = R(1)));
	put(w, INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = step));
}

static void put_look_compute(struct user *u, const struct canary_look *look)
{
	const u32 instances = look->instances ? 1 + look->instances % 192 : 128;
	const u32 groups = look->groups ? 1 + look->groups % 4 : 4, step = instances * groups * 4;
	const struct pumice_pds_insn pds[] = {
		{ .opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH, .imm = (u32)OUT_VA },
		{ .opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH, .reg = 1,
		  .imm = (u32)(OUT_VA >> 32) },
		{ .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V,
		  .source = PUMICE_PDS_SOURCE_GLOBAL_X },
		{ .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V, .reg = 1,
		  .source = PUMICE_PDS_SOURCE_LOCAL_LINEAR },
	};
	struct writer w = { work(u, USC_AT), 0 };
	u32 n, loads;

	put(&w, INSN(SHL, .dst = R(0), .src0 = V(0), .src1 = IMM, .imm = 2));
	for (n = 2; n < LOOK_TEMPS; n++)
		put_store(&w, R(n), look->rotate, step);
	for (n = 2; n < LOOK_ATTRS; n++)
		put_store(&w, V(n), look->rotate, step);
	for (n = 0; n < INTERNALS; n++) {
		put_store(&w, I(n), look->rotate, step);
		put_store(&w, SL(n), look->rotate, step);
	}
	for (n = 0; n < PUMICE_USC_INDEX_REGS; n++)
		put_store(&w, IDX(n), look->rotate, step);
	for (n = 2; n < LOOK_SHARED; n++) {
		put(&w, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = SH(n)));
		put_store(&w, R(2), 0, step);
	}
	put(&w, INSN(SHL, .dst = R(3), .src0 = V(1), .src1 = IMM, .imm = 2));
	for (loads = 0; loads < LOOK_LOADS && (loads + 1) * instances * 4 <= LOOK_LOCAL &&
			(LOOK_ROWS + loads + 1) * step <= OUT_BYTES; loads++) {
		put(&w, INSN(LOCAL_LOAD32, .dst = R(2), .mask = ALWAYS, .src0 = R(3)));
		put(&w, INSN(ADD, .dst = R(3), .src0 = R(3), .src1 = IMM, .imm = instances * 4));
		put_store(&w, R(2), 0, step);
	}
	put(&w, INSN(END));
	put_launch(u, (struct pumice_cdm_state){
		.pds_insns = put_pds(u, pds, 4, w.insns), .temps = LOOK_TEMPS,
		.attrs = LOOK_ATTRS, .shared = LOOK_SHARED, .local_bytes = LOOK_LOCAL,
		.size_x = (u16)instances,
	}, groups);
}

/* ------------------------------------------------------------ frames */

static void set_vertex(struct frame *f, const struct pumice_usc_insn *insns, u32 count)
{
	const struct pumice_pds_insn attr = {
		.opcode = PUMICE_PDS_OP_ATTR, .bank = PUMICE_PDS_BANK_V,
		.kind = PUMICE_ATTR_KIND_F32, .comps = 4, .elements = FRAME_VERTICES,
		.addr = FRAME_VA(FRAME_DATA), .stride = 16,
	};
	struct pumice_stage stage = frame_stage(f, FRAME_VERTEX, attr, insns, count);
	struct pumice_vdm_state state;

	stage.attrs = 12;
	stage.temps = 12;
	pumice_vdm_state_unpack(frame_record(f, FRAME_VDM_STATE), &state);
	pumice_stage_pack(state.vertex, &stage);
	state.varyings = VARYINGS;
	pumice_vdm_state_pack(frame_record(f, FRAME_VDM_STATE), &state);
}

static void set_fragment(struct frame *f, struct pumice_pds_insn first,
			 const struct pumice_usc_insn *insns, u32 count)
{
	struct pumice_stage stage = frame_stage(f, FRAME_FRAGMENT, first, insns, count);
	struct pumice_tsp_state tsp;

	stage.attrs = 12;
	stage.temps = 12;
	stage.shared = 24;
	stage.coeffs = 3 * (VARYINGS + 1);
	pumice_tsp_state_unpack(frame_record(f, FRAME_TSP_STATE), &tsp);
	pumice_stage_pack(tsp.fragment, &stage);
	tsp.varyings = VARYINGS;
	pumice_tsp_state_pack(frame_record(f, FRAME_TSP_STATE), &tsp);
}

static void set_render(struct frame *f, u32 output, bool background)
{
	struct pumice_stage stage = { 0 };
	struct pumice_pdm_render render;
	struct pumice_pbe_state pbe;

	pumice_pdm_render_unpack(frame_record(f, FRAME_RENDER), &render);
	render.outputs = OUTPUTS;
	if (background)
		stage = frame_stage(f, FRAME_BACKGROUND, (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH,
		}, NULL, 0);
	stage.shared = background;
	pumice_stage_pack(render.background, &stage);
	pumice_pdm_render_pack(frame_record(f, FRAME_RENDER), &render);
	pumice_pbe_state_unpack(frame_record(f, FRAME_PBE), &pbe);
	pbe.source = (u8)(output % OUTPUTS);
	pumice_pbe_state_pack(frame_record(f, FRAME_PBE), &pbe);
}

static void set_draw(struct frame *f, enum pumice_topology topology, u32 count)
{
	pumice_vdm_draw_pack(f->vm.stream + PUMICE_VDM_STATE_CMD_WORDS, &(struct pumice_vdm_draw){
		.topology = topology, .count = count, .instances = 1,
	});
}

static void put_fill_vertex(struct frame *f)
{
	struct pumice_usc_insn insns[5 + VARYINGS];
	u32 n;

	insns[0] = INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = IMM, .imm = CANARY);
	for (n = 0; n < 4; n++)
		insns[1 + n] = INSN(UVSW, .dst = VO(n), .src0 = V(n));
	for (n = 0; n < VARYINGS; n++)
		insns[5 + n] = INSN(UVSW, .dst = VO(4 + n), .src0 = R(3));
	set_vertex(f, insns, 5 + VARYINGS);
}

/* Sources of the word in the first user's fragment programs: one of each. */
static struct pumice_pds_insn fill_first(u32 variant)
{
	switch (variant % 3) {
	case 0:
		return (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_TEXTURE, .bank = PUMICE_PDS_BANK_V, .reg = 1,
			.mode = PUMICE_USC_ITERATE_LINEAR, .dim = PUMICE_TEXTURE_DIM_2D,
			.addr = FRAME_RECORD_VA(FRAME_TEXTURE),
		};
	case 1:
		return (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .count = 24,
			.addr = FRAME_VA(FRAME_TEXELS),
		};
	default:
		return (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_COEFF, .bank = PUMICE_PDS_BANK_CF, .comps = 4,
		};
	}
}

static void put_fill_frame(struct frame *f, enum canary_end end, u32 variant)
{
	struct pumice_usc_insn insns[15];
	u32 n, count = 0;

	for (n = 0; n < OUTPUTS; n++)
		insns[count++] = INSN(MOV, .dst = O(n), .mask = ALWAYS, .src0 = IMM, .imm = CANARY);
	for (n = 0; n < 2; n++) {
		insns[count++] = INSN(MOV, .dst = R(n + variant % 8), .mask = ALWAYS, .src0 = IMM,
				      .imm = CANARY);
		insns[count++] = INSN(MOV, .dst = V(n + variant % 8), .mask = ALWAYS, .src0 = IMM,
				      .imm = CANARY);
		insns[count++] = INSN(MOV, .dst = I(n), .mask = ALWAYS, .src0 = IMM, .imm = CANARY);
		insns[count++] = INSN(MOV, .dst = SL(n), .mask = ALWAYS, .src0 = IMM,
				      .imm = CANARY);
	}
	if (end == CANARY_KILLED || end == CANARY_RESET) {
		insns[count] = INSN(JUMP, .target = count);
		count++;
	}
	if (end == CANARY_FAULTED)
		insns[count++] = INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = NOTHING,
				      .src0 = R(variant % 8), .src1 = R(0));
	put_fill_vertex(f);
	set_fragment(f, fill_first(variant), insns, count);
	set_render(f, 0, false);
}

/* Return the register that is checked, in the second user's fragment program. */
static u32 looked_at(const struct canary_look *look)
{
	switch (look->store) {
	case CANARY_ATTR:
		return V(4 + look->number % 8);
	case CANARY_REST:
		return V(look->number % 4);
	case CANARY_VARYING:
	case CANARY_VERTEX_TEMP:
		return V(0);
	case CANARY_INTERNAL:
		return I(look->number % INTERNALS);
	case CANARY_SLOT:
		return SL(look->number % INTERNALS);
	case CANARY_OUTPUT:
		return O(1 + look->number % (OUTPUTS - 1));
	default:
		return R(1 + look->number % 11);
	}
}

static struct pumice_pds_insn look_first(const struct canary_look *look)
{
	switch (look->store) {
	case CANARY_REST:
		return (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_TEXTURE, .bank = PUMICE_PDS_BANK_V,
			.mode = PUMICE_USC_ITERATE_PERSPECTIVE, .dim = PUMICE_TEXTURE_DIM_2D,
			.addr = FRAME_RECORD_VA(FRAME_TEXTURE),
		};
	case CANARY_VARYING:
	case CANARY_VERTEX_TEMP:
		return (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_ITERATE, .bank = PUMICE_PDS_BANK_V, .comps = 1,
			.varying = (u8)(look->number % VARYINGS),
			.mode = PUMICE_USC_ITERATE_LINEAR,
		};
	default:
		return (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH,
		};
	}
}

static void put_look_vertex(struct frame *f, const struct canary_look *look)
{
	struct pumice_usc_insn insns[4 + VARYINGS];
	u32 n, count = 0;

	for (n = 0; n < 4; n++)
		insns[count++] = INSN(UVSW, .dst = VO(n), .src0 = V(n));
	for (n = 0; look->store == CANARY_VERTEX_TEMP && n < VARYINGS; n++)
		insns[count++] = INSN(UVSW, .dst = VO(4 + n),
				      .src0 = n % 2 ? R(n + look->number % 4) :
						      V(4 + (n + look->number) % 8));
	set_vertex(f, insns, count);
}

static void put_look_frame(struct frame *f, const struct canary_look *look)
{
	struct pumice_usc_insn insns[4];
	u32 count = 0;

	if (look->store == CANARY_SHARED)
		insns[count++] = INSN(MOV, .dst = R(0), .mask = ALWAYS,
				      .src0 = SH(1 + look->number % 23));
	else if (look->store == CANARY_COEFF)
		insns[count++] = INSN(MOV, .dst = R(0), .mask = ALWAYS,
				      .src0 = CF(look->number % (3 * VARYINGS)));
	else
		insns[count++] = INSN(ROTATE, .dst = R(0), .src0 = looked_at(look), .src1 = IMM,
				      .imm = look->rotate % PUMICE_LANES);
	insns[count++] = INSN(MOV, .dst = O(0), .mask = ALWAYS, .src0 = R(0));
	put_look_vertex(f, look);
	set_fragment(f, look_first(look), insns, count);
	set_render(f, look->output, look->store == CANARY_BACKGROUND);
	if (look->store == CANARY_BACKGROUND)
		set_draw(f, PUMICE_TOPOLOGY_POINTS, 0);
	else if (look->points)
		set_draw(f, PUMICE_TOPOLOGY_POINTS, 5);
	else
		set_draw(f, PUMICE_TOPOLOGY_TRIANGLE_STRIP, 4);
}

/* ------------------------------------------------------------ users */

static void fill_page(u8 *page, u32 word)
{
	u32 i;

	for (i = 0; i < 1024; i++)
		memcpy(page + i * 4, &word, sizeof(word));
}

/* A texture of floats, all of them the word. */
static void set_texture(struct frame *f, u32 word)
{
	u32 *at = frame_record(f, FRAME_TEXTURE);
	struct pumice_texture texture;

	pumice_texture_unpack(at, &texture);
	texture.format = PUMICE_FORMAT_R32_FLOAT;
	texture.levels = 1;
	pumice_texture_pack(at, &texture);
	fill_page(f->page[FRAME_TEXELS], word);
}

static void make_user(struct canary *c, struct user *u, u32 priority, u32 word)
{
	memset(u, 0, sizeof(*u));
	frame_make(c->r, &u->frame, FRAME_PAGES);
	u->frame.geometry.f->priority = u->frame.fragment.f->priority = priority;
	fx_context(c->r, &u->frame.vm, priority, &u->compute);
	set_texture(&u->frame, word);
}

static void release_context(struct canary *c, struct fx_context *context)
{
	FUZZ_CHECK(host_call_context(c->r, FWIF_KCCB_CONTEXT_RELEASE, context) == FWIF_STATUS_OK,
		   "a context is not released");
}

static void drop_user(struct canary *c, struct user *u)
{
	const struct fwif_kccb_cmd scene = {
		.type = FWIF_KCCB_SCENE_RELEASE, .object = u->frame.scene_addr,
	};

	FUZZ_CHECK(host_call(c->r, &scene) == FWIF_STATUS_OK, "the scene is not released");
	release_context(c, &u->frame.geometry);
	release_context(c, &u->frame.fragment);
	release_context(c, &u->compute);
}

struct canary *canary_open(void)
{
	struct canary *c = calloc(1, sizeof(*c));

	FUZZ_CHECK(c, "no memory");
	c->r = fx_booted();
	return c;
}

/* ------------------------------------------------------------ jobs */

static void submit_compute(struct canary *c, struct user *u)
{
	fx_compute(&u->compute, FX_STREAM_VA + STREAM_AT, 1);
	fx_update(&u->compute, u->compute.object_addr, 1);
	fx_put_kick(c->r, &u->compute);
	fx_kick(c->r);
}

/* Check that the job succeeds, unless it was made to fail. */
static void finish(struct canary *c, struct fx_context *context, bool good)
{
	frame_finish(c->r, context, good ? PATIENCE : 1);
	FUZZ_CHECK(!good || !fx_result(context, 1)->fault, "a valid job faults: %u of unit %u",
		   fx_result(context, 1)->fault, fx_result(context, 1)->unit);
}

static void finish_first(struct canary *c, bool good)
{
	if (!c->filling)
		return;
	finish(c, &c->first.compute, good);
	finish(c, &c->first.frame.geometry, good);
	finish(c, &c->first.frame.fragment, good);
	drop_user(c, &c->first);
	c->filling = false;
}

static void zero_ring(struct fwif_ring *ring)
{
	ring->read = 0;
	ring->write = 0;
}

/* Reset the GPU while jobs run, and boot the firmware again. */
static void reset(struct canary *c)
{
	struct fixture *r = c->r;

	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY, 4);
	zero_ring(r->kccb_ring);
	zero_ring(r->fwccb_ring);
	zero_ring(r->log_ring);
	r->boot->state = 0;
	FUZZ_CHECK(fx_boot(r) == FWIF_STATE_READY, "the firmware does not boot");
	c->filling = false;
}

void canary_fill(struct canary *c, enum canary_end end, u32 variant, u32 steps)
{
	finish_first(c, false);
	make_user(c, &c->first, 1, CANARY);
	c->filling = true;
	put_fill_compute(&c->first, end);
	put_fill_frame(&c->first.frame, end, variant);
	submit_compute(c, &c->first);
	frame_submit(c->r, &c->first.frame);
	frame_open(c->r, &c->first.frame);
	switch (end) {
	case CANARY_DONE:
		finish_first(c, true);
		break;
	case CANARY_FAULTED:
		host_run(c->r, PATIENCE);
		finish_first(c, false);
		break;
	case CANARY_RESET:
		fx_steps(c->r, steps);
		reset(c);
		break;
	default:
		fx_steps(c->r, steps);
		if (end == CANARY_KILLED)
			finish_first(c, false);
	}
}

/* Check that no page of the user contains the word. */
static void check_memory(const struct user *u, const struct canary_look *look)
{
	u32 page, i, word;

	for (page = 0; page < FRAME_ALL_PAGES; page++) {
		for (i = 0; i < 1024; i++) {
			memcpy(&word, u->frame.page[page] + i * 4, sizeof(word));
			FUZZ_CHECK(word != CANARY, "the other user's word, read by look %u of "
				   "register %u rotated by %u, output %u: page %u, byte %u",
				   look->store, look->number, look->rotate, look->output, page,
				   i * 4);
		}
	}
}

void canary_probe(struct canary *c, const struct canary_look *look)
{
	struct user *u = &c->second;

	make_user(c, u, 2, 0x3f000000);
	if (look->store == CANARY_COMPUTE) {
		put_look_compute(u, look);
		submit_compute(c, u);
		finish(c, &u->compute, true);
	} else {
		put_look_frame(&u->frame, look);
		frame_submit(c->r, &u->frame);
		frame_open(c->r, &u->frame);
		finish(c, &u->frame.geometry, true);
		finish(c, &u->frame.fragment, true);
	}
	check_memory(u, look);
	drop_user(c, u);
}

void canary_close(struct canary *c)
{
	finish_first(c, false);
	host_check_job(c->r);
	fx_destroy(c->r);
	free(c);
}
