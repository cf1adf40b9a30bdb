// SPDX-License-Identifier: MIT
/*
 * Images: memory for a surface (hw/surface.h), and conversion of texels to and from its layout.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"
#include "pumice_names.h"

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

/* Check the numbers that name something. */
static int check_kind(struct pumice_device *dev, const struct pumice_surface *s)
{
	if (pumice_pixel_info(s->format)->kind == PUMICE_KIND_NONE)
		return fail(dev, EINVAL, "image: format %u is not a PUMICE_FORMAT_*, 1 to %u",
			    s->format, PUMICE_FORMAT_COUNT - 1);
	if (!pumice_layout_valid(s->layout))
		return fail(dev, EINVAL, "image: layout %u is not a PUMICE_LAYOUT_*, 0 to %u",
			    s->layout, PUMICE_LAYOUT_COUNT - 1);
	if (!pumice_texture_dim_valid(s->dim))
		return fail(dev, EINVAL, "image: dim %u is not a PUMICE_TEXTURE_DIM_*, 0 to %u",
			    s->dim, PUMICE_TEXTURE_DIM_COUNT - 1);
	return 0;
}

/* Check the size; the rules are those of pumice_surface_valid(). */
static int check_size(struct pumice_device *dev, const struct pumice_surface *s)
{
	const u32 max = PUMICE_SURFACE_MAX_SIZE;

	if (!s->width || s->width > max)
		return fail(dev, EINVAL, "image: width %u is not 1 to %u", s->width, max);
	if (s->height > max)
		return fail(dev, EINVAL, "image: height %u is not 1 to %u", s->height, max);
	if (s->depth > PUMICE_MAX_LAYERS)
		return fail(dev, EINVAL, "image: depth %u is not 1 to %u", s->depth,
			    PUMICE_MAX_LAYERS);
	if (!pumice_surface_dim_valid(s))
		return fail(dev, EINVAL,
			    "image: %u x %u x %u does not fit dim %s: see struct pumice_image_desc",
			    s->width, s->height, s->depth, pumice_texture_dim_str(s->dim));
	if (s->levels > pumice_surface_max_levels(s))
		return fail(dev, EINVAL, "image: levels %u is more than %u, the levels of %u x %u",
			    s->levels, pumice_surface_max_levels(s), s->width, s->height);
	return 0;
}

static int check_surface(struct pumice_device *dev, const struct pumice_surface *s)
{
	int err = check_kind(dev, s);

	if (!err)
		err = check_size(dev, s);
	if (err || pumice_surface_valid(s))
		return err;
	if (s->layout != PUMICE_LAYOUT_LINEAR || s->levels != 1)
		return fail(dev, EINVAL,
			    "image: stride %u is only for layout LINEAR with 1 level; set it to 0",
			    s->stride);
	return fail(dev, EINVAL,
		    "image: stride %u is not a multiple of %u (a texel), or is less than a row",
		    s->stride, pumice_pixel_info(s->format)->bytes);
}

static int place_image(struct pumice_image *image)
{
	void *cpu;
	int err = pumice_bo_create(image->vm->dev, pumice_surface_bytes(&image->surface),
				   image->vm, &image->bo);

	if (!err) {
		bo_name_internal(image->bo, "image of %u x %u", image->surface.width,
				 image->surface.height);
		image->bo->internal = false;
		err = pumice_bo_map(image->bo, &cpu);
	}
	if (err)
		return err;
	image->cpu = cpu;
	return vm_place_object(image->vm, image->bo, PUMICE_BIND_NOEXEC, &image->va);
}

int pumice_image_create(struct pumice_vm *vm, const struct pumice_image_desc *desc,
			struct pumice_image **out)
{
	struct pumice_surface surface;
	struct pumice_image *image;
	int err;

	if (!desc)
		return fail_null(vm->dev, "image", "desc");
	surface = surface_of(desc);
	err = check_surface(vm->dev, &surface);
	if (err)
		return err;
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
		return fail(dev, EINVAL, "image: level %u is not 0 to %u", part.level,
			    image->surface.levels - 1);
	*level = pumice_surface_level(&image->surface, part.level);
	if (part.layer >= level->layers)
		return fail(dev, EINVAL, "image: layer %u of level %u is not 0 to %u", part.layer,
			    part.level, level->layers - 1);
	min_bytes = (size_t)level->blocks_x * level->bytes;
	if (!*row_bytes)
		*row_bytes = min_bytes;
	if (*row_bytes < min_bytes)
		return fail(dev, EINVAL, "image: row_bytes %zu is less than %zu, a row of texels",
			    *row_bytes, min_bytes);
	return 0;
}

int pumice_image_upload(struct pumice_image *image, struct pumice_image_part part,
			const void *texels, size_t row_bytes)
{
	struct pumice_level level;
	int err = find_part(image, part, &level, &row_bytes);
	u32 x, y;

	if (!err && !texels)
		err = fail_null(image->vm->dev, "image", "texels");
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

	if (!err && !texels)
		err = fail_null(image->vm->dev, "image", "texels");
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
