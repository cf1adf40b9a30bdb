/* SPDX-License-Identifier: MIT */
/* The peer's side of drawing: OpenGL ES on this machine's processor, by Mesa's llvmpipe. */
#ifndef PUMICE_BENCH_GL_H
#define PUMICE_BENCH_GL_H

#include <stdbool.h>
#include <stdint.h>

#include <EGL/egl.h>

#include "scene.h"

struct gl {
	EGLDisplay display;
	EGLContext context;
};

/* A scene in the peer's memory. */
struct gl_work {
	unsigned int framebuffer, colour, depth, program, buffer, array, texture;
	unsigned int drawn, sampled;	/* with samples: the framebuffer, and its colours */
	uint32_t size, vertices, draws;
	int samples;	/* 0: no multisampling */
	int add;	/* location of the uniform */
	bool tests_depth, blends, uniforms;
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
