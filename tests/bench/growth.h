/* SPDX-License-Identifier: MIT */
/* Curves of pumice-growth: work whose cost is measured as one size of it grows. */
#ifndef PUMICE_BENCH_GROWTH_H
#define PUMICE_BENCH_GROWTH_H

#include "draw.h"
#include "gpu.h"

/* Sizes of a curve at most, and contexts and binds of a call at most. */
#define GROWTH_SIZES	20u
#define GROWTH_CONTEXTS	128u
#define GROWTH_BINDS	256u

/* A GPU of its own, and the work of one size of a curve. */
struct growth {
	uint32_t size;
	struct gpu gpu;
	/* draws, triangles, pixels, cores */
	struct draw_work frame;
	/* work-groups, points, contexts, cores: stream of a launch */
	struct gpu_work work;
	uint64_t launch;
	/* points: the first sync; contexts: one each */
	struct pumice_context *context[GROWTH_CONTEXTS];
	struct pumice_sync *sync[GROWTH_CONTEXTS];
	/* binds */
	struct pumice_bo *bo;
	uint64_t va;
	struct pumice_bind op[GROWTH_BINDS];
};

struct growth_curve {
	const char *name;
	uint32_t first;		/* size; each one is twice the one before */
	uint32_t last;
	const uint32_t *sizes;	/* ending with 0, instead of these two; may be NULL */
	/* Open the GPU and prepare the work; all exit with a message if they fail. */
	void (*open)(struct growth *g);
	/* Execute it and wait until it is done. */
	void (*run)(struct growth *g);
	void (*close)(struct growth *g);
};

/* Ends with a curve without a name. */
extern const struct growth_curve growth_curves[];

#endif
