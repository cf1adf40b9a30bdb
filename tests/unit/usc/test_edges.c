// SPDX-License-Identifier: MIT
/*
 * Three-operand arithmetic, rounding, conversions, transcendental operations and
 * bits at the edges of their operands, against values computed manually from
 * IEEE 754 and hw/isa.xml: in vector and scalar form, with sources in registers
 * and as one word for all lanes, at each vector level of this host.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "single.h"

#define NAN0 0x7fc00000u
#define INF0 0x7f800000u
#define ONE 0x3f800000u

/* Sources and the expected result; operations of fewer sources ignore the rest. */
struct edge {
	u8 op, type, sources;
	u32 v[SINGLE_SOURCES], want;
};

#define E1(op, type, a, want) { PUMICE_USC_OP_##op, type, 1, { a }, want }
#define E2(op, type, a, b, want) { PUMICE_USC_OP_##op, type, 2, { a, b }, want }
#define E3(op, type, a, b, c, want) { PUMICE_USC_OP_##op, type, 3, { a, b, c }, want }
#define F16 PUMICE_USC_TYPE_F16

static const struct edge edges[] = {
	/* One rounding: (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, which a rounded product has lost. */
	E3(FMA, F32, 0x3f800800, 0x3f800800, 0xbf801000, 0x33800000),
	E3(FMA, F32, 0x3f800001, 0x3f7fffff, 0xbf800000, 0x337ffffe),	/* 2^-24 - 2^-47 */
	E3(FMA, F32, 0x7f7fffff, 0x40000000, 0xff7fffff, 0x7f7fffff),	/* no overflow between */
	E3(FMA, F32, 0x7f7fffff, 0x40000000, 0x7f7fffff, INF0),
	E3(FMA, F32, 0x00000001, 0x3f000000, 0x00000000, 0x00000000),	/* half the least: to
									 * even */
	E3(FMA, F32, 0x00000001, 0x3f000000, 0x00000001, 0x00000002),
	E3(FMA, F32, 0x00000001, 0x00000001, 0x3f800000, 0x3f800000),
	E3(FMA, F32, 0x00000001, 0x00000001, 0x80000001, 0x80000001),
	E3(FMA, F32, 0x3f800001, 0x3f800000, 0x33800000, 0x3f800002),	/* a tie, to even */
	E3(FMA, F32, 0x3f800001, 0x3f800000, 0x337fffff, 0x3f800001),
	/* 2^-24 - 2^-70 on top of 1 + 2^-23: below the tie, which a sum in double does not see. */
	E3(FMA, F32, 0x33800001, 0x3f7ffffe, 0x3f800001, 0x3f800001),
	E3(FMA, F32, 0x3f800000, 0x00000000, 0x80000000, 0x00000000),
	E3(FMA, F32, 0xbf800000, 0x00000000, 0x80000000, 0x80000000),
	E3(FMA, F32, 0x3f800000, 0x3f800000, 0xbf800000, 0x00000000),
	E3(FMA, F32, INF0, 0x00000000, 0x3f800000, NAN0),
	E3(FMA, F32, INF0, 0x3f800000, 0xff800000, NAN0),
	E3(FMA, F32, INF0, 0xbf800000, 0xff800000, 0xff800000),
	E3(FMA, F32, 0x3f800000, 0x3f800000, 0xffc00123, NAN0),
	E3(FMA, F32, 0x7f800001, 0x3f800000, 0x3f800000, NAN0),
	E3(MAD, U32, 0xffffffff, 0xffffffff, 0xffffffff, 0),
	E3(MAD, U32, 0x00010000, 0x00010000, 7, 7),
	E3(BFI, U32, 0xffffffff, 0, 0x0804, 0xfffff00f),
	E3(BFI, U32, 0, 0xffffffff, 0x0804, 0x00000ff0),
	E3(BFI, U32, 0x12345678, 0xffffffff, 0x0010, 0x12345678),	/* width 0 */
	E3(BFI, U32, 0x12345678, 0x9abcdef0, 0x2000, 0x9abcdef0),	/* width 32 */
	E3(BFI, U32, 0x12345678, 0xffffffff, 0x201c, 0xf2345678),	/* beyond bit 31 */
	E3(BFI, U32, 0, 1, 0x011f, 0x80000000),
	E3(BFI, U32, 0, 0xff, 0xffffc0e4 & ~0x3f00u, 0),		/* other bits do not
									 * count */
	E3(BFI, U32, 0, 0xffffffff, 0x3f00, 0xffffffff),		/* widths above 32 as 32 */
	E3(DIV_FIXUP, F32, 0x40490fdb, 0x40000000, 0x3f800000, 0x40490fdb),
	E3(DIV_FIXUP, F32, 0x40490fdb, 0x3f800000, 0x00000000, INF0),
	E3(DIV_FIXUP, F32, 0x40490fdb, 0xbf800000, 0x00000000, 0xff800000),
	E3(DIV_FIXUP, F32, 0x40490fdb, 0x00000000, 0x80000000, NAN0),
	E3(DIV_FIXUP, F32, 0x40490fdb, 0x80000000, 0x40000000, 0x80000000),
	E3(DIV_FIXUP, F32, 0x40490fdb, INF0, 0xc0000000, 0xff800000),
	E3(DIV_FIXUP, F32, 0x40490fdb, 0x3f800000, 0xff800000, 0x80000000),
	E3(DIV_FIXUP, F32, 0x40490fdb, INF0, INF0, NAN0),
	E3(DIV_FIXUP, F32, 0x40490fdb, 0xffc00001, 0x3f800000, NAN0),
	/* a denormal is none */
	E3(DIV_FIXUP, F32, 0x40490fdb, 0x00000001, 0x3f800000, 0x40490fdb),
	E3(CLAMP, U32, 0xffffffff, 1, 9, 9),
	E3(CLAMP, I32, 0xffffffff, 1, 9, 1),
	E3(CLAMP, I32, 5, 9, 1, 1),					/* min is last */
	E3(CLAMP, F32, 0xc0000000, 0x00000000, ONE, 0x00000000),
	E3(CLAMP, F32, 0x7f800001, 0x00000000, ONE, 0x00000000),	/* NaN gives way */
	E3(CLAMP, F32, 0x40000000, NAN0, ONE, ONE),
	E3(CLAMP, F32, NAN0, NAN0, 0xffc00001, NAN0),

	E1(FLOOR, F32, 0x3fc00000, 0x3f800000),
	E1(FLOOR, F32, 0xbfc00000, 0xc0000000),
	E1(FLOOR, F32, 0x80000000, 0x80000000),
	E1(FLOOR, F32, 0x80000001, 0xbf800000),
	E1(FLOOR, F32, 0x00000001, 0x00000000),
	E1(FLOOR, F32, 0x4b000001, 0x4b000001),				/* 2^23 + 1 */
	E1(FLOOR, F32, 0xcaffffff, 0xcb000000),				/* -(2^23 - 1/2) */
	E1(FLOOR, F32, 0xff800000, 0xff800000),
	E1(FLOOR, F32, 0x7f800001, NAN0),
	E1(CEIL, F32, 0x3fc00000, 0x40000000),
	E1(CEIL, F32, 0xbf000000, 0x80000000),
	E1(CEIL, F32, 0x80000001, 0x80000000),
	E1(CEIL, F32, 0x00000001, 0x3f800000),
	E1(CEIL, F32, 0x4affffff, 0x4b000000),
	E1(CEIL, F32, INF0, INF0),
	E1(CEIL, F32, 0xffffffff, NAN0),
	E1(TRUNC, F32, 0xbf7fffff, 0x80000000),
	E1(TRUNC, F32, 0xc0200000, 0xc0000000),
	E1(TRUNC, F32, 0x7f7fffff, 0x7f7fffff),
	E1(TRUNC, F32, 0x7f800001, NAN0),
	E1(RINT, F32, 0x3f000000, 0x00000000),				/* ties to even */
	E1(RINT, F32, 0x3fc00000, 0x40000000),
	E1(RINT, F32, 0x40200000, 0x40000000),
	E1(RINT, F32, 0xbf000000, 0x80000000),
	E1(RINT, F32, 0x3f000001, 0x3f800000),
	E1(RINT, F32, 0x4affffff, 0x4b000000),
	E1(RINT, F32, 0x4b000001, 0x4b000001),
	E1(RINT, F32, 0xff800000, 0xff800000),
	E1(RINT, F32, 0xffc00000, NAN0),
	E2(LDEXP, F32, 0x3f800000, 127, 0x7f000000),
	E2(LDEXP, F32, 0x3f800000, 128, INF0),
	E2(LDEXP, F32, 0x00000001, 149 + 127, 0x7f000000),
	E2(LDEXP, F32, 0x3f800000, (u32)-149, 0x00000001),
	E2(LDEXP, F32, 0x3f800000, (u32)-150, 0x00000000),		/* a tie, to even */
	E2(LDEXP, F32, 0x3f800001, (u32)-150, 0x00000001),		/* rounded once */
	E2(LDEXP, F32, 0x40400000, (u32)-150, 0x00000002),
	E2(LDEXP, F32, 0xbf800000, 0x80000000, 0x80000000),
	E2(LDEXP, F32, 0xbf800000, 0x7fffffff, 0xff800000),
	E2(LDEXP, F32, 0x00000000, 0x7fffffff, 0x00000000),
	E2(LDEXP, F32, INF0, 0x80000000, INF0),
	E2(LDEXP, F32, 0x7f800001, 0, NAN0),
	E1(FREXP_EXP, F32, 0x3f800000, 1),
	E1(FREXP_EXP, F32, 0x3f7fffff, 0),
	E1(FREXP_EXP, F32, 0x00000001, (u32)-148),
	E1(FREXP_EXP, F32, 0x807fffff, (u32)-126),
	E1(FREXP_EXP, F32, 0x7f7fffff, 128),
	E1(FREXP_EXP, F32, 0x80000000, 0),
	E1(FREXP_EXP, F32, INF0, 0),
	E1(FREXP_EXP, F32, NAN0, 0),
	E1(FREXP_MANT, F32, 0xbf800000, 0xbf000000),
	E1(FREXP_MANT, F32, 0x00000001, 0x3f000000),
	E1(FREXP_MANT, F32, 0x80000003, 0xbf400000),
	E1(FREXP_MANT, F32, 0x80000000, 0x80000000),
	E1(FREXP_MANT, F32, 0xff800000, 0xff800000),
	E1(FREXP_MANT, F32, 0xff800001, NAN0),
	E2(MULHI, U32, 0xffffffff, 0xffffffff, 0xfffffffe),
	E2(MULHI, U32, 0x80000000, 2, 1),
	E2(MULHI, I32, 0xffffffff, 0xffffffff, 0),
	E2(MULHI, I32, 0x80000000, 0x80000000, 0x40000000),
	E2(MULHI, I32, 0x80000000, 0x7fffffff, 0xc0000000),
	E2(MULHI, I32, 0xffffffff, 1, 0xffffffff),
	E1(UDIV_RCP, U32, 0, 0xffffffff),
	E1(UDIV_RCP, U32, 1, 0xffffffff),
	E1(UDIV_RCP, U32, 2, 0x80000000),
	E1(UDIV_RCP, U32, 3, 0x55555555),
	E1(UDIV_RCP, U32, 0x80000000, 2),
	E1(UDIV_RCP, U32, 0x80000001, 1),
	E1(UDIV_RCP, U32, 0xffffffff, 1),
	E1(UDIV_RCP, U32, 65537, 65535),
	E1(UDIV_RCP, U32, 641, 6700416),				/* 641 * 6700417 is
									 * 2^32 + 1 */

	E1(RCP, F32, 0x40000000, 0x3f000000),
	E1(RCP, F32, 0x40400000, 0x3eaaaaab),
	E1(RCP, F32, 0x00000000, INF0),
	E1(RCP, F32, 0x80000000, 0xff800000),
	E1(RCP, F32, 0xff800000, 0x80000000),
	E1(RCP, F32, 0x7f000000, 0x00400000),
	E1(RCP, F32, 0x00000001, INF0),
	E1(RCP, F32, 0x7f800001, NAN0),
	E1(SQRT, F32, 0x40800000, 0x40000000),
	E1(SQRT, F32, 0x40000000, 0x3fb504f3),
	E1(SQRT, F32, 0x80000000, 0x80000000),
	E1(SQRT, F32, 0x80000001, NAN0),
	E1(SQRT, F32, 0x00000008, 0x1b000000),				/* 2^-146 */
	E1(SQRT, F32, INF0, INF0),
	E1(SQRT, F32, 0xff800000, NAN0),
	E1(RSQRT, F32, 0x40800000, 0x3f000000),
	E1(RSQRT, F32, 0x40000000, 0x3f3504f3),
	E1(RSQRT, F32, 0x00000000, INF0),
	E1(RSQRT, F32, 0x80000000, 0xff800000),
	E1(RSQRT, F32, INF0, 0x00000000),
	E1(RSQRT, F32, 0xbf800000, NAN0),
	E1(RSQRT, F32, 0xff800000, NAN0),
	E1(EXP2, F32, 0x00000000, ONE),
	E1(EXP2, F32, 0x80000000, ONE),
	E1(EXP2, F32, 0x3f000000, 0x3fb504f3),
	E1(EXP2, F32, 0x42fe0000, 0x7f000000),				/* 127 */
	E1(EXP2, F32, 0x43000000, INF0),
	E1(EXP2, F32, 0xc3150000, 0x00000001),				/* -149 */
	E1(EXP2, F32, 0xc3160000, 0x00000000),				/* -150: a tie, to even */
	E1(EXP2, F32, 0xc315ffff, 0x00000001),
	E1(EXP2, F32, 0xff7fffff, 0x00000000),
	E1(EXP2, F32, INF0, INF0),
	E1(EXP2, F32, 0xff800000, 0x00000000),
	E1(EXP2, F32, 0x7f800001, NAN0),
	E1(LOG2, F32, ONE, 0x00000000),
	E1(LOG2, F32, 0x40000000, ONE),
	E1(LOG2, F32, 0x00000001, 0xc3150000),
	E1(LOG2, F32, 0x3f800001, 0x3438aa3a),				/* a little below 2^-23
									 * / ln 2 */
	E1(LOG2, F32, 0x00000000, 0xff800000),
	E1(LOG2, F32, 0x80000000, 0xff800000),
	E1(LOG2, F32, 0x80000001, NAN0),
	E1(LOG2, F32, INF0, INF0),
	E1(LOG2, F32, 0xff800000, NAN0),
	E1(LOG2, F32, 0xffc00000, NAN0),
	E1(SIN, F32, 0x00000000, 0x00000000),
	E1(SIN, F32, 0x80000000, 0x80000000),
	E1(SIN, F32, 0x00000001, 0x00000001),
	E1(SIN, F32, 0x80000001, 0x80000001),
	E1(SIN, F32, 0x3fc90fdb, ONE),					/* pi / 2 */
	E1(SIN, F32, 0x40490fdb, 0xb3bbbd2e),				/* pi is rounded up */
	E1(SIN, F32, INF0, NAN0),
	E1(SIN, F32, 0xff800000, NAN0),
	E1(SIN, F32, 0x7f800001, NAN0),
	E1(COS, F32, 0x00000000, ONE),
	E1(COS, F32, 0x80000000, ONE),
	E1(COS, F32, 0x00000001, ONE),
	E1(COS, F32, 0x3fc90fdb, 0xb33bbd2e),
	E1(COS, F32, 0x40490fdb, 0xbf800000),
	E1(COS, F32, INF0, NAN0),
	E1(COS, F32, 0xffffffff, NAN0),

	E2(BFE, U32, 0xdeadbeef, 0x0804, 0xee),
	E2(BFE, I32, 0xdeadbeef, 0x0804, 0xffffffee),
	E2(BFE, I32, 0x0000007f, 0x0800, 0x7f),
	E2(BFE, U32, 0xdeadbeef, 0x0000, 0),				/* width 0 */
	E2(BFE, I32, 0xffffffff, 0x001f, 0),
	E2(BFE, U32, 0xdeadbeef, 0x2000, 0xdeadbeef),			/* width 32 */
	E2(BFE, I32, 0xdeadbeef, 0x2000, 0xdeadbeef),
	E2(BFE, U32, 0xdeadbeef, 0x201c, 0xd),				/* beyond bit 31 */
	E2(BFE, I32, 0xdeadbeef, 0x201c, 0xfffffffd),
	E2(BFE, U32, 0xdeadbeef, 0xffffc8e4 & ~0x3f00u, 0),		/* other bits do not
									 * count */
	E2(BFE, U32, 0xdeadbeef, 0x3f00, 0xdeadbeef),			/* widths above 32 as 32 */
	E2(BFE, I32, 0x80000000, 0x011f, 0xffffffff),
	E1(POPCOUNT, U32, 0, 0),
	E1(POPCOUNT, U32, 0xffffffff, 32),
	E1(POPCOUNT, U32, 0x80000001, 2),
	E1(CLZ, U32, 0, 32),
	E1(CLZ, U32, 1, 31),
	E1(CLZ, U32, 0x80000000, 0),
	E1(CTZ, U32, 0, 32),
	E1(CTZ, U32, 1, 0),
	E1(CTZ, U32, 0x80000000, 31),
	E1(BITREV, U32, 1, 0x80000000),
	E1(BITREV, U32, 0x12345678, 0x1e6a2c48),
	E1(BYTEREV, U32, 0x12345678, 0x78563412),

	E1(CVT_F32, F16, 0x00003c00, ONE),
	E1(CVT_F32, F16, 0xffff3c00, ONE),				/* the high half does
									 * not count */
	E1(CVT_F32, F16, 0x00000001, 0x33800000),			/* least denormal */
	E1(CVT_F32, F16, 0x000083ff, 0xb87fc000),			/* greatest one, negative */
	E1(CVT_F32, F16, 0x00000400, 0x38800000),
	E1(CVT_F32, F16, 0x00007bff, 0x477fe000),			/* 65504 */
	E1(CVT_F32, F16, 0x00008000, 0x80000000),
	E1(CVT_F32, F16, 0x0000fc00, 0xff800000),
	E1(CVT_F32, F16, 0x0000fe01, NAN0),
	E1(CVT_F32, F16, 0x00007c01, NAN0),
	E1(CVT_F16, F32, ONE, 0x3c00),
	E1(CVT_F16, F32, 0x477fefff, 0x7bff),				/* below 65520 */
	E1(CVT_F16, F32, 0x477ff000, 0x7c00),				/* 65520: a tie, to
									 * infinity */
	E1(CVT_F16, F32, 0xff7fffff, 0xfc00),
	E1(CVT_F16, F32, 0x3f801000, 0x3c00),				/* ties to even */
	E1(CVT_F16, F32, 0x3f803000, 0x3c02),
	E1(CVT_F16, F32, 0x3f801001, 0x3c01),
	E1(CVT_F16, F32, 0x387fffff, 0x0400),				/* rounds up into the
									 * normal ones */
	E1(CVT_F16, F32, 0x33000000, 0x0000),				/* 2^-25: a tie, to even */
	E1(CVT_F16, F32, 0x33000001, 0x0001),
	E1(CVT_F16, F32, 0x33c00000, 0x0002),				/* 1.5 * 2^-24 */
	E1(CVT_F16, F32, 0x80000001, 0x8000),
	E1(CVT_F16, F32, 0xff800000, 0xfc00),
	E1(CVT_F16, F32, 0xffc00000, 0x7e00),
	E1(CVT_F16, F32, 0x7f800001, 0x7e00),
	E1(CVT_U8, U32, 256, 255),
	E1(CVT_U8, U32, 0xffffffff, 255),
	E1(CVT_U8, I32, 0xffffffff, 0),
	E1(CVT_U8, I32, 0x7fffffff, 255),
	E1(CVT_U8, F32, 0x437fffff, 255),				/* just below 256 */
	E1(CVT_U8, F32, 0xff800000, 0),
	E1(CVT_U8, F32, INF0, 255),
	E1(CVT_U8, F32, NAN0, 0),
	E1(CVT_I8, U32, 0x80000000, 127),
	E1(CVT_I8, I32, 0x80000000, 0xffffff80),
	E1(CVT_I8, I32, 128, 127),
	E1(CVT_I8, F32, 0xc300ffff, 0xffffff80),			/* just above -129 */
	E1(CVT_I8, F32, 0xbf7fffff, 0),
	E1(CVT_I8, F32, 0xffffffff, 0),
	E1(CVT_U16, U32, 65536, 65535),
	E1(CVT_U16, I32, 0x80000000, 0),
	E1(CVT_U16, F32, 0x477fffff, 65535),
	E1(CVT_I16, U32, 32768, 32767),
	E1(CVT_I16, I32, 0xffff7fff, 0xffff8000),
	E1(CVT_I16, F32, 0xcf000000, 0xffff8000),
	E1(CVT_I16, F32, NAN0, 0),
	E2(PACK16, U32, 0x00012345, 0x00005678, 0x5678ffff),
	E2(PACK16, I32, 0xffff0000, 0x00010000, 0x7fff8000),
	E2(PACK16, I32, 0xffffffff, 1, 0x0001ffff),
	E2(PACK16, F32, ONE, 0xffc00000, 0x7e003c00),
	E1(UNPACK16_LO, U32, 0x8765fedc, 0xfedc),
	E1(UNPACK16_LO, I32, 0x8765fedc, 0xfffffedc),
	E1(UNPACK16_LO, F32, 0x7e003c00, ONE),
	E1(UNPACK16_HI, U32, 0x8765fedc, 0x8765),
	E1(UNPACK16_HI, I32, 0x8765fedc, 0xffff8765),
	E1(UNPACK16_HI, F32, 0x7c013c00, NAN0),
	E1(EXT8, U32, 0x1280, 0x80),
	E1(EXT8, I32, 0x1280, 0xffffff80),
};

