/* SPDX-License-Identifier: MIT */
/*
 * libpumice, graphics: interface of render and transfer contexts, in addition to pumice.h.
 *
 *   vm ─┬─ freelist   pages of the parameter buffer
 *       ├─ hwrt       render-target data set: two scenes
 *       └─ image      texture or render target with levels and layers
 *
 * Records of the hardware are the structures of pumice_formats.h, which is
 * generated from hw/formats.xml: their fields are documented there and in
 * the hardware reference. f32 fields are of type float here.
 * pumice_<record>_defaults() of that header fills a record, such as
 * pumice_vdm_draw_defaults(). Builders place records in the memory of a
 * stream (pumice_stream_create()) and fill in the addresses that link them.
 *
 * A frame: a geometry stream (pumice_stream_draw_state(), pumice_stream_draw() …
 * pumice_stream_vdm_end()), a render record (pumice_stream_render()), and
 * pumice_render() or, to queue several, pumice_submit_gfx().
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

/** enum pumice_context_type - selects the data masters of a context. */
enum pumice_context_type {
	/** @PUMICE_CONTEXT_COMPUTE: compute */
	PUMICE_CONTEXT_COMPUTE = 1,
	/** @PUMICE_CONTEXT_RENDER: vertex and pixel data master, a queue for each */
	PUMICE_CONTEXT_RENDER = 2,
	/** @PUMICE_CONTEXT_TRANSFER: transfer */
	PUMICE_CONTEXT_TRANSFER = 3,
	/** @PUMICE_CONTEXT_RAYS: ray tracing: pumice_rays.h */
	PUMICE_CONTEXT_RAYS = 4,
};

/**
 * pumice_context_create_type - create a context of any type.
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
	/** @initial_pages: initial number of pages, not 0 */
	uint32_t initial_pages;
	/** @max_pages: at least @initial_pages, at most 262144 */
	uint32_t max_pages;
	/** @grow_pages: pages to grow by; 0: no growth */
	uint32_t grow_pages;
	/** @threshold: it grows when fewer than this percentage are free; below 100 */
	uint32_t threshold;
};

/** pumice_freelist_desc_init - initialise to 4 MiB that grow to 256 MiB. */
void pumice_freelist_desc_init(struct pumice_freelist_desc *desc);

/** pumice_freelist_create - create one. Return: 0, -EINVAL, -E2BIG, -ENOSPC, -ENOMEM. */
int pumice_freelist_create(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			   struct pumice_freelist **list);

/**
 * pumice_freelist_create_gpu_tables - create one whose page tables the GPU's MMU keeps
 * @vm: address space
 * @desc: as for pumice_freelist_create(); initial_pages at least 3, of which two and every
 *	512th page of the list are page tables
 * @list: out: the list
 *
 * Pages are mapped while they belong to a scene. Results are the same.
 *
 * Return: as pumice_freelist_create(); -EOPNOTSUPP on a GPU that does not have such lists,
 * -EINVAL with a kernel before uapi 1.4.
 */
int pumice_freelist_create_gpu_tables(struct pumice_vm *vm,
				      const struct pumice_freelist_desc *desc,
				      struct pumice_freelist **list);

/** pumice_freelist_destroy - destroy it, after the data sets that use it. */
void pumice_freelist_destroy(struct pumice_freelist *list);

/** struct pumice_hwrt_desc - a render-target data set. */
struct pumice_hwrt_desc {
	/** @width: pixels, 1 to 8192 */
	uint32_t width;
	/** @height: pixels, 1 to 8192 */
	uint32_t height;
	/** @samples: per pixel: 1, 2 or 4 */
	uint32_t samples;
	/** @tile_size: enum pumice_tile_size */
	uint32_t tile_size;
	/** @local: free list that is used first */
	struct pumice_freelist *local;
	/** @global: free list that is used when the first is empty; or NULL */
	struct pumice_freelist *global;
	/** @spill_outputs: outputs that partial renders can store; 0: none, they fault */
	uint32_t spill_outputs;
};

/** pumice_hwrt_desc_init - set one sample, tiles of 32 x 32, partial renders of 4 outputs. */
void pumice_hwrt_desc_init(struct pumice_hwrt_desc *desc, struct pumice_freelist *local,
			   uint32_t width, uint32_t height);

