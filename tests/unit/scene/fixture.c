// SPDX-License-Identifier: MIT
/* Fixture: a device for scenes. See scene.h. */
#include <stdio.h>

#include "scene.h"

#define RAM_MIB		192
#define STREAM_BYTES	(1u << 20)

void fx_check(struct fixture *fx, const char *what, int err)
{
	if (err)
		fail_msg("%s: %s", what, pumice_device_error(fx->dev));
}

uint32_t fx_f32(float value)
{
	uint32_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

void fx_buffer(struct fixture *fx, uint64_t bytes, struct fx_buffer *b)
{
	b->bytes = bytes;
	fx_check(fx, "buffer", pumice_bo_create(fx->dev, bytes, fx->vm, &b->bo));
	fx_check(fx, "buffer", pumice_bo_map(b->bo, &b->cpu));
	fx_check(fx, "buffer", pumice_vm_place(fx->vm, b->bo, PUMICE_BIND_NOEXEC, &b->va));
}

void fx_buffer_free(struct fixture *fx, struct fx_buffer *b)
{
	fx_check(fx, "buffer", pumice_vm_remove(fx->vm, b->va));
	pumice_bo_destroy(b->bo);
}

struct pumice_kernel *fx_kernel(struct fixture *fx, const char *text)
{
	struct pumice_program *program;
	struct pumice_kernel *kernel;
	char error[PUMICE_ERROR_BYTES];

	if (pumice_program_assemble("scene", text, &program, error, sizeof(error)))
		fail_msg("%s\n%s", error, text);
	fx_check(fx, "kernel", pumice_kernel_create(fx->vm, program, &kernel));
	pumice_program_destroy(program);
	return kernel;
}

static void make_texture(struct fixture *fx)
{
	const struct pumice_image_desc desc = {
		.format = PUMICE_FORMAT_RGBA8_UNORM, .layout = PUMICE_LAYOUT_TWIDDLED,
		.dim = PUMICE_TEXTURE_DIM_2D, .width = SCENE_TEXELS, .height = SCENE_TEXELS,
		.levels = 1,
	};
	uint8_t texels[SCENE_TEXELS][SCENE_TEXELS][4];
	uint32_t x, y;

	for (y = 0; y < SCENE_TEXELS; y++)
		for (x = 0; x < SCENE_TEXELS; x++)
			scene_texel(x, y, texels[y][x]);
	fx_check(fx, "texture", pumice_image_create(fx->vm, &desc, &fx->texture));
	fx_check(fx, "texture", pumice_image_upload(fx->texture, (struct pumice_image_part){ 0 },
						    texels, 0));
}

void fx_open(struct fixture *fx, const char *options, uint32_t pages)
{
	const struct pumice_freelist_desc list = { .initial_pages = pages, .max_pages = pages };
	const uint64_t samples = SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4;
	uint32_t counter;
	char name[160], error[PUMICE_ERROR_BYTES] = "";

	*fx = (struct fixture){ 0 };
	snprintf(name, sizeof(name), "inproc:ram=%u,%s", RAM_MIB, options);
	if (pumice_device_open(name, &fx->dev, error, sizeof(error)))
		fail_msg("%s: %s", name, error);
	fx_check(fx, "vm", pumice_vm_create(fx->dev, &fx->vm));
	fx_check(fx, "context",
		 pumice_context_create_type(fx->vm, PUMICE_CONTEXT_RENDER,
					    PUMICE_PRIORITY_NORMAL, &fx->context));
	fx_check(fx, "stream", pumice_stream_create(fx->vm, STREAM_BYTES, &fx->stream));
	fx_check(fx, "stream", pumice_stream_create(fx->vm, STREAM_BYTES, &fx->list_stream));
	fx_check(fx, "free list", pumice_freelist_create(fx->vm, &list, &fx->list));
	fx_buffer(fx, 1u << 20, &fx->vertices);
	fx_buffer(fx, samples * 4, &fx->depth);
	fx_buffer(fx, samples, &fx->stencil);
	fx_buffer(fx, samples, &fx->mask);
	fx_buffer(fx, 4096, &fx->visible);
	make_texture(fx);
	fx_check(fx, "counter", pumice_perf_counter_find(fx->dev, "PM_PARTIALS", &counter));
	fx_check(fx, "monitor", pumice_perfmon_create(fx->dev, &counter, 1, &fx->perfmon));
}

uint64_t fx_partials(struct fixture *fx)
{
	uint64_t value;

	fx_check(fx, "monitor", pumice_perfmon_read(fx->perfmon, 0, &value));
	return value;
}

void fx_close(struct fixture *fx)
{
	uint32_t i;

	for (i = 0; i < FX_PROGRAMS; i++)
		pumice_kernel_destroy(fx->program[i]);
	pumice_perfmon_destroy(fx->perfmon);
	pumice_image_destroy(fx->texture);
	fx_buffer_free(fx, &fx->visible);
	fx_buffer_free(fx, &fx->stencil);
	fx_buffer_free(fx, &fx->mask);
	fx_buffer_free(fx, &fx->depth);
	fx_buffer_free(fx, &fx->vertices);
	pumice_freelist_destroy(fx->list);
	pumice_stream_destroy(fx->list_stream);
	pumice_stream_destroy(fx->stream);
	pumice_context_destroy(fx->context);
	pumice_vm_destroy(fx->vm);
	pumice_device_close(fx->dev);
}
