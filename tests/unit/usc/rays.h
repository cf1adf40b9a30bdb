/* SPDX-License-Identifier: MIT */
/*
 * A structure of squares whose hits are known from coordinates alone, for tests of ray queries.
 */
#ifndef PUMICE_TESTS_USC_RAYS_H
#define PUMICE_TESTS_USC_RAYS_H

#include "tree.h"

#define RAYS_SQUARES 3u	/* at z = 4, 5 and 6 */

/*
 * Build count squares of two triangles each, with both coordinates from -9 to 9; those after the
 * first RAYS_SQUARES are at the same places again.
 */
void rays_build(struct tree *tree, void *host, u64 va, u32 count);
/*
 * The closest hit of RAYS_SQUARES squares, as registers of a result: without any triangle. The ray
 * is from z = 0 upwards; its origin and direction are integers, and its direction's z is 1.
 */
void rays_model(const float *ray, u32 *result);

#endif
