// SPDX-License-Identifier: MIT
/*
 * Interpreter: operations of vertex, fragment and end-of-tile programs.
 *
 * Source: document 003, "Pixel Output Registers"; document 004, "USSE"; hw/isa.xml, "Graphics".
 * This file has operations that go lane by lane or call other blocks; vec/gfx.inc.h has the
 * others.
 *
 * A lane of a fragment program is valid while its pixel is: covered and not dropped. Invalid
 * lanes compute as well, for derivatives; they read 0 from pixel outputs, since their pixels
 * may be another wave's.
 *
 * Limits: the data master owns the spans, whose samples all exist in the tile.
 */
#include <string.h>

#include "../activity.h"
#include "exec.h"

/* Return a bit for each pixel: a bit of samples' nibble n is set. */
static u32 pixels_of(u32 samples)
{
	u32 any = samples | samples >> 1;

	any = (any | any >> 2) & 0x1111;
	return (any | any >> 3 | any >> 6 | any >> 9) & 0xf;
}

/* Sample 0 of the pixels whose bit is set. */
static u32 samples_of(u32 pixels)
{
	return (pixels | pixels << 3 | pixels << 6 | pixels << 9) & 0x1111;
}

/* Return the samples for which the program runs: a bit of each nibble, or all of them. */
static u32 program_samples(const struct usc_gfx *gfx)
{
	return gfx->sample == USC_PIXEL_RATE ? 0xffff : 0x1111u << gfx->sample;
}

static u32 wave_spans(const struct usc_gfx *gfx, u32 in_task)
{
	u32 first = in_task * USC_WAVE_SPANS;
	u32 left = gfx->spans > first ? gfx->spans - first : 0;

	return left < USC_WAVE_SPANS ? left : USC_WAVE_SPANS;
}

void usc_gfx_wave_begin(const struct usc_gfx *gfx, struct usc_wave *wave, u32 in_task)
{
	u32 spans, mine, valid = 0;
	struct usc_span *span;

	if (!usc_gfx_has_spans(gfx))
		return;
	spans = wave_spans(gfx, in_task);
	span = gfx->span + in_task * USC_WAVE_SPANS;
	mine = program_samples(gfx);
	wave->direct = gfx->tile->samples == 1;
	wave->in_line = spans == USC_WAVE_SPANS;
	wave->one_prim = true;
	for (u32 n = 0; n < spans; n++) {
		u32 samples = span[n].samples & mine;

		span[n].live = span[n].samples & (u16)~span[n].failed;
		valid |= (samples == 0x1111 ? 0xf : pixels_of(samples)) << n * USC_SPAN_LANES;
		wave->direct &= !span[n].failed;
		wave->in_line &= span[n].quad == span[0].quad + n;
		wave->one_prim &= span[n].prim == span[0].prim;
	}
	wave->in_line &= wave->direct;
	wave->valid &= valid;
}

void usc_gfx_exec(struct exec *x, u32 in_task)
{
	const struct usc_gfx *gfx = x->gfx;

	x->direct = x->wave->direct;
	x->in_line = x->wave->in_line;
	x->one_prim = x->wave->one_prim;
	x->positions = 0;
	x->prims_known = 0;
	if (gfx->stage == USC_STAGE_HIT)
		return;
	if (!usc_gfx_has_spans(gfx)) {
		x->vo = gfx->vo + (size_t)in_task * gfx->vo_words * USC_ROW_WORDS;
		return;
	}
	x->span = gfx->span + in_task * USC_WAVE_SPANS;
	x->spans = wave_spans(gfx, in_task);
}

u32 *exec_output_word(const struct exec *x, u32 number, u32 lane, u32 sample)
{
	const struct usc_tile *tile = x->gfx->tile;
	u32 pixel = x->span[lane / USC_SPAN_LANES].quad * USC_SPAN_LANES + lane % USC_SPAN_LANES;

	return tile->outputs + ((size_t)sample * tile->words + number) * tile->pixels + pixel;
}

