/* SPDX-License-Identifier: MIT */
/*
 * Scenes: small random pictures, drawn by the GPU through the library and by the
 * reference rasteriser, and compared.
 *
 * A scene is plain data (gen.c generates it from a seed). Every fragment program writes
 * five outputs: R, G, B, A and the number of its draw, which identifies the visible draw
 * of each pixel.
 */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice_gfx.h"

#define SCENE_MAX_SIZE	80u	/* pixels */
#define SCENE_DRAWS	6u
#define SCENE_VERTICES	48u
#define SCENE_INDICES	64u
#define SCENE_OUTPUTS	5u	/* R, G, B, A, number of the draw */
#define SCENE_VARYINGS	6u	/* colour, u, v */
#define SCENE_TEXELS	8u	/* the texture's width and height */
#define SCENE_STREAM_WORDS	3u	/* of uniforms; programs use the last one */

#define SECOND	1000000000ull
#ifdef __SANITIZE_THREAD__
#define LONG	(600 * SECOND)
#else
#define LONG	(60 * SECOND)
#endif
/* Sanitizers are many times slower: of scenes that several devices draw, a share is drawn. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SCENE_SHARE	3u
#else
#define SCENE_SHARE	1u
#endif

/* Kinds of fragment programs. */
enum shading {
	SHADE_PLAIN,	/* the interpolated colour */
	SHADE_BLEND,	/* over the previous colour, by its alpha */
	SHADE_DISCARD,	/* discards some pixels */
	SHADE_DEPTH,	/* writes its depth */
	SHADE_TEXTURE,	/* colour times texture, bilinear, read by the program */
	SHADE_PREFETCH,	/* the same, read by the PDS */
	SHADE_COUNT
};

enum interpolation {
	INTERP_PERSPECTIVE, INTERP_LINEAR, INTERP_FLAT, INTERP_CENTROID, INTERP_COUNT
};

/* Layout of a vertex in memory. */
struct scene_vertex {
	float position[4];
	uint8_t colour[4];
	float uv[2];
	float size;
};

struct scene_draw {
	uint32_t topology, shading, interpolation;
	uint32_t count, first, instances;
	uint32_t index_bytes;	/* 0: no indices */
	bool restart, indirect;
	struct scene_vertex vertex[SCENE_VERTICES];
	uint32_t index[SCENE_INDICES];
	bool sample_rate, point_size, coordinate;
	bool task, after;	/* a task without instances before it; it depends on tasks */
	uint32_t streams;	/* words of the streams from which programs read their uniforms */
	bool deferred;	/* deferred vertex shading; needs coordinate */
	bool table;	/* attributes in a table, coordinate program of deferred vertices derived */
	bool coeffs;	/* colour and number in coefficient registers: coeffs.c; neither streams
			 * nor table */
	/* All fields except stages and addresses. */
	struct pumice_draw_state state;
};

struct scene {
	uint32_t seed, width, height, samples, tile_size;
	uint32_t depth_format;	/* in memory: enum pumice_depth_format */
	uint32_t format;	/* of a further target, which gets the average of the samples */
	uint32_t draws;
	struct scene_draw draw[SCENE_DRAWS];
	float clear[SCENE_OUTPUTS], clear_depth;
	uint8_t clear_stencil;
	bool mask, mask_load, clear_mask;	/* the scene has a mask plane,
						 * stored and maybe loaded */
};

/* Result of drawing: every sample of every pixel. */
struct picture {
	float colour[SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4][4];
	float id[SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4];
	/* Reference: as in the tile; GPU: as stored in memory, f32 or an integer. */
	float depth[SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4];
	uint8_t stencil[SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4];
	bool mask[SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4];
	float error[SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4];	/* reference: error bound */
	uint64_t visible[SCENE_DRAWS];
	uint8_t packed[SCENE_MAX_SIZE * SCENE_MAX_SIZE * 16];	/* GPU: texels of the
								 * further target */
};

