// SPDX-License-Identifier: MIT
/*
 * Render records (hw/formats.xml, pdm_render), with the library's own background
 * and end-of-tile programs.
 *
 * Background: outputs are copied from shared registers, or fetched from the
 * image of a loaded target. End of tile: one pbe operation for each target.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gfx.h"
#include "pumice_names.h"

#define TEXTURE_STATE	(PUMICE_TEXTURE_WORDS + PUMICE_SAMPLER_WORDS)
#define TEXT_BYTES	4096

/* A program's text; overflow is detected when it is used. */
struct text {
	char line[TEXT_BYTES];
	size_t used;
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->line + t->used, sizeof(t->line) - t->used, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof(t->line) - t->used)
		t->used += (size_t)n;
}

static u32 components(const struct pumice_target *t)
{
	return pumice_pixel_info(t->image->surface.format)->components;
}

static int check_target(struct pumice_stream *s, const struct pumice_render_desc *d, u32 index)
{
	const struct pumice_target *t = &d->targets[index];
	struct pumice_device *dev = stream_vm(s)->dev;
	const struct pumice_surface *surface;
	u32 layers;

	if (!t->image)
		return fail(dev, EINVAL, "target %u: image is NULL; set it", index);
	if (t->image->vm != stream_vm(s))
		return fail(dev, EINVAL,
			    "target %u: the image belongs to another vm; create it in the stream's",
			    index);
	surface = &t->image->surface;
	if (!image_is_renderable(surface->format))
		return fail(dev, EINVAL, "target %u: format %s cannot be rendered to; choose a color format",
			    index, pumice_format_str(surface->format));
	if (t->part.level >= surface->levels)
		return fail(dev, EINVAL, "target %u: level %u is not 0 to %u", index,
			    t->part.level, surface->levels - 1);
	layers = pumice_surface_level_size(surface, t->part.level).layers;
	if (t->part.layer >= layers)
		return fail(dev, EINVAL, "target %u: layer %u is not 0 to %u", index,
			    t->part.layer, layers - 1);
	if (t->samples && surface->width % t->samples)
		return fail(dev, EINVAL,
			    "target %u: the image's width %u is not a multiple of samples %u",
			    index, surface->width, t->samples);
	if (t->source + components(t) > d->pdm.outputs)
		return fail(dev, EINVAL,
			    "target %u: outputs %u to %u are stored, but pdm.outputs is %u", index,
			    t->source, t->source + components(t) - 1, d->pdm.outputs);
	return 0;
}

static int check_mask(struct pumice_device *dev, const struct pumice_pdm_render *r)
{
	if (!r->mask_plane && (r->mask_load || r->mask_store || r->clear_mask))
		return fail(dev, EINVAL,
			    "render: no mask plane to load, store or clear; call pumice_render_desc_mask()");
	if (!r->mask_addr && (r->mask_load || r->mask_store))
		return fail(dev, EINVAL,
			    "render: pdm.mask_addr is 0; call pumice_render_desc_mask() with that of a buffer");
	return 0;
}

/* Refuse addresses and strides whose bits the record did not keep. */
static int check_kept(struct pumice_device *dev, const struct pumice_pdm_render *r,
		      const struct pumice_pdm_render *kept)
{
	const struct {
		const char *name;
		u64 value, kept;
	} fields[] = {
		{ "depth_addr", r->depth_addr, kept->depth_addr },
		{ "stencil_addr", r->stencil_addr, kept->stencil_addr },
		{ "mask_addr", r->mask_addr, kept->mask_addr },
		{ "visibility_addr", r->visibility_addr, kept->visibility_addr },
		{ "stats_addr", r->stats_addr, kept->stats_addr },
		{ "depth_stride", r->depth_stride, kept->depth_stride },
		{ "stencil_stride", r->stencil_stride, kept->stencil_stride },
		{ "mask_stride", r->mask_stride, kept->mask_stride },
	};
	u32 i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].kept != fields[i].value)
			return fail(dev, EINVAL,
				    "render: pdm.%s %#llx does not fit its field of struct pdm_render",
				    fields[i].name, (unsigned long long)fields[i].value);
	return 0;
}

static int check_record(struct pumice_device *dev, const struct pumice_pdm_render *r)
{
	struct pumice_pdm_render kept = *r;
	u32 words[PUMICE_PDM_RENDER_WORDS];

	pumice_pdm_render_pack(words, r);
	/* The GPU checks the values. */
	(void)pumice_pdm_render_unpack(words, &kept);
	return check_kept(dev, r, &kept);
}

static int check_render(struct pumice_stream *s, const struct pumice_render_desc *d)
{
	struct pumice_device *dev = stream_vm(s)->dev;
	int err = 0;
	u32 i;

	if (d->target_count > PUMICE_MAX_TARGETS)
		return fail(dev, EINVAL, "render: target_count %u is not 0 to %u", d->target_count,
			    PUMICE_MAX_TARGETS);
	if (!d->pdm.outputs || d->pdm.outputs > PUMICE_USC_MAX_OUTPUTS)
		return fail(dev, EINVAL, "render: pdm.outputs %u is not 1 to %u", d->pdm.outputs,
			    PUMICE_USC_MAX_OUTPUTS);
	err = check_mask(dev, &d->pdm);
	if (!err)
		err = check_record(dev, &d->pdm);
	for (i = 0; i < d->target_count && !err; i++)
		err = check_target(s, d, i);
	return err;
}