static u32 samples_of_lane(u32 samples, u32 lane)
{
	return samples >> lane % USC_SPAN_LANES * 4 & 0xf;
}

/* Return the sample that a valid lane reads. */
static u32 sample_read(const struct exec *x, u32 lane)
{
	const struct usc_span *span = &x->span[lane / USC_SPAN_LANES];
	u32 passed = samples_of_lane(span->samples & ~(u32)span->failed, lane);

	if (x->gfx->sample != USC_PIXEL_RATE)
		return x->gfx->sample;
	return (u32)__builtin_ctz(passed ? passed : samples_of_lane(span->samples, lane));
}

u32 exec_output_lanes(const struct exec *x, u32 sample, u32 lanes)
{
	u32 within = 0;

	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);
		u32 live = x->span[lane / USC_SPAN_LANES].live & program_samples(x->gfx);

		within |= (samples_of_lane(live, lane) >> sample & 1) << lane;
	}
	return within;
}

static void write_samples(const struct exec *x, u32 number, u32 lane, u32 value)
{
	u32 live = x->span[lane / USC_SPAN_LANES].live & program_samples(x->gfx);

	for (u32 s = samples_of_lane(live, lane); s; s &= s - 1)
		*exec_output_word(x, number, lane, (u32)__builtin_ctz(s)) = value;
}

void exec_outputs_read(const struct exec *x, u32 number, u32 *row)
{
	memset(row, 0, USC_ROW_WORDS * sizeof(*row));
	for (u32 lanes = x->valid; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		row[lane] = *exec_output_word(x, number, lane, sample_read(x, lane));
	}
}

void exec_outputs_write(const struct exec *x, u32 number, const u32 *row, u32 lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		write_samples(x, number, lane, row[lane]);
	}
}

/* Return the number of the register that a lane selects. */
static u32 indexed_output(const struct exec *x, const struct usc_lookup *l, u32 lane)
{
	const u32 *index = (const u32 *)(const void *)(x->base[USC_BASE_OWN] + l->index);

	return l->offset + (index[lane] << l->dim);
}

void exec_outputs_read_indexed(const struct exec *x, const struct usc_lookup *lookup, u32 *row)
{
	memset(row, 0, USC_ROW_WORDS * sizeof(*row));
	for (u32 lanes = x->valid; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		row[lane] = *exec_output_word(x, indexed_output(x, lookup, lane), lane,
					      sample_read(x, lane));
	}
}

void exec_outputs_write_indexed(const struct exec *x, const struct usc_lookup *lookup,
				const u32 *row, u32 lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		write_samples(x, indexed_output(x, lookup, lane), lane, row[lane]);
	}
}

/* Set the lanes that are still valid. */
static void set_valid(struct exec *x, u32 valid)
{
	x->valid = valid;
	x->wave->valid = valid;
	if (x->program->specials >> PUMICE_USC_SR_VALID & 1) {
		for (u32 l = 0; l < USC_ROW_WORDS; l++)
			x->special[PUMICE_USC_SR_VALID][l] = valid;
	}
}

void exec_drop(struct exec *x, u32 lanes)
{
	u32 mine = program_samples(x->gfx);

	for (u32 n = 0; n < x->spans; n++) {
		u32 pixels = lanes >> n * USC_SPAN_LANES & 0xf;

		x->span[n].live &= (u16)~(samples_of(pixels) * 0xf & mine);
		x->span[n].failed &= (u16)~(samples_of(pixels) * 0xf & mine);
	}
	set_valid(x, x->valid & ~lanes);
}

static const struct usc_insn *depth(struct exec *x, const struct usc_insn *i)
{
	u32 mine = program_samples(x->gfx), left = 0;

	if (!x->gfx->depth_writes)
		return exec_fault(x, i, PUMICE_FAULT_USC_STAGE);
	x->gfx->ops->depth(x->gfx, x->span, exec_operand(x, i, USC_SRC0));
	for (u32 n = 0; n < x->spans; n++)
		left |= pixels_of(x->span[n].live & mine) << n * USC_SPAN_LANES;
	set_valid(x, x->valid & left);
	return exec_next(x, i);
}

