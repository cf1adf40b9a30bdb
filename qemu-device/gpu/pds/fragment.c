// SPDX-License-Identifier: MIT
/*
 * PDS: fill the registers of a fragment task, and of a task of a whole tile.
 *
 * Source: document 004, "PDS"; hw/isa.xml, isa "pds".
 *
 * The iterators of the task's half of the core interpolate and read textures. Positions of all
 * pixels are computed when the first instruction needs them, once at pixel or sample and once at
 * the centroid.
 */
#include <string.h>

#include "fill.h"
#include "state.h"

#define TEXEL_REGS 4u	/* registers that a texture read ahead of the program writes */

/* Positions of the pixels of a task. */
struct positions {
	bool known;
	struct itr_positions at;
};

struct fragments {
	struct pds_fill fill;
	const struct pds_fragments *in;
	const struct pds_stage *stage;
	struct half *half;		/* of the task's USC */
	u8 tcu;				/* its interface there */
	struct itr_task task;		/* for its iterators */
	struct positions positions[2];	/* [1]: at the centroid */
};

static const struct usc_span *span_of(const struct fragments *f, u32 instance)
{
	return &f->in->gfx->span[instance / USC_SPAN_LANES];
}

/* Return the number of the plane of a varying, by its number in instructions. */
static u32 plane_of(const struct fragments *f, u32 varying)
{
	return varying < PDS_VARYING_RW ? varying : f->in->varyings + varying - PDS_VARYING_RW;
}

static bool centroid(u32 mode)
{
	return mode == PUMICE_USC_ITERATE_LINEAR_CENTROID ||
	       mode == PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID;
}

static bool perspective(u32 mode)
{
	return mode == PUMICE_USC_ITERATE_PERSPECTIVE ||
	       mode == PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID;
}

static struct itr_positions *positions_of(struct fragments *f, bool centroid)
{
	struct positions *p = &f->positions[centroid];

	if (!p->known)
		usc_gfx_positions(f->in->gfx, span_of(f, 0),
				  (f->fill.task->instances + 3u) / USC_SPAN_LANES, centroid,
				  p->at.x, p->at.y);
	p->known = true;
	return &p->at;
}

/* Write one word of every instance to an attribute register. */
static void write_row(const struct fragments *f, u32 reg, const void *words)
{
	const struct usc_task *task = f->fill.task;
	u32 wave;

	for (wave = 0; wave < task->waves; wave++)
		memcpy(usc_attr(f->fill.usc, task, wave, reg),
		       (const u32 *)words + wave * PUMICE_LANES,
		       pds_wave_lanes(task, wave) * sizeof(u32));
}

static void run_iterate(struct fragments *f, const struct pumice_pds_insn *insn)
{
	struct itr_positions *at = positions_of(f, centroid(insn->mode));
	float value[ITR_LANES];
	u32 comp;

	for (comp = 0; comp < insn->comps; comp++) {
		uitr_iterate(&f->half->uitr, &f->task, at, plane_of(f, insn->varying + comp),
			     perspective(insn->mode), value);
		write_row(f, insn->reg + comp, value);
	}
}

/* Lanes of a wave that have no instance, in some rows of it: 0. */
static void zero_rest(const struct usc_task *task, u32 wave, u32 rows, u32 *out)
{
	const u32 lanes = pds_wave_lanes(task, wave);
	u32 row;

	for (row = 0; lanes < PUMICE_LANES && row < rows; row++)
		memset(&out[row * PUMICE_LANES + lanes], 0, (PUMICE_LANES - lanes) * sizeof(*out));
}

static bool run_texture(struct fragments *f, const struct pumice_pds_insn *insn,
			struct gpu_fault *fault)
{
	const struct usc_task *task = f->fill.task;
	u32 state[TAG_STATE_WORDS], wave;
	struct titr_request request = {
		.plane = plane_of(f, insn->varying), .rows = pumice_usc_texture_coords(insn->dim),
		.perspective = perspective(insn->mode),
		.read = { .op = PUMICE_USC_OP_SAMPLE, .type = PUMICE_USC_TYPE_F32, .dim = insn->dim,
			  .tcu = f->tcu, .ctx = f->stage->ctx, .state = state, .spans = true },
	};

	if (!pds_fill_burst(&f->fill, insn->addr, state, TAG_STATE_WORDS, fault))
		return false;
	for (wave = 0; wave < task->waves; wave++)
		request.texels[wave] = usc_attr(f->fill.usc, task, wave, insn->reg);
	if (!titr_read(&f->half->titr, &f->task, positions_of(f, centroid(insn->mode)), &request,
		       fault))
		return false;
	for (wave = 0; wave < task->waves; wave++)
		zero_rest(task, wave, TEXEL_REGS, request.texels[wave]);
	return true;
}

/* Return the number of registers of one primitive in a set of coefficients. */
static u32 coeffs_of_prim(const struct fragments *f, u32 bank)
{
	return bank == PUMICE_PDS_BANK_CFA ? f->stage->state.coeffs_alt : f->stage->state.coeffs;
}

static void run_coeff(struct fragments *f, const struct pumice_pds_insn *insn)
{
	const u32 each = coeffs_of_prim(f, insn->bank);
	u32 *coeff = pds_fill_bank(&f->fill, insn->bank) + insn->reg;
	u32 prim, comp;

	for (prim = 0; prim < f->in->prims; prim++, coeff += each) {
		for (comp = 0; comp < insn->comps; comp++)
			memcpy(coeff + comp * 3,
			       &f->in->prim[prim].plane[plane_of(f, insn->varying + comp)],
			       sizeof(struct tsp_plane));
	}
}

