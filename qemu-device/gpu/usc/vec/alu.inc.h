/* SPDX-License-Identifier: MIT */
/*
 * Lane-parallel arithmetic, logic and comparison.
 *
 * Source: hw/isa.xml for each operation. Included by level_*.c after row.inc.h.
 *
 * Each operation of two sources has one function for a second source in a row, and one for a
 * second source of one word for all lanes.
 *
 * Limits: no f32 operation spans two instructions, so nothing can be contracted.
 */

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

/*
 * min/max with IEEE NaN and signed-zero rules: the other operand if one is NaN, else the
 * selected zero.
 */
static inline vu f_extreme(vu a, vu b, vu a_wins, vu b_wins, vu equal)
{
	vu a_nan = (vu)((vf)a != (vf)a), b_nan = (vu)((vf)b != (vf)b);
	vu r = vu_select(a_wins, a, vu_select(b_wins, b, equal));

	r = vu_select(a_nan, b, vu_select(b_nan, a, r));
	return vu_select(a_nan & b_nan, splat(USC_F32_NAN), r);
}

static inline vu f_min(vu a, vu b)
{
	return f_extreme(a, b, (vu)((vf)a < (vf)b), (vu)((vf)b < (vf)a), a | b);
}

static inline vu f_max(vu a, vu b)
{
	return f_extreme(a, b, (vu)((vf)a > (vf)b), (vu)((vf)b > (vf)a), a & b);
}

static inline vu u_min(vu a, vu b)
{
	return vu_select((vu)(a < b), a, b);
}

static inline vu u_max(vu a, vu b)
{
	return vu_select((vu)(a > b), a, b);
}

static inline vu s_min(vu a, vu b)
{
	return vu_select((vu)((vs)a < (vs)b), a, b);
}

static inline vu s_max(vu a, vu b)
{
	return vu_select((vu)((vs)a > (vs)b), a, b);
}

static inline vu s_abs(vu a)
{
	vu sign = (vu)((vs)a >> 31);

	return (a ^ sign) - sign;
}

BINARY(add_int, a + b)
BINARY(add_f32, f_add(a, b))
BINARY(sub_int, a - b)
BINARY(sub_f32, f_sub(a, b))
BINARY(mul_int, a * b)
BINARY(mul_f32, f_mul(a, b))
BINARY(min_uint, u_min(a, b))
BINARY(min_int, s_min(a, b))
BINARY(min_f32, f_min(a, b))
BINARY(max_uint, u_max(a, b))
BINARY(max_int, s_max(a, b))
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

