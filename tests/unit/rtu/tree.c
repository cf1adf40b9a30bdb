// SPDX-License-Identifier: MIT
/* Acceleration structures built by the CPU. See tree.h. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#define CHILDREN 4u
#define HEADER_BYTES 128u	/* nodes are aligned to it */

struct leaf {
	struct tree_box box;
	u32 number;
};

u64 tree_bytes(u32 leaves)
{
	/* A node has two children or more. */
	return HEADER_BYTES + (u64)(leaves + 1) * PUMICE_RT_NODE_WORDS * 4 +
	       ((u64)leaves * PUMICE_RT_TRIANGLE_WORDS * 4 + 127) / 128 * 128;
}

static void grow(struct tree_box *box, const struct tree_box *by)
{
	for (u32 a = 0; a < 3; a++) {
		box->low[a] = by->low[a] < box->low[a] ? by->low[a] : box->low[a];
		box->high[a] = by->high[a] > box->high[a] ? by->high[a] : box->high[a];
	}
}

static struct tree_box box_of(const struct leaf *leaf, u32 count)
{
	struct tree_box box = leaf[0].box;

	for (u32 n = 1; n < count; n++)
		grow(&box, &leaf[n].box);
	return box;
}

static u32 sort_axis;

static int compare(const void *a, const void *b)
{
	const struct leaf *p = a, *q = b;
	float x = p->box.low[sort_axis] + p->box.high[sort_axis];
	float y = q->box.low[sort_axis] + q->box.high[sort_axis];

	return x < y ? -1 : x > y ? 1 : p->number < q->number ? -1 : 1;
}

static void sort(struct leaf *leaf, u32 count)
{
	struct tree_box box = box_of(leaf, count);

	sort_axis = 0;
	for (u32 a = 1; a < 3; a++) {
		if (box.high[a] - box.low[a] > box.high[sort_axis] - box.low[sort_axis])
			sort_axis = a;
	}
	qsort(leaf, count, sizeof(*leaf), compare);
}

static void set_child(struct pumice_rt_node *node, u32 n, const struct tree_box *box, u32 kind,
		      u32 index)
{
	const struct pumice_rt_child_ref ref = { .kind = (u8)kind, .index = index };

	node->low_x[n] = box->low[0];
	node->low_y[n] = box->low[1];
	node->low_z[n] = box->low[2];
	node->high_x[n] = box->high[0];
	node->high_y[n] = box->high[1];
	node->high_z[n] = box->high[2];
	pumice_rt_child_ref_pack(&node->child[n], &ref);
}

/* Write the node of some leaves, which are sorted; returns its number. */
static u32 put_node(struct tree *t, struct leaf *leaf, u32 count)
{
	u32 parts[CHILDREN + 1] = { 0, 0, 0, 0, count }, index = t->nodes++;
	struct pumice_rt_node node = { .builder = { ~0u, ~0u, ~0u, ~0u } };

	if (count > CHILDREN) {
		sort(leaf, count);
		parts[2] = count / 2;
		sort(leaf, parts[2]);
		sort(leaf + parts[2], count - parts[2]);
		parts[1] = parts[2] / 2;
		parts[3] = (parts[2] + count) / 2;
	} else {
		for (u32 n = 0; n < CHILDREN; n++)
			parts[n] = n < count ? n : count;
	}
	for (u32 n = 0; n < CHILDREN; n++) {
		u32 size = parts[n + 1] - parts[n];
		struct leaf *part = leaf + parts[n];
		struct tree_box box;

		if (!size)
			continue;
		box = box_of(part, size);
		if (size == 1)
			set_child(&node, n, &box, PUMICE_RT_CHILD_LEAF, part->number);
		else
			set_child(&node, n, &box, PUMICE_RT_CHILD_NODE,
				  put_node(t, part, size));
	}
	pumice_rt_node_pack(t->node + (size_t)index * PUMICE_RT_NODE_WORDS, &node);
	return index;
}

static void build(struct tree *t, void *host, u64 va, u32 level, struct leaf *leaf, u32 count)
{
	struct pumice_rt_header h = {
		.level = (u8)level, .leaves = count, .node_addr = va + HEADER_BYTES,
		.leaf_addr = va + HEADER_BYTES + (u64)(count + 1) * PUMICE_RT_NODE_WORDS * 4,
	};

	*t = (struct tree){
		.va = va, .header = host, .node = (u32 *)host + HEADER_BYTES / 4,
		.leaf = (u32 *)host + (h.leaf_addr - va) / 4, .leaves = count,
	};
	if (count) {
		t->box = box_of(leaf, count);
		put_node(t, leaf, count);
	}
	memcpy(h.low, t->box.low, sizeof(h.low));
	memcpy(h.high, t->box.high, sizeof(h.high));
	h.nodes = t->nodes;
	pumice_rt_header_pack(t->header, &h);
}

void tree_triangles(struct tree *tree, void *host, u64 va, const float *vertices, u32 count)
{
	struct leaf *leaf = calloc(count + 1, sizeof(*leaf));

	for (u32 n = 0; n < count; n++) {
		const float *v = vertices + (size_t)n * 9;

		leaf[n].number = n;
		memcpy(leaf[n].box.low, v, sizeof(leaf[n].box.low));
		memcpy(leaf[n].box.high, v, sizeof(leaf[n].box.high));
		for (u32 k = 3; k < 9; k += 3) {
			struct tree_box point;

			memcpy(point.low, v + k, sizeof(point.low));
			memcpy(point.high, v + k, sizeof(point.high));
			grow(&leaf[n].box, &point);
		}
	}
	build(tree, host, va, PUMICE_RT_LEVEL_BOTTOM, leaf, count);
	for (u32 n = 0; n < count; n++) {
		struct pumice_rt_triangle t = { .primitive = n,
						.builder = { ~0u, 1, 2, 3, 4, ~0u } };

		memcpy(t.v0, vertices + (size_t)n * 9, sizeof(t.v0));
		memcpy(t.v1, vertices + (size_t)n * 9 + 3, sizeof(t.v1));
		memcpy(t.v2, vertices + (size_t)n * 9 + 6, sizeof(t.v2));
		pumice_rt_triangle_pack(tree->leaf + (size_t)n * PUMICE_RT_TRIANGLE_WORDS, &t);
	}
	free(leaf);
}

void tree_instances(struct tree *tree, void *host, u64 va,
		    const struct pumice_rt_instance *instances, const struct tree_box *boxes,
		    u32 count)
{
	struct leaf *leaf = calloc(count + 1, sizeof(*leaf));

	for (u32 n = 0; n < count; n++)
		leaf[n] = (struct leaf){ .box = boxes[n], .number = n };
	build(tree, host, va, PUMICE_RT_LEVEL_TOP, leaf, count);
	for (u32 n = 0; n < count; n++)
		pumice_rt_instance_pack(tree->leaf + (size_t)n * PUMICE_RT_INSTANCE_WORDS,
					&instances[n]);
	free(leaf);
}
