// SPDX-License-Identifier: MIT
/*
 * pumice-frame: the targets of a frame as pictures. The transfer data master
 * of the replaying GPU converts any format and layout to rows of RGBA8.
 */
#include <stdlib.h>
#include <string.h>

#include "frame.h"

#define STREAM_BYTES 65536u

static void check(const struct frame *f, int err)
{
	if (err)
		frame_fail("%s", pumice_device_error(f->dev));
}

/* Build a transfer stream that copies level 0 of a surface to an image. */
static void convert(const struct frame *f, const uint32_t *texture, struct pumice_image *image,
		    uint32_t width, uint32_t height)
{
	struct pumice_tdm_blit blit = { .width = width, .height = height };
	struct pumice_texture to;
	struct pumice_stream *stream;
	struct pumice_context *context;
	uint32_t words[PUMICE_TDM_BLIT_WORDS];
	void *cpu;
	uint64_t va;

	check(f, pumice_stream_create(f->vm, STREAM_BYTES, &stream));
	check(f, pumice_stream_data(stream, PUMICE_TEXTURE_WORDS * 4, 16, &cpu, &va));
	memcpy(cpu, texture, PUMICE_TEXTURE_WORDS * 4);
	blit.src = va;
	pumice_image_texture(image, &to);
	check(f, pumice_stream_data(stream, PUMICE_TEXTURE_WORDS * 4, 16, &cpu, &va));
	pumice_texture_pack(cpu, &to);
	blit.dst = va;
	pumice_tdm_blit_pack(words, &blit);
	check(f, pumice_stream_emit(stream, words, PUMICE_TDM_BLIT_WORDS));
	check(f, pumice_stream_tdm_end(stream, &va));
	check(f, pumice_context_create_type(f->vm, PUMICE_CONTEXT_TRANSFER, PUMICE_PRIORITY_NORMAL,
					    &context));
	check(f, pumice_context_run(context, va, PUMICE_FOREVER, NULL));
	pumice_context_destroy(context);
	pumice_stream_destroy(stream);
}

uint8_t *frame_picture(const struct frame *f, uint32_t n, uint32_t *width, uint32_t *height)
{
	struct pumice_image_desc desc = {
		.format = PUMICE_FORMAT_RGBA8_UNORM, .layout = PUMICE_LAYOUT_LINEAR,
		.dim = PUMICE_TEXTURE_DIM_2D, .levels = 1,
	};
	struct pumice_texture from;
	struct pumice_image *image;
	uint8_t *rgb, *rgba;

	if (pumice_texture_unpack(f->desc->targets[n], &from) != PUMICE_UNPACK_OK)
		frame_fail("target %u is not a valid texture: capture the frame again", n);
	if (from.format == PUMICE_FORMAT_RGBA8_SRGB || from.format == PUMICE_FORMAT_BGRA8_SRGB)
		desc.format = PUMICE_FORMAT_RGBA8_SRGB;	/* picture files are also sRGB */
	desc.width = *width = from.width + 1u;
	desc.height = *height = from.height + 1u;
	check(f, pumice_image_create(f->vm, &desc, &image));
	convert(f, f->desc->targets[n], image, *width, *height);
	rgba = malloc((size_t)*width * *height * 4);
	rgb = malloc((size_t)*width * *height * 3);
	if (!rgba || !rgb)
		frame_fail("out of memory");
	check(f, pumice_image_download(image, (struct pumice_image_part){ 0 }, rgba, 0));
	for (size_t i = 0; i < (size_t)*width * *height; i++)
		memcpy(&rgb[i * 3], &rgba[i * 4], 3);
	free(rgba);
	pumice_image_destroy(image);
	return rgb;
}
