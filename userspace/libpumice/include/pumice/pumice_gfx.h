/* SPDX-License-Identifier: MIT */
/*
 * libpumice, graphics: what render and transfer contexts need beside pumice.h.
 *
 *   vm ─┬─ freelist   pages of the parameter buffer
 *       ├─ hwrt       render-target data set: two scenes
 *       └─ image      texture or render target with levels and layers
 *
 * Records of the hardware are the structures of pumice_formats.h, which is generated
 * from hw/formats.xml: their fields are documented there and in the hardware
 * reference. Numbers that are f32 there are float here. pumice_<record>_defaults() of
 * that header fills a record, such as pumice_vdm_draw_defaults(). Builders place
 * records in the memory of a stream (pumice_stream_create()) and fill in the
 * addresses that join them.
 *
 * A frame: a geometry stream (pumice_stream_draw_state(), pumice_stream_draw() …
 * pumice_stream_vdm_end()), a render record (pumice_stream_render()), and
 * pumice_render() or, to queue many, pumice_submit_gfx().
 *
 * Errors, threads and lifetimes are as in pumice.h.
 */
#ifndef PUMICE_PUMICE_GFX_H
#define PUMICE_PUMICE_GFX_H

#include "pumice.h"
#include "pumice_formats.h"
#include "pumice_isa_enums.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pumice_freelist;
struct pumice_hwrt;
struct pumice_image;
struct pumice_canvas;

/* ---------------------------------------------------------------- contexts */

/** enum pumice_context_type - which data masters a context has. */
enum pumice_context_type {
	/** @PUMICE_CONTEXT_COMPUTE: compute */
	PUMICE_CONTEXT_COMPUTE = 1,
	/** @PUMICE_CONTEXT_RENDER: vertex and pixel data master, a queue for each */
	PUMICE_CONTEXT_RENDER = 2,
	/** @PUMICE_CONTEXT_TRANSFER: transfer */
	PUMICE_CONTEXT_TRANSFER = 3,
};

/**
 * pumice_context_create_type - make a context of any type.
 * @type: enum pumice_context_type
 * @priority: as in pumice_context_create()
 * @context: out
 *
 * Return: as pumice_context_create().
 */
int pumice_context_create_type(struct pumice_vm *vm, enum pumice_context_type type,
			       enum pumice_priority priority, struct pumice_context **context);

/* ------------------------------------------- parameter buffer and data sets */

/** struct pumice_freelist_desc - a free list of pages of 4 KiB. */
struct pumice_freelist_desc {
	/** @initial_pages: pages to begin with, not 0 */
	uint32_t initial_pages;
	/** @max_pages: at least @initial_pages, at most 262144 */
	uint32_t max_pages;
	/** @grow_pages: pages to grow by; 0: it does not grow */
	uint32_t grow_pages;
	/** @threshold: it grows when less than this many percent are free; below 100 */
	uint32_t threshold;
};

/** pumice_freelist_desc_init - 4 MiB that grow to 256 MiB. */
void pumice_freelist_desc_init(struct pumice_freelist_desc *desc);

/** pumice_freelist_create - make a free list. Return: 0, -EINVAL, -E2BIG, -ENOSPC, -ENOMEM. */
int pumice_freelist_create(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			   struct pumice_freelist **list);

/** pumice_freelist_destroy - data sets that use it must have been destroyed. */
void pumice_freelist_destroy(struct pumice_freelist *list);

/** struct pumice_hwrt_desc - a render-target data set. */
struct pumice_hwrt_desc {
	/** @width: pixels, 1 to 8192 */
	uint32_t width;
	/** @height: pixels, 1 to 8192 */
	uint32_t height;
	/** @samples: of a pixel: 1, 2 or 4 */
	uint32_t samples;
	/** @tile_size: enum pumice_tile_size */
	uint32_t tile_size;
	/** @local: free list that is used first */
	struct pumice_freelist *local;
	/** @global: free list that is used when the first is empty; or NULL */
	struct pumice_freelist *global;
	/** @spill_outputs: outputs that partial renders have room for; 0: none, they fault */
	uint32_t spill_outputs;
};

/** pumice_hwrt_desc_init - one sample, tiles of 32 x 32, partial renders of 4 outputs. */
void pumice_hwrt_desc_init(struct pumice_hwrt_desc *desc, struct pumice_freelist *local,
			   uint32_t width, uint32_t height);

