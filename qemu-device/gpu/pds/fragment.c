// SPDX-License-Identifier: MIT
/*
 * PDS: fill the registers of a fragment task, and of a task of a whole tile.
 *
 * Source: document 004, "PDS", "UITR" and "TITR"; Documentation/precision.rst, "Varyings";
 * hw/isa.xml, isa "pds".
 *
 * Positions and 1/w of all pixels are computed when the first instruction needs them, once at
 * pixel or sample and once at the centroid.
 */
#include <string.h>

#include "../tag/tag.h"
#include "fill.h"
#include "state.h"

#define LANES PUMICE_TASK_INSTANCES
#define TEXEL_REGS 4u	/* registers that a texture read ahead of the program writes */

/* Positions of the pixels of a task: of instance n, [n]. */
struct positions {
	bool known, rw_known;
	float x[LANES], y[LANES];	/* from the tile's corner */
	float rw[LANES];		/* plane of 1/w there */
};

struct fragments {
	struct pds_fill fill;
	const struct pds_fragments *in;
	const struct pds_stage *stage;
	struct tag *tag;
	struct positions at[2];		/* [1]: at the centroid */
};

static const struct usc_span *span_of(const struct fragments *f, u32 instance)
{
	return &f->in->gfx->span[instance / USC_SPAN_LANES];
}

/* Return the plane of a varying, by its number in instructions. */
static const struct tsp_plane *plane_of(const struct fragments *f, u32 prim, u32 varying)
{
	u32 n = varying < PDS_VARYING_RW ? varying : f->in->varyings + varying - PDS_VARYING_RW;

	return &f->in->prim[prim].plane[n];
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

static struct positions *positions_of(struct fragments *f, bool centroid)
{
	struct positions *at = &f->at[centroid];

	if (at->known)
		return at;
	usc_gfx_positions(f->in->gfx, span_of(f, 0), (f->fill.task->instances + 3u) / USC_SPAN_LANES,
			  centroid, at->x, at->y);
	at->known = true;
	return at;
}

/* The four lanes of a span at once. */
typedef float span_f32 __attribute__((vector_size(16), may_alias, aligned(4)));
typedef u32 span_u32 __attribute__((vector_size(16), may_alias, aligned(4)));

static span_f32 span_at(const float *row, u32 first)
{
	return *(const span_f32 *)(const void *)(row + first);
}

static void span_put(float *row, u32 first, span_f32 value)
{
	*(span_f32 *)(void *)(row + first) = value;
}

/* Evaluate a plane at every instance: out[n]. */
static void evaluate(const struct fragments *f, const struct positions *at, u32 varying,
		     float *out)
{
	const u32 instances = f->fill.task->instances;
	u32 first;

	for (first = 0; first < instances; first += USC_SPAN_LANES) {
		const struct tsp_plane *p = plane_of(f, span_of(f, first)->prim, varying);

		span_put(out, first, ((p->a * span_at(at->x, first)) +
				      (p->b * span_at(at->y, first))) + p->c);
	}
}

static const float *rw_of(struct fragments *f, struct positions *at)
{
	if (!at->rw_known)
		evaluate(f, at, PDS_VARYING_RW, at->rw);
	at->rw_known = true;
	return at->rw;
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
	struct positions *at = positions_of(f, centroid(insn->mode));
	float value[LANES];
	u32 comp, n;

	for (comp = 0; comp < insn->comps; comp++) {
		evaluate(f, at, insn->varying + comp, value);
		if (perspective(insn->mode)) {
			const float *rw = rw_of(f, at);

			for (n = 0; n < f->fill.task->instances; n += USC_SPAN_LANES)
				span_put(value, n, span_at(value, n) / span_at(rw, n));
		}
		write_row(f, insn->reg + comp, value);
	}
}

/* Round to a float of 24 bits, 15 after the leading one, to nearest even. */
static span_f32 round_24(span_f32 value)
{
	const span_u32 word = (span_u32)value;
	const span_u32 finite = (span_u32)((word & 0x7f800000) != 0x7f800000);
	const span_u32 rounded = (word + 0x7f + (word >> 8 & 1)) & ~0xffu;

	return (span_f32)((rounded & finite) | (word & ~finite));
}

/* Lanes of a wave that have no instance, in some rows of it: 0. */
static void zero_rest(const struct usc_task *task, u32 wave, u32 rows, u32 *out)
{
	const u32 lanes = pds_wave_lanes(task, wave);
	u32 row;

	for (row = 0; lanes < PUMICE_LANES && row < rows; row++)
		memset(&out[row * PUMICE_LANES + lanes], 0, (PUMICE_LANES - lanes) * sizeof(*out));
}

/*
 * Compute coordinates of a texture read ahead of the program: rows for each wave follow each
 * other. The texture unit uses all lanes of them, also those without an instance.
 */
static void texture_coords(struct fragments *f, const struct pumice_pds_insn *insn, u32 rows,
			   u32 *out)
{
	struct positions *at = positions_of(f, centroid(insn->mode));
	const float *rw = perspective(insn->mode) ? rw_of(f, at) : NULL;
	float value[LANES];
	u32 row, n;

	for (row = 0; row < rows; row++) {
		evaluate(f, at, insn->varying + row, value);
		for (n = 0; n < f->fill.task->instances; n += USC_SPAN_LANES) {
			span_f32 v = round_24(span_at(value, n));

			if (rw)
				v /= round_24(span_at(rw, n));
			memcpy(&out[(n / PUMICE_LANES * rows + row) * PUMICE_LANES +
				    n % PUMICE_LANES], &v, sizeof(v));
		}
	}
	row = f->fill.task->waves - 1u;	/* the others are full */
	zero_rest(f->fill.task, row, rows, out + row * rows * PUMICE_LANES);
}

static bool run_texture(struct fragments *f, const struct pumice_pds_insn *insn,
			struct gpu_fault *fault)
{
	const struct usc_task *task = f->fill.task;
	const u32 rows = pumice_usc_texture_coords(insn->dim);
	u32 state[TAG_STATE_WORDS], coords[LANES * 4];
	struct tag_request request = {
		.op = PUMICE_USC_OP_SAMPLE, .type = PUMICE_USC_TYPE_F32, .dim = insn->dim,
		.ctx = f->stage->ctx, .state = state, .spans = true,
		.master = PUMICE_WAVE_MASTER_PDM,
	};
	u32 wave;

	if (!pds_fill_burst(&f->fill, insn->addr, state, TAG_STATE_WORDS, fault))
		return false;
	texture_coords(f, insn, rows, coords);
	for (wave = 0; wave < task->waves; wave++) {
		u32 lanes = pds_wave_lanes(task, wave);
		u32 *texels = usc_attr(f->fill.usc, task, wave, insn->reg);

		request.lanes = lanes < PUMICE_LANES ? (1u << lanes) - 1 : UINT32_MAX;
		request.coord = coords + wave * rows * PUMICE_LANES;
		if (!tag_read(f->tag, &request, texels, fault))
			return false;
		zero_rest(task, wave, TEXEL_REGS, texels);
	}
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
			memcpy(coeff + comp * 3, plane_of(f, prim, insn->varying + comp),
			       sizeof(struct tsp_plane));
	}
}

