/* SPDX-License-Identifier: MIT */
/*
 * TAG iterator (TITR) of half a core: texture coordinates of reads that do not depend on a program.
 *
 * Source: document 004, "TITR"; Documentation/precision.rst, "Varyings". Coordinates are computed
 * in 32 bits, rounded to 24 bits before the perspective correction, and passed to the TAG of the
 * half, which reads before the program starts.
 */
#ifndef PUMICE_GPU_TITR_H
#define PUMICE_GPU_TITR_H

#include "../activity.h"
#include "../tag/tag.h"
#include "itr.h"

struct titr {
	struct tag *tag;		/* of the same half */
	struct activity activity;	/* requests: reads of a task */
	_Atomic u64 reads;		/* of the TAG: one for each wave */
};

struct titr_request {
	u32 plane;		/* of the first coordinate; the others follow it */
	u32 rows;		/* coordinates, 1 to 4 */
	bool perspective;
	struct tag_request read;	/* without lanes and coordinates */
	u32 *texels[PUMICE_TASK_INSTANCES / PUMICE_LANES];	/* of each wave, four rows */
};

/*
 * Iterate coordinates and read. Lanes without an instance have coordinates of 0. Returns false with
 * *fault filled in as tag_read() does.
 */
bool titr_read(struct titr *titr, const struct itr_task *task, struct itr_positions *at,
	       const struct titr_request *request, struct gpu_fault *fault);

#endif