/** pumice_hwrt_create - create a data set of two scenes. Return: 0, -EINVAL, -ENOSPC, -ENOMEM. */
int pumice_hwrt_create(struct pumice_vm *vm, const struct pumice_hwrt_desc *desc,
		       struct pumice_hwrt **hwrt);

/** pumice_hwrt_destroy - destroy it; jobs that use it must have ended. */
void pumice_hwrt_destroy(struct pumice_hwrt *hwrt);

/* -------------------------------------------------------------------- jobs */

/** enum pumice_job_type - kinds of jobs. */
enum pumice_job_type {
	/** @PUMICE_JOB_DEFAULT: the only kind of a compute, transfer or rays context */
	PUMICE_JOB_DEFAULT = 0,
	/** @PUMICE_JOB_GEOMETRY: the job after it must be the FRAGMENT job of the scene */
	PUMICE_JOB_GEOMETRY = 1,
	/** @PUMICE_JOB_FRAGMENT: waits implicitly for the GEOMETRY job before it */
	PUMICE_JOB_FRAGMENT = 2,
};

/** struct pumice_gfx_job - one job of any context. */
struct pumice_gfx_job {
	/** @context: context whose queue it is added to */
	struct pumice_context *context;
	/** @stream: GPU virtual address: control stream; for a FRAGMENT job it may be a render
	 * record */
	uint64_t stream;
	/** @syncs: @sync_count waits and signals */
	const struct pumice_job_sync *syncs;
	/** @sync_count: elements of @syncs */
	uint32_t sync_count;
	/** @perfmon: pumice_perfmon_id() of the monitor that measures it, or 0 */
	uint32_t perfmon;
	/** @type: enum pumice_job_type */
	uint32_t type;
	/** @hwrt_data: GEOMETRY, FRAGMENT: scene of @hwrt, 0 or 1 */
	uint32_t hwrt_data;
	/** @hwrt: GEOMETRY, FRAGMENT: data set; else NULL */
	struct pumice_hwrt *hwrt;
};

/** pumice_gfx_job_init - initialise a DEFAULT job without waits and signals. */
void pumice_gfx_job_init(struct pumice_gfx_job *job, struct pumice_context *context,
			 uint64_t stream);

/**
 * pumice_submit_gfx - queue all jobs, or none of them.
 * @jobs: may wait for signals of earlier jobs of the same call
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
	/** @perfmon: monitor of both jobs, or 0 */
	uint32_t perfmon;
	/** @geometry: vertex control stream */
	uint64_t geometry;
	/** @render: render control list, from pumice_stream_render_list(), or render record */
	uint64_t render;
};

/** pumice_frame_init - initialise a frame in scene 0 of a data set, without streams. */
void pumice_frame_init(struct pumice_frame *frame, struct pumice_hwrt *hwrt);

/**
 * pumice_render - submit both jobs of a frame, wait for them, and return the result.
 * @frame: jobs
 * @timeout_ns: of the wait; PUMICE_FOREVER
 * @state: out, also when a job failed; may be NULL
 *
 * The context must not be used by another thread meanwhile.
 *
 * Return: as pumice_context_run().
 */
int pumice_render(struct pumice_context *context, const struct pumice_frame *frame,
		  uint64_t timeout_ns, struct pumice_context_state *state);

/* ------------------------------------------------------------------ images */

/** struct pumice_image_desc - properties of an image. */
struct pumice_image_desc {
	/** @format: enum pumice_format */
	uint32_t format;
	/** @layout: enum pumice_layout */
	uint32_t layout;
	/** @dim: enum pumice_texture_dim */
	uint32_t dim;
	/** @width: texels; for a target that stores all samples, times their number */
	uint32_t width;
	/** @height: texels; 0 is 1 */
	uint32_t height;
	/** @depth: slices of 3D, else layers, six for each cube; 0 is 1 */
	uint32_t depth;
	/** @levels: mip levels; 0: as many as possible */
	uint32_t levels;
	/** @stride: bytes from row to row of a LINEAR image of one level; 0: minimum */
	uint32_t stride;
};

/** pumice_image_desc_init - initialise to a LINEAR 2D image of one level. */
void pumice_image_desc_init(struct pumice_image_desc *desc, uint32_t format, uint32_t width,
			    uint32_t height);

