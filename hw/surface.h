/* SPDX-License-Identifier: MIT */
/*
 * Pixel formats and the layout of texels in memory, shared by device, library
 * and tools. Documentation/formats.rst describes the rules in prose.
 *
 * Source: hw/formats.xml, enum format, enum layout, struct texture. Not
 * generated; inline and without floating point, so that kernel code may use it.
 *
 * A surface has levels; a level has layers (slices of a 3D texture); a layer is a
 * rectangle of blocks. A block is one texel, or the 4x4 texels of a compressed
 * format. Levels follow each other from 0 on; in a level its layers follow each
 * other. Every layer begins at a multiple of 16 bytes from the surface, so that
 * each can be a texture or a render target of its own.
 *
 * A layer of w x h blocks:
 *  LINEAR    rows of w blocks, each a stride from the one above it
 *  TILED     w and h are rounded up to 8; squares of 8x8 blocks in rows from left
 *            to right and top to bottom; in a square, rows of 8 blocks
 *  TWIDDLED  let s be the smaller of w and h, rounded up to a power of two; squares
 *            of s x s blocks follow each other along the longer side, the last one
 *            whole; in a square Morton order: bit n of x is bit 2n of the number,
 *            bit n of y is bit 2n + 1
 *
 * Limits: all functions except pumice_surface_valid() require a surface that it
 * accepts; then no result overflows 64 bits.
 */
#ifndef PUMICE_SURFACE_H
#define PUMICE_SURFACE_H

#include "pumice_formats.h"
#include "pumice_regs.h"
#include "pumice_types.h"

/* Encoding of a component. */
enum pumice_kind {
	PUMICE_KIND_NONE,	/* unknown format */
	PUMICE_KIND_UNORM,	/* n / (2^bits - 1) */
	PUMICE_KIND_SNORM,	/* n / (2^(bits - 1) - 1), at least -1 */
	PUMICE_KIND_UINT,
	PUMICE_KIND_SINT,
	PUMICE_KIND_FLOAT,	/* 16 or 32 bits: IEEE; 10 or 11: 5 of exponent, no sign */
};

/* Flags of a format. */
#define PUMICE_FORMAT_SRGB	1u	/* R, G and B by the sRGB curve */
#define PUMICE_FORMAT_DEPTH	2u	/* component R is a depth */
#define PUMICE_FORMAT_STENCIL	4u	/* has stencil: component G after a depth, else R */
#define PUMICE_FORMAT_BLOCKS	8u	/* compressed: components are those of the decoded texel */

struct pumice_pixel_info {
	u8 bytes;		/* of a block: 1, 2, 4, 8 or 16 */
	u8 block;		/* width and height of a block, texels: 1 or 4 */
	u8 components;		/* number of them: the first of R, G, B, A */
	u8 kind;		/* enum pumice_kind; of D24_S8's depth */
	u8 flags;		/* PUMICE_FORMAT_* */
	/* Of R, G, B and A: lowest bit in the texel (bit 0 is that of its first byte), size. */
	u8 shift[4], bits[4];
};

