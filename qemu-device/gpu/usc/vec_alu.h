/* SPDX-License-Identifier: MIT */
/*
 * Lane-parallel arithmetic, logic and comparison.
 *
 * Source: hw/isa.xml for each operation. Included by level_*.c behind vec.h.
 *
 * Each operation of two sources has a function for a second source in a row and
 * one for a second source that is one word for all lanes.
 *
 * Limits: no f32 operation spans two instructions, so nothing can be contracted.
 */

/* An arithmetic result: every NaN becomes the canonical one. */
static inline vu f_result(vf r)
{
	return vm_pick(vm_nan(r), splat(USC_F32_NAN), (vu)r);
}

static inline vu f_add(vu a, vu b)
{
	return f_result((vf)a + (vf)b);
}

static inline vu f_sub(vu a, vu b)
{
	return f_result((vf)a - (vf)b);
}

static inline vu f_mul(vu a, vu b)
{
	return f_result((vf)a * (vf)b);
}

/* Which of two, where neither decides: the other where one is NaN, else the zero that is asked for. */
static inline vu f_extreme(vu a, vu b, vu a_wins, vu b_wins, vu equal)
{
	vu a_nan = (vu)((vf)a != (vf)a), b_nan = (vu)((vf)b != (vf)b);
	vu r = pick(a_wins, a, pick(b_wins, b, equal));

	r = pick(a_nan, b, pick(b_nan, a, r));
	return pick(a_nan & b_nan, splat(USC_F32_NAN), r);
}

static inline vu f_min(vu a, vu b)
{
	return f_extreme(a, b, (vu)((vf)a < (vf)b), (vu)((vf)b < (vf)a), a | b);
}

static inline vu f_max(vu a, vu b)
{
	return f_extreme(a, b, (vu)((vf)a > (vf)b), (vu)((vf)b > (vf)a), a & b);
}

/* Towards zero, of values within the range of s32. */
static inline vu truncate(vf f)
{
	return (vu)__builtin_convertvector(f, vs);
}

static inline vu f_to_s32(vu a)
{
	vf f = (vf)a;
	vu high = (vu)(f >= 0x1p31f), low = (vu)(f < -0x1p31f);
	vu fits = (vu)(f == f) & ~high & ~low;

	return truncate((vf)(a & fits)) | (high & 0x7fffffffu) | (low & 0x80000000u);
}

/* The upper half of the range is converted 2^31 lower: exact there. */
static inline vu f_to_u32(vu a)
{
	vf f = (vf)a;
	vu over = (vu)(f >= 0x1p32f), upper = (vu)(f >= 0x1p31f) & ~over;
	vu lower = (vu)(f > 0.0f) & (vu)(f < 0x1p31f);
	vf reduced = (vf)((a & lower) | ((vu)(f - 0x1p31f) & upper));

	return (truncate(reduced) ^ (upper & 0x80000000u)) | over;
}

static inline vu s_abs(vu a)
{
	vu sign = (vu)((vs)a >> 31);

	return (a ^ sign) - sign;
}

#define BINARY(name, result)								\
	static const struct usc_insn *name##_row(struct exec *x, const struct usc_insn *i) \
	{										\
		const vu *s = row_of(x, i, USC_SRC0), *t = row_of(x, i, USC_SRC1);	\
		vu *d = row_of(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k], b = t[k];						\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);								\
	}										\
	static const struct usc_insn *name##_word(struct exec *x, const struct usc_insn *i) \
	{										\
		const vu *s = row_of(x, i, USC_SRC0);					\
		vu b = splat(*exec_operand(x, i, USC_SRC1));				\
		vu *d = row_of(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k];							\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);								\
	}

#define UNARY(name, result)								\
	static const struct usc_insn *name##_row(struct exec *x, const struct usc_insn *i) \
	{										\
		const vu *s = row_of(x, i, USC_SRC0);					\
		vu *d = row_of(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k];							\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);								\
	}

