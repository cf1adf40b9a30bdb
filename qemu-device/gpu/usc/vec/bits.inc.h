/* SPDX-License-Identifier: MIT */
/*
 * Integer arithmetic and bits of one vector: wide products, fields, counts, reversals.
 *
 * Source: hw/isa.xml, "Rounding, scaling and helpers of division" and "Bits". Included by
 * level_*.c after double.inc.h.
 */

/* Return the high words of the products: those of the even lanes, then of the odd ones. */
static inline vu u_mulhi(vu a, vu b)
{
	vq a_even = (vq)a & 0xffffffffu, b_even = (vq)b & 0xffffffffu;
	vq even = a_even * b_even, odd = ((vq)a >> 32) * ((vq)b >> 32);

	return (vu)((even >> 32) | (odd & 0xffffffff00000000ull));
}

/* A negative factor is 2^32 too large as unsigned. */
static inline vu s_mulhi(vu a, vu b)
{
	vu a_sign = (vu)((vs)a >> 31), b_sign = (vu)((vs)b >> 31);

	return u_mulhi(a, b) - (a_sign & b) - (b_sign & a);
}

/*
 * Return 2^32 / a, rounded down. A quotient of doubles that is not an integer differs from the
 * nearest one by at least 2^-32 of its size, so rounding does not reach it.
 */
static inline vq d_udiv_rcp(vq a)
{
	vd q = 0x1p32 / d_of_word(a), whole = (q + 0x1p52) - 0x1p52;

	whole -= (vd)((vq)(whole > q) & D_ONE_BITS);
	return (vq)(whole + 0x1p52) & 0xffffffffu;
}

static inline vu u_udiv_rcp(vu a)
{
	vu small = (vu)(a < 2);	/* the quotient exceeds 32 bits */
	vu safe = vu_select(small, splat(2), a);

	return u_narrow(d_udiv_rcp(u_wide_low(safe)), d_udiv_rcp(u_wide_high(safe))) | small;
}

/* Decode a field operand: the lowest bit, and the width, at most 32. */
static inline vu field_low(vu where)
{
	return where & 31;
}

static inline vu field_width(vu where)
{
	vu width = (where >> 8) & 63;

	return vu_select((vu)(width > 32), splat(32), width);
}

/* Return a mask of width ones. */
static inline vu field_ones(vu width)
{
	return vu_select((vu)(width > 31), splat(UINT32_MAX), (splat(1) << (width & 31)) - 1);
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

	return vu_select(m, b << low, a);
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
