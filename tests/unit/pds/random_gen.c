// SPDX-License-Identifier: MIT
/* Generator of random valid PDS programs. See random.h. */
#include "random.h"

#include <string.h>

#define BURST_WORDS	8u	/* of the longest burst */
#define ELEMENTS	200u
#define ELEMENT_STRIDE	60u

u32 random_number(u32 *seed, u32 below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (u32)((u64)(*seed >> 4) * below >> 28);
}

static u32 word(u32 *seed)
{
	return random_number(seed, 1u << 16) << 16 | random_number(seed, 1u << 16);
}

static u32 bank_size(u32 bank)
{
	switch (bank) {
	case PUMICE_PDS_BANK_V:
		return RANDOM_ATTRS;
	case PUMICE_PDS_BANK_CF:
		return RANDOM_COEFFS;
	case PUMICE_PDS_BANK_CFA:
		return RANDOM_ALT;
	default:
		return RANDOM_SHARED;
	}
}

/* A bank and a register that has this number of further ones of the bank after it. */
static void put_register(struct pumice_pds_insn *insn, u32 bank, u32 count, u32 *seed)
{
	insn->bank = (u8)bank;
	insn->reg = (u16)random_number(seed, bank_size(bank) - count + 1);
}

/* Return one of the numbers, which are valid by a generated function. */
static u32 select_valid(bool (*valid)(u32 v), u32 *seed)
{
	u32 n;

	do
		n = random_number(seed, 256);
	while (!valid(n));
	return n;
}

static bool is_mode(u32 v)
{
	return pumice_usc_iterate_valid(v);
}

static bool is_kind(u32 v)
{
	return pumice_attr_kind_valid(v);
}

static bool is_coord(u32 v)
{
	return pumice_texture_dim_valid(v) && pumice_usc_texture_coords(v);
}

/* Return whether programs of a stage have a source, by the words of its doc. */
static bool has_source(u32 stage, u32 source)
{
	if (!pumice_pds_source_valid(source))
		return false;
	if (source < 32)
		return stage == USC_STAGE_COMPUTE;
	if (source < 40)
		return stage == USC_STAGE_VERTEX;
	if (source < 64) {
		const bool pixel = source == PUMICE_PDS_SOURCE_FRAG_X ||
				   source == PUMICE_PDS_SOURCE_FRAG_Y ||
				   source == PUMICE_PDS_SOURCE_SAMPLE;

		return stage == USC_STAGE_FRAGMENT || (stage == USC_STAGE_TILE && pixel);
	}
	return stage == USC_STAGE_HIT ||
	       (stage == USC_STAGE_RAYS && source < PUMICE_PDS_SOURCE_RAY_ORIGIN_X);
}

static void make_ldi(struct pumice_pds_insn *insn, u32 stage, u32 *seed)
{
	static const u8 some[] = { PUMICE_PDS_BANK_SH, PUMICE_PDS_BANK_V };

	put_register(insn, stage == USC_STAGE_COMPUTE ? random_number(seed, 4) :
							some[random_number(seed, 2)], 1, seed);
	insn->imm = word(seed);
}

static void make_mov(struct pumice_pds_insn *insn, u32 stage, u32 *seed,
		     struct random_coverage *coverage)
{
	u32 bank = PUMICE_PDS_BANK_V;

	do
		insn->source = (u8)random_number(seed, 96);
	while (!has_source(stage, insn->source));
	if (insn->source <= PUMICE_PDS_SOURCE_TASK)
		bank = random_number(seed, 4);
	put_register(insn, bank, 1, seed);
	coverage->source[insn->source][bank] = true;
}

static void make_dma(struct pumice_pds_insn *insn, const struct random_case *c, u32 *seed,
		     struct random_coverage *coverage)
{
	const bool v = c->stage == USC_STAGE_COMPUTE || c->stage == USC_STAGE_VERTEX;
	u32 bank, stride = 0, bytes, steps;

	do
		bank = random_number(seed, 4);
	while (bank == PUMICE_PDS_BANK_V && !v);
	insn->count = (u16)(1 + random_number(seed, BURST_WORDS));
	put_register(insn, bank, insn->count, seed);
	if (bank == PUMICE_PDS_BANK_V) {
		stride = random_number(seed, 2) ? insn->count * 4u :
						  random_number(seed, BURST_WORDS * 2) * 4;
		steps = stride / 4;
		coverage->stride[steps < insn->count ? 0 : steps == insn->count ? 1 : 2] = true;
	}
	insn->stride = (u16)stride;
	bytes = insn->count * 4u + stride * (c->instances - 1);
	insn->addr = FX_DATA + random_number(seed, (FX_DATA_BYTES - bytes) / 4 + 1) * 4;
}

/* Format and place of an array of attributes. */
static void make_array(struct pumice_vdm_attribute *a, u32 *seed)
{
	*a = (struct pumice_vdm_attribute){
		.kind = (u8)select_valid(is_kind, seed), .comps = (u8)(1 + random_number(seed, 4)),
		.elements = random_number(seed, ELEMENTS),
		.stride = (u16)random_number(seed, ELEMENT_STRIDE),
		.divisor = (u8)(random_number(seed, 3) ? 0 : 1 + random_number(seed, 255)),
		.addr = FX_DATA + random_number(seed, FX_DATA_BYTES - ELEMENTS * ELEMENT_STRIDE),
	};
}

