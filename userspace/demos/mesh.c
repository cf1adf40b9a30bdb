// SPDX-License-Identifier: MIT
/* Models made by formulas. */
#include "mesh.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAU 6.2831853f

static void make(struct mesh *mesh, uint32_t vertices, uint32_t indices)
{
	mesh->vertex = calloc(vertices, sizeof(*mesh->vertex));
	mesh->index = calloc(indices, sizeof(*mesh->index));
	mesh->vertices = 0;
	mesh->indices = 0;
	if (!mesh->vertex || !mesh->index) {
		fprintf(stderr, "no memory for a model of %u vertices\n", vertices);
		exit(1);
	}
}

void mesh_free(struct mesh *mesh)
{
	free(mesh->vertex);
	free(mesh->index);
	*mesh = (struct mesh){ 0 };
}

static uint32_t add_vertex(struct mesh *mesh, const float p[3], const float n[3], float u, float v)
{
	struct mesh_vertex *out = &mesh->vertex[mesh->vertices];

	memcpy(out->position, p, sizeof(out->position));
	memcpy(out->normal, n, sizeof(out->normal));
	out->uv[0] = u;
	out->uv[1] = v;
	return mesh->vertices++;
}

/* a b c d go round counter-clockwise. */
static void add_quad(struct mesh *mesh, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t corners[6] = { a, b, c, a, c, d };

	memcpy(&mesh->index[mesh->indices], corners, sizeof(corners));
	mesh->indices += 6;
}

/* Quads between the rows of a grid of (columns + 1) x (rows + 1) vertices that begins at first. */
static void add_grid(struct mesh *mesh, uint32_t first, uint32_t columns, uint32_t rows)
{
	uint32_t r, c;

	for (r = 0; r < rows; r++) {
		for (c = 0; c < columns; c++) {
			const uint32_t a = first + r * (columns + 1) + c, b = a + columns + 1;

			add_quad(mesh, a, b, b + 1, a + 1);
		}
	}
}

static void normalise(float v[3])
{
	const float l = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	unsigned int i;

	for (i = 0; i < 3; i++)
		v[i] /= l;
}

static void cross(const float a[3], const float b[3], float out[3])
{
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

static void knot_at(unsigned int p, unsigned int q, float radius, float t, float out[3])
{
	const float r = radius * (2 + cosf((float)q * t)) / 3;

	out[0] = r * cosf((float)p * t);
	out[1] = r * sinf((float)p * t);
	out[2] = radius * sinf((float)q * t) / 2.4f;
}

/* The tube's frame at t: two directions across the curve. */
static void knot_frame(unsigned int p, unsigned int q, float radius, float t, float at[3],
		       float side[3], float up[3])
{
	float next[3], along[3], mean[3];
	unsigned int i;

	knot_at(p, q, radius, t, at);
	knot_at(p, q, radius, t + 0.01f, next);
	for (i = 0; i < 3; i++) {
		along[i] = next[i] - at[i];
		mean[i] = next[i] + at[i];
	}
	cross(along, mean, side);
	normalise(side);
	cross(side, along, up);
	normalise(up);
}

void mesh_knot(struct mesh *mesh, unsigned int p, unsigned int q, float radius, float thickness,
	       uint32_t along, uint32_t around)
{
	uint32_t i, j;

	make(mesh, (along + 1) * (around + 1), along * around * 6);
	for (i = 0; i <= along; i++) {
		float at[3], side[3], up[3];

		knot_frame(p, q, radius, TAU * (float)(i % along) / (float)along, at, side, up);
		for (j = 0; j <= around; j++) {
			const float a = TAU * (float)(j % around) / (float)around;
			float n[3], v[3];
			unsigned int k;

			for (k = 0; k < 3; k++) {
				n[k] = side[k] * cosf(a) + up[k] * sinf(a);
				v[k] = at[k] + n[k] * thickness;
			}
			add_vertex(mesh, v, n, 24 * (float)i / (float)along,
				   2 * (float)j / (float)around);
		}
	}
	add_grid(mesh, 0, around, along);
}

void mesh_sphere(struct mesh *mesh, float radius, uint32_t rings, uint32_t sectors)
{
	uint32_t r, s;

	make(mesh, (rings + 1) * (sectors + 1), rings * sectors * 6);
	for (r = 0; r <= rings; r++) {
		const float v = (float)r / (float)rings, polar = v * TAU / 2;
		/* Poles and seam are closed: sin(pi) is not quite 0. */
		const float ring = r % rings ? sinf(polar) : 0;

		for (s = 0; s <= sectors; s++) {
			const float u = (float)s / (float)sectors;
			const float a = (float)(s % sectors) / (float)sectors * TAU;
			const float n[3] = { ring * cosf(a), cosf(polar), -ring * sinf(a) };

			add_vertex(mesh, (float[3]){ n[0] * radius, n[1] * radius, n[2] * radius },
				   n, u, v);
		}
	}
	add_grid(mesh, 0, sectors, rings);
}

/* A face of a box: its middle's normal n, with a and b across it, counter-clockwise. */
static void add_face(struct mesh *mesh, const float n[3], const float a[3], const float b[3])
{
	static const float corner[4][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } };
	const uint32_t first = mesh->vertices;
	float unit[3] = { n[0], n[1], n[2] };
	unsigned int i, k;

	normalise(unit);
	for (i = 0; i < 4; i++) {
		float p[3];

		for (k = 0; k < 3; k++)
			p[k] = n[k] + corner[i][0] * a[k] + corner[i][1] * b[k];
		add_vertex(mesh, p, unit, (corner[i][0] + 1) / 2, (1 - corner[i][1]) / 2);
	}
	add_quad(mesh, first, first + 1, first + 2, first + 3);
}

