/* SPDX-License-Identifier: MIT */
/*
 * Ray tracing unit: definitions shared by its files.
 *
 *   ray.c        a ray in the space of a structure, and the margins of its boxes
 *   box.c        the boxes of a node
 *   triangle.c   a triangle
 *   walk.c       traversal of both levels
 *   rtu.c        the rays of a wave
 */
#ifndef PUMICE_GPU_RTU_INTERNAL_H
#define PUMICE_GPU_RTU_INTERNAL_H

#include <stdatomic.h>

#include "pumice_formats.h"
#include "rtu.h"

#define RTU_CHILDREN 4u	/* of a node */

struct rtu_walk;

struct rtu {
	struct mmu *mmu;
	struct mmu_tlb tlb;
	struct rtu_walk *walk;	/* of each wave */
	/* Written by the thread of the unit, read by any. */
	_Atomic u64 rays, nodes, leaves;
};

/* A ray as its registers hold it, or transformed to the space of an instance. */
struct rtu_ray {
	float origin[3], direction[3];
};

/* The same in the space of one structure, prepared for its boxes and triangles. */
struct rtu_space {
	float origin[3];
	float inverse[3];	/* 1 / direction */
	float margin[3];	/* of t at each side of a box */
	bool negative[3];	/* directions */
	/* Axes: z is that of the greatest direction, x and y the others, so that they are
	 * right-handed seen along the ray. */
	u8 x, y, z;
	float shear_x, shear_y;	/* direction of x and y by that of z */
	float length_z;		/* direction of z */
};

struct rtu_hit {
	float t, u, v;
	u32 instance, primitive;
	u32 kind;		/* enum pumice_rt_hit */
};

/* Return whether a ray can hit anything: its numbers are finite and within range. */
bool rtu_ray_valid(const struct rtu_ray *ray);
/* Prepare a valid ray for a structure. */
void rtu_space_set(struct rtu_space *space, const struct rtu_ray *ray,
		   const struct pumice_rt_header *structure);
/* Transform a ray to the space of an instance. */
void rtu_ray_transform(struct rtu_ray *to, const struct rtu_ray *from,
		       const struct pumice_rt_instance *instance);

/*
 * Intersect the boxes of a node with the ray from t min to max. Sets near to the t at which each
 * begins; returns a bit for each that is hit.
 */
u32 rtu_boxes(const struct rtu_space *space, const struct pumice_rt_node *node, float min,
	      float max, float *near);

/*
 * Intersect a triangle with the ray from t min to hit->t, and replace *hit if this hit is closer.
 * Returns whether it did.
 */
bool rtu_triangle(const struct rtu_space *space, const struct pumice_rt_triangle *triangle,
		  float min, u32 instance, struct rtu_hit *hit);

/* A child that is still to be visited, and where its box begins. */
struct rtu_pending {
	struct pumice_rt_child_ref child;
	float near;
};

/* A level of a walk. */
struct rtu_level {
	struct pumice_rt_header structure;
	struct rtu_space space;
	u32 instance;
	u32 stacked;
	struct rtu_pending stack[PUMICE_RT_MAX_STACK];
};

#define RTU_LEVELS 2u

/* The walk of one ray: plain data, so that it can be interrupted after any step. */
struct rtu_walk {
	bool busy;		/* it was interrupted */
	bool ended;		/* any hit suffices, and there is one */
	u32 levels;		/* in use: 0 when the walk is complete */
	u32 steps;
	float min;
	struct rtu_ray ray;
	struct rtu_hit hit;
	struct rtu_level level[RTU_LEVELS];
};

/*
 * Begin the walk of one ray, whose hit is set to a miss, through the structure at query->addr.
 * Returns false with *fault on a fault.
 */
bool rtu_walk_begin(struct rtu *rtu, const struct rtu_query *query, struct rtu_walk *walk,
		    struct gpu_fault *fault);
/* Continue it for at most *budget steps, which are subtracted. Returns false on a fault. */
bool rtu_walk_run(struct rtu *rtu, const struct rtu_query *query, struct rtu_walk *walk,
		  u32 *budget, struct gpu_fault *fault);

#endif
