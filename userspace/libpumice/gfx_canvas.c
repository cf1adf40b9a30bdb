// SPDX-License-Identifier: MIT
/*
 * Canvases: an image to draw to, with the context, free list, data set and
 * stream that drawing needs, for programs that draw a sequence of pictures.
 *
 * Limits: one target of up to four components, no depth kept after a frame, one frame
 * at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"
#include "internal.h"
#include "pumice_names.h"

#define STREAM_BYTES		(1u << 20)
#define MIPMAP_STREAM_BYTES	65536u

struct pumice_canvas {
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_freelist *list;
	struct pumice_hwrt *hwrt;
	struct pumice_image *image;
	u32 samples;
	u32 scene;	/* of the data set: frames alternate */
};

static int make_image(struct pumice_canvas *c, const struct pumice_canvas_desc *d)
{
	struct pumice_image_desc image;

	if (d->format < PUMICE_FORMAT_COUNT && !image_is_renderable(d->format))
		return fail(c->vm->dev, EINVAL,
			    "canvas: format %s cannot be rendered to; choose a color format",
			    pumice_format_str(d->format));
	pumice_image_desc_init(&image, d->format, d->width, d->height);
	return pumice_image_create(c->vm, &image, &c->image);
}

static int make_data_set(struct pumice_canvas *c, const struct pumice_canvas_desc *d)
{
	struct pumice_freelist_desc list;
	struct pumice_hwrt_desc set;
	int err;

	pumice_freelist_desc_init(&list);
	err = pumice_freelist_create(c->vm, &list, &c->list);
	if (err)
		return err;
	pumice_hwrt_desc_init(&set, c->list, d->width, d->height);
	set.samples = d->samples;
	return pumice_hwrt_create(c->vm, &set, &c->hwrt);
}

int pumice_canvas_create(struct pumice_vm *vm, const struct pumice_canvas_desc *desc,
			 struct pumice_canvas **canvas)
{
	struct pumice_canvas *c;
	int err;

	if (!desc)
		return fail_null(vm->dev, "canvas", "desc");
	c = calloc(1, sizeof(*c));
	if (!c)
		return fail(vm->dev, ENOMEM, "canvas: out of memory");
	c->vm = vm;
	c->samples = desc->samples;
	err = make_image(c, desc);
	if (!err)
		err = make_data_set(c, desc);
	if (!err)
		err = pumice_context_create_type(vm, PUMICE_CONTEXT_RENDER, PUMICE_PRIORITY_NORMAL,
						 &c->context);
	if (!err)
		err = pumice_stream_create(vm, STREAM_BYTES, &c->stream);
	if (err)
		pumice_canvas_destroy(c);
	else
		*canvas = c;
	return err;
}

void pumice_canvas_destroy(struct pumice_canvas *c)
{
	if (!c)
		return;
	pumice_stream_destroy(c->stream);
	pumice_context_destroy(c->context);
	pumice_hwrt_destroy(c->hwrt);
	pumice_freelist_destroy(c->list);
	pumice_image_destroy(c->image);
	free(c);
}

struct pumice_image *pumice_canvas_image(const struct pumice_canvas *c)
{
	return c->image;
}

struct pumice_context *pumice_canvas_context(const struct pumice_canvas *c)
{
	return c->context;
}

struct pumice_stream *pumice_canvas_begin(struct pumice_canvas *c)
{
	pumice_stream_reset(c->stream);
	return c->stream;
}

int pumice_canvas_end(struct pumice_canvas *c, const float clear[4], uint64_t timeout_ns)
{
	struct pumice_render_desc render;
	struct pumice_frame frame;
	u64 record;
	u32 i;
	int err;

	pumice_render_desc_init(&render, c->image);
	render.targets[0].resolve = c->samples > 1;
	for (i = 0; i < 4; i++)
		render.clear[i].f = clear ? clear[i] : 0;
	pumice_frame_init(&frame, c->hwrt);
	frame.hwrt_data = c->scene;
	err = pumice_stream_vdm_end(c->stream, &frame.geometry);
	if (!err)
		err = pumice_stream_render(c->stream, &render, &record);
	if (!err)
		err = pumice_stream_render_list(c->stream, c->hwrt, record, &frame.render);
	if (!err)
		err = pumice_render(c->context, &frame, timeout_ns, NULL);
	c->scene ^= 1;
	return err;
}

int pumice_image_mipmaps(struct pumice_vm *vm, struct pumice_image *image)
{
	struct pumice_context *context = NULL;
	struct pumice_stream *stream = NULL;
	u64 start;
	int err = pumice_context_create_type(vm, PUMICE_CONTEXT_TRANSFER, PUMICE_PRIORITY_NORMAL,
					     &context);

	if (!err)
		err = pumice_stream_create(vm, MIPMAP_STREAM_BYTES, &stream);
	if (!err)
		err = pumice_stream_mipmaps(stream, image);
	if (!err)
		err = pumice_stream_tdm_end(stream, &start);
	if (!err)
		err = pumice_context_run(context, start, PUMICE_FOREVER, NULL);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	return err;
}