void mesh_box(struct mesh *mesh, float x, float y, float z)
{
	make(mesh, 24, 36);
	add_face(mesh, (float[3]){ 0, 0, z }, (float[3]){ x, 0, 0 }, (float[3]){ 0, y, 0 });
	add_face(mesh, (float[3]){ 0, 0, -z }, (float[3]){ -x, 0, 0 }, (float[3]){ 0, y, 0 });
	add_face(mesh, (float[3]){ x, 0, 0 }, (float[3]){ 0, 0, -z }, (float[3]){ 0, y, 0 });
	add_face(mesh, (float[3]){ -x, 0, 0 }, (float[3]){ 0, 0, z }, (float[3]){ 0, y, 0 });
	add_face(mesh, (float[3]){ 0, y, 0 }, (float[3]){ x, 0, 0 }, (float[3]){ 0, 0, -z });
	add_face(mesh, (float[3]){ 0, -y, 0 }, (float[3]){ x, 0, 0 }, (float[3]){ 0, 0, z });
}

void mesh_plane(struct mesh *mesh, float half, float repeat, uint32_t cells)
{
	static const float up[3] = { 0, 1, 0 };
	uint32_t i, j;

	make(mesh, (cells + 1) * (cells + 1), cells * cells * 6);
	for (i = 0; i <= cells; i++) {
		for (j = 0; j <= cells; j++) {
			const float u = (float)j / (float)cells, v = (float)i / (float)cells;

			add_vertex(mesh, (float[3]){ (2 * u - 1) * half, 0, (2 * v - 1) * half },
				   up, u * repeat, v * repeat);
		}
	}
	add_grid(mesh, 0, cells, cells);
}

/* The outline of a gear: corner k of 4 for each tooth. */
static void gear_corner(float radius, uint32_t teeth, float depth, uint32_t k, float out[2])
{
	static const float part[4] = { 0, 0.2f, 0.5f, 0.7f };
	const float a = TAU * ((float)(k / 4) + part[k % 4]) / (float)teeth;
	const bool tip = k % 4 == 1 || k % 4 == 2;
	const float r = tip ? radius + depth / 2 : radius - depth / 2;

	out[0] = r * cosf(a);
	out[1] = r * sinf(a);
}

/* A wall along an edge of an outline, from z = -w to w; outwards is to the right of a to b. */
static void add_wall(struct mesh *mesh, const float a[2], const float b[2], float w)
{
	float n[3] = { b[1] - a[1], a[0] - b[0], 0 };
	uint32_t first = mesh->vertices;

	normalise(n);
	add_vertex(mesh, (float[3]){ a[0], a[1], -w }, n, 0, 1);
	add_vertex(mesh, (float[3]){ b[0], b[1], -w }, n, 1, 1);
	add_vertex(mesh, (float[3]){ b[0], b[1], w }, n, 1, 0);
	add_vertex(mesh, (float[3]){ a[0], a[1], w }, n, 0, 0);
	add_quad(mesh, first, first + 1, first + 2, first + 3);
}

/* A piece of a face, between the hole and an edge of the outline, at z = w or -w. */
static void add_sector(struct mesh *mesh, const float inner[2][2], const float outer[2][2], float z)
{
	const float n[3] = { 0, 0, z > 0 ? 1 : -1 };
	const uint32_t first = mesh->vertices;
	unsigned int i;

	for (i = 0; i < 2; i++)
		add_vertex(mesh, (float[3]){ inner[i][0], inner[i][1], z }, n, 0, 0);
	for (i = 0; i < 2; i++)
		add_vertex(mesh, (float[3]){ outer[i][0], outer[i][1], z }, n, 1, 1);
	if (z > 0)
		add_quad(mesh, first, first + 2, first + 3, first + 1);
	else
		add_quad(mesh, first, first + 1, first + 3, first + 2);
}

void mesh_gear(struct mesh *mesh, float hole, float radius, float width, uint32_t teeth,
	       float depth)
{
	const uint32_t corners = teeth * 4;
	uint32_t k;

	make(mesh, corners * 16, corners * 24);
	for (k = 0; k < corners; k++) {
		float inner[2][2], outer[2][2];
		unsigned int i;

		for (i = 0; i < 2; i++) {
			const uint32_t c = (k + i) % corners;
			float l;

			gear_corner(radius, teeth, depth, c, outer[i]);
			l = hypotf(outer[i][0], outer[i][1]);
			inner[i][0] = outer[i][0] / l * hole;
			inner[i][1] = outer[i][1] / l * hole;
		}
		add_sector(mesh, inner, outer, width / 2);
		add_sector(mesh, inner, outer, -width / 2);
		add_wall(mesh, outer[0], outer[1], width / 2);
		add_wall(mesh, inner[1], inner[0], width / 2);
	}
}
