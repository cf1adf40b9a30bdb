// SPDX-License-Identifier: MIT
/* Captures of scenes' frames, and their replay on another device. See scene.h. */
#include "pumice/pumice_capture.h"
#include "scene.h"

void scene_capture(struct fixture *fx, const struct scene *scene, const struct scene_frame *f,
		   const struct pumice_image *image, uint32_t pages, const char *path)
{
	struct pumice_capture_frame frame;
	struct pumice_texture texture;

	pumice_capture_frame_init(&frame);
	frame.geometry = f->frame.geometry;
	frame.render = f->frame.render;
	frame.width = scene->width;
	frame.height = scene->height;
	frame.samples = scene->samples;
	frame.tile_size = scene->tile_size;
	frame.pages = pages;
	frame.spill_outputs = SCENE_OUTPUTS;
	frame.target_count = 1;
	pumice_image_texture(image, &texture);
	pumice_texture_pack(frame.targets[0], &texture);
	fx_check(fx, "capture", pumice_capture_write(fx->vm, &frame, path));
}

/* Render a captured frame that is placed in the fixture's VM. Returns its partial renders. */
static uint32_t render(struct fixture *fx, const struct pumice_capture_frame *captured)
{
	const struct pumice_freelist_desc pages = {
		.initial_pages = captured->pages, .max_pages = captured->pages,
	};
	struct pumice_job_result geometry;
	struct pumice_hwrt_desc set;
	struct pumice_frame frame;

	fx_check(fx, "context", pumice_context_create_type(fx->vm, PUMICE_CONTEXT_RENDER,
							   PUMICE_PRIORITY_NORMAL, &fx->context));
	fx_check(fx, "free list", pumice_freelist_create(fx->vm, &pages, &fx->list));
	pumice_hwrt_desc_init(&set, fx->list, captured->width, captured->height);
	set.samples = captured->samples;
	set.tile_size = captured->tile_size;
	set.spill_outputs = captured->spill_outputs;
	pumice_frame_init(&frame, NULL);
	frame.geometry = captured->geometry;
	frame.render = captured->render;
	fx_check(fx, "data set", pumice_hwrt_create(fx->vm, &set, &frame.hwrt));
	fx_check(fx, "render", pumice_render(fx->context, &frame, LONG, NULL));
	fx_check(fx, "result", pumice_context_get_job_result(fx->context, 1, &geometry,
							     sizeof(geometry)));
	pumice_hwrt_destroy(frame.hwrt);
	pumice_freelist_destroy(fx->list);
	pumice_context_destroy(fx->context);
	return geometry.partial_renders;
}

uint32_t scene_replay(const char *path, const char *device, uint64_t va, void *data, size_t bytes)
{
	struct pumice_capture *file;
	struct fixture fx = { 0 };
	uint32_t partial_renders;
	char error[200];

	if (pumice_capture_load(path, &file, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_device_open(device, &fx.dev, NULL, 0), 0);
	fx_check(&fx, "vm", pumice_vm_create(fx.dev, &fx.vm));
	fx_check(&fx, "place", pumice_capture_place(file, fx.vm));
	partial_renders = render(&fx, pumice_capture_frame(file));
	fx_check(&fx, "peek", pumice_vm_peek(fx.vm, va, data, bytes));
	pumice_vm_destroy(fx.vm);
	pumice_capture_destroy(file);
	pumice_device_close(fx.dev);
	return partial_renders;
}
