// SPDX-License-Identifier: MIT
/*
 * Squares for tests of ray queries. See rays.h. Written from hw/isa.xml and hw/rt.xml alone.
 */
#include "rays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rays_build(struct tree *tree, void *host, u64 va, u32 count)
{
	static const float corner[6][2] = { { -9, -9 }, { 9, -9 }, { 9, 9 },
					    { -9, -9 }, { 9, 9 }, { -9, 9 } };
	float *v = calloc(count * 18, sizeof(*v));

	if (!v)
		abort();
	for (u32 n = 0; n < count * 6; n++) {
		v[n * 3] = corner[n % 6][0];
		v[n * 3 + 1] = corner[n % 6][1];
		v[n * 3 + 2] = (float)(4 + n / 6 % RAYS_SQUARES);
	}
	tree_triangles(tree, host, va, v, count * 2);
	free(v);
}

static u32 bits_of(float number)
{
	u32 bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* The first triangle of each square is at y <= x, the second one at y >= x, edges are of both. */
void rays_model(const float *ray, u32 *result)
{
	float x = 0, y = 0;
	u32 square;

	for (square = 0; square < RAYS_SQUARES; square++) {
		const float z = (float)(4 + square);

		x = ray[0] + ray[4] * z;
		y = ray[1] + ray[5] * z;
		if (fabsf(x) <= 9 && fabsf(y) <= 9 && ray[3] <= z && ray[7] >= z)
			break;
	}
	result[0] = bits_of(ray[7]);
	result[1] = result[2] = 0;
	result[3] = result[4] = ~0u;
	result[5] = PUMICE_RT_HIT_NONE;
	if (square == RAYS_SQUARES)
		return;
	result[0] = bits_of((float)(4 + square));
	/* Vertices 1 and 2: (9, -9) and (9, 9), or (9, 9) and (-9, 9). */
	result[1] = bits_of(y <= x ? (x - y) / 18 : (x + 9) / 18);
	result[2] = bits_of(y <= x ? (y + 9) / 18 : (y - x) / 18);
	result[4] = square * 2 + (y > x);
	result[5] = PUMICE_RT_HIT_BACK;
}