/** pumice_hwrt_create - make a data set of two scenes. Return: 0, -EINVAL, -ENOSPC, -ENOMEM. */
int pumice_hwrt_create(struct pumice_vm *vm, const struct pumice_hwrt_desc *desc,
		       struct pumice_hwrt **hwrt);

/** pumice_hwrt_destroy - only when jobs that use it have ended. */
void pumice_hwrt_destroy(struct pumice_hwrt *hwrt);

/* -------------------------------------------------------------------- jobs */

/** enum pumice_job_type - kinds of jobs. */
enum pumice_job_type {
	/** @PUMICE_JOB_DEFAULT: the only kind of a compute or transfer context */
	PUMICE_JOB_DEFAULT = 0,
	/** @PUMICE_JOB_GEOMETRY: the job behind it must be the FRAGMENT job of the scene */
	PUMICE_JOB_GEOMETRY = 1,
	/** @PUMICE_JOB_FRAGMENT: waits for the GEOMETRY job before it by itself */
	PUMICE_JOB_FRAGMENT = 2,
};

/** struct pumice_gfx_job - one job of any context. */
struct pumice_gfx_job {
	/** @context: queue */
	struct pumice_context *context;
	/** @stream: GPU virtual address: control stream, of a FRAGMENT job the render record */
	uint64_t stream;
	/** @syncs: @sync_count waits and signals */
	const struct pumice_job_sync *syncs;
	/** @sync_count: elements of @syncs */
	uint32_t sync_count;
	/** @perfmon: pumice_perfmon_id() of the monitor that counts it, or 0 */
	uint32_t perfmon;
	/** @type: enum pumice_job_type */
	uint32_t type;
	/** @hwrt_data: GEOMETRY, FRAGMENT: scene of @hwrt, 0 or 1 */
	uint32_t hwrt_data;
	/** @hwrt: GEOMETRY, FRAGMENT: data set; else NULL */
	struct pumice_hwrt *hwrt;
};

/** pumice_gfx_job_init - a DEFAULT job that waits for nothing and signals nothing. */
void pumice_gfx_job_init(struct pumice_gfx_job *job, struct pumice_context *context,
			 uint64_t stream);

/**
 * pumice_submit_gfx - queue jobs, all or none.
 * @jobs: may wait for what earlier jobs of the same call signal
 * @count: jobs, at most 64
 * @failed: out, on failure only: index of the job that was refused; may be NULL
 *
 * Return: as pumice_submit(); -EINVAL for a geometry job without its fragment job.
 */
int pumice_submit_gfx(struct pumice_device *dev, const struct pumice_gfx_job *jobs,
		      uint32_t count, uint32_t *failed);

/** struct pumice_frame - both jobs of a frame. */
struct pumice_frame {
	/** @hwrt: data set */
	struct pumice_hwrt *hwrt;
	/** @hwrt_data: its scene, 0 or 1 */
	uint32_t hwrt_data;
	/** @perfmon: of both jobs, or 0 */
	uint32_t perfmon;
	/** @geometry: vertex control stream */
	uint64_t geometry;
	/** @render: render record, from pumice_stream_render() */
	uint64_t render;
};

/** pumice_frame_init - a frame in scene 0 of a data set; its streams are left to be set. */
void pumice_frame_init(struct pumice_frame *frame, struct pumice_hwrt *hwrt);

/**
 * pumice_render - submit both jobs of a frame, wait for them, and tell how they ended.
 * @frame: jobs
 * @timeout_ns: of the wait; PUMICE_FOREVER
 * @state: out, also when a job failed; may be NULL
 *
 * The context must not be in use by others meanwhile.
 *
 * Return: as pumice_context_run().
 */
int pumice_render(struct pumice_context *context, const struct pumice_frame *frame,
		  uint64_t timeout_ns, struct pumice_context_state *state);

/* ------------------------------------------------------------------ images */

/** struct pumice_image_desc - what an image is. */
struct pumice_image_desc {
	/** @format: enum pumice_format */
	uint32_t format;
	/** @layout: enum pumice_layout */
	uint32_t layout;
	/** @dim: enum pumice_texture_dim */
	uint32_t dim;
	/** @width: texels; of a target that keeps all samples, times their number */
	uint32_t width;
	/** @height: texels; 0 is 1 */
	uint32_t height;
	/** @depth: slices of 3D, else layers, six for each cube; 0 is 1 */
	uint32_t depth;
	/** @levels: mip levels; 0: all there can be */
	uint32_t levels;
	/** @stride: bytes from row to row of a LINEAR image of one level; 0: the least */
	uint32_t stride;
};