static void cover_array(const struct random_case *c, const struct pumice_vdm_attribute *a,
			u32 fetch, struct random_coverage *coverage)
{
	u32 i;

	coverage->attribute[fetch][a->kind][a->comps] = true;
	coverage->divisor[a->divisor > 0] = true;
	for (i = 0; i < c->instances && !a->divisor; i++)
		coverage->elements[c->vertex[i] >= a->elements] = true;
}

static void make_attr(struct pumice_pds_insn *insn, const struct random_case *c, u32 *seed,
		      struct random_coverage *coverage)
{
	struct pumice_vdm_attribute a;

	make_array(&a, seed);
	cover_array(c, &a, 0, coverage);
	put_register(insn, PUMICE_PDS_BANK_V, 4, seed);
	insn->kind = a.kind;
	insn->comps = a.comps;
	insn->elements = a.elements;
	insn->stride = a.stride;
	insn->divisor = a.divisor;
	insn->addr = a.addr;
}

static void make_fetch(struct pumice_pds_insn *insn, const struct random_case *c, u32 *seed,
		       struct random_coverage *coverage)
{
	insn->attribute = (u8)random_number(seed, RANDOM_TABLE);
	cover_array(c, &c->table[insn->attribute], 1, coverage);
	put_register(insn, PUMICE_PDS_BANK_V, 4, seed);
}

/* Varyings, or the planes of 1/w and depth. */
static void put_varyings(struct pumice_pds_insn *insn, u32 count, u32 *seed,
			 struct random_coverage *coverage)
{
	const bool planes = count <= 2 && random_number(seed, 3) == 0;

	insn->varying = (u8)(planes ? 64 + random_number(seed, 3 - count) :
				      random_number(seed, RANDOM_VARYINGS - count + 1));
	if (planes) {
		coverage->plane[insn->varying - 64] = true;
		coverage->plane[insn->varying - 64 + count - 1] = true;
	}
}

static void make_coeff(struct pumice_pds_insn *insn, u32 *seed, struct random_coverage *coverage)
{
	const bool alt = random_number(seed, 2);

	insn->comps = (u8)(1 + random_number(seed, alt ? 3 : 4));
	put_varyings(insn, insn->comps, seed, coverage);
	put_register(insn, alt ? PUMICE_PDS_BANK_CFA : PUMICE_PDS_BANK_CF, 3u * insn->comps, seed);
	coverage->coeff[insn->comps] = true;
}

static void make_iterate(struct pumice_pds_insn *insn, u32 *seed, struct random_coverage *coverage)
{
	insn->comps = (u8)(1 + random_number(seed, 4));
	insn->mode = (u8)select_valid(is_mode, seed);
	put_varyings(insn, insn->comps, seed, coverage);
	put_register(insn, PUMICE_PDS_BANK_V, insn->comps, seed);
	coverage->iterate[insn->mode][insn->comps] = true;
}

static void make_texture(struct pumice_pds_insn *insn, const struct random_case *c, u32 *seed,
			 struct random_coverage *coverage)
{
	insn->mode = (u8)select_valid(is_mode, seed);
	insn->dim = (u8)c->dim;
	insn->varying =
		(u8)random_number(seed, RANDOM_VARYINGS - pumice_usc_texture_coords(c->dim) + 1);
	insn->addr = FX_DATA + random_number(seed, (FX_DATA_BYTES - 48) / 4) * 4;
	put_register(insn, PUMICE_PDS_BANK_V, 4, seed);
	coverage->texture[insn->mode][insn->dim] = true;
}

static void make_insn(struct random_case *c, struct pumice_pds_insn *insn, u32 *seed,
		      struct random_coverage *coverage)
{
	static const u8 common[] = { PUMICE_PDS_OP_LDI, PUMICE_PDS_OP_MOV, PUMICE_PDS_OP_DMA };
	static const u8 vertex[] = { PUMICE_PDS_OP_ATTR, PUMICE_PDS_OP_FETCH };
	static const u8 fragment[] = { PUMICE_PDS_OP_COEFF, PUMICE_PDS_OP_ITERATE,
				       PUMICE_PDS_OP_TEXTURE };