#define EDGES (sizeof(edges) / sizeof(edges[0]))

static void check_edge(struct fixture *fx, const struct edge *e, const char *form,
		       const struct pumice_usc_insn *insn, u32 lanes)
{
	u32 row[SINGLE_SOURCES][PUMICE_LANES], out[PUMICE_LANES];

	for (u32 n = 0; n < SINGLE_SOURCES; n++) {
		for (u32 l = 0; l < PUMICE_LANES; l++)
			row[n][l] = e->v[n];
	}
	single_run(fx, *insn, PUMICE_LANES, (single_sources){ row[0], row[1], row[2] }, out);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 want = l < lanes ? e->want : SINGLE_MARK;

		if (out[l] != want)
			fail_msg("op %#x type %u %s: %#x, %#x, %#x gives %#x in lane %u, must be %#x",
				 e->op, e->type, form, e->v[0], e->v[1], e->v[2], out[l], l, want);
	}
}

static void check_edges(struct fixture *fx)
{
	for (u32 n = 0; n < EDGES; n++) {
		const struct edge *e = &edges[n];
		struct pumice_usc_insn insn = {
			.opcode = e->op, .type = e->type, .form = SCALAR_FORM,
			.dst = R_ELEM(SINGLE_OUT), .src0 = V_ELEM(0),
			.src1 = e->sources > 1 ? V_ELEM(1) : 0,
			.src2 = e->sources > 2 ? V_ELEM(2) : 0,
		};

		check_edge(fx, e, "scalar", &insn, 1);
		insn.form = 0;
		insn.dst = R(SINGLE_OUT);
		insn.src0 = V(0);
		for (u32 words = 0; words < 1u << (e->sources - 1); words++) {
			if (e->sources > 1)
				insn.src1 = words & 1 ? V_ELEM(1) : V(1);
			if (e->sources > 2)
				insn.src2 = words & 2 ? V_ELEM(2) : V(2);
			check_edge(fx, e, words ? "with words" : "vector", &insn, PUMICE_LANES);
		}
	}
}