/** pumice_image_desc_init - a LINEAR 2D image of one level. */
void pumice_image_desc_init(struct pumice_image_desc *desc, uint32_t format, uint32_t width,
			    uint32_t height);

/** pumice_image_create - make a zeroed image. Return: 0, -EINVAL, -ENOMEM. */
int pumice_image_create(struct pumice_vm *vm, const struct pumice_image_desc *desc,
			struct pumice_image **image);

/** pumice_image_destroy - only when jobs that use it have ended. */
void pumice_image_destroy(struct pumice_image *image);

/** pumice_image_info - describe an image; 0 in the description has become what it stood for. */
void pumice_image_info(const struct pumice_image *image, struct pumice_image_desc *desc);

/** pumice_image_va - GPU virtual address of level 0, layer 0. */
uint64_t pumice_image_va(const struct pumice_image *image);

/** struct pumice_image_part - a layer of a level. */
struct pumice_image_part {
	/** @level: level */
	uint32_t level;
	/** @layer: layer, or slice of 3D */
	uint32_t layer;
};

/**
 * pumice_image_upload - write a layer of a level.
 * @part: which one
 * @texels: in the image's format, rows from the top; of compressed formats blocks
 * @row_bytes: from one row of @texels to the next; 0: rows without gaps
 *
 * Return: 0, -EINVAL.
 */
int pumice_image_upload(struct pumice_image *image, struct pumice_image_part part,
			const void *texels, size_t row_bytes);

/**
 * pumice_image_download - read a layer of a level.
 * @part: which one
 * @texels: out: as in pumice_image_upload()
 * @row_bytes: as in pumice_image_upload()
 *
 * Return: 0, -EINVAL.
 */
int pumice_image_download(const struct pumice_image *image, struct pumice_image_part part,
			  void *texels, size_t row_bytes);

/** pumice_image_texture - the whole image as a texture, components in their order. */
void pumice_image_texture(const struct pumice_image *image, struct pumice_texture *texture);

/**
 * pumice_image_mipmaps - make all other levels of an image out of level 0, and wait.
 * @vm: of the image
 * @image: not compressed
 *
 * Return: as pumice_context_create_type() and pumice_context_run().
 */
int pumice_image_mipmaps(struct pumice_vm *vm, struct pumice_image *image);

/** pumice_sampler_init - nearest texel of level 0, repeated. */
void pumice_sampler_init(struct pumice_sampler *sampler);

/* ------------------------------------------------------------------ stages */

/** enum pumice_input_kind - what the PDS brings to a program. */
enum pumice_input_kind {
	/** @PUMICE_INPUT_UNIFORMS: words to shared registers */
	PUMICE_INPUT_UNIFORMS,
	/** @PUMICE_INPUT_TEXTURE: texture and sampler state to 12 shared registers */
	PUMICE_INPUT_TEXTURE,
	/** @PUMICE_INPUT_SOURCE: something the PDS knows, to a register */
	PUMICE_INPUT_SOURCE,
	/** @PUMICE_INPUT_ATTRIBUTE: vertex attribute to four attribute registers */
	PUMICE_INPUT_ATTRIBUTE,
	/** @PUMICE_INPUT_VARYING: interpolated varyings to attribute registers */
	PUMICE_INPUT_VARYING,
	/** @PUMICE_INPUT_PLANES: planes of varyings, three coefficient registers each */
	PUMICE_INPUT_PLANES,
	/** @PUMICE_INPUT_PREFETCH: texture read ahead of the program to four attribute registers */
	PUMICE_INPUT_PREFETCH,
};

/** struct pumice_input - one input of a program; members of other kinds are not looked at. */
struct pumice_input {
	/** @kind: enum pumice_input_kind */
	uint32_t kind;
	/** @reg: first register */
	uint32_t reg;
	/** @words: UNIFORMS: copied */
	const uint32_t *words;
	/** @count: UNIFORMS: words; ATTRIBUTE, VARYING, PLANES: components, 1 to 4 */
	uint32_t count;
	/** @source: SOURCE: enum pumice_pds_source */
	uint32_t source;
	/** @texture: TEXTURE, PREFETCH */
	const struct pumice_texture *texture;
	/** @sampler: TEXTURE, PREFETCH; NULL is pumice_sampler_init() */
	const struct pumice_sampler *sampler;
	/** @format: ATTRIBUTE: enum pumice_attr_kind */
	uint32_t format;
	/** @va: ATTRIBUTE: GPU virtual address of element 0 */
	uint64_t va;
	/** @stride: ATTRIBUTE: bytes from one element to the next */
	uint32_t stride;
	/** @elements: ATTRIBUTE: elements; those beyond read as 0 */
	uint32_t elements;
	/** @divisor: ATTRIBUTE: 0: by vertex; n: by instance over n */
	uint32_t divisor;
	/** @varying: VARYING, PLANES, PREFETCH: first varying; 64: 1/w, 65: depth */
	uint32_t varying;
	/** @mode: VARYING, PREFETCH: enum pumice_usc_iterate */
	uint32_t mode;
};