/** pumice_image_create - create a zeroed image. Return: 0, -EINVAL, -ENOMEM. */
int pumice_image_create(struct pumice_vm *vm, const struct pumice_image_desc *desc,
			struct pumice_image **image);

/** pumice_image_destroy - destroy it; jobs that use it must have ended. */
void pumice_image_destroy(struct pumice_image *image);

/** pumice_image_info - describe an image; 0 as a default is replaced by the actual value. */
void pumice_image_info(const struct pumice_image *image, struct pumice_image_desc *desc);

/** pumice_image_va - return the GPU virtual address of level 0, layer 0. */
uint64_t pumice_image_va(const struct pumice_image *image);

/** struct pumice_image_part - a layer of a level. */
struct pumice_image_part {
	/** @level: level */
	uint32_t level;
	/** @layer: layer, or slice of 3D */
	uint32_t layer;
};

/** pumice_image_part_init - set to layer 0 of level 0. */
void pumice_image_part_init(struct pumice_image_part *part);

/**
 * pumice_image_upload - write a layer of a level.
 * @part: layer and level
 * @texels: in the image's format, top row first; blocks in compressed formats
 * @row_bytes: from one row of @texels to the next; 0: rows are contiguous
 *
 * Return: 0, -EINVAL.
 */
int pumice_image_upload(struct pumice_image *image, struct pumice_image_part part,
			const void *texels, size_t row_bytes);

/**
 * pumice_image_download - read a layer of a level.
 * @part: layer and level
 * @texels: out: as in pumice_image_upload()
 * @row_bytes: as in pumice_image_upload()
 *
 * Return: 0, -EINVAL.
 */
int pumice_image_download(const struct pumice_image *image, struct pumice_image_part part,
			  void *texels, size_t row_bytes);

/** pumice_image_texture - describe the whole image as a texture, components in order. */
void pumice_image_texture(const struct pumice_image *image, struct pumice_texture *texture);

/**
 * pumice_image_mipmaps - generate all other levels of an image from level 0, and wait.
 * @vm: address space of the image
 * @image: not compressed
 *
 * Return: as pumice_context_create_type() and pumice_context_run().
 */
int pumice_image_mipmaps(struct pumice_vm *vm, struct pumice_image *image);

/** pumice_sampler_init - set nearest texel of level 0, repeated. */
void pumice_sampler_init(struct pumice_sampler *sampler);

/* ------------------------------------------------------------------ stages */

/** enum pumice_input_kind - data that the PDS loads for a program. */
enum pumice_input_kind {
	/** @PUMICE_INPUT_UNIFORMS: words to shared registers */
	PUMICE_INPUT_UNIFORMS,
	/** @PUMICE_INPUT_TEXTURE: texture and sampler state to 12 shared registers */
	PUMICE_INPUT_TEXTURE,
	/** @PUMICE_INPUT_SOURCE: a value that the PDS supplies, to a register */
	PUMICE_INPUT_SOURCE,
	/** @PUMICE_INPUT_ATTRIBUTE: vertex attribute to four attribute registers */
	PUMICE_INPUT_ATTRIBUTE,
	/** @PUMICE_INPUT_VARYING: interpolated varyings to attribute registers */
	PUMICE_INPUT_VARYING,
	/** @PUMICE_INPUT_PLANES: planes of varyings, three coefficient registers each */
	PUMICE_INPUT_PLANES,
	/** @PUMICE_INPUT_PREFETCH: prefetched texture sample to four attribute registers */
	PUMICE_INPUT_PREFETCH,
};

/** struct pumice_input - one input of a program; members of other kinds are ignored. */
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
	/** @sampler: TEXTURE, PREFETCH; NULL: as pumice_sampler_init() */
	const struct pumice_sampler *sampler;
	/** @format: ATTRIBUTE: enum pumice_attr_kind */
	uint32_t format;
	/** @va: ATTRIBUTE: GPU virtual address of element 0 */
	uint64_t va;
	/** @stride: ATTRIBUTE: bytes from one element to the next */
	uint32_t stride;
	/** @elements: ATTRIBUTE: elements; reads past the end return 0 */
	uint32_t elements;
	/** @divisor: ATTRIBUTE: 0: per vertex; n: per n instances */
	uint32_t divisor;
	/** @varying: VARYING, PLANES, PREFETCH: first varying; 64: 1/w, 65: depth */
	uint32_t varying;
	/** @mode: VARYING, PREFETCH: enum pumice_usc_iterate */
	uint32_t mode;
};

