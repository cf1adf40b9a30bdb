/* SPDX-License-Identifier: MIT */
/*
 * Reference rasteriser: an immediate-mode renderer in f64, independent of the GPU.
 *
 * Source: Documentation/precision.rst. Simple on purpose, not fast. No file
 * includes a header of the GPU or of the hardware contract; enumerations
 * are separate.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#define REF_VARYINGS	64
#define REF_WORDS	32	/* pixel outputs */
#define REF_SAMPLES	4

enum ref_compare {
	REF_NEVER, REF_LESS, REF_EQUAL, REF_LESS_EQUAL, REF_GREATER, REF_NOT_EQUAL,
	REF_GREATER_EQUAL, REF_ALWAYS,
};

enum ref_stencil_op {
	REF_KEEP, REF_ZERO, REF_REPLACE, REF_INCR, REF_DECR, REF_INVERT, REF_INCR_WRAP,
	REF_DECR_WRAP,
};

enum ref_mask_test { REF_MASK_ANY, REF_MASK_IF_SET, REF_MASK_IF_CLEAR };
enum ref_mask_op { REF_MASK_KEEP, REF_MASK_SET, REF_MASK_CLEAR, REF_MASK_INVERT };

struct ref_stencil {
	enum ref_compare func;
	enum ref_stencil_op sfail, zfail, pass;
	uint8_t ref, mask, write;
};

/* A picture: every sample of every pixel, rows from the top. */
struct ref_target {
	uint32_t width, height, samples, words;
	float *depth;		/* [pixel * samples + sample] */
	uint8_t *stencil;
	bool *mask;		/* or NULL, if no state uses it */
	double *out;		/* [(pixel * samples + sample) * words + word] */
};

/* Outputs of a vertex program. */
struct ref_vertex {
	float pos[4];
	float size;		/* of a point */
	float v[REF_VARYINGS];
};

/* Inputs and outputs of a shading callback. */
struct ref_fragment {
	uint32_t x, y, sample;	/* sample: 0 at pixel rate */
	bool front;
	double z;		/* at the position of v[] */
	double v[REF_VARYINGS];
	double error[REF_VARYINGS];	/* error bound of planes in f32 */
	double out[REF_WORDS];	/* in: the pixel's outputs (at pixel rate its
				 * first covered sample); out: new ones */
	double depth;		/* out, if the object writes depth */
};

struct ref_state {
	/* Geometry. */
	float scale[3], offset[3];
	bool cull_front, cull_back, front_ccw, provoking_last, depth_clip, clip_minus_w;
	float line_width;
	uint32_t varyings;
	uint64_t flat, linear, centroid;	/* bit n: varying n */
	/* Of points: two varyings, from this one on, are the coordinate over the square. */
	bool point_coord, point_lower_left;
	uint32_t point_varying;

	/* Tests. */
	enum ref_compare depth_func;
	bool depth_write, depth_bias, stencil_test;
	float bias_constant, bias_slope, bias_clamp;
	struct ref_stencil front, back;
	/* A sample that fails the mask test is left out of everything that follows. */
	enum ref_mask_test mask_test;
	enum ref_mask_op mask_op;	/* of samples that pass */
	uint32_t scissor[4];	/* x0, x1, y0, y1; the second ones outside */
	uint32_t sample_mask;
	uint64_t *visible;	/* samples that pass are added here; or NULL */

	/* Shading; false: the fragment is discarded. */
	bool sample_rate, shader_depth;
	bool (*shade)(void *data, struct ref_fragment *fragment);
	void *data;
};

/* Draw one primitive of 1, 2 or 3 vertices. */
void ref_draw(const struct ref_target *target, const struct ref_state *state,
	      const struct ref_vertex *vertices, unsigned int count);

/* ------------------------------------------------- between clip.c and raster.c */

/* A vertex on the screen. */
struct ref_screen {
	int64_t x, y;		/* 1/256 pixel */
	float z, rw;
	float size;
	const float *v;		/* varyings */
};

/* A clipped primitive has at most 3 + 7 vertices. */
#define REF_POLYGON	12

struct ref_polygon {
	unsigned int count;
	struct ref_vertex vertex[REF_POLYGON];
};

/*
 * Return whether the state culls the face of a triangle by its clip positions, which are finite.
 * It is for triangles that have to be clipped: the face of others is that on the screen.
 */
bool ref_culls(const struct ref_state *state, const struct ref_vertex *triangle);
/* Cut a primitive; false if the result is empty, or if it has to be cut and its face is culled. */
bool ref_clip(const struct ref_state *state, const struct ref_vertex *vertices, unsigned int count,
	      struct ref_polygon *polygon);
/* Divide, and apply the viewport. False if that is impossible: drop the primitive. */
bool ref_project(const struct ref_state *state, const struct ref_vertex *vertex,
		 struct ref_screen *out);
/* Get the position of a sample in its pixel, 1/256 pixel. */
void ref_sample(uint32_t samples, uint32_t sample, int64_t *x, int64_t *y);

#endif