/* Execute dma; the words of a coefficient bank are those of every primitive. */
static bool run_dma(struct fragments *f, const struct pumice_pds_insn *insn, struct gpu_fault *fault)
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

static void run_mov(struct fragments *f, const struct pumice_pds_insn *insn)
{
	float value[LANES];
	u32 word[LANES], n;

	switch ((enum pumice_pds_source)insn->source) {
	case PUMICE_PDS_SOURCE_FRAG_Z:
		evaluate(f, positions_of(f, false), PDS_VARYING_DEPTH, value);
		write_row(f, insn->reg, value);
		return;
	case PUMICE_PDS_SOURCE_FRAG_W:
		write_row(f, insn->reg, rw_of(f, positions_of(f, false)));
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
			struct tag *tag, struct mmu_tlb *tlb, u32 *pc, struct gpu_fault *fault)
{
	struct usc *usc = pds->config.usc[place->usc];
	struct fragments f;
	u32 textures = 0;
	bool ok = true;

	f.fill = (struct pds_fill){
		.usc = usc, .task = pds_task_of(pds, place, 0), .mmu = pds->config.mmu,
		.tlb = tlb, .ctx = stage->ctx,
	};
	f.in = in;
	f.stage = stage;
	f.tag = tag;
	f.at[0].known = f.at[0].rw_known = f.at[1].known = f.at[1].rw_known = false;
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
