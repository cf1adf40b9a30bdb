/* SPDX-License-Identifier: MIT */
/*
 * A crowd of knots and balls on a floor: a scene with many
 * primitives and many hidden surfaces; some balls are of glass.
 */
#ifndef PUMICE_DEMO_CROWD_H
#define PUMICE_DEMO_CROWD_H

#include "world.h"

struct crowd {
	struct draw draw;
	struct world world;
	struct draw_model knot, ball, floor;
	struct pumice_image *checker;
	struct pumice_kernel *glass;
};

/* Open a device, and copy the scene to its memory. */
void crowd_open(struct crowd *crowd, const char *name, const char *device,
		const struct draw_options *options);
void crowd_close(struct crowd *crowd);
/* Draw a frame, the farthest objects first, so that near ones overwrite them. */
void crowd_draw(struct crowd *crowd);

#endif
