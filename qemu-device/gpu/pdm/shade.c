// SPDX-License-Identifier: MIT
/*
 * PDM: gather visible pixels in spans, sorted by object.
 *
 * Source: document 004, "PDS" ("All fragments in a span are visible and use the same fragment
 * program"). Tags of a tile are read quad by quad; each primitive that owns samples of a quad
 * is a span. Objects are in the order of their first span: within a pass no sample has two
 * owners, so the picture does not depend on the order.
 */
#include <string.h>

#include "state.h"

/* Tags of one quad: sample s of pixel p is bit 4 p + s of a span's samples. */
#define QUAD_TAGS (USC_SPAN_LANES * PUMICE_MAX_SAMPLES)

static u32 quads_of_row(const struct pdm_tile *tile)
{
	return tile->isp.width / 2;
}

static void add_span(struct pdm_tile *tile, u32 tag, u32 quad, u32 samples)
{
	struct pdm_shade *shade = &tile->shade;
	const u16 prim = (u16)((tag & ~ISP_LATE) - 1);
	struct pdm_object *o = tile->objects[tile->record[prim].object];

	if (!o->spans++)
		shade->order[shade->objects++] = tile->record[prim].object;
	shade->found[shade->spans++] = (struct pdm_span){
		.prim = prim, .samples = (u16)samples, .quad = (u8)quad,
	};
}

/* Add a span for each owner of a quad's samples. */
static void split_quad(struct pdm_tile *tile, u32 quad)
{
	u32 tag[QUAD_TAGS], left = 0, s, p;

	for (s = 0; s < tile->isp.samples; s++) {
		for (p = 0; p < USC_SPAN_LANES; p++) {
			const u32 bit = p * PUMICE_MAX_SAMPLES + s;

			tag[bit] = tile->isp.tag[s][quad * USC_SPAN_LANES + p];
			left |= (u32)(tag[bit] != 0) << bit;
		}
	}
	while (left) {
		const u32 first = tag[__builtin_ctz(left)];
		u32 mine = 0, rest;

		for (rest = left; rest; rest &= rest - 1)
			if (tag[__builtin_ctz(rest)] == first)
				mine |= rest & -rest;
		left &= ~mine;
		add_span(tile, first, quad, mine);
	}
}

/* Most quads of one sample a pixel have one owner, or none. */
static void find_in_quad(struct pdm_tile *tile, u32 quad)
{
	const u32 *tag = &tile->isp.tag[0][quad * USC_SPAN_LANES];

	if (tile->isp.samples == 1 && tag[0] == tag[1] && tag[0] == tag[2] && tag[0] == tag[3]) {
		if (tag[0])
			add_span(tile, tag[0], quad, 0x1111);
		return;
	}
	split_quad(tile, quad);
}

/* Sort spans by object, each object's in the order of quads. */
static void sort_spans(struct pdm_tile *tile)
{
	struct pdm_shade *shade = &tile->shade;
	u32 first = 0, i;

	for (i = 0; i < shade->objects; i++) {
		struct pdm_object *o = tile->objects[shade->order[i]];

		o->first = first;
		first += o->spans;
		o->spans = 0;
	}
	for (i = 0; i < shade->spans; i++) {
		const struct pdm_span *span = &shade->found[i];
		struct pdm_object *o = tile->objects[tile->record[span->prim].object];

		shade->sorted[o->first + o->spans++] = *span;
	}
}

static void begin(struct pdm_tile *tile, const struct pds_stage *fixed, enum pdm_phase after)
{
	struct pdm_shade *shade = &tile->shade;
	u32 i;

	pdm_trace_end(tile, &tile->traced_isp, PUMICE_TRACE_KIND_ISP, PUMICE_TRACE_PHASE_END,
		      tile->stats.primitives);
	for (i = 0; i < shade->objects; i++)
		tile->objects[shade->order[i]]->spans = 0;
	shade->fixed = fixed;
	shade->spans = 0;
	shade->objects = 0;
	shade->at_object = 0;
	shade->at_span = 0;
	shade->at_sample = 0;
	/* Planes of earlier passes belong to other primitives. */
	tile->planes += PDM_PLANES;
	tile->phase = PDM_TILE_SHADE;
	tile->after = after;
}

void pdm_shade_pending(struct pdm_tile *tile, enum pdm_phase after)
{
	const u32 quads = quads_of_row(tile);
	u32 quad;

	begin(tile, NULL, after);
	if (tile->isp.row0 >= tile->isp.row1)
		return;
	for (quad = tile->isp.row0 * quads; quad < tile->isp.row1 * quads; quad++)
		find_in_quad(tile, quad);
	tile->stats.passes += tile->shade.spans != 0;
	if (tile->shade.spans)
		pdm_outputs_fill(tile);
	sort_spans(tile);
	isp_tile_clear_tags(&tile->isp);
	pdm_trace_pass(tile);
}

void pdm_shade_all(struct pdm_tile *tile, const struct pds_stage *stage, enum pdm_phase after)
{
	const u32 quads = quads_of_row(tile) * (tile->isp.height / 2);
	const u16 samples = (u16)(0x1111u * ((1u << tile->isp.samples) - 1));
	u32 quad;

	begin(tile, stage, after);
	pdm_outputs_fill(tile);
	for (quad = 0; quad < quads; quad++)
		tile->shade.sorted[quad] = (struct pdm_span){
			.samples = samples, .quad = (u8)quad,
		};
	tile->shade.spans = quads;
	pdm_trace_pass(tile);
}

void pdm_shade_end(struct pdm_tile *tile, const struct pds_stage *stage, enum pdm_phase after)
{
	begin(tile, stage, after);
	pdm_outputs_fill(tile);
	tile->shade.sorted[0] = (struct pdm_span){ .samples = 1 };
	tile->shade.spans = 1;
	pdm_trace_pass(tile);
}

u32 pdm_compact(struct pdm_tile *tile)
{
	u16 renamed[PDM_MAX_PRIMS + 1] = { 0 };
	const u32 pixels = tile->isp.width * 2;
	const u32 first = tile->isp.row0 * pixels, end = tile->isp.row1 * pixels;
	u32 s, p, n, left = 0;

	for (s = 0; s < tile->isp.samples; s++)
		for (p = first; p < end; p++)
			renamed[tile->isp.tag[s][p] & ~ISP_LATE] = 1;
	renamed[0] = 0;
	for (n = 1; n <= tile->prim_count; n++) {
		if (!renamed[n])
			continue;
		tile->record[left] = tile->record[n - 1];
		renamed[n] = (u16)++left;
	}
	for (s = 0; s < tile->isp.samples; s++) {
		for (p = first; p < end; p++) {
			u32 *tag = &tile->isp.tag[s][p];

			*tag = (*tag & ISP_LATE) | renamed[*tag & ~ISP_LATE];
		}
	}
	tile->prim_count = left;
	return left;
}