/**
 * pumice_input_uniforms - initialise: words to shared registers.
 * @reg: first shared register
 * @words: @count words, floats or integers; copied when the stage is created
 * @count: words
 *
 * Return: the input.
 */
struct pumice_input pumice_input_uniforms(uint32_t reg, const void *words, uint32_t count);

/**
 * pumice_input_texture - initialise: texture and sampler state to 12 shared registers.
 * @reg: first shared register
 * @texture: used when the stage is created
 * @sampler: the same; NULL: as pumice_sampler_init()
 *
 * Return: the input.
 */
struct pumice_input pumice_input_texture(uint32_t reg, const struct pumice_texture *texture,
					 const struct pumice_sampler *sampler);

/**
 * pumice_input_source - initialise: a value that the PDS computes, to a register.
 * @reg: attribute register
 * @source: enum pumice_pds_source
 *
 * Return: the input.
 */
struct pumice_input pumice_input_source(uint32_t reg, uint32_t source);

/**
 * pumice_input_attribute - initialise: a per-vertex attribute of floats, to four registers.
 * @reg: first attribute register
 * @count: components, 1 to 4
 * @va: GPU virtual address of element 0
 * @stride: bytes from one element to the next
 * @elements: elements; reads past the end return 0
 *
 * For other formats and per-instance attributes set the members format and divisor.
 *
 * Return: the input.
 */
struct pumice_input pumice_input_attribute(uint32_t reg, uint32_t count, uint64_t va,
					   uint32_t stride, uint32_t elements);

/**
 * pumice_input_varying - set varyings, interpolated with perspective, to attribute registers.
 * @reg: first attribute register
 * @varying: first varying
 * @count: varyings, 1 to 4
 *
 * Return: the input.
 */
struct pumice_input pumice_input_varying(uint32_t reg, uint32_t varying, uint32_t count);

/**
 * pumice_input_planes - initialise: planes of varyings to coefficient registers.
 * @reg: first coefficient register; a plane has three
 * @varying: first varying; 64: 1/w, 65: depth
 * @count: planes, 1 to 4
 *
 * Return: the input.
 */
struct pumice_input pumice_input_planes(uint32_t reg, uint32_t varying, uint32_t count);

/**
 * pumice_input_prefetch - initialise: a texture sample that is read before the program starts.
 * @reg: first of four attribute registers
 * @varying: first varying of the coordinates, interpolated with perspective
 * @texture: used when the stage is created
 * @sampler: the same; NULL: as pumice_sampler_init()
 *
 * Return: the input.
 */
struct pumice_input pumice_input_prefetch(uint32_t reg, uint32_t varying,
					  const struct pumice_texture *texture,
					  const struct pumice_sampler *sampler);

/** struct pumice_stage_desc - a program with its inputs. */
struct pumice_stage_desc {
	/** @kernel: the program; its own PDS program and work-group size are ignored */
	const struct pumice_kernel *kernel;
	/** @inputs: @input_count inputs */
	const struct pumice_input *inputs;
	/** @input_count: elements of @inputs */
	uint32_t input_count;
};

/** pumice_stage_desc_init - initialise to a program without inputs. */
void pumice_stage_desc_init(struct pumice_stage_desc *desc, const struct pumice_kernel *kernel);

/**
 * pumice_stream_stage - generate the PDS program of a stage, and its words.
 * @desc: stage
 * @words: out: words for vdm_state, tsp_state or pdm_render
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_stage(struct pumice_stream *stream, const struct pumice_stage_desc *desc,
			uint32_t words[4]);

/* --------------------------------------------------------- geometry streams */

/** struct pumice_draw_state - the records that draws need; their addresses are filled in. */
struct pumice_draw_state {
	/** @vdm: vertex stages, viewport, culling */
	struct pumice_vdm_state vdm;
	/** @isp: depth, stencil, mask, scissor */
	struct pumice_isp_state isp;
	/** @tsp: fragment stage, flat and linear varyings, coordinate of points */
	struct pumice_tsp_state tsp;
};

