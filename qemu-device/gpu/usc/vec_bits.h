/* SPDX-License-Identifier: MIT */
/*
 * Integer arithmetic and bits of one vector: wide products, fields, counts,
 * reversals.
 *
 * Source: hw/isa.xml, "Rounding, scaling and helpers of division" and "Bits".
 * Included by level_*.c behind vec_double.h.
 */

/* High words of the products: those of the even lanes, then of the odd ones. */
static inline vu u_mulhi(vu a, vu b)
{
	vq a_even = (vq)a & 0xffffffffu, b_even = (vq)b & 0xffffffffu;
	vq even = a_even * b_even, odd = ((vq)a >> 32) * ((vq)b >> 32);

	return (vu)((even >> 32) | (odd & 0xffffffff00000000ull));
}

/* A negative factor counts 2^32 too much. */
static inline vu s_mulhi(vu a, vu b)
{
	vu a_sign = (vu)((vs)a >> 31), b_sign = (vu)((vs)b >> 31);

	return u_mulhi(a, b) - (a_sign & b) - (b_sign & a);
}

/*
 * 2^32 / a, rounded down. The quotient of doubles is near an integer that it is
 * not by no less than 2^-32 of its size, so rounding does not reach it.
 */
static inline vq d_udiv_rcp(vq a)
{
	vd q = 0x1p32 / d_of_word(a), whole = (q + 0x1p52) - 0x1p52;

	whole -= (vd)((vq)(whole > q) & D_ONE_BITS);
	return (vq)(whole + 0x1p52) & 0xffffffffu;
}

static inline vu u_udiv_rcp(vu a)
{
	vu small = (vu)(a < 2);	/* the quotient takes more than 32 bits */
	vu safe = pick(small, splat(2), a);

	return u_narrow(d_udiv_rcp(u_wide_low(safe)), d_udiv_rcp(u_wide_high(safe))) | small;
}

/* What a field operand says: the lowest bit, and the width, at most 32. */
static inline vu field_low(vu where)
{
	return where & 31;
}

static inline vu field_width(vu where)
{
	vu width = (where >> 8) & 63;

	return pick((vu)(width > 32), splat(32), width);
}

/* As many ones as the width says. */
static inline vu field_ones(vu width)
{
	return pick((vu)(width > 31), splat(UINT32_MAX), (splat(1) << (width & 31)) - 1);
}

static inline vu u_bfe(vu a, vu where)
{
	return (a >> field_low(where)) & field_ones(field_width(where));
}

static inline vu s_bfe(vu a, vu where)
{
	vu width = field_width(where), up = (32 - width) & 31;
	vu value = (vu)((vs)a >> (vs)field_low(where));

	return (vu)((vs)(value << up) >> (vs)up) & (vu)(width != 0);
}

static inline vu u_bfi(vu a, vu b, vu where)
{
	vu low = field_low(where), m = field_ones(field_width(where)) << low;

	return pick(m, b << low, a);
}

static inline vu u_popcount(vu a)
{
	a -= (a >> 1) & 0x55555555u;
	a = (a & 0x33333333u) + ((a >> 2) & 0x33333333u);
	a = (a + (a >> 4)) & 0x0f0f0f0fu;
	return (a * 0x01010101u) >> 24;
}

static inline vu u_clz(vu a)
{
	for (u32 by = 1; by < 32; by *= 2)
		a |= a >> by;
	return u_popcount(~a);
}

static inline vu u_ctz(vu a)
{
	return u_popcount(~a & (a - 1));
}

static inline vu u_byterev(vu a)
{
	a = ((a & 0x00ff00ffu) << 8) | ((a >> 8) & 0x00ff00ffu);
	return (a << 16) | (a >> 16);
}

static inline vu u_bitrev(vu a)
{
	a = ((a & 0x55555555u) << 1) | ((a >> 1) & 0x55555555u);
	a = ((a & 0x33333333u) << 2) | ((a >> 2) & 0x33333333u);
	a = ((a & 0x0f0f0f0fu) << 4) | ((a >> 4) & 0x0f0f0f0fu);
	return u_byterev(a);
}

static inline vu u_pack16(vu low, vu high)
{
	return (low & 0xffff) | (high << 16);
}
