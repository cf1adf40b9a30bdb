/* SPDX-License-Identifier: MIT */
/*
 * Expected image of a scene: primitives in order, each sample tested
 * and shaded at once, nothing deferred. Coverage, depth and tests are those of the
 * ISP's model.
 */
#ifndef PUMICE_PDM_REFERENCE_H
#define PUMICE_PDM_REFERENCE_H

#include "model.h"
#include "fixture.h"

struct reference_object {
	struct isp_state isp;
	enum fx_program program;
	bool sample_rate;
};

struct reference_tile {
	struct isp_tile at;		/* geometry alone */
	struct model model;
	float out[4][32 * 32];
	u32 primitives, covered;
	/*
	 * Of opaque objects, and of translucent ones with one sample: the primitive, counted
	 * from 1, that owns a sample and is not shaded yet, whether it is shaded sample by
	 * sample, and how often programs have run.
	 */
	u32 owner[4][32 * 32];
	bool by_sample[4][32 * 32];
	u32 shaded;
};

void reference_clear(struct reference_tile *tile, float out, float depth, u8 stencil);
/* visible: counters by id. */
void reference_draw(struct reference_tile *tile, const struct reference_object *object,
		    const struct scene_prim *prim, u64 *visible);

/* Shade pending samples: at the end of the tile, or because their colour is needed. */
void reference_flush(struct reference_tile *tile);

#endif