/**
 * pumice_draw_state_init - initialise to a state that draws everything.
 * @width: of viewport and scissor, pixels
 * @height: of viewport and scissor, pixels
 *
 * No culling but of primitives that cover no sample (small_cull), clipping
 * against z from 0 to w, depth and stencil always pass and are not written,
 * opaque, all samples, points and lines a pixel wide.
 * The viewport flips y: y = 1 is up. The caller sets stages and varyings.
 */
void pumice_draw_state_init(struct pumice_draw_state *state, uint32_t width, uint32_t height);

/** struct pumice_viewport - mapping of clip space to pixels and depths. */
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

/** pumice_viewport_init - set the whole of a target, depths from 0 to 1. */
void pumice_viewport_init(struct pumice_viewport *viewport, uint32_t width, uint32_t height);

/** pumice_draw_state_viewport - set scale and offset, y upwards, after clip_minus_w. */
void pumice_draw_state_viewport(struct pumice_draw_state *state,
				const struct pumice_viewport *viewport);

/**
 * pumice_stream_draw_state - add STATE with copies of the three records.
 * @state: records
 * @va: out: GPU virtual address of the vdm_state, for pumice_stream_state(); may be NULL
 *
 * Records that are equal to earlier ones of the stream are not stored again, and the command is
 * merged as that of pumice_stream_state().
 *
 * If tsp.point_coord is set, varying tsp.point_varying and the next one of a point are the
 * coordinate over its sprite, 0 to 1, from the corner tsp.point_origin (enum
 * pumice_point_origin), instead of outputs of the vertex program, which must have both.
 *
 * Return: 0, -ENOSPC, -EINVAL for a point_varying, a point_origin or a uniform stream out of range.
 */
int pumice_stream_draw_state(struct pumice_stream *stream, const struct pumice_draw_state *state,
			     uint64_t *va);

/**
 * pumice_stream_uniforms - store a uniform stream, or find an equal one that the stream has.
 * @words: the stream
 * @count: words, 1 to 16384
 * @va: out: GPU virtual address, for uniforms of a vdm_state or a tsp_state; its uniform_words are
 * @count
 *
 * The programs of the draw read the words in order, one at each read of the register "uniform",
 * each wave from the first word on.
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_uniforms(struct pumice_stream *stream, const uint32_t *words, uint32_t count,
			   uint64_t *va);

/**
 * pumice_stream_state - add STATE with an existing record.
 * @va: GPU virtual address of the vdm_state
 *
 * State changes between two draws are merged: this command replaces the previous one if that is a
 * STATE, and is not added if the record is set already by draws of this stream. Calls, returns,
 * links, raw words and pumice_stream_va() end that: the commands after them may be reached with
 * another state, so that a STATE is always added.
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_state(struct pumice_stream *stream, uint64_t va);

/**
 * PUMICE_POSITION_OUTPUTS - vertex outputs that are the position; the point size is the next one.
 */
#define PUMICE_POSITION_OUTPUTS	4u

/**
 * pumice_program_positions - derive the coordinate program of a vertex program.
 * @program: vertex program
 * @outputs: outputs to compute: PUMICE_POSITION_OUTPUTS, and 1 with a point size
 * @positions: out: the program without the instructions that do not contribute to these; its inputs
 *   and resources are those of @program
 * @error: receives the reason of a failure; may be NULL
 * @error_bytes: size of @error
 *
 * Both programs compute the same bits of these outputs.
 *
 * Return: 0; -EINVAL for a program of another stage, with fewer outputs, with an illegal
 * instruction, or that stores to memory; -ENOMEM.
 */
int pumice_program_positions(const struct pumice_program *program, uint32_t outputs,
			     struct pumice_program **positions, char *error, size_t error_bytes);

/**
 * pumice_stream_stages - add STATE with the programs of a vertex and a fragment stage.
 * @stream: geometry stream
 * @state: records; their stages are set by this function
 * @vertex: vertex stage
 * @fragment: fragment stage; NULL if no fragments are shaded
 *
 * With vdm.deferred and no coordinate stage in @state, that of pumice_program_positions() is set.
 *
 * Return: as pumice_stream_stage() and pumice_stream_draw_state(); -EINVAL for a vertex program
 * that writes more outputs than vdm.varyings and the position are, and for a fragment stage that
 * reads varyings beyond vdm.varyings.
 */
