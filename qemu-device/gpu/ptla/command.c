// SPDX-License-Identifier: MIT
/* Commands of the transfer control stream. See command.h. */
#include "command.h"

#include <string.h>

/* Fetch of a command and its structures, and its fault. */
struct fetch {
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	u64 addr;		/* address of the command */
	struct gpu_fault *fault;
};

static bool fail(const struct fetch *f, enum pumice_fault reason, u64 addr)
{
	f->fault->fault = (u8)reason;
	f->fault->addr = addr;
	return false;
}

/* The copy of a PRESENT command is that of SCALE. */
static enum pumice_unpack unpack_present(const u32 *words, struct ptla_command *c)
{
	struct pumice_tdm_present p;
	enum pumice_unpack result = pumice_tdm_present_unpack(words, &p);

	c->frame = p.frame;
	c->scale = (struct pumice_tdm_scale){
		.src_level = p.src_level, .dst_level = p.dst_level, .dither = p.dither,
		.filter = p.filter, .flip_x = p.flip_x, .flip_y = p.flip_y, .src = p.src,
		.dst = p.dst, .src_x = p.src_x, .src_y = p.src_y, .src_width = p.src_width,
		.src_height = p.src_height, .dst_x = p.dst_x, .dst_y = p.dst_y,
		.dst_width = p.dst_width, .dst_height = p.dst_height, .src_layer = p.src_layer,
		.dst_layer = p.dst_layer,
	};
	return result;
}

static enum pumice_unpack unpack_flush(const u32 *words, struct ptla_command *c)
{
	struct pumice_tdm_flush in;
	enum pumice_unpack result = pumice_tdm_flush_unpack(words, &in);

	c->flush = DM_FLUSH(in);
	/* Filters have a fault of their own. */
	return result == PUMICE_UNPACK_ENUM ? PUMICE_UNPACK_RESERVED : result;
}

static enum pumice_unpack unpack(const u32 *words, struct ptla_command *c)
{
	struct pumice_tdm_halt halt;

	switch ((enum pumice_tdm_type)c->type) {
	case PUMICE_TDM_TYPE_COPY:
		return pumice_tdm_copy_unpack(words, &c->copy);
	case PUMICE_TDM_TYPE_FILL:
		return pumice_tdm_fill_unpack(words, &c->fill);
	case PUMICE_TDM_TYPE_BLIT:
		return pumice_tdm_blit_unpack(words, &c->blit);
	case PUMICE_TDM_TYPE_CLEAR:
		return pumice_tdm_clear_unpack(words, &c->clear);
	case PUMICE_TDM_TYPE_DOWNSCALE:
		return pumice_tdm_downscale_unpack(words, &c->downscale);
	case PUMICE_TDM_TYPE_SCALE:
		return pumice_tdm_scale_unpack(words, &c->scale);
	case PUMICE_TDM_TYPE_PRESENT:
		return unpack_present(words, c);
	case PUMICE_TDM_TYPE_LINK:
		return pumice_tdm_link_unpack(words, &c->link);
	case PUMICE_TDM_TYPE_FLUSH:
		return unpack_flush(words, c);
	case PUMICE_TDM_TYPE_HALT:
		return pumice_tdm_halt_unpack(words, &halt);
	}
	return PUMICE_UNPACK_CONST;
}

static u64 pieces_of(u64 size, u64 piece)
{
	return (size + piece - 1) / piece;
}

