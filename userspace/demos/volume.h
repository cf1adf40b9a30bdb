/* SPDX-License-Identifier: MIT */
/* Shadow volumes: the space that a closed model shadows from a distant light. */
#ifndef PUMICE_DEMO_VOLUME_H
#define PUMICE_DEMO_VOLUME_H

#include "matrix.h"
#include "mesh.h"

/*
 * Build the volume of a model at a position, closed at
 * both ends, of the given length. light: direction to
 * it. Vertices have positions only, in world space.
 */
void volume_make(const struct mesh *model, const struct matrix *place, const float light[3],
		 float length, struct mesh *volume);

#endif
