/* SPDX-License-Identifier: MIT */
/* Shadow volumes: the space that a closed model keeps from a light that is far away. */
#ifndef PUMICE_DEMO_VOLUME_H
#define PUMICE_DEMO_VOLUME_H

#include "matrix.h"
#include "mesh.h"

/*
 * The volume of a model at a place, closed at both ends; its far end is a length away
 * from the near one. light: direction to it. Vertices have positions alone, in the
 * world.
 */
void volume_make(const struct mesh *model, const struct matrix *place, const float light[3],
		 float length, struct mesh *volume);

#endif