TERNARY(fma_f32, f_fma(a, b, c))
TERNARY(mad_uint, a * b + c)
TERNARY(bfi_bits, u_bfi(a, b, c))
TERNARY(div_fixup_f32, f_div_fixup(a, b, c))
TERNARY(clamp_uint, u_min(u_max(a, b), c))
TERNARY(clamp_int, s_min(s_max(a, b), c))
TERNARY(clamp_f32, f_min(f_max(a, b), c))
UNARY_BOTH(floor_f32, f_floor(a))
UNARY_BOTH(ceil_f32, f_ceil(a))
UNARY_BOTH(trunc_f32, f_trunc(a))
UNARY_BOTH(rint_f32, f_rint(a))
BINARY_BOTH(ldexp_f32, f_ldexp(a, b))
UNARY_BOTH(frexp_exp_f32, f_frexp_exp(a))
UNARY_BOTH(frexp_mant_f32, f_frexp_mant(a))
BINARY_BOTH(mulhi_uint, u_mulhi(a, b))
BINARY_BOTH(mulhi_int, s_mulhi(a, b))
UNARY_BOTH(udiv_rcp_uint, u_udiv_rcp(a))
UNARY_BOTH(rcp_f32, f_rcp(a))
UNARY_BOTH(sqrt_f32, f_sqrt(a))
UNARY_BOTH(rsqrt_f32, f_rsqrt(a))
UNARY_BOTH(exp2_f32, f_exp2(a))
UNARY_BOTH(log2_f32, f_log2(a))
UNARY_BOTH(sin_f32, f_sin(a))
UNARY_BOTH(cos_f32, f_cos(a))
BINARY_BOTH(bfe_uint, u_bfe(a, b))
BINARY_BOTH(bfe_int, s_bfe(a, b))
UNARY_BOTH(popcount_bits, u_popcount(a))
UNARY_BOTH(clz_bits, u_clz(a))
UNARY_BOTH(ctz_bits, u_ctz(a))
UNARY_BOTH(bitrev_bits, u_bitrev(a))
UNARY_BOTH(byterev_bits, u_byterev(a))
UNARY_BOTH(cvt_f32_f16, f_of_f16(a))
UNARY_BOTH(cvt_f16_f32, f_to_f16(a))
UNARY_BOTH(cvt_u8_uint, u_at_most(a, UINT8_MAX))
UNARY_BOTH(cvt_u8_int, s_within(a, 0, UINT8_MAX))
UNARY_BOTH(cvt_u8_f32, f_within(a, 0, UINT8_MAX))
UNARY_BOTH(cvt_i8_uint, u_at_most(a, INT8_MAX))
UNARY_BOTH(cvt_i8_int, s_within(a, INT8_MIN, INT8_MAX))
UNARY_BOTH(cvt_i8_f32, f_within(a, INT8_MIN, INT8_MAX))
UNARY_BOTH(cvt_u16_uint, u_at_most(a, UINT16_MAX))
UNARY_BOTH(cvt_u16_int, s_within(a, 0, UINT16_MAX))
UNARY_BOTH(cvt_u16_f32, f_within(a, 0, UINT16_MAX))
UNARY_BOTH(cvt_i16_uint, u_at_most(a, INT16_MAX))
UNARY_BOTH(cvt_i16_int, s_within(a, INT16_MIN, INT16_MAX))
UNARY_BOTH(cvt_i16_f32, f_within(a, INT16_MIN, INT16_MAX))
BINARY_BOTH(pack16_uint, u_pack16(u_at_most(a, UINT16_MAX), u_at_most(b, UINT16_MAX)))
BINARY_BOTH(pack16_int,
	    u_pack16(s_within(a, INT16_MIN, INT16_MAX), s_within(b, INT16_MIN, INT16_MAX)))
BINARY_BOTH(pack16_f32, u_pack16(f_to_f16(a), f_to_f16(b)))
UNARY_BOTH(unpack16_lo_uint, a & 0xffff)
UNARY_BOTH(unpack16_lo_int, s_extend(a, 16))
UNARY_BOTH(unpack16_hi_uint, a >> 16)
UNARY_BOTH(unpack16_hi_int, (vs)a >> 16)
UNARY_BOTH(unpack16_hi_f32, f_of_f16(a >> 16))
UNARY_BOTH(ext8_uint, a & 0xff)
UNARY_BOTH(ext8_int, s_extend(a, 8))

