// SPDX-License-Identifier: MIT
/*
 * Shadow volumes. Triangles that face the light are the near end, the same translated
 * and flipped the far end; an edge between a lit and a dark triangle gets a wall.
 *
 * Vertices with the same position are merged: models have several of them where normals or
 * texture coordinates differ.
 */
#include "volume.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACK	0.03f

/* An edge of a triangle; the lower corner first. */
struct edge {
	uint32_t low, high;
	bool turned;	/* the triangle has it in reverse order */
	bool lit;
};

struct builder {
	const struct mesh *model;
	float (*at)[3];		/* of each vertex, in the world */
	uint32_t *same;		/* lowest vertex at the same place */
	struct edge *edge;
	uint32_t edges;
	const float *light;
	float length;
	struct mesh *out;
};

static void *get(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory) {
		fprintf(stderr, "demo: out of memory for a shadow volume\n");
		exit(1);
	}
	return memory;
}

static float (*sort_at)[3];

static int by_place(const void *a, const void *b)
{
	const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const int order = memcmp(sort_at[i], sort_at[k], sizeof(sort_at[i]));

	return order ? order : (i > k) - (i < k);
}

/* Find vertices with equal positions: by the bits of their positions in the model. */
static void weld(struct builder *b)
{
	const uint32_t count = b->model->vertices;
	uint32_t *order = get(count, sizeof(*order));
	float (*place)[3] = get(count, sizeof(*place));
	uint32_t i, c;

	for (i = 0; i < count; i++) {
		order[i] = i;
		for (c = 0; c < 3; c++)	/* no negative zeroes */
			place[i][c] = b->model->vertex[i].position[c] + 0.0f;
	}
	sort_at = place;
	qsort(order, count, sizeof(*order), by_place);
	for (i = 0; i < count; i++)
		b->same[order[i]] = i && !memcmp(place[order[i]], place[order[i - 1]],
						 sizeof(place[0])) ?
			b->same[order[i - 1]] : order[i];
	free(place);
	free(order);
}

static bool faces_light(const struct builder *b, const uint32_t v[3])
{
	const float *p = b->at[v[0]], *q = b->at[v[1]], *r = b->at[v[2]];
	const float u[3] = { q[0] - p[0], q[1] - p[1], q[2] - p[2] };
	const float w[3] = { r[0] - p[0], r[1] - p[1], r[2] - p[2] };

	return (u[1] * w[2] - u[2] * w[1]) * b->light[0] +
	       (u[2] * w[0] - u[0] * w[2]) * b->light[1] +
	       (u[0] * w[1] - u[1] * w[0]) * b->light[2] > 0;
}

/*
 * Add a vertex of the volume, near or far. The near end is offset slightly,
 * so that lit surfaces do not shadow themselves by rounding of depth.
 */
static void put(struct builder *b, uint32_t vertex, bool far)
{
	const float back = far ? b->length : BACK;
	struct mesh_vertex *v = &b->out->vertex[b->out->vertices];
	uint32_t c;

	for (c = 0; c < 3; c++)
		v->position[c] = b->at[vertex][c] - b->light[c] * back;
	b->out->index[b->out->indices++] = b->out->vertices++;
}

static void put_ends(struct builder *b, const uint32_t v[3])
{
	put(b, v[0], false);
	put(b, v[1], false);
	put(b, v[2], false);
	put(b, v[0], true);
	put(b, v[2], true);
	put(b, v[1], true);
}

/* Add a wall at the edge from a to c of a lit triangle. */
static void put_wall(struct builder *b, uint32_t a, uint32_t c)
{
	put(b, c, false);
	put(b, a, false);
	put(b, a, true);
	put(b, c, false);
	put(b, a, true);
	put(b, c, true);
}

static int by_edge(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->high > y->high) - (x->high < y->high);
}

static void add_triangle(struct builder *b, const uint32_t v[3])
{
	const bool lit = faces_light(b, v);
	uint32_t i;

	if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
		return;
	if (lit)
		put_ends(b, v);
	for (i = 0; i < 3; i++) {
		const uint32_t from = v[i], to = v[(i + 1) % 3];

		b->edge[b->edges++] = (struct edge){
			.low = from < to ? from : to, .high = from < to ? to : from,
			.turned = from > to, .lit = lit,
		};
	}
}

/* Add walls at the edges between lit and dark triangles. */
static void add_walls(struct builder *b)
{
	uint32_t i;

	qsort(b->edge, b->edges, sizeof(*b->edge), by_edge);
	for (i = 0; i + 1 < b->edges; i++) {
		const struct edge *e = &b->edge[i], *f = &b->edge[i + 1];
		const struct edge *lit = e->lit ? e : f;

		if (e->low != f->low || e->high != f->high)
			continue;
		if (e->lit != f->lit)
			put_wall(b, lit->turned ? lit->high : lit->low,
				 lit->turned ? lit->low : lit->high);
		i++;
	}
}

void volume_make(const struct mesh *model, const struct matrix *place, const float light[3],
		 float length, struct mesh *volume)
{
	const size_t most = (size_t)model->indices * 4;
	struct builder b = { .model = model, .light = light, .length = length, .out = volume };
	uint32_t i, c;

	b.at = get(model->vertices, sizeof(*b.at));
	b.same = get(model->vertices, sizeof(*b.same));
	b.edge = get(model->indices, sizeof(*b.edge));
	*volume = (struct mesh){ .vertex = get(most, sizeof(*volume->vertex)),
				 .index = get(most, sizeof(*volume->index)) };
	for (i = 0; i < model->vertices; i++) {
		float v[4];

		matrix_apply(place, model->vertex[i].position, 1, v);
		memcpy(b.at[i], v, sizeof(b.at[i]));
	}
	weld(&b);
	for (i = 0; i < model->indices; i += 3) {
		uint32_t v[3];

		for (c = 0; c < 3; c++)
			v[c] = b.same[model->index[i + c]];
		add_triangle(&b, v);
	}
	add_walls(&b);
	free(b.at);
	free(b.same);
	free(b.edge);
}
