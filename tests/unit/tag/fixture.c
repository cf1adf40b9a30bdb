// SPDX-License-Identifier: MIT
/* Fixture of the tests of the texture unit. See fixture.h. */
#include "fixture.h"

#include <string.h>

#include "pumice_info.h"
#include "pumice_isa_enums.h"
#include "surface.h"

#define F32(f) ((union { float number; u32 bits; }){ .number = (f) }.bits)

void fx_setup(struct fixture *fx)
{
	memset(fx, 0, sizeof(*fx));
	fx->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(fx->tm, &fx->mmu);
	fx->memory = testmem_map(fx->tm, FX_CTX, FX_VA, FX_BYTES, PUMICE_PAGE_SIZE_4K, 0);
	tf_init(&fx->tf);
	fx->tag = tag_create(&(struct tag_config){ .number = FX_NUMBER, .mmu = &fx->mmu,
						   .tf = &fx->tf, .tcu = &fx->tcu });
	assert_non_null(fx->tag);
	fx->seed = 1;
	fx->request.lanes = ~0u;
}

void fx_teardown(struct fixture *fx)
{
	tag_destroy(fx->tag);
	testmem_destroy(fx->tm);
}

u64 fx_counter(const struct fixture *fx, enum pumice_perf_counter counter)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	tag_counters_add(fx->tag, value);
	return value[counter];
}

void fx_texture(struct fixture *fx, u32 format, u32 layout, u32 dim, u32 side)
{
	struct pumice_texture *t = &fx->texture;
	struct pumice_surface s;

	*t = (struct pumice_texture){
		.addr = FX_VA, .format = (u8)format, .layout = (u8)layout, .dim = (u8)dim,
		.levels = 1, .width = (u16)rand_below(&fx->seed, side),
		.height = (u16)rand_below(&fx->seed, side), .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	if (dim == PUMICE_TEXTURE_DIM_1D || dim == PUMICE_TEXTURE_DIM_1D_ARRAY)
		t->height = 0;
	if (dim == PUMICE_TEXTURE_DIM_CUBE || dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY)
		t->height = t->width;
	if (dim == PUMICE_TEXTURE_DIM_3D || dim >= PUMICE_TEXTURE_DIM_1D_ARRAY)
		t->depth = (u16)rand_below(&fx->seed, 7);
	if (dim == PUMICE_TEXTURE_DIM_CUBE)
		t->depth = 5;
	if (dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY)
		t->depth = (u16)(rand_below(&fx->seed, 3) * 6 + 5);
	s = pumice_surface_of_texture(t);
	t->levels = (u8)pumice_surface_max_levels(&s);
	s.levels = t->levels;
	assert_true(pumice_surface_bytes(&s) <= FX_BYTES);
}

struct model_surface fx_surface(const struct fixture *fx)
{
	const struct pumice_texture *t = &fx->texture;

	return (struct model_surface){
		.format = t->format, .layout = t->layout, .dim = t->dim, .width = t->width + 1u,
		.height = t->height + 1u, .depth = t->depth + 1u, .levels = t->levels,
		.stride = t->stride,
	};
}

void fx_fill(struct fixture *fx)
{
	struct model_surface s = fx_surface(fx);
	u64 words = (model_bytes_of_all(&s) + 3) / 4;
	u32 *memory = (u32 *)(void *)fx->memory, low;
	char kind = 0;
	u32 bits = model_component(s.format, 0, &kind, &low);

	for (u64 n = 0; n < words; n++) {
		u32 v = rand_u32(&fx->seed);

		if (kind == 'f' && bits == 32)
			v = F32(rand_float(&fx->seed, model_depth(s.format) ? 0 : -2, 1));
		else if (kind == 'f' && bits == 16)
			v &= 0xbfffbfff;	/* less than 2 */
		else if (kind == 'f')
			v &= ~(1u << 10 | 1u << 21 | 1u << 31);
		memory[n] = v;
	}
}

bool fx_read(struct fixture *fx, u32 op)
{
	struct tag_request *r = &fx->request;

	pumice_texture_pack(fx->state, &fx->texture);
	pumice_sampler_pack(fx->state + PUMICE_TEXTURE_WORDS, &fx->sampler);
	r->op = (u8)op;
	r->type = fx->texture.format && fx->texture.format < PUMICE_FORMAT_COUNT &&
		  model_integer(fx->texture.format) ? PUMICE_USC_TYPE_U32 : PUMICE_USC_TYPE_F32;
	if (op == PUMICE_USC_OP_QUERY_LOD)
		r->type = PUMICE_USC_TYPE_F32;
	r->dim = fx->texture.dim;
	r->ctx = FX_CTX;
	r->state = fx->state;
	r->coord = (const u32 *)(const void *)fx->coord;
	r->extra = pumice_usc_texture_extra(op, r->dim) ?
		(const u32 *)(const void *)fx->extra : NULL;
	memset(&fx->fault, 0, sizeof(fx->fault));
	return tag_read(fx->tag, r, fx->out[0], &fx->fault);
}

double fx_result(const struct fixture *fx, u32 c, u32 lane)
{
	float f;

	if (pumice_pixel_info(fx->texture.format)->kind == PUMICE_KIND_UINT)
		return fx->out[c][lane];
	if (pumice_pixel_info(fx->texture.format)->kind == PUMICE_KIND_SINT)
		return (s32)fx->out[c][lane];
	memcpy(&f, &fx->out[c][lane], sizeof(f));
	return f;
}

double fx_swizzled(const struct fixture *fx, const struct model_texel *t, u32 c)
{
	const u8 swizzle[4] = { fx->texture.swizzle_r, fx->texture.swizzle_g,
				fx->texture.swizzle_b, fx->texture.swizzle_a };

	if (swizzle[c] == PUMICE_SWIZZLE_ZERO)
		return 0;
	return swizzle[c] == PUMICE_SWIZZLE_ONE ? 1 : t->c[swizzle[c]];
}

struct model_read fx_model(const struct fixture *fx)
{
	const struct pumice_sampler *p = &fx->sampler;
	struct model_read m = {
		.surface = fx_surface(fx), .memory = fx->memory,
		.wrap = { p->wrap_u, p->wrap_v, p->wrap_w }, .border = p->border,
		.texels = p->texels, .compare = p->compare, .func = p->compare_func,
	};

	if (m.surface.dim == PUMICE_TEXTURE_DIM_CUBE ||
	    m.surface.dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY)
		m.wrap[0] = m.wrap[1] = PUMICE_WRAP_CLAMP;
	return m;
}