/* By type: u32, i32, f32, f16. */
static const struct alu_fns alu_table[][PUMICE_USC_TYPE_COUNT] = {
	[PUMICE_USC_OP_ADD] = { ROW_WORD(add_int), ROW_WORD(add_int), ROW_WORD(add_f32) },
	[PUMICE_USC_OP_SUB] = { ROW_WORD(sub_int), ROW_WORD(sub_int), ROW_WORD(sub_f32) },
	[PUMICE_USC_OP_MUL] = { ROW_WORD(mul_int), ROW_WORD(mul_int), ROW_WORD(mul_f32) },
	[PUMICE_USC_OP_MIN] = { ROW_WORD(min_uint), ROW_WORD(min_int), ROW_WORD(min_f32) },
	[PUMICE_USC_OP_MAX] = { ROW_WORD(max_uint), ROW_WORD(max_int), ROW_WORD(max_f32) },
	[PUMICE_USC_OP_NEG] = { NO_FNS, ROW(neg_int), ROW(neg_f32) },
	[PUMICE_USC_OP_ABS] = { NO_FNS, ROW(abs_int), ROW(abs_f32) },
	[PUMICE_USC_OP_CVT_F32] = { ROW(cvt_f32_uint), ROW(cvt_f32_int), NO_FNS,
				    ROW_ONE(cvt_f32_f16) },
	[PUMICE_USC_OP_CVT_INT] = { ROW(cvt_uint), ROW(cvt_int), NO_FNS },
	[PUMICE_USC_OP_CVT_F16] = { NO_FNS, NO_FNS, ROW_ONE(cvt_f16_f32) },
	[PUMICE_USC_OP_CVT_U8] = { ROW_ONE(cvt_u8_uint), ROW_ONE(cvt_u8_int), ROW_ONE(cvt_u8_f32) },
	[PUMICE_USC_OP_CVT_I8] = { ROW_ONE(cvt_i8_uint), ROW_ONE(cvt_i8_int), ROW_ONE(cvt_i8_f32) },
	[PUMICE_USC_OP_CVT_U16] = { ROW_ONE(cvt_u16_uint), ROW_ONE(cvt_u16_int),
				    ROW_ONE(cvt_u16_f32) },
	[PUMICE_USC_OP_CVT_I16] = { ROW_ONE(cvt_i16_uint), ROW_ONE(cvt_i16_int),
				    ROW_ONE(cvt_i16_f32) },
	[PUMICE_USC_OP_FMA] = { NO_FNS, NO_FNS, THREE(fma_f32) },
	[PUMICE_USC_OP_MAD] = { THREE(mad_uint) },
	[PUMICE_USC_OP_BFI] = { THREE(bfi_bits) },
	[PUMICE_USC_OP_DIV_FIXUP] = { NO_FNS, NO_FNS, THREE(div_fixup_f32) },
	[PUMICE_USC_OP_CLAMP] = { THREE(clamp_uint), THREE(clamp_int), THREE(clamp_f32) },
	[PUMICE_USC_OP_FLOOR] = { NO_FNS, NO_FNS, ROW_ONE(floor_f32) },
	[PUMICE_USC_OP_CEIL] = { NO_FNS, NO_FNS, ROW_ONE(ceil_f32) },
	[PUMICE_USC_OP_TRUNC] = { NO_FNS, NO_FNS, ROW_ONE(trunc_f32) },
	[PUMICE_USC_OP_RINT] = { NO_FNS, NO_FNS, ROW_ONE(rint_f32) },
	[PUMICE_USC_OP_LDEXP] = { NO_FNS, NO_FNS, ROW_WORD_ONE(ldexp_f32) },
	[PUMICE_USC_OP_FREXP_EXP] = { NO_FNS, NO_FNS, ROW_ONE(frexp_exp_f32) },
	[PUMICE_USC_OP_FREXP_MANT] = { NO_FNS, NO_FNS, ROW_ONE(frexp_mant_f32) },
	[PUMICE_USC_OP_MULHI] = { ROW_WORD_ONE(mulhi_uint), ROW_WORD_ONE(mulhi_int) },
	[PUMICE_USC_OP_UDIV_RCP] = { ROW_ONE(udiv_rcp_uint) },
	[PUMICE_USC_OP_RCP] = { NO_FNS, NO_FNS, ROW_ONE(rcp_f32) },
	[PUMICE_USC_OP_SQRT] = { NO_FNS, NO_FNS, ROW_ONE(sqrt_f32) },
	[PUMICE_USC_OP_RSQRT] = { NO_FNS, NO_FNS, ROW_ONE(rsqrt_f32) },
	[PUMICE_USC_OP_EXP2] = { NO_FNS, NO_FNS, ROW_ONE(exp2_f32) },
	[PUMICE_USC_OP_LOG2] = { NO_FNS, NO_FNS, ROW_ONE(log2_f32) },
	[PUMICE_USC_OP_SIN] = { NO_FNS, NO_FNS, ROW_ONE(sin_f32) },
	[PUMICE_USC_OP_COS] = { NO_FNS, NO_FNS, ROW_ONE(cos_f32) },
	[PUMICE_USC_OP_BFE] = { ROW_WORD_ONE(bfe_uint), ROW_WORD_ONE(bfe_int) },
	[PUMICE_USC_OP_POPCOUNT] = { ROW_ONE(popcount_bits) },
	[PUMICE_USC_OP_CLZ] = { ROW_ONE(clz_bits) },
	[PUMICE_USC_OP_CTZ] = { ROW_ONE(ctz_bits) },
	[PUMICE_USC_OP_BITREV] = { ROW_ONE(bitrev_bits) },
	[PUMICE_USC_OP_BYTEREV] = { ROW_ONE(byterev_bits) },
	[PUMICE_USC_OP_PACK16] = { ROW_WORD_ONE(pack16_uint), ROW_WORD_ONE(pack16_int),
				   ROW_WORD_ONE(pack16_f32) },
	[PUMICE_USC_OP_UNPACK16_LO] = { ROW_ONE(unpack16_lo_uint), ROW_ONE(unpack16_lo_int),
					ROW_ONE(cvt_f32_f16) },
	[PUMICE_USC_OP_UNPACK16_HI] = { ROW_ONE(unpack16_hi_uint), ROW_ONE(unpack16_hi_int),
					ROW_ONE(unpack16_hi_f32) },
	[PUMICE_USC_OP_EXT8] = { ROW_ONE(ext8_uint), ROW_ONE(ext8_int) },
	[PUMICE_USC_OP_AND] = { ROW_WORD(and_bits), NO_FNS, NO_FNS },
	[PUMICE_USC_OP_OR] = { ROW_WORD(or_bits), NO_FNS, NO_FNS },
	[PUMICE_USC_OP_XOR] = { ROW_WORD(xor_bits), NO_FNS, NO_FNS },
	[PUMICE_USC_OP_NOT] = { ROW(not_bits), NO_FNS, NO_FNS },
	[PUMICE_USC_OP_SHL] = { ROW_WORD(shl_bits), NO_FNS, NO_FNS },
	[PUMICE_USC_OP_SHR] = { ROW_WORD(shr_uint), ROW_WORD(shr_int), NO_FNS },
	[PUMICE_USC_OP_EQ] = { ROW_WORD(eq_int), NO_FNS, ROW_WORD(eq_f32) },
	[PUMICE_USC_OP_NE] = { ROW_WORD(ne_int), NO_FNS, ROW_WORD(ne_f32) },
	[PUMICE_USC_OP_LT] = { ROW_WORD(lt_uint), ROW_WORD(lt_int), ROW_WORD(lt_f32) },
	[PUMICE_USC_OP_LE] = { ROW_WORD(le_uint), ROW_WORD(le_int), ROW_WORD(le_f32) },
	[PUMICE_USC_OP_GT] = { ROW_WORD(gt_uint), ROW_WORD(gt_int), ROW_WORD(gt_f32) },
	[PUMICE_USC_OP_GE] = { ROW_WORD(ge_uint), ROW_WORD(ge_int), ROW_WORD(ge_f32) },
};

/* Absent operands also have the register base. */
static bool rows_are_registers(const struct usc_insn *insn)
{
	for (enum usc_place place = USC_DST; place < USC_PLACES; place++) {
		if (!(insn->scalars >> place & 1) && insn->base[place] != USC_BASE_REG)
			return false;
	}
	return true;
}

static usc_exec_fn *alu_find(const struct usc_insn *insn)
{
	const struct alu_fns *fns;
	u32 which;

	if (insn->op >= sizeof(alu_table) / sizeof(alu_table[0]))
		return NULL;
	fns = &alu_table[insn->op][insn->type];
	if (insn->form == PUMICE_USC_FORM_SCALAR)
		return fns->scalar;
	which = (insn->scalars >> USC_SRC1) & 3;
	return fns->vector[which | (rows_are_registers(insn) ? ALL_REGISTERS : 0)];
}
