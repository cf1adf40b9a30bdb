/* SPDX-License-Identifier: MIT */
/* Fixture of the tests of the ray tracing unit: a unit with memory, and one wave's rays. */
#ifndef PUMICE_TESTS_RTU_FIXTURE_H
#define PUMICE_TESTS_RTU_FIXTURE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../../qemu-device/gpu/rtu/rtu.h"
#include "rand.h"
#include "testmem.h"
#include "tree.h"

#define FX_CTX		5u
#define FX_VA		0x30000000ull
#define FX_BYTES	(16u << 20)
#define FX_WAVES	3u

struct ray {
	float origin[3], min, direction[3], max;
};

struct result {
	float t, u, v;
	u32 instance, primitive, kind;
};

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct rtu *rtu;
	u8 *memory;		/* host view of FX_VA */
	u64 used;		/* bytes of it */
	u64 seed;
	struct gpu_fault fault;
	u32 calls;		/* of rtu_trace() for the last query */
	struct rtu_query query;	/* as the last call left it */
	u32 ray[PUMICE_RT_RAY_REGS][PUMICE_LANES], regs[PUMICE_RT_RESULT_REGS][PUMICE_LANES];
};

void fx_setup(struct fixture *fx);
void fx_teardown(struct fixture *fx);
/* Build structures at the next free address. */
void fx_triangles(struct fixture *fx, struct tree *tree, const float *vertices, u32 count);
void fx_instances(struct fixture *fx, struct tree *tree, const struct pumice_rt_instance *instances,
		  const struct tree_box *boxes, u32 count);
/* Trace up to a wave of rays; false with fx->fault. */
bool fx_trace(struct fixture *fx, u64 va, bool any, const struct ray *rays, struct result *results,
	      u32 count);
/* Trace any number; each must be without fault. */
void fx_trace_all(struct fixture *fx, u64 va, bool any, const struct ray *rays,
		  struct result *results, u32 count);
/* Return a ray along +z from z = 0 at x and y. */
struct ray fx_ray_z(float x, float y);

#endif