static const struct usc_insn *pbe(struct exec *x, const struct usc_insn *i)
{
	u32 state[PUMICE_PBE_STATE_WORDS];

	exec_check_stop(x);
	memcpy(state, exec_operand(x, i, USC_SRC0), sizeof(state));
	x->fault = (struct gpu_fault){ 0 };
	if (!x->gfx->ops->pbe(x->gfx, state, &x->fault))
		return exec_mmu_fault(x, i);
	return exec_next(x, i);
}

u32 exec_texture_lanes(const struct exec *x)
{
	u32 any = x->valid;

	if (!x->gfx || !usc_gfx_has_spans(x->gfx))
		return any;
	any |= any >> 1;
	any = (any | any >> 2) & 0x11111111;
	return any * 0xf;
}

static bool apart(const u32 *a, u32 a_rows, const u32 *b, u32 b_rows)
{
	return a + a_rows * USC_ROW_WORDS <= b || b + b_rows * USC_ROW_WORDS <= a;
}

#define TEXEL_ROWS 4u
#define EXTRA_ROWS 6u	/* maximum rows of a further operand */

/* Continue after a texture read; one with a signal is complete when that is done. */
static const struct usc_insn *texture_end(struct exec *x, const struct usc_insn *i)
{
	if (i->loads != USC_LOADS_NONE)
		exec_signal(x, i);
	return exec_next(x, i);
}

/*
 * The result is written to its registers directly, unless it would overwrite operands that
 * are still read, or lanes that do not read keep their registers.
 */
static const struct usc_insn *texture(struct exec *x, const struct usc_insn *i)
{
	static const u32 zero[EXTRA_ROWS][USC_ROW_WORDS] __attribute__((aligned(128)));
	u32 rows[TEXEL_ROWS * USC_ROW_WORDS] __attribute__((aligned(128)));
	u32 *dst = exec_operand(x, i, USC_DST), *out = rows;
	struct tag_request request = {
		.op = i->op,
		.type = i->type,
		.dim = i->func,
		.comp = (u8)i->words,
		.tcu = x->usc->config.tcu,
		.ctx = x->ctx,
		.state = exec_operand(x, i, USC_SRC2),
		.program = true,
		.lanes = exec_texture_lanes(x),
		.spans = x->gfx && usc_gfx_has_spans(x->gfx),
		.coord = exec_operand(x, i, USC_SRC0),
	};
	u32 extra = pumice_usc_texture_extra(i->op, i->func);

	if (!request.lanes)
		return texture_end(x, i);
	if (extra)
		request.extra = i->no_base ? zero[0] : exec_operand(x, i, USC_SRC1);
	if (request.lanes == UINT32_MAX &&
	    (!extra || apart(dst, TEXEL_ROWS, request.extra, extra)) &&
	    apart(dst, TEXEL_ROWS, request.coord, pumice_usc_texture_coords(i->func)))
		out = dst;
	exec_check_stop(x);
	x->fault = (struct gpu_fault){ 0 };
	count_add(&x->usc->tag_reads[usc_gfx_master(x->gfx)], 1);
	if (!tag_read(x->usc->config.tag, &request, out, &x->fault))
		return exec_mmu_fault(x, i);
	for (u32 n = 0; out != dst && n < TEXEL_ROWS * USC_ROW_WORDS; n++) {
		if (request.lanes >> n % USC_ROW_WORDS & 1)
			dst[n] = out[n];
	}
	return texture_end(x, i);
}

usc_exec_fn *usc_exec_gfx_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_DEPTH:
		return depth;
	case PUMICE_USC_OP_PBE:
		return pbe;
	default:
		return insn->op >= PUMICE_USC_OP_SAMPLE && insn->op <= PUMICE_USC_OP_QUERY_LOD ?
			texture : NULL;
	}
}
