// SPDX-License-Identifier: MIT
/* Scalar model of PDS programs. See random.h. */
#include "random.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ numbers */

static u32 bits(double value)
{
	const float f = (float)value;
	u32 w;

	memcpy(&w, &f, sizeof(w));
	return w;
}

/* Bits of memory from bit on, low ones first. */
static u64 take(const u8 *bytes, u32 bit, u32 width)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < width; i++)
		value |= (u64)(bytes[(bit + i) / 8] >> (bit + i) % 8 & 1) << i;
	return value;
}

static double with_sign(u64 value, u32 width)
{
	return (double)value - (value >> (width - 1) ? (double)(1ull << width) : 0);
}

static double half(u64 h)
{
	const double sign = h >> 15 ? -1 : 1;
	const int exponent = (int)(h >> 10 & 31);
	const double mantissa = (double)(h & 1023);

	if (exponent == 31)
		return h & 1023 ? NAN : sign * INFINITY;
	return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24));
}

enum number { FLOATING, UNORM, SNORM, UINT, SINT };

/* Get type and width of the numbers of a kind; 0 for 10, 10, 10, 2. */
static enum number number_of(u32 kind, u32 *width)
{
	static const struct {
		u8 number, width;
	} kinds[PUMICE_ATTR_KIND_COUNT] = {
		[PUMICE_ATTR_KIND_F32] = { FLOATING, 32 },
		[PUMICE_ATTR_KIND_F16] = { FLOATING, 16 },
		[PUMICE_ATTR_KIND_UNORM8] = { UNORM, 8 },
		[PUMICE_ATTR_KIND_SNORM8] = { SNORM, 8 },
		[PUMICE_ATTR_KIND_UINT8] = { UINT, 8 },
		[PUMICE_ATTR_KIND_SINT8] = { SINT, 8 },
		[PUMICE_ATTR_KIND_UNORM16] = { UNORM, 16 },
		[PUMICE_ATTR_KIND_SNORM16] = { SNORM, 16 },
		[PUMICE_ATTR_KIND_UINT16] = { UINT, 16 },
		[PUMICE_ATTR_KIND_SINT16] = { SINT, 16 },
		[PUMICE_ATTR_KIND_UINT32] = { UINT, 32 },
		[PUMICE_ATTR_KIND_SINT32] = { SINT, 32 },
		[PUMICE_ATTR_KIND_UNORM10_2] = { UNORM, 0 },
		[PUMICE_ATTR_KIND_SNORM10_2] = { SNORM, 0 },
		[PUMICE_ATTR_KIND_UINT10_2] = { UINT, 0 },
		[PUMICE_ATTR_KIND_SINT10_2] = { SINT, 0 },
	};

	*width = kinds[kind].width;
	return (enum number)kinds[kind].number;
}

static u32 convert(const struct pumice_vdm_attribute *a, u32 comp, const u8 *bytes)
{
	u32 width, bit;
	const enum number number = number_of(a->kind, &width);
	u64 raw;

	if (comp >= a->comps)
		return comp < 3 ? 0 : number == UINT || number == SINT ? 1 : bits(1);
	bit = comp * (width ? width : 10);
	if (!width)
		width = comp == 3 ? 2 : 10;
	raw = take(bytes, bit, width);
	switch (number) {
	case FLOATING:
		return width == 32 ? (u32)raw : bits(half(raw));
	case UNORM:
		return bits((double)raw / (double)((1ull << width) - 1));
	case SNORM:
		return bits(fmax(with_sign(raw, width) / (double)((1ull << (width - 1)) - 1), -1));
	case UINT:
		return (u32)raw;
	default:
		return (u32)(s32)with_sign(raw, width);
	}
}

/* To 16 significant bits, nearest, ties to even. */
static double short_float(double value)
{
	int exponent;
	double fraction = frexp(value, &exponent);

	return value == 0 ? value : ldexp(nearbyint(ldexp(fraction, 16)), exponent - 16);
}

/* ------------------------------------------------------------------ sources */

/* Get the position of an instance in its work-group. */
static void local_of(const struct random_case *c, u32 n, u32 local[3])
{
	local[0] = n % c->size[0];
	local[1] = n / c->size[0] % c->size[1];
	local[2] = n / c->size[0] / c->size[1];
}

