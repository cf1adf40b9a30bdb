// SPDX-License-Identifier: MIT
/* USSE iterator. See uitr.h. */
#include "uitr.h"

void uitr_iterate(struct uitr *uitr, const struct itr_task *task,
		  struct itr_positions *at, u32 plane, bool perspective, float *out)
{
	const u64 began = activity_begin(&uitr->activity);

	activity_count(&uitr->activity);
	if (perspective)
		itr_evaluate_perspective(task, at, plane, out);
	else
		itr_evaluate(task, at, plane, out);
	activity_end(&uitr->activity, began);
}