static void usc_more_arithmetic_gives_the_defined_bits_in_every_form(void **state)
{
	(void)state;
	single_at_each_level(check_edges);
}

/* Every f16 there is, to f32 and back. */
static void check_f16_round_trip(struct fixture *fx)
{
	u32 row[PUMICE_LANES], wide[PUMICE_LANES], back[PUMICE_LANES];

	for (u32 first = 0; first < 0x10000; first += PUMICE_LANES) {
		for (u32 l = 0; l < PUMICE_LANES; l++)
			row[l] = first + l;
		single_run(fx, INSN(CVT_F32, .type = F16, .dst = R(SINGLE_OUT), .src0 = V(0)),
			   PUMICE_LANES, (single_sources){ row }, wide);
		single_run(fx, INSN(CVT_F16, .type = F32, .dst = R(SINGLE_OUT), .src0 = V(0)),
			   PUMICE_LANES, (single_sources){ wide }, back);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			bool nan = (row[l] & 0x7fff) > 0x7c00;

			assert_int_equal(back[l], nan ? 0x7e00 : row[l]);
		}
	}
}

static void usc_every_f16_survives_conversion_to_f32_and_back(void **state)
{
	(void)state;
	single_at_each_level(check_f16_round_trip);
}

/* With a number of valid lanes; V0 is the lane's number plus one. */
static void check_scan(struct fixture *fx)
{
	u32 row[PUMICE_LANES], out[PUMICE_LANES];

	for (u32 l = 0; l < PUMICE_LANES; l++)
		row[l] = l + 1;
	single_run(fx, INSN(SCAN, .func = PUMICE_USC_REDUCE_ADD, .dst = R(SINGLE_OUT),
			    .src0 = V(0)), 20, (single_sources){ row }, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l < 20 ? (l + 1) * (l + 2) / 2 : 210);
	single_run(fx, INSN(SCAN_EXCL, .func = PUMICE_USC_REDUCE_MAX, .type = I32,
			    .dst = R(SINGLE_OUT), .src0 = V(0)), 20, (single_sources){ row }, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l ? l < 20 ? l : 20 : 0x80000000u);
	single_run(fx, INSN(SCAN_EXCL, .func = PUMICE_USC_REDUCE_AND, .dst = R(SINGLE_OUT),
			    .src0 = V(0)), 1, (single_sources){ row }, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l ? 1 : 0xffffffffu);
}