int pumice_stream_stages(struct pumice_stream *stream, const struct pumice_draw_state *state,
			 const struct pumice_stage_desc *vertex,
			 const struct pumice_stage_desc *fragment);

/**
 * pumice_stream_draw - add DRAW.
 * @draw: with a count of 0 nothing is drawn
 *
 * Return: 0, -EINVAL for 0 instances, -ENOSPC.
 */
int pumice_stream_draw(struct pumice_stream *stream, const struct pumice_vdm_draw *draw);

/**
 * pumice_stream_draw_indexed - add DRAW_INDEXED.
 * @draw: with a count of 0 nothing is drawn, and no indices are required
 *
 * Return: 0, -EINVAL for 0 instances, a count without indices or their index_count, or indices that
 * are not at a multiple of their size, -ENOSPC.
 */
int pumice_stream_draw_indexed(struct pumice_stream *stream,
			       const struct pumice_vdm_draw_indexed *draw);

/** pumice_stream_draw_indirect - add DRAW_INDIRECT. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_draw_indirect(struct pumice_stream *stream,
				const struct pumice_vdm_draw_indirect *draw);

/** pumice_stream_draw_indexed_indirect - add DRAW_INDEXED_INDIRECT. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_draw_indexed_indirect(struct pumice_stream *stream,
					const struct pumice_vdm_draw_indexed_indirect *draw);

/** pumice_stream_vdm_call - add CALL. @va: sub-list. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_vdm_call(struct pumice_stream *stream, uint64_t va);

/** pumice_stream_vdm_return - add RETURN. Return: 0, -ENOSPC. */
int pumice_stream_vdm_return(struct pumice_stream *stream);

/** pumice_stream_vdm_link - add LINK. @va: stream to continue in. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_vdm_link(struct pumice_stream *stream, uint64_t va);

/**
 * pumice_stream_vdm_flush - add FLUSH: cache operations when all draws before it have ended.
 * @flags: PUMICE_FLUSH_*, as of pumice_stream_flush()
 *
 * Devices with a register map before 2.9 do not have it.
 *
 * Return: 0, -EINVAL, -ENOSPC, -EOPNOTSUPP.
 */
int pumice_stream_vdm_flush(struct pumice_stream *stream, uint32_t flags);

/**
 * pumice_stream_vdm_end - add HALT of a geometry stream.
 * @va: out: start of the stream's memory; may be NULL
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_vdm_end(struct pumice_stream *stream, uint64_t *va);

/* ----------------------------------------------------------- render records */

/* Maximum number of render targets of a frame. */
#define PUMICE_MAX_TARGETS 8

/** struct pumice_target - an image that a frame is stored in. */
struct pumice_target {
	/** @image: 2D, not compressed, no depth */
	const struct pumice_image *image;
	/** @part: level and layer */
	struct pumice_image_part part;
	/** @source: first of its output registers, one for each component of the format */
	uint32_t source;
	/** @keep: bit n: component n in memory is preserved */
	uint32_t keep;
	/** @dither: dither formats of few bits */
	bool dither;
	/** @resolve: average the samples; else sample 0 is stored */
	bool resolve;
	/** @samples: to store every sample: number of samples (image width times this); else 0 */
	uint32_t samples;
	/** @load: load the outputs from the image, f32; one sample per pixel */
	bool load;
};

/** pumice_target_init - set all components of level 0, layer 0, from output 0 on. */
void pumice_target_init(struct pumice_target *target, const struct pumice_image *image);

/** struct pumice_render_desc - description of a fragment job. */
struct pumice_render_desc {
	/** @pdm: depth, stencil, mask, outputs, counters; its stages are set by the library */
	struct pumice_pdm_render pdm;
	/** @targets: @target_count targets */
	struct pumice_target targets[PUMICE_MAX_TARGETS];
	/** @target_count: elements of @targets */
	uint32_t target_count;
	/** @clear: initial values of outputs that no target loads, in the target's type */
	union pumice_number clear[32];
	/** @background: program that replaces clearing and loading; or NULL */
	const struct pumice_stage_desc *background;
	/** @end_of_tile: program that replaces storing to @targets; or NULL */
	const struct pumice_stage_desc *end_of_tile;
};

