// SPDX-License-Identifier: MIT
/*
 * Traversal of an acceleration structure by one ray, nearest children first.
 *
 * Source: hw/rt.xml. Structures are guest memory: each header, node and leaf is copied once,
 * references are checked against the counts of the header, which is checked against the address
 * space; a stack of fixed size bounds the depth and the count of steps the length, so that cycles
 * end. A walk can be interrupted after any step.
 *
 * Limits: RTU_LEVELS levels. Headers, nodes and leaves are aligned to their size, so none crosses
 * the end of a grain.
 */
#include <string.h>

#include "internal.h"

#define NO_INSTANCE UINT32_MAX

/* A call of this file. */
struct context {
	struct rtu *rtu;
	const struct rtu_query *query;
	struct rtu_walk *walk;
	struct gpu_fault *fault;
	u32 nodes, leaves;
};

static bool refuse(struct context *w, enum pumice_fault why, u64 addr)
{
	*w->fault = (struct gpu_fault){
		.fault = (u8)why, .unit = PUMICE_UNIT_RTU, .ctx = (u8)w->query->ctx, .addr = addr,
	};
	return false;
}

/* Copy words that are within one grain. Returns false with a fault. */
static inline bool fetch(struct context *w, u64 va, u32 *words, u32 bytes)
{
	struct rtu *rtu = w->rtu;
	const u8 *host = NULL;

	/* Tags of the TLB have no room for more: such an address equals one of another context. */
	if (!(va >> PUMICE_MMU_VA_BITS))
		host = mmu_tlb_find(rtu->mmu, &rtu->tlb, w->query->ctx, va, MMU_TLB_READ);
	if (!host)
		host = mmu_translate(rtu->mmu, &rtu->tlb, w->query->ctx, va, bytes,
				     PUMICE_ACCESS_READ, PUMICE_UNIT_RTU, w->fault);
	if (!host)
		return false;
	memcpy(words, host, bytes);
	return true;
}

static bool in_space(u64 addr, u32 items, u32 words)
{
	return items <= PUMICE_RT_MAX_ITEMS &&
	       addr + (u64)items * words * sizeof(u32) <= 1ull << PUMICE_MMU_VA_BITS;
}

/* Read the header of a structure and check it. */
static bool open_structure(struct context *w, u64 addr, struct pumice_rt_header *h)
{
	u32 words[PUMICE_RT_HEADER_WORDS];

	if (addr % sizeof(words))
		return refuse(w, PUMICE_FAULT_RTU_ALIGN, addr);
	if (!fetch(w, addr, words, sizeof(words)))
		return false;
	if (pumice_rt_header_unpack(words, h) != PUMICE_UNPACK_OK ||
	    !in_space(h->node_addr, h->nodes, PUMICE_RT_NODE_WORDS) ||
	    !in_space(h->leaf_addr, h->leaves, PUMICE_RT_TRIANGLE_WORDS))
		return refuse(w, PUMICE_FAULT_RTU_HEADER, addr);
	return true;
}

/* Count a step at addr. */
static inline bool step(struct context *w, u64 addr)
{
	if (++w->walk->steps > PUMICE_RT_MAX_STEPS)
		return refuse(w, PUMICE_FAULT_RTU_STEPS, addr);
	return true;
}

/* Push the children whose boxes were hit, the nearest last. */
static bool push(struct context *w, struct rtu_level *l, u64 addr,
		 const struct pumice_rt_node *node, u32 hits, const float *near)
{
	const u32 first = l->stacked;

	for (; hits; hits &= hits - 1) {
		const u32 n = (u32)__builtin_ctz(hits);
		struct rtu_pending next = { .near = near[n] };
		u32 at;

		if (pumice_rt_child_ref_unpack(&node->child[n], &next.child) != PUMICE_UNPACK_OK)
			return refuse(w, PUMICE_FAULT_RTU_NODE, addr);
		if (next.child.kind == PUMICE_RT_CHILD_NONE) {
			if (next.child.index)
				return refuse(w, PUMICE_FAULT_RTU_NODE, addr);
			continue;
		}
		if (next.child.index >= (next.child.kind == PUMICE_RT_CHILD_NODE ?
					 l->structure.nodes : l->structure.leaves))
			return refuse(w, PUMICE_FAULT_RTU_NODE, addr);
		if (l->stacked == PUMICE_RT_MAX_STACK)
			return refuse(w, PUMICE_FAULT_RTU_DEPTH, addr);
		for (at = l->stacked++; at > first && l->stack[at - 1].near < next.near; at--)
			l->stack[at] = l->stack[at - 1];
		l->stack[at] = next;
	}
	return true;
}

