/* SPDX-License-Identifier: MIT */
/* Shared by several demos: lit objects seen by a camera, textures, and a scene made of them. */
#ifndef PUMICE_DEMO_WORLD_H
#define PUMICE_DEMO_WORLD_H

#include "draw.h"

/* A camera and a light. */
struct world {
	struct draw *draw;
	struct matrix clip;		/* world to clip space */
	float eye[3], light[3];		/* light: direction to it, of length 1 */
	float ambient;
	struct pumice_kernel *vertex, *textured, *plain;
};

void world_open(struct world *world, struct draw *draw);
void world_close(struct world *world);
/* fov in radians. */
void world_look(struct world *world, const float eye[3], const float at[3], float fov);

/* Appearance of a model. */
struct world_look_of {
	float colour[3];
	float shine;			/* strength of the highlight */
	const struct pumice_image *texture;	/* or NULL */
};

/* Set up an object with its uniforms, which must be valid until draw_add(). */
struct world_object {
	struct draw_object object;
	uint32_t vertex_words[32], fragment_words[11];
};
void world_object(const struct world *world, struct world_object *o,
		  const struct draw_model *model, const struct matrix *place,
		  const struct world_look_of *look);
void world_add(const struct world *world, const struct draw_model *model,
	       const struct matrix *place, const struct world_look_of *look);

/* Generate textures, free() them: bricks, marble, a checkerboard. */
uint32_t *world_bricks(uint32_t size);
uint32_t *world_marble(uint32_t size);
uint32_t *world_checker(uint32_t size, uint32_t squares);

#endif
