/* SPDX-License-Identifier: MIT */
/* Programs of the tests of launches of rays: test_rays_launch.c. */
#ifndef PUMICE_TESTS_RAYS_PROGRAMS_H
#define PUMICE_TESTS_RAYS_PROGRAMS_H

/* v0 to v6: t, u, v, instance, primitive, kind, index; sh0: results. */
static const char hit_text[] =
	".stage rays\n"
	"	mov		r16, [one], v0\n"
	"	mov		r17, [one], v1\n"
	"	mov		r18, [one], v2\n"
	"	mov		r19, [one], v3\n"
	"	mov		r20, [one], v4\n"
	"	mov		r21, [one], v5\n"
	"	mov		r22, [one], v6\n"
	"	shl.u32		r1, v6, 5\n"
	"	burst_store	sig0, [one], sh0 + r1, r16, 7\n"
	"	mov		r2, [one], 1\n"
	"	global_atomic.u32 add, sig1, r3, [one], sh0 + r1 + 28, r2\n"
	"	sig_wait	r4[0], sig1\n"
	"	end\n";

/* v0: greatest t, v1: kind, v2: index. */
static const char miss_text[] =
	".stage rays\n"
	"	mov		r16, [one], v0\n"
	"	mov		r17, [one], 0x4d495353\n"
	"	mov		r18, [one], v1\n"
	"	shl.u32		r1, v2, 5\n"
	"	burst_store	sig0, [one], sh0 + r1, r16, 3\n"
	"	mov		r2, [one], 1\n"
	"	global_atomic.u32 add, sig1, r3, [one], sh0 + r1 + 28, r2\n"
	"	sig_wait	r4[0], sig1\n"
	"	end\n";

/* A ray along +z from column v0, row v1 and z = 0. */
static const char grid_text[] =
	".stage rays\n"
	"	cvt_f32.u32	r0, v0\n"
	"	cvt_f32.u32	r1, v1\n"
	"	mov		r2, [one], 0\n"
	"	mov		r3, [one], 1.0\n"
	"	mov		r4, [one], 100.0\n"
	"	uvsw		vo0, r0\n"
	"	uvsw		vo1, r1\n"
	"	uvsw		vo2, r2\n"
	"	uvsw		vo3, r2\n"
	"	uvsw		vo4, r2\n"
	"	uvsw		vo5, r2\n"
	"	uvsw		vo6, r3\n"
	"	uvsw		vo7, r4\n"
	"	end\n";

/* The same ray without its greatest t. */
static const char short_text[] =
	".stage rays\n"
	"	cvt_f32.u32	r0, v0\n"
	"	cvt_f32.u32	r1, v1\n"
	"	mov		r2, [one], 1.0\n"
	"	uvsw		vo0, r0\nuvsw vo1, r1\nuvsw vo6, r2\n"
	"	end\n";

/*
 * The ray goes back: from the point of the hit at z = t along -z, after a while. v0: t, v1: index,
 * v2 and v3: origin; sh0: rays.
 */
static const char back_text[] =
	".stage rays\n"
	"	mov		r30[0], 200000\n"
	"spin:\n"
	"	sub.u32		r30[0], r30[0], 1\n"
	"	brnz		spin, r30[0]\n"
	"	mov		r16, [one], v2\n"
	"	mov		r17, [one], v3\n"
	"	mov		r18, [one], v0\n"
	"	mov		r19, [one], 0.5\n"
	"	mov		r20, [one], 0\n"
	"	mov		r21, [one], 0\n"
	"	mov		r22, [one], -1.0\n"
	"	mov		r23, [one], 50.0\n"
	"	shl.u32		r1, v1, 5\n"
	"	burst_store	sig0, [one], sh0 + r1, r16, 8\n"
	"	end\n";

static const char wild_text[] =
	".stage rays\n"
	"	mov		r0, [one], 0\n"
	"	burst_store	sig0, [one], sh0 + r0, r0, 1\n"
	"	end\n";

static const char forever_text[] =
	".stage rays\n"
	"again:\n"
	"	jump		again\n"
	"	end\n";

#endif
