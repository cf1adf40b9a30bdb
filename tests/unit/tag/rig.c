// SPDX-License-Identifier: MIT
/* Fixture of the tests of the texture unit. See rig.h. */
#include "rig.h"

#include <string.h>

#include "pumice_info.h"
#include "pumice_isa_enums.h"
#include "surface.h"

#define F32(f) ((union { float number; u32 bits; }){ .number = (f) }.bits)

void rig_setup(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(rig->tm, &rig->mmu);
	rig->memory = testmem_map(rig->tm, RIG_CTX, RIG_VA, RIG_BYTES, PUMICE_PAGE_SIZE_4K, 0);
	rig->tag = tag_create(&rig->mmu);
	assert_non_null(rig->tag);
	rig->seed = 1;
	rig->request.lanes = ~0u;
}

void rig_teardown(struct rig *rig)
{
	tag_destroy(rig->tag);
	testmem_destroy(rig->tm);
}

void rig_texture(struct rig *rig, u32 format, u32 layout, u32 dim, u32 side)
{
	struct pumice_texture *t = &rig->texture;
	struct pumice_surface s;

	*t = (struct pumice_texture){
		.addr = RIG_VA, .format = (u8)format, .layout = (u8)layout, .dim = (u8)dim,
		.levels = 1, .width = (u16)rand_below(&rig->seed, side),
		.height = (u16)rand_below(&rig->seed, side), .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	if (dim == PUMICE_TEXTURE_DIM_1D || dim == PUMICE_TEXTURE_DIM_1D_ARRAY)
		t->height = 0;
	if (dim == PUMICE_TEXTURE_DIM_CUBE || dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY)
		t->height = t->width;
	if (dim == PUMICE_TEXTURE_DIM_3D || dim >= PUMICE_TEXTURE_DIM_1D_ARRAY)
		t->depth = (u16)rand_below(&rig->seed, 7);
	if (dim == PUMICE_TEXTURE_DIM_CUBE)
		t->depth = 5;
	if (dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY)
		t->depth = (u16)(rand_below(&rig->seed, 3) * 6 + 5);
	s = pumice_surface_of_texture(t);
	t->levels = (u8)pumice_surface_max_levels(&s);
	s.levels = t->levels;
	assert_true(pumice_surface_bytes(&s) <= RIG_BYTES);
}

struct model_surface rig_surface(const struct rig *rig)
{
	const struct pumice_texture *t = &rig->texture;

	return (struct model_surface){
		.format = t->format, .layout = t->layout, .dim = t->dim, .width = t->width + 1u,
		.height = t->height + 1u, .depth = t->depth + 1u, .levels = t->levels,
		.stride = t->stride,
	};
}

void rig_fill(struct rig *rig)
{
	struct model_surface s = rig_surface(rig);
	u64 words = (model_bytes_of_all(&s) + 3) / 4;
	u32 *memory = (u32 *)(void *)rig->memory, low;
	char kind = 0;
	u32 bits = model_component(s.format, 0, &kind, &low);

	for (u64 n = 0; n < words; n++) {
		u32 v = rand_u32(&rig->seed);

		if (kind == 'f' && bits == 32)
			v = F32(rand_float(&rig->seed, model_depth(s.format) ? 0 : -2, 1));
		else if (kind == 'f' && bits == 16)
			v &= 0xbfffbfff;	/* less than 2 */
		else if (kind == 'f')
			v &= ~(1u << 10 | 1u << 21 | 1u << 31);
		memory[n] = v;
	}
}

bool rig_read(struct rig *rig, u32 op)
{
	struct tag_request *r = &rig->request;

	pumice_texture_pack(rig->state, &rig->texture);
	pumice_sampler_pack(rig->state + PUMICE_TEXTURE_WORDS, &rig->sampler);
	r->op = (u8)op;
	r->type = rig->texture.format && rig->texture.format < PUMICE_FORMAT_COUNT &&
		  model_integer(rig->texture.format) ? PUMICE_USC_TYPE_U32 : PUMICE_USC_TYPE_F32;
	if (op == PUMICE_USC_OP_QUERY_LOD)
		r->type = PUMICE_USC_TYPE_F32;
	r->dim = rig->texture.dim;
	r->ctx = RIG_CTX;
	r->state = rig->state;
	r->coord = (const u32 *)(const void *)rig->coord;
	r->extra = pumice_usc_texture_extra(op, r->dim) ?
		(const u32 *)(const void *)rig->extra : NULL;
	memset(&rig->fault, 0, sizeof(rig->fault));
	return tag_read(rig->tag, r, rig->out[0], &rig->fault);
}

double rig_result(const struct rig *rig, u32 c, u32 lane)
{
	float f;

	if (pumice_pixel_info(rig->texture.format)->kind == PUMICE_KIND_UINT)
		return rig->out[c][lane];
	if (pumice_pixel_info(rig->texture.format)->kind == PUMICE_KIND_SINT)
		return (s32)rig->out[c][lane];
	memcpy(&f, &rig->out[c][lane], sizeof(f));
	return f;
}

double rig_swizzled(const struct rig *rig, const struct model_texel *t, u32 c)
{
	const u8 swizzle[4] = { rig->texture.swizzle_r, rig->texture.swizzle_g,
				rig->texture.swizzle_b, rig->texture.swizzle_a };

	if (swizzle[c] == PUMICE_SWIZZLE_ZERO)
		return 0;
	return swizzle[c] == PUMICE_SWIZZLE_ONE ? 1 : t->c[swizzle[c]];
}

struct model_read rig_model(const struct rig *rig)
{
	const struct pumice_sampler *p = &rig->sampler;
	struct model_read m = {
		.surface = rig_surface(rig), .memory = rig->memory,
		.wrap = { p->wrap_u, p->wrap_v, p->wrap_w }, .border = p->border,
		.texels = p->texels, .compare = p->compare, .func = p->compare_func,
	};

	if (m.surface.dim == PUMICE_TEXTURE_DIM_CUBE ||
	    m.surface.dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY)
		m.wrap[0] = m.wrap[1] = PUMICE_WRAP_CLAMP;
	return m;
}