static void usc_scans_treat_invalid_lanes_as_identity(void **state)
{
	(void)state;
	single_at_each_level(check_scan);
}

/* 1e8, 1, -1e8, 1: the pair (2, 3) is summed before it is added to the pair (0, 1). */
static void check_scan_order(struct fixture *fx)
{
	u32 row[PUMICE_LANES] = { 0x4cbebc20, 0x3f800000, 0xccbebc20, 0x3f800000 };
	u32 out[PUMICE_LANES];

	single_run(fx, INSN(SCAN, .type = F32, .func = PUMICE_USC_REDUCE_ADD,
			    .dst = R(SINGLE_OUT), .src0 = V(0)), PUMICE_LANES,
		   (single_sources){ row }, out);
	assert_int_equal(out[0], 0x4cbebc20);
	assert_int_equal(out[1], 0x4cbebc20);
	/* (1e8) + (1 - 1e8): the sum in brackets is rounded to -1e8. */
	assert_int_equal(out[2], 0);
	assert_int_equal(out[3], 0);
}

static void usc_scan_sums_in_steps_of_powers_of_two(void **state)
{
	(void)state;
	single_at_each_level(check_scan_order);
}

static void check_ballot(struct fixture *fx)
{
	u32 out[PUMICE_LANES];
	struct pumice_usc_insn insn = INSN(BALLOT, .dst = R_ELEM(SINGLE_OUT),
					   .mask = (u16)IF(MASK_K(CH4)));

	single_run(fx, insn, PUMICE_LANES, (single_sources){ NULL }, out);
	assert_int_equal(out[0], 0x0f0f0f0f);
	assert_int_equal(out[1], SINGLE_MARK);
	single_run(fx, insn, 10, (single_sources){ NULL }, out);
	assert_int_equal(out[0], 0x0000030f);
}

static void usc_ballot_counts_valid_lanes_only(void **state)
{
	(void)state;
	single_at_each_level(check_ballot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_more_arithmetic_gives_the_defined_bits_in_every_form),
		cmocka_unit_test(usc_every_f16_survives_conversion_to_f32_and_back),
		cmocka_unit_test(usc_scans_treat_invalid_lanes_as_identity),
		cmocka_unit_test(usc_scan_sums_in_steps_of_powers_of_two),
		cmocka_unit_test(usc_ballot_counts_valid_lanes_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