/**
 * pumice_render_desc_init - initialise to four outputs cleared to 0, depth to 1.
 * @image: first target, or NULL for none
 *
 * Depth and stencil are neither loaded nor stored. There is no mask plane.
 */
void pumice_render_desc_init(struct pumice_render_desc *desc, const struct pumice_image *image);

/**
 * pumice_render_desc_mask - add a mask plane: a bit a sample next to depth and stencil.
 * @va: of its buffer in memory, 16-byte aligned; 0 if it is neither loaded nor stored
 * @width: of the data set, pixels
 * @height: of the data set, pixels
 * @samples: of the data set
 *
 * Objects test the bits with mask_test of their ISP state and change them with mask_op; they start
 * as clear_mask of @desc. The caller sets mask_load and mask_store to keep them between jobs.
 * Without a mask plane an object that uses one ends the job with PUMICE_FAULT_ISP_STATE.
 *
 * Return: size of the buffer, bytes.
 */
uint64_t pumice_render_desc_mask(struct pumice_render_desc *desc, uint64_t va, uint32_t width,
				 uint32_t height, uint32_t samples);

/**
 * pumice_stream_render - add a render record with the programs that it needs.
 * @desc: record
 * @va: out: for pumice_stream_render_list(); or for struct pumice_frame, or the stream of a
 *	FRAGMENT job: all tiles are rendered then
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_render(struct pumice_stream *stream, const struct pumice_render_desc *desc,
			 uint64_t *va);

/* ----------------------------------------------------- render control lists */

/**
 * pumice_stream_render_list - add the render control list of a frame.
 * @hwrt: data set of the frame
 * @render: record, from pumice_stream_render()
 * @va: out: for struct pumice_frame, or the stream of a FRAGMENT job
 *
 * The list sets the rendering mode, and continues in a list of all tiles of the data set, which is
 * written at the first call and used for all of its frames. A job whose stream is the record
 * itself renders the same; the device generates the commands then. For a device that executes no
 * lists, with a register map before 2.4, @va is the record.
 *
 * Return: 0, -EINVAL, -ENOSPC, -ENOMEM.
 */
int pumice_stream_render_list(struct pumice_stream *stream, struct pumice_hwrt *hwrt,
			      uint64_t render, uint64_t *va);

/**
 * pumice_stream_pdm_mode - add MODE, which begins a render control list.
 * @render: record, from pumice_stream_render()
 *
 * A custom list renders the tiles that it names, in its order, and stores each with the
 * record's end-of-tile program or another one. The list begins at pumice_stream_va(), a multiple
 * of 16, in a stream of its own.
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_pdm_mode(struct pumice_stream *stream, uint64_t render);

/**
 * pumice_stream_pdm_tile - add TILE: coordinates of a tile, which a store ends.
 * @x: column, in tiles of the data set
 * @y: row
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_pdm_tile(struct pumice_stream *stream, uint32_t x, uint32_t y);

/** pumice_stream_pdm_branch - add BRANCH to the tile's primitives. Return: 0, -ENOSPC. */
int pumice_stream_pdm_branch(struct pumice_stream *stream);

/**
 * pumice_stream_pdm_store - add STORE: store the tile as the render record defines.
 * @end: and end of the frame
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_pdm_store(struct pumice_stream *stream, bool end);

/**
 * pumice_stream_pdm_store_program - add STORE_PROGRAM: store the tile with another program.
 * @stage: from pumice_stream_stage(), of a program of stage tile; NULL: outputs are not stored
 * @end: and end of the frame
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_pdm_store_program(struct pumice_stream *stream, const uint32_t stage[4],
				    bool end);

/** pumice_stream_pdm_call - add CALL. @va: sub-list. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_pdm_call(struct pumice_stream *stream, uint64_t va);

/** pumice_stream_pdm_return - add RETURN. Return: 0, -ENOSPC. */
int pumice_stream_pdm_return(struct pumice_stream *stream);

/** pumice_stream_pdm_link - add LINK. @va: list to continue in. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_pdm_link(struct pumice_stream *stream, uint64_t va);

/**
 * pumice_stream_pdm_flush - add FLUSH: cache operations when all tiles before it have ended.
 * @flags: PUMICE_FLUSH_*, as of pumice_stream_flush()
 *
 * Devices with a register map before 2.9 do not have it.
 *
 * Return: 0, -EINVAL, -ENOSPC, -EOPNOTSUPP.
 */