/* Describe the level and layer as a separate texture. */
static void part_texture(const struct pumice_target *t, struct pumice_texture *texture)
{
	struct pumice_level level = pumice_surface_level(&t->image->surface, t->part.level);

	pumice_image_texture(t->image, texture);
	texture->addr += pumice_level_offset(&level, t->part.layer, 0, 0);
	texture->dim = PUMICE_TEXTURE_DIM_2D;
	texture->levels = 1;
	texture->depth = 0;
	texture->width = (u16)(level.width - 1);
	texture->height = (u16)(level.height - 1);
}

/* Emit the fetch of a target's texel to its outputs. @sh: register of its texture state */
static void load_target(struct text *text, const struct pumice_target *t, u32 sh, u32 *loaded)
{
	u32 i, n = components(t);

	put(text, "fetch.f32 r0, 2d, v0, r4, sh%u\n", sh);
	for (i = 0; i < n; i++)
		put(text, "mov o%u, [one], r%u\n", t->source + i, i);
	*loaded |= ((1u << n) - 1) << t->source;
}

static int place_background(struct pumice_stream *s, const struct pumice_render_desc *d,
			    u32 words[4])
{
	struct pumice_texture textures[PUMICE_MAX_TARGETS];
	struct pumice_input inputs[3 + PUMICE_MAX_TARGETS] = {
		{ .kind = PUMICE_INPUT_UNIFORMS, .words = &d->clear[0].u, .count = d->pdm.outputs },
		{ .kind = PUMICE_INPUT_SOURCE, .reg = 0, .source = PUMICE_PDS_SOURCE_FRAG_X },
		{ .kind = PUMICE_INPUT_SOURCE, .reg = 1, .source = PUMICE_PDS_SOURCE_FRAG_Y },
	};
	struct text text = { .used = 0 };
	u32 i, loaded = 0, used = 1, sh = 32;

	for (i = 0; i < d->target_count; i++) {
		if (!d->targets[i].load)
			continue;
		if (used == 1) {
			put(&text, "mov r4, [one], 0\n");
			used = 3;
		}
		part_texture(&d->targets[i], &textures[i]);
		inputs[used++] = (struct pumice_input){ .kind = PUMICE_INPUT_TEXTURE, .reg = sh,
							.texture = &textures[i] };
		load_target(&text, &d->targets[i], sh, &loaded);
		sh += TEXTURE_STATE;
	}
	for (i = 0; i < d->pdm.outputs; i++)
		if (!(loaded & 1u << i))
			put(&text, "mov o%u, [one], sh%u\n", i, i);
	put(&text, "end\n");
	return stream_place_program(s, text.line, inputs, used, words);
}

/* Build the PBE state of a target. */
static void pack_target(const struct pumice_target *t, u32 *words)
{
	const struct pumice_surface *surface = &t->image->surface;
	struct pumice_level level = pumice_surface_level(surface, t->part.level);
	const struct pumice_pbe_state state = {
		.addr = t->image->va + pumice_level_offset(&level, t->part.layer, 0, 0),
		.format = (u8)surface->format,
		.layout = (u8)surface->layout,
		.width = (u16)(level.width / (t->samples ? t->samples : 1) - 1),
		.height = (u16)(level.height - 1),
		.stride = surface->stride,
		.source = (u8)t->source,
		.write_mask = (u8)(~t->keep & 0xf),
		.dither = t->dither,
		.resolve = t->resolve,
		.samples = t->samples != 0,
	};

	pumice_pbe_state_pack(words, &state);
}

static int place_end_of_tile(struct pumice_stream *s, const struct pumice_render_desc *d,
			     u32 words[4])
{
	u32 state[PUMICE_MAX_TARGETS * PUMICE_PBE_STATE_WORDS];
	const struct pumice_input input = {
		.kind = PUMICE_INPUT_UNIFORMS, .words = state,
		.count = d->target_count * PUMICE_PBE_STATE_WORDS,
	};
	struct text text = { .used = 0 };
	u32 i;

	if (!d->target_count) {
		memset(words, 0, 4 * sizeof(*words));
		return 0;
	}
	for (i = 0; i < d->target_count; i++) {
		pack_target(&d->targets[i], state + i * PUMICE_PBE_STATE_WORDS);
		put(&text, "pbe sh%u\n", i * PUMICE_PBE_STATE_WORDS);
	}
	put(&text, "end\n");
	return stream_place_program(s, text.line, &input, 1, words);
}

int pumice_stream_render(struct pumice_stream *s, const struct pumice_render_desc *d,
			 uint64_t *va)
{
	struct pumice_pdm_render pdm;
	void *cpu;
	int err = d ? check_render(s, d) : fail_null(stream_vm(s)->dev, "render", "desc");

	if (err)
		return err;
	pdm = d->pdm;
	err = d->background ? pumice_stream_stage(s, d->background, pdm.background) :
			      place_background(s, d, pdm.background);
	if (!err)
		err = d->end_of_tile ? pumice_stream_stage(s, d->end_of_tile, pdm.end_of_tile) :
				       place_end_of_tile(s, d, pdm.end_of_tile);
	if (!err)
		err = pumice_stream_data(s, PUMICE_PDM_RENDER_WORDS * 4, 64, &cpu, va);
	if (!err)
		pumice_pdm_render_pack(cpu, &pdm);
	return err;
}