/* ------------------------------------------------------------------- fixture.c */

struct fx_buffer {
	struct pumice_bo *bo;
	void *cpu;
	uint64_t va, bytes;
};

#define FX_KINDS	(SHADE_COUNT + 4)	/* of programs; each with each number of words */
#define FX_COEFFS	(FX_KINDS * (SCENE_STREAM_WORDS + 1))	/* the first of coeffs.c */
#define FX_PROGRAMS	(FX_COEFFS + SHADE_COUNT * INTERP_COUNT)

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream, *list_stream;
	struct pumice_freelist *list;
	struct fx_buffer vertices, depth, stencil, mask, visible;
	struct pumice_image *texture;
	struct pumice_kernel *program[FX_PROGRAMS];	/* loaded on demand */
	struct pumice_perfmon *perfmon;	/* counts partial renders */
};

/* Open a device of the library's in-process kind; @options such as "cores=4,threads=0". */
void fx_open(struct fixture *fx, const char *options, uint32_t pages);
void fx_close(struct fixture *fx);
/* Number of partial renders so far. */
uint64_t fx_partials(struct fixture *fx);
void fx_buffer(struct fixture *fx, uint64_t bytes, struct fx_buffer *buffer);
void fx_buffer_free(struct fixture *fx, struct fx_buffer *buffer);
struct pumice_kernel *fx_kernel(struct fixture *fx, const char *text);
/* Fails the test where @err is not 0. */
void fx_check(struct fixture *fx, const char *what, int err);
uint32_t fx_f32(float value);

/* ------------------------------------------------------------------ others */

/* gen.c: generate a scene from a seed. */
void scene_make(struct scene *scene, uint32_t seed);
uint32_t scene_random(uint32_t *state);
/* Mask bits in memory of scenes that load them; @n: number of the sample in the picture. */
bool scene_mask_bit(const struct scene *scene, uint32_t n);
/* Get a texel of the texture that all scenes use. */
void scene_texel(uint32_t x, uint32_t y, uint8_t rgba[4]);

/* formats.c: formats of the further target, one by one. */
uint32_t scene_format(uint32_t n);
/* Return whether a texel is the conversion of a colour with a permitted error of @error. */
bool scene_texel_is(uint32_t format, const uint8_t *texel, const double colour[4], double error);
uint32_t scene_texel_bytes(uint32_t format);
/* Return a depth as stored in memory. */
uint32_t scene_depth(uint32_t depth_format, float depth);

/* draw_gpu.c */
/* A frame and the buffers that it is stored to. */
struct scene_frame {
	struct pumice_frame frame;
	struct pumice_image *image[3];
};
/* Append a scene's jobs to the fixture's stream; its vertices replace the previous scene's. */
void scene_put(struct fixture *fx, const struct scene *scene, struct scene_frame *frame);
void scene_free(struct scene_frame *frame);
void scene_draw_gpu(struct fixture *fx, const struct scene *scene, struct picture *out);
/* draw_ref.c */
void scene_draw_reference(const struct scene *scene, struct picture *out);

/* coeffs.c */
/* Change a fragment program: its colour and number are in coefficient registers. */
void scene_coeffs_text(uint32_t interpolation, const char *text, char *out, size_t bytes);
/* Make the words of a fragment stage with such a program; @desc: without these inputs. */
void scene_coeffs_stage(struct fixture *fx, const struct pumice_stage_desc *desc, float number,
			uint32_t words[4]);

/* capture.c */
/* Write a capture of a frame before it is rendered; @pages of its free list. */
void scene_capture(struct fixture *fx, const struct scene *scene, const struct scene_frame *frame,
		   const struct pumice_image *image, uint32_t pages, const char *path);
/*
 * Render a capture on a device of its own, and read memory of it afterwards. Returns the number of
 * partial renders.
 */
uint32_t scene_replay(const char *path, const char *device, uint64_t va, void *data, size_t bytes);

#endif
