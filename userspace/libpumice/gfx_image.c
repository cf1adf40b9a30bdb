// SPDX-License-Identifier: MIT
/*
 * Images: memory for a surface (hw/surface.h), and conversion of texels to and from its layout.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

static struct pumice_surface surface_of(const struct pumice_image_desc *d)
{
	struct pumice_surface s = {
		.format = d->format, .layout = d->layout, .dim = d->dim,
		.width = d->width, .height = d->height ? d->height : 1,
		.depth = d->depth ? d->depth : 1, .levels = d->levels, .stride = d->stride,
	};

	if (!s.levels && s.width)
		s.levels = pumice_surface_max_levels(&s);
	return s;
}

static int place_image(struct pumice_image *image)
{
	void *cpu;
	int err = pumice_bo_create(image->vm->dev, pumice_surface_bytes(&image->surface),
				   image->vm, &image->bo);

	if (!err)
		err = pumice_bo_map(image->bo, &cpu);
	if (err)
		return err;
	image->cpu = cpu;
	return pumice_vm_place(image->vm, image->bo, PUMICE_BIND_NOEXEC, &image->va);
}

int pumice_image_create(struct pumice_vm *vm, const struct pumice_image_desc *desc,
			struct pumice_image **out)
{
	struct pumice_surface surface = surface_of(desc);
	struct pumice_image *image;
	int err;

	if (!pumice_surface_valid(&surface))
		return fail(vm->dev, EINVAL,
			    "image: format %u, layout %u, dim %u of %u x %u x %u, %u levels, stride %u",
			    surface.format, surface.layout, surface.dim, surface.width,
			    surface.height, surface.depth, surface.levels, surface.stride);
	image = calloc(1, sizeof(*image));
	if (!image)
		return fail(vm->dev, ENOMEM, "image: out of memory");
	image->vm = vm;
	image->surface = surface;
	err = place_image(image);
	if (err)
		pumice_image_destroy(image);
	else
		*out = image;
	return err;
}

void pumice_image_destroy(struct pumice_image *image)
{
	if (!image)
		return;
	if (image->va)
		pumice_vm_remove(image->vm, image->va);
	pumice_bo_destroy(image->bo);
	free(image);
}

void pumice_image_info(const struct pumice_image *image, struct pumice_image_desc *desc)
{
	const struct pumice_surface *s = &image->surface;

	*desc = (struct pumice_image_desc){
		.format = s->format, .layout = s->layout, .dim = s->dim, .width = s->width,
		.height = s->height, .depth = s->depth, .levels = s->levels, .stride = s->stride,
	};
}

uint64_t pumice_image_va(const struct pumice_image *image)
{
	return image->va;
}

/* Get the level of a part, and the minimum bytes of its rows. */
static int find_part(const struct pumice_image *image, struct pumice_image_part part,
		     struct pumice_level *level, size_t *row_bytes)
{
	struct pumice_device *dev = image->vm->dev;
	size_t min_bytes;

	if (part.level >= image->surface.levels)
		return fail(dev, EINVAL, "image: level %u is out of range", part.level);
	*level = pumice_surface_level(&image->surface, part.level);
	if (part.layer >= level->layers)
		return fail(dev, EINVAL, "image: layer %u of level %u is out of range", part.layer,
			    part.level);
	min_bytes = (size_t)level->blocks_x * level->bytes;
	if (!*row_bytes)
		*row_bytes = min_bytes;
	if (*row_bytes < min_bytes)
		return fail(dev, EINVAL, "image: rows of %zu bytes are shorter than %zu",
			    *row_bytes, min_bytes);
	return 0;
}

int pumice_image_upload(struct pumice_image *image, struct pumice_image_part part,
			const void *texels, size_t row_bytes)
{
	struct pumice_level level;
	int err = find_part(image, part, &level, &row_bytes);
	u32 x, y;

	if (err)
		return err;
	for (y = 0; y < level.blocks_y; y++) {
		const u8 *row = (const u8 *)texels + y * row_bytes;

		for (x = 0; x < level.blocks_x; x++)
			memcpy(image->cpu + pumice_level_offset(&level, part.layer, x, y),
			       row + (size_t)x * level.bytes, level.bytes);
	}
	return 0;
}

int pumice_image_download(const struct pumice_image *image, struct pumice_image_part part,
			  void *texels, size_t row_bytes)
{
	struct pumice_level level;
	int err = find_part(image, part, &level, &row_bytes);
	u32 x, y;

	if (err)
		return err;
	for (y = 0; y < level.blocks_y; y++) {
		u8 *row = (u8 *)texels + y * row_bytes;

		for (x = 0; x < level.blocks_x; x++)
			memcpy(row + (size_t)x * level.bytes,
			       image->cpu + pumice_level_offset(&level, part.layer, x, y),
			       level.bytes);
	}
	return 0;
}

void pumice_image_texture(const struct pumice_image *image, struct pumice_texture *texture)
{
	const struct pumice_surface *s = &image->surface;

	*texture = (struct pumice_texture){
		.addr = image->va,
		.format = (u8)s->format,
		.layout = (u8)s->layout,
		.dim = (u8)s->dim,
		.levels = (u8)s->levels,
		.width = (u16)(s->width - 1),
		.height = (u16)(s->height - 1),
		.depth = (u16)(s->depth - 1),
		.stride = s->stride,
		.swizzle_r = PUMICE_SWIZZLE_R,
		.swizzle_g = PUMICE_SWIZZLE_G,
		.swizzle_b = PUMICE_SWIZZLE_B,
		.swizzle_a = PUMICE_SWIZZLE_A,
	};
}
