// SPDX-License-Identifier: MIT
/*
 * Initialisers of the structures that callers fill: the common
 * defaults, so that no unset member is implicitly zero.
 */
#include "internal.h"
#include "pumice/pumice_capture.h"
#include "pumice/pumice_present.h"
#include "pumice_formats.h"
#include "surface.h"

#define FREELIST_PAGES		1024u	/* initial size and growth: 4 MiB */
#define FREELIST_MAX_PAGES	65536u	/* 256 MiB */
#define FREELIST_THRESHOLD	25u	/* percent */
#define RENDER_OUTPUTS		4u	/* of a target of four components */

void pumice_bind_init(struct pumice_bind *bind, struct pumice_bo *bo, uint64_t va)
{
	*bind = (struct pumice_bind){ .bo = bo, .va = va, .size = bo ? pumice_bo_size(bo) : 0 };
}

void pumice_wait_init(struct pumice_wait *wait, struct pumice_sync *sync, uint64_t point)
{
	*wait = (struct pumice_wait){ .sync = sync, .point = point };
}

void pumice_job_sync_init(struct pumice_job_sync *job_sync, struct pumice_sync *sync,
			  uint64_t point, bool signal)
{
	*job_sync = (struct pumice_job_sync){ .sync = sync, .point = point, .signal = signal };
}

void pumice_job_init(struct pumice_job *job, struct pumice_context *context, uint64_t stream)
{
	*job = (struct pumice_job){ .context = context, .stream = stream };
}

void pumice_dispatch_init(struct pumice_dispatch *dispatch, const struct pumice_kernel *kernel)
{
	*dispatch = (struct pumice_dispatch){ .kernel = kernel, .groups = { 1, 1, 1 } };
}

void pumice_freelist_desc_init(struct pumice_freelist_desc *desc)
{
	*desc = (struct pumice_freelist_desc){
		.initial_pages = FREELIST_PAGES, .max_pages = FREELIST_MAX_PAGES,
		.grow_pages = FREELIST_PAGES, .threshold = FREELIST_THRESHOLD,
	};
}

void pumice_hwrt_desc_init(struct pumice_hwrt_desc *desc, struct pumice_freelist *local,
			   uint32_t width, uint32_t height)
{
	*desc = (struct pumice_hwrt_desc){
		.width = width, .height = height, .samples = 1, .local = local,
		.spill_outputs = RENDER_OUTPUTS,
	};
}

void pumice_gfx_job_init(struct pumice_gfx_job *job, struct pumice_context *context,
			 uint64_t stream)
{
	*job = (struct pumice_gfx_job){ .context = context, .stream = stream };
}

void pumice_frame_init(struct pumice_frame *frame, struct pumice_hwrt *hwrt)
{
	*frame = (struct pumice_frame){ .hwrt = hwrt };
}

void pumice_present_job_init(struct pumice_present_job *job, struct pumice_context *context,
			     uint64_t stream)
{
	*job = (struct pumice_present_job){ .context = context, .stream = stream, .presents = 1 };
}

void pumice_image_part_init(struct pumice_image_part *part)
{
	*part = (struct pumice_image_part){ 0 };
}

void pumice_image_desc_init(struct pumice_image_desc *desc, uint32_t format, uint32_t width,
			    uint32_t height)
{
	*desc = (struct pumice_image_desc){
		.format = format, .dim = PUMICE_TEXTURE_DIM_2D, .width = width, .height = height,
		.depth = 1, .levels = 1,
	};
}

struct pumice_input pumice_input_uniforms(uint32_t reg, const void *words, uint32_t count)
{
	return (struct pumice_input){
		.kind = PUMICE_INPUT_UNIFORMS, .reg = reg, .words = words, .count = count,
	};
}

struct pumice_input pumice_input_texture(uint32_t reg, const struct pumice_texture *texture,
					 const struct pumice_sampler *sampler)
{
	return (struct pumice_input){
		.kind = PUMICE_INPUT_TEXTURE, .reg = reg, .texture = texture, .sampler = sampler,
	};
}

struct pumice_input pumice_input_source(uint32_t reg, uint32_t source)
{
	return (struct pumice_input){
		.kind = PUMICE_INPUT_SOURCE, .reg = reg, .source = source,
	};
}

struct pumice_input pumice_input_attribute(uint32_t reg, uint32_t count, uint64_t va,
					   uint32_t stride, uint32_t elements)
{
	return (struct pumice_input){
		.kind = PUMICE_INPUT_ATTRIBUTE, .reg = reg, .count = count, .va = va,
		.stride = stride, .elements = elements, .format = PUMICE_ATTR_KIND_F32,
	};
}

struct pumice_input pumice_input_varying(uint32_t reg, uint32_t varying, uint32_t count)
{
	return (struct pumice_input){
		.kind = PUMICE_INPUT_VARYING, .reg = reg, .varying = varying, .count = count,
		.mode = PUMICE_USC_ITERATE_PERSPECTIVE,
	};
}

struct pumice_input pumice_input_planes(uint32_t reg, uint32_t varying, uint32_t count)
{
	return (struct pumice_input){
		.kind = PUMICE_INPUT_PLANES, .reg = reg, .varying = varying, .count = count,
	};
}

struct pumice_input pumice_input_prefetch(uint32_t reg, uint32_t varying,
					  const struct pumice_texture *texture,
					  const struct pumice_sampler *sampler)
{
	return (struct pumice_input){
		.kind = PUMICE_INPUT_PREFETCH, .reg = reg, .varying = varying, .texture = texture,
		.sampler = sampler, .mode = PUMICE_USC_ITERATE_PERSPECTIVE,
	};
}

void pumice_stage_desc_init(struct pumice_stage_desc *desc, const struct pumice_kernel *kernel)
{
	*desc = (struct pumice_stage_desc){ .kernel = kernel };
}

void pumice_viewport_init(struct pumice_viewport *viewport, uint32_t width, uint32_t height)
{
	*viewport = (struct pumice_viewport){
		.width = (float)width, .height = (float)height, .far = 1,
	};
}

void pumice_target_init(struct pumice_target *target, const struct pumice_image *image)
{
	*target = (struct pumice_target){ .image = image };
}

void pumice_render_desc_init(struct pumice_render_desc *desc, const struct pumice_image *image)
{
	*desc = (struct pumice_render_desc){ .target_count = image ? 1 : 0 };
	pumice_pdm_render_defaults(&desc->pdm);
	pumice_target_init(&desc->targets[0], image);
}

uint64_t pumice_render_desc_mask(struct pumice_render_desc *desc, uint64_t va, uint32_t width,
				 uint32_t height, uint32_t samples)
{
	const uint32_t stride = pumice_mask_row_bytes(width, samples);

	desc->pdm.mask_plane = true;
	desc->pdm.mask_addr = va;
	desc->pdm.mask_stride = stride;
	return (uint64_t)stride * height;
}

void pumice_sampler_init(struct pumice_sampler *sampler)
{
	pumice_sampler_defaults(sampler);
}

void pumice_capture_frame_init(struct pumice_capture_frame *frame)
{
	*frame = (struct pumice_capture_frame){
		.samples = 1, .pages = FREELIST_PAGES, .spill_outputs = RENDER_OUTPUTS,
	};
}

void pumice_canvas_desc_init(struct pumice_canvas_desc *desc, uint32_t width, uint32_t height)
{
	*desc = (struct pumice_canvas_desc){
		.format = PUMICE_FORMAT_RGBA8_SRGB, .width = width, .height = height, .samples = 1,
	};
}
