// SPDX-License-Identifier: MIT
/*
 * ISP FPU, first half: triangles of primitives.
 *
 * Source: document 004, "ISP FPU"; Documentation/precision.rst, "Lines", "Points".
 */
#include <math.h>

#include "isp.h"

#define SUBPIXELS	(1u << PUMICE_SUBPIXEL_BITS)
#define MIN_SIZE	0.0625f
#define MAX_SIZE	256.0f

static bool within_limit(const struct pumice_prim_vertex *v)
{
	const s32 x = (s32)v->x, y = (s32)v->y;

	return x >= -ISP_MAX_POSITION && x <= ISP_MAX_POSITION && y >= -ISP_MAX_POSITION &&
	       y <= ISP_MAX_POSITION;
}

/* Return half of a size in 1/256 pixel; NaN becomes the largest. */
static double half_size(float size)
{
	return (double)fmaxf(MIN_SIZE, fminf(MAX_SIZE, size)) * (SUBPIXELS / 2);
}

static void set_corner(struct isp_triangle *t, u32 corner, s32 x, s32 y,
		       const struct ipf_prim *prim, u8 vertex)
{
	t->x[corner] = x;
	t->y[corner] = y;
	t->z[corner] = prim->vertex[vertex].z;
	t->vertex[corner] = vertex;
}

/* Set a rectangle of corners A, B, C, D: triangles A B C and A C D. */
static void set_rectangle(struct isp_triangle out[2], const s32 x[4], const s32 y[4],
			  const u8 vertex[4], const struct ipf_prim *prim)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		const u32 second = i ? i + 1 : 0;

		set_corner(&out[0], i, x[i], y[i], prim, vertex[i]);
		set_corner(&out[1], i, x[second], y[second], prim, vertex[second]);
	}
}

static u32 expand_point(const struct ipf_prim *prim, struct isp_triangle out[2])
{
	const struct pumice_prim_vertex *v = &prim->vertex[0];
	const s32 h = (s32)rint(half_size(v->size));
	const s32 x = (s32)v->x, y = (s32)v->y;

	set_rectangle(out, (const s32[]){ x - h, x + h, x + h, x - h },
		      (const s32[]){ y - h, y - h, y + h, y + h }, (const u8[]){ 0, 0, 0, 0 },
		      prim);
	return 2;
}

static u32 expand_line(const struct ipf_prim *prim, struct isp_triangle out[2])
{
	const s32 x0 = (s32)prim->vertex[0].x, y0 = (s32)prim->vertex[0].y;
	const s32 x1 = (s32)prim->vertex[1].x, y1 = (s32)prim->vertex[1].y;
	const double dx = x1 - x0, dy = y1 - y0, length = sqrt(dx * dx + dy * dy);
	const double h = half_size(prim->vertex[0].size);
	s32 nx, ny;

	if (length == 0)
		return 0;
	nx = (s32)rint(-dy * h / length);
	ny = (s32)rint(dx * h / length);
	set_rectangle(out, (const s32[]){ x0 + nx, x0 - nx, x1 - nx, x1 + nx },
		      (const s32[]){ y0 + ny, y0 - ny, y1 - ny, y1 + ny },
		      (const u8[]){ 0, 0, 1, 1 }, prim);
	return 2;
}

bool isp_expand(u32 kind, const struct ipf_prim *prim, struct isp_triangle out[2], u32 *count)
{
	u8 i;

	*count = 0;
	if (!within_limit(&prim->vertex[0]))
		return false;
	if (kind == PUMICE_PRIM_KIND_POINT) {
		*count = expand_point(prim, out);
		return true;
	}
	if (!within_limit(&prim->vertex[1]))
		return false;
	if (kind == PUMICE_PRIM_KIND_LINE) {
		*count = expand_line(prim, out);
		return true;
	}
	if (!within_limit(&prim->vertex[2]))
		return false;
	for (i = 0; i < 3; i++)
		set_corner(&out[0], i, (s32)prim->vertex[i].x, (s32)prim->vertex[i].y, prim, i);
	*count = 1;
	return true;
}