static bool ranges_meet(u64 a, u64 a_bytes, u64 b, u64 b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

/* Fetch a surface's level and one of its layers (or slices). */
static bool fetch_surface(const struct fetch *f, u64 addr, u32 level, u32 layer,
			  struct ptla_surface *s)
{
	struct pumice_texture *t = &s->texture;
	u32 words[PUMICE_TEXTURE_WORDS];

	if (!mmu_read(f->mmu, f->tlb, f->ctx, addr, words, sizeof(words), PUMICE_ACCESS_READ,
		      PUMICE_UNIT_PTLA, f->fault))
		return false;
	if (pumice_texture_unpack(words, t) != PUMICE_UNPACK_OK ||
	    !pumice_swizzle_valid(t->swizzle_r) || !pumice_swizzle_valid(t->swizzle_g) ||
	    !pumice_swizzle_valid(t->swizzle_b) || !pumice_swizzle_valid(t->swizzle_a))
		return fail(f, PUMICE_FAULT_TDM_SURFACE, addr);
	s->surface = pumice_surface_of_texture(t);
	s->info = pumice_pixel_info(t->format);
	if (!pumice_surface_valid(&s->surface))
		return fail(f, PUMICE_FAULT_TDM_SURFACE, addr);
	if (level >= s->surface.levels)
		return fail(f, PUMICE_FAULT_TDM_RECT, f->addr);
	s->level = pumice_surface_level(&s->surface, level);
	if (layer >= s->level.layers)
		return fail(f, PUMICE_FAULT_TDM_RECT, f->addr);
	s->addr = t->addr + s->level.offset + layer * s->level.layer_bytes;
	return true;
}

static bool rect_inside(const struct pumice_level *l, u32 x, u32 y, u32 width, u32 height)
{
	return width && height && x + width <= l->width && y + height <= l->height;
}

/* Return whether a rectangle of compressed texels consists of whole blocks. */
static bool rect_of_blocks(const struct pumice_level *l, u32 x, u32 y, u32 width, u32 height)
{
	return x % 4 == 0 && y % 4 == 0 && (width % 4 == 0 || x + width == l->width) &&
	       (height % 4 == 0 || y + height == l->height);
}

/* Return whether texels of src can be converted to texels of dst. */
static bool convertible(const struct ptla_surface *src, const struct ptla_surface *dst)
{
	if (dst->info->flags & PUMICE_FORMAT_BLOCKS ||
	    dst->texture.format == PUMICE_FORMAT_D24_S8)
		return false;
	if (texel_integer(src->info) || texel_integer(dst->info))
		return src->info->kind == dst->info->kind;
	return true;
}

static bool same_order(const struct pumice_texture *t)
{
	return t->swizzle_r == PUMICE_SWIZZLE_R && t->swizzle_g == PUMICE_SWIZZLE_G &&
	       t->swizzle_b == PUMICE_SWIZZLE_B && t->swizzle_a == PUMICE_SWIZZLE_A;
}

/* Return whether texels of src can be copied to dst unconverted. */
static bool same_texels(const struct ptla_command *c)
{
	return c->src.texture.format == c->dst.texture.format &&
	       (same_order(&c->src.texture) || c->src.info->flags & PUMICE_FORMAT_BLOCKS ||
		c->src.texture.format == PUMICE_FORMAT_D24_S8);
}

/*
 * Return whether two rectangles of the same layer overlap, so that no order of copying is correct.
 */
static bool blit_overlaps(const struct ptla_command *c)
{
	const struct pumice_tdm_blit *b = &c->blit;

	return c->src.addr == c->dst.addr && ranges_meet(b->src_x, b->width, b->dst_x, b->width) &&
	       ranges_meet(b->src_y, b->height, b->dst_y, b->height);
}

static bool scale_overlaps(const struct ptla_command *c)
{
	const struct pumice_tdm_scale *s = &c->scale;

	return c->src.addr == c->dst.addr &&
	       ranges_meet(s->src_x, s->src_width, s->dst_x, s->dst_width) &&
	       ranges_meet(s->src_y, s->src_height, s->dst_y, s->dst_height);
}

/* Return whether pieces may read memory that others write. */
static bool layers_meet(const struct ptla_command *c)
{
	return ranges_meet(c->src.addr, c->src.level.layer_bytes, c->dst.addr,
			   c->dst.level.layer_bytes);
}

static bool check_blit(const struct fetch *f, struct ptla_command *c)
{
	const struct pumice_tdm_blit *b = &c->blit;
	u32 block;

	if (!fetch_surface(f, b->src, b->src_level, b->src_layer, &c->src) ||
	    !fetch_surface(f, b->dst, b->dst_level, b->dst_layer, &c->dst))
		return false;
	c->raw = same_texels(c);
	if (!c->raw && !convertible(&c->src, &c->dst))
		return fail(f, PUMICE_FAULT_TDM_SURFACE, b->dst);
	if (!rect_inside(&c->src.level, b->src_x, b->src_y, b->width, b->height) ||
	    !rect_inside(&c->dst.level, b->dst_x, b->dst_y, b->width, b->height) ||
	    blit_overlaps(c))
		return fail(f, PUMICE_FAULT_TDM_RECT, f->addr);
	block = c->raw ? c->src.info->block : 1;
	if (block > 1 &&
	    (!rect_of_blocks(&c->src.level, b->src_x, b->src_y, b->width, b->height) ||
	     !rect_of_blocks(&c->dst.level, b->dst_x, b->dst_y, b->width, b->height)))
		return fail(f, PUMICE_FAULT_TDM_RECT, f->addr);
	c->src_x = b->src_x / block;
	c->src_y = b->src_y / block;
	c->dst_x = b->dst_x / block;
	c->dst_y = b->dst_y / block;
	c->width = (b->width + block - 1) / block;
	c->height = (b->height + block - 1) / block;
	c->serial = layers_meet(c);
	c->pieces = pieces_of(c->height, PTLA_PIECE_LINES);
	return true;
}

/* Return whether the filter can compute texels of these formats and sizes. */
static bool filter_valid(const struct ptla_command *c)
{
	const struct pumice_tdm_scale *s = &c->scale;

	if (s->filter == PUMICE_TDM_FILTER_NEAREST)
		return true;
	if (c->src.info->flags & PUMICE_FORMAT_STENCIL || texel_integer(c->src.info))
		return false;
	if (s->filter == PUMICE_TDM_FILTER_LINEAR)
		return true;
	return (s->src_width == s->dst_width || s->src_width == 2 * s->dst_width) &&
	       (s->src_height == s->dst_height || s->src_height == 2 * s->dst_height);
}

static bool check_scale(const struct fetch *f, struct ptla_command *c)
{
	const struct pumice_tdm_scale *s = &c->scale;

	if (!fetch_surface(f, s->src, s->src_level, s->src_layer, &c->src) ||
	    !fetch_surface(f, s->dst, s->dst_level, s->dst_layer, &c->dst))
		return false;
	c->raw = s->filter == PUMICE_TDM_FILTER_NEAREST && same_texels(c) &&
		 !(c->src.info->flags & PUMICE_FORMAT_BLOCKS);
	if (!c->raw && !convertible(&c->src, &c->dst))
		return fail(f, PUMICE_FAULT_TDM_SURFACE, s->dst);
	if (!rect_inside(&c->src.level, s->src_x, s->src_y, s->src_width, s->src_height) ||
	    !rect_inside(&c->dst.level, s->dst_x, s->dst_y, s->dst_width, s->dst_height) ||
	    scale_overlaps(c))
		return fail(f, PUMICE_FAULT_TDM_RECT, f->addr);
	if (!filter_valid(c))
		return fail(f, PUMICE_FAULT_TDM_FILTER, f->addr);
	c->src_x = s->src_x;
	c->src_y = s->src_y;
	c->dst_x = s->dst_x;
	c->dst_y = s->dst_y;
	c->width = s->dst_width;
	c->height = s->dst_height;
	c->serial = layers_meet(c);
	/* Each texel may need to decode up to four blocks: some 0.2 ms for a piece. */
	c->extra = c->src.info->flags & PUMICE_FORMAT_BLOCKS ? 7 : 0;
	c->pieces = pieces_of(c->height, PTLA_PIECE_LINES) *
		    pieces_of(c->width, PTLA_PIECE_COLUMNS);
	return true;
}

static bool check_clear(const struct fetch *f, struct ptla_command *c)
{
	const struct pumice_tdm_clear *r = &c->clear;

	if (!fetch_surface(f, r->dst, r->dst_level, r->dst_layer, &c->dst))
		return false;
	if (c->dst.info->flags & PUMICE_FORMAT_BLOCKS)
		return fail(f, PUMICE_FAULT_TDM_SURFACE, r->dst);
	if (!rect_inside(&c->dst.level, r->dst_x, r->dst_y, r->width, r->height))
		return fail(f, PUMICE_FAULT_TDM_RECT, f->addr);
	c->dst_x = r->dst_x;
	c->dst_y = r->dst_y;
	c->width = r->width;
	c->height = r->height;
	c->pieces = pieces_of(c->height, PTLA_PIECE_LINES);
	return true;
}

static bool check_downscale(const struct fetch *f, struct ptla_command *c)
{
	const struct pumice_tdm_downscale *d = &c->downscale;

	if (!fetch_surface(f, d->surface, d->src_level, 0, &c->src))
		return false;
	if (c->src.info->flags & (PUMICE_FORMAT_BLOCKS | PUMICE_FORMAT_STENCIL) ||
	    texel_integer(c->src.info))
		return fail(f, PUMICE_FAULT_TDM_SURFACE, d->surface);
	if (d->src_level + 1u >= c->src.surface.levels)
		return fail(f, PUMICE_FAULT_TDM_RECT, f->addr);
	c->dst = c->src;
	c->dst.level = pumice_surface_level(&c->src.surface, d->src_level + 1u);
	c->dst.addr = c->src.texture.addr + c->dst.level.offset;
	c->width = c->dst.level.width;
	c->height = c->dst.level.height;
	c->pieces = pieces_of(c->height, PTLA_PIECE_LINES) * c->dst.level.layers;
	return true;
}

static void cut_copy(struct ptla_command *c)
{
	c->pieces = pieces_of(c->copy.bytes, PTLA_PIECE_BYTES);
	c->serial = ranges_meet(c->copy.src, c->copy.bytes, c->copy.dst, c->copy.bytes);
	c->downwards = c->serial && c->copy.dst > c->copy.src;
}

static bool check(const struct fetch *f, struct ptla_command *c)
{
	switch (c->type) {
	case PUMICE_TDM_TYPE_COPY:
		cut_copy(c);
		return true;
	case PUMICE_TDM_TYPE_FILL:
		c->pieces = pieces_of((u64)c->fill.words * sizeof(u32), PTLA_PIECE_BYTES);
		return true;
	case PUMICE_TDM_TYPE_BLIT:
		return check_blit(f, c);
	case PUMICE_TDM_TYPE_CLEAR:
		return check_clear(f, c);
	case PUMICE_TDM_TYPE_DOWNSCALE:
		return check_downscale(f, c);
	case PUMICE_TDM_TYPE_SCALE:
	case PUMICE_TDM_TYPE_PRESENT:
		return check_scale(f, c);
	default:
		return true;
	}
}

bool ptla_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			struct ptla_command *out, struct gpu_fault *fault)
{
	const struct fetch f = { .mmu = mmu, .tlb = tlb, .ctx = ctx, .addr = addr, .fault = fault };
	u32 words[PUMICE_TDM_CMD_MAX_WORDS];

	*fault = (struct gpu_fault){
		.unit = PUMICE_UNIT_PTLA, .access = PUMICE_ACCESS_READ, .ctx = (u8)ctx,
		.addr = addr,
	};
	memset(out, 0, sizeof(*out));
	if (addr % sizeof(u32))
		return fail(&f, PUMICE_FAULT_TDM_ALIGN, addr);
	if (!mmu_read(mmu, tlb, ctx, addr, &words[0], sizeof(words[0]), PUMICE_ACCESS_READ,
		      PUMICE_UNIT_PTLA, fault))
		return false;
	out->type = (u8)pumice_tdm_cmd_type(words[0]);
	out->words = (u8)pumice_tdm_cmd_words(words[0]);
	if (!out->words)
		return fail(&f, PUMICE_FAULT_TDM_COMMAND, addr);
	if (out->words > 1 &&
	    !mmu_read(mmu, tlb, ctx, addr + sizeof(u32), &words[1],
		      (out->words - 1u) * sizeof(u32), PUMICE_ACCESS_READ, PUMICE_UNIT_PTLA, fault))
		return false;
	if (out->type == PUMICE_TDM_TYPE_LINK && words[1] % sizeof(u32))
		return fail(&f, PUMICE_FAULT_TDM_ALIGN, addr);
	switch (unpack(words, out)) {
	case PUMICE_UNPACK_OK:
		return check(&f, out);
	case PUMICE_UNPACK_ENUM:
		return fail(&f, PUMICE_FAULT_TDM_FILTER, addr);
	default:
		return fail(&f, PUMICE_FAULT_TDM_RESERVED, addr);
	}
}
