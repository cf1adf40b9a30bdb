/* SPDX-License-Identifier: MIT */
/* Planes: from the TSP, which computes them, to the iterators. */
#ifndef PUMICE_GPU_PLANE_H
#define PUMICE_GPU_PLANE_H

/* Plane of a primitive: value = a x + b y + c, x and y from the tile's corner. */
struct tsp_plane {
	float a, b, c;
};

#endif