BINARY(add_int, a + b)
BINARY(add_f32, f_add(a, b))
BINARY(sub_int, a - b)
BINARY(sub_f32, f_sub(a, b))
BINARY(mul_int, a * b)
BINARY(mul_f32, f_mul(a, b))
BINARY(min_uint, pick((vu)(a < b), a, b))
BINARY(min_int, pick((vu)((vs)a < (vs)b), a, b))
BINARY(min_f32, f_min(a, b))
BINARY(max_uint, pick((vu)(a > b), a, b))
BINARY(max_int, pick((vu)((vs)a > (vs)b), a, b))
BINARY(max_f32, f_max(a, b))
UNARY(neg_int, -a)
UNARY(neg_f32, a ^ 0x80000000u)
UNARY(abs_int, s_abs(a))
UNARY(abs_f32, a & 0x7fffffffu)
UNARY(cvt_f32_uint, __builtin_convertvector(a, vf))
UNARY(cvt_f32_int, __builtin_convertvector((vs)a, vf))
UNARY(cvt_uint, f_to_u32(a))
UNARY(cvt_int, f_to_s32(a))
BINARY(and_bits, a & b)
BINARY(or_bits, a | b)
BINARY(xor_bits, a ^ b)
UNARY(not_bits, ~a)
BINARY(shl_bits, a << (b & 31))
BINARY(shr_uint, a >> (b & 31))
BINARY(shr_int, (vs)a >> (vs)(b & 31))
BINARY(eq_int, (a == b) & 1)
BINARY(eq_f32, ((vf)a == (vf)b) & 1)
BINARY(ne_int, (a != b) & 1)
BINARY(ne_f32, ((vf)a != (vf)b) & 1)
BINARY(lt_uint, (a < b) & 1)
BINARY(lt_int, ((vs)a < (vs)b) & 1)
BINARY(lt_f32, ((vf)a < (vf)b) & 1)
BINARY(le_uint, (a <= b) & 1)
BINARY(le_int, ((vs)a <= (vs)b) & 1)
BINARY(le_f32, ((vf)a <= (vf)b) & 1)
BINARY(gt_uint, (a > b) & 1)
BINARY(gt_int, ((vs)a > (vs)b) & 1)
BINARY(gt_f32, ((vf)a > (vf)b) & 1)
BINARY(ge_uint, (a >= b) & 1)
BINARY(ge_int, ((vs)a >= (vs)b) & 1)
BINARY(ge_f32, ((vf)a >= (vf)b) & 1)

/* The functions of one operation on one type. */
struct alu_fns {
	usc_exec_fn *row, *word;
};

#define BOTH(name) { name##_row, name##_word }
#define ROW(name) { name##_row, NULL }
#define NONE { NULL, NULL }

/* By type: u32, i32, f32. */
static const struct alu_fns alu_table[][PUMICE_USC_TYPE_COUNT] = {
	[PUMICE_USC_OP_ADD] = { BOTH(add_int), BOTH(add_int), BOTH(add_f32) },
	[PUMICE_USC_OP_SUB] = { BOTH(sub_int), BOTH(sub_int), BOTH(sub_f32) },
	[PUMICE_USC_OP_MUL] = { BOTH(mul_int), BOTH(mul_int), BOTH(mul_f32) },
	[PUMICE_USC_OP_MIN] = { BOTH(min_uint), BOTH(min_int), BOTH(min_f32) },
	[PUMICE_USC_OP_MAX] = { BOTH(max_uint), BOTH(max_int), BOTH(max_f32) },
	[PUMICE_USC_OP_NEG] = { NONE, ROW(neg_int), ROW(neg_f32) },
	[PUMICE_USC_OP_ABS] = { NONE, ROW(abs_int), ROW(abs_f32) },
	[PUMICE_USC_OP_CVT_F32] = { ROW(cvt_f32_uint), ROW(cvt_f32_int), NONE },
	[PUMICE_USC_OP_CVT_INT] = { ROW(cvt_uint), ROW(cvt_int), NONE },
	[PUMICE_USC_OP_AND] = { BOTH(and_bits), NONE, NONE },
	[PUMICE_USC_OP_OR] = { BOTH(or_bits), NONE, NONE },
	[PUMICE_USC_OP_XOR] = { BOTH(xor_bits), NONE, NONE },
	[PUMICE_USC_OP_NOT] = { ROW(not_bits), NONE, NONE },
	[PUMICE_USC_OP_SHL] = { BOTH(shl_bits), NONE, NONE },
	[PUMICE_USC_OP_SHR] = { BOTH(shr_uint), BOTH(shr_int), NONE },
	[PUMICE_USC_OP_EQ] = { BOTH(eq_int), NONE, BOTH(eq_f32) },
	[PUMICE_USC_OP_NE] = { BOTH(ne_int), NONE, BOTH(ne_f32) },
	[PUMICE_USC_OP_LT] = { BOTH(lt_uint), BOTH(lt_int), BOTH(lt_f32) },
	[PUMICE_USC_OP_LE] = { BOTH(le_uint), BOTH(le_int), BOTH(le_f32) },
	[PUMICE_USC_OP_GT] = { BOTH(gt_uint), BOTH(gt_int), BOTH(gt_f32) },
	[PUMICE_USC_OP_GE] = { BOTH(ge_uint), BOTH(ge_int), BOTH(ge_f32) },
};

static usc_exec_fn *alu_find(const struct usc_insn *insn)
{
	const struct alu_fns *fns;

	if (insn->op >= sizeof(alu_table) / sizeof(alu_table[0]))
		return NULL;
	fns = &alu_table[insn->op][insn->type];
	return insn->scalars >> USC_SRC1 & 1 ? fns->word : fns->row;
}
