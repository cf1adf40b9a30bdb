// SPDX-License-Identifier: MIT
/* Vertices that were shaded for the previous piece. See reuse.h. */
#include "reuse.h"

#include <string.h>

#include "../number.h"

#define COPY_STEP	256u	/* vertices, each of up to PUMICE_USC_MAX_VO words */

/* Replace the numbers in the previous piece by those of its outputs. Returns those that it has. */
static u32 find_copies(const struct vdm_reuse *reuse, struct vdm_piece *piece)
{
	u32 copies = 0, v;

	for (v = 0; v < piece->vertices; v++) {
		if (piece->before[v] == VDM_NOT_CACHED)
			continue;
		piece->before[v] = reuse->number[piece->before[v]];
		copies += piece->before[v] != VDM_NOT_CACHED;
	}
	return copies;
}

void vdm_reuse_arrange(struct vdm_reuse *reuse, struct vdm_piece *piece)
{
	const u32 copies = find_copies(reuse, piece);
	const u32 first = div_up(copies, PUMICE_LANES) * PUMICE_LANES;
	u16 moved[VDM_PIECE_VERTICES];
	u32 n, v;

	memset(reuse->number, 0xff, sizeof(reuse->number));
	piece->first = first;
	piece->shade = reuse->copies = reuse->copied = 0;
	for (v = 0; v < piece->vertices; v++) {
		const u32 number = piece->vertex[v];

		if (piece->before[v] == VDM_NOT_CACHED) {
			moved[v] = (u16)(first + piece->shade);
			piece->vertex[piece->shade++] = number;
		} else {
			moved[v] = (u16)reuse->copies;
			reuse->copy[reuse->copies++] = piece->before[v];
		}
		piece->number[moved[v]] = number;
		reuse->number[v] = moved[v];
	}
	if (!copies)
		return;
	piece->vertices = first + piece->shade;
	for (n = 0; n < piece->prims; n++)
		for (v = 0; v < 3; v++)
			piece->prim[n].v[v] = moved[piece->prim[n].v[v]];
}

void vdm_reuse_begin(struct vdm_reuse *reuse, struct vdm_piece *whole,
		     const struct vdm_reuse *positions, struct vdm_piece *piece)
{
	u32 v;

	for (v = 0; v < whole->vertices; v++)
		whole->before[v] = v < positions->copies ? positions->copy[v] : VDM_NOT_CACHED;
	find_copies(reuse, whole);
	memset(reuse->number, 0xff, sizeof(reuse->number));
	reuse->copies = reuse->copied = 0;
	for (v = 0; v < positions->copies; v++) {
		if (whole->before[v] == VDM_NOT_CACHED)
			continue;
		reuse->copy[reuse->copies] = whole->before[v];
		reuse->number[v] = (u16)reuse->copies++;
	}
	piece->prims = piece->shade = 0;
	piece->vertices = piece->first = div_up(reuse->copies, PUMICE_LANES) * PUMICE_LANES;
}

void vdm_reuse_add(struct vdm_reuse *reuse, const struct vdm_piece *whole, u32 n,
		   struct vdm_piece *piece)
{
	struct ta_prim *prim = &piece->prim[piece->prims++];
	u32 i;

	for (i = 0; i < 3; i++) {
		const u32 v = whole->prim[n].v[i];

		if (reuse->number[v] == VDM_NOT_CACHED) {
			piece->vertex[piece->shade++] = whole->number[v];
			reuse->number[v] = (u16)piece->vertices++;
		}
		prim->v[i] = reuse->number[v];
	}
}

/* Return the first output of a vertex; the next ones are a row of lanes apart. */
static u32 *output(u32 *const *vo, u32 vertex)
{
	return vo[vertex / PUMICE_LANES] + vertex % PUMICE_LANES;
}

bool vdm_reuse_copy(struct vdm_reuse *reuse, u32 *const *before, u32 *const *vo, u32 vo_words)
{
	const u32 end = min_u32(reuse->copied + COPY_STEP, reuse->copies);
	u32 n;

	/* The TA reads whole waves. */
	if (!reuse->copied && reuse->copies % PUMICE_LANES)
		memset(vo[reuse->copies / PUMICE_LANES], 0,
		       vo_words * PUMICE_LANES * sizeof(**vo));
	for (; reuse->copied < end; reuse->copied++) {
		const u32 *from = output(before, reuse->copy[reuse->copied]);
		u32 *to = output(vo, reuse->copied);

		for (n = 0; n < vo_words; n++)
			to[n * PUMICE_LANES] = from[n * PUMICE_LANES];
	}
	return end == reuse->copies;
}