static bool visit_node(struct context *w, struct rtu_level *l, u32 index)
{
	const u64 addr = l->structure.node_addr + (u64)index * PUMICE_RT_NODE_WORDS * sizeof(u32);
	u32 words[PUMICE_RT_NODE_WORDS], hits;
	struct pumice_rt_node node;
	float near[RTU_CHILDREN];

	if (!step(w, addr) || !fetch(w, addr, words, sizeof(words)))
		return false;
	w->nodes++;
	pumice_rt_node_unpack(words, &node);
	hits = rtu_boxes(&l->space, &node, w->walk->min, w->walk->hit.t, near);
	return push(w, l, addr, &node, hits, near);
}

static bool enter_instance(struct context *w, const u32 *words, u64 addr);

static bool visit_leaf(struct context *w, struct rtu_level *l, u32 index)
{
	const u64 addr = l->structure.leaf_addr +
			 (u64)index * PUMICE_RT_TRIANGLE_WORDS * sizeof(u32);
	u32 words[PUMICE_RT_TRIANGLE_WORDS];
	struct pumice_rt_triangle triangle;

	_Static_assert(PUMICE_RT_TRIANGLE_WORDS == PUMICE_RT_INSTANCE_WORDS, "leaves of one size");
	if (!step(w, addr) || !fetch(w, addr, words, sizeof(words)))
		return false;
	w->leaves++;
	if (l->structure.level == PUMICE_RT_LEVEL_TOP)
		return enter_instance(w, words, addr);
	pumice_rt_triangle_unpack(words, &triangle);
	if (rtu_triangle(&l->space, &triangle, w->walk->min, l->instance, &w->walk->hit))
		w->walk->ended = w->query->any;
	return true;
}

/* Begin a level, whose structure is open, with a ray in its space. */
static bool begin_level(struct context *w, const struct rtu_ray *ray, u32 instance)
{
	struct rtu_level *l = &w->walk->level[w->walk->levels++];

	rtu_space_set(&l->space, ray, &l->structure);
	l->instance = instance;
	l->stacked = 0;
	return !l->structure.nodes || visit_node(w, l, 0);
}

/* Begin the level of an instance of the top level. */
static bool enter_instance(struct context *w, const u32 *words, u64 addr)
{
	struct rtu_level *l = &w->walk->level[w->walk->levels];
	struct pumice_rt_instance instance;
	struct rtu_ray ray;

	if (pumice_rt_instance_unpack(words, &instance) != PUMICE_UNPACK_OK)
		return refuse(w, PUMICE_FAULT_RTU_LEAF, addr);
	if (!open_structure(w, instance.addr, &l->structure))
		return false;
	if (l->structure.level != PUMICE_RT_LEVEL_BOTTOM)
		return refuse(w, PUMICE_FAULT_RTU_HEADER, instance.addr);
	rtu_ray_transform(&ray, &w->walk->ray, &instance);
	return !rtu_ray_valid(&ray) || begin_level(w, &ray, instance.id);
}

/* Visit a pending child of the last level, or end the level. */
static bool advance(struct context *w)
{
	struct rtu_walk *walk = w->walk;
	struct rtu_level *l = &walk->level[walk->levels - 1];
	struct rtu_pending next;

	if (!l->stacked || walk->ended) {
		walk->levels--;
		return true;
	}
	next = l->stack[--l->stacked];
	if (next.near > walk->hit.t)
		return true;
	return next.child.kind == PUMICE_RT_CHILD_NODE ? visit_node(w, l, next.child.index) :
							 visit_leaf(w, l, next.child.index);
}

/* Count for the thread that traces. */
static void count(_Atomic u64 *counter, u64 n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static void count_visits(const struct context *w)
{
	count(&w->rtu->nodes, w->nodes);
	count(&w->rtu->leaves, w->leaves);
}

bool rtu_walk_begin(struct rtu *rtu, const struct rtu_query *query, struct rtu_walk *walk,
		    struct gpu_fault *fault)
{
	struct context w = { .rtu = rtu, .query = query, .walk = walk, .fault = fault };
	bool ok;

	walk->ended = false;
	walk->levels = 0;
	walk->steps = 0;
	ok = open_structure(&w, query->addr, &walk->level[0].structure);
	if (ok && walk->min <= walk->hit.t && rtu_ray_valid(&walk->ray))
		ok = begin_level(&w, &walk->ray, NO_INSTANCE);
	count(&rtu->rays, 1);
	count_visits(&w);
	return ok;
}

bool rtu_walk_run(struct rtu *rtu, const struct rtu_query *query, struct rtu_walk *walk,
		  u32 *budget, struct gpu_fault *fault)
{
	struct context w = { .rtu = rtu, .query = query, .walk = walk, .fault = fault };
	bool ok = true;

	for (; ok && walk->levels && *budget; --*budget)
		ok = advance(&w);
	count_visits(&w);
	return ok;
}
