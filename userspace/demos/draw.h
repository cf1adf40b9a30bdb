/* SPDX-License-Identifier: MIT */
/*
 * Interface shared by the demos that draw: a render context with targets,
 * programs with their inputs, and frames built object by object.
 *
 * All functions exit with a message on failure.
 */
#ifndef PUMICE_DEMO_DRAW_H
#define PUMICE_DEMO_DRAW_H

#include <pumice/pumice_gfx.h>

#include "demo.h"
#include "matrix.h"
#include "mesh.h"

/* Requested properties; zero selects the usual default. */
struct draw_options {
	uint32_t width, height;
	uint32_t samples;	/* 0: 1 */
	uint32_t format;	/* of the picture; 0: RGBA8_SRGB */
	uint32_t pages;		/* of the parameter buffer; 0: ample */
	uint32_t tile_size;
	bool stats;		/* collect statistics of each tile */
	bool ahead;		/* frames are queued: see draw_queue() */
};

/* A frame that may be queued while the other one is rendered. */
struct draw_frame {
	struct pumice_stream *stream;
	struct pumice_image *picture;
	struct pumice_sync *sync;	/* signaled when it is rendered */
	bool queued;
	uint64_t job;			/* number of its fragment job */
};

/* A time of the GPU clock, without its end. */
struct draw_span {
	uint64_t start, end;
};

struct draw {
	const char *name;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *render, *transfer;
	struct pumice_stream *stream, *copies;
	struct pumice_freelist *list;
	struct pumice_hwrt *hwrt;
	struct pumice_image *picture;
	struct pumice_buffer stats;	/* tile_stats, if requested */
	struct draw_options options;
	float clear[4];			/* linear R, G, B, A */
	uint32_t scene;			/* of the data set: frames alternate */
	uint64_t clock_hz, geometry_ns, fragment_ns;	/* of the last frame, by the GPU clock */
	struct pumice_perfmon *perfmon;	/* counts all frames */
	struct draw_frame frame[2];	/* by scene; with options.ahead */
	struct draw_span rendered;	/* fragment job of the last frame; with options.ahead */
	uint32_t overlapped;		/* frames whose geometry job overlapped the fragment job
					 * of the previous one */
};

/* Counters, accumulated over the frames so far. */
enum draw_count {
	DRAW_PARTIALS,		/* partial renders */
	DRAW_PAGES,		/* pages of the parameter buffer that were allocated */
	DRAW_PRIMITIVES,	/* primitives of draws */
	DRAW_COVERED,		/* pixels that primitives covered */
	DRAW_SHADED,		/* pixels that fragment programs ran for */
	DRAW_COUNTS
};

/* A model in memory. */
struct draw_model {
	struct pumice_buffer vertices, indices;
	uint32_t vertex_count, index_count;
};

/* One object of a frame: state with its stages set, and the model. */
struct draw_object {
	const struct draw_model *model;
	const struct pumice_kernel *vertex, *fragment;
	const uint32_t *vertex_uniforms;	/* from sh0 on */
	uint32_t vertex_words;
	const uint32_t *fragment_uniforms;
	uint32_t fragment_words;
	const uint32_t *vertex_stream;	/* words of register "uniform" of the vertex program */
	uint32_t stream_words;
	const struct pumice_image *texture;	/* to sh16 of the fragment program; or NULL */
	bool mipmaps;
	struct pumice_draw_state state;
	uint32_t instances;	/* 0: 1 */
};

void draw_open(struct draw *draw, const char *name, const char *device,
	       const struct draw_options *options);
void draw_close(struct draw *draw);

struct pumice_kernel *draw_program(struct draw *draw, const unsigned char *file, size_t bytes);
void draw_buffer(struct draw *draw, uint64_t bytes, struct pumice_buffer *buffer);
void draw_model(struct draw *draw, const struct mesh *mesh, struct draw_model *model);
void draw_model_free(struct draw_model *model);
/* Create an RGBA8_SRGB texture with all levels, which the PTLA generates from level 0. */
struct pumice_image *draw_texture(struct draw *draw, uint32_t size, const uint32_t *texels);

/* Set a state with depth test and write, backs of counter-clockwise triangles culled. */
void draw_object_init(struct draw *draw, struct draw_object *object);

/*
 * A frame: begin, objects, end. The vertex program receives a mesh_vertex:
 * v0 position, v4 normal, v8 uv; v12 is the instance. Eight varyings go to
 * v0 to v7 of the fragment program, interpolated with perspective.
 */
void draw_begin(struct draw *draw);
void draw_add(struct draw *draw, const struct draw_object *object);
void draw_end(struct draw *draw);

/*
 * With options.ahead, instead of draw_end(): queue the frame, whose geometry may then run in
 * parallel with the fragments of the previous one. At most two frames are queued: draw_begin()
 * of a third one needs the first one to be complete.
 */
void draw_queue(struct draw *draw);
/* Return whether the GPU did both at some time. A span of no ticks overlaps none. */
bool draw_spans_overlap(const struct draw_span *a, const struct draw_span *b);

/*
 * Wait for the oldest queued frame, and read its picture, as draw_pixels(). NULL: none is queued.
 */
uint8_t *draw_complete(struct draw *draw);

/* Read the picture: 8-bit R, G, B, row by row from the top; free() it. */
uint8_t *draw_pixels(struct draw *draw);
/* Save it as a PNG file, and print one line with its CRC-32. */
void draw_write(struct draw *draw, const char *path);
uint64_t draw_counted(struct draw *draw, enum draw_count count);
/* Print one line: times of the last frame. */
void draw_report(const struct draw *draw, const char *what);

/* demo_arguments() of a demo whose only own option is -o FILE. */
const char *draw_arguments(const char *name, const char *purpose, int argc, char **argv,
			   const char **path);

/* Compute the uniforms of mesh_vertex.pasm: to clip space, then of the model in the world. */
void draw_matrices(uint32_t words[32], const struct matrix *clip, const struct matrix *model);

#endif
