// SPDX-License-Identifier: MIT
/*
 * Scalar forms: element 0 only.
 *
 * Source: document 002, "Scalar unit"; hw/isa.xml for each operation.
 *
 * Limits: operands are words in any store; nothing here depends on lanes.
 */
#include "scalar.h"

#define SCALAR(name, result)								\
	static const struct usc_insn *name(struct exec *x, const struct usc_insn *i)	\
	{										\
		u32 a = *exec_operand(x, i, USC_SRC0);					\
		u32 b = *exec_operand(x, i, USC_SRC1);					\
											\
		(void)b;								\
		*exec_operand(x, i, USC_DST) = (result);				\
		return exec_next(x, i);								\
	}

static u32 div_u32(u32 a, u32 b)
{
	return b ? a / b : UINT32_MAX;
}

static u32 div_i32(u32 a, u32 b)
{
	if (b == 0)
		return UINT32_MAX;
	return b == UINT32_MAX ? 0u - a : (u32)((s32)a / (s32)b);
}

static u32 rem_u32(u32 a, u32 b)
{
	return b ? a % b : a;
}

static u32 rem_i32(u32 a, u32 b)
{
	if (b == 0)
		return a;
	return b == UINT32_MAX ? 0 : (u32)((s32)a % (s32)b);
}

static u32 abs_i32(u32 a)
{
	return (s32)a < 0 ? 0u - a : a;
}

static u32 shr_i32(u32 a, u32 b)
{
	return (u32)((s32)a >> (b & 31));
}

static u32 f32_to_u32(u32 bits)
{
	float f = u32_as_f32(bits);

	if (!(f > 0))
		return 0;
	return f < 0x1p32f ? (u32)f : UINT32_MAX;
}

static u32 f32_to_s32(u32 bits)
{
	float f = u32_as_f32(bits);

	if (f != f)
		return 0;
	if (f >= 0x1p31f)
		return INT32_MAX;
	return f >= -0x1p31f ? (u32)(s32)f : (u32)INT32_MIN;
}

SCALAR(mov, a)
SCALAR(add_int, a + b)
SCALAR(add_f32, f32_result(u32_as_f32(a) + u32_as_f32(b)))
SCALAR(sub_int, a - b)
SCALAR(sub_f32, f32_result(u32_as_f32(a) - u32_as_f32(b)))
SCALAR(mul_int, a * b)
SCALAR(mul_f32, f32_result(u32_as_f32(a) * u32_as_f32(b)))
SCALAR(div_uint, div_u32(a, b))
SCALAR(div_int, div_i32(a, b))
SCALAR(div_f32, f32_result(u32_as_f32(a) / u32_as_f32(b)))
SCALAR(rem_uint, rem_u32(a, b))
SCALAR(rem_int, rem_i32(a, b))
SCALAR(min_uint, a < b ? a : b)
SCALAR(min_int, s32_min(a, b))
SCALAR(min_f32, f32_min(a, b))
SCALAR(max_uint, a > b ? a : b)
SCALAR(max_int, s32_max(a, b))
SCALAR(max_f32, f32_max(a, b))
SCALAR(neg_int, 0u - a)
SCALAR(neg_f32, a ^ 0x80000000u)
SCALAR(abs_int, abs_i32(a))
SCALAR(abs_f32, a & 0x7fffffffu)
SCALAR(cvt_f32_uint, f32_as_u32((float)a))
SCALAR(cvt_f32_int, f32_as_u32((float)(s32)a))
SCALAR(cvt_uint, f32_to_u32(a))
SCALAR(cvt_int, f32_to_s32(a))
SCALAR(and_bits, a & b)
SCALAR(or_bits, a | b)
SCALAR(xor_bits, a ^ b)
SCALAR(not_bits, ~a)
SCALAR(shl_bits, a << (b & 31))
SCALAR(shr_uint, a >> (b & 31))
SCALAR(shr_int, shr_i32(a, b))
SCALAR(eq_int, a == b)
SCALAR(eq_f32, u32_as_f32(a) == u32_as_f32(b))
SCALAR(ne_int, a != b)
SCALAR(ne_f32, u32_as_f32(a) != u32_as_f32(b))
SCALAR(lt_uint, a < b)
SCALAR(lt_int, (s32)a < (s32)b)
SCALAR(lt_f32, u32_as_f32(a) < u32_as_f32(b))
SCALAR(le_uint, a <= b)
SCALAR(le_int, (s32)a <= (s32)b)
SCALAR(le_f32, u32_as_f32(a) <= u32_as_f32(b))
SCALAR(gt_uint, a > b)
SCALAR(gt_int, (s32)a > (s32)b)
SCALAR(gt_f32, u32_as_f32(a) > u32_as_f32(b))
SCALAR(ge_uint, a >= b)
SCALAR(ge_int, (s32)a >= (s32)b)
SCALAR(ge_f32, u32_as_f32(a) >= u32_as_f32(b))

/* By type: u32, i32, f32. */
static usc_exec_fn *const table[][PUMICE_USC_TYPE_COUNT] = {
	[PUMICE_USC_OP_MOV] = { mov },
	[PUMICE_USC_OP_ADD] = { add_int, add_int, add_f32 },
	[PUMICE_USC_OP_SUB] = { sub_int, sub_int, sub_f32 },
	[PUMICE_USC_OP_MUL] = { mul_int, mul_int, mul_f32 },
	[PUMICE_USC_OP_DIV] = { div_uint, div_int, div_f32 },
	[PUMICE_USC_OP_REM] = { rem_uint, rem_int },
	[PUMICE_USC_OP_MIN] = { min_uint, min_int, min_f32 },
	[PUMICE_USC_OP_MAX] = { max_uint, max_int, max_f32 },
	[PUMICE_USC_OP_NEG] = { NULL, neg_int, neg_f32 },
	[PUMICE_USC_OP_ABS] = { NULL, abs_int, abs_f32 },
	[PUMICE_USC_OP_CVT_F32] = { cvt_f32_uint, cvt_f32_int },
	[PUMICE_USC_OP_CVT_INT] = { cvt_uint, cvt_int },
	[PUMICE_USC_OP_AND] = { and_bits },
	[PUMICE_USC_OP_OR] = { or_bits },
	[PUMICE_USC_OP_XOR] = { xor_bits },
	[PUMICE_USC_OP_NOT] = { not_bits },
	[PUMICE_USC_OP_SHL] = { shl_bits },
	[PUMICE_USC_OP_SHR] = { shr_uint, shr_int },
	[PUMICE_USC_OP_EQ] = { eq_int, NULL, eq_f32 },
	[PUMICE_USC_OP_NE] = { ne_int, NULL, ne_f32 },
	[PUMICE_USC_OP_LT] = { lt_uint, lt_int, lt_f32 },
	[PUMICE_USC_OP_LE] = { le_uint, le_int, le_f32 },
	[PUMICE_USC_OP_GT] = { gt_uint, gt_int, gt_f32 },
	[PUMICE_USC_OP_GE] = { ge_uint, ge_int, ge_f32 },
};

usc_exec_fn *usc_exec_scalar_find(const struct usc_insn *insn)
{
	if (insn->form != PUMICE_USC_FORM_SCALAR || insn->op >= sizeof(table) / sizeof(table[0]))
		return NULL;
	return table[insn->op][insn->type];
}