/**
 * pumice_input_uniforms - words to shared registers.
 * @reg: first shared register
 * @words: @count words, floats or integers; copied when the stage is made
 * @count: words
 *
 * Return: the input.
 */
struct pumice_input pumice_input_uniforms(uint32_t reg, const void *words, uint32_t count);

/**
 * pumice_input_texture - texture and sampler state to 12 shared registers.
 * @reg: first shared register
 * @texture: used when the stage is made
 * @sampler: the same; NULL is pumice_sampler_init()
 *
 * Return: the input.
 */
struct pumice_input pumice_input_texture(uint32_t reg, const struct pumice_texture *texture,
					 const struct pumice_sampler *sampler);

/**
 * pumice_input_source - something that the PDS computes, to a register.
 * @reg: attribute register
 * @source: enum pumice_pds_source
 *
 * Return: the input.
 */
struct pumice_input pumice_input_source(uint32_t reg, uint32_t source);

/**
 * pumice_input_attribute - a vertex attribute of floats, by vertex, to four registers.
 * @reg: first attribute register
 * @count: components, 1 to 4
 * @va: GPU virtual address of element 0
 * @stride: bytes from one element to the next
 * @elements: elements; those beyond read as 0
 *
 * Other formats and attributes by instance: set the members format and divisor.
 *
 * Return: the input.
 */
struct pumice_input pumice_input_attribute(uint32_t reg, uint32_t count, uint64_t va,
					   uint32_t stride, uint32_t elements);

/**
 * pumice_input_varying - varyings, interpolated with perspective, to attribute registers.
 * @reg: first attribute register
 * @varying: first varying
 * @count: varyings, 1 to 4
 *
 * Return: the input.
 */
struct pumice_input pumice_input_varying(uint32_t reg, uint32_t varying, uint32_t count);

/** struct pumice_stage_desc - a program with its inputs. */
struct pumice_stage_desc {
	/** @kernel: the program; its own PDS program and size of work-groups are not used */
	const struct pumice_kernel *kernel;
	/** @inputs: @input_count inputs */
	const struct pumice_input *inputs;
	/** @input_count: elements of @inputs */
	uint32_t input_count;
};

/** pumice_stage_desc_init - a program without inputs. */
void pumice_stage_desc_init(struct pumice_stage_desc *desc, const struct pumice_kernel *kernel);

/**
 * pumice_stream_stage - make the PDS program of a stage, and its words.
 * @desc: stage
 * @words: out: for vdm_state, tsp_state or pdm_render
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_stage(struct pumice_stream *stream, const struct pumice_stage_desc *desc,
			uint32_t words[4]);

/* --------------------------------------------------------- geometry streams */

/** struct pumice_draw_state - the three records that draws need; addresses are filled in. */
struct pumice_draw_state {
	/** @vdm: vertex stages, viewport, culling */
	struct pumice_vdm_state vdm;
	/** @isp: depth, stencil, scissor */
	struct pumice_isp_state isp;
	/** @tsp: fragment stage */
	struct pumice_tsp_state tsp;
};

/**
 * pumice_draw_state_init - a state that draws everything.
 * @width: pixels: viewport and scissor
 * @height: pixels
 *
 * No culling, clipping against z from 0 to w, depth and stencil always pass and
 * are not written, opaque, all samples, points and lines a pixel wide. The
 * viewport turns y round: y = 1 is up. Stages and varyings are left to be set.
 */
void pumice_draw_state_init(struct pumice_draw_state *state, uint32_t width, uint32_t height);

/** struct pumice_viewport - where clip space goes: pixels, depths. */
struct pumice_viewport {
	/** @x: left */
	float x;
	/** @y: top */
	float y;
	/** @width: pixels */
	float width;
	/** @height: pixels */
	float height;
	/** @near: depth of z = 0, with clip_minus_w of z = -w */
	float near;
	/** @far: depth of z = w */
	float far;
};