#define PUMICE_FORMAT_1_(kind_, b) \
	{ (b) / 8, 1, 1, PUMICE_KIND_##kind_, 0, { 0 }, { b } }
#define PUMICE_FORMAT_2_(kind_, b) \
	{ (b) / 4, 1, 2, PUMICE_KIND_##kind_, 0, { 0, b }, { b, b } }
#define PUMICE_FORMAT_4_(kind_, b, flags_) \
	{ (b) / 2, 1, 4, PUMICE_KIND_##kind_, flags_, { 0, b, 2 * (b), 3 * (b) }, { b, b, b, b } }
#define PUMICE_FORMAT_BGRA_(flags_) \
	{ 4, 1, 4, PUMICE_KIND_UNORM, flags_, { 16, 8, 0, 24 }, { 8, 8, 8, 8 } }
#define PUMICE_FORMAT_BLOCK_(bytes_, components_, flags_) \
	{ bytes_, 4, components_, PUMICE_KIND_UNORM, PUMICE_FORMAT_BLOCKS | (flags_), \
	  { 0, 8, 16, 24 }, { 8, 8, 8, (components_) == 4 ? 8 : 0 } }

/* Describe a format; kind is NONE for FORMAT_NONE and for unknown numbers. */
static inline const struct pumice_pixel_info *pumice_pixel_info(u32 format)
{
	static const struct pumice_pixel_info info[PUMICE_FORMAT_COUNT] = {
		[PUMICE_FORMAT_R8_UNORM] = PUMICE_FORMAT_1_(UNORM, 8),
		[PUMICE_FORMAT_RG8_UNORM] = PUMICE_FORMAT_2_(UNORM, 8),
		[PUMICE_FORMAT_RGBA8_UNORM] = PUMICE_FORMAT_4_(UNORM, 8, 0),
		[PUMICE_FORMAT_RGBA8_SRGB] = PUMICE_FORMAT_4_(UNORM, 8, PUMICE_FORMAT_SRGB),
		[PUMICE_FORMAT_BGRA8_UNORM] = PUMICE_FORMAT_BGRA_(0),
		[PUMICE_FORMAT_BGRA8_SRGB] = PUMICE_FORMAT_BGRA_(PUMICE_FORMAT_SRGB),
		[PUMICE_FORMAT_R8_SNORM] = PUMICE_FORMAT_1_(SNORM, 8),
		[PUMICE_FORMAT_RG8_SNORM] = PUMICE_FORMAT_2_(SNORM, 8),
		[PUMICE_FORMAT_RGBA8_SNORM] = PUMICE_FORMAT_4_(SNORM, 8, 0),
		[PUMICE_FORMAT_R8_UINT] = PUMICE_FORMAT_1_(UINT, 8),
		[PUMICE_FORMAT_RG8_UINT] = PUMICE_FORMAT_2_(UINT, 8),
		[PUMICE_FORMAT_RGBA8_UINT] = PUMICE_FORMAT_4_(UINT, 8, 0),
		[PUMICE_FORMAT_R8_SINT] = PUMICE_FORMAT_1_(SINT, 8),
		[PUMICE_FORMAT_RG8_SINT] = PUMICE_FORMAT_2_(SINT, 8),
		[PUMICE_FORMAT_RGBA8_SINT] = PUMICE_FORMAT_4_(SINT, 8, 0),
		[PUMICE_FORMAT_R16_UNORM] = PUMICE_FORMAT_1_(UNORM, 16),
		[PUMICE_FORMAT_RG16_UNORM] = PUMICE_FORMAT_2_(UNORM, 16),
		[PUMICE_FORMAT_RGBA16_UNORM] = PUMICE_FORMAT_4_(UNORM, 16, 0),
		[PUMICE_FORMAT_R16_SNORM] = PUMICE_FORMAT_1_(SNORM, 16),
		[PUMICE_FORMAT_RG16_SNORM] = PUMICE_FORMAT_2_(SNORM, 16),
		[PUMICE_FORMAT_RGBA16_SNORM] = PUMICE_FORMAT_4_(SNORM, 16, 0),
		[PUMICE_FORMAT_R16_UINT] = PUMICE_FORMAT_1_(UINT, 16),
		[PUMICE_FORMAT_RG16_UINT] = PUMICE_FORMAT_2_(UINT, 16),
		[PUMICE_FORMAT_RGBA16_UINT] = PUMICE_FORMAT_4_(UINT, 16, 0),
		[PUMICE_FORMAT_R16_SINT] = PUMICE_FORMAT_1_(SINT, 16),
		[PUMICE_FORMAT_RG16_SINT] = PUMICE_FORMAT_2_(SINT, 16),
		[PUMICE_FORMAT_RGBA16_SINT] = PUMICE_FORMAT_4_(SINT, 16, 0),
		[PUMICE_FORMAT_R16_FLOAT] = PUMICE_FORMAT_1_(FLOAT, 16),
		[PUMICE_FORMAT_RG16_FLOAT] = PUMICE_FORMAT_2_(FLOAT, 16),
		[PUMICE_FORMAT_RGBA16_FLOAT] = PUMICE_FORMAT_4_(FLOAT, 16, 0),
		[PUMICE_FORMAT_R32_FLOAT] = PUMICE_FORMAT_1_(FLOAT, 32),
		[PUMICE_FORMAT_RG32_FLOAT] = PUMICE_FORMAT_2_(FLOAT, 32),
		[PUMICE_FORMAT_RGBA32_FLOAT] = PUMICE_FORMAT_4_(FLOAT, 32, 0),
		[PUMICE_FORMAT_R32_UINT] = PUMICE_FORMAT_1_(UINT, 32),
		[PUMICE_FORMAT_RG32_UINT] = PUMICE_FORMAT_2_(UINT, 32),
		[PUMICE_FORMAT_RGBA32_UINT] = PUMICE_FORMAT_4_(UINT, 32, 0),
		[PUMICE_FORMAT_R32_SINT] = PUMICE_FORMAT_1_(SINT, 32),
		[PUMICE_FORMAT_RG32_SINT] = PUMICE_FORMAT_2_(SINT, 32),
		[PUMICE_FORMAT_RGBA32_SINT] = PUMICE_FORMAT_4_(SINT, 32, 0),
		[PUMICE_FORMAT_R5G6B5_UNORM] = { 2, 1, 3, PUMICE_KIND_UNORM, 0, { 0, 5, 11 },
						 { 5, 6, 5 } },
		[PUMICE_FORMAT_RGBA4_UNORM] = PUMICE_FORMAT_4_(UNORM, 4, 0),
		[PUMICE_FORMAT_RGB5A1_UNORM] = { 2, 1, 4, PUMICE_KIND_UNORM, 0, { 0, 5, 10, 15 },
						 { 5, 5, 5, 1 } },
		[PUMICE_FORMAT_RGB10A2_UNORM] = { 4, 1, 4, PUMICE_KIND_UNORM, 0,
						  { 0, 10, 20, 30 }, { 10, 10, 10, 2 } },
		[PUMICE_FORMAT_RGB10A2_UINT] = { 4, 1, 4, PUMICE_KIND_UINT, 0,
						 { 0, 10, 20, 30 }, { 10, 10, 10, 2 } },
		[PUMICE_FORMAT_R11G11B10_FLOAT] = { 4, 1, 3, PUMICE_KIND_FLOAT, 0, { 0, 11, 22 },
						    { 11, 11, 10 } },
		[PUMICE_FORMAT_D16_UNORM] = { 2, 1, 1, PUMICE_KIND_UNORM, PUMICE_FORMAT_DEPTH,
					      { 0 }, { 16 } },
		[PUMICE_FORMAT_D24_UNORM] = { 4, 1, 1, PUMICE_KIND_UNORM, PUMICE_FORMAT_DEPTH,
					      { 0 }, { 24 } },
		[PUMICE_FORMAT_D24_S8] = { 4, 1, 1, PUMICE_KIND_UNORM,
					   PUMICE_FORMAT_DEPTH | PUMICE_FORMAT_STENCIL,
					   { 0, 24 }, { 24, 8 } },
		[PUMICE_FORMAT_D32_FLOAT] = { 4, 1, 1, PUMICE_KIND_FLOAT, PUMICE_FORMAT_DEPTH,
					      { 0 }, { 32 } },
		[PUMICE_FORMAT_S8_UINT] = { 1, 1, 1, PUMICE_KIND_UINT, PUMICE_FORMAT_STENCIL,
					    { 0 }, { 8 } },
		[PUMICE_FORMAT_ETC2_RGB8] = PUMICE_FORMAT_BLOCK_(8, 3, 0),
		[PUMICE_FORMAT_ETC2_RGB8_SRGB] = PUMICE_FORMAT_BLOCK_(8, 3, PUMICE_FORMAT_SRGB),
		[PUMICE_FORMAT_ETC2_RGB8A1] = PUMICE_FORMAT_BLOCK_(8, 4, 0),
		[PUMICE_FORMAT_ETC2_RGBA8] = PUMICE_FORMAT_BLOCK_(16, 4, 0),
		[PUMICE_FORMAT_ETC2_RGBA8_SRGB] = PUMICE_FORMAT_BLOCK_(16, 4, PUMICE_FORMAT_SRGB),
		[PUMICE_FORMAT_BC1_RGBA] = PUMICE_FORMAT_BLOCK_(8, 4, 0),
		[PUMICE_FORMAT_BC1_RGBA_SRGB] = PUMICE_FORMAT_BLOCK_(8, 4, PUMICE_FORMAT_SRGB),
		[PUMICE_FORMAT_BC2_RGBA] = PUMICE_FORMAT_BLOCK_(16, 4, 0),
		[PUMICE_FORMAT_BC2_RGBA_SRGB] = PUMICE_FORMAT_BLOCK_(16, 4, PUMICE_FORMAT_SRGB),
		[PUMICE_FORMAT_BC3_RGBA] = PUMICE_FORMAT_BLOCK_(16, 4, 0),
		[PUMICE_FORMAT_BC3_RGBA_SRGB] = PUMICE_FORMAT_BLOCK_(16, 4, PUMICE_FORMAT_SRGB),
	};

	return &info[format < PUMICE_FORMAT_COUNT ? format : PUMICE_FORMAT_NONE];
}

/* A surface; sizes are texels, not less 1. */
struct pumice_surface {
	u32 format;	/* enum pumice_format */
	u32 layout;	/* enum pumice_layout */
	u32 dim;	/* enum pumice_texture_dim */
	u32 width, height;
	u32 depth;	/* slices of 3D, else layers: six for each cube */
	u32 levels;
	u32 stride;	/* as in struct texture */
};

/* A level of a surface. */
struct pumice_level {
	u64 offset;		/* bytes from the surface to layer 0 */
	u64 layer_bytes;	/* bytes from layer to layer */
	u64 stride;		/* LINEAR: bytes from row to row of blocks */
	u32 width, height;	/* texels */
	u32 layers;		/* layers or slices */
	u32 blocks_x, blocks_y;
	u32 layout;		/* enum pumice_layout */
	u32 bytes;		/* of a block */
	/* TILED: squares in a row. TWIDDLED: log2 of a square's side, blocks. */
	u32 squares;
};

#define PUMICE_SURFACE_MAX_SIZE	8192u	/* texels of a texture or pixels of a render target */

static inline u32 pumice_surface_log2_up(u32 n)
{
	u32 bits = 0;

	while (((u32)1 << bits) < n)
		bits++;
	return bits;
}

static inline struct pumice_surface pumice_surface_of_texture(const struct pumice_texture *t)
{
	const struct pumice_surface s = {
		.format = t->format, .layout = t->layout, .dim = t->dim,
		.width = t->width + 1u, .height = t->height + 1u, .depth = t->depth + 1u,
		.levels = t->levels, .stride = t->stride,
	};

	return s;
}

/* Return whether height and depth are valid for the dimension. */
static inline int pumice_surface_dim_valid(const struct pumice_surface *s)
{
	switch (s->dim) {
	case PUMICE_TEXTURE_DIM_1D:
		return s->height == 1 && s->depth == 1;
	case PUMICE_TEXTURE_DIM_2D:
		return s->depth == 1;
	case PUMICE_TEXTURE_DIM_CUBE:
		return s->width == s->height && s->depth == 6;
	case PUMICE_TEXTURE_DIM_CUBE_ARRAY:
		return s->width == s->height && s->depth % 6 == 0;
	case PUMICE_TEXTURE_DIM_1D_ARRAY:
		return s->height == 1;
	case PUMICE_TEXTURE_DIM_3D:
	case PUMICE_TEXTURE_DIM_2D_ARRAY:
		return 1;
	default:
		return 0;
	}
}

static inline u32 pumice_surface_minify(u32 size, u32 level)
{
	return size >> level ? size >> level : 1;
}

/* Return the maximum number of levels of a surface of this size. */
static inline u32 pumice_surface_max_levels(const struct pumice_surface *s)
{
	u32 size = s->width > s->height ? s->width : s->height, n = 1;

	if (s->dim == PUMICE_TEXTURE_DIM_3D && s->depth > size)
		size = s->depth;
	while (size >>= 1)
		n++;
	return n;
}

/* Return whether the stride is valid for a LINEAR surface of this width, in blocks. */
static inline int pumice_stride_valid(const struct pumice_pixel_info *info, u32 blocks_x,
				      u32 stride)
{
	return !stride || (stride % info->bytes == 0 && stride >= (u64)blocks_x * info->bytes);
}

/* Validate a surface; the other functions require a valid one. */
static inline int pumice_surface_valid(const struct pumice_surface *s)
{
	const struct pumice_pixel_info *info = pumice_pixel_info(s->format);

	if (info->kind == PUMICE_KIND_NONE || s->layout > PUMICE_LAYOUT_TWIDDLED ||
	    !s->width || s->width > PUMICE_SURFACE_MAX_SIZE || !s->height ||
	    s->height > PUMICE_SURFACE_MAX_SIZE || !s->depth || s->depth > PUMICE_MAX_LAYERS ||
	    !pumice_surface_dim_valid(s) || !s->levels ||
	    s->levels > pumice_surface_max_levels(s))
		return 0;
	if (s->stride && (s->layout != PUMICE_LAYOUT_LINEAR || s->levels != 1))
		return 0;
	return pumice_stride_valid(info, (s->width + info->block - 1) / info->block, s->stride);
}

/* Compute stride, squares and layer_bytes of a layer of blocks_x x blocks_y blocks. */
static inline void pumice_level_layout(struct pumice_level *l, u32 stride)
{
	u32 shorter = l->blocks_x < l->blocks_y ? l->blocks_x : l->blocks_y;
	u32 longer = l->blocks_x < l->blocks_y ? l->blocks_y : l->blocks_x;
	u64 bytes;

	l->stride = stride ? stride : (u64)l->blocks_x * l->bytes;
	l->squares = 0;
	switch (l->layout) {
	case PUMICE_LAYOUT_TILED:
		l->squares = (l->blocks_x + 7) / 8;
		bytes = (u64)l->squares * ((l->blocks_y + 7) / 8) * 64 * l->bytes;
		break;
	case PUMICE_LAYOUT_TWIDDLED:
		l->squares = pumice_surface_log2_up(shorter);
		bytes = ((u64)((longer - 1) >> l->squares) + 1) << (2 * l->squares);
		bytes *= l->bytes;
		break;
	default:
		bytes = l->stride * l->blocks_y;
		break;
	}
	l->layer_bytes = (bytes + 15) & ~(u64)15;
}

/* Compute the size of a level; offset is 0, see pumice_surface_level(). */
static inline struct pumice_level pumice_surface_level_size(const struct pumice_surface *s,
							    u32 level)
{
	const struct pumice_pixel_info *info = pumice_pixel_info(s->format);
	struct pumice_level l = {
		.width = pumice_surface_minify(s->width, level),
		.height = pumice_surface_minify(s->height, level),
		.layers = s->dim == PUMICE_TEXTURE_DIM_3D ? pumice_surface_minify(s->depth, level) :
							    s->depth,
		.layout = s->layout, .bytes = info->bytes,
	};

	l.blocks_x = (l.width + info->block - 1) / info->block;
	l.blocks_y = (l.height + info->block - 1) / info->block;
	pumice_level_layout(&l, s->stride);
	return l;
}

/* Compute size and offset of a level. */
static inline struct pumice_level pumice_surface_level(const struct pumice_surface *s, u32 level)
{
	struct pumice_level l = pumice_surface_level_size(s, 0);
	u64 offset = 0;
	u32 n;

	for (n = 0; n < level; n++) {
		offset += l.layer_bytes * l.layers;
		l = pumice_surface_level_size(s, n + 1);
	}
	l.offset = offset;
	return l;
}

/* Return the bytes of all levels and layers. */
static inline u64 pumice_surface_bytes(const struct pumice_surface *s)
{
	struct pumice_level l = pumice_surface_level(s, s->levels - 1);

	return l.offset + l.layer_bytes * l.layers;
}

/* Spread the low 16 bits of a number to the even bits of the result. */
static inline u32 pumice_surface_spread(u32 n)
{
	n = (n | n << 8) & 0x00ff00ff;
	n = (n | n << 4) & 0x0f0f0f0f;
	n = (n | n << 2) & 0x33333333;
	return (n | n << 1) & 0x55555555;
}

/*
 * Return the offset of a block from the start of its layer, in bytes, as the sum of a column part
 * and a row part, which are independent of each other in every layout.
 */
static inline u64 pumice_level_column(const struct pumice_level *l, u32 x)
{
	u32 low;

	switch (l->layout) {
	case PUMICE_LAYOUT_TILED:
		return ((u64)(x / 8) * 64 + x % 8) * l->bytes;
	case PUMICE_LAYOUT_TWIDDLED:
		low = ((u32)1 << l->squares) - 1;
		return (((u64)(x >> l->squares) << (2 * l->squares)) +
			pumice_surface_spread(x & low)) * l->bytes;
	default:
		return (u64)x * l->bytes;
	}
}

static inline u64 pumice_level_row(const struct pumice_level *l, u32 y)
{
	u32 low;

	switch (l->layout) {
	case PUMICE_LAYOUT_TILED:
		return ((u64)(y / 8) * l->squares * 64 + y % 8 * 8) * l->bytes;
	case PUMICE_LAYOUT_TWIDDLED:
		low = ((u32)1 << l->squares) - 1;
		return (((u64)(y >> l->squares) << (2 * l->squares)) +
			((u64)pumice_surface_spread(y & low) << 1)) * l->bytes;
	default:
		return y * l->stride;
	}
}

/* Return the offset of a block of a level from the start of the surface, in bytes. */
static inline u64 pumice_level_offset(const struct pumice_level *l, u32 layer, u32 x, u32 y)
{
	return l->offset + l->layer_bytes * layer + pumice_level_row(l, y) +
	       pumice_level_column(l, x);
}

/* Return the bytes of a row of a mask plane; fields mask_addr and mask_stride of pdm_render. */
static inline u32 pumice_mask_row_bytes(u32 width, u32 samples)
{
	return (width * samples + 7) / 8;
}

/*
 * Describe a surface of one level and layer that a PBE stores: width may be that
 * of all samples, up to four times the width of a texture.
 */
static inline struct pumice_level pumice_plane(u32 format, u32 layout, u32 width, u32 height,
					       u32 stride)
{
	struct pumice_level l = {
		.width = width, .height = height, .layers = 1, .blocks_x = width,
		.blocks_y = height, .layout = layout, .bytes = pumice_pixel_info(format)->bytes,
	};

	pumice_level_layout(&l, stride);
	return l;
}

#endif
