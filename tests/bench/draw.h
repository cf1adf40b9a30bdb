/* SPDX-License-Identifier: MIT */
/* Our side of drawing: a scene in the GPU's memory, and the frames that draw it. */
#ifndef PUMICE_BENCH_DRAW_H
#define PUMICE_BENCH_DRAW_H

#include <pumice/pumice_gfx.h>

#include "gpu.h"
#include "scene.h"

struct draw_work {
	struct gpu *gpu;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_freelist *list;
	struct pumice_hwrt *hwrt;
	struct pumice_image *target, *texture;
	struct pumice_kernel *vertex, *coordinate, *fragment;
	struct pumice_perfmon *perfmon;	/* counts struct draw_counts */
	struct pumice_buffer vertices;
	struct pumice_frame frame;
};

/* All exit with a message if they fail. */
void draw_work(struct gpu *gpu, const struct draw_scene *scene, struct draw_work *work);
void draw_work_free(struct draw_work *work);
/* Clear, draw and wait until it is done. */
void draw_run(struct draw_work *work);
/* Read the picture, as returned by gl_read(). */
void draw_read(struct draw_work *work, uint32_t *pixels);
/* The same scene, but vertices are shaded when tiles are rendered. */
void draw_work_deferred(struct gpu *gpu, const struct draw_scene *scene, struct draw_work *work);

/* Counts of one frame. */
struct draw_counts {
	uint64_t covered, shaded;	/* fragments of primitives, and those
					 * that programs ran for */
	uint64_t pages;			/* of the parameter buffer */
};
void draw_count(struct draw_work *work, struct draw_counts *counts);

#endif