/** pumice_viewport_init - the whole of a target, depths from 0 to 1. */
void pumice_viewport_init(struct pumice_viewport *viewport, uint32_t width, uint32_t height);

/** pumice_draw_state_viewport - set scale and offset, y upwards, after clip_minus_w. */
void pumice_draw_state_viewport(struct pumice_draw_state *state,
				const struct pumice_viewport *viewport);

/**
 * pumice_stream_draw_state - add STATE with copies of the records.
 * @state: records
 * @va: out: GPU virtual address of the vdm_state, for pumice_stream_state(); may be NULL
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_draw_state(struct pumice_stream *stream, const struct pumice_draw_state *state,
			     uint64_t *va);

/** pumice_stream_state - add STATE with a record that is there. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_state(struct pumice_stream *stream, uint64_t va);

/**
 * pumice_stream_stages - add STATE with the programs of a vertex and a fragment stage.
 * @stream: geometry stream
 * @state: records; their stages are filled in
 * @vertex: vertex stage
 * @fragment: fragment stage; NULL where nothing is shaded
 *
 * Return: as pumice_stream_stage() and pumice_stream_draw_state().
 */
int pumice_stream_stages(struct pumice_stream *stream, const struct pumice_draw_state *state,
			 const struct pumice_stage_desc *vertex,
			 const struct pumice_stage_desc *fragment);

/** pumice_stream_draw - add DRAW. Return: 0, -EINVAL for no instances, -ENOSPC. */
int pumice_stream_draw(struct pumice_stream *stream, const struct pumice_vdm_draw *draw);

/** pumice_stream_draw_indexed - add DRAW_INDEXED. Return: 0, -EINVAL for no instances, -ENOSPC. */
int pumice_stream_draw_indexed(struct pumice_stream *stream,
			       const struct pumice_vdm_draw_indexed *draw);

/** pumice_stream_draw_indirect - add DRAW_INDIRECT. Return: 0, -ENOSPC. */
int pumice_stream_draw_indirect(struct pumice_stream *stream,
				const struct pumice_vdm_draw_indirect *draw);

/** pumice_stream_draw_indexed_indirect - add DRAW_INDEXED_INDIRECT. Return: 0, -ENOSPC. */
int pumice_stream_draw_indexed_indirect(struct pumice_stream *stream,
					const struct pumice_vdm_draw_indexed_indirect *draw);

/** pumice_stream_vdm_call - add CALL. @va: sub-list. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_vdm_call(struct pumice_stream *stream, uint64_t va);

/** pumice_stream_vdm_return - add RETURN. Return: 0, -ENOSPC. */
int pumice_stream_vdm_return(struct pumice_stream *stream);

/** pumice_stream_vdm_link - add LINK. @va: stream to go on in. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_vdm_link(struct pumice_stream *stream, uint64_t va);

/**
 * pumice_stream_vdm_end - add HALT of a geometry stream.
 * @va: out: start of the stream's memory; may be NULL
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_vdm_end(struct pumice_stream *stream, uint64_t *va);

/* ----------------------------------------------------------- render records */

/* Most render targets of a frame. */
#define PUMICE_MAX_TARGETS 8

/** struct pumice_target - an image that a frame is stored to. */
struct pumice_target {
	/** @image: 2D, not compressed, no depth */
	const struct pumice_image *image;
	/** @part: level and layer */
	struct pumice_image_part part;
	/** @source: first of its output registers, one for each component of the format */
	uint32_t source;
	/** @keep: bit n: component n keeps what memory holds */
	uint32_t keep;
	/** @dither: dither formats of few bits */
	bool dither;
	/** @resolve: average the samples; else sample 0 is stored */
	bool resolve;
	/** @samples: store every sample: their number, by which the image is wider; else 0 */
	uint32_t samples;
	/** @load: outputs start with what the image holds, f32; one sample a pixel */
	bool load;
};

/** pumice_target_init - all components of level 0, layer 0, from output 0 on. */
void pumice_target_init(struct pumice_target *target, const struct pumice_image *image);

