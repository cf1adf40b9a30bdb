/* SPDX-License-Identifier: MIT */
/*
 * Acceleration structures built by the CPU, for tests of the ray tracing unit: a node halves its
 * leaves at the median of the longest axis, twice. Uses hw/rt.xml only.
 */
#ifndef PUMICE_TESTS_RTU_TREE_H
#define PUMICE_TESTS_RTU_TREE_H

#include "pumice_formats.h"

struct tree_box {
	float low[3], high[3];
};

/* A structure in memory: where it is, and its own view of its parts. */
struct tree {
	u64 va;			/* header, then nodes, then leaves */
	u32 *header, *node, *leaf;
	u32 nodes, leaves;
	struct tree_box box;
};

/* Return the bytes of a structure, a multiple of 128. */
u64 tree_bytes(u32 leaves);
/* Build a structure of triangles, nine numbers each, at host and va; triangle n is primitive n. */
void tree_triangles(struct tree *tree, void *host, u64 va, const float *vertices, u32 count);
/*
 * Build one of instances of boxes: box n, in the space of the top level, is that of instance n.
 */
void tree_instances(struct tree *tree, void *host, u64 va,
		    const struct pumice_rt_instance *instances, const struct tree_box *boxes,
		    u32 count);

#endif