static u32 compute_source(const struct random_case *c, u32 source, u32 n)
{
	u32 local[3], axis;

	local_of(c, n, local);
	if (source == PUMICE_PDS_SOURCE_TASK)
		return n / RANDOM_TASK;
	if (source == PUMICE_PDS_SOURCE_LOCAL_LINEAR)
		return n;
	for (axis = 0; axis < 3; axis++) {
		if (source == PUMICE_PDS_SOURCE_GROUP_X + axis)
			return c->id[axis];
		if (source == PUMICE_PDS_SOURCE_GROUPS_X + axis)
			return c->groups[axis];
		if (source == PUMICE_PDS_SOURCE_SIZE_X + axis)
			return c->size[axis];
		if (source == PUMICE_PDS_SOURCE_LOCAL_X + axis)
			return local[axis];
		if (source == PUMICE_PDS_SOURCE_GLOBAL_X + axis)
			return (u32)((u64)c->id[axis] * c->size[axis] + local[axis]);
	}
	fail_msg("source %u", source);
	return 0;
}

static u32 ray_source(const struct random_case *c, u32 source, u32 n)
{
	const u32 wave = n / PUMICE_LANES, lane = n % PUMICE_LANES;

	switch (source) {
	case PUMICE_PDS_SOURCE_RAY_INDEX:
		return c->index[n];
	case PUMICE_PDS_SOURCE_RAY_X:
		return c->index[n] - c->index[n] / c->width * c->width;
	case PUMICE_PDS_SOURCE_RAY_Y:
		return c->index[n] / c->width;
	default:
		break;
	}
	/* Origin, smallest t, direction, greatest t; then t, u, v, instance, primitive, kind. */
	if (source < 80)
		return c->ray[(wave * PUMICE_RT_RAY_REGS + source - 72) * PUMICE_LANES + lane];
	return c->result[(wave * PUMICE_RT_RESULT_REGS + source - 80) * PUMICE_LANES + lane];
}

/* A plane at a pixel; each operation rounds separately. */
static float at(const struct random_case *c, u32 n, u32 varying, bool centroid)
{
	const struct usc_span *span = &c->span[n / 4];
	const u32 number = varying < 64 ? varying : RANDOM_VARYINGS + varying - 64;
	const struct tsp_plane *p = &c->plane[span->prim][number];
	volatile float x = (float)(span->quad % 16 * 2 + n % 2) + (centroid ? 0.125f : 0.5f);
	volatile float y = (float)(span->quad / 16 * 2 + n % 4 / 2) + (centroid ? 0.875f : 0.5f);
	volatile float ax = p->a * x, by = p->b * y, sum = ax + by;

	return sum + p->c;
}

static u32 pixel_source(const struct random_case *c, u32 source, u32 n)
{
	const struct usc_span *span = &c->span[n / 4];

	switch (source) {
	case PUMICE_PDS_SOURCE_FRAG_X:
		return c->tile.x0 + span->quad % 16 * 2 + n % 2;
	case PUMICE_PDS_SOURCE_FRAG_Y:
		return c->tile.y0 + span->quad / 16 * 2 + n % 4 / 2;
	case PUMICE_PDS_SOURCE_FRAG_Z:
		return bits(at(c, n, 65, false));
	case PUMICE_PDS_SOURCE_FRAG_W:
		return bits(at(c, n, 64, false));
	case PUMICE_PDS_SOURCE_FRONT:
		return span->prim % 2;
	case PUMICE_PDS_SOURCE_SAMPLE:
		return c->sample == USC_PIXEL_RATE ? 0 : c->sample;
	default:	/* COVERAGE: covered and visible */
		return (u32)take((const u8 *)&span->samples, n % 4 * 4, 4) &
		       ~(u32)take((const u8 *)&span->failed, n % 4 * 4, 4);
	}
}

static u32 source_of(const struct random_case *c, u32 source, u32 n)
{
	switch (c->stage) {
	case USC_STAGE_COMPUTE:
		return compute_source(c, source, n);
	case USC_STAGE_VERTEX:
		return source == PUMICE_PDS_SOURCE_VERTEX ? c->vertex[n] : c->instance;
	case USC_STAGE_FRAGMENT:
	case USC_STAGE_TILE:
		return pixel_source(c, source, n);
	default:
		return ray_source(c, source, n);
	}
}

/* ------------------------------------------------------------------ operations */

static u32 memory(const struct random_case *c, u64 addr)
{
	u32 w;

	memcpy(&w, c->data + (addr - FX_DATA), sizeof(w));
	return w;
}

/* Register n after the instruction's first one, for an instance of a task. */
static void write_v(struct random_registers *r, u32 instance, u32 reg, u32 value)
{
	r->v[instance / RANDOM_TASK][instance % RANDOM_TASK][reg] = value;
}

/* A register of a bank that the task has once, and coefficients once for each primitive. */
static void write_task(struct random_registers *r, u32 task, u32 prim, u32 bank, u32 reg, u32 value)
{
	if (bank == PUMICE_PDS_BANK_SH)
		r->sh[task][reg] = value;
	else if (bank == PUMICE_PDS_BANK_CF)
		r->cf[task][prim * RANDOM_COEFFS + reg] = value;
	else
		r->cfa[task][prim * RANDOM_ALT + reg] = value;
}

