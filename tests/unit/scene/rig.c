// SPDX-License-Identifier: MIT
/* Fixture: a device for scenes. See scene.h. */
#include <stdio.h>

#include "scene.h"

#define RAM_MIB		192
#define STREAM_BYTES	(1u << 20)

void rig_check(struct rig *rig, const char *what, int err)
{
	if (err)
		fail_msg("%s: %s", what, pumice_device_error(rig->dev));
}

uint32_t rig_f32(float value)
{
	uint32_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

void rig_buffer(struct rig *rig, uint64_t bytes, struct rig_buffer *b)
{
	b->bytes = bytes;
	rig_check(rig, "buffer", pumice_bo_create(rig->dev, bytes, rig->vm, &b->bo));
	rig_check(rig, "buffer", pumice_bo_map(b->bo, &b->cpu));
	rig_check(rig, "buffer", pumice_vm_place(rig->vm, b->bo, PUMICE_BIND_NOEXEC, &b->va));
}

void rig_buffer_free(struct rig *rig, struct rig_buffer *b)
{
	rig_check(rig, "buffer", pumice_vm_remove(rig->vm, b->va));
	pumice_bo_destroy(b->bo);
}

struct pumice_kernel *rig_kernel(struct rig *rig, const char *text)
{
	struct pumice_program *program;
	struct pumice_kernel *kernel;
	char error[PUMICE_ERROR_BYTES];

	if (pumice_program_assemble("scene", text, &program, error, sizeof(error)))
		fail_msg("%s\n%s", error, text);
	rig_check(rig, "kernel", pumice_kernel_create(rig->vm, program, &kernel));
	pumice_program_destroy(program);
	return kernel;
}

static void make_texture(struct rig *rig)
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
	rig_check(rig, "texture", pumice_image_create(rig->vm, &desc, &rig->texture));
	rig_check(rig, "texture", pumice_image_upload(rig->texture, (struct pumice_image_part){ 0 },
						      texels, 0));
}

void rig_open(struct rig *rig, const char *options, uint32_t pages)
{
	const struct pumice_freelist_desc list = { .initial_pages = pages, .max_pages = pages };
	const uint64_t samples = SCENE_MAX_SIZE * SCENE_MAX_SIZE * 4;
	uint32_t counter;
	char name[96], error[PUMICE_ERROR_BYTES] = "";

	*rig = (struct rig){ 0 };
	snprintf(name, sizeof(name), "inproc:ram=%u,%s", RAM_MIB, options);
	if (pumice_device_open(name, &rig->dev, error, sizeof(error)))
		fail_msg("%s: %s", name, error);
	rig_check(rig, "vm", pumice_vm_create(rig->dev, &rig->vm));
	rig_check(rig, "context",
		  pumice_context_create_type(rig->vm, PUMICE_CONTEXT_RENDER,
					     PUMICE_PRIORITY_NORMAL, &rig->context));
	rig_check(rig, "stream", pumice_stream_create(rig->vm, STREAM_BYTES, &rig->stream));
	rig_check(rig, "free list", pumice_freelist_create(rig->vm, &list, &rig->list));
	rig_buffer(rig, 1u << 20, &rig->vertices);
	rig_buffer(rig, samples * 4, &rig->depth);
	rig_buffer(rig, samples, &rig->stencil);
	rig_buffer(rig, 4096, &rig->visible);
	make_texture(rig);
	rig_check(rig, "counter", pumice_perf_counter_find(rig->dev, "PM_PARTIALS", &counter));
	rig_check(rig, "monitor", pumice_perfmon_create(rig->dev, &counter, 1, &rig->perfmon));
}

uint64_t rig_partials(struct rig *rig)
{
	uint64_t value;

	rig_check(rig, "monitor", pumice_perfmon_read(rig->perfmon, 0, &value));
	return value;
}

void rig_close(struct rig *rig)
{
	uint32_t i;

	for (i = 0; i < RIG_PROGRAMS; i++)
		pumice_kernel_destroy(rig->program[i]);
	pumice_perfmon_destroy(rig->perfmon);
	pumice_image_destroy(rig->texture);
	rig_buffer_free(rig, &rig->visible);
	rig_buffer_free(rig, &rig->stencil);
	rig_buffer_free(rig, &rig->depth);
	rig_buffer_free(rig, &rig->vertices);
	pumice_freelist_destroy(rig->list);
	pumice_stream_destroy(rig->stream);
	pumice_context_destroy(rig->context);
	pumice_vm_destroy(rig->vm);
	pumice_device_close(rig->dev);
}
