/* SPDX-License-Identifier: MIT */
/*
 * Fragments of a task, as the two iterators of a half of a core receive them: planes from the TSP,
 * positions from the PDS.
 *
 * Source: document 004, "UITR" and "TITR"; Documentation/precision.rst, "Varyings". Iteration is of
 * four lanes at a time, a span. The iterators of a core work for the thread of the core.
 */
#ifndef PUMICE_GPU_ITR_H
#define PUMICE_GPU_ITR_H

#include "../plane.h"
#include "../usc/gfx.h"

#define ITR_LANES PUMICE_TASK_INSTANCES

/* A primitive of a task. */
struct itr_prim {
	const struct tsp_plane *plane;	/* of its varyings, then of 1/w, then of depth */
	bool front;
};

struct itr_task {
	const struct usc_span *span;	/* of instance n: span[n / USC_SPAN_LANES] */
	const struct itr_prim *prim;	/* of a span: prim[span->prim] */
	u32 instances;			/* a multiple of USC_SPAN_LANES, or 1 */
	u32 rw;				/* number of the plane of 1/w */
};

/* Positions of the fragments of a task: of instance n, [n]. */
struct itr_positions {
	bool rw_known;
	float x[ITR_LANES], y[ITR_LANES];	/* from the tile's corner */
	float rw[ITR_LANES];			/* plane of 1/w there */
};

/* The four lanes of a span at once. */
typedef float itr_f32 __attribute__((vector_size(16), may_alias, aligned(4)));
typedef u32 itr_u32 __attribute__((vector_size(16), may_alias, aligned(4)));

static inline itr_f32 itr_load(const float *row, u32 first)
{
	return *(const itr_f32 *)(const void *)(row + first);
}

static inline void itr_store(float *row, u32 first, itr_f32 value)
{
	*(itr_f32 *)(void *)(row + first) = value;
}

/* Return a plane at the four instances of a span, of which first is the first one. */
static inline itr_f32 itr_evaluate_span(const struct itr_task *task,
					const struct itr_positions *at, u32 plane, u32 first)
{
	const struct usc_span *span = &task->span[first / USC_SPAN_LANES];
	const struct tsp_plane *p = &task->prim[span->prim].plane[plane];

	return ((p->a * itr_load(at->x, first)) + (p->b * itr_load(at->y, first))) + p->c;
}

/* Evaluate a plane at every instance: out[n]. */
static inline void itr_evaluate(const struct itr_task *task,
				const struct itr_positions *at, u32 plane, float *out)
{
	u32 first;

	for (first = 0; first < task->instances; first += USC_SPAN_LANES)
		itr_store(out, first, itr_evaluate_span(task, at, plane, first));
}

/* Return 1/w of every instance, evaluated once for a task. */
static inline const float *itr_rw(const struct itr_task *task, struct itr_positions *at)
{
	if (!at->rw_known)
		itr_evaluate(task, at, task->rw, at->rw);
	at->rw_known = true;
	return at->rw;
}

/* Evaluate a plane at every instance, divided by 1/w there: out[n]. */
static inline void itr_evaluate_perspective(const struct itr_task *task,
					    struct itr_positions *at, u32 plane, float *out)
{
	const float *rw = itr_rw(task, at);
	u32 first;

	for (first = 0; first < task->instances; first += USC_SPAN_LANES)
		itr_store(out, first, itr_evaluate_span(task, at, plane, first) /
				      itr_load(rw, first));
}

#endif