static u32 attribute(const struct random_case *c, const struct pumice_vdm_attribute *a, u32 n,
		     u32 comp)
{
	static const u8 zero[16];
	const u32 since = c->instance - c->base_instance;
	const u32 index = a->divisor ? c->base_instance + since / a->divisor : c->vertex[n];

	if (index >= a->elements)
		return convert(a, comp, zero);
	return convert(a, comp, c->data + (a->addr - FX_DATA) + (u64)index * a->stride);
}

static u32 iterate(const struct random_case *c, const struct pumice_pds_insn *insn, u32 n, u32 i)
{
	const bool centroid = insn->mode == PUMICE_USC_ITERATE_LINEAR_CENTROID ||
			      insn->mode == PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID;
	const bool linear = insn->mode == PUMICE_USC_ITERATE_LINEAR ||
			    insn->mode == PUMICE_USC_ITERATE_LINEAR_CENTROID;
	float value = at(c, n, insn->varying + i, centroid), rw = at(c, n, 64, centroid);

	if (insn->opcode == PUMICE_PDS_OP_TEXTURE) {
		value = (float)short_float((double)value);
		rw = (float)short_float((double)rw);
	}
	return bits(linear ? value : value / rw);
}

/* The value of register i of an instruction for an instance. */
static u32 value_of(const struct random_case *c, const struct pumice_pds_insn *insn, u32 n, u32 i)
{
	struct pumice_vdm_attribute a = {
		.addr = insn->addr, .divisor = insn->divisor, .stride = insn->stride,
		.elements = insn->elements, .kind = insn->kind, .comps = insn->comps,
	};

	switch (insn->opcode) {
	case PUMICE_PDS_OP_LDI:
		return insn->imm;
	case PUMICE_PDS_OP_MOV:
		return source_of(c, insn->source, n);
	case PUMICE_PDS_OP_DMA:
		return memory(c, insn->addr + (u64)n * insn->stride + 4 * i);
	case PUMICE_PDS_OP_ATTR:
		return attribute(c, &a, n, i);
	case PUMICE_PDS_OP_FETCH:
		return attribute(c, &c->table[insn->attribute], n, i);
	case PUMICE_PDS_OP_ITERATE:
		return iterate(c, insn, n, i);
	default:	/* the texture unit returns coordinates */
		return i < pumice_usc_texture_coords(insn->dim) ? iterate(c, insn, n, i) : 0;
	}
}

static u32 registers_of(const struct pumice_pds_insn *insn)
{
	switch (insn->opcode) {
	case PUMICE_PDS_OP_DMA:
		return insn->count;
	case PUMICE_PDS_OP_ATTR:
	case PUMICE_PDS_OP_FETCH:
	case PUMICE_PDS_OP_TEXTURE:
		return 4;
	case PUMICE_PDS_OP_COEFF:
		return 3u * insn->comps;
	case PUMICE_PDS_OP_ITERATE:
		return insn->comps;
	case PUMICE_PDS_OP_TASK:
	case PUMICE_PDS_OP_END:
		return 0;
	default:
		return 1;
	}
}

static u32 part_of_plane(const struct random_case *c, const struct pumice_pds_insn *insn, u32 prim,
			 u32 i)
{
	const u32 varying = insn->varying + i / 3;
	const struct tsp_plane *p =
		&c->plane[prim][varying < 64 ? varying : RANDOM_VARYINGS + varying - 64];

	return bits(i % 3 == 0 ? p->a : i % 3 == 1 ? p->b : p->c);
}

static void execute(const struct random_case *c, const struct pumice_pds_insn *insn,
		    struct random_registers *r)
{
	const u32 tasks = (c->instances + RANDOM_TASK - 1) / RANDOM_TASK;
	const u32 prims = insn->bank == PUMICE_PDS_BANK_SH ? 1 : c->prims;
	u32 i, n, prim;

	for (i = 0; i < registers_of(insn); i++) {
		if (insn->bank == PUMICE_PDS_BANK_V) {
			for (n = 0; n < c->instances; n++)
				write_v(r, n, insn->reg + i, value_of(c, insn, n, i));
			continue;
		}
		for (n = 0; n < tasks; n++)
			for (prim = 0; prim < prims; prim++)
				write_task(r, n, prim, insn->bank, insn->reg + i,
					   insn->opcode == PUMICE_PDS_OP_COEFF ?
					   part_of_plane(c, insn, prim, i) :
					   value_of(c, insn, n * RANDOM_TASK, i));
	}
}

void random_model(const struct random_case *c, struct random_registers *out)
{
	u32 i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < c->count; i++)
		execute(c, &c->insn[i], out);
}
