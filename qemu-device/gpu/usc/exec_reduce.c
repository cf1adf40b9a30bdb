// SPDX-License-Identifier: MIT
/*
 * Reductions: over chunks of 8 lanes, and of the chunks' results into element 0.
 *
 * Source: document 002, "Mathematics"; hw/isa.xml for the order of operations, which
 * determines the rounding of f32 sums.
 *
 * Limits: lane by lane, since programs have few of these.
 */
#include "scalar.h"

#define CHUNK 8u
#define CHUNKS (PUMICE_LANES / CHUNK)

typedef u32 reduce_fn(u32 a, u32 b);

/* An operator on one type, with its identity. */
struct reducer {
	reduce_fn *apply;
	u32 identity;
};

#define REDUCER(name, result)			\
	static u32 name(u32 a, u32 b)		\
	{					\
		return (result);		\
	}

REDUCER(add_int, a + b)
REDUCER(add_f32, f32_result(u32_as_f32(a) + u32_as_f32(b)))
REDUCER(min_uint, a < b ? a : b)
REDUCER(min_int, s32_min(a, b))
REDUCER(min_f32, f32_min(a, b))
REDUCER(max_uint, a > b ? a : b)
REDUCER(max_int, s32_max(a, b))
REDUCER(max_f32, f32_max(a, b))
REDUCER(and_bits, a & b)
REDUCER(or_bits, a | b)
REDUCER(xor_bits, a ^ b)

/* By type: u32, i32, f32. */
static const struct reducer reducers[PUMICE_USC_REDUCE_COUNT][PUMICE_USC_TYPE_COUNT] = {
	[PUMICE_USC_REDUCE_ADD] = { { add_int, 0 }, { add_int, 0 }, { add_f32, 0x80000000u } },
	[PUMICE_USC_REDUCE_MIN] = { { min_uint, UINT32_MAX }, { min_int, INT32_MAX },
				    { min_f32, USC_F32_NAN } },
	[PUMICE_USC_REDUCE_MAX] = { { max_uint, 0 }, { max_int, 0x80000000u },
				    { max_f32, USC_F32_NAN } },
	[PUMICE_USC_REDUCE_AND] = { { and_bits, UINT32_MAX } },
	[PUMICE_USC_REDUCE_OR] = { { or_bits, 0 } },
	[PUMICE_USC_REDUCE_XOR] = { { xor_bits, 0 } },
};

static const struct usc_insn *reduce_part(struct exec *x, const struct usc_insn *i)
{
	const struct reducer *r = &reducers[i->func][i->type];
	const u32 *src = exec_operand(x, i, USC_SRC0);
	u32 *dst = exec_operand(x, i, USC_DST);

	for (u32 c = 0; c < PUMICE_LANES; c += CHUNK) {
		u32 v[CHUNK];

		for (u32 l = 0; l < CHUNK; l++)
			v[l] = x->valid >> (c + l) & 1 ? src[c + l] : r->identity;
		for (u32 step = 1; step < CHUNK; step *= 2) {
			for (u32 l = 0; l < CHUNK; l += 2 * step)
				v[l] = r->apply(v[l], v[l + step]);
		}
		dst[c] = v[0];
	}
	return exec_next(x, i);
}

static const struct usc_insn *reduce_finish(struct exec *x, const struct usc_insn *i)
{
	const struct reducer *r = &reducers[i->func][i->type];
	const u32 *src = exec_operand(x, i, USC_SRC0);
	u32 v[CHUNKS];

	for (u32 c = 0; c < CHUNKS; c++) {
		bool any = x->valid >> (c * CHUNK) & ((1u << CHUNK) - 1);

		v[c] = any ? src[c * CHUNK] : r->identity;
	}
	*exec_operand(x, i, USC_DST) = r->apply(r->apply(v[0], v[1]), r->apply(v[2], v[3]));
	return exec_next(x, i);
}

usc_exec_fn *usc_exec_reduce_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_REDUCE_PART:
		return reduce_part;
	case PUMICE_USC_OP_REDUCE_FINISH:
		return reduce_finish;
	default:
		return NULL;
	}
}