int pumice_stream_pdm_flush(struct pumice_stream *stream, uint32_t flags);

/**
 * pumice_stream_pdm_end - add END, if the last store does not end the frame.
 * @va: out: start of the stream's memory; may be NULL
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_pdm_end(struct pumice_stream *stream, uint64_t *va);

/* ---------------------------------------------------------------- canvases */

/** struct pumice_canvas_desc - an image to draw to. */
struct pumice_canvas_desc {
	/** @format: enum pumice_format, of a target */
	uint32_t format;
	/** @width: pixels */
	uint32_t width;
	/** @height: pixels */
	uint32_t height;
	/** @samples: per pixel: 1, 2 or 4; averaged */
	uint32_t samples;
};

/** pumice_canvas_desc_init - initialise to RGBA8_SRGB, one sample. */
void pumice_canvas_desc_init(struct pumice_canvas_desc *desc, uint32_t width, uint32_t height);

/**
 * pumice_canvas_create - create an image with all objects needed to draw to it.
 * @vm: address space
 * @desc: image
 * @canvas: out: context, free list, data set, stream, image
 *
 * Return: as the functions that create these.
 */
int pumice_canvas_create(struct pumice_vm *vm, const struct pumice_canvas_desc *desc,
			 struct pumice_canvas **canvas);

/** pumice_canvas_destroy - destroy it; only between frames. */
void pumice_canvas_destroy(struct pumice_canvas *canvas);

/** pumice_canvas_image - return its image, which is destroyed with the canvas. */
struct pumice_image *pumice_canvas_image(const struct pumice_canvas *canvas);

/** pumice_canvas_context - return its render context, which is destroyed with the canvas. */
struct pumice_context *pumice_canvas_context(const struct pumice_canvas *canvas);

/**
 * pumice_canvas_begin - begin a frame.
 *
 * Return: the canvas's geometry stream, empty, with 1 MiB of memory.
 */
struct pumice_stream *pumice_canvas_begin(struct pumice_canvas *canvas);

/**
 * pumice_canvas_end - end the stream, render it to the image, and wait.
 * @canvas: canvas whose frame was begun
 * @clear: initial values of the four outputs of every pixel, linear; NULL: 0; depth starts at 1
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
 * @blit: command, without the addresses
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_blit(struct pumice_stream *stream, const struct pumice_image *src,
		       const struct pumice_image *dst, const struct pumice_tdm_blit *blit);

/**
 * pumice_stream_scale - add SCALE: copy a rectangle to another size.
 * @src: image to read
 * @dst: image to write; not of a compressed format
 * @scale: command, without the addresses
 *
 * PUMICE_TDM_FILTER_LINEAR interpolates the nearest 2x2 texels; smaller than half the size it
 * leaves texels out. PUMICE_TDM_FILTER_BOX averages and needs sizes that are equal or halved. Both
 * are not for integers and stencil. Sizes, filter and formats are checked when the job runs: its
 * fault is TDM_RECT, TDM_FILTER or TDM_SURFACE.
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_scale(struct pumice_stream *stream, const struct pumice_image *src,
			const struct pumice_image *dst, const struct pumice_tdm_scale *scale);

/**
 * pumice_stream_clear - add CLEAR.
 * @dst: image to write
 * @clear: command, without the address
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_clear(struct pumice_stream *stream, const struct pumice_image *dst,
			const struct pumice_tdm_clear *clear);

/**
 * pumice_stream_mipmaps - add DOWNSCALE of each level to the next.
 * @image: image whose level 0 is valid
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_mipmaps(struct pumice_stream *stream, const struct pumice_image *image);

/** pumice_stream_tdm_link - add LINK. @va: stream to continue in. Return: 0, -EINVAL, -ENOSPC. */
int pumice_stream_tdm_link(struct pumice_stream *stream, uint64_t va);

/**
 * pumice_stream_tdm_flush - add FLUSH: cache operations when all commands before it have ended.
 * @flags: PUMICE_FLUSH_*, as of pumice_stream_flush()
 *
 * Devices with a register map before 2.9 do not have it.
 *
 * Return: 0, -EINVAL, -ENOSPC, -EOPNOTSUPP.
 */
int pumice_stream_tdm_flush(struct pumice_stream *stream, uint32_t flags);

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
