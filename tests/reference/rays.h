/* SPDX-License-Identifier: MIT */
/*
 * Reference of ray queries: a test of all triangles in f64, independent of the GPU.
 *
 * Source: Documentation/rays.rst. The GPU rounds some steps to f32, so that results differ for rays
 * that pass close to an edge, to another triangle or to an end of the ray: see margin.
 */
#ifndef REFERENCE_RAYS_H
#define REFERENCE_RAYS_H

#include <stdbool.h>
#include <stdint.h>

#define REF_MISS	UINT32_MAX

/* A ray, as in the registers of a query. */
struct ref_ray {
	float origin[3], min, direction[3], max;
};

/* The closest hit of a ray. */
struct ref_hit {
	uint32_t triangle;	/* its number, or REF_MISS */
	bool front;
	double t, u, v;		/* t: infinite without a hit */
	double margin;		/* least change of t or a weight that may change the result */
};

/* Trace a ray through triangles of nine numbers each. */
void ref_trace(const struct ref_ray *ray, const float *vertices, uint32_t triangles,
	       struct ref_hit *hit);

#endif