	*insn = (struct pumice_pds_insn){ .opcode = common[random_number(seed, 3)] };
	if (c->stage == USC_STAGE_VERTEX && random_number(seed, 2))
		insn->opcode = vertex[random_number(seed, 2)];
	if (c->stage == USC_STAGE_FRAGMENT && random_number(seed, 2))
		insn->opcode = fragment[random_number(seed, 3)];
	switch ((enum pumice_pds_op)insn->opcode) {
	case PUMICE_PDS_OP_LDI:
		make_ldi(insn, c->stage, seed);
		break;
	case PUMICE_PDS_OP_MOV:
		make_mov(insn, c->stage, seed, coverage);
		break;
	case PUMICE_PDS_OP_DMA:
		make_dma(insn, c, seed, coverage);
		break;
	case PUMICE_PDS_OP_ATTR:
		make_attr(insn, c, seed, coverage);
		break;
	case PUMICE_PDS_OP_FETCH:
		make_fetch(insn, c, seed, coverage);
		break;
	case PUMICE_PDS_OP_COEFF:
		make_coeff(insn, seed, coverage);
		break;
	case PUMICE_PDS_OP_ITERATE:
		make_iterate(insn, seed, coverage);
		break;
	default:
		make_texture(insn, c, seed, coverage);
		break;
	}
	coverage->op[c->stage][insn->opcode][insn->bank] = true;
}

/* ------------------------------------------------------------------ inputs */

static void make_group(struct random_case *c, u32 *seed)
{
	u32 n;

	do {
		for (n = 0; n < 3; n++)
			c->size[n] = (u16)(1 + random_number(seed, 12));
		c->instances = (u32)c->size[0] * c->size[1] * c->size[2];
	} while (c->instances > RANDOM_GROUP);
	for (n = 0; n < 3; n++) {
		c->id[n] = word(seed);
		c->groups[n] = 1 + random_number(seed, 65535);
	}
}

static void make_vertices(struct random_case *c, u32 *seed)
{
	u32 i;

	for (i = 0; i < RANDOM_TASK; i++)
		c->vertex[i] = random_number(seed, 20) ? random_number(seed, ELEMENTS) : word(seed);
	c->base_instance = random_number(seed, 100);
	c->instance = c->base_instance + random_number(seed, 300);
	for (i = 0; i < RANDOM_TABLE; i++)
		make_array(&c->table[i], seed);
}

static float number(u32 *seed)
{
	return (float)((s32)random_number(seed, 20001) - 10000) / 777.0f;
}

static void make_pixels(struct random_case *c, u32 *seed)
{
	u32 i, n;

	c->tile = (struct usc_tile){
		.words = 4, .samples = 4, .width = 32, .height = 32,
		.x0 = (u16)(random_number(seed, 100) * 32),
		.y0 = (u16)(random_number(seed, 100) * 32),
	};
	for (i = 0; i < RANDOM_PRIMS; i++)
		for (n = 0; n < RANDOM_PLANES; n++)
			c->plane[i][n] = (struct tsp_plane){ number(seed), number(seed),
							     number(seed) };
	for (i = 0; i < RANDOM_TASK / 4; i++) {
		const u16 samples = (u16)random_number(seed, 65536);

		c->span[i] = (struct usc_span){
			.quad = (u8)random_number(seed, 256),
			.prim = (u8)random_number(seed, c->prims),
			.samples = samples, .covered = samples, .live = samples,
			.failed = (u16)(random_number(seed, 65536) & samples),
		};
	}
	c->sample = (u8)(random_number(seed, 2) ? USC_PIXEL_RATE : random_number(seed, 4));
	c->dim = select_valid(is_coord, seed);
}

static void make_rays(struct random_case *c, u32 *seed)
{
	u32 i;

	c->width = 1 + random_number(seed, 5000);
	for (i = 0; i < RANDOM_TASK; i++)
		c->index[i] = word(seed);
	for (i = 0; i < sizeof(c->ray) / sizeof(*c->ray); i++)
		c->ray[i] = word(seed);
	for (i = 0; i < sizeof(c->result) / sizeof(*c->result); i++)
		c->result[i] = word(seed);
}

void random_make(struct random_case *c, u32 stage, u32 *seed, struct random_coverage *coverage)
{
	u8 *data = c->data;
	u32 i, insns, task;

	memset(c, 0, sizeof(*c));
	c->data = data;
	c->stage = stage;
	c->instances = 1 + random_number(seed, RANDOM_TASK);
	c->prims = stage == USC_STAGE_FRAGMENT ? 1 + random_number(seed, RANDOM_PRIMS) : 1;
	if (stage == USC_STAGE_FRAGMENT || stage == USC_STAGE_TILE)
		c->instances = (c->instances + 3) / 4 * 4;
	if (stage == USC_STAGE_COMPUTE)
		make_group(c, seed);
	make_vertices(c, seed);
	make_pixels(c, seed);
	make_rays(c, seed);
	for (i = 0; i < FX_DATA_BYTES; i++)
		data[i] = (u8)random_number(seed, 256);
	insns = 1 + random_number(seed, RANDOM_INSNS);
	task = random_number(seed, insns + 1);
	for (i = 0; i <= insns; i++) {
		if (i == task)
			c->insn[c->count++] = (struct pumice_pds_insn)TASK;
		if (i < insns)
			make_insn(c, &c->insn[c->count++], seed, coverage);
	}
	c->insn[c->count++] = (struct pumice_pds_insn)END;
	coverage->op[stage][PUMICE_PDS_OP_TASK][0] = true;
	coverage->op[stage][PUMICE_PDS_OP_END][0] = true;
}