/** struct pumice_render_desc - what a fragment job does. */
struct pumice_render_desc {
	/** @pdm: depth, stencil, outputs, counters; its stages are filled in */
	struct pumice_pdm_render pdm;
	/** @targets: @target_count targets */
	struct pumice_target targets[PUMICE_MAX_TARGETS];
	/** @target_count: targets that there are */
	uint32_t target_count;
	/** @clear: what the outputs that no target loads start with, of the target's type */
	union pumice_number clear[32];
	/** @background: instead of clearing and loading; or NULL */
	const struct pumice_stage_desc *background;
	/** @end_of_tile: instead of storing to @targets; or NULL */
	const struct pumice_stage_desc *end_of_tile;
};

/**
 * pumice_render_desc_init - four outputs that are cleared to 0, depth cleared to 1.
 * @image: first target, or NULL for none
 *
 * Depth and stencil are neither loaded nor stored.
 */
void pumice_render_desc_init(struct pumice_render_desc *desc, const struct pumice_image *image);

/**
 * pumice_stream_render - place a render record with the programs that it needs.
 * @desc: record
 * @va: out: for struct pumice_frame, or the stream of a FRAGMENT job
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_render(struct pumice_stream *stream, const struct pumice_render_desc *desc,
			 uint64_t *va);

/* ---------------------------------------------------------------- canvases */

/** struct pumice_canvas_desc - an image to draw to. */
struct pumice_canvas_desc {
	/** @format: enum pumice_format, of a target */
	uint32_t format;
	/** @width: pixels */
	uint32_t width;
	/** @height: pixels */
	uint32_t height;
	/** @samples: of a pixel: 1, 2 or 4; averaged */
	uint32_t samples;
};

/** pumice_canvas_desc_init - RGBA8_SRGB, one sample. */
void pumice_canvas_desc_init(struct pumice_canvas_desc *desc, uint32_t width, uint32_t height);

/**
 * pumice_canvas_create - make an image with all that drawing to it takes.
 * @vm: address space
 * @desc: image
 * @canvas: out: context, free list, data set, stream, image
 *
 * Return: as the functions that create these.
 */
int pumice_canvas_create(struct pumice_vm *vm, const struct pumice_canvas_desc *desc,
			 struct pumice_canvas **canvas);

/** pumice_canvas_destroy - only between frames. */
void pumice_canvas_destroy(struct pumice_canvas *canvas);

/** pumice_canvas_image - what is drawn to; it goes with the canvas. */
struct pumice_image *pumice_canvas_image(const struct pumice_canvas *canvas);

/**
 * pumice_canvas_begin - begin a frame.
 *
 * Return: the canvas's geometry stream, empty, of 1 MiB.
 */
struct pumice_stream *pumice_canvas_begin(struct pumice_canvas *canvas);

/**
 * pumice_canvas_end - end the stream, render it to the image, and wait.
 * @canvas: whose frame was begun
 * @clear: what the four outputs of every pixel start with, linear; depth starts with 1
 * @timeout_ns: of the wait; PUMICE_FOREVER
 *
 * Return: as pumice_stream_render() and pumice_render().
 */
int pumice_canvas_end(struct pumice_canvas *canvas, const float clear[4], uint64_t timeout_ns);

/* --------------------------------------------------------- transfer streams */

/** pumice_stream_copy - add COPY. Return: 0, -ENOSPC. */
int pumice_stream_copy(struct pumice_stream *stream, const struct pumice_tdm_copy *copy);

/** pumice_stream_fill - add FILL. Return: 0, -ENOSPC. */
int pumice_stream_fill(struct pumice_stream *stream, const struct pumice_tdm_fill *fill);

/**
 * pumice_stream_blit - add BLIT.
 * @src: image to read
 * @dst: image to write
 * @blit: all but the addresses
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_blit(struct pumice_stream *stream, const struct pumice_image *src,
		       const struct pumice_image *dst, const struct pumice_tdm_blit *blit);

/**
 * pumice_stream_clear - add CLEAR.
 * @dst: image to write
 * @clear: all but the address
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_clear(struct pumice_stream *stream, const struct pumice_image *dst,
			const struct pumice_tdm_clear *clear);

/**
 * pumice_stream_mipmaps - add DOWNSCALE of each level to the next.
 * @image: whose level 0 is there
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_mipmaps(struct pumice_stream *stream, const struct pumice_image *image);

/** pumice_stream_tdm_link - add LINK. @va: stream to go on in. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_tdm_link(struct pumice_stream *stream, uint64_t va);

/**
 * pumice_stream_tdm_end - add HALT of a transfer stream.
 * @va: out: for pumice_context_run() or struct pumice_job; may be NULL
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_tdm_end(struct pumice_stream *stream, uint64_t *va);

#ifdef __cplusplus
}
#endif

#endif
