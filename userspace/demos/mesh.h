/* SPDX-License-Identifier: MIT */
/*
 * Models that the demos draw, made by formulas. Triangles are counter-clockwise
 * seen from outside, in a right-handed world.
 */
#ifndef PUMICE_DEMO_MESH_H
#define PUMICE_DEMO_MESH_H

#include <stdint.h>

struct mesh_vertex {
	float position[3];
	float normal[3];
	float uv[2];
};

struct mesh {
	struct mesh_vertex *vertex;
	uint32_t vertices;
	uint32_t *index;	/* three for each triangle */
	uint32_t indices;
};

/* All exit where memory lacks. */

/* A tube around the knot that winds p times about the axis and q times about the ring. */
void mesh_knot(struct mesh *mesh, unsigned int p, unsigned int q, float radius, float thickness,
	       uint32_t along, uint32_t around);
void mesh_sphere(struct mesh *mesh, float radius, uint32_t rings, uint32_t sectors);
/* A box with a face for each side, uv from 0 to 1 on each. */
void mesh_box(struct mesh *mesh, float x, float y, float z);
/* A square in the plane y = 0, seen from above; uv from 0 to repeat. */
void mesh_plane(struct mesh *mesh, float half, float repeat, uint32_t cells);
/* A gear with a hole, about the z axis; its teeth reach from radius - depth / 2 to radius + depth / 2. */
void mesh_gear(struct mesh *mesh, float hole, float radius, float width, uint32_t teeth,
	       float depth);
void mesh_free(struct mesh *mesh);

#endif