/* Execute dma; the words of a coefficient bank are those of every primitive. */
static bool run_dma(struct fragments *f, const struct pumice_pds_insn *insn,
		    struct gpu_fault *fault)
{
	const u32 each = coeffs_of_prim(f, insn->bank);
	u32 *first, prim;

	if (!pds_fill_dma(&f->fill, insn, fault))
		return false;
	if (!pds_bank_is_coeffs(insn->bank))
		return true;
	first = pds_fill_bank(&f->fill, insn->bank) + insn->reg;
	for (prim = 1; prim < f->in->prims; prim++)
		memcpy(first + prim * each, first, insn->count * sizeof(*first));
	return true;
}

static u32 pixel_value(const struct fragments *f, u32 instance, u32 source)
{
	const struct usc_gfx *gfx = f->in->gfx;
	const struct usc_tile *tile = gfx->tile;
	const struct usc_span *span = span_of(f, instance);
	const u32 pixel = instance % USC_SPAN_LANES;
	const u32 quads = tile->width / 2u;	/* in a row of the tile */

	switch ((enum pumice_pds_source)source) {
	case PUMICE_PDS_SOURCE_FRAG_X:
		return tile->x0 + span->quad % quads * 2 + pixel % 2;
	case PUMICE_PDS_SOURCE_FRAG_Y:
		return tile->y0 + span->quad / quads * 2 + pixel / 2;
	case PUMICE_PDS_SOURCE_FRONT:
		return f->in->prim[span->prim].front;
	case PUMICE_PDS_SOURCE_SAMPLE:
		return gfx->sample == USC_PIXEL_RATE ? 0 : gfx->sample;
	default:	/* COVERAGE */
		return (span->samples & ~(u32)span->failed) >> pixel * 4 &
		       ((1u << PUMICE_MAX_SAMPLES) - 1);
	}
}

/* Write a plane at the pixels themselves. */
static void run_mov_plane(struct fragments *f, const struct pumice_pds_insn *insn, u32 varying)
{
	float value[ITR_LANES];

	uitr_iterate(&f->half->uitr, &f->task, positions_of(f, false), plane_of(f, varying), false,
		     value);
	write_row(f, insn->reg, value);
}

static void run_mov(struct fragments *f, const struct pumice_pds_insn *insn)
{
	u32 word[ITR_LANES], n;

	switch ((enum pumice_pds_source)insn->source) {
	case PUMICE_PDS_SOURCE_FRAG_Z:
		run_mov_plane(f, insn, PDS_VARYING_DEPTH);
		return;
	case PUMICE_PDS_SOURCE_FRAG_W:
		run_mov_plane(f, insn, PDS_VARYING_RW);
		return;
	default:
		for (n = 0; n < f->fill.task->instances; n++)
			word[n] = pixel_value(f, n, insn->source);
		write_row(f, insn->reg, word);
	}
}

static bool run(struct fragments *f, const struct pumice_pds_insn *insn, struct gpu_fault *fault)
{
	switch ((enum pumice_pds_op)insn->opcode) {
	case PUMICE_PDS_OP_LDI:
		pds_fill_value(&f->fill, insn, insn->imm);
		return true;
	case PUMICE_PDS_OP_MOV:
		run_mov(f, insn);
		return true;
	case PUMICE_PDS_OP_DMA:
		return run_dma(f, insn, fault);
	case PUMICE_PDS_OP_COEFF:
		run_coeff(f, insn);
		return true;
	case PUMICE_PDS_OP_ITERATE:
		run_iterate(f, insn);
		return true;
	case PUMICE_PDS_OP_TEXTURE:
		return run_texture(f, insn, fault);
	default:
		return true;
	}
}

bool pds_fill_fragments(struct pds *pds, const struct pds_place *place,
			const struct pds_stage *stage, const struct pds_fragments *in,
			struct half *half, struct mmu_tlb *tlb, u32 *pc, struct gpu_fault *fault)
{
	const unsigned int each = pds->config.uscs_per_core;
	struct usc *usc = pds->config.usc[place->usc];
	struct fragments f;
	u32 textures = 0;
	bool ok = true;

	tlb->usc = place->usc;
	f.fill = (struct pds_fill){
		.usc = usc, .task = pds_task_of(pds, place, 0), .mmu = pds->config.mmu,
		.tlb = tlb, .ctx = stage->ctx,
	};
	f.in = in;
	f.stage = stage;
	f.half = half;
	f.tcu = (u8)half_tcu_of_usc(place->usc % each, each);
	f.task = (struct itr_task){
		.span = in->gfx->span, .prim = in->prim, .instances = f.fill.task->instances,
		.rw = plane_of(&f, PDS_VARYING_RW),
	};
	f.positions[0].known = f.positions[0].at.rw_known = false;
	f.positions[1].known = f.positions[1].at.rw_known = false;
	if (!*pc)
		pds_fill_zero(&f.fill);
	for (; ok && *pc < stage->program.insns && textures < PDS_PIECE_TEXTURES; ++*pc) {
		const struct pumice_pds_insn *insn = &stage->program.insn[*pc];

		*fault = (struct gpu_fault){ .pc = *pc, .usc = (u16)place->usc };
		ok = run(&f, insn, fault);
		textures += insn->opcode == PUMICE_PDS_OP_TEXTURE;
	}
	pds_count_dma(pds, place->usc, f.fill.dma_bytes);
	return ok;
}
