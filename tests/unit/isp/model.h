/* SPDX-License-Identifier: MIT */
/*
 * A scalar ISP, written from Documentation/precision.rst: one sample at a time,
 * exact integers of 128 bits for coverage, f64 for depth. Shares only the
 * structures with the device.
 */
#ifndef PUMICE_TEST_ISP_MODEL_H
#define PUMICE_TEST_ISP_MODEL_H

#include "../../../qemu-device/gpu/isp/isp.h"

struct model {
	float depth[4][32 * 32];	/* [sample][y * 32 + x] */
	u8 stencil[4][32 * 32];
	u32 tag[4][32 * 32];
	bool mask[4][32 * 32];
};

/* Results of drawing. */
struct model_result {
	u32 covered, passed;
	bool overlap;
};

u64 model_random(void);
u32 model_below(u32 n);
/* Create a random tile, triangle and state; big: triangles far larger than the tile. */
void model_random_tile(struct isp_tile *tile);
void model_random_triangle(const struct isp_tile *tile, struct isp_triangle *t, u32 kind);
void model_random_state(const struct isp_tile *tile, struct isp_state *state);

/* Index of a pixel in the device's arrays. */
u32 model_pixel(const struct isp_tile *tile, u32 x, u32 y);
/* Copy from the device's arrays, or compare with them: the number of samples that differ. */
void model_copy(struct model *m, const struct isp_tile *tile);
u32 model_differs(const struct model *m, const struct isp_tile *tile);

bool model_covers(const struct isp_tile *tile, const struct isp_triangle *t,
		  const struct isp_state *state, u32 x, u32 y, u32 sample);
float model_depth(const struct isp_tile *tile, const struct isp_triangle *t,
		  const struct isp_state *state, u32 x, u32 y, u32 sample);
/* Draw into the model. */
struct model_result model_draw(struct model *m, const struct isp_tile *tile,
			       const struct isp_triangle *t, const struct isp_state *state,
			       bool back, u32 tag);
/* Return whether a sample passes the mask test; if not, nothing else happens to it. */
bool model_mask_test(const struct model *m, const struct isp_state *state, u32 sample, u32 at);
/* Test depth and stencil of a sample that passes the mask test, and write them and the mask. */
bool model_test(struct model *m, const struct isp_state *state, bool back, u32 sample, u32 at,
		float z, bool write_pass);

#endif
