/* SPDX-License-Identifier: MIT */
/* The peer's side of drawing: OpenGL ES on this machine's processor, by Mesa's llvmpipe. */
#ifndef PUMICE_BENCH_GL_H
#define PUMICE_BENCH_GL_H

#include <stdbool.h>
#include <stdint.h>

#include <EGL/egl.h>

/* One vertex: clip position with w = 1, and the inputs of the fragment. */
struct draw_vertex {
	float x, y, z;
	float a, b, c;	/* texture coordinates a, b; or red, green, blue */
};

/* The scene of both sides: triangles on a cleared square, RGBA8. */
struct draw_scene {
	uint32_t size;			/* of the target, pixels */
	const struct draw_vertex *vertex;
	uint32_t vertices;		/* three for each triangle */
	const uint32_t *texture;	/* RGBA8, square, bilinear, repeated;
					 * NULL: colours of the vertices */
	uint32_t texture_size;
	bool depth;			/* test LESS and write; else in order */
	uint32_t draws;			/* each of its own part of the vertices; 0: one */
};

/* Return the vertices of a draw. */
static inline uint32_t draw_part(uint32_t vertices, uint32_t draws)
{
	return draws ? vertices / draws : vertices;
}


struct gl {
	EGLDisplay display;
	EGLContext context;
};

/* A scene in the peer's memory. */
struct gl_work {
	unsigned int framebuffer, colour, depth, program, buffer, array, texture;
	uint32_t size, vertices, draws;
	bool tests_depth;
};

/* All exit with a message if they fail. */
void gl_open(struct gl *gl);
void gl_close(struct gl *gl);
/* Return the renderer's name. */
const char *gl_renderer(void);
void gl_work(const struct draw_scene *scene, struct gl_work *work);
void gl_work_free(struct gl_work *work);

/* Clear, draw and wait until it is done. */
void gl_run(struct gl_work *work);
/* Read the picture: size * size pixels, RGBA8, upper row first. */
void gl_read(struct gl_work *work, uint32_t *pixels);

#endif
